/* particle_router.c -- see particle_router.h. */
#include "plan/particle_router.h"

#include <math.h>
#include <string.h>

#include "base/mix.h"
#include "base/search.h"

/* ---- samples ------------------------------------------------------------ */

static double coordinate(const struct bm_positions *p, int axis, size_t i)
{
    const uint8_t *at =
        (const uint8_t *)p->axis[axis] + (int64_t)i * p->stride[axis];
    double d;
    float f;

    if (p->type == BOUMA_TYPE_F64) {
        memcpy(&d, at, sizeof(d));
        return d;
    }
    memcpy(&f, at, sizeof(f));
    return f;
}

/* The particle that is drawn from the i-th of n runs. */
static size_t draw(size_t i, size_t n, size_t count)
{
    size_t begin = count / n * i + count % n * i / n;
    size_t end = count / n * (i + 1) + count % n * (i + 1) / n;

    return begin + (size_t)(bm_mix_next(i) % (end - begin));
}

int bm_sample_make(struct bm_sample *out, const bouma_allocator *a,
                   const struct bm_positions *p, size_t points)
{
    memset(out, 0, sizeof(*out));
    out->a = a;
    if (points > p->count)
        points = p->count;
    out->units = bm_new(a, points, sizeof(*out->units));
    out->which = bm_new(a, points, sizeof(*out->which));
    if (!out->units || !out->which)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < points; i++) {
        struct bm_unit *u = &out->units[out->count];
        size_t which = draw(i, points, p->count);
        int finite = 1;

        for (int d = 0; d < p->ndims; d++) {
            u->low[d] = u->high[d] = coordinate(p, d, which);
            finite &= isfinite(u->low[d]) != 0;
        }
        out->which[out->count] = which;
        out->count += (size_t)finite;
    }
    for (size_t i = 0; i < out->count; i++) {
        uint64_t n = out->count;

        out->units[i].count = p->count / n + (i < p->count % n);
    }
    return BOUMA_OK;
}

void bm_sample_release(struct bm_sample *s)
{
    if (!s->a)
        return;
    bm_drop(s->a, s->units);
    bm_drop(s->a, s->which);
    memset(s, 0, sizeof(*s));
}

/* ---- the part of the tree that concerns a rank -------------------------- */

/* A plane, or a file: that leads to itself, so that all go the same number of
 * steps. */
struct step {
    uint32_t next[2]; /* not above the plane, above */
    int axis;         /* -1: no plane, by turns */
    double split;
    uint32_t slot;       /* of a file: its index in 'files' */
    double share, turns; /* of those that come by, on the left; so far */
};

struct net {
    struct step *steps;
    uint32_t count;
    int depth;
    int turns; /* there is one without a plane */
};

/* A node of the tree that is still to be entered. */
struct todo {
    uint32_t node;
    uint32_t parent, side; /* where in the net */
    int depth;
    double low[3], high[3];
};

/* Particles below each node, from behind. */
static void count_below(const struct bm_aggregation *tree, double *below)
{
    for (size_t i = tree->node_count; i-- > 0;) {
        const struct bm_aggregation_node *n = &tree->nodes[i];

        below[i] = n->right ? below[i + 1] + below[n->right]
                            : (double)tree->counts[n->file];
    }
}

static uint32_t add_step(struct net *net, const struct todo *t)
{
    struct step *s = &net->steps[net->count];

    memset(s, 0, sizeof(*s));
    if (net->count)
        net->steps[t->parent].next[t->side] = net->count;
    if (t->depth > net->depth)
        net->depth = t->depth;
    s->next[0] = s->next[1] = net->count;
    return net->count++;
}

/* Only planes that the bounds are on both sides of matter. 'stack' has room for
 * a node at each depth and one more; it begins with the root and the bounds of
 * all particles. */
static void cast_net(struct net *net, struct bm_particle_router *out,
                     const struct bm_aggregation *tree, const double *below,
                     struct todo *stack)
{
    size_t waiting = 1;

    while (waiting) {
        struct todo t = stack[--waiting], right;
        const struct bm_aggregation_node *n = &tree->nodes[t.node];
        uint32_t at;

        while (n->right && n->axis >= 0 &&
               (t.high[n->axis] <= n->split || t.low[n->axis] > n->split)) {
            t.node = t.high[n->axis] <= n->split ? t.node + 1 : n->right;
            n = &tree->nodes[t.node];
        }
        at = add_step(net, &t);
        net->steps[at].split = INFINITY;
        if (!n->right) {
            net->steps[at].slot = (uint32_t)out->count;
            out->files[out->count++] = n->file;
            continue;
        }
        net->steps[at].axis = n->axis;
        if (n->axis >= 0)
            net->steps[at].split = n->split;
        else
            net->turns = 1;
        net->steps[at].share = below[t.node + 1] / below[t.node];
        t.parent = at;
        t.depth++;
        right = t;
        right.node = n->right;
        right.side = 1;
        t.node++;
        t.side = 0;
        if (n->axis >= 0) {
            t.high[n->axis] = n->split;
            right.low[n->axis] = nextafter(n->split, INFINITY);
        }
        stack[waiting++] = right;
        stack[waiting++] = t;
    }
}

/* ---- particles fall ----------------------------------------------------- */

/* All of a block, plane by plane. */
static void drop_block(const struct net *net, const struct bm_position_block *b,
                       uint32_t *to)
{
    uint32_t at[BM_POSITION_BLOCK];

    memset(at, 0, sizeof(at));
    for (int d = 0; d < net->depth; d++)
        for (size_t i = 0; i < b->count; i++) {
            const struct step *s = &net->steps[at[i]];

            at[i] = s->next[b->at[s->axis][i] > s->split];
        }
    for (size_t i = 0; i < b->count; i++)
        to[i] = net->steps[at[i]].slot;
}

/* One by one, where some go by turns. */
static void drop_by_turns(struct net *net, const struct bm_position_block *b,
                          uint32_t *to)
{
    for (size_t i = 0; i < b->count; i++) {
        uint32_t at = 0, next = 0;

        do {
            struct step *s = &net->steps[at = next];

            if (s->axis >= 0) {
                next = s->next[b->at[s->axis][i] > s->split];
            } else {
                s->turns += s->share;
                next = s->next[s->turns < 1];
                s->turns -= s->turns >= 1;
            }
        } while (next != at);
        to[i] = net->steps[at].slot;
    }
}

int64_t bm_particle_router_find(const struct bm_particle_router *s,
                                uint32_t file)
{
    size_t at = 0;

    BM_BISECT(at, s->count, i, s->files[i] <= file);
    return at < s->count && s->files[at] == file ? (int64_t)at : -1;
}

/* Where each particle goes, into to[particles]. */
static void drop_all(struct net *net, const struct bm_positions *p,
                     const struct bm_particle_router *out,
                     const struct bm_sample *sample, const uint32_t *file,
                     uint32_t *to)
{
    struct bm_position_block b;

    memset(b.at, 0, sizeof(b.at));
    for (size_t from = 0; from < p->count; from += BM_POSITION_BLOCK) {
        bm_positions_load(&b, p, from);
        if (net->turns)
            drop_by_turns(net, &b, to + from);
        else
            drop_block(net, &b, to + from);
    }
    for (size_t i = 0; i < sample->count; i++) {
        int64_t slot = bm_particle_router_find(out, file[i]);

        if (slot >= 0)
            to[sample->which[i]] = (uint32_t)slot;
    }
}

/* List the particles by file; files without any are left out. */
static void list_by_file(struct bm_particle_router *out, const uint32_t *to,
                         size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        out->first[to[i] + 1]++;
    for (size_t k = 0; k < out->count; k++)
        out->first[k + 1] += out->first[k];
    for (size_t i = 0; i < count; i++)
        out->index[out->first[to[i]]++] = (uint32_t)i;
    /* Each begin has moved to its end, which is the next one's begin. */
    for (size_t k = out->count; k > 0; k--)
        out->first[k] = out->first[k - 1];
    out->first[0] = 0;
    for (size_t k = 0; k < out->count; k++)
        if (out->first[k + 1] > out->first[k]) {
            out->files[kept] = out->files[k];
            out->first[++kept] = out->first[k + 1];
        }
    out->count = kept;
}

#define MOST_DEPTH 320 /* of the tree: see aggregate.h */

int bm_particle_router_make(struct bm_particle_router *out,
                            const bouma_allocator *a,
                            const struct bm_positions *p,
                            const struct bm_aggregation *tree,
                            const struct bm_sample *sample,
                            const uint32_t *file)
{
    size_t nodes = tree->node_count, files = (size_t)tree->files;
    double *below = bm_new(a, nodes, sizeof(*below));
    struct todo *stack = bm_new(a, MOST_DEPTH, sizeof(*stack));
    uint32_t *to = bm_new_raw(a, p->count, sizeof(*to));
    struct net net = {.steps = bm_new(a, nodes, sizeof(*net.steps))};
    int rc = p->count >= UINT32_MAX ? BOUMA_ELIMIT : BOUMA_OK;

    memset(out, 0, sizeof(*out));
    out->a = a;
    out->files = bm_new(a, files, sizeof(*out->files));
    out->first = bm_new(a, files + 1, sizeof(*out->first));
    out->index = bm_new_raw(a, p->count, sizeof(*out->index));
    if (!rc && (!below || !stack || !to || !net.steps || !out->files ||
                !out->first || !out->index))
        rc = BOUMA_ENOMEM;
    if (!rc) {
        bm_positions_bounds(p, stack[0].low, stack[0].high);
        count_below(tree, below);
        cast_net(&net, out, tree, below, stack);
        drop_all(&net, p, out, sample, file, to);
        list_by_file(out, to, p->count);
    }
    bm_drop(a, below);
    bm_drop(a, stack);
    bm_drop(a, to);
    bm_drop(a, net.steps);
    return rc;
}

void bm_particle_router_release(struct bm_particle_router *s)
{
    if (!s->a)
        return;
    bm_drop(s->a, s->files);
    bm_drop(s->a, s->first);
    bm_drop(s->a, s->index);
    memset(s, 0, sizeof(*s));
}
