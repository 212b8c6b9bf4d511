/* plan_picture.h -- a plan as a picture: patches coloured by the rank that owns
 * them and by the file they go to, the bytes of the files, and their writers
 * among the ranks that send to them. */
#ifndef PLAN_PICTURE_H
#define PLAN_PICTURE_H

#include "canvas.h"

/* The caller ends 'out' with canvas_release(), after a failure too. */
int plan_picture_draw(struct canvas *out, struct context *ctx,
                      const bouma_plan *plan, const bouma_plan_spec *spec);

#endif
