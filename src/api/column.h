/* column.h -- arrays of the caller for the values of particles: to put, or to
 * read into. */
#ifndef BM_API_COLUMN_H
#define BM_API_COLUMN_H

#include "api/criteria.h"
#include "read/into.h"

/* The i-th of a caller's columns, for so many particles of a set; of none, the
 * array is not looked at. To be released in any case. */
int bm_api_column(struct bm_column *out, const struct bm_object *set,
                  const bouma_column *columns, size_t i, uint64_t count);
void bm_api_column_release(struct bm_column *column, const bouma_allocator *a);

/* What a caller wants in its own arrays. */
struct bm_wanted {
    const bouma_particles_query *query; /* may be NULL */
    const bouma_column *columns;
    size_t column_count;
    uint64_t capacity;
};

/* Both that is asked and where it goes. To be released in any case. */
int bm_api_into(struct bm_into *into, struct bm_asked *asked,
                const struct bm_object *set, const struct bm_wanted *wanted);
void bm_api_into_release(struct bm_into *into, struct bm_asked *asked);

#endif
