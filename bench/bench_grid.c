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
#include "plain_box.h"
#include "score.h"
#include "sized.h"

enum { PATH_BYTES = 4096, EDGE = 64, BOXES = 40, BINS = 64 };

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

/* The samples in rows, in a plain file: the reference of reads. */
static void make_plain(const struct bench *b, const char *path)
{
    size_t count = (size_t)(b->size * b->size);
    float *plane = allocate(count * sizeof(float));
    FILE *f = fopen(path, "wb");

    for (int64_t z = 0; z < b->size && f; z++) {
        bouma_box box = {{z, 0, 0}, {z + 1, b->size, b->size}};

        if (flame_fill(plane, b->size, &box))
            fail("no memory");
        if (fwrite(plane, sizeof(float), count, f) != count)
            fail("cannot write a plain file");
    }
    if (!f || fclose(f))
        fail("cannot write a plain file");
    free(plane);
}

/* A part of the plain file, checked. */
static double read_plain(const struct bench *b, const char *path,
                         const bouma_box *box, int level, float *data)
{
    double seconds = plain_box_read(path, b->size, box, level, data);

    if (seconds < 0)
        fail("cannot read a plain file");
    check_values(b, box, level, data, 0);
    return seconds;
}

/* All of it at a level. */
static double read_plain_whole(const struct bench *b, const char *path,
                               int level)
{
    bouma_box all = {{0, 0, 0}, {b->size, b->size, b->size}};
    int64_t edge = ((b->size - 1) >> level) + 1;
    float *data = allocate((size_t)(edge * edge * edge) * sizeof(float));
    double seconds = read_plain(b, path, &all, level, data);

    free(data);
    return seconds;
}

/* Boxes of 64^3 at full resolution, at patches or anywhere. */
static void read_boxes(const struct bench *b, bouma_dataset *ds,
                       bouma_variable *v, double bound, int anywhere,
                       const char *plain, struct times times[2], double *ratio)
{
    static float data[EDGE * EDGE * EDGE];
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
        times_add(&times[0], measure_now() - begun);
        bouma_dataset_info_get(&after, ds);
        check_values(b, &box, 0, data, bound);
        times_add(&times[1], read_plain(b, plain, &box, 0, data));
        *ratio = fmax(*ratio, (double)(after.bytes_read - before.bytes_read) /
                                  (double)n.bytes);
    }
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

/* With a fiftieth of what is stored. */
static void bench_budgets(const struct bench *b, bouma_dataset *ds,
                          bouma_variable *v, const bouma_variable_info *about)
{
    static struct times counted, exact, sampled, within, plain;
    uint64_t counts[BINS], bytes = about->stored_bytes / 50;
    uint64_t samples = (uint64_t)(b->size * b->size * b->size);
    bouma_histogram h;
    int level = 0;

    for (int i = -1; i < b->repetitions; i++) { /* one to warm up */
        double seconds[5];

        seconds[0] = count_all(b, ds, v, counts);
        seconds[1] = histogram(ds, v, 0, &h);
        if (h.basis != BOUMA_BASIS_EXACT || h.all.lower != samples)
            fail("a histogram has other counts than there are samples");
        seconds[2] = histogram(ds, v, bytes, &h);
        seconds[3] = read_within(ds, v, bytes, &level);
        seconds[4] = read_whole(b, v, level, about->bound, 0);
        if (i < 0)
            continue;
        times_add(&counted, seconds[0]);
        times_add(&exact, seconds[1]);
        times_add(&sampled, seconds[2]);
        times_add(&within, seconds[3]);
        times_add(&plain, seconds[4]);
    }
    score_part("histograms and budgets");
    score_ratio("an exact histogram over reading and counting all", &exact,
                "reading and counting all", &counted, SCORE_AT_MOST, 1.4);
    score_ratio("a histogram by 1/50 of the bytes over the same", &sampled,
                "reading and counting all", &counted, SCORE_AT_MOST, 0.05);
    score_ratio("a read by 1/50 of the bytes over one of its level", &within,
                "a read of the level", &plain, SCORE_AT_MOST, 1.5);
}

static void bench_read(const struct bench *b, const char *path,
                       const char *plain)
{
    static struct times fine, coarse, coarse_plain, boxes[2];
    double ratio;
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
        double all = read_whole(b, v, 0, about.bound, i < 0);
        double few = read_whole(b, v, 3, about.bound, i < 0);

        if (i >= 0) {
            times_add(&fine, all);
            times_add(&coarse, few);
            times_add(&coarse_plain, read_plain_whole(b, plain, 3));
        }
    }
    printf("read by one process (as many threads as processors), from the page "
           "cache\n");
    score_part("read");
    score_ratio("level 3 of all over level 0 of all", &coarse, "level 0 of all",
                &fine, SCORE_AT_MOST, 0.02);
    score_times("level 3 of all: 1/512 of the samples", "s", &coarse,
                SCORE_AT_MOST, 3e-3);
    score_ratio("the same over a plain file", &coarse,
                "a plain file, a read for each row", &coarse_plain, SCORE_TOLD,
                0);
    for (int anywhere = 0; anywhere < 2; anywhere++) {
        boxes[0].count = boxes[1].count = 0;
        read_boxes(b, ds, v, about.bound, anywhere, plain, boxes, &ratio);
        score_part("read of a box of 64^3%s",
                   anywhere ? " anywhere" : " that is a patch");
        score_times("time", "s", &boxes[0], SCORE_AT_MOST, 5e-3);
        score_ratio("over a plain file, raw", &boxes[0],
                    "a plain file, a read for each row", &boxes[1], SCORE_TOLD,
                    0);
        score("bytes read over those of the chunk levels, at most", "", ratio,
              SCORE_AT_MOST, 1.2);
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
    if (b->size < EDGE || b->repetitions < 1 ||
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
    char path[PATH_BYTES], plain[PATH_BYTES];
    struct bench b;

    MPI_Init(&argc, &argv);
    parse(&b, argc, argv);
    path_of(&b, path, "grid.bouma");
    take_block(&b, 0);
    bench_write(&b, path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b.rank == 0) {
        path_of(&b, plain, "grid.raw");
        make_plain(&b, plain);
        bench_read(&b, path, plain);
        measure_remove(plain);
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
