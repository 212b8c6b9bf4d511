/* sample_types.c -- values of any type as those that are sent. */
#include "sample_types.h"

#include <math.h>
#include <string.h>

#include "bouma_lists.h"

size_t sent_type_size(enum sent_type type, bouma_type own)
{
    return type == SENT_OWN   ? bouma_type_size(own)
           : type == SENT_F32 ? 4
           : type == SENT_F16 ? 2
                              : 1;
}

const char *sent_type_name(enum sent_type type, bouma_type own)
{
    return type == SENT_OWN   ? bouma_type_name(own)
           : type == SENT_F32 ? "f32"
           : type == SENT_F16 ? "f16"
                              : "u8";
}

/* A half has 11 bits of precision; the least exponent of normal ones is -14,
 * and the step between those below is 2^-24. */
uint16_t half_from_double(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value), scaled;
    int exponent;
    unsigned steps;

    if (isnan(value))
        return sign | 0x7e00;
    if (size >= 65520) /* halfway to 2^16, which there is none of */
        return sign | 0x7c00;
    frexp(size, &exponent); /* size < 2^exponent */
    exponent = size == 0 || exponent < -13 ? -13 : exponent;
    scaled = ldexp(size, 11 - exponent);
    /* Exact, then ties to even in the default rounding. A carry goes into the
     * exponent, as it should. */
    steps = (unsigned)nearbyint(scaled);
    return (uint16_t)(sign | (((unsigned)(exponent + 13) << 10) + steps));
}

uint8_t byte_from_double(double value, double low, double high)
{
    double part;

    if (isnan(value))
        return 0;
    if (!(value > low))
        return 1;
    if (!(value < high))
        return 255;
    /* Halved, so that the difference of two doubles is one. */
    part = (value / 2 - low / 2) / (high / 2 - low / 2);
    return (uint8_t)(1 + nearbyint(part * 254));
}

static void store(void *to, double value, const struct conversion *how)
{
    float single;
    uint16_t half;

    switch (how->to) {
    case SENT_F16:
        half = half_from_double(value);
        memcpy(to, &half, sizeof(half));
        break;
    case SENT_U8:
        *(uint8_t *)to = byte_from_double(value, how->low, how->high);
        break;
    default:
        single = (float)value;
        memcpy(to, &single, sizeof(single));
    }
}

/* As they are, a component of several. */
static void copy_values(char *to, size_t to_stride, const char *from,
                        size_t stride, size_t count, size_t bytes)
{
    if (stride == 1 && to_stride == 1) {
        memcpy(to, from, count * bytes);
        return;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * to_stride * bytes, from + i * stride * bytes, bytes);
}

/* A number that is twice rounded, to a double and then to a float, can be
 * another one than if it is rounded once: integers go to floats directly. */
#define SINGLE(ctype)                                                          \
    for (size_t i = 0; i < count; i++) {                                       \
        float single = (float)((const ctype *)from)[i * stride];               \
        memcpy((char *)to + i * to_stride * sizeof(float), &single,            \
               sizeof(single));                                                \
    }
#define OTHERS(ctype)                                                          \
    for (size_t i = 0; i < count; i++) {                                       \
        double value = (double)((const ctype *)from)[i * stride];              \
        store((char *)to + i * to_stride * size,                               \
              how->shifts ? value - how->origin : value, how);                 \
    }

void convert_values(void *to, size_t to_stride, const void *from, size_t stride,
                    size_t count, const struct conversion *how)
{
    size_t size = sent_type_size(how->to, how->from);
    int plain = how->to == SENT_F32 && !how->shifts;

    if (how->to == SENT_OWN || (plain && how->from == BOUMA_TYPE_F32)) {
        copy_values(to, to_stride, from, stride, count, size);
        return;
    }
    switch (how->from) {
#define CASE(name, value, ctype, text)                                         \
    case BOUMA_##name:                                                         \
        if (plain)                                                             \
            SINGLE(ctype)                                                      \
        else                                                                   \
            OTHERS(ctype)                                                      \
        break;
        BOUMA_TYPE_LIST(CASE)
#undef CASE
    case BOUMA_TYPE_STRING:
        break;
    }
}
