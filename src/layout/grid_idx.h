/* grid_idx.h -- grids in HZ order whose files are those of an IDX dataset, too
 * (the option 'idx' of a grid): blocks are raw, along the curve and filled up,
 * and each file begins with the headers of its blocks (see front.h). The links
 * and the header by which other programs find the files are made elsewhere: see
 * dataset/idx.h. */
#ifndef BM_GRID_IDX_H
#define BM_GRID_IDX_H

#include "layout/grid_hz.h"
#include "layout/idx_text.h"

int bm_grid_is_idx(const struct bm_object *o);
/* Whether a schema has such grids. */
int bm_schema_has_idx(const struct bm_schema *schema);

/* What is wrong with a grid or a variable, as the end of a sentence, or NULL.
 */
const char *bm_grid_idx_check(const char *name, const bouma_grid_spec *spec);
const char *bm_grid_idx_check_variable(const struct bm_object *o,
                                       const bouma_variable_spec *spec,
                                       int components);
/* The shape that a template follows from: the mask of IDX tells how many axes
 * there are, so it has a split of each. And whether one has. */
void bm_grid_idx_shape(int64_t out[3], const struct bm_object *o);
int bm_grid_idx_has_axes(const struct bm_hz *hz, int ndims);

extern const struct bm_front_functions bm_grid_idx_front;

/* The header of the dataset with these timesteps, into a buffer. BOUMA_OK or
 * ENOMEM. */
int bm_grid_idx_header(struct bm_buffer *out, const struct bm_object *o,
                       const int64_t *steps, size_t count);
/* The name of the file that begins with a block, below the directory of its
 * timestep; gives how many directories that has. */
int bm_grid_idx_file(char out[BM_IDX_FILE_BYTES], const struct bm_object *o,
                     uint64_t first);
/* How many files a grid has; the first block that file i of them can have; and
 * that of the file with a block. */
int64_t bm_grid_idx_files(const struct bm_object *o);
uint64_t bm_grid_idx_first(const struct bm_object *o, int64_t i);
uint64_t bm_grid_idx_first_with(const struct bm_object *o, uint64_t block);

#endif
