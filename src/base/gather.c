/* gather.c -- see gather.h. */
#include "base/gather.h"

#define AHEAD 16 /* values that are asked for before they are needed */

#define GATHER(bits)                                                           \
    static void gather_##bits(void *restrict to, const void *restrict from,    \
                              const uint32_t *restrict places, size_t n)       \
    {                                                                          \
        uint##bits##_t *out = to;                                              \
        const uint##bits##_t *in = from;                                       \
        size_t i = 0;                                                          \
                                                                               \
        for (; i + AHEAD < n; i++) {                                           \
            __builtin_prefetch(&in[places[i + AHEAD]]);                        \
            out[i] = in[places[i]];                                            \
        }                                                                      \
        for (; i < n; i++)                                                     \
            out[i] = in[places[i]];                                            \
    }                                                                          \
                                                                               \
    static void near_##bits(void *restrict to, const void *restrict from,      \
                            const uint16_t *restrict places, size_t n)         \
    {                                                                          \
        uint##bits##_t *out = to;                                              \
        const uint##bits##_t *in = from;                                       \
                                                                               \
        for (size_t i = 0; i < n; i++)                                         \
            out[i] = in[places[i]];                                            \
    }
GATHER(8)
GATHER(16)
GATHER(32)
GATHER(64)

void bm_gather(void *to, const void *from, const uint32_t *places, size_t n,
               size_t size)
{
    switch (size) {
    case 1:
        gather_8(to, from, places, n);
        break;
    case 2:
        gather_16(to, from, places, n);
        break;
    case 4:
        gather_32(to, from, places, n);
        break;
    default:
        gather_64(to, from, places, n);
    }
}

void bm_gather_near(void *to, const void *from, const uint16_t *places,
                    size_t n, size_t size)
{
    switch (size) {
    case 1:
        near_8(to, from, places, n);
        break;
    case 2:
        near_16(to, from, places, n);
        break;
    case 4:
        near_32(to, from, places, n);
        break;
    default:
        near_64(to, from, places, n);
    }
}
