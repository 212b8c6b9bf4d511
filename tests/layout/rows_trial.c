/* rows_trial.c -- see rows_trial.h. */
#include "rows_trial.h"

#include "../helpers/arrays.h"

#include <stdio.h>
#include <sys/stat.h>

const struct field rows_field = {BOUMA_TYPE_F32, 2, 2, {43, 29, 0}, 5};

void trial_init(struct trial *t, const struct ranks *ranks, int number)
{
    static const bouma_codec codecs[] = {BOUMA_CODEC_RAW, BOUMA_CODEC_ZSTD};

    memset(t, 0, sizeof(*t));
    t->ranks = ranks;
    t->cut = (enum cut)(number % CUTS);
    t->codec = codecs[number / CUTS % 2];
    path_in(ranks, t->path, "rows", number);
    snprintf(t->local, sizeof(t->local), "%s.local", t->path);
    snprintf(t->local_copy, sizeof(t->local_copy), "%s%s", t->local,
             strrchr(t->path, '/'));
    t->options = (bouma_options){.size = sizeof(t->options)};
    t->options.durability = BOUMA_DURABILITY_FAST;
    t->options.files = 1 + number % 3;
    t->fixed = number % 3 == 1 ? 3 : 0;
}

void trial_persist(struct trial *t)
{
    t->options.persist = 1;
    if (!t->ranks->rank)
        CHECK_EQ(mkdir(t->local, 0777), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(bouma_options_set(&t->options, "local", t->local, NULL, 0),
             BOUMA_OK);
}

/* Grid "g" with a variable "v" in rows. */
static bouma_variable *define(bouma_dataset *ds, const struct trial *t)
{
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = 2,
                            .shape = {rows_field.shape[0], rows_field.shape[1]},
                            .patch = {CHUNKS, t->fixed, t->front},
                            .levels = LEVELS};
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = rows_field.type,
                                .components = rows_field.components,
                                .codec = t->codec};
    struct bm_object *object;
    bouma_variable *v = NULL;

    REQUIRE(!bm_schema_add(&ds->schema, &object, &bm_layout_grid_rows, "g", "",
                           &grid));
    REQUIRE(!bouma_variable_define(&v, (bouma_grid *)object, "v", &spec));
    return v;
}

void write_steps(const struct trial *t)
{
    uint64_t shared = 17, own = 18 + (uint64_t)t->ranks->rank;
    bouma_dataset *ds;
    bouma_variable *v;

    REQUIRE(
        !bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, t->path, &t->options));
    v = define(ds, t);
    for (int64_t step = 0; step < STEPS; step++) {
        struct cutting cutting;
        struct puts puts;
        int rc;

        cutting_make(&cutting, t->cut, &rows_field, t->ranks->size, &shared);
        CHECK_EQ(bouma_step_begin(ds, step, (double)step), BOUMA_OK);
        CHECK_EQ(puts_make(&puts, v, &rows_field, &cutting, step, &own),
                 BOUMA_OK);
        rc = bouma_step_end(ds);
        if (rc && !t->ranks->rank)
            printf("%s\n", bouma_error_message(ds));
        CHECK_EQ(rc, BOUMA_OK);
        CHECK_EQ(puts_free(&puts), 0);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Values of a box at a level that are wrong, in 'data' or, if that is NULL,
 * read for it alone. */
static int64_t wrong_in(bouma_variable *v, int level, const bouma_box *box,
                        const void *data)
{
    bouma_selection s = {.size = sizeof(s)};
    int64_t wrong;
    void *own;

    CHECK_EQ(bouma_variable_select(&s, v, level, box), BOUMA_OK);
    own = malloc(s.bytes + 1);
    REQUIRE(own);
    if (!data)
        CHECK_EQ(test_read(v, level, box, own), BOUMA_OK);
    wrong = field_wrong(&rows_field, &s, level, data ? data : own, 1);
    free(own);
    return wrong;
}

/* Boxes of all ranks together, and of each alone. */
static void check_boxes(bouma_step *step, bouma_variable *v, uint64_t *random)
{
    bouma_request requests[6];
    bouma_array arrays[6];

    for (int round = 0; round < 4; round++) {
        size_t count = (size_t)check_below(random, 6);

        for (size_t i = 0; i < count; i++) {
            bouma_request *q = &requests[i];
            bouma_selection s = {.size = sizeof(s)};

            memset(q, 0, sizeof(*q));
            q->size = sizeof(*q);
            q->variable = v;
            q->level = (int)check_below(random, LEVELS);
            q->box = random_box(&rows_field, random);
            CHECK_EQ(bouma_variable_select(&s, v, q->level, &q->box), BOUMA_OK);
            arrays[i] = test_array(v, malloc(s.bytes + 1));
            REQUIRE(arrays[i].data);
            memset(arrays[i].data, 0x5a, s.bytes + 1);
            q->array = &arrays[i];
        }
        CHECK_EQ(bouma_step_read(step, requests, count), BOUMA_OK);
        for (size_t i = 0; i < count; i++) {
            CHECK_EQ(wrong_in(v, requests[i].level, &requests[i].box,
                              arrays[i].data),
                     0);
            CHECK_EQ(wrong_in(v, requests[i].level, &requests[i].box, NULL), 0);
            free(arrays[i].data);
        }
    }
}

static uint64_t bytes_read(bouma_dataset *ds)
{
    bouma_dataset_info info = {.size = sizeof(info)};

    bouma_dataset_info_get(&info, ds);
    return info.bytes_read;
}

/* From coarse to fine. A chunk is read from the level on that has samples of
 * it, at the coarsest level only one of them, and none is read twice but for
 * gaps. */
static void check_refinement(bouma_dataset *ds, bouma_variable *v,
                             const bouma_box *box)
{
    uint64_t before = bytes_read(ds);
    bouma_variable_info info = {.size = sizeof(info)};
    bouma_refinement *r;
    bouma_selection s = {.size = sizeof(s)};
    const void *data;
    int level;

    bouma_variable_info_get(&info, v);
    CHECK_EQ(bouma_refinement_open(&r, v, LEVELS - 1, box), BOUMA_OK);
    CHECK(bytes_read(ds) - before < info.stored_bytes / 4);
    for (int k = LEVELS - 1; k >= 0; k--) {
        CHECK_EQ(bouma_refinement_get(&data, &s, &level, r), BOUMA_OK);
        CHECK_EQ(level, k);
        CHECK_EQ(field_wrong(&rows_field, &s, level, data, 1), 0);
        CHECK_EQ(bouma_refinement_next(r), k ? BOUMA_OK : BOUMA_ENOTFOUND);
    }
    CHECK(bytes_read(ds) - before <= info.stored_bytes + info.stored_bytes / 8);
    if (!box)
        CHECK(bytes_read(ds) - before >= info.stored_bytes);
    bouma_refinement_free(r);
}

static void check_info(bouma_grid *g, bouma_variable *v)
{
    bouma_variable_info variable = {.size = sizeof(variable)};
    bouma_grid_info info = {.size = sizeof(info)};

    bouma_grid_info_get(&info, g);
    CHECK(info.ndims == 2 && info.levels == LEVELS && info.patches == CHUNKS);
    CHECK(info.shape[0] == rows_field.shape[0] &&
          info.shape[1] == rows_field.shape[1]);
    CHECK_EQ(info.patch[0], (rows_field.shape[0] - 1) / CHUNKS + 1);
    CHECK_EQ(info.patch[1], rows_field.shape[1]);
    bouma_variable_info_get(&variable, v);
    CHECK(variable.present && variable.stored_bytes);
    CHECK_EQ(variable.raw_bytes,
             (uint64_t)(rows_field.shape[0] * rows_field.shape[1]) * 8);
    for (int k = 0; k < LEVELS; k++)
        CHECK_EQ(bouma_variable_level_bytes(v, k),
                 k == LEVELS - 1 ? variable.stored_bytes : 0);
}

/* Chunks are in turn in one of the files that the layout has fixed. */
static void check_files(const struct trial *t, bouma_step *step)
{
    int64_t files = t->fixed ? t->fixed : t->options.files;
    bouma_step_file file = {.size = sizeof(file)};

    CHECK_EQ(bouma_step_file_get(&file, step, files), BOUMA_ENOTFOUND);
    for (int i = 0; i < t->fixed; i++) {
        CHECK_EQ(bouma_step_file_get(&file, step, i), BOUMA_OK);
        CHECK_EQ(file.chunks, (CHUNKS - 1 - i) / t->fixed + 1);
    }
}

void read_step(const struct trial *t)
{
    uint64_t random = 40 + (uint64_t)t->ranks->rank;
    bouma_dataset *ds;
    bouma_step *step;
    bouma_variable *v;
    bouma_box box;
    bouma_grid *g;

    REQUIRE(!bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, t->path, NULL));
    if (bouma_step_open(&step, ds, 1)) {
        printf("%s\n", bouma_error_message(ds));
        REQUIRE(!"a step that can be opened");
    }
    g = bouma_step_find_grid(step, "g");
    REQUIRE(g);
    v = bouma_grid_find_variable(g, "v");
    REQUIRE(v);
    check_boxes(step, v, &random);
    box = random_box(&rows_field, &random);
    check_refinement(ds, v, &box);
    check_refinement(ds, v, NULL);
    check_info(g, v);
    for (int k = 0; k < LEVELS; k++) {
        CHECK_EQ(query_wrong(&rows_field, v, k, &box, 1), 0);
        CHECK_EQ(query_wrong(&rows_field, v, k, NULL, 1), 0);
    }
    check_files(t, step);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- one rank alone ------------------------------------------------------ */

uint64_t damages(const char *path)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[512];

    CHECK_EQ(bouma_verify(&report, path, BOUMA_DEPTH_DEEP, NULL, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.chunks, STEPS * CHUNKS);
    return report.damages;
}

void check_all(const char *path)
{
    for (int64_t step = 0; step < STEPS; step++)
        CHECK_EQ(wrong_on_disk(path, step, "v", &rows_field), 0);
    CHECK_EQ(damages(path), 0);
}

void drain(const struct trial *t)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char message[512] = "", other[600];

    snprintf(other, sizeof(other), "%s.other", t->path);
    CHECK_EQ(bouma_drain(&report, t->local_copy, other, 0, NULL, message,
                         sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.published, STEPS);
    check_all(other);
}
