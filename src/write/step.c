/* step.c -- the write pipeline carried out. Every rank goes through the same
 * exchanges whatever happens to it: a failure is kept in 'rc', work is then
 * left out, and the next agreement tells everyone. Memory for an exchange is
 * there before the agreement that precedes it. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "dataset/borrowed.h"
#include "dataset/drain.h"
#include "dataset/sweep.h"
#include "write/bound.h"
#include "write/describe.h"
#include "write/finish.h"
#include "write/predict.h"
#include "write/table_costs.h"
#include "write/write.h"

/* ---- sizes, files and rounds -------------------------------------------- */

/* The bytes of every chunk: known from the geometry, or gathered. */
static int known_sizes(struct bm_step *s)
{
    for (size_t i = 0; i < s->plan->chunks; i++) {
        struct bm_chunk c = bm_plan_chunk(s->plan, i);
        const struct bm_object *o = c.variable->object;
        uint64_t values[BM_MAX_LEVELS];

        s->bytes[i] = o->layout->values(o, NULL, c.key, values) *
                      bm_variable_sample_size(c.variable);
        s->size_bytes[i] = bm_table_size_bytes(c.variable, values);
    }
    return BOUMA_OK;
}

/* Keep the sizes for the prediction of the next step. */
static int reserve_sizes(struct bm_step *s)
{
    struct bm_write_plan *plan = s->plan;

    if (s->ds->options.predict != BOUMA_PREDICT_ON || plan->sizes)
        return BOUMA_OK;
    if (!plan->size_bytes)
        plan->size_bytes = bm_new_raw(plan->a, plan->chunks, 1);
    if (plan->size_bytes)
        plan->sizes = bm_new_raw(plan->a, plan->chunks, sizeof(*plan->sizes));
    return plan->sizes ? BOUMA_OK : BOUMA_ENOMEM;
}

/* What others are told of a chunk's size: its bytes, and above them those that
 * the sizes of its levels have in a table. */
#define SIZE_BITS 56

static uint64_t tell_size(const struct bm_step *s, size_t m)
{
    const struct bouma_variable *v =
        bm_plan_chunk(s->plan, s->plan->mine[m]).variable;
    const uint8_t *record = s->shaper.records + s->shaper.record_at[m];

    return s->shaper.encoded_bytes[m] |
           (uint64_t)bm_table_recorded_bytes(v, record) << SIZE_BITS;
}

static void note_size(struct bm_step *s, size_t chunk, uint64_t told)
{
    s->bytes[chunk] = told & (((uint64_t)1 << SIZE_BITS) - 1);
    s->size_bytes[chunk] = (uint8_t)(told >> SIZE_BITS);
    if (s->plan->sizes) {
        s->plan->sizes[chunk] = s->bytes[chunk];
        s->plan->size_bytes[chunk] = s->size_bytes[chunk];
    }
}

/* With `weighted` the times come along. Collective. */
static int gathered_sizes(struct bm_step *s, int rc)
{
    struct bouma_dataset *ds = s->ds;
    size_t ranks = (size_t)ds->comm->size, at = 0;
    size_t *sizes = bm_new(ds->a, ranks, sizeof(*sizes));
    size_t *next = bm_new(ds->a, ranks, sizeof(*next));
    struct bm_buffer mine, all;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    for (size_t m = 0; m < s->plan->mine_count && !rc; m++) {
        bm_put_u64(&mine, tell_size(s, m));
        if (s->plan->times)
            bm_put_u32(&mine, s->shaper.times[m]);
    }
    if (!rc && (!sizes || !next || reserve_sizes(s)))
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for the sizes");
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, 1, rc, &ds->error);
    for (size_t r = 0; r < ranks && !rc; r++) {
        next[r] = at;
        at += sizes[r];
    }
    for (size_t i = 0; i < s->plan->chunks && !rc; i++) {
        size_t *place = &next[s->plan->owner[i]];

        note_size(s, i, bm_load_u64(all.data + *place));
        *place += 8;
        if (s->plan->times) {
            s->plan->times[i] = bm_load_u32(all.data + *place);
            *place += 4;
        }
    }
    if (!rc) {
        s->plan->timed = s->plan->times != NULL;
        s->plan->known = s->plan->sizes != NULL;
    }
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    bm_drop(ds->a, next);
    return rc;
}

/* Count the files of particles in, behind those of grids. */
static int number_files(struct bm_step *s)
{
    s->all_files = s->files.files + s->particles.plan.files;
    if (s->all_files > BM_MAX_SUBFILES)
        return bm_fail(&s->ds->error, BOUMA_ELIMIT,
                       "the step would have %" PRId64 " files, more than %u; "
                       "ask for larger or fewer ones",
                       s->all_files, BM_MAX_SUBFILES);
    bm_particle_plan_number(&s->particles.plan, (uint32_t)s->files.files);
    return BOUMA_OK;
}

/* No file for grids. */
static int assign_none(struct bm_step *s)
{
    s->files.a = s->ds->a;
    s->files.first = bm_new(s->ds->a, 1, sizeof(*s->files.first));
    return s->files.first ? number_files(s)
                          : bm_fail(&s->ds->error, BOUMA_ENOMEM,
                                    "no memory to assign chunks to files");
}

/* Who writes which file, and gathers it where. */
static int place_files(struct bm_step *s, const struct bm_chunk_sizes *sizes)
{
    struct bm_place_task task =
        bm_site_place_task(&s->ds->site, &s->ds->options, s->ds->comm->size);

    return bm_place_chunks(&s->files, &task, sizes)
               ? bm_fail(&s->ds->error, BOUMA_ENOMEM,
                         "no memory to choose the writers of files")
               : BOUMA_OK;
}

static int assign_files(struct bm_step *s)
{
    const bouma_options *o = &s->ds->options;
    struct bm_chunk_sizes sizes = {.count = s->plan->chunks,
                                   .bytes = s->bytes,
                                   .owner = s->plan->owner,
                                   .sections = s->ds->schema.variables,
                                   .fixed = s->plan->file,
                                   .fixed_files = s->plan->fixed_files};
    struct bm_chunk_table *tables;
    uint64_t total = 0;
    int64_t files;
    int rc = BOUMA_ENOMEM;

    for (size_t i = 0; i < s->plan->chunks; i++)
        total += s->bytes[i];
    if (!s->plan->chunks && s->particles.plan.files)
        return assign_none(s); /* particles have files of their own */
    files = bm_assign_files(total, s->plan->chunks, s->ds->comm->size, o->files,
                            o->file_size);
    if (files > BM_MAX_SUBFILES)
        files = BM_MAX_SUBFILES;
    tables = bm_table_costs(s->plan, s->size_bytes);
    sizes.tables = tables;
    if (tables)
        rc = bm_assign(&s->files, s->ds->a, bm_assign_in_order(o->assign),
                       &sizes, files, s->ds->comm->size);
    bm_drop(s->plan->a, tables);
    sizes.tables = NULL;
    if (rc)
        return bm_fail(&s->ds->error, rc,
                       "no memory to assign chunks to files");
    rc = place_files(s, &sizes);
    return rc ? rc : number_files(s);
}

/* Make the subfiles that this rank writes. */
static int make_subfiles(struct bm_step *s)
{
    struct bouma_dataset *ds = s->ds;
    size_t count = 0;
    int rc = BOUMA_OK;

    for (int64_t f = 0; f < s->files.files; f++)
        count += bm_step_writer(s, (size_t)f) == ds->comm->rank;
    s->subfiles = bm_new(ds->a, count, sizeof(*s->subfiles));
    if (!s->subfiles)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for subfiles");
    for (int64_t f = 0; f < s->files.files && !rc; f++)
        if (bm_step_writer(s, (size_t)f) == ds->comm->rank)
            rc = bm_subfile_init(&s->subfiles[s->subfile_count++], ds, s->plan,
                                 &s->files, (uint32_t)f, (uint32_t)s->all_files,
                                 s->generation);
    return rc;
}

/* ---- particles ---------------------------------------------------------- */

/* Collective. */
static int prepare_particles(struct bm_step *s, int rc)
{
    struct bouma_dataset *ds = s->ds;

    if (!bm_schema_count(&ds->schema, BM_PARTICLES))
        return rc;
    rc = bm_particles_prepare(&s->particles, ds, rc);
    bm_step_lap(s, BM_PLAN);
    if (!rc)
        rc = bm_particles_exchange(&s->particles);
    bm_step_lap(s, BM_DISTRIBUTE);
    return rc;
}

/* Shape this rank's files of particles, one after the other; each is stored,
 * all but its head, while the next is shaped. Where storage is the slower one,
 * this waits, so that no more than two files are in memory; with 'async' the
 * caller is not to wait. */
static int shape_particles(struct bm_step *s)
{
    struct bm_particle_write *p = &s->particles;
    int rc = BOUMA_OK, stored;
    size_t done, handed = 0;

    if (!p->bundle_count)
        return rc;
    s->bundler = bm_keeper_new(s->ds->a, p->bundle_count, bm_ship_bundle, s, 1);
    if (!s->bundler)
        return bm_fail(&s->ds->error, BOUMA_ENOMEM,
                       "no memory to store particles");
    for (size_t i = 0; i < p->bundle_count && !rc; i++) {
        double begun = bm_clock();

        rc = bm_particles_take(p, i);
        if (!rc)
            rc = bm_bundle_shape(&p->bundles[i], s->ds, &p->codec,
                                 s->generation, (uint32_t)s->all_files);
        s->shaper.encode_seconds += bm_clock() - begun;
        bm_step_lap(s, BM_SHAPE);
        if (!rc)
            rc = bm_bundle_open(&p->bundles[i], s->ds, s->generation);
        if (!rc)
            bm_keeper_hand(s->bundler, i);
        handed += !rc;
        while (bm_keeper_next(s->bundler, &done,
                              handed > 1 && !s->ds->options.async)) {
            bm_bundle_drop(&p->bundles[done]);
            handed--;
        }
        bm_step_lap(s, BM_STORE);
    }
    if (s->ds->options.async && !rc)
        return rc;
    stored = bm_keeper_wait(s->bundler, &s->ds->error);
    while (bm_keeper_next(s->bundler, &done, 0))
        bm_bundle_drop(&p->bundles[done]);
    bm_step_lap(s, BM_STORE);
    return rc ? rc : stored;
}

/* Room for the step among those that are to be drained. */
static int reserve_drain(struct bm_step *s)
{
    size_t count = bm_step_subfile_count(s);
    uint32_t *numbers = bm_drain_reserve(s->ds->drain, count);

    if (!numbers)
        return bm_fail(&s->ds->error, BOUMA_ENOMEM,
                       "no memory to list the step");
    for (size_t i = 0; i < count; i++)
        numbers[i] = bm_step_subfile(s, i)->head.subfile;
    return BOUMA_OK;
}

/* Room in the lists that a committed step enters, so that this cannot fail. */
static int reserve_lists(struct bm_step *s)
{
    struct bouma_dataset *ds = s->ds;
    size_t count = ds->held_file_count + bm_step_subfile_count(s);
    struct bm_file *grown;

    grown = bm_resize(ds->a, ds->held_files, count, sizeof(*grown));
    if (grown)
        ds->held_files = grown;
    if (!grown ||
        bm_step_list_reserve(&ds->steps, (size_t)ds->options.group + 1) ||
        bm_step_list_reserve(&ds->unsettled, (size_t)ds->options.group + 1) ||
        bm_step_list_reserve(&ds->replaced, (size_t)ds->options.group + 1))
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to list the step");
    return ds->drain ? reserve_drain(s) : BOUMA_OK;
}

/* ---- the whole ---------------------------------------------------------- */

/* After the plan: to the point where all memory is there and all files are
 * made, and every rank knows that this is so. Collective. */
static int prepare(struct bm_step *s)
{
    struct bouma_dataset *ds = s->ds;
    int rc = bm_shaper_init(&s->shaper, ds, s->plan, s->generation);
    int predicted = bm_predict_possible(s);

    s->bytes = bm_new_raw(ds->a, s->plan->chunks, sizeof(*s->bytes));
    s->size_bytes = bm_new_raw(ds->a, s->plan->chunks, 1);
    if (!rc && (!s->bytes || !s->size_bytes))
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for the sizes");
    bm_step_lap(s, BM_PLAN);
    rc = prepare_particles(s, rc);
    rc = bm_bounds_find(ds, rc);
    bm_step_lap(s, BM_SHAPE);
    if (s->plan->moved_bytes) {
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
        if (!rc)
            rc = bm_shaper_exchange(&s->shaper);
        bm_step_lap(s, BM_DISTRIBUTE);
    }
    if (s->shaper.sized) {
        if (!rc)
            rc = known_sizes(s);
    } else if (predicted) {
        if (!rc)
            rc = bm_predict_begin(s);
    } else {
        if (!rc)
            rc = bm_shaper_encode_all(&s->shaper);
        bm_step_lap(s, BM_SHAPE);
        rc = gathered_sizes(s, rc);
    }
    if (!rc)
        rc = assign_files(s);
    if (!rc)
        rc = make_subfiles(s);
    if (!rc)
        rc = bm_predict_reserve(s);
    if (!rc && predicted)
        rc = bm_predict_rooms(s);
    if (!rc)
        rc = shape_particles(s);
    if (!rc)
        rc = bm_ship_plan(s);
    if (!rc && predicted)
        bm_predict_order(s);
    if (!rc)
        rc = reserve_lists(s);
    rc = bm_pipe_open(s->pipe, ds->comm, &ds->pool, rc, &ds->error);
    bm_step_lap(s, BM_PLAN);
    return rc;
}

/* Chunks are stored while others are encoded; those that turned out larger
 * than was thought, after that. Collective. */
static int carry_out_predicted(struct bm_step *s)
{
    int rc = bm_predict_carry_out(s);

    rc = gathered_sizes(s, rc);
    if (!rc)
        s->misfits = bm_predict_misfits(s);
    if (!rc && s->misfits)
        rc = bm_predict_ship_misfits(s, rc);
    rc = bm_predict_settle(s, rc);
    if (!rc)
        bm_predict_keep(s);
    bm_step_lap(s, BM_SHIP);
    return bm_step_finish(s, rc);
}

/* Collective. */
static int carry_out(struct bm_step *s)
{
    int rc = BOUMA_OK;

    if (s->prediction)
        return carry_out_predicted(s);
    if (!s->shaper.sized)
        rc = bm_ship_records(s, rc);
    rc = bm_ship_arrange(s, rc);
    if (!rc)
        bm_predict_keep(s);
    rc = bm_ship_chunks(s, rc);
    if (s->shaper.sized)
        rc = bm_ship_records(s, rc);
    bm_step_lap(s, BM_SHIP);
    return bm_step_finish(s, rc);
}

/* 'keep' the files: they are committed, or may be. */
static void release(struct bm_step *s, int keep)
{
    struct bouma_dataset *ds = s->ds;

    bm_keeper_free(s->closer);
    bm_keeper_free(s->bundler);
    bm_pipe_free(s->pipe);
    for (size_t i = 0; i < bm_step_subfile_count(s); i++) {
        struct bm_subfile *f = bm_step_subfile(s, i);
        char name[BM_NAME_BYTES];

        bm_name_subfile(name, s->number, f->head.subfile, s->generation);
        bm_subfile_release(f);
        /* One that could not be made, since there is one, is not ours. */
        if (!keep && f->file.store)
            bm_store_remove(&ds->store, name);
    }
    bm_particles_release(&s->particles);
    bm_drop(ds->a, s->subfiles);
    bm_shaper_release(&s->shaper);
    bm_drop(ds->a, s->bytes);
    bm_drop(ds->a, s->size_bytes);
    bm_assignment_release(&s->files);
    bm_route_release(&s->record_sends);
    bm_route_release(&s->record_receives);
    bm_drop(ds->a, s->send_m);
    bm_drop(ds->a, s->arrivals);
    bm_predict_release(s);
    bm_buffer_release(&s->manifest);
}

/* Enter a committed step into the lists, which have room. With 'persist' it is
 * collective. */
static void list_step(struct bm_step *s)
{
    struct bouma_dataset *ds = s->ds;
    struct bm_step_entry entry = {s->number, s->time, s->generation};

    if (ds->drain)
        bm_drain_hand(ds, &entry, 1);
    if (ds->options.durability != BOUMA_GROUP) {
        bm_step_list_put(&ds->steps, entry);
        return;
    }
    if (ds->comm->rank != 0) /* rank 0 holds it since the commit */
        ds->held[ds->held_count++] = (struct bm_held_step){.entry = entry};
    for (size_t i = 0; i < bm_step_subfile_count(s); i++) {
        ds->held_files[ds->held_file_count++] = bm_step_subfile(s, i)->file;
        bm_step_subfile(s, i)->file.handle = NULL;
    }
}

/* All is stored, or has failed ('rc'): commit, and clean up. 'prepared': all
 * ranks got as far as to make files. Collective. */
static int conclude(struct bm_step *s, int prepared, int rc)
{
    struct bouma_dataset *ds = s->ds;
    int removable = 1;

    if (!rc)
        rc = bm_step_commit(s, &removable, rc);
    if (!rc)
        list_step(s);
    else if (ds->drain && !removable && rc != BOUMA_ECOMM)
        bm_drain_hand(
            ds, &(struct bm_step_entry){s->number, s->time, s->generation}, 0);
    release(s, !rc || !removable);
    if (rc)
        bm_step_remove_directory(s, prepared, rc);
    if (!rc && ds->held_count >= ds->options.group)
        rc = bm_commit_flush(ds);
    if (!rc && ds->options.replace)
        rc = bm_sweep_replaced(ds);
    return rc;
}

int bm_write_settle(struct bouma_dataset *ds, bouma_record *record)
{
    struct bm_step *s = ds->pending;
    uint64_t seconds;
    int rc;

    if (!s)
        return BOUMA_OK;
    ds->pending = NULL;
    rc = bm_keeper_wait(s->closer, &ds->error);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    seconds = (uint64_t)(bm_keeper_seconds(s->closer) * 1e9);
    if (!rc)
        rc = bm_comm_max(ds->comm, &seconds, 1, &ds->error);
    s->record.seconds.store += (double)seconds * 1e-9;
    rc = conclude(s, 1, rc);
    if (rc)
        bm_error_prefix(&ds->error,
                        "step %" PRIu64 ", which was being stored, failed",
                        s->number);
    if (record)
        *record = s->record;
    bm_drop(ds->a, s);
    return rc;
}

int bm_write_step(struct bouma_dataset *ds, int status, bouma_record *record)
{
    struct bm_step none, *s;
    int rc = bm_write_settle(ds, NULL), prepared;

    if (rc)
        return rc;
    memset(&none, 0, sizeof(none));
    s = bm_new(ds->a, 1, sizeof(*s));
    if (!s) {
        s = &none;
        if (!status)
            status = bm_fail(&ds->error, BOUMA_ENOMEM,
                             "no memory to write the step");
    }
    s->ds = ds;
    s->number = ds->step;
    s->time = ds->time;
    s->since = bm_clock();
    bm_route_init(&s->record_sends, ds->a);
    bm_route_init(&s->record_receives, ds->a);
    bm_buffer_init(&s->manifest, ds->a);

    if (!status)
        status = bm_borrowed_is_there(ds);
    rc = bm_step_describe(s, status);
    prepared = !rc;
    if (!rc)
        rc = prepare(s);
    if (!rc)
        rc = carry_out(s);
    if (!rc && ds->options.async) {
        if (record)
            *record = s->record;
        ds->pending = s;
        return rc;
    }
    rc = conclude(s, prepared, rc);
    if (record)
        *record = s->record;
    if (s != &none)
        bm_drop(ds->a, s);
    return rc;
}

void bm_write_release(struct bouma_dataset *ds)
{
    if (ds->pending) {
        release(ds->pending, 1);
        bm_drop(ds->a, ds->pending);
        ds->pending = NULL;
    }
    bm_plan_free(ds->plan);
    ds->plan = NULL;
}
