/* shelf.c -- see shelf.h. */
#include "read/shelf.h"

#include <string.h>

#include "base/search.h"

#define BLOCK_BYTES ((size_t)128 << 10)

void bm_shelf_clear(struct bm_shelf *s)
{
    s->count = 0;
    for (size_t i = 0; i < s->block_count; i++)
        s->blocks[i].used = 0;
}

void bm_shelf_release(struct bm_shelf *s)
{
    for (size_t i = 0; i < s->block_count; i++)
        bm_drop(s->a, s->blocks[i].data);
    if (s->a) {
        bm_drop(s->a, s->blocks);
        bm_drop(s->a, s->runs);
    }
    memset(s, 0, sizeof(*s));
}

const uint8_t *bm_shelf_find(const struct bm_shelf *s, uint64_t begin,
                             uint64_t end)
{
    size_t at = 0;

    BM_BISECT(at, s->count, i, s->runs[i].begin <= begin);
    return at < s->count && s->runs[at].begin <= begin && s->runs[at].end >= end
               ? s->runs[at].data + (begin - s->runs[at].begin)
               : NULL;
}

/* Room of so many bytes, aligned as values need it. */
static uint8_t *take_room(struct bm_shelf *s, size_t bytes)
{
    struct bm_shelf_block *grown, *b;
    size_t i = 0;

    bytes = (bytes + 15) / 16 * 16;
    while (i < s->block_count && s->blocks[i].bytes - s->blocks[i].used < bytes)
        i++;
    if (i == s->block_count) {
        grown = bm_grow(s->a, s->blocks, s->block_count, sizeof(*grown));
        if (!grown)
            return NULL;
        s->blocks = grown;
        b = &grown[i];
        b->bytes = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        b->used = 0;
        b->data = bm_new_raw(s->a, b->bytes, 1);
        if (!b->data)
            return NULL;
        s->block_count++;
    }
    b = &s->blocks[i];
    b->used += bytes;
    return b->data + b->used - bytes;
}

uint8_t *bm_shelf_add(struct bm_shelf *s, uint64_t begin, uint64_t end,
                      size_t bytes)
{
    struct bm_shelf_run *grown =
        bm_grow(s->a, s->runs, s->count, sizeof(*grown));
    uint8_t *room;
    size_t at = 0;

    if (!grown)
        return NULL;
    s->runs = grown;
    room = take_room(s, bytes);
    if (!room)
        return NULL;
    BM_BISECT(at, s->count, i, grown[i].begin <= begin);
    at += at < s->count && grown[at].begin <= begin;
    memmove(grown + at + 1, grown + at, (s->count++ - at) * sizeof(*grown));
    grown[at] = (struct bm_shelf_run){begin, end, room};
    return room;
}
