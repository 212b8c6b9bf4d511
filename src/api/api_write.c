/* api_write.c -- definitions, blocks and steps. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "dataset/borrowed.h"
#include "dataset/idx.h"
#include "write/write.h"

int bm_api_check_writing(bouma_dataset *ds)
{
    int rc = bm_api_check_open(ds);

    if (!rc && ds->mode == BM_MODE_READ)
        rc = bm_fail(&ds->error, BOUMA_ESTATE,
                     "%s: is open for reading only; open it with "
                     "bouma_dataset_append() to write",
                     ds->store.path);
    return rc;
}

int bm_api_check_defining(bouma_dataset *ds, const void *out, const char *name)
{
    int rc = bm_api_check_writing(ds);

    if (!rc && !out)
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "\"%s\": the pointer for its handle is NULL",
                     name ? name : "");
    return rc;
}

int bm_api_copy_spec(struct bm_error *error, void *out, size_t bytes,
                     const void *spec, size_t spec_bytes, const char *what)
{
    if (spec && bm_struct_copy(out, bytes, spec, spec_bytes))
        return BOUMA_OK;
    return bm_fail(error, BOUMA_EINVAL,
                   spec ? "%s: 'size' is not set to sizeof(%s), or fields of a "
                          "newer version are set"
                        : "%s is NULL; it must say what to define%.0s",
                   what, what);
}

int bm_api_copy_element(struct bm_error *error, void *out, size_t bytes,
                        const void *array, size_t i, const char *what)
{
    const unsigned char *at = array;
    size_t first, own;

    memcpy(&first, at, sizeof(first));
    if (bm_struct_is_size(first)) /* else the copy is refused */
        at += i * first;
    memcpy(&own, at, sizeof(own));
    if (own != first)
        return bm_fail(error, BOUMA_EINVAL,
                       "%s: the elements 0 and %zu of an array differ in "
                       "'size', %zu and %zu; set each to sizeof(%s)",
                       what, i, first, own, what);
    return bm_api_copy_spec(error, out, bytes, at, own, what);
}

/* Keys of what is refused and has no name. */
#define KEY_PUT   0
#define KEY_BEGIN 1

static int add_refusal(bouma_dataset *ds, uint64_t key,
                       enum bm_refused_scope scope, int rc)
{
    if (!ds->opened || ds->closed || ds->life.freed || ds->mode == BM_MODE_READ)
        return rc; /* no step can be written anyway */
    return bm_refused_add(&ds->given.refused, ds->a, key, scope, rc,
                          &ds->error);
}

int bm_api_defined(bouma_dataset *ds, const void *owner, const char *name,
                   enum bm_refused_scope scope, int rc)
{
    return add_refusal(ds, bm_refused_key(owner, name), scope, rc);
}

/* A put that succeeds says nothing of one that has failed. */
int bm_api_put(bouma_dataset *ds, int rc)
{
    return rc ? add_refusal(ds, KEY_PUT, BM_OF_STEP, rc) : rc;
}

int bouma_dataset_clear_failures(bouma_dataset *ds)
{
    int rc = ds ? bm_api_check_writing(ds) : BOUMA_EINVAL;

    if (!rc)
        bm_refused_clear(&ds->given.refused, ds->a);
    for (int i = 0; !rc && i < ds->schema.count; i++)
        ds->schema.objects[i]->may_be_bare = !ds->schema.objects[i]->count;
    return rc;
}

/* Those who write a partition hold samples of it, so that more than there are
 * ranks are a mistake; unless files have them, whoever writes. */
static int check_partitions(bouma_dataset *ds, const char *name,
                            const bouma_grid_spec *spec)
{
    return spec->layout == BOUMA_LAYOUT_HZ &&
                   spec->hz_index != BOUMA_HZ_INDEX_LOCAL &&
                   spec->hz_partitions > 1 &&
                   spec->hz_partitions > ds->comm->size
               ? bm_fail(&ds->error, BOUMA_EINVAL,
                         "grid \"%s\" has %d partitions, more than the %d "
                         "ranks that write them",
                         name, spec->hz_partitions, ds->comm->size)
               : BOUMA_OK;
}

int bouma_grid_define(bouma_grid **out, bouma_dataset *ds, const char *name,
                      const bouma_grid_spec *spec)
{
    BM_STRICT_MATH;
    struct bm_object *object = NULL;
    bouma_grid_spec own;
    int rc;

    if (out)
        *out = NULL;
    if (!ds)
        return BOUMA_EINVAL;
    rc = bm_api_check_defining(ds, out, name);
    if (!rc)
        rc = bm_api_copy_spec(&ds->error, &own, sizeof(own), spec,
                              spec ? spec->size : 0, "bouma_grid_spec");
    if (!rc && own.idx)
        rc = bm_idx_check(ds, name, &ds->error);
    if (!rc)
        rc = check_partitions(ds, name, &own);
    if (!rc)
        rc = bm_schema_add_grid(&ds->schema, &object, name, &own);
    if (out)
        *out = (bouma_grid *)object;
    return bm_api_defined(ds, NULL, name, BM_OF_DATASET, rc);
}

int bm_api_define_variable(bouma_variable **out, struct bm_object *object,
                           const char *name, const bouma_variable_spec *spec)
{
    bouma_dataset *ds = object ? object->schema->dataset : NULL;
    bouma_variable_spec own;
    int rc;

    if (out)
        *out = NULL;
    if (!ds)
        return BOUMA_EINVAL;
    rc = bm_api_check_defining(ds, out, name);
    if (!rc && object->schema->step)
        rc = bm_fail(&ds->error, BOUMA_ESTATE,
                     "%s \"%s\" belongs to a step that is read; define one "
                     "with bouma_%s_define()",
                     bm_object_kind_name(object->kind), object->name,
                     bm_object_kind_name(object->kind));
    if (!rc)
        rc = bm_api_copy_spec(&ds->error, &own, sizeof(own), spec,
                              spec ? spec->size : 0, "bouma_variable_spec");
    /* Files may have it: it was not always refused. */
    if (!rc && own.tolerance_kind == BOUMA_TOLERANCE_RELATIVE &&
        own.tolerance >= 1)
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "variable \"%s/%s\" has a relative tolerance of %g; it is "
                     "a fraction of the range, and must be below 1",
                     object->name, name ? name : "", own.tolerance);
    if (!rc)
        rc = bm_schema_add_variable(object, out, name, &own);
    return bm_api_defined(ds, object, name, BM_OF_DATASET, rc);
}

int bouma_variable_define(bouma_variable **out, bouma_grid *grid,
                          const char *name, const bouma_variable_spec *spec)
{
    BM_STRICT_MATH;

    return bm_api_define_variable(out, grid ? &grid->object : NULL, name, spec);
}

int bm_api_check_put(bouma_dataset *ds, const struct bm_schema *schema,
                     const char *what)
{
    int rc = bm_api_check_writing(ds);

    if (!rc && schema->step)
        rc = bm_fail(&ds->error, BOUMA_ESTATE,
                     "%s belongs to a step that is read; define one to write",
                     what);
    if (!rc && !ds->given.in_step)
        rc = bm_fail(&ds->error, BOUMA_ESTATE,
                     "%s: put while no step was begun; call "
                     "bouma_step_begin() first",
                     what);
    return rc;
}

/* ---- steps -------------------------------------------------------------- */

static void forget_step(bouma_dataset *ds)
{
    ds->given.in_step = 0;
    ds->given.base = (struct bm_generation){0, 0};
    bm_given_forget_puts(&ds->given, ds->a);
    bm_attributes_clear(&ds->given.step_attributes);
}

static int begin(bouma_dataset *ds, int64_t step, double time)
{
    BM_STRICT_MATH;
    int rc = bm_api_check_writing(ds);

    if (rc)
        return rc;
    if (ds->given.in_step)
        return bm_fail(&ds->error, BOUMA_ESTATE,
                       "step %" PRIu64
                       " was begun but not ended; call bouma_step_end() or "
                       "bouma_step_abort() first",
                       ds->given.step);
    if (step < 0)
        return bm_fail(&ds->error, BOUMA_EINVAL,
                       "step numbers begin at 0; this is %" PRId64, step);
    if (!isfinite(time))
        return bm_fail(&ds->error, BOUMA_EINVAL,
                       "step %" PRId64
                       ": its time is %g; it must be a finite number",
                       step, time);
    forget_step(ds);
    ds->given.in_step = 1;
    ds->given.step = (uint64_t)step;
    ds->given.time = time;
    return BOUMA_OK;
}

int bm_api_begun(bouma_dataset *ds, int rc)
{
    return add_refusal(ds, KEY_BEGIN, BM_OF_STEP, rc);
}

int bouma_step_begin(bouma_dataset *ds, int64_t step, double time)
{
    return ds ? bm_api_begun(ds, begin(ds, step, time)) : BOUMA_EINVAL;
}

static int add_put(bouma_dataset *ds, const struct bm_put *put)
{
    struct bm_given *g = &ds->given;
    struct bm_put *puts =
        bm_more_room(ds->a, g->puts, g->put_count, &g->put_room, sizeof(*puts));

    if (!puts)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for a block");
    g->puts = puts;
    puts[g->put_count] = *put;
    puts[g->put_count].serial = g->put_count;
    g->put_count++;
    return BOUMA_OK;
}

/* Whether a variable of grids can be handed over, in this box. */
static int check_block(bouma_dataset *ds, const bouma_variable *v,
                       const struct bm_box *lifted)
{
    const struct bm_object *grid = v->object;
    struct bm_box domain = grid->domain;
    char box[160], whole[160];

    bm_box_text(box, sizeof(box), lifted, grid->ndims);
    bm_box_text(whole, sizeof(whole), &domain, grid->ndims);
    for (int d = 0; d < 3; d++)
        if (lifted->hi[d] < lifted->lo[d])
            return bm_fail(&ds->error, BOUMA_EINVAL,
                           "variable \"%s/%s\": the box %s ends before it "
                           "begins",
                           grid->name, v->name, box);
    if (!bm_box_volume(lifted))
        return BOUMA_OK; /* nothing to hand over */
    if (!bm_box_inside(lifted, &domain))
        return bm_fail(&ds->error, BOUMA_EINVAL,
                       "variable \"%s/%s\": the box %s is not inside the grid "
                       "%s",
                       grid->name, v->name, box, whole);
    return BOUMA_OK;
}

static int put_block(bouma_variable *v, const bouma_box *box,
                     const bouma_array *array, int copy)
{
    BM_STRICT_MATH;
    bouma_dataset *ds = v->object->schema->dataset;
    struct bm_put put = {.variable = v};
    int64_t shape[3];
    char text[160];
    int rc;

    snprintf(text, sizeof(text), "variable \"%.60s/%.60s\"", v->object->name,
             v->name);
    rc = bm_api_check_put(ds, v->object->schema, text);
    if (!rc && !v->object->layout->chunking)
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "%s belongs to particles; hand it over with "
                     "bouma_particles_put_borrow()",
                     text);
    if (rc)
        return rc;
    put.from.box = box ? bm_box_lift(box, v->object->ndims) : v->object->domain;
    rc = check_block(ds, v, &put.from.box);
    if (rc || !bm_box_volume(&put.from.box))
        return rc;
    for (int d = 0; d < 3; d++)
        shape[d] = put.from.box.hi[d] - put.from.box.lo[d];
    rc = bm_api_array(&put.from.array, &put.apart, array, v, shape, 1);
    if (!rc && copy)
        rc = bm_put_keep_copy(&put, ds->a, &ds->error);
    else if (!rc && ds->options.check > 0)
        bm_put_remember(&put);
    if (!rc)
        rc = add_put(ds, &put);
    if (rc)
        bm_put_release(&put, ds->a);
    return rc;
}

/* An array may have a function of the caller, which copies it now. */
static int put(bouma_variable *variable, const bouma_box *box,
               const bouma_array *array, int copy)
{
    bouma_dataset *ds;
    int rc;

    if (!variable)
        return BOUMA_EINVAL;
    ds = variable->object->schema->dataset;
    bm_api_enter(ds);
    rc = bm_api_put(ds, put_block(variable, box, array, copy));
    return bm_api_leave(ds, rc);
}

int bouma_variable_put_borrow(bouma_variable *variable, const bouma_box *box,
                              const bouma_array *array)
{
    return put(variable, box, array, 0);
}

int bouma_variable_put_copy(bouma_variable *variable, const bouma_box *box,
                            const bouma_array *array)
{
    return put(variable, box, array, 1);
}

/* End or abort: what is wrong here is told to all ranks. */
static int end(bouma_dataset *ds, int status)
{
    double begun;
    int rc, finished;

    if (!ds)
        return BOUMA_EINVAL;
    rc = bm_api_check_writing(ds);
    if (!ds->opened) /* there are no ranks to tell */
        return rc;
    if (!rc && !status &&
        !ds->given.in_step) /* perhaps since it could not be */
        rc = bm_refused_tell(&ds->given.refused, &ds->error);
    if (!rc && !ds->given.in_step)
        rc = bm_fail(&ds->error, BOUMA_ESTATE,
                     "no step was begun; call bouma_step_begin() first");
    if (!rc)
        rc = status;
    bm_api_enter(ds);
    finished = bm_api_finish_write(ds);
    memset(&ds->carried.record, 0, sizeof(ds->carried.record));
    begun = bm_trace_now(ds->engine.tracing.trace);
    rc = finished ? finished : bm_write_step(ds, rc, &ds->carried.record);
    bm_refused_end_step(&ds->given.refused);
    forget_step(ds);
    return bm_api_leave(ds, bm_api_traced(ds, "write step", begun, rc));
}

int bouma_step_end(bouma_dataset *ds)
{
    BM_STRICT_MATH;

    return end(ds, BOUMA_OK);
}

int bouma_step_abort(bouma_dataset *ds)
{
    BM_STRICT_MATH;

    return end(ds, BOUMA_EABORTED);
}
