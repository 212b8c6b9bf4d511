/* chunks.c -- boxes of a grid and the chunks that they need, whatever the
 * layout: see layout.h. */
#include "layout/layout.h"

#include <stdio.h>

#define DIGIT_BITS 8
#define DIGITS     (1 << DIGIT_BITS)

/* By one digit of them; those that have the same one stay in their order. */
static void sort_by_digit(uint64_t *to, const uint64_t *keys, size_t n,
                          int shift)
{
    size_t next[DIGITS] = {0}, before = 0;

    for (size_t i = 0; i < n; i++)
        next[keys[i] >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        size_t count = next[d];

        next[d] = before;
        before += count;
    }
    for (size_t i = 0; i < n; i++)
        to[next[keys[i] >> shift & (DIGITS - 1)]++] = keys[i];
}

/* Radix sort, which takes time that grows with n: keys are small numbers. */
int bm_keys_sort(uint64_t **keys, size_t n, const bouma_allocator *a)
{
    uint64_t largest = 0, *from = *keys, *to;
    int is_sorted = 1;

    for (size_t i = 0; i < n; i++) {
        is_sorted &= largest <= from[i];
        largest = largest > from[i] ? largest : from[i];
    }
    if (is_sorted)
        return BOUMA_OK;
    to = bm_new_raw(a, n, sizeof(*to));
    if (!to)
        return BOUMA_ENOMEM;
    for (int shift = 0; shift < 64 && largest >> shift; shift += DIGIT_BITS) {
        uint64_t *sorted = to;

        sort_by_digit(to, from, n, shift);
        to = from;
        from = sorted;
    }
    *keys = from;
    bm_drop(a, to);
    return BOUMA_OK;
}

struct selection {
    struct bm_chunking chunking;
    const struct bm_box *box;
    uint64_t *keys;
    size_t count;
};

static void count_chunks(void *context, int64_t first, int64_t end)
{
    ((struct selection *)context)->count += (size_t)(end - first);
}

static void select_chunks(void *context, int64_t first, int64_t end)
{
    struct selection *s = context;

    for (int64_t i = first; i < end; i++) {
        struct bm_footprint f = bm_chunking_footprint(&s->chunking, i);
        struct bm_box part = bm_footprint_part(&f, s->box);

        if (bm_box_volume(&part))
            s->keys[s->count++] = s->chunking.calls->key(s->chunking.own, i);
    }
}

int bm_chunks_select(uint64_t **keys, size_t *count, const struct bm_object *o,
                     const struct bm_box *box, int level)
{
    struct selection s = {o->layout->chunking(o), box, NULL, 0};
    const struct bm_chunking_functions *calls = s.chunking.calls;

    s.chunking.level = level;
    *count = 0;
    calls->touched(s.chunking.own, box, level, count_chunks, &s);
    *keys = s.keys = bm_new_raw(o->a, s.count, sizeof(**keys));
    if (!*keys)
        return BOUMA_ENOMEM;
    s.count = 0;
    calls->touched(s.chunking.own, box, level, select_chunks, &s);
    if (bm_keys_sort(keys, s.count, o->a)) {
        bm_drop(o->a, *keys);
        *keys = NULL;
        return BOUMA_ENOMEM;
    }
    *count = s.count;
    return BOUMA_OK;
}

struct bm_box bm_chunk_bounds(const struct bm_object *o, uint64_t key)
{
    struct bm_chunking c = o->layout->chunking(o);
    struct bm_footprint f =
        c.calls->footprint(c.own, c.calls->find(c.own, key));

    return bm_footprint_bounds(&f);
}

uint64_t bm_chunk_value_bytes(const struct bouma_variable *v,
                              const struct bm_summary *s, uint64_t key,
                              int finest)
{
    uint64_t values[BM_MAX_LEVELS], count = 0;

    v->object->layout->values(v->object, s, key, values);
    for (int k = finest; k < bm_pieces(v->object); k++)
        count += values[k];
    return count * bm_variable_sample_size(v);
}

const char *bm_piece_text(char text[BM_PIECE_TEXT_BYTES],
                          const struct bm_object *o, int piece)
{
    text[0] = 0;
    if (!o->layout->pieces)
        snprintf(text, BM_PIECE_TEXT_BYTES, "level %d, ", piece);
    return text;
}
