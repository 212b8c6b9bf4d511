/* report_findings.h -- what verify and repair find: printed as it comes, or
 * kept for the JSON output. */
#ifndef REPORT_FINDINGS_H
#define REPORT_FINDINGS_H

#include "print_json.h"
#include "progress_bar.h"

struct findings {
    const struct context *ctx;
    struct progress_bar *bar; /* cleared before a line is printed */
    json_t *list;             /* with --json, on process 0; else NULL */
    uint64_t notes;           /* how many of them are notes */
};

void findings_init(struct findings *findings, const struct context *ctx,
                   struct progress_bar *bar);
void findings_release(struct findings *findings);

/* To be called by the library; 'user' is the struct findings. */
void findings_add(void *user, const bouma_finding *finding);

#endif
