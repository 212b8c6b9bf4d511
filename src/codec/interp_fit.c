/* interp_fit.c -- see interp.h: the weights of a fitted prediction, by least
 * squares over some rows of an octant.
 *
 * A prediction is linear in its weights. So each weight alone predicts these
 * rows, and the combination that misses them least is wanted. Misses count by
 * about their bits: squares are divided by what was missed before, again and again.
 * What codec exact keeps has lengths by those around it, so there misses count
 * by what is missed around them. The order of all sums is fixed, as bytes of the file depend on them. */
#include "codec/interp.h"

#include "codec/clones.h"
#include "codec/values.h"

#define ROUNDS          5
#define ROUNDS_WITH_FEW 3

/* Four numbers; eight lanes are two of them. */
typedef double four __attribute__((vector_size(32), aligned(8)));
#define LOAD(p) (*(const four *)(p))

/* out[k] = sum of w a part[k], for four of them, in LANES parts each, of which n
 * is a multiple. */
BM_CLONES static void dots(double out[4], const double *w, const double *a,
                           const double *const part[4], size_t n)
{
    const double *p = part[0], *q = part[1], *r = part[2], *s = part[3];
    four sum[4][2] = {{{0}, {0}}, {{0}, {0}}, {{0}, {0}}, {{0}, {0}}};

    for (size_t i = 0; i < n; i += LANES) {
        four x = LOAD(w + i) * LOAD(a + i);
        four y = LOAD(w + i + 4) * LOAD(a + i + 4);

        sum[0][0] += x * LOAD(p + i);
        sum[0][1] += y * LOAD(p + i + 4);
        sum[1][0] += x * LOAD(q + i);
        sum[1][1] += y * LOAD(q + i + 4);
        sum[2][0] += x * LOAD(r + i);
        sum[2][1] += y * LOAD(r + i + 4);
        sum[3][0] += x * LOAD(s + i);
        sum[3][1] += y * LOAD(s + i + 4);
    }
    for (int k = 0; k < 4; k++) {
        four both = sum[k][0] + sum[k][1];

        out[k] = (both[0] + both[1]) + (both[2] + both[3]);
    }
}

/* out = target less x[i] part[i], of m, in this order. */
BM_CLONES static void miss(double *restrict out, const double *restrict target,
                           double *const *part, const double *x, int m,
                           size_t n)
{
    int k = 0;

    for (; k + 3 <= m; k += 3) {
        const double *restrict a = part[k], *restrict b = part[k + 1];
        const double *restrict c = part[k + 2], *from = k ? out : target;
        double xa = x[k], xb = x[k + 1], xc = x[k + 2];

#pragma omp simd
        for (size_t i = 0; i < n; i++)
            out[i] = from[i] - xa * a[i] - xb * b[i] - xc * c[i];
    }
    for (; k < m; k++) {
        const double *restrict a = part[k], *from = k ? out : target;
        double xa = x[k];

#pragma omp simd
        for (size_t i = 0; i < n; i++)
            out[i] = from[i] - xa * a[i];
    }
}

/* out -= factor * a. */
BM_CLONES static void subtract(double *restrict out, const double *restrict a,
                               double factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] -= factor * a[i];
}

BM_CLONES static void add(double *restrict out, const double *restrict a,
                          size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] += a[i];
}

static void drop(struct bm_fit *f, int m, size_t k)
{
    f->target[k] = 0;
    for (int i = 0; i < m; i++)
        f->part[i][k] = 0;
}

void bm_fit_clean(struct bm_fit *f, int m)
{
    memcpy(f->missed, f->target, f->count * sizeof(*f->missed));
    for (int i = 0; i < m; i++)
        add(f->missed, f->part[i], f->count);
    if (!bm_values_finite(BOUMA_TYPE_F64, f->missed, f->count))
        for (size_t k = 0; k < f->count; k++)
            if (f->missed[k] - f->missed[k] != 0)
                drop(f, m, k);
    for (size_t k = f->count; k % LANES; k++)
        drop(f, m, k);
}

void bm_fit_gather(struct bm_fit *f, const struct bm_interp_kernels *kernels,
                   int axes, int m, int bends)
{
    int64_t n = (int64_t)f->count;

    kernels->less(f->target, f->samples, f->term[0], n);
    for (int i = 0; i < m; i++)
        kernels->less(f->part[i], f->term[i + 1],
                      bends && i > 0 ? NULL : f->term[0], n);
    for (int i = 0; i + 1 < axes; i++)
        subtract(f->target, f->part[i],
                 (double)(WEIGHT_ONE / axes) / WEIGHT_ONE, f->count);
    bm_fit_clean(f, m);
}

/* How much each sample counts, by how far it is missed. */
BM_CLONES static void weigh(double *restrict weight,
                            const double *restrict missed, double bound,
                            size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double r = __builtin_fabs(missed[i]);

        weight[i] = (r > 64 * bound ? 0.3 : 1) / (r + 0.7 * bound);
    }
}

/* The same by how far it and the two on each side are missed, squared: where all
 * around are predicted well, a miss costs as many bits as elsewhere a larger one.
 * Rows lie one after the other; the ends of all count for nothing. */
BM_CLONES static void weigh_near(double *restrict weight,
                                 const double *restrict missed, double bound,
                                 size_t n)
{
    for (size_t i = 2; i + 2 < n; i++) {
        double first = __builtin_fabs(missed[i - 2]);
        double second = __builtin_fabs(missed[i - 1]);
        double third = __builtin_fabs(missed[i + 1]);
        double last = __builtin_fabs(missed[i + 2]);
        double sum = ((first + last) + (second + third)) +
                     (__builtin_fabs(missed[i]) + 4 * bound);

        weight[i] = 1 / (sum * sum);
    }
    weight[0] = weight[1] = weight[n - 2] = weight[n - 1] = 0;
}

/* Solve for x: m equations, destroyed. 0 if that is not possible. */
static int solve(double *x, double a[MAX_WEIGHTS][MAX_WEIGHTS + 1], int m)
{
    for (int i = 0; i < m; i++) {
        int pivot = i;

        for (int k = i + 1; k < m; k++)
            if (__builtin_fabs(a[k][i]) > __builtin_fabs(a[pivot][i]))
                pivot = k;
        if (!(__builtin_fabs(a[pivot][i]) > 0))
            return 0;
        for (int k = 0; k <= m; k++) {
            double swapped = a[i][k];

            a[i][k] = a[pivot][k];
            a[pivot][k] = swapped;
        }
        for (int k = 0; k < m; k++) {
            double factor = a[k][i] / a[i][i];

            for (int h = i; h <= m && k != i; h++)
                a[k][h] -= factor * a[i][h];
        }
    }
    for (int i = 0; i < m; i++)
        x[i] = a[i][m] / a[i][i];
    return 1;
}

/* Least squares with weights: the sum of x[i] part[i] that is next to the
 * target, for n samples, a multiple of LANES. */
static int least_squares(double *x, const struct bm_fit *f, size_t n, int m,
                         double bound)
{
    double a[MAX_WEIGHTS][MAX_WEIGHTS + 1], trace = 0;

    for (int i = 0; i < m; i++) {
        for (int k = 0; k <= i + 1; k += 4) {
            const double *part[4];
            double sum[4];

            for (int h = 0; h < 4; h++)
                part[h] = k + h <= i ? f->part[k + h] : f->target;
            dots(sum, f->weight, f->part[i], part, n);
            for (int h = 0; h < 4 && k + h <= i + 1; h++)
                a[i][k + h <= i ? k + h : m] = sum[h];
        }
        for (int k = 0; k < i; k++)
            a[k][i] = a[i][k];
        trace += a[i][i];
    }
    /* Weights that hardly matter stay small. */
    for (int i = 0; i < m; i++)
        a[i][i] += 1e-5 * a[i][i] + 1e-12 * trace + 1e-3 * bound * (double)n;
    return solve(x, a, m);
}

int bm_fit_solve(int32_t *weights, const struct bm_fit *f, int m, double bound,
                 enum bm_fitting how)
{
    double x[MAX_WEIGHTS] = {0};

    for (int round = 0; round < ROUNDS; round++) {
        /* The first ones, on a part of the samples, only lead there. */
        size_t n = round < ROUNDS_WITH_FEW ? f->count / 4 : f->count;

        if (round)
            miss(f->missed, f->target, f->part, x, m, n);
        if (round && how == BM_FIT_NEAR)
            weigh_near(f->weight, f->missed, bound, n);
        else
            weigh(f->weight, round ? f->missed : f->target, bound, n);
        for (; n % LANES; n++)
            f->weight[n] = 0;
        if (!least_squares(x, f, n, m, how == BM_FIT_NEAR ? 0 : bound))
            return 0;
    }
    for (int i = 0; i < m; i++) {
        double w = x[i] * WEIGHT_ONE;

        if (!(__builtin_fabs(w) <= MAX_WEIGHT))
            return 0;
        weights[i] = (int32_t)(w + (w < 0 ? -0.5 : 0.5));
    }
    return 1;
}

BM_CLONES static uint64_t sum_of_logs(const double *restrict missed,
                                      double unit, size_t n)
{
    const double most = MOST_MAGNITUDE;
    uint32_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        double t = __builtin_fabs(missed[i]) * unit;

        sum += bm_interp_log((float)(t < most ? t : most));
    }
    return sum;
}

uint64_t bm_fit_misses(const struct bm_fit *f, const int32_t *weights, int m,
                       double unit)
{
    double x[MAX_WEIGHTS];

    for (int i = 0; i < m; i++)
        x[i] = (double)weights[i] / WEIGHT_ONE;
    miss(f->missed, f->target, f->part, x, m, f->count);
    return sum_of_logs(f->missed, unit, f->count);
}
