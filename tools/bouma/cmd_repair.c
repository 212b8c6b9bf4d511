/* cmd_repair.c -- bouma repair: mend what can be mended. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "format_text.h"
#include "print_json.h"
#include "progress_bar.h"
#include "report_findings.h"

static const struct option_spec options[] = {
    {.name = "apply",
     .help = "do it; without this, only report what would be done"},
    {.name = "forget",
     .argument = "STEP",
     .help = "forget that this step is lost, or a part of it; `all`: all "
             "losses"},
    {.field = "force"},
    {0}};

/* The step of --forget, -1 for all. */
static int parse_forget(struct context *ctx, const struct arguments *args,
                        int64_t *step)
{
    *step = -1;
    return strcmp(arguments_text(args, "forget"), "all") == 0
               ? DONE
               : arguments_integer(args, ctx, "forget", 0, step);
}

static void count_loss(void *user, const bouma_loss *loss)
{
    uint64_t *count = user;

    *count += !loss->accepted;
}

/* Whether there is a loss that can be forgotten: not all damage is one. */
static bool may_forget(const char *path)
{
    bouma_options opts = {.size = sizeof(opts)};
    char message[1024];
    uint64_t count = 0;

    bouma_losses(path, &opts, count_loss, &count, message, sizeof(message));
    return count > 0;
}

/* 'remarks': there were notes that are no actions, as of what was forgotten. */
static void print_text(const char *path, bool apply, bool forgets, bool remarks,
                       const bouma_repair_report *report)
{
    char actions[FORMAT_BYTES], hopeless[FORMAT_BYTES];

    if (report->actions == 0 && report->hopeless == 0 &&
        report->unchecked == 0) {
        printf("%s: %s\n", path,
               forgets   ? "nothing to forget; bouma repair --apply records "
                           "losses that are not on record yet"
               : remarks ? "nothing to repair; except for what is noted above, "
                           "all checksums match"
                         : "nothing to repair, and all checksums match");
        return;
    }
    printf("%s: %s %s", path, format_count(actions, report->actions, "action"),
           apply ? "done" : "to do");
    if (report->hopeless > 0)
        printf("; %s %s, all else can be read",
               format_count(hopeless, report->hopeless, "damage"),
               report->hopeless == 1 ? "stays" : "stay");
    if (report->unchecked > 0)
        printf("; %" PRIu64 " could not be checked and %s left as %s",
               report->unchecked, report->unchecked == 1 ? "is" : "are",
               report->unchecked == 1 ? "it is" : "they are");
    if (!apply && report->actions > 0)
        printf("; add --apply to do it");
    else if (apply && report->hopeless > 0 && may_forget(path))
        printf("; --forget says that you know what is lost");
    putchar('\n');
}

/* After a forgetting: what verify finds then is what stays, also if it is not
 * on record. */
static int look_again(const struct context *ctx, const char *path,
                      const bouma_options *opts, bouma_repair_report *report,
                      char *message, size_t bytes)
{
    bouma_verify_report found = {.size = sizeof(found)};
    int status = bouma_verify(&found, path, BOUMA_DEPTH_FULL, opts, NULL, NULL,
                              message, bytes);

    if (status)
        return status;
    if (found.damages > report->hopeless && !ctx->json)
        printf("there is damage that is not on record: see `bouma verify`; "
               "`bouma repair --apply` records it\n");
    report->hopeless = found.damages;
    report->unchecked = found.unchecked;
    return status;
}

static int print_object(struct context *ctx, const char *path, bool apply,
                        const bouma_repair_report *report, json_t *findings)
{
    json_t *root = json_object();

    json_put(root, "dataset", json_text(path));
    json_put(root, "applied", json_boolean(apply));
    json_put(root, "actions", json_count(report->actions));
    json_put(root, "hopeless", json_count(report->hopeless));
    json_put(root, "unchecked", json_count(report->unchecked));
    json_put(root, "findings", json_incref(findings));
    return print_json(ctx, root);
}

static int run(struct context *ctx, const struct arguments *args)
{
    const char *path = args->operands[0];
    bool apply = arguments_has(args, "apply");
    bool forgets = arguments_has(args, "forget");
    bouma_repair_report report = {.size = sizeof(report)};
    struct progress_bar bar;
    struct findings findings;
    bouma_options opts = {.size = sizeof(opts)};
    char message[1024] = "";
    int64_t forgotten = -1;
    int status, rc = DONE;

    if (!context_prints(ctx)) /* one process does it */
        return DONE;
    rc = arguments_fields(args, ctx, &opts);
    if (!rc && forgets)
        rc = parse_forget(ctx, args, &forgotten);
    if (rc)
        return rc;
    progress_bar_init(&bar, ctx, &opts);
    findings_init(&findings, ctx, &bar);
    status = forgets ? bouma_repair_forget(&report, path, forgotten, apply,
                                           &opts, findings_add, &findings,
                                           message, sizeof(message))
                     : bouma_repair(&report, path, apply, &opts, findings_add,
                                    &findings, message, sizeof(message));
    if (!status && forgets && apply)
        status =
            look_again(ctx, path, &opts, &report, message, sizeof(message));
    progress_bar_clear(&bar);
    if (status) {
        rc = context_fail_status(ctx, status, message);
        /* As verify has it: it could not be looked at. */
        if (status == BOUMA_EIO || status == BOUMA_EVERSION ||
            status == BOUMA_ELIMIT)
            rc = CALL_AT_FAULT;
    } else if (ctx->json) {
        rc = print_object(ctx, path, apply, &report, findings.list);
    } else {
        print_text(path, apply, forgets, findings.notes > report.actions,
                   &report);
    }
    findings_release(&findings);
    if (!rc && report.hopeless > 0)
        rc = DATA_AT_FAULT;
    else if (!rc && report.unchecked > 0)
        rc = CALL_AT_FAULT;
    return rc;
}

const struct command cmd_repair = {
    .name = "repair",
    .summary = "repair a dataset; a dry run unless --apply is given",
    .operands = "DS [--apply] [--forget STEP]",
    .least = 1,
    .most = 1,
    .examples = "  bouma repair run.bouma\n"
                "  bouma repair run.bouma --apply\n"
                "  bouma repair run.bouma --forget 35 --apply\n",
    .footer =
        "All data are read and compared with their checksums. A damaged head, "
        "end or\n"
        "manifest is rebuilt from its copy, missing directories and the index "
        "are rebuilt,\n"
        "and complete steps that a killed program has left are published. "
        "Losses (steps,\n"
        "files, chunks) are recorded, and count as damage until they are "
        "forgotten\n"
        "(--forget) or the step is rewritten; everything else can be read.\n"
        "\n"
        "Whatever is in the way is moved to lost/ in the dataset. This "
        "includes\n"
        "directories, pipes and devices that have the name of a file, and a "
        "copy of a step\n"
        "under another number. A renamed step gets its number back. Only these "
        "are removed:\n"
        "the files of an earlier version of a step that was rewritten and is "
        "whole; the\n"
        "record of a loss that is over or forgotten; the old index, when it is "
        "rebuilt; the\n"
        "empty directory of a lost step.\n"
        "\n"
        "The exit status is that of verify: 0 if everything is repaired, 1 if "
        "damage\n"
        "remains, 2 if something could not be checked (the device fails, a "
        "newer version\n"
        "wrote it, or the option memory_limit is too low), which is left as it "
        "is. With\n"
        "--forget and --apply, all data are verified for that; --forget "
        "without --apply\n"
        "reads no data, and knows only of recorded damage and of missing "
        "steps.\n",
    .options = options,
    .run = run};
