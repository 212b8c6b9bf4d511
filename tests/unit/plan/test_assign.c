/* Chunks to files and files to ranks: against trying all ways where there are
 * few, and the paper's words where there are many. */
#include "plan/assign.h"
#include "plan/placement.h"

#include "check.h"

static uint64_t file_bytes(const struct bm_assignment *a, const uint64_t *bytes,
                           int64_t f)
{
    uint64_t sum = 0;

    for (size_t i = a->first[f]; i < a->first[f + 1]; i++)
        sum += bytes[a->chunk[i]];
    return sum;
}

static uint64_t largest_file(const struct bm_assignment *a,
                             const uint64_t *bytes)
{
    uint64_t most = 0;

    for (int64_t f = 0; f < a->files; f++) {
        uint64_t n = file_bytes(a, bytes, f);

        most = n > most ? n : most;
    }
    return most;
}

/* Every chunk is in one file, first[] and file[] say the same, and the chunks
 * of a file keep their order. */
static void check_whole(const struct bm_assignment *a, size_t count)
{
    char *seen = calloc(count + 1, 1);

    REQUIRE(seen);
    CHECK_EQ(a->first[0], 0);
    CHECK_EQ(a->first[a->files], count);
    for (int64_t f = 0; f < a->files; f++) {
        CHECK(a->first[f] <= a->first[f + 1]);
        for (size_t i = a->first[f]; i < a->first[f + 1]; i++) {
            REQUIRE(a->chunk[i] < count);
            CHECK_EQ(a->file[a->chunk[i]], f);
            CHECK(!seen[a->chunk[i]]);
            seen[a->chunk[i]] = 1;
            if (i > a->first[f])
                CHECK(a->chunk[i] > a->chunk[i - 1]);
        }
    }
    free(seen);
}

static void check_contiguous(const struct bm_assignment *a, size_t count)
{
    check_whole(a, count);
    for (size_t i = 0; i < count; i++)
        CHECK_EQ(a->chunk[i], i);
}

/* The smallest possible largest file, by trying every cut everywhere. */
static uint64_t try_all(const uint64_t *bytes, size_t count, int64_t files)
{
    uint64_t best = UINT64_MAX, sum = 0;

    if (files == 1) {
        for (size_t i = 0; i < count; i++)
            sum += bytes[i];
        return sum;
    }
    for (size_t i = 0; i <= count; i++) {
        uint64_t rest = try_all(bytes + i, count - i, files - 1);
        uint64_t worst = sum > rest ? sum : rest;

        best = worst < best ? worst : best;
        if (i < count)
            sum += bytes[i];
    }
    return best;
}

static uint64_t random_size(uint64_t *state, int kind)
{
    switch (kind) {
    case 0:
        return (uint64_t)check_below(state, 10);
    case 1: /* a few large ones */
        return (uint64_t)(check_below(state, 5) ? check_below(state, 20)
                                                : check_below(state, 1000));
    case 2: /* mostly nothing */
        return (uint64_t)(check_below(state, 3) ? 0 : check_below(state, 9));
    case 3:
        return 7;
    default: /* beyond 32 bits */
        return (uint64_t)check_below(state, (int64_t)1 << 40);
    }
}

static void optimal_is_the_best_there_is(void)
{
    uint64_t state = 15, bytes[9];
    int owner[9] = {0};

    for (int tries = 0; tries < 4000; tries++) {
        size_t count = 1 + (size_t)check_below(&state, 9);
        int64_t files = 1 + check_below(&state, 5);
        struct bm_chunk_sizes sizes = {
            .count = count, .bytes = bytes, .owner = owner};
        struct bm_assignment a;

        for (size_t i = 0; i < count; i++)
            bytes[i] = random_size(&state, tries % 5);
        REQUIRE(!bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_OPTIMAL,
                           &sizes, files, 4));
        CHECK_EQ(a.files, files < (int64_t)count ? files : (int64_t)count);
        check_contiguous(&a, count);
        CHECK_EQ(largest_file(&a, bytes), try_all(bytes, count, a.files));
        for (int64_t f = 0; f < a.files; f++)
            CHECK(a.first[f] < a.first[f + 1]); /* none is empty */
        bm_assignment_release(&a);
        bm_assignment_release(&a);
    }
}

/* What a run of chunks costs, with its tables. */
static uint64_t run_cost(const struct bm_chunk_sizes *s, size_t from, size_t to)
{
    uint64_t sum = 0;

    for (size_t i = from; i < to; i++) {
        int first = 1;

        for (size_t k = from; k < i; k++)
            first &= s->tables[k].section != s->tables[i].section;
        sum += s->bytes[i] + s->tables[i].bytes +
               (first ? s->tables[i].opening : 0);
    }
    return sum;
}

static uint64_t try_all_runs(const struct bm_chunk_sizes *s, size_t from,
                             int64_t files)
{
    uint64_t best = UINT64_MAX;

    if (files == 1)
        return run_cost(s, from, s->count);
    for (size_t to = from + 1; to + (size_t)files - 1 <= s->count; to++) {
        uint64_t rest = try_all_runs(s, to, files - 1);
        uint64_t own = run_cost(s, from, to);
        uint64_t worst = own > rest ? own : rest;

        best = worst < best ? worst : best;
    }
    return best;
}

/* Openings are no more than what the chunks before cost, as in tables. */
static void optimal_counts_tables(void)
{
    uint64_t state = 17, bytes[10];
    struct bm_chunk_table tables[10];
    int owner[10] = {0};

    for (int tries = 0; tries < 4000; tries++) {
        size_t count = 1 + (size_t)check_below(&state, 10);
        int64_t files = 1 + check_below(&state, 5);
        struct bm_chunk_sizes sizes = {.count = count,
                                       .bytes = bytes,
                                       .owner = owner,
                                       .tables = tables,
                                       .sections = 4};
        struct bm_assignment a;
        uint64_t largest = 0;

        for (size_t i = 0; i < count; i++) {
            bytes[i] = random_size(&state, tries % 5);
            tables[i].section = (uint32_t)check_below(&state, 4);
            tables[i].opening = 10 + (uint32_t)check_below(&state, 4);
            tables[i].bytes = 4 + (uint32_t)check_below(&state, 30);
        }
        REQUIRE(!bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_OPTIMAL,
                           &sizes, files, 4));
        check_contiguous(&a, count);
        for (int64_t f = 0; f < a.files; f++) {
            uint64_t cost = run_cost(&sizes, a.first[f], a.first[f + 1]);

            CHECK(a.first[f] < a.first[f + 1]);
            largest = cost > largest ? cost : largest;
        }
        CHECK_EQ(largest, try_all_runs(&sizes, 0, a.files));
        bm_assignment_release(&a);
    }
}

/* No chunk is more than a hundredth of a file: files are within 1 %. */
static void optimal_files_are_even_where_chunks_are_small(void)
{
    size_t count = 200000;
    uint64_t *bytes = malloc(count * sizeof(*bytes)), state = 16;
    int *owner = calloc(count, sizeof(*owner));

    REQUIRE(bytes && owner);
    for (int kind = 0; kind < 3; kind++)
        for (int64_t files = 1; files <= 400; files = files * 7 + 3) {
            struct bm_chunk_sizes sizes = {
                .count = count, .bytes = bytes, .owner = owner};
            struct bm_assignment a;
            uint64_t total = 0, most = 0, mean;

            for (size_t i = 0; i < count; i++) {
                uint64_t n = (uint64_t)check_below(&state, 1000) + 1;

                if (kind == 1) /* grows along the order */
                    n = 1 + i / 100 + n / 10;
                if (kind == 2) /* waves */
                    n = 10 + 1000 * (i / 5000 % 2) + n / 50;
                bytes[i] = n;
                total += n;
                most = n > most ? n : most;
            }
            mean = total / (uint64_t)files;
            REQUIRE(most <= mean / 100);
            REQUIRE(!bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_OPTIMAL,
                               &sizes, files, 64));
            check_contiguous(&a, count);
            CHECK((double)largest_file(&a, bytes) <= 1.01 * (double)mean);
            /* Not only the largest: none is much smaller, either. */
            for (int64_t f = 0; f < files; f++)
                CHECK((double)file_bytes(&a, bytes, f) >= 0.98 * (double)mean);
            bm_assignment_release(&a);
        }
    free(bytes);
    free(owner);
}

/* Paper 000, section IV-C2, word by word: "keep a running total of compressed
 * patch sizes and progress to the next aggregator process whenever this value
 * exceeds a running average (the remaining data divided by the number of
 * remaining aggregators). When the running sum runs over, we assign the patches
 * in the running sum to the current aggregator and reset our running sum". */
static void paper_running(int *file, const uint64_t *bytes, size_t count,
                          int files)
{
    uint64_t remaining = 0, running = 0;
    int aggregator = 0;

    for (size_t i = 0; i < count; i++)
        remaining += bytes[i];
    for (size_t i = 0; i < count; i++) {
        file[i] = aggregator;
        running += bytes[i];
        /* running > remaining / left, without rounding */
        if (running * (uint64_t)(files - aggregator) > remaining &&
            aggregator < files - 1) {
            aggregator++;
            remaining -= running;
            running = 0;
        }
    }
}

static void running_does_what_the_paper_says(void)
{
    uint64_t state = 17, bytes[60];
    int owner[60] = {0}, file[60];

    for (int tries = 0; tries < 3000; tries++) {
        size_t count = 1 + (size_t)check_below(&state, 60);
        int files = 1 + (int)check_below(&state, (int64_t)count);
        struct bm_chunk_sizes sizes = {
            .count = count, .bytes = bytes, .owner = owner};
        struct bm_assignment a;

        for (size_t i = 0; i < count; i++)
            bytes[i] = random_size(&state, tries % 5);
        paper_running(file, bytes, count, files);
        REQUIRE(!bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_RUNNING,
                           &sizes, files, 4));
        CHECK_EQ(a.files, files);
        check_contiguous(&a, count);
        for (size_t i = 0; i < count; i++)
            CHECK_EQ(a.file[i], file[i]);
        bm_assignment_release(&a);
    }
}

static void running_by_hand(void)
{
    /* 20 bytes in 3 files: 6.67 is exceeded by 4 + 3; then 13 / 2 = 6.5 by
     * 1 + 6; the rest is 6. */
    uint64_t bytes[6] = {4, 3, 1, 6, 2, 4};
    int owner[6] = {0};
    struct bm_chunk_sizes sizes = {.count = 6, .bytes = bytes, .owner = owner};
    static const size_t first[4] = {0, 2, 4, 6};
    struct bm_assignment a;

    REQUIRE(!bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_RUNNING, &sizes,
                       3, 1));
    for (int f = 0; f < 4; f++)
        CHECK_EQ(a.first[f], first[f]);
    bm_assignment_release(&a);
}

static void counts_differ_by_one_at_most(void)
{
    uint64_t bytes[50] = {0};
    int owner[50] = {0};

    for (size_t count = 1; count <= 50; count++)
        for (int64_t files = 1; files <= 60; files++) {
            struct bm_chunk_sizes sizes = {
                .count = count, .bytes = bytes, .owner = owner};
            struct bm_assignment a;

            REQUIRE(!bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_COUNT,
                               &sizes, files, 1));
            CHECK_EQ(a.files, files < (int64_t)count ? files : (int64_t)count);
            check_contiguous(&a, count);
            for (int64_t f = 0; f < a.files; f++) {
                size_t n = a.first[f + 1] - a.first[f];

                CHECK(n == count / (size_t)a.files ||
                      n == count / (size_t)a.files + 1);
            }
            bm_assignment_release(&a);
        }
}

static void per_rank_makes_a_file_for_each_owner(void)
{
    uint64_t bytes[7] = {1, 2, 3, 4, 5, 6, 7};
    int owner[7] = {5, 2, 5, 9, 2, 2, 5};
    static const uint32_t file[7] = {1, 0, 1, 2, 0, 0, 1};
    struct bm_chunk_sizes sizes = {.count = 7, .bytes = bytes, .owner = owner};
    struct bm_assignment a;

    REQUIRE(!bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_PER_RANK,
                       &sizes, 77, 10));
    CHECK_EQ(a.files, 3);
    check_whole(&a, 7);
    for (int i = 0; i < 7; i++)
        CHECK_EQ(a.file[i], file[i]);
    bm_assignment_release(&a);
}

/* By default: where each rank has a file, and none has a tenth more than the
 * mean. */
static void ranks_with_equal_loads_keep_what_they_have(void)
{
    struct {
        uint64_t bytes[4];
        int owner[4];
        int ranks;
        int64_t files;
        bouma_assign choice, settled;
    } cases[] = {
        {{100, 100, 100, 100}, {0, 1, 2, 3}, 4, 4, 0, BOUMA_ASSIGN_PER_RANK},
        {{60, 110, 110, 60}, {0, 1, 2, 0}, 3, 3, 0, BOUMA_ASSIGN_PER_RANK},
        {{100, 80, 100, 112}, {0, 1, 2, 3}, 4, 4, 0, BOUMA_ASSIGN_OPTIMAL},
        {{100, 100, 100, 100}, {0, 1, 2, 3}, 4, 3, 0, BOUMA_ASSIGN_OPTIMAL},
        {{100, 100, 100, 100}, {0, 1, 2, 3}, 4, 5, 0, BOUMA_ASSIGN_OPTIMAL},
        {{100, 100, 100, 100}, {0, 1, 2, 2}, 4, 4, 0, BOUMA_ASSIGN_OPTIMAL},
        {{100, 100, 100, 100},
         {0, 1, 2, 3},
         4,
         4,
         BOUMA_ASSIGN_OPTIMAL,
         BOUMA_ASSIGN_OPTIMAL},
        {{100, 100, 100, 100},
         {0, 1, 2, 3},
         4,
         4,
         BOUMA_ASSIGN_COUNT,
         BOUMA_ASSIGN_COUNT},
        {{100, 100, 100, 100},
         {0, 1, 2, 3},
         4,
         4,
         BOUMA_ASSIGN_SPLIT,
         BOUMA_ASSIGN_OPTIMAL},
        {{0, 0, 0, 0}, {0, 1, 2, 3}, 4, 4, 0, BOUMA_ASSIGN_PER_RANK},
        {{UINT64_MAX / 4, UINT64_MAX / 4, UINT64_MAX / 4, UINT64_MAX / 4},
         {0, 1, 2, 3},
         4,
         4,
         0,
         BOUMA_ASSIGN_PER_RANK}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bm_chunk_sizes sizes = {
            .count = 4, .bytes = cases[i].bytes, .owner = cases[i].owner};
        struct bm_rank_loads loads;

        REQUIRE(!bm_rank_loads_of(&loads, bm_allocator_default(), &sizes,
                                  cases[i].ranks));
        CHECK_EQ(bm_assign_settle(cases[i].choice, cases[i].files, &loads),
                 cases[i].settled);
    }
}

static void single_is_one_file(void)
{
    uint64_t bytes[3] = {9, 9, 9};
    int owner[3] = {0, 1, 2};
    struct bm_chunk_sizes sizes = {.count = 3, .bytes = bytes, .owner = owner};
    struct bm_assignment a;

    REQUIRE(!bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_SINGLE, &sizes,
                       8, 3));
    CHECK_EQ(a.files, 1);
    check_contiguous(&a, 3);
    bm_assignment_release(&a);
}

/* A dataset has one option for grids and particles. */
static void schemes_of_particles_are_the_optimal_one(void)
{
    uint64_t state = 18, bytes[60];
    int owner[60] = {0};

    for (int tries = 0; tries < 300; tries++) {
        size_t count = 1 + (size_t)check_below(&state, 60);
        int64_t files = 1 + check_below(&state, 12);
        struct bm_chunk_sizes sizes = {
            .count = count, .bytes = bytes, .owner = owner};
        struct bm_assignment a, b;

        for (size_t i = 0; i < count; i++)
            bytes[i] = random_size(&state, tries % 5);
        REQUIRE(!bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_OPTIMAL,
                           &sizes, files, 1));
        for (int scheme = BOUMA_ASSIGN_KDTREE; scheme <= BOUMA_ASSIGN_SPLIT;
             scheme++) {
            REQUIRE(!bm_assign(&b, bm_allocator_default(), (bouma_assign)scheme,
                               &sizes, files, 1));
            CHECK_EQ(b.files, a.files);
            CHECK(!memcmp(a.file, b.file, count * sizeof(*a.file)));
            bm_assignment_release(&b);
        }
        bm_assignment_release(&a);
    }
}

static void no_chunks_and_no_bytes_are_no_trouble(void)
{
    uint64_t zeros[5] = {0};
    int owner[5] = {0, 1, 0, 1, 0};

    for (int scheme = BOUMA_ASSIGN_OPTIMAL; scheme <= BOUMA_ASSIGN_SPLIT;
         scheme++)
        for (size_t count = 0; count <= 5; count += 5)
            for (int64_t files = 0; files <= 4; files++) {
                struct bm_chunk_sizes sizes = {
                    .count = count, .bytes = zeros, .owner = owner};
                struct bm_assignment a;

                REQUIRE(!bm_assign(&a, bm_allocator_default(),
                                   (bouma_assign)scheme, &sizes, files, 2));
                check_whole(&a, count);
                CHECK(a.files >=
                      (scheme == BOUMA_ASSIGN_PER_RANK && !count ? 0 : 1));
                bm_assignment_release(&a);
            }
}

static void wrong_questions_are_refused(void)
{
    uint64_t bytes[1] = {1};
    int owner[1] = {0};
    struct bm_chunk_sizes sizes = {.count = 1, .bytes = bytes, .owner = owner},
                          many = {.count = 0, .bytes = bytes, .owner = owner};
    struct bm_assignment a;

    many.count = (size_t)UINT32_MAX + 1;
    CHECK_EQ(
        bm_assign(&a, bm_allocator_default(), (bouma_assign)0, &sizes, 1, 1),
        BOUMA_EINVAL);
    CHECK_EQ(
        bm_assign(&a, bm_allocator_default(), (bouma_assign)10, &sizes, 1, 1),
        BOUMA_EINVAL);
    CHECK_EQ(
        bm_assign(&a, bm_allocator_default(), BOUMA_ASSIGN_COUNT, &many, 1, 1),
        BOUMA_ELIMIT);
    bm_assignment_release(&a);
}

static void the_number_of_files_is_chosen_well(void)
{
    const uint64_t mib = (uint64_t)1 << 20;

    CHECK_EQ(bm_assign_files(1000 * mib, 5000, 512, 7, 0), 7);
    CHECK_EQ(bm_assign_files(1000 * mib, 5, 512, 7, 0), 5);
    CHECK_EQ(bm_assign_files(640 * mib, 5000, 512, 0, 0), 10);
    CHECK_EQ(bm_assign_files(640 * mib, 5000, 4, 0, 0), 4);
    CHECK_EQ(bm_assign_files(640 * mib, 5000, 512, 0, 128 * mib), 5);
    CHECK_EQ(bm_assign_files(1, 5000, 512, 0, 0), 1);
    CHECK_EQ(bm_assign_files(0, 0, 512, 0, 0), 1);
    CHECK_EQ(bm_assign_files(0, 0, 512, 8, 0), 1);
}

/* The files of each rank, by the formula and the other way round. */
static void the_files_of_a_rank_are_known(void)
{
    static const bouma_place places[] = {BOUMA_PLACE_SPREAD, BOUMA_PLACE_FIRST};

    for (int ranks = 1; ranks < 40; ranks++)
        for (int64_t files = 1; files < 90; files++)
            for (int k = 0; k < 2; k++) {
                const struct bm_placement *p = bm_placement_of(places[k]);
                int64_t next[40] = {0};

                for (int64_t f = 0; f < files; f++) {
                    int rank = p->formula(files, ranks, f);

                    CHECK_EQ(p->file_of(files, ranks, rank, next[rank]++), f);
                }
                for (int r = 0; r < ranks; r++)
                    CHECK_EQ(p->file_of(files, ranks, r, next[r]), -1);
            }
}

static void spread_files_lie_evenly_over_the_ranks(void)
{
    for (int ranks = 1; ranks < 40; ranks++)
        for (int64_t files = 1; files < 60; files++) {
            int count[40] = {0}, last = 0;

            for (int64_t f = 0; f < files; f++) {
                int rank = bm_spread_file(files, ranks, f);

                REQUIRE(rank >= 0 && rank < ranks);
                CHECK(rank >= last);
                /* Gaps are even, too. */
                if (f)
                    CHECK(rank - last == ranks / files ||
                          rank - last == (ranks + files - 1) / files);
                last = rank;
                count[rank]++;
                CHECK_EQ(bm_placement_of(BOUMA_PLACE_FIRST)
                             ->formula(files, ranks, f),
                         f % ranks);
            }
            for (int r = 0; r < ranks; r++)
                CHECK(count[r] >= files / ranks &&
                      count[r] <= (files + ranks - 1) / ranks);
        }
    CHECK_EQ(bm_spread_file(1 << 20, INT32_MAX, (1 << 20) - 1),
             INT32_MAX - 2048);
}

/* Chunks of 1 to 9 bytes; every third is fixed to one of two files. */
static void fixed_chunks_are_where_they_must_be(void)
{
    enum { COUNT = 60, FIXED = 2 };
    uint64_t bytes[COUNT], others[COUNT];
    uint32_t fixed[COUNT];
    int owner[COUNT];
    size_t n = 0;

    for (size_t i = 0; i < COUNT; i++) {
        bytes[i] = 1 + i * 7 % 9;
        owner[i] = (int)(i % 5);
        fixed[i] = i % 3 ? BM_ANY_FILE : (uint32_t)(i / 3 % FIXED);
        if (i % 3)
            others[n++] = bytes[i];
    }
    for (int scheme = BOUMA_ASSIGN_OPTIMAL; scheme <= BOUMA_ASSIGN_SPLIT;
         scheme++)
        for (int64_t files = 1; files < 8; files++) {
            struct bm_chunk_sizes all = {.count = COUNT,
                                         .bytes = bytes,
                                         .owner = owner,
                                         .fixed = fixed,
                                         .fixed_files = FIXED};
            struct bm_chunk_sizes some = {
                .count = n, .bytes = others, .owner = owner};
            struct bm_assignment a, b;

            REQUIRE(!bm_assign(&a, bm_allocator_default(), (bouma_assign)scheme,
                               &all, files, 5));
            check_whole(&a, COUNT);
            for (size_t i = 0; i < COUNT; i++)
                CHECK(i % 3 ? a.file[i] >= FIXED : a.file[i] == fixed[i]);
            if (scheme == BOUMA_ASSIGN_PER_RANK) { /* owners are others */
                bm_assignment_release(&a);
                continue;
            }
            REQUIRE(!bm_assign(&b, bm_allocator_default(), (bouma_assign)scheme,
                               &some, files - FIXED, 5));
            CHECK_EQ(a.files, FIXED + b.files);
            for (size_t i = 0, k = 0; i < COUNT; i++)
                if (i % 3)
                    CHECK_EQ(a.file[i], FIXED + b.file[k++]);
            bm_assignment_release(&a);
            bm_assignment_release(&b);
        }
}

int main(void)
{
    fixed_chunks_are_where_they_must_be();
    optimal_is_the_best_there_is();
    optimal_counts_tables();
    optimal_files_are_even_where_chunks_are_small();
    running_does_what_the_paper_says();
    running_by_hand();
    counts_differ_by_one_at_most();
    per_rank_makes_a_file_for_each_owner();
    ranks_with_equal_loads_keep_what_they_have();
    single_is_one_file();
    schemes_of_particles_are_the_optimal_one();
    no_chunks_and_no_bytes_are_no_trouble();
    wrong_questions_are_refused();
    the_number_of_files_is_chosen_well();
    the_files_of_a_rank_are_known();
    spread_files_lie_evenly_over_the_ranks();
    return check_result();
}
