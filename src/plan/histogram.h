/* histogram.h -- values in bins: how many there are, or between which bounds
 * their number must be, from what is known of them.
 *
 * Numbers of any type are compared as keys: unsigned integers in the order of
 * the values. Beside the bins there is a slot for what is below the first edge,
 * and one for what is above the last:
 *
 *     edges          e0    e1    e2
 *     slots     0  |  1  |  2  |  3
 *
 * What is known comes in groups: so many values, in some intervals. */
#ifndef BM_HISTOGRAM_H
#define BM_HISTOGRAM_H

#include "base/memory.h"
#include "base/type.h"

#define BM_MAX_HISTOGRAM_BINS 65536
#define BM_MAX_INTERVALS      32

/* ---- edges and values --------------------------------------------------- */

struct bm_edges {
    const bouma_allocator *a;
    bouma_type type;
    size_t bins, slots;  /* slots: bins + 2 */
    double *edge;        /* [bins + 1], ascending; may be infinite */
    uint64_t *first;     /* [used], the smallest key of a slot */
    size_t used;         /* slots from here on have no key */
    double begin, scale; /* of equally wide bins: slots by number, about; a
                            scale of 0: search for them */
};

/* 'given' are bins + 1 edges; or NULL: equally wide ones from low to high.
 * BOUMA_OK, or ENOMEM. To be released in any case. */
int bm_edges_init(struct bm_edges *e, const bouma_allocator *a, bouma_type type,
                  size_t bins, const double *given, double low, double high);
void bm_edges_release(struct bm_edges *e);

/* Doubles that a range is between: not above low, and not below high; nor equal
 * to each other. */
void bm_edges_around(double *out_low, double *out_high, bouma_type type,
                     union bm_scalar low, union bm_scalar high);

/* The key of a number, and the slot of a key. No NaN. */
uint64_t bm_key_of(bouma_type type, union bm_scalar value);
size_t bm_edges_slot(const struct bm_edges *e, uint64_t key);

/* Add 'count' values, 'stride' bytes apart, to counts[slots]; and those that
 * are no number to *nans. */
void bm_edges_count(const struct bm_edges *e, uint64_t *counts, uint64_t *nans,
                    const void *values, size_t count, size_t stride);

/* ---- bounds ------------------------------------------------------------- */

/* An interval of values, both ends included, and the slots that it meets. */
struct bm_interval {
    double low, high;
    size_t first, last;
};
struct bm_interval bm_interval_of(const struct bm_edges *e, union bm_scalar low,
                                  union bm_scalar high);

/* A group of values in intervals: piece[i] for each bit i of 'map'. They ascend,
 * and none shares a value with another. */
struct bm_group {
    const struct bm_interval *piece; /* [BM_MAX_INTERVALS] */
    uint32_t map;
    int occupied;   /* each of these pieces has a value */
    uint64_t count; /* values, NaN included */
    int certain;    /* all of them match */
    double share;   /* of them that are thought to match, */
    double numbers; /* and that are no NaN */
};

/* Bounds and estimates by slot. */
struct bm_tally {
    const struct bm_edges *edges;
    uint64_t *lower, *upper; /* [slots], as far as batches were closed */
    double *estimate;        /* [slots] */
    uint64_t all_lower, all_upper;
    double all_estimate;
    /* Of the batch at hand, [slots + 1]: */
    uint64_t *rise;  /* from slot to slot, of 'upper' */
    uint64_t *whole; /* values of groups that are in this slot as a whole, */
    uint64_t *least; /* and as many of them as there are for sure */
};

/* BOUMA_OK or ENOMEM. To be released in any case. */
int bm_tally_init(struct bm_tally *t, const struct bm_edges *e);
void bm_tally_release(struct bm_tally *t);

void bm_tally_add(struct bm_tally *t, const struct bm_group *g);
/* The groups that were added since the last time are a batch. They have at most
 * so many NaN in all. */
void bm_tally_close(struct bm_tally *t, uint64_t nans);

/* A sample of 'looked' values out of 'all': counts[slots], and 'matched' of them
 * in all. */
struct bm_seen {
    const uint64_t *counts;
    uint64_t matched, looked, all;
    int altered;  /* they differ a little from those of the whole, so that what
                     was seen is no bound; */
    int averages; /* they are no values of the whole at all */
};

/* One bin from a slot's bounds and, if there is one, a sample. */
struct bm_count {
    uint64_t lower, upper;
    double estimate, error;
};
struct bm_count bm_count_guess(uint64_t lower, uint64_t upper, double estimate);
struct bm_count bm_count_sampled(const struct bm_count *known, uint64_t seen,
                                 const struct bm_seen *s);

#endif
