/* step.c -- the write pipeline carried out. Every rank goes through the same
 * exchanges whatever happens to it: a failure is kept in 'rc', work is then
 * left out, and the next agreement tells everyone. Memory for an exchange is
 * there before the agreement that precedes it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "store/identity.h"
#include "write/bound.h"
#include "write/ship.h"
#include "write/write.h"

/* ---- describe and plan -------------------------------------------------- */

static int by_variable(const void *left, const void *right)
{
    const struct bm_put *a = left, *b = right;

    if (a->variable->id != b->variable->id)
        return a->variable->id < b->variable->id ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

/* A hash of all that must be the same on all ranks; ENOMEM. */
static int hash_step(struct bouma_dataset *ds, uint64_t *hash)
{
    struct bm_buffer b;
    int failed;

    bm_buffer_init(&b, ds->a);
    bm_put_u64(&b, ds->step);
    bm_put_f64(&b, ds->time);
    bm_schema_encode(&b, &ds->schema);
    bm_attributes_encode(&b, &ds->attributes);
    bm_attributes_encode(&b, &ds->step_attributes);
    failed = b.failed;
    *hash = failed ? 0 : bm_hash64(b.data, b.size, 0);
    bm_buffer_release(&b);
    return failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* Number the variables, sort the puts, and say in bytes what this rank holds;
 * *hash is for the comparison with others, *own with the last step. */
static int describe(struct bouma_dataset *ds, struct bm_buffer *mine,
                    uint64_t *hash, uint64_t *own)
{
    struct bm_buffer shape;

    *hash = *own = 0;
    if (bm_schema_number(&ds->schema))
        return bm_fail(&ds->error, BOUMA_ENOMEM,
                       "no memory to describe the step");
    bm_bounds_reset(&ds->schema);
    if (hash_step(ds, hash))
        return bm_fail(&ds->error, BOUMA_ENOMEM,
                       "no memory to describe the step");
    if (ds->put_count)
        qsort(ds->puts, ds->put_count, sizeof(*ds->puts), by_variable);
    bm_plan_describe(mine, ds->puts, ds->put_count);
    /* The plan depends on the grids, too: hash their description. */
    bm_buffer_init(&shape, ds->a);
    bm_schema_encode(&shape, &ds->schema);
    if (!shape.failed && !mine->failed)
        *own = bm_hash64(mine->data, mine->size,
                         bm_hash64(shape.data, shape.size, 1));
    bm_buffer_release(&shape);
    return *own ? BOUMA_OK
                : bm_fail(&ds->error, BOUMA_ENOMEM,
                          "no memory to describe the step");
}

/* Rank 0 makes the directory, so that it is there when files are made; it tells
 * if an earlier version of the step is there. */
static int prepare_directory(struct bm_step *s, int *replacing)
{
    struct bouma_dataset *ds = s->ds;
    struct bm_error why = {0};
    char name[BM_NAME_BYTES];
    int rc;

    if (ds->comm->rank != 0)
        return BOUMA_OK;
    rc = bm_epoch_check(&ds->store, ds->epoch, &ds->error);
    if (rc)
        return rc;
    bm_name_manifest(name, ds->step);
    *replacing = bm_store_exists(&ds->store, name);
    if (!ds->options.replace && *replacing) {
        /* Who hears that will not write it: so it had better be durable. */
        rc = bm_commit_settle(ds, ds->step);
        return rc ? rc
                  : bm_fail(&ds->error, BOUMA_EEXISTS,
                            "%s: step %" PRIu64 " exists already; set the "
                            "option 'replace' to write it again",
                            ds->store.path, ds->step);
    }
    for (int i = 0; i < ds->held_count; i++)
        if (ds->held[i].entry.step == ds->step && !ds->options.replace)
            return bm_fail(&ds->error, BOUMA_EEXISTS,
                           "%s: step %" PRIu64 " was written already and waits "
                           "for its group",
                           ds->store.path, ds->step);
    bm_name_step(name, ds->step);
    rc = bm_store_make_dir(&ds->store, name, 0, &why);
    s->made_directory = !rc;
    return rc && rc != BOUMA_EEXISTS ? bm_fail(&ds->error, rc, "%s", why.text)
                                     : BOUMA_OK;
}

/* After a failure: the directory, if it was made for this step. Files may have
 * been made in it if all ranks got as far as to 'prepare', and are removed when
 * all have come here; then it is collective. Another writer that has taken over
 * may be about to use it. */
static void remove_directory(struct bm_step *s, int prepared, int rc)
{
    struct bouma_dataset *ds = s->ds;
    struct bm_error ignored = {0};
    char name[BM_NAME_BYTES];

    if (rc == BOUMA_ECOMM ||
        (prepared && bm_comm_agree(ds->comm, BOUMA_OK, &ignored)))
        return;
    bm_name_step(name, ds->step);
    if (s->made_directory && !bm_epoch_check(&ds->store, ds->epoch, &ignored))
        bm_store_remove_dir(&ds->store, name);
}

/* Gather all descriptions and make a plan of them. Collective. */
static int make_plan(struct bm_step *s, const struct bm_buffer *mine,
                     uint64_t own)
{
    struct bouma_dataset *ds = s->ds;
    size_t *sizes = bm_new(ds->a, (size_t)ds->comm->size, sizeof(*sizes));
    struct bm_buffer all;
    int rc = BOUMA_OK;

    bm_plan_free(ds->plan);
    ds->plan = NULL;
    bm_buffer_init(&all, ds->a);
    if (!sizes)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to plan the step");
    rc = bm_comm_collect(ds->comm, mine, &all, sizes, 1, rc, &ds->error);
    bm_step_lap(s, BM_DESCRIBE);
    if (!rc)
        rc = bm_plan_make(&ds->plan, ds->a, &ds->schema, ds->options.distribute,
                          &all, sizes, ds->comm->size, ds->comm->rank,
                          &ds->error);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    ds->plan_hash = own;
    bm_step_lap(s, BM_PLAN);
    return rc;
}

/* The plan of the last step holds: with `weighted`, owners may change by what
 * its chunks took. Collective. */
static int reuse_plan(struct bm_step *s)
{
    struct bouma_dataset *ds = s->ds;
    int rc, changed;

    if (!ds->plan->timed)
        return BOUMA_OK;
    rc = bm_plan_balance(ds->plan, ds->comm->size, ds->comm->rank, &changed);
    if (rc)
        bm_fail(&ds->error, rc, "no memory to plan the step");
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (rc) { /* the plans of others may have changed */
        bm_plan_free(ds->plan);
        ds->plan = NULL;
    }
    bm_step_lap(s, BM_PLAN);
    return rc;
}

/* The first exchange of a step: is all well, do all agree, is a new plan
 * needed? Collective. */
static int describe_and_plan(struct bm_step *s, int status)
{
    struct bouma_dataset *ds = s->ds;
    struct bm_buffer mine;
    uint64_t hash = 0, own = 0, largest[2];
    int rc = status, replacing = 0;

    bm_buffer_init(&mine, ds->a);
    if (rc == BOUMA_EABORTED)
        bm_fail(&ds->error, rc, "step %" PRIu64 " was aborted by the caller",
                ds->step);
    else if (!rc && ds->put_error.status)
        rc =
            bm_fail(&ds->error, ds->put_error.status, "%s", ds->put_error.text);
    if (!rc)
        rc = describe(ds, &mine, &hash, &own);
    if (!rc)
        rc = prepare_directory(s, &replacing);
    /* 1: a new plan is needed; 2: and an earlier version is in place. */
    largest[0] = replacing ? 2 : !ds->plan || own != ds->plan_hash;
    largest[1] = ds->attempt; /* a rank may have missed one that failed */
    rc = bm_comm_begin(ds->comm, "the end of a step", hash, largest, 2, rc,
                       &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        rc = bm_write_mismatch(ds);
    /* Who writes a step again must not lose both versions: that is synced in
     * any case (in a group, later). */
    ds->synced = ds->options.durability == BOUMA_DURABLE ||
                 (ds->options.durability == BOUMA_FAST && largest[0] == 2);
    ds->attempt = (uint32_t)largest[1] + 1;
    s->generation = (struct bm_generation){ds->epoch, ds->attempt};
    if (!rc && largest[0]) {
        rc = make_plan(s, &mine, own);
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    } else if (!rc) {
        rc = reuse_plan(s);
    }
    bm_buffer_release(&mine);
    bm_step_lap(s, BM_DESCRIBE);
    s->plan = ds->plan;
    return rc;
}

/* ---- sizes, files and rounds -------------------------------------------- */

/* The bytes of every chunk: known from the geometry, or gathered. */
static int known_sizes(struct bm_step *s)
{
    for (size_t i = 0; i < s->plan->chunks; i++) {
        struct bm_chunk c = bm_plan_chunk(s->plan, i);
        bouma_box box = bm_tiling_patch_box(&c.variable->grid->tiling, c.patch);

        s->bytes[i] = bm_box_volume(&box) * bm_variable_value_size(c.variable) *
                      (uint64_t)c.variable->components;
    }
    return BOUMA_OK;
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
        bm_put_u64(&mine,
                   s->shaper.encoded_at[m + 1] - s->shaper.encoded_at[m]);
        if (s->plan->times)
            bm_put_u32(&mine, s->shaper.times[m]);
    }
    if (!rc && (!sizes || !next))
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for the sizes");
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, 1, rc, &ds->error);
    for (size_t r = 0; r < ranks && !rc; r++) {
        next[r] = at;
        at += sizes[r];
    }
    for (size_t i = 0; i < s->plan->chunks && !rc; i++) {
        size_t *place = &next[s->plan->owner[i]];

        s->bytes[i] = bm_load_u64(all.data + *place);
        *place += 8;
        if (s->plan->times) {
            s->plan->times[i] = bm_load_u32(all.data + *place);
            *place += 4;
        }
    }
    if (!rc)
        s->plan->timed = s->plan->times != NULL;
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

static int assign_files(struct bm_step *s)
{
    const bouma_options *o = &s->ds->options;
    struct bm_chunk_sizes sizes = {s->plan->chunks, s->bytes, s->plan->owner};
    uint64_t total = 0;
    int64_t files;
    int rc;

    for (size_t i = 0; i < s->plan->chunks; i++)
        total += s->bytes[i];
    if (!s->plan->chunks && s->particles.plan.files)
        return assign_none(s); /* particles have files of their own */
    files = bm_assign_files(total, s->plan->chunks, s->ds->comm->size, o->files,
                            o->file_size);
    if (files > BM_MAX_SUBFILES)
        files = BM_MAX_SUBFILES;
    rc = bm_assign(&s->files, s->ds->a, bm_assign_in_order(o->assign), &sizes,
                   files, s->ds->comm->size);
    if (rc)
        return bm_fail(&s->ds->error, rc,
                       "no memory to assign chunks to files");
    return number_files(s);
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

/* Shape this rank's files of particles and write them, all but their heads, one
 * after the other: no more than one is in memory twice. */
static int shape_particles(struct bm_step *s)
{
    struct bm_particle_write *p = &s->particles;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < p->bundle_count && !rc; i++) {
        double begun = bm_clock();

        rc = bm_bundle_shape(&p->bundles[i], s->ds, &p->codec, s->generation,
                             (uint32_t)s->all_files);
        s->shaper.encode_seconds += bm_clock() - begun;
        bm_step_lap(s, BM_SHAPE);
        if (!rc)
            rc = bm_bundle_store(&p->bundles[i], s->ds, s->generation);
        bm_step_lap(s, BM_STORE);
    }
    return rc;
}

/* The i-th subfile that this rank writes, of any kind. */
static struct bm_subfile *own_subfile(struct bm_step *s, size_t i)
{
    return i < s->subfile_count
               ? &s->subfiles[i]
               : &s->particles.bundles[i - s->subfile_count].subfile;
}

static size_t own_subfile_count(const struct bm_step *s)
{
    return s->subfile_count + s->particles.bundle_count;
}

/* ---- finish ------------------------------------------------------------- */

/* Close the subfiles and say what is in them, for rank 0. */
static int finish_subfiles(struct bm_step *s, struct bm_buffer *infos, int rc)
{
    struct bouma_dataset *ds = s->ds;
    int sync = ds->synced;
    int hold = ds->options.durability == BOUMA_GROUP;

    for (size_t i = 0; i < own_subfile_count(s) && !rc; i++) {
        struct bm_subfile *f = own_subfile(s, i);
        struct bm_subfile_info info;
        uint8_t hash[16];

        rc = bm_subfile_finish(f, ds, sync, hold, hash);
        if (rc)
            break;
        rc = bm_subfile_info_of(&info, &f->head, hash, ds->a);
        if (!rc) {
            bm_put_u32(infos, f->head.subfile);
            bm_subfile_info_encode(infos, &info, &ds->schema);
        }
        if (rc || infos->failed)
            rc =
                bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for the manifest");
        bm_subfile_info_release(&info, ds->a);
    }
    bm_step_lap(s, BM_STORE);
    return rc;
}

/* All but the deeds of ranks, which are there. */
static void fill_record(struct bm_step *s, bouma_record *r,
                        const struct bm_manifest *m, const uint64_t *slowest)
{
    double *seconds[BM_PHASES] = {&r->seconds.describe,   &r->seconds.plan,
                                  &r->seconds.distribute, &r->seconds.shape,
                                  &r->seconds.ship,       &r->seconds.store};

    r->raw_bytes = s->plan->raw_bytes + s->particles.raw_bytes;
    r->moved_bytes = s->plan->moved_bytes;
    r->shipped_bytes = s->particles.shipped_bytes;
    for (size_t i = 0; i < s->plan->chunks; i++)
        if (s->plan->owner[i] != bm_step_writer(s, s->files.file[i]))
            r->shipped_bytes += s->bytes[i];
    r->files = s->all_files;
    r->ranks = s->ds->comm->size;
    r->most_patches = s->plan->most_patches;
    for (size_t i = 0; i < m->count; i++) {
        uint64_t bytes = m->subfiles[i].file_bytes;

        r->stored_bytes += bytes;
        r->largest_file = bytes > r->largest_file ? bytes : r->largest_file;
        for (size_t k = 0; k < m->subfiles[i].count; k++)
            r->chunks += (int64_t)m->subfiles[i].parts[k].chunks;
    }
    r->mean_file = m->count ? r->stored_bytes / m->count : 0;
    for (int i = 0; i < BM_PHASES; i++)
        *seconds[i] = (double)slowest[i] * 1e-9;
}

/* What a rank did, in front of what it says of its subfiles. */
static void tell_deeds(struct bm_buffer *b, const struct bm_step *s)
{
    bm_put_u64(b, bm_route_message_count(&s->shaper.sends));
    bm_put_u64(b, bm_route_message_count(&s->sends) + s->particles.send_count);
    bm_put_f64(b, s->shaper.encode_seconds);
}

static void add_deeds(bouma_record *r, struct bm_cursor *c, int ranks)
{
    double seconds;

    r->moved_messages += bm_get_u64(c);
    r->shipped_messages += bm_get_u64(c);
    seconds = bm_get_f64(c);
    if (seconds > r->slowest_encode)
        r->slowest_encode = seconds;
    r->mean_encode += seconds / ranks;
}

/* What the ranks told rank 0, sizes[ranks] bytes each: the manifest's subfiles,
 * and their deeds in its record. */
static int decode_infos(struct bm_manifest *m, const struct bm_buffer *all,
                        const size_t *sizes, int ranks, struct bm_error *error)
{
    const uint8_t *data = all->data;
    int rc = BOUMA_OK;

    for (int r = 0; r < ranks && !rc; data += sizes[r], r++) {
        struct bm_cursor c = bm_cursor_of(data, sizes[r]);

        add_deeds(&m->record, &c, ranks);
        while (bm_cursor_left(&c) && !rc) {
            uint32_t number = bm_get_u32(&c);

            rc = number < m->count ? bm_subfile_info_decode(
                                         &m->subfiles[number], &c, m->schema)
                                   : BOUMA_ECOMM;
        }
    }
    if (rc)
        bm_fail(error, rc,
                rc == BOUMA_ENOMEM
                    ? "no memory for the manifest"
                    : "the records of the subfiles were not understood");
    return rc;
}

/* The trees over the files of particles, in the manifest. */
static int make_tops(struct bm_step *s, struct bm_manifest *m)
{
    const struct bm_particle_plan *plan = &s->particles.plan;
    struct bm_aggregation *trees =
        bm_new(s->ds->a, plan->set_count, sizeof(*trees));
    int rc = BOUMA_ENOMEM;

    for (size_t i = 0; i < plan->set_count && trees; i++)
        trees[i] = plan->sets[i].files;
    if (trees)
        rc = bm_manifest_make_tops(m, trees);
    bm_drop(s->ds->a, trees);
    return rc ? bm_fail(&s->ds->error, rc,
                        rc == BOUMA_ENOMEM ? "no memory for the manifest"
                                           : "the tree over the files is none")
              : BOUMA_OK;
}

/* Rank 0: the manifest, and the commit. The attributes are lent to the
 * manifest for the call. */
static int commit(struct bm_step *s, const struct bm_buffer *infos,
                  const size_t *sizes, const uint64_t *slowest,
                  bouma_record *record, int *published)
{
    struct bouma_dataset *ds = s->ds;
    struct bm_manifest m;
    int rc;

    bm_manifest_init(&m, ds->a, &ds->schema, &ds->error);
    m.step = ds->step;
    m.time = ds->time;
    m.generation = s->generation;
    m.nonce =
        bm_hash64(ds->id, 16,
                  (uint64_t)s->generation.epoch << 32 | s->generation.attempt);
    m.order = ds->options.order;
    m.distribute = ds->options.distribute;
    m.assign = bm_assign_in_order(ds->options.assign);
    m.assign_particles = bm_particle_scheme(ds->options.assign);
    m.place = ds->options.place;
    m.dataset_attributes = ds->attributes;
    m.attributes = ds->step_attributes;
    rc = bm_manifest_set_subfiles(&m, (size_t)s->all_files);
    if (rc)
        bm_fail(&ds->error, rc, "no memory for the manifest");
    if (!rc)
        rc = decode_infos(&m, infos, sizes, ds->comm->size, &ds->error);
    if (!rc)
        rc = make_tops(s, &m);
    if (!rc) {
        fill_record(s, &m.record, &m, slowest);
        *record = m.record;
        rc = bm_commit(ds, &m, published);
    }
    memset(&m.dataset_attributes, 0, sizeof(m.dataset_attributes));
    memset(&m.attributes, 0, sizeof(m.attributes));
    bm_manifest_release(&m);
    return rc;
}

/* Tell all ranks how the commit went: the record, or whether the files can be
 * removed. Collective. */
static int share_outcome(struct bm_step *s, bouma_record *record, int published,
                         int *removable, int rc)
{
    struct bm_comm *comm = s->ds->comm;
    uint64_t any = (uint64_t)published;
    int sent;

    rc = bm_comm_agree(comm, rc, &s->ds->error);
    if (rc) {
        *removable = !bm_comm_max(comm, &any, 1, &s->ds->error) && !any;
        return rc;
    }
    sent = comm->functions->broadcast(comm, record, sizeof(*record), 0);
    return sent ? bm_fail(&s->ds->error, BOUMA_ECOMM,
                          "the step is written, but its record was not "
                          "received")
                : BOUMA_OK;
}

/* Gather what was written and commit it. Collective. After a failure,
 * *removable tells that the commit did not get as far as a rename. */
static int finish(struct bm_step *s, bouma_record *record, int *removable,
                  int rc)
{
    struct bouma_dataset *ds = s->ds;
    size_t *sizes = bm_new(ds->a, (size_t)ds->comm->size, sizeof(*sizes));
    struct bm_buffer mine, all;
    uint64_t slowest[BM_PHASES];
    double begun;
    int published = 0;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    if (!sizes && !rc)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to end the step");
    tell_deeds(&mine, s);
    rc = finish_subfiles(s, &mine, rc);
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, 0, rc, &ds->error);
    for (int i = 0; i < BM_PHASES; i++)
        slowest[i] = (uint64_t)(s->seconds[i] * 1e9);
    if (!rc)
        rc = bm_comm_max(ds->comm, slowest, BM_PHASES, &ds->error);
    begun = bm_clock();
    if (!rc && ds->comm->rank == 0)
        rc = commit(s, &all, sizes, slowest, record, &published);
    record->seconds.commit = bm_clock() - begun;
    rc = share_outcome(s, record, published, removable, rc);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    return rc;
}

/* Room in the lists that a committed step enters, so that this cannot fail. */
static int reserve_lists(struct bm_step *s)
{
    struct bouma_dataset *ds = s->ds;
    size_t count = ds->held_file_count + own_subfile_count(s);
    struct bm_file *grown;

    grown = bm_resize(ds->a, ds->held_files, count, sizeof(*grown));
    if (grown)
        ds->held_files = grown;
    if (!grown ||
        bm_step_list_reserve(&ds->steps, (size_t)ds->options.group + 1) ||
        bm_step_list_reserve(&ds->unsettled, (size_t)ds->options.group + 1))
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to list the step");
    return BOUMA_OK;
}

/* ---- the whole ---------------------------------------------------------- */

/* After the plan: to the point where all memory is there and all files are
 * made, and every rank knows that this is so. Collective. */
static int prepare(struct bm_step *s)
{
    struct bouma_dataset *ds = s->ds;
    int rc = bm_shaper_init(&s->shaper, ds, s->plan, s->generation);

    s->bytes = bm_new_raw(ds->a, s->plan->chunks, sizeof(*s->bytes));
    if (!rc && !s->bytes)
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
        rc = shape_particles(s);
    if (!rc)
        rc = bm_ship_plan(s);
    if (!rc)
        rc = reserve_lists(s);
    bm_step_lap(s, BM_PLAN);
    return bm_comm_agree(ds->comm, rc, &ds->error);
}

/* Collective. */
static int carry_out(struct bm_step *s, bouma_record *record, int *removable)
{
    int rc = BOUMA_OK;

    if (!s->shaper.sized)
        rc = bm_ship_records(s, rc);
    rc = bm_ship_arrange(s, rc);
    rc = bm_ship_rounds(s, rc);
    if (s->shaper.sized)
        rc = bm_ship_records(s, rc);
    bm_step_lap(s, BM_SHIP);
    return finish(s, record, removable, rc);
}

/* 'keep' the files: they are committed, or may be. */
static void release(struct bm_step *s, int keep)
{
    struct bouma_dataset *ds = s->ds;

    for (size_t i = 0; i < own_subfile_count(s); i++) {
        struct bm_subfile *f = own_subfile(s, i);
        char name[BM_NAME_BYTES];

        bm_name_subfile(name, ds->step, f->head.subfile, s->generation);
        bm_subfile_release(f);
        /* One that could not be made, since there is one, is not ours. */
        if (!keep && f->file.store)
            bm_store_remove(&ds->store, name);
    }
    bm_particles_release(&s->particles);
    bm_drop(ds->a, s->subfiles);
    bm_shaper_release(&s->shaper);
    bm_drop(ds->a, s->bytes);
    bm_assignment_release(&s->files);
    bm_route_release(&s->sends);
    bm_route_release(&s->receives);
    bm_route_release(&s->record_sends);
    bm_route_release(&s->record_receives);
    bm_drop(ds->a, s->locals);
    bm_drop(ds->a, s->send_m);
    bm_drop(ds->a, s->arrivals);
}

/* Enter a committed step into the lists, which have room. */
static void list_step(struct bm_step *s)
{
    struct bouma_dataset *ds = s->ds;
    struct bm_step_entry entry = {ds->step, ds->time, s->generation};

    if (ds->options.durability != BOUMA_GROUP) {
        bm_step_list_put(&ds->steps, entry);
        return;
    }
    if (ds->comm->rank != 0) /* rank 0 holds it since the commit */
        ds->held[ds->held_count++] = (struct bm_held_step){.entry = entry};
    for (size_t i = 0; i < own_subfile_count(s); i++) {
        ds->held_files[ds->held_file_count++] = own_subfile(s, i)->file;
        own_subfile(s, i)->file.handle = NULL;
    }
}

int bm_write_step(struct bouma_dataset *ds, int status, bouma_record *record)
{
    bouma_record own;
    struct bm_step s;
    int rc, prepared, removable = 1;

    memset(&s, 0, sizeof(s));
    memset(&own, 0, sizeof(own));
    s.ds = ds;
    s.since = bm_clock();
    bm_route_init(&s.sends, ds->a);
    bm_route_init(&s.receives, ds->a);
    bm_route_init(&s.record_sends, ds->a);
    bm_route_init(&s.record_receives, ds->a);

    rc = describe_and_plan(&s, status);
    prepared = !rc;
    if (!rc)
        rc = prepare(&s);
    if (!rc)
        rc = carry_out(&s, &own, &removable);
    if (!rc)
        list_step(&s);
    release(&s, !rc || !removable);
    if (rc)
        remove_directory(&s, prepared, rc);
    if (!rc && ds->held_count >= ds->options.group)
        rc = bm_commit_flush(ds);
    if (record)
        *record = own;
    return rc;
}

void bm_write_release(struct bouma_dataset *ds)
{
    bm_plan_free(ds->plan);
    ds->plan = NULL;
}
