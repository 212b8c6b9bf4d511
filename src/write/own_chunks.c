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

/* Whether this rank writes a file that has no chunks: no owner tells of it. */
static int is_empty(const struct bm_making *m, uint64_t file)
{
    return m->end[file] == bm_own_first(m, file) &&
           bm_own_writer(m, (uint32_t)file) == m->job->comm->rank;
}

/* Entries by their files, with NO_ENTRY for each file that has none. NULL if
 * there is no memory. */
#define NO_ENTRY SIZE_MAX

static struct bm_keyed *sort_entries(const struct bm_making *m, size_t *count)
{
    struct bm_keyed *by_file;
    size_t n = m->entry_count;

    for (uint64_t f = 0; f < m->files && m->base; f++)
        n += (size_t)is_empty(m, f);
    *count = n;
    by_file = bm_new_raw(m->a, n, sizeof(*by_file));
    if (!by_file)
        return NULL;
    for (n = 0; n < m->entry_count; n++)
        by_file[n] = (struct bm_keyed){m->entries[n].file, n};
    for (uint64_t f = 0; f < m->files && m->base; f++)
        if (is_empty(m, f))
            by_file[n++] = (struct bm_keyed){f, NO_ENTRY};
    if (n)
        qsort(by_file, n, sizeof(*by_file), bm_keyed_compare);
    return by_file;
}

/* One more file of the plan, which has no chunks yet. */
static void begin_file(struct bm_making *m, uint64_t file, int writer,
                       size_t chunks)
{
    struct bm_assignment *out = &m->plan->own->files;
    bouma_tier only = m->job->ds->options.tier;

    out->first[out->files] = chunks;
    out->writer[out->files] = writer;
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
    if (m->base)
        plan->own->bytes =
            bm_new(m->a, plan->chunks, sizeof(*plan->own->bytes));
    if (!out->first || !out->chunk || !out->file || !out->writer ||
        !out->tier || !plan->file_number || (m->base && !plan->own->bytes))
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

        if (by_file[i].at == NO_ENTRY) {
            begin_file(m, by_file[i].key, m->job->comm->rank, n);
            continue;
        }
        e = &m->entries[by_file[i].at];
        if (!i || by_file[i].key != by_file[i - 1].key) {
            begin_file(m, e->file, e->writer, n);
            grid = 0;
        }
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

/* Feeders of this rank's files: each of the owners once, ascending. */
static int64_t *list_feeders(struct bm_making *m, size_t *count)
{
    const struct bm_assignment *files = &m->plan->own->files;
    size_t chunks = files->first[files->files], n = 0;
    int64_t *list = bm_new_raw(m->a, chunks, sizeof(*list));
    int me = m->job->comm->rank;

    for (size_t i = 0; i < chunks && list; i++) {
        int owner = m->plan->owner[files->chunk[i]];

        if (owner != me && files->writer[files->file[files->chunk[i]]] == me)
            list[n++] = owner;
    }
    if (n)
        qsort(list, n, sizeof(*list), ascending);
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (!i || list[i] != list[i - 1])
            list[(*count)++] = list[i];
    return list;
}

static int make_routes(struct bm_making *m)
{
    struct bm_own_plan *own = m->plan->own;
    const struct bm_assignment *files = &own->files;
    size_t chunks = files->first[files->files], feeders;
    int64_t *feeder = list_feeders(m, &feeders);
    int me = m->job->comm->rank;

    bm_route_init(&own->to_writers, m->a);
    bm_route_init(&own->from_owners, m->a);
    bm_route_init(&own->from_writers, m->a);
    if (!feeder)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < chunks; i++) {
        int owner = m->plan->owner[files->chunk[i]];
        int writer = files->writer[files->file[files->chunk[i]]];

        if (owner == me && writer != me)
            bm_route_add(&own->to_writers, 0, writer, 8);
        if (owner != me && writer == me)
            bm_route_add(&own->from_owners, 0, owner, 8);
        if (writer != me)
            bm_route_add(&own->from_writers, 0, writer, 8);
        own->told_count += writer == me;
    }
    own->told = bm_new_raw(m->a, own->told_count, 8);
    own->tells = bm_new_raw(m->a, feeders, sizeof(*own->tells));
    for (size_t k = 0; k < feeders && own->tells; k++)
        own->tells[own->tell_count++] =
            (struct bm_message){(int)feeder[k], own->told, 8 * own->told_count};
    bm_drop(m->a, feeder);
    return !own->told || !own->tells || bm_route_seal(&own->to_writers) ||
                   bm_route_seal(&own->from_owners) ||
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
    if (!rc && !m->base) /* else sizes are there */
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
