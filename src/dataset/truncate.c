/* truncate.c -- see truncate.h. */
#include "dataset/truncate.h"

#include <string.h>

#include "base/clock.h"
#include "dataset/drain.h"
#include "dataset/idx.h"
#include "dataset/sweep.h"
#include "store/identity.h"
#include "store/losses.h"
#include "store/step_dir.h"
#include "store/truncations.h"

/* What is left of an ascending list: steps up to 'last'. */
static size_t count_kept(const struct bm_step_list *list, int64_t last)
{
    size_t n = list->count;

    while (n && (int64_t)list->entries[n - 1].step > last)
        n--;
    return n;
}

/* Which steps go: all behind 'last', or those of a list. */
struct choice {
    const struct bm_step_list *steps; /* NULL: all behind 'last' */
    int64_t last;
};

/* In one store. The index forgets the steps first, durably, so that it never
 * knows one that is gone; losses among those that stay are put on record. Then
 * the others go, the last one first: who is interrupted in a truncation leaves
 * steps without a gap. What killed writers have left beyond the last step goes,
 * too, and so does the record of steps there that were lost. */
struct dropping {
    struct bm_store *s;
    const uint8_t *id;
    uint32_t epoch; /* of the claim */
    struct choice choice;
    int begun;
    struct bm_step_list there; /* directories, of which the last is next */
    size_t kept;
    struct bm_sweep sweep;
};

static void init(struct dropping *t, struct bm_store *s,
                 const struct bouma_dataset *ds, struct choice choice)
{
    memset(t, 0, sizeof(*t));
    t->s = s;
    t->id = ds->id;
    t->epoch = ds->claim.epoch;
    t->choice = choice;
    bm_step_list_init(&t->there, s->a);
}

static int forget_last(struct dropping *t, struct bm_error *error)
{
    struct bm_step_list known;
    struct bm_step_search search = {
        .store = t->s, .id = t->id, .found = &known, .how = BM_FIND_SYNC};
    int rc;

    bm_step_list_init(&known, t->s->a);
    rc = bm_steps_list(t->s, &t->there, error);
    if (!rc)
        rc = bm_steps_find(&search, error);
    t->kept = count_kept(&t->there, t->choice.last);
    known.count = count_kept(&known, t->choice.last);
    if (!rc)
        rc = bm_idx_forget(t->s, t->choice.last, error);
    if (!rc)
        rc = bm_steps_write_index(t->s, t->id, &known, NULL, NULL, error);
    bm_step_list_release(&known);
    return rc;
}

static int forget_listed(struct dropping *t, struct bm_error *error)
{
    const struct bm_step_list *steps = t->choice.steps;
    int rc = BOUMA_OK;

    if (bm_step_list_reserve(&t->there, steps->count))
        return bm_fail(error, BOUMA_ENOMEM, "%s: no memory", t->s->path);
    for (size_t i = 0; i < steps->count && !rc; i++) {
        uint64_t step = steps->entries[i].step;

        bm_step_list_put(&t->there, (struct bm_step_entry){step, 0, {0, 0}});
        rc = bm_idx_forget_step(t->s, step, error);
    }
    return rc ? rc : bm_index_forget_all(t->s, t->id, &t->there, error);
}

static int forget_losses(const struct dropping *t, struct bm_error *error)
{
    int rc = BOUMA_OK;

    if (!t->choice.steps)
        return bm_losses_truncate(t->s, t->choice.last, error);
    for (size_t i = 0; i < t->choice.steps->count && !rc; i++) {
        uint64_t step = t->choice.steps->entries[i].step;
        char name[BM_NAME_BYTES];

        bm_name_loss(name, step);
        if (!bm_store_is_absent(t->s, name))
            rc = bm_losses_remove(t->s, step, error);
    }
    return rc;
}

static int drop_in_store(void *context, double until, int *more,
                         struct bm_error *error)
{
    struct dropping *t = context;
    int rc = t->begun          ? BOUMA_OK
             : t->choice.steps ? forget_listed(t, error)
                               : forget_last(t, error);

    t->begun = 1;
    t->sweep.until = until;
    while (!rc && t->there.count > t->kept) {
        const uint64_t step = t->there.entries[t->there.count - 1].step;

        rc = bm_epoch_check(t->s, t->epoch, error);
        if (!rc)
            bm_idx_drop(t->s, step);
        if (!rc)
            rc = bm_sweep_step(&t->sweep, t->s, step, error);
        t->there.count -= !t->sweep.paused;
        *more =
            t->sweep.paused || (bm_clock() > until && t->there.count > t->kept);
        if (*more)
            return rc;
    }
    if (!rc)
        rc = bm_store_sync_dir(t->s, BM_NAME_STEPS, error);
    if (!rc)
        rc = bm_epoch_check(t->s, t->epoch, error);
    return rc ? rc : forget_losses(t, error);
}

/* On ranks that have this store ('mine'). Collective. */
static int drop_all(struct bouma_dataset *ds, struct bm_store *s, int mine,
                    struct choice choice)
{
    struct dropping t;
    int rc;

    init(&t, s, ds, choice);
    rc = bm_comm_do(ds->comm, mine ? drop_in_store : NULL, &t, &ds->error);
    if (!rc && mine)
        rc = bm_sweep_tell(ds, &t.sweep, s);
    bm_step_list_release(&t.there);
    return bm_comm_agree(ds->comm, rc, &ds->error);
}

/* Where steps are drained to. */
static struct bm_store *target(struct bouma_dataset *ds)
{
    return ds->draining.drain ? &ds->second : &ds->store;
}

/* Rank 0: before anything goes it is on record where steps are drained to.
 * Local copies that this handle does not have keep their copies. Steps that it
 * writes from now on are of later attempts. */
static int record(struct bouma_dataset *ds, struct choice choice)
{
    struct bm_generation now = {ds->claim.epoch, ds->claim.attempt};

    return choice.steps
               ? bm_truncations_record_deleted(target(ds), ds->id, choice.steps,
                                               now, &ds->error)
               : bm_truncations_record(target(ds), ds->id,
                                       (struct bm_truncation){choice.last, now},
                                       &ds->error);
}

/* What the handle knows of steps, without those that are gone. */
static void shorten(struct bm_step_list *list, struct choice choice)
{
    size_t kept = 0;

    if (!choice.steps) {
        list->count = count_kept(list, choice.last);
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        if (!bm_step_list_find(choice.steps, list->entries[i].step))
            list->entries[kept++] = list->entries[i];
    list->count = kept;
    list->changes++;
}

/* After a failure some may be gone, and others not. Collective. */
static void find_left(struct bouma_dataset *ds)
{
    struct bm_error why = ds->error;

    bm_dataset_refresh(ds); /* if that fails, too, the list is as it was */
    ds->error = why;
}

static int drop(struct bouma_dataset *ds, struct choice choice)
{
    int first = ds->comm->rank == 0, mine = first || ds->claim.claims,
        rc = BOUMA_OK;

    if (mine) {
        rc = bm_epoch_check(&ds->store, ds->claim.epoch, &ds->error);
        if (!rc && ds->draining.drain && first)
            rc = bm_epoch_check(&ds->second, ds->claim.epoch, &ds->error);
    }
    /* No store is touched unless all are ours. */
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (!rc && mine)
        rc = bm_commit_sync_all(ds);
    if (!rc && first)
        rc = record(ds, choice);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (!rc)
        rc = drop_all(ds, &ds->store, mine, choice);
    if (!rc && ds->draining
                   .drain) /* local copies first: they would be drained again */
        rc = drop_all(ds, &ds->second, first, choice);
    if (!rc && mine)
        rc = bm_commit_load_losses(ds);
    if (!rc && ds->draining.drain)
        rc = bm_drain_load_losses(ds);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (rc) {
        find_left(ds);
        return rc;
    }
    shorten(&ds->found.steps, choice);
    shorten(&ds->commits.replaced, choice);
    return BOUMA_OK;
}

int bm_dataset_truncate(struct bouma_dataset *ds, int64_t last)
{
    return drop(ds, (struct choice){NULL, last});
}

int bm_dataset_delete(struct bouma_dataset *ds,
                      const struct bm_step_list *steps)
{
    return drop(ds, (struct choice){steps, 0});
}

static int see_any(void *context, const char *entry)
{
    *(int *)context |= bm_sweep_is_ours(entry);
    return 0;
}

/* Whether a store has files of a step, and no manifest. */
static int has_rest(struct bm_store *s, uint64_t step)
{
    struct bm_error ignored = {0};
    char name[BM_NAME_BYTES];
    int any = 0;

    bm_name_manifest(name, step);
    if (!bm_store_is_absent(s, name))
        return 0;
    bm_step_dir_list(s, step, see_any, &any, &ignored);
    return any;
}

/* An earlier call may not have come to its end: steps that it has put on record
 * need not be there any more. */
static int was_deleted(struct bouma_dataset *ds, const struct bm_truncations *t,
                       uint64_t step)
{
    return bm_truncations_is_deleted(t, step) ||
           (bm_truncations_limit(t, step).epoch &&
            (has_rest(&ds->store, step) ||
             (ds->draining.drain && has_rest(&ds->second, step))));
}

int bm_dataset_find_unknown(struct bouma_dataset *ds,
                            const struct bm_step_list *steps, uint64_t *unknown)
{
    struct bm_error ignored = {0};
    struct bm_truncations t;
    int found = 0;

    bm_truncations_init(&t, ds->a);
    bm_truncations_load(target(ds), ds->id, &t, &ignored);
    for (size_t i = 0; i < steps->count && !found; i++) {
        *unknown = steps->entries[i].step;
        found = !bm_step_list_find(&ds->found.steps, *unknown) &&
                !was_deleted(ds, &t, *unknown);
    }
    bm_truncations_release(&t);
    return found;
}
