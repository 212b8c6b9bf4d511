/* chunk_subset.c -- see chunk_subset.h. */
#include "plan/chunk_subset.h"

#include "base/search.h"

static int is_wanted(const struct bm_chunking *whole, const uint8_t *wanted,
                     int64_t chunk)
{
    int64_t p = whole->calls->partition(whole->own, chunk);

    return wanted ? p >= 0 && wanted[p] : p < 0;
}

struct bm_chunk_subset *bm_chunk_subset_new(const bouma_allocator *a,
                                            const struct bm_chunking *whole,
                                            const uint8_t *wanted)
{
    struct bm_chunk_subset *s = bm_new(a, 1, sizeof(*s));
    int64_t count = 0;

    if (!s)
        return NULL;
    s->a = a;
    s->whole = *whole;
    for (int64_t i = 0; i < whole->count; i++)
        count += is_wanted(whole, wanted, i);
    s->chunk = bm_new_raw(a, (size_t)count, sizeof(*s->chunk));
    for (int64_t i = 0; i < whole->count && s->chunk; i++)
        if (is_wanted(whole, wanted, i))
            s->chunk[s->count++] = i;
    if (s->chunk)
        return s;
    bm_drop(a, s);
    return NULL;
}

void bm_chunk_subset_free(struct bm_chunk_subset *s)
{
    if (!s)
        return;
    bm_drop(s->a, s->chunk);
    bm_drop(s->a, s);
}

/* ---- the chunking -------------------------------------------------------- */

static struct bm_footprint footprint(const void *own, int64_t chunk)
{
    const struct bm_chunk_subset *s = own;

    return s->whole.calls->footprint(s->whole.own, s->chunk[chunk]);
}

/* How many chunks of the subset are before this one of all. */
static int64_t count_before(const struct bm_chunk_subset *s, int64_t chunk)
{
    size_t at = 0;

    if (!s->count || s->chunk[0] >= chunk)
        return 0;
    BM_BISECT(at, (size_t)s->count, i, s->chunk[i] < chunk);
    return (int64_t)at + 1;
}

struct search {
    const struct bm_chunk_subset *s;
    bm_chunk_run each;
    void *context;
};

static void tell(void *context, int64_t first, int64_t end)
{
    const struct search *search = context;

    first = count_before(search->s, first);
    end = count_before(search->s, end);
    if (first < end)
        search->each(search->context, first, end);
}

static void touched(const void *own, const struct bm_box *box, int level,
                    bm_chunk_run each, void *context)
{
    const struct bm_chunk_subset *s = own;
    struct search search = {s, each, context};

    s->whole.calls->touched(s->whole.own, box, level, tell, &search);
}

static uint64_t key_of(const void *own, int64_t chunk)
{
    const struct bm_chunk_subset *s = own;

    return s->whole.calls->key(s->whole.own, s->chunk[chunk]);
}

static int64_t find(const void *own, uint64_t key)
{
    const struct bm_chunk_subset *s = own;
    int64_t chunk = s->whole.calls->find(s->whole.own, key), i;

    if (chunk < 0)
        return -1;
    i = count_before(s, chunk);
    return i < s->count && s->chunk[i] == chunk ? i : -1;
}

static void order(const void *own, int64_t *out)
{
    for (int64_t i = 0; i < ((const struct bm_chunk_subset *)own)->count; i++)
        out[i] = i;
}

static int64_t file_of(const void *own, int64_t chunk)
{
    const struct bm_chunk_subset *s = own;

    return s->whole.calls->file(s->whole.own, s->chunk[chunk]);
}

struct bm_chunking bm_chunk_subset_chunking(const struct bm_chunk_subset *s)
{
    static const struct bm_chunking_functions calls = {.footprint = footprint,
                                                       .touched = touched,
                                                       .key = key_of,
                                                       .find = find,
                                                       .order = order,
                                                       .file = file_of,
                                                       .coarse_first = 1};

    return (struct bm_chunking){&calls, s, s->count, s->whole.level, 0};
}
