/* exporter_npz.c -- particles into a .npz file: each variable is an array
 * NAME.npy, of n values or of n vectors. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "exporter.h"
#include "npy.h"
#include "particle_sink.h"
#include "zip_writer.h"

enum { PIECE = 1 << 20 }; /* bytes that are written at once */

/* A variable on its way. */
struct npz_column {
    int file; /* temporary, without a name; -1: none */
    uint64_t bytes;
    uint32_t crc;
    unsigned char *buffer; /* [PIECE] */
    size_t filled;
};

static int npz_open(struct particle_sink *sink)
{
    struct npz_column *columns = calloc(sink->count + 1, sizeof(*columns));

    sink->state = columns;
    if (!columns)
        return context_fail(sink->ctx, DATA_AT_FAULT, "out of memory");
    for (size_t v = 0; v < sink->count; v++)
        columns[v].file = -1;
    for (size_t v = 0; v < sink->count; v++) {
        struct npz_column *column = &columns[v];
        char path[PATH_MAX];
        int length =
            snprintf(path, sizeof(path), "%s.XXXXXX", sink->output->temporary);

        if (length < 0 || (size_t)length >= sizeof(path))
            return context_fail(sink->ctx, CALL_AT_FAULT,
                                "the name of the output is too long");
        column->file = mkstemp(path);
        if (column->file < 0)
            return context_fail_errno(sink->ctx, "write", path);
        unlink(path);
        column->buffer = malloc(PIECE);
        if (!column->buffer)
            return context_fail(sink->ctx, DATA_AT_FAULT, "out of memory");
    }
    return DONE;
}

static void npz_release(struct particle_sink *sink)
{
    struct npz_column *columns = sink->state;

    for (size_t v = 0; columns && v < sink->count; v++) {
        if (columns[v].file >= 0)
            close(columns[v].file);
        free(columns[v].buffer);
    }
    free(columns);
}

static int flush_column(struct particle_sink *sink, struct npz_column *column)
{
    const unsigned char *from = column->buffer;

    column->crc = (uint32_t)crc32_z(column->crc, from, column->filled);
    column->bytes += column->filled;
    while (column->filled > 0) {
        ssize_t n = write(column->file, from, column->filled);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return context_fail_errno(sink->ctx, "write", sink->output->path);
        from += n;
        column->filled -= (size_t)n;
    }
    return DONE;
}

/* The components of a particle side by side, as NumPy has them. */
static int take_column(struct particle_sink *sink, size_t v,
                       const bouma_batch *batch)
{
    struct npz_column *column = (struct npz_column *)sink->state + v;
    const bouma_variable_info *about = &sink->variables[v];
    const unsigned char *from = batch->columns[v];
    size_t item = bouma_type_size(about->type);
    int rc = DONE;

    for (uint64_t i = 0; !rc && i < batch->count; i++)
        for (int c = 0; !rc && c < about->components; c++) {
            if (column->filled + item > PIECE)
                rc = flush_column(sink, column);
            memcpy(column->buffer + column->filled,
                   from + ((uint64_t)c * batch->count + i) * item, item);
            column->filled += item;
        }
    return rc;
}

static int npz_take(struct particle_sink *sink, const bouma_batch *batch)
{
    int rc = DONE;

    for (size_t v = 0; !rc && v < sink->count; v++)
        rc = take_column(sink, v, batch);
    return rc;
}

static int copy_column(struct particle_sink *sink, struct zip_writer *writer,
                       struct npz_column *column)
{
    uint64_t done = 0;

    while (done < column->bytes) {
        ssize_t n = pread(column->file, column->buffer, PIECE, (off_t)done);
        int rc;

        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO;
        if (n <= 0)
            return context_fail_errno(sink->ctx, "read back",
                                      sink->output->path);
        rc = zip_writer_write(writer, sink->ctx, column->buffer, (size_t)n);
        if (rc)
            return rc;
        done += (uint64_t)n;
    }
    return DONE;
}

static int finish_column(struct particle_sink *sink, struct zip_writer *writer,
                         size_t v)
{
    const bouma_variable_info *about = &sink->variables[v];
    struct npz_column *column = (struct npz_column *)sink->state + v;
    /* The position is a vector for each particle, even on one axis. */
    bool vector = about->components > 1 || strcmp(about->name, "position") == 0;
    const int64_t shape[2] = {(int64_t)sink->particles, about->components};
    char header[NPY_MAX_HEADER], name[300];
    size_t length = npy_format(header, about->type, vector ? 2 : 1, shape);
    int rc = flush_column(sink, column);
    uint32_t crc;

    if (rc)
        return rc;
    crc = (uint32_t)crc32_z(crc32_z(0, NULL, 0), (const void *)header, length);
    crc = (uint32_t)crc32_combine(crc, column->crc, (off_t)column->bytes);
    snprintf(name, sizeof(name), "%s.npy", about->name);
    rc = zip_writer_begin(writer, sink->ctx, name, length + column->bytes, crc);
    if (!rc)
        rc = zip_writer_write(writer, sink->ctx, header, length);
    return rc ? rc : copy_column(sink, writer, column);
}

static int npz_finish(struct particle_sink *sink)
{
    struct zip_writer writer;
    int rc = DONE;

    zip_writer_init(&writer, sink->output);
    for (size_t v = 0; !rc && v < sink->count; v++)
        rc = finish_column(sink, &writer, v);
    if (!rc)
        rc = zip_writer_finish(&writer, sink->ctx);
    zip_writer_release(&writer);
    return rc;
}

const struct exporter export_npz = {
    .suffix = ".npz",
    .takes = EXPORT_PARTICLES,
    .help = "NumPy arrays, one for each variable; types are kept",
    .open = npz_open,
    .take = npz_take,
    .finish = npz_finish,
    .release = npz_release};
