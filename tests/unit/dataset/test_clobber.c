/* The option 'clobber': a dataset makes way for a new one, and nothing but a
 * dataset does; wherever it is interrupted, there is the old one or none. */
#include <errno.h>

#include "api/api.h"
#include "bouma.h"
#include "fault_io.h"
#include "must.h"
#include "scenario.h"

static bouma_io *memory;

static bouma_options options_for(const bouma_io *io, unsigned char id)
{
    bouma_options o;

    scenario_options(&o, io, NULL);
    o.id[0] = id;
    o.replace = 1;
    return o;
}

static void close_dataset(bouma_dataset *ds)
{
    MUST(ds, bouma_dataset_close(ds));
    bouma_dataset_free(ds);
}

/* A dataset with some steps, of which each was written once. */
static void make_old(const char *path, int steps)
{
    bouma_options o = options_for(memory, 1);
    struct scenario_writer writer = {0};
    bouma_dataset *ds;

    MUST(ds, bouma_dataset_create(&ds, path, &o));
    for (int i = 0; i < steps; i++)
        MUST(ds, scenario_write(ds, &writer, i, 0, 0, 1));
    close_dataset(ds);
}

/* Start anew and write one step. */
static int start_anew(const char *path, const bouma_io *io, int clobber)
{
    bouma_options o = options_for(io, 2);
    struct scenario_writer writer = {0};
    bouma_dataset *ds;
    int rc;

    o.clobber = clobber;
    rc = bouma_dataset_create(&ds, path, &o);
    if (!rc)
        rc = scenario_write(ds, &writer, 7, 3, 0, 1);
    if (!rc)
        rc = bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    return rc;
}

/* Steps of the dataset with that id, all of them right and without any finding;
 * -1: it cannot be opened. */
static int64_t steps_of(const char *path, unsigned char *id)
{
    bouma_options o = options_for(memory, 0);
    bouma_verify_report report = {.size = sizeof(report)};
    bouma_dataset_info info = {.size = sizeof(info)};
    bouma_dataset *ds;
    char message[640];
    int64_t count = -1;

    if (!bouma_dataset_open(&ds, path, &o)) {
        count = bouma_dataset_step_count(ds);
        bouma_dataset_info_get(&info, ds);
        *id = info.id[0];
        CHECK_EQ(bouma_verify(&report, path, BOUMA_DEPTH_DEEP, &o, NULL, NULL,
                              message, sizeof(message)),
                 BOUMA_OK);
        CHECK_EQ(report.damages, 0);
    }
    bouma_dataset_free(ds);
    return count;
}

static void a_dataset_makes_way(void)
{
    unsigned char id = 0;

    make_old("way", 3);
    CHECK_EQ(start_anew("way", memory, 0), BOUMA_EEXISTS);
    CHECK_EQ(steps_of("way", &id), 3);
    CHECK_EQ(id, 1);
    CHECK_EQ(start_anew("way", memory, 1), BOUMA_OK);
    CHECK_EQ(steps_of("way", &id), 1);
    CHECK_EQ(id, 2);
    CHECK_EQ(start_anew("way", memory, 1), BOUMA_OK);
    CHECK_EQ(steps_of("way", &id), 1);
    CHECK_EQ(start_anew("nothing there", memory, 1), BOUMA_OK);
    CHECK_EQ(steps_of("nothing there", &id), 1);
}

static void put_file(const char *path, const char *name)
{
    void *root, *file;
    size_t done;

    if (memory->attach(memory->user, &root, path, 0))
        REQUIRE(!memory->attach(memory->user, &root, path, 1));
    if (!strncmp(name, "lost/", 5))
        memory->make_dir(memory->user, root, "lost");
    REQUIRE(
        !memory->open(memory->user, root, &file, name, BOUMA_OPEN_MODE_CREATE));
    REQUIRE(!memory->write(memory->user, file, "mine", 4, 0, &done));
    REQUIRE(!memory->close(memory->user, file));
    memory->detach(memory->user, root);
}

static int has_file(const char *path, const char *name)
{
    void *root, *file;
    int code;

    REQUIRE(!memory->attach(memory->user, &root, path, 0));
    code = memory->open(memory->user, root, &file, name, BOUMA_OPEN_MODE_READ);
    if (!code)
        memory->close(memory->user, file);
    memory->detach(memory->user, root);
    return !code;
}

static void other_files_are_never_removed(void)
{
    unsigned char id = 0;

    put_file("photos", "one.png");
    CHECK_EQ(start_anew("photos", memory, 1), BOUMA_EEXISTS);
    CHECK(has_file("photos", "one.png"));
    put_file("pretended", "DATASET");
    CHECK_EQ(start_anew("pretended", memory, 1), BOUMA_EEXISTS);
    CHECK(has_file("pretended", "DATASET"));
    /* Between the files of a dataset. */
    make_old("mixed", 2);
    put_file("mixed", "steps/00000001/notes");
    CHECK_EQ(start_anew("mixed", memory, 1), BOUMA_EEXISTS);
    CHECK_EQ(steps_of("mixed", &id), 2);
    CHECK(has_file("mixed", "steps/00000001/notes"));
    /* Beside them. */
    make_old("beside", 2);
    put_file("beside", "README");
    CHECK_EQ(start_anew("beside", memory, 1), BOUMA_OK);
    CHECK(has_file("beside", "README"));
    CHECK_EQ(steps_of("beside", &id), 1);
}

/* Losses are those of the old dataset; in lost/, too, others' files stay. */
static void losses_go_with_it(void)
{
    unsigned char id = 0;

    make_old("lossy", 2);
    put_file("lossy", "lost/00000005.loss");
    put_file("lossy", "lost/00000006.loss.tmp");
    put_file("lossy", "lost/steps.00000001.d.0000.e1a1.0");
    put_file("lossy", "lost/DATASET.0");
    put_file("lossy", "lost/thesis.txt");
    CHECK_EQ(start_anew("lossy", memory, 1), BOUMA_OK);
    CHECK_EQ(steps_of("lossy", &id), 1);
    CHECK_EQ(id, 2);
    CHECK(!has_file("lossy", "lost/00000005.loss"));
    CHECK(!has_file("lossy", "lost/00000006.loss.tmp"));
    CHECK(!has_file("lossy", "lost/steps.00000001.d.0000.e1a1.0"));
    CHECK(!has_file("lossy", "lost/DATASET.0"));
    CHECK(has_file("lossy", "lost/thesis.txt"));
}

static const char *locked; /* names that begin so cannot be removed */
static int attempts;

static int remove_unlocked(void *user, void *root, const char *name)
{
    if (strncmp(name, locked, strlen(locked)))
        return memory->remove(user, root, name);
    REQUIRE(++attempts < 1000);
    return EACCES;
}

/* A record that stays would be one of the new dataset. */
static void records_that_cannot_be_removed_are_told(void)
{
    bouma_io sick = *memory;
    bouma_options o;
    unsigned char id = 0;
    bouma_dataset *ds;

    sick.remove = remove_unlocked;
    locked = "lost/";
    o = options_for(&sick, 2);
    o.clobber = 1;
    make_old("locked", 2);
    put_file("locked", "lost/00000005.loss");
    CHECK_EQ(bouma_dataset_create(&ds, "locked", &o), BOUMA_EIO);
    CHECK_TEXT(bouma_error_message(ds), "lost/00000005.loss");
    bouma_dataset_free(ds);
    CHECK_EQ(start_anew("locked", memory, 1), BOUMA_OK);
    CHECK(!has_file("locked", "lost/00000005.loss"));
    CHECK_EQ(steps_of("locked", &id), 1);
    CHECK_EQ(id, 2);
}

/* Also where ranks wait for so short a time that each attempt takes longer. */
static void files_that_cannot_be_removed_are_not_tried_for_ever(void)
{
    struct scenario_writer writer = {0};
    bouma_io sick = *memory;
    bouma_options o;
    unsigned char id = 0;
    bouma_dataset *ds;

    sick.remove = remove_unlocked;
    locked = "steps/00000001/d.";
    attempts = 0;
    o = options_for(&sick, 1);
    o.timeout = 1e-9;
    MUST(ds, bouma_dataset_create(&ds, "stuck", &o));
    for (int i = 0; i < 3; i++)
        MUST(ds, scenario_write(ds, &writer, i, 0, 0, 1));
    MUST(ds, bouma_dataset_truncate(ds, 0));
    CHECK_TEXT(bouma_dataset_note(ds, 0), "could not be removed");
    CHECK(attempts > 0);
    close_dataset(ds);
    attempts = 0;
    o.clobber = 1;
    CHECK_EQ(bouma_dataset_create(&ds, "stuck", &o), BOUMA_EIO);
    CHECK_TEXT(bouma_error_message(ds), "steps/00000001/d.");
    bouma_dataset_free(ds);
    CHECK(attempts > 0);
    CHECK_EQ(start_anew("stuck", memory, 1), BOUMA_OK);
    CHECK_EQ(steps_of("stuck", &id), 1);
}

static int others_turn;

/* Another program is quicker: it writes a step, and ends. */
static int make_dir_late(void *user, void *root, const char *name)
{
    bouma_options o = options_for(memory, 0);
    struct scenario_writer writer = {0};
    bouma_dataset *ds;

    if (others_turn && !strncmp(name, "epochs/", 7)) {
        others_turn = 0;
        MUST(ds, bouma_dataset_append(&ds, "quick", &o));
        MUST(ds, scenario_write(ds, &writer, 5, 0, 0, 1));
        close_dataset(ds);
    }
    return memory->make_dir(user, root, name);
}

static void a_step_that_is_committed_just_before_goes_too(void)
{
    bouma_io late = *memory;
    unsigned char id = 0;

    late.make_dir = make_dir_late;
    make_old("quick", 2);
    others_turn = 1;
    CHECK_EQ(start_anew("quick", &late, 1), BOUMA_OK);
    CHECK_EQ(others_turn, 0);
    CHECK_EQ(steps_of("quick", &id), 1);
    CHECK_EQ(id, 2);
    CHECK(!has_file("quick", "steps/00000005/manifest"));
}

/* The other way round: who opens to append, and is slower, appends to what is
 * there then. */
static int make_dir_later(void *user, void *root, const char *name)
{
    if (others_turn && !strncmp(name, "epochs/", 7)) {
        others_turn = 0;
        CHECK_EQ(start_anew("slow", memory, 1), BOUMA_OK);
    }
    return memory->make_dir(user, root, name);
}

static void who_appends_finds_the_new_dataset(void)
{
    struct scenario_writer writer = {0};
    bouma_io late = *memory;
    bouma_options o;
    unsigned char id = 0;
    bouma_dataset *ds;

    late.make_dir = make_dir_later;
    o = options_for(&late, 0);
    make_old("slow", 2);
    others_turn = 1;
    MUST(ds, bouma_dataset_append(&ds, "slow", &o));
    CHECK_EQ(bouma_dataset_step_count(ds), 1);
    MUST(ds, scenario_write(ds, &writer, 9, 0, 0, 1));
    close_dataset(ds);
    CHECK_EQ(steps_of("slow", &id), 2);
    CHECK_EQ(id, 2);
}

static int always_alive(void *user, const char *text)
{
    (void)user;
    (void)text;
    return 1;
}

static void one_at_work_is_not_disturbed(void)
{
    struct scenario_writer writer = {0};
    bouma_io alive = *memory;
    bouma_options o, anew;
    bouma_dataset *ds, *other;
    unsigned char id = 0;

    alive.alive = always_alive;
    o = options_for(&alive, 1);
    anew = options_for(&alive, 2);
    anew.clobber = 1;
    MUST(ds, bouma_dataset_create(&ds, "busy", &o));
    MUST(ds, scenario_write(ds, &writer, 0, 0, 0, 1));
    CHECK_EQ(bouma_dataset_create(&other, "busy", &anew), BOUMA_EBUSY);
    bouma_dataset_free(other);
    MUST(ds, scenario_write(ds, &writer, 1, 0, 0, 1));
    CHECK_EQ(steps_of("busy", &id), 2);
    /* By force; and the old writer then mixes nothing into the new one. */
    anew.force = 1;
    MUST(other, bouma_dataset_create(&other, "busy", &anew));
    CHECK_EQ(scenario_write(ds, &writer, 2, 0, 0, 1), BOUMA_EBUSY);
    MUST(other, bouma_dataset_close(other));
    bouma_dataset_free(other);
    bouma_dataset_free(ds);
    CHECK_EQ(steps_of("busy", &id), 0);
    CHECK_EQ(id, 2);
}

/* A storage of its own for each of many datasets, as it takes longer the more
 * there is in it. */
static void restore(bouma_io *outer)
{
    if (memory != outer)
        bouma_io_memory_free(memory);
    memory = outer;
}

static void renew(bouma_io *outer)
{
    restore(outer);
    memory = bouma_io_memory_new();
    REQUIRE(memory);
}

/* Each call of the table fails in turn, and all after it: as if the program was
 * killed there. */
static void what_is_interrupted_can_be_done_again(int beside)
{
    bouma_io *outer = memory;
    int fired = 1;

    for (long at = 1; fired; at++) {
        struct fault fault = {"killed", FAULT_ERROR, EIO};
        struct fault_io io;
        unsigned char id = 0;
        char path[32];
        int64_t count;
        int rc;

        snprintf(path, sizeof(path), "killed%d.%ld", beside, at);
        renew(outer);
        make_old(path, 2);
        if (beside)
            put_file(path, "README");
        fault_io_init(&io, memory);
        fault_io_arm(&io, &fault, at, 1);
        rc = start_anew(path, &io.table, 1);
        fired = rc != BOUMA_OK;
        count = steps_of(path, &id);
        if (count >= 0 && id == 1)
            CHECK_EQ(count, 2);
        else if (count >= 0)
            CHECK(count <= 1 && (fired || count == 1));
        CHECK_EQ(start_anew(path, memory, 1), BOUMA_OK);
        CHECK_EQ(steps_of(path, &id), 1);
        CHECK_EQ(id, 2);
        CHECK(!has_file(path, "DATASET.tmp.clobbered"));
        CHECK_EQ(has_file(path, "README"), beside);
        REQUIRE(at < 1000);
    }
    restore(outer);
}

static void local_copies_make_way_too(void)
{
    bouma_options o = options_for(memory, 1);
    struct scenario_writer writer = {0};
    unsigned char id = 0;
    bouma_dataset *ds;

    o.persist = 1;
    o.local = "near";
    MUST(ds, bouma_dataset_create(&ds, "far/t", &o));
    for (int i = 0; i < 3; i++)
        MUST(ds, scenario_write(ds, &writer, i, 0, 0, 1));
    close_dataset(ds);
    o.id[0] = 2;
    CHECK_EQ(bouma_dataset_create(&ds, "far/t", &o), BOUMA_EEXISTS);
    bouma_dataset_free(ds);
    o.clobber = 1;
    memset(&writer, 0, sizeof(writer));
    MUST(ds, bouma_dataset_create(&ds, "far/t", &o));
    MUST(ds, scenario_write(ds, &writer, 1, 1, 0, 1));
    close_dataset(ds);
    CHECK_EQ(steps_of("near/t", &id), 1);
    CHECK_EQ(id, 2);
    CHECK_EQ(steps_of("far/t", &id), 1);
    CHECK_EQ(id, 2);
}

/* What is in the directory 'local' under the same name, and is no copy of the
 * dataset, stays. */
static void what_is_no_local_copy_stays(void)
{
    bouma_options o = options_for(memory, 1);
    struct scenario_writer writer = {0};
    unsigned char id = 0;
    bouma_dataset *ds;

    MUST(ds, bouma_dataset_create(&ds, "near/alien", &o));
    MUST(ds, scenario_write(ds, &writer, 0, 0, 0, 1));
    close_dataset(ds);
    o.id[0] = 2;
    o.persist = o.clobber = 1;
    o.local = "near";
    /* There is no such dataset, */
    CHECK_EQ(bouma_dataset_create(&ds, "far/alien", &o), BOUMA_EEXISTS);
    CHECK_TEXT(bouma_error_message(ds), "a dataset that is not there");
    bouma_dataset_free(ds);
    /* or it is another one. */
    o.persist = 0;
    memset(&writer, 0, sizeof(writer));
    MUST(ds, bouma_dataset_create(&ds, "far/alien", &o));
    MUST(ds, scenario_write(ds, &writer, 0, 0, 0, 1));
    close_dataset(ds);
    o.persist = 1;
    CHECK_EQ(bouma_dataset_create(&ds, "far/alien", &o), BOUMA_EEXISTS);
    CHECK_TEXT(bouma_error_message(ds), "of another dataset");
    bouma_dataset_free(ds);
    CHECK_EQ(steps_of("near/alien", &id), 1);
    CHECK_EQ(id, 1);
    CHECK_EQ(steps_of("far/alien", &id), 1);
    CHECK_EQ(id, 2);
}

/* A dataset "far/NAME" with a local copy "near/NAME", of three steps each. */
static void make_pair(const char *name)
{
    bouma_options o = options_for(memory, 1);
    struct scenario_writer writer = {0};
    bouma_dataset *ds;
    char path[64];

    o.persist = 1;
    o.local = "near";
    snprintf(path, sizeof(path), "far/%s", name);
    MUST(ds, bouma_dataset_create(&ds, path, &o));
    for (int i = 0; i < 3; i++)
        MUST(ds, scenario_write(ds, &writer, i, 0, 0, 1));
    close_dataset(ds);
}

static int clobber_pair(const char *name, const bouma_io *io, const char *local)
{
    bouma_options o = options_for(io, 2);
    bouma_dataset *ds;
    char path[64];
    int rc;

    o.persist = o.clobber = 1;
    o.local = local;
    snprintf(path, sizeof(path), "far/%s", name);
    rc = bouma_dataset_create(&ds, path, &o);
    CHECK(!rc || bouma_error_message(ds)[0]);
    bouma_dataset_free(ds);
    return rc;
}

static int attach_no_far(void *user, void **root, const char *path, int create)
{
    return strncmp(path, "far/", 4) == 0
               ? EIO
               : memory->attach(user, root, path, create);
}

/* Whatever keeps one store from making way keeps all of them. */
static void all_stores_make_way_or_none(void)
{
    bouma_io sick = *memory;
    unsigned char id = 0;

    make_pair("a");
    sick.attach = attach_no_far;
    CHECK_EQ(clobber_pair("a", &sick, "near"), BOUMA_EIO);
    CHECK_EQ(steps_of("near/a", &id), 3);
    put_file("far/a", "steps/00000001/notes");
    CHECK_EQ(clobber_pair("a", memory, "near"), BOUMA_EEXISTS);
    CHECK_EQ(steps_of("near/a", &id), 3);
    CHECK_EQ(steps_of("far/a", &id), 3);
    make_pair("b");
    put_file("near/b", "steps/00000001/notes");
    CHECK_EQ(clobber_pair("b", memory, "near"), BOUMA_EEXISTS);
    CHECK_EQ(steps_of("near/b", &id), 3);
    CHECK_EQ(steps_of("far/b", &id), 3);
    /* A local copy that is the dataset itself. */
    CHECK_EQ(clobber_pair("b", memory, "far"), BOUMA_EINVAL);
    CHECK_EQ(steps_of("far/b", &id), 3);
    CHECK_EQ(id, 1);
}

/* Killed anywhere, with a file of its own in the local copy. The old dataset,
 * as long as it is whole, can be appended to when its local copy is gone. */
static void pairs_are_interrupted_and_done_again(void)
{
    bouma_io *outer = memory;
    int appended = 0, fired = 1;

    for (long at = 1; fired; at++) {
        struct fault fault = {"killed", FAULT_ERROR, EIO};
        struct fault_io io;
        unsigned char id = 0;
        char name[32], far[64], near[64];
        bouma_options o;
        bouma_dataset *ds;

        snprintf(name, sizeof(name), "k%ld", at);
        snprintf(far, sizeof(far), "far/%s", name);
        snprintf(near, sizeof(near), "near/%s", name);
        renew(outer);
        make_pair(name);
        put_file(near, "README");
        fault_io_init(&io, memory);
        fault_io_arm(&io, &fault, at, 1);
        fired = clobber_pair(name, &io.table, "near") != BOUMA_OK;
        if (steps_of(far, &id) == 3 && id == 1 && !has_file(near, "DATASET") &&
            !has_file(near, "index")) {
            o = options_for(memory, 0);
            o.persist = 1;
            o.local = "near";
            MUST(ds, bouma_dataset_append(&ds, far, &o));
            CHECK_EQ(bouma_dataset_step_count(ds), 3);
            close_dataset(ds);
            CHECK(!has_file(near, "DATASET.tmp.clobbered"));
            appended++;
        }
        CHECK_EQ(clobber_pair(name, memory, "near"), BOUMA_OK);
        CHECK_EQ(steps_of(far, &id), 0);
        CHECK_EQ(id, 2);
        CHECK_EQ(steps_of(near, &id), 0);
        CHECK_EQ(id, 2);
        CHECK(has_file(near, "README"));
        CHECK(!has_file(near, "DATASET.tmp.clobbered"));
        REQUIRE(at < 1000);
    }
    restore(outer);
    CHECK(appended > 0);
}

static int remove_entry(void *context, const char *entry)
{
    const char *const *where = context;
    char name[128];
    void *root;

    snprintf(name, sizeof(name), "%s%s", where[1], entry);
    if (entry[0] == '.')
        return 0;
    REQUIRE(!memory->attach(memory->user, &root, where[0], 0));
    memory->remove(memory->user, root, name);
    memory->detach(memory->user, root);
    return 0;
}

/* Remove all files in a directory but those with a dot. */
static void empty(const char *path, const char *dir)
{
    const char *where[2] = {path, dir};
    char name[64];
    void *root;

    snprintf(name, sizeof(name), "%.*s", (int)strlen(dir) - !!*dir, dir);
    REQUIRE(!memory->attach(memory->user, &root, path, 0));
    REQUIRE(
        !memory->list(memory->user, root, name, remove_entry, (void *)where));
    memory->detach(memory->user, root);
}

/* Files that are removed while they are open stay for a while, on NFS, under
 * another name; and so do their directories. */
static void files_that_are_still_open_do_no_harm(void)
{
    bouma_options o = options_for(memory, 2);
    struct scenario_writer writer = {0};
    unsigned char id = 0;
    bouma_dataset *ds;

    make_old("nfs", 3);
    put_file("nfs", "steps/00000001/.nfs000000000001");
    put_file("nfs", ".nfs000000000002");
    o.clobber = 1;
    MUST(ds, bouma_dataset_create(&ds, "nfs", &o));
    CHECK_TEXT(bouma_dataset_note(ds, 0), "still open");
    CHECK_TEXT(bouma_dataset_note(ds, 0), "steps/00000001");
    for (int i = 0; i < 3; i++)
        MUST(ds, scenario_write(ds, &writer, i, 0, 0, 1));
    put_file("nfs", "steps/00000002/.nfs000000000003");
    MUST(ds, bouma_dataset_truncate(ds, 0));
    CHECK_EQ(bouma_dataset_step_count(ds), 1);
    CHECK_TEXT(bouma_dataset_note(ds, 1), "2 directories");
    for (int i = 1; i < 3; i++)
        MUST(ds, scenario_write(ds, &writer, i, 0, 0, 1));
    close_dataset(ds);
    CHECK_EQ(steps_of("nfs", &id), 3);
    CHECK_EQ(id, 2);
    /* A removal that ended just before the new dataset was made. */
    make_old("ended", 2);
    put_file("ended", "steps/00000001/.nfs000000000001");
    empty("ended", "steps/00000000/");
    empty("ended", "steps/00000001/");
    empty("ended", "");
    CHECK_EQ(start_anew("ended", memory, 0), BOUMA_OK);
    CHECK_EQ(steps_of("ended", &id), 1);
}

static void remove_dir_in(const char *path, const char *dir)
{
    void *root;

    REQUIRE(!memory->attach(memory->user, &root, path, 0));
    REQUIRE(!memory->remove_dir(memory->user, root, dir));
    memory->detach(memory->user, root);
}

/* What only a repair could mend is no reason to keep it. */
static void damaged_datasets_make_way(void)
{
    static const char much[5000];
    unsigned char id = 0;
    void *root, *file;
    size_t done;

    make_old("stepless", 0);
    remove_dir_in("stepless", "steps");
    CHECK_EQ(start_anew("stepless", memory, 1), BOUMA_OK);
    CHECK_EQ(steps_of("stepless", &id), 1);
    make_old("timeless", 2);
    empty("timeless", "epochs/000001/");
    remove_dir_in("timeless", "epochs/000001");
    remove_dir_in("timeless", "epochs");
    CHECK_EQ(start_anew("timeless", memory, 1), BOUMA_OK);
    CHECK_EQ(steps_of("timeless", &id), 1);
    CHECK_EQ(id, 2);
    /* One that still writes, perhaps, does not get in. */
    CHECK(has_file("timeless", "epochs/001001/closed"));
    /* Too long to be one of a dataset. */
    make_old("long", 1);
    empty("long", "");
    REQUIRE(!memory->attach(memory->user, &root, "long", 0));
    REQUIRE(!memory->open(memory->user, root, &file, "DATASET",
                          BOUMA_OPEN_MODE_CREATE));
    REQUIRE(!memory->write(memory->user, file, much, sizeof(much), 0, &done));
    REQUIRE(!memory->close(memory->user, file));
    memory->detach(memory->user, root);
    CHECK_EQ(start_anew("long", memory, 1), BOUMA_EEXISTS);
}

static void rename_in(const char *path, const char *from, const char *to)
{
    void *root;

    REQUIRE(!memory->attach(memory->user, &root, path, 0));
    REQUIRE(!memory->publish(memory->user, root, from, to, 1));
    memory->detach(memory->user, root);
}

/* What opening says of a path; and what repair says, "" if it mends it. */
static void messages_of(const char *path, char opened[640], char repaired[640])
{
    bouma_options o = options_for(memory, 0);
    bouma_repair_report report = {.size = sizeof(report)};
    bouma_dataset *ds;

    CHECK(bouma_dataset_open(&ds, path, &o));
    snprintf(opened, 640, "%s", bouma_error_message(ds));
    bouma_dataset_free(ds);
    repaired[0] = 0;
    if (!bouma_repair(&report, path, 1, &o, NULL, NULL, repaired, 640))
        repaired[0] = 0;
}

/* A message never sends the reader to what cannot help. */
static void messages_tell_what_helps(void)
{
    char opened[640], repaired[640];
    unsigned char id = 0;

    make_old("m0", 2); /* interrupted */
    rename_in("m0", "DATASET", "DATASET.tmp.clobbered");
    messages_of("m0", opened, repaired);
    CHECK_TEXT(opened, "the option 'clobber' (`bouma import --clobber`)");
    CHECK_TEXT(repaired, "the option 'clobber' (`bouma import --clobber`)");
    CHECK_EQ(start_anew("m0", memory, 1), BOUMA_OK);
    make_old("m1", 0); /* as it was when all was removed */
    empty("m1", "");
    messages_of("m1", opened, repaired);
    CHECK_TEXT(opened, "create it again");
    CHECK_TEXT(repaired, "create it again");
    CHECK_EQ(start_anew("m1", memory, 0), BOUMA_OK);
    make_old("m2", 2);
    rename_in("m2", "DATASET", "other");
    messages_of("m2", opened, repaired);
    CHECK_TEXT(opened, "`bouma repair` recreates it");
    CHECK_EQ(repaired[0], 0);
    CHECK_EQ(steps_of("m2", &id), 2);
    make_old("m3", 1);
    empty("m3", "steps/00000000/");
    empty("m3", "");
    messages_of("m3", opened, repaired);
    CHECK_TEXT(repaired, "nothing of it can be repaired");
}

/* ---- others see that there is life --------------------------------------- */

static int removals, most_removals;
static const struct bm_comm_functions *plain;

static int count_removal(void *user, void *root, const char *name)
{
    removals++;
    return memory->remove(user, root, name);
}

static int count_meeting(struct bm_comm *comm, uint64_t *values, int count,
                         int sums)
{
    most_removals = removals > most_removals ? removals : most_removals;
    removals = 0;
    return plain->reduce(comm, values, count, sums);
}

/* Where ranks wait for so short a time that each removal takes longer, they
 * meet after each of them. */
static void ranks_meet_while_many_files_are_removed(void)
{
    struct bm_comm_functions functions;
    bouma_io counting = *memory;
    struct bm_options complete;
    bouma_options o;
    struct scenario_writer writer = {0};
    struct bm_error error = {0};
    struct bm_comm *comm;
    bouma_dataset *ds;

    counting.remove = count_removal;
    make_old("many", 12);
    o = options_for(&counting, 2);
    o.clobber = 1;
    o.timeout = 1e-9;
    REQUIRE(!bm_options_complete(&complete, &o, &error));
    REQUIRE(!bm_comm_self_new(&comm, bm_allocator_default()));
    plain = comm->functions;
    functions = *plain;
    functions.reduce = count_meeting;
    comm->functions = &functions;
    MUST(ds, bm_dataset_open(&ds, comm, BM_MODE_CREATE, "many", &complete,
                             bm_allocator_default()));
    /* With the last one go the index and the mark. */
    CHECK(most_removals > 0 && most_removals <= 4);
    for (int i = 0; i < 12; i++)
        MUST(ds, scenario_write(ds, &writer, i, 0, 0, 1));
    removals = most_removals = 0;
    MUST(ds, bouma_dataset_truncate(ds, 1));
    CHECK(most_removals > 0 && most_removals <= 4);
    CHECK_EQ(bouma_dataset_step_count(ds), 2);
    close_dataset(ds);
}

int main(void)
{
    unsetenv("BOUMA_OPTIONS");
    memory = bouma_io_memory_new();
    REQUIRE(memory);
    a_dataset_makes_way();
    other_files_are_never_removed();
    losses_go_with_it();
    one_at_work_is_not_disturbed();
    records_that_cannot_be_removed_are_told();
    files_that_cannot_be_removed_are_not_tried_for_ever();
    a_step_that_is_committed_just_before_goes_too();
    who_appends_finds_the_new_dataset();
    what_is_interrupted_can_be_done_again(0);
    what_is_interrupted_can_be_done_again(1);
    pairs_are_interrupted_and_done_again();
    damaged_datasets_make_way();
    local_copies_make_way_too();
    what_is_no_local_copy_stays();
    all_stores_make_way_or_none();
    files_that_are_still_open_do_no_harm();
    messages_tell_what_helps();
    ranks_meet_while_many_files_are_removed();
    bouma_io_memory_free(memory);
    return check_result();
}
