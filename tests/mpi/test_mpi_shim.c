/* test_mpi_shim.c -- whatever call of MPI fails, comes late or never ends, on
 * whichever rank, in whatever act of a dataset's life: no rank waits for ever,
 * and all get one same status. ECOMM alone may reach some ranks one act later,
 * namely those that were done with the act before another rank lost touch.
 * Afterwards everything can be freed, and the next dataset is well.
 *
 *     test_mpi_shim [EACH]    try each EACH-th point; 1: all
 */
#include <stdlib.h>

#include "../shim/mpi_shim.h"
#include "life.h"

#include "../helpers/check.h"
#include "dataset/dataset.h"

/* Where a call never ends, others give up after this many seconds; nothing is
 * said of how long that takes. Anywhere else nobody may give up at all. */
#define SHORT 0.1

/* By shared memory, and by messages. */
static const bouma_transport transports[] = {BOUMA_TRANSPORT_WINDOWS,
                                             BOUMA_TRANSPORT_MESSAGES};

struct point {
    enum shim_kind kind;
    enum shim_mode mode;
    enum life_act act;
    long n;
    int rank;
    bouma_transport transport;
    int parts; /* the grid has partitions */
};

static struct {
    int tried, acted, fine, lost, late, other;
} counts;
static int number; /* of lives */

static int largest(int mine)
{
    int all;

    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void tell(const struct point *p, int rank, int rc, const char *message)
{
    printf("call %ld of %s, mode %d, on rank %d at \"%s\": rank %d has %s "
           "(\"%s\")\n",
           p->n, shim_names[p->kind], (int)p->mode, p->rank, life_names[p->act],
           rank, bouma_status_name(rc), message);
}

/* Whether others may have to give up waiting: nothing else can tell them. */
static int is_silent(const struct point *p)
{
    return p->mode == SHIM_STARVE ||
           (p->mode == SHIM_BREAK && p->kind == SHIM_Isend) ||
           (p->mode != SHIM_DELAY &&
            (p->act == LIFE_CREATE || p->act == LIFE_OPEN) &&
            (p->mode == SHIM_BREAK || p->kind == SHIM_Comm_idup ||
             p->kind == SHIM_Iallreduce || p->kind == SHIM_Test));
}

/* One act, with the shim; its status. */
static int armed_act(struct life *l, const struct point *p)
{
    int rc;

    l->options.timeout = is_silent(p) ? SHORT : 250;
    if (l->ds && p->act != LIFE_OPEN && l->ds->comm)
        l->ds->comm->timeout = l->options.timeout;
    if (l->ranks->rank == p->rank)
        shim_arm(p->kind, p->mode, p->n);
    else
        shim_arm(p->kind, SHIM_NOTHING, 0);
    rc = life_act(l, p->act);
    shim_release();
    l->options.timeout = 250;
    if (l->ds && l->ds->comm)
        l->ds->comm->timeout = 250;
    return rc;
}

static void try(const struct ranks *r, const struct point *p)
{
    struct life l;
    int rc = BOUMA_OK, lost = 0;

    life_init(&l, r, number++);
    l.options.transport = p->transport;
    l.parts = p->parts;
    for (int act = 0; act < LIFE_ACTS && !rc; act++) {
        int any;

        rc = act == (int)p->act ? armed_act(&l, p)
                                : life_act(&l, (enum life_act)act);
        any = largest(-rc); /* of failures, ECOMM is among the worst */
        if (act == (int)p->act)
            counts.acted += shim_has_acted();
        lost = largest(rc == BOUMA_ECOMM);
        if (lost && act < (int)p->act) {
            tell(p, r->rank, rc, life_message(&l));
            CHECK(!"nothing goes wrong before the call that does");
        }
        if (lost && largest(rc != BOUMA_ECOMM)) {
            /* Some were done already: they hear of it now. */
            counts.late++;
            if (rc == BOUMA_OK && act + 1 < LIFE_ACTS && act != LIFE_CLOSE) {
                rc = life_act(&l, (enum life_act)(act + 1));
                if (rc != BOUMA_ECOMM)
                    tell(p, r->rank, rc, life_message(&l));
                CHECK_EQ(rc, BOUMA_ECOMM);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            rc = BOUMA_ECOMM;
        } else if (!lost) {
            if (rc != -any)
                tell(p, r->rank, rc, life_message(&l));
            CHECK_EQ(rc, -any);
        }
        if (lost && !is_silent(p)) {
            const char *why = life_message(&l);

            if (strstr(why, "waited"))
                tell(p, r->rank, rc, why);
            CHECK(!strstr(why, "waited"));
        }
        if (rc) /* ECOMM once, ECOMM for ever, and at once */
            for (int i = act + 1; lost && i < LIFE_OPEN; i++)
                CHECK(life_act(&l, (enum life_act)i) != BOUMA_OK);
    }
    counts.tried++;
    counts.fine += !largest(rc != BOUMA_OK);
    counts.lost += lost;
    counts.other += !lost && largest(rc != BOUMA_OK);
    /* One call that fails once is nothing. */
    if (p->mode == SHIM_DELAY ||
        (p->mode == SHIM_FAIL && p->kind != SHIM_Comm_idup &&
         p->kind != SHIM_Iallreduce &&
         !(p->kind == SHIM_Test &&
           (p->act == LIFE_CREATE || p->act == LIFE_OPEN)))) {
        if (rc)
            tell(p, r->rank, rc, life_message(&l));
        CHECK_EQ(rc, BOUMA_OK);
    }
    CHECK_EQ(l.wrong, 0);
    life_end(&l, lost);
}

/* How many calls of each kind an act makes on this rank. */
static void count_calls(const struct ranks *r, bouma_transport transport,
                        int parts, long calls[LIFE_ACTS][SHIM_KINDS])
{
    struct life l;

    life_init(&l, r, number++);
    l.options.transport = transport;
    l.parts = parts;
    for (int act = 0; act < LIFE_ACTS; act++) {
        shim_arm(SHIM_Isend, SHIM_NOTHING, 0);
        CHECK_EQ(life_act(&l, (enum life_act)act), BOUMA_OK);
        for (int k = 0; k < SHIM_KINDS; k++) {
            long mine = shim_count((enum shim_kind)k);

            MPI_Allreduce(&mine, &calls[act][k], 1, MPI_LONG, MPI_MIN,
                          MPI_COMM_WORLD);
        }
        shim_release();
    }
    CHECK_EQ(l.wrong, 0);
    life_end(&l, 0);
}

/* The n that are tried: the first ones, and then few. */
static long next(long n, long count, enum shim_mode mode)
{
    long step = mode == SHIM_FAIL ? n + 1 : n * 3 + 2;

    return n < count && n + step > count ? count : n + step;
}

/* Whether a call is made differently by another transport, or in partitions;
 * and whether the act has to do with these, if the grid has some. */
static int is_tried(int kind, int act, int variant)
{
    if (variant && kind != SHIM_Isend && kind != SHIM_Irecv &&
        kind != SHIM_Test && kind != SHIM_Iprobe && kind != SHIM_Get_count)
        return 0;
    return variant < 2 || act == LIFE_FIRST_STEP || act == LIFE_SECOND_STEP;
}

int main(int argc, char **argv)
{
    long calls[LIFE_ACTS][SHIM_KINDS];
    uint64_t random = 5;
    int points = 0, each = argc > 1 ? atoi(argv[1]) : 1;
    struct ranks r;

    REQUIRE(each > 0);
    ranks_init(&r, &argc, &argv);
    for (int t = 0; t < 4 && r.size > 1 && r.size < 4; t++) {
        int parts = t >= 2;

        count_calls(&r, transports[t % 2], parts, calls);
        for (int mode = SHIM_FAIL; mode < SHIM_MODES; mode++)
            for (int act = 0; act < LIFE_ACTS; act++)
                for (int kind = 0; kind < SHIM_KINDS; kind++)
                    for (long n = 1;
                         n <= calls[act][kind] && is_tried(kind, act, t);
                         n = next(n, calls[act][kind], (enum shim_mode)mode)) {
                        struct point p = {(enum shim_kind)kind,
                                          (enum shim_mode)mode,
                                          (enum life_act)act,
                                          n,
                                          (int)check_below(&random, r.size),
                                          transports[t % 2],
                                          parts};

                        if ((mode == SHIM_STARVE || mode == SHIM_DELAY) &&
                            n > 8)
                            break;
                        if (points++ % each == 0)
                            try(&r, &p);
                    }
    }
    if (r.rank == 0)
        printf("%d of %d points: %d went well, %d ended with ECOMM on all "
               "ranks (%d "
               "of them one act later on some), %d otherwise\n",
               counts.tried, points, counts.fine, counts.lost, counts.late,
               counts.other);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
