/* placement.h -- which rank writes a file, and in which memory it gathers it: a
 * row of a table for each way to choose. */
#ifndef BM_PLACEMENT_H
#define BM_PLACEMENT_H

#include "plan/assign.h"
#include "plan/cost.h"
#include "plan/places.h"

/* How the writers of files are chosen. */
struct bm_place_task {
    bouma_place scheme;
    int ranks;
    struct bm_cost_rule rule; /* of formulas, 'only' alone counts */
    /* NULL, or: formulas choose among the ranks of the node that has most of a
     * file's bytes, of equal ones the first; and of 'turns' objects (0 is 1)
     * whose files are placed apart, that with number 'turn' has its ranks. */
    const struct bm_places *places;
    int turn, turns;
};

/* Formulas are there, or a function that chooses. */
struct bm_placement {
    /* The rank that writes 'file'; its tier is the one that is wanted, or DRAM.
     */
    int (*formula)(int64_t files, int ranks, int64_t file);
    /* The other way round: the i-th file of a rank, ascending; -1 if it has no
     * more. */
    int64_t (*file_of)(int64_t files, int ranks, int rank, int64_t i);
    /* By who sends how much to which file; 'tier' and 'choice' may be NULL.
     * BOUMA_OK or ENOMEM. */
    int (*choose)(int *writer, bouma_tier *tier, struct bm_cost *choice,
                  const bouma_allocator *a, const struct bm_cost_rule *rule,
                  const struct bm_gathering *gathering);
    int needs_machine; /* 'choose' goes by the machine too, and fills 'choice'
                        */
};

const struct bm_placement *bm_placement_of(bouma_place scheme);

/* Whether writers depend on who sends what. */
int bm_place_needs_senders(const struct bm_place_task *task);

/* Writer and tier (may be NULL) of each file. 'gathering' may be NULL if nobody
 * needs the senders. BOUMA_OK or ENOMEM. */
int bm_place_files(int *writer, bouma_tier *tier, const bouma_allocator *a,
                   const struct bm_place_task *task, int64_t files,
                   const struct bm_gathering *gathering);

/* The writers of a scheme that is a formula, over files in the order of the
 * ranks that they come from (the mean of them, by gathering->bytes): so that
 * few bytes have to move, and all parts of the machine are used. BOUMA_OK or
 * ENOMEM. */
int bm_place_in_order(int *writer, const bouma_allocator *a, bouma_place scheme,
                      const struct bm_gathering *gathering);

/* As bm_place_files(), for files of chunks: fills in writer and tier of 'files'. */
int bm_place_chunks(struct bm_assignment *files,
                    const struct bm_place_task *task,
                    const struct bm_chunk_sizes *sizes);

#endif
