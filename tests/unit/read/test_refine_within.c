/* Grids within a budget: the finest level that fits, and no byte more; what the
 * answer says is so; going on reads no byte twice. All layouts and some codecs,
 * with random grids, boxes and budgets. */
#include <math.h>

#include "arrays.h"
#include "fault_alloc.h"
#include "field.h"
#include "must.h"

struct trial {
    bouma_io *io;
    bouma_options opts;
    struct field f;
    int levels;
    bouma_box box;
    /* One handle looks at budgets, the other is asked what is right. */
    bouma_dataset *ds, *other;
    bouma_step *step, *other_step;
    bouma_variable *v, *right;
    uint64_t state;
};

enum kind { PATCH, PATCH_WAVELET, HZ, HZ_WAVELET, KINDS };

static void write_field(struct trial *t, enum kind kind)
{
    static const bouma_codec codecs[] = {BOUMA_CODEC_RAW, BOUMA_CODEC_ZSTD};
    bouma_grid_spec g = {.size = sizeof(g), .ndims = t->f.ndims};
    bouma_variable_spec v = {.size = sizeof(v),
                             .type = t->f.type,
                             .components = t->f.components,
                             .codec = codecs[check_below(&t->state, 2)]};
    bouma_variable *variable;
    bouma_grid *grid;

    for (int d = 0; d < t->f.ndims; d++) {
        g.shape[d] = t->f.shape[d];
        g.patch[d] = kind == PATCH || kind == PATCH_WAVELET ? 8 : 0;
    }
    g.levels = kind == PATCH || kind == PATCH_WAVELET ? 3 : 0;
    if (kind == PATCH_WAVELET) {
        v.codec = BOUMA_CODEC_WAVELET;
        v.tolerance = 0.25;
    }
    if (kind == HZ || kind == HZ_WAVELET) {
        g.layout = BOUMA_LAYOUT_HZ;
        g.hz_block_bits = 5;
        g.hz_blocks_per_file = 1 + (int)check_below(&t->state, 20);
        g.hz_wavelet = kind == HZ_WAVELET;
        g.hz_tile_bits = kind == HZ_WAVELET ? 7 : 0;
    }
    MUST(t->ds, bouma_dataset_create(&t->ds, "a.bouma", &t->opts));
    MUST(t->ds, bouma_grid_define(&grid, t->ds, "g", &g));
    MUST(t->ds, bouma_variable_define(&variable, grid, "v", &v));
    MUST(t->ds, bouma_step_begin(t->ds, 0, 0));
    MUST(t->ds, test_put(variable, NULL, t->f.data));
    MUST(t->ds, bouma_step_end(t->ds));
    MUST(t->ds, bouma_dataset_close(t->ds));
    bouma_dataset_free(t->ds);
}

static void open_one(const struct trial *t, bouma_dataset **ds,
                     bouma_step **step, bouma_variable **v)
{
    MUST(*ds, bouma_dataset_open(ds, "a.bouma", &t->opts));
    MUST(*ds, bouma_step_open(step, *ds, 0));
    *v = bouma_grid_variable(bouma_step_grid(*step, 0), 0);
}

/* A handle that has read no head yet. */
static void open_again(struct trial *t)
{
    bouma_step_free(t->step);
    bouma_dataset_free(t->ds);
    t->step = NULL;
    open_one(t, &t->ds, &t->step, &t->v);
}

static void begin(struct trial *t, enum kind kind, uint64_t seed)
{
    static const bouma_type types[] = {BOUMA_TYPE_F32, BOUMA_TYPE_F64,
                                       BOUMA_TYPE_I16, BOUMA_TYPE_U8};
    bouma_grid_info info = {.size = sizeof(info)};
    int64_t shape[3];
    int ndims;

    memset(t, 0, sizeof(*t));
    t->state = seed;
    t->io = bouma_io_memory_new();
    t->opts = (bouma_options){.size = sizeof(t->opts), .io = t->io};
    t->opts.files = 1 + (int)check_below(&t->state, 4);
    t->opts.order =
        check_below(&t->state, 2) ? BOUMA_ORDER_LEVEL : BOUMA_ORDER_CHUNK;
    ndims = 1 + (int)check_below(&t->state, 3);
    for (int d = 0; d < ndims; d++)
        shape[d] = (ndims == 1 ? 130 : 12) +
                   check_below(&t->state, ndims == 1 ? 900 : 24);
    field_init(&t->f,
               kind == PATCH_WAVELET ? BOUMA_TYPE_F32
                                     : types[check_below(&t->state, 4)],
               1 + (int)check_below(&t->state, 2), ndims, shape, seed);
    write_field(t, kind);
    open_one(t, &t->ds, &t->step, &t->v);
    open_one(t, &t->other, &t->other_step, &t->right);
    bouma_grid_info_get(&info, bouma_step_grid(t->step, 0));
    t->levels = info.levels;
}

static void end(struct trial *t)
{
    bouma_step_free(t->step);
    bouma_dataset_free(t->ds);
    bouma_step_free(t->other_step);
    bouma_dataset_free(t->other);
    field_release(&t->f);
    bouma_io_memory_free(t->io);
}

static uint64_t bytes_read(const bouma_dataset *ds)
{
    bouma_dataset_info info = {.size = sizeof(info)};

    bouma_dataset_info_get(&info, ds);
    return info.bytes_read;
}

/* ---- what is right ------------------------------------------------------- */

/* The box at a level, as a plain read gives it; NULL if it has no samples. */
static void *read_level(struct trial *t, int level, bouma_selection *s)
{
    void *data;

    *s = (bouma_selection){.size = sizeof(*s)};
    MUST(t->other, bouma_variable_select(s, t->right, level, &t->box));
    if (!s->bytes)
        return NULL;
    data = malloc(s->bytes);
    REQUIRE(data);
    MUST(t->other, test_read(t->right, level, &t->box, data));
    return data;
}

static double number(const struct field *f, const void *data, int64_t i)
{
    const char *at = (const char *)data + (size_t)i * f->size;
    union {
        float f32;
        double f64;
        int16_t i16;
        uint8_t u8;
    } u;

    memcpy(&u, at, f->size);
    return f->type == BOUMA_TYPE_F32   ? u.f32
           : f->type == BOUMA_TYPE_F64 ? u.f64
           : f->type == BOUMA_TYPE_I16 ? u.i16
                                       : u.u8;
}

/* Linear inter- and extrapolation along each axis by the positions of samples.
 */
static double interpolated(const struct trial *t, const bouma_selection *s,
                           const void *data, const int64_t *position,
                           int component)
{
    double sum = 0;

    for (int corner = 0; corner < 1 << s->ndims; corner++) {
        double weight = 1;
        int64_t at = 0;

        for (int d = 0; d < s->ndims; d++) {
            double x = (double)(position[d] - s->first[d]) / (double)s->step[d];
            double last = (double)(s->shape[d] - 1), low;

            low = fmax(0, fmin(floor(x), last - 1));
            if (s->shape[d] == 1)
                x = low = 0;
            at = at * s->shape[d] + (int64_t)low;
            if (corner >> d & 1) {
                weight *= x - low;
                at += s->shape[d] > 1;
            } else
                weight *= 1 - (x - low);
        }
        if (weight != 0)
            sum +=
                weight * number(&t->f, data, at * t->f.components + component);
    }
    return sum;
}

static double error_of(struct trial *t, int level)
{
    bouma_selection s, coarse_s;
    void *fine = read_level(t, level, &s), *coarse;
    double worst = 0;
    int64_t samples = 1;

    coarse = level + 1 < t->levels ? read_level(t, level + 1, &coarse_s) : NULL;
    for (int d = 0; d < s.ndims; d++)
        samples *= s.shape[d];
    for (int64_t i = 0; i < samples && coarse; i++) {
        int64_t position[3], rest = i;

        for (int d = s.ndims - 1; d >= 0; d--) {
            position[d] = s.first[d] + rest % s.shape[d] * s.step[d];
            rest /= s.shape[d];
        }
        for (int c = 0; c < t->f.components; c++)
            worst = fmax(worst,
                         fabs(number(&t->f, fine, i * t->f.components + c) -
                              interpolated(t, &coarse_s, coarse, position, c)));
    }
    if (!coarse)
        worst = (double)INFINITY;
    free(fine);
    free(coarse);
    return worst;
}

static uint64_t samples_at(struct trial *t, int level)
{
    bouma_selection s = {.size = sizeof(s)};

    MUST(t->other, bouma_variable_select(&s, t->right, level, &t->box));
    return s.bytes / field_sample(&t->f);
}

static int coarsest_with_samples(struct trial *t)
{
    int level = t->levels - 1;

    while (!samples_at(t, level))
        level--;
    return level;
}

/* ---- checks -------------------------------------------------------------- */

static void check_array(struct trial *t, const bouma_refinement *r,
                        const bouma_answer *a)
{
    bouma_selection got = {.size = sizeof(got)}, s;
    const void *data = NULL;
    void *right = read_level(t, a->level, &s);
    int level = -1;

    CHECK_EQ(bouma_refinement_get(&data, &got, &level, r), BOUMA_OK);
    CHECK_EQ(level, a->level);
    CHECK_EQ(a->complete, level == 0);
    CHECK_EQ(got.bytes, s.bytes);
    CHECK_EQ(a->points, s.bytes / field_sample(&t->f));
    CHECK(data && right && !memcmp(data, right, s.bytes));
    free(right);
}

static void check_error(struct trial *t, const bouma_answer *a, int first)
{
    bouma_variable_info about = {.size = sizeof(about)};

    bouma_variable_info_get(&about, t->right);
    CHECK_EQ(a->error_is_bound, a->level == 0);
    if (a->level == 0)
        CHECK(a->error == about.largest_error && a->error <= about.bound);
    else if (first)
        CHECK(isinf(a->error));
    else
        CHECK(fabs(a->error - error_of(t, a->level)) <= 1e-9 * a->error);
}

/* What stopped it, and that it was right to stop. */
static void check_limit(struct trial *t, const bouma_answer *a,
                        const bouma_budget *b)
{
    if (a->complete) {
        CHECK_EQ(a->limit, BOUMA_LIMIT_NONE);
        CHECK_EQ(a->next_bytes, 0);
        CHECK_EQ(a->next_points, 0);
        return;
    }
    CHECK_EQ(
        a->next_points,
        samples_at(t, a->level >= 0 ? a->level - 1 : coarsest_with_samples(t)));
    if (a->limit == BOUMA_LIMIT_BYTES)
        CHECK(a->bytes + a->next_bytes > b->bytes);
    else if (a->limit == BOUMA_LIMIT_POINTS)
        CHECK(a->next_points > b->points);
    else
        CHECK(a->limit == BOUMA_LIMIT_ERROR && a->error <= b->error);
}

static bouma_budget random_budget(struct trial *t, uint64_t all)
{
    bouma_budget b = {.size = sizeof(b)};

    if (check_below(&t->state, 3))
        b.bytes = 1 + (uint64_t)check_below(&t->state, (int64_t)all);
    if (!check_below(&t->state, 3))
        b.points =
            1 + (uint64_t)check_below(&t->state, (int64_t)t->f.samples * 2);
    if (!check_below(&t->state, 3))
        b.error = 1 + (double)check_below(&t->state, 120);
    return b;
}

/* Go on to the end, with budgets that the answers ask for. The bytes of all
 * calls. */
static uint64_t go_on(struct trial *t, bouma_refinement *r, bouma_answer *a)
{
    uint64_t bytes = 0;

    while (!a->complete) {
        bouma_budget b = {.size = sizeof(b),
                          .bytes = a->next_bytes,
                          .points = a->next_points};
        uint64_t before = bytes_read(t->ds);
        int level = a->level;

        if (check_below(&t->state, 2)) {
            bouma_budget less = b;

            less.points--;
            if (less.points) {
                CHECK_EQ(bouma_refinement_next_within(a, r, &less),
                         BOUMA_ELIMIT);
                CHECK_EQ(a->level, level);
            }
            CHECK_EQ(bytes_read(t->ds), before);
        }
        MUST(t->ds, bouma_refinement_next_within(a, r, &b));
        CHECK(a->level < level);
        CHECK_EQ(a->bytes, bytes_read(t->ds) - before);
        CHECK(!b.bytes || a->bytes <= b.bytes);
        check_array(t, r, a);
        check_error(t, a, 0);
        bytes += a->bytes;
    }
    return bytes;
}

/* What a fresh handle reads, level by level. */
static uint64_t all_bytes(struct trial *t)
{
    bouma_refinement *r;
    uint64_t before;

    open_again(t);
    before = bytes_read(t->ds);
    MUST(t->ds,
         bouma_refinement_open(&r, t->v, coarsest_with_samples(t), &t->box));
    while (!bouma_refinement_next(r))
        ;
    bouma_refinement_free(r);
    return bytes_read(t->ds) - before;
}

static void try_budget(struct trial *t, uint64_t all)
{
    bouma_budget b = random_budget(t, all + all / 4);
    bouma_answer a = {.size = sizeof(a)};
    bouma_refinement *r = NULL;
    uint64_t before, bytes;
    int rc;

    open_again(t);
    before = bytes_read(t->ds);
    rc = bouma_refinement_open_within(&r, &a, t->v, &t->box, &b);
    bytes = bytes_read(t->ds) - before;
    CHECK(!b.bytes || bytes <= b.bytes);
    CHECK_EQ(a.bytes, bytes);
    check_limit(t, &a, &b);
    if (rc == BOUMA_ELIMIT) {
        CHECK(!r && a.level == -1 && a.points == 0);
        CHECK_TEXT(bouma_error_message(t->ds), "the budget is");
        /* What it says is enough, for one who begins again, too. */
        b = (bouma_budget){.size = sizeof(b),
                           .bytes = a.bytes + a.next_bytes,
                           .points = a.next_points};
        open_again(t);
        MUST(t->ds, bouma_refinement_open_within(&r, &a, t->v, &t->box, &b));
        CHECK(a.bytes <= b.bytes);
        bytes = a.bytes;
    } else
        MUST(t->ds, rc);
    check_array(t, r, &a);
    check_error(t, &a, a.level == coarsest_with_samples(t));
    CHECK(!b.points || a.points <= b.points);
    for (int k = coarsest_with_samples(t); k > a.level && b.error > 0; k--)
        CHECK(error_of(t, k) > b.error); /* else it had ended there */
    CHECK_EQ(bytes + go_on(t, r, &a), all);
    bouma_refinement_free(r);
}

static void answers_are_the_best_within_the_budget(void)
{
    for (uint64_t seed = 0; seed < 48; seed++) {
        struct trial t;

        begin(&t, (enum kind)(seed % KINDS), seed + 1);
        for (int boxes = 0; boxes < 4; boxes++) {
            uint64_t all;

            t.box = boxes ? field_random_box(&t.f, &t.state) : field_all(&t.f);
            all = all_bytes(&t);
            for (int i = 0; i < 8; i++)
                try_budget(&t, all);
        }
        end(&t);
    }
}

/* If the heads are there, the cost is known to the byte: one byte less does not
 * do. */
static void a_byte_too_few_is_too_few(void)
{
    for (uint64_t seed = 0; seed < 24; seed++) {
        bouma_answer a = {.size = sizeof(a)};
        bouma_budget b = {.size = sizeof(b)};
        bouma_refinement *r;
        struct trial t;

        begin(&t, (enum kind)(seed % KINDS), seed + 100);
        t.box = field_random_box(&t.f, &t.state);
        MUST(t.ds, bouma_refinement_open_within(&r, &a, t.v, &t.box, NULL));
        CHECK_EQ(a.complete, 1);
        bouma_refinement_free(r); /* all heads are read now */
        b.points = samples_at(&t, coarsest_with_samples(&t));
        MUST(t.ds, bouma_refinement_open_within(&r, &a, t.v, &t.box, &b));
        b.points = 0;
        while (!a.complete) {
            uint64_t need = a.next_bytes;
            int level = a.level;

            b.bytes = need - 1;
            if (b.bytes && need)
                CHECK_EQ(bouma_refinement_next_within(&a, r, &b), BOUMA_ELIMIT);
            b.bytes = need;
            b.points = a.next_points;
            MUST(t.ds, bouma_refinement_next_within(&a, r, &b));
            CHECK_EQ(a.level, level - 1);
            CHECK_EQ(a.bytes, need);
            b.points = 0;
        }
        bouma_refinement_free(r);
        end(&t);
    }
}

/* After a call that failed, the array is as it was, and the next one goes on. */
static void a_failure_leaves_the_array(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct fault_alloc memory;
        struct trial t;
        long fired = 1;

        begin(&t, (enum kind)kind, 11);
        t.box = field_all(&t.f);
        fault_alloc_init(&memory);
        t.opts.allocator = &memory.table;
        open_again(&t);
        for (long at = 1; fired; at++) {
            bouma_budget b = {.size = sizeof(b)};
            bouma_answer a = {.size = sizeof(a)}, before;
            bouma_refinement *r;
            int rc;

            b.points = samples_at(&t, 1);
            MUST(t.ds, bouma_refinement_open_within(&r, &a, t.v, &t.box, &b));
            before = a;
            fault_alloc_arm(&memory, at, 0);
            rc = bouma_refinement_next_within(&a, r, NULL);
            fired = memory.fired;
            fault_alloc_disarm(&memory);
            CHECK(rc == BOUMA_OK || (fired && rc == BOUMA_ENOMEM));
            check_array(&t, r, rc ? &before : &a);
            MUST(t.ds, bouma_refinement_next_within(&a, r, NULL));
            CHECK_EQ(a.complete, 1);
            check_array(&t, r, &a);
            bouma_refinement_free(r);
        }
        bouma_step_free(t.step);
        bouma_dataset_free(t.ds);
        t.step = NULL;
        t.ds = NULL;
        CHECK_EQ(memory.live, 0);
        end(&t);
    }
}

/* Where there is nothing but NaN, no level tells how good it is. */
static void nan_has_no_error(void)
{
    enum { SIDE = 16 };
    static float samples[SIDE][SIDE];
    bouma_io *io = bouma_io_memory_new();
    bouma_options o = {.size = sizeof(o), .io = io};
    bouma_grid_spec g = {
        .size = sizeof(g), .ndims = 2, .shape = {SIDE, SIDE}, .levels = 4};
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F32};
    bouma_array array = BOUMA_ARRAY(BOUMA_TYPE_F32, samples, sizeof(samples));
    bouma_budget budget = {.size = sizeof(budget), .error = 0.5};
    bouma_answer a = {.size = sizeof(a)};
    bouma_refinement *r;
    bouma_dataset *ds;
    bouma_grid *grid;
    bouma_variable *v;
    bouma_step *step;

    REQUIRE(io);
    for (int i = 0; i < SIDE * SIDE; i++)
        samples[i / SIDE][i % SIDE] = NAN;
    samples[5][7] = 3; /* at level 0 only */
    MUST(ds, bouma_dataset_create(&ds, "nan", &o));
    MUST(ds, bouma_grid_define(&grid, ds, "g", &g));
    MUST(ds, bouma_variable_define(&v, grid, "v", &spec));
    MUST(ds, bouma_step_begin(ds, 0, 0));
    MUST(ds, bouma_variable_put_borrow(v, NULL, &array));
    MUST(ds, bouma_step_end(ds));
    MUST(ds, bouma_step_open(&step, ds, 0));
    v = bouma_grid_variable(bouma_step_grid(step, 0), 0);
    MUST(ds, bouma_refinement_open_within(&r, &a, v, NULL, &budget));
    CHECK(a.complete == 1 && a.level == 0 && a.error == 0);
    bouma_refinement_free(r);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
}

/* ---- misuse -------------------------------------------------------------- */

static void misuse_is_refused_in_words(void)
{
    bouma_answer a = {.size = sizeof(a)}, unsized = {0};
    bouma_budget b = {.size = sizeof(b)}, wrong = b;
    bouma_box empty = {{0}, {0}}, outside = {{0}, {0}};
    bouma_selection s = {0};
    bouma_refinement *r = NULL;
    const void *data = &b;
    struct trial t;

    begin(&t, PATCH, 7);
    outside.hi[0] = 1 << 20;
    CHECK_EQ(bouma_refinement_open_within(NULL, &a, t.v, NULL, &b),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_refinement_open_within(&r, &a, NULL, NULL, &b),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_refinement_next_within(&a, NULL, &b), BOUMA_EINVAL);
    CHECK_EQ(bouma_refinement_open_within(&r, &unsized, t.v, NULL, &b),
             BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(t.ds), "'size' of the answer");
    wrong.size = 0;
    CHECK_EQ(bouma_refinement_open_within(&r, &a, t.v, NULL, &wrong),
             BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(t.ds), "bouma_budget");
    wrong = b;
    wrong.error = (double)NAN;
    CHECK_EQ(bouma_refinement_open_within(&r, &a, t.v, NULL, &wrong),
             BOUMA_EINVAL);
    wrong.error = -1;
    CHECK_EQ(bouma_refinement_open_within(&r, &a, t.v, NULL, &wrong),
             BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(t.ds), "an error of -1");
    CHECK_EQ(bouma_refinement_open_within(&r, &a, t.v, &empty, &b),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_refinement_open_within(&r, &a, t.v, &outside, &b),
             BOUMA_EINVAL);
    CHECK(!r);
    /* Any error is small enough: the coarsest level, but not nothing. */
    wrong = b;
    wrong.error = INFINITY;
    MUST(t.ds, bouma_refinement_open_within(&r, &a, t.v, NULL, &wrong));
    CHECK(a.level >= 0 && a.points > 0);
    CHECK_EQ(bouma_refinement_get(&data, NULL, NULL, r), BOUMA_OK);
    bouma_refinement_free(r);
    /* Neither is needed. */
    MUST(t.ds, bouma_refinement_open_within(&r, NULL, t.v, NULL, NULL));
    MUST(t.ds, bouma_refinement_next_within(&a, r, &b));
    CHECK(a.complete == 1 && a.bytes == 0 && a.level == 0);
    CHECK_EQ(bouma_refinement_get(&data, &s, NULL, r), BOUMA_EINVAL);
    CHECK_TEXT(bouma_refinement_message(r), "selection");
    CHECK(!data);
    CHECK_EQ(bouma_refinement_get(NULL, NULL, NULL, r), BOUMA_OK);
    bouma_refinement_free(r);
    end(&t);
}

int main(void)
{
    answers_are_the_best_within_the_budget();
    a_byte_too_few_is_too_few();
    a_failure_leaves_the_array();
    nan_has_no_error();
    misuse_is_refused_in_words();
    return check_result();
}
