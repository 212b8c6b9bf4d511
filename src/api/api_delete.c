/* api_delete.c -- single steps that go for good. */
#include <inttypes.h>

#include "api/api.h"
#include "base/hash.h"
#include "dataset/drain.h"
#include "dataset/truncate.h"

/* The caller's steps, in their order. */
static int take(struct bm_step_list *out, bouma_dataset *ds,
                const int64_t *steps, size_t count)
{
    if (count && !steps)
        return bm_fail(&ds->error, BOUMA_EINVAL,
                       "steps is NULL, but count is %zu", count);
    for (size_t i = 0; i < count; i++) {
        struct bm_step_entry e = {(uint64_t)steps[i], 0, {0, 0}};

        if (steps[i] < 0)
            return bm_fail(&ds->error, BOUMA_EINVAL,
                           "step numbers begin at 0; this is %" PRId64,
                           steps[i]);
        if (bm_step_list_add(out, e))
            return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to list steps");
    }
    return bm_step_list_sort(out)
               ? bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to list steps")
               : BOUMA_OK;
}

/* Whether all of them are there, or were: who calls again after an interrupted
 * call need not know how far it came. Only rank 0 knows what is on record. */
static int check_known(bouma_dataset *ds, const struct bm_step_list *steps)
{
    uint64_t step;

    if (ds->comm->rank != 0 || !bm_dataset_find_unknown(ds, steps, &step))
        return BOUMA_OK;
    return bm_fail(&ds->error, BOUMA_ENOTFOUND,
                   "%s: has no step %" PRIu64 "; nothing was deleted",
                   ds->store.path, step);
}

static int delete_steps(bouma_dataset *ds, const struct bm_step_list *steps,
                        int rc)
{
    uint64_t hash = 0;

    if (!rc && ds->given.in_step)
        rc = bm_fail(
            &ds->error, BOUMA_ESTATE,
            "step %" PRIu64
            " was begun but not ended; end it before others are deleted",
            ds->given.step);
    for (size_t i = 0; i < steps->count; i++)
        hash = bm_hash64(&steps->entries[i].step, sizeof(uint64_t), hash);
    rc = bm_comm_begin(ds->comm, "deleting steps", hash, NULL, rc, &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        bm_fail(&ds->error, rc, "the ranks delete different steps");
    if (!rc && ds->commits.held_count)
        rc = bm_commit_flush(ds);
    if (!rc && ds->draining.drain)
        rc = bm_drain_finish(ds);
    if (rc)
        return rc;
    rc = bm_comm_agree(ds->comm, check_known(ds, steps), &ds->error);
    return rc || !steps->count ? rc : bm_dataset_delete(ds, steps);
}

int bouma_dataset_delete_steps(bouma_dataset *ds, const int64_t *steps,
                               size_t count)
{
    BM_STRICT_MATH;
    struct bm_step_list list;
    int rc = bm_api_begin(ds, BM_TO_WRITE);

    if (rc)
        return rc;
    bm_step_list_init(&list, ds->a);
    rc = take(&list, ds, steps, count);
    rc = delete_steps(ds, &list, rc);
    bm_step_list_release(&list);
    return rc;
}

int bouma_step_delete(bouma_dataset *ds, int64_t step)
{
    return bouma_dataset_delete_steps(ds, &step, 1);
}
