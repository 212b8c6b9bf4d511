/* export_idx_plan.c -- which IDX dataset a grid becomes: its mask, fields,
 * blocks and files. */
#include "export_idx_plan.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "write_idx_codec.h"

enum { BLOCK_BITS = 15, PER_FILE = 512, MOST_PER_FILE = 65536 };

static const uint64_t block_limit = (uint64_t)1 << 31;

/* ---- the mask ------------------------------------------------------------ */

static int bit_length(uint64_t n)
{
    return n ? 64 - __builtin_clzll(n) : 0;
}

/* The splits that an axis needs. There is at least one, so that the mask tells
 * how many axes there are. */
static int axis_bits(const struct idx_write *idx, int axis)
{
    int bits = bit_length((uint64_t)idx->domain.hi[axis] - 1);

    return bits ? bits : 1;
}

/* PIDX's rule: the longest axis first, of equal ones z, y, x. */
static int choose_mask(struct idx_write *idx, struct context *ctx)
{
    int left[3] = {0}, bits = 0;

    for (int axis = 3 - idx->ndims; axis < 3; axis++) {
        left[axis] = axis_bits(idx, axis);
        bits += left[axis];
    }
    if (bits > IDX_BITS)
        return context_fail(ctx, DATA_AT_FAULT,
                            "the grid is too large: its mask has %d splits, "
                            "and at most %d are possible",
                            bits, IDX_BITS);
    for (int i = 0; i < bits; i++) {
        int most = 0;

        for (int axis = 1; axis < 3; axis++)
            most = left[axis] > left[most] ? axis : most;
        idx->order.axis[i] = (uint8_t)most;
        left[most]--;
    }
    idx->order.bits = bits;
    return DONE;
}

/* That of the grid's layout, if it has the splits that each axis needs. */
static bool take_template(struct idx_write *idx, const char *text)
{
    static const char axes[] = "zyx";
    int seen[3] = {0}, count = 0;

    for (; text[count]; count++) {
        const char *letter = strchr(axes, text[count]);

        if (!letter || count == IDX_BITS)
            return false;
        idx->order.axis[count] = (uint8_t)(letter - axes);
        seen[letter - axes]++;
    }
    for (int axis = 3 - idx->ndims; axis < 3; axis++)
        if (seen[axis] != axis_bits(idx, axis))
            return false;
    idx->order.bits = count;
    return true;
}

/* ---- the request --------------------------------------------------------- */

/* Names are words in the header; what cannot be in one becomes "_". */
static int name_field(struct idx_write *idx, struct context *ctx, int i)
{
    char *name = idx->fields[i].name;
    int changed = bm_idx_field_name(name, name);

    if (strlen(name) > 256)
        return context_fail(ctx, CALL_AT_FAULT,
                            "the name of variable '%.40s...' is too long",
                            name);
    for (int k = 0; k < i; k++)
        if (strcmp(idx->fields[k].name, name) == 0)
            return context_fail(ctx, CALL_AT_FAULT,
                                "two variables would have the name '%s'; "
                                "export them separately",
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
        for (bits = BLOCK_BITS; idx_write_sample(idx) << bits >= block_limit;)
            bits--;
    else if (bits > 30 || idx_write_sample(idx) << bits >= block_limit)
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
        while (idx->per_file > 1 && idx_write_largest(idx) >= BM_IDX_FILE_LIMIT)
            idx->per_file /= 2;
    }
    if (idx_write_largest(idx) >= BM_IDX_FILE_LIMIT)
        context_note(ctx, "files may become larger than 4 GiB, which PIDX "
                          "cannot read; take fewer --blocks-per-file");
    return DONE;
}

static enum idx_write_codec codec_of(const char *name)
{
    return strcmp(name, "zip") == 0   ? IDX_WRITE_ZIP
           : strcmp(name, "lz4") == 0 ? IDX_WRITE_LZ4
           : strcmp(name, "zfp") == 0 ? IDX_WRITE_ZFP
                                      : IDX_WRITE_RAW;
}

/* The largest power of two that is not above the tolerance: zfp makes no use of
 * more. */
static int choose_tolerance(struct idx_write *idx, struct context *ctx,
                            const struct arguments *args)
{
    const char *text = arguments_text(args, "tolerance");
    int exponent = 0;
    int rc = arguments_number(args, ctx, "tolerance", &idx->tolerance);

    if (rc || !text)
        return rc;
    if (idx->codec != IDX_WRITE_ZFP)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--tolerance needs --codec zfp; the others keep "
                            "every bit");
    frexp(idx->tolerance, &exponent);
    if (!(idx->tolerance > 0) || !isfinite(idx->tolerance) ||
        exponent - 1 < -IDX_ZFP_DIGITS || exponent > 200)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--tolerance %s: must be from 2^-%d to 2^199; "
                            "leave it out to keep every bit",
                            text, IDX_ZFP_DIGITS);
    idx->accuracy = ldexp(1, exponent - 1);
    return DONE;
}

static int check_zfp(const struct idx_write *idx, struct context *ctx)
{
    for (int i = 0; i < idx->field_count; i++) {
        const struct idx_write_field *f = &idx->fields[i];

        if (!idx_zfp_takes(f->type, f->components, idx->accuracy <= 0))
            return context_fail(
                ctx, CALL_AT_FAULT,
                "--codec zfp: variable '%s' has %d component%s of %s, and zfp "
                "takes one of f32 or f64, and without --tolerance i32 or i64; "
                "export it separately",
                f->name, f->components, f->components == 1 ? "" : "s",
                bouma_type_name(f->type));
    }
    return DONE;
}

static int choose_codec(struct idx_write *idx, struct context *ctx,
                        const struct arguments *args)
{
    const char *name = NULL;
    int rc = arguments_choice(args, ctx, "codec", &name);

    idx->codec = name ? codec_of(name) : IDX_WRITE_RAW;
    if (!rc)
        rc = choose_tolerance(idx, ctx, args);
    if (!rc && idx->codec == IDX_WRITE_ZFP)
        rc = check_zfp(idx, ctx);
    if (rc || idx->codec == IDX_WRITE_RAW)
        return rc;
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

int export_idx_plan(struct idx_write *idx, struct context *ctx,
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

void export_idx_release(struct idx_write *idx)
{
    for (int i = 0; i < idx->field_count; i++)
        free(idx->fields[i].name);
    free(idx->fields);
    free(idx->stem);
}
