/* rank_grid.h -- who holds which samples, if the ranks' blocks are the cells of
 * a grid: by where its axes are cut, without a list of blocks or of parts. */
#ifndef BM_RANK_GRID_H
#define BM_RANK_GRID_H

#include "base/memory.h"
#include "plan/chunking.h"
#include "plan/distribute.h"
#include "plan/even_list.h"
#include "plan/hz_ranks.h"

struct bm_rank_grid {
    const bouma_allocator *a;
    int64_t grid[3];
    int64_t *cut[3]; /* [grid + 1], the first sample of each cell; some may have
                        none */
    int *rank;       /* [cells], the last axis running fastest */
    int ranks;
};

/* BOUMA_OK or ENOMEM. A zeroed struct can be released. */
int bm_rank_grid_init(struct bm_rank_grid *g, const bouma_allocator *a,
                      const struct bm_hz_ranks *ranks);
void bm_rank_grid_release(struct bm_rank_grid *g);

/* The cell of a sample along an axis with such cuts, mostly the last one that
 * was found or one beside it. */
static inline int64_t bm_rank_grid_cell(const int64_t *cut, int64_t cells,
                                        int64_t near, int64_t sample)
{
    if (sample >= cut[near + 1] && near + 1 < cells)
        near++;
    else if (sample < cut[near] && near)
        near--;
    if (sample < cut[near] || sample >= cut[near + 1]) {
        near = (int64_t)((double)sample / (double)cut[cells] * (double)cells);
        near = near < cells ? near : cells - 1;
    }
    while (sample < cut[near])
        near--;
    while (sample >= cut[near + 1])
        near++;
    return near;
}

/* The ranks that hold samples of a footprint: along each axis, the cells that
 * have some, and how many. */
struct bm_holders {
    const struct bm_rank_grid *grid;
    struct bm_holders_axis {
        int64_t count;
        int64_t *cell;    /* [count], ascending */
        int64_t *samples; /* [count] */
        int64_t near;     /* where the last search ended */
        int64_t start;    /* of the last footprint; the order is such that it */
        int shift;        /* is not read in pairs right after it was stored */
        int64_t length;
    } axis[3];
};

/* BOUMA_OK or ENOMEM. A zeroed struct can be released. */
int bm_holders_init(struct bm_holders *h, const struct bm_rank_grid *g);
void bm_holders_release(struct bm_holders *h);

/* Find those of a footprint that has samples; the number of ranks. */
int64_t bm_holders_find(struct bm_holders *h, const struct bm_footprint *f);

/* One of them, and how many samples it holds; 'at' is its index along each
 * axis. */
struct bm_holder {
    int rank;
    uint64_t samples;
    int64_t at[3];
    const int *row; /* the ranks along the last axis, ... */
    uint64_t each;  /* ...and samples that they hold of each of its planes */
};

static inline void bm_holder_look(const struct bm_holders *h,
                                  struct bm_holder *now)
{
    const struct bm_holders_axis *last = &h->axis[2];

    now->rank = now->row[last->cell[now->at[2]]];
    now->samples = now->each * (uint64_t)last->samples[now->at[2]];
}

static inline void bm_holder_begin_row(const struct bm_holders *h,
                                       struct bm_holder *now)
{
    const struct bm_holders_axis *a = h->axis;
    int64_t z = now->at[0], y = now->at[1];
    const int64_t *grid = h->grid->grid;

    now->row =
        h->grid->rank + (a[0].cell[z] * grid[1] + a[1].cell[y]) * grid[2];
    now->each = (uint64_t)(a[0].samples[z] * a[1].samples[y]);
    now->at[2] = 0;
    bm_holder_look(h, now);
}

static inline struct bm_holder bm_holders_first(const struct bm_holders *h)
{
    struct bm_holder now = {.rank = 0};

    bm_holder_begin_row(h, &now);
    return now;
}

/* Go on to the next one; 0 if that was the last. */
static inline int bm_holders_next(const struct bm_holders *h,
                                  struct bm_holder *now)
{
    if (++now->at[2] < h->axis[2].count) {
        bm_holder_look(h, now);
        return 1;
    }
    if (++now->at[1] == h->axis[1].count) {
        now->at[1] = 0;
        if (++now->at[0] == h->axis[0].count)
            return 0;
    }
    bm_holder_begin_row(h, now);
    return 1;
}

/* Where the chunks of a group lie, by its axes: the place of each along each
 * axis, and how many there are. */
struct bm_group_pattern {
    int known, axis[BM_CHUNK_GROUP_BITS];
    int places[3];
    uint8_t at[BM_CHUNK_GROUP][3];
};

/* The owners that bm_distribute() finds for such blocks, by places on the order
 * of keys. All chunks are told one after the other; then shared ones, which
 * several ranks hold, are given to ranks. Chunkings are of level 0. */
struct bm_owners {
    const struct bm_rank_grid *grid;
    const struct bm_chunking *chunking;
    struct bm_even_list owner; /* by place; BM_NO_OWNER: not yet known */
    uint64_t *shared; /* [chunks / 64 + 1], a bit for each chunk, by number */
    uint32_t *place;  /* [report.shared_patches], of those, by number */
    int64_t *count;   /* [ranks], chunks that it has */
    /* Who sends parts of shared chunks to a rank: of the 27 cells around its
     * own, bit 9 z + 3 y + x. Chunks with other senders are marked in 'far', or
     * all shared ones if 'all_far' is set before they are shared out. */
    uint32_t *senders; /* [ranks] */
    uint64_t *far;     /* [chunks / 64 + 1] */
    int all_far;
    struct bm_holders holders;
    struct bm_group_pattern pattern; /* of the last group */
    struct bm_distribution report;
};

/* BOUMA_OK or ENOMEM. A zeroed struct can be released. */
int bm_owners_init(struct bm_owners *o, const struct bm_rank_grid *g,
                   const struct bm_chunking *chunking);
void bm_owners_release(struct bm_owners *o);
/* The next chunks on the order, from the one at 'first' on. */
void bm_owners_tell(struct bm_owners *o, int64_t first,
                    const struct bm_chunk_group *group);
/* When all are told. BOUMA_OK, ENOMEM, or EINVAL for an unknown scheme. */
int bm_owners_share_out(struct bm_owners *o, bouma_distribute scheme);

#define BM_NO_OWNER BM_EVEN_MOST

static inline int bm_owner_at(const struct bm_owners *o, size_t place)
{
    return (int)bm_even_list_get(&o->owner, place);
}

static inline int bm_is_shared(const uint64_t *shared, int64_t chunk)
{
    return (int)(shared[chunk >> 6] >> (chunk & 63) & 1);
}

#endif
