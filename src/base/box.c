/* box.c -- see box.h. */
#include "base/box.h"

#include <inttypes.h>
#include <stdio.h>

struct bm_box bm_box_lift(const bouma_box *box, int ndims)
{
    struct bm_box out = {{0, 0, 0}, {1, 1, 1}};

    for (int d = 0; d < ndims; d++) {
        out.lo[3 - ndims + d] = box->lo[d];
        out.hi[3 - ndims + d] = box->hi[d];
    }
    return out;
}

bouma_box bm_box_lower(const struct bm_box *box, int ndims)
{
    bouma_box out = {{0}, {0}};

    for (int d = 0; d < ndims; d++) {
        out.lo[d] = box->lo[3 - ndims + d];
        out.hi[d] = box->hi[3 - ndims + d];
    }
    return out;
}

int bm_box_meet(struct bm_box *out, const struct bm_box *a,
                const struct bm_box *b)
{
    int some = 1;

    for (int d = 0; d < 3; d++) {
        int64_t lo = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
        int64_t hi = a->hi[d] < b->hi[d] ? a->hi[d] : b->hi[d];

        out->lo[d] = lo;
        out->hi[d] = hi;
        some &= lo < hi;
    }
    return some;
}

uint64_t bm_box_volume(const struct bm_box *box)
{
    uint64_t volume = 1;

    for (int d = 0; d < 3; d++) {
        if (box->hi[d] <= box->lo[d])
            return 0;
        if (__builtin_mul_overflow(
                volume, (uint64_t)box->hi[d] - (uint64_t)box->lo[d], &volume))
            volume = UINT64_MAX;
    }
    return volume;
}

int bm_box_inside(const struct bm_box *inner, const struct bm_box *outer)
{
    for (int d = 0; d < 3; d++)
        if (inner->lo[d] < outer->lo[d] || inner->hi[d] > outer->hi[d])
            return 0;
    return 1;
}

struct bm_box bm_box_join(const struct bm_box *a, const struct bm_box *b)
{
    struct bm_box out = *a;

    if (!bm_box_volume(a))
        return *b;
    if (!bm_box_volume(b))
        return *a;
    for (int d = 0; d < 3; d++) {
        if (b->lo[d] < out.lo[d])
            out.lo[d] = b->lo[d];
        if (b->hi[d] > out.hi[d])
            out.hi[d] = b->hi[d];
    }
    return out;
}

void bm_box_text(char *text, size_t bytes, const struct bm_box *lifted,
                 int ndims)
{
    size_t n = 0;

    for (int d = 3 - ndims; d < 3 && n < bytes; d++)
        n += (size_t)snprintf(text + n, bytes - n, "%s%" PRId64 ":%" PRId64,
                              d == 3 - ndims ? "[" : ",", lifted->lo[d],
                              lifted->hi[d]);
    if (n < bytes)
        snprintf(text + n, bytes - n, "]");
}

int bm_morton_bits(int ndims)
{
    return ndims == 1 ? 63 : ndims == 2 ? 31 : 21;
}

/* Move bit i of 21 to bit 3 i. */
static uint64_t spread3(uint64_t x)
{
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffff;
    x = (x | x << 16) & 0x1f0000ff0000ff;
    x = (x | x << 8) & 0x100f00f00f00f00f;
    x = (x | x << 4) & 0x10c30c30c30c30c3;
    x = (x | x << 2) & 0x1249249249249249;
    return x;
}

static uint64_t gather3(uint64_t x)
{
    x &= 0x1249249249249249;
    x = (x | x >> 2) & 0x10c30c30c30c30c3;
    x = (x | x >> 4) & 0x100f00f00f00f00f;
    x = (x | x >> 8) & 0x1f0000ff0000ff;
    x = (x | x >> 16) & 0x1f00000000ffff;
    x = (x | x >> 32) & 0x1fffff;
    return x;
}

/* Move bit i of 32 to bit 2 i. */
static uint64_t spread2(uint64_t x)
{
    x &= 0xffffffff;
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x << 2) & 0x3333333333333333;
    x = (x | x << 1) & 0x5555555555555555;
    return x;
}

static uint64_t gather2(uint64_t x)
{
    x &= 0x5555555555555555;
    x = (x | x >> 1) & 0x3333333333333333;
    x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x >> 4) & 0x00ff00ff00ff00ff;
    x = (x | x >> 8) & 0x0000ffff0000ffff;
    x = (x | x >> 16) & 0xffffffff;
    return x;
}

uint64_t bm_morton(const int64_t at[3], int ndims)
{
    if (ndims == 1)
        return (uint64_t)at[2];
    if (ndims == 2)
        return spread2((uint64_t)at[1]) << 1 | spread2((uint64_t)at[2]);
    return spread3((uint64_t)at[0]) << 2 | spread3((uint64_t)at[1]) << 1 |
           spread3((uint64_t)at[2]);
}

void bm_morton_invert(int64_t at[3], uint64_t key, int ndims)
{
    at[0] = at[1] = 0;
    if (ndims == 1) {
        at[2] = (int64_t)key;
    } else if (ndims == 2) {
        at[1] = (int64_t)gather2(key >> 1);
        at[2] = (int64_t)gather2(key);
    } else {
        at[0] = (int64_t)gather3(key >> 2);
        at[1] = (int64_t)gather3(key >> 1);
        at[2] = (int64_t)gather3(key);
    }
}
