/* comm_mpi_settle.c -- where the ranks of a communicator over MPI are: the tree
 * of nodes along which they talk, the group of those of one node, and how these
 * wake each other.
 *
 * Nobody blocks in MPI, since that could not be given up when the time is over
 * (comm_mpi.c). So who waits looks again and again, and sleeps in between: till
 * it is rung, by a rank of its node that has sent it something, or by its own
 * thread; or, as ranks of other nodes cannot ring, and MPI may want to be
 * called for what is on its way, for a part of the time that it has waited. */
#include <string.h>

#include "base/processors.h"
#include "comm/comm_mpi.h"

/* ---- bells --------------------------------------------------------------- */

static struct bm_mpi_comm *top(struct bm_mpi_comm *m)
{
    while (m->whole)
        m = m->whole;
    return m;
}

void bm_mpi_ring(struct bm_mpi_comm *m, int peer)
{
    const struct bm_places *p;
    int at, node;

    if (m->members)
        peer = m->members[peer];
    m = top(m);
    p = &m->base.places;
    if (!m->bells.data)
        return;
    at = bm_places_position(p, peer);
    node = bm_places_node(p, m->base.rank);
    if (at >= p->first[node] && at < p->first[node + 1])
        bm_bell_ring((struct bm_bell *)m->bells.data + (at - p->first[node]));
}

void bm_mpi_attend(struct bm_mpi_comm *m)
{
    m = top(m);
    m->rung = bm_bell_heard(m->bell);
}

int bm_mpi_sleep(struct bm_comm *comm, double seconds)
{
    struct bm_mpi_comm *m = top((struct bm_mpi_comm *)comm);
    uint32_t before = m->rung;

    bm_bell_sleep(m->bell, before, seconds);
    m->rung = bm_bell_heard(m->bell);
    return m->rung != before;
}

void bm_mpi_wake(struct bm_comm *comm)
{
    bm_bell_ring(top((struct bm_mpi_comm *)comm)->bell);
}

/* The first rank of a node makes the bells of all, and the others map them. A
 * rank that cannot does without: it is late, then, but not lost. Collective
 * among the ranks of a node. */
static int hang_bells(struct bm_mpi_comm *m)
{
    struct bm_comm *near = bm_comm_near(&m->base);
    struct bm_shared_handle handle = {0};
    uint64_t nothing = 0;
    int rc, failed = 0;

    bm_shared_release(&m->bells);
    m->bell = &m->lone;
    if (near->size == 1)
        return 0;
    if (near->rank == 0)
        failed = bm_shared_make(&m->bells, &handle,
                                (size_t)near->size * sizeof(struct bm_bell));
    rc = near->functions->broadcast(near, &handle, sizeof(handle), 0);
    if (!rc && near->rank && handle.bytes)
        failed = bm_shared_map(&m->bells, &handle);
    if (!rc)
        rc = near->functions->reduce(near, &nothing, 1, 0);
    bm_shared_seal(&m->bells);
    if (!failed && m->bells.data)
        m->bell = (struct bm_bell *)m->bells.data + near->rank;
    m->rung = bm_bell_heard(m->bell);
    return rc;
}

/* ---- the tree ------------------------------------------------------------ */

static uint8_t *new_relay(const struct bm_mpi_comm *m)
{
    return bm_new_raw(m->base.a, BM_MPI_RELAYS, BM_MPI_RELAY);
}

/* Only those need one that pass on what comes from others. */
static int needs_relay(const struct bm_family *f)
{
    return f->parent >= 0 && f->count;
}

void bm_mpi_settle_first(struct bm_mpi_comm *m)
{
    int first[2] = {0, m->base.size};
    struct bm_places one = {.ranks = m->base.size, .nodes = 1, .first = first};

    bm_family_of(&m->family, &one, m->base.rank);
}

int bm_mpi_settle_group(struct bm_mpi_comm *m, const struct bm_places *whole,
                        const int *members)
{
    int rc = bm_places_subset(&m->base.places, whole, members, m->base.size);

    if (rc)
        return rc;
    m->base.crowded = m->whole->base.crowded;
    bm_family_of(&m->family, &m->base.places, m->base.rank);
    if (needs_relay(&m->family)) {
        m->relay = new_relay(m);
        rc = m->relay ? BOUMA_OK : BOUMA_ENOMEM;
    }
    return rc;
}

/* The group of the ranks of this node; NULL if that is all of them. */
int bm_mpi_make_near(struct bm_comm **out, struct bm_mpi_comm *whole,
                     const struct bm_places *p)
{
    const bouma_allocator *a = whole->base.a;
    int node = bm_places_node(p, whole->base.rank), begin = p->first[node];
    int count = p->first[node + 1] - begin, rc;
    int *members;

    *out = NULL;
    if (p->nodes == 1)
        return BOUMA_OK;
    members = bm_new_raw(a, (size_t)count, sizeof(*members));
    if (!members)
        return BOUMA_ENOMEM;
    for (int i = 0; i < count; i++)
        members[i] = bm_places_rank(p, begin + i);
    rc = bm_mpi_make_group(out, whole, p, members, count);
    bm_drop(a, members);
    return rc;
}

/* The group of the first ranks of all nodes, on these; NULL where there is no
 * need of one. */
int bm_mpi_make_leaders(struct bm_comm **out, struct bm_mpi_comm *whole,
                        const struct bm_places *p)
{
    const bouma_allocator *a = whole->base.a;
    int node = bm_places_node(p, whole->base.rank), rc;
    int *members;

    *out = NULL;
    if (p->nodes == 1 || p->nodes == p->ranks ||
        bm_places_position(p, whole->base.rank) != p->first[node])
        return BOUMA_OK;
    members = bm_new_raw(a, (size_t)p->nodes, sizeof(*members));
    if (!members)
        return BOUMA_ENOMEM;
    for (int i = 0; i < p->nodes; i++)
        members[i] = bm_places_rank(p, p->first[i]);
    rc = bm_mpi_make_group(out, whole, p, members, p->nodes);
    bm_drop(a, members);
    return rc;
}

void bm_mpi_unsettle(struct bm_mpi_comm *m)
{
    bm_comm_free(m->base.leaders);
    m->base.leaders = NULL;
    bm_comm_free(m->base.near);
    m->base.near = NULL;
    bm_places_release(&m->base.places);
    bm_shared_release(&m->bells);
    m->bell = &m->lone;
    if (!m->base.lost) { /* else MPI may still use it */
        bm_drop(m->base.a, m->relay);
        m->relay = NULL;
    }
}

/* What is found out of nodes, before it is used. */
struct found {
    struct bm_places places;
    struct bm_comm *near, *leaders;
    uint8_t *relay;
};

/* The nodes of all ranks, and memory for what comes of them. Collective; ends
 * with one status on all ranks. */
static int find_nodes(struct found *out, struct bm_mpi_comm *m, uint64_t node,
                      struct bm_error *error)
{
    struct bm_comm *comm = &m->base;
    size_t *sizes = bm_new_raw(comm->a, (size_t)comm->size, sizeof(*sizes));
    struct bm_buffer mine, all;
    int rc = BOUMA_OK;

    bm_buffer_init(&mine, comm->a);
    bm_buffer_init(&all, comm->a);
    bm_put_bytes(&mine, &node, sizeof(node));
    if (!m->relay)
        m->relay = new_relay(m);
    out->relay = new_relay(m);
    if (!sizes || !m->relay || !out->relay)
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory for a communicator");
    rc = bm_comm_collect(comm, &mine, &all, sizes, rc, error);
    if (!rc &&
        (bm_places_init(&out->places, comm->a,
                        (const uint64_t *)(const void *)all.data, comm->size) ||
         bm_mpi_make_near(&out->near, m, &out->places) ||
         bm_mpi_make_leaders(&out->leaders, m, &out->places)))
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory for a communicator");
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(comm->a, sizes);
    return bm_comm_agree(comm, rc, error);
}

int bm_mpi_settle(struct bm_comm *comm, uint64_t node, struct bm_error *error)
{
    struct bm_mpi_comm *m = (struct bm_mpi_comm *)comm;
    struct found found = {0};
    int rc = find_nodes(&found, m, node, error), here;

    if (rc) {
        bm_comm_free(found.leaders);
        bm_comm_free(found.near);
        bm_places_release(&found.places);
        bm_drop(comm->a, found.relay);
        return rc;
    }
    bm_mpi_unsettle(m);
    comm->places = found.places;
    comm->near = found.near;
    comm->leaders = found.leaders;
    here = bm_comm_near(comm)->size;
    /* Where a processor has two ranks, the other still comes soon. */
    comm->crowded = here > 2 * bm_processors_find().all;
    bm_family_of(&m->family, &comm->places, comm->rank);
    if (needs_relay(&m->family))
        m->relay = found.relay;
    else
        bm_drop(comm->a, found.relay);
    hang_bells(m);
    /* This makes the connections that all later ones need. */
    return bm_comm_agree(comm, BOUMA_OK, error);
}
