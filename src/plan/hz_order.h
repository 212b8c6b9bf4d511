/* hz_order.h -- samples from rows into Z or HZ order, and back: as fast as
 * memory allows. See hz.h for the orders.
 *
 * 'hz' is the template of what is reordered, 2^bits samples: a whole grid, or
 * a block of it (bm_hz_block_template()). Rows are an array of C order with any
 * strides; the other side is dense. Samples have 1 to 4096 bytes; 1, 2, 4, 8,
 * 12, 16 and 24 are fast. The same result on every machine. */
#ifndef BM_HZ_ORDER_H
#define BM_HZ_ORDER_H

#include "plan/hz.h"

enum bm_hz_order { BM_ORDER_Z, BM_ORDER_HZ };

/* Samples in memory: data is that of index 0 along all axes. */
struct bm_hz_rows {
    uint8_t *data;
    int64_t stride[3]; /* bytes from one sample to the next */
    size_t size;       /* of a sample, all components side by side */
};

void bm_hz_pack(uint8_t *out, const struct bm_hz *hz, enum bm_hz_order order,
                const struct bm_hz_rows *rows);
void bm_hz_unpack(const struct bm_hz_rows *rows, const struct bm_hz *hz,
                  enum bm_hz_order order, const uint8_t *in);

#endif
