/* test_mpi_drain.c -- steps that persist on several nodes, which are
 * directories here: each rank writes to that of its own, and what all of them
 * have comes to one target. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../helpers/arrays.h"
#include "blocks.h"

#include "../helpers/check.h"

enum { N = 20, STEPS = 3 };

struct world {
    const struct ranks *ranks;
    int nodes;
    char path[512];  /* of the dataset */
    char local[800]; /* of this rank's node */
    char local_copy[1400];
    struct field field;
};

/* The directory of a node, and the local copy in it. */
static void node_dir(const struct world *w, int node, char *out, size_t bytes)
{
    snprintf(out, bytes, "%s.node%d", w->path, node);
}

static void node_local_copy(const struct world *w, int node, char *out,
                            size_t bytes)
{
    snprintf(out, bytes, "%s.node%d%s", w->path, node, strrchr(w->path, '/'));
}

static void world_make(struct world *w, const struct ranks *ranks, int nodes,
                       int64_t number)
{
    memset(w, 0, sizeof(*w));
    w->ranks = ranks;
    w->nodes = nodes < ranks->size ? nodes : ranks->size;
    w->field = (struct field){BOUMA_TYPE_F32, 1, 3, {N, N - 3, 5}, 9};
    path_in(ranks, w->path, "drain", number * 100 + nodes);
    node_dir(w, ranks->rank % w->nodes, w->local, sizeof(w->local));
    node_local_copy(w, ranks->rank % w->nodes, w->local_copy,
                    sizeof(w->local_copy));
    for (int node = 0; node < w->nodes && ranks->rank == 0; node++) {
        char dir[800];

        node_dir(w, node, dir, sizeof(dir));
        CHECK_EQ(mkdir(dir, 0777), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static bouma_options options_of(const struct world *w, int persist)
{
    bouma_options o = {.size = sizeof(o)};

    o.files = 5;
    o.persist = persist;
    o.id[0] = 7;
    if (persist)
        CHECK_EQ(bouma_options_set(&o, "local", w->local, NULL, 0), BOUMA_OK);
    return o;
}

struct writer {
    const struct world *w;
    bouma_dataset *ds;
    bouma_variable *variable;
    uint64_t shared, own;
};

static void begin(struct writer *writer, const struct world *w,
                  const char *path, const bouma_options *o, int append)
{
    int rc;

    memset(writer, 0, sizeof(*writer));
    writer->w = w;
    writer->shared = 3;
    writer->own = 3 + (uint64_t)w->ranks->rank;
    rc = append
             ? bouma_dataset_append_mpi(&writer->ds, MPI_COMM_WORLD, path, o)
             : bouma_dataset_create_mpi(&writer->ds, MPI_COMM_WORLD, path, o);
    if (rc && !w->ranks->rank)
        printf("%s\n", bouma_error_message(writer->ds));
    REQUIRE(!rc);
    CHECK_EQ(field_define(&writer->variable, writer->ds, &w->field), BOUMA_OK);
}

static int write_step(struct writer *writer, int64_t step)
{
    const struct world *w = writer->w;
    struct cutting cutting;
    struct puts puts;
    int rc;

    cutting_make(&cutting, CUT_BLOCKS, &w->field, w->ranks->size,
                 &writer->shared);
    CHECK_EQ(bouma_step_begin(writer->ds, step, (double)step), BOUMA_OK);
    CHECK_EQ(puts_make(&puts, writer->variable, &w->field, &cutting, step,
                       &writer->own),
             BOUMA_OK);
    rc = bouma_step_end(writer->ds);
    CHECK(same_on_all(rc, bouma_error_message(writer->ds)));
    CHECK_EQ(puts_free(&puts), 0);
    return rc;
}

static void end(struct writer *writer)
{
    CHECK_EQ(bouma_dataset_close(writer->ds), BOUMA_OK);
    bouma_dataset_free(writer->ds);
}

/* The first 'count' steps are there, no other, and right. */
static void check_steps(const struct world *w, const char *path, int64_t count)
{
    bouma_dataset *ds;

    MPI_Barrier(MPI_COMM_WORLD);
    if (w->ranks->rank == 0) {
        CHECK_EQ(bouma_dataset_open(&ds, path, NULL), BOUMA_OK);
        CHECK_EQ(bouma_dataset_step_count(ds), count);
        bouma_dataset_free(ds);
        for (int64_t step = 0; step < count; step++)
            CHECK_EQ(wrong_on_disk(path, step, "v", &w->field), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_sound(const char *path)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640];

    CHECK_EQ(bouma_verify_mpi(&report, MPI_COMM_WORLD, path, BOUMA_DEPTH_DEEP,
                              NULL, NULL, NULL, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages + report.notes, 0);
}

/* How many files of a step begin so, in its directory and below. */
static int64_t entries(const char *path, int64_t step, const char *prefix)
{
    char command[1600];
    long count = -1;
    FILE *f;

    snprintf(command, sizeof(command),
             "find %s/steps/%08lld -type f -printf '%%f\\n' 2>/dev/null | "
             "grep -c '^%s'",
             path, (long long)step, prefix);
    f = popen(command, "r");
    if (!f || fscanf(f, "%ld", &count) != 1)
        count = -1;
    if (f)
        pclose(f);
    return count;
}

/* The bytes of the subfiles of a step. */
static uint64_t bytes_of(const char *path, int64_t step)
{
    char command[1600];
    unsigned long bytes = 0;
    FILE *f;

    snprintf(command, sizeof(command),
             "find %s/steps/%08lld -name 'd.*' -exec cat {} + | wc -c", path,
             (long long)step);
    f = popen(command, "r");
    CHECK(f && fscanf(f, "%lu", &bytes) == 1);
    if (f)
        pclose(f);
    return bytes;
}

/* What a local copy does not have, as it is on other nodes, is no damage, and
 * not lost. One rank. */
static void check_part(const char *local_copy, int is_part)
{
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640], lost[1500];

    CHECK_EQ(bouma_verify(&report, local_copy, BOUMA_DEPTH_DEEP, NULL, NULL,
                          NULL, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
    CHECK_EQ(report.notes, is_part ? STEPS : 0);
    CHECK_EQ(bouma_repair(&repaired, local_copy, 1, NULL, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(repaired.hopeless, 0);
    CHECK_EQ(repaired.actions, 0);
    snprintf(lost, sizeof(lost), "%s/lost", local_copy);
    CHECK(access(lost, F_OK));
}

/* ---- claims ------------------------------------------------------------- */

/* The same files come to the target as without. */
static void steps_come_from_all_nodes(const struct ranks *ranks, int nodes)
{
    bouma_options plain, o;
    struct writer writer;
    struct world w;
    char other[600];
    int64_t files = 0;

    world_make(&w, ranks, nodes, 1);
    o = options_of(&w, 1);
    begin(&writer, &w, w.path, &o, 0);
    for (int64_t step = 0; step < STEPS; step++) {
        CHECK_EQ(write_step(&writer, step), BOUMA_OK);
        if (step == 1)
            CHECK_EQ(bouma_dataset_drain(writer.ds), BOUMA_OK);
    }
    end(&writer);
    check_steps(&w, w.path, STEPS);
    check_sound(w.path);
    if (w.nodes == 1)
        check_steps(&w, w.local_copy, STEPS);
    plain = options_of(&w, 0);
    snprintf(other, sizeof(other), "%s.plain", w.path);
    begin(&writer, &w, other, &plain, 0);
    for (int64_t step = 0; step < STEPS; step++)
        CHECK_EQ(write_step(&writer, step), BOUMA_OK);
    end(&writer);
    for (int64_t step = 0; step < STEPS && !ranks->rank; step++)
        CHECK(same_subfiles(w.path, other, step));
    for (int node = 0; node < w.nodes && !ranks->rank; node++) {
        char local_copy[1400];

        node_local_copy(&w, node, local_copy, sizeof(local_copy));
        check_part(local_copy, w.nodes > 1);
        CHECK_EQ(entries(local_copy, 0, "manifest$"), 1);
        files += entries(local_copy, 0, "d[.]");
    }
    if (!ranks->rank)
        CHECK_EQ(files, entries(w.path, 0, "d[.]"));
}

/* Through the path, ranks read what their own node has. */
static void ranks_read_what_is_near(const struct ranks *ranks, int nodes)
{
    bouma_dataset_info before = {.size = sizeof(before)},
                       after = {.size = sizeof(after)};
    struct writer writer;
    bouma_options o;
    bouma_dataset *ds;
    bouma_step *step;
    struct world w;
    float *data;

    world_make(&w, ranks, nodes, 2);
    o = options_of(&w, 1);
    begin(&writer, &w, w.path, &o, 0);
    CHECK_EQ(write_step(&writer, 0), BOUMA_OK);
    end(&writer);
    o.persist = 0;
    CHECK_EQ(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, w.path, &o), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    bouma_dataset_info_get(&before, ds);
    data = malloc(sizeof(*data) * N * (N - 3) * 5);
    REQUIRE(data);
    CHECK_EQ(test_read(bouma_grid_variable(bouma_step_grid(step, 0), 0), 0,
                       NULL, data),
             BOUMA_OK);
    bouma_dataset_info_get(&after, ds);
    CHECK(after.local_bytes_read > before.local_bytes_read || w.nodes > 1);
    if (w.nodes == 1)
        CHECK_EQ(after.bytes_read - before.bytes_read,
                 after.local_bytes_read - before.local_bytes_read);
    free(data);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static void hide(const struct world *w, int hidden)
{
    char steps[600], away[600];

    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(steps, sizeof(steps), "%s/steps", w->path);
    snprintf(away, sizeof(away), "%s/away", w->path);
    if (!w->ranks->rank)
        REQUIRE(!(hidden ? rename(steps, away) : rename(away, steps)));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks hear of it, nobody hangs, and nothing is lost. */
static void a_failure_is_told_to_all(const struct ranks *ranks, int nodes)
{
    bouma_drain_report report = {.size = sizeof(report)};
    struct writer writer;
    char message[640];
    struct world w;
    bouma_options o;
    int rc;

    world_make(&w, ranks, nodes, 3);
    o = options_of(&w, 1);
    begin(&writer, &w, w.path, &o, 0);
    CHECK_EQ(write_step(&writer, 0), BOUMA_OK);
    CHECK_EQ(bouma_dataset_drain(writer.ds), BOUMA_OK);
    hide(&w, 1);
    CHECK_EQ(write_step(&writer, 1), BOUMA_OK);
    rc = bouma_dataset_drain(writer.ds);
    CHECK(rc && same_on_all(rc, bouma_error_message(writer.ds)));
    CHECK_TEXT(bouma_error_message(writer.ds), "step 1 is complete in ");
    hide(&w, 0);
    CHECK_EQ(bouma_dataset_drain(writer.ds), BOUMA_OK);
    check_steps(&w, w.path, 2);
    hide(&w, 1);
    CHECK_EQ(write_step(&writer, 2), BOUMA_OK);
    rc = bouma_dataset_close(writer.ds);
    CHECK(rc && same_on_all(rc, bouma_error_message(writer.ds)));
    bouma_dataset_free(writer.ds);
    hide(&w, 0);
    check_steps(&w, w.path, 2);
    rc = bouma_drain_mpi(&report, MPI_COMM_WORLD, w.local_copy, w.path, 0, &o,
                         message, sizeof(message));
    CHECK(same_on_all(rc, message));
    CHECK_EQ(rc, BOUMA_OK);
    CHECK_EQ(report.published, 1);
    CHECK_EQ(report.present, 2);
    check_steps(&w, w.path, 3);
    check_sound(w.path);
}

/* A dataset that is lost comes back from its local copies: by all ranks
 * together, or by one program for each node. */
static void local_copies_make_the_dataset_anew(const struct ranks *ranks,
                                               int nodes, int together)
{
    bouma_drain_report report = {.size = sizeof(report)};
    struct writer writer;
    char message[640];
    bouma_options o;
    struct world w;
    int64_t files;

    world_make(&w, ranks, nodes, 4 + together);
    o = options_of(&w, 1);
    begin(&writer, &w, w.path, &o, 0);
    for (int64_t step = 0; step < STEPS; step++)
        CHECK_EQ(write_step(&writer, step), BOUMA_OK);
    end(&writer);
    files = entries(w.path, 0, "d[.]");
    MPI_Barrier(MPI_COMM_WORLD);
    if (!ranks->rank)
        remove_tree(w.path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (together) {
        CHECK_EQ(bouma_drain_mpi(&report, MPI_COMM_WORLD, w.local_copy, w.path,
                                 1, &o, message, sizeof(message)),
                 BOUMA_OK);
        CHECK_EQ(report.published, STEPS);
        CHECK_EQ(report.removed, STEPS);
        CHECK_EQ(report.files, files * STEPS);
        CHECK_EQ(entries(w.local_copy, 0, ""), 0);
    }
    for (int node = 0; node < w.nodes && !together && !ranks->rank; node++) {
        char local_copy[1400];

        node_local_copy(&w, node, local_copy, sizeof(local_copy));
        CHECK_EQ(bouma_drain(&report, local_copy, w.path, 0, &o, message,
                             sizeof(message)),
                 BOUMA_OK);
        CHECK(node + 1 < w.nodes || report.published + report.present == STEPS);
    }
    check_steps(&w, w.path, STEPS);
    check_sound(w.path);
}

static void what_is_replaced_is_replaced_everywhere(const struct ranks *ranks,
                                                    int nodes)
{
    struct writer writer;
    bouma_options o;
    struct world w;

    world_make(&w, ranks, nodes, 6);
    o = options_of(&w, 1);
    begin(&writer, &w, w.path, &o, 0);
    CHECK_EQ(write_step(&writer, 0), BOUMA_OK);
    CHECK_EQ(write_step(&writer, 0), BOUMA_EEXISTS);
    end(&writer);
    o.replace = 1;
    begin(&writer, &w, w.path, &o, 1);
    CHECK_EQ(write_step(&writer, 0), BOUMA_OK);
    CHECK_EQ(write_step(&writer, 0), BOUMA_OK);
    CHECK_EQ(write_step(&writer, 1), BOUMA_OK);
    end(&writer);
    check_steps(&w, w.path, 2);
    /* Without: the local copies are behind, and then go on. */
    o.persist = 0;
    begin(&writer, &w, w.path, &o, 1);
    CHECK_EQ(write_step(&writer, 2), BOUMA_OK);
    end(&writer);
    o.persist = 1;
    begin(&writer, &w, w.path, &o, 1);
    CHECK_EQ(bouma_dataset_step_count(writer.ds), 3);
    CHECK_EQ(write_step(&writer, 3), BOUMA_OK);
    end(&writer);
    check_steps(&w, w.path, 4);
    check_sound(w.path);
}

/* A table of functions that counts the bytes that are read. */
struct counter {
    bouma_io io;
    uint64_t bytes;
};

static int count_read(void *user, void *file, void *data, size_t bytes,
                      uint64_t offset, size_t *done)
{
    struct counter *c = user;
    int code = bouma_io_posix()->read(NULL, file, data, bytes, offset, done);

    c->bytes += code ? 0 : *done;
    return code;
}

static void counter_init(struct counter *c)
{
    c->io = *bouma_io_posix();
    c->io.user = c; /* the table of POSIX has no use for it */
    c->io.read = count_read;
    c->bytes = 0;
}

/* Before a local copy is emptied, each file is read once, by one of the ranks.
 */
static void files_are_checked_once(const struct ranks *ranks, int nodes)
{
    bouma_drain_report report = {.size = sizeof(report)};
    struct counter counter;
    struct writer writer;
    uint64_t files = 0, sum;
    bouma_options o;
    char message[640];
    struct world w;

    world_make(&w, ranks, nodes, 8);
    w.field = (struct field){BOUMA_TYPE_F32, 1, 3, {3 * N, 3 * N, 3 * N}, 9};
    o = options_of(&w, 1);
    begin(&writer, &w, w.path, &o, 0);
    for (int64_t step = 0; step < STEPS; step++)
        CHECK_EQ(write_step(&writer, step), BOUMA_OK);
    end(&writer);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t step = 0; step < STEPS; step++)
        files += bytes_of(w.path, step);
    MPI_Barrier(MPI_COMM_WORLD);
    counter_init(&counter);
    o.io = &counter.io;
    CHECK_EQ(bouma_drain_mpi(&report, MPI_COMM_WORLD, w.local_copy, w.path, 1,
                             &o, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.present, STEPS);
    CHECK_EQ(report.removed, STEPS);
    MPI_Allreduce(&counter.bytes, &sum, 1, MPI_UINT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    /* Manifests are read by all, and are small. */
    CHECK(sum >= files && sum < files + files / 2);
    check_steps(&w, w.path, STEPS);
}

/* One that cannot be read in one local copy, and is complete in another, is not of
 * an earlier writing; and it keeps only its own step from being removed. */
static void a_damaged_manifest_is_not_older(const struct ranks *ranks)
{
    bouma_drain_report report = {.size = sizeof(report)};
    struct writer writer;
    bouma_options o;
    char message[640];
    struct world w;
    int rc;

    world_make(&w, ranks, 2, 9);
    o = options_of(&w, 1);
    begin(&writer, &w, w.path, &o, 0);
    for (int64_t step = 0; step < STEPS; step++)
        CHECK_EQ(write_step(&writer, step), BOUMA_OK);
    end(&writer);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!ranks->rank) {
        char local_copy[1400], name[1500];
        FILE *f;

        node_local_copy(&w, 1, local_copy, sizeof(local_copy));
        snprintf(name, sizeof(name), "%s/steps/00000001/manifest", local_copy);
        f = fopen(name, "w");
        REQUIRE(f && fputs("junk", f) >= 0 && !fclose(f));
        /* So nothing there knows of which writing it was. */
        snprintf(name, sizeof(name), "%s/index", local_copy);
        REQUIRE(!unlink(name));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int remove = 0; remove < 2; remove++) {
        rc = bouma_drain_mpi(&report, MPI_COMM_WORLD, w.local_copy, w.path,
                             remove, &o, message, sizeof(message));
        CHECK_EQ(rc, remove ? BOUMA_EFORMAT : BOUMA_OK);
        CHECK(same_on_all(rc, message));
        CHECK_EQ(report.present, STEPS);
        CHECK_EQ(report.older, 0);
        CHECK_EQ(report.failed, remove);
        CHECK_EQ(report.removed, remove ? STEPS - 1 : 0);
    }
    CHECK_TEXT(message, "step 1 was not removed: ");
    CHECK_TEXT(message, ".node1/");
    CHECK(entries(w.local_copy, 1, "d[.]") > 0);
    CHECK_EQ(entries(w.local_copy, 2, ""), 0);
    check_steps(&w, w.path, STEPS);
}

/* Drop all steps but the first, without the local copies; a drain of all of
 * them brings none back. */
static void drop_and_drain(const struct world *w, int remove)
{
    bouma_drain_report report = {.size = sizeof(report)};
    bouma_options o = options_of(w, 0);
    char message[640];
    bouma_dataset *ds;
    int rc;

    CHECK_EQ(bouma_dataset_append_mpi(&ds, MPI_COMM_WORLD, w->path, &o),
             BOUMA_OK);
    CHECK_EQ(bouma_dataset_truncate(ds, 0), BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    rc = bouma_drain_mpi(&report, MPI_COMM_WORLD, w->local_copy, w->path,
                         remove, &o, message, sizeof(message));
    CHECK_EQ(rc, BOUMA_OK);
    CHECK(same_on_all(rc, message));
    CHECK_EQ(report.steps, STEPS);
    CHECK_EQ(report.present, 1);
    CHECK_EQ(report.dropped, STEPS - 1);
    CHECK_EQ(report.published + report.older + report.files, 0);
    CHECK_EQ(report.removed, remove ? STEPS : 0);
    check_steps(w, w->path, 1);
}

/* Whoever goes on with the local copies removes dropped steps from each of
 * them. */
static void dropped_steps_stay_dropped(const struct ranks *ranks, int nodes)
{
    struct writer writer;
    bouma_options o;
    struct world w;

    world_make(&w, ranks, nodes, 10);
    o = options_of(&w, 1);
    begin(&writer, &w, w.path, &o, 0);
    for (int64_t step = 0; step < STEPS; step++)
        CHECK_EQ(write_step(&writer, step), BOUMA_OK);
    end(&writer);
    drop_and_drain(&w, 0);
    begin(&writer, &w, w.path, &o, 1);
    for (int64_t step = 1; step < STEPS; step++) {
        CHECK_EQ(entries(w.local_copy, step, ""), 0);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(write_step(&writer, step), BOUMA_OK);
    }
    end(&writer);
    check_steps(&w, w.path, STEPS);
    drop_and_drain(&w, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t step = 0; step < STEPS; step++)
        CHECK_EQ(entries(w.local_copy, step, ""), 0);
}

/* The local copy of one node is in the way: nobody begins. */
static void a_local_copy_in_the_way_is_told_to_all(const struct ranks *ranks)
{
    bouma_dataset *ds;
    bouma_options o;
    struct world w;
    int rc;

    world_make(&w, ranks, ranks->size, 7);
    if (ranks->rank == ranks->size - 1) {
        CHECK_EQ(bouma_dataset_create(&ds, w.local_copy, NULL), BOUMA_OK);
        CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
        bouma_dataset_free(ds);
    }
    o = options_of(&w, 1);
    rc = bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, w.path, &o);
    CHECK_EQ(rc, BOUMA_EEXISTS);
    CHECK(same_on_all(rc, bouma_error_message(ds)));
    bouma_dataset_free(ds);
    o.persist = 0;
    CHECK_EQ(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, w.path, &o),
             BOUMA_OK);
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
    o.persist = 1;
    rc = bouma_dataset_append_mpi(&ds, MPI_COMM_WORLD, w.path, &o);
    CHECK_EQ(rc, BOUMA_EEXISTS);
    CHECK(same_on_all(rc, bouma_error_message(ds)));
    bouma_dataset_free(ds);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (int nodes = 1; nodes <= ranks.size && nodes <= 3; nodes++) {
        steps_come_from_all_nodes(&ranks, nodes);
        ranks_read_what_is_near(&ranks, nodes);
        a_failure_is_told_to_all(&ranks, nodes);
        for (int together = 0; together < 2; together++)
            local_copies_make_the_dataset_anew(&ranks, nodes, together);
        what_is_replaced_is_replaced_everywhere(&ranks, nodes);
        files_are_checked_once(&ranks, nodes);
        dropped_steps_stay_dropped(&ranks, nodes);
    }
    if (ranks.size > 1)
        a_damaged_manifest_is_not_older(&ranks);
    a_local_copy_in_the_way_is_told_to_all(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
