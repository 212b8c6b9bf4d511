/* ticks.h -- the numbers at an axis or a colour bar. */
#ifndef TICKS_H
#define TICKS_H

#include "format_text.h"

/* The multiples of 'step' from first * step to last * step. */
struct ticks {
    double step;
    long first, last;
    int digits; /* that tell them apart */
};

/* Round numbers in low <= x <= high (low < high), about 'wanted' of them, no
 * closer than 'least' (0: any distance). */
struct ticks ticks_choose(double low, double high, int wanted, double least);

double ticks_value(const struct ticks *ticks, long i);
/* Its text, in 'out' of FORMAT_BYTES bytes. */
const char *ticks_text(char *out, const struct ticks *ticks, long i);

/* Pixels of the widest text. */
int ticks_width(const struct ticks *ticks, int scale);

#endif
