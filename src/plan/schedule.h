/* schedule.h -- when each chunk of a file is sent to the rank that writes it.
 *
 * A file's writer takes in at most 'buffer' bytes a round (or one chunk, if
 * that is larger). The ranks that send take turns, so that all of them are busy
 * from the first round on. */
#ifndef BM_SCHEDULE_H
#define BM_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

struct bm_slot {
    uint32_t place; /* of the chunk among those of the file */
    int owner;
    uint64_t bytes;
    uint64_t before; /* bytes of the owner's earlier chunks of this file */
    uint32_t round;
};

/* Sort the slots of one file into the order of their arrival, and fill in
 * before and round. The number of rounds. */
uint32_t bm_schedule(struct bm_slot *slots, size_t count, uint64_t buffer);

#endif
