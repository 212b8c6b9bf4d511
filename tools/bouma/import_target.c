/* import_target.c -- the dataset that `bouma import` writes to. */
#include "import_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attribute_value.h"

int import_target_failed(const struct import_target *target,
                         struct context *ctx, int status)
{
    return context_fail_status(ctx, status, bouma_error_message(target->ds));
}

/* When two imports start at once, the second one appends. If there is nothing
 * to append to, what exists is a twin that was left behind: creating has told
 * of it. */
int import_target_open(struct import_target *out, struct context *ctx,
                       struct import_request *request)
{
    char first[1024];
    int status;

    progress_bar_init(&out->bar, ctx, &request->opts);
    status =
        session_create(ctx->session, &out->ds, request->path, &request->opts);
    out->created = status == BOUMA_OK;
    if (status == BOUMA_EEXISTS && !request->opts.clobber) {
        snprintf(first, sizeof(first), "%s", bouma_error_message(out->ds));
        bouma_dataset_free(out->ds);
        status = session_append(ctx->session, &out->ds, request->path,
                                &request->opts);
        if (status == BOUMA_ENOTFOUND && access(request->path, F_OK))
            return context_fail_status(ctx, BOUMA_EEXISTS, first);
    }
    if (status)
        return import_target_failed(out, ctx, status);
    for (int i = 0; bouma_dataset_note(out->ds, i); i++)
        context_warn(ctx, "note: %s", bouma_dataset_note(out->ds, i));
    return DONE;
}

int import_target_choose_step(const struct import_target *target,
                              struct context *ctx,
                              struct import_request *request)
{
    int64_t count = bouma_dataset_step_count(target->ds);
    bouma_step_info last;
    int status;

    if (!request->step_given && count > 0) {
        status = bouma_dataset_step_get(target->ds, count - 1, &last);
        if (status)
            return import_target_failed(target, ctx, status);
        if (last.step == INT64_MAX)
            return context_fail(ctx, CALL_AT_FAULT,
                                "no number comes after that of the last step; "
                                "say which: --step N");
        request->step = last.step + 1;
    }
    if (!request->time_given)
        request->time = (double)request->step;
    return DONE;
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

int import_target_close(struct import_target *target, struct context *ctx,
                        int rc)
{
    int status = bouma_dataset_close(target->ds);

    return status && !rc ? import_target_failed(target, ctx, status) : rc;
}
