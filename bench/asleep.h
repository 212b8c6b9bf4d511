/* asleep.h -- wait for other ranks without taking a processor from them. */
#ifndef BENCH_ASLEEP_H
#define BENCH_ASLEEP_H

/* A barrier of all ranks. MPI_Barrier keeps a core busy, which the threads of
 * the one rank that still measures may want. */
void wait_asleep(void);

#endif
