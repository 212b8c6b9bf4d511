/* copies.h -- comes before those sources of the library that move bytes: what
 * they copy is counted, and takes time (work.hpp). */
#ifndef SIM_COPIES_H
#define SIM_COPIES_H

#include <stdint.h>
#include <string.h>

/* Bytes that the actor which is running has copied since it last paid for
 * them. Only one runs at a time. */
extern uint64_t sim_copied;

#undef memcpy
#define memcpy(to, from, bytes)                                                \
    (sim_copied += (uint64_t)(bytes), __builtin_memcpy(to, from, bytes))

#endif
