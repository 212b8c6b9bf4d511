/* Histograms: every value of every type is in the right bin; bounds hold,
 * whatever the values are, and meet where all is known. */
#include "plan/histogram.h"

#include <float.h>
#include <math.h>

#include "bouma_lists.h"
#include "check.h"

static const bouma_type types[] = {
#define TYPE(name, value, ctype, text) BOUMA_##name,
    BOUMA_TYPE_LIST(TYPE)
#undef TYPE
};
enum { TYPES = sizeof(types) / sizeof(types[0]) };

/* A value of any type, as it lies in memory and as the library holds it. */
struct any {
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    } as;
    union bm_scalar scalar;
};

static struct any any_of(bouma_type type, uint64_t bits, double real)
{
    struct any v;

    memset(&v, 0, sizeof(v));
    switch (type) {
    case BOUMA_TYPE_F32:
        v.as.f32 = (float)real;
        v.scalar.f = (double)v.as.f32;
        break;
    case BOUMA_TYPE_F64:
        v.as.f64 = v.scalar.f = real;
        break;
#define CASE(name, member, ctype, kind)                                        \
    case BOUMA_TYPE_##name:                                                    \
        v.as.member = (ctype)bits;                                             \
        v.scalar.kind = v.as.member;                                           \
        break;
        CASE(I8, i8, int8_t, i)
        CASE(I16, i16, int16_t, i)
        CASE(I32, i32, int32_t, i)
        CASE(I64, i64, int64_t, i)
        CASE(U8, u8, uint8_t, u)
        CASE(U16, u16, uint16_t, u)
        CASE(U32, u32, uint32_t, u)
        CASE(U64, u64, uint64_t, u)
#undef CASE
    case BOUMA_TYPE_STRING:
        break;
    }
    return v;
}

/* -1, 0 or 1: the value is below the edge, equal to it, or above it. Integers
 * are compared with the edge's own integer part. */
static int compare(bouma_type type, union bm_scalar v, double edge)
{
    double part = floor(edge);

    if (bm_type_is_float(type))
        return v.f < edge ? -1 : v.f > edge;
    if (type >= BOUMA_TYPE_U8) {
        if (edge >= 0x1p64)
            return -1;
        if (edge < 0)
            return 1;
        if (v.u != (uint64_t)part)
            return v.u < (uint64_t)part ? -1 : 1;
    } else {
        if (edge >= 0x1p63)
            return -1;
        if (edge < -0x1p63)
            return 1;
        if (v.i != (int64_t)part)
            return v.i < (int64_t)part ? -1 : 1;
    }
    return part < edge ? -1 : 0;
}

/* The slot, one edge after the other. */
static size_t right_slot(bouma_type type, union bm_scalar v,
                         const double *edges, size_t bins)
{
    size_t slot = 0;

    for (size_t i = 0; i < bins; i++)
        if (compare(type, v, edges[i]) >= 0)
            slot = i + 1;
    return compare(type, v, edges[bins]) > 0 ? bins + 1 : slot;
}

static const double special[] = {
    0,       -0.0,    1,       -1,      0.5,     127,      128,     -128,
    255,     256,     65535,   0x1p31,  0x1p32,  0x1p53,   0x1p62,  0x1p63,
    -0x1p63, 0x1p64,  0x1p65,  -0x1p65, DBL_MAX, -DBL_MAX, DBL_MIN, -DBL_MIN,
    1e-320,  -1e-320, FLT_MAX, 0x1p60,  3.25,    -7,
};
enum { SPECIAL = sizeof(special) / sizeof(special[0]) };

static double random_real(uint64_t *state)
{
    double v = special[check_below(state, SPECIAL)];
    uint64_t kind = check_below(state, 5);

    if (kind == 0)
        return v;
    if (kind == 1)
        return nextafter(v, (double)INFINITY);
    if (kind == 2)
        return nextafter(v, -(double)INFINITY);
    return (double)(int64_t)(check_random(state) % 2001) / 8 - 125;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

/* Edges of one kind or another; gives 0 if they are to be equally wide, from
 * the first to the last. */
static int random_edges(double *edges, size_t bins, uint64_t *state)
{
    int given = check_below(state, 2) == 0;

    for (size_t i = 0; i <= bins; i++)
        edges[i] = fmax(-DBL_MAX, fmin(DBL_MAX, random_real(state)));
    qsort(edges, bins + 1, sizeof(*edges), by_size);
    if (given && !check_below(state, 4))
        edges[bins] = (double)INFINITY;
    if (given && !check_below(state, 4))
        edges[0] = -(double)INFINITY;
    if (!given && !(edges[0] < edges[bins]) && edges[0] > -DBL_MAX)
        edges[0] = nextafter(edges[0], -(double)INFINITY);
    if (!given && !(edges[0] < edges[bins]))
        edges[bins] = 0;
    return given;
}

static struct any random_value(bouma_type type, const double *edges,
                               size_t bins, uint64_t *state)
{
    double real = random_real(state);
    uint64_t kind = check_below(state, 8), bits = check_random(state);

    if (kind == 0)
        real = edges[check_below(state, bins + 1)];
    if (kind == 1)
        real = (double)INFINITY;
    if (kind == 2)
        real = -(double)INFINITY;
    if (kind == 3)
        bits = (uint64_t)INT64_MAX + (bits & 3) - 1;
    if (kind == 4)
        bits = (bits & 3) - 2;
    if (kind > 4 && real > -0x1p63 && real < 0x1p63)
        bits = (uint64_t)(int64_t)real;
    return any_of(type, bits, real);
}

static void every_value_is_in_the_bin_that_edges_tell(void)
{
    uint64_t state = 1;

    for (int trial = 0; trial < 3000; trial++) {
        bouma_type type = types[check_below(&state, TYPES)];
        size_t bins = 1 + check_below(&state, 9);
        double edges[10];
        int given = random_edges(edges, bins, &state);
        struct bm_edges e;

        REQUIRE(!bm_edges_init(&e, bm_allocator_default(), type, bins,
                               given ? edges : NULL, edges[0], edges[bins]));
        CHECK_EQ(e.edge[0] == edges[0] && e.edge[bins] == edges[bins], 1);
        for (size_t i = 0; i < bins; i++)
            CHECK(e.edge[i] <= e.edge[i + 1]);
        for (int i = 0; i < 40; i++) {
            struct any v = random_value(type, e.edge, bins, &state);
            uint64_t counts[11] = {0}, nans = 0;
            size_t right = right_slot(type, v.scalar, e.edge, bins);

            CHECK_EQ(bm_edges_slot(&e, bm_key_of(type, v.scalar)), right);
            bm_edges_count(&e, counts, &nans, &v.as, 1, sizeof(v.as));
            CHECK_EQ(counts[right], 1);
            CHECK_EQ(nans, 0);
        }
        bm_edges_release(&e);
    }
}

static void nan_is_in_no_bin(void)
{
    const double values[] = {(double)NAN, 0.5, -(double)NAN, 2};
    const float floats[] = {(float)NAN, 0.5F};
    uint64_t counts[4] = {0}, nans = 0;
    struct bm_edges e;

    REQUIRE(!bm_edges_init(&e, bm_allocator_default(), BOUMA_TYPE_F64, 2, NULL,
                           0, 1));
    bm_edges_count(&e, counts, &nans, values, 4, sizeof(double));
    CHECK_EQ(nans, 2);
    CHECK_EQ(counts[0] + counts[1], 0);
    CHECK_EQ(counts[2], 1); /* the edge is that of the second */
    CHECK_EQ(counts[3], 1);
    e.type = BOUMA_TYPE_F32;
    bm_edges_count(&e, counts, &nans, floats, 2, sizeof(float));
    CHECK_EQ(nans, 3);
    CHECK_EQ(counts[2], 2);
    bm_edges_release(&e);
}

/* ---- the range of values ------------------------------------------------- */

static void edges_lie_around_all_values(void)
{
    uint64_t state = 2;

    for (int trial = 0; trial < 20000; trial++) {
        bouma_type type = types[check_below(&state, TYPES)];
        double none[2] = {0, 0}, low, high;
        struct any a = random_value(type, none, 1, &state);
        struct any b = random_value(type, none, 1, &state);

        if (bm_type_is_float(type) &&
            (!isfinite(a.scalar.f) || !isfinite(b.scalar.f)))
            continue;
        if (bm_key_of(type, a.scalar) > bm_key_of(type, b.scalar)) {
            struct any c = a;

            a = b;
            b = c;
        }
        bm_edges_around(&low, &high, type, a.scalar, b.scalar);
        CHECK(low < high);
        CHECK(compare(type, a.scalar, low) >= 0);
        CHECK(compare(type, b.scalar, high) <= 0);
    }
}

/* ---- bounds -------------------------------------------------------------- */

enum { BINS = 7, SLOTS = BINS + 2, GROUPS = 6 };

/* Values in intervals [10 k, 10 k + 9], some of them chosen, and NaN. Those that
 * match are random, or all. */
struct truth {
    uint64_t counts[SLOTS], all, nans;
};

static void add_group(struct bm_tally *t, const struct bm_edges *e,
                      const struct bm_interval *piece, struct truth *truth,
                      int with_nan, uint64_t *state)
{
    uint64_t n = 1 + check_below(state, 12), numbers = 0;
    struct bm_group g = {.piece = piece,
                         .count = n,
                         .occupied = 1,
                         .certain = check_below(state, 2) == 0,
                         .share = 0.5,
                         .numbers = 1};
    uint32_t wide = check_below(state, 2) ? 0xf : 0x3;

    if (g.certain)
        g.share = 1;
    for (uint64_t i = 0; i < n; i++) {
        union bm_scalar v = {.i = (int64_t)check_below(state, 40)};
        int is_nan = with_nan && check_below(state, 6) == 0;

        v.i = v.i % 10 + 10 * (v.i / 10 & (int64_t)wide);
        if (!is_nan)
            g.map |= (uint32_t)1 << v.i / 10;
        numbers += !is_nan;
        truth->nans += (uint64_t)is_nan;
        if (!g.certain && check_below(state, 2))
            continue;
        truth->all++;
        if (!is_nan)
            truth->counts[bm_edges_slot(e, bm_key_of(e->type, v))]++;
    }
    if (!numbers)
        g.map = 0;
    if (!check_below(state, 3))
        g.occupied = 0;
    bm_tally_add(t, &g);
}

static void bounds_hold_and_estimates_are_between_them(void)
{
    uint64_t state = 3, narrow = 0;

    for (int trial = 0; trial < 4000; trial++) {
        struct bm_interval piece[BM_MAX_INTERVALS];
        double low = (double)check_below(&state, 30) - 5.5;
        double high =
            low + 1 + (double)check_below(&state, trial % 3 ? 50 : 400);
        struct truth truth = {.all = 0};
        struct bm_edges e;
        struct bm_tally t;

        REQUIRE(!bm_edges_init(&e, bm_allocator_default(), BOUMA_TYPE_I32, BINS,
                               NULL, low, high));
        REQUIRE(!bm_tally_init(&t, &e));
        for (int i = 0; i < BM_MAX_INTERVALS; i++)
            piece[i] =
                bm_interval_of(&e, (union bm_scalar){.i = 10 * (int64_t)i},
                               (union bm_scalar){.i = 10 * (int64_t)i + 9});
        for (int batch = 0; batch < 3; batch++) {
            uint64_t before = truth.nans;

            for (uint64_t i = check_below(&state, GROUPS); i > 0; i--)
                add_group(&t, &e, piece, &truth, trial % 2, &state);
            bm_tally_close(&t, truth.nans - before);
        }
        CHECK(t.all_lower <= truth.all && truth.all <= t.all_upper);
        for (size_t s = 0; s < SLOTS; s++) {
            struct bm_count c =
                bm_count_guess(t.lower[s], t.upper[s], t.estimate[s]);

            CHECK(t.lower[s] <= truth.counts[s]);
            CHECK(truth.counts[s] <= t.upper[s]);
            CHECK(c.estimate >= (double)c.lower);
            CHECK(c.estimate <= (double)c.upper);
            narrow += t.lower[s] > 0 || t.upper[s] < t.all_upper;
        }
        bm_tally_release(&t);
        bm_edges_release(&e);
    }
    CHECK(narrow > 10000);
}

static void one_interval_in_one_bin_is_exact_and_spreads_evenly(void)
{
    struct bm_edges e;
    struct bm_tally t;
    struct bm_interval piece[2];
    struct bm_group g = {.piece = piece,
                         .map = 1,
                         .count = 100,
                         .certain = 1,
                         .share = 1,
                         .numbers = 1};

    REQUIRE(!bm_edges_init(&e, bm_allocator_default(), BOUMA_TYPE_F64, 4, NULL,
                           0, 4));
    REQUIRE(!bm_tally_init(&t, &e));
    piece[0] = bm_interval_of(&e, (union bm_scalar){.f = 1.25},
                              (union bm_scalar){.f = 1.75});
    bm_tally_add(&t, &g);
    bm_tally_close(&t, 0);
    CHECK_EQ(t.lower[2], 100);
    CHECK_EQ(t.upper[2], 100);
    CHECK_EQ(t.upper[1] + t.upper[3], 0);
    piece[0] = bm_interval_of(&e, (union bm_scalar){.f = -1},
                              (union bm_scalar){.f = 4.5});
    g.count = 55;
    bm_tally_add(&t, &g);
    bm_tally_close(&t, 0);
    CHECK(fabs(t.estimate[0] - 10) < 1e-9);
    CHECK(fabs(t.estimate[2] - 110) < 1e-9);
    CHECK(fabs(t.estimate[5] - 5) < 1e-9);
    CHECK_EQ(t.lower[2], 100);
    CHECK_EQ(t.upper[2], 155);
    CHECK_EQ(t.upper[5], 55);
    bm_tally_release(&t);
    bm_edges_release(&e);
}

/* A file that says that there are more values than particles. */
static void lies_of_a_file_do_no_harm(void)
{
    struct bm_interval piece[BM_MAX_INTERVALS];
    struct bm_edges e;
    struct bm_tally t;
    struct bm_group g = {.piece = piece,
                         .map = UINT32_MAX,
                         .occupied = 1,
                         .count = 3,
                         .certain = 1,
                         .share = 1,
                         .numbers = 1};

    REQUIRE(!bm_edges_init(&e, bm_allocator_default(), BOUMA_TYPE_U8, 4, NULL,
                           0, 256));
    REQUIRE(!bm_tally_init(&t, &e));
    for (uint64_t i = 0; i < BM_MAX_INTERVALS; i++)
        piece[i] = bm_interval_of(&e, (union bm_scalar){.u = 8 * i},
                                  (union bm_scalar){.u = 8 * i + 7});
    bm_tally_add(&t, &g);
    bm_tally_close(&t, 1000);
    for (size_t s = 1; s <= 4; s++)
        CHECK(t.lower[s] <= t.upper[s] && t.upper[s] <= 3);
    bm_tally_release(&t);
    bm_edges_release(&e);
}

/* ---- samples ------------------------------------------------------------- */

static void what_was_seen_is_a_bound(void)
{
    struct bm_count index = {10, 1000, 500, 100};
    struct bm_seen s = {.looked = 100, .all = 400};
    struct bm_count c = bm_count_sampled(&index, 50, &s);

    CHECK_EQ(c.lower, 50);
    CHECK_EQ(c.upper, 350);
    CHECK(fabs(c.estimate - 200) < 1e-9);
    /* 400 * sqrt(0.5 * 0.5 / 100 * (1 - 1/4)) */
    CHECK(fabs(c.error - 17.32) < 0.01);
    s.altered = 1;
    c = bm_count_sampled(&index, 50, &s);
    CHECK_EQ(c.lower, 10);
    CHECK_EQ(c.upper, 1000);
    s.averages = 1;
    CHECK(isnan(bm_count_sampled(&index, 50, &s).error));
    /* What was not seen can still be there; and what is known has no error. */
    s = (struct bm_seen){.looked = 100, .all = 400};
    CHECK(bm_count_sampled(&index, 0, &s).error > 0);
    CHECK(bm_count_sampled(&index, 0, &s).estimate >= 10);
    index = (struct bm_count){7, 7, 7, 0};
    c = bm_count_sampled(&index, 3, &s);
    CHECK(c.estimate == 7 && c.error == 0);
}

int main(void)
{
    every_value_is_in_the_bin_that_edges_tell();
    nan_is_in_no_bin();
    edges_lie_around_all_values();
    bounds_hold_and_estimates_are_between_them();
    one_interval_in_one_bin_is_exact_and_spreads_evenly();
    lies_of_a_file_do_no_harm();
    what_was_seen_is_a_bound();
    return check_result();
}
