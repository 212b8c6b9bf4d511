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

#include "picture_axis.h"

enum { WIDTH = 640, HEIGHT = 320, SCALE = 2, GAP = 8 };
enum { BAND = OWN_INK, BAR };

struct view {
    struct picture_axis values, counts;
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

static void draw_bin(struct canvas *canvas, const struct view *view,
                     const bouma_bin *b)
{
    int left = axis_at(&view->values, b->low),
        right = axis_at(&view->values, b->high);
    int width = right - left > 3 ? right - left - 1 : right - left;
    int base = axis_at(&view->counts, 0),
        top = axis_at(&view->counts, b->estimate);
    int highest = axis_at(&view->counts, (double)b->upper);
    int lowest = axis_at(&view->counts, (double)b->lower),
        middle = left + width / 2;

    width = width < 1 ? 1 : width;
    canvas_fill(canvas, left, top, width, base - top, BAR);
    canvas_fill(canvas, left, highest, width, top - highest, BAND);
    canvas_fill(canvas, left, lowest, width, base - lowest, ACCENT);
    if (b->error > 0) {
        int up = axis_at(&view->counts, b->estimate + b->error);
        int down = axis_at(&view->counts, fmax(0, b->estimate - b->error));
        int cap = width > 8 ? 3 : 0;

        canvas_line(canvas, middle, up, middle, down, INK);
        canvas_line(canvas, middle - cap, up, middle + cap, up, INK);
        canvas_line(canvas, middle - cap, down, middle + cap, down, INK);
    }
}

int histogram_draw(struct canvas *out, struct context *ctx,
                   const struct histogram_shown *shown)
{
    int text = text_height(SCALE), title = text_width(shown->title, SCALE);
    int left, top = 4 * GAP + 2 * text, width, rc;
    struct view view;

    axis_init(&view.values, AXIS_LINEAR, shown->bins[0].low,
              shown->bins[shown->count - 1].high, 5, 0);
    axis_init(&view.counts, AXIS_LINEAR, 0, most_of(shown), 5, 1);
    view.counts.upright = true;
    left = GAP + axis_room(&view.counts, SCALE);
    view.values.start = left;
    view.values.pixels = WIDTH;
    view.counts.start = top + HEIGHT;
    view.counts.pixels = HEIGHT;
    width = left + WIDTH + 8 * GAP;
    if (title + 2 * GAP > width)
        width = title + 2 * GAP;
    rc = canvas_init(out, ctx, width,
                     top + HEIGHT + axis_room(&view.values, SCALE) + GAP);
    if (rc)
        return rc;
    out->palette[BAND] = (struct colour){214, 228, 243};
    out->palette[BAR] = (struct colour){120, 170, 220};
    for (size_t i = 0; i < shown->count; i++)
        draw_bin(out, &view, &shown->bins[i]);
    canvas_frame(out, left - 1, top - 1, WIDTH + 2, HEIGHT + 2, INK);
    axis_draw(out, &view.counts, left, SCALE, "count");
    axis_draw(out, &view.values, top + HEIGHT, SCALE, shown->label);
    canvas_text(out, GAP, GAP, SCALE, shown->title);
    canvas_text(out, GAP, 2 * GAP + text, SCALE, "count");
    return DONE;
}
