/* lattice.c -- see lattice.h. Rows are copied by functions made once for each
 * size of element; everything else is counting. */
#include "codec/lattice.h"

#include <string.h>

struct bm_lattice bm_lattice_of(const struct bm_box *box, int level)
{
    int64_t unit = (int64_t)1 << level;
    struct bm_lattice l;

    for (int d = 0; d < 3; d++) {
        l.start[d] = (box->lo[d] + unit - 1) / unit;
        l.count[d] = (box->hi[d] + unit - 1) / unit - l.start[d];
    }
    return l;
}

/* Even numbers in [start, start + n). */
static int64_t evens(int64_t start, int64_t n)
{
    return (start + n + 1) / 2 - (start + 1) / 2;
}

struct bm_lattice bm_lattice_coarser(const struct bm_lattice *l)
{
    struct bm_lattice c;

    for (int d = 0; d < 3; d++) {
        c.start[d] = (l->start[d] + 1) / 2;
        c.count[d] = evens(l->start[d], l->count[d]);
    }
    return c;
}

uint64_t bm_lattice_samples(const struct bm_lattice *l)
{
    return (uint64_t)l->count[0] * (uint64_t)l->count[1] *
           (uint64_t)l->count[2];
}

uint64_t bm_lattice_details(const struct bm_lattice *l)
{
    struct bm_lattice c = bm_lattice_coarser(l);

    return bm_lattice_samples(l) - bm_lattice_samples(&c);
}

struct bm_strided bm_lattice_whole(const struct bm_lattice *l, size_t size)
{
    struct bm_strided s = {{0, 0, 0},
                           {l->count[0], l->count[1], l->count[2]},
                           {0, 0, (int64_t)size}};

    s.stride[1] = s.stride[2] * l->count[2];
    s.stride[0] = s.stride[1] * l->count[1];
    return s;
}

/* ---- rows --------------------------------------------------------------- */

/* take and give copy a row from and to strided memory; split and merge part it
 * into odd and even samples, 'even' being 1 if the first one is even. Elements
 * go through memcpy, since the caller's arrays may be unaligned. */
struct row_functions {
    void (*take)(uint8_t *dense, const uint8_t *p, int64_t step, int64_t n);
    void (*give)(uint8_t *p, int64_t step, const uint8_t *dense, int64_t n);
    void (*split)(uint8_t *odd, uint8_t *even, const uint8_t *p, int64_t step,
                  int64_t n, int first_even);
    void (*merge)(uint8_t *p, int64_t step, const uint8_t *odd,
                  const uint8_t *even, int64_t n, int first_even);
};

#define MOVE(type, to, from)                                                   \
    do {                                                                       \
        type moved;                                                            \
        memcpy(&moved, from, sizeof(moved));                                   \
        memcpy(to, &moved, sizeof(moved));                                     \
    } while (0)

#define ROW_FUNCTIONS(type)                                                    \
    static void take_##type(uint8_t *dense, const uint8_t *p, int64_t step,    \
                            int64_t n)                                         \
    {                                                                          \
        if (step == (int64_t)sizeof(type)) {                                   \
            memcpy(dense, p, (size_t)n * sizeof(type));                        \
            return;                                                            \
        }                                                                      \
        for (int64_t i = 0; i < n; i++)                                        \
            MOVE(type, dense + i * (int64_t)sizeof(type), p + i * step);       \
    }                                                                          \
                                                                               \
    static void give_##type(uint8_t *p, int64_t step, const uint8_t *dense,    \
                            int64_t n)                                         \
    {                                                                          \
        if (step == (int64_t)sizeof(type)) {                                   \
            memcpy(p, dense, (size_t)n * sizeof(type));                        \
            return;                                                            \
        }                                                                      \
        for (int64_t i = 0; i < n; i++)                                        \
            MOVE(type, p + i * step, dense + i * (int64_t)sizeof(type));       \
    }                                                                          \
                                                                               \
    static void split_##type(uint8_t *restrict odd, uint8_t *restrict even,    \
                             const uint8_t *restrict p, int64_t step,          \
                             int64_t n, int first_even)                        \
    {                                                                          \
        const int64_t size = (int64_t)sizeof(type);                            \
        int64_t pairs;                                                         \
                                                                               \
        if (!first_even && n) {                                                \
            MOVE(type, odd, p);                                                \
            odd += size;                                                       \
            p += step;                                                         \
            n--;                                                               \
        }                                                                      \
        pairs = n / 2;                                                         \
        if (step == size)                                                      \
            for (int64_t i = 0; i < pairs; i++) {                              \
                MOVE(type, even + i * size, p + 2 * i * size);                 \
                MOVE(type, odd + i * size, p + (2 * i + 1) * size);            \
            }                                                                  \
        else                                                                   \
            for (int64_t i = 0; i < pairs; i++) {                              \
                MOVE(type, even + i * size, p + 2 * i * step);                 \
                MOVE(type, odd + i * size, p + (2 * i + 1) * step);            \
            }                                                                  \
        if (n & 1)                                                             \
            MOVE(type, even + pairs * size, p + 2 * pairs * step);             \
    }                                                                          \
                                                                               \
    static void merge_##type(                                                  \
        uint8_t *restrict p, int64_t step, const uint8_t *restrict odd,        \
        const uint8_t *restrict even, int64_t n, int first_even)               \
    {                                                                          \
        const int64_t size = (int64_t)sizeof(type);                            \
        int64_t pairs;                                                         \
                                                                               \
        if (!first_even && n) {                                                \
            MOVE(type, p, odd);                                                \
            odd += size;                                                       \
            p += step;                                                         \
            n--;                                                               \
        }                                                                      \
        pairs = n / 2;                                                         \
        if (step == size)                                                      \
            for (int64_t i = 0; i < pairs; i++) {                              \
                MOVE(type, p + 2 * i * size, even + i * size);                 \
                MOVE(type, p + (2 * i + 1) * size, odd + i * size);            \
            }                                                                  \
        else                                                                   \
            for (int64_t i = 0; i < pairs; i++) {                              \
                MOVE(type, p + 2 * i * step, even + i * size);                 \
                MOVE(type, p + (2 * i + 1) * step, odd + i * size);            \
            }                                                                  \
        if (n & 1)                                                             \
            MOVE(type, p + 2 * pairs * step, even + pairs * size);             \
    }                                                                          \
                                                                               \
    static const struct row_functions rows_##type = {                          \
        take_##type, give_##type, split_##type, merge_##type};

ROW_FUNCTIONS(uint8_t)
ROW_FUNCTIONS(uint16_t)
ROW_FUNCTIONS(uint32_t)
ROW_FUNCTIONS(uint64_t)

static const struct row_functions *rows_of(size_t size)
{
    return size == 1   ? &rows_uint8_t
           : size == 2 ? &rows_uint16_t
           : size == 4 ? &rows_uint32_t
                       : &rows_uint64_t;
}

/* ---- runs --------------------------------------------------------------- */

/* What is copied between strided memory and the dense arrays of a level. */
struct copying {
    const struct bm_lattice *l;
    const struct row_functions *rows;
    const struct bm_strided *part;
    int64_t size;
    uint8_t *data;            /* of the part; only read by split and pack */
    uint8_t *detail, *coarse; /* dense; only written by split and pack */
};

/* Copy the 'n' samples of row (z, y) from x on, which begin at 'p'. */
typedef void run_function(const struct copying *c, uint8_t *p, int64_t z,
                          int64_t y, int64_t x, int64_t n);

/* Rows of a patch are short and far apart in the caller's array: too short for
 * the processor to see where it goes on. So the row that comes some rows later
 * (maybe in the next plane) is asked for in advance. */
#define ROWS_AHEAD 14
#define CACHE_LINE 64

/* Always inline: a function that only prefetches has no effect in the eyes of a
 * compiler, and its calls are left out. */
static inline __attribute__((always_inline)) void
prefetch_row(const void *data, const struct bm_strided *part, int64_t z,
             int64_t y, const int to_write)
{
    int64_t rows = part->hi[1] - part->lo[1];
    int64_t step = part->stride[2] > CACHE_LINE ? part->stride[2] : CACHE_LINE;
    int64_t bytes = (part->hi[2] - part->lo[2]) * part->stride[2];
    const uint8_t *p;

    y += ROWS_AHEAD - part->lo[1];
    z -= part->lo[0];
    if (y >= rows) {
        y -= rows;
        z++;
    }
    if (y >= rows || z >= part->hi[0] - part->lo[0])
        return;
    p = (const uint8_t *)data + z * part->stride[0] + y * part->stride[1];
    for (int64_t at = 0; at < bytes; at += step)
        if (to_write)
            __builtin_prefetch(p + at, 1);
        else
            __builtin_prefetch(p + at, 0);
}

static int64_t magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* The axis along which samples lie closest together in memory. */
static int closest_axis(const struct bm_strided *part)
{
    int axis = 2;

    for (int d = 1; d >= 0; d--)
        if (part->hi[d] - part->lo[d] > 1 &&
            magnitude(part->stride[d]) < magnitude(part->stride[axis]))
            axis = d;
    return axis;
}

/* Columns of the other order that are gone through together: as many cache
 * lines stay where they are even if all of them compete for one set of the
 * cache, as they do if rows are a power of two apart. */
#define TILE 8

/* Memory in Fortran's order, or otherwise turned: along x each sample lies in
 * another cache line. So tiles of a few lines are gone through along 'axis',
 * along which they have samples side by side. */
static inline __attribute__((always_inline)) void
walk_turned(const struct copying *c, int axis, run_function *const each)
{
    const struct bm_strided *part = c->part;
    int64_t at[2];
    int other = 1 - axis;

    for (at[other] = part->lo[other]; at[other] < part->hi[other]; at[other]++)
        for (int64_t x = part->lo[2]; x < part->hi[2]; x += TILE) {
            int64_t n = part->hi[2] - x < TILE ? part->hi[2] - x : TILE;

            for (at[axis] = part->lo[axis]; at[axis] < part->hi[axis];
                 at[axis]++)
                each(c,
                     c->data + (at[0] - part->lo[0]) * part->stride[0] +
                         (at[1] - part->lo[1]) * part->stride[1] +
                         (x - part->lo[2]) * part->stride[2],
                     at[0], at[1], x, n);
        }
}

static inline __attribute__((always_inline)) void
walk_runs(const struct copying *c, run_function *const each, const int to_write)
{
    const struct bm_strided *part = c->part;
    int64_t n = part->hi[2] - part->lo[2];
    int axis = closest_axis(part);

    if (axis < 2) {
        walk_turned(c, axis, each);
        return;
    }
    for (int64_t z = part->lo[0]; z < part->hi[0]; z++)
        for (int64_t y = part->lo[1]; y < part->hi[1]; y++) {
            prefetch_row(c->data, part, z, y, to_write);
            each(c,
                 c->data + (z - part->lo[0]) * part->stride[0] +
                     (y - part->lo[1]) * part->stride[1],
                 z, y, part->lo[2], n);
        }
}

/* ---- parts -------------------------------------------------------------- */

/* Where the part of row (z, y) that begins at x lies among the details, and
 * among the coarser samples if the row has any. */
struct row_start {
    int mixed; /* the row has samples of the coarser level */
    int64_t detail, coarse;
};

static inline __attribute__((always_inline)) struct row_start
start_of_row(const struct bm_lattice *l, int64_t z, int64_t y, int64_t x)
{
    int64_t ey = evens(l->start[1], l->count[1]);
    int64_t ex = evens(l->start[2], l->count[2]);
    int64_t z_evens = evens(l->start[0], z), y_evens = evens(l->start[1], y);
    int z_even = ((l->start[0] + z) & 1) == 0;
    struct row_start r;

    r.mixed = z_even && ((l->start[1] + y) & 1) == 0;
    r.detail = (z * l->count[1] + y) * l->count[2] -
               (z_evens * ey + (z_even ? y_evens : 0)) * ex;
    r.coarse = (z_evens * ey + y_evens) * ex + evens(l->start[2], x);
    r.detail += r.mixed ? x - evens(l->start[2], x) : x;
    return r;
}

static inline void split_run(const struct copying *c, uint8_t *p, int64_t z,
                             int64_t y, int64_t x, int64_t n)
{
    struct row_start at = start_of_row(c->l, z, y, x);

    if (at.mixed)
        c->rows->split(c->detail + at.detail * c->size,
                       c->coarse + at.coarse * c->size, p, c->part->stride[2],
                       n, ((c->l->start[2] + x) & 1) == 0);
    else
        c->rows->take(c->detail + at.detail * c->size, p, c->part->stride[2],
                      n);
}

void bm_lattice_split(const struct bm_lattice *l, size_t size,
                      const struct bm_strided *part, const void *data,
                      void *detail, void *coarse)
{
    struct copying c = {.l = l,
                        .rows = rows_of(size),
                        .part = part,
                        .size = (int64_t)size,
                        .data = (uint8_t *)data,
                        .detail = detail,
                        .coarse = coarse};

    walk_runs(&c, split_run, 0);
}

static inline void merge_run(const struct copying *c, uint8_t *p, int64_t z,
                             int64_t y, int64_t x, int64_t n)
{
    struct row_start at = start_of_row(c->l, z, y, x);

    if (at.mixed)
        c->rows->merge(p, c->part->stride[2], c->detail + at.detail * c->size,
                       c->coarse + at.coarse * c->size, n,
                       ((c->l->start[2] + x) & 1) == 0);
    else
        c->rows->give(p, c->part->stride[2], c->detail + at.detail * c->size,
                      n);
}

void bm_lattice_merge(const struct bm_lattice *l, size_t size,
                      const struct bm_strided *part, void *data,
                      const void *detail, const void *coarse)
{
    struct copying c = {.l = l,
                        .rows = rows_of(size),
                        .part = part,
                        .size = (int64_t)size,
                        .data = data,
                        .detail = (uint8_t *)detail,
                        .coarse = (uint8_t *)coarse};

    walk_runs(&c, merge_run, 1);
}

/* Where a sample lies in the dense array of all of them. */
static uint8_t *dense_row(const struct copying *c, int64_t z, int64_t y,
                          int64_t x)
{
    return c->detail +
           ((z * c->l->count[1] + y) * c->l->count[2] + x) * c->size;
}

static inline void pack_run(const struct copying *c, uint8_t *p, int64_t z,
                            int64_t y, int64_t x, int64_t n)
{
    c->rows->take(dense_row(c, z, y, x), p, c->part->stride[2], n);
}

void bm_lattice_pack(const struct bm_lattice *l, size_t size,
                     const struct bm_strided *part, const void *data,
                     void *dense)
{
    struct copying c = {.l = l,
                        .rows = rows_of(size),
                        .part = part,
                        .size = (int64_t)size,
                        .data = (uint8_t *)data,
                        .detail = dense};

    walk_runs(&c, pack_run, 0);
}

static inline void unpack_run(const struct copying *c, uint8_t *p, int64_t z,
                              int64_t y, int64_t x, int64_t n)
{
    c->rows->give(p, c->part->stride[2], dense_row(c, z, y, x), n);
}

void bm_lattice_unpack(const struct bm_lattice *l, size_t size,
                       const struct bm_strided *part, void *data,
                       const void *dense)
{
    struct copying c = {.l = l,
                        .rows = rows_of(size),
                        .part = part,
                        .size = (int64_t)size,
                        .data = data,
                        .detail = (uint8_t *)dense};

    walk_runs(&c, unpack_run, 1);
}
