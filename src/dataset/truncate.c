/* truncate.c -- see truncate.h. */
#include "dataset/truncate.h"

#include "dataset/sweep.h"
#include "store/identity.h"
#include "store/losses.h"

/* What is left of an ascending list: steps up to 'last'. */
static size_t count_kept(const struct bm_step_list *list, int64_t last)
{
    size_t n = list->count;

    while (n && (int64_t)list->entries[n - 1].step > last)
        n--;
    return n;
}

/* In one place. The index forgets the steps first, durably, so that it never
 * knows one that is gone; losses among those that stay are put on record. Then
 * the others go, the last one first: who is interrupted
 * leaves steps without a gap. What killed writers have left beyond the last
 * step goes, too, and so does the record of steps there that were lost. */
static int truncate_place(struct bm_store *s, const uint8_t id[16],
                          int64_t last, struct bm_error *error)
{
    struct bm_step_list known, there;
    size_t kept;
    int stale = 0, rc;

    bm_step_list_init(&known, s->a);
    bm_step_list_init(&there, s->a);
    rc = bm_steps_list(s, &there, error);
    if (!rc)
        rc = bm_steps_find(s, id, &known, &stale, BM_FIND_SETTLE, NULL, NULL,
                           error);
    kept = count_kept(&there, last);
    known.count = count_kept(&known, last);
    if (!rc)
        rc = bm_steps_write_index(s, id, &known, NULL, NULL, error);
    while (!rc && there.count > kept)
        rc = bm_sweep_step(s, there.entries[--there.count].step, error);
    if (!rc)
        rc = bm_store_sync_dir(s, BM_NAME_STEPS, error);
    if (!rc)
        rc = bm_losses_truncate(s, last, error);
    bm_step_list_release(&known);
    bm_step_list_release(&there);
    return rc;
}

int bm_dataset_truncate(struct bouma_dataset *ds, int64_t last)
{
    int rc = BOUMA_OK;

    if (ds->comm->rank == 0 || ds->claims) {
        rc = bm_epoch_check(&ds->store, ds->epoch, &ds->error);
        if (!rc && ds->drain && ds->comm->rank == 0)
            rc = bm_epoch_check(&ds->second, ds->epoch, &ds->error);
    }
    /* No place is touched unless all are ours. */
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (!rc && (ds->comm->rank == 0 || ds->claims)) {
        rc = bm_commit_settle_all(ds);
        if (!rc)
            rc = truncate_place(&ds->store, ds->id, last, &ds->error);
    }
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (ds->drain && !rc) { /* twins first: they would be drained again */
        if (ds->comm->rank == 0)
            rc = truncate_place(&ds->second, ds->id, last, &ds->error);
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    if (!rc) {
        ds->steps.count = count_kept(&ds->steps, last);
        ds->replaced.count = count_kept(&ds->replaced, last);
    }
    return rc;
}
