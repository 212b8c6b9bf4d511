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

double ticks_value(const struct ticks *ticks, long i)
{
    return (double)i * ticks->step;
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
