/* Particles within a budget: as many as fit, each once, each byte once; what the
 * answer says is so. With random boxes, conditions, qualities and budgets. */
#include "fault_alloc.h"
#include "must.h"
#include "particle_block.h"

enum { CHUNK = 8192 }; /* particles */

struct trial {
    bouma_io *io;
    bouma_options opts;
    struct particle_block s;
    struct particle_block_set set, right;
    bouma_dataset *ds, *other; /* one that is tried, one that is asked */
    bouma_step *step, *other_step;
    uint8_t *matches, *came; /* [count], by id */
    uint64_t match_count, came_count;
    uint64_t state;
};

static void open_one(const struct trial *t, bouma_dataset **ds,
                     bouma_step **step, struct particle_block_set *set)
{
    MUST(*ds, bouma_dataset_open(ds, "a.bouma", &t->opts));
    MUST(*ds, bouma_step_open(step, *ds, 3));
    particle_block_find(set, *step, "dust");
}

/* A handle that has read no head yet. */
static void open_again(struct trial *t)
{
    bouma_step_free(t->step);
    bouma_dataset_free(t->ds);
    open_one(t, &t->ds, &t->step, &t->set);
}

static void begin(struct trial *t, enum shape shape, uint64_t count,
                  bouma_codec codec, int files)
{
    memset(t, 0, sizeof(*t));
    t->state = count + (uint64_t)shape;
    t->io = bouma_io_memory_new();
    t->opts = (bouma_options){.size = sizeof(t->opts),
                              .io = t->io,
                              .durability = BOUMA_DURABILITY_FAST,
                              .files = files};
    particle_block_make(&t->s, shape, count, 3, BOUMA_TYPE_F32, 0);
    MUST(t->ds, bouma_dataset_create(&t->ds, "a.bouma", &t->opts));
    MUST(t->ds, particle_block_define(&t->set, t->ds, "dust", 3, BOUMA_TYPE_F32,
                                      codec, 0));
    MUST(t->ds, bouma_step_begin(t->ds, 3, 0));
    MUST(t->ds, particle_block_put(&t->set, &t->s));
    MUST(t->ds, bouma_step_end(t->ds));
    MUST(t->ds, bouma_dataset_close(t->ds));
    bouma_dataset_free(t->ds);
    open_one(t, &t->ds, &t->step, &t->set);
    open_one(t, &t->other, &t->other_step, &t->right);
    t->matches = calloc((size_t)count + 1, 1);
    t->came = calloc((size_t)count + 1, 1);
    REQUIRE(t->matches && t->came);
}

static void end(struct trial *t)
{
    bouma_step_free(t->step);
    bouma_dataset_free(t->ds);
    bouma_step_free(t->other_step);
    bouma_dataset_free(t->other);
    particle_block_free(&t->s);
    bouma_io_memory_free(t->io);
    free(t->matches);
    free(t->came);
}

static uint64_t bytes_read(const bouma_dataset *ds)
{
    bouma_dataset_info info = {.size = sizeof(info)};

    bouma_dataset_info_get(&info, ds);
    return info.bytes_read;
}

/* ---- queries ------------------------------------------------------------- */

/* A query, for either handle. */
struct asked {
    double from, quality;
    bouma_bounds box;
    int boxed, conditions;
    double low[2], high[2];
};

static struct asked random_query(struct trial *t)
{
    struct asked q = {.quality = 1, .box = {.axes = BOUMA_AXES_XYZ}};
    bouma_particles_info info = {.size = sizeof(info)};

    bouma_particles_info_get(&info, t->right.particles);
    if (!check_below(&t->state, 3))
        q.quality = 0.05 + 0.95 * particle_block_unit(&t->state);
    if (!check_below(&t->state, 4))
        q.from = q.quality * particle_block_unit(&t->state);
    q.boxed = check_below(&t->state, 2) == 0;
    for (int d = 0; d < 3; d++) {
        double a = particle_block_unit(&t->state);
        double b = particle_block_unit(&t->state);
        double span = info.high[d] - info.low[d];

        q.box.low[d] = info.low[d] + span * fmin(a, b);
        q.box.high[d] = info.low[d] + span * fmax(a, b) + 1e-3;
    }
    q.conditions = (int)check_below(&t->state, 3);
    q.low[0] = 0.2;
    q.high[0] = 0.2 + particle_block_unit(&t->state);
    q.low[1] = -1e300;
    q.high[1] = 5;
    return q;
}

static bouma_particles_query make(const struct asked *q,
                                  const struct particle_block_set *set,
                                  bouma_condition conditions[2])
{
    conditions[0] =
        condition_of(set->variables[MASS], 0, q->low[0], q->high[0]);
    conditions[1] =
        condition_of(set->variables[KIND], 0, q->low[1], q->high[1]);
    return (bouma_particles_query){.size = sizeof(bouma_particles_query),
                                   .from = q->from,
                                   .quality = q->quality,
                                   .box = q->boxed ? &q->box : NULL,
                                   .conditions =
                                       q->conditions ? conditions : NULL,
                                   .condition_count = (size_t)q->conditions};
}

/* Those that match, from the other handle. */
static void find_matches(struct trial *t, const struct asked *q)
{
    bouma_condition conditions[2];
    bouma_particles_query query = make(q, &t->right, conditions);
    bouma_particle_data *d;

    MUST(t->other, bouma_particles_read(&d, t->right.particles, &query));
    memset(t->matches, 0, (size_t)t->s.count);
    memset(t->came, 0, (size_t)t->s.count);
    for (uint64_t i = 0; i < d->count; i++)
        t->matches[((const uint64_t *)d->columns[ID])[i]] = 1;
    t->match_count = d->count;
    t->came_count = 0;
    bouma_particle_data_free(d);
}

static uint64_t count_up_to(struct trial *t, const struct asked *q,
                            double quality)
{
    bouma_condition conditions[2];
    bouma_particles_query query = make(q, &t->right, conditions);
    uint64_t count = 0;

    query.quality = quality;
    if (quality > q->from)
        MUST(t->other,
             bouma_particles_count(&count, t->right.particles, &query));
    return count;
}

/* A refinement of the first handle, which may do without the query then. */
static bouma_particles_refinement *open_query(struct trial *t,
                                              const struct asked *q)
{
    bouma_condition conditions[2];
    bouma_particles_query query = make(q, &t->set, conditions);
    bouma_particles_refinement *r;

    MUST(t->ds, bouma_particles_refinement_open(&r, t->set.particles, &query));
    memset(conditions, 0xff, sizeof(conditions));
    memset(&query, 0xff, sizeof(query));
    return r;
}

/* ---- checks -------------------------------------------------------------- */

/* They match, have not come before, and are as they were given. */
static void check_particles(struct trial *t, const bouma_particle_data *d)
{
    int sound = 1;

    for (uint64_t i = 0; i < d->count; i++) {
        uint64_t id = ((const uint64_t *)d->columns[ID])[i];

        sound &= id < t->s.count && t->matches[id] && !t->came[id] &&
                 particle_block_same(&t->s, id, d, i);
        t->came[id < t->s.count ? id : 0] = 1;
    }
    CHECK(sound);
    t->came_count += d->count;
}

static void check_limit(const struct trial *t, const bouma_answer *a,
                        const bouma_budget *b)
{
    if (a->complete) {
        CHECK_EQ(t->came_count, t->match_count);
        CHECK_EQ(a->limit, BOUMA_LIMIT_NONE);
        CHECK(a->next_bytes == 0 && a->next_points == 0);
    } else if (a->limit == BOUMA_LIMIT_POINTS) {
        CHECK_EQ(a->points, b->points);
        CHECK(a->next_points > 0);
    } else {
        CHECK_EQ(a->limit, BOUMA_LIMIT_BYTES);
        CHECK(a->bytes + a->next_bytes > b->bytes);
    }
}

/* The particles that have come are those of the quality, to the particle where
 * a level ends; elsewhere shares are rounded to ranks of a chunk. */
static void check_quality(struct trial *t, const struct asked *q,
                          const bouma_answer *a)
{
    uint64_t count = count_up_to(t, q, a->quality);
    uint64_t rounding = t->s.count / CHUNK + (uint64_t)t->opts.files;

    if (a->complete || a->next_bytes)
        CHECK_EQ(count, t->came_count);
    else
        CHECK(count <= t->came_count + rounding &&
              t->came_count <= count + rounding);
}

static bouma_budget random_budget(struct trial *t, uint64_t all)
{
    bouma_budget b = {.size = sizeof(b)};
    int which = (int)check_below(&t->state, 3);

    if (which != 1)
        b.bytes = 1 + (uint64_t)check_below(&t->state, (int64_t)all);
    if (which != 0)
        b.points =
            1 + (uint64_t)check_below(&t->state, (int64_t)t->match_count + 10);
    return b;
}

/* Call after call up to the end. The bytes of all. */
static uint64_t go_through(struct trial *t, const struct asked *q, uint64_t all)
{
    bouma_particles_refinement *r = open_query(t, q);
    bouma_answer a = {.size = sizeof(a)};
    uint64_t total = 0, refused = 0;
    double quality = q->from;

    do {
        bouma_budget b = random_budget(t, all + 10);
        uint64_t before = bytes_read(t->ds);
        bouma_particle_data *d = NULL;
        int rc;

        if (refused > 2) /* what is enough */
            b = (bouma_budget){.size = sizeof(b), .bytes = a.next_bytes};
        rc = bouma_particles_refinement_next(&d, &a, r, &b);
        CHECK_EQ(a.bytes, bytes_read(t->ds) - before);
        CHECK(!b.bytes || a.bytes <= b.bytes);
        total += a.bytes;
        refused = rc ? refused + 1 : 0;
        if (rc == BOUMA_ELIMIT) {
            CHECK(!d && b.bytes && a.bytes + a.next_bytes > b.bytes);
            CHECK_TEXT(bouma_particles_refinement_message(r), "the budget is");
            REQUIRE(refused < 5);
            continue;
        }
        MUST(t->ds, rc);
        CHECK_EQ(d->count, a.points);
        CHECK(!b.points || d->count <= b.points);
        check_particles(t, d);
        check_limit(t, &a, &b);
        check_quality(t, q, &a);
        CHECK(a.quality >= quality && a.quality <= q->quality);
        quality = a.quality;
        bouma_particle_data_free(d);
    } while (!a.complete);
    CHECK(quality == q->quality);
    bouma_particles_refinement_free(r);
    return total;
}

/* All at once, without limits. */
static uint64_t go_at_once(struct trial *t, const struct asked *q)
{
    bouma_particles_refinement *r = open_query(t, q);
    bouma_answer a = {.size = sizeof(a)};
    bouma_particle_data *d;

    MUST(t->ds, bouma_particles_refinement_next(&d, &a, r, NULL));
    check_particles(t, d);
    bouma_particle_data_free(d);
    CHECK_EQ(a.complete, 1);
    CHECK_EQ(t->came_count, t->match_count);
    MUST(t->ds, bouma_particles_refinement_next(&d, NULL, r, NULL));
    CHECK_EQ(d->count, 0);
    bouma_particle_data_free(d);
    bouma_particles_refinement_free(r);
    return a.bytes;
}

/* What an ordinary query reads, on a fresh handle. */
static uint64_t go_plainly(struct trial *t, const struct asked *q)
{
    bouma_condition conditions[2];
    bouma_particles_query query = make(q, &t->set, conditions);
    uint64_t before = bytes_read(t->ds);
    bouma_particle_data *d;

    MUST(t->ds, bouma_particles_read(&d, t->set.particles, &query));
    bouma_particle_data_free(d);
    return bytes_read(t->ds) - before;
}

static void each_particle_comes_once_and_each_byte_is_read_once(void)
{
    static const uint64_t counts[] = {0, 1, 50, 3000, 20000};
    static const bouma_codec codecs[] = {BOUMA_CODEC_RAW, BOUMA_CODEC_ZSTD};

    for (int n = 0; n < 5; n++)
        for (int i = 0; i < 4; i++) {
            static const enum shape shapes[] = {UNIFORM, CLUSTERED, LATTICE,
                                                WITH_STRAYS};
            struct trial t;

            begin(&t, shapes[i], counts[n], codecs[(n + i) % 2], 1 + i);
            for (int k = 0; k < 6; k++) {
                struct asked q = random_query(&t);
                uint64_t all, plain;

                if (!counts[n])
                    q.conditions = 0; /* the step has no such variables */
                open_again(&t);
                plain = go_plainly(&t, &q);
                find_matches(&t, &q);
                open_again(&t);
                all = go_at_once(&t, &q);
                CHECK(all <= plain);
                find_matches(&t, &q);
                open_again(&t);
                CHECK_EQ(go_through(&t, &q, all), all);
            }
            end(&t);
        }
}

/* A limit of points is met to the particle, whatever the query. */
static void as_many_particles_come_as_are_wanted(void)
{
    struct trial t;

    begin(&t, CLUSTERED, 20000, BOUMA_CODEC_RAW, 3);
    for (int i = 0; i < 40; i++) {
        struct asked q = random_query(&t);
        bouma_budget b = {.size = sizeof(b)};
        bouma_answer a = {.size = sizeof(a)};
        bouma_particles_refinement *r;
        bouma_particle_data *d;

        find_matches(&t, &q);
        b.points = 1 + (uint64_t)check_below(&t.state, 3000);
        r = open_query(&t, &q);
        MUST(t.ds, bouma_particles_refinement_next(&d, &a, r, &b));
        CHECK_EQ(d->count, b.points < t.match_count ? b.points : t.match_count);
        check_particles(&t, d);
        bouma_particle_data_free(d);
        bouma_particles_refinement_free(r);
    }
    end(&t);
}

/* After a call that failed, the next one gives what it would have given. */
static void a_failure_loses_no_particle(void)
{
    struct fault_alloc memory;
    struct asked q = {
        .quality = 1, .conditions = 1, .low = {0.2, 0}, .high = {1, 0}};
    struct trial t;
    long fired = 1;

    begin(&t, UNIFORM, 3000, BOUMA_CODEC_ZSTD, 2);
    fault_alloc_init(&memory);
    t.opts.allocator = &memory.table;
    find_matches(&t, &q);
    open_again(&t);
    for (long at = 1; fired; at++) {
        bouma_particles_refinement *r = open_query(&t, &q);
        bouma_budget b = {.size = sizeof(b), .points = 700};
        bouma_answer a = {.size = sizeof(a)};
        int failures = 0;

        memset(t.came, 0, (size_t)t.s.count);
        t.came_count = 0;
        fault_alloc_arm(&memory, at, 0);
        while (!a.complete && failures < 2) {
            bouma_particle_data *d = NULL;
            int rc = bouma_particles_refinement_next(&d, &a, r, &b);

            CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
            failures += rc != BOUMA_OK;
            if (!rc)
                check_particles(&t, d);
            bouma_particle_data_free(d);
        }
        fired = memory.fired;
        CHECK(failures <= fired); /* some do without what they asked for */
        CHECK_EQ(t.came_count, t.match_count);
        fault_alloc_disarm(&memory);
        bouma_particles_refinement_free(r);
    }
    bouma_step_free(t.step);
    bouma_dataset_free(t.ds);
    t.step = NULL;
    t.ds = NULL;
    CHECK_EQ(memory.live, 0);
    end(&t);
}

/* ---- lifetimes, misuse ---------------------------------------------------- */

static void handles_can_be_freed_in_any_order(void)
{
    bouma_budget b = {.size = sizeof(b), .points = 10};
    struct asked q = {.quality = 1};
    bouma_particles_refinement *r;
    bouma_particle_data *d[2];
    struct trial t;

    begin(&t, UNIFORM, 3000, BOUMA_CODEC_RAW, 2);
    find_matches(&t, &q);
    r = open_query(&t, &q);
    MUST(t.ds, bouma_particles_refinement_next(&d[0], NULL, r, &b));
    bouma_step_free(t.step);
    bouma_dataset_free(t.ds);
    t.step = NULL;
    t.ds = NULL;
    CHECK_EQ(bouma_particles_refinement_next(&d[1], NULL, r, NULL), BOUMA_OK);
    bouma_particles_refinement_free(r);
    for (int i = 0; i < 2; i++) {
        check_particles(&t, d[i]);
        bouma_particle_data_free(d[i]);
    }
    CHECK_EQ(t.came_count, 3000);
    bouma_particles_refinement_free(NULL);
    end(&t);
}

static void misuse_is_refused_in_words(void)
{
    bouma_budget b = {.size = sizeof(b)};
    bouma_answer unsized = {0};
    bouma_particles_query query = {.size = sizeof(query), .shares = 1};
    bouma_particles_refinement *r = NULL;
    bouma_particle_data *d = NULL;
    struct trial t;

    begin(&t, UNIFORM, 100, BOUMA_CODEC_RAW, 1);
    CHECK_EQ(bouma_particles_refinement_open(NULL, t.set.particles, NULL),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_refinement_open(&r, NULL, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_refinement_open(&r, t.set.particles, &query),
             BOUMA_EINVAL);
    CHECK(!r);
    query.shares = 0;
    query.quality = 2;
    CHECK_EQ(bouma_particles_refinement_open(&r, t.set.particles, &query),
             BOUMA_EINVAL);
    MUST(t.ds, bouma_particles_refinement_open(&r, t.set.particles, NULL));
    CHECK_EQ(bouma_particles_refinement_next(NULL, NULL, r, &b), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_refinement_next(&d, NULL, NULL, &b), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_refinement_next(&d, &unsized, r, &b),
             BOUMA_EINVAL);
    b.error = 0.5;
    CHECK_EQ(bouma_particles_refinement_next(&d, NULL, r, &b), BOUMA_EINVAL);
    CHECK_TEXT(bouma_particles_refinement_message(r), "which only grids have");
    CHECK_TEXT(bouma_particles_refinement_message(NULL), "memory");
    CHECK(!d);
    bouma_particles_refinement_free(r);
    end(&t);
}

/* ---- into arrays ---------------------------------------------------------- */

enum { ROOM = 300 };

struct arrays {
    uint64_t id[ROOM];
    double velocity[ROOM][3];
    int8_t small[ROOM][3]; /* too small for velocities */
    bouma_array array[3];
    bouma_column right[2], wrong[2];
};

static void set_columns(struct arrays *a, const struct particle_block_set *set)
{
    a->array[0] = BOUMA_ARRAY(BOUMA_TYPE_U64, a->id, sizeof(a->id));
    a->array[1] = BOUMA_ARRAY(BOUMA_TYPE_F64, a->velocity, sizeof(a->velocity));
    a->array[2] = BOUMA_ARRAY(BOUMA_TYPE_I8, a->small, sizeof(a->small));
    for (int i = 0; i < 2; i++) {
        bouma_variable *v = set->variables[i ? VELOCITY : ID];

        a->right[i] = (bouma_column){sizeof(bouma_column), v, &a->array[i]};
        a->wrong[i] =
            (bouma_column){sizeof(bouma_column), v, &a->array[i ? 2 : 0]};
    }
}

/* As those that were given; none came before. */
static void check_arrays(struct trial *t, const struct arrays *a,
                         uint64_t count)
{
    int sound = 1;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t id = a->id[i] < t->s.count ? a->id[i] : 0;

        sound &= id == a->id[i] && !t->came[id];
        for (uint64_t c = 0; c < 3; c++)
            sound &=
                a->velocity[i][c] == (double)t->s.velocity[c * t->s.count + id];
        t->came[id] = 1;
    }
    CHECK(sound);
    t->came_count += count;
}

static void particles_come_into_arrays_of_the_caller(void)
{
    static struct arrays a;
    bouma_variable *wanted[2];
    bouma_particles_query q = {
        .size = sizeof(q), .variables = wanted, .variable_count = 2};
    bouma_answer answer = {.size = sizeof(answer)};
    bouma_particles_refinement *r;
    struct trial t;

    begin(&t, UNIFORM, 2000, BOUMA_CODEC_ZSTD, 2);
    set_columns(&a, &t.set);
    wanted[0] = t.set.variables[ID];
    wanted[1] = t.set.variables[VELOCITY];
    MUST(t.ds, bouma_particles_refinement_open(&r, t.set.particles, &q));
    for (int i = 0; !answer.complete; i++) {
        bouma_budget b = {.size = sizeof(b), .points = i % 2 ? 70 : 1000};

        REQUIRE(i < 50);
        /* Values that do not fit are refused, and come again. */
        CHECK(bouma_particles_refinement_next_into(&answer, r, &b, a.wrong, 2,
                                                   ROOM) != BOUMA_OK);
        MUST(t.ds, bouma_particles_refinement_next_into(&answer, r, &b, a.right,
                                                        2, ROOM));
        CHECK(answer.complete || answer.points == (i % 2 ? 70 : ROOM));
        check_arrays(&t, &a, answer.points);
    }
    CHECK_EQ(t.came_count, 2000);
    MUST(t.ds, bouma_particles_refinement_next_into(&answer, r, NULL, a.right,
                                                    2, ROOM));
    CHECK(answer.points == 0 && answer.complete);

    CHECK_EQ(
        bouma_particles_refinement_next_into(NULL, r, NULL, a.right, 2, ROOM),
        BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_refinement_next_into(&answer, NULL, NULL, a.right,
                                                  2, ROOM),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_refinement_next_into(&answer, r, NULL, a.right, 1,
                                                  ROOM),
             BOUMA_EINVAL);
    CHECK_TEXT(bouma_particles_refinement_message(r),
               "there are 1 columns, and the query has 2 variables");
    CHECK_EQ(
        bouma_particles_refinement_next_into(&answer, r, NULL, a.right, 2, 0),
        BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_refinement_next_into(&answer, r, NULL, a.right, 2,
                                                  ROOM + 1),
             BOUMA_EINVAL);
    a.wrong[0] = a.right[1];
    a.wrong[1] = a.right[0];
    CHECK_EQ(bouma_particles_refinement_next_into(&answer, r, NULL, a.wrong, 2,
                                                  ROOM),
             BOUMA_EINVAL);
    CHECK_TEXT(bouma_particles_refinement_message(r), "in their order");
    bouma_particles_refinement_free(r);
    q.order = BOUMA_COMPONENT_ORDER_INTERLEAVED;
    MUST(t.ds, bouma_particles_refinement_open(&r, t.set.particles, &q));
    CHECK_EQ(bouma_particles_refinement_next_into(&answer, r, NULL, a.right, 2,
                                                  ROOM),
             BOUMA_EINVAL);
    CHECK_TEXT(bouma_particles_refinement_message(r), "no order");
    bouma_particles_refinement_free(r);
    end(&t);
}

/* ---- samples into arrays -------------------------------------------------- */

static void samples_into_arrays_are_the_same_samples(void)
{
    struct trial t;

    begin(&t, CLUSTERED, 5000, BOUMA_CODEC_ZSTD, 2);
    for (uint64_t seed = 0; seed < 4; seed++) {
        static double velocity[300][3];
        static uint64_t id[300];
        uint64_t count = 100 * (seed + 1), drawn = 7, expected;
        bouma_array arrays[2] = {
            BOUMA_ARRAY(BOUMA_TYPE_U64, id, sizeof(id)),
            BOUMA_ARRAY(BOUMA_TYPE_F64, velocity, sizeof(velocity))};
        bouma_column columns[2] = {
            {sizeof(bouma_column), t.set.variables[ID], &arrays[0]},
            {sizeof(bouma_column), t.set.variables[VELOCITY], &arrays[1]}};
        bouma_particle_data *d;
        int sound = 1;

        count = count > 300 ? 300 : count;
        MUST(t.ds,
             bouma_particles_sample(&d, t.set.particles, NULL, count, seed));
        expected = d->count;
        MUST(t.ds, bouma_particles_sample_into(&drawn, t.set.particles, NULL,
                                               columns, 2, count, seed));
        CHECK_EQ(drawn, expected);
        for (uint64_t i = 0; i < drawn; i++) {
            sound &= id[i] == ((const uint64_t *)d->columns[ID])[i];
            for (uint64_t c = 0; c < 3; c++)
                sound &= velocity[i][c] ==
                         (double)((const float *)
                                      d->columns[VELOCITY])[c * expected + i];
        }
        CHECK(sound);
        bouma_particle_data_free(d);
        CHECK_EQ(bouma_particles_sample_into(NULL, t.set.particles, NULL,
                                             columns, 2, count, seed),
                 BOUMA_EINVAL);
        CHECK_EQ(bouma_particles_sample_into(&drawn, NULL, NULL, columns, 2,
                                             count, seed),
                 BOUMA_EINVAL);
        /* Arrays that are too small are refused before anything is read. */
        CHECK_EQ(bouma_particles_sample_into(&drawn, t.set.particles, NULL,
                                             columns, 2, 301, seed),
                 BOUMA_EINVAL);
        CHECK_EQ(drawn, 0);
    }
    end(&t);
}

int main(void)
{
    each_particle_comes_once_and_each_byte_is_read_once();
    as_many_particles_come_as_are_wanted();
    a_failure_loses_no_particle();
    handles_can_be_freed_in_any_order();
    misuse_is_refused_in_words();
    particles_come_into_arrays_of_the_caller();
    samples_into_arrays_are_the_same_samples();
    return check_result();
}
