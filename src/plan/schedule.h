/* schedule.h -- in which order the chunks of a file are sent to the rank that
 * writes it: the ranks that send take turns, so that all of them are busy from
 * the first round on. Their turns come in the order of their first chunks, so
 * chunks that have an owner each arrive in the order of the file: the writer
 * need not put them together. */
#ifndef BM_SCHEDULE_H
#define BM_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* What a writer's buffer has, where nobody and nothing says otherwise: as much
 * as stays in a processor's cache from when it is filled until it is stored. If
 * it waits in between (`async`), or for sizes that are predicted, it has more.
 */
#define BM_BUFFER_BYTES         ((uint64_t)1 << 20)
#define BM_WAITING_BUFFER_BYTES ((uint64_t)4 << 20)

struct bm_slot {
    uint32_t index; /* of the chunk among those of the file */
    int owner;
    uint64_t bytes;
    uint32_t first;  /* index of the owner's first chunk of this file */
    uint64_t before; /* bytes of the owner's earlier chunks of it */
    uint64_t at;     /* bytes of all that are sent before it */
};

/* Sort the slots of one file into the order of their arrival, and fill in
 * 'first', 'before' and 'at'. Gives their bytes. */
uint64_t bm_schedule(struct bm_slot *slots, size_t count);

#endif
