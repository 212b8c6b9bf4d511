/* file_tree.h -- the tree over the files of a set of particles: the aggregation
 * tree of the write, with what lies below each node. It stands in the manifest,
 * so that a query opens only files that can match. If the manifest has sheets
 * (sheet.h), there are no nodes: first what is known of each sheet is looked
 * at, then the files of those that can match. */
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

/* The files of the set whose records are in one sheet. */
struct bm_file_tree_sheet {
    size_t sheet;
    size_t first, count;                   /* of the set's files */
    const struct bm_particle_summary *sum; /* of all of them, not owned */
    /* [count], once the sheet is loaded: */
    const struct bm_particle_summary **summaries;
    size_t *subfiles;
    size_t shown;
};

struct bm_file_tree {
    const bouma_allocator *a;
    const struct bm_object *set;
    /* See bm_file_tree_summary() and bm_file_tree_subfile(). */
    const struct bm_particle_summary **summaries; /* [files], not owned */
    size_t *subfiles; /* [files], where they are in the step */
    size_t files;
    /* [sheet_count], instead of both, if there are sheets: */
    struct bm_file_tree_sheet *sheets;
    size_t sheet_count;

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

/* The next sheet that has files of the set. BOUMA_OK, ENOMEM, or EFORMAT if
 * sheets differ in their attributes. */
int bm_file_tree_add_sheet(struct bm_file_tree *t, size_t sheet,
                           const struct bm_particle_summary *sum, size_t files);
/* A sheet was loaded: room for its files, if there are any of the set (BOUMA_OK
 * or ENOMEM); and its next such file, of which there are as many as was told. */
int bm_file_tree_open_sheet(struct bm_file_tree *t, size_t sheet);
void bm_file_tree_show_file(struct bm_file_tree *t, size_t sheet,
                            const struct bm_particle_summary *summary,
                            size_t subfile);
/* It was dropped again. */
void bm_file_tree_close_sheet(struct bm_file_tree *t, size_t sheet);
/* The sheet that has the set's file f. */
const struct bm_file_tree_sheet *
bm_file_tree_sheet_of(const struct bm_file_tree *t, size_t f);

/* The set's file f, whose sheet is loaded: what is in it, and where it is in
 * the step. */
const struct bm_particle_summary *
bm_file_tree_summary(const struct bm_file_tree *t, size_t f);
size_t bm_file_tree_subfile(const struct bm_file_tree *t, size_t f);

/* What is known without any sheet that is to be loaded: of each sheet, or of
 * each file if there are none; how many, and the i-th. */
size_t bm_file_tree_known(const struct bm_file_tree *t);
const struct bm_particle_summary *
bm_file_tree_of_known(const struct bm_file_tree *t, size_t i);

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

/* Whether the i-th of t->sheets can have matching particles. */
int bm_file_tree_sheet_matches(const struct bm_file_tree *t, size_t i,
                               const struct bm_file_tree_query *query);
/* The set's files that can have matching particles, into files[t->files],
 * ascending; gives their number. A file whose particles are strays is one of
 * them unless there is a box. Files of sheets that are not loaded are not among
 * them. */
size_t bm_file_tree_select(const struct bm_file_tree *t,
                           const struct bm_file_tree_query *query,
                           size_t *files);

#endif
