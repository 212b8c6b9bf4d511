/* test_mpi_hz_wavelet.c -- grids in HZ order with wavelet coefficients: any
 * template, shape, tiles and division among ranks. Level 0 is what was written,
 * and all levels are those of a dataset that one rank has written alone. */
#include <math.h>
#include <stdio.h>

#include "../helpers/arrays.h"
#include "blocks.h"
#include "check.h"
#include "sized.h"

enum { TRIALS = 40, MOST_BITS = 13, MOST_SAMPLES = 1 << MOST_BITS };

struct trial {
    const struct ranks *ranks;
    int number;
    char path[512], alone[512];
    struct field field;
    enum cut cut;
    bouma_options options;
    bouma_grid_spec grid;
    char text[MOST_BITS + 2]; /* the template */
    bouma_variable_spec variable;
};

/* Splits of random axes; the shape is what they cover, or less. */
static void random_grid(struct trial *t, uint64_t *random)
{
    int ndims = 1 + (int)check_below(random, 3);
    int bits = 1 + (int)check_below(random, MOST_BITS);
    bouma_grid_spec *g = &t->grid;

    *g = (bouma_grid_spec){.size = sizeof(*g),
                           .ndims = ndims,
                           .shape = {1, 1, 1},
                           .layout = BOUMA_LAYOUT_HZ,
                           .hz_wavelet = 1};
    for (int i = 0; i < bits; i++) {
        int axis = (int)check_below(random, ndims); /* from the last */

        t->text[i] = "xyz"[axis];
        g->shape[ndims - 1 - axis] *= 2;
    }
    for (int d = 0; d < ndims; d++)
        if (check_below(random, 3) && g->shape[d] > 1)
            g->shape[d] -= check_below(random, g->shape[d] / 2);
    if (check_below(random, 2)) /* else one is made */
        g->hz_template = t->text;
    g->hz_block_bits = 1 + (int)check_below(random, bits);
    g->hz_blocks_per_file = 1 + (int)check_below(random, 20);
    g->hz_order = (bouma_hz_order)check_below(random, 3);
    g->hz_tile_bits = (int)check_below(random, bits + 1);
}

static void random_variable(struct trial *t, uint64_t *random)
{
    static const bouma_type types[] = {
        BOUMA_TYPE_F32, BOUMA_TYPE_F64, BOUMA_TYPE_F32, BOUMA_TYPE_F64,
        BOUMA_TYPE_I8,  BOUMA_TYPE_U8,  BOUMA_TYPE_I16, BOUMA_TYPE_U16,
        BOUMA_TYPE_I32, BOUMA_TYPE_U32, BOUMA_TYPE_I64, BOUMA_TYPE_U64};
    static const bouma_codec codecs[] = {0, BOUMA_CODEC_RAW, BOUMA_CODEC_ZSTD,
                                         BOUMA_CODEC_EXACT};
    bouma_variable_spec *v = &t->variable;
    bouma_type type = types[t->number % 12];
    int many = type == BOUMA_TYPE_I32 || type == BOUMA_TYPE_I64 ||
               type == BOUMA_TYPE_F32 || type == BOUMA_TYPE_F64;

    *v = (bouma_variable_spec){.size = sizeof(*v),
                               .type = type,
                               .components = 1 + (int)check_below(random, 3)};
    v->codec = codecs[check_below(random, many ? 4 : 3)];
    if ((type == BOUMA_TYPE_F32 || type == BOUMA_TYPE_F64) &&
        check_below(random, 2)) {
        v->tolerance = 0.01;
        v->tolerance_kind = (bouma_tolerance)check_below(random, 2);
    }
    t->field.type = type;
    t->field.components = v->components;
}

static void trial_init(struct trial *t, const struct ranks *ranks, int number)
{
    uint64_t random = 3000 + (uint64_t)number;

    memset(t, 0, sizeof(*t));
    t->ranks = ranks;
    t->number = number;
    random_grid(t, &random);
    random_variable(t, &random);
    t->field.ndims = t->grid.ndims;
    memcpy(t->field.shape, t->grid.shape, sizeof(t->field.shape));
    t->field.salt = (unsigned)number;
    t->cut = (enum cut)check_below(&random, CUTS);
    path_in(ranks, t->path, "all", number);
    path_in(ranks, t->alone, "alone", number);
    t->options = (bouma_options){.size = sizeof(t->options)};
    t->options.durability = BOUMA_DURABILITY_FAST;
    t->options.predict = (bouma_predict)check_below(&random, 3);
    t->options.async = (int)check_below(&random, 2);
    t->options.distribute = (bouma_distribute)check_below(&random, 4);
    t->options.place = (bouma_place)check_below(&random, 5);
}

/* In some trials, a grid whose partitions are written apart from each other, in
 * front of the other one. */
static const struct field parted = {
    .type = BOUMA_TYPE_U8, .components = 1, .ndims = 2, .shape = {16, 16}};

static bouma_variable *define_parted(const struct trial *t, bouma_dataset *ds)
{
    bouma_grid_spec spec = {.size = sizeof(spec),
                            .ndims = 2,
                            .shape = {16, 16},
                            .layout = BOUMA_LAYOUT_HZ,
                            .hz_block_bits = 3,
                            .hz_partitions = 4,
                            .hz_index = BOUMA_HZ_INDEX_LOCAL};
    bouma_variable_spec kind = {.size = sizeof(kind), .type = BOUMA_TYPE_U8};
    bouma_variable *v = NULL;
    bouma_grid *g;

    if (t->number % 3)
        return NULL;
    REQUIRE(!bouma_grid_define(&g, ds, "parted", &spec));
    REQUIRE(!bouma_variable_define(&v, g, "v", &kind));
    return v;
}

static void put_parted(struct puts *puts, bouma_variable *v, int ranks,
                       int64_t step, uint64_t *random)
{
    struct cutting cutting;
    uint64_t shared = 1;

    puts->count = 0;
    if (!v)
        return;
    cutting_make(&cutting, CUT_SLABS, &parted, ranks, &shared);
    CHECK_EQ(puts_make(puts, v, &parted, &cutting, step, random), BOUMA_OK);
}

/* Two steps: the second has another field, and other blocks. */
static void write_steps(const struct trial *t, bouma_dataset *ds, int ranks)
{
    uint64_t shared = 17, own = 18 + (uint64_t)t->ranks->rank;
    bouma_variable *v = NULL, *other = define_parted(t, ds);
    bouma_grid *g = NULL;

    if (bouma_grid_define(&g, ds, "g", &t->grid) ||
        bouma_variable_define(&v, g, "v", &t->variable)) {
        printf("%s\n", bouma_error_message(ds));
        REQUIRE(!"a grid that can be defined");
    }
    for (int64_t step = 0; step < 2; step++) {
        struct puts puts, others;
        struct cutting cutting;
        int rc;

        cutting_make(&cutting, ranks > 1 ? t->cut : CUT_SLABS, &t->field, ranks,
                     &shared);
        CHECK_EQ(bouma_step_begin(ds, step, (double)step), BOUMA_OK);
        CHECK_EQ(puts_make(&puts, v, &t->field, &cutting, step, &own),
                 BOUMA_OK);
        put_parted(&others, other, ranks, step, &own);
        rc = bouma_step_end(ds);
        if (rc && !t->ranks->rank)
            printf("%s\n", bouma_error_message(ds));
        CHECK_EQ(rc, BOUMA_OK);
        if (t->options.async)
            CHECK_EQ(bouma_dataset_wait(ds), BOUMA_OK);
        CHECK_EQ(puts_free(&puts), 0);
        CHECK_EQ(puts_free(&others), 0);
    }
    CHECK_EQ(bouma_dataset_close(ds), BOUMA_OK);
    bouma_dataset_free(ds);
}

static void write_both(const struct trial *t)
{
    bouma_dataset *ds;

    REQUIRE(
        !bouma_dataset_create_mpi(&ds, MPI_COMM_WORLD, t->path, &t->options));
    write_steps(t, ds, t->ranks->size);
    if (t->ranks->rank == 0) {
        REQUIRE(!bouma_dataset_create(&ds, t->alone, NULL));
        write_steps(t, ds, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- what is expected ---------------------------------------------------- */

/* A variable of step 1, and all its samples at each level. */
struct opened {
    const struct trial *t;
    bouma_dataset *ds;
    bouma_step *step;
    bouma_variable *v;
    int levels;
    uint8_t *level[32];
    bouma_selection shape[32];
};

static void find_variable(struct opened *o)
{
    bouma_grid_info info = {.size = sizeof(info)};
    bouma_grid *g;

    if (bouma_step_open(&o->step, o->ds, 1)) {
        printf("%s\n", bouma_error_message(o->ds));
        REQUIRE(!"a step that can be opened");
    }
    g = bouma_step_find_grid(o->step, "g");
    REQUIRE(g);
    o->v = bouma_grid_find_variable(g, "v");
    REQUIRE(o->v);
    bouma_grid_info_get(&info, g);
    CHECK_EQ(info.hz_wavelet, 1);
    if (o->t->grid.hz_tile_bits)
        CHECK_EQ(info.hz_tile_bits, o->t->grid.hz_tile_bits);
    o->levels = info.levels;
}

static void read_levels(struct opened *o)
{
    for (int k = 0; k < o->levels; k++) {
        REQUIRE(!bouma_variable_select(SIZED(&o->shape[k]), o->v, k, NULL));
        o->level[k] = malloc(o->shape[k].bytes + 1);
        REQUIRE(o->level[k]);
        CHECK_EQ(test_read(o->v, k, NULL, o->level[k]), BOUMA_OK);
    }
}

static void close_opened(struct opened *o)
{
    for (int k = 0; k < o->levels; k++)
        free(o->level[k]);
    bouma_step_free(o->step);
    bouma_dataset_free(o->ds);
}

/* How many samples of a selection are not those of the whole level. */
static int64_t wrong_in(const struct opened *expected, int level,
                        const bouma_selection *s, const uint8_t *data)
{
    const bouma_selection *all = &expected->shape[level];
    size_t size = bouma_type_size(expected->t->field.type) *
                  (size_t)expected->t->field.components;
    int64_t shape[3] = {1, 1, 1}, first[3] = {0, 0, 0}, whole[3] = {1, 1, 1};
    int64_t wrong = 0;

    for (int d = 0; d < s->ndims; d++) {
        int axis = 3 - s->ndims + d;

        shape[axis] = s->shape[d];
        first[axis] = s->first[d] >> level;
        whole[axis] = all->shape[d];
        wrong += s->step[d] != (int64_t)1 << level;
    }
    for (int64_t z = 0; z < shape[0]; z++)
        for (int64_t y = 0; y < shape[1]; y++)
            for (int64_t x = 0; x < shape[2]; x++, data += size) {
                int64_t at =
                    ((first[0] + z) * whole[1] + first[1] + y) * whole[2] +
                    first[2] + x;

                wrong +=
                    memcmp(data, expected->level[level] + (size_t)at * size,
                           size) != 0;
            }
    return wrong;
}

/* ---- level 0 ------------------------------------------------------------- */

static double double_at(bouma_type type, const void *value)
{
    float f32;
    double f64;

    memcpy(&f32, value, sizeof(f32));
    if (type == BOUMA_TYPE_F32)
        return (double)f32;
    memcpy(&f64, value, sizeof(f64));
    return f64;
}

/* Every sample of level 0 is what was written, within the bound. */
static void check_finest(const struct opened *o)
{
    const struct field *f = &o->t->field;
    size_t size = bouma_type_size(f->type);
    bouma_variable_info info = {.size = sizeof(info)};
    double largest = 0;
    int64_t wrong = 0;

    bouma_variable_info_get(&info, o->v);
    if (!(info.bound > 0)) {
        CHECK_EQ(field_wrong(f, &o->shape[0], 0, o->level[0], 1), 0);
        CHECK(!(info.largest_error > 0));
        return;
    }
    for (int64_t i = 0; i < (int64_t)(o->shape[0].bytes / size); i++) {
        int64_t sample = i / f->components, at[3];
        uint8_t value[8];
        double x, y;

        for (int d = f->ndims - 1; d >= 0; d--) {
            at[d] = sample % f->shape[d];
            sample /= f->shape[d];
        }
        field_value(value, f, at, (int)(i % f->components), 1);
        x = double_at(f->type, value);
        y = double_at(f->type, o->level[0] + (size_t)i * size);
        if (!isfinite(x)) {
            wrong += memcmp(value, o->level[0] + (size_t)i * size, size) != 0;
            continue;
        }
        largest = fabs(x - y) > largest ? fabs(x - y) : largest;
    }
    CHECK_EQ(wrong, 0);
    CHECK(largest <= info.bound);
    CHECK(largest == info.largest_error);
}

/* The range on record is that of the values, not of coefficients. */
static void check_ranges(const struct opened *o)
{
    const struct field *f = &o->t->field;
    bouma_variable_info info = {.size = sizeof(info)};
    int64_t at[3];

    bouma_variable_info_get(&info, o->v);
    if (f->type != BOUMA_TYPE_F32 && f->type != BOUMA_TYPE_F64)
        return;
    for (int c = 0; c < f->components; c++) {
        double low = INFINITY, high = -INFINITY;
        int64_t samples = 1;
        uint64_t nans = 0;
        bouma_range range;

        for (int d = 0; d < f->ndims; d++)
            samples *= f->shape[d];
        for (int64_t i = 0; i < samples; i++) {
            int64_t left = i;
            uint8_t value[8];
            double x;

            for (int d = f->ndims - 1; d >= 0; d--) {
                at[d] = left % f->shape[d];
                left /= f->shape[d];
            }
            field_value(value, f, at, c, 1);
            x = double_at(f->type, value);
            nans += isnan(x) != 0;
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        CHECK_EQ(bouma_variable_range(&range, o->v, c), BOUMA_OK);
        CHECK_EQ(range.nans, nans);
        CHECK(range.empty || (range.low == low && range.high == high));
    }
}

/* ---- reading ------------------------------------------------------------- */

/* Boxes of all ranks together, and the same alone. */
static void check_boxes(const struct opened *o, const struct opened *expected)
{
    uint64_t random = 40 + (uint64_t)o->t->ranks->rank;
    bouma_request requests[4];
    bouma_array arrays[4];
    size_t count = (size_t)check_below(&random, 5);

    for (size_t i = 0; i < count; i++) {
        bouma_request *q = &requests[i];
        bouma_selection s = {.size = sizeof(s)};

        memset(q, 0, sizeof(*q));
        q->size = sizeof(*q);
        q->variable = o->v;
        q->level = (int)check_below(&random, o->levels);
        q->box = random_box(&o->t->field, &random);
        CHECK_EQ(bouma_variable_select(&s, o->v, q->level, &q->box), BOUMA_OK);
        arrays[i] = test_array(o->v, malloc(s.bytes + 1));
        q->array = &arrays[i];
        REQUIRE(q->array->data);
        memset(q->array->data, 0x5a, s.bytes + 1);
    }
    CHECK_EQ(bouma_step_read(o->step, requests, count), BOUMA_OK);
    for (size_t i = 0; i < count; i++) {
        bouma_request *q = &requests[i];
        bouma_selection s = {.size = sizeof(s)};

        CHECK_EQ(bouma_variable_select(&s, o->v, q->level, &q->box), BOUMA_OK);
        CHECK_EQ(wrong_in(expected, q->level, &s, q->array->data), 0);
        memset(q->array->data, 0x5a, s.bytes + 1);
        CHECK_EQ(test_read(o->v, q->level, &q->box, q->array->data), BOUMA_OK);
        CHECK_EQ(wrong_in(expected, q->level, &s, q->array->data), 0);
        free(q->array->data);
    }
}

static void check_refinement(const struct opened *o,
                             const struct opened *expected)
{
    uint64_t random = 50 + (uint64_t)o->t->ranks->rank;
    bouma_box box = random_box(&o->t->field, &random);
    int coarsest = (int)check_below(&random, o->levels), level;
    bouma_refinement *r;
    bouma_selection s = {.size = sizeof(s)};
    const void *data;

    REQUIRE(!bouma_refinement_open(&r, o->v, coarsest, &box));
    for (int k = coarsest; k >= 0; k--) {
        CHECK_EQ(bouma_refinement_get(&data, &s, &level, r), BOUMA_OK);
        CHECK_EQ(level, k);
        CHECK_EQ(wrong_in(expected, level, &s, data), 0);
        CHECK_EQ(bouma_refinement_next(r), k ? BOUMA_OK : BOUMA_ENOTFOUND);
    }
    bouma_refinement_free(r);
}

struct seen {
    const struct opened *expected;
    int64_t wrong, samples, matching;
    double low, high;
};

static int64_t matching_in(const struct seen *seen, const uint8_t *data,
                           uint64_t bytes)
{
    bouma_type type = seen->expected->t->field.type;
    size_t size = bouma_type_size(type);
    size_t all = size * (size_t)seen->expected->t->field.components;
    int64_t count = 0;

    for (uint64_t i = 0; i < bytes && type >= BOUMA_TYPE_F32; i += all) {
        double x = double_at(type, data + i);

        count += x >= seen->low && x <= seen->high;
    }
    return count;
}

static int see(void *user, const bouma_patch_info *patch, int level,
               const bouma_selection *s, const void *samples)
{
    struct seen *seen = user;
    int64_t n = 1;

    (void)patch;
    for (int d = 0; d < s->ndims; d++)
        n *= s->shape[d];
    seen->samples += n;
    seen->wrong += wrong_in(seen->expected, level, s, samples);
    seen->matching += matching_in(seen, samples, s->bytes);
    return 0;
}

static int every_other(void *user, const bouma_patch_info *patch)
{
    (void)user;
    return (int)((patch->box.lo[0] + patch->box.hi[0]) % patch->levels);
}

static void check_queries(const struct opened *o, const struct opened *expected)
{
    uint64_t random = 60 + (uint64_t)o->t->ranks->rank;
    bouma_box box = random_box(&o->t->field, &random);
    struct seen seen = {.expected = expected, .low = -1e30, .high = 1e30};
    bouma_patch_query query = {.size = sizeof(query),
                               .box = &box,
                               .level = (int)check_below(&random, o->levels),
                               .each = see,
                               .user = &seen};
    bouma_selection all = {.size = sizeof(all)};
    int64_t samples = 1;

    CHECK_EQ(bouma_variable_select(&all, o->v, query.level, &box), BOUMA_OK);
    for (int d = 0; d < all.ndims; d++)
        samples *= all.shape[d];
    CHECK_EQ(bouma_variable_query(o->v, &query), BOUMA_OK);
    CHECK_EQ(seen.wrong, 0);
    CHECK_EQ(seen.samples, samples);
    query.choose = every_other;
    CHECK_EQ(bouma_variable_query(o->v, &query), BOUMA_OK);
    CHECK_EQ(seen.wrong, 0);
    /* Values in a range: no sample is lost. */
    query = (bouma_patch_query){.size = sizeof(query),
                                .within = 1,
                                .low = -0.25,
                                .high = 0.5,
                                .each = see,
                                .user = &seen};
    seen = (struct seen){.expected = expected, .low = -0.25, .high = 0.5};
    CHECK_EQ(bouma_variable_query(o->v, &query), BOUMA_OK);
    CHECK_EQ(seen.wrong, 0);
    CHECK_EQ(seen.matching,
             matching_in(&seen, expected->level[0], expected->shape[0].bytes));
}

static void read_both(const struct trial *t)
{
    struct opened o = {.t = t}, expected = {.t = t};

    REQUIRE(!bouma_dataset_open_mpi(&o.ds, MPI_COMM_WORLD, t->path, NULL));
    find_variable(&o);
    REQUIRE(!bouma_dataset_open(&expected.ds, t->alone, NULL));
    find_variable(&expected);
    read_levels(&expected);
    check_finest(&expected);
    check_boxes(&o, &expected);
    check_refinement(&o, &expected);
    check_queries(&o, &expected);
    check_ranges(&o);
    read_levels(&o);
    for (int k = 0; k < o.levels; k++)
        CHECK(!memcmp(o.level[k], expected.level[k], o.shape[k].bytes));
    check_finest(&o);
    close_opened(&o);
    close_opened(&expected);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void verify(const struct trial *t)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[512];

    CHECK_EQ(bouma_verify(&report, t->path, BOUMA_DEPTH_DEEP, NULL, NULL, NULL,
                          message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
}

int main(int argc, char **argv)
{
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    for (int i = 0; i < TRIALS; i++) {
        struct trial t;
        int before = check_counts()->failed;

        trial_init(&t, &ranks, i);
        write_both(&t);
        read_both(&t);
        if (ranks.rank == 0)
            verify(&t);
        if (check_counts()->failed > before)
            printf("rank %d, trial %d: %s, template %s, tiles of 2^%d, blocks "
                   "of 2^%d, tolerance %g\n",
                   ranks.rank, i, bouma_type_name(t.field.type), t.text,
                   t.grid.hz_tile_bits, t.grid.hz_block_bits,
                   t.variable.tolerance);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
