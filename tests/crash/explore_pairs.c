/* explore_pairs.c -- two programs that change one dataset: one comes to its end
 * between two calls of the other, after each call in turn. Each gets what it
 * was told, or changes nothing; and nobody's data are lost by it. */
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "fault_io.h"
#include "scenario.h"

enum { OLD = 1, NEW = 2 }; /* the datasets */
enum { MENDED = 1, LOST = 2, LAST = 3, APPENDED = 5, STEPS = 6 };

static const struct variant variant = {.name = "pairs",
                                       .durability = BOUMA_DURABILITY_DURABLE};

static bouma_options options_for(const bouma_io *io, unsigned char id)
{
    bouma_options o;

    explore_options(&o, &variant, io);
    o.id[0] = id;
    return o;
}

/* ---- what the programs do ------------------------------------------------ */

static int repair(const bouma_io *io, int force)
{
    bouma_options o = options_for(io, 0);
    bouma_repair_report report = {.size = sizeof(report)};
    char message[640];

    o.force = force;
    return bouma_repair(&report, EXPLORE_PATH, 1, &o, NULL, NULL, message,
                        sizeof(message));
}

static int forget(const bouma_io *io, int force)
{
    bouma_options o = options_for(io, 0);
    bouma_repair_report report = {.size = sizeof(report)};
    char message[640];

    o.force = force;
    return bouma_repair_forget(&report, EXPLORE_PATH, -1, 1, &o, NULL, NULL,
                               message, sizeof(message));
}

static int end(bouma_dataset *ds, int rc)
{
    int closed = bouma_dataset_close(ds);

    bouma_dataset_free(ds);
    return rc ? rc : closed;
}

static int clobber(const bouma_io *io, int force)
{
    bouma_options o = options_for(io, NEW);
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;
    int rc;

    o.clobber = 1;
    o.force = force;
    rc = bouma_dataset_create(&ds, EXPLORE_PATH, &o);
    return end(ds, rc ? rc : scenario_write(ds, &writer, 0, NEW, 0, 1));
}

static int append(const bouma_io *io, int force)
{
    bouma_options o = options_for(io, 0);
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;
    int rc;

    o.force = force;
    rc = bouma_dataset_append(&ds, EXPLORE_PATH, &o);
    return end(ds, rc ? rc : scenario_write(ds, &writer, APPENDED, 0, 0, 1));
}

static int truncate_it(const bouma_io *io, int force)
{
    bouma_options o = options_for(io, 0);
    bouma_dataset *ds = NULL;
    int rc;

    o.force = force;
    rc = bouma_dataset_append(&ds, EXPLORE_PATH, &o);
    return end(ds, rc ? rc : bouma_dataset_truncate(ds, LAST - 1));
}

enum { REPAIR, CLOBBER, APPEND, TRUNCATE, FORGET, ACTS };

static const struct {
    const char *name;
    int (*run)(const bouma_io *io, int force);
} acts[ACTS] = {[REPAIR] = {"repair", repair},
                [CLOBBER] = {"clobber", clobber},
                [APPEND] = {"append", append},
                [TRUNCATE] = {"truncate", truncate_it},
                [FORGET] = {"forget", forget}};

/* ---- the dataset --------------------------------------------------------- */

/* Entries of a directory. */
struct names {
    char of[16][64];
    int count;
};

static int add_name(void *context, const char *entry)
{
    struct names *n = context;

    snprintf(n->of[n->count++ % 16], sizeof(n->of[0]), "%s", entry);
    return 0;
}

/* Damage the first head of a file of one step, and lose another step. */
static void damage(const bouma_io *io)
{
    struct names mended = {.count = 0}, lost = {.count = 0};
    char name[128];
    size_t done;
    void *root, *file;

    io->attach(io->user, &root, EXPLORE_PATH, 0);
    io->list(io->user, root, "steps/00000001", add_name, &mended);
    for (int i = 0; i < mended.count; i++)
        if (!strncmp(mended.of[i], "d.0000", 6)) {
            snprintf(name, sizeof(name), "steps/00000001/%s", mended.of[i]);
            io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_UPDATE);
            io->write(io->user, file, "damaged", 7, 70, &done);
            io->sync(io->user, file);
            io->close(io->user, file);
        }
    io->list(io->user, root, "steps/00000002", add_name, &lost);
    for (int i = 0; i < lost.count; i++) {
        snprintf(name, sizeof(name), "steps/00000002/%s", lost.of[i]);
        io->remove(io->user, root, name);
    }
    io->sync_dir(io->user, root, "steps/00000002");
    io->detach(io->user, root);
}

static struct weak_fs *prepare(struct tally *t)
{
    struct weak_fs *fs = weak_fs_new(1);
    bouma_options o = options_for(weak_fs_io(fs), OLD);
    struct scenario_writer writer = {0};
    bouma_dataset *ds = NULL;
    int rc = bouma_dataset_create(&ds, EXPLORE_PATH, &o);

    for (int i = 0; i <= LAST && !rc; i++)
        rc = scenario_write(ds, &writer, i, 0, 0, 1);
    if (end(ds, rc))
        tally_add(&t->stuck, "no dataset");
    damage(weak_fs_io(fs));
    weak_fs_set_alive(fs, 1);
    return fs;
}

/* ---- what must be there then --------------------------------------------- */

struct outcome {
    int force;
    int status[ACTS]; /* 1: with success; -1: without; 0: was not tried */
    int id;
    int there[STEPS]; /* 1: read, 2: without its attributes; 0: absent; -1: none
                         of these */
    int generation[STEPS];
};

static void look(struct outcome *out, const bouma_io *io)
{
    bouma_options o = options_for(io, 0);
    bouma_dataset_info info = {.size = sizeof(info)};
    bouma_dataset *ds = NULL;

    out->id = 0;
    if (!bouma_dataset_open(&ds, EXPLORE_PATH, &o) &&
        !bouma_dataset_info_get(&info, ds))
        out->id = info.id[0];
    for (int i = 0; i < STEPS && out->id; i++) {
        enum scenario_verdict v = scenario_read(ds, i, &out->generation[i]);

        out->there[i] = v == SCENARIO_EXACT    ? 1
                        : v == SCENARIO_BARE   ? 2
                        : v == SCENARIO_ABSENT ? 0
                                               : -1;
    }
    bouma_dataset_free(ds);
}

/* From one that was removing the last step, the dataset was taken by force. */
static int is_contested(const struct outcome *o)
{
    return o->force && o->status[TRUNCATE] < 0;
}

static void judge_old(struct tally *t, const struct outcome *o)
{
    int both = o->status[APPEND] && o->status[TRUNCATE];

    if (o->id != OLD)
        tally_add(&t->lost, "no clobber had success, and it is dataset %d",
                  o->id);
    for (int i = 0; i < LAST; i++)
        if (i != LOST && o->there[i] != 1)
            tally_add(&t->lost, "step %d is lost", i);
    if (o->status[TRUNCATE] != 1 && o->there[LAST] != 1 && !is_contested(o))
        tally_add(&t->lost, "step %d is lost, nobody has truncated", LAST);
    if (o->status[TRUNCATE] == 1 && o->there[LAST])
        tally_add(&t->partial, "step %d is there, in spite of truncate", LAST);
    if (o->status[APPEND] == 1 && !both && o->there[APPENDED] != 1)
        tally_add(&t->lost, "the step that was appended is lost");
}

static void judge_new(struct tally *t, const struct outcome *o)
{
    if (o->id != NEW)
        tally_add(&t->lost, "a clobber had success, and it is dataset %d",
                  o->id);
    else if (o->there[0] != 1 || o->generation[0] != NEW)
        tally_add(&t->lost, "the step of the new dataset is lost");
    for (int i = 1; i < STEPS; i++)
        if (o->there[i] && !(i == APPENDED && o->status[APPEND] == 1))
            tally_add(&t->partial, "step %d of the old dataset is there", i);
}

/* From one that was removing it, the dataset was taken by force. How far it had
 * come is its own affair; but one can start anew. */
static void judge_contested(struct tally *t, struct weak_fs *fs)
{
    int rc = clobber(weak_fs_io(fs), 0);

    t->states++;
    if (rc)
        tally_add(&t->stuck, "cannot be clobbered: %s", bouma_status_name(rc));
}

/* Mend it, as its user would, and look. */
static void judge(struct tally *t, struct weak_fs *fs, struct outcome *o)
{
    bouma_options opts = options_for(weak_fs_io(fs), 0);
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640] = "";
    int rc;

    t->states++;
    rc = repair(weak_fs_io(fs), 0);
    if (!rc)
        rc = forget(weak_fs_io(fs), 0);
    if (rc)
        tally_add(&t->stuck, "cannot be repaired: %s", bouma_status_name(rc));
    look(o, weak_fs_io(fs));
    for (int i = 0; i < STEPS; i++)
        if (o->there[i] < 0 && !(i == LAST && is_contested(o)))
            tally_add(&t->partial, "step %d cannot be read", i);
    if (o->status[CLOBBER] == 1)
        judge_new(t, o);
    else
        judge_old(t, o);
    rc = bouma_verify(&report, EXPLORE_PATH, BOUMA_DEPTH_FULL, &opts, NULL,
                      NULL, message, sizeof(message));
    if (rc || report.damages)
        tally_add(&t->partial, "verify: %s %d damages", message,
                  (int)report.damages);
}

/* ---- two of them --------------------------------------------------------- */

struct second {
    const bouma_io *io;
    int act;
    long at; /* the other's call before which it comes */
    int force;
    int status;
};

static void act_at(void *user, long call)
{
    struct second *s = user;

    if (call == s->at)
        s->status = acts[s->act].run(s->io, s->force);
}

static void record_status(struct tally *t, struct outcome *o, int act, int rc)
{
    /* What the other has done may be in the way, which is told. */
    if (rc && !(o->force && rc == BOUMA_EIO) && rc != BOUMA_EBUSY &&
        rc != BOUMA_ENOTFOUND && rc != BOUMA_EEXISTS)
        tally_add(&t->stuck, "%s got %s", acts[act].name,
                  bouma_status_name(rc));
    if (o->status[act] != 1)
        o->status[act] = rc ? -1 : 1;
}

/* Returns whether the first one makes so many calls. */
static int race(struct tally *t, const struct weak_fs *base, int first, int act,
                int force, long at)
{
    static const struct fault none;
    struct weak_fs *fs = weak_fs_clone(base, (uint64_t)at);
    struct second second = {weak_fs_io(fs), act, at, force, 0};
    struct outcome o = {.force = force};
    struct fault_io io;
    int rc, reached;

    fault_io_init(&io, weak_fs_io(fs));
    fault_io_arm(&io, &none, 0, 0);
    io.before = act_at;
    io.before_user = &second;
    rc = acts[first].run(&io.table, 0);
    reached = io.calls >= at;
    if (reached) {
        record_status(t, &o, first, rc);
        record_status(t, &o, act, second.status);
        if (rc && second.status)
            tally_add(&t->stuck, "neither had success: %s and %s",
                      bouma_status_name(rc), bouma_status_name(second.status));
        if (force && first == CLOBBER && rc)
            judge_contested(t, fs);
        else
            judge(t, fs, &o);
    }
    weak_fs_free(fs);
    return reached;
}

void explore_pairs(struct tally *t, const struct omission *omission)
{
    struct weak_fs *base = prepare(t);
    long stride = explore_stride(omission);

    weak_fs_drop(base, omission->what, omission->pattern);
    for (int i = 0; i < 2 * ACTS * ACTS; i++) {
        int first = i / 2 / ACTS, act = i / 2 % ACTS, force = i % 2;
        int reached = 1;

        for (long at = 1 + i % stride; reached; at += stride) {
            char context[80];

            snprintf(context, sizeof(context), "%s, call %ld, %s%s",
                     acts[first].name, at, acts[act].name,
                     force ? " by force" : "");
            oracle_report_as(omission->what ? NULL : context);
            reached = race(t, base, first, act, force, at);
        }
    }
    oracle_report_as(NULL);
    weak_fs_free(base);
}
