/* test_machine.c -- machines of what ranks tell: hosts, Slurm's switches; and
 * ranks that tell nonsense. */
#include "check.h"
#include "fault_alloc.h"
#include "machine/hostlist.h"
#include "machine/machine.h"
#include "machine/rank_location.h"
#include "machine/slurm.h"

#define MOST 64

/* What the ranks of a run told. */
struct run {
    struct bm_buffer location;
    size_t sizes[MOST];
    int ranks;
    struct bm_error error;
    struct bm_machine *m;
};

static void run_init(struct run *r)
{
    memset(r, 0, sizeof(*r));
    bm_buffer_init(&r->location, bm_allocator_default());
}

static void run_release(struct run *r)
{
    bm_machine_free(r->m);
    bm_buffer_release(&r->location);
}

static void tell(struct run *r, const struct bm_rank_location *location)
{
    size_t before = r->location.size;

    bm_rank_location_put(&r->location, location);
    r->sizes[r->ranks++] = r->location.size - before;
}

static void tell_host(struct run *r, const char *host, const char *switches)
{
    struct bm_rank_location location = {.host = host,
                                        .host_bytes = strlen(host),
                                        .switches = switches,
                                        .switches_bytes = strlen(switches),
                                        .dram = 64 + (uint64_t)r->ranks,
                                        .hbm = 16};

    tell(r, &location);
}

static int make(struct run *r, const bouma_allocator *a, const char *spec,
                const char *file)
{
    bm_machine_free(r->m);
    memset(&r->error, 0, sizeof(r->error));
    return bm_machine_make(
        &r->m, a,
        &(struct bm_machine_source){.spec = spec,
                                    .file = file,
                                    .file_bytes = file ? strlen(file) : 0,
                                    .ranks = r->ranks,
                                    .locations = &r->location,
                                    .sizes = r->sizes},
        &r->error);
}

static const struct bm_network *network(struct run *r, const char *spec,
                                        const char *file)
{
    if (make(r, bm_allocator_default(), spec, file))
        printf("%s\n", r->error.text);
    REQUIRE(r->m);
    return bm_machine_network(r->m);
}

/* ---- hosts --------------------------------------------------------------- */

static void hosts_are_nodes_in_the_order_of_ranks(void)
{
    const struct bm_network *n;
    struct run r;

    run_init(&r);
    tell_host(&r, "c", "");
    tell_host(&r, "a", "");
    tell_host(&r, "c", "");
    tell_host(&r, "b", "");
    n = network(&r, "torus:4", NULL);
    CHECK_EQ(n->node(n->context, 0), 0);
    CHECK_EQ(n->node(n->context, 1), 1);
    CHECK_EQ(n->node(n->context, 2), 0);
    CHECK_EQ(n->node(n->context, 3), 2);
    CHECK_EQ(n->hops(n->context, 0, 2), 0);
    CHECK_EQ(n->hops(n->context, 2, 3), 2);
    /* With per=, nobody asks for hosts. */
    n = network(&r, "torus:4,per=1", NULL);
    CHECK_EQ(n->hops(n->context, 0, 2), 2);
    /* And the flat machine does not. */
    n = network(&r, "flat", NULL);
    CHECK_EQ(n->hops(n->context, 0, 2), 1);
    n = network(&r, "auto", NULL);
    CHECK_EQ(n->hops(n->context, 0, 2), 0);
    CHECK_EQ(n->hops(n->context, 0, 1), 1);
    CHECK_EQ(make(&r, bm_allocator_default(), "torus:2", NULL), BOUMA_EINVAL);
    CHECK_TEXT(r.error.text, "has 2 nodes, too few for 3 hosts");
    run_release(&r);
}

static void hosts_are_found_in_a_file(void)
{
    static const char tree[] = "machine 1\nswitch l1 nodes a,b\n"
                               "switch l2 nodes c\nswitch top switches l1,l2\n";
    static const char torus[] = "machine 1\nnetwork torus:8\n"
                                "node b at 0\nnode a at 4\n";
    const struct bm_network *n;
    struct run r;

    run_init(&r);
    tell_host(&r, "c.cluster.org", "");
    tell_host(&r, "a", "");
    tell_host(&r, "b", "");
    tell_host(&r, "new", "");
    n = network(&r, "m", tree);
    CHECK_EQ(n->hops(n->context, 1, 2), 2);
    CHECK_EQ(n->hops(n->context, 0, 1), 4);
    CHECK_EQ(n->hops(n->context, 3, 1), 3); /* unknown: on the top */
    CHECK_EQ(n->hops_to_target(n->context, 0), 3);
    CHECK_EQ(n->hops_to_target(n->context, 3), 2);
    n = network(&r, "m", torus);
    CHECK_EQ(n->node(n->context, 2), 0);
    CHECK_EQ(n->node(n->context, 1), 4);
    CHECK_EQ(n->node(n->context, 0), 1); /* the first place that is free */
    CHECK_EQ(n->node(n->context, 3), 2);
    run_release(&r);
}

static void what_hwloc_told_are_tiers_and_sockets(void)
{
    const struct bm_tier *t;
    struct bm_rank_location poor = {.host = "b", .host_bytes = 1, .dram = 7};
    struct run r;
    size_t n;

    run_init(&r);
    tell_host(&r, "a", "");
    tell_host(&r, "a", "");
    network(&r, "auto", NULL);
    t = bm_machine_tiers(r.m, &n);
    REQUIRE(n == 2);
    CHECK_EQ(t[0].kind, BOUMA_TIER_HBM);
    CHECK_EQ(t[0].capacity, 16);
    CHECK_EQ(t[1].capacity, 64); /* the least of all nodes */
    tell(&r, &poor);
    network(&r, "auto", NULL);
    t = bm_machine_tiers(r.m, &n);
    CHECK_EQ(n, 1); /* one node has no such memory */
    CHECK_EQ(t[0].capacity, 7);
    run_release(&r);
}

static void a_process_tells_what_can_be_heard(void)
{
    static const char *const specs[] = {"auto", "torus:4", "some/file"};
    struct run r;

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        run_init(&r);
        bm_machine_tell(&r.location, specs[i]);
        r.sizes[r.ranks++] = r.location.size;
        CHECK(r.location.size > 0);
        CHECK_EQ(make(&r, bm_allocator_default(), specs[i], "machine 1"), 0);
        CHECK(r.m);
        run_release(&r);
    }
    run_init(&r);
    bm_machine_tell(&r.location, "");
    bm_machine_tell(&r.location, "flat");
    bm_machine_tell(&r.location, "torus:4,per=2");
    CHECK_EQ(r.location.size, 0); /* nobody needs to know */
    run_release(&r);
}

/* ---- Slurm --------------------------------------------------------------- */

static const struct bm_slurm_place *
slurm_place(const char *address, const char *pattern, const char *host)
{
    static struct bm_slurm_place place;
    struct bm_slurm env = {.address = address, .pattern = pattern};

    bm_slurm_read(&place, &env, host);
    return &place;
}

static void an_address_of_slurm_has_switches_and_a_node(void)
{
    const struct bm_slurm_place *p =
        slurm_place("s0.s4.s8.tux1", "switch.switch.switch.node", "tux1");

    CHECK(!strcmp(p->node, "tux1"));
    CHECK(!strcmp(p->switches, "s0.s4.s8"));
    p = slurm_place("s[0-1].leaf.n1.cl", "switch.switch.node", "n1.cl.org");
    CHECK(!strcmp(p->node, "n1.cl"));
    CHECK(!strcmp(p->switches, "s[0-1].leaf"));
    p = slurm_place("tux1", "node", "tux1");
    CHECK(!strcmp(p->node, "tux1") && !p->switches[0]);
}

static void an_address_that_does_not_fit_is_left_out(void)
{
    /* Of another node: mpirun has handed on its own environment. */
    CHECK(!slurm_place("s0.tux2", "switch.node", "tux1")->switches[0]);
    CHECK(!slurm_place("s0.tux1", "switch.switch.node", "tux1")->switches[0]);
    CHECK(!slurm_place("s0.tux1", "switch.nod", "tux1")->switches[0]);
    CHECK(!slurm_place("s0.tux1", "", "tux1")->switches[0]);
    CHECK(!slurm_place("s0.tux1", NULL, "tux1")->switches[0]);
    CHECK(!slurm_place(".tux1", "switch.node", "tux1")->switches[0]);
    CHECK(!slurm_place("", "node", "")->node[0]);
}

static void slurm_knows_a_node_by_its_place_in_the_list(void)
{
    struct bm_slurm env = {.node_list = "gpu[1-3],login,cpu[08-10]",
                           .node_id = "5"};
    struct bm_slurm_place p;

    bm_slurm_read(&p, &env, "cpu09.site");
    CHECK(!strcmp(p.node, "cpu09"));
    bm_slurm_read(&p, &env, "cpu08.site");
    CHECK(!p.node[0]);
    env.node_id = "99";
    bm_slurm_read(&p, &env, "cpu09.site");
    CHECK(!p.node[0]);
    env.node_name = "cpu09";
    bm_slurm_read(&p, &env, "cpu09.site");
    CHECK(!strcmp(p.node, "cpu09"));
}

static void switches_that_ranks_told_are_a_tree(void)
{
    const struct bm_network *n;
    struct run r;

    run_init(&r);
    tell_host(&r, "t1", "s0.s1");
    tell_host(&r, "t2", "s0.s1");
    tell_host(&r, "t3", "s0.s2");
    tell_host(&r, "t1", "s0.s1");
    tell_host(&r, "t4", "q0.s1"); /* another s1, below another top */
    n = network(&r, "auto", NULL);
    CHECK_EQ(n->hops(n->context, 0, 3), 0);
    CHECK_EQ(n->hops(n->context, 0, 1), 2);
    CHECK_EQ(n->hops(n->context, 0, 2), 4);
    CHECK_EQ(n->hops(n->context, 0, 4), 6);
    run_release(&r);
}

static void a_topology_conf_is_read(void)
{
    static const char conf[] = "# topology.conf\n"
                               "# Switch Configuration\n"
                               "SwitchName=s0 Nodes=tux[0-11]\n"
                               "SwitchName=s1 Nodes=tux[12-23] LinkSpeed=900\n"
                               "switchname=s2 nodes=tux[24-35]\n"
                               "SwitchName=s3 Switches=s[0-2]\n"
                               "SwitchName=s4 Switches=s[0-2]\n";
    const struct bm_network *n;
    struct run r;

    run_init(&r);
    tell_host(&r, "tux3", "");
    tell_host(&r, "tux11", "");
    tell_host(&r, "tux12", "");
    tell_host(&r, "tux35", "");
    n = network(&r, "/etc/slurm/topology.conf", conf);
    CHECK_EQ(n->hops(n->context, 0, 1), 2);
    CHECK_EQ(n->hops(n->context, 1, 2), 4);
    CHECK_EQ(n->hops(n->context, 2, 3), 4);
    CHECK_EQ(n->hops_to_target(n->context, 3), 3);
    CHECK_EQ(make(&r, bm_allocator_default(), "t.conf",
                  "BlockName=b1 Nodes=a[1-4]\n"),
             BOUMA_EINVAL);
    CHECK_TEXT(r.error.text, "line 1: 'BlockName=b1': only trees");
    CHECK_EQ(make(&r, bm_allocator_default(), "t.conf",
                  "SwitchName=a Switches=b\n\nSwitchName=b Switchs=a\n"),
             BOUMA_EINVAL);
    CHECK_TEXT(r.error.text, "line 3: 'Switchs=a'");
    CHECK_EQ(make(&r, bm_allocator_default(), "t.conf",
                  "SwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
             BOUMA_EINVAL);
    CHECK_TEXT(r.error.text, "is below itself");
    run_release(&r);
}

static int join(void *context, const char *name, size_t bytes)
{
    struct bm_buffer *b = context;

    bm_put_bytes(b, name, bytes);
    bm_put_u8(b, ' ');
    return BOUMA_OK;
}

static void lists_of_hosts_are_expanded(void)
{
    static const char *const cases[][2] = {
        {"a", "a "},
        {"a,b", "a b "},
        {"a[1-3]", "a1 a2 a3 "},
        {"a[08-11]x", "a08x a09x a10x a11x "},
        {"r[1-2]n[0,3-4],z", "r1n0 r1n3 r1n4 r2n0 r2n3 r2n4 z "},
        {"[1-2]", "1 2 "}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bm_error error = {0};
        struct bm_buffer b;

        bm_buffer_init(&b, bm_allocator_default());
        CHECK_EQ(bm_hostlist_each(cases[i][0], strlen(cases[i][0]), join, &b,
                                  &error),
                 BOUMA_OK);
        bm_put_u8(&b, 0);
        CHECK(!strcmp((char *)b.data, cases[i][1]));
        bm_buffer_release(&b);
    }
}

/* ---- lies ---------------------------------------------------------------- */

static void a_rank_that_tells_nonsense_is_named(void)
{
    static const char *const blank = "a b";
    char deep[200];
    struct run r;

    run_init(&r);
    tell_host(&r, "a", "");
    tell_host(&r, blank, "");
    CHECK_EQ(make(&r, bm_allocator_default(), "auto", NULL), BOUMA_EMISMATCH);
    CHECK_TEXT(r.error.text, "rank 1");
    CHECK(!r.m);
    run_release(&r);

    run_init(&r);
    for (size_t i = 0; i < sizeof(deep); i++)
        deep[i] = i % 2 ? '.' : 'a';
    deep[sizeof(deep) - 1] = 0;
    tell_host(&r, "a", deep);
    CHECK_EQ(make(&r, bm_allocator_default(), "auto", NULL), BOUMA_EMISMATCH);
    run_release(&r);

    run_init(&r);
    tell_host(&r, "", "");
    CHECK_EQ(make(&r, bm_allocator_default(), "auto", NULL), BOUMA_EMISMATCH);
    run_release(&r);
}

static void no_bytes_that_are_told_do_harm(void)
{
    uint64_t seed = 5;

    for (int i = 0; i < 3000; i++) {
        struct run r;
        int rc;

        run_init(&r);
        tell_host(&r, "host1", "s0.s1");
        tell_host(&r, "host2", "s0.s2");
        for (int64_t k = 1 + check_below(&seed, 3); k; k--)
            r.location.data[check_below(&seed, (int64_t)r.location.size)] =
                (uint8_t)check_random(&seed);
        if (i % 3 == 0)
            r.sizes[1] = (size_t)check_below(&seed, 200);
        rc = make(&r, bm_allocator_default(), "auto", NULL);
        CHECK(!rc == !!r.m && (!rc || r.error.text[0]));
        run_release(&r);
    }
}

/* ---- no memory ----------------------------------------------------------- */

static void check_poor(struct run *r, const char *spec, const char *file)
{
    struct fault_alloc memory;
    static const int group[3] = {0, 1, 2};
    double sums[3];
    int rc = BOUMA_ENOMEM;
    long at;

    fault_alloc_init(&memory);
    for (at = 1; rc && at < 1000; at++) {
        fault_alloc_arm(&memory, at, 0);
        rc = make(r, &memory.table, spec, file);
        CHECK(!rc || rc == BOUMA_ENOMEM);
        CHECK(!rc == !!r->m);
        CHECK(!rc || memory.live == 0);
    }
    REQUIRE(!rc);
    CHECK(at > 2);
    rc = BOUMA_ENOMEM;
    for (at = 1; rc && at < 1000; at++) {
        const struct bm_network *n = bm_machine_network(r->m);
        long live = memory.live;

        fault_alloc_arm(&memory, at, 0);
        rc = n->sums(n->context, &memory.table, group, NULL, 3, sums);
        CHECK(!rc || rc == BOUMA_ENOMEM);
        CHECK_EQ(memory.live, live);
    }
    CHECK_EQ(rc, 0);
    bm_machine_free(r->m);
    r->m = NULL;
    CHECK_EQ(memory.live, 0);
}

static void no_memory_is_told_and_none_is_lost(void)
{
    struct run r;

    run_init(&r);
    for (int i = 0; i < 40; i++) {
        char host[16];

        snprintf(host, sizeof(host), "n%d", i);
        tell_host(&r, host, i % 2 ? "s0.s1" : "s0.s2");
    }
    check_poor(&r, "auto", NULL);
    check_poor(&r, "flat", NULL);
    check_poor(&r, "torus:8x8", NULL);
    check_poor(&r, "fattree:8x8", NULL);
    check_poor(&r, "dragonfly:2x5x4", NULL);
    check_poor(&r, "file",
               "machine 1\nnetwork torus:10x10\n"
               "node n[0-20] at 2,0 target 3\n");
    check_poor(&r, "file",
               "machine 1\nswitch a nodes n[0-19]\nswitch b nodes n[20-39]\n"
               "switch c switches a,b\ntarget switch a\n");
    check_poor(&r, "conf", "SwitchName=a Nodes=n[0-30]\n");
    run_release(&r);
}

int main(void)
{
    hosts_are_nodes_in_the_order_of_ranks();
    hosts_are_found_in_a_file();
    what_hwloc_told_are_tiers_and_sockets();
    a_process_tells_what_can_be_heard();
    an_address_of_slurm_has_switches_and_a_node();
    an_address_that_does_not_fit_is_left_out();
    slurm_knows_a_node_by_its_place_in_the_list();
    switches_that_ranks_told_are_a_tree();
    a_topology_conf_is_read();
    lists_of_hosts_are_expanded();
    a_rank_that_tells_nonsense_is_named();
    no_bytes_that_are_told_do_harm();
    no_memory_is_told_and_none_is_lost();
    return check_result();
}
