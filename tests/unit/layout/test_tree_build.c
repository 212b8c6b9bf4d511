/* Particles become a k-d tree: all of them, in runs of at most a leaf, with
 * splits that hold; and any number of threads gives the same. */
#include "layout/tree.h"

#include <math.h>

#include "check.h"
#include "fault_alloc.h"
#include "layout/tree_route.h"

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
    CHECK(!bm_tree_build(&t, order, &c.p, leaf, 1, NULL));
    check_tree(&t, &c, order);
    for (int threads = 0; threads <= 3; threads++) {
        struct bm_tree other;

        bm_tree_init(&other, bm_allocator_default());
        CHECK(!bm_tree_build(&other, again, &c.p, leaf, threads, NULL));
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
    CHECK(!bm_tree_build(&t, order, &c.p, 1, 1, NULL));
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
    CHECK(!bm_tree_build(&t, order, &c.p, 7, 2, NULL));
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

/* ---- columns ------------------------------------------------------------ */

/* The numbers of particles, as a column of values of 'size' bytes. */
static uint8_t *column_of_numbers(size_t n, size_t size)
{
    uint8_t *column = malloc(n * size);

    REQUIRE(column);
    for (uint64_t i = 0; i < n; i++)
        for (size_t k = 0; k < size; k++)
            column[i * size + k] = (uint8_t)(i >> 8 * k);
    return column;
}

/* A column of numbers comes into the order that a build without a route tells,
 * if it is brought there as the route says. */
static void check_column(const struct bm_tree_route *r, const uint32_t *order,
                         const uint32_t *places, size_t n, size_t size)
{
    uint8_t *from = column_of_numbers(n, size), *to = malloc(n * size);
    size_t wrong = 0, some;

    REQUIRE(to);
    for (size_t part = 0; r->cell_of && part < r->parts; part++) {
        size_t end = bm_tree_part(n, r->parts, part + 1);
        uint32_t next[BM_MOST_BUCKETS];

        bm_tree_route_begin(r, part, next);
        for (size_t i = bm_tree_part(n, r->parts, part); i < end; i += some) {
            some = end - i < 1000 ? end - i : 1000;
            bm_tree_route_values(r, next, i, some, to, from, size);
        }
    }
    for (size_t p = 0; p < n; p++)
        wrong += memcmp((r->cell_of ? to : from) + places[p] * size,
                        from + order[p] * size, size) != 0;
    CHECK_EQ(wrong, 0);
    free(from);
    free(to);
}

static void check_sorted(const struct points *c, void *const sorted[3],
                         const uint32_t *order)
{
    size_t size = bouma_type_size(c->p.type), wrong = 0;

    for (int axis = 0; axis < c->p.ndims; axis++)
        for (size_t p = 0; p < c->p.count; p++)
            wrong += memcmp((char *)sorted[axis] + p * size,
                            (const char *)c->p.axis[axis] +
                                (int64_t)order[p] * c->p.stride[axis],
                            size) != 0;
    CHECK_EQ(wrong, 0);
}

static void try_route(const double *x, size_t n, int ndims, bouma_type type,
                      int routed)
{
    const bouma_allocator *a = bm_allocator_default();
    struct points c = points_of(x, n, ndims, type);
    uint32_t *order = malloc(n * sizeof(*order));
    uint32_t *places = malloc(n * sizeof(*places));
    struct bm_tree t, other;

    REQUIRE(order && places);
    bm_tree_init(&t, a);
    CHECK(!bm_tree_build(&t, order, &c.p, 256, 1, NULL));
    for (int threads = 1; threads <= 3; threads += 2) {
        struct bm_tree_route route = {.cell_of = NULL};
        void *sorted[3] = {NULL};

        for (int axis = 0; axis < ndims; axis++) {
            sorted[axis] = route.sorted[axis] =
                malloc(n * bouma_type_size(type));
            REQUIRE(sorted[axis]);
        }
        bm_tree_init(&other, a);
        CHECK(!bm_tree_build(&other, places, &c.p, 256, threads, &route));
        check_same(&t, &other);
        CHECK_EQ(route.cell_of != NULL, routed);
        for (size_t size = 1; size <= 8; size *= 2)
            check_column(&route, order, places, n, size);
        check_sorted(&c, sorted, order);
        for (int axis = 0; axis < ndims; axis++)
            free(sorted[axis]);
        bm_tree_route_release(&route, a);
        bm_tree_release(&other);
    }
    bm_tree_release(&t);
    free(order);
    free(places);
    points_free(&c);
}

/* Many in no order go through buckets, others straight to their slots. */
static void columns_come_to_their_slots(void)
{
    enum { N = 270001, FEW = 30000 };
    double *x = malloc(3 * N * sizeof(*x));
    uint64_t state = 16;

    REQUIRE(x);
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < 3 * (size_t)FEW; i++)
            x[i] = coordinate((enum kind)kind, &state);
        try_route(x, FEW, 1 + kind % 3,
                  kind % 2 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64, 0);
    }
    for (size_t i = 0; i < 3 * (size_t)N; i++)
        x[i] = coordinate(HOLES, &state);
    try_route(x, N, 3, BOUMA_TYPE_F32, 1);
    try_route(x, N, 2, BOUMA_TYPE_F64, 1);
    for (size_t i = 0; i < N; i++)
        x[3 * i] = (double)i;
    try_route(x, N, 1, BOUMA_TYPE_F64, 0);
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
        rc = bm_tree_build(&t, order, &c.p, 64, 2, NULL);
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
    columns_come_to_their_slots();
    splits_leave_as_few_leaves_as_can_be();
    no_memory_is_told_and_nothing_leaks();
    return check_result();
}
