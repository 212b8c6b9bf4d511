/* trace_picture.h -- a trace as a picture: a row a rank, the stages of its main
 * thread in colours, and below them what its other threads do with files. */
#ifndef TRACE_PICTURE_H
#define TRACE_PICTURE_H

#include "canvas.h"

/* Draw the trace in 'path', of so many ranks and seconds. The caller ends 'out'
 * with canvas_release(), after a failure too. */
int trace_picture_draw(struct canvas *out, struct context *ctx,
                       const char *path, int ranks, double seconds);

#endif
