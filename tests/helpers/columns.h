/* columns.h -- columns of particles of a variable's own type, in short: for
 * tests that are about something else. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include <string.h>

#include "arrays.h"

/* Where the values of a variable lie: in one array, or each component in one of
 * its own. Strides of 0 are dense ones. */
struct test_column {
    bouma_variable *variable;
    const void *data;
    const void *const *parts;
    int64_t stride, component_stride;
};

#define TEST_COLUMNS 16

/* As large as they need to be: what is too small is for others to find. */
static inline void test_columns(bouma_column *out, bouma_array *arrays,
                                const struct test_column *columns, size_t count)
{
    for (size_t i = 0; i < count && i < TEST_COLUMNS; i++) {
        arrays[i] = test_array(columns[i].variable, columns[i].data);
        memcpy(&arrays[i].parts, &columns[i].parts, sizeof(arrays[i].parts));
        arrays[i].stride[0] = columns[i].stride;
        arrays[i].component_stride = columns[i].component_stride;
        out[i] = (bouma_column){.size = sizeof(out[i]),
                                .variable = columns[i].variable,
                                .array = &arrays[i]};
    }
}

static inline int test_put_particles(bouma_particles *particles, uint64_t count,
                                     const struct test_column *columns,
                                     size_t column_count,
                                     const bouma_bounds *bounds)
{
    bouma_array arrays[TEST_COLUMNS];
    bouma_column own[TEST_COLUMNS];

    if (columns)
        test_columns(own, arrays, columns, column_count);
    return bouma_particles_put_borrow(particles, count, columns ? own : NULL,
                                      column_count, bounds);
}

static inline int test_put_particles_copy(bouma_particles *particles,
                                          uint64_t count,
                                          const struct test_column *columns,
                                          size_t column_count,
                                          const bouma_bounds *bounds)
{
    bouma_array arrays[TEST_COLUMNS];
    bouma_column own[TEST_COLUMNS];

    if (columns)
        test_columns(own, arrays, columns, column_count);
    return bouma_particles_put_copy(particles, count, columns ? own : NULL,
                                    column_count, bounds);
}

#endif
