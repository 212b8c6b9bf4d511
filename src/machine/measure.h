/* measure.h -- how fast memories and storages of this node are. Each number is
 * the median of several tries. */
#ifndef BM_MEASURE_H
#define BM_MEASURE_H

#include "base/error.h"
#include "base/memory.h"
#include "bouma.h"

/* Of 'count' values, at least one, which are sorted. */
double bm_median(double *values, size_t count);

/* Reading one value after the other from all over a memory; and copying into
 * it from DRAM. ENOTFOUND if this node has no such tier, ENOMEM. */
int bm_measure_memory(bouma_speed *out, bouma_tier tier, int tries,
                      const bouma_allocator *a, struct bm_error *error);

/* Writing one small block to a file in 'directory' and syncing it; and writing
 * 'bytes' and syncing them. */
int bm_measure_storage(bouma_speed *out, const char *directory, uint64_t bytes,
                       int tries, const bouma_allocator *a,
                       struct bm_error *error);

#endif
