/* place_local.c -- see place_local.h. */
#include "plan/place_local.h"

#include <stdlib.h>

#include "base/search.h"
#include "plan/assign.h"

/* A file that somebody sends to. */
struct placed_file {
    int64_t file;
    int first, last; /* ranks of its group */
    int series;
    int64_t part, parts; /* of the way from the first to the last */
    size_t senders;
};

#define COMPARE(a, b)                                                          \
    if ((a) != (b))                                                            \
    return (a) < (b) ? -1 : 1

/* Those that share a place together, by series and number. */
static int by_place(const void *left, const void *right)
{
    const struct placed_file *a = left, *b = right;

    COMPARE(a->first, b->first);
    COMPARE(a->last, b->last);
    COMPARE(a->series, b->series);
    COMPARE(a->file, b->file);
    return 0;
}

static int by_senders(const void *left, const void *right)
{
    const struct placed_file *a = left, *b = right;

    COMPARE(a->senders, b->senders);
    COMPARE(a->file, b->file);
    return 0;
}

static int64_t common_factor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Whether the file is the last one of its series here. */
static int ends_series(const struct placed_file *files, size_t count, size_t i)
{
    return i + 1 == count || files[i + 1].series != files[i].series;
}

/* The files that share a place. */
static void share_out(struct placed_file *files, size_t count)
{
    int64_t series = 0, others, parts, i = 0, t = 0;

    for (size_t f = 0; f < count; f++)
        series += ends_series(files, count, f);
    others = (int64_t)count - series;
    for (parts = others; common_factor(parts, series + 1) > 1;)
        parts++;
    for (size_t f = 0; f < count; f++) {
        int ends = ends_series(files, count, f);

        files[f].part = ends ? ++i : t++;
        files[f].parts = ends ? series + 1 : parts;
    }
}

/* The files that somebody sends to, into list[]; their number. */
static size_t list_files(struct placed_file *list, const struct bm_gathering *g)
{
    size_t n = 0;

    for (int64_t f = 0; f < g->files; f++) {
        size_t first = g->first[f], end = g->first[f + 1];

        if (first < end)
            list[n++] =
                (struct placed_file){.file = f,
                                     .first = g->rank[first],
                                     .last = g->rank[end - 1],
                                     .series = g->series ? g->series[f] : 0,
                                     .senders = end - first};
    }
    return n;
}

/* The index in rank[] of the last one that is at most 'wanted'. */
static size_t at_most(const int *rank, size_t count, int64_t wanted)
{
    size_t at = 0;

    BM_BISECT(at, count, i, rank[i] <= wanted);
    return at;
}

/* The gap between ranks above which they are of different runs: half of the
 * largest one. */
static int least_gap(const int *rank, size_t count)
{
    int largest = 1;

    for (size_t i = 1; i < count; i++)
        if (rank[i] - rank[i - 1] > largest)
            largest = rank[i] - rank[i - 1];
    return largest / 2 + 1;
}

/* The run of the rank at the file's part of the way, counted in ranks of the
 * group: its ranks. */
static const int *find_run(const int *rank, size_t *count, int gap,
                           const struct placed_file *file)
{
    size_t begin = (size_t)(((int64_t)*count - 1) * file->part / file->parts);
    size_t end = begin + 1;

    while (begin > 0 && rank[begin] - rank[begin - 1] < gap)
        begin--;
    while (end < *count && rank[end] - rank[end - 1] < gap)
        end++;
    *count = end - begin;
    return rank + begin;
}

/* The index of the wanted one. */
static size_t find_wanted(const int *rank, const struct placed_file *file)
{
    const int *at = rank;
    size_t count = file->senders;

    for (;;) {
        int64_t span = (int64_t)at[count - 1] - at[0];
        int64_t wanted = at[0] + span * file->part / file->parts;
        size_t i = at_most(at, count, wanted);

        if (at[i] == wanted)
            return (size_t)(at - rank) + i;
        at = find_run(at, &count, least_gap(at, count), file);
    }
}

/* Of the group's ranks with the fewest files, the nearest to the wanted one. */
static int choose(const struct placed_file *file, const struct bm_gathering *g,
                  const int *files_of)
{
    const int *rank = &g->rank[g->first[file->file]];
    size_t at = find_wanted(rank, file);
    size_t below = at + 1, above = at + 1; /* those before 'below' and from
                                   'above' on are yet to be looked at */
    int best = -1;

    while (below > 0 || above < file->senders) {
        int down =
            above == file->senders ||
            (below > 0 && rank[at] - rank[below - 1] <= rank[above] - rank[at]);
        int next = down ? rank[--below] : rank[above++];

        if (best < 0 || files_of[next] < files_of[best])
            best = next;
        if (files_of[best] == 0)
            break;
    }
    return best;
}

int bm_place_locally(int *writer, bouma_tier *tier, struct bm_cost *choice,
                     const bouma_allocator *a, const struct bm_cost_rule *rule,
                     const struct bm_gathering *g)
{
    struct placed_file *list = bm_new_raw(a, (size_t)g->files, sizeof(*list));
    int *files_of = bm_new(a, (size_t)g->ranks, sizeof(*files_of));
    int rc = list && files_of ? BOUMA_OK : BOUMA_ENOMEM;
    size_t count = rc ? 0 : list_files(list, g), end;

    (void)choice;
    for (int64_t f = 0; f < g->files && !rc; f++) {
        writer[f] = bm_spread_file(g->files, g->ranks, f);
        if (tier)
            tier[f] = rule->only ? rule->only : BOUMA_TIER_DRAM;
    }
    if (count)
        qsort(list, count, sizeof(*list), by_place);
    for (size_t i = 0; i < count; i = end) {
        for (end = i + 1; end < count && list[end].first == list[i].first &&
                          list[end].last == list[i].last;)
            end++;
        share_out(&list[i], end - i);
    }
    if (count)
        qsort(list, count, sizeof(*list), by_senders);
    for (size_t i = 0; i < count; i++) {
        int rank = choose(&list[i], g, files_of);

        writer[list[i].file] = rank;
        files_of[rank]++;
    }
    bm_drop(a, list);
    bm_drop(a, files_of);
    return rc;
}
