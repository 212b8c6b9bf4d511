/* levels.h -- the levels of a field that are stored, as octants. Level k has
 * octant 0 from the next coarser one and holds the others itself; the coarsest
 * that has samples, the root, holds all of its samples. */
#ifndef BM_LEVELS_H
#define BM_LEVELS_H

#include "base/tiling.h"
#include "codec/codec.h"
#include "codec/octants.h"
#include "codec/zfp_blocks.h"

struct bm_levels {
    struct bm_octants octants[BM_MAX_LEVELS]; /* up to the root */
    int root;
    size_t size; /* bytes of a sample */
};

void bm_levels_list(struct bm_levels *l, const struct bm_field *field);

/* Samples of level k; how many of them its piece holds; all samples of the
 * levels 0 to root. */
size_t bm_level_samples(const struct bm_levels *l, int k);
size_t bm_level_held(const struct bm_levels *l, int k);
size_t bm_levels_samples(const struct bm_levels *l);

/* What the piece of level k holds, in its sorted samples: of the root, dense.
 * Returns how many. */
int bm_level_bands(struct bm_band bands[BM_MAX_BANDS],
                   const struct bm_levels *l, int k, void *sorted);

/* The samples of all levels as they are, sorted (of the root, dense):
 * sorted[k] points to those of level k, which lie in 'memory'. */
void bm_levels_sort(uint8_t *sorted[BM_MAX_LEVELS], const struct bm_levels *l,
                    void *memory, const void *samples);

/* Append what bm_zstd_pack() makes of the values that the piece of level k
 * holds; and get the samples back from 'packed'. 'spare' has room for those of
 * the level. */
int bm_level_pack(struct bm_codec_state *state, struct bm_buffer *out,
                  const struct bm_levels *l, int k, const void *sorted);
int bm_level_unpack(struct bm_codec_state *state, void *samples,
                    const void *coarse, const struct bm_levels *l, void *spare,
                    const struct bm_coded_level *packed);

#endif
