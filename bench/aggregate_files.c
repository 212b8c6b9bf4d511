/* aggregate_files.c -- one shared file by MPI-IO and by bouma. */
#include <fcntl.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "aggregate.h"
#include "bouma_mpi.h"
#include "measure.h"
#include "score.h"
#include "sized.h"

enum { NINE = 9, PARTICLE = 38, PAD = 64, MIB = 1048576 };

enum distribution { UNIFORM, RANDOM, NORMAL, DISTRIBUTIONS };
static const char *const distribution_names[DISTRIBUTIONS] = {
    "uniform", "random", "normal"};

enum layout { ONE, AOS, SOA, LAYOUTS };
static const char *const layout_names[LAYOUTS] = {"1", "9 aos", "9 soa"};

/* What is written: HACC-IO's variables, or as many bytes in one. */
struct load {
    enum layout layout;
    enum distribution distribution;
    int mib; /* at most, on a rank */
    size_t variables;
    uint64_t count[NINE], size[NINE], offset[NINE]; /* of this rank */
    uint64_t bytes;                                 /* of all ranks */
};

/* The arrays of this rank: what is written, and as large, what is read. */
struct arrays {
    uint8_t *data, *back;
    size_t bytes;
};

/* ---- what is written ---------------------------------------------------- */

/* From 0 up to before 1, the same on all ranks. */
static double chance(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* The part of the largest that a rank has. As in paper 003, 5.3: all the same;
 * anything between nothing and all; around a half. */
static double share(enum distribution d, uint64_t *state)
{
    double u = chance(state), v = chance(state), normal;

    if (d == UNIFORM)
        return 1;
    if (d == RANDOM)
        return u;
    normal = 0.5 + sqrt(-2 * log(1 - u)) * cos(2 * M_PI * v) / 6;
    return normal < 0 ? 0 : normal > 1 ? 1 : normal;
}

static void load_init(struct load *l, const struct bench *b)
{
    static const uint64_t nine[NINE] = {4, 4, 4, 4, 4, 4, 4, 8, 2};
    uint64_t element = l->layout == ONE ? 4 : PARTICLE, state = 12, at;
    uint64_t before = 0, mine = 0, all = 0;

    for (int r = 0; r < b->ranks; r++) {
        double wanted = share(l->distribution, &state) * l->mib * MIB;
        uint64_t n = (uint64_t)wanted / element;

        before += r < b->rank ? n : 0;
        mine = r == b->rank ? n : mine;
        all += n;
    }
    l->variables = l->layout == ONE ? 1 : NINE;
    l->bytes = all * element;
    at = l->layout == SOA ? 0 : before * element;
    for (size_t v = 0; v < l->variables; v++) {
        l->size[v] = l->layout == ONE ? element : nine[v];
        l->count[v] = mine;
        l->offset[v] = l->layout == SOA ? at + before * l->size[v] : at;
        at += (l->layout == SOA ? all : mine) * l->size[v];
    }
}

static void arrays_init(struct arrays *a, const struct bench *b)
{
    uint64_t state = (uint64_t)b->rank;

    a->bytes = (size_t)b->largest * MIB + (NINE + 1) * PAD;
    a->data = allocate(a->bytes);
    a->back = allocate(a->bytes);
    for (size_t i = 0; i + 8 <= a->bytes; i += 8) {
        double value = chance(&state);

        memcpy(a->data + i, &value, sizeof(value));
    }
    memset(a->back, 0, a->bytes);
}

/* Where the variables are: one after the other, not quite. */
static void places(void *out[NINE], const struct load *l, uint8_t *memory)
{
    for (size_t v = 0; v < l->variables; v++) {
        out[v] = memory;
        memory += l->count[v] * l->size[v] + PAD;
    }
}

static void check_back(const struct load *l, struct arrays *a)
{
    void *data[NINE], *back[NINE];

    places(data, l, a->data);
    places(back, l, a->back);
    for (size_t v = 0; v < l->variables; v++)
        if (memcmp(data[v], back[v], l->count[v] * l->size[v]))
            fail("wrong bytes were read");
    memset(a->back, 0, a->bytes);
}

/* ---- the two ways ------------------------------------------------------- */

/* How: with a sync, by which transport (of bouma). */
struct manner {
    int sync;
    bouma_transport transport;
    uint64_t buffer_bytes; /* 0: bouma's choice */
};

typedef void act(const char *path, const struct load *l, void *const *data,
                 const struct manner *m, bouma_file_report *report);

static void check_mpi(int rc, const char *what)
{
    if (rc != MPI_SUCCESS)
        fail(what);
}

static void write_mpiio(const char *path, const struct load *l,
                        void *const *data, const struct manner *m,
                        bouma_file_report *report)
{
    MPI_File file;

    (void)report;
    check_mpi(MPI_File_open(MPI_COMM_WORLD, path,
                            MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                            &file),
              "MPI_File_open");
    for (size_t v = 0; v < l->variables; v++)
        check_mpi(MPI_File_write_at_all(file, (MPI_Offset)l->offset[v], data[v],
                                        (int)(l->count[v] * l->size[v]),
                                        MPI_BYTE, MPI_STATUS_IGNORE),
                  "MPI_File_write_at_all");
    if (m->sync)
        check_mpi(MPI_File_sync(file), "MPI_File_sync");
    check_mpi(MPI_File_close(&file), "MPI_File_close");
}

static void read_mpiio(const char *path, const struct load *l,
                       void *const *data, const struct manner *m,
                       bouma_file_report *report)
{
    MPI_File file;

    (void)m;
    (void)report;
    check_mpi(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY,
                            MPI_INFO_NULL, &file),
              "MPI_File_open");
    for (size_t v = 0; v < l->variables; v++)
        check_mpi(MPI_File_read_at_all(file, (MPI_Offset)l->offset[v], data[v],
                                       (int)(l->count[v] * l->size[v]),
                                       MPI_BYTE, MPI_STATUS_IGNORE),
                  "MPI_File_read_at_all");
    check_mpi(MPI_File_close(&file), "MPI_File_close");
}

static void check(int rc, const bouma_file *file)
{
    if (rc)
        fail(bouma_file_message(file));
}

static void move_bouma(const char *path, const struct load *l,
                       void *const *data, const struct manner *m, int reading,
                       bouma_file_report *report)
{
    bouma_file *file = NULL;
    bouma_options o = {.size = sizeof(o)};
    int rc;

    o.durability = m->sync ? BOUMA_DURABILITY_DURABLE : BOUMA_DURABILITY_FAST;
    o.transport = m->transport;
    o.buffer_bytes = m->buffer_bytes;
    rc = bouma_file_open_mpi(
        &file, MPI_COMM_WORLD, path,
        reading ? BOUMA_FILE_MODE_READ : BOUMA_FILE_MODE_CREATE, &o);
    check(rc, file);
    check(bouma_file_declare(file, l->variables, l->count, l->size, l->offset),
          file);
    rc = reading ? bouma_file_read(file, data)
                 : bouma_file_write(file, (const void *const *)data);
    check(rc, file);
    check(bouma_file_report_get(SIZED(report), file), file);
    check(bouma_file_close(file), file);
    bouma_file_free(file);
}

static void write_bouma(const char *path, const struct load *l,
                        void *const *data, const struct manner *m,
                        bouma_file_report *report)
{
    move_bouma(path, l, data, m, 0, report);
}

static void read_bouma(const char *path, const struct load *l,
                       void *const *data, const struct manner *m,
                       bouma_file_report *report)
{
    move_bouma(path, l, data, m, 1, report);
}

/* ---- measuring ---------------------------------------------------------- */

static void remove_file(const struct bench *b, const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

static double seconds_of(act *doing, const char *path, const struct load *l,
                         uint8_t *memory, const struct manner *m)
{
    bouma_file_report report = {.size = sizeof(report)};
    void *data[NINE];
    double begun;

    places(data, l, memory);
    MPI_Barrier(MPI_COMM_WORLD);
    begun = measure_now();
    doing(path, l, data, m, &report);
    return slowest(measure_now() - begun);
}

/* Write as many bytes by one process, in pieces of 1 MiB. */
static double write_floor(const struct bench *b, const char *path,
                          const struct load *l, const uint8_t *memory)
{
    double begun = measure_now();
    int file = -1;

    if (b->rank == 0)
        file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (b->rank == 0 && file < 0)
        fail("a file cannot be made");
    for (uint64_t at = 0; at < l->bytes && b->rank == 0; at += MIB) {
        uint64_t n = l->bytes - at < MIB ? l->bytes - at : MIB;
        const uint8_t *data = memory + at % ((uint64_t)b->largest * MIB);

        if (pwrite(file, data, n, (off_t)at) != (ssize_t)n)
            fail("a file cannot be written");
    }
    if (b->rank == 0)
        close(file);
    return slowest(b->rank == 0 ? measure_now() - begun : 0);
}

/* Two ways, in turns, and a plain write. */
struct pair {
    act *write[2], *read[2];
    struct manner manner[2];
    const char *names[2];
    struct times write_times[2], read_times[2], floor;
};

/* What is short is disturbed easily, and can be repeated more often. */
static int repetitions_of(const struct bench *b, const struct load *l)
{
    int n = b->repetitions * (l->mib < 8 ? 5 : l->mib < 64 ? 3 : 1);

    return n < SCORE_MAX_TIMES ? n : SCORE_MAX_TIMES;
}

static void measure_pair(struct pair *p, const struct bench *b,
                         const struct load *l, struct arrays *a)
{
    char paths[2][AGGREGATE_PATH_BYTES];
    int n = repetitions_of(b, l);

    for (int k = 0; k < 2; k++)
        p->write_times[k].count = p->read_times[k].count = 0;
    p->floor.count = 0;
    aggregate_path(paths[0], b, "left.dat");
    aggregate_path(paths[1], b, "right.dat");
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 2; k++) {
            int backend = (i + k) % 2;

            remove_file(b, paths[backend]);
            times_add(&p->write_times[backend],
                      seconds_of(p->write[backend], paths[backend], l, a->data,
                                 &p->manner[backend]));
        }
        for (int k = 0; k < 2; k++) {
            int backend = (i + k) % 2;

            times_add(&p->read_times[backend],
                      seconds_of(p->read[backend], paths[1 - backend], l,
                                 a->back, &p->manner[backend]));
            check_back(l, a);
        }
        remove_file(b, paths[0]);
        remove_file(b, paths[1]);
        times_add(&p->floor, write_floor(b, paths[0], l, a->data));
        remove_file(b, paths[0]);
    }
}

static double ratio_of(const struct times t[2])
{
    return times_median(&t[1]) / times_median(&t[0]);
}

static void score_pair(const struct pair *p, const struct load *l)
{
    char load[80], name[120];

    snprintf(load, sizeof(load), "%s, %s, %d MiB", layout_names[l->layout],
             distribution_names[l->distribution], l->mib);
    snprintf(name, sizeof(name), "write, %s: %s", load, p->names[1]);
    score_ratio(name, &p->write_times[1], p->names[0], &p->write_times[0],
                SCORE_TOLD, 0);
    snprintf(name, sizeof(name), "write, %s: %s over a plain write", load,
             p->names[1]);
    score_ratio(name, &p->write_times[1], "a plain write by one process",
                &p->floor, SCORE_TOLD, 0);
    snprintf(name, sizeof(name), "read, %s: %s", load, p->names[1]);
    score_ratio(name, &p->read_times[1], p->names[0], &p->read_times[0],
                SCORE_TOLD, 0);
}

/* ---- rows --------------------------------------------------------------- */

/* The largest ratio of a kind. */
struct worst {
    double all, random_nine, read;
};

static void add_row(struct worst *w, const struct load *l, const struct pair *p)
{
    double ratio = ratio_of(p->write_times), read = ratio_of(p->read_times);

    w->all = fmax(w->all, ratio);
    w->read = fmax(w->read, read);
    if (l->distribution == RANDOM && l->layout != ONE)
        w->random_nine = fmax(w->random_nine, ratio);
}

static void row(const struct bench *b, struct arrays *a, struct worst *w,
                struct pair *p, struct load l)
{
    if (l.mib > b->largest)
        return;
    load_init(&l, b);
    measure_pair(p, b, &l, a);
    if (b->rank == 0)
        score_pair(p, &l);
    add_row(w, &l, p);
}

/* MPI-IO with its own settings. */
static void beside_mpiio(const struct bench *b, struct arrays *a)
{
    static const int sizes[] = {1, 8, 64};
    static struct pair p = {.write = {write_mpiio, write_bouma},
                            .read = {read_mpiio, read_bouma},
                            .names = {"mpi-io", "bouma"}};
    struct worst w = {0, 0, 0};

    if (b->rank == 0)
        score_part("one shared file");
    for (int s = 0; s < 3; s++)
        for (int layout = 0; layout < LAYOUTS; layout++)
            for (int d = 0; d < DISTRIBUTIONS; d++)
                row(b, a, &w, &p,
                    (struct load){.layout = (enum layout)layout,
                                  .distribution = (enum distribution)d,
                                  .mib = sizes[s]});
    if (b->rank > 0)
        return;
    score("write, bouma over mpi-io, all rows: largest ratio", "", w.all,
          SCORE_AT_MOST, 1);
    score("write, bouma over mpi-io, random sizes, nine: largest ratio", "",
          w.random_nine, SCORE_AT_MOST, 0.5);
    score("read, bouma over mpi-io, all rows: largest ratio", "", w.read,
          SCORE_AT_MOST, 1);
}

static void with_sync(const struct bench *b, struct arrays *a)
{
    static struct pair p = {.write = {write_mpiio, write_bouma},
                            .read = {read_mpiio, read_bouma},
                            .manner = {{.sync = 1}, {.sync = 1}},
                            .names = {"mpi-io", "bouma"}};
    struct worst w = {0, 0, 0};

    if (b->rank == 0)
        score_part("one shared file, synced before it is closed");
    for (int layout = AOS; layout <= SOA; layout++)
        row(b, a, &w, &p,
            (struct load){.layout = (enum layout)layout,
                          .distribution = RANDOM,
                          .mib = 8});
    if (b->rank == 0)
        score("write, bouma over mpi-io: largest ratio", "", w.all,
              SCORE_AT_MOST, 1);
}

/* The default is to be the better one. */
static void transports(const struct bench *b, struct arrays *a)
{
    static const int sizes[] = {1, 8, 64};
    static struct pair p = {
        .write = {write_bouma, write_bouma},
        .read = {read_bouma, read_bouma},
        .manner = {{.transport = BOUMA_TRANSPORT_WINDOWS},
                   {.transport = BOUMA_TRANSPORT_MESSAGES}},
        .names = {"by windows", "by messages, the default"}};
    struct worst w = {0, 0, 0};

    if (b->rank == 0)
        score_part("transports");
    for (int s = 0; s < 3; s++)
        for (int layout = AOS; layout <= SOA; layout++)
            row(b, a, &w, &p,
                (struct load){.layout = (enum layout)layout,
                              .distribution = RANDOM,
                              .mib = sizes[s]});
    if (b->rank == 0)
        score("write, messages over windows: largest ratio", "", w.all,
              SCORE_AT_MOST, 1);
}

/* ---- memory ------------------------------------------------------------- */

/* So far the most of this process, in MiB. */
static double most_resident(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* Each rank writes 20 times as much as its buffers take. */
static void memory(const struct bench *b, struct arrays *a)
{
    struct load l = {.layout = SOA, .distribution = UNIFORM, .mib = 40};
    struct manner m = {.transport = 0, .buffer_bytes = MIB};
    bouma_file_report report = {.size = sizeof(report)};
    char path[AGGREGATE_PATH_BYTES];
    void *data[NINE];
    double before, grown;

    if (b->largest < l.mib)
        return;
    load_init(&l, b);
    aggregate_path(path, b, "memory.dat");
    places(data, &l, a->data);
    remove_file(b, path);
    before = most_resident();
    write_bouma(path, &l, data, &m, &report);
    grown = slowest(most_resident() - before);
    remove_file(b, path);
    if (b->rank > 0)
        return;
    printf("\nmemory: %.1f MiB for each of %lld writers, in %lld rounds\n",
           (double)report.bytes / MIB / (double)report.writers,
           (long long)report.writers, (long long)report.rounds);
    score_part("memory of a writer");
    score("its 2 buffers", "MiB", 2 * (double)report.buffer_bytes / MIB,
          SCORE_TOLD, 0);
    score("growth of a process, its most", "MiB", grown, SCORE_AT_MOST, 8);
}

/* ---- files that are written again --------------------------------------- */

static void *count_resize(void *user, void *block, size_t bytes)
{
    ++*(long *)user;
    return realloc(block, bytes);
}

static void count_release(void *user, void *block)
{
    (void)user;
    free(block);
}

/* Requests for memory, on the rank that has most of them, by writing to a file,
 * and to the next ones of the same shape. */
static void again(const struct bench *b, struct arrays *a)
{
    enum { FILES = 4 };
    struct load l = {.layout = SOA, .distribution = RANDOM, .mib = 1};
    long count = 0;
    bouma_allocator counting = {.size = sizeof(counting),
                                .user = &count,
                                .resize = count_resize,
                                .release = count_release};
    bouma_options o = {.size = sizeof(o),
                       .durability = BOUMA_DURABILITY_FAST,
                       .allocator = &counting};
    char paths[FILES][AGGREGATE_PATH_BYTES], name[32];
    double first = 0, next = 0;
    bouma_file *file = NULL;
    void *data[NINE];

    load_init(&l, b);
    places(data, &l, a->data);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof(name), "again.%d", i);
        aggregate_path(paths[i], b, name);
        if (i) {
            check(bouma_file_reopen(file, paths[i], BOUMA_FILE_MODE_CREATE),
                  file);
        } else {
            int rc = bouma_file_open_mpi(&file, MPI_COMM_WORLD, paths[i],
                                         BOUMA_FILE_MODE_CREATE, &o);

            check(rc, file);
            check(bouma_file_declare(file, l.variables, l.count, l.size,
                                     l.offset),
                  file);
        }
        count = 0;
        check(bouma_file_write(file, (const void *const *)data), file);
        *(i ? &next : &first) = slowest((double)count);
    }
    check(bouma_file_close(file), file);
    bouma_file_free(file);
    for (int i = 0; i < FILES; i++)
        remove_file(b, paths[i]);
    if (b->rank > 0)
        return;
    score_part("files of the same shape, one after the other");
    score("requests for memory by the first write", "", first, SCORE_TOLD, 0);
    score("requests for memory by the last write", "", next, SCORE_AT_MOST, 0);
}

/* ---- all of it ---------------------------------------------------------- */

/* Which MPI-IO this is, as far as it tells. */
static void print_mpi(const struct bench *b)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING], path[AGGREGATE_PATH_BYTES];
    char value[64];
    int length, flag = 0;
    MPI_File file;
    MPI_Info info;

    aggregate_path(path, b, "info.dat");
    MPI_Get_library_version(version, &length);
    check_mpi(MPI_File_open(MPI_COMM_WORLD, path,
                            MPI_MODE_CREATE | MPI_MODE_WRONLY |
                                MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &file),
              "MPI_File_open");
    MPI_File_get_info(file, &info);
    MPI_Info_get(info, "romio_cb_write", sizeof(value) - 1, value, &flag);
    MPI_Info_free(&info);
    MPI_File_close(&file);
    if (b->rank == 0)
        printf("%.*s\nMPI-IO is %s, with its default settings\n",
               (int)strcspn(version, ","), version,
               flag ? "ROMIO" : "not ROMIO (in Open MPI: OMPIO)");
}

void bench_files(const struct bench *b)
{
    struct arrays arrays;

    print_mpi(b);
    arrays_init(&arrays, b);
    if (strstr("memory", b->only))
        memory(b, &arrays);
    if (strstr("again", b->only))
        again(b, &arrays);
    if (strstr("mpi-io", b->only))
        beside_mpiio(b, &arrays);
    if (strstr("sync", b->only))
        with_sync(b, &arrays);
    if (strstr("transports", b->only))
        transports(b, &arrays);
    free(arrays.data);
    free(arrays.back);
}
