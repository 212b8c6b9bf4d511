/* pipeline.h -- one way to bring the buffers of all ranks into files and back.
 * (To store an array so that its boxes can be read is another thing, and measured
 * by bench/backend.h.)
 *
 * A pipeline is opened once; then it writes new files and reads them again, any
 * number of times. All functions are collective: every rank gets to the end of
 * each, whatever fails, and returns its own outcome; the caller then agrees.
 * What is timed is all that a program has to do when it knows its own sizes
 * alone: to exchange them, to plan, to move, to store, to close.
 *
 * To add one, write a file, and a line below. */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "base/option.h"
#include "comm/comm.h"
#include "context.h"
#include "store/store.h"

struct bench_request;

/* What all pipelines are given. */
struct bench_job {
    struct context *ctx;
    struct bm_comm *comm;             /* of all ranks, by the library */
    const struct bm_options *options; /* of the library, complete */
    struct bm_store *store;
    const char *root; /* path of the store */
    int64_t grid[3];  /* of ranks */
    int variables;
    const uint64_t *bytes; /* [variables], of this rank */
    int64_t files;         /* for those that make several */
    bool sync;             /* files are synced before they are closed */
    const struct bench_request *request; /* all that is asked for */
};

/* What a pipeline has that makes its data itself, in place of buffers, and whose
 * files only it knows. */
struct pipeline_own {
    /* Of this rank, in memory. */
    uint64_t (*bytes)(const struct bench_job *job);
    /* What the library says of the last write. Collective. */
    int (*record)(void *state, const struct bench_job *job, bouma_record *out);
    /* Wait until what was written to local storage is in the dataset.
     * Collective. */
    int (*drain)(void *state, const struct bench_job *job);
    /* Whether what was read last is what was written. Collective. */
    int (*verify)(void *state, const struct bench_job *job);
    /* Remove what was written last. Collective. */
    int (*remove)(void *state, const struct bench_job *job);
};

struct pipeline {
    const char *name; /* and that of the directory of its files */
    const char *help;
    const char *missing; /* what this program lacks for it; NULL: nothing */
    int (*open)(void **state, const struct pipeline *pipeline,
                const struct bench_job *job); /* may be NULL */
    /* The data of variable i are data[i]; NULL of one with 'own'. */
    int (*write)(void *state, const struct bench_job *job,
                 uint8_t *const *data);
    int (*read)(void *state, const struct bench_job *job, uint8_t *const *data);
    /* After a failure of 'open', too. May be NULL. */
    void (*close)(void *state, const struct bench_job *job);
    int choice; /* of one that shares its functions with others */
    const struct pipeline_own *own; /* NULL: buffers, and plain files */
};

/* Whole steps of the library, for `bench write`; in no list. */
extern const struct pipeline pipeline_steps;

/* Those that need no more than the library, and those of MPI. */
#define PIPELINES_ANYWHERE(X)                                                  \
    X(own_files, "file-per-process")                                           \
    X(count, "count")                                                          \
    X(running, "running")                                                      \
    X(optimal, "optimal")
#define PIPELINES_OF_MPI(X)                                                    \
    X(collective, "collective")                                                \
    X(group_collective, "group-collective")                                    \
    X(hdf5, "hdf5")                                                            \
    X(pnetcdf, "pnetcdf")
#define PIPELINES_ENTRY(id, text) extern const struct pipeline pipeline_##id;
PIPELINES_ANYWHERE(PIPELINES_ENTRY)
PIPELINES_OF_MPI(PIPELINES_ENTRY)
#undef PIPELINES_ENTRY

/* All of them, up to a NULL; and one by its name, or NULL. */
extern const struct pipeline *const pipelines[];
const struct pipeline *pipeline_find(const char *name);
enum { PIPELINES_MOST = 32 };

/* The name of a pipeline's i-th file, in the store. */
void pipeline_file(char name[BM_NAME_BYTES], const struct pipeline *pipeline,
                   int64_t i);

/* Keep the message of the library, and return the outcome. */
int pipeline_fail(const struct bench_job *job, const struct bm_error *error);

#endif
