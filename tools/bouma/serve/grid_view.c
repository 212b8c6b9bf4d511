/* grid_view.c -- grids as Zarr arrays. */
#include "grid_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "grid_box.h"
#include "sized.h"

/* A chunk has no more, if a sample has less. */
#define CHUNK_BYTES (4u << 20)

/* ---- levels and arrays: pure --------------------------------------------- */

int grid_level_get(struct grid_level *out, bouma_grid *grid,
                   bouma_variable *variable, int level)
{
    bouma_selection selection = {.size = sizeof(selection)};
    bouma_grid_info about = {.size = sizeof(about)};
    bouma_variable_info values = {.size = sizeof(values)};
    int rc = bouma_grid_info_get(&about, grid);

    if (!rc)
        rc = bouma_variable_info_get(&values, variable);
    if (!rc)
        rc = bouma_variable_select(&selection, variable, level, NULL);
    if (rc)
        return rc;
    *out = (struct grid_level){.ndims = about.ndims,
                               .components = values.components,
                               .level = level,
                               .levels = about.levels,
                               .type = values.type};
    for (int i = 0; i < about.ndims; i++) {
        out->full[i] = about.shape[i];
        out->patch[i] = about.patch[i];
        out->shape[i] = selection.shape[i];
        out->first[i] = selection.first[i];
        out->step[i] = selection.step[i];
        out->origin[i] = about.origin[i];
        out->spacing[i] = about.spacing[i];
    }
    return BOUMA_OK;
}

const char *grid_axis_name(int ndims, int axis)
{
    static const char *const names[] = {"z", "y", "x"};

    return names[GRID_VIEW_DIMS - ndims + axis];
}

double grid_level_position(const struct grid_level *level, int axis, int64_t i)
{
    return level->origin[axis] +
           level->spacing[axis] *
               (double)(level->first[axis] + level->step[axis] * i);
}

/* Image viewers have neither f64 nor i64. */
static enum sent_type sent_type_of(bouma_type type, enum grid_axes axes)
{
    return axes == GRID_AXES_OME &&
                   (type == BOUMA_TYPE_F64 || type == BOUMA_TYPE_I64)
               ? SENT_F32
               : SENT_OWN;
}

void grid_array_init(struct grid_array *out, const struct grid_level *level,
                     int64_t times, enum grid_axes axes)
{
    bool ome = axes == GRID_AXES_OME, several = level->components > 1;
    int64_t chunk[GRID_VIEW_DIMS], patch[GRID_VIEW_DIMS];
    struct zarr_array *array = &out->array;

    *out = (struct grid_array){.time = -1, .component = -1};
    out->sent = sent_type_of(level->type, axes);
    array->type = out->sent == SENT_F32 ? BOUMA_TYPE_F32 : level->type;
    array->has_slash = ome;
    /* xarray takes the fill value of integers for one that is missing. */
    array->has_fill =
        ome || level->type == BOUMA_TYPE_F32 || level->type == BOUMA_TYPE_F64;
    for (int i = 0; i < level->ndims; i++)
        patch[i] = level->patch[i] / level->step[i];
    zarr_choose_chunk(chunk, level->ndims, level->shape, patch,
                      bouma_type_size(array->type) *
                          (ome ? 1 : (uint64_t)level->components),
                      CHUNK_BYTES);
    if (times) {
        out->time = array->ndims;
        zarr_add_axis(array, ome ? "t" : "time", times, 1);
    }
    if (ome && several) {
        out->component = array->ndims;
        zarr_add_axis(array, "c", level->components, 1);
    }
    out->space = array->ndims;
    for (int i = 0; i < level->ndims; i++)
        zarr_add_axis(array, grid_axis_name(level->ndims, i), level->shape[i],
                      chunk[i]);
    if (!ome && several) {
        out->component = array->ndims;
        zarr_add_axis(array, "component", level->components, level->components);
    }
}

void grid_chunk_of(struct grid_chunk *out, const struct grid_array *array,
                   const struct grid_level *level, const int64_t *chunk)
{
    int64_t shape[ZARR_AXES];

    zarr_chunk_shape(shape, &array->array, chunk);
    *out = (struct grid_chunk){.component = -1};
    if (array->time >= 0)
        out->time = chunk[array->time];
    if (array->component >= 0 && array->component < array->space)
        out->component = (int)chunk[array->component];
    for (int i = 0; i < level->ndims; i++) {
        int axis = array->space + i;
        int64_t first = chunk[axis] * array->array.chunk[axis];
        int64_t last = first + shape[axis] - 1;

        out->box.lo[i] = level->first[i] + first * level->step[i];
        out->box.hi[i] = level->first[i] + last * level->step[i] + 1;
    }
}

/* ---- answers ------------------------------------------------------------- */

struct chunk_work {
    const struct grid_array *array;
    const struct grid_level *level;
    const char *object, *variable;
    const int64_t *index;
};

/* Whether samples lie in a step as in the example. */
static bool is_same(const struct grid_level *level,
                    const struct grid_level *other, enum sent_type sent)
{
    bool same = level->ndims == other->ndims &&
                level->components == other->components &&
                (level->type == other->type || sent == SENT_F32);

    for (int i = 0; same && i < level->ndims; i++)
        same = level->shape[i] == other->shape[i] &&
               level->first[i] == other->first[i] &&
               level->step[i] == other->step[i] &&
               level->full[i] == other->full[i];
    return same;
}

/* A chunk of zeros, for integers that a step does not have: see has_fill. */
static void answer_zeros(const struct chunk_work *w, struct answer *answer)
{
    uint64_t bytes = zarr_chunk_bytes(&w->array->array);
    void *body = answer_body(answer, ANSWER_BYTES, bytes);

    if (body)
        memset(body, 0, bytes);
}

/* Put what was read into a whole chunk. */
static int pad(const struct chunk_work *w, struct answer *answer)
{
    const struct zarr_array *array = &w->array->array;
    uint64_t bytes = zarr_chunk_bytes(array);
    uint64_t expected = bouma_type_size(array->type);
    int64_t shape[ZARR_AXES];
    void *whole;

    zarr_chunk_shape(shape, array, w->index);
    for (int i = 0; i < array->ndims; i++)
        expected *= (uint64_t)shape[i];
    if (answer->bytes != expected) {
        answer_fail(answer, 500, BOUMA_EFORMAT,
                    "a chunk has %zu bytes, not %" PRIu64, answer->bytes,
                    expected);
        return BOUMA_OK;
    }
    if (answer->bytes == bytes || answer->head) {
        answer->bytes = bytes;
        return BOUMA_OK;
    }
    whole = memory_budget_resize(answer->memory, NULL, bytes);
    if (!whole)
        return BOUMA_ENOMEM;
    memset(whole, 0, bytes);
    zarr_chunk_pad(whole, answer->body, array, shape);
    memory_budget_release(answer->memory, answer->body);
    answer->body = whole;
    answer->bytes = bytes;
    return BOUMA_OK;
}

static bool has_values(const struct read_step *step, const struct chunk_work *w)
{
    bouma_variable_info values = {.size = sizeof(values)};
    bouma_grid *grid = bouma_step_find_grid(step->step, w->object);
    bouma_variable *variable =
        grid ? bouma_grid_find_variable(grid, w->variable) : NULL;

    return variable && !bouma_variable_info_get(&values, variable) &&
           values.present;
}

static int read_chunk(void *user, const struct read_step *step,
                      const struct request *request, struct answer *answer)
{
    const struct chunk_work *w = user;
    struct conversion how = {.to = w->array->sent};
    struct grid_level own;
    struct grid_chunk chunk;
    struct grid_box box;
    int rc;

    if (!w->array->array.has_fill && !has_values(step, w)) {
        answer_zeros(w, answer);
        return BOUMA_OK;
    }
    if (!grid_box_find(&box, step, request, answer, w->object, w->variable))
        return BOUMA_OK;
    rc = w->level->level < box.about.levels
             ? grid_level_get(&own, box.grid, box.variable, w->level->level)
             : BOUMA_ENOTFOUND;
    if (rc || !is_same(w->level, &own, how.to)) {
        answer_fail(answer, 409, BOUMA_ESTATE,
                    "'%.100s' is another grid in step %" PRId64
                    " than in the last one; RUN@STEP shows one step",
                    w->object, step->number);
        return BOUMA_OK;
    }
    grid_chunk_of(&chunk, w->array, w->level, w->index);
    box.box = chunk.box;
    rc = grid_box_read(&box, w->level->level, chunk.component, how, request,
                       answer);
    if (rc || answer->code >= 400)
        return rc;
    return pad(w, answer);
}

void grid_view_answer(const struct request *request, struct answer *answer,
                      const struct view_run *run,
                      const struct grid_array *array,
                      const struct grid_level *level, const char *object,
                      const char *variable, const int64_t *chunk)
{
    struct chunk_work w = {array, level, object, variable, chunk};
    int64_t number = view_run_number(
        run, array->time < 0 ? 0 : chunk[array->time], request, answer);
    char step[24];

    if (number < 0)
        return;
    snprintf(step, sizeof(step), "%" PRId64, number);
    reader_with_step(request, answer, run->name, step, read_chunk, &w);
}
