/* tree_route.c -- see tree_route.h. */
#include "layout/tree_route.h"

#include <string.h>

void bm_tree_route_release(struct bm_tree_route *r, const bouma_allocator *a)
{
    bm_drop(a, r->cell_of);
    bm_drop(a, r->ends);
    memset(r, 0, sizeof(*r));
}

size_t bm_tree_part(size_t n, size_t parts, size_t part)
{
    return n / parts * part + (part == parts ? n % parts : 0);
}

/* Buckets lie one after the other, in each the parts: so a part begins where
 * the one before ends, or the bucket before. */
void bm_tree_route_begin(const struct bm_tree_route *r, size_t part,
                         uint32_t next[BM_MOST_BUCKETS])
{
    const uint32_t *last = r->ends + (r->parts - 1) * r->buckets;

    if (part) {
        memcpy(next, r->ends + (part - 1) * r->buckets,
               sizeof(*next) * r->buckets);
        return;
    }
    next[0] = 0;
    memcpy(next + 1, last, sizeof(*next) * (r->buckets - 1));
}

#define TO_BUCKETS(bits)                                                       \
    static void to_buckets_##bits(void *restrict to,                           \
                                  const void *restrict from,                   \
                                  const uint16_t *restrict cell_of, int shift, \
                                  uint32_t *restrict next, size_t n)           \
    {                                                                          \
        uint##bits##_t *out = to;                                              \
        const uint##bits##_t *in = from;                                       \
                                                                               \
        for (size_t i = 0; i < n; i++)                                         \
            out[next[cell_of[i] >> shift]++] = in[i];                          \
    }
TO_BUCKETS(8)
TO_BUCKETS(16)
TO_BUCKETS(32)
TO_BUCKETS(64)

void bm_tree_route_values(const struct bm_tree_route *r,
                          uint32_t next[BM_MOST_BUCKETS], size_t begin,
                          size_t n, void *to, const void *from, size_t size)
{
    const uint8_t *in = (const uint8_t *)from + begin * size;
    const uint16_t *cell_of = r->cell_of + begin;

    switch (size) {
    case 1:
        to_buckets_8(to, in, cell_of, r->shift, next, n);
        break;
    case 2:
        to_buckets_16(to, in, cell_of, r->shift, next, n);
        break;
    case 4:
        to_buckets_32(to, in, cell_of, r->shift, next, n);
        break;
    default:
        to_buckets_64(to, in, cell_of, r->shift, next, n);
    }
}
