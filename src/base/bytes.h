/* bytes.h -- little-endian bytes: a growing buffer to write them, and a
 * bounds-checked cursor, the one way in which bytes of a file are read. */
#ifndef BM_BYTES_H
#define BM_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* ---- writing ------------------------------------------------------------ */

/* A growing array of bytes. A failed allocation is remembered in 'failed', so
 * that a row of puts needs one check at its end. */
struct bm_buffer {
    const bouma_allocator *a;
    uint8_t *data;
    size_t size, capacity;
    int failed;
};

void bm_buffer_init(struct bm_buffer *b, const bouma_allocator *a);
void bm_buffer_release(struct bm_buffer *b);
void bm_buffer_clear(struct bm_buffer *b); /* empty; memory is kept */

/* Room for 'bytes' more at the end, counted as written, not zeroed; NULL if
 * there is no memory. */
void *bm_buffer_extend(struct bm_buffer *b, size_t bytes);

void bm_put_bytes(struct bm_buffer *b, const void *data, size_t bytes);
void bm_put_u8(struct bm_buffer *b, uint8_t v);
void bm_put_u16(struct bm_buffer *b, uint16_t v);
void bm_put_u32(struct bm_buffer *b, uint32_t v);
void bm_put_u64(struct bm_buffer *b, uint64_t v);
void bm_put_i64(struct bm_buffer *b, int64_t v);
void bm_put_f64(struct bm_buffer *b, double v);
/* Seven bits a byte, the lowest first, the highest bit set but in the last. */
void bm_put_varint(struct bm_buffer *b, uint64_t v);
size_t bm_varint_bytes(uint64_t v);
/* The 'bytes' lowest bytes of a number. */
void bm_put_bytes_of(struct bm_buffer *b, uint64_t v, size_t bytes);
/* u16 length, then the bytes; at most 65535. */
void bm_put_text(struct bm_buffer *b, const char *text);

/* ---- reading ------------------------------------------------------------ */

/* Bytes from p up to end. A read past the end gives zero and sets 'failed',
 * which stays set. */
struct bm_cursor {
    const uint8_t *p, *end;
    int failed;
};

struct bm_cursor bm_cursor_of(const void *data, size_t bytes);
size_t bm_cursor_left(const struct bm_cursor *c);

/* 'bytes' bytes in place, or NULL. */
const uint8_t *bm_get_bytes(struct bm_cursor *c, size_t bytes);
uint8_t bm_get_u8(struct bm_cursor *c);
uint16_t bm_get_u16(struct bm_cursor *c);
uint32_t bm_get_u32(struct bm_cursor *c);
uint64_t bm_get_u64(struct bm_cursor *c);
int64_t bm_get_i64(struct bm_cursor *c);
uint64_t bm_get_varint(struct bm_cursor *c); /* fails unless it is shortest */
uint64_t bm_get_bytes_of(struct bm_cursor *c, size_t bytes); /* at most 8 */
double bm_get_f64(struct bm_cursor *c);

/* A count that is followed by that many entries of at least 'entry' bytes: it
 * fails unless the bytes are there, so no allocation by it exceeds the file. */
size_t bm_get_count(struct bm_cursor *c, size_t entry);

/* A text as bm_put_text() wrote it, newly allocated; NULL on failure, with
 * 'failed' set or *no_memory set. */
char *bm_get_text(struct bm_cursor *c, const bouma_allocator *a,
                  int *no_memory);

/* ---- single values ------------------------------------------------------ */

static inline uint16_t bm_load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t bm_load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static inline uint64_t bm_load_u64(const uint8_t *p)
{
    return (uint64_t)bm_load_u32(p) | (uint64_t)bm_load_u32(p + 4) << 32;
}

static inline void bm_store_u16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void bm_store_u32(uint8_t *p, uint32_t v)
{
    bm_store_u16(p, (uint16_t)v);
    bm_store_u16(p + 2, (uint16_t)(v >> 16));
}

static inline void bm_store_u64(uint8_t *p, uint64_t v)
{
    bm_store_u32(p, (uint32_t)v);
    bm_store_u32(p + 4, (uint32_t)(v >> 32));
}

/* Turn 'count' values of 'size' bytes between the machine's byte order and
 * little-endian; nothing to do on most machines. */
void bm_swap_to_little(void *data, size_t count, size_t size);

#endif
