/* Conditions as a text: random ones give what brute force gives, whatever the
 * index leaves out, in all calls that take a query. */
#include <inttypes.h>

#include "must.h"
#include "particle_block.h"

enum { COUNT = 20000, LEVELS = 5, TEXT = 4096 };

/* Whether a condition holds for a particle. NaN makes it neither. */
enum truth { NO, YES, NEITHER };

struct trial {
    bouma_io *io;
    bouma_options opts;
    struct particle_block s;
    struct particle_block_set set;
    bouma_dataset *ds;
    bouma_step *step;
    uint8_t truth[LEVELS][COUNT]; /* of the parts of a text */
    uint8_t came[COUNT];
    char text[TEXT];
    uint64_t state;
};

static void begin(struct trial *t, enum shape shape, bouma_codec codec,
                  int files)
{
    memset(t, 0, sizeof(*t));
    t->state = 100 + (uint64_t)shape;
    t->io = bouma_io_memory_new();
    t->opts = (bouma_options){.size = sizeof(t->opts),
                              .io = t->io,
                              .durability = BOUMA_DURABILITY_FAST,
                              .files = files};
    particle_block_make(&t->s, shape, COUNT, 3, BOUMA_TYPE_F32, 0);
    MUST(t->ds, bouma_dataset_create(&t->ds, "a.bouma", &t->opts));
    MUST(t->ds, particle_block_define(&t->set, t->ds, "dust", 3, BOUMA_TYPE_F32,
                                      codec, 0));
    MUST(t->ds, bouma_step_begin(t->ds, 3, 0));
    MUST(t->ds, particle_block_put(&t->set, &t->s));
    MUST(t->ds, bouma_step_end(t->ds));
    MUST(t->ds, bouma_dataset_close(t->ds));
    bouma_dataset_free(t->ds);
    MUST(t->ds, bouma_dataset_open(&t->ds, "a.bouma", &t->opts));
    MUST(t->ds, bouma_step_open(&t->step, t->ds, 3));
    particle_block_find(&t->set, t->step, "dust");
}

static void end(struct trial *t)
{
    bouma_step_free(t->step);
    bouma_dataset_free(t->ds);
    particle_block_free(&t->s);
    bouma_io_memory_free(t->io);
}

/* ---- random texts, and what they mean ------------------------------------ */

static const char *const names[] = {
    "x", "position[1]", "mass", "kind", "velocity[2]", "small", "large", "z"};

static double value_of(const struct particle_block *s, size_t name, uint64_t i)
{
    switch (name) {
    case 0:
        return s->position[3 * i];
    case 1:
        return s->position[3 * i + 1];
    case 2:
        return s->mass[i];
    case 3:
        return s->kind[i];
    case 4:
        return (double)s->velocity[2 * s->count + i];
    case 5:
        return s->small[i];
    case 6: /* exact without what all have in common */
        return (double)(s->large[i] - ((int64_t)1 << 60));
    default:
        return s->position[3 * i + 2];
    }
}

static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};

static enum truth compare(double value, size_t sign, double number)
{
    if (isnan(value))
        return NEITHER;
    switch (sign) {
    case 0:
        return value < number;
    case 1:
        return value <= number;
    case 2:
        return value > number;
    case 3:
        return value >= number;
    case 4:
        return value == number;
    default:
        return value != number;
    }
}

static void say(struct trial *t, const char *text)
{
    size_t used = strlen(t->text);

    REQUIRE(used + strlen(text) < TEXT);
    strcpy(t->text + used, text);
}

/* One comparison with the value of some particle. */
static void say_comparison(struct trial *t, uint8_t *truth)
{
    size_t name = check_below(&t->state, 8), sign = check_below(&t->state, 6);
    double number = value_of(&t->s, name, check_below(&t->state, COUNT));
    char text[100];

    if (isnan(number))
        number = 0.25;
    if (name == 6)
        snprintf(text, sizeof(text), "%s%s%" PRId64, names[name], signs[sign],
                 (int64_t)number + ((int64_t)1 << 60));
    else
        snprintf(text, sizeof(text), "%s %s %.17g", names[name], signs[sign],
                 number);
    say(t, text);
    for (uint64_t i = 0; i < COUNT; i++)
        truth[i] = (uint8_t)compare(value_of(&t->s, name, i), sign, number);
}

static enum truth joined(enum truth a, enum truth b, int either)
{
    enum truth strong = either ? YES : NO;

    return a == strong || b == strong     ? strong
           : a == NEITHER || b == NEITHER ? NEITHER
                                          : a;
}

/* A random text in parentheses, of so many levels: truth[level] is what it
 * means. The level of the right side is below that of the left. */
static void say_any(struct trial *t, int level)
{
    static const char *const joins[] = {"&", " and ", " && ",
                                        "|", " or ",  "||"};
    static const char *const negations[] = {"!", "~", "not "};
    size_t kind = level ? check_below(&t->state, 8) : 0;
    size_t join = check_below(&t->state, 6);
    uint8_t *truth = t->truth[level];
    const uint8_t *part;
    int negated = kind == 7;

    if (kind == 0) {
        say_comparison(t, truth);
        return;
    }
    say(t, negated ? negations[check_below(&t->state, 3)] : "");
    say(t, "(");
    say_any(t, level - 1);
    part = t->truth[level - 1];
    for (size_t i = 0; i < COUNT; i++)
        truth[i] = negated && part[i] != NEITHER ? !part[i] : part[i];
    say(t, ")");
    if (negated)
        return;
    say(t, joins[join]);
    say(t, "(");
    say_any(t, level - 1);
    say(t, ")");
    for (size_t i = 0; i < COUNT; i++)
        truth[i] = (uint8_t)joined(truth[i], part[i], join >= 3);
}

/* ---- queries ------------------------------------------------------------- */

struct asked {
    const uint8_t *truth; /* of the text */
    bouma_bounds box;
    bouma_condition condition;
    bouma_particles_query query;
};

static void ask(struct trial *t, struct asked *q)
{
    int level = (int)check_below(&t->state, LEVELS);

    t->text[0] = '\0';
    say_any(t, level);
    memset(q, 0, sizeof(*q));
    q->truth = t->truth[level];
    q->query.size = sizeof(q->query);
    q->query.where = t->text;
    q->box.axes = BOUMA_AXES_XYZ;
    for (int d = 0; d < 3; d++) {
        q->box.low[d] = particle_block_unit(&t->state) - 0.3;
        q->box.high[d] = q->box.low[d] + 0.7;
    }
    q->condition = condition_of(t->set.variables[KIND], 0, -5, 5);
    if (!check_below(&t->state, 3))
        q->query.box = &q->box;
    if (!check_below(&t->state, 3)) {
        q->query.conditions = &q->condition;
        q->query.condition_count = 1;
    }
}

/* Which particles match, into 'matches'; gives their number. */
static uint64_t find_matches(const struct trial *t, const struct asked *q,
                             uint8_t *matches)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < COUNT; i++) {
        const double *x = &t->s.position[3 * i];
        int match = q->truth[i] == YES;

        for (int d = 0; d < 3 && q->query.box; d++)
            match &= isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]) &&
                     x[d] >= q->box.low[d] && x[d] < q->box.high[d];
        if (q->query.conditions)
            match &= t->s.kind[i] >= -5 && t->s.kind[i] <= 5;
        matches[i] = (uint8_t)match;
        count += (uint64_t)match;
    }
    return count;
}

/* They match, and came only once. */
static void take(struct trial *t, const bouma_particle_data *d,
                 const uint8_t *matches)
{
    int sound = 1;

    for (uint64_t i = 0; i < d->count; i++) {
        uint64_t id = ((const uint64_t *)d->columns[ID])[i];

        REQUIRE(id < COUNT);
        sound &=
            matches[id] && !t->came[id] && particle_block_same(&t->s, id, d, i);
        t->came[id] = 1;
    }
    if (!sound)
        printf("wrong: %s\n", t->text);
    CHECK(sound);
}

static void refine(struct trial *t, const struct asked *q, uint64_t count,
                   const uint8_t *matches)
{
    bouma_budget budget = {.size = sizeof(budget), .points = COUNT / 3};
    bouma_particles_refinement *r;
    bouma_answer answer = {.size = sizeof(answer)};
    uint64_t all = 0;

    MUST(t->ds,
         bouma_particles_refinement_open(&r, t->set.particles, &q->query));
    memset(t->came, 0, COUNT);
    do {
        bouma_particle_data *d;

        MUST(t->ds, bouma_particles_refinement_next(&d, &answer, r, &budget));
        take(t, d, matches);
        all += d->count;
        bouma_particle_data_free(d);
    } while (!answer.complete);
    CHECK_EQ(all, count);
    bouma_particles_refinement_free(r);
}

static void sample(struct trial *t, const struct asked *q, uint64_t count,
                   const uint8_t *matches)
{
    for (uint64_t seed = 0; seed < 2; seed++) {
        bouma_particle_data *d;

        MUST(t->ds, bouma_particles_sample(&d, t->set.particles, &q->query, 100,
                                           seed));
        CHECK_EQ(d->count, count < 100 ? count : 100);
        memset(t->came, 0, COUNT);
        take(t, d, matches);
        bouma_particle_data_free(d);
    }
}

static void try_one(struct trial *t, uint8_t *matches)
{
    struct asked q;
    bouma_particle_data *d;
    uint64_t counted, right;

    ask(t, &q);
    right = find_matches(t, &q, matches);
    MUST(t->ds, bouma_particles_check_where(t->set.particles, t->text));
    MUST(t->ds, bouma_particles_count(&counted, t->set.particles, &q.query));
    if (counted != right)
        printf("%s\n", t->text);
    CHECK_EQ(counted, right);
    MUST(t->ds, bouma_particles_read(&d, t->set.particles, &q.query));
    CHECK_EQ(d->count, right);
    memset(t->came, 0, COUNT);
    take(t, d, matches);
    bouma_particle_data_free(d);
    if (check_below(&t->state, 4))
        return;
    refine(t, &q, right, matches);
    sample(t, &q, right, matches);
}

static void random_texts_are_what_they_say(void)
{
    static const bouma_codec codecs[] = {BOUMA_CODEC_RAW, BOUMA_CODEC_ZSTD};
    struct trial *t = malloc(sizeof(*t));
    uint8_t *matches = malloc(COUNT);

    REQUIRE(t && matches);
    for (int shape = 0; shape < SHAPES; shape++) {
        begin(t, (enum shape)shape, codecs[shape % 2], 1 + shape % 4);
        for (int i = 0; i < 40; i++)
            try_one(t, matches);
        end(t);
    }
    free(matches);
    free(t);
}

static uint64_t bytes_read(const bouma_dataset *ds)
{
    bouma_dataset_info info = {.size = sizeof(info)};

    bouma_dataset_info_get(&info, ds);
    return info.bytes_read;
}

/* What a query reads, the index aside. */
static uint64_t cost_of(struct trial *t, const char *where)
{
    bouma_particles_query query = {.size = sizeof(query), .where = where};
    uint64_t before, count;

    MUST(t->ds, bouma_particles_count(&count, t->set.particles, &query));
    before = bytes_read(t->ds);
    MUST(t->ds, bouma_particles_count(&count, t->set.particles, &query));
    return bytes_read(t->ds) - before;
}

/* Two corners are read, and not what is between them. */
static void alternatives_are_found_by_the_index(void)
{
    struct trial *t = malloc(sizeof(*t));
    uint64_t left, right, both, all;

    REQUIRE(t);
    begin(t, UNIFORM, BOUMA_CODEC_RAW, 16);
    left = cost_of(t, "x < 0.1 & y < 0.2");
    right = cost_of(t, "x > 0.9 & y > 1.8");
    both = cost_of(t, "x < 0.1 & y < 0.2 | x > 0.9 & y > 1.8");
    all = cost_of(t, "x != 0.5 & y != 0.5");
    CHECK(both <= left + right);
    CHECK(2 * both < all);
    CHECK_EQ(cost_of(t, "x < 0.1 & x > 0.2 | mass < 1 & mass > 2"), 0);
    end(t);
    free(t);
}

/* An alternative that the box excludes is none: also where all that is looked at
 * lies in the box. */
static void alternatives_beside_the_box_find_nothing(void)
{
    struct trial *t = malloc(sizeof(*t));
    bouma_bounds box = {
        .axes = BOUMA_AXES_XYZ, .low = {-1, -1, -1}, .high = {4, 4, 4}};
    bouma_particles_query query = {
        .size = sizeof(query), .box = &box, .where = "x > 5 | kind == 8"};
    uint64_t count, right = 0;

    REQUIRE(t);
    begin(t, UNIFORM, BOUMA_CODEC_RAW, 1);
    for (uint64_t i = 0; i < COUNT; i++)
        right += t->s.kind[i] == 8;
    MUST(t->ds, bouma_particles_count(&count, t->set.particles, &query));
    CHECK_EQ(count, right);
    end(t);
    free(t);
}

static void wrong_texts_are_told(void)
{
    struct trial *t = malloc(sizeof(*t));
    bouma_particles_query query = {.size = sizeof(query), .where = "mas > 3"};
    uint64_t count;

    REQUIRE(t);
    begin(t, UNIFORM, BOUMA_CODEC_RAW, 1);
    CHECK_EQ(bouma_particles_count(&count, t->set.particles, &query),
             BOUMA_ENOTFOUND);
    CHECK_TEXT(bouma_error_message(t->ds), "where: at character 1, 'mas > 3'");
    query.where = "";
    CHECK_EQ(bouma_particles_count(&count, t->set.particles, &query),
             BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_check_where(t->set.particles, "x >"),
             BOUMA_EINVAL);
    CHECK_TEXT(bouma_error_message(t->ds), "at the end");
    CHECK_EQ(bouma_particles_check_where(t->set.particles, NULL), BOUMA_EINVAL);
    CHECK_EQ(bouma_particles_check_where(NULL, "x > 3"), BOUMA_EINVAL);
    end(t);
    free(t);
}

int main(void)
{
    random_texts_are_what_they_say();
    alternatives_are_found_by_the_index();
    alternatives_beside_the_box_find_nothing();
    wrong_texts_are_told();
    return check_result();
}
