/* particles_bat.h -- sets of particles in trees with bitmaps, one tree for each
 * file, and levels of detail: what is this layout's own. */
#ifndef BM_PARTICLES_BAT_H
#define BM_PARTICLES_BAT_H

#include "layout/detail.h"
#include "layout/schema.h"

#define BM_MAX_LEAF 65536 /* particles in a leaf */

/* 'own' of such a set. */
struct bm_particles_bat {
    struct bm_detail detail;
    uint32_t leaf; /* most particles in a leaf of the tree */
};

static inline const struct bm_particles_bat *
bm_bat_of(const struct bm_object *set)
{
    return set->own;
}

#endif
