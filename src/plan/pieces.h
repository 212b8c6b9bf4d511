/* pieces.h -- the particles of a rank that has too many for one file, as
 * several units: an octree of its bounds, refined where particles are, whose
 * cells say how many they hold. */
#ifndef BM_PIECES_H
#define BM_PIECES_H

#include "plan/aggregate.h"

/* Positions in memory: one array for each axis, 'stride' bytes from particle to
 * particle. Nothing need be aligned. */
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
 * where they share one place. Those of which a coordinate is not finite go with
 * the first unit, on top of that number; if all are such, that unit is at the
 * origin. Bounds are those of a unit's finite particles, exactly. Cells that
 * have at most 'most' particles together are one unit, if they are the halves
 * of a cell (of the half of one, ...): two units that are the halves of one
 * cell have more. Same input, same pieces. BOUMA_OK, ENOMEM, EINVAL for another
 * type or number of axes, ELIMIT for 2^32 - 1 particles. */
int bm_pieces_make(struct bm_pieces *out, const bouma_allocator *a,
                   const struct bm_positions *positions, uint64_t most);
void bm_pieces_release(struct bm_pieces *p);

/* The bounds of all particles whose coordinates are all finite; the number of
 * the others. With none that is finite, low is above high. Axes past ndims are
 * 0. */
uint64_t bm_positions_bounds(const struct bm_positions *positions,
                             double low[3], double high[3]);

#endif
