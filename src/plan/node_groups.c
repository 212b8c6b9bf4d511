/* node_groups.c -- see node_groups.h. */
#include "plan/node_groups.h"

struct bm_node_groups bm_node_groups_of(const struct bm_places *places,
                                        int per_file)
{
    int nodes = places->nodes > 0 ? places->nodes : 1;

    return (struct bm_node_groups){places, (nodes - 1) / per_file + 1};
}

int bm_node_group(const struct bm_node_groups *g, int rank)
{
    if (g->groups == 1)
        return 0;
    return (int)((int64_t)bm_places_node(g->places, rank) * g->groups /
                 g->places->nodes);
}

/* The first node of a group: n * G / N is 'group' or more from there on. */
static int first_node(const struct bm_node_groups *g, int group)
{
    return (int)(((int64_t)group * g->places->nodes + g->groups - 1) /
                 g->groups);
}

void bm_node_group_positions(const struct bm_node_groups *g, int group,
                             int *begin, int *end)
{
    *begin = g->places->first[first_node(g, group)];
    *end = g->places->first[first_node(g, group + 1)];
}

int bm_places_ask(struct bm_places *out, const bouma_allocator *a,
                  int (*node)(const void *context, int rank),
                  const void *context, int ranks)
{
    uint64_t *numbers = bm_new_raw(a, (size_t)ranks, sizeof(*numbers));
    int rc = BOUMA_ENOMEM;

    *out = (struct bm_places){.a = NULL};
    for (int r = 0; r < ranks && numbers; r++)
        numbers[r] = (uint64_t)node(context, r);
    if (numbers)
        rc = bm_places_init(out, a, numbers, ranks);
    bm_drop(a, numbers);
    return rc;
}
