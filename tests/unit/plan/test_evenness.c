/* How even the files of particles come out: the aggregation tree against the
 * uniform grid, and with ranks whose particles go to several files. */
#include "plan/aggregate.h"

#include "check.h"
#include "plan/particle_router.h"

/* Ranks that share the unit cube as 8 x 8 x 4 boxes, and particles in blobs
 * that have little to do with them; some are spread all over. */
#define RANKS   256
#define SAMPLES 1000000
#define EACH    10 /* particles that a sample stands for */

struct points {
    float *at[3];            /* [SAMPLES], those of a rank together */
    size_t first[RANKS + 1]; /* samples of a rank */
    struct bm_unit units[RANKS];
};

static double uniform(uint64_t *state)
{
    return (double)(check_random(state) >> 11) * 0x1p-53;
}

/* Nearly a gaussian of variance 1. */
static double bell(uint64_t *state)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return sum - 6;
}

static int rank_of(const double at[3])
{
    return (int)(at[0] * 8) * 32 + (int)(at[1] * 8) * 4 + (int)(at[2] * 4);
}

static void points_init(struct points *c, uint64_t seed)
{
    double centre[12][3], sigma[12], at[3];
    uint64_t state = seed;
    size_t next[RANKS];
    int blobs = 4 + (int)check_below(&state, 9);

    for (int b = 0; b < blobs; b++) {
        for (int d = 0; d < 3; d++)
            centre[b][d] = 0.1 + 0.8 * uniform(&state);
        sigma[b] = 0.02 + 0.1 * uniform(&state);
    }
    memset(c, 0, sizeof(*c));
    for (int d = 0; d < 3; d++) {
        c->at[d] = malloc(SAMPLES * sizeof(float));
        REQUIRE(c->at[d]);
    }
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        uint64_t draw = seed + 1000;

        for (size_t i = 0; i < SAMPLES; i++) {
            int b = (int)check_below(&draw, blobs), inside = 0;

            while (!inside) {
                inside = 1;
                for (int d = 0; d < 3; d++) {
                    at[d] = i % 20 == 0 ? uniform(&draw)
                                        : centre[b][d] + sigma[b] * bell(&draw);
                    at[d] = (float)at[d];
                    inside &= at[d] >= 0 && at[d] < 1;
                }
            }
            if (!pass) {
                c->first[rank_of(at) + 1]++;
            } else {
                size_t k = next[rank_of(at)]++;

                for (int d = 0; d < 3; d++)
                    c->at[d][k] = (float)at[d];
            }
        }
        for (int r = 0; !pass && r < RANKS; r++) {
            c->first[r + 1] += c->first[r];
            next[r] = c->first[r];
        }
    }
    for (int r = 0; r < RANKS; r++) {
        struct bm_unit *u = &c->units[r];
        int cell[3] = {r / 32, r / 4 % 8, r % 4};
        static const double side[3] = {0.125, 0.125, 0.25};

        for (int d = 0; d < 3; d++) {
            u->low[d] = cell[d] * side[d];
            u->high[d] = (cell[d] + 1) * side[d];
        }
        u->count = EACH * (c->first[r + 1] - c->first[r]);
        u->rank = r;
    }
}

static void points_release(struct points *c)
{
    for (int d = 0; d < 3; d++)
        free(c->at[d]);
}

struct evenness {
    int64_t files;
    double largest, mean; /* particles */
};

static struct evenness evenness_of(bouma_assign scheme, uint64_t target,
                                   const struct bm_unit *units, size_t count)
{
    struct bm_aggregation_spec spec = {.scheme = scheme,
                                       .ndims = 3,
                                       .bytes = 1,
                                       .target = target,
                                       .ranks = RANKS};
    struct evenness e = {0};
    struct bm_aggregation g;
    double sum = 0;

    REQUIRE(!bm_aggregate(&g, bm_allocator_default(), &spec, units, count));
    e.files = g.files;
    for (int64_t f = 0; f < g.files; f++) {
        sum += (double)g.counts[f];
        if ((double)g.counts[f] > e.largest)
            e.largest = (double)g.counts[f];
    }
    e.mean = sum / (double)g.files;
    bm_aggregation_release(&g);
    return e;
}

static struct bm_positions positions_of(const struct points *c, int r)
{
    size_t first = c->first[r];

    return (struct bm_positions){
        3,
        BOUMA_TYPE_F32,
        {c->at[0] + first, c->at[1] + first, c->at[2] + first},
        {sizeof(float), sizeof(float), sizeof(float)},
        c->first[r + 1] - first};
}

/* With ranks that have more than a part of a file standing as samples, each
 * particle falling to its file. */
static struct evenness evenness_of_split(const struct points *c,
                                         uint64_t target)
{
    struct bm_aggregation_spec spec = {.scheme = BOUMA_ASSIGN_SPLIT,
                                       .ndims = 3,
                                       .bytes = 1,
                                       .target = target,
                                       .ranks = RANKS};
    struct bm_sample samples[RANKS];
    size_t first[RANKS], count = 0;
    struct bm_unit *units = NULL;
    struct bm_aggregation g;
    struct evenness e = {0};
    uint64_t *exact, sum = 0;

    memset(samples, 0, sizeof(samples));
    for (int r = 0; r < RANKS; r++) {
        struct bm_positions p = positions_of(c, r);
        uint64_t points = c->units[r].count * 4096 / target;

        first[r] = count;
        if (c->units[r].count > target / 64)
            REQUIRE(!bm_sample_make(&samples[r], bm_allocator_default(), &p,
                                    (size_t)points));
        units = realloc(units, (count + samples[r].count + 1) * sizeof(*units));
        REQUIRE(units);
        if (!samples[r].count)
            units[count++] = c->units[r];
        for (size_t i = 0; i < samples[r].count; i++) {
            units[count] = samples[r].units[i];
            units[count].count *= EACH;
            units[count++].rank = r;
        }
    }
    REQUIRE(!bm_aggregate(&g, bm_allocator_default(), &spec, units, count));
    exact = calloc((size_t)g.files, sizeof(*exact));
    for (int r = 0; r < RANKS; r++) {
        struct bm_positions p = positions_of(c, r);
        struct bm_particle_router s;

        if (!samples[r].count && c->units[r].count)
            exact[g.file[first[r]]] += c->units[r].count;
        if (!samples[r].count)
            continue;
        REQUIRE(!bm_particle_router_make(&s, bm_allocator_default(), &p, &g,
                                         &samples[r], g.file + first[r]));
        for (size_t i = 0; i < s.count; i++)
            exact[s.files[i]] += EACH * (s.first[i + 1] - s.first[i]);
        bm_particle_router_release(&s);
        bm_sample_release(&samples[r]);
    }
    e.files = g.files;
    for (int64_t f = 0; f < g.files; f++) {
        CHECK(exact[f] > 0);
        sum += exact[f];
        e.largest = (double)exact[f] > e.largest ? (double)exact[f] : e.largest;
    }
    CHECK_EQ(sum, (uint64_t)SAMPLES * EACH);
    e.mean = (double)sum / (double)g.files;
    bm_aggregation_release(&g);
    free(exact);
    free(units);
    return e;
}

/* The tree cannot divide a rank: where one has more than the target, it is the
 * largest file, and no scheme that keeps ranks whole does better. Where none
 * has, the tree's largest file is far below the grid's. */
static void files_are_even(void)
{
    int compared = 0;

    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct points c;
        uint64_t largest = 0;

        points_init(&c, seed);
        for (int r = 0; r < RANKS; r++)
            largest = c.units[r].count > largest ? c.units[r].count : largest;
        for (uint64_t files = 8; files <= 128; files *= 2) {
            uint64_t target = (uint64_t)SAMPLES * EACH / files;
            struct evenness tree =
                evenness_of(BOUMA_ASSIGN_KDTREE, target, c.units, RANKS);
            struct evenness grid =
                evenness_of(BOUMA_ASSIGN_AUG, target, c.units, RANKS);
            struct evenness even = evenness_of_split(&c, target);

            CHECK(tree.largest <= 1.5 * (double)target ||
                  tree.largest <= (double)largest);
            CHECK(tree.largest < grid.largest);
            if (largest <= target) {
                CHECK(tree.largest <= 0.6 * grid.largest);
                compared++;
            }
            CHECK_EQ(even.files, files);
            CHECK(even.largest <= 1.1 * even.mean);
        }
        points_release(&c);
    }
    CHECK(compared >= 3);
}

int main(void)
{
    files_are_even();
    return check_result();
}
