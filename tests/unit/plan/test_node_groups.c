/* test_node_groups.c -- a file for each node, or for every few: groups, files of
 * chunks and of particles, and writers, against what the definitions say, rank
 * by rank; and the same with a million ranks. */
#include "plan/node_groups.h"

#include <stdlib.h>
#include <string.h>

#include "plan/aggregate.h"
#include "plan/placement.h"

#include "check.h"

enum { MOST_RANKS = 40, MOST_CHUNKS = 120, MILLION = 1 << 20 };

/* Who is on which node, and how many of these share a file. */
struct trial {
    int ranks, per_file;
    uint64_t node[MOST_RANKS];
    struct bm_places places;
    struct bm_node_groups groups;
};

static void make_trial(struct trial *t, uint64_t *random)
{
    int kind = (int)check_below(random, 4);
    int64_t nodes;

    t->ranks = 1 + (int)check_below(random, MOST_RANKS);
    t->per_file = 1 + (int)check_below(random, 5);
    nodes = 1 + check_below(random, t->ranks);
    for (int r = 0; r < t->ranks; r++) /* in order, in turn, alone, anyhow */
        t->node[r] = 7 + (uint64_t)(kind == 0   ? r * nodes / t->ranks
                                    : kind == 1 ? r % nodes
                                    : kind == 2 ? r
                                                : check_below(random, nodes));
    REQUIRE(
        !bm_places_init(&t->places, bm_allocator_default(), t->node, t->ranks));
    t->groups = bm_node_groups_of(&t->places, t->per_file);
}

/* The nodes in the order of their lowest ranks; the number of a rank's. */
static int number_of(const struct trial *t, int rank)
{
    int n = 0;

    for (int r = 0; t->node[r] != t->node[rank]; r++) {
        int is_first = 1;

        for (int k = 0; k < r; k++)
            is_first &= t->node[k] != t->node[r];
        n += is_first;
    }
    return n;
}

static void groups_are_runs_of_nodes_that_are_alike(const struct trial *t)
{
    int nodes_of[MOST_RANKS] = {0}, seen[MOST_RANKS] = {0}, before = 0;
    int least = MOST_RANKS, most = 0, nodes = 0;

    for (int r = 0; r < t->ranks; r++) {
        int group = bm_node_group(&t->groups, r), node = number_of(t, r);

        CHECK(group >= 0 && group < t->groups.groups);
        for (int k = 0; k < r; k++) {
            int other = bm_node_group(&t->groups, k);

            CHECK(t->node[k] != t->node[r] || other == group);
            CHECK(number_of(t, k) > node || other <= group);
        }
        if (!seen[node]++) {
            nodes_of[group]++;
            nodes++;
        }
    }
    for (int g = 0; g < t->groups.groups; g++) {
        int begin, end;

        least = nodes_of[g] < least ? nodes_of[g] : least;
        most = nodes_of[g] > most ? nodes_of[g] : most;
        bm_node_group_positions(&t->groups, g, &begin, &end);
        CHECK_EQ(begin, before);
        for (int i = begin; i < end; i++)
            CHECK_EQ(bm_node_group(&t->groups, bm_places_rank(&t->places, i)),
                     g);
        before = end;
    }
    CHECK_EQ(before, t->ranks);
    CHECK_EQ(t->groups.groups, (nodes + t->per_file - 1) / t->per_file);
    CHECK(least >= 1 && most <= t->per_file && most - least <= 1);
}

/* ---- chunks -------------------------------------------------------------- */

struct chunks {
    struct bm_chunk_sizes sizes;
    uint64_t bytes[MOST_CHUNKS];
    int owner[MOST_CHUNKS];
    uint32_t fixed[MOST_CHUNKS];
};

static void make_chunks(struct chunks *c, const struct trial *t,
                        uint64_t *random)
{
    int some = (int)check_below(random, 2); /* not all ranks have chunks */

    memset(&c->sizes, 0, sizeof(c->sizes));
    c->sizes.count = (size_t)check_below(random, MOST_CHUNKS);
    c->sizes.bytes = c->bytes;
    c->sizes.owner = c->owner;
    c->sizes.nodes = &t->groups;
    for (size_t i = 0; i < c->sizes.count; i++) {
        c->bytes[i] = 1 + (uint64_t)check_below(random, 50);
        c->owner[i] =
            (int)check_below(random, some ? (t->ranks + 1) / 2 : t->ranks);
    }
    if (check_below(random, 3))
        return;
    c->sizes.fixed = c->fixed;
    c->sizes.fixed_files = 2;
    for (size_t i = 0; i < c->sizes.count; i++)
        c->fixed[i] = i < 2                    ? (uint32_t)i
                      : check_below(random, 2) ? BM_ANY_FILE
                                               : (uint32_t)(i % 2);
}

/* Chunks that layouts have not put into a file: two share one if their owners
 * share a group; files are in the order of groups; none is empty. */
static void check_files(const struct trial *t, const struct chunks *c,
                        const struct bm_assignment *a)
{
    int is_any = 1;

    for (size_t i = 0; i < c->sizes.count; i++) {
        int mine = bm_node_group(&t->groups, c->owner[i]);

        if (c->sizes.fixed && c->fixed[i] != BM_ANY_FILE) {
            CHECK_EQ(a->file[i], c->fixed[i]);
            continue;
        }
        for (size_t k = 0; k < i; k++) {
            int other = bm_node_group(&t->groups, c->owner[k]);

            if (c->sizes.fixed && c->fixed[k] != BM_ANY_FILE)
                CHECK(a->file[k] < a->file[i]);
            else
                CHECK(mine == other  ? a->file[k] == a->file[i]
                      : mine < other ? a->file[i] < a->file[k]
                                     : a->file[k] < a->file[i]);
        }
    }
    for (int64_t f = 0; f < a->files; f++)
        is_any &= a->first[f] < a->first[f + 1];
    CHECK(is_any || (c->sizes.fixed && c->sizes.count < 2));
}

/* ---- writers ------------------------------------------------------------- */

/* The bytes of a file that a node has. */
static uint64_t bytes_on(const struct trial *t, const struct chunks *c,
                         const struct bm_assignment *a, int64_t file,
                         uint64_t node)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < c->sizes.count; i++)
        if (a->file[i] == (uint32_t)file && t->node[c->owner[i]] == node)
            sum += c->bytes[i];
    return sum;
}

/* Nobody else has more of it; and of nodes with as much, it is the first. */
static void check_writers(const struct trial *t, const struct chunks *c,
                          const struct bm_assignment *a)
{
    for (int64_t f = 0; f < a->files; f++) {
        int writer = a->writer[f];
        uint64_t most, all = 0;

        CHECK(writer >= 0 && writer < t->ranks);
        most = bytes_on(t, c, a, f, t->node[writer]);
        for (int r = 0; r < t->ranks; r++) {
            uint64_t other = bytes_on(t, c, a, f, t->node[r]);

            CHECK(a->first[f] == a->first[f + 1] || other < most ||
                  (other == most && number_of(t, r) >= number_of(t, writer)));
        }
        for (size_t i = a->first[f]; i < a->first[f + 1]; i++)
            all += c->bytes[a->chunk[i]];
        if (t->per_file == 1 && !c->sizes.fixed) /* nothing leaves a node */
            CHECK_EQ(most, all);
    }
}

static void files_and_writers_stay_on_nodes(const struct trial *t,
                                            uint64_t *random)
{
    const bouma_allocator *alloc = bm_allocator_default();
    struct bm_place_task task = {.scheme = check_below(random, 2)
                                               ? BOUMA_PLACE_SPREAD
                                               : BOUMA_PLACE_FIRST,
                                 .ranks = t->ranks,
                                 .places = &t->places,
                                 .turn = (int)check_below(random, 3),
                                 .turns = 3};
    struct bm_assignment a;
    struct chunks c;

    make_chunks(&c, t, random);
    REQUIRE(
        !bm_assign(&a, alloc, BOUMA_ASSIGN_PER_NODE, &c.sizes, 4, t->ranks));
    check_files(t, &c, &a);
    REQUIRE(!bm_place_chunks(&a, &task, &c.sizes));
    check_writers(t, &c, &a);
    bm_assignment_release(&a);
}

/* Those that choose among senders find them in the group. */
static void senders_are_of_the_group(const struct trial *t, uint64_t *random)
{
    struct bm_place_task task = {
        .scheme = BOUMA_PLACE_LOCAL, .ranks = t->ranks, .places = &t->places};
    struct bm_assignment a;
    struct chunks c;

    make_chunks(&c, t, random);
    c.sizes.fixed = NULL;
    REQUIRE(!bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_PER_NODE,
                       &c.sizes, 4, t->ranks));
    REQUIRE(!bm_place_chunks(&a, &task, &c.sizes));
    for (size_t i = 0; i < c.sizes.count; i++)
        CHECK_EQ(bm_node_group(&t->groups, a.writer[a.file[i]]),
                 bm_node_group(&t->groups, c.owner[i]));
    bm_assignment_release(&a);
}

/* Objects that are placed apart get ranks of their own, while there are any. */
static void objects_take_turns(void)
{
    uint64_t node[8] = {0, 0, 0, 0, 1, 1, 1, 1}, bytes[8];
    int owner[8], taken[8] = {0};
    struct bm_places places;
    struct bm_node_groups groups;
    struct bm_chunk_sizes sizes = {
        .count = 8, .bytes = bytes, .owner = owner, .nodes = &groups};

    for (int i = 0; i < 8; i++) {
        bytes[i] = 1;
        owner[i] = i;
    }
    REQUIRE(!bm_places_init(&places, bm_allocator_default(), node, 8));
    groups = bm_node_groups_of(&places, 1);
    for (int turn = 0; turn < 4; turn++) {
        struct bm_place_task task = {.scheme = BOUMA_PLACE_SPREAD,
                                     .ranks = 8,
                                     .places = &places,
                                     .turn = turn,
                                     .turns = 4};
        struct bm_assignment a;

        REQUIRE(!bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_PER_NODE,
                           &sizes, 1, 8));
        REQUIRE(!bm_place_chunks(&a, &task, &sizes));
        CHECK_EQ(a.files, 2);
        CHECK(a.writer[0] < 4 && a.writer[1] >= 4);
        taken[a.writer[0]]++;
        taken[a.writer[1]]++;
        bm_assignment_release(&a);
    }
    for (int i = 0; i < 8; i++)
        CHECK_EQ(taken[i], 1);
    bm_places_release(&places);
}

/* ---- particles ----------------------------------------------------------- */

static void particles_stay_on_nodes(const struct trial *t, uint64_t *random)
{
    struct bm_aggregation_spec spec = {.scheme = BOUMA_ASSIGN_PER_NODE,
                                       .ndims = 3,
                                       .bytes = 16,
                                       .ranks = t->ranks,
                                       .nodes = &t->groups};
    struct bm_unit units[MOST_RANKS] = {{.rank = 0}};
    struct bm_aggregation g;
    int64_t files = 0;

    for (int r = 0; r < t->ranks; r++) {
        units[r].rank = r;
        units[r].count = (uint64_t)check_below(random, 3);
        for (int d = 0; d < 3; d++) {
            units[r].low[d] = (double)check_below(random, 10);
            units[r].high[d] = units[r].low[d] + 1;
        }
    }
    REQUIRE(!bm_aggregate(&g, bm_allocator_default(), &spec, units,
                          (size_t)t->ranks));
    for (int i = 0; i < t->ranks; i++) {
        if (!units[i].count) {
            CHECK_EQ(g.file[i], BM_NO_FILE);
            continue;
        }
        files = (int64_t)g.file[i] + 1 > files ? (int64_t)g.file[i] + 1 : files;
        for (int k = 0; k < i; k++) {
            int mine = bm_node_group(&t->groups, i);
            int other = bm_node_group(&t->groups, k);

            if (units[k].count)
                CHECK((mine == other) == (g.file[i] == g.file[k]));
            if (units[k].count && mine != other)
                CHECK((mine < other) == (g.file[i] < g.file[k]));
        }
    }
    CHECK_EQ(files, g.files);
    bm_aggregation_release(&g);
}

/* ---- the ends ------------------------------------------------------------ */

/* A program that is alone, and ranks of which nothing is known, are one node. */
static void without_nodes_there_is_one_file(void)
{
    struct bm_places none = {0};
    struct bm_node_groups groups = bm_node_groups_of(&none, 1);
    const uint64_t bytes[3] = {1, 2, 3};
    const int owner[3] = {0, 0, 0};
    struct bm_chunk_sizes sizes = {
        .count = 3, .bytes = bytes, .owner = owner, .nodes = &groups};
    struct bm_place_task task = {
        .scheme = BOUMA_PLACE_SPREAD, .ranks = 1, .places = &none};

    for (int i = 0; i < 2; i++) {
        struct bm_assignment a;

        REQUIRE(!bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_PER_NODE,
                           &sizes, 5, 1));
        CHECK_EQ(a.files, 1);
        REQUIRE(!bm_place_chunks(&a, &task, &sizes));
        CHECK_EQ(a.writer[0], 0);
        bm_assignment_release(&a);
        sizes.nodes = NULL;
    }
}

/* 64 ranks a node, and one chunk each; 'apart' of them in turn. */
static void a_million_ranks(int in_turn, int per_file)
{
    const bouma_allocator *alloc = bm_allocator_default();
    int nodes = MILLION / 64, groups_wanted = (nodes - 1) / per_file + 1;
    uint64_t *node = malloc(MILLION * sizeof(*node));
    uint64_t *bytes = malloc(MILLION * sizeof(*bytes));
    int *owner = malloc(MILLION * sizeof(*owner));
    struct bm_places places;
    struct bm_node_groups groups;
    struct bm_chunk_sizes sizes = {
        .count = MILLION, .bytes = bytes, .owner = owner, .nodes = &groups};
    struct bm_place_task task = {
        .scheme = BOUMA_PLACE_SPREAD, .ranks = MILLION, .places = &places};
    struct bm_assignment a;
    int wrong = 0;

    REQUIRE(node && bytes && owner);
    for (int r = 0; r < MILLION; r++) {
        node[r] = (uint64_t)(in_turn ? r % nodes : r / 64);
        bytes[r] = 1000;
        owner[r] = r;
    }
    REQUIRE(!bm_places_init(&places, alloc, node, MILLION));
    groups = bm_node_groups_of(&places, per_file);
    REQUIRE(!bm_assign(&a, alloc, BOUMA_ASSIGN_PER_NODE, &sizes, 1, MILLION));
    REQUIRE(!bm_place_chunks(&a, &task, &sizes));
    CHECK_EQ(a.files, groups_wanted);
    for (int r = 0; r < MILLION; r++) {
        int64_t group = (int64_t)node[r] * groups_wanted / nodes;
        int64_t at = (int64_t)node[a.writer[group]] * groups_wanted / nodes;

        wrong += a.file[r] != group || at != group;
    }
    CHECK_EQ(wrong, 0);
    bm_assignment_release(&a);
    bm_places_release(&places);
    free(node);
    free(bytes);
    free(owner);
}

int main(void)
{
    uint64_t random = 20;

    for (int i = 0; i < 3000; i++) {
        struct trial t;

        make_trial(&t, &random);
        if (i % 10 == 0)
            groups_are_runs_of_nodes_that_are_alike(&t);
        files_and_writers_stay_on_nodes(&t, &random);
        senders_are_of_the_group(&t, &random);
        particles_stay_on_nodes(&t, &random);
        bm_places_release(&t.places);
    }
    objects_take_turns();
    without_nodes_there_is_one_file();
    a_million_ranks(0, 1);
    a_million_ranks(1, 1);
    a_million_ranks(0, 5);
    a_million_ranks(1, 16);
    return check_result();
}
