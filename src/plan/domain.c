/* domain.c -- see domain.h. */
#include "plan/domain.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "bouma.h"

static int by_offset(const void *left, const void *right)
{
    const struct bm_segment *a = left, *b = right;

    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->tag < b->tag ? -1 : a->tag > b->tag;
}

/* What of the file anyone has. */
static void cover(struct bm_domain *d)
{
    for (size_t i = 0; i < d->segment_count; i++) {
        const struct bm_segment *s = &d->segments[i];
        struct bm_covered *last =
            d->covered_count ? &d->covered[d->covered_count - 1] : NULL;
        uint64_t end = s->offset + s->bytes;

        if (!last || s->offset > last->offset + last->bytes)
            d->covered[d->covered_count++] =
                (struct bm_covered){s->offset, s->bytes, d->bytes};
        else if (end > last->offset + last->bytes)
            last->bytes = end - last->offset;
        else
            continue;
        last = &d->covered[d->covered_count - 1];
        d->bytes = last->before + last->bytes;
    }
}

/* ---- cells -------------------------------------------------------------- */

#define MOST_CELLS ((uint64_t)1 << 27)

#define LONG 16 /* grains: segments from this length on have borders */

/* Offsets at which cells end, ascending. */
struct borders {
    uint64_t *at;
    size_t count;
};

static int by_number(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static uint64_t nearest(uint64_t offset, uint64_t grain)
{
    return (offset + grain / 2) / grain * grain;
}

/* The borders of what gatherers' ranks have. */
static int find_borders(struct borders *b, const struct bm_domain *d,
                        const struct bm_domain_rule *rule)
{
    const int *gatherer = rule->gatherer;
    uint64_t grain = rule->grain;

    b->count = 0;
    b->at = bm_new_raw(d->a, 2 * d->segment_count, sizeof(*b->at));
    if (!b->at)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < d->segment_count && grain; i++) {
        const struct bm_segment *s = &d->segments[i], *last = s - 1;
        uint64_t end = s->offset + s->bytes;

        if (s->bytes < LONG * grain)
            continue;
        /* What goes on with the same gatherer has no border there. */
        if (i && last->offset + last->bytes == s->offset &&
            gatherer[last->rank] == gatherer[s->rank] && b->count &&
            b->at[b->count - 1] == nearest(s->offset, grain))
            b->count--;
        else
            b->at[b->count++] = nearest(s->offset, grain);
        b->at[b->count++] = nearest(end, grain);
    }
    if (b->count)
        qsort(b->at, b->count, sizeof(*b->at), by_number);
    return BOUMA_OK;
}

/* The cells so far, and the one that is on. */
struct cutting {
    struct bm_cell *cells; /* NULL: they are just counted */
    size_t count;
    uint64_t begin, bytes, room;
};

static void end_cell(struct cutting *c)
{
    if (!c->bytes)
        return;
    if (c->cells)
        c->cells[c->count] = (struct bm_cell){c->begin, c->bytes, 0, 0};
    c->count++;
    c->bytes = 0;
}

/* Cut the covered bytes. */
static size_t cut(const struct bm_domain *d, const struct bm_domain_rule *rule,
                  const struct borders *borders, struct bm_cell *cells)
{
    uint64_t step = rule->grain ? rule->grain : rule->buffer, end = 0;
    struct cutting c = {.cells = cells};
    size_t next = 0;

    for (size_t i = 0; i < d->covered_count; i++) {
        const struct bm_covered *covered = &d->covered[i];
        uint64_t done = 0;

        /* A cell does not reach over a wide hole. */
        if (covered->offset - end >= rule->buffer)
            end_cell(&c);
        while (done < covered->bytes) {
            uint64_t at = covered->offset + done, take = covered->bytes - done;

            while (next < borders->count && borders->at[next] <= at)
                next++;
            if (!c.bytes) {
                c.begin = covered->before + done;
                c.room = rule->buffer - at % step;
            }
            if (take > c.room - c.bytes)
                take = c.room - c.bytes;
            if (next < borders->count && take > borders->at[next] - at)
                take = borders->at[next] - at;
            c.bytes += take;
            done += take;
            if (c.bytes == c.room ||
                (next < borders->count && borders->at[next] == at + take))
                end_cell(&c);
        }
        end = covered->offset + covered->bytes;
    }
    end_cell(&c);
    return c.count;
}

static int make_cells(struct bm_domain *d, const struct bm_domain_rule *rule)
{
    struct borders borders;
    int rc;

    if (d->bytes / rule->buffer > MOST_CELLS)
        return BOUMA_ELIMIT;
    rc = find_borders(&borders, d, rule);

    if (!rc) {
        d->cell_count = cut(d, rule, &borders, NULL);
        d->cells = bm_new_raw(d->a, d->cell_count, sizeof(*d->cells));
        rc = d->cells ? BOUMA_OK : BOUMA_ENOMEM;
    }
    if (!rc)
        cut(d, rule, &borders, d->cells);
    bm_drop(d->a, borders.at);
    return rc;
}

/* The number of covered bytes before a byte that is covered. */
static uint64_t before(const struct bm_domain *d, uint64_t offset)
{
    size_t at = 0;

    BM_BISECT(at, d->covered_count, i, d->covered[i].offset <= offset);
    return d->covered[at].before + (offset - d->covered[at].offset);
}

static size_t cell_of(const struct bm_domain *d, uint64_t covered)
{
    size_t at = 0;

    BM_BISECT(at, d->cell_count, i, d->cells[i].before <= covered);
    return at;
}

int bm_domain_walk(const struct bm_domain *d, size_t s,
                   int (*each)(void *context,
                               const struct bm_domain_stretch *stretch),
                   void *context)
{
    uint64_t begin = before(d, d->segments[s].offset), from = 0;
    size_t cell = cell_of(d, begin);
    int rc = 0;

    for (; from < d->segments[s].bytes && !rc; cell++) {
        const struct bm_cell *c = &d->cells[cell];
        uint64_t end = c->before + c->bytes;
        uint64_t bytes = end - begin - from;

        if (bytes > d->segments[s].bytes - from)
            bytes = d->segments[s].bytes - from;
        rc = each(context, &(struct bm_domain_stretch){
                               s, cell, from, bytes,
                               c->at + (begin + from - c->before)});
        from += bytes;
    }
    return rc;
}

/* ---- who gathers -------------------------------------------------------- */

/* What the ranks of a cell hold of it, by their gatherers. */
struct shares {
    const struct bm_domain *d;
    const int *gatherer;
    struct share {
        size_t cell;
        int gatherer;
        uint64_t bytes;
    } * list;
    size_t count, room;
};

static int add_share(void *context, const struct bm_domain_stretch *s)
{
    struct shares *all = context;
    int gatherer = all->gatherer[all->d->segments[s->segment].rank];
    struct share *last = all->count ? &all->list[all->count - 1] : NULL;

    if (last && last->cell == s->cell && last->gatherer == gatherer) {
        last->bytes += s->bytes;
        return 0;
    }
    if (all->count == all->room) {
        size_t room = all->room * 2 + 64;
        struct share *grown =
            bm_resize(all->d->a, all->list, room, sizeof(*grown));

        if (!grown)
            return BOUMA_ENOMEM;
        all->list = grown;
        all->room = room;
    }
    all->list[all->count++] = (struct share){s->cell, gatherer, s->bytes};
    return 0;
}

static int by_cell(const void *left, const void *right)
{
    const struct share *a = left, *b = right;

    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    return a->gatherer < b->gatherer ? -1 : a->gatherer > b->gatherer;
}

/* Equal gatherers of a cell as one. */
static void join_shares(struct shares *all)
{
    size_t n = 0;

    if (all->count)
        qsort(all->list, all->count, sizeof(*all->list), by_cell);
    for (size_t i = 0; i < all->count; i++)
        if (n && !by_cell(&all->list[n - 1], &all->list[i]))
            all->list[n - 1].bytes += all->list[i].bytes;
        else
            all->list[n++] = all->list[i];
    all->count = n;
}

/* How much each gatherer has so far. */
struct loads {
    uint64_t *bytes; /* [ranks] */
    uint64_t most;   /* that one may have */
    int *gatherers;  /* each once, ascending */
    size_t count;    /* of them */
    size_t next;     /* the one to take first for cells of which those that
                         hold them are full */
};

/* The gatherer of a cell of so many bytes, whose shares are list[0] up to
 * list[count - 1]: of those that are not full the one that has most of it; or
 * any that is not full. */
static int choose(struct loads *l, uint64_t bytes, const struct share *list,
                  size_t count)
{
    const struct share *best = NULL;

    for (size_t i = 0; i < count; i++)
        if (l->bytes[list[i].gatherer] + bytes <= l->most &&
            (!best || list[i].bytes > best->bytes))
            best = &list[i];
    if (best)
        return best->gatherer;
    for (size_t tries = 0; tries < l->count; tries++) {
        if (l->bytes[l->gatherers[l->next]] + bytes <= l->most)
            break;
        l->next = (l->next + 1) % l->count;
    }
    return l->gatherers[l->next];
}

/* List the ranks that gather. */
static void list_gatherers(struct loads *l, const struct bm_domain_rule *rule)
{
    uint64_t *marks = l->bytes;

    for (int r = 0; r < rule->ranks; r++)
        marks[rule->gatherer[r]] = 1;
    for (int r = 0; r < rule->ranks; r++)
        if (marks[r])
            l->gatherers[l->count++] = r;
    memset(marks, 0, (size_t)rule->ranks * sizeof(*marks));
}

static int assign(struct bm_domain *d, const struct bm_domain_rule *rule)
{
    size_t ranks = (size_t)rule->ranks, at = 0;
    struct loads l = {.bytes = bm_new(d->a, ranks, sizeof(*l.bytes)),
                      .gatherers =
                          bm_new_raw(d->a, ranks, sizeof(*l.gatherers))};
    struct shares all = {.d = d, .gatherer = rule->gatherer};
    int rc = l.bytes && l.gatherers ? BOUMA_OK : BOUMA_ENOMEM;

    for (size_t s = 0; s < d->segment_count && !rc; s++)
        rc = bm_domain_walk(d, s, add_share, &all);
    if (!rc) {
        join_shares(&all);
        list_gatherers(&l, rule);
        l.most = (uint64_t)((double)d->bytes / (double)l.count * rule->share) +
                 rule->buffer;
        for (size_t c = 0; c < d->cell_count; c++) {
            size_t end = at;
            struct bm_cell *cell = &d->cells[c];

            while (end < all.count && all.list[end].cell == c)
                end++;
            cell->gatherer = choose(&l, cell->bytes, all.list + at, end - at);
            cell->at = l.bytes[cell->gatherer];
            l.bytes[cell->gatherer] += cell->bytes;
            at = end;
        }
    }
    bm_drop(d->a, all.list);
    bm_drop(d->a, l.bytes);
    bm_drop(d->a, l.gatherers);
    return rc;
}

/* The cells of each gatherer. */
static int list_cells(struct bm_domain *d, int ranks)
{
    d->first = bm_new(d->a, (size_t)ranks + 2, sizeof(*d->first));
    d->order = bm_new_raw(d->a, d->cell_count, sizeof(*d->order));
    if (!d->first || !d->order)
        return BOUMA_ENOMEM;
    for (size_t c = 0; c < d->cell_count; c++)
        d->first[d->cells[c].gatherer + 2]++;
    for (int r = 0; r < ranks; r++)
        d->first[r + 2] += d->first[r + 1];
    for (size_t c = 0; c < d->cell_count; c++)
        d->order[d->first[d->cells[c].gatherer + 1]++] = c;
    return BOUMA_OK;
}

int bm_domain_init(struct bm_domain *d, const bouma_allocator *a,
                   const struct bm_segment *segments, size_t count,
                   const struct bm_domain_rule *rule)
{
    int rc;

    memset(d, 0, sizeof(*d));
    d->a = a;
    d->segments = bm_new_raw(a, count, sizeof(*d->segments));
    d->covered = bm_new_raw(a, count, sizeof(*d->covered));
    if (!d->segments || !d->covered)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (segments[i].offset > (uint64_t)INT64_MAX ||
            segments[i].bytes > (uint64_t)INT64_MAX - segments[i].offset)
            return BOUMA_EINVAL;
        if (segments[i].bytes)
            d->segments[d->segment_count++] = segments[i];
    }
    if (d->segment_count)
        qsort(d->segments, d->segment_count, sizeof(*d->segments), by_offset);
    cover(d);
    rc = make_cells(d, rule);
    if (!rc)
        rc = assign(d, rule);
    return rc ? rc : list_cells(d, rule->ranks);
}

void bm_domain_release(struct bm_domain *d)
{
    if (!d->a)
        return;
    bm_drop(d->a, d->segments);
    bm_drop(d->a, d->covered);
    bm_drop(d->a, d->cells);
    bm_drop(d->a, d->first);
    bm_drop(d->a, d->order);
    memset(d, 0, sizeof(*d));
}

/* ---- questions ---------------------------------------------------------- */

struct moved {
    const struct bm_domain *d;
    uint64_t bytes;
};

static int add_moved(void *context, const struct bm_domain_stretch *s)
{
    struct moved *m = context;

    if (m->d->cells[s->cell].gatherer != m->d->segments[s->segment].rank)
        m->bytes += s->bytes;
    return 0;
}

uint64_t bm_domain_moved(const struct bm_domain *d)
{
    struct moved m = {d, 0};

    for (size_t s = 0; s < d->segment_count; s++)
        bm_domain_walk(d, s, add_moved, &m);
    return m.bytes;
}

uint64_t bm_domain_offset(const struct bm_domain *d, int gatherer, uint64_t at,
                          uint64_t *run)
{
    size_t c = d->first[gatherer], k = 0;
    const struct bm_cell *cell;
    const struct bm_covered *covered;
    uint64_t before_it;

    BM_BISECT(c, d->first[gatherer + 1], i, d->cells[d->order[i]].at <= at);
    cell = &d->cells[d->order[c]];
    before_it = cell->before + (at - cell->at);
    BM_BISECT(k, d->covered_count, i, d->covered[i].before <= before_it);
    covered = &d->covered[k];
    *run = covered->before + covered->bytes - before_it;
    if (*run > cell->at + cell->bytes - at)
        *run = cell->at + cell->bytes - at;
    return covered->offset + (before_it - covered->before);
}
