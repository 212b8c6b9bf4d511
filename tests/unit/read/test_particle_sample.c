/* Samples of particles: each particle with the same chance, each pair of them
 * too, and different seeds independent. Seeds are fixed, so that chance gives
 * the same on every run; bounds are five standard deviations. */
#include "must.h"
#include "particle_block.h"

struct trial {
    bouma_io *io;
    bouma_dataset *ds;
    bouma_step *step;
    struct particle_block s;
    struct particle_block_set set;
    bouma_particles_query id; /* only the id is read */
};

/* 'count' particles in 'files' files; and the step of number 'step'. */
static void begin(struct trial *t, enum shape shape, uint64_t count, int files,
                  uint64_t step)
{
    bouma_options opts = {.size = sizeof(opts)};

    memset(t, 0, sizeof(*t));
    t->io = bouma_io_memory_new();
    opts.io = t->io;
    opts.durability = BOUMA_DURABILITY_FAST;
    opts.files = files;
    particle_block_make(&t->s, shape, count, 3, BOUMA_TYPE_F32, 0);
    MUST(t->ds, bouma_dataset_create(&t->ds, "a.bouma", &opts));
    MUST(t->ds, particle_block_define(&t->set, t->ds, "dust", 3, BOUMA_TYPE_F32,
                                      BOUMA_CODEC_RAW, 0));
    MUST(t->ds, bouma_step_begin(t->ds, step, 0));
    MUST(t->ds, particle_block_put(&t->set, &t->s));
    MUST(t->ds, bouma_step_end(t->ds));
    MUST(t->ds, bouma_dataset_close(t->ds));
    bouma_dataset_free(t->ds);
    MUST(t->ds, bouma_dataset_open(&t->ds, "a.bouma", &opts));
    MUST(t->ds, bouma_step_open(&t->step, t->ds, step));
    particle_block_find(&t->set, t->step, "dust");
    t->id = (bouma_particles_query){.size = sizeof(t->id)};
    t->id.variables = &t->set.variables[ID];
    t->id.variable_count = 1;
}

static void end(struct trial *t)
{
    bouma_step_free(t->step);
    bouma_dataset_free(t->ds);
    particle_block_free(&t->s);
    bouma_io_memory_free(t->io);
}

/* The ids of a sample, into id[n]: none twice, none that is not there. */
static uint64_t take(struct trial *t, const bouma_particles_query *q,
                     uint64_t n, uint64_t seed, uint64_t *id)
{
    uint8_t *there = calloc((size_t)t->s.count + 1, 1);
    bouma_particle_data *d = NULL;
    uint64_t count;
    int sound = 1;

    MUST(t->ds, bouma_particles_sample(&d, t->set.particles, q, n, seed));
    count = d->count;
    REQUIRE(count <= n);
    for (uint64_t i = 0; i < count; i++) {
        id[i] = ((const uint64_t *)d->columns[0])[i];
        sound &= id[i] < t->s.count && !there[id[i]];
        there[id[i] % (t->s.count + 1)] = 1;
    }
    CHECK(sound);
    bouma_particle_data_free(d);
    free(there);
    return count;
}

/* Whether a sum of squares, each divided by its variance, is what so many
 * degrees of freedom give. */
static int is_chi_square(double sum, double freedom)
{
    double off = (sum - freedom) / sqrt(2 * freedom);

    if (fabs(off) >= 5)
        printf("chi-square %g, %g degrees of freedom\n", sum, freedom);
    return fabs(off) < 5;
}

/* Of two samples of n out of 'all', how many are in both: by a hypergeometric
 * distribution. */
static double overlap_variance(double all, double n)
{
    return n * (n / all) * (1 - n / all) * (all - n) / (all - 1);
}

static uint64_t common(const uint64_t *a, const uint64_t *b, uint64_t n,
                       uint64_t all)
{
    uint8_t *in = calloc((size_t)all, 1);
    uint64_t both = 0;

    for (uint64_t i = 0; i < n; i++)
        in[a[i]] = 1;
    for (uint64_t i = 0; i < n; i++)
        both += in[b[i]];
    free(in);
    return both;
}

enum { ALL = 20000, N = 500, SEEDS = 160 };

/* Two files, each of two chunks. */
static void every_particle_is_as_likely_and_seeds_are_independent(void)
{
    static uint64_t id[SEEDS][N];
    double each = (double)N * SEEDS / ALL, sum = 0, both = 0, squares = 0;
    double mean = (double)N * N / ALL, variance = overlap_variance(ALL, N);
    uint32_t *drawn = calloc(ALL, sizeof(*drawn));
    uint64_t never = 0;
    struct trial t;

    begin(&t, CLUSTERED, ALL, 2, 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        CHECK_EQ(take(&t, &t.id, N, seed + 1, id[seed]), N);
        for (int i = 0; i < N; i++)
            drawn[id[seed][i]]++;
    }
    for (int i = 0; i < ALL; i++) {
        sum += (drawn[i] - each) * (drawn[i] - each);
        never += !drawn[i];
    }
    CHECK(is_chi_square(sum / (each * (1 - (double)N / ALL)), ALL - 1));
    /* Nobody drawn in all: (1 - n / N)^seeds = 0.0174 of them. */
    CHECK(never > 250 && never < 450);
    for (int i = 0; i + 1 < SEEDS; i++) {
        double off = (double)common(id[i], id[i + 1], N, ALL) - mean;

        CHECK(fabs(off) < 6 * sqrt(variance));
        both += off;
        squares += off * off;
    }
    CHECK(fabs(both) < 5 * sqrt(variance * (SEEDS - 1)));
    CHECK(is_chi_square(squares / variance, SEEDS - 1));
    free(drawn);
    end(&t);
}

/* Seeds that differ in one bit, or in all, and the same one in another step. */
static void seeds_that_look_alike_are_independent(void)
{
    static uint64_t a[N], b[N];
    double mean = (double)N * N / ALL, off = 0;
    double bound = 6 * sqrt(overlap_variance(ALL, N));
    struct trial t, other;

    begin(&t, UNIFORM, ALL, 3, 0);
    begin(&other, UNIFORM, ALL, 3, 1);
    take(&t, &t.id, N, 1, a);
    for (int bit = 1; bit < 64; bit++) {
        take(&t, &t.id, N, 1 ^ (uint64_t)1 << bit, b);
        off = (double)common(a, b, N, ALL) - mean;
        CHECK(fabs(off) < bound);
    }
    take(&t, &t.id, N, UINT64_MAX, b);
    CHECK(fabs((double)common(a, b, N, ALL) - mean) < bound);
    take(&t, &t.id, N, 0, b);
    CHECK(fabs((double)common(a, b, N, ALL) - mean) < bound);
    take(&other, &other.id, N, 1, b);
    CHECK(fabs((double)common(a, b, N, ALL) - mean) < bound);
    end(&t);
    end(&other);
}

/* Each pair is drawn together as often as any other one, within a file and
 * across files. */
static void every_pair_is_as_likely(void)
{
    enum { FEW = 60, SOME = 20, TIMES = 6000 };
    static uint32_t together[FEW][FEW];
    double p = (double)SOME * (SOME - 1) / (FEW * (FEW - 1));
    double sum = 0, within = 0, pairs = FEW * (FEW - 1) / 2.0;
    uint64_t id[SOME];
    struct trial t;

    begin(&t, UNIFORM, FEW, 4, 7);
    for (uint64_t seed = 1; seed <= TIMES; seed++) {
        take(&t, &t.id, SOME, seed, id);
        for (int i = 0; i < SOME; i++)
            for (int k = 0; k < SOME; k++)
                together[id[i]][id[k]]++;
    }
    for (int i = 0; i < FEW; i++)
        for (int k = 0; k < i; k++) {
            double off = together[i][k] - TIMES * p;

            sum += off * off / (TIMES * p * (1 - p));
            within = fmax(within, fabs(off) / sqrt(TIMES * p * (1 - p)));
        }
    /* Numbers of pairs that share a particle hang together, so the sum varies
     * more than that of as many independent ones; still by a few hundredths. */
    CHECK(fabs(sum / pairs - 1) < 0.25);
    CHECK(within < 6);
    end(&t);
}

static void every_subset_of_a_small_set_is_as_likely(void)
{
    enum { FEW = 6, TIMES = 8000 };
    struct trial t;

    begin(&t, LATTICE, FEW, 2, 0);
    for (int n = 1; n < FEW; n++) {
        uint32_t times[1 << FEW] = {0};
        uint64_t id[FEW];
        double subsets = 0, each, sum = 0;

        for (uint64_t seed = 1; seed <= TIMES; seed++) {
            unsigned set = 0;

            CHECK_EQ(take(&t, &t.id, (uint64_t)n, seed, id), n);
            for (int i = 0; i < n; i++)
                set |= 1u << id[i];
            times[set]++;
        }
        for (unsigned set = 0; set < 1u << FEW; set++)
            subsets += __builtin_popcount(set) == n;
        each = TIMES / subsets;
        for (unsigned set = 0; set < 1u << FEW; set++)
            if (__builtin_popcount(set) == n)
                sum += (times[set] - each) * (times[set] - each) / each;
        CHECK(is_chi_square(sum, subsets - 1));
    }
    end(&t);
}

/* Of those that match, in a box and with a condition: rare ones are drawn as
 * well, and a sample of more than there are has them all. */
static void samples_of_a_query_are_of_what_matches(void)
{
    enum { TIMES = 400, SOME = 20 };
    static uint64_t id[ALL];
    static uint32_t drawn[ALL];
    bouma_condition rare;
    bouma_particles_query q;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    double each, sum = 0;
    uint64_t matching = 0, none = 0;
    struct trial t;

    begin(&t, UNIFORM, ALL, 3, 2);
    q = t.id;
    rare = condition_of(t.set.variables[KIND], 0, 3, 3);
    q.conditions = &rare;
    q.condition_count = 1;
    q.box = &box;
    for (int d = 0; d < 3; d++)
        box.high[d] = 0.5 * (d + 1);
    matching = take(&t, &q, ALL, 9, id);
    CHECK(matching > 100 && matching < 200); /* 20000 / 17 / 8 = 147 */
    for (uint64_t i = 0; i < matching; i++)
        CHECK_EQ(t.s.kind[id[i]], 3);
    each = (double)TIMES * SOME / (double)matching;
    for (uint64_t seed = 1; seed <= TIMES; seed++) {
        CHECK_EQ(take(&t, &q, SOME, seed, id), SOME);
        for (int i = 0; i < SOME; i++)
            drawn[id[i]]++;
    }
    take(&t, &q, ALL, 9, id);
    for (uint64_t i = 0; i < matching; i++) {
        double off = drawn[id[i]] - each;

        sum += off * off / (each * (1 - SOME / (double)matching));
        none += drawn[id[i]];
    }
    CHECK_EQ(none, (uint64_t)TIMES * SOME); /* and nobody else */
    CHECK(is_chi_square(sum, (double)matching - 1));
    end(&t);
}

/* What a sample is hangs on keys, and not on how it was looked for: a smaller
 * one is the beginning of a larger one. */
static void a_smaller_sample_is_the_beginning_of_a_larger_one(void)
{
    static const uint64_t sizes[] = {0, 1, 2, 10, 777, 19999, 20000};
    static uint64_t whole[ALL], part[ALL];
    struct trial t;

    begin(&t, CLUSTERED, ALL, 2, 0);
    CHECK_EQ(take(&t, &t.id, ALL, 4, whole), ALL);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        CHECK_EQ(take(&t, &t.id, sizes[i], 4, part), sizes[i]);
        CHECK(!memcmp(part, whole, (size_t)sizes[i] * sizeof(*part)));
    }
    end(&t);
}

static uint64_t bytes_of(struct trial *t, uint64_t n, uint64_t seed)
{
    static uint64_t id[ALL];
    bouma_dataset_info before = {.size = sizeof(before)},
                       after = {.size = sizeof(after)};

    bouma_dataset_info_get(&before, t->ds);
    take(t, &t->id, n, seed, id);
    bouma_dataset_info_get(&after, t->ds);
    return after.bytes_read - before.bytes_read;
}

/* One particle costs a level of a chunk, about; the even sample, coarse levels.
 */
static void small_samples_read_little(void)
{
    struct trial t;
    uint64_t all;

    begin(&t, UNIFORM, ALL, 2, 0);
    bytes_of(&t, 1, 1); /* heads are read once */
    all = bytes_of(&t, ALL, 1);
    CHECK(all >= ALL * sizeof(uint64_t));
    for (uint64_t seed = 1; seed < 20; seed++)
        CHECK(bytes_of(&t, 1, seed) < all / 3);
    CHECK(bytes_of(&t, 100, 0) < all / 50);
    end(&t);
}

int main(void)
{
    every_particle_is_as_likely_and_seeds_are_independent();
    seeds_that_look_alike_are_independent();
    every_pair_is_as_likely();
    every_subset_of_a_small_set_is_as_likely();
    samples_of_a_query_are_of_what_matches();
    a_smaller_sample_is_the_beginning_of_a_larger_one();
    small_samples_read_little();
    return check_result();
}
