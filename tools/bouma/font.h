/* font.h -- letters of 5 by 7 pixels. */
#ifndef FONT_H
#define FONT_H

#include <stdbool.h>

enum { FONT_WIDTH = 5, FONT_HEIGHT = 7 };

/* The letter that the UTF-8 text at *text begins with, and step over it; NULL
 * at the end of the text. Those that are not known look like a box. */
struct glyph;
const struct glyph *font_next(const char **text);

/* Whether the pixel of a letter is inked. */
bool glyph_pixel(const struct glyph *glyph, int row, int column);

#endif
