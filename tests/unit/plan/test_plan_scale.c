/* The whole plan of a step for 2^20 ranks and 2^22 patches: right, in little
 * memory; the seconds are printed, for people. */
#include <stddef.h>

#include "check.h"
#include "plan/assign.h"
#include "plan/distribute.h"
#include "plan/partition.h"
#include "plan/placement.h"
#include "seconds.h"

enum { RANKS_Z = 128, RANKS_Y = 128, RANKS_X = 64, FILES = 16384 };
#define RANKS   (RANKS_Z * RANKS_Y * RANKS_X)
#define PATCHES ((int64_t)256 * 128 * 128)

/* ---- memory that is counted --------------------------------------------- */

struct counter {
    size_t now, peak;
};

union header {
    size_t bytes;
    max_align_t align;
};

static void *count_resize(void *user, void *block, size_t bytes)
{
    struct counter *c = user;
    union header *h = block ? (union header *)block - 1 : NULL;
    size_t old = h ? h->bytes : 0;

    h = realloc(h, sizeof(*h) + bytes);
    if (!h)
        return NULL;
    h->bytes = bytes;
    c->now = c->now - old + bytes;
    if (c->now > c->peak)
        c->peak = c->now;
    return h + 1;
}

static void count_release(void *user, void *block)
{
    union header *h = (union header *)block - 1;

    if (!block)
        return;
    ((struct counter *)user)->now -= h->bytes;
    free(h);
}

/* Print the seconds since the last lap; their sum. */
static double lap(double *since, const char *what)
{
    double seconds = now() - *since;

    printf("    %-10s %6.3f s\n", what, seconds);
    *since = now();
    return seconds;
}

/* ---- one plan ----------------------------------------------------------- */

struct plan {
    bouma_allocator a;
    struct bm_tiling tiling;
    struct bm_block *blocks;
    struct bm_partition partition;
    int *owner;    /* by patch */
    int *in_order; /* by index in the order */
    int64_t *order;
    uint64_t *bytes; /* on the order */
    struct bm_distribution report;
    struct bm_assignment files;
};

/* Rank r of a Cartesian decomposition, as a simulation has it. */
static struct bm_box rank_box(const struct bm_tiling *t, int64_t rank)
{
    const int64_t n[3] = {RANKS_Z, RANKS_Y, RANKS_X};
    const int64_t at[3] = {rank / (RANKS_Y * RANKS_X), rank / RANKS_X % RANKS_Y,
                           rank % RANKS_X};
    struct bm_box box;

    for (int d = 0; d < 3; d++) {
        box.lo[d] = t->shape[d] * at[d] / n[d];
        box.hi[d] = t->shape[d] * (at[d] + 1) / n[d];
    }
    return box;
}

/* A chunk's bytes: 1 KiB in calm regions, up to 256 KiB in a shell, noisy. */
static uint64_t chunk_bytes(const struct bm_tiling *t, int64_t patch,
                            uint64_t *state)
{
    int64_t at[3], r = 0;
    uint64_t noise = check_random(state);

    bm_tiling_at(t, patch, at);
    for (int d = 0; d < 3; d++) {
        int64_t x = 256 * at[d] / t->count[d] - 128;

        r += x * x;
    }
    if (r > 80 * 80 && r < 100 * 100)
        return 65536 + (noise & 0x2ffff);
    return 1024 + (noise & 0x3ff);
}

static double make_plan(struct plan *p, const int64_t shape[3])
{
    static const int64_t edge[3] = {64, 64, 64};
    struct bm_cover_fault fault;
    struct bm_chunk_sizes sizes;
    uint64_t state = 25;
    double since, total = 0;

    REQUIRE(!bm_tiling_init(&p->tiling, 3, shape, edge));
    REQUIRE(p->tiling.patches == PATCHES);
    p->blocks = bm_new_raw(&p->a, RANKS, sizeof(*p->blocks));
    p->owner = bm_new_raw(&p->a, (size_t)PATCHES, sizeof(*p->owner));
    p->in_order = bm_new_raw(&p->a, (size_t)PATCHES, sizeof(*p->in_order));
    p->order = bm_new_raw(&p->a, (size_t)PATCHES, sizeof(*p->order));
    p->bytes = bm_new_raw(&p->a, (size_t)PATCHES, sizeof(*p->bytes));
    REQUIRE(p->blocks && p->owner && p->in_order && p->order && p->bytes);
    since = now();
    for (int r = 0; r < RANKS; r++)
        p->blocks[r] = (struct bm_block){r, rank_box(&p->tiling, r)};
    total += lap(&since, "boxes");
    REQUIRE(!bm_partition_init(&p->partition, &p->a,
                               bm_chunking_of_tiling(&p->tiling), p->blocks,
                               RANKS));
    total += lap(&since, "partition");
    REQUIRE(!bm_partition_check(&p->partition, &fault));
    total += lap(&since, "cover");
    REQUIRE(!bm_distribute(p->owner, BOUMA_DISTRIBUTE_BALANCED, &p->partition,
                           RANKS, &p->report));
    total += lap(&since, "distribute");
    bm_tiling_order(&p->tiling, p->order);
    total += lap(&since, "order");
    /* What the ranks would tell each other is not part of the plan. */
    for (int64_t i = 0; i < PATCHES; i++)
        p->bytes[i] = chunk_bytes(&p->tiling, p->order[i], &state);
    since = now();
    for (int64_t i = 0; i < PATCHES; i++)
        p->in_order[i] = p->owner[p->order[i]];
    sizes = (struct bm_chunk_sizes){
        .count = (size_t)PATCHES, .bytes = p->bytes, .owner = p->in_order};
    REQUIRE(!bm_assign(&p->files, &p->a, BOUMA_ASSIGN_OPTIMAL, &sizes, FILES,
                       RANKS));
    total += lap(&since, "assign");
    for (int64_t f = 0, last = -1; f < FILES; f++) {
        int rank = bm_spread_file(FILES, RANKS, f);

        CHECK(rank > last && rank < RANKS);
        last = rank;
    }
    total += lap(&since, "place");
    return total;
}

static void check_owners(const struct plan *p, int64_t *most)
{
    int *count = calloc(RANKS, sizeof(*count));
    int64_t strangers = 0;

    REQUIRE(count);
    *most = 0;
    for (int64_t i = 0; i < PATCHES; i++) {
        int shares = 0;

        REQUIRE(p->owner[i] >= 0 && p->owner[i] < RANKS);
        if (++count[p->owner[i]] > *most)
            *most = count[p->owner[i]];
        for (int64_t k = p->partition.first[i]; k < p->partition.first[i + 1];
             k++)
            shares |= p->blocks[p->partition.part[k]].rank == p->owner[i];
        strangers += !shares;
    }
    for (int r = 0; r < RANKS; r++)
        CHECK_EQ(count[r], PATCHES / RANKS);
    printf("    patches a rank: %" PRId64 " at most; %" PRId64
           " go to a rank that held nothing of them\n",
           *most, strangers);
    free(count);
}

static void check_order(const struct plan *p)
{
    uint64_t last = 0;

    for (int64_t i = 0; i < PATCHES; i++) {
        uint64_t key = bm_tiling_key(&p->tiling, p->order[i]);

        if (i && key <= last) {
            CHECK(!"ascending keys");
            break;
        }
        last = key;
    }
}

static void check_files(const struct plan *p)
{
    uint64_t total = 0, largest = 0, largest_chunk = 0, mean;

    CHECK_EQ(p->files.files, FILES);
    CHECK_EQ(p->files.first[FILES], PATCHES);
    for (int64_t f = 0; f < FILES; f++) {
        uint64_t bytes = 0;

        CHECK(p->files.first[f] < p->files.first[f + 1]);
        for (size_t i = p->files.first[f]; i < p->files.first[f + 1]; i++) {
            uint64_t n = p->bytes[p->files.chunk[i]];

            if (p->files.chunk[i] != i)
                CHECK_EQ(p->files.chunk[i], i);
            bytes += n;
            largest_chunk = n > largest_chunk ? n : largest_chunk;
        }
        total += bytes;
        largest = bytes > largest ? bytes : largest;
    }
    mean = total / FILES;
    /* Files that are filled to 'mean + largest chunk' always suffice. */
    CHECK(largest <= mean + largest_chunk);
    printf("    files: largest / mean = %.4f (a chunk is up to %.4f of it)\n",
           (double)largest / (double)mean,
           (double)largest_chunk / (double)mean);
}

static void plan_and_check(const char *name, const int64_t shape[3],
                           int aligned)
{
    struct counter counter = {0, 0};
    struct plan p;
    int64_t most;
    double seconds;

    memset(&p, 0, sizeof(p));
    p.a = (bouma_allocator){sizeof(p.a), &counter, count_resize, count_release};
    printf("%s: %d ranks, %" PRId64 " patches, %d files\n", name, RANKS,
           PATCHES, FILES);
    seconds = make_plan(&p, shape);
    printf("    in all     %6.3f s, %.0f MiB\n", seconds,
           (double)counter.peak / 1048576);
    CHECK(counter.peak < (size_t)1 << 30);
    check_owners(&p, &most);
    CHECK_EQ(p.report.most_patches, most);
    if (aligned) {
        CHECK_EQ(p.report.shared_patches, 0);
        CHECK_EQ(p.report.moved_samples, 0);
        CHECK_EQ(p.report.messages, 0);
        CHECK_EQ(p.partition.first[PATCHES], PATCHES);
    } else {
        CHECK(p.report.shared_patches > PATCHES / 2);
        CHECK(p.report.moved_samples > 0);
        CHECK(p.partition.first[PATCHES] > 4 * PATCHES);
    }
    check_order(&p);
    check_files(&p);
    bm_assignment_release(&p.files);
    bm_partition_release(&p.partition);
    bm_drop(&p.a, p.blocks);
    bm_drop(&p.a, p.owner);
    bm_drop(&p.a, p.in_order);
    bm_drop(&p.a, p.order);
    bm_drop(&p.a, p.bytes);
    CHECK_EQ(counter.now, 0);
}

/* A block is 128 x 64 x 128 samples, four patches. */
static void aligned_blocks_stay_where_they_are(void)
{
    static const int64_t shape[3] = {16384, 8192, 8192};

    plan_and_check("aligned", shape, 1);
}

/* Just as many patches, but no boundary between ranks is one of patches. */
static void misaligned_blocks_are_shared_out_evenly(void)
{
    static const int64_t shape[3] = {16364, 8172, 8172};

    plan_and_check("misaligned", shape, 0);
}

static uint64_t largest_load(const uint64_t *load)
{
    uint64_t most = 0;

    for (int r = 0; r < RANKS; r++)
        most = load[r] > most ? load[r] : most;
    return most;
}

/* Blocks of 110 x 75 x 130 samples, and patches in a shell that take 64 times
 * as long as others or more. */
static void weights_are_balanced(void)
{
    static const int64_t shape[3] = {14080, 9600, 8320}, edge[3] = {64, 64, 64};
    struct counter counter = {0, 0};
    bouma_allocator a = {sizeof(a), &counter, count_resize, count_release};
    struct bm_block *blocks = malloc(RANKS * sizeof(*blocks));
    uint64_t *load = calloc(RANKS, sizeof(*load)), *weight, state = 26, before;
    struct bm_distribution report, after;
    struct bm_partition p;
    struct bm_tiling t;
    double since, sum = 0;
    int *owner;

    REQUIRE(!bm_tiling_init(&t, 3, shape, edge));
    weight = malloc((size_t)t.patches * sizeof(*weight));
    owner = malloc((size_t)t.patches * sizeof(*owner));
    REQUIRE(blocks && load && weight && owner);
    for (int r = 0; r < RANKS; r++)
        blocks[r] = (struct bm_block){r, rank_box(&t, r)};
    REQUIRE(
        !bm_partition_init(&p, &a, bm_chunking_of_tiling(&t), blocks, RANKS));
    REQUIRE(
        !bm_distribute(owner, BOUMA_DISTRIBUTE_BALANCED, &p, RANKS, &report));
    for (int64_t i = 0; i < t.patches; i++) {
        weight[i] = chunk_bytes(&t, i, &state);
        load[owner[i]] += weight[i];
        sum += (double)weight[i];
    }
    before = largest_load(load);
    printf("weighted: %d ranks, %" PRId64 " patches\n", RANKS, t.patches);
    since = now();
    REQUIRE(!bm_distribute_weighted(owner, &p, RANKS, weight, load));
    lap(&since, "weighted");
    REQUIRE(!bm_distribute_report(&after, owner, &p, RANKS));
    printf("    largest / mean %.2f, with weights %.2f; %.3f and %.3f of the "
           "samples moved; %.0f MiB\n",
           (double)before / sum * RANKS,
           (double)largest_load(load) / sum * RANKS,
           (double)report.moved_samples / (14080. * 9600 * 8320),
           (double)after.moved_samples / (14080. * 9600 * 8320),
           (double)counter.peak / 1048576);
    CHECK(largest_load(load) < before);
    CHECK(after.moved_samples <= report.moved_samples);
    CHECK(counter.peak < (size_t)1 << 30);
    bm_partition_release(&p);
    CHECK_EQ(counter.now, 0);
    free(blocks);
    free(load);
    free(weight);
    free(owner);
}

/* Even at this scale one missing block is found, and named. */
static void a_missing_block_is_found(void)
{
    static const int64_t shape[3] = {16364, 8172, 8172}, edge[3] = {64, 64, 64};
    struct bm_block *blocks = malloc(RANKS * sizeof(*blocks));
    struct bm_cover_fault fault;
    struct bm_partition p;
    struct bm_tiling t;
    struct bm_box missing;
    double since;

    REQUIRE(blocks);
    REQUIRE(!bm_tiling_init(&t, 3, shape, edge));
    missing = rank_box(&t, 777777);
    for (int r = 0; r < RANKS - 1; r++)
        blocks[r] = (struct bm_block){r + (r >= 777777),
                                      rank_box(&t, r + (r >= 777777))};
    REQUIRE(!bm_partition_init(&p, bm_allocator_default(),
                               bm_chunking_of_tiling(&t), blocks, RANKS - 1));
    since = now();
    CHECK_EQ(bm_partition_check(&p, &fault), BOUMA_ECOVER);
    lap(&since, "fault");
    CHECK_EQ(fault.rank[0], -1);
    CHECK(bm_box_inside(&fault.region, &missing));
    CHECK(bm_box_volume(&fault.region) > 0);
    bm_partition_release(&p);
    free(blocks);
}

int main(void)
{
    aligned_blocks_stay_where_they_are();
    misaligned_blocks_are_shared_out_evenly();
    weights_are_balanced();
    a_missing_block_is_found();
    return check_result();
}
