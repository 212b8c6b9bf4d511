/* cmd_repair.c -- bouma repair: mend what can be mended. */
#include <stdio.h>

#include "arguments.h"
#include "format_text.h"
#include "print_json.h"
#include "progress_bar.h"
#include "report_findings.h"

static const struct option_spec options[] = {
    {.name = "apply", .help = "do it; without, only tell what would be done"},
    {.name = "force",
     .field = "force",
     .help = "also if its last writer seems to be at work"},
    {0}};

static void print_text(const char *path, bool apply,
                       const bouma_repair_report *report)
{
    char actions[FORMAT_BYTES], hopeless[FORMAT_BYTES];

    if (report->actions == 0 && report->hopeless == 0) {
        printf("%s: nothing to mend (data are checked by bouma verify)\n",
               path);
        return;
    }
    printf("%s: %s %s", path, format_count(actions, report->actions, "action"),
           apply ? "done" : "to do");
    if (report->hopeless > 0)
        printf(", %s beyond repair",
               format_count(hopeless, report->hopeless, "damage"));
    printf("%s\n",
           apply || report->actions == 0 ? "" : "; add --apply to do it");
}

static int print_object(struct context *ctx, const char *path, bool apply,
                        const bouma_repair_report *report, json_t *findings)
{
    json_t *root = json_object();

    json_put(root, "dataset", json_text(path));
    json_put(root, "applied", json_boolean(apply));
    json_put(root, "actions", json_count(report->actions));
    json_put(root, "hopeless", json_count(report->hopeless));
    json_put(root, "findings", json_incref(findings));
    return print_json(ctx, root);
}

static int run(struct context *ctx, const struct arguments *args)
{
    const char *path = args->operands[0];
    bool apply = arguments_has(args, "apply");
    bouma_repair_report report = {0};
    struct progress_bar bar;
    struct findings findings;
    bouma_options opts;
    char message[1024] = "";
    int status, rc = DONE;

    if (!context_prints(ctx)) /* one process does it */
        return DONE;
    bouma_options_init(&opts, sizeof(opts));
    rc = arguments_fields(args, ctx, &opts);
    if (rc)
        return rc;
    progress_bar_init(&bar, ctx, &opts);
    findings_init(&findings, ctx, &bar);
    status = bouma_repair(path, apply, &opts, findings_add, &findings, &report,
                          message, sizeof(message));
    progress_bar_clear(&bar);
    if (status)
        rc = context_fail_status(ctx, status, message);
    else if (ctx->json)
        rc = print_object(ctx, path, apply, &report, findings.list);
    else
        print_text(path, apply, &report);
    findings_release(&findings);
    if (!rc && report.hopeless > 0)
        rc = DATA_AT_FAULT;
    return rc;
}

const struct command cmd_repair = {
    .name = "repair",
    .summary = "mend a dataset; a dry run unless --apply is given",
    .operands = "DS [--apply]",
    .least = 1,
    .most = 1,
    .examples = "  bouma repair run.bouma\n"
                "  bouma repair run.bouma --apply\n",
    .notes = "Nothing that could be of use is deleted: what is in the way is "
             "moved to lost/ in the\ndataset. Of a step that was written again "
             "and is whole, files of the earlier writing\nare removed. The "
             "exit status is 1 if some damage cannot be "
             "mended.\n",
    .options = options,
    .run = run};
