/* in_situ.c -- LAMMPS as a library: its atoms go to bouma without a dump.
 *
 *     mpirun -n 4 example_lammps_in_situ in.impact impact.bouma --every 100 \
 *         --steps 500 -var digits %.17g
 *
 * runs the script, whose last command is `run ${steps}`, with steps = 0; then
 * LAMMPS goes on, 100 steps at a time, and after each, every rank hands over its
 * own atoms: positions, velocities, ids and types, in the arrays of LAMMPS, of
 * which nothing is copied. If the dataset exists, its steps are written again.
 * What follows is passed to LAMMPS. */
#define LAMMPS_LIB_MPI 1
#include <bouma_mpi.h>
#include <lammps/library.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct output {
    bouma_dataset *ds;
    bouma_particles *atoms;
    bouma_variable *velocity, *id, *type;
};

static void stop(const char *what)
{
    fprintf(stderr, "in_situ: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    exit(EXIT_FAILURE);
}

static void check(int rc, const bouma_dataset *ds)
{
    if (rc)
        stop(bouma_error_message(ds));
}

/* LAMMPS tells of its own errors, and ends, unless it was built to throw. */
static void check_lammps(void *lmp)
{
    char text[512] = "";

    if (!lammps_has_error(lmp))
        return;
    lammps_get_last_error_message(lmp, text, sizeof(text));
    stop(text);
}

/* Ids have 4 or 8 bytes, as LAMMPS was built. */
static bouma_type id_type(void *lmp)
{
    return lammps_extract_setting(lmp, "tagint") == 8 ? BOUMA_TYPE_I64
                                                      : BOUMA_TYPE_I32;
}

static void output_open(struct output *out, const char *path, void *lmp)
{
    bouma_options opts = {.size = sizeof(opts), .clobber = 1};
    bouma_particles_spec atoms = {
        .size = sizeof(atoms), .ndims = 3, .type = BOUMA_TYPE_F64};
    bouma_variable_spec velocity = {
        .size = sizeof(velocity), .type = BOUMA_TYPE_F64, .components = 3};
    bouma_variable_spec id = {.size = sizeof(id), .type = id_type(lmp)};
    bouma_variable_spec type = {.size = sizeof(type), .type = BOUMA_TYPE_I32};

    check(bouma_dataset_create_mpi(&out->ds, MPI_COMM_WORLD, path, &opts),
          out->ds);
    /* What fails here fails the end of the first step. */
    bouma_particles_define(&out->atoms, out->ds, "atoms", &atoms);
    bouma_particles_define_variable(&out->velocity, out->atoms, "velocity",
                                    &velocity);
    bouma_particles_define_variable(&out->id, out->atoms, "id", &id);
    bouma_particles_define_variable(&out->type, out->atoms, "type", &type);
}

/* The number of the step that LAMMPS has come to; it is a bigint there. */
static int64_t step_of(void *lmp)
{
    const void *step = lammps_extract_global(lmp, "ntimestep");

    return lammps_extract_setting(lmp, "bigint") == 8 ? *(const int64_t *)step
                                                      : *(const int32_t *)step;
}

/* LAMMPS has its vectors as one array, and pointers to its rows. */
static bouma_array vectors(void *lmp, const char *name, size_t count)
{
    double **rows = lammps_extract_atom(lmp, name);

    return BOUMA_ARRAY(BOUMA_TYPE_F64, count ? rows[0] : NULL,
                       count * 3 * sizeof(double));
}

static void output_step(struct output *out, void *lmp)
{
    const size_t count = (size_t)lammps_extract_setting(lmp, "nlocal");
    const double time = lammps_get_thermo(lmp, "time");
    const bouma_type ids = id_type(lmp);
    bouma_array x = vectors(lmp, "x", count), v = vectors(lmp, "v", count);
    bouma_array id = BOUMA_ARRAY(ids, lammps_extract_atom(lmp, "id"),
                                 count * (ids == BOUMA_TYPE_I64 ? 8 : 4));
    bouma_array type = BOUMA_ARRAY(
        BOUMA_TYPE_I32, lammps_extract_atom(lmp, "type"), count * sizeof(int));
    const bouma_column columns[] = {
        {sizeof(bouma_column), bouma_particles_position(out->atoms), &x},
        {sizeof(bouma_column), out->velocity, &v},
        {sizeof(bouma_column), out->id, &id},
        {sizeof(bouma_column), out->type, &type}};

    bouma_step_begin(out->ds, step_of(lmp), time);
    bouma_particles_put_borrow(out->atoms, count, columns, 4, NULL);
    check(bouma_step_end(out->ds), out->ds);
}

int main(int argc, char **argv)
{
    struct output out = {0};
    long every = 100, steps = 500;
    char command[64];
    void *lmp;
    int first = 3;

    if (argc < 3) {
        fprintf(stderr,
                "usage: %s INPUT DATASET [--every K] [--steps N] "
                "[arguments of LAMMPS]\n",
                argv[0]);
        return 2;
    }
    for (; first + 1 < argc; first += 2) {
        if (!strcmp(argv[first], "--every"))
            every = atol(argv[first + 1]);
        else if (!strcmp(argv[first], "--steps"))
            steps = atol(argv[first + 1]);
        else
            break;
    }
    if (every < 1 || steps < 0) {
        fprintf(stderr, "%s: --every is 1 or more, --steps 0 or more\n",
                argv[0]);
        return 2;
    }
    MPI_Init(&argc, &argv);
    {
        char *defaults[] = {"lammps", "-log", "none",  "-screen",
                            "none",   "-var", "steps", "0"};
        const int given = argc > first ? argc - first : 0;
        char **all = calloc((size_t)given + 9, sizeof(*all));

        if (!all)
            stop("out of memory");
        memcpy(all, defaults, sizeof(defaults));
        for (int i = 0; i < given; i++)
            all[8 + i] = argv[first + i];
        lmp = lammps_open(8 + given, all, MPI_COMM_WORLD, NULL);
        free(all);
    }
    if (!lmp)
        stop("LAMMPS does not start");
    lammps_file(lmp, argv[1]);
    check_lammps(lmp);
    output_open(&out, argv[2], lmp);
    output_step(&out, lmp);
    for (long done = 0, n; done < steps; done += n) {
        n = steps - done < every ? steps - done : every;
        snprintf(command, sizeof(command), "run %ld pre no post no", n);
        lammps_command(lmp, command);
        check_lammps(lmp);
        output_step(&out, lmp);
    }
    check(bouma_dataset_close(out.ds), out.ds);
    bouma_dataset_free(out.ds);
    lammps_close(lmp);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
