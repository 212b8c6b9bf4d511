/* io_environment.h -- where a program runs, as far as moving bytes is
 * concerned: the machine, if anyone asks for it, and what follows from it and
 * the options. The same on all ranks. */
#ifndef BM_IO_ENVIRONMENT_H
#define BM_IO_ENVIRONMENT_H

#include "base/option.h"
#include "comm/comm.h"
#include "machine/machine.h"
#include "plan/placement.h"
#include "store/store.h"

struct bm_io_environment {
    struct bm_machine *machine; /* NULL: nobody asks for it */
    uint64_t buffer_bytes;      /* of each of a writer's buffers */
    uint64_t grain; /* what the storage has small blocks for; 0: it is best
                       written in pieces of the buffer's size */
    bouma_transport transport; /* 0: the usual one */
    const char *local;         /* directory on storage of the node, or "" */
};

/* The machine that 'options' (complete, and staying where they are) ask for.
 * Collective. A zeroed environment can be released. */
int bm_io_environment_find(struct bm_io_environment *env, struct bm_comm *comm,
                           const struct bm_options *options,
                           struct bm_error *error);
void bm_io_environment_release(struct bm_io_environment *env);

/* How large buffers are, where storage is not asked. */
uint64_t bm_io_environment_usual_buffer(const struct bm_options *options);

/* How large buffers are: as the options say, or the target's stripes, or what
 * the storage says of itself, or else what stays in caches. Collective. */
int bm_io_environment_choose_buffer(struct bm_io_environment *env,
                                    struct bm_comm *comm,
                                    const struct bm_options *options,
                                    const struct bm_store *store,
                                    struct bm_error *error);

/* How the writers of files are chosen, among the ranks of 'comm', which has to
 * stay as long as the task. */
struct bm_place_task
bm_io_environment_place_task(const struct bm_io_environment *env,
                             const struct bm_options *options,
                             const struct bm_comm *comm);

/* Its ranks by the nodes that share a file; if options do not ask for such
 * files, they are one group. */
struct bm_node_groups
bm_io_environment_node_groups(const struct bm_options *options,
                              const struct bm_comm *comm);

#endif
