/* bench_write.c -- how close writing and reading come to plain files, and how
 * far ahead of HDF5, PnetCDF and MPI-IO they are.
 *
 *   mpirun -n 4 bench_write [--size 512] [--repetitions 5] [--directory .]
 *                           [--split blocks|slabs] [--codec raw|zstd]
 *                           [--only TEXT]
 *
 * Every repetition goes through all ways (or those whose name has TEXT in it),
 * so that a disturbance of the machine meets all of them alike. A time is that
 * of the slowest rank, from a barrier on; the medians over the repetitions
 * count. (Ratios of the shortest times stand beside: where they differ much,
 * the machine had other work.) Files are new in every write and in the page
 * cache in every read. All values read are checked: a wrong one ends the
 * program with an error. A missed target does not, for that may be the
 * machine's fault. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "field.h"
#include "measure.h"
#include "score.h"

enum { PHASES = 7 };

static const char *const phase_names[PHASES] = {
    "describe", "plan", "distribute", "shape", "ship", "store", "commit"};

struct settings {
    int64_t size;
    int repetitions;
    int slabs;
    bouma_codec codec;
    const char *directory, *only;
};

static const struct backend *const backends[] = {
    &backend_plain,         &backend_plain_fsync, &backend_bouma_fast,
    &backend_bouma_durable, &backend_hdf5,        &backend_mpiio,
#ifdef BENCH_PNETCDF
    &backend_pnetcdf,
#endif
};
enum { BACKENDS = sizeof(backends) / sizeof(backends[0]) };

/* One way and its measurements, one of each kind for a repetition. */
struct result {
    struct backend backend;
    int chosen;
    struct times write, read;
    struct times phase[PHASES]; /* zeros unless it is bouma */
};

/* Two ways, the ratio of whose medians is told, and what we want of it. */
struct pair {
    const char *way, *reference;
    int of_read;
    enum score_kind kind;
    double limit;
};

static const struct pair pairs[] = {
    {"bouma fast", "plain", 0, SCORE_AT_MOST, 1.5},
    {"bouma durable", "plain+fsync", 0, SCORE_AT_MOST, 1.2},
    {"bouma fast", "hdf5", 0, SCORE_AT_MOST, 0.625},
    {"bouma fast", "mpi-io", 0, SCORE_TOLD, 0},
    {"bouma fast", "pnetcdf", 0, SCORE_TOLD, 0},
    {"hdf5", "plain", 0, SCORE_TOLD, 0},
    {"mpi-io", "plain", 0, SCORE_TOLD, 0},
    {"pnetcdf", "plain", 0, SCORE_TOLD, 0},
    {"bouma fast", "plain", 1, SCORE_AT_MOST, 1.5},
    {"bouma fast", "hdf5", 1, SCORE_TOLD, 0},
    {"hdf5", "plain", 1, SCORE_TOLD, 0},
};
enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]) };

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
        else
            backend_fail("%s %s: not understood", name, text);
    }
    if (s->size < 1 || s->size > 8192)
        backend_fail("--size: from 1 to 8192");
    if (s->repetitions < 1 || s->repetitions > SCORE_MAX_TIMES)
        backend_fail("--repetitions: from 1 to %d", SCORE_MAX_TIMES);
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
static void measure_backend(struct result *r, const struct backend_input *in,
                            const struct field *field)
{
    const bouma_record *p = &r->backend.record;

    backend_sync(in); /* the last way's work is not charged to this one */
    times_add(&r->write, slowest(r->backend.write, &r->backend, in));
    times_add(&r->phase[0], p->describe_seconds);
    times_add(&r->phase[1], p->plan_seconds);
    times_add(&r->phase[2], p->distribute_seconds);
    times_add(&r->phase[3], p->shape_seconds);
    times_add(&r->phase[4], p->ship_seconds);
    times_add(&r->phase[5], p->store_seconds);
    times_add(&r->phase[6], p->commit_seconds);

    if (r->backend.read) {
        /* All bits set is a NaN, which the field does not have. */
        memset(in->back, 0xff, in->count * sizeof(*in->back));
        times_add(&r->read, slowest(r->backend.read, &r->backend, in));
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
                measure_backend(&results[(i + n) % BACKENDS], in, field);
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

static void print_times(const struct result results[BACKENDS], double gibibytes)
{
    printf("\n%-14s %9s %9s %9s %9s   %9s %9s\n", "seconds", "write", "least",
           "most", "GiB/s", "read", "GiB/s");
    for (int i = 0; i < BACKENDS; i++) {
        const struct result *r = &results[i];
        double write = times_median(&r->write);
        double read = times_median(&r->read);

        if (!r->chosen)
            continue;
        printf("%-14s %9.3f %9.3f %9.3f %9.2f", r->backend.name, write,
               measure_quantile(r->write.seconds, r->write.count, 0),
               measure_quantile(r->write.seconds, r->write.count, 1),
               gibibytes / write);
        if (r->backend.read)
            printf("   %9.3f %9.2f", read, gibibytes / read);
        printf("\n");
    }
}

/* Of those pairs both of which were measured. */
static void score_pairs(const struct result results[BACKENDS])
{
    int part = -1;

    for (int i = 0; i < PAIRS; i++) {
        const struct pair *p = &pairs[i];
        const struct result *way = find(results, p->way);
        const struct result *reference = find(results, p->reference);
        char name[100];

        if (!way || !reference || !way->chosen || !reference->chosen)
            continue;
        if (part != p->of_read) {
            part = p->of_read;
            printf("\n");
            score_part(part ? "read" : "write");
        }
        snprintf(name, sizeof(name), "%s over %s", p->way, p->reference);
        score_ratio(name, p->of_read ? &way->read : &way->write, p->reference,
                    p->of_read ? &reference->read : &reference->write, p->kind,
                    p->limit);
    }
}

static void print_phases(const struct result results[BACKENDS])
{
    for (int i = 0; i < BACKENDS; i++) {
        const struct result *r = &results[i];
        const bouma_record *record = &r->backend.record;

        if (record->files == 0)
            continue;
        printf("\n%s, the slowest rank's seconds in each phase:\n ",
               r->backend.name);
        for (int p = 0; p < PHASES; p++)
            printf(" %s %.3f", phase_names[p], times_median(&r->phase[p]));
        printf("\n  %lld files, %lld chunks, %.1f MiB stored, "
               "%.1f MiB moved, %.1f MiB shipped\n",
               (long long)record->files, (long long)record->chunks,
               (double)record->stored_bytes / 1048576,
               (double)record->moved_bytes / 1048576,
               (double)record->shipped_bytes / 1048576);
    }
}

static void write_results(const struct settings *s, int ranks)
{
    score_setting("size", (double)s->size);
    score_setting("ranks", ranks);
    score_setting_text("split", s->slabs ? "slabs" : "blocks");
    score_setting_text("codec", bouma_codec_name(s->codec));
    if (score_end("write"))
        backend_fail("the results cannot be written");
}

/* ---- main --------------------------------------------------------------- */

int main(int argc, char **argv)
{
    static struct result results[BACKENDS];
    struct settings settings;
    struct backend_input in = {.comm = MPI_COMM_WORLD};
    struct field field;
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
        results[i] = (struct result){
            .backend = *backends[i],
            .chosen = strstr(backends[i]->name, settings.only) != NULL};

    measure_all(results, settings.repetitions, &in, &field);

    if (in.rank == 0) {
        double bytes = (double)(settings.size * settings.size * settings.size) *
                       sizeof(float);

        printf("%lld^3 f32 (%.0f MiB), %d ranks as %d x %d x %d, codec %s, "
               "medians of %d\n",
               (long long)settings.size, bytes / 1048576, ranks, dims[0],
               dims[1], dims[2], bouma_codec_name(settings.codec),
               settings.repetitions);
        print_times(results, bytes / 1073741824);
        score_pairs(results);
        print_phases(results);
        write_results(&settings, ranks);
    }
    free(back);
    free(data);
    field_release(&field);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
