/* particles_source.c -- a file that particles are imported from. */
#include "particles_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "choice_names.h"
#include "npy_columns.h"
#include "numbers.h"

/* ---- opening ------------------------------------------------------------- */

static bool ends_in(const char *path, const char *end)
{
    size_t length = strlen(path), n = strlen(end);

    return length > n && strcasecmp(path + length - n, end) == 0;
}

static bool is_zip(const struct mapped_file *file)
{
    return file->size >= 4 && memcmp(file->bytes, "PK\3\4", 4) == 0;
}

/* By the end of the name, or by how the file begins. */
static int find_kind(struct particles_source *source, struct context *ctx)
{
    const struct mapped_file *file = &source->file;

    if (ends_in(file->path, ".npz") || is_zip(file))
        source->kind = PARTICLES_NPZ;
    else if (ends_in(file->path, ".npy"))
        source->kind = PARTICLES_NPY;
    else if (lammps_is_dump(file->bytes, file->size))
        source->kind = PARTICLES_LAMMPS;
    else if (ends_in(file->path, ".csv") || ends_in(file->path, ".tsv"))
        source->kind = PARTICLES_CSV;
    else if (ends_in(file->path, ".raw"))
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s: a file of plain values says nothing about "
                            "itself; write it as --column NAME:TYPE=%s",
                            file->path, file->path);
    else
        return context_fail(ctx, CALL_AT_FAULT,
                            "cannot tell what %s is; particles come from .npz, "
                            ".npy and .csv files, and from text dumps of "
                            "LAMMPS",
                            file->path);
    return DONE;
}

static bool add_npy(struct particles_source *source,
                    struct table_message *message)
{
    const char *slash = strrchr(source->file.path, '/');
    const char *stem = slash ? slash + 1 : source->file.path;
    struct npy_array array = {.name = stem,
                              .name_length = strlen(stem) - strlen(".npy"),
                              .bytes = source->file.bytes,
                              .count = source->file.size,
                              .total = source->file.size};

    return npy_columns_add(&source->table, &array, message);
}

static int refuse(const struct particles_source *source, struct context *ctx,
                  const struct table_message *message)
{
    return context_fail(ctx, DATA_AT_FAULT, "%s: %s", source->file.path,
                        message->text);
}

int particles_source_open(struct particles_source *out, struct context *ctx,
                          const char *path)
{
    const struct mapped_file *file = &out->file;
    struct table_message message = {""};
    bool fine = false, found;
    int rc;

    *out = (struct particles_source){0};
    rc = mapped_file_open(&out->file, ctx, path);
    if (!rc)
        rc = find_kind(out, ctx);
    if (rc)
        return rc;
    switch (out->kind) {
    case PARTICLES_NPZ:
        fine =
            npz_open(&out->npz, &out->table, file->bytes, file->size, &message);
        break;
    case PARTICLES_NPY:
    case PARTICLES_RAW:
        fine = add_npy(out, &message);
        break;
    case PARTICLES_CSV:
        fine =
            csv_open(&out->csv, &out->table, file->bytes, file->size, &message);
        break;
    case PARTICLES_LAMMPS:
        lammps_open(&out->lammps, file->bytes, file->size);
        return particles_source_next(out, ctx, &found);
    }
    return fine ? DONE : refuse(out, ctx, &message);
}

/* The parts of "NAME:TYPE[:COMPONENTS]=FILE"; false if it is not of that form.
 * The name may have colons in it. */
static bool parse_column(const char *text, struct table_column *out,
                         const char **path)
{
    const char *equals = strchr(text, '='), *colon;
    char parts[TABLE_NAME + 64];
    int64_t components = 1;

    if (!equals || !equals[1] || (size_t)(equals - text) >= sizeof(parts))
        return false;
    *path = equals + 1;
    memcpy(parts, text, (size_t)(equals - text));
    parts[equals - text] = '\0';
    colon = strrchr(parts, ':');
    if (colon && parse_integer(colon + 1, &components)) {
        parts[colon - parts] = '\0';
        colon = strrchr(parts, ':');
    }
    if (!colon || colon == parts || components < 1 || components > INT16_MAX ||
        (size_t)(colon - parts) >= TABLE_NAME)
        return false;
    out->type = bouma_type_parse(colon + 1);
    out->components = (int)components;
    memcpy(out->name, parts, (size_t)(colon - parts));
    out->name[colon - parts] = '\0';
    return out->type && out->type != BOUMA_STRING;
}

int particles_source_open_column(struct particles_source *out,
                                 struct context *ctx, const char *text)
{
    struct table_column wish = {.components = 1}, *column;
    struct table_message message;
    const char *path;
    size_t item;
    int rc;

    *out = (struct particles_source){.kind = PARTICLES_RAW};
    if (!parse_column(text, &wish, &path))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--column %s: write it as NAME:TYPE=FILE or "
                            "NAME:TYPE:COMPONENTS=FILE; types are %s",
                            text, TYPE_NAMES);
    rc = mapped_file_open(&out->file, ctx, path);
    if (rc)
        return rc;
    item = bouma_type_size(wish.type) * (size_t)wish.components;
    if (out->file.size % item != 0)
        return context_fail(ctx, DATA_AT_FAULT,
                            "%s: has %zu bytes, which is not a multiple of the "
                            "%zu bytes of a particle",
                            path, out->file.size, item);
    column = table_add(&out->table, wish.name, strlen(wish.name), &message);
    if (!column)
        return refuse(out, ctx, &message);
    column->type = wish.type;
    column->components = wish.components;
    column->rows = out->file.size / item;
    column->stride = (int64_t)item;
    column->component_stride = (int64_t)bouma_type_size(wish.type);
    return DONE;
}

void particles_source_close(struct particles_source *source)
{
    table_release(&source->table);
    npz_release(&source->npz);
    mapped_file_close(&source->file);
}

int particles_source_next(struct particles_source *source, struct context *ctx,
                          bool *found)
{
    struct table_message message;

    *found = false;
    if (source->kind != PARTICLES_LAMMPS)
        return DONE;
    table_release(&source->table);
    if (!lammps_next(&source->lammps, &source->frame, &source->table, found,
                     &message))
        return refuse(source, ctx, &message);
    return DONE;
}

bool particles_source_is_text(const struct particles_source *source)
{
    return source->kind == PARTICLES_CSV || source->kind == PARTICLES_LAMMPS;
}

size_t particles_source_line(const struct particles_source *source,
                             uint64_t row)
{
    return source->kind == PARTICLES_CSV ? csv_line(&source->csv, row)
           : source->kind == PARTICLES_LAMMPS
               ? lammps_line(&source->lammps, &source->frame, row)
               : 0;
}

/* ---- loading ------------------------------------------------------------- */

bool particles_source_copies(const struct particles_source *source,
                             const struct table_column *column)
{
    return particles_source_is_text(source) || column->swapped ||
           (source->kind == PARTICLES_NPZ &&
            source->npz.members[column->source].deflated);
}

/* Each process has seen its own rows: what one of them needs, all take. The
 * kinds are counted in parts of numbers, two in each. Collective. */
static unsigned agree_on_kinds(const struct context *ctx, unsigned kinds)
{
    const uint64_t part = (uint64_t)1 << 32;
    uint64_t whole =
        session_sum(ctx->session, (kinds & CSV_UNSIGNED ? 1 : 0) +
                                      (kinds & CSV_SIGNED ? part : 0));
    uint64_t real =
        session_sum(ctx->session, (kinds & CSV_REAL ? 1 : 0) +
                                      (kinds & CSV_FRACTION ? part : 0));

    return (whole % part ? CSV_UNSIGNED : 0) | (whole / part ? CSV_SIGNED : 0) |
           (real % part ? CSV_REAL : 0) | (real / part ? CSV_FRACTION : 0);
}

/* Collective. */
static int load_csv(struct particles_source *source, struct context *ctx,
                    struct row_range rows)
{
    struct particle_table *table = &source->table;
    unsigned *kinds = calloc(source->csv.columns, sizeof(*kinds));
    struct table_message message = {"out of memory"};
    bool fine = kinds && csv_look(&source->csv, table, rows, kinds, &message);
    int rc = context_agree(ctx, fine ? DONE : refuse(source, ctx, &message));

    for (size_t i = 0; !rc && i < table->count; i++) {
        struct table_column *column = &table->columns[i];
        unsigned all = agree_on_kinds(ctx, kinds[column->source]);

        column->mixed = csv_is_mixed(all);
        if (!column->type)
            column->type = csv_type(all);
    }
    if (!rc && !csv_load(&source->csv, table, rows, &message))
        rc = refuse(source, ctx, &message);
    mapped_file_forget(&source->file);
    free(kinds);
    return rc;
}

static bool load_columns(struct particles_source *source,
                         const struct context *ctx, struct row_range rows,
                         struct table_message *message)
{
    bool fine = true;

    for (size_t i = 0; fine && i < source->table.count; i++) {
        struct table_column *column = &source->table.columns[i];
        /* One process for each column compares its checksum. */
        bool whole = (int)(i % (size_t)session_size(ctx->session)) ==
                     session_rank(ctx->session);

        if (column->unwanted)
            continue;
        if (source->kind == PARTICLES_NPZ)
            fine = npz_load(&source->npz, column, rows, whole, message);
        else
            fine = npy_column_load(column, source->file.bytes, rows, message);
        if (particles_source_copies(source, column))
            mapped_file_forget(&source->file);
    }
    return fine;
}

int particles_source_load(struct particles_source *source, struct context *ctx,
                          struct row_range rows)
{
    struct table_message message = {""};
    bool fine;

    if (source->kind == PARTICLES_CSV)
        return load_csv(source, ctx, rows);
    if (source->kind == PARTICLES_LAMMPS) {
        fine = lammps_load(&source->lammps, &source->frame, &source->table,
                           rows, &message);
        mapped_file_forget(&source->file);
    } else {
        fine = load_columns(source, ctx, rows, &message);
    }
    return fine ? DONE : refuse(source, ctx, &message);
}
