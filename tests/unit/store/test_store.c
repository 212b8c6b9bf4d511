/* Storage: the two tables keep the same promises, and the loops around them
 * cope with short reads, short writes and failures. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrays.h"
#include "check.h"
#include "files.h"

/* ---- what every table promises ------------------------------------------ */

struct listing {
    char names[16][64];
    int count, stop_at;
};

static int collect(void *context, const char *entry)
{
    struct listing *l = context;

    REQUIRE(l->count < 16);
    snprintf(l->names[l->count++], sizeof(l->names[0]), "%s", entry);
    return l->stop_at && l->count == l->stop_at ? EINTR : 0;
}

static int has(const struct listing *l, const char *name)
{
    int n = 0;

    for (int i = 0; i < l->count; i++)
        n += !strcmp(l->names[i], name);
    return n;
}

static int write_text(const bouma_io *io, void *root, const char *name,
                      bouma_open_mode mode, const char *text)
{
    size_t done = 0;
    void *f = NULL;
    int code = io->open(io->user, root, &f, name, mode);

    if (code)
        return code;
    code = io->write(io->user, f, text, strlen(text), 0, &done);
    CHECK_EQ(done, strlen(text));
    CHECK_EQ(io->sync(io->user, f), 0);
    CHECK_EQ(io->close(io->user, f), 0);
    return code;
}

static const char *read_text(const bouma_io *io, void *root, const char *name)
{
    static char text[256];
    size_t done = 0;
    uint64_t bytes = 99;
    void *f = NULL;

    snprintf(text, sizeof(text), "(none)");
    if (io->open(io->user, root, &f, name, BOUMA_OPEN_MODE_READ))
        return text;
    memset(text, 0, sizeof(text));
    CHECK_EQ(io->read(io->user, f, text, sizeof(text) - 1, 0, &done), 0);
    CHECK_EQ(io->file_size(io->user, f, &bytes), 0);
    CHECK_EQ(bytes, done);
    CHECK_EQ(io->read(io->user, f, text + 200, 5, bytes, &done), 0);
    CHECK_EQ(done, 0); /* the end */
    CHECK_EQ(io->read(io->user, f, text + 200, 5, bytes + 1000, &done), 0);
    CHECK_EQ(done, 0);
    CHECK_EQ(io->close(io->user, f), 0);
    return text;
}

static void check_table(const bouma_io *io, const char *path)
{
    struct listing l = {{{0}}, 0, 0};
    void *root = NULL, *again = NULL;
    size_t done;
    void *f;

    CHECK_EQ(io->size, sizeof(bouma_io));
    CHECK_EQ(io->attach(io->user, &root, path, 0), ENOENT);
    REQUIRE(!io->attach(io->user, &root, path, 1));
    CHECK_EQ(io->attach(io->user, &again, path, 1), EEXIST);
    REQUIRE(!io->attach(io->user, &again, path, 0));
    /* Directories. */
    CHECK_EQ(io->make_dir(io->user, root, "a"), 0);
    CHECK_EQ(io->make_dir(io->user, root, "a"), EEXIST);
    CHECK_EQ(io->make_dir(io->user, root, "a/b"), 0);
    CHECK_EQ(io->sync_dir(io->user, root, "a/b"), 0);
    CHECK_EQ(io->sync_dir(io->user, root, ""), 0);
    CHECK_EQ(io->sync_dir(io->user, root, "c"), ENOENT);
    /* Files. */
    CHECK_EQ(write_text(io, root, "a/x", BOUMA_OPEN_MODE_CREATE, "one"), 0);
    CHECK_EQ(write_text(io, root, "a/x", BOUMA_OPEN_MODE_CREATE, "no"), EEXIST);
    CHECK_TEXT(read_text(io, again, "a/x"), "one");
    CHECK_EQ(write_text(io, root, "log", BOUMA_OPEN_MODE_APPEND, "12"), 0);
    CHECK_EQ(write_text(io, root, "log", BOUMA_OPEN_MODE_APPEND, "34"), 0);
    CHECK_TEXT(read_text(io, again, "log"), "1234");
    CHECK_EQ(io->open(io->user, root, &f, "nothing", BOUMA_OPEN_MODE_READ),
             ENOENT);
    CHECK(io->open(io->user, root, &f, "a", BOUMA_OPEN_MODE_READ) != 0);
    /* A hole is zeros. */
    REQUIRE(!io->open(io->user, root, &f, "hole", BOUMA_OPEN_MODE_CREATE));
    CHECK_EQ(io->write(io->user, f, "z", 1, 10, &done), 0);
    CHECK_EQ(io->write(io->user, f, "a", 1, 0, &done), 0);
    CHECK_EQ(io->close(io->user, f), 0);
    CHECK(!memcmp(read_text(io, root, "hole"), "a\0\0\0\0\0\0\0\0\0z", 12));
    /* Lists. */
    CHECK_EQ(io->list(io->user, root, "", collect, &l), 0);
    CHECK(l.count == 3 && has(&l, "a") && has(&l, "log") && has(&l, "hole"));
    l.count = 0;
    CHECK_EQ(io->list(io->user, root, "a", collect, &l), 0);
    CHECK(l.count == 2 && has(&l, "b") && has(&l, "x"));
    l.count = 0;
    l.stop_at = 1;
    CHECK_EQ(io->list(io->user, root, "a", collect, &l), EINTR);
    CHECK_EQ(l.count, 1);
    CHECK_EQ(io->list(io->user, root, "c", collect, &l), ENOENT);
    /* Publish. */
    CHECK_EQ(write_text(io, root, "new", BOUMA_OPEN_MODE_CREATE, "two"), 0);
    CHECK_EQ(io->publish(io->user, root, "new", "a/x", 0), EEXIST);
    CHECK_TEXT(read_text(io, root, "a/x"), "one"); /* nothing has changed */
    CHECK_TEXT(read_text(io, root, "new"), "two");
    CHECK_EQ(io->publish(io->user, root, "new", "a/b/y", 0), 0);
    CHECK_TEXT(read_text(io, root, "new"), "(none)");
    CHECK_TEXT(read_text(io, root, "a/b/y"), "two");
    CHECK_EQ(io->publish(io->user, root, "a/b/y", "a/x", 1), 0);
    CHECK_TEXT(read_text(io, root, "a/x"), "two");
    CHECK_EQ(io->publish(io->user, root, "a/b/y", "a/z", 1), ENOENT);
    /* Directories go only when they are empty, and files not with them. */
    CHECK_EQ(io->make_dir(io->user, root, "a/e"), 0);
    CHECK_EQ(write_text(io, root, "a/e/f", BOUMA_OPEN_MODE_CREATE, "x"), 0);
    CHECK_EQ(io->remove_dir(io->user, root, "a/e"), ENOTEMPTY);
    CHECK_EQ(io->remove_dir(io->user, root, "a/e/f"), ENOTDIR);
    CHECK(io->remove(io->user, root, "a/e") != 0);
    CHECK_EQ(io->remove(io->user, root, "a/e/f"), 0);
    CHECK_EQ(io->remove_dir(io->user, root, "a/e"), 0);
    CHECK_EQ(io->remove_dir(io->user, root, "a/e"), ENOENT);
    /* A file that is open outlives its name. */
    REQUIRE(!io->open(io->user, root, &f, "a/x", BOUMA_OPEN_MODE_READ));
    CHECK_EQ(io->remove(io->user, root, "a/x"), 0);
    CHECK_EQ(io->remove(io->user, root, "a/x"), ENOENT);
    CHECK_TEXT(read_text(io, root, "a/x"), "(none)");
    {
        char text[4] = "";

        CHECK_EQ(io->read(io->user, f, text, 3, 0, &done), 0);
        CHECK_TEXT(text, "two");
    }
    CHECK_EQ(io->close(io->user, f), 0);
    io->detach(io->user, again);
    io->detach(io->user, root);
}

static void both_tables_keep_the_same_promises(const char *dir)
{
    bouma_io *memory = bouma_io_memory_new();
    char path[256];

    REQUIRE(memory);
    check_table(memory, "data");
    bouma_io_memory_free(memory);
    bouma_io_memory_free(NULL);
    snprintf(path, sizeof(path), "%s/data", dir);
    check_table(bouma_io_posix(), path);
}

/* Files are only made in directories that are there. */
static void a_missing_directory_is_an_error_in_both(const char *dir)
{
    bouma_io *memory = bouma_io_memory_new();
    const bouma_io *tables[2] = {bouma_io_posix(), memory};
    char path[256];

    REQUIRE(memory);
    snprintf(path, sizeof(path), "%s/missing", dir);
    for (int i = 0; i < 2; i++) {
        const bouma_io *io = tables[i];
        void *root;

        REQUIRE(!io->attach(io->user, &root, path, 1));
        CHECK_EQ(write_text(io, root, "no/file", BOUMA_OPEN_MODE_CREATE, "x"),
                 ENOENT);
        CHECK_EQ(io->make_dir(io->user, root, "no/dir"), ENOENT);
        io->detach(io->user, root);
    }
    bouma_io_memory_free(memory);
}

/* ---- POSIX -------------------------------------------------------------- */

static void symbolic_links_are_refused(const char *dir)
{
    const bouma_io *io = bouma_io_posix();
    char path[256], link[640], outside[512];
    struct listing l = {{{0}}, 0, 0};
    struct stat st;
    void *root, *f;

    snprintf(path, sizeof(path), "%s/links", dir);
    REQUIRE(!io->attach(io->user, &root, path, 1));
    snprintf(outside, sizeof(outside), "%s/outside", dir);
    REQUIRE(!mkdir(outside, 0777));
    REQUIRE(!io->make_dir(io->user, root, "real"));
    REQUIRE(!write_text(io, root, "real/file", BOUMA_OPEN_MODE_CREATE, "x"));
    snprintf(link, sizeof(link), "%s/dir", path);
    REQUIRE(!symlink(outside, link));
    snprintf(link, sizeof(link), "%s/inside", path);
    REQUIRE(!symlink("real", link));
    snprintf(link, sizeof(link), "%s/file", path);
    REQUIRE(!symlink("real/file", link));
    snprintf(link, sizeof(link), "%s/dangling", path);
    REQUIRE(!symlink("../outside/made", link));

    CHECK_EQ(io->open(io->user, root, &f, "file", BOUMA_OPEN_MODE_READ), ELOOP);
    CHECK(io->open(io->user, root, &f, "file", BOUMA_OPEN_MODE_APPEND) != 0);
    CHECK(io->open(io->user, root, &f, "dangling", BOUMA_OPEN_MODE_APPEND) !=
          0);
    CHECK_EQ(io->open(io->user, root, &f, "dangling", BOUMA_OPEN_MODE_CREATE),
             EEXIST);
    CHECK(io->open(io->user, root, &f, "inside/file", BOUMA_OPEN_MODE_READ) !=
          0);
    CHECK(io->open(io->user, root, &f, "dir/x", BOUMA_OPEN_MODE_CREATE) != 0);
    CHECK(io->make_dir(io->user, root, "dir/x") != 0);
    CHECK(io->list(io->user, root, "dir", collect, &l) != 0);
    CHECK(io->sync_dir(io->user, root, "dir") != 0);
    CHECK(io->remove(io->user, root, "inside/file") != 0);
    CHECK(io->publish(io->user, root, "real/file", "dir/file", 1) != 0);
    CHECK(io->publish(io->user, root, "inside/file", "stolen", 0) != 0);
    CHECK_TEXT(read_text(io, root, "real/file"), "x");
    snprintf(link, sizeof(link), "%s/made", outside);
    CHECK(stat(link, &st) != 0);
    CHECK_EQ(l.count, 0);
    io->detach(io->user, root);
}

static void pipes_and_directories_are_no_files(const char *dir)
{
    const bouma_io *io = bouma_io_posix();
    char path[256], fifo[512], link[512];
    void *root, *f;

    snprintf(path, sizeof(path), "%s/odd", dir);
    REQUIRE(!io->attach(io->user, &root, path, 1));
    snprintf(fifo, sizeof(fifo), "%s/fifo", path);
    REQUIRE(!mkfifo(fifo, 0666));
    REQUIRE(!io->make_dir(io->user, root, "dir"));
    CHECK_EQ(io->open(io->user, root, &f, "fifo", BOUMA_OPEN_MODE_READ),
             ENOTSUP);
    CHECK(io->open(io->user, root, &f, "dir", BOUMA_OPEN_MODE_READ) != 0);
    /* Links are not followed, also to directories, which is told. */
    snprintf(link, sizeof(link), "%s/link", path);
    REQUIRE(!symlink("dir", link));
    CHECK_EQ(io->make_dir(io->user, root, "link/a"), ELOOP);
    CHECK_EQ(io->sync_dir(io->user, root, "link"), ELOOP);
    CHECK_EQ(io->make_dir(io->user, root, "fifo/a"), ENOTDIR);
    io->detach(io->user, root);
}

static int open_descriptors(void)
{
    int n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) != -1;
    return n;
}

static void a_process_knows_itself_and_the_dead(void)
{
    const bouma_io *io = bouma_io_posix();
    char text[512], dead[640], *pid, *space;

    CHECK_EQ(io->identity(io->user, text, sizeof(text)), 0);
    CHECK(!strchr(text, '\n'));
    CHECK_EQ(io->alive(io->user, text), 1);
    pid = strstr(text, " pid ");
    space = strstr(text, " namespace ");
    REQUIRE(pid && space);
    snprintf(dead, sizeof(dead), "%.*s pid 999999999 start 1%s",
             (int)(pid - text), text, space);
    CHECK_EQ(io->alive(io->user, dead), 0);
    /* The same number, but of a process that began at another time. */
    snprintf(dead, sizeof(dead), "%.*s pid %ld start 1%s", (int)(pid - text),
             text, (long)getpid(), space);
    CHECK_EQ(io->alive(io->user, dead), 0);
    /* Where numbers of processes mean something else, nothing can be told. */
    snprintf(dead, sizeof(dead), "%.*s pid %ld start 1 namespace 1",
             (int)(pid - text), text, (long)getpid());
    CHECK_EQ(io->alive(io->user, dead), -1);
    CHECK_EQ(io->alive(io->user, "host elsewhere pid 1 start 1"), -1);
    CHECK_EQ(io->alive(io->user, ""), -1);
    CHECK_EQ(io->alive(io->user, "nonsense"), -1);
}

/* ---- a table that moves a few bytes at a time, and fails on demand ------- */

struct slow {
    const bouma_io *io;
    size_t most;
    int fail_after; /* calls of read and write; -1: never */
    int code;
};

static int slow_read(void *user, void *file, void *data, size_t bytes,
                     uint64_t offset, size_t *done)
{
    struct slow *s = user;

    if (s->fail_after >= 0 && s->fail_after-- == 0)
        return s->code;
    return s->io->read(s->io->user, file, data,
                       bytes < s->most ? bytes : s->most, offset, done);
}

static int slow_write(void *user, void *file, const void *data, size_t bytes,
                      uint64_t offset, size_t *done)
{
    struct slow *s = user;

    if (s->fail_after >= 0 && s->fail_after-- == 0)
        return s->code;
    return s->io->write(s->io->user, file, data,
                        bytes < s->most ? bytes : s->most, offset, done);
}

static int pass_attach(void *user, void **root, const char *path, int create)
{
    const bouma_io *io = ((struct slow *)user)->io;

    return io->attach(io->user, root, path, create);
}

static void pass_detach(void *user, void *root)
{
    const bouma_io *io = ((struct slow *)user)->io;

    io->detach(io->user, root);
}

static int pass_open(void *user, void *root, void **file, const char *name,
                     bouma_open_mode mode)
{
    const bouma_io *io = ((struct slow *)user)->io;

    return io->open(io->user, root, file, name, mode);
}

static int pass_remove(void *user, void *root, const char *name)
{
    const bouma_io *io = ((struct slow *)user)->io;

    return io->remove(io->user, root, name);
}

static int pass_file_size(void *user, void *file, uint64_t *bytes)
{
    const bouma_io *io = ((struct slow *)user)->io;

    return io->file_size(io->user, file, bytes);
}

static bouma_io slow_table(struct slow *s)
{
    bouma_io io = *s->io;

    io.user = s;
    io.attach = pass_attach;
    io.detach = pass_detach;
    io.open = pass_open;
    io.remove = pass_remove;
    io.file_size = pass_file_size;
    io.read = slow_read;
    io.write = slow_write;
    return io; /* no more of it is called here, but what passes 'user' over */
}

static void short_reads_and_writes_are_continued(void)
{
    bouma_io *memory = bouma_io_memory_new();
    struct slow slow = {memory, 7, -1, 0};
    bouma_io io = slow_table(&slow);
    struct bm_error error = {0};
    uint8_t data[1000];
    struct bm_buffer b;
    struct bm_store s;

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 7);
    REQUIRE(!bm_store_open(&s, &io, bm_allocator_default(), "d", 1, &error));
    CHECK_EQ(bm_store_save(&s, "f", data, sizeof(data), 0, &error), BOUMA_OK);
    CHECK_EQ(s.bytes_written, sizeof(data));
    bm_buffer_init(&b, bm_allocator_default());
    CHECK_EQ(bm_store_load(&s, "f", &b, 1000, &error), BOUMA_OK);
    CHECK_EQ(b.size, sizeof(data));
    CHECK(!memcmp(b.data, data, sizeof(data)));
    CHECK_EQ(s.bytes_read, sizeof(data));
    CHECK_EQ(s.files_opened, 2);
    /* Too long for what it is. */
    CHECK_EQ(bm_store_load(&s, "f", &b, 999, &error), BOUMA_ELIMIT);
    CHECK_TEXT(error.text, "d/f");
    bm_buffer_release(&b);
    bm_store_close(&s);
    bouma_io_memory_free(memory);
}

static void failures_are_told_with_name_and_reason(void)
{
    static const struct {
        int code, status;
        const char *text;
    } cases[] = {{ENOSPC, BOUMA_ENOSPC, "no space left"},
                 {EDQUOT, BOUMA_ENOSPC, "quota"},
                 {EIO, BOUMA_EIO, "input/output"},
                 {EACCES, BOUMA_EIO, "permission"},
                 {ENOMEM, BOUMA_ENOMEM, "memory"},
                 {9999, BOUMA_EIO, "9999"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int after = 0; after < 3; after++) {
            bouma_io *memory = bouma_io_memory_new();
            struct slow slow = {memory, 7, after, cases[i].code};
            bouma_io io = slow_table(&slow);
            struct bm_error error = {0};
            struct bm_store s;

            REQUIRE(!bm_store_open(&s, &io, bm_allocator_default(), "dir", 1,
                                   &error));
            CHECK_EQ(
                bm_store_save(&s, "f", "0123456789abcdefghij", 20, 0, &error),
                cases[i].status);
            CHECK_EQ(error.status, cases[i].status);
            CHECK_TEXT(error.text, "dir/f");
            CHECK_TEXT(error.text, cases[i].text);
            CHECK(!bm_store_exists(&s, "f")); /* no half of a file */
            bm_store_close(&s);
            bouma_io_memory_free(memory);
        }
}

static int write_nothing(void *user, void *file, const void *data, size_t bytes,
                         uint64_t offset, size_t *done)
{
    (void)user;
    (void)file;
    (void)data;
    (void)bytes;
    (void)offset;
    *done = 0;
    return 0;
}

static void a_write_of_nothing_does_not_go_on_for_ever(void)
{
    bouma_io *memory = bouma_io_memory_new();
    struct slow slow = {memory, 7, -1, 0};
    bouma_io io = slow_table(&slow);
    struct bm_error error = {0};
    struct bm_store s;

    io.write = write_nothing;
    REQUIRE(!bm_store_open(&s, &io, bm_allocator_default(), "d", 1, &error));
    CHECK_EQ(bm_store_save(&s, "f", "abc", 3, 0, &error), BOUMA_EIO);
    bm_store_close(&s);
    bouma_io_memory_free(memory);
}

static void a_file_that_ends_early_is_damaged(void)
{
    bouma_io *memory = bouma_io_memory_new();
    struct bm_error error = {0};
    struct bm_store s;
    struct bm_file f;
    char text[10];

    REQUIRE(!bm_store_open(&s, memory, bm_allocator_default(), "d", 1, &error));
    REQUIRE(!bm_store_save(&s, "f", "abc", 3, 1, &error));
    REQUIRE(!bm_file_open(&f, &s, "f", BOUMA_OPEN_MODE_READ, &error));
    CHECK_EQ(bm_file_read(&f, text, 3, 0, &error), BOUMA_OK);
    CHECK_EQ(bm_file_read(&f, text, 4, 0, &error), BOUMA_EFORMAT);
    CHECK_TEXT(error.text, "ends at byte 3");
    CHECK_EQ(bm_file_close(&f, &error), BOUMA_OK);
    CHECK_EQ(bm_file_close(&f, &error), BOUMA_OK);
    bm_error_clear(&error);
    CHECK_EQ(bm_store_save(&s, "f", "abc", 3, 1, &error), BOUMA_EEXISTS);
    bm_error_clear(&error);
    CHECK_EQ(bm_file_open(&f, &s, "g", BOUMA_OPEN_MODE_READ, &error),
             BOUMA_ENOTFOUND);
    CHECK_TEXT(error.text, "d/g");
    bm_store_close(&s);
    bm_store_close(&s);
    bouma_io_memory_free(memory);
}

static void the_first_error_is_the_one_that_is_kept(void)
{
    struct bm_error e = {0};

    CHECK_EQ(bm_fail(&e, BOUMA_EINVAL, "the %s", "cause"), BOUMA_EINVAL);
    CHECK_EQ(bm_fail(&e, BOUMA_EIO, "cleaning up"), BOUMA_EIO);
    CHECK_EQ(bm_fail_io(&e, ENOSPC, "more"), BOUMA_ENOSPC);
    CHECK_EQ(e.status, BOUMA_EINVAL);
    CHECK(!strcmp(e.text, "the cause"));
    bm_error_prefix(&e, "step %d", 7);
    CHECK(!strcmp(e.text, "step 7: the cause"));
    for (int i = 0; i < 200; i++) /* beyond its room */
        bm_error_prefix(&e, "prefix number %d", i);
    CHECK_EQ(strlen(e.text), BM_ERROR_BYTES - 1);
}

/* ---- threads ------------------------------------------------------------ */

enum { THREADS = 4, STEPS = 20, CELLS = 500, DIRECTORIES = 1000 };

struct worker {
    bouma_io *io;
    int number;
    atomic_int *ready;
    int wrong;
};

static int count_entry(void *context, const char *entry)
{
    (void)entry;
    ++*(int *)context;
    return 0;
}

/* Make many directories under a root of its own: all are there then. */
static int make_directories(bouma_io *io, int number)
{
    char name[16];
    void *root;
    int wrong, found = 0;

    snprintf(name, sizeof(name), "r%d", number);
    wrong = io->attach(io->user, &root, name, 1) != 0;
    if (wrong)
        return wrong;
    for (int i = 0; i < DIRECTORIES; i++) {
        snprintf(name, sizeof(name), "%d", i);
        wrong += io->make_dir(io->user, root, name) != 0;
    }
    wrong += io->list(io->user, root, "", count_entry, &found) != 0;
    io->detach(io->user, root);
    return wrong + (found != DIRECTORIES);
}

/* Write a dataset of its own and read it again, step by step. */
static void *work(void *context)
{
    struct worker *w = context;
    bouma_grid_spec shape = {
        .size = sizeof(shape), .ndims = 1, .shape = {CELLS}};
    bouma_variable_spec kind = {.size = sizeof(kind), .type = BOUMA_TYPE_I32};
    bouma_box all = {.hi = {CELLS}};
    bouma_variable *v;
    bouma_options options = {.size = sizeof(options)};
    bouma_dataset *ds, *reader;
    bouma_grid *g;
    int32_t given[CELLS], found[CELLS];
    char path[16];

    snprintf(path, sizeof(path), "d%d", w->number);
    options.io = w->io;
    options.threads = 1;
    atomic_fetch_add(w->ready, 1);
    while (atomic_load(w->ready) < THREADS)
        ;
    w->wrong += make_directories(w->io, w->number);
    w->wrong += bouma_dataset_create(&ds, path, &options) != 0;
    w->wrong += bouma_grid_define(&g, ds, "g", &shape) != 0;
    w->wrong += bouma_variable_define(&v, g, "v", &kind) != 0;
    for (int s = 0; s < STEPS; s++) {
        bouma_step *step = NULL;

        for (int i = 0; i < CELLS; i++)
            given[i] = i * w->number + s;
        w->wrong += bouma_step_begin(ds, s, s) != 0;
        w->wrong += test_put(v, &all, given) != 0;
        w->wrong += bouma_step_end(ds) != 0;
        memset(found, 0, sizeof(found));
        if (bouma_dataset_open(&reader, path, &options) ||
            bouma_step_open(&step, reader, s) ||
            test_read(bouma_grid_variable(bouma_step_grid(step, 0), 0), 0, NULL,
                      found) ||
            memcmp(found, given, sizeof(found)))
            w->wrong++;
        bouma_step_free(step);
        bouma_dataset_free(reader);
    }
    w->wrong += bouma_dataset_close(ds) != 0;
    bouma_dataset_free(ds);
    return NULL;
}

static void threads_share_a_table_in_memory(void)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    atomic_int ready = 0;
    bouma_io *io = bouma_io_memory_new();

    REQUIRE(io);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){io, i, &ready, 0};
        REQUIRE(!pthread_create(&threads[i], NULL, work, &workers[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_EQ(workers[i].wrong, 0);
    }
    bouma_io_memory_free(io);
}

struct listed {
    bouma_io *io;
    void *root;
    int count;
};

static void *list_again(void *argument)
{
    struct listed *l = argument;
    struct listing all = {.count = 0};

    CHECK_EQ(l->io->list(l->io->user, l->root, "", collect, &all), 0);
    CHECK_EQ(all.count, 2);
    return NULL;
}

/* Waits for a thread that uses the same table: it would wait for ever if the
 * table were locked. */
static int wait_for_another(void *context, const char *entry)
{
    struct listed *l = context;
    pthread_t thread;

    (void)entry;
    l->count++;
    REQUIRE(!pthread_create(&thread, NULL, list_again, l));
    return pthread_join(thread, NULL);
}

static void a_list_is_told_while_others_use_the_table(void)
{
    struct listed l = {.io = bouma_io_memory_new()};

    REQUIRE(l.io && !l.io->attach(l.io->user, &l.root, "data", 1));
    CHECK_EQ(write_text(l.io, l.root, "a", BOUMA_OPEN_MODE_CREATE, "1"), 0);
    CHECK_EQ(write_text(l.io, l.root, "b", BOUMA_OPEN_MODE_CREATE, "2"), 0);
    CHECK_EQ(l.io->list(l.io->user, l.root, "", wait_for_another, &l), 0);
    CHECK_EQ(l.count, 2);
    l.io->detach(l.io->user, l.root);
    bouma_io_memory_free(l.io);
}

int main(void)
{
    char dir[] = "/tmp/bouma-test-store-XXXXXX";
    int before = open_descriptors();

    REQUIRE(mkdtemp(dir));
    both_tables_keep_the_same_promises(dir);
    a_missing_directory_is_an_error_in_both(dir);
    symbolic_links_are_refused(dir);
    pipes_and_directories_are_no_files(dir);
    CHECK_EQ(open_descriptors(), before);
    a_process_knows_itself_and_the_dead();
    short_reads_and_writes_are_continued();
    failures_are_told_with_name_and_reason();
    a_write_of_nothing_does_not_go_on_for_ever();
    a_file_that_ends_early_is_damaged();
    the_first_error_is_the_one_that_is_kept();
    threads_share_a_table_in_memory();
    a_list_is_told_while_others_use_the_table();
    CHECK_EQ(remove_tree(dir), 0);
    return check_result();
}
