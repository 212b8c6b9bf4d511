/* clock.h -- seconds for the records of steps. */
#ifndef BM_CLOCK_H
#define BM_CLOCK_H

double bm_clock(void);

#endif
