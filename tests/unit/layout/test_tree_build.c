/* Particles become a k-d tree: all of them, in runs of at most a leaf, with
 * splits that hold; and any number of threads gives the same. */
#include "layout/tree.h"

#include <math.h>

#include "check.h"
#include "fault_alloc.h"

/* Positions with a stride, so that nothing relies on dense arrays. */
struct points {
    struct bm_positions p;
    double *x; /* [count][3], as stored */
    void *raw;
};

static struct points points_of(const double *x, size_t count, int ndims,
                               bouma_type type)
{
    size_t size = bouma_type_size(type);
    struct points c = {.p = {.ndims = ndims, .type = type, .count = count}};

    c.x = calloc(count + 1, 3 * sizeof(double));
    c.raw = malloc((count + 1) * 3 * size);
    REQUIRE(c.x && c.raw);
    for (int axis = 0; axis < ndims; axis++) {
        c.p.axis[axis] = (char *)c.raw + (size_t)axis * size;
        c.p.stride[axis] = (int64_t)(3 * size);
    }
    for (size_t i = 0; i < count; i++)
        for (int axis = 0; axis < ndims; axis++) {
            char *at = (char *)c.raw + (3 * i + (size_t)axis) * size;
            double value = x[3 * i + (size_t)axis];
            float single = (float)value;

            memcpy(at,
                   type == BOUMA_TYPE_F32 ? (void *)&single : (void *)&value,
                   size);
            c.x[3 * i + (size_t)axis] =
                type == BOUMA_TYPE_F32 ? (double)single : value;
        }
    return c;
}

static void points_free(struct points *c)
{
    free(c->x);
    free(c->raw);
}

static int finite_at(const struct points *c, uint32_t i)
{
    for (int axis = 0; axis < c->p.ndims; axis++)
        if (!isfinite(c->x[3 * i + (uint32_t)axis]))
            return 0;
    return 1;
}

static void check_order(const struct bm_tree *t, const struct points *c,
                        const uint32_t *order)
{
    char *seen = calloc(c->p.count + 1, 1);
    size_t finite = 0, wrong = 0;

    REQUIRE(seen);
    for (uint32_t i = 0; i < c->p.count; i++) {
        CHECK(order[i] < c->p.count && !seen[order[i]]);
        if (order[i] >= c->p.count)
            break;
        seen[order[i]] = 1;
        finite += (size_t)finite_at(c, i);
        wrong += finite_at(c, order[i]) != (i < t->count);
        wrong += i > t->count && order[i] <= order[i - 1];
    }
    CHECK_EQ(t->count, finite);
    CHECK_EQ(wrong, 0);
    free(seen);
}

static void check_bounds(const struct bm_tree *t, const struct points *c)
{
    for (int axis = 0; axis < 3; axis++) {
        double low = INFINITY, high = -INFINITY;

        for (uint32_t i = 0; i < c->p.count; i++)
            if (finite_at(c, i)) {
                low = fmin(low, c->x[3 * i + (uint32_t)axis]);
                high = fmax(high, c->x[3 * i + (uint32_t)axis]);
            }
        CHECK(t->low[axis] == (t->count ? low : 0));
        CHECK(t->high[axis] == (t->count ? high : 0));
        CHECK(!signbit(t->low[axis]) || t->low[axis] != 0);
    }
}

/* A node, its children and its split; gives the number of nodes below it and
 * itself. Trees of tests are not deep. */
static uint32_t check_node(const struct bm_tree *t, const struct points *c,
                           const uint32_t *order, uint32_t at)
{
    const struct bm_tree_node *node = &t->nodes[at], *left, *right;
    size_t wrong = 0, at_split = 0;
    uint32_t nodes;

    CHECK(node->begin < node->end && node->end <= t->count);
    CHECK_EQ(node->right == 0, node->end - node->begin <= t->leaf);
    if (!node->right)
        return 1;
    REQUIRE(at + 1 < node->right && node->right < t->node_count);
    CHECK(node->axis < t->ndims);
    left = &t->nodes[at + 1];
    right = &t->nodes[node->right];
    CHECK_EQ(left->begin, node->begin);
    CHECK_EQ(left->end, right->begin);
    CHECK_EQ(right->end, node->end);
    for (uint32_t i = left->begin; i < left->end; i++)
        wrong += !(c->x[3 * order[i] + node->axis] <= node->split);
    for (uint32_t i = right->begin; i < right->end; i++) {
        double x = c->x[3 * order[i] + node->axis];

        wrong += !(x >= node->split);
        at_split += x == node->split;
    }
    CHECK_EQ(wrong, 0);
    CHECK(at_split > 0);
    CHECK(!signbit(node->split) || node->split != 0);
    nodes = 1 + check_node(t, c, order, at + 1);
    CHECK_EQ(at + nodes, node->right);
    return nodes + check_node(t, c, order, node->right);
}

static void check_tree(const struct bm_tree *t, const struct points *c,
                       const uint32_t *order)
{
    check_order(t, c, order);
    check_bounds(t, c);
    CHECK_EQ(t->node_count == 0, t->count == 0);
    if (t->node_count) {
        CHECK_EQ(t->nodes[0].begin, 0);
        CHECK_EQ(t->nodes[0].end, t->count);
        CHECK_EQ(check_node(t, c, order, 0), t->node_count);
    }
}

static void check_same(const struct bm_tree *a, const struct bm_tree *b)
{
    CHECK_EQ(a->node_count, b->node_count);
    for (uint32_t i = 0; i < a->node_count && i < b->node_count; i++) {
        const struct bm_tree_node *m = &a->nodes[i], *n = &b->nodes[i];

        CHECK(m->begin == n->begin && m->end == n->end &&
              m->right == n->right && m->axis == n->axis &&
              m->split == n->split);
    }
}

/* x is [count][3]; all checks, for one and for more threads. */
static void try_points(const double *x, size_t count, int ndims,
                       bouma_type type, uint32_t leaf)
{
    struct points c = points_of(x, count, ndims, type);
    uint32_t *order = malloc((count + 1) * sizeof(*order));
    uint32_t *again = malloc((count + 1) * sizeof(*again));
    struct bm_tree t;

    REQUIRE(order && again);
    bm_tree_init(&t, bm_allocator_default());
    CHECK(!bm_tree_build(&t, order, &c.p, leaf, 1));
    check_tree(&t, &c, order);
    for (int threads = 0; threads <= 3; threads++) {
        struct bm_tree other;

        bm_tree_init(&other, bm_allocator_default());
        CHECK(!bm_tree_build(&other, again, &c.p, leaf, threads));
        check_same(&t, &other);
        CHECK(!memcmp(order, again, count * sizeof(*order)));
        bm_tree_release(&other);
    }
    bm_tree_release(&t);
    free(order);
    free(again);
    points_free(&c);
}

static double uniform(uint64_t *state)
{
    return (double)(check_random(state) >> 11) * 0x1p-53;
}

enum kind { UNIFORM, LATTICE, POINT, BLOBS, POWERS, HOLES, EDGES, KINDS };

static double coordinate(enum kind kind, uint64_t *state)
{
    static const double edges[] = {
        0.0,    -0.0,    1e-310,  -1e-310, 1e300,  -1e308, 1e308, 1.5,     -1.5,
        5e-324, -5e-324, 3.14159, 1e-30,   -1e-30, 7,      1e38,  -3.4e38, 0.1};

    switch (kind) {
    case LATTICE:
        return (double)check_below(state, 6) - 3;
    case POINT:
        return 0.7;
    case BLOBS:
        return (check_below(state, 10)
                    ? (double)check_below(state, 4) + 1e-3 * uniform(state)
                    : 4 * uniform(state));
    case POWERS:
        return ldexp(1, -(int)check_below(state, 120));
    case HOLES:
        return check_below(state, 20)       ? uniform(state)
               : check_below(state, 3) == 0 ? (double)NAN
               : check_below(state, 2)      ? (double)INFINITY
                                            : -(double)INFINITY;
    case EDGES:
        return edges[check_below(state, 18)];
    default:
        return uniform(state) * 10 - 5;
    }
}

static void trees_of_all_kinds_hold(void)
{
    static const size_t counts[] = {0,  1,   2,   3,    7,    8,    9,
                                    64, 100, 255, 1000, 4099, 20011};
    uint64_t state = 7;

    for (int kind = 0; kind < KINDS; kind++)
        for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
            for (int ndims = 1; ndims <= 3; ndims++) {
                size_t n = counts[k];
                double *x = malloc((3 * n + 1) * sizeof(*x));

                REQUIRE(x);
                for (size_t i = 0; i < 3 * n; i++)
                    x[i] = coordinate((enum kind)kind, &state);
                try_points(x, n, ndims, k % 2 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64,
                           n > 5000 ? 256 : 1 + (uint32_t)(k * 7 % 10));
                try_points(x, n, ndims, k % 2 ? BOUMA_TYPE_F64 : BOUMA_TYPE_F32,
                           n > 1000 ? 16 : 8);
                free(x);
            }
}

/* One axis far longer than another, or flat; and all on a line. */
static void long_and_flat_boxes_hold(void)
{
    enum { N = 6000 };
    static double x[3 * N];
    uint64_t state = 11;

    for (int shape = 0; shape < 4; shape++) {
        for (size_t i = 0; i < N; i++) {
            double u = uniform(&state), v = uniform(&state);

            x[3 * i] = shape == 0 ? 0 : u;
            x[3 * i + 1] = shape == 1 ? u : shape == 2 ? 1e-5 * v : v;
            x[3 * i + 2] = shape == 3 ? 1e308 * (u - 0.5) * 3.5 : 5;
        }
        try_points(x, N, 3, BOUMA_TYPE_F64, 4);
        try_points(x, N, 2, BOUMA_TYPE_F32, 4);
    }
}

/* Ranges that are next to nothing, or all there is. */
static void tiny_and_huge_ranges_hold(void)
{
    enum { N = 5000 };
    static double x[3 * N];
    uint64_t state = 12;
    double scales[] = {5e-324, 1e-320, 1e-300, 1e-40, 1e30, 1e304, 1.79e308};

    for (size_t k = 0; k < sizeof(scales) / sizeof(scales[0]); k++) {
        for (size_t i = 0; i < 3 * (size_t)N; i++)
            x[i] = (double)(check_below(&state, 2001) - 1000) *
                   (scales[k] > 1e300 ? scales[k] / 1000 : scales[k]);
        try_points(x, N, 3, BOUMA_TYPE_F64, 3);
        if (scales[k] < 1e31)
            try_points(x, N, 3, BOUMA_TYPE_F32, 3);
    }
}

/* Positions that differ only where f32 cannot tell. */
static void doubles_are_kept_apart(void)
{
    enum { N = 4000 };
    static double x[3 * N];
    uint64_t state = 13;
    struct points c;
    uint32_t order[N];
    struct bm_tree t;

    for (size_t i = 0; i < 3 * (size_t)N; i++)
        x[i] = 1 + 1e-12 * uniform(&state);
    try_points(x, N, 3, BOUMA_TYPE_F64, 5);
    c = points_of(x, N, 1, BOUMA_TYPE_F64);
    bm_tree_init(&t, bm_allocator_default());
    CHECK(!bm_tree_build(&t, order, &c.p, 1, 1));
    for (size_t i = 1; i < N; i++) /* leaves of one: all is sorted */
        CHECK(c.x[3 * order[i - 1]] <= c.x[3 * order[i]]);
    bm_tree_release(&t);
    points_free(&c);
}

/* Equal particles keep the order in which they were given. */
static void equals_stay_in_order(void)
{
    enum { N = 3000 };
    static double x[3 * N];
    struct points c;
    uint32_t order[N];
    struct bm_tree t;

    for (size_t i = 0; i < 3 * (size_t)N; i++)
        x[i] = -2;
    c = points_of(x, N, 3, BOUMA_TYPE_F32);
    bm_tree_init(&t, bm_allocator_default());
    CHECK(!bm_tree_build(&t, order, &c.p, 7, 2));
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQ(order[i], i);
    CHECK_EQ(t.node_count, 2 * ((N + 6) / 7) - 1);
    bm_tree_release(&t);
    points_free(&c);
}

/* More cells than one key has bits for, more particles than one part. */
static void many_particles_hold(void)
{
    enum { N = 200000 };
    double *x = malloc(3 * N * sizeof(*x));
    uint64_t state = 14;

    REQUIRE(x);
    for (int kind = 0; kind < 2; kind++) {
        for (size_t i = 0; i < 3 * (size_t)N; i++)
            x[i] = coordinate(kind ? BLOBS : UNIFORM, &state);
        try_points(x, N, 3, BOUMA_TYPE_F32, 16);
        try_points(x, N, 3, BOUMA_TYPE_F64, 128);
    }
    free(x);
}

static void splits_leave_as_few_leaves_as_can_be(void)
{
    for (uint32_t leaf = 1; leaf < 40; leaf++)
        for (uint32_t n = leaf + 1; n < 2000; n++) {
            uint32_t left = bm_tree_left(n, leaf), right = n - left;
            uint32_t leaves = (n + leaf - 1) / leaf;

            CHECK(left >= right && right > 0);
            CHECK_EQ((left + leaf - 1) / leaf, (leaves + 1) / 2);
            CHECK_EQ((right + leaf - 1) / leaf, leaves / 2);
        }
    CHECK_EQ(bm_tree_left(UINT32_MAX, 1), 1u << 31);
    CHECK_EQ(bm_tree_left(UINT32_MAX, UINT32_MAX - 1), 1u << 31);
}

/* ---- memory ------------------------------------------------------------- */

static void no_memory_is_told_and_nothing_leaks(void)
{
    enum { N = 40000 };
    static double x[3 * N];
    static uint32_t order[N];
    uint64_t state = 15;
    struct fault_alloc memory;
    struct points c;
    int failed = 0, rc = 1;

    fault_alloc_init(&memory);
    for (size_t i = 0; i < 3 * (size_t)N; i++)
        x[i] = coordinate(BLOBS, &state);
    c = points_of(x, N, 3, BOUMA_TYPE_F32);
    for (long most = 0; rc && most < 1000; most++) {
        struct bm_tree t;

        fault_alloc_arm(&memory, most + 1, 1);
        bm_tree_init(&t, &memory.table);
        rc = bm_tree_build(&t, order, &c.p, 64, 2);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        failed += rc != 0;
        bm_tree_release(&t);
        CHECK_EQ(memory.live, 0);
    }
    CHECK(!rc && failed > 4);
    points_free(&c);
}

int main(void)
{
    trees_of_all_kinds_hold();
    long_and_flat_boxes_hold();
    tiny_and_huge_ranges_hold();
    doubles_are_kept_apart();
    equals_stay_in_order();
    many_particles_hold();
    splits_leave_as_few_leaves_as_can_be();
    no_memory_is_told_and_nothing_leaks();
    return check_result();
}
