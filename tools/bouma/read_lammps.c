/* read_lammps.c -- particles from the text dumps of LAMMPS.
 *
 *     ITEM: TIMESTEP
 *     1000
 *     ITEM: NUMBER OF ATOMS
 *     2
 *     ITEM: BOX BOUNDS pp pp ff
 *     0 10
 *     0 10
 *     -5 5
 *     ITEM: ATOMS id type x y z
 *     1 1 0.5 2.5 -3
 *     2 1 9.5 1.25 4
 */
#include "read_lammps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number_text.h"
#include "text_lines.h"

static const char item[] = "ITEM:";
static const char axes[3][2] = {"x", "y", "z"};

bool lammps_is_dump(const void *bytes, size_t size)
{
    return size > strlen(item) && memcmp(bytes, item, strlen(item)) == 0;
}

void lammps_open(struct lammps_file *out, const void *bytes, size_t size)
{
    *out = (struct lammps_file){.text = bytes, .size = size};
}

/* ---- the sections of a frame --------------------------------------------- */

/* A frame being read. */
struct reading {
    const struct lammps_file *file;
    struct text_lines text;
    struct piece line; /* the last one that was taken */
    struct lammps_frame *frame;
    struct particle_table *table;
    bool counted, stepped; /* NUMBER OF ATOMS and TIMESTEP were there */
    struct table_message *message;
};

static bool refuse(const struct reading *reading, const char *why)
{
    const struct piece *line = &reading->line;

    return table_refuse(reading->message, "line %zu: %s: '%.*s'",
                        line_number(reading->file->text, line->at), why,
                        (int)(line->length < 60 ? line->length : 60), line->at);
}

static bool take_line(struct reading *reading)
{
    if (next_line(&reading->text, &reading->line))
        return true;
    return table_refuse(reading->message,
                        "line %zu: the file ends in the "
                        "middle of a frame",
                        line_number(reading->file->text, reading->text.end));
}

/* The next line is one number. */
static bool take_number(struct reading *reading, struct number_text *number)
{
    struct piece word;

    if (!take_line(reading))
        return false;
    word = trimmed(reading->line);
    number_text_parse(number, word.at, word.length);
    if (number->kind == NUMBER_NONE || number->kind == NUMBER_BEYOND)
        return refuse(reading, "not a number");
    return true;
}

static bool take_step(struct reading *reading)
{
    struct number_text number;

    if (!take_number(reading, &number))
        return false;
    if (number.kind != NUMBER_SIGNED || number.i < 0)
        return refuse(reading, "expected the number of a step");
    reading->frame->step = number.i;
    reading->stepped = true;
    return true;
}

static bool take_time(struct reading *reading)
{
    struct number_text number;

    if (!take_number(reading, &number))
        return false;
    reading->frame->time = number.f;
    reading->frame->timed = true;
    return true;
}

static bool take_atoms(struct reading *reading)
{
    struct number_text number;

    if (!take_number(reading, &number))
        return false;
    if (number.kind != NUMBER_SIGNED || number.i < 0)
        return refuse(reading, "expected the number of atoms");
    reading->frame->atoms = (uint64_t)number.i;
    reading->counted = true;
    return true;
}

static bool take_units(struct reading *reading)
{
    struct piece word;

    if (!take_line(reading))
        return false;
    word = trimmed(reading->line);
    snprintf(reading->frame->units, sizeof(reading->frame->units), "%.*s",
             (int)(word.length < 31 ? word.length : 31), word.at);
    return true;
}

/* The bounds of a tilted box are those of a box around it that is not; the
 * numbers that come out are the edges of the parallelepiped itself. */
static void untilt(struct lammps_box *box)
{
    double xy = box->tilt[0], xz = box->tilt[1], yz = box->tilt[2];

    box->low[0] -= fmin(fmin(0, xy), fmin(xz, xy + xz));
    box->high[0] -= fmax(fmax(0, xy), fmax(xz, xy + xz));
    box->low[1] -= fmin(0, yz);
    box->high[1] -= fmax(0, yz);
}

/* 'rest' is what follows "BOX BOUNDS": maybe "xy xz yz", maybe "pp pp ff". */
static bool take_box(struct reading *reading, struct piece rest)
{
    struct lammps_box *box = &reading->frame->box;
    struct piece ahead = rest, word;

    *box = (struct lammps_box){.known = true};
    if (next_word(&ahead, &word)) {
        if (is_text(word, "abc"))
            return refuse(reading, "general triclinic boxes cannot be read; "
                                   "dump with triclinic/general no");
        box->tilted = is_text(word, "xy");
    }
    for (int i = 0; box->tilted && i < 3; i++)
        next_word(&rest, &word);
    rest = trimmed(rest);
    snprintf(reading->frame->boundary, sizeof(reading->frame->boundary), "%.*s",
             (int)(rest.length < 31 ? rest.length : 31), rest.at);
    for (int i = 0; i < 3; i++) {
        double numbers[3] = {0};

        if (!take_line(reading))
            return false;
        rest = reading->line;
        for (int k = 0; k < 2 + box->tilted; k++) {
            struct number_text number;

            if (!next_word(&rest, &word) ||
                number_text_parse(&number, word.at, word.length) ==
                    NUMBER_NONE ||
                !isfinite(number.f))
                return refuse(reading,
                              box->tilted
                                  ? "expected three finite numbers of the box"
                                  : "expected two finite numbers of the box");
            numbers[k] = number.f;
        }
        box->low[i] = numbers[0];
        box->high[i] = numbers[1];
        box->tilt[i] = numbers[2];
    }
    if (box->tilted)
        untilt(box);
    return true;
}

/* ---- columns ------------------------------------------------------------- */

static bool is_whole(const char *name)
{
    static const char *const names[] = {"id",     "mol", "type", "proc",
                                        "procp1", "ix",  "iy",   "iz"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "i_", 2) == 0 || strncmp(name, "i2_", 3) == 0;
}

/* Where x is not there itself, xs or xsu is taken for it. */
static bool rename_scaled(struct reading *reading)
{
    for (int i = 0; i < 3; i++) {
        char scaled[4] = {axes[i][0], 's'},
             unwrapped[4] = {axes[i][0], 's', 'u'};
        struct table_column *column = table_find(reading->table, scaled);

        if (!column)
            column = table_find(reading->table, unwrapped);
        if (!column || table_find(reading->table, axes[i]))
            continue;
        if (!reading->frame->box.known)
            return refuse(reading, "scaled coordinates need ITEM: BOX BOUNDS");
        memcpy(column->name, axes[i], sizeof(axes[i]));
        reading->frame->scaled[i] = true;
    }
    return true;
}

static bool take_names(struct reading *reading, struct piece rest)
{
    struct lammps_frame *frame = reading->frame;
    struct piece word;

    for (; next_word(&rest, &word); frame->words++) {
        struct table_message why;
        struct table_column *column;

        if (is_text(word, "element") || is_text(word, "typelabel")) {
            snprintf(frame->text_column, sizeof(frame->text_column), "%.*s",
                     (int)word.length, word.at);
            continue;
        }
        column = table_add(reading->table, word.at, word.length, &why);
        if (!column)
            return refuse(reading, why.text);
        column->source = frame->words;
        column->rows = frame->atoms;
        column->type = is_whole(column->name) ? BOUMA_TYPE_I64 : BOUMA_TYPE_F64;
    }
    if (frame->words == 0)
        return refuse(reading, "no columns are named here; dumps of LAMMPS "
                               "before 2008 cannot be read");
    return rename_scaled(reading);
}

/* Step over the lines of the atoms: only then is their number believed. */
static bool skip_atoms(struct reading *reading)
{
    struct lammps_frame *frame = reading->frame;

    frame->body = (size_t)(reading->text.at - reading->file->text);
    for (uint64_t i = 0; i < frame->atoms; i++) {
        bool some = next_line(&reading->text, &reading->line);

        if (!some || lammps_is_dump(reading->line.at, reading->line.length))
            return table_refuse(
                reading->message,
                "line %zu: the frame of step %lld has %llu atoms, but only "
                "%llu lines of them",
                line_number(reading->file->text,
                            some ? reading->line.at : reading->text.end),
                (long long)frame->step, (unsigned long long)frame->atoms,
                (unsigned long long)i);
    }
    /* Two bytes for a number: memory is asked for by these numbers. */
    if (frame->atoms > 0 &&
        (size_t)(reading->text.at - reading->file->text) - frame->body + 1 <
            2 * frame->atoms * frame->words)
        return refuse(reading, "too short for so many columns");
    return true;
}

/* ---- frames -------------------------------------------------------------- */

/* Step over 'word' and blanks, if the piece begins with it. */
static bool begins(struct piece *piece, const char *word)
{
    size_t length = strlen(word);

    if (piece->length < length || memcmp(piece->at, word, length) != 0)
        return false;
    piece->at += length;
    piece->length -= length;
    return true;
}

/* One section; *last is set by that of the atoms. */
static bool take_section(struct reading *reading, bool *last)
{
    struct piece title = trimmed(reading->line);

    if (!begins(&title, item))
        return refuse(reading, "expected a line that begins with ITEM:");
    title = trimmed(title);
    if (is_text(title, "TIMESTEP"))
        return take_step(reading);
    if (is_text(title, "TIME"))
        return take_time(reading);
    if (is_text(title, "UNITS"))
        return take_units(reading);
    if (is_text(title, "NUMBER OF ATOMS"))
        return take_atoms(reading);
    if (begins(&title, "BOX BOUNDS"))
        return take_box(reading, title);
    if (!begins(&title, "ATOMS"))
        return refuse(reading, "a dump of atoms has no such section");
    if (!reading->stepped || !reading->counted)
        return refuse(reading, reading->stepped
                                   ? "NUMBER OF ATOMS must come before it"
                                   : "TIMESTEP must come before it");
    *last = true;
    return take_names(reading, title) && skip_atoms(reading);
}

bool lammps_next(struct lammps_file *file, struct lammps_frame *out,
                 struct particle_table *table, bool *found,
                 struct table_message *message)
{
    struct reading reading = {
        .file = file,
        .text = {file->text + file->next, file->text + file->size},
        .frame = out,
        .table = table,
        .message = message};
    bool last = false;

    *out = (struct lammps_frame){0};
    do {
        *found = next_line(&reading.text, &reading.line);
    } while (*found && trimmed(reading.line).length == 0);
    if (!*found)
        return true;
    while (take_section(&reading, &last))
        if (last) {
            file->next = (size_t)(reading.text.at - file->text);
            return true;
        } else if (!take_line(&reading)) {
            return false;
        }
    return false;
}

/* ---- atoms --------------------------------------------------------------- */

/* Store the numbers of one line in the columns: [words], NULL: not wanted. */
static bool load_line(const struct lammps_file *file, struct piece line,
                      struct table_column *const *columns, size_t words,
                      uint64_t row, struct table_message *message)
{
    const char *start = line.at;
    struct piece word;
    size_t i = 0;

    for (; next_word(&line, &word); i++) {
        struct table_column *column = i < words ? columns[i] : NULL;
        struct number_text number;
        const char *why;

        if (!column)
            continue;
        number_text_parse(&number, word.at, word.length);
        why = number_text_why(&number, column->type,
                              column->asked ? NUMBER_TYPE_ASKED
                                            : NUMBER_TYPE_GUESSED);
        if (why)
            return table_refuse(message, "line %zu, column '%.100s': '%.*s' %s",
                                line_number(file->text, start), column->name,
                                (int)(word.length < 40 ? word.length : 40),
                                word.at, why);
        number_text_store((char *)column->owned + (int64_t)row * column->stride,
                          column->type, &number);
        column->vanished += number_text_vanishes(&number, column->type);
    }
    if (i == words)
        return true;
    return table_refuse(message,
                        "line %zu has %zu words, but there are %zu columns",
                        line_number(file->text, start), i, words);
}

static bool load_lines(const struct lammps_file *file,
                       const struct lammps_frame *frame,
                       struct table_column *const *columns,
                       struct row_range rows, struct table_message *message)
{
    struct text_lines text = {file->text + frame->body,
                              file->text + file->size};
    struct piece line;

    for (uint64_t row = 0; row < rows.last && next_line(&text, &line); row++)
        if (row >= rows.first && !load_line(file, line, columns, frame->words,
                                            row - rows.first, message))
            return false;
    return true;
}

size_t lammps_line(const struct lammps_file *file,
                   const struct lammps_frame *frame, uint64_t row)
{
    struct text_lines text = {file->text + frame->body,
                              file->text + file->size};
    struct piece line;

    while (next_line(&text, &line))
        if (row-- == 0)
            return line_number(file->text, line.at);
    return 0;
}

static double load_real(const struct table_column *column, uint64_t row)
{
    const char *at =
        (const char *)column->owned + (int64_t)row * column->stride;
    double f64;
    float f32;

    if (column->type == BOUMA_TYPE_F32) {
        memcpy(&f32, at, sizeof(f32));
        return f32;
    }
    memcpy(&f64, at, sizeof(f64));
    return f64;
}

static bool store_real(const struct table_column *column, uint64_t row,
                       double value)
{
    struct number_text number = {.kind = NUMBER_REAL, .f = value};

    return number_text_store((char *)column->owned +
                                 (int64_t)row * column->stride,
                             column->type, &number);
}

/* x = xlo + xs lx + ys xy + zs xz, and so on. */
static bool unscale(const struct lammps_box *box,
                    struct table_column *const *columns, uint64_t rows,
                    struct table_message *message)
{
    const double tilt[3][3] = {
        {0, box->tilt[0], box->tilt[1]}, {0, 0, box->tilt[2]}, {0, 0, 0}};

    for (uint64_t row = 0; row < rows; row++) {
        double part[3] = {0};

        for (int i = 0; i < 3; i++)
            if (columns[i])
                part[i] = load_real(columns[i], row);
        for (int i = 0; i < 3; i++) {
            double x = box->low[i] + part[i] * (box->high[i] - box->low[i]);

            for (int k = i + 1; box->tilted && k < 3; k++)
                x += part[k] * tilt[i][k];
            if (columns[i] && !store_real(columns[i], row, x))
                return table_refuse(message,
                                    "a scaled '%s' becomes %g, which does not "
                                    "fit into its type; choose one with "
                                    "--type-of",
                                    columns[i]->name, x);
        }
    }
    return true;
}

static bool unscale_columns(const struct lammps_frame *frame,
                            struct particle_table *table, uint64_t rows,
                            struct table_message *message)
{
    struct table_column *columns[3] = {NULL};
    int count = 0;

    for (int i = 0; i < 3; i++)
        if (frame->scaled[i]) {
            columns[i] = table_find(table, axes[i]);
            if (columns[i]->unwanted)
                columns[i] = NULL;
            else if (columns[i]->type != BOUMA_TYPE_F32 &&
                     columns[i]->type != BOUMA_TYPE_F64)
                return table_refuse(message,
                                    "scaled coordinates become f32 or f64");
            count += columns[i] != NULL;
        }
    if (count > 0 && count < 3 && frame->box.tilted)
        return table_refuse(message, "in a tilted box, scaled x, y and z need "
                                     "each other: take all three");
    return count == 0 || unscale(&frame->box, columns, rows, message);
}

bool lammps_load(const struct lammps_file *file,
                 const struct lammps_frame *frame, struct particle_table *table,
                 struct row_range rows, struct table_message *message)
{
    struct table_column **columns = calloc(frame->words, sizeof(*columns));
    bool fine = columns || table_refuse(message, "out of memory");

    for (size_t i = 0; fine && i < table->count; i++) {
        struct table_column *column = &table->columns[i];

        if (column->unwanted)
            continue;
        columns[column->source] = column;
        fine = table_allocate(column, rows.last - rows.first, message);
    }
    fine = fine && load_lines(file, frame, columns, rows, message) &&
           unscale_columns(frame, table, rows.last - rows.first, message);
    free(columns);
    return fine;
}
