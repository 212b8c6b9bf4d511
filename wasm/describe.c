/* describe.c -- a step and what it has as JSON, for bouma_wasm.h. */
#include <string.h>

#include "dataset.h"

/* The end of a range: exact where the type has integers. */
static void add_value(struct json *j, const char *key, bouma_value value)
{
    if (value.type == BOUMA_TYPE_I64)
        json_integer(j, key, value.i);
    else if (value.type == BOUMA_TYPE_U64)
        json_unsigned(j, key, value.u);
    else
        json_real(j, key, value.f);
}

static int add_ranges(struct bw_dataset *d, const bouma_variable *v,
                      int components)
{
    struct json *j = &d->json;

    json_key(j, "ranges");
    json_add(j, "[");
    for (int c = 0; c < components; c++) {
        bouma_range range;

        if (bw_keep(d, bouma_variable_range(&range, v, c)))
            return d->status;
        json_key(j, NULL);
        json_add(j, "{");
        if (!range.empty) {
            add_value(j, "min", range.exact_low);
            add_value(j, "max", range.exact_high);
        }
        json_unsigned(j, "nans", range.nans);
        json_add(j, "}");
    }
    json_add(j, "]");
    return BOUMA_OK;
}

static int add_variable(struct bw_dataset *d, const bouma_variable *v,
                        int levels)
{
    bouma_variable_info about = {.size = sizeof(about)};
    long long bytes[64];
    struct json *j = &d->json;

    if (bw_keep(d, bouma_variable_info_get(&about, v)))
        return d->status;
    json_key(j, NULL);
    json_add(j, "{");
    json_string(j, "name", about.name);
    json_string(j, "type", bouma_type_name(about.type));
    json_integer(j, "components", about.components);
    json_string(j, "codec", bouma_codec_name(about.codec));
    json_string(j, "unit", about.unit);
    json_key(j, "present");
    json_add(j, about.present ? "true" : "false");
    json_unsigned(j, "raw_bytes", about.raw_bytes);
    json_unsigned(j, "stored_bytes", about.stored_bytes);
    json_real(j, "bound", about.bound);
    json_real(j, "max_error", about.largest_error);
    json_string(j, "coarse_levels", about.averages ? "averages" : "samples");
    for (int i = 0; i < levels && i < 64; i++)
        bytes[i] = (long long)bouma_variable_level_bytes(v, i);
    json_integers(j, "level_bytes", bytes, levels < 64 ? levels : 64);
    if (about.present && add_ranges(d, v, about.components))
        return d->status;
    json_add(j, "}");
    return BOUMA_OK;
}

static int add_grid(struct bw_dataset *d, bouma_grid *grid)
{
    bouma_grid_info about = {.size = sizeof(about)};
    long long shape[BOUMA_MAX_DIMS], patch[BOUMA_MAX_DIMS];
    struct json *j = &d->json;

    if (bw_keep(d, bouma_grid_info_get(&about, grid)))
        return d->status;
    for (int i = 0; i < about.ndims; i++) {
        shape[i] = about.shape[i];
        patch[i] = about.patch[i];
    }
    json_key(j, NULL);
    json_add(j, "{");
    json_string(j, "name", about.name);
    json_string(j, "kind", "grid");
    json_string(j, "layout", bouma_layout_name(about.layout));
    json_integer(j, "levels", about.levels);
    json_integers(j, "shape", shape, about.ndims);
    json_integers(j, "patch", patch, about.ndims);
    json_reals(j, "origin", about.origin, about.ndims);
    json_reals(j, "spacing", about.spacing, about.ndims);
    json_string(j, "unit", about.unit);
    json_key(j, "variables");
    json_add(j, "[");
    for (int i = 0; i < about.variables; i++)
        if (add_variable(d, bouma_grid_variable(grid, i), about.levels))
            return d->status;
    json_add(j, "]}");
    return BOUMA_OK;
}

static int add_particles(struct bw_dataset *d, bouma_particles *p)
{
    bouma_particles_info about = {.size = sizeof(about)};
    struct json *j = &d->json;

    if (bw_keep(d, bouma_particles_info_get(&about, p)))
        return d->status;
    json_key(j, NULL);
    json_add(j, "{");
    json_string(j, "name", about.name);
    json_string(j, "kind", "particles");
    json_integer(j, "levels", about.levels);
    json_unsigned(j, "count", about.count);
    json_unsigned(j, "strays", about.strays);
    json_reals(j, "low", about.low, about.ndims);
    json_reals(j, "high", about.high, about.ndims);
    json_string(j, "unit", about.unit);
    json_key(j, "attributes");
    json_add(j, "[");
    if (add_variable(d, bouma_particles_position(p), about.levels))
        return d->status;
    for (int i = 0; i < about.variables; i++)
        if (add_variable(d, bouma_particles_variable(p, i), about.levels))
            return d->status;
    json_add(j, "]}");
    return BOUMA_OK;
}

const char *bw_step_describe(struct bw_dataset *d, bouma_step *step)
{
    bouma_step_details details = {.size = sizeof(details)};
    struct json *j = &d->json;

    bw_begin(d);
    if (bw_keep(d, bouma_step_details_get(&details, step)))
        return NULL;
    json_add(j, "{");
    json_integer(j, "step", details.step);
    json_real(j, "time", details.time);
    json_key(j, "objects");
    json_add(j, "[");
    for (int i = 0; i < bouma_step_grid_count(step); i++)
        if (add_grid(d, bouma_step_grid(step, i)))
            return NULL;
    for (int i = 0; i < bouma_step_particles_count(step); i++)
        if (add_particles(d, bouma_step_particles(step, i)))
            return NULL;
    json_add(j, "]}");
    return bw_answer(d);
}
