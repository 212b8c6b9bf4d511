/* test_mpi_scarce.c -- one rank runs out of something: of memory from its
 * table, or of what MPI needs as well: address space, or the length that a file
 * may have, which counts for shared memory, too. All ranks get one same status,
 * nobody waits for ever, and once it is there again all is well.
 *
 * Sanitizers need more address space than can be left, and end a program whose
 * malloc() fails: with them, only the table runs out of memory. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "life.h"

#include "../helpers/check.h"
#include "comm/comm_mpi.h"
#include "comm/port.h"
#include "fault_alloc.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* The address space in use; without any memory of its own. */
static size_t in_use(void)
{
    char text[64] = "";
    int file = open("/proc/self/statm", O_RDONLY);
    ssize_t n = file < 0 ? 0 : read(file, text, sizeof(text) - 1);

    if (file >= 0)
        close(file);
    return n > 0 ? (size_t)strtoull(text, NULL, 10) *
                       (size_t)sysconf(_SC_PAGESIZE)
                 : 0;
}

static void limit(int what, rlim_t most)
{
    struct rlimit r;

    REQUIRE(!getrlimit(what, &r));
    r.rlim_cur = most < r.rlim_max ? most : r.rlim_max;
    REQUIRE(!setrlimit(what, &r));
}

/* Ask for all memory that malloc() has left, so that it has to ask the system;
 * a list of it, for feed(). */
static void *eat(void)
{
    void **list = NULL;

    for (size_t bytes = 1 << 20; bytes >= sizeof(void *); bytes /= 2) {
        void **piece;

        while ((piece = malloc(bytes))) {
            *piece = list;
            list = piece;
        }
    }
    return list;
}

static void feed(void *list)
{
    while (list) {
        void *next = *(void **)list;

        free(list);
        list = next;
    }
}

static struct {
    int tried, fine, poor, lost;
} counts;

/* Out of memory; or the rank that was took the step back, since it could not
 * even define what is in it. */
static int is_poor(int rc)
{
    return rc == BOUMA_ENOMEM || rc == BOUMA_EABORTED;
}

enum what { ADDRESS_SPACE, REQUESTS };

/* An act for which only 'left' bytes of address space are left. */
static int act_in_space(struct life *l, enum life_act act, size_t left)
{
    size_t used = in_use();
    void *eaten = NULL;
    int rc;

    if (used) {
        limit(RLIMIT_AS, used);
        /* Some MPIs die of that when they make a communicator. */
        if (act != LIFE_CREATE && act != LIFE_OPEN)
            eaten = eat();
        limit(RLIMIT_AS, used + left);
    }
    rc = life_act(l, act);
    limit(RLIMIT_AS, RLIM_INFINITY);
    feed(eaten);
    return rc;
}

/* An act in which only 'left' requests to the table get memory. */
static int act_in_requests(struct life *l, enum life_act act, size_t left,
                           struct fault_alloc *memory)
{
    int rc;

    fault_alloc_arm(memory, (long)left + 1, 1);
    rc = life_act(l, act);
    fault_alloc_disarm(memory);
    return rc;
}

/* A rank without memory for a handle has none, and so no message. */
static int all_have_handles(const struct life *l)
{
    int all = l->ds != NULL;

    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

/* One life, in which rank 'poor' has 'left' bytes, or as many requests, in one
 * act. */
static void live(const struct ranks *r, int number, enum life_act when,
                 enum what what, size_t left)
{
    int rc = BOUMA_OK, poor = number % r->size;
    struct fault_alloc memory;
    struct life l;

    life_init(&l, r, number);
    fault_alloc_init(&memory);
    if (what == REQUESTS)
        l.options.allocator = &memory.table;
    for (int act = 0; act < LIFE_ACTS && !rc; act++) {
        enum life_act now = (enum life_act)act;
        int all;

        if (now != when || r->rank != poor)
            rc = life_act(&l, now);
        else if (what == REQUESTS)
            rc = act_in_requests(&l, now, left, &memory);
        else
            rc = act_in_space(&l, now, left);
        if (rc && !is_poor(rc))
            printf("rank %d, %zu %s at \"%s\": %s \"%s\"\n", r->rank, left,
                   what == REQUESTS ? "requests" : "bytes", life_names[act],
                   bouma_status_name(rc), life_message(&l));
        CHECK(!rc || !strstr(life_message(&l), "waited"));
        all = all_have_handles(&l);
        CHECK(same_on_all(rc, rc && all ? life_message(&l) : ""));
        if (act != (int)when)
            CHECK_EQ(rc, BOUMA_OK);
        else
            CHECK(rc == BOUMA_OK || is_poor(rc) || rc == BOUMA_ECOMM);
        /* The same handle goes on, unless MPI itself has failed. */
        if (act == (int)when && is_poor(rc) &&
            (act == LIFE_FIRST_STEP || act == LIFE_SECOND_STEP ||
             act >= LIFE_OPEN_STEP)) {
            rc = life_act(&l, (enum life_act)act);
            CHECK_EQ(rc, BOUMA_OK);
            counts.poor++;
        } else if (act == (int)when) {
            counts.fine += rc == BOUMA_OK;
            counts.poor += is_poor(rc);
            counts.lost += rc == BOUMA_ECOMM;
        }
    }
    CHECK_EQ(l.wrong, 0);
    counts.tried++;
    life_end(&l, rc == BOUMA_ECOMM);
    CHECK_EQ(memory.live, 0);
}

static void tell(const struct ranks *r, const char *what)
{
    if (r->rank == 0)
        printf("%d times short of %s: %d went well, %d failed with ENOMEM, %d "
               "with ECOMM\n",
               counts.tried, what, counts.fine, counts.poor, counts.lost);
    CHECK(counts.fine + counts.poor + counts.lost == counts.tried);
}

/* MPICH over UCX ends a program that has no memory for a message which came
 * before it was asked for. It keeps what it once had, apart for each size: let
 * many of each come. */
static void let_messages_come_early(const struct ranks *r)
{
    enum { MESSAGES = 64, LONGEST = 4096 };
    static char sent[LONGEST], got[LONGEST];
    MPI_Request *requests =
        malloc((size_t)r->size * MESSAGES * sizeof(MPI_Request));

    REQUIRE(requests);
    for (int bytes = 8; bytes <= LONGEST; bytes *= 2) {
        int n = 0;

        for (int i = 0; i < MESSAGES; i++)
            for (int to = 0; to < r->size; to++)
                if (to != r->rank)
                    MPI_Isend(sent, bytes, MPI_BYTE, to, i, MPI_COMM_WORLD,
                              &requests[n++]);
        /* The last first: all others have come by then. */
        for (int i = MESSAGES - 1; i >= 0; i--)
            for (int from = 0; from < r->size; from++)
                if (from != r->rank)
                    MPI_Recv(got, bytes, MPI_BYTE, from, i, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        while (n)
            MPI_Wait(&requests[--n], MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(requests);
}

static void address_space_ends_on_one_rank(const struct ranks *r)
{
    int number = 0;

    let_messages_come_early(r);
    memset(&counts, 0, sizeof(counts));
    for (size_t left = 40; left <= 160; left += 12)
        for (int act = 0; act < LIFE_ACTS; act++, number++)
            live(r, number, (enum life_act)act, ADDRESS_SPACE, left << 10);
    tell(r, "address space");
}

/* Each act fails somewhere, and MPI, which has all it needs, never does. */
static void requests_end_on_one_rank(const struct ranks *r)
{
    int number = 2000;

    memset(&counts, 0, sizeof(counts));
    for (size_t left = 0; left <= 20; left = 2 * left + 1)
        for (int act = 0; act < LIFE_ACTS; act++, number++)
            live(r, number, (enum life_act)act, REQUESTS, left);
    tell(r, "requests");
    CHECK_EQ(counts.lost, 0);
    CHECK(counts.poor >= 2 * LIFE_ACTS);
}

/* On the rank that makes what is shared, be it ours or MPI's: there is room for
 * its own file, but not for the buffers of all ranks together. */
static void files_are_short_on_one_rank(const struct ranks *r)
{
    for (int poor = 0; poor < r->size; poor++) {
        struct life l;
        int rc = BOUMA_OK;

        life_init(&l, r, 1000 + poor);
        l.options.transport = BOUMA_TRANSPORT_WINDOWS;
        l.options.timeout = 20;
        for (int act = 0; act < LIFE_ACTS && !rc; act++) {
            if (act == LIFE_FIRST_STEP && r->rank == poor)
                limit(RLIMIT_FSIZE, 12 << 10);
            rc = life_act(&l, (enum life_act)act);
            limit(RLIMIT_FSIZE, RLIM_INFINITY);
            CHECK(same_on_all(rc, rc && l.ds ? life_message(&l) : ""));
            CHECK(rc != BOUMA_ECOMM);
            if (act == LIFE_FIRST_STEP && rc) /* its file did not fit either */
                rc = life_act(&l, (enum life_act)act);
            CHECK_EQ(rc, BOUMA_OK);
        }
        life_end(&l, 0);
    }
}

/* The signal is not ignored here: it must not come. */
static void no_port_on_one_rank_is_none_on_all(struct bm_comm *comm)
{
    for (int poor = 0; poor < comm->size; poor++) {
        struct bm_error error = {0};
        struct bm_port *port;

        if (comm->rank == poor)
            limit(RLIMIT_FSIZE, 64 << 10);
        CHECK_EQ(bm_port_new(&port, comm, 100000, &error), BOUMA_OK);
        limit(RLIMIT_FSIZE, RLIM_INFINITY);
        CHECK(!port);
        bm_port_free(port);
        CHECK_EQ(bm_port_new(&port, comm, 100000, &error), BOUMA_OK);
        CHECK(port && port->memory && port->all_near);
        for (int r = 0; port && r < comm->size; r++)
            CHECK(bm_port_room(port, r) && bm_port_is_seen(port, r));
        bm_port_free(port);
    }
}

int main(int argc, char **argv)
{
    struct bm_comm *comm;
    struct ranks r;

    ranks_init(&r, &argc, &argv);
    CHECK_EQ(bm_comm_mpi_new(&comm, bm_allocator_default(), MPI_COMM_WORLD, 60,
                             &(struct bm_error){0}),
             BOUMA_OK);
    no_port_on_one_rank_is_none_on_all(comm);
    bm_comm_free(comm);
    signal(SIGXFSZ, SIG_IGN);
    files_are_short_on_one_rank(&r);
    requests_end_on_one_rank(&r);
    if (!SANITIZED)
        address_space_ends_on_one_rank(&r);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
