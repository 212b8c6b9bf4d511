/* plan_report.h -- the sums of a plan, told as text or as JSON. */
#ifndef PLAN_REPORT_H
#define PLAN_REPORT_H

#include "bouma.h"
#include "print_json.h"

/* The largest file over the mean one. */
double plan_report_balance(const bouma_plan_report *report);

/* Whether the edges of patches are fitted to the blocks of ranks. */
bool plan_report_is_fitted(const bouma_plan_report *report);

/* Into an object. */
void plan_report_put(json_t *object, const bouma_plan_report *report,
                     const bouma_plan_spec *spec);
/* What the usual patches would do instead. */
void plan_report_put_usual(json_t *object, const bouma_plan_report *usual,
                           const bouma_plan_spec *spec);

/* To standard output; 'usual' may be NULL. */
void plan_report_print(const bouma_plan_report *report,
                       const bouma_plan_report *usual,
                       const bouma_plan_spec *spec);

#endif
