/* Particles of a rank that go to several files: samples stand for all, and each
 * particle falls to a file on its side of every plane. */
#include "plan/particle_router.h"

#include <math.h>

#include "check.h"

#define COUNT 5000

static double at[3][COUNT];

static double uniform(uint64_t *state)
{
    return (double)(check_random(state) >> 11) * 0x1p-53;
}

static struct bm_positions positions(int ndims)
{
    struct bm_positions p = {
        .ndims = ndims, .type = BOUMA_TYPE_F64, .count = COUNT};

    for (int d = 0; d < ndims; d++) {
        p.axis[d] = at[d];
        p.stride[d] = sizeof(double);
    }
    return p;
}

static void fill(int shape, uint64_t *state)
{
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < COUNT; i++)
            at[d][i] = shape == 0   ? uniform(state)
                       : shape == 1 ? floor(4 * uniform(state))
                       : shape == 2 ? 0.5
                       : shape == 3 ? (i % 3 ? (double)NAN : uniform(state))
                                    : pow(uniform(state), 9);
}

static void samples_stand_for_all(void)
{
    uint64_t state = 1;

    for (int shape = 0; shape < 5; shape++)
        for (size_t points = 0; points <= 8192; points = points * 3 + 1) {
            struct bm_positions p;
            struct bm_sample s;
            uint64_t sum = 0;

            fill(shape, &state);
            p = positions(3);
            CHECK_EQ(bm_sample_make(&s, bm_allocator_default(), &p, points),
                     BOUMA_OK);
            CHECK(s.count <= points && s.count <= COUNT);
            CHECK(shape == 3 || s.count == (points < COUNT ? points : COUNT));
            for (size_t i = 0; i < s.count; i++) {
                sum += s.units[i].count;
                CHECK(s.units[i].count > 0);
                CHECK(!i || s.which[i] > s.which[i - 1]);
                for (int d = 0; d < 3; d++)
                    CHECK(s.units[i].low[d] == at[d][s.which[i]] &&
                          s.units[i].high[d] == at[d][s.which[i]]);
            }
            CHECK_EQ(sum, s.count ? COUNT : 0);
            bm_sample_release(&s);
        }
}

/* Whether particle i may be in the leaf of 'file', by the planes above it. */
static int may_be_in(const struct bm_aggregation *g, uint32_t file, size_t i)
{
    size_t n = 0;

    while (g->nodes[n].right) {
        const struct bm_aggregation_node *node = &g->nodes[n];
        size_t first = node->right; /* of the files on the right */
        int left;

        while (g->nodes[first].right)
            first++;
        left = file < g->nodes[first].file;
        if (node->axis >= 0 && left == (at[node->axis][i] > node->split))
            return 0;
        n = left ? n + 1 : node->right;
    }
    return g->nodes[n].file == file;
}

static void particles_fall_to_their_side(void)
{
    uint64_t state = 7;

    for (int shape = 0; shape < 5; shape++)
        for (int64_t files = 1; files <= 40; files = files * 2 + 1) {
            struct bm_aggregation_spec spec = {.scheme = BOUMA_ASSIGN_SPLIT,
                                               .ndims = 3,
                                               .bytes = 8,
                                               .files = files,
                                               .ranks = 1};
            struct bm_aggregation g;
            struct bm_positions p;
            struct bm_sample s;
            struct bm_particle_router router;
            uint8_t seen[COUNT] = {0};

            fill(shape, &state);
            p = positions(3);
            REQUIRE(!bm_sample_make(&s, bm_allocator_default(), &p, 3000));
            REQUIRE(!bm_aggregate(&g, bm_allocator_default(), &spec, s.units,
                                  s.count));
            CHECK_EQ(bm_particle_router_make(&router, bm_allocator_default(),
                                             &p, &g, &s, g.file),
                     BOUMA_OK);
            CHECK_EQ(router.count, g.files); /* none is empty */
            CHECK_EQ(router.first[router.count], COUNT);
            for (size_t k = 0; k < router.count; k++) {
                CHECK(bm_particle_router_find(&router, router.files[k]) ==
                      (int64_t)k);
                for (size_t j = router.first[k]; j < router.first[k + 1]; j++) {
                    uint32_t i = router.index[j];

                    CHECK(i < COUNT && !seen[i]);
                    seen[i] = 1;
                    CHECK(j == router.first[k] || i > router.index[j - 1]);
                    CHECK(may_be_in(&g, router.files[k], i));
                }
                /* Nearly alike, but where many share a position, or strays all
                 * go one way. */
                CHECK(shape == 1 || shape == 3 ||
                      (double)(router.first[k + 1] - router.first[k]) <
                          1.5 * COUNT / (double)g.files + 30);
            }
            CHECK_EQ(bm_particle_router_find(&router, (uint32_t)g.files), -1);
            bm_particle_router_release(&router);
            bm_sample_release(&s);
            bm_aggregation_release(&g);
        }
}

static void bounds_are_those_of_finite_positions(void)
{
    uint64_t state = 3;
    struct bm_positions p;
    double low[3], high[3];

    fill(3, &state);
    at[0][0] = -5;
    at[1][0] = INFINITY; /* so the -5 does not count */
    at[2][0] = 0;
    p = positions(3);
    CHECK(bm_positions_bounds(&p, low, high) > COUNT / 2);
    for (int d = 0; d < 3; d++)
        CHECK(low[d] >= 0 && high[d] <= 1 && low[d] < 0.01 && high[d] > 0.99);
    p.count = 1;
    CHECK_EQ(bm_positions_bounds(&p, low, high), 1);
    CHECK(low[0] > high[0]);
}

int main(void)
{
    samples_stand_for_all();
    particles_fall_to_their_side();
    bounds_are_those_of_finite_positions();
    return check_result();
}
