/* Ranks whose blocks are a grid: holders and owners are those that lists of
 * blocks give. */
#include "check.h"
#include "plan/hz_blocks.h"
#include "plan/rank_grid.h"

struct decomposition {
    struct bm_hz_ranks ranks;
    struct bm_rank_grid grid;
    struct bm_block *blocks;
    size_t count;
    struct bm_partition lists;
};

static void decompose(struct decomposition *d, struct bm_chunking chunking,
                      const int64_t shape[3], uint64_t *state)
{
    int64_t blocks[3];

    for (int i = 0; i < 3; i++)
        blocks[i] = 1 + check_below(state, 6);
    REQUIRE(!bm_hz_ranks_init(&d->ranks, shape, NULL, blocks,
                              (bouma_rank_order)check_below(state, 4)));
    REQUIRE(!bm_rank_grid_init(&d->grid, bm_allocator_default(), &d->ranks));
    d->blocks = malloc((size_t)d->ranks.count * sizeof(*d->blocks));
    REQUIRE(d->blocks);
    d->count = 0;
    for (int r = 0; r < d->ranks.count; r++) {
        struct bm_box box = bm_hz_ranks_box(&d->ranks, r);

        if (bm_box_volume(&box))
            d->blocks[d->count++] = (struct bm_block){r, box};
    }
    REQUIRE(!bm_partition_init(&d->lists, bm_allocator_default(), chunking,
                               d->blocks, d->count));
}

/* Each holder, with its samples, is in the list, and there are as many. */
static void check_holders(const struct decomposition *d)
{
    const struct bm_partition *p = &d->lists;
    struct bm_holders h;

    REQUIRE(!bm_holders_init(&h, &d->grid));
    for (int64_t i = 0; i < p->chunking.count; i++) {
        struct bm_footprint f = bm_chunking_footprint(&p->chunking, i);
        int64_t count = bm_holders_find(&h, &f), seen = 0;
        struct bm_holder now = bm_holders_first(&h);

        CHECK_EQ(count, p->first[i + 1] - p->first[i]);
        do {
            int found = 0;

            for (int64_t k = p->first[i]; k < p->first[i + 1]; k++) {
                const struct bm_block *b = &p->blocks[p->part[k]];

                found |= b->rank == now.rank &&
                         bm_footprint_samples_in(&f, &b->box) == now.samples;
            }
            CHECK(found);
            seen++;
        } while (bm_holders_next(&h, &now));
        CHECK_EQ(seen, count);
    }
    bm_holders_release(&h);
}

static void tell_all(struct bm_owners *o, const struct bm_chunking *c)
{
    struct bm_chunk_group groups[20];

    for (int64_t place = 0, n, count; place < c->count;) {
        n = c->count - place < 20 ? c->count - place : 20;
        count = bm_chunking_list_groups(c, place, n, groups);
        for (int64_t i = 0; i < count; place += groups[i++].count)
            bm_owners_tell(o, place, &groups[i]);
    }
}

/* Groups are the chunks that the list has, with the samples that it says. */
static void check_groups(const struct bm_chunking *c)
{
    struct bm_chunk_group *groups = malloc((size_t)c->count * sizeof(*groups));
    struct bm_listed_chunk one;
    int64_t count, place = 0;

    REQUIRE(groups);
    count = bm_chunking_list_groups(c, 0, c->count, groups);
    for (int64_t g = 0; g < count; g++)
        for (int64_t i = 0; i < groups[g].count; i++) {
            struct bm_footprint f = groups[g].first.footprint;
            int64_t far[3] = {1, 1, 1};

            bm_chunking_list(c, place++, 1, &one);
            CHECK_EQ(one.key, groups[g].first.key + (uint64_t)i);
            for (int b = 0; b < BM_CHUNK_GROUP_BITS && i; b++) {
                int d = groups[g].axis[b];

                if (i >> b & 1)
                    f.start[d] += far[d] * (f.count[d] << f.shift[d]);
                far[d] *= 2;
            }
            for (int d = 0; d < 3; d++) {
                CHECK_EQ(f.start[d], one.footprint.start[d]);
                CHECK_EQ(f.count[d], one.footprint.count[d]);
                CHECK_EQ(f.shift[d], one.footprint.shift[d]);
            }
        }
    CHECK_EQ(place, c->count);
    free(groups);
}

static void check_owners(const struct decomposition *d)
{
    const struct bm_chunking *c = &d->lists.chunking;
    size_t count = (size_t)c->count;
    int *owner = malloc(count * sizeof(*owner));
    struct bm_listed_chunk *list = malloc(count * sizeof(*list));

    REQUIRE(owner && list);
    bm_chunking_list(c, 0, c->count, list);
    for (int s = BOUMA_DISTRIBUTE_BALANCED; s <= BOUMA_DISTRIBUTE_WEIGHTED;
         s++) {
        struct bm_distribution report;
        struct bm_owners o;

        REQUIRE(!bm_distribute(owner, (bouma_distribute)s, &d->lists,
                               d->ranks.count, &report));
        REQUIRE(!bm_owners_init(&o, &d->grid, c));
        tell_all(&o, c);
        REQUIRE(!bm_owners_share_out(&o, (bouma_distribute)s));
        for (size_t i = 0; i < count; i++)
            CHECK_EQ(bm_owner_at(&o, i), owner[list[i].chunk]);
        CHECK_EQ(o.report.most_patches, report.most_patches);
        CHECK_EQ(o.report.shared_patches, report.shared_patches);
        CHECK_EQ(o.report.moved_samples, report.moved_samples);
        CHECK_EQ(o.report.messages, report.messages);
        bm_owners_release(&o);
    }
    free(list);
    free(owner);
}

static void check(struct bm_chunking chunking, const int64_t shape[3],
                  uint64_t *state)
{
    struct decomposition d;

    decompose(&d, chunking, shape, state);
    check_holders(&d);
    check_groups(&chunking);
    check_owners(&d);
    bm_partition_release(&d.lists);
    bm_rank_grid_release(&d.grid);
    free(d.blocks);
}

static void patches_have_the_owners_of_lists(void)
{
    uint64_t state = 71;

    for (int n = 0; n < 150; n++) {
        int64_t shape[3], edge[3];
        struct bm_tiling t;

        for (int d = 0; d < 3; d++) {
            shape[d] = 1 + check_below(&state, 24);
            edge[d] = (int64_t)1 << check_below(&state, 5);
        }
        REQUIRE(!bm_tiling_init(&t, 3, shape, edge));
        check(bm_chunking_of_tiling(&t), shape, &state);
    }
}

static void blocks_in_hz_order_have_them_too(void)
{
    uint64_t state = 72;

    for (int n = 0; n < 60; n++) {
        struct bm_hz_blocks o;
        struct bm_hz hz;
        int64_t shape[3];
        int bits;

        for (int d = 0; d < 3; d++)
            shape[d] = 1 + check_below(&state, 20);
        REQUIRE(!bm_hz_from_shape(&hz, shape, BM_HZ_LONGEST));
        bits = (int)check_below(&state, hz.bits + 1);
        REQUIRE(!bm_hz_blocks_init(&o, bm_allocator_default(), &hz, shape, bits,
                                   4));
        check(bm_hz_blocks_chunking(&o), shape, &state);
        bm_hz_blocks_release(&o);
    }
}

static void unknown_schemes_are_refused(void)
{
    static const int64_t shape[3] = {4, 4, 4}, edge[3] = {2, 2, 2};
    static const int64_t blocks[3] = {1, 1, 2};
    struct bm_hz_ranks ranks;
    struct bm_rank_grid g;
    struct bm_chunking c;
    struct bm_tiling t;
    struct bm_owners o;

    REQUIRE(!bm_tiling_init(&t, 3, shape, edge));
    REQUIRE(!bm_hz_ranks_init(&ranks, shape, NULL, blocks, 0));
    REQUIRE(!bm_rank_grid_init(&g, bm_allocator_default(), &ranks));
    c = bm_chunking_of_tiling(&t);
    REQUIRE(!bm_owners_init(&o, &g, &c));
    CHECK_EQ(bm_owners_share_out(&o, (bouma_distribute)99), BOUMA_EINVAL);
    bm_owners_release(&o);
    bm_rank_grid_release(&g);
}

int main(void)
{
    patches_have_the_owners_of_lists();
    blocks_in_hz_order_have_them_too();
    unknown_schemes_are_refused();
    return check_result();
}
