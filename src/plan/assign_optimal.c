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
    uint64_t *prefix; /* [count + 1], sums without openings */
    size_t *opener;   /* [sections]: the first chunk of it in the run, or */
    size_t *lowest;   /* [files] */
};

#define NO_CHUNK SIZE_MAX

/* ---- sums alone --------------------------------------------------------- */

/* prefix[] is ascending: the largest i in [from, count] whose prefix is at most
 * prefix[from] + cap. Gallops first, as the answer is mostly near. */
static size_t reach(const uint64_t *prefix, size_t count, size_t from,
                    uint64_t cap)
{
    uint64_t limit = prefix[from] + cap;
    size_t step = 1, lo = from, hi;

    while (lo + step <= count && prefix[lo + step] <= limit) {
        lo += step;
        step *= 2;
    }
    hi = lo + step <= count ? lo + step : count + 1; /* prefix[hi] > limit */
    BM_BISECT(lo, hi, i, prefix[i] <= limit);
    return lo;
}

/* Whether 'files' files of at most 'cap' bytes hold all chunks. */
static int fits(const struct task *t, uint64_t cap)
{
    size_t at = 0;

    for (int64_t f = 0; f < t->files && at < t->count; f++) {
        size_t next = reach(t->prefix, t->count, at, cap);

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
    uint64_t lo = t->prefix[t->count] / (uint64_t)t->files, hi;

    for (size_t i = 0; i < t->count; i++)
        if (t->prefix[i + 1] - t->prefix[i] > lo)
            lo = t->prefix[i + 1] - t->prefix[i];
    hi = lo;
    while (!fits(t, hi)) {
        lo = hi + 1;
        hi += hi / 16 + 1;
    }
    return bisect_cap(t, fits, lo, hi);
}

/* ---- with openings ------------------------------------------------------ */

static void forget(const struct task *t)
{
    for (size_t s = 0; s < t->sizes->sections; s++)
        t->opener[s] = NO_CHUNK;
}

/* As reach(), of what a run really costs, and no further than 'end'. An opener
 * before 'from' is that of another run. */
static size_t reach_opened(const struct task *t, size_t from, size_t end,
                           uint64_t cap)
{
    uint64_t sum = 0;

    for (size_t i = from; i < end; i++) {
        const struct bm_chunk_table *table = &t->sizes->tables[i];
        size_t opener = t->opener[table->section];

        sum += t->prefix[i + 1] - t->prefix[i];
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
    size_t at = 0;

    forget(t);
    for (int64_t f = 0; f < t->files && at < t->count; f++) {
        size_t next = reach_opened(t, at, t->count, cap);

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

/* Where a run that ends at 'end' can begin, at the earliest. */
static size_t reach_back(const struct task *t, size_t end, uint64_t cap)
{
    uint64_t sum = 0;
    size_t at = end;

    for (; at > 0; at--) {
        sum += t->prefix[at] - t->prefix[at - 1];
        if (t->sizes->tables) {
            const struct bm_chunk_table *table = &t->sizes->tables[at - 1];
            size_t *opener = &t->opener[table->section];

            sum += table->opening;
            if (*opener != NO_CHUNK && *opener < end && *opener >= at)
                sum -= t->sizes->tables[*opener].opening;
            *opener = at - 1;
        }
        if (sum > cap)
            break;
    }
    return at;
}

/* ---- ends --------------------------------------------------------------- */

/* Ends as near as possible to equal shares among all that keep to the cap.
 * lowest[f] is the earliest end of file f with which the files after it still
 * hold the rest. */
static void choose_ends(size_t *end, const struct task *t, uint64_t cap)
{
    const uint64_t *prefix = t->prefix;
    uint64_t files = (uint64_t)t->files, total = prefix[t->count];
    size_t n = t->count;

    forget(t);
    for (int64_t f = t->files - 1; f >= 0; f--)
        t->lowest[f] =
            f == t->files - 1 ? n : reach_back(t, t->lowest[f + 1], cap);
    forget(t);
    for (int64_t f = 0; f < t->files; f++) {
        size_t from = f ? end[f - 1] : 0;
        uint64_t share = total / files * (uint64_t)(f + 1) +
                         total % files * (uint64_t)(f + 1) / files;
        size_t at = prefix[from] < share
                        ? reach(prefix, n, from, share - prefix[from])
                        : from;

        /* The nearer one of the two ends around the share. */
        if (at < n && prefix[at + 1] - share < share - prefix[at])
            at++;
        /* Every file has a chunk, and one is left for each that follows. */
        if (at == from)
            at = from + 1;
        if (at > n - (size_t)(t->files - 1 - f))
            at = n - (size_t)(t->files - 1 - f);
        if (at < t->lowest[f])
            at = t->lowest[f];
        /* A scan to where the cap ends would be as long for a file of few
         * chunks as for one of many. */
        end[f] = t->sizes->tables ? reach_opened(t, from, at, cap)
                                  : reach(prefix, at, from, cap);
    }
    end[t->files - 1] = n;
}

int bm_assign_optimal(size_t *end, const bouma_allocator *a,
                      const struct bm_chunk_sizes *sizes, int64_t files)
{
    struct task t = {.sizes = sizes, .count = sizes->count, .files = files};
    uint64_t cap;
    int rc = BOUMA_ENOMEM;

    t.prefix = bm_new_raw(a, t.count + 1, sizeof(*t.prefix));
    t.opener = bm_new_raw(a, sizes->sections, sizeof(*t.opener));
    t.lowest = bm_new_raw(a, (size_t)files, sizeof(*t.lowest));
    if (!t.prefix || !t.opener || !t.lowest)
        goto out;
    t.prefix[0] = 0;
    for (size_t i = 0; i < t.count; i++)
        t.prefix[i + 1] = t.prefix[i] + sizes->bytes[i] +
                          (sizes->tables ? sizes->tables[i].bytes : 0);
    cap = smallest_cap(&t);
    if (sizes->tables)
        cap = bisect_cap(&t, fits_opened, cap, cap + most_openings(&t));
    choose_ends(end, &t, cap);
    rc = BOUMA_OK;
out:
    bm_drop(a, t.lowest);
    bm_drop(a, t.opener);
    bm_drop(a, t.prefix);
    return rc;
}
