/* rank_tree.c -- see rank_tree.h. */
#include "comm/rank_tree.h"

#include "base/search.h"

/* Where part i of a run begins, behind its first; part BM_TREE_PARTS is its
 * end. Of a short run some parts are empty. */
static int begin_of(int first, int end, int i)
{
    return first + 1 + (int)((int64_t)(end - first - 1) * i / BM_TREE_PARTS);
}

/* The run that begins with 'wanted', one of those from 0 (first) up to *end,
 * and the first of the run that it is a part of; -1: none. */
static int descend(int first, int *end, int wanted)
{
    int above = -1;

    while (first != wanted) {
        int i = 0;

        while (begin_of(first, *end, i + 1) <= wanted)
            i++;
        above = first;
        first = begin_of(above, *end, i);
        *end = begin_of(above, *end, i + 1);
    }
    return above;
}

static void add_child(struct bm_family *f, const struct bm_places *p, int begin,
                      int end)
{
    f->child[f->count] = bm_places_rank(p, begin);
    f->begin[f->count++] = begin;
    f->begin[f->count] = end;
}

void bm_family_of(struct bm_family *out, const struct bm_places *p, int rank)
{
    int position = bm_places_position(p, rank);
    int node = bm_places_node_at(p, position);
    int end = p->first[node + 1], last = p->nodes;
    int above = descend(p->first[node], &end, position);

    *out = (struct bm_family){.parent = -1, .begin = {position + 1}};
    for (int i = 0; i < BM_TREE_PARTS; i++) {
        int from = begin_of(position, end, i);
        int to = begin_of(position, end, i + 1);

        if (to > from)
            add_child(out, p, from, to);
    }
    if (above >= 0) {
        out->parent = bm_places_rank(p, above);
        return;
    }
    above = descend(0, &last, node);
    if (above >= 0)
        out->parent = bm_places_rank(p, p->first[above]);
    for (int i = 0; i < BM_TREE_PARTS; i++) {
        int from = begin_of(node, last, i), to = begin_of(node, last, i + 1);

        if (to > from)
            add_child(out, p, p->first[from], p->first[to]);
    }
}

int bm_family_towards(const struct bm_family *f, int position)
{
    size_t at = 0;

    if (position < f->begin[0] || position >= f->begin[f->count])
        return -1;
    BM_BISECT(at, (size_t)f->count, i, f->begin[i] <= position);
    return (int)at;
}
