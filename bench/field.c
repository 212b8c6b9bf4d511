/* field.c -- value(z, y, x) = wave0[z] + wave1[y] * wave2[x].
 *
 * It is smooth, as simulations are, so that a codec sees something likely; and
 * no two neighbours are equal, so that a sample in the wrong place is found. */
#include "field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int field_init(struct field *field, int64_t size)
{
    /* Radians from one sample to the next; no rational multiple of pi, nor of
     * each other, hence no period. */
    static const double frequency[FIELD_AXES] = {0.0213, 0.0331, 0.0171};

    memset(field, 0, sizeof(*field));
    for (int axis = 0; axis < FIELD_AXES; axis++) {
        field->shape[axis] = size;
        field->wave[axis] = malloc((size_t)size * sizeof(float));
        if (!field->wave[axis]) {
            field_release(field);
            return -1;
        }
        for (int64_t i = 0; i < size; i++)
            field->wave[axis][i] =
                (float)(1.5 + sin(frequency[axis] * (double)i));
    }
    return 0;
}

void field_release(struct field *field)
{
    for (int axis = 0; axis < FIELD_AXES; axis++)
        free(field->wave[axis]);
    memset(field, 0, sizeof(*field));
}

int64_t field_box_samples(const bouma_box *box)
{
    int64_t n = 1;

    for (int axis = 0; axis < FIELD_AXES; axis++)
        n *= box->hi[axis] - box->lo[axis];
    return n;
}

size_t field_box_bytes(const bouma_box *box)
{
    return (size_t)field_box_samples(box) * sizeof(float);
}

static float value(const struct field *field, int64_t z, int64_t y, int64_t x)
{
    return field->wave[0][z] + field->wave[1][y] * field->wave[2][x];
}

void field_fill(const struct field *field, const bouma_box *box, float *data)
{
    for (int64_t z = box->lo[0]; z < box->hi[0]; z++)
        for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
            for (int64_t x = box->lo[2]; x < box->hi[2]; x++)
                *data++ = value(field, z, y, x);
}

int64_t field_mismatches(const struct field *field, const bouma_box *box,
                         const float *data)
{
    int64_t wrong = 0;

    for (int64_t z = box->lo[0]; z < box->hi[0]; z++)
        for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
            for (int64_t x = box->lo[2]; x < box->hi[2]; x++)
                wrong += *data++ != value(field, z, y, x);
    return wrong;
}
