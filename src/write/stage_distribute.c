/* stage_distribute.c -- particles go to the writers of their files, and parts
 * of chunks to the ranks that encode them. */
#include "write/bound.h"
#include "write/shape_tiles.h"
#include "write/write_job.h"

/* The ranks have agreed on the plan of particles, if there are any. */
static int distribute_particles(struct bm_write_job *job, int rc)
{
    if (!rc && job->held.particles.plan.set_count)
        rc = bm_particles_exchange(&job->held.particles);
    bm_job_lap(job, BM_DISTRIBUTE);
    return rc;
}

static int distribute_grids(struct bm_write_job *job, int rc)
{
    struct bouma_dataset *ds = job->ds;

    if (!job->plan.grids->moved_bytes)
        return rc;
    rc = bm_comm_agree(job->comm, rc, &ds->error);
    return rc ? rc : bm_shaper_exchange(&job->held.shaper);
}

int bm_stage_distribute(struct bm_write_job *job, int rc)
{
    rc = distribute_particles(job, rc);
    if (!job->part && !job->whole) /* else it is done */
        rc = bm_bounds_find(job->ds, rc);
    bm_job_lap(job, BM_SHAPE);
    rc = bm_tiles_transform(&job->held.shaper, rc);
    return distribute_grids(job, rc);
}
