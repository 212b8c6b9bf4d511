/* bench_hz_plan.c -- plans of grids in HZ order: where the writers of their
 * files are, and how long a plan takes.
 *
 *   bench_hz_plan [--edge 16] [--ranks 131072] [--repetitions 5]
 *
 * Byte-hops of place=local over those of spread, on tori of edge 8, 16, ... up
 * to --edge. A rank has 32^3 samples, a block as many, and a file 16 blocks, or
 * two. The order's prefix is that of the ranks, so bytes go from a rank to the
 * writers of those files whose samples it holds. Then the groups of files and
 * their writers for so many ranks, in seconds. A missed target is no error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "plan/hz_groups.h"
#include "plan/place_local.h"
#include "plan/placement.h"
#include "score.h"
#include "torus.h"

enum { EDGE = 32, BLOCK_BITS = 15 };

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_hz_plan: %s\n", what);
    exit(EXIT_FAILURE);
}

static void *allocate(size_t count, size_t bytes)
{
    void *block = calloc(count + 1, bytes);

    if (!block)
        fail("no memory");
    return block;
}

/* A plan of one variable: who sends what to which file. */
struct plan {
    struct bm_hz_ranks ranks;
    struct bm_hz hz;
    struct bm_gathering gathering;
    int *writer;
};

static void plan_release(struct plan *p)
{
    free(p->gathering.first);
    free(p->gathering.rank);
    free(p->gathering.bytes);
    free(p->writer);
}

/* The ranks of file 'f', behind those of the files before it. */
static void add_group(struct bm_gathering *g, struct bm_hz_groups *groups,
                      int64_t f, uint64_t blocks)
{
    struct bm_hz_group group = bm_hz_groups_find(groups, (uint64_t)f * blocks,
                                                 (uint64_t)(f + 1) * blocks);
    size_t n = g->first[f];

    for (int r = group.first; r >= 0 && r <= group.last; r++)
        if (groups->seen[r] == groups->turn) {
            g->rank[n] = r;
            g->bytes[n++] = (blocks << BLOCK_BITS) / (uint64_t)group.count;
        }
    g->first[f + 1] = n;
}

/* Each rank is in one file of each level at most, but for those that a border
 * between files cuts. */
static void find_groups(struct plan *p, uint64_t blocks)
{
    int64_t files =
        (int64_t)(((uint64_t)1 << (p->hz.bits - BLOCK_BITS)) / blocks);
    size_t most =
        (size_t)p->ranks.count * (size_t)(p->hz.bits + 1) + 2 * (size_t)files;
    struct bm_gathering *g = &p->gathering;
    struct bm_hz_groups groups;

    *g = (struct bm_gathering){.files = files, .ranks = p->ranks.count};
    g->first = allocate((size_t)files + 1, sizeof(*g->first));
    g->rank = allocate(most, sizeof(*g->rank));
    g->bytes = allocate(most, sizeof(*g->bytes));
    if (bm_hz_groups_init(&groups, bm_allocator_default(), &p->ranks, &p->hz,
                          BLOCK_BITS))
        fail("no memory");
    for (int64_t f = 0; f < files; f++)
        add_group(g, &groups, f, blocks);
    bm_hz_groups_release(&groups);
}

static void make_plan(struct plan *p, const int64_t grid[3], uint64_t blocks)
{
    struct bm_place_task task = {.scheme = BOUMA_PLACE_LOCAL};
    int64_t shape[3], block[3] = {EDGE, EDGE, EDGE};

    for (int d = 0; d < 3; d++)
        shape[d] = grid[d] * EDGE;
    if (bm_hz_ranks_init(&p->ranks, shape, block, grid, BM_HZ_ROW_MAJOR) ||
        bm_hz_ranks_template(&p->hz, &p->ranks))
        fail("no template for these ranks");
    find_groups(p, blocks);
    p->writer = allocate((size_t)p->gathering.files, sizeof(*p->writer));
    task.ranks = p->ranks.count;
    if (bm_place_files(p->writer, NULL, bm_allocator_default(), &task,
                       p->gathering.files, &p->gathering))
        fail("no memory");
}

static void compare_with_spread(int edge, uint64_t blocks)
{
    struct torus torus = {{edge, edge, edge}, 1};
    struct bm_network network = torus_network(&torus);
    int64_t grid[3] = {edge, edge, edge};
    double local, spread;
    struct plan p;
    char name[100];

    make_plan(&p, grid, blocks);
    local = bm_byte_hops(&network, &p.gathering, p.writer);
    for (int64_t f = 0; f < p.gathering.files; f++)
        p.writer[f] = bm_spread_file(p.gathering.files, p.ranks.count, f);
    spread = bm_byte_hops(&network, &p.gathering, p.writer);
    snprintf(name, sizeof(name), "torus %dx%dx%d, %d files of %d blocks", edge,
             edge, edge, (int)p.gathering.files, (int)blocks);
    score(name, local / spread, SCORE_AT_MOST, 0.5);
    plan_release(&p);
}

/* A box of 2^n ranks, as cube-like as it can be. */
static void bench_many(int ranks, int repetitions)
{
    struct times times = {.count = 0};
    int64_t grid[3] = {1, 1, 1};
    char name[100];

    for (int d = 2; grid[0] * grid[1] * grid[2] * 2 <= ranks; d = (d + 2) % 3)
        grid[d] *= 2;
    for (int r = 0; r < repetitions; r++) {
        double begun = measure_now();
        struct plan p;

        make_plan(&p, grid, 16);
        times_add(&times, measure_now() - begun);
        plan_release(&p);
    }
    snprintf(name, sizeof(name), "%d ranks: groups and writers, seconds",
             (int)(grid[0] * grid[1] * grid[2]));
    score(name, measure_median(times.seconds, times.count), SCORE_AT_MOST, 1);
}

int main(int argc, char **argv)
{
    int most = 16, ranks = 131072, repetitions = 5;

    for (int i = 1; i < argc; i += 2)
        if (i + 1 < argc && !strcmp(argv[i], "--edge"))
            most = atoi(argv[i + 1]);
        else if (i + 1 < argc && !strcmp(argv[i], "--ranks"))
            ranks = atoi(argv[i + 1]);
        else if (i + 1 < argc && !strcmp(argv[i], "--repetitions"))
            repetitions = atoi(argv[i + 1]);
        else
            fail("usage: bench_hz_plan [--edge 16] [--ranks 131072] "
                 "[--repetitions 5]");
    if (most > 64 || ranks < 16 || ranks > 1 << 20)
        fail("--edge: up to 64; --ranks: from 16 to 2^20");
    if (repetitions < 1 || repetitions > SCORE_MAX_TIMES)
        fail("--repetitions: from 1 to 99");
    printf("byte-hops of place=local over those of spread\n");
    for (int edge = 8; edge <= most; edge *= 2) {
        compare_with_spread(edge, 16);
        compare_with_spread(edge, 2);
    }
    bench_many(ranks, repetitions);
    return 0;
}
