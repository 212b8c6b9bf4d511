/* particle_cut.c -- see particle_cut.h. */
#include "plan/particle_cut.h"

/* With `split`, no unit has more than this part of a file, if that is what it
 * takes to make them alike: the largest no more than so many times the mean.
 * Where nobody asked for `split`, ranks stay whole as long as cutting them
 * costs more than it saves: a write with it took 1.6 times as long, with the
 * same particles on each rank. */
#define PARTS_OF_A_FILE         64
#define IMBALANCE_LIMIT         1.1
#define DEFAULT_IMBALANCE_LIMIT 1.75
/* Particles that stand for those of a file, and most of them, of all ranks. */
#define POINTS_OF_A_FILE 4096
#define MOST_POINTS      ((double)(1 << 19))

bouma_assign bm_particle_scheme(bouma_assign assign)
{
    return assign ? assign : BOUMA_ASSIGN_SPLIT;
}

uint64_t bm_particle_file_bytes(const struct bm_particle_rule *r)
{
    uint64_t bytes = r->particles > UINT64_MAX / r->bytes
                         ? UINT64_MAX
                         : r->particles * r->bytes;

    if (r->files > 0)
        return bytes / (uint64_t)r->files + 1;
    return r->file_size ? r->file_size : bm_aggregate_target(bytes, r->ranks);
}

/* Whether units lie over each other: together they have more than twice the
 * volume of their common bounds. Files of whole ones would all be everywhere.
 */
static int overlap(const struct bm_particle_rule *r,
                   const struct bm_unit *units, size_t count)
{
    double low[3], high[3], sum = 0;

    for (size_t i = 0; i < count; i++)
        for (int d = 0; d < r->ndims; d++) {
            const struct bm_unit *u = &units[i];

            low[d] = !i || u->low[d] < low[d] ? u->low[d] : low[d];
            high[d] = !i || u->high[d] > high[d] ? u->high[d] : high[d];
        }
    for (size_t i = 0; i < count; i++) {
        double volume = 1;

        for (int d = 0; d < r->ndims; d++)
            if (high[d] > low[d]) /* halves, as the whole may be too large */
                volume *= (units[i].high[d] / 2 - units[i].low[d] / 2) /
                          (high[d] / 2 - low[d] / 2);
        sum += volume;
    }
    return sum > 2;
}

/* Whether whole units make the number of files that is wanted, all nearly
 * alike. */
static int is_even(int *even, const struct bm_particle_rule *r,
                   const bouma_allocator *a, const struct bm_unit *units,
                   size_t count)
{
    struct bm_aggregation_spec spec = {.scheme = BOUMA_ASSIGN_SPLIT,
                                       .ndims = r->ndims,
                                       .bytes = r->bytes,
                                       .target = bm_particle_file_bytes(r),
                                       .files = r->files,
                                       .ranks = r->ranks};
    uint64_t each = spec.target / r->bytes, largest = 0;
    struct bm_aggregation trial;
    uint64_t wanted = each ? (r->particles + each / 2) / each : 1;
    double most = r->assign ? IMBALANCE_LIMIT : DEFAULT_IMBALANCE_LIMIT;
    int rc;

    for (size_t i = 0; i < count; i++)
        if (units[i].count > largest)
            largest = units[i].count;
    *even = 0;
    /* No file has less than a unit of it: often there is nothing to try. */
    if ((double)largest * (double)wanted > most * (double)r->particles)
        return BOUMA_OK;
    rc = bm_aggregate(&trial, a, &spec, units, count);
    for (int64_t f = 0; f < trial.files && !rc; f++)
        if (trial.counts[f] > largest)
            largest = trial.counts[f];
    *even =
        !rc && (double)largest * (double)wanted <= most * (double)r->particles;
    /* Who says how many, or how large, is to have them. */
    if ((r->files || r->file_size) && wanted > (uint64_t)trial.files)
        *even = 0;
    bm_aggregation_release(&trial);
    return rc;
}

int bm_particle_must_cut(int *cut, const struct bm_particle_rule *r,
                         const bouma_allocator *a, const struct bm_unit *units,
                         size_t count)
{
    int even = 1, rc = BOUMA_OK;

    /* If one file takes everything, there is nothing to cut. */
    if (bm_particle_scheme(r->assign) == BOUMA_ASSIGN_SPLIT && r->particles &&
        r->particles > bm_particle_file_bytes(r) / r->bytes) {
        rc = is_even(&even, r, a, units, count);
        even = even && !overlap(r, units, count);
    }
    *cut = !even;
    return rc;
}

uint64_t bm_particle_most_uncut(const struct bm_particle_rule *r)
{
    uint64_t most = bm_particle_file_bytes(r) / r->bytes / PARTS_OF_A_FILE;

    return most ? most : 1;
}

size_t bm_particle_points(const struct bm_particle_rule *r, uint64_t count)
{
    double each = (double)(bm_particle_file_bytes(r) / r->bytes + 1);
    double all = (double)r->particles / each * POINTS_OF_A_FILE;

    all = all < MOST_POINTS ? all : MOST_POINTS;
    return (size_t)((double)count / (double)r->particles * all) + 1;
}
