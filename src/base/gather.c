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

#define BY_SIZE(function, name, place)                                         \
    void function(void *to, const void *from, const place *places, size_t n,   \
                  size_t size)                                                 \
    {                                                                          \
        switch (size) {                                                        \
        case 1:                                                                \
            name##_8(to, from, places, n);                                     \
            break;                                                             \
        case 2:                                                                \
            name##_16(to, from, places, n);                                    \
            break;                                                             \
        case 4:                                                                \
            name##_32(to, from, places, n);                                    \
            break;                                                             \
        default:                                                               \
            name##_64(to, from, places, n);                                    \
        }                                                                      \
    }
BY_SIZE(bm_gather, gather, uint32_t)
BY_SIZE(bm_gather_near, near, uint16_t)
