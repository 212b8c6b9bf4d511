/* source.c -- a file of samples to import: see importer.h. */
#include "source.h"

#include <string.h>

#include "division.h"
#include "importer.h"

/* ---- shape and strides --------------------------------------------------- */

void source_set_strides(struct source *source, bool fortran)
{
    int64_t item = (int64_t)bouma_type_size(source->type);
    int last = source->ndims - 1;
    int64_t *stride = source->stride;

    if (fortran) {
        stride[0] = item;
        for (int i = 1; i <= last; i++)
            stride[i] = stride[i - 1] * source->shape[i - 1];
        source->component_stride = stride[last] * source->shape[last];
        source->slow_axis = last;
    } else {
        source->component_stride = item;
        stride[last] = item * source->components;
        for (int i = last; i > 0; i--)
            stride[i - 1] = stride[i] * source->shape[i];
        source->slow_axis = 0;
    }
}

int source_open(struct source *out, struct context *ctx, const char *path,
                const struct source_request *request)
{
    const struct importer *importer;
    int rc;

    *out = (struct source){.path = path};
    rc = importer_find_grid(&importer, ctx, path);
    if (!rc)
        rc = mapped_file_open(&out->file, ctx, path);
    if (!rc)
        rc = importer->open_grid(out, ctx, request);
    if (!rc && out->swapped) /* the layers of this process */
        out->held = out->file.size / (uint64_t)session_size(ctx->session);
    return rc;
}

void source_close(struct source *source)
{
    mapped_file_close(&source->file);
}

void source_part(const struct source *source, const struct context *ctx,
                 int64_t *first, int64_t *last)
{
    divide_evenly(source->shape[source->slow_axis], session_size(ctx->session),
                  session_rank(ctx->session), first, last);
}

/* ---- samples ------------------------------------------------------------- */

static void swap_values(unsigned char *data, int64_t bytes, size_t size)
{
    for (int64_t i = 0; i < bytes; i += (int64_t)size)
        for (size_t lo = 0, hi = size - 1; lo < hi; lo++, hi--) {
            unsigned char kept = data[i + (int64_t)lo];

            data[i + (int64_t)lo] = data[i + (int64_t)hi];
            data[i + (int64_t)hi] = kept;
        }
}

/* From the first to the last byte of so many layers. */
static size_t source_bytes(const struct source *source, int64_t layers)
{
    int64_t layer = source->stride[source->slow_axis];
    int64_t bytes = layers * layer;

    if (source->component_stride > layer)
        bytes += (source->components - 1) * source->component_stride;
    return (size_t)bytes;
}

bouma_array source_layers(struct source *source, int64_t lo, int64_t hi,
                          bouma_box *box)
{
    int axis = source->slow_axis;
    int64_t stride = source->stride[axis];
    unsigned char *first = source->data + (lo - source->from) * stride;
    bool apart = source->component_stride > stride;
    int runs = apart ? source->components : 1;
    bouma_array array = {.size = sizeof(array),
                         .type = source->type,
                         .data = first,
                         .bytes = source_bytes(source, hi - lo),
                         .component_stride = source->component_stride};

    memcpy(array.stride, source->stride, sizeof(array.stride));
    *box = (bouma_box){0};
    for (int i = 0; i < source->ndims; i++)
        box->hi[i] = source->shape[i];
    box->lo[axis] = lo;
    box->hi[axis] = hi;
    for (int run = 0; source->swapped && run < runs; run++)
        swap_values(first + run * source->component_stride, (hi - lo) * stride,
                    bouma_type_size(source->type));
    return array;
}
