/* write_job.c -- the stages of a step that is written, in their orders. */
#include "write/write_job.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "dataset/borrowed.h"
#include "dataset/sweep.h"
#include "store/step_dir.h"
#include "write/files_image.h"
#include "write/predict.h"
#include "write/split.h"
#include "write/write.h"

/* ---- orders ------------------------------------------------------------- */

struct stage {
    const char *name;
    enum bm_phase phase; /* that its time is counted to, if it says no other */
    bm_stage_run *run;
};

static const struct stage
    describe = {"describe", BM_DESCRIBE, bm_stage_describe},
    split = {"split", BM_PLAN, bm_stage_split},
    plan = {"plan", BM_PLAN, bm_stage_plan},
    distribute = {"distribute", BM_DISTRIBUTE, bm_stage_distribute},
    shape_grids = {"shape grids", BM_SHAPE, bm_stage_shape_grids},
    shape_particles = {"shape particles", BM_SHAPE, bm_stage_shape_particles},
    assign = {"assign", BM_PLAN, bm_stage_assign},
    assign_known = {"assign", BM_PLAN, bm_stage_assign_known},
    assign_predicted = {"assign", BM_PLAN, bm_stage_assign_predicted},
    ship = {"ship", BM_SHIP, bm_stage_ship},
    ship_known = {"ship", BM_SHIP, bm_stage_ship_known},
    ship_predicted = {"ship", BM_SHIP, bm_stage_ship_predicted},
    store = {"store", BM_STORE, bm_stage_store},
    store_meanwhile = {"store", BM_STORE, bm_stage_store_meanwhile},
    store_wait = {"wait for storage", BM_STORE, bm_stage_store_wait},
    commit = {"commit", BM_COMMIT, bm_stage_commit};

/* What tells the sizes of chunks. */
enum sizes {
    KNOWN,     /* their geometry: the codecs keep it */
    ENCODED,   /* the chunks themselves, once they are encoded */
    PREDICTED, /* the step before, nearly: see predict.h */
};

/* Each list ends with NULL. All steps begin with the first; then they take one
 * of the others, and with 'async' a later call runs the last. */
static const struct stage *const beginning[] = {&describe, &split, &plan,
                                                &distribute, NULL};

static const struct stage *const at_once[][7] = {
    [KNOWN] = {&assign_known, &shape_particles, &ship_known, &store, &commit},
    [ENCODED] = {&shape_grids, &assign, &shape_particles, &ship, &store,
                 &commit},
    [PREDICTED] = {&assign_predicted, &shape_particles, &ship_predicted, &store,
                   &commit},
};

static const struct stage *const async[][6] = {
    [KNOWN] = {&assign_known, &shape_particles, &ship_known, &store_meanwhile},
    [ENCODED] = {&shape_grids, &assign, &shape_particles, &ship,
                 &store_meanwhile},
    [PREDICTED] = {&assign_predicted, &shape_particles, &ship_predicted,
                   &store_meanwhile},
};

static const struct stage *const later[] = {&store_wait, &commit, NULL};

/* What a group has for itself: the first, then one of the others. */
static const struct stage *const beginning_of_part[] = {&plan, &distribute,
                                                        NULL};

static const struct stage *const part[][4] = {
    [KNOWN] = {&assign_known, &ship_known},
    [ENCODED] = {&shape_grids, &assign, &ship},
    [PREDICTED] = {&assign_predicted, &ship_predicted},
};

static enum sizes sizes_of(const struct bm_write_job *job)
{
    return job->held.shaper.sized     ? KNOWN
           : bm_predict_possible(job) ? PREDICTED
                                      : ENCODED;
}

/* Here every stage begins and ends. Collective. */
static int run(struct bm_write_job *job, const struct stage *const *stages,
               int rc)
{
    for (; *stages && !job->failed; stages++) {
        struct bm_trace *trace = job->ds->engine.tracing.trace;
        double begun = bm_trace_now(trace);

        rc = (*stages)->run(job, rc);
        bm_job_lap(job, (*stages)->phase);
        if (trace)
            bm_trace_add(trace, "stage", (*stages)->name, begun,
                         &(struct bm_trace_args){.counted = "step",
                                                 .number = job->entry.step});
    }
    return rc;
}

/* ---- what stages share -------------------------------------------------- */

void bm_job_lap(struct bm_write_job *job, enum bm_phase phase)
{
    double now = bm_clock();

    job->result.seconds[phase] += now - job->result.since;
    job->result.since = now;
}

int bm_job_agreed(struct bm_write_job *job, int rc)
{
    job->failed = rc != BOUMA_OK;
    return rc;
}

int bm_job_writer(const struct bm_write_job *job, size_t file)
{
    return job->plan.files.writer[file];
}

struct bm_subfile *bm_job_subfile(struct bm_write_job *job, size_t i)
{
    struct bm_job_held *held = &job->held;

    if (i < held->subfile_count)
        return &held->subfiles[i];
    i -= held->subfile_count;
    if (job->part && i < job->part->held.subfile_count)
        return &job->part->held.subfiles[i];
    i -= job->part ? job->part->held.subfile_count : 0;
    return &held->particles.particle_files[i].subfile;
}

size_t bm_job_subfile_count(const struct bm_write_job *job)
{
    return job->held.subfile_count + job->held.particles.particle_file_count +
           (job->part ? job->part->held.subfile_count : 0);
}

/* ---- beginning and end -------------------------------------------------- */

static void init(struct bm_write_job *job, struct bouma_dataset *ds)
{
    job->ds = ds;
    job->comm = ds->comm;
    job->pool = &ds->engine.pool;
    job->entry.step = ds->given.step;
    job->entry.time = ds->given.time;
    job->base = ds->given.base;
    job->defers = ds->options.async;
    job->result.since = bm_clock();
    bm_route_init(&job->transit.record_sends, ds->a);
    bm_route_init(&job->transit.record_receives, ds->a);
    bm_buffer_init(&job->given.blocks, ds->a);
    bm_buffer_init(&job->result.manifest, ds->a);
}

/* Threads, files and memory; the job itself stays. */
static void release(struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;

    bm_io_thread_free(job->transit.closer);
    if (job->part) {
        struct bm_write_job *own = job->part;

        own->result.keep = job->result.keep;
        job->part = NULL;
        release(own);
    }
    bm_io_thread_free(job->transit.particle_storer);
    bm_pipe_free(job->transit.pipe);
    for (size_t i = 0; i < bm_job_subfile_count(job); i++) {
        struct bm_subfile *f = bm_job_subfile(job, i);
        char name[BM_NAME_BYTES];

        bm_name_subfile(name, job->entry.step, f->head.subfile,
                        job->entry.generation);
        bm_subfile_release(f);
        /* One that could not be made, since there is one, is not ours. */
        if (!job->result.keep && f->file.store) {
            bm_store_remove(&ds->store, name);
            bm_step_dir_remove_folder(&ds->store, name);
        }
    }
    bm_particles_release(&job->held.particles);
    bm_drop(ds->a, job->held.subfiles);
    bm_shaper_release(&job->held.shaper);
    bm_files_release(job);
    bm_route_release(&job->transit.record_sends);
    bm_route_release(&job->transit.record_receives);
    bm_drop(ds->a, job->transit.send_m);
    bm_drop(ds->a, job->transit.arrivals);
    bm_file_batch_release(&job->transit.batch);
    bm_buffer_release(&job->given.blocks);
    bm_buffer_release(&job->result.manifest);
}

/* It may be meant; more likely a put was forgotten. Told once. */
static void tell_empty(const struct bm_write_job *job)
{
    struct bouma_dataset *ds = job->ds;

    if (job->result.record.raw_bytes || !ds->schema.count ||
        ds->carried.told_empty)
        return;
    ds->carried.told_empty = 1;
    bm_dataset_add_note(ds,
                        "step %" PRIu64 " has no data: no rank has put any of "
                        "the variables that are defined",
                        job->entry.step);
}

/* The step is committed, or has failed ('rc'): clean up. Collective. */
static int conclude(struct bm_write_job *job, int rc)
{
    struct bouma_dataset *ds = job->ds;

    release(job);
    if (!rc)
        tell_empty(job);
    if (rc)
        bm_job_remove_directory(job, rc);
    if (!rc && ds->commits.held_count >= ds->options.group)
        rc = bm_commit_flush(ds);
    if (!rc && ds->options.replace)
        rc = bm_sweep_replaced(ds);
    return rc;
}

int bm_job_run_part(struct bm_write_job *job, int rc)
{
    struct bm_write_job *own = &job->ds->carried.split->job;

    memset(own, 0, sizeof(*own));
    init(own, job->ds);
    own->comm = job->ds->carried.split->comm;
    own->pool = &job->ds->carried.split->pool;
    own->entry = job->entry;
    own->synced = job->synced;
    own->defers = job->defers;
    own->given.is_new = job->given.is_new;
    own->whole = job;
    job->part = own;
    rc = run(own, beginning_of_part, bm_job_agreed(own, rc));
    if (!own->failed)
        rc = run(own, part[sizes_of(own)], rc);
    for (int i = 0; i < BM_PHASES; i++)
        job->result.seconds[i] += own->result.seconds[i];
    job->result.since = bm_clock();
    return rc;
}

int bm_write_finish(struct bouma_dataset *ds, bouma_record *record)
{
    struct bm_write_job *job = ds->carried.pending;
    int rc;

    if (!job)
        return BOUMA_OK;
    ds->carried.pending = NULL;
    rc = conclude(job, run(job, later, BOUMA_OK));
    if (rc)
        bm_error_prefix(&ds->error,
                        "step %" PRIu64 ", which was being stored, failed",
                        job->entry.step);
    if (record)
        *record = job->result.record;
    bm_drop(ds->a, job);
    return rc;
}

int bm_write_step(struct bouma_dataset *ds, int status, bouma_record *record)
{
    struct bm_write_job none, *job;
    int rc;

    memset(&none, 0, sizeof(none));
    job = bm_new(ds->a, 1, sizeof(*job));
    if (!job) {
        job = &none;
        if (!status)
            status = bm_fail(&ds->error, BOUMA_ENOMEM,
                             "no memory to write the step");
    }
    init(job, ds);
    if (!status)
        status = bm_borrowed_is_there(ds);
    if (!status)
        status = bm_borrowed_fetch(ds);
    rc = run(job, beginning, status);
    if (!job->failed)
        rc = run(job,
                 (job->defers ? async[sizes_of(job)] : at_once[sizes_of(job)]),
                 rc);
    if (!rc && job->defers)
        ds->carried.pending = job;
    else
        rc = conclude(job, rc);
    if (record)
        *record = job->result.record;
    if (job != &none && job != ds->carried.pending)
        bm_drop(ds->a, job);
    return rc;
}

void bm_write_release(struct bm_carried *carried, const bouma_allocator *a)
{
    if (carried->pending) {
        carried->pending->result.keep = 1;
        release(carried->pending);
        bm_drop(a, carried->pending);
        carried->pending = NULL;
    }
    bm_plan_free(carried->plan);
    carried->plan = NULL;
    bm_split_free(carried->split);
    carried->split = NULL;
    for (int i = 0; i < 2; i++)
        bm_common_release(&carried->particles[i]);
}
