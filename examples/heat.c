/* heat.c -- a simulation that writes a grid: heat spreads from hot balls; each
 * rank has some planes of the grid, with ghost cells around them.
 *
 *   mpirun -n 4 heat [heat.bouma]
 *
 * The temperature is handed over in place, among its ghost cells, and stored
 * with a tolerance; then once more exactly, so that levels.c can compare. The
 * flux, a vector per sample, comes from a dense array, in the last step only. */
#include <bouma_mpi.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLANES = 32, N = 96, ITERATIONS = 60, EVERY = 20 };

#define TOLERANCE 0.05 /* K */

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

/* Balls in the box, at z, y, x from its centre. */
static void start(plane *t, int rank, int ranks)
{
    static const struct {
        int at[3], radius, kelvin;
    } balls[] = {{{0, 0, 0}, 20, 400},
                 {{4, -26, 24}, 9, 300},
                 {{-2, 22, 28}, 12, 200},
                 {{1, 28, -24}, 5, 500},
                 {{3, -24, -28}, 7, 350}};

    for (int z = 1; z <= PLANES; z++)
        for (int y = 1; y <= N; y++)
            for (int x = 1; x <= N; x++)
                for (size_t i = 0; i < sizeof(balls) / sizeof(*balls); i++) {
                    const int *at = balls[i].at, r = balls[i].radius;
                    int dz = rank * PLANES + z - ranks * PLANES / 2 - at[0];
                    int dy = y - N / 2 - at[1], dx = x - N / 2 - at[2];

                    if (dz * dz + dy * dy + dx * dx < r * r)
                        t[z][y][x] = balls[i].kelvin;
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

static double largest_error(plane *a, plane *b)
{
    double largest = 0;

    for (int z = 1; z <= PLANES; z++)
        for (int y = 1; y <= N; y++)
            for (int x = 1; x <= N; x++)
                largest = fmax(largest, fabs(a[z][y][x] - b[z][y][x]));
    return largest;
}

static void print_record(int step, const bouma_record *r)
{
    printf("step %2d: %.1f MiB are %.1f MiB in %lld file(s); seconds: "
           "shape %.3f, ship %.3f, store %.3f, commit %.3f\n",
           step, (double)r->raw_bytes / 1048576,
           (double)r->stored_bytes / 1048576, (long long)r->files,
           r->shape_seconds, r->ship_seconds, r->store_seconds,
           r->commit_seconds);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "heat.bouma";
    int rank, ranks;
    double error;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    start(temperature[0], rank, ranks);

    bouma_dataset *ds = NULL;
    int rc;
    bouma_grid *grid;
    bouma_variable *scalar, *exact, *vector;
    bouma_box box = {.lo = {rank * PLANES, 0, 0},
                     .hi = {(rank + 1) * PLANES, N, N}};
    bouma_grid_spec shape = {.size = sizeof(shape),
                             .ndims = 3,
                             .shape = {ranks * PLANES, N, N},
                             .patch = {32, 32, 32},
                             .unit = "m"};
    bouma_variable_spec within = {.size = sizeof(within),
                                  .type = BOUMA_TYPE_F64,
                                  .unit = "K",
                                  .tolerance = TOLERANCE};
    bouma_variable_spec every_bit = {.size = sizeof(every_bit),
                                     .type = BOUMA_TYPE_F64,
                                     .unit = "K",
                                     .codec = BOUMA_CODEC_ZSTD};
    bouma_variable_spec gradient = {.size = sizeof(gradient),
                                    .type = BOUMA_TYPE_F32,
                                    .components = 3,
                                    .unit = "K/m"};
    int64_t ghosted[3] = {PLANES + 2, N + 2, N + 2};
    int64_t first[3] = {1, 1, 1}; /* behind the ghost cells */
    bouma_array gradients = BOUMA_ARRAY(BOUMA_TYPE_F32, flux, sizeof(flux));

    rc = bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, NULL);
    check(rc, ds);
    check(bouma_grid_define(&grid, ds, "cube", &shape), ds);
    check(bouma_variable_define(&scalar, grid, "temperature", &within), ds);
    check(bouma_variable_define(&exact, grid, "exact", &every_bit), ds);
    check(bouma_variable_define(&vector, grid, "flux", &gradient), ds);
    check(bouma_attributes_set_text(bouma_dataset_attributes(ds), "title",
                                    "hot balls in a cold box"),
          ds);
    for (int i = 0; i <= ITERATIONS; i++) {
        plane *now = temperature[i % 2], *next = temperature[(i + 1) % 2];
        bouma_array inner =
            BOUMA_ARRAY(BOUMA_TYPE_F64, now, sizeof(temperature[0]));
        bouma_record record = {.size = sizeof(record)};

        bouma_array_inside(&inner, 1, 3, ghosted, first, NULL, 0);
        exchange(now, rank, ranks);
        advance(now, next);
        if (i % EVERY != 0)
            continue;
        check(bouma_step_begin(ds, i, 0.15 * i), ds);
        check(bouma_attributes_set_number(bouma_dataset_step_attributes(ds),
                                          "iteration", i),
              ds);
        check(bouma_variable_put_borrow(scalar, &box, &inner), ds);
        check(bouma_variable_put_borrow(exact, &box, &inner), ds);
        if (i == ITERATIONS) /* in other steps, it is absent */
            check(bouma_variable_put_borrow(vector, &box, &gradients), ds);
        check(bouma_step_end(ds), ds);
        check(bouma_dataset_record_get(&record, ds), ds);
        if (rank == 0)
            print_record(i, &record);
    }
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);

    /* Read the last step as it was handed over, among ghost cells. */
    bouma_step *step;
    bouma_array room = BOUMA_ARRAY(BOUMA_TYPE_F64, back, sizeof(back));
    bouma_request request = {
        .size = sizeof(request), .box = box, .array = &room};

    bouma_array_inside(&room, 1, 3, ghosted, first, NULL, 0);
    rc = bouma_dataset_open_mpi(&ds, MPI_COMM_WORLD, path, NULL);
    check(rc, ds);
    check(bouma_step_open(&step, ds, ITERATIONS), ds);
    grid = bouma_step_find_grid(step, "cube");
    request.variable = bouma_grid_find_variable(grid, "temperature");
    check(bouma_step_read(step, &request, 1), ds);
    bouma_step_free(step);
    bouma_dataset_free(ds);

    error = largest_error(temperature[ITERATIONS % 2], back);
    if (error > TOLERANCE)
        fprintf(stderr, "heat: rank %d: an error of %g\n", rank, error);
    MPI_Finalize();
    return error > TOLERANCE ? EXIT_FAILURE : EXIT_SUCCESS;
}
