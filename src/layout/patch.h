/* patch.h -- a patch of a grid as a chunk: its levels, each stored once, from
 * the coarsest to the finest. */
#ifndef BM_PATCH_H
#define BM_PATCH_H

#include "codec/lattice.h"
#include "layout/schema.h"

struct bm_patch {
    bouma_box box;
    int levels;
    int components;
    size_t size;                              /* bytes of a value */
    struct bm_lattice lattice[BM_MAX_LEVELS]; /* samples at each level */
    uint64_t values[BM_MAX_LEVELS]; /* stored for it, of one component */
};

void bm_patch_init(struct bm_patch *p, const struct bouma_variable *variable,
                   int64_t patch);

/* Bytes of a level as samples, all components; and of all levels. */
size_t bm_patch_level_bytes(const struct bm_patch *p, int level);
size_t bm_patch_bytes(const struct bm_patch *p);

/* Memory that the functions below need beside the levels. */
size_t bm_patch_scratch_bytes(const struct bm_patch *p);

/* Where the samples of a box lie in memory. */
struct bm_memory_box {
    bouma_box box; /* lifted, full-resolution samples */
    const uint8_t *data;
    int64_t stride[3]; /* bytes from one sample to the next */
    int64_t component_stride;
};

/* A caller's memory (NULL: dense) for a box at a level, lifted to three axes.
 * With level k, strides are from one sample of that level to the next. */
void bm_memory_lift(int64_t stride[3], int64_t *component_stride,
                    const bouma_memory *memory,
                    const struct bouma_variable *variable,
                    const int64_t shape[3]);

/* Take what lies in 'from' of the patch (which it must meet). level[k] points
 * to room for bm_patch_level_bytes(k). When all parts have been taken,
 * bm_patch_settle() fills the coarser levels. The same scratch for all. */
void bm_patch_take(const struct bm_patch *p, const struct bm_memory_box *from,
                   uint8_t *const level[], uint8_t *scratch);
void bm_patch_settle(const struct bm_patch *p, uint8_t *const level[],
                     uint8_t *scratch);

/* The range of the patch's values, into ranges[components], from its levels. */
void bm_patch_ranges(const struct bm_patch *p, bouma_type type,
                     uint8_t *const level[], struct bm_range *ranges);

/* Give the samples at level 'at' that lie in 'to->box' to the memory there;
 * level[k] is read for k >= at. 'to->data' is at the first sample of that level
 * in the box of the whole request, 'first' its index in units of 2^at. */
void bm_patch_give(const struct bm_patch *p, int at, const bouma_box *clip,
                   const int64_t first[3], uint8_t *data,
                   const int64_t stride[3], int64_t component_stride,
                   const uint8_t *const level[], uint8_t *scratch);

#endif
