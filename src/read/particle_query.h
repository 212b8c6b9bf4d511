/* particle_query.h -- a query of particles while it runs: particle_query_run.c
 * makes it from what is asked, particle_query.c reads, particle_query_choose.c
 * says which particles match, particle_query_ranges.c which chunks cannot have
 * any, particle_query_deliver.c hands them over. */
#ifndef BM_PARTICLE_QUERY_H
#define BM_PARTICLE_QUERY_H

#include <pthread.h>

#include "read/fetcher.h"

/* ---- what is asked: particle_query_run.c
 * ----------------------------------------- */

/* A variable that is looked at, or handed over, or both. */
struct bm_query_column {
    const struct bouma_variable *variable;
    const struct bm_section *section; /* of the file at hand */
    int out;                          /* index among those wanted, or -1 */
    size_t value_size, sample_size;   /* of the variable */
    int plain; /* aligned bytes as stored are the values */
    int woven; /* components are handed over interleaved */
};

/* A component must be from low to high. */
struct bm_query_test {
    int column;
    int component;
    int of_position;
    union bm_scalar low, high;
};

/* Some tests, one after the other. */
struct bm_query_tests {
    size_t first, count;
};

struct bm_query_question {
    struct bm_query_column *columns; /* [column_count], tested ones first */
    int column_count, tested_count, out_count;
    struct bm_query_test *tests;
    size_t test_count;
    /* All of the common tests must hold, and, if there are groups, all of one
     * of these. */
    struct bm_query_tests common, *groups;
    size_t group_count;
    /* What trees are asked: an alternative for each group, or just one. The box
     * is closed. */
    struct bm_tree_query *trees;      /* linked */
    struct bm_file_tree_query *files; /* the same, for the tree of files */
    size_t tree_count;
    uint32_t *row;                 /* [rows] of bitmaps, of all alternatives, */
    union bm_scalar *least, *most; /* what they are asked, */
    size_t *row_test;              /* and by which test */
    size_t rows;
    int never; /* nothing can match */
    double t_from, t_to;
};

/* ---- the file at hand, and the batch --------------------------------------
 */

struct bm_query_file {
    size_t source;
    const struct bm_particle_summary *summary;
    uint32_t *wanted; /* [rows] bins that are asked for */
    struct bm_run *runs;
    size_t run_count;
    size_t next_run; /* the first that may meet the next chunk */
    uint64_t stream; /* of its keys: particle_query_draw.c */
};

#define BM_ALL_MATCH UINT32_MAX

/* A level of a chunk. */
struct bm_query_piece {
    size_t chunk;
    int level;
    uint32_t count;
    size_t chosen;   /* where its choice begins in 'choices' */
    uint32_t choice; /* how many match; BM_ALL_MATCH: all, without a list */
    size_t room;     /* bytes, for values that are decoded or picked */
};

struct bm_query_batch {
    struct bm_query_piece *pieces; /* chunk by chunk, coarse to fine */
    size_t piece_count;
    size_t *first_piece; /* of each chunk that has some */
    size_t chunk_count;
    uint64_t slots;                   /* particles of all pieces */
    struct bm_fetcher tested, others; /* columns */
    /* Memory, kept from one batch to the next: */
    struct bm_block_of_memory by_level; /* uint32_t [pieces], their numbers */
    struct bm_block_of_memory choices;  /* uint16_t [slots] */
    struct bm_block_of_memory keys;     /* uint64_t [slots], if drawn */
    struct bm_block_of_memory out;      /* const void * [pieces][out_count] */
    struct bm_block_of_memory picked;   /* values of those that match */
};

struct bm_query_state {
    const struct bm_particle_query *query;
    struct bouma_step *step;
    const struct bm_object *set;
    struct bm_query_question asked;
    struct bm_query_file file;
    struct bm_query_batch batch;
    pthread_mutex_t keeping; /* of query->values */
    int has_mutex;
    uint64_t done, total; /* particles, for the progress */
};

/* Make it, and drop it. A zeroed one but for query, step and set can be
 * released. */
int bm_query_init(struct bm_query_state *s);
void bm_query_release(struct bm_query_state *s);

/* Ask this tree: the bins that are wanted are its own. */
void bm_query_ask_tree(struct bm_query_state *s, const struct bm_tree *tree);

/* The message for it. */
int bm_query_no_memory(struct bm_error *error);

/* The set's files that can have what is looked for, into files[tree->files]; with
 * 'look', of sheets that are there or are within its limit. */
int bm_query_select_files(const struct bm_query_state *s,
                          const struct bm_file_tree *tree, size_t *files,
                          size_t *count, struct bm_look *look);

/* ---- what the ranges of chunks tell: particle_query_ranges.c
 * --------------- */

/* Whether low <= high, as values of the type. */
int bm_query_in_order(bouma_type type, union bm_scalar low,
                      union bm_scalar high);

/* Whether a chunk of the file at hand can have a match; and whether all of its
 * particles pass a test. */
int bm_query_may_match(const struct bm_query_state *s, size_t chunk);
int bm_query_all_pass(const struct bm_query_state *s, size_t chunk,
                      const struct bm_query_test *t);

/* Whether all ranks of a level are wanted. */
int bm_query_level_whole(const struct bm_query_state *s, int k);

/* ---- which particles match: particle_query_choose.c
 * -------------------------------- */

/* What the runs have of a chunk: all of it, wholly inside the box or not; or
 * some slots. */
struct bm_query_cover {
    const struct bm_run *runs; /* that meet it */
    size_t count;
    int whole;  /* one run has all of it */
    int inside; /* no run has to be compared with the box */
};
struct bm_query_cover bm_query_cover_of(const struct bm_query_state *s,
                                        size_t chunk);

/* Where a run that meets a chunk is in each of its levels. */
struct bm_query_span {
    uint32_t begin[BM_MAX_LEVELS], end[BM_MAX_LEVELS];
    int inside;
};
void bm_query_span(const struct bm_query_state *s, size_t chunk,
                   const struct bm_run *run, struct bm_query_span *out);

/* Which particles of all pieces of the batch match, on the threads. */
int bm_query_choose(struct bm_query_state *s);

/* A chunk while a thread looks at it. */
struct bm_query_chunk {
    size_t chunk;
    const uint16_t *slots; /* by level */
    const uint32_t *first; /* [levels], in slots */
    uint16_t *chosen;      /* numbers in a piece, */
    uint32_t count;        /* so many */
};

/* By chance, where query->draw is not NULL. Begin with the file at hand. */
void bm_query_draw_file(struct bm_query_state *s);
/* The levels of a chunk in which a slot of a run has a wanted key, as bits. */
uint64_t bm_query_draw_levels(const struct bm_query_state *s, size_t chunk);
/* Keep those of c->chosen that have a wanted key; and tell the keys of
 * those that match. */
void bm_query_draw(const struct bm_query_state *s, struct bm_query_chunk *c,
                   int level);
void bm_query_draw_keys(const struct bm_query_state *s,
                        const struct bm_query_chunk *c, int level,
                        uint64_t *keys);

/* ---- values: particle_query_deliver.c
 * ---------------------------------------------- */

/* The values of a column of a piece that was read: [components][count],
 * aligned. They are decoded into 'room', or the coder's if it is NULL, unless
 * they are somewhere already. */
int bm_query_values(struct bm_query_state *s, const struct bm_turn *turn,
                    const struct bm_query_piece *p, int column, void *room,
                    const uint8_t **out);

/* Hand over what matches, piece by piece. */
int bm_query_deliver(struct bm_query_state *s);

/* The rooms of a coder. */
enum { BM_QUERY_LISTS, BM_QUERY_VALUES, BM_QUERY_TESTED, BM_QUERY_SPANS };

#endif
