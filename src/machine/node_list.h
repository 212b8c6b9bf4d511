/* node_list.h -- lists of names on the lines of a text, put into a description:
 * for machine files and Slurm's. */
#ifndef BM_NODE_LIST_H
#define BM_NODE_LIST_H

#include "machine/description.h"
#include "machine/tokenizer.h"

struct bm_node_list {
    struct bm_description *d;
    struct bm_error *error; /* messages have the line */
    int line;
    int parent; /* the switch that lists are below */
    long names; /* so far; a short text can name many */

    int (*each)(void *context, int node); /* for bm_node_list_each_node() */
    void *context;
};

/* Nodes and switches below 'parent'. A node that is on another switch already
 * is a mistake; of several switches above one, the first counts. EINVAL or
 * ENOMEM. */
int bm_node_list_nodes(struct bm_node_list *s, struct bm_word list);
int bm_node_list_switches(struct bm_node_list *s, struct bm_word list);

/* The number of a switch. */
int bm_node_list_switch(struct bm_node_list *s, struct bm_word name, int *out);

/* Call 'each' for every node of a list. */
int bm_node_list_each_node(struct bm_node_list *s, struct bm_word list,
                           int (*each)(void *context, int node), void *context);

#endif
