/* grid_hz.h -- grids in HZ order: one hierarchical Z order over the whole grid
 * (see plan/hz.h), cut into blocks of the same number of samples, each a chunk
 * in one piece. What is this layout's own, and what its files give to its table;
 * see layout.h for each. */
#ifndef BM_GRID_HZ_H
#define BM_GRID_HZ_H

#include "layout/schema.h"
#include "plan/hz_blocks.h"

/* 'own' of such a grid. */
struct bm_grid_hz {
    struct bm_hz_blocks blocks;
    bouma_hz_order order;
    int idx;            /* its files are those of IDX, too: see grid_idx.h */
    int64_t most_files; /* as counted in the schema's fixed_files */
};

static inline const struct bm_grid_hz *bm_grid_hz_of(const struct bm_object *o)
{
    return o->own;
}

/* Values of a component that a block is stored as, of so many in the domain:
 * along the curve, blocks are filled up. */
static inline uint64_t bm_grid_hz_stored(const struct bm_grid_hz *own,
                                         uint64_t samples)
{
    return own->order == BOUMA_HZ_CURVE ? (uint64_t)1 << own->blocks.block_bits
                                        : samples;
}

int bm_grid_hz_encode_begin(struct bm_encoding *e);
void bm_grid_hz_take(struct bm_encoding *e, const struct bm_memory_part *from);
int bm_grid_hz_encode(struct bm_encoding *e, struct bm_buffer *out);

int bm_grid_hz_decode_begin(struct bm_decoding *d, const uint8_t *kept);
int bm_grid_hz_decode(struct bm_decoding *d, const uint8_t *data, size_t bytes);
size_t bm_grid_hz_sample_bytes(const struct bm_decoding *d, int level);
void bm_grid_hz_keep(const struct bm_decoding *d, uint8_t *samples);
void bm_grid_hz_give(const struct bm_decoding *d,
                     const struct bm_target *target);
void bm_grid_hz_ranges(const struct bm_decoding *d, struct bm_range *ranges);

#endif
