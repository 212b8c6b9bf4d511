/* Placement by cost, and among senders, on modelled machines: byte-hops beside those of other
 * schemes, and whole plans for many ranks; the seconds are printed, for people.
 */
#include <math.h>

#include "check.h"
#include "modelled.h"
#include "plan/estimate.h"
#include "plan/placement.h"
#include "seconds.h"

static struct bm_place_task task_of(const struct bm_machine *m,
                                    bouma_place scheme, int ranks)
{
    struct bm_place_task task = {.scheme = scheme, .ranks = ranks};

    task.rule.network = bm_machine_network(m);
    task.rule.tiers = bm_machine_tiers(m, &task.rule.tier_count);
    task.rule.buffers = 2;
    task.rule.buffer_bytes = 32 << 20;
    return task;
}

/* ---- loads -------------------------------------------------------------- */

enum load { UNIFORM, RANDOM, CLUSTERED, LOADS };
static const char *const load_names[LOADS] = {"uniform", "random", "clustered"};

/* The chunks of 512 ranks, one each, on the order of their patches. */
struct chunks {
    uint64_t bytes[512];
    int owner[512];
    struct bm_chunk_sizes sizes;
};

static void chunks_make(struct chunks *c, enum load load)
{
    static const int64_t shape[3] = {64, 64, 64}, edge[3] = {8, 8, 8};
    struct bm_tiling tiling;
    int64_t order[512];
    uint64_t state = 3;

    REQUIRE(!bm_tiling_init(&tiling, 3, shape, edge));
    bm_tiling_order(&tiling, order);
    for (int i = 0; i < 512; i++) {
        int rank = (int)order[i];
        double z = rank / 64 - 2, y = rank / 8 % 8 - 3, x = rank % 8 - 5;

        c->owner[i] = rank;
        c->bytes[i] =
            load == UNIFORM ? 4000000
            : load == RANDOM
                ? 1 + (uint64_t)check_below(&state, 8000000)
                : 1 + (uint64_t)(16e6 * exp(-(x * x + y * y + z * z) / 4));
    }
    c->sizes = (struct bm_chunk_sizes){
        .count = 512, .bytes = c->bytes, .owner = c->owner};
}

/* Placed with and without the network's quick sums: the same writers. */
static void sums_change_nothing(const struct bm_place_task *task,
                                const struct bm_gathering *g, const int *writer)
{
    struct bm_network plain = *task->rule.network;
    struct bm_place_task slow = *task;
    int again[64];

    plain.sums = NULL;
    slow.rule.network = &plain;
    CHECK(!bm_place_files(again, NULL, bm_allocator_default(), &slow, g->files,
                          g));
    for (int64_t f = 0; f < g->files; f++)
        CHECK_EQ(again[f], writer[f]);
}

static void compare_schemes(const char *spec, enum load load, int64_t files)
{
    struct bm_machine *m = machine_of(spec, 512);
    const bouma_allocator *a = bm_allocator_default();
    struct bm_assignment assignment;
    struct bm_gathering g;
    struct chunks chunks;
    double hops[BOUMA_PLACE_LOCAL + 1] = {0}, local;
    int writer[64];

    chunks_make(&chunks, load);
    REQUIRE(!bm_assign(&assignment, a, BOUMA_ASSIGN_OPTIMAL, &chunks.sizes,
                       files, 512));
    REQUIRE(!bm_gathering_of_chunks(&g, a, &chunks.sizes, &assignment, 512));
    for (bouma_place s = BOUMA_PLACE_SPREAD; s <= BOUMA_PLACE_LOCAL; s++) {
        struct bm_place_task task = task_of(m, s, 512);

        REQUIRE(!bm_place_files(writer, NULL, a, &task, files, &g));
        hops[s] = bm_byte_hops(task.rule.network, &g, writer);
        if (s == BOUMA_PLACE_COST)
            sums_change_nothing(&task, &g, writer);
    }
    local = hops[BOUMA_PLACE_LOCAL] / hops[BOUMA_PLACE_SPREAD];
    printf("    %-9s %3d files: %.3f of spread, %.3f of first (target: "
           "below 1); local: %.3f of spread\n",
           load_names[load], (int)files,
           hops[BOUMA_PLACE_COST] / hops[BOUMA_PLACE_SPREAD],
           hops[BOUMA_PLACE_COST] / hops[BOUMA_PLACE_FIRST], local);
    /* With many ranks a node, a slab of nodes for each file, and even loads,
     * `spread` is as good as can be. */
    CHECK(hops[BOUMA_PLACE_COST] < hops[BOUMA_PLACE_SPREAD] ||
          (hops[BOUMA_PLACE_COST] == hops[BOUMA_PLACE_SPREAD] &&
           load == UNIFORM && files == 4 && strstr(spec, "per")));
    CHECK(hops[BOUMA_PLACE_COST] < hops[BOUMA_PLACE_FIRST]);
    bm_gathering_release(&g);
    bm_assignment_release(&assignment);
    bm_machine_free(m);
}

static void bytes_go_over_fewer_links(void)
{
    static const char *const specs[] = {"torus:8x8x8", "torus:4x4x8,per=4"};

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        printf("byte-hops of place=cost, %s, 512 ranks\n", specs[i]);
        for (enum load load = UNIFORM; load < LOADS; load++) {
            compare_schemes(specs[i], load, 4);
            compare_schemes(specs[i], load, 16);
            compare_schemes(specs[i], load, 64);
        }
    }
}

/* ---- many ranks --------------------------------------------------------- */

static double plan_one(const char *spec, const int64_t shape[3], int ranks,
                       int files, bouma_place place)
{
    bouma_plan_spec what = {.size = sizeof(what),
                            .ranks = ranks,
                            .ndims = 3,
                            .shape = {shape[0], shape[1], shape[2]},
                            .patch = {32, 32, 32},
                            .vary = 20};
    bouma_plan_report report = {.size = sizeof(report)};
    bouma_options opts = {.size = sizeof(opts)};
    bouma_plan *plan;
    char message[512];
    double since = now();

    opts.place = place;
    opts.files = files;
    opts.machine = spec;
    if (bouma_plan_make(&plan, &what, &opts, message, sizeof(message)))
        printf("%s\n", message);
    REQUIRE(plan);
    since = now() - since;
    bouma_plan_report_get(&report, plan);
    printf("    %-6s %7.3f s, %4.0f MiB, %.2f links a byte\n",
           bouma_place_name(place), since,
           (double)report.memory_bytes / 1048576,
           report.byte_hops / (double)report.shipped_bytes);
    CHECK(report.machine);
    CHECK_EQ(report.files, files);
    CHECK_EQ(report.writers, files); /* nobody has two */
    bouma_plan_free(plan);
    return report.byte_hops;
}

static void plan_many(const char *spec, int ranks, int files)
{
    const int64_t shape[3] = {ranks / 64, 512, 512};
    double cost, spread, local;

    printf("%d ranks, %s, %d files (target for 131072: below 2 s)\n", ranks,
           spec, files);
    spread = plan_one(spec, shape, ranks, files, BOUMA_PLACE_SPREAD);
    cost = plan_one(spec, shape, ranks, files, BOUMA_PLACE_COST);
    local = plan_one(spec, shape, ranks, files, BOUMA_PLACE_LOCAL);
    CHECK(cost < spread);
    CHECK(local < spread);
}

/* A cube of ranks with a patch each, in files of eight. */
static void place_in_cubes(int edge)
{
    const int64_t shape[3] = {32 * edge, 32 * edge, 32 * edge};
    int ranks = edge * edge * edge;
    double spread, local;
    char spec[64];

    snprintf(spec, sizeof(spec), "torus:%dx%dx%d", edge, edge, edge);
    printf("%d ranks, %s, %d files\n", ranks, spec, ranks / 8);
    spread = plan_one(spec, shape, ranks, ranks / 8, BOUMA_PLACE_SPREAD);
    local = plan_one(spec, shape, ranks, ranks / 8, BOUMA_PLACE_LOCAL);
    printf("    local: %.3f of spread (target: at most 0.5)\n", local / spread);
    CHECK(local <= 0.5 * spread);
}

/* All ranks send to each of a few files. */
static void large_groups_are_placed(void)
{
    const int ranks = 131072, files = 4;
    const bouma_allocator *a = bm_allocator_default();
    struct bm_machine *m = machine_of("torus:64x64x32", ranks);
    struct bm_place_task task = task_of(m, BOUMA_PLACE_COST, ranks);
    size_t count = (size_t)ranks * (size_t)files;
    struct bm_gathering g = {.a = a, .files = files, .ranks = ranks};
    uint64_t state = 1;
    double since;
    int writer[4];

    g.first = bm_new(a, (size_t)files + 1, sizeof(*g.first));
    g.rank = bm_new(a, count, sizeof(*g.rank));
    g.bytes = bm_new(a, count, sizeof(*g.bytes));
    REQUIRE(g.first && g.rank && g.bytes);
    for (size_t i = 0; i < count; i++) {
        g.rank[i] = (int)(i % (size_t)ranks);
        g.bytes[i] = 1 + (uint64_t)check_below(&state, 1 << 20);
        g.first[i / (size_t)ranks + 1] = i + 1;
    }
    since = now();
    REQUIRE(!bm_place_files(writer, NULL, a, &task, files, &g));
    printf("%d files of %d ranks each, placed in %.3f s\n", files, ranks,
           now() - since);
    for (int f = 0; f < files; f++)
        for (int k = 0; k < f; k++)
            CHECK(writer[f] != writer[k]);
    bm_gathering_release(&g);
    bm_machine_free(m);
}

int main(void)
{
    bytes_go_over_fewer_links();
    place_in_cubes(8);
    place_in_cubes(16);
    plan_many("torus:64x64x32", 131072, 2048);
    plan_many("torus:16x8x8x8,per=16", 131072, 1024);
    plan_many("torus:128x128x64", 1 << 20, 16384);
    large_groups_are_placed();
    return check_result();
}
