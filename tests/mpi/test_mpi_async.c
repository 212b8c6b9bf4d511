/* test_mpi_async.c -- steps that are stored while the program goes on: arrays
 * are free when the call returns, what was defined or begun since does not
 * matter, the step is there after the next call, and a failure in the
 * background is told by that call, on all ranks alike. */
#include <errno.h>
#include <pthread.h>

#include "blocks.h"

#include "../helpers/check.h"
#include "columns.h"
#include "sized.h"

enum { N = 40, STEPS = 4 };

/* A table over the usual one whose writes wait at a gate, or fail. */
struct gate {
    bouma_io io;
    const bouma_io *below;
    pthread_mutex_t lock;
    pthread_cond_t change;
    int shut;  /* writes wait */
    int fails; /* and then fail */
    int syncs_fail;
};

static int gate_write(void *user, void *file, const void *data, size_t bytes,
                      uint64_t offset, size_t *done)
{
    struct gate *g = user;
    int fails;

    pthread_mutex_lock(&g->lock);
    while (g->shut)
        pthread_cond_wait(&g->change, &g->lock);
    fails = g->fails;
    pthread_mutex_unlock(&g->lock);
    return fails ? ENOSPC
                 : g->below->write(g->below->user, file, data, bytes, offset,
                                   done);
}

static int gate_sync(void *user, void *file)
{
    struct gate *g = user;

    return g->syncs_fail ? EIO : g->below->sync(g->below->user, file);
}

static void gate_set(struct gate *g, int shut, int fails)
{
    pthread_mutex_lock(&g->lock);
    g->shut = shut;
    g->fails = fails;
    pthread_cond_broadcast(&g->change);
    pthread_mutex_unlock(&g->lock);
}

static void gate_init(struct gate *g)
{
    g->below = bouma_io_posix();
    g->io = *g->below;
    g->io.user = g; /* the table below has no use for it */
    g->io.write = gate_write;
    g->io.sync = gate_sync;
    g->shut = g->fails = g->syncs_fail = 0;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->change, NULL);
}

struct setting {
    const struct ranks *ranks;
    struct gate gate;
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_variable *variable;
    struct field field;
    struct cutting blocks;
    char path[512];
};

static void set_up_by(struct setting *s, const struct ranks *ranks,
                      bouma_codec codec, bouma_durability durability,
                      bouma_transport transport)
{
    static int64_t number;
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = 2,
                            .shape = {N, N},
                            .patch = {8, 8},
                            .levels = 3};
    bouma_variable_spec spec = {
        .size = sizeof(spec), .type = BOUMA_TYPE_F64, .codec = codec};
    uint64_t random = 4;
    bouma_options o = {.size = sizeof(o)};

    memset(s, 0, sizeof(*s));
    s->ranks = ranks;
    gate_init(&s->gate);
    s->field = (struct field){BOUMA_TYPE_F64, 1, 2, {N, N, 0}, 5};
    cutting_make(&s->blocks, CUT_BLOCKS, &s->field, ranks->size, &random);
    o.io = &s->gate.io;
    o.async = 1;
    o.durability = durability;
    o.group = 2;
    o.transport = transport;
    o.files = ranks->size; /* so that each rank writes one */
    path_in(ranks, s->path, "async", number++);
    CHECK_EQ(bouma_dataset_create_mpi(&s->ds, MPI_COMM_WORLD, s->path, &o),
             BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&s->grid, s->ds, "g", &grid), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&s->variable, s->grid, "v", &spec),
             BOUMA_OK);
}

static void set_up(struct setting *s, const struct ranks *ranks,
                   bouma_codec codec, bouma_durability durability)
{
    set_up_by(s, ranks, codec, durability, 0);
}

/* One particle of this rank. */
static int put_particle(struct setting *s, bouma_particles *set)
{
    float x[2] = {(float)s->ranks->rank, 1};
    struct test_column column = {.variable = bouma_particles_position(set),
                                 .data = x};

    return test_put_particles_copy(set, 1, &column, 1, NULL);
}

/* Hand over, end the step, and overwrite the arrays at once. 'set' may be NULL.
 */
static int write_both(struct setting *s, int64_t step, bouma_particles *set)
{
    struct puts puts;
    uint64_t random = (uint64_t)step + 1;
    int rc;

    CHECK_EQ(bouma_step_begin(s->ds, step, (double)step), BOUMA_OK);
    CHECK_EQ(
        puts_make(&puts, s->variable, &s->field, &s->blocks, step, &random),
        BOUMA_OK);
    if (set)
        CHECK_EQ(put_particle(s, set), BOUMA_OK);
    rc = bouma_step_end(s->ds);
    for (int i = 0; i < puts.count; i++)
        if (puts.arrays[i].bytes) {
            memset(puts.arrays[i].memory, 0xa5, puts.arrays[i].bytes);
            memcpy(puts.arrays[i].copy, puts.arrays[i].memory,
                   puts.arrays[i].bytes);
        }
    CHECK_EQ(puts_free(&puts), 0);
    return rc;
}

static int write_step(struct setting *s, int64_t step)
{
    return write_both(s, step, NULL);
}

/* How many steps a reader sees. */
static int64_t visible(const struct setting *s)
{
    bouma_dataset *ds;
    int64_t count = -1;

    if (!bouma_dataset_open(&ds, s->path, NULL))
        count = bouma_dataset_step_count(ds);
    bouma_dataset_free(ds);
    return count;
}

static void together(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void tear_down(struct setting *s)
{
    bouma_dataset_free(s->ds);
    pthread_mutex_destroy(&s->gate.lock);
    pthread_cond_destroy(&s->gate.change);
}

/* The storage does nothing until the call has returned: so it can return before
 * anything is stored; and the step is there when the next call is over. */
static void the_call_returns_before_anything_is_stored(const struct ranks *r,
                                                       bouma_codec codec)
{
    bouma_record record = {.size = sizeof(record)};
    struct setting s;

    set_up(&s, r, codec, BOUMA_DURABILITY_DURABLE);
    gate_set(&s.gate, 1, 0);
    CHECK_EQ(write_step(&s, 0), BOUMA_OK);
    together();
    if (r->rank == 0)
        CHECK_EQ(visible(&s), 0);
    together();
    gate_set(&s.gate, 0, 0);
    CHECK_EQ(wait_for_step(&record, s.ds), BOUMA_OK);
    CHECK_EQ(record.files > 0, 1);
    CHECK_EQ(record.raw_bytes, N * N * 8);
    if (r->rank == 0) {
        CHECK_EQ(visible(&s), 1);
        CHECK_EQ(wrong_on_disk(s.path, 0, "v", &s.field), 0);
    }
    together();
    CHECK_EQ(bouma_dataset_wait(s.ds), BOUMA_OK); /* there is none */
    CHECK_EQ(bouma_dataset_close(s.ds), BOUMA_OK);
    tear_down(&s);
}

/* A series; variables are defined while the step before is being stored, and
 * the attributes change. */
static void steps_follow_each_other(const struct ranks *r, bouma_codec codec,
                                    bouma_durability durability)
{
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_I32};
    bouma_variable *more;
    struct setting s;

    set_up(&s, r, codec, durability);
    for (int64_t step = 0; step < STEPS; step++) {
        CHECK_EQ(write_step(&s, step), BOUMA_OK);
        if (step == 1)
            CHECK_EQ(bouma_variable_define(&more, s.grid, "more", &spec),
                     BOUMA_OK);
    }
    CHECK_EQ(bouma_dataset_close(s.ds), BOUMA_OK);
    if (r->rank == 0) {
        CHECK_EQ(visible(&s), STEPS);
        for (int64_t step = 0; step < STEPS; step++)
            CHECK_EQ(wrong_on_disk(s.path, step, "v", &s.field), 0);
    }
    together();
    tear_down(&s);
}

static void *open_soon(void *context)
{
    struct timespec moment = {0, 30000000};

    nanosleep(&moment, NULL);
    gate_set(context, 0, 0);
    return NULL;
}

/* A step that was open before is read by all while the next one is stored: both
 * use buffers, but not the same at once. */
static void an_open_step_is_read_meanwhile(const struct ranks *r,
                                           bouma_codec codec,
                                           bouma_transport transport)
{
    double data[N * N], right;
    bouma_array to = BOUMA_ARRAY(BOUMA_TYPE_F64, data, sizeof(data));
    bouma_request q = {
        .size = sizeof(q), .box = {{0, 0, 0}, {N, N, 0}}, .array = &to};
    bouma_step *step;
    pthread_t opener;
    struct setting s;
    int wrong = 0;

    set_up_by(&s, r, codec, BOUMA_DURABILITY_FAST, transport);
    CHECK_EQ(write_step(&s, 0), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, s.ds, 0), BOUMA_OK);
    REQUIRE(step);
    q.variable = bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
    gate_set(&s.gate, 1, 0);
    CHECK_EQ(write_step(&s, 1), BOUMA_OK);
    REQUIRE(!pthread_create(&opener, NULL, open_soon, &s.gate));
    CHECK_EQ(bouma_step_read(step, &q, 1), BOUMA_OK);
    pthread_join(opener, NULL);
    for (int64_t i = 0; i < N * N; i++) {
        field_value((uint8_t *)&right, &s.field, (int64_t[3]){i / N, i % N, 0},
                    0, 0);
        wrong += memcmp(&data[i], &right, sizeof(right)) != 0;
    }
    CHECK_EQ(wrong, 0);
    bouma_step_free(step);
    CHECK_EQ(bouma_dataset_close(s.ds), BOUMA_OK);
    if (r->rank == 0) {
        CHECK_EQ(visible(&s), 2);
        CHECK_EQ(wrong_on_disk(s.path, 1, "v", &s.field), 0);
    }
    together();
    tear_down(&s);
}

static int define_particles(struct setting *s, bouma_particles **set)
{
    bouma_particles_spec spec = {.size = sizeof(spec), .ndims = 2};

    return bouma_particles_define(set, s->ds, "p", &spec);
}

/* A step is open for reading, the next is being stored: whatever collective
 * call comes then, it finds that one committed. */
static int call(struct setting *s, bouma_step *step, int which)
{
    double data[N * N];
    bouma_array to = BOUMA_ARRAY(BOUMA_TYPE_F64, data, sizeof(data));
    bouma_request q = {
        .size = sizeof(q), .box = {{0, 0, 0}, {N, N, 0}}, .array = &to};
    bouma_particle_data *particles = NULL;
    bouma_step *again = NULL;
    int rc;

    switch (which) {
    case 0:
        return bouma_dataset_wait(s->ds);
    case 1:
        return bouma_dataset_flush(s->ds);
    case 2:
        return bouma_dataset_refresh(s->ds);
    case 3:
        return bouma_dataset_drain(s->ds);
    case 4:
        return bouma_dataset_truncate(s->ds, 1);
    case 5:
        rc = bouma_step_open(&again, s->ds, 1);
        bouma_step_free(again);
        return rc;
    case 6:
        q.variable =
            bouma_grid_find_variable(bouma_step_find_grid(step, "g"), "v");
        return bouma_step_read(step, &q, 1);
    case 7:
        rc = bouma_particles_restart(
            &particles, bouma_step_find_particles(step, "p"), NULL);
        bouma_particle_data_free(particles);
        return rc;
    case 8:
        CHECK_EQ(bouma_step_begin(s->ds, 2, 2), BOUMA_OK);
        return bouma_step_abort(s->ds);
    default:
        return bouma_dataset_close(s->ds);
    }
}

static void every_collective_call_commits_first(const struct ranks *r)
{
    for (int which = 0; which < 10; which++) {
        bouma_particles *set = NULL;
        bouma_step *step;
        struct setting s;

        set_up(&s, r, BOUMA_CODEC_RAW, BOUMA_DURABILITY_FAST);
        CHECK_EQ(define_particles(&s, &set), BOUMA_OK);
        CHECK_EQ(write_both(&s, 0, set), BOUMA_OK);
        CHECK_EQ(bouma_step_open(&step, s.ds, 0), BOUMA_OK);
        REQUIRE(step);
        CHECK_EQ(write_both(&s, 1, set), BOUMA_OK);
        together();
        if (r->rank == 0)
            CHECK_EQ(visible(&s), 1);
        together();
        CHECK_EQ(call(&s, step, which), which == 8 ? BOUMA_EABORTED : BOUMA_OK);
        if (r->rank == 0)
            CHECK_EQ(visible(&s), 2);
        together();
        bouma_step_free(step);
        tear_down(&s);
    }
}

/* Only the last rank's storage fails, and only after the call has returned. */
static void failures_come_with_the_next_call(const struct ranks *r, int how)
{
    struct setting s;
    int rc, last = r->rank == r->size - 1;

    set_up(&s, r, BOUMA_CODEC_ZSTD, BOUMA_DURABILITY_DURABLE);
    CHECK_EQ(write_step(&s, 0), BOUMA_OK);
    CHECK_EQ(bouma_dataset_wait(s.ds), BOUMA_OK);
    gate_set(&s.gate, 1, 0);
    s.gate.syncs_fail = last && how == 3;
    CHECK_EQ(write_step(&s, 1), BOUMA_OK);
    gate_set(&s.gate, 0, last && how != 3);
    switch (how) {
    case 0:
        rc = bouma_dataset_wait(s.ds);
        break;
    case 1:
        rc = write_step(&s, 2);
        break;
    case 2:
        rc = bouma_dataset_flush(s.ds);
        break;
    default:
        rc = bouma_dataset_refresh(s.ds);
    }
    CHECK_EQ(rc, how == 3 ? BOUMA_EIO : BOUMA_ENOSPC);
    CHECK(same_on_all(rc, bouma_error_message(s.ds)));
    CHECK_TEXT(bouma_error_message(s.ds), "step 1, which was being stored");
    gate_set(&s.gate, 0, 0);
    s.gate.syncs_fail = 0;
    together();
    if (r->rank == 0)
        CHECK_EQ(visible(&s), 1);
    /* It can be written again, and what comes after it. */
    CHECK_EQ(write_step(&s, 1), BOUMA_OK);
    CHECK_EQ(write_step(&s, 2), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(s.ds), BOUMA_OK);
    if (r->rank == 0) {
        CHECK_EQ(visible(&s), 3);
        for (int64_t step = 0; step < 3; step++)
            CHECK_EQ(wrong_on_disk(s.path, step, "v", &s.field), 0);
    }
    together();
    tear_down(&s);
}

/* Who leaves without a last call leaves the step uncommitted, and no more. */
static void leaving_drops_the_step(const struct ranks *r)
{
    struct setting s;

    set_up(&s, r, BOUMA_CODEC_RAW, BOUMA_DURABILITY_FAST);
    CHECK_EQ(write_step(&s, 0), BOUMA_OK);
    CHECK_EQ(write_step(&s, 1), BOUMA_OK);
    bouma_dataset_free(s.ds);
    s.ds = NULL;
    together();
    if (r->rank == 0) {
        CHECK_EQ(visible(&s), 1);
        CHECK_EQ(wrong_on_disk(s.path, 0, "v", &s.field), 0);
    }
    together();
    tear_down(&s);
}

int main(int argc, char **argv)
{
    static const bouma_codec codecs[] = {BOUMA_CODEC_RAW, BOUMA_CODEC_ZSTD};
    struct ranks r;

    ranks_init(&r, &argc, &argv);
    for (int i = 0; i < 2; i++) {
        the_call_returns_before_anything_is_stored(&r, codecs[i]);
        steps_follow_each_other(&r, codecs[i], BOUMA_DURABILITY_DURABLE);
        steps_follow_each_other(&r, codecs[i], BOUMA_DURABILITY_FAST);
        steps_follow_each_other(&r, codecs[i], BOUMA_DURABILITY_GROUP);
        an_open_step_is_read_meanwhile(&r, codecs[i], BOUMA_TRANSPORT_WINDOWS);
        an_open_step_is_read_meanwhile(&r, codecs[i], BOUMA_TRANSPORT_MESSAGES);
    }
    for (int how = 0; how < 4; how++)
        failures_come_with_the_next_call(&r, how);
    every_collective_call_commits_first(&r);
    leaving_drops_the_step(&r);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
