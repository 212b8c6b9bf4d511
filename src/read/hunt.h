/* hunt.h -- a query of particles while it runs: hunt_query.c makes it from what
 * is asked, hunt.c reads, hunt_choose.c says which particles match. */
#ifndef BM_HUNT_H
#define BM_HUNT_H

#include "read/extents.h"

/* A variable that is looked at, or handed over, or both. */
struct bm_hunt_column {
    const struct bouma_variable *variable;
    const struct bm_section *section;
    int tested;                       /* it takes part in a test */
    int out;                          /* place among those wanted, or -1 */
    struct bm_block_of_memory values; /* of the piece that is decoded */
    struct bm_block_of_memory picked; /* those of them that match */
};

/* A component must be from low to high. */
struct bm_hunt_test {
    int column;
    int component;
    int of_position;
    bouma_scalar low, high;
};

/* A level of a chunk of the batch. */
struct bm_hunt_piece {
    size_t chunk;
    int level;
    uint32_t count;
    size_t chosen;        /* where its choice begins in 'choices' */
    uint32_t choice;      /* how many match; UINT32_MAX: all, without a list */
    const uint8_t **data; /* [columns], as stored */
    uint32_t *bytes;      /* [columns] */
};

struct bm_search {
    const struct bm_hunt *hunt;
    struct bouma_step *step;
    const struct bm_object *set;
    struct bm_hunt_column *columns; /* [column_count], tested ones first */
    int column_count, tested_count, out_count;
    const void **out; /* [out_count], for the caller */
    struct bm_hunt_test *tests;
    size_t test_count;
    struct bm_tree_query tree; /* the box is closed */
    uint32_t *wanted;          /* of the file at hand */
    bouma_scalar *least, *most;
    int never; /* nothing can match */
    double t_from, t_to;
    struct bm_codec_state codec;

    /* The file at hand: */
    size_t source;
    const struct bm_cloud *cloud;
    struct bm_run *runs;
    size_t run_count;
    size_t next_run; /* the first that may meet the next chunk */

    /* The batch at hand: */
    struct bm_hunt_piece *pieces;
    size_t piece_count, piece_room;
    struct bm_extent *extents;
    const uint8_t **data;
    uint32_t *bytes;
    uint16_t *choices;
    size_t choice_count, choice_room;
    struct bm_block_of_memory raw[2];
    uint16_t *places; /* [chunk] of detail: of chunk 'ordered', by level */
    uint8_t *in_run;  /* [chunk] of its places */
    uint32_t first[BM_MAX_LEVELS];
    size_t ordered;       /* SIZE_MAX: none */
    uint16_t *chosen;     /* [chunk] */
    uint64_t stream;      /* the keys of the file at hand: hunt_draw.c */
    uint64_t *keys;       /* [choice_room] of 'choices', or NULL */
    uint64_t done, total; /* particles, for the progress */
};

/* Make it, and drop it. A zeroed one but for hunt, step and set can be
 * released. */
int bm_search_init(struct bm_search *s);
void bm_search_release(struct bm_search *s);

/* The message for it. */
int bm_search_no_memory(struct bm_search *s);

/* Whether all ranks of a level are wanted. */
int bm_search_level_whole(const struct bm_search *s, int k);

/* By chance, where hunt->draw is not NULL. Begin with the file at hand. */
void bm_search_draw_file(struct bm_search *s);
/* The levels of a chunk in which a place of a run has a wanted key, as bits. */
uint64_t bm_search_draw_levels(const struct bm_search *s, size_t chunk);
/* Keep those of chosen[n], numbers in a piece whose chunk is in s->places, that
 * have a wanted key; and tell the keys of those that match. */
uint32_t bm_search_draw(const struct bm_search *s,
                        const struct bm_hunt_piece *p, uint16_t *chosen,
                        uint32_t n);
void bm_search_draw_keys(const struct bm_search *s,
                         const struct bm_hunt_piece *p, uint64_t *keys);

/* The values of a column of a piece: [components][count], aligned. */
int bm_search_decode(struct bm_search *s, const struct bm_hunt_piece *p,
                     int column, const uint8_t **out);

/* Which particles of a piece match. */
int bm_search_choose(struct bm_search *s, struct bm_hunt_piece *p);

#endif
