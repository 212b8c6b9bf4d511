/* stage_ship.c -- chunks go to the writers of their files, and are stored. */
#include "write/files_image.h"
#include "write/predict.h"
#include "write/ship.h"

/* To the point where all memory is there and all files are made, and every rank
 * knows that this is so. */
static int open_pipe(struct bm_write_job *job, int rc)
{
    struct bouma_dataset *ds = job->ds;

    if (!rc)
        rc = bm_ship_plan(job);
    if (!rc && !job->whole)
        rc = bm_job_reserve_lists(job);
    rc = bm_pipe_open(job->transit.pipe, job->comm, job->pool, rc, &ds->error);
    bm_job_lap(job, BM_PLAN);
    return bm_job_agreed(job, rc);
}

int bm_stage_ship(struct bm_write_job *job, int rc)
{
    rc = open_pipe(job, rc);
    if (rc)
        return rc;
    rc = bm_ship_records(job, rc);
    rc = bm_ship_arrange(job, rc);
    if (!rc)
        bm_predict_keep(job);
    return bm_ship_chunks(job, !job->defers, rc);
}

/* Records are there once chunks are encoded, that is, shipped. */
int bm_stage_ship_known(struct bm_write_job *job, int rc)
{
    rc = open_pipe(job, rc);
    if (rc)
        return rc;
    rc = bm_ship_arrange(job, rc);
    rc = bm_ship_chunks(job, !job->defers, rc);
    return bm_ship_records(job, rc);
}

/* Those that turned out larger than was thought come after the others. */
int bm_stage_ship_predicted(struct bm_write_job *job, int rc)
{
    rc = open_pipe(job, rc);
    if (rc)
        return rc;
    rc = bm_predict_carry_out(job);
    rc = bm_job_gather_sizes(job, rc);
    if (!rc && bm_comm_leads(job->comm))
        job->result.misfits = bm_predict_misfits(job);
    rc = bm_files_share(job, rc);
    if (!rc && job->result.misfits)
        rc = bm_predict_ship_misfits(job, rc);
    rc = bm_predict_make_heads(job, rc);
    if (!rc)
        bm_predict_keep(job);
    return rc;
}
