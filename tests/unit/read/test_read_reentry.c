/* A callback of a call that reads a step: it may not read the step, on however
 * many threads that is read, and cannot free what is in use. */
#include "arrays.h"
#include "must.h"
#include "particle_block.h"

#define SIDE      96
#define PARTICLES 40000

static float samples[SIDE * SIDE * SIDE];

/* What the callbacks try, and how often they did. */
static struct {
    bouma_dataset *ds;
    bouma_step *step;
    bouma_variable *v;
    bouma_particles *set;
    int calls;
} now;

static void try_all(void)
{
    static float room[SIDE * SIDE * SIDE];
    bouma_array to = test_array(now.v, room);
    bouma_request request = {.size = sizeof(request),
                             .variable = now.v,
                             .box = {{0, 0, 0}, {SIDE, SIDE, SIDE}},
                             .array = &to};
    bouma_particle_data *d;
    bouma_refinement *r;

    if (!now.step || now.calls++ > 2)
        return;
    CHECK_EQ(test_read(now.v, 0, NULL, room), BOUMA_ESTATE);
    CHECK(strstr(bouma_error_message(now.ds), "must not read the step"));
    CHECK_EQ(bouma_step_read(now.step, &request, 1), BOUMA_ESTATE);
    CHECK_EQ(bouma_refinement_open(&r, now.v, 0, NULL), BOUMA_ESTATE);
    CHECK_EQ(bouma_particles_read(&d, now.set, NULL), BOUMA_ESTATE);
    CHECK_EQ(bouma_particles_restart(&d, now.set, NULL), BOUMA_ESTATE);
}

static void progress(void *user, const char *what, uint64_t done,
                     uint64_t total)
{
    (void)user;
    (void)what;
    CHECK(done <= total);
    try_all();
}

static int choose(void *user, const bouma_patch_info *patch)
{
    (void)user;
    (void)patch;
    try_all();
    return 0;
}

static int take_patch(void *user, const bouma_patch_info *patch, int level,
                      const bouma_selection *selection, const void *data)
{
    (void)user;
    (void)patch;
    (void)level;
    (void)selection;
    (void)data;
    try_all();
    return 0;
}

static int take_batch(void *user, const bouma_batch *batch)
{
    (void)user;
    (void)batch;
    try_all();
    return 0;
}

static void write_all(const bouma_options *o)
{
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 3,
                         .shape = {SIDE, SIDE, SIDE},
                         .patch = {32, 32, 32}};
    bouma_variable_spec v = {
        .size = sizeof(v), .type = BOUMA_TYPE_F32, .codec = BOUMA_CODEC_ZSTD};
    struct particle_block_set set;
    struct particle_block s;
    bouma_variable *variable;
    bouma_dataset *ds;
    bouma_grid *grid;

    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
        samples[i] = (float)(i * 2654435761u % 100003) / 8;
    particle_block_make(&s, CLUSTERED, PARTICLES, 3, BOUMA_TYPE_F64, 5);
    MUST(ds, bouma_dataset_create(&ds, "d", o));
    MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
    MUST(ds, bouma_variable_define(&variable, grid, "v", &v));
    REQUIRE(!particle_block_define(&set, ds, "dust", 3, s.type,
                                   BOUMA_CODEC_ZSTD, 0));
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, test_put(variable, NULL, samples));
    REQUIRE(!particle_block_put(&set, &s));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    particle_block_free(&s);
}

/* What was asked has been called back, has succeeded, and says nothing of what
 * its callbacks have tried. */
static void expect_undisturbed(int rc)
{
    CHECK_EQ(rc, BOUMA_OK);
    CHECK(now.calls > 0);
    now.calls = 0;
}

static void callbacks_disturb_no_read(int threads)
{
    static float room[SIDE * SIDE * SIDE];
    bouma_patch_query chosen = {
        .size = sizeof(chosen), .choose = choose, .each = take_patch};
    bouma_patch_query plain = {.size = sizeof(plain), .each = take_patch};
    bouma_io *io = bouma_io_memory_new();
    bouma_particle_data *d;
    bouma_options o = {.size = sizeof(o)};

    REQUIRE(io);
    o.io = io;
    o.durability = BOUMA_DURABILITY_FAST;
    write_all(&o);
    o.threads = threads;
    o.progress = progress;
    MUST(now.ds, bouma_dataset_open(&now.ds, "d", &o));
    MUST(now.ds, bouma_step_open(&now.step, now.ds, 0));
    now.v = bouma_grid_find_variable(bouma_step_find_grid(now.step, "g"), "v");
    now.set = bouma_step_find_particles(now.step, "dust");
    for (int i = 0; i < 3; i++) {
        memset(room, 0, sizeof(room));
        expect_undisturbed(test_read(now.v, 0, NULL, room));
        CHECK(!strcmp(bouma_error_message(now.ds), ""));
        CHECK(!memcmp(room, samples, sizeof(room)));
    }
    expect_undisturbed(bouma_particles_read(&d, now.set, NULL));
    CHECK(d && d->count == PARTICLES);
    bouma_particle_data_free(d);
    expect_undisturbed(bouma_variable_query(now.v, &plain));
    expect_undisturbed(bouma_variable_query(now.v, &chosen));
    expect_undisturbed(
        bouma_particles_query_run(now.set, NULL, take_batch, NULL));
    bouma_step_free(now.step);
    now.step = NULL;
    bouma_dataset_free(now.ds);
    bouma_io_memory_free(io);
}

int main(void)
{
    unsetenv("BOUMA_OPTIONS");
    for (int threads = 1; threads <= 4; threads += 3)
        callbacks_disturb_no_read(threads);
    return check_result();
}
