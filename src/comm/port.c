/* port.c -- see port.h.
 *
 * Each rank makes its own memory, so that it is close to its processor. What
 * can fail is done by each rank alone, between two agreements: make, agree, map
 * that of others, agree. Only the ranks of a node do so, as no others can use
 * it. If anything failed on any of them, all of them go without a port; those of
 * other nodes may have one. Until then the memory is reached through its maker's open file, so a
 * rank that dies leaves nothing behind. */
#include "comm/port.h"

#include <stdatomic.h>

#include "comm/shared.h"

struct inside {
    struct bm_port base;
    struct bm_comm *comm, *near;
    /* Of the ranks of the node: */
    struct bm_shared_handle *told; /* [near->size]; of 0 bytes: none */
    struct bm_shared *rooms;       /* [near->size]; of this rank: its own */
};

void bm_port_free(struct bm_port *base)
{
    struct inside *p = (struct inside *)base;
    struct bm_comm *comm;

    if (!p)
        return;
    comm = p->comm;
    /* If touch is lost, MPI may still receive into this rank's own memory. */
    for (int r = 0; p->rooms && r < p->near->size; r++)
        if (!comm->lost || r != p->near->rank)
            bm_shared_release(&p->rooms[r]);
    bm_drop(comm->a, p->rooms);
    if (!comm->lost) /* else MPI may still use it */
        bm_drop(comm->a, p->told);
    bm_drop(comm->a, p);
}

/* Whether any rank of the node has failed; on all alike. */
static int has_any(struct bm_comm *near, int *failed, struct bm_error *error)
{
    uint64_t any = *failed != 0;
    int rc = bm_comm_max(near, &any, 1, error);

    *failed = any != 0;
    return rc;
}

/* Tell the ranks of the node where this rank's memory is. */
static int tell(struct inside *p, const struct bm_shared_handle *mine,
                struct bm_error *error)
{
    struct bm_comm *near = p->near;
    int rc = near->functions->gather(near, mine, sizeof(*mine), p->told);

    if (!rc)
        rc = near->functions->broadcast(
            near, p->told, (size_t)near->size * sizeof(*p->told), 0);
    return rc ? bm_fail(error, BOUMA_ECOMM, "%s", near->why) : BOUMA_OK;
}

static int map_others(struct inside *p)
{
    int code = 0;

    for (int r = 0; r < p->near->size && !code; r++)
        if (p->told[r].bytes && r != p->near->rank)
            code = bm_shared_map(&p->rooms[r], &p->told[r]);
    return code;
}

static struct inside *new_inside(struct bm_comm *comm)
{
    struct inside *p = bm_new(comm->a, 1, sizeof(*p));
    size_t ranks = (size_t)bm_comm_near(comm)->size;

    if (!p)
        return NULL;
    p->comm = comm;
    p->near = bm_comm_near(comm);
    p->told = bm_new(comm->a, ranks, sizeof(*p->told));
    p->rooms = bm_new(comm->a, ranks, sizeof(*p->rooms));
    for (size_t r = 0; p->rooms && r < ranks; r++)
        p->rooms[r].file = -1;
    if (p->told && p->rooms)
        return p;
    bm_port_free(&p->base);
    return NULL;
}

int bm_port_new(struct bm_port **out, struct bm_comm *comm, size_t bytes,
                struct bm_error *error)
{
    struct bm_comm *near = bm_comm_near(comm);
    struct inside *p = new_inside(comm);
    struct bm_shared_handle mine = {0};
    int failed = !p, rc;

    *out = NULL;
    if (!failed && bytes)
        failed = bm_shared_make(&p->rooms[near->rank], &mine, bytes);
    rc = has_any(near, &failed, error);
    if (!rc && !failed) {
        rc = tell(p, &mine, error);
        if (!rc) {
            failed = map_others(p);
            rc = has_any(near, &failed, error);
        }
    }
    if (rc || failed) {
        bm_port_free(p ? &p->base : NULL);
        return rc;
    }
    bm_shared_seal(&p->rooms[near->rank]);
    p->base.memory = p->rooms[near->rank].data;
    p->base.bytes = bytes;
    p->base.all_near = near == comm;
    *out = &p->base;
    return BOUMA_OK;
}

/* The number of a rank among those of this node; -1: it is on another. */
static int number_of(const struct inside *p, int peer)
{
    const struct bm_places *places = &p->comm->places;
    int node;

    if (p->near == p->comm)
        return peer;
    node = bm_places_node(places, peer);
    return node == bm_places_node(places, p->comm->rank)
               ? bm_places_position(places, peer) - places->first[node]
               : -1;
}

uint8_t *bm_port_room(const struct bm_port *base, int peer)
{
    const struct inside *p = (const struct inside *)base;
    int number = number_of(p, peer);

    return number < 0 ? NULL : p->rooms[number].data;
}

int bm_port_is_seen(const struct bm_port *base, int peer)
{
    return base->bytes && number_of((const struct inside *)base, peer) >= 0;
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
