/* extract.h -- copy the samples of a box at a level into an output file.
 *
 * Every process takes some layers of patches, in pieces that fit into memory;
 * each chunk is read and decoded once. */
#ifndef EXTRACT_H
#define EXTRACT_H

#include "context.h"
#include "output.h"
#include "progress_bar.h"

struct extract {
    bouma_dataset *ds;
    bouma_step *step;
    bouma_variable *variable;
    int component; /* only this one; -1: all */
    int level;
    bouma_box box;
    bouma_selection selection; /* what the box has at that level */
    int64_t patch;             /* samples of a patch along the first axis */
    struct output *output;
    uint64_t header_bytes; /* in the output before the first sample */
    struct progress_bar *bar;
};

/* Collective. */
int extract_samples(const struct extract *extract, struct context *ctx);

#endif
