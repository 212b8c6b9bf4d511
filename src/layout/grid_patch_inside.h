/* grid_patch_inside.h -- what the files of this layout give to its table; see
 * layout.h for each. */
#ifndef BM_GRID_PATCH_INSIDE_H
#define BM_GRID_PATCH_INSIDE_H

#include "layout/grid_patch.h"

int bm_grid_patch_encode_begin(struct bm_encoding *e);
void bm_grid_patch_take(struct bm_encoding *e,
                        const struct bm_memory_part *from);
int bm_grid_patch_encode(struct bm_encoding *e, struct bm_buffer *out);

int bm_grid_patch_begin(struct bm_decoding *d, const uint8_t *kept);
int bm_grid_patch_decode(struct bm_decoding *d, const uint8_t *data,
                         size_t bytes);
size_t bm_grid_patch_sample_bytes(const struct bm_decoding *d, int level);
void bm_grid_patch_keep(const struct bm_decoding *d, uint8_t *samples);
void bm_grid_patch_give(const struct bm_decoding *d,
                        const struct bm_target *target);
void bm_grid_patch_ranges(const struct bm_decoding *d, struct bm_range *ranges);

#endif
