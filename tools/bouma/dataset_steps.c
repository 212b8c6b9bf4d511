/* dataset_steps.c -- see dataset_steps.h. */
#include "dataset_steps.h"

#include <stdio.h>
#include <stdlib.h>

#include "format_text.h"
#include "print_json.h"
#include "step_choice.h"

/* The ranges of all steps, one for each. */
static int list_all(struct step_range **out, size_t *count, struct context *ctx,
                    const bouma_dataset *ds, const char *path)
{
    int64_t all = bouma_dataset_step_count(ds);
    struct step_range *ranges;
    int rc = DONE;

    if (all < 0)
        return context_fail_status(ctx, BOUMA_EFORMAT, bouma_error_message(ds));
    if (all == 0)
        return context_fail_missing(ctx, "there is no step in %s yet", path);
    ranges = calloc((size_t)all, sizeof(*ranges));
    if (!ranges)
        return context_fail_memory(ctx);
    for (int64_t i = 0; !rc && i < all; i++) {
        bouma_step_info about = {.size = sizeof(about)};
        int status = bouma_dataset_step_get(&about, ds, i);

        if (status)
            rc = context_fail_status(ctx, status, bouma_error_message(ds));
        else
            ranges[i] = (struct step_range){about.step, about.step, 1};
    }
    *out = ranges;
    *count = (size_t)all;
    return rc;
}

int dataset_steps(int64_t **out, size_t *count, struct context *ctx,
                  const struct dataset_choice *choice)
{
    struct step_list list = {.path = choice->path, .operand = choice->operand};
    struct step_range *ranges = NULL;
    int rc = list_all(&ranges, &list.count, ctx, choice->ds, choice->path);

    list.ranges = ranges;
    if (!rc)
        rc = step_choice(out, count, ctx, &list, choice->text);
    free(ranges);
    return rc;
}

int dataset_steps_gone(struct context *ctx, const char *path, const char *how,
                       uint64_t gone, uint64_t left)
{
    char text[FORMAT_BYTES], here[FORMAT_BYTES];
    json_t *root;

    if (!context_prints(ctx))
        return DONE;
    if (!ctx->json) {
        printf("%s: %s %s, %s left\n", path, format_count(text, gone, "step"),
               how, format_count(here, left, "step"));
        return DONE;
    }
    root = json_object();
    json_put(root, "dataset", json_text(path));
    json_put(root, how, json_count(gone));
    json_put(root, "steps", json_count(left));
    return print_json(ctx, root);
}
