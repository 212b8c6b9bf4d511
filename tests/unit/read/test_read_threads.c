/* Reading on several threads: whatever their number, the same calls to the
 * storage, the same answers in the same order, on the caller's thread. */
#include <pthread.h>

#include "arrays.h"
#include "base/hash.h"
#include "particle_block.h"

#define PARTICLES 160000
#define SIDE      96

/* ---- what is watched ----------------------------------------------------- */

/* All reads and all that callbacks were handed, in their order, as a hash; and
 * how much that was. */
struct transcript {
    uint64_t hash;
    uint64_t reads, bytes_read, calls, bytes_given;
    int status;
    int stop_after; /* calls; 0: never */
    pthread_t caller;
    int elsewhere; /* a callback came from another thread */
};

static struct transcript now;
static int threads_started;

static void record(const void *data, size_t bytes)
{
    now.hash = bm_hash64(data, bytes, now.hash);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *context);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *context)
{
    threads_started++;
    return __real_pthread_create(thread, attributes, start, context);
}

static bouma_io *memory;

static int watched_read(void *user, void *file, void *data, size_t bytes,
                        uint64_t offset, size_t *done)
{
    now.reads++;
    now.bytes_read += bytes;
    record(&offset, sizeof(offset));
    record(&bytes, sizeof(bytes));
    return memory->read(user, file, data, bytes, offset, done);
}

static int called(void)
{
    now.calls++;
    now.elsewhere |= !pthread_equal(pthread_self(), now.caller);
    return now.stop_after && now.calls >= (uint64_t)now.stop_after;
}

static void give(const void *data, uint64_t bytes)
{
    record(data, (size_t)bytes);
    now.bytes_given += bytes;
}

/* ---- particles ----------------------------------------------------------- */

static const size_t sample_bytes[PARTICLE_BLOCK_VARIABLES] = {24, 8, 8, 4,
                                                              12, 1, 8};

static int take_batch(void *user, const bouma_batch *batch)
{
    (void)user;
    give(&batch->count, sizeof(batch->count));
    for (int i = 0; i < PARTICLE_BLOCK_VARIABLES; i++)
        give(batch->columns[i], batch->count * sample_bytes[i]);
    return called();
}

static void take_data(const bouma_particle_data *d)
{
    for (size_t i = 0; d && i < d->variable_count; i++)
        give(d->columns[i], d->count * sample_bytes[i]);
}

enum question {
    EVERYTHING,
    A_BOX,
    BY_VALUE, /* in a box */
    SOME_QUALITY,
    STOPPED,
    READ_AT_ONCE,
    A_SAMPLE,
    AN_EVEN_SAMPLE,
    QUESTIONS
};

static int ask(struct particle_block_set *set, enum question question)
{
    bouma_particle_data *d = NULL;
    bouma_particles_query q;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    bouma_condition mass;
    int rc;

    q = (bouma_particles_query){.size = sizeof(q)};
    if (question == A_BOX || question == BY_VALUE)
        for (int i = 0; i < 3; i++) {
            q.box = &box;
            box.low[i] = 0.1;
            box.high[i] = 0.8;
        }
    if (question == BY_VALUE || question == AN_EVEN_SAMPLE) {
        mass = condition_of(set->variables[MASS], 0, 0.5, 1.9);
        q.conditions = &mass;
        q.condition_count = 1;
    }
    if (question == SOME_QUALITY) {
        q.from = 0.05;
        q.quality = 0.6;
    }
    if (question == STOPPED)
        now.stop_after = 5;
    if (question < READ_AT_ONCE)
        return bouma_particles_query_run(set->particles, &q, take_batch, NULL);
    rc = question == READ_AT_ONCE
             ? bouma_particles_read(&d, set->particles, &q)
             : bouma_particles_sample(&d, set->particles, &q, 5000,
                                      question == A_SAMPLE ? 7 : 0);
    take_data(d);
    bouma_particle_data_free(d);
    return rc;
}

/* ---- grids --------------------------------------------------------------- */

static int choose_level(void *user, const bouma_patch_info *patch)
{
    (void)user;
    return patch->box.lo[0] % 64 ? 1 : 0;
}

static int take_patch(void *user, const bouma_patch_info *patch, int level,
                      const bouma_selection *selection, const void *samples)
{
    (void)user;
    give(&patch->box, sizeof(patch->box));
    give(&level, sizeof(level));
    give(samples, selection->bytes);
    return called();
}

enum grid_question { PATCHES, PATCHES_STOPPED, BOX, REFINED, GRID_QUESTIONS };

static int ask_grid(bouma_variable *v, enum grid_question question)
{
    static float samples[SIDE * SIDE * SIDE];
    bouma_box box = {{5, 0, 7}, {SIDE, SIDE - 3, SIDE - 20}};
    bouma_patch_query q = {.size = sizeof(q),
                           .box = &box,
                           .choose = choose_level,
                           .each = take_patch};
    bouma_refinement *r = NULL;
    bouma_selection selection = {.size = sizeof(selection)};
    int level, rc;

    now.stop_after = question == PATCHES_STOPPED ? 3 : 0;
    if (question <= PATCHES_STOPPED)
        return bouma_variable_query(v, &q);
    if (question == BOX) {
        rc = test_read(v, 0, &box, samples);
        bouma_variable_select(&selection, v, 0, &box);
        give(samples, selection.bytes);
        return rc;
    }
    rc = bouma_refinement_open(&r, v, 2, &box);
    for (int i = 0; i < 3 && !rc; i++) {
        const void *data = NULL;

        CHECK_EQ(bouma_refinement_get(&data, &selection, &level, r), BOUMA_OK);
        give(data, selection.bytes);
        rc = i < 2 ? bouma_refinement_next(r) : BOUMA_OK;
    }
    bouma_refinement_free(r);
    return rc;
}

/* ---- the same, whatever the threads -------------------------------------- */

static const bouma_codec codecs[] = {BOUMA_CODEC_RAW, BOUMA_CODEC_ZSTD};

static void write_all(const bouma_options *given, bouma_codec codec)
{
    static float samples[SIDE * SIDE * SIDE];
    bouma_grid_spec grid_spec = {.size = sizeof(grid_spec),
                                 .ndims = 3,
                                 .shape = {SIDE, SIDE, SIDE},
                                 .patch = {32, 32, 32}};
    bouma_variable_spec spec = {
        .size = sizeof(spec), .type = BOUMA_TYPE_F32, .codec = codec};
    bouma_options opts = *given;
    struct particle_block_set set;
    struct particle_block s;
    bouma_variable *v;
    bouma_grid *grid;
    bouma_dataset *ds;

    opts.files = 3;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
        samples[i] = (float)(i % 977) / 8;
    particle_block_make(&s, CLUSTERED, PARTICLES, 3, BOUMA_TYPE_F64, 5);
    REQUIRE(!bouma_dataset_create(&ds, "a.bouma", &opts));
    REQUIRE(!particle_block_define(&set, ds, "dust", 3, s.type, codec, 0));
    REQUIRE(!bouma_grid_define(&grid, ds, "air", &grid_spec));
    REQUIRE(!bouma_variable_define(&v, grid, "p", &spec));
    REQUIRE(!bouma_step_begin(ds, 0, 0));
    REQUIRE(!particle_block_put(&set, &s));
    REQUIRE(!test_put(v, NULL, samples));
    REQUIRE(!bouma_step_end(ds));
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    particle_block_free(&s);
}

/* Ask one question of a dataset that was just opened, with so many threads. */
static struct transcript watch(const bouma_options *given, int threads,
                               int question)
{
    bouma_options opts = *given;
    struct particle_block_set set;
    bouma_dataset *ds;
    bouma_step *step;

    opts.threads = threads;
    REQUIRE(!bouma_dataset_open(&ds, "a.bouma", &opts));
    REQUIRE(!bouma_step_open(&step, ds, 0));
    particle_block_find(&set, step, "dust");
    memset(&now, 0, sizeof(now));
    now.caller = pthread_self();
    threads_started = 0;
    now.status = question < QUESTIONS
                     ? ask(&set, (enum question)question)
                     : ask_grid(bouma_grid_find_variable(
                                    bouma_step_find_grid(step, "air"), "p"),
                                (enum grid_question)(question - QUESTIONS));
    bouma_step_free(step);
    bouma_dataset_free(ds);
    return now;
}

static void compare(const struct transcript *one, const struct transcript *many)
{
    CHECK_EQ(many->status, one->status);
    CHECK_EQ(many->reads, one->reads);
    CHECK_EQ(many->bytes_read, one->bytes_read);
    CHECK_EQ(many->calls, one->calls);
    CHECK_EQ(many->bytes_given, one->bytes_given);
    CHECK(many->hash == one->hash);
    CHECK(!many->elsewhere);
}

static void answers_do_not_depend_on_threads(int print)
{
    for (size_t c = 0; c < sizeof(codecs) / sizeof(*codecs); c++) {
        bouma_options opts = {.size = sizeof(opts)};
        bouma_io io;

        memory = bouma_io_memory_new();
        REQUIRE(memory);
        io = *memory;
        io.read = watched_read;
        opts.io = &io;
        opts.durability = BOUMA_DURABILITY_FAST;
        write_all(&opts, codecs[c]);
        for (int q = 0; q < QUESTIONS + GRID_QUESTIONS; q++) {
            struct transcript one = watch(&opts, 1, q), many;
            int stopped = q == STOPPED || q == QUESTIONS + PATCHES_STOPPED;

            if (print)
                printf("codec %d question %2d: %" PRIu64 " reads, %" PRIu64
                       " bytes, %" PRIu64 " calls, hash %016" PRIx64 "\n",
                       (int)codecs[c], q, one.reads, one.bytes_read, one.calls,
                       one.hash);
            CHECK_EQ(one.status, stopped ? BOUMA_EABORTED : BOUMA_OK);
            CHECK(one.bytes_given > 0);
            CHECK_EQ(threads_started, 0);
            many = watch(&opts, 2, q);
            compare(&one, &many);
            many = watch(&opts, 5, q);
            compare(&one, &many);
            /* Values that have to be decoded are worth some. */
            if (codecs[c] == BOUMA_CODEC_ZSTD && !stopped)
                CHECK(threads_started > 0);
        }
        bouma_io_memory_free(memory);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    unsetenv("BOUMA_OPTIONS");
    answers_do_not_depend_on_threads(argc > 1);
    return check_result();
}
