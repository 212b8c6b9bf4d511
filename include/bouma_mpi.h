/* bouma_mpi.h -- bouma in MPI programs: link libbouma_mpi instead of libbouma.
 *
 * The library duplicates the communicator, so its messages never mix with the
 * program's. MPI_THREAD_FUNNELED is enough. MPI must be initialized; close
 * datasets before MPI_Finalize(). Everything else is in bouma.h. */
#ifndef BOUMA_MPI_H
#define BOUMA_MPI_H

#include <mpi.h>

#include "bouma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As the functions of the same names in bouma.h, for all ranks of 'comm'.
 * Collective. */
BOUMA_API int bouma_dataset_create_mpi(bouma_dataset **out, MPI_Comm comm,
                                       const char *path,
                                       const bouma_options *opts);
BOUMA_API int bouma_dataset_append_mpi(bouma_dataset **out, MPI_Comm comm,
                                       const char *path,
                                       const bouma_options *opts);
BOUMA_API int bouma_dataset_open_mpi(bouma_dataset **out, MPI_Comm comm,
                                     const char *path,
                                     const bouma_options *opts);
BOUMA_API int bouma_file_open_mpi(bouma_file **out, MPI_Comm comm,
                                  const char *path, bouma_file_mode mode,
                                  const bouma_options *opts);

/* The ranks share the work, and every rank gets every finding. */
BOUMA_API int bouma_verify_mpi(bouma_verify_report *report, MPI_Comm comm,
                               const char *path, bouma_depth depth,
                               const bouma_options *opts,
                               void (*each)(void *user, const bouma_finding *f),
                               void *user, char *message, size_t bytes);

/* Also measures the network; every rank gets the same report. Rank 0 measures
 * memory and storage while the others wait. */
BOUMA_API int bouma_probe_mpi(bouma_probe_report *report, MPI_Comm comm,
                              const bouma_probe_spec *spec,
                              const bouma_options *opts, char *message,
                              size_t bytes);

/* Each rank looks for 'local' on its own node; the ranks share the copying. */
BOUMA_API int bouma_drain_mpi(bouma_drain_report *report, MPI_Comm comm,
                              const char *local, const char *path, int remove,
                              const bouma_options *opts, char *message,
                              size_t bytes);

/* The same with a communicator as Fortran has it: a number, as comm%MPI_VAL of
 * mpi_f08, a comm of the module mpi, or comm.py2f() in Python. For programs in
 * these languages, which need not know what an MPI_Comm is in C. */
BOUMA_API int bouma_dataset_create_fint(bouma_dataset **out, MPI_Fint comm,
                                        const char *path,
                                        const bouma_options *opts);
BOUMA_API int bouma_dataset_append_fint(bouma_dataset **out, MPI_Fint comm,
                                        const char *path,
                                        const bouma_options *opts);
BOUMA_API int bouma_dataset_open_fint(bouma_dataset **out, MPI_Fint comm,
                                      const char *path,
                                      const bouma_options *opts);
BOUMA_API int bouma_file_open_fint(bouma_file **out, MPI_Fint comm,
                                   const char *path, bouma_file_mode mode,
                                   const bouma_options *opts);
BOUMA_API int
bouma_verify_fint(bouma_verify_report *report, MPI_Fint comm, const char *path,
                  bouma_depth depth, const bouma_options *opts,
                  void (*each)(void *user, const bouma_finding *f), void *user,
                  char *message, size_t bytes);
BOUMA_API int bouma_probe_fint(bouma_probe_report *report, MPI_Fint comm,
                               const bouma_probe_spec *spec,
                               const bouma_options *opts, char *message,
                               size_t bytes);
BOUMA_API int bouma_drain_fint(bouma_drain_report *report, MPI_Fint comm,
                               const char *local, const char *path, int remove,
                               const bouma_options *opts, char *message,
                               size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
