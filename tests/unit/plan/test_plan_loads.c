/* Plans of particles, and of ranks that hold different loads. */
#include "bouma.h"
#include "check.h"

static uint64_t by_rank(void *user, int rank, const int64_t *at,
                        const int64_t *blocks)
{
    const uint64_t *loads = user;

    CHECK(at[0] >= 0 && at[0] < blocks[0]);
    return loads[rank];
}

static bouma_plan *make(const bouma_plan_spec *spec, const bouma_options *opts,
                        bouma_plan_report *report)
{
    bouma_plan *plan = NULL;
    char why[300] = "";

    if (bouma_plan_make(&plan, spec, opts, why, sizeof(why)))
        printf("%s\n", why);
    REQUIRE(plan);
    *report = (bouma_plan_report){.size = sizeof(*report)};
    REQUIRE(!bouma_plan_report_get(report, plan));
    return plan;
}

static bouma_plan_spec particles(int ranks, uint64_t count)
{
    return (bouma_plan_spec){.size = sizeof(bouma_plan_spec),
                             .ranks = ranks,
                             .ndims = 3,
                             .shape = {1 << 20, 1 << 20, 1 << 20},
                             .particles = count};
}

struct senders {
    uint64_t seen;
    int64_t count;
};

static void see(void *user, int rank)
{
    struct senders *s = user;

    s->seen |= (uint64_t)1 << rank;
    s->count++;
}

/* All particles are in files; whoever sends is told. */
static void every_scheme_puts_all_particles_into_files(void)
{
    uint64_t loads[60];

    for (int r = 0; r < 60; r++)
        loads[r] = r == 7 ? 0 : 1000 + (uint64_t)(r * r * r);
    for (int s = BOUMA_ASSIGN_OPTIMAL; s <= BOUMA_ASSIGN_SPLIT; s++) {
        bouma_options opts = {
            .size = sizeof(opts), .files = 6, .assign = (bouma_assign)s};
        bouma_plan_spec spec = particles(60, 3000000);
        bouma_plan_report report;
        uint64_t bytes = 0, seen = 0;
        bouma_plan *plan;

        spec.load = by_rank;
        spec.load_user = loads;
        plan = make(&spec, &opts, &report);
        CHECK_EQ(report.assign, s);
        CHECK_EQ(report.particles, 3000000);
        CHECK_EQ(report.fewest_particles, 0);
        CHECK_EQ(report.raw_bytes, 3000000 * 16);
        CHECK_EQ(report.stored_bytes, report.raw_bytes);
        CHECK_EQ(report.patches, 0);
        CHECK(report.shipped_bytes <= report.raw_bytes);
        if (s != BOUMA_ASSIGN_AUG && s != BOUMA_ASSIGN_SINGLE &&
            s != BOUMA_ASSIGN_PER_RANK)
            CHECK(report.files <= 6 && report.files >= 5);
        for (int64_t f = 0; f < report.files; f++) {
            bouma_plan_file file = {.size = sizeof(file)};
            struct senders senders = {0};

            CHECK_EQ(bouma_plan_file_get(&file, plan, f), BOUMA_OK);
            CHECK_EQ(bouma_plan_holders(plan, f, see, &senders), BOUMA_OK);
            CHECK(file.writer >= 0 && file.writer < 60);
            CHECK_EQ(file.patches, senders.count);
            bytes += file.bytes;
            seen |= senders.seen;
        }
        CHECK_EQ(bytes, report.raw_bytes);
        CHECK_EQ(seen, (((uint64_t)1 << 60) - 1) & ~((uint64_t)1 << 7));
        CHECK_EQ(bouma_plan_patch_get(
                     &(bouma_plan_patch){.size = sizeof(bouma_plan_patch)},
                     plan, (int64_t[3]){0, 0, 0}),
                 BOUMA_ENOTFOUND);
        /* Ranks that have too many are cut: files of `split` are alike. */
        if (s == BOUMA_ASSIGN_SPLIT)
            CHECK(report.largest_file * 10 < report.mean_file * 12);
        bouma_plan_free(plan);
    }
}

static void equal_shares_differ_by_one(void)
{
    bouma_plan_spec spec = particles(7, 1000);
    bouma_plan_report report;
    bouma_plan *plan = make(&spec, NULL, &report);

    CHECK_EQ(report.fewest_particles, 142);
    CHECK_EQ(report.most_particles, 143);
    CHECK_EQ(report.files, 1);
    CHECK_EQ(report.assign, BOUMA_ASSIGN_SPLIT);
    bouma_plan_free(plan);
}

/* Loads that add up to the number are the numbers, up to what a file can have.
 */
static void counts_are_kept(void)
{
    uint64_t loads[4] = {UINT32_MAX, 3, 0, 5};
    bouma_plan_spec spec = particles(4, (uint64_t)UINT32_MAX + 8);
    bouma_options opts = {.size = sizeof(opts),
                          .assign = BOUMA_ASSIGN_PER_RANK};
    static const uint64_t kept[3] = {0, 3, 5};
    bouma_plan_report report;
    bouma_plan *plan;

    spec.load = by_rank;
    spec.load_user = loads;
    plan = make(&spec, &opts, &report);
    CHECK_EQ(report.most_particles, loads[0]);
    CHECK_EQ(report.files, 3);
    for (int64_t f = 1; f < 3; f++) {
        bouma_plan_file file = {.size = sizeof(file)};

        CHECK_EQ(bouma_plan_file_get(&file, plan, f), BOUMA_OK);
        CHECK_EQ(file.bytes, 16 * kept[f]);
    }
    bouma_plan_free(plan);
    loads[0]++;
    spec.particles++;
    CHECK_EQ(bouma_plan_make(&plan, &spec, &opts, NULL, 0), BOUMA_ELIMIT);
}

/* Four blocks of two patches each, and one patch between two blocks: it has its
 * share of both. */
static void chunks_have_the_bytes_of_their_ranks(void)
{
    uint64_t loads[4] = {800, 1600, 4000, 80};
    bouma_plan_spec spec = {.size = sizeof(spec),
                            .ranks = 4,
                            .ndims = 1,
                            .shape = {64},
                            .patch = {8},
                            .load = by_rank,
                            .load_user = loads};
    bouma_plan_patch patch = {.size = sizeof(patch)};
    bouma_plan_report report;
    bouma_plan *plan = make(&spec, NULL, &report);

    for (int64_t i = 0; i < 8; i++) {
        CHECK_EQ(bouma_plan_patch_get(&patch, plan, &i), BOUMA_OK);
        CHECK_EQ(patch.bytes, loads[i / 2] / 2);
        CHECK_EQ(patch.owner, i / 2);
    }
    bouma_plan_free(plan);
    spec.ranks = 2;
    spec.shape[0] = 24;
    plan = make(&spec, NULL, &report);
    CHECK_EQ(bouma_plan_patch_get(&patch, plan, (int64_t[]){1}), BOUMA_OK);
    CHECK_EQ(patch.bytes, 800); /* a third of each */
    bouma_plan_free(plan);
}

static void nonsense_is_refused(void)
{
    static uint64_t none[4] = {0}, many[4] = {UINT64_MAX, 1, 1, 1};
    bouma_plan_spec spec = particles(4, 100), bad;
    bouma_plan *plan;
    char why[200];

#define REFUSED(change, status)                                                \
    do {                                                                       \
        bad = spec;                                                            \
        change;                                                                \
        CHECK_EQ(bouma_plan_make(&plan, &bad, NULL, why, sizeof(why)),         \
                 status);                                                      \
        CHECK(!plan && why[0]);                                                \
    } while (0)
    REFUSED(bad.patch[1] = 8, BOUMA_EINVAL);
    REFUSED(bad.vary = 3, BOUMA_EINVAL);
    REFUSED(bad.layout = BOUMA_LAYOUT_HZ, BOUMA_EINVAL);
    REFUSED(bad.hz_block_bits = 3, BOUMA_EINVAL);
    REFUSED(bad.particles = (uint64_t)1 << 62, BOUMA_ELIMIT);
    spec.load = by_rank;
    spec.load_user = none;
    REFUSED((void)0, BOUMA_EINVAL);
    spec.load_user = many;
    REFUSED((void)0, BOUMA_ELIMIT);
#undef REFUSED
}

int main(void)
{
    every_scheme_puts_all_particles_into_files();
    equal_shares_differ_by_one();
    counts_are_kept();
    chunks_have_the_bytes_of_their_ranks();
    nonsense_is_refused();
    return check_result();
}
