/* division.h -- who takes which layers of a box, and in which pieces. */
#ifndef DIVISION_H
#define DIVISION_H

#include <stdbool.h>
#include <stdint.h>

#include "bouma.h"

/* The part first <= i < last of 'count' things that process 'rank' of 'size'
 * takes; the parts of all are equal to within one. */
void divide_evenly(int64_t count, int size, int rank, int64_t *first,
                   int64_t *last);

/* A box, cut across its first axis at the borders of patches, so that no two
 * processes or pieces need the same patch. */
struct division {
    bouma_box box;
    int64_t patch; /* samples of a patch along axis 0 */
    int64_t step;  /* layers of patches in a piece */
    int size, rank;
};

/* The number of pieces of the process that has most. */
int64_t division_pieces(const struct division *division);

/* The i-th piece of this process; false if it has none, or no more. A rank
 * beyond the last one has none. */
bool division_piece(const struct division *division, int64_t i, bouma_box *out);

#endif
