/* test_mpi_pipe.c -- the engine itself: all bytes arrive, buffers are full when
 * they are stored, a gatherer holds no more than its buffers however much goes
 * through them, and whatever fails on one rank, in whatever round, everyone
 * gets through, with one status, and the next time works. */
#include <errno.h>
#include <stdlib.h>

#include "../helpers/arrays.h"
#include "blocks.h"

#include "../helpers/check.h"
#include "comm/comm_mpi.h"
#include "engine/flow_builder.h"
#include "sized.h"

enum { PIECES = 40, STREAM = 6000 };

/* A byte of a gatherer's stream. */
static uint8_t byte_at(int gatherer, uint64_t at)
{
    return (uint8_t)(at * 7 + (at >> 8) * 31 + (uint64_t)gatherer * 101);
}

/* One use of a pipe, and what goes wrong in it. */
struct trial {
    struct bm_comm *comm;
    int filling; /* bytes are made when they are wanted */
    int taking;  /* or taken when they have come, no piece in two rounds */
    int late;    /* bytes are known only after this many questions */
    int fail_at; /* store call that fails on this rank; -1: none */
    int stores, asked;
    uint64_t buffer;
    struct bm_rounds rounds; /* of this rank's stream, if it gathers */
    uint64_t stream_bytes;
    uint8_t *stored; /* [stream_bytes], how often */
    int wrong;
    struct source {
        int gatherer;
        uint64_t at, bytes;
        uint8_t *data;
    } sources[PIECES * 8]; /* of this rank; by tag */
    size_t source_count;
    struct bm_stream_part parts[8][3]; /* of each gatherer */
};

static uint8_t *bytes_of(void *context, size_t tag)
{
    struct trial *t = context;

    return t->asked++ < t->late ? NULL : t->sources[tag].data;
}

static void fill(void *context, size_t tag, uint8_t *room)
{
    struct trial *t = context;

    memcpy(room, t->sources[tag].data, t->sources[tag].bytes);
}

static void take(void *context, size_t tag, const uint8_t *room)
{
    struct trial *t = context;

    memcpy(t->sources[tag].data, room, t->sources[tag].bytes);
}

/* Called by the thread: no CHECK here. */
static int store(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                 struct bm_error *error)
{
    struct trial *t = context;

    if (t->stores++ == t->fail_at)
        return bm_fail(error, BOUMA_ENOSPC, "the storage is full");
    t->wrong += bytes > t->buffer || at + bytes > t->stream_bytes;
    for (uint64_t i = 0; i < bytes && !t->wrong; i++) {
        t->wrong += data[i] != byte_at(t->comm->rank, at + i);
        t->stored[at + i]++;
    }
    return BOUMA_OK;
}

static int load(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                struct bm_error *error)
{
    struct trial *t = context;

    if (t->stores++ == t->fail_at)
        return bm_fail(error, BOUMA_EIO, "the storage cannot be read");
    t->wrong += bytes > t->buffer || at + bytes > t->stream_bytes;
    for (uint64_t i = 0; i < bytes && !t->wrong; i++) {
        data[i] = byte_at(t->comm->rank, at + i);
        t->stored[at + i]++;
    }
    return BOUMA_OK;
}

/* A piece of this rank. */
static size_t add_source(struct trial *t, int gatherer, uint64_t at,
                         uint64_t bytes, int reading)
{
    struct source *s = &t->sources[t->source_count];

    *s = (struct source){gatherer, at, bytes, malloc(bytes + 1)};
    for (uint64_t k = 0; k < bytes; k++)
        s->data[k] = reading ? 0 : byte_at(gatherer, at + k);
    return t->source_count++;
}

/* The flows of a trial: some ranks gather, each from any. The same on all ranks
 * from the same random state. */
static struct bm_flow *make_flows(struct trial *t, size_t *count, uint64_t most,
                                  int reading, uint64_t *random)
{
    int size = t->comm->size, me = t->comm->rank;
    const bouma_allocator *a = t->comm->a;
    struct bm_flow_builder made;
    struct bm_flow *flows;

    CHECK_EQ(bm_flow_builder_init(&made, t->comm), BOUMA_OK);
    for (int g = 0; g < size; g++) {
        struct bm_stream_part parts[3];
        size_t part = 0;
        int gathers = check_below(random, 3) || g == size - 1;

        memset(parts, 0, sizeof(parts));
        for (int i = 0; i < PIECES && gathers; i++) {
            uint64_t bytes = (uint64_t)check_below(
                random,
                check_below(random, 5) ? (int64_t)(most / PIECES * 2) : 2);
            uint64_t at = bm_flow_builder_bytes(&made, g);
            int rank = (int)check_below(random, size);

            bm_flow_builder_fit(&made, g, bytes, t->buffer);
            CHECK_EQ(bm_flow_builder_add(
                         &made, g, rank, bytes,
                         rank == me ? add_source(t, g, at, bytes, reading) : 0),
                     at);
            parts[part].bytes += bytes;
            if (part < 2 && !check_below(random, 12))
                part++;
        }
        if (g == me)
            t->stream_bytes = bm_flow_builder_bytes(&made, g);
        t->parts[g][0] = parts[0];
        t->parts[g][1] = parts[1];
        t->parts[g][2] = parts[2];
    }
    CHECK_EQ(bm_flow_builder_seal(&made, 0, &flows, count), BOUMA_OK);
    bm_flow_builder_release(&made);
    for (size_t i = 0; i < *count; i++) {
        if (t->taking) {
            if (flows[i].rounds.largest > t->buffer)
                t->buffer = flows[i].rounds.largest;
            continue;
        }
        /* Other rounds, that cut pieces. */
        bm_rounds_release(&flows[i].rounds);
        CHECK_EQ(bm_rounds_init(&flows[i].rounds, a,
                                t->parts[flows[i].gatherer], 3, t->buffer),
                 BOUMA_OK);
    }
    return flows;
}

static void end_trial(struct trial *t)
{
    for (size_t i = 0; i < t->source_count; i++)
        free(t->sources[i].data);
    free(t->stored);
}

/* Whether everything is where it belongs. */
static void check_trial(const struct trial *t, int reading)
{
    CHECK_EQ(t->wrong, 0);
    for (uint64_t i = 0; i < t->stream_bytes; i++)
        if (t->stored[i] != 1) {
            CHECK_EQ(t->stored[i], 1);
            break;
        }
    for (size_t i = 0; i < t->source_count && reading; i++)
        for (uint64_t k = 0; k < t->sources[i].bytes; k++)
            if (t->sources[i].data[k] !=
                byte_at(t->sources[i].gatherer, t->sources[i].at + k)) {
                CHECK(!"what was read is right");
                break;
            }
}

/* Carry out one trial; 'failing' is the rank that has a failure, or -1, and its
 * storage fails in call 'fail_at', or, if that is negative, the rank itself has
 * failed before it begins. */
static void run(struct bm_comm *comm, struct bm_pipe_pool *pool,
                struct bm_pipe_options o, uint64_t most, int failing,
                int fail_at, uint64_t *random)
{
    struct trial t = {.comm = comm, .fail_at = -1};
    struct bm_pipe_calls calls = {.context = &t};
    struct bm_error error = {0};
    struct bm_flow *flows;
    struct bm_pipe *pipe;
    size_t count;
    int rc, own = BOUMA_OK;

    t.buffer = 1 + (uint64_t)check_below(random, (int64_t)(most / 6));
    t.filling = !o.reading && check_below(random, 2);
    t.taking = o.reading && check_below(random, 2);
    t.late = !o.reading && !t.filling ? (int)check_below(random, 50) : 0;
    flows = make_flows(&t, &count, most, o.reading, random);
    t.stored = calloc(t.stream_bytes + 1, 1);
    if (comm->rank == failing)
        t.fail_at = fail_at;
    if (comm->rank == failing && fail_at < 0)
        own = bm_fail(&error, BOUMA_ENOMEM, "this rank has no memory");
    calls.bytes = bytes_of;
    calls.fill = t.filling ? fill : NULL;
    calls.take = t.taking ? take : NULL;
    calls.alignment = (size_t)check_below(random, 3) * 8;
    o.unthreaded = (int)check_below(random, 2);
    calls.store = o.reading ? load : store;
    rc = bm_pipe_new(&pipe, comm, flows, count, &o, &calls);
    CHECK_EQ(rc, BOUMA_OK);
    rc = bm_pipe_open(pipe, comm, pool, rc, &error);
    CHECK_EQ(rc, BOUMA_OK);
    rc = bm_pipe_run(pipe, 1, own, &error);
    rc = bm_comm_agree(comm, rc, &error);
    CHECK(same_on_all(rc, error.text));
    if (failing < 0) {
        CHECK_EQ(rc, BOUMA_OK);
        check_trial(&t, o.reading);
    } else if (fail_at < 0) {
        CHECK_EQ(rc, BOUMA_ENOMEM);
    } else {
        /* It may have had less to store than that. */
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOSPC || rc == BOUMA_EIO);
    }
    bm_pipe_free(pipe);
    end_trial(&t);
}

static struct bm_pipe_options options_of(int which)
{
    return (struct bm_pipe_options){
        .reading = which & 1,
        .transport =
            which & 2 ? BOUMA_TRANSPORT_MESSAGES : BOUMA_TRANSPORT_WINDOWS,
        .buffers = 1 + which % 4,
        .copy = (which >> 2) & 1,
        .strict = 1,
    };
}

static void all_bytes_arrive(struct bm_comm *comm)
{
    struct bm_pipe_pool pool = {0};
    uint64_t random = 11;

    for (int i = 0; i < 160; i++)
        run(comm, &pool, options_of((int)check_below(&random, 8)),
            check_below(&random, 3) ? STREAM : 400000, -1, -1, &random);
    bm_pipe_pool_release(&pool);
}

/* One call of storage for a round, whoever has pieces of it: rank 0 has a large
 * one of its own among those of others. */
static void a_round_is_stored_at_once(struct bm_comm *comm)
{
    const uint64_t bytes = 100000;
    struct trial t = {.comm = comm, .fail_at = -1};
    struct bm_pipe_calls calls = {
        .context = &t, .bytes = bytes_of, .store = store};
    struct bm_pipe_options o = options_of(0);
    struct bm_pipe_pool pool = {0};
    struct bm_error error = {0};
    struct bm_flow_builder made;
    struct bm_flow *flows;
    struct bm_pipe *pipe;
    size_t count;

    t.buffer = bytes * (uint64_t)comm->size;
    t.stream_bytes = comm->rank == 0 ? t.buffer : 0;
    t.stored = calloc(t.stream_bytes + 1, 1);
    CHECK_EQ(bm_flow_builder_init(&made, comm), BOUMA_OK);
    bm_flow_builder_fit(&made, 0, t.buffer, t.buffer);
    for (int i = 0; i < comm->size; i++) {
        int rank = (i + 1) % comm->size;
        uint64_t at = (uint64_t)i * bytes;

        CHECK_EQ(bm_flow_builder_add(
                     &made, 0, rank, bytes,
                     rank == comm->rank ? add_source(&t, 0, at, bytes, 0) : 0),
                 at);
    }
    CHECK_EQ(bm_flow_builder_seal(&made, 0, &flows, &count), BOUMA_OK);
    bm_flow_builder_release(&made);
    CHECK_EQ(bm_pipe_new(&pipe, comm, flows, count, &o, &calls), BOUMA_OK);
    CHECK_EQ(bm_pipe_open(pipe, comm, &pool, BOUMA_OK, &error), BOUMA_OK);
    CHECK_EQ(bm_pipe_run(pipe, 1, BOUMA_OK, &error), BOUMA_OK);
    check_trial(&t, 0);
    CHECK_EQ(t.stores, comm->rank == 0);
    bm_pipe_free(pipe);
    end_trial(&t);
    bm_pipe_pool_release(&pool);
}

static void buffers_may_be_in_a_file(const struct ranks *r,
                                     struct bm_comm *comm)
{
    struct bm_pipe_pool pool = {0};
    uint64_t random = 12;

    for (int i = 0; i < 20; i++) {
        struct bm_pipe_options o = options_of(i);

        o.tier = BOUMA_TIER_LOCAL;
        o.local = r->dir;
        run(comm, &pool, o, STREAM, -1, -1, &random);
    }
    bm_pipe_pool_release(&pool);
}

static void a_tier_that_is_not_there_is_told(struct bm_comm *comm)
{
    struct bm_pipe_options o = options_of(0);
    struct bm_pipe_pool pool = {0};
    uint64_t random = 13;

    o.tier = BOUMA_TIER_LOCAL;
    o.local = "/no/such/directory";
    o.strict = 0;
    run(comm, &pool, o, STREAM, -1, -1, &random); /* DRAM does as well */
    bm_pipe_pool_release(&pool);
}

/* Pipes of several kinds that take turns, as those of grids and particles do:
 * ports, messages, a tier on some ranks or on all, one that is not there. After
 * the first turn all have their buffers. */
static void buffers_are_made_once(const struct ranks *r, struct bm_comm *comm)
{
    struct bm_pipe_pool pool = {0};
    int made = 0;

    for (int i = 0; i < 18; i++) {
        struct bm_pipe_options o = options_of(i % 6 == 1 ? 2 : 0);
        uint64_t random = 16 + (uint64_t)(i % 2);

        o.buffers = 2;
        o.strict = i % 6 != 4;
        if (i % 6 == 2 || (i % 6 == 3 && comm->rank % 2))
            o.tier = BOUMA_TIER_LOCAL;
        else if (i % 6 == 4) /* which machines of tests do not have */
            o.tier = BOUMA_TIER_HBM;
        o.local = r->dir;
        run(comm, &pool, o, STREAM, -1, -1, &random);
        if (i == 5)
            made = pool.made;
    }
    CHECK(made > 0 || comm->size == 1);
    CHECK_EQ(pool.made, made);
    bm_pipe_pool_release(&pool);
}

/* Any rank, any call of its storage; or a rank that has failed already. */
static void failures_end_on_all_ranks(struct bm_comm *comm)
{
    struct bm_pipe_pool pool = {0};
    uint64_t random = 14;

    for (int i = 0; i < 120; i++) {
        int failing = (int)check_below(&random, comm->size);

        run(comm, &pool, options_of((int)check_below(&random, 8)), STREAM,
            failing, (int)check_below(&random, 12) - 1, &random);
        /* And the next one works. */
        if (i % 4 == 0)
            run(comm, &pool, options_of((int)check_below(&random, 8)), STREAM,
                -1, -1, &random);
    }
    bm_pipe_pool_release(&pool);
}

/* Ranks of several nodes: those of one share memory, others send. Some have
 * their buffers in a file, which nobody shares. */
static void some_ranks_are_far(const struct ranks *r, struct bm_comm *comm)
{
    uint64_t random = 15;
    struct bm_error error = {0};

    for (int nodes = 2; nodes <= 4; nodes++) {
        struct bm_pipe_pool pool = {0};

        CHECK_EQ(
            bm_comm_settle(comm, 1 + (uint64_t)(comm->rank % nodes), &error),
            BOUMA_OK);
        for (int i = 0; i < 60; i++) {
            struct bm_pipe_options o = options_of(i & 5);
            int failing = check_below(&random, 3)
                              ? -1
                              : (int)check_below(&random, comm->size);
            int fail_at = (int)check_below(&random, 12) - 1;

            if (check_below(&random, 4) == 0 && comm->rank % 2) {
                o.tier = BOUMA_TIER_LOCAL;
                o.local = r->dir;
            }
            run(comm, &pool, o, STREAM, failing, fail_at, &random);
        }
        CHECK(comm->size == 1 || pool.ports[0]);
        CHECK(comm->size == 1 || !pool.ports[0]->all_near);
        bm_pipe_pool_release(&pool);
    }
    CHECK_EQ(bm_comm_settle(comm, 1, &error), BOUMA_OK);
}

/* ---- memory ------------------------------------------------------------- */

/* All memory that is asked for; the largest sum. */
struct meter {
    size_t now, peak;
};

static void *metered_resize(void *user, void *block, size_t bytes)
{
    struct meter *m = user;
    size_t *old = block ? (size_t *)block - 2 : NULL;
    size_t had = old ? old[0] : 0;
    size_t *fresh = realloc(old, bytes + 16);

    if (!fresh)
        return NULL;
    fresh[0] = bytes;
    m->now += bytes - had;
    m->peak = m->now > m->peak ? m->now : m->peak;
    return fresh + 2;
}

static void metered_release(void *user, void *block)
{
    struct meter *m = user;

    if (!block)
        return;
    m->now -= ((size_t *)block - 2)[0];
    free((size_t *)block - 2);
}

enum { STEP_BYTES = 20 << 20, BUFFER = 512 << 10, BUFFERS = 2 };

static float value_at(size_t i)
{
    return (float)(i % 8191);
}

/* All ranks want all of it: what they read for each other needs no more than
 * buffers, beside what is read ahead of decoding (4 MiB), chunks and tables. */
static void nor_does_reading_it(const char *path, bouma_options *o,
                                struct meter *meter, bouma_box box)
{
    size_t count = STEP_BYTES / 4, before;
    float *data = malloc(STEP_BYTES);
    bouma_array to;
    bouma_request q = {.size = sizeof(q), .box = box, .array = &to};
    bouma_dataset *ds;
    bouma_step *step;
    size_t wrong = 0;

    REQUIRE(data);
    memset(data, 0xff, STEP_BYTES);
    CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, o), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    REQUIRE(step);
    q.variable = bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
    before = meter->now;
    meter->peak = before;
    to = test_array(q.variable, data);
    CHECK_EQ(bouma_step_read(step, &q, 1), BOUMA_OK);
    CHECK(meter->peak - before <=
          (size_t)BUFFERS * BUFFER + BUFFER + (4 << 20) + (1 << 20));
    for (size_t i = 0; i < count; i++)
        wrong += data[i] != value_at(i);
    CHECK_EQ(wrong, 0);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    CHECK_EQ(meter->now, 0);
    free(data);
}

/* A grid in one file, 20 times larger than the writer's buffers. What the
 * writer asks for beyond them is one chunk twice (what is made, and what it is
 * made of) and tables. */
static void a_large_step_needs_no_more_than_buffers(const struct ranks *r,
                                                    bouma_transport transport)
{
    enum { EDGE = 64 };
    struct meter meter = {0, 0};
    bouma_allocator a = {sizeof(a), &meter, metered_resize, metered_release};
    bouma_grid_spec grid = {.size = sizeof(grid), .ndims = 3, .levels = 2};
    bouma_variable_spec spec = {
        .size = sizeof(spec), .type = BOUMA_TYPE_F32, .codec = BOUMA_CODEC_RAW};
    int64_t depth = STEP_BYTES / 4 / EDGE / EDGE, lo, hi;
    size_t before, chunk = 4 * 32 * 32 * 32;
    bouma_options o = {.size = sizeof(o)};
    bouma_dataset *ds;
    bouma_grid *g;
    bouma_variable *v;
    bouma_record record = {.size = sizeof(record)};
    char path[512];
    float *data;

    o.allocator = &a;
    o.durability = BOUMA_DURABILITY_FAST;
    o.files = 1;
    o.place = BOUMA_PLACE_FIRST;
    o.buffers = BUFFERS;
    o.buffer_bytes = BUFFER;
    o.transport = transport;
    grid.shape[0] = depth;
    grid.shape[1] = grid.shape[2] = EDGE;
    for (int d = 0; d < 3; d++)
        grid.patch[d] = 32;
    path_in(r, path, "large", (int64_t)transport);
    CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &o), BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&g, ds, "g", &grid), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v, g, "v", &spec), BOUMA_OK);
    /* Whole patches on each rank, so that none is moved to be put together. */
    lo = depth / 32 * r->rank / r->size * 32;
    hi = depth / 32 * (r->rank + 1) / r->size * 32;
    data = calloc((size_t)((hi - lo) * EDGE * EDGE) + 1, 4);
    for (int64_t i = 0; i < (hi - lo) * EDGE * EDGE; i++)
        data[i] = value_at((size_t)(i + lo * EDGE * EDGE));
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    CHECK_EQ(test_put(v, &(bouma_box){{lo, 0, 0}, {hi, EDGE, EDGE}}, data),
             BOUMA_OK);
    before = meter.now;
    CHECK_EQ(end_step(&record, ds), BOUMA_OK);
    CHECK_EQ(record.files, 1);
    /* The port's own memory is not the allocator's: it is what the buffers
     * are, by definition. By messages they are, and what is sent is staged. */
    CHECK(meter.peak - before <=
          (size_t)BUFFERS * BUFFER + BUFFER + 4 * chunk + (256 << 10));
    CHECK(STEP_BYTES >= 20 * BUFFERS * BUFFER);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    CHECK_EQ(meter.now, 0);
    free(data);
    nor_does_reading_it(path, &o, &meter,
                        (bouma_box){{0, 0, 0}, {depth, EDGE, EDGE}});
}

/* ---- a full disk -------------------------------------------------------- */

static struct {
    const bouma_io *below;
    int full;
} disk;

static int reserve(void *user, void *file, uint64_t bytes)
{
    (void)user;
    return disk.full ? ENOSPC
                     : disk.below->reserve(disk.below->user, file, bytes);
}

/* Only the last rank has data; another one, that writes several files and has
 * nothing to put, or the last one itself, finds no room for the first of them.
 * What others could not send is not stored either. */
static void a_full_disk_ends_on_all_ranks(const struct ranks *r, int failing,
                                          bouma_transport transport, int async)
{
    enum { EDGE = 32 };
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = 3,
                            .shape = {EDGE, EDGE, EDGE},
                            .patch = {8, 8, 8}};
    bouma_variable_spec spec = {
        .size = sizeof(spec), .type = BOUMA_TYPE_F32, .codec = BOUMA_CODEC_RAW};
    bouma_box whole = {{0, 0, 0}, {EDGE, EDGE, EDGE}};
    static float data[EDGE * EDGE * EDGE];
    bouma_io table = *bouma_io_posix();
    bouma_options o = {.size = sizeof(o)};
    bouma_dataset *ds;
    bouma_grid *g;
    bouma_variable *v;
    char path[512];

    disk.below = bouma_io_posix();
    table.reserve = reserve;
    o.io = &table;
    o.files = 3 * r->size;
    o.durability = BOUMA_DURABILITY_FAST;
    o.transport = transport;
    o.buffer_bytes = 4096;
    o.async = async;
    path_in(r, path, "full", failing * 8 + (int)transport * 2 + async);
    CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &o), BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&g, ds, "g", &grid), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v, g, "v", &spec), BOUMA_OK);
    for (int tries = 0; tries < 2; tries++) {
        int rc;

        disk.full = !tries && r->rank == failing;
        CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
        if (r->rank == r->size - 1)
            CHECK_EQ(test_put(v, &whole, data), BOUMA_OK);
        rc = bouma_step_end(ds);
        if (!rc)
            rc = bouma_dataset_wait(ds);
        CHECK_EQ(rc, tries ? BOUMA_OK : BOUMA_ENOSPC);
        CHECK(same_on_all(rc, tries ? "" : bouma_error_message(ds)));
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

int main(int argc, char **argv)
{
    struct bm_comm *comm;
    struct ranks r;

    ranks_init(&r, &argc, &argv);
    CHECK_EQ(bm_comm_mpi_new(&comm, bm_allocator_default(), MPI_COMM_WORLD, 600,
                             &(struct bm_error){0}),
             BOUMA_OK);
    all_bytes_arrive(comm);
    a_round_is_stored_at_once(comm);
    buffers_may_be_in_a_file(&r, comm);
    a_tier_that_is_not_there_is_told(comm);
    buffers_are_made_once(&r, comm);
    failures_end_on_all_ranks(comm);
    some_ranks_are_far(&r, comm);
    bm_comm_free(comm);
    for (int i = 0; i < 4; i++) {
        bouma_transport transport =
            i & 1 ? BOUMA_TRANSPORT_MESSAGES : BOUMA_TRANSPORT_WINDOWS;

        a_full_disk_ends_on_all_ranks(&r, 0, transport, i / 2);
        if (r.size > 1)
            a_full_disk_ends_on_all_ranks(&r, r.size - 1, transport, i / 2);
    }
    a_large_step_needs_no_more_than_buffers(&r, BOUMA_TRANSPORT_WINDOWS);
    a_large_step_needs_no_more_than_buffers(&r, BOUMA_TRANSPORT_MESSAGES);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
