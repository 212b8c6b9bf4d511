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
    struct zip_window window = {0, bytes, head};
    struct npy_array array = {.name = member->name,
                              .name_length = member->name_length - 4,
                              .bytes = head,
                              .count = bytes,
                              .total = member->bytes,
                              .source = npz->count};
    struct table_message why;
    bool fine = head != NULL;

    if (!fine)
        table_refuse(message, "out of memory");
    fine = fine && zip_extract(&npz->zip, member, &window, 1, false, message);
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

/* Inflate the part of the member that has the rows, then pick the column. Where
 * components lie apart (Fortran's order), there is such a part for each. */
static bool load_inflated(const struct npz_file *npz,
                          struct table_column *column, struct row_range rows,
                          bool whole, struct table_message *message)
{
    const struct zip_member *member = &npz->members[column->source];
    bool apart = column->component_stride > column->stride;
    size_t parts = apart ? (size_t)column->components : 1;
    uint64_t count = rows.last - rows.first;
    /* Of a record's field, up to the end of its last row. */
    uint64_t piece = count == 0
                         ? 0
                         : (count - 1) * (uint64_t)column->stride +
                               bouma_type_size(column->type) *
                                   (apart ? 1 : (uint64_t)column->components);
    struct zip_window *windows = calloc(parts, sizeof(*windows));
    unsigned char *memory = malloc(piece ? parts * piece : 1);
    bool fine = windows && memory;

    if (!fine)
        table_refuse(message, "no memory for '%s'", column->name);
    for (size_t i = 0; fine && i < parts; i++)
        windows[i] = (struct zip_window){
            column->offset + rows.first * (uint64_t)column->stride +
                i * (uint64_t)column->component_stride,
            piece, memory + i * piece};
    fine =
        fine && zip_extract(&npz->zip, member, windows, parts, whole, message);
    if (apart)
        column->component_stride = (int64_t)piece;
    fine = fine && npy_column_copy(column, memory, count, message);
    free(windows);
    free(memory);
    return fine;
}

bool npz_load(const struct npz_file *npz, struct table_column *column,
              struct row_range rows, bool whole, struct table_message *message)
{
    const struct zip_member *member = &npz->members[column->source];

    if (member->deflated)
        return load_inflated(npz, column, rows, whole, message);
    if (whole && !zip_extract(&npz->zip, member, NULL, 0, true, message))
        return false;
    return npy_column_load(column, npz->zip.data + member->offset, rows,
                           message);
}
