/* particles_files.c -- how even the files of particles in blobs are, planned
 * for 256 ranks by each scheme.
 *
 * The tree keeps ranks whole: it can only be better than the uniform grid where
 * no rank has more than a file should. So the blobs are wide here, and cases
 * with such a rank do not count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "particles.h"
#include "plan/aggregate.h"
#include "plan/particle_router.h"
#include "score.h"

#define RANKS     256 /* as 8 x 8 x 4 boxes */
#define PARTICLES 1000000
#define SEEDS     4

struct crowd {
    float *at[3];            /* those of a rank together */
    size_t first[RANKS + 1]; /* particles of a rank */
    struct bm_unit units[RANKS];
};

static const int boxes[3] = {8, 8, 4};

static int rank_of(const float at[3])
{
    int rank = 0;

    for (int d = 0; d < 3; d++)
        rank = rank * boxes[d] + (int)((double)at[d] * boxes[d]);
    return rank;
}

static void crowd_init(struct crowd *c, uint64_t seed)
{
    struct cloud_spec spec = {.blobs = 8,
                              .narrow = 0.02,
                              .wide = 0.12,
                              .background = 0.05,
                              .seed = seed};
    struct cloud_stream s;
    size_t next[RANKS];
    float at[3];

    memset(c, 0, sizeof(*c));
    for (int d = 0; d < 3; d++) {
        c->at[d] = malloc(PARTICLES * sizeof(float));
        if (!c->at[d])
            fail("no memory");
    }
    cloud_stream_init(&s, &spec);
    for (size_t i = 0; i < PARTICLES; i++) {
        cloud_stream_next(&s, at);
        c->first[rank_of(at) + 1]++;
    }
    for (int r = 0; r < RANKS; r++) {
        struct bm_unit *u = &c->units[r];
        int place[3] = {r / 32, r / 4 % 8, r % 4};

        u->count = c->first[r + 1];
        u->rank = r;
        for (int d = 0; d < 3; d++) {
            u->low[d] = (double)place[d] / boxes[d];
            u->high[d] = (double)(place[d] + 1) / boxes[d];
        }
        c->first[r + 1] += c->first[r];
        next[r] = c->first[r];
    }
    cloud_stream_init(&s, &spec);
    for (size_t i = 0; i < PARTICLES; i++) {
        size_t k;

        cloud_stream_next(&s, at);
        k = next[rank_of(at)]++;
        for (int d = 0; d < 3; d++)
            c->at[d][k] = at[d];
    }
}

static void crowd_release(struct crowd *c)
{
    for (int d = 0; d < 3; d++)
        free(c->at[d]);
}

static struct bm_positions positions_of(const struct crowd *c, int r)
{
    struct bm_positions p = {.ndims = 3,
                             .type = BOUMA_TYPE_F32,
                             .count = c->first[r + 1] - c->first[r]};

    for (int d = 0; d < 3; d++) {
        p.axis[d] = c->at[d] + c->first[r];
        p.stride[d] = sizeof(float);
    }
    return p;
}

/* The largest file of `split`, as a write makes them: ranks with more than a
 * part of a file stand as samples, then each particle falls to its file. */
static double largest_of_split(const struct crowd *c, uint64_t target,
                               double *mean)
{
    struct bm_aggregation_spec spec = {.scheme = BOUMA_ASSIGN_SPLIT,
                                       .ndims = 3,
                                       .bytes = CLOUD_BYTES,
                                       .target = target * CLOUD_BYTES,
                                       .ranks = RANKS};
    struct bm_sample samples[RANKS];
    size_t first[RANKS], count = 0;
    struct bm_unit *units = NULL;
    struct bm_aggregation g;
    uint64_t *exact;
    double largest = 0;

    memset(samples, 0, sizeof(samples));
    for (int r = 0; r < RANKS; r++) {
        struct bm_positions p = positions_of(c, r);

        first[r] = count;
        if (c->units[r].count > target / 64 &&
            bm_sample_make(&samples[r], bm_allocator_default(), &p,
                           (size_t)(c->units[r].count * 4096 / target)))
            fail("no memory");
        units = realloc(units, (count + samples[r].count + 1) * sizeof(*units));
        if (!units)
            fail("no memory");
        if (!samples[r].count)
            units[count++] = c->units[r];
        for (size_t i = 0; i < samples[r].count; i++) {
            units[count] = samples[r].units[i];
            units[count++].rank = r;
        }
    }
    if (bm_aggregate(&g, bm_allocator_default(), &spec, units, count))
        fail("cannot plan files");
    exact = calloc((size_t)g.files, sizeof(*exact));
    for (int r = 0; r < RANKS && exact; r++) {
        struct bm_positions p = positions_of(c, r);
        struct bm_particle_router s;

        if (!samples[r].count && c->units[r].count)
            exact[g.file[first[r]]] += c->units[r].count;
        if (!samples[r].count)
            continue;
        if (bm_particle_router_make(&s, bm_allocator_default(), &p, &g,
                                    &samples[r], g.file + first[r]))
            fail("no memory");
        for (size_t i = 0; i < s.count; i++)
            exact[s.files[i]] += s.first[i + 1] - s.first[i];
        bm_particle_router_release(&s);
        bm_sample_release(&samples[r]);
    }
    for (int64_t f = 0; f < g.files && exact; f++)
        if ((double)exact[f] > largest)
            largest = (double)exact[f];
    *mean = (double)PARTICLES / (double)g.files;
    bm_aggregation_release(&g);
    free(exact);
    free(units);
    return largest;
}

/* The largest file, and the mean one, in particles. */
static double largest_of(bouma_assign scheme, uint64_t target,
                         const struct bm_unit *units, size_t count,
                         double *mean)
{
    struct bm_aggregation_spec spec = {.scheme = scheme,
                                       .ndims = 3,
                                       .bytes = CLOUD_BYTES,
                                       .target = target * CLOUD_BYTES,
                                       .ranks = RANKS};
    struct bm_aggregation g;
    double largest = 0;

    if (bm_aggregate(&g, bm_allocator_default(), &spec, units, count))
        fail("cannot plan files");
    for (int64_t f = 0; f < g.files; f++)
        if ((double)g.counts[f] > largest)
            largest = (double)g.counts[f];
    *mean = (double)PARTICLES / (double)g.files;
    bm_aggregation_release(&g);
    return largest;
}

void bench_files(void)
{
    double tree = 0, tree_sum = 0, split = 0;
    int compared = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct crowd c;
        uint64_t most = 0;

        crowd_init(&c, seed);
        for (int r = 0; r < RANKS; r++)
            most = c.units[r].count > most ? c.units[r].count : most;
        for (uint64_t files = 8; files <= 128; files *= 2) {
            uint64_t target = PARTICLES / files;
            double mean, ratio;

            if (most <= target) {
                ratio = largest_of(BOUMA_ASSIGN_KDTREE, target, c.units, RANKS,
                                   &mean);
                ratio /=
                    largest_of(BOUMA_ASSIGN_AUG, target, c.units, RANKS, &mean);
                tree = ratio > tree ? ratio : tree;
                tree_sum += ratio;
                compared++;
            }
            ratio = largest_of_split(&c, target, &mean);
            split = ratio / mean > split ? ratio / mean : split;
        }
        crowd_release(&c);
    }
    printf("\nfiles planned for %d ranks, particles in blobs, %d cases\n",
           RANKS, compared);
    score("largest file of kdtree over that of aug, worst case", "", tree,
          SCORE_AT_MOST, 0.6);
    score("largest file of kdtree over that of aug, mean", "",
          tree_sum / compared, SCORE_TOLD, 0);
    score("largest file of split over the mean one, worst case", "", split,
          SCORE_AT_MOST, 1.1);
}
