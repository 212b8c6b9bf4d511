/* particle_image.c -- see particle_image.h. */
#include "write/particle_image.h"

#include "base/image.h"

/* ---- numbers ------------------------------------------------------------- */

/* All of 8 bytes, so that there is nothing in between. */
struct set_facts {
    uint64_t bytes, particles, cut;
    uint64_t units, nodes, whole, deliveries, shipped_bytes;
    int64_t files;
};

static struct set_facts facts_of(const struct bm_set_plan *set)
{
    return (struct set_facts){.bytes = set->bytes,
                              .particles = set->particles,
                              .cut = (uint64_t)set->cut,
                              .units = set->unit_count,
                              .nodes = set->files.node_count,
                              .whole = set->whole_count,
                              .deliveries = set->delivery_count,
                              .shipped_bytes = set->shipped_bytes,
                              .files = set->files.files};
}

static void pack_variables(struct bm_image *m, const struct bm_set_plan *set)
{
    for (int i = 0, j = 0; i < set->set->count; i++) {
        uint8_t given =
            j < set->count && set->variables[j] == set->set->variables[i];

        bm_image_array(m, &given, 1, 1);
        j += given;
    }
}

static int view_variables(struct bm_image *m, struct bm_set_plan *set,
                          const bouma_allocator *a)
{
    uint8_t given[BM_MAX_VARIABLES];

    for (int i = 0; i < set->set->count; i++)
        given[i] = *(const uint8_t *)bm_image_array(m, NULL, 1, 1);
    return set->variables ? BOUMA_OK : bm_particle_variables(set, a, given);
}

static int view_facts(struct bm_image *m, struct bm_set_plan *set,
                      const bouma_allocator *a)
{
    const struct set_facts *facts = bm_image_array(m, NULL, 1, sizeof(*facts));
    int rc = view_variables(m, set, a);

    set->bytes = facts->bytes;
    set->particles = facts->particles;
    set->cut = (int)facts->cut;
    set->unit_count = facts->units;
    set->files.node_count = facts->nodes;
    set->whole_count = facts->whole;
    set->delivery_count = facts->deliveries;
    set->shipped_bytes = facts->shipped_bytes;
    set->files.files = facts->files;
    return rc;
}

/* ---- arrays -------------------------------------------------------------- */

#define ARRAY(m, array, count)                                                 \
    ((array) = bm_image_array((m), (array), (size_t)(count), sizeof(*(array))))

/* Of who packs, and of who reads. */
static void arrays(struct bm_image *m, struct bm_set_plan *set, int ranks,
                   int stages)
{
    if (stages & BM_UNITS) {
        ARRAY(m, set->units, set->unit_count);
        ARRAY(m, set->sampled, set->unit_count);
    }
    if (stages & BM_FILES) {
        ARRAY(m, set->first_unit, ranks + 1);
        ARRAY(m, set->files.file, set->unit_count);
        ARRAY(m, set->files.counts, set->files.files);
        ARRAY(m, set->files.nodes, set->files.node_count);
        ARRAY(m, set->whole, set->whole_count);
    }
    if (stages & BM_DELIVERIES) {
        ARRAY(m, set->counts, set->files.files);
        ARRAY(m, set->writers.order, set->files.files);
        ARRAY(m, set->placed.writer, set->files.files);
        ARRAY(m, set->placed.tier, set->files.files);
        ARRAY(m, set->deliveries, set->delivery_count);
        ARRAY(m, set->first_delivery, set->files.files + 1);
        ARRAY(m, set->by_rank, set->delivery_count);
    }
}

/* ---- the image ----------------------------------------------------------- */

static void pack(struct bm_image *m, struct bm_particle_plan *plan, int ranks,
                 int stages)
{
    uint64_t told = (uint64_t)stages;

    bm_image_array(m, &told, 1, sizeof(told));
    for (size_t i = 0; i < plan->set_count; i++) {
        struct set_facts facts = facts_of(&plan->sets[i]);

        bm_image_array(m, &facts, 1, sizeof(facts));
        pack_variables(m, &plan->sets[i]);
        arrays(m, &plan->sets[i], ranks, stages);
    }
}

static int fill(struct bm_common *common, struct bm_particle_plan *plan,
                int ranks, int stages)
{
    struct bm_image m = {.at = 0};

    pack(&m, plan, ranks, stages);
    m.to = bm_common_room(common, m.at);
    m.at = 0;
    if (!m.to)
        return BOUMA_ENOMEM;
    pack(&m, plan, ranks, stages);
    return BOUMA_OK;
}

/* What is in the image instead of what this rank has. BOUMA_OK or ENOMEM. */
static int view(struct bm_particle_plan *plan, const uint8_t *image, int ranks)
{
    struct bm_image m = {.from = image};
    int stages = (int)*(const uint64_t *)bm_image_array(&m, NULL, 1, 8);
    int rc = BOUMA_OK;

    bm_particle_plan_drop(plan, stages | BM_UNITS);
    plan->views |= stages;
    for (size_t i = 0; i < plan->set_count && !rc; i++) {
        struct bm_set_plan *set = &plan->sets[i];

        rc = view_facts(&m, set, plan->a);
        arrays(&m, set, ranks, stages);
        set->placed.a = plan->a;
        set->placed.files = set->files.files;
        set->writers.files = &set->placed;
    }
    return rc;
}

/* ---- on a node ----------------------------------------------------------- */

int bm_particle_share(struct bm_particle_plan *plan, struct bouma_dataset *ds,
                      int stages, int rc)
{
    struct bm_comm *near = bm_comm_near(ds->comm);
    /* What comes last must not take the place of what is looked at. */
    struct bm_common *common =
        &ds->carried.particles[stages == BM_DELIVERIES ? 1 : 0];

    if (near->size > 1 && !ds->comm->lost) {
        if (!common->a)
            bm_common_init(common, ds->a);
        if (!rc && near->rank == 0 &&
            fill(common, plan, ds->comm->size, stages))
            rc = bm_fail(&ds->error, BOUMA_ENOMEM,
                         "no memory to plan particles");
        rc = bm_common_tell(common, near, rc, &ds->error);
        if (!rc && view(plan, common->data, ds->comm->size))
            rc = bm_fail(&ds->error, BOUMA_ENOMEM,
                         "no memory to plan particles");
    }
    for (size_t i = 0; i < plan->set_count && !rc; i++)
        if (plan->sets[i].first_unit)
            plan->sets[i].my_first = plan->sets[i].first_unit[ds->comm->rank];
    return rc;
}
