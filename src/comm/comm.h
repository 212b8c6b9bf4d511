/* comm.h -- all that the pipelines need of message passing.
 *
 * A table of functions with two implementations: comm_self.c for one process,
 * comm_mpi.c for MPI. Every function but rank and size is collective over the
 * ranks of the communicator, except bm_comm_exchange(), which concerns just the
 * ranks that its messages name. All of them end on every rank whatever the
 * outcome; a local failure is handed in and comes out on all ranks:
 *
 *     rc = local work, no return;
 *     rc = bm_comm_agree(comm, rc, &error);    now the same everywhere
 */
#ifndef BM_COMM_H
#define BM_COMM_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

/* One message of an exchange. Those between two ranks match in the order in
 * which each of the two lists them. A sender that could not make its bytes
 * gives NULL: the receiver's memory then stays as it was. */
struct bm_message {
    int peer;
    void *data;
    size_t bytes;
};

struct bm_comm {
    const struct bm_comm_functions *functions;
    const bouma_allocator *a;
    int rank, size;
    size_t message_bytes; /* longest single message */
    double timeout;       /* seconds; 0 waits for ever */
    int timed_out;        /* nothing can be said to the other ranks any more */
};

struct bm_comm_functions {
    int (*max)(struct bm_comm *comm, uint64_t *values, int count);
    int (*broadcast)(struct bm_comm *comm, void *data, size_t bytes, int root);
    int (*gather)(struct bm_comm *comm, const void *data, size_t bytes,
                  void *all, const size_t *sizes, int root);
    int (*exchange)(struct bm_comm *comm, const struct bm_message *sends,
                    size_t send_count, const struct bm_message *receives,
                    size_t receive_count);
    void (*release)(struct bm_comm *comm);
};

/* One process. The caller frees it with bm_comm_free(). */
int bm_comm_self_new(struct bm_comm **out, const bouma_allocator *a);
void bm_comm_free(struct bm_comm *comm); /* accepts NULL */

/* The worst status of all ranks and, where it is not BOUMA_OK, the message of
 * the lowest rank that has it, in 'error' on every rank. */
int bm_comm_agree(struct bm_comm *comm, int rc, struct bm_error *error);

/* The same at the beginning of a collective call, which also finds ranks that
 * are in another call ('call', a short name) or have other arguments (hashed
 * in 'hash': EMISMATCH without a message, and the caller finds out what). What
 * ranks may differ in is brought to the largest of all: largest[count], at most
 * 2 values, in place. */
int bm_comm_begin(struct bm_comm *comm, const char *call, uint64_t hash,
                  uint64_t *largest, int count, int rc, struct bm_error *error);

/* The largest of each value over all ranks, in place. */
#define BM_COMM_MAX_VALUES 16 /* in one call */
int bm_comm_max(struct bm_comm *comm, uint64_t *values, int count,
                struct bm_error *error);

/* Send what 'buffer' holds on 'root' to all; it is replaced on the others. 'rc'
 * is the root's own status so far: on failure no bytes go and all ranks get
 * it. */
int bm_comm_share(struct bm_comm *comm, struct bm_buffer *buffer, int root,
                  int rc, struct bm_error *error);

/* The buffers of all ranks, one after the other, on all ranks or (to_all = 0)
 * on rank 0 only; sizes[comm->size] are filled in everywhere. Ranks hand in
 * their status, and all get the worst. */
int bm_comm_collect(struct bm_comm *comm, const struct bm_buffer *mine,
                    struct bm_buffer *all, size_t *sizes, int to_all, int rc,
                    struct bm_error *error);

/* Send and receive messages whose sizes both ends know; any rank may send to
 * any, itself too. Not collective; the caller agrees afterwards. */
int bm_comm_exchange(struct bm_comm *comm, const struct bm_message *sends,
                     size_t send_count, const struct bm_message *receives,
                     size_t receive_count, struct bm_error *error);

#endif
