/* cmd_plot.c -- bouma plot: series of numbers as curves or bars. */
#include <stdio.h>

#include "arguments.h"
#include "mapped_file.h"
#include "plot_data.h"
#include "print_json.h"

static const struct option_spec options[] = {{.name = "output",
                                              .letter = 'o',
                                              .argument = "OUT.png",
                                              .help = "the picture"},
                                             {0}};

/* Each process reads it all. */
static int read_plot(struct plot *out, struct context *ctx, const char *path)
{
    struct mapped_file file = {0};
    char message[512];
    int rc = mapped_file_open(&file, ctx, path);

    if (!rc &&
        !plot_parse(out, file.bytes, file.size, message, sizeof(message)))
        rc = context_fail(ctx, DATA_AT_FAULT, "%s: %s", path, message);
    mapped_file_close(&file);
    return rc;
}

static int tell(const struct plot *plot, struct context *ctx, const char *path)
{
    json_t *root;

    if (!context_prints(ctx) || !ctx->json)
        return DONE;
    root = json_object();
    json_put(root, "file", json_text(path));
    json_put(root, "series", json_count(plot->count));
    return print_json(ctx, root);
}

static int run(struct context *ctx, const struct arguments *args)
{
    const char *picture = arguments_text(args, "output");
    const struct exporter *exporter;
    struct canvas canvas = {0};
    struct plot plot = {.count = 0};
    int rc = exporter_find(&exporter, ctx, EXPORT_PICTURE, picture);

    if (!rc)
        rc = read_plot(&plot, ctx, args->operands[0]);
    if (!rc)
        rc = plot_draw(&canvas, ctx, &plot);
    rc = context_agree(ctx, rc);
    if (!rc)
        rc = exporter_draw(ctx, picture, &canvas);
    if (!rc)
        rc = tell(&plot, ctx, picture);
    canvas_release(&canvas);
    plot_release(&plot);
    return rc;
}

const struct command cmd_plot = {
    .name = "plot",
    .summary = "draw curves or bars of numbers from a file",
    .operands = "DATA.json -o OUT.png",
    .least = 1,
    .most = 1,
    .examples = "  bouma plot scaling.json -o scaling.png\n",
    .footer =
        "DATA.json is such a file; \"kind\" is curves or bars:\n"
        "\n"
        "  {\"format\": \"bouma-plot\", \"kind\": \"curves\", \"title\": "
        "\"Writes\",\n"
        "   \"x\": {\"label\": \"ranks\", \"scale\": \"log2\"}, \"y\": "
        "{\"label\": \"GiB/s\"},\n"
        "   \"series\": [{\"name\": \"balanced\", \"x\": [512, 1024], \"y\": "
        "[3.1, 5.9]},\n"
        "              {\"name\": \"paper\", \"dashed\": true, \"x\": [512], "
        "\"y\": [4]}]}\n"
        "\n"
        "A scale is linear (default), log or log2. \"low\" and \"high\" of an "
        "axis are its ends;\n"
        "of a series, lists: the ends of a line through each point. null is no "
        "number. Bars\n"
        "have \"labels\", a text for each number, in place of \"x\".\n"
        "\n"
        "Results of './dev bench --json' can be given, too: bars show each "
        "figure as a ratio to\n"
        "its reference.\n",
    .options = options,
    .exports = EXPORT_PICTURE,
    .run = run};
