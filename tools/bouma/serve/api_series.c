/* api_series.c -- /api/v1/RUN/series/OBJECT/VARIABLE: one sample of a grid over
 * time.
 *
 * The library reads many steps at once, by a variable of one of them, as long
 * as the grid stays the same. The step in which it does not is opened, and its
 * variable stands for those behind. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribute_value.h"
#include "reader.h"
#include "route.h"
#include "sized.h"

/* Of an answer; it tells where the next one begins. */
#define MOST_STEPS 10000
/* Read at once. */
#define PAGE_STEPS 1024
#define MOST_BYTES 512 /* of a sample */

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
    int64_t next; /* the first step that is left out; -1: none */
};

/* The variable of a step that is open. */
struct example {
    bouma_step *step; /* NULL: none */
    bouma_variable *variable;
    bouma_variable_info values;
    bouma_box box;
    size_t bytes; /* of a sample */
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

    s->next = -1;
    if (total < 0) {
        answer_fail_status(answer, BOUMA_EIO, bouma_error_message(s->ds));
        return false;
    }
    s->steps = memory_budget_resize(answer->memory, NULL,
                                    MOST_STEPS * sizeof(*s->steps));
    s->times = memory_budget_resize(answer->memory, NULL,
                                    MOST_STEPS * sizeof(*s->times));
    if (!s->steps || !s->times) {
        answer_fail_status(answer, BOUMA_ENOMEM, NULL);
        return false;
    }
    for (int64_t i = 0; i < total && s->next < 0; i++) {
        bouma_dataset_step_get(&info, s->ds, i);
        if (info.step < s->from || info.step > s->to || seen++ % s->every)
            continue;
        if (s->count == MOST_STEPS) {
            s->next = info.step;
        } else {
            s->steps[s->count] = info.step;
            s->times[s->count++] = info.time;
        }
    }
    return true;
}

/* The sample, if the grid has it and the variable such a component. */
static bool has_sample(const struct series *s, bouma_grid *grid,
                       struct example *example)
{
    bouma_grid_info about = {.size = sizeof(about)};
    bouma_variable_info *values = &example->values;

    if (!grid || !example->variable || bouma_grid_info_get(&about, grid) ||
        bouma_variable_info_get(SIZED(values), example->variable) ||
        about.ndims != s->ndims || !values->present ||
        s->component >= values->components)
        return false;
    example->bytes = (size_t)values->components * bouma_type_size(values->type);
    for (int i = 0; i < s->ndims; i++) {
        example->box.lo[i] = s->at[i];
        example->box.hi[i] = s->at[i] + 1;
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

static void close_example(struct example *example)
{
    bouma_step_free(example->step);
    *example = (struct example){0};
}

/* Open a step: the example has none if that has no such sample. */
static int open_example(struct example *example, const struct series *s,
                        int64_t number)
{
    bouma_grid *grid = NULL;
    int rc;

    close_example(example);
    rc = bouma_step_open(&example->step, s->ds, number);
    if (!rc)
        grid = bouma_step_find_grid(example->step, s->object);
    if (grid)
        example->variable = bouma_grid_find_variable(grid, s->variable);
    if (rc || !has_sample(s, grid, example))
        close_example(example);
    if (example->bytes > MOST_BYTES) {
        close_example(example);
        return BOUMA_ELIMIT;
    }
    return rc == BOUMA_ENOMEM ? rc : BOUMA_OK;
}

/* The samples of steps from number 'first' on, up to a page of them, that lie
 * as the example: *done of them. */
static int read_page(size_t *done, void *page, const struct series *s,
                     const struct example *example, int64_t first)
{
    size_t count =
        s->count - first < PAGE_STEPS ? (size_t)(s->count - first) : PAGE_STEPS;
    bouma_array array = BOUMA_ARRAY(example->values.type, page,
                                    PAGE_STEPS * (size_t)MOST_BYTES);
    bouma_series series = {.size = sizeof(series),
                           .steps = s->steps + first,
                           .step_count = count,
                           .box = &example->box,
                           .array = &array};

    *done = 0;
    return bouma_variable_read_series(done, example->variable, &series);
}

/* The values of steps from *at on, which is moved behind them. If the example
 * gives none, the next step is another grid, has no such sample, or was written
 * again: it is opened. */
static int put_page(struct json_out *out, const struct series *s,
                    struct example *example, char *page, int64_t *at)
{
    size_t done = 0;
    int rc = BOUMA_OK;

    for (int attempt = 0; attempt < 2 && !done && rc != BOUMA_ENOMEM;
         attempt++) {
        if (attempt || !example->step)
            rc = open_example(example, s, s->steps[*at]);
        if (rc && !example->step)
            return rc;
        if (!example->step) {
            json_out_null(out);
            ++*at;
            return BOUMA_OK;
        }
        rc = read_page(&done, page, s, example, *at);
    }
    for (size_t i = 0; i < done; i++)
        put_components(out, s, &example->values, page + i * example->bytes);
    *at += (int64_t)done;
    return done ? BOUMA_OK : rc;
}

static int put_values(struct json_out *out, const struct series *s)
{
    struct example example = {0};
    char *page = memory_budget_resize(out->memory, NULL,
                                      PAGE_STEPS * (size_t)MOST_BYTES);
    int64_t at = 0;
    int rc = page ? BOUMA_OK : BOUMA_ENOMEM;

    json_out_key(out, "values");
    json_out_open(out, '[');
    while (at < s->count && !rc && !out->failed)
        rc = put_page(out, s, &example, page, &at);
    json_out_close(out, ']');
    close_example(&example);
    memory_budget_release(out->memory, page);
    return rc;
}

static void put_series(const struct series *s, struct answer *answer)
{
    struct json_out out;
    int rc;

    json_out_init(&out, answer->memory, answer->limit);
    json_out_open(&out, '{');
    json_out_key(&out, "steps");
    json_out_integers(&out, s->steps, (int)s->count);
    json_out_key(&out, "times");
    json_out_numbers(&out, s->times, (int)s->count);
    rc = put_values(&out, s);
    json_out_key(&out, "next");
    if (s->next < 0)
        json_out_null(&out);
    else
        json_out_integer(&out, s->next);
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
        !answer_is_head(answer, ANSWER_JSON) && choose_steps(&s, answer))
        put_series(&s, answer);
    memory_budget_release(answer->memory, s.steps);
    memory_budget_release(answer->memory, s.times);
}
