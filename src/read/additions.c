/* additions.c -- what was added to a step, and how it is seen as one. */
#include <string.h>

#include "dataset/lost.h"
#include "read/read.h"

/* ---- opening ---------------------------------------------------------------- */

static int see_entry(void *context, const char *entry)
{
    (void)entry;
    *(int *)context = 1;
    return 0;
}

/* Whether there is an addition of that number: by the list, or, if nobody has
 * asked for that, by a look for its directory. */
static int is_there(struct bouma_dataset *ds, uint64_t number)
{
    struct bm_error ignored = {0};
    char dir[BM_NAME_BYTES];
    int any = 0;

    if (ds->found.listed)
        return bm_step_list_find(&ds->found.steps, number) != NULL;
    bm_name_step(dir, number);
    return !bm_store_list(&ds->store, dir, see_entry, &any, &ignored) && any;
}

/* Open one, unless it was added to an earlier writing of the step. One that
 * cannot be read does not keep the rest from being read: it is remembered.
 * Collective, if it is there; all ranks have the same list. */
static int open_one(struct bouma_step *step, uint64_t number)
{
    struct bm_added_steps *added = step->added;
    struct bouma_dataset *ds = step->ds;
    struct bouma_step *one = NULL;
    int rc = bm_step_open(&one, ds, number);

    if (rc == BOUMA_ENOMEM || rc == BOUMA_ECOMM || rc == BOUMA_EMISMATCH)
        return rc;
    if (rc) { /* one that was never committed is none */
        if (rc != BOUMA_ENOTFOUND && !added->error.status)
            added->error = ds->error;
        bm_error_clear(&ds->error);
        return BOUMA_OK;
    }
    if (!bm_generation_is_later(one->manifest.generation,
                                step->manifest.generation)) {
        bm_step_free(one);
        return BOUMA_OK;
    }
    one->base = step;
    added->steps[added->count++] = one;
    return BOUMA_OK;
}

void bm_step_free_added(struct bouma_step *step)
{
    struct bm_added_steps *added = step->added;
    const bouma_allocator *a = step->ds->a;

    if (!added)
        return;
    for (int k = 1; k <= BM_LAST_KIND; k++)
        bm_drop(a, added->shown[k].objects);
    for (int i = 0; i < added->count; i++)
        bm_step_free(added->steps[i]);
    bm_drop(a, added);
    step->added = NULL;
}

/* ---- one step of all ---------------------------------------------------------- */

struct bouma_step *bm_step_part_at(struct bouma_step *step, int i)
{
    if (!i)
        return step;
    return step->added && i <= step->added->count ? step->added->steps[i - 1]
                                                  : NULL;
}

static struct bm_object *find_shown(const struct bm_added_steps *added,
                                    const char *name)
{
    for (int k = 1; k <= BM_LAST_KIND; k++)
        for (int i = 0; i < added->shown[k].count; i++)
            if (!strcmp(added->shown[k].objects[i]->name, name))
                return added->shown[k].objects[i];
    return NULL;
}

static int show_object(struct bouma_step *step, struct bm_object *o)
{
    struct bm_object_list *list = &step->added->shown[o->kind];
    struct bm_object **grown = bm_grow(step->ds->a, list->objects,
                                       (size_t)list->count, sizeof(*grown));

    if (!grown)
        return BOUMA_ENOMEM;
    list->objects = grown;
    list->objects[list->count++] = o;
    return BOUMA_OK;
}

/* Whether variables of the one are variables of the other as well. */
static int is_same_grid(const struct bm_object *a, const struct bm_object *b)
{
    return a->kind == BM_GRID && b->kind == BM_GRID && a->ndims == b->ndims &&
           a->levels == b->levels &&
           !memcmp(&a->domain, &b->domain, sizeof(a->domain));
}

/* A variable that an addition has, among those of its grid: instead of one that
 * the step defines and does not have, or behind all others. */
static int show_variable(struct bm_object *grid, struct bouma_variable *v)
{
    struct bouma_variable **grown;

    if (!grid->shown) {
        grid->shown = bm_new(grid->a, (size_t)grid->count + 1,
                             sizeof(struct bouma_variable *));
        if (!grid->shown)
            return BOUMA_ENOMEM;
        for (int i = 0; i < grid->count; i++)
            grid->shown[i] = grid->variables[i];
        grid->shown_count = grid->count;
    }
    for (int i = 0; i < grid->shown_count; i++)
        if (!strcmp(grid->shown[i]->name, v->name)) {
            if (!grid->shown[i]->in_step.present)
                grid->shown[i] = v;
            return BOUMA_OK;
        }
    grown = bm_grow(grid->a, grid->shown, (size_t)grid->shown_count,
                    sizeof(*grown));
    if (!grown)
        return BOUMA_ENOMEM;
    grid->shown = grown;
    grid->shown[grid->shown_count++] = v;
    return BOUMA_OK;
}

static int has_data(const struct bm_object *o)
{
    for (int i = 0; i < o->count; i++)
        if (o->variables[i]->in_step.present)
            return 1;
    return 0;
}

/* All of the step; and of additions what they have. */
static int show_part(struct bouma_step *step, const struct bm_schema *part)
{
    int rc = BOUMA_OK;

    for (int i = 0; i < part->count && !rc; i++) {
        struct bm_object *o = part->objects[i];
        struct bm_object *known = find_shown(step->added, o->name);

        if (!known && (part == &step->schema || has_data(o)))
            rc = show_object(step, o);
        for (int j = 0; j < o->count && known && is_same_grid(known, o) && !rc;
             j++)
            if (o->variables[j]->in_step.present)
                rc = show_variable(known, o->variables[j]);
    }
    return rc;
}

/* Collective only if there are additions. */
static int open_added(struct bouma_step *step)
{
    uint64_t number = step->manifest.step;
    struct bouma_dataset *ds = step->ds;
    int rc = BOUMA_OK, last = 0;

    if (number >= BM_ADDITIONS_EACH)
        return BOUMA_OK;
    while (last < BM_MOST_ADDITIONS &&
           is_there(ds, bm_addition_number(number, last + 1)))
        last++;
    if (!last)
        return BOUMA_OK;
    step->added = bm_new(ds->a, 1, sizeof(*step->added));
    if (!step->added)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to open the step");
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    for (int k = 1; k <= last && !rc; k++)
        rc = open_one(step, bm_addition_number(number, k));
    for (int i = 0; step->added && i <= step->added->count && !rc; i++)
        if (show_part(step, &bm_step_part_at(step, i)->schema))
            rc =
                bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to open the step");
    return bm_comm_agree(ds->comm, rc, &ds->error);
}

int bm_step_open_all(struct bouma_step **out, struct bouma_dataset *ds,
                     uint64_t step)
{
    int rc = bm_step_open(out, ds, step);

    if (rc)
        return rc;
    rc = open_added(*out);
    if (rc) {
        bm_step_free(*out);
        *out = NULL;
    }
    return rc;
}

/* ---- what callers see ---------------------------------------------------------- */

int bm_step_object_count(const struct bouma_step *step,
                         enum bm_object_kind kind)
{
    return step->added ? step->added->shown[kind].count
                       : bm_schema_count(&step->schema, kind);
}

struct bm_object *bm_step_object(const struct bouma_step *step,
                                 enum bm_object_kind kind, int i)
{
    if (!step->added)
        return i >= 0 ? bm_schema_nth(&step->schema, kind, i) : NULL;
    return i >= 0 && i < step->added->shown[kind].count
               ? step->added->shown[kind].objects[i]
               : NULL;
}

struct bm_object *bm_step_find_object(const struct bouma_step *step,
                                      const char *name)
{
    return step->added ? find_shown(step->added, name)
                       : bm_schema_find(&step->schema, name);
}

int bm_object_variable_count(const struct bm_object *o)
{
    return o->shown ? o->shown_count : o->count;
}

struct bouma_variable *bm_object_variable(const struct bm_object *o, int i)
{
    return i < 0 || i >= bm_object_variable_count(o) ? NULL
           : o->shown                                ? o->shown[i]
                                                     : o->variables[i];
}

struct bouma_variable *bm_object_find_variable(const struct bm_object *o,
                                               const char *name)
{
    for (int i = 0; o->shown && i < o->shown_count; i++)
        if (!strcmp(o->shown[i]->name, name))
            return o->shown[i];
    return bm_grid_find_variable(o, name);
}
