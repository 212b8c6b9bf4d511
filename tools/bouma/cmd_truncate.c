/* cmd_truncate.c -- bouma truncate: drop the steps after a restart point. */
#include "arguments.h"
#include "dataset_steps.h"
#include "progress_bar.h"

static const struct option_spec options[] = {
    {.name = "after",
     .argument = "N",
     .help = "the last step that is kept (required); -1 keeps none"},
    {.field = "force"},
    {0}};

static int run(struct context *ctx, const struct arguments *args)
{
    const char *path = args->operands[0];
    struct progress_bar bar;
    bouma_dataset *ds = NULL;
    bouma_options opts = {.size = sizeof(opts)};
    int64_t after = -1, before, left;
    int status, closed, rc;

    if (!arguments_has(args, "after"))
        return context_fail(ctx, CALL_AT_FAULT,
                            "say which step is the last to keep: --after N");
    rc = arguments_integer(args, ctx, "after", -1, &after);
    if (rc)
        return rc;
    rc = arguments_fields(args, ctx, &opts);
    if (rc)
        return rc;
    progress_bar_init(&bar, ctx, &opts);
    status = session_append(ctx->session, &ds, path, &opts);
    before = bouma_dataset_step_count(ds);
    if (!status)
        status = bouma_dataset_truncate(ds, after);
    left = bouma_dataset_step_count(ds);
    for (int i = 0; !status && bouma_dataset_note(ds, i); i++)
        context_note(ctx, "%s", bouma_dataset_note(ds, i));
    if (status)
        rc = context_fail_status(ctx, status, bouma_error_message(ds));
    closed = ds && !status ? bouma_dataset_close(ds) : BOUMA_OK;
    progress_bar_clear(&bar);
    if (!rc && closed)
        rc = context_fail_status(ctx, closed, bouma_error_message(ds));
    if (!rc)
        rc = dataset_steps_gone(ctx, path, "dropped", (uint64_t)(before - left),
                                (uint64_t)left);
    bouma_dataset_free(ds);
    return rc;
}

const struct command cmd_truncate = {
    .name = "truncate",
    .summary = "drop the steps after a restart point",
    .operands = "DS --after N",
    .least = 1,
    .most = 1,
    .examples = "  bouma truncate run.bouma --after 40\n",
    .footer =
        "Steps are dropped for good, the last one first. If the command "
        "is interrupted,\n"
        "each step is either complete or dropped.\n"
        "\n"
        "Copies that a run with the option persist has left on nodes "
        "stay, but no drain\n"
        "brings them back. To remove them, too, truncate with the same "
        "options\n"
        "(BOUMA_OPTIONS=\"persist=yes;local=DIR\"), on every node; or use "
        "`bouma drain\n"
        "--remove`.\n",
    .options = options,
    .run = run};
