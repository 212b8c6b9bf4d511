/* import_target.c -- the dataset that `bouma import` writes to. */
#include "import_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attribute_value.h"
#include "bouma_store.h"
#include "empty_dataset.h"

int import_target_failed(const struct import_target *target,
                         struct context *ctx, int status)
{
    return context_fail_status(ctx, status, bouma_error_message(target->ds));
}

/* When two imports start at once, the second one appends. If there is nothing
 * to append to, what exists is a local copy that was left behind: creating has
 * told of it. */
int import_target_open(struct import_target *out, struct context *ctx,
                       struct import_request *request)
{
    char first[1024];
    int status;

    progress_bar_init(&out->bar, ctx, &request->opts);
    status = request->adds ? session_append(ctx->session, &out->ds,
                                            request->path, &request->opts)
                           : session_create(ctx->session, &out->ds,
                                            request->path, &request->opts);
    out->created = status == BOUMA_OK && !request->adds;
    if (status == BOUMA_EEXISTS && !request->opts.clobber && !request->adds) {
        snprintf(first, sizeof(first), "%s", bouma_error_message(out->ds));
        bouma_dataset_free(out->ds);
        status = session_append(ctx->session, &out->ds, request->path,
                                &request->opts);
        if (status == BOUMA_ENOTFOUND && access(request->path, F_OK))
            return context_fail_status(ctx, BOUMA_EEXISTS, first);
    }
    if (status)
        return import_target_failed(out, ctx, status);
    import_target_tell(out, ctx);
    return DONE;
}

void import_target_tell(struct import_target *target, struct context *ctx)
{
    const char *note;

    while ((note = bouma_dataset_note(target->ds, target->notes))) {
        context_note(ctx, "%s", note);
        target->notes++;
    }
}

void import_target_tell_files(const struct context *ctx,
                              const struct import_request *request,
                              const bouma_record *record, const char *why)
{
    if (arguments_has(request->args, "files") &&
        record->files < request->opts.files)
        context_note(ctx, "--files %s: the step has %d: %s",
                     arguments_text(request->args, "files"), (int)record->files,
                     why);
}

int import_target_rehearse(struct import_target *target, struct context *ctx,
                           int (*definer)(void *user, struct context *ctx),
                           void *user)
{
    bouma_io *io = bouma_io_memory_new();
    bouma_options opts = {.size = sizeof(opts)};
    int status, rc;

    if (!io)
        return context_fail_memory(ctx);
    opts.io = io;
    opts.trace = "off";
    status = bouma_dataset_create(&target->ds, "rehearsal", &opts);
    rc =
        status ? import_target_failed(target, ctx, status) : definer(user, ctx);
    bouma_dataset_free(target->ds);
    target->ds = NULL;
    bouma_io_memory_free(io);
    return rc;
}

static void see_loss(void *user, const bouma_loss *loss)
{
    int64_t *last = user;

    if (!loss->files && loss->step > *last)
        *last = loss->step;
}

/* The step that is added to, with its time. */
static int find_step(const struct import_target *target, struct context *ctx,
                     struct import_request *request)
{
    bouma_step_details details = {.size = sizeof(details)};
    bouma_step *step;
    int status = bouma_step_open(&step, target->ds, request->step);

    if (!status)
        status = bouma_step_details_get(&details, step);
    bouma_step_free(step);
    request->time = details.time;
    return status ? import_target_failed(target, ctx, status) : DONE;
}

/* One after the last that was ever committed: a step that is lost must not be
 * taken for one that was written again. */
int import_target_choose_step(const struct import_target *target,
                              struct context *ctx,
                              struct import_request *request)
{
    int64_t count = bouma_dataset_step_count(target->ds);
    bouma_step_info last = {.size = sizeof(last), .step = -1};
    char message[1024] = "";
    int status = BOUMA_OK;

    if (request->adds)
        return find_step(target, ctx, request);
    if (!request->step_given && count > 0)
        status = bouma_dataset_step_get(&last, target->ds, count - 1);
    if (status)
        return import_target_failed(target, ctx, status);
    if (!request->step_given)
        status = bouma_losses(request->path, NULL, see_loss, &last.step,
                              message, sizeof(message));
    if (status)
        return context_fail_status(ctx, status, message);
    if (!request->step_given && last.step >= 0) {
        if (last.step == INT64_MAX)
            return context_fail(ctx, CALL_AT_FAULT,
                                "the last step has the largest number there "
                                "is; choose one with --step N");
        request->step = last.step + 1;
    }
    if (!request->time_given)
        request->time = (double)request->step;
    return DONE;
}

int import_target_begin(const struct import_target *target,
                        const struct import_request *request)
{
    return request->adds
               ? bouma_step_extend(target->ds, request->step)
               : bouma_step_begin(target->ds, request->step, request->time);
}

int import_target_attributes(const struct import_target *target,
                             const struct import_request *request)
{
    const struct arguments *args = request->args;
    int status = BOUMA_OK;

    for (int i = 0; !status && i < arguments_count(args, "attr"); i++) {
        const char *text = arguments_nth(args, "attr", i);
        size_t length = strcspn(text, "=");
        char *name = strndup(text, length);

        status =
            name ? attribute_set_text(bouma_dataset_step_attributes(target->ds),
                                      name, text + length + 1)
                 : BOUMA_ENOMEM;
        free(name);
    }
    return status;
}

/* The same of the local copy, on each node: it is named as the dataset, in
 * 'local'.
 */
static void remove_empty_local_copy(const struct import_request *request)
{
    char local_copy[2 * 4096];
    const char *path = request->path;
    size_t end = strlen(path), begin;

    if (!request->opts.persist || !request->local[0])
        return;
    while (end > 0 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/';)
        begin--;
    if (begin < end &&
        (size_t)snprintf(local_copy, sizeof(local_copy), "%s/%.*s",
                         request->local, (int)(end - begin),
                         path + begin) < sizeof(local_copy))
        remove_empty_dataset(local_copy);
}

int import_target_close(struct import_target *target, struct context *ctx,
                        const struct import_request *request, int rc)
{
    bool empty = target->created && bouma_dataset_step_count(target->ds) == 0;
    int status = bouma_dataset_close(target->ds);

    import_target_tell(target, ctx); /* as that there is no trace */
    if (rc && empty && context_prints(ctx))
        remove_empty_dataset(request->path);
    if (rc && empty)
        remove_empty_local_copy(request);
    return status && !rc ? import_target_failed(target, ctx, status) : rc;
}
