#include "oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "scenario.h"

#define PATIENCE 40 /* violations printed before we fall silent */

static const char *report_context;
static long reported;

void oracle_report_as(const char *context)
{
    report_context = context;
}

void oracle_report_afresh(void)
{
    reported = 0;
}

long tally_violations(const struct tally *t)
{
    return t->lost + t->silent + t->partial + t->stuck;
}

void tally_add(long *count, const char *format, ...)
{
    va_list args;

    (*count)++;
    if (!report_context || reported++ >= PATIENCE)
        return;
    fprintf(stderr, "%s: ", report_context);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void oracle_init(struct oracle *o, bouma_durability durability, int group)
{
    memset(o, 0, sizeof(*o));
    o->durability = durability;
    o->group = group;
    for (int i = 0; i < ORACLE_STEPS; i++)
        o->steps[i] = (struct oracle_step){-1, -1, -1, 0, 0};
}

void oracle_created(struct oracle *o)
{
    o->created = 1;
}

void oracle_trying(struct oracle *o, int step, int generation)
{
    o->steps[step].tried = generation;
}

void oracle_flushed(struct oracle *o)
{
    o->held = 0;
    for (int i = 0; i < ORACLE_STEPS; i++) {
        struct oracle_step *s = &o->steps[i];

        if (s->held && o->durability != BOUMA_DURABILITY_FAST)
            s->durable = s->acked;
        s->held = 0;
    }
}

void oracle_failed(struct oracle *o)
{
    if (o->durability != BOUMA_DURABILITY_GROUP)
        return;
    o->held = 0;
    for (int i = 0; i < ORACLE_STEPS; i++) {
        o->steps[i].acked = o->steps[i].durable;
        o->steps[i].held = 0;
    }
}

void oracle_acked(struct oracle *o, int step, int generation)
{
    /* What replaces another is synced in any case. */
    if (o->durability == BOUMA_DURABILITY_FAST && o->steps[step].acked >= 0)
        o->steps[step].durable = generation;
    o->steps[step].acked = generation;
    o->steps[step].held = 1;
    o->held++;
    if (o->durability == BOUMA_DURABILITY_DURABLE ||
        (o->durability == BOUMA_DURABILITY_GROUP && o->held == o->group))
        oracle_flushed(o);
}

/* The oldest generation of a step that a reader may find; -1: it may be
 * absent. */
static int required(const struct oracle *o, const struct oracle_step *s,
                    enum oracle_event event)
{
    if (event == ORACLE_POWER_LOSS)
        return s->durable;
    if (event == ORACLE_KILL && o->durability == BOUMA_DURABILITY_GROUP)
        return s->durable;
    /* A repair replaces no step that is whole. */
    if (o->durability == BOUMA_DURABILITY_GROUP && s->durable >= 0)
        return s->durable;
    return s->acked;
}

/* What the list of steps says: 0 where a step is not in it. */
struct listed {
    int is_listed;
    double time;
};

static void read_list(const struct oracle *o, struct tally *t,
                      const bouma_dataset *ds, struct listed *listed)
{
    int64_t count = bouma_dataset_step_count(ds);

    for (int64_t i = 0; i < count; i++) {
        bouma_step_info info = {.size = sizeof(info)};

        if (bouma_dataset_step_get(&info, ds, i))
            tally_add(&t->stuck, "no entry %d in the list", (int)i);
        else if (info.step < 0 || info.step >= ORACLE_STEPS ||
                 o->steps[info.step].tried < 0)
            tally_add(&t->silent, "step %lld was never written",
                      (long long)info.step);
        else
            listed[info.step] = (struct listed){1, info.time};
    }
}

/* A step that can be read in full, as version 'found'. */
static void check_found(const struct oracle_step *s, struct tally *t, int step,
                        int found, int needed, const struct listed *listed)
{
    if (found < needed)
        tally_add(&t->lost, "step %d is version %d, not %d", step, found,
                  needed);
    if (found > s->tried)
        tally_add(&t->silent, "step %d is version %d, never written", step,
                  found);
    if (!listed->is_listed)
        tally_add(&t->lost, "step %d is not in the list", step);
    else if (listed->time != scenario_time(step, found))
        tally_add(&t->silent, "step %d is listed with time %g, not %g", step,
                  listed->time, scenario_time(step, found));
}

/* The version that a reader finds; -1 if it finds none, or an error. */
static int check_step(struct oracle *o, struct tally *t, bouma_dataset *ds,
                      int step, const struct listed *listed,
                      enum oracle_event event)
{
    struct oracle_step *s = &o->steps[step];
    int needed = required(o, s, event), found = -1;
    enum scenario_verdict verdict = scenario_read(ds, step, &found);

    if (verdict == SCENARIO_EXACT || verdict == SCENARIO_BARE)
        check_found(s, t, step, found, needed, listed);
    else
        found = -1;
    /* A step that was never acknowledged, and comes back by repair, may do so
     * without its attributes. */
    if (verdict == SCENARIO_BARE && !s->bare && needed >= 0)
        tally_add(&t->lost, "step %d has lost its attributes", step);
    s->bare = verdict == SCENARIO_BARE;
    s->held = 0;
    if (verdict == SCENARIO_WRONG)
        tally_add(&t->silent, "step %d has wrong values", step);
    if (verdict == SCENARIO_REFUSED || verdict == SCENARIO_ABSENT) {
        const char *text =
            verdict == SCENARIO_ABSENT ? "is gone" : bouma_error_message(ds);

        if (needed >= 0)
            tally_add(&t->lost, "step %d: %s", step, text);
        else if (o->durability != BOUMA_DURABILITY_FAST &&
                 (verdict == SCENARIO_REFUSED || listed->is_listed))
            tally_add(&t->partial, "step %d: %s", step, text);
    }
    /* Whatever survived a power loss is durable, promised or not. What a killed
     * program left is not, but the next one must not lose it either. */
    if (event == ORACLE_POWER_LOSS)
        s->acked = s->durable = found;
    else if (found > s->acked)
        s->acked = found;
    if (event == ORACLE_REPAIRED && o->durability == BOUMA_DURABILITY_GROUP)
        s->durable = found;
    return found;
}

/* A step that is listed, and cannot be opened, may be read in a series if only
 * its manifest is lost, which fast writing allows. Then it is the version that
 * the list tells of. */
static void check_lost_manifest(const struct oracle *o, struct tally *t,
                                bouma_dataset *ds, int model, int step,
                                const struct listed *listed)
{
    int64_t steps[2] = {model, step};
    double since = listed->time - scenario_time(step, 0);
    int versions[2] = {0, (int)(since * 16)}, same[2];

    if (scenario_read_series(ds, steps, versions, 2, same))
        return;
    if (o->durability != BOUMA_DURABILITY_FAST || !listed->is_listed)
        tally_add(&t->silent, "step %d can be read in a series only", step);
    else if (!same[1] || versions[1] > o->steps[step].tried)
        tally_add(&t->silent, "step %d has wrong values in a series", step);
}

/* A series does not read the manifest of each step. It must give what those see
 * who do, found[]. Opening a step corrects the list that a series goes by: so
 * this takes a handle that has just been opened. */
static void check_series(const struct oracle *o, struct tally *t,
                         bouma_dataset *ds, const int *found,
                         const struct listed *listed)
{
    int64_t steps[ORACLE_STEPS + 1];
    int versions[ORACLE_STEPS + 1], same[ORACLE_STEPS + 1];
    size_t count = 1;

    for (int i = 0; i < ORACLE_STEPS; i++)
        if (found[i] >= 0) {
            steps[0] = steps[count] = i; /* the last one is the model */
            versions[0] = versions[count++] = found[i];
        }
    if (count == 1)
        return;
    if (bouma_dataset_step_count(ds) < 1 ||
        scenario_read_series(ds, steps, versions, count, same))
        tally_add(&t->stuck, "a series: %s", bouma_error_message(ds));
    else
        for (size_t i = 0; i < count; i++)
            if (!same[i])
                tally_add(&t->silent, "step %d has other values in a series",
                          (int)steps[i]);
    for (int i = 0; i < ORACLE_STEPS; i++)
        if (found[i] < 0 && o->steps[i].tried >= 0)
            check_lost_manifest(o, t, ds, (int)steps[0], i, &listed[i]);
}

void oracle_check(struct oracle *o, struct tally *t, const char *path,
                  const bouma_options *opts, enum oracle_event event)
{
    bouma_dataset *ds = NULL;
    int rc = bouma_dataset_open(&ds, path, opts);

    t->states++;
    o->held = 0;
    o->readable = !rc;
    if (rc && o->created)
        tally_add(&t->lost, "cannot open: %s", bouma_error_message(ds));
    if (!rc) {
        struct listed listed[ORACLE_STEPS] = {{0, 0}};
        int found[ORACLE_STEPS];

        read_list(o, t, ds, listed);
        for (int i = 0; i < ORACLE_STEPS; i++)
            found[i] = check_step(o, t, ds, i, &listed[i], event);
        bouma_dataset_free(ds);
        rc = bouma_dataset_open(&ds, path, opts);
        if (!rc)
            check_series(o, t, ds, found, listed);
        else
            tally_add(&t->stuck, "cannot open again: %s",
                      bouma_error_message(ds));
    }
    bouma_dataset_free(ds);
}
