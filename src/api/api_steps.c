/* api_steps.c -- which steps there are: the first, the last, the next one, and
 * that of a time. */
#include <inttypes.h>
#include <math.h>

#include "api/api.h"
#include "base/search.h"

/* The list is there, and so is the caller's struct. 'const' is about what is in
 * the dataset, not about what the handle has read of it, nor about the message.
 */
static int begin(bouma_step_info *out, const bouma_dataset *ds)
{
    bouma_dataset *here = (bouma_dataset *)ds;
    int rc;

    if (!bm_reply_begin(out, sizeof(*out)))
        return bm_api_no_output(ds && ds->opened ? &here->error : NULL,
                                "a step's number and time");
    if (!ds)
        return BOUMA_EINVAL;
    rc = ds->opened ? BOUMA_OK : bm_api_check_open(here);
    if (!rc)
        bm_error_clear(&here->error);
    return rc ? rc : bm_dataset_list(here);
}

static int give(bouma_step_info *out, const struct bm_step_entry *entry)
{
    bouma_step_info own = {.step = (int64_t)entry->step,
                           .time = entry->time,
                           .writing = bm_generation_number(entry->generation)};

    return bm_reply(out, &own, sizeof(own));
}

static int none(const bouma_dataset *ds, const char *which, int64_t step)
{
    struct bm_error *error = (struct bm_error *)&ds->error;
    const struct bm_step_list *all = &ds->found.steps;

    if (!all->count)
        return bm_fail(error, BOUMA_ENOTFOUND, "%s: has no steps",
                       ds->store.path);
    return bm_fail(error, BOUMA_ENOTFOUND,
                   "%s: has no step %s step %" PRId64 "; its steps are %" PRIu64
                   " to %" PRIu64,
                   ds->store.path, which, step, all->entries[0].step,
                   all->entries[all->count - 1].step);
}

/* How many steps have a number of at most 'step'. */
static size_t count_up_to(const struct bm_step_list *list, int64_t step)
{
    size_t at = 0;

    if (!list->count || step < 0 || list->entries[0].step > (uint64_t)step)
        return 0;
    BM_BISECT(at, list->count, i, list->entries[i].step <= (uint64_t)step)
    return at + 1;
}

int bouma_dataset_first_step(bouma_step_info *out, const bouma_dataset *ds)
{
    return bouma_dataset_next_step(out, ds, -1);
}

int bouma_dataset_last_step(bouma_step_info *out, const bouma_dataset *ds)
{
    const struct bm_step_list *all = ds ? &ds->found.steps : NULL;
    int rc = begin(out, ds);

    if (rc)
        return rc;
    return all->count ? give(out, &all->entries[all->count - 1])
                      : none(ds, "", 0);
}

int bouma_dataset_next_step(bouma_step_info *out, const bouma_dataset *ds,
                            int64_t after)
{
    int rc = begin(out, ds);
    size_t at = rc ? 0 : count_up_to(&ds->found.steps, after);

    if (rc)
        return rc;
    return at < ds->found.steps.count ? give(out, &ds->found.steps.entries[at])
                                      : none(ds, "after", after);
}

int bouma_dataset_previous_step(bouma_step_info *out, const bouma_dataset *ds,
                                int64_t before)
{
    int rc = begin(out, ds);
    size_t at =
        rc || before <= 0 ? 0 : count_up_to(&ds->found.steps, before - 1);

    if (rc)
        return rc;
    return at ? give(out, &ds->found.steps.entries[at - 1])
              : none(ds, "before", before);
}

int bouma_dataset_step_at(bouma_step_info *out, const bouma_dataset *ds,
                          double time)
{
    BM_STRICT_MATH;
    bouma_dataset *here = (bouma_dataset *)ds;
    uint64_t step;
    int rc = begin(out, ds);

    if (rc)
        return rc;
    if (!isfinite(time))
        return bm_fail(&here->error, BOUMA_EINVAL,
                       "the time is %g; it must be a finite number", time);
    rc = bm_step_times_nearest(&here->found.times, &ds->found.steps, time,
                               &step);
    if (!rc)
        return give(out, bm_step_list_find(&ds->found.steps, step));
    return rc == BOUMA_ENOMEM
               ? bm_fail(&here->error, rc, "%s: no memory", ds->store.path)
               : bm_fail(&here->error, rc, "%s: has no steps%s", ds->store.path,
                         ds->found.steps.count ? " whose time is known" : "");
}
