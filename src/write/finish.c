/* finish.c -- see finish.h. */
#include "write/finish.h"

#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "dataset/borrowed.h"
#include "store/identity.h"
#include "write/predict.h"

/* Make the heads of this rank's subfiles, and say what is in them, for rank 0.
 */
static int seal_subfiles(struct bm_step *s, struct bm_buffer *infos, int rc)
{
    struct bouma_dataset *ds = s->ds;

    for (size_t i = 0; i < bm_step_subfile_count(s) && !rc; i++) {
        struct bm_subfile *f = bm_step_subfile(s, i);
        struct bm_subfile_info info;
        uint8_t hash[16];

        rc = bm_subfile_seal(f, ds, hash);
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
    return rc;
}

/* Wait for what is being stored, then write heads and close. The only job of
 * the thread that does it, if there is one. */
static int end_files(void *context, size_t job, struct bm_error *error)
{
    struct bm_step *s = context;
    int hold = s->ds->options.durability == BOUMA_GROUP;
    int rc = bm_pipe_wait(s->pipe, error);

    (void)job;
    if (!rc && s->bundler)
        rc = bm_keeper_wait(s->bundler, error);
    for (size_t i = 0; i < bm_step_subfile_count(s) && !rc; i++)
        rc = bm_subfile_finish(bm_step_subfile(s, i), s->synced, hold, error);
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
            r->shipped_bytes += bm_predict_shipped(s, i);
    r->predicted = s->prediction != NULL;
    r->misfits = (int64_t)s->misfits;
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
    uint64_t rounds = s->earlier_rounds;

    if (s->pipe) /* else it could not be made */
        rounds += bm_pipe_deeds_of(s->pipe).rounds;
    bm_put_u64(b, bm_route_message_count(&s->shaper.sends));
    bm_put_u64(b, rounds + s->particles.rounds);
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
                    : "the records of the subfiles could not be decoded");
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
                        rc == BOUMA_ENOMEM
                            ? "no memory for the manifest"
                            : "the tree over the files is damaged")
              : BOUMA_OK;
}

/* Rank 0: the bytes of the manifest. The attributes are lent to it for the
 * call. */
static int make_manifest(struct bm_step *s, const struct bm_buffer *infos,
                         const size_t *sizes, const uint64_t *slowest)
{
    struct bouma_dataset *ds = s->ds;
    struct bm_manifest m;
    int rc;

    bm_manifest_init(&m, ds->a, &ds->schema, &ds->error);
    m.step = s->number;
    m.time = s->time;
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
        s->record = m.record;
        bm_manifest_encode(&s->manifest, &m, ds->id);
        if (s->manifest.failed)
            rc =
                bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for the manifest");
    }
    memset(&m.dataset_attributes, 0, sizeof(m.dataset_attributes));
    memset(&m.attributes, 0, sizeof(m.attributes));
    bm_manifest_release(&m);
    return rc;
}

int bm_step_finish(struct bm_step *s, int rc)
{
    struct bouma_dataset *ds = s->ds;
    size_t *sizes = bm_new(ds->a, (size_t)ds->comm->size, sizeof(*sizes));
    struct bm_buffer mine, all;
    uint64_t slowest[BM_PHASES];

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    if (!rc) /* all that is borrowed has been read by now */
        rc = bm_borrowed_check(ds);
    if (!sizes && !rc)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to end the step");
    if (!rc && ds->options.async) {
        s->closer = bm_keeper_new(ds->a, 1, end_files, s, 1);
        if (!s->closer)
            rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to end the step");
    }
    tell_deeds(&mine, s);
    rc = seal_subfiles(s, &mine, rc);
    if (!rc && s->closer)
        bm_keeper_hand(s->closer, 0);
    else if (!rc)
        rc = end_files(s, 0, &ds->error);
    bm_step_lap(s, BM_STORE);
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, 0, rc, &ds->error);
    for (int i = 0; i < BM_PHASES; i++)
        slowest[i] = (uint64_t)(s->seconds[i] * 1e9);
    if (!rc)
        rc = bm_comm_max(ds->comm, slowest, BM_PHASES, &ds->error);
    if (!rc && ds->comm->rank == 0)
        rc = make_manifest(s, &all, sizes, slowest);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    return rc;
}

/* Tell all ranks how the commit went: the record, or whether the files can be
 * removed. Collective. */
static int share_outcome(struct bm_step *s, int published, int *removable,
                         int rc)
{
    struct bm_comm *comm = s->ds->comm;
    uint64_t any = (uint64_t)published;
    int sent;

    rc = bm_comm_agree(comm, rc, &s->ds->error);
    if (rc) {
        *removable = !bm_comm_max(comm, &any, 1, &s->ds->error) && !any;
        return rc;
    }
    sent = comm->functions->broadcast(comm, &s->record, sizeof(s->record), 0);
    return sent ? bm_fail(&s->ds->error, BOUMA_ECOMM,
                          "the step is written, but its record was not "
                          "received")
                : BOUMA_OK;
}

int bm_step_commit(struct bm_step *s, int *removable, int rc)
{
    struct bouma_dataset *ds = s->ds;
    struct bm_step_entry entry = {s->number, s->time, s->generation};
    double begun = bm_clock();
    int published = 0;

    if (!rc && ds->comm->rank == 0)
        rc = bm_commit(ds, &entry, &s->manifest, s->synced, &published);
    /* Who has taken over may have repaired the step: so its files stay. */
    if (rc && ds->comm->rank == 0)
        published |= bm_epoch_check(&ds->store, ds->epoch, &ds->error) != 0;
    s->record.seconds.commit = bm_clock() - begun;
    return share_outcome(s, published, removable, rc);
}
