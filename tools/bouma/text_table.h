/* text_table.h -- rows of texts, printed in columns that line up. */
#ifndef TEXT_TABLE_H
#define TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "context.h"

/* Cells are added row by row; the first row is the heading. */
struct text_table {
    const char *align; /* a letter a column: 'l' left, 'r' right */
    char **cells;
    size_t count, room;
    bool failed; /* no memory; text_table_print() then tells */
};

void text_table_init(struct text_table *table, const char *align);
void text_table_release(struct text_table *table);

__attribute__((format(printf, 2, 3))) void
text_table_add(struct text_table *table, const char *format, ...);

/* Print the table on standard output, 'indent' blanks from the left. */
int text_table_print(const struct text_table *table, struct context *ctx,
                     int indent);

#endif
