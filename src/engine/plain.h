/* plain.h -- a plain file that many ranks have segments of: the engine for any
 * program's files (bouma_file_*). */
#ifndef BM_PLAIN_H
#define BM_PLAIN_H

#include "base/option.h"
#include "engine/engine.h"
#include "engine/plain_group.h"
#include "plan/domain.h"
#include "store/store.h"

/* What was declared, and the plan that follows from it. */
struct bm_declared {
    int complete; /* by all ranks: it can be moved */
    size_t variables;
    uint64_t *bytes, *offset; /* [variables] */
    struct bm_domain domain;
    uint64_t buffer_bytes; /* of cells */
    bouma_tier tier;       /* of this rank's buffers */
};

/* Where a piece of this rank is in memory. */
struct bm_plain_source {
    uint32_t variable;
    uint64_t from;
};

/* How what is declared moves one way: kept for the next call. */
struct bm_plain_way {
    struct bm_pipe *pipe;            /* NULL: not made yet */
    struct bm_plain_source *sources; /* [source_count]; the tags of pieces */
    size_t source_count;
};

/* The call that is on: what it moves, and where to. */
struct bm_plain_call {
    int reading;
    void *const *data; /* [variables], the caller's */
};

struct bouma_file {
    struct bm_error error;
    const bouma_allocator *a;
    struct bm_options options; /* complete */
    struct bm_comm *comm;
    bouma_file_mode mode;
    struct bm_store store; /* of the file's directory */
    struct bm_file file;   /* open, if this rank has anything to do with it */
    char *name;            /* of the group's file, in the directory */
    int opened, closed, written;
    int freed; /* by its caller */
    int calls; /* under way, that call the caller back: they keep it */
    struct bm_file_group group; /* of this rank's file */
    struct bm_engine engine;
    struct bm_declared declared;
    struct bm_plain_way ways[2]; /* writing and reading */
    struct bm_plain_call call;
    bouma_file_report report;
};

/* Takes 'comm' over, also on failure. *out is there unless there was no memory
 * even for that. 'error' is what this rank has found wrong. Collective. */
int bm_plain_open(struct bouma_file **out, struct bm_comm *comm,
                  const char *path, bouma_file_mode mode,
                  const struct bm_options *options,
                  const struct bm_error *error);
void bm_plain_free(struct bouma_file *f);

/* Open the group's file, which is there. */
int bm_plain_open_file(struct bouma_file *f);

/* Whether this rank has a part of what is declared to write or read. */
int bm_plain_has_cells(const struct bouma_file *f);

/* What was declared, and what is kept of calls (or this alone), is of no use any
 * more. */
void bm_plain_forget_declared(struct bouma_file *f);
void bm_plain_forget_ways(struct bouma_file *f);

/* The rest is collective, too; 'rc' is what this rank has found wrong, and told
 * in f->error. */
int bm_plain_declare(struct bouma_file *f, size_t variables,
                     const uint64_t *count, const uint64_t *size,
                     const uint64_t *offset, int rc);
int bm_plain_move(struct bouma_file *f, void *const *data, int reading, int rc);
int bm_plain_reopen(struct bouma_file *f, const char *path,
                    bouma_file_mode mode, int rc);
int bm_plain_close(struct bouma_file *f);

#endif
