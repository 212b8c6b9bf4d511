/* test_mpi_together.c -- what all ranks do together, whichever nodes they are
 * on, and whichever of them has something to say: it is right, and no rank gets
 * more messages for it than it has children in the tree, however many ranks
 * there are. */
#include "../shim/mpi_shim.h"
#include "life.h"

#include "../helpers/check.h"
#include "comm/comm_mpi.h"
#include "dataset/dataset.h"

/* ---- places ------------------------------------------------------------- */

enum { ONE_NODE, BLOCKS, ROUND_ROBIN, ALONE, PLACES };

static void settle(struct bm_comm *comm, int how)
{
    struct bm_error error = {0};
    uint64_t rank = (uint64_t)comm->rank;
    uint64_t node = how == ONE_NODE      ? 0
                    : how == BLOCKS      ? rank / 3
                    : how == ROUND_ROBIN ? rank % 3
                                         : rank;

    CHECK_EQ(bm_comm_settle(comm, node + 1, &error), BOUMA_OK);
    CHECK_EQ(bm_comm_near(comm)->size == comm->size,
             how == ONE_NODE || comm->size == 1 ||
                 (how == BLOCKS && comm->size <= 3));
}

/* ---- it is right -------------------------------------------------------- */

static void the_largest_and_the_sum_are_known_to_all(struct bm_comm *comm)
{
    struct bm_error error = {0};
    uint64_t ranks = (uint64_t)comm->size;
    uint64_t v[3] = {(uint64_t)comm->rank, ranks - (uint64_t)comm->rank,
                     (uint64_t)comm->rank + 1};

    CHECK_EQ(bm_comm_reduce(comm, v, 3, 1, &error), BOUMA_OK);
    CHECK_EQ(v[0], ranks - 1);
    CHECK_EQ(v[1], ranks);
    CHECK_EQ(v[2], ranks * (ranks + 1) / 2);
}

/* Its text goes up the tree, and down to all. */
static void any_rank_can_fail(struct bm_comm *comm)
{
    for (int failing = 0; failing < comm->size; failing++) {
        struct bm_error error = {0};
        char text[64];
        int rc = BOUMA_OK;

        snprintf(text, sizeof(text), "it is number %d", failing);
        if (comm->rank == failing)
            rc = bm_fail(&error, BOUMA_EIO, "%s", text);
        CHECK_EQ(bm_comm_agree(comm, rc, &error), BOUMA_EIO);
        CHECK_TEXT(error.text, text);
    }
}

static size_t bytes_of(int rank, int many)
{
    return rank % 4 == 2 ? 0
           : many        ? (size_t)rank * 7919 % 90000
                         : (size_t)rank % 23;
}

static uint8_t byte_of(int rank, size_t i)
{
    return (uint8_t)((size_t)rank * 31 + i * 7 + i / 251);
}

static void fill(struct bm_buffer *b, int rank, size_t bytes)
{
    uint8_t *data = bm_buffer_extend(b, bytes);

    for (size_t i = 0; i < bytes; i++)
        data[i] = byte_of(rank, i);
}

static void all_get_what_all_have(struct bm_comm *comm, int many)
{
    struct bm_error error = {0};
    size_t *sizes = malloc((size_t)comm->size * sizeof(*sizes)), at = 0;
    struct bm_buffer mine, all;
    int wrong = 0;

    REQUIRE(sizes);
    bm_buffer_init(&mine, comm->a);
    bm_buffer_init(&all, comm->a);
    fill(&mine, comm->rank, bytes_of(comm->rank, many));
    CHECK_EQ(bm_comm_collect(comm, &mine, &all, sizes, BOUMA_OK, &error),
             BOUMA_OK);
    for (int r = 0; r < comm->size; r++) {
        wrong += sizes[r] != bytes_of(r, many);
        for (size_t i = 0; i < sizes[r] && !wrong; i++)
            wrong += all.data[at + i] != byte_of(r, i);
        at += sizes[r];
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(at, all.size);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    free(sizes);
}

/* In any order: who it is from comes along. */
static void the_root_gets_what_all_have(struct bm_comm *comm, int many)
{
    struct bm_error error = {0};
    struct bm_buffer mine, all;
    struct bm_cursor c;
    int wrong = 0, seen = 0;

    bm_buffer_init(&mine, comm->a);
    bm_buffer_init(&all, comm->a);
    bm_put_u32(&mine, (uint32_t)comm->rank);
    fill(&mine, comm->rank, bytes_of(comm->rank, many));
    CHECK_EQ(bm_comm_collect_at_root(comm, &mine, &all, BOUMA_OK, &error),
             BOUMA_OK);
    c = bm_cursor_of(all.data, comm->rank ? 0 : all.size);
    for (; bm_cursor_left(&c) && !wrong; seen++) {
        int r = (int)bm_get_u32(&c);

        for (size_t i = 0; i < bytes_of(r, many); i++)
            wrong += bm_get_u8(&c) != byte_of(r, i);
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(seen, comm->rank ? 0 : comm->size);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
}

/* ---- and takes few messages --------------------------------------------- */

static long receives(void)
{
    return shim_count(SHIM_Irecv);
}

static void nobody_gets_many_messages(struct bm_comm *comm)
{
    const struct bm_family *f = &((struct bm_mpi_comm *)comm)->family;
    uint64_t v = 1, *all = malloc((size_t)comm->size * sizeof(*all));
    int up = f->parent >= 0;

    REQUIRE(all);
    CHECK(f->count <= BM_TREE_CHILDREN);
    shim_arm(SHIM_Irecv, SHIM_NOTHING, 0);
    CHECK_EQ(comm->functions->reduce(comm, &v, 1, 0), 0);
    CHECK_EQ(receives(), f->count + up);
    shim_arm(SHIM_Irecv, SHIM_NOTHING, 0);
    CHECK_EQ(comm->functions->broadcast(comm, &v, sizeof(v), 0), 0);
    CHECK_EQ(receives(), up);
    /* How much comes, and that. */
    shim_arm(SHIM_Irecv, SHIM_NOTHING, 0);
    CHECK_EQ(comm->functions->gather(comm, &v, sizeof(v), all), 0);
    CHECK_EQ(receives(), 2 * f->count);
    shim_release();
    free(all);
}

/* ---- a step --------------------------------------------------------------- */

/* What is counted of a step, beside what the shim counts. */
struct counter {
    const struct bm_comm_functions *real;
    struct bm_comm_functions counting;
    long reductions, gathers, broadcasts, exchanged, heard;
    long full; /* messages at most, of what is long */
};

static struct counter *counter(void)
{
    static struct counter c;

    return &c;
}

static int count_reduce(struct bm_comm *comm, uint64_t *values, int count,
                        int sums)
{
    counter()->reductions++;
    return counter()->real->reduce(comm, values, count, sums);
}

static int count_gather(struct bm_comm *comm, const void *data, size_t bytes,
                        void *all)
{
    counter()->gathers++;
    counter()->full += (long)(bytes * (size_t)comm->size / BM_MPI_RELAY);
    return counter()->real->gather(comm, data, bytes, all);
}

static int count_broadcast(struct bm_comm *comm, void *data, size_t bytes,
                           int root)
{
    counter()->broadcasts++;
    counter()->full += (long)(bytes / BM_MPI_RELAY);
    return counter()->real->broadcast(comm, data, bytes, root);
}

static int count_exchange(struct bm_comm *comm, const struct bm_message *sends,
                          size_t send_count, const struct bm_message *messages,
                          size_t count)
{
    counter()->exchanged += (long)count;
    return counter()->real->exchange(comm, sends, send_count, messages, count);
}

static int count_hear(struct bm_comm *comm, struct bm_signal *signal,
                      int *heard)
{
    int rc = counter()->real->hear(comm, signal, heard);

    counter()->heard += *heard;
    return rc;
}

static void count_calls(struct bm_comm *comm)
{
    struct counter *c = counter();

    memset(c, 0, sizeof(*c));
    c->real = comm->functions;
    c->counting = *c->real;
    c->counting.reduce = count_reduce;
    c->counting.gather = count_gather;
    c->counting.broadcast = count_broadcast;
    c->counting.exchange = count_exchange;
    c->counting.hear = count_hear;
    comm->functions = &c->counting;
}

/* The second, which has the plan and the buffers of the first. Beside what all
 * do together there are pieces that come for a rank's own files. */
static void a_step_takes_few_messages_of_all(const struct ranks *r)
{
    const struct counter *c = counter();
    const struct bm_family *f;
    struct life l;
    long together;

    life_init(&l, r, 0);
    CHECK_EQ(life_act(&l, LIFE_CREATE), BOUMA_OK);
    CHECK_EQ(life_act(&l, LIFE_FIRST_STEP), BOUMA_OK);
    f = &((struct bm_mpi_comm *)l.ds->comm)->family;
    count_calls(l.ds->comm);
    shim_arm(SHIM_Irecv, SHIM_NOTHING, 0);
    CHECK_EQ(life_act(&l, LIFE_SECOND_STEP), BOUMA_OK);
    together = receives() - c->exchanged - c->heard;
    shim_release();
    l.ds->comm->functions = c->real;
    CHECK(c->reductions > 5 && c->gathers > 0);
    CHECK(together <= (c->reductions + 2 * c->gathers) * f->count +
                          (f->parent >= 0) * (c->reductions + c->broadcasts) +
                          c->full);
    if (r->rank == 0)
        printf("rank 0 of %d: %ld receives for %ld reductions, %ld gathers and "
               "%ld broadcasts; %ld for its files\n",
               r->size, together, c->reductions, c->gathers, c->broadcasts,
               c->exchanged + c->heard);
    CHECK_EQ(life_act(&l, LIFE_CLOSE), BOUMA_OK);
    life_end(&l, 0);
}

int main(int argc, char **argv)
{
    struct bm_error error = {0};
    struct bm_comm *comm;
    struct ranks r;

    ranks_init(&r, &argc, &argv);
    REQUIRE(!bm_comm_mpi_new(&comm, bm_allocator_default(), MPI_COMM_WORLD, 250,
                             &error));
    for (int how = 0; how < PLACES; how++) {
        settle(comm, how);
        the_largest_and_the_sum_are_known_to_all(comm);
        any_rank_can_fail(comm);
        for (int many = 0; many < 2; many++) {
            all_get_what_all_have(comm, many);
            the_root_gets_what_all_have(comm, many);
        }
        comm->message_bytes = 37;
        all_get_what_all_have(comm, 0);
        comm->message_bytes = (size_t)1 << 30;
        nobody_gets_many_messages(comm);
    }
    bm_comm_free(comm);
    a_step_takes_few_messages_of_all(&r);
    return ranks_end(&r, check_counts()->failed, check_counts()->checks);
}
