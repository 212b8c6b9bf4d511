/* A rank finds the files that it has to do with as if it had looked at all of
 * them, and in few steps however many ranks there are. */
#include "plan/concern.h"

#include "check.h"
#include "fault_alloc.h"

/* Chunks of equal size, each of the rank that comes next; their files. */
struct step {
    struct bm_assignment files;
    struct bm_writers writers;
    uint64_t *bytes;
    int *owner;
    size_t *mine; /* of one rank */
    size_t count;
    int ranks;
};

enum { SPREAD, FIRST, ANY, PLACES };

static int writer_of(int place, int64_t files, int ranks, int64_t f)
{
    uint64_t random = (uint64_t)f * 7 + 3;

    return place == SPREAD  ? bm_spread_file(files, ranks, f)
           : place == FIRST ? (int)(f % ranks)
                            : (int)check_below(&random, (uint64_t)ranks);
}

static void make_step(struct step *s, int ranks, size_t each, int64_t files,
                      bouma_assign scheme, int place)
{
    const bouma_allocator *a = bm_allocator_default();
    struct bm_chunk_sizes sizes = {.count = (size_t)ranks * each};

    s->ranks = ranks;
    s->bytes = bm_new(a, sizes.count, sizeof(*s->bytes));
    s->owner = bm_new(a, sizes.count, sizeof(*s->owner));
    s->mine = bm_new(a, each, sizeof(*s->mine));
    s->count = each;
    REQUIRE(s->bytes && s->owner && s->mine);
    for (size_t i = 0; i < sizes.count; i++) {
        s->bytes[i] = 1000;
        s->owner[i] = (int)(i / each);
    }
    sizes.bytes = s->bytes;
    sizes.owner = s->owner;
    REQUIRE(!bm_assign(&s->files, a, scheme, &sizes, files, ranks));
    s->files.writer =
        bm_new(a, (size_t)s->files.files, sizeof(*s->files.writer));
    REQUIRE(s->files.writer);
    for (int64_t f = 0; f < s->files.files; f++)
        s->files.writer[f] = writer_of(place, s->files.files, ranks, f);
    REQUIRE(!bm_writers_init(&s->writers, &s->files));
}

static void end_step(struct step *s)
{
    const bouma_allocator *a = bm_allocator_default();

    bm_writers_release(&s->writers);
    bm_assignment_release(&s->files);
    bm_drop(a, s->bytes);
    bm_drop(a, s->owner);
    bm_drop(a, s->mine);
}

static void take_rank(struct step *s, int rank)
{
    for (size_t i = 0; i < s->count; i++)
        s->mine[i] = (size_t)rank * s->count + i;
}

/* By looking at all. */
static int is_own(const struct step *s, int rank, int64_t f)
{
    if (s->files.writer[f] == rank)
        return 1;
    for (size_t t = s->files.first[f]; t < s->files.first[f + 1]; t++)
        if (s->owner[s->files.chunk[t]] == rank)
            return 1;
    return 0;
}

static int is_concerned(const struct step *s, int rank, int64_t f)
{
    for (int64_t g = 0; g < s->files.files; g++)
        if (s->files.writer[g] == s->files.writer[f] && is_own(s, rank, g))
            return 1;
    return 0;
}

static void check_rank(struct step *s, int rank)
{
    struct bm_concerns c;
    size_t n = 0;
    int wrong = 0;

    take_rank(s, rank);
    REQUIRE(!bm_concerns_init(&c, &s->writers, rank, s->mine, s->count));
    for (int64_t f = 0; f < s->files.files; f++) {
        if (!is_concerned(s, rank, f))
            continue;
        wrong += n >= c.count || c.each[n].file != (uint32_t)f ||
                 c.each[n].own != is_own(s, rank, f);
        n++;
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(n, c.count);
    bm_concerns_release(&c);
}

static void all_files_of_its_writers_concern_a_rank(void)
{
    static const bouma_assign schemes[] = {
        BOUMA_ASSIGN_OPTIMAL, BOUMA_ASSIGN_PER_RANK, BOUMA_ASSIGN_SINGLE};

    for (int scheme = 0; scheme < 3; scheme++)
        for (int place = 0; place < PLACES; place++)
            for (int ranks = 1; ranks <= 13; ranks += 4)
                for (int64_t files = 1; files <= 20; files += 6) {
                    struct step s = {0};

                    make_step(&s, ranks, 3, files, schemes[scheme], place);
                    for (int rank = 0; rank < ranks; rank++)
                        check_rank(&s, rank);
                    end_step(&s);
                }
}

static void steps_do_not_grow_with_ranks(void)
{
    for (int place = 0; place < PLACES; place++) {
        struct step s = {0};
        uint64_t random = 3;
        size_t most = 0;

        make_step(&s, 1 << 17, 4, 1 << 12, BOUMA_ASSIGN_COUNT, place);
        for (int i = 0; i < 1000; i++) {
            int rank = (int)check_below(&random, 1 << 17);
            struct bm_concerns c;

            take_rank(&s, rank);
            REQUIRE(!bm_concerns_init(&c, &s.writers, rank, s.mine, s.count));
            CHECK(c.count >= 1);
            if (c.steps > most)
                most = c.steps;
            bm_concerns_release(&c);
        }
        /* Four chunks of one file or two, and their writers with their files.
         */
        CHECK(most <= 16);
        end_step(&s);
    }
}

static void every_failed_allocation_is_told_and_leaks_nothing(void)
{
    struct fault_alloc memory;
    int rc = BOUMA_ENOMEM, calls = 0;
    struct step s = {0};

    make_step(&s, 8, 3, 9, BOUMA_ASSIGN_OPTIMAL, ANY);
    take_rank(&s, 5);
    fault_alloc_init(&memory);
    for (; rc && calls < 20; calls++) {
        struct bm_assignment files = s.files;
        struct bm_writers w = {0};
        struct bm_concerns c = {0};

        files.a = &memory.table;
        fault_alloc_arm(&memory, calls + 1, 1);
        rc = bm_writers_init(&w, &files);
        if (!rc)
            rc = bm_concerns_init(&c, &w, 5, s.mine, s.count);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        bm_concerns_release(&c);
        bm_writers_release(&w);
        CHECK_EQ(memory.live, 0);
    }
    CHECK_EQ(rc, BOUMA_OK);
    CHECK(calls > 4);
    end_step(&s);
}

int main(void)
{
    all_files_of_its_writers_concern_a_rank();
    steps_do_not_grow_with_ranks();
    every_failed_allocation_is_told_and_leaks_nothing();
    return check_result();
}
