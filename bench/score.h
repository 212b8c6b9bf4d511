/* score.h -- results beside their targets: printed at once, kept for a line of
 * JSON. */
#ifndef BENCH_SCORE_H
#define BENCH_SCORE_H

#include <stdio.h>

enum { SCORE_MAX = 320, SCORE_MAX_TIMES = 99 };

enum score_kind { SCORE_TOLD, SCORE_AT_MOST, SCORE_AT_LEAST };

/* Repeated timings of one thing. */
struct times {
    double seconds[SCORE_MAX_TIMES];
    int count;
};
void times_add(struct times *t, double seconds);

/* Print a result, and its target unless it is just told. 'name' is copied. */
void score(const char *name, double value, enum score_kind kind, double limit);

/* The same for the ratio of two medians; that of the shortest times is printed
 * beside it. */
void score_ratio(const char *name, const struct times *numerator,
                 const struct times *denominator, enum score_kind kind,
                 double limit);

/* All of them as a list. */
void score_json(FILE *f);

#endif
