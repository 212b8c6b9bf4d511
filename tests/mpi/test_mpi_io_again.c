/* test_mpi_io_again.c -- plain files that are written again and again: what was
 * planned and made for the first is there for the next, in the same file and in
 * others, and the bytes are those of files that are written for themselves. */
#include "blocks.h"
#include "pieces.h"

#include <unistd.h>

#include "../helpers/check.h"
#include "comm/comm.h"
#include "engine/plain.h"
#include "fault_alloc.h"

enum { STEPS = 5, LARGEST = 60000, CASES = 24 };

/* ---- what calls need ----------------------------------------------------- */

static struct {
    struct bm_comm_functions table; /* counts, then calls those: */
    const struct bm_comm_functions *of;
    long reductions, exchanges, transfers, others;
} counted;

static int count_reduce(struct bm_comm *comm, uint64_t *values, int count,
                        int sums)
{
    counted.reductions++;
    return counted.of->reduce(comm, values, count, sums);
}

static int count_broadcast(struct bm_comm *comm, void *data, size_t bytes,
                           int root)
{
    counted.others++;
    return counted.of->broadcast(comm, data, bytes, root);
}

static int count_gather(struct bm_comm *comm, const void *data, size_t bytes,
                        void *all)
{
    counted.others++;
    return counted.of->gather(comm, data, bytes, all);
}

static int count_exchange(struct bm_comm *comm, const struct bm_message *sends,
                          size_t send_count, const struct bm_message *receives,
                          size_t receive_count)
{
    counted.exchanges += (long)send_count;
    return counted.of->exchange(comm, sends, send_count, receives,
                                receive_count);
}

static int count_start(struct bm_transfer *t, int channel,
                       const struct bm_message *messages, size_t count,
                       int sending)
{
    counted.transfers += sending ? (long)count : 0;
    return counted.of->start(t, channel, messages, count, sending);
}

static void count_calls_of(struct bm_comm *comm)
{
    counted.of = comm->functions;
    counted.table = *comm->functions;
    counted.table.reduce = count_reduce;
    counted.table.broadcast = count_broadcast;
    counted.table.gather = count_gather;
    counted.table.exchange = count_exchange;
    counted.table.start = count_start;
    comm->functions = &counted.table;
}

static void count_from_here(struct fault_alloc *memory)
{
    fault_alloc_arm(memory, 0, 0);
    counted.reductions = counted.exchanges = 0;
    counted.transfers = counted.others = 0;
}

/* ---- cases --------------------------------------------------------------- */

struct again {
    struct ranks *ranks;
    int number;
    bouma_options options;
    struct fault_alloc memory;
    bouma_file *file;
    int group, rank, size;
    struct pieces pieces;
    struct hand hand;
    int made; /* buffers, when the first step was written */
};

static const char *step_path(const struct again *g, char out[512],
                             const char *name, int step)
{
    return path_in(g->ranks, out, name, g->number * 100 + step);
}

static void file_of_group(const struct again *g, char out[600],
                          const char *path)
{
    if (g->options.files > 1)
        snprintf(out, 600, "%s.%04d", path, g->group);
    else
        snprintf(out, 600, "%s", path);
}

static void open_first(struct again *g)
{
    uint64_t random = 13 * (uint64_t)g->number;
    char path[512];

    g->options = (bouma_options){.size = sizeof(g->options)};
    g->options.durability = BOUMA_DURABILITY_FAST;
    g->options.transport = (bouma_transport)(g->number % 3);
    g->options.buffer_bytes = g->number % 2 ? 4096 : 20000;
    g->options.files = g->number % 4 == 3 && g->ranks->size > 1 ? 2 : 0;
    g->options.place = (bouma_place)(g->number / 3 % 3);
    g->options.writers = g->number % 5;
    g->options.allocator = &g->memory.table;
    fault_alloc_init(&g->memory);
    REQUIRE(!bouma_file_open_mpi(&g->file, MPI_COMM_WORLD,
                                 step_path(g, path, "again", 0),
                                 BOUMA_FILE_MODE_CREATE, &g->options));
    CHECK_EQ(bouma_file_group(g->file, &g->group, &g->rank, &g->size),
             BOUMA_OK);
    random += 1000 * (uint64_t)g->group;
    pieces_disjoint(&g->pieces, g->size, LARGEST, &random);
    random += (uint64_t)g->rank;
    hand_make(&g->hand, &g->pieces, g->rank, &random);
    count_calls_of(g->file->comm);
}

static void write_step(struct again *g, int step)
{
    bouma_file_report report = {.size = sizeof(report)};
    int rc;

    hand_fill(&g->hand, g->group, (unsigned)step);
    count_from_here(&g->memory);
    CHECK_EQ(hand_declare(&g->hand, g->file), BOUMA_OK);
    if (step) { /* all that is left of it is the agreement that opens a call */
        CHECK_EQ(g->memory.calls, 0);
        CHECK_EQ(counted.reductions, 1);
        CHECK_EQ(counted.exchanges + counted.transfers + counted.others, 0);
    } else {
        CHECK(g->memory.calls > 0);
    }
    count_from_here(&g->memory);
    rc = bouma_file_write(g->file, (const void *const *)g->hand.data);
    if (rc)
        printf("case %d: %s\n", g->number, bouma_file_message(g->file));
    CHECK_EQ(rc, BOUMA_OK);
    if (step) { /* no more than the bytes themselves, and who is ready */
        CHECK_EQ(g->memory.calls, 0);
        CHECK(counted.reductions <= 4);
        CHECK_EQ(counted.exchanges + counted.others, 0);
        CHECK_EQ(g->file->engine.pool.made, g->made);
    }
    g->made = g->file->engine.pool.made;
    CHECK_EQ(bouma_file_report_get(&report, g->file), BOUMA_OK);
    CHECK(report.bytes >= (g->rank ? 0 : pieces_bytes(&g->pieces)));
}

/* By one that was made for this step alone. */
static void check_step(struct again *g, int step)
{
    char path[512], mine[600];
    struct image image;

    image_init(&image, 0, g->group, 0);
    image_write(&image, &g->pieces, g->group, (unsigned)step);
    file_of_group(g, mine, step_path(g, path, "again", step));
    MPI_Barrier(MPI_COMM_WORLD);
    if (g->rank == 0)
        CHECK(image_is_file(&image, mine));
    MPI_Barrier(MPI_COMM_WORLD);
    image_free(&image);
}

static void read_step(struct again *g, int step)
{
    hand_clear(&g->hand);
    count_from_here(&g->memory);
    CHECK_EQ(bouma_file_read(g->file, g->hand.data), BOUMA_OK);
    if (step)
        CHECK_EQ(g->memory.calls, 0);
    CHECK_EQ(hand_wrong(&g->hand, g->group, (unsigned)step), 0);
}

static void steps_repeat_the_first(struct ranks *ranks, int number)
{
    struct again g = {.ranks = ranks, .number = number};
    char path[512];

    open_first(&g);
    for (int step = 0; step < STEPS; step++) {
        if (step) {
            count_from_here(&g.memory);
            CHECK_EQ(bouma_file_reopen(g.file,
                                       step_path(&g, path, "again", step),
                                       BOUMA_FILE_MODE_CREATE),
                     BOUMA_OK);
            CHECK_EQ(counted.exchanges + counted.transfers + counted.others, 0);
        }
        write_step(&g, step);
    }
    for (int step = 0; step < STEPS; step++) {
        CHECK_EQ(bouma_file_reopen(g.file, step_path(&g, path, "again", step),
                                   BOUMA_FILE_MODE_READ),
                 BOUMA_OK);
        check_step(&g, step);
        read_step(&g, step);
    }
    CHECK_EQ(bouma_file_close(g.file), BOUMA_OK);
    bouma_file_free(g.file);
    CHECK_EQ(g.memory.live, 0);
    hand_free(&g.hand);
    pieces_free(&g.pieces);
}

/* One rank declares something else: all plan anew, and the bytes are right. */
static void one_that_differs_changes_the_plan(struct ranks *r)
{
    enum { BYTES = 9000 };
    static uint8_t data[BYTES];
    const void *from = data;
    uint64_t size = 1, offset = (uint64_t)r->rank * BYTES, count = BYTES;
    bouma_options o = {.size = sizeof(o)};
    bouma_file *file;
    char path[512];
    struct image image;

    o.durability = BOUMA_DURABILITY_FAST;
    o.buffer_bytes = 2048;
    path_in(r, path, "differs", 0);
    image_init(&image, BYTES * (size_t)r->size, 0, 0);
    memset(image.bytes, 0, image.size);
    CHECK_EQ(bouma_file_open_mpi(&file, MPI_COMM_WORLD, path,
                                 BOUMA_FILE_MODE_CREATE, &o),
             BOUMA_OK);
    for (int step = 0; step < 6; step++) {
        int changes = step / 2 % r->size; /* who has less this time */

        count = r->rank == changes ? BYTES - 7 * (uint64_t)step : BYTES;
        memset(data, 10 * step + r->rank + 1, BYTES);
        for (int i = 0; i < r->size; i++)
            memset(image.bytes + (size_t)i * BYTES, 10 * step + i + 1,
                   i == changes ? BYTES - 7 * (size_t)step : BYTES);
        CHECK_EQ(bouma_file_declare(file, 1, &count, &size, &offset), BOUMA_OK);
        CHECK_EQ(bouma_file_write(file, &from), BOUMA_OK);
        MPI_Barrier(MPI_COMM_WORLD);
        if (r->rank == 0)
            CHECK(image_is_file(&image, path));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_EQ(bouma_file_close(file), BOUMA_OK);
    bouma_file_free(file);
    image_free(&image);
}

/* A file that cannot be opened: one status, and the handle can only be freed. */
static void a_next_file_may_not_be_there(struct ranks *r)
{
    uint64_t count = 10, size = 1, offset = 10 * (uint64_t)r->rank;
    bouma_options o = {.size = sizeof(o)};
    bouma_file *file;
    char path[512], wrong[600];

    o.durability = BOUMA_DURABILITY_FAST;
    path_in(r, path, "there", 0);
    CHECK_EQ(bouma_file_open_mpi(&file, MPI_COMM_WORLD, path,
                                 BOUMA_FILE_MODE_CREATE, &o),
             BOUMA_OK);
    CHECK_EQ(bouma_file_declare(file, 1, &count, &size, &offset), BOUMA_OK);
    CHECK_EQ(bouma_file_reopen(file, path, (bouma_file_mode)9), BOUMA_EINVAL);
    CHECK(same_on_all(BOUMA_EINVAL, bouma_file_message(file)));
    CHECK_EQ(bouma_file_reopen(file, NULL, BOUMA_FILE_MODE_READ), BOUMA_EINVAL);
    if (r->size > 1) {
        snprintf(wrong, sizeof(wrong), "%s.%d", path, r->rank == 1);
        CHECK_EQ(bouma_file_reopen(file, wrong, BOUMA_FILE_MODE_CREATE),
                 BOUMA_EMISMATCH);
        CHECK(same_on_all(BOUMA_EMISMATCH, bouma_file_message(file)));
    }
    snprintf(wrong, sizeof(wrong), "%s.not/there", path);
    CHECK(bouma_file_reopen(file, wrong, BOUMA_FILE_MODE_READ) != BOUMA_OK);
    CHECK(same_on_all(1, bouma_file_message(file)));
    CHECK(bouma_file_close(file) != BOUMA_OK);
    bouma_file_free(file);
    CHECK_EQ(bouma_file_reopen(NULL, path, BOUMA_FILE_MODE_READ), BOUMA_EINVAL);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (int i = 0; i < CASES; i++)
        steps_repeat_the_first(&ranks, i);
    one_that_differs_changes_the_plan(&ranks);
    a_next_file_may_not_be_there(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
