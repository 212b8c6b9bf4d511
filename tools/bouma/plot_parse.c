/* plot_parse.c -- the file of `bouma plot`; plot_data.h describes it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot_data.h"
#include "print_json.h"

/* Numbers stay where sums and ratios of them are numbers. */
#define MOST  1e100
#define LEAST 1e-100

struct message {
    char *text;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static bool
refuse(const struct message *m, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (m->room)
        vsnprintf(m->text, m->room, format, args);
    va_end(args);
    return false;
}

/* The text of a key; "" without it. */
static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static bool is_short(const char *text)
{
    return strlen(text) <= PLOT_MOST_TEXT;
}

static bool fits(double value, enum axis_scale scale)
{
    double size = scale == AXIS_LINEAR ? fabs(value) : value;

    if (scale == AXIS_LINEAR && !value)
        return true;
    return size >= LEAST && size <= MOST;
}

/* ---- axes ---------------------------------------------------------------- */

static bool parse_scale(enum axis_scale *out, const char *text)
{
    static const char *const names[] = {"linear", "log", "log2"};

    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) {
            *out = (enum axis_scale)i;
            return true;
        }
    return !*text;
}

static bool parse_end(double *out, const json_t *axis, const char *key,
                      enum axis_scale scale)
{
    const json_t *value = json_object_get(axis, key);

    if (!value)
        return true;
    *out = json_number_value(value);
    return json_is_number(value) && fits(*out, scale);
}

static bool parse_axis(struct plot_axis *out, const json_t *root,
                       const char *name, const struct message *m)
{
    const json_t *axis = json_object_get(root, name);

    if (axis && !json_is_object(axis))
        return refuse(m, "\"%s\" is no object", name);
    if (!parse_scale(&out->scale, text_of(axis, "scale")))
        return refuse(m, "\"scale\" of \"%s\" is not linear, log or log2",
                      name);
    if (!parse_end(&out->low, axis, "low", out->scale) ||
        !parse_end(&out->high, axis, "high", out->scale) ||
        out->low >= out->high)
        return refuse(m, "\"low\" and \"high\" of \"%s\" are not its ends",
                      name);
    return true;
}

/* ---- series -------------------------------------------------------------- */

/* As many numbers as 'count'; null is none, if there can be none. */
static bool parse_numbers(double *out, const json_t *list, size_t count,
                          enum axis_scale scale, bool gaps)
{
    if (json_array_size(list) != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);

        if (gaps && json_is_null(value))
            continue;
        if (!json_is_number(value) || !fits(json_number_value(value), scale))
            return false;
        out[i] = json_number_value(value);
    }
    return true;
}

/* A list of a series that need not be there. */
static bool parse_ends(double *out, const json_t *one, const char *key,
                       size_t count, enum axis_scale scale)
{
    const json_t *list = json_object_get(one, key);

    return !list || parse_numbers(out, list, count, scale, true);
}

static bool parse_series(struct plot *out, const json_t *one,
                         const struct message *m)
{
    const char *name = text_of(one, "name");
    const json_t *y = json_object_get(one, "y");
    size_t count = json_array_size(y);
    struct plot_series *s;

    if (!*name || !is_short(name))
        return refuse(m, "series %zu has no name of 1 to %d letters",
                      out->count, PLOT_MOST_TEXT);
    if (!count || count > PLOT_MOST_POINTS)
        return refuse(m, "series \"%s\": \"y\" has not 1 to %d numbers", name,
                      PLOT_MOST_POINTS);
    if (out->kind == PLOT_BARS && count != out->label_count)
        return refuse(m, "series \"%s\" has %zu numbers for %zu labels", name,
                      count, out->label_count);
    s = plot_add_series(out, name, count);
    if (!s)
        return refuse(m, "out of memory");
    s->dashed = json_is_true(json_object_get(one, "dashed"));
    if (!parse_numbers(s->y, y, count, out->y.scale, true) ||
        !parse_ends(s->low, one, "low", count, out->y.scale) ||
        !parse_ends(s->high, one, "high", count, out->y.scale))
        return refuse(m,
                      "series \"%s\": \"y\", \"low\" or \"high\" are not as "
                      "many numbers of the axis",
                      name);
    if (out->kind == PLOT_CURVES &&
        !parse_numbers(s->x, json_object_get(one, "x"), count, out->x.scale,
                       false))
        return refuse(m, "series \"%s\": \"x\" are not %zu numbers of the axis",
                      name, count);
    return true;
}

static bool parse_labels(struct plot *out, const json_t *root,
                         const struct message *m)
{
    const json_t *labels = json_object_get(root, "labels");
    size_t count = json_array_size(labels);

    if (!count || count > PLOT_MOST_LABELS)
        return refuse(m, "\"labels\" are not 1 to %d texts", PLOT_MOST_LABELS);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(labels, i));

        if (!text || !is_short(text))
            return refuse(m, "label %zu is not a text of up to %d letters", i,
                          PLOT_MOST_TEXT);
        if (!plot_add_label(out, text))
            return refuse(m, "out of memory");
    }
    return true;
}

/* ---- the file ------------------------------------------------------------ */

static bool has_values(const struct plot *plot)
{
    for (size_t i = 0; i < plot->count; i++)
        for (size_t k = 0; k < plot->series[i].count; k++)
            if (!isnan(plot->series[i].y[k]))
                return true;
    return false;
}

/* ---- results of benchmarks ------------------------------------------------ */

/* A figure's ratios to its reference, if it has one. */
static bool add_figure(struct plot *out, const char *benchmark,
                       const json_t *figure, const struct message *m)
{
    double ratio = json_number_value(json_object_get(figure, "ratio"));
    double least =
        json_number_value(json_object_get(figure, "ratio_of_shortest"));
    size_t at = out->label_count;
    char label[PLOT_MOST_TEXT + 1];

    if (!fits(ratio, AXIS_LOG))
        return true;
    if (at == PLOT_MOST_LABELS)
        return refuse(m,
                      "it has more than %d figures with a reference; plot the "
                      "results of one benchmark",
                      PLOT_MOST_LABELS);
    snprintf(label, sizeof(label), "%s: %s%s%s", benchmark,
             text_of(figure, "part"), *text_of(figure, "part") ? ", " : "",
             text_of(figure, "name"));
    if (!plot_add_label(out, label))
        return refuse(m, "out of memory");
    out->series[0].y[at] = ratio;
    if (fits(least, AXIS_LOG))
        out->series[1].y[at] = least;
    return true;
}

/* Only as many numbers as there are labels. */
static void cut_series(struct plot *out)
{
    for (size_t i = 0; i < out->count; i++)
        out->series[i].count = out->label_count;
}

/* All figures that have a reference, as ratios to it. */
static bool parse_bench(struct plot *out, const json_t *root,
                        const struct message *m)
{
    const json_t *runs = json_object_get(root, "runs");

    if (strcmp(text_of(root, "schema"), PLOT_BENCH_SCHEMA) != 0)
        return refuse(m, "\"schema\" is not \"%s\"", PLOT_BENCH_SCHEMA);
    if (!plot_init(out, PLOT_BARS, "benchmarks", "",
                   "measured / reference, less is better for times") ||
        !plot_add_series(out, "medians", PLOT_MOST_LABELS) ||
        !plot_add_series(out, "shortest", PLOT_MOST_LABELS))
        return refuse(m, "out of memory");
    out->y.scale = AXIS_LOG;
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        const json_t *figures = json_object_get(run, "results");

        for (size_t k = 0; k < json_array_size(figures); k++)
            if (!add_figure(out, text_of(run, "benchmark"),
                            json_array_get(figures, k), m))
                return false;
    }
    cut_series(out);
    return has_values(out) || refuse(m, "no figure has a reference");
}

static bool parse_root(struct plot *out, const json_t *root,
                       const struct message *m)
{
    const json_t *series = json_object_get(root, "series");
    size_t count = json_array_size(series);
    const char *kind = text_of(root, "kind"), *title = text_of(root, "title");
    const char *x = text_of(json_object_get(root, "x"), "label");
    const char *y = text_of(json_object_get(root, "y"), "label");
    bool bars = !strcmp(kind, "bars");

    if (json_object_get(root, "schema"))
        return parse_bench(out, root, m);
    if (strcmp(text_of(root, "format"), PLOT_FORMAT) != 0)
        return refuse(m, "\"format\" is not \"%s\", nor \"schema\" \"%s\"",
                      PLOT_FORMAT, PLOT_BENCH_SCHEMA);
    if (!bars && strcmp(kind, "curves") != 0)
        return refuse(m, "\"kind\" is not curves or bars");
    if (!is_short(title) || !is_short(x) || !is_short(y))
        return refuse(m, "\"title\" or \"label\" has more than %d letters",
                      PLOT_MOST_TEXT);
    if (!plot_init(out, bars ? PLOT_BARS : PLOT_CURVES, title, x, y))
        return refuse(m, "out of memory");
    if (!parse_axis(&out->x, root, "x", m) ||
        !parse_axis(&out->y, root, "y", m) ||
        (bars && !parse_labels(out, root, m)))
        return false;
    if (!count || count > PLOT_MOST_SERIES)
        return refuse(m, "\"series\" are not 1 to %d", PLOT_MOST_SERIES);
    for (size_t i = 0; i < count; i++)
        if (!parse_series(out, json_array_get(series, i), m))
            return false;
    return has_values(out) || refuse(m, "there is no number to show");
}

bool plot_parse(struct plot *out, const char *text, size_t size, char *message,
                size_t room)
{
    struct message m = {message, room};
    json_error_t error;
    json_t *root;
    bool done;

    *out = (struct plot){.count = 0};
    root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    done = root ? parse_root(out, root, &m)
                : refuse(&m, "line %d: %s", error.line, error.text);
    json_decref(root);
    return done;
}
