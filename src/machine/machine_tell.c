/* machine_tell.c -- what a process knows of where it is. The one place in
 * src/machine that asks the environment. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine.h"
#include "machine/machine_hwloc.h"
#include "machine/rank_location.h"
#include "machine/slurm.h"
#include "machine/topology.h"

/* Names have no blanks and are printable. */
static void clean(char *name)
{
    for (; *name; name++)
        if (*name <= ' ' || *name > '~')
            *name = '?';
}

static void ask_slurm(struct bm_slurm_place *out, const char *host)
{
    struct bm_slurm env = {.address = getenv("SLURM_TOPOLOGY_ADDR"),
                           .pattern = getenv("SLURM_TOPOLOGY_ADDR_PATTERN"),
                           .node_name = getenv("SLURMD_NODENAME"),
                           .node_list = getenv("SLURM_JOB_NODELIST"),
                           .node_id = getenv("SLURM_NODEID")};

    bm_slurm_read(out, &env, host);
    clean(out->node);
    clean(out->switches);
}

/* The flat machine needs nothing, nor does one whose nodes are filled in order.
 */
static int wants_nothing(const char *spec)
{
    struct bm_error error = {0};
    struct bm_model model;

    if (bm_machine_is_file(spec) || !strcmp(spec, "auto"))
        return 0;
    return !spec[0] || bm_model_parse(&model, spec, strlen(spec), &error) ||
           model.kind == &bm_topology_flat || model.per;
}

void bm_machine_tell(struct bm_buffer *out, const char *spec)
{
    struct bm_rank_location location = {0};
    struct bm_slurm_place place;
    struct bm_inside inside;
    char host[BM_HOST_BYTES] = "";

    if (wants_nothing(spec))
        return;
    if (gethostname(host, sizeof(host) - 1) || !host[0])
        memcpy(host, "localhost", sizeof("localhost"));
    clean(host);
    ask_slurm(&place, host);
    location.host = place.node[0] ? place.node : host;
    location.host_bytes = strlen(location.host);
    location.switches = place.switches;
    location.switches_bytes = strlen(place.switches);
    if (!strcmp(spec, "auto") && bm_hwloc_here(&inside)) {
        location.dram = inside.dram;
        location.hbm = inside.hbm;
    }
    bm_rank_location_put(out, &location);
}
