/* importer_raw.c -- files of plain values, in the byte order of this machine:
 * samples of a grid, or a column of particles. The caller says what they are.
 */
#include <stdio.h>
#include <string.h>

#include "choice_names.h"
#include "format_text.h"
#include "importer.h"
#include "numbers.h"

/* ---- grids --------------------------------------------------------------- */

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
                    const struct source_request *request)
{
    char shape[FORMAT_BYTES];
    uint64_t expected;

    if (!request->ndims || !request->type)
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s: a file of plain values says nothing about "
                            "itself; add %s",
                            source->path,
                            request->ndims ? "--type, such as --type f32"
                            : request->type
                                ? "--shape NZ,NY,NX"
                                : "--shape NZ,NY,NX and --type f32");
    source->type = request->type;
    source->ndims = request->ndims;
    source->components = request->components ? request->components : 1;
    memcpy(source->shape, request->shape, sizeof(source->shape));
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
    source_set_strides(source, false);
    source->data = source->file.bytes;
    return DONE;
}

/* ---- particles ----------------------------------------------------------- */

static int refuse_columns(struct particles_source *source, struct context *ctx)
{
    return context_fail(ctx, CALL_AT_FAULT,
                        "%s: a file of plain values says nothing about itself; "
                        "write it as --column NAME:TYPE=%s",
                        source->file.path, source->file.path);
}

const struct importer import_raw = {
    .name = ".raw",
    .suffixes = ".raw",
    .grids = "plain values in C order, in the byte order of this machine; "
             "needs --shape and --type",
    .open_grid = open_raw,
    .open = refuse_columns};

const struct importer import_column = {.name = "column",
                                       .load = particles_source_load_plain};

/* The parts of "NAME:TYPE[:COMPONENTS]=FILE"; false if it is not of that form.
 * The name may have colons in it. */
static bool parse_column(const char *text, struct table_column *out,
                         const char **path)
{
    const char *equals = strchr(text, '='), *colon;
    char parts[TABLE_NAME + 64];
    int64_t components = 1;

    if (!equals || !equals[1] || (size_t)(equals - text) >= sizeof(parts))
        return false;
    *path = equals + 1;
    memcpy(parts, text, (size_t)(equals - text));
    parts[equals - text] = '\0';
    colon = strrchr(parts, ':');
    if (colon && parse_integer(colon + 1, &components)) {
        parts[colon - parts] = '\0';
        colon = strrchr(parts, ':');
    }
    if (!colon || colon == parts || components < 1 || components > INT16_MAX ||
        (size_t)(colon - parts) >= TABLE_NAME)
        return false;
    out->type = bouma_type_parse(colon + 1);
    out->components = (int)components;
    memcpy(out->name, parts, (size_t)(colon - parts));
    out->name[colon - parts] = '\0';
    return out->type && out->type != BOUMA_TYPE_STRING;
}

int particles_source_open_column(struct particles_source *out,
                                 struct context *ctx, const char *text)
{
    struct table_column request = {.components = 1}, *column;
    struct table_message message;
    const char *path;
    size_t item;
    int rc;

    *out = (struct particles_source){.importer = &import_column};
    if (!parse_column(text, &request, &path))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--column %s: write it as NAME:TYPE=FILE or "
                            "NAME:TYPE:COMPONENTS=FILE; types are %s",
                            text, TYPE_NAMES);
    rc = mapped_file_open(&out->file, ctx, path);
    if (rc)
        return rc;
    item = bouma_type_size(request.type) * (size_t)request.components;
    if (out->file.size % item != 0)
        return context_fail(ctx, DATA_AT_FAULT,
                            "%s: has %zu bytes, which is not a multiple of the "
                            "%zu bytes of a particle",
                            path, out->file.size, item);
    column =
        table_add(&out->table, request.name, strlen(request.name), &message);
    if (!column)
        return particles_source_refuse(out, ctx, &message);
    column->type = request.type;
    column->components = request.components;
    column->rows = out->file.size / item;
    column->stride = (int64_t)item;
    column->component_stride = (int64_t)bouma_type_size(request.type);
    return DONE;
}
