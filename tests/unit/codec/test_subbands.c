/* Wavelet subbands in HZ order, against lifting line by line on plain numbers,
 * for all templates of up to 7 characters; every bit comes back. */
#include "codec/subbands.h"

#include <math.h>

#include "templates.h"

enum { MOST = 1 << 10 };

/* A domain, and a number for each of its samples. */
struct numbers {
    int64_t n[3];
    int64_t v[MOST];
};

static int64_t *at(struct numbers *a, const int64_t i[3])
{
    return &a->v[(i[0] * a->n[1] + i[1]) * a->n[2] + i[2]];
}

static int64_t floor_half(int64_t x)
{
    return (x - (x % 2 != 0 && x < 0)) / 2;
}

/* One line by the definition; small numbers, so that nothing overflows. */
static void slow_line(int64_t *x, int n, int averages)
{
    for (int i = 1; i < n; i += 2)
        x[i] -= i + 1 < n ? floor_half(x[i - 1] + x[i + 1])
                : i >= 3
                    ? x[i - 1] + floor_half(x[i - 1]) - floor_half(x[i - 3])
                    : x[i - 1];
    for (int i = 0; i < n && averages; i += 2)
        x[i] += floor_half(
            floor_half((i ? x[i - 1] : 0) + (i + 1 < n ? x[i + 1] : 0) + 2));
}

/* How often a letter is among the last characters. */
static int letters(const char *text, int last, int axis)
{
    int length = (int)strlen(text), count = 0;

    for (int i = length - last; i < length; i++)
        count += axis_of_letter(text[i]) == axis;
    return count;
}

/* The step of the last but 'behind' character, in all tiles. */
static void slow_step(struct numbers *a, const char *text, int tile_bits,
                      int behind, int averages)
{
    int length = (int)strlen(text);
    int axis = axis_of_letter(text[length - 1 - behind]);
    int64_t stride[3], i[3], tile, step;

    for (int d = 0; d < 3; d++)
        stride[d] = (int64_t)1 << letters(text, behind, d);
    tile = (int64_t)1 << letters(text, tile_bits, axis);
    step = stride[axis];
    stride[axis] = tile; /* lines begin there */
    for (i[0] = 0; i[0] < a->n[0]; i[0] += stride[0])
        for (i[1] = 0; i[1] < a->n[1]; i[1] += stride[1])
            for (i[2] = 0; i[2] < a->n[2]; i[2] += stride[2]) {
                int64_t j[3] = {i[0], i[1], i[2]}, line[MOST];
                int64_t end = i[axis] + tile;
                int n = 0;

                end = end < a->n[axis] ? end : a->n[axis];
                for (j[axis] = i[axis]; j[axis] < end; j[axis] += step)
                    line[n++] = *at(a, j);
                slow_line(line, n, averages);
                n = 0;
                for (j[axis] = i[axis]; j[axis] < end; j[axis] += step)
                    *at(a, j) = line[n++];
            }
}

/* Signs to the lowest bit, of the samples that the last 'done' steps made
 * details. */
static void fold_details(struct numbers *a, const char *text, int done)
{
    int64_t i[3];

    for (i[0] = 0; i[0] < a->n[0]; i[0]++)
        for (i[1] = 0; i[1] < a->n[1]; i[1]++)
            for (i[2] = 0; i[2] < a->n[2]; i[2]++) {
                int64_t *x = at(a, i);

                if (slow_z(text, i) % ((uint64_t)1 << done))
                    *x = *x < 0 ? -2 * *x - 1 : 2 * *x;
            }
}

static struct bm_box box_of(const struct numbers *a)
{
    struct bm_box box = {{0, 0, 0}, {a->n[0], a->n[1], a->n[2]}};

    return box;
}

static size_t count_of(const struct numbers *a)
{
    return (size_t)(a->n[0] * a->n[1] * a->n[2]);
}

/* Multiples of 1/4 with a bound of 1/8 are words that are plain numbers, and
 * have averages. */
static struct bm_subbands plain_numbers(const struct bm_hz *hz, int tile_bits,
                                        bouma_type type)
{
    struct bm_subbands s = {hz, tile_bits, bm_words_of(type, 0.125)};

    return s;
}

static void to_type(void *out, bouma_type type, const struct numbers *a,
                    double unit)
{
    for (size_t i = 0; i < count_of(a); i++) {
        if (type == BOUMA_TYPE_F32)
            ((float *)out)[i] = (float)((double)a->v[i] * unit);
        else if (type == BOUMA_TYPE_F64)
            ((double *)out)[i] = (double)a->v[i] * unit;
        else
            ((int16_t *)out)[i] = (int16_t)a->v[i];
    }
}

static int64_t word_at(const void *words, bouma_type type, size_t i)
{
    return type == BOUMA_TYPE_F32   ? ((const int32_t *)words)[i]
           : type == BOUMA_TYPE_F64 ? ((const int64_t *)words)[i]
                                    : ((const int16_t *)words)[i];
}

/* A domain that the template just covers, or a part of it. */
static void random_numbers(struct numbers *a, const char *text, uint64_t *state)
{
    for (int d = 0; d < 3; d++) {
        a->n[d] = (int64_t)1 << letters(text, (int)strlen(text), d);
        if (check_below(state, 2))
            a->n[d] -= check_below(state, (a->n[d] + 1) / 2);
    }
    for (size_t i = 0; i < count_of(a); i++)
        a->v[i] = check_below(state, 2001) - 1000;
}

/* Whether level k is made by the first steps of all: no step of a finer one
 * comes before one of its own. */
static int steps_before(const char *text, int tile_bits, int level)
{
    int fine = 0;

    for (int behind = 0; behind < tile_bits; behind++) {
        int length = (int)strlen(text);
        int axis = axis_of_letter(text[length - 1 - behind]);

        if (letters(text, behind, axis) < level) {
            if (fine != behind)
                return -1;
            fine++;
        }
    }
    return fine;
}

/* Level k is what is left of the samples after the steps of finer levels. */
static void check_level(const struct bm_subbands *s, const char *text,
                        const struct numbers *samples, int level,
                        const void *coefficients)
{
    bouma_type type = s->words.type;
    int fine = steps_before(text, s->tile_bits, level);
    size_t size = bouma_type_size(type), n = 0;
    struct bm_box box = box_of(samples);
    struct numbers a = *samples;
    static uint8_t got[MOST * 8];
    int64_t i[3], step = (int64_t)1 << level;

    if (fine < 0)
        return;
    for (int k = 0; k < fine; k++)
        slow_step(&a, text, s->tile_bits, k, bm_words_averages(type));
    for (i[0] = 0; i[0] < a.n[0]; i[0] += step)
        for (i[1] = 0; i[1] < a.n[1]; i[1] += step)
            for (i[2] = 0; i[2] < a.n[2]; i[2] += step)
                memcpy(got + size * n++,
                       (const uint8_t *)coefficients +
                           size * (size_t)(at(&a, i) - a.v),
                       size);
    bm_subbands_inverse(s, got, &box, level);
    bm_words_make(&s->words, got, n);
    n = 0;
    for (i[0] = 0; i[0] < a.n[0]; i[0] += step)
        for (i[1] = 0; i[1] < a.n[1]; i[1] += step)
            for (i[2] = 0; i[2] < a.n[2]; i[2] += step)
                CHECK_EQ(word_at(got, type, n++), *at(&a, i));
}

static void check_template(const char *text, bouma_type type, uint64_t *state)
{
    struct bm_hz hz = template_of(text);
    int length = (int)strlen(text);
    int tile_bits = (int)check_below(state, length + 1);
    struct bm_subbands s = plain_numbers(&hz, tile_bits, type);
    static uint8_t words[MOST * 8], samples[MOST * 8];
    struct numbers a, transformed;
    struct bm_box box;

    random_numbers(&a, text, state);
    transformed = a;
    for (int k = 0; k < tile_bits; k++)
        slow_step(&transformed, text, tile_bits, k, bm_words_averages(type));
    fold_details(&transformed, text, tile_bits);
    to_type(words, type, &a, 0.25);
    to_type(samples, type, &a, 0.25);
    box = box_of(&a);
    bm_subbands_forward(&s, words, &box);
    for (size_t i = 0; i < count_of(&a); i++)
        CHECK_EQ(word_at(words, type, i), transformed.v[i]);
    for (int level = 0; level <= length; level++)
        check_level(&s, text, &a, level, words);
    bm_subbands_inverse(&s, words, &box, 0);
    CHECK(!memcmp(words, samples, count_of(&a) * bouma_type_size(type)));
}

static void all_short_templates_are_lifted_as_defined(void)
{
    static const bouma_type types[] = {BOUMA_TYPE_F32, BOUMA_TYPE_I16,
                                       BOUMA_TYPE_F64};
    uint64_t state = 1;
    char text[16];
    int templates = 1;

    for (int length = 0; length <= 7; length++, templates *= 3)
        for (int n = 0; n < templates; n++) {
            nth_template(text, length, n);
            check_template(text, types[n % 3], &state);
        }
}

static void long_templates_are_lifted_as_defined(void)
{
    uint64_t state = 2;
    char text[16];

    for (int n = 0; n < 60; n++) {
        random_template(text, 8 + n % 3, &state);
        check_template(text, n % 2 ? BOUMA_TYPE_F32 : BOUMA_TYPE_F64, &state);
    }
}

/* Figure 17 of Kumar et al., on the left: with template yxyx, the subbands of
 * a 4 x 4 image are the levels of HZ order. The step that made a sample's
 * detail, 0 for the average. */
static void subbands_are_levels_of_hz_order(void)
{
    static const int step[4][4] = {
        {0, 4, 2, 4}, {3, 4, 3, 4}, {1, 4, 2, 4}, {3, 4, 3, 4}};
    struct bm_hz hz = template_of("yxyx");
    struct bm_lift lifts[BM_HZ_BITS];

    CHECK_EQ(bm_hz_lifts(lifts, &hz, 4, 0), 4);
    for (int64_t y = 0; y < 4; y++)
        for (int64_t x = 0; x < 4; x++) {
            const int64_t index[3] = {0, y, x};
            uint64_t h = bm_hz_of_z(&hz, bm_hz_z_of(&hz, index));
            int made = 0;

            for (int i = 0; i < 4; i++) {
                const int *shift = lifts[i].shift;
                int inside =
                    y % (1 << shift[1]) == 0 && x % (1 << shift[2]) == 0;

                if (inside && index[lifts[i].axis] >> shift[lifts[i].axis] & 1)
                    made = i + 1;
            }
            CHECK_EQ(made, step[y][x]);
            CHECK_EQ(bm_hz_level(h), step[y][x]);
        }
}

/* ---- words --------------------------------------------------------------- */

/* Any bits, with many that are no number, large, small or zero. */
static void random_bits(uint8_t *out, bouma_type type, size_t n,
                        uint64_t *state)
{
    static const float few[] = {0,   -0.0f, INFINITY, -INFINITY,
                                NAN, 1,     -1,       3e38f};
    size_t size = bouma_type_size(type);

    for (size_t i = 0; i < n; i++) {
        uint64_t r = check_random(state);
        float f = few[r >> 8 & 7];
        double d = (double)f;

        memcpy(out + i * size, &r, size);
        if (type == BOUMA_TYPE_F32 && r % 3 == 0)
            memcpy(out + i * size, &f, size);
        if (type == BOUMA_TYPE_F64 && r % 3 == 0)
            memcpy(out + i * size, &d, size);
    }
}

static void every_bit_of_every_type_comes_back(void)
{
    static const bouma_type types[] = {
        BOUMA_TYPE_I8,  BOUMA_TYPE_U8,  BOUMA_TYPE_I16, BOUMA_TYPE_U16,
        BOUMA_TYPE_I32, BOUMA_TYPE_U32, BOUMA_TYPE_I64, BOUMA_TYPE_U64,
        BOUMA_TYPE_F32, BOUMA_TYPE_F64};
    struct bm_hz hz = template_of("zyxzyxzyx");
    const struct bm_box box = {{0, 0, 0}, {7, 8, 5}};
    static uint8_t before[MOST * 8], after[MOST * 8];
    uint64_t state = 3;

    for (int t = 0; t < 10; t++)
        for (int trial = 0; trial < 50; trial++) {
            struct bm_subbands s = {&hz, trial % 10, bm_words_of(types[t], 0)};
            size_t bytes = 280 * bouma_type_size(types[t]);

            random_bits(before, types[t], 280, &state);
            memcpy(after, before, bytes);
            bm_subbands_forward(&s, after, &box);
            bm_subbands_inverse(&s, after, &box, 0);
            CHECK(!memcmp(after, before, bytes));
        }
}

static void rounded_values_come_back_within_the_bound(void)
{
    struct bm_hz hz = template_of("zyxzyxzyx");
    const struct bm_box box = {{0, 0, 0}, {7, 8, 5}};
    static float before[MOST], after[MOST];
    uint64_t state = 4;

    for (int trial = 0; trial < 200; trial++) {
        double bound = ldexp(1 + (double)check_below(&state, 1000) / 1000,
                             (int)check_below(&state, 260) - 130);
        struct bm_subbands s = {&hz, 9, bm_words_of(BOUMA_TYPE_F32, bound)};
        struct bm_loss loss = {0, 0};

        random_bits((uint8_t *)before, BOUMA_TYPE_F32, 280, &state);
        for (int i = 0; i < 280; i += 2) /* some near the steps */
            before[i] = (float)(bound * (double)(check_below(&state, 4000000)));
        memcpy(after, before, sizeof(after));
        bm_quantise(BOUMA_TYPE_F32, after, 280, bound, &loss);
        bm_subbands_forward(&s, after, &box);
        bm_subbands_inverse(&s, after, &box, 0);
        for (int i = 0; i < 280; i++)
            CHECK(isfinite(before[i])
                      ? fabs((double)before[i] - (double)after[i]) <= bound
                      : !memcmp(&before[i], &after[i], sizeof(float)));
    }
}

static void words_are_in_the_order_of_values(void)
{
    static const double bounds[] = {0, 1e-20, 0.01, 100};
    static const float ascending[] = {-INFINITY, -3e38f, -2,    -1e-20f,
                                      0,         1e-38f, 1e-3f, 0.5f,
                                      2,         3e9f,   3e38f, INFINITY};

    for (int k = 0; k < 4; k++) {
        struct bm_words w = bm_words_of(BOUMA_TYPE_F32, bounds[k]);
        struct bm_loss loss = {0, 0};
        float values[12];

        memcpy(values, ascending, sizeof(values));
        bm_quantise(BOUMA_TYPE_F32, values, 12, bounds[k], &loss);
        bm_words_make(&w, values, 12);
        for (size_t i = 1; i < 12; i++)
            CHECK(word_at(values, BOUMA_TYPE_F32, i - 1) <=
                  word_at(values, BOUMA_TYPE_F32, i));
    }
}

/* Lines have no details, also where they cross 0; but the last step has a
 * single sample to predict from. */
static void what_is_linear_has_no_details(void)
{
    struct bm_hz hz = template_of("xxxxxx");
    struct bm_subbands s = {&hz, 6, bm_words_of(BOUMA_TYPE_F32, 0)};
    const struct bm_box box = {{0, 0, 0}, {1, 1, 64}};
    float line[64];

    for (int i = 0; i < 64; i++)
        line[i] = (float)i - 31.5f;
    bm_subbands_forward(&s, line, &box);
    for (size_t i = 1; i < 64; i++)
        CHECK_EQ(word_at(line, BOUMA_TYPE_F32, i) != 0, i == 32);
}

/* Of a rough field, averages are nearer to the true ones than samples are. */
static void coarse_levels_are_averages(void)
{
    struct bm_hz hz = template_of("xxxxxxxxxx");
    const struct bm_box box = {{0, 0, 0}, {1, 1, 1024}};
    static const double bounds[] = {0, 1e-3};
    static float field[1024], coarse[1024];
    uint64_t state = 5;

    for (int i = 0; i < 1024; i++)
        field[i] = (float)(10 + sin(i * 0.05) +
                           (double)check_below(&state, 1000) / 1000);
    for (int k = 0; k < 2; k++) {
        struct bm_subbands s = {&hz, 10,
                                bm_words_of(BOUMA_TYPE_F32, bounds[k])};
        double of_averages = 0, of_samples = 0;

        memcpy(coarse, field, sizeof(coarse));
        bm_quantise(BOUMA_TYPE_F32, coarse, 1024, bounds[k],
                    &(struct bm_loss){0, 0});
        bm_subbands_forward(&s, coarse, &box);
        for (int i = 0; i < 128; i++)
            coarse[i] = coarse[8 * i];
        bm_subbands_inverse(&s, coarse, &box, 3);
        for (int i = 8; i < 1016; i += 8) {
            double mean = 0;

            for (int j = i - 4; j < i + 4; j++)
                mean += (double)field[j] / 8;
            of_averages += pow((double)coarse[i / 8] - mean, 2);
            of_samples += pow((double)field[i] - mean, 2);
        }
        CHECK(of_averages < of_samples / 2);
    }
}

int main(void)
{
    all_short_templates_are_lifted_as_defined();
    long_templates_are_lifted_as_defined();
    subbands_are_levels_of_hz_order();
    every_bit_of_every_type_comes_back();
    rounded_values_come_back_within_the_bound();
    words_are_in_the_order_of_values();
    what_is_linear_has_no_details();
    coarse_levels_are_averages();
    return check_result();
}
