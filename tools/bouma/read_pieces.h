/* read_pieces.h -- the values of a variable, a piece at a time, in memory that
 * does not grow with the data. */
#ifndef READ_PIECES_H
#define READ_PIECES_H

#include "context.h"
#include "step_entries.h"

/* Samples of a grid in a box, the components of a sample side by side. */
struct grid_piece {
    bouma_box box;
    uint64_t samples;
    const void *values;
};

/* Pass all samples of level 0 to 'each', in boxes of whole layers of patches,
 * by ascending index. It returns an outcome; anything but DONE ends the call.
 */
int read_grid_pieces(struct context *ctx, bouma_dataset *ds,
                     const struct entry *entry,
                     int (*each)(void *user, struct context *ctx,
                                 const struct grid_piece *piece),
                     void *user);

#endif
