/* division.c -- who takes which layers of a box, and in which pieces. */
#include "division.h"

void divide_evenly(int64_t count, int size, int rank, int64_t *first,
                   int64_t *last)
{
    int64_t share = count / size;
    int64_t rest = count % size; /* the first ones take one more */

    *first = rank * share + (rank < rest ? rank : rest);
    *last = *first + share + (rank < rest);
}

/* The layer that the box begins in, and the number of layers it touches. */
static int64_t first_layer(const struct division *division)
{
    return division->box.lo[0] / division->patch;
}

static int64_t layers(const struct division *division)
{
    return (division->box.hi[0] - 1) / division->patch - first_layer(division) +
           1;
}

int64_t division_pieces(const struct division *division)
{
    int64_t first, last;

    divide_evenly(layers(division), division->size, 0, &first, &last);
    return (last - first + division->step - 1) / division->step;
}

bool division_piece(const struct division *division, int64_t i, bouma_box *out)
{
    int64_t first, last, lo, hi;

    if (division->rank >= division->size)
        return false;
    divide_evenly(layers(division), division->size, division->rank, &first,
                  &last);
    first += i * division->step;
    if (first >= last)
        return false;
    if (last > first + division->step)
        last = first + division->step;

    *out = division->box;
    lo = (first_layer(division) + first) * division->patch;
    hi = (first_layer(division) + last) * division->patch;
    if (lo > out->lo[0])
        out->lo[0] = lo;
    if (hi < out->hi[0])
        out->hi[0] = hi;
    return true;
}
