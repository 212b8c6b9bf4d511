/* view_annotations.c -- /annotations/RUN/OBJECT/: particles as annotations of
 * neuroglancer, in its format "precomputed":
 *
 *     info   L/X_Y_Z   by_id/N
 *
 * A level of its spatial index is a depth of the tree of cells. Values have 4
 * bytes: neuroglancer knows neither f64 nor 64-bit integers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "length_unit.h"
#include "particle_cells.h"
#include "route.h"
#include "sample_types.h"
#include "view_annotations.h"
#include "view_run.h"

#define MOST_DEPTH 8
/* That is said of cells: qualities give about CELL_PARTICLES, and up to a quarter
 * more where that is all that is left. Cells of the last depth may have more. */
#define MOST_PARTICLES (CELL_PARTICLES * 3 / 2)
/* Of a particle in its cell, in its number. */
#define INDEX_BITS 24

/* ---- names and numbers: pure --------------------------------------------- */

void annotation_id(char *out, size_t room, const char *name, int component,
                   int components, int number)
{
    size_t used = 0;

    /* It begins with a small letter. */
    if (name[0] < 'a' || name[0] > 'z')
        used = (size_t)snprintf(out, room, "v_");
    for (const char *at = name; *at && used + 24 < room && used < 60; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                     (*at >= '0' && *at <= '9');

        out[used++] = plain ? *at : '_';
    }
    out[used] = '\0';
    if (components > 1)
        used += (size_t)snprintf(out + used, room - used, "_%d", component);
    if (number)
        snprintf(out + used, room - used, "__%d", number);
}

enum annotation_type annotation_type_of(bouma_type type)
{
    switch (type) {
    case BOUMA_TYPE_I8:
    case BOUMA_TYPE_I16:
    case BOUMA_TYPE_I32:
        return ANNOTATION_INT32;
    case BOUMA_TYPE_U8:
    case BOUMA_TYPE_U16:
    case BOUMA_TYPE_U32:
        return ANNOTATION_UINT32;
    default:
        return ANNOTATION_FLOAT32;
    }
}

void annotation_value(void *out, bouma_type type, const void *value)
{
    struct conversion how = {.to = SENT_F32, .from = type};
    int32_t number = 0;

    switch (type) {
    case BOUMA_TYPE_I8:
        number = *(const int8_t *)value;
        break;
    case BOUMA_TYPE_U8:
        number = *(const uint8_t *)value;
        break;
    case BOUMA_TYPE_I16:
        number = *(const int16_t *)value;
        break;
    case BOUMA_TYPE_U16:
        number = *(const uint16_t *)value;
        break;
    case BOUMA_TYPE_I32:
    case BOUMA_TYPE_U32:
        memcpy(out, value, 4);
        return;
    default:
        convert_values(out, 1, value, 1, 1, &how);
        return;
    }
    memcpy(out, &number, sizeof(number));
}

/* Cells before those of a depth. */
static uint64_t cells_above(int ndims, int depth)
{
    uint64_t count = 0;

    for (int i = 0; i < depth; i++)
        count += (uint64_t)1 << (ndims * i);
    return count;
}

uint64_t annotation_number(int ndims, const struct cell *cell, uint64_t index)
{
    uint64_t number = 0;

    for (int i = 0; i < ndims; i++)
        number = number << cell->depth | (uint64_t)cell->at[i];
    return (cells_above(ndims, cell->depth) + number) << INDEX_BITS | index;
}

bool annotation_cell(struct cell *out, uint64_t *index, int ndims, int last,
                     uint64_t number)
{
    uint64_t cell = number >> INDEX_BITS;

    *out = (struct cell){0};
    *index = number & (((uint64_t)1 << INDEX_BITS) - 1);
    while (out->depth <= last && cell >= cells_above(ndims, out->depth + 1))
        out->depth++;
    cell -= cells_above(ndims, out->depth);
    for (int i = ndims - 1; i >= 0; i--) {
        out->at[i] = (int64_t)(cell & (((uint64_t)1 << out->depth) - 1));
        cell >>= out->depth;
    }
    return out->depth <= last;
}

int annotation_depth(int ndims, double count)
{
    double room = CELL_PARTICLES;
    int depth = 0;

    if (count <= room)
        return 0;
    while (room < count && depth < MOST_DEPTH) {
        room *= 1 << ndims;
        depth++;
    }
    /* One more, since particles are rarely even. */
    return depth < MOST_DEPTH ? depth + 1 : depth;
}

/* ---- metadata ------------------------------------------------------------ */

struct annotations {
    struct cell_tree tree;
    bouma_particles_info about;
    struct cell_column columns[CELL_COLUMNS];
    int column_count;
    size_t row;
};

static void put_pair(struct json_out *out, const char *key, const char *text)
{
    json_out_key(out, key);
    json_out_text(out, text);
}

static void put_dimensions(struct json_out *out, const struct annotations *a)
{
    const struct length_unit *unit = length_unit_find(a->about.unit);
    static const char *const names[] = {"x", "y", "z"};

    json_out_key(out, "dimensions");
    json_out_open(out, '{');
    for (int i = 0; i < a->about.ndims; i++) {
        json_out_key(out, names[i]);
        json_out_open(out, '[');
        json_out_number(out, unit ? unit->metres : 1);
        json_out_text(out, unit ? "m" : "");
        json_out_close(out, ']');
    }
    json_out_close(out, '}');
}

/* Ids of properties that were given before: those of all columns up to here. */
static bool is_taken(const struct annotations *a, const char *id, int column,
                     int component)
{
    char other[100];

    for (int i = 1; i <= column; i++) {
        const bouma_variable_info *about = &a->columns[i].about;
        int end = i == column ? component : about->components;

        for (int c = 0; c < end; c++) {
            annotation_id(other, sizeof(other), about->name, c,
                          about->components, 0);
            if (strcmp(other, id) == 0)
                return true;
        }
    }
    return false;
}

static void put_property(struct json_out *out, const struct annotations *a,
                         int column, int component)
{
    static const char *const types[] = {"float32", "int32", "uint32"};
    const bouma_variable_info *about = &a->columns[column].about;
    enum annotation_type type = annotation_type_of(about->type);
    char id[100], text[700];

    annotation_id(id, sizeof(id), about->name, component, about->components, 0);
    if (is_taken(a, id, column, component))
        annotation_id(id, sizeof(id), about->name, component, about->components,
                      column);
    snprintf(text, sizeof(text), "%s%s%s%s%s", about->name,
             about->unit && about->unit[0] ? " in " : "",
             about->unit ? about->unit : "",
             bouma_type_size(about->type) == 8 ? ", rounded from " : "",
             bouma_type_size(about->type) == 8 ? bouma_type_name(about->type)
                                               : "");
    json_out_open(out, '{');
    put_pair(out, "id", id);
    put_pair(out, "type", types[type]);
    put_pair(out, "description", text);
    json_out_close(out, '}');
}

static void put_spatial(struct json_out *out, const struct annotations *a)
{
    json_out_key(out, "spatial");
    json_out_open(out, '[');
    for (int depth = 0; depth <= a->tree.last; depth++) {
        char key[12];

        snprintf(key, sizeof(key), "%d", depth);
        json_out_open(out, '{');
        put_pair(out, "key", key);
        json_out_key(out, "grid_shape");
        json_out_open(out, '[');
        for (int i = 0; i < a->about.ndims; i++)
            json_out_integer(out, (int64_t)1 << depth);
        json_out_close(out, ']');
        json_out_key(out, "chunk_size");
        json_out_open(out, '[');
        for (int i = 0; i < a->about.ndims; i++)
            json_out_number(out, a->tree.size[i] / (double)(1 << depth));
        json_out_close(out, ']');
        json_out_key(out, "limit");
        json_out_integer(out, MOST_PARTICLES);
        json_out_close(out, '}');
    }
    json_out_close(out, ']');
}

static void put_bounds(struct json_out *out, const struct annotations *a)
{
    json_out_key(out, "lower_bound");
    json_out_numbers(out, a->tree.low, a->about.ndims);
    json_out_key(out, "upper_bound");
    json_out_open(out, '[');
    for (int i = 0; i < a->about.ndims; i++)
        json_out_number(out, a->tree.low[i] + a->tree.size[i]);
    json_out_close(out, ']');
}

static void answer_info(const struct annotations *a, struct answer *answer)
{
    struct json_out out;

    json_out_init(&out, answer->memory, answer->limit);
    json_out_open(&out, '{');
    put_pair(&out, "@type", "neuroglancer_annotations_v1");
    put_dimensions(&out, a);
    put_bounds(&out, a);
    put_pair(&out, "annotation_type", "POINT");
    json_out_key(&out, "properties");
    json_out_open(&out, '[');
    for (int i = 1; i < a->column_count; i++)
        for (int c = 0; c < a->columns[i].about.components; c++)
            put_property(&out, a, i, c);
    json_out_close(&out, ']');
    json_out_key(&out, "relationships");
    json_out_open(&out, '[');
    json_out_close(&out, ']');
    json_out_key(&out, "by_id");
    json_out_open(&out, '{');
    put_pair(&out, "key", "by_id");
    json_out_close(&out, '}');
    put_spatial(&out, a);
    json_out_close(&out, '}');
    answer_put_json(answer, &out);
}

/* ---- particles ----------------------------------------------------------- */

static void put_row(const void *user, void *row, const void *const *values)
{
    const struct annotations *a = user;
    char *to = row;

    for (int i = 0; i < a->column_count; i++) {
        const bouma_variable_info *about = &a->columns[i].about;
        size_t bytes = bouma_type_size(about->type);

        for (int c = 0; c < about->components; c++, to += 4)
            annotation_value(to, about->type,
                             (const char *)values[i] + (size_t)c * bytes);
    }
}

static int read_cell(const struct annotations *a, const struct cell *cell,
                     struct answer *answer)
{
    struct cell_format format = {8, a->row, 8, put_row, a};
    double from, to;
    uint64_t count;
    int rc;

    if (answer_is_head(answer, ANSWER_BYTES))
        return BOUMA_OK;
    rc = cell_quality(&from, &to, &a->tree, cell);
    if (!rc)
        rc = cell_read(&count, &a->tree, cell, from, to, a->columns,
                       a->column_count, &format, answer);
    if (rc || answer->code >= 400)
        return rc;
    memcpy(answer->body, &count, sizeof(count));
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = annotation_number(a->about.ndims, cell, i);

        memcpy((char *)answer->body + 8 + count * a->row + 8 * i, &number, 8);
    }
    return BOUMA_OK;
}

/* One particle: the row of its cell. */
static int read_one(const struct annotations *a, const char *text,
                    struct answer *answer)
{
    uint64_t number = strtoull(text, NULL, 10), index, count = 0;
    struct cell cell;
    int rc = BOUMA_OK;

    if (text[0] && !text[strspn(text, "0123456789")] && strlen(text) < 19 &&
        annotation_cell(&cell, &index, a->about.ndims, a->tree.last, number)) {
        answer->head = false; /* whether there is one is not known before */
        rc = read_cell(a, &cell, answer);
        if (rc || answer->code >= 400)
            return rc;
        memcpy(&count, answer->body, sizeof(count));
        if (index < count) {
            memmove(answer->body, (char *)answer->body + 8 + index * a->row,
                    a->row);
            answer->bytes = a->row;
            return BOUMA_OK;
        }
    }
    answer_fail(answer, 404, BOUMA_ENOTFOUND, "there is no such annotation");
    return BOUMA_OK;
}

/* ---- keys ---------------------------------------------------------------- */

static void open_annotations(struct annotations *out,
                             bouma_particles *particles)
{
    *out = (struct annotations){.about = {.size = sizeof(out->about)}};
    bouma_particles_info_get(&out->about, particles);
    cell_tree_init(&out->tree, particles, &out->about, false);
    out->tree.last = annotation_depth(out->about.ndims, out->tree.count);
    out->column_count = cell_columns(out->columns, particles);
    for (int i = 0; i < out->column_count; i++)
        out->row += 4 * (size_t)out->columns[i].about.components;
}

static int answer_key(void *user, const struct read_step *step,
                      const struct request *request, struct answer *answer)
{
    bouma_particles *particles =
        bouma_step_find_particles(step->step, request->names[1]);
    const char *const *parts = request->rest;
    struct annotations a;
    struct cell cell;

    (void)user;
    if (!particles) {
        answer_fail(answer, 404, BOUMA_ENOTFOUND, "%s",
                    bouma_error_message(step->ds));
        return BOUMA_OK;
    }
    open_annotations(&a, particles);
    if (request->rest_count == 1 && strcmp(parts[0], "info") == 0) {
        answer_info(&a, answer);
        return BOUMA_OK;
    }
    if (request->rest_count == 2 && strcmp(parts[0], "by_id") == 0)
        return read_one(&a, parts[1], answer);
    for (int depth = 0; request->rest_count == 2 && depth <= a.tree.last;
         depth++) {
        char key[12];

        snprintf(key, sizeof(key), "%d", depth);
        if (strcmp(key, parts[0]) == 0 &&
            cell_parse_at(&cell, &a.tree, depth, parts[1]))
            return read_cell(&a, &cell, answer);
    }
    answer_fail(answer, 404, BOUMA_ENOTFOUND,
                "there is no such key; 'info' tells what there is");
    return BOUMA_OK;
}

void route_annotations(struct request *request, struct answer *answer)
{
    view_run_with_example(request, answer, request->names[0], request->names[1],
                          answer_key, NULL);
}
