/* grid_patch.c -- see grid_patch.h. */
#include "layout/grid_patch_inside.h"

#include <stdio.h>
#include <string.h>

#include "codec/lattice.h"

static int max_levels(const struct bm_tiling *t)
{
    int levels = 1;

    for (int d = 0; d < 3; d++)
        while (t->edge[d] >> levels)
            levels++;
    return levels;
}

/* ---- schema -------------------------------------------------------------- */

/* What is wrong with the patches, as the end of a sentence, or NULL. */
static const char *set_patches(struct bm_object *o, struct bm_tiling *t,
                               const bouma_grid_spec *spec)
{
    const char *wrong;
    int64_t edge[3];

    if (spec->hz_template || spec->hz_block_bits || spec->hz_blocks_per_file ||
        spec->hz_order || spec->hz_partitions || spec->hz_index ||
        spec->hz_wavelet || spec->hz_tile_bits)
        return "has fields hz_..., which are for BOUMA_LAYOUT_HZ";
    if (spec->idx)
        return "has 'idx', which is for BOUMA_LAYOUT_HZ";
    bm_tiling_edges(edge, spec->ndims, spec->shape, spec->patch);
    wrong = bm_tiling_init(t, spec->ndims, spec->shape, edge);
    if (!wrong)
        o->domain = bm_tiling_domain(t);
    return wrong;
}

/* The wrong one is named, unlike by bm_tiling_init(). */
static int check_patch(const struct bm_object *o, const bouma_grid_spec *spec)
{
    for (int d = 0; d < spec->ndims; d++)
        if (spec->patch[d] < 0 || (spec->patch[d] & (spec->patch[d] - 1)))
            return bm_fail(o->schema->error, BOUMA_EINVAL,
                           "grid \"%s\": patch[%d] is %lld, which is not a "
                           "power of two",
                           o->name, d, (long long)spec->patch[d]);
    return BOUMA_OK;
}

/* Whether the caller leaves the edges to the library, and so that there is a
 * choice. */
static int is_open(const struct bm_object *o, const bouma_grid_spec *spec)
{
    struct bm_patch_grid task = bm_grid_patch_task(o);

    for (int d = 0; d < spec->ndims; d++)
        if (spec->patch[d])
            return 0;
    return !spec->levels && bm_patch_has_choice(&task);
}

static int define(struct bm_object *o, const void *wanted)
{
    const bouma_grid_spec *spec = wanted;
    struct bm_error *error = o->schema->error;
    struct bm_grid_patch *own = bm_new(o->a, 1, sizeof(*own));
    const char *wrong;
    int rc;

    if (!own)
        return bm_fail(error, BOUMA_ENOMEM, "grid \"%s\": no memory", o->name);
    o->own = own;
    rc = bm_schema_set_axes(o, spec);
    if (!rc)
        rc = check_patch(o, spec);
    if (rc)
        return rc;
    wrong = set_patches(o, &own->tiling, spec);
    if (wrong)
        return bm_fail(error, BOUMA_EINVAL, "grid \"%s\" %s", o->name, wrong);
    if (spec->levels < 0 || spec->levels > max_levels(&own->tiling))
        return bm_fail(error, BOUMA_EINVAL,
                       "grid \"%s\" has %d levels, but its patches allow 1 to "
                       "%d (1 + log2 of the longest edge)",
                       o->name, spec->levels, max_levels(&own->tiling));
    o->levels = spec->levels ? spec->levels : bm_tiling_levels(&own->tiling);
    own->is_open = is_open(o, spec);
    return BOUMA_OK;
}

/* ---- edges by the blocks of ranks ---------------------------------------- */

struct bm_grid_patch *bm_grid_patch_open(const struct bm_object *o)
{
    struct bm_grid_patch *own =
        o->layout == &bm_layout_grid_patch ? o->own : NULL;

    return own && own->is_open ? own : NULL;
}

struct bm_patch_grid bm_grid_patch_task(const struct bm_object *o)
{
    struct bm_patch_grid task = {.ndims = o->ndims,
                                 .most_samples = BM_MAX_CHUNK};

    for (int d = 0; d < 3; d++)
        task.shape[d] = bm_tiling_of(o)->shape[d];
    for (int i = 0; i < o->count; i++) {
        const struct bouma_variable *v = o->variables[i];
        uint64_t most =
            BM_MAX_CHUNK / bouma_type_size(v->type) / (uint64_t)v->components;

        if (most < task.most_samples)
            task.most_samples = most;
        task.predicted |= v->tolerance > 0;
    }
    return task;
}

int bm_grid_patch_same(int64_t edge[3], const struct bm_object *o,
                       const struct bm_object *other)
{
    const struct bm_tiling *t = bm_tiling_of(o), *theirs;
    struct bm_patch_grid task = bm_grid_patch_task(o);

    if (other->layout != o->layout || other->ndims != o->ndims ||
        other->levels != o->levels)
        return 0;
    theirs = bm_tiling_of(other);
    memcpy(edge, theirs->edge, sizeof(theirs->edge));
    return !memcmp(t->shape, theirs->shape, sizeof(t->shape)) &&
           (uint64_t)(edge[0] * edge[1] * edge[2]) <= task.most_samples;
}

int bm_grid_patch_settle(const struct bm_object *o, const int64_t edge[3])
{
    struct bm_grid_patch *own = o->own;
    struct bm_tiling t = own->tiling;
    int skip = 3 - o->ndims, changes;

    bm_tiling_init(&t, o->ndims, own->tiling.shape + skip, edge + skip);
    changes = memcmp(t.edge, own->tiling.edge, sizeof(t.edge)) != 0;
    own->tiling = t;
    own->settled = 1;
    return changes;
}

static void release(struct bm_object *o)
{
    bm_drop(o->a, o->own);
    o->own = NULL;
}

static void encode(struct bm_buffer *b, const struct bm_object *o)
{
    const struct bm_tiling *t = bm_tiling_of(o);

    for (int d = 0; d < o->ndims; d++) {
        bm_put_i64(b, t->shape[3 - o->ndims + d]);
        bm_put_i64(b, t->edge[3 - o->ndims + d]);
        bm_put_f64(b, o->origin[d]);
        bm_put_f64(b, o->spacing[d]);
    }
}

/* Bytes say what a caller could have said, and go through the same checks. */
static int decode(struct bm_object *o, struct bm_cursor *c)
{
    bouma_grid_spec spec = {.size = sizeof(spec)};
    int rc;

    spec.ndims = o->ndims;
    spec.levels = o->levels;
    for (int d = 0; d < o->ndims; d++) {
        spec.shape[d] = bm_get_i64(c);
        spec.patch[d] = bm_get_i64(c);
        spec.origin[d] = bm_get_f64(c);
        spec.spacing[d] = bm_get_f64(c);
        /* What a caller may leave out is always there. */
        if (!spec.patch[d] || spec.spacing[d] == 0)
            return BOUMA_EFORMAT;
    }
    rc = c->failed ? BOUMA_EFORMAT : define(o, &spec);
    for (int d = 0; d < o->ndims && !rc; d++) /* no larger than they can be */
        if (bm_tiling_of(o)->edge[3 - o->ndims + d] != spec.patch[d])
            rc = BOUMA_EFORMAT;
    return rc;
}

static const char *check_variable(const struct bm_object *o,
                                  const bouma_variable_spec *spec,
                                  int components)
{
    uint64_t values = 1;

    for (int d = 0; d < 3; d++)
        if (__builtin_mul_overflow(values, (uint64_t)bm_tiling_of(o)->edge[d],
                                   &values))
            return "has patches of more than 1 GiB; choose a smaller 'patch'";
    if (values >
        BM_MAX_CHUNK / bouma_type_size(spec->type) / (uint64_t)components)
        return "has patches of more than 1 GiB; choose a smaller 'patch'";
    return NULL;
}

static int complete(const struct bm_object *o)
{
    (void)o;
    return 1;
}

static int differs(char *text, size_t bytes, const struct bm_object *mine,
                   const struct bm_object *root, int me)
{
    char mine_box[128], root_box[128];

    bm_box_text(mine_box, sizeof(mine_box), &mine->domain, mine->ndims);
    bm_box_text(root_box, sizeof(root_box), &root->domain, root->ndims);
    if (strcmp(mine_box, root_box))
        snprintf(text, bytes, "rank %d has grid \"%s\" as %s, rank 0 as %s", me,
                 mine->name, mine_box, root_box);
    else if (memcmp(bm_tiling_of(mine), bm_tiling_of(root),
                    sizeof(struct bm_tiling)) ||
             mine->levels != root->levels)
        snprintf(text, bytes,
                 "rank %d has grid \"%s\" with other patches or levels than "
                 "rank 0",
                 me, mine->name);
    else
        return 0;
    return 1;
}

/* ---- chunks -------------------------------------------------------------- */

static int64_t patch_of(const struct bm_object *o, uint64_t key)
{
    return bm_tiling_find(bm_tiling_of(o), key);
}

static uint64_t most_values(const struct bm_object *o)
{
    const int64_t *edge = bm_tiling_of(o)->edge;

    return (uint64_t)(edge[0] * edge[1] * edge[2]);
}

static int has_chunk(const struct bm_object *o, const struct bm_summary *s,
                     uint64_t key)
{
    (void)s;
    return patch_of(o, key) >= 0;
}

static uint64_t values_of(const struct bm_object *o, const struct bm_summary *s,
                          uint64_t key, uint64_t values[BM_MAX_LEVELS])
{
    struct bm_box box = bm_tiling_patch_box(bm_tiling_of(o), patch_of(o, key));

    (void)s;
    for (int k = 0; k < o->levels; k++) {
        struct bm_lattice l = bm_lattice_of(&box, k);

        values[k] = k == o->levels - 1 ? bm_lattice_samples(&l)
                                       : bm_lattice_details(&l);
    }
    return bm_box_volume(&box);
}

static struct bm_chunking chunking(const struct bm_object *o)
{
    return bm_chunking_of_tiling(bm_tiling_of(o));
}

static void info(const struct bm_object *o, bouma_grid_info *out)
{
    for (int d = 0; d < o->ndims; d++)
        out->patch[d] = bm_tiling_of(o)->edge[3 - o->ndims + d];
}

static void text_of(char *text, size_t bytes, const struct bm_object *o,
                    uint64_t key)
{
    struct bm_box box = bm_chunk_bounds(o, key);
    char region[160];

    bm_box_text(region, sizeof(region), &box, o->ndims);
    snprintf(text, bytes, "patch %s", region);
}

static struct bm_limits chunks(const struct bm_object *o,
                               const struct bm_summary *s)
{
    (void)s;
    return (struct bm_limits){1, (uint64_t)bm_tiling_of(o)->patches};
}

static struct bm_limits samples(const struct bm_object *o,
                                const struct bm_summary *s)
{
    (void)s;
    return (struct bm_limits){0, bm_box_volume(&o->domain)};
}

const struct bm_layout bm_layout_grid_patch = {
    .kind = BM_GRID,
    .code = 1,
    .use = BM_FOR_FIELDS,
    .lossy = BOUMA_CODEC_INTERP,
    .define = define,
    .release = release,
    .encode_schema = encode,
    .decode_schema = decode,
    .check_variable = check_variable,
    .complete = complete,
    .differs = differs,
    .info = info,
    .most_values = most_values,
    .has_chunk = has_chunk,
    .values = values_of,
    .text = text_of,
    .chunks = chunks,
    .samples = samples,
    .chunking = chunking,
    .encode_begin = bm_grid_patch_encode_begin,
    .take = bm_grid_patch_take,
    .encode_pieces = bm_grid_patch_encode,
    .decode_begin = bm_grid_patch_begin,
    .decode_piece = bm_grid_patch_decode,
    .ranges = bm_grid_patch_ranges,
    .sample_bytes = bm_grid_patch_sample_bytes,
    .keep = bm_grid_patch_keep,
    .give = bm_grid_patch_give,
};
