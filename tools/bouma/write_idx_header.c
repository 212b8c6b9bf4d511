/* write_idx_header.c -- the header of an IDX dataset, and the names of its
 * files: see layout/idx_text.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "write_idx.h"

void idx_write_name(char *out, size_t bytes, const struct idx_write *idx,
                    int64_t step, uint64_t first)
{
    char time[BM_IDX_TIME_BYTES], file[BM_IDX_FILE_BYTES];

    bm_idx_time_name(time, step);
    bm_idx_file_name(file, idx->order.bits - idx->order.block_bits, first);
    snprintf(out, bytes, "%s/%s", time, file);
}

/* Parameters of zfp stand twice: to write, and to read. They are told without
 * an exponent, whose sign would end them. */
enum { CODEC_BYTES = 512 };

static const char *codec_name(char out[CODEC_BYTES],
                              const struct idx_write *idx)
{
    char number[CODEC_BYTES / 4], *end;

    if (idx->codec != IDX_WRITE_ZFP)
        return idx->codec == IDX_WRITE_ZIP   ? "zip"
               : idx->codec == IDX_WRITE_LZ4 ? "lz4"
                                             : "raw";
    if (idx->accuracy <= 0)
        return "zfp-reversible-reversible";
    end = number + snprintf(number, sizeof(number), "%.*f", IDX_ZFP_DIGITS,
                            idx->accuracy);
    while (end[-1] == '0' && end[-2] != '.')
        *--end = '\0';
    snprintf(out, CODEC_BYTES, "zfp-accuracy=%s-accuracy=%s", number, number);
    return out;
}

/* The header behind what is in 'out', which may fail. */
static void put_header(struct bm_buffer *out, const struct idx_write *idx,
                       struct bm_idx_field *fields)
{
    char codec[CODEC_BYTES];
    struct bm_idx_text text = {
        .name = idx->stem,
        .ndims = idx->ndims,
        .placed = idx->placed,
        .bits = idx->order.bits,
        .axis = idx->order.axis,
        .block_bits = idx->order.block_bits,
        .blocks_per_file = idx->per_file,
        .fields = fields,
        .field_count = idx->field_count,
        .codec = codec_name(codec, idx),
        .row_major = idx->codec == IDX_WRITE_ZFP,
        .steps = idx->steps,
        .step_count = idx->step_count,
    };

    memcpy(text.shape, idx->domain.hi, sizeof(text.shape));
    memcpy(text.origin, idx->origin, sizeof(text.origin));
    memcpy(text.spacing, idx->spacing, sizeof(text.spacing));
    for (int i = 0; i < idx->field_count; i++)
        fields[i] =
            (struct bm_idx_field){idx->fields[i].name, idx->fields[i].type,
                                  idx->fields[i].components};
    bm_idx_put_header(out, &text);
}

char *idx_write_header(const struct idx_write *idx, size_t *bytes)
{
    struct bm_idx_field *fields =
        calloc((size_t)idx->field_count, sizeof(*fields));
    struct bm_buffer out;
    char *text = NULL;

    bm_buffer_init(&out, bm_allocator_default());
    if (fields)
        put_header(&out, idx, fields);
    if (fields && !out.failed)
        text = malloc(out.size);
    if (text)
        memcpy(text, out.data, out.size);
    *bytes = out.size;
    bm_buffer_release(&out);
    free(fields);
    return text;
}
