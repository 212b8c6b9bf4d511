/* source.c -- a file of samples to import: .raw or .npy. */
#include "source.h"

#include <string.h>

#include "file_kind.h"
#include "format_text.h"
#include "npy.h"

/* ---- shape and strides --------------------------------------------------- */

/* The strides of a dense array, the last axis and then its components fastest,
 * or the first axis fastest and the components slowest of all. */
static void set_strides(struct source *source, bool fortran)
{
    int64_t item = (int64_t)bouma_type_size(source->type);
    int last = source->ndims - 1;
    int64_t *stride = source->memory.stride;

    if (fortran) {
        stride[0] = item;
        for (int i = 1; i <= last; i++)
            stride[i] = stride[i - 1] * source->shape[i - 1];
        source->memory.component_stride = stride[last] * source->shape[last];
        source->slow_axis = last;
    } else {
        source->memory.component_stride = item;
        stride[last] = item * source->components;
        for (int i = last; i > 0; i--)
            stride[i - 1] = stride[i] * source->shape[i];
        source->slow_axis = 0;
    }
}

/* Bytes of all samples, or 0 if that is more than any file has. */
static uint64_t total_bytes(const struct source *source)
{
    uint64_t bytes = bouma_type_size(source->type);

    bytes *= (uint64_t)source->components;
    for (int i = 0; i < source->ndims; i++) {
        uint64_t extent = (uint64_t)source->shape[i];

        if (bytes > (uint64_t)INT64_MAX / extent)
            return 0;
        bytes *= extent;
    }
    return bytes;
}

static int open_raw(struct source *source, struct context *ctx,
                    const struct source_wish *wish)
{
    char shape[FORMAT_BYTES];
    uint64_t expected;

    if (!wish->ndims || !wish->type)
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s: a file of plain values says nothing about "
                            "itself; add %s",
                            source->path,
                            wish->ndims  ? "--type, such as --type f32"
                            : wish->type ? "--shape NZ,NY,NX"
                                         : "--shape NZ,NY,NX and --type f32");
    source->type = wish->type;
    source->ndims = wish->ndims;
    source->components = wish->components ? wish->components : 1;
    memcpy(source->shape, wish->shape, sizeof(source->shape));
    expected = total_bytes(source);
    if (expected == 0)
        return context_fail(ctx, DATA_AT_FAULT,
                            "%s: the --shape is larger than any file",
                            source->path);
    if (expected != source->file.size)
        return context_fail(
            ctx, DATA_AT_FAULT,
            "%s: expected %llu bytes for %s samples of %d %s, found %llu; "
            "check --shape, --type and --components",
            source->path, (unsigned long long)expected,
            format_shape(shape, source->ndims, source->shape),
            source->components, bouma_type_name(source->type),
            (unsigned long long)source->file.size);
    set_strides(source, false);
    source->data = source->file.bytes;
    return DONE;
}

/* Split the axes of a .npy file into those of the grid and the components. */
static int split_axes(struct source *source, struct context *ctx,
                      const struct npy_header *header, int components)
{
    source->ndims = header->ndims - (components ? 1 : 0);
    source->components = components ? components : 1;
    if (source->ndims > BOUMA_MAX_DIMS)
        return context_fail(
            ctx, CALL_AT_FAULT,
            "%s: has %d axes, and a grid has at most %d; if the last one is "
            "for the components of a sample, add --components %lld",
            source->path, header->ndims, BOUMA_MAX_DIMS,
            (long long)header->shape[header->ndims - 1]);
    if (source->ndims < 1)
        return context_fail(ctx, CALL_AT_FAULT, "%s: has no axes%s",
                            source->path,
                            components ? " but that of --components" : "");
    if (components && header->shape[source->ndims] != components)
        return context_fail(
            ctx, CALL_AT_FAULT,
            "%s: --components %d, but its last axis has %lld values",
            source->path, components, (long long)header->shape[source->ndims]);
    for (int i = 0; i < source->ndims; i++)
        source->shape[i] = header->shape[i];
    return DONE;
}

/* Options that repeat what the file says must agree with it. */
static int compare_wish(const struct source *source, struct context *ctx,
                        const struct source_wish *wish)
{
    char theirs[FORMAT_BYTES];

    if (wish->type && wish->type != source->type)
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s: --type %s, but the file has %s; leave --type "
                            "out",
                            source->path, bouma_type_name(wish->type),
                            bouma_type_name(source->type));
    if (wish->ndims &&
        (wish->ndims != source->ndims ||
         memcmp(wish->shape, source->shape,
                (size_t)wish->ndims * sizeof(wish->shape[0])) != 0))
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s: the file has %s samples; leave --shape out",
                            source->path,
                            format_shape(theirs, source->ndims, source->shape));
    return DONE;
}

static int open_npy(struct source *source, struct context *ctx,
                    const struct source_wish *wish)
{
    struct npy_header header;
    char message[256];
    uint64_t found;
    int rc;

    if (!npy_parse(&header, source->file.bytes, source->file.size, message,
                   sizeof(message)))
        return context_fail(ctx, DATA_AT_FAULT, "%s: %s", source->path,
                            message);
    found = source->file.size - header.data_offset;
    if (header.data_bytes == 0)
        return context_fail(ctx, DATA_AT_FAULT, "%s: the array is empty",
                            source->path);
    source->type = header.type;
    source->swapped = header.swapped;
    rc = split_axes(source, ctx, &header, wish->components);
    if (!rc)
        rc = compare_wish(source, ctx, wish);
    if (rc)
        return rc;
    if (header.data_bytes != found)
        return context_fail(
            ctx, DATA_AT_FAULT,
            "%s: expected %llu bytes of values, found %llu; %s", source->path,
            (unsigned long long)header.data_bytes, (unsigned long long)found,
            header.data_bytes < found ? NPY_SURPLUS : "the file is cut off");
    set_strides(source, header.fortran);
    source->data = (unsigned char *)source->file.bytes + header.data_offset;
    return DONE;
}

int source_open(struct source *out, struct context *ctx, const char *path,
                const struct source_wish *wish)
{
    enum file_kind kind = file_kind_of(path);
    int rc;

    *out = (struct source){.path = path};
    if (kind == FILE_UNKNOWN)
        return context_fail(ctx, CALL_AT_FAULT,
                            "cannot tell what %s is; grids come from .npy and "
                            ".raw files, particles (with --particles NAME) "
                            "also from .npz, .csv and LAMMPS dumps",
                            path);
    rc = mapped_file_open(&out->file, ctx, path);
    if (rc)
        return rc;
    return kind == FILE_NPY ? open_npy(out, ctx, wish)
                            : open_raw(out, ctx, wish);
}

void source_close(struct source *source)
{
    mapped_file_close(&source->file);
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

const void *source_layers(struct source *source, int64_t lo, int64_t hi,
                          bouma_box *box)
{
    int axis = source->slow_axis;
    int64_t stride = source->memory.stride[axis];
    unsigned char *first = source->data + lo * stride;
    bool apart = source->memory.component_stride > stride;
    int runs = apart ? source->components : 1;

    *box = (bouma_box){0};
    for (int i = 0; i < source->ndims; i++)
        box->hi[i] = source->shape[i];
    box->lo[axis] = lo;
    box->hi[axis] = hi;
    for (int run = 0; source->swapped && run < runs; run++)
        swap_values(first + run * source->memory.component_stride,
                    (hi - lo) * stride, bouma_type_size(source->type));
    return first;
}
