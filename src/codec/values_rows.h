/* values_rows.h -- the loops of values.c, which includes this file once for
 * each type of sample, with REAL, NAME and ABS as in interp_rows.h. */

BM_CLONES static int NAME(finite)(const void *values, size_t n)
{
    const REAL *x = values;
    REAL sum = 0;

#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i] - x[i];
    return sum == 0;
}

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

BM_CLONES static double NAME(largest)(const void *values, size_t n)
{
    const REAL *x = values;
    REAL largest = 0;

#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < n; i++) {
        REAL magnitude = ABS(x[i]);

        largest = magnitude > largest ? magnitude : largest;
    }
    return (double)largest;
}

BM_CLONES static struct bm_loss NAME(loss)(const void *values,
                                           const void *decoded, size_t n)
{
    const REAL *restrict x = values, *restrict y = decoded;
    struct bm_loss loss;
    REAL largest = 0;
    double squares = 0;

#pragma omp simd reduction(+ : squares) reduction(max : largest)
    for (size_t i = 0; i < n; i++) {
        REAL error = x[i] - x[i] == 0 ? ABS(x[i] - y[i]) : 0;

        largest = error > largest ? error : largest;
        squares += (double)error * (double)error;
    }
    loss.largest = (double)largest;
    loss.squares = squares;
    return loss;
}
