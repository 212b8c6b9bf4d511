/* interp_rows.h -- the inner loops of interp_predict.c, which includes this
 * file once for each type of sample, with
 *
 *     REAL       float or double
 *     NAME(x)    x with something added that tells the type
 *     ABS, SIGN  fabs() and copysign() of that type
 *
 * Encoder and decoder must get the same predictions to the last bit, so no
 * multiplication may be contracted with an addition: see
 * cmake/strict_math.cmake. And as all encoders give the same bytes, sums are
 * kept in LANES parts, sample i in part i mod LANES, however many samples a
 * machine takes at once. */

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

/* How much rows beside a sample bend: those at its left (or above it, or before
 * it) and at its right, each with the ones on both sides. */
BM_CLONES static void NAME(bend)(void *out, const void *const row[6], int64_t n)
{
    const REAL *restrict a = row[0], *restrict b = row[1];
    const REAL *restrict c = row[2], *restrict d = row[3];
    const REAL *restrict e = row[4], *restrict f = row[5];
    REAL *restrict p = out;

    for (int64_t i = 0; i < n; i++)
        p[i] = ((a[i] + c[i]) + (d[i] + f[i])) * (REAL)0.25 -
               (b[i] + e[i]) * (REAL)0.5;
}

/* 16 log2(1 + (|a| + |b|) * unit), roughly: the bits of a float tell. */
BM_CLONES static void NAME(logs)(uint8_t *restrict out, const void *first,
                                 const void *second, double unit, int64_t n)
{
    const REAL *restrict a = first, *restrict b = second;
    const REAL scale = (REAL)unit, most = (REAL)MOST_MAGNITUDE;

    for (int64_t i = 0; i < n; i++) {
        REAL t = (ABS(a[i]) + ABS(b[i])) * scale;

        out[i] = bm_interp_log((float)(t < most ? t : most)); /* NaN: most */
    }
}

/* The error of a sample that became y, of which the square may be no float. */
static inline double NAME(error)(REAL x, REAL y, int32_t code)
{
    return code != NO_CODE ? __builtin_fabs((double)x - (double)y) : 0;
}

BM_CLONES static void NAME(add_loss)(struct bm_loss *loss,
                                     const int32_t *restrict code,
                                     const REAL *restrict x,
                                     const REAL *restrict y, int64_t n)
{
    double squares[LANES] = {0}, largest[LANES] = {0};
    int64_t i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) {
            double e = NAME(error)(x[i + k], y[i + k], code[i + k]);

            squares[k] += e * e;
            largest[k] = e > largest[k] ? e : largest[k];
        }
    for (int k = 0; i + k < n; k++) {
        double e = NAME(error)(x[i + k], y[i + k], code[i + k]);

        squares[k] += e * e;
        largest[k] = e > largest[k] ? e : largest[k];
    }
    for (int k = 0; k < LANES; k++) {
        loss->squares += squares[k];
        if (largest[k] > loss->largest)
            loss->largest = largest[k];
    }
}

/* Codes of a row of samples x, predicted to be p, and the samples as they will
 * be decoded. What cannot be coded gets the code NO_CODE and the prediction.
 * Gives all folded codes combined by 'or', and adds to the loss. */
BM_CLONES static uint32_t NAME(quantise)(int32_t *restrict code, void *decoded,
                                         const void *samples,
                                         const void *predicted, int64_t n,
                                         const struct bm_quantum *quantum,
                                         struct bm_loss *loss)
{
    const REAL *restrict x = samples, *restrict p = predicted;
    REAL *restrict out = decoded;
    const REAL step = (REAL)quantum->step, inverse = (REAL)quantum->inverse;
    const REAL bound = (REAL)quantum->bound, limit = (REAL)CODE_LIMIT;
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
    for (int64_t i = 0; i < n; i++)
        all |= (uint32_t)code[i] << 1 ^ (uint32_t)(code[i] >> 31);
    NAME(add_loss)(loss, code, x, out, n);
    return all;
}

/* A row of samples from codes and predictions. */
BM_CLONES static void NAME(rebuild)(void *decoded, const int32_t *restrict code,
                                    const void *predicted, int64_t n,
                                    const struct bm_quantum *quantum)
{
    const REAL *restrict p = predicted;
    REAL *restrict out = decoded;
    const REAL step = (REAL)quantum->step;

    for (int64_t i = 0; i < n; i++)
        out[i] = p[i] + (REAL)code[i] * step;
}

/* How far off a prediction is: about 16 times as many as bits are needed. */
BM_CLONES static uint64_t NAME(miss)(const void *samples, const void *predicted,
                                     int64_t n, double unit)
{
    const REAL *restrict x = samples, *restrict p = predicted;
    const REAL scale = (REAL)unit, most = (REAL)MOST_MAGNITUDE;
    uint32_t sum = 0;

    for (int64_t i = 0; i < n; i++) {
        REAL t = ABS(x[i] - p[i]) * scale;

        sum += bm_interp_log((float)(t < most ? t : most)); /* NaN: most */
    }
    return sum;
}

BM_CLONES static void NAME(widen)(double *restrict out, const void *row,
                                  int64_t n)
{
    const REAL *restrict x = row;

    for (int64_t i = 0; i < n; i++)
        out[i] = (double)x[i];
}

/* One sample stored as it is, and what others are predicted from instead: it
 * must be finite. */
static void NAME(set_value)(void *row, int64_t i, const void *value)
{
    REAL *out = row;
    REAL x;

    memcpy(&x, value, sizeof(x));
    if (x - x == 0)
        out[i] = x;
    else if (!(out[i] - out[i] == 0))
        out[i] = 0;
}

const struct bm_interp_kernels NAME(bm_interp) = {
    NAME(blend),   NAME(bend), NAME(logs),  NAME(quantise),
    NAME(rebuild), NAME(miss), NAME(widen), NAME(set_value)};
