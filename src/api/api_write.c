/* api_write.c -- definitions, blocks and steps. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "layout/patch.h"
#include "write/write.h"

void bouma_memory_inside(bouma_memory *out, bouma_type type, int components,
                         int ndims, const int64_t *extent)
{
    int64_t stride = (int64_t)bouma_type_size(type);

    memset(out, 0, sizeof(*out));
    out->component_stride = stride;
    stride *= components > 0 ? components : 1;
    for (int d = ndims - 1; d >= 0; d--) {
        out->stride[d] = stride;
        stride *= extent[d];
    }
}

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

int bm_api_copy_spec(struct bm_error *error, void *out, size_t bytes,
                     const void *spec, size_t spec_bytes, const char *what)
{
    if (spec && bm_struct_copy(out, bytes, spec, spec_bytes))
        return BOUMA_OK;
    return bm_fail(error, BOUMA_EINVAL,
                   spec ? "%s: 'size' is not set, or fields of a newer version "
                          "are"
                        : "%s: is NULL, but tells what to define",
                   what);
}

int bouma_grid_define(bouma_grid **out, bouma_dataset *ds, const char *name,
                      const bouma_grid_spec *spec)
{
    BM_STRICT_MATH;
    bouma_grid_spec own;
    int rc;

    *out = NULL;
    if (!ds)
        return BOUMA_EINVAL;
    rc = bm_api_check_writing(ds);
    if (!rc)
        rc = bm_api_copy_spec(&ds->error, &own, sizeof(own), spec,
                              spec ? spec->size : 0, "bouma_grid_spec");
    return rc ? rc : bm_schema_add_grid(&ds->schema, out, name, &own);
}

int bm_api_define_variable(bouma_variable **out, bouma_grid *object,
                           const char *name, const bouma_variable_spec *spec)
{
    bouma_dataset *ds = object ? object->schema->dataset : NULL;
    bouma_variable_spec own;
    int rc;

    *out = NULL;
    if (!ds)
        return BOUMA_EINVAL;
    rc = bm_api_check_writing(ds);
    if (!rc && object->schema->step)
        rc = bm_fail(&ds->error, BOUMA_ESTATE,
                     "%s \"%s\" belongs to a step that is read; define one "
                     "with bouma_%s_define()",
                     bm_object_kind_name(object->kind), object->name,
                     bm_object_kind_name(object->kind));
    if (!rc)
        rc = bm_api_copy_spec(&ds->error, &own, sizeof(own), spec,
                              spec ? spec->size : 0, "bouma_variable_spec");
    return rc ? rc : bm_schema_add_variable(object, out, name, &own);
}

int bouma_variable_define(bouma_variable **out, bouma_grid *grid,
                          const char *name, const bouma_variable_spec *spec)
{
    BM_STRICT_MATH;

    return bm_api_define_variable(out, grid, name, spec);
}

int bm_api_check_put(bouma_dataset *ds, const struct bm_schema *schema,
                     const char *what)
{
    int rc = bm_api_check_writing(ds);

    if (!rc && schema->step)
        rc = bm_fail(&ds->error, BOUMA_ESTATE,
                     "%s belongs to a step that is read; define one to write",
                     what);
    if (!rc && !ds->in_step)
        rc = bm_fail(&ds->error, BOUMA_ESTATE,
                     "no step was begun; call bouma_step_begin() first");
    return rc;
}

/* ---- steps -------------------------------------------------------------- */

static void forget_step(bouma_dataset *ds)
{
    ds->in_step = 0;
    bm_dataset_forget_puts(ds);
    bm_error_clear(&ds->put_error);
    bm_attributes_clear(&ds->step_attributes);
}

int bouma_step_begin(bouma_dataset *ds, int64_t step, double time)
{
    BM_STRICT_MATH;
    int rc;

    if (!ds)
        return BOUMA_EINVAL;
    rc = bm_api_check_writing(ds);
    if (rc)
        return rc;
    if (ds->in_step)
        return bm_fail(&ds->error, BOUMA_ESTATE,
                       "step %" PRIu64 " was begun and not ended; call "
                       "bouma_step_end() or bouma_step_abort() first",
                       ds->step);
    forget_step(ds);
    if (step < 0) {
        /* No step is begun; who ends it all the same hears why, on all ranks.
         */
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "step numbers begin at 0, this is %" PRId64, step);
        ds->put_error = ds->error;
        return rc;
    }
    ds->in_step = 1;
    ds->step = (uint64_t)step;
    ds->time = time;
    return BOUMA_OK;
}

static int add_put(bouma_dataset *ds, const struct bm_put *put)
{
    if (ds->put_count == ds->put_room) {
        size_t room = ds->put_room * 2 + 16;
        struct bm_put *grown = bm_resize(ds->a, ds->puts, room, sizeof(*grown));

        if (!grown)
            return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for a block");
        ds->puts = grown;
        ds->put_room = room;
    }
    ds->puts[ds->put_count] = *put;
    ds->puts[ds->put_count].serial = ds->put_count;
    ds->put_count++;
    return BOUMA_OK;
}

int bouma_variable_put(bouma_variable *variable, const bouma_box *box,
                       const void *data, const bouma_memory *memory)
{
    BM_STRICT_MATH;
    const struct bm_tiling *t;
    bouma_dataset *ds;
    bouma_box domain, lifted;
    char text[160], whole[160];
    struct bm_put put = {.variable = variable};
    int64_t shape[3];
    int rc;

    if (!variable)
        return BOUMA_EINVAL;
    ds = variable->grid->schema->dataset;
    t = &variable->grid->tiling;
    domain = bm_tiling_domain(t);
    snprintf(text, sizeof(text), "variable \"%.60s/%.60s\"",
             variable->grid->name, variable->name);
    rc = bm_api_check_put(ds, variable->grid->schema, text);
    if (rc)
        return rc;
    if (variable->grid->kind != BM_GRID) {
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "%s is one of particles; hand those over with "
                     "bouma_particles_put()",
                     text);
        if (!ds->put_error.status)
            ds->put_error = ds->error;
        return rc;
    }
    lifted = box ? bm_box_lift(box, t->ndims) : domain;
    bm_box_text(text, sizeof(text), &lifted, t->ndims);
    bm_box_text(whole, sizeof(whole), &domain, t->ndims);
    for (int d = 0; d < 3 && !rc; d++)
        if (lifted.hi[d] < lifted.lo[d])
            rc = bm_fail(&ds->error, BOUMA_EINVAL,
                         "variable \"%s/%s\": the box %s ends before it begins",
                         variable->grid->name, variable->name, text);
    if (!rc && !bm_box_volume(&lifted))
        return BOUMA_OK; /* nothing to hand over */
    if (!rc && !bm_box_inside(&lifted, &domain))
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "variable \"%s/%s\": the box %s is not inside the grid %s",
                     variable->grid->name, variable->name, text, whole);
    if (!rc && !data)
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "variable \"%s/%s\": no data for the box %s",
                     variable->grid->name, variable->name, text);
    if (!rc) {
        put.from.box = lifted;
        put.from.data = data;
        for (int d = 0; d < 3; d++)
            shape[d] = lifted.hi[d] - lifted.lo[d];
        bm_memory_lift(put.from.stride, &put.from.component_stride, memory,
                       variable, shape);
        rc = add_put(ds, &put);
    }
    if (rc && !ds->put_error.status)
        ds->put_error = ds->error;
    return rc;
}

/* End or abort: what is wrong here is told to all ranks. */
static int end(bouma_dataset *ds, int status, bouma_record *record)
{
    int rc;

    if (!ds)
        return BOUMA_EINVAL;
    rc = bm_api_check_writing(ds);
    if (!ds->opened) /* there are no ranks to tell */
        return rc;
    if (!rc && !ds->in_step && ds->put_error.status)
        rc =
            bm_fail(&ds->error, ds->put_error.status, "%s", ds->put_error.text);
    else if (!rc && !ds->in_step)
        rc = bm_fail(&ds->error, BOUMA_ESTATE,
                     "no step was begun; call bouma_step_begin() first");
    rc = bm_write_step(ds, rc ? rc : status, record);
    forget_step(ds);
    return rc;
}

int bouma_step_end(bouma_dataset *ds, bouma_record *record)
{
    BM_STRICT_MATH;

    return end(ds, BOUMA_OK, record);
}

int bouma_step_abort(bouma_dataset *ds)
{
    BM_STRICT_MATH;

    return end(ds, BOUMA_EABORTED, NULL);
}
