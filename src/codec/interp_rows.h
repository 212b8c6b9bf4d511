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

/* One column: p = (or +=) weighted sum of four samples of each row. */
static void NAME(blend_column)(void *out, const void *const row[4],
                               const REAL w[4], const struct bm_strip *s,
                               int more)
{
    const REAL *a = row[0], *b = row[1], *c = row[2], *d = row[3];
    REAL *p = out;

    for (int64_t r = 0; r < s->rows; r++) {
        int64_t i = r * s->in;
        REAL sum = (w[0] * a[i] + w[3] * d[i]) + (w[1] * b[i] + w[2] * c[i]);

        p[r * s->out] = more ? p[r * s->out] + sum : sum;
    }
}

/* p = (or +=) weighted sum of four rows. */
BM_CLONES static void NAME(blend)(void *out, const void *const row[4],
                                  const double weight[4],
                                  const struct bm_strip *s, int more)
{
    const REAL w[4] = {(REAL)weight[0], (REAL)weight[1], (REAL)weight[2],
                       (REAL)weight[3]};
    const REAL wa = w[0], wb = w[1], wc = w[2], wd = w[3];

    if (s->n == 1) {
        NAME(blend_column)(out, row, w, s, more);
        return;
    }
    for (int64_t r = 0; r < s->rows; r++) {
        const REAL *restrict a = (const REAL *)row[0] + r * s->in;
        const REAL *restrict b = (const REAL *)row[1] + r * s->in;
        const REAL *restrict c = (const REAL *)row[2] + r * s->in;
        const REAL *restrict d = (const REAL *)row[3] + r * s->in;
        REAL *restrict p = (REAL *)out + r * s->out;

        if (more)
            for (int64_t i = 0; i < s->n; i++)
                p[i] =
                    p[i] + ((wa * a[i] + wd * d[i]) + (wb * b[i] + wc * c[i]));
        else
            for (int64_t i = 0; i < s->n; i++)
                p[i] = (wa * a[i] + wd * d[i]) + (wb * b[i] + wc * c[i]);
    }
}

/* Two weighted sums of four rows. */
BM_CLONES static void NAME(blend_both)(void *const out[2],
                                       const void *const row[4],
                                       const double *const weight[2], int64_t n)
{
    const REAL *restrict a = row[0], *restrict b = row[1];
    const REAL *restrict c = row[2], *restrict d = row[3];
    const double *v = weight[0], *w = weight[1];
    const REAL va = (REAL)v[0], vb = (REAL)v[1], vc = (REAL)v[2];
    const REAL wa = (REAL)w[0], wb = (REAL)w[1], wc = (REAL)w[2];
    const REAL vd = (REAL)v[3], wd = (REAL)w[3];
    REAL *restrict p = out[0], *restrict q = out[1];

    for (int64_t i = 0; i < n; i++) {
        p[i] = (va * a[i] + vd * d[i]) + (vb * b[i] + vc * c[i]);
        q[i] = (wa * a[i] + wd * d[i]) + (wb * b[i] + wc * c[i]);
    }
}

/* How much rows beside a sample bend: those at its left (or above it, or before
 * it) and at its right, each with the ones on both sides. */
BM_CLONES static void NAME(bend)(void *out, const void *const row[6],
                                 const struct bm_strip *s)
{
    for (int64_t r = 0; r < s->rows; r++) {
        const REAL *restrict a = (const REAL *)row[0] + r * s->in;
        const REAL *restrict b = (const REAL *)row[1] + r * s->in;
        const REAL *restrict c = (const REAL *)row[2] + r * s->in;
        const REAL *restrict d = (const REAL *)row[3] + r * s->in;
        const REAL *restrict e = (const REAL *)row[4] + r * s->in;
        const REAL *restrict f = (const REAL *)row[5] + r * s->in;
        REAL *restrict p = (REAL *)out + r * s->out;

        for (int64_t i = 0; i < s->n; i++)
            p[i] = ((a[i] + c[i]) + (d[i] + f[i])) * (REAL)0.25 -
                   (b[i] + e[i]) * (REAL)0.5;
    }
}

BM_CLONES static void NAME(add_bends)(void *out, const void *const bend[2],
                                      const double weight[2], int64_t n)
{
    const REAL *restrict s = bend[0], *restrict t = bend[1];
    const REAL u = (REAL)weight[0], v = (REAL)weight[1];
    REAL *restrict p = out;

    for (int64_t i = 0; i < n; i++)
        p[i] = p[i] + (u * s[i] + v * t[i]);
}

/* 2 * 16 log2(1 + 2 |a| * unit), roughly: the bits of a float tell. */
BM_CLONES static void NAME(logs)(uint16_t *restrict out, const void *row,
                                 double unit, int64_t n)
{
    const REAL *restrict a = row;
    const REAL scale = (REAL)unit, most = (REAL)MOST_MAGNITUDE;

    for (int64_t i = 0; i < n; i++) {
        REAL t = (ABS(a[i]) + ABS(a[i])) * scale;

        out[i] = (uint16_t)(2 * bm_interp_log((float)(t < most ? t : most)));
    }
}

/* And once 16 log2(1 + (|a| + |b|) * unit). */
BM_CLONES static void NAME(add_logs)(uint16_t *restrict out, const void *first,
                                     const void *second, double unit, int64_t n)
{
    const REAL *restrict a = first, *restrict b = second;
    const REAL scale = (REAL)unit, most = (REAL)MOST_MAGNITUDE;

    for (int64_t i = 0; i < n; i++) {
        REAL t = (ABS(a[i]) + ABS(b[i])) * scale;

        out[i] =
            (uint16_t)(out[i] + bm_interp_log((float)(t < most ? t : most)));
    }
}

/* What is lost, samples that have NO_CODE being kept as they are. Errors are
 * doubles, as the square of one may be no float. */
static void NAME(add_some_loss)(double *squares, double *largest,
                                const int32_t *code, const REAL *x,
                                const REAL *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double e = (double)x[i] - (double)y[i];

        e = code[i] == NO_CODE ? 0 : __builtin_fabs(e);
        squares[i % LANES] += e * e;
        largest[i % LANES] = e > largest[i % LANES] ? e : largest[i % LANES];
    }
}

/* The same without such samples, for a multiple of LANES. */
BM_CLONES static void NAME(add_all_loss)(double *squares, double *largest,
                                         const REAL *x, const REAL *y,
                                         int64_t n)
{
    typedef REAL few
        __attribute__((vector_size(4 * sizeof(REAL)), aligned(sizeof(REAL))));
    typedef double four __attribute__((vector_size(32)));
    typedef int64_t bits __attribute__((vector_size(32)));
    const bits all = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    four sum[2] = {{0}, {0}}, most[2] = {{0}, {0}};

    for (int64_t i = 0; i < n; i += LANES)
        for (int k = 0; k < 2; k++) {
            four a =
                __builtin_convertvector(*(const few *)(x + i + 4 * k), four);
            four b =
                __builtin_convertvector(*(const few *)(y + i + 4 * k), four);
            four e = (four)((bits)(a - b) & all);
            bits larger = e > most[k];

            sum[k] += e * e;
            most[k] = (four)(((bits)e & larger) | ((bits)most[k] & ~larger));
        }
    for (int k = 0; k < LANES; k++) {
        squares[k] += sum[k / 4][k % 4];
        if (most[k / 4][k % 4] > largest[k])
            largest[k] = most[k / 4][k % 4];
    }
}

static void NAME(add_loss)(struct bm_loss *loss, const int32_t *code,
                           const REAL *x, const REAL *y, int64_t n, int kept)
{
    double squares[LANES] = {0}, largest[LANES] = {0};
    int64_t most = kept ? 0 : n / LANES * LANES;

    NAME(add_all_loss)(squares, largest, x, y, most);
    NAME(add_some_loss)
    (squares, largest, code + most, x + most, y + most, n - most);
    for (int k = 0; k < LANES; k++) {
        loss->squares += squares[k];
        if (largest[k] > loss->largest)
            loss->largest = largest[k];
    }
}

/* Codes of samples x, predicted to be p, and the samples as they will be
 * decoded. What cannot be coded gets the code NO_CODE and the prediction. Gives
 * all folded codes combined by 'or', and adds to the loss. */
BM_CLONES static uint32_t NAME(round_all)(int32_t *restrict code,
                                          REAL *restrict out,
                                          const REAL *restrict x,
                                          const REAL *restrict p, int64_t n,
                                          const struct bm_quantum *quantum)
{
    const REAL step = (REAL)quantum->step, inverse = (REAL)quantum->inverse;
    const REAL bound = (REAL)quantum->bound, limit = (REAL)CODE_LIMIT;
    uint32_t all = 0;

    for (int64_t i = 0; i < n; i++) {
        REAL r = (x[i] - p[i]) * inverse;
        REAL near = ABS(r) < limit ? r : 0; /* 0 for NaN, too */

        code[i] = (int32_t)(near + SIGN((REAL)0.5, near));
    }
    for (int64_t i = 0; i < n; i++) {
        REAL y = p[i] + (REAL)code[i] * step;
        /* Beyond the limit, p is as far off. */
        int32_t good = -(int32_t)(ABS(x[i] - y) <= bound);

        out[i] = y;
        code[i] = (code[i] & good) | (NO_CODE & ~good);
        all |= (uint32_t)code[i] << 1 ^ (uint32_t)(code[i] >> 31);
    }
    return all;
}

static uint32_t NAME(quantise)(int32_t *code, void *decoded,
                               const void *samples, const void *predicted,
                               int64_t n, const struct bm_quantum *quantum,
                               struct bm_loss *loss)
{
    const REAL *x = samples, *p = predicted;
    REAL *out = decoded;
    uint32_t all = NAME(round_all)(code, out, x, p, n, quantum);
    int kept = all >= (uint32_t)NO_CODE;

    NAME(add_loss)(loss, code, x, out, n, kept);
    for (int64_t i = 0; i < n && kept; i++)
        out[i] = code[i] == NO_CODE ? p[i] : out[i];
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

/* How far off the mean of terms is: about 16 times as many as bits are needed.
 * There are three of them, of which the last may not count. */
BM_CLONES static uint64_t NAME(miss)(const void *samples,
                                     const void *const term[3], int terms,
                                     int64_t n, double unit)
{
    const REAL *restrict x = samples, *restrict a = term[0];
    const REAL *restrict b = term[1], *restrict c = term[2];
    const REAL scale = (REAL)unit, most = (REAL)MOST_MAGNITUDE;
    const REAL share = (REAL)1 / (REAL)terms;
    uint32_t sum = 0;

    if (terms == 1)
        for (int64_t i = 0; i < n; i++) {
            REAL t = ABS(x[i] - a[i]) * scale;

            sum += bm_interp_log((float)(t < most ? t : most)); /* NaN: most */
        }
    else if (terms == 2)
        for (int64_t i = 0; i < n; i++) {
            REAL t = ABS(x[i] - (a[i] + b[i]) * share) * scale;

            sum += bm_interp_log((float)(t < most ? t : most));
        }
    else
        for (int64_t i = 0; i < n; i++) {
            REAL t = ABS(x[i] - (a[i] + b[i] + c[i]) * share) * scale;

            sum += bm_interp_log((float)(t < most ? t : most));
        }
    return sum;
}

/* a - b, or a if b is NULL. */
BM_CLONES static void NAME(less)(double *restrict out, const void *first,
                                 const void *second, int64_t n)
{
    const REAL *restrict a = first, *restrict b = second;

    if (b)
        for (int64_t i = 0; i < n; i++)
            out[i] = (double)a[i] - (double)b[i];
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = (double)a[i];
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
    NAME(blend), NAME(blend_both), NAME(bend),     NAME(add_bends),
    NAME(logs),  NAME(add_logs),   NAME(quantise), NAME(rebuild),
    NAME(miss),  NAME(less),       NAME(set_value)};
