/* Who writes which part of a plain file: every byte once, in cells that fit the
 * buffer, with the rank that has most of it, and evenly. */
#include "plan/domain.h"

#include "bouma.h"
#include "check.h"

enum { RANKS = 9, MOST = 60, FILE_BYTES = 3000 };

struct seen {
    const struct bm_domain *d;
    unsigned char *covered; /* [FILE_BYTES] */
    uint64_t bytes, moved;
};

/* A stretch leads to the very bytes of the file that its segment has. */
static int check_stretch(void *context, const struct bm_domain_stretch *s)
{
    struct seen *seen = context;
    const struct bm_segment *segment = &seen->d->segments[s->segment];
    int gatherer = seen->d->cells[s->cell].gatherer;

    for (uint64_t k = 0; k < s->bytes; k++) {
        uint64_t run,
            offset = bm_domain_offset(seen->d, gatherer, s->at + k, &run);

        CHECK_EQ(offset, segment->offset + s->from + k);
        CHECK(run > 0);
    }
    seen->bytes += s->bytes;
    if (gatherer != segment->rank)
        seen->moved += s->bytes;
    return 0;
}

static void check_cells(const struct bm_domain *d, uint64_t buffer,
                        const int *gatherer)
{
    uint64_t before = 0, load[RANKS] = {0};
    int gathers[RANKS] = {0};

    for (int r = 0; r < RANKS; r++)
        gathers[gatherer[r]] = 1;
    for (size_t c = 0; c < d->cell_count; c++) {
        const struct bm_cell *cell = &d->cells[c];

        CHECK_EQ(cell->before, before);
        CHECK(cell->bytes > 0 && cell->bytes <= buffer);
        CHECK(gathers[cell->gatherer]);
        CHECK_EQ(cell->at, load[cell->gatherer]);
        load[cell->gatherer] += cell->bytes;
        before += cell->bytes;
    }
    CHECK_EQ(before, d->bytes);
    for (int r = 0; r < RANKS; r++) {
        uint64_t at = 0;

        for (size_t i = d->first[r]; i < d->first[r + 1]; i++) {
            const struct bm_cell *cell = &d->cells[d->order[i]];

            CHECK_EQ(cell->gatherer, r);
            CHECK_EQ(cell->at, at);
            at += cell->bytes;
        }
        CHECK_EQ(at, load[r]);
    }
}

static void every_byte_has_its_place(void)
{
    uint64_t state = 77;

    for (int tries = 0; tries < 400; tries++) {
        struct bm_segment segments[MOST];
        size_t count = (size_t)check_below(&state, MOST);
        int gatherer[RANKS];
        struct bm_domain_rule rule = {1 + (uint64_t)check_below(&state, 400), 0,
                                      1.25, RANKS, gatherer};
        uint64_t bytes = 0;
        unsigned char covered[FILE_BYTES] = {0};
        int overlap = (int)check_below(&state, 2);
        struct bm_domain d;
        struct seen seen = {&d, covered, 0, 0};
        uint64_t at = 0;

        for (int r = 0; r < RANKS; r++)
            gatherer[r] = (int)check_below(&state, RANKS);
        for (size_t i = 0; i < count; i++) {
            uint64_t n = (uint64_t)check_below(&state, 40);
            uint64_t gap = check_below(&state, 3) ? 0 : 5;
            uint64_t offset =
                overlap ? (uint64_t)check_below(&state, FILE_BYTES - 40)
                        : at + gap;

            at = offset + n;
            bytes += n;
            segments[i] = (struct bm_segment){
                offset, n, (int)check_below(&state, RANKS), (uint32_t)i};
            memset(covered + offset, 1, n);
        }
        if (rule.buffer > 8 && check_below(&state, 2))
            rule.grain = 1 + (uint64_t)check_below(&state, 8);
        REQUIRE(!bm_domain_init(&d, bm_allocator_default(), segments, count,
                                &rule));
        for (size_t s = 0; s < d.segment_count; s++)
            bm_domain_walk(&d, s, check_stretch, &seen);
        CHECK_EQ(seen.bytes, bytes);
        CHECK_EQ(seen.moved, bm_domain_moved(&d));
        bytes = 0;
        for (int k = 0; k < FILE_BYTES; k++)
            bytes += covered[k];
        CHECK_EQ(d.bytes, bytes);
        check_cells(&d, rule.buffer, gatherer);
        bm_domain_release(&d);
    }
}

/* Ranks that have as much as others, side by side, keep all of it. */
static void what_is_even_does_not_move(void)
{
    struct bm_segment segments[RANKS];
    int gatherer[RANKS];
    struct bm_domain d;

    for (int r = 0; r < RANKS; r++) {
        gatherer[r] = r;
        segments[r] = (struct bm_segment){(uint64_t)r * 4096, 4096, r, 0};
    }
    REQUIRE(!bm_domain_init(
        &d, bm_allocator_default(), segments, RANKS,
        &(struct bm_domain_rule){1024, 0, 1.25, RANKS, gatherer}));
    CHECK_EQ(bm_domain_moved(&d), 0);
    CHECK_EQ(d.cell_count, RANKS * 4);
    bm_domain_release(&d);
}

/* Where the storage does not care, cells end where a rank's bytes do: hardly
 * any of them move, and the cells still fit the buffer. */
static void long_segments_stay_with_their_ranks(void)
{
    enum { VARIABLES = 9, GRAIN = 16 };
    struct bm_segment segments[RANKS * VARIABLES];
    uint64_t state = 5, at = 0, sizes[RANKS];
    int gatherer[RANKS];
    struct bm_domain_rule rule = {1024, GRAIN, 4, RANKS, gatherer};
    struct bm_domain d;
    size_t n = 0;

    for (int r = 0; r < RANKS; r++) {
        gatherer[r] = r;
        sizes[r] = 1000 + (uint64_t)check_below(&state, 2000);
    }
    for (uint32_t v = 0; v < VARIABLES; v++)
        for (int r = 0; r < RANKS; r++) {
            segments[n++] = (struct bm_segment){at, sizes[r], r, v};
            at += sizes[r];
        }
    REQUIRE(!bm_domain_init(&d, bm_allocator_default(), segments, n, &rule));
    CHECK(bm_domain_moved(&d) <= n * GRAIN / 2);
    CHECK(d.cell_count <= at / rule.buffer + 2 * n);
    check_cells(&d, rule.buffer, gatherer);
    bm_domain_release(&d);
    rule.grain = 0;
    REQUIRE(!bm_domain_init(&d, bm_allocator_default(), segments, n, &rule));
    CHECK(bm_domain_moved(&d) > at / 8);
    bm_domain_release(&d);
}

/* Those of one gatherer's ranks that lie side by side are as one. */
static void no_cell_ends_between_ranks_of_a_gatherer(void)
{
    struct bm_segment segments[RANKS];
    int gatherer[RANKS];
    struct bm_domain d;

    for (int r = 0; r < RANKS; r++) {
        gatherer[r] = r / 3 * 3;
        segments[r] = (struct bm_segment){(uint64_t)r * 200, 200, r, 0};
    }
    REQUIRE(
        !bm_domain_init(&d, bm_allocator_default(), segments, RANKS,
                        &(struct bm_domain_rule){1000, 8, 2, RANKS, gatherer}));
    CHECK_EQ(d.cell_count, 3);
    for (size_t c = 0; c < d.cell_count && c < 3; c++) {
        CHECK_EQ(d.cells[c].bytes, 600);
        CHECK_EQ(d.cells[c].gatherer, (int)c * 3);
    }
    bm_domain_release(&d);
}

/* One that has nearly all gives to the others. */
static void no_gatherer_has_much_more_than_its_share(void)
{
    struct bm_segment segments[RANKS];
    uint64_t load[RANKS] = {0}, offset = 0;
    int gatherer[RANKS];
    struct bm_domain d;

    for (int r = 0; r < RANKS; r++) {
        uint64_t bytes = r == 4 ? 900000 : 1000;

        gatherer[r] = r;
        segments[r] = (struct bm_segment){offset, bytes, r, 0};
        offset += bytes;
    }
    REQUIRE(!bm_domain_init(
        &d, bm_allocator_default(), segments, RANKS,
        &(struct bm_domain_rule){1000, 0, 1.25, RANKS, gatherer}));
    for (size_t c = 0; c < d.cell_count; c++)
        load[d.cells[c].gatherer] += d.cells[c].bytes;
    for (int r = 0; r < RANKS; r++)
        CHECK(load[r] <= d.bytes / RANKS * 5 / 4 + 1001);
    bm_domain_release(&d);
}

static void a_file_has_an_end(void)
{
    struct bm_segment wrong[] = {{UINT64_MAX - 5, 3, 0, 0},
                                 {(uint64_t)INT64_MAX - 5, 6, 0, 0}};
    int gatherer[1] = {0};

    for (int i = 0; i < 2; i++) {
        struct bm_domain d;

        CHECK_EQ(bm_domain_init(
                     &d, bm_allocator_default(), &wrong[i], 1,
                     &(struct bm_domain_rule){1000, 0, 1.25, 1, gatherer}),
                 BOUMA_EINVAL);
        bm_domain_release(&d);
    }
}

/* What could not be listed is refused before it is tried. */
static void there_are_not_too_many_cells(void)
{
    struct bm_segment huge = {0, (uint64_t)1 << 60, 0, 0};
    int gatherer[1] = {0};
    struct bm_domain d;

    CHECK_EQ(
        bm_domain_init(&d, bm_allocator_default(), &huge, 1,
                       &(struct bm_domain_rule){1 << 20, 0, 1.25, 1, gatherer}),
        BOUMA_ELIMIT);
    bm_domain_release(&d);
}

/* A plan for many ranks with nine variables each. */
static void many_ranks_are_planned(void)
{
    enum { MANY = 131072, VARIABLES = 9 };
    const bouma_allocator *a = bm_allocator_default();
    struct bm_segment *segments =
        bm_new_raw(a, (size_t)MANY * VARIABLES, sizeof(*segments));
    int *gatherer = bm_new_raw(a, MANY, sizeof(*gatherer));
    struct bm_domain d;
    size_t n = 0;

    REQUIRE(segments && gatherer);
    for (int r = 0; r < MANY; r++) {
        gatherer[r] = r / 64 * 64;
        for (uint32_t v = 0; v < VARIABLES; v++)
            segments[n++] = (struct bm_segment){
                ((uint64_t)v * MANY + (uint64_t)r) << 20, 1 << 20, r, v};
    }
    REQUIRE(!bm_domain_init(
        &d, a, segments, n,
        &(struct bm_domain_rule){4 << 20, 0, 1.25, MANY, gatherer}));
    CHECK_EQ(d.bytes, (uint64_t)n << 20);
    CHECK_EQ(d.cell_count, n / 4);
    CHECK_EQ(bm_domain_moved(&d), (d.bytes / 64) * 63);
    bm_domain_release(&d);
    bm_drop(a, segments);
    bm_drop(a, gatherer);
}

int main(void)
{
    every_byte_has_its_place();
    what_is_even_does_not_move();
    long_segments_stay_with_their_ranks();
    no_cell_ends_between_ranks_of_a_gatherer();
    no_gatherer_has_much_more_than_its_share();
    a_file_has_an_end();
    there_are_not_too_many_cells();
    many_ranks_are_planned();
    return check_result();
}
