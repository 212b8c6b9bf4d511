/* gather.h -- values picked from an array by their indices. */
#ifndef BM_GATHER_H
#define BM_GATHER_H

#include <stddef.h>
#include <stdint.h>

/* to[i] = from[indices[i]], values of 'size' bytes (1, 2, 4 or 8), aligned. The
 * first is for indices all over a large array, the second for near ones. */
void bm_gather(void *to, const void *from, const uint32_t *indices, size_t n,
               size_t size);
void bm_gather_near(void *to, const void *from, const uint16_t *indices,
                    size_t n, size_t size);

/* to[i * every] = from[indices[i]], or from[i] without indices: one component
 * of samples that have 'every' of them. */
void bm_gather_apart(void *to, size_t every, const void *from,
                     const uint16_t *indices, size_t n, size_t size);

#endif
