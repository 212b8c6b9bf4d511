/* value.c -- see value.h. */
#include "base/value.h"

#include <math.h>

bouma_value bouma_value_int(int64_t number)
{
    return (bouma_value){.type = BOUMA_TYPE_I64, .i = number};
}

bouma_value bouma_value_uint(uint64_t number)
{
    return (bouma_value){.type = BOUMA_TYPE_U64, .u = number};
}

bouma_value bouma_value_real(double number)
{
    return (bouma_value){.type = BOUMA_TYPE_F64, .f = number};
}

enum kind { SIGNED, UNSIGNED, REAL };

static enum kind kind_of(bouma_type type)
{
    return bm_type_is_float(type)  ? REAL
           : type >= BOUMA_TYPE_U8 ? UNSIGNED
                                   : SIGNED;
}

int bm_value_valid(const bouma_value *value)
{
    return value->type == BOUMA_TYPE_I64 || value->type == BOUMA_TYPE_U64 ||
           (value->type == BOUMA_TYPE_F64 && !isnan(value->f));
}

bouma_value bm_value_of(union bm_scalar scalar, bouma_type type)
{
    switch (kind_of(type)) {
    case REAL:
        return bouma_value_real(scalar.f);
    case UNSIGNED:
        return bouma_value_uint(scalar.u);
    default:
        return bouma_value_int(scalar.i);
    }
}

/* ---- integers ----------------------------------------------------------- */

/* Integers as a sign and 64 bits, so that all of both kinds compare. */
struct whole {
    int negative;
    uint64_t magnitude;
};

/* A real number as an integer: rounded up (a low end) or down (a high one). 0
 * if it is beyond all 64-bit integers of both kinds, upward; -1 downward. */
static int round_real(double number, int up, struct whole *out)
{
    double x = up ? ceil(number) : floor(number);

    if (x >= 0x1p64)
        return 0;
    if (x < -0x1p63)
        return -1;
    *out = (struct whole){x < 0, (uint64_t)fabs(x)};
    return 1;
}

/* The same for any value. */
static int whole_of(const bouma_value *v, int up, struct whole *out)
{
    if (v->type == BOUMA_TYPE_F64)
        return round_real(v->f, up, out);
    if (v->type == BOUMA_TYPE_U64)
        *out = (struct whole){0, v->u};
    else
        *out = (struct whole){v->i < 0, v->i < 0 ? (uint64_t)0 - (uint64_t)v->i
                                                 : (uint64_t)v->i};
    return 1;
}

/* A limit among the integers of a kind: 1, or 0 if all of them are on its wrong
 * side. One that all of them keep is the last of them. */
static int limit_whole(union bm_scalar *out, enum kind kind,
                       const bouma_value *v, int is_high)
{
    uint64_t top = kind == SIGNED ? INT64_MAX : UINT64_MAX;
    struct whole w = {0, 0};
    int place = whole_of(v, !is_high, &w);
    int above = place == 0 || (place == 1 && !w.negative && w.magnitude > top);
    int below = place == -1 || (kind == UNSIGNED && w.negative);

    if (above || below) {
        if (kind == SIGNED)
            out->i = is_high ? INT64_MAX : INT64_MIN;
        else
            out->u = is_high ? UINT64_MAX : 0;
        return is_high ? above : below;
    }
    if (kind == SIGNED && w.negative) /* -2^63 has no positive counterpart */
        out->i = -(int64_t)(w.magnitude - 1) - 1;
    else
        out->u = w.magnitude;
    return 1;
}

/* ---- real numbers ------------------------------------------------------- */

/* Whether the double nearest to an integer is below it, or above. */
static int differs(double nearest, const bouma_value *v)
{
    if (v->type == BOUMA_TYPE_U64)
        return nearest >= 0x1p64 || (uint64_t)nearest > v->u
                   ? 1
                   : -((uint64_t)nearest < v->u);
    return nearest >= 0x1p63 || (int64_t)nearest > v->i
               ? 1
               : -((int64_t)nearest < v->i);
}

static double limit_real(const bouma_value *v, int is_high)
{
    double x = v->type == BOUMA_TYPE_U64 ? (double)v->u : (double)v->i;
    int side;

    if (v->type == BOUMA_TYPE_F64)
        return v->f;
    side = differs(x, v);
    if (is_high && side > 0)
        return nextafter(x, -INFINITY);
    return !is_high && side < 0 ? nextafter(x, INFINITY) : x;
}

/* ---- ranges ------------------------------------------------------------- */

void bm_value_span(union bm_scalar *least, union bm_scalar *most,
                   bouma_type type, const bouma_value *low,
                   const bouma_value *high)
{
    const bouma_value bottom = bouma_value_real(-INFINITY);
    const bouma_value top = bouma_value_real(INFINITY);
    enum kind kind = kind_of(type);

    low = low->type ? low : &bottom;
    high = high->type ? high : &top;
    if (kind == REAL) {
        least->f = limit_real(low, 0);
        most->f = limit_real(high, 1);
        return;
    }
    if (limit_whole(least, kind, low, 0) && limit_whole(most, kind, high, 1))
        return;
    least->u = 1;
    most->u = 0;
}

void bm_range_public(bouma_range *out, const struct bm_range *range,
                     bouma_type type)
{
    *out = (bouma_range){.nans = range->nans, .empty = range->count == 0};
    if (out->empty)
        return;
    out->low = bm_scalar_double(range->low, type);
    out->high = bm_scalar_double(range->high, type);
    out->exact_low = bm_value_of(range->low, type);
    out->exact_high = bm_value_of(range->high, type);
}
