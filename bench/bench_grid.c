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
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asleep.h"
#include "bouma_mpi.h"
#include "flame.h"
#include "measure.h"
#include "sized.h"

enum {
    MAX_REPETITIONS = 99,
    PATH_BYTES = 4096,
    EDGE = 64,
    BOXES = 40,
    BINS = 64
};

struct bench {
    int rank, ranks;
    int64_t size;
    int repetitions;
    double tolerance;
    const char *directory;
    bouma_box box; /* of this rank */
    float *data;
    size_t count; /* samples of it */
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_grid: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(EXIT_FAILURE);
}

static void check(int rc, const bouma_dataset *ds)
{
    if (rc)
        fail(bouma_error_message(ds));
}

static void *allocate(size_t bytes)
{
    void *block = malloc(bytes + 1);

    if (!block)
        fail("no memory");
    return block;
}

static void target(const char *what, double value, int at_least, double limit)
{
    printf("  %-58s %9.3f  (%s %g: %s)\n", what, value,
           at_least ? "at least" : "at most", limit,
           (at_least ? value >= limit : value <= limit) ? "met" : "MISSED");
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
    snprintf(out, PATH_BYTES, "%s/%s", b->directory, name);
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
    char path[PATH_BYTES], name[64];
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
    double total[MAX_REPETITIONS], least[MAX_REPETITIONS];
    double between[MAX_REPETITIONS], shape[MAX_REPETITIONS];
    bouma_record r = {.size = sizeof(r)};

    for (int i = -1; i < b->repetitions; i++) { /* one to warm up */
        int n = i < 0 ? 0 : i;
        const bouma_record *s = &r;

        total[n] = write_dataset(b, path, &usual, &r);
        least[n] =
            s->shape_seconds +
            write_plain(b, (size_t)(r.stored_bytes / (uint64_t)b->ranks));
        between[n] = (s->describe_seconds + s->plan_seconds +
                      s->distribute_seconds + s->ship_seconds) /
                     total[n];
        shape[n] = s->shape_seconds / total[n];
    }
    if (b->rank)
        return;
    printf("write of %d^3 f32 by %d ranks, interp, relative tolerance %g: "
           "%.1fx in %d files, fast\n",
           (int)b->size, b->ranks, b->tolerance,
           (double)r.raw_bytes / (double)r.stored_bytes, (int)r.files);
    printf("  the slowest rank encodes for %.0f %% of the time\n",
           100 * measure_median(shape, b->repetitions));
    target("time over encoding + writing the compressed bytes",
           measure_median(total, b->repetitions) /
               measure_median(least, b->repetitions),
           0, 1.1);
    target("planning + gathering + shipping, part of the time",
           measure_median(between, b->repetitions), 0, 0.1);
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

    if (b->rank == 0)
        printf("balance, 8 files: largest / mean\n");
    for (int i = 0; i < 3; i++) {
        write_dataset(b, path, &cases[i].request, &r);
        if (b->rank)
            continue;
        if (i == 0)
            target("assign optimal",
                   (double)r.largest_file / (double)r.mean_file, 0, 1.02);
        else
            printf("  assign %-51s %9.3f\n", cases[i].name,
                   (double)r.largest_file / (double)r.mean_file);
    }
    if (b->rank == 0)
        printf("patches of the rank with most of them, less the mean\n");
    for (int i = 0; i < 2; i++) {
        struct request request = {schemes[i].scheme, 0, 0};
        double extra;

        write_dataset(b, path, &request, &r);
        extra = (double)r.most_patches - (double)r.chunks / b->ranks;
        if (b->rank)
            continue;
        if (i == 0)
            target("distribute balanced", extra, 0, 1);
        else
            printf("  distribute %-47s %9.3f\n", schemes[i].name, extra);
    }
}

/* ---- reading ------------------------------------------------------------ */

/* Stored bytes of the levels of the patches that a read needs. */
struct needed {
    int level;
    uint64_t bytes;
};

static int count_bytes(void *user, const bouma_patch_info *patch)
{
    struct needed *n = user;

    for (int k = n->level; k < patch->levels; k++)
        n->bytes += patch->level_bytes[k];
    return -1;
}

static int never(void *user, const bouma_patch_info *patch, int level,
                 const bouma_selection *selection, const void *samples)
{
    (void)user;
    (void)patch;
    (void)level;
    (void)selection;
    (void)samples;
    return 1;
}

/* Values of a box at a level that are beyond the bound. */
static void check_values(const struct bench *b, const bouma_box *box, int level,
                         const float *got, double bound)
{
    int64_t n[3], unit = (int64_t)1 << level;
    float *row = allocate((size_t)(box->hi[2] - box->lo[2]) * sizeof(float));
    size_t i = 0;

    for (int d = 0; d < 3; d++)
        n[d] = (box->hi[d] - box->lo[d] + unit - 1) / unit;
    for (int64_t z = 0; z < n[0]; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            bouma_box line = *box;

            line.lo[0] = box->lo[0] + z * unit;
            line.lo[1] = box->lo[1] + y * unit;
            line.hi[0] = line.lo[0] + 1;
            line.hi[1] = line.lo[1] + 1;
            if (flame_fill(row, b->size, &line))
                fail("no memory");
            for (int64_t x = 0; x < n[2]; x++, i++)
                if (!(fabs((double)got[i] - (double)row[x * unit]) <= bound))
                    fail("a value is beyond the bound");
        }
    free(row);
}

static double read_whole(const struct bench *b, bouma_variable *v, int level,
                         double bound, int checked)
{
    bouma_box all = {{0, 0, 0}, {b->size, b->size, b->size}};
    bouma_selection s = {.size = sizeof(s)};
    double begun, seconds;
    float *data;

    if (bouma_variable_select(&s, v, level, NULL))
        fail("cannot select");
    data = allocate((size_t)s.bytes);
    memset(data, 1, (size_t)s.bytes); /* pages are there */
    begun = measure_now();
    if (bouma_variable_read(v, level, NULL,
                            &BOUMA_ARRAY(BOUMA_TYPE_F32, data, s.bytes)))
        fail("cannot read");
    seconds = measure_now() - begun;
    if (checked)
        check_values(b, &all, level, data, bound);
    free(data);
    return seconds;
}

/* Boxes of 64^3 at full resolution, at patches or anywhere. */
static void read_boxes(const struct bench *b, bouma_dataset *ds,
                       bouma_variable *v, double bound, int anywhere,
                       double *seconds, double *ratio)
{
    static float data[EDGE * EDGE * EDGE];
    double times[BOXES];
    uint64_t seed = 1;

    *ratio = 0;
    for (int i = 0; i < BOXES; i++) {
        struct needed n = {0, 0};
        bouma_patch_query q = {.size = sizeof(q),
                               .choose = count_bytes,
                               .each = never,
                               .user = &n};
        bouma_dataset_info before = {.size = sizeof(before)},
                           after = {.size = sizeof(after)};
        bouma_box box;
        double begun;

        for (int d = 0; d < 3; d++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            box.lo[d] =
                anywhere
                    ? (int64_t)((seed >> 33) % (uint64_t)(b->size - EDGE + 1))
                    : (int64_t)((seed >> 33) % (uint64_t)(b->size / EDGE)) *
                          EDGE;
            box.hi[d] = box.lo[d] + EDGE;
        }
        q.box = &box;
        check(bouma_variable_query(v, &q), ds);
        bouma_dataset_info_get(&before, ds);
        begun = measure_now();
        check(bouma_variable_read(
                  v, 0, &box, &BOUMA_ARRAY(BOUMA_TYPE_F32, data, sizeof(data))),
              ds);
        times[i] = measure_now() - begun;
        bouma_dataset_info_get(&after, ds);
        check_values(b, &box, 0, data, bound);
        *ratio = fmax(*ratio, (double)(after.bytes_read - before.bytes_read) /
                                  (double)n.bytes);
    }
    *seconds = measure_median(times, BOXES);
}

/* ---- histograms and budgets ---------------------------------------------- */

/* Read all samples, and count them in bins of our own. */
static double count_all(const struct bench *b, bouma_dataset *ds,
                        bouma_variable *v, uint64_t counts[BINS])
{
    size_t samples = (size_t)(b->size * b->size * b->size);
    float *data = allocate(samples * sizeof(float));
    bouma_range range;
    double begun, scale;

    memset(data, 1, samples * sizeof(float)); /* pages are there */
    memset(counts, 0, BINS * sizeof(*counts));
    check(bouma_variable_range(&range, v, 0), ds);
    begun = measure_now();
    check(bouma_variable_read(
              v, 0, NULL,
              &BOUMA_ARRAY(BOUMA_TYPE_F32, data, samples * sizeof(float))),
          ds);
    scale = BINS / (range.high - range.low);
    for (size_t i = 0; i < samples; i++) {
        double bin = ((double)data[i] - range.low) * scale;

        counts[bin < 0 ? 0 : bin < BINS - 1 ? (int)bin : BINS - 1]++;
    }
    begun = measure_now() - begun;
    free(data);
    return begun;
}

/* The library's, within 'bytes'; 0: exactly. */
static double histogram(bouma_dataset *ds, bouma_variable *v, uint64_t bytes,
                        bouma_histogram *h)
{
    bouma_histogram_spec spec = {.size = sizeof(spec), .bins = BINS};
    bouma_budget budget = {.size = sizeof(budget), .bytes = bytes};
    bouma_bin bins[BINS];
    double begun = measure_now();

    *h = (bouma_histogram){.size = sizeof(*h)};
    check(bouma_variable_histogram(h, bins, v, &spec, NULL,
                                   bytes ? &budget : NULL),
          ds);
    return measure_now() - begun;
}

/* The finest level within 'bytes'; which one that is. */
static double read_within(bouma_dataset *ds, bouma_variable *v, uint64_t bytes,
                          int *level)
{
    bouma_budget budget = {.size = sizeof(budget), .bytes = bytes};
    bouma_answer answer = {.size = sizeof(answer)};
    bouma_refinement *r;
    double begun = measure_now();

    check(bouma_refinement_open_within(&r, &answer, v, NULL, &budget), ds);
    begun = measure_now() - begun;
    if (answer.bytes > bytes)
        fail("more was read than the budget has");
    *level = answer.level;
    bouma_refinement_free(r);
    return begun;
}

static double ratio_of(const double *over, const double *under, int count)
{
    return measure_median(over, count) / measure_median(under, count);
}

/* With a fiftieth of what is stored. */
static void bench_budgets(const struct bench *b, bouma_dataset *ds,
                          bouma_variable *v, const bouma_variable_info *about)
{
    double counted[MAX_REPETITIONS], exact[MAX_REPETITIONS],
        sampled[MAX_REPETITIONS], within[MAX_REPETITIONS],
        plain[MAX_REPETITIONS];
    uint64_t counts[BINS], bytes = about->stored_bytes / 50;
    uint64_t samples = (uint64_t)(b->size * b->size * b->size);
    bouma_histogram h;
    int level = 0;

    for (int i = -1; i < b->repetitions; i++) { /* one to warm up */
        int n = i < 0 ? 0 : i;

        counted[n] = count_all(b, ds, v, counts);
        exact[n] = histogram(ds, v, 0, &h);
        if (h.basis != BOUMA_BASIS_EXACT || h.all.lower != samples)
            fail("a histogram has other counts than there are samples");
        sampled[n] = histogram(ds, v, bytes, &h);
        within[n] = read_within(ds, v, bytes, &level);
        plain[n] = read_whole(b, v, level, about->bound, 0);
    }
    printf("histograms and budgets\n");
    target("reading and counting all over an exact histogram, time",
           ratio_of(counted, exact, b->repetitions), 1, 0.7);
    target("the same over a histogram by 1/50 of the bytes, time",
           ratio_of(counted, sampled, b->repetitions), 1, 20);
    target("a read by 1/50 of the bytes over one of its level, time",
           ratio_of(within, plain, b->repetitions), 0, 1.5);
}

static void bench_read(const struct bench *b, const char *path)
{
    double fine[MAX_REPETITIONS], coarse[MAX_REPETITIONS], seconds, ratio;
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_step *step;

    check(bouma_dataset_open(&ds, path, NULL), ds);
    check(bouma_step_open(&step, ds, 0), ds);
    v = bouma_grid_find_variable(bouma_step_find_grid(step, "flame"),
                                 "temperature");
    bouma_variable_info_get(&about, v);
    for (int i = -1; i < b->repetitions; i++) {
        int n = i < 0 ? 0 : i;

        fine[n] = read_whole(b, v, 0, about.bound, i < 0);
        coarse[n] = read_whole(b, v, 3, about.bound, i < 0);
    }
    printf("read by one process (as many threads as processors), from the page "
           "cache\n");
    target("level 0 of all over level 3 of all, time",
           measure_median(fine, b->repetitions) /
               measure_median(coarse, b->repetitions),
           1, 50);
    for (int anywhere = 0; anywhere < 2; anywhere++) {
        read_boxes(b, ds, v, about.bound, anywhere, &seconds, &ratio);
        target(anywhere ? "a box of 64^3 anywhere, milliseconds"
                        : "a box of 64^3 that is a patch, milliseconds",
               seconds * 1e3, 0, 10);
        target("bytes read over those of the chunk levels, at most", ratio, 0,
               1.2);
    }
    bench_budgets(b, ds, v, &about);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* ---- threads ------------------------------------------------------------ */

/* Seconds that one rank takes to encode a cube with so many threads. */
static double encode_alone(const struct bench *b, const char *path, int threads,
                           int64_t size, const float *data)
{
    bouma_grid_spec g = {
        .size = sizeof(g), .ndims = 3, .shape = {size, size, size}};
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
    double one[MAX_REPETITIONS], two[MAX_REPETITIONS];

    if (flame_fill(data, size, &all))
        fail("no memory");
    for (int i = -1; i < b->repetitions; i++) { /* one to warm up */
        one[i < 0 ? 0 : i] = encode_alone(b, path, 1, size, data);
        two[i < 0 ? 0 : i] = encode_alone(b, path, 2, size, data);
    }
    free(data);
    printf("encoding of %d^3 f32 by one rank\n", (int)size);
    target("one thread over two, time", ratio_of(one, two, b->repetitions), 1,
           1.7);
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
    if (b->size < EDGE || b->repetitions < 1 ||
        b->repetitions > MAX_REPETITIONS)
        fail("--size: at least 64; --repetitions: from 1 to 99");
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
    char path[PATH_BYTES];
    struct bench b;

    MPI_Init(&argc, &argv);
    parse(&b, argc, argv);
    path_of(&b, path, "grid.bouma");
    take_block(&b, 0);
    bench_write(&b, path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b.rank == 0) {
        bench_read(&b, path);
        bench_threads(&b, path);
    }
    wait_asleep();
    take_block(&b, 1); /* so that patches are shared */
    bench_balance(&b, path);
    if (b.rank == 0)
        measure_remove(path);
    free(b.data);
    MPI_Finalize();
    return 0;
}
