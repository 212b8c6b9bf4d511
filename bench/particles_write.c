/* particles_write.c -- what writes of particles cost, beside the floor that the
 * same ranks reach for in turn with them, and how large what they leave is. */
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bouma_mpi.h"
#include "cloud_floor.h"
#include "measure.h"
#include "particles.h"
#include "score.h"
#include "sized.h"

#define TOLERANCE 1e-4 /* of quantise: this part of the range */

enum { PHASES = 7 };
static const char *const phase_names[PHASES] = {
    "describe", "plan", "distribute", "shape", "ship", "store", "commit"};

/* ---- writing ------------------------------------------------------------ */

/* What was written before is not charged to what comes next. */
static void sync_before(const struct bench *b)
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
                   bouma_particles **set, bouma_dataset *ds, int backend,
                   const double tolerance[CLOUD_ATTRIBUTES])
{
    /* With a tolerance and no codec it is quantise. */
    static const bouma_codec codecs[BACKENDS] = {BOUMA_CODEC_RAW, 0, 0,
                                                 BOUMA_CODEC_RAW};
    bouma_particles_spec s = {.size = sizeof(s),
                              .ndims = 3,
                              .type = BOUMA_TYPE_F32,
                              .codec = codecs[backend]};

    if (backend == QUANTISED)
        s.tolerance = TOLERANCE;
    check(bouma_particles_define(set, ds, "dust", &s), ds);
    variables[0] = bouma_particles_position(*set);
    for (int j = 0; j < CLOUD_ATTRIBUTES; j++) {
        bouma_variable_spec v = {.size = sizeof(v),
                                 .type = BOUMA_TYPE_F64,
                                 .codec = codecs[backend]};

        if (backend == QUANTISED)
            v.tolerance = tolerance[j];
        check(bouma_particles_define_variable(&variables[1 + j], *set,
                                              cloud_names[j], &v),
              ds);
    }
}

static int put(bouma_particles *set, const struct cloud *c,
               bouma_variable *const variables[1 + CLOUD_ATTRIBUTES])
{
    void *parts[3] = {c->position[0], c->position[1], c->position[2]};
    bouma_column columns[1 + CLOUD_ATTRIBUTES];
    bouma_array arrays[1 + CLOUD_ATTRIBUTES];

    for (int j = 0; j < 1 + CLOUD_ATTRIBUTES; j++) {
        bouma_variable_info about = {.size = sizeof(about)};

        bouma_variable_info_get(&about, variables[j]);
        arrays[j] = (bouma_array){.size = sizeof(*arrays),
                                  .type = about.type,
                                  .bytes = (size_t)c->count *
                                           bouma_type_size(about.type)};
        if (j)
            arrays[j].data = c->attribute[j - 1];
        else
            arrays[j].parts = parts;
        columns[j] = (bouma_column){sizeof(*columns), variables[j], &arrays[j]};
    }
    return bouma_particles_put_borrow(set, c->count, columns,
                                      1 + CLOUD_ATTRIBUTES, NULL);
}

/* Write a new dataset; seconds from a barrier to the end of the step. */
static double write_dataset(const struct bench *b, int distribution,
                            int backend,
                            const double tolerance[CLOUD_ATTRIBUTES],
                            bouma_record *record)
{
    bouma_variable *variables[1 + CLOUD_ATTRIBUTES];
    char path[PARTICLES_PATH_BYTES];
    double begun, seconds;
    bouma_particles *set;
    bouma_options o = {.size = sizeof(o)};
    bouma_dataset *ds;

    particles_path(path, b, distribution, backend);
    if (b->rank == 0 && measure_remove(path))
        fail("cannot remove a dataset");
    sync_before(b);
    o.durability = BOUMA_DURABILITY_FAST;
    o.order = backend == REGIONS ? BOUMA_ORDER_CHUNK : BOUMA_ORDER_LEVEL;
    check(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &o), ds);
    define(variables, &set, ds, backend, tolerance);
    MPI_Barrier(MPI_COMM_WORLD);
    begun = measure_now();
    check(bouma_step_begin(ds, 0, 0), ds);
    check(put(set, &b->clouds[distribution], variables), ds);
    check(end_step(record, ds), ds);
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
    sync_before(b);
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
        const bouma_record *p = &w->record[what];
        const double phases[PHASES] = {p->describe_seconds,   p->plan_seconds,
                                       p->distribute_seconds, p->shape_seconds,
                                       p->ship_seconds,       p->store_seconds,
                                       p->commit_seconds};

        times_add(&w->total[what], seconds);
        for (int i = 0; i < PHASES; i++)
            times_add(&w->phases[what][i], phases[i]);
    }
}

static void report_writes(const struct bench *b,
                          const struct writes writes[DISTRIBUTIONS],
                          const double most[DISTRIBUTIONS])
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
               times_median(&w->floor),
               measure_quantile(w->floor.seconds, w->floor.count, 0));
        for (int p = 0; p < FLOOR_PARTS; p++)
            printf("  %s %.3f (%.1f)", cloud_floor_names[p],
                   times_median(&w->parts[p]),
                   times_median(&w->parts[p]) * nanoseconds);
        printf("\n");
        for (int backend = 0; backend < QUANTISED; backend++) {
            printf("  %-9s %-5s %7.3f %7.3f ", "", backend_names[backend],
                   times_median(&w->total[backend]),
                   measure_quantile(w->total[backend].seconds,
                                    w->total[backend].count, 0));
            for (int p = 0; p < PHASES; p++)
                printf("  %s %.3f (%.1f)", phase_names[p],
                       times_median(&w->phases[backend][p]),
                       times_median(&w->phases[backend][p]) * nanoseconds);
            printf("\n");
        }
        printf("  %-9s the rank with most has %.2f of the mean; %d files, "
               "largest over mean %.3f, %.0f MB shipped\n",
               "", most[i], (int)w->record[RAW].files,
               (double)w->record[RAW].largest_file /
                   (double)w->record[RAW].mean_file,
               (double)w->record[RAW].shipped_bytes / million);
    }
    for (int backend = 0; backend < QUANTISED; backend++)
        for (int i = 0; i < DISTRIBUTIONS; i++) {
            snprintf(name, sizeof(name), "write, %s, %s: time over the floor",
                     distribution_names[i], backend_names[backend]);
            score_ratio(name, &writes[i].total[backend],
                        "a Morton sort and plain files", &writes[i].floor,
                        SCORE_AT_MOST, 2.5);
        }
    for (int backend = 0; backend < QUANTISED; backend++)
        for (int i = 0; i < DISTRIBUTIONS; i++) {
            snprintf(name, sizeof(name), "write, %s, %s: time over plain files",
                     distribution_names[i], backend_names[backend]);
            score_ratio(name, &writes[i].total[backend],
                        "each rank's plain file", &writes[i].parts[FLOOR_WRITE],
                        SCORE_AT_MOST, backend == RAW ? 4 : 8);
        }
    for (int backend = 0; backend < QUANTISED; backend++) {
        snprintf(name, sizeof(name), "write, %s: clustered over uniform",
                 backend_names[backend]);
        score_ratio(name, &writes[CLUSTERED].total[backend], "uniform",
                    &writes[UNIFORM].total[backend], SCORE_AT_MOST, 1.15);
    }
}

void bench_writes(const struct bench *b)
{
    static struct writes writes[DISTRIBUTIONS];
    enum { THINGS = DISTRIBUTIONS * (QUANTISED + 1) };
    struct cloud_floor floors[DISTRIBUTIONS];
    double count[DISTRIBUTIONS], most[DISTRIBUTIONS];

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
    for (int i = 0; i < DISTRIBUTIONS; i++)
        count[i] = (double)b->clouds[i].count * b->ranks / (double)b->particles;
    MPI_Reduce(count, most, DISTRIBUTIONS, MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    if (b->rank == 0)
        report_writes(b, writes, most);
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
static double bytes_on_disk(const struct bench *b, int distribution,
                            int backend)
{
    char path[PARTICLES_PATH_BYTES];

    particles_path(path, b, distribution, backend);
    tree_bytes = 0;
    if (nftw(path, add_size, 16, FTW_PHYS))
        fail("cannot look at a dataset");
    return (double)tree_bytes;
}

/* How much smaller each variable is. What cannot be read is told, and 1. */
static int report_variables(const struct bench *b, int distribution,
                            int backend)
{
    struct reading r;
    int failed = reading_try(&r, b, distribution, backend) != BOUMA_OK;

    if (failed)
        printf("    CANNOT BE READ: %s\n", bouma_error_message(r.ds));
    for (int j = 0; j <= CLOUD_ATTRIBUTES && !failed; j++) {
        bouma_variable_info v = {.size = sizeof(v)};

        bouma_variable_info_get(&v, bouma_particles_variable(r.set, j));
        if (backend == QUANTISED && !(v.largest_error <= v.bound))
            fail("an error is beyond the bound");
        printf("%s%s %.2f%s", j ? "  " : "    ", v.name,
               (double)v.raw_bytes / (double)v.stored_bytes,
               j == CLOUD_ATTRIBUTES ? "\n" : "");
    }
    reading_close(&r);
    return failed;
}

int bench_sizes(const struct bench *b)
{
    double raw = (double)b->particles * (double)CLOUD_BYTES;
    bouma_record record = {.size = sizeof(record)};
    char name[100];
    int failed = 0;

    /* What is quantised, or by chunk, is written once: no time counts. */
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
        write_dataset(b, i, REGIONS, NULL, &record);
    }
    if (b->rank)
        return 0;
    printf("\nbytes on disk, manifest and all\n");
    for (int i = 0; i < DISTRIBUTIONS; i++) {
        snprintf(name, sizeof(name), "size, %s, raw: more than the data",
                 distribution_names[i]);
        score(name, "%", 100 * (bytes_on_disk(b, i, RAW) / raw - 1),
              SCORE_AT_MOST, 0.9);
        snprintf(name, sizeof(name), "size, %s, %s: more than the data",
                 distribution_names[i], backend_names[REGIONS]);
        score(name, "%", 100 * (bytes_on_disk(b, i, REGIONS) / raw - 1),
              SCORE_TOLD, 0);
    }
    for (int i = 0; i < DISTRIBUTIONS; i++)
        for (int backend = USUAL; backend <= QUANTISED; backend++) {
            snprintf(name, sizeof(name), "size, %s, %s%s: times smaller",
                     distribution_names[i], backend_names[backend],
                     backend == QUANTISED ? " to 1e-4 of the range" : "");
            score(name, "", raw / bytes_on_disk(b, i, backend), SCORE_TOLD_MORE,
                  0);
            failed |= report_variables(b, i, backend);
        }
    return failed;
}
