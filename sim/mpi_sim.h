/* mpi_sim.h -- comes before the sources of programs: what many ranks do together
 * is slow in SMPI, and its files know nothing of our storage. So these calls of
 * MPI go to mpi_sim.cpp. */
#ifndef SIM_MPI_SIM_H
#define SIM_MPI_SIM_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

int sim_allreduce(const void *in, void *out, int count, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm);
int sim_reduce_to(const void *in, void *out, int count, MPI_Datatype type,
                  MPI_Op op, int root, MPI_Comm comm);
int sim_exscan(const void *in, void *out, int count, MPI_Datatype type,
               MPI_Op op, MPI_Comm comm);
int sim_bcast(void *data, int count, MPI_Datatype type, int root,
              MPI_Comm comm);
int sim_barrier(MPI_Comm comm);

/* Files of bytes. Collective writes and reads go in two phases, as ROMIO's do. */
int sim_file_open(MPI_Comm comm, const char *path, int mode, MPI_Info info,
                  MPI_File *file);
int sim_file_close(MPI_File *file);
int sim_file_sync(MPI_File file);
int sim_file_write_at_all(MPI_File file, MPI_Offset offset, const void *data,
                          int count, MPI_Datatype type, MPI_Status *status);
int sim_file_read_at_all(MPI_File file, MPI_Offset offset, void *data,
                         int count, MPI_Datatype type, MPI_Status *status);
int sim_get_count(const MPI_Status *status, MPI_Datatype type, int *count);

#ifdef __cplusplus
}
#endif

#ifndef SIM_INSIDE
#undef MPI_Allreduce
#undef MPI_Reduce
#undef MPI_Exscan
#undef MPI_Bcast
#undef MPI_Barrier
#undef MPI_File_open
#undef MPI_File_close
#undef MPI_File_sync
#undef MPI_File_write_at_all
#undef MPI_File_read_at_all
#undef MPI_Get_count
#define MPI_Allreduce         sim_allreduce
#define MPI_Reduce            sim_reduce_to
#define MPI_Exscan            sim_exscan
#define MPI_Bcast             sim_bcast
#define MPI_Barrier           sim_barrier
#define MPI_File_open         sim_file_open
#define MPI_File_close        sim_file_close
#define MPI_File_sync         sim_file_sync
#define MPI_File_write_at_all sim_file_write_at_all
#define MPI_File_read_at_all  sim_file_read_at_all
#define MPI_Get_count         sim_get_count
#endif

#endif
