/* Values of particles within a bound: rounded, to bytes, and back. */
#include "codec/quantise.h"

#include <float.h>
#include <math.h>

#include "check.h"
#include "damage.h"
#include "fault_alloc.h"

static struct bm_codec_state state;

static float any_f32(uint64_t *seed)
{
    uint32_t bits = (uint32_t)check_random(seed);
    float v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

static double any_f64(uint64_t *seed)
{
    uint64_t bits = check_random(seed);
    double v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

static double between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * ((double)(check_random(seed) >> 11) * 0x1p-53);
}

enum { MANY = 6000 };

/* Of all kinds: any bits; about 'scale'; within few bounds; on the edges
 * between two multiples, and next to these; special ones. */
static double kinds_of_values(uint64_t *seed, int i, double scale, double bound)
{
    static const double special[] = {
        0,       -0.0,     NAN,        -NAN,       INFINITY, -INFINITY,
        DBL_MAX, -DBL_MAX, 0x1p-1074,  -0x1p-1074, DBL_MIN,  FLT_MAX,
        FLT_MIN, 1e-40,    -0x1p-149f, 1,          -1,       0.5};
    double edge;

    switch (i % 6) {
    case 0:
        return any_f64(seed);
    case 1:
        return special[check_below(seed, 18)];
    case 2:
        return between(seed, -9 * bound, 9 * bound);
    case 3:
        edge = ((double)check_below(seed, 1 << 20) - (1 << 19) + 0.5) * bound;
        return nextafter(edge, check_below(seed, 2) ? INFINITY : -INFINITY);
    case 4:
        return ((double)check_below(seed, (int64_t)1 << 52) - 0x1p51) * bound;
    default:
        return between(seed, -scale, scale);
    }
}

static int same_f64(double a, double b)
{
    return !memcmp(&a, &b, sizeof(a));
}

/* Whether y may stand for x: the same bits if x is not finite. */
static int is_within(double x, double y, double bound)
{
    long double off = (long double)x - (long double)y;

    if (!isfinite(x) || !(bound > 0))
        return same_f64(x, y);
    return (off < 0 ? -off : off) <= (long double)bound;
}

static const double bounds[] = {
    1,     0.5,    0.1,       1e-3,    3e-7,   1e-12,    1e-30,    7e-31,
    1e-44, 1e-300, 0x1p-1074, 1e10,    1.25e6, 1e29,     1e30,     1e35,
    3e38,  1e200,  1e300,     DBL_MAX, 0,      0x1p-100, 0x1p-900, 0x1p-20};
#define BOUNDS (sizeof(bounds) / sizeof(bounds[0]))

static void every_value_is_within_the_bound(void)
{
    static double v[MANY], was[MANY], again[MANY];
    uint64_t seed = 1;

    for (size_t b = 0; b < BOUNDS; b++)
        for (double scale = 1e-200; scale < 1e200; scale *= 1e50) {
            struct bm_loss loss = {0, 0}, none = {0, 0};
            double largest = 0, squares = 0;
            int within = 1, steady = 1;

            for (int i = 0; i < MANY; i++)
                was[i] = v[i] = kinds_of_values(&seed, i, scale, bounds[b]);
            bm_quantise(BOUMA_TYPE_F64, v, MANY, bounds[b], &loss);
            memcpy(again, v, sizeof(v));
            bm_quantise(BOUMA_TYPE_F64, again, MANY, bounds[b], &none);
            for (int i = 0; i < MANY; i++) {
                double off = isfinite(was[i]) ? fabs(was[i] - v[i]) : 0;

                within &= is_within(was[i], v[i], bounds[b]);
                steady &= same_f64(v[i], again[i]);
                largest = off > largest ? off : largest;
                squares += off * off;
            }
            CHECK(within);
            CHECK(steady);
            CHECK(loss.largest == largest);
            CHECK(!isfinite(squares) ||
                  fabs(loss.squares - squares) <= 1e-9 * squares);
            CHECK(none.largest == 0 && none.squares == 0);
        }
}

static void every_f32_is_within_the_bound(void)
{
    static float v[MANY], was[MANY], again[MANY];
    uint64_t seed = 2;

    for (size_t b = 0; b < BOUNDS; b++)
        for (double scale = 1e-40; scale < 1e39; scale *= 1e13) {
            struct bm_loss loss = {0, 0}, none = {0, 0};
            double largest = 0;
            int within = 1;

            for (int i = 0; i < MANY; i++)
                was[i] = v[i] =
                    i % 6 ? (float)kinds_of_values(&seed, i, scale, bounds[b])
                          : any_f32(&seed);
            bm_quantise(BOUMA_TYPE_F32, v, MANY, bounds[b], &loss);
            memcpy(again, v, sizeof(v));
            bm_quantise(BOUMA_TYPE_F32, again, MANY, bounds[b], &none);
            for (int i = 0; i < MANY; i++) {
                double off =
                    isfinite(was[i]) ? fabs((double)was[i] - (double)v[i]) : 0;

                within &=
                    isfinite(was[i])
                        ? is_within((double)was[i], (double)v[i], bounds[b])
                        : !memcmp(&was[i], &v[i], sizeof(v[i]));
                largest = off > largest ? off : largest;
            }
            CHECK(within);
            CHECK(!memcmp(v, again, sizeof(v)));
            CHECK(loss.largest == largest);
        }
}

/* The bound is used, but for what four bits of the step leave; and a value does
 * not depend on those beside it. */
static void values_become_multiples_of_the_step(void)
{
    double v[37];
    struct bm_loss loss = {0, 0};

    for (int i = 0; i < 37; i++)
        v[i] = i * 0.1 - 1.7;
    bm_quantise(BOUMA_TYPE_F64, v, 37, 0.5, &loss);
    for (int i = 0; i < 37; i++) {
        double alone = i * 0.1 - 1.7;

        CHECK(v[i] == floor(v[i]));
        bm_quantise(BOUMA_TYPE_F64, &alone, 1, 0.5, &loss);
        CHECK(same_f64(alone, v[i]));
    }
    for (double bound = 1; bound < 2; bound += 1.0 / 64) {
        double x = 1.9;

        bm_quantise(BOUMA_TYPE_F64, &x, 1, bound, &loss);
        /* The step is from 15/16, at worst 8/9, of twice the bound. */
        CHECK(x == 0 || (x >= 2 * bound * 8 / 9 && x <= 2 * bound));
        CHECK(x == 0 || x * 8 == floor(x * 8));
    }
    {
        double zero = -0.0;

        bm_quantise(BOUMA_TYPE_F64, &zero, 1, 0.5, &loss);
        CHECK(zero == 0);
        bm_quantise(BOUMA_TYPE_F64, NULL, 0, 0.5, &loss);
    }
}

/* ---- bytes -------------------------------------------------------------- */

/* To bytes and back; gives the number of bytes. */
static size_t round_trip(const void *values, const struct bm_list *list)
{
    size_t bytes =
        list->count * (size_t)list->components * bouma_type_size(list->type);
    uint8_t *back = malloc(bytes + 1), *exactly;
    struct bm_buffer out;
    size_t stored;

    REQUIRE(back);
    bm_buffer_init(&out, state.a);
    bm_put_u8(&out, 77); /* what is there stays */
    REQUIRE(!bm_quantise_encode(&state, &out, values, list));
    CHECK_EQ(out.data[0], 77);
    stored = out.size - 1;
    CHECK(bm_quantise_plausible(bytes, stored));
    CHECK(stored <= bytes + (size_t)6 * (size_t)list->components);
    exactly = malloc(stored ? stored : 1);
    REQUIRE(exactly);
    if (stored)
        memcpy(exactly, out.data + 1, stored);
    memset(back, 0xee, bytes + 1);
    CHECK_EQ(bm_quantise_decode(&state, back, list, exactly, stored), BOUMA_OK);
    CHECK(!bytes || !memcmp(back, values, bytes));
    CHECK_EQ(back[bytes], 0xee);
    bm_buffer_release(&out);
    free(exactly);
    free(back);
    return stored;
}

static void all_values_come_back_bit_by_bit(void)
{
    static double v[MANY];
    static float f[MANY];
    uint64_t seed = 3;

    for (size_t b = 0; b < BOUNDS; b++)
        for (int rounded = 0; rounded < 2; rounded++)
            for (int t = 0; t < 24; t++) {
                struct bm_loss loss = {0, 0};
                size_t count = t < 9 ? (size_t)t : t < 20 ? 50 : MANY / 3;
                int components = t % 2 ? 3 : 1;
                /* Few that are kept, or many. */
                int kind = t % 5 == 0 ? -1 : t % 5 == 1 ? 2 : 5;
                struct bm_list list = {BOUMA_TYPE_F64, count, components,
                                       bounds[b], 0};

                for (size_t i = 0; i < MANY; i++)
                    v[i] = kinds_of_values(
                        &seed,
                        kind < 0 || !check_below(&seed, 40) ? (int)i : kind,
                        1000 * bounds[b] + 1, bounds[b]);
                for (int i = 0; i < MANY; i++)
                    f[i] = (float)v[i];
                if (rounded) {
                    bm_quantise(BOUMA_TYPE_F64, v, MANY, bounds[b], &loss);
                    bm_quantise(BOUMA_TYPE_F32, f, MANY, bounds[b], &loss);
                }
                round_trip(v, &list);
                list.type = BOUMA_TYPE_F32;
                round_trip(f, &list);
            }
}

/* The largest integers, with both signs: the largest differences. */
static void the_largest_integers_come_back(void)
{
    double v[9] = {0x1p49, -0x1p49, 0x1p49, 0, 1, 0x1p49, -0x1p49, 0, 0x1p49};
    float f[9] = {0x1p20f, -0x1p20f, 0x1p20f,  0,       1,
                  0x1p20f, -0x1p20f, -0x1p20f, -0x1p20f};
    struct bm_list list = {BOUMA_TYPE_F64, 9, 1, 0.5, 0};

    for (size_t n = 1; n <= 9; n++) {
        list.count = n;
        list.type = BOUMA_TYPE_F64;
        round_trip(v, &list);
        list.type = BOUMA_TYPE_F32;
        round_trip(f, &list);
    }
    /* Just beyond. */
    v[1] = 0x1p49 + 1;
    f[1] = 0x1p20f + 1;
    list.count = 9;
    round_trip(f, &list);
    list.type = BOUMA_TYPE_F64;
    round_trip(v, &list);
}

static void neighbours_and_repetitions_take_few_bytes(void)
{
    static float v[8192];
    struct bm_loss loss = {0, 0};
    struct bm_list list = {BOUMA_TYPE_F32, 8192, 1, 1e-3, 0};
    uint64_t seed = 5;
    size_t near, all_nan;

    for (int i = 0; i < 8192; i++)
        v[i] = (float)(i * 0.01 + between(&seed, 0, 0.1));
    bm_quantise(BOUMA_TYPE_F32, v, 8192, 1e-3, &loss);
    near = round_trip(v, &list);
    CHECK(near < 8192);
    for (int i = 0; i < 8192; i++)
        v[i] = 5;
    bm_quantise(BOUMA_TYPE_F32, v, 8192, 1e-3, &loss);
    CHECK(round_trip(v, &list) < 40);
    list.count = 1;
    CHECK(round_trip(v, &list) <= 4);
    list.count = 8192;
    for (int i = 0; i < 8192; i++)
        v[i] = i % 64 ? (float)NAN : 5;
    all_nan = round_trip(v, &list);
    CHECK(all_nan < 9000);
    /* What has no pattern is not blown up. */
    for (int i = 0; i < 8192; i++)
        v[i] = any_f32(&seed);
    CHECK(round_trip(v, &list) <= 4 * 8192 + 1);
}

static void what_is_not_there_has_no_bytes(void)
{
    struct bm_list list = {BOUMA_TYPE_F64, 0, 3, 1, 0};
    uint8_t byte = 0;

    CHECK_EQ(round_trip("", &list), 0);
    CHECK_EQ(bm_quantise_decode(&state, NULL, &list, &byte, 1), BOUMA_EFORMAT);
    CHECK_EQ(bm_quantise_decode(&state, NULL, &list, NULL, 0), BOUMA_OK);
    CHECK(bm_quantise_plausible(0, 0) && !bm_quantise_plausible(0, 1));
    CHECK(!bm_quantise_plausible(8, 0) && !bm_quantise_plausible(8, 1));
    CHECK(!bm_quantise_plausible(8, 5000));
}

/* ---- damage ------------------------------------------------------------- */

struct target {
    struct bm_list list;
    uint8_t *values; /* of just that size */
};

static int try_decode(void *context, const uint8_t *data, size_t bytes)
{
    struct target *t = context;
    int rc = bm_quantise_decode(&state, t->values, &t->list, data, bytes);

    CHECK(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
    return rc;
}

static void damaged_bytes_do_no_harm(void)
{
    static double v[600];
    uint64_t seed = 7;

    for (int t = 0; t < 24; t++) {
        struct bm_loss loss = {0, 0};
        struct target to = {{BOUMA_TYPE_F64, 0, t % 2 ? 3 : 1, 0.01, 0}, NULL};
        struct damage_counts n;
        struct bm_buffer out;
        size_t bytes;

        to.list.count = t < 8 ? (size_t)t + 1 : 200;
        to.list.type = t % 4 < 2 ? BOUMA_TYPE_F64 : BOUMA_TYPE_F32;
        bytes = to.list.count * (size_t)to.list.components *
                bouma_type_size(to.list.type);
        for (int i = 0; i < 600; i++)
            v[i] = t % 3 == 0             ? floor(between(&seed, 0, 2)) / 64
                   : i % 17 || t % 3 == 1 ? between(&seed, 0, 100)
                                          : NAN;
        if (to.list.type == BOUMA_TYPE_F32)
            for (int i = 0; i < 600; i++)
                ((float *)(void *)v)[i] = (float)v[i];
        bm_quantise(to.list.type, v, to.list.count * (size_t)to.list.components,
                    0.01, &loss);
        to.values = malloc(bytes);
        REQUIRE(to.values);
        bm_buffer_init(&out, state.a);
        REQUIRE(!bm_quantise_encode(&state, &out, v, &to.list));
        CHECK_EQ(try_copy(try_decode, &to, out.data, out.size, 0), BOUMA_OK);
        n = cut_bytes(try_decode, &to, out.data, out.size, 0);
        CHECK_EQ(n.accepted, 0);
        hurt_bytes(try_decode, &to, out.data, out.size, 0);
        scramble_bytes(try_decode, &to, out.data, out.size, 0, (uint64_t)t,
                       2000);
        bm_put_u8(&out, 0);
        CHECK_EQ(try_copy(try_decode, &to, out.data, out.size, 0),
                 BOUMA_EFORMAT);
        bm_buffer_release(&out);
        free(to.values);
    }
}

/* By hand: three values of f64, the step being 1; see docs/format.md. */
static void wrong_parts_are_refused(void)
{
    struct bm_list list = {BOUMA_TYPE_F64, 3, 1, 0.5, 0};
    double v[3];
    const struct {
        const char *bytes;
        size_t length;
        int rc;
    } cases[] = {
        {"\x02\x01\x00", 3, BOUMA_OK},          /* 1 1 1 */
        {"\x02\x03\x29", 3, BOUMA_OK},          /* 2 3 2: 100 101 00 */
        {"\x02\x01\x04", 3, BOUMA_EFORMAT},     /* bits left over */
        {"\x02\x01\x00\x00", 4, BOUMA_EFORMAT}, /* a byte left over */
        {"\x02\x01", 2, BOUMA_EFORMAT},         /* no bits */
        {"\x02\x81\x00\x00", 4, BOUMA_EFORMAT}, /* a number that is too long */
        {"\x02\x01\xff", 3, BOUMA_EFORMAT},     /* all ones */
        {"\x34\x01\x00", 3, BOUMA_EFORMAT},     /* an order of 50 */
        {"\x35\x01\x00\x00\x00\x00\x00\x00\x00", 9, BOUMA_EFORMAT},
        {"\x01\x01\x01\x02", 4, BOUMA_OK},  /* 1 2 1: bytes */
        {"\x01\x01\x01", 3, BOUMA_EFORMAT}, /* no frame */
        {"\x81\x01\x00\x08\x00\x00\x00########\x01\x00", 17, BOUMA_OK},
        {"\x82\x01\x00\x08\x00\x00\x00########\x01\x00", 17, BOUMA_OK},
        {"\x82\x01\x02\x08\x00\x00\x00########\x01\x00", 17, BOUMA_OK},
        {"\x82\x01\x03\x08\x00\x00\x00########\x01\x00", 17, BOUMA_EFORMAT},
        {"\x82\x00\x00\x08\x00\x00\x00########\x01\x00", 17, BOUMA_EFORMAT},
        {"\x82\x03\x00\x08\x00\x00\x00########\x01\x00", 17, BOUMA_EFORMAT},
        {"\x82\x01\x00\x09\x00\x00\x00########\x01\x00", 17, BOUMA_EFORMAT},
        {"\x80\x01\x00", 3, BOUMA_EFORMAT},
        {"\x00########\x00\x00", 11, BOUMA_EFORMAT},
        {"\x00################12345678", 25, BOUMA_OK},
        /* 2^49 is the most: folded, 2^50 - 1. */
        {"\x02\xff\xff\xff\xff\xff\xff\xff\x01\x00", 10, BOUMA_OK},
        {"\x02\x81\x80\x80\x80\x80\x80\x80\x02\x00", 10, BOUMA_EFORMAT},
        {"\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 12, BOUMA_EFORMAT},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int rc = bm_quantise_decode(
            &state, v, &list, (const uint8_t *)cases[i].bytes, cases[i].length);

        if (rc != cases[i].rc)
            printf("case %zu\n", i);
        CHECK_EQ(rc, cases[i].rc);
        if (i == 1)
            CHECK(v[0] == 2 && v[1] == 3 && v[2] == 2);
        if (i == 9)
            CHECK(v[0] == 1 && v[1] == 2 && v[2] == 1);
        if (i == 13)
            CHECK(v[0] == 1 && v[1] == 1 && !memcmp(&v[2], "########", 8));
    }
    list.bound = 0; /* no step */
    CHECK_EQ(bm_quantise_decode(&state, v, &list,
                                (const uint8_t *)cases[0].bytes, 3),
             BOUMA_EFORMAT);
}

/* ---- memory ------------------------------------------------------------- */

/* Each allocation fails in turn; the encoder says so, and all is released. */
static void missing_memory_is_reported(void)
{
    static double v[900];
    struct bm_list list = {BOUMA_TYPE_F64, 300, 3, 0.01, 0};
    struct bm_loss loss = {0, 0};
    uint64_t seed = 11;
    struct fault_alloc few;
    int tries = 0, rc = BOUMA_ENOMEM;

    fault_alloc_init(&few);
    for (int i = 0; i < 900; i++)
        v[i] = i < 300 ? between(&seed, 0, 0.1)
               : i % 5 ? between(&seed, 0, 1e9)
                       : NAN;
    bm_quantise(BOUMA_TYPE_F64, v, 900, 0.01, &loss);
    for (; rc && tries < 100; tries++) {
        struct bm_codec_state own;
        struct bm_buffer out;

        fault_alloc_arm(&few, tries + 1, 1);
        bm_codec_state_init(&own, &few.table);
        bm_buffer_init(&out, &few.table);
        rc = bm_quantise_encode(&own, &out, v, &list);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        if (!rc) {
            static double back[900];

            CHECK_EQ(bm_quantise_decode(&own, back, &list, out.data, out.size),
                     BOUMA_OK);
            CHECK(!memcmp(back, v, sizeof(v)));
        }
        bm_buffer_release(&out);
        bm_codec_state_release(&own);
        CHECK_EQ(few.live, 0);
    }
    CHECK(!rc && tries > 3);
}

int main(void)
{
    bm_codec_state_init(&state, bm_allocator_default());
    every_value_is_within_the_bound();
    every_f32_is_within_the_bound();
    values_become_multiples_of_the_step();
    all_values_come_back_bit_by_bit();
    the_largest_integers_come_back();
    neighbours_and_repetitions_take_few_bytes();
    what_is_not_there_has_no_bytes();
    damaged_bytes_do_no_harm();
    wrong_parts_are_refused();
    missing_memory_is_reported();
    bm_codec_state_release(&state);
    return check_result();
}
