/* Steps that are written again free the files of their earlier versions, and
 * readers of these are told; steps after a restart point can be dropped. */
#include <errno.h>

#include "arrays.h"
#include "bouma.h"
#include "must.h"
#include "scenario.h"

enum { FILES = 3 };

/* A table over another one, in which nothing is removed on demand: as for a
 * program that is killed just before. */
struct table {
    bouma_io io;
    bouma_io *memory;
    int keeps;
    int manifests; /* that can still be removed; -1: all */
};

static struct table table;

/* All functions are handed the memory table's own state. */
static int remove_or_not(void *user, void *root, const char *name)
{
    if (strstr(name, "/manifest") && table.manifests >= 0 &&
        table.manifests-- == 0) {
        table.manifests = 0;
        return EIO;
    }
    return table.keeps ? 0 : table.memory->remove(user, root, name);
}

/* Options for an empty storage. */
static bouma_options set_up(bouma_durability durability, int async)
{
    bouma_options o;

    bouma_io_memory_free(table.memory);
    table.memory = bouma_io_memory_new();
    REQUIRE(table.memory);
    table.io = *table.memory;
    table.io.remove = remove_or_not;
    table.keeps = 0;
    table.manifests = -1;
    scenario_options(&o, NULL, NULL);
    o.io = &table.io;
    o.durability = durability;
    o.group = 2;
    o.replace = 1;
    o.async = async;
    return o;
}

static int count_entry(void *context, const char *entry)
{
    int *count = context;

    *count += !strncmp(entry, "d.", 2) || !strncmp(entry, "manifest", 8);
    return 0;
}

/* Files in the directory of a step; -1 if there is none. */
static int files_of(const char *path, int step)
{
    void *root;
    char name[64];
    int count = 0, code;

    snprintf(name, sizeof(name), "steps/%08d", step);
    REQUIRE(!table.io.attach(table.io.user, &root, path, 0));
    code = table.io.list(table.io.user, root, name, count_entry, &count);
    table.io.detach(table.io.user, root);
    return code ? -1 : count;
}

static void count_finding(void *user, const bouma_finding *f)
{
    int *found = user;

    *found += strstr(f->text, "earlier writing") != NULL;
}

/* Notes about leftovers; -1: there is damage. */
static int leftovers(const char *path, const bouma_options *o)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640] = "";
    int found = 0, rc;

    rc = bouma_verify(&report, path, BOUMA_DEPTH_DEEP, o, count_finding, &found,
                      message, sizeof(message));
    if (rc)
        printf("verify: %s\n", message);
    return rc || report.damages ? -1 : found;
}

static int repair(const char *path, const bouma_options *o, int apply)
{
    bouma_repair_report report = {.size = sizeof(report)};
    char message[640] = "";

    CHECK_EQ(bouma_repair(&report, path, apply, o, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.hopeless, 0);
    return (int)report.actions;
}

static int generation_of(const char *path, const bouma_options *o, int step)
{
    bouma_dataset *ds;
    int generation = -1;

    MUST(ds, bouma_dataset_open(&ds, path, o));
    if (scenario_read(ds, step, &generation) != SCENARIO_EXACT)
        generation = -1;
    bouma_dataset_free(ds);
    return generation;
}

static void replaced_steps_free_their_files(void)
{
    static const bouma_durability modes[3] = {BOUMA_DURABILITY_DURABLE,
                                              BOUMA_DURABILITY_FAST,
                                              BOUMA_DURABILITY_GROUP};

    for (int i = 0; i < 6; i++) {
        struct scenario_writer writer = {0};
        bouma_dataset *ds;
        bouma_options o = set_up(modes[i % 3], i / 3);

        MUST(ds, bouma_dataset_create(&ds, "d", &o));
        for (int n = 0; n < 8; n++)
            MUST(ds, scenario_write(ds, &writer, n % 2, n / 2, 0, 1));
        MUST(ds, bouma_dataset_wait(ds));
        CHECK_EQ(files_of("d", 0), FILES + 1);
        CHECK_EQ(files_of("d", 1), FILES + 1);
        MUST(ds, bouma_dataset_close(ds));
        bouma_dataset_free(ds);
        /* By a later program, too. */
        memset(&writer, 0, sizeof(writer));
        MUST(ds, bouma_dataset_append(&ds, "d", &o));
        MUST(ds, scenario_write(ds, &writer, 0, 4, 0, 1));
        MUST(ds, bouma_dataset_flush(ds));
        CHECK_EQ(files_of("d", 0), FILES + 1);
        bouma_dataset_free(ds);
        CHECK_EQ(leftovers("d", &o), 0);
        CHECK_EQ(repair("d", &o, 0), 0);
        CHECK_EQ(generation_of("d", &o, 0), 4);
        CHECK_EQ(generation_of("d", &o, 1), 3);
    }
}

static void a_killed_writer_leaves_notes_and_repair_removes(void)
{
    struct scenario_writer writer = {0};
    bouma_dataset *ds;
    bouma_options o = set_up(BOUMA_DURABILITY_DURABLE, 0);

    MUST(ds, bouma_dataset_create(&ds, "d", &o));
    MUST(ds, scenario_write(ds, &writer, 0, 0, 0, 1));
    table.keeps = 1;
    MUST(ds, scenario_write(ds, &writer, 0, 1, 0, 1));
    table.keeps = 0;
    bouma_dataset_free(ds);
    CHECK_EQ(files_of("d", 0), 2 * FILES + 1);
    CHECK_EQ(leftovers("d", &o), 1);
    CHECK_EQ(repair("d", &o, 0), 1);
    CHECK_EQ(files_of("d", 0), 2 * FILES + 1);
    CHECK_EQ(repair("d", &o, 1), 1);
    CHECK_EQ(files_of("d", 0), FILES + 1);
    CHECK_EQ(leftovers("d", &o), 0);
    CHECK_EQ(generation_of("d", &o, 0), 1);
}

static bouma_variable *temperature_of(bouma_step *step)
{
    return bouma_grid_find_variable(bouma_step_find_grid(step, "air"),
                                    "temperature");
}

/* A step that the writer's own handle reads is kept until it is freed. */
static void own_readers_are_waited_for(void)
{
    struct scenario_writer writer = {0};
    struct scenario_values expected;
    double found[SCENARIO_SAMPLES];
    bouma_dataset *ds;
    bouma_step *step;
    bouma_options o = set_up(BOUMA_DURABILITY_DURABLE, 0);

    MUST(ds, bouma_dataset_create(&ds, "d", &o));
    MUST(ds, scenario_write(ds, &writer, 0, 0, 0, 1));
    MUST(ds, bouma_step_open(&step, ds, 0));
    MUST(ds, scenario_write(ds, &writer, 0, 1, 0, 1));
    CHECK_EQ(files_of("d", 0), 2 * FILES + 1);
    MUST(ds, test_read(temperature_of(step), 0, NULL, found));
    scenario_fill(&expected, 0, 0);
    CHECK(!memcmp(found, expected.temperature, sizeof(found)));
    MUST(ds, scenario_write(ds, &writer, 1, 0, 0, 1));
    CHECK_EQ(files_of("d", 0), 2 * FILES + 1);
    bouma_step_free(step);
    MUST(ds, scenario_write(ds, &writer, 2, 0, 0, 1));
    CHECK_EQ(files_of("d", 0), FILES + 1);
    /* The newest version may stay open. */
    MUST(ds, bouma_step_open(&step, ds, 0));
    MUST(ds, scenario_write(ds, &writer, 1, 1, 0, 1));
    CHECK_EQ(files_of("d", 1), FILES + 1);
    MUST(ds, scenario_write(ds, &writer, 0, 2, 0, 1));
    MUST(ds, bouma_dataset_close(ds));
    CHECK_EQ(files_of("d", 0), FILES + 1);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static void other_readers_are_told_to_open_it_again(void)
{
    struct scenario_writer writer = {0};
    bouma_dataset *ds, *reader;
    double found[SCENARIO_SAMPLES];
    bouma_step *step, *second;
    bouma_options o = set_up(BOUMA_DURABILITY_DURABLE, 0);

    MUST(ds, bouma_dataset_create(&ds, "d", &o));
    MUST(ds, scenario_write(ds, &writer, 0, 0, 0, 1));
    MUST(ds, scenario_write(ds, &writer, 1, 0, 0, 1));
    MUST(reader, bouma_dataset_open(&reader, "d", &o));
    MUST(reader, bouma_step_open(&step, reader, 0));
    MUST(reader, bouma_step_open(&second, reader, 1));
    MUST(ds, scenario_write(ds, &writer, 0, 1, 0, 1));
    MUST(ds, bouma_dataset_truncate(ds, 0));
    CHECK_EQ(test_read(temperature_of(step), 0, NULL, found), BOUMA_ESTATE);
    CHECK_TEXT(bouma_error_message(reader), "step 0 was written again");
    CHECK_TEXT(bouma_error_message(reader), "open it again");
    CHECK_EQ(test_read(temperature_of(second), 0, NULL, found),
             BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(reader), "step 1 was removed");
    bouma_step_free(step);
    bouma_step_free(second);
    MUST(reader, bouma_step_open(&step, reader, 0));
    MUST(reader, test_read(temperature_of(step), 0, NULL, found));
    bouma_step_free(step);
    MUST(reader, bouma_dataset_refresh(reader));
    CHECK_EQ(bouma_dataset_step_count(reader), 1);
    bouma_dataset_free(reader);
    bouma_dataset_free(ds);
}

static void local_copies_and_their_targets_free_files(void)
{
    struct scenario_writer writer = {0};
    bouma_dataset *ds;
    bouma_options o = set_up(BOUMA_DURABILITY_DURABLE, 0);

    o.persist = 1;
    o.local = "near";
    MUST(ds, bouma_dataset_create(&ds, "far/d", &o));
    for (int n = 0; n < 6; n++)
        MUST(ds, scenario_write(ds, &writer, n % 2, n / 2, 0, 1));
    MUST(ds, bouma_dataset_drain(ds));
    for (int step = 0; step < 2; step++) {
        CHECK_EQ(files_of("far/d", step), FILES + 1);
        CHECK_EQ(files_of("near/d", step), FILES + 1);
    }
    MUST(ds, bouma_dataset_truncate(ds, 0));
    CHECK_EQ(files_of("far/d", 1), -1);
    CHECK_EQ(files_of("near/d", 1), -1);
    MUST(ds, scenario_write(ds, &writer, 1, 5, 0, 1));
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    o.local = NULL;
    o.persist = 0;
    CHECK_EQ(leftovers("far/d", &o), 0);
    CHECK_EQ(leftovers("near/d", &o), 0);
    CHECK_EQ(generation_of("far/d", &o, 1), 5);
}

/* ---- dropping steps ----------------------------------------------------- */

static void steps_after_a_restart_point_go(void)
{
    static const bouma_durability modes[3] = {BOUMA_DURABILITY_DURABLE,
                                              BOUMA_DURABILITY_FAST,
                                              BOUMA_DURABILITY_GROUP};

    for (int i = 0; i < 6; i++) {
        struct scenario_writer writer = {0};
        bouma_step_info info = {.size = sizeof(info)};
        bouma_dataset *ds;
        bouma_options o = set_up(modes[i % 3], i / 3);

        o.replace = 0;
        MUST(ds, bouma_dataset_create(&ds, "d", &o));
        for (int n = 0; n < 7; n++)
            MUST(ds, scenario_write(ds, &writer, 10 * n, 0, 0, 1));
        MUST(ds, bouma_dataset_truncate(ds, 35));
        CHECK_EQ(bouma_dataset_step_count(ds), 4);
        CHECK_EQ(files_of("d", 30), FILES + 1);
        CHECK_EQ(files_of("d", 40), -1);
        CHECK_EQ(files_of("d", 60), -1);
        /* They can be written again, without 'replace'. */
        MUST(ds, scenario_write(ds, &writer, 40, 1, 0, 1));
        MUST(ds, bouma_dataset_close(ds));
        bouma_dataset_free(ds);
        CHECK_EQ(generation_of("d", &o, 40), 1);
        CHECK_EQ(leftovers("d", &o), 0);
        CHECK_EQ(repair("d", &o, 0), 0);

        memset(&writer, 0, sizeof(writer));
        MUST(ds, bouma_dataset_append(&ds, "d", &o));
        CHECK_EQ(bouma_dataset_step_count(ds), 5);
        MUST(ds, bouma_dataset_truncate(ds, 40)); /* nothing to do */
        CHECK_EQ(bouma_dataset_step_count(ds), 5);
        MUST(ds, bouma_dataset_truncate(ds, 0));
        MUST(ds, bouma_dataset_step_get(&info, ds, 0));
        CHECK_EQ(info.step, 0);
        CHECK_EQ(bouma_dataset_step_count(ds), 1);
        MUST(ds, bouma_dataset_truncate(ds, -1));
        CHECK_EQ(bouma_dataset_step_count(ds), 0);
        MUST(ds, scenario_write(ds, &writer, 0, 2, 0, 1));
        MUST(ds, bouma_dataset_close(ds));
        bouma_dataset_free(ds);
        CHECK_EQ(generation_of("d", &o, 0), 2);
        CHECK_EQ(leftovers("d", &o), 0);
    }
}

/* The last one goes first: what an interrupted call leaves has no gap. */
static void interrupted_truncations_leave_no_gap(void)
{
    for (int removed = 0; removed < 4; removed++) {
        struct scenario_writer writer = {0};
        bouma_options o = set_up(BOUMA_DURABILITY_DURABLE, 0);
        bouma_dataset *ds;

        MUST(ds, bouma_dataset_create(&ds, "d", &o));
        for (int n = 0; n < 5; n++)
            MUST(ds, scenario_write(ds, &writer, n, 0, 0, 1));
        table.manifests = removed;
        CHECK_EQ(bouma_dataset_truncate(ds, 0), BOUMA_EIO);
        table.manifests = -1;
        bouma_dataset_free(ds);
        for (int n = 0; n < 5; n++)
            CHECK_EQ(files_of("d", n), n < 5 - removed ? FILES + 1 : -1);
    }
}

/* A step that is lost, of which there is a record, is dropped as any other. */
static void losses_beyond_are_forgotten(void)
{
    struct scenario_writer writer = {0};
    bouma_io *io = &table.io;
    bouma_dataset *ds;
    bouma_options o;
    void *root, *file;
    size_t done;

    o = set_up(BOUMA_DURABILITY_DURABLE, 0);
    MUST(ds, bouma_dataset_create(&ds, "d", &o));
    for (int n = 0; n < 3; n++)
        MUST(ds, scenario_write(ds, &writer, n, 0, 0, 1));
    REQUIRE(!io->attach(io->user, &root, "d", 0));
    REQUIRE(!io->make_dir(io->user, root, "lost"));
    for (int n = 0; n < 2; n++) {
        const char *name = n ? "lost/00000009.loss" : "lost/00000001.loss";

        REQUIRE(!io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_CREATE));
        REQUIRE(!io->write(io->user, file, "a loss", 6, 0, &done));
        REQUIRE(!io->close(io->user, file));
    }
    MUST(ds, bouma_dataset_truncate(ds, 1));
    CHECK_EQ(bouma_dataset_step_count(ds), 2);
    CHECK(io->open(io->user, root, &file, "lost/00000009.loss",
                   BOUMA_OPEN_MODE_READ) != 0);
    REQUIRE(!io->open(io->user, root, &file, "lost/00000001.loss",
                      BOUMA_OPEN_MODE_READ));
    io->close(io->user, file);
    io->detach(io->user, root);
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

static void put_record(const char *path)
{
    bouma_io *io = &table.io;
    void *root, *file;
    size_t done;

    REQUIRE(!io->attach(io->user, &root, path, 0));
    io->make_dir(io->user, root, "lost");
    REQUIRE(!io->open(io->user, root, &file, "lost/00000005.loss",
                      BOUMA_OPEN_MODE_CREATE));
    REQUIRE(!io->write(io->user, file, "a loss", 6, 0, &done));
    REQUIRE(!io->close(io->user, file));
    io->detach(io->user, root);
}

static int has_record(const char *path)
{
    bouma_io *io = &table.io;
    void *root, *file;
    int code;

    REQUIRE(!io->attach(io->user, &root, path, 0));
    code = io->open(io->user, root, &file, "lost/00000005.loss",
                    BOUMA_OPEN_MODE_READ);
    if (!code)
        io->close(io->user, file);
    io->detach(io->user, root);
    return !code;
}

/* The record of a lost step goes when the step is written again, durably: in
 * both stores, and also if it was made by a truncation of the same handle. What
 * is written fast may be lost again, and then the record is all there is. */
static void losses_end_when_the_step_is_written_again(void)
{
    static const bouma_durability modes[3] = {BOUMA_DURABILITY_DURABLE,
                                              BOUMA_DURABILITY_FAST,
                                              BOUMA_DURABILITY_GROUP};

    for (int i = 0; i < 12; i++) {
        int persists = i / 6, later = i / 3 % 2;
        struct scenario_writer writer = {0};
        bouma_dataset *ds;
        bouma_options o;

        if (persists && modes[i % 3] == BOUMA_DURABILITY_GROUP)
            continue;
        o = set_up(modes[i % 3], 0);
        o.replace = 0;
        o.persist = persists;
        if (persists)
            o.local = "near";
        MUST(ds, bouma_dataset_create(&ds, "far/d", &o));
        MUST(ds, scenario_write(ds, &writer, 0, 0, 0, 1));
        MUST(ds, bouma_dataset_close(ds));
        bouma_dataset_free(ds);
        memset(&writer, 0, sizeof(writer));
        for (int k = 0; k < 2; k++) {
            if (k == later) {
                put_record("far/d");
                if (persists)
                    put_record("near/d");
            }
            if (!k)
                MUST(ds, bouma_dataset_append(&ds, "far/d", &o));
        }
        if (later)
            MUST(ds, bouma_dataset_truncate(ds, 9));
        CHECK(has_record("far/d"));
        MUST(ds, scenario_write(ds, &writer, 5, 0, 0, 1));
        MUST(ds, bouma_dataset_close(ds));
        bouma_dataset_free(ds);
        if (persists) { /* to be drained is to be durable */
            CHECK(!has_record("far/d"));
            CHECK_EQ(has_record("near/d"),
                     o.durability == BOUMA_DURABILITY_FAST);
        } else {
            CHECK_EQ(has_record("far/d"),
                     o.durability == BOUMA_DURABILITY_FAST);
        }
    }
}

static void wrong_truncations_are_refused(void)
{
    struct scenario_writer writer = {0};
    bouma_dataset *ds, *other;
    bouma_options o = set_up(BOUMA_DURABILITY_DURABLE, 0);

    CHECK_EQ(bouma_dataset_truncate(NULL, 0), BOUMA_EINVAL);
    MUST(ds, bouma_dataset_create(&ds, "d", &o));
    for (int n = 0; n < 3; n++)
        MUST(ds, scenario_write(ds, &writer, n, 0, 0, 1));
    CHECK_EQ(bouma_dataset_truncate(ds, -2), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "-2");
    MUST(ds, bouma_step_begin(ds, 3, 0));
    CHECK_EQ(bouma_dataset_truncate(ds, 0), BOUMA_ESTATE);
    CHECK_TEXT(bouma_error_message(ds), "step 3 was begun");
    CHECK_EQ(bouma_step_abort(ds), BOUMA_EABORTED);
    MUST(other, bouma_dataset_open(&other, "d", &o));
    CHECK_EQ(bouma_dataset_truncate(other, 0), BOUMA_ESTATE);
    CHECK_TEXT(bouma_error_message(other), "reading only");
    bouma_dataset_free(other);
    /* One that has taken over is not disturbed. */
    o.force = 1;
    MUST(other, bouma_dataset_append(&other, "d", &o));
    CHECK_EQ(bouma_dataset_truncate(ds, 0), BOUMA_EBUSY);
    CHECK_EQ(bouma_dataset_step_count(other), 3);
    CHECK_EQ(files_of("d", 2), FILES + 1);
    bouma_dataset_free(other);
    bouma_dataset_free(ds);
}

int main(void)
{
    unsetenv("BOUMA_OPTIONS");
    replaced_steps_free_their_files();
    a_killed_writer_leaves_notes_and_repair_removes();
    own_readers_are_waited_for();
    other_readers_are_told_to_open_it_again();
    local_copies_and_their_targets_free_files();
    steps_after_a_restart_point_go();
    interrupted_truncations_leave_no_gap();
    losses_beyond_are_forgotten();
    losses_end_when_the_step_is_written_again();
    wrong_truncations_are_refused();
    bouma_io_memory_free(table.memory);
    return check_result();
}
