/* view_ept.c -- /ept/RUN/OBJECT/: particles as Entwine point tiles, binary; and
 * /ept-laszip/RUN/OBJECT/, whose tiles are LAS files, for programs that read no
 * others:
 *
 *     ept.json   ept-hierarchy/D-X-Y-Z.json   ept-data/D-X-Y-Z.bin (.laz)
 *
 * Positions are integers of 32 bits, with a scale and an offset, which all
 * clients read; other values are as they are stored. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "las_file.h"
#include "particle_cells.h"
#include "route.h"
#include "view_run.h"

/* Depths of cells in one file of the hierarchy. */
#define FILE_DEPTHS 2
/* Steps of positions along the cube. */
#define POSITION_STEPS 1073741824.0

struct tiles {
    struct cell_tree tree;
    bouma_particles_info about;
    struct cell_column columns[CELL_COLUMNS];
    int column_count;
    double scale, offset[3];
    size_t row;
    bool las;
    struct las_extra extra[CELL_VALUES]; /* of a LAS file */
    struct las_file file;
};

/* ---- metadata ------------------------------------------------------------ */

static void put_pair(struct json_out *out, const char *key, const char *text)
{
    json_out_key(out, key);
    json_out_text(out, text);
}

static void put_dimension(struct json_out *out, const char *name,
                          const char *type, size_t bytes)
{
    json_out_open(out, '{');
    put_pair(out, "name", name);
    put_pair(out, "type", type);
    json_out_key(out, "size");
    json_out_count(out, bytes);
}

static void put_positions(struct json_out *out, const struct tiles *t)
{
    static const char *const names[] = {"X", "Y", "Z"};

    for (int i = 0; i < 3; i++) {
        put_dimension(out, names[i], "signed", 4);
        json_out_key(out, "scale");
        json_out_number(out, t->scale);
        json_out_key(out, "offset");
        json_out_number(out, t->offset[i]);
        json_out_close(out, '}');
    }
}

/* "T", "v_0"; never one of a position. */
static void name_of(char *out, size_t room, const bouma_variable_info *about,
                    int component)
{
    bool taken = strlen(about->name) == 1 && strchr("XYZ", about->name[0]);

    if (about->components > 1)
        snprintf(out, room, "%s_%d", about->name, component);
    else
        snprintf(out, room, "%s%s", about->name, taken ? "_value" : "");
}

/* The same with its number in place of the end, if it is longer than a LAS file
 * can have it. */
static void short_name_of(char *out, const bouma_variable_info *about,
                          int component, int number)
{
    enum { KEPT = LAS_NAME_BYTES - 5 };
    char name[300];
    size_t length;

    name_of(name, sizeof(name), about, component);
    length = strlen(name);
    memcpy(out, name, length < LAS_NAME_BYTES ? length + 1 : LAS_NAME_BYTES);
    out[LAS_NAME_BYTES] = 0;
    if (length > LAS_NAME_BYTES)
        snprintf(out + KEPT, LAS_NAME_BYTES + 1 - KEPT, "~%u",
                 (unsigned)number % 1000);
}

static void put_others(struct json_out *out, const struct tiles *t)
{
    int number = 0;

    for (int i = 1; i < t->column_count; i++) {
        const bouma_variable_info *about = &t->columns[i].about;
        const char *type = bouma_type_name(about->type);

        for (int c = 0; c < about->components; c++) {
            char name[300];

            if (t->las)
                short_name_of(name, about, c, number++);
            else
                name_of(name, sizeof(name), about, c);
            put_dimension(out, name,
                          type[0] == 'f'   ? "float"
                          : type[0] == 'u' ? "unsigned"
                                           : "signed",
                          bouma_type_size(about->type));
            json_out_close(out, '}');
        }
    }
}

/* Of the cube, or of the particles in it. */
static void put_bounds(struct json_out *out, const char *key,
                       const struct tiles *t, bool cube)
{
    json_out_key(out, key);
    json_out_open(out, '[');
    for (int end = 0; end < 2; end++)
        for (int i = 0; i < 3; i++) {
            bool known = !cube && i < t->about.ndims && t->tree.count > 0;
            double low = known ? t->about.low[i] : t->tree.low[i];
            double high = known  ? t->about.high[i]
                          : cube ? t->tree.low[i] + t->tree.size[i]
                                 : t->tree.low[i];

            json_out_number(out, end ? high : low);
        }
    json_out_close(out, ']');
}

static void answer_ept(const struct tiles *t, struct answer *answer)
{
    struct json_out out;

    json_out_init(&out, answer->memory, answer->limit);
    json_out_open(&out, '{');
    put_bounds(&out, "bounds", t, true);
    /* Readers of LAS divide this one as if it were the cube. */
    put_bounds(&out, "boundsConforming", t, t->las);
    put_pair(&out, "dataType", t->las ? "laszip" : "binary");
    put_pair(&out, "hierarchyType", "json");
    json_out_key(&out, "points");
    json_out_number(&out, t->tree.count);
    json_out_key(&out, "schema");
    json_out_open(&out, '[');
    put_positions(&out, t);
    put_others(&out, t);
    json_out_close(&out, ']');
    json_out_key(&out, "span");
    json_out_integer(&out, 128);
    json_out_key(&out, "srs");
    json_out_open(&out, '{');
    json_out_close(&out, '}');
    put_pair(&out, "version", "1.0.0");
    json_out_close(&out, '}');
    answer_put_json(answer, &out);
}

/* ---- the hierarchy ------------------------------------------------------- */

static struct cell child_of(const struct cell *cell, int number)
{
    struct cell child = {.depth = cell->depth + 1};

    for (int i = 0; i < 3; i++)
        child.at[i] = 2 * cell->at[i] + (number >> i & 1);
    return child;
}

/* A cell whose parent has the quality 'from', and those below it. */
static int put_cells(struct json_out *out, const struct tiles *t,
                     const struct cell *cell, int top, double from)
{
    bool elsewhere = cell->depth - top == FILE_DEPTHS;
    uint64_t count;
    char key[80];
    double to;
    int rc = cell_quality_below(&to, &t->tree, cell, from);

    if (!rc)
        rc = cell_count(&count, &t->tree, cell, from, to);
    if (rc || (count == 0 && to >= 1))
        return rc;
    snprintf(key, sizeof(key), "%d-%" PRId64 "-%" PRId64 "-%" PRId64,
             cell->depth, cell->at[0], cell->at[1], cell->at[2]);
    json_out_key(out, key);
    if (elsewhere)
        json_out_integer(out, -1);
    else
        json_out_count(out, count);
    for (int i = 0; i < 1 << t->about.ndims && to < 1 && !elsewhere && !rc;
         i++) {
        struct cell child = child_of(cell, i);

        rc = put_cells(out, t, &child, top, to);
    }
    return rc;
}

static int answer_hierarchy(const struct tiles *t, const struct cell *cell,
                            struct answer *answer)
{
    struct json_out out;
    double from, to;
    int rc;

    if (answer_is_head(answer, ANSWER_JSON))
        return BOUMA_OK;
    rc = cell_quality(&from, &to, &t->tree, cell);
    if (rc)
        return rc;
    json_out_init(&out, answer->memory, answer->limit);
    json_out_open(&out, '{');
    if (from < to)
        rc = put_cells(&out, t, cell, cell->depth, from);
    json_out_close(&out, '}');
    answer_put_json(answer, &out);
    return rc;
}

/* ---- points -------------------------------------------------------------- */

static double coordinate(bouma_type type, const void *values, int i)
{
    return type == BOUMA_TYPE_F32 ? (double)((const float *)values)[i]
                                  : ((const double *)values)[i];
}

static void put_row(const void *user, void *row, const void *const *values)
{
    const struct tiles *t = user;
    int32_t position[3];
    char *to = row;

    for (int i = 0; i < 3; i++) {
        double at =
            i < t->about.ndims ? coordinate(t->about.type, values[0], i) : 0;
        double steps = nearbyint((at - t->offset[i]) / t->scale);
        /* What a damaged file has may be anywhere. */
        position[i] = (int32_t)fmax(fmin(steps, INT32_MAX), INT32_MIN);
    }
    if (t->las)
        las_put_record(to, position);
    else
        memcpy(to, position, sizeof(position));
    to += t->las ? LAS_RECORD_BYTES : sizeof(position);
    for (int i = 1; i < t->column_count; i++) {
        const bouma_variable_info *about = &t->columns[i].about;
        size_t bytes = (size_t)about->components * bouma_type_size(about->type);

        memcpy(to, values[i], bytes);
        to += bytes;
    }
}

static int answer_points(const struct tiles *t, const struct cell *cell,
                         struct answer *answer)
{
    struct cell_format format = {t->las ? las_header_bytes(t->file.extra_count)
                                        : 0,
                                 t->row, 0, put_row, t};
    double from, to;
    uint64_t count;
    int rc;

    if (answer_is_head(answer, ANSWER_BYTES))
        return BOUMA_OK;
    rc = cell_quality(&from, &to, &t->tree, cell);
    if (!rc)
        rc = cell_read(&count, &t->tree, cell, from, to, t->columns,
                       t->column_count, &format, answer);
    if (!rc && t->las && answer->code < 400)
        las_put_header(answer->body, &t->file, count);
    return rc;
}

/* ---- keys ---------------------------------------------------------------- */

static void describe_file(struct tiles *t)
{
    struct las_file *file = &t->file;

    *file = (struct las_file){
        .scale = t->scale, .extra = t->extra, .record = t->row};
    for (int i = 0; i < 3; i++) {
        file->offset[i] = t->offset[i];
        file->low[i] = t->tree.low[i];
        file->high[i] = t->tree.low[i] + t->tree.size[i];
    }
    for (int i = 1; i < t->column_count; i++) {
        const bouma_variable_info *about = &t->columns[i].about;

        for (int c = 0; c < about->components; c++) {
            struct las_extra *extra = &t->extra[file->extra_count];

            extra->type = about->type;
            short_name_of(extra->name, about, c, (int)file->extra_count++);
        }
    }
}

static void open_tiles(struct tiles *out, bouma_particles *particles, bool las)
{
    *out = (struct tiles){.about = {.size = sizeof(out->about)},
                          .row = las ? LAS_RECORD_BYTES : 12,
                          .las = las};
    bouma_particles_info_get(&out->about, particles);
    cell_tree_init(&out->tree, particles, &out->about, true);
    out->scale = out->tree.size[0] / POSITION_STEPS;
    for (int i = 0; i < out->about.ndims; i++)
        out->offset[i] = out->tree.low[i] + out->tree.size[i] / 2;
    out->column_count = cell_columns(out->columns, particles);
    for (int i = 1; i < out->column_count; i++)
        out->row += (size_t)out->columns[i].about.components *
                    bouma_type_size(out->columns[i].about.type);
    if (las)
        describe_file(out);
}

/* The cell in "1-0-0-1.bin". */
static bool read_name(struct cell *out, const struct tiles *t, const char *name,
                      const char *ending)
{
    size_t length = strlen(name), end = strlen(ending);
    char key[80];

    if (length <= end || length - end >= sizeof(key) ||
        strcmp(name + length - end, ending) != 0)
        return false;
    memcpy(key, name, length - end);
    key[length - end] = '\0';
    return cell_parse(out, &t->tree, key);
}

static int answer_key(void *user, const struct read_step *step,
                      const struct request *request, struct answer *answer)
{
    bouma_particles *particles =
        bouma_step_find_particles(step->step, request->names[1]);
    const char *const *parts = request->rest;
    struct tiles t;
    struct cell cell;

    if (!particles) {
        answer_fail(answer, 404, BOUMA_ENOTFOUND, "%s",
                    bouma_error_message(step->ds));
        return BOUMA_OK;
    }
    open_tiles(&t, particles, user != NULL);
    if (request->rest_count == 1 && strcmp(parts[0], "ept.json") == 0) {
        answer_ept(&t, answer);
        return BOUMA_OK;
    }
    if (request->rest_count == 2 && strcmp(parts[0], "ept-hierarchy") == 0 &&
        read_name(&cell, &t, parts[1], ".json"))
        return answer_hierarchy(&t, &cell, answer);
    if (request->rest_count == 2 && strcmp(parts[0], "ept-data") == 0 &&
        read_name(&cell, &t, parts[1], t.las ? ".laz" : ".bin"))
        return answer_points(&t, &cell, answer);
    answer_fail(answer, 404, BOUMA_ENOTFOUND,
                "there is no such key; 'ept.json' tells what there is");
    return BOUMA_OK;
}

void route_ept(struct request *request, struct answer *answer)
{
    view_run_with_example(request, answer, request->names[0], request->names[1],
                          answer_key, NULL);
}

void route_ept_las(struct request *request, struct answer *answer)
{
    bool las = true;

    view_run_with_example(request, answer, request->names[0], request->names[1],
                          answer_key, &las);
}
