/* Who can have particles of a file, when all ranks read a set at once. */
#include "chance.h"
#include "check.h"
#include "plan/rounds.h"
#include "read/restart_boxes.h"

enum { RANKS = 60, TRIALS = 3000 };

struct trial {
    struct bm_object set;
    struct bm_request all[RANKS];
    int meet[RANKS];
    struct bm_requests requests;
};

static void begin(struct trial *t, int ranks, int shares)
{
    memset(t, 0, sizeof(*t));
    t->set.ndims = 2;
    t->requests = (struct bm_requests){.set = &t->set,
                                       .all = t->all,
                                       .ranks = ranks,
                                       .shares = shares,
                                       .meet = t->meet};
}

static int is_listed(const struct bm_requests *r, int rank)
{
    int times = 0;

    for (size_t i = 0; i < r->meet_count; i++) {
        times += r->meet[i] == rank;
        CHECK(!i || r->meet[i - 1] < r->meet[i]);
    }
    return times;
}

/* Shares may be empty, if there are few particles. */
static void shares_that_meet_a_slice_are_listed(void)
{
    uint64_t seed = 1;

    for (int n = 0; n < TRIALS; n++) {
        uint64_t ranks = 1 + chance_below(&seed, RANKS);
        uint64_t all = chance_below(&seed, 3 * RANKS) + 1;
        uint64_t from = chance_below(&seed, all);
        uint64_t to = from + 1 + chance_below(&seed, all - from);
        struct bm_particle_summary c = {.count = all};
        struct trial t;

        begin(&t, (int)ranks, 1);
        t.set.particles = all;
        bm_requests_list(&t.requests, &c, from, to);
        for (uint64_t i = 0; i < ranks; i++) {
            uint64_t low = bm_cut(all, ranks, i);
            uint64_t high = bm_cut(all, ranks, i + 1);
            int meets = low < to && high > from;

            CHECK(low == high || is_listed(&t.requests, (int)i) == meets);
        }
    }
}

static void boxes_that_meet_a_file_are_listed(void)
{
    uint64_t seed = 2;

    for (int n = 0; n < TRIALS; n++) {
        int ranks = 1 + (int)chance_below(&seed, RANKS);
        struct bm_particle_summary c = {.count = 10};
        struct bm_request box;
        struct trial t;
        int count = 0;

        begin(&t, ranks, 0);
        for (int d = 0; d < 2; d++) {
            c.low[d] = (double)chance_below(&seed, 20);
            c.high[d] = c.low[d] + (double)chance_below(&seed, 10);
        }
        for (int i = 0; i < ranks; i++) {
            t.all[i].boxed = chance_below(&seed, 50) != 0;
            for (int d = 0; d < 2; d++) {
                t.all[i].low[d] = (double)chance_below(&seed, 20);
                t.all[i].high[d] = t.all[i].low[d] + 4;
            }
        }
        bm_requests_list(&t.requests, &c, 0, c.count);
        for (int i = 0; i < ranks; i++) {
            int meets = bm_requests_meet(&t.requests, &t.all[i], &c);

            CHECK_EQ(is_listed(&t.requests, i), meets);
            count += meets;
        }
        CHECK(count || !bm_requests_box(&t.requests, &c, &box));
    }
}

int main(void)
{
    shares_that_meet_a_slice_are_listed();
    boxes_that_meet_a_file_are_listed();
    return check_result();
}
