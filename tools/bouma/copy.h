/* copy.h -- the parts of `bouma copy`: a dataset, written again step by step.
 *
 * Each process reads its part of a step, all of them write it. Values are kept
 * exactly unless a tolerance is given. */
#ifndef COPY_H
#define COPY_H

#include "import_request.h"
#include "import_target.h"
#include "step_entries.h"

struct copy {
    const struct arguments *args;
    struct import_request request; /* how to store it */
    bouma_dataset *source;
    struct import_target target;
    uint64_t memory_limit; /* bytes of values in this process */
    /* What is defined in the target is what this step has; NULL: nothing. */
    bouma_step *defined;
    uint64_t steps, raw_bytes, stored_bytes; /* written so far */
};

/* The variables of a step that are to be copied. */
struct entry_cursor copy_entries(const struct copy *copy, bouma_step *step);

/* Whether what is defined in the target is what 'step' has. */
bool copy_is_defined(const struct copy *copy, bouma_step *step);

/* Define in the target what 'step' has, with all attributes. */
int copy_define(struct copy *copy, struct context *ctx, bouma_step *step);

/* Write the step, whose objects are defined. Collective. */
int copy_write(struct copy *copy, struct context *ctx, bouma_step *step);

#endif
