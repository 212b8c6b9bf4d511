/* tile_plan.c -- see tile_plan.h. */
#include "write/tile_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"

/* Blocks that are made of tiles, row by row and plane by plane. */
struct merging {
    struct bm_tile_plan *plan;
    uint32_t *same_as; /* [tiles]: the block that this one became a part of */
    uint32_t *above;   /* [tiles along x]: blocks of the row before, by where
                          they begin */
    uint32_t *behind;  /* [tiles along y and x]: of the plane before */
    size_t plane;      /* the first block of this one */
};

/* Whether a box goes on with another one along an axis. */
static int continues(const struct bm_block *before, const struct bm_block *next,
                     int axis)
{
    if (before->rank != next->rank ||
        before->box.hi[axis] != next->box.lo[axis])
        return 0;
    for (int d = 0; d < 3; d++)
        if (d != axis && (before->box.lo[d] != next->box.lo[d] ||
                          before->box.hi[d] != next->box.hi[d]))
            return 0;
    return 1;
}

/* Tiles of one owner in a row, from 'at' on: a block, or more of the one above.
 * Gives the end of the run. */
static int64_t add_run(struct merging *m, const int64_t at[3])
{
    struct bm_tile_plan *p = m->plan;
    const struct bm_tiling *t = &p->tiling;
    int64_t first = bm_tiling_index(t, at), end = at[2];
    int64_t last[3] = {at[0], at[1], 0};
    struct bm_block run = {p->owner[first], bm_tiling_box(t, at)};
    uint32_t above = m->above[at[2]];

    while (end < t->count[2] && p->owner[first + end - at[2]] == run.rank)
        end++;
    last[2] = end - 1;
    run.box.hi[2] = bm_tiling_box(t, last).hi[2];
    if (above < p->block_count && above >= m->plane &&
        continues(&p->blocks[above], &run, 1)) {
        p->blocks[above].box.hi[1] = run.box.hi[1];
    } else {
        above = (uint32_t)p->block_count++;
        p->blocks[above] = run;
        m->same_as[above] = above;
    }
    m->above[at[2]] = above;
    for (int64_t x = at[2]; x < end; x++)
        p->block_of[first + x - at[2]] = above;
    return end;
}

/* Blocks of a plane that go on with those of the one before it. */
static void merge_plane(struct merging *m)
{
    struct bm_tile_plan *p = m->plan;
    const struct bm_tiling *t = &p->tiling;

    for (size_t i = m->plane; i < p->block_count; i++) {
        const struct bm_box *box = &p->blocks[i].box;
        uint32_t *before = &m->behind[box->lo[1] / t->edge[1] * t->count[2] +
                                      box->lo[2] / t->edge[2]];

        if (*before < m->plane &&
            continues(&p->blocks[*before], &p->blocks[i], 0)) {
            p->blocks[*before].box.hi[0] = box->hi[0];
            m->same_as[i] = *before;
        } else {
            *before = (uint32_t)i;
        }
    }
}

/* Only blocks that are no part of another, in the order of ranks. */
static int sort_blocks(struct merging *m)
{
    struct bm_tile_plan *p = m->plan;
    size_t tiles = (size_t)p->tiling.patches, n = 0;
    struct bm_keyed *order = bm_new_raw(p->a, p->block_count, sizeof(*order));
    struct bm_block *sorted = bm_new_raw(p->a, p->block_count, sizeof(*sorted));

    for (size_t i = 0; i < p->block_count && order && sorted; i++)
        if (m->same_as[i] == i)
            order[n++] = (struct bm_keyed){
                (uint64_t)p->blocks[i].rank << 32 | (uint64_t)i, i};
    if (order && sorted) {
        qsort(order, n, sizeof(*order), bm_keyed_compare);
        for (size_t i = 0; i < tiles; i++)
            p->block_of[i] = m->same_as[p->block_of[i]];
        for (size_t i = 0; i < n; i++) {
            sorted[i] = p->blocks[order[i].at];
            m->same_as[order[i].at] = (uint32_t)i;
        }
        for (size_t i = 0; i < tiles; i++)
            p->block_of[i] = m->same_as[p->block_of[i]];
        memcpy(p->blocks, sorted, n * sizeof(*sorted));
        p->block_count = n;
    }
    n = order && sorted;
    bm_drop(p->a, order);
    bm_drop(p->a, sorted);
    return n ? BOUMA_OK : BOUMA_ENOMEM;
}

static int make_blocks(struct bm_tile_plan *p)
{
    const struct bm_tiling *t = &p->tiling;
    size_t tiles = (size_t)t->patches;
    struct merging m = {.plan = p};
    int64_t at[3];
    int rc = BOUMA_ENOMEM;

    p->blocks = bm_new_raw(p->a, tiles, sizeof(*p->blocks));
    p->block_of = bm_new_raw(p->a, tiles, sizeof(*p->block_of));
    m.same_as = bm_new_raw(p->a, tiles, sizeof(*m.same_as));
    m.above = bm_new_raw(p->a, (size_t)t->count[2], sizeof(*m.above));
    m.behind = bm_new_raw(p->a, (size_t)(t->count[1] * t->count[2]),
                          sizeof(*m.behind));
    if (p->blocks && p->block_of && m.same_as && m.above && m.behind) {
        memset(m.above, 0xff, (size_t)t->count[2] * sizeof(*m.above));
        memset(m.behind, 0xff,
               (size_t)(t->count[1] * t->count[2]) * sizeof(*m.behind));
        for (at[0] = 0; at[0] < t->count[0]; at[0]++) {
            m.plane = p->block_count;
            for (at[1] = 0; at[1] < t->count[1]; at[1]++)
                for (at[2] = 0; at[2] < t->count[2];)
                    at[2] = add_run(&m, at);
            merge_plane(&m);
        }
        rc = sort_blocks(&m);
    }
    bm_drop(p->a, m.same_as);
    bm_drop(p->a, m.above);
    bm_drop(p->a, m.behind);
    return rc;
}

int bm_tile_plan_make(struct bm_tile_plan *p, const bouma_allocator *a,
                      const struct bm_tiling *tiling, bouma_distribute scheme,
                      int ranks, struct bm_cover_fault *fault)
{
    struct bm_distribution report;
    int rc;

    p->a = a;
    p->tiling = *tiling;
    p->owner = bm_new_raw(a, (size_t)tiling->patches, sizeof(*p->owner));
    if (!p->owner)
        return BOUMA_ENOMEM;
    rc = bm_partition_init(&p->partition, a, bm_chunking_of_tiling(&p->tiling),
                           p->given, p->given_count);
    if (!rc)
        rc = bm_partition_check(&p->partition, fault);
    if (!rc)
        rc = bm_distribute(p->owner, scheme, &p->partition, ranks, &report);
    if (!rc)
        p->moved_samples = report.moved_samples;
    return rc ? rc : make_blocks(p);
}

void bm_tile_plan_release(struct bm_tile_plan *p)
{
    bm_partition_release(&p->partition);
    bm_drop(p->a, p->given);
    bm_drop(p->a, p->owner);
    bm_drop(p->a, p->blocks);
    bm_drop(p->a, p->block_of);
}
