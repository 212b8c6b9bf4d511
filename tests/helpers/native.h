/* native.h -- values as this machine has them in memory, for tests that run on
 * big-endian ones, too. */
#ifndef TEST_NATIVE_H
#define TEST_NATIVE_H

#include <string.h>

#include "base/bytes.h"
#include "base/type.h"

/* The lowest 'size' bytes of a number, as an integer of that size. */
static inline void store_integer(void *out, uint64_t v, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)out)[i] = (uint8_t)(v >> 8 * i);
    bm_swap_to_little(out, 1, size);
}

static inline uint64_t load_integer(const void *in, size_t size)
{
    uint8_t bytes[8] = {0};
    uint64_t v = 0;

    memcpy(bytes, in, size);
    bm_swap_to_little(bytes, 1, size);
    for (size_t i = 0; i < size; i++)
        v |= (uint64_t)bytes[i] << 8 * i;
    return v;
}

/* A value of a type. */
static inline void store_value(void *out, bouma_type type, union bm_scalar v)
{
    bm_scalar_store(out, type, v);
    bm_swap_to_little(out, 1, bouma_type_size(type));
}

static inline union bm_scalar load_value(const void *in, bouma_type type)
{
    uint8_t bytes[8];

    memcpy(bytes, in, bouma_type_size(type));
    bm_swap_to_little(bytes, 1, bouma_type_size(type));
    return bm_scalar_load(bytes, type);
}

#endif
