/* exact_list.c -- values of particles, of codec exact: differences from the value
 * before, in as many bits as the longest of 32 of them needs.
 *
 * Particles lie in the order of a tree, so neighbours are near each other in many
 * of their values. Differences are those of words, which are in the order of
 * numbers (exact.h); integers are their own words. Values that come again and
 * again, that have nothing to do with each other, or that have one or two bytes,
 * are left to zstd. */
#include "codec/clones.h"
#include "codec/exact_bits.h"

#define BLOCK 32

/* Those of floating-point numbers are in their order; and how many of the last
 * bits are left out, as they are 0 in all. */
struct words {
    int real, drop;
};

#define WORD    uint32_t
#define BITS    32
#define NAME(x) x##_32
#include "codec/exact_list_rows.h"
#undef WORD
#undef BITS
#undef NAME
#define WORD    uint64_t
#define BITS    64
#define NAME(x) x##_64
#include "codec/exact_list_rows.h"

int bm_exact_come_again(const void *values, size_t n, size_t size, size_t of)
{
    const uint8_t *from = values;
    enum { SOME = 512, SLOTS = 2048 };
    uint32_t seen[SLOTS] = {0};
    size_t every = n / SOME + 1, again = 0, tried = 0;

    for (size_t i = 0; i < n; i += every, tried++) {
        uint32_t narrow, tag;
        uint64_t word, hash;

        if (size == sizeof(narrow)) {
            memcpy(&narrow, from + i * size, sizeof(narrow));
            word = narrow;
        } else {
            memcpy(&word, from + i * size, sizeof(word));
        }
        hash = (word + 1) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
        tag = (uint32_t)hash | 1;
        again += seen[hash >> 53] == tag;
        seen[hash >> 53] = tag;
    }
    return again > tried / of;
}

static size_t blocks_of(size_t n)
{
    return (n + BLOCK - 1) / BLOCK;
}

static int is_real(bouma_type type)
{
    return type == BOUMA_TYPE_F32 || type == BOUMA_TYPE_F64;
}

/* How many values block i of n has. */
static size_t block_size(size_t n, size_t i)
{
    return n - i * BLOCK < BLOCK ? n - i * BLOCK : BLOCK;
}

/* Bytes of the differences, the lengths of which are known. */
static size_t packed_bytes(const uint8_t *lengths, size_t n)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < blocks_of(n); i++)
        bits += (uint64_t)lengths[i] * block_size(n, i);
    return (size_t)((bits + 7) / 8);
}

/* Append the values of one component: u8 bits that are left out, u8 for each
 * block, the bits of each of its differences, then these. 0 if that is not shorter, or without memory. */
static int put_component(struct bm_buffer *out, const uint8_t *values, size_t n,
                         size_t size, int real)
{
    struct words words = {real, size == 4 ? unused_bits_32(values, n)
                                          : unused_bits_64(values, n)};
    size_t blocks = blocks_of(n), bytes, begin = out->size + 1;
    struct bm_exact_writer w;
    uint8_t *lengths, *to;

    bm_put_u8(out, (uint8_t)words.drop);
    lengths = bm_buffer_extend(out, blocks);
    if (!lengths)
        return 0;
    if (size == 4)
        measure_32(lengths, values, n, words);
    else
        measure_64(lengths, values, n, words);
    bytes = packed_bytes(lengths, n);
    if (blocks + bytes > n * size / 32 * 31)
        return 0;
    to = bm_buffer_extend(out, bytes + 16); /* the writer needs more */
    if (!to)
        return 0;
    lengths = out->data + begin;
    w = (struct bm_exact_writer){to, 0, 0};
    if (size == 4)
        pack_32(&w, lengths, values, n, words);
    else
        pack_64(&w, lengths, values, n, words);
    out->size -= 16;
    return 1;
}

int bm_exact_encode_list(struct bm_codec_state *state, struct bm_buffer *out,
                         const void *values, const struct bm_list *list)
{
    size_t size = bouma_type_size(list->type), begin = out->size;
    size_t all = list->count * (size_t)list->components;
    int packs =
        size >= 4 && (all < 256 || !bm_exact_come_again(values, all, size, 4));

    if (!all)
        return BOUMA_OK;
    bm_put_u8(out, LIST_PACKED);
    for (int c = 0; c < list->components && packs; c++)
        packs = put_component(
            out, (const uint8_t *)values + (size_t)c * list->count * size,
            list->count, size, is_real(list->type));
    if (packs || out->failed)
        return out->failed ? BOUMA_ENOMEM : BOUMA_OK;
    out->size = begin;
    bm_put_u8(out, LIST_ZSTD);
    return bm_zstd_pack(state, out, values, all, size);
}

/* ---- decoding ----------------------------------------------------------- */

static int get_component(struct bm_cursor *in, uint8_t *values, size_t n,
                         size_t size, int real)
{
    struct words words = {real, bm_get_u8(in)};
    const uint8_t *lengths = bm_get_bytes(in, blocks_of(n)), *data;
    struct bm_exact_reader r;
    size_t bytes;

    if (words.drop >= 8 * (int)size)
        return BOUMA_EFORMAT;
    for (size_t i = 0; i < blocks_of(n) && lengths; i++)
        if (lengths[i] > 8 * size)
            return BOUMA_EFORMAT;
    bytes = lengths ? packed_bytes(lengths, n) : 0;
    data = lengths ? bm_get_bytes(in, bytes) : NULL;
    if (!data)
        return BOUMA_EFORMAT;
    r = (struct bm_exact_reader){data, bytes, 0};
    if (size == 4)
        unpack_32(&r, lengths, values, n, words);
    else
        unpack_64(&r, lengths, values, n, words);
    return BOUMA_OK;
}

int bm_exact_decode_list(struct bm_codec_state *state, void *values,
                         const struct bm_list *list, const uint8_t *in,
                         size_t stored)
{
    struct bm_cursor c = bm_cursor_of(in, stored);
    size_t size = bouma_type_size(list->type);
    size_t all = list->count * (size_t)list->components;
    int form, rc = BOUMA_OK;

    if (!all)
        return stored ? BOUMA_EFORMAT : BOUMA_OK;
    form = bm_get_u8(&c);
    if (!c.failed && form == LIST_ZSTD)
        return bm_zstd_unpack(state, values, all, size, c.p,
                              bm_cursor_left(&c));
    if (c.failed || form != LIST_PACKED || size < 4)
        return BOUMA_EFORMAT;
    for (int i = 0; i < list->components && !rc; i++)
        rc = get_component(&c,
                           (uint8_t *)values + (size_t)i * list->count * size,
                           list->count, size, is_real(list->type));
    return rc ? rc : bm_cursor_left(&c) ? BOUMA_EFORMAT : BOUMA_OK;
}
