/* read_idx_block.c -- blocks of samples in the binary files of an IDX dataset. */
#include "read_idx_block.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zfp.h>
#include <zlib.h>
#if BOUMA_WITH_LZ4
#include <lz4.h>
#endif

__attribute__((format(printf, 2, 3))) static bool
refuse(struct idx_message *message, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(message->text, sizeof(message->text), format, list);
    va_end(list);
    return false;
}

size_t idx_block_bytes(const struct idx_header *header, size_t field)
{
    return header->fields[field].sample_bytes << header->order.block_bits;
}

/* ---- block headers ------------------------------------------------------- */

/* Version 6: a preamble of 40 bytes, and 40 for a block; before, 12 for a block
 * behind 16, or none in version 1. */
static uint64_t preamble(const struct idx_header *header)
{
    return header->version >= 6 ? 40 : header->version > 1 ? 16 : 0;
}

static uint64_t header_bytes(const struct idx_header *header)
{
    return header->version >= 6 ? 40 : 12;
}

uint64_t idx_block_at(const struct idx_header *header,
                      const struct idx_place *place, size_t *bytes)
{
    uint64_t per_file = (uint64_t)header->blocks_per_file;

    *bytes = header->arco ? 0 : header_bytes(header);
    return preamble(header) +
           *bytes * (place->field * per_file + place->block % per_file);
}

static uint32_t word(const uint8_t *bytes, int i)
{
    bytes += 4 * (size_t)i;
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
           (uint32_t)bytes[2] << 8 | bytes[3];
}

static const char *codec_name(enum idx_codec codec)
{
    switch (codec) {
    case IDX_RAW:
        return "raw";
    case IDX_ZIP:
        return "zip";
    case IDX_LZ4:
        return "lz4";
    case IDX_ZFP:
        return "zfp";
    case IDX_JPG:
        return "jpg";
    case IDX_PNG:
        return "png";
    }
    return NULL;
}

static zfp_type zfp_type_of(bouma_type type)
{
    switch (type) {
    case BOUMA_TYPE_F32:
        return zfp_type_float;
    case BOUMA_TYPE_F64:
        return zfp_type_double;
    case BOUMA_TYPE_I32:
        return zfp_type_int32;
    case BOUMA_TYPE_I64:
        return zfp_type_int64;
    default:
        return zfp_type_none;
    }
}

/* The parameters of zfp are the field's. */
static bool check_zfp(const struct idx_header *header,
                      const struct idx_field *field,
                      struct idx_message *message)
{
    if (field->components != 1 || header->ndims < 2 ||
        zfp_type_of(field->type) == zfp_type_none)
        return refuse(message,
                      "compressed by zfp, which does not do %d components of "
                      "%s on %d axes",
                      field->components, bouma_type_name(field->type),
                      header->ndims);
    if (field->zfp.mode == IDX_ZFP_UNKNOWN)
        return refuse(message, "compressed by zfp, but the field's "
                               "default_compression does not say how, such as "
                               "zfp-reversible-reversible");
    return true;
}

/* What only needs the header to be refused. */
static bool check_block(const struct idx_block *block,
                        const struct idx_header *header, size_t field,
                        struct idx_message *message)
{
    size_t bytes = idx_block_bytes(header, field);
    const char *name = codec_name(block->codec);

    if (!name)
        return refuse(message, "compressed in way %d, which is not known",
                      (int)block->codec);
    if (block->codec == IDX_JPG || block->codec == IDX_PNG)
        return refuse(message, "compressed by %s, which is not read", name);
    if (block->codec == IDX_LZ4 && !BOUMA_WITH_LZ4)
        return refuse(message, "compressed by lz4, which this program is built "
                               "without");
    if (block->codec == IDX_RAW && block->size != bytes)
        return refuse(message, "has %lu bytes, and must have %zu",
                      (unsigned long)block->size, bytes);
    if (header->order.full && !block->row_major)
        return refuse(message, "in HZ order, which is not read where the mask "
                               "begins with F");
    return block->codec != IDX_ZFP ||
           check_zfp(header, &header->fields[field], message);
}

bool idx_block_plain(struct idx_block *out, const struct idx_header *header,
                     size_t field, uint64_t file_bytes,
                     struct idx_message *message)
{
    *out = (struct idx_block){.codec = header->fields[field].codec,
                              .row_major = header->fields[field].row_major};
    if (file_bytes == 0 || file_bytes > INT32_MAX)
        return refuse(message, "has %llu bytes",
                      (unsigned long long)file_bytes);
    out->size = (uint32_t)file_bytes;
    return check_block(out, header, field, message);
}

bool idx_block_parse(struct idx_block *out, const struct idx_header *header,
                     size_t field, const uint8_t *bytes, uint64_t file_bytes,
                     struct idx_message *message)
{
    uint64_t headers = preamble(header) + header_bytes(header) *
                                              header->field_count *
                                              (uint64_t)header->blocks_per_file;

    *out = (struct idx_block){0};
    if (header->version >= 6) {
        uint32_t flags = word(bytes, 5);

        out->offset = (uint64_t)word(bytes, 3) << 32 | word(bytes, 2);
        out->size = word(bytes, 4);
        out->codec = (enum idx_codec)(flags & 15);
        out->row_major = flags >> 4 & 1;
    } else {
        out->offset = word(bytes, 0);
        out->size = word(bytes, 1);
        out->codec = word(bytes, 2) ? IDX_ZIP : IDX_RAW;
    }
    out->absent = out->offset == 0 || out->size == 0;
    if (out->absent)
        return true;
    if (out->size > INT32_MAX)
        return refuse(message, "has %lu bytes, more than a block can have",
                      (unsigned long)out->size);
    if (out->offset < headers)
        return refuse(message, "lies at byte %llu, inside the headers",
                      (unsigned long long)out->offset);
    if (out->offset > file_bytes || out->size > file_bytes - out->offset)
        return refuse(message,
                      "ends at byte %llu, but the file has %llu: it is cut off",
                      (unsigned long long)(out->offset + out->size),
                      (unsigned long long)file_bytes);
    return check_block(out, header, field, message);
}

/* ---- zfp ----------------------------------------------------------------- */

/* zfp trusts what it reads: what it is given has zeros behind it, more than it
 * can need. Of 4^d values, each of the planes of bits takes up to two bits a
 * value and one more. */
static size_t zfp_room(const struct idx_header *header,
                       const struct idx_place *place)
{
    size_t planes = 8 * header->fields[place->field].sample_bytes;
    size_t values = header->ndims == 2 ? 16 : 64, parts = 1;
    struct idx_lattice of = idx_order_lattice(&header->order, place->block);

    for (int axis = 0; axis < 3; axis++)
        parts *= of.count[axis] > 2 ? (size_t)1 << (of.count[axis] - 2) : 1;
    return parts * ((planes * (2 * values + 1) + 64) / 8 + 1) + 64;
}

/* The first block to whose region so many splits lead. */
static uint64_t first_block(const struct idx_order *order, int depth)
{
    return ((uint64_t)1 << depth) - (order->full ? 1 : 0);
}

/* Blocks of other levels have other edges. */
uint64_t idx_block_memory(const struct idx_header *header, size_t field)
{
    const struct idx_order *order = &header->order;
    uint64_t bytes = 2 * (uint64_t)idx_block_bytes(header, field), most;
    int end = order->bits - order->block_bits + (order->full ? 1 : 0);
    struct idx_place place = {.field = field};

    if (header->fields[field].codec != IDX_ZFP)
        return bytes;
    most = zfp_room(header, &place);
    for (int depth = 0; depth < end; depth++) {
        uint64_t room;

        place.block = first_block(order, depth);
        room = zfp_room(header, &place);
        most = room > most ? room : most;
    }
    return bytes + most;
}

static void zfp_set(zfp_stream *stream, const struct idx_zfp *how)
{
    if (how->mode == IDX_REVERSIBLE)
        zfp_stream_set_reversible(stream);
    else if (how->mode == IDX_PRECISION)
        zfp_stream_set_precision(stream, (unsigned)how->precision);
    else
        zfp_stream_set_accuracy(stream, how->accuracy);
}

static bool zfp_run(void *out, const struct idx_header *header,
                    const struct idx_place *place, void *padded, size_t room)
{
    const struct idx_field *field = &header->fields[place->field];
    struct idx_lattice of = idx_order_lattice(&header->order, place->block);
    zfp_type type = zfp_type_of(field->type);
    size_t n[3] = {(size_t)1 << of.count[0], (size_t)1 << of.count[1],
                   (size_t)1 << of.count[2]};
    zfp_field *samples = header->ndims == 2
                             ? zfp_field_2d(out, type, n[2], n[1])
                             : zfp_field_3d(out, type, n[2], n[1], n[0]);
    bitstream *bits = stream_open(padded, room);
    zfp_stream *stream = bits ? zfp_stream_open(bits) : NULL;
    bool ok = samples && stream;

    if (ok) {
        zfp_set(stream, &field->zfp);
        ok = zfp_decompress(stream, samples) != 0;
    }
    if (stream)
        zfp_stream_close(stream);
    if (bits)
        stream_close(bits);
    zfp_field_free(samples);
    return ok;
}

static bool decode_zfp(void *out, const struct idx_header *header,
                       const struct idx_place *place,
                       const struct idx_block *block, const uint8_t *in,
                       struct idx_message *message)
{
    size_t room = zfp_room(header, place) + block->size;
    void *padded;
    bool ok;

    padded = calloc(1, room);
    if (!padded)
        return refuse(message, "there is no memory to decompress it");
    memcpy(padded, in, block->size);
    ok = zfp_run(out, header, place, padded, room);
    free(padded);
    return ok || refuse(message, "zfp cannot decompress it");
}

/* ---- others -------------------------------------------------------------- */

static bool decode_zip(void *out, size_t bytes, const struct idx_block *block,
                       const uint8_t *in, struct idx_message *message)
{
    uLongf got = bytes;
    int status = uncompress(out, &got, in, block->size);

    if (status == Z_OK && got == bytes)
        return true;
    return refuse(message, "zlib cannot decompress it to %zu bytes", bytes);
}

static bool decode_lz4(void *out, size_t bytes, const struct idx_block *block,
                       const uint8_t *in, struct idx_message *message)
{
#if BOUMA_WITH_LZ4
    int got = LZ4_decompress_safe((const char *)in, out, (int)block->size,
                                  (int)bytes);

    if (got >= 0 && (size_t)got == bytes)
        return true;
#else
    (void)out, (void)block, (void)in;
#endif
    return refuse(message, "lz4 cannot decompress it to %zu bytes", bytes);
}

bool idx_block_decode(void *out, const struct idx_header *header,
                      const struct idx_place *place,
                      const struct idx_block *block, const uint8_t *in,
                      struct idx_message *message)
{
    size_t bytes = idx_block_bytes(header, place->field);

    switch (block->codec) {
    case IDX_ZIP:
        return decode_zip(out, bytes, block, in, message);
    case IDX_LZ4:
        return decode_lz4(out, bytes, block, in, message);
    case IDX_ZFP:
        return decode_zfp(out, header, place, block, in, message);
    default: /* idx_block_parse() has checked the size */
        memcpy(out, in, bytes);
        return true;
    }
}
