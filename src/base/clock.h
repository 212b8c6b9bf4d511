/* clock.h -- seconds for the records of steps, and dates. */
#ifndef BM_CLOCK_H
#define BM_CLOCK_H

#include <stdint.h>

double bm_clock(void);
/* Seconds since 1970, UTC. */
int64_t bm_clock_date(void);

#endif
