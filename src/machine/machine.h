/* machine.h -- what is where, and how fast: the network between the ranks, and
 * the memories and storages in which bytes can be gathered on their way.
 *
 * Several sources stand behind this one interface: a flat machine (the default:
 * all ranks equally far apart), modelled networks, hwloc and Slurm, a machine
 * file. Nothing in bouma needs more than the flat one. */
#ifndef BM_MACHINE_H
#define BM_MACHINE_H

#include "base/bytes.h"
#include "base/error.h"
#include "plan/cost.h"

struct bm_machine; /* made of what all ranks tell; the same on each */

/* What this process can tell of where it is (host, socket, address in the
 * network), for bm_machine_make() on all ranks. Asks hwloc and the environment
 * only if 'spec' is one that wants to know. */
void bm_machine_tell(struct bm_buffer *out, const char *spec);

/* What a machine is made from. */
struct bm_machine_source {
    const char *spec; /* "", "flat", "torus:8x8x8", "auto", a path */
    /* The text of a machine file, or of a topology.conf of Slurm, which the
     * caller has loaded (one rank reads it); NULL for other specs. */
    const char *file;
    size_t file_bytes;
    int ranks;
    /* What the ranks told, one after the other, sizes[ranks] bytes each; NULL:
     * nobody was asked, as for a plan without ranks. */
    const struct bm_buffer *locations;
    const size_t *sizes;
};

/* If nobody was asked, and with "per=N", ranks fill nodes in order. EINVAL with
 * a message that names line and word, EMISMATCH if what is told makes no sense,
 * ENOMEM. */
int bm_machine_make(struct bm_machine **out, const bouma_allocator *a,
                    const struct bm_machine_source *source,
                    struct bm_error *error);
void bm_machine_free(struct bm_machine *m); /* accepts NULL */

/* Whether a spec is the path of a machine file. */
int bm_machine_is_file(const char *spec);

const struct bm_network *bm_machine_network(const struct bm_machine *m);
/* The tiers of each node, fastest first: DRAM is always one of them. */
const struct bm_tier *bm_machine_tiers(const struct bm_machine *m,
                                       size_t *count);
/* What is taken for a tier that a machine does not tell of, such as that of a
 * directory which the caller names. */
struct bm_tier bm_machine_default_tier(bouma_tier kind);
/* The directory of node-local storage that a machine file names, or NULL. */
const char *bm_machine_local(const struct bm_machine *m);
/* The target's block or stripe in bytes; 0: not known. */
uint64_t bm_machine_stripe(const struct bm_machine *m);
/* The transport that a machine file prefers; 0: none. */
bouma_transport bm_machine_transport(const struct bm_machine *m);

#endif
