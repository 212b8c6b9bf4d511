/* golden_particles.c -- see golden_particles.h. As in golden_sets.c, nothing
 * here may change once a format is released. */
#include "golden_particles.h"
#include "columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ------------------------------------------------------------- */

enum { MAX_VARIABLES = 6, MAX_STEPS = 2, MOST = 1200 };

struct variable {
    const char *name; /* the first is the position */
    bouma_type type;
    int components;
    bouma_codec codec;
    double tolerance;
    int absent; /* in the last step */
};

struct set {
    const char *name;
    int ndims, leaf, strays;
    int64_t counts[MAX_STEPS + 1]; /* of particles, by step; -1: no more */
    bouma_order order;
    bouma_assign assign;
    int files;
    struct variable variables[MAX_VARIABLES];
};

static const struct set sets[] = {
    {"dust",
     3,
     16,
     1,
     {300, 411, -1},
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_SPLIT,
     1,
     {{"position", BOUMA_TYPE_F32, 3, BOUMA_CODEC_ZSTD, 0, 0},
      {"id", BOUMA_TYPE_U64, 1, BOUMA_CODEC_ZSTD, 0, 0},
      {"mass", BOUMA_TYPE_F64, 1, BOUMA_CODEC_RAW, 0, 0},
      {"velocity", BOUMA_TYPE_F32, 3, BOUMA_CODEC_ZSTD, 0, 1}}},
    {"foam",
     2,
     32,
     0,
     {500, -1},
     BOUMA_ORDER_CHUNK,
     BOUMA_ASSIGN_SINGLE,
     0,
     {{"position", BOUMA_TYPE_F64, 2, BOUMA_CODEC_QUANTISE, 1e-3, 0},
      {"id", BOUMA_TYPE_U64, 1, BOUMA_CODEC_RAW, 0, 0},
      {"heat", BOUMA_TYPE_F64, 1, BOUMA_CODEC_QUANTISE, 0.01, 0},
      {"spin", BOUMA_TYPE_F32, 2, BOUMA_CODEC_QUANTISE, 0.25, 0}}},
    {"mote",
     1,
     0,
     0,
     {1, 0, -1},
     BOUMA_ORDER_LEVEL,
     0,
     0,
     {{"position", BOUMA_TYPE_F32, 1, BOUMA_CODEC_RAW, 0, 0},
      {"id", BOUMA_TYPE_U64, 1, BOUMA_CODEC_RAW, 0, 0}}},
    {"flock",
     3,
     64,
     1,
     {900, -1},
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_SPLIT,
     4,
     {{"position", BOUMA_TYPE_F32, 3, BOUMA_CODEC_ZSTD, 0, 0},
      {"id", BOUMA_TYPE_U64, 1, BOUMA_CODEC_ZSTD, 0, 0},
      {"kind", BOUMA_TYPE_I16, 1, BOUMA_CODEC_ZSTD, 0, 0},
      {"flag", BOUMA_TYPE_U8, 1, BOUMA_CODEC_RAW, 0, 0},
      {"mass", BOUMA_TYPE_F64, 1, BOUMA_CODEC_ZSTD, 0, 0}}},
    /* Chunks are small: there are three. */
    {"spray",
     3,
     64,
     1,
     {1200, -1},
     BOUMA_ORDER_CHUNK,
     BOUMA_ASSIGN_SINGLE,
     0,
     {{"position", BOUMA_TYPE_F32, 3, BOUMA_CODEC_RAW, 0, 0},
      {"id", BOUMA_TYPE_U64, 1, BOUMA_CODEC_RAW, 0, 0},
      {"heat", BOUMA_TYPE_F64, 1, BOUMA_CODEC_RAW, 0, 0}}},
    /* zstd by planes, and exact. */
    {"swarm",
     3,
     64,
     1,
     {1100, -1},
     BOUMA_ORDER_LEVEL,
     BOUMA_ASSIGN_SPLIT,
     2,
     {{"position", BOUMA_TYPE_F32, 3, BOUMA_CODEC_EXACT, 0, 0},
      {"id", BOUMA_TYPE_U64, 1, BOUMA_CODEC_ZSTD, 0, 0},
      {"kind", BOUMA_TYPE_I16, 1, BOUMA_CODEC_ZSTD, 0, 0},
      {"velocity", BOUMA_TYPE_F32, 3, BOUMA_CODEC_ZSTD, 0, 0},
      {"heat", BOUMA_TYPE_F64, 1, BOUMA_CODEC_EXACT, 0, 0},
      {"mass", BOUMA_TYPE_F64, 1, BOUMA_CODEC_ZSTD, 0, 0}}},
};

enum { SETS = sizeof(sets) / sizeof(sets[0]) };

const char *golden_particles_name(int i)
{
    return i >= 0 && i < SETS ? sets[i].name : NULL;
}

int64_t golden_particles_step(int i, int k)
{
    return sets[i].counts[k] >= 0 ? k : -1;
}

static int is_absent(const struct set *s, int v, int step)
{
    return s->variables[v].absent && s->counts[step + 1] < 0;
}

/* ---- values ------------------------------------------------------------- */

/* Quotients of integers that every type of them has exactly. */
static double number_of(const struct set *s, int v, int step, int64_t k, int c)
{
    int64_t n = (k * 7919 + v * 31 + c * 1237 + step * 17) % 1021;

    if (v == 0 && s->strays && k % 40 == 3)
        return c == 0 ? (double)NAN : c == 1 ? (double)INFINITY : 1;
    if (v == 0) /* some close together */
        return k % 3 ? (double)n / 64 : 4 + (double)(n % 32) / 512;
    if (!strcmp(s->variables[v].name, "id"))
        return (double)k;
    if (!strcmp(s->variables[v].name, "mass") && k % 50 == 9)
        return k % 100 == 9 ? (double)NAN : (double)-INFINITY;
    if (s->variables[v].type == BOUMA_TYPE_U8)
        return (double)(n % 256);
    return (double)(n - 500) /
           (s->variables[v].type == BOUMA_TYPE_I16 ? 1 : 128);
}

static void store(void *out, bouma_type type, double x)
{
    switch (type) {
    case BOUMA_TYPE_F32: {
        float c = (float)x;

        memcpy(out, &c, sizeof(c));
        break;
    }
    case BOUMA_TYPE_U64: {
        uint64_t c = (uint64_t)x;

        memcpy(out, &c, sizeof(c));
        break;
    }
    case BOUMA_TYPE_I16: {
        int16_t c = (int16_t)x;

        memcpy(out, &c, sizeof(c));
        break;
    }
    case BOUMA_TYPE_U8: {
        uint8_t c = (uint8_t)x;

        memcpy(out, &c, sizeof(c));
        break;
    }
    default:
        memcpy(out, &x, sizeof(x));
    }
}

static double load(const void *values, bouma_type type, uint64_t i)
{
    switch (type) {
    case BOUMA_TYPE_F32:
        return (double)((const float *)values)[i];
    case BOUMA_TYPE_U64:
        return (double)((const uint64_t *)values)[i];
    case BOUMA_TYPE_I16:
        return ((const int16_t *)values)[i];
    case BOUMA_TYPE_U8:
        return ((const uint8_t *)values)[i];
    default:
        return ((const double *)values)[i];
    }
}

/* ---- writing ------------------------------------------------------------ */

static int define(const struct set *s, bouma_dataset *ds,
                  bouma_particles **particles, bouma_variable **handles)
{
    bouma_particles_spec spec = {.size = sizeof(spec),
                                 .ndims = s->ndims,
                                 .type = s->variables[0].type,
                                 .unit = "m",
                                 .codec = s->variables[0].codec,
                                 .tolerance = s->variables[0].tolerance,
                                 .leaf = s->leaf};
    int rc = bouma_particles_define(particles, ds, s->name, &spec);

    if (!rc)
        rc = bouma_attributes_set_text(bouma_particles_attributes(*particles),
                                       "kind", s->name);
    if (!rc)
        handles[0] = bouma_particles_position(*particles);
    for (int v = 1; v < MAX_VARIABLES && s->variables[v].name && !rc; v++) {
        bouma_variable_spec own = {.size = sizeof(own),
                                   .type = s->variables[v].type,
                                   .components = s->variables[v].components,
                                   .codec = s->variables[v].codec,
                                   .tolerance = s->variables[v].tolerance};

        rc = bouma_particles_define_variable(&handles[v], *particles,
                                             s->variables[v].name, &own);
    }
    return rc;
}

static int write_step(const struct set *s, bouma_dataset *ds, int step,
                      bouma_particles *particles, bouma_variable **handles)
{
    struct test_column columns[MAX_VARIABLES];
    void *kept[MAX_VARIABLES] = {NULL};
    int n = 0, rc = bouma_step_begin(ds, step, step * 0.5);

    memset(columns, 0, sizeof(columns));
    for (int v = 0; v < MAX_VARIABLES && s->variables[v].name; v++) {
        size_t size = bouma_type_size(s->variables[v].type);
        int components = s->variables[v].components;
        uint8_t *p = kept[v] = malloc(MOST * size * (size_t)components);

        if (!p)
            exit(2);
        for (int64_t k = 0; k < s->counts[step]; k++)
            for (int c = 0; c < components; c++, p += size)
                store(p, s->variables[v].type, number_of(s, v, step, k, c));
        if (!is_absent(s, v, step))
            columns[n++] =
                (struct test_column){.variable = handles[v], .data = kept[v]};
    }
    if (!rc)
        rc = test_put_particles(particles, (uint64_t)s->counts[step], columns,
                                (size_t)n, NULL);
    if (!rc)
        rc = bouma_step_end(ds);
    for (int v = 0; v < MAX_VARIABLES; v++)
        free(kept[v]);
    return rc;
}

int golden_particles_write(int i, const char *path, bouma_options *options)
{
    bouma_variable *handles[MAX_VARIABLES] = {NULL};
    const struct set *s = &sets[i];
    bouma_particles *particles;
    bouma_dataset *ds;
    int rc;

    options->order = s->order;
    options->assign = s->assign;
    options->files = s->files;
    rc = bouma_dataset_create(&ds, path, options);
    if (!rc)
        rc = define(s, ds, &particles, handles);
    for (int k = 0; s->counts[k] >= 0 && !rc; k++)
        rc = write_step(s, ds, k, particles, handles);
    if (!rc)
        rc = bouma_dataset_close(ds);
    if (rc)
        fprintf(stderr, "%s: %s\n", path, bouma_error_message(ds));
    bouma_dataset_free(ds);
    return rc;
}

/* ---- reading ------------------------------------------------------------ */

static int told(int wrong, const char *set, int step, const char *what)
{
    if (wrong)
        printf("%s, step %d: %s\n", set, step, what);
    return wrong != 0;
}

static int is_right(double got, double right, double tolerance)
{
    if (isnan(right) || !isfinite(right))
        return isnan(right) ? isnan(got) : got == right;
    return fabs(got - right) <= tolerance;
}

/* Whether particle k is one that 'q' asks for, within the tolerance. */
static int is_in(const struct set *s, int step, int64_t k,
                 const bouma_particles_query *q)
{
    for (int d = 0; d < s->ndims && q->box; d++) {
        double x = number_of(s, 0, step, k, d);

        if (!isfinite(x) || !(x >= q->box->low[d]) || !(x < q->box->high[d]))
            return 0;
    }
    return 1;
}

/* All particles of 'd' are right, and just those that 'q' asks for. */
static int wrong_particles(const struct set *s, int step,
                           const bouma_particle_data *d,
                           const bouma_particles_query *q)
{
    uint8_t seen[MOST] = {0};
    int wrong = 0;

    for (uint64_t i = 0; i < d->count; i++) {
        uint64_t k = ((const uint64_t *)d->columns[1])[i];
        size_t column = 0;

        if (k >= (uint64_t)s->counts[step] || seen[k]++)
            return 1;
        for (int v = 0; v < MAX_VARIABLES && s->variables[v].name; v++) {
            const struct variable *own = &s->variables[v];

            if (is_absent(s, v, step))
                continue;
            for (int c = 0; c < own->components; c++)
                wrong += !is_right(load(d->columns[column], own->type,
                                        (uint64_t)c * d->count + i),
                                   number_of(s, v, step, (int64_t)k, c),
                                   own->tolerance);
            column++;
        }
    }
    for (int64_t k = 0; k < s->counts[step]; k++)
        wrong += seen[k] != is_in(s, step, k, q);
    return wrong;
}

static int wrong_variable(const struct set *s, int step, int v,
                          bouma_variable *handle)
{
    const struct variable *own = &s->variables[v];
    bouma_variable_info info = {.size = sizeof(info)};

    bouma_variable_info_get(&info, handle);
    return info.type != own->type || info.components != own->components ||
           info.codec != own->codec || info.tolerance != own->tolerance ||
           info.largest_error > own->tolerance ||
           info.present != (s->counts[step] && !is_absent(s, v, step));
}

static int wrong_step(const struct set *s, bouma_dataset *ds, int number)
{
    bouma_particles_query q;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    bouma_particles_info info = {.size = sizeof(info)};
    bouma_particle_data *d;
    bouma_particles *p;
    bouma_attribute kind = {.size = sizeof(kind)};
    bouma_step *step;
    uint64_t strays = 0;
    int wrong = 0;

    if (bouma_step_open(&step, ds, number))
        return told(1, s->name, number, bouma_error_message(ds));
    p = bouma_step_find_particles(step, s->name);
    bouma_particles_info_get(&info, p);
    for (int64_t k = 0; k < s->counts[number]; k++)
        strays += s->strays && k % 40 == 3;
    wrong += told(info.count != (uint64_t)s->counts[number] ||
                      info.strays != strays || info.ndims != s->ndims ||
                      strcmp(info.unit, "m") ||
                      (s->files > 1 && (info.files != s->files ||
                                        info.tree_nodes != 2 * s->files - 1)),
                  s->name, number, "what is known of the set");
    wrong += told(
        bouma_attributes_find(&kind, bouma_particles_attributes(p), "kind") ||
            strcmp(kind.values, s->name),
        s->name, number, "attribute");
    for (int v = 0; v < MAX_VARIABLES && s->variables[v].name; v++)
        wrong += told(wrong_variable(s, number, v,
                                     v ? bouma_particles_variable(p, v - 1)
                                       : bouma_particles_position(p)),
                      s->name, number, s->variables[v].name);
    q = (bouma_particles_query){.size = sizeof(q)};
    for (int i = 0; i < 2; i++) {
        /* All; and a box whose faces are not near any particle. */
        q.box = i ? &box : NULL;
        for (int a = 0; a < 3; a++) {
            box.low[a] = 2.0 + 1.0 / 128;
            box.high[a] = 9.0 + 1.0 / 128;
        }
        if (bouma_particles_read(&d, p, &q)) {
            wrong += told(1, s->name, number, bouma_error_message(ds));
            continue;
        }
        wrong += told(d->count && wrong_particles(s, number, d, &q), s->name,
                      number, i ? "particles of a box" : "particles");
        wrong += told(!i && d->count != info.count, s->name, number,
                      "the number of particles");
        bouma_particle_data_free(d);
    }
    bouma_step_free(step);
    return wrong;
}

int golden_particles_differences(int i, const char *path)
{
    const struct set *s = &sets[i];
    bouma_verify_report report = {.size = sizeof(report)};
    bouma_dataset *ds;
    int wrong = 0, k = 0;

    if (bouma_dataset_open(&ds, path, NULL)) {
        wrong += told(1, s->name, -1, bouma_error_message(ds));
        bouma_dataset_free(ds);
        return wrong;
    }
    for (; s->counts[k] >= 0; k++)
        wrong += wrong_step(s, ds, k);
    wrong += told(bouma_dataset_step_count(ds) != k, s->name, -1,
                  "the number of steps");
    bouma_dataset_free(ds);
    wrong += told(bouma_verify(&report, path, BOUMA_DEPTH_DEEP, NULL, NULL,
                               NULL, NULL, 0) ||
                      report.damages || report.notes,
                  s->name, -1, "verify has findings");
    return wrong;
}
