/* comm_mpi_make.c -- how a communicator over MPI is made: a duplicate of the
 * caller's, on which all ranks agree, and groups of its ranks. */
#include <sys/mman.h>

#include "base/clock.h"
#include "base/plain_text.h"
#include "comm/comm_mpi.h"

/* What goes wrong while there is no communicator of our own yet. A call of MPI
 * that has failed there can only be told; 'text' follows the rank. */
static int fail_making(MPI_Comm comm, int code, const char *text,
                       struct bm_error *error)
{
    char why[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0, rank = -1;

    if (code && MPI_Error_string(code, why, &length))
        length = 0;
    why[length] = 0;
    if (MPI_Comm_rank(comm, &rank))
        rank = -1;
    return bm_fail(error, BOUMA_ECOMM, "rank %d: %s%s%.300s", rank, text,
                   length ? ": " : "", why);
}

/* Wait for a request on the caller's communicator, whose errors are handled as
 * the caller wants it. */
static int wait_for_making(struct bm_mpi_comm *m, MPI_Comm comm,
                           struct bm_error *error)
{
    struct bm_error ignored = {0};
    double since = bm_clock();
    unsigned idle = 0;
    char text[160];
    int done = 0;

    for (;;) {
        int code = MPI_Test(&m->making, &done, MPI_STATUS_IGNORE);

        m->base.lost = code || (!done && bm_clock() - since > m->base.timeout);
        if (code)
            return fail_making(comm, code, "MPI_Test failed", error);
        if (m->base.lost) {
            bm_format(text, sizeof(text),
                      "waited %g s for the other ranks to open this (option "
                      "'timeout'); all ranks must make the same calls in the "
                      "same order",
                      m->base.timeout);
            return fail_making(comm, 0, text, error);
        }
        if (done)
            return BOUMA_OK;
        bm_comm_idle(&m->base, idle++, since, &ignored);
    }
}

/* All ranks have memory, or none goes on: some MPIs die of it in what comes
 * next. */
static int agree_on_memory(struct bm_mpi_comm *m, MPI_Comm comm, int poor,
                           struct bm_error *error)
{
    int code, rc;

    m->poor[0] = poor;
    code = MPI_Iallreduce(&m->poor[0], &m->poor[1], 1, MPI_INT, MPI_MAX, comm,
                          &m->making);
    if (code)
        return fail_making(comm, code, "MPI_Iallreduce failed", error);
    rc = wait_for_making(m, comm, error);
    if (!rc && m->poor[1])
        rc = bm_fail(error, BOUMA_ENOMEM,
                     "a rank has no memory for a communicator");
    return rc;
}

static int duplicate(struct bm_mpi_comm *m, MPI_Comm comm,
                     struct bm_error *error)
{
    int rank = 0, size = 1, rc = MPI_Comm_idup(comm, &m->comm, &m->making);

    if (rc) {
        m->comm = MPI_COMM_NULL;
        return fail_making(comm, rc, "MPI_Comm_idup failed", error);
    }
    if (wait_for_making(m, comm, error))
        return BOUMA_ECOMM;
    rc = 1;
    for (int tries = 0; rc && tries < BM_MPI_TRIES; tries++) {
        rc = MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
        if (!rc)
            rc = MPI_Comm_rank(m->comm, &rank);
        if (!rc)
            rc = MPI_Comm_size(m->comm, &size);
    }
    if (rc) { /* a rank that does not know where it is cannot tell anyone */
        m->base.lost = 1;
        return fail_making(comm, rc, "its new communicator cannot be used",
                           error);
    }
    m->base.rank = rank;
    m->base.size = size;
    return BOUMA_OK;
}

/* This rank has no memory, and takes part in one agreement, to tell so. What
 * that needs is a page of the system's, and not on the stack: if others do not
 * come in time, MPI may use it at any later time. Where there is not even a
 * page, others find out by their timeout. */
static int tell_poverty(const bouma_allocator *a, MPI_Comm comm, double timeout,
                        struct bm_error *error)
{
    struct bm_mpi_comm *m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int rc;

    if (m == MAP_FAILED)
        return bm_fail(error, BOUMA_ENOMEM, "no memory for a communicator");
    bm_mpi_init(m, a, timeout);
    rc = agree_on_memory(m, comm, 1, error);
    if (!m->base.lost)
        munmap(m, sizeof(*m));
    return rc;
}

/* Else MPI would end the program. If MPI cannot say, it runs. */
static int check_running(struct bm_error *error)
{
    int begun = 1, over = 0;

    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    if (begun && !over)
        return BOUMA_OK;
    return bm_fail(error, BOUMA_ESTATE,
                   over ? "MPI_Finalize() was called before this"
                        : "MPI is not initialized; call MPI_Init() first");
}

/* One that nobody else has stands for a node that cannot be told. */
static uint64_t node_of(const struct bm_mpi_comm *m)
{
    uint64_t node = bm_shared_node();

    return node ? node : (uint64_t)m->base.rank + 1;
}

int bm_comm_mpi_new(struct bm_comm **out, const bouma_allocator *a,
                    MPI_Comm comm, double timeout, struct bm_error *error)
{
    struct bm_mpi_comm *m;
    int rc = check_running(error);

    *out = NULL;
    if (rc) /* no rank can be told */
        return rc;
    m = bm_new(a, 1, sizeof(*m));
    if (!m)
        return tell_poverty(a, comm, timeout, error);
    bm_mpi_init(m, a, timeout);
    rc = bm_comm_reserve(&m->base);
    bm_comm_relieve(&m->base); /* it is for MPI now */
    rc = agree_on_memory(m, comm, rc != BOUMA_OK, error);
    if (!rc)
        rc = duplicate(m, comm, error);
    if (!rc) {
        bm_mpi_settle_first(m);
        rc = bm_comm_settle(&m->base, node_of(m), error);
    }
    if (rc)
        bm_comm_free(&m->base);
    else
        *out = &m->base;
    return rc;
}

/* MPI's own ways to make a communicator of some ranks block. So a group is a
 * list of ranks, and messages with tags of its own; those of a group of a group
 * are above these. */
int bm_mpi_make_group(struct bm_comm **out, struct bm_mpi_comm *whole,
                      const struct bm_places *places, const int *members,
                      int count)
{
    const bouma_allocator *a = whole->base.a;
    struct bm_mpi_comm *m = bm_new(a, 1, sizeof(*m));
    int *own = bm_new_raw(a, (size_t)count, sizeof(*own));

    *out = NULL;
    if (!m || !own) {
        bm_drop(a, m);
        bm_drop(a, own);
        return BOUMA_ENOMEM;
    }
    bm_mpi_init(m, a, whole->base.timeout);
    for (int i = 0; i < count; i++)
        own[i] = bm_mpi_rank_of(whole, members[i]);
    m->comm = whole->comm;
    m->whole = whole;
    m->members = own;
    m->base.names = own;
    m->tag = whole->tag + BM_MPI_GROUP_TAG;
    m->base.size = count;
    m->base.message_bytes = whole->base.message_bytes;
    m->base.rank = bm_mpi_rank_at(m, bm_mpi_rank_of(whole, whole->base.rank));
    *out = &m->base;
    if (!bm_mpi_settle_group(m, places, members))
        return BOUMA_OK;
    bm_comm_free(*out);
    *out = NULL;
    return BOUMA_ENOMEM;
}

int bm_mpi_group(struct bm_comm **out, struct bm_comm *whole,
                 const int *members, int count)
{
    int rc = bm_mpi_make_group(out, (struct bm_mpi_comm *)whole, &whole->places,
                               members, count);

    if (!rc)
        rc = bm_mpi_make_near(&(*out)->near, (struct bm_mpi_comm *)*out,
                              &(*out)->places);
    if (!rc)
        rc = bm_mpi_make_leaders(&(*out)->leaders, (struct bm_mpi_comm *)*out,
                                 &(*out)->places);
    if (rc) {
        bm_comm_free(*out);
        *out = NULL;
    }
    return rc;
}
