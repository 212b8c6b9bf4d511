/* bouma_wasm.c -- datasets and boxes of grids, for bouma_wasm.h. */
#include "bouma_wasm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataset.h"

/* The memory of a module ends at 4 GiB, and JavaScript copies what it gets. */
#define MOST_BYTES ((uint64_t)1 << 30)

void bw_begin(struct bw_dataset *d)
{
    free(d->data);
    d->data = NULL;
    bouma_particle_data_free(d->particles);
    d->particles = NULL;
    json_clear(&d->json);
    d->status = BOUMA_OK;
    d->own_message[0] = 0;
}

int bw_keep(struct bw_dataset *d, int status)
{
    d->status = status;
    return status;
}

void *bw_fail(struct bw_dataset *d, int status, const char *message)
{
    d->status = status;
    snprintf(d->own_message, sizeof(d->own_message), "%s", message);
    return NULL;
}

const char *bw_answer(struct bw_dataset *d)
{
    if (!d->status && d->json.failed)
        return bw_fail(d, BOUMA_ENOMEM, "no memory for an answer");
    return d->status ? NULL : d->json.text;
}

/* ---- datasets ------------------------------------------------------------ */

struct bw_dataset *bw_open(const char *path)
{
    struct bw_dataset *d = calloc(1, sizeof(*d));
    bouma_options options = {.size = sizeof(options),
                             .threads = 1,
                             .memory_limit = MOST_BYTES,
                             .trace = "off"};

    if (d)
        d->status = bouma_dataset_open(&d->ds, path, &options);
    return d;
}

void bw_close(struct bw_dataset *d)
{
    if (!d)
        return;
    bw_begin(d);
    bouma_dataset_free(d->ds);
    json_release(&d->json);
    free(d);
}

int bw_status(const struct bw_dataset *d)
{
    return d ? d->status : BOUMA_ENOMEM;
}

const char *bw_status_name(const struct bw_dataset *d)
{
    return bouma_status_name(bw_status(d));
}

const char *bw_message(const struct bw_dataset *d)
{
    if (!d)
        return "no memory for a dataset";
    return d->own_message[0] ? d->own_message : bouma_error_message(d->ds);
}

const char *bw_describe(struct bw_dataset *d)
{
    bouma_dataset_info about = {.size = sizeof(about)};
    struct json *j = &d->json;
    int64_t count;

    bw_begin(d);
    if (bw_keep(d, bouma_dataset_info_get(&about, d->ds)))
        return NULL;
    count = bouma_dataset_step_count(d->ds);
    if (count < 0) {
        d->status = BOUMA_EIO;
        return NULL;
    }
    json_add(j, "{");
    json_key(j, "format_version");
    json_add(j, "\"%d.%d\"", about.format_major, about.format_minor);
    json_key(j, "steps");
    json_add(j, "[");
    for (int64_t i = 0; i < count; i++) {
        bouma_step_info step = {.size = sizeof(step)};

        if (bw_keep(d, bouma_dataset_step_get(&step, d->ds, i)))
            return NULL;
        json_key(j, NULL);
        json_add(j, "{");
        json_integer(j, "step", step.step);
        json_real(j, "time", step.time);
        json_add(j, "}");
    }
    json_add(j, "]}");
    return bw_answer(d);
}

const char *bw_traffic(struct bw_dataset *d)
{
    bouma_dataset_info about = {.size = sizeof(about)};

    bw_begin(d);
    if (bw_keep(d, bouma_dataset_info_get(&about, d->ds)))
        return NULL;
    json_add(&d->json, "{");
    json_unsigned(&d->json, "bytes_read", about.bytes_read);
    json_unsigned(&d->json, "files_opened", about.files_opened);
    json_add(&d->json, "}");
    return bw_answer(d);
}

/* ---- steps --------------------------------------------------------------- */

bouma_step *bw_step_open(struct bw_dataset *d, int64_t number)
{
    bouma_step *step = NULL;

    bw_begin(d);
    if (!bw_keep(d, bouma_step_open(&step, d->ds, number)))
        return step;
    bouma_step_free(step);
    return NULL;
}

void bw_step_free(bouma_step *step)
{
    bouma_step_free(step);
}

/* ---- boxes --------------------------------------------------------------- */

static bouma_variable *find(struct bw_dataset *d, bouma_step *step,
                            const char *grid, const char *variable, int *ndims)
{
    bouma_grid_info about = {.size = sizeof(about)};
    bouma_grid *g = bouma_step_find_grid(step, grid);
    bouma_variable *v = g ? bouma_grid_find_variable(g, variable) : NULL;

    if (!v)
        bw_keep(d, BOUMA_ENOTFOUND);
    else if (!bw_keep(d, bouma_grid_info_get(&about, g)))
        *ndims = about.ndims;
    return d->status ? NULL : v;
}

static void add_selection(struct json *j, const bouma_selection *s,
                          bouma_type type, int components, size_t bytes)
{
    long long shape[BOUMA_MAX_DIMS], first[BOUMA_MAX_DIMS],
        step[BOUMA_MAX_DIMS];

    for (int i = 0; i < s->ndims; i++) {
        shape[i] = s->shape[i];
        first[i] = s->first[i];
        step[i] = s->step[i];
    }
    json_add(j, "{");
    json_string(j, "type", bouma_type_name(type));
    json_integer(j, "components", components);
    json_integers(j, "shape", shape, s->ndims);
    json_integers(j, "first", first, s->ndims);
    json_integers(j, "step", step, s->ndims);
    json_reals(j, "origin", s->origin, s->ndims);
    json_reals(j, "spacing", s->spacing, s->ndims);
    json_integer(j, "bytes", (long long)bytes);
    json_add(j, "}");
}

const char *bw_read(struct bw_dataset *d, bouma_step *step, const char *grid,
                    const char *variable, int level, const int64_t *box,
                    int type)
{
    bouma_selection selection = {.size = sizeof(selection)};
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_array array = {.size = sizeof(array), .convert = BOUMA_CONVERT_ROUND};
    bouma_variable *v;
    bouma_box b = {{0}, {0}};
    uint64_t bytes;
    int ndims = 0;

    bw_begin(d);
    v = find(d, step, grid, variable, &ndims);
    if (!v || bw_keep(d, bouma_variable_info_get(&about, v)))
        return NULL;
    for (int i = 0; box && i < ndims; i++) {
        b.lo[i] = box[i];
        b.hi[i] = box[ndims + i];
    }
    if (bw_keep(d,
                bouma_variable_select(&selection, v, level, box ? &b : NULL)))
        return NULL;
    array.type = type ? (bouma_type)type : about.type;
    bytes = bouma_type_size(array.type);
    if (!bytes)
        return bw_fail(d, BOUMA_EINVAL, "there is no such type");
    if (array.type == about.type)
        array.convert = 0;
    bytes *= selection.bytes / bouma_type_size(about.type);
    if (selection.bytes > MOST_BYTES || bytes > MOST_BYTES)
        return bw_fail(d, BOUMA_ELIMIT,
                       "the box has more than 1 GiB at this level; read a "
                       "coarser one, or parts");
    d->data = array.data = malloc(bytes ? (size_t)bytes : 1);
    array.bytes = (size_t)bytes;
    if (!d->data)
        return bw_fail(d, BOUMA_ENOMEM, "no memory for an array");
    if (bw_keep(d, bouma_variable_read(v, level, box ? &b : NULL, &array)))
        return NULL;
    add_selection(&d->json, &selection, array.type, about.components,
                  array.bytes);
    return bw_answer(d);
}

const void *bw_data(const struct bw_dataset *d)
{
    return d->data;
}
