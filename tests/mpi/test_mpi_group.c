/* test_mpi_group.c -- steps in groups: not visible before the group is full,
 * flushed or closed; then all of them at once, and never part of one. */
#include "blocks.h"

#include "../helpers/check.h"

enum { N = 20, GROUP = 3 };

struct writer {
    struct ranks *ranks;
    bouma_dataset *ds;
    bouma_variable *variable;
    struct field field;
    char path[512];
    uint64_t shared, own;
};

static void open_writer(struct writer *w, struct ranks *ranks, int64_t number,
                        int append)
{
    bouma_options options = {.size = sizeof(options)};

    memset(w, 0, sizeof(*w));
    w->ranks = ranks;
    w->shared = (uint64_t)number + 1;
    w->own = w->shared + (uint64_t)ranks->rank;
    options.durability = BOUMA_DURABILITY_GROUP;
    options.group = GROUP;
    options.files = 3;
    path_in(ranks, w->path, "group", number);
    CHECK_EQ(append ? bouma_dataset_append_mpi(&w->ds, MPI_COMM_WORLD, w->path,
                                               &options)
                    : bouma_dataset_create_mpi(&w->ds, MPI_COMM_WORLD, w->path,
                                               &options),
             BOUMA_OK);
    w->field = (struct field){BOUMA_TYPE_F32, 1, 3, {N, N - 3, 5}, 9};
    CHECK_EQ(field_define(&w->variable, w->ds, &w->field), BOUMA_OK);
}

static int write_step(struct writer *w, int64_t step)
{
    struct cutting cutting;
    struct puts puts;
    int rc;

    cutting_make(&cutting, (enum cut)check_below(&w->shared, CUTS), &w->field,
                 w->ranks->size, &w->shared);
    CHECK_EQ(bouma_step_begin(w->ds, step, (double)step), BOUMA_OK);
    CHECK_EQ(puts_make(&puts, w->variable, &w->field, &cutting, step, &w->own),
             BOUMA_OK);
    rc = bouma_step_end(w->ds);
    CHECK_EQ(puts_free(&puts), 0);
    return rc;
}

/* How many steps a reader sees, which are the first ones, and right. */
static void check_visible(const struct writer *w, int64_t expected)
{
    bouma_step_info info = {.size = sizeof(info)};
    bouma_dataset *ds;
    int64_t count;

    CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, w->path, NULL),
             BOUMA_OK);
    count = bouma_dataset_step_count(ds);
    CHECK_EQ(count, expected);
    for (int64_t i = 0; i < count; i++) {
        CHECK_EQ(bouma_dataset_step_get(&info, ds, i), BOUMA_OK);
        CHECK_EQ(info.step, i);
        if (w->ranks->rank == 0)
            CHECK_EQ(wrong_on_disk(w->path, i, "v", &w->field), 0);
    }
    bouma_dataset_free(ds);
}

static void close_writer(struct writer *w)
{
    CHECK_EQ(bouma_dataset_close(w->ds), BOUMA_OK);
    bouma_dataset_free(w->ds);
}

static void a_full_group_becomes_visible(struct ranks *ranks)
{
    struct writer w;

    open_writer(&w, ranks, 0, 0);
    for (int64_t step = 0; step < 8; step++) {
        CHECK_EQ(write_step(&w, step), BOUMA_OK);
        check_visible(&w, (step + 1) / GROUP * GROUP);
        CHECK_EQ(bouma_dataset_step_count(w.ds), (step + 1) / GROUP * GROUP);
    }
    close_writer(&w);
    check_visible(&w, 8);
}

static void flush_finishes_a_group_early(struct ranks *ranks)
{
    struct writer w;

    open_writer(&w, ranks, 1, 0);
    CHECK_EQ(bouma_dataset_flush(w.ds), BOUMA_OK); /* of nothing */
    check_visible(&w, 0);
    for (int64_t step = 0; step < 5; step++) {
        CHECK_EQ(write_step(&w, step), BOUMA_OK);
        CHECK_EQ(bouma_dataset_flush(w.ds), BOUMA_OK);
        check_visible(&w, step + 1);
    }
    for (int64_t step = 5; step < 7; step++)
        CHECK_EQ(write_step(&w, step), BOUMA_OK);
    CHECK_EQ(bouma_dataset_flush(w.ds), BOUMA_OK);
    check_visible(&w, 7);
    close_writer(&w);
    check_visible(&w, 7);
}

static void a_step_that_fails_leaves_its_group_alone(struct ranks *ranks)
{
    struct writer w;
    int rc;

    open_writer(&w, ranks, 2, 0);
    CHECK_EQ(write_step(&w, 0), BOUMA_OK);
    CHECK_EQ(bouma_step_begin(w.ds, 1, 1), BOUMA_OK);
    rc = ranks->rank == ranks->size - 1 ? bouma_step_abort(w.ds)
                                        : bouma_step_end(w.ds);
    CHECK_EQ(rc, BOUMA_EABORTED);
    CHECK(same_on_all(rc, bouma_error_message(w.ds)));
    /* One that waits for its group exists already. */
    rc = write_step(&w, 0);
    CHECK_EQ(rc, BOUMA_EEXISTS);
    CHECK_TEXT(bouma_error_message(w.ds), "step 0");
    CHECK(same_on_all(rc, bouma_error_message(w.ds)));
    check_visible(&w, 0);
    CHECK_EQ(write_step(&w, 1), BOUMA_OK);
    CHECK_EQ(write_step(&w, 2), BOUMA_OK);
    check_visible(&w, 3);
    close_writer(&w);
}

static void a_handle_freed_without_close_publishes_nothing(struct ranks *ranks)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[256];
    struct writer w;

    open_writer(&w, ranks, 3, 0);
    for (int64_t step = 0; step < 5; step++)
        CHECK_EQ(write_step(&w, step), BOUMA_OK);
    bouma_dataset_free(w.ds);
    MPI_Barrier(MPI_COMM_WORLD);
    check_visible(&w, 3);
    CHECK_EQ(bouma_verify_mpi(&report, MPI_COMM_WORLD, w.path, BOUMA_DEPTH_FULL,
                              NULL, NULL, NULL, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
    /* The next writer is told, and can write the same steps. */
    open_writer(&w, ranks, 3, 1);
    CHECK(bouma_dataset_note(w.ds, 0) != NULL);
    CHECK_EQ(write_step(&w, 3), BOUMA_OK);
    CHECK_EQ(write_step(&w, 4), BOUMA_OK);
    close_writer(&w);
    check_visible(&w, 5);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    a_full_group_becomes_visible(&ranks);
    flush_finishes_a_group_early(&ranks);
    a_step_that_fails_leaves_its_group_alone(&ranks);
    a_handle_freed_without_close_publishes_nothing(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
