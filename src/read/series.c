/* series.c -- see series.h. Steps of a simulation mostly lie in files as the one
 * before does. So a step that was opened is aimed at the next one (see
 * bm_step_aim()): one file is opened for it, not two. What the list says of the
 * writing, and what was expected, is then checked with that file. Where that
 * fails the step is opened as any other, and what happens then counts. */
#include "read/series.h"

#include <inttypes.h>
#include <string.h>

#define MOST_MISSES                                                            \
    4 /* in a row: then steps are no longer expected to be alike */

void bm_series_leave(struct bm_series_lane *lane)
{
    bm_step_drop(lane->step);
    lane->step = NULL;
    lane->variable = NULL;
}

/* What is not alike in two steps, or NULL. */
static const char *difference(const struct bouma_variable *a,
                              const struct bouma_variable *b)
{
    const struct bm_object *left = a->object, *right = b->object;

    return left->ndims != right->ndims ||
                   memcmp(&left->domain, &right->domain, sizeof(left->domain))
               ? "the shape of the grid"
           : left->levels != right->levels  ? "the number of levels"
           : a->type != b->type             ? "the type of the variable"
           : a->components != b->components ? "the number of components"
           : bm_variable_averages(a) != bm_variable_averages(b)
               ? "what coarser levels are"
               : NULL;
}

/* The model's counterpart in the step at hand. */
static int find_variable(struct bm_series_lane *lane)
{
    const char *grid = lane->model->object->name, *name = lane->model->name;
    struct bm_object *o = bm_step_find_object(lane->step, grid);
    struct bouma_variable *v =
        o && o->kind == BM_GRID ? bm_object_find_variable(o, name) : NULL;
    struct bm_error *error = &lane->ds->error;
    const char *what = v ? difference(v, lane->model) : NULL;
    uint64_t step = lane->step->manifest.step;

    lane->variable = v;
    if (!v || !v->in_step.present)
        return bm_fail(error, BOUMA_ENOTFOUND,
                       "step %" PRIu64 " has no variable \"%s/%s\"", step, grid,
                       name);
    return what ? bm_fail(error, BOUMA_EMISMATCH,
                          "variable \"%s/%s\": %s is another in step %" PRIu64
                          " than in step %" PRIu64,
                          grid, name, what, step,
                          lane->model->object->schema->step->manifest.step)
                : BOUMA_OK;
}

static int read_box(struct bm_series_lane *lane,
                    const struct bm_read_request *request)
{
    struct bm_read_request r = *request;
    struct bm_lattice l = bm_lattice_of(&r.box, r.level);

    r.variable = lane->variable;
    return bm_lattice_samples(&l)
               ? bm_read_box(r.variable->object->schema->step, &r)
               : BOUMA_OK;
}

/* 1 if that was all; else nothing is known of the step. A failure of the caller's
 * function, or of memory, is one of the call, and is not tried again. */
static int read_as_expected(struct bm_series_lane *lane,
                            const struct bm_step_entry *expected,
                            const struct bm_read_request *request, int *rc)
{
    if (!expected || !lane->variable || lane->misses >= MOST_MISSES ||
        lane->step->manifest.earlier_count)
        return 0;
    bm_step_aim(lane->step, expected);
    *rc = read_box(lane, request);
    lane->misses = *rc ? lane->misses + 1 : 0;
    if (!*rc || *rc == BOUMA_EABORTED || *rc == BOUMA_ENOMEM)
        return 1;
    bm_error_clear(&lane->ds->error);
    return 0;
}

int bm_series_read_step(struct bm_series_lane *lane, uint64_t step,
                        const struct bm_step_entry *expected,
                        const struct bm_read_request *request)
{
    struct bouma_dataset *ds = lane->ds;
    int rc;

    if (read_as_expected(lane, expected, request, &rc))
        return rc;
    bm_series_leave(lane);
    rc = bm_step_open(&lane->step, ds, step);
    if (rc)
        return rc;
    rc = find_variable(lane);
    if (!rc)
        rc = read_box(lane, request);
    if (rc)
        lane->variable = NULL;
    return bm_comm_agree(ds->comm, rc, &ds->error);
}
