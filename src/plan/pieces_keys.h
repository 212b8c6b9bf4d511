/* pieces_keys.h -- what pieces are made with: positions that are loaded in
 * blocks, and the keys of the cells in which they lie. */
#ifndef BM_PIECES_KEYS_H
#define BM_PIECES_KEYS_H

#include "plan/pieces.h"

/* Particles that are looked at together. */
#define BM_BLOCK 256
/* Of a table of cells, at most; and levels of tables for one set of keys. */
#define BM_TABLE_BITS   12
#define BM_TABLE_LEVELS 3
/* With fewer particles in a cell, a table for it costs too much. */
#define BM_TABLE_PLENTY 1024

struct bm_block {
    size_t count;
    const uint32_t *which; /* their numbers; NULL: from 'first' on */
    size_t first;
    double at[3][BM_BLOCK]; /* axes past ndims are 0 */
};

/* The particles from 'from' on, of the list 'which' or (NULL) of all. What is
 * in the axes past ndims stays: 0, if the caller has made it so. */
void bm_block_load(struct bm_block *b, const struct bm_positions *p,
                   const uint32_t *which, size_t from, size_t end);

/* v - v is 0, or NaN if v is not finite. */
static inline int bm_block_finite_at(const struct bm_block *b, size_t i)
{
    return b->at[0][i] - b->at[0][i] + (b->at[1][i] - b->at[1][i]) +
               (b->at[2][i] - b->at[2][i]) ==
           0;
}

int bm_block_finite(const struct bm_block *b, int ndims); /* all of them */

/* 2^bits cells along every axis of some bounds. A place is scaled by a power of
 * two before anything else, so that no extent is too large or too small. A
 * key's highest bits are a cell's number in the first table, the next ones that
 * in a table of the second level, ... */
struct bm_grid {
    int ndims, bits;
    double scale[3], low[3], factor[3];
    int levels;
    int table_bits[BM_TABLE_LEVELS]; /* multiples of ndims */
    int shift[BM_TABLE_LEVELS];      /* of the key, for each level */
};

/* Cells of an eighth of 'most' if particles were spread evenly, so that small
 * sets have few cells; all that can be where there are many particles anyway,
 * and further levels where cells have many. */
void bm_grid_init(struct bm_grid *g, int ndims, uint64_t count, uint64_t most);

/* Put it over some bounds. */
void bm_grid_scale(struct bm_grid *g, const double low[3],
                   const double high[3]);

/* The key of each particle of a block; NaN gives some key, too. */
void bm_grid_keys(uint32_t key[BM_BLOCK], const struct bm_grid *g,
                  const struct bm_block *b);

#endif
