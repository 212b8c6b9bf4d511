/* export_idx.c -- a grid as an IDX dataset, for OpenVisus, PIDX and VisIt.
 *
 * The splits of the mask divide the domain into regions of some million
 * samples. Each is read once; in every level, its samples have addresses that
 * follow one another, so they are copied to where they belong in the files, and
 * no memory is needed but for a region. The files are made in a directory with
 * a temporary name, which is renamed before the header is. */
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export_idx_plan.h"
#include "output.h"

enum { REGION_BITS = 21 };

static const uint64_t region_bytes = (uint64_t)64 << 20;

/* ---- samples ------------------------------------------------------------- */

/* A timestep that is being copied. */
struct copying {
    const struct export_request *request;
    const struct idx_write *idx;
    struct context *ctx;
    struct idx_write_files files;
    size_t step; /* index */
    int field;
    bouma_variable *variable;
    int depth;           /* of regions */
    uint8_t *data, *run; /* of a region, of a run in a block */
    size_t bytes;        /* of a region */
};

/* How many splits lead to a region. */
static int region_depth(const struct idx_write *idx)
{
    int bits = REGION_BITS;

    while (bits > 0 && idx_write_sample(idx) << bits > region_bytes)
        bits--;
    return idx->order.bits > bits ? idx->order.bits - bits : 0;
}

static struct idx_rows rows_of(const struct copying *copy, const bouma_box *box)
{
    size_t size = copy->idx->fields[copy->field].size;
    struct idx_rows rows = {.data = copy->data, .size = size};
    int64_t stride = (int64_t)size;

    for (int axis = 2; axis >= 0; axis--) {
        rows.stride[axis] = stride;
        stride *= box->hi[axis] - box->lo[axis];
    }
    return rows;
}

static int read_region(struct copying *copy, const bouma_box *box)
{
    int lifted = 3 - copy->idx->ndims, status;
    bouma_box part = {{0}, {0}};
    bouma_variable_info about = {.size = sizeof(about)};
    bouma_array array;

    for (int i = 0; i < copy->idx->ndims; i++) {
        part.lo[i] = box->lo[i + lifted];
        part.hi[i] = box->hi[i + lifted];
    }
    bouma_variable_info_get(&about, copy->variable);
    array = BOUMA_ARRAY(about.type, copy->data, copy->bytes);
    status = bouma_variable_read(copy->variable, 0, &part, &array);
    return status ? context_fail_status(copy->ctx, status,
                                        bouma_error_message(copy->request->ds))
                  : DONE;
}

/* Samples are little-endian in the files. */
static void to_little_endian(uint8_t *data, size_t value, uint64_t count)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        return;
    for (; count > 0; count--, data += value)
        for (size_t i = 0; i < value / 2; i++) {
            uint8_t swapped = data[i];

            data[i] = data[value - 1 - i];
            data[value - 1 - i] = swapped;
        }
}

static int copy_run(struct copying *copy, const struct idx_run *run,
                    const bouma_box *box, const struct idx_rows *rows)
{
    const struct idx_write_field *field = &copy->idx->fields[copy->field];

    if (!idx_order_pack(copy->run, &copy->idx->order, run, box, rows))
        return DONE;
    to_little_endian(copy->run, bouma_type_size(field->type),
                     (uint64_t)field->components << run->bits);
    return idx_write_run(&copy->files, copy->ctx, copy->field, run, copy->run);
}

static int copy_region(struct copying *copy, uint64_t prefix,
                       const bouma_box *box)
{
    const struct idx_order *order = &copy->idx->order;
    struct idx_rows rows = rows_of(copy, box);
    struct idx_run run = idx_order_corner(order, copy->depth, prefix);
    int rc = read_region(copy, box);

    if (!rc)
        rc = copy_run(copy, &run, box, &rows);
    for (int level = copy->depth + 1; !rc && level <= order->bits; level++) {
        /* No run is longer than a block. */
        int depth = level - 1 - order->block_bits, more;

        depth = depth > copy->depth ? depth : copy->depth;
        more = depth - copy->depth;
        for (uint64_t i = 0; !rc && i < (uint64_t)1 << more; i++) {
            run = idx_order_run(order, depth, prefix << more | i, level);
            rc = copy_run(copy, &run, box, &rows);
        }
    }
    return rc;
}

/* How many regions have samples. */
static uint64_t count_regions(const struct copying *copy)
{
    uint64_t count = 0;
    bouma_box box;

    for (uint64_t i = 0; i < (uint64_t)1 << copy->depth; i++)
        count += idx_order_region(&copy->idx->order, copy->depth, i,
                                  &copy->idx->domain, &box);
    return count;
}

/* The regions that fall to this process, of a variable. */
static int copy_variable(struct copying *copy)
{
    uint64_t size = (uint64_t)session_size(copy->ctx->session);
    uint64_t rank = (uint64_t)session_rank(copy->ctx->session);
    uint64_t all = count_regions(copy), at = 0;
    uint64_t first = all * rank / size, end = all * (rank + 1) / size;
    uint64_t done = (uint64_t)copy->step * (uint64_t)copy->idx->field_count +
                    (uint64_t)copy->field;
    uint64_t pieces = copy->idx->step_count * (uint64_t)copy->idx->field_count;
    int rc = DONE;
    bouma_box box;

    for (uint64_t i = 0; !rc && at < end && i < (uint64_t)1 << copy->depth;
         i++) {
        if (!idx_order_region(&copy->idx->order, copy->depth, i,
                              &copy->idx->domain, &box) ||
            at++ < first)
            continue;
        progress_bar_piece(copy->request->bar,
                           (int64_t)(done * (end - first) + at - 1 - first),
                           (int64_t)(pieces * (end - first)));
        rc = copy_region(copy, i, &box);
    }
    return rc;
}

/* Collective. */
static int copy_step(struct copying *copy, struct export_request *request,
                     const char *folder, bouma_variable **variables)
{
    struct context *ctx = copy->ctx;
    bouma_step *step = NULL;
    int rc = export_open_step(&step, variables, request, ctx, copy->step);

    rc = context_agree(ctx, rc);
    idx_write_begin(&copy->files, copy->idx, folder,
                    request->steps[copy->step]);
    for (copy->field = 0; !rc && copy->field < copy->idx->field_count;
         copy->field++) {
        copy->variable = variables[copy->field];
        rc = copy_variable(copy);
    }
    rc = context_agree(ctx, rc);
    if (!rc)
        rc = idx_write_finish(&copy->files, ctx);
    rc = context_agree(ctx, rc);
    idx_write_end(&copy->files);
    request->files += session_sum(ctx->session, copy->files.files);
    request->bytes += session_sum(ctx->session, copy->files.bytes);
    bouma_step_free(step);
    return rc;
}

/* Collective. */
static int copy_steps(struct export_request *request,
                      const struct idx_write *idx, struct context *ctx,
                      const char *folder)
{
    struct copying copy = {
        .request = request, .idx = idx, .ctx = ctx, .depth = region_depth(idx)};
    uint64_t size = idx_write_sample(idx);
    bouma_variable **variables =
        calloc((size_t)idx->field_count, sizeof(*variables));
    int rc = DONE;

    copy.bytes = size << (idx->order.bits - copy.depth);
    copy.data = malloc(copy.bytes);
    copy.run = malloc(size << idx->order.block_bits);
    if (!variables || !copy.data || !copy.run)
        rc = context_fail_memory(ctx);
    rc = context_agree(ctx, rc);
    for (copy.step = 0; !rc && copy.step < idx->step_count; copy.step++)
        rc = copy_step(&copy, request, folder, variables);
    free(copy.run);
    free(copy.data);
    free(variables);
    return rc;
}

/* ---- the directory ------------------------------------------------------- */

struct folder {
    char path[PATH_MAX], temporary[PATH_MAX];
    bool made, named; /* by this process */
};

static int make_folder(struct folder *out, struct context *ctx,
                       const char *target)
{
    size_t length = strlen(target) - strlen(export_format_idx.suffix);
    struct stat info;

    if (length + 32 > sizeof(out->path))
        return context_fail(ctx, CALL_AT_FAULT,
                            "the name of the output is too long");
    memcpy(out->path, target, length);
    out->path[length] = '\0';
    if (lstat(target, &info) == 0 || lstat(out->path, &info) == 0)
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s exists already; remove it, and %s, or choose "
                            "another name",
                            lstat(target, &info) == 0 ? target : out->path,
                            lstat(target, &info) == 0 ? out->path : target);
    snprintf(out->temporary, sizeof(out->temporary), "%.*s.%ld.part",
             (int)length, target, (long)getpid());
    if (mkdir(out->temporary, 0777))
        return context_fail_errno(ctx, "write", out->temporary);
    out->made = true;
    return DONE;
}

static int remove_entry(const char *path, const struct stat *info, int kind,
                        struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

/* Give the directory its name, or remove it. */
static int end_folder(struct folder *folder, struct context *ctx, int rc)
{
    if (folder->made && !rc && !folder->named) {
        folder->named = rename(folder->temporary, folder->path) == 0;
        if (!folder->named)
            rc = context_fail_errno(ctx, "write", folder->path);
    }
    if (folder->made && rc)
        nftw(folder->named ? folder->path : folder->temporary, remove_entry, 16,
             FTW_DEPTH | FTW_PHYS);
    return rc;
}

static int write_header(struct output *header, const struct idx_write *idx,
                        struct context *ctx)
{
    size_t bytes = 0;
    char *text;
    int rc;

    if (session_rank(ctx->session) > 0)
        return DONE;
    text = idx_write_header(idx, &bytes);
    rc = text ? output_write(header, ctx, text, bytes, 0)
              : context_fail_memory(ctx);
    free(text);
    return rc;
}

/* Collective. */
static int write_all(struct export_request *request,
                     const struct idx_write *idx, struct context *ctx,
                     struct folder *folder)
{
    struct output header;
    int rc = DONE;

    if (session_rank(ctx->session) == 0)
        rc = make_folder(folder, ctx, request->target);
    rc = context_agree(ctx, rc);
    if (rc)
        return rc;
    session_broadcast(ctx->session, folder->temporary,
                      sizeof(folder->temporary));
    rc = copy_steps(request, idx, ctx, folder->temporary);
    if (rc)
        return rc;
    rc = output_create(&header, ctx, request->target);
    if (!rc)
        rc = write_header(&header, idx, ctx);
    if (!rc)
        rc = end_folder(folder, ctx, rc);
    return output_finish(&header, ctx, rc);
}

static int run(struct export_request *request, struct context *ctx)
{
    struct idx_write idx = {.codec = IDX_WRITE_RAW};
    struct folder *folder = calloc(1, sizeof(*folder));
    int rc =
        folder ? export_idx_plan(&idx, ctx, request) : context_fail_memory(ctx);

    rc = context_agree(ctx, rc);
    if (!rc) {
        rc = write_all(request, &idx, ctx, folder);
        if (rc)
            end_folder(folder, ctx, rc);
    }
    export_idx_release(&idx);
    free(folder);
    return rc;
}

const struct export_format export_format_idx = {
    .name = "idx", .suffix = ".idx", .run = run};
