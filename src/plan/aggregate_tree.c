/* aggregate_tree.c -- the aggregation tree of paper 002, section III-A, and the
 * one that makes a given number of even files.
 *
 * Items are moved so that those of a node are neighbours, on their order. Nodes
 * wait in a list. Where a number of files is wanted, the node with the most
 * particles is cut first, until there are as many leaves: as no child has more
 * than its parent, that is the tree of the target for which there are so many.
 * Else the last node is cut first, which stays in the cache. */
#include "plan/aggregate_tree.h"

#include <string.h>

/* Planes that leave nearly all on one side could follow each other as often as
 * there are units. Below this depth, units are divided by their order. There,
 * of a node, its child and that one's child, the last has at most 2/3 of the
 * particles of the first, or one unit; so the tree's depth is below
 * 64 + 2 log(2^62) / log(1.5) < 300 whatever the units are. */
#define DEEP 64

struct node {
    uint64_t count; /* particles */
    double split;
    uint32_t first, items;
    uint32_t child; /* the left one; the right one follows; 0: a leaf */
    uint32_t files; /* that it stands for, of `split` */
    int16_t axis, depth;
};

struct build {
    const bouma_allocator *a;
    struct bm_item *items, *aside;
    struct bm_weight *scratch;
    struct node *nodes;
    size_t node_count, room;
    uint32_t *waiting; /* a stack, or a heap by particles */
    size_t waiting_count;
    int by_size;
    int depth; /* of the deepest node */
};

/* ---- nodes that wait ---------------------------------------------------- */

/* Whether x is to be cut before y. */
static int sooner(const struct build *b, uint32_t x, uint32_t y)
{
    return b->nodes[x].count != b->nodes[y].count
               ? b->nodes[x].count > b->nodes[y].count
               : x < y;
}

static void put(struct build *b, uint32_t node)
{
    uint32_t *heap = b->waiting;
    size_t at = b->waiting_count++;

    for (; b->by_size && at && sooner(b, node, heap[(at - 1) / 2]);
         at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = node;
}

static uint32_t take(struct build *b)
{
    uint32_t *heap = b->waiting, last = heap[--b->waiting_count], top = heap[0];
    size_t at = 0, count = b->waiting_count;

    if (!b->by_size || !count)
        return last;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && sooner(b, heap[child + 1], heap[child]))
            child++;
        if (!sooner(b, heap[child], last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

/* ---- cutting ------------------------------------------------------------ */

static int make_room(struct build *b)
{
    size_t room = b->room ? 2 * b->room : 64;
    void *nodes, *waiting;

    if (b->node_count + 2 <= b->room)
        return BOUMA_OK;
    nodes = bm_resize(b->a, b->nodes, room, sizeof(*b->nodes));
    if (!nodes)
        return BOUMA_ENOMEM;
    b->nodes = nodes;
    waiting = bm_resize(b->a, b->waiting, room, sizeof(*b->waiting));
    if (!waiting)
        return BOUMA_ENOMEM;
    b->waiting = waiting;
    b->room = room;
    return BOUMA_OK;
}

/* Move the items of a node that are to the left before the others. */
static void part(struct build *b, const struct node *n,
                 const struct bm_cut *cut)
{
    struct bm_item *items = b->items + n->first;
    size_t left = 0, right = 0;

    if (cut->axis < 0)
        return;
    for (size_t i = 0; i < n->items; i++) {
        int is_left = bm_item_centre(&items[i], cut->axis) <= cut->split;

        /* Both, and one of them counts: no branch that nobody can foresee. */
        b->aside[right] = items[i];
        items[left] = items[i];
        left += (size_t)is_left;
        right += (size_t)!is_left;
    }
    memcpy(items + left, b->aside, right * sizeof(*items));
}

/* The files of the left child, of two or more of the node: as many as its
 * particles ask for, which is what the cut was wished for if units are small;
 * each child has one. */
static uint32_t left_files(const struct node *n, const struct bm_cut *cut)
{
    double share = (double)cut->left / (double)n->count * n->files;
    uint32_t files = (uint32_t)(share + 0.5);

    return files < 1 ? 1 : files < n->files ? files : n->files - 1;
}

static int split(struct build *b, uint32_t at, const struct bm_cut *cut)
{
    struct node *n, left, right;
    int rc = make_room(b);

    if (rc)
        return rc;
    n = &b->nodes[at];
    part(b, n, cut);
    n->axis = (int16_t)cut->axis;
    n->split = cut->split;
    n->child = (uint32_t)b->node_count;
    left = right = (struct node){.depth = (int16_t)(n->depth + 1), .axis = -1};
    b->depth = left.depth > b->depth ? left.depth : b->depth;
    left.first = n->first;
    left.items = (uint32_t)cut->left_items;
    left.count = cut->left;
    right.first = left.first + left.items;
    right.items = n->items - left.items;
    right.count = n->count - left.count;
    if (n->files > 1) {
        uint32_t files = left_files(n, cut);

        /* None without a unit. */
        left.files = files < left.items ? files : left.items;
        files = n->files - files;
        right.files = files < right.items ? files : right.items;
    }
    b->nodes[b->node_count++] = left;
    b->nodes[b->node_count++] = right;
    put(b, n->child + 1);
    put(b, n->child);
    return BOUMA_OK;
}

/* ---- when to cut -------------------------------------------------------- */

struct rules {
    int by_files; /* each node knows how many files it stands for */
    int64_t limit;
    uint64_t capacity; /* particles */
    double overfull;   /* particles */
    double lopsided;
    struct bm_cut_request request;
};

static int is_lopsided(const struct node *n, const struct bm_cut *cut,
                       double limit)
{
    double left = (double)cut->left, right = (double)(n->count - cut->left);

    return (left > right ? left : right) >=
           limit * (left > right ? right : left);
}

static int grow(struct build *b, const struct rules *rules)
{
    int64_t leaves = 1;

    while (b->waiting_count) {
        uint32_t at = take(b);
        const struct node *n = &b->nodes[at];
        struct bm_cut_request request = rules->request;
        struct bm_cut cut;
        int rc;

        if (n->items == 1 ||
            (rules->by_files ? n->files == 1 : n->count <= rules->capacity))
            continue;
        if (!rules->by_files && leaves >= rules->limit &&
            (n->count <= BM_AGGREGATE_PARTICLES ||
             leaves >= BM_AGGREGATE_FILES))
            break;
        if (rules->by_files) {
            request.part = n->files / 2;
            request.of = n->files;
        }
        if (n->depth < DEEP)
            bm_cut_best(&cut, b->scratch, b->items + n->first, n->items,
                        n->count, &request);
        else
            bm_cut_order(&cut, b->items + n->first, n->items, n->count,
                         &request);
        if (!rules->by_files && (double)n->count <= rules->overfull &&
            is_lopsided(n, &cut, rules->lopsided))
            continue;
        rc = split(b, at, &cut);
        if (rc)
            return rc;
        leaves++;
    }
    return BOUMA_OK;
}

/* ---- the result --------------------------------------------------------- */

/* Number nodes in preorder and files in the order of leaves. */
static int finish(struct bm_aggregation *out, const struct build *b)
{
    /* What waits: of each node on the way, its right child. */
    struct later {
        uint32_t node, parent; /* 'parent' by its new number */
    } *stack = bm_new_raw(b->a, (size_t)b->depth + 2, sizeof(*stack));
    size_t waiting = 0;

    out->nodes = bm_new_raw(b->a, b->node_count, sizeof(*out->nodes));
    if (!stack || !out->nodes) {
        bm_drop(b->a, stack);
        return BOUMA_ENOMEM;
    }
    stack[waiting++] = (struct later){0, UINT32_MAX};
    while (waiting) {
        struct later now = stack[--waiting];
        const struct node *n = &b->nodes[now.node];
        uint32_t index = (uint32_t)out->node_count;

        if (now.parent != UINT32_MAX)
            out->nodes[now.parent].right = index;
        for (; n->child; n = &b->nodes[n->child]) {
            index = (uint32_t)out->node_count++;
            out->nodes[index] =
                (struct bm_aggregation_node){0, 0, n->axis, n->split};
            stack[waiting++] = (struct later){n->child + 1, index};
        }
        out->nodes[out->node_count++] =
            (struct bm_aggregation_node){0, (uint32_t)out->files, -1, 0};
        for (uint32_t i = 0; i < n->items; i++)
            out->file[b->items[n->first + i].unit] = (uint32_t)out->files;
        out->files++;
    }
    bm_drop(b->a, stack);
    return BOUMA_OK;
}

int bm_aggregation_build(struct bm_aggregation *out,
                         const struct bm_aggregation_spec *spec,
                         struct bm_item *items, size_t count, uint64_t capacity,
                         int64_t files)
{
    struct build b = {.a = out->a, .items = items};
    double overfull = spec->overfull > 0 ? spec->overfull : 1.5;
    struct rules rules = {
        .by_files = spec->scheme == BOUMA_ASSIGN_SPLIT,
        .limit = files ? files : BM_AGGREGATE_FILES,
        .capacity = files ? 0 : capacity,
        .overfull = files ? 0 : overfull * (double)capacity,
        .lopsided = spec->lopsided > 0 ? spec->lopsided : 4,
        /* Edges of pieces lie together on the borders of octree cells, with
         * many pieces between; files were up to 1.9 times the mean by them. */
        .request = {1, 2, spec->ndims, spec->best_axis,
                    spec->scheme == BOUMA_ASSIGN_SPLIT},
    };
    struct node root = {.items = (uint32_t)count, .axis = -1};
    int rc = BOUMA_ENOMEM;

    if (rules.overfull > (double)BM_AGGREGATE_PARTICLES)
        rules.overfull = (double)BM_AGGREGATE_PARTICLES;
    b.by_size = !rules.by_files && (uint64_t)rules.limit < count;
    b.aside = bm_new_raw(b.a, count, sizeof(*b.aside));
    b.scratch = bm_new_raw(b.a, count, sizeof(*b.scratch));
    if (!b.aside || !b.scratch || make_room(&b))
        goto out;
    for (size_t i = 0; i < count; i++)
        root.count += items[i].count;
    if (rules.by_files)
        root.files = (uint64_t)files < count ? (uint32_t)files : root.items;
    b.nodes[b.node_count++] = root;
    put(&b, 0);
    rc = grow(&b, &rules);
    if (!rc)
        rc = finish(out, &b);
out:
    bm_drop(b.a, b.waiting);
    bm_drop(b.a, b.nodes);
    bm_drop(b.a, b.scratch);
    bm_drop(b.a, b.aside);
    return rc;
}
