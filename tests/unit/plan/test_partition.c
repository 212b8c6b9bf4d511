/* Which blocks meet which patches, and covers with one thing wrong, against
 * looking at every cell. */
#include "plan/partition.h"

#include "plan/hz_blocks.h"
#include "plan/hz_ranks.h"

#include "check.h"
#include "decompose.h"

/* How often each cell is held, and by which two blocks. */
struct cells {
    int *held;
    int *first, *second; /* blocks */
    int64_t n[3];
};

static size_t cell(const struct cells *c, int64_t z, int64_t y, int64_t x)
{
    return (size_t)((z * c->n[1] + y) * c->n[2] + x);
}

static void paint(struct cells *c, const struct bm_tiling *t,
                  const struct bm_block *blocks, size_t count)
{
    size_t total = (size_t)(t->shape[0] * t->shape[1] * t->shape[2]);

    memcpy(c->n, t->shape, sizeof(c->n));
    c->held = calloc(total, sizeof(int));
    c->first = calloc(total, sizeof(int));
    c->second = calloc(total, sizeof(int));
    REQUIRE(c->held && c->first && c->second);
    for (size_t b = 0; b < count; b++)
        for (int64_t z = blocks[b].box.lo[0]; z < blocks[b].box.hi[0]; z++)
            for (int64_t y = blocks[b].box.lo[1]; y < blocks[b].box.hi[1]; y++)
                for (int64_t x = blocks[b].box.lo[2]; x < blocks[b].box.hi[2];
                     x++) {
                    size_t i = cell(c, z, y, x);

                    if (c->held[i] == 0)
                        c->first[i] = (int)b;
                    if (c->held[i] == 1)
                        c->second[i] = (int)b;
                    c->held[i]++;
                }
}

static void wash(struct cells *c)
{
    free(c->held);
    free(c->first);
    free(c->second);
}

static void check_parts(const struct bm_tiling *t,
                        const struct bm_block *blocks, size_t count)
{
    struct bm_partition p;

    REQUIRE(!bm_partition_init(&p, bm_allocator_default(),
                               bm_chunking_of_tiling(t), blocks, count));
    CHECK_EQ(p.first[0], 0);
    for (int64_t patch = 0; patch < t->patches; patch++) {
        struct bm_box whole = bm_tiling_patch_box(t, patch);
        int64_t i = p.first[patch];

        for (size_t b = 0; b < count; b++) {
            struct bm_footprint part;
            struct bm_box meet, got;

            if (!bm_box_meet(&meet, &whole, &blocks[b].box))
                continue;
            REQUIRE(i < p.first[patch + 1]);
            CHECK_EQ(p.part[i], b);
            part = bm_partition_part(&p, patch, i);
            got = bm_footprint_bounds(&part);
            CHECK_EQ(bm_footprint_samples(&part), bm_box_volume(&meet));
            CHECK(!memcmp(&got, &meet, sizeof(meet)));
            i++;
        }
        CHECK_EQ(i, p.first[patch + 1]);
    }
    bm_partition_release(&p);
    bm_partition_release(&p);
}

/* The verdict must be that of the cells, and what is told must be true. */
static int check_verdict(const struct bm_tiling *t,
                         const struct bm_block *blocks, size_t count)
{
    struct bm_cover_fault fault = {{{0, 0, 0}, {0, 0, 0}}, {-7, -7}};
    struct bm_partition p;
    struct cells c;
    int64_t bad_patch = -1;
    int rc;

    paint(&c, t, blocks, count);
    REQUIRE(!bm_partition_init(&p, bm_allocator_default(),
                               bm_chunking_of_tiling(t), blocks, count));
    rc = bm_partition_check(&p, &fault);
    for (int64_t i = 0; i < t->patches && bad_patch < 0; i++) {
        struct bm_box b = bm_tiling_patch_box(t, i);

        for (int64_t z = b.lo[0]; z < b.hi[0]; z++)
            for (int64_t y = b.lo[1]; y < b.hi[1]; y++)
                for (int64_t x = b.lo[2]; x < b.hi[2]; x++)
                    if (c.held[cell(&c, z, y, x)] != 1)
                        bad_patch = i;
    }
    CHECK_EQ(rc, bad_patch < 0 ? BOUMA_OK : BOUMA_ECOVER);
    if (rc == BOUMA_ECOVER && bad_patch >= 0) {
        struct bm_box whole = bm_tiling_patch_box(t, bad_patch);
        int missing = fault.rank[0] < 0;
        int64_t wrong = 0, total = 0;

        CHECK(bm_box_volume(&fault.region) > 0);
        CHECK(bm_box_inside(&fault.region, &whole));
        CHECK_EQ(fault.rank[1] < 0, missing);
        for (int64_t z = whole.lo[0]; z < whole.hi[0]; z++)
            for (int64_t y = whole.lo[1]; y < whole.hi[1]; y++)
                for (int64_t x = whole.lo[2]; x < whole.hi[2]; x++) {
                    size_t i = cell(&c, z, y, x);
                    struct bm_box one = {{z, y, x}, {z + 1, y + 1, x + 1}};

                    if (missing) {
                        total += c.held[i] == 0;
                        wrong +=
                            c.held[i] && bm_box_inside(&one, &fault.region);
                    } else if (!missing && bm_box_inside(&one, &fault.region)) {
                        CHECK(c.held[i] >= 2);
                        if (c.held[i] == 2) {
                            CHECK_EQ(fault.rank[0], blocks[c.first[i]].rank);
                            CHECK_EQ(fault.rank[1], blocks[c.second[i]].rank);
                        }
                    }
                }
        if (missing) {
            CHECK(total > 0);
            CHECK_EQ(wrong, 0); /* the region has nothing that is held */
        }
    }
    bm_partition_release(&p);
    wash(&c);
    return rc;
}

static void random_covers_are_parted_and_found_right(void)
{
    struct test_blocks *b = malloc(sizeof(*b));
    uint64_t state = 11;

    REQUIRE(b);
    for (int i = 0; i < 300; i++) {
        struct bm_tiling t;

        random_tiling(&t, &state, 14);
        b->count = 0;
        cut_randomly(b, &state, bm_tiling_domain(&t),
                     (int)check_below(&state, 7), 5);
        check_parts(&t, b->blocks, b->count);
        CHECK_EQ(check_verdict(&t, b->blocks, b->count), BOUMA_OK);
    }
    free(b);
}

/* Take each block away, double each, and move each face by one cell. */
static void each_single_fault_is_found(void)
{
    struct test_blocks *b = malloc(sizeof(*b));
    uint64_t state = 12;

    REQUIRE(b);
    for (int i = 0; i < 60; i++) {
        struct bm_tiling t;
        struct bm_box domain;

        random_tiling(&t, &state, 10);
        domain = bm_tiling_domain(&t);
        b->count = 0;
        cut_randomly(b, &state, domain, 4, 6);
        for (size_t k = 0; k < b->count; k++) {
            struct bm_block saved = b->blocks[k];

            b->blocks[k] = b->blocks[b->count - 1];
            CHECK_EQ(check_verdict(&t, b->blocks, b->count - 1), BOUMA_ECOVER);
            b->blocks[k] = saved;
            b->blocks[b->count] = saved;
            b->blocks[b->count].rank = 77;
            CHECK_EQ(check_verdict(&t, b->blocks, b->count + 1), BOUMA_ECOVER);
            for (int d = 0; d < 3; d++) {
                struct bm_box *box = &b->blocks[k].box;

                if (box->hi[d] < domain.hi[d]) {
                    box->hi[d]++;
                    CHECK_EQ(check_verdict(&t, b->blocks, b->count),
                             BOUMA_ECOVER);
                    *box = saved.box;
                }
                if (box->hi[d] - box->lo[d] > 1) {
                    box->lo[d]++;
                    CHECK_EQ(check_verdict(&t, b->blocks, b->count),
                             BOUMA_ECOVER);
                    *box = saved.box;
                }
            }
        }
    }
    free(b);
}

/* A grid of single cells, 64 in a patch: the way for many parts. */
static void each_single_cell_among_many_is_found(void)
{
    int64_t shape[2] = {8, 16}, edge[2] = {8, 8};
    struct bm_block blocks[130];
    struct bm_cover_fault fault;
    struct bm_partition p;
    struct bm_tiling t;
    size_t n = 0;

    REQUIRE(!bm_tiling_init(&t, 2, shape, edge));
    for (int64_t y = 0; y < 8; y++)
        for (int64_t x = 0; x < 16; x++, n++)
            blocks[n] =
                (struct bm_block){(int)n, {{0, y, x}, {1, y + 1, x + 1}}};
    check_parts(&t, blocks, n);
    CHECK_EQ(check_verdict(&t, blocks, n), BOUMA_OK);
    for (size_t k = 0; k < n; k++) {
        struct bm_block saved = blocks[k];

        /* Missing. */
        blocks[k] = blocks[n - 1];
        CHECK_EQ(check_verdict(&t, blocks, n - 1), BOUMA_ECOVER);
        REQUIRE(!bm_partition_init(&p, bm_allocator_default(),
                                   bm_chunking_of_tiling(&t), blocks, n - 1));
        CHECK_EQ(bm_partition_check(&p, &fault), BOUMA_ECOVER);
        CHECK(!memcmp(&fault.region, &saved.box, sizeof(saved.box)));
        CHECK(fault.rank[0] == -1 && fault.rank[1] == -1);
        bm_partition_release(&p);
        blocks[k] = saved;
        /* Doubled. */
        blocks[n] = saved;
        blocks[n].rank = 500;
        CHECK_EQ(check_verdict(&t, blocks, n + 1), BOUMA_ECOVER);
        REQUIRE(!bm_partition_init(&p, bm_allocator_default(),
                                   bm_chunking_of_tiling(&t), blocks, n + 1));
        CHECK_EQ(bm_partition_check(&p, &fault), BOUMA_ECOVER);
        CHECK(!memcmp(&fault.region, &saved.box, sizeof(saved.box)));
        CHECK(fault.rank[0] == (int)k && fault.rank[1] == 500);
        bm_partition_release(&p);
        /* One doubled and another missing: the sum is right. */
        blocks[k].box = blocks[(k + 1) % n].box;
        CHECK_EQ(check_verdict(&t, blocks, n), BOUMA_ECOVER);
        blocks[k] = saved;
    }
}

static void no_blocks_at_all_leave_all_missing(void)
{
    int64_t shape[3] = {5, 6, 7}, edge[3] = {4, 4, 4};
    struct bm_cover_fault fault;
    struct bm_partition p;
    struct bm_tiling t;
    struct bm_box first = {{0, 0, 0}, {4, 4, 4}};

    REQUIRE(!bm_tiling_init(&t, 3, shape, edge));
    REQUIRE(!bm_partition_init(&p, bm_allocator_default(),
                               bm_chunking_of_tiling(&t), NULL, 0));
    CHECK_EQ(p.first[t.patches], 0);
    CHECK_EQ(bm_partition_check(&p, &fault), BOUMA_ECOVER);
    CHECK(!memcmp(&fault.region, &first, sizeof(first)));
    CHECK_EQ(fault.rank[0], -1);
    bm_partition_release(&p);
}

static void a_rank_that_overlaps_itself_is_told(void)
{
    int64_t shape[1] = {100}, edge[1] = {16};
    struct bm_block blocks[2] = {{3, {{0, 0, 0}, {1, 1, 60}}},
                                 {3, {{0, 0, 59}, {1, 1, 100}}}};
    struct bm_cover_fault fault;
    struct bm_partition p;
    struct bm_tiling t;

    REQUIRE(!bm_tiling_init(&t, 1, shape, edge));
    REQUIRE(!bm_partition_init(&p, bm_allocator_default(),
                               bm_chunking_of_tiling(&t), blocks, 2));
    CHECK_EQ(bm_partition_check(&p, &fault), BOUMA_ECOVER);
    CHECK(fault.rank[0] == 3 && fault.rank[1] == 3);
    CHECK(fault.region.lo[2] == 59 && fault.region.hi[2] == 60);
    bm_partition_release(&p);
}

/* In HZ order a block has samples of all the grid: what is told is the box that
 * nobody holds, or that two hold, and not where one block shows it. */
static void boxes_are_told_of_an_order(void)
{
    static const int64_t shape[3] = {12, 10, 14}, grid[3] = {3, 2, 2};
    struct bm_block blocks[12];
    struct bm_hz_blocks order;
    struct bm_cover_fault fault;
    struct bm_hz_ranks ranks;
    struct bm_hz hz;

    REQUIRE(!bm_hz_from_shape(&hz, shape, BM_HZ_LONGEST));
    REQUIRE(
        !bm_hz_blocks_init(&order, bm_allocator_default(), &hz, shape, 5, 4));
    REQUIRE(!bm_hz_ranks_init(&ranks, shape, NULL, grid, 0));
    for (int bad = 0; bad < 24; bad++) {
        int without = bad < 12 ? bad : -1, larger = bad - 12;
        struct bm_box expected = bm_hz_ranks_box(&ranks, bad % 12);
        struct bm_partition p;
        size_t n = 0;

        for (int r = 0; r < 12; r++)
            if (r != without)
                blocks[n++] = (struct bm_block){r, bm_hz_ranks_box(&ranks, r)};
        if (larger >= 0 && larger < 8) { /* into the next layer */
            expected.lo[0] = blocks[larger].box.hi[0];
            expected.hi[0] = ++blocks[larger].box.hi[0];
        }
        REQUIRE(!bm_partition_init(&p, bm_allocator_default(),
                                   bm_hz_blocks_chunking(&order), blocks, n));
        if (larger >= 8) {
            CHECK_EQ(bm_partition_check(&p, &fault), BOUMA_OK);
        } else {
            CHECK_EQ(bm_partition_check(&p, &fault), BOUMA_ECOVER);
            CHECK_EQ(fault.rank[0], larger < 0 ? -1 : larger);
            CHECK_EQ(fault.rank[1], larger < 0 ? -1 : larger + 4);
            for (int d = 0; d < 3; d++) {
                CHECK_EQ(fault.region.lo[d], expected.lo[d]);
                CHECK_EQ(fault.region.hi[d], expected.hi[d]);
            }
        }
        bm_partition_release(&p);
    }
    bm_hz_blocks_release(&order);
}

int main(void)
{
    random_covers_are_parted_and_found_right();
    each_single_fault_is_found();
    each_single_cell_among_many_is_found();
    no_blocks_at_all_leave_all_missing();
    a_rank_that_overlaps_itself_is_told();
    boxes_are_told_of_an_order();
    return check_result();
}
