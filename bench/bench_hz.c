/* bench_hz.c -- samples into HZ order and back, beside memcpy of the same
 * array.
 *
 *   bench_hz [--edge 256] [--repetitions 9]
 *
 * A cube of f32 in one thread. Every repetition goes through all of them; what
 * counts is processor time, in which other programs are not: the ratio of the
 * medians, and beside it that of the shortest times. Results are checked
 * against a loop over all samples: a wrong one ends the program with an error.
 * A missed target does not.
 *
 * Arrays begin with a cache line, or 16 bytes behind one, as malloc() has
 * large ones. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plan/hz_order.h"
#include "score.h"

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_hz: %s\n", what);
    exit(EXIT_FAILURE);
}

static double processor_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* By the definition, bit by bit. */
static uint64_t slow_hz(const char *text, const uint64_t index[3])
{
    uint64_t left[3] = {index[0], index[1], index[2]}, z = 0;
    int length = (int)strlen(text);

    for (int i = length - 1; i >= 0; i--) {
        int axis = 'z' - text[i];

        z |= (left[axis] & 1) << (length - 1 - i);
        left[axis] >>= 1;
    }
    z |= (uint64_t)1 << length;
    while (!(z & 1))
        z >>= 1;
    return z >> 1;
}

/* The arrays begin 'shift' bytes into their memory. */
struct cube {
    uint64_t edge;
    size_t bytes, shift;
    uint32_t *rows, *expected, *out, *back;
    void *memory[4];
};

static void fill(struct cube *c, const char *text)
{
    uint64_t at[3], i = 0;

    for (at[0] = 0; at[0] < c->edge; at[0]++)
        for (at[1] = 0; at[1] < c->edge; at[1]++)
            for (at[2] = 0; at[2] < c->edge; at[2]++, i++) {
                c->rows[i] = (uint32_t)(i * 2654435761u);
                c->expected[slow_hz(text, at)] = c->rows[i];
            }
    memset(c->out, 1, c->bytes); /* pages come now, not when time is taken */
    memset(c->back, 1, c->bytes);
}

static void measure_template(struct cube *c, const char *text, int repetitions,
                             int targets)
{
    struct times copy = {.count = 0}, pack = {.count = 0},
                 unpack = {.count = 0};
    int64_t row = (int64_t)c->edge * 4, shape[3];
    struct bm_hz_rows from = {
        (uint8_t *)c->rows, {row * (int64_t)c->edge, row, 4}, 4};
    struct bm_hz_rows to = from;
    struct bm_error error = {0};
    struct bm_hz hz;
    const char *where = c->shift ? "behind a line" : "at a line";
    char name[128];

    for (int d = 0; d < 3; d++)
        shape[d] = (int64_t)c->edge;
    if (bm_hz_parse(&hz, text, 3, shape, &error))
        fail(error.text);
    to.data = (uint8_t *)c->back;
    fill(c, text);
    for (int r = -1; r < repetitions; r++) { /* one to warm up */
        double t[4];

        t[0] = processor_seconds();
        memcpy(c->back, c->rows, c->bytes);
        t[1] = processor_seconds();
        bm_hz_pack((uint8_t *)c->out, &hz, BM_ORDER_HZ, &from);
        t[2] = processor_seconds();
        memset(c->back, 0, c->bytes);
        t[3] = processor_seconds();
        bm_hz_unpack(&to, &hz, BM_ORDER_HZ, (const uint8_t *)c->out);
        if (r >= 0) {
            times_add(&unpack, processor_seconds() - t[3]);
            times_add(&copy, t[1] - t[0]);
            times_add(&pack, t[2] - t[1]);
        }
        if (memcmp(c->out, c->expected, c->bytes))
            fail("samples are not in HZ order");
        if (memcmp(c->back, c->rows, c->bytes))
            fail("samples do not come back");
    }
    snprintf(name, sizeof(name), "%s, %s, to HZ", text, where);
    score_ratio(name, &pack, "memcpy", &copy,
                targets ? SCORE_AT_MOST : SCORE_TOLD, 2);
    snprintf(name, sizeof(name), "%s, %s, back", text, where);
    score_ratio(name, &unpack, "memcpy", &copy,
                targets ? SCORE_AT_MOST : SCORE_TOLD, 2.5);
}

static void cube_init(struct cube *c, uint64_t edge, size_t shift)
{
    uint32_t **const arrays[4] = {&c->rows, &c->expected, &c->out, &c->back};

    c->edge = edge;
    c->shift = shift;
    c->bytes = (size_t)(edge * edge * edge * 4);
    for (int i = 0; i < 4; i++) {
        c->memory[i] = aligned_alloc(4096, (c->bytes + 8191) / 4096 * 4096);
        if (!c->memory[i])
            fail("no memory");
        *arrays[i] = (uint32_t *)(void *)((char *)c->memory[i] + shift);
    }
}

static void cube_release(struct cube *c)
{
    for (int i = 0; i < 4; i++)
        free(c->memory[i]);
}

/* 'n' times z, y, x, in turn or one after the other. */
static void make_text(char *text, const char *letters, int n, int in_turn)
{
    for (int i = 0; i < 3 * n; i++)
        text[i] = letters[in_turn ? i % 3 : i / n];
    text[3 * n] = 0;
}

static void measure_cube(uint64_t edge, int n, size_t shift, int repetitions)
{
    char text[BM_HZ_BITS + 1];
    struct cube c;

    cube_init(&c, edge, shift);
    make_text(text, "zyx", n, 1);
    measure_template(&c, text, repetitions, 1);
    if (!shift) {
        make_text(text, "xyz", n, 1);
        measure_template(&c, text, repetitions, 0);
        make_text(text, "zyx", n, 0);
        measure_template(&c, text, repetitions, 0);
        make_text(text, "xyz", n, 0);
        measure_template(&c, text, repetitions, 0);
    }
    cube_release(&c);
}

int main(int argc, char **argv)
{
    int edge = 256, repetitions = 9, n = 0;

    for (int i = 1; i < argc; i += 2)
        if (i + 1 < argc && !strcmp(argv[i], "--edge"))
            edge = atoi(argv[i + 1]);
        else if (i + 1 < argc && !strcmp(argv[i], "--repetitions"))
            repetitions = atoi(argv[i + 1]);
        else
            fail("usage: bench_hz [--edge 256] [--repetitions 9]");
    while (n < 10 && 1 << n < edge)
        n++;
    if (edge != 1 << n)
        fail("--edge: a power of two, up to 1024");
    if (repetitions < 1 || repetitions > SCORE_MAX_TIMES)
        fail("--repetitions: from 1 to 99");
    printf("%d^3 f32, one thread, time over that of memcpy\n", edge);
    score_setting("edge", edge);
    measure_cube((uint64_t)edge, n, 0, repetitions);
    measure_cube((uint64_t)edge, n, 16, repetitions);
    if (score_end("hz in memory"))
        fail("the results cannot be written");
    return 0;
}
