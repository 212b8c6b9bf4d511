/* bench_hz_files.c -- grids in HZ order in files, beside those in patches.
 *
 *   mpirun -n 8 bench_hz_files [--size 512] [--repetitions 5] [--directory .]
 *
 * All ranks write a cube of f32, raw, in each layout by turns: what counts is
 * the ratio of the medians; a time is that of the slowest rank. Then one rank
 * reads, with nothing of the files in memory: the whole domain at 1/512 of the
 * samples, and boxes of 64^3. Bytes are compared with those of the blocks
 * which a loop over all samples of the box finds. Samples are checked: a wrong
 * one ends the program with an error. A missed target does not. */
#include <fcntl.h>
#include <ftw.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asleep.h"
#include "bouma_mpi.h"
#include "measure.h"
#include "score.h"

enum { PATH_BYTES = 4096, BLOCK_BITS = 15, COARSE = 3, EDGE = 64, BOXES = 20 };

/* How it is written; the first is what the others are compared with. */
static const struct kind {
    const char *name;
    bouma_grid_spec spec;
    double limit; /* of the time, over that of patches; 0: it is only told */
} kinds[] = {
    {"patch", {.layout = BOUMA_LAYOUT_PATCH}, 0},
    {"hz, rows",
     {.layout = BOUMA_LAYOUT_HZ, .hz_order = BOUMA_HZ_ORDER_ROWS},
     1.5},
    {"hz, curve",
     {.layout = BOUMA_LAYOUT_HZ, .hz_order = BOUMA_HZ_ORDER_CURVE},
     1.6},
#ifdef BENCH_IDX
    {"idx in place", {.layout = BOUMA_LAYOUT_HZ, .idx = 1}, 1.6},
#endif
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct bench {
    int rank, ranks;
    int64_t size;
    int bits; /* 2^bits is the size */
    int repetitions;
    const char *directory;
    bouma_box box; /* of this rank */
    uint32_t *data;
    size_t bytes;
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_hz_files: %s\n", what);
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

static void path_of(char *out, const struct bench *b, int kind)
{
    snprintf(out, PATH_BYTES, "%s/%d.bouma", b->directory, kind);
}

/* What a sample is, bit for bit: its number among all in C order, as the bits
 * of a number that is neither tiny nor NaN. */
static uint32_t value_at(const struct bench *b, int64_t z, int64_t y, int64_t x)
{
    return 0x40000000 | (uint32_t)((z * b->size + y) * b->size + x);
}

/* ---- writing ------------------------------------------------------------- */

static double write_dataset(const struct bench *b, int kind)
{
    bouma_variable_spec s = {
        .size = sizeof(s), .type = BOUMA_TYPE_F32, .codec = BOUMA_CODEC_RAW};
    bouma_grid_spec g = kinds[kind].spec;
    double begun, seconds, most;
    char path[PATH_BYTES];
    bouma_options o = {.size = sizeof(o)};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_grid *grid;

    path_of(path, b, kind);
    if (b->rank == 0)
        measure_remove(path);
    g.size = sizeof(g);
    g.ndims = 3;
    for (int d = 0; d < 3; d++)
        g.shape[d] = b->size;
    o.durability = BOUMA_DURABILITY_FAST;
    MPI_Barrier(MPI_COMM_WORLD);
    check(bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, path, &o), ds);
    check(bouma_grid_define(&grid, ds, "cube", &g), ds);
    check(bouma_variable_define(&v, grid, "number", &s), ds);
    MPI_Barrier(MPI_COMM_WORLD);
    begun = measure_now();
    check(bouma_step_begin(ds, 0, 0), ds);
    check(bouma_variable_put_borrow(
              v, &b->box, &BOUMA_ARRAY(BOUMA_TYPE_F32, b->data, b->bytes)),
          ds);
    check(bouma_step_end(ds), ds);
    seconds = measure_now() - begun;
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void bench_write(const struct bench *b)
{
    static struct times times[KINDS];
    char name[100];

    for (int r = -1; r < b->repetitions; r++) /* one to warm up */
        for (int k = 0; k < KINDS; k++) {
            double seconds = write_dataset(b, k);

            if (r >= 0)
                times_add(&times[k], seconds);
        }
    if (b->rank)
        return;
    score_setting("size", (double)b->size);
    score_setting("ranks", b->ranks);
    score_part("write, raw, fast");
    score_times("patch", "s", &times[0], SCORE_TOLD, 0);
    for (int k = 1; k < KINDS; k++) {
        snprintf(name, sizeof(name), "%s", kinds[k].name);
        score_ratio(name, &times[k], "in patches", &times[0],
                    kinds[k].limit > 0 ? SCORE_AT_MOST : SCORE_TOLD,
                    kinds[k].limit);
    }
}

/* ---- reading ------------------------------------------------------------- */

static int forget_file(const char *path, const struct stat *info, int kind,
                       struct FTW *walk)
{
    int fd = kind == FTW_F ? open(path, O_RDONLY) : -1;

    (void)info;
    (void)walk;
    if (fd >= 0) {
        fsync(fd); /* what is not on the disk stays in memory */
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        close(fd);
    }
    return 0;
}

struct reader {
    const struct bench *b;
    bouma_dataset *ds;
    bouma_step *step;
    bouma_variable *v;
};

/* A dataset that nothing is known of, and of which no file is in memory. */
static void reader_open(struct reader *r, const struct bench *b, int kind)
{
    char path[PATH_BYTES];

    path_of(path, b, kind);
    nftw(path, forget_file, 16, FTW_PHYS);
    r->b = b;
    check(bouma_dataset_open(&r->ds, path, NULL), r->ds);
    check(bouma_step_open(&r->step, r->ds, 0), r->ds);
    r->v = bouma_grid_find_variable(bouma_step_find_grid(r->step, "cube"),
                                    "number");
}

static void reader_close(struct reader *r)
{
    bouma_step_free(r->step);
    bouma_dataset_free(r->ds);
}

/* What reading a box takes: the counts of the dataset, before and after. */
struct taken {
    double seconds;
    uint64_t bytes, files;
};

static struct taken read_box(struct reader *r, int level, const bouma_box *box)
{
    int64_t unit = (int64_t)1 << level, n[3];
    bouma_dataset_info before = {.size = sizeof(before)},
                       after = {.size = sizeof(after)};
    struct taken t;
    uint32_t *data;
    size_t bytes;
    size_t i = 0;

    for (int d = 0; d < 3; d++) /* boxes begin at samples of the level */
        n[d] = (box->hi[d] - box->lo[d] + unit - 1) / unit;
    bytes = (size_t)(n[0] * n[1] * n[2]) * sizeof(*data);
    data = allocate(bytes);
    bouma_dataset_info_get(&before, r->ds);
    t.seconds = measure_now();
    check(bouma_variable_read(r->v, level, box,
                              &BOUMA_ARRAY(BOUMA_TYPE_F32, data, bytes)),
          r->ds);
    t.seconds = measure_now() - t.seconds;
    bouma_dataset_info_get(&after, r->ds);
    t.bytes = after.bytes_read - before.bytes_read;
    t.files = after.files_opened - before.files_opened;
    for (int64_t z = 0; z < n[0]; z++)
        for (int64_t y = 0; y < n[1]; y++)
            for (int64_t x = 0; x < n[2]; x++)
                if (data[i++] != value_at(r->b, box->lo[0] + z * unit,
                                          box->lo[1] + y * unit,
                                          box->lo[2] + x * unit))
                    fail("a sample is wrong");
    free(data);
    return t;
}

static void bench_coarse(const struct bench *b, int kind)
{
    bouma_box all = {{0, 0, 0}, {b->size, b->size, b->size}};
    uint64_t samples = (uint64_t)1 << (3 * (b->bits - COARSE));
    uint64_t block = (uint64_t)1 << BLOCK_BITS;
    static struct times of_patches; /* kind 0, which is the first */
    struct times cold = {.count = 0};
    struct taken t = {0, 0, 0};
    struct reader r;

    for (int i = 0; i < b->repetitions; i++) {
        reader_open(&r, b, kind);
        t = read_box(&r, COARSE, &all);
        reader_close(&r);
        times_add(&cold, t.seconds);
    }
    score_part("%s: the whole domain at 1/512 of the samples, cold",
               kinds[kind].name);
    score("files opened", "files", (double)t.files,
          kind ? SCORE_AT_MOST : SCORE_TOLD, 1);
    score("bytes read over those of these samples' blocks", "",
          (double)t.bytes / (double)(samples > block ? samples : block) / 4,
          kind ? SCORE_AT_MOST : SCORE_TOLD, 1.1);
    score_times("time", "s", &cold, SCORE_TOLD, 0);
    if (kind)
        score_ratio("time over that of patches", &cold, "in patches",
                    &of_patches, SCORE_TOLD, 0);
    else
        of_patches = cold;
}

/* The block that has a sample, by the definition, bit by bit. The template is
 * z, y, x in turns. */
static uint64_t block_of(const struct bench *b, const int64_t at[3])
{
    uint64_t z = 1;

    for (int i = b->bits - 1; i >= 0; i--)
        for (int d = 0; d < 3; d++)
            z = z << 1 | (uint64_t)(at[d] >> i & 1);
    while (!(z & 1))
        z >>= 1;
    return z >> 1 >> BLOCK_BITS;
}

static uint64_t count_blocks(const struct bench *b, const bouma_box *box)
{
    size_t blocks = ((size_t)1 << (3 * b->bits - BLOCK_BITS));
    char *met = calloc(blocks, 1);
    uint64_t count = 0;
    int64_t at[3];

    if (!met)
        fail("no memory");
    for (at[0] = box->lo[0]; at[0] < box->hi[0]; at[0]++)
        for (at[1] = box->lo[1]; at[1] < box->hi[1]; at[1]++)
            for (at[2] = box->lo[2]; at[2] < box->hi[2]; at[2]++)
                met[block_of(b, at)] = 1;
    for (size_t i = 0; i < blocks; i++)
        count += (uint64_t)met[i];
    free(met);
    return count;
}

static void bench_boxes(const struct bench *b, int kind)
{
    struct times times = {.count = 0};
    uint64_t seed = 1, bytes = 0, blocks = 0;
    struct reader r;

    reader_open(&r, b, kind);
    /* The tables of all files: each has a block of the whole domain. */
    read_box(&r, 0, &(bouma_box){{0, 0, 0}, {b->size, b->size, b->size}});
    for (int i = 0; i < BOXES; i++) {
        struct taken t;
        bouma_box box;

        for (int d = 0; d < 3; d++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            box.lo[d] =
                (int64_t)((seed >> 33) % (uint64_t)(b->size - EDGE + 1));
            if (i % 2)
                box.lo[d] = box.lo[d] / EDGE * EDGE;
            box.hi[d] = box.lo[d] + EDGE;
        }
        t = read_box(&r, 0, &box);
        times_add(&times, t.seconds);
        bytes += t.bytes;
        blocks += count_blocks(b, &box);
    }
    reader_close(&r);
    score_part("%s: boxes of 64^3, with the tables of the files known",
               kinds[kind].name);
    score("bytes read over those of the blocks that the boxes meet", "",
          (double)bytes / (double)(blocks << BLOCK_BITS) / 4, SCORE_AT_MOST, 1);
    score_times("time", "s", &times, SCORE_TOLD, 0);
}

/* ---- all ----------------------------------------------------------------- */

static void parse(struct bench *b, int argc, char **argv)
{
    *b = (struct bench){.size = 512, .repetitions = 5, .directory = "."};
    MPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
    for (int i = 1; i < argc; i += 2)
        if (i + 1 < argc && !strcmp(argv[i], "--size"))
            b->size = atoll(argv[i + 1]);
        else if (i + 1 < argc && !strcmp(argv[i], "--repetitions"))
            b->repetitions = atoi(argv[i + 1]);
        else if (i + 1 < argc && !strcmp(argv[i], "--directory"))
            b->directory = argv[i + 1];
        else
            fail("usage: bench_hz_files [--size 512] [--repetitions 5] "
                 "[--directory .]");
    while (b->bits < 10 && (int64_t)1 << b->bits < b->size)
        b->bits++;
    if (b->size != (int64_t)1 << b->bits || b->size < EDGE)
        fail("--size: a power of two from 64 to 1024");
    if (b->repetitions < 1 || b->repetitions > SCORE_MAX_TIMES)
        fail("--repetitions: from 1 to 99");
}

/* A block for each rank, of all of them as cube-like as it can be. */
static void take_block(struct bench *b)
{
    int dims[3] = {0, 0, 0}, rest = b->rank;
    uint32_t *out;
    size_t count = 1;

    MPI_Dims_create(b->ranks, 3, dims);
    for (int d = 2; d >= 0; d--) {
        int place = rest % dims[d];

        rest /= dims[d];
        b->box.lo[d] = b->size * place / dims[d];
        b->box.hi[d] = b->size * (place + 1) / dims[d];
        count *= (size_t)(b->box.hi[d] - b->box.lo[d]);
    }
    b->bytes = count * sizeof(*out);
    out = b->data = allocate(b->bytes);
    for (int64_t z = b->box.lo[0]; z < b->box.hi[0]; z++)
        for (int64_t y = b->box.lo[1]; y < b->box.hi[1]; y++)
            for (int64_t x = b->box.lo[2]; x < b->box.hi[2]; x++)
                *out++ = value_at(b, z, y, x);
}

int main(int argc, char **argv)
{
    struct bench b;

    MPI_Init(&argc, &argv);
    parse(&b, argc, argv);
    take_block(&b);
    bench_write(&b);
    for (int k = 0; k < KINDS && b.rank == 0; k++) {
        char path[PATH_BYTES];

        bench_coarse(&b, k);
        if (k)
            bench_boxes(&b, k);
        path_of(path, &b, k);
        measure_remove(path);
    }
    if (b.rank == 0 && score_end("hz in files"))
        fail("the results cannot be written");
    wait_asleep();
    free(b.data);
    MPI_Finalize();
    return 0;
}
