/* cmd_drain.c -- bouma drain: steps that were kept on local storage come to
 * the dataset itself. */
#include <inttypes.h>
#include <stdio.h>

#include "arguments.h"
#include "format_text.h"
#include "print_json.h"
#include "progress_bar.h"
#include "stopwatch.h"

static const struct option_spec options[] = {
    {.name = "remove",
     .help = "then remove from LOCAL the steps that DS has, identical and "
             "whole, or has dropped"},
    {.field = "force"},
    {0}};

/* Whether there is something to tell after a failure. */
static bool did_something(const bouma_drain_report *report)
{
    return report->present || report->published || report->waiting ||
           report->failed || report->removed || report->files ||
           report->older || report->losses || report->dropped;
}

static void print_text(const struct session_drain *drain, double seconds)
{
    const bouma_drain_report *report = &drain->report;
    char a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES], d[FORMAT_BYTES];

    printf("%s: %s drained to %s (%s, %s in %s)", drain->local,
           format_count(a, report->published, "step"), drain->path,
           format_count(b, report->files, "file"),
           format_bytes(c, report->bytes), format_seconds(d, seconds));
    if (report->replaced)
        printf(", %" PRIu64 " of them replacing an earlier version",
               report->replaced);
    if (report->present)
        printf(", %s there before", format_count(a, report->present, "step"));
    if (report->removed)
        printf(", %s removed here", format_count(a, report->removed, "step"));
    putchar('\n');
    if (report->older)
        printf("%s not copied, and kept here: there is a later version\n",
               format_count(a, report->older, "step"));
    if (report->dropped)
        printf("%s not copied: dropped from %s\n",
               format_count(a, report->dropped, "step"), drain->path);
    if (report->losses)
        printf("%s recorded there: see `bouma verify`\n",
               format_count(a, report->losses, "lost step"));
    if (report->waiting)
        printf("%s waiting for files of other nodes: drain those nodes, too\n",
               format_count(a, report->waiting, "step"));
    if (report->failed)
        printf("%s failed, and kept here\n",
               format_count(a, report->failed, "step"));
}

static int print_object(struct context *ctx, const struct session_drain *drain,
                        double seconds)
{
    const bouma_drain_report *report = &drain->report;
    json_t *root = json_object();

    json_put(root, "local", json_text(drain->local));
    json_put(root, "dataset", json_text(drain->path));
    json_put(root, "steps", json_count(report->steps));
    json_put(root, "present", json_count(report->present));
    json_put(root, "published", json_count(report->published));
    json_put(root, "replaced", json_count(report->replaced));
    json_put(root, "older", json_count(report->older));
    json_put(root, "dropped", json_count(report->dropped));
    json_put(root, "losses", json_count(report->losses));
    json_put(root, "waiting", json_count(report->waiting));
    json_put(root, "failed", json_count(report->failed));
    json_put(root, "removed", json_count(report->removed));
    json_put(root, "files", json_count(report->files));
    json_put(root, "bytes", json_count(report->bytes));
    json_put(root, "seconds", json_number(seconds));
    return print_json(ctx, root);
}

static int run(struct context *ctx, const struct arguments *args)
{
    double start = stopwatch_now();
    struct session_drain drain = {.local = args->operands[0],
                                  .path = args->operands[1],
                                  .remove = arguments_has(args, "remove")};
    struct progress_bar bar;
    bouma_options opts = {.size = sizeof(opts)};
    int status, rc;

    rc = arguments_fields(args, ctx, &opts);
    if (rc)
        return rc;
    progress_bar_init(&bar, ctx, &opts);
    drain.opts = &opts;
    status = session_drain(ctx->session, &drain);
    progress_bar_clear(&bar);
    if (context_prints(ctx) && (!status || did_something(&drain.report))) {
        if (ctx->json)
            rc = print_object(ctx, &drain, stopwatch_now() - start);
        else
            print_text(&drain, stopwatch_now() - start);
    }
    return status ? context_fail_status(ctx, status, drain.message) : rc;
}

const struct command cmd_drain = {
    .name = "drain",
    .summary = "copy steps from local storage to the dataset they belong to",
    .operands = "LOCAL DS [--remove]",
    .least = 2,
    .most = 2,
    .examples =
        "  bouma drain /local/ssd/run.bouma /project/run.bouma\n"
        "  bouma drain /local/ssd/run.bouma /project/run.bouma --remove\n"
        "  mpirun -N 1 bouma-mpi drain /local/ssd/run.bouma "
        "/project/run.bouma\n",
    .footer =
        "LOCAL is the dataset that a program with the option 'persist' "
        "has left. Steps that\n"
        "DS has are not copied again. Every byte is checked, and a step "
        "appears when it is\n"
        "complete. An interrupted drain can be repeated, and continues "
        "where it stopped.\n"
        "\n"
        "If a step was rewritten in LOCAL or DS, the version of the later "
        "writer counts. If\n"
        "LOCAL has it, it replaces that of DS; if DS has it, LOCAL keeps "
        "its own, also with\n"
        "--remove. Steps that LOCAL has lost are recorded in DS. Steps "
        "that `bouma\n"
        "truncate` has dropped from DS are not copied, and --remove "
        "removes them.\n"
        "\n"
        "A step that is damaged, in LOCAL or DS, stays in LOCAL. The "
        "others are drained,\n"
        "and the exit status is that of the failure.\n"
        "\n"
        "With several nodes, each has the files of its own processes: "
        "drain all of them, in\n"
        "any order or at once (as in the last example).\n",
    .options = options,
    .run = run};
