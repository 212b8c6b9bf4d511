/* test_mpi_errors.c -- a mistake on one rank gives the same status and message
 * on all of them, names the rank or the region, hangs nobody, and leaves a
 * handle that can go on. */
#include "../helpers/arrays.h"
#include "blocks.h"

#include <unistd.h>

#include "../helpers/check.h"

enum { N = 24 };

/* A dataset with one grid and one variable; each rank holds one slab. */
struct setting {
    struct ranks *ranks;
    int last; /* this is the last rank: the one that makes mistakes */
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_variable *variable;
    struct field field;
    struct cutting slabs;
    char path[512];
};

static const bouma_grid_spec square = {.size = sizeof(bouma_grid_spec),
                                       .ndims = 2,
                                       .shape = {N, N},
                                       .patch = {8, 8},
                                       .levels = 3};

static void set_up(struct setting *s, struct ranks *ranks,
                   const bouma_options *given)
{
    static int64_t number;
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};
    bouma_options options = {.size = sizeof(options)};
    uint64_t random = 1;

    memset(s, 0, sizeof(*s));
    s->ranks = ranks;
    s->last = ranks->rank == ranks->size - 1;
    s->field = (struct field){BOUMA_TYPE_F32, 1, 2, {N, N, 0}, 5};
    cutting_make(&s->slabs, CUT_SLABS, &s->field, ranks->size, &random);
    if (given)
        options = *given;
    options.durability = BOUMA_DURABILITY_FAST;
    path_in(ranks, s->path, "errors", number++);
    CHECK_EQ(
        bouma_dataset_create_mpi(&s->ds, MPI_COMM_WORLD, s->path, &options),
        BOUMA_OK);
    CHECK_EQ(bouma_grid_define(&s->grid, s->ds, "g", &square), BOUMA_OK);
    CHECK_EQ(bouma_variable_define(&s->variable, s->grid, "v", &spec),
             BOUMA_OK);
}

static int put_slab(struct setting *s, struct puts *puts, int64_t step)
{
    uint64_t random = 3;

    return puts_make(puts, s->variable, &s->field, &s->slabs, step, &random);
}

/* The same failure everywhere, with 'part' in its message. */
static void check_failure(struct setting *s, int rc, int expected,
                          const char *part)
{
    CHECK_EQ(rc, expected);
    CHECK_TEXT(bouma_error_message(s->ds), part);
    CHECK(same_on_all(rc, bouma_error_message(s->ds)));
}

/* In a message on several ranks, that of the last is named. */
static const char *name_of_last(const struct setting *s, char *text)
{
    text[0] = 0;
    if (s->ranks->size > 1)
        snprintf(text, 32, "rank %d", s->ranks->size - 1);
    return text;
}

static void good_step(struct setting *s, int64_t step)
{
    struct puts puts;
    int rc;

    CHECK_EQ(bouma_step_begin(s->ds, step, 1.5), BOUMA_OK);
    CHECK_EQ(put_slab(s, &puts, step), BOUMA_OK);
    rc = bouma_step_end(s->ds);
    if (rc)
        printf("a good step: %s\n", bouma_error_message(s->ds));
    CHECK_EQ(rc, BOUMA_OK);
    CHECK_EQ(puts_free(&puts), 0);
    if (s->ranks->rank == 0)
        CHECK_EQ(wrong_on_disk(s->path, step, "v", &s->field), 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* After the mistake: the bad step is not there, a good one can be written, and
 * the dataset is without damage. */
static void go_on(struct setting *s, int64_t bad)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640];

    CHECK(bouma_dataset_step_count(s->ds) == 0 || bad < 0);
    good_step(s, 100);
    CHECK_EQ(bouma_dataset_close(s->ds), BOUMA_OK);
    bouma_dataset_free(s->ds);
    CHECK_EQ(bouma_verify_mpi(&report, MPI_COMM_WORLD, s->path,
                              BOUMA_DEPTH_DEEP, NULL, NULL, NULL, message,
                              sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
    CHECK(report.steps >= 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (s->ranks->rank == 0)
        remove_tree(s->path);
}

/* End a step with the slabs put. */
static int end_with_slabs(struct setting *s, int64_t step, double time)
{
    struct puts puts;
    int rc;

    CHECK_EQ(bouma_step_begin(s->ds, step, time), BOUMA_OK);
    CHECK_EQ(put_slab(s, &puts, step), BOUMA_OK);
    rc = bouma_step_end(s->ds);
    CHECK_EQ(puts_free(&puts), 0);
    return rc;
}

/* ---- ranks that disagree ------------------------------------------------ */

/* What one rank defines cannot be taken back, so the handle cannot write good
 * steps; but it can be closed. */
static void end_for_good(struct setting *s)
{
    CHECK_EQ(bouma_dataset_close(s->ds), BOUMA_OK);
    bouma_dataset_free(s->ds);
    MPI_Barrier(MPI_COMM_WORLD);
    if (s->ranks->rank == 0)
        remove_tree(s->path);
}

static void a_type_that_differs_is_told(struct ranks *ranks)
{
    bouma_variable_spec spec = {.size = sizeof(spec)};
    bouma_variable *other;
    struct setting s;

    set_up(&s, ranks, NULL);
    spec.type = s.last ? BOUMA_TYPE_F64 : BOUMA_TYPE_I32;
    CHECK_EQ(bouma_variable_define(&other, s.grid, "T", &spec), BOUMA_OK);
    if (ranks->size > 1) {
        check_failure(&s, end_with_slabs(&s, 0, 0), BOUMA_EMISMATCH, "\"g/T\"");
        CHECK_TEXT(bouma_error_message(s.ds), "f64");
        CHECK_TEXT(bouma_error_message(s.ds), "i32");
        CHECK_TEXT(bouma_error_message(s.ds), "rank ");
    }
    end_for_good(&s);
}

static void units_that_differ_are_told(struct ranks *ranks)
{
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F64};
    bouma_particles_spec dust = {.size = sizeof(dust), .ndims = 3};
    bouma_particles *set;
    bouma_variable *other;
    struct setting s;

    set_up(&s, ranks, NULL);
    spec.unit = s.last ? "degC" : "K";
    CHECK_EQ(bouma_variable_define(&other, s.grid, "T", &spec), BOUMA_OK);
    if (ranks->size > 1) {
        check_failure(&s, end_with_slabs(&s, 0, 0), BOUMA_EMISMATCH,
                      "variable \"g/T\" with unit \"degC\", rank 0 with unit "
                      "\"K\"");
        CHECK_TEXT(bouma_error_message(s.ds), "rank ");
    }
    end_for_good(&s);

    set_up(&s, ranks, NULL);
    dust.unit = s.last ? "km" : NULL;
    CHECK_EQ(bouma_particles_define(&set, s.ds, "dust", &dust), BOUMA_OK);
    if (ranks->size > 1)
        check_failure(&s, end_with_slabs(&s, 0, 0), BOUMA_EMISMATCH,
                      "\"dust\" with unit \"km\", rank 0 with unit \"\"");
    end_for_good(&s);
}

static void an_extra_variable_is_told(struct ranks *ranks)
{
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_I8};
    bouma_variable *other;
    struct setting s;
    char who[32];

    set_up(&s, ranks, NULL);
    if (s.last)
        CHECK_EQ(bouma_variable_define(&other, s.grid, "extra", &spec),
                 BOUMA_OK);
    if (ranks->size > 1) {
        check_failure(&s, end_with_slabs(&s, 0, 0), BOUMA_EMISMATCH,
                      name_of_last(&s, who));
        CHECK_TEXT(bouma_error_message(s.ds), "\"g\"");
        /* Once all have it, they agree again. */
        if (!s.last)
            CHECK_EQ(bouma_variable_define(&other, s.grid, "extra", &spec),
                     BOUMA_OK);
        go_on(&s, 0);
    } else {
        end_for_good(&s);
    }
}

/* Another layout; another template, other blocks, or a wavelet, of HZ order. */
static void a_grid_stored_otherwise_is_told(struct ranks *ranks)
{
    static const char *const words[4] = {"with layout hz, rank 0 with layout "
                                         "patch",
                                         "template xy", "blocks of 2^5, ",
                                         "wavelet in tiles of 2^6"};

    for (int i = 0; i < 4; i++) {
        bouma_grid_spec spec = {
            .size = sizeof(spec), .ndims = 2, .shape = {N, N}};
        struct setting s;
        bouma_grid *g;

        set_up(&s, ranks, NULL);
        if (s.last || i > 0)
            spec.layout = BOUMA_LAYOUT_HZ;
        if (s.last && i == 1)
            spec.hz_template = "xyxyxyxyxyxyxyxy";
        if (i == 2)
            spec.hz_block_bits = s.last ? 5 : 6;
        if (s.last && i == 3) {
            spec.hz_wavelet = 1;
            spec.hz_tile_bits = 6;
        }
        CHECK_EQ(bouma_grid_define(&g, s.ds, "h", &spec), BOUMA_OK);
        if (ranks->size > 1)
            check_failure(&s, end_with_slabs(&s, 0, 0), BOUMA_EMISMATCH,
                          words[i]);
        end_for_good(&s);
    }
}

static void an_extra_grid_or_another_shape_is_told(struct ranks *ranks)
{
    for (int extra = 0; extra < 2; extra++) {
        bouma_grid_spec spec = square;
        struct setting s;
        bouma_grid *g;

        set_up(&s, ranks, NULL);
        spec.shape[1] += s.last;
        if (!extra || s.last)
            CHECK_EQ(bouma_grid_define(&g, s.ds, "h", &spec), BOUMA_OK);
        if (ranks->size > 1)
            check_failure(&s, end_with_slabs(&s, 0, 0), BOUMA_EMISMATCH,
                          "rank ");
        end_for_good(&s);
    }
}

static void another_step_or_time_is_told(struct ranks *ranks)
{
    struct setting s;
    char who[32];

    set_up(&s, ranks, NULL);
    if (ranks->size > 1) {
        check_failure(&s, end_with_slabs(&s, s.last ? 5 : 4, 0),
                      BOUMA_EMISMATCH, name_of_last(&s, who));
        CHECK_TEXT(bouma_error_message(s.ds), "5");
        check_failure(&s, end_with_slabs(&s, 4, s.last ? 0.5 : 0.25),
                      BOUMA_EMISMATCH, name_of_last(&s, who));
    }
    go_on(&s, 4);
}

static void an_attribute_that_differs_is_told(struct ranks *ranks)
{
    struct setting s;

    set_up(&s, ranks, NULL);
    CHECK_EQ(bouma_attributes_set_number(bouma_dataset_attributes(s.ds), "run",
                                         s.last ? 1 : 2),
             BOUMA_OK);
    if (ranks->size > 1)
        check_failure(&s, end_with_slabs(&s, 0, 0), BOUMA_EMISMATCH,
                      "attributes");
    CHECK_EQ(
        bouma_attributes_set_number(bouma_dataset_attributes(s.ds), "run", 2),
        BOUMA_OK);
    go_on(&s, 0);
}

static void other_options_or_paths_are_told(struct ranks *ranks)
{
    struct setting s = {.ranks = ranks};
    int last = ranks->rank == ranks->size - 1;
    bouma_options options = {.size = sizeof(options)};
    char who[32];
    int rc;

    if (ranks->size == 1)
        return;
    name_of_last(&s, who);
    options.files = last ? 3 : 2;
    path_in(ranks, s.path, "options", 0);
    rc = bouma_dataset_create_mpi(&s.ds, MPI_COMM_WORLD, s.path, &options);
    check_failure(&s, rc, BOUMA_EMISMATCH, who);
    CHECK_TEXT(bouma_error_message(s.ds), "with 3 for option 'files', rank 0 "
                                          "with 2");
    bouma_dataset_free(s.ds);
    options.files = 0;
    options.assign = last ? BOUMA_ASSIGN_COUNT : 0;
    rc = bouma_dataset_create_mpi(&s.ds, MPI_COMM_WORLD, s.path, &options);
    check_failure(&s, rc, BOUMA_EMISMATCH, who);
    CHECK_TEXT(bouma_error_message(s.ds), "with count for option 'assign', "
                                          "rank 0 with the default");
    bouma_dataset_free(s.ds);
    options.assign = 0;
    options.id[3] = last;
    rc = bouma_dataset_create_mpi(&s.ds, MPI_COMM_WORLD, s.path, &options);
    check_failure(&s, rc, BOUMA_EMISMATCH, "'id'");
    bouma_dataset_free(s.ds);
    options.id[3] = 0;
    CHECK(access(s.path, F_OK) != 0);

    options.files = last ? -3 : 2;
    rc = bouma_dataset_create_mpi(&s.ds, MPI_COMM_WORLD, s.path, &options);
    check_failure(&s, rc, BOUMA_EINVAL, "files");
    bouma_dataset_free(s.ds);
    CHECK(access(s.path, F_OK) != 0);

    path_in(ranks, s.path, "options", last);
    rc = bouma_dataset_create_mpi(&s.ds, MPI_COMM_WORLD, s.path, NULL);
    check_failure(&s, rc, BOUMA_EMISMATCH, who);
    CHECK_TEXT(bouma_error_message(s.ds), "path");
    bouma_dataset_free(s.ds);

    path_in(ranks, s.path, "options", 0);
    rc = bouma_dataset_create_mpi(&s.ds, MPI_COMM_WORLD, last ? NULL : s.path,
                                  NULL);
    check_failure(&s, rc, BOUMA_EINVAL, "path");
    bouma_dataset_free(s.ds);

    /* One opens while the others create. */
    rc = last ? bouma_dataset_open_mpi(&s.ds, MPI_COMM_WORLD, s.path, NULL)
              : bouma_dataset_create_mpi(&s.ds, MPI_COMM_WORLD, s.path, NULL);
    check_failure(&s, rc, BOUMA_EMISMATCH, "rank 0 creates it");
    bouma_dataset_free(s.ds);
    CHECK(access(s.path, F_OK) != 0);
}

/* A value for an option: another one for the last rank. */
static void give(bouma_options *options, const bouma_option_info *about,
                 int last)
{
    const char *value = about->argument ? last ? "7" : "3" : last ? "1" : "0";
    char word[32] = "";

    if (about->choices && last)
        value = strrchr(about->choices, '|') + 1;
    else if (about->choices)
        value = memcpy(word, about->choices, strcspn(about->choices, "|"));
    CHECK_EQ(bouma_options_set(options, about->name, value, NULL, 0), BOUMA_OK);
}

static void each_option_that_must_agree_is_told(struct ranks *ranks)
{
    struct setting s = {.ranks = ranks};
    int last = ranks->rank == ranks->size - 1;
    const bouma_option_info *about;
    char name[64];

    path_in(ranks, s.path, "nowhere", 0);
    for (int i = 0; ranks->size > 1 && (about = bouma_options_info(i)); i++) {
        int same = about->use & BOUMA_OPTION_USE_SAME;
        bouma_options options = {.size = sizeof(options)};
        int is_text, rc;

        options.local = "here";
        options.buffers = 4; /* the default depends on 'async' */
        give(&options, about, last);
        rc = bouma_dataset_open_mpi(&s.ds, MPI_COMM_WORLD, s.path, &options);
        is_text = !strcmp(about->name, "machine") ||
                  !strcmp(about->name, "trace"); /* of those that must agree */
        snprintf(name, sizeof(name), "for option '%s'%s rank 0", about->name,
                 is_text ? " than" : ",");
        check_failure(&s, rc, same ? BOUMA_EMISMATCH : BOUMA_ENOTFOUND,
                      same ? name : "nowhere");
        bouma_dataset_free(s.ds);
    }
}

/* ---- blocks ------------------------------------------------------------- */

static void overlapping_blocks_are_told(struct ranks *ranks)
{
    bouma_box one = {{N / 2, N / 2}, {N / 2 + 2, N / 2 + 1}};
    static const float twice[2] = {1, 2};
    struct setting s;
    struct puts puts;

    set_up(&s, ranks, NULL);
    CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
    CHECK_EQ(put_slab(&s, &puts, 0), BOUMA_OK);
    if (s.last)
        CHECK_EQ(test_put(s.variable, &one, twice), BOUMA_OK);
    check_failure(&s, bouma_step_end(s.ds), BOUMA_ECOVER, "\"g/v\"");
    CHECK_TEXT(bouma_error_message(s.ds), "[12:");
    puts_free(&puts);
    go_on(&s, 0);
}

static void missing_blocks_are_told(struct ranks *ranks)
{
    struct setting s;
    struct puts puts;
    int rank = ranks->size > 1 ? ranks->size - 1 : -1;
    char region[32];

    set_up(&s, ranks, NULL);
    CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
    /* The last rank hands over nothing; a single one just half. */
    for (int i = 0; i < s.slabs.count; i++)
        if (s.slabs.blocks[i].rank == rank)
            s.slabs.blocks[i].rank = -1;
    if (rank < 0)
        s.slabs.blocks[0].box.hi[0] = N / 2;
    CHECK_EQ(put_slab(&s, &puts, 0), BOUMA_OK);
    snprintf(region, sizeof(region), "%d",
             rank < 0 ? N / 2 : rank * N / ranks->size);
    check_failure(&s, bouma_step_end(s.ds), BOUMA_ECOVER, region);
    CHECK_TEXT(bouma_error_message(s.ds), "\"g/v\"");
    puts_free(&puts);
    for (int i = 0; i < s.slabs.count; i++)
        if (s.slabs.blocks[i].rank < 0)
            s.slabs.blocks[i].rank = rank;
    s.slabs.blocks[s.slabs.count - 1].box.hi[0] = N;
    go_on(&s, 0);
}

/* The put fails on that rank, which takes no notice; then the end fails. */
static void a_wrong_block_fails_the_step_everywhere(struct ranks *ranks)
{
    static const bouma_box boxes[] = {{{0, 0}, {N + 1, N}},
                                      {{-1, 0}, {N, N}},
                                      {{4, 4}, {2, 6}},
                                      {{0, 0}, {1, 1}}};
    static const float some[N * N * 2];
    struct setting s;
    char who[32];

    set_up(&s, ranks, NULL);
    for (int i = 0; i < 4; i++) {
        struct puts puts;
        int rc = BOUMA_EINVAL;

        CHECK_EQ(bouma_step_begin(s.ds, i, 0), BOUMA_OK);
        CHECK_EQ(put_slab(&s, &puts, i), BOUMA_OK);
        if (s.last)
            rc = test_put(s.variable, &boxes[i], i == 3 ? NULL : some);
        CHECK_EQ(rc, BOUMA_EINVAL);
        check_failure(&s, bouma_step_end(s.ds), BOUMA_EINVAL,
                      name_of_last(&s, who));
        CHECK_TEXT(bouma_error_message(s.ds), "\"g/v\"");
        puts_free(&puts);
    }
    go_on(&s, 0);
}

/* ---- calls -------------------------------------------------------------- */

static void an_abort_on_one_rank_aborts_all(struct ranks *ranks)
{
    struct setting s;
    struct puts puts;
    char who[32];
    int rc;

    set_up(&s, ranks, NULL);
    CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
    CHECK_EQ(put_slab(&s, &puts, 0), BOUMA_OK);
    rc = s.last ? bouma_step_abort(s.ds) : bouma_step_end(s.ds);
    check_failure(&s, rc, BOUMA_EABORTED, name_of_last(&s, who));
    puts_free(&puts);
    CHECK_EQ(bouma_step_begin(s.ds, 1, 0), BOUMA_OK);
    check_failure(&s, bouma_step_abort(s.ds), BOUMA_EABORTED, "");
    go_on(&s, 0);
}

static void a_rank_without_begin_is_told(struct ranks *ranks)
{
    struct setting s;
    struct puts puts = {.count = 0};
    char who[32];

    set_up(&s, ranks, NULL);
    if (!s.last) {
        CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
        CHECK_EQ(put_slab(&s, &puts, 0), BOUMA_OK);
    }
    check_failure(&s, bouma_step_end(s.ds), BOUMA_ESTATE,
                  name_of_last(&s, who));
    puts_free(&puts);
    CHECK_EQ(bouma_step_begin(s.ds, s.last ? -1 : 0, 0),
             s.last ? BOUMA_EINVAL : BOUMA_OK);
    check_failure(&s, bouma_step_end(s.ds), BOUMA_EINVAL,
                  name_of_last(&s, who));
    go_on(&s, 0);
}

/* One rank is in another collective call than the others. */
static void different_calls_are_told(struct ranks *ranks)
{
    for (int call = 0; call < 4 && ranks->size > 1; call++) {
        bouma_step *step = NULL;
        struct setting s;
        struct puts puts;
        int rc;

        set_up(&s, ranks, NULL);
        CHECK_EQ(bouma_step_begin(s.ds, 0, 0), BOUMA_OK);
        CHECK_EQ(put_slab(&s, &puts, 0), BOUMA_OK);
        if (!s.last)
            rc = bouma_step_end(s.ds);
        else if (call == 0)
            rc = bouma_dataset_flush(s.ds);
        else if (call == 1)
            rc = bouma_dataset_refresh(s.ds);
        else if (call == 2)
            rc = bouma_step_open(&step, s.ds, 0);
        else
            rc = bouma_dataset_close(s.ds);
        check_failure(&s, rc, BOUMA_EMISMATCH, "rank ");
        bouma_step_abort(s.ds); /* the last rank is in its step still */
        puts_free(&puts);
        go_on(&s, 0);
    }
}

/* ---- things that exist or do not ---------------------------------------- */

static void what_exists_or_is_missing_is_told(struct ranks *ranks)
{
    struct setting s, other = {.ranks = ranks};
    bouma_step *step;
    char path[600];
    int rc;

    set_up(&s, ranks, NULL);
    good_step(&s, 3);
    check_failure(&s, end_with_slabs(&s, 3, 0), BOUMA_EEXISTS, "step 3");
    rc = bouma_step_open(&step, s.ds, 4);
    check_failure(&s, rc, BOUMA_ENOTFOUND, "4");
    if (ranks->size > 1) {
        rc = bouma_step_open(&step, s.ds, s.last ? 3 : 4);
        CHECK_EQ(rc, BOUMA_EMISMATCH);
    }
    rc = bouma_dataset_create_mpi(&other.ds, MPI_COMM_WORLD, s.path, NULL);
    check_failure(&other, rc, BOUMA_EEXISTS, s.path);
    bouma_dataset_free(other.ds);
    rc = bouma_dataset_append_mpi(&other.ds, MPI_COMM_WORLD, s.path, NULL);
    check_failure(&other, rc, BOUMA_EBUSY, s.path);
    bouma_dataset_free(other.ds);
    snprintf(path, sizeof(path), "%s/no/where", ranks->dir);
    rc = bouma_dataset_create_mpi(&other.ds, MPI_COMM_WORLD, path, NULL);
    CHECK(rc == BOUMA_EIO || rc == BOUMA_ENOTFOUND);
    check_failure(&other, rc, rc, path);
    bouma_dataset_free(other.ds);
    rc = bouma_dataset_open_mpi(&other.ds, MPI_COMM_WORLD, path, NULL);
    check_failure(&other, rc, BOUMA_ENOTFOUND, path);
    bouma_dataset_free(other.ds);
    rc = bouma_dataset_open_mpi(&other.ds, MPI_COMM_WORLD, ranks->dir, NULL);
    check_failure(&other, rc, BOUMA_ENOTFOUND, "not a bouma dataset");
    bouma_dataset_free(other.ds);
    go_on(&s, -1);
}

/* Files in the memory of a process are of no use to the others: nobody waits,
 * nobody writes, and all are told, also if only one of them has such a table.
 */
static void files_in_memory_are_of_one_process(struct ranks *ranks)
{
    int expected = ranks->size > 1 ? BOUMA_EINVAL : BOUMA_OK;

    for (int only_last = 0; only_last < 2; only_last++) {
        bouma_io *io = bouma_io_memory_new();
        bouma_file *file;
        bouma_options options = {.size = sizeof(options)};
        bouma_dataset *ds;
        char path[512];
        void *root;

        REQUIRE(io);
        path_in(ranks, path, "memory", only_last);
        if (!only_last || ranks->rank == ranks->size - 1)
            options.io = io;
        CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &options),
                 expected);
        if (expected)
            CHECK_TEXT(bouma_error_message(ds), "of one process");
        else
            CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
        bouma_dataset_free(ds);
        CHECK_EQ(io->attach(io->user, &root, path, 0) == 0, ranks->size == 1);
        if (ranks->size == 1)
            io->detach(io->user, root);
        else
            CHECK(access(path, F_OK) != 0);
        CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, &options),
                 expected);
        bouma_dataset_free(ds);
        if (expected) {
            CHECK_EQ(bouma_file_open_mpi(&file, MPI_COMM_WORLD, path,
                                         BOUMA_FILE_MODE_CREATE, &options),
                     expected);
            CHECK_TEXT(bouma_file_message(file), "of one process");
            bouma_file_free(file);
        }
        bouma_io_memory_free(io);
    }
}

/* Of calls that have no handle. */
static void checks_and_drains_that_differ_are_told(struct ranks *ranks)
{
    bouma_verify_report found = {.size = sizeof(found)};
    bouma_drain_report drained = {.size = sizeof(drained)};
    bouma_options o = {.size = sizeof(o), .timeout = 600};
    char message[640] = "", to[640];
    struct setting s;
    int rc;

    set_up(&s, ranks, NULL);
    good_step(&s, 0);
    CHECK_EQ(bouma_dataset_close(s.ds), BOUMA_OK);
    bouma_dataset_free(s.ds);
    rc = bouma_verify_mpi(&found, MPI_COMM_WORLD, s.path,
                          s.last ? BOUMA_DEPTH_QUICK : BOUMA_DEPTH_FULL, &o,
                          NULL, NULL, message, sizeof(message));
    CHECK_EQ(rc, ranks->size > 1 ? BOUMA_EMISMATCH : BOUMA_OK);
    CHECK_TEXT(message, rc ? "different depths" : "");
    CHECK(same_on_all(rc, message));
    snprintf(to, sizeof(to), "%s-drained", s.path);
    rc = bouma_drain_mpi(&drained, MPI_COMM_WORLD, s.path, to, s.last, &o,
                         message, sizeof(message));
    CHECK_EQ(rc, ranks->size > 1 ? BOUMA_EMISMATCH : BOUMA_OK);
    CHECK_TEXT(message, rc ? "some ranks remove" : "");
    CHECK(same_on_all(rc, message));
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks->rank == 0) {
        remove_tree(s.path);
        remove_tree(to);
    }
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    a_type_that_differs_is_told(&ranks);
    units_that_differ_are_told(&ranks);
    a_grid_stored_otherwise_is_told(&ranks);
    an_extra_variable_is_told(&ranks);
    an_extra_grid_or_another_shape_is_told(&ranks);
    another_step_or_time_is_told(&ranks);
    an_attribute_that_differs_is_told(&ranks);
    each_option_that_must_agree_is_told(&ranks);
    other_options_or_paths_are_told(&ranks);
    overlapping_blocks_are_told(&ranks);
    missing_blocks_are_told(&ranks);
    a_wrong_block_fails_the_step_everywhere(&ranks);
    an_abort_on_one_rank_aborts_all(&ranks);
    a_rank_without_begin_is_told(&ranks);
    what_exists_or_is_missing_is_told(&ranks);
    different_calls_are_told(&ranks);
    checks_and_drains_that_differ_are_told(&ranks);
    files_in_memory_are_of_one_process(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
