/* The plan of a step with other owners, by the times of its chunks: all ranks
 * find the same, every chunk has one owner, and no more bytes move. */
#include "write/write_plan.h"

#include "check.h"
#include "fault_alloc.h"

enum { RANKS = 8, SIDE = 40, CUT = 21 };

struct test {
    struct bm_error error;
    struct bm_schema schema;
    struct bouma_variable *variables[3];
    struct bm_buffer all;
    size_t sizes[RANKS];
    struct bm_write_plan *plans[RANKS];
};

/* Octants that no boundary of patches agrees with. */
static struct bm_box octant(int rank)
{
    struct bm_box box;

    for (int d = 0; d < 3; d++) {
        int high = rank >> (2 - d) & 1;

        box.lo[d] = high ? CUT : 0;
        box.hi[d] = high ? SIDE : CUT;
    }
    return box;
}

/* Two variables laid out alike, and a grid that lies in slabs. */
static void describe(struct test *t)
{
    bouma_grid_spec cube = {.size = sizeof(cube),
                            .ndims = 3,
                            .shape = {SIDE, SIDE, SIDE},
                            .patch = {8, 8, 8},
                            .levels = 1};
    bouma_grid_spec line = {.size = sizeof(line),
                            .ndims = 1,
                            .shape = {1000},
                            .patch = {32},
                            .levels = 1};
    bouma_variable_spec f32 = {.size = sizeof(f32), .type = BOUMA_TYPE_F32};
    bouma_variable_spec f64 = {.size = sizeof(f64), .type = BOUMA_TYPE_F64};
    struct bm_object *g;

    bm_schema_init(&t->schema, bm_allocator_default(), &t->error);
    REQUIRE(!bm_schema_add_grid(&t->schema, &g, "cube", &cube));
    REQUIRE(!bm_schema_add_variable(g, &t->variables[0], "a", &f32));
    REQUIRE(!bm_schema_add_variable(g, &t->variables[1], "b", &f64));
    REQUIRE(!bm_schema_add_grid(&t->schema, &g, "line", &line));
    REQUIRE(!bm_schema_add_variable(g, &t->variables[2], "c", &f64));
    REQUIRE(!bm_schema_number(&t->schema));
    bm_buffer_init(&t->all, bm_allocator_default());
    for (int r = 0; r < RANKS; r++) {
        size_t before = t->all.size;
        struct bm_put puts[3];

        memset(puts, 0, sizeof(puts));
        for (int i = 0; i < 3; i++) {
            puts[i].variable = t->variables[i];
            puts[i].from.box = octant(r);
        }
        puts[2].from.box =
            (struct bm_box){{0, 0, 125 * r}, {1, 1, 125 * (r + 1)}};
        bm_plan_describe(&t->all, puts, 3);
        t->sizes[r] = t->all.size - before;
    }
    REQUIRE(!t->all.failed);
}

static void begin(struct test *t, bouma_distribute scheme)
{
    memset(t, 0, sizeof(*t));
    describe(t);
    for (int r = 0; r < RANKS; r++) {
        struct bm_descriptions told = {&t->all, t->sizes, RANKS, r, NULL};

        REQUIRE(!bm_plan_make(&t->plans[r], bm_allocator_default(), &t->schema,
                              scheme, &told, &t->error));
    }
}

static void end(struct test *t)
{
    for (int r = 0; r < RANKS; r++)
        bm_plan_free(t->plans[r]);
    bm_buffer_release(&t->all);
    bm_schema_release(&t->schema);
}

/* Every rank hears the same times. */
static void tell_times(struct test *t, uint32_t (*time)(uint64_t *state),
                       uint64_t state)
{
    for (int r = 0; r < RANKS; r++) {
        uint64_t own = state;

        for (size_t i = 0; i < t->plans[r]->chunks; i++)
            t->plans[r]->times.each[i] = time(&own);
        t->plans[r]->times.known = 1;
    }
}

static uint32_t equal_time(uint64_t *state)
{
    (void)state;
    return 1000;
}

static uint32_t random_time(uint64_t *state)
{
    return (uint32_t)(check_below(state, 5) ? 100 + check_below(state, 50)
                                            : 3000);
}

static uint64_t slowest(const struct bm_write_plan *plan, uint64_t *total)
{
    uint64_t load[RANKS] = {0}, most = 0;

    *total = 0;
    for (size_t i = 0; i < plan->chunks; i++) {
        load[plan->owner[i]] += plan->times.each[i];
        *total += plan->times.each[i];
    }
    for (int r = 0; r < RANKS; r++)
        most = load[r] > most ? load[r] : most;
    return most;
}

/* One of the plans, and what belongs together in all of them. */
static void check_plans(const struct test *t)
{
    const struct bm_write_plan *first = t->plans[0];
    int64_t count[RANKS] = {0}, most = 0;
    size_t mine = 0;

    for (int r = 0; r < RANKS; r++) {
        const struct bm_write_plan *p = t->plans[r];

        CHECK(!memcmp(p->owner, first->owner,
                      first->chunks * sizeof(*first->owner)));
        CHECK_EQ(p->moved_bytes, first->moved_bytes);
        CHECK_EQ(p->most_patches, first->most_patches);
        for (size_t m = 0; m < p->mine_count; m++)
            CHECK_EQ(p->owner[p->mine[m]], r);
        mine += p->mine_count;
    }
    CHECK_EQ(mine, first->chunks);
    for (size_t i = 0; i < first->chunks; i++) {
        struct bm_chunk c = bm_plan_chunk(first, i);

        CHECK_EQ(first->owner[i], c.decomposition->owner[c.number]);
        count[first->owner[i]] += c.variable != t->variables[1];
    }
    for (int r = 0; r < RANKS; r++)
        most = count[r] > most ? count[r] : most;
    CHECK_EQ(first->most_patches, most);
}

static void other_owners_are_the_same_on_all_ranks(void)
{
    uint64_t moved, before, after, total, state = 51;
    struct test t;
    int taken = 0;

    begin(&t, BOUMA_DISTRIBUTE_WEIGHTED);
    moved = t.plans[0]->moved_bytes;
    check_plans(&t);
    for (int step = 0; step < 20; step++) {
        int changed[RANKS];

        tell_times(&t, random_time, check_random(&state));
        before = slowest(t.plans[0], &total);
        for (int r = 0; r < RANKS; r++) {
            t.plans[r]->times.pause = 0;
            CHECK_EQ(bm_plan_balance(t.plans[r], RANKS, r, &changed[r]),
                     BOUMA_OK);
            CHECK_EQ(changed[r], changed[0]);
        }
        after = slowest(t.plans[0], &total);
        CHECK(changed[0] ? after < before : after == before);
        CHECK(t.plans[0]->moved_bytes <= moved);
        check_plans(&t);
        taken += changed[0];
    }
    CHECK(taken > 10);
    end(&t);
}

static void times_that_say_nothing_change_nothing(void)
{
    struct test t;
    int *owner, changed = 1;
    struct bm_write_plan *p;

    begin(&t, BOUMA_DISTRIBUTE_WEIGHTED);
    p = t.plans[3];
    owner = malloc(p->chunks * sizeof(*owner));
    REQUIRE(owner);
    memcpy(owner, p->owner, p->chunks * sizeof(*owner));
    CHECK_EQ(bm_plan_balance(p, RANKS, 3, &changed), BOUMA_OK);
    CHECK_EQ(changed, 0); /* there were no times */
    tell_times(&t, equal_time, 0);
    CHECK_EQ(bm_plan_balance(p, RANKS, 3, &changed), BOUMA_OK);
    CHECK_EQ(changed, 0);
    CHECK(!memcmp(owner, p->owner, p->chunks * sizeof(*owner)));
    free(owner);
    end(&t);
}

/* All of the time is that of one chunk: no owner is better than another. */
static void a_search_that_found_nothing_is_not_repeated_at_once(void)
{
    struct test t;
    struct bm_write_plan *p;
    int changed;

    begin(&t, BOUMA_DISTRIBUTE_WEIGHTED);
    p = t.plans[0];
    p->times.known = 1;
    p->times.each[17] = 5000;
    CHECK_EQ(bm_plan_balance(p, RANKS, 0, &changed), BOUMA_OK);
    CHECK_EQ(changed, 0);
    CHECK(p->times.pause > 0);
    for (int left = p->times.pause; left > 0; left--) {
        CHECK_EQ(p->times.pause, left);
        CHECK_EQ(bm_plan_balance(p, RANKS, 0, &changed), BOUMA_OK);
        CHECK_EQ(changed, 0);
    }
    tell_times(&t, random_time, 7);
    CHECK_EQ(bm_plan_balance(p, RANKS, 0, &changed), BOUMA_OK);
    CHECK_EQ(changed, 1);
    end(&t);
}

/* ---- no memory ---------------------------------------------------------- */

static void every_lack_of_memory_is_told(void)
{
    struct fault_alloc memory;
    int rc = BOUMA_ENOMEM, n = 0;

    fault_alloc_init(&memory);
    for (; rc; n++) {
        struct bm_write_plan *plan;
        uint64_t state = 52;
        struct test t;
        struct bm_descriptions told = {&t.all, t.sizes, RANKS, 2, NULL};
        int changed;

        memset(&t, 0, sizeof(t));
        describe(&t);
        fault_alloc_disarm(&memory);
        REQUIRE(!bm_plan_make(&plan, &memory.table, &t.schema,
                              BOUMA_DISTRIBUTE_WEIGHTED, &told, &t.error));
        for (size_t i = 0; i < plan->chunks; i++)
            plan->times.each[i] = random_time(&state);
        plan->times.known = 1;
        fault_alloc_arm(&memory, n + 1, 1);
        rc = bm_plan_balance(plan, RANKS, 2, &changed);
        CHECK(rc == BOUMA_ENOMEM || (rc == BOUMA_OK && changed));
        bm_plan_free(plan);
        CHECK_EQ(memory.live, 0);
        end(&t);
    }
    CHECK(n > 10);
}

static void only_weighted_asks_for_times(void)
{
    for (int scheme = 1; scheme <= BOUMA_DISTRIBUTE_WEIGHTED; scheme++) {
        struct test t;

        begin(&t, (bouma_distribute)scheme);
        CHECK_EQ(t.plans[0]->times.each != NULL,
                 scheme == BOUMA_DISTRIBUTE_WEIGHTED);
        CHECK_EQ(t.plans[0]->times.known, 0);
        check_plans(&t);
        end(&t);
    }
}

int main(void)
{
    other_owners_are_the_same_on_all_ranks();
    times_that_say_nothing_change_nothing();
    a_search_that_found_nothing_is_not_repeated_at_once();
    only_weighted_asks_for_times();
    every_lack_of_memory_is_told();
    return check_result();
}
