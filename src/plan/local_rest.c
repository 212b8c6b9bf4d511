/* local_rest.c -- see local.h: chunks whose holders are full.
 *
 * They are numbered as they follow each other on the order of keys, through all
 * directories; and so is the room that is left, through all ranks. The chunk
 * with a number gets the room with that number. Numbers are dealt out to ranks
 * in runs, and who has a number is told of both. */
#include <stdlib.h>

#include "plan/local_parts.h"

enum { CHUNKS, ROOM };

/* The first number that a rank has. */
static uint64_t first_number(uint64_t total, int ranks, int rank)
{
    return (total * (uint64_t)rank + (uint64_t)ranks - 1) / (uint64_t)ranks;
}

/* Tell whoever has them of numbers from 'from' up to 'end': u32 of what, u64
 * first and end. */
static void tell_numbers(const struct bm_local *l, int what, uint64_t from,
                         uint64_t end, struct bm_mail *out)
{
    uint64_t total = l->left;
    int ranks = l->task.ranks;

    end = end < total ? end : total;
    while (from < end) {
        int rank = (int)(from * (uint64_t)ranks / total);
        uint64_t next = first_number(total, ranks, rank + 1);

        next = next < end ? next : end;
        bm_mail_begin(out, rank);
        bm_put_u32(&out->data, (uint32_t)what);
        bm_put_u64(&out->data, from);
        bm_put_u64(&out->data, next);
        bm_mail_end(out);
        from = next;
    }
}

void bm_local_number(struct bm_local *l, struct bm_mail *out)
{
    struct bm_local_table *t = l->table;
    int64_t left = l->held->left > 0 ? l->held->left : 0;
    uint64_t first = l->before[CHUNKS], room = l->before[ROOM];

    if (t->rest_count)
        qsort(t->rest, t->rest_count, sizeof(*t->rest), bm_keyed_compare);
    tell_numbers(l, CHUNKS, first, first + t->rest_count, out);
    tell_numbers(l, ROOM, room, room + (uint64_t)left, out);
}

/* A run of numbers that this rank has, as it is told. */
struct run {
    int peer;
    uint32_t what;
    uint64_t from, end;
};

static int read_run(struct run *r, const struct bm_mail *in, size_t i,
                    uint64_t first, uint64_t end)
{
    struct bm_cursor c = bm_mail_read(in, i);

    r->peer = in->letters[i].peer;
    r->what = bm_get_u32(&c);
    r->from = bm_get_u64(&c);
    r->end = bm_get_u64(&c);
    return c.failed || r->from < first || r->end > end || r->from >= r->end
               ? BOUMA_ECOMM
               : BOUMA_OK;
}

/* Each chunk's directory gets u64 first number, and u32 the rank of each. */
int bm_local_match(struct bm_local *l, const struct bm_mail *in,
                   struct bm_mail *out)
{
    int ranks = l->task.ranks, rc = BOUMA_OK;
    uint64_t first = first_number(l->left, ranks, l->task.rank);
    uint64_t end = first_number(l->left, ranks, l->task.rank + 1);
    uint32_t *rank = bm_new(l->a, (size_t)(end - first), sizeof(*rank));
    struct run r;

    if (!rank)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < in->count && !rc; i++) {
        rc = read_run(&r, in, i, first, end);
        for (uint64_t n = r.from; n < r.end && !rc && r.what == ROOM; n++)
            rank[n - first] = (uint32_t)r.peer;
    }
    for (size_t i = 0; i < in->count && !rc; i++) {
        rc = read_run(&r, in, i, first, end);
        if (rc || r.what == ROOM)
            continue;
        bm_mail_begin(out, r.peer);
        bm_put_u64(&out->data, r.from);
        for (uint64_t n = r.from; n < r.end; n++)
            bm_put_u32(&out->data, rank[n - first]);
        bm_mail_end(out);
    }
    bm_drop(l->a, rank);
    return rc;
}

int bm_local_settle(struct bm_local *l, const struct bm_mail *in)
{
    struct bm_local_table *t = l->table;

    for (size_t i = 0; i < in->count && t->rest_count; i++) {
        struct bm_cursor c = bm_mail_read(in, i);
        uint64_t n = bm_get_u64(&c) - l->before[CHUNKS];

        for (; bm_cursor_left(&c); n++) {
            uint32_t rank = bm_get_u32(&c);

            if (c.failed || n >= t->rest_count ||
                rank >= (uint32_t)l->task.ranks)
                return BOUMA_ECOMM;
            t->owner[t->rest[n].at] = (int)rank;
        }
    }
    return BOUMA_OK;
}
