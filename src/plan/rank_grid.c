/* rank_grid.c -- see rank_grid.h. */
#include "plan/rank_grid.h"

#include <string.h>

/* ---- the grid ------------------------------------------------------------ */

static void find_cuts(struct bm_rank_grid *g, const struct bm_hz_ranks *ranks)
{
    for (int d = 0; d < 3; d++)
        for (int64_t i = 0; i < g->grid[d]; i++) {
            int64_t cell[3] = {0, 0, 0};
            struct bm_box box;

            cell[d] = i;
            box = bm_hz_ranks_box(ranks, bm_hz_ranks_at(ranks, cell));
            g->cut[d][i] =
                box.lo[d] < ranks->shape[d] ? box.lo[d] : ranks->shape[d];
            g->cut[d][i + 1] = ranks->shape[d];
        }
}

int bm_rank_grid_init(struct bm_rank_grid *g, const bouma_allocator *a,
                      const struct bm_hz_ranks *ranks)
{
    memset(g, 0, sizeof(*g));
    g->a = a;
    g->ranks = ranks->count;
    g->rank = bm_new_raw(a, (size_t)ranks->count, sizeof(*g->rank));
    for (int d = 0; d < 3; d++) {
        g->grid[d] = ranks->grid[d];
        g->cut[d] = bm_new_raw(a, (size_t)g->grid[d] + 1, sizeof(*g->cut[d]));
    }
    if (!g->rank || !g->cut[0] || !g->cut[1] || !g->cut[2])
        return BOUMA_ENOMEM;
    find_cuts(g, ranks);
    for (int r = 0; r < ranks->count; r++) {
        int64_t cell[3];

        bm_hz_ranks_cell(ranks, r, cell);
        g->rank[(cell[0] * g->grid[1] + cell[1]) * g->grid[2] + cell[2]] = r;
    }
    return BOUMA_OK;
}

void bm_rank_grid_release(struct bm_rank_grid *g)
{
    if (!g->a)
        return;
    bm_drop(g->a, g->rank);
    for (int d = 0; d < 3; d++)
        bm_drop(g->a, g->cut[d]);
    memset(g, 0, sizeof(*g));
}

/* ---- holders ------------------------------------------------------------- */

int bm_holders_init(struct bm_holders *h, const struct bm_rank_grid *g)
{
    int rc = BOUMA_OK;

    memset(h, 0, sizeof(*h));
    h->grid = g;
    for (int d = 0; d < 3; d++) {
        struct bm_holders_axis *x = &h->axis[d];

        x->cell = bm_new_raw(g->a, (size_t)g->grid[d], sizeof(*x->cell));
        x->samples = bm_new_raw(g->a, (size_t)g->grid[d], sizeof(*x->samples));
        if (!x->cell || !x->samples)
            rc = BOUMA_ENOMEM;
    }
    return rc;
}

void bm_holders_release(struct bm_holders *h)
{
    for (int d = 0; d < 3 && h->grid; d++) {
        bm_drop(h->grid->a, h->axis[d].cell);
        bm_drop(h->grid->a, h->axis[d].samples);
    }
    memset(h, 0, sizeof(*h));
}

/* Along one axis. */
static void find_along(struct bm_holders_axis *x, const struct bm_rank_grid *g,
                       int d, const struct bm_footprint *f)
{
    const int64_t *cut = g->cut[d];
    int64_t start = f->start[d], count = f->count[d];
    int shift = f->shift[d];
    int64_t up = ((int64_t)1 << shift) - 1 - start;

    x->count = 0;
    for (int64_t i = 0, end; i < count; i = end) {
        x->near =
            bm_rank_grid_cell(cut, g->grid[d], x->near, start + (i << shift));
        end = (cut[x->near + 1] + up) >> shift;
        end = end < count ? end : count;
        x->cell[x->count] = x->near;
        x->samples[x->count++] = end - i;
    }
    x->start = start;
    x->length = count;
    x->shift = shift;
}

int64_t bm_holders_find(struct bm_holders *h, const struct bm_footprint *f)
{
    int64_t ranks = 1;

    for (int d = 0; d < 3; d++) {
        struct bm_holders_axis *x = &h->axis[d];

        /* Mostly it differs from the last one along one axis. */
        if (f->start[d] != x->start || f->count[d] != x->length ||
            f->shift[d] != x->shift)
            find_along(x, h->grid, d, f);
        ranks *= x->count;
    }
    return ranks;
}
