/* gathering.c -- see gathering.h. */
#include "plan/gathering.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *left, const void *right)
{
    const int *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

int bm_gatherer_init(struct bm_gatherer *g, struct bm_gathering *out,
                     const bouma_allocator *a, int64_t files, int ranks)
{
    memset(out, 0, sizeof(*out));
    out->a = a;
    out->files = files;
    out->ranks = ranks;
    out->first = bm_new(a, (size_t)files + 1, sizeof(*out->first));
    *g = (struct bm_gatherer){.out = out};
    g->sum = bm_new(a, (size_t)ranks, sizeof(*g->sum));
    g->list = bm_new_raw(a, (size_t)ranks, sizeof(*g->list));
    return out->first && g->sum && g->list ? BOUMA_OK : BOUMA_ENOMEM;
}

void bm_gatherer_release(struct bm_gatherer *g)
{
    bm_drop(g->out->a, g->sum);
    bm_drop(g->out->a, g->list);
}

/* Room for the ranks of one more file. */
static int make_room(struct bm_gatherer *g, size_t used, size_t more)
{
    struct bm_gathering *out = g->out;
    size_t room = g->room ? g->room : 64;
    void *rank, *bytes;

    if (used + more <= g->room)
        return BOUMA_OK;
    while (room < used + more)
        room += room / 2;
    rank = bm_resize(out->a, out->rank, room, sizeof(*out->rank));
    if (!rank)
        return BOUMA_ENOMEM;
    out->rank = rank;
    bytes = bm_resize(out->a, out->bytes, room, sizeof(*out->bytes));
    if (!bytes)
        return BOUMA_ENOMEM;
    out->bytes = bytes;
    g->room = room;
    return BOUMA_OK;
}

int bm_gatherer_end_file(struct bm_gatherer *g)
{
    struct bm_gathering *out = g->out;
    size_t n = out->first[g->file];
    int rc = make_room(g, n, g->count ? g->count : 1), sorted = 1;

    if (rc)
        return rc;
    for (size_t i = 1; i < g->count; i++)
        sorted &= g->list[i - 1] < g->list[i];
    if (!sorted)
        qsort(g->list, g->count, sizeof(*g->list), ascending);
    for (size_t i = 0; i < g->count; i++, n++) {
        out->rank[n] = g->list[i];
        out->bytes[n] = g->sum[g->list[i]];
        g->sum[g->list[i]] = 0;
    }
    g->count = 0;
    out->first[++g->file] = n;
    return BOUMA_OK;
}

static int list_series(struct bm_gathering *out,
                       const struct bm_chunk_sizes *sizes)
{
    if (!sizes->series)
        return BOUMA_OK;
    out->series = bm_new(out->a, (size_t)out->files, sizeof(*out->series));
    for (int64_t f = 0; f < out->files && out->series; f++)
        out->series[f] = f < sizes->fixed_files ? sizes->series[f] : -1;
    return out->series ? BOUMA_OK : BOUMA_ENOMEM;
}

int bm_gathering_of_chunks(struct bm_gathering *out, const bouma_allocator *a,
                           const struct bm_chunk_sizes *sizes,
                           const struct bm_assignment *files, int ranks)
{
    struct bm_gatherer g;
    int rc = bm_gatherer_init(&g, out, a, files->files, ranks);

    if (!rc)
        rc = list_series(out, sizes);
    for (int64_t f = 0; f < files->files && !rc; f++) {
        for (size_t i = files->first[f]; i < files->first[f + 1]; i++)
            bm_gatherer_add(&g, sizes->owner[files->chunk[i]],
                            sizes->bytes[files->chunk[i]]);
        rc = bm_gatherer_end_file(&g);
    }
    bm_gatherer_release(&g);
    return rc;
}

void bm_gathering_release(struct bm_gathering *gathering)
{
    if (!gathering->a)
        return;
    bm_drop(gathering->a, gathering->first);
    bm_drop(gathering->a, gathering->rank);
    bm_drop(gathering->a, gathering->bytes);
    bm_drop(gathering->a, gathering->series);
    memset(gathering, 0, sizeof(*gathering));
}
