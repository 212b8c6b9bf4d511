/* view_zarr.c -- /zarr/RUN/OBJECT/: a grid over time, as groups of Zarr version
 * 2: one for each level, with coordinates, as xarray opens it, and one of all.
 *
 *     .zgroup .zattrs .zmetadata
 *     K/.zgroup .zattrs .zmetadata
 *     K/time/  step/  z/  y/  x/  VARIABLE/      .zarray .zattrs 0.0.0.0
 */
#include <stdio.h>
#include <string.h>

#include "grid_view.h"
#include "route.h"

/* Times come in chunks of a fixed length, so that one can grow behind the shape
 * that a client knows. */
#define TIME_CHUNK 4096
#define AXIS_CHUNK 65536

/* A grid, in the step that is the example for all, and a level of it. */
struct group {
    struct view_run run;
    struct read_step step;
    const char *object;
    bouma_grid *grid;
    bouma_grid_info about;
    int level; /* -1: the group of all */
};

/* ---- arrays -------------------------------------------------------------- */

enum member_kind { MEMBER_TIME, MEMBER_STEP, MEMBER_AXIS, MEMBER_VARIABLE };

struct member {
    enum member_kind kind;
    int axis;
    const char *name;
    bouma_variable *variable; /* for an axis: any of the grid */
    struct grid_level level;
    struct grid_array of; /* of a variable */
    struct zarr_array array;
};

static bool is_present(bouma_variable *variable)
{
    bouma_variable_info values = {.size = sizeof(values)};

    return variable && !bouma_variable_info_get(&values, variable) &&
           values.present;
}

/* "time", "step", or the name of an axis. */
static bool find_coordinate(struct member *out, const struct group *group,
                            const char *name)
{
    *out = (struct member){.array = {.type = BOUMA_TYPE_F64}};
    if (strcmp(name, "time") == 0 || strcmp(name, "step") == 0) {
        out->kind = name[0] == 't' ? MEMBER_TIME : MEMBER_STEP;
        out->name = name[0] == 't' ? "time" : "step";
        if (out->kind == MEMBER_STEP)
            out->array.type = BOUMA_TYPE_I64;
        zarr_add_axis(&out->array, "time", group->run.count, TIME_CHUNK);
        return true;
    }
    for (int i = 0; i < group->about.ndims; i++) {
        const char *axis = grid_axis_name(group->about.ndims, i);
        bouma_variable *any = bouma_grid_variable(group->grid, 0);
        int64_t length;

        if (strcmp(name, axis) != 0 || !any ||
            grid_level_get(&out->level, group->grid, any, group->level))
            continue;
        out->kind = MEMBER_AXIS;
        out->axis = i;
        out->name = axis;
        length = out->level.shape[i];
        zarr_add_axis(&out->array, axis, length,
                      length > AXIS_CHUNK ? AXIS_CHUNK
                      : length > 0        ? length
                                          : 1);
        return true;
    }
    return false;
}

static bool find_variable(struct member *out, const struct group *group,
                          bouma_variable *variable)
{
    bouma_variable_info values = {.size = sizeof(values)};

    if (!is_present(variable) || bouma_variable_info_get(&values, variable) ||
        find_coordinate(out, group, values.name))
        return false;
    *out = (struct member){
        .kind = MEMBER_VARIABLE, .name = values.name, .variable = variable};
    if (grid_level_get(&out->level, group->grid, variable, group->level))
        return false;
    grid_array_init(&out->of, &out->level, group->run.count, GRID_AXES_CF);
    out->array = out->of.array;
    return true;
}

static bool find_member(struct member *out, const struct group *group,
                        const char *name)
{
    return find_coordinate(out, group, name) ||
           find_variable(out, group,
                         bouma_grid_find_variable(group->grid, name));
}

/* ---- metadata ------------------------------------------------------------ */

static void put_pair(struct json_out *out, const char *key, const char *text)
{
    json_out_key(out, key);
    json_out_text(out, text);
}

static void put_zgroup(struct json_out *out)
{
    json_out_open(out, '{');
    json_out_key(out, "zarr_format");
    json_out_integer(out, 2);
    json_out_close(out, '}');
}

static void put_group_attributes(struct json_out *out,
                                 const struct group *group)
{
    static const char *const own[] = {"grid", "level", "coordinates", NULL};
    const bouma_attributes *of_grid = bouma_grid_attributes(group->grid);

    json_out_open(out, '{');
    json_out_members(out, bouma_dataset_attributes(group->run.ds), of_grid,
                     own);
    json_out_members(out, of_grid, NULL, own);
    put_pair(out, "grid", group->object);
    if (group->level >= 0) {
        json_out_key(out, "level");
        json_out_integer(out, group->level);
        /* The others are those of axes. */
        put_pair(out, "coordinates", "step");
    }
    json_out_close(out, '}');
}

static void put_variable_attributes(struct json_out *out,
                                    bouma_variable *variable)
{
    static const char *const own[] = {"_ARRAY_DIMENSIONS", "_FillValue", NULL};
    const bouma_attributes *attributes = bouma_variable_attributes(variable);
    bouma_variable_info values = {.size = sizeof(values)};
    bouma_attribute units = {.size = sizeof(units)};

    json_out_members(out, attributes, NULL, own);
    bouma_variable_info_get(&values, variable);
    if (values.unit && values.unit[0] &&
        bouma_attributes_find(&units, attributes, "units"))
        put_pair(out, "units", values.unit);
}

static void put_attributes(struct json_out *out, const struct group *group,
                           const struct member *member)
{
    static const char *const axes[] = {"Z", "Y", "X"};

    json_out_open(out, '{');
    json_out_key(out, "_ARRAY_DIMENSIONS");
    json_out_open(out, '[');
    for (int i = 0; i < member->array.ndims; i++)
        json_out_text(out, member->array.names[i]);
    json_out_close(out, ']');
    switch (member->kind) {
    case MEMBER_TIME:
        put_pair(out, "standard_name", "time");
        break;
    case MEMBER_STEP:
        put_pair(out, "long_name", "number of the step");
        break;
    case MEMBER_AXIS:
        put_pair(out, "axis",
                 axes[GRID_VIEW_DIMS - group->about.ndims + member->axis]);
        if (group->about.unit && group->about.unit[0])
            put_pair(out, "units", group->about.unit);
        break;
    case MEMBER_VARIABLE:
        put_variable_attributes(out, member->variable);
    }
    json_out_close(out, '}');
}

/* The key of what lies below a group: 'above' is "", or "K/". */
static void put_key(struct json_out *out, const char *above, const char *name,
                    const char *key)
{
    char text[320];

    snprintf(text, sizeof(text), "%s%s%s%s", above, name, name[0] ? "/" : "",
             key);
    json_out_key(out, text);
}

static void put_member(struct json_out *out, const struct group *group,
                       const char *above, const struct member *member)
{
    put_key(out, above, member->name, ".zarray");
    zarr_put_v2(out, &member->array);
    put_key(out, above, member->name, ".zattrs");
    put_attributes(out, group, member);
}

static void put_group(struct json_out *out, const struct group *group,
                      const char *above)
{
    put_key(out, above, "", ".zgroup");
    put_zgroup(out);
    put_key(out, above, "", ".zattrs");
    put_group_attributes(out, group);
}

/* A level, and all that is in it. */
static void put_level(struct json_out *out, const struct group *group,
                      const char *above)
{
    static const char *const coordinates[] = {"time", "step", "z", "y", "x"};
    struct member member;

    put_group(out, group, above);
    for (size_t i = 0; i < sizeof(coordinates) / sizeof(*coordinates); i++)
        if (find_coordinate(&member, group, coordinates[i]))
            put_member(out, group, above, &member);
    for (int i = 0; i < group->about.variables && !out->failed; i++)
        if (find_variable(&member, group, bouma_grid_variable(group->grid, i)))
            put_member(out, group, above, &member);
}

static void put_all(struct json_out *out, const struct group *group)
{
    struct group level = *group;

    json_out_open(out, '{');
    json_out_key(out, "zarr_consolidated_format");
    json_out_integer(out, 1);
    json_out_key(out, "metadata");
    json_out_open(out, '{');
    if (group->level >= 0)
        put_level(out, group, "");
    else
        put_group(out, group, "");
    for (level.level = 0;
         group->level < 0 && level.level < group->about.levels && !out->failed;
         level.level++) {
        char above[16];

        snprintf(above, sizeof(above), "%d/", level.level);
        put_level(out, &level, above);
    }
    json_out_close(out, '}');
    json_out_close(out, '}');
}

/* ---- coordinates --------------------------------------------------------- */

/* The i-th value of a coordinate, as the 8 bytes that are sent. */
static void put_coordinate(void *to, const struct group *group,
                           const struct member *member, int64_t i)
{
    bouma_step_info info = {.size = sizeof(info)};
    double position;

    if (member->kind == MEMBER_AXIS) {
        position = grid_level_position(&member->level, member->axis, i);
        memcpy(to, &position, sizeof(position));
        return;
    }
    if (group->run.one) {
        info.step = group->step.number;
        info.time = group->step.time;
    } else {
        bouma_dataset_step_get(&info, group->run.ds, i);
    }
    if (member->kind == MEMBER_TIME)
        memcpy(to, &info.time, sizeof(info.time));
    else
        memcpy(to, &info.step, sizeof(info.step));
}

static void answer_coordinate(const struct group *group,
                              const struct member *member, int64_t chunk,
                              struct answer *answer)
{
    int64_t length = member->array.chunk[0], shape;
    char *body;

    answer->head = false; /* its tag needs the values */
    body = answer_body(answer, ANSWER_BYTES, zarr_chunk_bytes(&member->array));
    if (!body)
        return;
    memset(body, 0, (size_t)length * 8);
    zarr_chunk_shape(&shape, &member->array, &chunk);
    for (int64_t i = 0; i < shape; i++)
        put_coordinate(body + i * 8, group, member, chunk * length + i);
}

/* ---- keys ---------------------------------------------------------------- */

static void no_key(struct answer *answer)
{
    answer_fail(answer, 404, BOUMA_ENOTFOUND,
                "there is no such key; .zmetadata lists the arrays");
}

static void answer_group(const struct group *group, const char *key,
                         struct answer *answer)
{
    struct json_out out;

    json_out_init(&out, answer->memory, answer->limit);
    if (strcmp(key, ".zgroup") == 0)
        put_zgroup(&out);
    else if (strcmp(key, ".zattrs") == 0)
        put_group_attributes(&out, group);
    else if (strcmp(key, ".zmetadata") == 0)
        put_all(&out, group);
    else {
        no_key(answer);
        return;
    }
    answer_put_json(answer, &out);
}

static void answer_member(const struct group *group,
                          const struct member *member, const char *key,
                          const struct request *request, struct answer *answer)
{
    int64_t chunk[ZARR_AXES];
    struct json_out out;

    json_out_init(&out, answer->memory, answer->limit);
    if (strcmp(key, ".zarray") == 0) {
        zarr_put_v2(&out, &member->array);
        answer_put_json(answer, &out);
    } else if (strcmp(key, ".zattrs") == 0) {
        put_attributes(&out, group, member);
        answer_put_json(answer, &out);
    } else if (!zarr_chunk_find(chunk, &member->array, &key, 1)) {
        no_key(answer);
    } else if (member->kind != MEMBER_VARIABLE) {
        answer_coordinate(group, member, chunk[0], answer);
    } else {
        char name[300];

        /* The name goes with the step that it is from. */
        snprintf(name, sizeof(name), "%s", member->name);
        grid_view_answer(request, answer, &group->run, &member->of,
                         &member->level, group->object, name, chunk);
    }
}

/* The parts of a name that has slashes, as one text. */
static bool join(char *out, size_t room, const char *const *parts, size_t count)
{
    size_t used = 0;

    for (size_t i = 0; i < count && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? "/" : "",
                                 parts[i]);
    return used < room;
}

static bool open_grid(struct group *out, const struct request *request,
                      struct answer *answer)
{
    *out = (struct group){.object = request->names[1],
                          .about = {.size = sizeof(out->about)}};
    if (!view_run_open(&out->run, request, answer, request->names[0]) ||
        !view_run_example(&out->step, &out->run, request, answer, out->object,
                          NULL))
        return false;
    out->grid = bouma_step_find_grid(out->step.step, out->object);
    if (!out->grid || bouma_grid_info_get(&out->about, out->grid)) {
        answer_fail(answer, 404, BOUMA_ENOTFOUND,
                    "'%.100s' is not a grid; see /ept and /annotations",
                    out->object);
        return false;
    }
    out->level = -1;
    return true;
}

static bool find_level(struct group *out, const char *text,
                       struct answer *answer)
{
    for (out->level = 0; out->level < out->about.levels; out->level++) {
        char level[12];

        snprintf(level, sizeof(level), "%d", out->level);
        if (strcmp(level, text) == 0)
            return true;
    }
    answer_fail(answer, 404, BOUMA_ENOTFOUND,
                "the level is '%.20s', but '%.100s' has 0 to %d", text,
                out->object, out->about.levels - 1);
    return false;
}

static void answer_key(struct request *request, struct answer *answer)
{
    size_t count = request->rest_count;
    struct member member;
    struct group group;
    char name[300];

    if (!open_grid(&group, request, answer))
        return;
    if (count == 1 && request->rest[0][0] == '.')
        answer_group(&group, request->rest[0], answer);
    else if (!find_level(&group, count ? request->rest[0] : "", answer))
        return;
    else if (count < 2)
        no_key(answer);
    else if (count == 2)
        answer_group(&group, request->rest[1], answer);
    else if (join(name, sizeof(name), request->rest + 1, count - 2) &&
             find_member(&member, &group, name))
        answer_member(&group, &member, request->rest[count - 1], request,
                      answer);
    else
        no_key(answer);
}

void route_zarr(struct request *request, struct answer *answer)
{
    answer_key(request, answer);
    if (!answer->etag[0]) /* a chunk of a variable has that of its step */
        request_tag_body(request, answer);
}
