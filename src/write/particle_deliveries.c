/* particle_deliveries.c -- who sends how many particles to which file, and who
 * writes it. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "write/particle_plan.h"

/* ---- the list ----------------------------------------------------------- */

static int by_file_and_rank(const void *left, const void *right)
{
    const struct bm_delivery *a = left, *b = right;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

int bm_deliveries_begin(struct bm_set_plan *set, const bouma_allocator *a)
{
    size_t n = 0;

    for (size_t i = 0; i < set->unit_count; i++)
        n += set->files.file[i] != BM_NO_FILE && !set->sampled[i];
    set->whole = bm_new_raw(a, n, sizeof(*set->whole));
    if (!set->whole)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < set->unit_count; i++)
        if (set->files.file[i] != BM_NO_FILE && !set->sampled[i])
            set->whole[set->whole_count++] = (struct bm_delivery){
                set->files.file[i], set->units[i].rank, set->units[i].count, 0};
    return BOUMA_OK;
}

/* Entries of one file and rank are summed up, and each file's counted. */
static int sum_up(struct bm_set_plan *set, const bouma_allocator *a,
                  size_t count)
{
    size_t files = (size_t)set->files.files, n = 0;
    struct bm_delivery *d = set->deliveries;

    set->first_delivery = bm_new(a, files + 1, sizeof(*set->first_delivery));
    set->counts = bm_new_raw(a, files, sizeof(*set->counts));
    if (!set->first_delivery || !set->counts)
        return BOUMA_ENOMEM;
    if (count)
        qsort(d, count, sizeof(*d), by_file_and_rank);
    for (size_t i = 0; i < count; i++) {
        struct bm_delivery *last =
            set->delivery_count ? &d[set->delivery_count - 1] : NULL;

        if (last && last->file == d[i].file && last->rank == d[i].rank)
            last->count += d[i].count;
        else
            d[set->delivery_count++] = d[i];
    }
    for (size_t f = 0; f < files; f++) {
        uint64_t first = 0;

        set->first_delivery[f] = n;
        for (; n < set->delivery_count && d[n].file == f; n++) {
            d[n].first = first;
            first += d[n].count;
        }
        set->counts[f] = first;
    }
    set->first_delivery[files] = n;
    return BOUMA_OK;
}

/* What each rank has for each file: of whole units what is known, of others
 * what the ranks say. */
static int list_deliveries(struct bm_set_plan *set, const bouma_allocator *a,
                           struct bm_cursor *told, int ranks)
{
    size_t n = 0, room = set->whole_count;

    for (int r = 0; r < ranks && told; r++)
        room += bm_cursor_left(&told[r]) / 12;
    set->deliveries = bm_new(a, room, sizeof(*set->deliveries));
    if (!set->deliveries)
        return BOUMA_ENOMEM;
    for (; n < set->whole_count; n++)
        set->deliveries[n] = set->whole[n];
    for (int r = 0; r < ranks && told && set->cut; r++) {
        uint32_t count = bm_get_u32(&told[r]);

        if (count > bm_cursor_left(&told[r]) / 12)
            return BOUMA_ECOMM;
        for (uint32_t i = 0; i < count; i++) {
            struct bm_delivery *d = &set->deliveries[n++];

            *d = (struct bm_delivery){.file = bm_get_u32(&told[r]), .rank = r};
            d->count = bm_get_u64(&told[r]);
            if (d->file >= (uint64_t)set->files.files)
                return BOUMA_ECOMM;
        }
    }
    return sum_up(set, a, n);
}

/* In the order of ranks; in each, of files, as they are now. */
static int order_by_rank(struct bm_set_plan *set, const bouma_allocator *a,
                         int ranks)
{
    size_t *next = bm_new(a, (size_t)ranks + 1, sizeof(*next));

    set->by_rank = bm_new_raw(a, set->delivery_count, sizeof(*set->by_rank));
    if (!next || !set->by_rank) {
        bm_drop(a, next);
        return BOUMA_ENOMEM;
    }
    for (size_t i = 0; i < set->delivery_count; i++)
        next[set->deliveries[i].rank + 1]++;
    for (int r = 0; r < ranks; r++)
        next[r + 1] += next[r];
    for (size_t i = 0; i < set->delivery_count; i++)
        set->by_rank[next[set->deliveries[i].rank]++] = i;
    bm_drop(a, next);
    return BOUMA_OK;
}

static int check_counts(const struct bm_set_plan *set, struct bm_error *error)
{
    for (int64_t f = 0; f < set->files.files; f++)
        if (set->counts[f] > BM_MAX_PARTICLE_SUMMARY)
            return bm_fail(error, BOUMA_ELIMIT,
                           "a file of particles \"%s\" would have %" PRIu64
                           " of them, which is beyond 2^32; ask for more or "
                           "smaller files",
                           set->set->name, set->counts[f]);
    return BOUMA_OK;
}

/* ---- writers ------------------------------------------------------------ */

/* Who sends how many particles to which file; 'each' bytes of one are counted
 * or, if it is 1, particles. */
static int gather(struct bm_gathering *g, const bouma_allocator *a,
                  const struct bm_set_plan *set, int ranks, uint64_t each)
{
    *g = (struct bm_gathering){.files = set->files.files,
                               .ranks = ranks,
                               .first = set->first_delivery};
    g->rank = bm_new_raw(a, set->delivery_count, sizeof(*g->rank));
    g->bytes = bm_new_raw(a, set->delivery_count, sizeof(*g->bytes));
    if (!g->rank || !g->bytes)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < set->delivery_count; i++) {
        g->rank[i] = set->deliveries[i].rank;
        g->bytes[i] = set->deliveries[i].count * each;
    }
    return BOUMA_OK;
}

static int place_by_senders(struct bm_particle_plan *plan, size_t number,
                            const struct bouma_dataset *ds)
{
    const bouma_allocator *a = ds->a;
    struct bm_set_plan *set = &plan->sets[number];
    struct bm_place_task task =
        bm_io_environment_place_task(&ds->engine.env, &ds->options, ds->comm);
    int chosen = bm_place_needs_senders(&task);
    struct bm_gathering g;
    int rc = gather(&g, a, set, ds->comm->size, chosen ? set->bytes : 1);

    task.turn = 1 + (int)number;
    task.turns = 1 + (int)plan->set_count;
    if (!rc && chosen)
        rc = bm_place_files(set->placed.writer, set->placed.tier, a, &task,
                            g.files, &g);
    else if (!rc)
        rc = bm_place_in_order(set->placed.writer, a, ds->options.place, &g);
    bm_drop(a, g.rank);
    bm_drop(a, g.bytes);
    return rc;
}

static int place_writers(struct bm_particle_plan *plan, size_t number,
                         const struct bouma_dataset *ds)
{
    struct bm_set_plan *set = &plan->sets[number];
    struct bm_assignment *placed = &set->placed;
    size_t files = (size_t)set->files.files;
    int rc;

    *placed = (struct bm_assignment){.a = ds->a, .files = set->files.files};
    placed->writer = bm_new(ds->a, files, sizeof(*placed->writer));
    placed->tier = bm_new(ds->a, files, sizeof(*placed->tier));
    if (!placed->writer || !placed->tier)
        return BOUMA_ENOMEM;
    for (size_t f = 0; f < files; f++)
        placed->tier[f] = ds->options.tier;
    rc = place_by_senders(plan, number, ds);
    return rc ? rc : bm_writers_init(&set->writers, placed);
}

int bm_deliveries_end(struct bm_particle_plan *plan, size_t number,
                      struct bouma_dataset *ds, struct bm_cursor *told)
{
    struct bm_set_plan *set = &plan->sets[number];
    int rc = list_deliveries(set, ds->a, told, ds->comm->size);

    if (!rc)
        rc = check_counts(set, &ds->error);
    if (!rc)
        rc = order_by_rank(set, ds->a, ds->comm->size);
    if (!rc)
        rc = place_writers(plan, number, ds);
    for (int64_t f = 0; f < set->files.files && !rc; f++)
        set->shipped_bytes += bm_delivery_bytes(set, (uint32_t)f);
    return rc;
}

/* ---- what is asked of it ------------------------------------------------ */

const struct bm_delivery *bm_delivery_of(const struct bm_set_plan *set,
                                         uint32_t file, int rank)
{
    size_t at = set->first_delivery[file], end = set->first_delivery[file + 1];

    BM_BISECT(at, end, i, set->deliveries[i].rank <= rank);
    return at < end && set->deliveries[at].rank == rank ? &set->deliveries[at]
                                                        : NULL;
}

uint64_t bm_delivery_bytes(const struct bm_set_plan *set, uint32_t file)
{
    const struct bm_delivery *own =
        bm_delivery_of(set, file, set->placed.writer[file]);

    return (set->counts[file] - (own ? own->count : 0)) * set->bytes;
}

static int sender(const struct bm_set_plan *set, size_t i)
{
    return set->deliveries[set->by_rank[i]].rank;
}

/* The first in that order of this rank or a later one. */
static size_t first_of(const struct bm_set_plan *set, int rank)
{
    size_t at = 0;

    if (!set->delivery_count || sender(set, 0) >= rank)
        return 0;
    BM_BISECT(at, set->delivery_count, i, sender(set, i) < rank);
    return at + 1;
}

void bm_deliveries_of_rank(const struct bm_set_plan *set, int rank,
                           size_t *begin, size_t *end)
{
    *begin = first_of(set, rank);
    *end = first_of(set, rank + 1);
}
