/* histogram_draw.c -- a histogram as a picture.
 *
 *     title
 *     count
 *     200 +--------------------+
 *         |      |  ::         |     bars: the estimates
 *     100 |   ___|__::___      |     pale: from the lowest to the highest count
 *         |  |   |  ::   |     |     that there can be
 *       0 +--------------------+     lines: a standard error up and down
 *         300       310       320
 *                  label
 */
#include "histogram_show.h"

#include <math.h>

#include "ticks.h"

enum { WIDTH = 640, HEIGHT = 320, SCALE = 2, GAP = 8 };
enum { BAND = OWN_INK, BAR };

struct view {
    const struct histogram_shown *shown;
    double low, high, most; /* values; the largest count */
    int left, top;
};

/* The highest count that is drawn. Where little is known, bounds may be far
 * beyond all estimates: then these decide. */
static double most_of(const struct histogram_shown *shown)
{
    double estimate = 1, upper = 1;

    for (size_t i = 0; i < shown->count; i++) {
        const bouma_bin *b = &shown->bins[i];
        double error = b->error > 0 ? b->error : 0;

        estimate = fmax(estimate, b->estimate + error);
        upper = fmax(upper, (double)b->upper);
    }
    return 1.05 * fmin(upper, 2 * estimate);
}

static int x_of(const struct view *view, double value)
{
    double part = (value - view->low) / (view->high - view->low);

    return view->left + (int)(fmin(fmax(part, 0), 1) * WIDTH + 0.5);
}

static int y_of(const struct view *view, double count)
{
    double part = fmin(fmax(count / view->most, 0), 1);

    return view->top + HEIGHT - (int)(part * HEIGHT + 0.5);
}

static void draw_bin(struct canvas *canvas, const struct view *view,
                     const bouma_bin *b)
{
    int left = x_of(view, b->low), right = x_of(view, b->high);
    int width = right - left > 3 ? right - left - 1 : right - left;
    int base = y_of(view, 0), top = y_of(view, b->estimate);
    int highest = y_of(view, (double)b->upper);
    int lowest = y_of(view, (double)b->lower), middle = left + width / 2;

    width = width < 1 ? 1 : width;
    canvas_fill(canvas, left, top, width, base - top, BAR);
    canvas_fill(canvas, left, highest, width, top - highest, BAND);
    canvas_fill(canvas, left, lowest, width, base - lowest, ACCENT);
    if (b->error > 0) {
        int up = y_of(view, b->estimate + b->error);
        int down = y_of(view, fmax(0, b->estimate - b->error));
        int cap = width > 8 ? 3 : 0;

        canvas_line(canvas, middle, up, middle, down, INK);
        canvas_line(canvas, middle - cap, up, middle + cap, up, INK);
        canvas_line(canvas, middle - cap, down, middle + cap, down, INK);
    }
}

static void draw_axes(struct canvas *canvas, const struct view *view,
                      const struct ticks *counts)
{
    struct ticks values = ticks_choose(view->low, view->high, 5, 0);
    int base = view->top + HEIGHT, text = text_height(SCALE);
    char out[FORMAT_BYTES];

    canvas_frame(canvas, view->left - 1, view->top - 1, WIDTH + 2, HEIGHT + 2,
                 INK);
    for (long i = counts->first; i <= counts->last; i++) {
        int y = y_of(view, ticks_value(counts, i));

        ticks_text(out, counts, i);
        canvas_line(canvas, view->left - GAP / 2, y, view->left, y, INK);
        canvas_text(canvas, view->left - GAP - text_width(out, SCALE),
                    y - text / 2, SCALE, out);
    }
    for (long i = values.first; i <= values.last; i++) {
        int x = x_of(view, ticks_value(&values, i));

        ticks_text(out, &values, i);
        canvas_line(canvas, x, base, x, base + GAP / 2, INK);
        canvas_text(canvas, x - text_width(out, SCALE) / 2, base + GAP, SCALE,
                    out);
    }
    canvas_text(canvas,
                view->left +
                    (WIDTH - text_width(view->shown->label, SCALE)) / 2,
                base + 2 * GAP + text, SCALE, view->shown->label);
}

int histogram_draw(struct canvas *out, struct context *ctx,
                   const struct histogram_shown *shown)
{
    struct view view = {.shown = shown,
                        .low = shown->bins[0].low,
                        .high = shown->bins[shown->count - 1].high,
                        .most = most_of(shown)};
    struct ticks counts = ticks_choose(0, view.most, 5, 1);
    int text = text_height(SCALE), title = text_width(shown->title, SCALE);
    int width, rc;

    view.left = 3 * GAP + ticks_width(&counts, SCALE);
    view.top = 4 * GAP + 2 * text;
    width = view.left + WIDTH + 8 * GAP;
    if (title + 2 * GAP > width)
        width = title + 2 * GAP;
    rc = canvas_init(out, ctx, width, view.top + HEIGHT + 4 * GAP + 2 * text);
    if (rc)
        return rc;
    out->palette[BAND] = (struct colour){214, 228, 243};
    out->palette[BAR] = (struct colour){120, 170, 220};
    for (size_t i = 0; i < shown->count; i++)
        draw_bin(out, &view, &shown->bins[i]);
    draw_axes(out, &view, &counts);
    canvas_text(out, GAP, GAP, SCALE, shown->title);
    canvas_text(out, GAP, 2 * GAP + text, SCALE, "count");
    return DONE;
}
