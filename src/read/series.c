/* series.c -- see series.h. Steps of a simulation mostly lie in files as the one
 * before does. So a step that was opened is aimed at the next one (see
 * bm_step_aim()): one file is opened for it, not two. What the list says of the
 * writing, and what was expected, is then checked with that file. Where that
 * fails the step is opened as any other, and what happens then counts. */
#include "read/series.h"

#include <inttypes.h>
#include <string.h>

#define LIST_STEPS  16 /* that are worth a list of all */
#define MOST_MISSES 4  /* in a row: then steps are no longer expected to be alike */

int bm_variable_averages(const struct bouma_variable *v)
{
    const struct bm_object *o = v->object;

    /* Codecs make them of levels that are pieces; tiles, of all. */
    if (bm_object_is_tiled(o))
        return o->levels > 1 && o->layout->tiles->averages(v);
    return bm_pieces(o) > 1 && bm_codec_find((int)v->codec)->averages;
}

int bm_series_begin(struct bm_series *s, size_t steps)
{
    int is_alone = s->ds->comm->size == 1 && s->ds->mode == BM_MODE_READ;

    return is_alone && steps >= LIST_STEPS ? bm_dataset_list(s->ds) : BOUMA_OK;
}

void bm_series_end(struct bm_series *s)
{
    bm_step_drop(s->step);
    s->step = NULL;
    s->variable = NULL;
}

/* What is not alike in two steps, or NULL. */
static const char *difference(const struct bouma_variable *a,
                              const struct bouma_variable *b)
{
    const struct bm_object *left = a->object, *right = b->object;

    return left->ndims != right->ndims ||
                   memcmp(&left->domain, &right->domain, sizeof(left->domain))
               ? "the shape of the grid"
           : left->levels != right->levels ? "the number of levels"
           : a->type != b->type            ? "the type of the variable"
           : a->components != b->components
               ? "the number of components"
           : bm_variable_averages(a) != bm_variable_averages(b)
               ? "what coarser levels are"
               : NULL;
}

/* The model's counterpart in the step at hand. */
static int find_variable(struct bm_series *s)
{
    const char *grid = s->model->object->name, *name = s->model->name;
    struct bm_object *o = bm_step_find_object(s->step, grid);
    struct bouma_variable *v = o && o->kind == BM_GRID
                                   ? bm_object_find_variable(o, name)
                                   : NULL;
    struct bm_error *error = &s->ds->error;
    const char *what = v ? difference(v, s->model) : NULL;

    s->variable = v;
    if (!v || !v->in_step.present)
        return bm_fail(error, BOUMA_ENOTFOUND,
                       "step %" PRIu64 " has no variable \"%s/%s\"",
                       s->step->manifest.step, grid, name);
    return what ? bm_fail(error, BOUMA_EMISMATCH,
                          "\"%s/%s\": %s is another in step %" PRIu64
                          " than in step %" PRIu64,
                          grid, name, what, s->step->manifest.step,
                          s->model->object->schema->step->manifest.step)
                : BOUMA_OK;
}

/* What the list knows of a step that may be read without its manifest, or NULL:
 * nobody else has to be told, there is one copy, and the step at hand has what
 * is wanted and was not extended. */
static const struct bm_step_entry *expected(const struct bm_series *s,
                                            uint64_t step)
{
    const struct bouma_dataset *ds = s->ds;
    const struct bm_step_entry *e;

    if (!s->variable || s->misses >= MOST_MISSES || !ds->found.listed ||
        s->step->manifest.earlier_count || ds->comm->size > 1 ||
        ds->mode != BM_MODE_READ || ds->second.root)
        return NULL;
    e = bm_step_list_find(&ds->found.steps, step);
    return e && e->generation.epoch ? e : NULL;
}

static int read_box(struct bm_series *s, const struct bm_read_request *request)
{
    struct bm_read_request r = *request;
    struct bm_lattice l = bm_lattice_of(&r.box, r.level);

    r.variable = s->variable;
    return bm_lattice_samples(&l)
               ? bm_read_box(s->variable->object->schema->step, &r)
               : BOUMA_OK;
}

/* 1 if that was all; else nothing is known of the step. A failure of the caller's
 * function, or of memory, is one of the call, and is not tried again. */
static int read_as_expected(struct bm_series *s, uint64_t step,
                            const struct bm_read_request *request, int *rc)
{
    const struct bm_step_entry *e = expected(s, step);

    if (!e)
        return 0;
    bm_step_aim(s->step, e);
    *rc = read_box(s, request);
    s->misses = *rc ? s->misses + 1 : 0;
    if (!*rc || *rc == BOUMA_EABORTED || *rc == BOUMA_ENOMEM)
        return 1;
    bm_error_clear(&s->ds->error);
    return 0;
}

int bm_series_read(struct bm_series *s, uint64_t step,
                   const struct bm_read_request *request, int rc)
{
    struct bouma_dataset *ds = s->ds;

    if (!rc && read_as_expected(s, step, request, &rc))
        return rc;
    bm_series_end(s);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (!rc)
        rc = bm_step_open(&s->step, ds, step);
    if (rc)
        return rc;
    rc = find_variable(s);
    if (!rc)
        rc = read_box(s, request);
    if (rc)
        s->variable = NULL;
    return bm_comm_agree(ds->comm, rc, &ds->error);
}
