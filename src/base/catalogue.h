/* catalogue.h -- a list of named things, found by name: their indices, in the
 * order of the names. What the list is made of, its owner knows. */
#ifndef BM_CATALOGUE_H
#define BM_CATALOGUE_H

#include "base/memory.h"

#define BM_CATALOGUE_MOST 65535

/* Zeroed, it is empty. */
struct bm_catalogue {
    uint16_t *order; /* indices in the list */
    size_t count;
};

/* The name of what is at an index of a list. */
typedef const char *(*bm_name_at)(const void *list, size_t index);

/* The index of what has this name, or -1. *rank (may be NULL) is how many names
 * are before it. Takes no more comparisons than the count has bits. */
int bm_catalogue_find(const struct bm_catalogue *c, const void *list,
                      bm_name_at name_at, const char *name, size_t *rank);
/* What is at the end of a list that has as many things as the catalogue; 'rank'
 * is that of its name, which is new. BOUMA_OK or ENOMEM. */
int bm_catalogue_add(struct bm_catalogue *c, const bouma_allocator *a,
                     size_t rank);
/* What is at the end of the list is taken away. */
void bm_catalogue_remove_last(struct bm_catalogue *c);
void bm_catalogue_release(struct bm_catalogue *c, const bouma_allocator *a);

#endif
