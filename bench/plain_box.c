/* plain_box.c -- see plain_box.h. */
#include "plain_box.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure.h"

double plain_box_read(const char *path, int64_t size, const bouma_box *box,
                      int level, float *out)
{
    double begun = measure_now();
    int64_t unit = (int64_t)1 << level, count = box->hi[2] - box->lo[2];
    size_t bytes = (size_t)count * sizeof(float);
    int file = open(path, O_RDONLY), failed = file < 0;
    float *row = malloc(bytes);

    for (int64_t z = box->lo[0]; z < box->hi[0] && row; z += unit)
        for (int64_t y = box->lo[1]; y < box->hi[1] && !failed; y += unit) {
            int64_t at = (z * size + y) * size + box->lo[2];

            failed = pread(file, row, bytes, at * (int64_t)sizeof(float)) !=
                     (ssize_t)bytes;
            for (int64_t x = 0; x < count && !failed; x += unit)
                *out++ = row[x];
        }
    failed |= !row;
    free(row);
    if (file >= 0)
        close(file);
    return failed ? -1 : measure_now() - begun;
}
