/* list_test.c -- the list of steps tells the time of the version that is there.
 *
 * It comes from the index, which is a cache, and the steps from the manifests:
 * after a power loss one of them may be newer than the other. Explore meets
 * such states by chance; here they are made on purpose. */
#include <stdio.h>

#include "check.h"
#include "scenario.h"
#include "store/index.h"
#include "weak_fs.h"

#define PATH     "d.bouma"
#define MANIFEST "steps/00000000/manifest"

static bouma_options options_of(struct weak_fs *fs, bouma_durability durability)
{
    bouma_options o;

    scenario_options(&o, weak_fs_io(fs), NULL);
    o.durability = durability;
    o.replace = 1;
    return o;
}

/* What the list says of step 0, and what the step says; -1 if it does not. */
struct times {
    double listed, stated, listed_after;
};

static double listed_time(bouma_dataset *ds)
{
    bouma_step_info info = {.size = sizeof(info)};

    if (bouma_dataset_step_count(ds) < 1 ||
        bouma_dataset_step_get(&info, ds, 0) || info.step != 0)
        return -1;
    return info.time;
}

static struct times look(struct weak_fs *fs)
{
    bouma_options o = options_of(fs, BOUMA_DURABILITY_DURABLE);
    struct times t = {-1, -1, -1};
    bouma_step_details details = {.size = sizeof(details)};
    bouma_step *step = NULL;
    bouma_dataset *ds;

    REQUIRE(!bouma_dataset_open(&ds, PATH, &o));
    t.listed = listed_time(ds);
    if (!bouma_step_open(&step, ds, 0) &&
        !bouma_step_details_get(&details, step))
        t.stated = details.time;
    bouma_step_free(step);
    t.listed_after = listed_time(ds);
    bouma_dataset_free(ds);
    return t;
}

#define CHECK_VERSION(fs, version)                                             \
    do {                                                                       \
        struct times found = look(fs);                                         \
        CHECK(found.stated == scenario_time(0, version));                      \
        CHECK(found.listed == found.stated);                                   \
    } while (0)

/* Write the given version of step 0 with a handle of its own. */
static void write_version(struct weak_fs *fs, bouma_durability durability,
                          int version)
{
    bouma_options o = options_of(fs, durability);
    struct scenario_writer writer = {0};
    bouma_dataset *ds;

    REQUIRE(!bouma_dataset_append(&ds, PATH, &o));
    CHECK_EQ(scenario_write(ds, &writer, 0, version, 0, 1), BOUMA_OK);
    if (durability != BOUMA_DURABILITY_GROUP) /* else it is left as it is */
        CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

/* The kernel writes the index back on its own account. */
static void sync_index(struct weak_fs *fs)
{
    const bouma_io *io = weak_fs_io(fs);
    void *root, *file;

    REQUIRE(!io->attach(io->user, &root, PATH, 0));
    REQUIRE(!io->open(io->user, root, &file, "index", BOUMA_OPEN_MODE_APPEND));
    REQUIRE(!io->sync(io->user, file));
    REQUIRE(!io->close(io->user, file));
    REQUIRE(!io->sync_dir(io->user, root, ""));
    io->detach(io->user, root);
}

/* A file, or a directory, is lost for good. */
static void lose(struct weak_fs *fs, const char *name, const char *dir)
{
    const bouma_io *io = weak_fs_io(fs);
    void *root;

    REQUIRE(!io->attach(io->user, &root, PATH, 0));
    REQUIRE(!io->remove(io->user, root, name) ||
            !io->remove_dir(io->user, root, name));
    REQUIRE(!io->sync_dir(io->user, root, dir));
    io->detach(io->user, root);
}

/* A dataset with version 0 of step 0, all of it durable, the index too. */
static struct weak_fs *prepared(void)
{
    struct weak_fs *fs = weak_fs_new(1);
    bouma_options o = options_of(fs, BOUMA_DURABILITY_DURABLE);
    bouma_dataset *ds;

    REQUIRE(!bouma_dataset_create(&ds, PATH, &o));
    REQUIRE(!bouma_dataset_close(ds));
    bouma_dataset_free(ds);
    write_version(fs, BOUMA_DURABILITY_DURABLE, 0);
    sync_index(fs);
    CHECK_VERSION(fs, 0);
    return fs;
}

/* ---- claims ------------------------------------------------------------- */

/* A step that replaces another is synced, and known to the index. */
static void a_fast_replacement_is_durable(void)
{
    struct weak_fs *fs = prepared();

    write_version(fs, BOUMA_DURABILITY_FAST, 1);
    CHECK_VERSION(fs, 1);
    weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
    CHECK_VERSION(fs, 1);
    weak_fs_free(fs);
}

/* The manifest was lost, and the index still knows it when repair publishes
 * another. */
static void the_index_is_not_behind_a_repair(void)
{
    struct weak_fs *fs = prepared();
    bouma_options o = options_of(fs, BOUMA_DURABILITY_DURABLE);
    bouma_repair_report report = {.size = sizeof(report)};

    write_version(fs, BOUMA_DURABILITY_GROUP, 1);
    CHECK_VERSION(fs, 0);
    lose(fs, MANIFEST, "steps/00000000");
    CHECK_EQ(bouma_repair(&report, PATH, 1, &o, NULL, NULL, NULL, 0), BOUMA_OK);
    CHECK_VERSION(fs, 1);
    weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
    CHECK_VERSION(fs, 1);
    weak_fs_free(fs);
}

/* The index was written anew without a step that is lost, and its writer killed
 * at any call: the old index must not come back when the step is written. */
static void an_old_index_does_not_come_back(void)
{
    struct weak_fs *base = prepared();
    int died = 1;

    lose(base, MANIFEST, "steps/00000000");
    for (int i = 0; i < 3; i++) {
        char name[64];

        snprintf(name, sizeof(name), "steps/00000000/d.000%d.e2a1", i);
        lose(base, name, "steps/00000000");
    }
    lose(base, "steps/00000000", "steps");
    for (long at = 1; died; at++) {
        struct weak_fs *fs = weak_fs_clone(base, 1);
        bouma_options o = options_of(fs, BOUMA_DURABILITY_DURABLE);
        bouma_dataset *ds = NULL;

        weak_fs_die_at(fs, at);
        bouma_dataset_append(&ds, PATH, &o);
        died = weak_fs_is_dead(fs);
        bouma_dataset_free(ds);
        weak_fs_crash(fs, WEAK_CRASH_KILLED);
        write_version(fs, BOUMA_DURABILITY_DURABLE, 1);
        weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
        CHECK_VERSION(fs, 1);
        weak_fs_free(fs);
    }
    weak_fs_free(base);
}

/* An append to the index stopped half way, as on a full disk. */
static void a_part_of_a_record_does_not_hide_the_next(void)
{
    for (size_t part = 1; part <= BM_INDEX_RECORD; part++) {
        struct weak_fs *fs = prepared();
        const bouma_io *io = weak_fs_io(fs);
        bouma_options o = options_of(fs, BOUMA_DURABILITY_DURABLE);
        struct scenario_writer writer = {0};
        static const char zeros[BM_INDEX_RECORD];
        void *root, *file;
        bouma_dataset *ds;
        size_t done;

        REQUIRE(!bouma_dataset_append(&ds, PATH, &o));
        REQUIRE(!io->attach(io->user, &root, PATH, 0));
        REQUIRE(
            !io->open(io->user, root, &file, "index", BOUMA_OPEN_MODE_APPEND));
        REQUIRE(!io->write(io->user, file, zeros, part, 0, &done));
        REQUIRE(!io->close(io->user, file));
        io->detach(io->user, root);
        CHECK_EQ(scenario_write(ds, &writer, 0, 1, 0, 1), BOUMA_OK);
        CHECK_VERSION(fs, 1);
        weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
        CHECK_VERSION(fs, 1);
        bouma_dataset_free(ds);
        weak_fs_free(fs);
    }
}

/* An index that is wrong all the same: who opens the step is told the truth,
 * verify tells, repair mends. */
static void a_wrong_index_is_found_out(void)
{
    struct weak_fs *fs = prepared();
    bouma_options o = options_of(fs, BOUMA_DURABILITY_DURABLE);
    struct bm_step_entry wrong = {0, 7.5, {2, 9}};
    struct bm_error error = {0};
    bouma_repair_report repaired = {.size = sizeof(repaired)};
    bouma_verify_report verified = {.size = sizeof(verified)};
    struct bm_store s;
    struct times t;

    REQUIRE(!bm_store_open(&s, o.io, bm_allocator_default(), PATH, 0, &error));
    bm_index_append(&s, o.id, &wrong);
    bm_store_close(&s);
    t = look(fs);
    CHECK(t.listed == 7.5); /* as no manifest is opened for the list */
    CHECK(t.stated == scenario_time(0, 0));
    CHECK(t.listed_after == t.stated);
    CHECK_EQ(bouma_verify(&verified, PATH, BOUMA_DEPTH_QUICK, &o, NULL, NULL,
                          NULL, 0),
             BOUMA_OK);
    CHECK_EQ(verified.notes, 1);
    CHECK_EQ(verified.damages, 0);
    for (int apply = 0; apply < 2; apply++) {
        CHECK_EQ(bouma_repair(&repaired, PATH, apply, &o, NULL, NULL, NULL, 0),
                 BOUMA_OK);
        CHECK_EQ(repaired.actions, 1);
    }
    CHECK_VERSION(fs, 0);
    CHECK_EQ(bouma_repair(&repaired, PATH, 0, &o, NULL, NULL, NULL, 0),
             BOUMA_OK);
    CHECK_EQ(repaired.actions, 0);
    weak_fs_free(fs);
}

int main(void)
{
    a_fast_replacement_is_durable();
    the_index_is_not_behind_a_repair();
    an_old_index_does_not_come_back();
    a_part_of_a_record_does_not_hide_the_next();
    a_wrong_index_is_found_out();
    return check_result();
}
