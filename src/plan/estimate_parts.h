/* estimate_parts.h -- what the files of estimate.c share. */
#ifndef BM_ESTIMATE_PARTS_H
#define BM_ESTIMATE_PARTS_H

#include "plan/estimate.h"

/* Chunks on the order are looked at so many at a time. */
#define BM_ESTIMATE_RUN 256

/* What chunks cost in files, by their places on the order. */
struct bm_estimate_costs {
    struct bm_sums each; /* the chunk and its row of a table */
    uint8_t *apart; /* [chunks]: bytes that its key has more as the first of
                            a file */
    const struct bm_estimate_task *task;
};

/* A file costs so much besides, if it begins with the chunk at a place. */
uint64_t bm_estimate_opening(const void *costs, size_t place);

/* Fill e->bytes, and the costs; released after a failure, too. BOUMA_OK or
 * ENOMEM. */
int bm_estimate_sizes(struct bm_estimate *e, struct bm_estimate_costs *costs,
                      const struct bm_estimate_task *task);
void bm_estimate_costs_release(struct bm_estimate_costs *costs,
                               const bouma_allocator *a);

/* Cut files: e->first, place, rank_file, file_bytes. BOUMA_OK, ENOMEM, EINVAL
 * or ELIMIT. */
int bm_estimate_cut(struct bm_estimate *e,
                    const struct bm_estimate_costs *costs,
                    const struct bm_estimate_task *task);

/* Chunks one after the other, along the order or in the files of `per-rank`,
 * with their owners. */
struct bm_estimate_walk {
    const struct bm_estimate *e;
    int64_t first, count; /* what list[] has of the order */
    struct bm_listed_chunk list[BM_ESTIMATE_RUN];
};

/* The owner of the i-th chunk of a file of 'e'. */
static inline int bm_estimate_owner(struct bm_estimate_walk *w, size_t i)
{
    int64_t place = (int64_t)bm_estimate_place(w->e, i);

    if (place < w->first || place >= w->first + w->count) {
        int64_t left = w->e->chunking.count - place;

        w->first = place;
        w->count = w->e->place              ? 1
                   : left < BM_ESTIMATE_RUN ? left
                                            : BM_ESTIMATE_RUN;
        bm_chunking_list(&w->e->chunking, place, w->count, w->list);
    }
    return w->e->owner[w->list[place - w->first].chunk];
}

/* Who sends what to which file, if the task asks for it, and who writes it.
 * BOUMA_OK or ENOMEM. */
int bm_estimate_place_files(struct bm_estimate *e,
                            const struct bm_estimate_task *task);

/* Count what is sent to the writers. BOUMA_OK or ENOMEM. */
int bm_estimate_ship(struct bm_estimate *e,
                     const struct bm_estimate_task *task);

#endif
