/* wavelet_rows.h -- the inner loops of wavelet.c, which includes this file once
 * for each type of sample, with REAL and NAME as in interp_rows.h. What is
 * decoded must be the same on any machine, so no multiplication may be
 * contracted with an addition: see CMakeLists.txt. */

/* x += wa a + wb b. With a = b nothing is rounded. */
BM_CLONES static void NAME(lift)(void *values, const void *first,
                                 const void *second, int64_t n, double wa,
                                 double wb)
{
    REAL *restrict x = values;
    const REAL *a = first, *b = second;
    const REAL u = (REAL)wa, v = (REAL)wb;

    if (wa == wb)
        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] + u * (a[i] + b[i]);
    else if (wb == 0)
        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] + u * a[i];
    else if (wa == 0)
        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] + v * b[i];
    else
        for (int64_t i = 0; i < n; i++)
            x[i] = x[i] + ((u + v) * a[i] + v * (b[i] - a[i]));
}

/* A row of n samples to its coarse samples and its details. */
BM_CLONES static void NAME(split_row)(void *low, void *high, const void *row,
                                      int64_t n)
{
    REAL *restrict e = low, *restrict o = high;
    const REAL *restrict x = row;
    int64_t odd = n / 2, even = n - odd;

    for (int64_t i = 0; i < odd; i++) {
        e[i] = x[2 * i];
        o[i] = x[2 * i + 1];
    }
    if (even > odd)
        e[odd] = x[2 * odd];
    for (int64_t i = 0; i + 1 < even; i++)
        o[i] = o[i] + (REAL)-0.5 * (e[i] + e[i + 1]);
    if (even == odd && odd > 1)
        o[odd - 1] =
            o[odd - 1] + (-e[odd - 1] + (REAL)0.5 * (e[odd - 2] - e[odd - 1]));
    else if (even == odd && odd == 1)
        o[0] = o[0] - e[0];
    if (odd)
        e[0] = e[0] + (REAL)0.25 * o[0];
    for (int64_t i = 1; i < odd; i++)
        e[i] = e[i] + (REAL)0.25 * (o[i - 1] + o[i]);
    if (even > odd && odd)
        e[odd] = e[odd] + (REAL)0.25 * o[odd - 1];
}

/* And back. */
BM_CLONES static void NAME(merge_row)(void *row, const void *low,
                                      const void *high, int64_t n)
{
    REAL *restrict x = row;
    const REAL *restrict e = low, *restrict o = high;
    int64_t odd = n / 2, even = n - odd;

    if (!odd) {
        x[0] = e[0];
        return;
    }
    x[0] = e[0] + (REAL)-0.25 * o[0];
    for (int64_t i = 1; i < odd; i++)
        x[2 * i] = e[i] + (REAL)-0.25 * (o[i - 1] + o[i]);
    if (even > odd)
        x[2 * odd] = e[odd] + (REAL)-0.25 * o[odd - 1];
    for (int64_t i = 0; i + 1 < even; i++)
        x[2 * i + 1] = o[i] + (REAL)0.5 * (x[2 * i] + x[2 * i + 2]);
    if (even == odd && odd > 1)
        x[n - 1] = o[odd - 1] + (x[n - 2] + (REAL)-0.5 * (x[n - 4] - x[n - 2]));
    else if (even == odd)
        x[1] = o[0] + x[0];
}

static const struct kernels NAME(kernels) = {NAME(lift), NAME(split_row),
                                             NAME(merge_row)};
