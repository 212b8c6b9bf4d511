/* machine_hwloc.c -- see machine_hwloc.h. */
#include "machine/machine_hwloc.h"

#include <string.h>
#include <strings.h>

#include <hwloc.h>

/* ---- looking ------------------------------------------------------------ */

/* hwloc's number for the bandwidth of a memory from its own processors, MB/s;
 * 0: not known. */
static hwloc_uint64_t bandwidth_of(hwloc_topology_t topology, hwloc_obj_t node)
{
    struct hwloc_location from = {.type = HWLOC_LOCATION_TYPE_CPUSET};
    hwloc_uint64_t v = 0;

    from.location.cpuset = node->cpuset;
    if (hwloc_memattr_get_value(topology, HWLOC_MEMATTR_ID_BANDWIDTH, node,
                                &from, 0, &v))
        return 0;
    return v;
}

/* The least bandwidth of memories whose processors overlap with those of
 * 'node'; 0: none is known. */
static hwloc_uint64_t least_beside(hwloc_topology_t topology, hwloc_obj_t node)
{
    hwloc_obj_t other = NULL;
    hwloc_uint64_t least = 0;

    while ((other = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE,
                                               other))) {
        hwloc_uint64_t v = bandwidth_of(topology, other);

        if (v && (!least || v < least) &&
            hwloc_bitmap_intersects(other->cpuset, node->cpuset))
            least = v;
    }
    return least;
}

static int is_called(hwloc_obj_t node, const char *name)
{
    return node->subtype && !strcasecmp(node->subtype, name);
}

static int is_hbm(hwloc_topology_t topology, hwloc_obj_t node)
{
    hwloc_uint64_t v, least;

    if (is_called(node, "HBM") || is_called(node, "MCDRAM"))
        return 1;
    if (node->subtype && strcasecmp(node->subtype, "DRAM"))
        return 0; /* memory of a GPU or the like */
    v = bandwidth_of(topology, node);
    least = least_beside(topology, node);
    return least && v / 2 >= least;
}

/* Memory that a program gets when it asks for some. */
static int is_dram(hwloc_obj_t node)
{
    return !node->subtype || is_called(node, "DRAM");
}

static void look_at_memory(struct bm_inside *out, hwloc_topology_t topology,
                           hwloc_const_bitmap_t binding)
{
    hwloc_obj_t node = NULL;
    int near = 0;

    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE,
                                              node))) {
        uint64_t bytes = node->attr->numanode.local_memory;

        if (is_hbm(topology, node)) {
            int here = hwloc_bitmap_intersects(binding, node->cpuset);

            out->hbm += bytes;
            if (out->hbm_node < 0 || (here && !near)) {
                out->hbm_node = (int)node->logical_index;
                near = here;
            }
        } else if (is_dram(node)) {
            out->dram += bytes;
        }
    }
}

void bm_hwloc_look(struct bm_inside *out, hwloc_topology_t topology,
                   const struct hwloc_bitmap_s *binding)
{
    if (!binding)
        binding = hwloc_topology_get_topology_cpuset(topology);
    *out = (struct bm_inside){.hbm_node = -1};
    look_at_memory(out, topology, binding);
}

/* ---- this machine ------------------------------------------------------- */

static int load(hwloc_topology_t *out)
{
    if (hwloc_topology_init(out))
        return 0;
    if (!hwloc_topology_load(*out))
        return 1;
    hwloc_topology_destroy(*out);
    return 0;
}

static void look_here(struct bm_inside *out, hwloc_topology_t topology)
{
    hwloc_bitmap_t binding = hwloc_bitmap_alloc();

    if (binding &&
        hwloc_get_cpubind(topology, binding, HWLOC_CPUBIND_PROCESS)) {
        hwloc_bitmap_free(binding);
        binding = NULL;
    }
    bm_hwloc_look(out, topology, binding);
    hwloc_bitmap_free(binding);
}

int bm_hwloc_here(struct bm_inside *out)
{
    hwloc_topology_t topology;

    if (!load(&topology))
        return 0;
    look_here(out, topology);
    hwloc_topology_destroy(topology);
    return 1;
}

/* ---- memory ------------------------------------------------------------- */

struct place {
    const bouma_allocator *a;
    hwloc_topology_t topology;
    void *data;
    size_t bytes;
};

static int find_node(hwloc_topology_t topology)
{
    struct bm_inside inside;

    look_here(&inside, topology);
    return inside.hbm_node;
}

static int allocate(struct place *p, int node, struct bm_error *error)
{
    hwloc_obj_t o = NULL;

    if (node < 0)
        node = find_node(p->topology);
    if (node >= 0)
        o = hwloc_get_obj_by_type(p->topology, HWLOC_OBJ_NUMANODE,
                                  (unsigned)node);
    if (!o)
        return bm_fail(error, BOUMA_ENOTFOUND,
                       "this node has no memory of high bandwidth (hbm) that "
                       "hwloc knows; use the tier dram");
    p->data = hwloc_alloc_membind(
        p->topology, p->bytes, o->nodeset, HWLOC_MEMBIND_BIND,
        HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT);
    return p->data ? BOUMA_OK
                   : bm_fail(error, BOUMA_ENOMEM,
                             "%zu bytes cannot be had on memory node %d",
                             p->bytes, node);
}

int bm_hwloc_memory(void **out, void **owner, size_t bytes, int node,
                    const bouma_allocator *a, struct bm_error *error)
{
    struct place *p = bm_new(a, 1, sizeof(*p));
    int rc;

    if (!p)
        return bm_fail(error, BOUMA_ENOMEM, "no memory for a buffer");
    p->a = a;
    p->bytes = bytes;
    if (!load(&p->topology)) {
        bm_drop(a, p);
        return bm_fail(error, BOUMA_ENOTFOUND,
                       "hwloc cannot tell what memory this node has; use the "
                       "tier dram");
    }
    rc = allocate(p, node, error);
    if (rc) {
        bm_hwloc_memory_free(p);
        return rc;
    }
    *out = p->data;
    *owner = p;
    return BOUMA_OK;
}

void bm_hwloc_memory_free(void *owner)
{
    struct place *p = owner;

    if (p->data)
        hwloc_free(p->topology, p->data, p->bytes);
    hwloc_topology_destroy(p->topology);
    bm_drop(p->a, p);
}
