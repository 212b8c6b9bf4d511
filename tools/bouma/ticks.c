/* ticks.c -- the numbers at an axis or a colour bar. */
#include "ticks.h"

#include <math.h>
#include <stdio.h>

#include "canvas.h"

/* The smallest of 1, 2, 5, 10, 20, ... that is not below x, of any power. */
static double round_step(double x)
{
    double power = pow(10, floor(log10(x)));
    double part = x / power;

    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

struct ticks ticks_choose(double low, double high, int wanted, double least)
{
    double largest = fmax(fabs(low), fabs(high));
    struct ticks ticks = {.step = round_step((high - low) / wanted)};

    if (ticks.step < least)
        ticks.step = round_step(least);
    /* Ends that are round but for the last bits are ticks, too. */
    ticks.first = (long)ceil(low / ticks.step - 1e-6);
    ticks.last = (long)floor(high / ticks.step + 1e-6);
    ticks.digits = 1 + (int)ceil(log10(largest / ticks.step));
    if (ticks.digits < 6)
        ticks.digits = 6;
    if (ticks.digits > 15)
        ticks.digits = 15;
    return ticks;
}

/* Those of 1, 2, 5, 10, 20, ... */
static double number_125(long i)
{
    static const double part[3] = {1, 2, 5};
    long power = (long)floor((double)i / 3);

    return pow(10, (double)power) * part[i - 3 * power];
}

static struct ticks choose_125(double low, double high)
{
    struct ticks ticks = {.base = 10, .digits = 6};

    ticks.first = 3 * (long)floor(log10(low));
    ticks.last = 3 * (long)ceil(log10(high));
    while (number_125(ticks.first) < low * (1 - 1e-6))
        ticks.first++;
    while (number_125(ticks.last) > high * (1 + 1e-6))
        ticks.last--;
    return ticks;
}

struct ticks ticks_choose_powers(double low, double high, int base, int wanted)
{
    double first = log(low) / log(base), last = log(high) / log(base);
    struct ticks ticks = {
        .base = base, .step = 1, .digits = base == 2 ? 15 : 6};

    if (last - first > wanted)
        ticks.step = ceil((last - first) / wanted);
    ticks.first = (long)ceil(first / ticks.step - 1e-6);
    ticks.last = (long)floor(last / ticks.step + 1e-6);
    if (base == 10 && ticks.last - ticks.first < 2)
        ticks = choose_125(low, high);
    if (ticks.last - ticks.first < 1)
        ticks = ticks_choose(low, high, wanted, 0);
    return ticks;
}

double ticks_value(const struct ticks *ticks, long i)
{
    if (!ticks->base)
        return (double)i * ticks->step;
    return ticks->step > 0 ? pow(ticks->base, (double)i * ticks->step)
                           : number_125(i);
}

const char *ticks_text(char *out, const struct ticks *ticks, long i)
{
    snprintf(out, FORMAT_BYTES, "%.*g", ticks->digits, ticks_value(ticks, i));
    return out;
}

int ticks_width(const struct ticks *ticks, int scale)
{
    char text[FORMAT_BYTES];
    int widest = 0;

    for (long i = ticks->first; i <= ticks->last; i++) {
        int width = text_width(ticks_text(text, ticks, i), scale);

        widest = width > widest ? width : widest;
    }
    return widest;
}
