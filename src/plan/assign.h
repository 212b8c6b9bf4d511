/* assign.h -- which file holds a chunk, and which rank writes the file. */
#ifndef BM_ASSIGN_H
#define BM_ASSIGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "bouma.h"

/* The chunks of a step, on their order. */
struct bm_chunk_sizes {
    size_t count;
    const uint64_t *bytes; /* [count] */
    const int *owner;      /* [count], the rank that encodes it */
};

/* The chunks of file f are chunk[first[f]] ... chunk[first[f + 1] - 1], on
 * their order. */
struct bm_assignment {
    const bouma_allocator *a;
    int64_t files;
    size_t *first;   /* [files + 1] */
    uint32_t *chunk; /* [count] */
    uint32_t *file;  /* [count], the other way round */
    int *writer;     /* [files], the rank; NULL till files are placed: cost.h */
    bouma_tier *tier; /* [files], where it gathers; the same */
};

/* The number of files for a step of 'bytes' bytes: 'wanted' if it is not 0,
 * else by 'file_size', else so that files have about 64 MiB and no rank writes
 * more than one; never more than there are chunks. */
int64_t bm_assign_files(uint64_t bytes, size_t chunks, int ranks, int wanted,
                        uint64_t file_size);

/* What a choice means for chunks in their order: `optimal` where it is none, or
 * one for particles (`kdtree`, `aug`, `split`: see aggregate.h). */
bouma_assign bm_assign_in_order(bouma_assign scheme);

/* BOUMA_OK, ENOMEM, EINVAL for an unknown scheme, ELIMIT for 2^32 chunks. With
 * `per-rank` and `single`, 'files' is not asked. The schemes for particles
 * (`kdtree`, `aug`, `split`: see aggregate.h) mean `optimal` here. */
int bm_assign(struct bm_assignment *out, const bouma_allocator *a,
              bouma_assign scheme, const struct bm_chunk_sizes *sizes,
              int64_t files, int ranks);
void bm_assignment_release(struct bm_assignment *assignment);

/* The rank that writes 'file', for schemes that are formulas. */
int bm_place(bouma_place scheme, int64_t files, int ranks, int64_t file);

#endif
