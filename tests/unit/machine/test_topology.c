/* test_topology.c -- distances of modelled networks, and their sums. */
#include <math.h>

#include "check.h"
#include "machine/topology.h"
#include "modelled.h"

static int hops(const char *spec, int ranks, int from, int to)
{
    struct bm_machine *m = machine_of(spec, ranks);
    const struct bm_network *n = bm_machine_network(m);
    int links = n->hops(n->context, from, to);

    bm_machine_free(m);
    return links;
}

static int to_target(const char *spec, int ranks, int rank)
{
    struct bm_machine *m = machine_of(spec, ranks);
    const struct bm_network *n = bm_machine_network(m);
    int links = n->hops_to_target(n->context, rank);

    bm_machine_free(m);
    return links;
}

/* ---- known distances ----------------------------------------------------- */

static void all_are_equally_far_apart_on_a_flat_machine(void)
{
    CHECK_EQ(hops("", 8, 0, 7), 1);
    CHECK_EQ(hops("flat", 8, 3, 3), 0);
    CHECK_EQ(hops("flat", 1000000, 0, 999999), 1);
    CHECK_EQ(hops("flat,per=4", 8, 0, 3), 0);
    CHECK_EQ(hops("flat,per=4", 8, 3, 4), 1);
    CHECK_EQ(to_target("flat", 8, 5), 1);
}

static void a_torus_has_no_border(void)
{
    CHECK_EQ(hops("torus:8", 8, 0, 4), 4);
    CHECK_EQ(hops("torus:8", 8, 0, 7), 1);
    CHECK_EQ(hops("torus:7", 7, 1, 5), 3);
    /* The last coordinate is that of neighbours: 0 is (0,0), 5 is (1,1). */
    CHECK_EQ(hops("torus:3x4", 12, 0, 5), 2);
    CHECK_EQ(hops("torus:3x4", 12, 0, 3), 1);
    CHECK_EQ(hops("torus:3x4", 12, 0, 8), 1);
    CHECK_EQ(hops("torus:2x2x2x2x2x2", 64, 0, 63), 6);
    CHECK_EQ(hops("torus:4,per=2", 8, 0, 1), 0);
    CHECK_EQ(hops("torus:4,per=2", 8, 1, 2), 1);
}

static void nodes_of_a_torus_share_a_gateway(void)
{
    CHECK_EQ(to_target("torus:256", 256, 0), 1);
    CHECK_EQ(to_target("torus:256", 256, 5), 6);
    CHECK_EQ(to_target("torus:256", 256, 127), 128);
    CHECK_EQ(to_target("torus:256", 256, 128), 1);
    CHECK_EQ(to_target("torus:256,io=16", 256, 127), 16);
    CHECK_EQ(to_target("torus:256,io=1", 256, 127), 1);
}

static void a_dragonfly_has_four_distances(void)
{
    /* 3 groups of 4 routers of 2 nodes. */
    CHECK_EQ(hops("dragonfly:3x4x2", 24, 5, 5), 0);
    CHECK_EQ(hops("dragonfly:3x4x2", 24, 4, 5), 2);
    CHECK_EQ(hops("dragonfly:3x4x2", 24, 0, 7), 3);
    CHECK_EQ(hops("dragonfly:3x4x2", 24, 0, 8), 5);
    CHECK_EQ(to_target("dragonfly:3x4x2", 24, 9), 4);
    CHECK_EQ(to_target("dragonfly:3x4x2,io=8", 24, 9), 3);
}

static void a_fat_tree_doubles_its_levels(void)
{
    /* 2 nodes on a switch, 3 switches below one, 4 of these below the top. */
    CHECK_EQ(hops("fattree:2x3x4", 24, 0, 1), 2);
    CHECK_EQ(hops("fattree:2x3x4", 24, 0, 2), 4);
    CHECK_EQ(hops("fattree:2x3x4", 24, 0, 5), 4);
    CHECK_EQ(hops("fattree:2x3x4", 24, 0, 6), 6);
    CHECK_EQ(to_target("fattree:2x3x4", 24, 17), 4);
    CHECK_EQ(hops("fattree:16", 16, 0, 15), 2);
}

static void ranks_that_are_too_many_share_nodes(void)
{
    CHECK_EQ(hops("torus:4", 8, 0, 1), 0);
    CHECK_EQ(hops("torus:4", 8, 0, 2), 1);
    CHECK_EQ(hops("torus:4", 9, 0, 2), 0); /* three on each */
    CHECK_EQ(hops("torus:16", 8, 0, 1), 1);
}

/* ---- any shape ----------------------------------------------------------- */

static void random_spec(char *spec, size_t bytes, uint64_t *seed)
{
    static const char *const names[] = {"torus", "fattree", "dragonfly",
                                        "flat"};
    int kind = (int)check_below(seed, 4);
    int axes = kind == 3 ? 0 : kind == 2 ? 3 : 1 + (int)check_below(seed, 6);
    size_t n = (size_t)snprintf(spec, bytes, "%s", names[kind]);

    for (int d = 0; d < axes; d++)
        n += (size_t)snprintf(spec + n, bytes - n, "%c%d", d ? 'x' : ':',
                              1 + (int)check_below(seed, axes > 3 ? 4 : 9));
    if (check_below(seed, 2))
        n += (size_t)snprintf(spec + n, bytes - n, ",io=%d",
                              1 + (int)check_below(seed, 20));
    if (kind == 3)
        snprintf(spec + n, bytes - n, ",per=%d", 1 + (int)check_below(seed, 5));
}

static void check_metric(const struct bm_network *n, int ranks, uint64_t *seed)
{
    for (int i = 0; i < 50; i++) {
        int a = (int)check_below(seed, ranks),
            b = (int)check_below(seed, ranks),
            c = (int)check_below(seed, ranks);
        int ab = n->hops(n->context, a, b), bc = n->hops(n->context, b, c);

        CHECK_EQ(n->hops(n->context, b, a), ab);
        CHECK(n->hops(n->context, a, c) <= ab + bc);
        CHECK((ab == 0) == (n->node(n->context, a) == n->node(n->context, b)));
        CHECK(ab >= 0 && n->hops_to_target(n->context, a) > 0);
    }
}

/* Sums as bm_network promises them, pair by pair. */
static void check_sums(const struct bm_network *n, const char *spec, int ranks,
                       uint64_t *seed, int whole)
{
    enum { MOST = 60 };
    size_t count = 1 + (size_t)check_below(seed, MOST);
    double weight[MOST], sums[MOST];
    int group[MOST];

    for (size_t i = 0; i < count; i++) {
        group[i] = (int)check_below(seed, ranks); /* one may come twice */
        weight[i] = whole ? (double)check_below(seed, 1000000)
                          : (double)check_below(seed, 1000000) / 999983;
    }
    REQUIRE(!n->sums(n->context, bm_allocator_default(), group,
                     whole == 2 ? NULL : weight, count, sums));
    for (size_t i = 0; i < count; i++) {
        double sum = 0;

        for (size_t k = 0; k < count; k++)
            sum += (whole == 2 ? 1 : weight[k]) *
                   n->hops(n->context, group[k], group[i]);
        if (whole ? sums[i] != sum : !(fabs(sums[i] - sum) <= 1e-9 * count))
            printf("%s, %d ranks: %g, not %g\n", spec, ranks, sums[i], sum);
        CHECK(whole ? sums[i] == sum : fabs(sums[i] - sum) <= 1e-9 * count);
    }
}

static void distances_and_sums_fit_for_any_shape(void)
{
    uint64_t seed = 1;

    for (int i = 0; i < 600; i++) {
        char spec[128];
        int ranks = 1 + (int)check_below(&seed, 300);
        struct bm_machine *m;

        random_spec(spec, sizeof(spec), &seed);
        m = machine_of(spec, ranks);
        check_metric(bm_machine_network(m), ranks, &seed);
        for (int whole = 0; whole < 3; whole++)
            check_sums(bm_machine_network(m), spec, ranks, &seed, whole);
        bm_machine_free(m);
    }
}

/* Few ranks on a long ring: positions are listed, not counted. */
static void sums_on_a_long_ring_fit(void)
{
    struct bm_machine *m = machine_of("torus:100003x2", 200006);
    uint64_t seed = 2;

    for (int i = 0; i < 50; i++)
        check_sums(bm_machine_network(m), "long", 200006, &seed, i % 3);
    bm_machine_free(m);
}

static void a_million_ranks_are_summed(void)
{
    static const char *const specs[] = {
        "torus:100x100x100", "fattree:32x32x1024", "dragonfly:64x128x128",
        "flat,per=16", "torus:1048576"};
    enum { RANKS = 1000000 };
    int *ranks = malloc(RANKS * sizeof(*ranks));
    double *sums = malloc(RANKS * sizeof(*sums));

    REQUIRE(ranks && sums);
    for (int i = 0; i < RANKS; i++)
        ranks[i] = i;
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct bm_machine *m = machine_of(specs[i], RANKS);
        const struct bm_network *n = bm_machine_network(m);
        double sum = 0;

        REQUIRE(!n->sums(n->context, bm_allocator_default(), ranks, NULL, RANKS,
                         sums));
        for (int k = 0; k < RANKS; k++)
            sum += n->hops(n->context, k, 777777);
        CHECK(sum == sums[777777]);
        bm_machine_free(m);
    }
    free(ranks);
    free(sums);
}

/* ---- specs ----------------------------------------------------------------
 */

static void a_wrong_spec_is_told_by_its_word(void)
{
    static const struct {
        const char *spec, *words;
    } cases[] = {
        {"torus:8xx8", "at 'x8', expected a number"},
        {"torus:8x0", "at '0', expected a number"},
        {"torus:", "at its end, expected a number"},
        {"torus", "at its end, expected :NUMBER"},
        {"torus:99999999999", "a number from 1 to 2147483647"},
        {"torus:1x2x3x4x5x6x7", "at '7', expected no further number"},
        {"dragonfly:2x2", "xNUMBER"},
        {"dragonfly:2x2x2x2", "no further number"},
        {"fattree:2x3,per=", "per=RANKS or ,io=NODES"},
        {"fattree:2x3,per=x", "at 'x', expected a number"},
        {"fattree:2x3,pre=4", "at 'pre=4', expected ,per=RANKS"},
        {"fattree:2x3 ", "at ' ', expected ,per=RANKS"},
        {"flat:3", "at ':3', expected ,per=RANKS"},
        {"torus:100000x100000", "more than 4194304 nodes"},
        {"torus:2x2,per=1", "has 4 nodes, too few"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bm_error error = {0};
        struct bm_machine *m;

        CHECK_EQ(bm_machine_make(&m, bm_allocator_default(),
                                 &(struct bm_machine_source){
                                     .spec = cases[i].spec, .ranks = 8},
                                 &error),
                 BOUMA_EINVAL);
        CHECK(!m);
        CHECK_TEXT(error.text, cases[i].words);
    }
}

static void what_is_no_model_is_a_path(void)
{
    CHECK(!bm_machine_is_file(""));
    CHECK(!bm_machine_is_file("flat"));
    CHECK(!bm_machine_is_file("flat,per=4"));
    CHECK(!bm_machine_is_file("auto"));
    CHECK(!bm_machine_is_file("torus:8x8"));
    CHECK(bm_machine_is_file("torus.machine"));
    CHECK(bm_machine_is_file("./flat"));
    CHECK(bm_machine_is_file("/etc/slurm/topology.conf"));
    CHECK(bm_machine_is_file("tree"));
}

int main(void)
{
    all_are_equally_far_apart_on_a_flat_machine();
    a_torus_has_no_border();
    nodes_of_a_torus_share_a_gateway();
    a_dragonfly_has_four_distances();
    a_fat_tree_doubles_its_levels();
    ranks_that_are_too_many_share_nodes();
    distances_and_sums_fit_for_any_shape();
    sums_on_a_long_ring_fit();
    a_million_ranks_are_summed();
    a_wrong_spec_is_told_by_its_word();
    what_is_no_model_is_a_path();
    return check_result();
}
