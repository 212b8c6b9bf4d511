/* own_parts.h -- what the files of own_plan.h share. */
#ifndef BM_OWN_PARTS_H
#define BM_OWN_PARTS_H

#include "plan/local.h"
#include "write/own_plan.h"

/* A chunk of a file that concerns this rank. */
struct bm_own_entry {
    uint64_t chunk; /* its number in the step */
    uint32_t file;  /* likewise */
    int owner;
    int writer;
    uint64_t bytes; /* if files follow from sizes */
};

/* A plan while it is made. */
struct bm_making {
    struct bm_write_job *job;
    const bouma_allocator *a;
    struct bm_write_plan *plan;
    uint64_t *said; /* [2 * variables]: a hash of how all ranks hold it, and the
                       number of their blocks */
    struct bm_local_result *results; /* [decompositions] */
    uint64_t *first;                 /* [grids], its first chunk in the step */
    uint64_t chunks;                 /* of the step */
    uint64_t files;                  /* likewise */
    struct bm_own_entry *entries;    /* ascending by chunk */
    size_t entry_count;
    /* If files follow from sizes, the plan of a step's files: the one of who
     * holds and encodes what, and where each file ends. */
    const struct bm_write_plan *base; /* else NULL */
    bouma_assign assign;              /* how they are cut */
    const uint64_t *end;              /* [files]; NULL with `per-rank` */
};

/* The rank that writes a file (own_files.c). */
int bm_own_writer(const struct bm_making *m, uint32_t file);

/* This rank's chunks in the step, ascending by their grids; their number. NULL:
 * they are only counted. */
size_t bm_own_list_mine(const struct bm_making *m, uint64_t *out);

/* Which files concern this rank, and which chunks are in them (own_files.c).
 * Collective; one status on all ranks. */
int bm_own_files_find(struct bm_making *m);

/* With these known: all lists of the plan (own_chunks.c). BOUMA_OK or ENOMEM. */
int bm_own_chunks_list(struct bm_making *m);

#endif
