/* read_tiles.h -- boxes of grids that are stored as coefficients (see
 * bm_tile_functions): the coefficients of whole tiles are read, as samples are;
 * then they become samples, of which the box gets its own. Boxes that are read
 * by all ranks together take the same way if their arrays are not as the
 * variable's samples. */
#ifndef BM_READ_TILES_H
#define BM_READ_TILES_H

#include "read/read.h"

/* The smallest box of whole tiles around one; the same if there are no tiles. */
struct bm_box bm_tiles_around(const struct bm_object *grid,
                              const struct bm_box *box);

/* What is read for a request: coefficients of whole tiles, or samples as the
 * variable's, into memory that the caller drops from the dataset's. Without
 * either it is the request itself.
 * BOUMA_OK, ENOMEM or ELIMIT, with a message. */
int bm_tiles_request(struct bm_read_request *inner, struct bouma_step *step,
                     const struct bm_read_request *request);

/* Whether that is another one. */
int bm_tiles_are_apart(const struct bm_read_request *request);

/* Make samples of what was read, and give the request its own; nothing if it is
 * the request itself. */
int bm_tiles_give(const struct bm_read_request *request,
                  const struct bm_read_request *inner, struct bouma_step *step);

/* As bm_query(), of grids with tiles, which are the patches. */
int bm_query_tiles(struct bouma_step *step,
                   const struct bouma_variable *variable,
                   const bouma_patch_query *query, const struct bm_box *lifted);

/* Drop the memory of what was read. */
void bm_tiles_drop(struct bm_read_request *inner, struct bouma_step *step,
                   const struct bm_read_request *request);

#endif
