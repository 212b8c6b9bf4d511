/* build_info.h -- what a build knows of itself. */
#ifndef BM_BUILD_INFO_H
#define BM_BUILD_INFO_H

/* The MPI that it was built with, such as "Open MPI 4.1.4", or "no": each of the
 * two libraries has its own. */
const char *bm_build_mpi(void);

#endif
