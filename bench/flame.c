/* flame.c -- see flame.h. */
#include "flame.h"

#include <math.h>
#include <stdlib.h>

enum { WAVES = 7, AXES = 3 };

/* sin(k x + phase) of each wave at each index of an axis. Wave numbers do not
 * depend on the size of the cube: a larger one shows more of the same. */
static void make_waves(float *out, int64_t lo, int64_t hi, int axis)
{
    static const double numbers[WAVES] = {0.021, 0.047, 0.11, 0.23,
                                          0.52,  0.93,  1.61};

    for (int w = 0; w < WAVES; w++)
        for (int64_t i = lo; i < hi; i++)
            *out++ = (float)sin(numbers[w] * (1 + 0.13 * axis) * (double)i +
                                1.7 * w + axis);
}

int flame_fill(float *data, int64_t size, const bouma_box *box)
{
    static const float amplitude[WAVES] = {1,     0.6f,  0.3f, 0.15f,
                                           0.08f, 0.05f, 0.03f};
    int64_t n[AXES];
    float *waves[AXES];
    int rc = 0;

    for (int d = 0; d < AXES; d++) {
        n[d] = box->hi[d] - box->lo[d];
        waves[d] = malloc((size_t)(n[d] * WAVES) * sizeof(float) + 1);
        if (waves[d])
            make_waves(waves[d], box->lo[d], box->hi[d], d);
        else
            rc = -1;
    }
    for (int64_t z = 0; z < n[0] && !rc; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            float front = 0.45f * (float)size, strength[WAVES];

            for (int w = 0; w < WAVES; w++) {
                strength[w] = amplitude[w] * waves[0][w * n[0] + z] *
                              waves[1][w * n[1] + y];
                front += 8 * amplitude[w] *
                         (waves[0][w * n[0] + z] + waves[1][w * n[1] + y]);
            }
            for (int64_t x = 0; x < n[2]; x++) {
                float s = ((float)(box->lo[2] + x) - front) / 3;
                float burnt = 0.5f + 0.5f * s / sqrtf(1 + s * s);
                float swirl = 0;

                for (int w = 0; w < WAVES; w++)
                    swirl += strength[w] * waves[2][w * n[2] + x];
                *data++ =
                    300 + 1700 * burnt + 60 * swirl * (1 - burnt) * (1 - burnt);
            }
        }
    for (int d = 0; d < AXES; d++)
        free(waves[d]);
    return rc;
}
