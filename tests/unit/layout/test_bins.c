/* Bins of attributes: monotone, nothing lost on an edge, for every type. */
#include "layout/bins.h"

#include <float.h>
#include <math.h>

#include "check.h"

static union bm_scalar real(double v)
{
    return (union bm_scalar){.f = v};
}

static union bm_scalar whole(int64_t v)
{
    return (union bm_scalar){.i = v};
}

static struct bm_bins bins_of(bouma_type type, union bm_scalar low,
                              union bm_scalar high)
{
    struct bm_bins b;

    REQUIRE(bm_bins_valid(type, low, high));
    bm_bins_init(&b, type, low, high);
    return b;
}

/* The bit of one value; a value of the type lies in 'v'. */
static uint32_t bit_of(const struct bm_bins *b, const void *v)
{
    uint32_t map = bm_bins_map(b, v, 1);

    CHECK(map && !(map & (map - 1)));
    return map;
}

/* ---- floats ------------------------------------------------------------- */

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

static double any_between(uint64_t *state, double low, double high)
{
    double share = (double)(check_random(state) >> 11) * 0x1p-53;

    return low * (1 - share) + high * share;
}

enum { SOME = 3000 };

/* Random values, the 32 edges, special ones; each with its neighbours. */
static size_t gather(double *v, double low, double high, uint64_t *state)
{
    static const double special[] = {0,         -0.0,       DBL_MIN, -DBL_MIN,
                                     0x1p-1074, -0x1p-1074, DBL_MAX, -DBL_MAX,
                                     INFINITY,  -INFINITY,  1,       -1};
    size_t n = 0, m;

    for (int i = 0; i < 800; i++)
        v[n++] = any_between(state, low, high);
    for (int i = 0; i <= 32; i++)
        v[n++] = low * (1 - i / 32.0) + high * (i / 32.0);
    v[n++] = low;
    v[n++] = high;
    for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
        v[n++] = special[i];
    m = n;
    for (size_t i = 0; i < m; i++) {
        v[n++] = nextafter(v[i], INFINITY);
        v[n++] = nextafter(v[i], -INFINITY);
    }
    REQUIRE(n <= SOME);
    qsort(v, n, sizeof(*v), by_size);
    return n;
}

static const double ranges[][2] = {{0, 1},
                                   {-1, 1},
                                   {-1e308, 1e308},
                                   {-DBL_MAX, DBL_MAX},
                                   {0, DBL_MAX},
                                   {-DBL_MAX, -DBL_MAX},
                                   {DBL_MAX / 2, DBL_MAX},
                                   {0, 0x1p-1074},
                                   {-0x1p-1074, 0x1p-1074},
                                   {0, 1e-310},
                                   {-DBL_MIN, DBL_MIN},
                                   {1e-310, 1e300},
                                   {1, 1 + DBL_EPSILON},
                                   {1e17, 1e17 + 64},
                                   {-3e-300, 7e-200},
                                   {0x1p-801, 0x1p-800},
                                   {0, 0},
                                   {-0.0, 0.0},
                                   {5, 5},
                                   {-1e-320, -1e-320},
                                   {1e308, 1e308},
                                   {273.15, 1999.25}};
#define RANGES (sizeof(ranges) / sizeof(ranges[0]))

static void bins_of_floats_never_decrease(void)
{
    static double v[SOME];
    uint64_t state = 1;

    for (size_t r = 0; r < RANGES; r++) {
        struct bm_bins b =
            bins_of(BOUMA_TYPE_F64, real(ranges[r][0]), real(ranges[r][1]));
        size_t n = gather(v, ranges[r][0], ranges[r][1], &state);
        uint32_t last = 0, all = 0;
        int ascend = 1;

        for (size_t i = 0; i < n; i++) {
            uint32_t bit = bit_of(&b, &v[i]);

            ascend &= bit >= last;
            last = bit;
            all |= bit;
        }
        CHECK(ascend);
        CHECK_EQ(bm_bins_map(&b, v, n), all);
        CHECK_EQ(bit_of(&b, &v[0]), 1);               /* -infinity */
        CHECK_EQ(bit_of(&b, &v[n - 1]), 0x80000000u); /* infinity */
        CHECK_EQ(bit_of(&b, &ranges[r][0]), 1);
        if (ranges[r][0] < ranges[r][1])
            CHECK_EQ(bit_of(&b, &ranges[r][1]), 0x80000000u);
        else
            CHECK_EQ(bit_of(&b, &(double){nextafter(ranges[r][0], INFINITY)}),
                     0x80000000u);
    }
}

/* All of 32 bins are used where the range has enough values. */
static void bins_of_floats_are_even(void)
{
    struct bm_bins b = bins_of(BOUMA_TYPE_F64, real(-16), real(16));

    for (int i = 0; i < 32; i++) {
        double v = -16 + i;

        CHECK_EQ(bit_of(&b, &v), (uint32_t)1 << i);
        v += 0.999999;
        CHECK_EQ(bit_of(&b, &v), (uint32_t)1 << i);
    }
}

static void bins_of_f32_are_those_of_f64(void)
{
    static const float pairs[][2] = {
        {0, 1},           {-FLT_MAX, FLT_MAX}, {0, 0x1p-149f}, {1, 1},
        {0, FLT_MIN / 3}, {-7.25f, 1e30f},     {0, 0}};
    static float v[1000];
    uint64_t state = 4;

    for (size_t r = 0; r < sizeof(pairs) / sizeof(pairs[0]); r++) {
        double low = (double)pairs[r][0], high = (double)pairs[r][1];
        struct bm_bins single = bins_of(BOUMA_TYPE_F32, real(low), real(high));
        struct bm_bins both = bins_of(BOUMA_TYPE_F64, real(low), real(high));
        uint32_t all = 0;

        for (int i = 0; i < 1000; i++) {
            double wide;

            v[i] = i == 0   ? -0.0f
                   : i == 1 ? INFINITY
                   : i == 2 ? -INFINITY
                            : (float)any_between(&state, low, high);
            wide = (double)v[i];
            CHECK_EQ(bit_of(&single, &v[i]), bit_of(&both, &wide));
            all |= bit_of(&single, &v[i]);
        }
        CHECK_EQ(bm_bins_map(&single, v, 1000), all);
    }
}

/* Wherever it is in the array. */
static void nan_is_in_no_bin(void)
{
    struct bm_bins b = bins_of(BOUMA_TYPE_F64, real(0), real(32));
    struct bm_bins single = bins_of(BOUMA_TYPE_F32, real(0), real(32));
    double v[37];
    float f[37];

    for (int at = 0; at < 37; at++) {
        for (int i = 0; i < 37; i++) {
            v[i] = i == at ? 7.5 : at % 2 ? NAN : -NAN;
            f[i] = (float)v[i];
        }
        CHECK_EQ(bm_bins_map(&b, v, 37), 1 << 7);
        CHECK_EQ(bm_bins_map(&single, f, 37), 1 << 7);
        v[at] = NAN;
        f[at] = NAN;
        CHECK_EQ(bm_bins_map(&b, v, 37), 0);
        CHECK_EQ(bm_bins_map(&single, f, 37), 0);
    }
    CHECK_EQ(bm_bins_map(&b, NULL, 0), 0);
}

/* Each value is in one of the bins of each range that has it. */
static void a_range_of_floats_has_the_bins_of_its_values(void)
{
    static double v[SOME];
    static uint32_t bit[SOME];
    uint64_t state = 2;

    for (size_t r = 0; r < RANGES; r++) {
        double least = ranges[r][0], most = ranges[r][1];
        struct bm_bins b = bins_of(BOUMA_TYPE_F64, real(least), real(most));
        size_t n = gather(v, least, most, &state);
        int found = 1;

        for (size_t i = 0; i < n; i++)
            bit[i] = bit_of(&b, &v[i]);
        for (int t = 0; t < 300; t++) {
            size_t i = (size_t)check_below(&state, (int64_t)n);
            size_t j = i + (size_t)check_below(&state, (int64_t)(n - i));
            uint32_t map = bm_bins_select(&b, real(v[i]), real(v[j]));

            for (size_t k = i; k <= j; k++)
                if ((v[k] >= least && v[k] <= most) || isinf(v[k]))
                    found &= (map & bit[k]) != 0;
        }
        CHECK(found);
        CHECK_EQ(bm_bins_select(&b, real(-INFINITY), real(INFINITY)),
                 0xffffffffu);
        CHECK_EQ(bm_bins_select(&b, real(NAN), real(1)), 0);
        CHECK_EQ(bm_bins_select(&b, real(1), real(NAN)), 0);
        CHECK_EQ(bm_bins_select(&b, real(2), real(1)), 0);
    }
}

static void there_is_nothing_beyond_the_range_but_infinities(void)
{
    struct bm_bins b = bins_of(BOUMA_TYPE_F64, real(5), real(6));

    CHECK_EQ(bm_bins_select(&b, real(0), real(4.999)), 0);
    CHECK_EQ(bm_bins_select(&b, real(6.001), real(DBL_MAX)), 0);
    CHECK_EQ(bm_bins_select(&b, real(-INFINITY), real(4)), 1);
    CHECK_EQ(bm_bins_select(&b, real(7), real(INFINITY)), 0x80000000u);
    b.finite = 1;
    CHECK_EQ(bm_bins_select(&b, real(-INFINITY), real(4)), 0);
    CHECK_EQ(bm_bins_select(&b, real(7), real(INFINITY)), 0);
    CHECK_EQ(bm_bins_select(&b, real(5), real(5)), 1);
    CHECK_EQ(bm_bins_select(&b, real(0), real(9)), 0xffffffffu);
    b = bins_of(BOUMA_TYPE_I32, whole(5), whole(5));
    CHECK_EQ(bm_bins_select(&b, whole(3), whole(4)), 0);
    CHECK_EQ(bm_bins_select(&b, whole(6), whole(7)), 0);
    CHECK(bm_bins_select(&b, whole(3), whole(7)) & 1);
}

/* ---- integers ----------------------------------------------------------- */

/* All ranges within all ranges from -8 to 9 or so: no value is missed, and the
 * bins tell apart all values, as there are fewer than bins. */
static void every_range_of_integers_has_exactly_its_values(void)
{
    int missed = 0, more = 0, tried = 0;

    for (int least = -8; least <= 9; least++)
        for (int most = least; most <= 9; most++) {
            struct bm_bins b =
                bins_of(BOUMA_TYPE_I16, whole(least), whole(most));

            for (int low = -10; low <= 11; low++)
                for (int high = low; high <= 11; high++) {
                    uint32_t map = bm_bins_select(&b, whole(low), whole(high));

                    tried++;
                    for (int16_t v = (int16_t)least; v <= most; v++) {
                        int found = (map & bit_of(&b, &v)) != 0;
                        int wanted = v >= low && v <= high;

                        missed += wanted && !found;
                        more += found && !wanted;
                    }
                }
        }
    CHECK_EQ(tried, 171 * 253);
    CHECK_EQ(missed, 0);
    CHECK_EQ(more, 0);
}

/* With more values than bins: the bins of a range are those of its values. */
static void many_integers_share_bins(void)
{
    for (int most = 30; most < 140; most += most < 70 ? 1 : 23) {
        struct bm_bins b = bins_of(BOUMA_TYPE_U8, whole(0), whole(most));

        for (int low = 0; low <= most; low++) {
            uint32_t values = 0;

            for (int high = low; high <= most; high++) {
                values |= bit_of(&b, &(uint8_t){(uint8_t)high});
                CHECK_EQ(bm_bins_select(&b, whole(low), whole(high)), values);
            }
        }
    }
}

/* As division gives it. */
static void bins_of_64_bits_are_exact(void)
{
    static const uint64_t ends[] = {0,
                                    1,
                                    31,
                                    32,
                                    33,
                                    1000,
                                    (uint64_t)1 << 53,
                                    ((uint64_t)1 << 53) + 1,
                                    INT64_MAX - 1,
                                    INT64_MAX,
                                    (uint64_t)1 << 63,
                                    ((uint64_t)1 << 63) + 1,
                                    UINT64_MAX - 1,
                                    UINT64_MAX};
    const size_t n = sizeof(ends) / sizeof(ends[0]);
    uint64_t state = 6;
    int right = 1, order = 1;

    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            union bm_scalar low = {.u = ends[i]}, high = {.u = ends[j]};
            struct bm_bins b = bins_of(BOUMA_TYPE_U64, low, high);
            uint64_t range = ends[j] - ends[i], width = range / 32 + 1;

            for (int t = 0; t < 400; t++) {
                /* Near an edge, or anywhere. */
                uint64_t at = t < 200
                                  ? (uint64_t)check_below(&state, 33) * width +
                                        (uint64_t)check_below(&state, 3) - 1
                                  : check_random(&state);
                uint64_t d = range == UINT64_MAX ? at : at % (range + 1);
                uint64_t v = ends[i] + d;

                right &= bit_of(&b, &v) == (uint32_t)1 << d / width;
                if (v > ends[i])
                    order &= bit_of(&b, &(uint64_t){v - 1}) <= bit_of(&b, &v);
            }
            /* Outside, the outermost ones that are there. */
            CHECK_EQ(bit_of(&b, &(uint64_t){0}), 1);
            CHECK(bit_of(&b, &(uint64_t){UINT64_MAX}) >= bit_of(&b, &high.u));
        }
    CHECK(right && order);
}

static void bins_of_signed_integers_cross_zero(void)
{
    struct bm_bins b =
        bins_of(BOUMA_TYPE_I64, whole(INT64_MIN), whole(INT64_MAX));
    int64_t v;

    for (int i = 0; i < 32; i++) {
        v = (int64_t)((uint64_t)INT64_MIN + ((uint64_t)i << 59));
        CHECK_EQ(bit_of(&b, &v), (uint32_t)1 << i);
        v += ((int64_t)1 << 59) - 1;
        CHECK_EQ(bit_of(&b, &v), (uint32_t)1 << i);
    }
    CHECK_EQ(bm_bins_select(&b, whole(-1), whole(0)), 3u << 15);
    CHECK_EQ(bm_bins_select(&b, whole(0), whole(-1)), 0);

    /* Neighbours that no double tells apart. */
    b = bins_of(BOUMA_TYPE_I64, whole(INT64_MAX - 3), whole(INT64_MAX));
    for (int i = 0; i < 4; i++) {
        v = INT64_MAX - 3 + i;
        CHECK_EQ(bit_of(&b, &v), 1 << i);
        CHECK_EQ(bm_bins_select(&b, whole(v), whole(v)), 1 << i);
    }
    b = bins_of(BOUMA_TYPE_I8, whole(-128), whole(127));
    for (int i = -128; i < 128; i++)
        CHECK_EQ(bit_of(&b, &(int8_t){(int8_t)i}),
                 (uint32_t)1 << (i + 128) / 8);
    /* Below the range. */
    b = bins_of(BOUMA_TYPE_I32, whole(-5), whole(100));
    CHECK_EQ(bit_of(&b, &(int32_t){INT32_MIN}), 1);
    CHECK_EQ(bit_of(&b, &(int32_t){INT32_MAX}), 0x80000000u);
}

/* ---- the range of arrays ------------------------------------------------ */

static void ranges_leave_out_what_is_not_finite(void)
{
    double v[] = {NAN, INFINITY, 3, -INFINITY, -0.0, NAN, 2};
    double none[] = {NAN, INFINITY, -INFINITY};
    float f[] = {1, INFINITY, -2};
    int16_t n[] = {5, -7, 2};
    union bm_scalar low = {0}, high = {0};
    int any = 0;

    bm_bins_widen(&low, &high, &any, BOUMA_TYPE_F64, none, 3);
    CHECK(!any);
    bm_bins_widen(&low, &high, &any, BOUMA_TYPE_F64, none, 0);
    CHECK(!any);
    bm_bins_widen(&low, &high, &any, BOUMA_TYPE_F64, v, 7);
    CHECK(any && low.f == 0 && high.f == 3 && !signbit(low.f));
    bm_bins_widen(&low, &high, &any, BOUMA_TYPE_F64, none, 3);
    CHECK(any && low.f == 0 && high.f == 3);
    bm_bins_widen(&low, &high, &any, BOUMA_TYPE_F64, &(double){-8}, 1);
    CHECK(low.f == -8 && high.f == 3);
    any = 0;
    bm_bins_widen(&low, &high, &any, BOUMA_TYPE_F32, f, 3);
    CHECK(any && low.f == -2 && high.f == 1);
    any = 0;
    bm_bins_widen(&low, &high, &any, BOUMA_TYPE_I16, n, 3);
    CHECK(any && low.i == -7 && high.i == 5);
    any = 0;
    bm_bins_widen(&low, &high, &any, BOUMA_TYPE_U64, &(uint64_t){UINT64_MAX},
                  1);
    bm_bins_widen(&low, &high, &any, BOUMA_TYPE_U64, &(uint64_t){1}, 1);
    CHECK(low.u == 1 && high.u == UINT64_MAX);

    CHECK(bm_bins_valid(BOUMA_TYPE_F64, real(-DBL_MAX), real(DBL_MAX)));
    CHECK(!bm_bins_valid(BOUMA_TYPE_F64, real(1), real(0)));
    CHECK(!bm_bins_valid(BOUMA_TYPE_F64, real(NAN), real(0)));
    CHECK(!bm_bins_valid(BOUMA_TYPE_F32, real(0), real(NAN)));
    CHECK(!bm_bins_valid(BOUMA_TYPE_F64, real(0), real(INFINITY)));
    CHECK(!bm_bins_valid(BOUMA_TYPE_F64, real(-INFINITY), real(0)));
    CHECK(bm_bins_valid(BOUMA_TYPE_U64, whole(1), whole(-1)));
    CHECK(!bm_bins_valid(BOUMA_TYPE_I64, whole(1), whole(-1)));
}

/* ---- from bins to others ------------------------------------------------ */

/* Every value of each bin is found in the bins of the wider range; and no more
 * bins are set than the bin is wide there, and the two at its ends. */
static void maps_of_wider_bins_lose_no_value(void)
{
    static double v[SOME];
    uint64_t state = 8;

    for (size_t r = 0; r < RANGES; r++)
        for (size_t w = 0; w < RANGES; w++) {
            double low = ranges[r][0], high = ranges[r][1];
            struct bm_bins from =
                               bins_of(BOUMA_TYPE_F64, real(low), real(high)),
                           to;
            size_t n = gather(v, low, high, &state);
            int kept = 1;

            to = bins_of(BOUMA_TYPE_F64, real(fmin(low, ranges[w][0])),
                         real(fmax(high, ranges[w][1])));
            for (size_t i = 0; i < n; i++) {
                uint32_t bit = bit_of(&from, &v[i]);

                if ((v[i] < low || v[i] > high) && !isinf(v[i]))
                    continue;
                kept &=
                    (bm_bins_remap(&from, bit, &to) & bit_of(&to, &v[i])) != 0;
                i += i > 20 && i + 20 < n ? 7 : 0;
            }
            CHECK(kept);
        }
}

static void maps_of_wider_bins_are_narrow(void)
{
    struct bm_bins from = bins_of(BOUMA_TYPE_F64, real(8), real(12));
    struct bm_bins to = bins_of(BOUMA_TYPE_F64, real(0), real(32));

    CHECK_EQ(bm_bins_remap(&from, 0, &to), 0);
    CHECK_EQ(bm_bins_remap(&from, 1 << 1, &to), 1 << 8);
    CHECK_EQ(bm_bins_remap(&from, 1 << 7, &to), 1 << 8);
    CHECK_EQ(bm_bins_remap(&from, 1 << 8, &to), 1 << 9);
    CHECK_EQ(bm_bins_remap(&from, 0xff00, &to), 1 << 9);
    /* Infinities may be among them, or not. */
    CHECK_EQ(bm_bins_remap(&from, 1, &to), 1 << 8 | 1);
    CHECK_EQ(bm_bins_remap(&from, 0x80000000u, &to), 0x80001800u);
    from.finite = 1;
    CHECK_EQ(bm_bins_remap(&from, 1, &to), 1 << 8);
    CHECK_EQ(bm_bins_remap(&from, 0xffffffffu, &to), 0x1f00);
    CHECK_EQ(bm_bins_remap(&to, 0x1234, &to), 0x1234);
}

static void maps_of_wider_integers_are_exact(void)
{
    uint64_t state = 9;

    for (int t = 0; t < 400; t++) {
        int low = (int)check_below(&state, 200) - 100;
        int high = low + (int)check_below(&state, 100);
        struct bm_bins from = bins_of(BOUMA_TYPE_I32, whole(low), whole(high)),
                       to;
        uint32_t all = (uint32_t)check_random(&state), expected = 0, got;

        to = bins_of(BOUMA_TYPE_I32, whole(low - check_below(&state, 90)),
                     whole(high + check_below(&state, 90)));
        for (int32_t v = low; v <= high; v++)
            if (bit_of(&from, &v) & all)
                expected |= bit_of(&to, &v);
        got = bm_bins_remap(&from, all, &to);
        CHECK_EQ(got & expected, expected);
        /* A bin that is wider than one of the others may have none there. */
        if (to.width >= from.width)
            CHECK_EQ(got, expected);
    }
    {
        struct bm_bins from =
            bins_of(BOUMA_TYPE_U64, whole(0), whole(INT64_MAX));
        struct bm_bins to = bins_of(BOUMA_TYPE_U64, whole(0), whole(-1));

        CHECK_EQ(bm_bins_remap(&from, 0xffffffffu, &to), 0xffff);
        CHECK_EQ(bm_bins_remap(&to, 0xffffffffu, &to), 0xffffffffu);
    }
}

int main(void)
{
    bins_of_floats_never_decrease();
    bins_of_floats_are_even();
    bins_of_f32_are_those_of_f64();
    nan_is_in_no_bin();
    a_range_of_floats_has_the_bins_of_its_values();
    there_is_nothing_beyond_the_range_but_infinities();
    every_range_of_integers_has_exactly_its_values();
    many_integers_share_bins();
    bins_of_64_bits_are_exact();
    bins_of_signed_integers_cross_zero();
    ranges_leave_out_what_is_not_finite();
    maps_of_wider_bins_lose_no_value();
    maps_of_wider_bins_are_narrow();
    maps_of_wider_integers_are_exact();
    return check_result();
}
