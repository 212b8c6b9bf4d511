/* test_mpi_arrays.c -- arrays of another type on each rank, in parts or on a
 * device; and a value or a copy that fails on one rank, which fails the step, or
 * the read, on all. */
#include "../helpers/any_array.h"
#include "../helpers/arrays.h"
#include "blocks.h"

/* How a step is written, and where samples go through on the way. */
struct way {
    bouma_codec codec;
    int async, relative, wavelet, partitions;
    bouma_predict predict;
    bouma_layout layout;
};

static const struct way ways[] = {
    {.codec = BOUMA_CODEC_RAW},
    {.codec = BOUMA_CODEC_RAW, .async = 1},
    {.codec = BOUMA_CODEC_ZSTD},
    {.codec = BOUMA_CODEC_ZSTD, .async = 1},
    {.codec = BOUMA_CODEC_ZSTD, .predict = BOUMA_PREDICT_ON},
    {.codec = BOUMA_CODEC_INTERP, .relative = 1},
    {.codec = BOUMA_CODEC_ZSTD, .layout = BOUMA_LAYOUT_HZ},
    {.codec = BOUMA_CODEC_ZSTD, .layout = BOUMA_LAYOUT_HZ, .wavelet = 1},
    {.codec = BOUMA_CODEC_RAW, .layout = BOUMA_LAYOUT_HZ, .partitions = 2}};

enum { WAYS = sizeof(ways) / sizeof(*ways) };

struct setting {
    struct ranks *ranks;
    const struct way *way;
    int last;
    bouma_dataset *ds;
    bouma_variable *variable;
    struct field field;
    struct cutting cutting;
    uint64_t common, own; /* random: the same on all ranks, and not */
    struct any_array arrays[MAX_BLOCKS];
    int count;
    int spoils, by_copy, spoilt; /* blocks of the last rank */
    char path[512];
};

static void set_up(struct setting *s, struct ranks *ranks, int way, int cut)
{
    static int64_t number;
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 3, .shape = {12, 9, 10}};
    bouma_variable_spec spec = {.size = sizeof(spec), .components = 2};
    bouma_options o = {.size = sizeof(o)};
    bouma_grid *grid;

    memset(s, 0, sizeof(*s));
    s->ranks = ranks;
    s->way = &ways[way];
    s->last = ranks->rank == ranks->size - 1;
    s->common = (uint64_t)number + 1;
    s->own = s->common * 1000 + (uint64_t)ranks->rank;
    s->field = (struct field){BOUMA_TYPE_F32, 2, 3, {12, 9, 10}, 0};
    if (!s->way->relative)
        s->field.type = (bouma_type)(1 + check_below(&s->common, 10));
    cutting_make(&s->cutting, (enum cut)cut, &s->field, ranks->size,
                 &s->common);
    spec.type = s->field.type;
    spec.codec = s->way->codec;
    spec.tolerance = s->way->relative ? 1e-6 : 0;
    spec.tolerance_kind = (bouma_tolerance)s->way->relative;
    g.layout = s->way->layout;
    g.hz_wavelet = s->way->wavelet;
    g.hz_partitions = ranks->size > 1 ? s->way->partitions : 0;
    g.hz_block_bits = g.layout == BOUMA_LAYOUT_HZ ? 5 : 0;
    for (int d = 0; d < 3 && g.layout != BOUMA_LAYOUT_HZ; d++)
        g.patch[d] = 4;
    o.durability = BOUMA_DURABILITY_FAST;
    o.async = s->way->async;
    o.predict = s->way->predict;
    o.check = 1;
    path_in(ranks, s->path, "arrays", number++);
    CHECK_EQ(bouma_dataset_create_mpi(&s->ds, MPI_COMM_WORLD, s->path, &o),
             BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&grid, s->ds, "g", &g), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&s->variable, grid, "v", &spec), BOUMA_OK);
}

static void tear_down(struct setting *s)
{
    CHECK_EQ(bouma_dataset_close(s->ds), BOUMA_OK);
    bouma_dataset_free(s->ds);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Make this rank's first block fail, before it is put: by a value that the
 * variable's type does not have, or a copy that is not done. */
static int spoil(struct setting *s, struct any_array *a, int by_copy)
{
    if (by_copy) {
        a->device.fails = 1;
        return a->array.copy != NULL;
    }
    if (a->array.type != BOUMA_TYPE_F64 || s->field.type == BOUMA_TYPE_F64)
        return 0;
    any_value_set(any_array_at(a, (int64_t[]){0, 0, 0}, 1), BOUMA_TYPE_F64,
                  -1e300);
    any_array_keep(a);
    return 1;
}

/* Begin a step, and hand over this rank's blocks. */
static void put_blocks(struct setting *s, int64_t step)
{
    CHECK_EQ(bouma_step_begin(s->ds, step, 0), BOUMA_OK);
    s->count = s->spoilt = 0;
    for (int i = 0; i < s->cutting.count; i++) {
        const bouma_box *box = &s->cutting.blocks[i].box;
        struct any_array *a = &s->arrays[s->count];
        int64_t shape[3], samples = 1;

        for (int d = 0; d < 3; d++)
            samples *= shape[d] = box->hi[d] - box->lo[d];
        if (s->cutting.blocks[i].rank != s->ranks->rank || !samples)
            continue;
        any_array_make(a, (bouma_type)(1 + check_below(&s->own, 10)), 2, 3,
                       shape, ANY_PARTS | ANY_DEVICE, &s->own);
        any_array_fill(a, box);
        if (s->spoils && s->last && !s->spoilt)
            s->spoilt = spoil(s, a, s->by_copy);
        CHECK_EQ(bouma_variable_put_borrow(s->variable, box, &a->array),
                 BOUMA_OK);
        s->count++;
    }
}

static void drop_blocks(struct setting *s)
{
    for (int i = 0; i < s->count; i++)
        any_array_free(&s->arrays[i]);
    s->count = 0;
}

/* ---- what was put is read ------------------------------------------------ */

static void read_any(struct setting *s, int64_t step)
{
    struct any_array arrays[3];
    bouma_request requests[3];
    bouma_selection selections[3];
    bouma_step *opened;
    size_t count = (size_t)check_below(&s->own, 4);
    bouma_variable *v;

    CHECK_EQ(bouma_step_open(&opened, s->ds, step), BOUMA_OK);
    v = bouma_grid_variable(bouma_step_grid(opened, 0), 0);
    for (size_t i = 0; i < count; i++) {
        bouma_request *q = &requests[i];
        /* Those of a relative tolerance are no integers, and not exact. */
        bouma_type type = s->way->relative
                              ? BOUMA_TYPE_F64
                              : (bouma_type)(1 + check_below(&s->own, 10));

        *q = (bouma_request){.size = sizeof(*q), .variable = v};
        q->box = random_box(&s->field, &s->own);
        selections[i].size = sizeof(*selections);
        CHECK_EQ(bouma_variable_select(&selections[i], v, 0, &q->box),
                 BOUMA_OK);
        any_array_make(&arrays[i], type, 2, 3, selections[i].shape,
                       ANY_PARTS | ANY_DEVICE, &s->own);
        q->array = &arrays[i].array;
    }
    CHECK_EQ(bouma_step_read(opened, requests, count), BOUMA_OK);
    for (size_t i = 0; i < count; i++) {
        if (!s->way->relative)
            CHECK_EQ(any_array_wrong(&arrays[i], &selections[i]), 0);
        any_array_free(&arrays[i]);
    }
    bouma_step_free(opened);
}

static void ranks_have_arrays_of_their_own(struct ranks *ranks)
{
    for (int way = 0; way < WAYS; way++)
        for (int cut = 0; cut < CUTS; cut++) {
            struct setting s;

            set_up(&s, ranks, way, cut);
            for (int64_t step = 0; step < 3; step++) {
                put_blocks(&s, step);
                CHECK_EQ(bouma_step_end(s.ds), BOUMA_OK);
                for (int i = 0; i < s.count; i++) /* they may be used again */
                    CHECK(any_array_kept(&s.arrays[i]));
                drop_blocks(&s);
            }
            CHECK_EQ(bouma_dataset_wait(s.ds), BOUMA_OK);
            for (int64_t step = 0; step < 3; step++)
                read_any(&s, step);
            tear_down(&s);
        }
}

/* ---- failures ------------------------------------------------------------ */

/* All ranks get one status and message, and go on. */
static void check_failure(struct setting *s, int rc, int by_copy, int64_t steps)
{
    const char *message = bouma_error_message(s->ds);

    CHECK_EQ(rc, by_copy ? BOUMA_EABORTED : BOUMA_EINVAL);
    CHECK_TEXT(message, by_copy ? "copy function" : "component 1 of sample [");
    if (!by_copy)
        CHECK_TEXT(message, "does not fit into");
    CHECK(same_on_all(rc, message));
    CHECK_EQ(bouma_dataset_step_count(s->ds), steps);
}

static int a_failure_on_one_rank_fails_the_step(struct ranks *ranks)
{
    int failures = 0;

    for (int trial = 0; trial < WAYS * 8; trial++) {
        int by_copy = trial & 1;
        int64_t steps = 0;
        struct setting s;

        set_up(&s, ranks, trial / 2 % WAYS, trial % CUTS);
        s.spoils = 1;
        s.by_copy = by_copy;
        for (int i = 0; i < 4; i++) {
            int rc, failed;

            put_blocks(&s, steps);
            MPI_Allreduce(&s.spoilt, &failed, 1, MPI_INT, MPI_MAX,
                          MPI_COMM_WORLD);
            rc = bouma_step_end(s.ds);
            if (failed) {
                check_failure(&s, rc, by_copy, steps);
            } else {
                CHECK_EQ(rc, BOUMA_OK);
                CHECK_EQ(bouma_dataset_wait(s.ds), BOUMA_OK);
                steps++;
            }
            failures += failed;
            drop_blocks(&s);
        }
        tear_down(&s);
    }
    return failures;
}

/* A number that one rank's array does not have; others read what they want. */
static void a_read_that_fails_on_one_rank_fails_on_all(struct ranks *ranks)
{
    static double samples[12 * 9 * 10 * 2], room[12 * 9 * 10 * 2];
    struct setting s;

    set_up(&s, ranks, 2, CUT_LAST_RANK);
    for (int i = 0; i < 12 * 9 * 10 * 2; i++)
        samples[i] = i % 100;
    for (int tight = 0; tight < 2; tight++) {
        bouma_array to =
            BOUMA_ARRAY(tight && s.last ? BOUMA_TYPE_I8 : BOUMA_TYPE_F64, room,
                        sizeof(room));
        bouma_request q = {sizeof(q), NULL, 0, {{0}, {12, 9, 10}}, &to};
        bouma_variable_spec spec = {
            .size = sizeof(spec), .type = BOUMA_TYPE_F64, .components = 2};
        bouma_step *step;
        bouma_grid *grid;
        bouma_variable *v;
        int rc;

        samples[777] = 1e9;
        if (!tight) {
            bouma_grid_spec g = {
                .size = sizeof(g), .ndims = 3, .shape = {12, 9, 10}};

            CHECK_EQ(bouma_grid_define(&grid, s.ds, "h", &g), BOUMA_OK);
            CHECK_EQ(bouma_variable_define(&v, grid, "w", &spec), BOUMA_OK);
            CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
            if (s.last)
                CHECK_EQ(test_put(v, NULL, samples), BOUMA_OK);
            CHECK_EQ(bouma_step_end(s.ds), BOUMA_OK);
        }
        CHECK_EQ(bouma_step_open(&step, s.ds, 0), BOUMA_OK);
        q.variable =
            bouma_grid_find_variable(bouma_step_find_grid(step, "h"), "w");
        rc = bouma_step_read(step, &q, 1);
        CHECK_EQ(rc, tight ? BOUMA_EINVAL : BOUMA_OK);
        if (tight) {
            CHECK_TEXT(bouma_error_message(s.ds),
                       "component 1 of sample [4,2,8]: 1000000000 does not fit "
                       "into i8");
            CHECK(same_on_all(rc, bouma_error_message(s.ds)));
        }
        bouma_step_free(step);
    }
    tear_down(&s);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    ranks_have_arrays_of_their_own(&ranks);
    CHECK(a_failure_on_one_rank_fails_the_step(&ranks) > 5);
    a_read_that_fails_on_one_rank_fails_on_all(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
