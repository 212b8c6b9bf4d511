/* plan_explain.h -- why a plan by cost has the writers that it has. */
#ifndef PLAN_EXPLAIN_H
#define PLAN_EXPLAIN_H

#include "bouma.h"
#include "print_json.h"

enum { EXPLAINED_FILES = 3 }; /* where no file is named: the first ones */

/* Whether there is something to explain. */
int plan_explain_check(struct context *ctx, const bouma_plan *plan,
                       int64_t file);

/* Print a table of costs for file 'file', or, if that is -1, for the first
 * files: those that cost least, the choice first. */
int plan_explain_print(struct context *ctx, const bouma_plan *plan,
                       int64_t file);

/* The same as an array of files, with all costs. NULL if it fails, with the
 * message in 'ctx'. */
json_t *plan_explain_json(struct context *ctx, const bouma_plan *plan,
                          int64_t file);

#endif
