/* dataset_steps.h -- the steps of a dataset that a user chooses, and what
 * became of them. */
#ifndef DATASET_STEPS_H
#define DATASET_STEPS_H

#include "context.h"

struct dataset_choice {
    const bouma_dataset *ds;
    const char *path;
    const char *text; /* NULL: all */
    bool operand;     /* the text is an operand, and not that of --step */
};

/* The steps that the text chooses, as step_choice() does, of those that the
 * dataset has. The caller frees *out. */
int dataset_steps(int64_t **out, size_t *count, struct context *ctx,
                  const struct dataset_choice *choice);

/* Print that 'gone' steps were 'how' ("deleted"), and how many are left. */
int dataset_steps_gone(struct context *ctx, const char *path, const char *how,
                       uint64_t gone, uint64_t left);

#endif
