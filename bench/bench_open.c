/* bench_open.c -- what a reader waits for a small box of a large dataset.
 *
 *   bench_open [--size 512] [--repetitions 200] [--steps 100000]
 *              [--directory .]
 *
 * Opens the dataset and its step and reads one 64^3 box at full resolution, all
 * anew each time, with the files in the page cache: once for boxes that are
 * patches, once for boxes anywhere. In turns with that, the same boxes are read
 * from a plain file of the samples, a read for each row. The bytes read are
 * compared with those of the patches that the boxes meet. The dataset,
 * DIRECTORY/open.bouma, and the file are made if they are missing. Then datasets
 * of up to --steps steps are opened, and their steps listed: open_steps.c; and a
 * step of 16,384 files: open_files.c. All values read are checked: a wrong one
 * ends the program with an error. A missed target does not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bouma.h"
#include "field.h"
#include "measure.h"
#include "open_files.h"
#include "open_steps.h"
#include "plain_box.h"
#include "score.h"

enum { SIDE = 64, PATH_BYTES = 4096 };

static const double most_seconds = 5e-3;
static const double most_bytes_ratio = 1.3;

struct settings {
    int64_t size;
    int repetitions;
    int steps; /* at most */
    const char *directory;
};

/* Times of each repetition, bytes of all of them. */
struct result {
    struct times open, step, read, total;
    struct times plain; /* of the reference */
    uint64_t bytes_read, bytes_touched;
};

_Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_open: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

void check(int rc, const bouma_dataset *ds)
{
    if (rc)
        fail(bouma_status_name(rc), bouma_error_message(ds));
}

static void *allocate(size_t bytes)
{
    void *block = malloc(bytes);

    if (!block)
        fail("memory", "there is none left");
    return block;
}

static void parse(struct settings *s, int argc, char **argv)
{
    *s = (struct settings){
        .size = 512, .repetitions = 200, .steps = 100000, .directory = "."};
    for (int i = 1; i < argc; i += 2) {
        const char *text = i + 1 < argc ? argv[i + 1] : NULL;

        if (!text)
            fail(argv[i], "a value is missing");
        if (!strcmp(argv[i], "--size"))
            s->size = atoll(text);
        else if (!strcmp(argv[i], "--repetitions"))
            s->repetitions = atoi(text);
        else if (!strcmp(argv[i], "--steps"))
            s->steps = atoi(text);
        else if (!strcmp(argv[i], "--directory"))
            s->directory = text;
        else
            fail(argv[i], "not understood");
    }
    if (s->size < SIDE || s->size > 2048)
        fail("--size", "from 64 to 2048");
    if (s->repetitions < 1 || s->repetitions > SCORE_MAX_TIMES)
        fail("--repetitions", "from 1 to 200");
}

static void whole(bouma_box *box, const struct field *field)
{
    memset(box, 0, sizeof(*box));
    memcpy(box->hi, field->shape, sizeof(field->shape));
}

/* ---- the dataset -------------------------------------------------------- */

/* The samples in rows, and nothing else: the reference. */
static void make_plain(const char *path, const float *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f))
        fail(path, "cannot be written");
}

static void make_dataset(const char *path, const char *plain,
                         const struct field *field)
{
    bouma_grid_spec shape = {.size = sizeof(shape), .ndims = FIELD_AXES};
    bouma_variable_spec kind = {
        .size = sizeof(kind), .type = BOUMA_TYPE_F32, .codec = BOUMA_CODEC_RAW};
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_variable *variable;
    bouma_box box;
    float *data;

    whole(&box, field);
    memcpy(shape.shape, field->shape, sizeof(field->shape));
    data = allocate(field_box_bytes(&box));
    field_fill(field, &box, data);

    check(bouma_dataset_create(&ds, path, NULL), ds);
    check(bouma_grid_define(&grid, ds, "grid", &shape), ds);
    check(bouma_variable_define(&variable, grid, "value", &kind), ds);
    check(bouma_step_begin(ds, 0, 0.0), ds);
    check(bouma_variable_put_borrow(
              variable, &box,
              &BOUMA_ARRAY(BOUMA_TYPE_F32, data, field_box_bytes(&box))),
          ds);
    check(bouma_step_end(ds), ds);
    check(bouma_dataset_close(ds), ds);
    bouma_dataset_free(ds);
    make_plain(plain, data, field_box_bytes(&box));
    free(data);
}

static bouma_variable *only_variable(bouma_step *step)
{
    return bouma_grid_find_variable(bouma_step_find_grid(step, "grid"),
                                    "value");
}

/* Read everything once: it checks the dataset, and fills the page cache. */
static void warm_up(const char *path, const struct field *field,
                    int64_t patch[FIELD_AXES])
{
    bouma_dataset *ds;
    bouma_step *step;
    bouma_grid_info info = {.size = sizeof(info)};
    bouma_box box;
    float *data;

    check(bouma_dataset_open(&ds, path, NULL), ds);
    check(bouma_step_open(&step, ds, 0), ds);
    bouma_grid_info_get(&info, bouma_step_find_grid(step, "grid"));
    if (memcmp(info.shape, field->shape, sizeof(field->shape)))
        fail(path, "it has another size; remove it");
    memcpy(patch, info.patch, FIELD_AXES * sizeof(*patch));

    whole(&box, field);
    data = allocate(field_box_bytes(&box));
    check(bouma_variable_read(
              only_variable(step), 0, NULL,
              &BOUMA_ARRAY(BOUMA_TYPE_F32, data, field_box_bytes(&box))),
          ds);
    if (field_mismatches(field, &box, data))
        fail(path, "wrong values");
    free(data);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

/* ---- measuring ---------------------------------------------------------- */

/* A number from 0 to n - 1; xorshift, the same numbers in every run. */
static int64_t random_below(uint64_t *state, int64_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (int64_t)(*state % (uint64_t)n);
}

/* A box of SIDE samples an axis whose corner is a multiple of 'grain'. */
static void random_box(bouma_box *box, uint64_t *state,
                       const struct field *field, int64_t grain)
{
    *box = (bouma_box){{0}, {0}};
    for (int axis = 0; axis < FIELD_AXES; axis++) {
        int64_t places = (field->shape[axis] - SIDE) / grain + 1;

        box->lo[axis] = grain * random_below(state, places);
        box->hi[axis] = box->lo[axis] + SIDE;
    }
}

/* Bytes of the patches that a box meets: the box grown to patch borders, but
 * not beyond the grid. */
static uint64_t touched_bytes(const bouma_box *box, const struct field *field,
                              const int64_t patch[FIELD_AXES])
{
    bouma_box grown = {{0}, {0}};

    for (int axis = 0; axis < FIELD_AXES; axis++) {
        int64_t p = patch[axis], n = field->shape[axis];
        int64_t end = (box->hi[axis] + p - 1) / p * p;

        grown.lo[axis] = box->lo[axis] / p * p;
        grown.hi[axis] = end < n ? end : n;
    }
    return field_box_bytes(&grown);
}

/* Open, read one box into 'data', free. */
static void measure_box(struct result *r, const char *path,
                        const bouma_box *box, float *data)
{
    bouma_dataset *ds;
    bouma_step *step;
    bouma_dataset_info info = {.size = sizeof(info)};
    double begin = measure_now(), opened, stepped, done;

    check(bouma_dataset_open(&ds, path, NULL), ds);
    opened = measure_now();
    check(bouma_step_open(&step, ds, 0), ds);
    stepped = measure_now();
    check(bouma_variable_read(
              only_variable(step), 0, box,
              &BOUMA_ARRAY(BOUMA_TYPE_F32, data, field_box_bytes(box))),
          ds);
    done = measure_now();

    check(bouma_dataset_info_get(&info, ds), ds);
    r->bytes_read += info.bytes_read;
    times_add(&r->open, opened - begin);
    times_add(&r->step, stepped - opened);
    times_add(&r->read, done - stepped);
    times_add(&r->total, done - begin);
    bouma_step_free(step);
    bouma_dataset_free(ds);
}

static void measure_boxes(const char *label, const char *path,
                          const char *plain, int64_t grain,
                          const struct field *field,
                          const int64_t patch[FIELD_AXES], int repetitions)
{
    static struct result r;
    float *data = allocate(SIDE * SIDE * SIDE * sizeof(*data));
    uint64_t state = 88172645463325252u;

    r = (struct result){.bytes_read = 0};
    for (int i = 0; i < repetitions; i++) {
        bouma_box box;

        random_box(&box, &state, field, grain);
        r.bytes_touched += touched_bytes(&box, field, patch);
        for (int k = 0; k < 2; k++) {
            memset(data, 0xff, field_box_bytes(&box)); /* NaN */
            if (k)
                times_add(&r.plain, plain_box_read(plain, field->shape[0], &box,
                                                   0, data));
            else
                measure_box(&r, path, &box, data);
            if (field_mismatches(field, &box, data))
                fail(path, "wrong values");
        }
    }
    score_part("a box of %d^3, %s", SIDE, label);
    score_times("opening the dataset", "s", &r.open, SCORE_TOLD, 0);
    score_times("opening the step", "s", &r.step, SCORE_TOLD, 0);
    score_times("reading the box", "s", &r.read, SCORE_TOLD, 0);
    score_times("all three", "s", &r.total, SCORE_AT_MOST, most_seconds);
    score_ratio("all three over a plain file", &r.total,
                "a plain file, a read for each row", &r.plain, SCORE_TOLD, 0);
    score("bytes read over those of the patches met", "",
          (double)r.bytes_read / (double)r.bytes_touched, SCORE_AT_MOST,
          most_bytes_ratio);
    free(data);
}

int main(int argc, char **argv)
{
    struct settings s;
    struct field field;
    int64_t patch[FIELD_AXES];
    char path[PATH_BYTES], plain[PATH_BYTES];
    int n;

    parse(&s, argc, argv);
    n = snprintf(path, sizeof(path), "%s/open.bouma", s.directory);
    if (n < 0 || n >= (int)sizeof(path))
        fail(s.directory, "the path is too long");
    snprintf(plain, sizeof(plain), "%s/open.raw", s.directory);
    if (field_init(&field, s.size))
        fail("memory", "there is none left");
    if (access(path, F_OK) || access(plain, F_OK)) {
        measure_remove(path);
        make_dataset(path, plain, &field);
    }
    warm_up(path, &field, patch);

    printf("%d^3 boxes of %lld^3 f32, patches of %lld x %lld x %lld, "
           "%d of each kind, the files in the page cache\n",
           SIDE, (long long)s.size, (long long)patch[0], (long long)patch[1],
           (long long)patch[2], s.repetitions);
    measure_boxes("a patch", path, plain, SIDE, &field, patch, s.repetitions);
    measure_boxes("anywhere", path, plain, 1, &field, patch, s.repetitions);
    field_release(&field);
    open_steps_measure(s.directory, s.steps);
    open_files_measure(s.directory);
    score_setting("size", (double)s.size);
    score_setting("steps", s.steps);
    if (score_end("open"))
        fail("results", "they cannot be written");
    return EXIT_SUCCESS;
}
