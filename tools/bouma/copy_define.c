/* copy_define.c -- bouma copy: grids, particles and variables as they are in
 * the source, stored as the call says. */
#include <string.h>

#include "attribute_sets.h"
#include "copy.h"
#include "sized.h"

struct entry_cursor copy_entries(const struct copy *copy, bouma_step *step)
{
    return (struct entry_cursor){.step = step,
                                 .patterns = copy->args->operands + 2,
                                 .pattern_count =
                                     copy->args->operand_count - 2};
}

/* ---- the same as before -------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_grid(bouma_grid *a, bouma_grid *b)
{
    bouma_grid_info x, y;

    bouma_grid_info_get(SIZED(&x), a);
    bouma_grid_info_get(SIZED(&y), b);
    return x.ndims == y.ndims && x.levels == y.levels &&
           memcmp(x.shape, y.shape, sizeof(x.shape)) == 0 &&
           memcmp(x.patch, y.patch, sizeof(x.patch)) == 0 &&
           memcmp(x.origin, y.origin, sizeof(x.origin)) == 0 &&
           memcmp(x.spacing, y.spacing, sizeof(x.spacing)) == 0 &&
           same_text(x.unit, y.unit) && x.layout == y.layout &&
           strcmp(x.hz_template, y.hz_template) == 0 &&
           x.hz_block_bits == y.hz_block_bits &&
           x.hz_blocks_per_file == y.hz_blocks_per_file &&
           x.hz_order == y.hz_order && x.hz_partitions == y.hz_partitions &&
           x.hz_index == y.hz_index && x.hz_wavelet == y.hz_wavelet &&
           x.hz_tile_bits == y.hz_tile_bits && x.idx == y.idx &&
           !attributes_differ(bouma_grid_attributes(a),
                              bouma_grid_attributes(b));
}

static bool same_set(bouma_particles *a, bouma_particles *b)
{
    bouma_particles_info x, y;

    bouma_particles_info_get(SIZED(&x), a);
    bouma_particles_info_get(SIZED(&y), b);
    return x.ndims == y.ndims && x.type == y.type &&
           same_text(x.unit, y.unit) &&
           !attributes_differ(bouma_particles_attributes(a),
                              bouma_particles_attributes(b));
}

static bool same_entry(const struct entry *a, const struct entry *b)
{
    if (strcmp(a->object, b->object) != 0 || !a->grid != !b->grid ||
        strcmp(a->about.name, b->about.name) != 0 ||
        a->about.type != b->about.type ||
        a->about.components != b->about.components ||
        !same_text(a->about.unit, b->about.unit) ||
        a->about.codec != b->about.codec ||
        a->about.codec_level != b->about.codec_level ||
        attributes_differ(bouma_variable_attributes(a->variable),
                          bouma_variable_attributes(b->variable)))
        return false;
    return a->grid ? same_grid(a->grid, b->grid)
                   : same_set(a->particles, b->particles);
}

bool copy_is_defined(const struct copy *copy, bouma_step *step)
{
    struct entry_cursor before, now = copy_entries(copy, step);
    struct entry a, b;
    bool some_a, some_b;

    if (!copy->defined)
        return false;
    before = copy_entries(copy, copy->defined);
    do {
        some_a = entry_next(&a, &before);
        some_b = entry_next(&b, &now);
    } while (some_a && some_b && same_entry(&a, &b));
    return !some_a && !some_b;
}

/* ---- new ----------------------------------------------------------------- */

/* The layout of the call, where it says one, or that of the source. */
static int grid_spec(struct import_request *request, struct context *ctx,
                     const bouma_grid_info *from)
{
    bool layout = arguments_has(request->args, "layout");
    bool patch = arguments_has(request->args, "patch");
    bool levels = arguments_has(request->args, "levels");
    bouma_grid_spec *spec = &request->grid;

    memcpy(spec->origin, from->origin, sizeof(spec->origin));
    memcpy(spec->spacing, from->spacing, sizeof(spec->spacing));
    spec->unit = from->unit;
    if (layout || patch || levels) {
        if (!patch && spec->layout != BOUMA_LAYOUT_HZ &&
            from->layout != BOUMA_LAYOUT_HZ)
            memcpy(spec->patch, from->patch, sizeof(spec->patch));
        return import_request_shape(request, ctx, from->ndims, from->shape);
    }
    spec->ndims = from->ndims;
    memcpy(spec->shape, from->shape, sizeof(spec->shape));
    spec->levels = from->levels;
    spec->layout = from->layout;
    if (from->layout != BOUMA_LAYOUT_HZ) {
        memcpy(spec->patch, from->patch, sizeof(spec->patch));
        return DONE;
    }
    spec->hz_template = from->hz_template;
    spec->hz_block_bits = from->hz_block_bits;
    spec->hz_blocks_per_file = from->hz_blocks_per_file;
    spec->hz_order = from->hz_order;
    spec->hz_partitions = from->hz_partitions;
    spec->hz_index = from->hz_index;
    spec->hz_wavelet = from->hz_wavelet;
    spec->hz_tile_bits = from->hz_tile_bits;
    spec->idx = from->idx;
    return DONE;
}

static bool needs_tolerance(bouma_codec codec)
{
    bouma_codec_info about = {.size = sizeof(about)};

    bouma_codec_info_get(&about, codec);
    return about.tolerance;
}

/* A codec that keeps every bit: that of the source, if it does. */
static void keep_bits(bouma_variable_spec *spec,
                      const bouma_variable_info *from)
{
    bool same = !needs_tolerance(from->codec);

    spec->codec = same ? from->codec : BOUMA_CODEC_ZSTD;
    spec->codec_level = same ? from->codec_level : 0;
}

/* Of a grid: what the call says is for all variables that can have it. */
static bouma_variable_spec variable_spec(const struct import_request *request,
                                         const bouma_variable_info *from)
{
    bool real = from->type == BOUMA_TYPE_F32 || from->type == BOUMA_TYPE_F64;
    const bouma_variable_spec *wanted = &request->variable;
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = from->type,
                                .components = from->components,
                                .unit = from->unit};

    if ((!wanted->codec && !(wanted->tolerance > 0)) ||
        (!real && (!wanted->codec || needs_tolerance(wanted->codec)))) {
        keep_bits(&spec, from);
    } else {
        spec.codec = wanted->codec;
        spec.nominal = wanted->nominal;
        if (real) {
            spec.tolerance = wanted->tolerance;
            spec.tolerance_kind = wanted->tolerance_kind;
        }
    }
    if (wanted->codec_level && !needs_tolerance(bouma_grid_codec(&spec)))
        spec.codec_level = wanted->codec_level;
    return spec;
}

/* Of particles, which keep every bit. */
static bouma_variable_spec exact_spec(const struct import_request *request,
                                      const bouma_variable_info *from)
{
    bouma_variable_spec spec = {.size = sizeof(spec),
                                .type = from->type,
                                .components = from->components,
                                .unit = from->unit};
    bouma_codec_info wanted = {.size = sizeof(wanted)};

    keep_bits(&spec, from);
    if (request->variable.codec)
        bouma_codec_info_get(&wanted, request->variable.codec);
    if (wanted.particles && !wanted.tolerance) {
        spec.codec = request->variable.codec;
        spec.codec_level = request->variable.codec_level;
    }
    return spec;
}

static int define_grid(struct copy *copy, struct context *ctx,
                       const struct entry *entry, bouma_grid **out)
{
    struct import_request request = copy->request;
    bouma_grid_info from;
    int status, rc;

    bouma_grid_info_get(SIZED(&from), entry->grid);
    rc = grid_spec(&request, ctx, &from);
    if (rc)
        return rc;
    status = bouma_grid_define(out, copy->target.ds, from.name, &request.grid);
    if (!status)
        status = attributes_copy(bouma_grid_attributes(*out),
                                 bouma_grid_attributes(entry->grid));
    return status ? import_target_failed(&copy->target, ctx, status) : DONE;
}

static int define_set(struct copy *copy, struct context *ctx,
                      const struct entry *entry, bouma_particles **out)
{
    bouma_particles_info from;
    bouma_variable_info position;
    bouma_variable_spec stored;
    bouma_particles_spec spec = {.size = sizeof(spec)};
    int status;

    bouma_particles_info_get(SIZED(&from), entry->particles);
    bouma_variable_info_get(SIZED(&position),
                            bouma_particles_position(entry->particles));
    stored = exact_spec(&copy->request, &position);
    spec.ndims = from.ndims;
    spec.type = from.type;
    spec.unit = from.unit;
    spec.codec = stored.codec;
    spec.codec_level = stored.codec_level;
    status = bouma_particles_define(out, copy->target.ds, from.name, &spec);
    if (!status)
        status = attributes_copy(bouma_particles_attributes(*out),
                                 bouma_particles_attributes(entry->particles));
    if (!status)
        status = attributes_copy(
            bouma_variable_attributes(bouma_particles_position(*out)),
            bouma_variable_attributes(
                bouma_particles_position(entry->particles)));
    return status ? import_target_failed(&copy->target, ctx, status) : DONE;
}

static int define_variable(struct copy *copy, struct context *ctx,
                           const struct entry *entry, bouma_grid *grid,
                           bouma_particles *set)
{
    bouma_variable_spec spec =
        grid ? variable_spec(&copy->request, &entry->about)
             : exact_spec(&copy->request, &entry->about);
    bouma_variable *variable = NULL;
    int status;

    /* Position is defined with its set. */
    if (set && entry->variable == bouma_particles_position(entry->particles))
        return DONE;
    status =
        grid ? bouma_variable_define(&variable, grid, entry->about.name, &spec)
             : bouma_particles_define_variable(&variable, set,
                                               entry->about.name, &spec);
    if (!status)
        status = attributes_copy(bouma_variable_attributes(variable),
                                 bouma_variable_attributes(entry->variable));
    return status ? import_target_failed(&copy->target, ctx, status) : DONE;
}

int copy_define(struct copy *copy, struct context *ctx, bouma_step *step)
{
    struct entry_cursor cursor = copy_entries(copy, step);
    bouma_particles *set = NULL;
    bouma_grid *grid = NULL;
    const char *object = NULL;
    struct entry entry;
    int rc = DONE;

    while (!rc && entry_next(&entry, &cursor)) {
        if (!object || strcmp(object, entry.object) != 0) {
            object = entry.object;
            grid = NULL;
            set = NULL;
            rc = entry.grid ? define_grid(copy, ctx, &entry, &grid)
                            : define_set(copy, ctx, &entry, &set);
        }
        if (!rc)
            rc = define_variable(copy, ctx, &entry, grid, set);
    }
    return rc;
}
