/* lift.c -- see lift.h. */
#include "codec/lift.h"

#include <math.h>
#include <string.h>

/* ---- f32 and f64 as words ------------------------------------------------ */

/* Numbers among all of the type, and back. Beyond 'limit' steps, which are
 * 'edge' in bits, numbers go on as bits do. */
#define WORDS_OF(ctype, bits)                                                  \
    static inline int##bits##_t number_##ctype(ctype value)                    \
    {                                                                          \
        const uint##bits##_t sign = (uint##bits##_t)1 << (bits - 1);           \
        uint##bits##_t u;                                                      \
                                                                               \
        memcpy(&u, &value, sizeof(u));                                         \
        return (int##bits##_t)(u & sign ? ~u | sign : u);                      \
    }                                                                          \
                                                                               \
    static inline ctype value_##ctype(int##bits##_t number)                    \
    {                                                                          \
        const uint##bits##_t sign = (uint##bits##_t)1 << (bits - 1);           \
        uint##bits##_t u = (uint##bits##_t)number;                             \
        ctype value;                                                           \
                                                                               \
        u = u & sign ? ~u | sign : u;                                          \
        memcpy(&value, &u, sizeof(value));                                     \
        return value;                                                          \
    }                                                                          \
                                                                               \
    static inline int##bits##_t multiple_##ctype(const struct bm_quantum *q,   \
                                                 ctype value)                  \
    {                                                                          \
        const int##bits##_t edge =                                             \
            number_##ctype((ctype)(q->limit * q->step));                       \
        int##bits##_t number = number_##ctype(value), size;                    \
        double k = (double)value * q->inverse;                                 \
                                                                               \
        if (fabs(k) <= q->limit)                                               \
            return (int##bits##_t)nearbyint(k);                                \
        size =                                                                 \
            (number < 0 ? ~number : number) - edge + (int##bits##_t)q->limit;  \
        return number < 0 ? -size : size;                                      \
    }                                                                          \
                                                                               \
    static inline ctype rounded_##ctype(const struct bm_quantum *q,            \
                                        int##bits##_t word)                    \
    {                                                                          \
        const int##bits##_t edge =                                             \
            number_##ctype((ctype)(q->limit * q->step));                       \
        const int##bits##_t limit = (int##bits##_t)q->limit;                   \
        const uint##bits##_t most = ((uint##bits##_t) - 1) >> 1;               \
        uint##bits##_t size = (uint##bits##_t)word;                            \
                                                                               \
        if (word <= limit && word >= -limit)                                   \
            return (ctype)((double)word * q->step);                            \
        size = word < 0 ? 0 - size : size;                                     \
        size += (uint##bits##_t)edge - (uint##bits##_t)limit;                  \
        size = size > most ? most : size;                                      \
        return value_##ctype((int##bits##_t)(word < 0 ? ~size : size));        \
    }                                                                          \
                                                                               \
    static void make_##ctype(const struct bm_words *w, void *values, size_t n) \
    {                                                                          \
        ctype value, *in = values;                                             \
                                                                               \
        for (size_t i = 0; i < n; i++) {                                       \
            int##bits##_t word;                                                \
                                                                               \
            memcpy(&value, in + i, sizeof(value));                             \
            word = w->quantum.step > 0 ? multiple_##ctype(&w->quantum, value)  \
                                       : number_##ctype(value);                \
            memcpy(in + i, &word, sizeof(word));                               \
        }                                                                      \
    }                                                                          \
                                                                               \
    static void restore_##ctype(const struct bm_words *w, void *words,         \
                                size_t n)                                      \
    {                                                                          \
        int##bits##_t word, *in = words;                                       \
                                                                               \
        for (size_t i = 0; i < n; i++) {                                       \
            ctype value;                                                       \
                                                                               \
            memcpy(&word, in + i, sizeof(word));                               \
            value = w->quantum.step > 0 ? rounded_##ctype(&w->quantum, word)   \
                                        : value_##ctype(word);                 \
            memcpy(in + i, &value, sizeof(value));                             \
        }                                                                      \
    }
WORDS_OF(float, 32)
WORDS_OF(double, 64)

/* ---- unsigned integers as words ------------------------------------------ */

/* Only the sign differs: so it is the same in both directions. */
#define FLIP(bits)                                                             \
    static void flip_##bits(void *values, size_t n)                            \
    {                                                                          \
        uint##bits##_t *v = values;                                            \
                                                                               \
        for (size_t i = 0; i < n; i++)                                         \
            v[i] = (uint##bits##_t)(v[i] ^ (uint##bits##_t)1 << (bits - 1));   \
    }
FLIP(8)
FLIP(16)
FLIP(32)
FLIP(64)

static void flip_sign(bouma_type type, void *values, size_t n)
{
    if (type == BOUMA_TYPE_U8)
        flip_8(values, n);
    else if (type == BOUMA_TYPE_U16)
        flip_16(values, n);
    else if (type == BOUMA_TYPE_U32)
        flip_32(values, n);
    else if (type == BOUMA_TYPE_U64)
        flip_64(values, n);
}

/* ---- predictions --------------------------------------------------------- */

#define MEAN_OF_WORDS(a, b) (WORD)(((a) & (b)) + (((a) ^ (b)) >> 1))
#define BEYOND_WORDS(a, b)                                                     \
    (WORD)(UWORD)((UWORD)(a) + (UWORD)(((a) >> 1) - ((b) >> 1)))

/* What is no number predicts nothing: then the other one does, or 0. */
#define FINITE_OF(ctype, word)                                                 \
    static inline word finite_##ctype(double value, word a, word b)            \
    {                                                                          \
        if (isfinite((ctype)value))                                            \
            return number_##ctype((ctype)value);                               \
        return isfinite(value_##ctype(a))   ? a                                \
               : isfinite(value_##ctype(b)) ? b                                \
                                            : 0;                               \
    }
FINITE_OF(float, int32_t)
FINITE_OF(double, int64_t)

static inline int32_t mean_of_float(int32_t a, int32_t b)
{
    return finite_float(0.5 * ((double)value_float(a) + (double)value_float(b)),
                        a, b);
}

static inline int32_t beyond_float(int32_t a, int32_t b)
{
    return finite_float(
        1.5 * (double)value_float(a) - 0.5 * (double)value_float(b), a, b);
}

static inline int64_t mean_of_double(int64_t a, int64_t b)
{
    return finite_double(0.5 * value_double(a) + 0.5 * value_double(b), a, b);
}

static inline int64_t beyond_double(int64_t a, int64_t b)
{
    double x = value_double(a);

    return finite_double(x + 0.5 * (x - value_double(b)), a, b);
}

/* ---- kinds of words ------------------------------------------------------ */

#define MEAN    MEAN_OF_WORDS
#define BEYOND  BEYOND_WORDS
#define LARGEST ((int64_t)0)
#define WORD    int8_t
#define UWORD   uint8_t
#define BITS    8
#define NAME(x) x##_8
#include "codec/lift_rows.h"
#undef WORD
#undef UWORD
#undef BITS
#undef NAME
#define WORD    int16_t
#define UWORD   uint16_t
#define BITS    16
#define NAME(x) x##_16
#include "codec/lift_rows.h"
#undef WORD
#undef UWORD
#undef BITS
#undef NAME
#define WORD    int32_t
#define UWORD   uint32_t
#define BITS    32
#define NAME(x) x##_32
#include "codec/lift_rows.h"
#undef NAME
#undef LARGEST
#define LARGEST ((int64_t)1 << 22)
#define NAME(x) x##_multiple_32
#include "codec/lift_rows.h"
#undef NAME
#undef MEAN
#undef BEYOND
#define MEAN    mean_of_float
#define BEYOND  beyond_float
#define NAME(x) x##_f32
#include "codec/lift_rows.h"
#undef WORD
#undef UWORD
#undef BITS
#undef NAME
#undef MEAN
#undef BEYOND
#undef LARGEST
#define MEAN    mean_of_double
#define BEYOND  beyond_double
#define LARGEST ((int64_t)1 << 51)
#define WORD    int64_t
#define UWORD   uint64_t
#define BITS    64
#define NAME(x) x##_f64
#include "codec/lift_rows.h"
#undef NAME
#undef MEAN
#undef BEYOND
#define MEAN    MEAN_OF_WORDS
#define BEYOND  BEYOND_WORDS
#define NAME(x) x##_multiple_64
#include "codec/lift_rows.h"
#undef NAME
#undef LARGEST
#define LARGEST ((int64_t)0)
#define NAME(x) x##_64
#include "codec/lift_rows.h"

struct kernels {
    void (*forward)(void *words, int64_t n, int64_t step, int64_t m,
                    int64_t across);
    void (*inverse)(void *words, int64_t n, int64_t step, int64_t m,
                    int64_t across);
};

static const struct kernels kernels_8 = {forward_8, inverse_8},
                            kernels_16 = {forward_16, inverse_16},
                            kernels_32 = {forward_32, inverse_32},
                            kernels_64 = {forward_64, inverse_64},
                            kernels_f32[] = {{forward_f32, inverse_f32},
                                             {forward_multiple_32,
                                              inverse_multiple_32}},
                            kernels_f64[] = {
                                {forward_f64, inverse_f64},
                                {forward_multiple_64, inverse_multiple_64}};

static const struct kernels *kernels_of(const struct bm_words *w)
{
    size_t size = bouma_type_size(w->type);

    if (w->type == BOUMA_TYPE_F32)
        return &kernels_f32[w->quantum.step > 0];
    if (w->type == BOUMA_TYPE_F64)
        return &kernels_f64[w->quantum.step > 0];
    return size == 1   ? &kernels_8
           : size == 2 ? &kernels_16
           : size == 4 ? &kernels_32
                       : &kernels_64;
}

/* ---- arrays -------------------------------------------------------------- */

struct bm_words bm_words_of(bouma_type type, double bound)
{
    struct bm_words w = {.type = type};

    if (bm_words_averages(type))
        w.quantum = bm_quantum_of(type, bound);
    return w;
}

int bm_words_averages(bouma_type type)
{
    return type == BOUMA_TYPE_F32 || type == BOUMA_TYPE_F64;
}

void bm_words_make(const struct bm_words *w, void *values, size_t count)
{
    if (w->type == BOUMA_TYPE_F32)
        make_float(w, values, count);
    else if (w->type == BOUMA_TYPE_F64)
        make_double(w, values, count);
    else
        flip_sign(w->type, values, count);
}

void bm_words_restore(const struct bm_words *w, void *words, size_t count)
{
    if (w->type == BOUMA_TYPE_F32)
        restore_float(w, words, count);
    else if (w->type == BOUMA_TYPE_F64)
        restore_double(w, words, count);
    else
        flip_sign(w->type, words, count);
}

/* All lines along an axis; those of another one together, unless that is the
 * axis whose words are next to each other. */
static void along(const struct bm_words *w, const struct bm_word_array *a,
                  int axis, int back)
{
    const struct kernels *k = kernels_of(w);
    int inner = axis == 2 ? 1 : 2, outer = 3 - axis - inner;
    size_t size = bouma_type_size(w->type);
    int64_t m = axis == 2 ? 1 : a->count[inner];

    for (int64_t i = 0; i < a->count[outer]; i++)
        for (int64_t j = 0; j < a->count[inner]; j += m) {
            uint8_t *at =
                (uint8_t *)a->data +
                (i * a->stride[outer] + j * a->stride[inner]) * (int64_t)size;

            (back ? k->inverse : k->forward)(
                at, a->count[axis], a->stride[axis], m, a->stride[inner]);
        }
}

void bm_lift_forward(const struct bm_words *w, const struct bm_word_array *a,
                     int axis)
{
    if (a->count[axis] > 1)
        along(w, a, axis, 0);
}

void bm_lift_inverse(const struct bm_words *w, const struct bm_word_array *a,
                     int axis)
{
    if (a->count[axis] > 1)
        along(w, a, axis, 1);
}
