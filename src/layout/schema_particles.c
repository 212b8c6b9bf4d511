/* schema_particles.c -- sets of particles in a schema. */
#include <string.h>

#include "layout/schema.h"

#define USUAL_CHUNK 8192
#define USUAL_LEAF  256
#define POSITION    "position"

int bm_particles_take_codec(bouma_codec codec)
{
    return codec == BOUMA_CODEC_ZSTD || codec == BOUMA_CODEC_RAW ||
           codec == BOUMA_CODEC_QUANTISE;
}

/* A set without variables. */
static int add_set(struct bm_schema *schema, struct bm_object **out, int ndims,
                   const char *name, const char *unit, uint32_t leaf,
                   uint32_t chunk, int levels, const uint32_t *limit)
{
    struct bm_object *g = bm_object_new(schema, BM_PARTICLES, name, unit);

    *out = NULL;
    if (!g)
        return BOUMA_ENOMEM;
    g->ndims = ndims;
    g->leaf = leaf;
    g->levels = levels;
    if (bm_detail_init(&g->detail, schema->a, chunk, levels, limit) ||
        bm_schema_add_object(schema, g)) {
        bm_object_free(g);
        return BOUMA_ENOMEM;
    }
    *out = g;
    return BOUMA_OK;
}

int bm_schema_add_particles(struct bm_schema *schema,
                            struct bouma_particles **out, const char *name,
                            const bouma_particles_spec *spec)
{
    struct bm_error *error = schema->error;
    uint32_t limit[BM_MAX_LEVELS + 1];
    int levels = bm_detail_usual(limit, USUAL_CHUNK);
    bouma_variable_spec position = {.size = sizeof(position),
                                    .type = spec->type ? spec->type : BOUMA_F32,
                                    .components = spec->ndims,
                                    .codec = spec->codec,
                                    .codec_level = spec->codec_level,
                                    .unit = spec->unit,
                                    .tolerance = spec->tolerance};
    struct bouma_variable *v;
    struct bm_object *g;
    int rc = bm_schema_check_name(schema, BM_PARTICLES, name, spec->unit);

    *out = NULL;
    if (rc)
        return rc;
    if (spec->ndims < 1 || spec->ndims > 3)
        return bm_fail(error, BOUMA_EINVAL,
                       "particles \"%s\": ndims is %d; it must be 1 to 3", name,
                       spec->ndims);
    if (!bm_type_is_float(position.type))
        return bm_fail(error, BOUMA_EINVAL,
                       "particles \"%s\": positions must be f32 or f64", name);
    if (spec->leaf < 0 || spec->leaf > BM_MAX_LEAF)
        return bm_fail(error, BOUMA_EINVAL,
                       "particles \"%s\": leaf is %d; it must be 1 to %d, or 0 "
                       "for the default",
                       name, spec->leaf, BM_MAX_LEAF);
    if (add_set(schema, &g, spec->ndims, name, spec->unit,
                spec->leaf ? (uint32_t)spec->leaf : USUAL_LEAF, USUAL_CHUNK,
                levels, limit))
        return bm_fail(error, BOUMA_ENOMEM, "particles \"%s\": no memory",
                       name);
    rc = bm_schema_add_variable(g, &v, POSITION, &position);
    if (rc) {
        bm_schema_remove_last(schema);
        return rc;
    }
    *out = (struct bouma_particles *)g;
    return BOUMA_OK;
}

/* ---- bytes -------------------------------------------------------------- */

void bm_particles_encode(struct bm_buffer *b, const struct bm_object *g)
{
    bm_put_u32(b, g->leaf);
    bm_put_u32(b, g->detail.chunk);
    for (int k = 0; k < g->levels; k++)
        bm_put_u32(b, g->detail.limit[k]);
}

int bm_particles_decode(struct bm_schema *schema, struct bm_object **out,
                        struct bm_cursor *c, int ndims, int levels,
                        const char *name, const char *unit)
{
    uint32_t leaf = bm_get_u32(c), chunk = bm_get_u32(c);
    uint32_t limit[BM_MAX_LEVELS];

    *out = NULL;
    for (int k = 0; k < levels; k++)
        limit[k] = bm_get_u32(c);
    if (c->failed || leaf < 1 || leaf > BM_MAX_LEAF ||
        !bm_detail_valid(chunk, levels, limit) ||
        bm_schema_check_name(schema, BM_PARTICLES, name, unit))
        return BOUMA_EFORMAT;
    return add_set(schema, out, ndims, name, unit, leaf, chunk, levels, limit);
}

int bm_particles_complete(const struct bm_object *g)
{
    return g->count && !strcmp(g->variables[0]->name, POSITION) &&
                   bm_type_is_float(g->variables[0]->type) &&
                   g->variables[0]->components == g->ndims
               ? BOUMA_OK
               : BOUMA_EFORMAT;
}
