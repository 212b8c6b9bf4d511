/* step_choice.h -- the steps that --step chooses of those that a file has. */
#ifndef STEP_CHOICE_H
#define STEP_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"

/* first, first + step, ..., up to last. 0 <= first <= last, 0 < step, and none
 * is above STEP_MOST. */
#define STEP_MOST ((int64_t)1 << 53)

struct step_range {
    int64_t first, last, step;
};

/* What a file has; no ranges: it does not say. */
struct step_list {
    const char *path;
    const struct step_range *ranges;
    size_t count;
    bool operand; /* the choice is an operand, and not that of --step */
};

/* The steps that 'text' chooses: N, -N (counted from the end), last, all,
 * FIRST:END[:EACH], or NULL, which is all. The caller frees *out. */
int step_choice(int64_t **out, size_t *count, struct context *ctx,
                const struct step_list *list, const char *text);

#endif
