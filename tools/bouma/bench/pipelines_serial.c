/* pipelines_serial.c -- the pipelines that `bouma` does not have: those of MPI.
 */
#include "pipeline.h"

#define ENTRY(id, text)                                                        \
    const struct pipeline pipeline_##id = {                                    \
        .name = text, .missing = "MPI; run bouma-mpi instead"};
PIPELINES_OF_MPI(ENTRY)
