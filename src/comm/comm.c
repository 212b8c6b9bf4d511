/* comm.c -- agreement and gathering, on top of the table's functions. */
#include "comm/comm.h"

#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/plain_text.h"

/* A status as a number of which the largest is the worst, and among equals
 * that of the lowest rank: status in the high half, rank in the low. */
static uint64_t pack(int rc, int rank)
{
    return rc == BOUMA_OK
               ? 0
               : (uint64_t)(uint32_t)-rc << 32 | (UINT32_MAX - (uint32_t)rank);
}

static int status_of(uint64_t packed)
{
    return -(int)(packed >> 32);
}

static int rank_of(uint64_t packed)
{
    return (int)(UINT32_MAX - (uint32_t)packed);
}

static int comm_failed(const struct bm_comm *comm, struct bm_error *error,
                       int rc)
{
    return rc ? bm_fail(error, BOUMA_ECOMM, "%s", comm->why) : BOUMA_OK;
}

/* ---- when things go wrong ------------------------------------------------ */

int bm_comm_group(struct bm_comm **out, struct bm_comm *whole,
                  const int *members, int count)
{
    const struct bm_comm_functions *functions =
        whole->trace ? whole->untraced : whole->functions;

    return functions->group(out, whole, members, count);
}

int bm_comm_settle(struct bm_comm *comm, uint64_t node, struct bm_error *error)
{
    return comm->functions->settle(comm, node, error);
}

int bm_comm_lose(struct bm_comm *comm, const char *format, ...)
{
    va_list arguments;

    if (comm->lost)
        return BOUMA_ECOMM;
    comm->lost = 1;
    va_start(arguments, format);
    bm_format_list(comm->why, sizeof(comm->why), format, arguments);
    va_end(arguments);
    comm->functions->warn(comm);
    return BOUMA_ECOMM;
}

/* What MPI needs to get a few short messages through, with some to spare:
 * malloc() may ask the system for a MiB where it cannot get less. */
#define RESERVE ((size_t)2 << 20)

/* Pages of its own and not from malloc(), which may keep what it is given back
 * for sizes that nobody asks for. They are not touched: what makes malloc()
 * fail is the limit on the address space, or on what a system that does not
 * overcommit may promise, and untouched pages count for both. Where it is the
 * pages themselves that run out, programs are killed and not told. */
int bm_comm_reserve(struct bm_comm *comm)
{
    void *pages;

    if (comm->reserve)
        return BOUMA_OK;
    pages = mmap(NULL, RESERVE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return BOUMA_ENOMEM;
    comm->reserve = pages;
    return BOUMA_OK;
}

void bm_comm_relieve(struct bm_comm *comm)
{
    if (comm->reserve)
        munmap(comm->reserve, RESERVE);
    comm->reserve = NULL;
}

/* Before an agreement: a rank that has failed may have no memory left even for
 * messages. When all is well again the reserve is filled up; if that fails, the
 * next failure may be one of MPI, which ends in ECOMM. */
static void brace(struct bm_comm *comm, int rc)
{
    if (rc)
        bm_comm_relieve(comm);
    else if (comm->size > 1)
        bm_comm_reserve(comm);
}

/* Forget memory that MPI may still use. */
static void abandon(const struct bm_comm *comm, struct bm_buffer *b)
{
    if (!comm->lost)
        return;
    b->data = NULL;
    b->size = b->capacity = 0;
}

/* ---- agreement ----------------------------------------------------------- */

/* All ranks have the same 'packed': pass on the message of the rank it names.
 */
static int spread_message(struct bm_comm *comm, uint64_t packed,
                          struct bm_error *error)
{
    int root = rank_of(packed), rc;
    struct bm_error worst;

    if (comm->rank == root) {
        worst = *error;
        worst.status = status_of(packed);
        if (!worst.text[0])
            snprintf(worst.text, sizeof(worst.text), "%s",
                     bouma_status_text(worst.status));
        if (comm->size > 1 && strncmp(worst.text, "rank ", 5))
            bm_error_prefix(&worst, "rank %d", bm_comm_name(comm, root));
    } else {
        memset(&worst, 0, sizeof(worst));
    }
    rc = comm->functions->broadcast(comm, &worst, sizeof(worst), root);
    if (rc)
        return comm_failed(comm, error, rc);
    worst.text[sizeof(worst.text) - 1] = 0;
    *error = worst;
    return worst.status;
}

int bm_comm_agree(struct bm_comm *comm, int rc, struct bm_error *error)
{
    uint64_t worst = pack(rc, comm->rank);
    int failed;

    brace(comm, rc);
    failed = comm->functions->reduce(comm, &worst, 1, 0);
    if (failed)
        return comm_failed(comm, error, failed);
    return worst ? spread_message(comm, worst, error) : BOUMA_OK;
}

int bm_comm_begin(struct bm_comm *comm, const char *call, uint64_t hash,
                  uint64_t largest[2], int rc, struct bm_error *error)
{
    uint64_t id = bm_hash64(call, strlen(call), 0);
    /* A value and its complement: both are the largest only if all are equal.
     * Always the same number of values, so that any two calls can meet. */
    uint64_t v[7] = {pack(rc, comm->rank), id, ~id, hash, ~hash, 0, 0};
    int failed;

    if (largest)
        memcpy(v + 5, largest, 2 * sizeof(*v));
    brace(comm, rc);
    failed = comm->functions->reduce(comm, v, 7, 0);
    if (failed)
        return comm_failed(comm, error, failed);
    if (v[0])
        return spread_message(comm, v[0], error);
    if (v[1] != ~v[2]) {
        rc = BOUMA_OK;
        if (v[1] != id)
            rc = bm_fail(
                error, BOUMA_EMISMATCH,
                "this rank is in %s while another is in a different "
                "call; all ranks must make the same calls in the same order",
                call);
        return bm_comm_agree(comm, rc, error);
    }
    if (v[3] != ~v[4])
        return BOUMA_EMISMATCH; /* the caller finds out what differs */
    if (largest)
        memcpy(largest, v + 5, 2 * sizeof(*v));
    return BOUMA_OK;
}

int bm_comm_max(struct bm_comm *comm, uint64_t *values, int count,
                struct bm_error *error)
{
    return bm_comm_reduce(comm, values, count, 0, error);
}

int bm_comm_reduce(struct bm_comm *comm, uint64_t *values, int count, int sums,
                   struct bm_error *error)
{
    return comm_failed(comm, error,
                       comm->functions->reduce(comm, values, count, sums));
}

int bm_comm_share(struct bm_comm *comm, struct bm_buffer *buffer, int root,
                  int rc, struct bm_error *error)
{
    uint64_t bytes;
    int failed;

    if (comm->rank != root)
        bm_buffer_clear(buffer);
    if (comm->rank == root && buffer->failed && !rc)
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory for %zu bytes",
                     buffer->size);
    rc = bm_comm_agree(comm, rc, error);
    if (rc || comm->size == 1)
        return rc;
    bytes = buffer->size;
    failed = comm->functions->broadcast(comm, &bytes, sizeof(bytes), root);
    if (failed)
        return comm_failed(comm, error, failed);
    if (comm->rank != root && !bm_buffer_extend(buffer, (size_t)bytes) && bytes)
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory for %" PRIu64 " bytes",
                     bytes);
    rc = bm_comm_agree(comm, rc, error);
    if (rc)
        return rc;
    failed =
        comm->functions->broadcast(comm, buffer->data, (size_t)bytes, root);
    abandon(comm, buffer);
    return comm_failed(comm, error, failed);
}

/* ---- gathering ----------------------------------------------------------- */

/* Who gets what is gathered. */
enum reach { AT_ROOT, AT_NODES, EVERYWHERE };

/* Whether this rank does. */
static int is_reached(const struct bm_comm *comm, enum reach reach)
{
    return reach == EVERYWHERE ||
           (reach == AT_NODES ? bm_comm_leads(comm) : comm->rank == 0);
}

/* Those that rank 0 has to pass it on to; NULL: none, or not this rank. */
static struct bm_comm *receivers(struct bm_comm *comm, enum reach reach)
{
    if (reach == AT_NODES && comm->places.nodes != comm->size)
        return comm->leaders;
    return reach == AT_ROOT ? NULL : comm;
}

/* What all ranks have, on rank 0, and from there to others; in the order of
 * positions. */
static int gather(struct bm_comm *comm, const void *data, size_t bytes,
                  void *all, size_t total, enum reach reach,
                  struct bm_error *error)
{
    struct bm_comm *to = receivers(comm, reach);
    int rc = comm->functions->gather(comm, data, bytes, all);

    if (rc || !to || !total)
        return comm_failed(comm, error, rc);
    return comm_failed(to, error, to->functions->broadcast(to, all, total, 0));
}

/* The sizes of all ranks' buffers: told[size], by position. */
static int tell_sizes(struct bm_comm *comm, const struct bm_buffer *mine,
                      uint64_t *told, enum reach reach, int rc,
                      struct bm_error *error)
{
    uint64_t bytes = mine->size;

    if (mine->failed && !rc)
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory for a message");
    if (!told && is_reached(comm, reach) && !rc)
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory for %d sizes", comm->size);
    /* Who has no memory for what all tell cannot take part in that. */
    rc = bm_comm_agree(comm, rc, error);
    return rc ? rc
              : gather(comm, &bytes, sizeof(bytes), told,
                       (size_t)comm->size * sizeof(*told), reach, error);
}

/* The order of ranks, instead of that of positions; told[size] are the sizes by
 * position, and become offsets. */
static void put_in_order(uint8_t *to, const struct bm_comm *comm,
                         const uint8_t *from, uint64_t *told,
                         const size_t *sizes)
{
    uint64_t at = 0;

    for (int i = 0; i < comm->size; i++) {
        uint64_t bytes = told[i];

        told[i] = at;
        at += bytes;
    }
    for (int r = 0; r < comm->size; r++) {
        if (sizes[r])
            memcpy(to, from + told[bm_places_position(&comm->places, r)],
                   sizes[r]);
        to += sizes[r];
    }
}

/* With the sizes known: what all have. */
static int gather_all(struct bm_comm *comm, struct bm_buffer *mine,
                      struct bm_buffer *all, uint64_t *told,
                      const size_t *sizes, enum reach reach,
                      struct bm_error *error)
{
    int reached = is_reached(comm, reach);
    int rc = BOUMA_OK, is_mixed = reached && comm->places.position != NULL;
    struct bm_buffer mixed;
    size_t total = 0;

    for (int r = 0; r < comm->size && reached; r++)
        total += sizes[r];
    bm_buffer_init(&mixed, comm->a);
    bm_buffer_clear(all);
    if (reached && (!bm_buffer_extend(all, total) ||
                    (is_mixed && !bm_buffer_extend(&mixed, total))))
        rc = bm_fail(error, BOUMA_ENOMEM,
                     "no memory for %zu bytes gathered from %d ranks", total,
                     comm->size);
    rc = bm_comm_agree(comm, rc, error);
    if (!rc)
        rc = gather(comm, mine->data, mine->size,
                    is_mixed ? mixed.data : all->data, total, reach, error);
    if (!rc && is_mixed)
        put_in_order(all->data, comm, mixed.data, told, sizes);
    abandon(comm, mine);
    abandon(comm, all);
    abandon(comm, &mixed);
    bm_buffer_release(&mixed);
    return rc;
}

static int collect(struct bm_comm *comm, struct bm_buffer *mine,
                   struct bm_buffer *all, size_t *sizes, enum reach reach,
                   int rc, struct bm_error *error)
{
    int reached = is_reached(comm, reach);
    uint64_t *told =
        reached ? bm_new(comm->a, (size_t)comm->size, sizeof(*told)) : NULL;

    rc = tell_sizes(comm, mine, told, reach, rc, error);
    for (int r = 0; r < comm->size && reached && !rc; r++)
        sizes[r] = (size_t)told[bm_places_position(&comm->places, r)];
    if (!rc)
        rc = gather_all(comm, mine, all, told, sizes, reach, error);
    if (!comm->lost)
        bm_drop(comm->a, told);
    return rc;
}

int bm_comm_collect(struct bm_comm *comm, struct bm_buffer *mine,
                    struct bm_buffer *all, size_t *sizes, int rc,
                    struct bm_error *error)
{
    return collect(comm, mine, all, sizes, EVERYWHERE, rc, error);
}

int bm_comm_collect_at_nodes(struct bm_comm *comm, struct bm_buffer *mine,
                             struct bm_buffer *all, size_t *sizes, int rc,
                             struct bm_error *error)
{
    return collect(comm, mine, all, sizes, AT_NODES, rc, error);
}

int bm_comm_collect_at_root(struct bm_comm *comm, struct bm_buffer *mine,
                            struct bm_buffer *all, int rc,
                            struct bm_error *error)
{
    uint64_t said[2] = {0, mine->size}; /* the worst status; all bytes */

    if (mine->failed && !rc)
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory for a message");
    said[0] = pack(rc, comm->rank);
    brace(comm, rc);
    rc = bm_comm_reduce(comm, said, 2, 1, error);
    if (rc)
        return rc;
    if (said[0])
        return spread_message(comm, said[0], error);
    bm_buffer_clear(all);
    if (comm->rank == 0 && !bm_buffer_extend(all, (size_t)said[1]))
        rc = bm_fail(error, BOUMA_ENOMEM,
                     "no memory for %" PRIu64 " bytes gathered from %d ranks",
                     said[1], comm->size);
    rc = bm_comm_agree(comm, rc, error);
    if (!rc)
        rc = gather(comm, mine->data, mine->size, all->data, 0, AT_ROOT, error);
    abandon(comm, mine);
    abandon(comm, all);
    return rc;
}

int bm_comm_exchange(struct bm_comm *comm, const struct bm_message *sends,
                     size_t send_count, const struct bm_message *receives,
                     size_t receive_count, struct bm_error *error)
{
    return comm_failed(comm, error,
                       comm->functions->exchange(comm, sends, send_count,
                                                 receives, receive_count));
}

#define SHIFTS 8 /* in the time that others wait */

int bm_comm_do(struct bm_comm *comm, bm_comm_work *work, void *context,
               struct bm_error *error)
{
    uint64_t said[2] = {0};
    int more = 1, rc = BOUMA_OK, failed;

    do {
        if (more && work) {
            more = 0;
            rc = work(context, bm_clock() + comm->timeout / SHIFTS, &more,
                      error);
        }
        said[0] = rc != BOUMA_OK;
        said[1] = work && more && !rc;
        failed = comm->functions->reduce(comm, said, 2, 0);
        if (failed)
            return comm_failed(comm, error, failed);
    } while (!said[0] && said[1]);
    return said[0] ? bm_comm_agree(comm, rc, error) : BOUMA_OK;
}

/* ---- without waiting ---------------------------------------------------- */

int bm_comm_signal(struct bm_comm *comm, const struct bm_signal *signal,
                   struct bm_error *error)
{
    return comm_failed(comm, error, comm->functions->signal(comm, signal));
}

int bm_comm_hear(struct bm_comm *comm, struct bm_signal *signal, int *heard,
                 struct bm_error *error)
{
    *heard = 0;
    return comm_failed(comm, error, comm->functions->hear(comm, signal, heard));
}

int bm_transfer_init(struct bm_transfer *t, struct bm_comm *comm,
                     size_t messages, size_t bytes)
{
    size_t request = comm->functions->request_bytes(comm, messages, bytes);

    *t = (struct bm_transfer){.comm = comm,
                              .requests = bm_new(comm->a, request, 1),
                              .room = messages};
    return t->requests ? BOUMA_OK : BOUMA_ENOMEM;
}

void bm_transfer_release(struct bm_transfer *t)
{
    if (t->comm && t->comm->lost && t->requests)
        t->comm->functions->cancel(t);
    if (t->comm)
        bm_drop(t->comm->a, t->requests);
    memset(t, 0, sizeof(*t));
}

int bm_transfer_send(struct bm_transfer *t, int channel,
                     const struct bm_message *messages, size_t count,
                     struct bm_error *error)
{
    return comm_failed(
        t->comm, error,
        t->comm->functions->start(t, channel, messages, count, 1));
}

int bm_transfer_receive(struct bm_transfer *t, int channel,
                        const struct bm_message *messages, size_t count,
                        struct bm_error *error)
{
    return comm_failed(
        t->comm, error,
        t->comm->functions->start(t, channel, messages, count, 0));
}

int bm_transfer_test(struct bm_transfer *t, int *done, struct bm_error *error)
{
    *done = !t->count;
    return t->count
               ? comm_failed(t->comm, error, t->comm->functions->test(t, done))
               : BOUMA_OK;
}

#define SPINS    64    /* looks before it sleeps, */
#define SPIN     50e-6 /* in this time: others may want the processor */
#define LOOKS    8     /* after it was woken: MPI may need several */
#define LISTENS  16    /* looks, of which one is for other ranks' loss */
#define PART     8     /* of the time it has waited, it sleeps */
#define SHORTEST 20e-6
#define LONGEST  1e-3 /* if ranks of other nodes are awaited: they cannot wake */

/* How long to sleep, having waited so long: what comes from where nobody wakes
 * it is late by a small part of what it took. Ranks that share processors leave
 * them to those that are waited for. */
static double nap(const struct bm_comm *comm, double waited)
{
    double longest = comm->places.nodes > 1 ? LONGEST : 10 * LONGEST;
    double shortest = comm->crowded ? LONGEST : SHORTEST;
    double part = waited / PART;

    return part < shortest ? shortest : part < longest ? part : longest;
}

/* Look again, or sleep first. */
static void rest(struct bm_comm *comm, unsigned idle, double waited)
{
    if (comm->looks > 0)
        comm->looks--;
    else if (idle < SPINS && waited < SPIN && !comm->crowded)
        sched_yield();
    else if (comm->functions->wait(comm, nap(comm, waited)))
        comm->looks = LOOKS;
}

int bm_comm_idle(struct bm_comm *comm, unsigned idle, double since,
                 struct bm_error *error)
{
    double waited = bm_clock() - since;

    if (comm->lost ||
        ((idle % LISTENS == 0 || (idle >= SPINS && !comm->looks)) &&
         comm->functions->listen(comm)))
        return comm_failed(comm, error, 1);
    if (comm->size > 1 && waited > comm->timeout) {
        bm_comm_lose(comm,
                     "rank %d waited %g s for the other ranks (option "
                     "'timeout'); this handle can only be freed now",
                     bm_comm_name(comm, comm->rank), comm->timeout);
        return comm_failed(comm, error, 1);
    }
    rest(comm, idle, waited);
    return BOUMA_OK;
}

void bm_comm_wake(struct bm_comm *comm)
{
    comm->functions->wake(comm);
}

void bm_comm_free(struct bm_comm *comm)
{
    const bouma_allocator *a;

    if (!comm)
        return;
    a = comm->a;
    bm_comm_relieve(comm);
    comm->functions->release(comm);
    if (!comm->lost) /* else MPI may still use what is in it */
        bm_drop(a, comm);
}
