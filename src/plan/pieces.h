/* pieces.h -- the particles of a rank that has too many for one file, as
 * several units: an octree of its bounds, refined where particles are, whose
 * cells say how many they hold. */
#ifndef BM_PIECES_H
#define BM_PIECES_H

#include "plan/aggregate.h"

/* Positions in memory: one array for each axis, 'stride' bytes from particle to
 * particle. */
struct bm_positions {
    int ndims;
    bouma_type type; /* f32 or f64 */
    const void *axis[3];
    int64_t stride[3];
    size_t count;
};

struct bm_pieces {
    const bouma_allocator *a;
    struct bm_unit *units; /* [count], none of them empty; rank is 0 */
    size_t count;
    uint32_t *of; /* [particles], the unit of each */
};

/* Cut until no unit has more than 'most' particles; more are left together only
 * where they share one place. Those whose position is not finite go with the
 * first unit. Same input, same pieces. */
int bm_pieces_make(struct bm_pieces *out, const bouma_allocator *a,
                   const struct bm_positions *positions, uint64_t most);
void bm_pieces_release(struct bm_pieces *p);

/* The bounds of all finite positions; the number of those that are not. With
 * none that is finite, low is above high. */
uint64_t bm_positions_bounds(const struct bm_positions *positions,
                             double low[3], double high[3]);

#endif
