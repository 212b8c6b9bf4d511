/* budget_arguments.c -- see budget_arguments.h. */
#include "budget_arguments.h"

int budget_arguments_read(struct budget_arguments *out, struct context *ctx,
                          const struct arguments *args)
{
    int64_t points = 0, bytes = 0;
    int rc = arguments_integer(args, ctx, "limit", 1, &points);

    *out = (struct budget_arguments){.budget = {.size = sizeof(out->budget)}};
    if (!rc)
        rc = arguments_integer(args, ctx, "max-bytes", 1, &bytes);
    if (!rc)
        rc = arguments_number(args, ctx, "max-error", &out->budget.error);
    if (!rc && arguments_has(args, "max-error") && !(out->budget.error > 0))
        rc = context_fail(ctx, CALL_AT_FAULT,
                          "--max-error %g: must be above 0; without it, all "
                          "levels are read",
                          out->budget.error);
    out->budget.points = (uint64_t)points;
    out->budget.bytes = (uint64_t)bytes;
    out->given = points || bytes || out->budget.error > 0;
    return rc;
}

const char *answer_limit(const bouma_answer *answer)
{
    switch (answer->limit) {
    case BOUMA_LIMIT_BYTES:
        return "bytes";
    case BOUMA_LIMIT_POINTS:
        return "points";
    case BOUMA_LIMIT_ERROR:
        return "error";
    case BOUMA_LIMIT_NONE:
        break;
    }
    return "nothing";
}

json_t *answer_json(const bouma_answer *answer)
{
    json_t *object = json_object();

    json_put(object, "complete", json_boolean(answer->complete));
    json_put(object, "limit",
             answer->limit ? json_text(answer_limit(answer)) : json_null());
    json_put(object, "points", json_count(answer->points));
    json_put(object, "bytes", json_count(answer->bytes));
    json_put(object, "next_bytes", json_count(answer->next_bytes));
    json_put(object, "next_points", json_count(answer->next_points));
    return object;
}
