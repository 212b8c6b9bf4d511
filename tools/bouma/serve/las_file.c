/* las_file.c -- the header and the records of LAS 1.4, as its specification
 * (R15, of ASPRS) lays them out. */
#include "las_file.h"

#include <stdio.h>
#include <string.h>

#define HEADER_BYTES      375
#define RECORD_HEAD_BYTES 54 /* of a variable length record */
#define EXTRA_BYTES       192
#define EXTRA_RECORD      4 /* its number */
#define POINT_FORMAT      6

/* Where the next value goes; all are little-endian, as memory is. */
struct cursor {
    char *at;
};

static void put(struct cursor *to, const void *value, size_t bytes)
{
    memcpy(to->at, value, bytes);
    to->at += bytes;
}

static void put_u8(struct cursor *to, uint8_t value)
{
    put(to, &value, sizeof(value));
}

static void put_u16(struct cursor *to, uint16_t value)
{
    put(to, &value, sizeof(value));
}

static void put_u32(struct cursor *to, uint32_t value)
{
    put(to, &value, sizeof(value));
}

static void put_u64(struct cursor *to, uint64_t value)
{
    put(to, &value, sizeof(value));
}

static void put_f64(struct cursor *to, double value)
{
    put(to, &value, sizeof(value));
}

/* In a field that is zeros before; cut off if it is too long. */
static void put_text(struct cursor *to, const char *text, size_t bytes)
{
    memcpy(to->at, text, strnlen(text, bytes));
    to->at += bytes;
}

static uint8_t type_code(bouma_type type)
{
    switch (type) {
    case BOUMA_TYPE_U8:
        return 1;
    case BOUMA_TYPE_I8:
        return 2;
    case BOUMA_TYPE_U16:
        return 3;
    case BOUMA_TYPE_I16:
        return 4;
    case BOUMA_TYPE_U32:
        return 5;
    case BOUMA_TYPE_I32:
        return 6;
    case BOUMA_TYPE_U64:
        return 7;
    case BOUMA_TYPE_I64:
        return 8;
    case BOUMA_TYPE_F32:
        return 9;
    default:
        return 10;
    }
}

static uint32_t extra_head_bytes(size_t extra_count)
{
    return extra_count ? RECORD_HEAD_BYTES : 0;
}

size_t las_header_bytes(size_t extra_count)
{
    return HEADER_BYTES + extra_head_bytes(extra_count) +
           extra_count * EXTRA_BYTES;
}

/* Counts of points, of which older readers know 32 bits. */
static void put_counts(struct cursor *to, uint64_t points)
{
    put_u64(to, 0); /* waveforms */
    put_u64(to, 0); /* records behind the points */
    put_u32(to, 0);
    put_u64(to, points);
    put_u64(to, points); /* of the first return; there are no others */
    to->at += 14 * sizeof(uint64_t);
}

static void put_extra(struct cursor *to, const struct las_file *file)
{
    put_u16(to, 0);
    put_text(to, "LASF_Spec", 16);
    put_u16(to, EXTRA_RECORD);
    put_u16(to, (uint16_t)(file->extra_count * EXTRA_BYTES));
    put_text(to, "", 32);
    for (size_t i = 0; i < file->extra_count; i++) {
        char *end = to->at + EXTRA_BYTES;

        put_u16(to, 0);
        put_u8(to, type_code(file->extra[i].type));
        put_u8(to, 0);
        put_text(to, file->extra[i].name, LAS_NAME_BYTES);
        to->at = end;
    }
}

void las_put_header(void *out, const struct las_file *file, uint64_t points)
{
    struct cursor to = {out};
    size_t bytes = las_header_bytes(file->extra_count);

    memset(out, 0, bytes);
    put_text(&to, "LASF", 4);
    put_u16(&to, 0); /* file source */
    put_u16(&to, 0); /* encoding of times */
    put_text(&to, "", 16);
    put_u8(&to, 1);
    put_u8(&to, 4);
    put_text(&to, "", 32);
    put_text(&to, "bouma", 32);
    put_u16(&to, 0); /* when it was made: no matter, and always the same */
    put_u16(&to, 0);
    put_u16(&to, HEADER_BYTES);
    put_u32(&to, (uint32_t)bytes);
    put_u32(&to, file->extra_count > 0);
    put_u8(&to, POINT_FORMAT);
    put_u16(&to, (uint16_t)file->record);
    to.at += 6 * sizeof(uint32_t); /* counts of older versions */
    for (int i = 0; i < 3; i++)
        put_f64(&to, file->scale);
    for (int i = 0; i < 3; i++)
        put_f64(&to, file->offset[i]);
    for (int i = 0; i < 3; i++) {
        put_f64(&to, file->high[i]);
        put_f64(&to, file->low[i]);
    }
    put_counts(&to, points);
    if (file->extra_count)
        put_extra(&to, file);
}

void las_put_record(void *out, const int32_t position[3])
{
    struct cursor to = {out};

    memset(out, 0, LAS_RECORD_BYTES);
    put(&to, position, 3 * sizeof(*position));
    put_u16(&to, 0);   /* intensity */
    put_u8(&to, 0x11); /* return 1 of 1 */
}
