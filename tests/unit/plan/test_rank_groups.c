/* test_rank_groups.c -- ranks that have to work together, against a search that
 * goes from rank to rank. */
#include "plan/rank_groups.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MOST_RANKS = 20, MOST_THINGS = 12 };

struct trial {
    struct bm_rank_parts parts;
    size_t first[MOST_RANKS + 1];
    uint32_t thing[MOST_RANKS * MOST_THINGS];
    int has[MOST_RANKS][MOST_THINGS];
};

static void make_trial(struct trial *t, uint64_t *random)
{
    memset(t, 0, sizeof(*t));
    t->parts.ranks = 1 + (int)check_below(random, MOST_RANKS);
    t->parts.things = 1 + (uint32_t)check_below(random, MOST_THINGS);
    t->parts.first = t->first;
    t->parts.thing = t->thing;
    for (int r = 0; r < t->parts.ranks; r++) {
        int64_t n = check_below(random, 3);

        t->first[r + 1] = t->first[r];
        for (int64_t i = 0; i < n; i++) {
            uint32_t thing = (uint32_t)check_below(random, t->parts.things);

            t->thing[t->first[r + 1]++] = thing;
            t->has[r][thing] = 1;
        }
    }
}

/* All that rank 'from' is linked to get its group. */
static void spread(const struct trial *t, int *group, int from)
{
    for (int r = 0; r < t->parts.ranks; r++)
        for (uint32_t i = 0; i < t->parts.things; i++)
            if (group[r] < 0 && t->has[r][i] && t->has[from][i]) {
                group[r] = group[from];
                spread(t, group, r);
            }
}

static void check_trial(const struct trial *t)
{
    int group[MOST_RANKS], slow[MOST_RANKS], groups = -1, n = 0;

    REQUIRE(!bm_rank_groups(group, &groups, bm_allocator_default(), &t->parts));
    memset(slow, -1, sizeof(slow));
    for (int r = 0; r < t->parts.ranks; r++)
        if (slow[r] < 0 && t->first[r] < t->first[r + 1]) {
            slow[r] = n++;
            spread(t, slow, r);
        }
    n = n ? n : 1;
    CHECK_EQ(groups, n);
    for (int r = 0; r < t->parts.ranks; r++)
        CHECK_EQ(group[r], slow[r] < 0 ? r * n / t->parts.ranks : slow[r]);
}

/* As many as large machines have; each straddles the border to the next but
 * for every 64th. */
static void many_ranks(int ranks)
{
    size_t *first = malloc(((size_t)ranks + 1) * sizeof(*first));
    uint32_t *thing = malloc((size_t)ranks * 2 * sizeof(*thing));
    int *group = malloc((size_t)ranks * sizeof(*group)), groups = 0;
    struct bm_rank_parts parts = {ranks, first, thing, (uint32_t)ranks};

    REQUIRE(first && thing && group);
    first[0] = 0;
    for (int r = 0; r < ranks; r++) {
        first[r + 1] = first[r];
        thing[first[r + 1]++] = (uint32_t)r;
        if (r % 64 < 63)
            thing[first[r + 1]++] = (uint32_t)r + 1;
    }
    REQUIRE(!bm_rank_groups(group, &groups, bm_allocator_default(), &parts));
    CHECK_EQ(groups, ranks / 64);
    for (int r = 0; r < ranks; r += 61)
        CHECK_EQ(group[r], r / 64);
    free(first);
    free(thing);
    free(group);
}

int main(void)
{
    static struct trial trial;
    uint64_t random = 5;

    for (int i = 0; i < 2000; i++) {
        make_trial(&trial, &random);
        check_trial(&trial);
    }
    many_ranks(1 << 17);
    many_ranks(1 << 20);
    return check_result();
}
