/* context.c -- messages, outcomes and colors of a command. */
#include "context.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "wording.h"

bool context_prints(const struct context *ctx)
{
    return session_rank(ctx->session) == 0;
}

int context_fail(struct context *ctx, int outcome, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(ctx->message, sizeof(ctx->message), format, list);
    va_end(list);
    return outcome;
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
    wording_of(ctx->message, sizeof(ctx->message),
               ctx->command ? command_find(ctx->command) : NULL, message);
    return outcome_of(status);
}

int context_fail_errno(struct context *ctx, const char *doing, const char *path)
{
    /* A name that leads nowhere is the call's fault, the rest the file's. */
    bool wrong_name = errno == ENOENT || errno == ENOTDIR || errno == EISDIR;

    return context_fail(ctx, wrong_name ? CALL_AT_FAULT : DATA_AT_FAULT,
                        "cannot %s %s: %s", doing, path, strerror(errno));
}

int context_agree(struct context *ctx, int outcome)
{
    return session_agree(ctx->session, outcome, ctx->message,
                         sizeof(ctx->message));
}

static void print_prefix(const struct context *ctx)
{
    fprintf(stderr, "%s: ", session_program());
    if (ctx->command)
        fprintf(stderr, "%s: ", ctx->command);
}

void context_warn(const struct context *ctx, const char *format, ...)
{
    va_list list;

    if (!context_prints(ctx))
        return;
    print_prefix(ctx);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
}

void context_report(const struct context *ctx)
{
    if (ctx->message[0])
        context_warn(ctx, "%s", ctx->message);
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
