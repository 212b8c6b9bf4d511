/* truncate.c -- see truncate.h. */
#include "dataset/truncate.h"

#include <string.h>

#include "base/clock.h"
#include "dataset/drain.h"
#include "dataset/idx.h"
#include "dataset/sweep.h"
#include "store/identity.h"
#include "store/losses.h"
#include "store/truncations.h"

/* What is left of an ascending list: steps up to 'last'. */
static size_t count_kept(const struct bm_step_list *list, int64_t last)
{
    size_t n = list->count;

    while (n && (int64_t)list->entries[n - 1].step > last)
        n--;
    return n;
}

/* In one store. The index forgets the steps first, durably, so that it never
 * knows one that is gone; losses among those that stay are put on record. Then
 * the others go, the last one first: who is interrupted leaves steps without a
 * gap. What killed writers have left beyond the last step goes, too, and so
 * does the record of steps there that were lost. */
struct truncation {
    struct bm_store *s;
    const uint8_t *id;
    uint32_t epoch; /* of the claim */
    int64_t last;
    int begun;
    struct bm_step_list there; /* directories, of which the last is next */
    size_t kept;
    struct bm_sweep sweep;
};

static void init(struct truncation *t, struct bm_store *s,
                 const struct bouma_dataset *ds, int64_t last)
{
    memset(t, 0, sizeof(*t));
    t->s = s;
    t->id = ds->id;
    t->epoch = ds->claim.epoch;
    t->last = last;
    bm_step_list_init(&t->there, s->a);
}

static int forget(struct truncation *t, struct bm_error *error)
{
    struct bm_step_list known;
    struct bm_step_search search = {
        .store = t->s, .id = t->id, .found = &known, .how = BM_FIND_SYNC};
    int rc;

    bm_step_list_init(&known, t->s->a);
    rc = bm_steps_list(t->s, &t->there, error);
    if (!rc)
        rc = bm_steps_find(&search, error);
    t->kept = count_kept(&t->there, t->last);
    known.count = count_kept(&known, t->last);
    if (!rc)
        rc = bm_idx_forget(t->s, t->last, error);
    if (!rc)
        rc = bm_steps_write_index(t->s, t->id, &known, NULL, NULL, error);
    bm_step_list_release(&known);
    t->begun = 1;
    return rc;
}

static int truncate_store(void *context, double until, int *more,
                          struct bm_error *error)
{
    struct truncation *t = context;
    int rc = t->begun ? BOUMA_OK : forget(t, error);

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
    if (!rc)
        rc = bm_losses_truncate(t->s, t->last, error);
    return rc;
}

/* On ranks that have this store ('mine'). Collective. */
static int truncate_all(struct bouma_dataset *ds, struct bm_store *s, int mine,
                        int64_t last)
{
    struct truncation t;
    int rc;

    init(&t, s, ds, last);
    rc = bm_comm_do(ds->comm, mine ? truncate_store : NULL, &t, &ds->error);
    if (!rc && mine)
        rc = bm_sweep_tell(ds, &t.sweep, s);
    bm_step_list_release(&t.there);
    return bm_comm_agree(ds->comm, rc, &ds->error);
}

/* Rank 0: before anything goes it is on record where steps are drained to.
 * Local copies that this handle does not have keep their copies. Steps that it
 * writes from now on are of later attempts. */
static int record(struct bouma_dataset *ds, int64_t last)
{
    struct bm_truncation now = {last, {ds->claim.epoch, ds->claim.attempt}};

    return bm_truncations_record(ds->draining.drain ? &ds->second : &ds->store,
                                 ds->id, now, &ds->error);
}

int bm_dataset_truncate(struct bouma_dataset *ds, int64_t last)
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
        rc = record(ds, last);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (!rc)
        rc = truncate_all(ds, &ds->store, mine, last);
    if (!rc && ds->draining
                   .drain) /* local copies first: they would be drained again */
        rc = truncate_all(ds, &ds->second, first, last);
    if (!rc && mine)
        rc = bm_commit_load_losses(ds);
    if (!rc && ds->draining.drain)
        rc = bm_drain_load_losses(ds);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (!rc) {
        ds->found.steps.count = count_kept(&ds->found.steps, last);
        ds->commits.replaced.count = count_kept(&ds->commits.replaced, last);
    }
    return rc;
}
