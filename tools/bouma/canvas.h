/* canvas.h -- a picture in memory: pixels that are numbers of colours.
 *
 * Positions count pixels from the upper left corner. What lies outside of the
 * canvas is not drawn. */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdint.h>

#include "colours.h"
#include "context.h"

/* The colours that all pictures have, and the first of a picture's own. */
enum ink { PAPER, INK, FAINT, ACCENT, MISSING, OWN_INK = 16, INKS = 256 };

struct canvas {
    int width, height;
    uint8_t *pixels; /* [height][width] */
    struct colour palette[INKS];
};

/* A blank canvas; the caller ends it with canvas_release(), after a failure
 * too. */
int canvas_init(struct canvas *out, struct context *ctx, int width, int height);
void canvas_release(struct canvas *canvas);

void canvas_dot(struct canvas *canvas, int x, int y, int ink);
/* Fill, or draw the border of one pixel around, 'width' by 'height' pixels. */
void canvas_fill(struct canvas *canvas, int x, int y, int width, int height,
                 int ink);
void canvas_frame(struct canvas *canvas, int x, int y, int width, int height,
                  int ink);
/* A straight line, both ends drawn. */
void canvas_line(struct canvas *canvas, int x0, int y0, int x1, int y1,
                 int ink);

/* Write a text whose upper left corner is at x, y, each pixel of a letter as
 * 'scale' by 'scale' pixels. */
void canvas_text(struct canvas *canvas, int x, int y, int scale,
                 const char *text);
int text_width(const char *text, int scale);
int text_height(int scale);

#endif
