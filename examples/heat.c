/* heat.c -- a simulation that writes: heat spreads from a hot ball, each rank
 * has some planes of the grid with ghost cells around them.
 *
 *   mpirun -n 4 heat [heat.bouma]
 *
 * The temperature is handed over as it lies among its ghost cells, without a
 * copy; the flux, a vector a sample, from a dense array. */
#include <bouma_mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { PLANES = 20, N = 64, ITERATIONS = 60, EVERY = 20 };

typedef double plane[N + 2][N + 2];

static plane temperature[2][PLANES + 2]; /* now and next, in turn */
static float flux[PLANES][N][N][3];
static plane back[PLANES + 2];

static void check(int rc, const bouma_dataset *ds)
{
    if (rc) {
        fprintf(stderr, "heat: %s\n", bouma_error_message(ds));
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
}

static void start(plane *t, int rank, int ranks)
{
    for (int z = 1; z <= PLANES; z++)
        for (int y = 1; y <= N; y++)
            for (int x = 1; x <= N; x++) {
                int dz = rank * PLANES + z - ranks * PLANES / 2;
                int dy = y - N / 2, dx = x - N / 2;

                t[z][y][x] = dz * dz + dy * dy + dx * dx < 200 ? 400 : 0;
            }
}

/* Get the ghost planes from the neighbours. The other ghost cells, and those
 * at both ends of the grid, stay at zero: the surface is cold. */
static void exchange(plane *t, int rank, int ranks)
{
    int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int above = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    int n = (N + 2) * (N + 2);

    MPI_Sendrecv(t[1], n, MPI_DOUBLE, below, 0, t[PLANES + 1], n, MPI_DOUBLE,
                 above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(t[PLANES], n, MPI_DOUBLE, above, 1, t[0], n, MPI_DOUBLE, below,
                 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One explicit step of dT/dt = div grad T, in metres and seconds; the flux is
 * minus the gradient. */
static void advance(plane *t, plane *next)
{
    for (int z = 1; z <= PLANES; z++)
        for (int y = 1; y <= N; y++)
            for (int x = 1; x <= N; x++) {
                double lo[3] = {t[z - 1][y][x], t[z][y - 1][x], t[z][y][x - 1]};
                double hi[3] = {t[z + 1][y][x], t[z][y + 1][x], t[z][y][x + 1]};

                next[z][y][x] = t[z][y][x];
                for (int axis = 0; axis < 3; axis++) {
                    next[z][y][x] +=
                        0.15 * (lo[axis] + hi[axis] - 2 * t[z][y][x]);
                    flux[z - 1][y - 1][x - 1][axis] =
                        (float)(0.5 * (lo[axis] - hi[axis]));
                }
            }
}

static int64_t differences(plane *a, plane *b)
{
    int64_t n = 0;

    for (int z = 1; z <= PLANES; z++)
        for (int y = 1; y <= N; y++)
            for (int x = 1; x <= N; x++)
                n += a[z][y][x] != b[z][y][x];
    return n;
}

static void print_record(int step, const bouma_record *r)
{
    printf("step %2d: %.1f MiB are %.1f MiB in %lld file(s); seconds: "
           "shape %.3f, ship %.3f, store %.3f, commit %.3f\n",
           step, (double)r->raw_bytes / 1048576,
           (double)r->stored_bytes / 1048576, (long long)r->files,
           r->seconds.shape, r->seconds.ship, r->seconds.store,
           r->seconds.commit);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "heat.bouma";
    int rank, ranks;
    int64_t wrong;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    start(temperature[0], rank, ranks);

    bouma_dataset *ds = NULL;
    int rc;
    bouma_grid *grid;
    bouma_variable *scalar, *vector;
    bouma_box box = {.lo = {rank * PLANES, 0, 0},
                     .hi = {(rank + 1) * PLANES, N, N}};
    bouma_grid_spec shape = {.size = sizeof(shape),
                             .ndims = 3,
                             .shape = {ranks * PLANES, N, N},
                             .unit = "m"};
    bouma_variable_spec kelvin = {
        .size = sizeof(kelvin), .type = BOUMA_F64, .unit = "K"};
    bouma_variable_spec gradient = {.size = sizeof(gradient),
                                    .type = BOUMA_F32,
                                    .components = 3,
                                    .unit = "K/m"};
    int64_t ghosted[3] = {PLANES + 2, N + 2, N + 2};
    bouma_memory inside;

    bouma_memory_inside(&inside, BOUMA_F64, 1, 3, ghosted);
    rc = bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, NULL);
    check(rc, ds);
    check(bouma_grid_define(&grid, ds, "cube", &shape), ds);
    check(bouma_variable_define(&scalar, grid, "temperature", &kelvin), ds);
    check(bouma_variable_define(&vector, grid, "flux", &gradient), ds);
    check(bouma_attributes_set_text(bouma_dataset_attributes(ds), "title",
                                    "a hot ball in a cold box"),
          ds);
    for (int i = 0; i <= ITERATIONS; i++) {
        plane *now = temperature[i % 2], *next = temperature[(i + 1) % 2];
        bouma_record record;

        exchange(now, rank, ranks);
        advance(now, next);
        if (i % EVERY != 0)
            continue;
        check(bouma_step_begin(ds, i, 0.15 * i), ds);
        check(bouma_attributes_set_number(bouma_dataset_step_attributes(ds),
                                          "iteration", i),
              ds);
        check(bouma_variable_put(scalar, &box, &now[1][1][1], &inside), ds);
        check(bouma_variable_put(vector, &box, flux, NULL), ds);
        check(bouma_step_end(ds, &record), ds);
        if (rank == 0)
            print_record(i, &record);
    }
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);

    /* Read the last step as it was handed over, among ghost cells. */
    bouma_step *step;
    bouma_request request = {
        .box = box, .data = &back[1][1][1], .memory = &inside};

    rc = bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, NULL);
    check(rc, ds);
    check(bouma_step_open(&step, ds, ITERATIONS), ds);
    grid = bouma_step_find_grid(step, "cube");
    request.variable = bouma_grid_find_variable(grid, "temperature");
    check(bouma_step_read(step, &request, 1), ds);
    bouma_step_free(step);
    bouma_dataset_free(ds);

    wrong = differences(temperature[ITERATIONS % 2], back);
    if (wrong)
        fprintf(stderr, "heat: rank %d: %lld samples differ\n", rank,
                (long long)wrong);
    MPI_Finalize();
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
