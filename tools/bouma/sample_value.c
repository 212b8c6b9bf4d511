/* sample_value.c -- samples of any type as values and as numbers. */
#include "sample_value.h"

#include <math.h>

#include "attribute_value.h"

bouma_value sample_value(bouma_type type, const void *values, size_t i)
{
    bouma_attribute all = {.size = sizeof(all), .type = type, .values = values};

    return attribute_value(&all, i);
}

double value_number(bouma_value value)
{
    return value.type == BOUMA_TYPE_I64   ? (double)value.i
           : value.type == BOUMA_TYPE_U64 ? (double)value.u
                                          : value.f;
}

double value_distance(bouma_value a, bouma_value b)
{
    if (a.type == BOUMA_TYPE_I64)
        return (double)(a.i > b.i ? (uint64_t)a.i - (uint64_t)b.i
                                  : (uint64_t)b.i - (uint64_t)a.i);
    if (a.type == BOUMA_TYPE_U64)
        return (double)(a.u > b.u ? a.u - b.u : b.u - a.u);
    if (isnan(a.f) || isnan(b.f))
        return isnan(a.f) && isnan(b.f) ? 0 : INFINITY;
    return a.f == b.f ? 0 : fabs(a.f - b.f);
}
