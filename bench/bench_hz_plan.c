/* bench_hz_plan.c -- plans of grids in HZ order: where the writers of their
 * files are, and how long a plan takes.
 *
 *   bench_hz_plan [--edge 16] [--ranks 131072] [--repetitions 5]
 *
 * Byte-hops of place=local over those of spread, on tori of edge 8, 16, ... up
 * to --edge. A rank has 32^3 samples, a block as many, and a file 16 blocks, or
 * two; the template is that of the ranks. Then the whole plan for so many ranks,
 * in seconds of processor time. A missed target is no error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bouma.h"
#include "measure.h"
#include "score.h"

enum { EDGE = 32 }; /* samples of a rank along each axis */

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_hz_plan: %s\n", what);
    exit(EXIT_FAILURE);
}

static bouma_plan_report plan(const int64_t blocks[3], int blocks_per_file,
                              const bouma_options *options)
{
    bouma_plan_spec spec = {.size = sizeof(spec),
                            .ranks = (int)(blocks[0] * blocks[1] * blocks[2]),
                            .ndims = 3,
                            .layout = BOUMA_LAYOUT_HZ,
                            .hz_template = "ranks",
                            .hz_block_bits = 15,
                            .hz_blocks_per_file = blocks_per_file};
    bouma_plan_report report = {.size = sizeof(report)};
    char message[640] = "";
    bouma_plan *p;

    for (int d = 0; d < 3; d++) {
        spec.blocks[d] = blocks[d];
        spec.shape[d] = EDGE * blocks[d];
    }
    if (bouma_plan_make(&p, &spec, options, message, sizeof(message)) ||
        bouma_plan_report_get(&report, p))
        fail(message);
    bouma_plan_free(p);
    return report;
}

static void compare_with_spread(int edge, int blocks_per_file)
{
    int64_t blocks[3] = {edge, edge, edge};
    bouma_plan_report local = {.size = sizeof(local)},
                      spread = {.size = sizeof(spread)};
    char machine[64], name[100];
    bouma_options options = {.size = sizeof(options)};

    snprintf(machine, sizeof(machine), "torus:%dx%dx%d", edge, edge, edge);
    options.machine = machine;
    options.place = BOUMA_PLACE_LOCAL;
    local = plan(blocks, blocks_per_file, &options);
    options.place = BOUMA_PLACE_SPREAD;
    spread = plan(blocks, blocks_per_file, &options);
    snprintf(name, sizeof(name), "%s, %d files of %d blocks", machine,
             (int)local.files, blocks_per_file);
    score(name, "", local.byte_hops / spread.byte_hops, SCORE_AT_MOST, 0.5);
}

/* A box of 2^n ranks, as cube-like as it can be. */
static void bench_many(int ranks, int repetitions)
{
    struct times times = {.count = 0};
    int64_t blocks[3] = {1, 1, 1};
    bouma_options options = {.size = sizeof(options)};
    char name[100];

    options.place = BOUMA_PLACE_LOCAL;
    for (int d = 2; blocks[0] * blocks[1] * blocks[2] * 2 <= ranks;
         d = (d + 2) % 3)
        blocks[d] *= 2;
    for (int r = 0; r < repetitions; r++) {
        clock_t begun = clock(); /* processor time: others are not in it */

        plan(blocks, 16, &options);
        times_add(&times, (double)(clock() - begun) / CLOCKS_PER_SEC);
    }
    snprintf(name, sizeof(name), "the plan for %d ranks, processor time",
             (int)(blocks[0] * blocks[1] * blocks[2]));
    score_times(name, "s", &times, SCORE_AT_MOST, 1);
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
    score_setting("ranks", ranks);
    score_part("byte-hops of place=local over those of spread");
    for (int edge = 8; edge <= most; edge *= 2) {
        compare_with_spread(edge, 16);
        compare_with_spread(edge, 2);
    }
    score_part("%s", "");
    bench_many(ranks, repetitions);
    if (score_end("hz plans"))
        fail("the results cannot be written");
    return 0;
}
