/* npy_columns.c -- .npy arrays as columns of particles. */
#include "npy_columns.h"

#include <string.h>

#include "npy_record.h"

static bool check_total(const struct npy_array *array, uint64_t offset,
                        uint64_t bytes, struct table_message *message)
{
    uint64_t found = array->total > offset ? array->total - offset : 0;

    if (offset <= array->total && bytes == found)
        return true;
    return table_refuse(message,
                        "expected %llu bytes of values, found %llu; %s",
                        (unsigned long long)bytes, (unsigned long long)found,
                        bytes < found ? NPY_SURPLUS : "it is cut off");
}

static bool add_plain(struct particle_table *table,
                      const struct npy_array *array,
                      struct table_message *message)
{
    struct table_column *column;
    struct npy_header header;
    int64_t item;

    if (!npy_parse(&header, array->bytes, array->count, message->text,
                   sizeof(message->text)) ||
        !check_total(array, header.data_offset, header.data_bytes, message))
        return false;
    column = table_add(table, array->name, array->name_length, message);
    if (!column)
        return false;
    if (header.ndims > 2)
        return table_refuse(message,
                            "'%s' has %d axes; a column of particles has one, "
                            "or two for vectors",
                            column->name, header.ndims);
    if (header.ndims == 2 &&
        (header.shape[1] < 1 || header.shape[1] > INT16_MAX))
        return table_refuse(message,
                            "'%s' has vectors of %lld values; 1 to %d are "
                            "possible",
                            column->name, (long long)header.shape[1],
                            INT16_MAX);
    item = (int64_t)bouma_type_size(header.type);
    column->type = header.type;
    column->components = header.ndims == 2 ? (int)header.shape[1] : 1;
    column->rows = header.ndims ? (uint64_t)header.shape[0] : 1;
    column->unwanted = header.ndims == 0; /* one number for all is no column */
    column->stride = header.fortran ? item : item * column->components;
    column->component_stride =
        header.fortran ? item * (int64_t)column->rows : item;
    column->offset = header.data_offset;
    column->swapped = header.swapped;
    column->source = array->source;
    return true;
}

static bool add_fields(struct particle_table *table,
                       const struct npy_array *array,
                       const struct npy_record *record,
                       struct table_message *message)
{
    if (!check_total(array, record->data_offset, record->rows * record->bytes,
                     message))
        return false;
    for (size_t i = 0; i < record->count; i++) {
        const struct npy_field *field = &record->fields[i];
        struct table_column *column;

        if (field->name[0] == '\0')
            continue;
        column = table_add(table, field->name, strlen(field->name), message);
        if (!column)
            return false;
        column->type = field->type;
        column->components = field->components;
        column->rows = record->rows;
        column->stride = (int64_t)record->bytes;
        column->component_stride = (int64_t)bouma_type_size(field->type);
        column->offset = record->data_offset + field->offset;
        column->swapped = field->swapped;
        column->source = array->source;
    }
    return true;
}

bool npy_columns_add(struct particle_table *table,
                     const struct npy_array *array,
                     struct table_message *message)
{
    struct npy_record record;
    bool fine;

    if (!npy_has_records(array->bytes, array->count))
        return add_plain(table, array, message);
    fine = npy_record_parse(&record, array->bytes, array->count, message->text,
                            sizeof(message->text)) &&
           add_fields(table, array, &record, message);
    npy_record_release(&record);
    return fine;
}

/* Into memory of its own, and in this machine's byte order. */
static bool copy_swapped(struct table_column *column, const unsigned char *from,
                         uint64_t rows, struct table_message *message)
{
    struct table_column file = *column;
    size_t item = bouma_type_size(column->type);
    unsigned char *to = table_allocate(column, rows, message);

    if (!to)
        return false;
    for (int c = 0; c < file.components; c++)
        for (uint64_t i = 0; i < rows; i++, to += item)
            memcpy(to,
                   from + (int64_t)i * file.stride + c * file.component_stride,
                   item);
    table_swap(column, rows);
    return true;
}

bool npy_column_load(struct table_column *column, const void *bytes,
                     struct row_range rows, struct table_message *message)
{
    const unsigned char *first =
        (const unsigned char *)bytes + column->offset +
        (rows.first < rows.last ? (int64_t)rows.first * column->stride : 0);

    if (column->swapped)
        return copy_swapped(column, first, rows.last - rows.first, message);
    column->data = first;
    return true;
}
