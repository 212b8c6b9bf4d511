/* comm.h -- all that the pipelines need of message passing.
 *
 * A table of functions with two implementations: comm_self.c for one process,
 * comm_mpi.c for MPI. Every function but rank and size is collective over the
 * ranks of the communicator, except bm_comm_exchange(), which concerns just the
 * ranks that its messages name. All of them end on every rank whatever the
 * outcome; a local failure is handed in and comes out on all ranks:
 *
 *     rc = local work, no return;
 *     rc = bm_comm_agree(comm, rc, &error);    now the same everywhere
 *
 * No call waits longer than the timeout. What it waited for cannot be undone,
 * so the communicator is lost then, as it is if MPI itself fails: every later
 * call returns ECOMM at once, on the other ranks too, as soon as they hear of
 * it. Memory that was handed to a lost communicator may still be used by MPI
 * and is never given back. */
#ifndef BM_COMM_H
#define BM_COMM_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "comm/rank_tree.h"

/* One message of an exchange. Those between two ranks match in the order in
 * which each of the two lists them. A sender that could not make its bytes
 * gives NULL: the receiver's memory then stays as it was. */
struct bm_message {
    int peer;
    void *data;
    size_t bytes;
};

/* A few bytes that whoever gets them need not expect from anyone in
 * particular. */
struct bm_signal {
    int peer; /* to whom; or from whom */
    uint32_t what;
    uint64_t value;
};

/* Messages under way: room for as many as bm_transfer_init() was told. */
struct bm_transfer {
    struct bm_comm *comm;
    void *requests;
    size_t room, count, done;
    int receiving;
    int empty; /* what was received is: its sender could not make it */
};

struct bm_comm {
    const struct bm_comm_functions *functions;
    const bouma_allocator *a;
    int rank, size;
    const int *names;     /* [size], of its ranks in messages to users; NULL:
                             their own numbers. See bm_comm_group() */
    size_t message_bytes; /* longest single message */
    double timeout;       /* seconds without progress; INFINITY: for ever */
    int lost;             /* nothing can be said to the other ranks any more */
    char why[BM_ERROR_BYTES]; /* it is lost */
    void *reserve;            /* memory for hard times; NULL: used up */
    struct bm_places places;  /* who is on which node; see bm_comm_settle() */
    struct bm_comm *near;     /* the ranks of this node; NULL: these are all */
    /* On the first rank of each node: these. NULL: there is one node, or nodes
     * have one rank each. */
    struct bm_comm *leaders;
    int crowded; /* the node has many ranks for a processor */
    int looks;   /* before it sleeps again, since something has come */
    struct bm_trace *trace; /* NULL: nothing is traced; see comm_trace.h */
    const struct bm_comm_functions *untraced; /* while something is */
};

struct bm_comm_functions {
    /* The largest of each value; of the last 'sums', the sum. */
    int (*reduce)(struct bm_comm *comm, uint64_t *values, int count, int sums);
    int (*broadcast)(struct bm_comm *comm, void *data, size_t bytes, int root);
    /* To rank 0, in the order of positions (rank_tree.h). */
    int (*gather)(struct bm_comm *comm, const void *data, size_t bytes,
                  void *all);
    int (*exchange)(struct bm_comm *comm, const struct bm_message *sends,
                    size_t send_count, const struct bm_message *receives,
                    size_t receive_count);
    void (*release)(struct bm_comm *comm);

    int (*signal)(struct bm_comm *comm, const struct bm_signal *signal);
    int (*hear)(struct bm_comm *comm, struct bm_signal *signal, int *heard);
    size_t (*request_bytes)(const struct bm_comm *comm, size_t messages,
                            size_t bytes);
    int (*start)(struct bm_transfer *t, int channel,
                 const struct bm_message *messages, size_t count, int sending);
    int (*test)(struct bm_transfer *t, int *done);
    /* Give up what is under way; its memory may still be used. */
    void (*cancel)(struct bm_transfer *t);

    /* Whether another rank has said that it lost touch: then so has this one.
     */
    int (*listen)(struct bm_comm *comm);
    /* Tell others that it is lost, and why. */
    void (*warn)(struct bm_comm *comm);

    /* See bm_comm_group() and bm_comm_settle(). */
    int (*group)(struct bm_comm **out, struct bm_comm *whole,
                 const int *members, int count);
    int (*settle)(struct bm_comm *comm, uint64_t node, struct bm_error *error);

    /* Sleep for so long, or till a message may have come, or wake() was called
     * since the last time: 1 then. */
    int (*wait)(struct bm_comm *comm, double seconds);
    void (*wake)(struct bm_comm *comm); /* by any thread */
};

/* One process. The caller frees it with bm_comm_free(); one that lies in the
 * caller's own memory needs no memory and no end. */
void bm_comm_self_init(struct bm_comm *comm, const bouma_allocator *a);
int bm_comm_self_new(struct bm_comm **out, const bouma_allocator *a);
void bm_comm_free(struct bm_comm *comm); /* accepts NULL */

/* What messages to users call a rank. */
static inline int bm_comm_name(const struct bm_comm *comm, int rank)
{
    return comm->names ? comm->names[rank] : rank;
}

/* A communicator of some ranks of 'whole', which stays there: members[count],
 * ascending, with this one among them. Its messages meet no others. Not
 * collective; once all members have it, they can use it, several groups at the
 * same time. 'whole' waits meanwhile: who loses touch in a group has lost it in
 * 'whole', and tells all its ranks. Its ranks have the names of those of
 * 'whole'. BOUMA_OK or ENOMEM. */
int bm_comm_group(struct bm_comm **out, struct bm_comm *whole,
                  const int *members, int count);

/* This rank is on 'node', a number that those have in common which can share
 * memory. All that ranks do together goes along the tree of these from now on.
 * Collective; one status on all ranks. A new communicator is settled. */
int bm_comm_settle(struct bm_comm *comm, uint64_t node, struct bm_error *error);

/* The ranks of this node, in their order. */
static inline struct bm_comm *bm_comm_near(struct bm_comm *comm)
{
    return comm->near ? comm->near : comm;
}

/* Whether this is the first rank of its node. */
static inline int bm_comm_leads(const struct bm_comm *comm)
{
    return comm->near ? comm->near->rank == 0 : comm->rank == 0;
}

/* The worst status of all ranks and, where it is not BOUMA_OK, the message of
 * the lowest rank that has it, in 'error' on every rank. */
int bm_comm_agree(struct bm_comm *comm, int rc, struct bm_error *error);

/* The same at the beginning of a collective call, which also finds ranks that
 * are in another call ('call', a short name) or have other arguments (hashed
 * in 'hash': EMISMATCH without a message, and the caller finds out what). What
 * ranks may differ in is brought to the largest of all, in place; NULL: there
 * is nothing. */
int bm_comm_begin(struct bm_comm *comm, const char *call, uint64_t hash,
                  uint64_t largest[2], int rc, struct bm_error *error);

/* The largest of each value over all ranks, in place; of the last 'sums' of
 * them, the sum. */
#define BM_COMM_MAX_VALUES 16 /* in one call */
int bm_comm_max(struct bm_comm *comm, uint64_t *values, int count,
                struct bm_error *error);
int bm_comm_reduce(struct bm_comm *comm, uint64_t *values, int count, int sums,
                   struct bm_error *error);

/* Send what 'buffer' holds on 'root' to all; it is replaced on the others. 'rc'
 * is the root's own status so far: on failure no bytes go and all ranks get
 * it. */
int bm_comm_share(struct bm_comm *comm, struct bm_buffer *buffer, int root,
                  int rc, struct bm_error *error);

/* The buffers of all ranks, one after the other, on all ranks; their sizes in
 * sizes[comm->size]. Ranks hand in their status, and all get the worst. */
int bm_comm_collect(struct bm_comm *comm, struct bm_buffer *mine,
                    struct bm_buffer *all, size_t *sizes, int rc,
                    struct bm_error *error);
/* The same on the first rank of each node only; the others need not have room
 * for sizes. */
int bm_comm_collect_at_nodes(struct bm_comm *comm, struct bm_buffer *mine,
                             struct bm_buffer *all, size_t *sizes, int rc,
                             struct bm_error *error);
/* The same on rank 0 only, and in any order: who it is from is to be told by
 * what is in it. */
int bm_comm_collect_at_root(struct bm_comm *comm, struct bm_buffer *mine,
                            struct bm_buffer *all, int rc,
                            struct bm_error *error);

/* Send and receive messages whose sizes both ends know; any rank may send to
 * any, itself too. Not collective; the caller agrees afterwards. */
int bm_comm_exchange(struct bm_comm *comm, const struct bm_message *sends,
                     size_t send_count, const struct bm_message *receives,
                     size_t receive_count, struct bm_error *error);

/* Work of one rank, or of some, for which the others wait, and which may take
 * longer than they would: each with 'work' calls it again and again, until it
 * does not set *more; all ranks meet in between. It is to return soon after
 * 'until' (a bm_clock()), but not before it has done something. 'work' is NULL
 * on ranks that have none. After a failure on any rank nobody goes on, and all
 * get the status. */
typedef int bm_comm_work(void *context, double until, int *more,
                         struct bm_error *error);
int bm_comm_do(struct bm_comm *comm, bm_comm_work *work, void *context,
               struct bm_error *error);

/* ---- without waiting ---------------------------------------------------- */

/* Send a signal; and take the next one that has come, if any (*heard). Between
 * two ranks they come in the order in which they were sent. Whoever uses
 * signals knows how many are coming, and has taken all of them before others
 * may use them. */
int bm_comm_signal(struct bm_comm *comm, const struct bm_signal *signal,
                   struct bm_error *error);
int bm_comm_hear(struct bm_comm *comm, struct bm_signal *signal, int *heard,
                 struct bm_error *error);

/* Room for 'messages' messages of 'bytes' bytes in all; ENOMEM. */
int bm_transfer_init(struct bm_transfer *t, struct bm_comm *comm,
                     size_t messages, size_t bytes);
void bm_transfer_release(struct bm_transfer *t);
/* Begin to send or receive, beside what is under way: as bm_comm_exchange(),
 * but the data has to stay until bm_transfer_test() says that all is done.
 * Messages match in order only among those of one channel, from 0 on. */
int bm_transfer_send(struct bm_transfer *t, int channel,
                     const struct bm_message *messages, size_t count,
                     struct bm_error *error);
int bm_transfer_receive(struct bm_transfer *t, int channel,
                        const struct bm_message *messages, size_t count,
                        struct bm_error *error);
int bm_transfer_test(struct bm_transfer *t, int *done, struct bm_error *error);

/* Wait a little for others, more each time: 'idle' counts from 0. ECOMM once
 * 'since' (a bm_clock()) is longer ago than the timeout, or if another rank has
 * lost touch. It ends sooner if a rank of this node sends something, or a
 * thread of this one calls bm_comm_wake(). */
int bm_comm_idle(struct bm_comm *comm, unsigned idle, double since,
                 struct bm_error *error);
void bm_comm_wake(struct bm_comm *comm);

/* ---- when things go wrong ------------------------------------------------ */

/* The communicator is lost: tell others, and return ECOMM. */
int bm_comm_lose(struct bm_comm *comm, const char *format, ...) BM_PRINTF(2, 3);

/* Set memory aside, so that ranks can still agree when one has none left; and
 * give it back to the system, for whoever asks next. Agreements do both. */
int bm_comm_reserve(struct bm_comm *comm); /* BOUMA_OK or ENOMEM */
void bm_comm_relieve(struct bm_comm *comm);

#endif
