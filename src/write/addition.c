/* addition.c -- see addition.h. */
#include "write/addition.h"

#include <inttypes.h>
#include <string.h>

#include "store/additions.h"

/* Whether an object can be one of two parts of a step. */
static int check_object(struct bouma_dataset *ds, const struct bm_object *mine,
                        const struct bm_object *there, uint64_t step)
{
    if (mine->kind != BM_GRID || there->kind != BM_GRID)
        return bm_fail(&ds->error, BOUMA_EEXISTS,
                       "step %" PRIu64 " has \"%s\" already; particles get no "
                       "more variables, as their order is not yours",
                       step, mine->name);
    return mine->ndims == there->ndims && mine->levels == there->levels &&
                   !memcmp(&mine->domain, &there->domain, sizeof(mine->domain))
               ? BOUMA_OK
               : bm_fail(&ds->error, BOUMA_EINVAL,
                         "grid \"%s\" has another shape in step %" PRIu64
                         ", or another number of levels",
                         mine->name, step);
}

/* Whether a manifest has data of a variable: it need not have totals. */
static int has_data(const struct bm_manifest *m, uint32_t id)
{
    for (size_t i = 0; i < m->count; i++)
        if (bm_subfile_info_part(&m->subfiles[i], id))
            return 1;
    return 0;
}

/* Against one part of the step. */
static int check_against(struct bouma_dataset *ds, const struct bm_manifest *m,
                         const struct bm_schema *part, uint64_t step)
{
    int rc = BOUMA_OK;

    for (uint32_t id = 0; id < m->schema->variables && !rc; id++) {
        const struct bouma_variable *v = m->schema->by_id[id], *known;
        const struct bm_object *there = bm_schema_find(part, v->object->name);

        if (!there || !has_data(m, id))
            continue;
        known = bm_grid_find_variable(there, v->name);
        rc = check_object(ds, v->object, there, step);
        if (!rc && known && known->in_step.present)
            rc = bm_fail(&ds->error, BOUMA_EEXISTS,
                         "step %" PRIu64 " has the variable \"%s/%s\" already; "
                         "what is there cannot be changed by adding to it",
                         step, v->object->name, v->name);
    }
    return rc;
}

/* Load one part of the step and compare. One that is missing is all right. */
static int check_part(struct bouma_dataset *ds, const struct bm_manifest *m,
                      uint64_t number, uint64_t step)
{
    struct bm_error why = {0};
    struct bm_store *store;
    struct bm_schema schema;
    struct bm_manifest part;
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, ds->a);
    bm_schema_init(&schema, ds->a, &why);
    bm_manifest_init(&part, ds->a, &schema, &why);
    rc = bm_dataset_manifest(ds, number, &b, &store, &why);
    if (!rc)
        rc = bm_manifest_decode(&part, b.data, b.size, ds->id, store->path,
                                &why);
    if (!rc && !bm_generation_is_later(m->generation, part.generation))
        rc = bm_fail(&why, BOUMA_ESTATE,
                     "step %" PRIu64 " was written again meanwhile", step);
    if (rc)
        bm_fail(&ds->error, rc, "nothing can be added to step %" PRIu64 ": %s",
                step, why.text);
    else
        rc = check_against(ds, m, &schema, step);
    bm_manifest_release(&part);
    bm_schema_release(&schema);
    bm_buffer_release(&b);
    return rc;
}

int bm_addition_check(struct bouma_dataset *ds, const struct bm_manifest *m)
{
    const struct bm_step_list *all = &ds->found.steps;
    uint64_t step = bm_addition_base(m->step);
    const struct bm_step_entry *base = bm_step_list_find(all, step);
    int any = 0, rc;

    if (!bm_is_addition(m->step))
        return BOUMA_OK;
    for (uint32_t id = 0; id < m->schema->variables; id++)
        any |= has_data(m, id);
    if (!any)
        return bm_fail(&ds->error, BOUMA_EINVAL,
                       "nothing is added to step %" PRIu64
                       ": no rank has put a variable",
                       step);
    rc = base ? check_part(ds, m, step, step)
              : bm_fail(&ds->error, BOUMA_ENOTFOUND,
                        "step %" PRIu64 " is not there any more", step);
    for (int k = 1; k <= BM_MOST_ADDITIONS && !rc; k++) {
        uint64_t number = bm_addition_number(step, k);
        const struct bm_step_entry *added = bm_step_list_find(all, number);

        if (added && number != m->step &&
            bm_generation_is_later(added->generation, base->generation))
            rc = check_part(ds, m, number, step);
    }
    return rc;
}
