/* bench_particles.c -- particles, written by all ranks and read by one.
 *
 *   mpirun -n 4 bench_particles [--particles 8000000] [--repetitions 5]
 *                               [--directory .]
 *
 * Positions in f32 and four attributes in f64 (cloud_maker.h), each rank those
 * of its box: all over the cube, and most of them in small blobs, where some
 * ranks have many more than others. A write is compared with a floor that all
 * ranks reach for in the same run, each with its own particles: sort them along
 * a Morton curve, gather the columns, write these to a file. A time is that of
 * the slowest rank; the ratios are of medians over the repetitions, and of the
 * shortest times beside them. A wrong particle ends the program with an error.
 * A missed target does not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asleep.h"
#include "bouma_mpi.h"
#include "measure.h"
#include "particles.h"
#include "score.h"

const char *const distribution_names[DISTRIBUTIONS] = {"uniform", "clustered"};
const char *const backend_names[BACKENDS] = {"raw", "zstd", "quantise",
                                             "raw-by-chunk"};

_Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_particles: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(EXIT_FAILURE);
}

void check(int rc, const bouma_dataset *ds)
{
    if (rc)
        fail(bouma_error_message(ds));
}

void particles_path(char path[PARTICLES_PATH_BYTES], const struct bench *b,
                    int distribution, int backend)
{
    snprintf(path, PARTICLES_PATH_BYTES, "%s/%s-%s.bouma", b->directory,
             distribution_names[distribution], backend_names[backend]);
}

int reading_try(struct reading *r, const struct bench *b, int distribution,
                int backend)
{
    char path[PARTICLES_PATH_BYTES];
    bouma_options o = {.size = sizeof(o)};
    int rc;

    memset(r, 0, sizeof(*r));
    particles_path(path, b, distribution, backend);
    o.threads = 1;
    rc = bouma_dataset_open(&r->ds, path, &o);
    if (!rc)
        rc = bouma_step_open(&r->step, r->ds, 0);
    if (rc)
        return rc;
    r->set = bouma_step_find_particles(r->step, "dust");
    return r->set ? BOUMA_OK : BOUMA_ENOTFOUND;
}

void reading_open(struct reading *r, const struct bench *b, int distribution,
                  int backend)
{
    check(reading_try(r, b, distribution, backend), r->ds);
}

void reading_close(struct reading *r)
{
    bouma_step_free(r->step);
    bouma_dataset_free(r->ds);
}

/* ---- all ---------------------------------------------------------------- */

static void parse(struct bench *b, int argc, char **argv)
{
    *b = (struct bench){
        .particles = 8000000, .repetitions = 5, .directory = "."};
    MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
    for (int i = 1; i < argc; i += 2) {
        const char *text = i + 1 < argc ? argv[i + 1] : NULL;

        if (!text)
            fail("an option has no value");
        if (!strcmp(argv[i], "--particles"))
            b->particles = strtoull(text, NULL, 10);
        else if (!strcmp(argv[i], "--repetitions"))
            b->repetitions = atoi(text);
        else if (!strcmp(argv[i], "--directory"))
            b->directory = text;
        else
            fail("an option is not understood");
    }
    if (b->particles < 10000 || b->particles > 1000000000 ||
        b->repetitions < 1 || b->repetitions > SCORE_MAX_TIMES)
        fail("--particles: from 10000 to 10^9; --repetitions: from 1 to 99");
}

static void make_clouds(struct bench *b)
{
    static const struct cloud_spec specs[DISTRIBUTIONS] = {
        {.seed = 1},
        {.blobs = 30,
         .narrow = 0.0005,
         .wide = 0.0015,
         .background = 0.1,
         .seed = 5},
    };
    int boxes[3] = {0, 0, 0}, place[3], rest = b->rank;

    MPI_Dims_create(b->ranks, 3, boxes);
    for (int d = 2; d >= 0; d--) {
        place[d] = rest % boxes[d];
        rest /= boxes[d];
    }
    for (int i = 0; i < DISTRIBUTIONS; i++)
        if (cloud_make(&b->clouds[i], &specs[i], b->particles, place, boxes))
            fail("no memory");
}

static void write_results(const struct bench *b)
{
    score_setting("particles", (double)b->particles);
    score_setting("ranks", b->ranks);
    if (score_end("particles"))
        fail("the results cannot be written");
}

static void remove_all(const struct bench *b)
{
    for (int i = 0; i < DISTRIBUTIONS; i++)
        for (int backend = 0; backend < BACKENDS; backend++) {
            char path[PARTICLES_PATH_BYTES];

            particles_path(path, b, i, backend);
            measure_remove(path);
        }
}

int main(int argc, char **argv)
{
    struct bench b;
    int failed;

    MPI_Init(&argc, &argv);
    parse(&b, argc, argv);
    make_clouds(&b);
    bench_writes(&b);
    failed = bench_sizes(&b);
    for (int i = 0; i < DISTRIBUTIONS; i++)
        cloud_release(&b.clouds[i]);
    if (b.rank == 0) {
        bench_coarse(&b);
        bench_reads(&b);
        bench_scans(&b);
        bench_files();
        write_results(&b);
        remove_all(&b);
    }
    wait_asleep();
    MPI_Finalize();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
