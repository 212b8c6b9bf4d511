/* api_budget.h -- what a caller allows a read, checked; and what it is told. */
#ifndef BM_API_BUDGET_H
#define BM_API_BUDGET_H

#include "api/api.h"
#include "plan/budget.h"

/* A caller's budget (NULL: no limits), and its answer (may be NULL), which is
 * emptied. */
int bm_api_budget(struct bm_budget *out, struct bm_error *error,
                  const bouma_budget *given, bouma_answer *answer);

/* Fill the caller's answer after a call that ended with 'rc': there is one if
 * it was BOUMA_OK, or if the budget was too small. */
void bm_api_tell_answer(bouma_answer *given, const bouma_answer *own, int rc);

#endif
