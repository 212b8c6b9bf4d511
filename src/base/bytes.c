/* bytes.c -- see bytes.h. */
#include "base/bytes.h"

#include <string.h>

/* ---- single values ------------------------------------------------------ */

void bm_swap_to_little(void *data, size_t count, size_t size)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    uint8_t *p = data;

    for (size_t i = 0; i < count; i++, p += size)
        for (size_t lo = 0, hi = size - 1; lo < hi; lo++, hi--) {
            uint8_t t = p[lo];

            p[lo] = p[hi];
            p[hi] = t;
        }
#else
    (void)data;
    (void)count;
    (void)size;
#endif
}

/* ---- writing ------------------------------------------------------------ */

void bm_buffer_init(struct bm_buffer *b, const bouma_allocator *a)
{
    memset(b, 0, sizeof(*b));
    b->a = a;
}

void bm_buffer_release(struct bm_buffer *b)
{
    if (b->a)
        bm_drop(b->a, b->data);
    b->data = NULL;
    b->size = b->capacity = 0;
}

void bm_buffer_clear(struct bm_buffer *b)
{
    b->size = 0;
    b->failed = 0;
}

void *bm_buffer_extend(struct bm_buffer *b, size_t bytes)
{
    size_t need;

    if (b->failed)
        return NULL;
    if (__builtin_add_overflow(b->size, bytes, &need)) {
        b->failed = 1;
        return NULL;
    }
    if (need > b->capacity || !b->data) {
        size_t room = b->capacity + b->capacity / 2;
        uint8_t *data;

        if (room < need)
            room = need;
        if (room < 64)
            room = 64;
        data = bm_resize(b->a, b->data, room, 1);
        if (!data) {
            b->failed = 1;
            return NULL;
        }
        b->data = data;
        b->capacity = room;
    }
    b->size = need;
    return b->data + need - bytes;
}

void bm_put_bytes(struct bm_buffer *b, const void *data, size_t bytes)
{
    void *room = bm_buffer_extend(b, bytes);

    if (room && bytes)
        memcpy(room, data, bytes);
}

void bm_put_u8(struct bm_buffer *b, uint8_t v)
{
    bm_put_bytes(b, &v, 1);
}

void bm_put_u16(struct bm_buffer *b, uint16_t v)
{
    uint8_t raw[2];

    bm_store_u16(raw, v);
    bm_put_bytes(b, raw, sizeof(raw));
}

void bm_put_u32(struct bm_buffer *b, uint32_t v)
{
    uint8_t raw[4];

    bm_store_u32(raw, v);
    bm_put_bytes(b, raw, sizeof(raw));
}

void bm_put_u64(struct bm_buffer *b, uint64_t v)
{
    uint8_t raw[8];

    bm_store_u64(raw, v);
    bm_put_bytes(b, raw, sizeof(raw));
}

void bm_put_i64(struct bm_buffer *b, int64_t v)
{
    bm_put_u64(b, (uint64_t)v);
}

void bm_put_f64(struct bm_buffer *b, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof(bits));
    bm_put_u64(b, bits);
}

size_t bm_varint_bytes(uint64_t v)
{
    size_t n = 1;

    for (; v >= 128; v >>= 7)
        n++;
    return n;
}

void bm_put_varint(struct bm_buffer *b, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        bm_put_u8(b, (uint8_t)(v | 128));
    bm_put_u8(b, (uint8_t)v);
}

void bm_put_bytes_of(struct bm_buffer *b, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        bm_put_u8(b, (uint8_t)(v >> (8 * i)));
}

void bm_put_text(struct bm_buffer *b, const char *text)
{
    size_t n = text ? strlen(text) : 0;

    if (n > 65535)
        n = 65535;
    bm_put_u16(b, (uint16_t)n);
    bm_put_bytes(b, text, n);
}

/* ---- reading ------------------------------------------------------------ */

struct bm_cursor bm_cursor_of(const void *data, size_t bytes)
{
    const uint8_t *p = data;
    struct bm_cursor c = {p, p ? p + bytes : p, 0};

    return c;
}

size_t bm_cursor_left(const struct bm_cursor *c)
{
    return c->failed ? 0 : (size_t)(c->end - c->p);
}

const uint8_t *bm_get_bytes(struct bm_cursor *c, size_t bytes)
{
    const uint8_t *p = c->p;

    if (c->failed || bytes > (size_t)(c->end - c->p)) {
        c->failed = 1;
        return NULL;
    }
    if (bytes) /* of nothing there may be no address */
        c->p += bytes;
    return p;
}

uint8_t bm_get_u8(struct bm_cursor *c)
{
    const uint8_t *p = bm_get_bytes(c, 1);

    return p ? p[0] : 0;
}

uint16_t bm_get_u16(struct bm_cursor *c)
{
    const uint8_t *p = bm_get_bytes(c, 2);

    return p ? bm_load_u16(p) : 0;
}

uint32_t bm_get_u32(struct bm_cursor *c)
{
    const uint8_t *p = bm_get_bytes(c, 4);

    return p ? bm_load_u32(p) : 0;
}

uint64_t bm_get_u64(struct bm_cursor *c)
{
    const uint8_t *p = bm_get_bytes(c, 8);

    return p ? bm_load_u64(p) : 0;
}

int64_t bm_get_i64(struct bm_cursor *c)
{
    return (int64_t)bm_get_u64(c);
}

uint64_t bm_get_varint(struct bm_cursor *c)
{
    uint64_t v = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t byte = bm_get_u8(c);

        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            /* No zeros at the end, no bits beyond 64. */
            if ((!byte && shift) || (shift == 63 && byte > 1))
                c->failed = 1;
            return c->failed ? 0 : v;
        }
    }
    c->failed = 1;
    return 0;
}

uint64_t bm_get_bytes_of(struct bm_cursor *c, size_t bytes)
{
    const uint8_t *p = bm_get_bytes(c, bytes);
    uint64_t v = 0;

    for (size_t i = 0; p && i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

double bm_get_f64(struct bm_cursor *c)
{
    uint64_t bits = bm_get_u64(c);
    double v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

size_t bm_get_count(struct bm_cursor *c, size_t entry)
{
    uint64_t n = bm_get_u64(c);

    if (c->failed || n > bm_cursor_left(c) / (entry ? entry : 1)) {
        c->failed = 1;
        return 0;
    }
    return (size_t)n;
}

char *bm_get_text(struct bm_cursor *c, const bouma_allocator *a, int *no_memory)
{
    size_t n = bm_get_u16(c);
    const uint8_t *p = bm_get_bytes(c, n);
    char *text;

    if (!p)
        return NULL;
    if (memchr(p, 0, n)) {
        c->failed = 1;
        return NULL;
    }
    text = bm_new(a, n + 1, 1);
    if (!text) {
        *no_memory = 1;
        return NULL;
    }
    memcpy(text, p, n);
    return text;
}
