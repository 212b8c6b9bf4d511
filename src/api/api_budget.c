/* api_budget.c -- see api_budget.h. */
#include "api/api_budget.h"

static uint64_t limit_of(uint64_t given)
{
    return given ? given : UINT64_MAX;
}

int bm_api_budget(struct bm_budget *out, struct bm_error *error,
                  const bouma_budget *given, bouma_answer *answer)
{
    bouma_budget own = {0};
    int rc = BOUMA_OK;

    if (answer && !bm_reply_begin(answer, sizeof(*answer)))
        return bm_fail(error, BOUMA_EINVAL,
                       "the member 'size' of the answer is not set");
    if (given)
        rc = bm_api_copy_spec(error, &own, sizeof(own), given, given->size,
                              "bouma_budget");
    if (rc)
        return rc;
    if (!(own.error >= 0))
        return bm_fail(error, BOUMA_EINVAL,
                       "a budget has an error of %g; it must be at least 0, "
                       "and 0 is no limit",
                       own.error);
    *out = (struct bm_budget){.bytes = limit_of(own.bytes),
                              .points = limit_of(own.points),
                              .error = own.error > 0 ? own.error : -1};
    return BOUMA_OK;
}

void bm_api_tell_answer(bouma_answer *given, const bouma_answer *own, int rc)
{
    if (given && (!rc || rc == BOUMA_ELIMIT))
        bm_reply(given, own, sizeof(*own));
}
