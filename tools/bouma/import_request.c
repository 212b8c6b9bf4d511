/* import_request.c -- what a call of `bouma import` asks for. */
#include "import_request.h"

#include <stdio.h>
#include <string.h>

#include "bouma_lists.h"
#include "choice_names.h"
#include "hz_arguments.h"
#include "importer.h"

/* ---- reading ------------------------------------------------------------- */

static int read_step(struct import_request *request, struct context *ctx)
{
    int rc = DONE;

    if (!request->series)
        rc = arguments_integer(request->args, ctx, "step", 0, &request->step);
    request->adds = request->args->command == &cmd_add;
    request->step_given = arguments_has(request->args, "step");
    request->time_given = arguments_has(request->args, "time");
    return rc ? rc
              : arguments_number(request->args, ctx, "time", &request->time);
}

static int read_type(struct import_request *request, struct context *ctx)
{
    const char *text = arguments_text(request->args, "type");

    if (!text)
        return DONE;
    request->request.type = bouma_type_parse(text);
    if (!request->request.type || request->request.type == BOUMA_TYPE_STRING)
        return context_fail(ctx, CALL_AT_FAULT, "--type %s: there are %s", text,
                            TYPE_NAMES);
    return DONE;
}

static int read_request(struct import_request *request, struct context *ctx)
{
    int64_t components = 0;
    int rc =
        arguments_integers(request->args, ctx, "shape", request->request.shape,
                           &request->request.ndims);

    if (!rc)
        rc =
            arguments_integer(request->args, ctx, "components", 1, &components);
    if (!rc && components > INT16_MAX)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--components %lld: at most %d are possible",
                          (long long)components, INT16_MAX);
    request->request.components = (int)components;
    return rc ? rc : read_type(request, ctx);
}

static int read_codec(struct import_request *request, struct context *ctx)
{
    const char *text = arguments_text(request->args, "codec");
    int64_t level = 0;
    int rc = arguments_integer(request->args, ctx, "codec-level", 1, &level);

    if (rc)
        return rc;
    if (level > 22)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--codec-level %lld: zstd has 1 to 22",
                            (long long)level);
    request->variable.codec_level = (int)level;
    request->variable.nominal = arguments_has(request->args, "nominal");
    if (!text)
        return DONE;
    request->variable.codec = bouma_codec_parse(text);
    if (!request->variable.codec)
        return context_fail(ctx, CALL_AT_FAULT, "--codec %s: there are %s",
                            text, CHOICE_NAMES(BOUMA_CODEC_LIST));
    return DONE;
}

/* Absolute or relative, above 0. */
static int read_tolerance(struct import_request *request, struct context *ctx)
{
    const struct arguments *args = request->args;
    bool relative = arguments_has(args, "relative");
    const char *name = relative ? "relative" : "tolerance";
    int rc = arguments_number(args, ctx, name, &request->variable.tolerance);

    if (rc || !arguments_has(args, name))
        return rc;
    if (relative && arguments_has(args, "tolerance"))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--tolerance and --relative: give one of them");
    if (!(request->variable.tolerance > 0))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--%s %s: it must be above 0; to keep every bit, "
                            "leave it out",
                            name, arguments_text(args, name));
    if (relative && request->variable.tolerance >= 1)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--relative %s: it is a fraction of the range of "
                            "the values, such as 1e-3, and must be below 1",
                            arguments_text(args, name));
    request->variable.tolerance_kind =
        relative ? BOUMA_TOLERANCE_RELATIVE : BOUMA_TOLERANCE_ABSOLUTE;
    return DONE;
}

bool import_codec_yields(bouma_codec codec)
{
    bouma_codec_info about = {.size = sizeof(about)};

    bouma_codec_info_get(&about, codec);
    return about.particles && about.tolerance;
}

/* Of particles, zstd stores what has no tolerance, unless another codec does
 * without. */
static int check_effort(const struct import_request *request,
                        struct context *ctx)
{
    bool particles = request->particles_name != NULL;
    bool rounded = arguments_has(request->args, "hz-wavelet");
    bouma_codec codec = particles || (rounded && request->variable.codec)
                            ? request->variable.codec
                        : rounded ? BOUMA_CODEC_ZSTD
                                  : bouma_grid_codec(&request->variable);
    bouma_codec_info about = {.size = sizeof(about)};

    bouma_codec_info_get(&about, codec);
    if (!request->variable.codec_level || about.effort ||
        (particles && (!codec || import_codec_yields(codec))))
        return DONE;
    return context_fail(ctx, CALL_AT_FAULT,
                        "--codec-level %d: it is the effort of zstd, and %s "
                        "has none; leave it out",
                        request->variable.codec_level, bouma_codec_name(codec));
}

static int check_patch(const struct import_request *request,
                       struct context *ctx)
{
    for (int i = 0; i < request->patches; i++) {
        int64_t edge = request->grid.patch[i];

        if (edge & (edge - 1))
            return context_fail(ctx, CALL_AT_FAULT,
                                "--patch %s: %lld is not a power of two, as "
                                "the edges of patches are",
                                arguments_text(request->args, "patch"),
                                (long long)edge);
    }
    return DONE;
}

/* To the library 0 means 1, which nobody who writes 0 here has in mind. Where
 * an axis runs downwards, it is negative. */
static int check_spacing(const struct import_request *request,
                         struct context *ctx)
{
    for (int i = 0; i < request->spacings; i++)
        if (request->grid.spacing[i] == 0)
            return context_fail(ctx, CALL_AT_FAULT,
                                "--spacing %s: samples cannot be 0 apart; "
                                "leave it out for 1",
                                arguments_text(request->args, "spacing"));
    return DONE;
}

static int read_layout(struct import_request *request, struct context *ctx)
{
    int rc = hz_arguments_read(&request->grid, ctx, request->args);

    if (!rc && request->grid.layout == BOUMA_LAYOUT_HZ)
        hz_arguments_note_files(ctx, request->args);
    if (!rc && request->grid.layout == BOUMA_LAYOUT_HZ &&
        arguments_has(request->args, "order"))
        context_note(ctx, "--order has no effect on layout hz: blocks have no "
                          "levels of their own");
    return rc;
}

static int read_grid(struct import_request *request, struct context *ctx)
{
    const struct arguments *args = request->args;
    bouma_grid_spec *grid = &request->grid;
    int64_t levels = 0;
    int rc = arguments_integer(args, ctx, "levels", 1, &levels);

    if (!rc && levels > 63)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--levels %lld: no grid has that many",
                          (long long)levels);
    grid->levels = (int)levels;
    if (!rc)
        rc = read_layout(request, ctx);
    if (!rc)
        rc = arguments_integers(args, ctx, "patch", grid->patch,
                                &request->patches);
    if (!rc)
        rc = check_patch(request, ctx);
    if (!rc)
        rc = arguments_numbers(args, ctx, "spacing", grid->spacing,
                               &request->spacings);
    if (!rc)
        rc = check_spacing(request, ctx);
    if (!rc)
        rc = arguments_numbers(args, ctx, "origin", grid->origin,
                               &request->origins);
    return rc;
}

/* Options that only grids have, or only particles. */
static int check_kind(const struct import_request *request, struct context *ctx)
{
    bool particles = request->particles_name != NULL;
    enum option_scope other = particles ? FOR_GRIDS : FOR_PARTICLES;
    int rc;

    for (int n = 0; n < request->args->given_count; n++)
        if (request->args->given[n].option.scope == other)
            return context_fail(ctx, CALL_AT_FAULT,
                                particles
                                    ? "--%s is for grids; leave it out, or "
                                      "leave --particles out"
                                    : "--%s is for particles; add --particles "
                                      "NAME",
                                request->args->given[n].option.name);
    if (particles)
        return DONE;
    rc = arguments_check_grid_assign(request->args, ctx, "; for grids");
    if (!rc && request->args->operand_count == 0)
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "too few arguments; usage: %s import "
                          "SRC... --into DS [options]",
                          session_program());
    return rc;
}

/* One name for each source, or none at all; attributes with a name. */
static int check_texts(const struct import_request *request,
                       struct context *ctx)
{
    const struct arguments *args = request->args;
    int sources = args->operand_count;
    int vars = arguments_count(args, "var");
    int units = arguments_count(args, "unit");

    if (request->series && sources > 1)
        return context_fail(ctx, CALL_AT_FAULT,
                            "%d files, and one of them has variables of its "
                            "own: import it separately",
                            sources);
    if (!request->series && arguments_has(args, "fill-missing"))
        return context_fail(ctx, CALL_AT_FAULT,
                            "--fill-missing is for .idx files; leave it out");
    if (vars && vars != sources && !request->particles_name && !request->series)
        return context_fail(
            ctx, CALL_AT_FAULT,
            "%d --var for %d file%s: name each of them, or none", vars, sources,
            sources == 1 ? "" : "s");
    if (units > 1 && units != sources && !request->series)
        return context_fail(
            ctx, CALL_AT_FAULT,
            "%d --unit for %d file%s: give one, or one for each", units,
            sources, sources == 1 ? "" : "s");
    for (int i = 0; i < arguments_count(args, "attr"); i++) {
        const char *text = arguments_nth(args, "attr", i);
        size_t length = strcspn(text, "=");

        if (text[0] == '=' || !strchr(text, '='))
            return context_fail(ctx, CALL_AT_FAULT,
                                "--attr %s: write it as NAME=VALUE", text);
        for (int k = 0; k < i; k++)
            if (strncmp(text, arguments_nth(args, "attr", k), length + 1) == 0)
                return context_fail(ctx, CALL_AT_FAULT,
                                    "--attr %.*s is given twice", (int)length,
                                    text);
    }
    return DONE;
}

/* What the command line leaves open: whatever is decided by the options here is
 * decided by what the library will be told. */
static int read_environment(struct import_request *request, struct context *ctx)
{
    static const char *const numbers[] = {"files", "file_size", "memory_limit",
                                          "persist"};
    char text[32], message[512] = "";
    int status =
        bouma_options_get(request->local, sizeof(request->local),
                          &request->opts, "local", message, sizeof(message));

    for (int i = 0; !status && i < 4; i++) {
        status = bouma_options_get(text, sizeof(text), &request->opts,
                                   numbers[i], message, sizeof(message));
        if (!status && text[0])
            status = bouma_options_set(&request->opts, numbers[i], text,
                                       message, sizeof(message));
    }
    return status ? context_fail_status(ctx, status, message) : DONE;
}

int import_request_storage(struct import_request *request, struct context *ctx)
{
    int rc = read_codec(request, ctx);

    if (!rc)
        rc = read_tolerance(request, ctx);
    if (!rc)
        rc = check_effort(request, ctx);
    if (!rc)
        rc = read_grid(request, ctx);
    if (!rc)
        rc = arguments_fields(request->args, ctx, &request->opts);
    return rc ? rc : read_environment(request, ctx);
}

int import_request_read(struct import_request *out, struct context *ctx,
                        const struct arguments *args)
{
    int rc;

    *out = (struct import_request){
        .args = args,
        .path = arguments_text(args, "into"),
        .grid_name = arguments_text(args, "grid"),
        .particles_name = arguments_text(args, "particles"),
        .grid = {.size = sizeof(bouma_grid_spec),
                 .unit = arguments_text(args, "length-unit")},
        .variable = {.size = sizeof(bouma_variable_spec)}};
    out->opts = (bouma_options){.size = sizeof(out->opts)};
    if (!out->grid_name)
        out->grid_name = "grid";
    for (int i = 0; !out->particles_name && i < args->operand_count; i++)
        if (importer_find_series(args->operands[i]))
            out->series = true;
    if (!out->path)
        return context_fail(ctx, CALL_AT_FAULT,
                            "say where to write: --into NAME.bouma");
    rc = check_kind(out, ctx);
    if (!rc)
        rc = check_texts(out, ctx);
    if (!rc)
        rc = read_step(out, ctx);
    if (!rc)
        rc = read_request(out, ctx);
    return rc ? rc : import_request_storage(out, ctx);
}

/* ---- with the sources ---------------------------------------------------- */

/* A list that was given has a value for each axis; where 'repeat' is set, one
 * value can stand for all of them. */
static int check_axes(const struct import_request *request, struct context *ctx,
                      const char *name, int count, bool repeat)
{
    int ndims = request->grid.ndims;

    if (count == 0 || count == ndims || (count == 1 && repeat))
        return DONE;
    return context_fail(ctx, CALL_AT_FAULT,
                        "--%s has %d values, but the grid has %d %s", name,
                        count, ndims, ndims == 1 ? "axis" : "axes");
}

/* A template that fits ranks, if it is asked for. */
static int choose_template(struct import_request *request, struct context *ctx)
{
    bool ranks = hz_arguments_wants_ranks(request->args);

    if (!ranks && !arguments_has(request->args, "hz-ranks") &&
        !arguments_has(request->args, "rank-order"))
        return DONE;
    request->grid.hz_template = request->hz_template;
    return hz_arguments_template(request->hz_template, ctx, request->args,
                                 &request->grid, request->ranks);
}

int import_request_shape(struct import_request *request, struct context *ctx,
                         int ndims, const int64_t *shape)
{
    bouma_grid_spec *grid = &request->grid;
    int rc;

    grid->ndims = ndims;
    for (int i = 0; i < ndims; i++) {
        grid->shape[i] = shape[i];
        if (request->patches == 1)
            grid->patch[i] = grid->patch[0];
        if (request->spacings == 1)
            grid->spacing[i] = grid->spacing[0];
    }
    rc = check_axes(request, ctx, "patch", request->patches, true);
    if (!rc)
        rc = check_axes(request, ctx, "spacing", request->spacings, true);
    if (!rc)
        rc = check_axes(request, ctx, "origin", request->origins, false);
    if (!rc)
        rc = choose_template(request, ctx);
    return rc;
}

void import_request_name(const struct import_request *request, int i, char *out,
                         size_t bytes)
{
    const char *given = arguments_nth(request->args, "var", i);
    const char *path = request->args->operands[i];
    const char *slash = strrchr(path, '/');
    const char *stem = slash ? slash + 1 : path;
    const char *suffix = strrchr(stem, '.'); /* every source has one */

    if (given)
        snprintf(out, bytes, "%s", given);
    else
        snprintf(out, bytes, "%.*s", (int)(suffix - stem), stem);
}

const char *import_request_unit(const struct import_request *request, int i)
{
    bool shared = arguments_count(request->args, "unit") == 1;

    return arguments_nth(request->args, "unit", shared ? 0 : i);
}
