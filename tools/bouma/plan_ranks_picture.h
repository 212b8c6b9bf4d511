/* plan_ranks_picture.h -- the ranks of a plan as a picture: who writes files, and
 * who has samples of them, level by level. */
#ifndef PLAN_RANKS_PICTURE_H
#define PLAN_RANKS_PICTURE_H

#include "canvas.h"

/* Plans of one write, which differ in 'place' alone, side by side. The caller
 * ends 'out' with canvas_release(), after a failure too. */
int plan_ranks_picture_draw(struct canvas *out, struct context *ctx,
                            bouma_plan *const *plans, int count,
                            const bouma_plan_spec *spec);

#endif
