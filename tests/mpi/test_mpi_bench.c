/* test_mpi_bench.c -- the benchmark on several ranks: what each pipeline reads is
 * what it wrote; and whatever call of the storage, or request for memory, fails
 * on whatever rank, all ranks end with one outcome and leave nothing behind.
 *
 *   test_mpi_bench [STRIDE]   only every STRIDE-th call fails */
#include <dirent.h>
#include <errno.h>
#include <mpi.h>
#include <unistd.h>

#include "../helpers/check.h"
#include "bench/bench_run.h"
#include "fault_alloc.h"
#include "fault_io.h"
#include "rank_grid.h"

static const char *const of_engine[] = {"file-per-process", "count", "running",
                                        "optimal"};

struct trial {
    struct context ctx;
    char directory[64];
    struct bench_request request;
    struct fault_io io;
    struct fault_alloc memory;
    uint64_t bytes; /* of all ranks, at the last run */
};

#if defined(__SANITIZE_ADDRESS__)
/* A request for too much memory fails, as it does elsewhere. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
#endif

static long sum_of(long mine)
{
    long all;

    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* A request for a load, without pipelines. */
static void ask(struct trial *t, const char *load, uint64_t bytes)
{
    struct load_request *l = &t->request.load;

    memset(&t->request, 0, sizeof(t->request));
    t->request.directory = t->directory;
    l->load = load_find(load);
    REQUIRE(l->load);
    rank_grid_choose(session_size(t->ctx.session), l->load->axes, l->grid);
    l->bytes = bytes ? bytes : l->load->bytes;
    l->variables = l->load->variables;
    t->request.files = (session_size(t->ctx.session) + 1) / 2;
    t->request.repetitions = 1;
    t->request.read = t->request.verify = true;
    t->request.options.size = sizeof(t->request.options);
    t->request.options.buffer_bytes = 4096;
}

static void add(struct trial *t, const char *name)
{
    const struct pipeline *p = pipeline_find(name);

    REQUIRE(p);
    if (!p->missing)
        t->request.pipelines[t->request.count++] = p;
}

static void add_all(struct trial *t)
{
    for (int i = 0; pipelines[i]; i++)
        add(t, pipelines[i]->name);
}

/* Run it: the outcome, which is the same everywhere, with its message. */
static int run(struct trial *t)
{
    struct bench_report report;
    int rc, worst[2];

    memset(&t->ctx.failure, 0, sizeof(t->ctx.failure));
    rc = bench_run(&report, &t->ctx, &t->request);
    worst[0] = rc;
    worst[1] = -rc;
    MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQ(worst[0], -worst[1]);
    CHECK(!rc == !t->ctx.failure.message[0]);
    t->bytes = report.bytes;
    for (int i = 0; i < t->request.count && !rc; i++)
        if (session_rank(t->ctx.session) == 0) {
            CHECK(report.results[i].files > 0);
            CHECK(report.results[i].seconds[BENCH_WRITE][0] > 0);
            CHECK(!t->request.read ||
                  report.results[i].seconds[BENCH_READ][0] > 0);
        }
    bench_report_release(&report);
    return rc;
}

static int is_empty(const char *path)
{
    DIR *dir = opendir(path);
    int entries = 0;

    REQUIRE(dir);
    while (readdir(dir))
        entries++;
    closedir(dir);
    return entries == 2;
}

/* Nothing is left behind. */
static void check_gone(const struct trial *t)
{
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(is_empty(t->directory));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- all is well --------------------------------------------------------- */

static void every_pipeline_reads_what_it_wrote(struct trial *t)
{
    static const struct {
        const char *load;
        uint64_t bytes;
        double time;
    } cases[] = {{"uniform", 20011, 1}, {"uniform", 0, 1},
                 {"normal", 1, 1},      {"hacc-random", 9500, 1},
                 {"s3d", 30000, 1},     {"boiler", 5000, 0},
                 {"dam", 5000, 0}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ask(t, cases[i].load, cases[i].bytes);
        t->request.load.time = cases[i].time;
        t->request.repetitions = 2;
        t->request.warm_up = 1;
        t->request.sync = i == 0;
        add_all(t);
        CHECK_EQ(run(t), DONE);
        check_gone(t);
    }
}

/* Buffers that differ from rank to rank by far, and ranks that have none. */
static void ranks_without_bytes_take_part(struct trial *t)
{
    ask(t, "uniform", 1); /* of three variables, two are empty */
    t->request.load.variables = 3;
    add_all(t);
    CHECK_EQ(run(t), DONE);
    CHECK_EQ(t->bytes, session_size(t->ctx.session));
    check_gone(t);
}

static void transports_and_placements_are_those_of_the_library(struct trial *t)
{
    for (int transport = 1; transport <= 2; transport++)
        for (int place = 1; place <= 4; place++) {
            ask(t, "s3d", 20000);
            t->request.options.transport = (bouma_transport)transport;
            t->request.options.place = (bouma_place)place;
            for (int i = 1; i < 4; i++)
                add(t, of_engine[i]);
            CHECK_EQ(run(t), DONE);
        }
    check_gone(t);
}

static void nothing_is_overwritten(struct trial *t)
{
    char path[128], other[160];

    ask(t, "uniform", 100);
    add(t, "count");
    t->request.keep = true;
    CHECK_EQ(run(t), DONE);
    snprintf(path, sizeof(path), "%s/bouma-bench", t->directory);
    CHECK(!access(path, F_OK));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(run(t), CALL_AT_FAULT);
    CHECK_TEXT(t->ctx.failure.message, "exists already");
    snprintf(other, sizeof(other), "%s/count/000000", path);
    CHECK(!access(other, F_OK));
    MPI_Barrier(MPI_COMM_WORLD);
    if (session_rank(t->ctx.session) == 0)
        for (int f = 0; f < t->request.files; f++) {
            snprintf(other, sizeof(other), "%s/count/%06d", path, f);
            CHECK(!unlink(other));
        }
    snprintf(other, sizeof(other), "%s/count", path);
    if (session_rank(t->ctx.session) == 0)
        CHECK(!rmdir(other) && !rmdir(path));
    check_gone(t);
}

/* ---- whole steps --------------------------------------------------------- */

/* Grids of blocks of 8 x 4 x 6 samples a rank, unless the load has particles. */
static void ask_steps(struct trial *t, const char *load, uint64_t bytes)
{
    static const int64_t block[3] = {8, 4, 6};

    ask(t, load, bytes);
    t->request.load.time = 1;
    if (!t->request.load.load->widths)
        t->request.load.variables = 2;
    t->request.pipelines[t->request.count++] = &pipeline_steps;
    t->request.step.type = BOUMA_TYPE_F32;
    memcpy(t->request.step.block, block, sizeof(block));
    t->request.options.durability = BOUMA_DURABILITY_FAST;
}

static void steps_of_every_kind_are_read_as_they_were_written(struct trial *t)
{
    static const char *const of_particles[] = {"hacc", "hacc-random", "boiler",
                                               "dam"};

    for (int i = 0; i < 4; i++) {
        ask_steps(t, i % 2 ? "s3d" : "uniform", 0);
        t->request.step.type = i < 2 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64;
        t->request.step.variable.tolerance = i == 1 ? 0.01 : 0;
        t->request.step.grid.layout =
            i == 3 ? BOUMA_LAYOUT_HZ : BOUMA_LAYOUT_PATCH;
        t->request.repetitions = 2;
        CHECK_EQ(run(t), DONE);
        CHECK_EQ(t->bytes, session_size(t->ctx.session) * 8 * 4 * 6 * 2 *
                               (i < 2 ? 4 : 8));
        check_gone(t);
    }
    for (int i = 0; i < 4; i++) {
        ask_steps(t, of_particles[i], 6000);
        t->request.load.time = i / 4.0;
        t->request.options.assign =
            i % 2 ? BOUMA_ASSIGN_AUG : BOUMA_ASSIGN_SPLIT;
        t->request.warm_up = 1;
        CHECK_EQ(run(t), DONE);
        check_gone(t);
    }
}

/* Levels of variables lie side by side in a file of particles. */
static void a_file_of_particles_is_stored_in_few_calls(struct trial *t)
{
    ask_steps(t, "hacc", 10000 * 38);
    t->request.read = t->request.verify = false;
    t->request.files = 1;
    fault_io_init(&t->io, bouma_io_posix());
    t->request.options.io = &t->io.table;
    t->request.step.variable.codec = BOUMA_CODEC_RAW;
    CHECK_EQ(run(t), DONE);
    CHECK(t->io.calls < 160); /* 242 of single pieces */
    check_gone(t);
}

/* ---- something fails ----------------------------------------------------- */

static void one_rank_without_memory_ends_all(struct trial *t)
{
    ask(t, "dam", (uint64_t)1 << 62); /* those at the far end have little */
    t->request.load.time = 0;
    add_all(t);
    CHECK_EQ(run(t), DATA_AT_FAULT);
    CHECK_TEXT(t->ctx.failure.message, "no memory for the");
    check_gone(t);
}

/* A file is as long as it should be, but a bit of it is not. */
static void a_flipped_bit_is_found(struct trial *t)
{
    static const struct fault flip = {"a flipped bit", FAULT_FLIP, 0};

    for (size_t i = 0; i < 4; i++) {
        long found = 0;

        for (long at = 1; at < 40 && !found; at++) {
            ask(t, "uniform", 500);
            add(t, of_engine[i]);
            fault_io_init(&t->io, bouma_io_posix());
            t->request.options.io = &t->io.table;
            if (session_rank(t->ctx.session) == 0)
                fault_io_arm(&t->io, &flip, at, 0);
            if (run(t)) {
                CHECK_TEXT(t->ctx.failure.message, "is not what was written");
                found++;
            }
        }
        CHECK(found > 0);
    }
    check_gone(t);
}

/* Each call in turn fails on rank 'who', till there are no more of them. What
 * cannot be removed, or looked at, is left. */
static void sweep(struct trial *t, const char *pipeline, int who, int of_memory,
                  long stride)
{
    static const struct fault full = {"ENOSPC", FAULT_ERROR, ENOSPC};
    long at, fired = 1, failures = 0;

    for (at = 1; fired && at < 2000; at += stride) {
        int rc;

        if (strcmp(pipeline, "steps")) {
            ask(t, "hacc-random", 9500);
            add(t, pipeline);
        } else {
            ask_steps(t, "hacc-random", 9500);
        }
        t->request.sync = true;
        fault_io_init(&t->io, bouma_io_posix());
        fault_alloc_init(&t->memory);
        t->request.options.io = &t->io.table;
        t->request.options.allocator = &t->memory.table;
        if (session_rank(t->ctx.session) == who && of_memory)
            fault_alloc_arm(&t->memory, at, 0);
        else if (session_rank(t->ctx.session) == who)
            fault_io_arm(&t->io, &full, at, 0);
        rc = run(t);
        fired = sum_of(t->io.fired + t->memory.fired);
        CHECK(fired || !rc);
        failures += rc != DONE;
        CHECK_EQ(t->io.open, 0);
        CHECK_EQ(t->memory.live, 0);
        if (session_rank(t->ctx.session) == 0 && !is_empty(t->directory)) {
            char command[160];

            CHECK(t->io.kept); /* the call that failed was to remove it */
            snprintf(command, sizeof(command), "rm -r %s/bouma-bench",
                     t->directory);
            CHECK_EQ(system(command), 0);
        }
        check_gone(t);
    }
    CHECK(failures > 0 || who > 0);
    CHECK(at < 2000);
}

static void whatever_fails_all_ranks_end_alike(struct trial *t, long stride)
{
    int last = session_size(t->ctx.session) - 1;

    for (int of_memory = 0; of_memory < 2; of_memory++)
        for (size_t i = 0; i < 4; i += of_memory ? 3 : 1) {
            sweep(t, of_engine[i], 0, of_memory, stride);
            if (last > 0)
                sweep(t, of_engine[i], last, of_memory, stride);
        }
    sweep(t, "steps", 0, 0, 3 * stride);
    sweep(t, "steps", last, 1, 7 * stride);
}

int main(int argc, char **argv)
{
    const char *base = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
    struct trial *t = calloc(1, sizeof(*t));
    long failed, checks, stride;

    REQUIRE(t);
    t->ctx.session = session_start(&argc, &argv);
    REQUIRE(t->ctx.session);
    snprintf(t->directory, sizeof(t->directory), "%s/bouma-bench-XXXXXX", base);
    if (session_rank(t->ctx.session) == 0)
        REQUIRE(mkdtemp(t->directory));
    session_broadcast(t->ctx.session, t->directory, sizeof(t->directory));
    every_pipeline_reads_what_it_wrote(t);
    ranks_without_bytes_take_part(t);
    transports_and_placements_are_those_of_the_library(t);
    nothing_is_overwritten(t);
    steps_of_every_kind_are_read_as_they_were_written(t);
    a_file_of_particles_is_stored_in_few_calls(t);
    one_rank_without_memory_ends_all(t);
    a_flipped_bit_is_found(t);
    /* With many ranks, not every call: it takes long. */
    stride = session_size(t->ctx.session);
    stride = argc > 1 ? atol(argv[1]) : stride > 3 ? 7 : stride;
    whatever_fails_all_ranks_end_alike(t, stride);
    failed = sum_of(check_counts()->failed);
    checks = sum_of(check_counts()->checks);
    if (session_rank(t->ctx.session) == 0) {
        printf("%ld checks, %ld failed\n", checks, failed);
        rmdir(t->directory);
    }
    session_finish(t->ctx.session);
    free(t);
    return failed != 0;
}
