/* Owners by weight: never a larger largest load and never more samples moved
 * than `balanced`, and near the best there is where all ways can be tried. */
#include "plan/distribute.h"

#include "check.h"
#include "decompose.h"

enum { MAX_RANKS = 64, MAX_PATCHES = 5000 };

struct test {
    struct bm_tiling tiling;
    struct test_blocks blocks;
    struct bm_partition p;
    int ranks;
    int owner[MAX_PATCHES], balanced[MAX_PATCHES];
    uint64_t weight[MAX_PATCHES];
    uint64_t load[MAX_RANKS];
    struct bm_distribution before, after;
    uint64_t largest_before, largest_after;
};

static uint64_t largest(const struct test *t)
{
    uint64_t most = 0;

    for (int r = 0; r < t->ranks; r++)
        most = t->load[r] > most ? t->load[r] : most;
    return most;
}

static void cut_at_random(struct test *t, uint64_t *state, int depth)
{
    t->blocks.count = 0;
    cut_randomly(&t->blocks, state, bm_tiling_domain(&t->tiling), depth,
                 t->ranks);
}

/* n[0] x n[1] x n[2] ranks, as a simulation has them. */
static void cut_evenly(struct test *t, const int64_t n[3])
{
    t->ranks = (int)(n[0] * n[1] * n[2]);
    t->blocks.count = (size_t)t->ranks;
    for (int r = 0; r < t->ranks; r++) {
        int64_t at[3] = {r / (n[1] * n[2]), r / n[2] % n[1], r % n[2]};
        struct bm_block *b = &t->blocks.blocks[r];

        b->rank = r;
        for (int d = 0; d < 3; d++) {
            b->box.lo[d] = t->tiling.shape[d] * at[d] / n[d];
            b->box.hi[d] = t->tiling.shape[d] * (at[d] + 1) / n[d];
        }
    }
}

static uint64_t random_weight(uint64_t *state, int kind)
{
    switch (kind) {
    case 0:
        return (uint64_t)check_below(state, 10);
    case 1: /* a few take long */
        return (uint64_t)(check_below(state, 6) ? 10 + check_below(state, 5)
                                                : 500);
    case 2: /* mostly nothing */
        return (uint64_t)(check_below(state, 3) ? 0 : check_below(state, 9));
    default: /* beyond 32 bits */
        return (uint64_t)check_below(state, (int64_t)1 << 40);
    }
}

/* Distribute by t->weight; load[] has what ranks do besides. */
static void distribute(struct test *t)
{
    REQUIRE(t->tiling.patches <= MAX_PATCHES && t->ranks <= MAX_RANKS);
    REQUIRE(!bm_partition_init(&t->p, bm_allocator_default(),
                               bm_chunking_of_tiling(&t->tiling),
                               t->blocks.blocks, t->blocks.count));
    REQUIRE(!bm_distribute(t->owner, BOUMA_DISTRIBUTE_WEIGHTED, &t->p, t->ranks,
                           &t->before));
    memcpy(t->balanced, t->owner, sizeof(t->owner));
    for (int64_t i = 0; i < t->tiling.patches; i++)
        t->load[t->owner[i]] += t->weight[i];
    t->largest_before = largest(t);
    CHECK_EQ(
        bm_distribute_weighted(t->owner, &t->p, t->ranks, t->weight, t->load),
        BOUMA_OK);
    t->largest_after = largest(t);
    REQUIRE(!bm_distribute_report(&t->after, t->owner, &t->p, t->ranks));
}

static int is_regular(const struct bm_partition *p, int64_t patch)
{
    for (int64_t k = p->first[patch]; k < p->first[patch + 1]; k++)
        if (p->blocks[p->part[k]].rank !=
            p->blocks[p->part[p->first[patch]]].rank)
            return 0;
    return 1;
}

static void check_promises(struct test *t, const uint64_t *besides)
{
    uint64_t load[MAX_RANKS] = {0};
    int same = 1;

    CHECK(t->largest_after <= t->largest_before);
    CHECK(t->after.moved_samples <= t->before.moved_samples);
    for (int64_t i = 0; i < t->tiling.patches; i++) {
        REQUIRE(t->owner[i] >= 0 && t->owner[i] < t->ranks);
        load[t->owner[i]] += t->weight[i];
        same &= t->owner[i] == t->balanced[i];
        if (is_regular(&t->p, i))
            CHECK_EQ(t->owner[i], t->balanced[i]);
    }
    for (int r = 0; r < t->ranks; r++)
        CHECK_EQ(t->load[r], load[r] + besides[r]);
    CHECK_EQ(same, t->largest_after == t->largest_before);
}

static void promises_hold_for_random_decompositions(struct test *t)
{
    uint64_t state = 41;
    int smaller = 0;

    for (int i = 0; i < 800; i++) {
        uint64_t besides[MAX_RANKS] = {0};

        t->ranks = 1 + (int)check_below(&state, 12);
        random_tiling(&t->tiling, &state, 16);
        cut_at_random(t, &state, (int)check_below(&state, 7));
        for (int64_t k = 0; k < t->tiling.patches; k++)
            t->weight[k] = random_weight(&state, i % 4);
        for (int r = 0; r < t->ranks; r++) /* of other grids */
            besides[r] = i % 3 ? 0 : random_weight(&state, i % 4);
        memcpy(t->load, besides, sizeof(besides));
        distribute(t);
        check_promises(t, besides);
        smaller += t->largest_after < t->largest_before;
        bm_partition_release(&t->p);
    }
    CHECK(smaller > 50);
}

static void equal_weights_are_balanced(struct test *t)
{
    uint64_t state = 42;

    for (int i = 0; i < 400; i++) {
        t->ranks = 1 + (int)check_below(&state, 12);
        random_tiling(&t->tiling, &state, 16);
        cut_at_random(t, &state, (int)check_below(&state, 7));
        for (int64_t k = 0; k < t->tiling.patches; k++)
            t->weight[k] = (uint64_t)(i % 5) * 1000;
        memset(t->load, 0, sizeof(t->load));
        distribute(t);
        CHECK(!memcmp(t->owner, t->balanced,
                      (size_t)t->tiling.patches * sizeof(*t->owner)));
        bm_partition_release(&t->p);
    }
}

/* The same question has the same answer: nothing but its arguments counts. */
static void the_answer_is_always_the_same(struct test *t)
{
    static struct test again;
    uint64_t state = 43;

    for (int i = 0; i < 50; i++) {
        t->ranks = 2 + (int)check_below(&state, 11);
        random_tiling(&t->tiling, &state, 16);
        cut_at_random(t, &state, 6);
        for (int64_t k = 0; k < t->tiling.patches; k++)
            t->weight[k] = random_weight(&state, i % 4);
        memset(t->load, 0, sizeof(t->load));
        again = *t;
        distribute(t);
        distribute(&again);
        CHECK(!memcmp(t->owner, again.owner,
                      (size_t)t->tiling.patches * sizeof(*t->owner)));
        bm_partition_release(&t->p);
        bm_partition_release(&again.p);
    }
}

/* A shell in which patches take five times as long, 4 x 4 x 4 ranks. */
static void a_hot_shell_is_shared_out(struct test *t)
{
    static const int64_t shape[3] = {200, 200, 200}, edge[3] = {16, 16, 16},
                         n[3] = {4, 4, 4};
    uint64_t besides[MAX_RANKS] = {0}, state = 44, total = 0;
    double mean;

    REQUIRE(!bm_tiling_init(&t->tiling, 3, shape, edge));
    cut_evenly(t, n);
    for (int64_t i = 0; i < t->tiling.patches; i++) {
        int64_t at[3], r = 0;

        bm_tiling_at(&t->tiling, i, at);
        for (int d = 0; d < 3; d++)
            r += (at[d] - 6) * (at[d] - 6);
        t->weight[i] = (uint64_t)check_below(&state, 100) +
                       (r > 14 && r < 22 ? 2500 : 500);
        total += t->weight[i];
    }
    memset(t->load, 0, sizeof(t->load));
    distribute(t);
    check_promises(t, besides);
    mean = (double)total / t->ranks;
    printf("a hot shell: largest / mean %.3f balanced, %.3f weighted; samples "
           "moved %.3f and %.3f of all\n",
           (double)t->largest_before / mean, (double)t->largest_after / mean,
           (double)t->before.moved_samples / 8e6,
           (double)t->after.moved_samples / 8e6);
    CHECK((double)t->largest_before > 1.4 * mean);
    CHECK((double)t->largest_after < 1.25 * mean);
    bm_partition_release(&t->p);
}

/* ---- against all ways there are ----------------------------------------- */

struct trial {
    const struct test *t;
    uint64_t load[8];
    uint64_t least; /* largest load, of all ways so far */
};

static void try_owners(struct trial *trial, int64_t patch, uint64_t moved)
{
    const struct test *t = trial->t;
    uint64_t held[8] = {0}, all = 0, most = 0;

    if (moved > t->before.moved_samples)
        return;
    if (patch == t->tiling.patches) {
        for (int r = 0; r < t->ranks; r++)
            most = trial->load[r] > most ? trial->load[r] : most;
        trial->least = most < trial->least ? most : trial->least;
        return;
    }
    for (int64_t k = t->p.first[patch]; k < t->p.first[patch + 1]; k++) {
        struct bm_footprint part = bm_partition_part(&t->p, patch, k);

        held[t->p.blocks[t->p.part[k]].rank] += bm_footprint_samples(&part);
        all += bm_footprint_samples(&part);
    }
    for (int r = 0; r < t->ranks; r++) {
        uint64_t weight = t->weight[patch];

        if (trial->load[r] + weight >= trial->least ||
            (is_regular(&t->p, patch) && !held[r]))
            continue;
        trial->load[r] += weight;
        try_owners(trial, patch + 1, moved + all - held[r]);
        trial->load[r] -= weight;
    }
}

static void the_best_there_is_is_near(struct test *t)
{
    double balanced = 0, weighted = 0;
    int tries = 400, best = 0;
    uint64_t state = 45;

    for (int i = 0; i < tries; i++) {
        struct trial trial = {.t = t};

        t->ranks = 2 + (int)check_below(&state, 4);
        do
            random_tiling(&t->tiling, &state, 12);
        while (t->tiling.patches < 4 || t->tiling.patches > 10);
        cut_at_random(t, &state, 2 + (int)check_below(&state, 3));
        for (int64_t k = 0; k < t->tiling.patches; k++)
            t->weight[k] = 1 + random_weight(&state, i % 2);
        memset(t->load, 0, sizeof(t->load));
        distribute(t);
        trial.least = t->largest_before;
        try_owners(&trial, 0, 0);
        CHECK(trial.least <= t->largest_after);
        balanced += (double)t->largest_before / (double)trial.least;
        weighted += (double)t->largest_after / (double)trial.least;
        best += t->largest_after == trial.least;
        bm_partition_release(&t->p);
    }
    printf("largest load by the smallest possible: %.3f balanced, %.3f "
           "weighted, which is best in %d of %d cases\n",
           balanced / tries, weighted / tries, best, tries);
    CHECK(best >= tries * 4 / 5);
    CHECK(weighted / tries < 1.05);
}

int main(void)
{
    struct test *t = calloc(1, sizeof(*t));

    REQUIRE(t);
    promises_hold_for_random_decompositions(t);
    equal_weights_are_balanced(t);
    the_answer_is_always_the_same(t);
    a_hot_shell_is_shared_out(t);
    the_best_there_is_is_near(t);
    free(t);
    return check_result();
}
