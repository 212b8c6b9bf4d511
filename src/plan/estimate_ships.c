/* estimate_ships.c -- chunks on their way to the writers of files; see
 * estimate_parts.h.
 *
 * The schedule is that of schedule.c: chunks by the bytes that their owners
 * have sent before, then by the first chunks of these. Here only the messages in
 * it count: what a rank sends to another in one round. Nothing is sorted where
 * all chunks of a file have one size: then the owners take turns. */
#include <stdlib.h>
#include <string.h>

#include "plan/estimate_parts.h"
#include "plan/schedule.h"

/* A chunk that is sent. */
struct sent {
    uint64_t before; /* bytes of its owner's earlier chunks of the file */
    uint32_t first;  /* of its owner's chunks in the file */
    uint32_t i;      /* the i-th chunk of all */
};

/* An owner of chunks of a file that all have one size. */
struct turn {
    int owner;
    uint32_t chunks; /* that it has still to send */
    uint64_t last;   /* round of the file in which it sent, from 1 on */
};

/* What writers take in, file by file. Rounds are counted on through all
 * files. */
struct intake {
    struct bm_estimate *e;
    uint64_t buffer;    /* bytes of a round */
    uint64_t begun;     /* rounds of the files before, and 1 */
    uint64_t *last;     /* [ranks], the last round in which it sent */
    uint64_t *sum;      /* [ranks], of the file: its chunks, or bytes */
    uint32_t *first;    /* [ranks], of the file: its first chunk, from 1 on */
    struct turn *turns; /* [ranks], of the owners of the file */
    size_t owner_count;
    int64_t *rounds;   /* [ranks], that it takes as a writer; -1: it is none */
    struct sent *sent; /* [2 most], of files with chunks of different sizes */
    size_t room;       /* in it */
};

/* ---- one file ------------------------------------------------------------ */

static void add_message(struct intake *in, int owner, int writer,
                        uint64_t first, uint64_t last)
{
    uint64_t known = in->last[owner];

    if (owner == writer)
        return;
    first += in->begun;
    last += in->begun;
    in->last[owner] = last;
    in->e->shipped_messages +=
        (int64_t)(known >= first ? last - known : last - first + 1);
}

enum { DIGIT = 11, SMALL = 48 };

/* The owners of a file's chunks, by their first ones, with their numbers of
 * chunks. */
static void list_owners(struct intake *in, int64_t file)
{
    const struct bm_estimate *e = in->e;
    struct turn *turns = in->turns;

    in->owner_count = 0;
    for (size_t i = e->first[file], n, end = e->first[file + 1]; i < end;
         i += n) {
        int owner = bm_estimate_owner(e, file, i);
        uint32_t same;

        n = e->file_rank ? end - i
            : e->place   ? 1
                         : bm_even_list_run(&e->owners.owner, i, end, &same);
        if (!in->sum[owner])
            turns[in->owner_count++].owner = owner;
        in->sum[owner] += n;
    }
    for (size_t k = 0; k < in->owner_count; k++) {
        uint64_t *sum = &in->sum[turns[k].owner];

        turns[k].chunks = (uint32_t)*sum;
        turns[k].last = 0;
        *sum = 0;
    }
}

/* All chunks of the file have 'bytes'. */
static void take_turns(struct intake *in, int writer, uint64_t bytes)
{
    uint64_t whole = bytes / in->buffer, rest = bytes % in->buffer;
    uint64_t round = 1, behind = 0; /* where the next chunk begins */
    uint64_t messages = 0, chunks = 0;
    size_t count = in->owner_count;

    while (count) {
        size_t left = 0;

        for (size_t k = 0; k < count; k++) {
            struct turn t = in->turns[k];
            uint64_t first = round > t.last ? round : t.last + 1;

            round += whole;
            behind += rest;
            if (behind >= in->buffer) {
                behind -= in->buffer;
                round++;
            }
            t.last = round - !behind;
            if (t.owner != writer) {
                messages += t.last + 1 - first;
                chunks++;
            }
            t.chunks--;
            in->turns[left] = t;
            left += t.chunks > 0;
        }
        count = left;
    }
    in->e->shipped_messages += (int64_t)messages;
    in->e->shipped_bytes += chunks * bytes;
}

/* ---- chunks of different sizes ------------------------------------------- */

static uint64_t key_of(const struct sent *s, int of_owner)
{
    return of_owner ? s->first : s->before;
}

static int is_sooner(const struct sent *a, const struct sent *b)
{
    return a->before != b->before ? a->before < b->before : a->first < b->first;
}

static void sort_few(struct sent *s, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct sent here = s[i];
        size_t k = i;

        for (; k && is_sooner(&here, &s[k - 1]); k--)
            s[k] = s[k - 1];
        s[k] = here;
    }
}

/* Stable, by one digit. */
static void sort_digit(struct sent *to, const struct sent *from, size_t count,
                       int of_owner, int shift)
{
    uint32_t start[1 << DIGIT] = {0}, sum = 0;

    for (size_t i = 0; i < count; i++)
        start[key_of(&from[i], of_owner) >> shift & ((1 << DIGIT) - 1)]++;
    for (size_t d = 0; d < 1 << DIGIT; d++) {
        uint32_t n = start[d];

        start[d] = sum;
        sum += n;
    }
    for (size_t i = 0; i < count; i++)
        to[start[key_of(&from[i], of_owner) >> shift & ((1 << DIGIT) - 1)]++] =
            from[i];
}

/* By what owners sent before, then by their first chunks; 'other' has as much
 * room. The sorted ones are in one of the two. */
static const struct sent *sort_sent(struct sent *s, struct sent *other,
                                    size_t count)
{
    if (count <= SMALL) {
        sort_few(s, count);
        return s;
    }
    for (int of_owner = 1; of_owner >= 0; of_owner--) {
        uint64_t differ = 0;

        for (size_t i = 1; i < count; i++)
            differ |= key_of(&s[i], of_owner) ^ key_of(&s[0], of_owner);
        for (int shift = 0; shift < 64 && differ >> shift; shift += DIGIT) {
            struct sent *to = other;

            if (!(differ >> shift & ((1 << DIGIT) - 1)))
                continue;
            sort_digit(to, s, count, of_owner, shift);
            other = s;
            s = to;
        }
    }
    return s;
}

static int make_room(struct intake *in, size_t count)
{
    if (count <= in->room)
        return BOUMA_OK;
    bm_drop(in->e->a, in->sent);
    in->room = 0;
    in->sent = bm_new_raw(in->e->a, 2 * count, sizeof(*in->sent));
    if (!in->sent)
        return BOUMA_ENOMEM;
    in->room = count;
    return BOUMA_OK;
}

static int take_sorted(struct intake *in, int64_t file)
{
    const struct bm_estimate *e = in->e;
    size_t first = e->first[file], end = e->first[file + 1];
    int writer = e->writer[file];
    const struct sent *sorted;
    uint64_t at = 0;
    int rc = make_room(in, end - first);

    if (rc)
        return rc;
    for (size_t i = first; i < end; i++) {
        int owner = bm_estimate_owner(e, file, i);

        if (!in->first[owner])
            in->first[owner] = (uint32_t)(i - first) + 1;
        in->sent[i - first] =
            (struct sent){in->sum[owner], in->first[owner], (uint32_t)i};
        in->sum[owner] += bm_sums_each(&e->bytes, bm_estimate_place(e, i));
    }
    sorted = sort_sent(in->sent, in->sent + in->room, end - first);
    for (size_t k = 0; k < end - first; k++) {
        int owner = bm_estimate_owner(e, file, sorted[k].i);
        uint64_t bytes =
            bm_sums_each(&e->bytes, bm_estimate_place(e, sorted[k].i));

        in->sum[owner] = 0;
        in->first[owner] = 0;
        if (owner != writer)
            in->e->shipped_bytes += bytes;
        add_message(in, owner, writer, at / in->buffer,
                    (at + bytes - 1) / in->buffer);
        at += bytes;
    }
    return BOUMA_OK;
}

/* ---- all files ----------------------------------------------------------- */

/* Whether all chunks of a file have one size; their sum. */
static int is_even(const struct bm_estimate *e, size_t first, size_t end,
                   uint64_t *sum)
{
    uint64_t one = bm_sums_each(&e->bytes, bm_estimate_place(e, first));
    int even = 1;

    *sum = 0;
    for (size_t i = first, n; i < end; i += n) {
        size_t place = bm_estimate_place(e, i);
        uint64_t bytes;

        n = bm_sums_run(&e->bytes, place, e->place ? place + 1 : end, &bytes);
        even &= bytes == one;
        *sum += n * bytes;
    }
    return even;
}

static int take_in(struct intake *in, int64_t file)
{
    struct bm_estimate *e = in->e;
    size_t first = e->first[file], end = e->first[file + 1];
    int64_t *rounds = &in->rounds[e->writer[file]];
    uint64_t sum, more;
    int rc = BOUMA_OK;

    if (*rounds < 0) {
        *rounds = 0;
        e->writers++;
    }
    if (first == end)
        return BOUMA_OK;
    if (is_even(e, first, end, &sum)) {
        list_owners(in, file);
        take_turns(in, e->writer[file],
                   bm_sums_each(&e->bytes, bm_estimate_place(e, first)));
    } else {
        rc = take_sorted(in, file);
    }
    more = (sum + in->buffer - 1) / in->buffer;
    in->begun += more;
    *rounds += (int64_t)more;
    e->rounds = *rounds > e->rounds ? *rounds : e->rounds;
    return rc;
}

int bm_estimate_ship(struct bm_estimate *e, const struct bm_estimate_task *task)
{
    size_t ranks = (size_t)task->ranks.count;
    struct intake *in = bm_new(e->a, 1, sizeof(*in));
    int rc;

    if (!in)
        return BOUMA_ENOMEM;
    in->e = e;
    in->begun = 1;
    in->buffer =
        task->rule.buffer_bytes ? task->rule.buffer_bytes : BM_BUFFER_BYTES;
    in->last = bm_new(e->a, ranks, sizeof(*in->last));
    in->sum = bm_new(e->a, ranks, sizeof(*in->sum));
    in->first = bm_new(e->a, ranks, sizeof(*in->first));
    in->turns = bm_new_raw(e->a, ranks, sizeof(*in->turns));
    in->rounds = bm_new_raw(e->a, ranks, sizeof(*in->rounds));
    rc = in->last && in->sum && in->first && in->turns && in->rounds
             ? BOUMA_OK
             : BOUMA_ENOMEM;
    for (size_t r = 0; r < ranks && !rc; r++)
        in->rounds[r] = -1;
    for (int64_t f = 0; f < e->files && !rc; f++)
        rc = take_in(in, f);
    bm_drop(e->a, in->sent);
    bm_drop(e->a, in->rounds);
    bm_drop(e->a, in->turns);
    bm_drop(e->a, in->first);
    bm_drop(e->a, in->sum);
    bm_drop(e->a, in->last);
    bm_drop(e->a, in);
    return rc;
}
