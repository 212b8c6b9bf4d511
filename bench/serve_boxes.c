/* serve_boxes.c -- boxes over HTTP beside bouma_variable_read(): the same ones,
 * by turns, so that a busy machine slows down both. Both have opened the step
 * before, and find the files in the page cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure.h"
#include "score.h"
#include "serve_client.h"
#include "serve_data.h"
#include "serve_parts.h"

/* Who reads: seconds on the clock, and of processors. */
enum { BY_CALL, BY_HTTP, WAYS };
struct taken {
    struct times clock[WAYS], processor[WAYS];
};

struct pair {
    struct data_reading own;
    struct server server;
    int socket;
    const char *variable;
    char *data[WAYS];
    size_t bytes;
};

static double own_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void read_box(struct pair *p, int way, const bouma_box *box)
{
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F32, p->data[way], p->bytes);
    struct reply reply;
    char target[400];

    if (way == BY_CALL) {
        data_check(bouma_variable_read(p->own.variable, 0, box, &array),
                   p->own.ds);
        return;
    }
    bench_target(target, sizeof(target), p->variable, box);
    if (http_get(&reply, p->socket, target, NULL, p->data[way], p->bytes) ||
        reply.code != 200 || reply.body != p->bytes)
        fail("a box is not answered");
}

/* One box by both; 'first' begins. */
static void take_turns(struct pair *p, const bouma_box *box, int first,
                       struct taken *out)
{
    for (int i = 0; i < WAYS; i++) {
        int way = (first + i) % WAYS;
        double busy = own_seconds() + server_seconds(&p->server);
        double begun = measure_now();

        read_box(p, way, box);
        if (!out)
            continue;
        times_add(&out->clock[way], measure_now() - begun);
        times_add(&out->processor[way],
                  own_seconds() + server_seconds(&p->server) - busy);
    }
    if (memcmp(p->data[BY_CALL], p->data[BY_HTTP], p->bytes) != 0)
        fail("a box over HTTP differs from that of the C API");
}

static void compare(const struct bench *b, struct pair *p, int64_t edge)
{
    static struct taken taken;
    /* Some 64 M samples, and enough to have a median. */
    int64_t wanted = ((int64_t)64 << 20) / (edge * edge * edge);
    int turns = wanted < 9 ? 9 : wanted > 60 ? 60 : (int)wanted;
    unsigned seed = 1;
    char name[100];

    taken = (struct taken){0};
    p->bytes = (size_t)(edge * edge * edge) * sizeof(float);
    for (int i = -2; i < turns; i++) { /* two to warm up */
        bouma_box box = bench_box(b, edge, &seed);

        take_turns(p, &box, i & 1, i < 0 ? NULL : &taken);
    }
    snprintf(name, sizeof(name), "%s, %lld^3: HTTP over C", p->variable,
             (long long)edge);
    score_ratio(name, &taken.clock[BY_HTTP], "the same box in C",
                &taken.clock[BY_CALL], SCORE_AT_MOST, 1.4);
    snprintf(name, sizeof(name), "%s, %lld^3: HTTP over C, processor time",
             p->variable, (long long)edge);
    score_ratio(name, &taken.processor[BY_HTTP], "the same box in C",
                &taken.processor[BY_CALL], SCORE_TOLD, 0);
}

void bench_boxes(const struct bench *b)
{
    static const char *const variables[] = {DATA_RAW, DATA_LOSSY};
    size_t most = (size_t)256 * 256 * 256 * sizeof(float);
    struct pair p = {.data = {malloc(most), malloc(most)}};

    if (!p.data[BY_CALL] || !p.data[BY_HTTP])
        fail("no memory");
    score_part("%s", "boxes of f32 over HTTP beside the C call");
    server_start(&p.server, b->program, b->grid_path, NULL);
    p.socket = server_connect(&p.server, 1);
    for (int i = 0; i < 2; i++) {
        p.variable = variables[i];
        data_open(&p.own, b->grid_path, p.variable);
        for (int64_t edge = 32; edge <= 256 && edge <= b->size; edge *= 2)
            compare(b, &p, edge);
        data_close(&p.own);
    }
    server_stop(&p.server);
    free(p.data[BY_CALL]);
    free(p.data[BY_HTTP]);
}
