/* local_check.h -- what a plan of all blocks says of a rank, against what that
 * rank's local plan says. */
#ifndef LOCAL_CHECK_H
#define LOCAL_CHECK_H

#include "check.h"
#include "plan/local.h"

struct whole_plan {
    struct bm_partition p;
    int *owner;
    struct bm_distribution report;
};

static inline void whole_plan_make(struct whole_plan *w,
                                   struct bm_chunking chunking,
                                   bouma_distribute scheme, int ranks,
                                   const struct bm_block *blocks, size_t count)
{
    w->owner = malloc((size_t)chunking.count * sizeof(*w->owner));
    REQUIRE(w->owner);
    REQUIRE(!bm_partition_init(&w->p, bm_allocator_default(), chunking, blocks,
                               count));
    REQUIRE(!bm_distribute(w->owner, scheme, &w->p, ranks, &w->report));
}

static inline void whole_plan_release(struct whole_plan *w)
{
    free(w->owner);
    bm_partition_release(&w->p);
}

static inline int same_block(const struct bm_block *a, const struct bm_block *b)
{
    return a->rank == b->rank && !memcmp(&a->box, &b->box, sizeof(a->box));
}

/* Chunk 'c' of the result of a rank: owner and parts. */
static inline void check_local_chunk(const struct whole_plan *w,
                                     const struct bm_local_result *r, int64_t c,
                                     int rank)
{
    int64_t chunk = r->chunks->chunk[c], k = r->partition.first[c];
    int owned = w->owner[chunk] == rank;

    CHECK(!c || r->chunks->chunk[c - 1] < chunk);
    CHECK_EQ(r->owner[c], w->owner[chunk]);
    for (int64_t i = w->p.first[chunk]; i < w->p.first[chunk + 1]; i++) {
        const struct bm_block *b = &w->p.blocks[w->p.part[i]];

        if (!owned && b->rank != rank)
            continue;
        CHECK(k < r->partition.first[c + 1] &&
              same_block(b, &r->blocks[r->partition.part[k]]));
        k++;
    }
    CHECK_EQ(k, r->partition.first[c + 1]);
}

/* All chunks of the result of a rank, and the report. How many chunks concern it
 * is not checked. */
static inline void check_local_result(const struct whole_plan *w,
                                      const struct bm_local_result *r, int rank)
{
    for (int64_t c = 0; c < r->chunks->count; c++)
        check_local_chunk(w, r, c, rank);
    CHECK_EQ(r->report.most_patches, w->report.most_patches);
    CHECK_EQ(r->report.shared_patches, w->report.shared_patches);
    CHECK_EQ(r->report.moved_samples, w->report.moved_samples);
    CHECK_EQ(r->report.messages, w->report.messages);
}

/* To how many ranks each chunk is of concern, of all: its holders, and its
 * owner. Blocks ascend by rank. With 'rank' not -1: how many are to it. */
static inline int64_t count_concerns(const struct whole_plan *w, int rank)
{
    int64_t count = 0;

    for (int64_t c = 0; c < w->p.chunking.count; c++) {
        int last = -1, has_owner = 0;

        for (int64_t i = w->p.first[c]; i < w->p.first[c + 1]; i++) {
            int holder = w->p.blocks[w->p.part[i]].rank;

            count += holder != last && (rank < 0 || holder == rank);
            has_owner |= holder == w->owner[c];
            last = holder;
        }
        count += !has_owner && (rank < 0 || w->owner[c] == rank);
    }
    return count;
}

#endif
