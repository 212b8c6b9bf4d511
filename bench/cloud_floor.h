/* cloud_floor.h -- the least that a spatial order of particles on disk costs:
 * Morton keys, a radix sort, a gather of all columns, a plain write. */
#ifndef BENCH_CLOUD_FLOOR_H
#define BENCH_CLOUD_FLOOR_H

#include <stddef.h>

#include "cloud_maker.h"

struct cloud_pair {
    uint64_t key;
    uint32_t index;
};

/* Memory for it, touched before the clock runs: that is not part of it. */
struct cloud_floor {
    struct cloud_pair *pairs, *other;
    double *column;
};
int cloud_floor_init(struct cloud_floor *f, uint64_t count);
void cloud_floor_release(struct cloud_floor *f);

/* Seconds of the parts. */
enum { FLOOR_KEYS, FLOOR_SORT, FLOOR_GATHER, FLOOR_WRITE, FLOOR_PARTS };
extern const char *const cloud_floor_names[FLOOR_PARTS];

/* Sort the particles and write them to a new file, which stays in the page
 * cache. 0, or -1 if it cannot be written. */
int cloud_floor_run(struct cloud_floor *f, const struct cloud *c,
                    const char *path, double seconds[FLOOR_PARTS]);

#endif
