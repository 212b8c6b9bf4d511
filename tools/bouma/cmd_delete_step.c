/* cmd_delete_step.c -- bouma delete-step: steps that go for good. */
#include <stdlib.h>

#include "arguments.h"
#include "dataset_steps.h"
#include "numbers.h"
#include "progress_bar.h"

static const struct option_spec options[] = {{.field = "force"}, {0}};

/* A single number also names what an interrupted command has left of a step,
 * which is in no list. */
static int choose(int64_t **steps, size_t *count, struct context *ctx,
                  const bouma_dataset *ds, const struct arguments *args)
{
    struct dataset_choice choice = {.ds = ds,
                                    .path = args->operands[0],
                                    .text = args->operands[1],
                                    .operand = true};
    int64_t number;

    if (!parse_integer(choice.text, &number) || number < 0)
        return dataset_steps(steps, count, ctx, &choice);
    *steps = malloc(sizeof(**steps));
    if (!*steps)
        return context_fail_memory(ctx);
    (*steps)[0] = number;
    *count = 1;
    return DONE;
}

static int delete_steps(struct context *ctx, bouma_dataset *ds,
                        const struct arguments *args)
{
    const char *path = args->operands[0];
    int64_t *steps = NULL, before = bouma_dataset_step_count(ds), left;
    size_t count = 0;
    int rc = choose(&steps, &count, ctx, ds, args), status = BOUMA_OK;

    rc = context_agree(ctx, rc);
    if (!rc)
        status = bouma_dataset_delete_steps(ds, steps, count);
    left = bouma_dataset_step_count(ds);
    for (int i = 0; !rc && !status && bouma_dataset_note(ds, i); i++)
        context_note(ctx, "%s", bouma_dataset_note(ds, i));
    if (!rc && !status)
        status = bouma_dataset_close(ds);
    if (!rc && status)
        rc = context_fail_status(ctx, status, bouma_error_message(ds));
    if (!rc)
        rc = dataset_steps_gone(ctx, path, "deleted", (uint64_t)(before - left),
                                (uint64_t)left);
    free(steps);
    return rc;
}

static int run(struct context *ctx, const struct arguments *args)
{
    struct progress_bar bar;
    bouma_dataset *ds = NULL;
    bouma_options opts = {.size = sizeof(opts)};
    int status, rc;

    rc = arguments_fields(args, ctx, &opts);
    if (rc)
        return rc;
    progress_bar_init(&bar, ctx, &opts);
    status = session_append(ctx->session, &ds, args->operands[0], &opts);
    rc = status ? context_fail_status(ctx, status, bouma_error_message(ds))
                : delete_steps(ctx, ds, args);
    progress_bar_clear(&bar);
    bouma_dataset_free(ds);
    return rc;
}

const struct command cmd_delete_step = {
    .name = "delete-step",
    .summary = "delete steps for good",
    .operands = "DS N",
    .least = 2,
    .most = 2,
    .examples = "  bouma delete-step run.bouma 12\n"
                "  bouma delete-step run.bouma 10:20\n",
    .footer = "N is a number, -N (counted from the end), last, all or "
              "FIRST:END[:EACH].\n"
              "\n"
              "If the command is interrupted, each step is either complete or "
              "gone, and the same\n"
              "command deletes the rest; but not with last or -N, which name "
              "other steps by then.\n"
              "If files of a step are left, a note says so: delete it by its "
              "number.\n"
              "\n"
              "Copies that a run with the option persist has left on nodes "
              "stay, but no drain\n"
              "brings them back: see `bouma help truncate`.\n",
    .options = options,
    .run = run};
