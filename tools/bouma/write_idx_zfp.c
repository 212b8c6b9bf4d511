/* write_idx_zfp.c -- blocks of an IDX dataset compressed by zfp, for which their
 * samples are put into rows. What comes back is looked at: a block that zfp does
 * not keep within the tolerance, such as one with NaN, is stored as it is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zfp.h>

#include "write_idx_codec.h"

/* ---- rows ---------------------------------------------------------------- */

/* Where samples go, by their address in the block. */
struct rows {
    uint32_t *of_z; /* [1 << bits], by Z order */
    int bits;
    bool hierarchical; /* block 0 has levels; the others are in Z order */
};

static bool rows_init(struct rows *rows, const struct idx_order *order,
                      uint64_t block, const struct idx_lattice *lattice)
{
    uint32_t step[3] = {(uint32_t)1 << (lattice->count[1] + lattice->count[2]),
                        (uint32_t)1 << lattice->count[2], 1};
    uint32_t weight[32];

    rows->bits = order->block_bits;
    rows->hierarchical = block == 0;
    rows->of_z = malloc(sizeof(*rows->of_z) << rows->bits);
    if (!rows->of_z)
        return false;
    for (int i = 0; i < rows->bits; i++) { /* the finest split first */
        int axis = order->axis[lattice->inner + rows->bits - 1 - i];

        weight[i] = step[axis];
        step[axis] *= 2;
    }
    rows->of_z[0] = 0;
    for (uint32_t z = 1; z < (uint32_t)1 << rows->bits; z++)
        rows->of_z[z] = rows->of_z[z & (z - 1)] + weight[__builtin_ctz(z)];
    return true;
}

static uint32_t row_of(const struct rows *rows, uint32_t h)
{
    int level = h ? 32 - __builtin_clz(h) : 0;

    if (!rows->hierarchical || !h)
        return rows->of_z[h];
    return rows->of_z[(2 * h + 1) << (rows->bits - level) &
                      (((uint32_t)1 << rows->bits) - 1)];
}

static void into_rows(uint8_t *out, const uint8_t *in, const struct rows *rows,
                      size_t size)
{
    for (uint32_t h = 0; h < (uint32_t)1 << rows->bits; h++)
        memcpy(out + row_of(rows, h) * size, in + h * size, size);
}

/* ---- zfp ----------------------------------------------------------------- */

bool idx_zfp_takes(bouma_type type, int components, bool exact)
{
    bool real = type == BOUMA_TYPE_F32 || type == BOUMA_TYPE_F64;

    return components == 1 && (real || (exact && (type == BOUMA_TYPE_I32 ||
                                                  type == BOUMA_TYPE_I64)));
}

static zfp_type zfp_type_of(bouma_type type)
{
    return type == BOUMA_TYPE_F32   ? zfp_type_float
           : type == BOUMA_TYPE_F64 ? zfp_type_double
           : type == BOUMA_TYPE_I32 ? zfp_type_int32
                                    : zfp_type_int64;
}

/* Compress 'samples' into 'bits', or the other way round; returns the bytes. */
static size_t run_zfp(const struct idx_write *idx, zfp_field *samples,
                      bitstream *bits, bool compress)
{
    zfp_stream *stream = zfp_stream_open(bits);
    size_t bytes;

    if (!stream)
        return 0;
    if (idx->accuracy > 0)
        zfp_stream_set_accuracy(stream, idx->accuracy);
    else
        zfp_stream_set_reversible(stream);
    zfp_stream_rewind(stream);
    bytes = compress ? zfp_compress(stream, samples)
                     : zfp_decompress(stream, samples);
    zfp_stream_close(stream);
    return bytes;
}

static double value_at(const void *data, bouma_type type, size_t i)
{
    return type == BOUMA_TYPE_F32 ? (double)((const float *)data)[i]
                                  : ((const double *)data)[i];
}

static bool is_near(const void *back, const void *rows,
                    const struct idx_write *idx,
                    const struct idx_write_field *f)
{
    size_t count = (size_t)1 << idx->order.block_bits;

    if (idx->accuracy <= 0)
        return memcmp(back, rows, count * f->size) == 0;
    for (size_t i = 0; i < count; i++) {
        double error = value_at(back, f->type, i) - value_at(rows, f->type, i);

        if (!(fabs(error) <= idx->tolerance))
            return false;
    }
    return true;
}

static zfp_field *field_of(void *data, const struct idx_write *idx,
                           const struct idx_lattice *of, bouma_type type)
{
    size_t n[3] = {(size_t)1 << of->count[0], (size_t)1 << of->count[1],
                   (size_t)1 << of->count[2]};
    zfp_type kind = zfp_type_of(type);

    return idx->ndims == 2 ? zfp_field_2d(data, kind, n[2], n[1])
                           : zfp_field_3d(data, kind, n[2], n[1], n[0]);
}

/* A block: its samples, and those that zfp gives back. */
struct block_rows {
    uint8_t *rows, *back;
    size_t bytes; /* of each */
    const struct idx_lattice *lattice;
};

/* With all memory there. */
static size_t compress_rows(uint8_t *out, const struct block_rows *b,
                            const struct idx_write *idx, int field)
{
    const struct idx_write_field *f = &idx->fields[field];
    zfp_field *from = field_of(b->rows, idx, b->lattice, f->type);
    zfp_field *to = field_of(b->back, idx, b->lattice, f->type);
    size_t bytes = 0, room = 0;
    bitstream *bits = NULL;
    void *stored = NULL;
    zfp_stream *stream = zfp_stream_open(NULL);

    if (stream && from && to) {
        zfp_stream_set_reversible(stream); /* which needs the most */
        room = zfp_stream_maximum_size(stream, from);
        stored = calloc(1, room);
    }
    if (stored)
        bits = stream_open(stored, room);
    if (bits)
        bytes = run_zfp(idx, from, bits, true);
    if (bytes && (bytes >= b->bytes || !run_zfp(idx, to, bits, false) ||
                  !is_near(b->back, b->rows, idx, f)))
        bytes = 0;
    if (bytes)
        memcpy(out, stored, bytes);
    if (bits)
        stream_close(bits);
    if (stream)
        zfp_stream_close(stream);
    free(stored);
    zfp_field_free(from);
    zfp_field_free(to);
    return bytes;
}

size_t idx_compress_zfp(void *out, const void *in, const struct idx_write *idx,
                        int field, uint64_t block)
{
    struct idx_lattice lattice = idx_order_lattice(&idx->order, block);
    size_t size = idx->fields[field].size;
    size_t bytes = size << idx->order.block_bits, got = 0;
    struct block_rows b = {malloc(bytes), malloc(bytes), bytes, &lattice};
    struct rows to;

    if (b.rows && b.back && rows_init(&to, &idx->order, block, &lattice)) {
        into_rows(b.rows, in, &to, size);
        free(to.of_z);
        got = compress_rows(out, &b, idx, field);
    }
    free(b.rows);
    free(b.back);
    return got;
}
