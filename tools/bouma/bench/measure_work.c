/* measure_work.c -- see measure_work.h. All is done by one thread, with the
 * library's own functions, on data that are made here: a smooth field with some
 * noise, and particles in clusters. */
#include "measure_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/gather.h"
#include "base/hash.h"
#include "base/mix.h"
#include "base/type.h"
#include "codec/subbands.h"
#include "layout/tree.h"
#include "median.h"
#include "plan/hz_order.h"

enum { SIDE = 64, LEVELS = 4, MOST_TRIES = 100, LEAF = 256, CHUNK = 16384 };
#define SAMPLES     ((size_t)SIDE * SIDE * SIDE)
#define FIELD_BYTES (SAMPLES * sizeof(float))
#define COPY_BYTES  ((size_t)32 << 20) /* more than caches have */
#define LIST_VALUES BM_SORTED_PARTICLES
#define TOLERANCE   1e-3 /* of the span of values, which is about 2 */

struct bench {
    struct bm_codec_state state;
    struct bm_buffer out;
    struct bm_lattice lattice[LEVELS];
    struct bm_box box;
    struct bm_hz hz;
    float *field, *work[LEVELS]; /* samples; of each level */
    float *positions[3], *values;
    uint32_t *order;
    uint16_t *slots;
    uint8_t *from, *to; /* [COPY_BYTES] */
    const struct bm_codec *codec;
    uint32_t sizes[LEVELS];
    struct bm_tree tree;
    struct bm_field of_codec;
    struct bm_list list;
    size_t stored;
    int failed;
};

/* ---- data ---------------------------------------------------------------- */

/* From 0 up to 1. */
static double chance(uint64_t i)
{
    return (double)(bm_mix_next(i * BM_MIX_STEP) >> 11) * 0x1p-53;
}

/* Waves whose amplitudes fall as they do in turbulence, and noise below the
 * tolerance. */
static void fill_field(float *field)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        double z = (double)(i / (SIDE * SIDE)), y = (double)(i / SIDE % SIDE);
        double x = (double)(i % SIDE), v = 0;

        for (int k = 1; k <= 16; k *= 2)
            v += pow(k, -5.0 / 3) * sin(0.098 * k * x + k) *
                 cos(0.091 * k * y + 0.7 * k) * sin(0.083 * k * z + 0.3 * k);
        field[i] = (float)(v + 2e-4 * chance(i));
    }
}

static void fill_particles(struct bench *b)
{
    enum { CLUSTERS = 64 };

    for (size_t i = 0; i < LIST_VALUES; i++) {
        size_t cluster = i * CLUSTERS / LIST_VALUES;

        for (size_t d = 0; d < 3; d++) {
            double centre = chance(3 * cluster + d + 7);
            double off = chance(6 * i + d) - chance(6 * i + d + 3);

            b->positions[d][i] = (float)(centre + 0.05 * off);
        }
        b->values[i] =
            (float)(sin(30 * b->positions[0][i]) + 0.01 * chance(i + 99));
    }
}

static int make(struct bench *b)
{
    const bouma_allocator *a = bm_allocator_default();
    int64_t shape[3] = {SIDE, SIDE, SIDE};
    int there = 1;

    bm_codec_state_init(&b->state, a);
    bm_buffer_init(&b->out, a);
    bm_tree_init(&b->tree, a);
    b->box = (struct bm_box){{0, 0, 0}, {SIDE, SIDE, SIDE}};
    bm_hz_from_shape(&b->hz, shape, BM_HZ_LONGEST);
    b->field = malloc(FIELD_BYTES);
    for (int k = 0; k < LEVELS; k++) {
        b->lattice[k] = bm_lattice_of(&b->box, k);
        b->work[k] = malloc(FIELD_BYTES);
        there = there && b->work[k];
    }
    for (int d = 0; d < 3; d++) {
        b->positions[d] = malloc(LIST_VALUES * sizeof(float));
        there = there && b->positions[d];
    }
    b->values = malloc(LIST_VALUES * sizeof(float));
    b->order = malloc(LIST_VALUES * sizeof(*b->order));
    b->slots = malloc(CHUNK * sizeof(*b->slots));
    b->from = malloc(COPY_BYTES);
    b->to = malloc(COPY_BYTES);
    there = there && b->field && b->values && b->order && b->slots && b->from &&
            b->to;
    if (!there)
        return 0;
    fill_field(b->field);
    fill_particles(b);
    memset(b->from, 1, COPY_BYTES);
    for (size_t i = 0; i < CHUNK; i++)
        b->slots[i] = (uint16_t)(i * 5 % CHUNK);
    return 1;
}

static void drop(struct bench *b)
{
    bm_codec_state_release(&b->state);
    bm_buffer_release(&b->out);
    bm_tree_release(&b->tree);
    free(b->field);
    for (int k = 0; k < LEVELS; k++)
        free(b->work[k]);
    for (int d = 0; d < 3; d++)
        free(b->positions[d]);
    free(b->values);
    free(b->order);
    free(b->slots);
    free(b->from);
    free(b->to);
}

/* ---- work ---------------------------------------------------------------- */

static void run_copy(struct bench *b)
{
    memcpy(b->to, b->from, COPY_BYTES);
    __asm__ volatile("" : : "r"(b->to) : "memory");
}

static void run_hash(struct bench *b)
{
    struct bm_address address = {.dataset = b->from};
    uint32_t hash = bm_hash_chunk(&address, b->from, COPY_BYTES);

    __asm__ volatile("" : : "r"(hash) : "memory");
}

/* One field after the other, so that none is in a cache. */
static void run_patch(struct bench *b)
{
    struct bm_strided all = bm_lattice_whole(&b->lattice[0], sizeof(float));
    struct bm_range range = {0};

    for (size_t at = 0; at < COPY_BYTES; at += FIELD_BYTES) {
        bm_lattice_split(&b->lattice[0], sizeof(float), &all, b->from + at,
                         b->to + at, b->work[1]);
        bm_range_add(&range, BOUMA_TYPE_F32, b->from + at, SAMPLES);
    }
    __asm__ volatile("" : : "r"(&range) : "memory");
}

static void run_order(struct bench *b)
{
    for (size_t at = 0; at < COPY_BYTES; at += FIELD_BYTES) {
        struct bm_hz_rows rows = {
            b->from + at, {SIDE * SIDE * 4, SIDE * 4, 4}, sizeof(float)};

        bm_hz_pack(b->to + at, &b->hz, BM_ORDER_HZ, &rows);
    }
}

static struct bm_subbands subbands(const struct bench *b)
{
    return (struct bm_subbands){&b->hz, b->hz.bits,
                                bm_words_of(BOUMA_TYPE_F32, 0)};
}

static void run_forward(struct bench *b)
{
    struct bm_subbands s = subbands(b);

    memcpy(b->work[0], b->field, FIELD_BYTES);
    bm_subbands_forward(&s, b->work[0], &b->box);
}

/* Whatever the words are. */
static void run_inverse(struct bench *b)
{
    struct bm_subbands s = subbands(b);

    memcpy(b->work[1], b->work[0], FIELD_BYTES);
    bm_subbands_inverse(&s, b->work[1], &b->box, 0);
}

static void run_sort(struct bench *b)
{
    struct bm_positions p = {
        .ndims = 3, .type = BOUMA_TYPE_F32, .count = BM_SORTED_PARTICLES};

    for (int d = 0; d < 3; d++) {
        p.axis[d] = b->positions[d];
        p.stride[d] = sizeof(float);
    }
    bm_tree_release(&b->tree);
    bm_tree_init(&b->tree, bm_allocator_default());
    b->failed |= bm_tree_build(&b->tree, b->order, &p, LEAF, 1, NULL) ||
                 bm_tree_add_maps(&b->tree, 1);
}

/* After run_sort(). */
static void run_arrange(struct bench *b)
{
    struct bm_range range = {0};

    bm_gather(b->from, b->values, b->order, LIST_VALUES, sizeof(float));
    bm_range_add(&range, BOUMA_TYPE_F32, b->from, LIST_VALUES);
    bm_bins_init(&b->tree.bins[0], BOUMA_TYPE_F32, range.low, range.high);
    bm_tree_fill_map(&b->tree, 0, b->from, 0, LIST_VALUES);
    for (size_t at = 0; at < LIST_VALUES; at += CHUNK)
        bm_gather_near(b->to + at * sizeof(float), b->from + at * sizeof(float),
                       b->slots, CHUNK, sizeof(float));
}

/* ---- codecs -------------------------------------------------------------- */

static void run_encode(struct bench *b)
{
    struct bm_loss loss = {0, 0};
    struct bm_samples in = {b->field, SAMPLES, sizeof(float)};

    b->out.size = 0;
    if (b->codec->encode_field) {
        b->failed |= b->codec->encode_field(&b->state, &b->out, b->sizes, &loss,
                                            &b->of_codec, b->field);
        return;
    }
    b->failed |= !bm_buffer_extend(&b->out, b->codec->bound(FIELD_BYTES)) ||
                 b->codec->encode(&b->state, b->out.data, &b->stored, &in, 0);
}

/* From the coarsest level on, as a reader does. */
static void run_decode(struct bench *b)
{
    struct bm_samples out = {b->work[0], SAMPLES, sizeof(float)};
    const uint8_t *data = b->out.data;

    if (!b->codec->decode_field) {
        b->failed |= b->codec->decode(&b->state, &out, data, b->stored);
        return;
    }
    for (int k = LEVELS - 1; k >= 0; k--) {
        struct bm_coded_level piece = {k, data, b->sizes[k]};

        b->failed |= b->codec->decode_field(
            &b->state, b->work[k], k + 1 < LEVELS ? b->work[k + 1] : NULL,
            &b->of_codec, &piece);
        data += b->sizes[k];
    }
}

static void run_encode_list(struct bench *b)
{
    struct bm_samples in = {b->values, LIST_VALUES, sizeof(float)};

    b->out.size = 0;
    if (b->codec->encode_list) {
        b->failed |=
            b->codec->encode_list(&b->state, &b->out, b->values, &b->list);
        b->stored = b->out.size;
        return;
    }
    b->failed |= !bm_buffer_extend(
                     &b->out, b->codec->bound(LIST_VALUES * sizeof(float))) ||
                 b->codec->encode(&b->state, b->out.data, &b->stored, &in, 0);
}

static void run_decode_list(struct bench *b)
{
    struct bm_samples out = {b->to, LIST_VALUES, sizeof(float)};

    b->failed |=
        b->codec->decode_list
            ? b->codec->decode_list(&b->state, b->to, &b->list, b->out.data,
                                    b->stored)
            : b->codec->decode(&b->state, &out, b->out.data, b->stored);
}

/* ---- rates --------------------------------------------------------------- */

/* Three digits: more would not be the same tomorrow. */
static double rounded(double v)
{
    double unit = pow(10, floor(log10(v)) - 2);

    return floor(v / unit + 0.5) * unit;
}

/* Of this thread: whoever else has the processor does not count. */
static double processor_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Once for the caches, then some times. 0 after a failure. */
static double rate(struct bench *b, void (*run)(struct bench *b), size_t bytes,
                   int tries)
{
    double seconds[MOST_TRIES];

    tries = tries < MOST_TRIES ? tries : MOST_TRIES;
    run(b);
    for (int i = 0; i < tries && !b->failed; i++) {
        double begun = processor_seconds();

        run(b);
        seconds[i] = processor_seconds() - begun;
        seconds[i] = seconds[i] > 1e-9 ? seconds[i] : 1e-9;
    }
    return b->failed ? 0
                     : rounded((double)bytes / bench_median(seconds, tries));
}

static void measure_codec(struct bm_codec_rates *out, struct bench *b,
                          int tries)
{
    size_t list_bytes = LIST_VALUES * sizeof(float), decoded = 0;

    b->of_codec = (struct bm_field){.codec = b->codec,
                                    .type = BOUMA_TYPE_F32,
                                    .components = 1,
                                    .size = sizeof(float),
                                    .levels = LEVELS,
                                    .lattice = b->lattice,
                                    .bound = b->codec->lossy ? TOLERANCE : 0};
    b->list = (struct bm_list){BOUMA_TYPE_F32, LIST_VALUES, 1, TOLERANCE, 0};
    for (int k = 0; k < LEVELS; k++)
        decoded += (size_t)bm_lattice_samples(&b->lattice[k]) * sizeof(float);
    if (!b->codec->decode_field)
        decoded = FIELD_BYTES;
    if (b->codec->uses & BM_FOR_FIELDS) {
        out->encode = rate(b, run_encode, FIELD_BYTES, tries);
        out->decode = rate(b, run_decode, decoded, tries);
    }
    if (b->codec->uses & BM_FOR_LISTS) {
        if (b->codec->round)
            b->codec->round(BOUMA_TYPE_F32, b->values, LIST_VALUES, TOLERANCE,
                            &(struct bm_loss){0, 0});
        out->encode_list = rate(b, run_encode_list, list_bytes, tries);
        out->decode_list = rate(b, run_decode_list, list_bytes, tries);
    }
}

int measure_work(struct bm_work_rates *out, int tries)
{
    static const struct {
        void (*run)(struct bench *b);
        size_t bytes;
    } works[BM_WORKS] = {
        [BM_WORK_COPY] = {run_copy, COPY_BYTES},
        [BM_WORK_HASH] = {run_hash, COPY_BYTES},
        [BM_WORK_PATCH] = {run_patch, COPY_BYTES},
        [BM_WORK_ORDER] = {run_order, COPY_BYTES},
        [BM_WORK_FORWARD] = {run_forward, FIELD_BYTES},
        [BM_WORK_INVERSE] = {run_inverse, FIELD_BYTES},
        [BM_WORK_SORT] = {run_sort, 3 * LIST_VALUES * sizeof(float)},
        [BM_WORK_ARRANGE] = {run_arrange, LIST_VALUES * sizeof(float)}};
    struct bench b = {.field = NULL};

    memset(out, 0, sizeof(*out));
    b.failed = !make(&b);
    for (int i = 0; i < BM_WORKS && !b.failed; i++)
        out->work[i] = rate(&b, works[i].run, works[i].bytes, tries);
    for (int i = 1; i < BM_RATED_CODECS && !b.failed; i++) {
        b.codec = bm_codec_find(i);
        if (b.codec && !b.codec->sized) /* else it is a copy */
            measure_codec(&out->codecs[i], &b, tries);
    }
    drop(&b);
    return !b.failed;
}
