/* particle_table.c -- columns of particles in memory, as files give them. */
#include "particle_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool table_refuse(struct table_message *message, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(message->text, sizeof(message->text), format, list);
    va_end(list);
    return false;
}

void table_drop(struct table_column *column)
{
    free(column->owned);
    column->owned = NULL;
    column->data = NULL;
}

void table_unload(struct particle_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        table_drop(&table->columns[i]);
}

void table_release(struct particle_table *table)
{
    table_unload(table);
    free(table->columns);
    *table = (struct particle_table){0};
}

struct table_column *table_find(const struct particle_table *table,
                                const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return &table->columns[i];
    return NULL;
}

static bool make_room(struct particle_table *table)
{
    size_t room = table->room ? 2 * table->room : 16;
    struct table_column *columns;

    if (table->count < table->room)
        return true;
    columns = realloc(table->columns, room * sizeof(*columns));
    if (!columns)
        return false;
    table->columns = columns;
    table->room = room;
    return true;
}

struct table_column *table_add(struct particle_table *table, const char *name,
                               size_t length, struct table_message *message)
{
    struct table_column *column;

    if (length == 0 || length >= TABLE_NAME) {
        table_refuse(message, "a column has %s",
                     length ? "a name beyond 255 bytes" : "no name");
        return NULL;
    }
    if (memchr(name, '\0', length)) {
        table_refuse(message, "the name of a column has a zero byte in it");
        return NULL;
    }
    if (table->count == TABLE_COLUMNS) {
        table_refuse(message, "there are more than %d columns", TABLE_COLUMNS);
        return NULL;
    }
    if (!make_room(table)) {
        table_refuse(message, "out of memory");
        return NULL;
    }
    column = &table->columns[table->count];
    *column = (struct table_column){.components = 1};
    memcpy(column->name, name, length);
    if (table_find(table, column->name)) {
        table_refuse(message, "there are two columns '%s'", column->name);
        return NULL;
    }
    table->count++;
    return column;
}

void *table_allocate(struct table_column *column, uint64_t rows,
                     struct table_message *message)
{
    size_t item = bouma_type_size(column->type) * (size_t)column->components;

    if (rows > SIZE_MAX / item / 2) {
        table_refuse(message, "no memory for %llu values of '%s'",
                     (unsigned long long)rows, column->name);
        return NULL;
    }
    column->owned = malloc(rows ? (size_t)rows * item : 1);
    if (!column->owned) {
        table_refuse(message, "no memory for %llu values of '%s'",
                     (unsigned long long)rows, column->name);
        return NULL;
    }
    column->data = column->owned;
    column->vanished = 0;
    column->stride = (int64_t)bouma_type_size(column->type);
    column->component_stride = (int64_t)rows * column->stride;
    return column->owned;
}

void table_swap(struct table_column *column, uint64_t rows)
{
    size_t item = bouma_type_size(column->type);
    unsigned char *at = column->owned;
    uint64_t values = rows * (uint64_t)column->components;

    for (; values > 0; values--, at += item)
        for (size_t lo = 0, hi = item - 1; lo < hi; lo++, hi--) {
            unsigned char kept = at[lo];

            at[lo] = at[hi];
            at[hi] = kept;
        }
}
