/* grid_hz.h -- grids in HZ order: one hierarchical Z order over the whole grid
 * (see plan/hz.h), cut into blocks of the same number of samples, each a chunk
 * in one piece. What is this layout's own, and what its files give to its table;
 * see layout.h for each. */
#ifndef BM_GRID_HZ_H
#define BM_GRID_HZ_H

#include "layout/schema.h"
#include "plan/hz_local.h"

/* 'own' of such a grid. */
struct bm_grid_hz {
    struct bm_hz_blocks blocks;
    struct bm_hz_local *local; /* if partitions have an index each, else NULL */
    bouma_hz_order order;
    int wavelet;        /* blocks have wavelet coefficients of tiles, of */
    int tile_bits;      /* so many samples, as log2 */
    int idx;            /* its files are those of IDX, too: see grid_idx.h */
    int64_t most_files; /* as counted in the schema's fixed_files */
};

static inline const struct bm_grid_hz *bm_grid_hz_of(const struct bm_object *o)
{
    return o->own;
}

/* The samples of a chunk; and the characters that order them inside it. */
static inline struct bm_footprint
bm_grid_hz_footprint(const struct bm_grid_hz *own, uint64_t key)
{
    return own->local ? bm_hz_local_footprint(own->local, key)
                      : bm_hz_blocks_footprint(&own->blocks, key);
}
static inline struct bm_hz bm_grid_hz_inside(const struct bm_grid_hz *own,
                                             uint64_t key)
{
    return own->local ? bm_hz_local_template(own->local, key)
                      : bm_hz_block_template(&own->blocks.hz,
                                             own->blocks.block_bits, key);
}

/* ---- partitions: grid_hz_partition.c ---- */

/* log2 of the partitions that a spec wants: 0 if that is no power of two. */
int bm_grid_hz_partition_bits(const bouma_grid_spec *spec);
/* Whether blocks of so many samples can have them. BOUMA_OK, or EINVAL with a
 * message. */
int bm_grid_hz_check_partitions(const struct bm_object *o,
                                const bouma_grid_spec *spec,
                                const struct bm_hz *hz, int block_bits);
/* Make them; the blocks are there. BOUMA_OK or ENOMEM, with a message. */
int bm_grid_hz_partition(struct bm_object *o, const bouma_grid_spec *spec);

/* ---- blocks as bytes: grid_hz_code.c ---- */

/* The wavelet: grid_hz_wavelet.c. What is wrong with it, as the end of a
 * sentence, or NULL; 'own' has its blocks. */
const char *bm_grid_hz_set_wavelet(struct bm_grid_hz *own,
                                   const bouma_grid_spec *spec);
extern const struct bm_tile_functions bm_grid_hz_tiles;

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
