/* test_mpi_io.c -- plain files written and read by bouma_io_*() have the bytes
 * that a loop over all pieces of all ranks would leave there, whatever ranks
 * declare, in whatever order, with whatever options.
 *
 *   test_mpi_io [STRIDE]   only every STRIDE-th case */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "blocks.h"
#include "pieces.h"

#include "../helpers/check.h"

enum { CASES = 60, LARGEST = 200000 };

enum { OLD_SALT = 1000 };

/* One case: a file for each group of ranks. */
struct setting {
    int number;
    struct ranks *ranks;
    bouma_options options;
    bouma_file_mode mode;
    char path[512];
    uint64_t shared;       /* random state, the same on all ranks */
    uint64_t group_random; /* the same on all ranks of the group */
    int group, rank, size; /* of this rank's file */
    struct image image;    /* of it */
};

static void random_options(bouma_options *o, int ranks, uint64_t *random)
{
    static const uint64_t buffer[] = {1024, 1000, 4096, 10007, 65536};
    static const bouma_place place[] = {0, BOUMA_PLACE_SPREAD,
                                        BOUMA_PLACE_FIRST, BOUMA_PLACE_LOCAL,
                                        BOUMA_PLACE_COST};

    o->transport = (bouma_transport)check_below(random, 3);
    o->buffers = (int)check_below(random, 4);
    o->buffers += o->buffers > 0; /* 0, 2, 3, 4 */
    o->buffer_bytes = buffer[check_below(random, 5)];
    if (check_below(random, 8) == 0)
        o->buffer_bytes = 0;
    o->writers = (int)check_below(random, ranks + 1);
    o->place = place[check_below(random, 5)];
    o->message_bytes = check_below(random, 3) ? 0 : 700;
    o->durability = check_below(random, 2) ? BOUMA_DURABILITY_FAST
                                           : BOUMA_DURABILITY_DURABLE;
}

/* The path of the file of a group. */
static void file_path(char out[600], const struct setting *s, int group)
{
    if (s->options.files > 1)
        snprintf(out, 600, "%s.%04d", s->path, group);
    else
        snprintf(out, 600, "%s", s->path);
}

/* Before an open: some files are there, with other bytes. */
static void make_old_files(struct setting *s)
{
    for (int g = 0; g < (s->options.files > 1 ? s->options.files : 1); g++) {
        size_t size = check_below(&s->shared, 2)
                          ? (size_t)check_below(&s->shared, 2 * LARGEST)
                          : 0;
        struct image old;
        char path[600];

        file_path(path, s, g);
        image_init(&old, size, g, OLD_SALT);
        if (s->ranks->rank == 0 && size)
            image_save(&old, path);
        image_free(&old);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What the old file of this rank's group was. */
static void init_image(struct setting *s, uint64_t shared)
{
    size_t size = 0;

    for (int g = 0; g <= s->group; g++)
        size = check_below(&shared, 2)
                   ? (size_t)check_below(&shared, 2 * LARGEST)
                   : 0;
    if (s->mode == BOUMA_FILE_MODE_CREATE)
        size = 0;
    image_init(&s->image, size, s->group, OLD_SALT);
}

/* Groups are consecutive ranks, and as large as can be. */
static void check_groups(const struct setting *s)
{
    int all[64][3], mine[3] = {s->group, s->rank, s->size}, n = s->ranks->size;
    int files = s->options.files > 1 ? s->options.files : 1;

    REQUIRE(n <= 64);
    MPI_Allgather(mine, 3, MPI_INT, all, 3, MPI_INT, MPI_COMM_WORLD);
    CHECK_EQ(all[0][0], 0);
    CHECK_EQ(all[0][1], 0);
    CHECK_EQ(all[n - 1][0], files - 1);
    for (int i = 1; i < n; i++) {
        int next = all[i][0] != all[i - 1][0];

        CHECK_EQ(all[i][0], all[i - 1][0] + next);
        CHECK_EQ(all[i][1], next ? 0 : all[i - 1][1] + 1);
        if (next)
            CHECK_EQ(all[i - 1][1], all[i - 1][2] - 1);
    }
    CHECK_EQ(all[n - 1][1], all[n - 1][2] - 1);
    for (int i = 0; i < n; i++)
        CHECK(all[i][2] >= n / files && all[i][2] <= (n + files - 1) / files);
}

static void check_report(const struct setting *s, const bouma_file *file,
                         const struct pieces *p)
{
    uint64_t bytes = s->rank == 0 ? pieces_bytes(p) : 0, all;
    int64_t files = s->options.files > 1 ? s->options.files : 1;
    bouma_file_report r = {.size = sizeof(r)};

    MPI_Allreduce(&bytes, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(bouma_file_report_get(&r, file), BOUMA_OK);
    CHECK_EQ(r.bytes, all);
    CHECK(r.moved_bytes <= all);
    CHECK(r.writers <= s->ranks->size);
    if (s->options.writers)
        CHECK(r.writers <= s->options.writers * files);
    CHECK(r.writers > 0 || !all);
    CHECK(r.rounds > 0 || !all);
    if (s->options.buffer_bytes)
        CHECK(r.buffer_bytes <= s->options.buffer_bytes);
    CHECK(r.seconds >= 0 && r.store_seconds >= 0);
}

/* Write a declaration once, or some times with other bytes. */
static void write_pieces(struct setting *s, bouma_file *file, unsigned salt)
{
    int times = 1 + (int)check_below(&s->shared, 2);
    uint64_t random = s->group_random + (uint64_t)s->rank;
    struct pieces pieces;
    struct hand hand;

    pieces_disjoint(&pieces, s->size, LARGEST, &s->group_random);
    hand_make(&hand, &pieces, s->rank, &random);
    CHECK_EQ(hand_declare(&hand, file), BOUMA_OK);
    for (int i = 0; i < times; i++, salt++) {
        int rc;

        hand_fill(&hand, s->group, salt);
        rc = bouma_file_write(file, (const void *const *)hand.data);
        if (rc)
            printf("case %d: %s\n", s->number, bouma_file_message(file));
        CHECK_EQ(rc, BOUMA_OK);
        CHECK_EQ(hand_wrong(&hand, s->group, salt), 0);
        image_write(&s->image, &pieces, s->group, salt);
        check_report(s, file, &pieces);
    }
    hand_free(&hand);
    pieces_free(&pieces);
}

static void check_file(const struct setting *s)
{
    char path[600];
    int same = 1;

    MPI_Barrier(MPI_COMM_WORLD);
    file_path(path, s, s->group);
    if (s->rank == 0)
        same = image_is_file(&s->image, path);
    if (!same)
        printf("case %d: file %d is not right\n", s->number, s->group);
    CHECK(same);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void read_pieces(struct setting *s, bouma_file *file)
{
    uint64_t random = s->group_random + (uint64_t)s->rank;
    struct pieces pieces;
    struct hand hand;

    pieces_any(&pieces, s->size, s->image.size, LARGEST, &s->group_random);
    hand_make(&hand, &pieces, s->rank, &random);
    CHECK_EQ(hand_declare(&hand, file), BOUMA_OK);
    for (int i = 0; i < 2; i++) {
        int rc;

        hand_clear(&hand);
        rc = bouma_file_read(file, hand.data);
        if (rc)
            printf("case %d: %s\n", s->number, bouma_file_message(file));
        CHECK_EQ(rc, BOUMA_OK);
        CHECK_EQ(image_wrong(&s->image, &hand), 0);
        check_report(s, file, &pieces);
    }
    hand_free(&hand);
    pieces_free(&pieces);
}

static bouma_file *open_file(struct setting *s, bouma_file_mode mode)
{
    bouma_file *file = NULL;
    int rc =
        bouma_file_open_mpi(&file, MPI_COMM_WORLD, s->path, mode, &s->options);

    if (rc)
        printf("case %d: %s\n", s->number, bouma_file_message(file));
    REQUIRE(!rc);
    CHECK_EQ(bouma_file_group(file, &s->group, &s->rank, &s->size), BOUMA_OK);
    check_groups(s);
    return file;
}

static void close_file(bouma_file *file)
{
    CHECK_EQ(bouma_file_close(file), BOUMA_OK);
    bouma_file_free(file);
}

static void try_case(struct ranks *ranks, int number)
{
    struct setting s = {.number = number, .ranks = ranks};
    uint64_t before;
    int files;
    bouma_file *file;

    s.shared = 77 * (uint64_t)number + 5;
    s.options = (bouma_options){.size = sizeof(s.options)};
    random_options(&s.options, ranks->size, &s.shared);
    files = (int)check_below(&s.shared, ranks->size < 3 ? ranks->size + 1 : 4);
    s.options.files = files;
    s.mode = check_below(&s.shared, 2) ? BOUMA_FILE_MODE_CREATE
                                       : BOUMA_FILE_MODE_UPDATE;
    path_in(ranks, s.path, "io", number);
    before = s.shared;
    make_old_files(&s);

    file = open_file(&s, s.mode);
    init_image(&s, before);
    s.group_random = s.shared + 1000 * (uint64_t)s.group;
    for (unsigned i = 0, n = (unsigned)check_below(&s.shared, 3); i < n; i++)
        write_pieces(&s, file, 10 * i);
    close_file(file);
    check_file(&s);

    /* On as many files, but else in another way. */
    random_options(&s.options, ranks->size, &s.shared);
    file = open_file(&s, BOUMA_FILE_MODE_READ);
    for (int i = 0; i < 2; i++)
        read_pieces(&s, file);
    close_file(file);
    check_file(&s);
    image_free(&s.image);
}

/* What was told of a call that takes long, on rank 0. */
struct told {
    char what[16];
    uint64_t calls, done, total;
};

static void tell(void *user, const char *what, uint64_t done, uint64_t total)
{
    struct told *t = user;

    snprintf(t->what, sizeof(t->what), "%s", what);
    t->calls++;
    t->done = done;
    t->total = total;
}

/* Both ways, to the last round, in a file that is open for both. */
static void progress_is_told_to_its_end(struct ranks *r)
{
    enum { BYTES = 64 << 10 };
    static uint8_t data[BYTES];
    const void *from = data;
    void *to = data;
    uint64_t count = BYTES, size = 1, offset = (uint64_t)r->rank * BYTES;
    struct told told = {"", 0, 0, 0};
    bouma_options o = {.size = sizeof(o)};
    bouma_file *file;
    char path[512];

    o.durability = BOUMA_DURABILITY_FAST;
    o.buffer_bytes = BYTES / 4;
    o.progress = tell;
    o.progress_user = &told;
    path_in(r, path, "told", 0);
    CHECK_EQ(bouma_file_open_mpi(&file, MPI_COMM_WORLD, path,
                                 BOUMA_FILE_MODE_UPDATE, &o),
             BOUMA_OK);
    CHECK_EQ(bouma_file_declare(file, 1, &count, &size, &offset), BOUMA_OK);
    for (int reading = 0; reading < 2; reading++) {
        told.calls = 0;
        CHECK_EQ(reading ? bouma_file_read(file, &to)
                         : bouma_file_write(file, &from),
                 BOUMA_OK);
        CHECK_EQ(told.calls, r->rank ? 0 : 4);
        CHECK_EQ(told.done, r->rank ? 0 : 4);
        CHECK_EQ(told.total, r->rank ? 0 : 4);
        CHECK(r->rank || !strcmp(told.what, reading ? "reading" : "writing"));
    }
    close_file(file);
}

/* With the buffer that bouma chooses, and segments so long that cells end with
 * them. The path is a link to a file that is there, longer, and not for all. */
static void long_segments_go_through_a_link(struct ranks *r)
{
    enum { VARIABLES = 3, PART = 700000 };
    uint64_t count[VARIABLES], size[VARIABLES], offset[VARIABLES], all = 0;
    const void *data[VARIABLES];
    uint64_t before = 0, mine = PART / (uint64_t)(1 + r->rank % 3);
    uint8_t *room = malloc(VARIABLES * PART), *back = malloc(VARIABLES * PART);
    void *to[VARIABLES];
    char path[512], link[600];
    bouma_file *file;
    struct stat st;

    REQUIRE(room && back);
    for (int i = 0; i < r->size; i++) {
        all += PART / (uint64_t)(1 + i % 3);
        before += i < r->rank ? PART / (uint64_t)(1 + i % 3) : 0;
    }
    for (uint64_t v = 0; v < VARIABLES; v++) {
        count[v] = mine;
        size[v] = 1;
        offset[v] = v * all + before;
        data[v] = room + v * PART;
        to[v] = back + v * PART;
        for (uint64_t k = 0; k < mine; k++)
            room[v * PART + k] = (uint8_t)((offset[v] + k) * 31 >> 3);
    }
    path_in(r, path, "target", 0);
    snprintf(link, sizeof(link), "%s.link", path);
    if (r->rank == 0) {
        FILE *f = fopen(path, "w");

        REQUIRE(f);
        for (uint64_t k = 0; k < VARIABLES * all + 10; k++)
            fputc('x', f);
        fclose(f);
        CHECK_EQ(chmod(path, 0640), 0);
        CHECK_EQ(symlink(path, link), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(bouma_file_open_mpi(&file, MPI_COMM_WORLD, link,
                                 BOUMA_FILE_MODE_CREATE, NULL),
             BOUMA_OK);
    CHECK_EQ(bouma_file_declare(file, VARIABLES, count, size, offset),
             BOUMA_OK);
    CHECK_EQ(bouma_file_write(file, data), BOUMA_OK);
    close_file(file);
    CHECK_EQ(bouma_file_open_mpi(&file, MPI_COMM_WORLD, link,
                                 BOUMA_FILE_MODE_READ, NULL),
             BOUMA_OK);
    CHECK_EQ(bouma_file_declare(file, VARIABLES, count, size, offset),
             BOUMA_OK);
    CHECK_EQ(bouma_file_read(file, to), BOUMA_OK);
    close_file(file);
    for (uint64_t v = 0; v < VARIABLES; v++)
        CHECK(!memcmp(data[v], to[v], mine));
    if (r->rank == 0) {
        FILE *f = fopen(path, "r");
        uint64_t wrong = 0;

        REQUIRE(f);
        for (uint64_t k = 0; k < VARIABLES * all; k++)
            wrong += fgetc(f) != (uint8_t)(k * 31 >> 3);
        CHECK_EQ(wrong, 0);
        CHECK_EQ(fgetc(f), EOF);
        fclose(f);
        CHECK(!lstat(link, &st) && S_ISLNK(st.st_mode));
        CHECK(!stat(path, &st) && (st.st_mode & 0777) == 0640);
    }
    free(room);
    free(back);
}

int main(int argc, char **argv)
{
    struct ranks ranks;
    int stride;

    ranks_init(&ranks, &argc, &argv);
    stride = argc > 1 ? atoi(argv[1]) : 1;
    for (int number = 0; number < CASES; number += stride)
        try_case(&ranks, number);
    progress_is_told_to_its_end(&ranks);
    long_segments_go_through_a_link(&ranks);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
