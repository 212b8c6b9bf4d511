/* refused.h -- what a caller wanted written and did not get: a definition, a
 * block or an attribute that was refused. The next step would lack it, so the
 * next step fails instead, whether or not anyone looked at the status of the
 * call. Of this rank; the end of a step tells all others.
 *
 * What belongs to the step is over with the step. What belongs to the dataset
 * stays until the same thing is asked for again and granted, or the caller says
 * that it will do without. */
#ifndef BM_REFUSED_H
#define BM_REFUSED_H

#include "base/error.h"
#include "base/memory.h"

enum bm_refused_scope { BM_OF_STEP, BM_OF_DATASET };

struct bm_refused {
    uint64_t key; /* of the thing */
    enum bm_refused_scope scope;
    struct bm_error error;
};

#define BM_REFUSED_SPARE 4

struct bm_refused_list {
    struct bm_refused *entries; /* [count], the oldest first */
    size_t count;
    /* Those that there was no memory for. */
    struct bm_refused spare[BM_REFUSED_SPARE];
    size_t spare_count;
    /* And those that had no room there: of which nothing is known but that
     * there were some. */
    int more_of_step, more_of_dataset;
};

/* The key of something by its name in 'owner', an address or NULL. */
uint64_t bm_refused_key(const void *owner, const char *name);

/* What became of something: refused with 'rc', for which 'error' has the
 * message; or granted, which makes an earlier refusal good. 'rc' comes back. */
int bm_refused_add(struct bm_refused_list *list, const bouma_allocator *a,
                   uint64_t key, enum bm_refused_scope scope, int rc,
                   const struct bm_error *error);

/* The first refusal that stands, as message and status; BOUMA_OK if none. */
int bm_refused_tell(const struct bm_refused_list *list, struct bm_error *error);

/* Forget those of the step; or all. */
void bm_refused_end_step(struct bm_refused_list *list);
void bm_refused_clear(struct bm_refused_list *list, const bouma_allocator *a);

#endif
