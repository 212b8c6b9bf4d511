/* render_particles.c -- bouma render: particles seen along an axis, as a
 * picture of their density or of an attribute. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "component.h"
#include "exporter.h"
#include "format_text.h"
#include "locate.h"
#include "particle_raster.h"
#include "print_json.h"
#include "render_run.h"
#include "stopwatch.h"

enum { USUAL = 512, THINNEST = 8, LARGEST_RADIUS = 64 }; /* pixels */

struct rendering {
    struct render_call *call;
    struct particle_query query;
    const bouma_variable_info *attribute; /* NULL: density */
    int axis;                             /* that is looked along; -1: none */
    struct particle_raster splats;
    struct raster raster;
    struct render_picture picture;
    const char *range_source;
    char title[1024], label[1024];
    struct canvas canvas;
    double seconds;
};

static const char *const axis_names[] = {"x", "y", "z"};
static const char *const rule_names[] = {"density", "mean", "max", "min"};

/* ---- what to draw -------------------------------------------------------- */

/* What is for grids only. */
static int check_options(const struct rendering *rendering, struct context *ctx)
{
    static const char *const names[] = {"level", "slice", "smooth", NULL};
    const struct arguments *args = rendering->call->args;

    for (int i = 0; names[i]; i++)
        if (arguments_has(args, names[i]))
            return context_fail(ctx, CALL_AT_FAULT,
                                "--%s is for grids, and %s is a set of "
                                "particles",
                                names[i], args->operands[1]);
    return DONE;
}

/* PARTICLES or PARTICLES/VARIABLE; the name of the set is known to be right. */
static int choose_variables(struct rendering *rendering, struct context *ctx)
{
    const struct render_call *call = rendering->call;
    const char *name = call->args->operands[1], *slash = strchr(name, '/');
    size_t length = strcspn(name, "/");
    bouma_particles *particles;
    bouma_variable *variable;
    char object[256];
    int rc;

    memcpy(object, name, length);
    object[length] = '\0';
    rc = locate_particles(
        &particles, ctx,
        (struct located_step){call->ds, call->step, call->step_number}, object);
    if (!rc)
        rc = particle_query_read(&rendering->query, ctx, call->args, call->ds,
                                 particles);
    if (!rc)
        rc = particle_query_add(&rendering->query, ctx,
                                bouma_particles_position(particles));
    if (rc || !slash)
        return rc;
    rc = locate_particle_variable(&variable, ctx, particles, slash + 1);
    if (!rc)
        rc = particle_query_add(&rendering->query, ctx, variable);
    if (!rc)
        rendering->attribute = &rendering->query.infos[1];
    return rc;
}

static int choose_rule(struct rendering *rendering, struct context *ctx)
{
    const struct arguments *args = rendering->call->args;
    const bouma_variable_info *attribute = rendering->attribute;
    const char *project = NULL;
    int rc = arguments_choice(args, ctx, "project", &project);

    if (rc)
        return rc;
    if (!attribute && (project || arguments_has(args, "component")))
        return context_fail(
            ctx, CALL_AT_FAULT, "--%s is for a variable; name one, as %s/VAR",
            project ? "project" : "component", args->operands[1]);
    rendering->splats.component = 0;
    if (attribute)
        rc = component_argument(&rendering->splats.component, ctx, args,
                                attribute, 0);
    if (rc)
        return rc;
    rendering->splats.rule = !attribute ? SPLAT_DENSITY
                             : !project || strcmp(project, "mean") == 0
                                 ? SPLAT_MEAN
                             : strcmp(project, "max") == 0 ? SPLAT_MAX
                                                           : SPLAT_MIN;
    return DONE;
}

/* Of three axes, one is looked along; of two, none. */
static int choose_axes(struct rendering *rendering, struct context *ctx)
{
    struct particle_raster *splats = &rendering->splats;
    const char *text = arguments_text(rendering->call->args, "axis");
    int ndims = rendering->query.about.ndims;

    rendering->axis = ndims == 3 ? 2 : -1;
    if (text && ndims < 3)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--axis %s: the positions have %d %s, and all are "
                            "drawn; leave it out",
                            text, ndims, ndims == 1 ? "axis" : "axes");
    for (int i = 0; text && i < 3; i++)
        if (strcmp(axis_names[i], text) == 0) {
            rendering->axis = i;
            text = NULL;
        }
    if (text)
        return context_fail(ctx, CALL_AT_FAULT, "--axis %s: must be x, y or z",
                            text);
    splats->column_axis = rendering->axis == 0 ? 1 : 0;
    splats->row_axis = ndims == 1                           ? -1
                       : rendering->axis == 2 || ndims == 2 ? 1
                                                            : 2;
    return DONE;
}

/* The bounds of all particles, or of the box where it is smaller. */
static void choose_extent(struct rendering *rendering)
{
    struct particle_raster *splats = &rendering->splats;
    const bouma_particles_info *about = &rendering->query.about;
    const bouma_particles_query *query = &rendering->query.query;

    for (int i = 0; i < about->ndims; i++) {
        double low = about->low[i], high = about->high[i];

        if (about->count == about->strays)
            low = high = 0;
        if (query->box && isfinite(query->box->low[i]))
            low = query->box->low[i];
        if (query->box && isfinite(query->box->high[i]))
            high = query->box->high[i];
        if (!(low <= high))
            high = low;
        render_widen(&low, &high);
        splats->low[i] = low;
        splats->high[i] = high;
    }
}

/* Pixels so that both axes have the same scale. */
static void choose_size(struct rendering *rendering, int64_t size)
{
    struct render_picture *picture = &rendering->picture;
    const struct particle_raster *splats = &rendering->splats;
    double longer_side = (double)(size ? size : USUAL), longer;

    picture->columns.low = splats->low[splats->column_axis];
    picture->columns.high = splats->high[splats->column_axis];
    picture->rows.high = 1;
    if (splats->row_axis >= 0) {
        picture->rows.low = splats->low[splats->row_axis];
        picture->rows.high = splats->high[splats->row_axis];
    }
    longer =
        fmax(picture->columns.high - picture->columns.low,
             splats->row_axis < 0 ? 0 : picture->rows.high - picture->rows.low);
    picture->width = (int)fmax(
        THINNEST, round((picture->columns.high - picture->columns.low) /
                        longer * longer_side));
    picture->height =
        picture->line
            ? picture->width / 2
            : (int)fmax(THINNEST,
                        round((picture->rows.high - picture->rows.low) /
                              longer * longer_side));
}

static int choose_looks(struct rendering *rendering, struct context *ctx)
{
    struct render_picture *picture = &rendering->picture;
    const struct particle_raster *splats = &rendering->splats;
    int64_t size = 0;
    int rc = render_read_looks(rendering->call, ctx, &size, &picture->map);

    if (rc)
        return rc;
    picture->line = splats->row_axis < 0;
    picture->blank = true;
    choose_extent(rendering);
    choose_size(rendering, size);
    rendering->raster.columns = picture->width;
    rendering->raster.rows = picture->line ? 1 : picture->height;
    picture->columns.extent = rendering->raster.columns;
    picture->rows.extent = rendering->raster.rows;
    picture->columns.name = axis_names[splats->column_axis];
    picture->rows.name =
        splats->row_axis < 0 ? "" : axis_names[splats->row_axis];
    return DONE;
}

/* At quality 1, particles that were spread evenly would reach to the middle of
 * the next; but none is smaller than a pixel, nor much larger. */
static int choose_radius(struct rendering *rendering, struct context *ctx)
{
    const bouma_particles_info *about = &rendering->query.about;
    const bouma_particles_query *query = &rendering->query.query;
    double cells = (double)rendering->raster.rows * rendering->raster.columns;
    double radius = fmin(sqrt(cells / (double)(about->count + 1)), 8);
    double quality = query->quality - query->from;
    int rc = arguments_number(rendering->call->args, ctx, "radius", &radius);

    if (rc)
        return rc;
    if (!(radius > 0 && radius <= LARGEST_RADIUS))
        return context_fail(
            ctx, CALL_AT_FAULT,
            "--radius %g: must be above 0 and at most %d pixels", radius,
            LARGEST_RADIUS);
    radius = fmax(radius, 0.5);
    if (quality > 0)
        radius *= pow(quality, -1.0 / about->ndims);
    rendering->splats.radius = fmin(radius, LARGEST_RADIUS);
    return DONE;
}

static int choose(struct rendering *rendering, struct context *ctx)
{
    int rc = check_options(rendering, ctx);

    if (!rc)
        rc = choose_variables(rendering, ctx);
    if (!rc)
        rc = choose_rule(rendering, ctx);
    if (!rc)
        rc = choose_axes(rendering, ctx);
    if (!rc)
        rc = choose_looks(rendering, ctx);
    if (!rc)
        rc = particle_query_read_within(&rendering->query, ctx);
    return rc ? rc : choose_radius(rendering, ctx);
}

/* ---- drawing ------------------------------------------------------------- */

/* As it is given; the recorded range of an attribute, so that pictures can be
 * compared; else what is drawn. */
static int choose_range(struct rendering *rendering, struct context *ctx)
{
    struct render_picture *picture = &rendering->picture;
    const struct raster *raster = &rendering->raster;
    size_t cells = (size_t)raster->rows * (size_t)raster->columns;
    double low = INFINITY, high = -INFINITY;
    bouma_range range = {.empty = 1};
    bool given;
    int rc = render_read_range(rendering->call, ctx, &picture->low,
                               &picture->high, &given);

    rendering->range_source = given ? "given" : "recorded";
    if (rc || given)
        return rc;
    if (rendering->attribute)
        bouma_variable_range(&range, rendering->query.variables[1],
                             rendering->splats.component);
    picture->low = range.low;
    picture->high = range.high;
    if (range.empty || !isfinite(range.low) || !isfinite(range.high)) {
        rendering->range_source = "drawn";
        for (size_t i = 0; i < cells; i++)
            if (isfinite(raster->value[i])) {
                low = fmin(low, raster->value[i]);
                high = fmax(high, raster->value[i]);
            }
        picture->low = low <= high ? low : 0;
        picture->high = low <= high ? high : 0;
        /* One particle a pixel looks the same at every quality. */
        if (!rendering->attribute)
            picture->low = fmin(picture->low, 0);
    }
    render_widen(&picture->low, &picture->high);
    return DONE;
}

static void write_texts(struct rendering *rendering)
{
    const bouma_variable_info *about = rendering->attribute;
    const char *how = rule_names[rendering->splats.rule];
    char component[FORMAT_BYTES] = "", along[FORMAT_BYTES] = "";

    if (rendering->axis >= 0)
        snprintf(along, sizeof(along), " along %s",
                 axis_names[rendering->axis]);
    if (about && about->components > 1)
        snprintf(component, sizeof(component), "[%d]",
                 rendering->splats.component);
    snprintf(rendering->title, sizeof(rendering->title),
             "%.250s%s%.250s%s, step %lld, quality %g, %s%s",
             rendering->query.about.name, about ? "/" : "",
             about ? about->name : "", component,
             (long long)rendering->call->step_number,
             rendering->query.query.quality, how, along);
    if (about)
        snprintf(rendering->label, sizeof(rendering->label), "%s%s%s%s%s",
                 about->name, component,
                 about->unit && about->unit[0] ? " [" : "",
                 about->unit ? about->unit : "",
                 about->unit && about->unit[0] ? "]" : "");
    else
        snprintf(rendering->label, sizeof(rendering->label),
                 "log10 of particles a pixel");
}

/* Process 0 has all cells, and draws. Collective. */
static int draw(struct rendering *rendering, struct context *ctx)
{
    int rc = particle_raster_draw(&rendering->raster, &rendering->splats, ctx,
                                  &rendering->query);

    if (rc)
        return rc;
    rc = choose_range(rendering, ctx);
    if (!rc && session_rank(ctx->session) == 0) {
        write_texts(rendering);
        rendering->picture.raster = &rendering->raster;
        rendering->picture.title = rendering->title;
        rendering->picture.label = rendering->label;
        rc = render_picture_draw(&rendering->canvas, ctx, &rendering->picture);
    }
    rc = context_agree(ctx, rc);
    return rc ? rc
              : exporter_draw(ctx, rendering->call->target, &rendering->canvas);
}

/* ---- telling ------------------------------------------------------------- */

static int print_object(const struct rendering *rendering, struct context *ctx,
                        const bouma_dataset_info *reads)
{
    const struct render_picture *picture = &rendering->picture;
    double ends[2] = {picture->low, picture->high};
    json_t *root = json_object();

    json_put(root, "file", json_text(rendering->call->target));
    json_put(root, "width", json_integer(rendering->canvas.width));
    json_put(root, "height", json_integer(rendering->canvas.height));
    json_put(root, "step", json_integer(rendering->call->step_number));
    json_put(root, "particles", json_text(rendering->query.about.name));
    json_put(root, "variable",
             rendering->attribute ? json_text(rendering->attribute->name)
                                  : json_null());
    json_put(root, "component", json_integer(rendering->splats.component));
    json_put(root, "quality", json_number(rendering->query.query.quality));
    if (rendering->query.within.given)
        json_put(root, "answer", answer_json(&rendering->query.answer));
    json_put(root, "projection", json_text(rule_names[rendering->splats.rule]));
    json_put(root, "axis",
             rendering->axis < 0 ? json_null()
                                 : json_text(axis_names[rendering->axis]));
    json_put(root, "radius", json_number(rendering->splats.radius));
    json_put(root, "count", json_count(rendering->splats.particles));
    json_put(root, "range", json_numbers(ends, 2));
    json_put(root, "range_source", json_text(rendering->range_source));
    json_put(root, "bytes_read", json_count(reads->bytes_read));
    json_put(root, "files_opened", json_count(reads->files_opened));
    json_put(root, "seconds", json_number(rendering->seconds));
    return print_json(ctx, root);
}

static int print_text(const struct rendering *rendering,
                      const bouma_dataset_info *reads)
{
    char count[FORMAT_BYTES], read[FORMAT_BYTES], files[FORMAT_BYTES],
        seconds[FORMAT_BYTES];

    printf("%s: ", rendering->call->target);
    print_clean(rendering->title);
    printf(", %g to %g; %s; %d x %d pixels; read %s from %s, %s\n",
           rendering->picture.low, rendering->picture.high,
           format_count(count, rendering->splats.particles, "particle"),
           rendering->canvas.width, rendering->canvas.height,
           format_bytes(read, reads->bytes_read),
           format_count(files, reads->files_opened, "file"),
           format_seconds(seconds, rendering->seconds));
    return DONE;
}

int render_particles(struct render_call *call, struct context *ctx)
{
    struct rendering rendering = {.call = call};
    bouma_dataset_info reads = {.size = sizeof(reads)};
    int rc = choose(&rendering, ctx);

    if (!rc)
        rc = draw(&rendering, ctx);
    progress_bar_clear(&call->bar);
    rendering.seconds = stopwatch_now() - call->start;
    if (!rc) {
        reads = render_count_reads(call, ctx);
        /* Standard output may be where the picture goes. */
        if (context_prints(ctx) && strcmp(call->target, "-") != 0)
            rc = ctx->json ? print_object(&rendering, ctx, &reads)
                           : print_text(&rendering, &reads);
    }
    canvas_release(&rendering.canvas);
    raster_release(&rendering.raster);
    particle_query_release(&rendering.query);
    return rc;
}
