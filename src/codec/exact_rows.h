/* exact_rows.h -- the inner loops of exact_views.c, which includes this file
 * once for each type of view, with
 *
 *     REAL, NAME(x), ABS  as in interp_rows.h
 *     WORD, SIGNED        integers of its size
 *     BITS, FRACTION      bits of a number; those of its fraction
 *
 * Adding MAGIC to a whole number up to LIMIT makes its last bits those of the
 * number, as no bit below 1 is left; it rounds others. */
#define LIMIT ((REAL)((WORD)1 << (FRACTION - 1)))
#define MAGIC ((REAL)((WORD)3 << (FRACTION - 1)))
#define LARGEST                                                                \
    (whole ? LIMIT : NAME(real_of)(NAME(bits_of)((REAL)__builtin_inf()) - 1))
#define TOP ((WORD)1 << (BITS - 1))

static inline WORD NAME(bits_of)(REAL x)
{
    WORD w;

    memcpy(&w, &x, sizeof(w));
    return w;
}

static inline REAL NAME(real_of)(WORD w)
{
    REAL x;

    memcpy(&x, &w, sizeof(x));
    return x;
}

/* All bits but the sign of a negative number are turned, and the sign of all:
 * words are in the order of numbers. */
static inline WORD NAME(ordered)(WORD w)
{
    return w ^ ((WORD)(0 - (w >> (BITS - 1))) | TOP);
}

static inline WORD NAME(unordered)(WORD w)
{
    return w ^ ((WORD)((w >> (BITS - 1)) - 1) | TOP);
}

/* The word of a number: a whole one, or another of which the last bits, 'drop' of
 * them, are all 0. */
static inline WORD NAME(word_of)(REAL x, const int whole, int drop)
{
    return whole ? NAME(bits_of)(x + MAGIC)
                 : NAME(ordered)(NAME(bits_of)(x)) >> drop;
}

/* 4 log2(1 + |d|), roughly, up to 255: the bits of a number tell. */
static inline uint8_t NAME(log)(WORD d)
{
    SIGNED v = (SIGNED)d < 0 ? (SIGNED)~d : (SIGNED)d;
    WORD log = (NAME(bits_of)((REAL)v + 1) >> (FRACTION - 2)) -
               ((WORD)(((WORD)1 << (BITS - FRACTION - 2)) - 1) << 2);

    return (uint8_t)(log < 255 ? log : 255);
}

BM_CLONES static void NAME(settle)(void *predicted, int64_t n, int whole)
{
    REAL *p = predicted;

    if (whole)
        for (int64_t i = 0; i < n; i++) {
            REAL x = p[i] < LIMIT ? p[i] : LIMIT; /* NaN, too */

            x = x > -LIMIT ? x : -LIMIT;
            p[i] = (x + MAGIC) - MAGIC;
        }
    else
        for (int64_t i = 0; i < n; i++)
            p[i] = p[i] - p[i] == 0 ? p[i] : 0;
}

BM_CLONES static void NAME(mend)(void *out, const void *predicted,
                                 const void *const missed[2],
                                 const double weight[2], int64_t n)
{
    const REAL *restrict p = predicted;
    const REAL *restrict a = missed[0], *restrict b = missed[1];
    const REAL u = (REAL)weight[0], v = (REAL)weight[1];
    REAL *restrict x = out;

    for (int64_t i = 0; i < n; i++)
        x[i] = p[i] + (u * a[i] + v * b[i]);
}

BM_CLONES static void NAME(miss)(void *out, const void *views,
                                 const void *predicted, int64_t n)
{
    const REAL *restrict x = views, *restrict p = predicted;
    REAL *restrict m = out;

    for (int64_t i = 0; i < n; i++)
        m[i] = x[i] - p[i];
}

/* How far words are from those of a sum; a sum may be no number. */
static inline uint8_t NAME(log_of_sum)(REAL p, REAL a, const int whole,
                                       int drop)
{
    REAL sum = p + a;

    sum = sum < LARGEST ? sum : LARGEST; /* NaN, too */
    sum = sum > -LARGEST ? sum : -LARGEST;
    return NAME(log)(NAME(word_of)(sum, whole, drop) -
                     NAME(word_of)(p, whole, drop));
}

BM_CLONES static void NAME(logs)(uint16_t *restrict out, const void *predicted,
                                 const void *row, int64_t n, int whole,
                                 int drop)
{
    const REAL *restrict p = predicted, *restrict a = row;

    if (whole)
        for (int64_t i = 0; i < n; i++)
            out[i] = (uint16_t)(2 * NAME(log_of_sum)(p[i], a[i], 1, 0));
    else
        for (int64_t i = 0; i < n; i++)
            out[i] = (uint16_t)(2 * NAME(log_of_sum)(p[i], a[i], 0, drop));
}

BM_CLONES static void NAME(add_logs)(uint16_t *restrict out,
                                     const void *predicted, const void *first,
                                     const void *second, int64_t n, int whole,
                                     int drop)
{
    const REAL *restrict p = predicted;
    const REAL *restrict a = first, *restrict b = second;

    for (int64_t i = 0; i < n; i++) {
        REAL mean = (ABS(a[i]) + ABS(b[i])) * (REAL)0.5;

        out[i] = (uint16_t)(out[i] +
                            (whole ? NAME(log_of_sum)(p[i], mean, 1, 0)
                                   : NAME(log_of_sum)(p[i], mean, 0, drop)));
    }
}

static inline WORD NAME(fold)(WORD d)
{
    return (WORD)(d << 1) ^ (WORD)(0 - (d >> (BITS - 1)));
}

static inline WORD NAME(unfold)(WORD f)
{
    return (f >> 1) ^ (WORD)(0 - (f & 1));
}

/* Of words, which are of whole numbers or of others. */
static inline void NAME(code_as)(WORD *restrict f, uint8_t *restrict magnitudes,
                                 const REAL *restrict x, const REAL *restrict p,
                                 int64_t n, const int whole, int drop)
{
    for (int64_t i = 0; i < n; i++) {
        WORD d =
            NAME(word_of)(x[i], whole, drop) - NAME(word_of)(p[i], whole, drop);

        f[i] = NAME(fold)(d);
        magnitudes[i] = NAME(log)(d);
    }
}

BM_CLONES static void NAME(code)(void *folded, uint8_t *magnitudes,
                                 const void *views, const void *predicted,
                                 int64_t n, int whole, int drop)
{
    if (whole)
        NAME(code_as)(folded, magnitudes, views, predicted, n, 1, 0);
    else
        NAME(code_as)(folded, magnitudes, views, predicted, n, 0, drop);
}

static inline void NAME(rebuild_as)(REAL *restrict x,
                                    uint8_t *restrict magnitudes,
                                    const WORD *restrict f,
                                    const REAL *restrict p, int64_t n,
                                    const int whole, int drop)
{
    for (int64_t i = 0; i < n; i++) {
        WORD d = NAME(unfold)(f[i]), w = NAME(word_of)(p[i], whole, drop) + d;
        WORD high = w << drop;

        x[i] = whole ? NAME(real_of)(w) - MAGIC
                     : NAME(real_of)(NAME(unordered)(high) >> drop << drop);
        magnitudes[i] = NAME(log)(d);
    }
}

BM_CLONES static void NAME(rebuild)(void *views, uint8_t *magnitudes,
                                    const void *folded, const void *predicted,
                                    int64_t n, int whole, int drop)
{
    if (whole)
        NAME(rebuild_as)(views, magnitudes, folded, predicted, n, 1, 0);
    else
        NAME(rebuild_as)(views, magnitudes, folded, predicted, n, 0, drop);
}

BM_CLONES static int NAME(are_whole)(const void *views, size_t n)
{
    const REAL *restrict x = views;
    int32_t wrong = 0;

    for (size_t i = 0; i < n; i++)
        wrong |= !(ABS(x[i]) <= LIMIT && (x[i] + MAGIC) - MAGIC == x[i]);
    return !wrong;
}

/* As a whole number, -0 has no word of its own. */
static int NAME(is_kept)(const void *views, size_t i, int whole)
{
    REAL x = ((const REAL *)views)[i];

    return whole ? NAME(bits_of)(x) == TOP : !(x - x == 0);
}

BM_CLONES static int NAME(any_kept)(const void *views, size_t n, int whole)
{
    const WORD *restrict w = views;
    WORD last = NAME(bits_of)((REAL)__builtin_inf());
    int32_t any = 0;

    if (whole)
        for (size_t i = 0; i < n; i++)
            any |= w[i] == TOP;
    else
        for (size_t i = 0; i < n; i++)
            any |= (w[i] & ~TOP) >= last;
    return any;
}

BM_CLONES static int NAME(unused_bits)(const void *views, size_t n)
{
    const WORD *restrict w = views;
    WORD all = TOP;

    for (size_t i = 0; i < n; i++)
        all |= w[i];
    return __builtin_ctzll(all) < FRACTION ? __builtin_ctzll(all) : FRACTION;
}

const struct bm_exact_kernels NAME(bm_exact) = {
    .interp = &NAME(bm_interp),
    .type = BOUMA_TYPE,
    .size = sizeof(REAL),
    .fraction = FRACTION,
    .limit = (double)((uint64_t)1 << (FRACTION - 1)),
    .settle = NAME(settle),
    .mend = NAME(mend),
    .miss = NAME(miss),
    .logs = NAME(logs),
    .add_logs = NAME(add_logs),
    .code = NAME(code),
    .rebuild = NAME(rebuild),
    .put = NAME(bm_exact_put),
    .get = NAME(bm_exact_get),
    .are_whole = NAME(are_whole),
    .is_kept = NAME(is_kept),
    .any_kept = NAME(any_kept),
    .unused_bits = NAME(unused_bits)};

#undef LIMIT
#undef MAGIC
#undef TOP
#undef LARGEST
