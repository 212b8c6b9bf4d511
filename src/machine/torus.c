/* torus.c -- "torus:AxBxC...": rings along up to six axes; the last coordinate
 * is that of neighbours in the order of nodes. As on a Blue Gene, each 128
 * nodes in order (or as 'io' tells) reach the storage through the first of
 * them. */
#include "machine/topology.h"

static int coordinate(const struct bm_topology *t, int axis, int node)
{
    return node / t->stride[axis] % t->extent[axis];
}

static int hops(const struct bm_topology *t, int from, int to)
{
    int links = 0;

    for (int d = 0; d < t->axes; d++) {
        int way = coordinate(t, d, from) - coordinate(t, d, to);

        way = way < 0 ? -way : way;
        links += way < t->extent[d] - way ? way : t->extent[d] - way;
    }
    return links;
}

/* ---- sums, axis by axis ------------------------------------------------- */

/* Positions on a ring, ascending. What the ring is cut at is no border:
 * position i + count is position i, one turn further. */
struct ring {
    int extent;
    size_t count;
    int *position;
    double *weight;      /* of all positions before one: [2 * count + 1] */
    double *moment;      /* of weight times position, in the same way */
    int *cell;           /* for each rank of the sum: its position, by number */
    double *at_position; /* the sum at each position */
    struct bm_summand *sorted;
};

/* A list of all coordinates if they are few; else one of those that occur. */
static void list_positions(struct ring *r, const struct bm_topology *t,
                           int axis, const int *nodes, size_t count)
{
    r->extent = t->extent[axis];
    r->count = 0;
    if ((size_t)r->extent <= count) {
        for (; r->count < (size_t)r->extent; r->count++)
            r->position[r->count] = (int)r->count;
        for (size_t i = 0; i < count; i++)
            r->cell[i] = coordinate(t, axis, nodes[i]);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        r->sorted[i].key = coordinate(t, axis, nodes[i]);
        r->sorted[i].node = 0;
        r->sorted[i].index = i;
    }
    bm_summands_sort(r->sorted, count);
    for (size_t i = 0; i < count; i++) {
        if (!i || r->sorted[i].key != r->sorted[i - 1].key)
            r->position[r->count++] = r->sorted[i].key;
        r->cell[r->sorted[i].index] = (int)r->count - 1;
    }
}

static void sum_weights(struct ring *r, const double *weight, size_t count)
{
    size_t n = r->count;

    for (size_t i = 0; i <= n; i++)
        r->weight[i] = 0;
    for (size_t i = 0; i < count; i++)
        r->weight[r->cell[i] + 1] += weight ? weight[i] : 1;
    r->moment[0] = 0;
    for (size_t i = 0; i < n; i++) {
        r->moment[i + 1] = r->moment[i] + r->weight[i + 1] * r->position[i];
        r->weight[i + 1] += r->weight[i];
    }
    for (size_t i = 1; i <= n; i++) {
        r->weight[n + i] = r->weight[n] + r->weight[i];
        r->moment[n + i] =
            r->moment[n] + r->moment[i] + r->extent * r->weight[i];
    }
}

/* The sum of weight times distance from position i. Those in the first half
 * turn are reached forwards, the others backwards; 'half' is the first of
 * these, and only moves on as i does. */
static double distance_sum(const struct ring *r, size_t i, size_t *half)
{
    double here = r->position[i], turn = here + r->extent;
    size_t end = i + r->count, n = r->count;

    while (*half < end && (*half < n ? r->position[*half]
                                     : r->position[*half - n] + r->extent) -
                                  r->position[i] <=
                              r->extent / 2)
        ++*half;
    return (r->moment[*half] - r->moment[i]) -
           here * (r->weight[*half] - r->weight[i]) +
           turn * (r->weight[end] - r->weight[*half]) -
           (r->moment[end] - r->moment[*half]);
}

static void add_axis(struct ring *r, const double *weight, size_t count,
                     double *sums)
{
    size_t half = 0;

    sum_weights(r, weight, count);
    for (size_t i = 0; i < r->count; i++)
        r->at_position[i] = distance_sum(r, i, &half);
    for (size_t i = 0; i < count; i++)
        sums[i] += r->at_position[r->cell[i]];
}

static int torus_sums(const struct bm_topology *t, const bouma_allocator *a,
                      const int *nodes, const double *weight, size_t count,
                      double *sums)
{
    struct ring r = {0};
    int rc;

    r.position = bm_new_raw(a, count, sizeof(*r.position));
    r.weight = bm_new_raw(a, 2 * count + 1, sizeof(*r.weight));
    r.moment = bm_new_raw(a, 2 * count + 1, sizeof(*r.moment));
    r.cell = bm_new_raw(a, count, sizeof(*r.cell));
    r.at_position = bm_new_raw(a, count, sizeof(*r.at_position));
    r.sorted = bm_new_raw(a, count, sizeof(*r.sorted));
    rc = r.position && r.weight && r.moment && r.cell && r.at_position &&
                 r.sorted
             ? BOUMA_OK
             : BOUMA_ENOMEM;
    for (size_t i = 0; !rc && i < count; i++)
        sums[i] = 0;
    for (int d = 0; !rc && d < t->axes; d++) {
        list_positions(&r, t, d, nodes, count);
        add_axis(&r, weight, count, sums);
    }
    bm_drop(a, r.sorted);
    bm_drop(a, r.at_position);
    bm_drop(a, r.cell);
    bm_drop(a, r.moment);
    bm_drop(a, r.weight);
    bm_drop(a, r.position);
    return rc;
}

const struct bm_topology_kind bm_topology_torus = {
    .name = "torus",
    .least_axes = 1,
    .most_axes = BM_TOPOLOGY_AXES,
    .io = 128,
    .hops = hops,
    .sums = torus_sums,
};
