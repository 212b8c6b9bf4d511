/* bound.c -- see bound.h. */
#include "write/bound.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/search.h"
#include "base/type.h"
#include "plan/rounds.h"

#define AT_ONCE      (BM_COMM_MAX_VALUES / 4) /* variables in one reduction */
#define SAMPLE       4096                /* values of a rank, for the span */
#define SMALL_SAMPLE 64                  /* too few to call one an outlier */
#define ROOM_BYTES   ((uint64_t)1 << 20) /* of values that are not here */
#define TRIMMED      2048 /* at each end, one in so many values is left out */

/* The finite values of a put: their smallest and largest, if there are any. */
struct extent {
    double low, high;
    int any;
};

#define WIDEN(type)                                                            \
    static void widen_##type(struct extent *e, const uint8_t *row,             \
                             int64_t stride, int64_t n)                        \
    {                                                                          \
        type low = (type)INFINITY, high = (type)-INFINITY;                     \
                                                                               \
        for (int64_t i = 0; i < n; i++) {                                      \
            type x;                                                            \
                                                                               \
            memcpy(&x, row + i * stride, sizeof(x));                           \
            x = x - x == 0 ? x : low; /* what is not finite counts not */      \
            low = x < low ? x : low;                                           \
            high = x > high && x < (type)INFINITY ? x : high;                  \
        }                                                                      \
        if (low <= high) {                                                     \
            e->low = !e->any || (double)low < e->low ? (double)low : e->low;   \
            e->high =                                                          \
                !e->any || (double)high > e->high ? (double)high : e->high;    \
            e->any = 1;                                                        \
        }                                                                      \
    }
WIDEN(float)
WIDEN(double)

static void widen_by_array(struct extent *e, const struct bouma_variable *v,
                           const struct bm_array *a, const int64_t n[3])
{
    for (int c = 0; c < v->components; c++)
        for (int64_t z = 0; z < n[0]; z++)
            for (int64_t y = 0; y < n[1]; y++) {
                const uint8_t *row = bm_array_component(a, c) +
                                     z * a->stride[0] + y * a->stride[1];

                if (v->type == BOUMA_TYPE_F32)
                    widen_float(e, row, a->stride[2], n[2]);
                else
                    widen_double(e, row, a->stride[2], n[2]);
            }
}

/* The samples of a put that are not used where they are, some at a time. */
struct fetched {
    struct bouma_dataset *ds;
    struct bm_block_of_memory room;
    int rc;
};

/* Samples of a put as those of its variable; after a failure, none. */
static int have_part(struct bm_array *out, struct fetched *f,
                     const struct bm_put *put, const struct bm_footprint *part)
{
    struct bm_footprint all = bm_footprint_of_box(&put->from.box);
    struct bm_cutout w = {put->variable,
                          bm_array_part(&put->from.array, &all, part), *part};
    size_t bytes =
        bm_cutout_room(&w.array, w.variable, bm_footprint_samples(part));

    *out = w.array;
    if (f->rc || bm_array_is_plain(&w.array, put->variable))
        return f->rc;
    f->rc = bm_block_grow(f->ds->a, &f->room, bytes)
                ? bm_fail(&f->ds->error, BOUMA_ENOMEM,
                          "no memory to look at a block")
                : bm_cutout_fetch(out, &w, f->room.data, &f->ds->error);
    return f->rc;
}

static void widen_by_put(struct extent *e, struct fetched *f,
                         const struct bm_put *put)
{
    struct bm_footprint all = bm_footprint_of_box(&put->from.box);
    struct bm_footprint part = {.count = {0, 0, 0}};
    int plain = bm_array_is_plain(&put->from.array, put->variable);
    uint64_t most = plain ? UINT64_MAX
                          : ROOM_BYTES / bm_variable_sample_size(put->variable);
    struct bm_array a;

    while (bm_footprint_next(&part, &all, most) &&
           !have_part(&a, f, put, &part))
        widen_by_array(e, put->variable, &a, part.count);
}

/* ---- what most values span ---------------------------------------------- */

static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double value_at(struct fetched *f, const struct bm_put *put, uint64_t i)
{
    const struct bm_box *box = &put->from.box;
    struct bm_footprint one = bm_footprint_of_box(box);
    const uint8_t *from;
    struct bm_array a;
    double f64;
    float f32;

    for (int d = 2; d >= 0; d--) {
        uint64_t n = (uint64_t)(box->hi[d] - box->lo[d]);

        one.start[d] += (int64_t)(i % n);
        one.count[d] = 1;
        i /= n;
    }
    if (have_part(&a, f, put, &one))
        return 0;
    from = bm_array_component(&a, (int)i);
    if (put->variable->type == BOUMA_TYPE_F32) {
        memcpy(&f32, from, sizeof(f32));
        return f32;
    }
    memcpy(&f64, from, sizeof(f64));
    return f64;
}

static uint64_t values_of(const struct bm_put *put)
{
    return bm_box_volume(&put->from.box) * (uint64_t)put->variable->components;
}

/* The puts of a variable, which are sorted by that: from 'first' up to 'end'.
 */
struct span {
    size_t first, end;
};

static struct span puts_of(const struct bouma_dataset *ds,
                           const struct bouma_variable *v)
{
    const struct bm_put *puts = ds->given.puts;
    struct span s = {0, 0};

    if (!ds->given.put_count)
        return s;
    if (puts[0].variable->id < v->id) {
        BM_BISECT(s.first, ds->given.put_count, i,
                  puts[i].variable->id < v->id);
        s.first++;
    }
    for (s.end = s.first;
         s.end < ds->given.put_count && puts[s.end].variable == v;)
        s.end++;
    return s;
}

/* The extent of a sample of this rank's values, evenly over all of them,
 * without the few smallest and largest: what is left of it if there are
 * outliers. */
static struct extent common_extent(struct fetched *f,
                                   const struct bouma_variable *v)
{
    const struct bouma_dataset *ds = f->ds;
    uint64_t total = 0, before = 0;
    double sample[SAMPLE];
    struct span mine = puts_of(ds, v);
    size_t count = 0, wanted, put = mine.first, trimmed;

    for (size_t k = mine.first; k < mine.end; k++)
        total += values_of(&ds->given.puts[k]);
    wanted = total < SAMPLE ? (size_t)total : SAMPLE;
    for (size_t i = 0; i < wanted; i++) {
        /* Anywhere in the i-th part, so that no pattern is met. */
        uint64_t first = bm_cut(total, wanted, i);
        uint64_t next = bm_cut(total, wanted, i + 1);
        uint64_t at = first + bm_mix_next(i) % (next - first);
        double value;

        while (at - before >= values_of(&ds->given.puts[put]))
            before += values_of(&ds->given.puts[put++]);
        value = value_at(f, &ds->given.puts[put], at - before);
        if (value - value == 0)
            sample[count++] = value;
    }
    if (count == 0)
        return (struct extent){0, 0, 0};
    qsort(sample, count, sizeof(*sample), compare_values);
    trimmed = count < SMALL_SAMPLE ? 0 : 1 + count / TRIMMED;
    return (struct extent){sample[trimmed], sample[count - 1 - trimmed], 1};
}

/* A few values that make the range make the bound, too: of all others, nothing
 * may be left. Told once of each variable. */
static void tell_outliers(struct bouma_dataset *ds, struct bouma_variable *v)
{
    if (v->warned || !(v->span > 0) || v->bound <= v->span)
        return;
    v->warned = 1;
    bm_dataset_add_note(
        ds,
        "variable \"%s/%s\", step %" PRIu64
        ": errors up to %.4g are allowed, %g of its range, but all but a few "
        "of its values lie within %.4g: outliers make the range, and little "
        "may be left of the others; use an absolute tolerance, or remove the "
        "outliers",
        v->object->name, v->name, ds->given.step, v->bound, v->tolerance,
        v->span);
}

/* ---- all ranks ---------------------------------------------------------- */

/* Doubles as integers of the same order, and back. 0 is below all. */
static uint64_t ordered(double v)
{
    uint64_t u;

    memcpy(&u, &v, sizeof(u));
    return u >> 63 ? ~u : u | (uint64_t)1 << 63;
}

static double unordered(uint64_t u)
{
    double v;

    u = u >> 63 ? u & ~((uint64_t)1 << 63) : ~u;
    memcpy(&v, &u, sizeof(v));
    return v;
}

static int is_relative(const struct bouma_variable *v)
{
    return v->tolerance > 0 && v->tolerance_kind == BOUMA_TOLERANCE_RELATIVE;
}

void bm_bounds_reset(struct bm_schema *schema)
{
    for (uint32_t i = 0; i < schema->variables; i++)
        if (is_relative(schema->by_id[i]))
            schema->by_id[i]->bound = schema->by_id[i]->span = 0;
}

/* The larger end and the negative of the smaller one, for a reduction. */
static void put_extent(uint64_t *ends, const struct extent *e)
{
    if (e->any) {
        ends[0] = ordered(e->high);
        ends[1] = ordered(-e->low);
    }
}

/* Half of what it spans, as the whole may overflow. */
static double half_span(const uint64_t *ends)
{
    return ends[0] ? unordered(ends[0]) / 2 + unordered(ends[1]) / 2 : 0;
}

static double doubled(double half)
{
    return half < 0x1p1022 ? half * 2 : 0x1p1023;
}

/* One reduction for some variables: of each, the extent of all values, and of
 * all but outliers. */
static int reduce(struct bouma_dataset *ds, struct bouma_variable **variables,
                  int count, int rc)
{
    uint64_t ends[AT_ONCE][4] = {{0}};
    struct fetched f = {.ds = ds, .rc = rc};
    int reduced;

    for (int i = 0; i < count && !f.rc; i++) {
        struct span mine = puts_of(ds, variables[i]);
        struct extent e = {0, 0, 0};

        for (size_t k = mine.first; k < mine.end; k++)
            widen_by_put(&e, &f, &ds->given.puts[k]);
        put_extent(&ends[i][0], &e);
        e = common_extent(&f, variables[i]);
        put_extent(&ends[i][2], &e);
    }
    bm_drop(ds->a, f.room.data);
    reduced = bm_comm_max(ds->comm, ends[0], 4 * count, &ds->error);
    for (int i = 0; i < count && !reduced; i++) {
        struct bouma_variable *v = variables[i];

        v->bound = doubled(half_span(&ends[i][0]) * v->tolerance);
        v->span = doubled(half_span(&ends[i][2]));
        tell_outliers(ds, v);
    }
    return f.rc ? f.rc : reduced;
}

int bm_bounds_find(struct bouma_dataset *ds, int rc)
{
    struct bouma_variable *some[AT_ONCE];
    int count = 0;

    for (uint32_t i = 0; i < ds->schema.variables; i++) {
        if (is_relative(ds->schema.by_id[i]))
            some[count++] = ds->schema.by_id[i];
        if (count == AT_ONCE || (count && i + 1 == ds->schema.variables)) {
            rc = reduce(ds, some, count, rc);
            count = 0;
        }
    }
    return rc;
}
