/* placement.c -- see placement.h. */
#include "plan/placement.h"

#include <stdlib.h>

#include "plan/place_local.h"

static int first_ranks(int64_t files, int ranks, int64_t file)
{
    (void)files;
    return (int)(file % ranks);
}

static int64_t file_of_first(int64_t files, int ranks, int rank, int64_t i)
{
    int64_t file = rank + i * ranks;

    return file < files ? file : -1;
}

/* The first one is the smallest with file * ranks >= rank * files. */
static int64_t file_of_spread(int64_t files, int ranks, int rank, int64_t i)
{
    int64_t file = (rank * files + ranks - 1) / ranks + i;

    return file < files && bm_spread_file(files, ranks, file) == rank ? file
                                                                      : -1;
}

static const struct bm_placement placements[] = {
    [BOUMA_PLACE_SPREAD] = {.formula = bm_spread_file,
                            .file_of = file_of_spread},
    [BOUMA_PLACE_FIRST] = {.formula = first_ranks, .file_of = file_of_first},
    [BOUMA_PLACE_COST] = {.choose = bm_place_by_cost, .needs_machine = 1},
    [BOUMA_PLACE_LOCAL] = {.choose = bm_place_locally},
};

const struct bm_placement *bm_placement_of(bouma_place scheme)
{
    return &placements[scheme];
}

/* ---- on the nodes that have the bytes ------------------------------------ */

/* The node that has most of a file; -1 if nobody sends to it. sum[nodes] is all
 * 0 before and after. */
static int find_home(const struct bm_places *p, const struct bm_gathering *g,
                     size_t file, uint64_t *sum)
{
    int best = -1;

    for (size_t i = g->first[file]; i < g->first[file + 1]; i++)
        sum[bm_places_node(p, g->rank[i])] += g->bytes[i];
    for (size_t i = g->first[file]; i < g->first[file + 1]; i++) {
        int node = bm_places_node(p, g->rank[i]);

        if (best < 0 || sum[node] > sum[best] ||
            (sum[node] == sum[best] && node < best))
            best = node;
    }
    for (size_t i = g->first[file]; i < g->first[file + 1]; i++)
        sum[bm_places_node(p, g->rank[i])] = 0;
    return best;
}

/* What a node writes. */
struct home {
    int64_t files, placed;
};

/* The writer of the next file of a node. */
static int place_at_home(struct home *home, int node,
                         const struct bm_place_task *task)
{
    const struct bm_places *p = task->places;
    int first = p->first[node], ranks = p->first[node + 1] - first;
    int turns = task->turns > 0 ? task->turns : 1;
    int64_t at = home->placed++ * turns + task->turn;

    return bm_places_rank(p, first +
                                 bm_placement_of(task->scheme)
                                     ->formula(home->files * turns, ranks, at));
}

static int place_at_homes(int *writer, const bouma_allocator *a,
                          const struct bm_place_task *task,
                          const struct bm_gathering *g)
{
    const struct bm_places *p = task->places;
    struct home *homes = bm_new(a, (size_t)p->nodes, sizeof(*homes));
    uint64_t *sum = bm_new(a, (size_t)p->nodes, sizeof(*sum));
    int *node = bm_new_raw(a, (size_t)g->files, sizeof(*node));
    int rc = homes && sum && node ? BOUMA_OK : BOUMA_ENOMEM;

    for (int64_t f = 0; f < g->files && !rc; f++) {
        node[f] = find_home(p, g, (size_t)f, sum);
        if (node[f] >= 0)
            homes[node[f]].files++;
    }
    for (int64_t f = 0; f < g->files && !rc; f++)
        writer[f] = node[f] < 0 ? bm_spread_file(g->files, task->ranks, f)
                                : place_at_home(&homes[node[f]], node[f], task);
    bm_drop(a, node);
    bm_drop(a, sum);
    bm_drop(a, homes);
    return rc;
}

/* A program that is alone knows of no nodes. */
static int has_homes(const struct bm_place_task *task)
{
    return task->places && task->places->nodes > 0 &&
           bm_placement_of(task->scheme)->formula;
}

int bm_place_needs_senders(const struct bm_place_task *task)
{
    return bm_placement_of(task->scheme)->choose || has_homes(task);
}

/* ---- all of them --------------------------------------------------------- */

int bm_place_files(int *writer, bouma_tier *tier, const bouma_allocator *a,
                   const struct bm_place_task *task, int64_t files,
                   const struct bm_gathering *gathering)
{
    const struct bm_placement *p = bm_placement_of(task->scheme);
    bouma_tier only = task->rule.only;

    if (p->choose)
        return p->choose(writer, tier, NULL, a, &task->rule, gathering);
    for (int64_t f = 0; f < files && tier; f++)
        tier[f] = only ? only : BOUMA_TIER_DRAM;
    if (has_homes(task))
        return place_at_homes(writer, a, task, gathering);
    for (int64_t f = 0; f < files; f++)
        writer[f] = p->formula(files, task->ranks, f);
    return BOUMA_OK;
}

/* A file, and about where on the ranks its bytes are. */
struct seat {
    double rank;
    uint32_t file;
};

static int by_seat(const void *left, const void *right)
{
    const struct seat *a = left, *b = right;

    if (a->rank < b->rank || a->rank > b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->file < b->file ? -1 : a->file > b->file;
}

int bm_place_in_order(int *writer, const bouma_allocator *a, bouma_place scheme,
                      const struct bm_gathering *g)
{
    size_t files = (size_t)g->files;
    struct seat *seats = bm_new(a, files, sizeof(*seats));

    if (!seats)
        return BOUMA_ENOMEM;
    for (size_t f = 0; f < files; f++) {
        double sum = 0, count = 0;

        for (size_t i = g->first[f]; i < g->first[f + 1]; i++) {
            sum += (double)g->rank[i] * (double)g->bytes[i];
            count += (double)g->bytes[i];
        }
        seats[f] = (struct seat){sum / count, (uint32_t)f};
    }
    if (files)
        qsort(seats, files, sizeof(*seats), by_seat);
    for (size_t i = 0; i < files; i++)
        writer[seats[i].file] =
            bm_placement_of(scheme)->formula(g->files, g->ranks, (int64_t)i);
    bm_drop(a, seats);
    return BOUMA_OK;
}

int bm_place_chunks(struct bm_assignment *files,
                    const struct bm_place_task *task,
                    const struct bm_chunk_sizes *sizes)
{
    const bouma_allocator *a = files->a;
    struct bm_gathering g = {0};
    int rc = BOUMA_OK;

    files->writer = bm_new(a, (size_t)files->files, sizeof(*files->writer));
    files->tier = bm_new(a, (size_t)files->files, sizeof(*files->tier));
    if (!files->writer || !files->tier)
        rc = BOUMA_ENOMEM;
    if (!rc && bm_place_needs_senders(task))
        rc = bm_gathering_of_chunks(&g, a, sizes, files, task->ranks);
    if (!rc)
        rc = bm_place_files(files->writer, files->tier, a, task, files->files,
                            &g);
    bm_gathering_release(&g);
    return rc;
}
