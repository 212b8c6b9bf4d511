/* score.c -- see score.h. */
#include "score.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

enum { NAME_BYTES = 120, SETTINGS_BYTES = 1024 };

struct figure {
    char part[NAME_BYTES], name[NAME_BYTES], unit[32], reference[NAME_BYTES];
    struct times times, of_reference;
    enum score_kind kind;
    double limit;
};

static struct figure figures[SCORE_MAX];
static int figure_count;
static char part[NAME_BYTES];
static char settings[SETTINGS_BYTES]; /* members of a JSON object */

void times_add(struct times *t, double seconds)
{
    if (t->count < SCORE_MAX_TIMES)
        t->seconds[t->count++] = seconds;
}

double times_median(const struct times *t)
{
    return measure_median(t->seconds, t->count);
}

static double times_shortest(const struct times *t)
{
    return measure_quantile(t->seconds, t->count, 0);
}

/* ---- printing ----------------------------------------------------------- */

void score_part(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(part, sizeof(part), format, list);
    va_end(list);
    if (part[0])
        printf("%s\n", part);
}

static void print(const struct figure *f)
{
    int alone = !f->reference[0];
    double value = times_median(&f->times);

    if (!alone)
        value /= times_median(&f->of_reference);
    printf("  %-64s %10.4g", f->name, value);
    if (alone)
        printf(" %9s", f->unit);
    else
        printf(" %9.4g",
               times_shortest(&f->times) / times_shortest(&f->of_reference));
    if (f->kind == SCORE_AT_LEAST)
        printf("   >= %g %s", f->limit, value >= f->limit ? "met" : "MISSED");
    if (f->kind == SCORE_AT_MOST)
        printf("   <= %g %s", f->limit, value <= f->limit ? "met" : "MISSED");
    printf("\n");
    fflush(stdout);
}

static void add(const struct figure *f)
{
    print(f);
    if (figure_count == SCORE_MAX) {
        fprintf(stderr, "score.c: more than %d figures\n", SCORE_MAX);
        exit(EXIT_FAILURE);
    }
    figures[figure_count++] = *f;
}

/* ---- figures ------------------------------------------------------------ */

void score_times(const char *name, const char *unit, const struct times *t,
                 enum score_kind kind, double limit)
{
    struct figure f = {.times = *t, .kind = kind, .limit = limit};

    snprintf(f.part, sizeof(f.part), "%s", part);
    snprintf(f.name, sizeof(f.name), "%s", name);
    snprintf(f.unit, sizeof(f.unit), "%s", unit);
    add(&f);
}

void score(const char *name, const char *unit, double value,
           enum score_kind kind, double limit)
{
    struct times one = {.count = 0};

    times_add(&one, value);
    score_times(name, unit, &one, kind, limit);
}

void score_ratio(const char *name, const struct times *t, const char *reference,
                 const struct times *of_reference, enum score_kind kind,
                 double limit)
{
    struct figure f = {.times = *t,
                       .of_reference = *of_reference,
                       .unit = "s",
                       .kind = kind,
                       .limit = limit};

    snprintf(f.part, sizeof(f.part), "%s", part);
    snprintf(f.name, sizeof(f.name), "%s", name);
    snprintf(f.reference, sizeof(f.reference), "%s", reference);
    add(&f);
}

/* ---- settings ----------------------------------------------------------- */

static void append_setting(const char *name, const char *value)
{
    size_t used = strlen(settings);

    snprintf(settings + used, sizeof(settings) - used, "%s\"%s\": %s",
             used ? ", " : "", name, value);
}

void score_setting(const char *name, double value)
{
    char text[32];

    snprintf(text, sizeof(text), "%.9g", value);
    append_setting(name, text);
}

void score_setting_text(const char *name, const char *value)
{
    char text[256];

    snprintf(text, sizeof(text), "\"%s\"", value);
    append_setting(name, text);
}

/* ---- the line of JSON --------------------------------------------------- */

static void write_text(FILE *f, const char *name, const char *text)
{
    fprintf(f, "\"%s\": \"", name);
    for (; *text; text++)
        fprintf(f, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fprintf(f, "\", ");
}

/* What is no number cannot stand in JSON: null. */
static void write_samples(FILE *f, const struct times *t)
{
    fprintf(f, "\"samples\": [");
    for (int i = 0; i < t->count; i++) {
        fprintf(f, i ? ", " : "");
        fprintf(f, isfinite(t->seconds[i]) ? "%.9g" : "null", t->seconds[i]);
    }
    fprintf(f, "]");
}

static void write_figure(FILE *f, const struct figure *g)
{
    int more = g->kind == SCORE_AT_LEAST || g->kind == SCORE_TOLD_MORE;

    fprintf(f, "{");
    write_text(f, "part", g->part);
    write_text(f, "name", g->name);
    write_text(f, "unit", g->unit);
    write_text(f, "better", more ? "more" : "less");
    if (g->kind == SCORE_AT_MOST)
        fprintf(f, "\"target\": {\"at_most\": %.9g}, ", g->limit);
    if (g->kind == SCORE_AT_LEAST)
        fprintf(f, "\"target\": {\"at_least\": %.9g}, ", g->limit);
    if (g->reference[0]) {
        fprintf(f, "\"reference\": {");
        write_text(f, "name", g->reference);
        write_samples(f, &g->of_reference);
        fprintf(f, "}, ");
    }
    write_samples(f, &g->times);
    fprintf(f, "}");
}

int score_end(const char *benchmark)
{
    const char *path = getenv("BENCH_RUNS");
    FILE *f = path ? fopen(path, "a") : NULL;

    if (!path)
        return 0;
    if (!f)
        return -1;
    fprintf(f, "{\"benchmark\": \"%s\", \"settings\": {%s}, \"results\": [",
            benchmark, settings);
    for (int i = 0; i < figure_count; i++) {
        fprintf(f, i ? ", " : "");
        write_figure(f, &figures[i]);
    }
    fprintf(f, "]}\n");
    return fclose(f) ? -1 : 0;
}
