/* gather.c -- see gather.h. */
#include "base/gather.h"

#define AHEAD 16 /* values that are asked for before they are needed */

#define GATHER(bits)                                                           \
    static void gather_##bits(void *restrict to, const void *restrict from,    \
                              const uint32_t *restrict indices, size_t n)      \
    {                                                                          \
        uint##bits##_t *out = to;                                              \
        const uint##bits##_t *in = from;                                       \
        size_t i = 0;                                                          \
                                                                               \
        for (; i + AHEAD < n; i++) {                                           \
            __builtin_prefetch(&in[indices[i + AHEAD]]);                       \
            out[i] = in[indices[i]];                                           \
        }                                                                      \
        for (; i < n; i++)                                                     \
            out[i] = in[indices[i]];                                           \
    }                                                                          \
                                                                               \
    static void near_##bits(void *restrict to, const void *restrict from,      \
                            const uint16_t *restrict indices, size_t n)        \
    {                                                                          \
        uint##bits##_t *out = to;                                              \
        const uint##bits##_t *in = from;                                       \
                                                                               \
        for (size_t i = 0; i < n; i++)                                         \
            out[i] = in[indices[i]];                                           \
    }
GATHER(8)
GATHER(16)
GATHER(32)
GATHER(64)

#define BY_SIZE(function, name, index_type)                                    \
    void function(void *to, const void *from, const index_type *indices,       \
                  size_t n, size_t size)                                       \
    {                                                                          \
        switch (size) {                                                        \
        case 1:                                                                \
            name##_8(to, from, indices, n);                                    \
            break;                                                             \
        case 2:                                                                \
            name##_16(to, from, indices, n);                                   \
            break;                                                             \
        case 4:                                                                \
            name##_32(to, from, indices, n);                                   \
            break;                                                             \
        default:                                                               \
            name##_64(to, from, indices, n);                                   \
        }                                                                      \
    }
BY_SIZE(bm_gather, gather, uint32_t)
BY_SIZE(bm_gather_near, near, uint16_t)

#define APART(bits)                                                            \
    static void apart_##bits(void *restrict to, size_t every,                  \
                             const void *restrict from,                        \
                             const uint16_t *restrict indices, size_t n)       \
    {                                                                          \
        uint##bits##_t *out = to;                                              \
        const uint##bits##_t *in = from;                                       \
                                                                               \
        for (size_t i = 0; i < n; i++)                                         \
            out[i * every] = in[indices ? indices[i] : i];                     \
    }
APART(8)
APART(16)
APART(32)
APART(64)

void bm_gather_apart(void *to, size_t every, const void *from,
                     const uint16_t *indices, size_t n, size_t size)
{
    switch (size) {
    case 1:
        apart_8(to, every, from, indices, n);
        break;
    case 2:
        apart_16(to, every, from, indices, n);
        break;
    case 4:
        apart_32(to, every, from, indices, n);
        break;
    default:
        apart_64(to, every, from, indices, n);
    }
}
