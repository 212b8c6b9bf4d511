/* test_mpi_common.c -- bytes that the first rank of a node makes are there on
 * all its ranks, in memory that they share; or in copies, if one of them cannot
 * map it. */
#include <sys/resource.h>
#include <unistd.h>

#include "blocks.h"

#include "../helpers/check.h"
#include "comm/comm_mpi.h"
#include "comm/common.h"
#include "fault_alloc.h"

static uint8_t byte_at(const struct bm_comm *comm, size_t i, int turn)
{
    int node = bm_places_node(&comm->places, comm->rank);

    return (uint8_t)(i * 7 + i / 253 + (size_t)(13 * turn + 5 * node));
}

/* One turn: the first fills it in, all see it. */
static void tell(struct bm_common *c, struct bm_comm *comm, size_t bytes,
                 int turn)
{
    struct bm_comm *near = bm_comm_near(comm);
    struct bm_error error = {0};
    size_t wrong = 0;

    if (near->rank == 0) {
        uint8_t *room = bm_common_room(c, bytes);

        REQUIRE(room);
        for (size_t i = 0; i < bytes; i++)
            room[i] = byte_at(comm, i, turn);
    }
    CHECK_EQ(bm_common_tell(c, near, BOUMA_OK, &error), BOUMA_OK);
    REQUIRE(c->data && c->bytes >= bytes);
    for (size_t i = 0; i < bytes; i++)
        wrong += c->data[i] != byte_at(comm, i, turn);
    CHECK_EQ(wrong, 0);
    /* Before the first may fill it in again. */
    CHECK_EQ(bm_comm_agree(near, BOUMA_OK, &error), BOUMA_OK);
}

static void all_ranks_of_a_node_see_what_the_first_made(struct bm_comm *comm)
{
    struct bm_common c;
    const uint8_t *at;

    bm_common_init(&c, comm->a);
    tell(&c, comm, 1000, 0);
    at = c.data;
    tell(&c, comm, 1000, 1);
    tell(&c, comm, 500, 2);
    CHECK(c.data == at); /* it has not moved, and nobody has mapped it again */
    tell(&c, comm, 100000, 3);
    CHECK(!c.unshared && c.shared.data && !c.copy);
    bm_common_release(&c);
}

/* Files up to those that are open, and no other. */
static rlim_t no_more_files(void)
{
    int next = dup(0);

    REQUIRE(next >= 0);
    close(next);
    return (rlim_t)next;
}

/* One that can open no file maps nothing: its node has copies then. */
static void who_cannot_map_gets_a_copy(struct bm_comm *comm, int poor)
{
    struct bm_comm *near = bm_comm_near(comm);
    struct rlimit limit, none;
    struct bm_common c;

    bm_common_init(&c, comm->a);
    REQUIRE(!getrlimit(RLIMIT_NOFILE, &limit));
    none = limit;
    none.rlim_cur = no_more_files();
    if (near->rank == poor)
        REQUIRE(!setrlimit(RLIMIT_NOFILE, &none));
    tell(&c, comm, 3000, 0);
    tell(&c, comm, 3000, 1);
    tell(&c, comm, 70000, 2);
    REQUIRE(!setrlimit(RLIMIT_NOFILE, &limit));
    CHECK_EQ(c.unshared, poor < near->size && near->size > 1);
    CHECK_EQ(near->rank && c.copy, near->rank && c.unshared);
    tell(&c, comm, 90000, 3);
    bm_common_release(&c);
}

static void a_failure_of_one_is_that_of_its_node(struct bm_comm *comm)
{
    struct bm_comm *near = bm_comm_near(comm);

    for (int failing = 0; failing < near->size; failing++) {
        struct bm_error error = {0};
        struct bm_common c;
        int rc = BOUMA_OK;

        bm_common_init(&c, comm->a);
        if (near->rank == 0)
            REQUIRE(bm_common_room(&c, 100));
        if (near->rank == failing)
            rc = bm_fail(&error, BOUMA_EIO, "it is number %d", failing);
        CHECK_EQ(bm_common_tell(&c, near, rc, &error), BOUMA_EIO);
        CHECK_TEXT(error.text, "it is number");
        bm_common_release(&c);
    }
}

/* Copies need memory, which a rank may not have. */
static void a_lack_of_memory_is_that_of_its_node(struct bm_comm *comm)
{
    struct bm_comm *near = bm_comm_near(comm);
    struct fault_alloc memory;
    struct bm_error error = {0};
    struct bm_common c;
    int rc = BOUMA_OK;

    fault_alloc_init(&memory);
    bm_common_init(&c, &memory.table);
    c.unshared = 1;
    if (near->rank == near->size - 1)
        fault_alloc_arm(&memory, 1, 1);
    if (near->rank == 0 && !bm_common_room(&c, 100))
        rc = bm_fail(&error, BOUMA_ENOMEM, "no memory");
    CHECK_EQ(bm_common_tell(&c, near, rc, &error), BOUMA_ENOMEM);
    bm_common_release(&c);
    CHECK_EQ(memory.live, 0);
}

/* What all ranks have, on the first of each node. */
static void the_first_of_each_node_gets_what_all_have(struct bm_comm *comm)
{
    size_t *sizes = calloc((size_t)comm->size, sizeof(*sizes)), n = 0;
    int leads = bm_comm_leads(comm);
    struct bm_error error = {0};
    struct bm_buffer mine, all;

    REQUIRE(sizes);
    bm_buffer_init(&mine, comm->a);
    bm_buffer_init(&all, comm->a);
    for (int i = 0; i < 100 * comm->rank; i++)
        bm_put_u32(&mine, (uint32_t)(comm->rank + i));
    CHECK_EQ(bm_comm_collect_at_nodes(comm, &mine, &all, leads ? sizes : NULL,
                                      BOUMA_OK, &error),
             BOUMA_OK);
    for (int r = 0; r < comm->size && leads; r++) {
        CHECK_EQ(sizes[r], 400 * (size_t)r);
        for (int i = 0; i < 100 * r; i++, n += 4)
            CHECK_EQ(bm_load_u32(all.data + n), (uint32_t)(r + i));
    }
    CHECK_EQ(all.size, n);
    for (int failing = 0; failing < comm->size; failing++) {
        int rc = comm->rank == failing
                     ? bm_fail(&error, BOUMA_EIO, "it is %d", failing)
                     : BOUMA_OK;

        CHECK_EQ(bm_comm_collect_at_nodes(comm, &mine, &all,
                                          leads ? sizes : NULL, rc, &error),
                 BOUMA_EIO);
    }
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    free(sizes);
}

int main(int argc, char **argv)
{
    struct bm_error error = {0};
    struct bm_comm *comm;
    struct ranks ranks;

    ranks_init(&ranks, &argc, &argv);
    REQUIRE(!bm_comm_mpi_new(&comm, bm_allocator_default(), MPI_COMM_WORLD, 250,
                             &error));
    for (int how = 0; how < 4; how++) {
        int node = how == 0   ? 0
                   : how == 1 ? ranks.rank / 3
                   : how == 2 ? ranks.rank % 2
                              : ranks.rank;

        CHECK_EQ(bm_comm_settle(comm, 1 + (uint64_t)node, &error), BOUMA_OK);
        the_first_of_each_node_gets_what_all_have(comm);
        if (bm_comm_near(comm)->size == 1)
            continue;
        all_ranks_of_a_node_see_what_the_first_made(comm);
        for (int poor = 0; poor < 3; poor++)
            who_cannot_map_gets_a_copy(comm, poor);
        a_failure_of_one_is_that_of_its_node(comm);
        a_lack_of_memory_is_that_of_its_node(comm);
    }
    bm_comm_free(comm);
    return ranks_end(&ranks, check_counts()->failed, check_counts()->checks);
}
