/* bouma_store.h -- bring your own storage and your own memory.
 *
 * Example: a dataset in memory
 *
 *     bouma_io *io = bouma_io_memory_new();
 *     bouma_dataset *scratch = NULL;
 *     bouma_options options = {.size = sizeof(options)};
 *
 *     options.io = io;
 *     int rc = bouma_dataset_create(&scratch, "scratch", &options);
 *     if (!rc)
 *         rc = bouma_dataset_close(scratch);
 *     if (rc)
 *         fprintf(stderr, "%s\n", bouma_error_message(scratch));
 *     bouma_dataset_free(scratch);
 *     bouma_io_memory_free(io);
 *
 * All file access of the library goes through one table of functions, all
 * memory through another. The default tables use POSIX and malloc; put your own
 * into bouma_options to store elsewhere, to count calls, or to make them fail.
 *
 * Every function of bouma_io returns 0 or a positive errno value. A root is a
 * directory that holds one dataset; a 'name' is relative to it, made of parts
 * that the library derives from integers ("steps/00000042/manifest") and, below
 * "idx", from names of grids that it has checked. An implementation must not
 * follow symbolic links below the root. Calls on one root come from one thread
 * at a time, but not always from the same one: a thread of the library may
 * write. With the option 'threads' above 1, threads of the library also call
 * the allocator, several at once; so its default is 1 with an allocator of your
 * own. A table must outlive all handles that use it, and may not free any of
 * them. */
#ifndef BOUMA_STORE_H
#define BOUMA_STORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(BOUMA_BUILDING) && defined(__GNUC__)
#define BOUMA_API __attribute__((visibility("default")))
#else
#define BOUMA_API
#endif

/* Memory. 'resize' acts as realloc (NULL: a new block; 'bytes' is never zero)
 * and returns NULL if there is no memory; 'release' accepts NULL. */
typedef struct bouma_allocator {
    size_t size; /* sizeof(bouma_allocator) */
    void *user;  /* passed to both functions */
    void *(*resize)(void *user, void *block, size_t bytes);
    void (*release)(void *user, void *block);
} bouma_allocator;

/* How bouma_io opens a file. */
typedef enum bouma_open_mode {
    /* an existing regular file, for reading */
    BOUMA_OPEN_MODE_READ = 1,
    /* a new file, for writing; EEXIST if it exists */
    BOUMA_OPEN_MODE_CREATE = 2,
    /* created if missing; 'write' ignores the offset and appends */
    BOUMA_OPEN_MODE_APPEND = 3,
    /* created if missing, for reading and writing; the content stays. Follows
     * links, as the next two do */
    BOUMA_OPEN_MODE_UPDATE = 4,
    /* the same, but emptied */
    BOUMA_OPEN_MODE_EMPTY = 5,
    /* an existing file of any program, for reading */
    BOUMA_OPEN_MODE_VIEW = 6
} bouma_open_mode;

/* Storage: a table of functions. */
typedef struct bouma_io {
    size_t size; /* sizeof(bouma_io) */
    void *user;  /* passed to every function */

    /* Begin and end work on the directory 'path'. With 'create' the directory
     * is created: EEXIST if it exists already. */
    int (*attach)(void *user, void **root, const char *path, int create);
    void (*detach)(void *user, void *root);

    int (*make_dir)(void *user, void *root, const char *name);
    /* Call 'each' with the name of every entry, in any order, until it returns
     * non-zero; return that. ENOTDIR if it is no directory. */
    int (*list)(void *user, void *root, const char *name,
                int (*each)(void *context, const char *entry), void *context);
    /* Make the entries of a directory durable; "" is the root itself. */
    int (*sync_dir)(void *user, void *root, const char *name);
    /* Rename atomically, also from one directory of the root to another, and
     * directories with their content. Without 'replace', EEXIST if 'to' exists,
     * and nothing changes. */
    int (*publish)(void *user, void *root, const char *from, const char *to,
                   int replace);
    int (*remove)(void *user, void *root, const char *name);

    int (*open)(void *user, void *root, void **file, const char *name,
                bouma_open_mode mode);
    int (*file_size)(void *user, void *file, uint64_t *bytes);
    /* May transfer fewer bytes than asked, as pread and pwrite; *done is their
     * number. A read of 0 bytes is the end of the file. */
    int (*read)(void *user, void *file, void *data, size_t bytes,
                uint64_t offset, size_t *done);
    int (*write)(void *user, void *file, const void *data, size_t bytes,
                 uint64_t offset, size_t *done);
    int (*sync)(void *user, void *file);
    int (*close)(void *user, void *file);

    /* 'identity' describes this process in one line of text, NUL-terminated,
     * which is stored with the epoch that a writer claims. 'alive' says whether
     * the process of such a line still runs: 1 yes, 0 no, -1 unknown (it is on
     * another machine). */
    int (*identity)(void *user, char *text, size_t bytes);
    int (*alive)(void *user, const char *text);

    /* May be NULL. A hint that the file will have 'bytes' bytes, so that a file
     * system can allocate them at once, or report now that there is no space
     * (ENOSPC). */
    int (*reserve)(void *user, void *file, uint64_t bytes);

    /* May be NULL. Remove an empty directory; else ENOTEMPTY. */
    int (*remove_dir)(void *user, void *root, const char *name);

    /* May be NULL. The size of the blocks or stripes of the storage; writes
     * should be multiples of it. */
    int (*block_bytes)(void *user, void *root, uint64_t *bytes);

    /* 1: calls on different roots may come from several threads at once.
     * Otherwise background work is done on the calling thread. */
    int concurrent;

    /* May be NULL. Whether two roots are the same directory. */
    int (*same)(void *user, void *root, void *other);

    /* These two may be NULL, or missing from a shorter table, whose 'size' ends
     * before them: then no grid can have 'idx'. Make a symbolic link 'name'
     * that has this text, a path relative to the link's own directory; EEXIST
     * if something has the name. And the text of one: EINVAL if it is no link,
     * ENAMETOOLONG if it needs more bytes with its NUL. */
    int (*link)(void *user, void *root, const char *name, const char *text);
    int (*read_link)(void *user, void *root, const char *name, char *text,
                     size_t bytes);
} bouma_io;

/* The table for POSIX file systems. */
BOUMA_API const bouma_io *bouma_io_posix(void);

/* A table that keeps everything in memory; for tests, and for serial programs
 * that stage data or have no file system. Other processes do not see it, so a
 * dataset or file of several ranks cannot be opened with it (BOUMA_EINVAL):
 * stage these in a directory, as in /dev/shm, or with the option 'local'.
 * Several threads may use it, each with its own datasets. NULL if there is no
 * memory. Once freed, it can open nothing more, and goes with the last dataset
 * or file that uses it. */
BOUMA_API bouma_io *bouma_io_memory_new(void);
BOUMA_API void bouma_io_memory_free(bouma_io *io);

#ifdef __cplusplus
}
#endif
#endif
