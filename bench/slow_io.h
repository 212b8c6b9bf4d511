/* slow_io.h -- the storage of POSIX, but for the subfiles of steps: their bytes
 * are not kept, and writing them takes as long as it is told to. */
#ifndef BENCH_SLOW_IO_H
#define BENCH_SLOW_IO_H

#include "bouma_store.h"

struct slow_io {
    bouma_io table;          /* to put into bouma_options */
    double bytes_per_second; /* 0: it takes no time */
    double debt;             /* seconds that are still to be slept */
    double busy;             /* seconds of storing, altogether */
    uint64_t bytes;          /* stored, altogether */
};

void slow_io_init(struct slow_io *io);

#endif
