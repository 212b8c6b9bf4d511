/* score.c -- see score.h. */
#include "score.h"

#include <math.h>
#include <string.h>

#include "measure.h"

struct result {
    char name[100];
    double value, shortest, limit;
    enum score_kind kind;
};

static struct result results[SCORE_MAX];
static int result_count;

void times_add(struct times *t, double seconds)
{
    if (t->count < SCORE_MAX_TIMES)
        t->seconds[t->count++] = seconds;
}

static int is_met(const struct result *r)
{
    return r->kind == SCORE_AT_LEAST ? r->value >= r->limit
                                     : r->value <= r->limit;
}

static void add(const char *name, double value, double shortest,
                enum score_kind kind, double limit)
{
    struct result r = {
        .value = value, .shortest = shortest, .limit = limit, .kind = kind};

    snprintf(r.name, sizeof(r.name), "%s", name);
    printf("  %-64s %10.4g", r.name, value);
    if (isnan(shortest))
        printf(" %9s", "");
    else
        printf(" %9.4g", shortest);
    if (kind != SCORE_TOLD)
        printf("   %s %g %s", kind == SCORE_AT_LEAST ? ">=" : "<=", limit,
               is_met(&r) ? "met" : "MISSED");
    printf("\n");
    fflush(stdout);
    if (result_count < SCORE_MAX)
        results[result_count++] = r;
}

void score(const char *name, double value, enum score_kind kind, double limit)
{
    add(name, value, (double)NAN, kind, limit);
}

void score_ratio(const char *name, const struct times *numerator,
                 const struct times *denominator, enum score_kind kind,
                 double limit)
{
    add(name,
        measure_median(numerator->seconds, numerator->count) /
            measure_median(denominator->seconds, denominator->count),
        measure_quantile(numerator->seconds, numerator->count, 0) /
            measure_quantile(denominator->seconds, denominator->count, 0),
        kind, limit);
}

void score_json(FILE *f)
{
    fprintf(f, "\"results\": [");
    for (int i = 0; i < result_count; i++) {
        const struct result *r = &results[i];

        fprintf(f, "%s{\"name\": \"%s\", \"value\": ", i ? ", " : "", r->name);
        fprintf(f, isfinite(r->value) ? "%.6g" : "null", r->value);
        if (!isnan(r->shortest))
            fprintf(f, ", \"of_shortest\": %.6g", r->shortest);
        if (r->kind != SCORE_TOLD)
            fprintf(f, ", \"%s\": %g, \"met\": %s",
                    r->kind == SCORE_AT_LEAST ? "at_least" : "at_most",
                    r->limit, is_met(r) ? "true" : "false");
        fprintf(f, "}");
    }
    fprintf(f, "]");
}
