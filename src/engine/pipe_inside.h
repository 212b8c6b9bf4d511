/* pipe_inside.h -- what the files of the pipe share; nobody else includes it.
 *
 *     pipe_cuts.c    which piece lies in which round
 *     pipe_gather.c  the gatherer's side: buffers open, fill and are stored
 *     pipe_lane.c    the side of those that have pieces
 *     pipe.c         making, buffers, and both sides in turn */
#ifndef BM_PIPE_INSIDE_H
#define BM_PIPE_INSIDE_H

#include "engine/pipe.h"

enum { BM_OPEN = 1, BM_DONE = 2 };

#define BM_CONTROL_FAILED ((uint64_t)1 << 63) /* in the value of a signal */

/* This rank's part in a flow: its pieces in order, one after the other. */
struct bm_lane {
    const struct bm_flow *flow;
    size_t slot_bytes; /* of the gatherer's buffers */
    size_t next;       /* the piece that is on, always one of this rank's */
    uint64_t from;     /* how much of it is done */
    size_t round;      /* of the next byte; rounds.count: all is done */
    int64_t *opened;   /* [buffers]: the round that is known to be open */
    int dead;          /* the gatherer has failed */
    struct bm_transfer transfer; /* by messages: of one round */
    int waiting;                 /* for the transfer */
    size_t staged;               /* its first piece, if it goes to the stage */
};

/* A buffer of a gatherer. */
struct bm_pipe_slot {
    size_t round;
    size_t missing; /* ranks that are not done with it */
    int open;       /* for this rank's own pieces */
    int closed;     /* all are done with it, but not with an earlier one */
    int poor;       /* some rank has failed: not to be stored */
    double opened;  /* of a trace */
    struct bm_transfer transfer; /* by messages */
    int waiting;
};

/* What a gatherer has. */
struct bm_pipe_gathering {
    uint8_t *memory;
    struct bm_pipe_slot *slots; /* [o.buffers] */
    size_t slot_count;
    size_t *first_cut;  /* [rounds + 1]; in: */
    size_t *cuts;       /* the pieces of each round */
    size_t *first_rank; /* [rounds + 1]; in: */
    int *ranks;         /* those that have pieces of it */
    struct bm_io_thread *io;
    int begun;
    size_t closed, handed, over; /* rounds */
};

/* This rank's part in all flows. */
struct bm_lanes {
    struct bm_flow *flows; /* [count], by gatherer */
    struct bm_lane *each;  /* [count] */
    size_t count;
    int64_t *opened; /* [count][buffers] */
    size_t turn;     /* the lane that is asked first */
};

/* Room for the largest piece that is filled or taken, if it cannot be in a
 * buffer. */
struct bm_scratch {
    uint8_t *memory;
    size_t bytes;
    int full;   /* with a piece that was filled: */
    size_t tag; /* this one */
};

/* By messages: what is filled, or to be taken, of a round. */
struct bm_stage {
    uint8_t *memory;
    size_t bytes;
    struct bm_lane *user; /* whose round it is; NULL: it is free */
};

/* What has gone wrong on this rank. */
struct bm_pipe_failure {
    int rc;
    int broken; /* nothing can be told to other ranks any more */
    struct bm_error error;
};

/* What this rank has put into buffers of others, or got from there. */
struct bm_pipe_moved {
    uint64_t bytes;
    size_t rounds;
};

struct bm_pipe {
    struct bm_comm *comm;
    const bouma_allocator *a;
    struct bm_pipe_options o;
    struct bm_pipe_calls calls;
    struct bm_lanes lanes;
    struct bm_lane *own; /* of the flow that this rank gathers; NULL: none */
    struct bm_pipe_gathering gathering; /* of a gatherer */
    struct bm_pipe_pool *pool; /* whose buffers it has; NULL: not opened */
    struct bm_port *port;      /* NULL: all by messages */
    struct bm_scratch scratch;
    struct bm_stage stage;
    struct bm_pipe_failure failure;
    struct bm_pipe_moved moved;
};

/* The first failure of this rank counts. What breaks the pipe ends it here, at
 * once; after other failures its rounds are gone through. */
void bm_pipe_fail(struct bm_pipe *p, int rc);
void bm_pipe_break(struct bm_pipe *p, int rc);

/* Whether pieces are made, or taken, by a call, instead of being somewhere. */
int bm_pipe_is_made(const struct bm_pipe_calls *calls);

/* Whether a stretch of an own piece goes without a copy: in a round that only
 * this rank has pieces of. Else what is before, in and behind it would take
 * three calls of storage in place of one. */
int bm_pipe_is_direct(const struct bm_pipe *p, const struct bm_lane *l,
                      size_t round, uint64_t bytes);

void bm_pipe_signal(struct bm_pipe *p, int peer, uint32_t what, size_t round,
                    int failed);

/* ---- which piece lies in which round ------------------------------------ */

/* A stretch of a piece that lies in one round. */
struct bm_stretch {
    const struct bm_piece *piece;
    uint64_t from, bytes; /* in the piece */
    uint64_t in_round;
};
struct bm_stretch bm_stretch_of(const struct bm_flow *f, size_t piece,
                                size_t round);

/* The first and the last round of a piece that has bytes. */
size_t bm_flow_first_round(const struct bm_flow *f, size_t piece);
size_t bm_flow_last_round(const struct bm_flow *f, size_t piece);

/* The piece of 'rank' from number 'i' on. */
size_t bm_flow_skip(const struct bm_flow *f, int rank, size_t i);
/* Find the round of the next byte. Rounds only ascend. */
void bm_lane_find_round(struct bm_lane *l);
/* Go on behind a stretch; 'rank' is this one. */
void bm_lane_advance(struct bm_lane *l, int rank, const struct bm_stretch *s);
/* Of the pieces of 'rank' in a flow: the most in one round, and their bytes. */
void bm_flow_most(const struct bm_flow *f, int rank, size_t *most,
                  size_t *most_bytes);

/* The pieces of each round of a flow that this rank gathers, and those of all
 * 'ranks' that have them. ENOMEM. */
int bm_gather_list(struct bm_pipe_gathering *g, const struct bm_flow *f,
                   int ranks, const bouma_allocator *a);
/* Of all pieces that this rank gathers: the most in one round, and their bytes,
 * which are more than a buffer's if pieces overlap. */
void bm_gather_most(const struct bm_pipe_gathering *g, const struct bm_flow *f,
                    size_t *most, size_t *most_bytes);

/* ---- the gatherer's side ------------------------------------------------ */

int bm_gather_prepare(struct bm_pipe *p); /* ENOMEM */
/* The buffer of a round, and where it is; NULL if all goes without a copy. */
struct bm_pipe_slot *bm_gather_slot(const struct bm_pipe_gathering *g,
                                    size_t round);
uint8_t *bm_gather_memory(const struct bm_pipe *p, size_t round);
/* Whether a rank gets at the buffers itself, so that no messages are needed. */
int bm_gather_is_near(const struct bm_pipe *p, int rank);
/* A buffer is free: for this round, if there is one. */
void bm_gather_begin(struct bm_pipe *p, size_t round);
/* A rank is done with a round. */
void bm_gather_one_done(struct bm_pipe *p, size_t round, int failed);
/* What the thread has done; with 'wait', wait for the next. 1: something. */
int bm_gather_jobs(struct bm_pipe *p, int wait);
/* By messages: rounds of which all is there, or has gone. 1: some. */
int bm_gather_transfers(struct bm_pipe *p);

/* ---- the side of those that have pieces --------------------------------- */

/* Where this rank can itself write into, or read from, the gatherer's buffers;
 * NULL: not at all, so by messages. */
uint8_t *bm_lane_room(const struct bm_pipe *p, const struct bm_lane *l);
/* The lane of the flow to a gatherer; NULL: none. */
struct bm_lane *bm_lane_to(const struct bm_lanes *lanes, int gatherer);
/* Go on with one of them. 0: none can. */
int bm_lanes_step(struct bm_pipe *p);

#endif
