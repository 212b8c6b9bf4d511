/* Limits of conditions, whatever their type, against a look at every value
 * around them. */
#include "base/value.h"

#include <math.h>

#include "bouma_lists.h"
#include "check.h"

/* Exact for all numbers of 64 bits on both sides, unlike double. */
static int compare_whole(const bouma_value *a, const bouma_value *b)
{
    int a_negative = a->type == BOUMA_TYPE_I64 && a->i < 0;
    int b_negative = b->type == BOUMA_TYPE_I64 && b->i < 0;
    uint64_t x, y;

    if (a_negative != b_negative)
        return a_negative ? -1 : 1;
    if (a_negative)
        return (a->i > b->i) - (a->i < b->i);
    x = a->type == BOUMA_TYPE_I64 ? (uint64_t)a->i : a->u;
    y = b->type == BOUMA_TYPE_I64 ? (uint64_t)b->i : b->u;
    return (x > y) - (x < y);
}

/* A whole number and a real one: bit by bit, without rounding. */
static int compare_mixed(const bouma_value *whole, double real)
{
    bouma_value v;

    if (real >= 0x1p64)
        return -1;
    if (real < -0x1p63)
        return 1;
    v = real < 0 ? bouma_value_int((int64_t)ceil(real))
                 : bouma_value_uint((uint64_t)floor(real));
    if (compare_whole(whole, &v))
        return compare_whole(whole, &v);
    return real == trunc(real) ? 0 : real > 0 ? -1 : 1;
}

static int compare(const bouma_value *a, const bouma_value *b)
{
    int real_a = a->type == BOUMA_TYPE_F64, real_b = b->type == BOUMA_TYPE_F64;

    if (real_a && real_b)
        return (a->f > b->f) - (a->f < b->f);
    if (real_a)
        return -compare_mixed(b, a->f);
    return real_b ? compare_mixed(a, b->f) : compare_whole(a, b);
}

#define EDGES 64
static size_t make_edges(bouma_value *out)
{
    static const int powers[] = {0, 1, 7, 24, 31, 53, 54, 62, 63};
    size_t n = 0;

    for (size_t p = 0; p < sizeof(powers) / sizeof(*powers); p++) {
        uint64_t at = (uint64_t)1 << powers[p];

        out[n++] = bouma_value_uint(at);
        out[n++] = bouma_value_uint(at - 1);
        out[n++] = bouma_value_uint(at + 1);
        out[n++] = bouma_value_int(-(int64_t)(at - 1) - 1);
        out[n++] = bouma_value_real((double)at);
        out[n++] = bouma_value_real(-(double)at - 0.5);
    }
    out[n++] = bouma_value_uint(UINT64_MAX);
    out[n++] = bouma_value_int(INT64_MAX);
    out[n++] = bouma_value_real(0x1p64);
    out[n++] = bouma_value_real(nextafter(0x1p64, 0));
    out[n++] = bouma_value_real(INFINITY);
    out[n++] = bouma_value_real(-INFINITY);
    out[n++] = bouma_value_real(-0.0);
    out[n++] = bouma_value_real(0.5);
    CHECK(n <= EDGES);
    return n;
}

/* Whether the type, or rather its kind, has the value. */
static int of_kind(bouma_type type, const bouma_value *v)
{
    if (bm_type_is_float(type))
        return v->type == BOUMA_TYPE_F64;
    if (type >= BOUMA_TYPE_U8)
        return v->type == BOUMA_TYPE_U64;
    return v->type == BOUMA_TYPE_I64;
}

static int inside(bouma_type type, const bouma_value *v, union bm_scalar low,
                  union bm_scalar high)
{
    if (bm_type_is_float(type))
        return v->f >= low.f && v->f <= high.f;
    return type >= BOUMA_TYPE_U8 ? v->u >= low.u && v->u <= high.u
                                 : v->i >= low.i && v->i <= high.i;
}

/* Values of each kind at and beside the edges: in the span if and only if they
 * are from low to high. */
static void spans_have_what_is_between(void)
{
    static const bouma_type types[] = {BOUMA_TYPE_I64, BOUMA_TYPE_U64,
                                       BOUMA_TYPE_F64, BOUMA_TYPE_U8,
                                       BOUMA_TYPE_I16, BOUMA_TYPE_F32};
    bouma_value edges[EDGES + 1];
    size_t n = make_edges(edges);
    int wrong = 0;

    edges[n] = (bouma_value){.type = (bouma_type)0}; /* no limit */
    for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++)
        for (size_t i = 0; i <= n; i++)
            for (size_t j = 0; j <= n; j++) {
                union bm_scalar low, high;

                bm_value_span(&low, &high, types[t], &edges[i], &edges[j]);
                for (size_t k = 0; k < n; k++) {
                    int should =
                        (i == n || compare(&edges[i], &edges[k]) <= 0) &&
                        (j == n || compare(&edges[k], &edges[j]) <= 0);

                    if (of_kind(types[t], &edges[k]))
                        wrong +=
                            inside(types[t], &edges[k], low, high) != should;
                }
            }
    CHECK_EQ(wrong, 0);
}

/* Inwards: the number before or behind is already outside. */
static void doubles_are_rounded_inwards(void)
{
    bouma_value odd = bouma_value_uint(((uint64_t)1 << 53) + 1);
    bouma_value minus = bouma_value_int(-((int64_t)1 << 53) - 1);
    union bm_scalar low, high;

    bm_value_span(&low, &high, BOUMA_TYPE_F64, &odd, &odd);
    CHECK(low.f == 0x1p53 + 2 && high.f == 0x1p53);
    bm_value_span(&low, &high, BOUMA_TYPE_F32, &minus, &minus);
    CHECK(low.f == -0x1p53 && high.f == -0x1p53 - 2);
    odd = bouma_value_uint(UINT64_MAX);
    bm_value_span(&low, &high, BOUMA_TYPE_F64, &odd, &odd);
    CHECK(low.f == 0x1p64 && high.f == 0x1p64 - 2048);
}

static void only_three_types_are_values(void)
{
    bouma_value v = bouma_value_real(1);

    CHECK(bm_value_valid(&v));
    v = bouma_value_int(-1);
    CHECK(bm_value_valid(&v));
    v = bouma_value_uint(1);
    CHECK(bm_value_valid(&v));
    v = bouma_value_real((double)NAN);
    CHECK(!bm_value_valid(&v));
#define TYPE(name, number, ctype, text)                                        \
    v.type = BOUMA_##name;                                                     \
    v.f = 1;                                                                   \
    CHECK_EQ(bm_value_valid(&v), sizeof(ctype) == 8);
    BOUMA_TYPE_LIST(TYPE)
#undef TYPE
    v.type = (bouma_type)0;
    CHECK(!bm_value_valid(&v));
}

int main(void)
{
    spans_have_what_is_between();
    doubles_are_rounded_inwards();
    only_three_types_are_values();
    return check_result();
}
