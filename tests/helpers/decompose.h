/* decompose.h -- random decompositions of a grid, for tests of plans. */
#ifndef DECOMPOSE_H
#define DECOMPOSE_H

#include "check.h"
#include "plan/partition.h"

#define MAX_TEST_BLOCKS 4096

struct test_blocks {
    struct bm_block blocks[MAX_TEST_BLOCKS];
    size_t count;
};

/* Cut 'box' at random until pieces are small or chance says stop, and
 * give each piece to a random rank. The pieces cover the box exactly once. */
static inline void cut_randomly(struct test_blocks *out, uint64_t *state,
                                struct bm_box box, int depth, int ranks)
{
    int d = (int)check_below(state, 3);
    int64_t n = box.hi[d] - box.lo[d];

    if (depth > 0 && n > 1) {
        struct bm_box low = box, high = box;

        low.hi[d] = high.lo[d] = box.lo[d] + 1 + check_below(state, n - 1);
        cut_randomly(out, state, low, depth - 1, ranks);
        cut_randomly(out, state, high, depth - 1, ranks);
        return;
    }
    if (depth > 0) {
        cut_randomly(out, state, box, depth - 1, ranks);
        return;
    }
    REQUIRE(out->count < MAX_TEST_BLOCKS);
    out->blocks[out->count].rank = (int)check_below(state, ranks);
    out->blocks[out->count++].box = box;
}

/* A random small grid of 1 to 3 axes. */
static inline void random_tiling(struct bm_tiling *t, uint64_t *state,
                                 int64_t most)
{
    int ndims = 1 + (int)check_below(state, 3);
    int64_t shape[3], edge[3];

    for (int d = 0; d < ndims; d++) {
        shape[d] = 1 + check_below(state, ndims == 1 ? most * most : most);
        edge[d] = (int64_t)1 << check_below(state, 4);
    }
    REQUIRE(!bm_tiling_init(t, ndims, shape, edge));
}

#endif
