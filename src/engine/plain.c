/* plain.c -- plain files: opening and closing. See plain.h; plain_declare.c
 * plans what is declared, plain_move.c moves it. */
#include "engine/plain.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

/* ---- opening ------------------------------------------------------------ */

/* Directory and name of a path; the name gets the number of the group. */
static int split_path(struct bouma_file *f, const char *path, char **dir)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t bytes = strlen(name) + 16;

    *dir = bm_copy_text(f->a, slash ? path : ".");
    bm_drop(f->a, f->name);
    f->name = bm_new(f->a, bytes, 1);
    if (!*dir || !f->name)
        return bm_fail(&f->error, BOUMA_ENOMEM, "%s: no memory to open it",
                       path);
    if (slash)
        (*dir)[slash > path ? slash - path : 1] = 0;
    if (f->options.files > 1 || f->options.nodes_per_file)
        snprintf(f->name, bytes, "%s.%04d", name, f->group.number);
    else
        snprintf(f->name, bytes, "%s", name);
    if (!*name || strlen(f->name) >= BM_NAME_BYTES)
        return bm_fail(&f->error, BOUMA_EINVAL,
                       "%s: is not the name of a file of up to %d bytes", path,
                       BM_NAME_BYTES - 1);
    return BOUMA_OK;
}

int bm_plain_open_file(struct bouma_file *f)
{
    return bm_file_open(&f->file, &f->store, f->name,
                        f->mode == BOUMA_FILE_MODE_READ
                            ? BOUMA_OPEN_MODE_VIEW
                            : BOUMA_OPEN_MODE_UPDATE,
                        &f->error);
}

/* The first rank of a file: make it, or see that it is there. */
static int begin_file(struct bouma_file *f)
{
    if (f->group.rank != 0)
        return BOUMA_OK;
    /* What is there is emptied: it keeps its owner, links and stripes. */
    if (f->mode == BOUMA_FILE_MODE_CREATE)
        return bm_file_open(&f->file, &f->store, f->name, BOUMA_OPEN_MODE_EMPTY,
                            &f->error);
    return bm_plain_open_file(f);
}

/* The group's file of that path. */
static int open_path(struct bouma_file *f, const char *path)
{
    char *dir = NULL;
    int rc = split_path(f, path, &dir);

    if (!rc)
        rc = bm_store_open(&f->store, f->options.io, f->a, dir, 0, &f->error);
    if (!rc)
        rc = begin_file(f);
    bm_drop(f->a, dir);
    return rc;
}

/* What all ranks must give alike. */
static uint64_t hash_of(const char *path, bouma_file_mode mode,
                        const struct bm_options *o)
{
    uint64_t same[] = {(uint64_t)mode,       (uint64_t)o->files,
                       (uint64_t)o->writers, (uint64_t)o->place,
                       (uint64_t)o->buffers, (uint64_t)o->transport,
                       o->message_bytes,     o->buffer_bytes,
                       (uint64_t)o->tier,    (uint64_t)o->nodes_per_file};
    uint64_t h = bm_hash64(same, sizeof(same), 0);

    h = bm_hash64(o->machine, strlen(o->machine), h);
    h = bm_hash64(o->trace, strlen(o->trace), h);
    return bm_hash64(path, strlen(path), h);
}

int bm_plain_open(struct bouma_file **out, struct bm_comm *comm,
                  const char *path, bouma_file_mode mode,
                  const struct bm_options *options,
                  const struct bm_error *error)
{
    struct bouma_file *f = bm_new(comm->a, 1, sizeof(*f));
    struct bm_error none = {0};
    int rc = error->status;
    uint64_t hash = 0;

    *out = f;
    if (!f && !rc)
        rc = bm_fail(&none, BOUMA_ENOMEM, "no memory to open a file");
    if (f) {
        f->a = comm->a;
        f->error = *error;
        f->comm = comm;
        f->options = *options;
        f->mode = mode;
        comm->timeout = options->timeout;
        comm->message_bytes = options->message_bytes;
        if (bm_file_group_find(&f->group, options, comm) && !rc)
            rc = bm_fail(&f->error, BOUMA_ENOMEM, "%s: no memory to open it",
                         path);
        if (!rc)
            rc = bm_io_check_ranks(options->io, comm->size, path, &f->error);
        if (!rc)
            hash = hash_of(path, mode, options);
    }
    rc = bm_comm_begin(comm, "opening a plain file", hash, NULL, rc,
                       f ? &f->error : &none);
    if (!f) {
        bm_comm_free(comm);
        return rc;
    }
    if (rc == BOUMA_EMISMATCH && !f->error.status)
        bm_fail(&f->error, rc,
                "the ranks open different files, in different ways, or with "
                "different options (files, nodes_per_file, writers, place, "
                "machine, buffers, "
                "buffer_bytes, transport, tier, message_bytes, trace)");
    if (!rc)
        bm_tracing_begin(&f->engine.tracing, comm, &f->options);
    if (!rc)
        rc = bm_io_environment_find(&f->engine.env, comm, &f->options,
                                    &f->error);
    if (rc)
        return rc;
    rc = bm_comm_agree(comm, open_path(f, path), &f->error);
    if (!rc)
        rc = bm_io_environment_choose_buffer(&f->engine.env, comm, &f->options,
                                             &f->store, &f->error);
    f->opened = !rc;
    return rc;
}

void bm_plain_forget_declared(struct bouma_file *f)
{
    struct bm_declared *declared = &f->declared;

    bm_plain_forget_ways(f);
    bm_domain_release(&declared->domain);
    bm_drop(f->a, declared->bytes);
    bm_drop(f->a, declared->offset);
    declared->bytes = declared->offset = NULL;
    declared->variables = 0;
    declared->complete = 0;
}

int bm_plain_has_cells(const struct bouma_file *f)
{
    const size_t *first = f->declared.domain.first;

    return first && first[f->comm->rank + 1] > first[f->comm->rank];
}

/* If there is to be one. A failure is no more than a message. */
static void end_trace(struct bouma_file *f, struct bm_comm *comm)
{
    struct bm_error why = {0};

    if (bm_tracing_end(&f->engine.tracing, comm, &f->options, f->name, &why))
        bm_fail(&f->error, BOUMA_OK, "%s", why.text);
}

void bm_plain_free(struct bouma_file *f)
{
    struct bm_error ignored = {0};
    const bouma_allocator *a;
    struct bm_comm alone;

    if (!f)
        return;
    a = f->a;
    bm_plain_forget_ways(f);
    if (f->file.store)
        bm_file_close(&f->file, &ignored);
    /* With others this would have to be done together; and MPI may be gone. */
    bm_comm_self_init(&alone, a);
    if (f->opened && f->comm->size == 1)
        end_trace(f, &alone);
    bm_store_close(&f->store);
    bm_plain_forget_declared(f);
    bm_engine_release(&f->engine, f->comm);
    bm_comm_free(f->comm);
    bm_file_group_release(&f->group, a);
    bm_drop(a, f->name);
    bm_drop(a, f);
}

/* Sync, if that is wanted, and close. */
static int end_file(struct bouma_file *f)
{
    int rc = BOUMA_OK, closed;

    if (f->written && f->options.durability == BOUMA_DURABILITY_DURABLE) {
        if (f->file.store)
            rc = bm_file_sync(&f->file, &f->error);
        if (!rc && f->group.rank == 0)
            rc = bm_store_sync_dir(&f->store, "", &f->error);
    }
    closed = f->file.store ? bm_file_close(&f->file, &f->error) : BOUMA_OK;
    f->file = (struct bm_file){.store = NULL}; /* another may be opened */
    return rc ? rc : closed;
}

int bm_plain_close(struct bouma_file *f)
{
    int rc;

    bm_plain_forget_ways(f);
    rc = end_file(f);
    f->closed = 1;
    rc = bm_comm_agree(f->comm, rc, &f->error);
    end_trace(f, f->comm);
    return rc;
}

/* After a failure nothing can be done with it but to free it. */
int bm_plain_reopen(struct bouma_file *f, const char *path,
                    bouma_file_mode mode, int rc)
{
    uint64_t hash = rc ? 0 : bm_hash64(path, strlen(path), (uint64_t)mode);

    rc = bm_comm_begin(f->comm, "opening another plain file", hash, NULL, rc,
                       &f->error);
    if (rc == BOUMA_EMISMATCH && !f->error.status)
        bm_fail(&f->error, rc,
                "the ranks go on to different files, or in different ways");
    if (rc)
        return rc;
    /* The next one is emptied only if the last one is safe, on all ranks. */
    rc = bm_comm_agree(f->comm, end_file(f), &f->error);
    bm_store_close(&f->store);
    f->written = 0;
    f->mode = mode;
    if (!rc)
        rc = bm_comm_agree(f->comm, open_path(f, path), &f->error);
    if (!rc && f->declared.complete) {
        if (bm_plain_has_cells(f) && !f->file.store)
            rc = bm_plain_open_file(f);
        rc = bm_comm_agree(f->comm, rc, &f->error);
    }
    f->opened = !rc;
    return rc;
}
