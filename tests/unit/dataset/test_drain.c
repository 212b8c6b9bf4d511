/* Steps that persist in a local copy, and come to the target. Each claim is
 * tried on files, where a thread drains, and in memory, where the caller does.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bouma.h"
#include "check.h"
#include "files.h"
#include "must.h"
#include "sized.h"
#include "step_writer.h"
#include "trace_lines.h"

/* Two stores: DIR/far/d.bouma is the dataset, DIR/near/d.bouma its local copy.
 */
struct world {
    const bouma_io *io;
    bouma_io *memory; /* NULL: files */
    char dir[64], far[128], near[128], local_copy[160];
};

static void world_make(struct world *w, int in_memory)
{
    memset(w, 0, sizeof(*w));
    snprintf(w->dir, sizeof(w->dir), "/tmp/test_drain.XXXXXX");
    w->memory = in_memory ? bouma_io_memory_new() : NULL;
    w->io = in_memory ? w->memory : bouma_io_posix();
    REQUIRE(w->io && (in_memory || mkdtemp(w->dir)));
    snprintf(w->far, sizeof(w->far), "%s/far", w->dir);
    snprintf(w->near, sizeof(w->near), "%s/near", w->dir);
    if (!in_memory) {
        REQUIRE(!mkdir(w->far, 0777) && !mkdir(w->near, 0777));
    }
    snprintf(w->local_copy, sizeof(w->local_copy), "%s/d.bouma", w->near);
    strcat(w->far, "/d.bouma");
}

static void world_end(struct world *w)
{
    bouma_io_memory_free(w->memory);
    CHECK(w->memory || !remove_tree(w->dir));
}

static bouma_options options_of(const struct world *w, int persist)
{
    bouma_options o = {.size = sizeof(o)};

    o.io = w->io;
    o.files = 3;
    o.persist = persist;
    o.local = w->near;
    return o;
}

static void create(struct writer *w, const struct world *world)
{
    bouma_options o = options_of(world, 1);

    memset(w, 0, sizeof(*w));
    MUST(w->ds, bouma_dataset_create(&w->ds, world->far, &o));
}

/* The generation of a step in one store; -1 if it is not there, -2 if it is not
 * right. */
static int look(const struct world *w, const char *path, int64_t step)
{
    bouma_options o = options_of(w, 0);
    enum scenario_verdict verdict;
    int generation = -2;
    bouma_dataset *ds;

    o.local = NULL;
    MUST(ds, bouma_dataset_open(&ds, path, &o));
    verdict = scenario_read(ds, step, &generation);
    bouma_dataset_free(ds);
    return verdict == SCENARIO_EXACT    ? generation
           : verdict == SCENARIO_ABSENT ? -1
                                        : -2;
}

/* Damages and notes of a check of every byte. */
static uint64_t findings(const struct world *w, const char *path)
{
    bouma_options o = options_of(w, 0);
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640];

    REQUIRE(!bouma_verify(&report, path, BOUMA_DEPTH_DEEP, &o, NULL, NULL,
                          message, sizeof(message)));
    return report.damages + report.notes;
}

/* ---- claims ------------------------------------------------------------- */

static void steps_are_in_both_stores(const struct world *w)
{
    struct writer writer;

    create(&writer, w);
    for (int step = 0; step < 3; step++) {
        write_step(&writer, step, 5);
        CHECK_EQ(look(w, w->local_copy, step), 5); /* at once */
    }
    MUST(writer.ds, bouma_dataset_drain(writer.ds));
    for (int step = 0; step < 3; step++)
        CHECK_EQ(look(w, w->far, step), 5);
    write_step(&writer, 3, 6);
    end(&writer);
    CHECK_EQ(look(w, w->far, 3), 6);
    CHECK_EQ(findings(w, w->far), 0);
    CHECK_EQ(findings(w, w->local_copy), 0);
}

static void what_is_near_is_read_there(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    bouma_dataset_info before = {.size = sizeof(before)},
                       after = {.size = sizeof(after)};
    struct writer writer;
    bouma_dataset *ds;
    int generation;

    create(&writer, w);
    write_step(&writer, 0, 1);
    end(&writer);
    MUST(ds, bouma_dataset_open(&ds, w->far, &o));
    bouma_dataset_info_get(&before, ds);
    CHECK_EQ(scenario_read(ds, 0, &generation), SCENARIO_EXACT);
    bouma_dataset_info_get(&after, ds);
    CHECK(after.local_bytes_read > before.local_bytes_read);
    CHECK_EQ(after.bytes_read - before.bytes_read,
             after.local_bytes_read - before.local_bytes_read);
    bouma_dataset_free(ds);
    /* Without the option, all is read from the path itself. */
    o.local = NULL;
    MUST(ds, bouma_dataset_open(&ds, w->far, &o));
    CHECK_EQ(scenario_read(ds, 0, &generation), SCENARIO_EXACT);
    bouma_dataset_info_get(&after, ds);
    CHECK_EQ(after.local_bytes_read, 0);
    CHECK(after.bytes_read > 0);
    bouma_dataset_free(ds);
}

static void a_step_that_is_replaced_is_replaced_in_both(const struct world *w)
{
    bouma_options o = options_of(w, 1);
    struct writer writer;

    create(&writer, w);
    write_step(&writer, 0, 1);
    write_step(&writer, 1, 1);
    CHECK_EQ(scenario_write(writer.ds, &writer.s, 1, 2, 0, 1), BOUMA_EEXISTS);
    end(&writer);
    o.replace = 1;
    append(&writer, w->far, &o);
    write_step(&writer, 1, 2);
    write_step(&writer, 1, 3); /* perhaps before the second was drained */
    end(&writer);
    CHECK_EQ(look(w, w->far, 0), 1);
    CHECK_EQ(look(w, w->far, 1), 3);
    CHECK_EQ(look(w, w->local_copy, 1), 3);
    /* Behind the local copy's back: what is newer counts. */
    o.persist = 0;
    append_step(w->far, &o, 0, 4);
    CHECK_EQ(look(w, w->local_copy, 0), 1);
    o = options_of(w, 0);
    MUST(writer.ds, bouma_dataset_open(&writer.ds, w->far, &o));
    for (int step = 0; step < 2; step++) {
        int generation = -1;

        CHECK_EQ(scenario_read(writer.ds, step, &generation), SCENARIO_EXACT);
        CHECK_EQ(generation, step ? 3 : 4);
    }
    bouma_dataset_free(writer.ds);
}

static void writers_with_and_without_go_on(const struct world *w)
{
    bouma_options o = options_of(w, 1), plain = options_of(w, 0);
    struct writer writer;
    bouma_step_info info = {.size = sizeof(info)};

    create(&writer, w);
    write_step(&writer, 0, 1);
    end(&writer);
    append_step(w->far, &plain, 1, 1);
    append(&writer, w->far, &o);
    CHECK_EQ(bouma_dataset_step_count(writer.ds), 2);
    CHECK_EQ(bouma_dataset_step_get(&info, writer.ds, 1), BOUMA_OK);
    /* One that only the path has is not written again unasked. */
    CHECK_EQ(scenario_write(writer.ds, &writer.s, 1, 2, 0, 1), BOUMA_EEXISTS);
    write_step(&writer, 2, 1);
    end(&writer);
    append_step(w->far, &plain, 3, 1);
    for (int step = 0; step < 4; step++) {
        CHECK_EQ(look(w, w->far, step), 1);
        CHECK_EQ(look(w, w->local_copy, step), step % 2 ? -1 : 1);
    }
    CHECK_EQ(findings(w, w->far), 0);
}

static void wrong_options_are_refused(const struct world *w)
{
    static const char *const nameless[] = {"/", ".", "..", "x/.."};
    bouma_options o = options_of(w, 1);
    bouma_dataset *ds;

    o.local = NULL;
    CHECK_EQ(bouma_dataset_create(&ds, w->far, &o), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "'local'");
    bouma_dataset_free(ds);
    o = options_of(w, 1);
    o.durability = BOUMA_DURABILITY_GROUP;
    CHECK_EQ(bouma_dataset_create(&ds, w->far, &o), BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(ds), "group");
    bouma_dataset_free(ds);
    o = options_of(w, 1);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(bouma_dataset_append(&ds, nameless[i], &o), BOUMA_EINVAL);
        CHECK_TEXT(bouma_error_message(ds), "must end in a name");
        bouma_dataset_free(ds);
    }
    /* Nothing was made. */
    o = options_of(w, 0);
    CHECK_EQ(bouma_dataset_open(&ds, w->far, &o), BOUMA_ENOTFOUND);
    bouma_dataset_free(ds);
}

static void a_local_copy_of_another_is_not_touched(const struct world *w)
{
    bouma_options o = options_of(w, 1), plain = options_of(w, 0);
    struct writer writer;
    bouma_dataset *ds;

    memset(&writer, 0, sizeof(writer));
    MUST(writer.ds, bouma_dataset_create(&writer.ds, w->local_copy, &plain));
    write_step(&writer, 0, 9);
    end(&writer);
    CHECK_EQ(bouma_dataset_create(&ds, w->far, &o), BOUMA_EEXISTS);
    CHECK_TEXT(bouma_error_message(ds), w->local_copy);
    bouma_dataset_free(ds);
    memset(&writer, 0, sizeof(writer));
    MUST(writer.ds, bouma_dataset_create(&writer.ds, w->far, &plain));
    write_step(&writer, 0, 1);
    end(&writer);
    CHECK_EQ(bouma_dataset_append(&ds, w->far, &o), BOUMA_EEXISTS);
    CHECK_TEXT(bouma_error_message(ds), "another dataset");
    bouma_dataset_free(ds);
    /* Nor is it read. */
    CHECK_EQ(look(w, w->local_copy, 0), 9);
    MUST(ds, bouma_dataset_open(&ds, w->far, &plain));
    {
        int generation = -1;

        CHECK_EQ(scenario_read(ds, 0, &generation), SCENARIO_EXACT);
        CHECK_EQ(generation, 1);
    }
    bouma_dataset_free(ds);
    /* The claim of the append that failed was given back. */
    memset(&writer, 0, sizeof(writer));
    append_step(w->far, &plain, 1, 1);
}

static void the_dataset_is_not_its_own_local_copy(const struct world *w)
{
    bouma_options o = options_of(w, 1), plain = options_of(w, 0);
    bouma_dataset *ds;

    MUST(ds, bouma_dataset_create(&ds, w->local_copy, &plain));
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    CHECK_EQ(bouma_dataset_append(&ds, w->local_copy, &o), BOUMA_EBUSY);
    CHECK_TEXT(bouma_error_message(ds), "is the dataset itself");
    bouma_dataset_free(ds);
    append_step(w->local_copy, &plain, 0, 1);
}

/* ---- on files: the target is out of reach for a while -------------------- */

static void hide(const struct world *w, int hidden)
{
    char steps[160], away[160];

    snprintf(steps, sizeof(steps), "%s/steps", w->far);
    snprintf(away, sizeof(away), "%s/away", w->far);
    REQUIRE(!(hidden ? rename(steps, away) : rename(away, steps)));
}

static void a_failure_is_told_and_tried_again(const struct world *w)
{
    bouma_options near = options_of(w, 0);
    struct writer writer;
    bouma_dataset *ds;
    int generation;

    create(&writer, w);
    write_step(&writer, 0, 1);
    MUST(writer.ds, bouma_dataset_drain(writer.ds));
    hide(w, 1);
    write_step(&writer, 1, 1);
    write_step(&writer, 2, 1);
    CHECK_EQ(bouma_dataset_drain(writer.ds), BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(writer.ds), "step 1 is complete in ");
    CHECK_TEXT(bouma_error_message(writer.ds), "bouma drain");
    CHECK(bouma_dataset_flush(writer.ds) != BOUMA_OK);
    hide(w, 0);
    CHECK_EQ(look(w, w->far, 1), -1);
    /* What is only near can be read through the path. */
    MUST(ds, bouma_dataset_open(&ds, w->far, &near));
    CHECK_EQ(bouma_dataset_step_count(ds), 3);
    CHECK_EQ(scenario_read(ds, 2, &generation), SCENARIO_EXACT);
    bouma_dataset_free(ds);
    MUST(writer.ds, bouma_dataset_drain(writer.ds));
    CHECK_EQ(look(w, w->far, 1), 1);
    CHECK_EQ(look(w, w->far, 2), 1);
    end(&writer);
    CHECK_EQ(findings(w, w->far), 0);
}

static void what_was_not_drained_is_noted(const struct world *w)
{
    bouma_options o = options_of(w, 1);
    struct writer writer;

    create(&writer, w);
    write_step(&writer, 0, 1);
    MUST(writer.ds, bouma_dataset_drain(writer.ds));
    hide(w, 1);
    write_step(&writer, 1, 1);
    CHECK(bouma_dataset_close(writer.ds) != BOUMA_OK);
    CHECK_TEXT(bouma_error_message(writer.ds), "step 1");
    bouma_dataset_free(writer.ds);
    hide(w, 0);
    append(&writer, w->far, &o);
    CHECK(bouma_dataset_note(writer.ds, 0) != NULL);
    CHECK_TEXT(bouma_dataset_note(writer.ds, 0), "1 step is in ");
    end(&writer);
}

/* The first subfile of a step in one store. */
static void subfile_of(char *out, size_t bytes, const char *path, int64_t step)
{
    char dir[200];
    struct dirent *e;
    DIR *d;

    snprintf(dir, sizeof(dir), "%s/steps/%08lld", path, (long long)step);
    d = opendir(dir);
    REQUIRE(d);
    while ((e = readdir(d)) && strncmp(e->d_name, "d.0000", 6))
        ;
    REQUIRE(e);
    snprintf(out, bytes, "%.150s/%.100s", dir, e->d_name);
    closedir(d);
}

/* Each byte of a file in turn: a copy with a wrong one never arrives. */
static void damage_does_not_get_through(const struct world *w)
{
    struct writer writer;
    struct stat st;
    char name[300];
    int fd;

    create(&writer, w);
    hide(w, 1);
    write_step(&writer, 0, 1);
    CHECK(bouma_dataset_drain(writer.ds) != BOUMA_OK);
    hide(w, 0);
    subfile_of(name, sizeof(name), w->local_copy, 0);
    fd = open(name, O_RDWR);
    REQUIRE(fd >= 0 && !fstat(fd, &st));
    for (off_t at = 0; at < st.st_size; at++) {
        uint8_t good, bad;
        int rc;

        REQUIRE(pread(fd, &good, 1, at) == 1);
        bad = good ^ 4;
        REQUIRE(pwrite(fd, &bad, 1, at) == 1);
        rc = bouma_dataset_drain(writer.ds);
        CHECK(rc == BOUMA_EFORMAT || rc == BOUMA_EVERSION);
        CHECK_EQ(look(w, w->far, 0), -1);
        REQUIRE(pwrite(fd, &good, 1, at) == 1);
    }
    close(fd);
    MUST(writer.ds, bouma_dataset_drain(writer.ds));
    end(&writer);
    CHECK_EQ(look(w, w->far, 0), 1);
}

/* A handle that is freed with copies under way leaves a local copy that is
 * whole. */
static void freeing_leaves_the_local_copy_whole(const struct world *w)
{
    bouma_options o = options_of(w, 1);
    struct writer writer;

    create(&writer, w);
    for (int step = 0; step < 4; step++)
        write_step(&writer, step, 1);
    bouma_dataset_free(writer.ds);
    for (int step = 0; step < 4; step++)
        CHECK_EQ(look(w, w->local_copy, step), 1);
    for (int step = 1, gone = 0; step < 4; step++) {
        int here = look(w, w->far, step);

        CHECK(here == 1 || here == -1);
        CHECK(!gone || here == -1); /* in order */
        gone |= here == -1;
    }
    append(&writer, w->far, &o);
    end(&writer);
}

/* ---- draining later ----------------------------------------------------- */

static int drain(const struct world *w, const char *from, int remove,
                 bouma_drain_report *report)
{
    bouma_options o = options_of(w, 0);
    char message[640];
    int rc = bouma_drain(SIZED(report), from, w->far, remove, &o, message,
                         sizeof(message));

    CHECK((rc != BOUMA_OK) == (message[0] != 0));
    return rc;
}

/* Steps 0 to 'steps' - 1 in the local copy only: the dataset itself is there,
 * and has none, or is not there. */
static void leave_behind(const struct world *w, int steps)
{
    struct writer writer;

    memset(&writer, 0, sizeof(writer));
    {
        bouma_options o = options_of(w, 0);

        MUST(writer.ds, bouma_dataset_create(&writer.ds, w->local_copy, &o));
    }
    for (int step = 0; step < steps; step++)
        write_step(&writer, step, 1);
    end(&writer);
}

static void what_was_left_behind_is_drained(const struct world *w)
{
    bouma_drain_report report = {.size = sizeof(report)};

    leave_behind(w, 20); /* more than one claim */
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(report.steps, 20);
    CHECK_EQ(report.published, 20);
    CHECK_EQ(report.files, 60);
    CHECK(report.bytes > 0);
    for (int step = 0; step < 20; step++)
        CHECK_EQ(look(w, w->far, step), 1);
    CHECK_EQ(findings(w, w->far), 0);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(report.present, 20);
    CHECK_EQ(report.published + report.files + report.bytes, 0);
}

static void writing_goes_on_after_a_drain(const struct world *w)
{
    bouma_options o = options_of(w, 1);
    bouma_drain_report report = {.size = sizeof(report)};
    struct writer writer;

    leave_behind(w, 2);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    o.replace = 1;
    append(&writer, w->far, &o);
    write_step(&writer, 1, 2);
    write_step(&writer, 2, 1);
    end(&writer);
    CHECK_EQ(look(w, w->far, 1), 2);
    CHECK_EQ(look(w, w->far, 2), 1);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(report.present, 3);
}

static void a_newer_step_replaces_an_older(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    bouma_drain_report report = {.size = sizeof(report)};

    leave_behind(w, 2);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    o.replace = 1;
    append_step(w->local_copy, &o, 0, 2);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(report.published, 1);
    CHECK_EQ(report.replaced, 1);
    CHECK_EQ(report.present, 1);
    CHECK_EQ(report.older, 0);
    CHECK_EQ(look(w, w->far, 0), 2);
    CHECK_EQ(look(w, w->local_copy, 0), 2);
}

/* And stays where it is, on both sides. */
static void an_older_step_is_kept(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    bouma_drain_report report = {.size = sizeof(report)};

    leave_behind(w, 3);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    o.replace = 1;
    append_step(w->far, &o, 1, 3);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(report.published + report.replaced, 0);
    CHECK_EQ(report.present, 2);
    CHECK_EQ(report.older, 1);
    CHECK_EQ(drain(w, w->local_copy, 1, &report), BOUMA_OK);
    CHECK_EQ(report.removed, 2);
    CHECK_EQ(report.older, 1);
    CHECK_EQ(look(w, w->local_copy, 0), -1);
    CHECK_EQ(look(w, w->local_copy, 1), 1);
    CHECK_EQ(look(w, w->local_copy, 2), -1);
    CHECK_EQ(look(w, w->far, 1), 3);
    CHECK_EQ(findings(w, w->far), 0);
}

/* Each was written again, by writers that knew nothing of each other, and came
 * to the same epoch and attempt. */
static void neither_of_two_writings_is_dropped(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    bouma_drain_report report = {.size = sizeof(report)};
    struct writer writer;

    leave_behind(w, 1);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    o.replace = 1;
    append(&writer, w->far, &o); /* epoch 3: a drain had the second */
    write_step(&writer, 0, 3);
    end(&writer);
    append(&writer, w->local_copy, &o);
    end(&writer);
    append_step(w->local_copy, &o, 0, 4);
    for (int remove = 0; remove < 2; remove++) {
        CHECK_EQ(drain(w, w->local_copy, remove, &report), BOUMA_EEXISTS);
        CHECK_EQ(report.failed, 1);
        CHECK_EQ(report.removed + report.published, 0);
        CHECK_EQ(look(w, w->far, 0), 3);
        CHECK_EQ(look(w, w->local_copy, 0), 4);
    }
}

static void another_dataset_is_not_drained_to(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    bouma_drain_report report = {.size = sizeof(report)};
    struct writer writer;

    leave_behind(w, 1);
    memset(&writer, 0, sizeof(writer));
    MUST(writer.ds, bouma_dataset_create(&writer.ds, w->far, &o));
    end(&writer);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_EEXISTS);
    CHECK_EQ(look(w, w->far, 0), -1);
    CHECK_EQ(drain(w, w->near, 0, &report), BOUMA_ENOTFOUND);
    CHECK_EQ(drain(w, w->far, 0, &report), BOUMA_EINVAL);
    CHECK_EQ(drain(w, "", 0, &report), BOUMA_EINVAL);
}

/* Write a small file. */
static void scribble(const char *dir, const char *name)
{
    char path[300];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "w");
    REQUIRE(f && fputs("mine\n", f) >= 0 && !fclose(f));
}

/* How many entries a directory has. */
static int entries(const char *dir)
{
    DIR *d = opendir(dir);
    int count = 0;

    REQUIRE(d);
    while (readdir(d))
        count++;
    closedir(d);
    return count - 2;
}

static void a_foreign_directory_is_left_alone(const struct world *w)
{
    bouma_options o = options_of(w, 1);
    bouma_drain_report report = {.size = sizeof(report)};
    char message[640], other[200];
    bouma_dataset *ds;

    leave_behind(w, 1);
    REQUIRE(!mkdir(w->far, 0777));
    scribble(w->far, "thesis.tex");
    for (int remove = 0; remove < 2; remove++) {
        CHECK_EQ(bouma_drain(&report, w->local_copy, w->far, remove, NULL,
                             message, sizeof(message)),
                 BOUMA_EEXISTS);
        CHECK_TEXT(message, "not a bouma dataset");
        CHECK_TEXT(message, w->far);
        CHECK_EQ(entries(w->far), 1);
    }
    CHECK_EQ(look(w, w->local_copy, 0), 1);
    /* Nor becomes one a local copy. */
    snprintf(other, sizeof(other), "%s/x.bouma", w->near);
    REQUIRE(!mkdir(other, 0777));
    scribble(other, "thesis.tex");
    snprintf(other, sizeof(other), "%s/x.bouma", w->dir);
    CHECK_EQ(bouma_dataset_create(&ds, other, &o), BOUMA_EEXISTS);
    CHECK_TEXT(bouma_error_message(ds), "not a bouma dataset");
    bouma_dataset_free(ds);
    CHECK(access(other, F_OK)); /* nothing was made */
    snprintf(other, sizeof(other), "%s/x.bouma", w->near);
    CHECK_EQ(entries(other), 1);
    /* An empty one will do, and what a killed creation left. */
    snprintf(message, sizeof(message), "%s/thesis.tex", w->far);
    REQUIRE(!unlink(message));
    scribble(w->far, "DATASET.tmp.00000001");
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(look(w, w->far, 0), 1);
}

static void what_is_safe_can_be_removed(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    bouma_drain_report report = {.size = sizeof(report)};
    bouma_dataset *ds;

    leave_behind(w, 3);
    CHECK_EQ(drain(w, w->local_copy, 1, &report), BOUMA_OK);
    CHECK_EQ(report.removed, 3);
    CHECK_EQ(report.published, 3);
    for (int step = 0; step < 3; step++) {
        CHECK_EQ(look(w, w->far, step), 1);
        CHECK_EQ(look(w, w->local_copy, step), -1);
    }
    CHECK_EQ(findings(w, w->local_copy), 0);
    MUST(ds, bouma_dataset_open(&ds, w->local_copy, &o));
    CHECK_EQ(bouma_dataset_step_count(ds), 0);
    bouma_dataset_free(ds);
    /* And it can be used on. */
    o.persist = 1;
    append_step(w->far, &o, 3, 1);
    CHECK_EQ(look(w, w->local_copy, 3), 1);
    CHECK_EQ(look(w, w->far, 3), 1);
}

static void who_writes_is_not_disturbed(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    bouma_drain_report report = {.size = sizeof(report)};
    struct writer writer;

    leave_behind(w, 1);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    append(&writer, w->local_copy, &o);
    write_step(&writer, 1, 1);
    CHECK_EQ(drain(w, w->local_copy, 1, &report), BOUMA_EBUSY);
    CHECK_EQ(report.removed, 0);
    write_step(&writer, 2, 1);
    end(&writer);
    CHECK_EQ(look(w, w->local_copy, 0), 1);
    /* Step 2 waits until the dataset is free. */
    append(&writer, w->far, &o);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_EBUSY);
    end(&writer);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(look(w, w->far, 2), 1);
}

/* Files only: a second node is a copy of the local copy without some files. */
static void each_node_brings_its_files(const struct world *w)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char command[1200], other[200];

    leave_behind(w, 2);
    snprintf(other, sizeof(other), "%s/other.bouma", w->near);
    snprintf(command, sizeof(command),
             "cp -r %s %s && rm %s/steps/*/d.0000* %s/steps/*/d.000[12]*",
             w->local_copy, other, w->local_copy, other);
    REQUIRE(!system(command));
    CHECK_EQ(drain(w, w->local_copy, 1, &report), BOUMA_OK);
    CHECK_EQ(report.waiting, 2);
    CHECK_EQ(report.files, 4);
    CHECK_EQ(report.published + report.removed, 0);
    CHECK_EQ(look(w, w->far, 0), -1);
    CHECK_EQ(drain(w, other, 0, &report), BOUMA_OK);
    CHECK_EQ(report.published, 2);
    CHECK_EQ(report.files, 2);
    CHECK_EQ(look(w, w->far, 0), 1);
    CHECK_EQ(look(w, w->far, 1), 1);
    CHECK_EQ(findings(w, w->far), 0);
    CHECK_EQ(drain(w, w->local_copy, 1, &report), BOUMA_OK);
    CHECK_EQ(report.removed, 2);
}

/* Change one byte of a file. */
static void flip(const char *name, long at)
{
    FILE *f = fopen(name, "r+");
    int c;

    REQUIRE(f && !fseek(f, at, SEEK_SET));
    c = getc(f);
    REQUIRE(!fseek(f, at, SEEK_SET) && putc(c ^ 1, f) != EOF && !fclose(f));
}

/* In its data, between the two heads. */
static void flip_middle(const char *name)
{
    struct stat st;

    REQUIRE(!stat(name, &st));
    flip(name, st.st_size / 2);
}

/* Files only. */
static void a_loss_is_known_there_too(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    bouma_repair_report repair = {.size = sizeof(repair)};
    bouma_drain_report report = {.size = sizeof(report)};
    char command[400], message[640];
    struct writer writer;

    leave_behind(w, 4);
    snprintf(command, sizeof(command), "rm -r %s/steps/0000000[12]",
             w->local_copy);
    REQUIRE(!system(command));
    /* One is on record, the other is not. */
    CHECK_EQ(bouma_repair(&repair, w->local_copy, 1, &o, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    snprintf(command, sizeof(command), "rm -r %s/steps/00000003",
             w->local_copy);
    REQUIRE(!system(command));
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(report.published, 1);
    CHECK_EQ(report.losses, 3);
    CHECK_EQ(findings(w, w->far), 3);
    snprintf(command, sizeof(command),
             "cmp %s/lost/00000001.loss %s/lost/00000001.loss", w->local_copy,
             w->far);
    CHECK(!system(command)); /* with its date */
    /* Once is enough, and a claim is not needed to see that. */
    append(&writer, w->far, &o);
    CHECK_EQ(drain(w, w->local_copy, 1, &report), BOUMA_OK);
    CHECK_EQ(report.losses, 0);
    end(&writer);
    CHECK_EQ(findings(w, w->local_copy), 3);
    /* What comes after all is not lost. */
    append_step(w->local_copy, &o, 2, 5);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(look(w, w->far, 2), 5);
    CHECK_EQ(findings(w, w->far), 2);
    snprintf(command, sizeof(command), "%s/lost/00000002.loss", w->far);
    CHECK(access(command, F_OK));
}

/* What the target has is not lost there. */
static void a_loss_after_the_drain_does_no_harm(const struct world *w)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char command[400];

    leave_behind(w, 2);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    snprintf(command, sizeof(command), "rm -r %s/steps/00000001",
             w->local_copy);
    REQUIRE(!system(command));
    CHECK_EQ(drain(w, w->local_copy, 1, &report), BOUMA_OK);
    CHECK_EQ(report.losses, 0);
    CHECK_EQ(report.removed, 1);
    CHECK_EQ(findings(w, w->far), 0);
    CHECK_EQ(findings(w, w->local_copy), 1);
}

/* A file is lost, and known to be: no other node will bring it. */
static void a_lost_file_is_not_waited_for(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    bouma_repair_report repair = {.size = sizeof(repair)};
    bouma_drain_report report = {.size = sizeof(report)};
    char name[300], message[640];

    leave_behind(w, 2);
    subfile_of(name, sizeof(name), w->local_copy, 1);
    REQUIRE(!unlink(name));
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(report.waiting, 1);
    CHECK_EQ(bouma_repair(&repair, w->local_copy, 1, &o, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(bouma_drain(&report, w->local_copy, w->far, 1, &o, message,
                         sizeof(message)),
             BOUMA_EFORMAT);
    CHECK_TEXT(message, "step 1 was not drained");
    CHECK_TEXT(message, "is lost (recorded ");
    CHECK_EQ(report.failed, 1);
    CHECK_EQ(report.waiting, 0);
    CHECK_EQ(report.removed, 1);
    CHECK_EQ(look(w, w->far, 0), 1);
}

/* Damage that is on record is no loss of the whole step; nor is a record that
 * cannot be read, of a step that is there. */
static void a_damaged_chunk_is_not_a_lost_step(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    bouma_repair_report repair = {.size = sizeof(repair)};
    bouma_drain_report report = {.size = sizeof(report)};
    char name[300], lost[200], message[640];

    leave_behind(w, 3);
    subfile_of(name, sizeof(name), w->local_copy, 1);
    flip_middle(name);
    CHECK_EQ(bouma_repair(&repair, w->local_copy, 1, &o, NULL, NULL, message,
                          sizeof(message)),
             BOUMA_OK);
    snprintf(lost, sizeof(lost), "%s/lost", w->local_copy);
    CHECK_EQ(entries(lost), 1);
    scribble(lost, "00000002.loss");
    subfile_of(name, sizeof(name), w->local_copy, 2);
    REQUIRE(!unlink(name)); /* waits for it */
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_EFORMAT);
    CHECK_EQ(report.failed, 1);
    CHECK_EQ(report.waiting, 1);
    CHECK_EQ(report.losses, 0);
    CHECK_EQ(look(w, w->far, 0), 1);
    snprintf(lost, sizeof(lost), "%s/lost", w->far);
    CHECK(access(lost, F_OK));
}

/* In a drain of several batches the target is claimed for each; but just one of
 * these claims is left behind. */
static void a_drain_leaves_one_claim(const struct world *w)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char epochs[200];

    leave_behind(w, 50);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(report.published, 50);
    snprintf(epochs, sizeof(epochs), "%s/epochs", w->far);
    CHECK_EQ(entries(epochs), 1);
    CHECK_EQ(findings(w, w->far), 0);
}

static void a_damaged_step_does_not_hold_up_others(const struct world *w)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char name[300];

    leave_behind(w, 3);
    subfile_of(name, sizeof(name), w->local_copy, 1);
    flip(name, 700);
    CHECK_EQ(drain(w, w->local_copy, 1, &report), BOUMA_EFORMAT);
    CHECK_EQ(report.failed, 1);
    CHECK_EQ(report.published, 2);
    CHECK_EQ(report.removed, 2);
    CHECK_EQ(look(w, w->far, 0), 1);
    CHECK_EQ(look(w, w->far, 1), -1);
    CHECK_EQ(look(w, w->far, 2), 1);
    flip(name, 700);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(look(w, w->far, 1), 1);
}

/* A step that the target has lost, and that is damaged here, does not come, nor
 * does its directory: it stays one loss, and the drain tells that this is on
 * record now. One that comes is none. */
static void what_is_refused_leaves_nothing(const struct world *w)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char name[300], dir[200];

    leave_behind(w, 4);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    for (int step = 1; step < 3; step++) {
        snprintf(dir, sizeof(dir), "%s/steps/%08d", w->far, step);
        REQUIRE(!remove_tree(dir));
    }
    subfile_of(name, sizeof(name), w->local_copy, 1);
    flip_middle(name);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_EFORMAT);
    CHECK_EQ(report.failed, 1);
    CHECK_EQ(report.published, 1);
    CHECK_EQ(report.losses, 1);
    snprintf(dir, sizeof(dir), "%s/steps/00000001", w->far);
    CHECK(access(dir, F_OK));
    CHECK_EQ(findings(w, w->far), 1);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_EFORMAT);
    CHECK_EQ(report.losses, 0);
    CHECK(access(dir, F_OK));
    CHECK_EQ(findings(w, w->far), 1);
}

static void what_is_damaged_there_stays_here(const struct world *w)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char name[300];

    leave_behind(w, 1);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    subfile_of(name, sizeof(name), w->far, 0);
    flip(name, 700);
    CHECK_EQ(drain(w, w->local_copy, 1, &report), BOUMA_EFORMAT);
    CHECK_EQ(report.removed, 0);
    CHECK_EQ(look(w, w->local_copy, 0), 1);
}

/* What an interrupted drain has left is taken for whole only if it is: damage of
 * its data is mended by the local copy, unless that has it, too. */
static void what_has_arrived_is_checked(const struct world *w)
{
    bouma_drain_report report = {.size = sizeof(report)};
    char near[300], far[300], manifest[200];

    leave_behind(w, 1);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    subfile_of(near, sizeof(near), w->local_copy, 0);
    subfile_of(far, sizeof(far), w->far, 0);
    snprintf(manifest, sizeof(manifest), "%s/steps/00000000/manifest", w->far);
    REQUIRE(!remove(manifest));
    flip_middle(near);
    flip_middle(far);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_EFORMAT);
    CHECK_EQ(report.failed, 1);
    CHECK_EQ(report.published, 0);
    CHECK(look(w, w->far, 0) < 0);
    flip_middle(near);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(report.published, 1);
    CHECK_EQ(report.files, 1);
    CHECK_EQ(look(w, w->far, 0), 1);
    CHECK_EQ(findings(w, w->far), 0);
    REQUIRE(!remove(manifest));
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(report.published, 1);
    CHECK_EQ(report.files + report.bytes, 0);
}

/* Only that one stays; also if its damage was forgotten there. The message
 * tells what is wrong. */
static void a_step_damaged_there_does_not_hold_up_others(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    bouma_repair_report repair = {.size = sizeof(repair)};
    bouma_drain_report report = {.size = sizeof(report)};
    char name[300], message[640];

    leave_behind(w, 4);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    for (int step = 1; step < 3; step++) {
        subfile_of(name, sizeof(name), w->far, step);
        flip_middle(name);
    }
    for (int forgotten = 0; forgotten < 2; forgotten++) {
        CHECK_EQ(bouma_drain(&report, w->local_copy, w->far, 1, &o, message,
                             sizeof(message)),
                 BOUMA_EFORMAT);
        CHECK_TEXT(message, "step 1 was not removed: ");
        CHECK_TEXT(message, "00000001/d.0000");
        CHECK_TEXT(message, "checksum");
        CHECK_EQ(report.failed, 2);
        CHECK_EQ(report.removed, forgotten ? 0 : 2);
        for (int step = 0; step < 4; step++)
            CHECK_EQ(look(w, w->local_copy, step), step % 3 ? 1 : -1);
        CHECK_EQ(bouma_repair(&repair, w->far, 1, &o, NULL, NULL, message,
                              sizeof(message)),
                 BOUMA_OK);
        CHECK_EQ(bouma_repair_forget(&repair, w->far, -1, 1, &o, NULL, NULL,
                                     message, sizeof(message)),
                 BOUMA_OK);
    }
    CHECK_EQ(findings(w, w->local_copy), 0);
}

/* What comes after the last epoch is not the first one. */
static void epochs_do_not_begin_anew(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    bouma_drain_report report = {.size = sizeof(report)};
    char name[300], message[640];

    leave_behind(w, 1);
    snprintf(name, sizeof(name), "%s/epochs/4294967294", w->local_copy);
    REQUIRE(!mkdir(name, 0777));
    o.force = 1;
    append_step(w->local_copy, &o, 1, 1);
    CHECK_EQ(drain(w, w->local_copy, 0, &report), BOUMA_OK);
    CHECK_EQ(report.published, 2);
    snprintf(name, sizeof(name), "%s/epochs/4294967295", w->far);
    CHECK(!access(name, F_OK));
    /* Nobody can claim the local copy any more. */
    CHECK_EQ(bouma_drain(&report, w->local_copy, w->far, 1, &o, message,
                         sizeof(message)),
             BOUMA_ELIMIT);
    CHECK_TEXT(message, "no epochs are left");
    CHECK_EQ(report.removed, 0);
    CHECK_EQ(look(w, w->local_copy, 0), 1);
    CHECK_EQ(look(w, w->local_copy, 1), 1);
}

static void append_is_refused(const struct world *w, const bouma_options *o,
                              const char *path)
{
    bouma_dataset *ds;

    CHECK_EQ(bouma_dataset_append(&ds, w->far, o), BOUMA_ELIMIT);
    CHECK_TEXT(bouma_error_message(ds), "no epochs are left");
    CHECK_TEXT(bouma_error_message(ds), "remove epochs/4294967295");
    CHECK_TEXT(bouma_error_message(ds), path);
    bouma_dataset_free(ds);
}

/* Nor is the last one claimed twice, here or there. */
static void nobody_comes_after_the_last_epoch(const struct world *w)
{
    const char *const paths[2] = {w->far, w->local_copy};
    bouma_options o = options_of(w, 1);
    struct writer writer;

    create(&writer, w);
    write_step(&writer, 0, 1);
    end(&writer);
    for (int i = 0; i < 2; i++) {
        char last[300], far[300];

        snprintf(last, sizeof(last), "%s/epochs/4294967295", paths[i]);
        snprintf(far, sizeof(far), "%s/epochs/4294967295", w->far);
        REQUIRE(!mkdir(last, 0777));
        append_is_refused(w, &o, paths[i]);
        REQUIRE(!rmdir(last));
        CHECK(access(far, F_OK)); /* no claim was left */
    }
    append(&writer, w->far, &o);
    write_step(&writer, 1, 1);
    end(&writer);
}

/* Without epochs/, the record of dropped steps still knows the last one. */
static void nothing_is_written_that_counts_as_dropped(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    char name[300];
    struct writer writer;

    create(&writer, w);
    write_step(&writer, 0, 1);
    end(&writer);
    snprintf(name, sizeof(name), "%s/epochs/4294967294", w->far);
    REQUIRE(!mkdir(name, 0777));
    append(&writer, w->far, &o);
    MUST(writer.ds, bouma_dataset_truncate(writer.ds, -1));
    end(&writer);
    snprintf(name, sizeof(name), "%s/epochs", w->far);
    REQUIRE(!remove_tree(name) && !mkdir(name, 0777));
    append_is_refused(w, &o, w->far);
}

/* Of two copies that were both cut, the one with more is read: here it lacks
 * nothing but its second head. */
static void the_longer_of_two_cut_copies_is_read(const struct world *w)
{
    bouma_options o = options_of(w, 0);
    char names[2][300];
    struct writer writer;
    struct stat st;

    create(&writer, w);
    write_step(&writer, 0, 1);
    write_step(&writer, 1, 1);
    end(&writer);
    for (int step = 0; step < 2; step++) {
        subfile_of(names[step], sizeof(names[step]), w->local_copy, step);
        subfile_of(names[!step], sizeof(names[!step]), w->far, step);
        REQUIRE(!stat(names[0], &st) && !truncate(names[0], st.st_size - 1));
        for (off_t bytes = st.st_size - 2; bytes > 0; bytes -= 16) {
            int generation = -1;
            bouma_dataset *ds;

            REQUIRE(!truncate(names[1], bytes));
            MUST(ds, bouma_dataset_open(&ds, w->far, &o));
            CHECK_EQ(scenario_read(ds, step, &generation), SCENARIO_EXACT);
            bouma_dataset_free(ds);
        }
    }
}

/* The thread may be at work when the trace is written: it ends before. */
static void the_trace_is_of_the_drain_too(const struct world *w)
{
    for (int closes = 0; closes < 2; closes++) {
        bouma_options o = options_of(w, 1);
        struct writer writer = {0};
        struct trace_lines t;
        size_t drained = 0;
        char trace[512];

        snprintf(trace, sizeof(trace), "%s/trace%d.json", w->dir, closes);
        o.trace = trace;
        o.clobber = 1;
        MUST(writer.ds, bouma_dataset_create(&writer.ds, w->far, &o));
        for (int64_t step = 0; step < 4; step++)
            write_step(&writer, step, 0);
        if (closes)
            end(&writer);
        else
            bouma_dataset_free(writer.ds);
        CHECK(trace_load(&t, o.trace));
        for (size_t i = 0; i < t.count; i++)
            drained += t.events[i].track > 0 &&
                       !strcmp(t.events[i].kind, "file") &&
                       !strncmp(t.events[i].file, "steps/", 6);
        CHECK(!closes || drained > 0);
        CHECK_EQ(trace_crossed(&t), 0);
        trace_drop(&t);
    }
}

typedef void claim(const struct world *w);

static void try_claim(claim *c, int in_memory)
{
    struct world w;

    world_make(&w, in_memory);
    c(&w);
    world_end(&w);
}

int main(void)
{
    static claim *const both[] = {
        steps_are_in_both_stores,
        what_is_near_is_read_there,
        a_step_that_is_replaced_is_replaced_in_both,
        writers_with_and_without_go_on,
        wrong_options_are_refused,
        a_local_copy_of_another_is_not_touched,
        the_dataset_is_not_its_own_local_copy,
        what_was_left_behind_is_drained,
        writing_goes_on_after_a_drain,
        a_newer_step_replaces_an_older,
        an_older_step_is_kept,
        neither_of_two_writings_is_dropped,
        another_dataset_is_not_drained_to,
        what_is_safe_can_be_removed,
    };
    static claim *const files[] = {
        a_failure_is_told_and_tried_again,
        what_was_not_drained_is_noted,
        damage_does_not_get_through,
        freeing_leaves_the_local_copy_whole,
        who_writes_is_not_disturbed,
        a_foreign_directory_is_left_alone,
        each_node_brings_its_files,
        a_loss_is_known_there_too,
        a_loss_after_the_drain_does_no_harm,
        a_lost_file_is_not_waited_for,
        a_damaged_chunk_is_not_a_lost_step,
        a_drain_leaves_one_claim,
        a_damaged_step_does_not_hold_up_others,
        what_is_refused_leaves_nothing,
        what_is_damaged_there_stays_here,
        what_has_arrived_is_checked,
        a_step_damaged_there_does_not_hold_up_others,
        epochs_do_not_begin_anew,
        nobody_comes_after_the_last_epoch,
        nothing_is_written_that_counts_as_dropped,
        the_longer_of_two_cut_copies_is_read,
        the_trace_is_of_the_drain_too,
    };

    for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++)
        for (int in_memory = 0; in_memory < 2; in_memory++)
            try_claim(both[i], in_memory);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        try_claim(files[i], 0);
    return check_result();
}
