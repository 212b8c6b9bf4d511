/* Plans for 2^20 ranks by every scheme take less than half a GiB; the seconds
 * are printed, for people. */
#include "bouma.h"
#include "check.h"

#define RANKS (1 << 20)
#define MOST  ((uint64_t)1 << 29)

static void plan(const char *what, const bouma_plan_spec *spec,
                 const bouma_options *opts)
{
    bouma_plan_report report = {.size = sizeof(report)};
    bouma_plan *made = NULL;
    char why[300] = "";

    if (bouma_plan_make(&made, spec, opts, why, sizeof(why)))
        printf("%s: %s\n", what, why);
    REQUIRE(made);
    REQUIRE(!bouma_plan_report_get(&report, made));
    printf("%-24s %7.3f s %6.1f MiB %5.0f bytes a rank\n", what, report.seconds,
           (double)report.memory_bytes / 1048576,
           (double)report.memory_bytes / RANKS);
    CHECK(report.memory_bytes < MOST);
    CHECK_EQ(report.ranks, RANKS);
    if (spec->particles)
        CHECK_EQ(report.particles, spec->particles);
    else
        CHECK(report.fewest_patches > 0);
    bouma_plan_free(made);
}

static void grids_by_every_scheme(const bouma_plan_spec *spec)
{
    for (int d = BOUMA_DISTRIBUTE_BALANCED; d <= BOUMA_DISTRIBUTE_NONE; d++) {
        bouma_options opts = {.size = sizeof(opts),
                              .distribute = (bouma_distribute)d};

        plan(bouma_distribute_name(opts.distribute), spec, &opts);
    }
    for (int a = BOUMA_ASSIGN_OPTIMAL; a <= BOUMA_ASSIGN_SINGLE; a++) {
        bouma_options opts = {.size = sizeof(opts), .assign = (bouma_assign)a};

        plan(bouma_assign_name(opts.assign), spec, &opts);
    }
    for (int p = BOUMA_PLACE_SPREAD; p <= BOUMA_PLACE_LOCAL; p++) {
        bouma_options opts = {.size = sizeof(opts),
                              .place = (bouma_place)p,
                              .files = 64,
                              .machine = "torus:64x64x64"};

        plan(bouma_place_name(opts.place), spec, &opts);
    }
}

static void patches_and_blocks(void)
{
    bouma_plan_spec spec = {.size = sizeof(spec),
                            .ranks = RANKS,
                            .ndims = 3,
                            .shape = {16384, 8192, 8192}};

    grids_by_every_scheme(&spec);
    spec.patch[0] = spec.patch[1] = spec.patch[2] = 32;
    plan("patches of 32", &spec, NULL);
    plan("patches of 32, per-rank", &spec,
         &(bouma_options){.size = sizeof(bouma_options),
                          .assign = BOUMA_ASSIGN_PER_RANK});
    memset(spec.patch, 0, sizeof(spec.patch));
    spec.layout = BOUMA_LAYOUT_HZ;
    plan("HZ order", &spec, NULL);
    spec.layout = 0;
    spec.shape[0] = 16364;
    spec.shape[1] = spec.shape[2] = 8172;
    spec.vary = 20;
    plan("shared, uneven", &spec, NULL);
}

static uint64_t uneven(void *user, int rank, const int64_t *at,
                       const int64_t *blocks)
{
    (void)user, (void)rank;
    return (uint64_t)(1 + at[0] * blocks[1] + at[1] * at[2]);
}

static void particles_by_every_scheme(void)
{
    bouma_plan_spec spec = {.size = sizeof(spec),
                            .ranks = RANKS,
                            .ndims = 3,
                            .shape = {1 << 20, 1 << 20, 1 << 20},
                            .particles = UINT32_MAX,
                            .load = uneven};

    for (int a = BOUMA_ASSIGN_OPTIMAL; a <= BOUMA_ASSIGN_SPLIT; a++) {
        bouma_options opts = {.size = sizeof(opts), .assign = (bouma_assign)a};
        char what[40];

        snprintf(what, sizeof(what), "particles, %s",
                 bouma_assign_name(opts.assign));
        plan(what, &spec, &opts);
    }
}

int main(void)
{
    patches_and_blocks();
    particles_by_every_scheme();
    return check_result();
}
