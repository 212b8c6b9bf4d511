/* particle_table.h -- columns of particles in memory, as files give them.
 *
 * A column is first found in its file (name, type, rows), then loaded: of all
 * rows, the part that is this process's. */
#ifndef PARTICLE_TABLE_H
#define PARTICLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bouma.h"

enum {
    TABLE_NAME = 256, /* bytes of a name, with its end */
    TABLE_COLUMNS = 4096
};

struct table_column {
    char name[TABLE_NAME];
    bouma_type type; /* 0: not known before it is loaded */
    int components;
    uint64_t rows;                    /* in the file */
    int64_t stride, component_stride; /* bytes; in the file, or in 'data' */
    uint64_t offset;                  /* of the first row, in a .npy file */
    bool swapped;                     /* in the file: the other byte order */
    bool unwanted;                    /* not to be loaded */
    bool asked;                       /* the user has chosen its type */
    bool mixed;                       /* of text: no integer type holds it */
    uint64_t vanished;                /* of text: numbers that became 0 */
    size_t source;                    /* number that its reader knows it by */
    const void *data;                 /* of the first row that was loaded */
    void *owned; /* memory of 'data', to be freed; NULL: it is a file's */
};

struct particle_table {
    struct table_column *columns;
    size_t count, room;
};

/* The rows first <= i < last. */
struct row_range {
    uint64_t first, last;
};

/* A message that a reader leaves; the readers know no context, so that they can
 * be fed anything. */
struct table_message {
    char text[512];
};

void table_release(struct particle_table *table);
/* Drop what was loaded, keep what is known. */
void table_unload(struct particle_table *table);

/* Add a column named by 'length' bytes and return it, or NULL: no memory, a
 * name that is empty or too long or there already; 'message' tells. */
struct table_column *table_add(struct particle_table *table, const char *name,
                               size_t length, struct table_message *message);
struct table_column *table_find(const struct particle_table *table,
                                const char *name);

/* Memory for the rows of a column, a dense array for each component, which the
 * library takes without a copy of its own; NULL and a message if there is
 * none. */
void *table_allocate(struct table_column *column, uint64_t rows,
                     struct table_message *message);
/* Turn the bytes of each value in this memory round. */
void table_swap(struct table_column *column, uint64_t rows);
/* Drop what was loaded of one column. */
void table_drop(struct table_column *column);

/* Keep the message, and return false. */
__attribute__((format(printf, 2, 3))) bool
table_refuse(struct table_message *message, const char *format, ...);

#endif
