/* bench_write.c -- how close writing and reading come to plain files, and how
 * far ahead of HDF5 and MPI-IO they are.
 *
 *   mpirun -n 4 bench_write [--size 512] [--repetitions 5] [--directory .]
 *                           [--split blocks|slabs] [--codec raw|zstd]
 *                           [--only TEXT] [--json FILE]
 *
 * Every repetition goes through all ways (or those whose name has TEXT in it),
 * so that a disturbance of the machine meets all of them alike. A time is that
 * of the slowest rank, from a barrier on; the medians over the repetitions
 * count. (Ratios of the shortest times stand beside: where they differ much,
 * the machine had other work.) Files are new in every write and in the page
 * cache in every read. All values read are checked: a wrong one ends the
 * program with an error. A missed target does not, for that may be the
 * machine's fault. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "field.h"
#include "measure.h"

enum { BACKENDS = 6, PHASES = 7, MAX_REPETITIONS = 1000 };

static const char *const phase_names[PHASES] = {
    "describe", "plan", "distribute", "shape", "ship", "store", "commit"};

struct settings {
    int64_t size;
    int repetitions;
    int slabs;
    bouma_codec codec;
    const char *directory, *only, *json;
};

/* One way and its measurements, one of each kind for a repetition. */
struct result {
    struct backend backend;
    int chosen;
    double *write, *read;
    double *phase[PHASES]; /* zeros unless it is bouma */
};

/* A ratio of two medians and what we want of it. */
struct target {
    const char *numerator, *denominator;
    int of_read;
    int at_least; /* or else: at most */
    double limit;
    const char *remark;
};

static const struct target targets[] = {
    {"bouma fast", "plain", 0, 0, 2.0, "aim 1.5"},
    {"bouma durable", "plain+fsync", 0, 0, 2.0, ""},
    {"bouma fast", "plain", 1, 0, 1.5, ""},
    {"hdf5", "bouma fast", 0, 1, 1.6, ""},
};
enum { TARGETS = sizeof(targets) / sizeof(targets[0]) };

/* ---- settings ----------------------------------------------------------- */

static void parse(struct settings *s, int argc, char **argv)
{
    *s = (struct settings){.size = 512,
                           .repetitions = 5,
                           .codec = BOUMA_CODEC_RAW,
                           .directory = ".",
                           .only = ""};
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *text = i + 1 < argc ? argv[i + 1] : NULL;

        if (!text)
            backend_fail("%s: a value is missing", name);
        if (!strcmp(name, "--size"))
            s->size = atoll(text);
        else if (!strcmp(name, "--repetitions"))
            s->repetitions = atoi(text);
        else if (!strcmp(name, "--directory"))
            s->directory = text;
        else if (!strcmp(name, "--split") && !strcmp(text, "blocks"))
            s->slabs = 0;
        else if (!strcmp(name, "--split") && !strcmp(text, "slabs"))
            s->slabs = 1;
        else if (!strcmp(name, "--codec") && bouma_codec_parse(text))
            s->codec = bouma_codec_parse(text);
        else if (!strcmp(name, "--only"))
            s->only = text;
        else if (!strcmp(name, "--json"))
            s->json = text;
        else
            backend_fail("%s %s: not understood", name, text);
    }
    if (s->size < 1 || s->size > 8192)
        backend_fail("--size: from 1 to 8192");
    if (s->repetitions < 1 || s->repetitions > MAX_REPETITIONS)
        backend_fail("--repetitions: from 1 to %d", MAX_REPETITIONS);
}

/* The box of this rank: a part of each axis, as equal as it can be. */
static void split(bouma_box *box, int dims[FIELD_AXES], int64_t size, int slabs,
                  MPI_Comm comm)
{
    int rank, ranks, rest;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int axis = 0; axis < FIELD_AXES; axis++)
        dims[axis] = slabs && axis > 0 ? 1 : 0;
    MPI_Dims_create(ranks, FIELD_AXES, dims);

    rest = rank;
    for (int axis = FIELD_AXES - 1; axis >= 0; axis--) {
        int place = rest % dims[axis];

        rest /= dims[axis];
        box->lo[axis] = size * place / dims[axis];
        box->hi[axis] = size * (place + 1) / dims[axis];
    }
}

/* ---- measuring ---------------------------------------------------------- */

static void *allocate(size_t bytes)
{
    void *block = calloc(bytes ? bytes : 1, 1);

    if (!block)
        backend_fail("out of memory");
    return block;
}

/* Seconds that the slowest rank needs for 'act'. */
static double slowest(void (*act)(struct backend *,
                                  const struct backend_input *),
                      struct backend *backend, const struct backend_input *in)
{
    double seconds, worst;

    MPI_Barrier(in->comm);
    seconds = measure_now();
    act(backend, in);
    seconds = measure_now() - seconds;
    MPI_Allreduce(&seconds, &worst, 1, MPI_DOUBLE, MPI_MAX, in->comm);
    return worst;
}

/* Write, read back, check and discard, once. */
static void measure_backend(struct result *r, int repetition,
                            const struct backend_input *in,
                            const struct field *field)
{
    const bouma_record *p = &r->backend.record;

    backend_sync(in); /* the last way's work is not charged to this one */
    r->write[repetition] = slowest(r->backend.write, &r->backend, in);
    r->phase[0][repetition] = p->describe_seconds;
    r->phase[1][repetition] = p->plan_seconds;
    r->phase[2][repetition] = p->distribute_seconds;
    r->phase[3][repetition] = p->shape_seconds;
    r->phase[4][repetition] = p->ship_seconds;
    r->phase[5][repetition] = p->store_seconds;
    r->phase[6][repetition] = p->commit_seconds;

    if (r->backend.read) {
        /* All bits set is a NaN, which the field does not have. */
        memset(in->back, 0xff, in->count * sizeof(*in->back));
        r->read[repetition] = slowest(r->backend.read, &r->backend, in);
        if (field_mismatches(field, &in->box, in->back))
            backend_fail("%s: rank %d read wrong values", r->backend.name,
                         in->rank);
    }
    r->backend.discard(&r->backend, in);
}

static void measure_all(struct result results[BACKENDS], int repetitions,
                        const struct backend_input *in,
                        const struct field *field)
{
    for (int i = 0; i < BACKENDS; i++)
        if (results[i].chosen && results[i].backend.open)
            results[i].backend.open(&results[i].backend, in);
    /* Another way begins each time: none always comes after the same one. */
    for (int n = 0; n < repetitions; n++)
        for (int i = 0; i < BACKENDS; i++)
            if (results[(i + n) % BACKENDS].chosen)
                measure_backend(&results[(i + n) % BACKENDS], n, in, field);
    for (int i = 0; i < BACKENDS; i++)
        if (results[i].chosen && results[i].backend.close)
            results[i].backend.close(&results[i].backend, in);
}

/* ---- reporting ---------------------------------------------------------- */

static const struct result *find(const struct result results[BACKENDS],
                                 const char *name)
{
    for (int i = 0; i < BACKENDS; i++)
        if (!strcmp(results[i].backend.name, name))
            return &results[i];
    return NULL;
}

/* A quantile of the seconds; NaN for what was not measured. */
static double quantile_of(const struct result *r, int of_read, int repetitions,
                          double q)
{
    if (!r->chosen || (of_read && !r->backend.read))
        return NAN;
    return measure_quantile(of_read ? r->read : r->write, repetitions, q);
}

static double median_of(const struct result *r, int of_read, int repetitions)
{
    return quantile_of(r, of_read, repetitions, 0.5);
}

/* Of the medians ('q' is 0.5) or of the shortest times (0). */
static double ratio_of(const struct target *t,
                       const struct result results[BACKENDS], int repetitions,
                       double q)
{
    return quantile_of(find(results, t->numerator), t->of_read, repetitions,
                       q) /
           quantile_of(find(results, t->denominator), t->of_read, repetitions,
                       q);
}

static int is_met(const struct target *t, double ratio)
{
    return t->at_least ? ratio >= t->limit : ratio <= t->limit;
}

static void print_times(const struct result results[BACKENDS], int repetitions,
                        double gibibytes)
{
    printf("\n%-14s %9s %9s %9s %9s   %9s %9s\n", "seconds", "write", "least",
           "most", "GiB/s", "read", "GiB/s");
    for (int i = 0; i < BACKENDS; i++) {
        const struct result *r = &results[i];
        double write = median_of(r, 0, repetitions);
        double read = median_of(r, 1, repetitions);

        if (!r->chosen)
            continue;
        printf("%-14s %9.3f %9.3f %9.3f %9.2f", r->backend.name, write,
               quantile_of(r, 0, repetitions, 0),
               quantile_of(r, 0, repetitions, 1), gibibytes / write);
        if (r->backend.read)
            printf("   %9.3f %9.2f", read, gibibytes / read);
        printf("\n");
    }
}

static void print_ratios(const struct result results[BACKENDS], int repetitions)
{
    printf("\n%-38s %6s %6s   %s\n", "ratio", "median", "least", "target");
    for (int i = 0; i < TARGETS; i++) {
        const struct target *t = &targets[i];
        double ratio = ratio_of(t, results, repetitions, 0.5);
        char label[64];

        if (isnan(ratio))
            continue;
        snprintf(label, sizeof(label), "%s %s / %s",
                 t->of_read ? "read " : "write", t->numerator, t->denominator);
        printf("%-38s %6.2f %6.2f   %s %.1f %-6s %s\n", label, ratio,
               ratio_of(t, results, repetitions, 0),
               t->at_least ? ">=" : "<=", t->limit,
               is_met(t, ratio) ? "met" : "MISSED", t->remark);
    }
}

static void print_phases(const struct result results[BACKENDS], int repetitions)
{
    for (int i = 0; i < BACKENDS; i++) {
        const struct result *r = &results[i];
        const bouma_record *record = &r->backend.record;

        if (record->files == 0)
            continue;
        printf("\n%s, the slowest rank's seconds in each phase:\n ",
               r->backend.name);
        for (int p = 0; p < PHASES; p++)
            printf(" %s %.3f", phase_names[p],
                   measure_median(r->phase[p], repetitions));
        printf("\n  %lld files, %lld chunks, %.1f MiB stored, "
               "%.1f MiB moved, %.1f MiB shipped\n",
               (long long)record->files, (long long)record->chunks,
               (double)record->stored_bytes / 1048576,
               (double)record->moved_bytes / 1048576,
               (double)record->shipped_bytes / 1048576);
    }
}

static void write_json(const char *path, const struct settings *s, int ranks,
                       const struct result results[BACKENDS])
{
    FILE *f = fopen(path, "w");
    const char *comma = "";

    if (!f)
        backend_fail("%s: cannot be written", path);
    fprintf(f,
            "{\n  \"benchmark\": \"write\", \"version\": \"%s\", "
            "\"size\": %lld, \"ranks\": %d, \"split\": \"%s\", "
            "\"codec\": \"%s\",\n  \"ways\": [",
            bouma_version(), (long long)s->size, ranks,
            s->slabs ? "slabs" : "blocks", bouma_codec_name(s->codec));
    for (int i = 0; i < BACKENDS; i++) {
        const struct result *r = &results[i];

        if (!r->chosen)
            continue;
        fprintf(f, "%s\n    {\"name\": \"%s\", ", comma, r->backend.name);
        measure_json_list(f, "write", r->write, s->repetitions);
        if (r->backend.read) {
            fprintf(f, ", ");
            measure_json_list(f, "read", r->read, s->repetitions);
        }
        for (int p = 0; p < PHASES && r->backend.record.files > 0; p++) {
            fprintf(f, ",\n     ");
            measure_json_list(f, phase_names[p], r->phase[p], s->repetitions);
        }
        fprintf(f, "}");
        comma = ",";
    }
    fprintf(f, "\n  ],\n  \"ratios\": [");
    comma = "";
    for (int i = 0; i < TARGETS; i++) {
        const struct target *t = &targets[i];
        double ratio = ratio_of(t, results, s->repetitions, 0.5);

        if (isnan(ratio))
            continue;
        fprintf(f,
                "%s\n    {\"of\": \"%s\", \"numerator\": \"%s\", "
                "\"denominator\": \"%s\", \"ratio\": %.4f, "
                "\"%s\": %.2f, \"met\": %s}",
                comma, t->of_read ? "read" : "write", t->numerator,
                t->denominator, ratio, t->at_least ? "at_least" : "at_most",
                t->limit, is_met(t, ratio) ? "true" : "false");
        comma = ",";
    }
    fprintf(f, "\n  ]\n}\n");
    if (fclose(f))
        backend_fail("%s: cannot be written", path);
}

/* ---- main --------------------------------------------------------------- */

static void result_init(struct result *r, const struct backend *backend,
                        const struct settings *s)
{
    size_t bytes = (size_t)s->repetitions * sizeof(double);

    r->backend = *backend;
    r->chosen = strstr(backend->name, s->only) != NULL;
    r->write = allocate(bytes);
    r->read = allocate(bytes);
    for (int p = 0; p < PHASES; p++)
        r->phase[p] = allocate(bytes);
}

static void result_release(struct result *r)
{
    free(r->write);
    free(r->read);
    for (int p = 0; p < PHASES; p++)
        free(r->phase[p]);
}

int main(int argc, char **argv)
{
    static const struct backend *const backends[BACKENDS] = {
        &backend_plain,         &backend_plain_fsync, &backend_bouma_fast,
        &backend_bouma_durable, &backend_hdf5,        &backend_mpiio};
    struct settings settings;
    struct backend_input in = {.comm = MPI_COMM_WORLD};
    struct field field;
    struct result results[BACKENDS];
    float *data, *back;
    int ranks, dims[FIELD_AXES];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(in.comm, &in.rank);
    MPI_Comm_size(in.comm, &ranks);
    parse(&settings, argc, argv);
    if (field_init(&field, settings.size))
        backend_fail("out of memory");

    split(&in.box, dims, settings.size, settings.slabs, in.comm);
    in.count = (size_t)field_box_samples(&in.box);
    in.data = data = allocate(field_box_bytes(&in.box));
    in.back = back = allocate(field_box_bytes(&in.box));
    in.directory = settings.directory;
    in.codec = settings.codec;
    memcpy(in.shape, field.shape, sizeof(in.shape));
    field_fill(&field, &in.box, data);
    for (int i = 0; i < BACKENDS; i++)
        result_init(&results[i], backends[i], &settings);

    measure_all(results, settings.repetitions, &in, &field);

    if (in.rank == 0) {
        double bytes = pow((double)settings.size, 3) * sizeof(float);

        printf("%lld^3 f32 (%.0f MiB), %d ranks as %d x %d x %d, codec %s, "
               "medians of %d\n",
               (long long)settings.size, bytes / 1048576, ranks, dims[0],
               dims[1], dims[2], bouma_codec_name(settings.codec),
               settings.repetitions);
        print_times(results, settings.repetitions, bytes / 1073741824);
        print_ratios(results, settings.repetitions);
        print_phases(results, settings.repetitions);
        if (settings.json)
            write_json(settings.json, &settings, ranks, results);
    }
    for (int i = 0; i < BACKENDS; i++)
        result_release(&results[i]);
    free(back);
    free(data);
    field_release(&field);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
