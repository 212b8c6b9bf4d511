/* step_arguments.c -- see step_arguments.h. */
#include "step_arguments.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "import_request.h"

#define MOST_SAMPLES ((int64_t)1 << 40) /* of a rank */

/* Blocks are all alike, so sizes are too; particles can be any number. */
static int check_load(const struct load *load, struct context *ctx)
{
    return load->widths || !strcmp(load->name, "uniform") ||
                   !strcmp(load->name, "s3d")
               ? DONE
               : context_fail(ctx, CALL_AT_FAULT,
                              "--load %s: is neither a grid nor particles; "
                              "`bench io` has it",
                              load->name);
}

static int check_scope(struct context *ctx, const struct arguments *args,
                       const struct load *load)
{
    for (int i = 0; i < args->given_count && load->widths; i++)
        if (args->given[i].option.scope == FOR_GRIDS)
            return context_fail(ctx, CALL_AT_FAULT,
                                "--%s is for grids; the load %s has particles",
                                args->given[i].option.name, load->name);
    return load->widths ? DONE
                        : arguments_check_grid_assign(args, ctx, "; for grids");
}

/* A cube that has no more than the bytes of a rank, or the one that is given. */
static int read_block(struct bench_request *request, struct context *ctx,
                      const struct arguments *args)
{
    struct step_request *step = &request->step;
    int64_t each = step->type == BOUMA_TYPE_F64 ? 8 : 4;
    double samples =
        (double)request->load.bytes / (double)(each * request->load.variables);
    int64_t edge = (int64_t)floor(cbrt(samples) + 1e-9);
    int64_t block[MAX_AXES];
    int axes = 0, rc = arguments_integers(args, ctx, "block", block, &axes);

    if (!rc && axes && axes != 3)
        rc = context_fail(ctx, CALL_AT_FAULT, "--block %s: the grid has 3 axes",
                          arguments_text(args, "block"));
    if (!rc && axes && arguments_has(args, "bytes"))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--block and --bytes cannot be combined");
    for (int d = 0; d < 3 && !rc; d++) {
        step->block[d] = axes ? block[d] : edge > 1 ? edge : 1;
        if (step->block[d] < 1 || step->block[d] > (1 << 20))
            rc = context_fail(ctx, CALL_AT_FAULT,
                              "a block of %" PRId64
                              " samples along an axis: 1 to 1048576 are "
                              "possible",
                              step->block[d]);
    }
    if (!rc && step->block[0] * step->block[1] > MOST_SAMPLES / step->block[2])
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "a block of %" PRId64 " x %" PRId64 " x %" PRId64
                          " samples is too large",
                          step->block[0], step->block[1], step->block[2]);
    return rc;
}

static int check_verify(const struct bench_request *request,
                        struct context *ctx)
{
    const bouma_variable_spec *v = &request->step.variable;
    bool relative = v->tolerance_kind == BOUMA_TOLERANCE_RELATIVE;

    if (!request->verify || !(v->tolerance > 0) ||
        (!request->load.load->widths && !relative && !v->nominal))
        return DONE;
    return context_fail(ctx, CALL_AT_FAULT,
                        "--verify: only an absolute --tolerance of a grid can "
                        "be checked");
}

int step_arguments(struct bench_request *request, struct context *ctx,
                   const struct arguments *args)
{
    const struct load *load = request->load.load;
    struct step_request *step = &request->step;
    struct import_request storage = {
        .args = args,
        .particles_name = load->widths ? "particles" : NULL,
        .grid = {.size = sizeof(storage.grid)},
        .variable = {.size = sizeof(storage.variable)},
        .opts = {.size = sizeof(storage.opts)}};
    const int64_t *grid = request->load.grid;
    int64_t ranks[3] = {grid[2], grid[1], grid[0]}, shape[3];
    const char *type = NULL;
    int rc = check_load(load, ctx);

    if (!rc)
        rc = check_scope(ctx, args, load);
    if (!rc)
        rc = arguments_choice(args, ctx, "type", &type);
    step->type = type ? bouma_type_parse(type) : BOUMA_TYPE_F32;
    if (!rc)
        rc = import_request_storage(&storage, ctx);
    if (!rc && !load->widths)
        rc = read_block(request, ctx, args);
    if (!rc && !load->widths) {
        step_shape(step, &request->load, shape);
        storage.ranks = ranks;
        rc = import_request_shape(&storage, ctx, 3, shape);
    }
    step->grid = storage.grid;
    step->variable = storage.variable;
    if (storage.grid.hz_template == storage.hz_template) {
        memcpy(step->hz_template, storage.hz_template,
               sizeof(step->hz_template));
        step->grid.hz_template = step->hz_template;
    }
    if (!rc)
        rc = check_verify(request, ctx);
    return rc;
}
