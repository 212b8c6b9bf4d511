/* particle_plan.c -- see particle_plan.h. */
#include "write/particle_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- files and their writers -------------------------------------------- */

static int by_file_and_rank(const void *left, const void *right)
{
    const struct bm_delivery *a = left, *b = right;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Entries of one file and rank are summed up, and each file's counted. */
static int sum_up(struct bm_particle_plan *plan, struct bm_set_plan *set,
                  size_t count)
{
    size_t files = (size_t)set->files.files, n = 0;
    struct bm_delivery *d = set->deliveries;

    set->first_delivery =
        bm_new(plan->a, files + 1, sizeof(*set->first_delivery));
    if (!set->first_delivery)
        return BOUMA_ENOMEM;
    if (count)
        qsort(d, count, sizeof(*d), by_file_and_rank);
    for (size_t i = 0; i < count; i++) {
        struct bm_delivery *last =
            set->delivery_count ? &d[set->delivery_count - 1] : NULL;

        if (last && last->file == d[i].file && last->rank == d[i].rank)
            last->count += d[i].count;
        else
            d[set->delivery_count++] = d[i];
    }
    for (size_t f = 0; f < files; f++) {
        uint64_t first = 0;

        set->first_delivery[f] = n;
        for (; n < set->delivery_count && d[n].file == f; n++) {
            d[n].first = first;
            first += d[n].count;
        }
        set->files.counts[f] = first; /* exact, where it was a sample's */
    }
    set->first_delivery[files] = n;
    return BOUMA_OK;
}

/* What each rank has for each file: of whole units from the plan, of others
 * from what the ranks say (a cursor for each). */
static int list_deliveries(struct bm_particle_plan *plan,
                           struct bm_set_plan *set, struct bm_cursor *told,
                           int ranks)
{
    size_t n = 0, room = set->unit_count;

    for (int r = 0; r < ranks && told; r++)
        room += bm_cursor_left(&told[r]) / 12;
    set->deliveries = bm_new(plan->a, room, sizeof(*set->deliveries));
    if (!set->deliveries)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < set->unit_count; i++)
        if (set->files.file[i] != BM_NO_FILE && !set->sampled[i])
            set->deliveries[n++] = (struct bm_delivery){
                set->files.file[i], set->units[i].rank, set->units[i].count, 0};
    for (int r = 0; r < ranks && told && set->cut; r++) {
        uint32_t count = bm_get_u32(&told[r]);

        if (count > bm_cursor_left(&told[r]) / 12)
            return BOUMA_ECOMM;
        for (uint32_t i = 0; i < count; i++) {
            struct bm_delivery *d = &set->deliveries[n++];

            *d = (struct bm_delivery){.file = bm_get_u32(&told[r]), .rank = r};
            d->count = bm_get_u64(&told[r]);
            if (d->file >= (uint64_t)set->files.files)
                return BOUMA_ECOMM;
        }
    }
    return sum_up(plan, set, n);
}

/* Who sends how many particles to which file; 'each' bytes of one are counted
 * or, if it is 1, particles. */
static int gather(struct bm_gathering *g, const struct bm_particle_plan *plan,
                  const struct bm_set_plan *set, int ranks, uint64_t each)
{
    *g = (struct bm_gathering){.files = set->files.files,
                               .ranks = ranks,
                               .first = set->first_delivery};
    g->rank = bm_new_raw(plan->a, set->delivery_count, sizeof(*g->rank));
    g->bytes = bm_new_raw(plan->a, set->delivery_count, sizeof(*g->bytes));
    if (!g->rank || !g->bytes)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < set->delivery_count; i++) {
        g->rank[i] = set->deliveries[i].rank;
        g->bytes[i] = set->deliveries[i].count * each;
    }
    return BOUMA_OK;
}

static int place_by_senders(struct bm_particle_plan *plan,
                            struct bm_set_plan *set,
                            const struct bouma_dataset *ds)
{
    struct bm_place_task task =
        bm_io_environment_place_task(&ds->engine.env, &ds->options, ds->comm);
    int chosen = bm_place_needs_senders(&task);
    struct bm_gathering g;
    int rc = gather(&g, plan, set, ds->comm->size, chosen ? set->bytes : 1);

    task.turn = 1 + (int)(set - plan->sets);
    task.turns = 1 + (int)plan->set_count;
    if (!rc && chosen)
        rc =
            bm_place_files(set->writer, set->tier, plan->a, &task, g.files, &g);
    else if (!rc)
        rc = bm_place_in_order(set->writer, plan->a, ds->options.place, &g);
    bm_drop(plan->a, g.rank);
    bm_drop(plan->a, g.bytes);
    return rc;
}

static int place_writers(struct bm_particle_plan *plan, struct bm_set_plan *set,
                         const struct bouma_dataset *ds)
{
    set->writer =
        bm_new(plan->a, (size_t)set->files.files, sizeof(*set->writer));
    set->tier = bm_new(plan->a, (size_t)set->files.files, sizeof(*set->tier));
    if (!set->writer || !set->tier)
        return BOUMA_ENOMEM;
    for (int64_t f = 0; f < set->files.files; f++)
        set->tier[f] = ds->options.tier;
    return place_by_senders(plan, set, ds);
}

/* The files of a set, and for this rank's particles that are not one unit,
 * which of them they go to. */
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

static int check_counts(const struct bm_set_plan *set, struct bm_error *error)
{
    for (int64_t f = 0; f < set->files.files; f++)
        if (set->files.counts[f] > BM_MAX_PARTICLE_SUMMARY)
            return bm_fail(error, BOUMA_ELIMIT,
                           "a file of particles \"%s\" would have %" PRIu64
                           " of them, which is beyond 2^32; ask for more or "
                           "smaller files",
                           set->set->name, set->files.counts[f]);
    return BOUMA_OK;
}

/* Who sends how many to which file, and who writes it. 'told' has a cursor for
 * each rank, or is NULL if nothing was cut. */
static int plan_deliveries(struct bm_particle_plan *plan,
                           struct bouma_dataset *ds, struct bm_cursor *told)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < plan->set_count && !rc; i++) {
        rc = list_deliveries(plan, &plan->sets[i], told, ds->comm->size);
        if (!rc)
            rc = check_counts(&plan->sets[i], &ds->error);
        if (!rc)
            rc = place_writers(plan, &plan->sets[i], ds);
    }
    return rc;
}

/* Collective. */
static int exchange_counts(struct bm_particle_plan *plan,
                           struct bouma_dataset *ds, int rc)
{
    size_t ranks = (size_t)ds->comm->size;
    size_t *sizes = bm_new(ds->a, ranks, sizeof(*sizes));
    struct bm_cursor *told = bm_new(ds->a, ranks, sizeof(*told));
    struct bm_buffer mine, all;
    const uint8_t *at;

    bm_buffer_init(&mine, ds->a);
    bm_buffer_init(&all, ds->a);
    if (!rc)
        tell_routers(plan, &mine);
    if (!rc && (!sizes || !told || mine.failed))
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to plan particles");
    rc = bm_comm_collect(ds->comm, &mine, &all, sizes, rc, &ds->error);
    at = all.data;
    for (size_t r = 0; r < ranks && !rc; at += sizes[r], r++)
        told[r] = bm_cursor_of(at, sizes[r]);
    if (!rc)
        rc = plan_deliveries(plan, ds, told);
    bm_buffer_release(&mine);
    bm_buffer_release(&all);
    bm_drop(ds->a, sizes);
    bm_drop(ds->a, told);
    return rc;
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

int bm_particle_plan_make(struct bm_particle_plan *plan,
                          struct bouma_dataset *ds, int rc)
{
    int cut = 0;

    memset(plan, 0, sizeof(*plan));
    if (!rc)
        rc = make_sets(plan, ds);
    rc = bm_particle_units_find(plan, ds, rc);
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (rc)
        return rc; /* the same on all; else all know what is cut */
    for (size_t i = 0; i < plan->set_count; i++) {
        cut |= plan->sets[i].cut;
        if (!rc)
            rc = make_files(plan, &plan->sets[i], ds);
    }
    if (rc && !ds->error.status)
        bm_fail(&ds->error, rc,
                rc == BOUMA_ENOMEM ? "no memory to plan particles"
                                   : "particles cannot be put into files");
    if (cut)
        rc = exchange_counts(plan, ds, rc);
    else if (!rc)
        rc = plan_deliveries(plan, ds, NULL);
    if (rc && !ds->error.status)
        bm_fail(&ds->error, rc,
                rc == BOUMA_ENOMEM
                    ? "no memory to plan particles"
                    : "the numbers of particles could not be decoded");
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
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

void bm_particle_plan_release(struct bm_particle_plan *plan)
{
    if (!plan->a)
        return;
    for (size_t i = 0; i < plan->set_count; i++) {
        struct bm_set_plan *set = &plan->sets[i];

        bm_drop(plan->a, set->variables);
        bm_drop(plan->a, set->units);
        bm_drop(plan->a, set->sampled);
        bm_aggregation_release(&set->files);
        bm_drop(plan->a, set->writer);
        bm_drop(plan->a, set->tier);
        bm_drop(plan->a, set->deliveries);
        bm_drop(plan->a, set->first_delivery);
    }
    for (size_t k = 0; k < plan->block_count; k++) {
        bm_sample_release(&plan->blocks[k].sample);
        bm_particle_router_release(&plan->blocks[k].router);
    }
    bm_drop(plan->a, plan->sets);
    bm_drop(plan->a, plan->blocks);
    memset(plan, 0, sizeof(*plan));
}
