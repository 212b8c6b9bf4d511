/* export_idx.c -- a grid as an IDX dataset, for OpenVisus, PIDX and VisIt.
 *
 * The splits of the mask divide the domain into regions of some million
 * samples. Each is read once; in every level, its samples have addresses that
 * follow one another, so they are copied to where they belong in the files, and
 * no memory is needed but for a region. The files are made in a directory with
 * a temporary name, which is renamed before the header is. */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export_format.h"
#include "output.h"
#include "write_idx.h"
#include "write_idx_codec.h"

enum {
    REGION_BITS = 21,
    BLOCK_BITS = 15,
    PER_FILE = 512,
    MOST_PER_FILE = 65536
};

static const uint64_t region_bytes = (uint64_t)64 << 20;
static const uint64_t block_limit = (uint64_t)1 << 31;
static const uint64_t file_limit = (uint64_t)1 << 32; /* offsets of PIDX */

/* ---- the mask ------------------------------------------------------------ */

static int bit_length(uint64_t n)
{
    return n ? 64 - __builtin_clzll(n) : 0;
}

/* PIDX's rule: the longest axis first, of equal ones z, y, x. Every axis is
 * split at least once, so that the mask tells how many there are. */
static int choose_mask(struct idx_write *idx, struct context *ctx)
{
    int left[3] = {0}, bits = 0, most;

    for (int axis = 3 - idx->ndims; axis < 3; axis++) {
        left[axis] = bit_length((uint64_t)idx->domain.hi[axis] - 1);
        left[axis] = left[axis] ? left[axis] : 1;
        bits += left[axis];
    }
    if (bits > IDX_BITS)
        return context_fail(ctx, DATA_AT_FAULT,
                            "the grid is too large: its mask has %d splits, "
                            "and at most %d are possible",
                            bits, IDX_BITS);
    for (int i = 0; i < bits; i++) {
        most = 0;
        for (int axis = 1; axis < 3; axis++)
            most = left[axis] > left[most] ? axis : most;
        idx->order.axis[i] = (uint8_t)most;
        left[most]--;
    }
    idx->order.bits = bits;
    return DONE;
}

/* That of the grid's layout, if it has one with all axes. */
static bool take_template(struct idx_write *idx, const char *text)
{
    static const char axes[] = "zyx";
    int seen[3] = {0}, count = 0;

    for (; text[count]; count++) {
        const char *letter = strchr(axes, text[count]);

        if (!letter || count == IDX_BITS)
            return false;
        idx->order.axis[count] = (uint8_t)(letter - axes);
        seen[idx->order.axis[count]]++;
    }
    for (int axis = 3 - idx->ndims; axis < 3; axis++)
        if (!seen[axis])
            return false;
    idx->order.bits = count;
    return true;
}

/* ---- the request --------------------------------------------------------- */

/* Names are words in the header; what cannot be in one becomes "_". */
static int name_field(struct idx_write *idx, struct context *ctx, int i)
{
    char *name = idx->fields[i].name;
    bool changed = false;

    for (char *at = name; *at; at++)
        if ((unsigned char)*at <= ' ' || strchr("+*()[]#", *at)) {
            *at = '_';
            changed = true;
        }
    if (strlen(name) > 256)
        return context_fail(ctx, CALL_AT_FAULT,
                            "the name of variable '%.40s...' is too long",
                            name);
    for (int k = 0; k < i; k++)
        if (strcmp(idx->fields[k].name, name) == 0)
            return context_fail(ctx, CALL_AT_FAULT,
                                "two variables would have the name '%s'; "
                                "export them by calls of their own",
                                name);
    if (changed)
        context_note(ctx, "a variable has the name '%s' there", name);
    return DONE;
}

static int take_fields(struct idx_write *idx, struct context *ctx,
                       const struct export_request *request)
{
    int rc = DONE;

    idx->fields = calloc((size_t)request->variable_count, sizeof(*idx->fields));
    if (!idx->fields)
        return context_fail_memory(ctx);
    for (int i = 0; !rc && i < request->variable_count; i++) {
        const struct exported_variable *from = &request->variables[i];

        idx->fields[i] = (struct idx_write_field){
            .name = strdup(from->name),
            .type = from->type,
            .components = from->components,
            .size = bouma_type_size(from->type) * (size_t)from->components};
        idx->field_count++;
        rc = idx->fields[i].name ? name_field(idx, ctx, i)
                                 : context_fail_memory(ctx);
    }
    return rc;
}

static int take_grid(struct idx_write *idx, struct context *ctx,
                     const struct export_request *request)
{
    const bouma_grid_info *grid = &request->grid;
    int lifted = 3 - grid->ndims;

    if (grid->ndims < 2)
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s has one axis, and IDX has 2 or 3; write it "
                            "with: %s read DS %s/VAR -o OUT.npy",
                            request->grid_name, session_program(),
                            request->grid_name);
    idx->ndims = grid->ndims;
    idx->placed = true;
    for (int axis = 0; axis < lifted; axis++)
        idx->domain.hi[axis] = 1;
    for (int i = 0; i < grid->ndims; i++) {
        idx->domain.hi[i + lifted] = grid->shape[i];
        idx->origin[i + lifted] = grid->origin[i];
        idx->spacing[i + lifted] = grid->spacing[i];
        idx->placed = idx->placed && isfinite(grid->origin[i]) &&
                      isfinite(grid->spacing[i]) && grid->spacing[i] > 0;
    }
    if (!idx->placed)
        context_note(ctx,
                     "origin and spacing of %s are left out: IDX has only "
                     "spacings above 0",
                     request->grid_name);
    if (grid->layout == BOUMA_LAYOUT_HZ &&
        take_template(idx, grid->hz_template))
        return DONE;
    return choose_mask(idx, ctx);
}

static uint64_t largest_sample(const struct idx_write *idx)
{
    uint64_t size = 1;

    for (int i = 0; i < idx->field_count; i++)
        size = idx->fields[i].size > size ? idx->fields[i].size : size;
    return size;
}

static int choose_blocks(struct idx_write *idx, struct context *ctx,
                         const struct arguments *args)
{
    int64_t bits = 0, per_file = 0;
    int rc = arguments_integer(args, ctx, "block-bits", 1, &bits);

    if (!rc)
        rc = arguments_integer(args, ctx, "blocks-per-file", 1, &per_file);
    if (rc)
        return rc;
    if (per_file > MOST_PER_FILE)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--blocks-per-file %lld: at most %d",
                            (long long)per_file, MOST_PER_FILE);
    if (!bits)
        for (bits = BLOCK_BITS; largest_sample(idx) << bits >= block_limit;)
            bits--;
    else if (bits > 30 || largest_sample(idx) << bits >= block_limit)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--block-bits %lld: a block would have 2 GiB or "
                            "more",
                            (long long)bits);
    idx->order.block_bits =
        bits < idx->order.bits ? (int)bits : idx->order.bits;
    idx_order_complete(&idx->order);
    idx->per_file = (int)per_file;
    if (!per_file) {
        uint64_t blocks = idx_order_blocks(&idx->order);

        idx->per_file = blocks < PER_FILE ? (int)blocks : PER_FILE;
        while (idx->per_file > 1 && idx_write_largest(idx) >= file_limit)
            idx->per_file /= 2;
    }
    if (idx_write_largest(idx) >= file_limit)
        context_note(ctx, "files may become larger than 4 GiB, which PIDX "
                          "cannot read; take fewer --blocks-per-file");
    return DONE;
}

static int choose_codec(struct idx_write *idx, struct context *ctx,
                        const struct arguments *args)
{
    const char *name = NULL;
    int rc = arguments_choice(args, ctx, "codec", &name);

    if (rc || !name || strcmp(name, "raw") == 0)
        return rc;
    idx->codec = strcmp(name, "zip") == 0 ? IDX_WRITE_ZIP : IDX_WRITE_LZ4;
    if (!idx_can_compress(idx->codec))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--codec %s: this program is built without it",
                            name);
    context_note(ctx,
                 "with the codec %s only OpenVisus can read it; PIDX and "
                 "VisIt read raw",
                 name);
    return DONE;
}

static int check_steps(struct context *ctx,
                       const struct export_request *request)
{
    int64_t last = request->steps[request->step_count - 1];

    if (last > INT_MAX)
        return context_fail(ctx, CALL_AT_FAULT,
                            "step %lld: IDX has timesteps up to %d",
                            (long long)last, INT_MAX);
    return DONE;
}

/* The directory beside the header has its name. */
static int choose_stem(struct idx_write *idx, struct context *ctx,
                       const char *target)
{
    const char *slash = strrchr(target, '/'),
               *name = slash ? slash + 1 : target;

    idx->stem = strdup(name);
    if (!idx->stem)
        return context_fail_memory(ctx);
    idx->stem[strlen(name) - strlen(export_format_idx.suffix)] = '\0';
    if (!idx->stem[0])
        return context_fail(ctx, CALL_AT_FAULT, "-o %s: has no name before %s",
                            target, export_format_idx.suffix);
    for (const char *at = idx->stem; *at; at++)
        if ((unsigned char)*at <= ' ' || strchr("%$#", *at))
            return context_fail(ctx, CALL_AT_FAULT,
                                "-o %s: the name of an IDX dataset has no "
                                "blanks, %%, $ or #",
                                target);
    return DONE;
}

static int prepare(struct idx_write *idx, struct context *ctx,
                   const struct export_request *request)
{
    int rc = take_grid(idx, ctx, request);

    if (!rc)
        rc = check_steps(ctx, request);
    if (!rc)
        rc = choose_stem(idx, ctx, request->target);
    if (!rc)
        rc = take_fields(idx, ctx, request);
    if (!rc)
        rc = choose_blocks(idx, ctx, request->args);
    if (!rc)
        rc = choose_codec(idx, ctx, request->args);
    idx->steps = request->steps;
    idx->step_count = request->step_count;
    return rc;
}

static void release(struct idx_write *idx)
{
    for (int i = 0; i < idx->field_count; i++)
        free(idx->fields[i].name);
    free(idx->fields);
    free(idx->stem);
}

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
};

/* How many splits lead to a region. */
static int region_depth(const struct idx_write *idx)
{
    int bits = REGION_BITS;

    while (bits > 0 && largest_sample(idx) << bits > region_bytes)
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

    for (int i = 0; i < copy->idx->ndims; i++) {
        part.lo[i] = box->lo[i + lifted];
        part.hi[i] = box->hi[i + lifted];
    }
    status = bouma_variable_read(copy->variable, 0, &part, copy->data, NULL);
    return status ? context_fail_status(copy->ctx, status,
                                        bouma_error_message(copy->request->ds))
                  : DONE;
}

static int copy_run(struct copying *copy, const struct idx_run *run,
                    const bouma_box *box, const struct idx_rows *rows)
{
    if (!idx_order_pack(copy->run, &copy->idx->order, run, box, rows))
        return DONE;
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
    uint64_t size = largest_sample(idx);
    bouma_variable **variables =
        calloc((size_t)idx->field_count, sizeof(*variables));
    int rc = DONE;

    copy.data = malloc(size << (idx->order.bits - copy.depth));
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
    int rc = folder ? prepare(&idx, ctx, request) : context_fail_memory(ctx);

    rc = context_agree(ctx, rc);
    if (!rc) {
        rc = write_all(request, &idx, ctx, folder);
        if (rc)
            end_folder(folder, ctx, rc);
    }
    release(&idx);
    free(folder);
    return rc;
}

const struct export_format export_format_idx = {
    .name = "idx", .suffix = ".idx", .run = run};
