/* api_dataset.c -- opening and closing. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "dataset/drain.h"
#include "dataset/sweep.h"
#include "dataset/truncate.h"
#include "store/envelope.h"

const bouma_allocator *bm_api_allocator(const bouma_options *opts)
{
    /* Also the shorter struct of an older caller has it. */
    const size_t enough =
        offsetof(bouma_options, allocator) + sizeof(opts->allocator);

    return opts && bm_struct_is_size(opts->size) && opts->size >= enough &&
                   opts->allocator &&
                   opts->allocator->size == sizeof(bouma_allocator)
               ? opts->allocator
               : bm_allocator_default();
}

void bm_api_tell(char *message, size_t bytes, const char *text)
{
    if (message && bytes)
        snprintf(message, bytes, "%s", text);
}

int bm_api_alone(struct bm_comm **out, const bouma_options *opts, char *message,
                 size_t bytes)
{
    int rc = bm_comm_self_new(out, bm_api_allocator(opts));

    if (rc)
        bm_api_tell(message, bytes, bouma_status_text(rc));
    return rc;
}

int bm_api_check(struct bm_options *out, const bouma_options *given,
                 const char *path, struct bm_error *error)
{
    int rc, wrong;

    rc = !path || !*path
             ? bm_fail(error, BOUMA_EINVAL, "the path of the dataset is empty")
             : BOUMA_OK;
    wrong = bm_options_complete(out, given, error);
    if (!rc && wrong)
        bm_error_prefix(error, "%s", path);
    return rc ? rc : wrong;
}

int bm_api_no_output(struct bm_error *error, const char *what)
{
    if (error)
        bm_error_clear(error);
    return error ? bm_fail(error, BOUMA_EINVAL,
                           "the pointer for %s is NULL, or 'size' is not set "
                           "to the sizeof of the struct",
                           what)
                 : BOUMA_EINVAL;
}

int bm_api_no_such(struct bm_error *error, const char *kind, const char *name,
                   const char *(*nth)(const void *list, int i),
                   const void *list)
{
    char names[256] = "";
    size_t n = 0;
    int i = 0;

    for (const char *one; (one = nth(list, i)) && n < sizeof(names); i++)
        n += (size_t)snprintf(names + n, sizeof(names) - n, "%s\"%s\"",
                              i ? ", " : "", one);
    return bm_fail(error, BOUMA_ENOTFOUND,
                   "there is no %s \"%s\"; there %s %s%s", kind,
                   name ? name : "(null)", i > 1 ? "are" : "is",
                   i ? names : "none", n >= sizeof(names) ? "..." : "");
}

int bm_api_not_opened(bouma_dataset **out, const bouma_allocator *a,
                      struct bm_comm *comm, const struct bm_error *error)
{
    *out = bm_new(a, 1, sizeof(**out));
    if (*out) {
        (*out)->a = a;
        (*out)->error = *error;
        (*out)->comm = comm;
    } else {
        bm_comm_free(comm);
    }
    return error->status;
}

int bm_api_open(bouma_dataset **out, struct bm_comm *comm, enum bm_mode mode,
                const char *path, const bouma_options *opts)
{
    const bouma_allocator *a = comm->a;
    struct bm_error error = {0};
    struct bm_options options;
    int rc = bm_api_check(&options, opts, path, &error);

    if (!rc && !out)
        rc = bm_fail(&error, BOUMA_EINVAL,
                     "%s: on some rank the pointer for the handle is NULL",
                     path);
    rc = bm_comm_agree(comm, rc, &error);
    if (rc && !out)
        bm_comm_free(comm);
    else if (rc)
        bm_api_not_opened(out, a, comm, &error);
    return rc ? rc : bm_dataset_open(out, comm, mode, path, &options, a);
}

static int open_alone(bouma_dataset **out, enum bm_mode mode, const char *path,
                      const bouma_options *opts)
{
    struct bm_comm *comm;

    if (!out)
        return BOUMA_EINVAL; /* there is nowhere to leave a message */
    *out = NULL;
    if (bm_comm_self_new(&comm, bm_api_allocator(opts)))
        return BOUMA_ENOMEM;
    return bm_api_open(out, comm, mode, path, opts);
}

int bouma_dataset_create(bouma_dataset **out, const char *path,
                         const bouma_options *opts)
{
    BM_STRICT_MATH;

    return open_alone(out, BM_MODE_CREATE, path, opts);
}

int bouma_dataset_append(bouma_dataset **out, const char *path,
                         const bouma_options *opts)
{
    BM_STRICT_MATH;

    return open_alone(out, BM_MODE_APPEND, path, opts);
}

int bouma_dataset_open(bouma_dataset **out, const char *path,
                       const bouma_options *opts)
{
    BM_STRICT_MATH;

    return open_alone(out, BM_MODE_READ, path, opts);
}

int bm_api_check_open(bouma_dataset *ds)
{
    static const char not_open[] = "the dataset is not open";

    /* Why it is not is what was said when it could not be opened. */
    if (!ds->opened && strncmp(ds->error.text, not_open, strlen(not_open)))
        bm_error_prefix(&ds->error, "%s", not_open);
    if (!ds->opened)
        return BOUMA_ESTATE;
    bm_error_clear(&ds->error);
    if (ds->closed)
        return bm_fail(&ds->error, BOUMA_ESTATE,
                       "%s: was closed; open it again", ds->store.path);
    return BOUMA_OK;
}

int bm_api_traced(bouma_dataset *ds, const char *call, double begun, int rc)
{
    if (ds->engine.tracing.trace)
        bm_trace_add(ds->engine.tracing.trace, "call", call, begun, NULL);
    return rc;
}

int bouma_dataset_close(bouma_dataset *ds)
{
    BM_STRICT_MATH;
    int rc, finished, flushed = BOUMA_OK, drained = BOUMA_OK;

    if (!ds)
        return BOUMA_EINVAL;
    rc = bm_api_check_open(ds);
    if (rc)
        return rc;
    finished = bm_api_finish_write(ds);
    rc = bm_comm_begin(ds->comm, "closing", 0, NULL, BOUMA_OK, &ds->error);
    if (rc) /* the ranks are not together: nothing is closed */
        return rc;
    if (ds->commits.held_count)
        flushed = bm_commit_flush(ds);
    if (ds->draining.drain)
        drained = bm_drain_finish(ds);
    if (ds->mode != BM_MODE_READ && (ds->comm->rank == 0 || ds->claim.claims)) {
        struct bm_error why = {0};
        int released;

        rc = bm_commit_sync_all(ds);
        if (!rc)
            bm_sweep_all_replaced(&ds->commits.replaced, &ds->store);
        /* A step that is not durable now, the next writer will see to. */
        released = bm_dataset_release(ds, &why);
        if (!rc && released)
            rc = bm_fail(&ds->error, released, "%s", why.text);
    }
    if (!flushed)
        flushed = finished;
    if (!rc && !flushed && !drained && ds->given.in_step)
        rc = bm_fail(&ds->error, BOUMA_ESTATE,
                     "step %" PRIu64 " was begun but not ended; it is dropped, "
                     "and the dataset is closed",
                     ds->given.step);
    rc = bm_comm_agree(ds->comm,
                       flushed   ? flushed
                       : drained ? drained
                                 : rc,
                       &ds->error);
    bm_dataset_end_trace(ds);
    ds->closed = 1;
    ds->given.in_step = 0;
    bm_given_forget_puts(&ds->given, ds->a);
    return rc;
}

const char *bouma_dataset_note(const bouma_dataset *ds, int i)
{
    if (ds && ds->opened && !ds->found.described) {
        bouma_dataset *here = (bouma_dataset *)ds;
        struct bm_error last = ds->error;

        bm_dataset_describe(here); /* who asks for steps learns of a failure */
        here->error = last;
    }
    return ds && i >= 0 && i < ds->found.note_count ? ds->found.notes[i] : NULL;
}

int bouma_dataset_refresh(bouma_dataset *ds)
{
    BM_STRICT_MATH;
    int rc = bm_api_begin(ds, BM_TO_USE);

    return rc ? rc : bm_dataset_refresh(ds);
}

int bouma_dataset_wait(bouma_dataset *ds)
{
    BM_STRICT_MATH;
    int rc = ds ? bm_api_check_open(ds) : BOUMA_EINVAL;

    return rc ? rc : bm_api_finish_write(ds);
}

/* Not that of a failed opening, which stays. */
static struct bm_error *no_output_error(const bouma_dataset *ds)
{
    return ds && ds->opened ? (struct bm_error *)&ds->error : NULL;
}

int bouma_dataset_record_get(bouma_record *out, const bouma_dataset *ds)
{
    if (!bm_reply_begin(out, sizeof(*out)))
        return bm_api_no_output(no_output_error(ds), "the record of a step");
    if (!ds)
        return BOUMA_EINVAL;
    return bm_reply(out, &ds->carried.record, sizeof(*out));
}

/* What is under way is over, and the ranks are together. Collective. */
static int begin(bouma_dataset *ds, const char *what)
{
    int rc = bm_api_begin(ds, BM_TO_USE);

    return rc ? rc
              : bm_comm_begin(ds->comm, what, 0, NULL, BOUMA_OK, &ds->error);
}

int bouma_dataset_flush(bouma_dataset *ds)
{
    BM_STRICT_MATH;
    int rc = begin(ds, "flushing");

    if (rc)
        return rc;
    if (ds->commits.held_count) {
        rc = bm_commit_flush(ds);
        return rc || !ds->options.replace ? rc : bm_sweep_replaced(ds);
    }
    if (ds->comm->rank == 0)
        rc = bm_commit_sync_all(ds);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    return rc || !ds->draining.drain ? rc : bm_drain_finish(ds);
}

int bouma_dataset_truncate(bouma_dataset *ds, int64_t step)
{
    BM_STRICT_MATH;
    int rc = bm_api_begin(ds, BM_TO_WRITE);

    if (rc)
        return rc;
    if (ds->given.in_step)
        rc = bm_fail(
            &ds->error, BOUMA_ESTATE,
            "step %" PRIu64
            " was begun but not ended; end it before others are dropped",
            ds->given.step);
    if (!rc && step < -1)
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "steps cannot be dropped after step %" PRId64
                     "; the first is 0, and -1 drops all",
                     step);
    rc = bm_comm_begin(ds->comm, "dropping steps", (uint64_t)step, NULL, rc,
                       &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        bm_fail(&ds->error, rc, "the ranks drop different steps");
    if (!rc && ds->commits.held_count)
        rc = bm_commit_flush(ds);
    if (!rc && ds->draining.drain)
        rc = bm_drain_finish(ds);
    return rc ? rc : bm_dataset_truncate(ds, step);
}

int bouma_dataset_drain(bouma_dataset *ds)
{
    BM_STRICT_MATH;
    int rc = begin(ds, "draining");

    return rc || !ds->draining.drain ? rc : bm_drain_finish(ds);
}

/* 'const' is about what is in the dataset, not about what the handle has read
 * of it, nor about the message. */
static int list_steps(const bouma_dataset *ds)
{
    bm_error_clear((struct bm_error *)&ds->error);
    return bm_dataset_list((bouma_dataset *)ds);
}

int64_t bouma_dataset_step_count(const bouma_dataset *ds)
{
    if (ds && ds->opened && !ds->found.listed && list_steps(ds))
        return -1;
    return ds ? (int64_t)ds->found.steps.count : 0;
}

int bouma_dataset_step_get(bouma_step_info *given, const bouma_dataset *ds,
                           int64_t i)
{
    bouma_step_info own = {0}, *out = &own;
    int rc;

    if (!bm_reply_begin(given, sizeof(own)))
        return bm_api_no_output(no_output_error(ds),
                                "a step's number and time");
    if (!ds)
        return BOUMA_EINVAL;
    if (!ds->opened)
        return bm_api_check_open((bouma_dataset *)ds);
    rc = ds->found.listed ? BOUMA_OK : list_steps(ds);
    if (rc)
        return rc;
    if (i < 0 || (size_t)i >= ds->found.steps.count) {
        struct bm_error *error = (struct bm_error *)&ds->error;

        bm_error_clear(error);
        return bm_fail(
            error, BOUMA_ENOTFOUND,
            "%s: has %zu steps, counted from 0; there is no number %" PRId64,
            ds->store.path, ds->found.steps.count, i);
    }
    out->step = (int64_t)ds->found.steps.entries[i].step;
    out->time = ds->found.steps.entries[i].time;
    out->writing = bm_generation_number(ds->found.steps.entries[i].generation);
    return bm_reply(given, &own, sizeof(own));
}

int bouma_dataset_info_get(bouma_dataset_info *given, const bouma_dataset *ds)
{
    bouma_dataset_info own = {0}, *out = &own;
    if (!bm_reply_begin(given, sizeof(own)))
        return bm_api_no_output(no_output_error(ds), "facts of a dataset");
    if (!ds)
        return BOUMA_EINVAL;
    memcpy(out->id, ds->id, 16);
    out->format_major = ds->version.major;
    out->format_minor = ds->version.minor;
    out->bytes_read = bm_dataset_bytes_read(ds);
    out->bytes_written = ds->store.bytes_written;
    out->files_opened = ds->store.files_opened + ds->second.files_opened;
    out->local_bytes_read = ds->mode == BM_MODE_READ ? ds->second.bytes_read
                            : ds->draining.drain     ? ds->store.bytes_read
                                                     : 0;
    return bm_reply(given, &own, sizeof(own));
}
