/* particles_scan.c -- queries of particles beside a plain scan of the same
 * arrays in memory: every value that is asked about is compared, and all columns
 * of those that match are copied. One thread, files in the page cache, a handle
 * that was used before. What is found is compared with what the scan finds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "particles.h"
#include "score.h"

enum { LOOKS = 8 };

enum kind { SMALL_BOX, BOX, LARGE_BOX, SLAB, SMOOTH, TAIL, KINDS };
static const char *const kind_names[KINDS] = {
    "a box of 0.1 %", "a box of 1 %",          "a box of 10 %",
    "a slab of 4 %",  "1 % by a smooth value", "0.1 % by a random value"};

/* The most time over a scan, and the most percent of the bytes; 0: just told. */
static const struct {
    double time[DISTRIBUTIONS], bytes;
} targets[KINDS] = {[BOX] = {{0.03, 0.15}, 0},
                    [LARGE_BOX] = {{0.16, 0.05}, 0},
                    [SLAB] = {{0, 0}, 12},
                    [SMOOTH] = {{0.11, 0.07}, 10},
                    [TAIL] = {{1, 1}, 0}};

/* A box, or a range of an attribute. */
struct look {
    int attribute; /* -1: a box */
    float low[3], high[3];
    double from, to;
    uint64_t count;
    double ids;
};

/* All particles, and where a scan puts its matches. */
struct arrays {
    uint64_t count;
    const float *position[3];
    const double *attribute[CLOUD_ATTRIBUTES];
    double *sorted[CLOUD_ATTRIBUTES];
    uint32_t *list;
    float *found_position;
    double *found;
};

static void *get(size_t bytes)
{
    void *p = malloc(bytes + 1);

    if (!p)
        fail("no memory");
    memset(p, 0, bytes + 1);
    return p;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void arrays_init(struct arrays *a, const bouma_particle_data *all)
{
    size_t n = (size_t)all->count;
    const float *x = all->columns[0];

    a->count = n;
    for (size_t d = 0; d < 3; d++)
        a->position[d] = x + d * n;
    for (int j = 0; j < CLOUD_ATTRIBUTES; j++) {
        a->attribute[j] = all->columns[1 + j];
        a->sorted[j] = get(n * sizeof(double));
        memcpy(a->sorted[j], a->attribute[j], n * sizeof(double));
        qsort(a->sorted[j], n, sizeof(double), ascending);
    }
    a->list = get(n * sizeof(*a->list));
    a->found_position = get(3 * n * sizeof(float));
    a->found = get(CLOUD_ATTRIBUTES * n * sizeof(double));
}

static void arrays_release(struct arrays *a)
{
    for (int j = 0; j < CLOUD_ATTRIBUTES; j++)
        free(a->sorted[j]);
    free(a->list);
    free(a->found_position);
    free(a->found);
}

/* ---- what is looked for -------------------------------------------------- */

static double next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 33) * 0x1p-31;
}

static void make_box(struct look *l, enum kind kind, int i, uint64_t *seed)
{
    static const double volumes[] = {
        [SMALL_BOX] = 0.001, [BOX] = 0.01, [LARGE_BOX] = 0.1};

    for (int d = 0; d < 3; d++) {
        double edge = kind != SLAB ? cbrt(volumes[kind])
                      : d == i % 3 ? 0.04
                                   : 1;

        l->low[d] = (float)((1 - edge) * next(seed));
        l->high[d] = edge < 1 ? l->low[d] + (float)edge : 2;
    }
}

/* Boxes are anywhere; ranges have their part of all values, and the rare ones
 * the largest. */
static void make_looks(struct look looks[LOOKS], enum kind kind,
                       const struct arrays *a)
{
    uint64_t seed = 5, n = a->count;

    for (int i = 0; i < LOOKS; i++) {
        struct look *l = &looks[i];
        uint64_t first = (n - n / 50) * (2 * (uint64_t)i + 1) / (2 * LOOKS);
        uint64_t part = n / 100;

        *l = (struct look){.attribute = -1};
        if (kind < SMOOTH) {
            make_box(l, kind, i, &seed);
            continue;
        }
        l->attribute = kind == TAIL ? CLOUD_RANDOM
                       : i % 2      ? CLOUD_PRESSURE
                                    : CLOUD_TEMPERATURE;
        if (kind == TAIL) {
            part = n / 1000;
            first = n - 1 - part;
        }
        l->from = a->sorted[l->attribute][first];
        l->to = a->sorted[l->attribute][first + part];
    }
}

/* ---- the scan, and the query --------------------------------------------- */

static uint64_t list_matches(const struct arrays *a, const struct look *l)
{
    const float *x = a->position[0], *y = a->position[1], *z = a->position[2];
    uint64_t m = 0;

    if (l->attribute < 0)
        for (uint64_t i = 0; i < a->count; i++) {
            a->list[m] = (uint32_t)i;
            m += (x[i] >= l->low[0]) & (x[i] < l->high[0]) &
                 (y[i] >= l->low[1]) & (y[i] < l->high[1]) &
                 (z[i] >= l->low[2]) & (z[i] < l->high[2]);
        }
    else
        for (uint64_t i = 0; i < a->count; i++) {
            double v = a->attribute[l->attribute][i];

            a->list[m] = (uint32_t)i;
            m += (v >= l->from) & (v <= l->to);
        }
    return m;
}

static double scan(const struct arrays *a, struct look *l)
{
    double begun = measure_now(), seconds;
    uint64_t m = list_matches(a, l);

    for (uint64_t d = 0; d < 3; d++)
        for (uint64_t i = 0; i < m; i++)
            a->found_position[d * m + i] = a->position[d][a->list[i]];
    for (uint64_t j = 0; j < CLOUD_ATTRIBUTES; j++)
        for (uint64_t i = 0; i < m; i++)
            a->found[j * m + i] = a->attribute[j][a->list[i]];
    seconds = measure_now() - begun;
    l->count = m;
    l->ids = 0;
    for (uint64_t i = 0; i < m; i++)
        l->ids += a->found[CLOUD_ID * m + i];
    return seconds;
}

static int take(void *user, const bouma_batch *batch)
{
    struct look *l = user;
    const double *ids = batch->columns[1 + CLOUD_ID];

    l->count += batch->count;
    for (uint64_t i = 0; i < batch->count; i++)
        l->ids += ids[i];
    return 0;
}

/* It must find what the scan has found. */
static double query(const struct reading *r, const struct look *l)
{
    struct look found = {0};
    bouma_particles_query q = {.size = sizeof(q)};
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    bouma_condition c = {.size = sizeof(c),
                         .low = bouma_value_real(l->from),
                         .high = bouma_value_real(l->to)};
    double begun = measure_now(), seconds;

    for (int d = 0; d < 3; d++) {
        box.low[d] = (double)l->low[d];
        box.high[d] = (double)l->high[d];
    }
    if (l->attribute < 0) {
        q.box = &box;
    } else {
        c.variable =
            bouma_particles_find_variable(r->set, cloud_names[l->attribute]);
        q.conditions = &c;
        q.condition_count = 1;
    }
    check(bouma_particles_query_run(r->set, &q, take, &found), r->ds);
    seconds = measure_now() - begun;
    if (found.count != l->count || found.ids != l->ids)
        fail("a query has found other particles than a scan");
    return seconds;
}

/* ---- both ---------------------------------------------------------------- */

static void compare(const struct bench *b, const struct arrays *a,
                    int distribution, int backend, enum kind kind)
{
    bouma_dataset_info before = {.size = sizeof(before)}, after = before;
    struct times scans = {0}, queries = {0};
    struct look looks[LOOKS];
    struct reading r;
    int judged = backend == RAW || backend == REGIONS;
    double most = targets[kind].time[distribution];
    char name[160];

    make_looks(looks, kind, a);
    reading_open(&r, b, distribution, backend);
    for (int n = -1; n < b->repetitions; n++) { /* one to warm up */
        double scanned = 0, asked = 0;

        check(bouma_dataset_info_get(&before, r.ds), r.ds);
        for (int i = 0; i < LOOKS; i++) {
            scanned += scan(a, &looks[i]);
            asked += query(&r, &looks[i]);
        }
        check(bouma_dataset_info_get(&after, r.ds), r.ds);
        if (n >= 0) {
            times_add(&scans, scanned);
            times_add(&queries, asked);
        }
    }
    reading_close(&r);
    snprintf(name, sizeof(name), "query, %s, %s, %s",
             distribution_names[distribution], backend_names[backend],
             kind_names[kind]);
    score_ratio(name, &queries, "a scan of the arrays in memory", &scans,
                judged && most > 0 ? SCORE_AT_MOST : SCORE_TOLD, most);
    snprintf(name, sizeof(name), "bytes of all, %s, %s, %s",
             distribution_names[distribution], backend_names[backend],
             kind_names[kind]);
    score(name, "%",
          100 * (double)(after.bytes_read - before.bytes_read) / LOOKS /
              (double)(a->count * CLOUD_BYTES),
          judged && targets[kind].bytes > 0 ? SCORE_AT_MOST : SCORE_TOLD,
          targets[kind].bytes);
}

void bench_scans(const struct bench *b)
{
    printf(
        "\nqueries over a scan of the same arrays in memory that copies what "
        "matches, one thread\n");
    for (int i = 0; i < DISTRIBUTIONS; i++) {
        bouma_particle_data *all;
        struct arrays a = {0};
        struct reading r;

        reading_open(&r, b, i, RAW);
        check(bouma_particles_read(&all, r.set, NULL), r.ds);
        reading_close(&r);
        arrays_init(&a, all);
        for (int backend = 0; backend < BACKENDS; backend++)
            for (int k = 0; k < KINDS && backend != QUANTISED; k++)
                compare(b, &a, i, backend, (enum kind)k);
        arrays_release(&a);
        bouma_particle_data_free(all);
    }
}
