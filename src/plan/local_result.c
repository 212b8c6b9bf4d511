/* local_result.c -- see local.h: owners are told to holders, and holders to
 * owners. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "plan/local_parts.h"

void bm_local_result_release(struct bm_local_result *r)
{
    const bouma_allocator *a = r->a;

    if (!a)
        return;
    bm_partition_release(&r->partition);
    bm_chunk_subset_free(r->chunks);
    bm_drop(a, r->blocks);
    bm_drop(a, r->owner);
    memset(r, 0, sizeof(*r));
}

/* ---- telling ------------------------------------------------------------- */

enum { OWNERS, PARTS };

/* To each peer: u32 OWNERS, and of its chunks u64 number, u32 owner. */
static void tell_owners(const struct bm_local_table *t, struct bm_mail *out)
{
    for (size_t p = 0; p < t->peers; p++) {
        bm_mail_begin(out, t->peer[p]);
        bm_put_u32(&out->data, OWNERS);
        for (size_t i = t->link[p]; i < t->link[p + 1]; i++) {
            bm_put_u64(&out->data, (uint64_t)t->chunks.chunk[t->links[i]]);
            bm_put_u32(&out->data, (uint32_t)t->owner[t->links[i]]);
        }
        bm_mail_end(out);
    }
}

/* The parts that others have of a chunk: u64 its number, u32 rank, u32 number
 * of the block there, and six i64 of its box. */
static void put_parts(struct bm_buffer *b, const struct bm_local_table *t,
                      int64_t chunk)
{
    for (int64_t i = t->partition.first[chunk];
         i < t->partition.first[chunk + 1]; i++) {
        int rank = t->peer[t->blocks[i].rank];

        if (rank == t->owner[chunk])
            continue;
        bm_put_u64(b, (uint64_t)t->chunks.chunk[chunk]);
        bm_put_u32(b, (uint32_t)rank);
        bm_put_u32(b, t->number[i]);
        for (int d = 0; d < 3; d++) {
            bm_put_i64(b, t->blocks[i].box.lo[d]);
            bm_put_i64(b, t->blocks[i].box.hi[d]);
        }
    }
}

enum { PART = 64 }; /* bytes of one */

int bm_local_publish(struct bm_local *l, struct bm_mail *out)
{
    const struct bm_local_table *t = l->table;
    size_t count = (size_t)t->chunks.count;
    struct bm_keyed *by_owner = bm_new_raw(l->a, count, sizeof(*by_owner));

    if (!by_owner)
        return BOUMA_ENOMEM;
    tell_owners(t, out);
    for (size_t i = 0; i < count; i++)
        by_owner[i] = (struct bm_keyed){(uint64_t)t->owner[i], i};
    if (count)
        qsort(by_owner, count, sizeof(*by_owner), bm_keyed_compare);
    for (size_t i = 0; i < count;) {
        uint64_t owner = by_owner[i].key;

        bm_mail_begin(out, (int)owner);
        bm_put_u32(&out->data, PARTS);
        for (; i < count && by_owner[i].key == owner; i++)
            put_parts(&out->data, t, (int64_t)by_owner[i].at);
        bm_mail_end(out);
    }
    bm_drop(l->a, by_owner);
    return BOUMA_OK;
}

/* ---- the result ---------------------------------------------------------- */

/* A part of one of this rank's chunks that another rank has. */
struct foreign {
    int64_t chunk;
    int rank;
    uint32_t number;
    struct bm_box box;
    uint32_t block; /* in the result */
};

static int by_block(const void *left, const void *right)
{
    const struct foreign *a = left, *b = right;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int read_owners(struct bm_cursor *c, struct bm_local_holder *h,
                       int ranks)
{
    while (bm_cursor_left(c)) {
        struct bm_local_held *e = bm_local_find(h, bm_get_i64(c));
        uint32_t owner = bm_get_u32(c);

        if (c->failed || !e || !e->shared || owner >= (uint32_t)ranks)
            return BOUMA_ECOMM;
        e->owner = (int)owner;
    }
    return BOUMA_OK;
}

static int read_parts(struct bm_cursor *c, struct foreign *parts, size_t *count,
                      const struct bm_local_task *task)
{
    while (bm_cursor_left(c)) {
        struct foreign *f = &parts[(*count)++];

        f->chunk = bm_get_i64(c);
        f->rank = (int)bm_get_u32(c);
        f->number = bm_get_u32(c);
        for (int d = 0; d < 3; d++) {
            f->box.lo[d] = bm_get_i64(c);
            f->box.hi[d] = bm_get_i64(c);
        }
        if (c->failed || f->chunk < 0 || f->chunk >= task->chunking.count ||
            f->rank < 0 || f->rank >= task->ranks || f->rank == task->rank)
            return BOUMA_ECOMM;
    }
    return BOUMA_OK;
}

static int read_all(struct bm_local *l, const struct bm_mail *in,
                    struct foreign *parts, size_t *count)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < in->count && !rc; i++) {
        struct bm_cursor c = bm_mail_read(in, i);

        rc = bm_get_u32(&c) == OWNERS ? read_owners(&c, l->held, l->task.ranks)
                                      : read_parts(&c, parts, count, &l->task);
    }
    for (size_t i = 0; i < l->held->count && !rc; i++)
        if (l->held->each[i].owner < 0)
            rc = BOUMA_ECOMM;
    return rc;
}

/* This rank's blocks, and those of others, each once. */
static void list_blocks(struct bm_local *l, struct foreign *parts, size_t count,
                        size_t *my_first)
{
    struct bm_local_result *r = &l->result;
    const struct bm_local_task *task = &l->task;
    size_t i = 0;
    int passed = 0;

    while (i < count || !passed) {
        if (!passed && (i == count || parts[i].rank > task->rank)) {
            *my_first = r->block_count;
            for (size_t k = 0; k < task->count; k++)
                r->blocks[r->block_count++] =
                    (struct bm_block){task->rank, task->blocks[k]};
            passed = 1;
            continue;
        }
        if (!i || by_block(&parts[i - 1], &parts[i]))
            r->blocks[r->block_count++] =
                (struct bm_block){parts[i].rank, parts[i].box};
        parts[i++].block = (uint32_t)(r->block_count - 1);
    }
}

/* Pairs of chunk and block: this rank's parts, and those of others. */
static size_t list_pairs(struct bm_keyed *pairs, const struct bm_local *l,
                         const struct foreign *parts, size_t count,
                         size_t my_first)
{
    const struct bm_local_holder *h = l->held;
    size_t n = 0;

    for (size_t i = 0; i < h->count; i++)
        for (size_t k = h->each[i].first; k < h->each[i].end; k++)
            pairs[n++] = (struct bm_keyed){(uint64_t)h->each[i].chunk,
                                           my_first + h->touch[k]};
    for (size_t i = 0; i < count; i++)
        pairs[n++] =
            (struct bm_keyed){(uint64_t)parts[i].chunk, parts[i].block};
    if (n)
        qsort(pairs, n, sizeof(*pairs), bm_keyed_compare);
    return n;
}

/* Chunks and their parts. */
static void list_chunks(struct bm_local *l, const struct bm_keyed *pairs,
                        size_t count)
{
    struct bm_local_result *r = &l->result;

    for (size_t i = 0; i < count; i++) {
        int64_t chunk = (int64_t)pairs[i].key;

        if (!i || pairs[i].key != pairs[i - 1].key) {
            const struct bm_local_held *e = bm_local_find(l->held, chunk);

            r->partition.first[r->chunks->count] = (int64_t)i;
            r->owner[r->chunks->count] = e ? e->owner : l->task.rank;
            r->chunks->chunk[r->chunks->count++] = chunk;
        }
        r->partition.part[i] = (uint32_t)pairs[i].at;
    }
    r->partition.first[r->chunks->count] = (int64_t)count;
    r->partition.blocks = r->blocks;
    r->partition.block_count = r->block_count;
    r->partition.chunking = bm_chunk_subset_chunking(r->chunks);
}

static int make_room(struct bm_local_result *r, const bouma_allocator *a,
                     size_t blocks, size_t pairs)
{
    r->a = r->partition.a = a;
    r->chunks = bm_new(a, 1, sizeof(*r->chunks));
    if (!r->chunks)
        return BOUMA_ENOMEM;
    r->chunks->a = a;
    r->blocks = bm_new_raw(a, blocks, sizeof(*r->blocks));
    r->chunks->chunk = bm_new_raw(a, pairs, sizeof(*r->chunks->chunk));
    r->owner = bm_new_raw(a, pairs, sizeof(*r->owner));
    r->partition.part = bm_new_raw(a, pairs, sizeof(*r->partition.part));
    r->partition.first = bm_new_raw(a, pairs + 1, sizeof(*r->partition.first));
    return r->blocks && r->chunks->chunk && r->owner && r->partition.part &&
                   r->partition.first
               ? BOUMA_OK
               : BOUMA_ENOMEM;
}

/* What this rank's chunks add to the report. */
static void sum_up(struct bm_local *l)
{
    const struct bm_local_result *r = &l->result;
    const struct bm_partition *p = &r->partition;

    for (int64_t c = 0; c < r->chunks->count; c++) {
        int64_t moved = 0;

        if (r->owner[c] != l->task.rank)
            continue;
        l->my_most++;
        for (int64_t i = p->first[c]; i < p->first[c + 1]; i++) {
            struct bm_footprint part = bm_partition_part(p, c, i);

            if (p->blocks[p->part[i]].rank == l->task.rank)
                continue;
            l->mine[1] += bm_footprint_samples(&part);
            moved++;
        }
        l->mine[0] += moved > 0;
        l->mine[2] += (uint64_t)moved;
    }
}

int bm_local_collect(struct bm_local *l, const struct bm_mail *in)
{
    struct bm_local_result *r = &l->result;
    size_t room = 0, touches = 0, count = 0, my_first = 0;
    struct bm_keyed *pairs;
    struct foreign *parts;
    int rc;

    for (size_t i = 0; i < in->count; i++)
        room += in->letters[i].bytes / PART + 1;
    if (l->held->count)
        touches = l->held->each[l->held->count - 1].end;
    parts = bm_new_raw(l->a, room, sizeof(*parts));
    pairs = bm_new_raw(l->a, touches + room, sizeof(*pairs));
    rc = make_room(r, l->a, l->task.count + room, touches + room);
    if (!parts || !pairs)
        rc = BOUMA_ENOMEM;
    if (!rc)
        rc = read_all(l, in, parts, &count);
    if (!rc) {
        r->chunks->whole = l->task.chunking;
        if (count)
            qsort(parts, count, sizeof(*parts), by_block);
        list_blocks(l, parts, count, &my_first);
        list_chunks(l, pairs, list_pairs(pairs, l, parts, count, my_first));
        sum_up(l);
    }
    bm_drop(l->a, parts);
    bm_drop(l->a, pairs);
    return rc;
}
