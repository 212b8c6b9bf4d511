/* column.h -- arrays of the caller for the values of particles: to put, or to
 * read into. */
#ifndef BM_API_COLUMN_H
#define BM_API_COLUMN_H

#include "api/api.h"

/* The array is that of 'count' samples along the last of three axes. */
struct bm_column {
    bouma_variable *variable;
    struct bm_array array;
    int64_t *apart; /* what array.apart points to */
};

/* The i-th of a caller's columns, for so many particles of a set. To be
 * released in any case. */
int bm_api_column(struct bm_column *out, const struct bm_object *set,
                  const bouma_column *columns, size_t i, uint64_t count);
void bm_api_column_release(struct bm_column *column, const bouma_allocator *a);

#endif
