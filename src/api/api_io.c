/* api_io.c -- plain files of any program. */
#include <string.h>

#include "api/api.h"
#include "engine/plain.h"

int bm_api_io_not_opened(bouma_file **out, const bouma_allocator *a,
                         const struct bm_error *error)
{
    *out = bm_new(a, 1, sizeof(**out));
    if (*out) {
        (*out)->a = a;
        (*out)->error = *error;
    }
    return error->status;
}

static int check_mode(const char *path, bouma_file_mode mode,
                      struct bm_error *error)
{
    return mode == BOUMA_FILE_MODE_READ || mode == BOUMA_FILE_MODE_CREATE ||
                   mode == BOUMA_FILE_MODE_UPDATE
               ? BOUMA_OK
               : bm_fail(error, BOUMA_EINVAL,
                         "%s: there is no mode %d of bouma_file_open()", path,
                         (int)mode);
}

int bm_api_io_open(bouma_file **out, struct bm_comm *comm, const char *path,
                   bouma_file_mode mode, const bouma_options *opts)
{
    struct bm_error error = {0};
    bouma_file *nowhere = NULL;
    struct bm_options options;
    int rc = bm_api_check(&options, opts, path, &error);

    if (!rc && !out)
        rc = bm_fail(&error, BOUMA_EINVAL,
                     "%s: on some rank the pointer for the handle is NULL",
                     path);

    if (!rc)
        rc = check_mode(path, mode, &error);
    rc =
        bm_plain_open(out ? out : &nowhere, comm, path, mode, &options, &error);
    bm_plain_free(nowhere);
    return rc;
}

int bouma_file_open(bouma_file **out, const char *path, bouma_file_mode mode,
                    const bouma_options *opts)
{
    BM_STRICT_MATH;
    struct bm_comm *comm;
    int rc;

    if (!out)
        return BOUMA_EINVAL;
    *out = NULL;
    rc = bm_comm_self_new(&comm, bm_api_allocator(opts));
    return rc ? rc : bm_api_io_open(out, comm, path, mode, opts);
}

/* Whether it is there and can be used. An earlier message is cleared, unless it
 * is that of the opening. */
static int check(bouma_file *f)
{
    if (!f)
        return BOUMA_EINVAL;
    if (!f->opened)
        return f->error.status ? f->error.status : BOUMA_ESTATE;
    if (f->calls) /* by what is called back: the message is that of the call */
        return BOUMA_ESTATE;
    bm_error_clear(&f->error);
    if (f->closed)
        return bm_fail(&f->error, BOUMA_ESTATE, "%s/%s: is closed",
                       f->store.path, f->name);
    return BOUMA_OK;
}

int bouma_file_declare(bouma_file *file, size_t variables,
                       const uint64_t *count, const uint64_t *size,
                       const uint64_t *offset)
{
    BM_STRICT_MATH;
    int rc = check(file);

    if (rc)
        return rc;
    if ((variables && (!count || !size || !offset)) || variables > UINT32_MAX)
        rc = bm_fail(&file->error, BOUMA_EINVAL,
                     "bouma_file_declare() needs arrays of counts, sizes and "
                     "offsets");
    return bm_plain_declare(file, variables, count, size, offset, rc);
}

static int move(bouma_file *file, void *const *data, int reading)
{
    const char *call = reading ? "bouma_file_read()" : "bouma_file_write()";
    int rc = check(file);

    if (rc)
        return rc;
    if (!file->declared.complete)
        return bm_fail(
            &file->error, BOUMA_ESTATE,
            "nothing is declared; call bouma_file_declare() before %s", call);
    if (!reading && file->mode == BOUMA_FILE_MODE_READ)
        return bm_fail(&file->error, BOUMA_ESTATE,
                       "%s/%s: was opened for reading", file->store.path,
                       file->name);
    for (size_t i = 0; i < file->declared.variables && !rc; i++)
        if (file->declared.bytes[i] && (!data || !data[i]))
            rc = bm_fail(&file->error, BOUMA_EINVAL,
                         "%s: there is no data for variable %zu", call, i);
    file->calls++;
    rc = bm_plain_move(file, data, reading, rc);
    if (--file->calls == 0 && file->freed) /* by what was called back */
        bm_plain_free(file);
    return rc;
}

int bouma_file_write(bouma_file *file, const void *const *data)
{
    BM_STRICT_MATH;
    void *const *plain;

    memcpy(&plain, &data, sizeof(plain)); /* it is not written to */
    return move(file, plain, 0);
}

int bouma_file_read(bouma_file *file, void *const *data)
{
    BM_STRICT_MATH;

    return move(file, data, 1);
}

int bouma_file_reopen(bouma_file *file, const char *path, bouma_file_mode mode)
{
    BM_STRICT_MATH;
    int rc = check(file);

    if (rc)
        return rc;
    if (!path)
        rc = bm_fail(&file->error, BOUMA_EINVAL,
                     "bouma_file_reopen() needs the path of the next file");
    else
        rc = check_mode(path, mode, &file->error);
    return bm_plain_reopen(file, path, mode, rc);
}

int bouma_file_close(bouma_file *file)
{
    BM_STRICT_MATH;
    int rc = check(file);

    return rc ? rc : bm_plain_close(file);
}

int bouma_file_group(const bouma_file *file, int *group, int *rank, int *ranks)
{
    if (!file || !file->opened)
        return BOUMA_EINVAL;
    if (group)
        *group = file->group.number;
    if (rank)
        *rank = file->group.rank;
    if (ranks)
        *ranks = file->group.ranks;
    return BOUMA_OK;
}

int bouma_file_report_get(bouma_file_report *given, const bouma_file *file)
{
    bouma_file_report own = {0}, *out = &own;
    if (!file || !bm_reply_begin(given, sizeof(own)))
        return BOUMA_EINVAL;
    *out = file->report;
    return bm_reply(given, &own, sizeof(own));
}
