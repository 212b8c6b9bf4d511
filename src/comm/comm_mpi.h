/* comm_mpi.h -- a communicator over MPI, for api_mpi.c. */
#ifndef BM_COMM_MPI_H
#define BM_COMM_MPI_H

#include <mpi.h>

#include "comm/comm.h"

struct bm_mpi_note {
    uint64_t words[2];
    MPI_Request request;
};

#define BM_MPI_NOTES 64

struct bm_mpi_comm {
    struct bm_comm base;
    MPI_Comm comm;
    MPI_Comm node; /* ranks that share memory; MPI_COMM_NULL: not asked yet */
    /* Of reductions. Here and not on the stack: one that was given up may still
     * be carried out by MPI at any later time. */
    int64_t mine[BM_COMM_MAX_VALUES], all[BM_COMM_MAX_VALUES];
    struct bm_mpi_note notes[BM_MPI_NOTES]; /* that are being sent */
};

/* Of the table: comm_mpi_port.c. */
int bm_mpi_port_new(struct bm_port **out, struct bm_comm *comm, void *memory,
                    size_t bytes);
void bm_mpi_port_free(struct bm_port *w);
int bm_mpi_put(struct bm_port *w, int peer, size_t at, const void *data,
               size_t bytes);
int bm_mpi_get(struct bm_port *w, int peer, size_t at, void *data,
               size_t bytes);
int bm_mpi_flush(struct bm_port *w, int peer);
uint8_t *bm_mpi_room(struct bm_port *w, int peer);

/* A duplicate of 'comm' whose errors are returned. Collective; the status is
 * the same on all ranks. */
int bm_comm_mpi_new(struct bm_comm **out, const bouma_allocator *a,
                    MPI_Comm comm);

#endif
