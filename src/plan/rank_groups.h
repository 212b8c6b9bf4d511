/* rank_groups.h -- ranks that have to work together, found from what each has
 * a part of: two that have a part of the same thing are in one group, and so
 * are all that others link to each other. */
#ifndef BM_RANK_GROUPS_H
#define BM_RANK_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* What ranks have parts of: rank i of thing[first[i]] to thing[first[i + 1] -
 * 1], in any order. */
struct bm_rank_parts {
    int ranks;
    const size_t *first;   /* [ranks + 1] */
    const uint32_t *thing; /* [first[ranks]], below 'things' */
    uint32_t things;
};

/* The group of each rank, into group[ranks], and their number. Groups are
 * numbered by their lowest rank; ranks without parts do not count there, and
 * go to the groups in turn of their own numbers: rank i of n to group
 * i * groups / n. There is one group at least. BOUMA_OK or ENOMEM. */
int bm_rank_groups(int *group, int *groups, const bouma_allocator *a,
                   const struct bm_rank_parts *parts);

#endif
