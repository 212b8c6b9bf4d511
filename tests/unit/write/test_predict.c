/* Steps that are predicted, through the public functions: what is stored when,
 * and what becomes of chunks that are larger than was thought. */
#include <stdatomic.h>
#include <time.h>

#include "arrays.h"
#include "bouma.h"
#include "bouma_store.h"
#include "check.h"
#include "sized.h"

enum { SIDE = 64, PATCH = 32, CHUNKS = 8, SAMPLES = SIDE * SIDE * SIDE };

/* ---- a storage that counts ---------------------------------------------- */

static bouma_io *disk;
static atomic_int writes; /* by any thread */

static int count_write(void *user, void *file, const void *data, size_t bytes,
                       uint64_t offset, size_t *done)
{
    atomic_fetch_add(&writes, 1);
    return disk->write(user, file, data, bytes, offset, done);
}

/* ---- encoding that waits for storing ------------------------------------ */

struct watch {
    int waits;       /* in front of the last chunk */
    int before_step; /* writes, when the step began */
    int before_last; /* writes since, when not all chunks were encoded */
    int together;    /* chunks that threads encode before others are shipped */
};

/* With all chunks but the last ones encoded, wait till something is stored. Only
 * with a library that does not store meanwhile is this given up. */
static void watch_encoding(void *user, const char *what, uint64_t done,
                           uint64_t total)
{
    struct watch *w = user;
    struct timespec nap = {0, 1000000};

    if (strcmp(what, "encoding") || done == total ||
        done + (uint64_t)w->together < total)
        return;
    for (int i = 0; w->waits && i < 20000; i++) {
        if (atomic_load(&writes) > w->before_step)
            break;
        nanosleep(&nap, NULL);
    }
    w->before_last = atomic_load(&writes) - w->before_step;
}

/* ---- steps -------------------------------------------------------------- */

struct series {
    bouma_dataset *ds;
    bouma_variable *variable;
    float *data;
};

static void fill(float *data, int rough)
{
    uint64_t state = 1;

    for (int i = 0; i < SAMPLES; i++)
        data[i] = rough ? (float)check_below(&state, 1 << 24) : (float)(i % 7);
}

static void begin_series(struct series *s, const char *path,
                         const bouma_options *options)
{
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = 3,
                            .shape = {SIDE, SIDE, SIDE},
                            .patch = {PATCH, PATCH, PATCH}};
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};
    bouma_grid *g;

    s->data = malloc(SAMPLES * sizeof(*s->data));
    REQUIRE(s->data);
    REQUIRE(!bouma_dataset_create(&s->ds, path, options));
    REQUIRE(!bouma_grid_define(&g, s->ds, "g", &grid));
    REQUIRE(!bouma_variable_define(&s->variable, g, "v", &spec));
}

static bouma_record write_step(struct series *s, int step, int rough)
{
    bouma_record record = {.size = sizeof(record)};

    fill(s->data, rough);
    CHECK_EQ(bouma_step_begin(s->ds, step, step), BOUMA_OK);
    CHECK_EQ(test_put(s->variable, NULL, s->data), BOUMA_OK);
    CHECK_EQ(end_step(&record, s->ds), BOUMA_OK);
    CHECK_EQ(record.chunks, CHUNKS);
    return record;
}

static void end_series(struct series *s)
{
    CHECK_EQ(bouma_dataset_close(s->ds), BOUMA_OK);
    bouma_dataset_free(s->ds);
    free(s->data);
}

/* ---- claims ------------------------------------------------------------- */

/* The writes of step 1 that came before its last chunk was encoded. */
static int writes_before_last(const char *path, bouma_predict predict,
                              int threads)
{
    bouma_io table = *disk;
    struct watch w = {.together = threads};
    bouma_options options = {.size = sizeof(options)};
    struct series s;

    table.write = count_write;
    options.io = &table;
    options.predict = predict;
    options.threads = threads;
    options.clobber = 1;
    options.buffer_bytes = 65536;
    options.progress = watch_encoding;
    options.progress_user = &w;
    begin_series(&s, path, &options);
    w.before_step = atomic_load(&writes);
    CHECK_EQ(write_step(&s, 0, 1).predicted, 0);
    CHECK_EQ(w.before_last, 0);
    w.before_step = atomic_load(&writes);
    w.waits = predict == BOUMA_PREDICT_ON;
    CHECK_EQ(write_step(&s, 1, 1).predicted, predict == BOUMA_PREDICT_ON);
    end_series(&s);
    return w.before_last;
}

static void storing_begins_before_encoding_ends(void)
{
    for (int threads = 1; threads < 4; threads++) {
        CHECK(writes_before_last("on.bouma", BOUMA_PREDICT_ON, threads) > 0);
        CHECK_EQ(writes_before_last("off.bouma", BOUMA_PREDICT_OFF, threads),
                 0);
    }
}

/* All values of a step, level 0. */
static void check_step(const bouma_options *options, const char *path, int step,
                       int rough)
{
    float *right = malloc(SAMPLES * sizeof(*right));
    float *found = malloc(SAMPLES * sizeof(*found));
    bouma_step *s = NULL;
    bouma_dataset *ds;
    bouma_variable *v;

    REQUIRE(right && found);
    fill(right, rough);
    REQUIRE(!bouma_dataset_open(&ds, path, options));
    REQUIRE(!bouma_step_open(&s, ds, step));
    v = bouma_grid_find_variable(bouma_step_find_grid(s, "g"), "v");
    REQUIRE(v);
    CHECK_EQ(test_read(v, 0, NULL, found), BOUMA_OK);
    CHECK(!memcmp(right, found, SAMPLES * sizeof(*right)));
    bouma_step_free(s);
    bouma_dataset_free(ds);
    free(right);
    free(found);
}

static void chunks_that_do_not_fit_are_stored_behind(void)
{
    /* Smooth, rough: none fits; rough; smooth: all do. */
    static const int rough[4] = {0, 1, 1, 0};
    static const int misfits[4] = {0, CHUNKS, 0, 0};
    bouma_options options;

    for (int order = BOUMA_ORDER_LEVEL; order <= BOUMA_ORDER_CHUNK; order++) {
        const char *path =
            order == BOUMA_ORDER_LEVEL ? "level.bouma" : "chunk.bouma";
        bouma_verify_report report = {.size = sizeof(report)};
        char message[256];
        struct series s;

        options = (bouma_options){.size = sizeof(options)};
        options.io = disk;
        options.predict = BOUMA_PREDICT_ON;
        options.order = (bouma_order)order;
        options.files = 3;
        begin_series(&s, path, &options);
        for (int step = 0; step < 4; step++) {
            bouma_record record = write_step(&s, step, rough[step]);

            CHECK_EQ(record.predicted, step > 0);
            CHECK_EQ(record.misfits, misfits[step]);
            CHECK_EQ(record.files, 3);
            /* The gaps are few. */
            if (rough[step])
                CHECK(record.stored_bytes < record.raw_bytes);
        }
        end_series(&s);
        for (int step = 0; step < 4; step++)
            check_step(&options, path, step, rough[step]);
        CHECK_EQ(bouma_verify(&report, path, BOUMA_DEPTH_DEEP, &options, NULL,
                              NULL, message, sizeof(message)),
                 BOUMA_OK);
        CHECK_EQ(report.damages, 0);
        CHECK_EQ(report.steps, 4);
    }
}

int main(void)
{
    disk = bouma_io_memory_new();
    REQUIRE(disk);
    storing_begins_before_encoding_ends();
    chunks_that_do_not_fit_are_stored_behind();
    bouma_io_memory_free(disk);
    return check_result();
}
