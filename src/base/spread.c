/* spread.c -- see spread.h. */
#include "base/spread.h"

#include <string.h>

#include "base/hash.h"
#include "base/mapped.h"

size_t bm_spread_bytes(const struct bm_spread *s)
{
    size_t bytes = s->size;

    for (int k = 0; k < BM_SPREAD_AXES; k++)
        if (__builtin_mul_overflow(bytes, s->count[k], &bytes))
            return SIZE_MAX;
    return bytes;
}

static uint64_t distance(int64_t stride)
{
    return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

/* The axes from the longest stride to the shortest, so that memory is walked
 * through once. */
static void sort_axes(int order[BM_SPREAD_AXES], const struct bm_spread *s)
{
    for (int k = 0; k < BM_SPREAD_AXES; k++) {
        int i = k;

        for (; i && distance(s->stride[order[i - 1]]) < distance(s->stride[k]);
             i--)
            order[i] = order[i - 1];
        order[i] = k;
    }
}

/* The same values along as few axes as can be, in the order of memory. */
static struct bm_spread in_order(const struct bm_spread *s)
{
    struct bm_spread out = {.data = s->data, .size = s->size};
    int order[BM_SPREAD_AXES], at = BM_SPREAD_AXES;

    sort_axes(order, s);
    for (int k = BM_SPREAD_AXES - 1; k >= 0; k--) {
        uint64_t count = s->count[order[k]];
        int64_t stride = s->stride[order[k]];

        if (count == 1)
            continue;
        if (at < BM_SPREAD_AXES &&
            stride == out.stride[at] * (int64_t)out.count[at]) {
            out.count[at] *= count;
            continue;
        }
        at--;
        out.count[at] = count;
        out.stride[at] = stride;
    }
    while (at-- > 0)
        out.count[at] = 1;
    return out;
}

static void pick(uint8_t *to, const uint8_t *from, int64_t stride, size_t count,
                 size_t size)
{
    switch (size) {
#define PICK(bytes)                                                            \
    case bytes:                                                                \
        for (size_t i = 0; i < count; i++, to += bytes, from += stride)        \
            memcpy(to, from, bytes);                                           \
        break;
        PICK(1)
        PICK(2)
        PICK(4)
        PICK(8)
#undef PICK
    }
}

/* Walk through all runs of values along the last axis. */
static void each_run(const struct bm_spread *s, void *context,
                     void (*run)(void *context, const struct bm_spread *s,
                                 const uint8_t *from))
{
    for (uint64_t i = 0; i < s->count[0]; i++)
        for (uint64_t j = 0; j < s->count[1]; j++)
            for (uint64_t k = 0; k < s->count[2] && s->count[3]; k++)
                run(context, s,
                    s->data + (int64_t)i * s->stride[0] +
                        (int64_t)j * s->stride[1] + (int64_t)k * s->stride[2]);
}

static void hash_run(void *context, const struct bm_spread *s,
                     const uint8_t *from)
{
    uint64_t *hash = context;
    size_t count = (size_t)s->count[3];
    int64_t stride = s->stride[3];
    uint8_t some[4096];

    if (count == 1 || stride == (int64_t)s->size) {
        *hash = bm_hash64(from, count * s->size, *hash);
        return;
    }
    for (size_t done = 0; done < count;) {
        size_t n = sizeof(some) / s->size;

        n = n < count - done ? n : count - done;
        pick(some, from + (int64_t)done * stride, stride, n, s->size);
        *hash = bm_hash64(some, n * s->size, *hash);
        done += n;
    }
}

uint64_t bm_spread_hash(const struct bm_spread *s)
{
    struct bm_spread walk = in_order(s);
    uint64_t hash = 0;

    each_run(&walk, &hash, hash_run);
    return hash;
}

/* Whether all is mapped from the first to the last value along the axes from
 * 'axis' on. */
static int span_is_mapped(const struct bm_spread *s, int axis,
                          const uint8_t *from)
{
    size_t bytes = s->size;

    for (int k = axis; k < BM_SPREAD_AXES; k++) {
        uint64_t span = (s->count[k] - 1) * distance(s->stride[k]);

        if (!s->count[k])
            return 1;
        bytes += (size_t)span;
        from -= s->stride[k] < 0 ? span : 0;
    }
    return bm_is_mapped(from, bytes);
}

static void see_run(void *context, const struct bm_spread *s,
                    const uint8_t *from)
{
    int *mapped = context;

    *mapped = *mapped && span_is_mapped(s, BM_SPREAD_AXES - 1, from);
}

int bm_spread_is_mapped(const struct bm_spread *s)
{
    struct bm_spread walk = in_order(s);
    int mapped = 1;

    if (span_is_mapped(&walk, 0, walk.data))
        return 1;
    /* What lies between the values need not be there. */
    each_run(&walk, &mapped, see_run);
    return mapped;
}

static void copy_run(void *context, const struct bm_spread *s,
                     const uint8_t *from)
{
    uint8_t **to = context;
    size_t count = (size_t)s->count[3];

    if (count == 1 || s->stride[3] == (int64_t)s->size)
        memcpy(*to, from, count * s->size);
    else
        pick(*to, from, s->stride[3], count, s->size);
    *to += count * s->size;
}

void bm_spread_copy(uint8_t *to, int64_t stride[BM_SPREAD_AXES],
                    const struct bm_spread *s)
{
    struct bm_spread walk = in_order(s);
    int order[BM_SPREAD_AXES];
    int64_t apart = (int64_t)s->size;

    sort_axes(order, s);
    for (int k = BM_SPREAD_AXES - 1; k >= 0; k--) {
        stride[order[k]] = apart;
        apart *= (int64_t)s->count[order[k]];
    }
    each_run(&walk, &to, copy_run);
}
