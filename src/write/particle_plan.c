/* particle_plan.c -- see particle_plan.h. */
#include "write/particle_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bouma_assign bm_particle_scheme(bouma_assign assign)
{
    return assign ? assign : BOUMA_ASSIGN_SPLIT;
}

/* ---- files and their writers -------------------------------------------- */

static int by_file_and_rank(const void *left, const void *right)
{
    const struct bm_delivery *a = left, *b = right;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Sum up what each rank has for each file. */
static int list_deliveries(struct bm_particle_plan *plan,
                           struct bm_set_plan *set)
{
    size_t n = 0, files = (size_t)set->files.files;
    struct bm_delivery *d =
        bm_new(plan->a, set->unit_count, sizeof(*set->deliveries));

    set->deliveries = d;
    set->first_delivery =
        bm_new(plan->a, files + 1, sizeof(*set->first_delivery));
    if (!d || !set->first_delivery)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < set->unit_count; i++)
        if (set->files.file[i] != BM_NO_FILE)
            d[n++] = (struct bm_delivery){
                set->files.file[i], set->units[i].rank, set->units[i].count, 0};
    if (n)
        qsort(d, n, sizeof(*d), by_file_and_rank);
    for (size_t i = 0; i < n; i++) {
        struct bm_delivery *last =
            set->delivery_count ? &d[set->delivery_count - 1] : NULL;

        if (last && last->file == d[i].file && last->rank == d[i].rank)
            last->count += d[i].count;
        else
            d[set->delivery_count++] = d[i];
    }
    n = 0;
    for (size_t f = 0; f < files; f++) {
        uint64_t first = 0;

        set->first_delivery[f] = n;
        for (; n < set->delivery_count && d[n].file == f; n++) {
            d[n].first = first;
            first += d[n].count;
        }
    }
    set->first_delivery[files] = n;
    return BOUMA_OK;
}

/* A file, and about where on the ranks its particles are. */
struct seat {
    double rank;
    uint32_t file;
};

static int by_seat(const void *left, const void *right)
{
    const struct seat *a = left, *b = right;

    if (a->rank < b->rank || a->rank > b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->file < b->file ? -1 : a->file > b->file;
}

/* Writers are placed over ranks as the scheme says, in the order of the ranks
 * that their particles come from: so that few of them have to move, and all
 * parts of the machine are used. */
static int place_writers(struct bm_particle_plan *plan, struct bm_set_plan *set,
                         const struct bouma_dataset *ds)
{
    size_t files = (size_t)set->files.files;
    struct seat *seats = bm_new(plan->a, files, sizeof(*seats));

    set->writer = bm_new(plan->a, files, sizeof(*set->writer));
    if (!seats || !set->writer) {
        bm_drop(plan->a, seats);
        return BOUMA_ENOMEM;
    }
    for (size_t f = 0; f < files; f++) {
        double sum = 0, count = 0;

        for (size_t i = set->first_delivery[f]; i < set->first_delivery[f + 1];
             i++) {
            sum += (double)set->deliveries[i].rank *
                   (double)set->deliveries[i].count;
            count += (double)set->deliveries[i].count;
        }
        seats[f] = (struct seat){sum / count, (uint32_t)f};
    }
    if (files)
        qsort(seats, files, sizeof(*seats), by_seat);
    for (size_t i = 0; i < files; i++)
        set->writer[seats[i].file] = bm_place(ds->options.place, (int64_t)files,
                                              ds->comm->size, (int64_t)i);
    bm_drop(plan->a, seats);
    return BOUMA_OK;
}

static int plan_set(struct bm_particle_plan *plan, struct bm_set_plan *set,
                    struct bouma_dataset *ds)
{
    struct bm_aggregation_spec spec = {.scheme = plan->scheme,
                                       .ndims = set->set->ndims,
                                       .best_axis = ds->options.best_axis,
                                       .bytes = set->bytes,
                                       .files = ds->options.files,
                                       .ranks = ds->comm->size};
    int rc;

    if (set->particles)
        spec.target = bm_particle_target(set, ds);
    rc = bm_aggregate(&set->files, plan->a, &spec, set->units, set->unit_count);
    for (int64_t f = 0; f < set->files.files && !rc; f++)
        if (set->files.counts[f] > BM_MAX_CLOUD)
            return bm_fail(&ds->error, BOUMA_ELIMIT,
                           "a file of particles \"%s\" would have %" PRIu64
                           " of them, which is beyond 2^32; ask for more or "
                           "smaller files",
                           set->set->name, set->files.counts[f]);
    if (!rc)
        rc = list_deliveries(plan, set);
    if (!rc)
        rc = place_writers(plan, set, ds);
    if (rc == BOUMA_ENOMEM)
        bm_fail(&ds->error, rc, "no memory to plan particles");
    else if (rc)
        bm_fail(&ds->error, rc, "particles \"%s\" cannot be put into files",
                set->set->name);
    return rc;
}

/* ---- particles by file -------------------------------------------------- */

int64_t bm_swarm_find_file(const struct bm_swarm_units *units, uint32_t file)
{
    for (size_t i = 0; i < units->file_count; i++)
        if (units->files[i] == file)
            return (int64_t)i;
    return -1;
}

/* List the particles of a swarm that is in pieces by file, in each in the order
 * in which they were given. */
static int sort_by_file(struct bm_particle_plan *plan,
                        const struct bm_set_plan *set, struct bm_swarm_units *u,
                        uint64_t count)
{
    const uint32_t *file = set->files.file + set->my_first + u->first;
    uint32_t *slot = bm_new(plan->a, u->count, sizeof(*slot));
    uint64_t *next = bm_new(plan->a, u->count + 1, sizeof(*next));

    u->files = bm_new(plan->a, u->count, sizeof(*u->files));
    u->first_index = bm_new(plan->a, u->count + 1, sizeof(*u->first_index));
    u->index = bm_new_raw(plan->a, (size_t)count, sizeof(*u->index));
    if (!slot || !next || !u->files || !u->first_index || !u->index) {
        bm_drop(plan->a, slot);
        bm_drop(plan->a, next);
        return BOUMA_ENOMEM;
    }
    for (size_t i = 0; i < u->count; i++)
        if (bm_swarm_find_file(u, file[i]) < 0)
            u->files[u->file_count++] = file[i];
    for (size_t i = 0; i < u->count; i++) {
        slot[i] = (uint32_t)bm_swarm_find_file(u, file[i]);
        next[slot[i] + 1] += u->pieces.units[i].count;
    }
    for (size_t i = 0; i < u->file_count; i++)
        next[i + 1] += next[i];
    memcpy(u->first_index, next, (u->file_count + 1) * sizeof(*next));
    for (uint64_t i = 0; i < count; i++)
        u->index[next[slot[u->pieces.of[i]]]++] = i;
    bm_drop(plan->a, slot);
    bm_drop(plan->a, next);
    return BOUMA_OK;
}

static int sort_swarms(struct bm_particle_plan *plan, struct bouma_dataset *ds)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < plan->set_count; i++)
        for (size_t k = 0; k < plan->swarm_count && !rc; k++)
            if (ds->swarms[k].set == plan->sets[i].set &&
                plan->swarms[k].pieces.count)
                rc = sort_by_file(plan, &plan->sets[i], &plan->swarms[k],
                                  ds->swarms[k].count);
    return rc ? bm_fail(&ds->error, rc, "no memory to sort particles")
              : BOUMA_OK;
}

/* ---- all of it ---------------------------------------------------------- */

static int make_sets(struct bm_particle_plan *plan, struct bouma_dataset *ds)
{
    int sets = bm_schema_count(&ds->schema, BM_PARTICLES);

    plan->a = ds->a;
    plan->scheme = bm_particle_scheme(ds->options.assign);
    plan->sets = bm_new(ds->a, (size_t)sets, sizeof(*plan->sets));
    plan->swarms = bm_new(ds->a, ds->swarm_count, sizeof(*plan->swarms));
    if (!plan->sets || !plan->swarms)
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for particles");
    plan->swarm_count = ds->swarm_count;
    for (int i = 0; i < sets; i++)
        plan->sets[plan->set_count++].set =
            bm_schema_nth(&ds->schema, BM_PARTICLES, i);
    return BOUMA_OK;
}

int bm_particle_plan_make(struct bm_particle_plan *plan,
                          struct bouma_dataset *ds, int rc)
{
    memset(plan, 0, sizeof(*plan));
    if (!rc)
        rc = make_sets(plan, ds);
    rc = bm_particle_units_find(plan, ds, rc);
    for (size_t i = 0; i < plan->set_count && !rc; i++)
        rc = plan_set(plan, &plan->sets[i], ds);
    if (!rc)
        rc = sort_swarms(plan, ds);
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
        bm_aggregation_release(&set->files);
        bm_drop(plan->a, set->writer);
        bm_drop(plan->a, set->deliveries);
        bm_drop(plan->a, set->first_delivery);
    }
    for (size_t k = 0; k < plan->swarm_count; k++) {
        bm_pieces_release(&plan->swarms[k].pieces);
        bm_drop(plan->a, plan->swarms[k].files);
        bm_drop(plan->a, plan->swarms[k].first_index);
        bm_drop(plan->a, plan->swarms[k].index);
    }
    bm_drop(plan->a, plan->sets);
    bm_drop(plan->a, plan->swarms);
    memset(plan, 0, sizeof(*plan));
}
