/* png_file.h -- a canvas as a PNG file; the only file that knows libpng. */
#ifndef PNG_FILE_H
#define PNG_FILE_H

#include "canvas.h"

/* Write the canvas of process 0 to 'path' (see output.h); that of the others is
 * not looked at. Collective. */
int png_file_write(struct context *ctx, const char *path,
                   const struct canvas *canvas);

/* Complain if 'path' (may be NULL) is not the name of a PNG file, or "-" while
 * standard output is taken. */
int png_file_check(struct context *ctx, const char *path);

#endif
