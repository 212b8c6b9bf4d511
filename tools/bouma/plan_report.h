/* plan_report.h -- the sums of a plan, told as text or as JSON. */
#ifndef PLAN_REPORT_H
#define PLAN_REPORT_H

#include "bouma.h"
#include "print_json.h"

/* The largest file over the mean one. */
double plan_report_balance(const bouma_plan_report *report);

/* Into an object. */
void plan_report_put(json_t *object, const bouma_plan_report *report,
                     const bouma_plan_spec *spec);

/* To standard output. */
void plan_report_print(const bouma_plan_report *report,
                       const bouma_plan_spec *spec);

#endif
