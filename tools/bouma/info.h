/* info.h -- the two faces of `bouma info`: for people, and JSON. */
#ifndef INFO_H
#define INFO_H

#include "context.h"

/* An open dataset and the steps that are wanted. */
struct info {
    const char *path;
    bouma_dataset *ds;
    bool one_step;       /* --step was given */
    int64_t first, last; /* first <= i < last: number in the list of steps */
};

int info_print_text(const struct info *info, struct context *ctx);
int info_print_json(const struct info *info, struct context *ctx);

/* Open the i-th step of the list, and tell how it lies on disk. */
int info_open_step(const struct info *info, struct context *ctx, int64_t i,
                   bouma_step **out, bouma_step_details *details);

#endif
