/* Particles to files: the aggregation tree against trying every cut, and all
 * schemes against what they promise. */
#include "plan/aggregate.h"

#include <math.h>

#include "check.h"
#include "fault_alloc.h"

#define MOST 64

static const bouma_assign all_schemes[] = {
    BOUMA_ASSIGN_OPTIMAL,  BOUMA_ASSIGN_RUNNING, BOUMA_ASSIGN_COUNT,
    BOUMA_ASSIGN_PER_RANK, BOUMA_ASSIGN_SINGLE,  BOUMA_ASSIGN_KDTREE,
    BOUMA_ASSIGN_AUG,      BOUMA_ASSIGN_SPLIT};
#define SCHEMES (sizeof(all_schemes) / sizeof(all_schemes[0]))

/* ---- units -------------------------------------------------------------- */

enum unit_kind {
    GRID,
    OVERLAPPING,
    IDENTICAL,
    NESTED,  /* one centre */
    SHIFTED, /* edges lie beyond all centres */
    POINTS,
    HUGE,
    NOT_FINITE,
    KINDS
};

static void make_bounds(struct bm_unit *u, int i, enum unit_kind kind,
                        uint64_t *state)
{
    int cell[3] = {i % 4, i / 4 % 4, i / 16};

    for (int d = 0; d < 3; d++) {
        double at = (double)check_below(state, 20);

        u->low[d] = kind == GRID          ? cell[d] * 0.25
                    : kind == OVERLAPPING ? at
                    : kind == IDENTICAL   ? -3
                    : kind == NESTED      ? -1 - i
                    : kind == SHIFTED     ? i - 1000
                    : kind == HUGE        ? (at - 10) * 1e307
                                          : at;
        u->high[d] = kind == GRID          ? (cell[d] + 1) * 0.25
                     : kind == OVERLAPPING ? at + check_below(state, 20)
                     : kind == IDENTICAL   ? 7
                     : kind == NESTED      ? 1 + i
                     : kind == SHIFTED     ? i + 1000
                     : kind == HUGE        ? 1.7e308
                                           : at;
        if (kind == NOT_FINITE && i % 3 == 0)
            u->low[d] = i % 2 ? NAN : INFINITY;
    }
}

static size_t make_units(struct bm_unit units[MOST], enum unit_kind kind,
                         int ndims, uint64_t *state)
{
    size_t count = (size_t)check_below(state, MOST + 1);
    int few = check_below(state, 3) == 0, even = check_below(state, 4) == 0;

    memset(units, 0, MOST * sizeof(*units));
    for (size_t i = 0; i < count; i++) {
        make_bounds(&units[i], (int)i, kind, state);
        for (int d = ndims; d < 3; d++)
            units[i].low[d] = units[i].high[d] = 0;
        units[i].count = even  ? 5
                         : few ? (uint64_t)check_below(state, 3)
                               : (uint64_t)1 << check_below(state, 12);
        units[i].rank = (int)check_below(state, MOST);
    }
    return count;
}

static uint64_t sum_of(const struct bm_unit *units, size_t count,
                       size_t *filled)
{
    uint64_t sum = 0;

    *filled = 0;
    for (size_t i = 0; i < count; i++) {
        sum += units[i].count;
        *filled += units[i].count > 0;
    }
    return sum;
}

/* ---- what every scheme promises ------------------------------------------ */

static void check_files(const struct bm_aggregation *g,
                        const struct bm_unit *units, size_t count)
{
    uint64_t *sums = calloc((size_t)g->files + 1, sizeof(*sums));

    REQUIRE(sums);
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(g->file[i] == BM_NO_FILE, units[i].count == 0);
        if (!units[i].count)
            continue;
        REQUIRE(g->file[i] < g->files);
        sums[g->file[i]] += units[i].count;
    }
    for (int64_t f = 0; f < g->files; f++) {
        CHECK(sums[f] > 0);
        CHECK_EQ(sums[f], g->counts[f]);
    }
    free(sums);
}

/* In preorder, leaves have the files from 'file' on; the node after it. */
static size_t check_preorder(const struct bm_aggregation *g, size_t at,
                             uint32_t *file)
{
    REQUIRE(at < g->node_count);
    if (!g->nodes[at].right) {
        CHECK_EQ(g->nodes[at].file, *file);
        CHECK_EQ(g->nodes[at].axis, -1);
        (*file)++;
        return at + 1;
    }
    CHECK_EQ(check_preorder(g, at + 1, file), g->nodes[at].right);
    return check_preorder(g, g->nodes[at].right, file);
}

static void check_tree_shape(const struct bm_aggregation *g)
{
    uint32_t files = 0;

    CHECK_EQ(g->node_count > 0, g->files > 0);
    if (!g->node_count)
        return;
    CHECK_EQ(check_preorder(g, 0, &files), g->node_count);
    CHECK_EQ(files, g->files);
}

static int same(const struct bm_aggregation *a, const struct bm_aggregation *b,
                size_t count)
{
    return a->files == b->files && a->node_count == b->node_count &&
           !memcmp(a->file, b->file, count * sizeof(*a->file));
}

static void every_unit_is_in_one_file(void)
{
    uint64_t state = 31;

    for (int tries = 0; tries < 4000; tries++) {
        struct bm_unit units[MOST];
        enum unit_kind kind = (enum unit_kind)(tries % KINDS);
        int ndims = 1 + (int)check_below(&state, 3);
        size_t count = make_units(units, kind, ndims, &state), filled;
        uint64_t total = sum_of(units, count, &filled);

        for (size_t s = 0; s < SCHEMES; s++) {
            struct bm_aggregation_spec spec = {
                .scheme = all_schemes[s],
                .ndims = ndims,
                .best_axis = (int)check_below(&state, 2),
                .bytes = (uint64_t)check_below(&state, 30),
                .target = 1 + (uint64_t)check_below(&state, 30000),
                .files = check_below(&state, 2) ? check_below(&state, 70) : 0,
                .ranks = MOST};
            struct bm_aggregation a, b;
            int tree = spec.scheme == BOUMA_ASSIGN_KDTREE ||
                       spec.scheme == BOUMA_ASSIGN_SPLIT;

            REQUIRE(
                !bm_aggregate(&a, bm_allocator_default(), &spec, units, count));
            REQUIRE(
                !bm_aggregate(&b, bm_allocator_default(), &spec, units, count));
            CHECK(same(&a, &b, count));
            CHECK_EQ(a.files > 0, total > 0);
            check_files(&a, units, count);
            if (tree)
                check_tree_shape(&a);
            else
                CHECK(!a.nodes && !a.node_count);
            if (spec.files > 0 && (spec.scheme == BOUMA_ASSIGN_KDTREE ||
                                   spec.scheme == BOUMA_ASSIGN_COUNT))
                CHECK_EQ(a.files, (size_t)spec.files < filled
                                      ? spec.files
                                      : (int64_t)filled);
            if (spec.files > 0 && spec.scheme == BOUMA_ASSIGN_SPLIT)
                CHECK(a.files <= spec.files);
            bm_aggregation_release(&a);
            bm_aggregation_release(&b);
            bm_aggregation_release(&b);
        }
    }
}

/* ---- the tree, by trying every cut --------------------------------------- */

/* Some units, as their numbers in order, and what is known of them. */
struct set {
    const struct bm_unit *units;
    int ndims;
    size_t count;
    size_t which[MOST];
    uint64_t total;
};

static double centre(const struct set *s, size_t i, int d)
{
    const struct bm_unit *u = &s->units[s->which[i]];

    return 0.5 * u->low[d] + 0.5 * u->high[d];
}

static double extent(const struct set *s, int d)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < s->count; i++) {
        low = fmin(low, s->units[s->which[i]].low[d]);
        high = fmax(high, s->units[s->which[i]].high[d]);
    }
    return 0.5 * high - 0.5 * low;
}

/* |left of/part of it - request|, as |left * of - total * part|. */
static uint64_t off(uint64_t left, uint64_t total, uint64_t part, uint64_t of)
{
    return left * of > total * part ? left * of - total * part
                                    : total * part - left * of;
}

/* The least that any candidate along an axis is off; UINT64_MAX without. */
static uint64_t least_off(const struct set *s, int d, int by_centres,
                          uint64_t part, uint64_t of)
{
    uint64_t best = UINT64_MAX;

    for (size_t k = 0; k < 2 * s->count; k++) {
        const struct bm_unit *u = &s->units[s->which[k / 2]];
        double at = by_centres ? centre(s, k / 2, d)
                    : k % 2    ? u->high[d]
                               : u->low[d];
        uint64_t left = 0;

        for (size_t i = 0; i < s->count; i++)
            if (centre(s, i, d) <= at)
                left += s->units[s->which[i]].count;
        if (left && left < s->total && off(left, s->total, part, of) < best)
            best = off(left, s->total, part, of);
    }
    return best;
}

/* How far off the cut must be, and along which axis (best_axis: of those that
 * are as good, the longest; -1: by order). */
static uint64_t expect_cut(int *axis, const struct set *s, int best_axis,
                           int by_centres, uint64_t part, uint64_t of)
{
    uint64_t best = UINT64_MAX, left = 0;

    *axis = -1;
    for (; by_centres < 2; by_centres++) {
        for (int d = 0; d < s->ndims; d++) {
            uint64_t least = least_off(s, d, by_centres, part, of);
            int longer = *axis < 0 || extent(s, d) > extent(s, *axis);

            if (least == UINT64_MAX)
                continue;
            if (best_axis ? least < best || (least == best && longer)
                          : longer) {
                best = least;
                *axis = d;
            }
        }
        if (*axis >= 0)
            return best;
    }
    for (size_t i = 0; i + 1 < s->count; i++) {
        left += s->units[s->which[i]].count;
        if (off(left, s->total, part, of) < best)
            best = off(left, s->total, part, of);
    }
    return best;
}

/* The units under a node: those whose files its leaves have. */
static void set_init(struct set *s, const struct bm_aggregation *g,
                     const struct bm_unit *units, size_t count, size_t at,
                     size_t end, int ndims)
{
    uint32_t first = UINT32_MAX, last = 0;

    memset(s, 0, sizeof(*s));
    s->units = units;
    s->ndims = ndims;
    for (size_t n = at; n < end; n++)
        if (!g->nodes[n].right) {
            first = g->nodes[n].file < first ? g->nodes[n].file : first;
            last = g->nodes[n].file > last ? g->nodes[n].file : last;
        }
    for (size_t i = 0; i < count; i++)
        if (units[i].count && g->file[i] >= first && g->file[i] <= last) {
            s->which[s->count++] = i;
            s->total += units[i].count;
        }
}

struct rule {
    uint64_t capacity; /* particles; 0: by the number of files */
    double overfull, lopsided;
    uint64_t largest_leaf; /* of several units, with a number of files */
};

static int lopsided_cut(uint64_t off_by, uint64_t total, double limit)
{
    /* off is |2 left - total|. */
    double small = 0.5 * (double)(total - off_by);

    return (double)total - small >= limit * small;
}

static size_t check_node(const struct bm_aggregation *g, struct rule *rule,
                         const struct bm_aggregation_spec *spec,
                         const struct bm_unit *units, size_t count, size_t at)
{
    const struct bm_aggregation_node *n = &g->nodes[at];
    size_t end = at + 1;
    struct set s, left;
    uint64_t least;
    int axis, lopsided;

    if (n->right) {
        check_node(g, rule, spec, units, count, at + 1);
        end = check_node(g, rule, spec, units, count, n->right);
    }
    set_init(&s, g, units, count, at, end, spec->ndims);
    REQUIRE(s.count > 0);
    if (s.count == 1) {
        CHECK_EQ(n->right, 0);
        return end;
    }
    least = expect_cut(&axis, &s, spec->best_axis, 0, 1, 2);
    lopsided = lopsided_cut(least, s.total, rule->lopsided);
    if (!n->right) {
        if (rule->capacity)
            CHECK(s.total <= rule->capacity ||
                  ((double)s.total <= rule->overfull * (double)rule->capacity &&
                   lopsided));
        else if (s.total > rule->largest_leaf)
            rule->largest_leaf = s.total;
        return end;
    }
    if (rule->capacity)
        CHECK(s.total > rule->capacity &&
              ((double)s.total > rule->overfull * (double)rule->capacity ||
               !lopsided));
    set_init(&left, g, units, count, at + 1, n->right, spec->ndims);
    CHECK(left.count > 0 && left.count < s.count);
    CHECK_EQ(off(left.total, s.total, 1, 2), least);
    CHECK_EQ(n->axis, axis);
    for (size_t i = 0, k = 0; i < s.count && n->axis >= 0; i++) {
        int is_left = k < left.count && left.which[k] == s.which[i];

        CHECK_EQ(centre(&s, i, n->axis) <= n->split, is_left);
        k += (size_t)is_left;
    }
    for (size_t i = 0; i < left.count && n->axis < 0; i++)
        CHECK_EQ(left.which[i], s.which[i]);
    return end;
}

static void kdtree_cuts_where_it_is_best(void)
{
    uint64_t state = 32;

    for (int tries = 0; tries < 3000; tries++) {
        struct bm_unit units[MOST];
        enum unit_kind kind = (enum unit_kind)(tries % NOT_FINITE);
        struct bm_aggregation_spec spec = {.scheme = BOUMA_ASSIGN_KDTREE,
                                           .ndims =
                                               1 + (int)check_below(&state, 3),
                                           .bytes = 3,
                                           .best_axis = tries / 2 % 2,
                                           .ranks = MOST};
        size_t count = make_units(units, kind, spec.ndims, &state), filled;
        uint64_t total = sum_of(units, count, &filled);
        struct rule rule = {0, 1.5, 4, 0};
        struct bm_aggregation g;

        if (!filled)
            continue;
        if (tries % 3 == 0) {
            spec.files = 1 + check_below(&state, MOST);
        } else {
            rule.capacity = 1 + (uint64_t)check_below(&state, (int64_t)total);
            spec.target = rule.capacity * 3 + 2;
        }
        if (tries % 5 == 0) {
            spec.overfull = rule.overfull = 1.25;
            spec.lopsided = rule.lopsided = 2;
        }
        REQUIRE(!bm_aggregate(&g, bm_allocator_default(), &spec, units, count));
        CHECK_EQ(check_node(&g, &rule, &spec, units, count, 0), g.node_count);
        /* With a number of files, what was cut had no less than what was not:
         * there is a target that gives these files. */
        for (size_t n = 0; n < g.node_count; n++)
            if (g.nodes[n].right && spec.files) {
                size_t end = n + 1;
                struct set s;

                /* The end of a subtree: after the last right child. */
                while (g.nodes[end - 1].right)
                    end = g.nodes[end - 1].right + 1;
                set_init(&s, &g, units, count, n, end, spec.ndims);
                CHECK(s.total >= rule.largest_leaf);
            }
        bm_aggregation_release(&g);
    }
}

/* ---- units that undid others --------------------------------------------- */

static void identical_units_are_divided_evenly(void)
{
    static struct bm_unit units[1000];

    for (size_t i = 0; i < 1000; i++)
        units[i] = (struct bm_unit){{-1, -1, -1}, {1, 1, 1}, 7, (int)i};
    for (int k = 0; k < 2; k++) {
        struct bm_aggregation_spec spec = {.scheme = k ? BOUMA_ASSIGN_SPLIT
                                                       : BOUMA_ASSIGN_KDTREE,
                                           .ndims = 3,
                                           .bytes = 10,
                                           .target = 7 * 10 * 125,
                                           .ranks = 1000};
        struct bm_aggregation g;

        REQUIRE(!bm_aggregate(&g, bm_allocator_default(), &spec, units, 1000));
        CHECK_EQ(g.files, 8);
        check_files(&g, units, 1000);
        check_tree_shape(&g);
        for (int64_t f = 0; f < g.files; f++)
            CHECK_EQ(g.counts[f], 7 * 125);
        for (size_t i = 1; i < 1000; i++) /* by their order */
            CHECK(g.file[i] >= g.file[i - 1]);
        bm_aggregation_release(&g);
    }
}

/* Planes split off one unit at a time: without an end to it, the tree would be
 * as deep as there are units. */
static void lopsided_cuts_do_not_go_on_for_ever(void)
{
    static struct bm_unit units[20000];
    size_t count = sizeof(units) / sizeof(units[0]);

    for (int kind = 0; kind < 3; kind++)
        for (int k = 0; k < 2; k++) {
            struct bm_aggregation_spec spec = {
                .scheme = k ? BOUMA_ASSIGN_SPLIT : BOUMA_ASSIGN_KDTREE,
                .ndims = 2,
                .bytes = 1,
                .target = 1,
                .ranks = 1};
            struct bm_aggregation g;

            memset(units, 0, sizeof(units));
            for (size_t i = 0; i < count; i++) {
                double at = (double)i;

                units[i].count = kind == 2 && i < 60 ? (uint64_t)1 << i : 1;
                units[i].low[0] = kind ? at : -1e6 + at;
                units[i].high[0] = kind ? 1e6 - at * (i % 2) : 1e6 + at;
                units[i].low[1] = -at;
                units[i].high[1] = at * (double)(i % 3);
            }
            REQUIRE(
                !bm_aggregate(&g, bm_allocator_default(), &spec, units, count));
            check_files(&g, units, count);
            CHECK(k || g.files == (int64_t)count);
            bm_aggregation_release(&g);
        }
}

static void large_numbers_are_right(void)
{
    struct bm_unit units[8] = {0};
    struct bm_aggregation_spec spec = {.ndims = 1, .ranks = 8};
    struct bm_aggregation g;

    for (int i = 0; i < 8; i++) {
        units[i].low[0] = i;
        units[i].high[0] = i + 1;
        units[i].count = ((uint64_t)5 << 31) + (uint64_t)i;
        units[i].rank = i;
    }
    for (size_t s = 0; s < SCHEMES; s++)
        for (int b = 0; b < 64; b += 9) {
            spec.scheme = all_schemes[s];
            spec.bytes = (uint64_t)1 << b;
            spec.target = 0;
            REQUIRE(!bm_aggregate(&g, bm_allocator_default(), &spec, units, 8));
            check_files(&g, units, 8);
            /* A file for each, as all have more than a file should. */
            if (spec.scheme == BOUMA_ASSIGN_KDTREE)
                CHECK_EQ(g.files, 8);
            bm_aggregation_release(&g);
        }
    /* 2^30 each, and one file wanted: there must be three for the limit. */
    for (int i = 0; i < 8; i++)
        units[i].count = (uint64_t)1 << 30;
    spec.files = 1;
    for (int k = 0; k < 3; k++) {
        spec.scheme = k == 0   ? BOUMA_ASSIGN_KDTREE
                      : k == 1 ? BOUMA_ASSIGN_SPLIT
                               : BOUMA_ASSIGN_OPTIMAL;
        REQUIRE(!bm_aggregate(&g, bm_allocator_default(), &spec, units, 8));
        check_files(&g, units, 8);
        for (int64_t f = 0; f < g.files; f++)
            CHECK(g.counts[f] <= BM_AGGREGATE_PARTICLES);
        CHECK(g.files == 3 || (k == 0 && g.files == 4));
        bm_aggregation_release(&g);
    }
}

static void there_are_never_more_than_a_million_files(void)
{
    size_t count = (size_t)BM_AGGREGATE_FILES + 1000;
    struct bm_unit *units = calloc(count, sizeof(*units));

    REQUIRE(units);
    for (size_t i = 0; i < count; i++) {
        units[i].low[0] = (double)i;
        units[i].high[0] = (double)i + 1;
        units[i].count = 1 + i % 7;
        units[i].rank = (int)i;
    }
    for (size_t s = 0; s < SCHEMES; s++) {
        struct bm_aggregation_spec spec = {.scheme = all_schemes[s],
                                           .ndims = 1,
                                           .bytes = 1,
                                           .target = 1,
                                           .ranks = (int)count};
        struct bm_aggregation g;
        int rc = bm_aggregate(&g, bm_allocator_default(), &spec, units, count);

        CHECK_EQ(rc, spec.scheme == BOUMA_ASSIGN_PER_RANK ? BOUMA_ELIMIT
                                                          : BOUMA_OK);
        if (!rc)
            CHECK(g.files <= BM_AGGREGATE_FILES);
        if (spec.scheme == BOUMA_ASSIGN_KDTREE)
            CHECK_EQ(g.files, BM_AGGREGATE_FILES);
        bm_aggregation_release(&g);
    }
    free(units);
}

static void wrong_questions_are_refused(void)
{
    struct bm_unit units[2] = {{.count = 1}, {.count = 1}};
    struct bm_aggregation_spec spec = {
        .scheme = BOUMA_ASSIGN_KDTREE, .ndims = 3, .bytes = 1, .ranks = 1};
    struct bm_aggregation g;

#define ASK(count) bm_aggregate(&g, bm_allocator_default(), &spec, units, count)
    spec.scheme = (bouma_assign)0;
    CHECK_EQ(ASK(2), BOUMA_EINVAL);
    spec.scheme = (bouma_assign)10;
    CHECK_EQ(ASK(2), BOUMA_EINVAL);
    spec.scheme = BOUMA_ASSIGN_SPLIT;
    spec.ndims = 4;
    CHECK_EQ(ASK(2), BOUMA_EINVAL);
    spec.ndims = 3;
    CHECK_EQ(ASK(UINT32_MAX), BOUMA_ELIMIT);
    units[1].rank = -1;
    CHECK_EQ(ASK(2), BOUMA_EINVAL);
    units[1].rank = 0;
    units[1].count = (uint64_t)1 << 62;
    CHECK_EQ(ASK(2), BOUMA_ELIMIT);
    CHECK_EQ(ASK(0), BOUMA_OK);
    CHECK_EQ(g.files, 0);
#undef ASK
    bm_aggregation_release(&g);
}

/* ---- memory -------------------------------------------------------------- */

static void no_memory_is_said_and_nothing_is_kept(void)
{
    struct bm_unit units[MOST];
    struct fault_alloc memory;
    uint64_t state = 33;
    size_t count = 0;

    fault_alloc_init(&memory);
    while (count < 40)
        count = make_units(units, OVERLAPPING, 3, &state);
    for (size_t s = 0; s < SCHEMES; s++)
        for (long n = 0, rc = BOUMA_ENOMEM; rc; n++) {
            struct bm_aggregation_spec spec = {.scheme = all_schemes[s],
                                               .ndims = 3,
                                               .bytes = 1,
                                               .files = 40,
                                               .ranks = MOST};
            struct bm_aggregation g;

            fault_alloc_arm(&memory, n + 1, 1);
            rc = bm_aggregate(&g, &memory.table, &spec, units, count);
            CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
            bm_aggregation_release(&g);
            CHECK_EQ(memory.live, 0);
            REQUIRE(n < 100);
        }
}

/* ---- how large a file is --------------------------------------------------
 */

static void targets_grow_with_the_ranks(void)
{
    const uint64_t mib = (uint64_t)1 << 20;
    uint64_t last = 0;

    CHECK_EQ(bm_aggregate_target(1600 * mib, 16), 100 * mib);
    CHECK_EQ(bm_aggregate_target(6400 * mib, 64), 200 * mib);
    CHECK_EQ(bm_aggregate_target(25600 * mib, 256), 400 * mib);
    CHECK_EQ(bm_aggregate_target(4096 * 8 * mib, 4096), 128 * mib);
    CHECK_EQ(bm_aggregate_target(65536 * 8 * mib, 65536), 128 * mib);
    CHECK_EQ(bm_aggregate_target(0, 0), 4 * mib);
    CHECK_EQ(bm_aggregate_target(3 * mib, 1000), 4 * mib);
    CHECK_EQ(bm_aggregate_target((uint64_t)1 << 40, 2), 2048 * mib);
    CHECK_EQ(bm_aggregate_target(UINT64_MAX, 1), (uint64_t)1 << 44);
    CHECK_EQ(bm_aggregate_target(UINT64_MAX, INT32_MAX), (uint64_t)1 << 44);
    for (int ranks = 1; ranks < 100000; ranks += 1 + ranks / 50) {
        uint64_t target = bm_aggregate_target((uint64_t)ranks * 8 * mib, ranks);

        CHECK(target >= 8 * mib && target <= 130 * mib);
        CHECK((double)target >= 0.9 * (double)last);
        last = target;
    }
}

static void cells_of_aug_are_cubes(void)
{
    static struct bm_unit units[4096];

    /* 64 x 16 x 4 boxes of one size: 64 files are cubes of 4 x 4 x 4. */
    for (int i = 0; i < 4096; i++) {
        int cell[3] = {i / 64, i / 4 % 16, i % 4};

        for (int d = 0; d < 3; d++) {
            units[i].low[d] = cell[d];
            units[i].high[d] = cell[d] + 1;
        }
        units[i].count = 10;
        units[i].rank = i;
    }
    {
        struct bm_aggregation_spec spec = {.scheme = BOUMA_ASSIGN_AUG,
                                           .ndims = 3,
                                           .bytes = 1,
                                           .target = 640,
                                           .ranks = 4096};
        struct bm_aggregation g;

        REQUIRE(!bm_aggregate(&g, bm_allocator_default(), &spec, units, 4096));
        CHECK_EQ(g.files, 64);
        for (int i = 0; i < 4096; i++)
            CHECK_EQ(g.file[i], i / 64 / 4 * 4 + i / 4 % 16 / 4);
        bm_aggregation_release(&g);
    }
}

/* Columns of 32 x 32 ranks, whose particles begin and end at about one height,
 * but for one rank with few: cells of AUG are columns, too, and have as many
 * files as are wanted. */
static void cells_of_aug_do_not_cut_what_is_one_rank(void)
{
    static struct bm_unit units[1024];
    struct bm_aggregation_spec spec = {.scheme = BOUMA_ASSIGN_AUG,
                                       .ndims = 3,
                                       .bytes = 1,
                                       .target = 160,
                                       .ranks = 1024};
    struct bm_aggregation g;

    for (int i = 0; i < 1024; i++) {
        units[i] = (struct bm_unit){
            .low = {0.01 * (i % 7), i / 32, i % 32},
            .high = {32 - 0.01 * (i % 5), i / 32 + 1, i % 32 + 1},
            .count = 10,
            .rank = i};
    }
    units[77].low[0] = units[77].high[0] = 31.5;
    units[77].count = 1;
    REQUIRE(!bm_aggregate(&g, bm_allocator_default(), &spec, units, 1024));
    CHECK_EQ(g.files, 64);
    for (int64_t f = 0; f < g.files; f++)
        CHECK_EQ(g.counts[f], g.file[77] == f ? 151 : 160);
    bm_aggregation_release(&g);
}

/* Two ranks along each axis, with a cell each: whatever particles they have, and
 * wherever between them the domain is cut. */
static void cells_of_aug_divide_eight_ranks(void)
{
    struct bm_aggregation_spec spec = {.scheme = BOUMA_ASSIGN_AUG,
                                       .ndims = 3,
                                       .bytes = 1,
                                       .files = 8,
                                       .ranks = 8};
    uint64_t random = 17;

    for (int tries = 0; tries < 200; tries++) {
        double cut = tries % 2 ? 0.5 : 0.45;
        struct bm_unit units[8];
        struct bm_aggregation g;

        for (int i = 0; i < 8; i++) {
            units[i] = (struct bm_unit){
                .count = 1 + (uint64_t)check_below(&random, 1000), .rank = i};
            for (int d = 0; d < 3; d++) {
                units[i].low[d] = i >> d & 1 ? cut : 0;
                units[i].high[d] = i >> d & 1 ? 1 : cut;
            }
        }
        REQUIRE(!bm_aggregate(&g, bm_allocator_default(), &spec, units, 8));
        CHECK_EQ(g.files, 8);
        bm_aggregation_release(&g);
    }
}

int main(void)
{
    every_unit_is_in_one_file();
    kdtree_cuts_where_it_is_best();
    identical_units_are_divided_evenly();
    lopsided_cuts_do_not_go_on_for_ever();
    large_numbers_are_right();
    there_are_never_more_than_a_million_files();
    wrong_questions_are_refused();
    no_memory_is_said_and_nothing_is_kept();
    targets_grow_with_the_ranks();
    cells_of_aug_are_cubes();
    cells_of_aug_do_not_cut_what_is_one_rank();
    cells_of_aug_divide_eight_ranks();
    return check_result();
}
