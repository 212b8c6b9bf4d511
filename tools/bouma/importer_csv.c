/* importer_csv.c -- particles from tables in text. */
#include <stdlib.h>

#include "importer.h"
#include "read_csv.h"

static int open_csv(struct particles_source *source, struct context *ctx)
{
    struct csv_file *csv = particles_source_hold(source, sizeof(*csv));
    struct table_message message = {""};

    if (!csv)
        return context_fail_memory(ctx);
    return csv_open(csv, &source->table, source->file.bytes, source->file.size,
                    &message)
               ? DONE
               : particles_source_refuse(source, ctx, &message);
}

static size_t line(const struct particles_source *source, uint64_t row)
{
    return csv_line(source->state, row);
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
    const struct csv_file *csv = source->state;
    struct particle_table *table = &source->table;
    unsigned *kinds = calloc(csv->columns, sizeof(*kinds));
    struct table_message message = {"out of memory"};
    bool fine = kinds && csv_look(csv, table, rows, kinds, &message);
    int rc = context_agree(
        ctx, fine ? DONE : particles_source_refuse(source, ctx, &message));

    for (size_t i = 0; !rc && i < table->count; i++) {
        struct table_column *column = &table->columns[i];
        unsigned all = agree_on_kinds(ctx, kinds[column->source]);

        column->mixed = csv_is_mixed(all);
        if (!column->type)
            column->type = csv_type(all);
    }
    if (!rc && !csv_load(csv, table, rows, &message))
        rc = particles_source_refuse(source, ctx, &message);
    mapped_file_forget(&source->file);
    free(kinds);
    return rc;
}

const struct importer import_csv = {
    .name = ".csv",
    .suffixes = ".csv|.tsv",
    .particles = "a line of names, then a line of numbers for each particle",
    .open = open_csv,
    .load = load_csv,
    .line = line};
