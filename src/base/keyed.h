/* keyed.h -- numbers in the order of their keys. */
#ifndef BM_KEYED_H
#define BM_KEYED_H

#include <stddef.h>
#include <stdint.h>

struct bm_keyed {
    uint64_t key;
    size_t at;
};

/* For qsort(): by key, then by number. */
static inline int bm_keyed_compare(const void *left, const void *right)
{
    const struct bm_keyed *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

#endif
