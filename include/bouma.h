/* bouma.h -- multiresolution storage for the grids and particles of a
 * simulation.
 *
 *     Write:  create a dataset, define grids, particle sets and variables, then
 *             for each output step: begin, put what this rank holds, end.
 *     Read:   open a dataset, open a step. Read any box of a grid at any level:
 *             level 0 is full resolution, level k has the samples whose indices
 *             are multiples of 2^k (averages with BOUMA_CODEC_WAVELET or
 *             'hz_wavelet'). Query particles by box and by ranges of values, at
 *             any quality: quality q is the fraction q of the particles.
 *
 * Axes are in C order, the slowest first, as in NumPy and HDF5. Boxes are
 * half-open and count full-resolution samples, whatever the level.
 *
 * A function that can fail returns BOUMA_OK or a negative bouma_status;
 * bouma_error_message() then says what failed, on which rank, in which file,
 * and what to do. A function that returns a handle returns NULL on failure, and
 * leaves a message, too. All ranks of a dataset call a "Collective" function,
 * in the same order, and get the same status; a program without MPI has one
 * rank. Other functions concern the calling rank only.
 *
 * Free handles in any order: what a handle needs is kept until it is freed,
 * too. A step keeps its dataset, a refinement and particles in memory keep
 * their step. Grids, particle sets, variables and attributes belong to their
 * step or, while they are written, to their dataset, and are not freed. Any
 * handle can be freed in a function that the library calls, also the one in
 * use: it then goes when the call ends.
 *
 * Functions of the caller, such as 'progress' and 'each', run on the thread
 * that made the call, and before it returns. Only the tables of bouma_store.h
 * are used by threads of the library, as described there.
 *
 * Every *_free() accepts NULL. With a NULL handle, all other functions do
 * nothing and return BOUMA_EINVAL, NULL or 0; no dataset remembers the failure.
 *
 * A handle is used by one thread at a time. There is no global state: several
 * datasets can be in use at once, also from several threads.
 *
 * Programs with MPI include bouma_mpi.h instead and link libbouma_mpi. */
#ifndef BOUMA_H
#define BOUMA_H

#include "bouma_base.h"    /* statuses, types, arrays, options */
#include "bouma_check.h"   /* verify, repair, drain */
#include "bouma_dataset.h" /* datasets, attributes */
#include "bouma_file.h"    /* plain files of any program */
#include "bouma_plan.h"    /* plans of writes, measures of machines */
#include "bouma_read.h"    /* reading steps */
#include "bouma_store.h"   /* your own storage and memory */
#include "bouma_write.h"   /* writing steps */

#endif
