/* text_table.c -- rows of texts, printed in columns that line up. */
#include "text_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format_text.h"

void text_table_init(struct text_table *table, const char *align)
{
    *table = (struct text_table){.align = align};
}

void text_table_release(struct text_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
}

static bool make_room(struct text_table *table)
{
    size_t room = table->room ? 2 * table->room : 64;
    char **cells;

    if (table->count < table->room)
        return true;
    cells = realloc(table->cells, room * sizeof(*cells));
    if (!cells)
        return false;
    table->cells = cells;
    table->room = room;
    return true;
}

void text_table_add(struct text_table *table, const char *format, ...)
{
    va_list list;
    char *text = NULL;

    va_start(list, format);
    if (make_room(table) && vasprintf(&text, format, list) >= 0)
        table->cells[table->count++] = text;
    else
        table->failed = true;
    va_end(list);
}

/* Characters of a UTF-8 text: the bytes that do not continue one. */
static int width_of(const char *text)
{
    int width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static int column_width(const struct text_table *table, size_t column)
{
    size_t columns = strlen(table->align);
    int widest = 0;

    for (size_t i = column; i < table->count; i += columns) {
        int width = width_of(table->cells[i]);

        widest = width > widest ? width : widest;
    }
    return widest;
}

/* Blanks are kept back until a text follows: no line ends in them. */
static void print_row(const struct text_table *table, size_t first,
                      const int *widths)
{
    size_t columns = strlen(table->align);
    int blanks = 0;

    for (size_t c = 0; c < columns; c++) {
        const char *text = table->cells[first + c];
        int rest = widths[c] - width_of(text);
        bool right = table->align[c] == 'r';

        if (text[0])
            printf("%*s", blanks + (right ? rest : 0), "");
        print_clean(text);
        blanks = (text[0] ? 0 : blanks) + (right && text[0] ? 0 : rest) + 2;
    }
}

int text_table_print(const struct text_table *table, struct context *ctx,
                     int indent)
{
    size_t columns = strlen(table->align);
    int *widths = malloc(columns * sizeof(*widths));

    if (table->failed || !widths) {
        free(widths);
        return context_fail_memory(ctx);
    }
    for (size_t c = 0; c < columns; c++)
        widths[c] = column_width(table, c);
    for (size_t i = 0; i + columns <= table->count; i += columns) {
        printf("%*s%s", indent, "", i == 0 ? context_bold(ctx) : "");
        print_row(table, i, widths);
        printf("%s\n", i == 0 ? context_plain(ctx) : "");
    }
    free(widths);
    return DONE;
}
