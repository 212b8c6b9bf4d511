/* stage_split.c -- partitions that are written apart from each other: see
 * split.h. */
#include "comm/comm_trace.h"
#include "write/bound.h"
#include "write/split.h"

/* The groups of this step: as in the last one, or found anew. */
static int find_groups(struct bm_write_job *job)
{
    struct bm_carried *carried = &job->ds->carried;

    if (!job->given.is_new)
        return BOUMA_OK;
    /* What is left of it would not fit other groups. */
    bm_plan_free(carried->plan);
    carried->plan = NULL;
    bm_split_free(carried->split);
    return bm_split_make(&carried->split, job);
}

/* What the group has for itself. All ranks meet afterwards. Collective. */
static int write_part(struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;
    struct bm_split *split = ds->carried.split;
    int rc;

    job->held.may_have_files = 1;
    bm_comm_set_trace(split->comm, ds->comm->trace);
    split->comm->timeout = ds->comm->timeout;
    rc = bm_bounds_find(ds, BOUMA_OK);
    rc = bm_comm_agree(split->comm, rc, &ds->error);
    rc = bm_job_run_part(job, rc);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (rc) { /* the plans of groups may have changed, or lack */
        bm_plan_free(ds->carried.plan);
        ds->carried.plan = NULL;
    }
    return rc;
}

int bm_stage_split(struct bm_write_job *job, int rc)
{
    if (rc)
        return rc; /* on all ranks */
    rc = find_groups(job);
    if (!rc && job->ds->carried.split && job->ds->carried.split->comm)
        rc = write_part(job);
    return bm_job_agreed(job, rc);
}
