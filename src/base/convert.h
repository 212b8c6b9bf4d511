/* convert.h -- values of one type as values of another.
 *
 * A value is converted if the other type has the same number; or, if 'rounds',
 * a number near it: the nearest one, of two the even one. What remains is
 * refused in either case: integers, and numbers once they are rounded, that are
 * beyond the other type; NaN and infinities where the other type is of
 * integers. NaN stays NaN (its sign and payload may change), infinities stay
 * infinite; -0 stays -0 in floats, and is 0 in integers. A number that is too
 * large for f32 does not become infinite. */
#ifndef BM_CONVERT_H
#define BM_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "bouma.h"

struct bm_conversion {
    bouma_type from, to;
    int rounds;
};

/* Convert n values, which lie so many bytes apart and may be unaligned. Gives
 * the number of them that are converted: n, or the index of the first that is
 * refused. */
size_t bm_convert(const struct bm_conversion *c, uint8_t *to, int64_t to_stride,
                  const uint8_t *from, int64_t from_stride, size_t n);

/* A value as text, such that no other value of the type has the same. */
#define BM_VALUE_TEXT_BYTES 32
void bm_value_text(char text[BM_VALUE_TEXT_BYTES], bouma_type type,
                   const void *value);

/* Why 'value' was refused, for messages: "300 does not fit into i8", "0.1 is
 * not exact as f32". Returns 1 if rounding would take it. */
#define BM_REFUSAL_TEXT_BYTES 96
int bm_convert_refusal(char text[BM_REFUSAL_TEXT_BYTES],
                       const struct bm_conversion *c, const void *value);

#endif
