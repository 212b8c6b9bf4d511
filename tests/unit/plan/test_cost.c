/* Placement by cost: the paper's example, what is compared with a look at every
 * pair, capacities, and byte-hops on a torus. */
#include <math.h>

#include "check.h"
#include "fault_alloc.h"
#include "machine/machine.h"
#include "machine/rank_location.h"
#include "plan/placement.h"
#include "torus.h"

#define MB 1000000u
#define GB ((uint64_t)1000 * MB)

static const bouma_allocator *memory(void)
{
    return bm_allocator_default();
}

/* ---- the paper's example ------------------------------------------------ */

/* Four processes, each on its own node. The figure with the distances is not
 * in the text; these make the sums that Table 2 has (docs/placement.md). */
static int toy_hops(const void *context, int from, int to)
{
    static const int hops[4][4] = {
        {0, 3, 8, 5}, {3, 0, 6, 4}, {8, 6, 0, 5}, {5, 4, 5, 0}};

    (void)context;
    return hops[from][to];
}

static int toy_to_target(const void *context, int rank)
{
    static const int hops[4] = {3, 2, 5, 2};

    (void)context;
    return hops[rank];
}

static int toy_node(const void *context, int rank)
{
    (void)context;
    return rank;
}

static const struct bm_network toy_network = {.hops = toy_hops,
                                              .hops_to_target = toy_to_target,
                                              .node = toy_node,
                                              .latency = 0.030,
                                              .bandwidth = 12.5e9};
enum { HBM, DRAM, NVR, TOY_TIERS };
static const struct bm_tier toy_tiers[TOY_TIERS] = {
    {BOUMA_TIER_HBM, 0.010, 180e9, 16 * GB, BM_KEEPS_NOTHING},
    {BOUMA_TIER_DRAM, 0.020, 90e9, 192 * GB, BM_KEEPS_NOTHING},
    {BOUMA_TIER_LOCAL, 0.100, 0.15e9, 128 * GB, BM_KEEPS_FOR_JOB}};

static struct bm_cost_rule toy_rule(void)
{
    return (struct bm_cost_rule){.network = &toy_network,
                                 .tiers = toy_tiers,
                                 .tier_count = TOY_TIERS,
                                 .buffers = 2,
                                 .buffer_bytes = 16 * MB};
}

/* One file that all four send to. */
struct toy {
    size_t first[2];
    int rank[4];
    uint64_t bytes[4];
    struct bm_gathering gathering;
};

static void toy_init(struct toy *toy)
{
    *toy = (struct toy){
        {0, 4}, {0, 1, 2, 3}, {10 * MB, 50 * MB, 20 * MB, 5 * MB}, {0}};
    toy->gathering = (struct bm_gathering){.files = 1,
                                           .ranks = 4,
                                           .first = toy->first,
                                           .rank = toy->rank,
                                           .bytes = toy->bytes};
}

static void the_example_of_the_paper_comes_out(void)
{
    /* Table 2. In its last column the bytes of C2 (85 MB at 0.15 GB/s) are not
     * counted, and what is left is cut after two digits. */
    static const double table[4][TOY_TIERS] = {{0.593, 0.603, 2.350},
                                               {0.470, 0.480, 2.020},
                                               {0.742, 0.752, 2.710},
                                               {0.503, 0.513, 2.120}};
    struct bm_cost_rule rule = toy_rule();
    struct bm_cost choice, *costs;
    bouma_tier tier;
    struct toy toy;
    size_t count;
    int writer;

    toy_init(&toy);
    REQUIRE(!bm_cost_table(&costs, &count, memory(), &rule, &toy.gathering, 0));
    CHECK_EQ(count, 4 * TOY_TIERS);
    for (size_t i = 0; i < count; i++) {
        double sum = bm_cost_sum(&costs[i]);

        CHECK_EQ(costs[i].rank, i / TOY_TIERS);
        CHECK_EQ(costs[i].tier, i % TOY_TIERS);
        CHECK(costs[i].fits && costs[i].links == 0 && costs[i].wait == 0);
        if (costs[i].tier == NVR)
            sum = floor((sum - 85e6 / 0.15e9) * 100) / 100;
        CHECK(fabs(sum - table[i / TOY_TIERS][i % TOY_TIERS]) < 5.1e-4);
    }
    CHECK(!bm_place_by_cost(&writer, &tier, &choice, memory(), &rule,
                            &toy.gathering));
    CHECK_EQ(writer, 1);
    CHECK_EQ(tier, BOUMA_TIER_HBM);
    CHECK_EQ(choice.rank, 1);
    CHECK_EQ(choice.tier, HBM);
    CHECK(choice.gather == costs[TOY_TIERS * 1 + HBM].gather &&
          choice.store == costs[TOY_TIERS * 1 + HBM].store);
    bm_drop(memory(), costs);
}

/* What ranks tell that are on hosts p0 to p3. */
static void tell_hosts(struct bm_buffer *out, size_t sizes[4])
{
    bm_buffer_init(out, memory());
    for (int r = 0; r < 4; r++) {
        char name[] = {'p', (char)('0' + r), 0};
        struct bm_rank_location told = {.host = name, .host_bytes = 2};
        size_t before = out->size;

        bm_rank_location_put(out, &told);
        sizes[r] = out->size - before;
    }
    REQUIRE(!out->failed);
}

/* The same as a machine file, nodes being positions in a torus. */
static void the_example_can_be_told_in_a_file(void)
{
    static const char text[] =
        "machine 1\n"
        "network torus:7x11 latency 30ms bandwidth 12.5GB/s\n"
        "node p0 at 0,3 target 3\n"
        "node p1 at 0,0 target 2\n"
        "node p2 at 4,8 target 5\n"
        "node p3 at 3,1 target 2\n"
        "tier hbm latency 10ms bandwidth 180GB/s capacity 16G\n"
        "tier dram latency 20ms bandwidth 90GB/s capacity 192G\n"
        "tier local latency 100ms bandwidth 0.15GB/s capacity 128G keeps job\n"
        "target latency 1ns bandwidth 1000GB/s\n";
    struct bm_cost_rule rule = toy_rule(), told = toy_rule();
    struct bm_cost *costs, *same;
    struct bm_error error = {0};
    struct bm_machine *m = NULL;
    struct bm_buffer hosts;
    struct toy toy;
    size_t count, sizes[4];

    toy_init(&toy);
    tell_hosts(&hosts, sizes);
    CHECK_EQ(
        bm_machine_make(&m, memory(),
                        &(struct bm_machine_source){.spec = "./four.machine",
                                                    .file = text,
                                                    .file_bytes = strlen(text),
                                                    .ranks = 4,
                                                    .locations = &hosts,
                                                    .sizes = sizes},
                        &error),
        BOUMA_OK);
    bm_buffer_release(&hosts);
    REQUIRE(m);
    told.network = bm_machine_network(m);
    told.tiers = bm_machine_tiers(m, &told.tier_count);
    CHECK_EQ(told.tier_count, TOY_TIERS);
    REQUIRE(!bm_cost_table(&costs, &count, memory(), &rule, &toy.gathering, 0));
    REQUIRE(!bm_cost_table(&same, &count, memory(), &told, &toy.gathering, 0));
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(same[i].rank, costs[i].rank);
        CHECK(fabs(bm_cost_sum(&same[i]) - bm_cost_sum(&costs[i])) < 1e-6);
    }
    bm_drop(memory(), costs);
    bm_drop(memory(), same);
    bm_machine_free(m);
}

/* ---- capacity and persistence ------------------------------------------- */

static bouma_tier toy_tier(const struct bm_cost_rule *rule, int *rank,
                           int *fits)
{
    struct bm_cost choice;
    bouma_tier tier = 0;
    struct toy toy;

    toy_init(&toy);
    CHECK(!bm_place_by_cost(rank, &tier, &choice, memory(), rule,
                            &toy.gathering));
    *fits = choice.fits;
    return tier;
}

/* Table 10: memories get smaller than the buffers, one after the other. */
static void buffers_must_fit(void)
{
    struct bm_tier tiers[TOY_TIERS];
    struct bm_cost_rule rule = toy_rule();
    int rank, fits;

    memcpy(tiers, toy_tiers, sizeof(tiers));
    rule.tiers = tiers;
    rule.buffers = 3;
    tiers[HBM].capacity = 48 * MB;
    CHECK_EQ(toy_tier(&rule, &rank, &fits), BOUMA_TIER_HBM);
    tiers[HBM].capacity = 48 * MB - 1;
    CHECK_EQ(toy_tier(&rule, &rank, &fits), BOUMA_TIER_DRAM);
    CHECK(rank == 1 && fits);
    tiers[DRAM].capacity = 32 * MB;
    CHECK_EQ(toy_tier(&rule, &rank, &fits), BOUMA_TIER_LOCAL);
    CHECK(rank == 1 && fits);
    tiers[NVR].capacity = 32 * MB;
    CHECK_EQ(toy_tier(&rule, &rank, &fits), BOUMA_TIER_DRAM);
    CHECK(rank == 1 && !fits);
    rule.buffer_bytes = UINT64_MAX; /* more than can be counted */
    CHECK_EQ(toy_tier(&rule, &rank, &fits), BOUMA_TIER_DRAM);
    CHECK(!fits);
    tiers[HBM].capacity = 0; /* no limit is known */
    CHECK_EQ(toy_tier(&rule, &rank, &fits), BOUMA_TIER_HBM);
    CHECK(fits);
}

static void what_persists_must_fit_as_a_whole(void)
{
    struct bm_tier tiers[TOY_TIERS];
    struct bm_cost_rule rule = toy_rule();
    int rank, fits;

    memcpy(tiers, toy_tiers, sizeof(tiers));
    rule.tiers = tiers;
    rule.persist = 1;
    tiers[NVR].capacity = 85 * MB;
    CHECK_EQ(toy_tier(&rule, &rank, &fits), BOUMA_TIER_LOCAL);
    CHECK(rank == 1 && fits);
    tiers[NVR].capacity = 85 * MB - 1;
    CHECK_EQ(toy_tier(&rule, &rank, &fits), BOUMA_TIER_DRAM);
    CHECK(!fits);
    tiers[DRAM].persistence = BM_KEEPS;
    CHECK_EQ(toy_tier(&rule, &rank, &fits), BOUMA_TIER_DRAM);
    CHECK(fits);
}

static void a_tier_can_be_asked_for(void)
{
    struct bm_cost_rule rule = toy_rule();
    int rank, fits;

    rule.only = BOUMA_TIER_LOCAL;
    CHECK_EQ(toy_tier(&rule, &rank, &fits), BOUMA_TIER_LOCAL);
    CHECK(rank == 1 && fits);
    rule.tier_count = NVR; /* nothing is known of it */
    CHECK_EQ(toy_tier(&rule, &rank, &fits), BOUMA_TIER_LOCAL);
    CHECK(rank == 1 && !fits);
}

/* Two ranks on one node, a file each, in a tier that has room for one. */
static void ranks_of_a_node_share_its_tiers(void)
{
    struct torus one = {{1, 1, 1}, 2};
    struct bm_network network = torus_network(&one);
    struct bm_tier tiers[] = {torus_tiers[0], torus_tiers[1]};
    struct bm_cost_rule rule = {&network, tiers, 2, 0, 2, 1 << 20, 0};
    size_t first[] = {0, 1, 2, 3};
    int rank[] = {0, 1, 0}, writer[3];
    uint64_t bytes[] = {5 * MB, 5 * MB, 5 * MB};
    struct bm_gathering g = {NULL, 3, 2, first, rank, bytes, NULL};
    bouma_tier tier[3];

    tiers[0].capacity = 3 << 20;
    CHECK(!bm_place_by_cost(writer, tier, NULL, memory(), &rule, &g));
    CHECK(writer[0] == 0 && writer[1] == 1 && writer[2] == 0);
    CHECK_EQ(tier[0], BOUMA_TIER_HBM);
    CHECK_EQ(tier[1], BOUMA_TIER_DRAM);
    CHECK_EQ(tier[2], BOUMA_TIER_HBM); /* it has its buffers there already */
    rule.persist = 1;
    tiers[0].persistence = tiers[1].persistence = BM_KEEPS_FOR_JOB;
    tiers[0].capacity = 12 * MB;
    CHECK(!bm_place_by_cost(writer, tier, NULL, memory(), &rule, &g));
    CHECK_EQ(tier[0], BOUMA_TIER_HBM);
    CHECK_EQ(tier[1], BOUMA_TIER_HBM);
    CHECK_EQ(tier[2], BOUMA_TIER_DRAM);
}

/* ---- groups at random --------------------------------------------------- */

static void groups_init(struct bm_gathering *out, int ranks, int64_t files,
                        size_t most)
{
    memset(out, 0, sizeof(*out));
    out->a = memory();
    out->files = files;
    out->ranks = ranks;
    out->first = bm_new(memory(), (size_t)files + 1, sizeof(size_t));
    out->rank = bm_new(memory(), most, sizeof(int));
    out->bytes = bm_new(memory(), most, sizeof(uint64_t));
    REQUIRE(out->first && out->rank && out->bytes);
}

/* Each rank sends to a file with a chance of one in 'rare'; bytes differ much
 * or, if even, not at all. */
static void groups_at_random(struct bm_gathering *out, uint64_t *state,
                             int ranks, int64_t files, int rare, int even)
{
    size_t n = 0;

    groups_init(out, ranks, files, (size_t)ranks * (size_t)files);
    for (int64_t f = 0; f < files; f++) {
        for (int r = 0; r < ranks; r++)
            if (!check_below(state, rare)) {
                out->rank[n] = r;
                out->bytes[n++] = even ? MB
                                       : (uint64_t)1 << check_below(state, 28) |
                                             (uint64_t)check_below(state, 1000);
            }
        out->first[f + 1] = n;
    }
}

/* The formula of cost.h, written down once more, pair by pair. */
static double plain_cost(const struct bm_cost_rule *rule,
                         const struct bm_gathering *groups, int64_t f, int to,
                         const struct bm_tier *t, const uint64_t *gathered,
                         const uint64_t *node_gathered)
{
    const struct bm_network *n = rule->network;
    const struct bm_gathering *g = groups;
    double dram = torus_tiers[1].bandwidth, c1 = 0, links = 0, sum = 0, all = 0;
    double inside = fmin(dram, t->bandwidth);
    double on = fmin(fmin(n->bandwidth, t->bandwidth), n->target_bandwidth);
    int node = n->node(n->context, to);

    for (size_t i = 0; i < g->first[g->files]; i++)
        all += (double)g->bytes[i];
    for (size_t i = g->first[f]; i < g->first[f + 1]; i++) {
        double bytes = (double)g->bytes[i];
        int hops = n->hops(n->context, g->rank[i], to);

        if (n->node(n->context, g->rank[i]) == node)
            c1 += t->latency + bytes / inside;
        else
            c1 += fmax(n->latency, t->latency) * hops +
                  bytes / fmin(n->bandwidth, inside);
        links += bytes * hops / n->bandwidth;
        sum += bytes;
    }
    return c1 + n->latency * n->hops_to_target(n->context, to) +
           n->target_latency + sum / on + (1 - sum / all) * links +
           (double)node_gathered[node] / fmin(fmin(n->bandwidth, inside), on) +
           (double)gathered[to] / inside;
}

/* Check each choice: nothing else is cheaper, and nothing with a lower rank is
 * as cheap. Capacities are not tight here. */
static void check_choices(const struct bm_cost_rule *rule,
                          const struct bm_gathering *groups)
{
    uint64_t gathered[512] = {0}, node_gathered[512] = {0};
    const struct bm_gathering *g = groups;
    struct bm_cost choice[64];
    bouma_tier tier[64];
    int writer[64];

    REQUIRE(g->files <= 64 && groups->ranks <= 512);
    CHECK(!bm_place_by_cost(writer, tier, choice, memory(), rule, g));
    for (int64_t f = 0; f < g->files; f++) {
        double chosen;

        if (g->first[f] == g->first[f + 1]) {
            CHECK_EQ(writer[f], bm_spread_file(g->files, groups->ranks, f));
            CHECK_EQ(tier[f], BOUMA_TIER_DRAM);
            continue;
        }
        chosen = bm_cost_sum(&choice[f]);
        CHECK_EQ(choice[f].rank, writer[f]);
        CHECK_EQ(rule->tiers[choice[f].tier].kind, tier[f]);
        for (size_t i = g->first[f]; i < g->first[f + 1]; i++)
            for (size_t t = 0; t < rule->tier_count; t++) {
                double other =
                    plain_cost(rule, groups, f, g->rank[i], &rule->tiers[t],
                               gathered, node_gathered);
                int is_it = g->rank[i] == writer[f] && t == choice[f].tier;

                CHECK(other >= chosen * (1 - 1e-12));
                if (is_it)
                    CHECK(fabs(other - chosen) <= 1e-12 * chosen);
            }
        for (size_t i = g->first[f]; i < g->first[f + 1]; i++) {
            uint64_t *mine = &gathered[writer[f]];
            int node = torus_node(rule->network->context, writer[f]);

            *mine += g->bytes[i];
            node_gathered[node] += g->bytes[i];
        }
    }
}

static void choices_are_the_cheapest_of_all(void)
{
    static const struct torus tori[] = {
        {{4, 4, 4}, 1}, {{1, 1, 7}, 1}, {{2, 3, 4}, 5}, {{1, 1, 1}, 9}};
    uint64_t state = 1;

    for (size_t i = 0; i < sizeof(tori) / sizeof(tori[0]); i++)
        for (int k = 0; k < 12; k++) {
            const struct torus *t = &tori[i];
            int nodes = t->edge[0] * t->edge[1] * t->edge[2];
            struct bm_network network = torus_network(t);
            struct bm_cost_rule rule = {.network = &network,
                                        .tiers = torus_tiers,
                                        .tier_count = 3,
                                        .buffers = 1,
                                        .buffer_bytes = 1};
            struct bm_gathering groups;

            groups_at_random(&groups, &state, nodes * t->ranks_a_node,
                             1 + check_below(&state, 12), 1 + k % 4, k % 2);
            check_choices(&rule, &groups);
            bm_gathering_release(&groups);
        }
}

/* Without any term, all are equal, and the lowest rank of a group is taken. */
static void terms_can_be_left_out(void)
{
    static const struct torus t = {{4, 4, 4}, 1};
    uint64_t state = 7;

    for (unsigned without = 1; without < 16; without++) {
        struct bm_network network = torus_network(&t);
        struct bm_cost_rule rule = {.network = &network,
                                    .tiers = torus_tiers,
                                    .tier_count = 1,
                                    .buffers = 1,
                                    .buffer_bytes = 1};
        struct bm_cost choice[64];
        struct bm_gathering g;
        int writer[64];

        groups_at_random(&g, &state, 64, 8, 2, 0);
        network.without = without;
        CHECK(!bm_place_by_cost(writer, NULL, choice, memory(), &rule, &g));
        for (int64_t f = 0; f < g.files; f++) {
            const struct bm_cost *c = &choice[f];

            if (g.first[f] == g.first[f + 1])
                continue;
            CHECK((c->gather > 0) == !(without & BM_COST_GATHER));
            CHECK((c->store > 0) == !(without & BM_COST_STORE));
            CHECK(c->links == 0 || !(without & BM_COST_LINKS));
            CHECK(c->wait == 0 || !(without & BM_COST_WAIT));
            if (without == 15)
                CHECK_EQ(writer[f], g.rank[g.first[f]]);
        }
        bm_gathering_release(&g);
    }
}

/* All ranks send the same, to all files: each file goes to another rank. */
static void ties_go_to_the_lowest_rank_and_files_spread(void)
{
    struct torus ring = {{1, 1, 8}, 1};
    struct bm_network network = torus_network(&ring);
    struct bm_cost_rule rule = {&network, torus_tiers, 2, 0, 2, 1 << 20, 0};
    struct bm_gathering groups;
    uint64_t state = 2;
    int writer[8], seen = 0;

    network.latency = 0; /* no way is shorter */
    groups_at_random(&groups, &state, 8, 8, 1, 1);
    CHECK(!bm_place_by_cost(writer, NULL, NULL, memory(), &rule, &groups));
    for (int f = 0; f < 8; f++) {
        CHECK_EQ(writer[f], f);
        seen |= 1 << writer[f];
    }
    CHECK_EQ(seen, 255);
    bm_gathering_release(&groups);
}

static void a_file_goes_to_who_has_most_of_it(void)
{
    struct torus flat = {{1, 1, 3}, 1}; /* all are neighbours */
    struct bm_network network = torus_network(&flat);
    struct bm_cost_rule rule = {&network, torus_tiers + 1, 1, 0, 2, 1 << 20, 0};
    size_t first[] = {0, 3};
    int rank[] = {0, 1, 2}, writer;
    uint64_t bytes[] = {5 * MB, 6 * MB, 7 * MB};
    struct bm_gathering g = {NULL, 1, 3, first, rank, bytes, NULL};

    network.latency = 0;
    CHECK(!bm_place_by_cost(&writer, NULL, NULL, memory(), &rule, &g));
    CHECK_EQ(writer, 2);
    bytes[1] = 7 * MB;
    CHECK(!bm_place_by_cost(&writer, NULL, NULL, memory(), &rule, &g));
    CHECK_EQ(writer, 1);
}

/* Ranks on a few of many nodes, in no order: as on a machine with the others
 * left out. */
static int far_node(const void *context, int rank)
{
    static const int nodes[6] = {900000007, 3, 70000, 3, 900000007, 12};

    (void)context;
    return nodes[rank];
}

static int far_hops(const void *context, int from, int to)
{
    return far_node(context, from) != far_node(context, to);
}

static int far_target(const void *context, int rank)
{
    (void)context;
    (void)rank;
    return 1;
}

static void nodes_have_any_numbers(void)
{
    struct bm_network network = {.hops = far_hops,
                                 .hops_to_target = far_target,
                                 .node = far_node,
                                 .latency = 1e-6,
                                 .bandwidth = 10e9};
    struct bm_cost_rule rule = {&network, torus_tiers, 2, 0, 2, 1 << 20, 0};
    size_t first[] = {0, 6, 9};
    int rank[] = {0, 1, 2, 3, 4, 5, 0, 2, 4}, writer[2];
    uint64_t bytes[] = {MB, 2 * MB, MB, 3 * MB, MB, MB, MB, MB, MB};
    struct bm_gathering g = {NULL, 2, 6, first, rank, bytes, NULL};
    struct bm_cost choice[2];

    CHECK(!bm_place_by_cost(writer, NULL, choice, memory(), &rule, &g));
    CHECK_EQ(writer[0], 1); /* on the node that has 5 MB, the lower one */
    CHECK_EQ(choice[0].node, 3);
    CHECK_EQ(writer[1], 0); /* where there are two */
    CHECK_EQ(choice[1].node, 900000007);
}

/* ---- from chunks -------------------------------------------------------- */

static void groups_are_found_from_chunks(void)
{
    /* Files of three chunks; rank 2 has two in the first, one is empty. */
    uint64_t bytes[] = {10, 20, 30, 0, 40, 50};
    int owner[] = {2, 0, 2, 1, 3, 3};
    struct bm_chunk_sizes sizes = {.count = 6, .bytes = bytes, .owner = owner};
    struct bm_assignment files;
    struct bm_gathering g;

    REQUIRE(!bm_assign(&files, memory(), BOUMA_ASSIGN_COUNT, &sizes, 2, 4));
    REQUIRE(!bm_gathering_of_chunks(&g, memory(), &sizes, &files, 4));
    CHECK_EQ(g.files, 2);
    CHECK(g.first[0] == 0 && g.first[1] == 2 && g.first[2] == 3);
    CHECK(g.rank[0] == 0 && g.bytes[0] == 20);
    CHECK(g.rank[1] == 2 && g.bytes[1] == 40);
    CHECK(g.rank[2] == 3 && g.bytes[2] == 90);
    bm_gathering_release(&g);
    bm_assignment_release(&files);
}

/* ---- byte-hops ---------------------------------------------------------- */

enum load { UNIFORM, RANDOM, CLUSTERED, LOADS };

/* What a rank of 512 holds. */
static uint64_t load_of(enum load load, int rank, uint64_t *state)
{
    int z = rank / 64 - 2, y = rank / 8 % 8 - 3, x = rank % 8 - 5;

    if (load == UNIFORM)
        return 4 * MB;
    if (load == RANDOM)
        return 1 + (uint64_t)check_below(state, 8 * MB);
    return 1 + (uint64_t)(16e6 * exp(-(x * x + y * y + z * z) / 4.0));
}

/* The i-th of 512 ranks on the Morton order of their blocks. */
static int morton(int i)
{
    int rank = 0;

    for (int b = 0; b < 3; b++)
        for (int d = 0; d < 3; d++)
            rank |= (i >> (3 * b + d) & 1) << (3 * d + b);
    return rank;
}

/* Runs of ranks on the order of their blocks make files of about equal bytes;
 * with 'mixed', ranks lie anywhere in the machine. */
static void groups_of_load(struct bm_gathering *out, enum load load,
                           int64_t files, int mixed)
{
    uint64_t state = 7, bytes[512], sum = 0, upto = 0;
    int at[512];
    size_t n = 0;

    for (int r = 0; r < 512; r++) {
        int k = mixed ? (int)check_below(&state, r + 1) : r;

        at[r] = at[k];
        at[k] = mixed ? r : morton(r);
    }
    for (int r = 0; r < 512; r++)
        sum += bytes[r] = load_of(load, at[r], &state);
    groups_init(out, 512, files, 512);
    for (int64_t f = 0; f < files; f++) {
        size_t from = n;

        for (; n < 512 &&
               (upto * (uint64_t)files < sum * (uint64_t)(f + 1) || n == from);
             n++) {
            out->rank[n] = at[n];
            out->bytes[n] = bytes[n];
            upto += bytes[n];
        }
        out->first[f + 1] = n;
    }
}

/* Counted pair by pair. */
static double count_byte_hops(const struct bm_gathering *groups,
                              const struct torus *t, const int *writer)
{
    double sum = 0;

    for (int64_t f = 0; f < groups->files; f++)
        for (size_t i = groups->first[f]; i < groups->first[f + 1]; i++)
            sum += (double)groups->bytes[i] *
                   torus_hops(t, groups->rank[i], writer[f]);
    return sum;
}

static void byte_hops_on_a_torus_are_fewer_than_of_other_schemes(void)
{
    static const char *const names[LOADS] = {"uniform", "random", "clustered"};
    struct torus torus = {{8, 8, 8}, 1};
    struct bm_network network = torus_network(&torus);

    for (int i = 0; i < LOADS * 4; i++) {
        enum load load = (enum load)(i % LOADS);
        int64_t files = i / LOADS % 2 ? 16 : 64;
        int mixed = i / LOADS / 2;
        double hops[4] = {0};
        struct bm_gathering groups;
        int writer[64];

        groups_of_load(&groups, load, files, mixed);
        for (bouma_place s = BOUMA_PLACE_SPREAD; s <= BOUMA_PLACE_COST; s++) {
            struct bm_place_task task = {
                .scheme = s,
                .ranks = 512,
                .rule = {&network, torus_tiers, 3, 0, 2, 32 << 20, 0}};

            CHECK(
                !bm_place_files(writer, NULL, memory(), &task, files, &groups));
            hops[s] = count_byte_hops(&groups, &torus, writer);
            CHECK(hops[s] == bm_byte_hops(&network, &groups, writer));
        }
        printf("    %-9s %2d files%s: %.3f of spread, %.3f of first\n",
               names[load], (int)files, mixed ? ", mixed" : "",
               hops[BOUMA_PLACE_COST] / hops[BOUMA_PLACE_SPREAD],
               hops[BOUMA_PLACE_COST] / hops[BOUMA_PLACE_FIRST]);
        CHECK(hops[BOUMA_PLACE_COST] < hops[BOUMA_PLACE_SPREAD]);
        CHECK(hops[BOUMA_PLACE_COST] < hops[BOUMA_PLACE_FIRST]);
        bm_gathering_release(&groups);
    }
}

/* ---- memory that runs out ----------------------------------------------- */

static void no_memory_is_told_and_none_is_lost(void)
{
    struct fault_alloc memory;
    const bouma_allocator *a = &memory.table;
    struct bm_cost_rule rule = toy_rule();
    struct toy toy;
    int rc = BOUMA_ENOMEM, tries = 0, writer;

    fault_alloc_init(&memory);
    toy_init(&toy);
    for (; rc; tries++) {
        struct bm_cost *table;
        size_t count;

        fault_alloc_arm(&memory, tries + 1, 1);
        rc = bm_place_by_cost(&writer, NULL, NULL, a, &rule, &toy.gathering);
        CHECK(!rc || rc == BOUMA_ENOMEM);
        CHECK_EQ(memory.live, 0);
        fault_alloc_arm(&memory, tries + 1, 1);
        CHECK_EQ(bm_cost_table(&table, &count, a, &rule, &toy.gathering, 0) ==
                     BOUMA_OK,
                 memory.fired == 0);
        bm_drop(a, table);
        CHECK_EQ(memory.live, 0);
    }
    CHECK(tries > 5);
}

int main(void)
{
    the_example_of_the_paper_comes_out();
    the_example_can_be_told_in_a_file();
    buffers_must_fit();
    what_persists_must_fit_as_a_whole();
    a_tier_can_be_asked_for();
    ranks_of_a_node_share_its_tiers();
    choices_are_the_cheapest_of_all();
    terms_can_be_left_out();
    ties_go_to_the_lowest_rank_and_files_spread();
    a_file_goes_to_who_has_most_of_it();
    nodes_have_any_numbers();
    groups_are_found_from_chunks();
    byte_hops_on_a_torus_are_fewer_than_of_other_schemes();
    no_memory_is_told_and_none_is_lost();
    return check_result();
}
