/* flow_builder.c -- see flow_builder.h. */
#include "engine/flow_builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"

#define FIRST_SLOTS 16

int bm_flow_builder_init(struct bm_flow_builder *f, const struct bm_comm *comm)
{
    memset(f, 0, sizeof(*f));
    f->a = comm->a;
    f->rank = comm->rank;
    f->slots = FIRST_SLOTS;
    f->table = bm_new(f->a, f->slots, sizeof(*f->table));
    return f->table ? BOUMA_OK : BOUMA_ENOMEM;
}

static void release_made(const struct bm_flow_builder *f,
                         struct bm_flow_made *m)
{
    bm_drop(f->a, m->parts);
    bm_drop(f->a, m->pieces);
}

void bm_flow_builder_release(struct bm_flow_builder *f)
{
    for (size_t i = 0; i < f->count; i++)
        release_made(f, &f->made[i]);
    if (f->a) {
        release_made(f, &f->none);
        bm_drop(f->a, f->made);
        bm_drop(f->a, f->table);
    }
    memset(f, 0, sizeof(*f));
}

/* The slot of a gatherer in a table: it is there, or the slot is empty. */
static uint32_t *find_slot(const struct bm_flow_builder *f, uint32_t *table,
                           size_t slots, int gatherer)
{
    size_t at = (size_t)bm_mix_next((uint64_t)gatherer) & (slots - 1);

    while (table[at] && f->made[table[at] - 1].gatherer != gatherer)
        at = (at + 1) & (slots - 1);
    return &table[at];
}

static int grow_table(struct bm_flow_builder *f)
{
    size_t slots = f->slots * 2;
    uint32_t *table = bm_new(f->a, slots, sizeof(*table));

    if (!table)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < f->count; i++)
        *find_slot(f, table, slots, f->made[i].gatherer) = (uint32_t)i + 1;
    bm_drop(f->a, f->table);
    f->table = table;
    f->slots = slots;
    return BOUMA_OK;
}

/* What there is for a gatherer, if only from now on. */
static struct bm_flow_made *made_for(struct bm_flow_builder *f, int gatherer)
{
    uint32_t *slot = find_slot(f, f->table, f->slots, gatherer);
    struct bm_flow_made *made;

    if (*slot)
        return &f->made[*slot - 1];
    made = bm_grow(f->a, f->made, f->count, sizeof(*made));
    if (made)
        f->made = made;
    if (!made || ((f->count + 1) * 2 > f->slots && grow_table(f))) {
        f->failed = 1;
        return &f->none;
    }
    made[f->count++] = (struct bm_flow_made){.gatherer = gatherer};
    *find_slot(f, f->table, f->slots, gatherer) = (uint32_t)f->count;
    return &made[f->count - 1];
}

int bm_flow_builder_fit(struct bm_flow_builder *f, int gatherer, uint64_t bytes,
                        uint64_t most)
{
    struct bm_flow_made *m = made_for(f, gatherer);
    struct bm_stream_part *parts;

    if (m->part_count && m->parts[m->part_count - 1].bytes + bytes <= most)
        return 0;
    parts = bm_grow(f->a, m->parts, m->part_count, sizeof(*parts));
    if (!parts) {
        f->failed = 1;
        return 0;
    }
    m->parts = parts;
    parts[m->part_count++] = (struct bm_stream_part){0, 0};
    return 1;
}

void bm_flow_builder_skip(struct bm_flow_builder *f, int gatherer,
                          uint64_t bytes)
{
    struct bm_flow_made *m = made_for(f, gatherer);

    m->bytes += bytes;
    if (!m->part_count)
        bm_flow_builder_fit(f, gatherer, bytes, 0);
    if (m->part_count)
        m->parts[m->part_count - 1].bytes += bytes;
}

/* Keep a piece that concerns this rank. */
static void keep(struct bm_flow_builder *f, int gatherer,
                 const struct bm_piece *piece)
{
    struct bm_flow_made *m;
    struct bm_piece *pieces;

    if (piece->rank != f->rank && gatherer != f->rank)
        return;
    m = made_for(f, gatherer);
    m->concerned = 1;
    pieces = bm_grow(f->a, m->pieces, m->count, sizeof(*pieces));
    if (!pieces) {
        f->failed = 1;
        return;
    }
    m->pieces = pieces;
    pieces[m->count++] = *piece;
}

uint64_t bm_flow_builder_add(struct bm_flow_builder *f, int gatherer, int rank,
                             uint64_t bytes, size_t tag)
{
    uint64_t at = made_for(f, gatherer)->bytes;

    bm_flow_builder_skip(f, gatherer, bytes);
    keep(f, gatherer, &(struct bm_piece){rank, at, bytes, tag});
    return at;
}

void bm_flow_builder_add_at(struct bm_flow_builder *f, int gatherer,
                            const struct bm_piece *piece)
{
    made_for(f, gatherer)->unsorted = 1;
    keep(f, gatherer, piece);
}

uint64_t bm_flow_builder_bytes(const struct bm_flow_builder *f, int gatherer)
{
    const uint32_t *slot = find_slot(f, f->table, f->slots, gatherer);

    return *slot ? f->made[*slot - 1].bytes : 0;
}

static int by_offset(const void *left, const void *right)
{
    const struct bm_piece *a = left, *b = right;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

/* The rounds of what was made; the pieces change hands. */
static int seal_one(struct bm_flow_builder *f, uint64_t buffer,
                    struct bm_flow *flow, struct bm_flow_made *m)
{
    uint64_t largest = 1;

    for (size_t i = 0; i < m->part_count; i++)
        largest = m->parts[i].bytes > largest ? m->parts[i].bytes : largest;
    if (m->unsorted && m->count)
        qsort(m->pieces, m->count, sizeof(*m->pieces), by_offset);
    flow->gatherer = m->gatherer;
    flow->pieces = m->pieces;
    flow->count = m->count;
    m->pieces = NULL;
    return bm_rounds_init(&flow->rounds, f->a, m->parts, m->part_count,
                          buffer ? buffer : largest);
}

/* Those that concern this rank first, by gatherer. From here on the table does
 * not hold. */
static int by_gatherer(const void *left, const void *right)
{
    const struct bm_flow_made *a = left, *b = right;

    if (a->concerned != b->concerned)
        return a->concerned ? -1 : 1;
    return a->gatherer < b->gatherer ? -1 : a->gatherer > b->gatherer;
}

int bm_flow_builder_seal(struct bm_flow_builder *f, uint64_t buffer,
                         struct bm_flow **out, size_t *count)
{
    size_t n = 0;
    int rc = BOUMA_OK;

    *out = NULL;
    *count = 0;
    if (f->failed)
        return BOUMA_ENOMEM;
    if (f->count)
        qsort(f->made, f->count, sizeof(*f->made), by_gatherer);
    while (n < f->count && f->made[n].concerned)
        n++;
    *out = bm_new(f->a, n, sizeof(**out));
    if (!*out)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < n && !rc; i++)
        rc = seal_one(f, buffer, &(*out)[(*count)++], &f->made[i]);
    if (rc) {
        bm_flows_free(f->a, *out, *count);
        *out = NULL;
        *count = 0;
    }
    return rc;
}

int bm_flow_builder_pipe(struct bm_flow_builder *f, uint64_t buffer,
                         struct bm_pipe **out, struct bm_comm *comm,
                         const struct bm_pipe_options *options,
                         const struct bm_pipe_calls *calls)
{
    struct bm_flow *flows;
    size_t count;
    int rc = bm_flow_builder_seal(f, buffer, &flows, &count);

    return rc ? rc : bm_pipe_new(out, comm, flows, count, options, calls);
}
