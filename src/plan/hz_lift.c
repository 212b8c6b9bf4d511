/* hz_lift.c -- see hz_lift.h. */
#include "plan/hz_lift.h"

#include <string.h>

void bm_hz_tile(int64_t edge[3], const struct bm_hz *hz, int tile_bits)
{
    int shift[3];

    bm_hz_lattice(hz, hz->bits - tile_bits, shift);
    for (int d = 0; d < 3; d++)
        edge[d] = (int64_t)1 << shift[d];
}

int bm_hz_lifts(struct bm_lift lifts[BM_HZ_BITS], const struct bm_hz *hz,
                int tile_bits, int level)
{
    int count = 0;

    for (int i = hz->bits - tile_bits; i < hz->bits; i++) {
        struct bm_lift step = {.axis = hz->axis[i]};

        bm_hz_lattice(hz, i + 1, step.shift);
        if (step.shift[step.axis] < level)
            continue;
        for (int d = 0; d < 3; d++)
            if (step.shift[d] < level)
                step.shift[d] = level;
        lifts[count++] = step;
    }
    return count;
}
