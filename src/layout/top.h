/* top.h -- the tree over the files of a set of particles: the aggregation tree
 * of the write, with what lies below each node. It stands in the manifest, so
 * that a query opens only files that can match. */
#ifndef BM_TOP_H
#define BM_TOP_H

#include "layout/cloud.h"
#include "plan/aggregate.h"

struct bm_top_node {
    uint32_t right; /* place of the right child; 0: a leaf */
    uint32_t file;  /* of a leaf, among the set's own */
    int axis;       /* -1: of a leaf, or of nodes divided by their order */
    double split;
    uint64_t count;         /* particles below; derived, as the bounds */
    double low[3], high[3]; /* low above high: none that is finite */
};

struct bm_top {
    const bouma_allocator *a;
    const struct bm_object *set;
    const struct bm_cloud **clouds; /* [files], not owned */
    size_t *subfiles;               /* [files], where they are in the step */
    size_t files;

    struct bm_top_node *nodes; /* in preorder; 0: there is no tree */
    size_t node_count;
    uint32_t rows;
    struct bm_bins *bins; /* [rows], over the ranges of all files */
    uint32_t *bitmaps;    /* [node_count][rows], in those bins */
};

void bm_top_init(struct bm_top *t, const bouma_allocator *a,
                 const struct bm_object *set);
void bm_top_release(struct bm_top *t);

/* The next file of the set. BOUMA_OK or ENOMEM. */
int bm_top_add_file(struct bm_top *t, const struct bm_cloud *cloud,
                    size_t subfile);

/* With all files there, the tree (count may be 0: none), and all that follows
 * from it. EFORMAT if it is no tree with just these files, or files differ in
 * their attributes. */
int bm_top_make(struct bm_top *t, const struct bm_aggregation_node *nodes,
                size_t count);

/* Bytes; and back, instead of bm_top_make(). */
void bm_top_encode(struct bm_buffer *b, const struct bm_top *t);
int bm_top_decode(struct bm_top *t, struct bm_cursor *c);

/* What to look for; see bm_tree_query. Conditions say rows, ends. */
struct bm_top_query {
    int boxed;
    double low[3], high[3];
    unsigned closed;
    const uint32_t *row;
    const bouma_scalar *least, *most;
    size_t rows;
};

/* The set's files that can have matching particles, into files[t->files],
 * ascending; gives their number. A file whose particles are strays is one of
 * them unless there is a box. */
size_t bm_top_select(const struct bm_top *t, const struct bm_top_query *query,
                     size_t *files);

#endif
