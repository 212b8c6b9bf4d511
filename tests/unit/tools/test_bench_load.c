/* Loads of the benchmark: totals, distributions, and sizes of other grids of
 * ranks. */
#include <math.h>

#include "bench/load.h"
#include "check.h"
#include "rank_grid.h"
#include "size_grid.h"

static struct load_request request_of(const char *name, int64_t x, int64_t y,
                                      int64_t z)
{
    struct load_request r = {.load = load_find(name), .grid = {x, y, z}};

    REQUIRE(r.load != NULL);
    r.bytes = r.load->bytes;
    r.variables = r.load->variables;
    r.time = 1;
    return r;
}

static uint64_t of_rank(const struct load_request *r, int64_t rank)
{
    uint64_t bytes = 0;

    for (int v = 0; v < r->variables; v++)
        bytes += load_bytes(r, rank, v);
    return bytes;
}

static double total(const struct load_request *r)
{
    double bytes = 0;

    for (int64_t i = 0; i < rank_grid_ranks(r->grid); i++)
        bytes += (double)of_rank(r, i);
    return bytes;
}

/* Half a byte, or half a particle, is rounded for each rank. */
static void check_mean(const struct load_request *r, double mean, double each)
{
    double ranks = (double)rank_grid_ranks(r->grid);

    CHECK(fabs(total(r) - mean * ranks) <= each * ranks);
}

static void all_ranks_of_a_uniform_load_are_alike(void)
{
    struct load_request r = request_of("uniform", 4, 3, 2);

    r.bytes = 1000003;
    r.variables = 7;
    for (int64_t i = 0; i < 24; i++)
        CHECK_EQ(of_rank(&r, i), 1000003);
    CHECK_EQ(load_bytes(&r, 5, 0) - load_bytes(&r, 5, 6), 1);
}

static void particles_of_hacc_have_38_bytes(void)
{
    static const int width[] = {4, 4, 4, 4, 4, 4, 4, 8, 2};
    struct load_request r = request_of("hacc-random", 8, 8, 8);

    CHECK_EQ(r.variables, 9);
    for (int64_t i = 0; i < 512; i++) {
        uint64_t particles = of_rank(&r, i) / 38;

        CHECK_EQ(of_rank(&r, i) % 38, 0);
        CHECK(particles <= 25000);
        for (int v = 0; v < 9; v++)
            CHECK_EQ(load_bytes(&r, i, v), particles * (uint64_t)width[v]);
    }
    r = request_of("hacc", 3, 1, 1);
    CHECK_EQ(of_rank(&r, 2), 25000 * 38);
}

/* Mean and deviation in parts of the most. */
static void moments(const struct load_request *r, double *mean,
                    double *deviation)
{
    int64_t ranks = rank_grid_ranks(r->grid);
    double squares = 0;

    *mean = total(r) / (double)ranks / (double)r->bytes;
    for (int64_t i = 0; i < ranks; i++) {
        double off = (double)of_rank(r, i) / (double)r->bytes - *mean;

        squares += off * off;
    }
    *deviation = sqrt(squares / (double)ranks);
}

/* Of 20,000 ranks the moments are within five standard errors. */
static void random_sizes_have_their_distribution(void)
{
    struct load_request even = request_of("random", 20000, 1, 1);
    struct load_request bell = request_of("normal", 20000, 1, 1);
    double mean, deviation;

    moments(&even, &mean, &deviation);
    CHECK(fabs(mean - 0.5) < 0.0103);
    CHECK(fabs(deviation - sqrt(1.0 / 12)) < 0.0065);
    moments(&bell, &mean, &deviation);
    CHECK(fabs(mean - 0.5) < 0.0045);
    CHECK(fabs(deviation - 0.125) < 0.0032);
    for (int64_t i = 0; i < 20000; i++)
        CHECK(of_rank(&even, i) <= even.bytes &&
              of_rank(&bell, i) <= bell.bytes);
}

static void another_seed_gives_other_sizes(void)
{
    struct load_request a = request_of("random", 64, 1, 1), b = a;
    int same = 0;

    b.seed = 1;
    for (int64_t i = 0; i < 64; i++) {
        CHECK_EQ(of_rank(&a, i), of_rank(&a, i));
        same += of_rank(&a, i) == of_rank(&b, i);
    }
    CHECK(same < 4);
}

/* Weak scaling: a rank has the same on average, whatever their number. */
static void loads_with_a_shape_grow_with_the_ranks(void)
{
    static const int64_t grids[][3] = {
        {1, 1, 1}, {3, 1, 1}, {2, 2, 2}, {16, 8, 8}, {5, 7, 3}};

    for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
        const int64_t *g = grids[i];
        struct load_request s3d = request_of("s3d", g[0], g[1], g[2]);
        struct load_request boiler = request_of("boiler", g[0], g[1], g[2]);
        struct load_request dam = request_of("dam", g[0], g[1], g[2]);

        check_mean(&s3d, 9961472, 16);
        check_mean(&boiler, 27018 * 68, 68);
        check_mean(&dam, 1302 * 44, 44);
        boiler.time = 0;
        check_mean(&boiler, 27018 * 68 * 4.6 / 41.5, 68);
        dam.time = 0.3;
        check_mean(&dam, 1302 * 44, 44);
    }
}

static void ranks_of_a_flame_differ(void)
{
    struct load_request r = request_of("s3d", 8, 8, 8);
    uint64_t least = UINT64_MAX, most = 0;

    for (int64_t i = 0; i < 512; i++) {
        uint64_t bytes = of_rank(&r, i);

        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    CHECK(most > 2 * r.bytes && most < 8 * r.bytes);
    CHECK(least < r.bytes / 2 && least > r.bytes / 8);
}

static void a_dam_holds_the_water_in_a_quarter(void)
{
    struct load_request r = request_of("dam", 8, 2, 1);

    r.time = 0;
    for (int64_t i = 0; i < 16; i++)
        CHECK_EQ(of_rank(&r, i) / 44, i % 8 < 2 ? 4 * 1302 : 0);
    r.time = 1;
    for (int64_t i = 0; i < 7; i++)
        CHECK(of_rank(&r, i) > of_rank(&r, i + 1));
    CHECK(of_rank(&r, 7) > 0);
}

static void a_size_grid_is_exact_on_its_own_ranks(void)
{
    uint64_t a[] = {10, 20, 30, 40, 50, 60}, b[] = {0, 1, 0, 1, 0, 7};
    struct size_grid_variable variables[] = {{"a", a}, {"b", b}};
    struct size_grid grid = {{3, 2, 1}, variables, 2};
    struct load_request r = request_of("sizes", 3, 2, 1);

    r.sizes = &grid;
    r.variables = 2;
    for (int64_t i = 0; i < 6; i++) {
        CHECK_EQ(load_bytes(&r, i, 0), a[i]);
        CHECK_EQ(load_bytes(&r, i, 1), b[i]);
    }
    r.grid[0] = 1; /* the middle one of each row */
    CHECK_EQ(load_bytes(&r, 0, 0), 20);
    CHECK_EQ(load_bytes(&r, 1, 0), 50);
}

static void every_load_is_found_by_its_name(void)
{
    for (const struct load *load = loads; load->name; load++)
        CHECK(load_find(load->name) == load);
    CHECK(load_find("none") == NULL);
}

int main(void)
{
    all_ranks_of_a_uniform_load_are_alike();
    particles_of_hacc_have_38_bytes();
    random_sizes_have_their_distribution();
    another_seed_gives_other_sizes();
    loads_with_a_shape_grow_with_the_ranks();
    ranks_of_a_flame_differ();
    a_dam_holds_the_water_in_a_quarter();
    a_size_grid_is_exact_on_its_own_ranks();
    every_load_is_found_by_its_name();
    return check_result();
}
