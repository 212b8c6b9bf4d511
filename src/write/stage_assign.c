/* stage_assign.c -- which chunk goes to which file, and who writes it. */
#include <inttypes.h>

#include "write/predict.h"
#include "write/table_costs.h"

/* Count the files of particles in, behind those of grids. */
static int number_files(struct bm_write_job *job)
{
    job->plan.all_files =
        job->plan.files.files + job->held.particles.plan.files;
    if (job->plan.all_files > BM_MAX_SUBFILES)
        return bm_fail(&job->ds->error, BOUMA_ELIMIT,
                       "the step would have %" PRId64 " files, more than %u; "
                       "ask for larger or fewer ones",
                       job->plan.all_files, BM_MAX_SUBFILES);
    bm_particle_plan_number(&job->held.particles.plan,
                            (uint32_t)job->plan.files.files);
    return BOUMA_OK;
}

/* No file for grids. */
static int assign_none(struct bm_write_job *job)
{
    job->plan.files.a = job->ds->a;
    job->plan.files.first =
        bm_new(job->ds->a, 1, sizeof(*job->plan.files.first));
    return job->plan.files.first
               ? number_files(job)
               : bm_fail(&job->ds->error, BOUMA_ENOMEM,
                         "no memory to assign chunks to files");
}

/* Who writes which file, and gathers it where. */
static int place_files(struct bm_write_job *job,
                       const struct bm_chunk_sizes *sizes)
{
    struct bm_place_task task = bm_io_environment_place_task(
        &job->ds->engine.env, &job->ds->options, job->ds->comm->size);

    return bm_place_chunks(&job->plan.files, &task, sizes)
               ? bm_fail(&job->ds->error, BOUMA_ENOMEM,
                         "no memory to choose the writers of files")
               : BOUMA_OK;
}

static int assign_files(struct bm_write_job *job)
{
    const bouma_options *o = &job->ds->options;
    struct bm_chunk_sizes sizes = {.count = job->plan.grids->chunks,
                                   .bytes = job->plan.bytes,
                                   .owner = job->plan.grids->owner,
                                   .sections = job->ds->schema.variables,
                                   .fixed = job->plan.grids->file,
                                   .fixed_files = job->plan.grids->fixed_files,
                                   .series = job->plan.grids->file_grid};
    struct bm_chunk_table *tables;
    uint64_t total = 0;
    int64_t files;
    int rc = BOUMA_ENOMEM;

    for (size_t i = 0; i < job->plan.grids->chunks; i++)
        total += job->plan.bytes[i];
    if (!job->plan.grids->chunks && job->held.particles.plan.files)
        return assign_none(job); /* particles have files of their own */
    files = bm_assign_files(total, job->plan.grids->chunks, job->ds->comm->size,
                            o->files, o->file_size);
    if (files > BM_MAX_SUBFILES)
        files = BM_MAX_SUBFILES;
    tables = bm_table_costs(job->plan.grids, job->plan.size_bytes);
    sizes.tables = tables;
    if (tables)
        rc = bm_assign(&job->plan.files, job->ds->a,
                       bm_assign_in_order(o->assign), &sizes, files,
                       job->ds->comm->size);
    bm_drop(job->plan.grids->a, tables);
    sizes.tables = NULL;
    if (rc)
        return bm_fail(&job->ds->error, rc,
                       "no memory to assign chunks to files");
    rc = place_files(job, &sizes);
    return rc ? rc : number_files(job);
}

/* Make the subfiles that this rank writes. */
static int make_subfiles(struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;
    size_t count = 0;
    int rc = BOUMA_OK;

    for (int64_t f = 0; f < job->plan.files.files; f++)
        count += bm_job_writer(job, (size_t)f) == ds->comm->rank;
    job->held.subfiles = bm_new(ds->a, count, sizeof(*job->held.subfiles));
    if (!job->held.subfiles)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for subfiles");
    for (int64_t f = 0; f < job->plan.files.files && !rc; f++) {
        struct bm_subfile *s = &job->held.subfiles[job->held.subfile_count];

        if (bm_job_writer(job, (size_t)f) != ds->comm->rank)
            continue;
        bm_subfile_init(s, ds, &job->entry, (uint32_t)f,
                        (uint32_t)job->plan.all_files);
        job->held.subfile_count++;
        rc = bm_subfile_make(s, ds, job->plan.grids, &job->plan.files);
    }
    return rc;
}

/* With the sizes of all chunks there. */
static int assign(struct bm_write_job *job)
{
    int rc = assign_files(job);

    if (!rc)
        rc = make_subfiles(job);
    return rc ? rc : bm_predict_reserve(job);
}

int bm_stage_assign(struct bm_write_job *job, int rc)
{
    return rc ? rc : assign(job);
}

/* The bytes of every chunk, from the geometry. */
static void know_sizes(struct bm_write_job *job)
{
    for (size_t i = 0; i < job->plan.grids->chunks; i++) {
        struct bm_chunk c = bm_plan_chunk(job->plan.grids, i);
        const struct bm_object *o = c.variable->object;
        uint64_t values[BM_MAX_LEVELS];

        o->layout->values(o, NULL, c.key, values);
        job->plan.bytes[i] = 0;
        for (int k = 0; k < bm_pieces(o); k++)
            job->plan.bytes[i] +=
                values[k] * bm_variable_sample_size(c.variable);
        job->plan.size_bytes[i] = bm_table_size_bytes(c.variable, values);
    }
}

int bm_stage_assign_known(struct bm_write_job *job, int rc)
{
    if (rc)
        return rc;
    know_sizes(job);
    return assign(job);
}

int bm_stage_assign_predicted(struct bm_write_job *job, int rc)
{
    if (!rc)
        rc = bm_predict_begin(job);
    if (!rc)
        rc = assign(job);
    return rc ? rc : bm_predict_rooms(job);
}
