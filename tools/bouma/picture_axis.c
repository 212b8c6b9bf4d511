/* picture_axis.c -- see picture_axis.h. */
#include "picture_axis.h"

#include <math.h>

enum { MARK = 4, GAP = 8 };

void axis_init(struct picture_axis *out, enum axis_scale scale, double low,
               double high, int wanted, double least)
{
    *out = (struct picture_axis){.scale = scale, .low = low, .high = high};
    out->ticks = scale == AXIS_LINEAR
                     ? ticks_choose(low, high, wanted, least)
                     : ticks_choose_powers(low, high,
                                           scale == AXIS_LOG2 ? 2 : 10, wanted);
}

/* From 0 to 1. */
static double part_of(const struct picture_axis *axis, double value)
{
    double part = axis->scale == AXIS_LINEAR
                      ? (value - axis->low) / (axis->high - axis->low)
                      : log(value / axis->low) / log(axis->high / axis->low);

    return fmin(fmax(part, 0), 1);
}

int axis_at(const struct picture_axis *axis, double value)
{
    int pixels = (int)(part_of(axis, value) * axis->pixels + 0.5);

    return axis->upright ? axis->start - pixels : axis->start + pixels;
}

void axis_draw(struct canvas *canvas, const struct picture_axis *axis, int edge,
               int scale, const char *label)
{
    int height = text_height(scale);
    char text[FORMAT_BYTES];

    for (long i = axis->ticks.first; i <= axis->ticks.last; i++) {
        int at = axis_at(axis, ticks_value(&axis->ticks, i));
        int width = text_width(ticks_text(text, &axis->ticks, i), scale);

        if (axis->upright) {
            canvas_line(canvas, edge - MARK, at, edge, at, INK);
            canvas_text(canvas, edge - GAP - width, at - height / 2, scale,
                        text);
        } else {
            canvas_line(canvas, at, edge, at, edge + MARK, INK);
            canvas_text(canvas, at - width / 2, edge + GAP, scale, text);
        }
    }
    if (!axis->upright)
        canvas_text(canvas,
                    axis->start + (axis->pixels - text_width(label, scale)) / 2,
                    edge + 2 * GAP + height, scale, label);
}

int axis_room(const struct picture_axis *axis, int scale)
{
    return axis->upright ? 2 * GAP + ticks_width(&axis->ticks, scale)
                         : 3 * GAP + 2 * text_height(scale);
}
