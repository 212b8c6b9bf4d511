/* copies.h -- comes before those sources of the library that move bytes: what
 * they copy is counted, and takes time (work.hpp). */
#ifndef SIM_COPIES_H
#define SIM_COPIES_H

#include <stdint.h>
#include <string.h>

#include "fold.h"

/* Bytes that the actor which is running has copied since it last paid for
 * them. Only one runs at a time. */
extern uint64_t sim_copied;

static inline void *sim_copy(void *to, const void *from, size_t bytes)
{
    sim_copied += bytes;
    return sim_is_folded(to) && sim_is_folded(from)
               ? sim_fold_copy(to, from, bytes)
               : __builtin_memcpy(to, from, bytes);
}

#undef memcpy
#define memcpy sim_copy

#endif
