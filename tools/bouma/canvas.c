/* canvas.c -- a picture in memory: pixels that are numbers of colours. */
#include "canvas.h"

#include <stdlib.h>

#include "font.h"

int canvas_init(struct canvas *out, struct context *ctx, int width, int height)
{
    *out = (struct canvas){.width = width, .height = height};
    out->palette[PAPER] = (struct colour){255, 255, 255};
    out->palette[INK] = (struct colour){0, 0, 0};
    out->palette[FAINT] = (struct colour){200, 200, 200};
    out->palette[ACCENT] = (struct colour){31, 104, 180};
    out->palette[MISSING] = (struct colour){255, 0, 255};
    out->pixels = calloc((size_t)width, (size_t)height); /* of PAPER */
    if (!out->pixels)
        return context_fail(ctx, DATA_AT_FAULT,
                            "no memory for a picture of %d x %d pixels", width,
                            height);
    return DONE;
}

void canvas_release(struct canvas *canvas)
{
    free(canvas->pixels);
}

void canvas_dot(struct canvas *canvas, int x, int y, int ink)
{
    if (x >= 0 && x < canvas->width && y >= 0 && y < canvas->height)
        canvas->pixels[(size_t)y * (size_t)canvas->width + (size_t)x] =
            (uint8_t)ink;
}

void canvas_fill(struct canvas *canvas, int x, int y, int width, int height,
                 int ink)
{
    for (int j = y; j < y + height; j++)
        for (int i = x; i < x + width; i++)
            canvas_dot(canvas, i, j, ink);
}

void canvas_frame(struct canvas *canvas, int x, int y, int width, int height,
                  int ink)
{
    canvas_fill(canvas, x - 1, y - 1, width + 2, 1, ink);
    canvas_fill(canvas, x - 1, y + height, width + 2, 1, ink);
    canvas_fill(canvas, x - 1, y, 1, height, ink);
    canvas_fill(canvas, x + width, y, 1, height, ink);
}

void canvas_line(struct canvas *canvas, int x0, int y0, int x1, int y1, int ink)
{
    int steps = abs(x1 - x0) > abs(y1 - y0) ? abs(x1 - x0) : abs(y1 - y0);

    canvas_dot(canvas, x0, y0, ink);
    for (int i = 1; i <= steps; i++)
        canvas_dot(canvas, x0 + (int)((int64_t)(x1 - x0) * i / steps),
                   y0 + (int)((int64_t)(y1 - y0) * i / steps), ink);
}

static void draw_glyph(struct canvas *canvas, int x, int y, int scale,
                       const struct glyph *glyph)
{
    for (int row = 0; row < FONT_HEIGHT; row++)
        for (int column = 0; column < FONT_WIDTH; column++)
            if (glyph_pixel(glyph, row, column))
                canvas_fill(canvas, x + column * scale, y + row * scale, scale,
                            scale, INK);
}

void canvas_text(struct canvas *canvas, int x, int y, int scale,
                 const char *text)
{
    const struct glyph *glyph;

    for (; (glyph = font_next(&text)); x += (FONT_WIDTH + 1) * scale)
        draw_glyph(canvas, x, y, scale, glyph);
}

int text_width(const char *text, int scale)
{
    int letters = 0;

    while (font_next(&text))
        letters++;
    return letters ? (letters * (FONT_WIDTH + 1) - 1) * scale : 0;
}

int text_height(int scale)
{
    return FONT_HEIGHT * scale;
}
