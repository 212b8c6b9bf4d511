/* idx_names.h -- names in idx/, for the files of idx.h. */
#ifndef BM_IDX_NAMES_H
#define BM_IDX_NAMES_H

#include "dataset/idx.h"

#define BM_IDX_HEADER_SUFFIX ".idx"
#define BM_IDX_NEW_SUFFIX    ".tmp"

/* The directory of a grid, its header, and the link of a step. */
void bm_idx_grid_name(char name[BM_NAME_BYTES], const char *grid);
void bm_idx_header_name(char name[BM_NAME_BYTES], const char *grid);
void bm_idx_step_name(char name[BM_NAME_BYTES], const char *grid,
                      uint64_t step);

/* Whether a file or a directory is there: a link is not opened. */
int bm_idx_is_foreign(struct bm_store *s, const char *name);

/* The directory of links that the name of a step leads to; "" if that is none
 * of this step, or no link. */
void bm_idx_links_shown(char out[BM_NAME_BYTES], struct bm_store *s,
                        const char *name, uint64_t step);

#endif
