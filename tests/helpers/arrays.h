/* arrays.h -- dense arrays of a variable's own type, in short: for tests that
 * are about something else. */
#ifndef ARRAYS_H
#define ARRAYS_H

#include <string.h>

#include "bouma.h"

/* An array of the type of the variable, and as large as it needs to be: what is
 * too small is for the tests of arrays to find. */
static inline bouma_array test_array(const bouma_variable *v, const void *data)
{
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_array array;

    memset(&array, 0, sizeof(array));
    bouma_variable_info_get(&about, v);
    array.size = sizeof(array);
    array.type = v ? about.type : BOUMA_TYPE_F32;
    memcpy(&array.data, &data, sizeof(data)); /* a put does not change it */
    array.bytes = SIZE_MAX;
    return array;
}

static inline int test_put(bouma_variable *v, const bouma_box *box,
                           const void *data)
{
    bouma_array array = test_array(v, data);

    return bouma_variable_put_borrow(v, box, &array);
}

static inline int test_put_copy(bouma_variable *v, const bouma_box *box,
                                const void *data)
{
    bouma_array array = test_array(v, data);

    return bouma_variable_put_copy(v, box, &array);
}

static inline int test_read(bouma_variable *v, int level, const bouma_box *box,
                            void *data)
{
    bouma_array array = test_array(v, data);

    return bouma_variable_read(v, level, box, &array);
}

#endif
