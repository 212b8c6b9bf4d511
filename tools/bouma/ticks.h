/* ticks.h -- the numbers at an axis or a colour bar. */
#ifndef TICKS_H
#define TICKS_H

#include "format_text.h"

/* The multiples of 'step' from first * step to last * step; or the powers
 * 'base' ^ (i * step); or, with a step of 0, 1, 2, 5, 10, 20, ... of which
 * number 0 is 1. */
struct ticks {
    int base; /* 0: multiples */
    double step;
    long first, last;
    int digits; /* that tell them apart */
};

/* Round numbers in low <= x <= high (low < high), about 'wanted' of them, no
 * closer than 'least' (0: any distance). */
struct ticks ticks_choose(double low, double high, int wanted, double least);

/* The same for a logarithmic axis, 0 < low: powers of 'base' (2 or 10), or
 * where these are few, numbers between. */
struct ticks ticks_choose_powers(double low, double high, int base, int wanted);

double ticks_value(const struct ticks *ticks, long i);
/* Its text, in 'out' of FORMAT_BYTES bytes. */
const char *ticks_text(char *out, const struct ticks *ticks, long i);

/* Pixels of the widest text. */
int ticks_width(const struct ticks *ticks, int scale);

#endif
