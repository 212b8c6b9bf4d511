/* test_mpi_local.c -- plans of which each rank knows what concerns it: letters
 * reach ranks that do not expect them, sums are those of the ranks before, and
 * what each rank finds is what a plan of all blocks says. */
#include "blocks.h"

#include "../helpers/decompose.h"
#include "../helpers/local_check.h"
#include "comm/comm_mpi.h"
#include "comm/sparse.h"
#include "write/plan_local.h"

/* ---- letters ------------------------------------------------------------- */

/* How many letters a rank has for another, and what is in them. */
static int letters_between(int from, int to, int turn)
{
    return (from * 7 + to * 3 + turn) % 5 == 0 ? 1 + (from + to) % 2 : 0;
}

static size_t letter_bytes(int from, int to, int k)
{
    return (size_t)((from * 31 + to * 17 + k * 1009) % 3000);
}

static void letters_come_to_those_who_do_not_expect_them(struct bm_comm *comm,
                                                         int turn)
{
    uint64_t values[2] = {(uint64_t)comm->rank, 3};
    struct bm_sparse_values said = {values, 2, 1};
    struct bm_error error = {0};
    struct bm_mail in, out;
    size_t next = 0;

    bm_mail_init(&in, comm->a);
    bm_mail_init(&out, comm->a);
    for (int to = comm->size - 1; to >= 0; to--)
        for (int k = 0; k < letters_between(comm->rank, to, turn); k++) {
            bm_mail_begin(&out, to);
            for (size_t i = 0; i < letter_bytes(comm->rank, to, k); i++)
                bm_put_u8(&out.data, (uint8_t)(i + (size_t)comm->rank + 99));
            bm_mail_end(&out);
        }
    CHECK_EQ(bm_comm_sparse(comm, &out, &in, &said, BOUMA_OK, &error),
             BOUMA_OK);
    CHECK_EQ(values[0], (uint64_t)comm->size - 1);
    CHECK_EQ(values[1], 3 * (uint64_t)comm->size);
    for (int from = 0; from < comm->size; from++)
        for (int k = 0; k < letters_between(from, comm->rank, turn); k++) {
            size_t bytes = letter_bytes(from, comm->rank, k), wrong = 0;
            struct bm_cursor c;

            REQUIRE(next < in.count);
            CHECK_EQ(in.letters[next].peer, from);
            CHECK_EQ(in.letters[next].bytes, bytes);
            c = bm_mail_read(&in, next++);
            for (size_t i = 0; i < bytes; i++)
                wrong += bm_get_u8(&c) != (uint8_t)(i + (size_t)from + 99);
            CHECK_EQ(wrong, 0);
        }
    CHECK_EQ(next, in.count);
    bm_mail_release(&in);
    bm_mail_release(&out);
}

/* It has told others already, and they hear it all the same. */
static void a_rank_that_fails_is_known_to_all(struct bm_comm *comm)
{
    uint64_t value = 0;
    struct bm_sparse_values said = {&value, 1, 1};

    for (int failing = 0; failing < comm->size; failing++) {
        struct bm_error error = {0};
        struct bm_mail in, out;
        int rc = BOUMA_OK;

        bm_mail_init(&in, comm->a);
        bm_mail_init(&out, comm->a);
        bm_mail_begin(&out, (comm->rank + 1) % comm->size);
        bm_put_u32(&out.data, 5);
        bm_mail_end(&out);
        if (comm->rank == failing)
            rc = bm_fail(&error, BOUMA_EIO, "it is number %d", failing);
        CHECK_EQ(bm_comm_sparse(comm, &out, &in, &said, rc, &error), BOUMA_EIO);
        CHECK_EQ(in.count, 0);
        CHECK(same_on_all(BOUMA_EIO, error.text));
        bm_mail_release(&in);
        bm_mail_release(&out);
    }
}

static void sums_are_those_of_the_ranks_before(struct bm_comm *comm)
{
    uint64_t rank = (uint64_t)comm->rank;
    struct bm_scan s = {.mine = {rank + 1, 1, rank * rank}};
    struct bm_error error = {0};
    uint64_t squares = 0;

    for (uint64_t r = 0; r < rank; r++)
        squares += r * r;
    CHECK_EQ(bm_comm_scan(comm, &s, 3, &error), BOUMA_OK);
    CHECK_EQ(s.before[0], rank * (rank + 1) / 2);
    CHECK_EQ(s.before[1], rank);
    CHECK_EQ(s.before[2], squares);
}

/* ---- plans --------------------------------------------------------------- */

static int by_rank(const void *left, const void *right)
{
    const struct bm_block *a = left, *b = right;

    return a->rank != b->rank ? a->rank - b->rank
                              : memcmp(&a->box, &b->box, sizeof(a->box));
}

/* The plan of this rank, whose blocks are some of these. */
static int plan(struct bm_local *l, struct bm_comm *comm,
                const struct bm_tiling *t, bouma_distribute scheme,
                const struct test_blocks *b, struct bm_box *boxes)
{
    struct bm_local_task task = {
        bm_chunking_of_tiling(t), scheme, comm->size, comm->rank, boxes, 0};
    struct bm_error error = {0};

    for (size_t i = 0; i < b->count; i++)
        if (b->blocks[i].rank == comm->rank)
            boxes[task.count++] = b->blocks[i].box;
    REQUIRE(!bm_local_init(l, comm->a, &task));
    return bm_local_run(l, comm, BOUMA_OK, &error);
}

static void ranks_find_what_the_whole_plan_says(struct bm_comm *comm)
{
    struct test_blocks *b = malloc(sizeof(*b));
    struct bm_box *boxes = malloc(MAX_TEST_BLOCKS * sizeof(*boxes));
    uint64_t state = 77;

    REQUIRE(b && boxes);
    for (int i = 0; i < 40; i++) {
        bouma_distribute scheme = (bouma_distribute)(BOUMA_DISTRIBUTE_BALANCED +
                                                     check_below(&state, 3));
        struct whole_plan w;
        struct bm_tiling t;
        struct bm_local l;

        random_tiling(&t, &state, 20);
        b->count = 0;
        cut_randomly(b, &state, bm_tiling_domain(&t),
                     (int)check_below(&state, 8), comm->size);
        qsort(b->blocks, b->count, sizeof(b->blocks[0]), by_rank);
        whole_plan_make(&w, bm_chunking_of_tiling(&t), scheme, comm->size,
                        b->blocks, b->count);
        REQUIRE(!plan(&l, comm, &t, scheme, b, boxes));
        check_local_result(&w, &l.result, comm->rank);
        CHECK_EQ(l.result.chunks->count, count_concerns(&w, comm->rank));
        bm_local_release(&l);
        whole_plan_release(&w);
        b->blocks[b->count / 2].box.hi[2]--; /* now a sample is missing */
        CHECK_EQ(plan(&l, comm, &t, scheme, b, boxes), BOUMA_ECOVER);
        bm_local_release(&l);
    }
    free(boxes);
    free(b);
}

int main(int argc, char **argv)
{
    struct bm_error error = {0};
    struct bm_comm *comm;
    struct ranks r;

    ranks_init(&r, &argc, &argv);
    REQUIRE(!bm_comm_mpi_new(&comm, bm_allocator_default(), MPI_COMM_WORLD, 250,
                             &error));
    for (int turn = 0; turn < 10; turn++)
        letters_come_to_those_who_do_not_expect_them(comm, turn);
    a_rank_that_fails_is_known_to_all(comm);
    sums_are_those_of_the_ranks_before(comm);
    ranks_find_what_the_whole_plan_says(comm);
    bm_comm_free(comm);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
