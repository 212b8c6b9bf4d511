/* own_chunks.c -- see own_plan.h: the lists of a plan, of the chunks that
 * concern this rank. */
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "base/search.h"
#include "write/own_parts.h"

/* ---- chunks of a grid ---------------------------------------------------- */

static int ascending(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* The place of an entry among the chunks of its grid, and its variable. */
static int64_t place_of(const struct bm_making *m, size_t grid,
                        const struct bm_own_entry *e, size_t *variable)
{
    uint64_t at = e->chunk - m->first[grid];
    size_t count = m->plan->grids[grid].count;

    *variable = (size_t)(at % count);
    return (int64_t)(at / count);
}

/* The first entry of a grid, or of the one behind the last. */
static size_t first_entry(const struct bm_making *m, size_t grid)
{
    size_t at = 0;

    if (grid == m->plan->grid_count)
        return m->entry_count;
    if (!m->entry_count || m->entries[0].chunk >= m->first[grid])
        return 0;
    BM_BISECT(at, m->entry_count, i, m->entries[i].chunk < m->first[grid]);
    return at + 1;
}

static int64_t chunk_at(const struct bm_chunking *c, int64_t place)
{
    struct bm_listed_chunk listed;

    bm_chunking_list(c, place, 1, &listed);
    return listed.chunk;
}

/* All chunks of a grid that concern this rank: ascending, each once. */
static int list_chunks(struct bm_making *m, size_t grid)
{
    struct bm_plan_grid *g = &m->plan->grids[grid];
    size_t begin = first_entry(m, grid), end = first_entry(m, grid + 1);
    size_t room = end - begin, n = 0, variable;
    struct bm_chunk_subset *s = g->subset = bm_new(m->a, 1, sizeof(*s));

    for (size_t j = 0; j < g->count && !m->base; j++)
        room += (size_t)m->results[g->of[j] - m->plan->decompositions]
                    .chunks->count;
    if (!s)
        return BOUMA_ENOMEM;
    s->a = m->a;
    s->whole = g->chunking;
    s->chunk = bm_new_raw(m->a, room, sizeof(*s->chunk));
    if (!s->chunk)
        return BOUMA_ENOMEM;
    for (size_t i = begin; i < end; i++)
        s->chunk[n++] =
            chunk_at(&s->whole, place_of(m, grid, &m->entries[i], &variable));
    for (size_t j = 0; j < g->count && !m->base; j++) {
        const struct bm_chunk_subset *some =
            m->results[g->of[j] - m->plan->decompositions].chunks;

        memcpy(s->chunk + n, some->chunk,
               (size_t)some->count * sizeof(*s->chunk));
        n += (size_t)some->count;
    }
    if (n)
        qsort(s->chunk, n, sizeof(*s->chunk), ascending);
    for (size_t i = 0; i < n; i++)
        if (!i || s->chunk[i] != s->chunk[i - 1])
            s->chunk[s->count++] = s->chunk[i];
    g->chunking = bm_chunk_subset_chunking(s);
    return BOUMA_OK;
}

/* They in the order of the whole grid. */
static int list_order(struct bm_making *m, size_t grid)
{
    struct bm_plan_grid *g = &m->plan->grids[grid];
    const struct bm_chunk_subset *s = g->subset;
    size_t count = (size_t)s->count;
    struct bm_keyed *places = bm_new_raw(m->a, count, sizeof(*places));

    g->order = bm_new_raw(m->a, count, sizeof(*g->order));
    for (size_t i = 0; i < count && places; i++)
        places[i] = (struct bm_keyed){
            (uint64_t)bm_chunking_position(&s->whole, s->chunk[i]), i};
    if (count && places)
        qsort(places, count, sizeof(*places), bm_keyed_compare);
    for (size_t i = 0; i < count && places && g->order; i++)
        g->order[i] = (int64_t)places[i].at;
    bm_drop(m->a, places);
    g->first = m->plan->chunks;
    m->plan->chunks += count * g->count;
    return places && g->order ? BOUMA_OK : BOUMA_ENOMEM;
}

/* ---- decompositions ------------------------------------------------------ */

/* A result, of the chunks that the grid has here: others have no parts, and an
 * owner that nobody asks for. */
static int spread_result(struct bm_making *m, struct bm_decomposition *d,
                         const struct bm_plan_grid *g)
{
    struct bm_local_result *r = &m->results[d - m->plan->decompositions];
    struct bm_partition *p = &d->partition;
    int64_t count = g->chunking.count, next = 0;

    p->a = m->a;
    p->chunking = g->chunking;
    p->first = bm_new_raw(m->a, (size_t)count + 1, sizeof(*p->first));
    d->owner = bm_new_raw(m->a, (size_t)count, sizeof(*d->owner));
    if (!p->first || !d->owner)
        return BOUMA_ENOMEM;
    for (int64_t i = 0; i < count; i++) {
        p->first[i] = r->partition.first[next];
        d->owner[i] = -1;
        if (next < r->chunks->count &&
            r->chunks->chunk[next] == g->subset->chunk[i])
            d->owner[i] = r->owner[next++];
    }
    p->first[count] = r->partition.first[next];
    p->part = r->partition.part;
    d->blocks = r->blocks;
    p->blocks = d->blocks;
    p->block_count = d->block_count = r->block_count;
    r->partition.part = NULL;
    r->blocks = NULL;
    return BOUMA_OK;
}

/* ---- files --------------------------------------------------------------- */

/* The number of an entry among the chunks of the plan. */
static size_t find_chunk(const struct bm_making *m, size_t grid,
                         const struct bm_own_entry *e)
{
    const struct bm_plan_grid *g = &m->plan->grids[grid];
    const struct bm_chunk_subset *s = g->subset;
    size_t variable, at = 0;
    int64_t place = place_of(m, grid, e, &variable);

    BM_BISECT(at, (size_t)s->count, i,
              bm_chunking_position(&s->whole, s->chunk[g->order[i]]) <= place);
    return g->first + at * g->count + variable;
}

/* The writers that concern this rank: those of its entries, and itself; each
 * once. NULL if there is no memory. */
static int64_t *list_writers(const struct bm_making *m, size_t *count)
{
    size_t n = m->entry_count + 1;
    int64_t *list = bm_new_raw(m->a, n, sizeof(*list));

    *count = 0;
    if (!list)
        return NULL;
    for (size_t i = 0; i < m->entry_count; i++)
        list[i] = m->entries[i].writer;
    list[n - 1] = m->job->comm->rank;
    qsort(list, n, sizeof(*list), ascending);
    for (size_t i = 0; i < n; i++)
        if (!i || list[i] != list[i - 1])
            list[(*count)++] = list[i];
    return list;
}

/* All files of some writers, as keys of NO_ENTRY; their number. NULL: they are
 * only counted. */
#define NO_ENTRY SIZE_MAX

static size_t list_their_files(const struct bm_making *m,
                               const int64_t *writers, size_t count,
                               struct bm_keyed *out)
{
    const struct bm_placement *p = bm_placement_of(m->job->ds->options.place);
    int ranks = m->job->comm->size;
    size_t n = 0;

    for (size_t k = 0; k < count && m->files; k++)
        for (int64_t i = 0, file;; i++, n++) {
            file = p->file_of((int64_t)m->files, ranks, (int)writers[k], i);
            if (file < 0)
                break;
            if (out)
                out[n] = (struct bm_keyed){(uint64_t)file, NO_ENTRY};
        }
    return n;
}

/* Entries by their files, and behind those of each file NO_ENTRY. NULL if there
 * is no memory. */
static struct bm_keyed *sort_entries(const struct bm_making *m, size_t *count)
{
    size_t writers, n = m->entry_count;
    int64_t *writer = list_writers(m, &writers);
    struct bm_keyed *by_file = NULL;

    *count = 0;
    if (!writer)
        return NULL;
    *count = n + list_their_files(m, writer, writers, NULL);
    by_file = bm_new_raw(m->a, *count, sizeof(*by_file));
    for (size_t i = 0; i < n && by_file; i++)
        by_file[i] = (struct bm_keyed){m->entries[i].file, i};
    if (by_file)
        list_their_files(m, writer, writers, by_file + n);
    if (by_file && *count)
        qsort(by_file, *count, sizeof(*by_file), bm_keyed_compare);
    bm_drop(m->a, writer);
    return by_file;
}

/* One more file of the plan, which has no chunks yet. */
static void begin_file(struct bm_making *m, uint64_t file, size_t chunks)
{
    struct bm_assignment *out = &m->plan->own->files;
    bouma_tier only = m->job->ds->options.tier;

    out->first[out->files] = chunks;
    out->writer[out->files] = bm_own_writer(m, (uint32_t)file);
    out->tier[out->files] = only ? only : BOUMA_TIER_DRAM;
    m->plan->file_number[out->files++] = (uint32_t)file;
}

static int new_files(struct bm_making *m, size_t files)
{
    struct bm_write_plan *plan = m->plan;
    struct bm_assignment *out = &plan->own->files;
    size_t chunks = m->entry_count;

    out->a = m->a;
    out->first = bm_new(m->a, files + 1, sizeof(*out->first));
    out->chunk = bm_new_raw(m->a, chunks, sizeof(*out->chunk));
    out->file = bm_new_raw(m->a, plan->chunks, sizeof(*out->file));
    out->writer = bm_new_raw(m->a, files, sizeof(*out->writer));
    out->tier = bm_new_raw(m->a, files, sizeof(*out->tier));
    plan->file_number = bm_new_raw(m->a, files, sizeof(*plan->file_number));
    plan->own->at = bm_new_raw(m->a, plan->chunks, sizeof(*plan->own->at));
    plan->own->file_bytes =
        bm_new_raw(m->a, files, sizeof(*plan->own->file_bytes));
    if (m->base)
        plan->own->bytes =
            bm_new(m->a, plan->chunks, sizeof(*plan->own->bytes));
    if (!out->first || !out->chunk || !out->file || !out->writer ||
        !out->tier || !plan->file_number || !plan->own->at ||
        !plan->own->file_bytes || (m->base && !plan->own->bytes))
        return BOUMA_ENOMEM;
    memset(out->file, 0xff, plan->chunks * sizeof(*out->file));
    return BOUMA_OK;
}

/* The chunks of each file ascend with the entries. */
static int list_files(struct bm_making *m)
{
    struct bm_write_plan *plan = m->plan;
    struct bm_assignment *out = &plan->own->files;
    size_t grid = 0, count, n = 0;
    struct bm_keyed *by_file = sort_entries(m, &count);
    int rc = by_file ? new_files(m, count) : BOUMA_ENOMEM;

    for (size_t i = 0; i < count && !rc; i++) {
        const struct bm_own_entry *e;
        size_t chunk;

        if (!i || by_file[i].key != by_file[i - 1].key) {
            begin_file(m, by_file[i].key, n);
            grid = 0;
        }
        if (by_file[i].at == NO_ENTRY)
            continue;
        e = &m->entries[by_file[i].at];
        while (grid + 1 < plan->grid_count && m->first[grid + 1] <= e->chunk)
            grid++;
        chunk = find_chunk(m, grid, e);
        out->chunk[n++] = (uint32_t)chunk;
        out->file[chunk] = (uint32_t)out->files - 1;
        plan->owner[chunk] = e->owner;
        if (m->base)
            plan->own->bytes[chunk] = e->bytes;
    }
    if (!rc) {
        out->first[out->files] = n;
        plan->fixed_files = out->files;
        plan->all_fixed_files = (int64_t)m->files;
    }
    bm_drop(m->a, by_file);
    return rc;
}

/* ---- routes of sizes ----------------------------------------------------- */

/* Owners of chunks in this rank's files: each once, ascending. */
static int list_feeders(struct bm_making *m)
{
    struct bm_own_plan *own = m->plan->own;
    const struct bm_assignment *files = &own->files;
    size_t chunks = files->first[files->files], n = 0;
    int64_t *list = bm_new_raw(m->a, chunks, sizeof(*list));

    own->feeder = bm_new_raw(m->a, chunks, sizeof(*own->feeder));
    for (size_t i = 0; i < chunks && list; i++) {
        int owner = m->plan->owner[files->chunk[i]];

        if (owner != m->job->comm->rank)
            list[n++] = owner;
    }
    if (n)
        qsort(list, n, sizeof(*list), ascending);
    for (size_t i = 0; i < n && own->feeder; i++)
        if (!i || list[i] != list[i - 1])
            own->feeder[own->feeders++] = (int)list[i];
    bm_drop(m->a, list);
    return list && own->feeder ? BOUMA_OK : BOUMA_ENOMEM;
}

/* Chunks: sizes go one way, places the other one. */
static void route_chunks(struct bm_making *m, int64_t file)
{
    struct bm_own_plan *own = m->plan->own;
    const struct bm_assignment *files = &own->files;
    int me = m->job->comm->rank, writer = files->writer[file];

    for (size_t i = files->first[file]; i < files->first[file + 1]; i++) {
        int owner = m->plan->owner[files->chunk[i]];

        if (writer != me) {
            bm_route_add(&own->to_writers, 0, writer, 8);
            bm_route_add(&own->from_writers, 0, writer, 8);
        } else if (owner != me) {
            bm_route_add(&own->from_owners, 0, owner, 8);
            bm_route_add(&own->to_feeders, 0, owner, 8);
        }
    }
}

static int make_routes(struct bm_making *m)
{
    struct bm_own_plan *own = m->plan->own;
    const struct bm_assignment *files = &own->files;
    size_t most = 0;
    int me = m->job->comm->rank;

    bm_route_init(&own->to_writers, m->a);
    bm_route_init(&own->from_owners, m->a);
    bm_route_init(&own->to_feeders, m->a);
    bm_route_init(&own->from_writers, m->a);
    if (list_feeders(m))
        return BOUMA_ENOMEM;
    for (int64_t f = 0; f < files->files; f++) {
        size_t chunks = files->first[f + 1] - files->first[f];

        route_chunks(m, f);
        most = chunks > most && files->writer[f] == me ? chunks : most;
    }
    /* Then the bytes of files. */
    for (size_t k = 0; k < own->feeders; k++)
        for (int64_t f = 0; f < files->files; f++)
            if (files->writer[f] == me)
                bm_route_add(&own->to_feeders, 0, own->feeder[k], 8);
    for (int64_t f = 0; f < files->files; f++)
        if (files->writer[f] != me)
            bm_route_add(&own->from_writers, 0, files->writer[f], 8);
    own->slots = bm_new_raw(m->a, most, sizeof(*own->slots));
    return !own->slots || bm_route_seal(&own->to_writers) ||
                   bm_route_seal(&own->from_owners) ||
                   bm_route_seal(&own->to_feeders) ||
                   bm_route_seal(&own->from_writers)
               ? BOUMA_ENOMEM
               : BOUMA_OK;
}

/* ---- all lists ----------------------------------------------------------- */

/* Of parts that this rank holds, the owner is known from the decomposition; of
 * chunks in files, from these, and it is the same. */
static int list_owners(struct bm_making *m)
{
    struct bm_write_plan *plan = m->plan;
    size_t n = 0;

    plan->owner = bm_new_raw(m->a, plan->chunks, sizeof(*plan->owner));
    for (; n < plan->chunks && plan->owner && m->base; n++)
        plan->owner[n] = -1; /* till files are listed */
    for (size_t i = 0; i < plan->grid_count && plan->owner && !m->base; i++) {
        const struct bm_plan_grid *g = &plan->grids[i];

        for (int64_t p = 0; p < g->chunking.count; p++)
            for (size_t j = 0; j < g->count; j++)
                plan->owner[n++] = g->of[j]->owner[g->order[p]];
    }
    return plan->owner ? BOUMA_OK : BOUMA_ENOMEM;
}

int bm_own_chunks_list(struct bm_making *m)
{
    struct bm_write_plan *plan = m->plan;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < plan->grid_count && !rc; i++) {
        rc = list_chunks(m, i);
        if (!rc)
            rc = list_order(m, i);
    }
    for (size_t i = 0; i < plan->grid_count && !rc && !m->base; i++)
        for (size_t j = 0; j < plan->grids[i].count && !rc; j++)
            if (!plan->grids[i].of[j]->owner)
                rc = spread_result(m, plan->grids[i].of[j], &plan->grids[i]);
    if (!rc)
        rc = list_owners(m);
    if (!rc)
        rc = list_files(m);
    if (!rc)
        rc = make_routes(m);
    return rc ? rc : bm_plan_find_mine(plan, m->job->comm->rank);
}

/* ---- of a step ----------------------------------------------------------- */

static void *copy(const bouma_allocator *a, const void *from, size_t count,
                  size_t size)
{
    void *to = bm_new_raw(a, count, size);

    if (to && count)
        memcpy(to, from, count * size);
    return to;
}

int bm_own_plan_files(struct bm_assignment *out,
                      const struct bm_write_plan *plan)
{
    const struct bm_assignment *from = &plan->own->files;
    size_t files = (size_t)from->files, chunks = from->first[files];

    *out = (struct bm_assignment){
        .a = plan->a,
        .files = from->files,
        .first = copy(plan->a, from->first, files + 1, sizeof(*from->first)),
        .chunk = copy(plan->a, from->chunk, chunks, sizeof(*from->chunk)),
        .file = copy(plan->a, from->file, plan->chunks, sizeof(*from->file)),
        .writer = copy(plan->a, from->writer, files, sizeof(*from->writer)),
        .tier = copy(plan->a, from->tier, files, sizeof(*from->tier))};
    return out->first && out->chunk && out->file && out->writer && out->tier
               ? BOUMA_OK
               : BOUMA_ENOMEM;
}
