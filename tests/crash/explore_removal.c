/* explore_removal.c -- the machine dies while a dataset makes way for another,
 * or while steps are dropped. Of a dataset that makes way, all is there or it
 * is none; of steps that are dropped, each is there whole or not at all, and
 * none is lost, and none comes back from a local copy that still has it.
 * Whoever does the same again comes to its end. And of a step that was lost and
 * is written again, the loss is known or the step is there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "scenario.h"

#define STEPS  4  /* of the old dataset */
#define KEPT   2  /* when it is truncated */
#define STATES 12 /* after each death: none kept, killed, and some kept */
#define LOCAL  "near"

/* What makes way: just a dataset; one with another file in it; one with a local
 * copy that has another file in it. */
enum kind { PLAIN, BESIDE, LOCAL_COPY, KINDS };

static const struct variant variant = {
    .name = "removal", .durability = BOUMA_DURABILITY_DURABLE, .replace = 1};

static void put_foreign_file(struct weak_fs *fs, const char *path)
{
    const bouma_io *io = weak_fs_io(fs);
    void *root, *file;
    int code = io->attach(io->user, &root, path, 0);

    if (!code) {
        code = io->open(io->user, root, &file, "notes", BOUMA_OPEN_MODE_CREATE);
        if (!code) {
            io->sync(io->user, file);
            io->close(io->user, file);
        }
        io->sync_dir(io->user, root, "");
        io->detach(io->user, root);
    }
}

static bouma_options options_for(struct weak_fs *fs, unsigned char id)
{
    bouma_options o;

    explore_options(&o, &variant, weak_fs_io(fs));
    o.id[0] = id;
    return o;
}

static bouma_options options_of_kind(struct weak_fs *fs, unsigned char id,
                                     enum kind kind)
{
    bouma_options o = options_for(fs, id);

    o.persist = kind == LOCAL_COPY;
    if (o.persist)
        o.local = LOCAL;
    return o;
}

static int write_step(struct oracle *o, bouma_dataset *ds,
                      struct scenario_writer *writer, int step, int generation)
{
    int rc;

    oracle_trying(o, step, generation);
    rc = scenario_write(ds, writer, step, generation, 0, 1);
    if (!rc)
        oracle_acked(o, step, generation);
    return rc;
}

/* The old dataset, number 1: one of its steps was written twice. */
static void prepare(struct weak_fs *fs, struct oracle *o, enum kind kind)
{
    struct scenario_writer writer = {0};
    bouma_options opts = options_of_kind(fs, 1, kind);
    bouma_dataset *ds = NULL;

    oracle_init(o, variant.durability, variant.group);
    if (!bouma_dataset_create(&ds, EXPLORE_PATH, &opts))
        oracle_created(o);
    for (int i = 0; i < STEPS; i++)
        write_step(o, ds, &writer, i, 0);
    write_step(o, ds, &writer, 1, 1);
    bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    if (kind != PLAIN)
        put_foreign_file(fs, kind == LOCAL_COPY ? LOCAL "/" EXPLORE_PATH
                                                : EXPLORE_PATH);
}

/* A whole dataset has nothing that verify would call damaged or lost. */
static void verify(struct weak_fs *fs, struct tally *t)
{
    bouma_options opts = options_for(fs, 0);
    bouma_verify_report report = {.size = sizeof(report)};
    char message[640] = "";

    if (bouma_verify(&report, EXPLORE_PATH, BOUMA_DEPTH_FULL, &opts, NULL, NULL,
                     message, sizeof(message)))
        tally_add(&t->stuck, "cannot verify: %s", message);
    else if (report.damages)
        tally_add(&t->partial, "verify: %d damages", (int)report.damages);
}

/* Which dataset there is; 0: none. */
static int number_of(struct weak_fs *fs)
{
    bouma_options opts = options_for(fs, 0);
    bouma_dataset_info info = {.size = sizeof(info)};
    bouma_dataset *ds = NULL;
    int number = 0;

    if (!bouma_dataset_open(&ds, EXPLORE_PATH, &opts) &&
        !bouma_dataset_info_get(&info, ds))
        number = info.id[0];
    bouma_dataset_free(ds);
    return number;
}

static enum weak_crash crash_number(int i)
{
    return i == 0   ? WEAK_CRASH_NONE_KEPT
           : i == 1 ? WEAK_CRASH_KILLED
                    : WEAK_CRASH_SOME_KEPT;
}

static enum oracle_event event_number(int i)
{
    return i == 1 ? ORACLE_KILL : ORACLE_POWER_LOSS;
}

/* ---- a dataset makes way ------------------------------------------------- */

/* Number 2 replaces number 1, and has one step. */
static int start_anew(struct weak_fs *fs, struct oracle *o, struct tally *t,
                      enum kind kind)
{
    struct scenario_writer writer = {0};
    bouma_options opts = options_of_kind(fs, 2, kind);
    bouma_dataset *ds = NULL;
    int rc;

    opts.clobber = 1;
    oracle_init(o, variant.durability, variant.group);
    rc = bouma_dataset_create(&ds, EXPLORE_PATH, &opts);
    if (!rc) {
        oracle_created(o);
        rc = write_step(o, ds, &writer, 0, 2);
        if (kind == LOCAL_COPY) /* it is only there so far */
            o->steps[0].acked = o->steps[0].durable = -1;
    }
    if (!rc)
        rc = bouma_dataset_close(ds);
    if (!rc && kind == LOCAL_COPY)
        oracle_acked(o, 0, 2);
    if (rc && !weak_fs_is_dead(fs))
        tally_add(&t->stuck, "not started anew: %s", bouma_error_message(ds));
    bouma_dataset_free(ds);
    return rc;
}

/* The old one whole, or the new one and nothing of the old, or none. */
static void look_at_clobbered(struct weak_fs *fs, const struct oracle *before,
                              const struct oracle *after, struct tally *t,
                              enum oracle_event event)
{
    int number = number_of(fs);
    bouma_options opts = options_for(fs, 0);
    struct oracle o = number == 1 ? *before : *after;

    if (number == 1 && after->created)
        tally_add(&t->silent, "the old dataset is back");
    oracle_check(&o, t, EXPLORE_PATH, &opts, event);
    if (number)
        verify(fs, t);
}

/* Repair has nothing to do with it, or makes the old one whole. */
static void repair_clobbered(struct weak_fs *fs, const struct oracle *before,
                             const struct oracle *after, struct tally *t,
                             enum oracle_event event)
{
    bouma_options opts = options_for(fs, 0);
    bouma_repair_report report = {.size = sizeof(report)};
    char message[640] = "";

    bouma_repair(&report, EXPLORE_PATH, 1, &opts, NULL, NULL, message,
                 sizeof(message));
    look_at_clobbered(fs, before, after, t, event);
}

static void clobber_again(struct weak_fs *fs, struct tally *t, enum kind kind)
{
    struct oracle o;
    bouma_options opts = options_for(fs, 0);

    start_anew(fs, &o, t, kind);
    weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
    if (number_of(fs) != 2)
        tally_add(&t->lost, "the new dataset is not there");
    oracle_check(&o, t, EXPLORE_PATH, &opts, ORACLE_POWER_LOSS);
    verify(fs, t);
}

static void explore_kind(struct tally *t, const struct omission *omission,
                         enum kind kind)
{
    struct weak_fs *base = weak_fs_new(1);
    struct oracle before;
    int states = explore_some(omission, kind == PLAIN ? STATES : STATES / 3);
    int died = 1;

    prepare(base, &before, kind);
    for (long at = 1; died && !explore_noticed(t, omission); at++) {
        struct weak_fs *first = weak_fs_clone(base, (uint64_t)at);
        struct oracle after;

        weak_fs_drop(first, omission->what, omission->pattern);
        weak_fs_die_at(first, at);
        start_anew(first, &after, t, kind);
        died = weak_fs_is_dead(first);
        for (int i = 0; i < states; i++) {
            struct weak_fs *fs =
                weak_fs_clone(first, (uint64_t)(at * 1000 + i));
            char context[64];

            snprintf(context, sizeof(context), "clobber %d, call %ld, state %d",
                     (int)kind, at, i);
            oracle_report_as(omission->what ? NULL : context);
            weak_fs_crash(fs, crash_number(i));
            look_at_clobbered(fs, &before, &after, t, event_number(i));
            if (i % 2)
                repair_clobbered(fs, &before, &after, t, event_number(i));
            clobber_again(fs, t, kind);
            oracle_report_as(NULL);
            weak_fs_free(fs);
        }
        weak_fs_free(first);
    }
    weak_fs_free(base);
}

void explore_clobbers(struct tally *t, const struct omission *omission)
{
    for (int kind = 0; kind < KINDS; kind++)
        explore_kind(t, omission, (enum kind)kind);
}

/* ---- steps are dropped --------------------------------------------------- */

/* Of a dataset without a local copy; with one that is left as it is, and
 * drained afterwards; with one that is truncated together with it. */
enum dropping { ALONE, WITHOUT_TWIN, WITH_TWIN, DROPPINGS };

/* The steps that go, all of them, and first <= step < end; and the first of
 * them is written again then. */
struct going {
    const char *name;
    int first, end;
    int is_single; /* it is deleted; else those behind are truncated */
    enum dropping how;
};

/* Drop steps; with 'more', write the first of them then. */
static void drop_steps(struct weak_fs *fs, struct oracle *o, struct tally *t,
                       const struct going *g, int more)
{
    enum dropping how = g->how;
    struct scenario_writer writer = {0};
    bouma_options opts =
        options_of_kind(fs, 0, how == WITH_TWIN ? LOCAL_COPY : PLAIN);
    bouma_dataset *ds = NULL;
    int rc = bouma_dataset_append(&ds, EXPLORE_PATH, &opts);

    /* From now on they may be there or not. */
    for (int i = g->first; i < g->end; i++)
        o->steps[i].acked = o->steps[i].durable = -1;
    if (!rc)
        rc = g->is_single ? bouma_step_delete(ds, g->first)
                          : bouma_dataset_truncate(ds, g->first - 1);
    for (int i = g->first; i < g->end && !rc; i++)
        o->steps[i].tried = -1; /* and now they must not */
    if (!rc && more) {
        rc = write_step(o, ds, &writer, g->first, 3);
        if (how == WITH_TWIN) /* it is only there so far */
            o->steps[g->first].acked = o->steps[g->first].durable = -1;
    }
    if (!rc)
        rc = bouma_dataset_close(ds);
    if (!rc && more && how == WITH_TWIN)
        oracle_acked(o, g->first, 3);
    if (rc && !weak_fs_is_dead(fs))
        tally_add(&t->stuck, "not dropped: %s", bouma_error_message(ds));
    bouma_dataset_free(ds);
}

static void count_loss(void *user, const bouma_loss *loss)
{
    (void)loss;
    ++*(int *)user;
}

/* Each step whole or not there, after a truncation without a gap, and none on
 * record as lost. */
static void look_at_dropped(struct weak_fs *fs, struct oracle *o,
                            struct tally *t, const struct going *g,
                            enum oracle_event event)
{
    bouma_options opts = options_for(fs, 0);
    bouma_dataset *ds = NULL;
    char message[640] = "";
    int losses = 0, gap = 0;

    oracle_check(o, t, EXPLORE_PATH, &opts, event);
    verify(fs, t);
    if (bouma_losses(EXPLORE_PATH, &opts, count_loss, &losses, message,
                     sizeof(message)) ||
        losses)
        tally_add(&t->lost, "%d losses on record: %s", losses, message);
    if (!bouma_dataset_open(&ds, EXPLORE_PATH, &opts))
        for (int i = 0; i < STEPS; i++) {
            int generation = 0;
            int absent = scenario_read(ds, i, &generation) == SCENARIO_ABSENT;

            if (gap && !absent && !g->is_single)
                tally_add(&t->lost, "step %d is there, and one before is not",
                          i);
            gap |= absent;
        }
    bouma_dataset_free(ds);
}

/* Bits of the steps that are there. */
static unsigned steps_there(struct weak_fs *fs)
{
    bouma_options opts = options_for(fs, 0);
    bouma_dataset *ds = NULL;
    bouma_step_info info = {.size = sizeof(info)};
    unsigned bits = 0;

    if (!bouma_dataset_open(&ds, EXPLORE_PATH, &opts))
        for (int64_t i = 0; !bouma_dataset_step_get(&info, ds, i); i++)
            bits |= 1u << info.step;
    bouma_dataset_free(ds);
    return bits;
}

/* The local copy has old steps, which are dropped, or are there anyway: a drain
 * brings none of them back. A local copy that is written has the new one, too.
 */
static void drain_dropped(struct weak_fs *fs, struct tally *t,
                          const struct going *g, int remove)
{
    bouma_options opts = options_for(fs, 0);
    unsigned before = steps_there(fs), after;
    char message[640] = "";

    if (bouma_drain(NULL, LOCAL "/" EXPLORE_PATH, EXPLORE_PATH, remove, &opts,
                    message, sizeof(message)))
        tally_add(&t->stuck, "cannot drain: %s", message);
    after = steps_there(fs);
    if (after & ~before & ~(g->how == WITH_TWIN ? 1u << g->first : 0u))
        tally_add(&t->silent, "steps %x after a drain, and %x before", after,
                  before);
}

/* Repair brings back none that is dropped; the next one may be published that
 * was written then. */
static void repair_dropped(struct weak_fs *fs, struct tally *t,
                           const struct going *g)
{
    bouma_options opts = options_for(fs, 0);
    unsigned before = steps_there(fs), after;
    bouma_repair_report report = {.size = sizeof(report)};
    char message[640] = "";

    if (bouma_repair(&report, EXPLORE_PATH, 1, &opts, NULL, NULL, message,
                     sizeof(message)))
        tally_add(&t->stuck, "cannot repair: %s", message);
    after = steps_there(fs);
    if (after & ~before & ~(1u << g->first))
        tally_add(&t->silent, "steps %x after a repair, and %x before", after,
                  before);
}

/* What the death of one who drops steps has left. */
static void follow_dropping(struct weak_fs *fs, struct oracle *o,
                            struct tally *t, const struct going *g,
                            enum oracle_event event)
{
    for (int again = 0; again < 2; again++) {
        if (again) {
            drop_steps(fs, o, t, g, 1);
            weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
        }
        look_at_dropped(fs, o, t, g, again ? ORACLE_POWER_LOSS : event);
        if (g->how == ALONE)
            repair_dropped(fs, t, g);
        else
            drain_dropped(fs, t, g, again);
        look_at_dropped(fs, o, t, g, again ? ORACLE_POWER_LOSS : event);
    }
}

static void explore_dropping(struct tally *t, const struct omission *omission,
                             const struct going *g)
{
    struct weak_fs *base = weak_fs_new(1);
    struct oracle before;
    int states = explore_some(omission, g->how == ALONE ? STATES : STATES / 2);
    int died = 1;

    prepare(base, &before, g->how == ALONE ? PLAIN : LOCAL_COPY);
    for (long at = 1; died && !explore_noticed(t, omission); at++) {
        struct weak_fs *first = weak_fs_clone(base, (uint64_t)at);
        struct oracle after = before;

        weak_fs_drop(first, omission->what, omission->pattern);
        weak_fs_die_at(first, at);
        drop_steps(first, &after, t, g, at % 2 == 0);
        died = weak_fs_is_dead(first);
        for (int i = 0; i < states; i++) {
            struct weak_fs *fs =
                weak_fs_clone(first, (uint64_t)(at * 1000 + i));
            struct oracle o = after;
            char context[64];

            snprintf(context, sizeof(context), "%s %d, call %ld, state %d",
                     g->name, (int)g->how, at, i);
            oracle_report_as(omission->what ? NULL : context);
            weak_fs_crash(fs, crash_number(i));
            follow_dropping(fs, &o, t, g, event_number(i));
            oracle_report_as(NULL);
            weak_fs_free(fs);
        }
        weak_fs_free(first);
    }
    weak_fs_free(base);
}

void explore_truncations(struct tally *t, const struct omission *omission)
{
    for (int how = 0; how < DROPPINGS; how++) {
        struct going g = {"truncate", KEPT, STEPS, 0, (enum dropping)how};

        explore_dropping(t, omission, &g);
    }
}

/* Step 1, which was written twice. */
void explore_deletions(struct tally *t, const struct omission *omission)
{
    for (int how = 0; how < DROPPINGS; how++) {
        struct going g = {"delete", 1, 2, 1, (enum dropping)how};

        explore_dropping(t, omission, &g);
    }
}

/* ---- a lost step is written again ---------------------------------------- */

#define LOST 1 /* the step */

/* A directory of the store. */
struct doomed {
    const bouma_io *io;
    void *root;
    const char *dir;
};

static void remove_all(const struct doomed *d);

static int remove_entry(void *context, const char *entry)
{
    const struct doomed *d = context;
    char name[300];

    snprintf(name, sizeof(name), "%s/%.200s", d->dir, entry);
    if (d->io->remove(d->io->user, d->root, name) == EISDIR)
        remove_all(&(struct doomed){d->io, d->root, name});
    return 0;
}

static void remove_all(const struct doomed *d)
{
    d->io->list(d->io->user, d->root, d->dir, remove_entry, (void *)d);
    d->io->sync_dir(d->io->user, d->root, d->dir);
    d->io->remove_dir(d->io->user, d->root, d->dir);
}

/* Its directory is gone; who opens to append puts that on record. */
static void lose_step(struct weak_fs *fs)
{
    const bouma_io *io = weak_fs_io(fs);
    bouma_options opts = options_for(fs, 0);
    bouma_dataset *ds = NULL;
    char dir[32];
    void *root;

    snprintf(dir, sizeof(dir), "steps/%08d", LOST);
    if (!io->attach(io->user, &root, EXPLORE_PATH, 0)) {
        remove_all(&(struct doomed){io, root, dir});
        io->sync_dir(io->user, root, "steps");
        io->detach(io->user, root);
    }
    if (!bouma_dataset_append(&ds, EXPLORE_PATH, &opts))
        bouma_dataset_close(ds);
    bouma_dataset_free(ds);
}

static void write_lost(struct weak_fs *fs)
{
    struct scenario_writer writer = {0};
    bouma_options opts = options_for(fs, 0);
    bouma_dataset *ds = NULL;

    opts.durability = BOUMA_DURABILITY_FAST;
    if (!bouma_dataset_append(&ds, EXPLORE_PATH, &opts) &&
        !scenario_write(ds, &writer, LOST, 4, 0, 1))
        bouma_dataset_close(ds);
    bouma_dataset_free(ds);
}

static void look_at_lost(struct weak_fs *fs, struct tally *t)
{
    bouma_options opts = options_for(fs, 0);
    bouma_dataset *ds = NULL;
    int generation = 0;

    t->states++;
    if (bouma_dataset_open(&ds, EXPLORE_PATH, &opts))
        tally_add(&t->stuck, "%s", bouma_error_message(ds));
    else if (scenario_read(ds, LOST, &generation) == SCENARIO_ABSENT)
        tally_add(&t->lost, "neither the step nor its loss is there");
    bouma_dataset_free(ds);
}

void explore_records(struct tally *t, const struct omission *omission)
{
    struct weak_fs *base = weak_fs_new(1);
    struct oracle before;
    int died = 1;

    prepare(base, &before, PLAIN);
    lose_step(base);
    for (long at = 1; died && !explore_noticed(t, omission); at++) {
        struct weak_fs *first = weak_fs_clone(base, (uint64_t)at);

        weak_fs_drop(first, omission->what, omission->pattern);
        weak_fs_die_at(first, at);
        write_lost(first);
        died = weak_fs_is_dead(first);
        for (int i = 0; i < STATES; i++) {
            struct weak_fs *fs =
                weak_fs_clone(first, (uint64_t)(at * 1000 + i));
            char context[64];

            snprintf(context, sizeof(context), "records, call %ld, state %d",
                     at, i);
            oracle_report_as(omission->what ? NULL : context);
            weak_fs_crash(fs, crash_number(i));
            look_at_lost(fs, t);
            oracle_report_as(NULL);
            weak_fs_free(fs);
        }
        weak_fs_free(first);
    }
    weak_fs_free(base);
}
