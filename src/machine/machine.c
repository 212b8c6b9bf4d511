/* machine.c -- a machine from a spec, a description and what ranks told. */
#include "machine/machine.h"

#include <string.h>

#include "base/option.h"
#include "machine/machine_file.h"
#include "machine/rank_location.h"

struct bm_machine {
    const bouma_allocator *a;
    int ranks;
    int per;          /* rank / per is the node; 0: node_of[rank] is */
    int *node_of;     /* [ranks] or NULL */
    int *target_hops; /* [nodes], -1: as the topology has it; or NULL */
    struct bm_topology topology;
    struct bm_network network;
    struct bm_tier tiers[BM_TIERS];
    size_t tier_count;
    uint64_t stripe;
    bouma_transport transport;
    char local[BM_PATH_BYTES];
};

/* ---- the network, of ranks ---------------------------------------------- */

static int node_of(const struct bm_machine *m, int rank)
{
    return m->per ? rank / m->per : m->node_of[rank];
}

static int network_node(const void *context, int rank)
{
    return node_of(context, rank);
}

static int network_hops(const void *context, int from, int to)
{
    const struct bm_machine *m = context;
    const struct bm_topology *t = &m->topology;

    return t->kind->hops(t, node_of(m, from), node_of(m, to));
}

static int network_hops_to_target(const void *context, int rank)
{
    const struct bm_machine *m = context;
    int node = node_of(m, rank);

    if (m->target_hops && m->target_hops[node] >= 0)
        return m->target_hops[node];
    return bm_topology_hops_to_target(&m->topology, node);
}

static int network_sums(const void *context, const bouma_allocator *a,
                        const int *ranks, const double *weight, size_t count,
                        double *sums)
{
    const struct bm_machine *m = context;
    const struct bm_topology *t = &m->topology;
    int *nodes = bm_new_raw(a, count, sizeof(*nodes));
    int rc = nodes ? BOUMA_OK : BOUMA_ENOMEM;

    for (size_t i = 0; !rc && i < count; i++)
        nodes[i] = node_of(m, ranks[i]);
    if (!rc)
        rc = t->kind->sums(t, a, nodes, weight, count, sums);
    bm_drop(a, nodes);
    return rc;
}

/* ---- how fast ----------------------------------------------------------- */

/* Common orders of magnitude; only the differences matter. */
struct bm_tier bm_machine_default_tier(bouma_tier kind)
{
    static const struct bm_tier dram = {.kind = BOUMA_TIER_DRAM,
                                        .latency = 100e-9,
                                        .bandwidth = 100e9},
                                hbm = {.kind = BOUMA_TIER_HBM,
                                       .latency = 120e-9,
                                       .bandwidth = 400e9},
                                local = {.kind = BOUMA_TIER_LOCAL,
                                         .latency = 100e-6,
                                         .bandwidth = 2e9,
                                         .persistence = BM_KEEPS_FOR_JOB};

    return kind == BOUMA_TIER_HBM     ? hbm
           : kind == BOUMA_TIER_LOCAL ? local
                                      : dram;
}

static double either(double location, double usual)
{
    return location > 0 ? location : usual;
}

/* The tiers that are told of, and DRAM; the fastest first. */
static void set_tiers(struct bm_machine *m, const struct bm_description *d)
{
    for (int i = 0; i < BM_TIERS; i++) {
        struct bm_tier tier = bm_machine_default_tier((bouma_tier)(i + 1));
        const struct bm_tier *location = &d->tiers[i];
        size_t at;

        if (!location->kind && tier.kind != BOUMA_TIER_DRAM)
            continue;
        tier.latency = either(location->latency, tier.latency);
        tier.bandwidth = either(location->bandwidth, tier.bandwidth);
        tier.capacity = location->capacity;
        if (location->kind)
            tier.persistence = location->persistence;
        for (at = m->tier_count++;
             at && m->tiers[at - 1].bandwidth < tier.bandwidth; at--)
            m->tiers[at] = m->tiers[at - 1];
        m->tiers[at] = tier;
    }
}

static void set_speeds(struct bm_machine *m, const struct bm_description *d)
{
    m->network = (struct bm_network){
        .context = m,
        .hops = network_hops,
        .hops_to_target = network_hops_to_target,
        .node = network_node,
        .sums = network_sums,
        .latency = either(d->latency, 1.5e-6),
        .bandwidth = either(d->bandwidth, 10e9),
        .target_latency = either(d->target_latency, 1e-3),
        .target_bandwidth = either(d->target_bandwidth, 1e9),
        .without = d->without};
    set_tiers(m, d);
    m->stripe = d->stripe;
    m->transport = d->transport;
    memcpy(m->local, d->local, sizeof(m->local));
}

static int is_auto(const char *spec)
{
    return !strcmp(spec, "auto");
}

/* ---- where ranks are ---------------------------------------------------- */

/* A host's node in the description: by its name, or the part before the first
 * '.'; else a new one. -1: no memory. */
static int find_node(struct bm_description *d,
                     const struct bm_rank_location *location)
{
    const char *dot = memchr(location->host, '.', location->host_bytes);
    int i = bm_name_table_find(&d->node_names, location->host,
                               location->host_bytes);

    if (i < 0 && dot)
        i = bm_name_table_find(&d->node_names, location->host,
                               (size_t)(dot - location->host));
    return i >= 0 ? i
                  : bm_description_node(d, location->host, location->host_bytes,
                                        0);
}

/* The switches above a node that Slurm tells: "s0.s4". One is known by all the
 * names from the top down to it. ENOMEM. */
static int hang_up(struct bm_description *d, int node,
                   const struct bm_rank_location *location)
{
    int parent = -1;

    for (size_t i = 0; i <= location->switches_bytes; i++)
        if (i &&
            (i == location->switches_bytes || location->switches[i] == '.')) {
            int s = bm_description_switch(d, location->switches, i, 0);

            if (s < 0)
                return BOUMA_ENOMEM;
            d->switches[s].parent = parent;
            parent = s;
        }
    d->nodes[node].parent = parent;
    return BOUMA_OK;
}

/* The least that any node has. */
static void hear_tiers(struct bm_description *d,
                       const struct bm_rank_location *location, int rank)
{
    struct bm_tier *dram = &d->tiers[BOUMA_TIER_DRAM - 1];
    struct bm_tier *hbm = &d->tiers[BOUMA_TIER_HBM - 1];

    dram->kind = BOUMA_TIER_DRAM;
    if (!rank || location->dram < dram->capacity)
        dram->capacity = location->dram;
    if (!rank || location->hbm < hbm->capacity)
        hbm->capacity = location->hbm;
    hbm->kind = hbm->capacity ? BOUMA_TIER_HBM : (bouma_tier)0;
}

/* What one rank told; 'automatic' is about more than the host. */
static int hear_rank(struct bm_machine *m, struct bm_description *d, int rank,
                     const struct bm_rank_location *location, int automatic)
{
    int known = d->node_names.count, node = find_node(d, location);
    int rc = node < 0 ? BOUMA_ENOMEM : BOUMA_OK;

    if (rc)
        return rc;
    m->node_of[rank] = node;
    if (!automatic)
        return rc;
    hear_tiers(d, location, rank);
    return node == known ? hang_up(d, node, location) : BOUMA_OK;
}

/* Put the ranks on the nodes of the description, whose numbers are in
 * node_of[]. */
static int hear(struct bm_machine *m, struct bm_description *d,
                const struct bm_machine_source *source, struct bm_error *error)
{
    const struct bm_buffer *told = source->locations;
    struct bm_cursor all = bm_cursor_of(told->data, told->size);
    const size_t *sizes = source->sizes;
    int automatic = is_auto(source->spec), rc = BOUMA_OK;

    m->node_of = bm_new(m->a, (size_t)m->ranks, sizeof(*m->node_of));
    if (!m->node_of)
        rc = BOUMA_ENOMEM;
    for (int r = 0; !rc && r < m->ranks; r++) {
        const uint8_t *bytes = bm_get_bytes(&all, sizes[r]);
        struct bm_rank_location one;

        if (!bytes || !bm_rank_location_get(&one, bytes, sizes[r]))
            return bm_fail(error, BOUMA_EMISMATCH,
                           "rank %d: what it tells of its location cannot be "
                           "read; do all ranks use the same library?",
                           r);
        rc = hear_rank(m, d, r, &one, automatic);
    }
    return rc ? bm_fail(error, rc, "no memory for the locations of %d ranks",
                        m->ranks)
              : BOUMA_OK;
}

/* ---- positions in the network ------------------------------------------- */

static int too_few(const struct bm_machine *m, struct bm_error *error,
                   int64_t wanted, const char *what)
{
    return bm_fail(error, BOUMA_EINVAL,
                   "the machine (%s) has %d nodes, too few for %lld %s; give "
                   "it more",
                   m->topology.kind->name, m->topology.nodes, (long long)wanted,
                   what);
}

/* Ranks fill nodes in order, 'per' on each; 0: as few as will do. */
static int fill_in_order(struct bm_machine *m, int per, struct bm_error *error)
{
    int nodes = m->topology.nodes;

    if (m->topology.kind == &bm_topology_tree && !nodes)
        return bm_fail(
            error, BOUMA_EINVAL,
            "the machine has no nodes for ranks to be on; name some");
    if (!per)
        per = nodes && m->ranks > nodes ? (m->ranks - 1) / nodes + 1 : 1;
    m->per = per;
    if (nodes && (m->ranks - 1) / per >= nodes)
        return too_few(m, error, (m->ranks - 1) / per + 1,
                       "that ranks need in order");
    return BOUMA_OK;
}

/* Where the nodes of a description are in a model: where it says, others on
 * the first free positions. */
static int seat_nodes(int *seats, const struct bm_machine *m,
                      const struct bm_description *d, struct bm_error *error)
{
    int count = d->node_names.count, next = 0;
    uint8_t *taken;

    if (count > m->topology.nodes)
        return too_few(m, error, count, "hosts");
    taken = bm_new(m->a, (size_t)m->topology.nodes, 1);
    if (!taken)
        return bm_fail(error, BOUMA_ENOMEM, "no memory for %d nodes", count);
    for (int i = 0; i < count; i++)
        if (d->nodes[i].at >= 0)
            taken[d->nodes[i].at] = 1;
    for (int i = 0; i < count; i++) {
        while (d->nodes[i].at < 0 && taken[next])
            next++;
        seats[i] = d->nodes[i].at >= 0 ? d->nodes[i].at : next++;
    }
    bm_drop(m->a, taken);
    return BOUMA_OK;
}

/* Nodes that ranks can be on, or that the description names. */
static int count_nodes(const struct bm_machine *m,
                       const struct bm_description *d)
{
    int named = d->node_names.count, model = m->topology.nodes;
    int filled = m->per ? (m->ranks - 1) / m->per + 1 : 0;
    int most = named > model ? named : model;

    return most > filled ? most : filled;
}

static int set_target_hops(struct bm_machine *m, const struct bm_description *d,
                           const int *seats)
{
    int named = d->node_names.count, nodes = count_nodes(m, d), location = 0;

    for (int i = 0; i < named; i++)
        location |= d->nodes[i].target >= 0;
    if (!location)
        return BOUMA_OK;
    m->target_hops = bm_new(m->a, (size_t)nodes, sizeof(*m->target_hops));
    if (!m->target_hops)
        return BOUMA_ENOMEM;
    for (int i = 0; i < nodes; i++)
        m->target_hops[i] = -1;
    for (int i = 0; i < named; i++)
        m->target_hops[seats ? seats[i] : i] = d->nodes[i].target;
    return BOUMA_OK;
}

/* From nodes of the description to those of the network. */
static int seat(struct bm_machine *m, const struct bm_description *d,
                struct bm_error *error)
{
    int count = d->node_names.count, rc = BOUMA_OK;
    int *seats = NULL;

    if (m->topology.axes && count) {
        seats = bm_new(m->a, (size_t)count, sizeof(*seats));
        rc = seats ? seat_nodes(seats, m, d, error) : BOUMA_ENOMEM;
    }
    for (int r = 0; !rc && seats && m->node_of && r < m->ranks; r++)
        m->node_of[r] = seats[m->node_of[r]];
    if (!rc)
        rc = set_target_hops(m, d, seats);
    bm_drop(m->a, seats);
    if (rc == BOUMA_ENOMEM)
        bm_fail(error, rc, "no memory for %d nodes", count);
    return rc;
}

/* ---- specs -------------------------------------------------------------- */

int bm_machine_is_file(const char *spec)
{
    size_t n = strlen(spec);
    const struct bm_topology_kind *kind = bm_model_kind(spec, n);

    return n && !is_auto(spec) && (!kind || kind == &bm_topology_tree);
}

static int describe(struct bm_description *d,
                    const struct bm_machine_source *source,
                    struct bm_error *error)
{
    const char *spec = source->spec, *file = source->file;
    int rc;

    if (!spec[0] || is_auto(spec))
        return BOUMA_OK;
    if (!bm_machine_is_file(spec))
        rc = bm_model_parse(&d->model, spec, strlen(spec), error);
    else if (!file)
        rc = bm_fail(
            error, BOUMA_EINVAL,
            "is not a model such as torus:8x8x8, and no such file was read");
    else if (bm_topology_conf_is(file, source->file_bytes))
        rc = bm_topology_conf_parse(d, file, source->file_bytes, error);
    else
        rc = bm_machine_file_parse(d, file, source->file_bytes, error);
    if (rc)
        bm_error_prefix(
            error, bm_machine_is_file(spec) ? "machine file %s" : "machine %s",
            spec);
    return rc;
}

/* Whether a machine asks on which hosts its ranks are. The flat one does not,
 * nor one that says how ranks fill nodes. */
static int wants_hosts(const struct bm_description *d, const char *spec)
{
    if (bm_machine_is_file(spec) || is_auto(spec))
        return !d->model.per;
    return d->model.kind && d->model.kind != &bm_topology_flat && !d->model.per;
}

static int locate_ranks(struct bm_machine *m, struct bm_description *d,
                        const struct bm_machine_source *source,
                        struct bm_error *error)
{
    int hosts = source->locations && wants_hosts(d, source->spec);
    int rc = hosts ? hear(m, d, source, error) : BOUMA_OK;

    if (!rc)
        rc = bm_description_topology(&m->topology, d, error);
    if (!rc && !hosts)
        rc = fill_in_order(m, d->model.per, error);
    return rc ? rc : seat(m, d, error);
}

int bm_machine_make(struct bm_machine **out, const bouma_allocator *a,
                    const struct bm_machine_source *source,
                    struct bm_error *error)
{
    struct bm_machine *m = bm_new(a, 1, sizeof(*m));
    struct bm_description d;
    int rc;

    *out = NULL;
    if (!m)
        return bm_fail(error, BOUMA_ENOMEM, "no memory for a machine");
    m->a = a;
    m->ranks = source->ranks;
    bm_description_init(&d, a);
    rc = describe(&d, source, error);
    if (!rc)
        rc = locate_ranks(m, &d, source, error);
    if (!rc)
        set_speeds(m, &d);
    bm_description_release(&d);
    if (rc)
        bm_machine_free(m);
    else
        *out = m;
    return rc;
}

void bm_machine_free(struct bm_machine *m)
{
    if (!m)
        return;
    bm_topology_release(&m->topology);
    bm_drop(m->a, m->target_hops);
    bm_drop(m->a, m->node_of);
    bm_drop(m->a, m);
}

/* ---- what it says ------------------------------------------------------- */

const struct bm_network *bm_machine_network(const struct bm_machine *m)
{
    return &m->network;
}

const struct bm_tier *bm_machine_tiers(const struct bm_machine *m,
                                       size_t *count)
{
    *count = m->tier_count;
    return m->tiers;
}

const char *bm_machine_local(const struct bm_machine *m)
{
    return m->local[0] ? m->local : NULL;
}

uint64_t bm_machine_stripe(const struct bm_machine *m)
{
    return m->stripe;
}

bouma_transport bm_machine_transport(const struct bm_machine *m)
{
    return m->transport;
}
