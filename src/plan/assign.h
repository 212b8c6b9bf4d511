/* assign.h -- which file holds a chunk, and which rank writes the file. */
#ifndef BM_ASSIGN_H
#define BM_ASSIGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "bouma.h"
#include "plan/node_groups.h"
#include "plan/sums.h"

/* What a chunk costs in the table of its file, in bytes. A run of chunks may
 * cost no less than a part of it does. */
struct bm_chunk_table {
    uint32_t section;
    uint32_t bytes;   /* in any file */
    uint32_t opening; /* besides, if it is the first of its section there */
};

/* The chunks of a step, on their order. */
struct bm_chunk_sizes {
    size_t count;
    const uint64_t *bytes; /* [count] */
    const int *owner;      /* [count], the rank that encodes it */
    /* For `per-node`: of the ranks; NULL: they are one group. */
    const struct bm_node_groups *nodes;
    /* For `optimal`: */
    const struct bm_chunk_table *tables; /* [count]; NULL: they cost nothing */
    size_t sections;
    /* Or, where there are too many for such lists: what a chunk costs in any
     * file, and what it costs besides if it is the first of one (NULL: nothing).
     * Only for schemes whose files are runs. */
    const struct bm_sums *costs; /* instead of bytes and tables */
    uint64_t (*opening)(const void *own, size_t chunk);
    const void *own;
    uint64_t most_opening; /* no chunk has more */
    /* NULL, or: the file that a chunk must be in, below 'fixed_files'. Those
     * with BM_ANY_FILE are assigned to files behind these. */
    const uint32_t *fixed; /* [count] */
    int64_t fixed_files;
    const int *series; /* [fixed_files], whose file it is; may be NULL */
};

#define BM_ANY_FILE UINT32_MAX

/* The chunks of file f are chunk[first[f]] ... chunk[first[f + 1] - 1], on
 * their order. */
struct bm_assignment {
    const bouma_allocator *a;
    int64_t files;
    size_t *first;   /* [files + 1] */
    uint32_t *chunk; /* [count] */
    uint32_t *file;  /* [count], the other way round */
    int *
        writer; /* [files], the rank; NULL till files are placed: placement.h */
    bouma_tier *tier; /* [files], where it gathers; the same */
};

/* The number of files for a step of 'bytes' bytes: 'wanted' if it is not 0,
 * else by 'file_size', else so that files have about 64 MiB and no rank writes
 * more than one; never more than there are chunks. */
int64_t bm_assign_files(uint64_t bytes, size_t chunks, int ranks, int wanted,
                        uint64_t file_size);

/* 1 if it is one for grids, 0 if it is for particles alone, or none. */
int bm_assign_is_for_grids(bouma_assign choice);

/* What a choice means for chunks in their order: `optimal` where it is none, or
 * one for particles (`kdtree`, `aug`, `split`: see aggregate.h). */
bouma_assign bm_assign_in_order(bouma_assign choice);

/* A choice where owners are distributed so: with `weighted` they follow from
 * times, and files shall not, unless the caller wants that. */
bouma_assign bm_assign_with(bouma_assign choice, bouma_distribute distribute);

/* Bytes of chunks that ranks encode. */
struct bm_rank_loads {
    int ranks;
    int64_t busy;         /* ranks with a chunk */
    uint64_t total, most; /* of all, and of the rank with the most */
};

/* Those of sizes->bytes, each chunk with its owner. BOUMA_OK or ENOMEM. */
int bm_rank_loads_of(struct bm_rank_loads *out, const bouma_allocator *a,
                     const struct bm_chunk_sizes *sizes, int ranks);

/* What a choice means where 'files' are wanted. Where none is made, every rank
 * is to write a file, and no rank has more than a tenth above the mean, it is
 * `per-rank`: nothing is shipped, whatever the blocks of ranks are like, and
 * files are about equal. Else, and for a single rank, it is
 * bm_assign_in_order(). */
bouma_assign bm_assign_settle(bouma_assign choice, int64_t files,
                              const struct bm_rank_loads *loads);
/* Whether it depends on loads. */
int bm_assign_asks_for_loads(bouma_assign choice, int64_t files, int ranks);

/* BOUMA_OK, ENOMEM, EINVAL for an unknown scheme, ELIMIT for 2^32 chunks.
 * 'files' of all, with those that are fixed, if so many are needed. With
 * `per-rank`, `per-node` and `single`, 'files' is not asked. The schemes for particles
 * (`kdtree`, `aug`, `split`: see aggregate.h) mean `optimal` here. */
int bm_assign(struct bm_assignment *out, const bouma_allocator *a,
              bouma_assign choice, const struct bm_chunk_sizes *sizes,
              int64_t files, int ranks);
/* Files that are runs of chunks, of 'files' or, of `single`, one: fills
 * end[files] as bm_assign_optimal() does. BOUMA_OK, ENOMEM, or EINVAL for a
 * scheme whose files are no runs. */
int bm_assign_runs(size_t *end, const bouma_allocator *a, bouma_assign choice,
                   const struct bm_chunk_sizes *sizes, int64_t files);
/* Whether its files are runs. */
int bm_assign_makes_runs(bouma_assign choice);
/* The scheme `optimal` by itself: fills end[files], file f has the chunks from
 * end[f - 1] up to end[f]. Each has at least one; there are as many chunks. The
 * largest file is as small as it can be, and of all ways to do that, ends are
 * as near as possible to equal shares. BOUMA_OK or ENOMEM. */
int bm_assign_optimal(size_t *end, const bouma_allocator *a,
                      const struct bm_chunk_sizes *sizes, int64_t files);
void bm_assignment_release(struct bm_assignment *assignment);

/* Files spread evenly over ranks: the one that writes 'file'. */
int bm_spread_file(int64_t files, int ranks, int64_t file);

#endif
