/* Codec interp: no sample of any level misses the bound, whatever the samples
 * are; what cannot be rounded comes back bit for bit; damaged bytes give
 * EFORMAT or some samples, but never a step outside. */
#include "codec/codec.h"

#include <float.h>
#include <math.h>

#include "check.h"

enum kind {
    SMOOTH,
    NOISE,
    CONSTANT,
    ALL_NAN,
    SOME_NAN,
    MASKED, /* a region of NaN, as land in an ocean */
    INFINITE,
    DENORMAL,
    WILD, /* +-1e30 next to 1e-30 */
    STEPS,
    WAVY,    /* waves and a little noise */
    BETWEEN, /* noise between samples of the next level, which are 0 */
    KINDS
};

static double sample_of(enum kind kind, const int64_t at[3], uint64_t *state)
{
    double x = (double)at[0], y = (double)at[1], z = (double)at[2];
    double smooth = sin(0.3 * x) * cos(0.2 * y + 0.1) + 0.01 * z * z;
    double random = (double)check_below(state, 1 << 20) / (1 << 20);

    switch (kind) {
    case SMOOTH:
        return 300 + smooth;
    case NOISE:
        return random;
    case CONSTANT:
        return -7.25;
    case ALL_NAN:
        return NAN;
    case SOME_NAN:
        return random < 0.05 ? NAN : smooth;
    case MASKED:
        return at[1] + at[2] < 12 ? NAN : 300 + smooth;
    case INFINITE:
        return random < 0.02 ? INFINITY : random < 0.04 ? -INFINITY : smooth;
    case DENORMAL:
        return smooth * 1e-310;
    case WILD:
        return random < 0.3 ? 1e30 : random < 0.6 ? -1e30 : 1e-30 * random;
    case STEPS:
        return at[0] > 3 ? 1e6 : at[2] > 5 ? -3 : 0;
    case WAVY:
        return smooth + 0.03 * random;
    case BETWEEN:
        return (at[0] | at[1] | at[2]) % 2 ? random : 0;
    case KINDS:
        break;
    }
    return 0;
}

/* A patch with samples of one kind, somewhere in a grid. */
struct patch {
    struct bm_lattice lattice[12];
    struct bm_field field;
    uint8_t *samples;
    size_t count; /* samples of level 0 */
};

static void make(struct patch *p, const struct bm_box *box, int levels,
                 bouma_type type, double bound, enum kind kind, int components,
                 uint64_t *state)
{
    uint8_t *to;

    for (int k = 0; k < levels; k++)
        p->lattice[k] = bm_lattice_of(box, k);
    p->field = (struct bm_field){.codec = &bm_codec_interp,
                                 .type = type,
                                 .components = components,
                                 .size = type == BOUMA_TYPE_F32 ? 4 : 8,
                                 .levels = levels,
                                 .lattice = p->lattice,
                                 .bound = bound};
    p->count = (size_t)bm_lattice_samples(&p->lattice[0]);
    p->samples = to = malloc(p->count * p->field.size * (size_t)components + 1);
    REQUIRE(p->samples);
    for (int c = 0; c < components; c++)
        for (int64_t z = box->lo[0]; z < box->hi[0]; z++)
            for (int64_t y = box->lo[1]; y < box->hi[1]; y++)
                for (int64_t x = box->lo[2]; x < box->hi[2]; x++) {
                    int64_t at[3] = {z, y, x + c};
                    double v = sample_of(kind, at, state);
                    float f = (float)v;

                    memcpy(to, type == BOUMA_TYPE_F32 ? (void *)&f : (void *)&v,
                           p->field.size);
                    to += p->field.size;
                }
}

static double value_at(const struct patch *p, const uint8_t *data, size_t i)
{
    float f;
    double d;

    if (p->field.type == BOUMA_TYPE_F64) {
        memcpy(&d, data + i * 8, 8);
        return d;
    }
    memcpy(&f, data + i * 4, 4);
    return (double)f;
}

/* Whether 'got', the samples of level k, are those of the patch. */
static int level_is_right(const struct patch *p, int k, const uint8_t *got,
                          double *largest)
{
    const struct bm_lattice *l = &p->lattice[k], *l0 = &p->lattice[0];
    size_t n = 0;

    for (int c = 0; c < p->field.components; c++)
        for (int64_t z = 0; z < l->count[0]; z++)
            for (int64_t y = 0; y < l->count[1]; y++)
                for (int64_t x = 0; x < l->count[2]; x++, n++) {
                    int64_t at = (((l->start[0] + z) << k) - l0->start[0]) *
                                     l0->count[1] * l0->count[2] +
                                 (((l->start[1] + y) << k) - l0->start[1]) *
                                     l0->count[2] +
                                 (((l->start[2] + x) << k) - l0->start[2]);
                    size_t i = (size_t)at + (size_t)c * p->count;
                    double error =
                        fabs(value_at(p, got, n) - value_at(p, p->samples, i));

                    if (!isfinite(value_at(p, p->samples, i))) {
                        if (memcmp(got + n * p->field.size,
                                   p->samples + i * p->field.size,
                                   p->field.size))
                            return 0;
                    } else if (!(error <= p->field.bound)) {
                        return 0;
                    } else if (error > *largest) {
                        *largest = error;
                    }
                }
    return 1;
}

/* Encode, and decode all levels; gives the bytes that were stored. */
static size_t round_trip(struct bm_codec_state *state, const struct patch *p)
{
    const struct bm_codec *codec = &bm_codec_interp;
    uint32_t sizes[12];
    struct bm_loss loss = {0, 0};
    struct bm_buffer out;
    uint8_t *dense[2], *whole;
    size_t at = 0,
           bytes = p->count * p->field.size * (size_t)p->field.components;
    double largest = 0;

    bm_buffer_init(&out, state->a);
    CHECK_EQ(bm_codec_encode_fields(state, &out, sizes, &loss, &p->field,
                                    p->samples),
             BOUMA_OK);
    dense[0] = malloc(bytes + 1);
    dense[1] = malloc(bytes + 1);
    REQUIRE(dense[0] && dense[1]);
    for (int k = p->field.levels - 1; k >= 0; k--) {
        size_t level = (size_t)bm_lattice_samples(&p->lattice[k]) *
                       p->field.size * (size_t)p->field.components;
        uint8_t *to = dense[k & 1];

        CHECK(codec->plausible(
            k + 1 < p->field.levels
                ? (size_t)bm_lattice_details(&p->lattice[k]) * p->field.size *
                      (size_t)p->field.components
                : level,
            sizes[k]));
        REQUIRE(at + sizes[k] <= out.size);
        to[level] = 0x5a;
        /* From memory of its own size, so that a step outside is seen. */
        whole = malloc(sizes[k] + 1u);
        REQUIRE(whole);
        if (sizes[k])
            memcpy(whole, out.data + at, sizes[k]);
        CHECK_EQ(bm_codec_decode_fields(
                     state, to,
                     k + 1 < p->field.levels ? dense[!(k & 1)] : NULL,
                     &p->field, &(struct bm_coded_level){k, whole, sizes[k]}),
                 BOUMA_OK);
        free(whole);
        CHECK_EQ(to[level], 0x5a);
        largest = 0;
        CHECK(level_is_right(p, k, to, &largest));
        at += sizes[k];
    }
    CHECK_EQ(at, out.size);
    CHECK(fabs(loss.largest - largest) <= 1e-6 * largest + DBL_MIN);
    CHECK(loss.squares <= (double)(p->count * (size_t)p->field.components) *
                                  largest * largest * (1 + 1e-6) +
                              DBL_MIN);
    free(dense[0]);
    free(dense[1]);
    bm_buffer_release(&out);
    return at;
}

static void no_sample_misses_the_bound(void)
{
    static const double bounds[] = {1e-2, 1e-4, 1e-7, 1, 1e10, 1e-40, 1e-300};
    struct bm_codec_state state;
    uint64_t random = 7;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int i = 0; i < 600; i++) {
        bouma_type type = i & 1 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64;
        enum kind kind = (enum kind)(i / 2 % KINDS);
        double bound = bounds[check_below(&random, 7)];
        int levels = 1 + (int)check_below(&random, 5), ndims = 1 + i % 3;
        int components = i % 7 == 0 ? 3 : 1;
        struct bm_box box;
        struct patch p;

        for (int d = 0; d < 3; d++) {
            /* At multiples of an edge, as patches are. */
            int64_t edge = (int64_t)1 << check_below(&random, 6);

            box.lo[d] = d < 3 - ndims ? 0 : edge * check_below(&random, 3);
            box.hi[d] = box.lo[d] +
                        (d < 3 - ndims ? 1 : 1 + check_below(&random, edge));
        }
        make(&p, &box, levels, type, bound, kind, components, &random);
        round_trip(&state, &p);
        free(p.samples);
    }
    bm_codec_state_release(&state);
}

/* A part of a level is what it is in the whole level. */
static void parts_are_those_of_the_whole(void)
{
    struct bm_codec_state state;
    uint64_t random = 13;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int i = 0; i < 200; i++) {
        struct bm_box box = {{0, 0, 0}, {0, 0, 0}};
        struct bm_loss loss = {0, 0};
        struct bm_window wanted;
        struct bm_buffer out;
        uint32_t sizes[3];
        uint8_t *level[3], *part;
        const int64_t *n;
        struct patch p;
        size_t at = 0;
        int differ = 0;

        for (int d = 0; d < 3; d++)
            box.hi[d] = 1 + check_below(&random, 40);
        make(&p, &box, 3, i & 1 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64, 1e-3,
             (enum kind)(i % KINDS), 1, &random);
        bm_buffer_init(&out, state.a);
        CHECK_EQ(bm_codec_interp.encode_field(&state, &out, sizes, &loss,
                                              &p.field, p.samples),
                 BOUMA_OK);
        for (int k = 2; k >= 0; k--) {
            level[k] = malloc(p.count * 8);
            REQUIRE(level[k]);
            CHECK_EQ(bm_codec_interp.decode_field(
                         &state, level[k], k < 2 ? level[k + 1] : NULL,
                         &p.field,
                         &(struct bm_coded_level){k, out.data + at, sizes[k]}),
                     BOUMA_OK);
            at += sizes[k];
        }
        n = p.lattice[0].count;
        for (int d = 0; d < 3; d++) {
            wanted.lo[d] = check_below(&random, n[d]);
            wanted.hi[d] =
                wanted.lo[d] + 1 + check_below(&random, n[d] - wanted.lo[d]);
        }
        p.field.wanted = &wanted;
        part = calloc(p.count, 8);
        REQUIRE(part);
        CHECK_EQ(bm_codec_interp.decode_field(
                     &state, part, level[1], &p.field,
                     &(struct bm_coded_level){0, out.data + at - sizes[0],
                                              sizes[0]}),
                 BOUMA_OK);
        for (int64_t z = wanted.lo[0]; z < wanted.hi[0]; z++)
            for (int64_t y = wanted.lo[1]; y < wanted.hi[1]; y++) {
                size_t row = (size_t)((z * n[1] + y) * n[2] + wanted.lo[2]);

                differ += memcmp(part + row * p.field.size,
                                 level[0] + row * p.field.size,
                                 (size_t)(wanted.hi[2] - wanted.lo[2]) *
                                     p.field.size) != 0;
            }
        CHECK_EQ(differ, 0);
        for (int k = 0; k < 3; k++)
            free(level[k]);
        free(part);
        free(p.samples);
        bm_buffer_release(&out);
    }
    bm_codec_state_release(&state);
}

/* Whether a window of level 0 is decoded to what the whole level has. */
static int window_is_right(struct bm_codec_state *state, const struct patch *p,
                           const struct bm_window *wanted, const uint8_t *whole,
                           const uint8_t *coarse,
                           const struct bm_coded_level *piece)
{
    const int64_t *n = p->lattice[0].count;
    uint8_t *part = malloc(p->count * p->field.size);
    struct bm_field f = p->field;
    int right;

    REQUIRE(part);
    memset(part, 0x7f, p->count * f.size);
    f.wanted = wanted;
    right = !bm_codec_interp.decode_field(state, part, coarse, &f, piece);
    for (int64_t z = wanted->lo[0]; z < wanted->hi[0]; z++)
        for (int64_t y = wanted->lo[1]; y < wanted->hi[1]; y++) {
            size_t row = (size_t)((z * n[1] + y) * n[2] + wanted->lo[2]);

            right &= !memcmp(part + row * f.size, whole + row * f.size,
                             (size_t)(wanted->hi[2] - wanted->lo[2]) * f.size);
        }
    free(part);
    return right;
}

/* Large patches of samples that take many bytes are divided: any window, also
 * one that touches edges of blocks and of the patch, is decoded to what the
 * whole is, to the last bit. */
static void blocks_are_decoded_alone(void)
{
    static const enum kind kinds[] = {NOISE, SOME_NAN, INFINITE, WAVY};
    struct bm_codec_state state;
    uint64_t random = 23;
    int divided = 0, divided_with_kept = 0;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int i = 0; i < 16; i++) {
        struct bm_box box = {{0, 0, 0}, {0, 0, 0}};
        struct bm_loss loss = {0, 0};
        struct bm_coded_level piece;
        struct bm_buffer out;
        uint32_t sizes[2];
        uint8_t *level[2];
        struct patch p;
        int differ = 0, blocks;

        for (int d = 0; d < 3; d++)
            box.hi[d] = 34 + check_below(&random, 33);
        if (i % 4 == 3) { /* a plane */
            box.hi[0] = 1;
            box.hi[1] = 190 + check_below(&random, 90);
            box.hi[2] = 270;
        }
        make(&p, &box, 2, i & 1 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64, 3e-3,
             kinds[i / 4], 1, &random);
        bm_buffer_init(&out, state.a);
        CHECK_EQ(bm_codec_interp.encode_field(&state, &out, sizes, &loss,
                                              &p.field, p.samples),
                 BOUMA_OK);
        piece = (struct bm_coded_level){0, out.data + sizes[1], sizes[0]};
        for (int k = 1; k >= 0; k--) {
            level[k] = malloc(p.count * p.field.size);
            REQUIRE(level[k]);
            CHECK_EQ(bm_codec_interp.decode_field(
                         &state, level[k], k ? NULL : level[1], &p.field,
                         k ? &(struct bm_coded_level){1, out.data, sizes[1]}
                           : &piece),
                     BOUMA_OK);
        }
        blocks = piece.data[0] == 2 && (piece.data[1] & 3) == 3;
        divided += blocks;
        divided_with_kept +=
            blocks && (kinds[i / 4] == SOME_NAN || kinds[i / 4] == INFINITE);
        for (int j = 0; j < 40; j++) {
            const int64_t *n = p.lattice[0].count;
            struct bm_window w;

            for (int d = 0; d < 3; d++) {
                int64_t most = j % 2 && n[d] > 8 ? 8 : n[d];

                w.lo[d] = check_below(&random, n[d]);
                w.hi[d] = w.lo[d] + 1 + check_below(&random, most);
                if (w.hi[d] > n[d])
                    w.hi[d] = n[d];
            }
            differ +=
                !window_is_right(&state, &p, &w, level[0], level[1], &piece);
        }
        CHECK_EQ(differ, 0);
        free(level[0]);
        free(level[1]);
        free(p.samples);
        bm_buffer_release(&out);
    }
    CHECK(divided >= 12);
    CHECK(divided_with_kept >= 6);
    bm_codec_state_release(&state);
}

/* A symbol tells whether all of a row is 0, where that is likely, if it has 16
 * samples: of a row of 31, those at even places have one, and those at odd ones
 * do not. In the first row of a block it comes on top. */
static void rows_of_blocks_have_room(void)
{
    struct bm_codec_state state;
    uint64_t random = 24;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int64_t n = 30; n <= 33; n++)
        for (int wide = 0; wide < 2; wide++) {
            struct bm_box box = {{0, 0, 0}, {40, 64, n}};
            struct patch p;

            make(&p, &box, 2, wide ? BOUMA_TYPE_F64 : BOUMA_TYPE_F32, 1e-4,
                 BETWEEN, 1, &random);
            round_trip(&state, &p);
            free(p.samples);
        }
    bm_codec_state_release(&state);
}

static void a_bound_of_zero_keeps_every_bit(void)
{
    struct bm_box box = {{0, 0, 0}, {9, 17, 16}};
    struct bm_codec_state state;
    uint64_t random = 8;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int kind = 0; kind < KINDS; kind++) {
        struct patch p;

        make(&p, &box, 3, BOUMA_TYPE_F32, 0, (enum kind)kind, 1, &random);
        round_trip(&state, &p);
        free(p.samples);
    }
    bm_codec_state_release(&state);
}

static void what_is_regular_takes_little(void)
{
    struct bm_box box = {{0, 0, 0}, {32, 32, 32}};
    static const struct {
        enum kind kind;
        double bound;
        size_t most;
    } cases[] = {{CONSTANT, 1e-3, 80},
                 {ALL_NAN, 1e-3, 200},
                 {SMOOTH, 1e-2, 3000},
                 {MASKED, 1e-2, 6000},
                 {NOISE, 1e-9, 32 * 32 * 32 * 4 + 100}};
    struct bm_codec_state state;
    uint64_t random = 9;

    bm_codec_state_init(&state, bm_allocator_default());
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct patch p;
        size_t bytes;

        make(&p, &box, 4, BOUMA_TYPE_F32, cases[i].bound, cases[i].kind, 1,
             &random);
        bytes = round_trip(&state, &p);
        CHECK(bytes <= cases[i].most);
        if (bytes > cases[i].most)
            printf("kind %d: %zu bytes\n", cases[i].kind, bytes);
        free(p.samples);
    }
    bm_codec_state_release(&state);
}

/* Noise at even indices, and what no mean of axes predicts between them: along
 * one axis, lines that are overdone; along more, the mean of the corners. */
static void fill_between(float *x, int64_t n, uint64_t *random)
{
    int64_t pitch[3] = {n * n, n, 1};

    for (int odd = 0; odd < 4; odd++)
        for (int64_t i = 0; i < n * n * n; i++) {
            int64_t at[3] = {i / n / n, i / n % n, i % n};
            int axes = 0, axis = 0;
            double sum = 0;

            for (int d = 0; d < 3; d++)
                if (at[d] % 2) {
                    axes++;
                    axis = d;
                }
            if (axes != odd)
                continue;
            if (!axes)
                sum = (double)check_below(random, 1 << 20) / (1 << 20);
            for (int corner = 0; corner < 8 && axes > 1; corner++) {
                int64_t k = i;

                for (int d = 0; d < 3; d++)
                    if (at[d] % 2)
                        k += corner >> d & 1 ? pitch[d] : -pitch[d];
                sum += (double)x[k] / 8;
            }
            if (axes == 1) {
                int64_t p = pitch[axis];

                sum = 0.8 * ((double)x[i - p] + (double)x[i + p]);
                if (at[axis] >= 3 && at[axis] + 3 < n)
                    sum -= 0.3 * ((double)x[i - 3 * p] + (double)x[i + 3 * p]);
                else
                    sum -= 0.3 * ((double)x[i - p] + (double)x[i + p]);
            }
            x[i] = (float)sum;
        }
}

static void weights_are_fitted_where_that_pays(void)
{
    struct bm_box box = {{0, 0, 0}, {33, 33, 33}};
    struct bm_codec_state state;
    uint64_t random = 14;
    struct patch p;
    size_t bytes;

    bm_codec_state_init(&state, bm_allocator_default());
    make(&p, &box, 2, BOUMA_TYPE_F32, 1e-3, CONSTANT, 1, &random);
    fill_between((float *)(void *)p.samples, 33, &random);
    bytes = round_trip(&state, &p);
    /* The coarse level is noise of 9 bits, and without weights all is. */
    CHECK(bytes < 17 * 17 * 17 * 10 / 8 + 33 * 33 * 33 * 3 / 8);
    if (bytes >= 17 * 17 * 17 * 10 / 8 + 33 * 33 * 33 * 3 / 8)
        printf("%zu bytes\n", bytes);
    free(p.samples);
    bm_codec_state_release(&state);
}

/* Where that pays, coarse levels are closer to the samples than they must be,
 * and elsewhere they are not. */
static void coarse_levels_are_finer_where_that_pays(void)
{
    static const enum kind kinds[] = {SMOOTH, NOISE};
    struct bm_box box = {{0, 0, 0}, {64, 64, 64}};
    struct bm_codec_state state;
    uint64_t random = 16;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int i = 0; i < 2; i++) {
        struct bm_loss loss = {0, 0};
        uint8_t *coarse, *fine;
        double largest = 0;
        struct bm_buffer out;
        uint32_t sizes[5];
        struct patch p;

        make(&p, &box, 5, BOUMA_TYPE_F64, 1e-3, kinds[i], 1, &random);
        bm_buffer_init(&out, state.a);
        CHECK_EQ(bm_codec_interp.encode_field(&state, &out, sizes, &loss,
                                              &p.field, p.samples),
                 BOUMA_OK);
        coarse = malloc(p.count * 8);
        fine = malloc(p.count * 8);
        REQUIRE(coarse && fine);
        CHECK_EQ(bm_codec_interp.decode_field(
                     &state, coarse, NULL, &p.field,
                     &(struct bm_coded_level){4, out.data, sizes[4]}),
                 BOUMA_OK);
        CHECK_EQ(
            bm_codec_interp.decode_field(
                &state, fine, coarse, &p.field,
                &(struct bm_coded_level){3, out.data + sizes[4], sizes[3]}),
            BOUMA_OK);
        CHECK(level_is_right(&p, 3, fine, &largest));
        CHECK(i ? largest > 0.9e-3 : largest < 0.4e-3);
        free(coarse);
        free(fine);
        free(p.samples);
        bm_buffer_release(&out);
    }
    bm_codec_state_release(&state);
}

/* Patches as large as real ones, of which only some rows are looked at. */
static void large_patches_keep_the_bound(void)
{
    static const struct bm_box boxes[] = {{{0, 0, 0}, {64, 64, 64}},
                                          {{0, 0, 0}, {63, 61, 50}},
                                          {{0, 0, 0}, {1, 300, 301}},
                                          {{0, 0, 0}, {1, 1, 30000}},
                                          {{0, 0, 0}, {300, 1, 200}}};
    static const enum kind kinds[] = {SMOOTH, NOISE, MASKED, INFINITE, WILD};
    struct bm_codec_state state;
    uint64_t random = 15;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int i = 0; i < 25; i++) {
        struct patch p;

        make(&p, &boxes[i % 5], 5, i & 1 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64,
             i % 3 ? 1e-3 : 1e-6, kinds[i / 5], 1, &random);
        round_trip(&state, &p);
        free(p.samples);
    }
    bm_codec_state_release(&state);
}

/* The same samples give the same bytes, whatever was encoded before. */
static void bytes_depend_on_nothing_else(void)
{
    struct bm_box box = {{0, 0, 0}, {20, 20, 20}};
    struct bm_codec_state used, fresh;
    struct bm_buffer a, b;
    uint32_t sizes[4];
    struct bm_loss loss = {0, 0};
    uint64_t random = 10;
    struct patch p, other;

    make(&p, &box, 4, BOUMA_TYPE_F32, 1e-3, SOME_NAN, 1, &random);
    make(&other, &box, 4, BOUMA_TYPE_F32, 1e-3, NOISE, 1, &random);
    bm_codec_state_init(&used, bm_allocator_default());
    bm_codec_state_init(&fresh, bm_allocator_default());
    round_trip(&used, &other);
    bm_buffer_init(&a, used.a);
    bm_buffer_init(&b, used.a);
    CHECK_EQ(bm_codec_interp.encode_field(&used, &a, sizes, &loss, &p.field,
                                          p.samples),
             BOUMA_OK);
    CHECK_EQ(bm_codec_interp.encode_field(&fresh, &b, sizes, &loss, &p.field,
                                          p.samples),
             BOUMA_OK);
    CHECK_EQ(a.size, b.size);
    CHECK(a.size == b.size && !memcmp(a.data, b.data, a.size));
    bm_buffer_release(&a);
    bm_buffer_release(&b);
    bm_codec_state_release(&used);
    bm_codec_state_release(&fresh);
    free(p.samples);
    free(other.samples);
}

/* The square of an error may be too small or too large for a float. */
static void losses_are_told_in_any_unit(void)
{
    static const double units[] = {1, 0x1p80, 0x1p-80};
    struct bm_box box = {{0, 0, 0}, {9, 20, 21}};
    struct bm_loss losses[3] = {{0, 0}, {0, 0}, {0, 0}};
    struct bm_codec_state state;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int i = 0; i < 3; i++) {
        uint64_t random = 12;
        struct bm_buffer out;
        uint32_t sizes[3];
        struct patch p;
        float *f;

        make(&p, &box, 3, BOUMA_TYPE_F32, 1e-2 * units[i], SMOOTH, 1, &random);
        f = (float *)(void *)p.samples;
        for (size_t j = 0; j < p.count; j++)
            f[j] *= (float)units[i];
        bm_buffer_init(&out, state.a);
        CHECK_EQ(bm_codec_interp.encode_field(&state, &out, sizes, &losses[i],
                                              &p.field, p.samples),
                 BOUMA_OK);
        CHECK(losses[i].largest / units[i] == losses[0].largest);
        CHECK(losses[i].squares / units[i] / units[i] == losses[0].squares);
        bm_buffer_release(&out);
        free(p.samples);
    }
    CHECK(losses[0].squares > 0);
    bm_codec_state_release(&state);
}

/* Rows of zeros take next to nothing, and those with something in them come
 * back; also where only a part of a patch is wanted. */
static void rows_of_zeros_are_left_out(void)
{
    struct bm_box box = {{0, 0, 0}, {48, 52, 70}};
    size_t bytes[3];

    for (int spots = 0; spots < 3; spots++) {
        struct bm_window wanted = {{20, 10, 5}, {30, 33, 64}};
        uint64_t random = 12;
        struct bm_codec_state state;
        struct bm_loss loss = {0, 0};
        struct bm_buffer out;
        uint32_t sizes[4];
        uint8_t *level[4];
        struct patch p;
        size_t at = 0;
        float *x;

        make(&p, &box, 4, BOUMA_TYPE_F32, 1e-3, CONSTANT, 1, &random);
        x = (float *)(void *)p.samples;
        for (int i = 0; i < 40 * spots; i++)
            x[check_below(&random, (int64_t)p.count)] = (float)i;
        bm_codec_state_init(&state, bm_allocator_default());
        bm_buffer_init(&out, state.a);
        CHECK_EQ(bm_codec_interp.encode_field(&state, &out, sizes, &loss,
                                              &p.field, p.samples),
                 BOUMA_OK);
        bytes[spots] = out.size;
        for (int k = 3; k >= 0; k--) {
            level[k] = malloc(p.count * 4);
            REQUIRE(level[k]);
            p.field.wanted = k ? NULL : &wanted;
            CHECK_EQ(bm_codec_interp.decode_field(
                         &state, level[k], k < 3 ? level[k + 1] : NULL,
                         &p.field,
                         &(struct bm_coded_level){k, out.data + at, sizes[k]}),
                     BOUMA_OK);
            at += sizes[k];
        }
        for (int64_t z = 20; z < 30; z++)
            for (int64_t y = 10; y < 33; y++)
                for (int64_t i = 5; i < 64; i++) {
                    int64_t j = (z * 52 + y) * 70 + i;

                    CHECK(fabsf(((float *)(void *)level[0])[j] - x[j]) <=
                          1e-3F);
                }
        for (int k = 0; k < 4; k++)
            free(level[k]);
        free(p.samples);
        bm_buffer_release(&out);
        bm_codec_state_release(&state);
    }
    CHECK(bytes[0] < 60);
    CHECK(bytes[1] < 2500 && bytes[2] < 5000);
}

static void damaged_bytes_do_no_harm(void)
{
    struct bm_box box = {{0, 0, 0}, {13, 16, 18}};
    struct bm_codec_state state;
    uint64_t random = 11;
    int refused = 0;

    bm_codec_state_init(&state, bm_allocator_default());
    for (int i = 0; i < 3000; i++) {
        struct bm_loss loss = {0, 0};
        struct bm_buffer out;
        uint32_t sizes[3];
        uint8_t *coarse, *fine, *piece;
        struct patch p;
        size_t bytes, cut;
        int rc;

        make(&p, &box, 3, i & 1 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64, 1e-3,
             (enum kind)(i % KINDS), 1, &random);
        bm_buffer_init(&out, state.a);
        CHECK_EQ(bm_codec_interp.encode_field(&state, &out, sizes, &loss,
                                              &p.field, p.samples),
                 BOUMA_OK);
        bytes = sizes[2];
        cut = i % 3 ? bytes : (size_t)check_below(&random, (int64_t)bytes);
        piece = malloc(cut + 1);
        coarse = malloc(p.count * 8);
        fine = malloc(p.count * 8);
        REQUIRE(piece && coarse && fine);
        memcpy(piece, out.data, cut);
        if (i % 3 && cut)
            piece[check_below(&random, (int64_t)cut)] ^=
                (uint8_t)(1 << check_below(&random, 8));
        memset(coarse, 0, p.count * 8);
        rc = bm_codec_interp.decode_field(
            &state, coarse, NULL, &p.field,
            &(struct bm_coded_level){2, piece, cut});
        CHECK(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
        refused += rc != BOUMA_OK;
        free(piece);
        bytes = sizes[1];
        piece = malloc(bytes + 1);
        REQUIRE(piece);
        memcpy(piece, out.data + sizes[2], bytes);
        for (int n = 0; n < 3 && bytes; n++)
            piece[check_below(&random, (int64_t)bytes)] =
                (uint8_t)check_random(&random);
        rc = bm_codec_interp.decode_field(
            &state, fine, coarse, &p.field,
            &(struct bm_coded_level){1, piece, bytes});
        CHECK(rc == BOUMA_OK || rc == BOUMA_EFORMAT);
        free(piece);
        free(coarse);
        free(fine);
        free(p.samples);
        bm_buffer_release(&out);
    }
    CHECK(refused > 500);
    bm_codec_state_release(&state);
}

int main(void)
{
    no_sample_misses_the_bound();
    parts_are_those_of_the_whole();
    blocks_are_decoded_alone();
    rows_of_blocks_have_room();
    a_bound_of_zero_keeps_every_bit();
    what_is_regular_takes_little();
    weights_are_fitted_where_that_pays();
    coarse_levels_are_finer_where_that_pays();
    large_patches_keep_the_bound();
    bytes_depend_on_nothing_else();
    losses_are_told_in_any_unit();
    rows_of_zeros_are_left_out();
    damaged_bytes_do_no_harm();
    return check_result();
}
