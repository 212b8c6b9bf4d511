/* check_work.h -- work of the library that check.cpp measures. */
#ifndef SIM_CHECK_WORK_H
#define SIM_CHECK_WORK_H

#include <stddef.h>

struct bm_comm;

#ifdef __cplusplus
extern "C" {
#endif

#define CHECK_CHUNK ((size_t)4 << 20) /* bytes of what is encoded at a time */

/* Of the file that BOUMA_SIM_RATES names, as it is there; 0: there is none. */
double check_rate_of_zstd(void);

/* One chunk. */
void check_encode(void);

/* So many chunks, by so many threads. */
void check_encode_all(size_t chunks, size_t threads);

/* Rank 1 encodes a chunk for each round, when that is wanted, and sends it to
 * rank 0, which stores it in a file: with so many buffers. Collective, of all
 * ranks. BOUMA_OK or what failed. */
int check_pipe(struct bm_comm *comm, size_t rounds, int buffers, void *file);

#ifdef __cplusplus
}
#endif

#endif
