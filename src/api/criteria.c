/* criteria.c -- see criteria.h. */
#include "api/criteria.h"

#include <string.h>

#include "base/bounds.h"
#include "base/value.h"
#include "base/where.h"

/* ---- conditions --------------------------------------------------------- */

int bm_api_not_theirs(const struct bm_object *set, const bouma_variable *v,
                      const char *whose, struct bm_error *error)
{
    const struct bm_object *other = v ? v->object : NULL;
    const char *why = "";

    if (other && !other->schema->step && set->schema->step)
        why = ", of what is being written; find it in the step";
    else if (other && other->schema->step && !set->schema->step)
        why = ", of a step that is read; use the one that was defined";
    else if (other && other->schema != set->schema)
        why = ", of another step or dataset";
    if (!other)
        return bm_fail(error, BOUMA_EINVAL,
                       "particles \"%s\": %s is not one of theirs: it is NULL",
                       set->name, whose);
    return bm_fail(error, BOUMA_EINVAL,
                   "particles \"%s\": %s is not one of theirs: it is "
                   "\"%s/%s\"%s",
                   set->name, whose, other->name, v->name, why);
}

static int check_variable(const struct bm_object *set, const bouma_variable *v,
                          const char *whose, struct bm_error *error)
{
    if (!v || v->object != set)
        return bm_api_not_theirs(set, v, whose, error);
    if (!v->in_step.present && set->particles)
        return bm_fail(error, BOUMA_ENOTFOUND,
                       "variable \"%s/%s\" is not in this step", set->name,
                       v->name);
    return BOUMA_OK;
}

static int check_limit(const bouma_variable *v, const bouma_value *limit,
                       const char *which, struct bm_error *error)
{
    if (!limit->type || bm_value_valid(limit))
        return BOUMA_OK;
    return bm_fail(error, BOUMA_EINVAL,
                   limit->type == BOUMA_TYPE_F64
                       ? "a condition on \"%s/%s\" has NaN as its '%s'"
                       : "a condition on \"%s/%s\": '%s' must be made with "
                         "bouma_value_int(), _uint() or _real()",
                   v->object->name, v->name, which);
}

static int take_condition(struct bm_condition *out, const struct bm_object *set,
                          const bouma_condition *c, struct bm_error *error)
{
    const bouma_variable *v = c->variable;
    int rc = check_variable(set, v, "a condition's variable", error);

    if (rc)
        return rc;
    if (c->component < 0 || c->component >= v->components)
        return bm_fail(error, BOUMA_EINVAL,
                       "a condition asks for component %d of \"%s/%s\", which "
                       "has %d, counted from 0",
                       c->component, set->name, v->name, v->components);
    rc = check_limit(v, &c->low, "low", error);
    if (!rc)
        rc = check_limit(v, &c->high, "high", error);
    if (!rc && !c->low.type && !c->high.type)
        rc = bm_fail(error, BOUMA_EINVAL,
                     "a condition on \"%s/%s\" has neither 'low' nor 'high'",
                     set->name, v->name);
    if (rc)
        return rc;
    out->variable = v;
    out->component = c->component;
    bm_value_span(&out->low, &out->high, v->type, &c->low, &c->high);
    return BOUMA_OK;
}

static int take_conditions(struct bm_asked *out, const struct bm_object *set,
                           const bouma_particles_query *q)
{
    struct bm_error *error = set->schema->error;
    int rc = BOUMA_OK;

    if (!q->conditions != !q->condition_count)
        return bm_fail(error, BOUMA_EINVAL,
                       q->conditions
                           ? "the query has conditions, but 'condition_count' "
                             "is 0; without any, set both to 0"
                           : "the conditions are NULL, but 'condition_count' "
                             "is %zu",
                       q->condition_count);
    if (!q->conditions)
        return BOUMA_OK;
    out->conditions =
        bm_new(set->schema->a, q->condition_count, sizeof(*out->conditions));
    if (!out->conditions)
        return bm_fail(error, BOUMA_ENOMEM, "no memory for a query");
    for (size_t i = 0; i < q->condition_count && !rc; i++) {
        bouma_condition c;

        rc = bm_api_copy_element(error, &c, sizeof(c), q->conditions, i,
                                 "bouma_condition");
        if (!rc)
            rc = take_condition(&out->conditions[i], set, &c, error);
    }
    out->criteria.condition_count = q->condition_count;
    return rc;
}

/* ---- conditions from a text --------------------------------------------- */

/* Compile a text for the variables that a set has: numbers[] are those of
 * them. */
static int compile(struct bm_where *out, const struct bm_object *set,
                   const char *text, struct bm_where_variable *variables,
                   int *numbers)
{
    size_t count = 0;

    for (int i = 0; i < set->count; i++) {
        const bouma_variable *v = set->variables[i];

        if (!v->in_step.present && set->particles)
            continue;
        numbers[count] = i;
        variables[count++] =
            (struct bm_where_variable){v->name, v->type, v->components};
    }
    return bm_where_compile(out, set->schema->a, text, variables, count,
                            set->schema->error);
}

/* Put the groups of a text behind the other conditions. */
static int add_groups(struct bm_asked *out, const struct bm_object *set,
                      const struct bm_where *where, const int *numbers)
{
    size_t n = out->criteria.condition_count;
    struct bm_condition *all = bm_resize(set->schema->a, out->conditions,
                                         n + where->ranges + 1, sizeof(*all));

    if (!all)
        return bm_fail(set->schema->error, BOUMA_ENOMEM,
                       "no memory for a query");
    out->conditions = all;
    for (size_t g = 0; g < where->count; g++)
        for (size_t i = 0; i < where->groups[g].count; i++) {
            const struct bm_where_range *range = &where->groups[g].ranges[i];
            const bouma_variable *v = set->variables[numbers[range->variable]];

            all[n] = (struct bm_condition){
                .variable = v,
                .component = range->component,
                /* What must hold for the only group must hold. */
                .group = where->count > 1 ? (int)g + 1 : 0};
            bm_value_span(&all[n].low, &all[n].high, v->type, &range->low,
                          &range->high);
            n++;
        }
    out->criteria.condition_count = n;
    out->criteria.never = !where->count;
    return BOUMA_OK;
}

/* 'out' may be NULL: only check the text. */
static int take_where(struct bm_asked *out, const struct bm_object *set,
                      const char *text)
{
    const bouma_allocator *a = set->schema->a;
    size_t count = (size_t)set->count;
    struct bm_where_variable *variables = bm_new(a, count, sizeof(*variables));
    int *numbers = bm_new(a, count, sizeof(*numbers));
    struct bm_where where = {.a = a};
    int rc = BOUMA_OK;

    if (!variables || !numbers)
        rc = bm_fail(set->schema->error, BOUMA_ENOMEM, "no memory for a query");
    if (!rc)
        rc = compile(&where, set, text, variables, numbers);
    if (!rc && out)
        rc = add_groups(out, set, &where, numbers);
    bm_where_release(&where);
    bm_drop(a, numbers);
    bm_drop(a, variables);
    return rc;
}

int bm_api_check_where(const struct bm_object *set, const char *text)
{
    return take_where(NULL, set, text);
}

/* ---- the rest ----------------------------------------------------------- */

static int take_box(struct bm_criteria *out, const struct bm_object *set,
                    const bouma_particles_query *q, struct bm_error *error)
{
    bouma_bounds box;
    int rc = BOUMA_OK;

    out->shares = q->shares;
    out->boxed = q->box != NULL;
    if (q->shares && (q->shares != 1 || q->box))
        return bm_fail(
            error, BOUMA_EINVAL,
            "'shares' must be 0 or 1, and cannot be combined with a box");
    if (q->box)
        rc = bm_bounds_take(&box, q->box, BOUMA_AXES_XYZ, set->ndims,
                            "the box of a query", error);
    for (int d = 0; d < set->ndims && q->box && !rc; d++) {
        out->low[d] = box.low[d];
        out->high[d] = box.high[d];
        out->closed = box.closed;
    }
    return rc;
}

static int take_order(struct bm_criteria *out, const bouma_particles_query *q,
                      struct bm_error *error)
{
    out->order = q->order ? q->order : BOUMA_COMPONENT_ORDER_PLANAR;
    if (out->order == BOUMA_COMPONENT_ORDER_PLANAR ||
        out->order == BOUMA_COMPONENT_ORDER_INTERLEAVED)
        return BOUMA_OK;
    return bm_fail(error, BOUMA_EINVAL,
                   "a query: 'order' is %d; it can be "
                   "BOUMA_COMPONENT_ORDER_PLANAR (1) or _INTERLEAVED (2)",
                   (int)q->order);
}

static int take_quality(struct bm_criteria *out, const bouma_particles_query *q,
                        struct bm_error *error)
{
    double quality = q->quality != 0 ? q->quality : 1;

    if (!(q->from >= 0) || !(quality <= 1) || !(q->from <= quality))
        return bm_fail(
            error, BOUMA_EINVAL,
            "a quality from %g to %g; both must be 0 to 1, the lower one first",
            q->from, quality);
    out->from = q->from;
    out->quality = quality;
    return BOUMA_OK;
}

/* All variables that the step has, where the caller names none. */
static int list_variables(struct bm_asked *out, const struct bm_object *set)
{
    size_t count = 0;

    out->variables =
        bm_new(set->schema->a, (size_t)set->count, sizeof(*out->variables));
    if (!out->variables)
        return bm_fail(set->schema->error, BOUMA_ENOMEM,
                       "no memory for a query");
    for (int i = 0; i < set->count; i++)
        if (set->variables[i]->in_step.present || !set->particles)
            out->variables[count++] = set->variables[i];
    out->criteria.variables = out->variables;
    out->criteria.variable_count = count;
    return BOUMA_OK;
}

static int take_variables(struct bm_asked *out, const struct bm_object *set,
                          const bouma_particles_query *q)
{
    struct bm_error *error = set->schema->error;
    int rc = BOUMA_OK;

    if (!q->variables != !q->variable_count)
        return bm_fail(error, BOUMA_EINVAL,
                       q->variables
                           ? "the query has variables, but 'variable_count' is "
                             "0; to return all, set both to 0"
                           : "the variables are NULL, but 'variable_count' is "
                             "%zu",
                       q->variable_count);
    if (!q->variables)
        return list_variables(out, set);
    for (size_t i = 0; i < q->variable_count && !rc; i++) {
        const bouma_variable *v = q->variables[i];

        rc = check_variable(set, v, "a variable that is asked for", error);
        for (size_t k = 0; k < i && !rc; k++)
            if (q->variables[k] == v)
                rc = bm_fail(error, BOUMA_EINVAL,
                             "variable \"%s/%s\" is asked for twice", set->name,
                             v->name);
    }
    out->criteria.variables = q->variables;
    out->criteria.variable_count = q->variable_count;
    return rc;
}

int bm_api_being_written(const struct bm_object *set)
{
    return bm_fail(set->schema->error, BOUMA_ESTATE,
                   "particles \"%s\" are being written; open a step to read",
                   set->name);
}

int bm_asked_init(struct bm_asked *out, const struct bm_object *set,
                  const bouma_particles_query *given)
{
    struct bm_error *error = set->schema->error;
    bouma_particles_query q = {0};
    int rc;

    memset(out, 0, sizeof(*out));
    if (!set->schema->step)
        return bm_api_being_written(set);
    rc = given ? bm_api_copy_spec(error, &q, sizeof(q), given, given->size,
                                  "bouma_particles_query")
               : BOUMA_OK;
    if (!rc)
        rc = take_quality(&out->criteria, &q, error);
    if (!rc)
        rc = take_order(&out->criteria, &q, error);
    if (!rc)
        rc = take_box(&out->criteria, set, &q, error);
    if (!rc)
        rc = take_conditions(out, set, &q);
    if (!rc && q.where) {
        rc = take_where(out, set, q.where);
        if (rc)
            bm_error_prefix(error, "where");
    }
    out->criteria.conditions = out->conditions;
    if (!rc)
        rc = bm_api_check_idle(set->schema->step);
    return rc ? rc : take_variables(out, set, &q);
}

void bm_asked_release(struct bm_asked *asked, const bouma_allocator *a)
{
    bm_drop(a, asked->variables);
    bm_drop(a, asked->conditions);
    memset(asked, 0, sizeof(*asked));
}
