/* The tree of ranks reaches each of them once, stays inside of nodes as long as
 * it can, and is neither deep nor broad, up to 2^20 ranks. */
#include "comm/rank_tree.h"

#include "check.h"
#include "fault_alloc.h"

/* Levels of a tree that is cut into parts so often. */
static int levels(int count)
{
    int64_t reached = 1, width = 1;
    int n = 0;

    while (reached < count) {
        width *= BM_TREE_PARTS;
        reached += width;
        n++;
    }
    return n;
}

/* What is asked of any tree; the nodes of ranks are numbered from 0 on. */
static void check_tree(const uint64_t *node, int ranks)
{
    uint8_t *depth = bm_new(bm_allocator_default(), (size_t)ranks, 1);
    uint8_t *reached = bm_new(bm_allocator_default(), (size_t)ranks, 1);
    int between = 0, deepest = 0, largest = 0, wrong = 0;
    struct bm_places p;

    REQUIRE(depth && reached);
    REQUIRE(!bm_places_init(&p, bm_allocator_default(), node, ranks));
    CHECK_EQ(bm_places_position(&p, 0), 0);
    for (int n = 0; n < p.nodes; n++)
        if (p.first[n + 1] - p.first[n] > largest)
            largest = p.first[n + 1] - p.first[n];
    /* In the order of positions parents come before their children. */
    for (int at = 0; at < ranks; at++) {
        int rank = bm_places_rank(&p, at);
        struct bm_family f, c;

        wrong += bm_places_position(&p, rank) != at;
        bm_family_of(&f, &p, rank);
        wrong += (f.parent < 0) != (at == 0);
        wrong += f.count > BM_TREE_CHILDREN || f.begin[0] != at + 1;
        for (int i = 0; i < f.count; i++) {
            int child = f.child[i];

            reached[child]++;
            depth[child] = (uint8_t)(depth[rank] + 1);
            between += node[child] != node[rank];
            /* First those of its node. */
            wrong += i && node[child] == node[rank] &&
                     node[f.child[i - 1]] != node[rank];
            bm_family_of(&c, &p, child);
            wrong += c.parent != rank || c.begin[0] != f.begin[i] + 1 ||
                     c.begin[c.count] != f.begin[i + 1];
            wrong += bm_family_towards(&f, f.begin[i]) != i ||
                     bm_family_towards(&f, f.begin[i + 1] - 1) != i;
        }
        wrong += bm_family_towards(&f, at - 1) != -1 ||
                 bm_family_towards(&f, f.begin[f.count]) != -1;
        if (depth[rank] > deepest)
            deepest = depth[rank];
    }
    for (int r = 1; r < ranks; r++)
        wrong += reached[r] != 1;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(reached[0], 0);
    CHECK_EQ(between, p.nodes - 1); /* each node is entered once */
    CHECK(deepest <= levels(p.nodes) + levels(largest));
    bm_places_release(&p);
    bm_drop(bm_allocator_default(), depth);
    bm_drop(bm_allocator_default(), reached);
}

enum placement { ONE_NODE, BLOCKS, ROUND_ROBIN, ALONE, RANDOM, PLACEMENTS };

static void place(uint64_t *node, int ranks, enum placement how, int each)
{
    uint64_t random = 12;
    int nodes = (ranks + each - 1) / each;

    for (int r = 0; r < ranks; r++)
        node[r] = how == ONE_NODE      ? 7
                  : how == BLOCKS      ? (uint64_t)(nodes - r / each)
                  : how == ROUND_ROBIN ? (uint64_t)(r % nodes)
                  : how == ALONE
                      ? (uint64_t)r
                      : (uint64_t)check_below(&random, (uint64_t)nodes);
}

static void every_rank_is_reached_once_by_short_ways(void)
{
    static const int sizes[] = {1, 2, 3, 5, 8, 9, 10, 64, 73, 74, 1000, 4097};
    uint64_t *node = bm_new(bm_allocator_default(), 1 << 20, sizeof(*node));

    REQUIRE(node);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (int how = 0; how < PLACEMENTS; how++)
            for (int each = 1; each <= 200; each = each * 3 + 1) {
                place(node, sizes[i], (enum placement)how, each);
                check_tree(node, sizes[i]);
            }
    for (int how = 0; how < PLACEMENTS; how++) {
        place(node, 1 << 20, (enum placement)how, 96);
        check_tree(node, 1 << 20);
    }
    bm_drop(bm_allocator_default(), node);
}

/* Nothing is kept for each rank where nodes have runs of them. */
static void blocks_of_ranks_need_no_list_of_ranks(void)
{
    uint64_t node[100];
    struct bm_places p;

    place(node, 100, BLOCKS, 8);
    REQUIRE(!bm_places_init(&p, bm_allocator_default(), node, 100));
    CHECK_EQ(p.nodes, 13);
    CHECK(!p.position && !p.rank);
    bm_places_release(&p);
    place(node, 100, ROUND_ROBIN, 8);
    REQUIRE(!bm_places_init(&p, bm_allocator_default(), node, 100));
    CHECK_EQ(p.nodes, 13);
    CHECK(p.position && p.rank);
    bm_places_release(&p);
}

static void a_subset_has_the_nodes_of_the_whole(void)
{
    uint64_t node[60], random = 4;
    struct bm_places whole, part;
    int members[60], count = 0, wrong = 0;

    place(node, 60, RANDOM, 7);
    REQUIRE(!bm_places_init(&whole, bm_allocator_default(), node, 60));
    for (int r = 0; r < 60; r++)
        if (check_below(&random, 2))
            members[count++] = r;
    REQUIRE(!bm_places_subset(&part, &whole, members, count));
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++)
            wrong += (node[members[i]] == node[members[k]]) !=
                     (bm_places_node(&part, i) == bm_places_node(&part, k));
    CHECK_EQ(wrong, 0);
    bm_places_release(&part);
    bm_places_release(&whole);
}

static int make_both(const bouma_allocator *a, const uint64_t *node)
{
    static const int members[] = {1, 2, 4, 5, 9};
    struct bm_places whole, part = {0};
    int rc = bm_places_init(&whole, a, node, 12);

    if (!rc)
        rc = bm_places_subset(&part, &whole, members, 5);
    bm_places_release(&part);
    bm_places_release(&whole);
    return rc;
}

static void every_failed_allocation_is_told_and_leaks_nothing(void)
{
    struct fault_alloc memory;
    uint64_t node[12];
    int rc = BOUMA_ENOMEM, calls = 0;

    place(node, 12, ROUND_ROBIN, 4);
    fault_alloc_init(&memory);
    for (; rc && calls < 20; calls++) {
        fault_alloc_arm(&memory, calls + 1, 1);
        rc = make_both(&memory.table, node);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        CHECK_EQ(memory.live, 0);
    }
    CHECK_EQ(rc, BOUMA_OK);
    CHECK(calls > 6);
}

int main(void)
{
    every_rank_is_reached_once_by_short_ways();
    blocks_of_ranks_need_no_list_of_ranks();
    a_subset_has_the_nodes_of_the_whole();
    every_failed_allocation_is_told_and_leaks_nothing();
    return check_result();
}
