/* Histograms of particles and grids, against a count of all values that a read
 * gives: bounds hold, whatever is read; what is exact is right; no more bytes are
 * read than the budget allows, and as many as the answer says. */
#include <math.h>

#include "arrays.h"
#include "fault_alloc.h"
#include "field.h"
#include "must.h"
#include "particle_block.h"

enum { MOST_BINS = 40 };

static uint64_t bytes_read(const bouma_dataset *ds)
{
    bouma_dataset_info info = {.size = sizeof(info)};

    bouma_dataset_info_get(&info, ds);
    return info.bytes_read;
}

/* ---- what is right ------------------------------------------------------- */

/* All values of a component, and how many are in which bin. */
struct truth {
    uint64_t counts[MOST_BINS], below, above, all;
};

static int of_reals(double v, double edge)
{
    return v < edge ? -1 : v > edge;
}

/* -1, 0 or 1: the value is below the edge, equal to it, or above. Integers of
 * tests are below 2^62. */
static int compare(bouma_type type, const void *value, double edge)
{
    int64_t part = (int64_t)floor(fmax(-0x1p62, fmin(0x1p62, edge)));
    int64_t v;

    switch (type) {
    case BOUMA_TYPE_F32:
        return of_reals((double)*(const float *)value, edge);
    case BOUMA_TYPE_F64:
        return of_reals(*(const double *)value, edge);
    case BOUMA_TYPE_U64:
        v = (int64_t) * (const uint64_t *)value;
        break;
    case BOUMA_TYPE_I64:
        v = *(const int64_t *)value;
        break;
    case BOUMA_TYPE_I32:
        v = *(const int32_t *)value;
        break;
    case BOUMA_TYPE_I16:
        v = *(const int16_t *)value;
        break;
    default:
        v = *(const uint8_t *)value;
    }
    if (v != part)
        return v < part ? -1 : 1;
    return (double)part < edge ? -1 : 0;
}

static int is_nan(bouma_type type, const void *value)
{
    return (type == BOUMA_TYPE_F32 && isnan(*(const float *)value)) ||
           (type == BOUMA_TYPE_F64 && isnan(*(const double *)value));
}

static void count_value(struct truth *t, bouma_type type, const void *value,
                        const bouma_bin *bins, size_t n)
{
    size_t bin = 0;

    t->all++;
    if (is_nan(type, value))
        return;
    if (compare(type, value, bins[0].low) < 0) {
        t->below++;
        return;
    }
    if (compare(type, value, bins[n - 1].high) > 0) {
        t->above++;
        return;
    }
    while (bin + 1 < n && compare(type, value, bins[bin + 1].low) >= 0)
        bin++;
    t->counts[bin]++;
}

static void check_bin(const bouma_bin *b, uint64_t right, bouma_basis basis)
{
    CHECK(b->lower <= right);
    CHECK(right <= b->upper);
    CHECK(b->estimate >= (double)b->lower && b->estimate <= (double)b->upper);
    CHECK(!(b->error < 0));
    if (basis == BOUMA_BASIS_EXACT)
        CHECK(b->lower == b->upper && b->error == 0);
}

static void check_answer(const bouma_histogram *h, const bouma_bin *bins,
                         size_t n, const struct truth *right)
{
    for (size_t i = 0; i < n; i++)
        check_bin(&bins[i], right->counts[i], h->basis);
    check_bin(&h->below, right->below, h->basis);
    check_bin(&h->above, right->above, h->basis);
    check_bin(&h->all, right->all, h->basis);
}

/* ---- bins ---------------------------------------------------------------- */

/* A random histogram; 'edges' has room for one of MOST_BINS. */
static bouma_histogram_spec random_spec(const bouma_variable *v,
                                        uint64_t *state, double *edges)
{
    bouma_variable_info info = {.size = sizeof(info)};
    bouma_histogram_spec spec = {.size = sizeof(spec)};
    bouma_range range;
    double low, high;

    bouma_variable_info_get(&info, v);
    spec.component = (int)check_below(state, (uint64_t)info.components);
    spec.bins = 1 + check_below(state, MOST_BINS);
    spec.index_only = check_below(state, 3) == 0;
    bouma_variable_range(&range, v, spec.component);
    low = fmax(range.low, -1e6);
    high = fmin(range.high, 0x1p61);
    switch (check_below(state, 4)) {
    case 0:
        spec.low = low - 1 + (high - low) * 0.3;
        spec.high = low + (high - low) * 0.7;
        break;
    case 1: /* on values */
        for (size_t i = 0; i <= spec.bins; i++)
            edges[i] = floor(low) +
                       floor((high - low + 2) * (double)i / (double)spec.bins);
        spec.edges = edges;
        break;
    case 2:
        spec.low = low - 0.5;
        spec.high = high + 0.5;
        break;
    default: /* those of the step */
        break;
    }
    if (spec.low == spec.high)
        spec.low = spec.high = 0;
    return spec;
}

static bouma_budget random_budget(uint64_t *state, uint64_t most)
{
    bouma_budget budget = {.size = sizeof(budget)};

    if (check_below(state, 4))
        budget.bytes = 1 + check_below(state, 1 + most);
    if (!check_below(state, 3))
        budget.points = 1 + check_below(state, 40000);
    return budget;
}

/* ---- particles ----------------------------------------------------------- */

struct crowd {
    bouma_io *io;
    bouma_options opts;
    bouma_dataset *ds;
    bouma_step *step;
    struct particle_block_set set;
    uint64_t state;
};

static void open_crowd(struct crowd *c)
{
    MUST(c->ds, bouma_dataset_open(&c->ds, "a.bouma", &c->opts));
    MUST(c->ds, bouma_step_open(&c->step, c->ds, 3));
    particle_block_find(&c->set, c->step, "dust");
}

static void close_crowd(struct crowd *c)
{
    bouma_step_free(c->step);
    bouma_dataset_free(c->ds);
}

static void begin_crowd(struct crowd *c, enum shape shape, uint64_t count,
                        bouma_codec codec, int files)
{
    struct particle_block block;

    memset(c, 0, sizeof(*c));
    c->state = count + (uint64_t)shape;
    c->io = bouma_io_memory_new();
    c->opts = (bouma_options){.size = sizeof(c->opts),
                              .io = c->io,
                              .durability = BOUMA_DURABILITY_FAST,
                              .files = files};
    particle_block_make(&block, shape, count, 3, BOUMA_TYPE_F32, 0);
    MUST(c->ds, bouma_dataset_create(&c->ds, "a.bouma", &c->opts));
    MUST(c->ds, particle_block_define(&c->set, c->ds, "dust", 3, BOUMA_TYPE_F32,
                                      codec, 64));
    MUST(c->ds, bouma_step_begin(c->ds, 3, 0));
    MUST(c->ds, particle_block_put(&c->set, &block));
    MUST(c->ds, bouma_step_end(c->ds));
    MUST(c->ds, bouma_dataset_close(c->ds));
    bouma_dataset_free(c->ds);
    particle_block_free(&block);
    open_crowd(c);
}

static void end_crowd(struct crowd *c)
{
    close_crowd(c);
    bouma_io_memory_free(c->io);
}

/* A box, conditions, both or none of them. */
struct question {
    bouma_bounds box;
    bouma_condition conditions[3];
    bouma_particles_query query;
};

static const char *const wheres[] = {
    "mass < 0.5 | mass > 2", "kind == 3 or x < 0.2 and small != 7",
    "!(0.3 < y < 0.6)", "z > 0.9 | x < 0.1 | velocity[1] > 3 & kind != 0"};

static void ask(struct crowd *c, struct question *q)
{
    bouma_variable **v = c->set.variables;
    double a = particle_block_unit(&c->state);

    memset(q, 0, sizeof(*q));
    q->query.size = sizeof(q->query);
    q->box.axes = BOUMA_AXES_XYZ;
    for (int d = 0; d < 3; d++) {
        double low = particle_block_unit(&c->state);

        q->box.low[d] = low - 0.3;
        q->box.high[d] = low + 0.6;
    }
    q->conditions[0] = condition_of(v[MASS], 0, 0.2 + a, 2.5);
    q->conditions[1] = condition_of(v[KIND], 0, -1e300, 3);
    q->conditions[2] = condition_of(v[POSITION], 1, 0.1, 0.1 + a);
    if (check_below(&c->state, 2))
        q->query.box = &q->box;
    q->query.condition_count = check_below(&c->state, 4);
    if (q->query.condition_count)
        q->query.conditions = q->conditions;
    if (check_below(&c->state, 2))
        q->query.where = wheres[check_below(&c->state, 4)];
}

static void count_particles(struct truth *out, struct crowd *c,
                            const bouma_particles_query *query,
                            bouma_variable *v, int component,
                            const bouma_bin *bins, size_t n)
{
    bouma_variable_info info = {.size = sizeof(info)};
    bouma_particles_query all = *query;
    bouma_particle_data *data;
    size_t size;

    memset(out, 0, sizeof(*out));
    bouma_variable_info_get(&info, v);
    size = bouma_type_size(info.type);
    all.variables = &v;
    all.variable_count = 1;
    MUST(c->ds, bouma_particles_read(&data, c->set.particles, &all));
    for (uint64_t i = 0; i < data->count; i++)
        count_value(out, info.type,
                    (const char *)data->columns[0] +
                        ((uint64_t)component * data->count + i) * size,
                    bins, n);
    bouma_particle_data_free(data);
}

/* One histogram, of a handle that has read nothing yet, or some of the index. */
static void try_particles(struct crowd *c, int bases[4])
{
    bouma_variable *v;
    bouma_histogram h = {.size = sizeof(h)};
    bouma_bin bins[MOST_BINS];
    double edges[MOST_BINS + 1];
    bouma_histogram_spec spec;
    bouma_budget budget;
    struct question q;
    struct truth right;
    uint64_t before;
    int limited, rc;

    if (check_below(&c->state, 2)) {
        close_crowd(c);
        open_crowd(c);
    }
    v = c->set.variables[check_below(&c->state, PARTICLE_BLOCK_VARIABLES)];
    spec = random_spec(v, &c->state, edges);
    budget = random_budget(&c->state, 400000);
    limited = check_below(&c->state, 4) != 0;
    ask(c, &q);
    before = bytes_read(c->ds);
    rc = bouma_particles_histogram(&h, bins, v, &spec, &q.query,
                                   limited ? &budget : NULL);
    if (rc)
        printf("%s\n", bouma_error_message(c->ds));
    REQUIRE(!rc);
    CHECK_EQ(h.bytes, bytes_read(c->ds) - before);
    if (limited && budget.bytes)
        CHECK(h.bytes <= budget.bytes);
    if (!limited && !spec.index_only)
        CHECK_EQ(h.basis, BOUMA_BASIS_EXACT);
    if (spec.index_only)
        CHECK_EQ(h.points, 0);
    bases[h.basis]++;
    count_particles(&right, c, &q.query, v, spec.component, bins, spec.bins);
    check_answer(&h, bins, spec.bins, &right);
}

static void bounds_of_particles_hold(void)
{
    static const struct {
        enum shape shape;
        uint64_t count;
        bouma_codec codec;
        int files;
    } sets[] = {{UNIFORM, 30000, BOUMA_CODEC_ZSTD, 3},
                {WITH_STRAYS, 20000, BOUMA_CODEC_RAW, 2},
                {CLUSTERED, 9000, BOUMA_CODEC_ZSTD, 1},
                {ONE_POINT, 700, BOUMA_CODEC_ZSTD, 1},
                {LATTICE, 5000, BOUMA_CODEC_RAW, 4}};
    int bases[4] = {0};

    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        struct crowd c;

        begin_crowd(&c, sets[i].shape, sets[i].count, sets[i].codec,
                    sets[i].files);
        for (int trial = 0; trial < 60; trial++)
            try_particles(&c, bases);
        end_crowd(&c);
    }
    CHECK(bases[BOUMA_BASIS_INDEX] > 20);
    CHECK(bases[BOUMA_BASIS_SAMPLE] > 20);
    CHECK(bases[BOUMA_BASIS_EXACT] > 20);
}

/* Ids follow the order in which particles were made, which is no order in
 * space; velocities follow the place: bitmaps of leaves tell much of these. */
static void the_index_alone_tells_much(void)
{
    bouma_histogram_spec spec = {
        .size = sizeof(spec), .bins = 8, .component = 2, .index_only = 1};
    bouma_histogram h = {.size = sizeof(h)};
    bouma_bin bins[8];
    uint64_t lower = 0;
    struct crowd c;

    begin_crowd(&c, UNIFORM, 40000, BOUMA_CODEC_ZSTD, 2);
    MUST(c.ds, bouma_particles_histogram(&h, bins, c.set.variables[VELOCITY],
                                         &spec, NULL, NULL));
    CHECK_EQ(h.basis, BOUMA_BASIS_INDEX);
    CHECK_EQ(h.all.lower, 40000);
    CHECK_EQ(h.all.upper, 40000);
    for (int i = 0; i < 8; i++) {
        lower += bins[i].lower;
        CHECK(bins[i].upper < 40000);
    }
    CHECK(lower > 40000 / 10);
    /* Once it is there, it takes no byte more. */
    MUST(c.ds, bouma_particles_histogram(&h, bins, c.set.variables[VELOCITY],
                                         &spec, NULL, NULL));
    CHECK_EQ(h.bytes, 0);
    end_crowd(&c);
}

/* What the index alone says of particles that meet conditions. */
static void check_index(struct crowd *c, bouma_variable *v,
                        const bouma_condition *conditions, size_t count)
{
    static const double all[2] = {-(double)INFINITY, (double)INFINITY};
    bouma_particles_query query = {.size = sizeof(query),
                                   .conditions = conditions,
                                   .condition_count = count};
    bouma_histogram_spec spec = {
        .size = sizeof(spec), .bins = 1, .edges = all, .index_only = 1};
    bouma_budget none = {.size = sizeof(none), .bytes = 1};

    for (int trees = 0; trees < 2; trees++) {
        bouma_histogram h = {.size = sizeof(h)};
        bouma_bin bin;
        struct truth right;

        MUST(c->ds, bouma_particles_histogram(&h, &bin, v, &spec, &query,
                                              trees ? NULL : &none));
        count_particles(&right, c, &query, v, 0, &bin, 1);
        check_answer(&h, &bin, 1, &right);
    }
}

/* All numbers are within a condition, and NaN is not; nor is it in a bin. */
static void nan_meets_no_condition(void)
{
    bouma_condition any;
    struct crowd c;

    begin_crowd(&c, UNIFORM, 5000, BOUMA_CODEC_ZSTD, 2);
    any = condition_of(c.set.variables[MASS], 0, -(double)INFINITY,
                       (double)INFINITY);
    check_index(&c, c.set.variables[ID], &any, 1);
    check_index(&c, c.set.variables[MASS], &any, 1);
    check_index(&c, c.set.variables[MASS], NULL, 0);
    end_crowd(&c);
}

/* Bitmaps do not tell of particles without a position. */
static void strays_are_counted_only_if_nothing_is_asked(void)
{
    bouma_condition few[2];
    struct crowd c;

    begin_crowd(&c, WITH_STRAYS, 20000, BOUMA_CODEC_RAW, 2);
    few[0] = condition_of(c.set.variables[KIND], 0, 3, 3);
    few[1] = condition_of(c.set.variables[SMALL], 0, 7, 7);
    check_index(&c, c.set.variables[ID], few, 2);
    check_index(&c, c.set.variables[ID], NULL, 0);
    end_crowd(&c);
}

/* Five standard errors, in all bins of many samples. */
static void samples_are_as_good_as_they_say(void)
{
    bouma_histogram_spec spec = {.size = sizeof(spec), .bins = 20};
    bouma_budget budget = {.size = sizeof(budget)};
    bouma_histogram h = {.size = sizeof(h)};
    bouma_bin bins[20], right[20];
    double most = INFINITY;
    struct crowd c;

    begin_crowd(&c, UNIFORM, 40000, BOUMA_CODEC_ZSTD, 2);
    MUST(c.ds, bouma_particles_histogram(&h, right, c.set.variables[MASS],
                                         &spec, NULL, NULL));
    for (uint64_t points = 1000; points < 40000; points *= 3) {
        double sum = 0;

        budget.points = points;
        MUST(c.ds, bouma_particles_histogram(&h, bins, c.set.variables[MASS],
                                             &spec, NULL, &budget));
        CHECK_EQ(h.basis, BOUMA_BASIS_SAMPLE);
        CHECK_EQ(h.limit, BOUMA_LIMIT_POINTS);
        CHECK(h.level > 0 && h.next_bytes > 0);
        CHECK(h.points <= points && h.points > points / 4);
        for (int i = 0; i < 20; i++) {
            CHECK(fabs(bins[i].estimate - right[i].estimate) <=
                  5 * bins[i].error);
            sum += bins[i].error;
        }
        CHECK(sum < most);
        most = sum;
    }
    end_crowd(&c);
}

/* A tolerance changes values, and then bitmaps are those of the new ones. */
static void lossy_particles_are_counted_as_they_are_read(void)
{
    enum { N = 6000 };
    bouma_io *io = bouma_io_memory_new();
    bouma_options opts = {.size = sizeof(opts), .io = io};
    bouma_particles_spec set = {
        .size = sizeof(set), .ndims = 3, .type = BOUMA_TYPE_F32, .leaf = 32};
    bouma_variable_spec rough = {
        .size = sizeof(rough), .type = BOUMA_TYPE_F64, .tolerance = 0.02};
    static float x[N][3];
    static double t[N];
    bouma_array arrays[2] = {BOUMA_ARRAY(BOUMA_TYPE_F32, x, sizeof(x)),
                             BOUMA_ARRAY(BOUMA_TYPE_F64, t, sizeof(t))};
    bouma_column columns[2] = {{sizeof(columns[0]), NULL, &arrays[0]},
                               {sizeof(columns[0]), NULL, &arrays[1]}};
    struct crowd c = {.io = io, .opts = opts, .state = 5};
    bouma_particles_query all = {.size = sizeof(all)};
    bouma_variable *v;

    for (int i = 0; i < N; i++) {
        for (int d = 0; d < 3; d++)
            x[i][d] = (float)particle_block_unit(&c.state);
        t[i] = (double)x[i][0] + 0.01 * particle_block_unit(&c.state);
    }
    MUST(c.ds, bouma_dataset_create(&c.ds, "a.bouma", &opts));
    MUST(c.ds, bouma_particles_define(&c.set.particles, c.ds, "p", &set));
    MUST(c.ds,
         bouma_particles_define_variable(&v, c.set.particles, "t", &rough));
    columns[0].variable = bouma_particles_position(c.set.particles);
    columns[1].variable = v;
    MUST(c.ds, bouma_step_begin(c.ds, 0, 0));
    MUST(c.ds, bouma_particles_put_copy(c.set.particles, N, columns, 2, NULL));
    MUST(c.ds, bouma_step_end(c.ds));
    bouma_dataset_free(c.ds);
    MUST(c.ds, bouma_dataset_open(&c.ds, "a.bouma", &opts));
    MUST(c.ds, bouma_step_open(&c.step, c.ds, 0));
    c.set.particles = bouma_step_particles(c.step, 0);
    v = bouma_particles_find_variable(c.set.particles, "t");
    for (int only = 0; only < 2; only++)
        for (size_t n = 1; n <= MOST_BINS; n += 3) {
            bouma_histogram_spec spec = {
                .size = sizeof(spec), .bins = n, .index_only = only};
            bouma_histogram h = {.size = sizeof(h)};
            bouma_bin bins[MOST_BINS];
            struct truth right;

            MUST(c.ds,
                 bouma_particles_histogram(&h, bins, v, &spec, NULL, NULL));
            count_particles(&right, &c, &all, v, 0, bins, n);
            CHECK_EQ(right.below + right.above, 0);
            check_answer(&h, bins, n, &right);
        }
    close_crowd(&c);
    bouma_io_memory_free(io);
}

/* ---- grids --------------------------------------------------------------- */

enum kind { PATCH, INTERP, WAVELET, HZ, HZ_WAVELET, KINDS };

struct plate {
    bouma_io *io;
    bouma_options opts;
    struct field f;
    bouma_dataset *ds;
    bouma_step *step;
    bouma_variable *v;
    uint64_t state;
};

static void open_plate(struct plate *p)
{
    MUST(p->ds, bouma_dataset_open(&p->ds, "a.bouma", &p->opts));
    MUST(p->ds, bouma_step_open(&p->step, p->ds, 0));
    p->v = bouma_grid_variable(bouma_step_grid(p->step, 0), 0);
}

static void write_plate(struct plate *p, enum kind kind)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = p->f.ndims};
    bouma_variable_spec v = {.size = sizeof(v),
                             .type = p->f.type,
                             .components = p->f.components,
                             .codec = BOUMA_CODEC_ZSTD};
    bouma_variable *variable;
    bouma_grid *grid;

    for (int d = 0; d < p->f.ndims; d++) {
        g.shape[d] = p->f.shape[d];
        g.patch[d] = kind == HZ || kind == HZ_WAVELET ? 0 : 8;
    }
    if (kind == INTERP || kind == WAVELET) {
        v.codec = kind == INTERP ? BOUMA_CODEC_INTERP : BOUMA_CODEC_WAVELET;
        v.tolerance = 0.25;
    }
    if (kind == HZ || kind == HZ_WAVELET) {
        g.layout = BOUMA_LAYOUT_HZ;
        g.hz_block_bits = 5;
        g.hz_blocks_per_file = 7;
        g.hz_wavelet = kind == HZ_WAVELET;
        g.hz_tile_bits = kind == HZ_WAVELET ? 7 : 0;
    } else {
        g.levels = 3;
    }
    MUST(p->ds, bouma_dataset_create(&p->ds, "a.bouma", &p->opts));
    MUST(p->ds, bouma_grid_define(&grid, p->ds, "g", &g));
    MUST(p->ds, bouma_variable_define(&variable, grid, "v", &v));
    MUST(p->ds, bouma_step_begin(p->ds, 0, 0));
    MUST(p->ds, test_put(variable, NULL, p->f.data));
    MUST(p->ds, bouma_step_end(p->ds));
    MUST(p->ds, bouma_dataset_close(p->ds));
    bouma_dataset_free(p->ds);
}

/* Some values that are no numbers, or infinite. */
static void spoil(struct plate *p)
{
    size_t n = p->f.samples * (size_t)p->f.components;

    for (size_t i = 0; i < n && p->f.type == BOUMA_TYPE_F64; i += 97)
        ((double *)p->f.data)[i] = i % 2   ? (double)NAN
                                   : i % 3 ? (double)INFINITY
                                           : -(double)INFINITY;
}

static void begin_plate(struct plate *p, enum kind kind, uint64_t seed)
{
    static const bouma_type types[] = {BOUMA_TYPE_F32, BOUMA_TYPE_F64,
                                       BOUMA_TYPE_I16, BOUMA_TYPE_U8};
    int64_t shape[3];
    int ndims;

    memset(p, 0, sizeof(*p));
    p->state = seed;
    p->io = bouma_io_memory_new();
    p->opts = (bouma_options){.size = sizeof(p->opts), .io = p->io};
    p->opts.files = 1 + (int)check_below(&p->state, 4);
    ndims = 1 + (int)check_below(&p->state, 3);
    for (int d = 0; d < ndims; d++)
        shape[d] = (ndims == 1 ? 130 : 12) +
                   (int64_t)check_below(&p->state, ndims == 1 ? 900 : 24);
    field_init(&p->f,
               kind == INTERP || kind == WAVELET
                   ? BOUMA_TYPE_F32
                   : types[check_below(&p->state, 4)],
               1 + (int)check_below(&p->state, 2), ndims, shape, seed);
    if (kind == PATCH || kind == HZ)
        spoil(p);
    write_plate(p, kind);
    open_plate(p);
}

static void end_plate(struct plate *p)
{
    bouma_step_free(p->step);
    bouma_dataset_free(p->ds);
    field_release(&p->f);
    bouma_io_memory_free(p->io);
}

static void count_samples(struct truth *out, struct plate *p,
                          const bouma_box *box, int component,
                          const bouma_bin *bins, size_t n)
{
    bouma_selection s = {.size = sizeof(s)};
    size_t size = bouma_type_size(p->f.type);
    size_t sample = size * (size_t)p->f.components;
    bouma_array array;
    char *data;

    memset(out, 0, sizeof(*out));
    MUST(p->ds, bouma_variable_select(&s, p->v, 0, box));
    data = malloc(s.bytes + 1);
    REQUIRE(data);
    array = BOUMA_ARRAY(p->f.type, data, s.bytes);
    MUST(p->ds, bouma_variable_read(p->v, 0, box, &array));
    for (size_t i = 0; i < s.bytes / sample; i++)
        count_value(out, p->f.type,
                    data + i * sample + (size_t)component * size, bins, n);
    free(data);
}

static void try_grid(struct plate *p, int bases[4])
{
    bouma_histogram h = {.size = sizeof(h)};
    bouma_box box = field_all(&p->f);
    bouma_bin bins[MOST_BINS];
    double edges[MOST_BINS + 1];
    bouma_histogram_spec spec;
    bouma_budget budget;
    struct truth right;
    bouma_range range;
    uint64_t before;
    int limited, rc;

    if (check_below(&p->state, 2)) {
        bouma_step_free(p->step);
        bouma_dataset_free(p->ds);
        open_plate(p);
    }
    spec = random_spec(p->v, &p->state, edges);
    bouma_variable_range(&range, p->v, spec.component);
    for (int d = 0; d < p->f.ndims && check_below(&p->state, 2); d++) {
        box.lo[d] = (int64_t)check_below(&p->state, (uint64_t)box.hi[d]);
        box.hi[d] -=
            (int64_t)check_below(&p->state, (uint64_t)(box.hi[d] - box.lo[d]));
    }
    budget = random_budget(&p->state, 30000);
    limited = check_below(&p->state, 4) != 0;
    before = bytes_read(p->ds);
    rc = bouma_variable_histogram(&h, bins, p->v, &spec, &box,
                                  limited ? &budget : NULL);
    if (!spec.edges && spec.low == 0 && spec.high == 0 &&
        !(isfinite(range.low) && isfinite(range.high))) {
        CHECK_EQ(rc, BOUMA_EINVAL);
        CHECK_TEXT(bouma_error_message(p->ds), "infinite values");
        return;
    }
    if (rc)
        printf("%s\n", bouma_error_message(p->ds));
    REQUIRE(!rc);
    CHECK_EQ(h.bytes, bytes_read(p->ds) - before);
    if (limited && budget.bytes)
        CHECK(h.bytes <= budget.bytes);
    if (!limited && !spec.index_only)
        CHECK_EQ(h.basis, BOUMA_BASIS_EXACT);
    bases[h.basis]++;
    count_samples(&right, p, &box, spec.component, bins, spec.bins);
    CHECK_EQ(h.all.lower, right.all);
    CHECK_EQ(h.all.upper, right.all);
    if (!spec.edges && spec.low == 0 && spec.high == 0)
        CHECK_EQ(right.below + right.above, 0);
    check_answer(&h, bins, spec.bins, &right);
}

static void bounds_of_grids_hold(void)
{
    int bases[4] = {0};

    for (int kind = 0; kind < KINDS; kind++)
        for (uint64_t seed = 1; seed <= 8; seed++) {
            struct plate p;

            begin_plate(&p, (enum kind)kind, 100 * (uint64_t)kind + seed);
            for (int trial = 0; trial < 12; trial++)
                try_grid(&p, bases);
            end_plate(&p);
        }
    CHECK(bases[BOUMA_BASIS_INDEX] > 20);
    CHECK(bases[BOUMA_BASIS_SAMPLE] > 20);
    CHECK(bases[BOUMA_BASIS_EXACT] > 20);
}

/* The patches have one value, and NaN; the box has some of these. */
static void nan_of_a_grid_may_be_in_the_box(void)
{
    const bouma_box box = {{3, 5, 0}, {27, 22, 0}};
    bouma_grid_spec g = {
        .size = sizeof(g), .ndims = 2, .shape = {32, 32}, .patch = {8, 8}};
    bouma_variable_spec spec = {.size = sizeof(spec), .type = BOUMA_TYPE_F64};
    bouma_histogram_spec one = {
        .size = sizeof(one), .bins = 1, .high = 2, .index_only = 1};
    bouma_budget none = {.size = sizeof(none), .bytes = 1};
    bouma_io *io = bouma_io_memory_new();
    struct plate p = {.io = io,
                      .opts = {.size = sizeof(p.opts), .io = io, .files = 3}};
    int64_t shape[2] = {32, 32};
    bouma_grid *grid;

    field_init(&p.f, BOUMA_TYPE_F64, 1, 2, shape, 1);
    for (size_t i = 0; i < p.f.samples; i++)
        ((double *)p.f.data)[i] = i % 2 ? 1 : (double)NAN;
    MUST(p.ds, bouma_dataset_create(&p.ds, "a.bouma", &p.opts));
    MUST(p.ds, bouma_grid_define(&grid, p.ds, "g", &g));
    MUST(p.ds, bouma_variable_define(&p.v, grid, "v", &spec));
    MUST(p.ds, bouma_step_begin(p.ds, 0, 0));
    MUST(p.ds, test_put(p.v, NULL, p.f.data));
    MUST(p.ds, bouma_step_end(p.ds));
    bouma_dataset_free(p.ds);
    open_plate(&p);
    for (int heads = 0; heads < 2; heads++)
        for (int whole = 0; whole < 2; whole++) {
            bouma_histogram h = {.size = sizeof(h)};
            bouma_box all = field_all(&p.f);
            struct truth right;
            bouma_bin bin;

            MUST(p.ds, bouma_variable_histogram(&h, &bin, p.v, &one,
                                                whole ? &all : &box,
                                                heads ? NULL : &none));
            count_samples(&right, &p, whole ? &all : &box, 0, &bin, 1);
            check_answer(&h, &bin, 1, &right);
            CHECK(!whole || (bin.lower == 512 && bin.upper == 512));
        }
    end_plate(&p);
}

/* ---- memory -------------------------------------------------------------- */

/* Each request for memory fails in turn: an answer that is right, or none. */
static void without_memory_nothing_is_lost(void)
{
    bouma_histogram_spec spec = {.size = sizeof(spec), .bins = 5};
    bouma_budget budget = {.size = sizeof(budget), .points = 1500};
    struct fault_alloc memory;
    struct crowd c;
    struct plate p;
    long fired = 1;

    begin_crowd(&c, UNIFORM, 3000, BOUMA_CODEC_ZSTD, 2);
    begin_plate(&p, PATCH, 3);
    close_crowd(&c);
    bouma_step_free(p.step);
    bouma_dataset_free(p.ds);
    fault_alloc_init(&memory);
    c.opts.allocator = p.opts.allocator = &memory.table;
    for (long at = 1; fired; at++) {
        bouma_histogram h = {.size = sizeof(h)};
        bouma_bin bins[5];
        int rc;

        open_crowd(&c);
        open_plate(&p);
        fault_alloc_arm(&memory, at, 0);
        rc = bouma_particles_histogram(&h, bins, c.set.variables[MASS], &spec,
                                       NULL, &budget);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        if (!rc)
            CHECK_EQ(h.all.upper, 3000);
        rc = bouma_variable_histogram(&h, bins, p.v, &spec, NULL, &budget);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        fired = memory.fired;
        fault_alloc_disarm(&memory);
        close_crowd(&c);
        bouma_step_free(p.step);
        bouma_dataset_free(p.ds);
        CHECK_EQ(memory.live, 0);
    }
    open_crowd(&c);
    open_plate(&p);
    end_crowd(&c);
    end_plate(&p);
}

/* ---- mistakes ------------------------------------------------------------ */

static void mistakes_are_told(void)
{
    static const double edges[] = {0, 2, 1};
    bouma_histogram_spec spec = {.size = sizeof(spec), .bins = 2};
    bouma_particles_query half = {.size = sizeof(half), .quality = 0.5};
    bouma_budget error = {.size = sizeof(error), .error = 0.1};
    bouma_histogram h = {.size = sizeof(h)}, unset = {.size = 0};
    bouma_bin bins[2];
    struct crowd c;
    bouma_variable *v;

#define REFUSED(out, text, what, query, budget)                                \
    do {                                                                       \
        CHECK_EQ(bouma_particles_histogram(out, bins, v, what, query, budget), \
                 BOUMA_EINVAL);                                                \
        CHECK_TEXT(bouma_error_message(c.ds), text);                           \
    } while (0)
    begin_crowd(&c, UNIFORM, 100, BOUMA_CODEC_ZSTD, 1);
    v = c.set.variables[MASS];
    REFUSED(&unset, "histogram", &spec, NULL, NULL);
    REFUSED(&h, "no bouma_histogram_spec", NULL, NULL, NULL);
    REFUSED(&h, "has a quality", &spec, &half, NULL);
    REFUSED(&h, "has an error", &spec, NULL, &error);
    spec.component = 1;
    REFUSED(&h, "which has 1", &spec, NULL, NULL);
    spec.component = 0;
    spec.edges = edges;
    REFUSED(&h, "must ascend", &spec, NULL, NULL);
    spec.low = 3;
    REFUSED(&h, "must be 0", &spec, NULL, NULL);
    spec.edges = NULL;
    REFUSED(&h, "less than", &spec, NULL, NULL);
    spec.low = 0;
    spec.bins = 0;
    REFUSED(&h, "1 to 65536", &spec, NULL, NULL);
    spec.bins = 2;
    CHECK_EQ(bouma_variable_histogram(&h, bins, v, &spec, NULL, NULL),
             BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(c.ds), "bouma_particles_histogram()");
    CHECK_EQ(bouma_particles_histogram(&h, NULL, v, &spec, NULL, NULL),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_histogram(&h, bins, NULL, &spec, NULL, NULL),
             BOUMA_EINVAL);
    end_crowd(&c);
#undef REFUSED
}

int main(void)
{
    bounds_of_particles_hold();
    the_index_alone_tells_much();
    nan_meets_no_condition();
    strays_are_counted_only_if_nothing_is_asked();
    samples_are_as_good_as_they_say();
    lossy_particles_are_counted_as_they_are_read();
    bounds_of_grids_hold();
    nan_of_a_grid_may_be_in_the_box();
    without_memory_nothing_is_lost();
    mistakes_are_told();
    return check_result();
}
