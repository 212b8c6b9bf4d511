/* test_mpi_predict.c -- steps whose files are chosen by the sizes of the step
 * before: whatever the chunks turn out to be, what is read is the same as
 * without that. */
#include "../helpers/arrays.h"
#include "blocks.h"

#include <math.h>

#include "../helpers/check.h"
#include "sized.h"

enum { STEPS = 8, SIDE = 40, VARIABLES = 3 };

/* How rough the data of each step are, in three parts of the grid: chunks grow
 * a lot, shrink, and stay the same. */
static const int rough[STEPS][3] = {{0, 1, 2}, {0, 1, 2}, {9, 9, 0}, {9, 9, 9},
                                    {0, 0, 0}, {1, 0, 9}, {9, 1, 0}, {9, 1, 0}};

/* In these, ranks hold other blocks than before, and variable 2 is added. */
enum { RECUT = 3, ADDED = 5 };

/* What the records have to say. */
static const int predicted[STEPS] = {0, 1, 1, 0, 1, 0, 1, 1};

struct series {
    bouma_codec codec;
    double tolerance;
    bouma_order order;
    uint64_t buffer_bytes;
    bouma_transport transport;
    int files, async;
    bouma_distribute distribute;
    bouma_durability durability;
};

static double value(int64_t z, int64_t y, int64_t x, int variable, int step)
{
    int part = rough[step][z * 3 / SIDE];
    uint64_t state = (uint64_t)((z * SIDE + y) * SIDE + x);
    /* The same in steps that are as rough. */
    double noise = (double)check_below(&state, 1 << 16) / (1 << 16);

    return 10 * variable + sin(0.1 * (double)(x + y)) + 0.01 * (double)z +
           part * part * noise;
}

static bouma_box block(const struct ranks *ranks, int step)
{
    bouma_box box = {{0, 0, 0}, {SIDE, SIDE, SIDE}};
    int axis = step < RECUT ? 0 : 1;

    box.lo[axis] = SIDE * ranks->rank / ranks->size;
    box.hi[axis] = SIDE * (ranks->rank + 1) / ranks->size;
    return box;
}

static void fill(float *out, const bouma_box *box, int variable, int step)
{
    for (int64_t z = box->lo[0]; z < box->hi[0]; z++)
        for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
            for (int64_t x = box->lo[2]; x < box->hi[2]; x++)
                *out++ = (float)value(z, y, x, variable, step);
}

static void set_options(bouma_options *o, const struct series *s,
                        bouma_predict predict)
{
    *o = (bouma_options){.size = sizeof(*o)};
    o->durability = s->durability;
    o->group = 3;
    o->files = s->files;
    o->order = s->order;
    o->buffer_bytes = s->buffer_bytes;
    o->transport = s->transport;
    o->async = s->async;
    o->distribute = s->distribute;
    o->predict = predict;
}

static void define(bouma_dataset *ds, const struct series *s,
                   bouma_variable *v[VARIABLES])
{
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = 3,
                            .shape = {SIDE, SIDE, SIDE},
                            .patch = {16, 16, 16}};
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = BOUMA_TYPE_F32,
                                .codec = s->codec,
                                .tolerance = s->tolerance};
    bouma_variable_spec raw = {
        .size = sizeof(raw), .type = BOUMA_TYPE_F32, .codec = BOUMA_CODEC_RAW};
    bouma_grid *g;

    CHECK_EQ(bouma_grid_define(&g, ds, "g", &grid), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v[0], g, "v0", &spec), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v[1], g, "v1", &raw), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&v[2], g, "v2", &spec), BOUMA_OK);
}

static void write_series(const struct ranks *ranks, const char *path,
                         const struct series *s, bouma_predict predict,
                         bouma_record records[STEPS])
{
    size_t samples = SIDE * SIDE * SIDE;
    float *data = malloc(VARIABLES * samples * sizeof(*data));
    bouma_variable *v[VARIABLES];
    bouma_options options;
    bouma_dataset *ds;

    REQUIRE(data);
    set_options(&options, s, predict);
    REQUIRE(!bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &options));
    define(ds, s, v);
    for (int step = 0; step < STEPS; step++) {
        bouma_box box = block(ranks, step);
        int rc;

        CHECK_EQ(bouma_step_begin(ds, step, step), BOUMA_OK);
        for (int i = 0; i < (step < ADDED ? 2 : VARIABLES); i++) {
            fill(data + (size_t)i * samples, &box, i, step);
            CHECK_EQ(test_put(v[i], &box, data + (size_t)i * samples),
                     BOUMA_OK);
        }
        rc = end_step(&records[step], ds);
        if (rc)
            printf("step %d: %s\n", step, bouma_error_message(ds));
        CHECK_EQ(rc, BOUMA_OK);
        /* With 'async', the arrays are ours again. */
        memset(data, 0x55, VARIABLES * samples * sizeof(*data));
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    free(data);
}

/* ---- what is read ------------------------------------------------------- */

static float *read_level(bouma_dataset *ds, int step, const char *name,
                         int level, bouma_selection *all)
{
    bouma_step *s = NULL;
    bouma_variable *v;
    float *data;

    REQUIRE(!bouma_step_open(&s, ds, step));
    v = bouma_grid_find_variable(bouma_step_find_grid(s, "g"), name);
    REQUIRE(v);
    REQUIRE(!bouma_variable_select(SIZED(all), v, level, NULL));
    data = malloc(all->bytes + 1);
    REQUIRE(data);
    CHECK_EQ(test_read(v, level, NULL, data), BOUMA_OK);
    bouma_step_free(s);
    return data;
}

static int64_t count_wrong(const float *data, int variable, int step,
                           double bound)
{
    int64_t wrong = 0;

    for (int64_t z = 0; z < SIDE; z++)
        for (int64_t y = 0; y < SIDE; y++)
            for (int64_t x = 0; x < SIDE; x++) {
                float right = (float)value(z, y, x, variable, step);

                wrong += !(fabs((double)*data++ - (double)right) <= bound);
            }
    return wrong;
}

static void check_values(const char *here, const char *there,
                         const struct series *s)
{
    bouma_dataset *on, *off;

    REQUIRE(!bouma_dataset_open(&on, here, NULL));
    REQUIRE(!bouma_dataset_open(&off, there, NULL));
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < (step < ADDED ? 2 : VARIABLES); i++)
            for (int level = 0; level < 3; level++) {
                char name[8];
                bouma_selection a = {.size = sizeof(a)},
                                b = {.size = sizeof(b)};
                float *x, *y;

                snprintf(name, sizeof(name), "v%d", i);
                x = read_level(on, step, name, level, &a);
                y = read_level(off, step, name, level, &b);
                CHECK(a.bytes == b.bytes && !memcmp(x, y, a.bytes));
                if (level == 0)
                    CHECK_EQ(count_wrong(x, i, step, i == 1 ? 0 : s->tolerance),
                             0);
                free(x);
                free(y);
            }
    bouma_dataset_free(on);
    bouma_dataset_free(off);
}

static void tell(void *user, const bouma_finding *f)
{
    (void)user;
    printf("step %" PRId64 ", %s: %s\n", f->step, f->name, f->text);
}

static void check_sound(const char *path)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[256];

    CHECK_EQ(bouma_verify(&report, path, BOUMA_DEPTH_DEEP, NULL, tell, NULL,
                          message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
    CHECK_EQ(report.steps, STEPS);
}

static void check_records(const bouma_record *on, const bouma_record *off,
                          int ranks)
{
    for (int step = 0; step < STEPS; step++) {
        /* One rank holds all in any case. */
        int expected = predicted[step] || (step == RECUT && ranks == 1);

        CHECK_EQ(on[step].predicted, expected);
        CHECK_EQ(on[step].chunks, off[step].chunks);
        CHECK_EQ(on[step].files, off[step].files);
        CHECK(on[step].largest_file >= on[step].mean_file);
        CHECK_EQ(off[step].predicted, 0);
        CHECK_EQ(off[step].misfits, 0);
        if (!expected)
            CHECK_EQ(on[step].misfits, 0);
    }
    /* Much rougher; the same as before. Chunks of `raw` fit in any case. */
    CHECK(on[2].misfits > 0 && on[2].misfits <= on[2].chunks / 2);
    CHECK_EQ(on[1].misfits, 0);
    CHECK_EQ(on[4].misfits, 0);
    CHECK(on[6].misfits > 0);
    CHECK_EQ(on[7].misfits, 0);
}

static void values_are_those_that_were_written(struct ranks *ranks,
                                               int64_t number,
                                               const struct series *s)
{
    bouma_record on[STEPS], off[STEPS];
    char here[512], there[512];

    path_in(ranks, here, "on", number);
    path_in(ranks, there, "off", number);
    write_series(ranks, there, s, BOUMA_PREDICT_OFF, off);
    write_series(ranks, here, s, BOUMA_PREDICT_ON, on);
    if (ranks->rank == 0) {
        check_records(on, off, ranks->size); /* others: later, with async */
        check_sound(here);
        check_values(here, there, s);
        remove_tree(here);
        remove_tree(there);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const struct series all[] = {
        {BOUMA_CODEC_ZSTD, 0, BOUMA_ORDER_LEVEL, 0, 0, 0, 0, 0, 0},
        {BOUMA_CODEC_ZSTD, 0, BOUMA_ORDER_CHUNK, 4096, BOUMA_TRANSPORT_MESSAGES,
         3, 0, 0, BOUMA_DURABILITY_FAST},
        {BOUMA_CODEC_ZSTD, 0, BOUMA_ORDER_LEVEL, 20000, BOUMA_TRANSPORT_WINDOWS,
         5, 1, BOUMA_DISTRIBUTE_WEIGHTED, BOUMA_DURABILITY_FAST},
        {BOUMA_CODEC_INTERP, 1e-3, BOUMA_ORDER_LEVEL, 4096, 0, 2, 0, 0,
         BOUMA_DURABILITY_GROUP},
        {BOUMA_CODEC_WAVELET, 1e-3, BOUMA_ORDER_CHUNK, 0,
         BOUMA_TRANSPORT_WINDOWS, 4, 0, 0, BOUMA_DURABILITY_FAST},
        {BOUMA_CODEC_EXACT, 0, BOUMA_ORDER_LEVEL, 65536,
         BOUMA_TRANSPORT_MESSAGES, 1, 1, 0, BOUMA_DURABILITY_FAST}};
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        values_are_those_that_were_written(&ranks, (int64_t)i, &all[i]);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
