/* into.h -- particles that are read into arrays of the caller. */
#ifndef BM_INTO_H
#define BM_INTO_H

#include "layout/array.h"
#include "read/read.h"

/* The array for a variable: so many samples along the last of three axes. */
struct bm_column {
    bouma_variable *variable;
    struct bm_array array;
    int64_t *apart; /* what array.apart points to */
};

struct bm_into {
    const bouma_allocator *a;
    struct bm_column *columns; /* [column_count], as wanted; none: only count */
    size_t column_count;
    uint64_t capacity; /* particles that arrays have room for */
    uint64_t count;    /* that came: those beyond the capacity are not kept */
    struct bm_block_of_memory room;
    struct bm_error *error;
    int rc; /* of the first that failed */
};

/* Particles in arrays of the variables' types, [components][apart] each, where
 * the first 'count' are there. */
int bm_into_add(struct bm_into *into, uint64_t count,
                const void *const *columns, uint64_t apart);

/* A batch of planar columns, for bm_particle_query() with this as context. */
int bm_into_batch(void *context, const bouma_batch *batch);

/* What was collected, with planar columns. */
struct bm_collector;
int bm_into_collected(struct bm_into *into, const struct bm_collector *c);

/* ELIMIT if there are more than the arrays have room for. */
int bm_into_check(const struct bm_into *into, const struct bm_object *set);

#endif
