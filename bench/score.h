/* score.h -- figures beside their references and targets: printed at once, and
 * kept for the file of results (README.md has its fields).
 *
 * A program calls score_setting() for what it was started with, score*() for
 * each figure, and score_end() at last, on one rank. That appends a line of
 * JSON to the file $BENCH_RUNS, if there is one: the benchmark, the settings,
 * and of each figure the samples, its reference's samples and the target.
 * results.py computes medians, spreads and ratios from them: nobody else
 * does. */
#ifndef BENCH_SCORE_H
#define BENCH_SCORE_H

enum { SCORE_MAX = 400, SCORE_MAX_TIMES = 200 };

/* Without a target less is better, or more. */
enum score_kind { SCORE_TOLD, SCORE_AT_MOST, SCORE_AT_LEAST, SCORE_TOLD_MORE };

/* Repeated measurements of one thing: seconds, if nothing else is said. */
struct times {
    double seconds[SCORE_MAX_TIMES];
    int count;
};
void times_add(struct times *t, double seconds);
double times_median(const struct times *t);

/* A headline. It is part of the names of the figures that follow, which so need
 * not be told apart from those of other parts; "" ends that. */
void score_part(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print a figure in 'unit', and its target unless it is just told. Texts are
 * copied. */
void score(const char *name, const char *unit, double value,
           enum score_kind kind, double limit);

/* The same for the median of repeated measurements. */
void score_times(const char *name, const char *unit, const struct times *t,
                 enum score_kind kind, double limit);

/* Times beside those of a reference in the same run. What is printed, and has
 * the target, is the ratio of the medians; that of the shortest times stands
 * beside it. */
void score_ratio(const char *name, const struct times *t, const char *reference,
                 const struct times *of_reference, enum score_kind kind,
                 double limit);

/* What this run was started with: figures are compared only with those of the
 * same settings. */
void score_setting(const char *name, double value);
void score_setting_text(const char *name, const char *value);

/* Append all of it to $BENCH_RUNS. 0, or -1 if it cannot be written. */
int score_end(const char *benchmark);

#endif
