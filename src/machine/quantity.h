/* quantity.h -- times, speeds and sizes as people write them, whatever the
 * locale: "1.5us", "12.5GB/s", "192G". */
#ifndef BM_QUANTITY_H
#define BM_QUANTITY_H

#include "base/bytes.h"

/* 1, or 0 if 'text' is none. All are positive; sizes may be 0. */
int bm_seconds_parse(double *out, const char *text, size_t bytes);
/* Bytes a second; "k", "M", "G" and "T" are powers of 1000, "Gi" of 1024. */
int bm_speed_parse(double *out, const char *text, size_t bytes);
/* As in options: "K", "M", "G", "T" and "P" are powers of 1024. */
int bm_size_parse(uint64_t *out, const char *text, size_t bytes);

/* Six digits of a positive time or speed, with a unit. */
void bm_seconds_put(struct bm_buffer *out, double seconds);
void bm_speed_put(struct bm_buffer *out, double speed);
void bm_size_put(struct bm_buffer *out, uint64_t size);

#endif
