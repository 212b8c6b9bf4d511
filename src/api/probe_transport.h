/* probe_transport.h -- which way into the buffers of a gatherer is the faster
 * one. */
#ifndef BM_PROBE_TRANSPORT_H
#define BM_PROBE_TRANSPORT_H

#include "comm/comm.h"

/* Bytes a second that rank 0 gathers of all ranks (or of some, if there are
 * many) by windows and by messages: the medians of as many tries of each, on
 * rank 0. With one rank, or where there can be no windows, nothing. Collective.
 */
int bm_probe_transports(struct bm_comm *comm, int tries, double *windows,
                        double *messages, struct bm_error *error);

#endif
