/* Particles through the public functions: what is written comes back, and what
 * is found is what a look at every particle finds. */
#include "particle_block.h"
#include "sized.h"

static bouma_io *io;

/* Write one block of particles, in two blocks, and open it again. */
static bouma_step *write_and_open(bouma_dataset **ds,
                                  struct particle_block_set *set,
                                  const struct particle_block *s,
                                  bouma_options *opts, bouma_codec codec,
                                  int leaf)
{
    bouma_step *step = NULL;

    CHECK_EQ(bouma_dataset_create(ds, "a.bouma", opts), BOUMA_OK);
    CHECK_EQ(
        particle_block_define(set, *ds, "dust", s->ndims, s->type, codec, leaf),
        BOUMA_OK);
    CHECK_EQ(bouma_step_begin(*ds, 0, 0), BOUMA_OK);
    CHECK_EQ(particle_block_put(set, s), BOUMA_OK);
    if (bouma_step_end(*ds))
        printf("%s\n", bouma_error_message(*ds));
    CHECK_EQ(bouma_dataset_close(*ds), BOUMA_OK);
    bouma_dataset_free(*ds);
    CHECK_EQ(bouma_dataset_open(ds, "a.bouma", opts), BOUMA_OK);
    if (bouma_step_open(&step, *ds, 0))
        printf("%s\n", bouma_error_message(*ds));
    if (step)
        particle_block_find(set, step, "dust");
    return step;
}

static void setup(bouma_options *opts)
{
    io = bouma_io_memory_new();
    *opts = (bouma_options){.size = sizeof(*opts)};
    opts->io = io;
    opts->durability = BOUMA_DURABILITY_FAST;
}

/* All particles that are in 'd' are of the block of particles, none twice; and,
 * of each of the block of particles, whether it is there. */
static void check_found(const struct particle_block *s,
                        const bouma_particle_data *d, uint8_t *there)
{
    const uint64_t *id = d->columns[ID];

    memset(there, 0, (size_t)s->count);
    for (uint64_t i = 0; i < d->count; i++) {
        uint64_t k = id[i] - s->id[0];

        CHECK(k < s->count && !there[k] && particle_block_same(s, k, d, i));
        if (k < s->count)
            there[k] = 1;
    }
}

static void verify(const bouma_options *opts)
{
    bouma_verify_report report = {.size = sizeof(report)};
    char message[400] = "";

    CHECK_EQ(bouma_verify(&report, "a.bouma", BOUMA_DEPTH_DEEP, opts, NULL,
                          NULL, message, sizeof(message)),
             BOUMA_OK);
    CHECK_EQ(report.damages, 0);
}

static void what_is_written_comes_back(void)
{
    static const uint64_t counts[] = {1, 2, 255, 257, 8191, 8193, 40000};
    static const bouma_codec codecs[] = {BOUMA_CODEC_ZSTD, BOUMA_CODEC_RAW};

    for (int shape = 0; shape < SHAPES; shape++)
        for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
            int ndims = 1 + (shape + (int)c) % 3;
            struct particle_block s;
            struct particle_block_set set;
            bouma_particle_data *d = NULL;
            bouma_particles_info info = {.size = sizeof(info)};
            bouma_options opts;
            bouma_dataset *ds;
            bouma_step *step;
            uint8_t *there;

            setup(&opts);
            opts.file_size = c % 2 ? 0 : 100000;
            opts.order = c % 3 ? BOUMA_ORDER_LEVEL : BOUMA_ORDER_CHUNK;
            particle_block_make(&s, (enum shape)shape, counts[c], ndims,
                                c % 2 ? BOUMA_TYPE_F64 : BOUMA_TYPE_F32, 5);
            there = malloc((size_t)s.count);
            step = write_and_open(&ds, &set, &s, &opts, codecs[c % 2],
                                  c % 2 ? 0 : 16);
            bouma_particles_info_get(&info, set.particles);
            CHECK_EQ(info.count, s.count);
            CHECK_EQ(bouma_particles_read(&d, set.particles, NULL), BOUMA_OK);
            if (d) {
                CHECK_EQ(d->count, s.count);
                check_found(&s, d, there);
            }
            bouma_particle_data_free(d);
            bouma_step_free(step);
            bouma_dataset_free(ds);
            verify(&opts);
            particle_block_free(&s);
            free(there);
            bouma_io_memory_free(io);
        }
}

/* Whether particle k matches, by a look at it. */
static int matches(const struct particle_block *s, uint64_t k,
                   const bouma_particles_query *q, double mass_low,
                   double mass_high, int with_mass)
{
    for (int d = 0; d < s->ndims && q->box; d++) {
        double x = s->position[k * (uint64_t)s->ndims + (uint64_t)d];

        if (!(x >= q->box->low[d]) ||
            !(q->box->closed >> d & 1 ? x <= q->box->high[d]
                                      : x < q->box->high[d]))
            return 0;
    }
    for (int d = 0; d < s->ndims && q->box; d++)
        if (!isfinite(s->position[k * (uint64_t)s->ndims + (uint64_t)d]))
            return 0;
    return !with_mass || (s->mass[k] >= mass_low && s->mass[k] <= mass_high);
}

static void queries_find_what_brute_force_finds(void)
{
    uint64_t state = 4;

    for (int turn = 0; turn < 2 * SHAPES; turn++) {
        int shape = turn / 2;
        struct particle_block s;
        struct particle_block_set set;
        bouma_options opts;
        bouma_dataset *ds;
        bouma_step *step;
        uint8_t *there;
        uint64_t missed = 0, extra = 0, found = 0;

        setup(&opts);
        opts.file_size = 200000;
        opts.order = turn % 2 ? BOUMA_ORDER_CHUNK : BOUMA_ORDER_LEVEL;
        particle_block_make(&s, (enum shape)shape, 30000, 3,
                            shape % 2 ? BOUMA_TYPE_F64 : BOUMA_TYPE_F32, 1);
        there = malloc((size_t)s.count);
        step = write_and_open(&ds, &set, &s, &opts, BOUMA_CODEC_ZSTD, 64);
        for (int trial = 0; trial < 60 && step; trial++) {
            bouma_particles_query q;
            bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
            bouma_condition c;
            bouma_particle_data *d = NULL;
            double ends[2];
            int with_mass = trial % 3 != 0;

            q = (bouma_particles_query){.size = sizeof(q)};
            q.box = trial % 4 != 1 ? &box : NULL;
            box.closed = trial % 5 ? 0 : 5;
            for (int a = 0; a < 3; a++) {
                /* Ends at coordinates of particles, and elsewhere. */
                uint64_t i = check_random(&state) % s.count;
                uint64_t k = check_random(&state) % s.count;

                box.low[a] = s.position[i * 3 + (uint64_t)a];
                box.high[a] = s.position[k * 3 + (uint64_t)a];
                if (trial % 7 == 2 || isnan(box.low[a]) || isnan(box.high[a])) {
                    box.low[a] = -INFINITY;
                    box.high[a] = INFINITY;
                }
                if (box.low[a] > box.high[a] && trial % 11) {
                    double swap = box.low[a];

                    box.low[a] = box.high[a];
                    box.high[a] = swap;
                }
            }
            for (int a = 0; a < 2; a++)
                do
                    ends[a] = s.mass[check_random(&state) % s.count];
                while (isnan(ends[a]));
            c = condition_of(set.variables[MASS], 0, ends[0], ends[1]);
            q.conditions = with_mass ? &c : NULL;
            q.condition_count = (size_t)with_mass;
            CHECK_EQ(bouma_particles_read(&d, set.particles, &q), BOUMA_OK);
            if (!d) {
                printf("%s\n", bouma_error_message(ds));
                continue;
            }
            check_found(&s, d, there);
            found += d->count;
            for (uint64_t k = 0; k < s.count; k++) {
                int should = matches(&s, k, &q, ends[0], ends[1], with_mass);

                missed += should && !there[k];
                extra += !should && there[k];
            }
            bouma_particle_data_free(d);
        }
        CHECK_EQ(missed, 0);
        CHECK_EQ(extra, 0);
        CHECK(found > 0);
        bouma_step_free(step);
        bouma_dataset_free(ds);
        particle_block_free(&s);
        free(there);
        bouma_io_memory_free(io);
    }
}

/* Values on the edges of bins, and the largest one, are not lost. */
static void all_ranges_of_integers_are_right(void)
{
    struct particle_block s;
    struct particle_block_set set;
    bouma_options opts;
    bouma_dataset *ds;
    bouma_step *step;

    setup(&opts);
    particle_block_make(&s, UNIFORM, 20000, 2, BOUMA_TYPE_F64, 0);
    step = write_and_open(&ds, &set, &s, &opts, BOUMA_CODEC_RAW, 32);
    for (int low = -9; low <= 9; low++)
        for (int high = low - 1; high <= 9; high++) {
            bouma_particles_query q;
            bouma_condition c;
            bouma_particle_data *d = NULL;
            uint64_t should = 0;

            q = (bouma_particles_query){.size = sizeof(q)};
            c = condition_of(set.variables[KIND], 0, low, high);
            q.conditions = &c;
            q.condition_count = 1;
            CHECK_EQ(bouma_particles_read(&d, set.particles, &q), BOUMA_OK);
            for (uint64_t k = 0; k < s.count; k++)
                should += s.kind[k] >= low && s.kind[k] <= high;
            CHECK_EQ(d->count, should);
            bouma_particle_data_free(d);
        }
    /* Neighbours that a double cannot tell apart. */
    for (int64_t i = 0; i < 20; i++) {
        bouma_particles_query q;
        bouma_condition c = {.size = sizeof(c),
                             .variable = set.variables[LARGE]};
        bouma_particle_data *d = NULL;
        uint64_t should = 0;

        q = (bouma_particles_query){.size = sizeof(q)};
        c.low = bouma_value_int(((int64_t)1 << 60) + 37 * i);
        c.high = bouma_value_int(c.low.i + i % 3);
        q.conditions = &c;
        q.condition_count = 1;
        CHECK_EQ(bouma_particles_read(&d, set.particles, &q), BOUMA_OK);
        for (uint64_t k = 0; k < s.count; k++)
            should += s.large[k] >= c.low.i && s.large[k] <= c.high.i;
        CHECK_EQ(d->count, should);
        bouma_particle_data_free(d);
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
    particle_block_free(&s);
    bouma_io_memory_free(io);
}

/* Quality q is the share q, everywhere; and from q0 to q comes just the rest.
 */
static void quality_is_a_share(void)
{
    static const double ends[] = {0,   0.0007, 0.01, 0.1, 0.137,
                                  0.2, 0.5,    0.9,  1};

    for (int shape = 0; shape < SHAPES; shape++) {
        struct particle_block s;
        struct particle_block_set set;
        bouma_options opts;
        bouma_dataset *ds;
        bouma_step *step;
        uint8_t *seen, *there;
        uint64_t before = 0;

        setup(&opts);
        opts.files = 5;
        particle_block_make(&s, (enum shape)shape, 100000, 3, BOUMA_TYPE_F32,
                            0);
        seen = calloc(1, (size_t)s.count);
        there = calloc(1, (size_t)s.count);
        step = write_and_open(&ds, &set, &s, &opts, BOUMA_CODEC_RAW, 0);
        for (size_t e = 1; e < sizeof(ends) / sizeof(*ends); e++) {
            uint64_t dense = 0, sparse = 0, all_dense = 0, all_sparse = 0;
            bouma_particles_query q;
            bouma_particle_data *d = NULL;

            q = (bouma_particles_query){.size = sizeof(q)};
            q.from = ends[e - 1];
            q.quality = ends[e];
            CHECK_EQ(bouma_particles_read(&d, set.particles, &q), BOUMA_OK);
            check_found(&s, d, there);
            before += d->count;
            for (uint64_t k = 0; k < s.count; k++) {
                CHECK(!(seen[k] && there[k]));
                seen[k] |= there[k];
                /* Of CLUSTERED, one in ten is not in a cluster. */
                all_sparse += k % 10 == 0;
                all_dense += k % 10 != 0;
                sparse += k % 10 == 0 && seen[k];
                dense += k % 10 != 0 && seen[k];
            }
            if (ends[e] >= 0.01) {
                CHECK(fabs((double)before / (double)s.count - ends[e]) <
                      0.1 * ends[e]);
                CHECK(fabs((double)sparse / (double)all_sparse - ends[e]) <
                      0.03);
                CHECK(fabs((double)dense / (double)all_dense - ends[e]) < 0.03);
            }
            bouma_particle_data_free(d);
        }
        CHECK_EQ(before, s.count);
        bouma_step_free(step);
        bouma_dataset_free(ds);
        particle_block_free(&s);
        free(seen);
        free(there);
        bouma_io_memory_free(io);
    }
}

static void samples_have_the_size_that_was_asked_for(void)
{
    static const uint64_t sizes[] = {0, 1, 10, 1000, 29999, 30000, 50000};
    struct particle_block s;
    struct particle_block_set set;
    bouma_options opts;
    bouma_dataset *ds;
    bouma_step *step;
    uint8_t *there;

    setup(&opts);
    opts.files = 3;
    particle_block_make(&s, CLUSTERED, 30000, 3, BOUMA_TYPE_F32, 0);
    there = malloc((size_t)s.count);
    step = write_and_open(&ds, &set, &s, &opts, BOUMA_CODEC_ZSTD, 0);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        bouma_particle_data *d = NULL, *again = NULL;

        CHECK_EQ(bouma_particles_sample(&d, set.particles, NULL, sizes[i], 7),
                 BOUMA_OK);
        CHECK_EQ(
            bouma_particles_sample(&again, set.particles, NULL, sizes[i], 7),
            BOUMA_OK);
        CHECK_EQ(d->count, sizes[i] < s.count ? sizes[i] : s.count);
        check_found(&s, d, there);
        CHECK(!d->count || !memcmp(d->columns[ID], again->columns[ID],
                                   (size_t)d->count * 8));
        bouma_particle_data_free(d);
        bouma_particle_data_free(again);
    }
    bouma_step_free(step);
    bouma_dataset_free(ds);
    particle_block_free(&s);
    free(there);
    bouma_io_memory_free(io);
}

/* Three f32 and four f64 a particle, without compression. */
static void the_layout_costs_little(void)
{
    enum { N = 300000 };
    static const char *const names[4] = {"a", "b", "c", "d"};
    bouma_particles_spec spec = {
        .size = sizeof(spec), .ndims = 3, .codec = BOUMA_CODEC_RAW};
    float *position = malloc(3 * sizeof(float) * N);
    double *value[4];
    struct test_column columns[5] = {{.data = position}};
    bouma_options opts;
    bouma_dataset *ds;
    bouma_particles *set;
    bouma_particles_query q;
    bouma_bounds box = {.axes = BOUMA_AXES_XYZ};
    bouma_particle_data *d = NULL;
    bouma_dataset_info before = {.size = sizeof(before)},
                       after = {.size = sizeof(after)};
    bouma_record record = {.size = sizeof(record)};
    bouma_step *step;
    uint64_t state = 12;

    setup(&opts);
    opts.files = 8;
    for (int k = 0; k < 4; k++)
        value[k] = malloc(sizeof(double) * N);
    for (int i = 0; i < N; i++) {
        for (int c = 0; c < 3; c++)
            position[3 * i + c] = (float)particle_block_unit(&state);
        for (int k = 0; k < 4; k++)
            value[k][i] = k < 2 ? (double)position[3 * i + k] +
                                      0.01 * particle_block_unit(&state)
                                : particle_block_unit(&state);
    }
    CHECK_EQ(bouma_dataset_create(&ds, "c.bouma", &opts), BOUMA_OK);
    CHECK_EQ(bouma_particles_define(&set, ds, "p", &spec), BOUMA_OK);
    columns[0].variable = bouma_particles_position(set);
    for (int k = 0; k < 4; k++) {
        bouma_variable_spec v = {.size = sizeof(v),
                                 .type = BOUMA_TYPE_F64,
                                 .codec = BOUMA_CODEC_RAW};

        CHECK_EQ(bouma_particles_define_variable(&columns[k + 1].variable, set,
                                                 names[k], &v),
                 BOUMA_OK);
        columns[k + 1].data = value[k];
    }
    CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
    CHECK_EQ(test_put_particles(set, N, columns, 5, NULL), BOUMA_OK);
    CHECK_EQ(end_step(&record, ds), BOUMA_OK);
    CHECK_EQ(record.raw_bytes, 44 * N);
    CHECK((double)record.stored_bytes <= 1.009 * 44 * N);
    CHECK_EQ(record.files, 8);
    CHECK((double)record.largest_file <= 1.1 * (double)record.mean_file);
    bouma_dataset_free(ds);

    /* A coarse read from nothing reads little more than it returns. */
    CHECK_EQ(bouma_dataset_open(&ds, "c.bouma", &opts), BOUMA_OK);
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    set = bouma_step_find_particles(step, "p");
    q = (bouma_particles_query){.size = sizeof(q)};
    q.quality = 0.1;
    CHECK_EQ(bouma_particles_read(&d, set, &q), BOUMA_OK);
    CHECK_EQ(bouma_dataset_info_get(&after, ds), BOUMA_OK);
    CHECK(d && (double)after.bytes_read <= 1.3 * 44 * (double)d->count);
    bouma_particle_data_free(d);
    bouma_step_free(step);

    /* A corner opens its own file, not the others. */
    CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
    set = bouma_step_find_particles(step, "p");
    CHECK_EQ(bouma_dataset_info_get(&before, ds), BOUMA_OK);
    q.quality = 1;
    q.box = &box;
    for (int c = 0; c < 3; c++)
        box.high[c] = 0.1;
    CHECK_EQ(bouma_particles_read(&d, set, &q), BOUMA_OK);
    CHECK_EQ(bouma_dataset_info_get(&after, ds), BOUMA_OK);
    CHECK(d && d->count > N / 2000);
    CHECK_EQ(after.files_opened - before.files_opened, 1);
    CHECK(after.bytes_read - before.bytes_read < record.stored_bytes / 8);
    bouma_particle_data_free(d);
    bouma_step_free(step);
    bouma_dataset_free(ds);
    for (int k = 0; k < 4; k++)
        free(value[k]);
    free(position);
    bouma_io_memory_free(io);
}

/* 50 | 45 along y, at x = 0, and 5 far away along x: the longest axis divides
 * them as 95 and 5, the best one as 50 and 50. */
static void the_best_axis_can_be_asked_for(void)
{
    static const uint64_t counts[3] = {50, 45, 5};
    static const float corners[3][2] = {{0, 0}, {0, 1}, {10, 1}};
    float position[3][50][2];

    for (int best = 0; best < 2; best++) {
        bouma_particles_spec spec = {.size = sizeof(spec), .ndims = 2};
        struct test_column column = {0};
        bouma_particles_node root = {.size = sizeof(root)};
        bouma_options opts;
        bouma_dataset *ds;
        bouma_particles *set;
        bouma_step *step;

        setup(&opts);
        opts.files = 2;
        opts.assign = BOUMA_ASSIGN_KDTREE;
        opts.best_axis = best;
        CHECK_EQ(bouma_dataset_create(&ds, "b.bouma", &opts), BOUMA_OK);
        CHECK_EQ(bouma_particles_define(&set, ds, "p", &spec), BOUMA_OK);
        column.variable = bouma_particles_position(set);
        CHECK_EQ(bouma_step_begin(ds, 0, 0), BOUMA_OK);
        for (int i = 0; i < 3; i++) {
            bouma_bounds bounds = {.axes = BOUMA_AXES_ZYX}; /* y first */

            for (int k = 0; k < 50; k++)
                for (int c = 0; c < 2; c++)
                    position[i][k][c] = corners[i][c];
            for (int c = 0; c < 2; c++) {
                bounds.low[1 - c] = (double)corners[i][c];
                bounds.high[1 - c] = (double)corners[i][c] + 0.5;
            }
            column.data = position[i];
            CHECK_EQ(test_put_particles(set, counts[i], &column, 1, &bounds),
                     BOUMA_OK);
        }
        CHECK_EQ(bouma_step_end(ds), BOUMA_OK);
        CHECK_EQ(bouma_step_open(&step, ds, 0), BOUMA_OK);
        set = bouma_step_find_particles(step, "p");
        CHECK_EQ(bouma_particles_node_get(&root, set, 0), BOUMA_OK);
        CHECK(root.right > 0);
        CHECK_EQ(root.axis, best);
        bouma_step_free(step);
        bouma_dataset_free(ds);
        bouma_io_memory_free(io);
    }
}

int main(void)
{
    what_is_written_comes_back();
    queries_find_what_brute_force_finds();
    all_ranges_of_integers_are_right();
    quality_is_a_share();
    samples_have_the_size_that_was_asked_for();
    the_layout_costs_little();
    the_best_axis_can_be_asked_for();
    return check_result();
}
