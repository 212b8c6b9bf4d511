/* where_groups.h -- "and" and "or" of groups of ranges; see where.h. */
#ifndef BM_WHERE_GROUPS_H
#define BM_WHERE_GROUPS_H

#include "base/where.h"

/* Add a group of ranges, which are copied, unless another one has all of it.
 * These three give BOUMA_OK, ELIMIT or ENOMEM, without a message. */
int bm_where_add(struct bm_where *to, const struct bm_where_variable *variables,
                 const struct bm_where_range *ranges, size_t count);
/* Make 'to' what either has, or what both have. */
int bm_where_or(struct bm_where *to, const struct bm_where_variable *variables,
                const struct bm_where *other);
int bm_where_and(struct bm_where *to, const struct bm_where_variable *variables,
                 const struct bm_where *other);

#endif
