/* rounds.c -- see rounds.h. */
#include "plan/rounds.h"

#include <string.h>

#include "base/search.h"
#include "bouma.h"

/* The rounds of a part; with 'start' not NULL, where they begin. */
static size_t cut(const struct bm_stream_part *part, uint64_t buffer,
                  uint64_t at, uint64_t *start)
{
    uint64_t left = part->bytes, room = buffer - part->lead % buffer;
    size_t n = 0;

    while (left) {
        uint64_t bytes = left < room ? left : room;

        if (start)
            start[n] = at;
        n++;
        at += bytes;
        left -= bytes;
        room = buffer;
    }
    return n;
}

int bm_rounds_init(struct bm_rounds *r, const bouma_allocator *a,
                   const struct bm_stream_part *parts, size_t count,
                   uint64_t buffer)
{
    uint64_t at = 0;

    memset(r, 0, sizeof(*r));
    for (size_t i = 0; i < count; i++)
        r->count += cut(&parts[i], buffer, 0, NULL);
    r->a = a;
    r->start = bm_new_raw(a, r->count + 1, sizeof(*r->start));
    if (!r->start)
        return BOUMA_ENOMEM;
    for (size_t i = 0, n = 0; i < count; i++) {
        n += cut(&parts[i], buffer, at, r->start + n);
        at += parts[i].bytes;
    }
    r->start[r->count] = at;
    for (size_t i = 0; i < r->count; i++)
        if (r->start[i + 1] - r->start[i] > r->largest)
            r->largest = r->start[i + 1] - r->start[i];
    return BOUMA_OK;
}

void bm_rounds_release(struct bm_rounds *r)
{
    if (r->a)
        bm_drop(r->a, r->start);
    memset(r, 0, sizeof(*r));
}

size_t bm_rounds_find(const struct bm_rounds *r, uint64_t at)
{
    size_t found = 0;

    BM_BISECT(found, r->count, i, r->start[i] <= at);
    return found;
}

uint64_t bm_cut(uint64_t count, uint64_t parts, uint64_t i)
{
    return count / parts * i + count % parts * i / parts;
}
