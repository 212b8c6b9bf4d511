/* cmd_verify.c -- bouma verify: is a dataset sound? */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "format_text.h"
#include "print_json.h"
#include "progress_bar.h"
#include "report_findings.h"
#include "stopwatch.h"

static const struct option_spec options[] = {{0}};

static int parse_depth(const char *text, bouma_depth *out)
{
    static const char *const names[] = {NULL, "quick", "meta", "full", "deep"};

    for (int i = 1; i < 5; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (bouma_depth)i;
            return DONE;
        }
    return CALL_AT_FAULT;
}

static bool is_sound(const bouma_verify_report *report)
{
    return report->damages == 0 && report->unchecked == 0;
}

static void print_text(const struct context *ctx, const char *path,
                       const bouma_verify_report *report, double seconds)
{
    char steps[FORMAT_BYTES], files[FORMAT_BYTES], bytes[FORMAT_BYTES],
        text[FORMAT_BYTES], time[FORMAT_BYTES];

    printf("%s: ", path);
    if (report->damages)
        printf("%s%s%s; ", context_red(ctx),
               format_count(text, report->damages, "damage"),
               context_plain(ctx));
    if (report->unchecked)
        printf("%s%" PRIu64 " not checked%s; ", context_red(ctx),
               report->unchecked, context_plain(ctx));
    if (is_sound(report))
        printf("%ssound%s; ", context_green(ctx), context_plain(ctx));
    printf("checked %s, %s, %s in %s\n",
           format_count(steps, report->steps, "step"),
           format_count(files, report->files, "file"),
           format_bytes(bytes, report->bytes), format_seconds(time, seconds));
}

static int print_object(struct context *ctx, struct session_check *check,
                        json_t *findings, double seconds)
{
    const bouma_verify_report *report = &check->report;
    json_t *root = json_object();

    json_put(root, "dataset", json_text(check->path));
    json_put(root, "sound", json_boolean(is_sound(report)));
    json_put(root, "steps", json_count(report->steps));
    json_put(root, "files", json_count(report->files));
    json_put(root, "chunks", json_count(report->chunks));
    json_put(root, "bytes", json_count(report->bytes));
    json_put(root, "notes", json_count(report->notes));
    json_put(root, "damages", json_count(report->damages));
    json_put(root, "unchecked", json_count(report->unchecked));
    json_put(root, "findings", json_incref(findings));
    json_put(root, "seconds", json_number(seconds));
    return print_json(ctx, root);
}

static int run(struct context *ctx, const struct arguments *args)
{
    double start = stopwatch_now();
    const char *depth = args->operand_count > 1 ? args->operands[1] : "full";
    struct session_check check = {.path = args->operands[0]};
    struct progress_bar bar;
    struct findings findings;
    bouma_options opts = {.size = sizeof(opts)};
    int status, rc = DONE;

    if (parse_depth(depth, &check.depth))
        return context_fail(
            ctx, CALL_AT_FAULT,
            "'%s' is not a depth; there are quick, meta, full and deep", depth);
    progress_bar_init(&bar, ctx, &opts);
    findings_init(&findings, ctx, &bar);
    check.opts = &opts;
    check.each = findings_add;
    check.user = &findings;
    status = session_verify(ctx->session, &check);
    progress_bar_clear(&bar);
    if (status) {
        context_fail_status(ctx, status, check.message);
        rc = CALL_AT_FAULT; /* whatever the reason: it could not be checked */
    } else if (context_prints(ctx) && ctx->json) {
        rc = print_object(ctx, &check, findings.list, stopwatch_now() - start);
    } else if (context_prints(ctx)) {
        print_text(ctx, check.path, &check.report, stopwatch_now() - start);
    }
    findings_release(&findings);
    if (!rc && check.report.damages > 0)
        rc = DATA_AT_FAULT;
    else if (!rc && check.report.unchecked > 0)
        rc = CALL_AT_FAULT;
    return rc;
}

const struct command cmd_verify = {
    .name = "verify",
    .summary = "check a dataset for damage",
    .operands = "DS [quick|meta|full|deep]",
    .least = 1,
    .most = 2,
    .words = "quick|meta|full|deep",
    .examples = "  bouma verify run.bouma\n"
                "  bouma verify run.bouma quick\n"
                "  mpirun -n 16 bouma-mpi verify run.bouma deep\n",
    .footer =
        "quick  manifests and file sizes\n"
        "meta   also the tables of chunks\n"
        "full   also every checksum (default)\n"
        "deep   also decodes every chunk and compares its range\n"
        "\n"
        "The exit status is 0 if the dataset is sound, 1 if it is "
        "damaged, 2 if it or a\n"
        "part of it could not be checked: the device fails, a newer "
        "version wrote it, or\n"
        "the option memory_limit is too low.\n"
        "\n"
        "The index, or the record that bouma repair keeps in lost/, shows "
        "that a whole step\n"
        "is lost. If the index is lost together with a step before the "
        "loss is on record,\n"
        "verify can only note a gap in the steps of a writer; if it was "
        "the writer's last\n"
        "step, nothing shows that it existed.\n",
    .options = options,
    .run = run};
