/* hz_groups.h -- the ranks that hold samples of a file: its group; found in
 * another way than estimate.h does it.
 *
 * A file is some blocks in a row of an HZ order (see hz.h). In runs of a power
 * of two they are a lattice, and the cells that a lattice meets are known
 * along each axis: the effort is by ranks of the group, not by samples.
 *
 * If the template conforms to the ranks (see hz_ranks.h), the groups of a
 * level's files go up the ranks, and two in a row share one rank at most. */
#ifndef HZ_GROUPS_H
#define HZ_GROUPS_H

#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "plan/hz_ranks.h"

struct hz_group {
    int first, last; /* the lowest and the highest rank; -1 if there are none */
    int count;       /* of ranks; those between may hold no samples */
};

/* Finds groups, one after the other. The ranks and the template stay the
 * caller's. */
struct hz_groups {
    const bouma_allocator *a;
    const struct bm_hz_ranks *ranks;
    const struct bm_hz *hz;
    int block_bits; /* 2^these samples are a block */
    uint32_t turn;
    uint32_t *seen; /* [ranks], the turn in which it was seen last */
};

/* 'block_bits' is at most hz->bits. BOUMA_OK or ENOMEM. */
static inline int hz_groups_init(struct hz_groups *g, const bouma_allocator *a,
                                 const struct bm_hz_ranks *ranks,
                                 const struct bm_hz *hz, int block_bits)
{
    *g = (struct hz_groups){
        .a = a, .ranks = ranks, .hz = hz, .block_bits = block_bits};
    g->seen = bm_new(a, (size_t)ranks->count, sizeof(*g->seen));
    return g->seen ? BOUMA_OK : BOUMA_ENOMEM;
}

static inline void hz_groups_release(struct hz_groups *g)
{
    bm_drop(g->a, g->seen);
    g->seen = NULL;
}

/* Cells along an axis: from 'first' on, 'count' of them, each the one that has
 * the next sample, or just the next. */
struct cell_run {
    int64_t start, step; /* samples; step 0: cells side by side */
    int64_t first, count;
    int64_t block;
};

/* Those of a lattice's samples; there are some. */
static inline struct cell_run cells_of(const struct bm_footprint *f, int d,
                                       int64_t block)
{
    struct cell_run run = {.start = f->start[d],
                           .step = (int64_t)1 << f->shift[d],
                           .first = f->start[d] / block,
                           .count = f->count[d],
                           .block = block};

    if (run.step <= block) { /* no cell is skipped */
        int64_t last = f->start[d] + (f->count[d] - 1) * run.step;

        run.step = 0;
        run.count = last / block - run.first + 1;
    }
    return run;
}

static inline int64_t nth_cell(const struct cell_run *run, int64_t n)
{
    return run->step ? (run->start + n * run->step) / run->block
                     : run->first + n;
}

static inline void see(struct hz_groups *g, struct hz_group *group, int rank)
{
    if (g->seen[rank] == g->turn)
        return;
    g->seen[rank] = g->turn;
    group->first = !group->count || rank < group->first ? rank : group->first;
    group->last = rank > group->last ? rank : group->last;
    group->count++;
}

/* All ranks of a block of 2^b samples. */
static inline void see_block(struct hz_groups *g, struct hz_group *group, int b,
                             uint64_t block)
{
    const struct bm_hz_ranks *r = g->ranks;
    struct bm_box domain = {{0, 0, 0}, {r->shape[0], r->shape[1], r->shape[2]}};
    struct bm_footprint f = bm_hz_block(g->hz, b, block);
    struct bm_box part = bm_footprint_part(&f, &domain);
    struct cell_run run[3];
    int64_t cell[3];

    f = bm_footprint_cut(&f, &part);
    for (int d = 0; d < 3; d++) {
        if (!f.count[d])
            return;
        run[d] = cells_of(&f, d, r->block[d]);
    }
    for (int64_t i = 0; i < run[0].count; i++) {
        cell[0] = nth_cell(&run[0], i);
        for (int64_t j = 0; j < run[1].count; j++) {
            cell[1] = nth_cell(&run[1], j);
            for (int64_t k = 0; k < run[2].count; k++) {
                cell[2] = nth_cell(&run[2], k);
                see(g, group, bm_hz_ranks_at(r, cell));
            }
        }
    }
}

/* So many blocks from 'first' on are one larger block: 2^this. */
static inline int bits_together(uint64_t first, uint64_t end, int most)
{
    int bits = bm_bits_length(end - first) - 1;
    int aligned = first ? __builtin_ctzll(first) : most;

    bits = bits < aligned ? bits : aligned;
    return bits < most ? bits : most;
}

/* The group of blocks 'first' up to 'end', which is none of them. Those beyond
 * the template have no samples. */
static inline struct hz_group hz_groups_find(struct hz_groups *g,
                                             uint64_t first, uint64_t end)
{
    struct hz_group group = {-1, -1, 0};
    int most = g->hz->bits - g->block_bits;
    uint64_t all = (uint64_t)1 << most;

    if (++g->turn == 0) { /* all turns have been used */
        memset(g->seen, 0, (size_t)g->ranks->count * sizeof(*g->seen));
        g->turn = 1;
    }
    for (end = end < all ? end : all; first < end;) {
        int bits = bits_together(first, end, most);

        see_block(g, &group, g->block_bits + bits, first >> bits);
        first += (uint64_t)1 << bits;
    }
    return group;
}

#endif
