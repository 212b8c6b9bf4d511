/* view_ome.c -- /ome/RUN/OBJECT/VARIABLE/ and /ome2/...: the levels of a
 * variable as an image of OME-Zarr, 0.5 (Zarr version 3) and 0.4 (version 2):
 *
 *     zarr.json     K/zarr.json   K/c/0/0/0/0
 *     .zgroup .zattrs .zmetadata  K/.zarray   K/0/0/0/0
 *
 * Axes are t, c, z, y, x; there is no c of a single component, and no t of
 * RUN@STEP. Positions are those of samples, the centres of voxels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grid_view.h"
#include "length_unit.h"
#include "route.h"

struct image {
    struct view_run run;
    struct read_step step; /* the example for all */
    const char *object, *name;
    bouma_variable *variable;
    bouma_variable_info values;
    const struct length_unit *unit; /* NULL: none that viewers know */
    int ndims, levels;
    double time_step, time_first;
    bouma_grid *grid;
    bool v3;
};

/* ---- metadata ------------------------------------------------------------ */

static void put_pair(struct json_out *out, const char *key, const char *text)
{
    json_out_key(out, key);
    json_out_text(out, text);
}

static bool get_level(struct grid_level *level, struct grid_array *array,
                      const struct image *image, int k)
{
    if (grid_level_get(level, image->grid, image->variable, k))
        return false;
    grid_array_init(array, level, image->run.one ? 0 : image->run.count,
                    GRID_AXES_OME);
    return true;
}

static void put_axes(struct json_out *out, const struct grid_array *of,
                     const struct image *image)
{
    json_out_key(out, "axes");
    json_out_open(out, '[');
    for (int i = 0; i < of->array.ndims; i++) {
        json_out_open(out, '{');
        put_pair(out, "name", of->array.names[i]);
        put_pair(out, "type",
                 i == of->time        ? "time"
                 : i == of->component ? "channel"
                                      : "space");
        if (i >= of->space && image->unit)
            put_pair(out, "unit", image->unit->name);
        json_out_close(out, '}');
    }
    json_out_close(out, ']');
}

static void put_transformation(struct json_out *out, const char *type,
                               const double *values, int count)
{
    json_out_open(out, '{');
    put_pair(out, "type", type);
    json_out_key(out, type);
    json_out_numbers(out, values, count);
    json_out_close(out, '}');
}

static void put_dataset(struct json_out *out, const struct grid_level *level,
                        const struct grid_array *of, const struct image *image)
{
    double scale[ZARR_AXES], translation[ZARR_AXES];
    char path[12];

    for (int i = 0; i < of->array.ndims; i++) {
        int axis = i - of->space;

        scale[i] = i == of->time ? image->time_step
                   : axis < 0
                       ? 1
                       : level->spacing[axis] * (double)level->step[axis];
        translation[i] = i == of->time ? image->time_first
                         : axis < 0    ? 0
                                       : grid_level_position(level, axis, 0);
    }
    snprintf(path, sizeof(path), "%d", level->level);
    json_out_open(out, '{');
    put_pair(out, "path", path);
    json_out_key(out, "coordinateTransformations");
    json_out_open(out, '[');
    put_transformation(out, "scale", scale, of->array.ndims);
    put_transformation(out, "translation", translation, of->array.ndims);
    json_out_close(out, ']');
    json_out_close(out, '}');
}

static void put_multiscales(struct json_out *out, const struct image *image)
{
    struct grid_level level;
    struct grid_array of;

    json_out_key(out, "multiscales");
    json_out_open(out, '[');
    json_out_open(out, '{');
    if (!image->v3)
        put_pair(out, "version", "0.4");
    put_pair(out, "name", image->name);
    put_pair(out, "type", image->values.averages ? "mean" : "subsampling");
    if (get_level(&level, &of, image, 0))
        put_axes(out, &of, image);
    json_out_key(out, "datasets");
    json_out_open(out, '[');
    for (int k = 0; k < image->levels && !out->failed; k++)
        if (get_level(&level, &of, image, k))
            put_dataset(out, &level, &of, image);
    json_out_close(out, ']');
    json_out_close(out, '}');
    json_out_close(out, ']');
}

static void put_channel(struct json_out *out, const struct image *image, int c)
{
    static const char *const colors[] = {"FF0000", "00FF00", "0000FF"};
    bool several = image->values.components > 1;
    double low = 0, high = 1;
    bouma_range range;
    char label[320];

    if (!bouma_variable_range(&range, image->variable, c) && !range.empty &&
        isfinite(range.low) && isfinite(range.high) && range.low < range.high) {
        low = range.low;
        high = range.high;
    }
    snprintf(label, sizeof(label), several ? "%s[%d]" : "%s", image->name, c);
    json_out_open(out, '{');
    put_pair(out, "label", label);
    put_pair(out, "color", several && c < 3 ? colors[c] : "FFFFFF");
    json_out_key(out, "active");
    json_out_bool(out, c < 3);
    json_out_key(out, "window");
    json_out_open(out, '{');
    for (int i = 0; i < 4; i++) {
        static const char *const keys[] = {"min", "max", "start", "end"};

        json_out_key(out, keys[i]);
        json_out_number(out, i % 2 ? high : low);
    }
    json_out_close(out, '}');
    json_out_close(out, '}');
}

/* How viewers show it at first: the range of the example. */
static void put_omero(struct json_out *out, const struct image *image)
{
    json_out_key(out, "omero");
    json_out_open(out, '{');
    json_out_key(out, "channels");
    json_out_open(out, '[');
    for (int c = 0; c < image->values.components && !out->failed; c++)
        put_channel(out, image, c);
    json_out_close(out, ']');
    json_out_key(out, "rdefs");
    json_out_open(out, '{');
    put_pair(out, "model",
             image->values.components > 1 ? "color" : "greyscale");
    json_out_close(out, '}');
    json_out_close(out, '}');
}

/* What OME-Zarr has no place for: among it, if values are not sent as they are
 * stored. */
static void put_own(struct json_out *out, const struct image *image)
{
    struct grid_level level;
    struct grid_array of;

    json_out_key(out, "bouma");
    json_out_open(out, '{');
    put_pair(out, "grid", image->object);
    put_pair(out, "variable", image->name);
    if (image->values.unit && image->values.unit[0])
        put_pair(out, "unit", image->values.unit);
    put_pair(out, "stored_type", bouma_type_name(image->values.type));
    if (get_level(&level, &of, image, 0)) {
        put_pair(out, "type", bouma_type_name(of.array.type));
        json_out_key(out, "rounded");
        json_out_bool(out, of.sent != SENT_OWN);
    }
    json_out_key(out, "attributes");
    json_out_attributes(out, bouma_variable_attributes(image->variable));
    json_out_close(out, '}');
}

static void put_attributes(struct json_out *out, const struct image *image)
{
    json_out_open(out, '{');
    if (image->v3) {
        json_out_key(out, "ome");
        json_out_open(out, '{');
        put_pair(out, "version", "0.5");
    }
    put_multiscales(out, image);
    put_omero(out, image);
    if (image->v3)
        json_out_close(out, '}');
    put_own(out, image);
    json_out_close(out, '}');
}

static void put_group_v2(struct json_out *out)
{
    json_out_open(out, '{');
    json_out_key(out, "zarr_format");
    json_out_integer(out, 2);
    json_out_close(out, '}');
}

static void put_group_v3(struct json_out *out, const struct image *image)
{
    json_out_open(out, '{');
    json_out_key(out, "zarr_format");
    json_out_integer(out, 3);
    put_pair(out, "node_type", "group");
    json_out_key(out, "attributes");
    put_attributes(out, image);
    json_out_close(out, '}');
}

static void put_array_v3(struct json_out *out, const struct zarr_array *array)
{
    json_out_open(out, '{');
    zarr_put_v3(out, array);
    json_out_key(out, "attributes");
    json_out_open(out, '{');
    json_out_close(out, '}');
    json_out_close(out, '}');
}

static void put_consolidated(struct json_out *out, const struct image *image)
{
    struct grid_level level;
    struct grid_array of;
    char key[24];

    json_out_open(out, '{');
    json_out_key(out, "zarr_consolidated_format");
    json_out_integer(out, 1);
    json_out_key(out, "metadata");
    json_out_open(out, '{');
    json_out_key(out, ".zgroup");
    put_group_v2(out);
    json_out_key(out, ".zattrs");
    put_attributes(out, image);
    for (int k = 0; k < image->levels && !out->failed; k++) {
        if (!get_level(&level, &of, image, k))
            continue;
        snprintf(key, sizeof(key), "%d/.zarray", k);
        json_out_key(out, key);
        zarr_put_v2(out, &of.array);
    }
    json_out_close(out, '}');
    json_out_close(out, '}');
}

/* ---- keys ---------------------------------------------------------------- */

static void no_key(const struct image *image, struct answer *answer)
{
    answer_fail(answer, 404, BOUMA_ENOTFOUND,
                "there is no such key; %s tells what there is",
                image->v3 ? "zarr.json" : ".zattrs");
}

static void answer_root(const struct image *image, const char *key,
                        struct answer *answer)
{
    struct json_out out;

    json_out_init(&out, answer->memory, answer->limit);
    if (image->v3 && strcmp(key, "zarr.json") == 0)
        put_group_v3(&out, image);
    else if (!image->v3 && strcmp(key, ".zgroup") == 0)
        put_group_v2(&out);
    else if (!image->v3 && strcmp(key, ".zattrs") == 0)
        put_attributes(&out, image);
    else if (!image->v3 && strcmp(key, ".zmetadata") == 0)
        put_consolidated(&out, image);
    else {
        no_key(image, answer);
        return;
    }
    answer_put_json(answer, &out);
}

static void answer_level(const struct image *image, int k,
                         const struct request *request, struct answer *answer)
{
    const char *const *parts = request->rest + 1;
    size_t count = request->rest_count - 1;
    int64_t chunk[ZARR_AXES];
    struct grid_level level;
    struct grid_array of;
    struct json_out out;

    json_out_init(&out, answer->memory, answer->limit);
    if (!get_level(&level, &of, image, k)) {
        no_key(image, answer);
    } else if (count == 1 &&
               strcmp(parts[0], image->v3 ? "zarr.json" : ".zarray") == 0) {
        if (image->v3)
            put_array_v3(&out, &of.array);
        else
            zarr_put_v2(&out, &of.array);
        answer_put_json(answer, &out);
    } else if (count && image->v3 && strcmp(parts[0], "c") == 0 &&
               zarr_chunk_find(chunk, &of.array, parts + 1, count - 1)) {
        grid_view_answer(request, answer, &image->run, &of, &level,
                         image->object, image->name, chunk);
    } else if (!image->v3 && zarr_chunk_find(chunk, &of.array, parts, count)) {
        grid_view_answer(request, answer, &image->run, &of, &level,
                         image->object, image->name, chunk);
    } else {
        no_key(image, answer);
    }
}

/* The time from one step to the next, if it is always the same; else time is
 * counted in steps. */
static void choose_times(struct image *image)
{
    bouma_step_info first = {.size = sizeof(first)}, at = first;
    int64_t count = image->run.one ? 0 : image->run.count;

    image->time_step = 1;
    image->time_first = 0;
    if (count < 2)
        return;
    bouma_dataset_step_get(&first, image->run.ds, 0);
    bouma_dataset_step_get(&at, image->run.ds, 1);
    image->time_step = at.time - first.time;
    image->time_first = first.time;
    for (int64_t i = 0; i < count; i++) {
        double even = first.time + image->time_step * (double)i;

        bouma_dataset_step_get(&at, image->run.ds, i);
        if (!(image->time_step > 0 && isfinite(even) &&
              fabs(at.time - even) <= 1e-6 * image->time_step)) {
            image->time_step = 1;
            image->time_first = 0;
            return;
        }
    }
}

static bool open_image(struct image *out, const struct request *request,
                       struct answer *answer)
{
    bouma_grid_info about = {.size = sizeof(about)};

    out->object = request->names[1];
    out->name = request->names[2];
    out->values.size = sizeof(out->values);
    if (!view_run_open(&out->run, request, answer, request->names[0]) ||
        !view_run_example(&out->step, &out->run, request, answer, out->object,
                          out->name))
        return false;
    out->grid = bouma_step_find_grid(out->step.step, out->object);
    out->variable = bouma_grid_find_variable(out->grid, out->name);
    bouma_grid_info_get(&about, out->grid);
    bouma_variable_info_get(&out->values, out->variable);
    out->unit = length_unit_find(about.unit);
    out->ndims = about.ndims;
    out->levels = about.levels;
    if (about.ndims >= 2)
        return true;
    answer_fail(answer, 404, BOUMA_ENOTFOUND,
                "'%.100s' has one axis, and images have two or three; "
                "/zarr has it",
                out->object);
    return false;
}

static void answer_image(struct request *request, struct answer *answer,
                         bool v3)
{
    struct image image = {.v3 = v3};
    char level[12];

    if (!open_image(&image, request, answer))
        return;
    if (request->rest_count < 2) {
        choose_times(&image);
        answer_root(&image, request->rest_count ? request->rest[0] : "",
                    answer);
        return;
    }
    for (int k = 0; k < image.levels; k++) {
        snprintf(level, sizeof(level), "%d", k);
        if (strcmp(level, request->rest[0]) == 0) {
            answer_level(&image, k, request, answer);
            return;
        }
    }
    no_key(&image, answer);
}

static void answer_with_tag(struct request *request, struct answer *answer,
                            bool v3)
{
    answer_image(request, answer, v3);
    if (!answer->etag[0]) /* a chunk has that of its step */
        request_tag_body(request, answer);
}

void route_ome(struct request *request, struct answer *answer)
{
    answer_with_tag(request, answer, true);
}

void route_ome2(struct request *request, struct answer *answer)
{
    answer_with_tag(request, answer, false);
}
