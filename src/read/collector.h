/* collector.h -- batches of particles put together in arrays. */
#ifndef BM_COLLECTOR_H
#define BM_COLLECTOR_H

#include "read/read.h"

/* Columns have their final form while they grow, but with room between their
 * lanes, which is closed at the end. A lane is a component; or all of them side
 * by side, if they are interleaved. */
struct bm_collector {
    const bouma_allocator *a;
    const struct bm_criteria *asked;
    uint8_t **columns;    /* [asked->variable_count], each [lanes][room] */
    uint64_t count, room; /* particles */
    const struct bm_draw *draw; /* whose keys are collected, or NULL */
    struct bm_buffer keys;      /* uint64_t of each particle */
};

int bm_collector_init(struct bm_collector *c, const bouma_allocator *a,
                      const struct bm_criteria *asked);
void bm_collector_release(struct bm_collector *c);
/* Without particles, but with its memory. */
void bm_collector_clear(struct bm_collector *c);

/* Room for so many particles in all: what is collected need not be moved as
 * long as there are no more. BOUMA_OK or ENOMEM. */
int bm_collector_reserve(struct bm_collector *c, uint64_t count);

/* Room for 'count' particles more, whose values are still to be put there.
 * BOUMA_OK or ENOMEM. */
int bm_collector_extend(struct bm_collector *c, uint64_t count);

/* The lanes of a variable, and the bytes that one of them has of a particle. */
int bm_lanes(const struct bm_criteria *asked, const bouma_variable *v);
size_t bm_lane_size(const struct bm_criteria *asked, const bouma_variable *v);

/* A lane of the v-th variable. */
uint8_t *bm_collector_lane(const struct bm_collector *c, size_t v, int lane);

/* Append a batch: for bm_particle_query(), whose 'context' is the collector.
 * Not 0 if there is no memory. */
int bm_collector_add(void *context, const bouma_batch *batch);

/* Sort what was drawn, and its keys, by these, and keep only the first 'count'.
 * BOUMA_OK or ENOMEM. */
int bm_collector_thin(struct bm_collector *c, uint64_t count);

/* What was collected, as the caller gets it; the collector is emptied. NULL if
 * there is no memory. */
bouma_particle_data *bm_collector_finish(struct bm_collector *c);

#endif
