/* zstd_planes.c -- see zstd_planes.h; the frame is that of RFC 8878. */
#include "codec/zstd_planes.h"

#include <string.h>
#include <zstd.h>

#define MAGIC        0xFD2FB528u
#define MOST_BLOCK   ((size_t)128 << 10)
#define BLOCK_HEADER 3
#define MOST_HEADER  18 /* of a frame */
#define MOST_PLANES  8

enum { AS_IT_IS = 0, ONE_BYTE = 1 }; /* types of blocks */
enum class { EQUAL, NOISE, SOME, FEW };

size_t bm_zstd_planes_bound(size_t bytes)
{
    size_t blocks = bytes / MOST_BLOCK + MOST_PLANES;

    return MOST_HEADER + blocks * BLOCK_HEADER +
           MOST_PLANES * ZSTD_compressBound(0) + ZSTD_compressBound(bytes);
}

/* ---- planes ------------------------------------------------------------- */

#define SAMPLE 128
#define LEAST  64 /* bytes that may be worth the search */

/* What a plane is, by the equal pairs among a sample of its bytes; by chance
 * there are 'whole' / 512. With 16 times as many its bytes have few values. Not
 * many more are noise, and so are some fewer: four deviations, one being the
 * root of what is expected. Far fewer are numbers that count up. All by
 * integers, so that every machine makes the same bytes. */
static enum class class_of(const uint8_t *in, size_t n) {
    size_t size = n < SAMPLE ? n : SAMPLE, every = n / size;
    int64_t whole = (int64_t)(size * (size - 1)), pairs = 0, missing;
    uint8_t seen[256] = {0};

    if (!memcmp(in, in + 1, n - 1)) return EQUAL;
    for (size_t i = 0; i < size; i++) pairs += seen[in[i * every]]++;
    if (512 * pairs >= 16 * whole) return FEW;
    missing = whole - 512 * pairs;
    if (n < LEAST || (missing > 0 ? missing * missing <= 16 * 512 * whole
                                  : 2 * 512 * pairs <= 5 * whole)) return NOISE;
    return SOME;
}

/* Without an effort that is asked for: tables of frequencies, for pieces of a
 * few thousand bytes, take more time than all else, also when they are read. So
 * they are made only where they save a quarter of what is left. */
static int usual_effort(const enum class *classes, size_t planes)
{
    size_t few = 0, left = 0;

    for (size_t b = 0; b < planes; b++) {
        few += classes[b] == FEW;
        left += classes[b] != EQUAL;
    }
    return 2 * few >= left ? 1 : -1;
}

/* All from the first to the last that are worth it are compressed together: the
 * blocks of another frame would begin with offsets that only the first ones of
 * a frame have. */
static void join_compressed(enum class *classes, size_t planes)
{
    size_t first = planes, last = 0;

    for (size_t b = 0; b < planes; b++)
        if (classes[b] == SOME || classes[b] == FEW) {
            first = first < b ? first : b;
            last = b;
        }
    for (size_t b = first; b <= last && b < planes; b++)
        classes[b] = SOME;
}

/* ---- blocks ------------------------------------------------------------- */

static uint8_t *put_block_header(uint8_t *out, size_t bytes, int type, int last)
{
    uint32_t header =
        (uint32_t)bytes << 3 | (uint32_t)type << 1 | (uint32_t)last;

    out[0] = (uint8_t)header;
    out[1] = (uint8_t)(header >> 8);
    out[2] = (uint8_t)(header >> 16);
    return out + BLOCK_HEADER;
}

/* Bytes that are not compressed. Gives the end. */
static uint8_t *put_plain(uint8_t *out, const uint8_t *in, size_t bytes,
                          int type, int last)
{
    while (bytes) {
        size_t n = bytes < MOST_BLOCK ? bytes : MOST_BLOCK;
        size_t stored = type == ONE_BYTE ? 1 : n;

        out = put_block_header(out, n, type, last && n == bytes);
        memcpy(out, in, stored);
        out += stored;
        in += n;
        bytes -= n;
    }
    return out;
}

/* The bytes of a frame before its blocks, by its descriptor. */
static size_t header_bytes(uint8_t descriptor)
{
    static const size_t size_bytes[] = {0, 2, 4, 8};
    size_t size = size_bytes[descriptor >> 6];
    int single = descriptor >> 5 & 1;

    return 5 + (single ? (size ? size : 1) : 1 + size);
}

/* Compressed bytes: the blocks of a frame of their own, without its header.
 * Gives the end, or NULL. */
static uint8_t *put_compressed(struct bm_codec_state *state, uint8_t *out,
                               const uint8_t *in, size_t bytes, int effort,
                               int last)
{
    size_t n = ZSTD_compressCCtx(state->zstd_encoder, out,
                                 ZSTD_compressBound(bytes), in, bytes, effort);
    size_t header, at, next;

    if (ZSTD_isError(n))
        return NULL;
    header = header_bytes(out[4]);
    memmove(out, out + header, n - header);
    for (at = 0; at < n - header; at = next) {
        size_t type = out[at] >> 1 & 3;
        size_t size = (size_t)out[at] >> 3 | (size_t)out[at + 1] << 5 |
                      (size_t)out[at + 2] << 13;

        next = at + BLOCK_HEADER + (type == ONE_BYTE ? 1 : size);
        if (next == n - header && !last)
            out[at] &= 0xFE;
    }
    return out + n - header;
}

/* ---- frames ------------------------------------------------------------- */

/* One segment, with its size. Gives the end. */
static uint8_t *put_header(uint8_t *out, size_t bytes)
{
    bm_store_u32(out, MAGIC);
    if (bytes < 256) {
        out[4] = 1 << 5;
        out[5] = (uint8_t)bytes;
        return out + 6;
    }
    if (bytes < 65536 + 256) {
        out[4] = 1 << 6 | 1 << 5;
        bm_store_u16(out + 5, (uint16_t)(bytes - 256));
        return out + 7;
    }
    out[4] = 3 << 6 | 1 << 5;
    bm_store_u64(out + 5, bytes);
    return out + 13;
}

size_t bm_zstd_planes(struct bm_codec_state *state, uint8_t *out,
                      const uint8_t *in, size_t n, size_t planes, int effort)
{
    enum class classes[MOST_PLANES];
    uint8_t *at = put_header(out, n * planes);

    if (!state->zstd_encoder)
        state->zstd_encoder = ZSTD_createCCtx();
    if (!state->zstd_encoder)
        return 0;
    for (size_t b = 0; b < planes; b++)
        classes[b] = class_of(in + b * n, n);
    effort = effort ? effort : usual_effort(classes, planes);
    join_compressed(classes, planes);
    for (size_t b = 0, end; b < planes && at; b = end) {
        for (end = b + 1; end < planes && classes[end] == classes[b]; end++)
            if (classes[b] == EQUAL && in[end * n] != in[b * n])
                break;
        if (classes[b] == SOME)
            at = put_compressed(state, at, in + b * n, (end - b) * n, effort,
                                end == planes);
        else
            at = put_plain(at, in + b * n, (end - b) * n,
                           classes[b] == EQUAL ? ONE_BYTE : AS_IT_IS,
                           end == planes);
    }
    return at ? (size_t)(at - out) : 0;
}
