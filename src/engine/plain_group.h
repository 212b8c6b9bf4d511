/* plain_group.h -- the ranks that share a plain file. */
#ifndef BM_PLAIN_GROUP_H
#define BM_PLAIN_GROUP_H

#include "base/option.h"
#include "comm/comm.h"

/* The ranks that share a file; all of them, unless there are several files. */
struct bm_file_group {
    int number;
    int files; /* of all groups */
    int ranks;
    int first_rank;
    int *member; /* [ranks], ascending; NULL: they follow each other */
    int rank;    /* this one's index among them */
};

/* That of this rank: of some consecutive ones, or of its nodes, as the options
 * say. BOUMA_OK or ENOMEM. */
int bm_file_group_find(struct bm_file_group *group, const struct bm_options *o,
                       const struct bm_comm *comm);
void bm_file_group_release(struct bm_file_group *group,
                           const bouma_allocator *a);

/* The index of a rank in a group, -1 if it is in another; and the other way
 * round. */
int bm_file_group_index(const struct bm_file_group *group, int rank);
int bm_file_group_rank(const struct bm_file_group *group, int index);

#endif
