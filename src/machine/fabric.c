/* fabric.c -- see fabric.h. */
#include "machine/fabric.h"

#include <limits.h>
#include <string.h>

#include "machine/topology.h"

/* ---- making ------------------------------------------------------------- */

int bm_fabric_init(struct bm_fabric *t, const bouma_allocator *a, int switches,
                   int nodes, int node_up)
{
    size_t room = (size_t)switches + 1; /* one more may join several tops */

    *t = (struct bm_fabric){.a = a,
                            .switches = switches,
                            .nodes = nodes,
                            .node_up = node_up,
                            .target = -1};
    t->parent = bm_new(a, room, sizeof(*t->parent));
    t->up = bm_new(a, room, sizeof(*t->up));
    t->reach = bm_new(a, room, sizeof(*t->reach));
    t->depth = bm_new(a, room, sizeof(*t->depth));
    t->leaf = bm_new(a, (size_t)nodes, sizeof(*t->leaf));
    return t->parent && t->up && t->reach && t->depth && t->leaf ? BOUMA_OK
                                                                 : BOUMA_ENOMEM;
}

void bm_fabric_release(struct bm_fabric *t)
{
    if (!t->a)
        return;
    bm_drop(t->a, t->parent);
    bm_drop(t->a, t->up);
    bm_drop(t->a, t->reach);
    bm_drop(t->a, t->depth);
    bm_drop(t->a, t->leaf);
    memset(t, 0, sizeof(*t));
}

int bm_fabric_find_loop(const struct bm_fabric *t)
{
    for (int s = 0; s < t->switches; s++) {
        int above = 0;

        for (int p = t->parent[s]; p >= 0; p = t->parent[p])
            if (++above == BM_FABRIC_DEPTH)
                return s;
    }
    return -1;
}

/* What finishing needs for a while. */
struct numbering {
    int *number; /* of each switch, from the top */
    int *order;  /* switches, the upper ones first */
    int *below;  /* switches at and below one; then: the next number there */
    int *nodes;  /* at and below one */
};

static void measure_depths(struct bm_fabric *t)
{
    for (int s = 0; s < t->switches; s++) {
        t->depth[s] = 0;
        for (int p = t->parent[s]; p >= 0; p = t->parent[p])
            t->depth[s]++;
    }
}

/* Switches by depth. */
static void sort_by_depth(const struct bm_fabric *t, int *order)
{
    int start[BM_FABRIC_DEPTH + 2] = {0};

    for (int s = 0; s < t->switches; s++)
        start[t->depth[s] + 1]++;
    for (int d = 0; d <= BM_FABRIC_DEPTH; d++)
        start[d + 1] += start[d];
    for (int s = 0; s < t->switches; s++)
        order[start[t->depth[s]]++] = s;
}

static void count_nodes(const struct bm_fabric *t, const struct numbering *n)
{
    for (int i = 0; i < t->nodes; i++)
        if (t->leaf[i] >= 0)
            n->nodes[t->leaf[i]]++;
    for (int i = t->switches - 1; i >= 0; i--)
        if (t->parent[n->order[i]] >= 0)
            n->nodes[t->parent[n->order[i]]] += n->nodes[n->order[i]];
}

/* Let there be one top: the one that has nodes, or a new switch over several.
 * Tops without nodes, such as the second of two parents of the same switches,
 * go below it, where they do not matter. */
static int find_file_tree(struct bm_fabric *t, const struct numbering *n)
{
    int top = -1, several = 0;

    for (int s = 0; s < t->switches; s++)
        if (t->parent[s] < 0 && n->nodes[s]) {
            several = top >= 0;
            if (several)
                break;
            top = s;
        }
    if (top < 0 || several) {
        top = t->switches++;
        t->parent[top] = -1;
    }
    for (int s = 0; s < t->switches; s++)
        if (t->parent[s] < 0 && s != top) {
            t->parent[s] = top;
            t->up[s] = 2;
        }
    t->up[top] = 0;
    return top;
}

/* A switch gets the number behind all that is below its elder brothers. */
static void number_switches(const struct bm_fabric *t,
                            const struct numbering *n)
{
    for (int i = 0; i < t->switches; i++)
        n->below[i] = 1;
    for (int i = t->switches - 1; i > 0; i--)
        n->below[t->parent[n->order[i]]] += n->below[n->order[i]];
    for (int i = 0; i < t->switches; i++) {
        int s = n->order[i], p = t->parent[s], size = n->below[s];

        n->number[s] = p < 0 ? 0 : n->below[p];
        if (p >= 0)
            n->below[p] += size;
        n->below[s] = n->number[s] + 1;
    }
}

static void renumber(struct bm_fabric *t, const struct numbering *n)
{
    int *parent = n->below, *up = n->order; /* not needed any more */
    int *number = n->number;

    memcpy(parent, t->parent, sizeof(int) * (size_t)t->switches);
    memcpy(up, t->up, sizeof(int) * (size_t)t->switches);
    for (int s = 0; s < t->switches; s++) {
        t->parent[number[s]] = parent[s] < 0 ? -1 : number[parent[s]];
        t->up[number[s]] = up[s];
    }
    for (int s = 1; s < t->switches; s++) { /* parents come first */
        t->depth[s] = t->depth[t->parent[s]] + 1;
        t->reach[s] = t->reach[t->parent[s]] + t->up[s];
    }
    for (int i = 0; i < t->nodes; i++)
        t->leaf[i] = t->leaf[i] < 0 ? 0 : number[t->leaf[i]];
    t->target = t->target < 0 ? 0 : number[t->target];
}

int bm_fabric_finish(struct bm_fabric *t)
{
    size_t room = (size_t)t->switches + 1;
    int *all = bm_new(t->a, 4 * room, sizeof(*all));
    struct numbering n;

    if (!all)
        return BOUMA_ENOMEM;
    n = (struct numbering){all, all + room, all + 2 * room, all + 3 * room};
    measure_depths(t);
    sort_by_depth(t, n.order);
    count_nodes(t, &n);
    find_file_tree(t, &n);
    measure_depths(t);
    sort_by_depth(t, n.order);
    number_switches(t, &n);
    t->depth[0] = t->reach[0] = 0;
    renumber(t, &n);
    bm_drop(t->a, all);
    return BOUMA_OK;
}

int bm_fabric_init_regular(struct bm_fabric *t, const bouma_allocator *a,
                           const int *down, const int *up, int levels,
                           int node_up)
{
    int count[BM_FABRIC_DEPTH], switches = 0, nodes, rc;

    count[levels - 1] = 1;
    for (int l = levels - 1; l > 0; l--)
        count[l - 1] = count[l] * down[l];
    nodes = count[0] * down[0];
    for (int l = 0; l < levels; l++)
        switches += count[l];
    rc = bm_fabric_init(t, a, switches, nodes, node_up);
    if (rc)
        return rc;
    /* The lowest ones first. */
    for (int l = 0, first = 0; l < levels; first += count[l++])
        for (int i = 0; i < count[l]; i++) {
            int next = first + count[l];

            t->parent[first + i] = l + 1 < levels ? next + i / down[l + 1] : -1;
            t->up[first + i] = l + 1 < levels ? up[l] : 0;
        }
    for (int i = 0; i < nodes; i++)
        t->leaf[i] = i / down[0];
    return bm_fabric_finish(t);
}

/* ---- distances ---------------------------------------------------------- */

static int between_switches(const struct bm_fabric *t, int a, int b)
{
    int length = t->reach[a] + t->reach[b];

    while (a != b) /* what is below another has the larger number */
        if (a > b)
            a = t->parent[a];
        else
            b = t->parent[b];
    return length - 2 * t->reach[a];
}

int bm_fabric_hops(const struct bm_topology *topology, int from, int to)
{
    const struct bm_fabric *t = &topology->tree;

    if (from == to)
        return 0;
    return (between_switches(t, t->leaf[from], t->leaf[to]) + 2 * t->node_up) /
           2;
}

int bm_fabric_hops_to_target(const struct bm_topology *topology, int node)
{
    const struct bm_fabric *t = &topology->tree;
    int halves = between_switches(t, t->leaf[node], t->target) + t->node_up + 2;

    return (halves + 1) / 2;
}

/* ---- sums --------------------------------------------------------------- */

/* The weight on each node goes up through the switches; where several meet,
 * each has that switch in common with all of them:
 *
 *     sum over k: w(k) * |k, i| = sum over k: w(k) * (up(k) + up(i))
 *                                 - 2 * sum over s above i: length(s) * w(s)
 *
 * where up() is the way to the top, length(s) that from s to its parent, and
 * w(s) all the weight below s. 's' is sorted by switches, so what is below one
 * is one run. 'at' has the switch that each has got to. */
static void add_shared(const struct bm_fabric *t, const struct bm_summand *s,
                       size_t count, int *at, double *shared)
{
    int deepest = 0;

    for (size_t i = 0; i < count; i++) {
        at[i] = s[i].key;
        deepest = t->depth[at[i]] > deepest ? t->depth[at[i]] : deepest;
    }
    for (int d = deepest; d > 0; d--)
        for (size_t i = 0, end; i < count; i = end) {
            int here = at[i];
            double weight = 0;

            for (end = i; end < count && at[end] == here; end++)
                weight += s[end].weight;
            if (t->depth[here] != d)
                continue;
            for (size_t k = i; k < end; k++) {
                shared[k] += weight * t->up[here];
                at[k] = t->parent[here];
            }
        }
}

/* What is on one node has the way to its switch in common, too. */
static void share_nodes(const struct bm_fabric *t, const struct bm_summand *s,
                        size_t count, double *shared)
{
    for (size_t i = 0, end; i < count; i = end) {
        double weight = 0;

        for (end = i; end < count && s[end].node == s[i].node; end++)
            weight += s[end].weight;
        for (size_t k = i; k < end; k++)
            shared[k] = weight * t->node_up;
    }
}

static void sum_up(const struct bm_fabric *t, const struct bm_summand *s,
                   size_t count, const double *shared, double *sums)
{
    double weight = 0, moment = 0;

    for (size_t i = 0; i < count; i++) {
        weight += s[i].weight;
        moment += s[i].weight * (t->reach[s[i].key] + t->node_up);
    }
    for (size_t i = 0; i < count; i++)
        sums[s[i].index] = (moment - 2 * shared[i] +
                            weight * (t->reach[s[i].key] + t->node_up)) /
                           2;
}

int bm_fabric_sums(const struct bm_topology *topology, const bouma_allocator *a,
                   const int *nodes, const double *weight, size_t count,
                   double *sums)
{
    const struct bm_fabric *t = &topology->tree;
    struct bm_summand *s = bm_new_raw(a, count, sizeof(*s));
    double *shared = bm_new_raw(a, count, sizeof(*shared));
    int *at = bm_new_raw(a, count, sizeof(*at));
    int rc = s && shared && at ? BOUMA_OK : BOUMA_ENOMEM;

    for (size_t i = 0; !rc && i < count; i++)
        s[i] = (struct bm_summand){t->leaf[nodes[i]], nodes[i], i,
                                   weight ? weight[i] : 1};
    if (!rc) {
        bm_summands_sort(s, count);
        share_nodes(t, s, count, shared);
        add_shared(t, s, count, at, shared);
        sum_up(t, s, count, shared, sums);
    }
    bm_drop(a, at);
    bm_drop(a, shared);
    bm_drop(a, s);
    return rc;
}

/* Of switches that a machine file or Slurm names. */
const struct bm_topology_kind bm_topology_tree = {
    .name = "tree",
    .hops = bm_fabric_hops,
    .hops_to_target = bm_fabric_hops_to_target,
    .sums = bm_fabric_sums,
};
