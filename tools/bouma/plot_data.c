/* plot_data.c -- see plot_data.h. */
#include "plot_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool plot_init(struct plot *out, enum plot_kind kind, const char *title,
               const char *x_label, const char *y_label)
{
    *out = (struct plot){.kind = kind,
                         .x = {.low = NAN, .high = NAN},
                         .y = {.low = NAN, .high = NAN}};
    out->title = strdup(title);
    out->x.label = strdup(x_label);
    out->y.label = strdup(y_label);
    return out->title && out->x.label && out->y.label;
}

bool plot_add_label(struct plot *plot, const char *text)
{
    char **more =
        realloc(plot->labels, (plot->label_count + 1) * sizeof(*more));

    if (!more)
        return false;
    plot->labels = more;
    plot->labels[plot->label_count] = strdup(text);
    return plot->labels[plot->label_count++] != NULL;
}

struct plot_series *plot_add_series(struct plot *plot, const char *name,
                                    size_t count)
{
    struct plot_series *s = &plot->series[plot->count];

    if (plot->count == PLOT_MOST_SERIES || count > PLOT_MOST_POINTS)
        return NULL;
    *s = (struct plot_series){.name = strdup(name), .count = count};
    plot->count++;
    s->x = malloc((4 * count + 1) * sizeof(*s->x));
    if (!s->name || !s->x)
        return NULL;
    s->y = s->x + count;
    s->low = s->y + count;
    s->high = s->low + count;
    for (size_t i = 0; i < 4 * count; i++)
        s->x[i] = NAN;
    return s;
}

void plot_release(struct plot *plot)
{
    for (size_t i = 0; i < plot->count; i++) {
        free(plot->series[i].name);
        free(plot->series[i].x);
    }
    for (size_t i = 0; i < plot->label_count; i++)
        free(plot->labels[i]);
    free(plot->labels);
    free(plot->title);
    free(plot->x.label);
    free(plot->y.label);
    *plot = (struct plot){.count = 0};
}

/* ---- ranges -------------------------------------------------------------- */

/* fmin() and fmax() skip NAN. */
static void widen(double *low, double *high, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        *low = fmin(*low, values[i]);
        *high = fmax(*high, values[i]);
    }
}

/* What is asked for comes first; ends that are one become two. */
static void settle(const struct plot_axis *axis, double *low, double *high)
{
    if (!isnan(axis->low))
        *low = axis->low;
    if (!isnan(axis->high))
        *high = axis->high;
    if (*low < *high)
        return;
    if (axis->scale == AXIS_LINEAR)
        *high = *low + fmax(1, fabs(*low) / 2);
    else
        *high = *low * 2;
}

void plot_range_x(const struct plot *plot, double *low, double *high)
{
    *low = *high = NAN;
    for (size_t i = 0; i < plot->count; i++)
        widen(low, high, plot->series[i].x, plot->series[i].count);
    settle(&plot->x, low, high);
}

void plot_range_y(const struct plot *plot, double *low, double *high)
{
    *low = *high = plot->y.scale == AXIS_LINEAR ? 0 : NAN;
    for (size_t i = 0; i < plot->count; i++) {
        const struct plot_series *s = &plot->series[i];

        widen(low, high, s->y, 3 * s->count); /* y, low and high */
    }
    /* Some room above, and where it is no 0, below. */
    if (plot->y.scale == AXIS_LINEAR) {
        double room = (*high - *low) / 20;

        *high += *high > 0 ? room : 0;
        *low -= *low < 0 ? room : 0;
    } else {
        *low /= 1.3;
        *high *= 1.3;
    }
    settle(&plot->y, low, high);
}
