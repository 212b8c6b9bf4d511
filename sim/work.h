/* work.h -- what computing takes on a simulated machine: bytes by rates. The
 * rates are those of a processor that `bouma probe --work` has measured, and the
 * machine says how fast its own are compared with that one.
 *
 * A rank has some cores, which its threads share. */
#ifndef SIM_WORK_H
#define SIM_WORK_H

#include <stdint.h>

#include "machine/work_rates.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the machine file that the variable BOUMA_SIM_RATES names, as they are on
 * this machine; all 0, and computing takes no time, if it names none. Ends the
 * program with a message if the file cannot be used. */
const struct bm_work_rates *sim_rates(void);

/* The calling actor works on a core of its rank, on so many bytes; with what it
 * has copied before (copies.h). A rate of 0 takes no time. Short times are put
 * off till it pays. */
void sim_work(double bytes, double rate);
/* Before anything that others can see. */
void sim_pay(void);

/* Between the two, work takes no time: it is part of what is paid for as a
 * whole. Nothing may wait meanwhile. Gives what the end wants to know. */
uint64_t sim_whole_begin(void);
void sim_whole_end(uint64_t copied);

/* Of the calling rank. */
int sim_cores(void);

/* The rates of a machine file's text: 0 with a message if it is none, or has not
 * all of them. */
int sim_rates_parse(struct bm_work_rates *out, const char *text, size_t bytes,
                    char *message, size_t message_bytes);

#ifdef __cplusplus
}
#endif

#endif
