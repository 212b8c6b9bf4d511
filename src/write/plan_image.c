/* plan_image.c -- see plan_image.h. The image begins with the numbers that say
 * which grids and variables the plan is about, and how many of each thing there
 * are. The arrays follow. */
#include "write/plan_image.h"

#include <assert.h>
#include <string.h>

#include "base/image.h"

/* ---- numbers ------------------------------------------------------------- */

/* All of 8 bytes, so that there is nothing in between. */
struct plan_facts {
    uint64_t decompositions, grids, chunks;
    int64_t fixed_files, all_fixed_files;
    uint64_t raw_bytes, moved_bytes, tiled_bytes;
    int64_t tiled, most_patches;
};

struct grid_facts {
    uint64_t object, count, first;
    int64_t chunks; /* of a subset; -1: all */
};

struct variable_facts {
    uint64_t index; /* among those of the grid */
    uint64_t of;
};

struct decomposition_facts {
    uint64_t blocks, tiled, given, moved_samples;
    struct bm_distribution report;
};

static void pack_grid(struct bm_image *m, const struct bm_write_plan *plan,
                      const struct bm_plan_grid *g)
{
    struct grid_facts facts = {g->grid->number, g->count, g->first,
                               g->subset ? g->subset->count : -1};
    struct variable_facts v = {0, 0};

    bm_image_array(m, &facts, 1, sizeof(facts));
    for (size_t j = 0; j < g->count; j++) {
        while (g->grid->variables[v.index] != g->variables[j])
            v.index++;
        v.of = (uint64_t)(g->of[j] - plan->decompositions);
        bm_image_array(m, &v, 1, sizeof(v));
    }
}

static void pack_facts(struct bm_image *m, const struct bm_write_plan *plan)
{
    struct plan_facts facts = {
        plan->decomposition_count, plan->grid_count,      plan->chunks,
        plan->fixed_files,         plan->all_fixed_files, plan->raw_bytes,
        plan->moved_bytes,         plan->tiled_bytes,     plan->tiled,
        plan->most_patches};

    bm_image_array(m, &facts, 1, sizeof(facts));
    for (size_t i = 0; i < plan->grid_count; i++)
        pack_grid(m, plan, &plan->grids[i]);
    for (size_t i = 0; i < plan->decomposition_count; i++) {
        const struct bm_decomposition *d = &plan->decompositions[i];
        struct decomposition_facts own = {.blocks = d->block_count,
                                          .tiled = d->tiles != NULL,
                                          .report = d->report};

        if (d->tiles) {
            own.given = d->tiles->given_count;
            own.moved_samples = d->tiles->moved_samples;
        }
        bm_image_array(m, &own, 1, sizeof(own));
    }
}

static int view_subset(struct bm_plan_grid *g, const bouma_allocator *a,
                       int64_t chunks)
{
    if (chunks < 0)
        return BOUMA_OK;
    g->subset = bm_new(a, 1, sizeof(*g->subset));
    if (!g->subset)
        return BOUMA_ENOMEM;
    *g->subset =
        (struct bm_chunk_subset){.a = a, .whole = g->chunking, .count = chunks};
    g->chunking = bm_chunk_subset_chunking(g->subset);
    return BOUMA_OK;
}

static int view_grid(struct bm_image *m, struct bm_write_plan *plan,
                     struct bm_plan_grid *g, const struct bm_schema *schema)
{
    const struct grid_facts *facts = bm_image_array(m, NULL, 1, sizeof(*facts));
    const struct variable_facts *v;

    g->grid = schema->objects[facts->object];
    g->first = facts->first;
    g->chunking = g->grid->layout->chunking(g->grid);
    g->variables = bm_new(plan->a, facts->count, sizeof(*g->variables));
    g->of = bm_new(plan->a, facts->count, sizeof(*g->of));
    if (!g->variables || !g->of || view_subset(g, plan->a, facts->chunks))
        return BOUMA_ENOMEM;
    for (; g->count < facts->count; g->count++) {
        v = bm_image_array(m, NULL, 1, sizeof(*v));
        g->variables[g->count] = g->grid->variables[v->index];
        g->of[g->count] = &plan->decompositions[v->of];
        g->of[g->count]->grid = g->grid;
        g->of[g->count]->partition.chunking = g->chunking;
    }
    return BOUMA_OK;
}

static int view_decomposition(struct bm_image *m, struct bm_write_plan *plan,
                              struct bm_decomposition *d)
{
    const struct decomposition_facts *facts =
        bm_image_array(m, NULL, 1, sizeof(*facts));
    struct bm_tile_plan *t;

    d->block_count = facts->blocks;
    d->report = facts->report;
    d->partition.a = plan->a;
    if (!facts->tiled)
        return BOUMA_OK;
    t = d->tiles = bm_new(plan->a, 1, sizeof(*t));
    if (!t)
        return BOUMA_ENOMEM;
    t->a = t->partition.a = plan->a;
    t->given_count = facts->given;
    t->block_count = facts->blocks;
    t->moved_samples = facts->moved_samples;
    bm_object_tiling(d->grid, &t->tiling);
    t->partition.chunking = bm_chunking_of_tiling(&t->tiling);
    return BOUMA_OK;
}

static int view_facts(struct bm_image *m, struct bm_write_plan *plan,
                      const struct bm_schema *schema)
{
    const struct plan_facts *facts = bm_image_array(m, NULL, 1, sizeof(*facts));
    int rc = BOUMA_OK;

    plan->decompositions =
        bm_new(plan->a, facts->decompositions, sizeof(*plan->decompositions));
    plan->grids = bm_new(plan->a, facts->grids, sizeof(*plan->grids));
    if (!plan->decompositions || !plan->grids)
        return BOUMA_ENOMEM;
    plan->chunks = facts->chunks;
    plan->fixed_files = facts->fixed_files;
    plan->all_fixed_files = facts->all_fixed_files;
    plan->raw_bytes = facts->raw_bytes;
    plan->moved_bytes = facts->moved_bytes;
    plan->tiled_bytes = facts->tiled_bytes;
    plan->tiled = (int)facts->tiled;
    plan->most_patches = facts->most_patches;
    while (plan->grid_count < facts->grids && !rc)
        rc = view_grid(m, plan, &plan->grids[plan->grid_count++], schema);
    while (plan->decomposition_count < facts->decompositions && !rc)
        rc = view_decomposition(
            m, plan, &plan->decompositions[plan->decomposition_count++]);
    return rc;
}

/* ---- arrays -------------------------------------------------------------- */

#define ARRAY(m, array, count)                                                 \
    ((array) = bm_image_array((m), (array), (size_t)(count), sizeof(*(array))))

static void partition_arrays(struct bm_image *m, struct bm_partition *p,
                             const struct bm_block *blocks, size_t count)
{
    p->blocks = blocks;
    p->block_count = count;
    ARRAY(m, p->first, p->chunking.count + 1);
    ARRAY(m, p->part, p->first[p->chunking.count]);
}

/* Of who packs, and of who reads. */
static void arrays(struct bm_image *m, struct bm_write_plan *plan)
{
    for (size_t i = 0; i < plan->decomposition_count; i++) {
        struct bm_decomposition *d = &plan->decompositions[i];

        ARRAY(m, d->blocks, d->block_count);
        ARRAY(m, d->owner, d->partition.chunking.count);
        partition_arrays(m, &d->partition, d->blocks, d->block_count);
        if (!d->tiles)
            continue;
        ARRAY(m, d->tiles->given, d->tiles->given_count);
        ARRAY(m, d->tiles->owner, d->tiles->tiling.patches);
        ARRAY(m, d->tiles->block_of, d->tiles->tiling.patches);
        partition_arrays(m, &d->tiles->partition, d->tiles->given,
                         d->tiles->given_count);
    }
    for (size_t i = 0; i < plan->grid_count; i++) {
        struct bm_plan_grid *g = &plan->grids[i];

        if (g->subset)
            ARRAY(m, g->subset->chunk, g->subset->count);
        ARRAY(m, g->order, g->chunking.count);
    }
    ARRAY(m, plan->file, plan->chunks);
    ARRAY(m, plan->file_grid, plan->fixed_files);
    ARRAY(m, plan->file_number, plan->fixed_files);
    ARRAY(m, plan->owner, plan->chunks);
    ARRAY(m, plan->by_owner, plan->chunks);
}

/* ---- the image ----------------------------------------------------------- */

static size_t image_bytes(struct bm_write_plan *plan)
{
    struct bm_image m = {.at = 0};

    pack_facts(&m, plan);
    arrays(&m, plan);
    return m.at;
}

static void fill_image(uint8_t *to, struct bm_write_plan *plan)
{
    struct bm_image m = {.to = to};

    pack_facts(&m, plan);
    arrays(&m, plan);
}

/* A plan of 'rank' whose arrays are in the image, which has to stay. The schema
 * is as that of who packed it. BOUMA_OK or ENOMEM. */
static int view_image(struct bm_write_plan **out, const bouma_allocator *a,
                      const struct bm_schema *schema, const uint8_t *image,
                      int rank)
{
    struct bm_image m = {.from = image};
    struct bm_write_plan *plan = bm_new(a, 1, sizeof(*plan));
    int rc;

    *out = NULL;
    if (!plan)
        return BOUMA_ENOMEM;
    plan->a = a;
    plan->is_view = 1;
    rc = view_facts(&m, plan, schema);
    if (!rc) {
        arrays(&m, plan);
        rc = bm_plan_find_mine(plan, rank);
    }
    if (rc)
        bm_plan_free(plan);
    else
        *out = plan;
    return rc;
}

/* ---- on a node ----------------------------------------------------------- */

/* What is kept of the plan of this rank for its new view. */
static void hand_on(struct bm_write_plan *to, struct bm_write_plan *from)
{
    to->times = from->times;
    to->sizes = from->sizes;
    to->files = from->files;
    memset(&from->times, 0, sizeof(from->times));
    memset(&from->sizes, 0, sizeof(from->sizes));
    memset(&from->files, 0, sizeof(from->files));
}

/* What is in the image, as this rank's plan. */
static int look(struct bm_write_plan **plan, const bouma_allocator *a,
                const struct bm_schema *schema, const uint8_t *image, int rank)
{
    struct bm_write_plan *view;
    int rc = view_image(&view, a, schema, image, rank);

    if (rc)
        return rc;
    if (*plan)
        hand_on(view, *plan);
    bm_plan_free(*plan);
    *plan = view;
    return BOUMA_OK;
}

static int pack(struct bm_common *common, struct bm_write_plan *plan)
{
    uint8_t *to = bm_common_room(common, image_bytes(plan));

    if (!to)
        return BOUMA_ENOMEM;
    fill_image(to, plan);
    return BOUMA_OK;
}

int bm_plan_share(struct bm_write_plan **plan, const struct bm_schema *schema,
                  struct bm_comm *comm, int keep, int rc,
                  struct bm_error *error)
{
    struct bm_comm *near = bm_comm_near(comm);
    struct bm_common common;

    if (near->size == 1)
        return rc;
    bm_common_init(&common, schema->a);
    if (*plan && (*plan)->common.a) {
        common = (*plan)->common;
        (*plan)->common.a = NULL;
    }
    if (!rc && near->rank == 0 && pack(&common, *plan))
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory to plan the step");
    rc = bm_common_tell(&common, near, rc, error);
    if (!rc && (near->rank || !keep) &&
        look(plan, schema->a, schema, common.data, comm->rank))
        rc = bm_fail(error, BOUMA_ENOMEM, "no memory to plan the step");
    if (*plan)
        (*plan)->common = common;
    else
        bm_common_release(&common);
    return rc;
}
