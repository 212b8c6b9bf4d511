/* api_series.c -- the same box of a variable in many steps. */
#include <inttypes.h>
#include <string.h>

#include "api/api.h"
#include "base/hash.h"
#include "read/series.h"

/* What a caller wants, checked: 'request' is that of the first step. */
struct series_request {
    bouma_series given;
    struct bm_read_request request;
    int64_t stride; /* bytes from step to step */
};

/* The bytes of a dense array for a step; of one part, if it has parts. */
static int64_t dense_bytes(const bouma_array *array, const bouma_variable *v,
                           const struct bm_lattice *l)
{
    uint64_t value = bouma_type_size(array->type);

    return (int64_t)(bm_lattice_samples(l) * value *
                     (uint64_t)(array->parts ? 1 : v->components));
}

/* The array of the first step, if those of all steps are in its memory, one
 * behind the other. */
static int take_array(struct series_request *s, const bouma_variable *v,
                      const struct bm_lattice *l)
{
    struct bm_error *error = v->object->schema->error;
    int64_t behind = 0, last = (int64_t)s->given.step_count - 1;
    bouma_array one;
    int rc = bm_api_copy_spec(error, &one, sizeof(one), s->given.array,
                              s->given.array ? s->given.array->size : 0,
                              "bouma_array");

    if (rc)
        return rc;
    s->stride =
        s->given.step_stride ? s->given.step_stride : dense_bytes(&one, v, l);
    if (s->stride < 0 || __builtin_mul_overflow(s->stride, last, &behind) ||
        (uint64_t)behind > one.bytes)
        return bm_fail(error, BOUMA_EINVAL,
                       "the array has %zu bytes, too few for %zu steps, each "
                       "%" PRId64 " bytes behind the one before",
                       one.bytes, s->given.step_count, s->stride);
    one.bytes -= (size_t)behind;
    rc = bm_api_array(&s->request.to, &s->request.apart, &one, v, l->count, 0);
    if (rc)
        bm_error_prefix(error, "the last step");
    if (rc || !last || (uint64_t)s->stride >= one.bytes)
        return rc;
    bm_drop(v->object->schema->a, s->request.apart);
    one.bytes = (size_t)s->stride + (size_t)one.part_offset;
    rc = bm_api_array(&s->request.to, &s->request.apart, &one, v, l->count, 0);
    if (rc)
        bm_error_prefix(error, "steps are %" PRId64 " bytes apart", s->stride);
    return rc;
}

static int take_series(struct series_request *s, const bouma_variable *v,
                       const bouma_series *given)
{
    struct bm_error *error = v->object->schema->error;
    struct bm_lattice l;
    int rc = bm_api_copy_spec(error, &s->given, sizeof(s->given), given,
                              given ? given->size : 0, "bouma_series");

    if (rc)
        return rc;
    if (s->given.step_count && !s->given.steps)
        return bm_fail(error, BOUMA_EINVAL,
                       "steps is NULL, but step_count is %zu",
                       s->given.step_count);
    rc =
        bm_api_check_readable(&s->request.box, v, s->given.level, s->given.box);
    if (rc)
        return rc;
    s->request.variable = v;
    s->request.level = s->given.level;
    l = bm_lattice_of(&s->request.box, s->given.level);
    return s->given.step_count && bm_lattice_samples(&l) ? take_array(s, v, &l)
                                                         : BOUMA_OK;
}

int bouma_variable_read_series(size_t *done, bouma_variable *variable,
                               const bouma_series *given)
{
    BM_STRICT_MATH;
    struct series_request s = {.stride = 0};
    struct bouma_dataset *ds;
    struct bouma_step *step;
    size_t own = 0;
    double begun;
    int rc;

    if (done)
        *done = 0;
    if (!variable)
        return BOUMA_EINVAL;
    step = variable->object->schema->step;
    bm_error_clear(variable->object->schema->error);
    if (!step) /* it is being written: that is told */
        return take_series(&s, variable, given);
    ds = step->ds;
    rc = bm_api_begin(ds, BM_TO_READ);
    if (!rc)
        rc = bm_api_check_together(step);
    if (rc)
        return rc;
    rc = take_series(&s, variable, given);
    rc = bm_comm_begin(ds->comm, "reading a series",
                       bm_hash64(s.given.steps,
                                 rc ? 0 : s.given.step_count * sizeof(int64_t),
                                 s.given.step_count),
                       NULL, rc, &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        bm_fail(&ds->error, rc, "the ranks read different steps");
    begun = bm_trace_now(ds->engine.tracing.trace);
    bm_api_enter_step(step);
    if (!rc)
        rc = bm_series_read(&own,
                            &(struct bm_series){ds, &s.request, s.given.steps,
                                                s.given.step_count, s.stride});
    bm_drop(ds->a, s.request.apart);
    if (done)
        *done = own;
    rc = bm_api_traced(ds, "read series", begun, rc);
    return bm_api_leave_step(step, rc);
}
