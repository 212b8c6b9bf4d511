/* measure_work.h -- how fast this processor encodes, sorts and copies: what a
 * simulated machine must know of it. See docs/machine.md for what is measured. */
#ifndef MEASURE_WORK_H
#define MEASURE_WORK_H

#include "machine/work_rates.h"

/* Each rate is that of the median of so many tries, with three digits. Gives 0
 * if there is no memory. */
int measure_work(struct bm_work_rates *out, int tries);

#endif
