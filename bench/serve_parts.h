/* serve_parts.h -- the parts of bench_serve. Each prints what it finds. */
#ifndef BENCH_SERVE_PARTS_H
#define BENCH_SERVE_PARTS_H

#include <stdint.h>
#include <stdio.h>

#include "bouma.h"

enum { BENCH_PATH_BYTES = 4096 };

struct bench {
    const char *program;  /* bouma */
    const char *recorder; /* serve_requests.mjs; NULL: there is no node */
    const char *directory;
    int64_t size; /* of the grid, along each axis */
    uint64_t particles;
    int repetitions;
    double seconds; /* for which clients ask, at least */
    char grid_path[BENCH_PATH_BYTES], particles_path[BENCH_PATH_BYTES];
};

/* A cube of 'edge' samples somewhere in the grid, and how to ask for it. */
bouma_box bench_box(const struct bench *b, int64_t edge, unsigned *seed);
void bench_target(char *text, size_t room, const char *variable,
                  const bouma_box *box);

/* serve_boxes.c: boxes beside the same reads in C, by turns. */
void bench_boxes(const struct bench *b);
/* serve_pictures.c: what the viewer asks, of a server that was just started. */
void bench_pictures(const struct bench *b);
/* serve_crowd.c: 64 clients at once. */
void bench_crowds(const struct bench *b);

#endif
