/* search.h -- bisection in what ascends, whatever it is made of. */
#ifndef BM_SEARCH_H
#define BM_SEARCH_H

#include <stddef.h>

/* Move 'at' up to the last index before 'end' for which 'holds', an expression
 * of 'i', is true. It is true at 'at' (or nothing is moved), and from some
 * index on it is not:
 *
 *     size_t at = 0;
 *
 *     BM_BISECT(at, count, i, list[i] <= wanted); */
#define BM_BISECT(at, end, i, holds)                                           \
    for (size_t i, bm_end = (end), bm_more = bm_end - (at); bm_more > 1;       \
         bm_more = bm_end - (at)) {                                            \
        i = (at) + bm_more / 2;                                                \
        if (holds)                                                             \
            (at) = i;                                                          \
        else                                                                   \
            bm_end = i;                                                        \
    }

#endif
