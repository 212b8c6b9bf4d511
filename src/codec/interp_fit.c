/* interp_fit.c -- see interp.h: the weights of a fitted prediction, by least
 * squares over some rows of an octant.
 *
 * A prediction is linear in its weights. So each weight alone predicts these
 * rows, and the combination that misses them least is wanted. Misses count by
 * about their bits: squares are divided by what was missed before, again and again.
 * The order of all sums is fixed, as bytes of the file depend on them. */
#include "codec/interp.h"

#include "codec/clones.h"

#define ROUNDS 4

/* Sum of w a b. */
BM_CLONES static double dot(const double *restrict w, const double *restrict a,
                            const double *restrict b, size_t n)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lane[k] += w[i + k] * a[i + k] * b[i + k];
    for (size_t k = 0; i + k < n; k++)
        lane[k] += w[i + k] * a[i + k] * b[i + k];
    for (size_t k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

/* out -= factor * a. */
BM_CLONES static void subtract(double *restrict out, const double *restrict a,
                               double factor, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] -= factor * a[i];
}

void bm_fit_clean(struct bm_fit *f, int m)
{
    for (size_t k = 0; k < f->count; k++) {
        double sum = f->target[k];

        for (int i = 0; i < m; i++)
            sum += f->part[i][k];
        if (sum - sum == 0)
            continue;
        f->target[k] = 0;
        for (int i = 0; i < m; i++)
            f->part[i][k] = 0;
    }
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
 * target. */
static int least_squares(double *x, const struct bm_fit *f, int m, double bound)
{
    double a[MAX_WEIGHTS][MAX_WEIGHTS + 1], trace = 0;

    for (int i = 0; i < m; i++) {
        for (int k = 0; k <= i; k++)
            a[i][k] = a[k][i] =
                dot(f->weight, f->part[i], f->part[k], f->count);
        a[i][m] = dot(f->weight, f->part[i], f->target, f->count);
        trace += a[i][i];
    }
    /* Weights that hardly matter stay small. */
    for (int i = 0; i < m; i++)
        a[i][i] +=
            1e-5 * a[i][i] + 1e-12 * trace + 1e-3 * bound * (double)f->count;
    return solve(x, a, m);
}

int bm_fit_solve(int32_t *weights, const struct bm_fit *f, int m, double bound)
{
    double x[MAX_WEIGHTS] = {0};

    for (int round = 0; round < ROUNDS; round++) {
        memcpy(f->missed, f->target, f->count * sizeof(*f->missed));
        for (int i = 0; i < m && round; i++)
            subtract(f->missed, f->part[i], x[i], f->count);
        weigh(f->weight, f->missed, bound, f->count);
        if (!least_squares(x, f, m, bound))
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
