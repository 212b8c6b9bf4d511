/* view_run.h -- which steps a view shows: those of RUN, or one, RUN@STEP. */
#ifndef SERVE_VIEW_RUN_H
#define SERVE_VIEW_RUN_H

#include "reader.h"

struct view_run {
    char name[300];
    const char *one; /* "3", "last": only this step. NULL: all */
    bouma_dataset *ds;
    int64_t count; /* of steps that are shown */
};

/* Whether 'text' is NAME@STEP; the length of NAME is then in *length, and the
 * step behind it. */
const char *view_run_step(const char *text, size_t *length);

/* The dataset that 'text' names. A dataset whose own name has an '@' comes
 * first. False, and the answer tells, if there is none. */
bool view_run_open(struct view_run *out, const struct request *request,
                   struct answer *answer, const char *text);

/* The number of the i-th step that is shown; -1 if there is none. */
int64_t view_run_number(const struct view_run *run, int64_t i,
                        const struct request *request, struct answer *answer);

/* The last step that has the object, and the variable of it unless that is
 * NULL: what is there is taken for all steps. A few steps are looked at, no
 * more. False, and the answer tells, if there is none. */
bool view_run_example(struct read_step *out, const struct view_run *run,
                      const struct request *request, struct answer *answer,
                      const char *object, const char *variable);

/* Let 'work' answer from that step, by reader_with_step() with 'user'. */
void view_run_with_example(const struct request *request, struct answer *answer,
                           const char *text, const char *object,
                           reader_work work, void *user);

#endif
