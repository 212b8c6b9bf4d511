/* importer_npz.c -- particles from NumPy's .npz files. */
#include <string.h>

#include "importer.h"
#include "read_npz.h"

static bool begins(const struct mapped_file *file)
{
    return file->size >= 4 && memcmp(file->bytes, "PK\3\4", 4) == 0;
}

static int open_npz(struct particles_source *source, struct context *ctx)
{
    struct npz_file *npz = particles_source_hold(source, sizeof(*npz));
    struct table_message message = {""};

    if (!npz)
        return context_fail_memory(ctx);
    return npz_open(npz, &source->table, source->file.bytes, source->file.size,
                    &message)
               ? DONE
               : particles_source_refuse(source, ctx, &message);
}

static void close_npz(struct particles_source *source)
{
    if (source->state)
        npz_release(source->state);
}

static bool compressed(const struct particles_source *source,
                       const struct table_column *column)
{
    const struct npz_file *npz = source->state;

    return npz->members[column->source].deflated;
}

static int load(struct particles_source *source, struct context *ctx,
                struct row_range rows)
{
    struct table_message message = {""};
    bool fine = true;

    for (size_t i = 0; fine && i < source->table.count; i++) {
        struct table_column *column = &source->table.columns[i];
        /* One process for each column compares its checksum. */
        bool whole = (int)(i % (size_t)session_size(ctx->session)) ==
                     session_rank(ctx->session);

        if (column->unwanted)
            continue;
        fine = npz_load(source->state, column, rows, whole, &message);
        if (particles_source_copies(source, column))
            mapped_file_forget(&source->file);
    }
    return fine ? DONE : particles_source_refuse(source, ctx, &message);
}

const struct importer import_npz = {
    .name = ".npz",
    .suffixes = ".npz",
    .particles = "NumPy arrays: each is a column, those with two axes are "
                 "vectors",
    .begins = begins,
    .open = open_npz,
    .close = close_npz,
    .load = load,
    .compressed = compressed};
