/* sparse.h -- letters from ranks of which the receivers do not know, and sums
 * over the ranks before this one.
 *
 * Each sender signals to its receivers that something comes, and how long it is.
 * Signals are heard until all ranks together have heard as many as were sent: a
 * barrier by counting, which needs no acknowledgement of single messages. Then
 * the bytes go as messages whose sizes both ends know. */
#ifndef BM_SPARSE_H
#define BM_SPARSE_H

#include "base/mail.h"
#include "comm/comm.h"

/* What ranks say to all others meanwhile: see bm_comm_reduce(). */
struct bm_sparse_values {
    uint64_t *values; /* [count], at most BM_SPARSE_VALUES */
    int count, sums;
};
#define BM_SPARSE_VALUES (BM_COMM_MAX_VALUES - 3)

/* Bring each letter of 'out' to its peer; what has come is in 'in', ascending by
 * peer, those of one peer in the order in which it has them. Ranks hand in their
 * status, and all get the worst: then nothing has come. If the communicator is
 * lost, neither has its bytes any more: MPI may still use them. Collective. */
int bm_comm_sparse(struct bm_comm *comm, struct bm_mail *out,
                   struct bm_mail *in, const struct bm_sparse_values *said,
                   int rc, struct bm_error *error);

/* Memory for a scan. MPI may still use it if the communicator is lost. */
struct bm_scan {
    uint64_t mine[BM_COMM_MAX_VALUES];   /* set by the caller */
    uint64_t before[BM_COMM_MAX_VALUES]; /* the result */
    uint64_t others[BM_COMM_MAX_VALUES];
};

/* The sums of mine[count] over all ranks before this one; mine[] changes. All
 * ranks call it; the caller agrees afterwards. */
int bm_comm_scan(struct bm_comm *comm, struct bm_scan *s, int count,
                 struct bm_error *error);

#endif
