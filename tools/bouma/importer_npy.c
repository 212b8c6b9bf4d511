/* importer_npy.c -- NumPy's .npy files: samples of a grid, or a column of
 * particles (several, if it has records). */
#include <string.h>

#include "axes.h"
#include "format_text.h"
#include "importer.h"
#include "npy.h"
#include "npy_columns.h"

/* ---- grids --------------------------------------------------------------- */

/* Split the axes of a .npy file into those of the grid and the components. */
static int split_axes(struct source *source, struct context *ctx,
                      const struct npy_header *header, int components)
{
    source->ndims = header->ndims - (components ? 1 : 0);
    source->components = components ? components : 1;
    if (source->ndims > MAX_AXES)
        return context_fail(
            ctx, CALL_AT_FAULT,
            "%s: has %d axes, and a grid has at most %d; if the last one is "
            "for the components of a sample, add --components %lld",
            source->path, header->ndims, MAX_AXES,
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
static int compare_request(const struct source *source, struct context *ctx,
                           const struct source_request *request)
{
    char theirs[FORMAT_BYTES];

    if (request->type && request->type != source->type)
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s: --type %s, but the file has %s; leave --type "
                            "out",
                            source->path, bouma_type_name(request->type),
                            bouma_type_name(source->type));
    if (request->ndims &&
        (request->ndims != source->ndims ||
         memcmp(request->shape, source->shape,
                (size_t)request->ndims * sizeof(request->shape[0])) != 0))
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s: the file has %s samples; leave --shape out",
                            source->path,
                            format_shape(theirs, source->ndims, source->shape));
    return DONE;
}

static int open_npy(struct source *source, struct context *ctx,
                    const struct source_request *request)
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
    rc = split_axes(source, ctx, &header, request->components);
    if (!rc)
        rc = compare_request(source, ctx, request);
    if (rc)
        return rc;
    if (header.data_bytes != found)
        return context_fail(
            ctx, DATA_AT_FAULT,
            "%s: expected %llu bytes of values, found %llu; %s", source->path,
            (unsigned long long)header.data_bytes, (unsigned long long)found,
            header.data_bytes < found ? NPY_SURPLUS : "the file is cut off");
    source_set_strides(source, header.fortran);
    source->data = (unsigned char *)source->file.bytes + header.data_offset;
    return DONE;
}

/* ---- particles ----------------------------------------------------------- */

static int open_columns(struct particles_source *source, struct context *ctx)
{
    const char *slash = strrchr(source->file.path, '/');
    const char *stem = slash ? slash + 1 : source->file.path;
    struct npy_array array = {.name = stem,
                              .name_length = strlen(stem) - strlen(".npy"),
                              .bytes = source->file.bytes,
                              .count = source->file.size,
                              .total = source->file.size};
    struct table_message message = {""};

    return npy_columns_add(&source->table, &array, &message)
               ? DONE
               : particles_source_refuse(source, ctx, &message);
}

const struct importer import_npy = {
    .name = ".npy",
    .suffixes = ".npy",
    .grids = "a NumPy array of 1 to 3 axes, in C or Fortran order",
    .particles = "a NumPy array: a column, or several if it has records",
    .open_grid = open_npy,
    .open = open_columns,
    .load = particles_source_load_plain};
