/* bench_particles.c -- particles, written by all ranks and read by one.
 *
 *   mpirun -n 4 bench_particles [--particles 8000000] [--repetitions 5]
 *                               [--directory .] [--json FILE]
 *
 * Positions in f32 and four attributes in f64 (cloud_maker.h), each rank those
 * of its box: all over the cube, and most of them in small blobs, where some
 * ranks have many more than others. A write is compared with a floor that all
 * ranks reach for in the same run, each with its own particles: sort them along
 * a Morton curve, gather the columns, write these to a file. A time is that of
 * the slowest rank; the ratios are of medians over the repetitions, and of the
 * shortest times beside them. A wrong particle ends the program with an error.
 * A missed target does not. */
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bouma_mpi.h"
#include "cloud_floor.h"
#include "measure.h"
#include "particles.h"
#include "score.h"

#define TOLERANCE 1e-4 /* of quantise: this part of the range */

const char *const distribution_names[DISTRIBUTIONS] = {"uniform", "clustered"};
const char *const way_names[WAYS] = {"raw", "zstd", "quantise"};

enum { PHASES = 7 };
static const char *const phase_names[PHASES] = {
    "describe", "plan", "distribute", "shape", "ship", "store", "commit"};

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
                    int distribution, int way)
{
    snprintf(path, PARTICLES_PATH_BYTES, "%s/%s-%s.bouma", b->directory,
             distribution_names[distribution], way_names[way]);
}

int reading_try(struct reading *r, const struct bench *b, int distribution,
                int way)
{
    char path[PARTICLES_PATH_BYTES];
    bouma_options o;
    int rc;

    memset(r, 0, sizeof(*r));
    particles_path(path, b, distribution, way);
    bouma_options_init(&o, sizeof(o));
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
                  int way)
{
    check(reading_try(r, b, distribution, way), r->ds);
}

void reading_close(struct reading *r)
{
    bouma_step_free(r->step);
    bouma_dataset_free(r->ds);
}

/* ---- writing ------------------------------------------------------------ */

/* What was written before is not charged to what comes next. */
static void settle(const struct bench *b)
{
    if (b->rank == 0) {
        int fd = open(b->directory, O_RDONLY | O_DIRECTORY);

        if (fd < 0 || syncfs(fd))
            fail("cannot sync the directory");
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static double slowest(double seconds)
{
    double most;

    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void define(bouma_variable *variables[1 + CLOUD_ATTRIBUTES],
                   bouma_particles **set, bouma_dataset *ds, int way,
                   const double tolerance[CLOUD_ATTRIBUTES])
{
    /* With a tolerance and no codec it is quantise. */
    static const bouma_codec codecs[WAYS] = {BOUMA_CODEC_RAW, 0, 0};
    bouma_particles_spec s = {
        .size = sizeof(s), .ndims = 3, .type = BOUMA_F32, .codec = codecs[way]};

    if (way == QUANTISED)
        s.tolerance = TOLERANCE;
    check(bouma_particles_define(set, ds, "dust", &s), ds);
    variables[0] = bouma_particles_variable(*set, 0);
    for (int j = 0; j < CLOUD_ATTRIBUTES; j++) {
        bouma_variable_spec v = {
            .size = sizeof(v), .type = BOUMA_F64, .codec = codecs[way]};

        if (way == QUANTISED)
            v.tolerance = tolerance[j];
        check(bouma_particles_define_variable(&variables[1 + j], *set,
                                              cloud_names[j], &v),
              ds);
    }
}

static int put(bouma_particles *set, const struct cloud *c,
               bouma_variable *const variables[1 + CLOUD_ATTRIBUTES])
{
    const void *parts[3] = {c->position[0], c->position[1], c->position[2]};
    bouma_column columns[1 + CLOUD_ATTRIBUTES] = {
        {.variable = variables[0], .parts = parts}};

    for (int j = 0; j < CLOUD_ATTRIBUTES; j++)
        columns[1 + j] = (bouma_column){.variable = variables[1 + j],
                                        .data = c->attribute[j]};
    return bouma_particles_put(set, c->count, columns, 1 + CLOUD_ATTRIBUTES,
                               NULL);
}

/* Write a new dataset; seconds from a barrier to the end of the step. */
static double write_dataset(const struct bench *b, int distribution, int way,
                            const double tolerance[CLOUD_ATTRIBUTES],
                            bouma_record *record)
{
    bouma_variable *variables[1 + CLOUD_ATTRIBUTES];
    char path[PARTICLES_PATH_BYTES];
    double begun, seconds;
    bouma_particles *set;
    bouma_options o;
    bouma_dataset *ds;

    particles_path(path, b, distribution, way);
    if (b->rank == 0 && measure_remove(path))
        fail("cannot remove a dataset");
    settle(b);
    bouma_options_init(&o, sizeof(o));
    o.durability = BOUMA_FAST;
    check(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &o), ds);
    define(variables, &set, ds, way, tolerance);
    MPI_Barrier(MPI_COMM_WORLD);
    begun = measure_now();
    check(bouma_step_begin(ds, 0, 0), ds);
    check(put(set, &b->clouds[distribution], variables), ds);
    check(bouma_step_end(ds, record), ds);
    seconds = slowest(measure_now() - begun);
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);
    return seconds;
}

static double run_floor(const struct bench *b, int distribution,
                        struct cloud_floor *f, double parts[FLOOR_PARTS])
{
    double begun, seconds, mine[FLOOR_PARTS];
    char path[PARTICLES_PATH_BYTES];

    snprintf(path, sizeof(path), "%s/floor.%d", b->directory, b->rank);
    unlink(path);
    settle(b);
    begun = measure_now();
    if (cloud_floor_run(f, &b->clouds[distribution], path, mine))
        fail("cannot write a plain file");
    seconds = slowest(measure_now() - begun);
    MPI_Reduce(mine, parts, FLOOR_PARTS, MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    unlink(path);
    return seconds;
}

/* Of one distribution. */
struct writes {
    struct times floor, parts[FLOOR_PARTS];
    struct times total[QUANTISED], phases[QUANTISED][PHASES];
    bouma_record record[QUANTISED];
};

/* 'what' is a way, or QUANTISED for the floor. */
static void write_one(const struct bench *b, struct writes *w, int distribution,
                      int what, struct cloud_floor *f, int counts)
{
    double parts[FLOOR_PARTS], seconds;

    if (what == QUANTISED) {
        seconds = run_floor(b, distribution, f, parts);
        if (!counts)
            return;
        times_add(&w->floor, seconds);
        for (int i = 0; i < FLOOR_PARTS; i++)
            times_add(&w->parts[i], parts[i]);
        return;
    }
    seconds = write_dataset(b, distribution, what, NULL, &w->record[what]);
    if (counts) {
        const bouma_phases *p = &w->record[what].seconds;
        const double phases[PHASES] = {p->describe, p->plan, p->distribute,
                                       p->shape,    p->ship, p->store,
                                       p->commit};

        times_add(&w->total[what], seconds);
        for (int i = 0; i < PHASES; i++)
            times_add(&w->phases[what][i], phases[i]);
    }
}

static double median_of(const struct times *t)
{
    return measure_median(t->seconds, t->count);
}

static void report_writes(const struct bench *b,
                          const struct writes writes[DISTRIBUTIONS])
{
    static const double million = 1e6;
    double nanoseconds = 1e9 / (double)b->particles;
    char name[100];

    printf("write of %.3g million particles of %d bytes by %d ranks, fast\n",
           (double)b->particles / million, (int)CLOUD_BYTES, b->ranks);
    printf("seconds of the slowest rank: median, shortest; of the parts, and "
           "nanoseconds a particle of all\n");
    for (int i = 0; i < DISTRIBUTIONS; i++) {
        const struct writes *w = &writes[i];

        printf("  %-9s floor %7.3f %7.3f ", distribution_names[i],
               median_of(&w->floor),
               measure_quantile(w->floor.seconds, w->floor.count, 0));
        for (int p = 0; p < FLOOR_PARTS; p++)
            printf("  %s %.3f (%.1f)", cloud_floor_names[p],
                   median_of(&w->parts[p]),
                   median_of(&w->parts[p]) * nanoseconds);
        printf("\n");
        for (int way = 0; way < QUANTISED; way++) {
            printf("  %-9s %-5s %7.3f %7.3f ", "", way_names[way],
                   median_of(&w->total[way]),
                   measure_quantile(w->total[way].seconds, w->total[way].count,
                                    0));
            for (int p = 0; p < PHASES; p++)
                printf("  %s %.3f (%.1f)", phase_names[p],
                       median_of(&w->phases[way][p]),
                       median_of(&w->phases[way][p]) * nanoseconds);
            printf("\n");
        }
        printf("  %-9s %d files, largest over mean %.3f, %.0f MB shipped\n", "",
               (int)w->record[RAW].files,
               (double)w->record[RAW].largest_file /
                   (double)w->record[RAW].mean_file,
               (double)w->record[RAW].shipped_bytes / million);
    }
    for (int way = 0; way < QUANTISED; way++)
        for (int i = 0; i < DISTRIBUTIONS; i++) {
            snprintf(name, sizeof(name), "write, %s, %s: time over the floor",
                     distribution_names[i], way_names[way]);
            score_ratio(name, &writes[i].total[way], &writes[i].floor,
                        SCORE_AT_MOST, 2.5);
        }
    for (int way = 0; way < QUANTISED; way++) {
        snprintf(name, sizeof(name), "write, %s: clustered over uniform",
                 way_names[way]);
        score_ratio(name, &writes[CLUSTERED].total[way],
                    &writes[UNIFORM].total[way], SCORE_AT_MOST, 1.15);
    }
}

static void bench_writes(const struct bench *b)
{
    static struct writes writes[DISTRIBUTIONS];
    enum { THINGS = DISTRIBUTIONS * (QUANTISED + 1) };
    struct cloud_floor floors[DISTRIBUTIONS];

    for (int i = 0; i < DISTRIBUTIONS; i++)
        if (cloud_floor_init(&floors[i], b->clouds[i].count))
            fail("no memory");
    for (int n = -1; n < b->repetitions; n++) /* one to warm up */
        for (int k = 0; k < THINGS; k++) {
            /* Another one begins each time. */
            int thing = (k + n + 1) % THINGS, i = thing % DISTRIBUTIONS;

            write_one(b, &writes[i], i, thing / DISTRIBUTIONS, &floors[i],
                      n >= 0);
        }
    for (int i = 0; i < DISTRIBUTIONS; i++)
        cloud_floor_release(&floors[i]);
    if (b->rank == 0)
        report_writes(b, writes);
}

/* ---- sizes -------------------------------------------------------------- */

static uint64_t tree_bytes; /* for nftw(), which hands nothing over */

static int add_size(const char *path, const struct stat *info, int kind,
                    struct FTW *walk)
{
    (void)path;
    (void)walk;
    if (kind == FTW_F)
        tree_bytes += (uint64_t)info->st_size;
    return 0;
}

/* All bytes of all files of a dataset, which has one step. */
static double bytes_on_disk(const struct bench *b, int distribution, int way)
{
    char path[PARTICLES_PATH_BYTES];

    particles_path(path, b, distribution, way);
    tree_bytes = 0;
    if (nftw(path, add_size, 16, FTW_PHYS))
        fail("cannot look at a dataset");
    return (double)tree_bytes;
}

/* How much smaller each variable is. What cannot be read is told, and 1. */
static int report_variables(const struct bench *b, int distribution, int way)
{
    struct reading r;
    int failed = reading_try(&r, b, distribution, way) != BOUMA_OK;

    if (failed)
        printf("    CANNOT BE READ: %s\n", bouma_error_message(r.ds));
    for (int j = 0; j <= CLOUD_ATTRIBUTES && !failed; j++) {
        bouma_variable_info v;

        bouma_variable_info_get(bouma_particles_variable(r.set, j), &v);
        if (way == QUANTISED && !(v.largest_error <= v.bound))
            fail("an error is beyond the bound");
        printf("%s%s %.2f%s", j ? "  " : "    ", v.name,
               (double)v.raw_bytes / (double)v.stored_bytes,
               j == CLOUD_ATTRIBUTES ? "\n" : "");
    }
    reading_close(&r);
    return failed;
}

/* Write what is quantised, once: only its size counts. 1 if something cannot be
 * read. */
static int bench_sizes(const struct bench *b)
{
    double raw = (double)b->particles * (double)CLOUD_BYTES;
    bouma_record record;
    char name[100];
    int failed = 0;

    for (int i = 0; i < DISTRIBUTIONS; i++) {
        double tolerance[CLOUD_ATTRIBUTES], ends[2], all[2];
        const struct cloud *c = &b->clouds[i];

        for (int j = 0; j < CLOUD_ATTRIBUTES; j++) {
            ends[0] = ends[1] = -INFINITY; /* less the smallest; the largest */
            for (uint64_t k = 0; k < c->count; k++) {
                ends[0] = fmax(ends[0], -c->attribute[j][k]);
                ends[1] = fmax(ends[1], c->attribute[j][k]);
            }
            MPI_Allreduce(ends, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            tolerance[j] = TOLERANCE * (all[0] + all[1]);
        }
        write_dataset(b, i, QUANTISED, tolerance, &record);
    }
    if (b->rank)
        return 0;
    printf("\nbytes on disk, manifest and all\n");
    for (int i = 0; i < DISTRIBUTIONS; i++) {
        snprintf(name, sizeof(name), "%s, raw: more than the data, percent",
                 distribution_names[i]);
        score(name, 100 * (bytes_on_disk(b, i, RAW) / raw - 1), SCORE_AT_MOST,
              0.9);
    }
    for (int i = 0; i < DISTRIBUTIONS; i++)
        for (int way = USUAL; way < WAYS; way++) {
            snprintf(name, sizeof(name), "%s, %s%s: times smaller",
                     distribution_names[i], way_names[way],
                     way == QUANTISED ? " to 1e-4 of the range" : "");
            score(name, raw / bytes_on_disk(b, i, way), SCORE_TOLD, 0);
            failed |= report_variables(b, i, way);
        }
    return failed;
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
        else if (!strcmp(argv[i], "--json"))
            b->json = text;
        else
            fail("an option is not understood");
    }
    if (b->particles < 10000 || b->particles > 1000000000 ||
        b->repetitions < 1 || b->repetitions > SCORE_MAX_TIMES)
        fail("--particles: from 10000 to 10^9; --repetitions: from 1 to 99");
}

static void make_clouds(struct bench *b)
{
    static const struct cloud_spec specs[DISTRIBUTIONS] = {{.seed = 1},
                                                           {.blobs = 50,
                                                            .narrow = 0.0005,
                                                            .wide = 0.0015,
                                                            .background = 0.1,
                                                            .seed = 2}};
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

static void write_json(const struct bench *b)
{
    FILE *f = strcmp(b->json, "-") ? fopen(b->json, "w") : stdout;

    if (!f)
        fail("the file of --json cannot be written");
    fprintf(f,
            "{\"benchmark\": \"particles\", \"version\": \"%s\", "
            "\"particles\": %llu, \"ranks\": %d, \"repetitions\": %d, ",
            bouma_version(), (unsigned long long)b->particles, b->ranks,
            b->repetitions);
    score_json(f);
    fprintf(f, "}\n");
    if (f != stdout && fclose(f))
        fail("the file of --json cannot be written");
}

static void remove_all(const struct bench *b)
{
    for (int i = 0; i < DISTRIBUTIONS; i++)
        for (int way = 0; way < WAYS; way++) {
            char path[PARTICLES_PATH_BYTES];

            particles_path(path, b, i, way);
            measure_remove(path);
        }
}

/* Wait for rank 0 without taking a processor from it. */
static void wait_asleep(void)
{
    const struct timespec nap = {0, 20000000};
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            nanosleep(&nap, NULL);
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
        bench_files();
        if (b.json)
            write_json(&b);
        remove_all(&b);
    }
    wait_asleep();
    MPI_Finalize();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
