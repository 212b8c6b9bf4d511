/* fetcher.h -- how all samples are read: a plan of pieces of one subfile is
 * read in few large reads, and worked on by the threads of the step. Boxes,
 * refinements and queries of grids (fetch.c) and queries and restarts of
 * particles (particle_query.c) go through it, batch by batch. */
#ifndef BM_FETCHER_H
#define BM_FETCHER_H

#include "read/extents.h"

/* ---- reading ------------------------------------------------------------- */

/* The pieces of a batch. Zeroed but for 'step' it is empty; its memory is kept
 * from one batch to the next. */
struct bm_fetcher {
    struct bouma_step *step;
    size_t source;
    struct bm_shelf *shelf; /* of the source, or NULL */
    int exact; /* no byte is read that no piece has: each counts, or is wanted
                  later */
    struct bm_extent *plan; /* [count]; once read, by offset */
    size_t count;
    struct bm_extent **by_tag; /* [tags], once read */
    size_t tags;
    struct bm_block_of_memory room[3]; /* of plan, by_tag and what is read */
};

void bm_fetcher_release(struct bm_fetcher *f);

/* A new plan of pieces of a subfile, whose tags are below 'tags'. BOUMA_OK or
 * ENOMEM, no message. */
int bm_fetcher_begin(struct bm_fetcher *f, size_t source, size_t tags);

/* A level of a chunk; each tag once. */
void bm_fetcher_add(struct bm_fetcher *f, const struct bm_section *section,
                    size_t chunk, int level, size_t tag);

/* Read all pieces of the plan. by_tag[] is NULL for tags that have none. */
int bm_fetcher_read(struct bm_fetcher *f);

/* Check what was read, on the threads. */
int bm_fetcher_check(struct bm_fetcher *f);

/* ---- work ---------------------------------------------------------------- */

/* A thread that works: what it keeps; and how and at which turn it failed. */
struct bm_worker {
    struct bm_coder coder;
    struct bm_error error;
    int status;
    size_t failed;
};

/* What the threads of a step need, as many as its dataset's options say. */
int bm_workers_init(struct bouma_step *step);
void bm_workers_release(struct bouma_step *step);

struct bm_turn {
    size_t number;
    uint8_t *room; /* that was asked for, aligned as any value */
    struct bm_coder *coder;
    struct bm_error *error;
};

/* Work that is done in turns. */
struct bm_work {
    void *context;
    size_t count;     /* of turns */
    const char *name; /* of a turn, in a trace */
    /* Turns run on several threads at once. They put a message into the turn's
     * error if they fail. */
    int (*run)(void *context, const struct bm_turn *turn);
    /* NULL, or: called for each turn, in their order, on the caller's thread,
     * with the room that the turn has filled. */
    int (*deliver)(void *context, const struct bm_turn *turn);
    /* Bytes of the room for a turn, in 'memory', which is the caller's to keep
     * and to drop; NULL: none. */
    size_t (*room)(const void *context, size_t number);
    struct bm_block_of_memory *memory;
    /* The bytes that are worked on in all: many are worth some threads. */
    double bytes;
    /* NULL, or: so many turns were run. On the caller's thread. */
    void (*progress)(void *context, size_t turns);
};

/* Do it. With 'deliver' turns are run a few at a time: rooms need no more
 * memory than these, and after a delivery that failed hardly any turn is run in
 * vain. What fails is the first turn, in their order, whatever the number of
 * threads; its message is the dataset's. */
int bm_work_run(struct bouma_step *step, const struct bm_work *work);

#endif
