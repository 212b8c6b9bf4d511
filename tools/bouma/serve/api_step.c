/* api_step.c -- /api/v1/RUN/STEP: what a step has. */
#include "../locate.h"
#include "reader.h"
#include "route.h"
#include "sized.h"

static void put_unit(struct json_out *out, const char *unit)
{
    json_out_key(out, "unit");
    json_out_text(out, unit && unit[0] ? unit : NULL);
}

/* One for each component; null where there is nothing but NaN. */
static void put_ranges(struct json_out *out, const bouma_variable *variable,
                       int components)
{
    bouma_range range;

    json_out_key(out, "ranges");
    json_out_open(out, '[');
    for (int c = 0; c < components; c++) {
        bool none = bouma_variable_range(&range, variable, c) != BOUMA_OK;

        json_out_open(out, '{');
        json_out_key(out, "low");
        if (none || range.empty)
            json_out_null(out);
        else
            json_out_value(out, range.exact_low);
        json_out_key(out, "high");
        if (none || range.empty)
            json_out_null(out);
        else
            json_out_value(out, range.exact_high);
        json_out_key(out, "nans");
        json_out_count(out, none ? 0 : range.nans);
        json_out_close(out, '}');
    }
    json_out_close(out, ']');
}

static void put_level_bytes(struct json_out *out,
                            const bouma_variable *variable, int levels)
{
    json_out_key(out, "level_bytes");
    json_out_open(out, '[');
    for (int k = 0; k < levels; k++)
        json_out_count(out, bouma_variable_level_bytes(variable, k));
    json_out_close(out, ']');
}

static void put_variable(struct json_out *out, bouma_variable *variable,
                         int levels)
{
    bouma_variable_info about = {.size = sizeof(about)};

    bouma_variable_info_get(&about, variable);
    json_out_open(out, '{');
    json_out_key(out, "name");
    json_out_text(out, about.name);
    json_out_key(out, "present");
    json_out_bool(out, about.present != 0);
    json_out_key(out, "type");
    json_out_text(out, bouma_type_name(about.type));
    json_out_key(out, "components");
    json_out_integer(out, about.components);
    json_out_key(out, "codec");
    json_out_text(out, bouma_codec_name(about.codec));
    put_unit(out, about.unit);
    put_ranges(out, variable, about.components);
    json_out_key(out, "bound");
    json_out_number(out, about.bound);
    json_out_key(out, "largest_error");
    json_out_number(out, about.largest_error);
    json_out_key(out, "averages");
    json_out_bool(out, about.averages != 0);
    json_out_key(out, "raw_bytes");
    json_out_count(out, about.raw_bytes);
    json_out_key(out, "stored_bytes");
    json_out_count(out, about.stored_bytes);
    put_level_bytes(out, variable, levels);
    json_out_key(out, "attributes");
    json_out_attributes(out, bouma_variable_attributes(variable));
    json_out_close(out, '}');
}

static void put_grid(struct json_out *out, bouma_grid *grid)
{
    bouma_grid_info about = {.size = sizeof(about)};

    bouma_grid_info_get(&about, grid);
    json_out_open(out, '{');
    json_out_key(out, "name");
    json_out_text(out, about.name);
    json_out_key(out, "kind");
    json_out_text(out, "grid");
    json_out_key(out, "shape");
    json_out_integers(out, about.shape, about.ndims);
    json_out_key(out, "patch");
    json_out_integers(out, about.patch, about.ndims);
    json_out_key(out, "layout");
    json_out_text(out, bouma_layout_name(about.layout));
    json_out_key(out, "levels");
    json_out_integer(out, about.levels);
    json_out_key(out, "origin");
    json_out_numbers(out, about.origin, about.ndims);
    json_out_key(out, "spacing");
    json_out_numbers(out, about.spacing, about.ndims);
    put_unit(out, about.unit);
    json_out_key(out, "attributes");
    json_out_attributes(out, bouma_grid_attributes(grid));
    json_out_key(out, "variables");
    json_out_open(out, '[');
    for (int i = 0; i < about.variables && !out->failed; i++)
        put_variable(out, bouma_grid_variable(grid, i), about.levels);
    json_out_close(out, ']');
    json_out_close(out, '}');
}

static void put_particles(struct json_out *out, bouma_particles *particles)
{
    bouma_particles_info about = {.size = sizeof(about)};

    bouma_particles_info_get(&about, particles);
    json_out_open(out, '{');
    json_out_key(out, "name");
    json_out_text(out, about.name);
    json_out_key(out, "kind");
    json_out_text(out, "particles");
    json_out_key(out, "count");
    json_out_count(out, about.count);
    json_out_key(out, "strays");
    json_out_count(out, about.strays);
    json_out_key(out, "dims");
    json_out_integer(out, about.ndims);
    json_out_key(out, "low");
    json_out_numbers(out, about.low, about.ndims);
    json_out_key(out, "high");
    json_out_numbers(out, about.high, about.ndims);
    json_out_key(out, "levels");
    json_out_integer(out, about.levels);
    put_unit(out, about.unit);
    json_out_key(out, "attributes");
    json_out_attributes(out, bouma_particles_attributes(particles));
    json_out_key(out, "variables");
    json_out_open(out, '[');
    for (int i = 0; i < particle_variable_count(particles) && !out->failed; i++)
        put_variable(out, particle_variable(particles, i), about.levels);
    json_out_close(out, ']');
    json_out_close(out, '}');
}

static int describe(void *user, const struct read_step *step,
                    const struct request *request, struct answer *answer)
{
    struct json_out out;

    (void)user, (void)request;
    json_out_init(&out, answer->memory, answer->limit);
    json_out_open(&out, '{');
    json_out_key(&out, "step");
    json_out_integer(&out, step->number);
    json_out_key(&out, "time");
    json_out_number(&out, step->time);
    json_out_key(&out, "tag");
    json_out_tag(&out, step->tag);
    json_out_key(&out, "attributes");
    json_out_attributes(&out, bouma_step_attributes(step->step));
    json_out_key(&out, "objects");
    json_out_open(&out, '[');
    for (int i = 0; i < bouma_step_grid_count(step->step) && !out.failed; i++)
        put_grid(&out, bouma_step_grid(step->step, i));
    for (int i = 0; i < bouma_step_particles_count(step->step) && !out.failed;
         i++)
        put_particles(&out, bouma_step_particles(step->step, i));
    json_out_close(&out, ']');
    json_out_close(&out, '}');
    answer_put_json(answer, &out);
    return BOUMA_OK;
}

void route_api_step(struct request *request, struct answer *answer)
{
    reader_with_step(request, answer, request->names[0], request->names[1],
                     describe, NULL);
}
