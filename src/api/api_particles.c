/* api_particles.c -- particles: definitions, puts, and what is known of them.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/column.h"
#include "base/bounds.h"
#include "dataset/borrowed.h"
#include "read/read.h"

/* ---- writing ------------------------------------------------------------ */

int bouma_particles_define(bouma_particles **out, bouma_dataset *ds,
                           const char *name, const bouma_particles_spec *spec)
{
    BM_STRICT_MATH;
    bouma_particles_spec own;
    int rc;

    if (out)
        *out = NULL;
    if (!ds)
        return BOUMA_EINVAL;
    rc = bm_api_check_defining(ds, out, name);
    if (!rc)
        rc = bm_api_copy_spec(&ds->error, &own, sizeof(own), spec,
                              spec ? spec->size : 0, "bouma_particles_spec");
    if (!rc)
        rc = bm_schema_add_particles(&ds->schema, out, name, &own);
    return bm_api_defined(ds, NULL, name, BM_OF_DATASET, rc);
}

int bouma_particles_define_variable(bouma_variable **out,
                                    bouma_particles *particles,
                                    const char *name,
                                    const bouma_variable_spec *spec)
{
    BM_STRICT_MATH;

    return bm_api_define_variable(out, particles ? &particles->object : NULL,
                                  name, spec);
}

/* The lanes of one column. Values that cannot be used where they are are
 * brought into memory of the block's own. */
static int fill_lanes(struct bm_particle_block *block,
                      const struct bm_column *column, const bouma_allocator *a,
                      struct bm_error *error)
{
    const bouma_variable *v = column->variable;
    struct bm_particle_lane *lanes = &block->lanes[bm_variable_lane(v)];
    struct bm_put all = {.variable = column->variable,
                         .from = {.box = {.hi = {1, 1, (int64_t)block->count}},
                                  .array = column->array}};
    int rc = BOUMA_OK;

    if (lanes[0].data)
        return bm_fail(error, BOUMA_EINVAL,
                       "particles \"%s\": there are two columns for \"%s\"",
                       block->set->name, v->name);
    if (!bm_array_is_plain(&column->array, v))
        rc = bm_put_keep_copy(&all, a, error);
    lanes[0].own = all.copy;
    for (int c = 0; c < v->components && !rc; c++) {
        lanes[c].data = bm_array_component(&all.from.array, c);
        lanes[c].stride = all.from.array.stride[2];
        lanes[c].kept = all.copy != NULL;
    }
    return rc;
}

static int fill_bounds(struct bm_particle_block *block,
                       const bouma_bounds *bounds, struct bm_error *error)
{
    bouma_bounds own;
    char what[300];
    int rc = BOUMA_OK;

    snprintf(what, sizeof(what), "particles \"%.255s\", bounds",
             block->set->name);
    if (bounds)
        rc = bm_bounds_take(&own, bounds, BOUMA_AXES_XYZ, block->set->ndims,
                            what, error);
    if (rc)
        return rc;
    for (int d = 0; d < block->set->ndims && bounds; d++) {
        block->low[d] = own.low[d];
        block->high[d] = own.high[d];
        if (!isfinite(block->low[d]) || !isfinite(block->high[d]) ||
            block->low[d] > block->high[d])
            return bm_fail(error, BOUMA_EINVAL,
                           "particles \"%s\": the bounds %g to %g of axis %d "
                           "are not two finite numbers, the lower one first",
                           block->set->name, block->low[d], block->high[d], d);
    }
    block->bounded = bounds != NULL;
    return BOUMA_OK;
}

static int add_particle_block(bouma_dataset *ds,
                              const struct bm_particle_block *block)
{
    struct bm_given *g = &ds->given;
    struct bm_particle_block *blocks = bm_more_room(
        ds->a, g->blocks, g->block_count, &g->block_room, sizeof(*blocks));

    if (!blocks)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for particles");
    g->blocks = blocks;
    blocks[g->block_count] = *block;
    blocks[g->block_count].serial = g->block_count;
    g->block_count++;
    return BOUMA_OK;
}

/* Everything that a caller has said of its particles. */
static int fill_block(struct bm_particle_block *block,
                      const bouma_column *columns, size_t column_count,
                      const bouma_bounds *bounds, struct bm_error *error)
{
    const bouma_allocator *a = block->set->schema->a;
    const char *name = block->set->name;
    int rc = BOUMA_OK;

    if (column_count && !columns)
        return bm_fail(error, BOUMA_EINVAL, "particles \"%s\": no columns",
                       name);
    if (block->count >= BM_MAX_PARTICLES)
        return bm_fail(error, BOUMA_ELIMIT,
                       "particles \"%s\": there are 2^62 or more", name);
    for (size_t i = 0; i < column_count && !rc; i++) {
        struct bm_column column;

        rc = bm_api_column(&column, block->set, columns, i, block->count);
        if (!rc)
            rc = fill_lanes(block, &column, a, error);
        bm_api_column_release(&column, a);
    }
    if (!rc && !block->lanes[0].data)
        rc = bm_fail(error, BOUMA_EINVAL,
                     "particles \"%s\": there is no column for the position",
                     name);
    return rc ? rc : fill_bounds(block, bounds, error);
}

static int put_particles(struct bm_object *set, uint64_t count,
                         const bouma_column *columns, size_t column_count,
                         const bouma_bounds *bounds, int copy)
{
    BM_STRICT_MATH;
    struct bm_particle_block block = {.set = set, .count = count};
    bouma_dataset *ds = set->schema->dataset;
    char text[300];
    int rc;

    snprintf(text, sizeof(text), "particles \"%.255s\"", set->name);
    rc = bm_api_check_put(ds, set->schema, text);
    if (rc || !count)
        return rc;
    for (int i = 0; i < set->count; i++)
        block.lane_count += (size_t)set->variables[i]->components;
    block.lanes = bm_new(ds->a, block.lane_count, sizeof(*block.lanes));
    if (!block.lanes)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for particles");
    if (!rc)
        rc = fill_block(&block, columns, column_count, bounds, &ds->error);
    if (!rc && copy)
        rc = bm_particle_block_keep_copy(&block, ds->a, &ds->error);
    else if (!rc && ds->options.check > 0)
        bm_particle_block_remember(&block);
    if (!rc)
        rc = add_particle_block(ds, &block);
    if (rc)
        bm_particle_block_release(&block, ds->a);
    return rc;
}

/* As both calls do it: what fails is remembered by the dataset. */
static int put(bouma_particles *particles, uint64_t count,
               const bouma_column *columns, size_t column_count,
               const bouma_bounds *bounds, int copy)
{
    struct bm_object *set;
    bouma_dataset *ds;
    int rc;

    if (!particles)
        return BOUMA_EINVAL;
    set = &particles->object;
    ds = set->schema->dataset;
    bm_api_enter(ds);
    rc = bm_api_put(
        ds, put_particles(set, count, columns, column_count, bounds, copy));
    return bm_api_leave(ds, rc);
}

int bouma_particles_put_borrow(bouma_particles *particles, uint64_t count,
                               const bouma_column *columns, size_t column_count,
                               const bouma_bounds *bounds)
{
    BM_STRICT_MATH;

    return put(particles, count, columns, column_count, bounds, 0);
}

int bouma_particles_put_copy(bouma_particles *particles, uint64_t count,
                             const bouma_column *columns, size_t column_count,
                             const bouma_bounds *bounds)
{
    BM_STRICT_MATH;

    return put(particles, count, columns, column_count, bounds, 1);
}

/* ---- what there is ------------------------------------------------------ */

int bouma_step_particles_count(const bouma_step *step)
{
    return step ? bm_step_object_count(step, BM_PARTICLES) : 0;
}

bouma_particles *bouma_step_particles(bouma_step *step, int i)
{
    return (bouma_particles *)bm_api_object(step, BM_PARTICLES, i);
}

bouma_particles *bouma_step_find_particles(bouma_step *step, const char *name)
{
    return (bouma_particles *)bm_api_find_object(step, BM_PARTICLES, name);
}

bouma_variable *bouma_particles_position(bouma_particles *particles)
{
    return particles ? particles->object.variables[0] : NULL;
}

int bouma_particles_variable_count(const bouma_particles *particles)
{
    return particles ? particles->object.count - 1 : 0;
}

bouma_variable *bouma_particles_variable(bouma_particles *particles, int i)
{
    return bm_api_variable(particles ? &particles->object : NULL, i);
}

bouma_variable *bouma_particles_find_variable(bouma_particles *particles,
                                              const char *name)
{
    return bm_api_find_variable(particles ? &particles->object : NULL, name);
}

bouma_attributes *bouma_particles_attributes(bouma_particles *particles)
{
    return particles ? bm_api_attributes(&particles->object) : NULL;
}

/* The tree over the files of a set that is read, or NULL. */
static const struct bm_file_tree *file_tree_of(const bouma_particles *particles)
{
    const bouma_step *step = particles ? particles->object.schema->step : NULL;

    return step ? bm_manifest_file_tree(&step->manifest, &particles->object)
                : NULL;
}

/* The bounds of all finite positions, or zeros. */
static void join_bounds(const struct bm_file_tree *tree, double *low,
                        double *high)
{
    int any = 0;

    for (size_t f = 0; f < bm_file_tree_known(tree); f++) {
        const struct bm_particle_summary *c = bm_file_tree_of_known(tree, f);

        for (int d = 0; d < tree->set->ndims && c->strays < c->count; d++) {
            low[d] = any ? fmin(low[d], c->low[d]) : c->low[d];
            high[d] = any ? fmax(high[d], c->high[d]) : c->high[d];
        }
        any |= c->strays < c->count;
    }
}

int bouma_particles_info_get(bouma_particles_info *given,
                             const bouma_particles *particles)
{
    BM_STRICT_MATH;
    bouma_particles_info own = {0}, *out = &own;
    const struct bm_file_tree *tree = file_tree_of(particles);
    const struct bm_object *set;

    if (!bm_reply_begin(given, sizeof(own)))
        return BOUMA_EINVAL;
    if (!particles)
        return BOUMA_EINVAL;
    set = &particles->object;
    out->name = set->name;
    out->ndims = set->ndims;
    out->type = set->variables[0]->type;
    out->unit = set->unit;
    out->variables = set->count - 1;
    out->levels = set->levels;
    out->count = set->particles;
    out->strays = set->strays;
    if (!tree)
        return bm_reply(given, &own, sizeof(own));
    out->files = (int64_t)tree->files;
    out->tree_nodes = (int64_t)tree->node_count;
    join_bounds(tree, out->low, out->high);
    return bm_reply(given, &own, sizeof(own));
}

static struct bm_error *error_of(const bouma_particles *particles)
{
    return particles ? particles->object.schema->error : NULL;
}

/* ENOTFOUND: there is no 'what' number i. */
static int no_such_number(const bouma_particles *particles, const char *what,
                          size_t count, int64_t i)
{
    struct bm_error *error = error_of(particles);

    if (!particles)
        return BOUMA_EINVAL;
    bm_error_clear(error);
    return bm_fail(
        error, BOUMA_ENOTFOUND,
        "particles \"%s\" have %zu %s, counted from 0; there is no number %lld",
        particles->object.name, count, what, (long long)i);
}

int bouma_particles_file_get(bouma_particles_file *given,
                             const bouma_particles *particles, int64_t i)
{
    BM_STRICT_MATH;
    bouma_particles_file own = {0}, *out = &own;
    const struct bm_file_tree *tree = file_tree_of(particles);
    const struct bm_particle_summary *c;
    int rc;

    if (!bm_reply_begin(given, sizeof(own)))
        return bm_api_no_output(error_of(particles), "facts of a file");
    if (!tree || i < 0 || (uint64_t)i >= tree->files)
        return no_such_number(particles, "files", tree ? tree->files : 0, i);
    rc = bm_step_load_set_file(particles->object.schema->step, tree, (size_t)i);
    if (rc)
        return rc;
    c = bm_file_tree_summary(tree, (size_t)i);
    out->file = (int64_t)(particles->object.schema->step->manifest.first +
                          bm_file_tree_subfile(tree, (size_t)i));
    out->count = c->count;
    out->strays = c->strays;
    out->tree_bytes = c->tree_bytes;
    memcpy(out->low, c->low, sizeof(c->low));
    memcpy(out->high, c->high, sizeof(c->high));
    return bm_reply(given, &own, sizeof(own));
}

int bouma_particles_node_get(bouma_particles_node *given,
                             const bouma_particles *particles, int64_t i)
{
    BM_STRICT_MATH;
    bouma_particles_node own = {0}, *out = &own;
    const struct bm_file_tree *tree = file_tree_of(particles);
    const struct bm_file_tree_node *n;

    if (!bm_reply_begin(given, sizeof(own)))
        return bm_api_no_output(error_of(particles), "facts of a node");
    if (!tree || i < 0 || (uint64_t)i >= tree->node_count)
        return no_such_number(particles, "nodes", tree ? tree->node_count : 0,
                              i);
    n = &tree->nodes[i];
    out->right = n->right;
    out->file = n->right ? -1 : (int64_t)n->file;
    out->axis = n->axis;
    out->split = n->split;
    out->count = n->count;
    memcpy(out->low, n->low, sizeof(n->low));
    memcpy(out->high, n->high, sizeof(n->high));
    return bm_reply(given, &own, sizeof(own));
}
