/* api_dataset.c -- opening and closing; the version. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "store/envelope.h"
#include "store/identity.h"
#include "write/write.h"

#define TEXT_OF(x)      #x
#define DOTTED(x, y, z) TEXT_OF(x) "." TEXT_OF(y) "." TEXT_OF(z)

const char *bouma_version(void)
{
    return DOTTED(BOUMA_VERSION_MAJOR, BOUMA_VERSION_MINOR,
                  BOUMA_VERSION_PATCH);
}

const bouma_allocator *bm_api_allocator(const bouma_options *opts)
{
    /* Also the shorter struct of an older caller has it. */
    const size_t enough =
        offsetof(bouma_options, allocator) + sizeof(opts->allocator);

    return opts && opts->size >= enough && opts->allocator
               ? opts->allocator
               : bm_allocator_default();
}

int bm_api_open(bouma_dataset **out, struct bm_comm *comm, enum bm_mode mode,
                const char *path, const bouma_options *opts)
{
    const bouma_allocator *a = comm->a;
    struct bm_error error = {0};
    bouma_options options;
    int rc = bm_options_complete(&options, opts, &error);

    if (!path || !*path)
        rc = bm_fail(&error, BOUMA_EINVAL, "the path of the dataset is empty");
    rc = bm_comm_agree(comm, rc, &error);
    if (!rc)
        return bm_dataset_open(out, comm, mode, path, &options, a);
    /* A handle for the message. */
    *out = bm_new(a, 1, sizeof(**out));
    if (*out) {
        (*out)->a = a;
        (*out)->error = error;
        (*out)->comm = comm;
    } else {
        bm_comm_free(comm);
    }
    return rc;
}

static int open_alone(bouma_dataset **out, enum bm_mode mode, const char *path,
                      const bouma_options *opts)
{
    struct bm_comm *comm;

    *out = NULL;
    if (bm_comm_self_new(&comm, bm_api_allocator(opts)))
        return BOUMA_ENOMEM;
    return bm_api_open(out, comm, mode, path, opts);
}

int bouma_dataset_create(bouma_dataset **out, const char *path,
                         const bouma_options *opts)
{
    return open_alone(out, BM_MODE_CREATE, path, opts);
}

int bouma_dataset_append(bouma_dataset **out, const char *path,
                         const bouma_options *opts)
{
    return open_alone(out, BM_MODE_APPEND, path, opts);
}

int bouma_dataset_open(bouma_dataset **out, const char *path,
                       const bouma_options *opts)
{
    return open_alone(out, BM_MODE_READ, path, opts);
}

/* Whether the dataset was opened at all, and not closed since. */
static int check_open(bouma_dataset *ds)
{
    bm_error_clear(&ds->error);
    if (!ds->opened || ds->closed)
        return bm_fail(&ds->error, BOUMA_ESTATE, "the dataset is not open");
    return BOUMA_OK;
}

int bouma_dataset_close(bouma_dataset *ds)
{
    int rc, flushed = BOUMA_OK;

    if (!ds)
        return BOUMA_EINVAL;
    rc = check_open(ds);
    if (rc)
        return rc;
    rc = bm_comm_begin(ds->comm, "closing", 0, NULL, 0, BOUMA_OK, &ds->error);
    if (rc) /* the ranks are not together: nothing is closed */
        return rc;
    if (ds->held_count)
        flushed = bm_commit_flush(ds);
    if (ds->mode != BM_MODE_READ && ds->comm->rank == 0) {
        rc = bm_commit_settle_all(ds);
        if (!rc)
            rc = bm_epoch_close(&ds->store, ds->epoch, &ds->error);
    }
    if (!rc && !flushed && ds->in_step)
        rc = bm_fail(&ds->error, BOUMA_ESTATE,
                     "step %" PRIu64 " was begun and not ended; it is dropped, "
                     "and the dataset closed",
                     ds->step);
    rc = bm_comm_agree(ds->comm, flushed ? flushed : rc, &ds->error);
    ds->closed = 1;
    ds->in_step = 0;
    ds->put_count = 0;
    return rc;
}

void bouma_dataset_free(bouma_dataset *ds)
{
    if (!ds)
        return;
    bm_write_release(ds);
    bm_dataset_free(ds);
}

const char *bouma_error_message(const bouma_dataset *ds)
{
    if (!ds)
        return bouma_status_text(BOUMA_ENOMEM);
    return ds->error.text;
}

const char *bouma_dataset_note(const bouma_dataset *ds, int i)
{
    return ds && i >= 0 && i < ds->note_count ? ds->notes[i] : NULL;
}

int bouma_dataset_refresh(bouma_dataset *ds)
{
    int rc = check_open(ds);

    return rc ? rc : bm_dataset_refresh(ds);
}

int bouma_dataset_flush(bouma_dataset *ds)
{
    int rc = check_open(ds);

    if (rc)
        return rc;
    rc = bm_comm_begin(ds->comm, "flushing", 0, NULL, 0, BOUMA_OK, &ds->error);
    if (rc) /* the ranks are not together */
        return rc;
    if (ds->held_count)
        return bm_commit_flush(ds);
    if (ds->comm->rank == 0)
        rc = bm_commit_settle_all(ds);
    return bm_comm_agree(ds->comm, rc, &ds->error);
}

int64_t bouma_dataset_step_count(const bouma_dataset *ds)
{
    return (int64_t)ds->steps.count;
}

int bouma_dataset_step_get(const bouma_dataset *ds, int64_t i,
                           bouma_step_info *out)
{
    if (i < 0 || (size_t)i >= ds->steps.count)
        return BOUMA_ENOTFOUND;
    out->step = (int64_t)ds->steps.entries[i].step;
    out->time = ds->steps.entries[i].time;
    return BOUMA_OK;
}

int bouma_dataset_info_get(const bouma_dataset *ds, bouma_dataset_info *out)
{
    memset(out, 0, sizeof(*out));
    memcpy(out->id, ds->id, 16);
    out->format_major = ds->major;
    out->format_minor = ds->minor;
    out->bytes_read = ds->store.bytes_read;
    out->bytes_written = ds->store.bytes_written;
    out->files_opened = ds->store.files_opened;
    return BOUMA_OK;
}
