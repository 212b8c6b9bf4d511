/* places.c -- see places.h. */
#include "plan/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "base/search.h"

void bm_places_release(struct bm_places *p)
{
    if (p->a) {
        bm_drop(p->a, p->first);
        bm_drop(p->a, p->position);
        bm_drop(p->a, p->rank);
    }
    memset(p, 0, sizeof(*p));
}

/* Ranks at which another node begins than that of the rank before; their
 * number. They are put into 'runs', if it is not NULL. */
static int find_runs(struct bm_keyed *runs, const uint64_t *node, int ranks)
{
    int count = 0;

    for (int r = 0; r < ranks; r++) {
        if (r && node[r] == node[r - 1])
            continue;
        if (runs)
            runs[count] = (struct bm_keyed){node[r], (size_t)r};
        count++;
    }
    return count;
}

/* Whether no two have the same node; they are sorted by it then. */
static int are_different(struct bm_keyed *runs, int count)
{
    qsort(runs, (size_t)count, sizeof(*runs), bm_keyed_compare);
    for (int i = 1; i < count; i++)
        if (runs[i].key == runs[i - 1].key)
            return 0;
    return 1;
}

/* Each run is a node. */
static int take_runs(struct bm_places *p, const uint64_t *node, int runs)
{
    p->nodes = runs;
    p->first = bm_new_raw(p->a, (size_t)runs + 1, sizeof(*p->first));
    if (!p->first)
        return BOUMA_ENOMEM;
    for (int r = 0, n = 0; r < p->ranks; r++)
        if (!r || node[r] != node[r - 1])
            p->first[n++] = r;
    p->first[runs] = p->ranks;
    return BOUMA_OK;
}

/* The nodes of runs that are sorted by node, and then by rank: each by its
 * lowest rank, in that order. Their number. */
static int find_nodes(struct bm_keyed *nodes, const struct bm_keyed *runs,
                      int count)
{
    int n = 0;

    for (int i = 0; i < count; i++)
        if (!i || runs[i].key != runs[i - 1].key)
            nodes[n++] = (struct bm_keyed){runs[i].at, (size_t)i};
    qsort(nodes, (size_t)n, sizeof(*nodes), bm_keyed_compare);
    return n;
}

/* Ranks of a node are apart: they get positions that are not. */
static int sort_runs(struct bm_places *p, const uint64_t *node,
                     const struct bm_keyed *runs, int count)
{
    struct bm_keyed *nodes = bm_new_raw(p->a, (size_t)count, sizeof(*nodes));
    int at = 0;

    if (nodes)
        p->nodes = find_nodes(nodes, runs, count);
    p->first = bm_new_raw(p->a, (size_t)p->nodes + 1, sizeof(*p->first));
    p->position = bm_new_raw(p->a, (size_t)p->ranks, sizeof(*p->position));
    p->rank = bm_new_raw(p->a, (size_t)p->ranks, sizeof(*p->rank));
    if (!nodes || !p->first || !p->position || !p->rank) {
        bm_drop(p->a, nodes);
        return BOUMA_ENOMEM;
    }
    for (int n = 0; n < p->nodes; n++) {
        uint64_t which = runs[nodes[n].at].key;

        p->first[n] = at;
        for (size_t i = nodes[n].at; i < (size_t)count && runs[i].key == which;
             i++)
            for (int r = (int)runs[i].at; r < p->ranks && node[r] == which;
                 r++) {
                p->rank[at] = r;
                p->position[r] = at++;
            }
    }
    p->first[p->nodes] = at;
    bm_drop(p->a, nodes);
    return BOUMA_OK;
}

int bm_places_init(struct bm_places *out, const bouma_allocator *a,
                   const uint64_t *node, int ranks)
{
    int count = find_runs(NULL, node, ranks), rc;
    struct bm_keyed *runs = bm_new_raw(a, (size_t)count, sizeof(*runs));

    *out = (struct bm_places){.a = a, .ranks = ranks};
    if (!runs)
        return BOUMA_ENOMEM;
    find_runs(runs, node, ranks);
    rc = are_different(runs, count) ? take_runs(out, node, count)
                                    : sort_runs(out, node, runs, count);
    bm_drop(a, runs);
    if (rc)
        bm_places_release(out);
    return rc;
}

int bm_places_subset(struct bm_places *out, const struct bm_places *whole,
                     const int *members, int count)
{
    uint64_t *node = bm_new_raw(whole->a, (size_t)count, sizeof(*node));
    int rc = BOUMA_ENOMEM;

    memset(out, 0, sizeof(*out));
    for (int i = 0; i < count && node; i++)
        node[i] = (uint64_t)bm_places_node(whole, members[i]);
    if (node)
        rc = bm_places_init(out, whole->a, node, count);
    bm_drop(whole->a, node);
    return rc;
}

int bm_places_node_at(const struct bm_places *p, int position)
{
    size_t at = 0;

    BM_BISECT(at, (size_t)p->nodes, i, p->first[i] <= position);
    return (int)at;
}

int bm_places_node(const struct bm_places *p, int rank)
{
    return bm_places_node_at(p, bm_places_position(p, rank));
}
