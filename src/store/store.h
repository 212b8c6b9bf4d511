/* store.h -- files of one dataset, through the I/O table: loops around short
 * reads and writes, counts, and messages with names and numbers. */
#ifndef BM_STORE_H
#define BM_STORE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

#define BM_NAME_BYTES 272

struct bm_store {
    const bouma_io *io;
    const bouma_allocator *a;
    void *root;
    char *path;
    uint64_t memory_limit;
    _Atomic uint64_t bytes_read, bytes_written, files_opened;
    pthread_mutex_t lock; /* files may be written by a thread meanwhile; the
                             table's functions are called one at a time */
};

struct bm_file {
    struct bm_store *store; /* NULL: was never opened */
    void *handle;           /* NULL: not open */
    char name[BM_NAME_BYTES];
};

/* Whether so many ranks can share what a table stores: EINVAL if not. */
int bm_io_check_ranks(const bouma_io *io, int ranks, const char *path,
                      struct bm_error *error);

/* Whether a table has symbolic links. An older one ends before them. */
#define BM_IO_LEAST_BYTES offsetof(bouma_io, link)
static inline int bm_io_has_links(const bouma_io *io)
{
    return io->size >= sizeof(bouma_io) && io->link && io->read_link;
}

/* A zeroed struct can always be closed. */
int bm_store_open(struct bm_store *s, const bouma_io *io,
                  const bouma_allocator *a, const char *path, int create,
                  struct bm_error *error);
void bm_store_close(struct bm_store *s);

/* Whether both are the same directory, as far as can be told. */
int bm_store_same(const struct bm_store *s, const struct bm_store *other);

/* The storage's block or stripe; 0: not known. */
uint64_t bm_store_block(const struct bm_store *s);

/* What is no file, but a directory, pipe or device, is EFORMAT to who reads. */
int bm_file_open(struct bm_file *f, struct bm_store *s, const char *name,
                 bouma_open_mode mode, struct bm_error *error);
int bm_file_size(struct bm_file *f, uint64_t *bytes, struct bm_error *error);
/* All of the bytes or an error; the end of the file is EFORMAT. */
int bm_file_read(struct bm_file *f, void *data, size_t bytes, uint64_t offset,
                 struct bm_error *error);
int bm_file_write(struct bm_file *f, const void *data, size_t bytes,
                  uint64_t offset, struct bm_error *error);
/* Tell the size that the file will have; may find that there is no room. */
int bm_file_reserve(struct bm_file *f, uint64_t bytes, struct bm_error *error);
int bm_file_sync(struct bm_file *f, struct bm_error *error);
/* Closes also after a failure; a second close does nothing. */
int bm_file_close(struct bm_file *f, struct bm_error *error);

/* A whole file, at most 'limit' bytes. */
int bm_store_load(struct bm_store *s, const char *name, struct bm_buffer *out,
                  uint64_t limit, struct bm_error *error);
/* A new file; with 'sync' durable (but not yet its name). */
int bm_store_save(struct bm_store *s, const char *name, const void *data,
                  size_t bytes, int sync, struct bm_error *error);

/* 'existing' may be fine: then EEXIST is no error. */
int bm_store_make_dir(struct bm_store *s, const char *name, int existing,
                      struct bm_error *error);
int bm_store_sync_dir(struct bm_store *s, const char *name,
                      struct bm_error *error);
int bm_store_publish(struct bm_store *s, const char *from, const char *to,
                     int replace, struct bm_error *error);
/* A symbolic link; one that is there already and has this text will do. */
int bm_store_link(struct bm_store *s, const char *name, const char *text,
                  struct bm_error *error);
/* Whether there is one that has this text. */
int bm_store_is_link_to(struct bm_store *s, const char *name, const char *text);
/* The text of a link, or "". */
void bm_store_read_link(struct bm_store *s, const char *name,
                        char text[BM_NAME_BYTES]);
/* Best effort: nothing depends on it. */
void bm_store_remove(struct bm_store *s, const char *name);
/* A directory that is empty; the same. */
void bm_store_remove_dir(struct bm_store *s, const char *name);
/* BOUMA_OK, ENOMEM or what the table says; 'each' returns 0 to go on. */
int bm_store_list(struct bm_store *s, const char *name,
                  int (*each)(void *context, const char *entry), void *context,
                  struct bm_error *error);
/* 1 if there is a file that can be opened; 1 if there surely is none. */
int bm_store_exists(struct bm_store *s, const char *name);
int bm_store_is_absent(struct bm_store *s, const char *name);
/* 1 if something is there that is no file. */
int bm_store_is_no_file(struct bm_store *s, const char *name);

/* ---- names, derived from integers only ---------------------------------- */

#define BM_NAME_DATASET         "DATASET"
#define BM_NAME_DATASET_NEW     "DATASET.tmp."
#define BM_NAME_CLOBBERED       BM_NAME_DATASET_NEW "clobbered"
#define BM_NAME_EPOCHS          "epochs"
#define BM_NAME_STEPS           "steps"
#define BM_NAME_INDEX           "index"
#define BM_NAME_INDEX_NEW       BM_NAME_INDEX ".tmp"
#define BM_NAME_LOST            "lost"
#define BM_NAME_IDX             "idx"
#define BM_NAME_TRUNCATIONS     "truncations"
#define BM_NAME_TRUNCATIONS_NEW BM_NAME_TRUNCATIONS ".tmp"

/* Which writing of a step: the epoch of its writer, and the attempt in it. */
struct bm_generation {
    uint32_t epoch, attempt;
};

void bm_name_step(char name[BM_NAME_BYTES], uint64_t step);
void bm_name_manifest(char name[BM_NAME_BYTES], uint64_t step);
void bm_name_manifest_new(char name[BM_NAME_BYTES], uint64_t step,
                          struct bm_generation g);
/* The first 1,024 subfiles of a step are in its directory, the others in
 * subdirectories of that, of as many files each: storage is slow when very many
 * files are made in one directory. */
void bm_name_subfile(char name[BM_NAME_BYTES], uint64_t step, uint32_t subfile,
                     struct bm_generation g);
/* A subfile while it is copied to here: each copier has a name of its own. */
void bm_name_copy(char name[BM_NAME_BYTES], uint64_t step, uint32_t subfile,
                  struct bm_generation g, uint32_t nonce);
/* A subfile that repair makes whole, beside it: each repair has a name of its
 * own. */
void bm_name_mended(char name[BM_NAME_BYTES], const char *subfile,
                    uint32_t epoch);
void bm_name_epoch(char name[BM_NAME_BYTES], uint32_t epoch);
void bm_name_epoch_owner(char name[BM_NAME_BYTES], uint32_t epoch);
/* The same while it is not signed. */
void bm_name_epoch_owner_new(char name[BM_NAME_BYTES], uint32_t epoch);
void bm_name_epoch_closed(char name[BM_NAME_BYTES], uint32_t epoch);

/* Back from an entry of a directory; 0 unless it is exactly such a name. Those
 * of the directory of a step are entries of that or of a subdirectory, with its
 * name and a slash: see step_dir.h. */
int bm_name_parse_step(const char *entry, uint64_t *step);
int bm_name_parse_epoch(const char *entry, uint32_t *epoch);
int bm_name_parse_manifest_new(const char *entry, struct bm_generation *g);
int bm_name_parse_subfile(const char *entry, uint32_t *subfile,
                          struct bm_generation *g);
int bm_name_is_copy(const char *entry, struct bm_generation *g);
int bm_name_parse_mended(const char *entry, uint32_t *epoch);
/* The name of an entry of the directory of a step. */
void bm_name_in_step(char name[BM_NAME_BYTES], uint64_t step,
                     const char *entry);
/* Whether an entry of the directory of a step can be a subdirectory. */
int bm_name_is_folder(const char *entry);
/* The subdirectory of a step that the file 'name' is in; 0 if it is in none. */
int bm_name_folder(char folder[BM_NAME_BYTES], const char *name);
/* Whether two files are in the same directory. */
int bm_name_same_folder(const char *a, const char *b);
/* The files that one directory has at most; a power of 2. */
uint32_t bm_name_folder_files(void);
/* The name of what a writer leaves in the directory of a step, a subfile or a
 * manifest that is not published; 0 if the entry is neither. */
int bm_name_written(char name[BM_NAME_BYTES], uint64_t step, const char *entry);
/* What an NFS client makes of a file that is removed while a process of its
 * machine has it open. It is gone when that process closes it; till then it
 * cannot be removed, nor can its directory. */
int bm_name_is_ghost(const char *entry);

#endif
