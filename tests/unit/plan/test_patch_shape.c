/* Edges of patches by the blocks of ranks: chosen ones are compared with the
 * usual ones by the plan that a write would make of each. */
#include "plan/patch_shape.h"

#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "check.h"
#include "plan/distribute.h"

#define MOST_RANKS 256

/* Ranks as cells of a grid, by where its axes are cut. */
struct cells {
    struct bm_patch_grid grid;
    int64_t count[3];
    int64_t cut[3][MOST_RANKS + 1];
};

static int ranks_of(const struct cells *c)
{
    return (int)(c->count[0] * c->count[1] * c->count[2]);
}

static struct bm_box box_of(const struct cells *c, int rank)
{
    int64_t at[3] = {rank / c->count[2] / c->count[1],
                     rank / c->count[2] % c->count[1], rank % c->count[2]};
    struct bm_box box;

    for (int d = 0; d < 3; d++) {
        box.lo[d] = c->cut[d][at[d]];
        box.hi[d] = c->cut[d][at[d] + 1];
    }
    return box;
}

/* As equal as possible: the first ones are larger, or those in between. */
static void cut_evenly(struct cells *c, int ndims, const int64_t shape[3],
                       const int64_t count[3], int first_larger)
{
    c->grid = (struct bm_patch_grid){.ndims = ndims, .most_samples = 1 << 28};
    for (int d = 0; d < 3; d++) {
        int64_t n = shape[d], k = count[d];

        c->grid.shape[d] = n;
        c->count[d] = k;
        for (int64_t i = 0; i <= k; i++)
            c->cut[d][i] =
                first_larger ? n / k * i + (i < n % k ? i : n % k) : i * n / k;
    }
}

/* ---- what a write would do ------------------------------------------------ */

struct outcome {
    uint64_t moved;
    int idle;      /* ranks that assemble nothing */
    uint64_t most; /* samples that a rank assembles */
};

static struct outcome plan(const struct cells *c, const int64_t edge[3])
{
    const bouma_allocator *a = bm_allocator_default();
    static struct bm_block blocks[MOST_RANKS];
    static uint64_t load[MOST_RANKS];
    int ranks = ranks_of(c), skip = 3 - c->grid.ndims;
    struct outcome out = {0};
    struct bm_tiling t;
    struct bm_partition p;
    int *owner;

    REQUIRE(ranks <= MOST_RANKS);
    REQUIRE(
        !bm_tiling_init(&t, c->grid.ndims, c->grid.shape + skip, edge + skip));
    for (int r = 0; r < ranks; r++)
        blocks[r] = (struct bm_block){r, box_of(c, r)};
    REQUIRE(!bm_partition_init(&p, a, bm_chunking_of_tiling(&t), blocks,
                               (size_t)ranks));
    owner = calloc((size_t)t.patches, sizeof(*owner));
    REQUIRE(owner);
    REQUIRE(!bm_distribute(owner, BOUMA_DISTRIBUTE_BALANCED, &p, ranks, NULL));
    memset(load, 0, sizeof(load));
    for (int64_t i = 0; i < t.patches; i++) {
        struct bm_box patch = bm_tiling_patch_box(&t, i), part;

        load[owner[i]] += bm_box_volume(&patch);
        for (int64_t k = p.first[i]; k < p.first[i + 1]; k++)
            if (blocks[p.part[k]].rank != owner[i] &&
                bm_box_meet(&part, &patch, &blocks[p.part[k]].box))
                out.moved += bm_box_volume(&part);
    }
    for (int r = 0; r < ranks; r++) {
        out.idle += load[r] == 0;
        out.most = load[r] > out.most ? load[r] : out.most;
    }
    free(owner);
    bm_partition_release(&p);
    return out;
}

/* ---- the choice ----------------------------------------------------------- */

static void choose_on_grid(int64_t edge[3], const struct cells *c)
{
    const int64_t *cut[3] = {c->cut[0], c->cut[1], c->cut[2]};

    bm_patch_choose_on_grid(edge, &c->grid, cut, c->count);
}

/* As ranks do it, by what each knows. */
static void choose_by_ranks(int64_t edge[3], const struct cells *c)
{
    uint64_t facts[BM_PATCH_FACTS] = {0}, own[BM_PATCH_FACTS];
    struct bm_patch_tally tally[BM_PATCH_CHOICES] = {{0, 0, 0}};
    struct bm_patch_choices choices;
    int sums = BM_PATCH_FACTS - BM_PATCH_FACT_SUMS;

    for (int r = 0; r < ranks_of(c); r++) {
        struct bm_box box = box_of(c, r);

        bm_patch_tell(own, &c->grid, &box);
        for (int i = 0; i < BM_PATCH_FACTS; i++)
            facts[i] = i >= sums           ? facts[i] + own[i]
                       : own[i] > facts[i] ? own[i]
                                           : facts[i];
    }
    bm_patch_list(&choices, &c->grid, facts);
    for (int r = 0; r < ranks_of(c); r++)
        for (int i = 0; i < choices.count; i++) {
            struct bm_box box = box_of(c, r);
            struct bm_patch_tally one =
                bm_patch_count(&c->grid, choices.edge[i], &box);

            tally[i].stay += one.stay;
            if (one.patches > tally[i].patches)
                tally[i].patches = one.patches;
            tally[i].most = one.most > tally[i].most ? one.most : tally[i].most;
        }
    memcpy(edge,
           choices.edge[bm_patch_choose(&choices, &c->grid, facts, tally)],
           3 * sizeof(*edge));
}

static void usual_edges(int64_t edge[3], const struct cells *c)
{
    static const int64_t none[3] = {0, 0, 0};
    int skip = 3 - c->grid.ndims;

    edge[0] = edge[1] = edge[2] = 1;
    bm_tiling_edges(edge + skip, c->grid.ndims, c->grid.shape + skip, none);
}

static int is_usual(const int64_t edge[3], const struct cells *c)
{
    int64_t usual[3];

    usual_edges(usual, c);
    return memcmp(edge, usual, sizeof(usual)) == 0;
}

static uint64_t samples_of(const struct cells *c)
{
    return (uint64_t)(c->grid.shape[0] * c->grid.shape[1] * c->grid.shape[2]);
}

/* ---- claims --------------------------------------------------------------- */

/* Slabs, pencils and blocks: what moves now, in percent, is at most this. */
static void whole_blocks_stay_and_nobody_is_idle(void)
{
    static const struct {
        int ndims;
        int64_t shape[3], count[3];
        uint64_t percent;
    } examples[] = {{2, {1, 400, 800}, {1, 3, 1}, 3},
                    {3, {128, 128, 128}, {4, 2, 2}, 0},
                    {3, {128, 128, 128}, {16, 1, 1}, 0},
                    {3, {128, 128, 128}, {4, 4, 1}, 0},
                    {3, {128, 128, 128}, {1, 4, 4}, 0},
                    {3, {512, 512, 512}, {16, 1, 1}, 0},
                    {3, {320, 320, 320}, {5, 5, 4}, 0},
                    {3, {320, 320, 320}, {10, 10, 1}, 0},
                    {2, {1, 1024, 1024}, {1, 16, 1}, 0},
                    {1, {1, 1, 1 << 20}, {1, 1, 64}, 0}};
    static struct cells c;

    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        struct outcome now;
        int64_t edge[3];

        cut_evenly(&c, examples[i].ndims, examples[i].shape, examples[i].count,
                   0);
        choose_on_grid(edge, &c);
        CHECK(!is_usual(edge, &c));
        now = plan(&c, edge);
        CHECK(now.moved * 100 <= samples_of(&c) * examples[i].percent);
        CHECK_EQ(now.idle, 0);
    }
}

/* Samples that move, and time that ranks wait for the one with most to do, as
 * parts of all samples. */
static double cost_of(const struct cells *c, const struct outcome *o)
{
    double all = (double)samples_of(c);

    return (double)o->moved / all + (1 - all / ranks_of(c) / (double)o->most);
}

/* 1: others than the usual ones were chosen. */
static int compare(const struct cells *c, int even)
{
    struct outcome before, now;
    int64_t edge[3], by_ranks[3], usual[3];

    choose_on_grid(edge, c);
    choose_by_ranks(by_ranks, c);
    CHECK_EQ(memcmp(edge, by_ranks, sizeof(edge)), 0);
    if (is_usual(edge, c))
        return 0;
    usual_edges(usual, c);
    before = plan(c, usual);
    now = plan(c, edge);
    CHECK(now.moved < before.moved || now.most < before.most);
    if (even) {
        CHECK(now.moved < before.moved);
        CHECK(cost_of(c, &now) < cost_of(c, &before));
        CHECK(now.idle <= before.idle || now.most < before.most);
    }
    return 1;
}

static void even_blocks_are_never_worse_off(void)
{
    static const struct {
        int ndims;
        int64_t shape[3];
    } grids[] = {
        {3, {128, 128, 128}}, {3, {200, 200, 200}}, {3, {300, 200, 150}},
        {3, {64, 256, 512}},  {3, {16, 512, 512}},  {3, {1000, 64, 64}},
        {2, {1, 400, 800}},   {2, {1, 3000, 500}},  {1, {1, 1, 1000000}}};
    static const int sizes[] = {2, 3, 4, 5, 6, 8, 12, 16, 27, 36, 60, 100};
    static struct cells c;
    int cases = 0, chosen = 0;

    for (size_t g = 0; g < sizeof(grids) / sizeof(grids[0]); g++)
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
            for (int z = 1; z <= sizes[s]; z++)
                for (int y = 1; y <= sizes[s] / z; y++) {
                    int64_t count[3] = {z, y, sizes[s] / z / y};

                    if (sizes[s] % (z * y) || (z > 1 && grids[g].ndims < 3) ||
                        (y > 1 && grids[g].ndims < 2) || z > grids[g].shape[0])
                        continue;
                    cut_evenly(&c, grids[g].ndims, grids[g].shape, count,
                               (int)(cases % 2));
                    chosen += compare(&c, 1);
                    cases++;
                }
    CHECK(chosen * 3 > cases && chosen < cases);
}

/* Cut anywhere, or at multiples of something; some blocks may be empty. */
static void cut_anyhow(struct cells *c, uint64_t *random)
{
    int ndims = 1 + (int)chance_below(random, 3);
    int64_t shape[3] = {1, 1, 1}, count[3] = {1, 1, 1};
    int64_t unit = (int64_t)1 << chance_below(random, 6);
    int anywhere = (int)chance_below(random, 2);

    for (int d = 3 - ndims; d < 3; d++) {
        static const uint64_t least[] = {0, 300000, 300, 60},
                              more[] = {0, 4000000, 1500, 300},
                              blocks[] = {0, 100, 14, 6};

        shape[d] = (int64_t)(least[ndims] + chance_below(random, more[ndims]));
        count[d] = 1 + (int64_t)chance_below(random, blocks[ndims]);
    }
    cut_evenly(c, ndims, shape, count, 0);
    for (int d = 0; d < 3; d++)
        for (int64_t i = 1; i < count[d]; i++) {
            int64_t *at = &c->cut[d][i], from = at[-1], room = at[1] - from;

            *at = anywhere ? from + (int64_t)chance_below(random,
                                                          (uint64_t)(room + 1))
                           : (*at + unit / 2) / unit * unit;
            *at = *at < from ? from : *at > shape[d] ? shape[d] : *at;
        }
}

static void other_blocks_gain_something(void)
{
    uint64_t random = 7;
    static struct cells c;
    int chosen = 0;

    for (int i = 0; i < 2000; i++) {
        cut_anyhow(&c, &random);
        if (ranks_of(&c) <= MOST_RANKS)
            chosen += compare(&c, 0);
    }
    CHECK(chosen > 200);
}

/* Where the usual patches do as well, or nothing is known that others do. */
static void the_usual_ones_stay(void)
{
    static const int64_t aligned[3] = {256, 128, 192}, two[3] = {2, 2, 1},
                         odd[3] = {200, 200, 200}, one[3] = {1, 1, 1},
                         small[3] = {64, 64, 100}, slabs[3] = {16, 1, 1},
                         wide[3] = {128, 128, 128};
    uint64_t facts[BM_PATCH_FACTS] = {8, 128, 128, 60, 0, 0, 0, 16, 1 << 21};
    struct bm_patch_choices choices;
    static struct cells c;
    int64_t edge[3];

    cut_evenly(&c, 3, aligned, two, 0);
    choose_on_grid(edge, &c);
    CHECK(is_usual(edge, &c));
    cut_evenly(&c, 3, odd, one, 0);
    choose_on_grid(edge, &c);
    CHECK(is_usual(edge, &c));
    cut_evenly(&c, 3, small, slabs, 0);
    CHECK(!bm_patch_has_choice(&c.grid));
    choose_on_grid(edge, &c);
    CHECK(is_usual(edge, &c));

    cut_evenly(&c, 3, wide, slabs, 0);
    bm_patch_list(&choices, &c.grid, facts);
    CHECK(choices.count > 1);
    facts[BM_PATCH_SAMPLES]--; /* a hole */
    bm_patch_list(&choices, &c.grid, facts);
    CHECK_EQ(choices.count, 1);
    facts[BM_PATCH_SAMPLES]++;
    facts[BM_PATCH_SCATTERED] = 1;
    bm_patch_list(&choices, &c.grid, facts);
    CHECK_EQ(choices.count, 1);
}

/* Where a flat patch takes more bytes than a cube, it must save more. */
static void predicted_samples_have_compact_patches(void)
{
    static const int64_t shape[3] = {512, 512, 512}, slabs[3] = {16, 1, 1},
                         odd[3] = {5, 5, 4};
    static struct cells c;
    int64_t edge[3];

    cut_evenly(&c, 3, shape, odd, 0);
    choose_on_grid(edge, &c);
    CHECK(!is_usual(edge, &c));
    c.grid.predicted = 1;
    choose_on_grid(edge, &c);
    CHECK(is_usual(edge, &c));
    cut_evenly(&c, 3, shape, slabs, 0);
    c.grid.predicted = 1;
    choose_on_grid(edge, &c);
    CHECK_EQ(edge[0], 32);
}

/* No patch is larger than it may be. */
static void large_samples_have_small_patches(void)
{
    static const int64_t shape[3] = {512, 512, 512}, slabs[3] = {16, 1, 1};
    static struct cells c;

    for (uint64_t most = 1 << 15; most <= 1 << 19; most *= 2) {
        int64_t edge[3];

        cut_evenly(&c, 3, shape, slabs, 0);
        c.grid.most_samples = most;
        choose_on_grid(edge, &c);
        CHECK(is_usual(edge, &c) ||
              (uint64_t)(edge[0] * edge[1] * edge[2]) <= most);
    }
}

/* A million slabs, and the largest grids that there are. */
static void there_may_be_millions_of_ranks(void)
{
    int64_t cells[3] = {1 << 20, 1, 1}, edge[3],
            ends[2][2] = {{0, 64}, {0, 64}};
    struct bm_patch_grid g = {
        .ndims = 3, .shape = {1 << 23, 64, 64}, .most_samples = 1 << 28};
    int64_t *cut = malloc(((1 << 20) + 1) * sizeof(*cut));
    const int64_t *cuts[3] = {cut, ends[0], ends[1]};

    REQUIRE(cut);
    for (int64_t i = 0; i <= 1 << 20; i++)
        cut[i] = 8 * i;
    bm_patch_choose_on_grid(edge, &g, cuts, cells);
    CHECK_EQ(edge[0], 8);
    CHECK(edge[1] <= 64 && edge[2] <= 64);

    g = (struct bm_patch_grid){.ndims = 3,
                               .shape = {(int64_t)1 << 39, 1 << 11, 1 << 11},
                               .most_samples = 1 << 28};
    ends[0][1] = ends[1][1] = 1 << 11;
    for (int64_t i = 0; i <= 1 << 20; i++)
        cut[i] = i << 19;
    bm_patch_choose_on_grid(edge, &g, cuts, cells);
    CHECK(edge[0] == 64 && edge[1] == 64 && edge[2] == 64);
    free(cut);
}

int main(void)
{
    whole_blocks_stay_and_nobody_is_idle();
    even_blocks_are_never_worse_off();
    other_blocks_gain_something();
    the_usual_ones_stay();
    predicted_samples_have_compact_patches();
    large_samples_have_small_patches();
    there_may_be_millions_of_ranks();
    return check_result();
}
