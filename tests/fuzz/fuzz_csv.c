/* fuzz_csv.c -- no text makes the reader of tables crash; what it accepts is
 * read the same in two parts as in one. */
#include "fuzz_help.h"
#include "read_csv.h"

static void load_part(const struct csv_file *csv, struct particle_table *table,
                      struct row_range rows)
{
    struct table_message message;
    unsigned *kinds = calloc(csv->columns, sizeof(*kinds));

    if (!kinds)
        exit(1);
    if (csv_look(csv, table, rows, kinds, &message)) {
        /* Who asks for f64 gets numbers rounded that have more digits; else
         * they are refused. */
        for (size_t i = 0; i < table->count; i++) {
            table->columns[i].type = csv_type(kinds[i]);
            table->columns[i].asked = true;
        }
        HOLDS(csv_load(csv, table, rows, &message));
        /* A narrow type may not fit, and then that is told. */
        table_unload(table);
        for (size_t i = 0; i < table->count; i++)
            table->columns[i].type = BOUMA_TYPE_I8;
        csv_load(csv, table, rows, &message);
    }
    table_unload(table);
    free(kinds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_copy(data, size);
    struct particle_table table = {0};
    struct table_message message;
    struct csv_file csv;

    if (csv_open(&csv, &table, copy, size, &message)) {
        HOLDS(table.count == csv.columns && csv.rows <= size);
        load_part(&csv, &table, (struct row_range){0, csv.rows / 2});
        load_part(&csv, &table, (struct row_range){csv.rows / 2, csv.rows});
    }
    table_release(&table);
    free(copy);
    return 0;
}
