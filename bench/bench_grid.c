/* bench_grid.c -- a compressed grid, written by all ranks and read by one.
 *
 *   mpirun -n 4 bench_grid [--size 512] [--repetitions 5] [--directory .]
 *                          [--tolerance 1e-4]
 *
 * The field is like a flame (flame.h), in f32, stored by codec interp with a
 * tolerance relative to its range. A write is compared with what cannot be
 * avoided: the slowest rank's encoding, and writing the compressed bytes once,
 * each rank a file of its own. A time is that of the slowest rank; the medians
 * over the repetitions count. Values that are read are checked: one beyond the
 * bound ends the program with an error. A missed target does not. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asleep.h"
#include "bouma_mpi.h"
#include "flame.h"
#include "grid.h"
#include "measure.h"
#include "score.h"
#include "sized.h"

_Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_grid: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(EXIT_FAILURE);
}

void check(int rc, const bouma_dataset *ds)
{
    if (rc)
        fail(bouma_error_message(ds));
}

void *allocate(size_t bytes)
{
    void *block = malloc(bytes + 1);

    if (!block)
        fail("no memory");
    return block;
}

static double slowest(double seconds)
{
    double most;

    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

/* ---- writing ------------------------------------------------------------ */

static const char *path_of(const struct bench *b, char *out, const char *name)
{
    snprintf(out, GRID_PATH_BYTES, "%s/%s", b->directory, name);
    return out;
}

struct request {
    bouma_distribute distribute;
    bouma_assign assign;
    int files;
};

/* Write a new dataset; seconds from a barrier to the end of the step. */
static double write_dataset(const struct bench *b, const char *path,
                            const struct request *request, bouma_record *record)
{
    bouma_grid_spec g = {
        .size = sizeof(g), .ndims = 3, .shape = {b->size, b->size, b->size}};
    bouma_variable_spec s = {.size = sizeof(s),
                             .type = BOUMA_TYPE_F32,
                             .tolerance = b->tolerance,
                             .tolerance_kind = BOUMA_TOLERANCE_RELATIVE};
    bouma_options o = {.size = sizeof(o)};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *grid;
    double begun, seconds;

    if (b->rank == 0)
        measure_remove(path);
    MPI_Barrier(MPI_COMM_WORLD);
    o.durability = BOUMA_DURABILITY_FAST;
    o.distribute = request->distribute;
    o.assign = request->assign;
    o.files = request->files;
    check(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &o), ds);
    check(bouma_grid_define(&grid, ds, "flame", &g), ds);
    check(bouma_variable_define(&v, grid, "temperature", &s), ds);
    MPI_Barrier(MPI_COMM_WORLD);
    begun = measure_now();
    check(bouma_step_begin(ds, 0, 0), ds);
    check(bouma_variable_put_borrow(
              v, &b->box,
              &BOUMA_ARRAY(BOUMA_TYPE_F32, b->data, b->count * sizeof(float))),
          ds);
    check(end_step(record, ds), ds);
    seconds = slowest(measure_now() - begun);
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);
    return seconds;
}

/* Each rank writes so many bytes to a file of its own. */
static double write_plain(const struct bench *b, size_t bytes)
{
    char path[GRID_PATH_BYTES], name[64];
    double begun, seconds;
    size_t done = 0;
    int fd;

    snprintf(name, sizeof(name), "plain.%d", b->rank);
    path_of(b, path, name);
    unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    begun = measure_now();
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    while (fd >= 0 && done < bytes) {
        ssize_t n = write(fd, (const char *)b->data + done, bytes - done);

        if (n <= 0)
            fail("cannot write a plain file");
        done += (size_t)n;
    }
    if (fd < 0 || close(fd))
        fail("cannot write a plain file");
    seconds = slowest(measure_now() - begun);
    unlink(path);
    return seconds;
}

static void bench_write(const struct bench *b, const char *path)
{
    static const struct request usual = {0};
    static struct times total, least, between, shape;
    bouma_record r = {.size = sizeof(r)};

    for (int i = -1; i < b->repetitions; i++) { /* one to warm up */
        double seconds = write_dataset(b, path, &usual, &r);
        double plain =
            write_plain(b, (size_t)(r.stored_bytes / (uint64_t)b->ranks));

        if (i < 0)
            continue;
        times_add(&total, seconds);
        times_add(&least, r.shape_seconds + plain);
        times_add(&between, (r.describe_seconds + r.plan_seconds +
                             r.distribute_seconds + r.ship_seconds) /
                                seconds);
        times_add(&shape, r.shape_seconds / seconds);
    }
    if (b->rank)
        return;
    printf("write of %d^3 f32 by %d ranks, interp, relative tolerance %g: "
           "%.1fx in %d files, fast\n",
           (int)b->size, b->ranks, b->tolerance,
           (double)r.raw_bytes / (double)r.stored_bytes, (int)r.files);
    score_part("write with interp");
    score_ratio("time over encoding + writing the compressed bytes", &total,
                "encoding, and plain files of the compressed bytes", &least,
                SCORE_AT_MOST, 1.1);
    score_times("encoding of the slowest rank, part of the time", "", &shape,
                SCORE_TOLD, 0);
    score_times("planning + gathering + shipping, part of the time", "",
                &between, SCORE_AT_MOST, 0.1);
    score("samples over stored bytes", "",
          (double)r.raw_bytes / (double)r.stored_bytes, SCORE_TOLD_MORE, 0);
}

static void bench_balance(const struct bench *b, const char *path)
{
    static const struct {
        const char *name;
        struct request request;
    } cases[] = {
        {"optimal", {0, BOUMA_ASSIGN_OPTIMAL, 8}},
        {"running", {0, BOUMA_ASSIGN_RUNNING, 8}},
        {"count", {0, BOUMA_ASSIGN_COUNT, 8}},
    };
    static const struct {
        const char *name;
        bouma_distribute scheme;
    } schemes[] = {{"balanced", BOUMA_DISTRIBUTE_BALANCED},
                   {"greedy", BOUMA_DISTRIBUTE_GREEDY}};
    bouma_record r = {.size = sizeof(r)};
    char name[64];

    if (b->rank == 0)
        score_part("balance, 8 files: largest / mean");
    for (int i = 0; i < 3; i++) {
        write_dataset(b, path, &cases[i].request, &r);
        if (b->rank)
            continue;
        snprintf(name, sizeof(name), "assign %s", cases[i].name);
        score(name, "", (double)r.largest_file / (double)r.mean_file,
              i ? SCORE_TOLD : SCORE_AT_MOST, 1.02);
    }
    if (b->rank == 0)
        score_part("patches of the rank with most of them, less the mean");
    for (int i = 0; i < 2; i++) {
        struct request request = {schemes[i].scheme, 0, 0};
        double extra;

        write_dataset(b, path, &request, &r);
        extra = (double)r.most_patches - (double)r.chunks / b->ranks;
        if (b->rank)
            continue;
        snprintf(name, sizeof(name), "distribute %s", schemes[i].name);
        score(name, "patches", extra, i ? SCORE_TOLD : SCORE_AT_MOST, 1);
    }
}

/* ---- threads ------------------------------------------------------------ */

/* Seconds that one rank takes to encode a cube with so many threads. */
static double encode_alone(const struct bench *b, const char *path, int threads,
                           int64_t size, const float *data)
{
    bouma_grid_spec g = {.size = sizeof(g),
                         .ndims = 3,
                         .shape = {size, size, size},
                         .patch = {GRID_EDGE, GRID_EDGE, GRID_EDGE}};
    bouma_variable_spec s = {.size = sizeof(s),
                             .type = BOUMA_TYPE_F32,
                             .tolerance = b->tolerance,
                             .tolerance_kind = BOUMA_TOLERANCE_RELATIVE};
    bouma_options o = {.size = sizeof(o),
                       .durability = BOUMA_DURABILITY_FAST,
                       .threads = threads};
    bouma_record r = {.size = sizeof(r)};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *grid;

    measure_remove(path);
    check(bouma_dataset_create(&ds, path, &o), ds);
    check(bouma_grid_define(&grid, ds, "flame", &g), ds);
    check(bouma_variable_define(&v, grid, "temperature", &s), ds);
    check(bouma_step_begin(ds, 0, 0), ds);
    check(bouma_variable_put_borrow(
              v, NULL,
              &BOUMA_ARRAY(BOUMA_TYPE_F32, data,
                           (size_t)(size * size * size) * sizeof(float))),
          ds);
    check(end_step(&r, ds), ds);
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);
    return r.shape_seconds;
}

/* One rank with one thread and with two, in turns; the other ranks sleep. */
static void bench_threads(const struct bench *b, const char *path)
{
    int64_t size = b->size < 256 ? b->size : 256;
    bouma_box all = {.hi = {size, size, size}};
    float *data = allocate((size_t)(size * size * size) * sizeof(float));
    static struct times one, two;

    if (flame_fill(data, size, &all))
        fail("no memory");
    for (int i = -1; i < b->repetitions; i++) { /* one to warm up */
        double seconds[2];

        seconds[0] = encode_alone(b, path, 1, size, data);
        seconds[1] = encode_alone(b, path, 2, size, data);
        if (i >= 0) {
            times_add(&one, seconds[0]);
            times_add(&two, seconds[1]);
        }
    }
    free(data);
    score_part("encoding of %d^3 f32 by one rank", (int)size);
    score_ratio("one thread over two", &one, "two threads", &two,
                SCORE_AT_LEAST, 1.7);
}

/* ---- all ---------------------------------------------------------------- */

static void parse(struct bench *b, int argc, char **argv)
{
    *b = (struct bench){
        .size = 512, .repetitions = 5, .tolerance = 1e-4, .directory = "."};
    MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--size"))
            b->size = atoll(argv[i + 1]);
        else if (!strcmp(argv[i], "--repetitions"))
            b->repetitions = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--tolerance"))
            b->tolerance = atof(argv[i + 1]);
        else if (!strcmp(argv[i], "--directory"))
            b->directory = argv[i + 1];
        else
            fail("an option is not understood");
    }
    if (b->size < GRID_EDGE || b->repetitions < 1 ||
        b->repetitions > SCORE_MAX_TIMES)
        fail("--size: at least 64; --repetitions: from 1 to 200");
}

/* A block for each rank, of all of them as cube-like as it can be; if
 * 'shifted', cut through patches, so that some ranks hold more than others. */
static void take_block(struct bench *b, int shifted)
{
    int dims[3] = {0, 0, 0}, rest = b->rank;

    MPI_Dims_create(b->ranks, 3, dims);
    b->count = 1;
    for (int d = 2; d >= 0; d--) {
        int place = rest % dims[d];

        rest /= dims[d];
        b->box.lo[d] = b->size * place / dims[d];
        b->box.hi[d] = b->size * (place + 1) / dims[d];
        if (shifted && place)
            b->box.lo[d] += 40;
        if (shifted && place + 1 < dims[d])
            b->box.hi[d] += 40;
        b->count *= (size_t)(b->box.hi[d] - b->box.lo[d]);
    }
    free(b->data);
    b->data = allocate(b->count * sizeof(float));
    if (flame_fill(b->data, b->size, &b->box))
        fail("no memory");
}

int main(int argc, char **argv)
{
    char path[GRID_PATH_BYTES], plain[GRID_PATH_BYTES];
    struct bench b;

    MPI_Init(&argc, &argv);
    parse(&b, argc, argv);
    path_of(&b, path, "grid.bouma");
    take_block(&b, 0);
    bench_write(&b, path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b.rank == 0) {
        path_of(&b, plain, "grid.raw");
        bench_read(&b, path, plain);
        bench_threads(&b, path);
    }
    wait_asleep();
    take_block(&b, 1); /* so that patches are shared */
    bench_balance(&b, path);
    if (b.rank == 0) {
        measure_remove(path);
        score_setting("size", (double)b.size);
        score_setting("ranks", b.ranks);
        score_setting("tolerance", b.tolerance);
        if (score_end("grid"))
            fail("the results cannot be written");
    }
    free(b.data);
    MPI_Finalize();
    return 0;
}
