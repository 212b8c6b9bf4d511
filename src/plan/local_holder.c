/* local_holder.c -- see local.h: a rank that holds parts of chunks. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "plan/local_parts.h"
#include "plan/rounds.h"

uint64_t bm_local_hash(int64_t chunk)
{
    return bm_hash64(&chunk, sizeof(chunk), 0);
}

void bm_local_holder_free(struct bm_local_holder *h, const bouma_allocator *a)
{
    bm_drop(a, h->each);
    bm_drop(a, h->touch);
    bm_drop(a, h->shared);
    bm_drop(a, h);
}

struct bm_local_held *bm_local_find(const struct bm_local_holder *h,
                                    int64_t chunk)
{
    size_t at = 0;

    BM_BISECT(at, h->count, i, h->each[i].chunk <= chunk);
    return h->count && h->each[at].chunk == chunk ? &h->each[at] : NULL;
}

/* ---- what it holds ------------------------------------------------------- */

/* Chunks and blocks that have samples in common. */
struct touching {
    const bouma_allocator *a;
    struct bm_keyed *list; /* by chunk; 'at' is the block */
    size_t count, room;
    size_t block;
    int failed;
};

static void touch(void *context, int64_t first, int64_t end)
{
    struct touching *t = context;

    for (int64_t c = first; c < end && !t->failed; c++) {
        struct bm_keyed *more =
            bm_more_room(t->a, t->list, t->count, &t->room, sizeof(*more));

        t->failed = !more;
        if (!more)
            return;
        t->list = more;
        more[t->count++] = (struct bm_keyed){(uint64_t)c, t->block};
    }
}

static int find_touched(struct touching *t, const struct bm_local_task *task)
{
    const struct bm_chunking *c = &task->chunking;

    for (t->block = 0; t->block < task->count; t->block++)
        c->calls->touched(c->own, &task->blocks[t->block], 0, touch, t);
    if (t->count && !t->failed)
        qsort(t->list, t->count, sizeof(*t->list), bm_keyed_compare);
    return t->failed ? BOUMA_ENOMEM : BOUMA_OK;
}

/* The chunks of the list; those that are held as a whole are this rank's. */
static void list_held(struct bm_local_holder *h, const struct touching *t,
                      const struct bm_local_task *task)
{
    for (size_t i = 0; i < t->count;) {
        struct bm_local_held *e = &h->each[h->count++];
        struct bm_footprint whole;

        *e = (struct bm_local_held){
            .chunk = (int64_t)t->list[i].key, .first = i, .owner = -1};
        whole = bm_chunking_footprint(&task->chunking, e->chunk);
        for (; i < t->count && (int64_t)t->list[i].key == e->chunk; i++) {
            h->touch[i] = (uint32_t)t->list[i].at;
            e->samples +=
                bm_footprint_samples_in(&whole, &task->blocks[t->list[i].at]);
        }
        e->end = i;
        e->shared = e->samples != bm_footprint_samples(&whole);
        h->shared_count += (size_t)e->shared;
        if (e->shared)
            continue;
        e->owner = task->rank;
        h->left--;
        h->hashes -= bm_local_hash(e->chunk);
    }
}

/* Chunks that this rank seems to have as a whole, in several blocks. */
struct composed {
    struct bm_chunk_subset chunks;
    struct bm_partition partition;
    struct bm_block *blocks;
};

static int list_composed(struct composed *c, const bouma_allocator *a,
                         const struct bm_local_holder *h,
                         const struct bm_local_task *task, size_t touches)
{
    struct bm_partition *p = &c->partition;
    int64_t n = 0, *count = &c->chunks.count;

    p->a = c->chunks.a = a;
    c->chunks.whole = task->chunking;
    c->chunks.chunk = bm_new_raw(a, h->count, sizeof(*c->chunks.chunk));
    c->blocks = bm_new_raw(a, task->count, sizeof(*c->blocks));
    p->first = bm_new_raw(a, h->count + 1, sizeof(*p->first));
    p->part = bm_new_raw(a, touches, sizeof(*p->part));
    if (!c->chunks.chunk || !c->blocks || !p->first || !p->part)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < task->count; i++)
        c->blocks[i] = (struct bm_block){task->rank, task->blocks[i]};
    for (size_t i = 0; i < h->count; i++) {
        const struct bm_local_held *e = &h->each[i];

        if (e->shared || e->end - e->first < 2)
            continue;
        p->first[*count] = n;
        c->chunks.chunk[(*count)++] = e->chunk;
        for (size_t k = e->first; k < e->end; k++)
            p->part[n++] = h->touch[k];
    }
    p->first[*count] = n;
    p->blocks = c->blocks;
    p->block_count = task->count;
    p->chunking = bm_chunk_subset_chunking(&c->chunks);
    return BOUMA_OK;
}

/* As many samples as a chunk has are not all of them if one is in two blocks.
 * Of such a chunk no directory learns. */
static int check_composed(struct bm_local_holder *h, const bouma_allocator *a,
                          const struct bm_local_task *task, size_t touches)
{
    struct composed c = {.blocks = NULL};
    struct bm_cover_fault fault;
    int rc;

    if (touches == h->count) /* a block each */
        return BOUMA_OK;
    rc = list_composed(&c, a, h, task, touches);
    if (!rc)
        rc = bm_partition_check(&c.partition, &fault);
    h->overlaps = rc == BOUMA_ECOVER;
    bm_partition_release(&c.partition);
    bm_drop(a, c.chunks.chunk);
    bm_drop(a, c.blocks);
    return h->overlaps ? BOUMA_OK : rc;
}

static int sort_shared(struct bm_local_holder *h, const bouma_allocator *a,
                       const struct bm_local_task *task)
{
    const struct bm_chunking *c = &task->chunking;
    size_t n = 0;

    h->shared = bm_new_raw(a, h->shared_count, sizeof(*h->shared));
    if (!h->shared)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < h->count; i++)
        if (h->each[i].shared)
            h->shared[n++] = (struct bm_keyed){
                (uint64_t)bm_local_directory(
                    c->count, task->ranks,
                    bm_chunking_position(c, h->each[i].chunk)),
                i};
    if (n)
        qsort(h->shared, n, sizeof(*h->shared), bm_keyed_compare);
    return BOUMA_OK;
}

int bm_local_hold(struct bm_local *l)
{
    const struct bm_local_task *task = &l->task;
    struct bm_local_holder *h = l->held;
    uint64_t chunks = (uint64_t)task->chunking.count;
    uint64_t ranks = (uint64_t)task->ranks, rank = (uint64_t)task->rank;
    struct touching t = {.a = l->a};
    int rc = find_touched(&t, task);

    /* All chunks are somebody's: each rank counts its share of them. */
    for (uint64_t i = bm_cut(chunks, ranks, rank);
         i < bm_cut(chunks, ranks, rank + 1); i++)
        h->hashes += bm_local_hash((int64_t)i);
    h->left =
        bm_distribute_target(task->chunking.count, task->ranks, task->rank);
    if (!rc) {
        h->each = bm_new_raw(l->a, t.count, sizeof(*h->each));
        h->touch = bm_new_raw(l->a, t.count, sizeof(*h->touch));
        rc = h->each && h->touch ? BOUMA_OK : BOUMA_ENOMEM;
    }
    if (!rc) {
        list_held(h, &t, task);
        rc = check_composed(h, l->a, task, t.count);
    }
    if (!rc)
        rc = sort_shared(h, l->a, task);
    bm_drop(l->a, t.list);
    return rc;
}

/* ---- what it tells ------------------------------------------------------- */

/* The end of the run of shared chunks that have the same directory. */
static size_t same_directory(const struct bm_local_holder *h, size_t i)
{
    size_t end = i;

    while (end < h->shared_count && h->shared[end].key == h->shared[i].key)
        end++;
    return end;
}

/* For a directory: u32 whether there is room; and entries of u64 chunk, u32
 * number of a block, and six i64 of its box. */
void bm_local_tell(const struct bm_local *l, struct bm_mail *out)
{
    const struct bm_local_holder *h = l->held;

    for (size_t i = 0, end; i < h->shared_count; i = end) {
        end = same_directory(h, i);
        bm_mail_begin(out, (int)h->shared[i].key);
        bm_put_u32(&out->data, h->left > 0);
        for (size_t k = i; k < end; k++) {
            const struct bm_local_held *e = &h->each[h->shared[k].at];

            for (size_t n = e->first; n < e->end; n++) {
                const struct bm_box *box = &l->task.blocks[h->touch[n]];

                bm_put_u64(&out->data, (uint64_t)e->chunk);
                bm_put_u32(&out->data, h->touch[n]);
                for (int d = 0; d < 3; d++) {
                    bm_put_i64(&out->data, box->lo[d]);
                    bm_put_i64(&out->data, box->hi[d]);
                }
            }
        }
        bm_mail_end(out);
    }
}

/* ---- what it takes ------------------------------------------------------- */

/* The numbers in each[] of chunks that are asked for, in their order. */
static int list_asked(size_t *asked, size_t *count,
                      const struct bm_local_holder *h, const struct bm_mail *in)
{
    *count = 0;
    for (size_t i = 0; i < in->count; i++) {
        struct bm_cursor c = bm_mail_read(in, i);

        while (bm_cursor_left(&c)) {
            const struct bm_local_held *e =
                bm_local_find(h, (int64_t)bm_get_u64(&c));

            if (c.failed || !e || !e->shared || *count == h->shared_count)
                return BOUMA_ECOMM;
            asked[(*count)++] = (size_t)(e - h->each);
        }
    }
    return BOUMA_OK;
}

static int ascending(const void *left, const void *right)
{
    const size_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* For each directory that asked, or all if this rank is full now: u32 whether
 * there is room, and u64 chunks that it takes. */
static void say(const struct bm_local *l, const struct bm_mail *in,
                const uint8_t *taken, int to_all, struct bm_mail *out)
{
    const struct bm_local_holder *h = l->held;
    size_t next = 0;

    for (size_t i = 0, end; i < h->shared_count; i = end) {
        int directory = (int)h->shared[i].key, has_asked;

        end = same_directory(h, i);
        while (next < in->count && in->letters[next].peer < directory)
            next++;
        has_asked = next < in->count && in->letters[next].peer == directory;
        if (!has_asked && !to_all)
            continue;
        bm_mail_begin(out, directory);
        bm_put_u32(&out->data, h->left > 0);
        for (size_t k = i; k < end; k++)
            if (taken[h->shared[k].at])
                bm_put_u64(&out->data,
                           (uint64_t)h->each[h->shared[k].at].chunk);
        bm_mail_end(out);
    }
}

int bm_local_answer(struct bm_local *l, const struct bm_mail *in,
                    struct bm_mail *out)
{
    struct bm_local_holder *h = l->held;
    size_t *asked = bm_new_raw(l->a, h->shared_count, sizeof(*asked));
    uint8_t *taken = bm_new(l->a, h->count, sizeof(*taken));
    int had_room = h->left > 0, rc = BOUMA_ENOMEM;
    size_t count;

    if (asked && taken)
        rc = list_asked(asked, &count, h, in);
    if (!rc) {
        if (count)
            qsort(asked, count, sizeof(*asked), ascending);
        for (size_t i = 0; i < count && h->left > 0; i++, h->left--)
            taken[asked[i]] = 1;
        say(l, in, taken, had_room && h->left <= 0, out);
    }
    bm_drop(l->a, asked);
    bm_drop(l->a, taken);
    return rc;
}
