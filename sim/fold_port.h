/* fold_port.h -- comes before src/comm/port.c: the memory that ranks of a node
 * share for buffers may be folded (fold.h). */
#ifndef SIM_FOLD_PORT_H
#define SIM_FOLD_PORT_H

#define bm_shared_make sim_port_make

#endif
