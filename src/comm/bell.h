/* bell.h -- a rank that has nothing to do sleeps; whoever has something for it
 * rings: a rank of the same node that has sent it a message, or its own thread.
 * No ringing is relied on: sleep is short, since ranks of other nodes cannot
 * ring. */
#ifndef BM_BELL_H
#define BM_BELL_H

#include <stdatomic.h>
#include <stdint.h>

/* In memory that processes may share; zeroed, it is ready. As long as a line of
 * a processor's cache: in an array that begins with one, none is on two. Not
 * aligned to it by its type, as the allocators of users need not do that. */
struct bm_bell {
    _Atomic uint32_t rung; /* so many times */
    _Atomic uint32_t asleep;
    uint8_t unused[56];
};

/* May be called by any thread, of any process that sees it. */
void bm_bell_ring(struct bm_bell *b);

/* How often it was rung. To be asked before one looks whether there is anything
 * to do: */
uint32_t bm_bell_heard(const struct bm_bell *b);
/* If there was nothing, sleep till it is rung again, or for so many seconds;
 * not at all, if it was rung since. One at a time. */
void bm_bell_sleep(struct bm_bell *b, uint32_t heard, double seconds);

#endif
