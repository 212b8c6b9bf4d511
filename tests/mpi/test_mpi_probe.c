/* test_mpi_probe.c -- ranks that measure together: all get the same report, its
 * file names a transport that was measured, and no memory on one rank is a
 * status on all of them. How fast anything is, is not tested. */
#include "blocks.h"

#include "../helpers/check.h"
#include "api/probe_transport.h"
#include "comm/comm_mpi.h"
#include "fault_alloc.h"
#include "machine/machine.h"

static bouma_transport transport_in_file(const bouma_probe_report *report)
{
    bouma_transport transport;
    struct bm_error error = {0};
    struct bm_machine *m;
    char text[2048];
    size_t length = bouma_probe_text(report, text, sizeof(text));

    REQUIRE(length && length < sizeof(text));
    REQUIRE(!bm_machine_make(
        &m, bm_allocator_default(),
        &(struct bm_machine_source){
            .spec = "m", .file = text, .file_bytes = length, .ranks = 1},
        &error));
    transport = bm_machine_transport(m);
    bm_machine_free(m);
    return transport;
}

static void the_file_names_the_faster_transport(const struct ranks *r)
{
    bouma_probe_spec spec = {.size = sizeof(spec), .tries = 1};
    bouma_probe_report report = {.size = sizeof(report)},
                       first = {.size = sizeof(first)};
    char message[256] = "";

    CHECK_EQ(bouma_probe_mpi(&report, MPI_COMM_WORLD, &spec, NULL, message,
                             sizeof(message)),
             BOUMA_OK);
    first = report;
    MPI_Bcast(&first, (int)sizeof(first), MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(!memcmp(&first, &report, sizeof(first)));
    CHECK_EQ(transport_in_file(&report), report.transport);
    if (r->size == 1) {
        CHECK(!report.transport && report.windows == 0 && report.messages == 0);
        return;
    }
    CHECK(report.windows > 0 && report.messages > 0);
    CHECK_EQ(report.transport, report.windows >= report.messages
                                   ? BOUMA_TRANSPORT_WINDOWS
                                   : BOUMA_TRANSPORT_MESSAGES);
}

static long sum_of(long mine)
{
    long all = 0;

    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Request 'at' for memory fails on rank 'who'. Gives whether it came to it, and
 * adds to *windowless if there were no windows, but no failure either. */
static int try_without_memory(const struct ranks *r, int who, long at,
                              int *windowless)
{
    struct fault_alloc memory;
    struct bm_error error = {0};
    struct bm_comm *comm;
    double windows, messages;
    int rc, fired;

    fault_alloc_init(&memory);
    CHECK_EQ(bm_comm_mpi_new(&comm, &memory.table, MPI_COMM_WORLD, 600,
                             &(struct bm_error){0}),
             BOUMA_OK);
    if (r->rank == who)
        fault_alloc_arm(&memory, at, 0);
    rc = bm_probe_transports(comm, 1, &windows, &messages, &error);
    fired = sum_of(memory.fired) != 0;
    fault_alloc_disarm(&memory);
    bm_comm_free(comm);
    CHECK(same_on_all(rc, error.text));
    CHECK_EQ(memory.live, 0);
    if (rc) {
        CHECK(fired && rc == BOUMA_ENOMEM && error.text[0]);
        CHECK(windows == 0 && messages == 0);
    } else {
        CHECK((windows > 0) == (messages > 0));
        CHECK(fired || r->size == 1 || windows > 0);
        *windowless += windows == 0;
    }
    return fired;
}

/* Later requests are much like earlier ones: they are tried here and there. */
static void no_memory_is_told_on_all_ranks(const struct ranks *r, int who)
{
    int windowless = 0;
    long at = 1;

    while (try_without_memory(r, who, at, &windowless) && at < 10000)
        at += at < 12 ? 1 : at / 3;
    CHECK(at < 10000);
    CHECK(windowless > 0 && (at > 10 || r->size == 1));
}

int main(int argc, char **argv)
{
    struct ranks r;

    ranks_init(&r, &argc, &argv);
    the_file_names_the_faster_transport(&r);
    no_memory_is_told_on_all_ranks(&r, 0);
    if (r.size > 1)
        no_memory_is_told_on_all_ranks(&r, r.size - 1);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
