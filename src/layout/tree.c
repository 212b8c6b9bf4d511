/* tree.c -- see tree.h: its bitmaps, and what of it a query needs. */
#include "layout/tree.h"

#include <string.h>

void bm_tree_init(struct bm_tree *t, const bouma_allocator *a)
{
    memset(t, 0, sizeof(*t));
    t->a = a;
}

void bm_tree_release(struct bm_tree *t)
{
    if (!t->a)
        return;
    bm_drop(t->a, t->nodes);
    bm_drop(t->a, t->bins);
    bm_drop(t->a, t->bitmaps);
    bm_tree_init(t, t->a);
}

uint32_t bm_tree_left(uint32_t n, uint32_t leaf)
{
    uint64_t leaves = n / leaf + (n % leaf != 0), half = (leaves + 1) / 2;

    return (uint32_t)((n * half + leaves - 1) / leaves);
}

/* ---- bitmaps ------------------------------------------------------------ */

int bm_tree_add_maps(struct bm_tree *t, uint32_t maps)
{
    t->bins = bm_new(t->a, maps, sizeof(*t->bins));
    if (!t->bins || (maps && t->node_count > SIZE_MAX / maps))
        return BOUMA_ENOMEM;
    t->bitmaps =
        bm_new(t->a, (size_t)maps * t->node_count, sizeof(*t->bitmaps));
    if (!t->bitmaps)
        return BOUMA_ENOMEM;
    t->maps = maps;
    return BOUMA_OK;
}

/* The leaf that has a slot. */
static uint32_t leaf_of(const struct bm_tree *t, uint32_t slot)
{
    uint32_t at = 0;

    while (t->nodes[at].right)
        at = slot < t->nodes[at + 1].end ? at + 1 : t->nodes[at].right;
    return at;
}

void bm_tree_fill_map(struct bm_tree *t, uint32_t map, const void *values,
                      uint32_t begin, uint32_t end)
{
    const struct bm_bins *bins = &t->bins[map];
    uint32_t *bitmap = t->bitmaps + (size_t)map * t->node_count;
    size_t size = bouma_type_size(bins->type);

    end = end < t->count ? end : t->count;
    if (begin >= end)
        return;
    for (uint32_t i = leaf_of(t, begin);
         i < t->node_count && t->nodes[i].begin < end; i++) {
        const struct bm_tree_node *node = &t->nodes[i];
        uint32_t first = node->begin > begin ? node->begin : begin;
        uint32_t last = node->end < end ? node->end : end;

        if (!node->right) /* and another thread may have slots of it, too */
            __atomic_fetch_or(
                &bitmap[i],
                bm_bins_map(bins, (const char *)values + (first - begin) * size,
                            last - first),
                __ATOMIC_RELAXED);
    }
}

void bm_tree_join_maps(struct bm_tree *t)
{
    for (uint32_t map = 0; map < t->maps; map++) {
        uint32_t *bitmap = t->bitmaps + (size_t)map * t->node_count;

        for (uint32_t i = t->node_count; i-- > 0;)
            if (t->nodes[i].right)
                bitmap[i] = bitmap[i + 1] | bitmap[t->nodes[i].right];
    }
}

/* ---- queries ------------------------------------------------------------ */

/* The nodes that are still to be looked at. */
struct search {
    const struct bm_tree *t;
    const struct bm_tree_query *query;
    struct bm_tree_visit *pending;
    size_t depth, room;
    uint32_t begin, end; /* slots */
};

static int push(struct search *s, const struct bm_tree_visit *v)
{
    if (s->depth == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        void *grown = bm_resize(s->t->a, s->pending, room, sizeof(*s->pending));

        if (!grown)
            return BOUMA_ENOMEM;
        s->pending = grown;
        s->room = room;
    }
    s->pending[s->depth++] = *v;
    return BOUMA_OK;
}

/* Whether the box has any of the region; *inside: all of it. */
static int meets_box(const struct bm_tree *t, const struct bm_tree_query *q,
                     const struct bm_tree_visit *v, int *inside)
{
    *inside = 1;
    for (int axis = 0; axis < t->ndims && q->boxed; axis++) {
        int closed = q->closed >> axis & 1;
        double low = v->low[axis], high = v->high[axis];

        /* Whatever is not a number is met by nothing. */
        if (!(high >= q->low[axis]) ||
            !(closed ? low <= q->high[axis] : low < q->high[axis]) ||
            !(closed ? q->low[axis] <= q->high[axis]
                     : q->low[axis] < q->high[axis]))
            return 0;
        if (low < q->low[axis] ||
            (closed ? high > q->high[axis] : high >= q->high[axis]))
            *inside = 0;
    }
    return 1;
}

static int has_wanted(const struct bm_tree *t, const struct bm_tree_query *q,
                      uint32_t node)
{
    for (size_t i = 0; i < q->rows; i++)
        if (!(t->bitmaps[(size_t)q->row[i] * t->node_count + node] &
              q->wanted[i]))
            return 0;
    return 1;
}

int bm_tree_meets(const struct bm_tree *t, const struct bm_tree_query *one,
                  const struct bm_tree_visit *v, int *inside)
{
    int box = meets_box(t, one, v, inside);

    *inside = *inside && box;
    return box && has_wanted(t, one, v->node);
}

/* Whether a node can match any alternative. A region that is inside of all
 * boxes need not be compared with them again. */
static int meets_any(const struct search *s, struct bm_tree_visit *v)
{
    int any = 0, all_inside = 1, inside;

    for (const struct bm_tree_query *q = s->query; q; q = q->next)
        if (v->inside) {
            any |= has_wanted(s->t, q, v->node);
        } else {
            any |= bm_tree_meets(s->t, q, v, &inside);
            all_inside &= inside;
        }
    v->inside = v->inside || all_inside;
    return any;
}

/* One node: dropped, or told, and perhaps replaced by its children. */
static int visit(struct search *s, struct bm_tree_visit *v,
                 int (*each)(void *context, const struct bm_tree_visit *v),
                 void *context)
{
    const struct bm_tree_node *node = &s->t->nodes[v->node];
    struct bm_tree_visit right;
    int rc;

    if (node->end <= s->begin || node->begin >= s->end || !meets_any(s, v))
        return BOUMA_OK;
    rc = each(context, v);
    if (rc <= 0 || !node->right)
        return rc < 0 ? rc : BOUMA_OK;
    right = *v;
    right.node = node->right;
    right.low[node->axis] = node->split;
    rc = push(s, &right);
    v->node++;
    v->high[node->axis] = node->split;
    return rc ? rc : push(s, v);
}

int bm_tree_walk(const struct bm_tree *t, const struct bm_tree_query *query,
                 int (*each)(void *context, const struct bm_tree_visit *v),
                 void *context)
{
    struct search s = {.t = t,
                       .query = query,
                       .begin = query->begin,
                       .end = query->end ? query->end : UINT32_MAX};
    struct bm_tree_visit v = {.inside = 0};
    int rc = BOUMA_OK;

    memcpy(v.low, t->low, sizeof(v.low));
    memcpy(v.high, t->high, sizeof(v.high));
    if (t->node_count)
        rc = push(&s, &v);
    while (!rc && s.depth) {
        v = s.pending[--s.depth];
        rc = visit(&s, &v, each, context);
    }
    bm_drop(t->a, s.pending);
    return rc;
}

/* ---- runs --------------------------------------------------------------- */

struct runs {
    const struct bm_tree *t;
    const struct bm_tree_query *query;
    struct bm_run *list;
    size_t count, room;
};

static int add_run(struct runs *r, uint32_t begin, uint32_t end, int inside)
{
    struct bm_run *last = r->count ? &r->list[r->count - 1] : NULL;

    begin = begin > r->query->begin ? begin : r->query->begin;
    end = r->query->end && end > r->query->end ? r->query->end : end;
    if (last && last->end == begin && last->inside == inside) {
        last->end = end;
        return BOUMA_OK;
    }
    if (r->count == r->room) {
        size_t room = r->room ? 2 * r->room : 16;
        void *grown = bm_resize(r->t->a, r->list, room, sizeof(*r->list));

        if (!grown)
            return BOUMA_ENOMEM;
        r->list = grown;
        r->room = room;
    }
    r->list[r->count++] = (struct bm_run){begin, end, inside};
    return BOUMA_OK;
}

/* Whether some alternative asks only for the box. */
static int has_free(const struct bm_tree_query *q)
{
    for (; q; q = q->next)
        if (!q->rows)
            return 1;
    return 0;
}

static int take_node(void *context, const struct bm_tree_visit *v)
{
    struct runs *r = context;
    const struct bm_tree_node *node = &r->t->nodes[v->node];

    if (node->right && !(v->inside && has_free(r->query)))
        return 1;
    return add_run(r, node->begin, node->end, v->inside);
}

int bm_tree_select(const struct bm_tree *t, const struct bm_tree_query *query,
                   struct bm_run **runs, size_t *count)
{
    struct runs r = {.t = t, .query = query};
    int rc = bm_tree_walk(t, query, take_node, &r);

    if (rc)
        bm_drop(t->a, r.list);
    *runs = rc ? NULL : r.list;
    *count = rc ? 0 : r.count;
    return rc;
}
