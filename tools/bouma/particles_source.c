/* particles_source.c -- a file that particles are imported from. */
#include "particles_source.h"

#include <stdlib.h>

#include "importer.h"
#include "npy_columns.h"

int particles_source_refuse(const struct particles_source *source,
                            struct context *ctx,
                            const struct table_message *message)
{
    return context_fail(ctx, DATA_AT_FAULT, "%s: %s", source->file.path,
                        message->text);
}

void *particles_source_hold(struct particles_source *source, size_t bytes)
{
    source->state = calloc(1, bytes);
    return source->state;
}

int particles_source_open(struct particles_source *out, struct context *ctx,
                          const char *path)
{
    int rc;

    *out = (struct particles_source){0};
    rc = mapped_file_open(&out->file, ctx, path);
    if (!rc)
        rc = importer_find_particles(&out->importer, ctx, &out->file);
    return rc ? rc : out->importer->open(out, ctx);
}

void particles_source_close(struct particles_source *source)
{
    table_release(&source->table);
    if (source->importer && source->importer->close)
        source->importer->close(source);
    free(source->state);
    mapped_file_close(&source->file);
}

int particles_source_next(struct particles_source *source, struct context *ctx,
                          bool *found)
{
    *found = false;
    return source->importer->next ? source->importer->next(source, ctx, found)
                                  : DONE;
}

bool particles_source_is_text(const struct particles_source *source)
{
    return source->importer->line != NULL;
}

size_t particles_source_line(const struct particles_source *source,
                             uint64_t row)
{
    return source->importer->line ? source->importer->line(source, row) : 0;
}

bool particles_source_copies(const struct particles_source *source,
                             const struct table_column *column)
{
    const struct importer *importer = source->importer;

    return importer->line || column->swapped ||
           (importer->compressed && importer->compressed(source, column));
}

int particles_source_load_plain(struct particles_source *source,
                                struct context *ctx, struct row_range rows)
{
    struct table_message message = {""};
    bool fine = true;

    for (size_t i = 0; fine && i < source->table.count; i++) {
        struct table_column *column = &source->table.columns[i];

        if (column->unwanted)
            continue;
        fine = npy_column_load(column, source->file.bytes, rows, &message);
        if (particles_source_copies(source, column))
            mapped_file_forget(&source->file);
    }
    return fine ? DONE : particles_source_refuse(source, ctx, &message);
}

int particles_source_load(struct particles_source *source, struct context *ctx,
                          struct row_range rows)
{
    return source->importer->load(source, ctx, rows);
}
