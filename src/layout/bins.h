/* bins.h -- 32 bins over the range of a variable, and maps of those that have
 * values: a bit for each.
 *
 * A value's bin never decreases as the value grows, so the bins of a range are
 * those from its low end's to its high end's: nothing on an edge is lost.
 * Integers are counted exactly; infinities are in the outermost bins; NaN is in
 * none.
 *
 *     integers   width = floor((high - low) / 32) + 1
 *                bin(v) = floor((v - low) / width)
 *     floats     all in f64, rounded after each operation; with m the larger of
 *                |low| and |high|, unit = 2^200 if m < 2^-800, 1/2 if
 *                m >= 2^1022, else 1; scale = 32 / (high*unit - low*unit), or
 *                DBL_MAX if low = high
 *                bin(v) = floor((v*unit - low*unit) * scale)
 *
 * and what is below 0 or above 31 is in bin 0 or 31. */
#ifndef BM_BINS_H
#define BM_BINS_H

#include "base/type.h"

#define BM_BINS 32

struct bm_bins {
    bouma_type type;
    union bm_scalar low, high; /* finite; of all values that are */
    int finite; /* there is no infinity; 0: not known. The caller's to set, for
                   bm_bins_select() and _remap() */
    double unit, base, scale; /* derived; floats */
    uint64_t width, inverse;  /* derived; integers */
};

/* Over the finite values of some arrays: widen *low and *high (*any is 0 at
 * first), then make the bins. The order of values and arrays makes no
 * difference. */
void bm_bins_widen(union bm_scalar *low, union bm_scalar *high, int *any,
                   bouma_type type, const void *values, size_t count);
void bm_bins_init(struct bm_bins *b, bouma_type type, union bm_scalar low,
                  union bm_scalar high);
/* Whether low and high can be those of bins: finite and in order. */
int bm_bins_valid(bouma_type type, union bm_scalar low, union bm_scalar high);

/* The bins that have any of the values. */
uint32_t bm_bins_map(const struct bm_bins *b, const void *values, size_t count);

/* The bins that values from low up to high (both included) can be in; 0 if
 * there are no such values: the range is empty, or apart from that of the bins.
 * Floats may be infinite. */
uint32_t bm_bins_select(const struct bm_bins *b, union bm_scalar low,
                        union bm_scalar high);

/* The smallest and the largest value that can be in a bin; 0 if none can. Unless
 * 'finite' is set, that may be an infinity. */
int bm_bins_values(const struct bm_bins *b, int bin, union bm_scalar *low,
                   union bm_scalar *high);

/* The bins of 'to' that values in the bins 'map' of 'from' can be in; the range
 * of 'to' is to have all of 'from'. */
uint32_t bm_bins_remap(const struct bm_bins *from, uint32_t map,
                       const struct bm_bins *to);

#endif
