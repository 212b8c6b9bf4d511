/* rank_groups.c -- see rank_groups.h. */
#include "plan/rank_groups.h"

#include "bouma.h"

/* The root of a tree of ranks, which is its lowest; paths are halved. */
static int root_of(int *up, int rank)
{
    while (up[rank] != rank) {
        up[rank] = up[up[rank]];
        rank = up[rank];
    }
    return rank;
}

static void join(int *up, int a, int b)
{
    a = root_of(up, a);
    b = root_of(up, b);
    up[a > b ? a : b] = a < b ? a : b;
}

/* Link ranks; holder[] has a rank of each thing, or -1. */
static void link_ranks(int *up, int *holder, const struct bm_rank_parts *parts)
{
    for (uint32_t i = 0; i < parts->things; i++)
        holder[i] = -1;
    for (int r = 0; r < parts->ranks; r++) {
        up[r] = r;
        for (size_t k = parts->first[r]; k < parts->first[r + 1]; k++) {
            int *first = &holder[parts->thing[k]];

            if (*first < 0)
                *first = r;
            else
                join(up, r, *first);
        }
    }
}

int bm_rank_groups(int *group, int *groups, const bouma_allocator *a,
                   const struct bm_rank_parts *parts)
{
    int *holder = bm_new_raw(a, parts->things, sizeof(*holder));
    int *up = bm_new_raw(a, (size_t)parts->ranks, sizeof(*up));
    int n = 0, rc = BOUMA_ENOMEM;

    if (holder && up) {
        link_ranks(up, holder, parts);
        for (int r = 0; r < parts->ranks; r++)
            if (parts->first[r] < parts->first[r + 1])
                group[r] = root_of(up, r) == r ? n++ : group[up[r]];
        *groups = n ? n : 1;
        for (int r = 0; r < parts->ranks; r++)
            if (parts->first[r] == parts->first[r + 1])
                group[r] = (int)((int64_t)r * *groups / parts->ranks);
        rc = BOUMA_OK;
    }
    bm_drop(a, holder);
    bm_drop(a, up);
    return rc;
}
