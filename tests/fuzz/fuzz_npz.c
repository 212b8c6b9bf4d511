/* fuzz_npz.c -- no bytes make the reader of .npz files crash; columns that it
 * accepts lie in the file, whatever their order, and can be loaded in parts. */
#include "fuzz_help.h"
#include "read_npz.h"

/* The sum of all bytes, so that each is read. */
static uint64_t touch(const struct table_column *column, uint64_t rows)
{
    size_t item = bouma_type_size(column->type);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < rows; i++)
        for (int c = 0; c < column->components; c++)
            for (size_t b = 0; b < item; b++)
                sum += ((const unsigned char *)column
                            ->data)[(int64_t)i * column->stride +
                                    c * column->component_stride + (int64_t)b];
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_copy(data, size);
    struct particle_table table = {0};
    struct table_message message;
    struct npz_file npz;

    if (npz_open(&npz, &table, copy, size, &message))
        for (size_t i = 0; i < table.count; i++) {
            struct table_column *column = &table.columns[i];
            struct row_range rows = {column->rows / 3, column->rows};

            HOLDS(column->rows * bouma_type_size(column->type) <=
                  1100 * (uint64_t)size);
            if (npz_load(&npz, column, rows, i % 2 == 0, &message))
                HOLDS(touch(column, rows.last - rows.first) < UINT64_MAX);
        }
    npz_release(&npz);
    table_release(&table);
    free(copy);
    return 0;
}
