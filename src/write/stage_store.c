/* stage_store.c -- the end of a step: heads are written, what ranks have to say
 * of their files is gathered, and rank 0 makes a manifest of it. */
#include <string.h>

#include "base/hash.h"
#include "dataset/borrowed.h"
#include "dataset/idx.h"
#include "layout/grid_idx.h"
#include "store/step_dir.h"
#include "write/extension.h"
#include "write/predict.h"
#include "write/write_sheets.h"

/* Make the heads of this rank's subfiles, and say what is in them, for rank 0.
 */
static int seal_subfiles(struct bm_write_job *job, struct bm_buffer *infos,
                         int rc)
{
    struct bouma_dataset *ds = job->ds;

    for (size_t i = 0; i < bm_job_subfile_count(job) && !rc; i++) {
        struct bm_subfile *f = bm_job_subfile(job, i);
        struct bm_subfile_info info;
        uint8_t hash[16];

        f->head.subfiles = (uint32_t)job->plan.all_files;
        rc = bm_subfile_seal(f, ds, hash);
        if (rc)
            break;
        rc = bm_subfile_info_of(&info, &f->head, hash, ds->a);
        if (!rc)
            bm_record_put(infos, f->head.subfile, &info, &ds->schema);
        if (rc || infos->failed)
            rc =
                bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for the manifest");
        bm_subfile_info_release(&info, ds->a);
    }
    return rc;
}

/* A link to a file that is one of IDX, too. Nobody looks for it yet. */
static int link_file(struct bm_write_job *job, const struct bm_subfile *f,
                     struct bm_error *error)
{
    struct bouma_dataset *ds = job->ds;
    const struct bm_head *h = &f->head;
    struct bm_idx_file link = {
        .step = h->step, .generation = h->generation, .subfile = h->subfile};

    if (!h->count || ds->draining.drain)
        return BOUMA_OK;
    link.grid = h->sections[0].variable->object;
    if (!bm_grid_is_idx(link.grid))
        return BOUMA_OK;
    link.first = bm_grid_idx_first_with(link.grid, h->sections[0].keys[0]);
    return bm_idx_link(&ds->store, &link, error);
}

/* Make the names of files in subdirectories of the step durable. Other ranks
 * have files there, and see to theirs. */
static int sync_folders(struct bm_write_job *job, struct bm_error *error)
{
    size_t count = bm_job_subfile_count(job);
    int rc = BOUMA_OK;

    for (size_t i = 0; i < count && !rc; i++) {
        const char *name = bm_job_subfile(job, i)->file.name;

        if (i + 1 == count ||
            !bm_name_same_folder(name, bm_job_subfile(job, i + 1)->file.name))
            rc = bm_step_dir_sync_folder(&job->ds->store, name, error);
    }
    return rc;
}

/* Wait for what is being stored, then write heads and close. The only
 * thing that the thread does, if there is one. */
static int end_files(void *context, size_t only, struct bm_error *error)
{
    struct bm_write_job *job = context;
    int hold = job->ds->options.durability == BOUMA_DURABILITY_GROUP &&
               !job->base.epoch;
    int rc = bm_pipe_wait(job->transit.pipe, error);

    (void)only;
    if (!rc && job->part)
        rc = bm_pipe_wait(job->part->transit.pipe, error);
    if (!rc && job->transit.particle_storer)
        rc = bm_io_thread_wait(job->transit.particle_storer, error);
    for (size_t i = 0; i < bm_job_subfile_count(job) && !rc; i++) {
        rc =
            bm_subfile_finish(bm_job_subfile(job, i), job->synced, hold, error);
        if (!rc)
            rc = link_file(job, bm_job_subfile(job, i), error);
    }
    /* What waits for its group is made durable with that. */
    return rc || !job->synced || hold ? rc : sync_folders(job, error);
}

/* Of this rank's chunks, those that go to another one. */
static uint64_t shipped_bytes(const struct bm_write_job *job)
{
    const struct bm_write_plan *plan = job->plan.grids;
    uint64_t bytes = 0;

    for (size_t m = 0; m < plan->mine_count; m++)
        if (bm_job_writer(job, job->plan.files.file[plan->mine[m]]) !=
            job->comm->rank)
            bytes += bm_predict_shipped(job, plan->mine[m]);
    return bytes;
}

/* All but the statistics of ranks and groups, which are there. */
static void fill_record(struct bm_write_job *job, bouma_record *r,
                        const struct bm_manifest *m, const uint64_t *slowest)
{
    double *seconds[BM_COMMIT] = {&r->describe_seconds,   &r->plan_seconds,
                                  &r->distribute_seconds, &r->shape_seconds,
                                  &r->ship_seconds,       &r->store_seconds};

    r->raw_bytes = job->plan.grids->raw_bytes + job->held.particles.raw_bytes;
    r->moved_bytes +=
        job->plan.grids->moved_bytes + job->plan.grids->tiled_bytes;
    r->shipped_bytes += job->held.particles.shipped_bytes;
    r->predicted = job->plan.prediction != NULL;
    r->misfits += (int64_t)job->result.misfits;
    r->ranks = job->ds->comm->size;
    if (job->plan.grids->most_patches > r->most_patches)
        r->most_patches = job->plan.grids->most_patches;
    bm_manifest_count(r, m);
    for (int i = 0; i < BM_COMMIT; i++)
        *seconds[i] = (double)slowest[i] * 1e-9;
}

static uint64_t rounds_of(const struct bm_write_job *job)
{
    return job->transit.earlier_rounds +
           (job->transit.pipe /* else it could not be made */
                ? bm_pipe_stats_of(job->transit.pipe).rounds
                : 0);
}

/* What ranks did, as far as it is of interest which did most, and then as far
 * as it adds up; of a group, for itself, its first rank tells. */
enum {
    SLOWEST, /* of each stage */
    MOST_PATCHES = SLOWEST + BM_COMMIT,
    SLOWEST_ENCODE,
    MOVED_MESSAGES,
    SHIPPED_MESSAGES,
    ENCODE,
    MOVED_BYTES,
    SHIPPED_BYTES,
    MISFITS,
    STATS
};
_Static_assert(STATS <= BM_COMM_MAX_VALUES, "one exchange is enough");

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)(seconds * 1e9);
}

static void tell_group(uint64_t *stats, const struct bm_write_job *part)
{
    stats[MOVED_MESSAGES] += bm_route_message_count(&part->held.shaper.sends);
    stats[SHIPPED_MESSAGES] += rounds_of(part);
    stats[ENCODE] += nanoseconds(part->held.shaper.encode_seconds);
    if (!part->plan.files.first)
        return;
    stats[SHIPPED_BYTES] += shipped_bytes(part);
    if (part->comm->rank)
        return;
    stats[MOVED_BYTES] = part->plan.grids->moved_bytes;
    stats[MISFITS] = part->result.misfits;
    stats[MOST_PATCHES] = (uint64_t)part->plan.grids->most_patches;
}

/* What a rank did. */
static void tell_stats(uint64_t *stats, const struct bm_write_job *job)
{
    memset(stats, 0, STATS * sizeof(*stats));
    for (int i = 0; i < BM_COMMIT; i++) /* which is not over */
        stats[SLOWEST + i] = nanoseconds(job->result.seconds[i]);
    stats[MOVED_MESSAGES] = bm_route_message_count(&job->held.shaper.sends);
    stats[SHIPPED_MESSAGES] = rounds_of(job) + job->held.particles.rounds;
    stats[ENCODE] = nanoseconds(job->held.shaper.encode_seconds);
    stats[SHIPPED_BYTES] = shipped_bytes(job);
    if (job->part)
        tell_group(stats, job->part);
    stats[SLOWEST_ENCODE] = stats[ENCODE];
}

static void take_stats(bouma_record *r, const uint64_t *stats, int ranks)
{
    r->moved_messages = stats[MOVED_MESSAGES];
    r->shipped_messages = stats[SHIPPED_MESSAGES];
    r->slowest_encode = (double)stats[SLOWEST_ENCODE] * 1e-9;
    r->mean_encode = (double)stats[ENCODE] * 1e-9 / ranks;
    r->moved_bytes = stats[MOVED_BYTES];
    r->shipped_bytes = stats[SHIPPED_BYTES];
    r->misfits = (int64_t)stats[MISFITS];
    r->most_patches = (int64_t)stats[MOST_PATCHES];
}

/* The trees over the files of particles, in the manifest. */
static int make_file_trees(struct bm_write_job *job, struct bm_manifest *m)
{
    const struct bm_particle_plan *plan = &job->held.particles.plan;
    struct bm_aggregation *trees =
        bm_new(job->ds->a, plan->set_count, sizeof(*trees));
    int rc = BOUMA_ENOMEM;

    for (size_t i = 0; i < plan->set_count && trees; i++)
        trees[i] = plan->sets[i].files;
    if (trees)
        rc = bm_manifest_make_file_trees(m, trees);
    bm_drop(job->ds->a, trees);
    return rc ? bm_fail(&job->ds->error, rc,
                        rc == BOUMA_ENOMEM
                            ? "no memory for the manifest"
                            : "the tree over the files is damaged")
              : BOUMA_OK;
}

/* What the ranks told rank 0: the manifest's subfiles, or its sheets. */
static int decode_infos(struct bm_write_job *job, struct bm_manifest *m,
                        const struct bm_buffer *infos)
{
    uint32_t sheet_files = bm_job_sheet_files(job);
    size_t files = (size_t)job->plan.all_files;
    struct bm_error *error = &job->ds->error;
    int rc;

    if (sheet_files)
        return bm_sheets_decode(m, infos, files, sheet_files, error);
    rc = bm_manifest_set_subfiles(m, files);
    if (rc)
        return bm_fail(error, rc, "no memory for the manifest");
    rc = bm_records_decode(m, infos, error);
    return rc ? rc : make_file_trees(job, m);
}

/* Rank 0: the bytes of the manifest. The attributes are lent to it for the
 * call. */
static int make_manifest(struct bm_write_job *job,
                         const struct bm_buffer *infos, const uint64_t *stats)
{
    struct bouma_dataset *ds = job->ds;
    struct bm_manifest m;
    int rc;

    bm_manifest_init(&m, ds->a, &ds->schema, &ds->error);
    m.step = job->entry.step;
    m.time = job->entry.time;
    m.generation = job->entry.generation;
    m.nonce = bm_hash64(ds->id, 16,
                        (uint64_t)job->entry.generation.epoch << 32 |
                            job->entry.generation.attempt);
    m.order = ds->options.order;
    m.distribute = ds->options.distribute;
    m.assign = job->plan.assign;
    m.assign_particles = bm_particle_scheme(ds->options.assign);
    m.place = ds->options.place;
    m.dataset_attributes = ds->found.attributes;
    m.attributes = ds->given.step_attributes;
    rc = decode_infos(job, &m, infos);
    if (!rc) {
        take_stats(&m.record, stats, ds->comm->size);
        fill_record(job, &m.record, &m, stats + SLOWEST);
        job->result.record = m.record;
        bm_manifest_encode(&job->result.manifest, &m, ds->id);
        if (job->result.manifest.failed)
            rc =
                bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for the manifest");
    }
    if (!rc && job->base.epoch)
        rc = bm_extension_join(ds, job->base, &job->result.manifest);
    memset(&m.dataset_attributes, 0, sizeof(m.dataset_attributes));
    memset(&m.attributes, 0, sizeof(m.attributes));
    bm_manifest_release(&m);
    return rc;
}

/* What this rank has to say of its files, and what all have, for rank 0. */
struct report {
    struct bm_buffer mine, all;
};

/* All that is borrowed has been read: check that, and make the heads. */
static int seal(struct bm_write_job *job, struct report *r, int rc)
{
    struct bouma_dataset *ds = job->ds;

    bm_buffer_init(&r->mine, ds->a);
    bm_buffer_init(&r->all, ds->a);
    if (!rc)
        rc = bm_borrowed_check(ds);
    return seal_subfiles(job, &r->mine, rc);
}

/* The reports of all ranks become the manifest. Collective. */
static int gather_reports(struct bm_write_job *job, struct report *r, int rc)
{
    struct bouma_dataset *ds = job->ds;
    uint64_t stats[STATS];

    bm_job_lap(job, BM_STORE);
    if (bm_job_sheet_files(job))
        rc = bm_sheets_gather(job, &r->mine, rc);
    rc = bm_comm_collect_at_root(ds->comm, &r->mine, &r->all, rc, &ds->error);
    if (!rc) {
        tell_stats(stats, job);
        rc = bm_comm_reduce(ds->comm, stats, STATS, STATS - MOVED_MESSAGES,
                            &ds->error);
    }
    if (!rc && ds->comm->rank == 0)
        rc = make_manifest(job, &r->all, stats);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    bm_buffer_release(&r->mine);
    bm_buffer_release(&r->all);
    return bm_job_agreed(job, rc);
}

int bm_stage_store(struct bm_write_job *job, int rc)
{
    struct report report;

    rc = seal(job, &report, rc);
    if (!rc)
        rc = end_files(job, 0, &job->ds->error);
    return gather_reports(job, &report, rc);
}

int bm_stage_store_meanwhile(struct bm_write_job *job, int rc)
{
    struct bouma_dataset *ds = job->ds;
    struct report report;

    rc = seal(job, &report, rc);
    if (!rc) {
        job->transit.closer = bm_io_thread_new(ds->a, 1, end_files, job, 1);
        if (job->transit.closer) {
            bm_io_thread_set_trace(job->transit.closer,
                                   ds->engine.tracing.trace, "end files", NULL);
            bm_io_thread_hand(job->transit.closer, 0);
        } else {
            rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to end the step");
        }
    }
    return gather_reports(job, &report, rc);
}

int bm_stage_store_wait(struct bm_write_job *job, int rc)
{
    struct bouma_dataset *ds = job->ds;
    int stored = bm_io_thread_wait(job->transit.closer, &ds->error);
    uint64_t seconds;

    rc = bm_comm_agree(ds->comm, rc ? rc : stored, &ds->error);
    seconds = (uint64_t)(bm_io_thread_seconds(job->transit.closer) * 1e9);
    if (!rc)
        rc = bm_comm_max(ds->comm, &seconds, 1, &ds->error);
    job->result.record.store_seconds += (double)seconds * 1e-9;
    return rc;
}
