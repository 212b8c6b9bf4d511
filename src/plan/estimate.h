/* estimate.h -- what a write by many ranks would do, from its decomposition
 * alone: the plan of a step with one variable, and what follows from it. */
#ifndef BM_ESTIMATE_H
#define BM_ESTIMATE_H

#include "base/option.h"
#include "plan/placement.h"
#include "plan/rank_grid.h"
#include "plan/sums.h"

#define BM_ESTIMATE_PIECES 32 /* of a chunk, at most */

/* What a plan must know of the chunks of a grid. */
struct bm_estimate_chunks {
    struct bm_chunking chunking;
    int pieces; /* of a chunk */
    /* The values of one component that a piece of a chunk is stored as. They
     * follow from the shape of the chunk, and from the lowest bits of its start:
     * as many as there are pieces. */
    void (*values)(const void *object, uint64_t key,
                   uint64_t values[BM_ESTIMATE_PIECES]);
    const void *object;
};

struct bm_estimate_task {
    struct bm_estimate_chunks chunks;
    int64_t shape[3];         /* lifted */
    struct bm_hz_ranks ranks; /* and the block of each */
    uint64_t sample_bytes;
    /* Of a section in the table of a file, and of a chunk but for its key and
     * the sizes of its levels; all is stored 'copies' times. */
    uint64_t section_bytes, row_bytes;
    int copies;
    double ratio;          /* of raw bytes to stored ones, over all */
    double vary;           /* of the largest ratio to the smallest; 1 or
                                     more */
    const uint64_t *loads; /* [ranks], stored bytes of the block of each; NULL:
                              by 'ratio' and 'vary' */
    /* Of particles; then there are no chunks, 'sample_bytes' are those of a
     * particle, and they are shared out in proportion to the loads. */
    uint64_t particles;
    int ndims;
    const struct bm_options *options; /* complete */
    int64_t most_files;
    struct bm_cost_rule rule; /* its network is NULL if none is known; `cost`
                                 needs one */
    const struct bm_places *places; /* NULL: nodes are not known; `per-node`
                                       needs them */
};

struct bm_estimate {
    const bouma_allocator *a;
    struct bm_chunking chunking;
    struct bm_rank_grid ranks;
    struct bm_owners owners;
    struct bm_sums bytes; /* as they are stored; by their place on the order */
    bouma_assign assign;  /* how files are cut; 0 if the layout says that */
    int64_t files;
    uint64_t *file_bytes; /* [files], with the tables of chunks */
    /* The chunks of file f are those at places first[f] to first[f + 1] - 1 on
     * the order or, with `per-rank` and `per-node`, at place[first[f]] and so
     * on. */
    size_t *first;       /* [files + 1] */
    uint32_t *place;     /* [chunks], else NULL */
    uint32_t *rank_file; /* [ranks], the file of its chunks; else NULL */
    int *file_rank; /* [files], of `per-rank` the other way round; else NULL */
    int *writer;    /* [files] */
    bouma_tier *tier;              /* [files] */
    struct bm_gathering gathering; /* if the network or `place` needs it */
    double byte_hops;              /* if there is a network */
    struct bm_cost *choice;        /* [files], with `cost` */
    int64_t fewest_patches;        /* of any rank */
    int64_t moved_messages; /* pairs of ranks, one of which sends parts */
    uint64_t shipped_bytes;
    int64_t shipped_messages;
    /* Where nodes are known, what of this goes from one to another: */
    uint64_t moved_samples_between, shipped_bytes_between;
    int64_t rounds;
    int64_t writers;                           /* ranks that write a file */
    uint64_t fewest_particles, most_particles; /* of any rank */
    uint64_t most_in_file;                     /* particles of any file */
};

/* BOUMA_OK, ENOMEM, or ELIMIT (too many chunks). Ended by
 * bm_estimate_release(), after a failure too. */
int bm_estimate_make(struct bm_estimate *out, const bouma_allocator *a,
                     const struct bm_estimate_task *task);
/* The same for particles: files, their writers and senders are filled in. */
int bm_estimate_make_particles(struct bm_estimate *out,
                               const bouma_allocator *a,
                               const struct bm_estimate_task *task);
void bm_estimate_release(struct bm_estimate *estimate);

/* The file of the chunk at a place on the order. */
int64_t bm_estimate_file(const struct bm_estimate *e, int64_t place);
/* The place of the i-th chunk of all, file after file. */
static inline size_t bm_estimate_place(const struct bm_estimate *e, size_t i)
{
    return e->place ? e->place[i] : i;
}

/* The ranks that hold samples of some file, one file after the other. */
struct bm_estimate_groups {
    const struct bm_estimate *estimate;
    struct bm_holders holders;
    uint32_t turn;
    uint32_t *seen; /* [ranks], the turn in which it was seen last */
    int *rank;      /* [ranks], those of the last file */
};

/* BOUMA_OK or ENOMEM. */
int bm_estimate_groups_init(struct bm_estimate_groups *g,
                            const struct bm_estimate *e, int ranks);
void bm_estimate_groups_release(struct bm_estimate_groups *g);
/* Those of a file, into g->rank, in no order; their number. */
int bm_estimate_groups_find(struct bm_estimate_groups *g, int64_t file);

/* How many ranks have samples in a file, and the other way round. */
struct bm_estimate_sharing {
    int fewest_ranks, most_ranks;     /* of any file */
    int64_t fewest_files, most_files; /* of any rank that has samples */
    int64_t pairs;                    /* of a rank and a file: their sum */
};
/* BOUMA_OK or ENOMEM. */
int bm_estimate_share(struct bm_estimate_sharing *out,
                      const struct bm_estimate *e, int ranks);

/* The most cube-like blocks: of all ways to write 'ranks' as a product, the one
 * with the smallest surface between blocks. */
void bm_estimate_blocks(int64_t blocks[3], const int64_t shape[3], int ndims,
                        int ranks);

#endif
