/* comm_mpi.h -- a communicator over MPI, for api_mpi.c; and what its files
 * share. */
#ifndef BM_COMM_MPI_H
#define BM_COMM_MPI_H

#include <mpi.h>

#include "comm/bell.h"
#include "comm/comm.h"
#include "comm/shared.h"

struct bm_mpi_signal {
    uint64_t words[2];
    MPI_Request request;
};

#define BM_MPI_SIGNALS 64
#define BM_MPI_SMALL   4096
#define BM_MPI_RELAYS  4
#define BM_MPI_TRIES   4 /* of a call that fails */
#define BM_MPI_RELAY   ((size_t)32 << 10)

struct bm_mpi_comm {
    struct bm_comm base;
    MPI_Comm comm;
    /* Of a group of ranks (see bm_comm_group()): which ranks of 'whole', whose
     * 'comm' it shares; its tags are above all others. */
    struct bm_mpi_comm *whole; /* NULL: it is no group */
    int *members;              /* [size], ascending; NULL: ranks are MPI's */
    int tag;
    struct bm_family family; /* along which all that all do goes */
    /* What is sent and received in short calls. Here and not on the stack:
     * what was given up may still be carried out by MPI at any later time. */
    uint64_t out[BM_COMM_MAX_VALUES], result[BM_COMM_MAX_VALUES];
    uint64_t in[BM_TREE_CHILDREN][BM_COMM_MAX_VALUES];
    uint8_t small[BM_MPI_SMALL];
    uint8_t *relay; /* [BM_MPI_RELAYS][BM_MPI_RELAY], for what is passed up;
                       NULL: it passes nothing on */
    /* How ranks of this node wake each other. Of a group: those of 'whole' are
     * used. */
    struct bm_shared bells; /* of all ranks of the node; none: they cannot */
    struct bm_bell lone;    /* of this one then */
    struct bm_bell *bell;   /* of this rank */
    uint32_t rung;          /* heard before the last look */
    uint64_t heard[2];
    char loss[BM_ERROR_BYTES];                    /* why another rank is lost */
    struct bm_mpi_signal signals[BM_MPI_SIGNALS]; /* that are being sent */
    MPI_Request making;                           /* of 'comm' itself */
    int poor[2];                                  /* who has no memory for it */
};

/* A duplicate of 'comm' whose errors are returned. Waits no longer than
 * 'timeout' for other ranks. Collective; the status is the same on all ranks.
 */
int bm_comm_mpi_new(struct bm_comm **out, const bouma_allocator *a,
                    MPI_Comm comm, double timeout, struct bm_error *error);

/* ---- between the files --------------------------------------------------- */

#define BM_MPI_GROUP_TAG 8192 /* from here on, tags are those of groups */
enum { BM_MPI_MESSAGE = 1, BM_MPI_SIGNAL, BM_MPI_LOSS, BM_MPI_TRANSFER };

/* Begin to send or receive 'bytes' bytes, at most 2^30. 0, or the communicator
 * is lost; the same of what follows. */
int bm_mpi_send(struct bm_mpi_comm *m, const void *data, size_t bytes, int peer,
                int tag, MPI_Request *request);
int bm_mpi_receive(struct bm_mpi_comm *m, void *data, size_t bytes, int peer,
                   int tag, MPI_Request *request);
/* Whether a request is done. */
int bm_mpi_test(struct bm_mpi_comm *m, MPI_Request *request, int *done,
                MPI_Status *status);
/* Wait for all. */
int bm_mpi_wait(struct bm_mpi_comm *m, MPI_Request *requests, int count);
/* Start the pieces of a message, each at most message_bytes long. */
int bm_mpi_start(struct bm_mpi_comm *m, const struct bm_message *message,
                 int sending, int tag, MPI_Request *requests, int *count);

/* Of the table: comm_mpi_together.c. */
int bm_mpi_reduce(struct bm_comm *comm, uint64_t *values, int count, int sums);
int bm_mpi_broadcast(struct bm_comm *comm, void *data, size_t bytes, int root);
int bm_mpi_gather(struct bm_comm *comm, const void *data, size_t bytes,
                  void *all);
int bm_mpi_exchange(struct bm_comm *comm, const struct bm_message *sends,
                    size_t send_count, const struct bm_message *receives,
                    size_t receive_count);

/* A rank as MPI counts them, and back. */
int bm_mpi_rank_of(const struct bm_mpi_comm *m, int rank);
int bm_mpi_rank_at(const struct bm_mpi_comm *m, int rank);

/* A communicator of this rank alone, till it is made; and a group, for the
 * table: comm_mpi_make.c. */
void bm_mpi_init(struct bm_mpi_comm *m, const bouma_allocator *a,
                 double timeout);
int bm_mpi_group(struct bm_comm **out, struct bm_comm *whole,
                 const int *members, int count);

/* A group of ranks, of which 'places' says where they are; not yet those of its
 * nodes: bm_mpi_make_near(). ENOMEM. */
int bm_mpi_make_group(struct bm_comm **out, struct bm_mpi_comm *whole,
                      const struct bm_places *places, const int *members,
                      int count);

/* Of comm_mpi_settle.c: where a new communicator begins, with the tree of one
 * node, for which no memory is needed; and a group. ENOMEM. */
void bm_mpi_settle_first(struct bm_mpi_comm *m);
int bm_mpi_settle_group(struct bm_mpi_comm *m, const struct bm_places *whole,
                        const int *members);
int bm_mpi_make_near(struct bm_comm **out, struct bm_mpi_comm *whole,
                     const struct bm_places *p);
int bm_mpi_make_leaders(struct bm_comm **out, struct bm_mpi_comm *whole,
                        const struct bm_places *p);
int bm_mpi_settle(struct bm_comm *comm, uint64_t node, struct bm_error *error);
void bm_mpi_unsettle(struct bm_mpi_comm *m);

/* Ring at a rank, if it is on this node. */
void bm_mpi_ring(struct bm_mpi_comm *m, int peer);
/* What was rung before this is seen by the look that follows. */
void bm_mpi_attend(struct bm_mpi_comm *m);
int bm_mpi_sleep(struct bm_comm *comm, double seconds);
void bm_mpi_wake(struct bm_comm *comm);

#endif
