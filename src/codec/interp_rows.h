/* interp_rows.h -- the inner loops of codec_interp.c, which includes this file
 * once for each type of sample, with
 *
 *     REAL       float or double
 *     NAME(x)    x with something added that tells the type
 *     ABS, SIGN  fabs() and copysign() of that type
 *
 * Encoder and decoder must get the same predictions to the last bit, so no
 * multiplication may be contracted with an addition: see CMakeLists.txt. */

/* p = (or +=) weighted sum of four rows. */
BM_CLONES static void NAME(blend)(void *out, const void *const row[4],
                                  const double weight[4], int64_t n, int more)
{
    const REAL *restrict a = row[0], *restrict b = row[1];
    const REAL *restrict c = row[2], *restrict d = row[3];
    const REAL wa = (REAL)weight[0], wb = (REAL)weight[1];
    const REAL wc = (REAL)weight[2], wd = (REAL)weight[3];
    REAL *restrict p = out;

    if (more)
        for (int64_t i = 0; i < n; i++)
            p[i] = p[i] + ((wa * a[i] + wd * d[i]) + (wb * b[i] + wc * c[i]));
    else
        for (int64_t i = 0; i < n; i++)
            p[i] = (wa * a[i] + wd * d[i]) + (wb * b[i] + wc * c[i]);
}

/* Codes of a row of samples x, predicted to be p, and the samples as they will
 * be decoded. What cannot be coded gets the code NO_CODE and the prediction.
 * Gives all folded codes combined by 'or', and adds to the loss. */
BM_CLONES static uint32_t NAME(quantise)(int32_t *restrict code, void *decoded,
                                         const void *samples,
                                         const void *predicted, int64_t n,
                                         const struct quantum *quantum,
                                         struct bm_loss *loss)
{
    const REAL *restrict x = samples, *restrict p = predicted;
    REAL *restrict out = decoded;
    const REAL step = (REAL)quantum->step, inverse = (REAL)quantum->inverse;
    const REAL bound = (REAL)quantum->bound, limit = (REAL)CODE_LIMIT;
    REAL largest = 0, squares = 0;
    uint32_t all = 0;

    for (int64_t i = 0; i < n; i++) {
        REAL r = (x[i] - p[i]) * inverse;
        REAL near = ABS(r) < limit ? r : 0; /* 0 for NaN, too */
        int32_t q = (int32_t)(near + SIGN((REAL)0.5, near));
        REAL y = p[i] + (REAL)q * step;
        REAL error = ABS(r) < limit ? ABS(x[i] - y) : 2 * bound;

        code[i] = error <= bound ? q : NO_CODE;
        out[i] = error <= bound ? y : p[i];
    }
#pragma omp simd reduction(+ : squares) reduction(max : largest)
    for (int64_t i = 0; i < n; i++) {
        REAL error = ABS(x[i] - out[i]);

        error = code[i] != NO_CODE ? error : 0;
        largest = error > largest ? error : largest;
        squares += error * error;
    }
    for (int64_t i = 0; i < n; i++)
        all |= (uint32_t)code[i] << 1 ^ (uint32_t)(code[i] >> 31);
    if ((double)largest > loss->largest)
        loss->largest = (double)largest;
    loss->squares += (double)squares;
    return all;
}

/* A row of samples from codes and predictions. */
BM_CLONES static void NAME(rebuild)(void *decoded, const int32_t *restrict code,
                                    const void *predicted, int64_t n,
                                    const struct quantum *quantum)
{
    const REAL *restrict p = predicted;
    REAL *restrict out = decoded;
    const REAL step = (REAL)quantum->step;

    for (int64_t i = 0; i < n; i++)
        out[i] = p[i] + (REAL)code[i] * step;
}

/* How far off a prediction is, outliers (and NaN) counted as 'most'. */
BM_CLONES static double NAME(miss)(const void *samples, const void *predicted,
                                   int64_t n, double most)
{
    const REAL *restrict x = samples, *restrict p = predicted;
    const REAL cap = (REAL)most;
    REAL sum = 0;

#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) {
        REAL e = x[i] - p[i];

        e = e < 0 ? -e : e;
        sum += e < cap ? e : cap;
    }
    return (double)sum;
}

/* One sample stored as it is, and what others are predicted from instead: it
 * must be finite. */
static void NAME(settle)(void *row, int64_t i, const void *value)
{
    REAL *out = row;
    REAL x;

    memcpy(&x, value, sizeof(x));
    if (x - x == 0)
        out[i] = x;
    else if (!(out[i] - out[i] == 0))
        out[i] = 0;
}

static int NAME(finite)(const void *values, size_t n)
{
    const REAL *x = values;
    REAL sum = 0;

#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i] - x[i];
    return sum == 0;
}

/* Replace what is not finite by the value before it; the first ones by the
 * first that is finite, or 0. */
static void NAME(clean)(void *out, const void *values, size_t n)
{
    const REAL *x = values;
    REAL *y = out;
    REAL last = 0;

    for (size_t i = 0; i < n; i++)
        if (x[i] - x[i] == 0) {
            last = x[i];
            break;
        }
    for (size_t i = 0; i < n; i++) {
        if (x[i] - x[i] == 0)
            last = x[i];
        y[i] = last;
    }
}

static const struct kernels NAME(kernels) = {
    NAME(blend),  NAME(quantise), NAME(rebuild), NAME(miss),
    NAME(settle), NAME(finite),   NAME(clean)};
