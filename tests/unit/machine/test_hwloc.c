/* test_hwloc.c -- nodes as hwloc sees them, made up. */
#include <hwloc.h>

#include "check.h"
#include "machine/machine_hwloc.h"

/* A topology of a description as hwloc has them. */
static hwloc_topology_t synthetic(const char *description)
{
    hwloc_topology_t t;

    REQUIRE(!hwloc_topology_init(&t));
    REQUIRE(!hwloc_topology_set_synthetic(t, description));
    REQUIRE(!hwloc_topology_load(t));
    return t;
}

static struct bm_inside look(hwloc_topology_t t, const char *binding)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    struct bm_inside inside;

    REQUIRE(set && !hwloc_bitmap_list_sscanf(set, binding));
    bm_hwloc_look(&inside, t, set);
    hwloc_bitmap_free(set);
    return inside;
}

static void memory_of_one_kind_is_dram(void)
{
    hwloc_topology_t t = synthetic("package:2 [numa(memory=1GB)] core:4 pu:1");
    struct bm_inside in = look(t, "3-4");

    CHECK(in.dram > 1900000000 && in.dram < 2200000000);
    CHECK_EQ(in.hbm, 0);
    CHECK_EQ(in.hbm_node, -1);
    bm_hwloc_look(&in, t, NULL);
    CHECK(in.dram > 1900000000 && in.dram < 2200000000);
    hwloc_topology_destroy(t);
}

/* Two packages, each with two nodes of memory: 4 GB, and 1 GB. */
static hwloc_topology_t two_memories(void)
{
    return synthetic("package:2 [numa(memory=4GB)] [numa(memory=1GB)] core:2 "
                     "pu:1");
}

static hwloc_obj_t node_of(hwloc_topology_t t, int package, int small)
{
    hwloc_obj_t o = NULL;
    hwloc_obj_t p =
        hwloc_get_obj_by_type(t, HWLOC_OBJ_PACKAGE, (unsigned)package);

    while ((o = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, o)))
        if (hwloc_bitmap_isequal(o->cpuset, p->cpuset) &&
            (o->attr->numanode.local_memory < 2000000000) == small)
            return o;
    REQUIRE(!"no such node");
    return NULL;
}

static void set_bandwidth(hwloc_topology_t t, hwloc_obj_t node,
                          hwloc_uint64_t v)
{
    struct hwloc_location from = {.type = HWLOC_LOCATION_TYPE_CPUSET};

    from.location.cpuset = node->cpuset;
    REQUIRE(!hwloc_memattr_set_value(t, HWLOC_MEMATTR_ID_BANDWIDTH, node, &from,
                                     0, v));
}

static void memory_of_twice_the_bandwidth_is_hbm(void)
{
    hwloc_topology_t t = two_memories();
    struct bm_inside in = look(t, "0");

    CHECK_EQ(in.hbm, 0); /* not known to be */
    for (int p = 0; p < 2; p++) {
        set_bandwidth(t, node_of(t, p, 0), 100000);
        set_bandwidth(t, node_of(t, p, 1), 199999);
    }
    in = look(t, "0");
    CHECK_EQ(in.hbm, 0); /* not by so much */
    for (int p = 0; p < 2; p++)
        set_bandwidth(t, node_of(t, p, 1), 400000);
    in = look(t, "3");
    CHECK(in.hbm > 1900000000 && in.hbm < 2200000000);
    CHECK(in.dram > 7900000000 && in.dram < 8700000000);
    CHECK_EQ(in.hbm_node, node_of(t, 1, 1)->logical_index);
    in = look(t, "1");
    CHECK_EQ(in.hbm_node, node_of(t, 0, 1)->logical_index);
    hwloc_topology_destroy(t);
}

static void memory_is_hbm_by_its_name(void)
{
    hwloc_topology_t t = two_memories(), copy;
    char *xml;
    int bytes;
    struct bm_inside in;

    node_of(t, 0, 1)->subtype = strdup("MCDRAM");
    node_of(t, 1, 1)->subtype = strdup("GPUMemory");
    /* The same, as an XML of a machine far away. */
    REQUIRE(!hwloc_topology_export_xmlbuffer(t, &xml, &bytes, 0));
    REQUIRE(!hwloc_topology_init(&copy));
    REQUIRE(!hwloc_topology_set_xmlbuffer(copy, xml, bytes));
    REQUIRE(!hwloc_topology_load(copy));
    in = look(copy, "3");
    CHECK(in.hbm > 900000000 && in.hbm < 1100000000);
    CHECK_EQ(in.hbm_node, node_of(copy, 0, 1)->logical_index);
    CHECK(in.dram > 7900000000 && in.dram < 8700000000);
    hwloc_free_xmlbuffer(t, xml);
    hwloc_topology_destroy(copy);
    hwloc_topology_destroy(t);
}

static void this_machine_has_memory(void)
{
    struct bm_inside in;

    REQUIRE(bm_hwloc_here(&in));
    CHECK(in.dram + in.hbm > 0);
}

int main(void)
{
    memory_of_one_kind_is_dram();
    memory_of_twice_the_bandwidth_is_hbm();
    memory_is_hbm_by_its_name();
    this_machine_has_memory();
    return check_result();
}
