/* shape_tiles.h -- grids that are stored as coefficients (see
 * bm_tile_functions): ranks bring tiles together, each at one of them, and
 * transform them. From there on, chunks are made of coefficients as they are
 * made of samples.
 *
 * Who encodes a chunk has no samples of it, so the ranges of values, and what
 * rounding did to them, come along with the coefficients: its facts. */
#ifndef BM_SHAPE_TILES_H
#define BM_SHAPE_TILES_H

#include "write/shape.h"

/* All memory, once the shaper's parts are planned. BOUMA_OK or ENOMEM. */
int bm_tiles_init(struct bm_shaper *s);
void bm_tiles_release(struct bm_shaper *s);

/* Bring tiles together, and transform them. 'rc' is this rank's status so far;
 * gives that after it. Collective. */
int bm_tiles_transform(struct bm_shaper *s, int rc);

/* Bytes of the facts of a part, behind its samples. */
size_t bm_tiles_fact_bytes(const struct bouma_variable *v);
/* The facts of chunk plan->mine[m], with those of parts that came from others,
 * in place of what encoding found. */
void bm_tiles_tell_facts(const struct bm_shaper *s, size_t m,
                         const struct bm_chunk *c, struct bm_encoding *e);

#endif
