/* plain_box.h -- a box of a plain file of samples in rows: what a reader without
 * any library does. */
#ifndef BENCH_PLAIN_BOX_H
#define BENCH_PLAIN_BOX_H

#include "bouma.h"

/* Read every 2^level-th f32 sample of a box into 'out', a read for each row of
 * it. The file has size^3 of them. Seconds, with opening and closing it; less
 * than 0 if it cannot be read. */
double plain_box_read(const char *path, int64_t size, const bouma_box *box,
                      int level, float *out);

#endif
