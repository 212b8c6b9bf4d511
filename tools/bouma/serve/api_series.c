/* api_series.c -- /api/v1/RUN/series/OBJECT/VARIABLE: one sample of a grid over
 * time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribute_value.h"
#include "reader.h"
#include "route.h"
#include "sized.h"

/* Each step is opened, and some chunks of it are read. */
#define MOST_STEPS 2000

struct series {
    bouma_dataset *ds;
    const char *object, *variable;
    int64_t at[BOUMA_MAX_DIMS];
    int ndims;
    int64_t from, to, every;
    int64_t component; /* -1: all */
    int64_t *steps;    /* [count] */
    double *times;
    int64_t count;
};

static bool read_at(struct series *s, const struct request *request,
                    struct answer *answer)
{
    const char *text = request_text(request, "at");

    for (s->ndims = 1; text && (text = strchr(text, ',')); text++)
        s->ndims++;
    if (!request_text(request, "at") || s->ndims > 3) {
        answer_fail(answer, 400, BOUMA_EINVAL,
                    "at=z,y,x names the sample, with a number for each axis");
        return false;
    }
    return request_integers(request, answer, "at", s->at, s->ndims);
}

static bool read_steps(struct series *s, const struct request *request,
                       struct answer *answer)
{
    s->to = INT64_MAX;
    s->every = 1;
    s->component = -1;
    return request_integer(request, answer, "from", 0, INT64_MAX, &s->from) &&
           request_integer(request, answer, "to", 0, INT64_MAX, &s->to) &&
           request_integer(request, answer, "every", 1, INT64_MAX, &s->every) &&
           request_integer(request, answer, "component", 0, INT32_MAX,
                           &s->component);
}

/* Which steps are asked for: their numbers are copied, as the list may change
 * when they are opened. */
static bool choose_steps(struct series *s, struct answer *answer)
{
    bouma_step_info info = {.size = sizeof(info)};
    int64_t seen = 0, total = bouma_dataset_step_count(s->ds);

    if (total < 0) {
        answer_fail_status(answer, BOUMA_EIO, bouma_error_message(s->ds));
        return false;
    }
    s->steps = calloc(MOST_STEPS, sizeof(*s->steps));
    s->times = calloc(MOST_STEPS, sizeof(*s->times));
    if (!s->steps || !s->times) {
        answer_fail_status(answer, BOUMA_ENOMEM, NULL);
        return false;
    }
    for (int64_t i = 0; i < total; i++) {
        bouma_dataset_step_get(&info, s->ds, i);
        if (info.step < s->from || info.step > s->to || seen++ % s->every)
            continue;
        if (s->count == MOST_STEPS) {
            answer_fail(answer, 413, BOUMA_ELIMIT,
                        "more than %d steps; choose by from=, to= and every=",
                        MOST_STEPS);
            return false;
        }
        s->steps[s->count] = info.step;
        s->times[s->count++] = info.time;
    }
    return true;
}

/* The sample, if the grid has it and the variable such a component. */
static bool has_sample(const struct series *s, bouma_grid *grid,
                       bouma_variable *variable, bouma_box *box,
                       bouma_variable_info *values)
{
    bouma_grid_info about = {.size = sizeof(about)};

    if (!grid || !variable || bouma_grid_info_get(&about, grid) ||
        bouma_variable_info_get(SIZED(values), variable) ||
        about.ndims != s->ndims || !values->present ||
        s->component >= values->components)
        return false;
    for (int i = 0; i < s->ndims; i++) {
        box->lo[i] = s->at[i];
        box->hi[i] = s->at[i] + 1;
        if (s->at[i] < 0 || s->at[i] >= about.shape[i])
            return false;
    }
    return true;
}

static void put_components(struct json_out *out, const struct series *s,
                           const bouma_variable_info *values, const void *data)
{
    bouma_attribute as = {.type = values->type, .values = data};

    if (s->component >= 0 || values->components == 1) {
        json_out_value(
            out,
            attribute_value(&as, s->component < 0 ? 0 : (size_t)s->component));
        return;
    }
    json_out_open(out, '[');
    for (int c = 0; c < values->components; c++)
        json_out_value(out, attribute_value(&as, (size_t)c));
    json_out_close(out, ']');
}

static int put_value(struct json_out *out, const struct series *s,
                     int64_t number)
{
    bouma_variable_info values = {.size = sizeof(values)};
    bouma_variable *variable = NULL;
    bouma_step *step = NULL;
    bouma_grid *grid = NULL;
    bouma_box box = {{0}, {0}};
    double room[64]; /* aligned for all types */
    size_t bytes;
    int rc = bouma_step_open(&step, s->ds, number);

    if (!rc)
        grid = bouma_step_find_grid(step, s->object);
    if (grid)
        variable = bouma_grid_find_variable(grid, s->variable);
    if (!rc && has_sample(s, grid, variable, &box, &values)) {
        bytes = (size_t)values.components * bouma_type_size(values.type);
        if (bytes <= sizeof(room)) {
            bouma_array array = BOUMA_ARRAY(values.type, room, bytes);

            rc = bouma_variable_read(variable, 0, &box, &array);
            if (!rc)
                put_components(out, s, &values, room);
        } else {
            rc = BOUMA_ELIMIT;
        }
    } else {
        json_out_null(out);
        rc = rc == BOUMA_ENOMEM ? rc : BOUMA_OK;
    }
    bouma_step_free(step);
    return rc;
}

static void put_series(const struct series *s, struct answer *answer)
{
    struct json_out out;
    int rc = BOUMA_OK;

    json_out_init(&out, answer->memory, answer->limit);
    json_out_open(&out, '{');
    json_out_key(&out, "steps");
    json_out_integers(&out, s->steps, (int)s->count);
    json_out_key(&out, "times");
    json_out_numbers(&out, s->times, (int)s->count);
    json_out_key(&out, "values");
    json_out_open(&out, '[');
    for (int64_t i = 0; i < s->count && !rc; i++)
        rc = put_value(&out, s, s->steps[i]);
    json_out_close(&out, ']');
    json_out_close(&out, '}');
    answer_put_json(answer, &out);
    if (rc)
        answer_fail_status(answer, rc, bouma_error_message(s->ds));
}

void route_api_series(struct request *request, struct answer *answer)
{
    struct series s = {.object = request->names[1],
                       .variable = request->names[2]};

    if (read_at(&s, request, answer) && read_steps(&s, request, answer) &&
        (s.ds = reader_dataset(request->reader, answer, request->names[0])) &&
        choose_steps(&s, answer))
        put_series(&s, answer);
    free(s.steps);
    free(s.times);
}
