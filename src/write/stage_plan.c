/* stage_plan.c -- who encodes which chunk of grids, made or used again; and
 * which particles go to which file. */
#include "write/own_plan.h"
#include "write/plan_image.h"
#include "write/split.h"

/* Where the plan is kept for the next step. */
static struct bm_write_plan **kept_plan(struct bm_write_job *job)
{
    return job->whole ? &job->ds->carried.split->plan : &job->ds->carried.plan;
}

/* With `weighted`, who made the plan changes it later on. */
static int share_plan(struct bm_write_job *job, int rc)
{
    struct bouma_dataset *ds = job->ds;

    return bm_plan_share(kept_plan(job), &ds->schema, job->comm,
                         ds->options.distribute == BOUMA_DISTRIBUTE_WEIGHTED,
                         rc, &ds->error);
}

/* With `planning` = local, unless there is nothing to plan or blocks do not cover
 * their grids: the plan of all tells where. *made: there is one, or an error.
 * Collective; one status on all ranks. */
static int make_own_plan(struct bm_write_job *job, int *made)
{
    struct bouma_dataset *ds = job->ds;
    struct bm_write_plan **plan = kept_plan(job);
    const char *why;
    int rc;

    *made = 0;
    if (ds->options.planning != BOUMA_PLANNING_LOCAL)
        return BOUMA_OK;
    *made = 1;
    bm_plan_free(*plan);
    *plan = NULL;
    why = bm_own_plan_refuses(&ds->options, &ds->schema);
    if (why)
        return bm_fail(&ds->error, BOUMA_EINVAL,
                       "the option 'planning' is local, but %s", why);
    rc = bm_own_plan_make(plan, job);
    *made = *plan || (rc && rc != BOUMA_ECOVER);
    return *made ? rc : BOUMA_OK;
}

/* Gather all descriptions on the first rank of each node, and make a plan of
 * them there, for all ranks of the node. Collective. */
static int make_plan(struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;
    struct bm_write_plan **plan = kept_plan(job);
    struct bm_job_given *given = job->whole ? &job->whole->given : &job->given;
    int leads = bm_comm_leads(job->comm), rc = BOUMA_OK;
    size_t *sizes =
        leads ? bm_new(ds->a, (size_t)job->comm->size, sizeof(*sizes)) : NULL;
    struct bm_plan_scope scope;
    struct bm_buffer all;
    struct bm_descriptions told = {&all, sizes, job->comm->size,
                                   job->comm->rank,
                                   bm_split_scope(job, &scope)};

    bm_plan_free(*plan);
    *plan = NULL;
    bm_buffer_init(&all, ds->a);
    if (leads && !sizes)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to plan the step");
    rc = bm_comm_collect_at_nodes(job->comm, &given->blocks, &all, sizes, rc,
                                  &ds->error);
    bm_job_lap(job, BM_DESCRIBE);
    if (!rc && leads)
        rc = bm_plan_make(plan, ds->a, &ds->schema, ds->options.distribute,
                          &told, &ds->error);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    if (!job->comm->lost)
        rc = share_plan(job, rc);
    return rc;
}

/* Other owners by what chunks took, if that is of use, on the first rank of
 * each node; and then on the others. Collective. */
static int balance_plan(struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;
    struct bm_comm *near = bm_comm_near(job->comm);
    int rc = BOUMA_OK, changed = 0;
    uint64_t any;

    if (bm_comm_leads(job->comm))
        rc = bm_plan_balance(*kept_plan(job), job->comm->size, job->comm->rank,
                             &changed);
    if (rc)
        bm_fail(&ds->error, rc, "no memory to plan the step");
    any = changed && !rc;
    if (near->size > 1 && bm_comm_max(near, &any, 1, &ds->error))
        return BOUMA_ECOMM;
    return any ? share_plan(job, rc) : rc;
}

/* The plan of the last step holds: with `weighted`, owners may change by what
 * its chunks took. Collective. */
static int reuse_plan(struct bm_write_job *job)
{
    struct bm_write_plan **plan = kept_plan(job);
    int rc;

    if (!(*plan)->times.known)
        return BOUMA_OK;
    rc = bm_comm_agree(job->comm, balance_plan(job), &job->ds->error);
    if (rc) { /* the plans of others may have changed */
        bm_plan_free(*plan);
        *plan = NULL;
    }
    return rc;
}

/* Collective; ends with one status on all ranks. */
static int plan_grids(struct bm_write_job *job)
{
    int made, rc;

    if (job->given.is_new) {
        rc = make_own_plan(job, &made);
        if (!made)
            rc = make_plan(job);
        if (!job->whole)
            job->ds->carried.plan_hash = job->given.hash;
        rc = bm_comm_agree(job->comm, rc, &job->ds->error);
    } else {
        rc = reuse_plan(job);
    }
    bm_buffer_release(&job->given.blocks);
    job->plan.grids = *kept_plan(job);
    return bm_job_agreed(job, rc);
}

/* Memory for what goes between ranks; on the first of a node, for the sizes of
 * chunks. */
static int reserve_chunks(struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;
    struct bm_job_plan *plan = &job->plan;
    int rc = bm_shaper_init(&job->held.shaper, ds, job->comm, plan->grids,
                            &job->entry);

    if (!bm_comm_leads(job->comm) && !plan->grids->own)
        return rc;
    plan->bytes = bm_new_raw(ds->a, plan->grids->chunks, sizeof(*plan->bytes));
    plan->size_bytes = bm_new_raw(ds->a, plan->grids->chunks, 1);
    return rc || (plan->bytes && plan->size_bytes)
               ? rc
               : bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for the sizes");
}

int bm_stage_plan(struct bm_write_job *job, int rc)
{
    if (!rc)
        rc = plan_grids(job);
    if (rc)
        return rc; /* on all ranks */
    job->held.may_have_files = 1;
    rc = reserve_chunks(job);
    if (!job->whole && bm_schema_count(&job->ds->schema, BM_PARTICLES))
        rc = bm_particles_prepare(&job->held.particles, job->ds, rc);
    return rc;
}
