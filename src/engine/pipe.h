/* pipe.h -- bytes of all ranks into the buffers of a few, and from there into
 * storage; or from storage back to all. After Tessier et al. (TAPIOCA), section
 * 4.3.
 *
 * All is declared before anything moves. A flow is what goes to one rank, its
 * gatherer: a stream of bytes, cut into rounds (plan/rounds.h), of which ranks
 * have pieces. A gatherer has some buffers. While one is stored, by a thread,
 * the next is filled, by puts of those ranks that have pieces of that round; it
 * is handed over for storing when all of it is there. Nobody waits for anyone
 * but the ranks of a flow for their gatherer's buffers.
 *
 *     writing: a round is open while its buffer is free; those that have
 *              pieces of it put them there and tell the gatherer; it is stored
 *     reading: a round is loaded, ahead of its use; then it is open, and those
 *              that want pieces of it get them and tell the gatherer
 *
 * Control messages: OPEN, which the first rounds of a write do without, and
 * DONE. Both tell whether their sender has failed: then no more bytes move, but
 * all rounds are run to the end, so that nobody is left waiting.
 *
 * Ranks that share memory with a gatherer put their pieces into its buffers
 * themselves. Others, and all with BOUMA_TRANSPORT_MESSAGES, send them when
 * their round is open. */
#ifndef BM_PIPE_H
#define BM_PIPE_H

#include "comm/port.h"
#include "engine/io_thread.h"
#include "machine/tier_memory.h"
#include "plan/rounds.h"

/* A piece of a stream. The bytes of rank 'rank' that it calls 'tag'. */
struct bm_piece {
    int rank;
    uint64_t at, bytes; /* in the stream */
    size_t tag;
};

/* What goes to one gatherer, as far as this rank has to know it: the gatherer
 * knows all pieces, others just their own. Pieces of the same bytes may be
 * wanted by several ranks. Both ends have the pieces of a rank in the same
 * order, ascending by 'at'. */
struct bm_flow {
    int gatherer;
    struct bm_rounds rounds;
    struct bm_piece *pieces; /* from the pipe's allocator; the pipe's then */
    size_t count;
};

void bm_flows_free(const bouma_allocator *a, struct bm_flow *flows,
                   size_t count);

#define BM_PIPE_TIERS (BOUMA_TIER_LOCAL + 1)

struct bm_pipe_calls {
    void *context;
    /* Where the bytes of a piece of this rank are (writing), or go (reading);
     * the same till the end. NULL: not known yet, ask again later; also for all
     * of the piece's rank that come after it. */
    uint8_t *(*bytes)(void *context, size_t tag);
    /* Instead, writing: make all the bytes of a piece, into 'room'. */
    void (*fill)(void *context, size_t tag, uint8_t *room);
    /* Instead, reading: take all the bytes of a piece. No piece may lie in two
     * rounds then. */
    void (*take)(void *context, size_t tag, const uint8_t *room);
    size_t alignment; /* of 'room'; 0: any */
    /* The gatherer's, on a thread: store these bytes of the stream, all of one
     * part; or load them. */
    int (*store)(void *context, uint64_t at, uint8_t *data, uint64_t bytes,
                 struct bm_error *error);
    /* Now and then. May be NULL. */
    void (*progress)(void *context, size_t done, size_t rounds);
};

/* Buffers, kept from one use to the next: those of each tier, and ports, so
 * that pipes of different kinds which take turns do not make theirs again and
 * again.
 *
 * They belong to one pipe at a time. A pipe that bm_pipe_run() did not wait for
 * ('stored' is 0: a step that is stored while the program goes on) has them
 * till it is freed. That is before anyone opens the next: every collective call
 * finishes such a step first (api/api_begin.c), and within a step the pipe of
 * the particles is run to its end and freed before that of the grids is opened.
 * Of other ranks nobody is left in the last pipe either: all meet in
 * bm_pipe_open() before anyone uses its port. */
struct bm_pipe_pool {
    /* Of pipes that have all buffers in ports; and of those in which some rank
     * has them in a tier, and so nothing in its port. */
    struct bm_port *ports[2];
    int refused; /* there can be no port; on all ranks of a node alike */
    /* By tier; that of DRAM where there is no port. */
    struct bm_tier_memory memories[BM_PIPE_TIERS];
    size_t short_of[BM_PIPE_TIERS]; /* bytes that a tier did not have; 0: none
                                       were refused */
    struct bm_comm *comm;
    const struct bm_pipe *user; /* who has them */
    int made;                   /* ports and memories of tiers so far */
};
void bm_pipe_pool_release(struct bm_pipe_pool *pool);

struct bm_pipe_options {
    int reading;
    int unthreaded; /* 1: 'store' is called by bm_pipe_step() and
                       bm_pipe_run(), when there is nothing else to do */
    int buffers;
    bouma_transport transport; /* 0: ports */
    bouma_tier tier;           /* of this rank's buffers; 0: dram */
    int strict; /* 1: if there is no such tier, that is an error; 0: dram then
                 */
    const char *local;
    int copy; /* 1: own pieces go through buffers, too, so that the caller's
                 memory is free once all is gathered */
};

struct bm_pipe;

/* All that this rank needs, but for buffers. Takes the flows' contents over,
 * also on failure. The flows are sorted by gatherer, at most one for each.
 * ENOMEM. */
int bm_pipe_new(struct bm_pipe **out, struct bm_comm *comm,
                struct bm_flow *flows, size_t count,
                const struct bm_pipe_options *options,
                const struct bm_pipe_calls *calls);
/* Waits for what is being stored. Accepts NULL. */
void bm_pipe_free(struct bm_pipe *p);

/* Get the buffers. 'rc' is the status of this rank so far (a failure, if there
 * is no pipe); one for all comes back. Collective. */
int bm_pipe_open(struct bm_pipe *p, struct bm_comm *comm,
                 struct bm_pipe_pool *pool, int rc, struct bm_error *error);

/* After an open that went well on all ranks: do what can be done without
 * waiting. 1 if that was anything. */
int bm_pipe_step(struct bm_pipe *p);

/* Go on till all has been put, and this rank has gathered all of its flow, and,
 * with 'stored', stored it. 'rc' is the status of this rank so far: if it is a
 * failure, no bytes are moved, but everyone gets through. Ranks then agree on
 * what comes back. All ranks of the flows. */
int bm_pipe_run(struct bm_pipe *p, int stored, int rc, struct bm_error *error);

/* After a run that did not wait for it: wait till all is stored. May be done by
 * another thread, as the last call but for bm_pipe_free(). */
int bm_pipe_wait(struct bm_pipe *p, struct bm_error *error);

/* After a run that went well on this rank, and waited till all was stored: give
 * the buffers back to the pool. It can be opened and run again, which needs no
 * memory if the buffers are those of the last time. */
void bm_pipe_rewind(struct bm_pipe *p);

/* The bytes that this rank has put into buffers of others, or got from there;
 * in how many rounds; the seconds that its thread has worked. */
struct bm_pipe_stats {
    uint64_t bytes, rounds;
    double seconds;
    size_t buffer_bytes; /* of all its buffers */
};
struct bm_pipe_stats bm_pipe_stats_of(const struct bm_pipe *p);

#endif
