/* Local plans: each rank finds what the plan of all blocks says of it. */
#include "plan/local.h"

#include "check.h"
#include "decompose.h"
#include "local_check.h"
#include "local_ranks.h"
#include "plan/rounds.h"

static const bouma_distribute schemes[] = {
    BOUMA_DISTRIBUTE_BALANCED, BOUMA_DISTRIBUTE_GREEDY, BOUMA_DISTRIBUTE_NONE};

/* All that the whole plan has for each rank, and nothing else. */
static void check_results(const struct whole_plan *w,
                          const struct local_ranks *all)
{
    int64_t found = 0;

    for (int r = 0; r < all->ranks; r++) {
        check_local_result(w, &all->each[r].result, r);
        found += all->each[r].result.chunks->count;
    }
    CHECK_EQ(found, count_concerns(w, -1));
}

static void compare(struct bm_chunking chunking, int ranks,
                    const struct bm_block *blocks, size_t count)
{
    for (size_t s = 0; s < sizeof(schemes) / sizeof(schemes[0]); s++) {
        struct local_ranks all;
        struct whole_plan w;

        whole_plan_make(&w, chunking, schemes[s], ranks, blocks, count);
        local_ranks_init(&all, chunking, schemes[s], ranks, blocks, count);
        REQUIRE(!local_ranks_run(&all));
        check_results(&w, &all);
        local_ranks_release(&all);
        whole_plan_release(&w);
    }
}

static int by_rank(const void *left, const void *right)
{
    const struct bm_block *a = left, *b = right;

    return a->rank != b->rank ? a->rank - b->rank
                              : memcmp(&a->box, &b->box, sizeof(a->box));
}

static void random_decompositions_are_planned_as_a_whole(void)
{
    struct test_blocks *b = malloc(sizeof(*b));
    uint64_t state = 41;

    REQUIRE(b);
    for (int i = 0; i < 600; i++) {
        int ranks = 1 + (int)check_below(&state, i % 3 ? 12 : 60);
        struct bm_tiling t;

        random_tiling(&t, &state, 20);
        b->count = 0;
        cut_randomly(b, &state, bm_tiling_domain(&t),
                     (int)check_below(&state, 8), ranks);
        qsort(b->blocks, b->count, sizeof(b->blocks[0]), by_rank);
        compare(bm_chunking_of_tiling(&t), ranks, b->blocks, b->count);
    }
    free(b);
}

/* ---- blocks that do not cover the grid ----------------------------------- */

static int run_status(struct bm_chunking chunking, int ranks,
                      const struct bm_block *blocks, size_t count)
{
    struct local_ranks all;
    int rc;

    local_ranks_init(&all, chunking, BOUMA_DISTRIBUTE_BALANCED, ranks, blocks,
                     count);
    rc = local_ranks_run(&all);
    local_ranks_release(&all);
    return rc;
}

/* As many samples as there should be, but one chunk twice and another never. */
static void a_chunk_twice_and_one_never_is_noticed(void)
{
    int64_t shape[1] = {16}, edge[1] = {4};
    struct bm_block blocks[4];
    struct bm_tiling t;

    REQUIRE(!bm_tiling_init(&t, 1, shape, edge));
    for (int r = 0; r < 4; r++)
        blocks[r] = (struct bm_block){r, {{0, 0, 4 * r}, {1, 1, 4 * r + 4}}};
    CHECK_EQ(run_status(bm_chunking_of_tiling(&t), 4, blocks, 4), BOUMA_OK);
    blocks[3].box = blocks[2].box;
    CHECK_EQ(run_status(bm_chunking_of_tiling(&t), 4, blocks, 4), BOUMA_ECOVER);
}

/* A chunk of which a rank has one half twice, and nobody the other half: as
 * many samples as it should have. With few blocks, and with many. */
static void a_part_twice_on_one_rank_and_one_never_is_noticed(void)
{
    int64_t shape[1] = {64}, edge[1] = {32};
    struct bm_block blocks[34];
    struct bm_tiling t;

    REQUIRE(!bm_tiling_init(&t, 1, shape, edge));
    blocks[0] = (struct bm_block){0, {{0, 0, 0}, {1, 1, 16}}};
    blocks[1] = (struct bm_block){0, {{0, 0, 16}, {1, 1, 32}}};
    blocks[2] = (struct bm_block){1, {{0, 0, 32}, {1, 1, 64}}};
    CHECK_EQ(run_status(bm_chunking_of_tiling(&t), 2, blocks, 3), BOUMA_OK);
    blocks[1].box = blocks[0].box;
    CHECK_EQ(run_status(bm_chunking_of_tiling(&t), 2, blocks, 3), BOUMA_ECOVER);
    for (int i = 0; i < 32; i++)
        blocks[i] = (struct bm_block){0, {{0, 0, i}, {1, 1, i + 1}}};
    blocks[32] = (struct bm_block){1, {{0, 0, 32}, {1, 1, 64}}};
    CHECK_EQ(run_status(bm_chunking_of_tiling(&t), 2, blocks, 33), BOUMA_OK);
    blocks[31].box = blocks[7].box;
    CHECK_EQ(run_status(bm_chunking_of_tiling(&t), 2, blocks, 33),
             BOUMA_ECOVER);
}

static void wrong_covers_are_noticed_by_all_ranks(void)
{
    struct test_blocks *b = malloc(sizeof(*b));
    uint64_t state = 42;
    int wrong = 0;

    REQUIRE(b);
    for (int i = 0; i < 300; i++) {
        int ranks = 1 + (int)check_below(&state, 9), d, expected;
        struct bm_cover_fault fault;
        struct bm_partition p;
        struct bm_tiling t;
        struct bm_box *box;

        random_tiling(&t, &state, 16);
        b->count = 0;
        cut_randomly(b, &state, bm_tiling_domain(&t),
                     (int)check_below(&state, 5), ranks);
        qsort(b->blocks, b->count, sizeof(b->blocks[0]), by_rank);
        box = &b->blocks[check_below(&state, (int64_t)b->count)].box;
        d = (int)check_below(&state, 3);
        if (check_below(&state, 2) && box->hi[d] < t.shape[d])
            box->hi[d]++;
        else if (box->hi[d] - box->lo[d] > 1)
            box->lo[d]++;
        REQUIRE(!bm_partition_init(&p, bm_allocator_default(),
                                   bm_chunking_of_tiling(&t), b->blocks,
                                   b->count));
        expected = bm_partition_check(&p, &fault);
        wrong += expected == BOUMA_ECOVER;
        CHECK_EQ(
            run_status(bm_chunking_of_tiling(&t), ranks, b->blocks, b->count),
            expected);
        bm_partition_release(&p);
    }
    CHECK(wrong > 100);
    free(b);
}

/* ---- many ranks ---------------------------------------------------------- */

/* A Cartesian cut into 2^bits ranks, whose borders patches do not meet. */
static void cut_evenly(struct bm_block *blocks, int bits,
                       const int64_t shape[3])
{
    int cuts[3] = {(bits + 2) / 3, (bits + 1) / 3, bits / 3};

    for (int r = 0; r < 1 << bits; r++) {
        int cell[3] = {r >> (cuts[1] + cuts[2]),
                       r >> cuts[2] & ((1 << cuts[1]) - 1),
                       r & ((1 << cuts[2]) - 1)};

        blocks[r].rank = r;
        for (int d = 0; d < 3; d++) {
            uint64_t n = (uint64_t)shape[d], parts = (uint64_t)1 << cuts[d];

            blocks[r].box.lo[d] = (int64_t)bm_cut(n, parts, (uint64_t)cell[d]);
            blocks[r].box.hi[d] =
                (int64_t)bm_cut(n, parts, (uint64_t)cell[d] + 1);
        }
    }
}

static void many_ranks_plan_as_one(int bits)
{
    size_t ranks = (size_t)1 << bits;
    struct bm_block *blocks = malloc(ranks * sizeof(*blocks));
    int64_t shape[3], edge[3] = {8, 8, 8};
    struct local_ranks all;
    struct bm_tiling t;
    struct whole_plan w;

    REQUIRE(blocks);
    for (int d = 0; d < 3; d++)
        shape[d] = (int64_t)11 << ((bits + 2 - d) / 3);
    cut_evenly(blocks, bits, shape);
    REQUIRE(!bm_tiling_init(&t, 3, shape, edge));
    whole_plan_make(&w, bm_chunking_of_tiling(&t), BOUMA_DISTRIBUTE_BALANCED,
                    (int)ranks, blocks, ranks);
    local_ranks_init(&all, bm_chunking_of_tiling(&t), BOUMA_DISTRIBUTE_BALANCED,
                     (int)ranks, blocks, ranks);
    REQUIRE(!local_ranks_run(&all));
    check_results(&w, &all);
    printf("2^%d ranks: %d steps; of a rank %.1f messages, at most %d, of %.0f "
           "bytes in all\n",
           bits, all.steps, (double)all.messages / (double)ranks,
           (int)all.most_messages, (double)all.bytes / (double)ranks);
    /* What a rank sends does not grow with their number. */
    CHECK(all.most_messages < 400);
    local_ranks_release(&all);
    whole_plan_release(&w);
    free(blocks);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        many_ranks_plan_as_one(atoi(argv[1]));
        return check_result();
    }
    random_decompositions_are_planned_as_a_whole();
    a_chunk_twice_and_one_never_is_noticed();
    a_part_twice_on_one_rank_and_one_never_is_noticed();
    wrong_covers_are_noticed_by_all_ranks();
    for (int bits = 4; bits <= 12; bits += 4)
        many_ranks_plan_as_one(bits);
    return check_result();
}
