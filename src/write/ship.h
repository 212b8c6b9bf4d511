/* ship.h -- encoded chunks go to the ranks that write their files, round by
 * round, and into the files. */
#ifndef BM_SHIP_H
#define BM_SHIP_H

#include "write/write_job.h"

/* The bytes of a chunk in the stream to its writer, by transit.cargo. */
uint64_t bm_ship_bytes(const struct bm_write_job *job, size_t chunk);

/* All that this rank sends and takes in, with the memory for it but for
 * buffers. May be called again for another cargo when the first has arrived. */
int bm_ship_plan(struct bm_write_job *job);

/* Bring the records of chunks to the writers of their files. Runs on all ranks,
 * whatever 'rc' is: the shaper's records are there in any case. */
int bm_ship_records(struct bm_write_job *job, int rc);

/* With all sizes known, find where everything goes in this rank's files. */
int bm_ship_arrange(struct bm_write_job *job, int rc);

/* Bring the bytes of chunks to the writers of their files, and store them: all
 * of them ('stored'), or leave the last ones to the thread. Runs on all ranks,
 * whatever 'rc' is. */
int bm_ship_chunks(struct bm_write_job *job, int stored, int rc);

#endif
