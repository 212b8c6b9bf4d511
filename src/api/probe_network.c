/* probe_network.c -- see probe_network.h. */
#include "api/probe_network.h"

#include "base/clock.h"
#include "machine/measure.h"

#define PARTNERS   8
#define MOST_TRIES 100
#define ROUNDS     20 /* of small messages, in a try */
#define SMALL      ((size_t)8)
#define LARGE      ((size_t)4 << 20)

/* Rank 0 and another one; each has its own end. */
struct link {
    struct bm_comm *comm;
    int peer;   /* the rank at the other end */
    void *data; /* [LARGE] */
};

/* 'bytes' go from rank 0 to the other one, and a few come back; both call it.
 */
static int round_trip(const struct link *l, size_t bytes,
                      struct bm_error *error)
{
    struct bm_message there = {l->peer, l->data, bytes};
    struct bm_message back = {l->peer, l->data, SMALL};
    struct bm_comm *comm = l->comm;
    int rc;

    if (comm->rank == 0) {
        rc = bm_comm_exchange(comm, &there, 1, NULL, 0, error);
        return rc ? rc : bm_comm_exchange(comm, NULL, 0, &back, 1, error);
    }
    rc = bm_comm_exchange(comm, NULL, 0, &there, 1, error);
    return rc ? rc : bm_comm_exchange(comm, &back, 1, NULL, 0, error);
}

/* Ranks for rank 0 to talk with: evenly from all that are on other nodes; if
 * there are none, from all. */
static int choose_partners(int *out, const struct bm_comm *comm,
                           const struct bm_network *n)
{
    int here = n->node(n->context, 0), far = 0, seen = 0, count = 0, wanted;

    for (int r = 1; r < comm->size; r++)
        far += n->node(n->context, r) != here;
    wanted = far ? far : comm->size - 1;
    for (int r = 1; r < comm->size && count < PARTNERS; r++) {
        if (far && n->node(n->context, r) == here)
            continue;
        if ((int64_t)seen * PARTNERS >= (int64_t)count * wanted)
            out[count++] = r;
        seen++;
    }
    return count;
}

/* The seconds of a round, one of several in a row. */
static int time_rounds(double *out, const struct link *l, size_t bytes,
                       int rounds, struct bm_error *error)
{
    double start = bm_clock();
    int rc = BOUMA_OK;

    for (int i = 0; !rc && i < rounds; i++)
        rc = round_trip(l, bytes, error);
    *out = (bm_clock() - start) / rounds;
    return rc;
}

static int measure_link(bouma_speed *out, const struct link *l, int tries,
                        struct bm_error *error)
{
    double small[MOST_TRIES], large[MOST_TRIES], wait, time;
    int rc = BOUMA_OK;

    for (int i = -1; !rc && i < tries; i++) { /* the first one only warms up */
        rc = time_rounds(&small[i < 0 ? 0 : i], l, SMALL, ROUNDS, error);
        if (!rc)
            rc = time_rounds(&large[i < 0 ? 0 : i], l, LARGE, 1, error);
    }
    if (rc)
        return rc;
    wait = bm_median(small, (size_t)tries);
    time = bm_median(large, (size_t)tries);
    out->latency = wait > 2e-9 ? wait / 2 : 1e-9;
    time = time > 2 * wait ? time - wait : time;
    out->bandwidth = (double)LARGE / (time > 1e-9 ? time : 1e-9);
    return BOUMA_OK;
}

int bm_probe_network(struct bm_comm *comm, const struct bm_machine *machine,
                     int tries, bouma_speed *out, struct bm_error *error)
{
    double latency[PARTNERS], bandwidth[PARTNERS];
    void *data = bm_new(comm->a, LARGE, 1);
    int partners[PARTNERS], count, rc;

    *out = (bouma_speed){0, 0};
    rc = data ? BOUMA_OK
              : bm_fail(error, BOUMA_ENOMEM, "no memory for a message");
    rc = bm_comm_agree(comm, rc, error);
    count = choose_partners(partners, comm, bm_machine_network(machine));
    for (int i = 0; !rc && i < count; i++) {
        struct link l = {comm, comm->rank ? 0 : partners[i], data};
        bouma_speed speed = {0, 0};

        if (comm->rank == 0 || comm->rank == partners[i])
            rc = measure_link(&speed, &l, tries, error);
        latency[i] = speed.latency;
        bandwidth[i] = speed.bandwidth;
        rc = bm_comm_agree(comm, rc, error);
    }
    if (!rc && count) {
        out->latency = bm_median(latency, (size_t)count);
        out->bandwidth = bm_median(bandwidth, (size_t)count);
    }
    if (!comm->lost) /* else MPI may still use it */
        bm_drop(comm->a, data);
    return rc;
}
