/* life.c -- see life.h. */
#include "life.h"

#include <math.h>
#include <stdlib.h>

#include "../helpers/arrays.h"
#include "../helpers/check.h"
#include "columns.h"

const char *const life_names[] = {
#define LIFE_ENTRY(name, text) text,
    LIFE_LIST(LIFE_ENTRY)
#undef LIFE_ENTRY
};

/* Rows of a grid, each rank some of them; cut so that patches are shared. */
enum { WIDTH = 64, ROWS = 20, PATCH = 16, DUST = 300 };

static int64_t rows_of(const struct life *l)
{
    return (int64_t)ROWS * l->ranks->size;
}

static float sample_at(int64_t row, int64_t column, int step)
{
    return (float)((row * 37 + column * 11) % 1009) + (float)step;
}

static float position_of(int64_t i, int axis)
{
    return (float)((i * (axis ? 7 : 3)) % 211);
}

void life_init(struct life *l, const struct ranks *r, int number)
{
    memset(l, 0, sizeof(*l));
    l->ranks = r;
    path_in(r, l->path, "life", number);
    MPI_Comm_dup(MPI_COMM_WORLD, &l->comm);
    MPI_Comm_set_errhandler(l->comm, MPI_ERRORS_RETURN);
    l->options = (bouma_options){.size = sizeof(l->options)};
    l->options.durability = BOUMA_DURABILITY_FAST;
    l->options.timeout = 250; /* nobody comes as late as that */
    l->options.files = r->size;
    l->options.buffer_bytes = 4096;
    l->options.threads = 1;
    l->samples = calloc((size_t)rows_of(l) * WIDTH, sizeof(float));
    l->positions = calloc(DUST * 2, sizeof(float));
    l->masses = calloc(DUST, sizeof(float));
    REQUIRE(l->samples && l->positions && l->masses);
}

/* What is not there yet: a second call goes on where a failed one stopped. */
static int define(struct life *l)
{
    bouma_grid_spec grid = {.size = sizeof(grid),
                            .ndims = 2,
                            .shape = {rows_of(l), WIDTH},
                            .patch = {PATCH, PATCH},
                            .levels = 2};
    bouma_variable_spec plain = {.size = sizeof(plain),
                                 .type = BOUMA_TYPE_F32,
                                 .codec = BOUMA_CODEC_RAW};
    bouma_variable_spec packed = {.size = sizeof(packed),
                                  .type = BOUMA_TYPE_F32,
                                  .codec = l->codec,
                                  .tolerance = l->relative,
                                  .tolerance_kind = BOUMA_TOLERANCE_RELATIVE};
    bouma_particles_spec dust = {.size = sizeof(dust), .ndims = 2};
    bouma_grid_spec parts = {.size = sizeof(parts),
                             .ndims = 2,
                             .shape = {rows_of(l), WIDTH},
                             .layout = BOUMA_LAYOUT_HZ,
                             .hz_template = "xyxyxyxyxyxy",
                             .hz_block_bits = 5,
                             .hz_blocks_per_file = 8,
                             .hz_partitions = 2};
    int rc = BOUMA_OK;

    if (!l->grid)
        rc = bouma_grid_define(&l->grid, l->ds, "flow",
                               l->parts ? &parts : &grid);
    if (!rc && !l->density)
        rc = bouma_variable_define(&l->density, l->grid, "density", &packed);
    if (!rc && !l->dust)
        rc = bouma_particles_define(&l->dust, l->ds, "dust", &dust);
    if (!rc && !l->mass)
        rc = bouma_particles_define_variable(&l->mass, l->dust, "mass", &plain);
    return rc;
}

/* What this rank holds: some rows; of two partitions, the last rank has one,
 * and the others share the other. */
static bouma_box box_of(const struct life *l)
{
    int64_t ranks = l->ranks->size, me = l->ranks->rank, rows = rows_of(l);

    if (!l->parts)
        return (bouma_box){{ROWS * me, 0}, {ROWS * (me + 1), WIDTH}};
    if (me == ranks - 1)
        return (bouma_box){{0, WIDTH / 2}, {rows, WIDTH}};
    return (bouma_box){{rows * me / (ranks - 1), 0},
                       {rows * (me + 1) / (ranks - 1), WIDTH / 2}};
}

static int put(struct life *l, int step)
{
    bouma_box box = box_of(l);
    int64_t width = box.hi[1] - box.lo[1];
    struct test_column columns[2] = {
        {.variable = bouma_particles_position(l->dust), .data = l->positions},
        {.variable = l->mass, .data = l->masses}};
    int rc;

    for (int64_t r = box.lo[0]; r < box.hi[0]; r++)
        for (int64_t c = box.lo[1]; c < box.hi[1]; c++)
            l->samples[(r - box.lo[0]) * width + c - box.lo[1]] =
                sample_at(r, c, step);
    for (int64_t i = 0; i < DUST; i++) {
        int64_t id = i * l->ranks->size + l->ranks->rank;

        l->positions[2 * i] = position_of(id, 0);
        l->positions[2 * i + 1] = position_of(id, 1);
        l->masses[i] = (float)id;
    }
    rc = test_put(l->density, &box, l->samples);
    return rc ? rc : test_put_particles(l->dust, DUST, columns, 2, NULL);
}

/* A rank that cannot take part takes the step back; then it fails for all. */
static int write_step(struct life *l, int step)
{
    int local = define(l), begun = bouma_step_begin(l->ds, step, step), rc;

    local = local ? local : begun;
    if (!local)
        local = put(l, step);
    rc = local || l->fails ? bouma_step_abort(l->ds) : bouma_step_end(l->ds);
    return rc ? rc : local;
}

static int read_grid(struct life *l)
{
    bouma_grid *grid = bouma_step_find_grid(l->step, "flow");
    bouma_array to = BOUMA_ARRAY(BOUMA_TYPE_F32, l->samples, SIZE_MAX);
    bouma_request q = {
        .size = sizeof(q), .box = {{0, 0}, {rows_of(l), WIDTH}}, .array = &to};
    int rc;

    q.variable = grid ? bouma_grid_find_variable(grid, "density") : NULL;
    if (!q.variable)
        return BOUMA_ENOTFOUND;
    memset(l->samples, 0xff, (size_t)rows_of(l) * WIDTH * sizeof(float));
    rc = bouma_step_read(l->step, &q, 1);
    for (int64_t i = 0; i < rows_of(l) * WIDTH && !rc; i++)
        l->wrong += fabsf(l->samples[i] - sample_at(i / WIDTH, i % WIDTH, 1)) >
                    1010 * l->relative;
    return rc;
}

static int read_dust(struct life *l)
{
    bouma_particles *dust = bouma_step_find_particles(l->step, "dust");
    bouma_particle_data *data = NULL;
    int rc =
        dust ? bouma_particles_restart(&data, dust, NULL) : BOUMA_ENOTFOUND;

    for (uint64_t i = 0; !rc && i < data->count; i++) {
        int64_t id = (int64_t)((float *)data->columns[1])[i];

        l->wrong += id < 0 || id >= (int64_t)DUST * l->ranks->size ||
                    ((float *)data->columns[0])[i] != position_of(id, 0);
    }
    bouma_particle_data_free(data);
    return rc;
}

int life_act(struct life *l, enum life_act act)
{
    int rc;

    if (act != LIFE_CREATE && act != LIFE_OPEN && !l->ds)
        return BOUMA_ECOMM;
    if ((act == LIFE_READ || act == LIFE_RESTART) && !l->step)
        return BOUMA_ECOMM;
    switch (act) {
    case LIFE_CREATE:
        return bouma_dataset_create_mpi(&l->ds, l->comm, l->path, &l->options);
    case LIFE_FIRST_STEP:
    case LIFE_SECOND_STEP:
        return write_step(l, act - LIFE_FIRST_STEP);
    case LIFE_CLOSE:
        return bouma_dataset_close(l->ds);
    case LIFE_OPEN:
        bouma_dataset_free(l->ds);
        return bouma_dataset_open_mpi(&l->ds, l->comm, l->path, &l->options);
    case LIFE_OPEN_STEP:
        rc = bouma_step_open(&l->step, l->ds, 1);
        if (rc) {
            bouma_step_free(l->step);
            l->step = NULL;
        }
        return rc;
    case LIFE_READ:
        return read_grid(l);
    case LIFE_RESTART:
        return read_dust(l);
    default:
        return BOUMA_EINVAL;
    }
}

const char *life_message(const struct life *l)
{
    return l->ds ? bouma_error_message(l->ds) : "";
}

void life_end(struct life *l, int lost)
{
    bouma_step_free(l->step);
    bouma_dataset_free(l->ds);
    if (!lost) {
        MPI_Comm_free(&l->comm);
        free(l->samples);
        free(l->positions);
        free(l->masses);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (l->ranks->rank == 0)
        remove_tree(l->path);
    memset(l, 0, sizeof(*l));
}
