/* plain_group.c -- see plain_group.h. */
#include "engine/plain_group.h"

#include <stdlib.h>

#include "base/search.h"
#include "engine/io_environment.h"

static int ascending(const void *left, const void *right)
{
    const int *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* The ranks of this rank's nodes. BOUMA_OK or ENOMEM. */
static int find_nodes(struct bm_file_group *group, const struct bm_options *o,
                      const struct bm_comm *comm)
{
    struct bm_node_groups nodes = bm_io_environment_node_groups(o, comm);
    int begin = 0, end = comm->size;

    group->files = nodes.groups;
    group->number = bm_node_group(&nodes, comm->rank);
    if (nodes.groups > 1)
        bm_node_group_positions(&nodes, group->number, &begin, &end);
    group->ranks = end - begin;
    group->member =
        bm_new_raw(comm->a, (size_t)group->ranks, sizeof(*group->member));
    if (!group->member)
        return BOUMA_ENOMEM;
    for (int i = begin; i < end; i++)
        group->member[i - begin] = bm_places_rank(&comm->places, i);
    qsort(group->member, (size_t)group->ranks, sizeof(*group->member),
          ascending);
    group->first_rank = group->member[0];
    return BOUMA_OK;
}

int bm_file_group_index(const struct bm_file_group *group, int rank)
{
    size_t at = 0;

    if (!group->member)
        return rank >= group->first_rank &&
                       rank < group->first_rank + group->ranks
                   ? rank - group->first_rank
                   : -1;
    BM_BISECT(at, (size_t)group->ranks, i, group->member[i] <= rank);
    return group->member[at] == rank ? (int)at : -1;
}

int bm_file_group_rank(const struct bm_file_group *group, int index)
{
    return group->member ? group->member[index] : group->first_rank + index;
}

int bm_file_group_find(struct bm_file_group *group, const struct bm_options *o,
                       const struct bm_comm *comm)
{
    int64_t ranks = comm->size, files = o->files < ranks ? o->files : ranks;
    int rc = BOUMA_OK;

    if (o->nodes_per_file) {
        rc = find_nodes(group, o, comm);
    } else {
        files = files < 1 ? 1 : files;
        group->files = (int)files;
        group->number = (int)((((int64_t)comm->rank + 1) * files - 1) / ranks);
        group->first_rank = (int)(group->number * ranks / files);
        group->ranks =
            (int)((group->number + 1) * ranks / files) - group->first_rank;
    }
    group->rank = rc ? 0 : bm_file_group_index(group, comm->rank);
    return rc;
}

void bm_file_group_release(struct bm_file_group *group,
                           const bouma_allocator *a)
{
    bm_drop(a, group->member);
    group->member = NULL;
}
