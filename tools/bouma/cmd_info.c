/* cmd_info.c -- bouma info: what is in a dataset. */
#include <stdlib.h>

#include "arguments.h"
#include "end_reading.h"
#include "info.h"
#include "locate.h"

static const struct option_spec options[] = {
    {.name = "step", .argument = "N", .help = "this step only"},
    {.name = "all",
     .help = "all steps, grids, sets of particles and variables; default: of "
             "many, some"},
    {.name = "tree", .help = "draw the trees over the files of particles"},
    {0}};

int info_open_step(const struct info *info, struct context *ctx, int64_t i,
                   bouma_step **out, bouma_step_details *details)
{
    bouma_step_info which = {.size = sizeof(which)};
    int status = bouma_dataset_step_get(&which, info->ds, i);

    *out = NULL;
    if (!status)
        status = bouma_step_open(out, info->ds, which.step);
    if (!status)
        status = bouma_step_details_get(details, *out);
    if (!status)
        return DONE;
    bouma_step_free(*out);
    *out = NULL;
    *info->status = status;
    return context_fail_status(ctx, status, bouma_error_message(info->ds));
}

const char *info_trouble(const struct info *info)
{
    return *info->status == BOUMA_EVERSION ? "newer"
           : *info->status == BOUMA_EIO    ? "unreadable"
                                           : "damaged";
}

int info_losses(const struct info *info, struct context *ctx,
                void (*each)(void *user, const bouma_loss *loss), void *user)
{
    char message[1024] = "";
    int status =
        bouma_losses(info->path, NULL, each, user, message, sizeof(message));

    return status ? context_fail_status(ctx, status, message) : DONE;
}

/* The steps to show: all, or the one that was asked for. */
static int choose_steps(struct info *info, struct context *ctx,
                        const struct arguments *args)
{
    int64_t wanted = 0;
    int rc = DONE;
    bouma_step_info step = {.size = sizeof(step)};
    bouma_step *none;
    int status;

    info->last = bouma_dataset_step_count(info->ds);
    info->one_step = arguments_has(args, "step");
    if (info->last < 0)
        return context_fail_status(ctx, BOUMA_EIO,
                                   bouma_error_message(info->ds));
    if (info->one_step)
        rc = locate_number(&wanted, ctx, info->ds, args);
    if (rc || !info->one_step)
        return rc;
    for (int64_t i = 0; i < info->last; i++)
        if (bouma_dataset_step_get(&step, info->ds, i) == BOUMA_OK &&
            step.step == wanted) {
            info->first = i;
            info->last = i + 1;
            return DONE;
        }
    /* One that is lost says so. */
    status = bouma_step_open(&none, info->ds, wanted);
    bouma_step_free(none);
    if (status && status != BOUMA_ENOTFOUND)
        return context_fail_status(ctx, status, bouma_error_message(info->ds));
    return context_fail_missing(
        ctx, "there is no step %lld; '%s info %s' lists them",
        (long long)wanted, session_program(), info->path);
}

static int run(struct context *ctx, const struct arguments *args)
{
    struct info info = {.path = args->operands[0],
                        .tree = arguments_has(args, "tree"),
                        .all = arguments_has(args, "all")};
    int status, rc;

    info.status = &status;
    if (!context_prints(ctx)) /* there is nothing to do for the others */
        return DONE;
    status = bouma_dataset_open(&info.ds, info.path, NULL);
    if (status)
        rc = context_fail_status(ctx, status, bouma_error_message(info.ds));
    else
        rc = choose_steps(&info, ctx, args);
    if (!rc)
        rc = ctx->json ? info_print_json(&info, ctx)
                       : info_print_text(&info, ctx);
    end_reading_alone(ctx, info.ds);
    return rc;
}

const struct command cmd_info = {
    .name = "info",
    .summary = "show the content of a dataset",
    .operands = "DS [options]",
    .least = 1,
    .most = 1,
    .examples = "  bouma info run.bouma\n"
                "  bouma info run.bouma --step 40\n"
                "  bouma info run.bouma --tree\n"
                "  bouma info run.bouma --json | jq '.steps[].time'\n",
    .footer = "Balance is the size of the largest file over the mean. With "
              "--json, nothing is left\n"
              "out.\n",
    .options = options,
    .run = run};
