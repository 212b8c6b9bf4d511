/* api_define_like.c -- definitions that come from a step, and definitions that
 * are looked up by their names. */
#include <inttypes.h>

#include "api/api.h"
#include "dataset/idx.h"
#include "layout/grid_idx.h"
#include "read/read.h"

/* ---- definitions of a step ----------------------------------------------- */

/* Whether there is room for all objects of a step beside those that are defined
 * already. */
static int check_room(bouma_dataset *ds, const struct bm_schema *step)
{
    for (int i = 0; i < step->count; i++) {
        const struct bm_object *o = step->objects[i];
        int rc = BOUMA_OK;

        if (bm_schema_find(&ds->schema, o->name))
            rc = bm_fail(&ds->error, BOUMA_EEXISTS,
                         "\"%s\" is defined already; take the definitions of a "
                         "step before others are made",
                         o->name);
        else if (bm_grid_is_idx(o))
            rc = bm_idx_check(ds, o->name, &ds->error);
        if (rc)
            return rc;
    }
    return BOUMA_OK;
}

/* What was read becomes what a caller has just defined: it can be changed, and
 * knows nothing of the values of a step. */
static void make_new(struct bm_object *o)
{
    o->attributes.fixed = 0;
    o->may_be_bare = !o->count;
    for (int i = 0; i < o->count; i++) {
        struct bouma_variable *v = o->variables[i];

        v->attributes.fixed = 0;
        v->bound =
            v->tolerance_kind == BOUMA_TOLERANCE_ABSOLUTE ? v->tolerance : 0;
    }
}

/* Objects of a step; after a failure, some. They go through the bytes in which a
 * step has them, so that nothing that is stored can be forgotten. */
static int take_objects(bouma_dataset *ds, const struct bm_schema *from,
                        uint64_t step)
{
    int before = ds->schema.count, rc = check_room(ds, from);
    struct bm_error why = {0};
    struct bm_buffer b;

    if (rc)
        return rc;
    bm_buffer_init(&b, ds->a);
    bm_schema_encode(&b, from);
    if (b.failed) {
        rc = BOUMA_ENOMEM;
    } else {
        struct bm_cursor c = bm_cursor_of(b.data, b.size);

        rc = bm_schema_decode(&ds->schema, &c, ds->store.path, &why);
    }
    bm_buffer_release(&b);
    for (int i = before; i < ds->schema.count; i++)
        make_new(ds->schema.objects[i]);
    if (!rc)
        return BOUMA_OK;
    if (rc == BOUMA_ENOMEM)
        return bm_fail(&ds->error, rc, "no memory for the definitions");
    /* The step was read, so the bytes are sound. */
    return bm_fail(&ds->error, BOUMA_ELIMIT,
                   "the grids, particles and variables of step %" PRIu64
                   " and those that are defined are together more than a step "
                   "can have",
                   step);
}

static int set_all(struct bouma_attributes *to,
                   const struct bouma_attributes *from)
{
    for (int i = 0; i < from->count; i++) {
        const struct bm_attribute *e = &from->entries[i];

        if (to->count >= BM_MAX_ATTRIBUTES && !bm_attributes_find(to, e->name))
            return bm_fail(to->error, BOUMA_ELIMIT,
                           "attribute \"%s\": there are %d already", e->name,
                           BM_MAX_ATTRIBUTES);
        if (bm_attributes_set(to, e->name, e->type, e->count, e->values))
            return bm_fail(to->error, BOUMA_ENOMEM,
                           "attribute \"%s\": no memory", e->name);
    }
    return BOUMA_OK;
}

/* What a grid defined and did not have is as it was added. */
static int redefine(struct bouma_variable *own, const struct bouma_variable *v)
{
    char *unit = bm_copy_text(own->object->a, v->unit);

    if (!unit)
        return bm_fail(own->attributes.error, BOUMA_ENOMEM,
                       "no memory for the definitions");
    bm_drop(own->object->a, own->unit);
    own->unit = unit;
    own->codec = v->codec;
    own->effort = v->effort;
    own->tolerance = v->tolerance;
    own->tolerance_kind = v->tolerance_kind;
    own->nominal = v->nominal;
    own->bound =
        v->tolerance_kind == BOUMA_TOLERANCE_ABSOLUTE ? v->tolerance : 0;
    bm_attributes_clear(&own->attributes);
    return BOUMA_OK;
}

/* A variable that was added to a grid, or that it did not have at first. */
static int take_variable(struct bm_object *grid, const struct bouma_variable *v)
{
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = v->type,
                                .components = v->components,
                                .codec = v->codec,
                                .codec_level = v->effort,
                                .unit = v->unit,
                                .tolerance = v->tolerance,
                                .tolerance_kind = v->tolerance_kind,
                                .nominal = v->nominal};
    struct bouma_variable *own = bm_grid_find_variable(grid, v->name);
    int rc = own ? redefine(own, v)
                 : bm_schema_add_variable(grid, &own, v->name, &spec);

    return rc ? rc : set_all(&own->attributes, &v->attributes);
}

/* All objects of a step that was extended. */
static int take_extended(bouma_dataset *ds, const struct bouma_step *step)
{
    int rc = BOUMA_OK;

    for (int k = 1; k <= BM_LAST_KIND; k++) {
        enum bm_object_kind kind = (enum bm_object_kind)k;

        for (int i = 0; i < bm_step_object_count(step, kind) && !rc; i++) {
            struct bm_object *o = bm_step_object(step, kind, i);
            struct bm_schema one = {.a = ds->a, .objects = &o, .count = 1};

            rc = take_objects(ds, &one, step->manifest.step);
            if (!rc)
                rc = set_all(&bm_schema_find(&ds->schema, o->name)->attributes,
                             &o->shown_attributes);
            for (int j = 0; j < bm_object_variable_count(o) && !rc; j++)
                if (bm_object_variable(o, j)->object != o)
                    rc = take_variable(bm_schema_find(&ds->schema, o->name),
                                       bm_object_variable(o, j));
        }
    }
    return rc;
}

/* Those of the dataset with those of a step, which take the place of the former
 * once all ranks have them: steps of ranks that differ in them are refused. */
static int merge_attributes(struct bouma_attributes *out, bouma_dataset *ds,
                            const struct bouma_attributes *from)
{
    int rc = bm_dataset_describe(ds);

    if (!rc)
        rc = set_all(out, &ds->found.attributes);
    return rc ? rc : set_all(out, from);
}

/* The number of the step that is meant. */
static int choose(bouma_dataset *ds, int64_t *step)
{
    const struct bm_step_list *all = &ds->found.steps;

    if (*step >= 0)
        return BOUMA_OK;
    if (*step < -1)
        return bm_fail(&ds->error, BOUMA_EINVAL,
                       "step numbers begin at 0, and -1 is the last step; this "
                       "is %" PRId64,
                       *step);
    if (!all->count)
        return bm_fail(&ds->error, BOUMA_ENOTFOUND,
                       "%s: has no step that definitions could be taken from",
                       ds->store.path);
    *step = (int64_t)all->entries[all->count - 1].step;
    return BOUMA_OK;
}

static void swap(struct bouma_attributes *a, struct bouma_attributes *b)
{
    struct bouma_attributes was = *a;

    *a = *b;
    *b = was;
}

static int define_like(bouma_dataset *ds, int64_t step)
{
    int before = ds->schema.count, rc = choose(ds, &step);
    struct bouma_attributes merged;
    struct bouma_step *like = NULL;

    rc = bm_comm_begin(ds->comm, "defining like a step", (uint64_t)step, NULL,
                       rc, &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        bm_fail(&ds->error, rc,
                "the ranks take the definitions of different steps");
    if (rc)
        return rc;
    rc = bm_step_open(&like, ds, (uint64_t)step);
    if (rc) /* on all ranks */
        return rc;
    bm_attributes_init(&merged, ds->a, &ds->error);
    merged.dataset = ds->found.attributes.dataset;
    rc = like->writings
             ? take_extended(ds, like)
             : take_objects(ds, like->manifest.schema, like->manifest.step);
    if (!rc)
        rc = merge_attributes(&merged, ds, &like->manifest.dataset_attributes);
    bm_step_free(like);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    while (rc && ds->schema.count > before)
        bm_schema_remove_last(&ds->schema);
    if (!rc)
        swap(&ds->found.attributes, &merged);
    bm_attributes_release(&merged);
    return rc;
}

int bouma_define_like(bouma_dataset *ds, int64_t step)
{
    BM_STRICT_MATH;
    int rc = bm_api_begin(ds, BM_TO_WRITE);

    if (rc)
        return rc;
    rc = define_like(ds, step);
    /* That there is no such step is an answer, too: the program then defines
     * what it needs. */
    return rc == BOUMA_ENOTFOUND
               ? rc
               : bm_api_defined(ds, &ds->schema, "like", BM_OF_DATASET, rc);
}

/* ---- definitions by name -------------------------------------------------- */

struct kind_list {
    const struct bm_schema *schema;
    enum bm_object_kind kind;
};

static const char *object_name(const void *list, int i)
{
    const struct kind_list *l = list;
    const struct bm_object *o = bm_schema_nth(l->schema, l->kind, i);

    return o ? o->name : NULL;
}

static int find(struct bm_object **out, bouma_dataset *ds,
                enum bm_object_kind kind, const char *name)
{
    struct kind_list all = {&ds->schema, kind};
    struct bm_object *found;

    found = name ? bm_schema_find(&ds->schema, name) : NULL;
    if (found && found->kind == kind) {
        *out = found;
        return BOUMA_OK;
    }
    if (found)
        return bm_fail(&ds->error, BOUMA_ENOTFOUND, "\"%s\" is %s, not %s",
                       name, bm_kind_words(found->kind)->one,
                       bm_kind_words(kind)->one);
    bm_api_no_such(&ds->error, bm_object_kind_name(kind), name, object_name,
                   &all);
    bm_error_prefix(&ds->error, "definitions");
    return BOUMA_ENOTFOUND;
}

static int find_defined(struct bm_object **out, bouma_dataset *ds,
                        enum bm_object_kind kind, const char *name)
{
    int rc;

    if (!ds)
        return BOUMA_EINVAL;
    rc = bm_api_check_defining(ds, out, name);
    if (!rc)
        rc = find(out, ds, kind, name);
    return bm_api_defined(ds, NULL, name, BM_OF_DATASET, rc);
}

int bouma_dataset_find_grid(bouma_grid **out, bouma_dataset *ds,
                            const char *name)
{
    struct bm_object *found = NULL;
    int rc = find_defined(out ? &found : NULL, ds, BM_GRID, name);

    if (out)
        *out = (bouma_grid *)found;
    return rc;
}

int bouma_dataset_find_particles(bouma_particles **out, bouma_dataset *ds,
                                 const char *name)
{
    struct bm_object *found = NULL;
    int rc = find_defined(out ? &found : NULL, ds, BM_PARTICLES, name);

    if (out)
        *out = (bouma_particles *)found;
    return rc;
}
