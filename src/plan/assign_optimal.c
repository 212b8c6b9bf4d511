/* assign_optimal.c -- runs of chunks such that the largest file is as small as
 * it can be.
 *
 * What a file costs is not quite the sum of what its chunks do: the first chunk
 * of each section costs more. But a run never costs less than a part of it, and
 * that is enough: if there are files that keep to a cap, filling one after the
 * other up to the cap finds such. The sum alone gives a cap that is too small
 * by what openings cost at most; between the two it is found by bisection. */
#include <string.h>

#include "base/search.h"
#include "plan/assign.h"

struct task {
    const struct bm_chunk_sizes *sizes;
    size_t count;
    int64_t files;
    const struct bm_sums *sums; /* without openings */
    uint64_t total;
    size_t *opener; /* [sections]: the first chunk of it in the run, or */
    size_t *lowest; /* [files] */
};

#define NO_CHUNK SIZE_MAX

/* ---- sums alone --------------------------------------------------------- */

/* Whether 'files' files of at most 'cap' bytes hold all chunks. */
static int fits(const struct task *t, uint64_t cap)
{
    uint64_t sum = 0;
    size_t at = 0;

    for (int64_t f = 0; f < t->files && at < t->count; f++) {
        size_t next = bm_sums_reach(t->sums, at, sum + cap, &sum);

        if (next == at)
            return 0;
        at = next;
    }
    return at == t->count;
}

/* The smallest cap in [lo, hi] that is enough by 'enough'; 'hi' is. */
static uint64_t bisect_cap(const struct task *t,
                           int (*enough)(const struct task *, uint64_t),
                           uint64_t lo, uint64_t hi)
{
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;

        if (enough(t, mid))
            hi = mid;
        else
            lo = mid + 1;
    }
    return hi;
}

static uint64_t smallest_cap(const struct task *t)
{
    uint64_t lo = t->total / (uint64_t)t->files, hi;

    for (size_t i = 0, n; i < t->count; i += n) {
        uint64_t each;

        n = bm_sums_run(t->sums, i, t->count, &each);
        lo = each > lo ? each : lo;
    }
    hi = lo;
    while (!fits(t, hi)) {
        lo = hi + 1;
        hi += hi / 16 + 1;
    }
    return bisect_cap(t, fits, lo, hi);
}

/* ---- with openings ------------------------------------------------------ */

/* Whether the first chunk of a run, and no other one, costs more. */
static int opens_once(const struct task *t)
{
    return !t->sizes->tables || t->sizes->sections == 1;
}

/* Of the first chunk of a run, if only that one costs more. */
static uint64_t opening_of(const struct task *t, size_t chunk)
{
    const struct bm_chunk_sizes *s = t->sizes;

    if (s->tables)
        return s->tables[chunk].opening;
    return s->opening ? s->opening(s->own, chunk) : 0;
}

static void forget(const struct task *t)
{
    for (size_t s = 0; s < t->sizes->sections; s++)
        t->opener[s] = NO_CHUNK;
}

/* The end of the longest run from 'from' on that keeps to the cap, no further
 * than 'end'; 'before' is the sum of all before it. */
static size_t reach_once(const struct task *t, size_t from, size_t end,
                         uint64_t cap, uint64_t *before)
{
    uint64_t opening = from < end ? opening_of(t, from) : 0;
    size_t at;

    if (from >= end || opening > cap)
        return from;
    at = bm_sums_reach(t->sums, from, *before + (cap - opening), before);
    if (at <= end)
        return at;
    *before = bm_sums_before(t->sums, end);
    return end;
}

/* The same where sections open in the middle of a run, too: one chunk after the
 * other. An opener before 'from' is that of another run. */
static size_t reach_each(const struct task *t, size_t from, size_t end,
                         uint64_t cap)
{
    uint64_t sum = 0;

    for (size_t i = from; i < end; i++) {
        const struct bm_chunk_table *table = &t->sizes->tables[i];
        size_t opener = t->opener[table->section];

        sum += bm_sums_each(t->sums, i);
        if (opener == NO_CHUNK || opener < from || opener >= i) {
            t->opener[table->section] = i;
            sum += table->opening;
        }
        if (sum > cap)
            return i;
    }
    return end;
}

static int fits_opened(const struct task *t, uint64_t cap)
{
    uint64_t before = 0;
    size_t at = 0;

    forget(t);
    for (int64_t f = 0; f < t->files && at < t->count; f++) {
        size_t next = opens_once(t) ? reach_once(t, at, t->count, cap, &before)
                                    : reach_each(t, at, t->count, cap);

        if (next == at)
            return 0;
        at = next;
    }
    return at == t->count;
}

/* The openings that one file can have. */
static uint64_t most_openings(const struct task *t)
{
    uint64_t sum = 0;

    if (t->sizes->opening)
        return t->sizes->most_opening;
    forget(t);
    for (size_t i = 0; i < t->count; i++) {
        const struct bm_chunk_table *table = &t->sizes->tables[i];
        size_t *most = &t->opener[table->section]; /* the largest so far */
        uint64_t so_far =
            *most == NO_CHUNK ? 0 : t->sizes->tables[*most].opening;

        if (*most != NO_CHUNK && table->opening <= so_far)
            continue;
        sum += table->opening - so_far;
        *most = i;
    }
    return sum;
}

/* Where a run that ends at 'end' can begin, at the earliest, one chunk after
 * the other. */
static size_t back_each(const struct task *t, size_t end, uint64_t cap)
{
    uint64_t sum = 0;
    size_t at = end;

    for (; at > 0; at--) {
        const struct bm_chunk_table *table = &t->sizes->tables[at - 1];
        size_t *opener = &t->opener[table->section];

        sum += bm_sums_each(t->sums, at - 1) + table->opening;
        if (*opener != NO_CHUNK && *opener < end && *opener >= at)
            sum -= t->sizes->tables[*opener].opening;
        *opener = at - 1;
        if (sum > cap)
            break;
    }
    return at;
}

/* Whether a run from 'from' on, whose end has the sum 'before', keeps to the
 * cap. */
static int keeps(const struct task *t, size_t from, uint64_t before,
                 uint64_t cap)
{
    uint64_t opening = opening_of(t, from);

    return opening <= cap &&
           before - bm_sums_before(t->sums, from) <= cap - opening;
}

/* The same as back_each(), by bisection: longer runs cost no less. */
static size_t back_once(const struct task *t, size_t end, uint64_t cap)
{
    uint64_t before = bm_sums_before(t->sums, end);
    size_t step = 1, lo = end, hi; /* from lo on it keeps to the cap */

    while (step <= lo && keeps(t, lo - step, before, cap)) {
        lo -= step;
        step *= 2;
    }
    hi = lo;
    lo = step <= lo ? lo - step + 1 : 0; /* what is before it does not */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (keeps(t, mid, before, cap))
            hi = mid;
        else
            lo = mid + 1;
    }
    return hi;
}

static size_t reach_back(const struct task *t, size_t end, uint64_t cap)
{
    return opens_once(t) ? back_once(t, end, cap) : back_each(t, end, cap);
}

/* ---- ends --------------------------------------------------------------- */

/* The end nearest to an equal share of file f, which begins at 'from', where
 * the sum is 'before'. */
static size_t nearest_end(const struct task *t, int64_t f, size_t from,
                          uint64_t before)
{
    uint64_t files = (uint64_t)t->files, sum = before;
    uint64_t share = t->total / files * (uint64_t)(f + 1) +
                     t->total % files * (uint64_t)(f + 1) / files;
    size_t n = t->count, at = from;

    if (before < share)
        at = bm_sums_reach(t->sums, from, share, &sum);
    /* The nearer one of the two ends around the share. */
    if (at < n && sum + bm_sums_each(t->sums, at) - share < share - sum)
        at++;
    /* Every file has a chunk, and one is left for each that follows. */
    if (at == from)
        at = from + 1;
    if (at > n - (size_t)(t->files - 1 - f))
        at = n - (size_t)(t->files - 1 - f);
    return at < t->lowest[f] ? t->lowest[f] : at;
}

/* Ends as near as possible to equal shares among all that keep to the cap.
 * lowest[f] is the earliest end of file f with which the files after it still
 * hold the rest. */
static void choose_ends(size_t *end, const struct task *t, uint64_t cap)
{
    uint64_t before = 0;
    size_t from = 0;

    forget(t);
    for (int64_t f = t->files - 1; f >= 0; f--)
        t->lowest[f] =
            f == t->files - 1 ? t->count : reach_back(t, t->lowest[f + 1], cap);
    forget(t);
    for (int64_t f = 0; f < t->files; f++) {
        size_t at = nearest_end(t, f, from, before);

        /* A scan to where the cap ends would be as long for a file of few
         * chunks as for one of many. */
        if (opens_once(t)) {
            end[f] = reach_once(t, from, at, cap, &before);
        } else {
            end[f] = reach_each(t, from, at, cap);
            before = bm_sums_before(t->sums, end[f]);
        }
        from = end[f];
    }
    end[t->files - 1] = t->count;
}

/* In any file. */
static uint64_t cost_of(const struct bm_chunk_sizes *sizes, size_t i)
{
    return sizes->bytes[i] + (sizes->tables ? sizes->tables[i].bytes : 0);
}

static int add_costs(struct bm_sums *sums, const bouma_allocator *a,
                     const struct bm_chunk_sizes *sizes)
{
    uint64_t most = 0;
    int rc;

    for (size_t i = 0; i < sizes->count; i++)
        most = cost_of(sizes, i) > most ? cost_of(sizes, i) : most;
    rc = bm_sums_init(sums, a, sizes->count, most);
    for (size_t i = 0; i < sizes->count && !rc; i++)
        bm_sums_put(sums, i, 1, cost_of(sizes, i));
    return rc ? rc : bm_sums_finish(sums);
}

int bm_assign_optimal(size_t *end, const bouma_allocator *a,
                      const struct bm_chunk_sizes *sizes, int64_t files)
{
    struct task t = {.sizes = sizes,
                     .count = sizes->count,
                     .files = files,
                     .sums = sizes->costs};
    struct bm_sums own = {0};
    int rc = sizes->costs ? BOUMA_OK : add_costs(&own, a, sizes);

    t.opener = bm_new_raw(a, sizes->sections, sizeof(*t.opener));
    t.lowest = bm_new_raw(a, (size_t)files, sizeof(*t.lowest));
    if (!t.opener || !t.lowest)
        rc = BOUMA_ENOMEM;
    if (!rc) {
        uint64_t cap;

        if (!sizes->costs)
            t.sums = &own;
        t.total = bm_sums_before(t.sums, t.count);
        cap = smallest_cap(&t);
        if (sizes->tables || sizes->opening)
            cap = bisect_cap(&t, fits_opened, cap, cap + most_openings(&t));
        choose_ends(end, &t, cap);
    }
    bm_drop(a, t.lowest);
    bm_drop(a, t.opener);
    bm_sums_release(&own);
    return rc;
}
