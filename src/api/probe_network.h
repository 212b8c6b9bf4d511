/* probe_network.h -- how fast messages are. */
#ifndef BM_PROBE_NETWORK_H
#define BM_PROBE_NETWORK_H

#include "comm/comm.h"
#include "machine/machine.h"

/* Between rank 0 and some others, of other nodes if there are any: the medians,
 * on rank 0. With one rank, nothing. Collective. */
int bm_probe_network(struct bm_comm *comm, const struct bm_machine *machine,
                     int tries, bouma_speed *out, struct bm_error *error);

#endif
