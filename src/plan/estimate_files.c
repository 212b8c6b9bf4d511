/* estimate_files.c -- chunks to files, files to writers; see
 * estimate_parts.h. */
#include <string.h>

#include "base/search.h"
#include "plan/estimate_parts.h"

int64_t bm_estimate_file(const struct bm_estimate *e, int64_t place)
{
    size_t file = 0;

    if (e->rank_file)
        return e->rank_file[bm_owner_at(&e->owners, (size_t)place)];
    BM_BISECT(file, (size_t)e->files, f, e->first[f] <= (size_t)place);
    return (int64_t)file;
}

/* ---- a file for each rank, or node --------------------------------------- */

/* Files in the order of the groups of nodes that have chunks at all. */
static int number_groups(struct bm_estimate *e,
                         const struct bm_node_groups *nodes)
{
    int ranks = e->ranks.ranks, groups = nodes->groups;
    size_t *count = bm_new(e->a, (size_t)groups, sizeof(*count));
    uint32_t *number = bm_new(e->a, (size_t)groups, sizeof(*number));

    e->rank_file = bm_new_raw(e->a, (size_t)ranks, sizeof(*e->rank_file));
    e->first = bm_new(e->a, (size_t)groups + 1, sizeof(*e->first));
    if (e->rank_file && e->first && count && number) {
        for (int r = 0; r < ranks; r++) {
            e->rank_file[r] = (uint32_t)bm_node_group(nodes, r);
            count[e->rank_file[r]] += (size_t)e->owners.count[r];
        }
        for (int g = 0; g < groups; g++) {
            number[g] = (uint32_t)e->files;
            if (!count[g])
                continue;
            e->first[e->files + 1] = e->first[e->files] + count[g];
            e->files++;
        }
        for (int r = 0; r < ranks; r++)
            e->rank_file[r] = number[e->rank_file[r]];
    }
    bm_drop(e->a, count);
    bm_drop(e->a, number);
    return e->rank_file && e->first && e->files ? BOUMA_OK : BOUMA_ENOMEM;
}

/* Files in the order of the ranks that have chunks at all. */
static int number_ranks(struct bm_estimate *e)
{
    int ranks = e->ranks.ranks;

    e->rank_file = bm_new_raw(e->a, (size_t)ranks, sizeof(*e->rank_file));
    e->first = bm_new(e->a, (size_t)ranks + 1, sizeof(*e->first));
    e->file_rank = bm_new_raw(e->a, (size_t)ranks, sizeof(*e->file_rank));
    if (!e->rank_file || !e->first || !e->file_rank)
        return BOUMA_ENOMEM;
    for (int r = 0; r < ranks; r++) {
        size_t count = (size_t)e->owners.count[r];

        e->rank_file[r] = (uint32_t)e->files;
        if (!count)
            continue;
        e->file_rank[e->files] = r;
        e->first[e->files + 1] = e->first[e->files] + count;
        e->files++;
    }
    return BOUMA_OK;
}

static int cut_by_rank(struct bm_estimate *e,
                       const struct bm_estimate_costs *costs,
                       const struct bm_estimate_task *task)
{
    struct bm_node_groups nodes;
    int rc;

    if (task->options->assign == BOUMA_ASSIGN_PER_NODE) {
        nodes = bm_node_groups_of(task->places, task->options->nodes_per_file);
        rc = number_groups(e, &nodes);
    } else {
        rc = number_ranks(e);
    }
    if (rc)
        return rc;
    e->file_bytes = bm_new(e->a, (size_t)e->files, sizeof(*e->file_bytes));
    if (!e->file_bytes)
        return BOUMA_ENOMEM;
    for (size_t i = 0, n, count = (size_t)e->chunking.count; i < count;
         i += n) {
        uint64_t *bytes, cost;
        uint32_t owner;

        n = bm_even_list_run(&e->owners.owner, i, count, &owner);
        n = bm_sums_run(&costs->each, i, i + n, &cost);
        bytes = &e->file_bytes[e->rank_file[owner]];
        if (!*bytes)
            *bytes = bm_estimate_opening(costs, i);
        *bytes += n * cost;
    }
    return BOUMA_OK;
}

int bm_estimate_list_places(struct bm_estimate *e)
{
    size_t count = (size_t)e->chunking.count;
    size_t *next;

    if (!e->rank_file)
        return BOUMA_OK;
    e->place = bm_new_raw(e->a, count, sizeof(*e->place));
    next = bm_new_raw(e->a, (size_t)e->files, sizeof(*next));
    if (e->place && next) {
        memcpy(next, e->first, (size_t)e->files * sizeof(*next));
        for (size_t i = 0, end; i < count;) {
            uint32_t owner, *place;

            end = i + bm_even_list_run(&e->owners.owner, i, count, &owner);
            place = e->place + next[e->rank_file[owner]];
            next[e->rank_file[owner]] += end - i;
            for (; i < end; i++)
                *place++ = (uint32_t)i;
        }
    }
    bm_drop(e->a, next);
    return e->place && next ? BOUMA_OK : BOUMA_ENOMEM;
}

/* ---- runs of chunks ------------------------------------------------------ */

static int make_runs(struct bm_estimate *e, int64_t files)
{
    e->files = files;
    e->first = bm_new(e->a, (size_t)files + 1, sizeof(*e->first));
    e->file_bytes = bm_new_raw(e->a, (size_t)files, sizeof(*e->file_bytes));
    return e->first && e->file_bytes ? BOUMA_OK : BOUMA_ENOMEM;
}

static void measure_runs(struct bm_estimate *e,
                         const struct bm_estimate_costs *costs)
{
    uint64_t before = 0;

    for (int64_t f = 0; f < e->files; f++) {
        uint64_t sum = bm_sums_before(&costs->each, e->first[f + 1]);

        e->file_bytes[f] = sum - before;
        if (e->first[f] < e->first[f + 1])
            e->file_bytes[f] += bm_estimate_opening(costs, e->first[f]);
        before = sum;
    }
}

static int64_t file_at(const struct bm_chunking *c, int64_t place)
{
    struct bm_listed_chunk one = {.chunk = place};

    if (c->calls->position) /* else a chunk's place is its number */
        bm_chunking_list(c, place, 1, &one);
    return c->calls->file(c->own, one.chunk);
}

/* Where the file of the chunk at 'from' ends. Files ascend along the order. */
static int64_t end_of_file(const struct bm_chunking *c, int64_t from,
                           int64_t file)
{
    int64_t step = 1, lo = from, hi;

    while (lo + step < c->count && file_at(c, lo + step) == file) {
        lo += step;
        step *= 2;
    }
    hi = lo + step < c->count ? lo + step : c->count;
    while (hi - lo > 1) { /* places may be more than a size_t can count */
        int64_t middle = lo + (hi - lo) / 2;

        if (file_at(c, middle) == file)
            lo = middle;
        else
            hi = middle;
    }
    return lo + 1;
}

/* Of layouts that say which file a chunk is in. */
static int cut_as_fixed(struct bm_estimate *e)
{
    const struct bm_chunking *c = &e->chunking;
    int64_t files = file_at(c, c->count - 1) + 1, at = 0;
    int rc = make_runs(e, files);

    for (int64_t f = 0; f < files && !rc; f++)
        e->first[f + 1] = (size_t)(at = end_of_file(c, at, f));
    return rc;
}

/* The number of files, if the scheme does not say it. */
static int64_t wanted_files(const struct bm_estimate *e,
                            const struct bm_estimate_task *task)
{
    const struct bm_options *o = task->options;
    size_t count = (size_t)e->chunking.count;
    int64_t files = bm_assign_files(bm_sums_before(&e->bytes, count), count,
                                    task->ranks.count, o->files, o->file_size);

    return files < task->most_files ? files : task->most_files;
}

/* What ranks encode. */
static int sum_loads(const struct bm_estimate *e, struct bm_rank_loads *out)
{
    int ranks = e->ranks.ranks;
    uint64_t *bytes = bm_new(e->a, (size_t)ranks, sizeof(*bytes));

    *out = (struct bm_rank_loads){.ranks = ranks};
    if (!bytes)
        return BOUMA_ENOMEM;
    for (size_t i = 0, n, count = (size_t)e->chunking.count; i < count;
         i += n) {
        uint64_t each;
        uint32_t owner;

        n = bm_even_list_run(&e->owners.owner, i, count, &owner);
        n = bm_sums_run(&e->bytes, i, i + n, &each);
        bytes[owner] += n * each;
    }
    for (int r = 0; r < ranks; r++) {
        out->busy += e->owners.count[r] > 0;
        out->total += bytes[r];
        if (bytes[r] > out->most)
            out->most = bytes[r];
    }
    bm_drop(e->a, bytes);
    return BOUMA_OK;
}

/* The scheme that cuts files, into e->assign. */
static int settle_scheme(struct bm_estimate *e,
                         const struct bm_estimate_task *task)
{
    const struct bm_options *o = task->options;
    bouma_assign choice = bm_assign_with(o->assign, o->distribute);
    int64_t files = wanted_files(e, task);
    struct bm_rank_loads loads;
    int rc;

    e->assign = bm_assign_in_order(choice);
    if (!bm_assign_asks_for_loads(choice, files, e->ranks.ranks))
        return BOUMA_OK;
    rc = sum_loads(e, &loads);
    if (!rc)
        e->assign = bm_assign_settle(choice, files, &loads);
    return rc;
}

static int cut_runs(struct bm_estimate *e,
                    const struct bm_estimate_costs *costs,
                    const struct bm_estimate_task *task)
{
    size_t count = (size_t)e->chunking.count;
    uint64_t copies = (uint64_t)task->copies;
    int optimal = e->assign == BOUMA_ASSIGN_OPTIMAL;
    int single = e->assign == BOUMA_ASSIGN_SINGLE;
    int64_t files = single ? 1 : wanted_files(e, task);
    struct bm_chunk_sizes sizes = {
        .count = count,
        .costs = optimal ? &costs->each : &e->bytes,
        .opening = optimal ? bm_estimate_opening : NULL,
        .own = costs,
        .most_opening = copies * (task->section_bytes + UINT8_MAX)};
    int rc = make_runs(e, files);

    return rc ? rc
              : bm_assign_runs(e->first + 1, e->a, e->assign, &sizes, files);
}

int bm_estimate_cut(struct bm_estimate *e,
                    const struct bm_estimate_costs *costs,
                    const struct bm_estimate_task *task)
{
    int fixed = e->chunking.calls->file != NULL;
    int rc;

    if (e->chunking.count > UINT32_MAX)
        return BOUMA_ELIMIT;
    rc = fixed ? BOUMA_OK : settle_scheme(e, task);
    if (rc)
        return rc;
    if (!fixed && !bm_assign_makes_runs(e->assign))
        return cut_by_rank(e, costs, task);
    rc = fixed ? cut_as_fixed(e) : cut_runs(e, costs, task);
    if (!rc)
        measure_runs(e, costs);
    return rc;
}

/* ---- writers ------------------------------------------------------------- */

static int gather(struct bm_estimate *e)
{
    struct bm_gatherer g;
    int rc =
        bm_gatherer_init(&g, &e->gathering, e->a, e->files, e->ranks.ranks);

    for (int64_t f = 0; f < e->files && !rc; f++) {
        for (size_t i = e->first[f]; i < e->first[f + 1]; i++)
            bm_gatherer_add(&g, bm_estimate_owner(e, f, i),
                            bm_sums_each(&e->bytes, bm_estimate_place(e, i)));
        rc = bm_gatherer_end_file(&g);
    }
    bm_gatherer_release(&g);
    return rc;
}

int bm_estimate_new_writers(struct bm_estimate *e,
                            const struct bm_placement *placement)
{
    size_t files = (size_t)e->files;

    e->writer = bm_new_raw(e->a, files, sizeof(*e->writer));
    e->tier = bm_new_raw(e->a, files, sizeof(*e->tier));
    if (placement->needs_machine)
        e->choice = bm_new_raw(e->a, files, sizeof(*e->choice));
    return e->writer && e->tier && (e->choice || !placement->needs_machine)
               ? BOUMA_OK
               : BOUMA_ENOMEM;
}

int bm_estimate_place_files(struct bm_estimate *e,
                            const struct bm_estimate_task *task)
{
    struct bm_place_task place = {
        .scheme = task->options->place,
        .ranks = task->ranks.count,
        .rule = task->rule,
        .places = task->options->nodes_per_file ? task->places : NULL};
    const struct bm_placement *p = bm_placement_of(place.scheme);
    int rc = bm_estimate_new_writers(e, p);

    if (rc)
        return rc;
    if (task->rule.network || task->places || p->choose)
        rc = gather(e);
    if (!rc && e->choice)
        rc = p->choose(e->writer, e->tier, e->choice, e->a, &task->rule,
                       &e->gathering);
    else if (!rc)
        rc = bm_place_files(e->writer, e->tier, e->a, &place, e->files,
                            &e->gathering);
    if (!rc && task->rule.network)
        e->byte_hops =
            bm_byte_hops(task->rule.network, &e->gathering, e->writer);
    if (!rc && task->places)
        e->shipped_bytes_between = bm_estimate_bytes_between(e, task->places);
    return rc;
}

uint64_t bm_estimate_bytes_between(const struct bm_estimate *e,
                                   const struct bm_places *places)
{
    const struct bm_gathering *g = &e->gathering;
    uint64_t sum = 0;

    for (int64_t f = 0; f < e->files; f++) {
        int node = bm_places_node(places, e->writer[f]);

        for (size_t i = g->first[f]; i < g->first[f + 1]; i++)
            if (bm_places_node(places, g->rank[i]) != node)
                sum += g->bytes[i];
    }
    return sum;
}
