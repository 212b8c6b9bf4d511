/* interp_blocks.c -- see interp.h: which rows belong to which block. */
#include "codec/interp.h"

struct bm_blocks bm_blocks_undivided(void)
{
    return (struct bm_blocks){{62, 62}, {1, 1}};
}

int bm_blocks_init(struct bm_blocks *b, const struct bm_octants *o,
                   const int shift[2])
{
    for (int d = 0; d < 2; d++) {
        b->shift[d] = shift[d];
        b->count[d] = ((o->count[0][d] - 1) >> shift[d]) + 1;
    }
    return b->count[0] <= MOST_BLOCKS && b->count[1] <= MOST_BLOCKS &&
           bm_blocks_count(b) <= MOST_BLOCKS && bm_blocks_count(b) > 1;
}

/* How many of 'count' indices the i-th block along an axis has. */
static int64_t part_of(const struct bm_blocks *b, int axis, int64_t i,
                       int64_t count)
{
    int64_t begin = i << b->shift[axis];
    int64_t end = bm_block_end(b, axis, begin);

    end = end < count ? end : count;
    return end > begin ? end - begin : 0;
}

size_t bm_block_samples(const struct bm_blocks *b, const struct bm_octants *o,
                        size_t block, size_t *rows)
{
    int64_t z = (int64_t)block / b->count[1], y = (int64_t)block % b->count[1];
    size_t samples = 0;

    *rows = 0;
    for (int p = 1; p < BM_OCTANTS; p++) {
        const int64_t *count = o->count[p];
        size_t n =
            (size_t)(part_of(b, 0, z, count[0]) * part_of(b, 1, y, count[1]));

        if (count[2] >= LONG_ROW)
            *rows += n;
        samples += n * (size_t)count[2];
    }
    return samples;
}
