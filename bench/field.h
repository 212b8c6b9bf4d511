/* field.h -- the test field: a cube of f32 whose values are a function of the
 * index, so that any part of it can be made, and checked after a read. */
#ifndef BENCH_FIELD_H
#define BENCH_FIELD_H

#include <stdint.h>

#include "bouma.h"

/* A box has room for more axes: they are not used. */
enum { FIELD_AXES = 3 };

struct field {
    int64_t shape[FIELD_AXES];
    float *wave[FIELD_AXES]; /* of each axis; see field.c */
};

/* A cube with 'size' samples an axis. 0, or -1 without memory. */
int field_init(struct field *field, int64_t size);
void field_release(struct field *field);

/* The samples of a box, and the bytes that they take. */
int64_t field_box_samples(const bouma_box *box);
size_t field_box_bytes(const bouma_box *box);

/* Fill the dense array 'data' with the samples of 'box'; count those in it that
 * are not as they should be. */
void field_fill(const struct field *field, const bouma_box *box, float *data);
int64_t field_mismatches(const struct field *field, const bouma_box *box,
                         const float *data);

#endif
