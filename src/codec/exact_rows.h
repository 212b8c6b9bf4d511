/* exact_rows.h -- the inner loops of exact_views.c, which includes this file
 * once for each type of view, with
 *
 *     REAL, NAME(x), ABS  as in interp_rows.h
 *     WORD, SIGNED        integers of its size
 *     BITS, FRACTION      bits of a number; those of its fraction
 *     DIRECT, HALVES      symbols: see codec_exact.c
 *
 * Adding MAGIC to a whole number up to LIMIT makes its last bits those of the
 * number, as no bit below 1 is left; it rounds others. */
#define LIMIT ((REAL)((WORD)1 << (FRACTION - 1)))
#define MAGIC ((REAL)((WORD)3 << (FRACTION - 1)))
#define TOP   ((WORD)1 << (BITS - 1))

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

static inline int32_t NAME(log_of_bits)(WORD w)
{
    return (int32_t)((WORD)(w << 1) >> (FRACTION - 1));
}

static int NAME(log_of)(double x)
{
    return NAME(log_of_bits)(NAME(bits_of)((REAL)x));
}

static inline uint8_t NAME(above)(int32_t log, int base)
{
    log -= base;
    log = log > 0 ? log : 0;
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

/* Of the logarithm of a number, that of its last bit. */
static inline int32_t NAME(unit)(WORD w)
{
    return (NAME(log_of_bits)(w) & ~3) - 4 * FRACTION;
}

BM_CLONES static void NAME(units)(int16_t *restrict out, const void *predicted,
                                  int64_t n, int base, int whole)
{
    const WORD *restrict p = predicted;
    int32_t log = NAME(log_of)(1) - base;
    int16_t one = (int16_t)(log > 0 ? log : 0);

    if (whole)
        for (int64_t i = 0; i < n; i++)
            out[i] = one;
    else
        for (int64_t i = 0; i < n; i++) {
            int32_t unit = NAME(unit)(p[i]) - base;

            out[i] = (int16_t)(unit > 0 ? unit : 0);
        }
}

BM_CLONES static void NAME(logs)(uint16_t *restrict out, const void *row,
                                 int64_t n, int base)
{
    const WORD *restrict a = row;

    for (int64_t i = 0; i < n; i++)
        out[i] = (uint16_t)(2 * NAME(above)(NAME(log_of_bits)(a[i]), base));
}

BM_CLONES static void NAME(add_logs)(uint16_t *restrict out, const void *first,
                                     const void *second, int64_t n, int base)
{
    const REAL *restrict a = first, *restrict b = second;

    for (int64_t i = 0; i < n; i++) {
        WORD w = NAME(bits_of)((ABS(a[i]) + ABS(b[i])) * (REAL)0.5);

        out[i] =
            (uint16_t)(out[i] + NAME(above)(NAME(log_of_bits)(w), base));
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

/* A magnitude is at least half of a unit. */
static inline uint8_t NAME(magnitude)(REAL x, REAL p, int32_t unit, int base)
{
    int32_t log = NAME(log_of_bits)(NAME(bits_of)(x - p));

    log = log > unit - 4 ? log : unit - 4;
    return NAME(above)(log, base);
}

BM_CLONES static void NAME(code)(void *folded, uint8_t *restrict magnitudes,
                                 const void *views, const void *predicted,
                                 int64_t n, int base, int whole)
{
    const REAL *restrict x = views, *restrict p = predicted;
    WORD *restrict f = folded;
    int32_t one = NAME(log_of)(1);

    if (whole)
        for (int64_t i = 0; i < n; i++) {
            f[i] = NAME(fold)(NAME(bits_of)(x[i] + MAGIC) -
                              NAME(bits_of)(p[i] + MAGIC));
            magnitudes[i] = NAME(magnitude)(x[i], p[i], one, base);
        }
    else
        for (int64_t i = 0; i < n; i++) {
            WORD a = NAME(bits_of)(x[i]), b = NAME(bits_of)(p[i]);

            f[i] = NAME(fold)(NAME(ordered)(a) - NAME(ordered)(b));
            magnitudes[i] = NAME(magnitude)(x[i], p[i], NAME(unit)(b), base);
        }
}

BM_CLONES static void NAME(rebuild)(void *views, uint8_t *restrict magnitudes,
                                    const void *folded, const void *predicted,
                                    int64_t n, int base, int whole)
{
    const WORD *restrict f = folded;
    const REAL *restrict p = predicted;
    REAL *restrict x = views;
    int32_t one = NAME(log_of)(1);

    if (whole)
        for (int64_t i = 0; i < n; i++) {
            x[i] = NAME(real_of)(NAME(bits_of)(p[i] + MAGIC) +
                                 NAME(unfold)(f[i])) -
                   MAGIC;
            magnitudes[i] = NAME(magnitude)(x[i], p[i], one, base);
        }
    else
        for (int64_t i = 0; i < n; i++) {
            WORD b = NAME(bits_of)(p[i]);

            x[i] = NAME(real_of)(NAME(unordered)(NAME(ordered)(b) +
                                                 NAME(unfold)(f[i])));
            magnitudes[i] = NAME(magnitude)(x[i], p[i], NAME(unit)(b), base);
        }
}

static void NAME(put)(uint8_t *symbols, struct bm_exact_writer *bits,
                      const void *folded, int64_t n)
{
    const WORD *f = folded;
    struct bm_exact_writer w = *bits;

    for (int64_t i = 0; i < n; i++) {
        int h, rest;

        if (f[i] < DIRECT) {
            symbols[i] = (uint8_t)f[i];
            continue;
        }
        h = 63 - __builtin_clzll(f[i]);
        rest = h - HALVES;
        symbols[i] = (uint8_t)(DIRECT + ((h - DIRECT_BITS) << HALVES) +
                               (int)(f[i] >> rest & HALVES));
        put_bits(&w, f[i] & (((WORD)1 << rest) - 1), rest);
    }
    *bits = w;
}

static void NAME(get)(void *folded, struct bm_exact_reader *bits,
                      const uint8_t *symbols, int64_t n)
{
    WORD *f = folded;
    struct bm_exact_reader r = *bits;
    int near_end = r.at / 8 + 8 * (uint64_t)n + 16 > r.bytes;

    for (int64_t i = 0; i < n; i++) {
        int s = symbols[i] - DIRECT, h, rest;

        if (s < 0 || s > MOST) { /* the latter for BM_ESCAPE, or damage */
            f[i] = s < 0 ? symbols[i] : 0;
            continue;
        }
        h = DIRECT_BITS + (s >> HALVES);
        rest = h - HALVES;
        f[i] = ((WORD)((1 << HALVES) + (s & HALVES)) << rest) |
               (WORD)(near_end ? get_last_bits(&r, rest) : get_bits(&r, rest));
    }
    *bits = r;
}

BM_CLONES static int NAME(are_whole)(const void *views, size_t n)
{
    const REAL *restrict x = views;
    int32_t wrong = 0;

    for (size_t i = 0; i < n; i++)
        wrong |= !(ABS(x[i]) <= LIMIT && (x[i] + MAGIC) - MAGIC == x[i]);
    return !wrong;
}

const struct bm_exact_kernels NAME(bm_exact) = {
    .interp = &NAME(bm_interp),
    .type = BOUMA_TYPE,
    .size = sizeof(REAL),
    .limit = (double)((uint64_t)1 << (FRACTION - 1)),
    .log_of = NAME(log_of),
    .settle = NAME(settle),
    .units = NAME(units),
    .logs = NAME(logs),
    .add_logs = NAME(add_logs),
    .code = NAME(code),
    .rebuild = NAME(rebuild),
    .put = NAME(put),
    .get = NAME(get),
    .are_whole = NAME(are_whole)};

#undef LIMIT
#undef MAGIC
#undef TOP
