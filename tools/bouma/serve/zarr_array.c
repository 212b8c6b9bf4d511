/* zarr_array.c -- arrays and keys of Zarr. */
#include "zarr_array.h"

#include <stdio.h>
#include <string.h>

void zarr_add_axis(struct zarr_array *array, const char *name, int64_t shape,
                   int64_t chunk)
{
    int i = array->ndims++;

    array->names[i] = name;
    array->shape[i] = shape;
    array->chunk[i] = chunk;
}

/* ---- metadata ------------------------------------------------------------ */

static bool is_float(bouma_type type)
{
    return type == BOUMA_TYPE_F32 || type == BOUMA_TYPE_F64;
}

static bool is_unsigned(bouma_type type)
{
    return type == BOUMA_TYPE_U8 || type == BOUMA_TYPE_U16 ||
           type == BOUMA_TYPE_U32 || type == BOUMA_TYPE_U64;
}

static void put_fill(struct json_out *out, const struct zarr_array *array)
{
    json_out_key(out, "fill_value");
    if (!array->has_fill)
        json_out_null(out);
    else if (is_float(array->type))
        json_out_text(out, "NaN");
    else
        json_out_integer(out, 0);
}

void zarr_put_v2(struct json_out *out, const struct zarr_array *array)
{
    size_t bytes = bouma_type_size(array->type);
    char type[8];

    snprintf(type, sizeof(type), "%c%c%d", bytes == 1 ? '|' : '<',
             is_float(array->type)      ? 'f'
             : is_unsigned(array->type) ? 'u'
                                        : 'i',
             (int)bytes);
    json_out_open(out, '{');
    json_out_key(out, "zarr_format");
    json_out_integer(out, 2);
    json_out_key(out, "shape");
    json_out_integers(out, array->shape, array->ndims);
    json_out_key(out, "chunks");
    json_out_integers(out, array->chunk, array->ndims);
    json_out_key(out, "dtype");
    json_out_text(out, type);
    put_fill(out, array);
    json_out_key(out, "order");
    json_out_text(out, "C");
    json_out_key(out, "compressor");
    json_out_null(out);
    json_out_key(out, "filters");
    json_out_null(out);
    json_out_key(out, "dimension_separator");
    json_out_text(out, array->has_slash ? "/" : ".");
    json_out_close(out, '}');
}

/* {"name": ..., "configuration": {key: value}}: of integers or a text. */
static void put_named(struct json_out *out, const char *name, const char *key,
                      const struct zarr_array *chunks, const char *text)
{
    json_out_open(out, '{');
    json_out_key(out, "name");
    json_out_text(out, name);
    json_out_key(out, "configuration");
    json_out_open(out, '{');
    json_out_key(out, key);
    if (chunks)
        json_out_integers(out, chunks->chunk, chunks->ndims);
    else
        json_out_text(out, text);
    json_out_close(out, '}');
    json_out_close(out, '}');
}

void zarr_put_v3(struct json_out *out, const struct zarr_array *array)
{
    char type[12];

    snprintf(type, sizeof(type), "%s%d",
             is_float(array->type)      ? "float"
             : is_unsigned(array->type) ? "uint"
                                        : "int",
             (int)bouma_type_size(array->type) * 8);
    json_out_key(out, "zarr_format");
    json_out_integer(out, 3);
    json_out_key(out, "node_type");
    json_out_text(out, "array");
    json_out_key(out, "shape");
    json_out_integers(out, array->shape, array->ndims);
    json_out_key(out, "data_type");
    json_out_text(out, type);
    json_out_key(out, "chunk_grid");
    put_named(out, "regular", "chunk_shape", array, NULL);
    json_out_key(out, "chunk_key_encoding");
    put_named(out, "default", "separator", NULL, "/");
    put_fill(out, array);
    json_out_key(out, "codecs");
    json_out_open(out, '[');
    put_named(out, "bytes", "endian", NULL, "little");
    json_out_close(out, ']');
    json_out_key(out, "dimension_names");
    json_out_open(out, '[');
    for (int i = 0; i < array->ndims; i++)
        json_out_text(out, array->names[i]);
    json_out_close(out, ']');
}

/* ---- chunks -------------------------------------------------------------- */

/* A number as Zarr writes it, and what follows it; NULL if it is none. */
static const char *read_number(int64_t *out, const char *text)
{
    size_t length = strspn(text, "0123456789");

    if (length == 0 || length > 18 || (text[0] == '0' && length > 1))
        return NULL;
    *out = 0;
    for (size_t i = 0; i < length; i++)
        *out = 10 * *out + (text[i] - '0');
    return text + length;
}

static bool is_chunk(const struct zarr_array *array, int axis, int64_t index)
{
    int64_t chunk = array->chunk[axis];

    return index <
           array->shape[axis] / chunk + (array->shape[axis] % chunk > 0);
}

bool zarr_chunk_find(int64_t *out, const struct zarr_array *array,
                     const char *const *parts, size_t count)
{
    const char *text = count ? parts[0] : "";

    if (count != (array->has_slash ? (size_t)array->ndims : 1))
        return false;
    for (int i = 0; i < array->ndims; i++) {
        bool last = array->has_slash || i == array->ndims - 1;

        if (array->has_slash)
            text = parts[i];
        text = read_number(&out[i], text);
        if (!text || *text != (last ? '\0' : '.') ||
            !is_chunk(array, i, out[i]))
            return false;
        text++;
    }
    return true;
}

void zarr_chunk_shape(int64_t *out, const struct zarr_array *array,
                      const int64_t *chunk)
{
    for (int i = 0; i < array->ndims; i++) {
        int64_t left = array->shape[i] - chunk[i] * array->chunk[i];

        out[i] = left < array->chunk[i] ? left : array->chunk[i];
    }
}

uint64_t zarr_chunk_bytes(const struct zarr_array *array)
{
    uint64_t bytes = bouma_type_size(array->type);

    for (int i = 0; i < array->ndims; i++)
        bytes *= (uint64_t)array->chunk[i];
    return bytes;
}

void zarr_chunk_pad(void *to, const void *from, const struct zarr_array *array,
                    const int64_t *shape)
{
    size_t value = bouma_type_size(array->type), rows = 1;
    int last = array->ndims - 1;
    size_t row = (size_t)shape[last] * value;

    for (int i = 0; i < last; i++)
        rows *= (size_t)shape[i];
    for (size_t r = 0; r < rows; r++) {
        size_t rest = r, at = 0, stride = (size_t)array->chunk[last];

        for (int i = last - 1; i >= 0; i--) {
            at += rest % (size_t)shape[i] * stride;
            rest /= (size_t)shape[i];
            stride *= (size_t)array->chunk[i];
        }
        memcpy((char *)to + at * value, (const char *)from + r * row, row);
    }
}

void zarr_choose_chunk(int64_t *out, int ndims, const int64_t *shape,
                       const int64_t *patch, uint64_t bytes, uint64_t most)
{
    static const int64_t wanted[] = {1, 1 << 18, 512, 64};
    uint64_t total = bytes;

    for (int i = 0; i < ndims; i++) {
        int64_t along = patch[i] > 0 ? patch[i] : 1;
        int64_t times = wanted[ndims] / along;

        out[i] = along * (times > 0 ? times : 1);
        if (out[i] > shape[i])
            out[i] = shape[i] > 0 ? shape[i] : 1;
    }
    for (;;) {
        int longest = 0;

        total = bytes;
        for (int i = 0; i < ndims; i++) {
            longest = out[i] > out[longest] ? i : longest;
            total = total > most ? total : total * (uint64_t)out[i];
        }
        if (total <= most || out[longest] == 1)
            return;
        out[longest] = (out[longest] + 1) / 2;
    }
}
