/* render_grid.c -- bouma render: a slice or a projection of a variable of a
 * grid, at any level, as a picture. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "component.h"
#include "exporter.h"
#include "format_text.h"
#include "locate.h"
#include "numbers.h"
#include "print_json.h"
#include "render_run.h"
#include "sized.h"
#include "stopwatch.h"

/* Where the values at the ends of the colours come from. */
enum range_source { RECORDED, GIVEN, DRAWN };

/* A request, and what it needs while it is carried out. */
struct rendering {
    const struct render_call *call;
    const struct arguments *args;
    bouma_variable_info about;
    bouma_grid_info grid;
    int axis;               /* that is left out, of three; -1: none */
    int64_t asked, index;   /* of a slice; what the level has */
    const char *projection; /* NULL: a slice, or all */
    struct raster_source source;
    struct raster raster;
    struct render_picture picture;
    enum range_source range_source;
    char title[1024], label[1024];
    struct canvas canvas;
    double seconds;
};

/* Of three axes; those of a grid are the last ones. */
static const char *const axis_names[] = {"z", "y", "x"};

static int first_axis(const struct rendering *rendering)
{
    return 3 - rendering->grid.ndims;
}

/* ---- what to draw -------------------------------------------------------- */

static int find_axis(const struct rendering *rendering, struct context *ctx,
                     const char *option, const char *name, int *out)
{
    for (int i = first_axis(rendering); i < 3; i++)
        if (strcmp(axis_names[i], name) == 0) {
            *out = i;
            return DONE;
        }
    return context_fail(ctx, CALL_AT_FAULT,
                        "--%s: there is no axis '%s'; %s has %s", option, name,
                        rendering->args->operands[1],
                        rendering->grid.ndims == 3   ? "z, y and x"
                        : rendering->grid.ndims == 2 ? "y and x"
                                                     : "x");
}

/* "z=12"; a negative index counts back from the end. */
static int parse_slice(struct rendering *rendering, struct context *ctx,
                       const char *text)
{
    const char *equals = strchr(text, '=');
    char name[8] = "";
    int64_t extent;
    int rc;

    if (!equals || (size_t)(equals - text) >= sizeof(name) ||
        !parse_integer(equals + 1, &rendering->asked))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--slice %s: write it as z=12, y=12 or x=12", text);
    memcpy(name, text, (size_t)(equals - text));
    rc = find_axis(rendering, ctx, "slice", name, &rendering->axis);
    if (rc)
        return rc;
    extent = rendering->grid.shape[rendering->axis - first_axis(rendering)];
    if (rendering->asked < 0)
        rendering->asked += extent;
    if (rendering->asked < 0 || rendering->asked >= extent)
        return context_fail(
            ctx, CALL_AT_FAULT, "--slice %s: %s has indices 0 to %lld there",
            text, rendering->args->operands[1], (long long)extent - 1);
    return DONE;
}

/* Which axis is left out, and how. */
static int choose_view(struct rendering *rendering, struct context *ctx)
{
    const struct arguments *args = rendering->args;
    const char *slice = arguments_text(args, "slice");
    const char *axis = arguments_text(args, "axis");
    int rc = arguments_choice(args, ctx, "project", &rendering->projection);

    if (rc)
        return rc;
    if (slice && (rendering->projection || axis))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--slice and --%s cannot be combined",
                            rendering->projection ? "project" : "axis");
    rendering->axis = rendering->grid.ndims == 3 ? 0 : -1;
    if (slice)
        return parse_slice(rendering, ctx, slice);
    if (rendering->projection && !axis)
        rendering->axis = first_axis(rendering);
    if (axis)
        rc = find_axis(rendering, ctx, "axis", axis, &rendering->axis);
    if (!rc && rendering->axis >= 0)
        rendering->asked =
            rendering->grid.shape[rendering->axis - first_axis(rendering)] / 2;
    return rc;
}

/* A picture needs at least one axis. */
static int check_view(const struct rendering *rendering, struct context *ctx)
{
    if (rendering->grid.ndims == 1 && rendering->axis >= 0)
        return context_fail(ctx, CALL_AT_FAULT,
                            "%s has one axis only, and is drawn as a line; "
                            "leave out --%s",
                            rendering->args->operands[1],
                            rendering->projection ? "project"
                            : arguments_has(rendering->args, "slice") ? "slice"
                                                                      : "axis");
    return DONE;
}

static int choose_level(struct rendering *rendering, struct context *ctx)
{
    int64_t level = 0;
    int rc = arguments_integer(rendering->args, ctx, "level", 0, &level);

    if (!rc && level >= rendering->grid.levels)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--level %lld: %s has levels 0 to %d",
                          (long long)level, rendering->args->operands[1],
                          rendering->grid.levels - 1);
    if (!rc)
        rc = component_argument(&rendering->source.component, ctx,
                                rendering->args, &rendering->about, 0);
    rendering->source.level = (int)level;
    return rc;
}

/* The box of a slice is one sample thick: the last one of the level that is not
 * beyond the index. */
static int select_box(struct rendering *rendering, struct context *ctx)
{
    struct raster_source *source = &rendering->source;
    int own = rendering->axis - first_axis(rendering), status;

    for (int i = 0; i < rendering->grid.ndims; i++)
        source->box.hi[i] = rendering->grid.shape[i];
    rendering->index = rendering->asked >> source->level << source->level;
    if (rendering->axis >= 0 && !rendering->projection) {
        source->box.lo[own] = rendering->index;
        source->box.hi[own] = rendering->index + 1;
    }
    status = bouma_variable_select(SIZED(&source->selection), source->variable,
                                   source->level, &source->box);
    if (status)
        return context_fail_status(ctx, status,
                                   bouma_error_message(source->ds));
    return DONE;
}

/* The recorded range is that of all samples, so that pictures of different
 * levels and slices can be compared. */
static int choose_range(struct rendering *rendering, struct context *ctx)
{
    struct render_picture *picture = &rendering->picture;
    bouma_range range = {0};
    bool given;
    int rc = render_read_range(rendering->call, ctx, &picture->low,
                               &picture->high, &given);

    if (given)
        rendering->range_source = GIVEN;
    if (rc || given)
        return rc;
    bouma_variable_range(&range, rendering->source.variable,
                         rendering->source.component);
    picture->low = range.empty ? 0 : range.low;
    picture->high = range.empty ? 0 : range.high;
    return DONE;
}

static int choose_looks(struct rendering *rendering, struct context *ctx)
{
    struct render_picture *picture = &rendering->picture;
    int across = rendering->axis >= 0 ? rendering->axis : 0;
    int row = across == 0, column = across == 2 ? 1 : 2;
    int first = first_axis(rendering);
    int64_t size = 0;
    int rc = render_read_looks(rendering->call, ctx, &size, &picture->map);

    if (rc)
        return rc;
    picture->smooth = arguments_has(rendering->args, "smooth");
    picture->level = rendering->source.level;
    picture->line = row < first;
    picture->rows.extent =
        picture->line ? 1 : rendering->grid.shape[row - first];
    picture->columns.extent = rendering->grid.shape[column - first];
    picture->rows.high = (double)picture->rows.extent;
    picture->columns.high = (double)picture->columns.extent;
    picture->least_tick = 1;
    picture->rows.name = axis_names[row];
    picture->columns.name = axis_names[column];
    render_picture_size(picture, size);

    rendering->raster.across = across;
    rendering->raster.rows = picture->line ? 1 : picture->height;
    rendering->raster.columns = picture->width;
    rendering->raster.rule =
        !rendering->projection ? picture->line ? RASTER_SPAN : RASTER_PICK
        : strcmp(rendering->projection, "max") == 0 ? RASTER_MAX
        : strcmp(rendering->projection, "min") == 0 ? RASTER_MIN
                                                    : RASTER_MEAN;
    return DONE;
}

/* Find what is asked for. */
/* What is for particles only. */
static int check_options(const struct rendering *rendering, struct context *ctx)
{
    static const char *const names[] = {
        "quality", "box", "where", "radius", "limit", "max-bytes", NULL};

    for (int i = 0; names[i]; i++)
        if (arguments_has(rendering->args, names[i]))
            return context_fail(ctx, CALL_AT_FAULT,
                                "--%s is for particles, and %s is a grid",
                                names[i], rendering->args->operands[1]);
    return DONE;
}

static int select_samples(struct rendering *rendering, struct context *ctx)
{
    struct raster_source *source = &rendering->source;
    bouma_grid *grid;
    int rc = locate_drawable(
        &grid, &source->variable, ctx,
        (struct located_step){rendering->call->ds, rendering->call->step,
                              rendering->call->step_number},
        rendering->args->operands[1]);

    if (!rc)
        rc = check_options(rendering, ctx);
    if (rc)
        return rc;
    bouma_grid_info_get(SIZED(&rendering->grid), grid);
    bouma_variable_info_get(SIZED(&rendering->about), source->variable);
    source->type = rendering->about.type;
    source->components = rendering->about.components;
    source->ndims = rendering->grid.ndims;
    memcpy(source->patch, rendering->grid.patch, sizeof(source->patch));
    rc = choose_level(rendering, ctx);
    if (!rc)
        rc = choose_view(rendering, ctx);
    if (!rc)
        rc = check_view(rendering, ctx);
    if (!rc)
        rc = choose_range(rendering, ctx);
    if (!rc)
        rc = choose_looks(rendering, ctx);
    return rc ? rc : select_box(rendering, ctx);
}

/* ---- drawing ------------------------------------------------------------- */

/* Infinities have no colour: then the finite values drawn count.
 * And there must be something between the ends. */
static void make_range_finite(struct rendering *rendering)
{
    struct render_picture *picture = &rendering->picture;
    const struct raster *raster = &rendering->raster;
    size_t cells = (size_t)raster->rows * (size_t)raster->columns;
    double low = INFINITY, high = -INFINITY;

    if (!isfinite(picture->low) || !isfinite(picture->high)) {
        rendering->range_source = DRAWN;
        for (size_t i = 0; i < cells; i++) {
            if (isfinite(raster->value[i]))
                low = fmin(low, raster->value[i]);
            if (isfinite(raster->high[i]))
                high = fmax(high, raster->high[i]);
        }
        picture->low = low <= high ? low : 0;
        picture->high = low <= high ? high : 0;
    }
    render_widen(&picture->low, &picture->high);
}

static void write_texts(struct rendering *rendering)
{
    const bouma_variable_info *about = &rendering->about;
    char view[FORMAT_BYTES] = "", component[FORMAT_BYTES] = "";

    if (rendering->projection)
        snprintf(view, sizeof(view), ", %s along %s", rendering->projection,
                 axis_names[rendering->axis]);
    else if (rendering->axis >= 0)
        snprintf(view, sizeof(view), ", %s = %lld", axis_names[rendering->axis],
                 (long long)rendering->index);
    if (about->components > 1)
        snprintf(component, sizeof(component), "[%d]",
                 rendering->source.component);
    snprintf(rendering->title, sizeof(rendering->title),
             "%.250s/%.250s%s, step %lld, level %d%s", rendering->grid.name,
             about->name, component, (long long)rendering->call->step_number,
             rendering->source.level, view);
    snprintf(rendering->label, sizeof(rendering->label), "%s%s%s%s%s",
             about->name, component, about->unit && about->unit[0] ? " [" : "",
             about->unit ? about->unit : "",
             about->unit && about->unit[0] ? "]" : "");
}

/* Process 0 has all cells, and draws. Collective. */
static int draw(struct rendering *rendering, struct context *ctx)
{
    int rc = raster_read(&rendering->raster, ctx, &rendering->source);

    if (rc)
        return rc;
    if (session_rank(ctx->session) == 0) {
        make_range_finite(rendering);
        write_texts(rendering);
        rendering->picture.raster = &rendering->raster;
        rendering->picture.title = rendering->title;
        rendering->picture.label = rendering->label;
        rc = render_picture_draw(&rendering->canvas, ctx, &rendering->picture);
    }
    rc = context_agree(ctx, rc);
    if (!rc)
        rc = exporter_draw(ctx, rendering->call->target, &rendering->canvas);
    return rc;
}

/* ---- telling ------------------------------------------------------------- */

static void put_view(json_t *root, const struct rendering *rendering)
{
    json_t *view = json_object();

    if (rendering->axis < 0) {
        json_decref(view);
        json_put(root, "slice", json_null());
        return;
    }
    json_put(view, "axis", json_text(axis_names[rendering->axis]));
    if (rendering->projection) {
        json_put(view, "how", json_text(rendering->projection));
        json_put(root, "slice", json_null());
        json_put(root, "projection", view);
        return;
    }
    /* The level may not have the one that was asked for. */
    json_put(view, "index", json_integer(rendering->index));
    json_put(view, "asked", json_integer(rendering->asked));
    json_put(root, "slice", view);
}

static int print_object(const struct rendering *rendering, struct context *ctx,
                        const bouma_dataset_info *reads)
{
    static const char *const sources[] = {"recorded", "given", "drawn"};
    const struct render_picture *picture = &rendering->picture;
    const bouma_selection *selection = &rendering->source.selection;
    json_t *root = json_object();
    double ends[2] = {picture->low, picture->high};

    json_put(root, "file", json_text(rendering->call->target));
    json_put(root, "width", json_integer(rendering->canvas.width));
    json_put(root, "height", json_integer(rendering->canvas.height));
    json_put(root, "step", json_integer(rendering->call->step_number));
    json_put(root, "variable", json_text(rendering->about.name));
    json_put(root, "component", json_integer(rendering->source.component));
    json_put(root, "level", json_integer(rendering->source.level));
    put_view(root, rendering);
    json_put(root, "shape", json_integers(selection->shape, selection->ndims));
    json_put(root, "range", json_numbers(ends, 2));
    json_put(root, "range_source", json_text(sources[rendering->range_source]));
    json_put(root, "bytes_read", json_count(reads->bytes_read));
    json_put(root, "files_opened", json_count(reads->files_opened));
    json_put(root, "seconds", json_number(rendering->seconds));
    return print_json(ctx, root);
}

static int print_text(const struct rendering *rendering,
                      const bouma_dataset_info *reads)
{
    char read[FORMAT_BYTES], files[FORMAT_BYTES], seconds[FORMAT_BYTES];

    printf("%s: ", rendering->call->target);
    print_clean(rendering->title);
    printf(", %g to %g; %d x %d pixels; read %s from %s, %s\n",
           rendering->picture.low, rendering->picture.high,
           rendering->canvas.width, rendering->canvas.height,
           format_bytes(read, reads->bytes_read),
           format_count(files, reads->files_opened, "file"),
           format_seconds(seconds, rendering->seconds));
    return DONE;
}

/* Standard output may be where the picture goes. Collective. */
static int print_result(const struct rendering *rendering, struct context *ctx)
{
    bouma_dataset_info reads = render_count_reads(rendering->call, ctx);

    if (!context_prints(ctx) || strcmp(rendering->call->target, "-") == 0)
        return DONE;
    return ctx->json ? print_object(rendering, ctx, &reads)
                     : print_text(rendering, &reads);
}

int render_grid(struct render_call *call, struct context *ctx)
{
    struct rendering rendering = {.call = call, .args = call->args};
    int rc;

    rendering.source.ds = call->ds;
    rc = select_samples(&rendering, ctx);
    if (!rc)
        rc = draw(&rendering, ctx);
    progress_bar_clear(&call->bar);
    rendering.seconds = stopwatch_now() - call->start;
    if (!rc)
        rc = print_result(&rendering, ctx);
    canvas_release(&rendering.canvas);
    raster_release(&rendering.raster);
    return rc;
}
