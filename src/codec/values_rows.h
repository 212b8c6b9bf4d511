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

/* In eight parts, so that compilers can take them together. NaN is passed over. */
BM_CLONES static double NAME(largest)(const void *values, size_t n)
{
    const REAL *restrict x = values;
    REAL part[8] = {0}, largest = 0;
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++)
            part[k] = ABS(x[i + k]) > part[k] ? ABS(x[i + k]) : part[k];
    for (; i < n; i++)
        part[0] = ABS(x[i]) > part[0] ? ABS(x[i]) : part[0];
    for (size_t k = 0; k < 8; k++)
        largest = part[k] > largest ? part[k] : largest;
    return (double)largest;
}

/* Squares are summed in eight parts, whatever the machine, so that all get the
 * same sum. An error that is no number is an infinite one. */
BM_CLONES static struct bm_loss NAME(loss)(const void *values,
                                           const void *decoded, size_t n)
{
    const REAL *restrict x = values, *restrict y = decoded;
    double squares[8] = {0}, largest[8] = {0}, wrong[8] = {0};
    struct bm_loss loss = {0, 0};
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++) {
            double a = (double)x[i + k], b = (double)y[i + k];
            double error = a - a == 0 ? __builtin_fabs(a - b) : 0;

            largest[k] = error <= largest[k] ? largest[k] : error;
            squares[k] += error * error;
            wrong[k] += error - error; /* NaN, once there was one */
        }
    for (size_t k = 0; i < n; i++, k++) {
        double a = (double)x[i], b = (double)y[i];
        double error = a - a == 0 ? __builtin_fabs(a - b) : 0;

        largest[k] = error <= largest[k] ? largest[k] : error;
        squares[k] += error * error;
        wrong[k] += error - error;
    }
    for (size_t k = 0; k < 8; k++) {
        if (!(largest[k] <= loss.largest) || wrong[k] != 0)
            loss.largest = wrong[k] != 0 ? __builtin_inf() : largest[k];
        loss.squares += squares[k];
    }
    return loss;
}
