/* particles_read.c -- what reads of particles cost: the bytes of a coarse one,
 * the time from coarse to fine beside that of a look at arrays in memory, and
 * that of boxes and ranges beside a look at everything. One thread, files in
 * the page cache. What is found is compared with what should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "particles.h"
#include "score.h"

enum { STEPS = 10, PLACES = 8, RANGES = 4, BINS = 64 };

/* Columns of a query for all variables. */
enum { POSITION, ATTRIBUTE };

/* ---- sums --------------------------------------------------------------- */

/* Eight sums at once: one alone would wait for each addition. */
#define SUM(name, type)                                                        \
    static double name(const type *values, uint64_t n)                         \
    {                                                                          \
        double s[8] = {0};                                                     \
        uint64_t i = 0;                                                        \
                                                                               \
        for (; i + 8 <= n; i += 8)                                             \
            for (int k = 0; k < 8; k++)                                        \
                s[k] += (double)values[i + (uint64_t)k];                       \
        for (; i < n; i++)                                                     \
            s[0] += (double)values[i];                                         \
        return ((s[0] + s[1]) + (s[2] + s[3])) +                               \
               ((s[4] + s[5]) + (s[6] + s[7]));                                \
    }
SUM(sum_f32, float)
SUM(sum_f64, double)

/* What was handed over. Sums of ids are exact. */
struct sums {
    uint64_t count;
    double ids, others;
};

static void sum_columns(struct sums *s, uint64_t count,
                        const void *const *columns)
{
    s->count += count;
    s->others += sum_f32(columns[POSITION], 3 * count);
    for (int j = 0; j < CLOUD_ATTRIBUTES; j++) {
        double sum = sum_f64(columns[ATTRIBUTE + j], count);

        *(j == CLOUD_ID ? &s->ids : &s->others) += sum;
    }
}

static int sum_batch(void *user, const bouma_batch *batch)
{
    sum_columns(user, batch->count, batch->columns);
    return 0;
}

static void must_equal(const struct sums *found, const struct sums *should)
{
    if (found->count != should->count || found->ids != should->ids)
        fail("other particles were read than were written");
}

static double sum_of_ids(uint64_t particles)
{
    return (double)particles * ((double)particles - 1) / 2;
}

/* ---- bytes of coarse reads ---------------------------------------------- */

static void coarse(const struct bench *b, int distribution, double quality,
                   double edge, enum score_kind kind)
{
    struct sums s = {0};
    bouma_particles_query q;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    bouma_dataset_info info = {.size = sizeof(info)};
    struct reading r;
    char name[100];

    reading_open(&r, b, distribution, RAW);
    q = (bouma_particles_query){.size = sizeof(q)};
    q.quality = quality;
    q.box = edge < 1 ? &box : NULL;
    for (int d = 0; d < 3; d++) {
        box.low[d] = 0.3;
        box.high[d] = 0.3 + edge;
    }
    check(bouma_particles_query_run(r.set, &q, sum_batch, &s), r.ds);
    check(bouma_dataset_info_get(&info, r.ds), r.ds);
    snprintf(name, sizeof(name), "bytes read, %s, quality %g%s%s",
             distribution_names[distribution], quality,
             edge < 1 ? " in a cube of edge " : "",
             edge == 0.5     ? "1/2"
             : edge == 0.125 ? "1/8"
                             : "");
    score(name, "", (double)info.bytes_read / (double)(s.count * CLOUD_BYTES),
          kind, 1.3);
    reading_close(&r);
}

void bench_coarse(const struct bench *b)
{
    printf("\nbytes read by a fresh handle over those of the particles "
           "returned, raw\n");
    for (int i = 0; i < DISTRIBUTIONS; i++) {
        coarse(b, i, 0.1, 1, SCORE_AT_MOST);
        coarse(b, i, 0.01, 1, SCORE_TOLD);
        coarse(b, i, 0.5, 1, SCORE_TOLD);
        coarse(b, i, 1, 1, SCORE_TOLD);
        coarse(b, i, 0.1, 0.5, SCORE_TOLD);
        coarse(b, i, 1, 0.5, SCORE_TOLD);
        coarse(b, i, 1, 0.125, SCORE_TOLD);
    }
}

/* ---- from coarse to fine ------------------------------------------------ */

/* On a fresh handle: what it has to read first is part of it. */
static double read_progressively(const struct bench *b, int distribution,
                                 int backend)
{
    struct sums s = {0}, should = {b->particles, sum_of_ids(b->particles), 0};
    struct reading r;
    double seconds;

    reading_open(&r, b, distribution, backend);
    seconds = measure_now();
    for (int i = 0; i < STEPS; i++) {
        bouma_particles_query q;

        q = (bouma_particles_query){.size = sizeof(q)};
        q.from = (double)i / STEPS;
        q.quality = (double)(i + 1) / STEPS;
        check(bouma_particles_query_run(r.set, &q, sum_batch, &s), r.ds);
    }
    seconds = measure_now() - seconds;
    must_equal(&s, &should);
    reading_close(&r);
    return seconds;
}

static double sum_in_memory(const bouma_particle_data *all, uint64_t particles)
{
    struct sums s = {0}, should = {particles, sum_of_ids(particles), 0};
    double begun = measure_now(), seconds;

    sum_columns(&s, all->count, (const void *const *)all->columns);
    seconds = measure_now() - begun;
    must_equal(&s, &should);
    return seconds;
}

/* ---- boxes and ranges --------------------------------------------------- */

/* A query, and what it should find: a cube, or a range of an attribute, or
 * either of two ranges, as a text. */
enum look_kind { IN_BOX, IN_RANGE, IN_EITHER, LOOK_KINDS };
struct look {
    enum look_kind kind;
    float low[3], high[3];
    double from, to, from2, to2;
    struct sums sums;
};

/* The exact test of all that come by. */
static int test_batch(void *user, const bouma_batch *batch)
{
    struct look *l = user;
    uint64_t n = batch->count, count = 0;
    const float *x = batch->columns[POSITION], *y = x + n, *z = y + n;
    const double *t = batch->columns[ATTRIBUTE + CLOUD_TEMPERATURE];
    const double *id = batch->columns[ATTRIBUTE + CLOUD_ID];
    double ids = 0;

    if (l->kind == IN_BOX)
        for (uint64_t i = 0; i < n; i++) {
            int found = (x[i] >= l->low[0]) & (x[i] < l->high[0]) &
                        (y[i] >= l->low[1]) & (y[i] < l->high[1]) &
                        (z[i] >= l->low[2]) & (z[i] < l->high[2]);

            if (found) {
                count++;
                ids += id[i];
            }
        }
    else
        for (uint64_t i = 0; i < n; i++)
            if (((t[i] >= l->from) & (t[i] <= l->to)) |
                ((t[i] >= l->from2) & (t[i] <= l->to2))) {
                count++;
                ids += id[i];
            }
    l->sums.count += count;
    l->sums.ids += ids;
    return 0;
}

/* Of a query, all that come by are right: just these are counted. */
static int count_batch(void *user, const bouma_batch *batch)
{
    struct look *l = user;

    l->sums.count += batch->count;
    l->sums.ids += sum_f64(batch->columns[ATTRIBUTE + CLOUD_ID], batch->count);
    return 0;
}

/* By a look at everything. */
static double scan(const struct reading *r, struct look *l)
{
    bouma_particles_query q;
    double begun = measure_now();

    memset(&l->sums, 0, sizeof(l->sums));
    q = (bouma_particles_query){.size = sizeof(q)};
    check(bouma_particles_query_run(r->set, &q, test_batch, l), r->ds);
    return measure_now() - begun;
}

static double query(const struct reading *r, struct look *l)
{
    bouma_particles_query q;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    bouma_condition c;
    char where[300];
    double begun = measure_now();

    memset(&l->sums, 0, sizeof(l->sums));
    q = (bouma_particles_query){.size = sizeof(q)};
    q.box = l->kind == IN_BOX ? &box : NULL;
    for (int d = 0; d < 3; d++) {
        box.low[d] = (double)l->low[d];
        box.high[d] = (double)l->high[d];
    }
    if (l->kind == IN_RANGE) {
        bouma_variable *v = bouma_particles_find_variable(
            r->set, cloud_names[CLOUD_TEMPERATURE]);

        c = (bouma_condition){.size = sizeof(c),
                              .variable = v,
                              .low = bouma_value_real(l->from),
                              .high = bouma_value_real(l->to)};
        q.conditions = &c;
        q.condition_count = 1;
    }
    if (l->kind == IN_EITHER) {
        const char *t = cloud_names[CLOUD_TEMPERATURE];

        snprintf(where, sizeof(where),
                 "%.17g <= %s <= %.17g || %.17g <= %s <= %.17g", l->from, t,
                 l->to, l->from2, t, l->to2);
        q.where = where;
    }
    check(bouma_particles_query_run(r->set, &q, count_batch, l), r->ds);
    return measure_now() - begun;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Cubes of an eighth of the edge at places that have nothing to do with files
 * or trees; ranges that have a hundredth of all values, and pairs of them with
 * half of that each. */
static void make_looks(struct look boxes[PLACES], struct look ranges[RANGES],
                       struct look pairs[RANGES],
                       const bouma_particle_data *all)
{
    size_t n = (size_t)all->count;
    double *sorted = malloc(n * sizeof(*sorted) + 1);
    uint64_t seed = 5;

    if (!sorted)
        fail("no memory");
    memset(boxes, 0, PLACES * sizeof(*boxes));
    memset(ranges, 0, RANGES * sizeof(*ranges));
    memset(pairs, 0, RANGES * sizeof(*pairs));
    for (int i = 0; i < PLACES; i++) {
        boxes[i].kind = IN_BOX;
        for (int d = 0; d < 3; d++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            boxes[i].low[d] = (float)(0.875 * (double)(seed >> 33) * 0x1p-31);
            boxes[i].high[d] = boxes[i].low[d] + 0.125f;
        }
    }
    memcpy(sorted, all->columns[ATTRIBUTE + CLOUD_TEMPERATURE],
           n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), ascending);
    for (int i = 0; i < RANGES; i++) { /* from 0.1, 0.36, 0.63, 0.89 on */
        size_t first = n / 10 + n * (size_t)i * 79 / 300;

        ranges[i].kind = IN_RANGE;
        ranges[i].from = sorted[first];
        ranges[i].to = sorted[first + n / 100];
        ranges[i].from2 = 1; /* none */
        pairs[i].kind = IN_EITHER;
        pairs[i].from = sorted[first];
        pairs[i].to = sorted[first + n / 200];
        pairs[i].from2 = sorted[first + n / 20];
        pairs[i].to2 = sorted[first + n / 20 + n / 200];
    }
    free(sorted);
}

/* What looks cost. */
struct cost {
    struct times scans, queries;
    double share; /* of the bytes of a scan, that queries read */
};

static uint64_t bytes_read(const struct reading *r)
{
    bouma_dataset_info info = {.size = sizeof(info)};

    check(bouma_dataset_info_get(&info, r->ds), r->ds);
    return info.bytes_read;
}

/* One scan, and all queries, of which the mean counts; the one that the scan
 * was for must find the same. */
static void compare(const struct reading *r, struct look *looks, int count,
                    int turn, struct cost *out)
{
    struct look scanned = looks[turn % count];
    uint64_t before = bytes_read(r), between;
    double whole = scan(r, &scanned), seconds = 0;

    between = bytes_read(r);
    for (int i = 0; i < count; i++)
        seconds += query(r, &looks[i]) / count;
    must_equal(&looks[turn % count].sums, &scanned.sums);
    times_add(&out->scans, whole);
    times_add(&out->queries, seconds);
    out->share =
        (double)(bytes_read(r) - between) / count / (double)(between - before);
}

/* ---- histograms ---------------------------------------------------------- */

/* Of temperatures, by a look at everything, and by the library: exactly, and
 * within 1 MiB. */
enum { COUNTED, EXACT, WITHIN, HISTOGRAMS };

struct counter {
    double low, scale;
    uint64_t counts[BINS];
};

static int count_values(void *user, const bouma_batch *batch)
{
    struct counter *c = user;
    const double *t = batch->columns[0];

    for (uint64_t i = 0; i < batch->count; i++) {
        double bin = (t[i] - c->low) * c->scale;

        c->counts[bin < BINS - 1 ? (int)bin : BINS - 1]++;
    }
    return 0;
}

static void count_all(const struct reading *r, bouma_variable *v,
                      struct counter *c)
{
    bouma_particles_query q = {
        .size = sizeof(q), .variables = &v, .variable_count = 1};
    bouma_range range;

    check(bouma_variable_range(&range, v, 0), r->ds);
    *c = (struct counter){.low = range.low,
                          .scale = BINS / (range.high - range.low)};
    check(bouma_particles_query_run(r->set, &q, count_values, c), r->ds);
}

/* Sums must agree; a value at an edge may be rounded into the next bin. */
static void check_bins(const struct counter *c, const bouma_bin *bins,
                       const bouma_histogram *h)
{
    uint64_t sum = 0, other = 0;

    for (int i = 0; i < BINS; i++) {
        sum += c->counts[i];
        other += bins[i].lower > c->counts[i] ? bins[i].lower - c->counts[i]
                                              : c->counts[i] - bins[i].lower;
    }
    if (h->basis != BOUMA_BASIS_EXACT || h->all.lower != sum || other > BINS)
        fail("a histogram has other counts than a look at everything");
}

static void time_histograms(const struct bench *b, struct times *times)
{
    struct reading r;
    bouma_variable *v;
    struct counter counter;
    bouma_bin bins[BINS];
    bouma_histogram_spec spec = {.size = sizeof(spec), .bins = BINS};
    bouma_budget budget = {.size = sizeof(budget), .bytes = 1 << 20};
    bouma_histogram h = {.size = sizeof(h)};

    reading_open(&r, b, UNIFORM, RAW);
    v = bouma_particles_find_variable(r.set, cloud_names[CLOUD_TEMPERATURE]);
    for (int i = 0; i < HISTOGRAMS; i++) {
        double begun = measure_now();

        if (i == COUNTED)
            count_all(&r, v, &counter);
        else
            check(bouma_particles_histogram(&h, bins, v, &spec, NULL,
                                            i == EXACT ? NULL : &budget),
                  r.ds);
        if (times)
            times_add(&times[i], measure_now() - begun);
        if (i == EXACT)
            check_bins(&counter, bins, &h);
    }
    reading_close(&r);
}

static void report_histograms(const struct times *times)
{
    printf("\na histogram over reading and counting all values, uniform, raw, "
           "one thread\n");
    score_ratio("histogram, exact", &times[EXACT], "reading and counting all",
                &times[COUNTED], SCORE_AT_MOST, 1.4);
    score_ratio("histogram within 1 MiB", &times[WITHIN],
                "reading and counting all", &times[COUNTED], SCORE_AT_MOST,
                0.33);
}

/* ---- all ---------------------------------------------------------------- */

static void report_progressive(const struct bench *b, int distribution,
                               int backend, const struct times *read,
                               const struct times *plain)
{
    enum score_kind most = backend == RAW ? SCORE_AT_MOST : SCORE_TOLD;
    char name[100];

    snprintf(name, sizeof(name),
             "progressive, %s, %s: time over a pass in memory",
             distribution_names[distribution], backend_names[backend]);
    score_ratio(name, read, "a pass in memory", plain, most, 3);
    snprintf(name, sizeof(name), "progressive, %s, %s: particles",
             distribution_names[distribution], backend_names[backend]);
    score(name, "/ms", (double)b->particles / (1e3 * times_median(read)),
          SCORE_AT_LEAST, backend == RAW ? 90000 : 60000);
}

void bench_reads(const struct bench *b)
{
    static struct times read[DISTRIBUTIONS][QUANTISED], plain[DISTRIBUTIONS];
    static struct cost costs[QUANTISED][LOOK_KINDS];
    static struct times histograms[HISTOGRAMS];
    static const char *const kinds[LOOK_KINDS] = {
        "a box of 1/512 of the volume", "a range with 1 % of the values",
        "two ranges by ||, with as many"};
    bouma_particle_data *all[DISTRIBUTIONS];
    struct look boxes[PLACES], ranges[RANGES], pairs[RANGES];
    struct reading r;

    for (int i = 0; i < DISTRIBUTIONS; i++) {
        reading_open(&r, b, i, RAW);
        check(bouma_particles_read(&all[i], r.set, NULL), r.ds);
        reading_close(&r);
    }
    make_looks(boxes, ranges, pairs, all[UNIFORM]);
    for (int n = -1; n < b->repetitions; n++) { /* one to warm up */
        int turn = n < 0 ? 0 : n;

        for (int i = 0; i < DISTRIBUTIONS; i++)
            for (int k = 0; k <= QUANTISED; k++) {
                int backend = (k + turn) % (QUANTISED + 1);
                double seconds =
                    backend == QUANTISED /* there is no such read: in memory */
                        ? sum_in_memory(all[i], b->particles)
                        : read_progressively(b, i, backend);

                if (n >= 0)
                    times_add(backend == QUANTISED ? &plain[i]
                                                   : &read[i][backend],
                              seconds);
            }
        for (int backend = 0; backend < QUANTISED; backend++) {
            reading_open(&r, b, UNIFORM, backend);
            if (n == 0)
                memset(costs[backend], 0, sizeof(costs[backend]));
            compare(&r, boxes, PLACES, turn, &costs[backend][IN_BOX]);
            compare(&r, ranges, RANGES, turn, &costs[backend][IN_RANGE]);
            compare(&r, pairs, RANGES, turn, &costs[backend][IN_EITHER]);
            reading_close(&r);
        }
        time_histograms(b, n < 0 ? NULL : histograms);
    }
    printf("\nquality 0.1, 0.2, .. 1, each from the one before, one thread, "
           "every value summed\n");
    for (int i = 0; i < DISTRIBUTIONS; i++)
        for (int backend = 0; backend < QUANTISED; backend++)
            report_progressive(b, i, backend, &read[i][backend], &plain[i]);
    printf("\na query over a look at everything, uniform, one thread\n");
    for (int backend = 0; backend < QUANTISED; backend++)
        for (int k = 0; k < LOOK_KINDS; k++) {
            char name[100];

            snprintf(name, sizeof(name), "query, %s, %s",
                     backend_names[backend], kinds[k]);
            score_ratio(name, &costs[backend][k].queries,
                        "a look at everything", &costs[backend][k].scans,
                        backend == RAW ? SCORE_AT_MOST : SCORE_TOLD,
                        k == IN_BOX ? 0.05 : 0.2);
            snprintf(name, sizeof(name), "query, %s, %s: bytes of all",
                     backend_names[backend], kinds[k]);
            score(name, "%", 100 * costs[backend][k].share, SCORE_TOLD, 0);
        }
    report_histograms(histograms);
    for (int i = 0; i < DISTRIBUTIONS; i++)
        bouma_particle_data_free(all[i]);
}
