/* port.c -- see port.h.
 *
 * Each rank makes its own memory, so that it is close to its processor. What
 * can fail is done by each rank alone, between two agreements: make, agree, map
 * that of others, agree. If anything failed on any rank, all of them go without
 * a port. Until then the memory is reached through its maker's open file, so a
 * rank that dies leaves nothing behind. */
#include "comm/port.h"

#include <stdatomic.h>

#include "comm/shared.h"

/* What ranks tell each other. */
struct told {
    uint64_t node;
    struct bm_shared_handle handle; /* of 0 bytes: none */
};
#define WORDS (sizeof(struct told) / sizeof(uint64_t))

struct inside {
    struct bm_port base;
    struct bm_comm *comm;
    struct told *told;       /* [size] */
    struct bm_shared *rooms; /* [size]; of this rank: its own */
};

void bm_port_free(struct bm_port *base)
{
    struct inside *p = (struct inside *)base;
    struct bm_comm *comm;

    if (!p)
        return;
    comm = p->comm;
    /* If touch is lost, MPI may still receive into this rank's own memory. */
    for (int r = 0; p->rooms && r < comm->size; r++)
        if (!comm->lost || r != comm->rank)
            bm_shared_release(&p->rooms[r]);
    bm_drop(comm->a, p->rooms);
    if (!comm->lost) /* else MPI may still use it */
        bm_drop(comm->a, p->told);
    bm_drop(comm->a, p);
}

/* One that nobody else has stands for a node that cannot be told. */
static uint64_t node_of(struct bm_comm *comm)
{
    if (!comm->node)
        comm->node = bm_shared_node();
    if (!comm->node)
        comm->node = (uint64_t)comm->rank + 1;
    return comm->node;
}

/* Whether any rank has failed; on all alike. */
static int has_any(struct bm_comm *comm, int *failed, struct bm_error *error)
{
    uint64_t any = *failed != 0;
    int rc = bm_comm_max(comm, &any, 1, error);

    *failed = any != 0;
    return rc;
}

/* Map the memory of the ranks of this node. */
static int map_others(struct inside *p)
{
    int code = 0;

    p->base.all_near = 1;
    for (int r = 0; r < p->comm->size; r++) {
        const struct told *t = &p->told[r];

        if (t->node != p->told[p->comm->rank].node)
            p->base.all_near = 0;
        else if (t->handle.bytes && r != p->comm->rank && !code)
            code = bm_shared_map(&p->rooms[r], &t->handle);
    }
    return code;
}

int bm_port_new(struct bm_port **out, struct bm_comm *comm, size_t bytes,
                struct bm_error *error)
{
    struct inside *p = bm_new(comm->a, 1, sizeof(*p));
    struct told mine = {.node = node_of(comm)};
    int failed = !p, rc;

    *out = NULL;
    if (p) {
        p->comm = comm;
        p->told = bm_new(comm->a, (size_t)comm->size, sizeof(*p->told));
        p->rooms = bm_new(comm->a, (size_t)comm->size, sizeof(*p->rooms));
        failed = !p->told || !p->rooms;
        for (int r = 0; p->rooms && r < comm->size; r++)
            p->rooms[r].file = -1;
    }
    if (!failed && bytes)
        failed = bm_shared_make(&p->rooms[comm->rank], &mine.handle, bytes);
    rc = has_any(comm, &failed, error);
    if (!rc && !failed) {
        if (comm->functions->tell(comm, (const uint64_t *)&mine, (int)WORDS,
                                  (uint64_t *)p->told))
            rc = bm_fail(error, BOUMA_ECOMM, "%s", comm->why);
        else
            failed = map_others(p);
        if (!rc)
            rc = has_any(comm, &failed, error);
    }
    if (rc || failed) {
        bm_port_free(p ? &p->base : NULL);
        return rc;
    }
    bm_shared_seal(&p->rooms[comm->rank]);
    p->base.memory = p->rooms[comm->rank].data;
    p->base.bytes = bytes;
    *out = &p->base;
    return BOUMA_OK;
}

uint8_t *bm_port_room(const struct bm_port *base, int peer)
{
    return ((const struct inside *)base)->rooms[peer].data;
}

int bm_port_is_seen(const struct bm_port *base, int peer)
{
    const struct inside *p = (const struct inside *)base;

    return base->bytes && p->told[peer].node == p->told[p->comm->rank].node;
}

/* On processors that reorder memory accesses, what was written to the memory
 * must be there before the signal that tells so, and what is read or
 * overwritten after a signal must not be read or overwritten before it. MPI
 * orders the bytes of its own messages; whether it does more, which it mostly
 * does, it need not say. Signals are rare, so the strongest fence will do at
 * both ends. */
void bm_port_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}
