/* api_samples.c -- .../OBJECT/VARIABLE/samples: a box of a grid, at a level or
 * within a budget. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grid_box.h"
#include "route.h"
#include "sized.h"

/* What is asked for. */
struct sampling {
    struct grid_box of;
    int level, component;
    struct conversion how;
    bool within; /* a budget is given */
    bouma_budget budget;
};

/* ---- parameters ---------------------------------------------------------- */

static bool read_level(struct sampling *s, const struct request *request,
                       struct answer *answer)
{
    int64_t level = 0;

    if (!request_integer(request, answer, "level", INT64_MIN, INT64_MAX,
                         &level))
        return false;
    if (level < 0 || level >= s->of.about.levels) {
        answer_fail(answer, 400, BOUMA_EINVAL,
                    "level is %" PRId64 ", but '%.100s' has 0 to %d", level,
                    s->of.values.name, s->of.about.levels - 1);
        return false;
    }
    s->level = (int)level;
    return true;
}

static bool read_budget(struct sampling *s, const struct request *request,
                        struct answer *answer)
{
    int64_t bytes = 0, points = 0;

    s->budget.size = sizeof(s->budget);
    s->within = request_text(request, "max_bytes") ||
                request_text(request, "max_points") ||
                request_text(request, "max_error");
    if (s->within && request_text(request, "level")) {
        answer_fail(answer, 400, BOUMA_EINVAL,
                    "level and a budget (max_bytes, max_points, max_error) "
                    "cannot be combined: the budget chooses the level");
        return false;
    }
    if (!request_integer(request, answer, "max_bytes", 1, INT64_MAX, &bytes) ||
        !request_integer(request, answer, "max_points", 1, INT64_MAX,
                         &points) ||
        !request_number(request, answer, "max_error", &s->budget.error))
        return false;
    if (s->budget.error < 0 ||
        (request_text(request, "max_error") && s->budget.error == 0)) {
        answer_fail(answer, 400, BOUMA_EINVAL,
                    "max_error is %g, and must be more than 0",
                    s->budget.error);
        return false;
    }
    s->budget.bytes = (uint64_t)bytes;
    s->budget.points = (uint64_t)points;
    return true;
}

/* The range of the values that are sent, of all components if there are
 * several. */
static void own_range(const struct sampling *s, double *low, double *high)
{
    int first = s->component < 0 ? 0 : s->component;
    int last = s->component < 0 ? s->of.values.components - 1 : s->component;
    bool some = false;

    *low = 0;
    *high = 1;
    for (int c = first; c <= last; c++) {
        bouma_range range;

        if (bouma_variable_range(&range, s->of.variable, c) || range.empty)
            continue;
        *low = some && *low < range.low ? *low : range.low;
        *high = some && *high > range.high ? *high : range.high;
        some = true;
    }
}

static bool read_type(struct sampling *s, const struct request *request,
                      struct answer *answer)
{
    int type;

    if (!request_choice(request, answer, "type", SENT_TYPES, &type))
        return false;
    s->how.to = (enum sent_type)type;
    s->how.from = s->of.values.type;
    if (s->how.to == SENT_U8)
        own_range(s, &s->how.low, &s->how.high);
    if (s->how.to != SENT_U8 &&
        (request_text(request, "low") || request_text(request, "high"))) {
        answer_fail(answer, 400, BOUMA_EINVAL,
                    "low and high are for type=u8 only");
        return false;
    }
    if (!request_number(request, answer, "low", &s->how.low) ||
        !request_number(request, answer, "high", &s->how.high))
        return false;
    if (s->how.to == SENT_U8 && s->how.low > s->how.high) {
        answer_fail(answer, 400, BOUMA_EINVAL, "low is %g, above high, %g",
                    s->how.low, s->how.high);
        return false;
    }
    return true;
}

/* ---- headers ------------------------------------------------------------- */

static void list_numbers(char *text, size_t room, const int64_t *values,
                         int count)
{
    size_t used = 0;

    for (int i = 0; i < count && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%" PRId64,
                                 i ? "," : "", values[i]);
}

static void tell_selection(const struct sampling *s,
                           const bouma_selection *selection, int level,
                           struct answer *answer)
{
    int64_t shape[BOUMA_MAX_DIMS + 1];
    int ndims = selection->ndims;
    char text[200];

    memcpy(shape, selection->shape, (size_t)ndims * sizeof(*shape));
    if (s->component < 0 && s->of.values.components > 1)
        shape[ndims++] = s->of.values.components;
    answer_header(answer, "Bouma-Type", "%s",
                  sent_type_name(s->how.to, s->how.from));
    list_numbers(text, sizeof(text), shape, ndims);
    answer_header(answer, "Bouma-Shape", "%s", text);
    answer_header(answer, "Bouma-Level", "%d", level);
    list_numbers(text, sizeof(text), selection->first, selection->ndims);
    answer_header(answer, "Bouma-First", "%s", text);
    list_numbers(text, sizeof(text), selection->step, selection->ndims);
    answer_header(answer, "Bouma-Spacing", "%s", text);
    if (s->how.to == SENT_U8) {
        answer_header(answer, "Bouma-Low", "%.17g", s->how.low);
        answer_header(answer, "Bouma-High", "%.17g", s->how.high);
    }
}

static void tell_error(double error, const char *kind, struct answer *answer)
{
    if (isfinite(error))
        answer_header(answer, "Bouma-Error", "%.9g", error);
    answer_header(answer, "Bouma-Error-Kind", "%s",
                  isfinite(error) ? kind : "unknown");
}

/* ---- reading ------------------------------------------------------------- */

static int read_at_level(struct sampling *s, const struct read_step *step,
                         const struct request *request, struct answer *answer)
{
    bouma_selection selection = {.size = sizeof(selection)};
    uint64_t before = reader_bytes(step->ds);
    int rc =
        grid_box_read(&s->of, s->level, s->component, s->how, request, answer);

    if (rc || answer->code >= 400)
        return rc;
    bouma_variable_select(&selection, s->of.variable, s->level, &s->of.box);
    tell_selection(s, &selection, s->level, answer);
    /* Samples of a coarse level are as exact as others; averages are not. */
    tell_error(s->level && s->of.values.averages ? INFINITY
                                                 : s->of.values.largest_error,
               "bound", answer);
    answer_header(answer, "Bouma-Complete", "%d", s->level == 0);
    answer_header(answer, "Bouma-Limit", "none");
    if (!answer->head)
        answer_header(answer, "Bouma-Bytes-Read", "%" PRIu64,
                      reader_bytes(step->ds) - before);
    return BOUMA_OK;
}

static int copy_refinement(struct sampling *s, bouma_refinement *refinement,
                           bouma_selection *selection, struct answer *answer)
{
    const bouma_variable_info *values = &s->of.values;
    size_t own = bouma_type_size(values->type);
    size_t components = (size_t)values->components;
    size_t sent = s->component < 0 ? components : 1;
    const void *data;
    uint64_t samples;
    void *body;
    int rc = bouma_refinement_get(&data, selection, NULL, refinement);

    if (rc)
        return rc;
    samples = selection->bytes / (own * components);
    body = answer_body(answer, ANSWER_BYTES,
                       samples * sent * sent_type_size(s->how.to, s->how.from));
    if (!body)
        return BOUMA_OK;
    if (s->component < 0)
        convert_values(body, 1, data, 1, (size_t)samples * components, &s->how);
    else
        convert_values(body, 1, (const char *)data + own * (size_t)s->component,
                       components, (size_t)samples, &s->how);
    return BOUMA_OK;
}

static const char *limit_name(bouma_limit limit)
{
    return limit == BOUMA_LIMIT_BYTES    ? "bytes"
           : limit == BOUMA_LIMIT_POINTS ? "points"
           : limit == BOUMA_LIMIT_ERROR  ? "error"
                                         : "none";
}

static int read_within(struct sampling *s, struct answer *answer)
{
    const bouma_variable_info *values = &s->of.values;
    size_t components = (size_t)values->components;
    size_t sent = (s->component < 0 ? components : 1) *
                  sent_type_size(s->how.to, s->how.from);
    size_t own = components * bouma_type_size(values->type);
    uint64_t most = answer->limit / (own > sent ? own : sent);
    bouma_selection selection = {.size = sizeof(selection)};
    bouma_answer got = {.size = sizeof(got)};
    bouma_refinement *refinement = NULL;
    int rc;

    if (answer_is_head(answer, ANSWER_BYTES))
        return BOUMA_OK;
    if (!s->budget.points || s->budget.points > most)
        s->budget.points = most;
    rc = bouma_refinement_open_within(&refinement, &got, s->of.variable,
                                      &s->of.box, &s->budget);
    if (!rc)
        rc = copy_refinement(s, refinement, &selection, answer);
    bouma_refinement_free(refinement);
    if (rc || answer->code >= 400)
        return rc;
    tell_selection(s, &selection, got.level, answer);
    tell_error(got.error, got.error_is_bound ? "bound" : "measured", answer);
    answer_header(answer, "Bouma-Complete", "%d", got.complete);
    answer_header(answer, "Bouma-Limit", "%s", limit_name(got.limit));
    answer_header(answer, "Bouma-Bytes-Read", "%" PRIu64, got.bytes);
    return BOUMA_OK;
}

static int sample(void *user, const struct read_step *step,
                  const struct request *request, struct answer *answer)
{
    struct sampling s = {0};

    (void)user;
    if (!grid_box_find(&s.of, step, request, answer, request->names[2],
                       request->names[3]) ||
        !read_level(&s, request, answer) || !read_budget(&s, request, answer) ||
        !grid_box_component(&s.component, &s.of, request, answer) ||
        !read_type(&s, request, answer))
        return BOUMA_OK;
    return s.within ? read_within(&s, answer)
                    : read_at_level(&s, step, request, answer);
}

void route_api_samples(struct request *request, struct answer *answer)
{
    reader_with_step(request, answer, request->names[0], request->names[1],
                     sample, NULL);
}
