/* chunking.h -- how the samples of a grid are divided into chunks, as plans see
 * it. A layout gives it (see layout.h): plans know nothing else of a layout.
 *
 * Each sample is in one chunk. Chunks are numbered from 0; each has a key, by
 * which files know it. */
#ifndef BM_CHUNKING_H
#define BM_CHUNKING_H

#include <stdint.h>

#include "base/box.h"
#include "base/tiling.h"

/* The samples of a chunk, or some of them: along each axis 'count' of them,
 * 2^shift apart.
 *
 *     start 2, count 3, shift 2:   . . x . . . x . . . x .
 *
 * Three axes always, as boxes have (see box.h). */
struct bm_footprint {
    int64_t start[3];
    int64_t count[3]; /* 0 along some axis: there are none */
    int shift[3];
};

uint64_t bm_footprint_samples(const struct bm_footprint *f);
struct bm_footprint bm_footprint_of_box(const struct bm_box *box);
/* The smallest box around the samples, of which there are some. */
struct bm_box bm_footprint_bounds(const struct bm_footprint *f);
/* Those of its samples that lie in a box, counted from its first sample: a box
 * that may be empty. Plans for many ranks ask for millions, so these two are
 * here. */
static inline struct bm_box bm_footprint_part(const struct bm_footprint *f,
                                              const struct bm_box *box)
{
    struct bm_box part;

    for (int d = 0; d < 3; d++) {
        int64_t up = ((int64_t)1 << f->shift[d]) - 1 - f->start[d];
        int64_t lo = (box->lo[d] + up) >> f->shift[d];
        int64_t hi = (box->hi[d] + up) >> f->shift[d];

        part.lo[d] = lo > 0 ? lo : 0;
        part.hi[d] = hi < f->count[d] ? hi : f->count[d];
    }
    return part;
}

/* Their number. */
static inline uint64_t bm_footprint_samples_in(const struct bm_footprint *f,
                                               const struct bm_box *box)
{
    struct bm_box part = bm_footprint_part(f, box);
    uint64_t n = 1;

    for (int d = 0; d < 3; d++)
        n *= part.hi[d] > part.lo[d] ? (uint64_t)(part.hi[d] - part.lo[d]) : 0;
    return n;
}

/* Such a part as a footprint. */
struct bm_footprint bm_footprint_cut(const struct bm_footprint *f,
                                     const struct bm_box *part);
/* Those that both have. */
struct bm_footprint bm_footprint_common(const struct bm_footprint *a,
                                        const struct bm_footprint *b);
/* Those whose indices are multiples of 2^level. */
struct bm_footprint bm_footprint_at_level(const struct bm_footprint *f,
                                          int level);

/* Chunks 'first' up to 'end', which is none of them. */
typedef void (*bm_chunk_run)(void *context, int64_t first, int64_t end);

/* A chunk on the order of keys. */
struct bm_listed_chunk {
    int64_t chunk;
    uint64_t key;
    struct bm_footprint footprint; /* all its samples */
};

/* Chunks that follow each other on it: one, or eight of one shape, with keys
 * that follow each other, the first a multiple of 8. These lie side by side, on
 * a lattice: bit i of a chunk's place among them leads along axis[i], the higher
 * one of two bits twice as far, and its number grows by step[i]. */
#define BM_CHUNK_GROUP_BITS 3
#define BM_CHUNK_GROUP      (1 << BM_CHUNK_GROUP_BITS)
struct bm_chunk_group {
    int64_t count;
    struct bm_listed_chunk first;
    int axis[BM_CHUNK_GROUP_BITS];
    int64_t step[BM_CHUNK_GROUP_BITS];
};

/* The number of the i-th one. */
static inline int64_t bm_chunk_in_group(const struct bm_chunk_group *g, int i)
{
    int64_t chunk = g->first.chunk;

    for (int bit = 0; i >> bit; bit++)
        chunk += i >> bit & 1 ? g->step[bit] : 0;
    return chunk;
}

/* The functions are cheap, need no memory and cannot fail. 'own' is whatever
 * the layout likes. */
struct bm_chunking_functions {
    struct bm_footprint (*footprint)(const void *own, int64_t chunk);
    /* Call 'each' for the chunks that have samples of a level in a box, none
     * twice. Those of level 0 are all samples, and no others are told; at
     * coarser levels some may be that have none there. Other chunks are not
     * looked at: a grid may have millions. */
    void (*touched)(const void *own, const struct bm_box *box, int level,
                    bm_chunk_run each, void *context);
    uint64_t (*key)(const void *own, int64_t chunk);
    int64_t (*find)(const void *own, uint64_t key); /* -1: there is none */
    /* All chunks by ascending keys: chunks that are near each other in it
     * should be so in space, as runs of it make a file. */
    void (*order)(const void *own, int64_t *order);
    /* 'count' chunks of that order, from the one at 'first' on (NULL: they are
     * looked at one by one); and where a chunk is in it. Without 'position',
     * chunks are numbered in that order. */
    void (*list)(const void *own, int64_t first, int64_t count,
                 struct bm_listed_chunk *out);
    /* The same in groups, as many as there are chunks or fewer: their number.
     * NULL: there are none of several chunks. */
    int64_t (*list_groups)(const void *own, int64_t first, int64_t count,
                           struct bm_chunk_group *out);
    int64_t (*position)(const void *own, int64_t chunk);
    /* Among the files of this grid, the one that a chunk must be in; they are
     * counted from 0, and each has a chunk. NULL: the plan decides. */
    int64_t (*file)(const void *own, int64_t chunk);
    /* Of a grid with partitions, whose chunks have fixed files: the one that
     * all samples of the chunk's file are in, or -1; and the partitions that a
     * box meets. */
    int64_t (*partition)(const void *own, int64_t chunk);
    void (*meet)(const void *own, const struct bm_box *box,
                 void (*each)(void *context, int64_t partition), void *context);
    /* 1: chunks are numbered from coarse ones, whose samples lie far apart, to
     * fine ones. */
    int coarse_first;
};

/* The chunks of one grid, with the samples of one level. */
struct bm_chunking {
    const struct bm_chunking_functions *calls;
    const void *own;
    int64_t count; /* of chunks */
    int level;
    int64_t partitions; /* 0: the grid is not cut */
};

/* The samples of a chunk at the level; there may be none. */
static inline struct bm_footprint
bm_chunking_footprint(const struct bm_chunking *c, int64_t chunk)
{
    struct bm_footprint f = c->calls->footprint(c->own, chunk);

    return c->level ? bm_footprint_at_level(&f, c->level) : f;
}

/* Some chunks on the order of keys, by calls->list or one by one. */
void bm_chunking_list(const struct bm_chunking *c, int64_t first, int64_t count,
                      struct bm_listed_chunk *out);
/* The same in groups, by calls->list_groups or one by one; their number. */
int64_t bm_chunking_list_groups(const struct bm_chunking *c, int64_t first,
                                int64_t count, struct bm_chunk_group *out);
int64_t bm_chunking_position(const struct bm_chunking *c, int64_t chunk);

/* Each patch a chunk, at level 0. The tiling stays the caller's. */
struct bm_chunking bm_chunking_of_tiling(const struct bm_tiling *t);

#endif
