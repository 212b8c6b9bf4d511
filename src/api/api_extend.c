/* api_extend.c -- a committed step gets more variables, grids or particles. */
#include <inttypes.h>

#include "api/api.h"
#include "layout/grid_idx.h"
#include "layout/writings.h"
#include "write/extension.h"

/* Whether this rank can begin it. */
static int check(bouma_dataset *ds, int64_t step)
{
    if (ds->given.in_step)
        return bm_fail(&ds->error, BOUMA_ESTATE,
                       "step %" PRIu64 " was begun and not ended; call "
                       "bouma_step_end() or bouma_step_abort() first",
                       ds->given.step);
    if (step < 0)
        return bm_fail(&ds->error, BOUMA_EINVAL,
                       "step numbers begin at 0; this is %" PRId64, step);
    if (ds->draining.drain)
        return bm_fail(&ds->error, BOUMA_ESTATE,
                       "step %" PRId64 " cannot be extended with 'persist'; "
                       "close the dataset, and open it without",
                       step);
    return bm_schema_has_idx(&ds->schema)
               ? bm_fail(&ds->error, BOUMA_EINVAL,
                         "nothing can be added to step %" PRId64 " while a "
                         "grid with 'idx' is defined",
                         step)
               : BOUMA_OK;
}

/* The extension begins with the time and the attributes that the step has. */
static int begin(bouma_dataset *ds, const struct bm_manifest *m)
{
    struct bouma_attributes *own = &ds->given.step_attributes;
    int rc = BOUMA_OK;

    bm_given_forget_puts(&ds->given, ds->a);
    bm_attributes_clear(own);
    for (int i = 0; i < m->attributes.count && !rc; i++) {
        const struct bm_attribute *e = &m->attributes.entries[i];

        rc = bm_attributes_set(own, e->name, e->type, e->count, e->values);
    }
    if (rc)
        return bm_fail(&ds->error, rc, "no memory for attributes");
    ds->given.step = m->step;
    ds->given.time = m->time;
    ds->given.base = m->generation;
    return BOUMA_OK;
}

/* Collective. */
static int extend(bouma_dataset *ds, int64_t step)
{
    struct bm_writing *w = NULL;
    struct bm_buffer b;
    int rc = check(ds, step);

    bm_buffer_init(&b, ds->a);
    rc = bm_comm_begin(ds->comm, "extending a step", (uint64_t)step, NULL, rc,
                       &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        bm_fail(&ds->error, rc, "the ranks extend different steps");
    if (!rc && ds->commits.held_count)
        rc = bm_commit_flush(ds);
    if (!rc) {
        if (ds->comm->rank == 0)
            rc = bm_extension_find(ds, (uint64_t)step, &b);
        rc = bm_comm_share(ds->comm, &b, 0, rc, &ds->error);
    }
    if (!rc) {
        w = bm_writing_new(ds->a, &ds->error);
        rc = w ? bm_manifest_decode_front(&w->manifest, b.data, b.size, ds->id,
                                          ds->store.path, &ds->error)
               : bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for a manifest");
        if (!rc)
            rc = begin(ds, &w->manifest);
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    bm_writing_free(w);
    bm_buffer_release(&b);
    ds->given.in_step = !rc || ds->given.in_step;
    return rc;
}

int bouma_step_extend(bouma_dataset *ds, int64_t step)
{
    BM_STRICT_MATH;
    int rc = bm_api_begin(ds, BM_TO_WRITE);

    return rc ? rc : bm_api_begun(ds, extend(ds, step));
}
