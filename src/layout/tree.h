/* tree.h -- the k-d tree over the particles of a file, with bitmaps.
 *
 * Its leaves are runs of at most 'leaf' particles in the order in which these
 * are stored (see detail.h); an inner node is the run of both its children.
 *
 *     nodes, in preorder        0
 *                             1   4        left child: the next node
 *                            2 3 5 6
 *
 * The upper part is a radix tree of Morton keys of up to 12 bits, the lower
 * parts (treelets) are split at medians, near ones where there are many
 * particles; to a reader they are the same. */
#ifndef BM_TREE_H
#define BM_TREE_H

#include "base/bytes.h"
#include "codec/codec.h"
#include "layout/bins.h"
#include "plan/positions.h"

struct bm_tree_node {
    double split; /* the smallest coordinate on the right; none on the left is
                     larger */
    uint32_t begin, end; /* slots */
    uint32_t right;      /* index of the right child in the list; 0: a leaf */
    uint8_t axis;
};

struct bm_tree {
    const bouma_allocator *a;
    int ndims;
    bouma_type type; /* of positions */
    uint32_t leaf;   /* most particles in a leaf */
    uint32_t count;  /* particles in it: those whose position is finite */
    double low[3], high[3]; /* exact bounds of those */
    struct bm_tree_node *nodes;
    uint32_t node_count; /* 0 if there are no particles in it */

    /* One row for each component of each attribute: */
    struct bm_bins *bins; /* [maps] */
    uint32_t *bitmaps;    /* [maps][node_count] */
    uint32_t maps;
};

void bm_tree_init(struct bm_tree *t, const bouma_allocator *a);
void bm_tree_release(struct bm_tree *t);

/* Sort particles: order[p] is the one that is stored at slot p; those whose
 * position is not finite come last, in the order in which they were given, and
 * are not in the tree. The result depends on the particles only, not on the
 * number of threads. Fewer than 2^32 particles. BOUMA_OK or ENOMEM. 'route',
 * zeroed but for 'sorted', tells how columns come into this order; NULL: order
 * is by the particles' numbers. */
struct bm_tree_route;
int bm_tree_build(struct bm_tree *t, uint32_t *order,
                  const struct bm_positions *positions, uint32_t leaf,
                  int threads, struct bm_tree_route *route);

/* How many of n particles (more than a leaf has) go to the left where a node is
 * split at a median: all its leaves get about the same number, and there are as
 * few of them as can be, n / leaf rounded up, half of them on each side. */
uint32_t bm_tree_left(uint32_t n, uint32_t leaf);

/* Room for the bitmaps of 'maps' rows, zeroed. Then, when the bins of a row are
 * there: of the values of slots from 'begin' to 'end' - 1, in their order, the
 * bitmaps of leaves, by threads that have different slots; and at last those of
 * inner nodes, from their children's. */
int bm_tree_add_maps(struct bm_tree *t, uint32_t maps);
void bm_tree_fill_map(struct bm_tree *t, uint32_t map, const void *values,
                      uint32_t begin, uint32_t end);
void bm_tree_join_maps(struct bm_tree *t);

/* Bytes, to be stored (appended); and back, into an initialised tree, with all
 * bitmaps: docs/format.md. 'types' are those of the rows, 'particles' the
 * number in the file. BOUMA_OK or ENOMEM; decoding checks all and may give
 * EFORMAT, too. */
int bm_tree_encode(struct bm_buffer *out, const struct bm_tree *t,
                   struct bm_codec_state *state);

struct bm_tree_spec {
    int ndims;
    bouma_type type; /* of positions */
    uint32_t particles;
    const bouma_type *types; /* [maps] */
    uint32_t maps;
};
int bm_tree_decode(struct bm_tree *t, const uint8_t *data, size_t bytes,
                   const struct bm_tree_spec *spec,
                   struct bm_codec_state *state);

/* A run of slots, and whether all of its particles lie in the box. */
struct bm_run {
    uint32_t begin, end;
    int inside;
};

/* What to look for. The box is half-open, but closed on the axes whose bit is
 * set in 'closed'. */
struct bm_tree_query {
    int boxed;
    double low[3], high[3];
    unsigned closed;
    const uint32_t *wanted; /* [rows] bins, of the rows in row[] */
    const uint32_t *row;
    size_t rows;
    uint32_t begin, end; /* of the slots that are asked for; end 0: of all */
    /* Another box and other rows, which will do as well; NULL: none. The slots
     * are those of the first. */
    const struct bm_tree_query *next;
};

/* A node that can have matching particles: its region (closed), and whether all
 * of that lies in the box, and in those of all alternatives. */
struct bm_tree_visit {
    double low[3], high[3];
    uint32_t node;
    int inside;
};

/* Tell such nodes, in preorder. 'each' returns 1 to go on with the children of a
 * node, BOUMA_OK not to, or a failure, which ends it. Its status, or ENOMEM. */
int bm_tree_walk(const struct bm_tree *t, const struct bm_tree_query *query,
                 int (*each)(void *context, const struct bm_tree_visit *v),
                 void *context);

/* Whether a node can have particles that match one alternative; *inside: all of
 * its region lies in the box of that. */
int bm_tree_meets(const struct bm_tree *t, const struct bm_tree_query *one,
                  const struct bm_tree_visit *v, int *inside);

/* The runs that can have matching particles, ascending, neighbours of one kind
 * joined: *runs is the caller's to drop. BOUMA_OK or ENOMEM. */
int bm_tree_select(const struct bm_tree *t, const struct bm_tree_query *query,
                   struct bm_run **runs, size_t *count);

#endif
