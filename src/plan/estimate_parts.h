/* estimate_parts.h -- what the files of estimate.c share. */
#ifndef BM_ESTIMATE_PARTS_H
#define BM_ESTIMATE_PARTS_H

#include "plan/estimate.h"

/* Chunks on the order are looked at so many at a time. */
#define BM_ESTIMATE_RUN 256

/* What chunks cost in files, by their places on the order. */
struct bm_estimate_costs {
    struct bm_sums each;       /* the chunk and its row of a table */
    struct bm_even_list apart; /* bytes that its key has more as the first of a
                                  file */
    const struct bm_estimate_task *task;
};

/* A file costs so much besides, if it begins with the chunk at a place. */
uint64_t bm_estimate_opening(const void *costs, size_t place);

/* Fill e->bytes and the costs, and tell e->owners of all chunks; released after
 * a failure, too. BOUMA_OK or ENOMEM. */
int bm_estimate_sizes(struct bm_estimate *e, struct bm_estimate_costs *costs,
                      const struct bm_estimate_task *task);
void bm_estimate_costs_release(struct bm_estimate_costs *costs);

/* Cut files: e->first, place, rank_file, file_bytes. BOUMA_OK, ENOMEM, EINVAL
 * or ELIMIT. */
int bm_estimate_cut(struct bm_estimate *e,
                    const struct bm_estimate_costs *costs,
                    const struct bm_estimate_task *task);

/* Memory for the writers of e->files files, and for why they were chosen, if the
 * placement tells that. BOUMA_OK or ENOMEM. */
int bm_estimate_new_writers(struct bm_estimate *e,
                            const struct bm_placement *placement);

/* When the costs are released: e->place of `per-rank` and `per-node`. BOUMA_OK
 * or ENOMEM. */
int bm_estimate_list_places(struct bm_estimate *e);

/* The owner of the i-th chunk of all, which is in 'file'. */
static inline int bm_estimate_owner(const struct bm_estimate *e, int64_t file,
                                    size_t i)
{
    return e->file_rank ? e->file_rank[file]
                        : bm_owner_at(&e->owners, bm_estimate_place(e, i));
}

/* What is sent to writers on other nodes, by e->gathering. */
uint64_t bm_estimate_bytes_between(const struct bm_estimate *e,
                                   const struct bm_places *places);

/* Who sends what to which file, if the task asks for it, and who writes it.
 * BOUMA_OK or ENOMEM. */
int bm_estimate_place_files(struct bm_estimate *e,
                            const struct bm_estimate_task *task);

/* Count what is sent to the writers. BOUMA_OK or ENOMEM. */
int bm_estimate_ship(struct bm_estimate *e,
                     const struct bm_estimate_task *task);

#endif
