/* bench_serve.c -- what `bouma serve` promises, at its size.
 *
 *   bench_serve BOUMA [--directory .] [--recorder FILE.mjs] [--size 512]
 *               [--particles 8000000] [--repetitions 7] [--seconds 10]
 *
 * A grid of f32, with a bound of 1e-3 of its range and raw, and particles are
 * written; servers of them are started and asked. Times of HTTP and of the C
 * API alternate, so that a busy machine slows down both: the ratio of their
 * medians is what counts. A wrong byte ends the program with an error; a missed
 * target does not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "score.h"
#include "serve_client.h"
#include "serve_data.h"
#include "serve_parts.h"

bouma_box bench_box(const struct bench *b, int64_t edge, unsigned *seed)
{
    bouma_box box = {{0}, {0}};

    for (int i = 0; i < 3; i++) {
        box.lo[i] = rand_r(seed) % (b->size - edge + 1);
        box.hi[i] = box.lo[i] + edge;
    }
    return box;
}

void bench_target(char *text, size_t room, const char *variable,
                  const bouma_box *box)
{
    snprintf(text, room,
             "/api/v1/grid/0/" DATA_GRID
             "/%s/samples?box=%lld:%lld,%lld:%lld,%lld:%lld",
             variable, (long long)box->lo[0], (long long)box->hi[0],
             (long long)box->lo[1], (long long)box->hi[1],
             (long long)box->lo[2], (long long)box->hi[2]);
}

static void usage(void)
{
    fail("usage: bench_serve BOUMA [--directory DIR] [--recorder FILE.mjs] "
         "[--size N] [--particles N] [--repetitions N] [--seconds S]");
}

static void parse(struct bench *b, int argc, char **argv)
{
    *b = (struct bench){.directory = ".",
                        .size = 512,
                        .particles = 8000000,
                        .repetitions = 7,
                        .seconds = 10};
    if (argc < 2 || argc % 2)
        usage();
    b->program = argv[1];
    for (int i = 2; i < argc; i += 2) {
        const char *text = argv[i + 1];

        if (!strcmp(argv[i], "--directory"))
            b->directory = text;
        else if (!strcmp(argv[i], "--recorder"))
            b->recorder = text;
        else if (!strcmp(argv[i], "--size"))
            b->size = atoll(text);
        else if (!strcmp(argv[i], "--particles"))
            b->particles = strtoull(text, NULL, 10);
        else if (!strcmp(argv[i], "--repetitions"))
            b->repetitions = atoi(text);
        else if (!strcmp(argv[i], "--seconds"))
            b->seconds = atof(text);
        else
            usage();
    }
    if (b->size < 64 || b->size > 4096 || b->particles < 10000 ||
        b->repetitions < 1 || b->repetitions > SCORE_MAX_TIMES)
        fail("--size: from 64 to 4096; --particles: from 10000 on; "
             "--repetitions: from 1 to 99");
    snprintf(b->grid_path, sizeof(b->grid_path), "%s/grid.bouma", b->directory);
    snprintf(b->particles_path, sizeof(b->particles_path), "%s/dust.bouma",
             b->directory);
}

static void write_results(const struct bench *b)
{
    score_setting("size", (double)b->size);
    score_setting("particles", (double)b->particles);
    score_setting("seconds", b->seconds);
    if (score_end("serve"))
        fail("the results cannot be written");
}

int main(int argc, char **argv)
{
    struct bench b;

    parse(&b, argc, argv);
    data_write_grid(b.grid_path, b.size);
    data_write_particles(b.particles_path, b.particles);
    bench_pictures(&b);
    bench_boxes(&b);
    bench_crowds(&b);
    printf(
        "\nnot measured but tested: xarray over HTTP has the values of the C "
        "API (serve.views);\nneuroglancer fetches just the chunks in view "
        "(serve.views.neuroglancer)\n");
    write_results(&b);
    measure_remove(b.grid_path);
    measure_remove(b.particles_path);
    return EXIT_SUCCESS;
}
