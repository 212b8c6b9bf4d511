/* import_target.h -- the dataset that `bouma import` writes to. */
#ifndef IMPORT_TARGET_H
#define IMPORT_TARGET_H

#include "import_request.h"
#include "progress_bar.h"

struct import_target {
    struct progress_bar bar;
    bouma_dataset *ds;
    bool created; /* the dataset is new */
    int notes;    /* of it that were printed */
};

/* A dataset in memory, in which all can be defined that is to be defined in the
 * target, before that is touched: 'definer' does so in target->ds, and returns
 * its outcome. */
int import_target_rehearse(struct import_target *target, struct context *ctx,
                           int (*definer)(void *user, struct context *ctx),
                           void *user);

/* Make the dataset, or open the one that is there. The caller ends *out with
 * import_target_close() if this is done, and frees out->ds anyway; 'request'
 * must outlive it. Collective. */
int import_target_open(struct import_target *out, struct context *ctx,
                       struct import_request *request);

/* By default, the step after the last one, at a time that is its number. */
int import_target_choose_step(const struct import_target *target,
                              struct context *ctx,
                              struct import_request *request);

/* Begin the step, or what is added to it; a status of the library. */
int import_target_begin(const struct import_target *target,
                        const struct import_request *request);

/* Set what --attr says on the step that was begun; a status of the library. */
int import_target_attributes(const struct import_target *target,
                             const struct import_request *request);

/* Print the notes of the dataset since the last time. */
void import_target_tell(struct import_target *target, struct context *ctx);

/* Print a note that there are fewer files than --files says, and why. */
void import_target_tell_files(const struct context *ctx,
                              const struct import_request *request,
                              const bouma_record *record, const char *why);

/* Whatever has happened ('rc'), leave the dataset to the next writer; if it was
 * made by this command and has no step, remove it. Collective. */
int import_target_close(struct import_target *target, struct context *ctx,
                        const struct import_request *request, int rc);

/* Keep the message of a call of the library that failed. */
int import_target_failed(const struct import_target *target,
                         struct context *ctx, int status);

#endif
