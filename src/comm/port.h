/* port.h -- buffers of ranks that others on the same node write to and read
 * from themselves. */
#ifndef BM_PORT_H
#define BM_PORT_H

#include "comm/comm.h"

struct bm_port {
    uint8_t *memory; /* of this rank; NULL: it has none */
    size_t bytes;
    int all_near; /* all ranks are on one node */
};

/* 'bytes' bytes on this rank (may be 0) that the ranks of its node share. NULL
 * on all ranks of the node if that cannot be: messages do instead. ECOMM, or
 * BOUMA_OK. Collective among the ranks of a node; memory and messages are of
 * their number. */
int bm_port_new(struct bm_port **out, struct bm_comm *comm, size_t bytes,
                struct bm_error *error);
void bm_port_free(struct bm_port *p); /* accepts NULL; not collective */

/* The memory of another rank, or of this one; NULL: it has none, or is on
 * another node. */
uint8_t *bm_port_room(const struct bm_port *p, int peer);
/* Whether another rank sees the memory of this one. */
int bm_port_is_seen(const struct bm_port *p, int peer);

/* Before a signal that tells others about this memory, and after one was heard.
 */
void bm_port_fence(void);

#endif
