/* weak_fs.h -- a file system in memory that promises less than any real one.
 *
 * What is not synced may be lost in a crash, in every way we could think of:
 * - writes to a file: each of them lost, torn into pieces of 64 bytes, turned
 *   into zeros (the size grew, the data did not come) or kept, in any order;
 * - changes of a directory (new entry, rename, removal): any subset of them,
 *   until the directory itself is synced. Syncing a file says nothing about
 *   its entry, syncing a directory nothing about its own entry.
 *
 * A program writes through weak_fs_io(), the machine dies at a chosen call
 * (weak_fs_die_at), and weak_fs_crash() picks one of the states the disk may
 * then be in. Errors that a program survives are fault_io.h's business; the two
 * can be stacked.
 *
 * A dataset's own directory is durable once attach() made it, as only attach()
 * knows the directory above. */
#ifndef WEAK_FS_H
#define WEAK_FS_H

#include <stdint.h>

#include "bouma_store.h"

struct weak_fs;

/* Never NULL: out of memory ends the test program. */
struct weak_fs *weak_fs_new(uint64_t seed);
/* A copy of all files, synced and unsynced, that is not dead, has no open
 * handles, and has its own 'seed'. */
struct weak_fs *weak_fs_clone(const struct weak_fs *fs, uint64_t seed);
void weak_fs_free(struct weak_fs *fs);

/* The table to put into bouma_options; belongs to 'fs'. */
const bouma_io *weak_fs_io(struct weak_fs *fs);

/* Calls so far. */
long weak_fs_calls(const struct weak_fs *fs);

/* Let the machine die in call number 'call' (of weak_fs_calls(), from 1; 0:
 * never): that call and all later ones fail. If it is a write, a part of it may
 * have been done. */
void weak_fs_die_at(struct weak_fs *fs, long call);
int weak_fs_is_dead(const struct weak_fs *fs);

enum weak_crash {
    WEAK_CRASH_NONE_KEPT, /* nothing unsynced survives */
    WEAK_CRASH_SOME_KEPT, /* a random part of it, which is then durable */
    WEAK_CRASH_KILLED     /* all of it: only the program ended. It is still
                             not durable, and a later crash may take it */
};

/* Turn what is there into what may be there when the next program looks. */
void weak_fs_crash(struct weak_fs *fs, enum weak_crash how);

/* As Linux does when an fsync fails: forget that the unsynced writes of an open
 * file were ever to reach the disk. They can still be read until a crash, and
 * a second sync() says success and changes nothing. */
void weak_fs_lose_writes(struct weak_fs *fs, void *file);

/* What 'alive' answers (default 0) and what 'identity' tells. */
void weak_fs_set_alive(struct weak_fs *fs, int answer);
void weak_fs_set_identity(struct weak_fs *fs, const char *text);

/* Leave out a safety action, to see whether a test notices. */
enum weak_drop {
    WEAK_DROP_NOTHING,
    WEAK_DROP_SYNC,              /* sync() of files does nothing */
    WEAK_DROP_SYNC_DIR,          /* sync_dir() does nothing */
    WEAK_DROP_FIRST_SYNC_DIR,    /* the first one of each directory */
    WEAK_DROP_LATER_SYNC_DIR,    /* all but the first one of each directory */
    WEAK_DROP_PUBLISH_EXCLUSIVE, /* publish() replaces, told to or not */
    WEAK_DROP_CREATE_EXCLUSIVE,  /* open() to create takes an existing file */
    WEAK_DROP_MAKE_EXCLUSIVE     /* make_dir() takes an existing directory */
};

/* 'pattern' is a file name pattern (fnmatch) for the names concerned, such as
 * "steps/?*", where '*' does not match '/'; NULL: all. It must outlive 'fs'. */
void weak_fs_drop(struct weak_fs *fs, enum weak_drop what, const char *pattern);

#endif
