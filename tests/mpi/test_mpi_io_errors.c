/* test_mpi_io_errors.c -- plain files: a mistake or a failure on one rank gives
 * one status and one message on all of them, hangs nobody, and the next call
 * works; each call of the storage and each request for memory fails in turn.
 *
 *   test_mpi_io_errors [STRIDE]   only every STRIDE-th call fails */
#include "blocks.h"
#include "pieces.h"

#include <errno.h>
#include <sys/stat.h>

#include "../helpers/check.h"
#include "fault_alloc.h"
#include "fault_io.h"

enum { PART = 3000, PARTS = 3 };

/* A file in which each rank has some parts of as many bytes, in turns. */
struct setting {
    struct ranks *ranks;
    int last; /* this is the last rank: the one that makes mistakes */
    char path[512];
    bouma_options options;
    struct fault_io io;
    struct fault_alloc memory;
    struct pieces pieces;
    struct hand hand;
    struct image image;
};

static void set_up(struct setting *s, struct ranks *ranks)
{
    static int64_t number;
    uint64_t random = 9;
    size_t count = (size_t)(PARTS * ranks->size);

    memset(s, 0, sizeof(*s));
    s->ranks = ranks;
    s->last = ranks->rank == ranks->size - 1;
    path_in(ranks, s->path, "file", number++);
    s->options = (bouma_options){.size = sizeof(s->options)};
    s->options.buffer_bytes = 4096;
    s->options.buffers = 2;
    s->options.writers = (ranks->size + 1) / 2;
    s->pieces.list = calloc(count, sizeof(*s->pieces.list));
    REQUIRE(s->pieces.list);
    s->pieces.count = count;
    for (size_t i = 0; i < count; i++)
        s->pieces.list[i] =
            (struct piece){(int)i % ranks->size, i * PART, PART};
    hand_make(&s->hand, &s->pieces, ranks->rank, &random);
    image_init(&s->image, 0, 0, 0);
}

static void tear_down(struct setting *s)
{
    hand_free(&s->hand);
    pieces_free(&s->pieces);
    image_free(&s->image);
}

static int open_file(struct setting *s, bouma_file **file, bouma_file_mode mode)
{
    *file = NULL;
    return bouma_file_open_mpi(file, MPI_COMM_WORLD, s->path, mode,
                               &s->options);
}

static int write_salt(struct setting *s, bouma_file *file, unsigned salt)
{
    hand_fill(&s->hand, 0, salt);
    return bouma_file_write(file, (const void *const *)s->hand.data);
}

static int read_salt(struct setting *s, bouma_file *file, unsigned salt)
{
    int rc;

    hand_clear(&s->hand);
    rc = bouma_file_read(file, s->hand.data);
    if (!rc)
        CHECK_EQ(hand_wrong(&s->hand, 0, salt), 0);
    return rc;
}

static void check_file(struct setting *s, unsigned salt)
{
    MPI_Barrier(MPI_COMM_WORLD);
    image_write(&s->image, &s->pieces, 0, salt);
    if (s->ranks->rank == 0)
        CHECK(image_is_file(&s->image, s->path));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A file, written and closed. */
static void good_file(struct setting *s, unsigned salt)
{
    bouma_file *file;

    CHECK_EQ(open_file(s, &file, BOUMA_FILE_MODE_CREATE), BOUMA_OK);
    CHECK_EQ(hand_declare(&s->hand, file), BOUMA_OK);
    CHECK_EQ(write_salt(s, file, salt), BOUMA_OK);
    CHECK_EQ(bouma_file_close(file), BOUMA_OK);
    bouma_file_free(file);
    check_file(s, salt);
}

static void check_failure(const bouma_file *file, int rc, int expected,
                          const char *part)
{
    CHECK_EQ(rc, expected);
    CHECK_TEXT(bouma_file_message(file), part);
    CHECK(same_on_all(rc, bouma_file_message(file)));
}

/* ---- ranks that disagree, and wrong arguments --------------------------- */

/* An open that fails in one same way on all ranks. */
static void check_open(struct setting *s, bouma_file_mode mode, int expected,
                       const char *part)
{
    bouma_file *file;
    int rc = open_file(s, &file, mode);

    check_failure(file, rc, expected, part);
    bouma_file_free(file);
}

static void ranks_that_open_otherwise_are_told(struct ranks *ranks)
{
    struct setting s, other;

    set_up(&s, ranks);
    if (ranks->size > 1) {
        check_open(&s, s.last ? BOUMA_FILE_MODE_CREATE : BOUMA_FILE_MODE_UPDATE,
                   BOUMA_EMISMATCH, "rank");
        other = s;
        if (s.last)
            strcat(other.path, ".other");
        check_open(&other, BOUMA_FILE_MODE_CREATE, BOUMA_EMISMATCH, "rank");
        other = s;
        other.options.files = s.last ? 2 : 1;
        check_open(&other, BOUMA_FILE_MODE_CREATE, BOUMA_EMISMATCH, "options");
        other = s;
        other.options.writers = s.last ? 2 : 1;
        check_open(&other, BOUMA_FILE_MODE_CREATE, BOUMA_EMISMATCH, "options");
        other = s;
        other.options.buffer_bytes = s.last ? 0 : 65536;
        check_open(&other, BOUMA_FILE_MODE_CREATE, BOUMA_EMISMATCH,
                   "buffer_bytes");
        other = s;
        other.options.tier = s.last ? BOUMA_TIER_DRAM : 0;
        check_open(&other, BOUMA_FILE_MODE_CREATE, BOUMA_EMISMATCH, "tier");
        other = s;
        if (s.last)
            other.options.machine = "flat";
        check_open(&other, BOUMA_FILE_MODE_CREATE, BOUMA_EMISMATCH, "machine");
    }
    good_file(&s, 1);
    tear_down(&s);
}

static void wrong_modes_and_options_are_told(struct ranks *ranks)
{
    struct setting s, other;

    set_up(&s, ranks);
    check_open(&s, (bouma_file_mode)(s.last ? 77 : BOUMA_FILE_MODE_CREATE),
               BOUMA_EINVAL, "mode");
    other = s;
    other.options.buffers = -1;
    check_open(&other, BOUMA_FILE_MODE_CREATE, BOUMA_EINVAL, "'buffers'");
    other = s;
    other.options.writers = -1;
    check_open(&other, BOUMA_FILE_MODE_CREATE, BOUMA_EINVAL, "'writers'");
    good_file(&s, 1);
    tear_down(&s);
}

static void wrong_declarations_are_told(struct ranks *ranks)
{
    static const uint64_t many[1] = {UINT64_MAX / 4}, eight[1] = {8},
                          one[1] = {1}, far[1] = {UINT64_MAX - 3};
    bouma_file *file;
    struct setting s;

    set_up(&s, ranks);
    CHECK_EQ(open_file(&s, &file, BOUMA_FILE_MODE_CREATE), BOUMA_OK);
    for (int mistake = 0; mistake < 4; mistake++) {
        const uint64_t *count = mistake == 1 ? many : one;
        const uint64_t *offset = mistake == 2 ? far : one;
        int rc;

        if (!s.last)
            rc = hand_declare(&s.hand, file);
        else if (mistake == 3)
            rc = bouma_file_declare(file, 1, one, NULL, one);
        else
            rc = bouma_file_declare(file, 1, mistake ? count : NULL, eight,
                                    offset);
        check_failure(file, rc, BOUMA_EINVAL, "");
        CHECK(bouma_file_message(file)[0]);
    }
    CHECK_EQ(hand_declare(&s.hand, file), BOUMA_OK);
    CHECK_EQ(write_salt(&s, file, 1), BOUMA_OK);
    CHECK_EQ(bouma_file_close(file), BOUMA_OK);
    bouma_file_free(file);
    check_file(&s, 1);
    tear_down(&s);
}

static void wrong_data_are_told(struct ranks *ranks)
{
    bouma_file *file;
    struct setting s;
    const void *data[PARTS];
    int rc;

    set_up(&s, ranks);
    CHECK_EQ(open_file(&s, &file, BOUMA_FILE_MODE_CREATE), BOUMA_OK);
    CHECK_EQ(hand_declare(&s.hand, file), BOUMA_OK);
    hand_fill(&s.hand, 0, 1);
    memcpy(data, s.hand.data, sizeof(data));
    rc = bouma_file_write(file, s.last ? NULL : data);
    check_failure(file, rc, BOUMA_EINVAL, "");
    CHECK(bouma_file_message(file)[0]);
    if (s.last)
        data[1] = NULL;
    rc = bouma_file_write(file, data);
    check_failure(file, rc, BOUMA_EINVAL, "");
    CHECK_EQ(write_salt(&s, file, 2), BOUMA_OK);
    CHECK_EQ(bouma_file_close(file), BOUMA_OK);
    bouma_file_free(file);
    check_file(&s, 2);
    tear_down(&s);
}

static void calls_out_of_order_are_told(struct ranks *ranks)
{
    bouma_file *file;
    struct setting s;

    set_up(&s, ranks);
    good_file(&s, 1);
    CHECK_EQ(open_file(&s, &file, BOUMA_FILE_MODE_READ), BOUMA_OK);
    /* Nothing is declared. */
    check_failure(file, read_salt(&s, file, 1), BOUMA_ESTATE, "declare");
    CHECK_EQ(hand_declare(&s.hand, file), BOUMA_OK);
    check_failure(file, write_salt(&s, file, 2), BOUMA_ESTATE, "read");
    CHECK_EQ(read_salt(&s, file, 1), BOUMA_OK);
    CHECK_EQ(bouma_file_close(file), BOUMA_OK);
    /* It is closed. */
    check_failure(file, read_salt(&s, file, 1), BOUMA_ESTATE, "closed");
    bouma_file_free(file);
    check_file(&s, 1);
    bouma_file_free(NULL);
    CHECK_EQ(bouma_file_close(NULL), BOUMA_EINVAL);
    tear_down(&s);
}

static void the_end_of_a_file_is_told(struct ranks *ranks)
{
    static const uint64_t one[1] = {1}, ten[1] = {10};
    uint64_t offset[1];
    uint8_t room[10];
    void *data[1] = {room};
    bouma_file *file;
    struct setting s;

    set_up(&s, ranks);
    good_file(&s, 1);
    CHECK_EQ(open_file(&s, &file, BOUMA_FILE_MODE_READ), BOUMA_OK);
    for (int beyond = 1; beyond <= 10000; beyond *= 10) {
        offset[0] = s.image.size - 10 + (uint64_t)(s.last ? beyond : 0);
        CHECK_EQ(bouma_file_declare(file, 1, ten, one, offset), BOUMA_OK);
        check_failure(file, bouma_file_read(file, data), BOUMA_EFORMAT, s.path);
        CHECK_EQ(hand_declare(&s.hand, file), BOUMA_OK);
        CHECK_EQ(read_salt(&s, file, 1), BOUMA_OK);
    }
    CHECK_EQ(bouma_file_close(file), BOUMA_OK);
    bouma_file_free(file);
    tear_down(&s);
}

static void files_that_cannot_be_opened_are_told(struct ranks *ranks)
{
    bouma_file *file;
    struct setting s, other;
    int rc;

    set_up(&s, ranks);
    other = s;
    strcat(other.path, "/no/such/directory");
    for (int mode = BOUMA_FILE_MODE_READ; mode <= BOUMA_FILE_MODE_UPDATE;
         mode++) {
        rc = open_file(&other, &file, (bouma_file_mode)mode);
        CHECK(rc == BOUMA_EIO || rc == BOUMA_ENOTFOUND);
        check_failure(file, rc, rc, s.path);
        bouma_file_free(file);
    }
    check_open(&s, BOUMA_FILE_MODE_READ, BOUMA_ENOTFOUND,
               s.path); /* not there yet */
    other = s;
    strcat(other.path, ".directory");
    if (ranks->rank == 0)
        REQUIRE(!mkdir(other.path, 0777));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int mode = BOUMA_FILE_MODE_READ; mode <= BOUMA_FILE_MODE_UPDATE;
         mode++) {
        rc = open_file(&other, &file, (bouma_file_mode)mode);
        CHECK(rc == BOUMA_EIO || rc == BOUMA_EFORMAT);
        check_failure(file, rc, rc, other.path);
        bouma_file_free(file);
    }
    good_file(&s, 1);
    tear_down(&s);
}

/* ---- storage and memory that fail --------------------------------------- */

static long sum_of(long mine)
{
    long all;

    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

struct outcome {
    int first;  /* status that is not OK */
    long fired; /* faults, on all ranks */
};

/* Without memory for a handle there is no message on that rank. */
static void record(struct outcome *o, const bouma_file *file, int rc)
{
    int with_message = sum_of(!file) == 0;

    CHECK(same_on_all(rc, with_message ? bouma_file_message(file) : ""));
    if (rc && file)
        CHECK(bouma_file_message(file)[0]);
    if (!o->first)
        o->first = rc;
}

static void disarm(struct setting *s)
{
    fault_io_disarm(&s->io);
    fault_alloc_disarm(&s->memory);
}

static int declare_and_move(struct setting *s, bouma_file *file, int reading)
{
    int rc = hand_declare(&s->hand, file);

    if (rc)
        return rc;
    return reading ? read_salt(s, file, 1) : write_salt(s, file, 1);
}

/* What a handle does again and again: the second time with what the first has
 * made, then with another opening of the file, whose bytes stay. *usable: the
 * handle still is. */
static int move_again(struct setting *s, bouma_file *file, int reading,
                      struct outcome *o, int *usable)
{
    bouma_file_mode mode =
        reading ? BOUMA_FILE_MODE_READ : BOUMA_FILE_MODE_UPDATE;
    int rc = BOUMA_OK;

    for (int i = 0; i < 2 && !rc; i++) {
        rc = declare_and_move(s, file, reading);
        record(o, file, rc);
    }
    if (rc)
        return rc;
    rc = bouma_file_reopen(file, s->path, mode);
    record(o, file, rc);
    *usable = !rc;
    if (rc)
        return rc;
    rc = declare_and_move(s, file, reading);
    record(o, file, rc);
    return rc;
}

/* Write or read with something that fails; if it was not an opening, then once
 * more by the same handle. */
static struct outcome try_faults(struct setting *s, int reading)
{
    struct outcome o = {0, 0};
    bouma_file *file;
    int rc = open_file(s, &file,
                       reading ? BOUMA_FILE_MODE_READ : BOUMA_FILE_MODE_CREATE);
    int opened = !rc, usable = opened;

    record(&o, file, rc);
    if (opened)
        rc = move_again(s, file, reading, &o, &usable);
    if (usable && rc) {
        disarm(s);
        CHECK_EQ(declare_and_move(s, file, reading), BOUMA_OK);
    }
    if (usable)
        record(&o, file, bouma_file_close(file));
    bouma_file_free(file);
    o.fired = sum_of(s->io.fired + s->memory.fired);
    disarm(s);
    if (opened)
        check_file(s, 1);
    return o;
}

/* Two files in turns, as of checkpoints: one that could not be closed, on some
 * rank, leaves the other as it is. */
static void a_next_file_is_spared_if_the_last_is_not_closed(struct ranks *ranks)
{
    static const struct fault broken = {"EIO", FAULT_ERROR, EIO};
    bouma_file *file;
    struct setting s, other;
    int rc;

    set_up(&s, ranks);
    good_file(&s, 1);
    fault_io_init(&s.io, bouma_io_posix());
    s.options.io = &s.io.table;
    s.options.writers = ranks->size; /* the last one has to sync, too */
    other = s;
    strcat(other.path, ".other");
    CHECK_EQ(open_file(&other, &file, BOUMA_FILE_MODE_CREATE), BOUMA_OK);
    CHECK_EQ(hand_declare(&s.hand, file), BOUMA_OK);
    CHECK_EQ(write_salt(&s, file, 2), BOUMA_OK);
    if (s.last)
        fault_io_arm(&s.io, &broken, 1, 0);
    rc = bouma_file_reopen(file, s.path, BOUMA_FILE_MODE_CREATE);
    check_failure(file, rc, BOUMA_EIO, ".other");
    CHECK_EQ(s.io.fired, s.last);
    bouma_file_free(file);
    CHECK_EQ(s.io.open, 0);
    check_file(&s, 1);
    tear_down(&s);
}

/* Each call in turn fails on rank 'who', till there are no more of them. */
static void sweep(struct ranks *ranks, int who, int of_memory, int reading,
                  bouma_transport transport, long stride)
{
    static const struct fault broken = {"EIO", FAULT_ERROR, EIO};
    struct outcome o = {0, 1};
    struct setting s;
    long at, times = 0;

    set_up(&s, ranks);
    s.options.transport = transport;
    good_file(&s, 1);
    fault_io_init(&s.io, bouma_io_posix());
    fault_alloc_init(&s.memory);
    s.options.io = &s.io.table;
    s.options.allocator = &s.memory.table;
    for (at = 1; o.fired && at < 2000; at += stride) {
        if (ranks->rank == who && of_memory)
            fault_alloc_arm(&s.memory, at, 0);
        else if (ranks->rank == who)
            fault_io_arm(&s.io, &broken, at, 0);
        o = try_faults(&s, reading);
        times += o.fired;
        /* Without memory for windows, messages do. */
        if (o.fired && of_memory)
            CHECK(o.first == BOUMA_ENOMEM || o.first == BOUMA_OK);
        else if (o.fired)
            CHECK_EQ(o.first, BOUMA_EIO);
        else
            CHECK_EQ(o.first, BOUMA_OK);
        CHECK_EQ(s.io.open, 0);
        CHECK_EQ(s.memory.live, 0);
    }
    CHECK(times > 0 || who > 0); /* the first rank always has to do */
    CHECK(at < 2000);
    s.options.io = NULL;
    s.options.allocator = NULL;
    good_file(&s, 2);
    tear_down(&s);
}

static void sweep_all(struct ranks *ranks, long stride)
{
    int last = ranks->size - 1;

    for (int of_memory = 0; of_memory < 2; of_memory++)
        for (int reading = 0; reading < 2; reading++)
            for (int t = 1; t <= 2; t++) {
                sweep(ranks, 0, of_memory, reading, (bouma_transport)t, stride);
                if (last > 0)
                    sweep(ranks, last, of_memory, reading, (bouma_transport)t,
                          stride);
            }
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    ranks_that_open_otherwise_are_told(&ranks);
    wrong_modes_and_options_are_told(&ranks);
    wrong_declarations_are_told(&ranks);
    wrong_data_are_told(&ranks);
    calls_out_of_order_are_told(&ranks);
    the_end_of_a_file_is_told(&ranks);
    files_that_cannot_be_opened_are_told(&ranks);
    a_next_file_is_spared_if_the_last_is_not_closed(&ranks);
    /* With many ranks, not every call: it takes long. */
    sweep_all(&ranks, argc > 1 ? atol(argv[1]) : ranks.size > 3 ? 3 : 1);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
