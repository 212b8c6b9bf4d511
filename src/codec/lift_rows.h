/* lift_rows.h -- the inner loops of lift.c, which includes this file once for
 * each kind of words: with NAME; WORD and UWORD, which have BITS bits; MEAN(a,
 * b) and BEYOND(a, b), what is predicted between a and b, and behind b and a;
 * and LARGEST, the largest detail that counts for an average, 0 if there are no
 * averages. */

/* A difference, with its sign in the lowest bit; and back. */
static inline UWORD NAME(fold)(UWORD difference)
{
    UWORD sign = (UWORD)(0 - (difference >> (BITS - 1)));

    return (UWORD)((UWORD)(difference << 1) ^ sign);
}

static inline UWORD NAME(unfold)(UWORD folded)
{
    return (UWORD)((folded >> 1) ^ (UWORD)(0 - (folded & 1)));
}

/* The prediction of an odd word, number i of n. */
static inline WORD NAME(predict)(const WORD *odd, int64_t i, int64_t n,
                                 int64_t step)
{
    return i + 1 < n ? MEAN(odd[-step], odd[step])
           : i >= 3  ? BEYOND(odd[-step], odd[-3 * step])
                     : odd[-step];
}

/* What a detail counts for an average. */
static inline int64_t NAME(weight)(WORD detail)
{
    int64_t d = (WORD)NAME(unfold)((UWORD)detail);

    return d > LARGEST ? LARGEST : d < -LARGEST ? -LARGEST : d;
}

/* What an even word, number i of n, is moved by. */
static inline UWORD NAME(shift)(const WORD *even, int64_t i, int64_t n,
                                int64_t step)
{
    int64_t sum = 2;

    sum += i > 0 ? NAME(weight)(even[-step]) : 0;
    sum += i + 1 < n ? NAME(weight)(even[step]) : 0;
    return (UWORD)(sum >> 2);
}

/* 'n' words, 'step' apart, of 'm' lines, 'across' apart. */
static void NAME(forward)(void *words, int64_t n, int64_t step, int64_t m,
                          int64_t across)
{
    WORD *x = words;

    for (int64_t i = 1; i < n; i += 2)
        for (int64_t j = 0; j < m; j++) {
            WORD *odd = x + i * step + j * across;
            UWORD p = (UWORD)NAME(predict)(odd, i, n, step);

            *odd = (WORD)NAME(fold)((UWORD)((UWORD)*odd - p));
        }
    for (int64_t i = 0; i < n && LARGEST > 0; i += 2)
        for (int64_t j = 0; j < m; j++) {
            WORD *even = x + i * step + j * across;

            *even = (WORD)(UWORD)((UWORD)*even + NAME(shift)(even, i, n, step));
        }
}

static void NAME(inverse)(void *words, int64_t n, int64_t step, int64_t m,
                          int64_t across)
{
    WORD *x = words;

    for (int64_t i = 0; i < n && LARGEST > 0; i += 2)
        for (int64_t j = 0; j < m; j++) {
            WORD *even = x + i * step + j * across;

            *even = (WORD)(UWORD)((UWORD)*even - NAME(shift)(even, i, n, step));
        }
    for (int64_t i = 1; i < n; i += 2)
        for (int64_t j = 0; j < m; j++) {
            WORD *odd = x + i * step + j * across;
            UWORD p = (UWORD)NAME(predict)(odd, i, n, step);

            *odd = (WORD)(UWORD)(NAME(unfold)((UWORD)*odd) + p);
        }
}
