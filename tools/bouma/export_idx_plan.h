/* export_idx_plan.h -- which IDX dataset a grid becomes. */
#ifndef EXPORT_IDX_PLAN_H
#define EXPORT_IDX_PLAN_H

#include "export_format.h"
#include "write_idx.h"

/* The caller ends *idx, all zero before, with export_idx_release(), after a
 * failure too. */
int export_idx_plan(struct idx_write *idx, struct context *ctx,
                    const struct export_request *request);
void export_idx_release(struct idx_write *idx);

#endif
