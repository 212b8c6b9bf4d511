/* plot_draw.c -- a plot as a picture.
 *
 *     title                                title
 *     y label                                    +------------+
 *     200 +--------------+                 one   |=====| 12   |  # series
 *         |       _.--#  |  # series             |:::| 7      |  : series
 *     100 |  #-'' _.--o  |  o series       two   |=========|  |
 *         |  o-''        |                       |::::|       |
 *       0 +--------------+                       +------------+
 *         1      10     100                      0    10    20
 *             x label                               y label
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plot_data.h"

enum { WIDTH = 560, HEIGHT = 320, SCALE = 2, GAP = 8, BAR = 14, INSIDE = 14 };
enum { MARKER = 4, DASH = 6 }; /* pixels: half of a marker, of a dash */

/* Colours that people tell apart who see few of them; then all over again. */
static const struct colour colours[] = {
    {0, 114, 178},  {213, 94, 0},  {0, 158, 115}, {204, 121, 167},
    {86, 180, 233}, {230, 159, 0}, {90, 90, 90},  {140, 80, 30}};

struct view {
    const struct plot *plot;
    struct picture_axis x, y;
    int left, top, height; /* of the frame */
};

static int ink_of(size_t series)
{
    return OWN_INK + (int)series;
}

/* ---- curves -------------------------------------------------------------- */

/* A square, a circle, a diamond, a cross: one for each series in turn. */
static bool in_marker(size_t series, int dx, int dy)
{
    int x = abs(dx), y = abs(dy);

    switch (series % 4) {
    case 0:
        return x < MARKER && y < MARKER;
    case 1:
        return x * x + y * y <= MARKER * MARKER + 1;
    case 2:
        return x + y <= MARKER + 1;
    default:
        return x < 2 || y < 2;
    }
}

static void draw_marker(struct canvas *canvas, size_t series, int x, int y)
{
    for (int dy = -MARKER; dy <= MARKER; dy++)
        for (int dx = -MARKER; dx <= MARKER; dx++)
            if (in_marker(series, dx, dy))
                canvas_dot(canvas, x + dx, y + dy, ink_of(series));
}

/* Two pixels wide, in dashes if the series is. */
static void draw_stroke(struct canvas *canvas, const struct plot_series *s,
                        int ink, const int from[2], const int to[2])
{
    double far = fmax(1, hypot(to[0] - from[0], to[1] - from[1]));

    for (int i = 0; i <= (int)far; i++) {
        int x = from[0] + (int)lround((to[0] - from[0]) * (i / far));
        int y = from[1] + (int)lround((to[1] - from[1]) * (i / far));

        if (!s->dashed || i / DASH % 2 == 0)
            canvas_fill(canvas, x, y, 2, 2, ink);
    }
}

/* The line between low and high, either of which may be missing. */
static void draw_ends(struct canvas *canvas, const struct picture_axis *axis,
                      const struct plot_series *s, size_t i, int across)
{
    int low, high;

    if (isnan(s->low[i]) && isnan(s->high[i]))
        return;
    low = axis_at(axis, isnan(s->low[i]) ? s->y[i] : s->low[i]);
    high = axis_at(axis, isnan(s->high[i]) ? s->y[i] : s->high[i]);
    if (axis->upright) {
        canvas_line(canvas, across, low, across, high, INK);
        canvas_line(canvas, across - 3, low, across + 3, low, INK);
        canvas_line(canvas, across - 3, high, across + 3, high, INK);
    } else {
        canvas_line(canvas, low, across, high, across, INK);
        canvas_line(canvas, low, across - 3, low, across + 3, INK);
        canvas_line(canvas, high, across - 3, high, across + 3, INK);
    }
}

static void draw_curve(struct canvas *canvas, const struct view *v, size_t n)
{
    const struct plot_series *s = &v->plot->series[n];
    int last[2] = {0, 0};
    bool joined = false;

    for (size_t i = 0; i < s->count; i++) {
        bool there = !isnan(s->y[i]);

        if (there) {
            int at[2] = {axis_at(&v->x, s->x[i]), axis_at(&v->y, s->y[i])};

            if (joined)
                draw_stroke(canvas, s, ink_of(n), last, at);
            draw_ends(canvas, &v->y, s, i, at[0]);
            draw_marker(canvas, n, at[0], at[1]);
            last[0] = at[0];
            last[1] = at[1];
        }
        joined = there;
    }
}

static void draw_curves(struct canvas *canvas, const struct view *v)
{
    for (size_t n = 0; n < v->plot->count; n++)
        draw_curve(canvas, v, n);
    axis_draw(canvas, &v->y, v->left, SCALE, "");
    axis_draw(canvas, &v->x, v->top + v->height, SCALE, v->plot->x.label);
    canvas_text(canvas, GAP, v->top - GAP - text_height(SCALE), SCALE,
                v->plot->y.label);
}

/* ---- bars ---------------------------------------------------------------- */

/* Pixels of the bars of a label, and of the gap below them. */
static int row_height(const struct plot *plot)
{
    return (int)plot->count * (BAR + 2) + GAP;
}

static void draw_bar(struct canvas *canvas, const struct view *v, size_t n,
                     size_t i, int y)
{
    const struct plot_series *s = &v->plot->series[n];
    int base = axis_at(&v->y, v->plot->y.scale == AXIS_LINEAR ? 0 : v->y.low);
    char text[FORMAT_BYTES];
    int end, beyond;

    if (isnan(s->y[i]))
        return;
    end = axis_at(&v->y, s->y[i]);
    if (end < base)
        canvas_fill(canvas, end, y, base - end, BAR, ink_of(n));
    else if (s->dashed)
        canvas_frame(canvas, base + 1, y + 1, end - base - 2, BAR - 2,
                     ink_of(n));
    else
        canvas_fill(canvas, base, y, end - base, BAR, ink_of(n));
    draw_ends(canvas, &v->y, s, i, y + BAR / 2);
    beyond =
        isnan(s->high[i]) ? end : axis_at(&v->y, fmax(s->high[i], s->y[i]));
    snprintf(text, sizeof(text), s->y[i] < 1000 ? "%.3g" : "%.5g", s->y[i]);
    canvas_text(canvas, (beyond > base ? beyond : base) + GAP, y, SCALE, text);
}

static void draw_bars(struct canvas *canvas, const struct view *v)
{
    const struct plot *plot = v->plot;
    int row = row_height(plot);

    for (size_t i = 0; i < plot->label_count; i++) {
        const char *label = plot->labels[i];
        int y = v->top + (int)i * row + GAP / 2 + 1;

        canvas_text(canvas, v->left - GAP - text_width(label, SCALE),
                    y + (row - GAP - text_height(SCALE)) / 2, SCALE, label);
        for (size_t n = 0; n < plot->count; n++)
            draw_bar(canvas, v, n, i, y + (int)n * (BAR + 2));
    }
    axis_draw(canvas, &v->y, v->top + v->height, SCALE, plot->y.label);
}

/* ---- both ---------------------------------------------------------------- */

static int legend_width(const struct plot *plot)
{
    int widest = 0;

    for (size_t n = 0; n < plot->count; n++) {
        int width = text_width(plot->series[n].name, SCALE);

        widest = width > widest ? width : widest;
    }
    return 5 * GAP + widest + GAP;
}

static void draw_legend(struct canvas *canvas, const struct view *v)
{
    int x = v->left + WIDTH + GAP, text = text_height(SCALE);

    for (size_t n = 0; n < v->plot->count; n++) {
        const struct plot_series *s = &v->plot->series[n];
        int y = v->top + (int)n * (text + GAP);
        const int from[2] = {x + GAP, y + text / 2};
        const int to[2] = {x + 4 * GAP, y + text / 2};

        if (v->plot->kind == PLOT_BARS && s->dashed)
            canvas_frame(canvas, x + GAP + 1, y + 1, 3 * GAP - 2, text - 2,
                         ink_of(n));
        else if (v->plot->kind == PLOT_BARS)
            canvas_fill(canvas, x + GAP, y, 3 * GAP, text, ink_of(n));
        else {
            draw_stroke(canvas, s, ink_of(n), from, to);
            draw_marker(canvas, n, x + 5 * GAP / 2, y + text / 2);
        }
        canvas_text(canvas, x + 5 * GAP, y, SCALE, s->name);
    }
}

static void place_curves(struct view *v)
{
    double low, high;

    plot_range_x(v->plot, &low, &high);
    axis_init(&v->x, v->plot->x.scale, low, high, 7, 0);
    v->height = HEIGHT;
    v->left = axis_room(&v->y, SCALE) + GAP;
    v->top = 4 * GAP + 2 * text_height(SCALE);
    v->x.start = v->left + INSIDE;
    v->x.pixels = WIDTH - 2 * INSIDE;
    v->y.upright = true;
    v->y.start = v->top + HEIGHT;
    v->y.pixels = HEIGHT;
}

static void place_bars(struct view *v)
{
    const struct plot *plot = v->plot;

    v->left = 0;
    for (size_t i = 0; i < plot->label_count; i++) {
        int width = text_width(plot->labels[i], SCALE);

        v->left = width > v->left ? width : v->left;
    }
    v->left += 2 * GAP;
    v->top = 3 * GAP + text_height(SCALE);
    v->height = (int)plot->label_count * row_height(plot);
    v->y.start = v->left;
    v->y.pixels = WIDTH - 10 * GAP; /* the rest is for the numbers */
}

/* Bars with a name each, or curves. */
static int width_of(const struct view *v)
{
    int width = v->left + WIDTH + GAP + legend_width(v->plot);
    int title = text_width(v->plot->title, SCALE) + 2 * GAP;

    return width > title ? width : title;
}

int plot_draw(struct canvas *out, struct context *ctx, const struct plot *plot)
{
    bool curves = plot->kind == PLOT_CURVES;
    struct view v = {.plot = plot};
    int legend = (int)plot->count * (text_height(SCALE) + GAP), height, rc;
    double low, high;

    plot_range_y(plot, &low, &high);
    axis_init(&v.y, plot->y.scale, low, high, 5, 0);
    v.y.upright = curves;
    if (curves)
        place_curves(&v);
    else
        place_bars(&v);
    height = v.height > legend ? v.height : legend;
    rc = canvas_init(out, ctx, width_of(&v),
                     v.top + height + 4 * GAP + 2 * text_height(SCALE));
    if (rc)
        return rc;
    for (size_t n = 0; n < plot->count; n++)
        out->palette[ink_of(n)] =
            colours[n % (sizeof(colours) / sizeof(colours[0]))];
    canvas_text(out, GAP, GAP, SCALE, plot->title);
    if (curves)
        draw_curves(out, &v);
    else
        draw_bars(out, &v);
    canvas_frame(out, v.left - 1, v.top - 1, WIDTH + 2, v.height + 2, INK);
    draw_legend(out, &v);
    return DONE;
}
