/* sample_types.h -- values of any type as those that are sent: f32, f16, u8.
 * Pure functions. */
#ifndef SERVE_SAMPLE_TYPES_H
#define SERVE_SAMPLE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "bouma.h"

enum sent_type { SENT_OWN, SENT_F32, SENT_F16, SENT_U8 };

/* "own|f32|f16|u8", for request_choice(). */
#define SENT_TYPES "own|f32|f16|u8"

/* Bytes of one value, and the name, of a variable of 'own'. */
size_t sent_type_size(enum sent_type type, bouma_type own);
const char *sent_type_name(enum sent_type type, bouma_type own);

/* How values become others. */
struct conversion {
    enum sent_type to;
    bouma_type from;
    double low, high; /* of SENT_U8: what becomes 1 and 255 */
    double origin;    /* is subtracted before, if 'shifts' */
    int shifts;
};

/* The nearest half, ties to even; beyond the largest: infinite. */
uint16_t half_from_double(double value);
/* From 'low' to 'high': 1 to 255, those outside at the ends; NaN is 0. */
uint8_t byte_from_double(double value, double low, double high);

/* 'count' values, each 'stride' values after the one before, to 'to' side by
 * side; values there are 'to_stride' apart. */
void convert_values(void *to, size_t to_stride, const void *from, size_t stride,
                    size_t count, const struct conversion *how);

#endif
