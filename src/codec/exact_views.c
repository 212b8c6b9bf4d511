/* exact_views.c -- see exact.h: samples as numbers that can be predicted, and the
 * step of which they are whole numbers. */
#include "base/type.h"
#include "codec/clones.h"
#include "codec/exact.h"

struct bm_exact_view bm_exact_view_of(bouma_type type)
{
    struct bm_exact_view v = {.type = type};
    int narrow = type == BOUMA_TYPE_F32 || bouma_type_size(type) < 4;

    v.kind = bm_type_is_float(type) ? BM_EXACT_REALS : BM_EXACT_WHOLE;
    v.kernels = narrow ? &bm_exact_f32 : &bm_exact_f64;
    return v;
}

/* ---- views -------------------------------------------------------------- */

#define VIEWS(name, type, real)                                                \
    BM_CLONES static void view_##name(void *out, const void *in, size_t n)     \
    {                                                                          \
        const type *restrict a = in;                                           \
        real *restrict b = out;                                                \
                                                                               \
        for (size_t i = 0; i < n; i++)                                         \
            b[i] = (real)a[i];                                                 \
    }                                                                          \
    BM_CLONES static void sample_##name(void *out, const void *in, size_t n)   \
    {                                                                          \
        const real *restrict a = in;                                           \
        type *restrict b = out;                                                \
                                                                               \
        for (size_t i = 0; i < n; i++)                                         \
            b[i] = (type)(int64_t)a[i];                                        \
    }
VIEWS(i8, int8_t, float)
VIEWS(u8, uint8_t, float)
VIEWS(i16, int16_t, float)
VIEWS(u16, uint16_t, float)
VIEWS(i32, int32_t, double)
VIEWS(u32, uint32_t, double)
VIEWS(i64, int64_t, double)
VIEWS(u64, uint64_t, double)

/* A step may be no f32, so samples of both types are rounded from f64. What is
 * no whole number of steps, in damaged data, is brought near one. */
#define STEPS(name, real)                                                      \
    BM_CLONES static void view_##name(void *out, const void *in, size_t n,     \
                                      double step, double limit)               \
    {                                                                          \
        const real *restrict a = in;                                           \
        real *restrict b = out;                                                \
                                                                               \
        for (size_t i = 0; i < n; i++) {                                       \
            double k = (double)a[i] / step;                                    \
                                                                               \
            k = k < limit ? k : limit;                                         \
            k = k > -limit ? k : -limit;                                       \
            b[i] = (real)__builtin_copysign((k + 0x3p51) - 0x3p51, k);         \
        }                                                                      \
    }                                                                          \
    BM_CLONES static void sample_##name(void *out, const void *in, size_t n,   \
                                        double step)                           \
    {                                                                          \
        const real *restrict a = in;                                           \
        real *restrict b = out;                                                \
                                                                               \
        for (size_t i = 0; i < n; i++)                                         \
            b[i] = (real)((double)a[i] * step);                                \
    }
STEPS(f32, float)
STEPS(f64, double)

typedef void convert_function(void *out, const void *in, size_t n);

static convert_function *const to_view[] = {
    [BOUMA_TYPE_I8] = view_i8,   [BOUMA_TYPE_U8] = view_u8,
    [BOUMA_TYPE_I16] = view_i16, [BOUMA_TYPE_U16] = view_u16,
    [BOUMA_TYPE_I32] = view_i32, [BOUMA_TYPE_U32] = view_u32,
    [BOUMA_TYPE_I64] = view_i64, [BOUMA_TYPE_U64] = view_u64};
static convert_function *const to_sample[] = {
    [BOUMA_TYPE_I8] = sample_i8,   [BOUMA_TYPE_U8] = sample_u8,
    [BOUMA_TYPE_I16] = sample_i16, [BOUMA_TYPE_U16] = sample_u16,
    [BOUMA_TYPE_I32] = sample_i32, [BOUMA_TYPE_U32] = sample_u32,
    [BOUMA_TYPE_I64] = sample_i64, [BOUMA_TYPE_U64] = sample_u64};

int bm_exact_to_views(const struct bm_exact_view *v, void *views,
                      const void *samples, size_t n)
{
    if (v->kind == BM_EXACT_WHOLE)
        to_view[v->type](views, samples, n);
    else if (v->type == BOUMA_TYPE_F32)
        view_f32(views, samples, n, v->step, v->kernels->limit);
    else
        view_f64(views, samples, n, v->step, v->kernels->limit);
    return v->kernels->are_whole(views, n);
}

void bm_exact_from_views(const struct bm_exact_view *v, void *samples,
                         const void *views, size_t n)
{
    if (v->kind == BM_EXACT_WHOLE)
        to_sample[v->type](samples, views, n);
    else if (v->type == BOUMA_TYPE_F32)
        sample_f32(samples, views, n, v->step);
    else
        sample_f64(samples, views, n, v->step);
}

/* ---- steps -------------------------------------------------------------- */

/* A view of samples and back must give every bit. */
static int is_step(bouma_type type, const void *samples, size_t n, double step)
{
    struct bm_exact_view v = bm_exact_view_of(type);
    size_t size = bouma_type_size(type);
    uint64_t views[64], back[64]; /* f32 or f64 */

    v.kind = BM_EXACT_STEPS;
    v.step = step;
    if (!(step > 0x1p-100 && step < 0x1p100))
        return 0;
    for (size_t i = 0, some; i < n; i += some) {
        const uint8_t *from = (const uint8_t *)samples + i * size;

        some = n - i < 64 ? n - i : 64;
        if (!bm_exact_to_views(&v, views, from, some))
            return 0;
        bm_exact_from_views(&v, back, views, some);
        if (memcmp(back, from, some * size) != 0)
            return 0;
    }
    return 1;
}

static double value_at(bouma_type type, const void *samples, size_t i)
{
    return type == BOUMA_TYPE_F32 ? (double)((const float *)samples)[i]
                                  : ((const double *)samples)[i];
}

#define SOME 512 /* samples that stand for all */

static void sort(double *x, int n)
{
    for (int gap = n / 2; gap > 0; gap /= 2)
        for (int i = gap; i < n; i++) {
            double v = x[i];
            int k = i;

            for (; k >= gap && x[k - gap] > v; k -= gap)
                x[k] = x[k - gap];
            x[k] = v;
        }
}

/* Some magnitudes, sorted, with 0, each once; how many. 0 if one is no number. */
static int some_of(double *x, bouma_type type, const void *samples, size_t n)
{
    size_t every = n / SOME + 1;
    int count = 1, different = 1;

    x[0] = 0;
    for (size_t i = 0; i < n; i += every) {
        uint32_t hash = ((uint32_t)(i / every) + 1) * 2654435761u >> 7;
        size_t at = i + hash % every;
        double v = __builtin_fabs(value_at(type, samples, at < n ? at : i));

        if (!(v < 0x1p100))
            return 0;
        x[count++] = v;
    }
    sort(x, count);
    for (int i = 1; i < count; i++)
        if (x[i] > x[different - 1])
            x[different++] = x[i];
    return different;
}

/* Make *step one of which 'distance' is a whole number, too, by Euclid's way if
 * it is not about one already. 0 if there is none that is large enough. */
static int divide(double *step, double distance, double limit)
{
    for (int turn = 0; turn < 40; turn++) {
        double k = distance / *step, off;

        if (!(k < limit))
            return 0;
        k = (double)(int64_t)(k + 0.5);
        off = __builtin_fabs(distance - k * *step);
        if (off <= *step / 64 && k >= 1) {
            *step = distance / k;
            return 1;
        }
        if (off <= *step / 64)
            return 1;
        distance = *step;
        *step = off;
    }
    return 0;
}

/* The smallest distance, corrected by ever larger ones. */
static double common_step(const double *x, int n, double limit)
{
    double step = x[1];

    for (int i = 2; i < n; i++)
        step = x[i] - x[i - 1] < step ? x[i] - x[i - 1] : step;
    for (int i = 2; i < n; i++)
        if (!divide(&step, x[i] - x[1], limit))
            return 0;
    return divide(&step, x[n - 1], limit) ? step : 0;
}

/* Steps that people take are decimal numbers, or f32. */
static double try_near(bouma_type type, const void *samples, size_t n,
                       double step)
{
    uint32_t bits;
    float f;

    for (double unit = 1e12; unit > 0.5; unit /= 10) {
        double whole = step * unit, near;

        if (!(whole > 0.5 && whole < 1e6))
            continue;
        near = (double)(int64_t)(whole + 0.5) / unit;
        if (__builtin_fabs(near - step) < 1e-3 * step &&
            is_step(type, samples, n, near))
            return near;
    }
    f = (float)step;
    memcpy(&bits, &f, sizeof(bits));
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t other = bits + i - 2;

        memcpy(&f, &other, sizeof(f));
        if (is_step(type, samples, n, (double)f))
            return (double)f;
    }
    return is_step(type, samples, n, step) ? step : 0;
}

double bm_exact_step(bouma_type type, const void *samples, size_t n)
{
    double x[SOME + 2], step, limit = bm_exact_view_of(type).kernels->limit;
    int count = some_of(x, type, samples, n);

    if (count < 2)
        return 0;
    step = common_step(x, count, limit);
    return step > 0x1p-90 && step < 0x1p90 ? try_near(type, samples, n, step)
                                           : 0;
}
