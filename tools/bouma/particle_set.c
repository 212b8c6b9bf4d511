/* particle_set.c -- the columns of all sources as one set of particles. */
#include "particle_set.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "bouma_lists.h"
#include "division.h"
#include "suggest.h"

/* ---- sources ------------------------------------------------------------- */

/* Frames of dumps become steps, one after the other; all other files are
 * columns of the same particles. */
static int check_kinds(const struct particle_set *set, struct context *ctx)
{
    int dumps = 0;

    for (int i = 0; i < set->source_count; i++)
        dumps += set->sources[i].frame != NULL;
    if (dumps && dumps != set->source_count)
        return context_fail(ctx, CALL_AT_FAULT,
                            "dumps of LAMMPS have steps of their own; import "
                            "them and other files one after the other");
    return DONE;
}

/* An array without axes, as it comes with others in a .npz file. */
static void tell_numbers(const struct particles_source *source,
                         const struct context *ctx)
{
    for (size_t i = 0; i < source->table.count; i++)
        if (source->table.columns[i].unwanted)
            context_note(ctx,
                         "%s: '%s' is one number, not one for each "
                         "particle, and is left out",
                         source->file.path, source->table.columns[i].name);
    if (source->frame && source->frame->text_column[0])
        context_note(ctx, "%s: '%s' is text, and is left out",
                     source->file.path, source->frame->text_column);
}

int particle_set_open(struct particle_set *out, struct context *ctx,
                      const struct arguments *args)
{
    int columns = arguments_count(args, "column");
    int count = args->operand_count + columns, rc = DONE;

    *out = (struct particle_set){0};
    if (count == 0)
        return context_fail(ctx, CALL_AT_FAULT,
                            "say which particles: SRC..., or --column "
                            "NAME:TYPE=FILE");
    out->sources = calloc((size_t)count, sizeof(*out->sources));
    if (!out->sources)
        return context_fail_memory(ctx);
    for (int i = 0; !rc && i < args->operand_count; i++)
        rc = particles_source_open(&out->sources[out->source_count++], ctx,
                                   args->operands[i]);
    for (int i = 0; !rc && i < columns; i++)
        rc =
            particles_source_open_column(&out->sources[out->source_count++],
                                         ctx, arguments_nth(args, "column", i));
    for (int i = 0; !rc && i < out->source_count; i++)
        tell_numbers(&out->sources[i], ctx);
    return rc ? rc : check_kinds(out, ctx);
}

void particle_set_release(struct particle_set *set)
{
    for (int i = 0; i < set->source_count; i++)
        particles_source_close(&set->sources[i]);
    free(set->sources);
    free(set->attributes);
    free(set->converted);
    *set = (struct particle_set){0};
}

const struct lammps_frame *particle_set_frame(const struct particle_set *set)
{
    return set->sources[0].frame;
}

/* Of dumps, the first source is the one at work: it is dropped when it has no
 * frames left. */
int particle_set_next(struct particle_set *set, struct context *ctx,
                      bool *found)
{
    int rc = particles_source_next(&set->sources[0], ctx, found);

    if (rc || *found || !particle_set_frame(set) || set->source_count == 1)
        return rc;
    particles_source_close(&set->sources[0]);
    set->source_count--;
    memmove(set->sources, set->sources + 1,
            (size_t)set->source_count * sizeof(*set->sources));
    *found = true;
    return DONE;
}

/* The sources that give columns now. */
static int at_work(const struct particle_set *set)
{
    return particle_set_frame(set) ? 1 : set->source_count;
}

static struct table_column *find_column(const struct particle_set *set,
                                        const char *name,
                                        const struct particles_source **source)
{
    for (int i = 0; i < at_work(set); i++) {
        struct table_column *column = table_find(&set->sources[i].table, name);

        if (source)
            *source = &set->sources[i];
        if (column)
            return column;
    }
    return NULL;
}

static int no_column(const struct particle_set *set, struct context *ctx,
                     const char *option, const char *name)
{
    struct name_list names = {.near = {.word = name}};
    char text[NAME_LIST_BYTES];

    for (int i = 0; i < at_work(set); i++)
        for (size_t k = 0; k < set->sources[i].table.count; k++)
            name_list_add(&names, set->sources[i].table.columns[k].name, NULL);
    return context_fail_missing(ctx, "--%s %s: there is no such column%s",
                                option, name, name_list_text(text, &names));
}

/* ---- which columns ------------------------------------------------------- */

static int set_axis(struct particle_set *set, struct context *ctx,
                    struct table_column *column)
{
    if (set->ndims == MAX_AXES || (set->ndims > 0 && column->components > 1) ||
        column->components > MAX_AXES)
        return context_fail(ctx, CALL_AT_FAULT,
                            "'%s' cannot be the position, which has 1 to %d "
                            "coordinates, in one column or in one each",
                            column->name, MAX_AXES);
    set->vector = column->components > 1;
    set->axes[set->ndims] = column;
    set->ndims += column->components;
    return DONE;
}

/* --position pos, or x,y,z. */
static int take_position(struct particle_set *set, struct context *ctx,
                         const char *text)
{
    char name[TABLE_NAME];
    int rc = DONE;

    while (!rc && *text) {
        size_t length = strcspn(text, ",");
        struct table_column *column = NULL;

        snprintf(name, sizeof(name), "%.*s", (int)length, text);
        if (length < sizeof(name))
            column = find_column(set, name, NULL);
        if (!column)
            return no_column(set, ctx, "position", name);
        for (int i = 0; i < set->ndims; i++)
            if (set->axes[i] == column)
                return context_fail(ctx, CALL_AT_FAULT,
                                    "--position names '%s' twice", name);
        rc = set_axis(set, ctx, column);
        text += length + (text[length] == ',');
    }
    if (!rc && set->ndims == 0)
        rc = context_fail(ctx, CALL_AT_FAULT, "--position names no column");
    return rc;
}

/* A column "position" or "pos", or x, y and z (of LAMMPS, xu, yu and zu). */
static int guess_position(struct particle_set *set, struct context *ctx)
{
    static const char *const names[] = {"position", "pos", "positions",
                                        "coordinates"};
    static const char *const axes[][3] = {
        {"x", "y", "z"}, {"X", "Y", "Z"}, {"xu", "yu", "zu"}};
    int rc = DONE;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct table_column *column = find_column(set, names[i], NULL);

        if (column && column->components <= MAX_AXES)
            return set_axis(set, ctx, column);
    }
    for (size_t i = 0; i < 3 && set->ndims == 0; i++)
        for (int k = 0; !rc && k < 3; k++) {
            struct table_column *column = find_column(set, axes[i][k], NULL);

            if (!column || column->components > 1)
                break;
            rc = set_axis(set, ctx, column);
        }
    if (!rc && set->ndims == 0)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "cannot tell where the particles are; name the "
                          "columns: --position x,y,z or --position pos");
    return rc;
}

static bool is_position(const struct particle_set *set,
                        const struct table_column *column)
{
    for (int i = 0; i < set->ndims; i++)
        if (set->axes[i] == column)
            return true;
    return false;
}

/* With --var, only these. */
static int choose_columns(struct particle_set *set, struct context *ctx,
                          const struct arguments *args)
{
    int wanted = arguments_count(args, "var");

    for (int i = 0; i < at_work(set); i++)
        for (size_t k = 0; wanted && k < set->sources[i].table.count; k++) {
            struct table_column *column = &set->sources[i].table.columns[k];

            column->unwanted = !is_position(set, column);
        }
    for (int i = 0; i < wanted; i++) {
        const char *name = arguments_nth(args, "var", i);
        struct table_column *column = find_column(set, name, NULL);

        if (!column)
            return no_column(set, ctx, "var", name);
        column->unwanted = false;
    }
    return DONE;
}

/* --type-of NAME=TYPE, for numbers in text. */
static int choose_types(const struct particle_set *set, struct context *ctx,
                        const struct arguments *args)
{
    for (int i = 0; i < arguments_count(args, "type-of"); i++) {
        const char *text = arguments_nth(args, "type-of", i);
        const char *equals = strrchr(text, '=');
        const struct particles_source *source;
        struct table_column *column;
        char name[TABLE_NAME];
        bouma_type type = equals ? bouma_type_parse(equals + 1) : 0;

        if (!type || type == BOUMA_TYPE_STRING ||
            (size_t)(equals - text) >= sizeof(name))
            return context_fail(
                ctx, CALL_AT_FAULT,
                "--type-of %s: write it as NAME=TYPE, such as mass=f32", text);
        memcpy(name, text, (size_t)(equals - text));
        name[equals - text] = '\0';
        column = find_column(set, name, &source);
        if (!column)
            return no_column(set, ctx, "type-of", name);
        if (!particles_source_is_text(source))
            return context_fail(
                ctx, CALL_AT_FAULT,
                "--type-of %s: it is for text files; %s has values of type %s",
                text, source->file.path, bouma_type_name(column->type));
        column->type = type;
        column->asked = true;
    }
    return DONE;
}

/* All columns have as many rows, and names of their own. */
static int gather(struct particle_set *set, struct context *ctx)
{
    size_t most = 0;

    set->rows = set->axes[0]->rows;
    for (int i = 0; i < at_work(set); i++)
        most += set->sources[i].table.count;
    free(set->attributes);
    set->attribute_count = 0;
    set->attributes = calloc(most, sizeof(*set->attributes));
    if (!set->attributes)
        return context_fail_memory(ctx);
    for (int i = 0; i < at_work(set); i++)
        for (size_t k = 0; k < set->sources[i].table.count; k++) {
            struct table_column *column = &set->sources[i].table.columns[k];

            if (column->unwanted)
                continue;
            if (column->rows != set->rows)
                return context_fail(
                    ctx, CALL_AT_FAULT,
                    "%s: '%s' has %llu rows, but '%s' has %llu; name the "
                    "columns to take: --var NAME",
                    set->sources[i].file.path, column->name,
                    (unsigned long long)column->rows, set->axes[0]->name,
                    (unsigned long long)set->rows);
            if (find_column(set, column->name, NULL) != column)
                return context_fail(ctx, CALL_AT_FAULT,
                                    "%s: another file has a column '%s', too; "
                                    "rename one of them",
                                    set->sources[i].file.path, column->name);
            if (!is_position(set, column))
                set->attributes[set->attribute_count++] = column;
        }
    return DONE;
}

/* ---- positions ----------------------------------------------------------- */

static const char *address_of(const struct table_column *column, uint64_t row,
                              int component)
{
    return (const char *)column->data + (int64_t)row * column->stride +
           component * column->component_stride;
}

static double value_at(const struct table_column *column, uint64_t row,
                       int component)
{
    const char *at = address_of(column, row, component);

    switch (column->type) {
#define CASE(name, value, ctype, text)                                         \
    case BOUMA_##name: {                                                       \
        ctype v;                                                               \
        memcpy(&v, at, sizeof(v));                                             \
        return (double)v;                                                      \
    }
        BOUMA_TYPE_LIST(CASE)
#undef CASE
    case BOUMA_TYPE_STRING:
        break;
    }
    return 0;
}

/* Whether the nearest double of a value is the value. */
static bool is_kept(const struct table_column *column, uint64_t row,
                    int component, double f64)
{
    const char *at = address_of(column, row, component);
    uint64_t u64;
    int64_t i64;

    if (column->type == BOUMA_TYPE_I64) {
        memcpy(&i64, at, sizeof(i64));
        return f64 < 0x1p63 && (int64_t)f64 == i64;
    }
    if (column->type == BOUMA_TYPE_U64) {
        memcpy(&u64, at, sizeof(u64));
        return f64 < 0x1p64 && (uint64_t)f64 == u64;
    }
    return true;
}

/* Nobody asked for a coordinate to become another number: infinite, or, unless
 * --position-type says so, rounded from an integer. */
static int refuse_position(const struct particle_set *set, struct context *ctx,
                           int axis, uint64_t row, uint64_t others)
{
    const struct table_column *column = set->axes[set->vector ? 0 : axis];
    const char *at = address_of(column, row, set->vector ? axis : 0);
    const struct particles_source *source = set->sources;
    char value[32], more[64] = "", where[64];
    uint64_t u64;
    int64_t i64;

    find_column(set, column->name, &source);
    if (column->type == BOUMA_TYPE_I64) {
        memcpy(&i64, at, sizeof(i64));
        snprintf(value, sizeof(value), "%" PRId64, i64);
    } else if (column->type == BOUMA_TYPE_U64) {
        memcpy(&u64, at, sizeof(u64));
        snprintf(value, sizeof(value), "%" PRIu64, u64);
    } else {
        snprintf(value, sizeof(value), "%g",
                 value_at(column, row, set->vector ? axis : 0));
    }
    if (others)
        snprintf(more, sizeof(more), " (and %llu more like it)",
                 (unsigned long long)others);
    if (particles_source_is_text(source))
        snprintf(where, sizeof(where), "line %zu",
                 particles_source_line(source, set->part.first + row));
    else
        snprintf(where, sizeof(where), "row %llu, counted from 0",
                 (unsigned long long)(set->part.first + row));
    return context_fail(
        ctx, DATA_AT_FAULT, "%s: %s, column '%s': %s%s %s", source->file.path,
        where, column->name, value, more,
        set->type == BOUMA_TYPE_F32
            ? "is beyond any f32 (3.4e38); choose --position-type f64"
            : "has more digits than f64 keeps; to round it, add "
              "--position-type f64");
}

/* Whether all coordinates lie as the library takes them. */
static bool are_alike(const struct particle_set *set)
{
    for (int i = 0; i < (set->vector ? 1 : set->ndims); i++)
        if (set->axes[i]->type != set->type ||
            set->axes[i]->stride != set->axes[0]->stride)
            return false;
    return true;
}

/* Copy the coordinates of an axis, in their type. Returns how many became
 * another number, and the first of them; where the type was 'asked' for,
 * integers may be rounded to it. */
static uint64_t convert_axis(const struct particle_set *set, int i, bool asked,
                             char *to, uint64_t *first)
{
    const struct table_column *axis = set->axes[set->vector ? 0 : i];
    size_t item = bouma_type_size(set->type);
    int component = set->vector ? i : 0;
    uint64_t bad = 0;

    for (uint64_t row = 0; row < set->part.last - set->part.first;
         row++, to += item) {
        double f64 = value_at(axis, row, component);
        float f32 = (float)f64;

        memcpy(to, item == sizeof(f32) ? (void *)&f32 : (void *)&f64, item);
        if ((item == sizeof(f32) && isinf(f32) && !isinf(f64)) ||
            (!asked && !is_kept(axis, row, component, f64))) {
            *first = bad ? *first : row;
            bad++;
        }
    }
    return bad;
}

/* Coordinates that are integers, of several types, or to be of another type
 * are copied, into an array for each axis; the columns are dropped. Where the
 * type was 'asked' for, integers are rounded to it. */
static int convert_positions(struct particle_set *set, struct context *ctx,
                             bool asked)
{
    size_t item = bouma_type_size(set->type), ndims = (size_t)set->ndims;
    uint64_t rows = set->part.last - set->part.first;
    uint64_t bad = 0, bad_row = 0;
    int bad_axis = 0;

    free(set->converted);
    set->converted = NULL;
    if (are_alike(set) || rows == 0)
        return DONE;
    if (rows > SIZE_MAX / 2 / (item * ndims) ||
        !(set->converted = malloc(rows * item * ndims)))
        return context_fail(ctx, DATA_AT_FAULT, "no memory for positions");
    for (int i = 0; i < set->ndims; i++) {
        char *to = (char *)set->converted + (uint64_t)i * rows * item;
        uint64_t row = 0, more = convert_axis(set, i, asked, to, &row);

        bad_axis = more && !bad ? i : bad_axis;
        bad_row = more && !bad ? row : bad_row;
        bad += more;
    }
    if (bad)
        return refuse_position(set, ctx, bad_axis, bad_row, bad - 1);
    for (int i = 0; i < (set->vector ? 1 : set->ndims); i++)
        table_drop(set->axes[i]);
    return DONE;
}

/* f32 if all coordinates are, or if --position-type says so. */
static int choose_position_type(struct particle_set *set, struct context *ctx,
                                const struct arguments *args)
{
    const char *text;
    int rc = arguments_choice(args, ctx, "position-type", &text);

    set->type = text ? bouma_type_parse(text) : BOUMA_TYPE_F32;
    for (int i = 0; !text && i < (set->vector ? 1 : set->ndims); i++)
        if (set->axes[i]->type != BOUMA_TYPE_F32)
            set->type = BOUMA_TYPE_F64;
    return rc;
}

/* The bytes that values with these strides take. */
static size_t span_of(const bouma_array *array, uint64_t rows, int components)
{
    uint64_t step = (uint64_t)llabs(array->stride[0]);
    uint64_t next = (uint64_t)llabs(array->component_stride);

    return (size_t)((rows ? rows - 1 : 0) * step +
                    (uint64_t)(components - 1) * next +
                    bouma_type_size(array->type));
}

static uint64_t rows_of(const struct particle_set *set)
{
    return set->part.last - set->part.first;
}

bouma_array particle_set_values(const struct particle_set *set,
                                const struct table_column *column)
{
    bouma_array array = {.size = sizeof(array),
                         .type = column->type,
                         .data = (void *)column->data,
                         .stride = {column->stride},
                         .component_stride = column->component_stride};

    array.bytes = span_of(&array, rows_of(set), column->components);
    return array;
}

bouma_array particle_set_position(const struct particle_set *set, void **parts)
{
    bouma_array array = {
        .size = sizeof(array), .type = set->type, .data = set->converted};

    if (set->converted) {
        array.stride[0] = (int64_t)bouma_type_size(set->type);
        array.component_stride = array.stride[0] * (int64_t)rows_of(set);
        array.bytes = span_of(&array, rows_of(set), set->ndims);
        return array;
    }
    if (set->vector || set->ndims == 1)
        return particle_set_values(set, set->axes[0]);
    for (int i = 0; i < set->ndims; i++)
        parts[i] = (void *)set->axes[i]->data;
    array.parts = parts;
    array.stride[0] = set->axes[0]->stride;
    array.bytes = span_of(&array, rows_of(set), 1);
    return array;
}

int particle_set_choose(struct particle_set *set, struct context *ctx,
                        const struct arguments *args)
{
    const char *position = arguments_text(args, "position");
    int64_t first, last;
    int rc;

    set->ndims = 0;
    rc =
        position ? take_position(set, ctx, position) : guess_position(set, ctx);
    for (int i = 0; !rc && i < set->ndims; i++)
        if (set->axes[i])
            set->axes[i]->unwanted = false;
    if (!rc)
        rc = choose_columns(set, ctx, args);
    if (!rc)
        rc = choose_types(set, ctx, args);
    if (!rc)
        rc = gather(set, ctx);
    if (rc)
        return rc;
    divide_evenly((int64_t)set->rows, session_size(ctx->session),
                  session_rank(ctx->session), &first, &last);
    set->part = (struct row_range){(uint64_t)first, (uint64_t)last};
    return DONE;
}

struct particle_bytes particle_set_bytes(const struct particle_set *set)
{
    struct particle_bytes bytes = {0};

    for (int i = 0; i < at_work(set); i++)
        for (size_t k = 0; k < set->sources[i].table.count; k++) {
            const struct table_column *column =
                &set->sources[i].table.columns[k];
            /* A column of text has no type yet; it will be one of 8 bytes. */
            uint64_t item = column->type ? bouma_type_size(column->type) : 8;

            item *= (uint64_t)column->components;
            if (column->unwanted)
                continue;
            bytes.each += item;
            if (particles_source_copies(&set->sources[i], column))
                bytes.held += item;
        }
    return bytes;
}

/* Numbers of the text that are nearer to 0 than any value of their type, of all
 * processes. Collective. */
static int tell_vanished(const struct particles_source *source,
                         struct context *ctx)
{
    const struct particle_table *table = &source->table;
    double *counts = calloc(table->count + 1, sizeof(*counts));
    int rc = context_agree(ctx, counts ? DONE : context_fail_memory(ctx));

    for (size_t i = 0; !rc && i < table->count; i++)
        counts[i] =
            table->columns[i].unwanted ? 0 : (double)table->columns[i].vanished;
    if (!rc)
        session_combine(ctx->session, counts, table->count, SESSION_SUM);
    for (size_t i = 0; !rc && context_prints(ctx) && i < table->count; i++)
        if (counts[i] > 0)
            context_note(ctx,
                         "%s: column '%s': %.0f number%s too small for %s, and "
                         "become%s 0",
                         source->file.path, table->columns[i].name, counts[i],
                         counts[i] > 1 ? "s are" : " is",
                         bouma_type_name(table->columns[i].type),
                         counts[i] > 1 ? "" : "s");
    free(counts);
    return rc;
}

int particle_set_load(struct particle_set *set, struct context *ctx,
                      const struct arguments *args)
{
    int rc = DONE;

    for (int i = 0; !rc && i < at_work(set); i++)
        rc = context_agree(
            ctx, particles_source_load(&set->sources[i], ctx, set->part));
    if (!rc)
        rc = choose_position_type(set, ctx, args);
    for (int i = 0; !rc && i < at_work(set); i++)
        if (particles_source_is_text(&set->sources[i]))
            rc = tell_vanished(&set->sources[i], ctx);
    return rc ? rc
              : convert_positions(set, ctx,
                                  arguments_has(args, "position-type"));
}
