/* importer_lammps.c -- particles from the text dumps of LAMMPS, frame by frame.
 */
#include "importer.h"
#include "read_lammps.h"

struct dump {
    struct lammps_file file;
    struct lammps_frame frame;
};

static bool begins(const struct mapped_file *file)
{
    return lammps_is_dump(file->bytes, file->size);
}

static int next(struct particles_source *source, struct context *ctx,
                bool *found)
{
    struct dump *dump = source->state;
    struct table_message message;

    table_release(&source->table);
    if (!lammps_next(&dump->file, &dump->frame, &source->table, found,
                     &message))
        return particles_source_refuse(source, ctx, &message);
    return DONE;
}

static int open_dump(struct particles_source *source, struct context *ctx)
{
    struct dump *dump = particles_source_hold(source, sizeof(*dump));
    bool found;

    if (!dump)
        return context_fail_memory(ctx);
    source->frame = &dump->frame;
    lammps_open(&dump->file, source->file.bytes, source->file.size);
    return next(source, ctx, &found);
}

static int load(struct particles_source *source, struct context *ctx,
                struct row_range rows)
{
    const struct dump *dump = source->state;
    struct table_message message = {""};
    bool fine =
        lammps_load(&dump->file, &dump->frame, &source->table, rows, &message);

    mapped_file_forget(&source->file);
    return fine ? DONE : particles_source_refuse(source, ctx, &message);
}

static size_t line(const struct particles_source *source, uint64_t row)
{
    const struct dump *dump = source->state;

    return lammps_line(&dump->file, &dump->frame, row);
}

const struct importer import_lammps = {
    .name = "LAMMPS dump",
    .particles = "a text dump: its frames become steps",
    .begins = begins,
    .open = open_dump,
    .next = next,
    .load = load,
    .line = line};
