/* dataset.c -- opening and closing. Only rank 0 looks at the metadata on disk;
 * the others are told. */
#include "dataset/dataset.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/processors.h"
#include "comm/comm_trace.h"
#include "dataset/borrowed.h"
#include "dataset/clobber.h"
#include "dataset/dataset_found.h"
#include "dataset/drain.h"
#include "dataset/local_copy.h"
#include "dataset/make_way.h"
#include "store/identity.h"
#include "store/truncations.h"

/* Whether steps are written to a local copy. */
static int persists(const struct bouma_dataset *ds)
{
    return ds->options.persist && ds->mode != BM_MODE_READ;
}

/* ---- rank 0 ------------------------------------------------------------- */

/* Whether the list of steps can wait till it is asked for. To tell which steps
 * there are takes a look at the directory of all of them, which costs more than
 * all the rest. Ranks must have the same list, and ask for it each on its own:
 * so they get it at once. */
static int can_wait(const struct bouma_dataset *ds)
{
    return ds->mode == BM_MODE_READ && ds->comm->size == 1 && !ds->second.root;
}

/* What is written must be later than what was dropped, also if the directory
 * of epochs was lost: else it would never be drained. */
static int begin_beyond_dropped(struct bouma_dataset *ds)
{
    struct bm_error ignored = {0};
    struct bm_truncations t;
    int rc = BOUMA_OK;

    bm_truncations_init(&t, ds->a);
    if (!bm_truncations_load(&ds->store, ds->id, &t, &ignored) &&
        bm_truncations_epoch(&t) && bm_truncations_epoch(&t) >= ds->claim.epoch)
        rc = bm_epoch_after(ds->store.path, bm_truncations_epoch(&t),
                            &ds->claim.epoch, &ds->error);
    bm_truncations_release(&t);
    return rc;
}

static int claim(struct bouma_dataset *ds, char *note, size_t note_bytes)
{
    int rc = BOUMA_OK;

    if (ds->mode == BM_MODE_APPEND)
        rc = begin_beyond_dropped(ds);
    if (rc) {
        ds->claim.epoch = 0;
        return rc;
    }
    rc = bm_epoch_claim(&ds->store, &ds->claim.epoch, ds->options.force, note,
                        note_bytes, &ds->error);
    ds->claim.claims = ds->claim.epoch != 0;
    return rc;
}

/* Also one that does not exist yet is claimed first: what others see of it may
 * as well be the remains of one that is being removed. */
static int claim_new(struct bouma_dataset *ds, char *note, size_t note_bytes)
{
    int rc = bm_store_make_dir(&ds->store, BM_NAME_EPOCHS, 1, &ds->error);

    return rc ? rc : claim(ds, note, note_bytes);
}

/* There is something in the way of a new dataset: perhaps a creation that was
 * killed, or a removal that has all but ended; then go on with it. */
static int take_over(struct bouma_dataset *ds, const char *path, char *note,
                     size_t note_bytes)
{
    struct bm_store *s = &ds->store;
    struct bm_error why = {0};
    struct bm_clobber c;
    int more = 0, rc;

    rc = bm_store_open(s, ds->options.io, ds->a, path, 0, &why);
    s->memory_limit = ds->options.memory_limit;
    if (rc == BOUMA_ENOTFOUND || rc == BOUMA_EINVAL) /* a link, or a file */
        return bm_fail(&ds->error, BOUMA_EEXISTS,
                       "%s: exists already, as a file or a dangling link; "
                       "remove it yourself, or choose another name",
                       path);
    if (rc)
        return bm_fail(&ds->error, rc, "%s", why.text);
    if (!bm_clobber_is_unfinished(s))
        return bm_fail(&ds->error, BOUMA_EEXISTS,
                       "%s: exists already; choose another name, open it to "
                       "append, or replace it with the option 'clobber'",
                       path);
    if (bm_store_is_absent(s, BM_NAME_CLOBBERED))
        return claim_new(ds, note, note_bytes);
    rc = bm_clobber_begin(&c, s, ds->options.force, &ds->error);
    if (!rc) {
        rc = bm_clobber_claim(&c, &ds->claim.epoch, ds->options.force, note,
                              note_bytes, &ds->error);
        ds->claim.claims = ds->claim.epoch != 0;
    }
    if (!rc && !bm_clobber_is_unfinished(s))
        rc = bm_fail(&ds->error, BOUMA_EEXISTS,
                     "%s: was created by another program just now", path);
    if (!rc)
        rc = bm_clobber_check(&c, INFINITY, &more, &ds->error);
    if (!rc) /* there are no steps that it could pause in */
        rc = bm_clobber_remove(&c, INFINITY, &more, &ds->error);
    bm_clobber_release(&c);
    return rc;
}

static int create_on_disk(struct bouma_dataset *ds, const char *path,
                          char *note, size_t note_bytes)
{
    const bouma_io *io = ds->options.io;
    struct bm_error why = {0};
    int rc;

    if (ds->claim.claims) /* another has made way, in this directory */
        return bm_identity_create(&ds->store, ds->id, &ds->error);
    rc = bm_store_open(&ds->store, io, ds->a, path, 1, &why);
    ds->store.memory_limit = ds->options.memory_limit;
    if (rc == BOUMA_EEXISTS) {
        bm_store_close(&ds->store);
        rc = take_over(ds, path, note, note_bytes);
        if (rc)
            return rc;
    } else if (rc) {
        return bm_fail(&ds->error, rc, "%s", why.text);
    } else {
        rc = claim_new(ds, note, note_bytes);
        if (rc)
            return rc;
    }
    return bm_identity_create(&ds->store, ds->id, &ds->error);
}

/* The least epoch that will do is in ds->claim.epoch. */
static int open_on_disk(struct bouma_dataset *ds, const char *path)
{
    char note[512] = "";
    int rc;

    if (ds->mode == BM_MODE_CREATE) {
        static const uint8_t none[16];

        memcpy(ds->id, ds->options.id, 16);
        if (!memcmp(ds->id, none, 16))
            bm_identity_random(ds->id);
        rc = create_on_disk(ds, path, note, sizeof(note));
    } else {
        rc = bm_store_open(&ds->store, ds->options.io, ds->a, path, 0,
                           &ds->error);
        ds->store.memory_limit = ds->options.memory_limit;
    }
    if (!rc)
        rc = bm_identity_load(&ds->store, ds->id, &ds->version.major,
                              &ds->version.minor, &ds->error);
    if (!rc && ds->mode == BM_MODE_READ) {
        rc = bm_local_copy_find(ds);
    } else if (!rc && !ds->claim.claims) {
        rc = claim(ds, note, sizeof(note));
        /* Till now it may have made way for another. */
        if (!rc)
            rc = bm_identity_load(&ds->store, ds->id, &ds->version.major,
                                  &ds->version.minor, &ds->error);
        if (!rc)
            bm_identity_unmark(&ds->store);
    }
    if (rc || can_wait(ds))
        return rc;
    rc = bm_dataset_find_steps(ds);
    if (!rc && persists(ds)) {
        rc = bm_local_copy_enter(ds);
        if (!rc)
            rc = bm_dataset_find_steps(ds);
    }
    if (!rc)
        rc = bm_dataset_find_attributes(ds);
    if (!rc && note[0] && bm_dataset_add_note(ds, "%s", note))
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "%s: no memory", path);
    return rc;
}

/* ---- all ranks ---------------------------------------------------------- */

/* The other ranks, when rank 0 has opened it. */
static int open_too(struct bouma_dataset *ds, const char *path)
{
    int rc =
        bm_store_open(&ds->store, ds->options.io, ds->a, path, 0, &ds->error);

    ds->store.memory_limit = ds->options.memory_limit;
    if (!rc && ds->mode == BM_MODE_READ)
        rc = bm_local_copy_find(ds);
    if (!rc && persists(ds))
        rc = bm_local_copy_enter(ds);
    return rc;
}

/* How many local copies there are: as many as ranks that keep the manifests of
 * one; no more need be known than whether there is one but rank 0's.
 * Collective. */
static int count_local_copies(struct bouma_dataset *ds)
{
    uint64_t others = ds->comm->rank != 0 && ds->claim.claims;
    int rc = bm_comm_max(ds->comm, &others, 1, &ds->error);

    ds->draining.local_copies = 1 + (others != 0);
    if (!rc && others && ds->claim.claims)
        bm_local_copy_mark(&ds->store, BM_NAME_PART, ds->id);
    return rc;
}

/* A handle of all ranks or of none; 'comm' is its own from then on. */
static int make_handle(struct bouma_dataset **out, struct bm_comm *comm,
                       const char *path, const bouma_allocator *a)
{
    struct bm_error error = {0};
    struct bouma_dataset *ds = bm_new(a, 1, sizeof(*ds));
    int rc = BOUMA_OK;

    *out = ds;
    if (!ds)
        rc = bm_fail(&error, BOUMA_ENOMEM, "%s: no memory to open it", path);
    rc = bm_comm_agree(comm, rc, &error);
    if (rc)
        bm_comm_free(comm);
    if (!ds)
        return rc;
    ds->a = a;
    if (rc)
        ds->error = error;
    else
        ds->comm = comm;
    return rc;
}

static void init_contents(struct bouma_dataset *ds)
{
    bm_step_list_init(&ds->found.steps, ds->a);
    bm_step_list_init(&ds->commits.unsynced, ds->a);
    bm_losses_init(&ds->commits.losses, ds->a);
    bm_step_list_init(&ds->commits.replaced, ds->a);
    bm_schema_init(&ds->schema, ds->a, &ds->error);
    ds->schema.dataset = ds;
    ds->schema.order = ds->options.order;
    bm_attributes_init(&ds->found.attributes, ds->a, &ds->error);
    bm_attributes_init(&ds->given.step_attributes, ds->a, &ds->error);
}

/* Of a communicator, if there is one. */
static void set_limits(struct bm_comm *comm, const struct bm_options *o)
{
    if (!comm)
        return;
    if (o->message_bytes)
        comm->message_bytes = (size_t)o->message_bytes;
    comm->timeout = o->timeout;
}

/* All ranks open the same dataset in the same way; and its options begin to
 * count. Collective. */
static int agree_on_options(struct bouma_dataset *ds, const char *path)
{
    struct bm_comm *comm = ds->comm;
    int rc = bm_io_check_ranks(ds->options.io, comm->size, path, &ds->error);

    rc = bm_comm_begin(comm, "opening a dataset", bm_options_hash(ds, path),
                       NULL, rc, &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        rc = bm_options_mismatch(ds, path);
    if (rc)
        return rc;
    set_limits(comm, &ds->options);
    set_limits(comm->near, &ds->options);
    set_limits(comm->leaders, &ds->options);
    bm_tracing_begin(&ds->engine.tracing, comm, &ds->options);
    ds->engine.env.local = ds->options.local;
    ds->engine.env.transport = ds->options.transport;
    return BOUMA_OK;
}

/* Before anything is opened: where one who writes is, what its local copies
 * have, and what is to make way for it. Collective. */
static int prepare(struct bouma_dataset *ds, const char *path)
{
    int rc = BOUMA_OK;

    if (ds->mode != BM_MODE_READ)
        rc = bm_io_environment_find(&ds->engine.env, ds->comm, &ds->options,
                                    &ds->error);
    if (!rc && persists(ds))
        rc = bm_local_copy_look(ds, path, &ds->claim.epoch);
    if (!rc && ds->mode == BM_MODE_CREATE && ds->options.clobber)
        rc = bm_make_way(ds, path);
    return rc;
}

/* Rank 0 first, then the others. Collective. */
static int open_in_order(struct bouma_dataset *ds, const char *path)
{
    int rc = BOUMA_OK;

    if (ds->comm->rank == 0)
        rc = open_on_disk(ds, path);
    rc = bm_dataset_share_found(ds, rc);
    if (rc)
        return rc;
    if (ds->comm->rank != 0)
        rc = open_too(ds, path);
    ds->commits.held =
        bm_new(ds->a, (size_t)ds->options.group, sizeof(*ds->commits.held));
    if (!ds->commits.held && !rc)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "%s: no memory", path);
    /* Attributes that were read can be changed by one who writes. */
    ds->found.attributes.fixed = ds->mode == BM_MODE_READ;
    return bm_comm_agree(ds->comm, rc, &ds->error);
}

/* As many as the option says, or what it means by 0. Asked once: the answer
 * takes the system longer than a small read. */
static int choose_threads(const struct bouma_dataset *ds)
{
    if (ds->options.threads)
        return ds->options.threads;
    return ds->a == bm_allocator_default()
               ? bm_processors_share(bm_processors_find(),
                                     bm_comm_near(ds->comm)->size)
               : 1;
}

int bm_dataset_open(struct bouma_dataset **out, struct bm_comm *comm,
                    enum bm_mode mode, const char *path,
                    const struct bm_options *options, const bouma_allocator *a)
{
    struct bouma_dataset *ds;
    int rc = make_handle(out, comm, path, a);

    if (rc)
        return rc;
    ds = *out;
    ds->options = *options;
    ds->options.threads = choose_threads(ds);
    ds->mode = mode;
    init_contents(ds);
    rc = agree_on_options(ds, path);
    if (!rc)
        rc = prepare(ds, path);
    if (!rc)
        rc = open_in_order(ds, path);
    if (!rc && persists(ds))
        rc = count_local_copies(ds);
    if (!rc)
        rc = bm_io_environment_choose_buffer(
            &ds->engine.env, comm, &ds->options, &ds->store, &ds->error);
    ds->opened = !rc;
    return rc;
}

int bm_dataset_release(struct bouma_dataset *ds, struct bm_error *error)
{
    int rc = BOUMA_OK, second = BOUMA_OK;

    if (ds->claim.claims)
        rc = bm_epoch_close(&ds->store, ds->claim.epoch, error);
    if (ds->claim.claims_second)
        second = bm_epoch_close(&ds->second, ds->claim.epoch, error);
    ds->claim.claims &= rc != BOUMA_OK;
    ds->claim.claims_second &= second != BOUMA_OK;
    return rc ? rc : second;
}

void bm_dataset_end_trace(struct bouma_dataset *ds)
{
    struct bm_error why = {0};

    bm_drain_stop(ds->draining.drain); /* its thread is traced, too */
    if (bm_tracing_end(&ds->engine.tracing, ds->comm, &ds->options,
                       ds->store.path, &why))
        bm_dataset_add_note(ds, "%s", why.text);
}

void bm_given_forget_puts(struct bm_given *given, const bouma_allocator *a)
{
    for (size_t i = 0; i < given->put_count; i++)
        bm_put_release(&given->puts[i], a);
    given->put_count = 0;
    for (size_t i = 0; i < given->block_count; i++) {
        bm_particle_block_release(&given->blocks[i], a);
    }
    given->block_count = 0;
}

uint64_t bm_dataset_bytes_read(const struct bouma_dataset *ds)
{
    return ds->store.bytes_read + ds->second.bytes_read;
}

int bm_dataset_threads(const struct bouma_dataset *ds)
{
    return ds->options.threads;
}

struct bm_pipe_options bm_dataset_pipe(const struct bouma_dataset *ds)
{
    return (struct bm_pipe_options){.buffers = ds->options.buffers,
                                    .transport = ds->engine.env.transport,
                                    .tier = ds->options.tier,
                                    .strict = ds->options.tier != 0,
                                    .local = ds->engine.env.local};
}

static void release_found(struct bm_found *found, const bouma_allocator *a)
{
    bm_attributes_release(&found->attributes);
    bm_found_clear_notes(found, a);
    bm_drop(a, found->notes);
    bm_step_times_release(&found->times, a);
    bm_step_list_release(&found->steps);
}

static void release_given(struct bm_given *given, const bouma_allocator *a)
{
    bm_attributes_release(&given->step_attributes);
    bm_given_forget_puts(given, a);
    bm_drop(a, given->puts);
    bm_drop(a, given->blocks);
    bm_refused_clear(&given->refused, a);
    memset(given, 0, sizeof(*given));
}

static void release_commits(struct bm_commits *c, const bouma_allocator *a)
{
    struct bm_error ignored = {0};

    for (int i = 0; i < c->held_count; i++)
        if (c->held[i].manifest.store)
            bm_file_close(&c->held[i].manifest, &ignored);
    for (size_t i = 0; i < c->held_file_count; i++)
        bm_file_close(&c->held_files[i], &ignored);
    bm_drop(a, c->held);
    bm_drop(a, c->held_files);
    bm_step_list_release(&c->unsynced);
    bm_step_list_release(&c->replaced);
    bm_losses_release(&c->losses);
    memset(c, 0, sizeof(*c));
}

void bm_dataset_end(struct bouma_dataset *ds)
{
    struct bm_lifetime *life = &ds->life;
    struct bm_comm *comm = ds->comm;
    struct bm_error ignored = {0};

    if (life->ended)
        return;
    life->ended = 1;
    bm_comm_self_init(&life->alone, ds->a);
    ds->comm = &life->alone;
    if (comm) {
        life->together = comm->size > 1;
        life->rank = comm->rank;
        life->alone.message_bytes = comm->message_bytes;
        life->alone.timeout = comm->timeout;
        bm_comm_set_trace(comm, NULL);
    }
    /* With others this would have to be done together. */
    if (ds->opened && !life->together)
        bm_dataset_end_trace(ds);
    /* A writer that is gone without closing, or could not, is gone all the
     * same; and perhaps what kept it from that is over. */
    bm_drain_free(ds->draining.drain);
    ds->draining.drain = NULL;
    bm_dataset_release(ds, &ignored);
    release_commits(&ds->commits, ds->a);
    release_given(&ds->given, ds->a);
    bm_pipe_pool_release(&ds->engine.pool);
    bm_comm_free(comm);
}

void bm_dataset_free(struct bouma_dataset *ds)
{
    if (!ds)
        return;
    bm_dataset_end(ds);
    release_found(&ds->found, ds->a);
    bm_schema_release(&ds->schema);
    bm_store_close(&ds->store);
    bm_store_close(&ds->second);
    bm_engine_release(&ds->engine, ds->comm);
    bm_drop(ds->a, ds);
}
