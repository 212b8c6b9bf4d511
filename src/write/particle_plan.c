/* particle_plan.c -- see particle_plan.h. */
#include "write/particle_plan.h"

#include <stdlib.h>
#include <string.h>

#include "write/particle_image.h"

/* ---- files -------------------------------------------------------------- */

/* Where each rank's units begin. */
static int count_units(struct bm_set_plan *set, const bouma_allocator *a,
                       int ranks)
{
    set->first_unit = bm_new(a, (size_t)ranks + 1, sizeof(*set->first_unit));
    if (!set->first_unit)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < set->unit_count; i++)
        set->first_unit[set->units[i].rank + 1]++;
    for (int r = 0; r < ranks; r++)
        set->first_unit[r + 1] += set->first_unit[r];
    return BOUMA_OK;
}

/* The files of a set. */
static int make_files(struct bm_particle_plan *plan, struct bm_set_plan *set,
                      struct bouma_dataset *ds)
{
    struct bm_node_groups nodes =
        bm_io_environment_node_groups(&ds->options, ds->comm);
    struct bm_aggregation_spec spec = {.scheme = plan->scheme,
                                       .ndims = set->set->ndims,
                                       .best_axis = ds->options.best_axis,
                                       .bytes = set->bytes,
                                       .files = ds->options.files,
                                       .ranks = ds->comm->size,
                                       .nodes = &nodes};
    int rc;

    if (set->particles)
        spec.target = bm_particle_target(set, ds);
    rc = bm_aggregate(&set->files, plan->a, &spec, set->units, set->unit_count);
    if (!rc)
        rc = count_units(set, plan->a, ds->comm->size);
    return rc ? rc : bm_deliveries_begin(set, plan->a);
}

/* On the first rank of a node: the files of all sets, and if none is cut, what
 * goes there. */
static int plan_files(struct bm_particle_plan *plan, struct bouma_dataset *ds,
                      int cut)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < plan->set_count && !rc; i++)
        rc = make_files(plan, &plan->sets[i], ds);
    for (size_t i = 0; i < plan->set_count && !rc && !cut; i++) {
        struct bm_set_plan *set = &plan->sets[i];

        rc = bm_deliveries_end(plan, i, ds, NULL);
        bm_drop(plan->a, set->whole);
        set->whole = NULL;
        set->whole_count = 0;
    }
    bm_particle_plan_drop(plan, BM_UNITS);
    if (rc && !ds->error.status)
        bm_fail(&ds->error, rc,
                rc == BOUMA_ENOMEM ? "no memory to plan particles"
                                   : "particles cannot be put into files");
    return rc;
}

/* ---- particles that go to several files --------------------------------- */

/* Which file each of this rank's goes to, of those that are not one unit. */
static int make_routers(struct bm_particle_plan *plan, struct bm_set_plan *set,
                        struct bouma_dataset *ds)
{
    int rc = BOUMA_OK;

    for (size_t k = set->first_block; k < set->end_block && !rc; k++) {
        struct bm_particle_block_units *u = &plan->blocks[k];
        struct bm_positions p;

        if (!u->sample.count)
            continue;
        bm_particle_block_positions(&p, &ds->given.blocks[k]);
        rc = bm_particle_router_make(
            &u->router, plan->a, &p, &set->files, &u->sample,
            set->files.file + set->my_first + u->first);
    }
    return rc;
}

/* What this rank has for which file, of all that is not one unit. */
static void tell_routers(const struct bm_particle_plan *plan,
                         struct bm_buffer *out)
{
    for (size_t i = 0; i < plan->set_count; i++) {
        const struct bm_set_plan *set = &plan->sets[i];
        uint32_t count = 0;

        if (!set->cut)
            continue;
        for (size_t k = set->first_block; k < set->end_block; k++)
            count += (uint32_t)plan->blocks[k].router.count;
        bm_put_u32(out, count);
        for (size_t k = set->first_block; k < set->end_block; k++) {
            const struct bm_particle_router *s = &plan->blocks[k].router;

            for (size_t j = 0; j < s->count; j++) {
                bm_put_u32(out, s->files[j]);
                bm_put_u64(out, s->first[j + 1] - s->first[j]);
            }
        }
    }
}

/* On the first rank of a node: what all have for which file. */
static int take_counts(struct bm_particle_plan *plan, struct bouma_dataset *ds,
                       const struct bm_buffer *all, const size_t *sizes)
{
    size_t ranks = (size_t)ds->comm->size;
    struct bm_cursor *told = bm_new(ds->a, ranks, sizeof(*told));
    const uint8_t *at = all->data;
    int rc = told ? BOUMA_OK : BOUMA_ENOMEM;

    for (size_t r = 0; r < ranks && !rc; at += sizes[r], r++)
        told[r] = bm_cursor_of(at, sizes[r]);
    for (size_t i = 0; i < plan->set_count && !rc; i++)
        rc = bm_deliveries_end(plan, i, ds, told);
    bm_drop(ds->a, told);
    return rc;
}

/* Collective. */
static int exchange_counts(struct bm_particle_plan *plan,
                           struct bouma_dataset *ds, int rc)
{
    int leads = bm_comm_leads(ds->comm);
    size_t *sizes =
        bm_new(ds->a, leads ? (size_t)ds->comm->size : 0, sizeof(*sizes));
    struct bm_buffer mine, all;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    if (!rc)
        tell_routers(plan, &mine);
    if (!rc && (!sizes || mine.failed))
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to plan particles");
    rc = bm_comm_collect_at_nodes(ds->comm, &mine, &all, sizes, rc, &ds->error);
    if (!rc && leads)
        rc = take_counts(plan, ds, &all, sizes);
    if (rc && !ds->error.status)
        bm_fail(&ds->error, rc,
                rc == BOUMA_ENOMEM
                    ? "no memory to plan particles"
                    : "the numbers of particles could not be decoded");
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    return rc;
}

/* All ranks know that some sets are cut, and nothing of files yet.
 * Collective. */
static int plan_cut(struct bm_particle_plan *plan, struct bouma_dataset *ds)
{
    int rc = bm_particle_units_cut(plan, ds, BOUMA_OK);

    if (!rc && bm_comm_leads(ds->comm))
        rc = plan_files(plan, ds, 1);
    rc = bm_particle_share(plan, ds, BM_FILES, rc);
    for (size_t i = 0; i < plan->set_count && !rc; i++) {
        rc = make_routers(plan, &plan->sets[i], ds);
        if (rc)
            bm_fail(&ds->error, rc,
                    rc == BOUMA_ENOMEM ? "no memory to plan particles"
                                       : "particles cannot be put into files");
    }
    rc = exchange_counts(plan, ds, rc);
    return bm_particle_share(plan, ds, BM_DELIVERIES, rc);
}

/* ---- all of it ---------------------------------------------------------- */

static int by_set(const void *left, const void *right)
{
    const struct bm_particle_block *a = left, *b = right;

    if (a->set->number != b->set->number)
        return a->set->number < b->set->number ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

/* Every set with its blocks of particles, which are sorted. */
static int make_sets(struct bm_particle_plan *plan, struct bouma_dataset *ds)
{
    int sets = bm_schema_count(&ds->schema, BM_PARTICLES);
    size_t next = 0;

    plan->a = ds->a;
    plan->scheme = bm_particle_scheme(ds->options.assign);
    plan->sets = bm_new(ds->a, (size_t)sets, sizeof(*plan->sets));
    plan->blocks = bm_new(ds->a, ds->given.block_count, sizeof(*plan->blocks));
    if (!plan->sets || !plan->blocks)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for particles");
    plan->block_count = ds->given.block_count;
    if (ds->given.block_count)
        qsort(ds->given.blocks, ds->given.block_count,
              sizeof(*ds->given.blocks), by_set);
    for (int i = 0; i < sets; i++) {
        struct bm_set_plan *set = &plan->sets[plan->set_count++];

        set->set = bm_schema_nth(&ds->schema, BM_PARTICLES, i);
        set->first_block = next;
        while (next < ds->given.block_count &&
               ds->given.blocks[next].set == set->set)
            next++;
        set->end_block = next;
    }
    return BOUMA_OK;
}

static int is_cut(const struct bm_particle_plan *plan)
{
    int cut = 0;

    for (size_t i = 0; i < plan->set_count; i++)
        cut |= plan->sets[i].cut;
    return cut;
}

int bm_particle_plan_make(struct bm_particle_plan *plan,
                          struct bouma_dataset *ds, int rc)
{
    int stages = 0;

    memset(plan, 0, sizeof(*plan));
    if (!rc)
        rc = make_sets(plan, ds);
    rc = bm_particle_units_find(plan, ds, rc);
    if (!rc && bm_comm_leads(ds->comm)) {
        stages = is_cut(plan) ? BM_UNITS : BM_FILES | BM_DELIVERIES;
        if (stages != BM_UNITS)
            rc = plan_files(plan, ds, 0);
    }
    rc = bm_particle_share(plan, ds, stages, rc);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (rc)
        return rc; /* the same on all; else all know what is cut */
    if (is_cut(plan))
        rc = bm_comm_agree(ds->comm, plan_cut(plan, ds), &ds->error);
    for (size_t i = 0; i < plan->set_count && !rc; i++)
        plan->files += plan->sets[i].files.files;
    return rc;
}

void bm_particle_plan_number(struct bm_particle_plan *plan, uint32_t first)
{
    for (size_t i = 0; i < plan->set_count; i++) {
        plan->sets[i].first_subfile = first;
        first += (uint32_t)plan->sets[i].files.files;
    }
}

/* The arrays of a set, of some stages. */
static void drop_set(struct bm_set_plan *set, const bouma_allocator *a,
                     int stages)
{
    if (stages & BM_UNITS) {
        bm_drop(a, set->units);
        bm_drop(a, set->sampled);
    }
    if (stages & BM_FILES) {
        bm_drop(a, set->first_unit);
        bm_drop(a, set->files.file);
        bm_drop(a, set->files.counts);
        bm_drop(a, set->files.nodes);
        bm_drop(a, set->whole);
    }
    if (stages & BM_DELIVERIES) {
        bm_drop(a, set->counts);
        bm_drop(a, set->writers.order);
        bm_drop(a, set->placed.writer);
        bm_drop(a, set->placed.tier);
        bm_drop(a, set->deliveries);
        bm_drop(a, set->first_delivery);
        bm_drop(a, set->by_rank);
    }
}

/* Nothing is where it was. */
static void forget_set(struct bm_set_plan *set, int stages)
{
    if (stages & BM_UNITS) {
        set->units = NULL;
        set->sampled = NULL;
    }
    if (stages & BM_FILES) {
        set->first_unit = NULL;
        set->files.file = NULL;
        set->files.counts = NULL;
        set->files.nodes = NULL;
        set->whole = NULL;
    }
    if (stages & BM_DELIVERIES) {
        set->counts = NULL;
        set->writers.order = NULL;
        set->placed.writer = NULL;
        set->placed.tier = NULL;
        set->deliveries = NULL;
        set->first_delivery = NULL;
        set->by_rank = NULL;
    }
}

void bm_particle_plan_drop(struct bm_particle_plan *plan, int stages)
{
    for (size_t i = 0; i < plan->set_count; i++) {
        drop_set(&plan->sets[i], plan->a, stages & ~plan->views);
        forget_set(&plan->sets[i], stages);
    }
    plan->views &= ~stages;
}

void bm_particle_plan_release(struct bm_particle_plan *plan)
{
    if (!plan->a)
        return;
    bm_particle_plan_drop(plan, BM_UNITS | BM_FILES | BM_DELIVERIES);
    for (size_t i = 0; i < plan->set_count; i++)
        bm_drop(plan->a, plan->sets[i].variables);
    for (size_t k = 0; k < plan->block_count; k++) {
        bm_sample_release(&plan->blocks[k].sample);
        bm_particle_router_release(&plan->blocks[k].router);
    }
    bm_drop(plan->a, plan->sets);
    bm_drop(plan->a, plan->blocks);
    memset(plan, 0, sizeof(*plan));
}
