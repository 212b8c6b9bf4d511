/* comm_trace.h -- exchanges in a trace: a table around that of a communicator.
 */
#ifndef BM_COMM_TRACE_H
#define BM_COMM_TRACE_H

#include "base/trace.h"
#include "comm/comm.h"

/* From now on (or, with NULL, no more) exchanges of this communicator are
 * events of 'trace', which stays the caller's. Calls that do not wait (signals,
 * and asking for them) are left out. */
void bm_comm_set_trace(struct bm_comm *comm, struct bm_trace *trace);

/* Let the traces of all ranks begin together. Ranks leave a meeting when the
 * last has come: of several, the one counts in which all were inside for the
 * shortest time, which is what the clocks may differ by (*accuracy, seconds).
 * A rank without a trace hands in NULL. 1 if all have one. Collective. */
int bm_comm_align_trace(struct bm_comm *comm, struct bm_trace *trace,
                        double *accuracy);

#endif
