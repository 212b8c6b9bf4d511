/* stage_describe.c -- the beginning of a step that is written: what this rank
 * holds, the directory, and the first exchange. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "layout/grid_idx.h"
#include "store/identity.h"
#include "write/bound.h"
#include "write/extension.h"
#include "write/settle_patches.h"
#include "write/write_job.h"

static int by_variable(const void *left, const void *right)
{
    const struct bm_put *a = left, *b = right;

    if (a->variable->id != b->variable->id)
        return a->variable->id < b->variable->id ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

/* A hash of all that must be the same on all ranks; ENOMEM. */
static int hash_step(const struct bm_write_job *job, uint64_t *hash)
{
    struct bouma_dataset *ds = job->ds;
    struct bm_buffer b;
    int failed;

    bm_buffer_init(&b, ds->a);
    bm_put_u64(&b, job->entry.step);
    bm_put_f64(&b, job->entry.time);
    bm_put_u64(&b, job->base.epoch); /* it is extended by all, or by none */
    bm_schema_encode(&b, &ds->schema);
    bm_job_put_choices(&b, &ds->schema);
    bm_attributes_encode(&b, &ds->found.attributes);
    bm_attributes_encode(&b, &ds->given.step_attributes);
    failed = b.failed;
    *hash = failed ? 0 : bm_hash64(b.data, b.size, 0);
    bm_buffer_release(&b);
    return failed ? BOUMA_ENOMEM : BOUMA_OK;
}

int bm_job_hash_given(struct bm_write_job *job)
{
    const struct bm_buffer *mine = &job->given.blocks;
    struct bm_buffer shape;

    job->given.hash = 0;
    bm_buffer_init(&shape, job->ds->a);
    bm_schema_encode(&shape, &job->ds->schema);
    bm_job_put_choices(&shape, &job->ds->schema);
    if (!shape.failed && !mine->failed)
        job->given.hash = bm_hash64(mine->data, mine->size,
                                    bm_hash64(shape.data, shape.size, 1));
    bm_buffer_release(&shape);
    return job->given.hash ? BOUMA_OK : BOUMA_ENOMEM;
}

/* Number the variables, sort the puts, and say in bytes what this rank holds;
 * *hash is for the comparison with others, that of the job with the last step.
 */
static int describe(struct bm_write_job *job, uint64_t *hash)
{
    struct bouma_dataset *ds = job->ds;

    if (bm_schema_number(&ds->schema))
        return bm_fail(&ds->error, BOUMA_ENOMEM,
                       "no memory to describe the step");
    bm_bounds_reset(&ds->schema);
    if (hash_step(job, hash))
        return bm_fail(&ds->error, BOUMA_ENOMEM,
                       "no memory to describe the step");
    if (ds->given.put_count)
        qsort(ds->given.puts, ds->given.put_count, sizeof(*ds->given.puts),
              by_variable);
    bm_plan_describe(&job->given.blocks, ds->given.puts, ds->given.put_count);
    return bm_job_hash_given(job) ? bm_fail(&ds->error, BOUMA_ENOMEM,
                                            "no memory to describe the step")
                                  : BOUMA_OK;
}

/* A grid without variables is a mistake: one was defined before its grid, with
 * a handle that was still NULL, and there was no dataset to remember that. */
static const struct bm_object *bare_grid(const struct bouma_dataset *ds,
                                         int even_if_allowed)
{
    for (int i = 0; i < ds->schema.count; i++) {
        const struct bm_object *grid = ds->schema.objects[i];

        if (grid->layout->chunking && !grid->count &&
            (even_if_allowed || !grid->may_be_bare))
            return grid;
    }
    return NULL;
}

/* Some rank has one that it has not allowed. All have the same schema, so all
 * say the same. */
static int tell_bare_grid(struct bouma_dataset *ds)
{
    return bm_fail(&ds->error, BOUMA_EINVAL,
                   "grid \"%s\" has no variable; define the grid first, then "
                   "its variables (with NULL for a grid, "
                   "bouma_variable_define() does nothing)",
                   bare_grid(ds, 1)->name);
}

static int make_directory(struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;
    struct bm_error why = {0};
    char name[BM_NAME_BYTES];
    int rc;

    bm_name_step(name, job->entry.step);
    rc = bm_store_make_dir(&ds->store, name, 0, &why);
    job->held.made_directory = !rc;
    return rc && rc != BOUMA_EEXISTS ? bm_fail(&ds->error, rc, "%s", why.text)
                                     : BOUMA_OK;
}

/* Rank 0 makes the directory, so that it is there when files are made; it tells
 * if an earlier version of the step is there. With 'persist', each local copy
 * has one rank that does. */
static int prepare_directory(struct bm_write_job *job, int *replacing)
{
    struct bouma_dataset *ds = job->ds;
    char name[BM_NAME_BYTES];
    int rc;

    if (ds->comm->rank != 0)
        return ds->claim.claims ? make_directory(job) : BOUMA_OK;
    rc = bm_epoch_check(&ds->store, ds->claim.epoch, &ds->error);
    if (rc)
        return rc;
    if (job->base.epoch) {
        *replacing = 1;
        rc = bm_extension_check(ds, job->entry.step, job->base);
        return rc ? rc : make_directory(job);
    }
    bm_name_manifest(name, job->entry.step);
    *replacing = bm_store_exists(&ds->store, name);
    if (!ds->options.replace && *replacing) {
        /* The caller will rely on the old step: make it durable. */
        rc = bm_commit_sync(ds, job->entry.step);
        return rc ? rc
                  : bm_fail(&ds->error, BOUMA_EEXISTS,
                            "%s: step %" PRIu64 " exists already; set the "
                            "option 'replace' to write it again",
                            ds->store.path, job->entry.step);
    }
    if (ds->draining.drain &&
        bm_step_list_find(&ds->found.steps, job->entry.step)) {
        *replacing = 1; /* perhaps in the other store only */
        if (!ds->options.replace)
            return bm_fail(&ds->error, BOUMA_EEXISTS,
                           "%s: step %" PRIu64 " exists already; set the "
                           "option 'replace' to write it again",
                           ds->second.path, job->entry.step);
    }
    for (int i = 0; i < ds->commits.held_count; i++)
        if (ds->commits.held[i].entry.step == job->entry.step &&
            !ds->options.replace)
            return bm_fail(&ds->error, BOUMA_EEXISTS,
                           "%s: step %" PRIu64 " was written already and waits "
                           "for its group",
                           ds->store.path, job->entry.step);
    return make_directory(job);
}

/* Timesteps of IDX end somewhere. */
static int check_idx_step(struct bouma_dataset *ds, uint64_t step)
{
    return step > BM_IDX_LAST_STEP && bm_schema_has_idx(&ds->schema)
               ? bm_fail(&ds->error, BOUMA_EINVAL,
                         "step %" PRIu64 ": a grid has 'idx', and IDX has "
                         "timesteps up to %d",
                         step, BM_IDX_LAST_STEP)
               : BOUMA_OK;
}

int bm_stage_describe(struct bm_write_job *job, int rc)
{
    struct bouma_dataset *ds = job->ds;
    uint64_t hash = 0, largest[2];
    int replacing = 0;

    if (rc == BOUMA_EABORTED)
        bm_fail(&ds->error, rc, "step %" PRIu64 " was aborted by the caller",
                job->entry.step);
    else if (!rc)
        rc = bm_refused_tell(&ds->given.refused, &ds->error);
    if (!rc)
        rc = check_idx_step(ds, job->entry.step);
    if (!rc)
        rc = describe(job, &hash);
    if (!rc)
        rc = prepare_directory(job, &replacing);
    /* 1: a new plan is needed; 2: and there is an earlier version; 3: a grid
     * has no variable, which is told once ranks are known to have the same. */
    largest[0] = bare_grid(ds, 0) ? 3
                 : replacing      ? 2
                                  : !ds->carried.plan ||
                                   job->given.hash != ds->carried.plan_hash;
    largest[1] = ds->claim.attempt; /* a rank may have missed one that failed */
    rc = bm_comm_begin(ds->comm, "the end of a step", hash, largest, rc,
                       &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        rc = bm_job_mismatch(job);
    if (!rc && largest[0] == 3)
        rc = tell_bare_grid(ds);
    /* Who writes a step again, or adds to it, must not lose both versions: that
     * is synced in any case (in a group, later). */
    job->synced =
        ds->options.durability == BOUMA_DURABILITY_DURABLE || job->base.epoch ||
        (ds->options.durability == BOUMA_DURABILITY_FAST && largest[0] == 2);
    ds->claim.attempt = (uint32_t)largest[1] + 1;
    job->entry.generation =
        (struct bm_generation){ds->claim.epoch, ds->claim.attempt};
    job->given.is_new = largest[0] != 0;
    if (!rc)
        rc = bm_settle_patches(job);
    return bm_job_agreed(job, rc);
}
