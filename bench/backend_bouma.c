/* backend_bouma.c -- bouma: a new step of one open dataset in each repetition,
 * as a simulation writes it; opening and closing the dataset is not timed. A
 * read opens the dataset anew, as a program that comes later does. */
#include "backend.h"
#include "sized.h"

#include <stdio.h>
#include <stdlib.h>

struct dataset {
    const char *name; /* in the benchmark's directory */
    bouma_dataset *writer;
    bouma_variable *variable;
    int64_t step; /* the next one */
};

static void check(int rc, const bouma_dataset *ds)
{
    if (rc)
        backend_fail("%s: %s", bouma_status_name(rc), bouma_error_message(ds));
}

static void open_dataset(struct backend *backend,
                         const struct backend_input *in, const char *name,
                         bouma_durability durability)
{
    struct dataset *d = calloc(1, sizeof(*d));
    bouma_options options = {.size = sizeof(options)};
    bouma_grid_spec shape = {.size = sizeof(shape), .ndims = FIELD_AXES};
    bouma_variable_spec kind = {
        .size = sizeof(kind), .type = BOUMA_TYPE_F32, .codec = in->codec};
    bouma_grid *grid;
    char path[BACKEND_PATH_BYTES];

    if (!d)
        backend_fail("out of memory");
    d->name = name;
    options.durability = durability;
    for (int axis = 0; axis < FIELD_AXES; axis++)
        shape.shape[axis] = in->shape[axis];

    backend_path(path, in, name);
    check(bouma_dataset_create_mpi(&d->writer, in->comm, path, &options),
          d->writer);
    check(bouma_grid_define(&grid, d->writer, "grid", &shape), d->writer);
    check(bouma_variable_define(&d->variable, grid, "value", &kind), d->writer);
    backend->state = d;
}

static void open_fast(struct backend *backend, const struct backend_input *in)
{
    open_dataset(backend, in, "fast.bouma", BOUMA_DURABILITY_FAST);
}

static void open_durable(struct backend *backend,
                         const struct backend_input *in)
{
    open_dataset(backend, in, "durable.bouma", BOUMA_DURABILITY_DURABLE);
}

static void write_step(struct backend *backend, const struct backend_input *in)
{
    struct dataset *d = backend->state;

    check(bouma_step_begin(d->writer, d->step, (double)d->step), d->writer);
    check(bouma_variable_put_borrow(d->variable, &in->box,
                                    &BOUMA_ARRAY(BOUMA_TYPE_F32, in->data,
                                                 in->count * sizeof(float))),
          d->writer);
    check(end_step(&backend->record, d->writer), d->writer);
    d->step++;
}

static void read_step(struct backend *backend, const struct backend_input *in)
{
    struct dataset *d = backend->state;
    bouma_request request = {.size = sizeof(request),
                             .box = in->box,
                             .array = &BOUMA_ARRAY(BOUMA_TYPE_F32, in->back,
                                                   in->count * sizeof(float))};
    bouma_dataset *ds;
    bouma_step *step;
    char path[BACKEND_PATH_BYTES];

    backend_path(path, in, d->name);
    check(bouma_dataset_open_mpi(&ds, in->comm, path, NULL), ds);
    check(bouma_step_open(&step, ds, d->step - 1), ds);
    request.variable =
        bouma_grid_find_variable(bouma_step_find_grid(step, "grid"), "value");
    check(bouma_step_read(step, &request, 1), ds);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* A dataset keeps its steps, so the files of a step are taken away under it:
 * the disk holds one step at a time, and no other way waits while the system
 * writes back what nobody wants. */
static void discard_step(struct backend *backend,
                         const struct backend_input *in)
{
    struct dataset *d = backend->state;
    char name[64];

    snprintf(name, sizeof(name), "%s/steps/%08lld", d->name,
             (long long)(d->step - 1));
    backend_remove(in, name);
}

static void close_dataset(struct backend *backend,
                          const struct backend_input *in)
{
    struct dataset *d = backend->state;

    check(bouma_dataset_close(d->writer), d->writer);
    bouma_dataset_free(d->writer);
    backend_remove(in, d->name);
    free(d);
}

const struct backend backend_bouma_fast = {
    .name = "bouma fast",
    .open = open_fast,
    .write = write_step,
    .read = read_step,
    .discard = discard_step,
    .close = close_dataset,
};

const struct backend backend_bouma_durable = {
    .name = "bouma durable",
    .open = open_durable,
    .write = write_step,
    .discard = discard_step,
    .close = close_dataset,
};
