/* stage_commit.c -- rank 0 commits, and the step enters the lists of the
 * dataset; or its directory goes. */
#include "dataset/drain.h"
#include "dataset/idx.h"
#include "layout/grid_idx.h"
#include "store/identity.h"
#include "store/step_dir.h"
#include "write/write_job.h"

/* Room for the step among those that are to be drained. */
static int reserve_drain(struct bm_write_job *job)
{
    size_t count = bm_job_subfile_count(job);
    uint32_t *numbers = bm_drain_reserve(job->ds->draining.drain, count);

    if (!numbers)
        return bm_fail(&job->ds->error, BOUMA_ENOMEM,
                       "no memory to list the step");
    for (size_t i = 0; i < count; i++)
        numbers[i] = bm_job_subfile(job, i)->head.subfile;
    return BOUMA_OK;
}

int bm_job_reserve_lists(struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;
    size_t count = ds->commits.held_file_count + bm_job_subfile_count(job);
    struct bm_file *grown;

    grown = bm_resize(ds->a, ds->commits.held_files, count, sizeof(*grown));
    if (grown)
        ds->commits.held_files = grown;
    if (!grown ||
        bm_step_list_reserve(&ds->found.steps, (size_t)ds->options.group + 1) ||
        bm_step_list_reserve(&ds->commits.unsynced,
                             (size_t)ds->options.group + 1) ||
        bm_step_list_reserve(&ds->commits.replaced,
                             (size_t)ds->options.group + 1))
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to list the step");
    return ds->draining.drain ? reserve_drain(job) : BOUMA_OK;
}

/* Tell all ranks how the commit went: the record, or whether the files can be
 * removed. Collective. */
static int share_outcome(struct bm_write_job *job, int published, int rc)
{
    struct bm_comm *comm = job->ds->comm;
    uint64_t any = (uint64_t)published;
    int sent;

    rc = bm_comm_agree(comm, rc, &job->ds->error);
    job->result.keep = 1;
    if (rc) {
        job->result.keep = bm_comm_max(comm, &any, 1, &job->ds->error) || any;
        return rc;
    }
    sent = comm->functions->broadcast(comm, &job->result.record,
                                      sizeof(job->result.record), 0);
    return sent ? bm_fail(&job->ds->error, BOUMA_ECOMM,
                          "the step is written, but its record was not "
                          "received")
                : BOUMA_OK;
}

/* Enter a committed step into the lists, which have room. With 'persist' it is
 * collective. */
static void list_step(struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;

    if (ds->draining.drain)
        bm_drain_hand(ds, &job->entry, 1);
    if (ds->options.durability != BOUMA_DURABILITY_GROUP || job->base.epoch) {
        bm_step_list_put(&ds->found.steps, job->entry);
        return;
    }
    if (ds->comm->rank != 0) /* rank 0 holds it since the commit */
        ds->commits.held[ds->commits.held_count++] =
            (struct bm_held_step){.entry = job->entry};
    for (size_t i = 0; i < bm_job_subfile_count(job); i++) {
        ds->commits.held_files[ds->commits.held_file_count++] =
            bm_job_subfile(job, i)->file;
        bm_job_subfile(job, i)->file.handle = NULL;
    }
}

int bm_stage_commit(struct bm_write_job *job, int rc)
{
    struct bouma_dataset *ds = job->ds;
    struct bm_commit_how how = {.synced = job->synced, .base = job->base};
    int published = 0;

    if (rc)
        return rc;
    if (ds->comm->rank == 0)
        rc =
            bm_commit(ds, &job->entry, &job->result.manifest, &how, &published);
    /* Who has taken over may have repaired the step: so its files stay. */
    if (rc && ds->comm->rank == 0)
        published |=
            bm_epoch_check(&ds->store, ds->claim.epoch, &ds->error) != 0;
    bm_job_lap(job, BM_COMMIT);
    job->result.record.commit_seconds = job->result.seconds[BM_COMMIT];
    rc = share_outcome(job, published, rc);
    if (!rc)
        list_step(job);
    else if (ds->draining.drain && job->result.keep && rc != BOUMA_ECOMM)
        bm_drain_hand(ds, &job->entry, 0);
    return rc;
}

void bm_job_remove_directory(struct bm_write_job *job, int rc)
{
    struct bouma_dataset *ds = job->ds;
    struct bm_error ignored = {0};
    int unlinks;

    if (rc == BOUMA_ECOMM || (job->held.may_have_files &&
                              bm_comm_agree(ds->comm, BOUMA_OK, &ignored)))
        return;
    unlinks = ds->comm->rank == 0 && !job->result.keep &&
              bm_schema_has_idx(&ds->schema);
    if ((!job->held.made_directory && !unlinks) ||
        bm_epoch_check(&ds->store, ds->claim.epoch, &ignored))
        return;
    if (unlinks)
        bm_idx_unlink_step(&ds->store, &ds->schema, &job->entry);
    if (job->held.made_directory)
        bm_step_dir_remove(&ds->store, job->entry.step);
}
