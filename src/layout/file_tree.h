/* file_tree.h -- the tree over the files of a set of particles: the aggregation
 * tree of the write, with what lies below each node. It stands in the manifest,
 * so that a query opens only files that can match. */
#ifndef BM_FILE_TREE_H
#define BM_FILE_TREE_H

#include "layout/particle_summary.h"
#include "plan/aggregate.h"

struct bm_file_tree_node {
    uint32_t right; /* index of the right child; 0: a leaf */
    uint32_t file;  /* of a leaf, among the set's own */
    int axis;       /* -1: of a leaf, or of nodes divided by their order */
    double split;
    uint64_t count;         /* particles below; derived, as the bounds */
    double low[3], high[3]; /* low above high: none that is finite */
};

struct bm_file_tree {
    const bouma_allocator *a;
    const struct bm_object *set;
    const struct bm_particle_summary **summaries; /* [files], not owned */
    size_t *subfiles; /* [files], where they are in the step */
    size_t files;

    struct bm_file_tree_node *nodes; /* in preorder; 0: there is no tree */
    size_t node_count;
    uint32_t rows;
    struct bm_bins *bins; /* [rows], over the ranges of all files */
    uint32_t *bitmaps;    /* [node_count][rows], in those bins */
};

void bm_file_tree_init(struct bm_file_tree *t, const bouma_allocator *a,
                       const struct bm_object *set);
void bm_file_tree_release(struct bm_file_tree *t);

/* The next file of the set. BOUMA_OK or ENOMEM. */
int bm_file_tree_add_file(struct bm_file_tree *t,
                          const struct bm_particle_summary *summary,
                          size_t subfile);

/* With all files there, the tree (count may be 0: none), and all that follows
 * from it. EFORMAT if it is no tree with just these files, or files differ in
 * their attributes. */
int bm_file_tree_make(struct bm_file_tree *t,
                      const struct bm_aggregation_node *nodes, size_t count);

/* Bytes; and back, instead of bm_file_tree_make(). */
void bm_file_tree_encode(struct bm_buffer *b, const struct bm_file_tree *t);
int bm_file_tree_decode(struct bm_file_tree *t, struct bm_cursor *c);

/* What to look for; see bm_tree_query. Conditions say rows, ends. */
struct bm_file_tree_query {
    int boxed;
    double low[3], high[3];
    unsigned closed;
    const uint32_t *row;
    const union bm_scalar *least, *most;
    size_t rows;
    const struct bm_file_tree_query *next; /* an alternative, or NULL */
};

/* The set's files that can have matching particles, into files[t->files],
 * ascending; gives their number. A file whose particles are strays is one of
 * them unless there is a box. */
size_t bm_file_tree_select(const struct bm_file_tree *t,
                           const struct bm_file_tree_query *query,
                           size_t *files);

#endif
