/* build_without_mpi.c -- libbouma is built without MPI; libbouma_mpi has
 * api_mpi.c instead. */
#include "api/build_info.h"

const char *bm_build_mpi(void)
{
    return "no";
}
