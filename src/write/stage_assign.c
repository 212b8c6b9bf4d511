/* stage_assign.c -- which chunk goes to which file, and who writes it. */
#include <inttypes.h>

#include "base/search.h"
#include "write/files_image.h"
#include "write/own_plan.h"
#include "write/predict.h"
#include "write/split.h"
#include "write/table_costs.h"

/* Count the files of particles in, behind those of grids. A group's are counted
 * with those of all. */
static int number_files(struct bm_write_job *job)
{
    int64_t grids = bm_plan_file_number(job->plan.grids, job->plan.files.files);

    if (job->whole)
        return BOUMA_OK;
    job->plan.all_files = grids + job->held.particles.plan.files;
    if (job->plan.all_files > BM_MAX_SUBFILES)
        return bm_fail(&job->ds->error, BOUMA_ELIMIT,
                       "the step would have %" PRId64 " files, more than %u; "
                       "ask for larger or fewer ones",
                       job->plan.all_files, BM_MAX_SUBFILES);
    bm_particle_plan_number(&job->held.particles.plan, (uint32_t)grids);
    return BOUMA_OK;
}

/* No file for grids. */
static int assign_none(struct bm_write_job *job)
{
    job->plan.files.a = job->ds->a;
    job->plan.files.first =
        bm_new(job->ds->a, 1, sizeof(*job->plan.files.first));
    return job->plan.files.first
               ? BOUMA_OK
               : bm_fail(&job->ds->error, BOUMA_ENOMEM,
                         "no memory to assign chunks to files");
}

/* A machine knows the ranks of the dataset, so a choice by who sends what is
 * made among those; it is one of those that send. */
static int place_in_group(struct bm_write_job *job, struct bm_place_task *task,
                          const struct bm_chunk_sizes *sizes)
{
    const bouma_allocator *a = job->ds->a;
    const int *member = job->ds->carried.split->member;
    struct bm_chunk_sizes named = *sizes;
    int *owner;
    int rc;

    if (!bm_placement_of(task->scheme)->choose)
        return bm_place_chunks(&job->plan.files, task, sizes);
    owner = bm_new_raw(a, sizes->count, sizeof(*owner));
    if (!owner)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < sizes->count; i++)
        owner[i] = member[sizes->owner[i]];
    named.owner = owner;
    task->ranks = job->ds->comm->size;
    rc = bm_place_chunks(&job->plan.files, task, &named);
    for (int64_t f = 0; f < job->plan.files.files && !rc; f++) {
        size_t at = 0;

        BM_BISECT(at, (size_t)job->comm->size, i,
                  member[i] <= job->plan.files.writer[f]);
        job->plan.files.writer[f] = (int)at;
    }
    bm_drop(a, owner);
    return rc;
}

/* Who writes which file, and gathers it where. */
static int place_files(struct bm_write_job *job,
                       const struct bm_chunk_sizes *sizes)
{
    struct bm_place_task task = bm_io_environment_place_task(
        &job->ds->engine.env, &job->ds->options, job->comm);

    task.turns = 1 + bm_schema_count(&job->ds->schema, BM_PARTICLES);

    return (job->whole ? place_in_group(job, &task, sizes)
                       : bm_place_chunks(&job->plan.files, &task, sizes))
               ? bm_fail(&job->ds->error, BOUMA_ENOMEM,
                         "no memory to choose the writers of files")
               : BOUMA_OK;
}

/* Which scheme cuts so many files. BOUMA_OK or ENOMEM. */
static int settle_scheme(struct bm_write_job *job,
                         const struct bm_chunk_sizes *sizes, int64_t files)
{
    const struct bm_options *o = &job->ds->options;
    bouma_assign choice = bm_assign_with(o->assign, o->distribute);
    int ranks = job->comm->size;
    struct bm_rank_loads loads;
    int rc;

    if (sizes->fixed_files || !bm_assign_asks_for_loads(choice, files, ranks))
        return BOUMA_OK;
    rc = bm_rank_loads_of(&loads, job->ds->a, sizes, ranks);
    if (!rc)
        job->plan.assign = bm_assign_settle(choice, files, &loads);
    return rc;
}

static int assign_files(struct bm_write_job *job)
{
    const struct bm_options *o = &job->ds->options;
    struct bm_node_groups nodes = bm_io_environment_node_groups(o, job->comm);
    struct bm_chunk_sizes sizes = {.count = job->plan.grids->chunks,
                                   .bytes = job->plan.bytes,
                                   .owner = job->plan.grids->owner,
                                   .sections = job->ds->schema.variables,
                                   .fixed = job->plan.grids->file,
                                   .fixed_files = job->plan.grids->fixed_files,
                                   .series = job->plan.grids->file_grid,
                                   .nodes = &nodes};
    struct bm_chunk_table *tables;
    uint64_t total = 0;
    int64_t files;
    int rc = BOUMA_ENOMEM;

    for (size_t i = 0; i < job->plan.grids->chunks; i++)
        total += job->plan.bytes[i];
    if (!job->plan.grids->chunks &&
        (job->whole || job->held.particles.plan.files))
        return assign_none(job); /* particles have files of their own */
    files = bm_assign_files(total, job->plan.grids->chunks, job->comm->size,
                            o->files, o->file_size);
    if (o->files) /* of all, with those that groups write */
        files -=
            job->plan.grids->all_fixed_files - job->plan.grids->fixed_files;
    if (files > BM_MAX_SUBFILES)
        files = BM_MAX_SUBFILES;
    files = files < 1 ? 1 : files;
    tables = bm_table_costs(job->plan.grids, job->plan.size_bytes);
    sizes.tables = tables;
    if (tables)
        rc = settle_scheme(job, &sizes, files);
    if (!rc)
        rc = bm_assign(&job->plan.files, job->ds->a, job->plan.assign, &sizes,
                       files, job->comm->size);
    bm_drop(job->plan.grids->a, tables);
    sizes.tables = NULL;
    if (rc)
        return bm_fail(&job->ds->error, rc,
                       "no memory to assign chunks to files");
    return place_files(job, &sizes);
}

/* Make the subfiles that this rank writes. */
static int make_subfiles(struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;
    size_t begin, end;
    int rc = BOUMA_OK;

    bm_writers_find(&job->plan.writers, job->comm->rank, &begin, &end);
    job->held.subfiles =
        bm_new(ds->a, end - begin, sizeof(*job->held.subfiles));
    if (!job->held.subfiles)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for subfiles");
    for (size_t i = begin; i < end && !rc; i++) {
        struct bm_subfile *s = &job->held.subfiles[job->held.subfile_count++];
        uint32_t file = bm_writers_file(&job->plan.writers, i);

        bm_subfile_init(s, ds, &job->entry,
                        (uint32_t)bm_plan_file_number(job->plan.grids, file),
                        (uint32_t)job->plan.all_files);
        rc = bm_subfile_make(s, ds, job->plan.grids, &job->plan.files, file);
    }
    return rc;
}

/* The files that concern this rank, if it knows no others. */
static int take_own_files(struct bm_write_job *job)
{
    return bm_own_plan_files(&job->plan.files, job->plan.grids)
               ? bm_fail(&job->ds->error, BOUMA_ENOMEM,
                         "no memory to assign chunks to files")
               : BOUMA_OK;
}

/* With the sizes of all chunks there, on the first rank of the node. Collective
 * among its ranks, or among all if each knows only what concerns it. */
static int assign(struct bm_write_job *job, int rc)
{
    int own = job->plan.grids->own != NULL;
    int leads = own || bm_comm_leads(job->comm);

    job->plan.assign = bm_assign_in_order(job->ds->options.assign);
    if (own) {
        rc = bm_own_plan_cut(job, rc);
        rc = bm_own_plan_places(job, rc);
    }
    if (!rc && leads)
        rc = own ? take_own_files(job) : assign_files(job);
    if (!rc && leads && bm_writers_init(&job->plan.writers, &job->plan.files))
        rc = bm_fail(&job->ds->error, BOUMA_ENOMEM,
                     "no memory for the writers of files");
    if (!own)
        rc = bm_files_share(job, rc);
    if (!rc)
        rc = number_files(job);
    if (!rc)
        rc = make_subfiles(job);
    return rc ? rc : bm_predict_reserve(job);
}

int bm_stage_assign(struct bm_write_job *job, int rc)
{
    return assign(job, rc);
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
    if (!rc && (bm_comm_leads(job->comm) || job->plan.grids->own))
        know_sizes(job);
    return assign(job, rc);
}

int bm_stage_assign_predicted(struct bm_write_job *job, int rc)
{
    if (!rc)
        rc = bm_predict_begin(job);
    rc = assign(job, rc);
    return rc ? rc : bm_predict_rooms(job);
}
