/* grid_read.c -- a compressed grid, read by one process from the page cache. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flame.h"
#include "grid.h"
#include "measure.h"
#include "plain_box.h"
#include "score.h"

enum { BOXES = 40, BINS = 64 };

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
    static float data[GRID_EDGE * GRID_EDGE * GRID_EDGE];
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
            box.lo[d] = anywhere
                            ? (int64_t)((seed >> 33) %
                                        (uint64_t)(b->size - GRID_EDGE + 1))
                            : (int64_t)((seed >> 33) %
                                        (uint64_t)(b->size / GRID_EDGE)) *
                                  GRID_EDGE;
            box.hi[d] = box.lo[d] + GRID_EDGE;
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

void bench_read(const struct bench *b, const char *path, const char *plain)
{
    static struct times fine, coarse, coarse_plain, boxes[2];
    double ratio;
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_variable *v;
    bouma_dataset *ds;
    bouma_step *step;

    make_plain(b, plain);
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
    measure_remove(plain);
}
