/* flow_builder.h -- the flows of a pipe, put together piece by piece.
 *
 * Every rank goes through the pieces of all gatherers in the same order, and
 * keeps what concerns it: its own pieces, and those that it gathers. */
#ifndef BM_FLOW_BUILDER_H
#define BM_FLOW_BUILDER_H

#include "engine/pipe.h"

/* What has been put together for one gatherer. */
struct bm_flow_made {
    int gatherer;
    struct bm_stream_part *parts;
    size_t part_count;
    uint64_t bytes; /* of all parts */
    struct bm_piece *pieces;
    size_t count;
    int concerned; /* this rank has pieces, or gathers them */
    int unsorted;  /* some are where the caller says: not in order yet */
};

struct bm_flow_builder {
    const bouma_allocator *a;
    int rank;
    /* Of those gatherers for which there is something, in the order in which
     * they came. */
    struct bm_flow_made *made; /* [count] */
    size_t count;
    /* Where they are: a hash table of their numbers, each plus 1. */
    uint32_t *table; /* [slots], a power of 2, at least twice 'count' */
    size_t slots;
    struct bm_flow_made none; /* instead of one for which there is no memory */
    int failed;               /* no memory: told by bm_flow_builder_seal() */
};

/* A zeroed struct can be released. ENOMEM. */
int bm_flow_builder_init(struct bm_flow_builder *f, const struct bm_comm *comm);
void bm_flow_builder_release(struct bm_flow_builder *f);

/* What follows for this gatherer begins a part, if 'bytes' more would make the
 * one that is on longer than 'most', or there is none yet. 1: it does. */
int bm_flow_builder_fit(struct bm_flow_builder *f, int gatherer, uint64_t bytes,
                        uint64_t most);

/* A piece of a rank, behind those before it; gives its offset in the stream. */
uint64_t bm_flow_builder_add(struct bm_flow_builder *f, int gatherer, int rank,
                             uint64_t bytes, size_t tag);

/* A piece at its offset among the bytes of all parts, which
 * bm_flow_builder_skip() has made or will make; others may overlap it. Pieces
 * of one offset are ordered alike on both sides. */
void bm_flow_builder_add_at(struct bm_flow_builder *f, int gatherer,
                            const struct bm_piece *piece);

/* The bytes of a piece, without the piece: of ranks that are neither this one
 * nor do they go to it, or of pieces that have offsets of their own. */
void bm_flow_builder_skip(struct bm_flow_builder *f, int gatherer,
                          uint64_t bytes);

/* The bytes that go to a gatherer. */
uint64_t bm_flow_builder_bytes(const struct bm_flow_builder *f, int gatherer);

/* A pipe for all of it: each part is cut into rounds of 'buffer' bytes; with 0,
 * it is one. ENOMEM. */
int bm_flow_builder_pipe(struct bm_flow_builder *f, uint64_t buffer,
                         struct bm_pipe **out, struct bm_comm *comm,
                         const struct bm_pipe_options *options,
                         const struct bm_pipe_calls *calls);
/* Just the flows, for bm_pipe_new(); *out is NULL after a failure. */
int bm_flow_builder_seal(struct bm_flow_builder *f, uint64_t buffer,
                         struct bm_flow **out, size_t *count);

#endif
