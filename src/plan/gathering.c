/* gathering.c -- see gathering.h. */
#include "plan/gathering.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *left, const void *right)
{
    const int *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* The ranks that have chunks in a file, ascending, into list[]; their number.
 * sum[] has the bytes of each then, and was 0. */
static size_t list_group(int *list, uint64_t *sum,
                         const struct bm_chunk_sizes *sizes,
                         const struct bm_assignment *files, int64_t file)
{
    size_t count = 0;

    for (size_t i = files->first[file]; i < files->first[file + 1]; i++) {
        uint32_t chunk = files->chunk[i];
        int owner = sizes->owner[chunk];

        if (!sizes->bytes[chunk])
            continue;
        if (!sum[owner])
            list[count++] = owner;
        sum[owner] += sizes->bytes[chunk];
    }
    if (count)
        qsort(list, count, sizeof(*list), ascending);
    return count;
}

int bm_gathering_of_chunks(struct bm_gathering *out, const bouma_allocator *a,
                           const struct bm_chunk_sizes *sizes,
                           const struct bm_assignment *files, int ranks)
{
    uint64_t *sum = bm_new(a, (size_t)ranks, sizeof(*sum));
    size_t n = 0;

    memset(out, 0, sizeof(*out));
    out->a = a;
    out->files = files->files;
    out->ranks = ranks;
    out->first = bm_new(a, (size_t)files->files + 1, sizeof(*out->first));
    out->rank = bm_new_raw(a, sizes->count, sizeof(*out->rank));
    out->bytes = bm_new_raw(a, sizes->count, sizeof(*out->bytes));
    if (sizes->series)
        out->series = bm_new(a, (size_t)files->files, sizeof(*out->series));
    if (!sum || !out->first || !out->rank || !out->bytes ||
        (sizes->series && !out->series)) {
        bm_drop(a, sum);
        return BOUMA_ENOMEM;
    }
    for (int64_t f = 0; f < files->files && sizes->series; f++)
        out->series[f] = f < sizes->fixed_files ? sizes->series[f] : -1;
    for (int64_t f = 0; f < files->files; f++) {
        size_t count = list_group(out->rank + n, sum, sizes, files, f);

        for (size_t i = 0; i < count; i++, n++) {
            out->bytes[n] = sum[out->rank[n]];
            sum[out->rank[n]] = 0;
        }
        out->first[f + 1] = n;
    }
    bm_drop(a, sum);
    return BOUMA_OK;
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
