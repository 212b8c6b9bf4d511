/* particle_pieces.h -- the columns of a file of particles, in the order in which
 * they came, become the pieces that are stored: brought into the order of the
 * tree, indexed, split into levels of detail, encoded, chunk by chunk while
 * that is in the cache, on as many threads as there are. */
#ifndef BM_PARTICLE_PIECES_H
#define BM_PARTICLE_PIECES_H

#include "layout/tree_route.h"
#include "write/particle_file.h"

/* The order of the tree. */
struct bm_particle_order {
    uint32_t *slot;             /* [count]: see bm_tree_build() */
    struct bm_tree_route route; /* with it */
    uint8_t *room; /* [count] of the widest variable: at first positions in the
                      order of the tree, and used up */
};

/* All variables: encoded, with their sections in the head, and the bitmaps of
 * the tree's leaves. Columns that the file owns are dropped when they have been
 * used. BOUMA_OK or ENOMEM. */
int bm_particle_pieces_make(struct bm_particle_file *b,
                            struct bouma_dataset *ds, uint64_t seed,
                            const struct bm_particle_order *order);

#endif
