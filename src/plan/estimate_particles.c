/* estimate_particles.c -- what a write of particles by many ranks would do; see
 * estimate.h. Each rank's particles are spread evenly over its block. */
#include <string.h>

#include "plan/estimate_parts.h"
#include "plan/particle_cut.h"
#include "plan/rounds.h"
#include "plan/schedule.h"

/* What ranks hold, in units that go to one file each. */
struct holding {
    const bouma_allocator *a;
    const struct bm_estimate_task *task;
    struct bm_particle_rule rule;
    struct bm_unit *units;
    size_t count;
};

/* ---- how many ----------------------------------------------------------- */

/* Particles up to the end of a rank, whose loads and those before it are
 * 'part' of 'all'. */
static uint64_t share(uint64_t particles, uint64_t part, uint64_t all)
{
    double n;

    if (part == all || particles == all)
        return particles == all ? part : particles;
    n = (double)part / (double)all * (double)particles;
    return n < (double)particles ? (uint64_t)n : particles;
}

/* A unit for each rank. */
static void list_ranks(struct holding *h, struct bm_estimate *e)
{
    const struct bm_estimate_task *t = h->task;
    uint64_t all = 0, part = 0, before = 0;
    int ranks = t->ranks.count, first = 3 - t->ndims;

    for (int r = 0; r < ranks && t->loads; r++)
        all += t->loads[r];
    e->fewest_particles = t->particles;
    for (int r = 0; r < ranks; r++) {
        struct bm_box box = bm_hz_ranks_box(&t->ranks, r);
        struct bm_unit *u = &h->units[r];
        uint64_t end = bm_cut(t->particles, (uint64_t)ranks, (uint64_t)r + 1);

        if (t->loads) {
            part += t->loads[r];
            end = share(t->particles, part, all);
        }
        *u = (struct bm_unit){.count = end - before, .rank = r};
        for (int d = 0; d < t->ndims; d++) {
            u->low[d] = (double)box.lo[first + d];
            u->high[d] = (double)box.hi[first + d];
        }
        if (u->count < e->fewest_particles)
            e->fewest_particles = u->count;
        if (u->count > e->most_particles)
            e->most_particles = u->count;
        before = end;
    }
    h->count = (size_t)ranks;
}

/* ---- ranks that are cut -------------------------------------------------- */

/* Cells along each axis of a unit, 'points' of them or somewhat more, that are
 * about as long as wide; their number. */
static size_t choose_cells(size_t cells[3], const struct bm_unit *u, int ndims,
                           size_t points)
{
    size_t all = 1;

    cells[0] = cells[1] = cells[2] = 1;
    while (all < points) {
        int longest = 0;

        for (int d = 1; d < ndims; d++)
            if ((u->high[d] - u->low[d]) * (double)cells[longest] >
                (u->high[longest] - u->low[longest]) * (double)cells[d])
                longest = d;
        all = all / cells[longest] * (cells[longest] + 1);
        cells[longest]++;
    }
    return all;
}

/* The number of units that a rank's becomes; into 'out' if that is not NULL. */
static size_t cut_rank(struct bm_unit *out, const struct holding *h,
                       const struct bm_unit *u)
{
    size_t cells[3], all;

    if (u->count <= bm_particle_most_uncut(&h->rule)) {
        if (out)
            *out = *u;
        return 1;
    }
    all = choose_cells(cells, u, h->rule.ndims,
                       bm_particle_points(&h->rule, u->count));
    for (size_t i = 0; i < all && out; i++) {
        size_t at[3] = {i % cells[0], i / cells[0] % cells[1],
                        i / cells[0] / cells[1]};

        out[i] = (struct bm_unit){.count = bm_cut(u->count, all, i + 1) -
                                           bm_cut(u->count, all, i),
                                  .rank = u->rank};
        for (int d = 0; d < h->rule.ndims; d++)
            out[i].low[d] = out[i].high[d] =
                u->low[d] + (u->high[d] - u->low[d]) * ((double)at[d] + 0.5) /
                                (double)cells[d];
    }
    return all;
}

static int cut_ranks(struct holding *h)
{
    struct bm_unit *units;
    size_t count = 0, n = 0;

    for (size_t i = 0; i < h->count; i++)
        count += cut_rank(NULL, h, &h->units[i]);
    units = bm_new_raw(h->a, count, sizeof(*units));
    if (!units)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < h->count; i++)
        n += cut_rank(units + n, h, &h->units[i]);
    bm_drop(h->a, h->units);
    h->units = units;
    h->count = count;
    return BOUMA_OK;
}

/* ---- files --------------------------------------------------------------- */

/* Who has how many particles for which file. */
static int gather(struct bm_estimate *e, const struct holding *h,
                  const struct bm_aggregation *files)
{
    size_t *next = bm_new(h->a, (size_t)files->files + 2, sizeof(*next));
    uint32_t *unit = bm_new_raw(h->a, h->count, sizeof(*unit));
    struct bm_gatherer g;
    int rc = bm_gatherer_init(&g, &e->gathering, h->a, files->files,
                              h->task->ranks.count);

    if (!next || !unit)
        rc = BOUMA_ENOMEM;
    for (size_t i = 0; i < h->count && !rc; i++)
        if (files->file[i] != BM_NO_FILE)
            next[files->file[i] + 2]++;
    for (int64_t f = 0; f < files->files && !rc; f++)
        next[f + 2] += next[f + 1];
    for (size_t i = 0; i < h->count && !rc; i++)
        if (files->file[i] != BM_NO_FILE)
            unit[next[files->file[i] + 1]++] = (uint32_t)i;
    for (int64_t f = 0; f < files->files && !rc; f++) {
        for (size_t i = next[f]; i < next[f + 1]; i++)
            bm_gatherer_add(&g, h->units[unit[i]].rank,
                            h->units[unit[i]].count);
        rc = bm_gatherer_end_file(&g);
    }
    bm_gatherer_release(&g);
    bm_drop(h->a, next);
    bm_drop(h->a, unit);
    return rc;
}

static int make_files(struct bm_estimate *e, const struct holding *h)
{
    const struct bm_options *o = h->task->options;
    struct bm_node_groups nodes =
        o->nodes_per_file
            ? bm_node_groups_of(h->task->places, o->nodes_per_file)
            : (struct bm_node_groups){.groups = 1};
    struct bm_aggregation_spec spec = {.scheme = bm_particle_scheme(o->assign),
                                       .ndims = h->rule.ndims,
                                       .best_axis = o->best_axis,
                                       .bytes = h->rule.bytes,
                                       .target =
                                           bm_particle_file_bytes(&h->rule),
                                       .files = o->files,
                                       .ranks = h->rule.ranks,
                                       .nodes = &nodes};
    struct bm_aggregation files;
    int rc = bm_aggregate(&files, h->a, &spec, h->units, h->count);

    if (!rc) {
        e->files = files.files;
        e->file_bytes =
            bm_new_raw(h->a, (size_t)e->files, sizeof(*e->file_bytes));
        rc = e->file_bytes ? gather(e, h, &files) : BOUMA_ENOMEM;
        for (int64_t f = 0; f < e->files && !rc; f++) {
            e->file_bytes[f] =
                (uint64_t)((double)files.counts[f] * (double)h->rule.bytes /
                               h->task->ratio +
                           0.5);
            if (files.counts[f] > e->most_in_file)
                e->most_in_file = files.counts[f];
        }
    }
    bm_aggregation_release(&files);
    return rc;
}

/* ---- writers ------------------------------------------------------------- */

static int place_files(struct bm_estimate *e,
                       const struct bm_estimate_task *task)
{
    const struct bm_placement *p = bm_placement_of(task->options->place);
    size_t files = (size_t)e->files, count = e->gathering.first[e->files];
    struct bm_place_task place = {
        .scheme = task->options->place,
        .ranks = task->ranks.count,
        .rule = task->rule,
        .places = task->options->nodes_per_file ? task->places : NULL};
    bouma_tier only = task->rule.only;
    int rc = bm_estimate_new_writers(e, p);

    if (rc)
        return rc;
    if (!p->choose && bm_place_needs_senders(&place))
        rc = bm_place_files(e->writer, NULL, e->a, &place, e->files,
                            &e->gathering);
    else if (!p->choose) /* by numbers of particles */
        rc = bm_place_in_order(e->writer, e->a, task->options->place,
                               &e->gathering);
    for (size_t f = 0; f < files; f++)
        e->tier[f] = only ? only : BOUMA_TIER_DRAM;
    for (size_t i = 0; i < count; i++)
        e->gathering.bytes[i] *= task->sample_bytes;
    if (!rc && p->choose)
        rc = p->choose(e->writer, e->tier, e->choice, e->a, &task->rule,
                       &e->gathering);
    if (!rc && task->rule.network)
        e->byte_hops =
            bm_byte_hops(task->rule.network, &e->gathering, e->writer);
    if (!rc && task->places)
        e->shipped_bytes_between = bm_estimate_bytes_between(e, task->places);
    return rc;
}

/* What a rank sends to a file counts as one message. */
static int count_ships(struct bm_estimate *e,
                       const struct bm_estimate_task *task)
{
    const struct bm_gathering *g = &e->gathering;
    uint64_t buffer =
        task->rule.buffer_bytes ? task->rule.buffer_bytes : BM_BUFFER_BYTES;
    int64_t *rounds = bm_new(e->a, (size_t)g->ranks, sizeof(*rounds));

    if (!rounds)
        return BOUMA_ENOMEM;
    for (int64_t f = 0; f < e->files; f++) {
        int64_t *own = &rounds[e->writer[f]];
        uint64_t all = 0;

        for (size_t i = g->first[f]; i < g->first[f + 1]; i++) {
            all += g->bytes[i];
            if (g->rank[i] == e->writer[f])
                continue;
            e->shipped_bytes += g->bytes[i];
            e->shipped_messages++;
        }
        e->writers += !*own;
        *own += (int64_t)((all + buffer - 1) / buffer);
        e->rounds = *own > e->rounds ? *own : e->rounds;
    }
    bm_drop(e->a, rounds);
    return BOUMA_OK;
}

int bm_estimate_make_particles(struct bm_estimate *e, const bouma_allocator *a,
                               const struct bm_estimate_task *task)
{
    const struct bm_options *o = task->options;
    struct holding h = {.a = a,
                        .task = task,
                        .rule = {.ndims = task->ndims,
                                 .bytes = task->sample_bytes,
                                 .particles = task->particles,
                                 .ranks = task->ranks.count,
                                 .assign = o->assign,
                                 .files = o->files,
                                 .file_size = o->file_size}};
    int cut = 0, rc;

    memset(e, 0, sizeof(*e));
    e->a = a;
    h.units = bm_new_raw(a, (size_t)task->ranks.count, sizeof(*h.units));
    rc = h.units ? BOUMA_OK : BOUMA_ENOMEM;
    if (!rc) {
        list_ranks(&h, e);
        rc = bm_particle_must_cut(&cut, &h.rule, a, h.units, h.count);
    }
    if (!rc && cut)
        rc = cut_ranks(&h);
    if (!rc)
        rc = make_files(e, &h);
    bm_drop(a, h.units);
    if (!rc)
        rc = place_files(e, task);
    return rc ? rc : count_ships(e, task);
}
