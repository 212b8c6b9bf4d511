/* stage_shape.c -- chunks and particles become the bytes of files, as far as
 * that is a stage of its own: see the orders in write_job.c. */
#include "base/clock.h"
#include "write/own_plan.h"
#include "write/table_costs.h"
#include "write/write_job.h"

/* ---- grids -------------------------------------------------------------- */

/* Keep the sizes for the prediction of the next step. */
static int reserve_sizes(struct bm_plan_sizes *sizes, size_t chunks,
                         const bouma_allocator *a)
{
    if (sizes->each)
        return BOUMA_OK;
    if (!sizes->size_bytes)
        sizes->size_bytes = bm_new_raw(a, chunks, 1);
    if (sizes->size_bytes)
        sizes->each = bm_new_raw(a, chunks, sizeof(*sizes->each));
    return sizes->each ? BOUMA_OK : BOUMA_ENOMEM;
}

/* What others are told of a chunk's size: its bytes, and above them those that
 * the sizes of its levels have in a table. */
#define SIZE_BITS 56

static uint64_t tell_size(const struct bm_write_job *job, size_t m)
{
    const struct bouma_variable *v =
        bm_plan_chunk(job->plan.grids, job->plan.grids->mine[m]).variable;
    const uint8_t *record =
        job->held.shaper.records + job->held.shaper.record_at[m];

    return job->held.shaper.encoded_bytes[m] |
           (uint64_t)bm_table_recorded_bytes(v, record) << SIZE_BITS;
}

static void record_size(struct bm_job_plan *plan, size_t chunk, uint64_t told)
{
    struct bm_plan_sizes *kept = &plan->grids->sizes;

    plan->bytes[chunk] = told & (((uint64_t)1 << SIZE_BITS) - 1);
    plan->size_bytes[chunk] = (uint8_t)(told >> SIZE_BITS);
    if (kept->each) {
        kept->each[chunk] = plan->bytes[chunk];
        kept->size_bytes[chunk] = plan->size_bytes[chunk];
    }
}

/* What all ranks told, in the order of ranks; next[ranks] has room. */
static void record_sizes(struct bm_write_job *job, const uint8_t *all,
                         const size_t *sizes, size_t *next)
{
    struct bm_write_plan *plan = job->plan.grids;
    size_t at = 0;

    for (int r = 0; r < job->comm->size; r++) {
        next[r] = at;
        at += sizes[r];
    }
    for (size_t i = 0; i < plan->chunks; i++) {
        size_t *here = &next[plan->owner[i]];

        record_size(&job->plan, i, bm_load_u64(all + *here));
        *here += 8;
        if (plan->times.each) {
            plan->times.each[i] = bm_load_u32(all + *here);
            *here += 4;
        }
    }
}

/* With `weighted` the times come along. Collective. */
int bm_job_gather_sizes(struct bm_write_job *job, int rc)
{
    struct bouma_dataset *ds = job->ds;
    struct bm_write_plan *plan = job->plan.grids;
    int weighted = ds->options.distribute == BOUMA_DISTRIBUTE_WEIGHTED;
    int predict = ds->options.predict == BOUMA_PREDICT_ON;
    int leads = bm_comm_leads(job->comm);
    size_t ranks = leads ? (size_t)job->comm->size : 0;
    size_t *sizes = bm_new(ds->a, ranks, sizeof(*sizes));
    size_t *next = bm_new(ds->a, ranks, sizeof(*next));
    struct bm_buffer mine, all;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    for (size_t m = 0; m < plan->mine_count && !rc; m++) {
        bm_put_u64(&mine, tell_size(job, m));
        if (weighted)
            bm_put_u32(&mine, job->held.shaper.times[m]);
    }
    if (!rc && (!sizes || !next ||
                (predict && leads &&
                 reserve_sizes(&plan->sizes, plan->chunks, plan->a))))
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for the sizes");
    rc =
        bm_comm_collect_at_nodes(job->comm, &mine, &all, sizes, rc, &ds->error);
    if (!rc && leads)
        record_sizes(job, all.data, sizes, next);
    if (!rc) {
        plan->times.known = weighted;
        plan->sizes.known = predict;
    }
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    bm_drop(ds->a, next);
    return rc;
}

/* The same where each rank knows what concerns it; if files follow from sizes,
 * that comes later. Collective. */
static int swap_sizes(struct bm_write_job *job, int rc)
{
    const struct bm_write_plan *plan = job->plan.grids;

    for (size_t m = 0; m < plan->mine_count && !rc; m++)
        record_size(&job->plan, plan->mine[m], tell_size(job, m));
    return plan->own->waits ? rc : bm_own_plan_sizes(job, rc);
}

int bm_stage_shape_grids(struct bm_write_job *job, int rc)
{
    if (!rc)
        rc = bm_shaper_encode(&job->held.shaper, NULL,
                              job->plan.grids->mine_count);
    bm_job_lap(job, BM_SHAPE);
    return job->plan.grids->own ? swap_sizes(job, rc)
                                : bm_job_gather_sizes(job, rc);
}

/* ---- particles ---------------------------------------------------------- */

/* The thread that stores files of particles: the i-th of them. */
static int store_particle_file(void *context, size_t i, struct bm_error *error)
{
    struct bm_write_job *job = context;

    return bm_particle_file_store(&job->held.particles.particle_files[i],
                                  error);
}

/* Shape this rank's files of particles, one after the other; each is stored,
 * all but its head, while the next is shaped. Where storage is the slower one,
 * this waits, so that no more than two files are in memory; with 'async' the
 * caller is not to wait. */
static int shape_particles(struct bm_write_job *job)
{
    struct bm_particle_write *p = &job->held.particles;
    int rc = BOUMA_OK, stored;
    size_t done, handed = 0;

    if (!p->particle_file_count)
        return rc;
    job->transit.particle_storer = bm_io_thread_new(
        job->ds->a, p->particle_file_count, store_particle_file, job, 1);
    if (!job->transit.particle_storer)
        return bm_fail(&job->ds->error, BOUMA_ENOMEM,
                       "no memory to store particles");
    bm_io_thread_set_trace(job->transit.particle_storer,
                           job->ds->engine.tracing.trace, "store file", "file");
    for (size_t i = 0; i < p->particle_file_count && !rc; i++) {
        double begun = bm_clock();

        rc = bm_particles_take(p, i);
        if (!rc)
            rc = bm_particle_file_shape(&p->particle_files[i], job->ds,
                                        &p->codec, &job->entry,
                                        (uint32_t)job->plan.all_files);
        job->held.shaper.encode_seconds += bm_clock() - begun;
        bm_job_lap(job, BM_SHAPE);
        if (!rc)
            rc = bm_particle_file_open(&p->particle_files[i], job->ds);
        if (!rc)
            bm_io_thread_hand(job->transit.particle_storer, i);
        handed += !rc;
        while (bm_io_thread_next(job->transit.particle_storer, &done,
                                 handed > 1 && !job->defers)) {
            bm_particle_file_drop(&p->particle_files[done]);
            handed--;
        }
        bm_job_lap(job, BM_STORE);
    }
    if (job->defers && !rc)
        return rc;
    stored = bm_io_thread_wait(job->transit.particle_storer, &job->ds->error);
    while (bm_io_thread_next(job->transit.particle_storer, &done, 0))
        bm_particle_file_drop(&p->particle_files[done]);
    bm_job_lap(job, BM_STORE);
    return rc ? rc : stored;
}

int bm_stage_shape_particles(struct bm_write_job *job, int rc)
{
    return rc ? rc : shape_particles(job);
}
