/* test_mpi_trace.c -- the trace of a dataset: it has what every rank did, and
 * whatever becomes of it, the dataset is written. */
#include <sys/stat.h>
#include <unistd.h>

#include "life.h"

#include "../helpers/check.h"
#include "../helpers/trace_lines.h"
#include "dataset/dataset.h"

static const char *const stages[] = {"describe",        "plan",   "distribute",
                                     "shape particles", "assign", "ship",
                                     "store",           "commit"};
enum { STAGES = sizeof(stages) / sizeof(stages[0]) };

static const struct mode {
    const char *name;
    int async, predict;
    bouma_transport transport;
    bouma_codec codec;
} modes[] = {
    {"usual", 0, 0, 0, 0},
    {"raw", 0, 0, 0, BOUMA_CODEC_RAW},
    {"messages", 0, 0, BOUMA_TRANSPORT_MESSAGES, 0},
    {"async", 1, 0, 0, 0},
    {"predict", 0, BOUMA_PREDICT_ON, 0, 0},
};
enum { MODES = sizeof(modes) / sizeof(modes[0]) };

/* Whether an action succeeds in all its acts from 'first' to 'last'. */
static void acts(struct life *l, enum life_act first, enum life_act last)
{
    for (int act = first; act <= (int)last; act++) {
        int rc = life_act(l, (enum life_act)act);

        CHECK_EQ(rc, BOUMA_OK);
        if (rc)
            printf("%s: %s\n", life_names[act], life_message(l));
    }
}

/* Of each subfile that the trace tells of: as many bytes as were written to
 * it. A file that was written by predicted sizes may have gaps. */
static void check_bytes(const struct trace_lines *t, const struct life *l,
                        int gaps)
{
    size_t files = 0;

    for (size_t i = 0; i < t->count; i++) {
        const struct trace_line *e = &t->events[i];
        unsigned long long bytes = 0;
        char path[1024];
        struct stat st;

        if (strcmp(e->name, "open") != 0 || strncmp(e->file, "steps/", 6) ||
            strstr(e->file, "manifest"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", l->path, e->file);
        for (size_t k = 0; k < t->count; k++)
            if (!strcmp(t->events[k].name, "write") &&
                !strcmp(t->events[k].file, e->file))
                bytes += t->events[k].bytes;
        REQUIRE(!stat(path, &st));
        CHECK(gaps ? bytes <= (unsigned long long)st.st_size
                   : bytes == (unsigned long long)st.st_size);
        files += bytes > 0;
    }
    CHECK(files > 0);
}

static void check_written(const char *path, const struct life *l,
                          const struct mode *m)
{
    struct trace_lines t;

    CHECK(trace_load(&t, path));
    for (int r = 0; r < l->ranks->size; r++) {
        for (int i = 0; i < STAGES; i++)
            if (!trace_count(&t, r, "stage", stages[i]))
                printf("%s: rank %d has no stage %s\n", m->name, r, stages[i]);
        for (int i = 0; i < STAGES; i++)
            CHECK(trace_count(&t, r, "stage", stages[i]) > 0);
        CHECK_EQ(trace_count(&t, r, "call", "write step"), 2);
        CHECK(trace_count(&t, r, "exchange", "reduce") > 0);
        CHECK(trace_count(&t, r, "chunk", "encode chunk") > 0);
    }
    CHECK_EQ(trace_count(&t, l->ranks->size, NULL, NULL), 0);
    CHECK(trace_count(&t, -1, "round", "store round") > 0);
    CHECK(trace_count(&t, -1, "round", "store file") > 0);
    CHECK(trace_count(&t, -1, "buffer", "gather round") > 0);
    CHECK(trace_count(&t, 0, "file", "rename") > 0);
    CHECK_EQ(trace_count(&t, -1, "round", "end files") > 0, m->async);
    CHECK_EQ(trace_crossed(&t), 0);
    CHECK_EQ(t.dropped, 0);
    CHECK_TEXT(t.head, "\"clock_accuracy_us\":");
    CHECK_TEXT(t.head, l->path);
    check_bytes(&t, l, m->predict);
    trace_drop(&t);
}

static void check_read(const char *path, const struct life *l)
{
    struct trace_lines t;

    CHECK(trace_load(&t, path));
    for (int r = 0; r < l->ranks->size; r++) {
        CHECK_EQ(trace_count(&t, r, "call", "open step"), 1);
        CHECK_EQ(trace_count(&t, r, "call", "read boxes of all"), 1);
        CHECK_EQ(trace_count(&t, r, "call", "read for restart"), 1);
    }
    CHECK(trace_count(&t, -1, "chunk", "decode chunk") > 0);
    CHECK(trace_count(&t, -1, "stage", "fetch") > 0);
    CHECK(trace_count(&t, -1, "file", "read") > 0);
    CHECK_EQ(trace_count(&t, -1, "file", "write"), 0);
    CHECK_EQ(trace_crossed(&t), 0);
    trace_drop(&t);
}

/* Both handles are of one process: the second trace gets another name. */
static void every_rank_is_in_the_trace(const struct ranks *r)
{
    for (int i = 0; i < MODES; i++) {
        char first[512], second[512];
        struct life l;

        life_init(&l, r, i);
        snprintf(first, sizeof(first), "%s/m%d.json", r->dir, i);
        snprintf(second, sizeof(second), "%s/m%d-2.json", r->dir, i);
        l.codec = modes[i].codec;
        l.options.async = modes[i].async;
        l.options.predict = (bouma_predict)modes[i].predict;
        l.options.transport = modes[i].transport;
        l.options.trace = first;
        acts(&l, LIFE_CREATE, LIFE_CLOSE);
        CHECK(!bouma_dataset_note(l.ds, 0));
        if (r->rank == 0)
            check_written(first, &l, &modes[i]);
        acts(&l, LIFE_OPEN, LIFE_RESTART);
        acts(&l, LIFE_CLOSE, LIFE_CLOSE);
        if (r->rank == 0)
            check_read(second, &l);
        CHECK_EQ(l.wrong, 0);
        life_end(&l, 0);
    }
}

static void without_the_option_there_is_none(const struct ranks *r)
{
    struct life l;

    life_init(&l, r, 100);
    acts(&l, LIFE_CREATE, LIFE_CLOSE);
    CHECK(!l.ds->engine.tracing.trace && !l.ds->comm->trace);
    CHECK(l.ds->options.io == bouma_io_posix());
    life_end(&l, 0);
}

/* Rank 0 has little room, the others have none at all. */
static void a_full_buffer_drops_events(const struct ranks *r)
{
    struct trace_lines t;
    char path[512];
    struct life l;

    life_init(&l, r, 101);
    snprintf(path, sizeof(path), "%s/full.json", r->dir);
    l.options.trace = path;
    acts(&l, LIFE_CREATE, LIFE_CREATE);
    l.ds->engine.tracing.trace->room = r->rank ? 0 : 20;
    acts(&l, LIFE_FIRST_STEP, LIFE_CLOSE);
    CHECK(!bouma_dataset_note(l.ds, 0));
    if (r->rank == 0) {
        CHECK(trace_load(&t, path));
        CHECK_EQ(t.count, 20);
        CHECK(t.dropped > 20);
        CHECK(t.names >= 3 * (size_t)r->size);
        trace_drop(&t);
    }
    life_end(&l, 0);
}

/* All ranks close it, with the same note, and what was written can be read. */
static void a_trace_that_cannot_be_written_is_a_note(const struct ranks *r)
{
    char mine[512], other[512] = "no trace\n", path[512];
    struct life l;
    FILE *f;

    snprintf(mine, sizeof(mine), "%s/precious", r->dir);
    if (r->rank == 0) {
        f = fopen(mine, "w");
        REQUIRE(f && fputs(other, f) >= 0 && !fclose(f));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", r->dir,
                 i == 0   ? "nowhere/trace.json"
                 : i == 1 ? "precious"
                          : "precious/trace.json");
        life_init(&l, r, 102 + i);
        l.options.trace = path;
        acts(&l, LIFE_CREATE, LIFE_CLOSE);
        REQUIRE(bouma_dataset_note(l.ds, 0));
        CHECK_TEXT(bouma_dataset_note(l.ds, 0), path);
        acts(&l, LIFE_OPEN, LIFE_RESTART);
        CHECK_EQ(l.wrong, 0);
        life_end(&l, 0);
    }
    memset(other, 0, sizeof(other));
    if (r->rank == 0) {
        f = fopen(mine, "r");
        REQUIRE(f && fgets(other, sizeof(other), f) && !fclose(f));
        CHECK(!strcmp(other, "no trace\n"));
    }
}

/* One that is not closed has no trace, unless it is that of one process: nobody
 * waits for anybody. */
static void one_rank_may_free_it(const struct ranks *r)
{
    char path[256];
    struct life l;

    snprintf(path, sizeof(path), "%.200s/freed.json", r->dir);
    life_init(&l, r, 110);
    l.options.trace = path;
    acts(&l, LIFE_CREATE, LIFE_FIRST_STEP);
    if (r->rank == r->size - 1) {
        bouma_dataset_free(l.ds);
        l.ds = NULL;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    life_end(&l, 0);
    CHECK_EQ(access(path, F_OK) == 0, r->size == 1);
}

/* The second trace has no directory: that fails nothing. */
static void plain_files_are_traced(const struct ranks *r)
{
    uint64_t count = 10000, size = 4, offset = count * size * (uint64_t)r->rank;
    int32_t *numbers = calloc(count, size);
    const void *data = numbers;
    char path[512], trace[512], name[528];
    struct trace_lines t;
    unsigned long long bytes = 0;

    REQUIRE(numbers);
    snprintf(path, sizeof(path), "%s/plain", r->dir);
    snprintf(trace, sizeof(trace), "%s/plain.json", r->dir);
    for (int i = 0; i < 2; i++) {
        bouma_options opts = {.size = sizeof(opts)};
        bouma_file *file;

        snprintf(name, sizeof(name), "%s%s", trace, i ? "/nowhere" : "");
        opts.trace = name;
        opts.buffer_bytes = 4096;
        CHECK_EQ(bouma_file_open_mpi(&file, MPI_COMM_WORLD, path,
                                     BOUMA_FILE_MODE_CREATE, &opts),
                 BOUMA_OK);
        CHECK_EQ(bouma_file_declare(file, 1, &count, &size, &offset), BOUMA_OK);
        CHECK_EQ(bouma_file_write(file, &data), BOUMA_OK);
        CHECK_EQ(bouma_file_close(file), BOUMA_OK);
        if (i)
            CHECK_TEXT(bouma_file_message(file), "nowhere");
        bouma_file_free(file);
    }
    if (r->rank == 0) {
        CHECK(trace_load(&t, trace));
        for (size_t i = 0; i < t.count; i++)
            if (!strcmp(t.events[i].name, "write"))
                bytes += t.events[i].bytes;
        CHECK_EQ(bytes, count * size * (uint64_t)r->size);
        CHECK(trace_count(&t, -1, "round", "store round") > 0);
        CHECK_EQ(trace_crossed(&t), 0);
        trace_drop(&t);
    }
    free(numbers);
}

static void ranks_that_differ_are_told(const struct ranks *r)
{
    char path[512];
    struct life l;

    life_init(&l, r, 111);
    snprintf(path, sizeof(path), "%s/one.json", r->dir);
    if (r->rank == 1)
        l.options.trace = path;
    CHECK_EQ(life_act(&l, LIFE_CREATE),
             r->size > 1 ? BOUMA_EMISMATCH : BOUMA_OK);
    if (r->size > 1)
        CHECK_TEXT(life_message(&l),
                   "with another text for option 'trace' than rank 0;");
    life_end(&l, 0);
}

int main(int argc, char **argv)
{
    struct ranks r;

    ranks_init(&r, &argc, &argv);
    every_rank_is_in_the_trace(&r);
    without_the_option_there_is_none(&r);
    a_full_buffer_drops_events(&r);
    a_trace_that_cannot_be_written_is_a_note(&r);
    one_rank_may_free_it(&r);
    plain_files_are_traced(&r);
    ranks_that_differ_are_told(&r);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
