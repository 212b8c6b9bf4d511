/* chunk_offsets.c -- see chunk_offsets.h; docs/format.md has the bytes. */
#include "layout/chunk_offsets.h"

#include <stdlib.h>

/* ---- derived ------------------------------------------------------------ */

static void put_level(struct bm_section *s, size_t chunk, int level,
                      uint64_t *at)
{
    size_t k = chunk * (size_t)s->levels + (size_t)level;

    s->offsets[k] = *at;
    *at += s->sizes[k];
}

/* Coarse to fine, one level of all sections after the other: sections may have
 * different numbers of them. */
static void put_by_level(struct bm_head *h, uint64_t *at)
{
    int most = 0;

    for (size_t i = 0; i < h->count; i++)
        if (h->sections[i].levels > most)
            most = h->sections[i].levels;
    for (int level = most - 1; level >= 0; level--)
        for (size_t i = 0; i < h->count; i++)
            for (size_t k = 0; k < h->sections[i].count; k++)
                if (level < h->sections[i].levels)
                    put_level(&h->sections[i], k, level, at);
}

static void put_by_chunk(struct bm_head *h, uint64_t *at)
{
    for (size_t i = 0; i < h->count; i++)
        for (size_t k = 0; k < h->sections[i].count; k++)
            for (int level = h->sections[i].levels - 1; level >= 0; level--)
                put_level(&h->sections[i], k, level, at);
}

void bm_chunk_offsets_derive(struct bm_head *h)
{
    uint64_t at = h->data_offset;

    for (size_t i = 0; i < h->summaries.count; i++) {
        struct bm_summary *s = h->summaries.entries[i];

        s->index_offset = at;
        at += s->object->layout->summary->index(s).bytes;
    }
    if (h->order == BOUMA_ORDER_CHUNK)
        put_by_chunk(h, &at);
    else
        put_by_level(h, &at);
    h->data_bytes = at - h->data_offset;
}

/* ---- stored ------------------------------------------------------------- */

/* Where the i-th level of the walk has its entry in the columns. */
static size_t entry_of(const struct bm_section *s, bouma_order order, size_t i)
{
    size_t levels = (size_t)s->levels;

    return order == BOUMA_ORDER_CHUNK
               ? i / levels * levels + levels - 1 - i % levels
               : i % s->count * levels + levels - 1 - i / s->count;
}

/* The difference of two offsets as a number that is small if its amount is: 0,
 * -1, 1, -2, 2, ... are 0, 1, 2, 3, 4, ... */
static uint64_t fold(uint64_t offset, uint64_t expected)
{
    uint64_t d = offset - expected;

    return d << 1 ^ (0 - (d >> 63));
}

static uint64_t unfold(uint64_t folded, uint64_t expected)
{
    return expected + (folded >> 1 ^ (0 - (folded & 1)));
}

void bm_chunk_offsets_fill(struct bm_head *h)
{
    for (size_t i = 0; i < h->count; i++) {
        struct bm_section *s = &h->sections[i];
        uint64_t at = h->data_offset;

        for (size_t n = 0; n < s->count * (size_t)s->levels; n++) {
            size_t k = entry_of(s, h->order, n);

            if (!s->sizes[k])
                s->offsets[k] = at;
            at = s->offsets[k] + s->sizes[k];
        }
    }
}

size_t bm_chunk_offsets_bytes(const struct bm_head *h,
                              const struct bm_section *s)
{
    uint64_t at = h->data_offset;
    size_t bytes = 0;

    for (size_t n = 0; n < s->count * (size_t)s->levels; n++) {
        size_t k = entry_of(s, h->order, n);

        if (!s->sizes[k])
            continue;
        bytes += bm_varint_bytes(fold(s->offsets[k], at));
        at = s->offsets[k] + s->sizes[k];
    }
    return bytes;
}

void bm_chunk_offsets_encode(struct bm_buffer *b, const struct bm_head *h,
                             const struct bm_section *s)
{
    uint64_t at = h->data_offset;

    for (size_t n = 0; n < s->count * (size_t)s->levels; n++) {
        size_t k = entry_of(s, h->order, n);

        if (!s->sizes[k])
            continue;
        bm_put_varint(b, fold(s->offsets[k], at));
        at = s->offsets[k] + s->sizes[k];
    }
}

int bm_chunk_offsets_decode(struct bm_head *h, struct bm_section *s,
                            struct bm_cursor *c)
{
    uint64_t at = h->data_offset, end = h->data_offset + h->data_bytes;

    for (size_t n = 0; n < s->count * (size_t)s->levels; n++) {
        size_t k = entry_of(s, h->order, n);

        if (s->sizes[k])
            at = unfold(bm_get_varint(c), at);
        if (c->failed || at < h->data_offset || at > end ||
            s->sizes[k] > end - at)
            return BOUMA_EFORMAT;
        s->offsets[k] = at;
        at += s->sizes[k];
    }
    return BOUMA_OK;
}

/* ---- no byte in two levels ---------------------------------------------- */

struct stretch {
    uint64_t begin, end;
};

static int by_begin(const void *left, const void *right)
{
    const struct stretch *a = left, *b = right;

    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static size_t list_stretches(const struct bm_head *h, struct stretch *out)
{
    size_t n = 0;

    for (size_t i = 0; i < h->count; i++) {
        const struct bm_section *s = &h->sections[i];

        for (size_t k = 0; k < s->count * (size_t)s->levels; k++)
            if (s->sizes[k])
                out[n++] = (struct stretch){s->offsets[k],
                                            s->offsets[k] + s->sizes[k]};
    }
    return n;
}

int bm_chunk_offsets_check(const struct bm_head *h)
{
    struct stretch *all;
    size_t most = 0, n;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < h->count; i++)
        most += h->sections[i].count * (size_t)h->sections[i].levels;
    all = bm_new_raw(h->a, most, sizeof(*all));
    if (!all)
        return BOUMA_ENOMEM;
    n = list_stretches(h, all);
    qsort(all, n, sizeof(*all), by_begin);
    for (size_t i = 1; i < n && !rc; i++)
        if (all[i].begin < all[i - 1].end)
            rc = BOUMA_EFORMAT;
    bm_drop(h->a, all);
    return rc;
}
