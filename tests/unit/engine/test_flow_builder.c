/* Flows are put together for those gatherers that there are, in any order, and
 * come sorted; what a rank has of them does not depend on how many ranks there
 * are. */
#include "engine/flow_builder.h"

#include "check.h"
#include "fault_alloc.h"

enum { RANKS = 1 << 17, MANY = 3000 };

static struct bm_comm comm_of(const bouma_allocator *a)
{
    struct bm_comm comm;

    bm_comm_self_init(&comm, a);
    comm.rank = 70;
    comm.size = RANKS;
    return comm;
}

/* The i-th gatherer: each once, in no order. */
static int gatherer(int i)
{
    return (int)((uint64_t)i * 40503 % RANKS);
}

static void flows_are_sorted_by_gatherer(void)
{
    struct bm_comm comm = comm_of(bm_allocator_default());
    struct bm_flow_builder f;
    struct bm_flow *flows;
    size_t count;
    int wrong = 0;

    REQUIRE(!bm_flow_builder_init(&f, &comm));
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < MANY; i++) {
            int g = gatherer(i);

            wrong += bm_flow_builder_bytes(&f, g) != (turn ? 12 : 0);
            bm_flow_builder_skip(&f, g, 5);
            wrong += bm_flow_builder_add(&f, g, i % 3 ? 71 : 70, 7,
                                         (size_t)i) != (turn ? 17 : 5);
        }
    REQUIRE(!bm_flow_builder_seal(&f, 0, &flows, &count));
    CHECK_EQ(count, MANY / 3);
    for (size_t i = 0; i < count; i++) {
        wrong += i && flows[i].gatherer <= flows[i - 1].gatherer;
        wrong += flows[i].count != 2 || flows[i].pieces[1].at != 17 ||
                 gatherer((int)flows[i].pieces[0].tag) != flows[i].gatherer;
    }
    CHECK_EQ(wrong, 0);
    bm_flows_free(bm_allocator_default(), flows, count);
    bm_flow_builder_release(&f);
}

static int build_some(const struct bm_comm *comm)
{
    struct bm_flow_builder f = {0};
    struct bm_flow *flows = NULL;
    size_t count = 0;
    int rc = bm_flow_builder_init(&f, comm);

    for (int i = 0; i < 20 && !rc; i++)
        bm_flow_builder_add(&f, gatherer(i), 70, 10, 0);
    if (!rc)
        rc = bm_flow_builder_seal(&f, 0, &flows, &count);
    bm_flows_free(comm->a, flows, count);
    bm_flow_builder_release(&f);
    return rc;
}

static void every_failed_allocation_is_told_and_leaks_nothing(void)
{
    struct fault_alloc memory;
    struct bm_comm comm;
    int rc = BOUMA_ENOMEM, calls = 0;

    fault_alloc_init(&memory);
    comm = comm_of(&memory.table);
    for (; rc && calls < 500; calls++) {
        fault_alloc_arm(&memory, calls + 1, calls % 2);
        rc = build_some(&comm);
        CHECK(rc == BOUMA_OK || rc == BOUMA_ENOMEM);
        CHECK_EQ(memory.live, 0);
    }
    CHECK_EQ(rc, BOUMA_OK);
    /* Not one for each rank, but for each gatherer. */
    CHECK(calls > 20);
}

int main(void)
{
    flows_are_sorted_by_gatherer();
    every_failed_allocation_is_told_and_leaks_nothing();
    return check_result();
}
