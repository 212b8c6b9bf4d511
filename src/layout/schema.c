/* schema.c -- see schema.h. */
#include "layout/schema.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "layout/variable_spec.h"

void bm_schema_init(struct bm_schema *schema, const bouma_allocator *a,
                    struct bm_error *error)
{
    memset(schema, 0, sizeof(*schema));
    schema->a = a;
    schema->error = error;
}

static void variable_free(struct bouma_variable *v, const bouma_allocator *a)
{
    if (!v)
        return;
    bm_attributes_release(&v->attributes);
    bm_drop(a, v->name);
    bm_drop(a, v->unit);
    bm_drop(a, v->in_step.ranges);
    bm_drop(a, v);
}

static void object_free(struct bm_object *g)
{
    const bouma_allocator *a;

    if (!g)
        return;
    a = g->schema->a;
    for (int i = 0; i < g->count; i++)
        variable_free(g->variables[i], a);
    bm_attributes_release(&g->attributes);
    bm_attributes_release(&g->shown_attributes);
    bm_catalogue_release(&g->names, a);
    bm_drop(a, g->variables);
    bm_drop(a, g->shown);
    g->layout->release(g);
    bm_drop(a, g->name);
    bm_drop(a, g->unit);
    bm_drop(a, g);
}

static struct bm_object *object_new(struct bm_schema *schema,
                                    const struct bm_layout *layout,
                                    const char *name, const char *unit)
{
    /* The public handles are no larger. */
    struct bm_object *g = bm_new(schema->a, 1, sizeof(*g));

    if (!g)
        return NULL;
    g->a = schema->a;
    g->schema = schema;
    g->layout = layout;
    g->kind = layout->kind;
    bm_attributes_init(&g->attributes, schema->a, schema->error);
    bm_attributes_init(&g->shown_attributes, schema->a, schema->error);
    g->name = bm_copy_text(schema->a, name);
    g->unit = bm_copy_text(schema->a, unit);
    if (!g->name || !g->unit) {
        object_free(g);
        return NULL;
    }
    return g;
}

void bm_schema_release(struct bm_schema *schema)
{
    if (!schema->a)
        return;
    for (int i = 0; i < schema->count; i++)
        object_free(schema->objects[i]);
    bm_drop(schema->a, schema->objects);
    for (int k = 0; k <= BM_LAST_KIND; k++)
        bm_drop(schema->a, schema->of_kind[k].objects);
    memset(schema->of_kind, 0, sizeof(schema->of_kind));
    bm_drop(schema->a, schema->by_id);
    bm_catalogue_release(&schema->names, schema->a);
    schema->objects = NULL;
    schema->by_id = NULL;
    schema->count = 0;
    schema->defined = 0;
}

const struct bm_kind_words *bm_kind_words(enum bm_object_kind kind)
{
    static const struct bm_kind_words words[] = {
        [BM_GRID] = {"grid", "a grid", "grids", "a grid's name"},
        [BM_PARTICLES] = {"particles", "a set of particles",
                          "sets of particles", "the name of particles"},
    };

    return &words[kind];
}

const char *bm_object_kind_name(enum bm_object_kind kind)
{
    return bm_kind_words(kind)->name;
}

static const char *object_name(const void *list, size_t index)
{
    return ((struct bm_object *const *)list)[index]->name;
}

struct bm_object *bm_schema_find(const struct bm_schema *schema,
                                 const char *name)
{
    int i = bm_catalogue_find(&schema->names, schema->objects, object_name,
                              name, NULL);

    return i < 0 ? NULL : schema->objects[i];
}

struct bm_object *bm_schema_nth(const struct bm_schema *schema,
                                enum bm_object_kind kind, int i)
{
    const struct bm_object_list *list = &schema->of_kind[kind];

    return i >= 0 && i < list->count ? list->objects[i] : NULL;
}

int bm_schema_count(const struct bm_schema *schema, enum bm_object_kind kind)
{
    return schema->of_kind[kind].count;
}

static const char *variable_name(const void *list, size_t index)
{
    return ((struct bouma_variable *const *)list)[index]->name;
}

struct bouma_variable *bm_grid_find_variable(const struct bm_object *grid,
                                             const char *name)
{
    int i = bm_catalogue_find(&grid->names, grid->variables, variable_name,
                              name, NULL);

    return i < 0 ? NULL : grid->variables[i];
}

size_t bm_variable_value_size(const struct bouma_variable *variable)
{
    return bouma_type_size(variable->type);
}

size_t bm_variable_sample_size(const struct bouma_variable *variable)
{
    return bouma_type_size(variable->type) * (size_t)variable->components;
}

size_t bm_variable_lane(const struct bouma_variable *variable)
{
    size_t lane = 0;

    for (int i = 0; variable->object->variables[i] != variable; i++)
        lane += (size_t)variable->object->variables[i]->components;
    return lane;
}

/* ---- defining ----------------------------------------------------------- */

/* Append a pointer to an array of them, of which the catalogue has as many.
 * Its name goes there; the caller counts it. */
static int append(const bouma_allocator *a, struct bm_catalogue *names,
                  void *array, bm_name_at name_at, void *item)
{
    size_t count = names->count, rank;
    void **old, **grown;

    memcpy(&old, array, sizeof(old));
    grown = bm_grow(a, old, count, sizeof(*grown));
    if (!grown)
        return BOUMA_ENOMEM;
    memcpy(array, &grown, sizeof(grown));
    grown[count] = item;
    bm_catalogue_find(names, grown, name_at, name_at(grown, count), &rank);
    return bm_catalogue_add(names, a, rank);
}

/* Whether there can be one more of that name. */
static int check_name(const struct bm_schema *schema, enum bm_object_kind kind,
                      const char *name, const char *unit)
{
    struct bm_error *error = schema->error;
    const char *wrong = bm_name_check(name), *what = bm_object_kind_name(kind);

    if (wrong)
        return bm_fail(error, BOUMA_EINVAL, "%s %s",
                       bm_kind_words(kind)->its_name, wrong);
    if (unit && strlen(unit) > BM_MAX_NAME)
        return bm_fail(error, BOUMA_EINVAL,
                       "%s \"%s\" has a unit of more than 255 bytes", what,
                       name);
    if (bm_schema_find(schema, name))
        return bm_fail(error, BOUMA_EEXISTS, "%s \"%s\" is defined already",
                       bm_object_kind_name(bm_schema_find(schema, name)->kind),
                       name);
    if (schema->count >= BM_MAX_VARIABLES)
        return bm_fail(error, BOUMA_ELIMIT,
                       "%s \"%s\": no more than %d grids and particle sets",
                       what, name, BM_MAX_VARIABLES);
    return BOUMA_OK;
}

static int add_object(struct bm_schema *schema, struct bm_object *object)
{
    struct bm_object_list *alike = &schema->of_kind[object->kind];
    struct bm_object **grown = bm_grow(schema->a, alike->objects,
                                       (size_t)alike->count, sizeof(*grown));

    if (grown)
        alike->objects = grown;
    object->number = (uint32_t)schema->count;
    if (!grown || append(schema->a, &schema->names, &schema->objects,
                         object_name, object))
        return bm_fail(schema->error, BOUMA_ENOMEM, "%s \"%s\": no memory",
                       bm_object_kind_name(object->kind), object->name);
    schema->count++;
    alike->objects[alike->count++] = object;
    return BOUMA_OK;
}

void bm_schema_remove_last(struct bm_schema *schema)
{
    struct bm_object *last = schema->objects[--schema->count];

    schema->of_kind[last->kind].count--;
    bm_catalogue_remove_last(&schema->names);
    schema->defined -= (uint32_t)last->count;
    object_free(last);
}

int bm_schema_add(struct bm_schema *schema, struct bm_object **out,
                  const struct bm_layout *layout, const char *name,
                  const char *unit, const void *spec)
{
    struct bm_object *object;
    int rc = check_name(schema, layout->kind, name, unit);

    *out = NULL;
    if (rc)
        return rc;
    object = object_new(schema, layout, name, unit);
    if (!object)
        return bm_fail(schema->error, BOUMA_ENOMEM, "%s \"%s\": no memory",
                       bm_object_kind_name(layout->kind), name);
    rc = layout->define(object, spec);
    if (!rc)
        rc = add_object(schema, object);
    if (rc) {
        object_free(object);
        return rc;
    }
    *out = object;
    return BOUMA_OK;
}

int bm_schema_add_grid(struct bm_schema *schema, struct bm_object **out,
                       const char *name, const bouma_grid_spec *spec)
{
    int code = spec->layout ? (int)spec->layout : BOUMA_LAYOUT_PATCH;
    const struct bm_layout *layout = bm_layout_find(BM_GRID, code);

    if (!layout)
        return bm_fail(schema->error, BOUMA_EINVAL,
                       "grid \"%s\": there is no layout %d for grids", name,
                       code);
    return bm_schema_add(schema, out, layout, name, spec->unit, spec);
}

int bm_schema_set_axes(struct bm_object *o, const bouma_grid_spec *spec)
{
    if (spec->ndims < 1 || spec->ndims > 3)
        return bm_fail(o->schema->error, BOUMA_EINVAL,
                       "grid \"%s\": ndims is %d; it must be 1 to 3", o->name,
                       spec->ndims);
    o->ndims = spec->ndims;
    for (int d = 0; d < spec->ndims; d++) {
        if (spec->shape[d] < 1)
            return bm_fail(o->schema->error, BOUMA_EINVAL,
                           "grid \"%s\": shape[%d] is %lld; it must be 1 or "
                           "more",
                           o->name, d, (long long)spec->shape[d]);
        o->origin[d] = spec->origin[d];
        o->spacing[d] = spec->spacing[d] != 0 ? spec->spacing[d] : 1;
        if (!isfinite(o->origin[d]) || !isfinite(o->spacing[d]))
            return bm_fail(o->schema->error, BOUMA_EINVAL,
                           "grid \"%s\" has an origin or spacing that is not "
                           "a finite number",
                           o->name);
    }
    return BOUMA_OK;
}

bouma_codec bm_schema_grid_codec(const bouma_variable_spec *spec)
{
    const struct bm_object patches = {.layout = &bm_layout_grid_patch};

    return bm_variable_codec(&patches, spec);
}

int bm_schema_add_variable(struct bm_object *grid, struct bouma_variable **out,
                           const char *name, const bouma_variable_spec *spec)
{
    struct bm_schema *schema = grid->schema;
    struct bm_error *error = schema->error;
    int components = spec->components ? spec->components : 1;
    const char *wrong = bm_name_check(name);
    struct bouma_variable *v;
    char text[256];

    *out = NULL;
    if (wrong)
        return bm_fail(error, BOUMA_EINVAL, "a variable's name %s", wrong);
    if (bm_grid_find_variable(grid, name))
        return bm_fail(error, BOUMA_EEXISTS,
                       "variable \"%s/%s\" is defined already", grid->name,
                       name);
    wrong = bm_variable_check(text, sizeof(text), grid, spec, components);
    if (wrong)
        return bm_fail(error, BOUMA_EINVAL, "variable \"%s/%s\" %s", grid->name,
                       name, wrong);
    if (schema->defined >= BM_MAX_VARIABLES)
        return bm_fail(error, BOUMA_ELIMIT,
                       "variable \"%s/%s\": no more than %d variables",
                       grid->name, name, BM_MAX_VARIABLES);
    v = bm_new(schema->a, 1, sizeof(*v));
    if (!v)
        return bm_fail(error, BOUMA_ENOMEM, "variable \"%s/%s\": no memory",
                       grid->name, name);
    bm_attributes_init(&v->attributes, schema->a, error);
    v->object = grid;
    v->type = spec->type;
    v->components = components;
    v->codec = bm_variable_codec(grid, spec);
    v->effort = spec->codec_level;
    v->tolerance = spec->tolerance;
    v->tolerance_kind = spec->tolerance_kind;
    v->nominal = spec->nominal;
    v->bound = v->tolerance_kind == BOUMA_TOLERANCE_ABSOLUTE ? v->tolerance : 0;
    v->name = bm_copy_text(schema->a, name);
    v->unit = bm_copy_text(schema->a, spec->unit);
    v->in_step.ranges =
        bm_new(schema->a, (size_t)components, sizeof(*v->in_step.ranges));
    if (!v->name || !v->unit || !v->in_step.ranges ||
        append(schema->a, &grid->names, &grid->variables, variable_name, v)) {
        variable_free(v, schema->a);
        return bm_fail(error, BOUMA_ENOMEM, "variable \"%s/%s\": no memory",
                       grid->name, name);
    }
    grid->count++;
    schema->defined++;
    *out = v;
    return BOUMA_OK;
}

int bm_schema_number(struct bm_schema *schema)
{
    struct bouma_variable **by_id =
        bm_resize(schema->a, schema->by_id, schema->defined, sizeof(*by_id));
    uint32_t n = 0;

    if (!by_id)
        return BOUMA_ENOMEM;
    schema->by_id = by_id;
    schema->variables = schema->defined;
    for (int i = 0; i < schema->count; i++)
        for (int j = 0; j < schema->objects[i]->count; j++) {
            by_id[n] = schema->objects[i]->variables[j];
            by_id[n]->id = n;
            n++;
        }
    return BOUMA_OK;
}

/* ---- bytes -------------------------------------------------------------- */

static void encode_variable(struct bm_buffer *b, const struct bouma_variable *v)
{
    bm_put_text(b, v->name);
    bm_put_text(b, v->unit);
    bm_put_u8(b, (uint8_t)v->type);
    bm_put_u8(b, (uint8_t)v->codec);
    bm_put_u8(b, (uint8_t)v->effort);
    bm_put_u8(b, (uint8_t)((int)v->tolerance_kind | v->nominal << 1));
    bm_put_u32(b, (uint32_t)v->components);
    bm_put_f64(b, v->tolerance);
    bm_put_f64(b, v->bound);
    bm_attributes_encode(b, &v->attributes);
}

void bm_schema_encode(struct bm_buffer *b, const struct bm_schema *schema)
{
    bm_put_u64(b, (uint64_t)schema->count);
    for (int i = 0; i < schema->count; i++) {
        const struct bm_object *g = schema->objects[i];

        bm_put_u8(b, (uint8_t)g->kind);
        bm_put_u8(b, g->layout->code);
        bm_put_u8(b, (uint8_t)g->ndims);
        bm_put_u8(b, (uint8_t)g->levels);
        bm_put_text(b, g->name);
        bm_put_text(b, g->unit);
        g->layout->encode_schema(b, g);
        bm_attributes_encode(b, &g->attributes);
        bm_put_u64(b, (uint64_t)g->count);
        for (int j = 0; j < g->count; j++)
            encode_variable(b, g->variables[j]);
    }
}

/* Numbers of choices only ever grow, so one beyond those that we know, and a
 * choice for what it was not made for, are of a newer version: EVERSION. */
static int check_known(const struct bm_object *g, const char *name,
                       const bouma_variable_spec *spec, unsigned kind,
                       struct bm_error *why)
{
    const unsigned known_kinds = 3;
    const char *what = NULL;
    int number = 0;

    if ((int)spec->type > (int)BOUMA_TYPE_F64) {
        what = "type";
        number = (int)spec->type;
    } else if (!bm_variable_codec_fits(g->layout, spec)) {
        what = "codec";
        number = (int)spec->codec;
    } else if (kind > known_kinds) {
        what = "tolerance of the kind";
        number = (int)kind;
    }
    return what ? bm_fail(why, BOUMA_EVERSION,
                          "variable \"%s/%s\" has a %s (%d) that this version "
                          "does not know",
                          g->name, name, what, number)
                : BOUMA_OK;
}

/* Bytes say what a caller of the library could have said: so they go through
 * the same checks, and what these refuse is damage. */
static int decode_variable(struct bm_object *g, struct bm_cursor *c,
                           struct bm_error *why)
{
    const bouma_allocator *a = g->schema->a;
    bouma_variable_spec spec = {.size = sizeof(spec)};
    struct bouma_variable *v = NULL;
    int no_memory = 0, rc = BOUMA_EFORMAT;
    char *name = bm_get_text(c, a, &no_memory);
    char *unit = bm_get_text(c, a, &no_memory);
    uint32_t components;
    uint8_t kind;
    double bound;

    spec.type = (bouma_type)bm_get_u8(c);
    spec.codec = (bouma_codec)bm_get_u8(c);
    spec.codec_level = bm_get_u8(c);
    kind = bm_get_u8(c);
    spec.tolerance_kind = (bouma_tolerance)(kind & ~2u);
    spec.nominal = kind >> 1 & 1;
    components = bm_get_u32(c);
    spec.tolerance = bm_get_f64(c);
    bound = bm_get_f64(c);
    spec.unit = unit;
    if (no_memory) {
        rc = bm_fail(why, BOUMA_ENOMEM, "no memory");
    } else if (!c->failed && name && unit && spec.codec && components >= 1 &&
               components <= BM_MAX_COMPONENTS) {
        spec.components = (int)components;
        rc = check_known(g, name, &spec, kind, why);
        if (!rc)
            rc = bm_schema_add_variable(g, &v, name, &spec);
    }
    if (!rc) {
        rc =
            bound >= 0 && bound <= DBL_MAX && (v->tolerance > 0 || !(bound > 0))
                ? BOUMA_OK
                : BOUMA_EFORMAT;
        v->bound = bound;
    }
    if (!rc)
        rc = bm_attributes_decode(&v->attributes, c);
    bm_drop(a, name);
    bm_drop(a, unit);
    return rc;
}

/* An object of the schema without variables. */
static int decode_own(struct bm_schema *schema, struct bm_object **out,
                      struct bm_cursor *c, const struct bm_object *about)
{
    struct bm_object *g;
    int rc;

    if (check_name(schema, about->layout->kind, about->name, about->unit))
        return BOUMA_EFORMAT;
    g = object_new(schema, about->layout, about->name, about->unit);
    if (!g)
        return BOUMA_ENOMEM;
    g->ndims = about->ndims;
    g->levels = about->levels;
    rc = g->layout->decode_schema(g, c);
    if (!rc)
        rc = add_object(schema, g);
    if (rc) {
        object_free(g);
        return rc;
    }
    *out = g;
    return BOUMA_OK;
}

static int decode_object(struct bm_schema *schema, struct bm_cursor *c,
                         struct bm_error *why)
{
    struct bm_object about = {0}, *g = NULL;
    int no_memory = 0, rc = BOUMA_EFORMAT;
    int kind = bm_get_u8(c), layout = bm_get_u8(c);
    size_t variables = 0;

    about.layout = bm_layout_find(kind, layout);
    about.ndims = bm_get_u8(c);
    about.levels = bm_get_u8(c);
    about.name = bm_get_text(c, schema->a, &no_memory);
    about.unit = bm_get_text(c, schema->a, &no_memory);
    if (no_memory)
        rc = bm_fail(why, BOUMA_ENOMEM, "no memory");
    else if (!c->failed &&
             (kind > BM_LAST_KIND || layout > bm_layout_last_code()))
        rc = bm_fail(why, BOUMA_EVERSION,
                     "\"%s\" is of a kind (%d) or in a layout (%d) that this "
                     "version does not know",
                     about.name ? about.name : "", kind, layout);
    else if (!c->failed && about.layout && about.name && about.unit &&
             about.ndims >= 1 && about.ndims <= 3 && about.levels >= 1 &&
             about.levels <= BM_MAX_LEVELS)
        rc = decode_own(schema, &g, c, &about);
    if (!rc)
        rc = bm_attributes_decode(&g->attributes, c);
    if (!rc)
        variables = bm_get_count(c, 36);
    for (size_t i = 0; i < variables && !rc; i++)
        rc = decode_variable(g, c, why);
    if (!rc && !g->layout->complete(g))
        rc = BOUMA_EFORMAT;
    bm_drop(schema->a, about.name);
    bm_drop(schema->a, about.unit);
    return rc;
}

int bm_schema_decode(struct bm_schema *schema, struct bm_cursor *c,
                     const char *name, struct bm_error *error)
{
    struct bm_error why = {0}, *usual = schema->error;
    size_t count = bm_get_count(c, 32);
    int rc = BOUMA_OK;

    schema->error = &why;
    for (size_t i = 0; i < count && !rc; i++)
        rc = decode_object(schema, c, &why);
    if (!rc && bm_schema_number(schema))
        rc = BOUMA_ENOMEM;
    schema->error = usual;
    /* The attributes were made while errors went elsewhere. */
    for (int i = 0; i < schema->count; i++) {
        schema->objects[i]->attributes.error = usual;
        schema->objects[i]->shown_attributes.error = usual;
        for (int j = 0; j < schema->objects[i]->count; j++)
            schema->objects[i]->variables[j]->attributes.error = usual;
    }
    if (rc == BOUMA_ENOMEM)
        return bm_fail(error, rc, "%s: no memory", name);
    if (rc == BOUMA_EVERSION)
        return bm_fail(error, rc, "%s: " BM_NEWER "%s", name,
                       why.text[0] ? why.text : BM_NEWER_ATTRIBUTE);
    if (rc || c->failed)
        return bm_fail(error, BOUMA_EFORMAT,
                       "%s: the description of grids is damaged%s%s", name,
                       why.text[0] ? ": " : "", why.text);
    return BOUMA_OK;
}
