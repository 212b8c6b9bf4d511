/* How far a budget reaches: against going through all steps one by one. */
#include "plan/budget.h"

#include <limits.h>

#include "check.h"

#define MOST 12

/* Steps whose costs are found in heads, some of which are there already. */
struct made_up {
    int count;
    uint64_t points[MOST], bytes[MOST], head[MOST];
    int has_head[MOST];
    uint64_t read; /* bytes of heads */
};

static uint64_t points_of(const void *context, int i)
{
    return ((const struct made_up *)context)->points[i];
}

static int cost_of(struct bm_step_cost *out, void *context, int i,
                   uint64_t left)
{
    struct made_up *m = context;

    *out = (struct bm_step_cost){m->bytes[i], 0};
    if (m->has_head[i])
        return BOUMA_OK;
    if (m->head[i] > left) {
        out->bytes += m->head[i];
        return BOUMA_OK;
    }
    m->has_head[i] = 1;
    m->read += m->head[i];
    out->looked = m->head[i];
    return BOUMA_OK;
}

static struct made_up make_up(uint64_t *state)
{
    struct made_up m = {.count = (int)check_below(state, MOST)};
    uint64_t points = 0;

    for (int i = 0; i < m.count; i++) {
        points += (uint64_t)check_below(state, 20);
        m.points[i] = points;
        m.bytes[i] = (uint64_t)check_below(state, 50);
        m.head[i] = (uint64_t)check_below(state, 10);
        m.has_head[i] = check_below(state, 2) == 0;
    }
    return m;
}

/* The steps that fit, if the heads of steps that do are read, too. */
static int brute_force(const struct made_up *m, const struct bm_budget *b,
                       int most)
{
    uint64_t bytes = 0;

    for (int i = 0; i < m->count && i < most; i++) {
        bytes += m->bytes[i] + (m->has_head[i] ? 0 : m->head[i]);
        if (bytes > b->bytes || m->points[i] > b->points)
            return i;
    }
    return m->count < most ? m->count : most;
}

static void as_many_steps_as_fit_are_taken(void)
{
    uint64_t state = 3;

    for (int tries = 0; tries < 20000; tries++) {
        struct made_up m = make_up(&state), before = m;
        struct bm_steps steps = {&m, m.count, points_of, cost_of};
        struct bm_budget b = {
            check_below(&state, 3) ? (uint64_t)check_below(&state, 300)
                                   : UINT64_MAX,
            check_below(&state, 3) ? (uint64_t)check_below(&state, 150)
                                   : UINT64_MAX,
            -1};
        int most = check_below(&state, 3) ? INT_MAX : 1;
        int expected = brute_force(&m, &b, most);
        uint64_t bytes = 0;
        struct bm_reach reach;

        REQUIRE(!bm_budget_reach(&reach, &steps, &b, most));
        CHECK_EQ(reach.steps, expected);
        CHECK_EQ(reach.looked, m.read);
        for (int i = 0; i < reach.steps; i++)
            bytes += m.bytes[i];
        CHECK(bytes + m.read <= b.bytes);
        if (reach.steps == m.count) {
            CHECK_EQ(reach.limit, BOUMA_LIMIT_NONE);
            CHECK_EQ(reach.next_bytes, 0);
            CHECK_EQ(reach.next_points, 0);
            continue;
        }
        CHECK_EQ(reach.next_points, m.points[reach.steps]);
        CHECK(reach.next_bytes ==
              m.bytes[reach.steps] +
                  (m.has_head[reach.steps] ? 0 : m.head[reach.steps]));
        if (reach.limit == BOUMA_LIMIT_POINTS)
            CHECK(reach.next_points > b.points);
        else if (reach.limit == BOUMA_LIMIT_BYTES)
            CHECK(bytes + m.read + reach.next_bytes > b.bytes);
        else
            CHECK_EQ(reach.steps, most);
        /* Heads of later steps are not read. */
        for (int i = reach.steps + 1; i < m.count; i++)
            CHECK_EQ(m.has_head[i], before.has_head[i]);
    }
}

static int fail(struct bm_step_cost *out, void *context, int i, uint64_t left)
{
    (void)out;
    (void)context;
    (void)i;
    (void)left;
    return BOUMA_EIO;
}

static void a_cost_that_cannot_be_found_ends_the_plan(void)
{
    struct made_up m = {.count = 2};
    struct bm_steps steps = {&m, 2, points_of, fail};
    struct bm_budget b = {UINT64_MAX, UINT64_MAX, -1};
    struct bm_reach reach;

    CHECK_EQ(bm_budget_reach(&reach, &steps, &b, INT_MAX), BOUMA_EIO);
    CHECK_EQ(reach.steps, 0);
}

int main(void)
{
    as_many_steps_as_fit_are_taken();
    a_cost_that_cannot_be_found_ends_the_plan();
    return check_result();
}
