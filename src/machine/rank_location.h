/* rank_location.h -- what a rank tells of where it is, as bytes. */
#ifndef BM_RANK_LOCATION_H
#define BM_RANK_LOCATION_H

#include "base/bytes.h"

struct bm_rank_location {
    const char *host; /* its name, and that of Slurm where there is one */
    size_t host_bytes;
    const char *switches; /* above the host, from the top, joined by '.' */
    size_t switches_bytes;
    uint64_t dram, hbm; /* bytes of the node; 0: not known, none */
};

void bm_rank_location_put(struct bm_buffer *out,
                          const struct bm_rank_location *location);
/* 1, or 0 if these are not such bytes; texts stay where they are. */
int bm_rank_location_get(struct bm_rank_location *out, const void *data,
                         size_t bytes);

#endif
