/* weak_fs_test.c -- the weak file system is as weak as it says, and no weaker:
 * what is synced stays. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weak_fs.h"

static int failures;

#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__,       \
                    #condition);                                               \
            failures++;                                                        \
        }                                                                      \
    } while (0)

#define BYTES 200
#define TRIES 400

static void *attached(const bouma_io *io, int create)
{
    void *root = NULL;

    CHECK(io->attach(io->user, &root, "d", create) == 0);
    return root;
}

/* A file of BYTES times 'x', synced or not; so is its directory. */
static void put_file(const bouma_io *io, void *root, const char *name, int sync,
                     int sync_dir)
{
    char data[BYTES];
    size_t done = 0;
    void *file = NULL;

    memset(data, 'x', sizeof(data));
    CHECK(io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_CREATE) == 0);
    CHECK(io->write(io->user, file, data, BYTES, 0, &done) == 0);
    CHECK(done == BYTES);
    if (sync)
        CHECK(io->sync(io->user, file) == 0);
    CHECK(io->close(io->user, file) == 0);
    if (sync_dir)
        CHECK(io->sync_dir(io->user, root, "") == 0);
}

/* 'a' absent, 'e' empty, 'w' whole, 'z' all zeros, 't' anything else. */
static char state_of(const bouma_io *io, void *root, const char *name)
{
    char data[BYTES + 1];
    size_t done = 0, same = 0, zeros = 0;
    void *file = NULL;

    if (io->open(io->user, root, &file, name, BOUMA_OPEN_MODE_READ) == ENOENT)
        return 'a';
    CHECK(io->read(io->user, file, data, sizeof(data), 0, &done) == 0);
    CHECK(io->close(io->user, file) == 0);
    for (size_t i = 0; i < done; i++) {
        same += data[i] == 'x';
        zeros += data[i] == 0;
    }
    if (done == 0)
        return 'e';
    if (same == BYTES)
        return 'w';
    return zeros == BYTES ? 'z' : 't';
}

static int seen(const char *states, char state)
{
    return strchr(states, state) != NULL;
}

/* The states that a file is found in after many power losses. */
static void states_after_loss(char *out, int sync, int sync_dir)
{
    struct weak_fs *fs = weak_fs_new(1);
    const bouma_io *io = weak_fs_io(fs);
    void *root = attached(io, 1);
    size_t count = 0;

    put_file(io, root, "f", sync, sync_dir);
    io->detach(io->user, root);
    for (uint64_t seed = 0; seed < TRIES; seed++) {
        struct weak_fs *copy = weak_fs_clone(fs, seed);
        const bouma_io *copy_io = weak_fs_io(copy);
        char state;

        weak_fs_crash(copy, WEAK_CRASH_SOME_KEPT);
        root = attached(copy_io, 0);
        state = state_of(copy_io, root, "f");
        out[count] = 0;
        if (!seen(out, state))
            out[count++] = state;
        copy_io->detach(copy_io->user, root);
        weak_fs_free(copy);
    }
    out[count] = 0;
    weak_fs_free(fs);
}

static void synced_files_stay(void)
{
    char states[8];

    states_after_loss(states, 1, 1);
    CHECK(strcmp(states, "w") == 0);
}

static void unsynced_writes_are_lost_torn_zeroed_or_kept(void)
{
    char states[8];

    states_after_loss(states, 0, 1);
    CHECK(strlen(states) == 4 && seen(states, 'e') && seen(states, 't') &&
          seen(states, 'z') && seen(states, 'w'));
}

static void a_synced_file_needs_a_synced_directory(void)
{
    char states[8];

    states_after_loss(states, 1, 0);
    CHECK(strlen(states) == 2 && seen(states, 'a') && seen(states, 'w'));
}

static void a_rename_is_lost_or_done_never_half(void)
{
    int old_name = 0, new_name = 0;

    for (uint64_t seed = 0; seed < TRIES; seed++) {
        struct weak_fs *fs = weak_fs_new(seed);
        const bouma_io *io = weak_fs_io(fs);
        void *root = attached(io, 1);
        char before, after;

        put_file(io, root, "f", 1, 1);
        CHECK(io->publish(io->user, root, "f", "g", 0) == 0);
        weak_fs_crash(fs, WEAK_CRASH_SOME_KEPT);
        before = state_of(io, root, "f");
        after = state_of(io, root, "g");
        CHECK((before == 'w') != (after == 'w'));
        old_name += before == 'w';
        new_name += after == 'w';
        io->detach(io->user, root);
        weak_fs_free(fs);
    }
    CHECK(old_name && new_name);
}

static void a_killed_program_loses_nothing_but_a_later_loss_may(void)
{
    struct weak_fs *fs = weak_fs_new(1);
    const bouma_io *io = weak_fs_io(fs);
    void *root = attached(io, 1);

    put_file(io, root, "f", 0, 0);
    weak_fs_crash(fs, WEAK_CRASH_KILLED);
    CHECK(state_of(io, root, "f") == 'w');
    weak_fs_crash(fs, WEAK_CRASH_NONE_KEPT);
    CHECK(state_of(io, root, "f") == 'a');
    io->detach(io->user, root);
    weak_fs_free(fs);
}

static void a_failed_sync_gives_writes_up_for_good(void)
{
    struct weak_fs *fs = weak_fs_new(1);
    const bouma_io *io = weak_fs_io(fs);
    void *root = attached(io, 1), *file = NULL;
    size_t done;

    CHECK(io->open(io->user, root, &file, "f", BOUMA_OPEN_MODE_CREATE) == 0);
    CHECK(io->write(io->user, file, "xx", 2, 0, &done) == 0);
    weak_fs_lose_writes(fs, file);
    CHECK(io->sync(io->user, file) == 0);
    CHECK(io->close(io->user, file) == 0);
    CHECK(io->sync_dir(io->user, root, "") == 0);
    CHECK(state_of(io, root, "f") == 't');
    weak_fs_crash(fs, WEAK_CRASH_SOME_KEPT);
    CHECK(state_of(io, root, "f") == 'e');
    io->detach(io->user, root);
    weak_fs_free(fs);
}

static void a_dead_machine_does_nothing_more(void)
{
    struct weak_fs *fs = weak_fs_new(1);
    const bouma_io *io = weak_fs_io(fs);
    void *root = attached(io, 1);

    weak_fs_die_at(fs, weak_fs_calls(fs) + 2);
    CHECK(io->make_dir(io->user, root, "a") == 0);
    CHECK(io->make_dir(io->user, root, "b") == EIO);
    CHECK(io->make_dir(io->user, root, "c") == EIO);
    weak_fs_crash(fs, WEAK_CRASH_KILLED);
    CHECK(io->make_dir(io->user, root, "a") == EEXIST);
    CHECK(io->make_dir(io->user, root, "b") == 0);
    io->detach(io->user, root);
    weak_fs_free(fs);
}

int main(void)
{
    synced_files_stay();
    unsynced_writes_are_lost_torn_zeroed_or_kept();
    a_synced_file_needs_a_synced_directory();
    a_rename_is_lost_or_done_never_half();
    a_killed_program_loses_nothing_but_a_later_loss_may();
    a_failed_sync_gives_writes_up_for_good();
    a_dead_machine_does_nothing_more();
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
