/* Who transforms which tile, and the blocks that are made of tiles: each tile is
 * in one block of its owner, and boxes of tiles are one block. */
#include "write/tile_plan.h"

#include <string.h>

#include "check.h"

enum { MOST_BLOCKS = 64, MOST_RANKS = 7 };

struct trial {
    struct bm_tiling tiling;
    struct bm_tile_plan plan;
    int ranks;
};

/* Boxes that halve the domain again and again, each on some rank. */
static size_t cut(struct bm_block *out, const struct bm_box *box, int depth,
                  int ranks, uint64_t *random)
{
    int axis = (int)check_below(random, 3);
    struct bm_box left = *box, right = *box;
    size_t n;

    if (!depth || box->hi[axis] - box->lo[axis] < 2) {
        out->rank = (int)check_below(random, ranks);
        out->box = *box;
        return 1;
    }
    left.hi[axis] = right.lo[axis] =
        box->lo[axis] + 1 +
        check_below(random, box->hi[axis] - box->lo[axis] - 1);
    n = cut(out, &left, depth - 1, ranks, random);
    return n + cut(out + n, &right, depth - 1, ranks, random);
}

/* In the order of ranks, as descriptions come. */
static void sort(struct bm_block *blocks, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k && blocks[k].rank < blocks[k - 1].rank; k--) {
            struct bm_block b = blocks[k];

            blocks[k] = blocks[k - 1];
            blocks[k - 1] = b;
        }
}

static int make(struct trial *t, const struct bm_block *given, size_t count)
{
    const bouma_allocator *a = bm_allocator_default();
    struct bm_cover_fault fault;

    t->plan = (struct bm_tile_plan){.a = a, .given_count = count};
    t->plan.given = bm_new_raw(a, count, sizeof(*given));
    REQUIRE(t->plan.given);
    memcpy(t->plan.given, given, count * sizeof(*given));
    return bm_tile_plan_make(&t->plan, a, &t->tiling, BOUMA_DISTRIBUTE_BALANCED,
                             t->ranks, &fault);
}

static void check_plan(const struct trial *t)
{
    const struct bm_tile_plan *p = &t->plan;
    uint64_t samples = 0;

    for (int64_t i = 0; i < t->tiling.patches; i++) {
        struct bm_box tile = bm_tiling_patch_box(&t->tiling, i);
        int holders = 0, holder = -1;

        REQUIRE(p->block_of[i] < p->block_count);
        CHECK(bm_box_inside(&tile, &p->blocks[p->block_of[i]].box));
        CHECK_EQ(p->blocks[p->block_of[i]].rank, p->owner[i]);
        for (size_t k = 0; k < p->given_count; k++) {
            struct bm_box common;

            if (bm_box_meet(&common, &p->given[k].box, &tile) &&
                p->given[k].rank != holder) {
                holder = p->given[k].rank;
                holders++;
            }
        }
        CHECK(holders > 1 || p->owner[i] == holder); /* it stays there */
    }
    for (size_t k = 0; k < p->block_count; k++) {
        samples += bm_box_volume(&p->blocks[k].box);
        CHECK(!k || p->blocks[k - 1].rank <= p->blocks[k].rank);
    }
    CHECK(samples == (uint64_t)(t->tiling.shape[0] * t->tiling.shape[1] *
                                t->tiling.shape[2])); /* none is in two */
}

static void each_tile_is_in_a_block_of_its_owner(void)
{
    uint64_t random = 1;

    for (int n = 0; n < 300; n++) {
        struct bm_block given[MOST_BLOCKS];
        struct trial t = {.ranks = 1 + (int)check_below(&random, MOST_RANKS)};
        int64_t shape[3], edge[3];
        struct bm_box all = {{0, 0, 0}, {0, 0, 0}};
        size_t count;

        for (int d = 0; d < 3; d++) {
            all.hi[d] = shape[d] = 1 + check_below(&random, 20);
            edge[d] = (int64_t)1 << check_below(&random, 4);
        }
        REQUIRE(!bm_tiling_init(&t.tiling, 3, shape, edge));
        count =
            cut(given, &all, (int)check_below(&random, 6), t.ranks, &random);
        sort(given, count);
        REQUIRE(!make(&t, given, count));
        check_plan(&t);
        bm_tile_plan_release(&t.plan);
    }
}

/* Blocks of whole tiles stay where and what they are. */
static void blocks_of_whole_tiles_are_kept(void)
{
    const int64_t shape[3] = {16, 16, 16}, edge[3] = {4, 4, 4};
    struct bm_block given[8];
    struct trial t = {.ranks = 8};

    REQUIRE(!bm_tiling_init(&t.tiling, 3, shape, edge));
    for (int r = 0; r < 8; r++) {
        given[r].rank = r;
        for (int d = 0; d < 3; d++) {
            given[r].box.lo[d] = 8 * (r >> (2 - d) & 1);
            given[r].box.hi[d] = given[r].box.lo[d] + 8;
        }
    }
    REQUIRE(!make(&t, given, 8));
    CHECK_EQ(t.plan.moved_samples, 0);
    CHECK_EQ(t.plan.block_count, 8);
    for (size_t r = 0; r < t.plan.block_count; r++) {
        CHECK_EQ(t.plan.blocks[r].rank, r);
        CHECK(!memcmp(&t.plan.blocks[r].box, &given[r].box,
                      sizeof(struct bm_box)));
    }
    bm_tile_plan_release(&t.plan);
}

static void a_hole_is_told(void)
{
    const int64_t shape[3] = {1, 8, 8}, edge[3] = {1, 4, 4};
    const struct bm_block given = {0, {{0, 0, 0}, {1, 8, 7}}};
    struct trial t = {.ranks = 1};

    REQUIRE(!bm_tiling_init(&t.tiling, 3, shape, edge));
    CHECK_EQ(make(&t, &given, 1), BOUMA_ECOVER);
    bm_tile_plan_release(&t.plan);
}

int main(void)
{
    each_tile_is_in_a_block_of_its_owner();
    blocks_of_whole_tiles_are_kept();
    a_hole_is_told();
    return check_result();
}
