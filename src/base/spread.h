/* spread.h -- values that lie in memory with strides: a block inside a larger
 * array, a member of structures, an array of another order of axes. */
#ifndef BM_SPREAD_H
#define BM_SPREAD_H

#include <stddef.h>
#include <stdint.h>

#define BM_SPREAD_AXES 4

/* Unused axes have one value. Strides are in bytes, of any sign. */
struct bm_spread {
    const uint8_t *data;
    size_t size; /* bytes of a value */
    uint64_t count[BM_SPREAD_AXES];
    int64_t stride[BM_SPREAD_AXES];
};

/* Bytes of the values; SIZE_MAX if that is more than there can be. */
size_t bm_spread_bytes(const struct bm_spread *s);

/* A hash of just the values: what lies between them does not count. */
uint64_t bm_spread_hash(const struct bm_spread *s);

/* Whether all values lie in memory that is mapped; they are not touched. */
int bm_spread_is_mapped(const struct bm_spread *s);

/* Copy the values to 'to', side by side, the axes in the order in which they
 * lie in memory. Their strides there are stride[]. */
void bm_spread_copy(uint8_t *to, int64_t stride[BM_SPREAD_AXES],
                    const struct bm_spread *s);

#endif
