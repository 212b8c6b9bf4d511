/* context.c -- messages, outcomes and colors of a command. */
#include "context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print_json.h"
#include "wording.h"

bool context_prints(const struct context *ctx)
{
    return session_rank(ctx->session) == 0;
}

static void keep(struct context *ctx, int status, const char *format,
                 va_list list)
{
    ctx->failure.status = status;
    vsnprintf(ctx->failure.message, sizeof(ctx->failure.message), format, list);
}

int context_fail(struct context *ctx, int outcome, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    keep(ctx, outcome == CALL_AT_FAULT ? BOUMA_EINVAL : BOUMA_EFORMAT, format,
         list);
    va_end(list);
    return outcome;
}

int context_fail_missing(struct context *ctx, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    keep(ctx, BOUMA_ENOTFOUND, format, list);
    va_end(list);
    return CALL_AT_FAULT;
}

int context_fail_memory(struct context *ctx)
{
    return context_fail_status(ctx, BOUMA_ENOMEM, NULL);
}

static int outcome_of(int status)
{
    switch (status) {
    case BOUMA_OK:
        return DONE;
    case BOUMA_EINVAL:
    case BOUMA_ESTATE:
    case BOUMA_ENOTFOUND:
    case BOUMA_EEXISTS:
    case BOUMA_EMISMATCH:
        return CALL_AT_FAULT;
    default:
        return DATA_AT_FAULT;
    }
}

int context_fail_status(struct context *ctx, int status, const char *message)
{
    if (!message || !message[0])
        message = bouma_status_text(status);
    ctx->failure.status = status;
    wording_of(ctx->failure.message, sizeof(ctx->failure.message),
               ctx->command ? command_find(ctx->command) : NULL, message);
    return outcome_of(status);
}

int context_fail_errno(struct context *ctx, const char *doing, const char *path)
{
    /* A name that leads nowhere is the call's fault, the rest the file's. */
    int code = errno;
    bool wrong_name = code == ENOENT || code == ENOTDIR || code == EISDIR;

    if (wrong_name)
        return context_fail_missing(ctx, "cannot %s %s: %s", doing, path,
                                    strerror(code));
    context_fail(ctx, DATA_AT_FAULT, "cannot %s %s: %s", doing, path,
                 strerror(code));
    ctx->failure.status = code == ENOSPC || code == EDQUOT ? BOUMA_ENOSPC
                          : code == ENOMEM                 ? BOUMA_ENOMEM
                                                           : BOUMA_EIO;
    return DATA_AT_FAULT;
}

int context_agree(struct context *ctx, int outcome)
{
    return session_agree(ctx->session, outcome, &ctx->failure,
                         sizeof(ctx->failure));
}

static void print_text(const struct context *ctx, const char *kind,
                       const char *message)
{
    fprintf(stderr, "%s: ", session_program());
    if (ctx->command)
        fprintf(stderr, "%s: ", ctx->command);
    fprintf(stderr, "%s%s\n", kind, message);
}

/* One line, so that a script can read what was said one by one. */
static void print_object(const struct context *ctx, const char *kind,
                         json_t *about, const char *message)
{
    json_t *root = json_object();
    char *text;

    json_put(about, "command",
             ctx->command ? json_text(ctx->command) : json_null());
    json_put(about, "message", json_text(message));
    json_put(root, kind, about);
    text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    fprintf(stderr, "%s\n", text ? text : "{\"error\":null}");
    free(text);
}

void context_note(const struct context *ctx, const char *format, ...)
{
    char message[2048];
    va_list list;

    if (!context_prints(ctx))
        return;
    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    if (ctx->json)
        print_object(ctx, "note", json_object(), message);
    else
        print_text(ctx, "note: ", message);
}

void context_report(const struct context *ctx, int outcome)
{
    json_t *about;

    if (!ctx->failure.message[0] || !context_prints(ctx))
        return;
    if (!ctx->json) {
        print_text(ctx, "", ctx->failure.message);
        return;
    }
    about = json_object();
    json_put(about, "status",
             json_text(bouma_status_name(ctx->failure.status)));
    json_put(about, "exit", json_integer(outcome));
    print_object(ctx, "error", about, ctx->failure.message);
}

const char *context_bold(const struct context *ctx)
{
    return ctx->color ? "\033[1m" : "";
}

const char *context_red(const struct context *ctx)
{
    return ctx->color ? "\033[31m" : "";
}

const char *context_green(const struct context *ctx)
{
    return ctx->color ? "\033[32m" : "";
}

const char *context_plain(const struct context *ctx)
{
    return ctx->color ? "\033[0m" : "";
}
