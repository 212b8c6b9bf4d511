/* read_csv.c -- particles from a table in text. */
#include "read_csv.h"

#include <stdlib.h>
#include <string.h>

#include "number_text.h"
#include "text_lines.h"

enum { QUOTED = 40 }; /* bytes of the file that a message repeats at most */

/* ---- fields -------------------------------------------------------------- */

/* Without blanks around it; a tab is none where it separates fields. */
static struct piece stripped(struct piece piece, char separator)
{
    while (piece.length && is_blank(piece.at[0]) && piece.at[0] != separator) {
        piece.at++;
        piece.length--;
    }
    while (piece.length && is_blank(piece.at[piece.length - 1]) &&
           piece.at[piece.length - 1] != separator)
        piece.length--;
    return piece;
}

/* The next field of a line, without its quotes. Step over it and the separator
 * behind it; 'more' tells whether there is one. */
static bool next_field(struct piece *line, char separator, struct piece *out,
                       bool *more)
{
    const char *end;

    *line = stripped(*line, separator);
    if (line->length && line->at[0] == '"') {
        end = memchr(line->at + 1, '"', line->length - 1);
        if (!end)
            return false;
        *out = (struct piece){line->at + 1, (size_t)(end - line->at) - 1};
        line->length -= (size_t)(end + 1 - line->at);
        line->at = end + 1;
        *line = stripped(*line, separator);
        *more = line->length > 0;
        if (*more && line->at[0] != separator)
            return false;
    } else {
        end = line->length ? memchr(line->at, separator, line->length) : NULL;
        *more = end != NULL;
        if (!end)
            end = line->at + line->length;
        *out = trimmed((struct piece){line->at, (size_t)(end - line->at)});
        line->length -= (size_t)(end - line->at);
        line->at = end;
    }
    if (*more) {
        line->at++;
        line->length--;
    }
    return true;
}

static bool is_empty(struct piece line)
{
    return trimmed(line).length == 0;
}

/* ---- names --------------------------------------------------------------- */

static char find_separator(struct piece line)
{
    static const char separators[] = {',', ';', '\t'};

    for (size_t i = 0; i < sizeof(separators); i++)
        if (memchr(line.at, separators[i], line.length))
            return separators[i];
    return ',';
}

static bool add_names(struct csv_file *csv, struct particle_table *table,
                      struct piece line, struct table_message *message)
{
    struct number_text number;
    struct piece name;
    bool more = true;

    while (more) {
        struct table_column *column;

        if (!next_field(&line, csv->separator, &name, &more))
            return table_refuse(message, "line %zu: a quote is not closed",
                                line_number(csv->text, line.at));
        if (number_text_parse(&number, name.at, name.length) != NUMBER_NONE)
            return table_refuse(
                message,
                "line %zu: '%.*s' is a number; the first line "
                "must have the names of the columns",
                line_number(csv->text, name.at),
                (int)(name.length < QUOTED ? name.length : QUOTED), name.at);
        column = table_add(table, name.at, name.length, message);
        if (!column)
            return false;
        column->source = csv->columns++;
    }
    return true;
}

bool csv_open(struct csv_file *out, struct particle_table *table,
              const void *bytes, size_t size, struct table_message *message)
{
    struct text_lines text = {bytes, (const char *)bytes + size};
    struct piece line = {bytes, 0};

    *out = (struct csv_file){.text = bytes, .size = size};
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        text.at += 3; /* a mark that some programs put before UTF-8 */
    while (is_empty(line))
        if (!next_line(&text, &line))
            return table_refuse(
                message,
                "no line has names; the first line must name the columns");
    line = trimmed(line);
    if (line.at[0] == '#') { /* as numpy.savetxt() writes it */
        line.at++;
        line.length--;
    }
    out->separator = find_separator(line);
    out->body = (size_t)(text.at - out->text);
    if (!add_names(out, table, line, message))
        return false;
    while (next_line(&text, &line))
        out->rows += !is_empty(line);
    for (size_t i = 0; i < table->count; i++)
        table->columns[i].rows = out->rows;
    return true;
}

/* ---- rows ---------------------------------------------------------------- */

/* A way through the rows; 'each' is given each field that is a number, and
 * returns what is wrong with it, or NULL. */
struct walk {
    const struct csv_file *csv;
    struct table_column **columns; /* [csv->columns]; NULL: not wanted */
    struct row_range rows;
    const char *(*each)(struct walk *walk, size_t column, uint64_t row,
                        const struct number_text *number);
    unsigned *kinds;
    struct table_message *message;
};

static bool refuse_field(const struct walk *walk, struct piece field,
                         size_t column, const char *why)
{
    return table_refuse(
        walk->message, "line %zu, column '%.100s': '%.*s' %s",
        line_number(walk->csv->text, field.at), walk->columns[column]->name,
        (int)(field.length < QUOTED ? field.length : QUOTED), field.at, why);
}

static bool walk_line(struct walk *walk, struct piece line, uint64_t row)
{
    const struct csv_file *csv = walk->csv;
    size_t column = 0;
    const char *start = line.at;
    bool more = true;

    for (; more && column < csv->columns; column++) {
        struct number_text number;
        struct piece field;
        const char *why;

        if (!next_field(&line, csv->separator, &field, &more))
            return table_refuse(walk->message,
                                "line %zu: a quote is not closed",
                                line_number(csv->text, start));
        if (!walk->columns[column])
            continue;
        number_text_parse(&number, field.at, field.length);
        why = field.length ? walk->each(walk, column, row, &number)
                           : "is empty; write nan for a number that is not "
                             "there";
        if (why)
            return refuse_field(walk, field, column, why);
    }
    if (column == csv->columns && !more)
        return true;
    return table_refuse(
        walk->message,
        "line %zu has %s fields than the %zu names in the first line",
        line_number(csv->text, start), more ? "more" : "fewer", csv->columns);
}

static bool walk_rows(struct walk *walk)
{
    const struct csv_file *csv = walk->csv;
    struct text_lines text = {csv->text + csv->body, csv->text + csv->size};
    struct piece line;
    uint64_t row = 0;

    while (row < walk->rows.last && next_line(&text, &line)) {
        if (is_empty(line))
            continue;
        if (row >= walk->rows.first &&
            !walk_line(walk, line, row - walk->rows.first))
            return false;
        row++;
    }
    return true;
}

size_t csv_line(const struct csv_file *csv, uint64_t row)
{
    struct text_lines text = {csv->text + csv->body, csv->text + csv->size};
    struct piece line;

    while (next_line(&text, &line))
        if (!is_empty(line) && row-- == 0)
            return line_number(csv->text, line.at);
    return 0;
}

static bool start_walk(struct walk *walk, struct particle_table *table)
{
    walk->columns = calloc(walk->csv->columns, sizeof(*walk->columns));
    if (!walk->columns)
        return table_refuse(walk->message, "out of memory");
    for (size_t i = 0; i < table->count; i++)
        if (!table->columns[i].unwanted)
            walk->columns[table->columns[i].source] = &table->columns[i];
    return true;
}

static const char *look_at(struct walk *walk, size_t column, uint64_t row,
                           const struct number_text *number)
{
    int64_t whole;

    (void)row;
    if (number->kind == NUMBER_UNSIGNED)
        walk->kinds[column] |= CSV_UNSIGNED;
    else if (number->kind == NUMBER_REAL)
        walk->kinds[column] |=
            CSV_REAL |
            (!number_text_store(&whole, BOUMA_TYPE_I64, number) ? CSV_FRACTION
             : whole < 0                                        ? CSV_SIGNED
                                                                : 0);
    else if (number->i < 0)
        walk->kinds[column] |= CSV_SIGNED;
    return number_text_why(number, BOUMA_TYPE_F64, NUMBER_TYPE_ASKED);
}

bool csv_look(const struct csv_file *csv, struct particle_table *table,
              struct row_range rows, unsigned *kinds,
              struct table_message *message)
{
    struct walk walk = {.csv = csv,
                        .rows = rows,
                        .each = look_at,
                        .kinds = kinds,
                        .message = message};
    bool fine = start_walk(&walk, table) && walk_rows(&walk);

    free(walk.columns);
    return fine;
}

bool csv_is_mixed(unsigned kinds)
{
    return kinds & CSV_FRACTION || (kinds & CSV_SIGNED && kinds & CSV_UNSIGNED);
}

bouma_type csv_type(unsigned kinds)
{
    if (kinds & CSV_REAL || (kinds & CSV_SIGNED && kinds & CSV_UNSIGNED))
        return BOUMA_TYPE_F64;
    return kinds & CSV_UNSIGNED ? BOUMA_TYPE_U64 : BOUMA_TYPE_I64;
}

static const char *store_at(struct walk *walk, size_t column, uint64_t row,
                            const struct number_text *number)
{
    struct table_column *of = walk->columns[column];

    number_text_store((char *)of->owned + (int64_t)row * of->stride, of->type,
                      number);
    of->vanished += number_text_vanishes(number, of->type);
    return number_text_why(number, of->type,
                           of->asked   ? NUMBER_TYPE_ASKED
                           : of->mixed ? NUMBER_TYPE_ONLY
                                       : NUMBER_TYPE_GUESSED);
}

bool csv_load(const struct csv_file *csv, struct particle_table *table,
              struct row_range rows, struct table_message *message)
{
    struct walk walk = {
        .csv = csv, .rows = rows, .each = store_at, .message = message};
    bool fine = true;

    for (size_t i = 0; fine && i < table->count; i++)
        fine =
            table->columns[i].unwanted ||
            table_allocate(&table->columns[i], rows.last - rows.first, message);
    fine = fine && start_walk(&walk, table) && walk_rows(&walk);
    free(walk.columns);
    return fine;
}
