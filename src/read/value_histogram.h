/* value_histogram.h -- a histogram while it is made: of particles by
 * particle_histogram.c, of a grid by grid_histogram.c. */
#ifndef BM_VALUE_HISTOGRAM_H
#define BM_VALUE_HISTOGRAM_H

#include "plan/budget.h"
#include "plan/histogram.h"
#include "read/read.h"

struct bm_histogram {
    struct bouma_step *step;
    struct bouma_variable *variable;
    int component;
    int index_only;
    const struct bm_budget *budget; /* NULL: read all */
    uint64_t before;                /* bytes read before the call */
    struct bm_edges edges;
    struct bm_tally tally;
    /* Values that were read: */
    uint64_t *counts;      /* [slots] */
    uint64_t nans, points; /* all of them */
};

/* Memory for the edges of a variable of a step: see bm_edges_init(). To be
 * released in any case. */
int bm_histogram_init(struct bm_histogram *h, size_t bins, const double *edges,
                      double low, double high);
void bm_histogram_release(struct bm_histogram *h);

/* Dense samples of the variable, or values of the component alone, that a read
 * has given. */
void bm_histogram_add(struct bm_histogram *h, const void *values, size_t count,
                      size_t stride);

/* What is left of the budget's bytes. */
uint64_t bm_histogram_left(const struct bm_histogram *h);

/* Tell the bins: from the index alone; with a sample, which has no counts yet;
 * or, of all values that match, with their counts. */
void bm_histogram_tell_index(bouma_histogram *out, bouma_bin *bins,
                             const struct bm_histogram *h);
void bm_histogram_tell_sample(bouma_histogram *out, bouma_bin *bins,
                              const struct bm_histogram *h,
                              struct bm_seen sample);
void bm_histogram_tell_exact(bouma_histogram *out, bouma_bin *bins,
                             const struct bm_histogram *h);

/* Make it. */
int bm_particle_histogram(bouma_histogram *out, bouma_bin *bins,
                          struct bm_histogram *h,
                          const struct bm_criteria *criteria);
int bm_grid_histogram(bouma_histogram *out, bouma_bin *bins,
                      struct bm_histogram *h, const struct bm_box *lifted);

/* The range of all finite values that can be read; 0 and 1 if there are none.
 * EINVAL if that is not known. */
int bm_histogram_range(const struct bouma_variable *v, int component,
                       double *low, double *high);

/* A range as it is on record, and values that are read: as a piece. There is at
 * least one value. */
struct bm_interval bm_histogram_interval(const struct bm_edges *e,
                                         const struct bouma_variable *v,
                                         const struct bm_range *range);

#endif
