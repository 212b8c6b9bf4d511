/* Batches of writes: the file has the same bytes, whatever the order, and
 * neighbours go in one call. */
#include "store/file_batch.h"

#include <errno.h>
#include <string.h>

#include "chance.h"
#include "check.h"

#define BYTES 4096

/* A table that counts writes, and fails one of them. */
struct counted {
    const bouma_io *io;
    int writes, fail_at; /* 0: none */
};

static int counted_write(void *user, void *file, const void *data, size_t bytes,
                         uint64_t offset, size_t *done)
{
    struct counted *c = user;

    if (++c->writes == c->fail_at)
        return ENOSPC;
    return c->io->write(c->io->user, file, data, bytes, offset, done);
}

/* A store in memory of which only writes are counted. */
struct place {
    bouma_io *memory, io;
    struct counted counted;
    struct bm_store store;
    struct bm_file file;
};

static int open_memory(void *user, void *root, void **file, const char *name,
                       bouma_open_mode mode)
{
    const bouma_io *io = ((struct counted *)user)->io;

    return io->open(io->user, root, file, name, mode);
}

static int attach_memory(void *user, void **root, const char *path, int create)
{
    const bouma_io *io = ((struct counted *)user)->io;

    return io->attach(io->user, root, path, create);
}

static void detach_memory(void *user, void *root)
{
    const bouma_io *io = ((struct counted *)user)->io;

    io->detach(io->user, root);
}

static int close_memory(void *user, void *file)
{
    const bouma_io *io = ((struct counted *)user)->io;

    return io->close(io->user, file);
}

static int size_memory(void *user, void *file, uint64_t *bytes)
{
    const bouma_io *io = ((struct counted *)user)->io;

    return io->file_size(io->user, file, bytes);
}

static int read_memory(void *user, void *file, void *data, size_t bytes,
                       uint64_t offset, size_t *done)
{
    const bouma_io *io = ((struct counted *)user)->io;

    return io->read(io->user, file, data, bytes, offset, done);
}

static void place_open(struct place *p)
{
    struct bm_error error = {0};

    memset(p, 0, sizeof(*p));
    p->memory = bouma_io_memory_new();
    REQUIRE(p->memory);
    p->counted.io = p->memory;
    p->io = *p->memory;
    p->io.user = &p->counted;
    p->io.attach = attach_memory;
    p->io.detach = detach_memory;
    p->io.open = open_memory;
    p->io.close = close_memory;
    p->io.file_size = size_memory;
    p->io.read = read_memory;
    p->io.write = counted_write;
    REQUIRE(!bm_store_open(&p->store, &p->io, bm_allocator_default(), "d", 1,
                           &error));
    REQUIRE(!bm_file_open(&p->file, &p->store, "f", BOUMA_OPEN_MODE_UPDATE,
                          &error));
}

static void place_close(struct place *p)
{
    struct bm_error error = {0};

    CHECK_EQ(bm_file_close(&p->file, &error), BOUMA_OK);
    bm_store_close(&p->store);
    bouma_io_memory_free(p->memory);
}

/* Cut BYTES bytes into pieces, which are apart in memory, shuffle them, and
 * write them by a batch with so much room. */
static void write_shuffled(struct place *p, size_t room, size_t joined,
                           size_t longest, uint64_t *seed)
{
    static uint8_t data[BYTES], apart[2 * BYTES], got[BYTES];
    size_t at[BYTES + 1], order[BYTES], count = 0;
    struct bm_file_batch batch;
    struct bm_error error = {0};

    for (size_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)chance_next(seed);
    for (size_t i = 0; i < BYTES; i += 1 + chance_below(seed, longest))
        at[count++] = i;
    at[count] = BYTES;
    for (size_t i = 0; i < count; i++) {
        size_t k = chance_below(seed, i + 1);

        order[i] = order[k];
        order[k] = i;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(apart + at[i] + i, data + at[i], at[i + 1] - at[i]);
    REQUIRE(!bm_file_batch_init(&batch, bm_allocator_default(), room, joined));
    for (size_t i = 0; i < count; i++)
        CHECK_EQ(bm_file_batch_add(
                     &batch, &p->file, apart + at[order[i]] + order[i],
                     at[order[i] + 1] - at[order[i]], at[order[i]], &error),
                 BOUMA_OK);
    CHECK_EQ(bm_file_batch_flush(&batch, &error), BOUMA_OK);
    CHECK_EQ(bm_file_read(&p->file, got, BYTES, 0, &error), BOUMA_OK);
    CHECK(!memcmp(data, got, BYTES));
    bm_file_batch_release(&batch);
}

static void any_order_gives_the_same_file(void)
{
    uint64_t seed = 1;

    for (int i = 0; i < 200; i++) {
        struct place p;

        place_open(&p);
        write_shuffled(&p, 1 + chance_below(&seed, 300),
                       1 + chance_below(&seed, 2000),
                       1 + chance_below(&seed, 500), &seed);
        place_close(&p);
    }
}

static void neighbours_go_in_one_call(void)
{
    uint64_t seed = 2;
    struct place p;

    place_open(&p);
    write_shuffled(&p, BYTES, BYTES, 10, &seed);
    CHECK_EQ(p.counted.writes, 1);
    p.counted.writes = 0;
    write_shuffled(&p, BYTES, BYTES / 4, 10, &seed);
    CHECK(p.counted.writes >= 4 && p.counted.writes <= 5);
    p.counted.writes = 0;
    write_shuffled(&p, BYTES, 1, 1, &seed); /* nothing is joined */
    CHECK_EQ(p.counted.writes, BYTES);
    place_close(&p);
}

/* However long, and without room to join them. */
static void neighbours_in_memory_need_no_room(void)
{
    struct bm_file_batch batch;
    struct bm_error error = {0};
    static uint8_t data[BYTES], got[BYTES];
    struct place p;

    for (size_t i = 0; i < BYTES; i++)
        data[i] = (uint8_t)(i * 7 + i / 256);
    place_open(&p);
    REQUIRE(!bm_file_batch_init(&batch, bm_allocator_default(), BYTES, 1));
    for (size_t at = BYTES; at; at -= 64)
        CHECK_EQ(bm_file_batch_add(&batch, &p.file, data + at - 64, 64, at - 64,
                                   &error),
                 BOUMA_OK);
    CHECK_EQ(bm_file_batch_flush(&batch, &error), BOUMA_OK);
    CHECK_EQ(p.counted.writes, 1);
    CHECK_EQ(bm_file_read(&p.file, got, BYTES, 0, &error), BOUMA_OK);
    CHECK(!memcmp(data, got, BYTES));
    bm_file_batch_release(&batch);
    place_close(&p);
}

static void what_is_apart_stays_apart(void)
{
    struct bm_file_batch batch;
    struct bm_error error = {0};
    uint8_t data[4] = {1, 2, 3, 4}, got[8];
    struct place p;

    place_open(&p);
    REQUIRE(!bm_file_batch_init(&batch, bm_allocator_default(), 8, 64));
    CHECK_EQ(bm_file_batch_add(&batch, &p.file, data, 2, 6, &error), BOUMA_OK);
    CHECK_EQ(bm_file_batch_add(&batch, &p.file, data, 2, 0, &error), BOUMA_OK);
    CHECK_EQ(bm_file_batch_add(&batch, &p.file, data, 0, 9, &error), BOUMA_OK);
    CHECK_EQ(p.counted.writes, 0);
    CHECK_EQ(bm_file_batch_flush(&batch, &error), BOUMA_OK);
    CHECK_EQ(p.counted.writes, 2);
    CHECK_EQ(bm_file_read(&p.file, got, 8, 0, &error), BOUMA_OK);
    CHECK(!memcmp(got, "\1\2\0\0\0\0\1\2", 8));
    CHECK_EQ(bm_file_batch_flush(&batch, &error), BOUMA_OK); /* nothing */
    CHECK_EQ(p.counted.writes, 2);
    bm_file_batch_release(&batch);
    bm_file_batch_release(&batch);
    place_close(&p);
}

static void a_failure_is_told_and_ends_the_batch(void)
{
    struct bm_file_batch batch;
    struct bm_error error = {0};
    uint8_t data[4] = {1, 2, 3, 4};
    struct place p;

    place_open(&p);
    p.counted.fail_at = 1;
    REQUIRE(!bm_file_batch_init(&batch, bm_allocator_default(), 1, 64));
    CHECK_EQ(bm_file_batch_add(&batch, &p.file, data, 4, 0, &error), BOUMA_OK);
    /* The list is full. */
    CHECK_EQ(bm_file_batch_add(&batch, &p.file, data, 4, 4, &error),
             BOUMA_ENOSPC);
    CHECK_EQ(bm_file_batch_flush(&batch, &error), BOUMA_OK);
    CHECK_EQ(p.counted.writes, 1);
    bm_file_batch_release(&batch);
    place_close(&p);
}

int main(void)
{
    any_order_gives_the_same_file();
    neighbours_go_in_one_call();
    neighbours_in_memory_need_no_room();
    what_is_apart_stays_apart();
    a_failure_is_told_and_ends_the_batch();
    return check_result();
}
