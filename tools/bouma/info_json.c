/* info_json.c -- bouma info --json. The keys are part of the interface. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "choice_names.h"
#include "info.h"
#include "locate.h"
#include "print_json.h"

static json_t *unit_json(const char *unit)
{
    return unit && unit[0] ? json_text(unit) : json_null();
}

/* One for each component: null where there is nothing but NaN. */
static json_t *ranges_json(const bouma_variable *variable,
                           const bouma_variable_info *about)
{
    json_t *list = json_array();
    bouma_range range;

    for (int c = 0; c < about->components; c++) {
        json_t *object = json_object();

        if (bouma_variable_range(&range, variable, c)) {
            json_decref(object);
            continue;
        }
        json_put(object, "min",
                 range.empty ? json_null() : json_value(range.exact_low));
        json_put(object, "max",
                 range.empty ? json_null() : json_value(range.exact_high));
        json_put(object, "nans", json_count(range.nans));
        json_array_append_new(list, object);
    }
    return list;
}

/* Stored bytes of each level, level 0 first. */
static json_t *level_bytes_json(const bouma_variable *variable, int levels)
{
    json_t *list = json_array();

    for (int k = 0; k < levels; k++)
        json_array_append_new(
            list, json_count(bouma_variable_level_bytes(variable, k)));
    return list;
}

/* In HZ order, the bytes of a level are not on record. */
static json_t *variable_json(bouma_variable *variable, int levels, bool hz)
{
    json_t *object = json_object();
    bouma_variable_info about = {.size = sizeof(about)};

    bouma_variable_info_get(&about, variable);
    json_put(object, "name", json_text(about.name));
    json_put(object, "type", json_text(bouma_type_name(about.type)));
    json_put(object, "components", json_integer(about.components));
    json_put(object, "codec",
             json_text(choice_text(bouma_codec_name(about.codec))));
    json_put(object, "codec_level", json_integer(about.codec_level));
    json_put(object, "unit", unit_json(about.unit));
    json_put(object, "present", json_boolean(about.present));
    json_put(object, "raw_bytes", json_count(about.raw_bytes));
    json_put(object, "stored_bytes", json_count(about.stored_bytes));
    json_put(object, "ratio", json_ratio(about.raw_bytes, about.stored_bytes));
    json_put(object, "level_bytes",
             hz ? json_null() : level_bytes_json(variable, levels));
    json_put(object, "coarse_levels",
             json_text(about.averages ? "averages" : "samples"));
    json_put(object, "tolerance", json_number(about.tolerance));
    json_put(object, "relative",
             json_boolean(about.tolerance_kind == BOUMA_TOLERANCE_RELATIVE));
    json_put(object, "bound", json_number(about.bound));
    json_put(object, "nominal", json_boolean(about.nominal));
    json_put(object, "max_error",
             isfinite(about.largest_error) ? json_number(about.largest_error)
                                           : json_null());
    json_put(object, "psnr",
             isnan(about.psnr) ? json_null() : json_number(about.psnr));
    json_put(object, "levels", json_integer(levels));
    json_put(object, "ranges", ranges_json(variable, &about));
    json_put(object, "attributes",
             json_attributes(bouma_variable_attributes(variable)));
    return object;
}

/* The header of IDX, in the dataset. */
static json_t *idx_json(const bouma_grid_info *about)
{
    char name[512];

    snprintf(name, sizeof(name), "idx/%s.idx", about->name);
    return about->idx ? json_text(name) : json_null();
}

static json_t *grid_json(bouma_grid *grid)
{
    json_t *object = json_object();
    json_t *variables = json_array();
    bouma_grid_info about = {.size = sizeof(about)};

    bouma_grid_info_get(&about, grid);
    for (int i = 0; i < about.variables; i++)
        json_array_append_new(
            variables, variable_json(bouma_grid_variable(grid, i), about.levels,
                                     about.layout == BOUMA_LAYOUT_HZ));
    json_put(object, "name", json_text(about.name));
    json_put(object, "kind", json_text("grid"));
    json_put(object, "shape", json_integers(about.shape, about.ndims));
    json_put(object, "patch", json_integers(about.patch, about.ndims));
    json_put(object, "layout",
             json_text(choice_text(bouma_layout_name(about.layout))));
    if (about.layout == BOUMA_LAYOUT_HZ) {
        json_put(object, "hz_template", json_text(about.hz_template));
        json_put(object, "hz_block_bits", json_integer(about.hz_block_bits));
        json_put(object, "hz_blocks_per_file",
                 json_integer(about.hz_blocks_per_file));
        json_put(object, "hz_order",
                 json_text(choice_text(bouma_hz_order_name(about.hz_order))));
        json_put(object, "hz_partitions", json_integer(about.hz_partitions));
        json_put(object, "hz_index",
                 json_text(choice_text(bouma_hz_index_name(about.hz_index))));
        json_put(object, "hz_wavelet", json_boolean(about.hz_wavelet));
        if (about.hz_wavelet)
            json_put(object, "hz_tile_bits", json_integer(about.hz_tile_bits));
        json_put(object, "idx", idx_json(&about));
    }
    json_put(object, "levels", json_integer(about.levels));
    json_put(object, "patches", json_integer(about.patches));
    json_put(object, "origin", json_numbers(about.origin, about.ndims));
    json_put(object, "spacing", json_numbers(about.spacing, about.ndims));
    json_put(object, "unit", unit_json(about.unit));
    json_put(object, "remarks", json_attributes(bouma_grid_attributes(grid)));
    json_put(object, "variables", variables);
    return object;
}

/* [min, max] of a number for each particle, a list of these for a vector. */
static json_t *range_json(const bouma_variable *variable)
{
    bouma_variable_info about = {.size = sizeof(about)};
    json_t *list = json_array();
    bouma_range range;

    bouma_variable_info_get(&about, variable);
    for (int c = 0; c < about.components; c++) {
        json_t *ends = json_array();
        bool none = bouma_variable_range(&range, variable, c) || range.empty;

        json_array_append_new(ends,
                              none ? json_null() : json_value(range.exact_low));
        json_array_append_new(ends, none ? json_null()
                                         : json_value(range.exact_high));
        if (about.components == 1) {
            json_decref(list);
            return ends;
        }
        json_array_append_new(list, ends);
    }
    return list;
}

static json_t *particle_variable_json(bouma_variable *variable, int levels)
{
    json_t *object = variable_json(variable, levels, false);

    json_put(object, "range", range_json(variable));
    return object;
}

/* The nodes of the tree over the files, in preorder. */
static json_t *tree_json(const bouma_particles *particles, int ndims)
{
    json_t *list = json_array();
    bouma_particles_node node = {.size = sizeof(node)};

    for (int64_t i = 0; !bouma_particles_node_get(&node, particles, i); i++) {
        json_t *object = json_object();

        if (node.right) {
            json_put(object, "right", json_integer(node.right));
            json_put(object, "axis",
                     node.axis < 0 ? json_null() : json_integer(node.axis));
            json_put(object, "split",
                     node.axis < 0 ? json_null() : json_number(node.split));
        } else {
            json_put(object, "file", json_integer(node.file));
        }
        json_put(object, "count", json_count(node.count));
        json_put(object, "low", json_numbers(node.low, ndims));
        json_put(object, "high", json_numbers(node.high, ndims));
        json_array_append_new(list, object);
    }
    return list;
}

/* The key "variables" has all variables, as of a grid; "attributes" has them
 * without the position. What a program has set on an object, of either kind,
 * are its "remarks". */
static json_t *particles_json(const struct info *info, const bouma_step *step,
                              const bouma_step_details *details,
                              bouma_particles *particles)
{
    json_t *object = json_object(), *attributes = json_array();
    json_t *variables = json_array();
    struct info_files files = info_files_of(step, particles);
    bouma_particles_info about = {.size = sizeof(about)};

    bouma_particles_info_get(&about, particles);
    for (int i = 0; i < particle_variable_count(particles); i++) {
        json_t *one = particle_variable_json(particle_variable(particles, i),
                                             about.levels);

        json_array_append(variables, one);
        if (i == 0)
            json_put(object, "position", json_incref(one));
        else
            json_array_append(attributes, one);
        json_decref(one);
    }
    json_put(object, "name", json_text(about.name));
    json_put(object, "kind", json_text("particles"));
    json_put(object, "count", json_count(about.count));
    json_put(object, "strays", json_count(about.strays));
    json_put(object, "ndims", json_integer(about.ndims));
    json_put(object, "levels", json_integer(about.levels));
    json_put(object, "low", json_numbers(about.low, about.ndims));
    json_put(object, "high", json_numbers(about.high, about.ndims));
    json_put(object, "unit", unit_json(about.unit));
    json_put(object, "files", json_integer(about.files));
    json_put(
        object, "assign",
        json_text(choice_text(bouma_assign_name(details->assign_particles))));
    json_put(object, "largest_file", json_count(files.largest));
    json_put(object, "mean_file",
             json_count(about.files ? files.total / (uint64_t)about.files : 0));
    json_put(object, "tree_nodes", json_integer(about.tree_nodes));
    json_put(object, "tree_depth", json_integer(files.depth));
    if (info->tree)
        json_put(object, "tree", tree_json(particles, about.ndims));
    json_put(object, "remarks",
             json_attributes(bouma_particles_attributes(particles)));
    json_put(object, "attributes", attributes);
    json_put(object, "variables", variables);
    return object;
}

static json_t *file_sizes(const bouma_step *step, int64_t files)
{
    json_t *list = json_array();
    bouma_step_file file = {.size = sizeof(file)};

    for (int64_t i = 0; i < files; i++)
        if (bouma_step_file_get(&file, step, i) == BOUMA_OK)
            json_array_append_new(list, json_count(file.bytes));
    return list;
}

static json_t *step_json(const struct info *info, bouma_step *step,
                         const bouma_step_details *details)
{
    bouma_record cost = {.size = sizeof(cost)};
    const bouma_record *record = &cost;
    json_t *object = json_object();
    json_t *objects = json_array();

    bouma_step_record_get(&cost, step);
    for (int i = 0; i < bouma_step_grid_count(step); i++)
        json_array_append_new(objects, grid_json(bouma_step_grid(step, i)));
    for (int i = 0; i < bouma_step_particles_count(step); i++)
        json_array_append_new(
            objects,
            particles_json(info, step, details, bouma_step_particles(step, i)));
    json_put(object, "step", json_integer(details->step));
    json_put(object, "time", json_number(details->time));
    json_put(object, "bytes",
             json_count(record->stored_bytes + details->manifest_bytes));
    json_put_record(object, record);
    json_put(object, "file_bytes", file_sizes(step, record->files));
    json_put(object, "order",
             json_text(choice_text(bouma_order_name(details->order))));
    json_put(
        object, "distribute",
        json_text(choice_text(bouma_distribute_name(details->distribute))));
    json_put(object, "assign",
             info_order_of(step) == ALL_HZ
                 ? json_null()
                 : json_text(choice_text(bouma_assign_name(details->assign))));
    json_put(object, "place",
             json_text(choice_text(bouma_place_name(details->place))));
    json_put(object, "attributes",
             json_attributes(bouma_step_attributes(step)));
    json_put(object, "objects", objects);
    return object;
}

static json_t *id_json(const unsigned char *id)
{
    static const char digits[] = "0123456789abcdef";
    char text[33] = "";

    for (int i = 0; i < 16; i++) {
        text[2 * i] = digits[id[i] >> 4];
        text[2 * i + 1] = digits[id[i] & 15];
    }
    return json_text(text);
}

static json_t *damaged_json(const struct info *info, int64_t i)
{
    json_t *object = json_object();
    bouma_step_info which = {.size = sizeof(which)};

    bouma_dataset_step_get(&which, info->ds, i);
    json_put(object, "step", json_integer(which.step));
    json_put(object, info_trouble(info),
             json_text(bouma_error_message(info->ds)));
    return object;
}

/* A time in ISO 8601, or null. */
static json_t *date_json(int64_t seconds)
{
    time_t when = (time_t)seconds;
    struct tm parts;
    char text[32];

    return seconds > 0 && gmtime_r(&when, &parts) &&
                   strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts)
               ? json_text(text)
               : json_null();
}

static void add_loss(void *user, const bouma_loss *loss)
{
    json_t *object = json_object();

    json_put(object, "step", json_integer(loss->step));
    json_put(object, "time",
             loss->is_known ? json_number(loss->time) : json_null());
    json_put(object, "recorded", date_json(loss->recorded));
    json_put(object, "files",
             loss->files ? json_integer(loss->files) : json_null());
    json_put(object, "forgotten", json_boolean(loss->accepted));
    json_array_append_new(user, object);
}

int info_print_json(const struct info *info, struct context *ctx)
{
    json_t *root = json_object();
    json_t *losses = json_array();
    struct json_list steps;
    bouma_dataset_info about = {.size = sizeof(about)};
    char version[32];
    int printed, worst = DONE;

    bouma_dataset_info_get(&about, info->ds);
    snprintf(version, sizeof(version), "%d.%d", about.format_major,
             about.format_minor);
    json_put(root, "dataset", json_text(info->path));
    json_put(root, "format_version", json_text(version));
    json_put(root, "id", id_json(about.id));
    json_put(root, "notes", json_notes(info->ds));
    json_put(root, "attributes",
             json_attributes(bouma_dataset_attributes(info->ds)));
    worst = info_losses(info, ctx, add_loss, losses);
    json_put(root, "lost", losses);
    json_list_begin(&steps, ctx, root, "steps");
    for (int64_t i = info->first; i < info->last; i++) {
        bouma_step_details details = {.size = sizeof(details)};
        bouma_step *step;
        int rc = info_open_step(info, ctx, i, &step, &details);

        /* A step that cannot be opened does not hide the others. */
        if (rc) {
            json_list_add(&steps, damaged_json(info, i));
            worst = rc;
            continue;
        }
        json_list_add(&steps, step_json(info, step, &details));
        bouma_step_free(step);
    }
    printed = json_list_end(&steps);
    return printed ? printed : worst;
}
