/* cmd_serve_missing.c -- bouma serve, in a build without libmicrohttpd. */
#include "../arguments.h"
#include "serve_options.h"

static int run(struct context *ctx, const struct arguments *args)
{
    (void)args;
    return context_fail(ctx, CALL_AT_FAULT,
                        "this %s is built without libmicrohttpd, and cannot "
                        "serve",
                        session_program());
}

const struct command cmd_serve = {.name = "serve",
                                  .summary =
                                      "answer over HTTP (this build cannot)",
                                  .operands = "PATH... [options]",
                                  .least = 0,
                                  .most = -1,
                                  .examples = "  bouma serve run.bouma\n",
                                  .options = serve_options,
                                  .run = run};
