/* local_directory.c -- see local.h: a rank that is told who holds parts of some
 * chunks, and finds their owners. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "plan/local_parts.h"

enum { ENTRY = 60 }; /* bytes of one part that it is told */

void bm_local_table_free(struct bm_local_table *t, const bouma_allocator *a)
{
    bm_partition_release(&t->partition);
    bm_drop(a, t->peer);
    bm_drop(a, t->blocks);
    bm_drop(a, t->number);
    bm_drop(a, t->chunks.chunk);
    bm_drop(a, t->owner);
    bm_drop(a, t->asked);
    bm_drop(a, t->link);
    bm_drop(a, t->links);
    bm_drop(a, t->room);
    bm_drop(a, t->sum);
    bm_drop(a, t->rest);
    bm_drop(a, t);
}

/* ---- what it is told ----------------------------------------------------- */

/* A part as it is told. */
struct told {
    int64_t chunk;
    uint32_t number;
    int peer; /* its number */
    struct bm_box box;
};

static int by_chunk(const void *left, const void *right)
{
    const struct told *a = left, *b = right;

    if (a->chunk != b->chunk)
        return a->chunk < b->chunk ? -1 : 1;
    if (a->peer != b->peer)
        return a->peer < b->peer ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* All parts, and whether their ranks have room. */
static int read_parts(struct told *parts, size_t count,
                      struct bm_local_table *t, const struct bm_mail *in,
                      int64_t chunks)
{
    size_t n = 0;

    for (size_t i = 0; i < in->count; i++) {
        struct bm_cursor c = bm_mail_read(in, i);

        t->peer[i] = in->letters[i].peer;
        t->room[i] = bm_get_u32(&c);
        while (bm_cursor_left(&c)) {
            struct told *p = &parts[n];

            if (n == count)
                return BOUMA_ECOMM;
            p->chunk = bm_get_i64(&c);
            p->number = bm_get_u32(&c);
            p->peer = (int)i;
            for (int d = 0; d < 3; d++) {
                p->box.lo[d] = bm_get_i64(&c);
                p->box.hi[d] = bm_get_i64(&c);
            }
            if (c.failed || p->chunk < 0 || p->chunk >= chunks)
                return BOUMA_ECOMM;
            n++;
        }
    }
    if (n)
        qsort(parts, n, sizeof(*parts), by_chunk);
    return n == count ? BOUMA_OK : BOUMA_ECOMM;
}

/* Memory for so many parts. */
static int make_room(struct bm_local_table *t, const bouma_allocator *a,
                     size_t parts, size_t peers)
{
    struct bm_partition *p = &t->partition;

    t->peers = peers;
    p->a = a;
    t->peer = bm_new_raw(a, peers, sizeof(*t->peer));
    t->room = bm_new_raw(a, peers, sizeof(*t->room));
    t->sum = bm_new(a, peers, sizeof(*t->sum));
    t->link = bm_new(a, peers + 2, sizeof(*t->link));
    t->blocks = bm_new_raw(a, parts, sizeof(*t->blocks));
    t->number = bm_new_raw(a, parts, sizeof(*t->number));
    t->links = bm_new_raw(a, parts, sizeof(*t->links));
    t->chunks.chunk = bm_new_raw(a, parts, sizeof(*t->chunks.chunk));
    t->owner = bm_new_raw(a, parts, sizeof(*t->owner));
    t->asked = bm_new_raw(a, parts, sizeof(*t->asked));
    t->rest = bm_new_raw(a, parts, sizeof(*t->rest));
    p->first = bm_new_raw(a, parts + 1, sizeof(*p->first));
    p->part = bm_new_raw(a, parts, sizeof(*p->part));
    return t->peer && t->room && t->sum && t->link && t->blocks && t->number &&
                   t->links && t->chunks.chunk && t->owner && t->asked &&
                   t->rest && p->first && p->part
               ? BOUMA_OK
               : BOUMA_ENOMEM;
}

/* Each part is a block of its own. */
static void list_parts(struct bm_local_table *t, const struct told *parts,
                       size_t count)
{
    int64_t chunks = 0;

    for (size_t i = 0; i < count; i++) {
        if (!i || parts[i].chunk != parts[i - 1].chunk) {
            t->partition.first[chunks] = (int64_t)i;
            t->owner[chunks] = t->asked[chunks] = -1;
            t->chunks.chunk[chunks++] = parts[i].chunk;
        }
        t->blocks[i] = (struct bm_block){parts[i].peer, parts[i].box};
        t->number[i] = parts[i].number;
        t->partition.part[i] = (uint32_t)i;
    }
    t->partition.first[chunks] = (int64_t)count;
    t->partition.blocks = t->blocks;
    t->partition.block_count = t->block_count = count;
    t->chunks.count = chunks;
}

/* Whether part 'i' of a chunk is the first of its peer. */
static int is_first(const struct bm_local_table *t, int64_t chunk, int64_t i)
{
    return i == t->partition.first[chunk] ||
           t->blocks[i].rank != t->blocks[i - 1].rank;
}

/* The chunks of each peer, ascending: a counting sort. */
static void list_links(struct bm_local_table *t)
{
    const int64_t *first = t->partition.first;

    for (int64_t c = 0; c < t->chunks.count; c++)
        for (int64_t i = first[c]; i < first[c + 1]; i++)
            t->link[t->blocks[i].rank + 2] += (size_t)is_first(t, c, i);
    for (size_t p = 0; p < t->peers; p++)
        t->link[p + 2] += t->link[p + 1];
    for (int64_t c = 0; c < t->chunks.count; c++)
        for (int64_t i = first[c]; i < first[c + 1]; i++)
            if (is_first(t, c, i))
                t->links[t->link[t->blocks[i].rank + 1]++] = (uint32_t)c;
}

/* `greedy` and `none` need not ask. */
static void find_owners(struct bm_local_table *t, bouma_distribute scheme)
{
    for (int64_t c = 0; c < t->chunks.count; c++) {
        int peer = t->blocks[t->partition.first[c]].rank;

        if (scheme == BOUMA_DISTRIBUTE_GREEDY)
            peer = bm_distribute_best(&t->partition, c, NULL, t->sum);
        t->owner[c] = t->peer[peer];
    }
}

int bm_local_gather(struct bm_local *l, const struct bm_mail *in)
{
    struct bm_local_table *t = l->table;
    size_t count = 0;
    struct told *parts;
    int rc;

    for (size_t i = 0; i < in->count; i++)
        count += in->letters[i].bytes / ENTRY;
    parts = bm_new_raw(l->a, count, sizeof(*parts));
    rc = make_room(t, l->a, count, in->count);
    if (!parts)
        rc = BOUMA_ENOMEM;
    if (!rc)
        rc = read_parts(parts, count, t, in, l->task.chunking.count);
    if (!rc) {
        t->chunks.a = l->a;
        t->chunks.whole = l->task.chunking;
        list_parts(t, parts, count);
        t->partition.chunking = bm_chunk_subset_chunking(&t->chunks);
        list_links(t);
        if (l->task.scheme != BOUMA_DISTRIBUTE_BALANCED)
            find_owners(t, l->task.scheme);
    }
    bm_drop(l->a, parts);
    return rc;
}

/* ---- rounds -------------------------------------------------------------- */

static void give_up(struct bm_local *l, int64_t chunk)
{
    struct bm_local_table *t = l->table;

    t->rest[t->rest_count++] =
        (struct bm_keyed){(uint64_t)bm_chunking_position(
                              &l->task.chunking, t->chunks.chunk[chunk]),
                          (size_t)chunk};
}

enum { OPEN = -1, LEFT = -2 }; /* owners that are none */

void bm_local_give_up(struct bm_local *l)
{
    struct bm_local_table *t = l->table;

    for (int64_t c = 0; c < t->chunks.count; c++)
        if (t->owner[c] == OPEN) {
            give_up(l, c);
            t->owner[c] = LEFT;
        }
}

/* Whom each chunk without an owner turns to; how many do. */
static uint64_t choose(struct bm_local *l)
{
    struct bm_local_table *t = l->table;
    uint64_t asked = 0;

    for (int64_t c = 0; c < t->chunks.count; c++) {
        t->asked[c] = -1;
        if (t->owner[c] != OPEN)
            continue;
        t->asked[c] = bm_distribute_best(&t->partition, c, t->room, t->sum);
        asked += t->asked[c] >= 0;
        if (t->asked[c] < 0) {
            give_up(l, c); /* room never grows */
            t->owner[c] = LEFT;
        }
    }
    return asked;
}

uint64_t bm_local_ask(struct bm_local *l, struct bm_mail *out)
{
    struct bm_local_table *t = l->table;
    uint64_t asked = choose(l);

    for (size_t p = 0; p < t->peers && asked; p++) {
        int any = 0;

        for (size_t i = t->link[p]; i < t->link[p + 1]; i++) {
            if (t->asked[t->links[i]] != (int)p)
                continue;
            if (!any++)
                bm_mail_begin(out, t->peer[p]);
            bm_put_u64(&out->data, (uint64_t)t->chunks.chunk[t->links[i]]);
        }
        if (any)
            bm_mail_end(out);
    }
    return asked;
}

/* The number of a chunk here; -1: it is none of these. */
static int64_t find_chunk(const struct bm_local_table *t, int64_t chunk)
{
    size_t at = 0;

    BM_BISECT(at, (size_t)t->chunks.count, i, t->chunks.chunk[i] <= chunk);
    return t->chunks.count && t->chunks.chunk[at] == chunk ? (int64_t)at : -1;
}

int bm_local_hear(struct bm_local *l, const struct bm_mail *in)
{
    struct bm_local_table *t = l->table;
    size_t peer = 0;

    for (size_t i = 0; i < in->count; i++) {
        struct bm_cursor c = bm_mail_read(in, i);

        while (peer < t->peers && t->peer[peer] < in->letters[i].peer)
            peer++;
        if (peer == t->peers || t->peer[peer] != in->letters[i].peer)
            return BOUMA_ECOMM;
        t->room[peer] = bm_get_u32(&c);
        while (bm_cursor_left(&c)) {
            int64_t chunk = find_chunk(t, bm_get_i64(&c));

            if (c.failed || chunk < 0 || t->asked[chunk] != (int)peer)
                return BOUMA_ECOMM;
            t->owner[chunk] = t->peer[peer];
        }
    }
    return BOUMA_OK;
}
