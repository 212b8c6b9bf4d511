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

static const char *codec_name(enum idx_write_codec codec)
{
    return codec == IDX_WRITE_ZIP   ? "zip"
           : codec == IDX_WRITE_LZ4 ? "lz4"
                                    : "raw";
}

/* The header behind what is in 'out', which may fail. */
static void put_header(struct bm_buffer *out, const struct idx_write *idx,
                       struct bm_idx_field *fields)
{
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
        .codec = codec_name(idx->codec),
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
