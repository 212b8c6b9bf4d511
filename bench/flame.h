/* flame.h -- a field like that of a flame: a wrinkled front between a calm
 * region, which compresses to almost nothing, and a turbulent one. A function
 * of the index, so that any part of it can be made on any rank. */
#ifndef BENCH_FLAME_H
#define BENCH_FLAME_H

#include <stdint.h>

#include "bouma.h"

/* The samples of 'box' of a cube with 'size' samples an axis, dense. 0, or -1
 * without memory. */
int flame_fill(float *data, int64_t size, const bouma_box *box);

#endif
