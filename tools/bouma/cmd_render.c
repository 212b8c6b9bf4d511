/* cmd_render.c -- bouma render: a variable of a grid, or particles, as a
 * picture. */
#include <math.h>
#include <string.h>

#include "arguments.h"
#include "end_reading.h"
#include "exporter.h"
#include "locate.h"
#include "numbers.h"
#include "render_run.h"
#include "stopwatch.h"

static const struct option_spec options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "OUT.png",
     .help = "the picture, or - for standard output (required)"},
    {.name = "step",
     .argument = "N",
     .help =
         "number of the step; -1: the last, -2: the one before; default: last"},
    {.name = "level",
     .argument = "K",
     .help = "one in 2^K samples along each axis; default: 0, all"},
    {.name = "slice",
     .argument = "AXIS=I",
     .help = "draw the samples whose index is I; default: the middle of z"},
    {.name = "project",
     .argument = "HOW",
     .choices = "max|min|mean",
     .help = "reduce along an axis; default for particles: mean"},
    {.name = "axis",
     .argument = "AXIS",
     .choices = "z|y|x",
     .help = "axis of the projection or of a slice through the middle; "
             "default: the slowest; particles: z"},
    {.name = "component",
     .argument = "J",
     .help = "component of a vector variable; default: 0"},
    {.name = "range",
     .argument = "LO,HI",
     .help = "values at the ends of the colours; default: the recorded range"},
    {.name = "colours",
     .argument = "MAP",
     .choices = COLOUR_MAPS,
     .help = "colour map; default: viridis"},
    {.name = "size",
     .argument = "PIXELS",
     .help = "length of the longer side; default: a whole number per sample, "
             "about 512"},
    {.name = "quality",
     .argument = "Q",
     .help = "particles: fraction of them, 0 to 1; default: 1, all"},
    {.name = "box",
     .argument = "BOX",
     .help = "particles: x0:x1,y0:y1,z0:z1 in coordinates; default: all"},
    {.name = "where",
     .argument = "EXPR",
     .help = "particles: conditions, as in query"},
    {.name = "limit",
     .argument = "N",
     .help = "particles: at most N of them; N may end in K, M, G"},
    {.name = "max-bytes",
     .argument = "N",
     .help = "particles: read at most N bytes of the step's files"},
    {.name = "radius",
     .argument = "PIXELS",
     .help = "particles: radius of one at quality 1; default: by their number"},
    {.name = "smooth", .help = "interpolate between samples"},
    {0}};

/* ---- what both ways share ------------------------------------------------ */

int render_read_looks(const struct render_call *call, struct context *ctx,
                      int64_t *size, const struct colour_map **map)
{
    const char *name = NULL;
    int rc = arguments_integer(call->args, ctx, "size", RENDER_LEAST, size);

    if (!rc && *size > RENDER_MOST)
        rc = context_fail(ctx, CALL_AT_FAULT, "--size %lld: at most %d",
                          (long long)*size, RENDER_MOST);
    if (!rc)
        rc = arguments_choice(call->args, ctx, "colours", &name);
    *map = colour_map_find(name ? name : "viridis");
    return rc;
}

int render_read_range(const struct render_call *call, struct context *ctx,
                      double *low, double *high, bool *given)
{
    const char *text = arguments_text(call->args, "range");
    double ends[2];
    int count = 0;

    *given = text != NULL;
    if (!text)
        return DONE;
    if (!parse_numbers(text, ends, 2, &count) || count != 2 ||
        !(ends[0] < ends[1]))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--range %s: not two ascending numbers with a "
                            "comma between",
                            text);
    *low = ends[0];
    *high = ends[1];
    return DONE;
}

void render_widen(double *low, double *high)
{
    double around = *low != 0 ? fabs(*low) / 2 : 1;

    if (*high - *low > 1e-12 * fmax(fabs(*low), fabs(*high)))
        return;
    *low -= around;
    *high += around;
}

bouma_dataset_info render_count_reads(const struct render_call *call,
                                      struct context *ctx)
{
    bouma_dataset_info reads = {.size = sizeof(reads)};

    bouma_dataset_info_get(&reads, call->ds);
    reads.bytes_read = session_sum(ctx->session, reads.bytes_read);
    reads.files_opened = session_sum(ctx->session, reads.files_opened);
    return reads;
}

/* ---- running ------------------------------------------------------------- */

/* Whether OBJECT[/VAR] names a set of particles. */
static bool names_particles(const struct render_call *call)
{
    const char *name = call->args->operands[1];
    size_t length = strcspn(name, "/");
    char object[256];

    if (length >= sizeof(object))
        return false;
    memcpy(object, name, length);
    object[length] = '\0';
    return bouma_step_find_particles(call->step, object) != NULL;
}

/* Collective. */
static int open_step(struct render_call *call, struct context *ctx)
{
    int status;

    call->opts = (bouma_options){.size = sizeof(call->opts)};
    progress_bar_init(&call->bar, ctx, &call->opts);
    status = session_open(ctx->session, &call->ds, call->path, &call->opts);
    if (status)
        return context_fail_status(ctx, status, bouma_error_message(call->ds));
    return locate_step(&call->step, &call->step_number, ctx, call->ds,
                       call->args);
}

static int run(struct context *ctx, const struct arguments *args)
{
    struct render_call call = {.args = args,
                               .path = args->operands[0],
                               .target = arguments_text(args, "output"),
                               .start = stopwatch_now()};
    const struct exporter *picture;
    int rc = exporter_find(&picture, ctx, EXPORT_PICTURE, call.target);

    if (!rc)
        rc = open_step(&call, ctx);
    if (!rc)
        rc = names_particles(&call) ? render_particles(&call, ctx)
                                    : render_grid(&call, ctx);
    progress_bar_clear(&call.bar);
    bouma_step_free(call.step);
    end_reading(ctx, call.ds, rc);
    return rc;
}

const struct command cmd_render = {
    .name = "render",
    .summary = "draw a slice or a projection of a variable, or particles",
    .operands = "DS OBJECT[/VAR] -o OUT.png [options]",
    .least = 2,
    .most = 2,
    .examples =
        "  bouma render run.bouma grid/rho -o middle.png\n"
        "  bouma render run.bouma grid/rho --slice y=100 --level 2 -o y.png\n"
        "  bouma render run.bouma grid/rho --project max --axis x --colours "
        "magma -o max.png\n"
        "  bouma render run.bouma atoms --quality 0.1 -o density.png\n"
        "  bouma render run.bouma atoms/mass --axis y --where 'mass > 2' -o "
        "mass.png\n",
    .footer =
        "A variable with two axes is drawn as it is, one with a single axis as "
        "a line.\nSample 0 is at the lower left. An index counts samples of "
        "level 0, from the end if\nit is negative; at level K the multiple of "
        "2^K below it is drawn. All levels are\ndrawn with the same size and "
        "colours, so that they can be compared. NaN is pink.\n\nParticles are "
        "seen along an axis. The picture shows their number at each "
        "pixel\n(its logarithm, divided by the quality), or the mean, largest "
        "or smallest value of\na variable. The fewer particles there are, the "
        "larger each is drawn.\n",
    .options = options,
    .exports = EXPORT_PICTURE,
    .run = run};
