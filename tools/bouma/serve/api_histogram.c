/* api_histogram.c -- .../OBJECT/VARIABLE/histogram: how many samples or
 * particles have which values. */
#include <stdlib.h>
#include <string.h>

#include "grid_box.h"
#include "particle_request.h"
#include "route.h"

enum { USUAL_BINS = 64, MOST_BINS = 65536, USUAL_BYTES = 16 << 20 };

struct counting {
    bouma_histogram_spec spec;
    bouma_budget budget;
    bool exact;
    bouma_bin *bins; /* [spec.bins] */
    bouma_histogram about;
};

/* ---- parameters ---------------------------------------------------------- */

static bool read_ends(struct counting *c, const struct request *request,
                      struct answer *answer)
{
    bool low = request_text(request, "low") != NULL;
    bool high = request_text(request, "high") != NULL;

    if (!request_number(request, answer, "low", &c->spec.low) ||
        !request_number(request, answer, "high", &c->spec.high))
        return false;
    if (low != high || (low && !(c->spec.low < c->spec.high))) {
        answer_fail(answer, 400, BOUMA_EINVAL,
                    "low and high are given together, low below high");
        return false;
    }
    return true;
}

static bool read_spec(struct counting *c, const struct request *request,
                      struct answer *answer)
{
    int64_t bins = USUAL_BINS, component = 0, bytes = USUAL_BYTES, exact = 0;

    if (!request_integer(request, answer, "bins", 1, MOST_BINS, &bins) ||
        !request_integer(request, answer, "component", 0, INT32_MAX,
                         &component) ||
        !request_integer(request, answer, "max_bytes", 0, INT64_MAX, &bytes) ||
        !request_integer(request, answer, "exact", 0, 1, &exact) ||
        !read_ends(c, request, answer))
        return false;
    if (exact && request_text(request, "max_bytes")) {
        answer_fail(answer, 400, BOUMA_EINVAL,
                    "exact=1 reads all, and cannot be combined with max_bytes");
        return false;
    }
    c->exact = exact != 0;
    c->spec.size = sizeof(c->spec);
    c->spec.bins = (size_t)bins;
    c->spec.component = (int)component;
    c->spec.index_only = bytes == 0;
    c->budget.size = sizeof(c->budget);
    c->budget.bytes = bytes > 0 && (uint64_t)bytes < request->limits.cost_bytes
                          ? (uint64_t)bytes
                          : request->limits.cost_bytes;
    c->about.size = sizeof(c->about);
    c->bins = calloc(c->spec.bins, sizeof(*c->bins));
    if (!c->bins)
        answer_fail_status(answer, BOUMA_ENOMEM, NULL);
    return c->bins != NULL;
}

/* An exact count of very much is refused. */
static bool is_cheap(const struct counting *c, double cost,
                     const struct request *request, struct answer *answer)
{
    if (!c->exact || cost <= (double)request->limits.cost_bytes)
        return true;
    answer_fail(answer, 413, BOUMA_ELIMIT,
                "%.0f bytes would be decoded for this, and the limit is %llu; "
                "ask without exact=1, or for a smaller box",
                cost, (unsigned long long)request->limits.cost_bytes);
    return false;
}

/* ---- counting ------------------------------------------------------------ */

static int count_grid(struct counting *c, const struct read_step *step,
                      const struct request *request, struct answer *answer)
{
    struct grid_box of;

    if (request_text(request, "where")) {
        answer_fail(answer, 400, BOUMA_EINVAL, "where is for particles only");
        return BOUMA_OK;
    }
    if (!grid_box_find(&of, step, request, answer, request->names[2],
                       request->names[3]) ||
        !is_cheap(c, (double)grid_box_cost(&of.about, &of.values, &of.box, 0),
                  request, answer) ||
        answer_is_head(answer, ANSWER_JSON))
        return BOUMA_OK;
    return bouma_variable_histogram(&c->about, c->bins, of.variable, &c->spec,
                                    &of.box, c->exact ? NULL : &c->budget);
}

/* Of all columns, only that of the variable is read. */
static bool keep_column(struct particle_request *wanted,
                        bouma_variable *variable)
{
    for (size_t i = 0; i < wanted->column_count; i++)
        if (wanted->columns[i].variable == variable) {
            wanted->columns[0] = wanted->columns[i];
            wanted->column_count = 1;
            return true;
        }
    return false;
}

static int count_wanted(struct counting *c, struct particle_request *wanted,
                        const struct request *request, struct answer *answer)
{
    bouma_variable *variable =
        bouma_particles_find_variable(wanted->particles, request->names[3]);
    bouma_particles_query query = wanted->query;
    bouma_bounds nowhere = {.axes = BOUMA_AXES_XYZ};

    if (!variable || !keep_column(wanted, variable)) {
        answer_fail(answer, 404, BOUMA_ENOTFOUND, "%s",
                    variable ? "the step has no data of this variable"
                             : bouma_particles_message(wanted->particles));
        return BOUMA_OK;
    }
    if (!is_cheap(c, particle_request_cost(wanted), request, answer) ||
        answer_is_head(answer, ANSWER_JSON))
        return BOUMA_OK;
    query.variables = NULL;
    query.variable_count = 0;
    query.order = 0;
    query.quality = 0; /* all */
    if (wanted->never)
        query.box = &nowhere;
    return bouma_particles_histogram(&c->about, c->bins, variable, &c->spec,
                                     &query, c->exact ? NULL : &c->budget);
}

static int count_particles(struct counting *c, const struct read_step *step,
                           const struct request *request, struct answer *answer)
{
    struct particle_request wanted;
    int rc = BOUMA_OK;

    if (particle_request_read(&wanted, step, request, answer,
                              request->names[2]))
        rc = count_wanted(c, &wanted, request, answer);
    particle_request_release(&wanted);
    return rc;
}

/* ---- the answer ---------------------------------------------------------- */

static void put_bin(struct json_out *out, const char *name,
                    const bouma_bin *bin)
{
    json_out_key(out, name);
    json_out_open(out, '{');
    json_out_key(out, "estimate");
    json_out_number(out, bin->estimate);
    json_out_key(out, "lower");
    json_out_count(out, bin->lower);
    json_out_key(out, "upper");
    json_out_count(out, bin->upper);
    json_out_key(out, "error");
    json_out_number(out, bin->error);
    json_out_close(out, '}');
}

static void put_edges(struct json_out *out, const struct counting *c)
{
    json_out_key(out, "edges");
    json_out_open(out, '[');
    for (size_t i = 0; i < c->spec.bins; i++)
        json_out_number(out, c->bins[i].low);
    json_out_number(out, c->bins[c->spec.bins - 1].high);
    json_out_close(out, ']');
}

static void put_counts(struct json_out *out, const struct counting *c)
{
    json_out_key(out, "estimate");
    json_out_open(out, '[');
    for (size_t i = 0; i < c->spec.bins; i++)
        json_out_number(out, c->bins[i].estimate);
    json_out_close(out, ']');
    json_out_key(out, "lower");
    json_out_open(out, '[');
    for (size_t i = 0; i < c->spec.bins; i++)
        json_out_count(out, c->bins[i].lower);
    json_out_close(out, ']');
    json_out_key(out, "upper");
    json_out_open(out, '[');
    for (size_t i = 0; i < c->spec.bins; i++)
        json_out_count(out, c->bins[i].upper);
    json_out_close(out, ']');
    json_out_key(out, "error");
    json_out_open(out, '[');
    for (size_t i = 0; i < c->spec.bins; i++)
        json_out_number(out, c->bins[i].error);
    json_out_close(out, ']');
}

static void put_histogram(const struct counting *c, struct answer *answer)
{
    struct json_out out;

    json_out_init(&out, answer->memory, answer->limit);
    json_out_open(&out, '{');
    put_edges(&out, c);
    put_counts(&out, c);
    put_bin(&out, "below", &c->about.below);
    put_bin(&out, "above", &c->about.above);
    put_bin(&out, "all", &c->about.all);
    json_out_key(&out, "exact");
    json_out_bool(&out, c->about.basis == BOUMA_BASIS_EXACT);
    json_out_key(&out, "bytes_read");
    json_out_count(&out, c->about.bytes);
    json_out_close(&out, '}');
    answer_put_json(answer, &out);
}

static int count(void *user, const struct read_step *step,
                 const struct request *request, struct answer *answer)
{
    struct counting c = {0};
    int rc = BOUMA_OK;

    (void)user;
    if (read_spec(&c, request, answer))
        rc = bouma_step_find_particles(step->step, request->names[2])
                 ? count_particles(&c, step, request, answer)
                 : count_grid(&c, step, request, answer);
    if (!rc && answer->code < 400 && !answer->unmeasured)
        put_histogram(&c, answer);
    free(c.bins);
    return rc;
}

void route_api_histogram(struct request *request, struct answer *answer)
{
    reader_with_step(request, answer, request->names[0], request->names[1],
                     count, NULL);
}
