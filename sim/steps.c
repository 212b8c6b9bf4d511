/* steps.c -- steps of grids and particles that are the same with any MPI and on
 * any simulated machine: see tests/ports/sim.sh. The last one is read back, as
 * by a restart, and looked at.
 *
 *   mpirun -n 64 steps STEPS.bouma [STEPS] */
#include <bouma_mpi.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 16, PARTICLES = 500, FILES = 5 };

/* No variables that ranks would share in a simulation. */
struct rank {
    int rank, ranks, along[3], at[3];
    float field[N * N * N], position[PARTICLES][3];
    double mass[PARTICLES];
};

static void check(int rc, const bouma_dataset *ds)
{
    if (rc) {
        fprintf(stderr, "steps: %s\n", bouma_error_message(ds));
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

/* As cubic a grid of ranks as their number allows. */
static void arrange(struct rank *r)
{
    int rest = r->ranks;

    for (int d = 0; d < 3; d++) {
        int n = (int)floor(pow(rest, 1.0 / (3 - d)) + 1e-9);

        while (rest % n)
            n--;
        r->along[d] = n;
        rest /= n;
    }
    r->at[0] = r->rank / (r->along[1] * r->along[2]);
    r->at[1] = r->rank / r->along[2] % r->along[1];
    r->at[2] = r->rank % r->along[2];
}

static void simulate(struct rank *r, int step)
{
    uint32_t x = (uint32_t)(r->rank * 7919 + step + 1);

    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int k = 0; k < N; k++)
                r->field[(z * N + y) * N + k] =
                    (float)((r->at[0] * N + z) * (r->at[1] * N + y) % 97 +
                            (r->at[2] * N + k) * (step + 1) % 31);
    for (int i = 0; i < PARTICLES; i++) {
        for (int d = 0; d < 3; d++) {
            x = x * 1664525u + 1013904223u;
            r->position[i][d] = (float)r->at[d] + (float)(x >> 8) / 16777216.0f;
        }
        r->mass[i] = (double)(i % 17) + r->rank;
    }
}

/* Each rank wants its own block, and the particles of its own box. */
static void restart(struct rank *r, const char *path, const bouma_box *box,
                    int last)
{
    float exact[N * N * N], lossy[N * N * N];
    bouma_array arrays[2] = {BOUMA_ARRAY(BOUMA_TYPE_F32, exact, sizeof(exact)),
                             BOUMA_ARRAY(BOUMA_TYPE_F32, lossy, sizeof(lossy))};
    bouma_bounds own = {.axes = BOUMA_AXES_XYZ};
    bouma_particles_query query = {.size = sizeof(query), .box = &own};
    bouma_particle_data *data = NULL;
    bouma_dataset *ds = NULL;
    bouma_step *step = NULL;
    unsigned long long count, wrong = 0, sums[2];

    check(bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, NULL), ds);
    check(bouma_step_open(&step, ds, last), ds);
    bouma_grid *grid = bouma_step_find_grid(step, "cube");
    bouma_request requests[2] = {
        {.size = sizeof(requests[0]),
         .variable = bouma_grid_find_variable(grid, "exact"),
         .box = *box,
         .array = &arrays[0]},
        {.size = sizeof(requests[0]),
         .variable = bouma_grid_find_variable(grid, "lossy"),
         .box = *box,
         .array = &arrays[1]}};

    check(bouma_step_read(step, requests, 2), ds);
    for (int i = 0; i < N * N * N; i++)
        wrong += exact[i] != r->field[i] ||
                 fabs((double)lossy[i] - (double)r->field[i]) > 0.01;
    for (int d = 0; d < 3; d++) {
        own.low[d] = r->at[d];
        own.high[d] = r->at[d] + 1;
    }
    check(bouma_particles_restart(
              &data, bouma_step_find_particles(step, "cloud"), &query),
          ds);
    count = data->count;
    bouma_particle_data_free(data);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    MPI_Allreduce((unsigned long long[]){count, wrong}, sums, 2,
                  MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (sums[1] || sums[0] != (unsigned long long)r->ranks * PARTICLES) {
        fprintf(stderr,
                "steps: a restart gave %llu particles, and %llu wrong "
                "samples\n",
                sums[0], sums[1]);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

int main(int argc, char **argv)
{
    struct rank *r = calloc(1, sizeof(*r));
    bouma_options options = {.size = sizeof(options), .files = FILES};
    bouma_dataset *ds = NULL;
    bouma_grid *grid;
    bouma_particles *cloud;
    bouma_variable *raw, *rounded, *mass;
    int steps = argc > 2 ? atoi(argv[2]) : 2, rc;

    MPI_Init(&argc, &argv);
    if (argc < 2 || !r) {
        fprintf(stderr, "usage: steps STEPS.bouma [STEPS]\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->ranks);
    arrange(r);

    bouma_grid_spec shape = {
        .size = sizeof(shape),
        .ndims = 3,
        .shape = {r->along[0] * N, r->along[1] * N, r->along[2] * N}};
    bouma_variable_spec exact = {.size = sizeof(exact), .type = BOUMA_TYPE_F32};
    bouma_variable_spec lossy = {.size = sizeof(lossy),
                                 .type = BOUMA_TYPE_F32,
                                 .codec = BOUMA_CODEC_INTERP,
                                 .tolerance = 0.01};
    bouma_variable_spec scalar = {.size = sizeof(scalar),
                                  .type = BOUMA_TYPE_F64};
    bouma_particles_spec set = {.size = sizeof(set), .ndims = 3};
    bouma_box box;
    bouma_array field = BOUMA_ARRAY(BOUMA_TYPE_F32, r->field, sizeof(r->field));
    bouma_array position =
        BOUMA_ARRAY(BOUMA_TYPE_F32, r->position, sizeof(r->position));
    bouma_array masses = BOUMA_ARRAY(BOUMA_TYPE_F64, r->mass, sizeof(r->mass));

    for (int d = 0; d < 3; d++) {
        box.lo[d] = r->at[d] * N;
        box.hi[d] = box.lo[d] + N;
    }
    double begun = MPI_Wtime(), written;

    rc = bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, argv[1], &options);
    check(rc, ds);
    check(bouma_grid_define(&grid, ds, "cube", &shape), ds);
    check(bouma_variable_define(&raw, grid, "exact", &exact), ds);
    check(bouma_variable_define(&rounded, grid, "lossy", &lossy), ds);
    check(bouma_particles_define(&cloud, ds, "cloud", &set), ds);
    check(bouma_particles_define_variable(&mass, cloud, "mass", &scalar), ds);
    for (int n = 0; n < steps; n++) {
        bouma_column columns[2] = {
            {sizeof(columns[0]), bouma_particles_position(cloud), &position},
            {sizeof(columns[0]), mass, &masses}};

        simulate(r, n);
        check(bouma_step_begin(ds, n, 0.1 * n), ds);
        check(bouma_variable_put_borrow(raw, &box, &field), ds);
        check(bouma_variable_put_borrow(rounded, &box, &field), ds);
        check(bouma_particles_put_borrow(cloud, PARTICLES, columns, 2, NULL),
              ds);
        check(bouma_step_end(ds), ds);
    }
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);
    written = MPI_Wtime();
    restart(r, argv[1], &box, steps - 1);
    if (r->rank == 0)
        printf("written in %.6f s, read back in %.6f s\n", written - begun,
               MPI_Wtime() - written);
    free(r);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
