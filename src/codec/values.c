/* values.c -- see values.h. */
#include "codec/values.h"

#include "codec/clones.h"

#define REAL    float
#define NAME(x) x##_f32
#define ABS     __builtin_fabsf
#include "codec/values_rows.h"
#undef REAL
#undef NAME
#undef ABS
#define REAL    double
#define NAME(x) x##_f64
#define ABS     __builtin_fabs
#include "codec/values_rows.h"
#undef REAL
#undef NAME
#undef ABS

int bm_values_finite(bouma_type type, const void *values, size_t n)
{
    return type == BOUMA_TYPE_F32 ? finite_f32(values, n)
                                  : finite_f64(values, n);
}

void bm_values_clean(bouma_type type, void *out, const void *values, size_t n)
{
    if (type == BOUMA_TYPE_F32)
        clean_f32(out, values, n);
    else
        clean_f64(out, values, n);
}

int bm_value_finite(bouma_type type, const void *values, size_t i)
{
    return type == BOUMA_TYPE_F32 ? finite_f32((const float *)values + i, 1)
                                  : finite_f64((const double *)values + i, 1);
}

double bm_values_largest(bouma_type type, const void *values, size_t n)
{
    return type == BOUMA_TYPE_F32 ? largest_f32(values, n)
                                  : largest_f64(values, n);
}

struct bm_loss bm_values_loss(bouma_type type, const void *values,
                              const void *decoded, size_t n)
{
    return type == BOUMA_TYPE_F32 ? loss_f32(values, decoded, n)
                                  : loss_f64(values, decoded, n);
}
