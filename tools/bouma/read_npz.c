/* read_npz.c -- particles from NumPy's .npz files. */
#include "read_npz.h"

#include <stdlib.h>
#include <string.h>

#include "npy_columns.h"

enum { HEAD = 1 << 16 }; /* headers of records are longer than others */

static bool keep_member(struct npz_file *npz, const struct zip_member *member,
                        struct table_message *message)
{
    size_t room = npz->room ? 2 * npz->room : 16;

    if (npz->count == npz->room) {
        struct zip_member *members =
            realloc(npz->members, room * sizeof(*members));

        if (!members)
            return table_refuse(message, "out of memory");
        npz->members = members;
        npz->room = room;
    }
    npz->members[npz->count++] = *member;
    return true;
}

/* NAME.npy; other members have nothing to say. */
static bool is_array(const struct zip_member *member)
{
    return member->name_length > 4 &&
           memcmp(member->name + member->name_length - 4, ".npy", 4) == 0;
}

static bool add_member(struct npz_file *npz, struct particle_table *table,
                       const struct zip_member *member,
                       struct table_message *message)
{
    uint64_t bytes = member->bytes < HEAD ? member->bytes : HEAD;
    unsigned char *head = malloc(bytes ? bytes : 1);
    struct npy_array array = {.name = member->name,
                              .name_length = member->name_length - 4,
                              .bytes = head,
                              .count = bytes,
                              .total = member->bytes,
                              .source = npz->count};
    struct table_message why;
    struct zip_reader reader;
    bool fine = head != NULL;

    if (!fine)
        table_refuse(message, "out of memory");
    if (fine) {
        fine = zip_reader_start(&reader, &npz->zip, member, message) &&
               zip_reader_read(&reader, head, bytes, message);
        zip_reader_finish(&reader);
    }
    if (fine && !npy_columns_add(table, &array, &why))
        fine = table_refuse(message, "member '%.*s': %.400s",
                            (int)member->name_length, member->name, why.text);
    free(head);
    return fine && keep_member(npz, member, message);
}

bool npz_open(struct npz_file *out, struct particle_table *table,
              const void *bytes, size_t size, struct table_message *message)
{
    struct zip_member member;

    *out = (struct npz_file){0};
    if (!zip_open(&out->zip, bytes, size, message))
        return false;
    do {
        if (!zip_next(&out->zip, &member, message))
            return false;
        if (is_array(&member) && !add_member(out, table, &member, message))
            return false;
    } while (member.name);
    return true;
}

void npz_release(struct npz_file *npz)
{
    free(npz->members);
    *npz = (struct npz_file){0};
}

/* Rows that lie one after the other, maybe among others' bytes: the components
 * of each go to their arrays. */
static bool read_rows(struct zip_reader *reader, struct table_column *to,
                      const struct table_column *file, uint64_t rows,
                      struct table_message *message)
{
    size_t item = bouma_type_size(file->type);
    size_t row_bytes = item * (size_t)file->components;
    unsigned char *row, *out = to->owned;
    bool fine = true;

    if (file->components == 1 && file->stride == (int64_t)item)
        return zip_reader_read(reader, out, rows * item, message);
    row = malloc(row_bytes);
    if (!row)
        return table_refuse(message, "out of memory");
    for (uint64_t i = 0; fine && i < rows; i++, out += item) {
        fine = zip_reader_read(reader, row, row_bytes, message);
        for (int c = 0; fine && c < file->components; c++)
            memcpy(out + c * to->component_stride, row + (size_t)c * item,
                   item);
        if (fine && i + 1 < rows)
            fine = zip_reader_read(reader, NULL,
                                   (uint64_t)file->stride - row_bytes, message);
    }
    free(row);
    return fine;
}

/* Components that lie apart (Fortran's order) are arrays already. */
static bool read_arrays(struct zip_reader *reader, struct table_column *to,
                        const struct table_column *file, uint64_t rows,
                        struct table_message *message)
{
    uint64_t bytes = rows * bouma_type_size(file->type);
    uint64_t gap = (uint64_t)file->component_stride - bytes;
    unsigned char *out = to->owned;
    bool fine = true;

    for (int c = 0; fine && c < file->components; c++)
        fine = (c == 0 || zip_reader_read(reader, NULL, gap, message)) &&
               zip_reader_read(reader, out + c * to->component_stride, bytes,
                               message);
    return fine;
}

/* Inflate the rows straight into the arrays of the column: nothing is held
 * twice. */
static bool load_inflated(const struct npz_file *npz,
                          struct table_column *column, struct row_range rows,
                          bool whole, struct table_message *message)
{
    const struct zip_member *member = &npz->members[column->source];
    struct table_column file = *column;
    uint64_t count = rows.last - rows.first;
    bool apart = file.component_stride > file.stride;
    struct zip_reader reader;
    bool fine = zip_reader_start(&reader, &npz->zip, member, message) &&
                table_allocate(column, count, message);

    if (fine && count > 0)
        fine = zip_reader_read(&reader, NULL,
                               file.offset + rows.first * (uint64_t)file.stride,
                               message) &&
               (apart ? read_arrays : read_rows)(&reader, column, &file, count,
                                                 message);
    if (fine && file.swapped)
        table_swap(column, count);
    if (fine && whole)
        fine = zip_reader_check(&reader, message);
    zip_reader_finish(&reader);
    return fine;
}

/* One stored in the file as it is: only its checksum is to be compared. */
static bool check_stored(const struct npz_file *npz,
                         const struct zip_member *member,
                         struct table_message *message)
{
    struct zip_reader reader;
    bool fine = zip_reader_start(&reader, &npz->zip, member, message) &&
                zip_reader_check(&reader, message);

    zip_reader_finish(&reader);
    return fine;
}

bool npz_load(const struct npz_file *npz, struct table_column *column,
              struct row_range rows, bool whole, struct table_message *message)
{
    const struct zip_member *member = &npz->members[column->source];

    if (member->deflated)
        return load_inflated(npz, column, rows, whole, message);
    if (whole && !check_stored(npz, member, message))
        return false;
    return npy_column_load(column, npz->zip.data + member->offset, rows,
                           message);
}
