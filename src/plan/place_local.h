/* place_local.h -- localized aggregation: the writer of a file is one of the
 * ranks that send to it, its group, and lies in the middle of them (Kumar et
 * al., "Reducing network congestion and synchronization overhead during data
 * aggregation when writing hierarchical data", III-B).
 *
 *     a file alone                 f                 (f+l)/2               l
 *                                  |--------------------W------------------|
 *     files of n = 3 series        |---------W----------W---------W--------|
 *     two files of one series      W--------------------W------------------|
 *
 * f and l are the lowest and the highest rank of the group. Files with the same
 * f and l share a place: of n series that have files there, the last file of
 * series i goes to
 *
 *     f + (i + 1) (l - f) / (n + 1)
 *
 * and the other files, m of them, by series and number, to
 *
 *     f + t (l - f) / d        t = 0 ... m - 1
 *
 * where d is m, or the next number above it that has no factor in common with
 * n + 1: so none of them meets one of the former. A series is the files of one
 * object whose layout numbers them; all others are one. (The paper has a file
 * for each variable, and (i + 1) (f + l) / (n + 1), which may lie outside of
 * the group.) All is rounded down.
 *
 * The group may lack that rank: of a box of ranks, say,
 *
 *     ranks 8 x 8, group 4 x 4:   0-3   8-11   16-19   24-27     (f+l)/2 = 13
 *
 * Then it is cut into runs, where ranks are farther apart than half of the
 * largest gap. The same part of the way from the first to the last rank, now
 * counted in ranks of the group, tells the run: here the eighth of 16, so the
 * second run, and in it rank 9. That is repeated if a run has gaps too. So the
 * writer is in the middle of the box along each axis.
 *
 * If that rank has a file already, it is the nearest one of the group that has
 * the fewest; of two, the lower one. Files with smaller groups come first, as
 * they have less choice; of equal ones the lower number.
 *
 * Pure; the effort is by the ranks of all groups. */
#ifndef BM_PLACE_LOCAL_H
#define BM_PLACE_LOCAL_H

#include "plan/cost.h"

/* A file that nobody sends to is written by the rank that `spread` gives it to.
 * The tier is the one that the rule wants, or DRAM; nothing else of the rule
 * counts. 'tier' may be NULL, 'choice' is not filled in. BOUMA_OK or ENOMEM. */
int bm_place_locally(int *writer, bouma_tier *tier, struct bm_cost *choice,
                     const bouma_allocator *a, const struct bm_cost_rule *rule,
                     const struct bm_gathering *gathering);

#endif
