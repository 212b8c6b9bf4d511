/* api_histogram.c -- histograms of particles and of grids. */
#include "api/api_budget.h"
#include "api/criteria.h"
#include "read/value_histogram.h"

/* What a caller gives, checked. */
struct wish {
    bouma_histogram_spec spec;
    struct bm_budget budget;
    double low, high;
};

static int check_edges(const bouma_histogram_spec *s, struct bm_error *error)
{
    if (s->low != 0 || s->high != 0)
        return bm_fail(error, BOUMA_EINVAL,
                       "a histogram has edges: 'low' and 'high' must be 0");
    for (size_t i = 0; i < s->bins; i++)
        if (!(s->edges[i] <= s->edges[i + 1]))
            return bm_fail(error, BOUMA_EINVAL,
                           "the edges of a histogram must ascend: number %zu "
                           "is %g, and then comes %g",
                           i, s->edges[i], s->edges[i + 1]);
    return BOUMA_OK;
}

static int check_spec(const bouma_histogram_spec *s, const bouma_variable *v,
                      struct bm_error *error)
{
    if (s->bins < 1 || s->bins > BM_MAX_HISTOGRAM_BINS)
        return bm_fail(error, BOUMA_EINVAL,
                       "a histogram of %zu bins: there can be 1 to %d", s->bins,
                       BM_MAX_HISTOGRAM_BINS);
    if (s->component < 0 || s->component >= v->components)
        return bm_fail(error, BOUMA_EINVAL,
                       "a histogram of component %d of \"%s/%s\", which has "
                       "%d, counted from 0",
                       s->component, v->object->name, v->name, v->components);
    if (s->index_only != 0 && s->index_only != 1)
        return bm_fail(error, BOUMA_EINVAL,
                       "a histogram: 'index_only' is %d; it can be 0 or 1",
                       s->index_only);
    if (s->edges)
        return check_edges(s, error);
    if ((s->low != 0 || s->high != 0) &&
        !(s->low < s->high && s->low >= -DBL_MAX && s->high <= DBL_MAX))
        return bm_fail(error, BOUMA_EINVAL,
                       "a histogram from %g to %g: 'low' must be less than "
                       "'high', and both finite",
                       s->low, s->high);
    return BOUMA_OK;
}

/* All but the query or the box. 'out' is emptied. */
static int take_wish(struct wish *w, bouma_histogram *out,
                     const bouma_bin *bins, const bouma_variable *v,
                     const bouma_histogram_spec *spec,
                     const bouma_budget *budget)
{
    struct bm_error *error = v->object->schema->error;
    int rc;

    if (!out || !bm_reply_begin(out, sizeof(*out)))
        return bm_api_no_output(error, "a histogram");
    if (!bins)
        return bm_api_no_output(error, "the bins of a histogram");
    if (!spec)
        return bm_fail(error, BOUMA_EINVAL,
                       "a histogram: there is no bouma_histogram_spec");
    rc = bm_api_copy_spec(error, &w->spec, sizeof(w->spec), spec, spec->size,
                          "bouma_histogram_spec");
    if (!rc)
        rc = check_spec(&w->spec, v, error);
    if (!rc)
        rc = bm_api_budget(&w->budget, error, budget, NULL);
    if (!rc && w->budget.error >= 0)
        rc = bm_fail(error, BOUMA_EINVAL,
                     "a budget for a histogram has an error; give bytes or "
                     "points");
    return rc;
}

/* The variable can be read: the edges, and memory. 'h' is to be released. */
static int begin(struct bm_histogram *h, struct wish *w, bouma_variable *v,
                 int limited)
{
    int rc = BOUMA_OK;

    *h = (struct bm_histogram){.step = v->object->schema->step,
                               .variable = v,
                               .component = w->spec.component,
                               .index_only = w->spec.index_only,
                               .budget = limited ? &w->budget : NULL};
    w->low = w->spec.low;
    w->high = w->spec.high;
    if (!w->spec.edges && w->low == 0 && w->high == 0)
        rc = bm_histogram_range(v, w->spec.component, &w->low, &w->high);
    return rc ? rc
              : bm_histogram_init(h, w->spec.bins, w->spec.edges, w->low,
                                  w->high);
}

/* The query of a caller, of which only conditions and the box matter. To be
 * released in any case. */
static int take_query(struct bm_asked *asked, bouma_variable *const *variable,
                      const bouma_particles_query *query)
{
    const struct bm_object *set = (*variable)->object;
    bouma_particles_query own = {.size = sizeof(own)};
    struct bm_error *error = set->schema->error;
    int rc = BOUMA_OK;

    *asked = (struct bm_asked){.variables = NULL};
    if (query)
        rc = bm_api_copy_spec(error, &own, sizeof(own), query, query->size,
                              "bouma_particles_query");
    if (!rc && (own.from != 0 || (own.quality != 0 && own.quality != 1)))
        rc = bm_fail(error, BOUMA_EINVAL,
                     "the query of a histogram has a quality; give it a "
                     "budget instead");
    own.size = sizeof(own);
    own.order = BOUMA_COMPONENT_ORDER_PLANAR;
    own.variables = variable;
    own.variable_count = 1;
    if (!rc)
        rc = bm_asked_init(asked, set, &own);
    return rc ? rc : bm_api_check_alone(&asked->criteria, set);
}

/* Each kind of object has its own call. */
static int check_kind(const struct bouma_variable *v, enum bm_object_kind kind)
{
    int is_grid = v->object->kind == BM_GRID;

    if (v->object->kind == kind)
        return BOUMA_OK;
    return bm_fail(v->object->schema->error, BOUMA_EINVAL,
                   "\"%s/%s\" is a variable of %s: use %s()", v->object->name,
                   v->name, is_grid ? "a grid" : "particles",
                   is_grid ? "bouma_variable_histogram"
                           : "bouma_particles_histogram");
}

int bouma_particles_histogram(bouma_histogram *out, bouma_bin *bins,
                              bouma_variable *variable,
                              const bouma_histogram_spec *spec,
                              const bouma_particles_query *query,
                              const bouma_budget *budget)
{
    BM_STRICT_MATH;
    bouma_histogram own = {0};
    struct bm_histogram h = {0};
    struct bm_asked asked = {.variables = NULL};
    struct bouma_step *step;
    struct wish w;
    double begun;
    int rc;

    if (!variable)
        return BOUMA_EINVAL;
    step = variable->object->schema->step;
    bm_error_clear(variable->object->schema->error);
    rc = take_wish(&w, out, bins, variable, spec, budget);
    if (!rc)
        rc = check_kind(variable, BM_PARTICLES);
    if (!rc)
        rc = take_query(&asked, &variable, query);
    bm_api_enter_step(step);
    if (!rc)
        rc = begin(&h, &w, variable, budget != NULL);
    if (!rc) {
        begun = bm_trace_now(step->ds->engine.tracing.trace);
        rc = bm_particle_histogram(&own, bins, &h, &asked.criteria);
        rc = bm_api_traced(step->ds, "histogram", begun, rc);
    }
    if (!rc)
        rc = bm_reply(out, &own, sizeof(own));
    bm_histogram_release(&h);
    bm_asked_release(&asked, variable->object->schema->a);
    return bm_api_leave_step(step, rc);
}

int bouma_variable_histogram(bouma_histogram *out, bouma_bin *bins,
                             bouma_variable *variable,
                             const bouma_histogram_spec *spec,
                             const bouma_box *box, const bouma_budget *budget)
{
    BM_STRICT_MATH;
    bouma_histogram own = {0};
    struct bm_histogram h = {0};
    struct bouma_step *step;
    struct bm_box lifted;
    struct wish w;
    double begun;
    int rc;

    if (!variable)
        return BOUMA_EINVAL;
    step = variable->object->schema->step;
    bm_error_clear(variable->object->schema->error);
    rc = take_wish(&w, out, bins, variable, spec, budget);
    if (!rc)
        rc = check_kind(variable, BM_GRID);
    if (!rc)
        rc = bm_api_check_readable(&lifted, variable, 0, box);
    if (rc)
        return rc;
    bm_api_enter_step(step);
    rc = begin(&h, &w, variable, budget != NULL);
    if (!rc) {
        begun = bm_trace_now(step->ds->engine.tracing.trace);
        rc = bm_grid_histogram(&own, bins, &h, &lifted);
        rc = bm_api_traced(step->ds, "histogram", begun, rc);
    }
    if (!rc)
        rc = bm_reply(out, &own, sizeof(own));
    bm_histogram_release(&h);
    return bm_api_leave_step(step, rc);
}
