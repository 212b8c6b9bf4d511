/* patch.h -- a patch of a grid as a chunk: its levels, each stored once, from
 * the coarsest to the finest. */
#ifndef BM_PATCH_H
#define BM_PATCH_H

#include "codec/lattice.h"
#include "layout/grid_patch.h"

struct bm_patch {
    struct bm_box box;
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

/* Take what lies in 'from' of the patch (which it must meet). level[k] points
 * to room for bm_patch_level_bytes(k). When all parts have been taken,
 * bm_patch_fill_coarser() fills the others. The same scratch for all. */
void bm_patch_take(const struct bm_patch *p, const struct bm_memory_box *from,
                   uint8_t *const level[], uint8_t *scratch);
void bm_patch_fill_coarser(const struct bm_patch *p, uint8_t *const level[],
                           uint8_t *scratch);

/* The same for codecs that want all samples in one array: [components], dense.
 */
void bm_patch_take_dense(const struct bm_patch *p,
                         const struct bm_memory_box *from, uint8_t *dense);

/* The range of the patch's values, into ranges[components], from its levels; or
 * from the dense array. */
void bm_patch_ranges(const struct bm_patch *p, bouma_type type,
                     uint8_t *const level[], struct bm_range *ranges);
void bm_patch_dense_ranges(const struct bm_patch *p, bouma_type type,
                           const uint8_t *dense, struct bm_range *ranges);

/* What codecs need to know of a component of the patch; points into 'p'. */
struct bm_field bm_patch_field(const struct bm_patch *p,
                               const struct bouma_variable *variable);

/* Samples of a patch at one level, as they were read: all of them in 'dense';
 * or, where 'detail' is not NULL, the rest in it and those that the next
 * coarser level has in 'dense'. Components are one after the other. */
struct bm_patch_samples {
    int level;
    const uint8_t *detail, *dense;
};

/* Bytes of the samples of a level, all components. */
size_t bm_patch_dense_bytes(const struct bm_patch *p, int level);

/* The samples of a level that lie in 'clip', counted from the first one; 0 if
 * patch and clip do not meet. */
int bm_patch_window(struct bm_window *out, const struct bm_patch *p, int level,
                    const struct bm_box *clip);

/* Put them together: those in 'wanted', at their places in 'dense'; NULL: all. */
void bm_patch_merge(const struct bm_patch *p, const struct bm_patch_samples *s,
                    const struct bm_window *wanted, uint8_t *dense);

/* Memory for samples of one level: the first one in the array has index
 * 'first', in units of 2^level. */
struct bm_level_memory {
    struct bm_array array;
    int64_t first[3];
};

/* Give those that lie in 'clip' to memory. */
void bm_patch_give(const struct bm_patch *p, const struct bm_patch_samples *s,
                   const struct bm_box *clip, const struct bm_level_memory *to);

#endif
