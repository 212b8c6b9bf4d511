/* extended.c -- a step that was extended, seen as one. Each writing before the
 * last is a step of its own inside, with its own schema and files; a variable
 * knows to which it belongs, so whoever reads it need not care. */
#include <string.h>

#include "layout/writings.h"
#include "read/fetcher.h"

/* ---- the writings ------------------------------------------------------------ */

struct bouma_step *bm_step_writing(struct bouma_step *step, size_t k)
{
    return k < step->manifest.earlier_count ? step->writings[k] : step;
}

struct bouma_step *bm_step_whole(struct bouma_step *step)
{
    return step->whole ? step->whole : step;
}

static int open_one(struct bouma_step *step, size_t k)
{
    struct bm_writing *w = step->manifest.earlier[k];
    struct bouma_step *one = bm_new(step->ds->a, 1, sizeof(*one));

    if (!one)
        return BOUMA_ENOMEM;
    step->writings[k] = one;
    one->ds = step->ds;
    one->whole = step;
    one->manifest = w->manifest; /* lent */
    w->schema.dataset = step->ds;
    w->schema.step = one;
    one->sources =
        bm_new(step->ds->a, one->manifest.count, sizeof(*one->sources));
    return one->sources ? bm_workers_init(one) : BOUMA_ENOMEM;
}

void bm_step_free_writings(struct bouma_step *step)
{
    for (size_t k = 0; step->writings && k < step->manifest.earlier_count; k++)
        if (step->writings[k]) {
            bm_step_close(step->writings[k]);
            bm_drop(step->ds->a, step->writings[k]);
        }
    for (int kind = 1; kind <= BM_LAST_KIND; kind++)
        bm_drop(step->ds->a, step->shown[kind].objects);
    bm_drop(step->ds->a, step->writings);
    step->writings = NULL;
}

/* ---- one step of all --------------------------------------------------------- */

static struct bm_object *object_of(const struct bouma_step *step, size_t k,
                                   const char *name)
{
    return bm_schema_find(bm_manifest_writing(&step->manifest, k)->schema,
                          name);
}

/* The first one of this name that has data; else the first. Its writing goes to
 * *at. */
static struct bm_object *find(const struct bouma_step *step, const char *name,
                              size_t *at)
{
    struct bm_object *first = NULL;

    for (size_t k = 0; k < bm_manifest_writings(&step->manifest); k++) {
        struct bm_object *o = object_of(step, k, name);

        if (o && !first)
            *at = k;
        if (o && bm_object_has_data(o)) {
            *at = k;
            return o;
        }
        first = first ? first : o;
    }
    return first;
}

/* A variable that a later writing has of a grid: instead of one that the grid
 * defines and does not have, or behind all others. */
static int show_variable(struct bm_object *grid, struct bouma_variable *v)
{
    const struct bouma_variable *own = bm_grid_find_variable(grid, v->name);
    struct bouma_variable **grown;

    for (int i = 0; own && i < grid->count; i++)
        if (grid->variables[i] == own) {
            grid->shown[i] = v;
            return BOUMA_OK;
        }
    grown = bm_resize(grid->a, grid->shown, (size_t)grid->shown_count + 1,
                      sizeof(*grown));
    if (!grown)
        return BOUMA_ENOMEM;
    grid->shown = grown;
    grid->shown[grid->shown_count++] = v;
    return BOUMA_OK;
}

/* The attributes of one writing of a grid: its values are the later ones. */
static int show_attributes(struct bm_object *grid,
                           const struct bouma_attributes *more)
{
    int rc = BOUMA_OK;

    for (int i = 0; i < more->count && !rc; i++) {
        const struct bm_attribute *e = &more->entries[i];

        rc = bm_attributes_set(&grid->shown_attributes, e->name, e->type,
                               e->count, e->values);
    }
    return rc;
}

/* All that 'more' has, a later one of the same grid. */
static int show_more(struct bm_object *grid, const struct bm_object *more)
{
    int rc = BOUMA_OK;

    if (!grid->shown) {
        grid->shown =
            bm_new(grid->a, (size_t)grid->count, sizeof(*grid->shown));
        if (!grid->shown)
            return BOUMA_ENOMEM;
        for (int i = 0; i < grid->count; i++)
            grid->shown[i] = grid->variables[i];
        grid->shown_count = grid->count;
        grid->shown_attributes.fixed = 1;
        rc = show_attributes(grid, &grid->attributes);
    }
    if (!rc)
        rc = show_attributes(grid, &more->attributes);
    for (int i = 0; i < more->count && !rc; i++)
        if (more->variables[i]->in_step.present)
            rc = show_variable(grid, more->variables[i]);
    return rc;
}

/* An object that the k-th writing is the first to have. */
static int show_object(struct bouma_step *step, const char *name)
{
    size_t at = 0;
    struct bm_object *o = find(step, name, &at);
    struct bm_object_list *list = &step->shown[o->kind];
    struct bm_object **grown =
        bm_resize(step->ds->a, list->objects, (size_t)list->count + 1,
                  sizeof(struct bm_object *));
    int rc = grown ? BOUMA_OK : BOUMA_ENOMEM;

    if (grown) {
        list->objects = grown;
        list->objects[list->count++] = o;
    }
    for (size_t k = at + 1; k < bm_manifest_writings(&step->manifest) && !rc;
         k++) {
        const struct bm_object *more = object_of(step, k, name);

        if (more && bm_object_has_data(more))
            rc = show_more(o, more);
    }
    return rc;
}

static int is_first(const struct bouma_step *step, size_t k, const char *name)
{
    for (size_t i = 0; i < k; i++)
        if (object_of(step, i, name))
            return 0;
    return 1;
}

int bm_step_open_writings(struct bouma_step *step)
{
    size_t count = step->manifest.earlier_count;
    int rc = BOUMA_OK;

    if (!count)
        return rc;
    step->writings = bm_new(step->ds->a, count, sizeof(*step->writings));
    if (!step->writings)
        return BOUMA_ENOMEM;
    for (size_t k = 0; k < count && !rc; k++)
        rc = open_one(step, k);
    for (size_t k = 0; k <= count && !rc; k++) {
        const struct bm_schema *s =
            bm_manifest_writing(&step->manifest, k)->schema;

        for (int i = 0; i < s->count && !rc; i++)
            if (is_first(step, k, s->objects[i]->name))
                rc = show_object(step, s->objects[i]->name);
    }
    return rc;
}

/* ---- what callers see -------------------------------------------------------- */

int bm_step_object_count(const struct bouma_step *step,
                         enum bm_object_kind kind)
{
    return step->writings ? step->shown[kind].count
                          : bm_schema_count(step->manifest.schema, kind);
}

struct bm_object *bm_step_object(const struct bouma_step *step,
                                 enum bm_object_kind kind, int i)
{
    if (i < 0 || i >= bm_step_object_count(step, kind))
        return NULL;
    return step->writings ? step->shown[kind].objects[i]
                          : bm_schema_nth(step->manifest.schema, kind, i);
}

struct bm_object *bm_step_find_object(const struct bouma_step *step,
                                      const char *name)
{
    size_t at;

    return find(step, name, &at);
}

int bm_object_variable_count(const struct bm_object *o)
{
    return o->shown ? o->shown_count : o->count;
}

struct bouma_variable *bm_object_variable(const struct bm_object *o, int i)
{
    return o->shown ? o->shown[i] : o->variables[i];
}

struct bouma_variable *bm_object_find_variable(const struct bm_object *o,
                                               const char *name)
{
    struct bouma_variable *own = bm_grid_find_variable(o, name);
    const struct bouma_step *step =
        o->shown ? bm_step_whole(o->schema->step) : NULL;

    for (size_t k = 0; step && !(own && own->in_step.present) &&
                       k < bm_manifest_writings(&step->manifest);
         k++) {
        const struct bm_object *other = object_of(step, k, o->name);
        struct bouma_variable *v =
            other ? bm_grid_find_variable(other, name) : NULL;

        if (v && v->in_step.present)
            own = v;
    }
    return own;
}
