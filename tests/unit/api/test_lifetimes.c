/* Handles keep what they need: they are freed in any order, also in functions
 * that the library calls, and these run on the thread that made the call. */
#include <pthread.h>
#include <unistd.h>

#include "arrays.h"
#include "fault_alloc.h"
#include "files.h"
#include "lifetimes.h"

static const struct lifetimes_ranks alone = {bouma_dataset_create,
                                             bouma_dataset_open, 0, 1};

static bouma_options in_memory(bouma_io **io)
{
    bouma_options o = {.size = sizeof(o)};

    *io = bouma_io_memory_new();
    REQUIRE(*io);
    o.io = *io;
    o.durability = BOUMA_DURABILITY_FAST;
    return o;
}

static void handles_are_freed_in_any_order(void)
{
    bouma_io *io;
    bouma_options o = in_memory(&io);

    lifetimes_write(&alone, "d", &o);
    lifetimes_free_in_all_orders(&alone, "d", &o);
    bouma_io_memory_free(io);
}

static void a_trace_ends_with_the_dataset(void)
{
    bouma_io *io;
    bouma_options o = in_memory(&io);
    char name[64];
    struct lifetimes l;

    snprintf(name, sizeof(name), "lifetimes-%d.json", (int)getpid());
    lifetimes_write(&alone, "d", &o);
    REQUIRE(!bouma_options_set(&o, "trace", name, NULL, 0));
    lifetimes_begin(&l, &alone, "d", &o);
    lifetimes_free(&l, LIFETIMES_DATASET);
    CHECK(access(name, R_OK) == 0);
    unlink(name);
    lifetimes_use(&l, &alone);
    for (int kind = LIFETIMES_FIRST; kind < LIFETIMES_KINDS; kind++)
        lifetimes_free(&l, (enum lifetimes_kind)kind);
    CHECK(access(name, R_OK) != 0); /* it is written once */
    bouma_io_memory_free(io);
}

static void a_table_in_memory_lives_as_long_as_what_uses_it(void)
{
    uint64_t count = 1, size = 5, offset = 0;
    const void *data[] = {"bytes"};
    char back[6] = "";
    void *into[] = {back};
    bouma_file *file;
    bouma_dataset *none;
    bouma_io *io;
    bouma_options o = in_memory(&io);
    struct lifetimes l;

    lifetimes_write(&alone, "d", &o);
    lifetimes_begin(&l, &alone, "d", &o);
    CHECK_EQ(bouma_dataset_open(&none, "missing", &o), BOUMA_ENOTFOUND);
    REQUIRE(!bouma_file_open(&file, "d/plain", BOUMA_FILE_MODE_UPDATE, &o));
    bouma_io_memory_free(io);
    CHECK_TEXT(bouma_error_message(none), "missing");
    bouma_dataset_free(none);
    lifetimes_use(&l, &alone);
    for (int kind = 0; kind < LIFETIMES_KINDS; kind++)
        lifetimes_free(&l, (enum lifetimes_kind)kind);
    CHECK_EQ(bouma_file_declare(file, 1, &count, &size, &offset), BOUMA_OK);
    CHECK_EQ(bouma_file_write(file, data), BOUMA_OK);
    CHECK_EQ(bouma_file_read(file, into), BOUMA_OK);
    CHECK(!strcmp(back, "bytes"));
    CHECK_EQ(bouma_file_close(file), BOUMA_OK);
    bouma_file_free(file);
}

/* One who writes gives its claim back at once, whatever is still read. */
static void a_freed_writer_makes_room_for_the_next(void)
{
    bouma_io *io;
    bouma_options o = in_memory(&io);
    bouma_dataset *ds;
    bouma_step *step;

    lifetimes_write(&alone, "d", &o);
    MUST(ds, bouma_dataset_append(&ds, "d", &o));
    MUST(ds, bouma_step_open(&step, ds, 0));
    MUST(ds, bouma_step_begin(ds, 7, 7));
    bouma_dataset_free(ds);
    MUST(ds, bouma_dataset_append(&ds, "d", &o));
    CHECK_EQ(bouma_dataset_step_count(ds), 2);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    CHECK(bouma_step_find_grid(step, "g") != NULL);
    bouma_step_free(step);
    bouma_io_memory_free(io);
}

/* Of a step that is still open, to write: refused, and nothing is kept. */
static void a_freed_writer_takes_nothing_more(void)
{
    bouma_io *io;
    bouma_options o = in_memory(&io);
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};
    struct fault_alloc memory;
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_step *step;
    bouma_grid *grid;

    lifetimes_write(&alone, "d", &o);
    fault_alloc_init(&memory);
    o.allocator = &memory.table;
    MUST(ds, bouma_dataset_append(&ds, "d", &o));
    MUST(ds, bouma_step_open(&step, ds, 0));
    bouma_dataset_free(ds);
    grid = bouma_step_find_grid(step, "g");
    v = bouma_grid_variable(grid, 0);
    CHECK_EQ(bouma_variable_put_borrow(v, NULL, NULL), BOUMA_ESTATE);
    CHECK_EQ(bouma_variable_put_copy(v, NULL, NULL), BOUMA_ESTATE);
    CHECK_EQ(bouma_variable_define(&v, grid, "more", &spec), BOUMA_ESTATE);
    CHECK_TEXT(bouma_step_message(step), "step that is read");
    bouma_step_free(step);
    CHECK_EQ(memory.live, 0);
    bouma_io_memory_free(io);
}

/* ---- functions of the caller --------------------------------------------- */

/* What such a function frees, and who calls it. */
static struct {
    struct lifetimes *life; /* NULL: it frees nothing */
    enum lifetimes_kind first, last;
    bouma_file *file;
    int misused; /* the file is used, and not freed */
    pthread_t caller;
    int calls;
} now;

static void called(void)
{
    CHECK(pthread_equal(pthread_self(), now.caller));
    if (now.calls++ || !now.life)
        return;
    for (int kind = now.first; kind <= (int)now.last; kind++)
        lifetimes_free(now.life, (enum lifetimes_kind)kind);
}

/* Of a file that is being written: each call is refused. */
static void misuse(bouma_file *file)
{
    uint64_t count = 1, size = 1, offset = 0;
    const void *data[] = {"x"};

    CHECK_EQ(bouma_file_declare(file, 1, &count, &size, &offset), BOUMA_ESTATE);
    CHECK_EQ(bouma_file_write(file, data), BOUMA_ESTATE);
    CHECK_EQ(bouma_file_reopen(file, "d/other", BOUMA_FILE_MODE_CREATE),
             BOUMA_ESTATE);
    CHECK_EQ(bouma_file_close(file), BOUMA_ESTATE);
}

static void progress(void *user, const char *what, uint64_t done,
                     uint64_t total)
{
    (void)user;
    (void)what;
    (void)done;
    (void)total;
    called();
    if (now.file && !now.misused)
        bouma_file_free(now.file);
    else if (now.file)
        misuse(now.file);
}

static int take_patch(void *user, const bouma_patch_info *patch, int level,
                      const bouma_selection *selection, const void *samples)
{
    (void)user;
    (void)patch;
    (void)level;
    (void)selection;
    (void)samples;
    called();
    return 0;
}

static int choose(void *user, const bouma_patch_info *patch)
{
    (void)user;
    (void)patch;
    called();
    return 0;
}

static int take_batch(void *user, const bouma_batch *batch)
{
    (void)user;
    (void)batch;
    called();
    return 0;
}

/* The calls that call back, on what is left of the first step. */
static int call_back(struct lifetimes *l, int which)
{
    static float got[LIFETIMES_SIDE * LIFETIMES_SIDE];
    bouma_patch_query query = {
        .size = sizeof(query), .choose = choose, .each = take_patch};
    bouma_particles *set = bouma_step_find_particles(l->steps[0], "dust");
    bouma_grid *grid = bouma_step_find_grid(l->steps[0], "g");
    bouma_variable *v = bouma_grid_find_variable(grid, "v");
    bouma_array array = test_array(v, got);
    bouma_request request = {.size = sizeof(request),
                             .variable = v,
                             .box = {{0, 0}, {LIFETIMES_SIDE, LIFETIMES_SIDE}},
                             .array = &array};
    bouma_particle_data *d = NULL;
    bouma_refinement *r = NULL;
    int rc;

    switch (which) {
    case 0:
        return test_read(v, 0, NULL, got);
    case 1:
        return bouma_variable_query(v, &query);
    case 2:
        return bouma_particles_query_run(set, NULL, take_batch, NULL);
    case 3:
        rc = bouma_particles_read(&d, set, NULL);
        break;
    case 4:
        rc = bouma_particles_sample(&d, set, NULL, 10, 1);
        break;
    case 5:
        rc = bouma_particles_restart(&d, set, NULL);
        break;
    case 6:
        return bouma_step_read(l->steps[0], &request, 1);
    case 7:
        return bouma_refinement_next(l->refinement);
    default:
        rc = bouma_refinement_open(&r, v, 1, NULL);
        break;
    }
    bouma_particle_data_free(d);
    bouma_refinement_free(r);
    return rc;
}

/* 'first' to 'last' are freed while the library calls back; the others after. */
static void free_inside(const bouma_options *o, int which,
                        enum lifetimes_kind first, enum lifetimes_kind last)
{
    struct lifetimes l;

    now.life = NULL;
    lifetimes_begin(&l, &alone, "d", o);
    now.life = &l;
    now.first = first;
    now.last = last;
    now.calls = 0;
    CHECK_EQ(call_back(&l, which), BOUMA_OK);
    CHECK(now.calls > 0);
    for (int kind = 0; kind < LIFETIMES_KINDS; kind++)
        if (!l.freed[kind])
            lifetimes_free(&l, (enum lifetimes_kind)kind);
}

static void callers_free_what_is_in_use(int threads)
{
    bouma_io *io;
    bouma_options o = in_memory(&io);

    now.caller = pthread_self();
    lifetimes_write(&alone, "d", &o);
    o.threads = threads;
    o.progress = progress;
    for (int which = 0; which < 9; which++) {
        free_inside(&o, which, LIFETIMES_DATASET, LIFETIMES_DATASET);
        free_inside(&o, which, LIFETIMES_FIRST, LIFETIMES_FIRST);
        free_inside(&o, which, LIFETIMES_DATASET, LIFETIMES_FIRST);
        free_inside(&o, which, LIFETIMES_DATASET, LIFETIMES_PARTICLES_READ);
        free_inside(&o, which, LIFETIMES_REFINEMENT, LIFETIMES_REFINEMENT);
    }
    now.life = NULL;
    bouma_io_memory_free(io);
}

/* A dataset that is written, and a plain file, too. */
static void callers_free_what_is_written(void)
{
    uint64_t count = 100, size = 1, offset = 0;
    static char bytes[100];
    const void *data[] = {bytes};
    bouma_io *io;
    bouma_options o = in_memory(&io);
    struct lifetimes l = {0};

    now.caller = pthread_self();
    now.calls = 0;
    o.progress = progress;
    lifetimes_write(&alone, "d", &o);
    CHECK(now.calls > 0);
    REQUIRE(!bouma_file_open(&now.file, "d/plain", BOUMA_FILE_MODE_CREATE, &o));
    REQUIRE(!bouma_file_declare(now.file, 1, &count, &size, &offset));
    now.calls = 0;
    CHECK_EQ(bouma_file_write(now.file, data), BOUMA_OK);
    CHECK(now.calls > 0);
    now.file = NULL;

    {
        bouma_grid_spec g = {.size = sizeof(g), .ndims = 1, .shape = {100}};
        bouma_variable_spec spec = {.size = sizeof(spec),
                                    .type = BOUMA_TYPE_I8};
        bouma_variable *v;
        bouma_grid *grid;

        MUST(l.ds, bouma_dataset_append(&l.ds, "d", &o));
        MUST(l.ds, bouma_grid_define(&grid, l.ds, "g", &g));
        MUST(l.ds, bouma_variable_define(&v, grid, "v", &spec));
        MUST(l.ds, bouma_step_begin(l.ds, 5, 5));
        MUST(l.ds, test_put(v, NULL, bytes));
        now.life = &l;
        now.first = now.last = LIFETIMES_DATASET;
        now.calls = 0;
        CHECK_EQ(bouma_step_end(l.ds), BOUMA_OK);
        CHECK(now.calls > 0 && l.freed[LIFETIMES_DATASET]);
        now.life = NULL;
    }
    MUST(l.ds, bouma_dataset_open(&l.ds, "d", &o));
    CHECK_EQ(bouma_dataset_step_count(l.ds), 3);
    bouma_dataset_free(l.ds);
    bouma_io_memory_free(io);
}

/* What a plain file keeps from call to call is in use meanwhile. */
static void callers_cannot_use_the_file_that_is_written(void)
{
    uint64_t count = 5, size = 1, offset = 0;
    const void *data[] = {"bytes"};
    char back[6] = "";
    void *into[] = {back};
    bouma_io *io;
    bouma_options o = in_memory(&io);

    lifetimes_write(&alone, "d", &o);
    now.caller = pthread_self();
    now.calls = 0;
    o.progress = progress;
    REQUIRE(!bouma_file_open(&now.file, "d/plain", BOUMA_FILE_MODE_CREATE, &o));
    REQUIRE(!bouma_file_declare(now.file, 1, &count, &size, &offset));
    now.misused = 1;
    CHECK_EQ(bouma_file_write(now.file, data), BOUMA_OK);
    CHECK_EQ(bouma_file_read(now.file, into), BOUMA_OK);
    CHECK(now.calls > 1);
    CHECK(!strcmp(back, "bytes"));
    CHECK_EQ(bouma_file_close(now.file), BOUMA_OK);
    bouma_file_free(now.file);
    now.misused = 0;
    now.file = NULL;
    bouma_io_memory_free(io);
}

/* A device whose memory is that of the processor. */
static int copy_device(void *user, const bouma_copy *c)
{
    (void)user;
    called();
    for (size_t i = 0; i < c->count[0]; i++)
        for (size_t j = 0; j < c->count[1]; j++)
            memcpy((char *)c->to + (int64_t)i * c->to_stride[0] +
                       (int64_t)j * c->to_stride[1],
                   (const char *)c->from + (int64_t)i * c->from_stride[0] +
                       (int64_t)j * c->from_stride[1],
                   c->run);
    return 0;
}

/* Free the dataset while an array on a device is copied: by a put or, if it is
 * borrowed, when the step ends. */
static void put_from_device(const bouma_options *o, int borrow)
{
    static float samples[64 * 64];
    bouma_array array = {.size = sizeof(array),
                         .type = BOUMA_TYPE_F32,
                         .data = samples,
                         .bytes = sizeof(samples),
                         .copy = copy_device};
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 2, .shape = {64, 64}};
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};
    struct lifetimes l = {0};
    bouma_variable *v;
    bouma_grid *grid;

    MUST(l.ds, bouma_dataset_append(&l.ds, "d", o));
    MUST(l.ds, bouma_grid_define(&grid, l.ds, "g", &g));
    MUST(l.ds, bouma_variable_define(&v, grid, "v", &spec));
    MUST(l.ds, bouma_step_begin(l.ds, 10 + borrow, 0));
    now.first = now.last = LIFETIMES_DATASET;
    now.calls = 0;
    now.life = &l;
    if (!borrow) {
        CHECK_EQ(bouma_variable_put_copy(v, NULL, &array), BOUMA_OK);
    } else {
        CHECK_EQ(bouma_variable_put_borrow(v, NULL, &array), BOUMA_OK);
        if (!l.freed[LIFETIMES_DATASET])
            CHECK_EQ(bouma_step_end(l.ds), BOUMA_OK);
    }
    CHECK(now.calls > 0 && l.freed[LIFETIMES_DATASET]);
    now.life = NULL;
}

static void callers_free_what_a_device_has(int threads)
{
    static float got[LIFETIMES_SIDE * LIFETIMES_SIDE];
    bouma_array array = {.size = sizeof(array),
                         .type = BOUMA_TYPE_F32,
                         .data = got,
                         .bytes = sizeof(got),
                         .copy = copy_device};
    bouma_io *io;
    bouma_options o = in_memory(&io);
    struct lifetimes l;

    now.caller = pthread_self();
    now.life = NULL;
    o.threads = threads;
    lifetimes_write(&alone, "d", &o);
    lifetimes_begin(&l, &alone, "d", &o);
    now.life = &l;
    now.first = LIFETIMES_DATASET;
    now.last = LIFETIMES_PARTICLES_READ;
    now.calls = 0;
    memset(got, 0, sizeof(got));
    CHECK_EQ(
        bouma_variable_read(bouma_grid_find_variable(
                                bouma_step_find_grid(l.steps[1], "g"), "v"),
                            0, NULL, &array),
        BOUMA_OK);
    CHECK(now.calls > 0 && l.freed[LIFETIMES_SECOND]);
    CHECK(got[500] == lifetimes_sample(1, 500));
    now.life = NULL;
    put_from_device(&o, 0);
    put_from_device(&o, 1);
    bouma_io_memory_free(io);
}

static void *resize_here(void *user, void *block, size_t bytes)
{
    (void)user;
    CHECK(pthread_equal(pthread_self(), now.caller));
    return realloc(block, bytes);
}

static void release_here(void *user, void *block)
{
    (void)user;
    CHECK(pthread_equal(pthread_self(), now.caller));
    free(block);
}

/* Unless threads are asked for; also if a thread stores what was written. */
static void an_allocator_is_called_on_the_callers_thread(void)
{
    const bouma_allocator here = {sizeof(here), NULL, resize_here,
                                  release_here};
    char dir[] = "/tmp/bouma-lifetimes-XXXXXX", path[64];
    struct lifetimes l;
    bouma_options o = {.size = sizeof(o)};

    REQUIRE(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/d", dir);
    now.caller = pthread_self();
    o.allocator = &here;
    o.async = 1;
    lifetimes_write(&alone, path, &o);
    lifetimes_begin(&l, &alone, path, &o);
    lifetimes_use(&l, &alone);
    for (int kind = 0; kind < LIFETIMES_KINDS; kind++)
        lifetimes_free(&l, (enum lifetimes_kind)kind);
    remove_tree(dir);
}

static void no_handle_has_a_message_too(void)
{
    CHECK_TEXT(bouma_step_message(NULL), "memory");
    CHECK_TEXT(bouma_grid_message(NULL), "memory");
    CHECK_TEXT(bouma_particles_message(NULL), "memory");
    CHECK_TEXT(bouma_variable_message(NULL), "memory");
    CHECK_TEXT(bouma_attributes_message(NULL), "memory");
    CHECK_TEXT(bouma_refinement_message(NULL), "memory");
}

int main(void)
{
    unsetenv("BOUMA_OPTIONS");
    unsetenv("BOUMA_TRACE");
    handles_are_freed_in_any_order();
    a_trace_ends_with_the_dataset();
    a_table_in_memory_lives_as_long_as_what_uses_it();
    a_freed_writer_makes_room_for_the_next();
    a_freed_writer_takes_nothing_more();
    for (int threads = 1; threads <= 4; threads += 3)
        callers_free_what_is_in_use(threads);
    callers_free_what_is_written();
    callers_cannot_use_the_file_that_is_written();
    for (int threads = 1; threads <= 4; threads += 3)
        callers_free_what_a_device_has(threads);
    an_allocator_is_called_on_the_callers_thread();
    no_handle_has_a_message_too();
    return check_result();
}
