/* context.h -- what every command is given, and how it fails.
 *
 * A command returns an outcome, which becomes the exit status. A process that
 * fails says why with context_fail(); after work that can fail on one process
 * only, all meet in context_agree() and go on, or leave, together. main()
 * prints the message, on process 0. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include <stdbool.h>

#include "bouma.h"
#include "session.h"

enum outcome {
    DONE = 0,
    DATA_AT_FAULT = 1, /* the data or a file is at fault */
    CALL_AT_FAULT = 2  /* the call is */
};

struct context {
    struct session *session;
    const char *command; /* for messages; NULL before one is known */
    bool json;           /* --json was given */
    bool color;          /* standard output is a terminal that wants colors */
    struct failure {
        int status; /* of the library, or the one that comes nearest */
        char message[2048];
    } failure;
};

/* Whether this process prints: process 0 does. */
bool context_prints(const struct context *ctx);

/* Keep the message, and return 'outcome'. In JSON the status is then EINVAL if
 * the call is at fault, EFORMAT if the data is. */
__attribute__((format(printf, 3, 4))) int
context_fail(struct context *ctx, int outcome, const char *format, ...);

/* The same for something that was named and is not there: ENOTFOUND. */
__attribute__((format(printf, 2, 3))) int
context_fail_missing(struct context *ctx, const char *format, ...);

/* The same for memory that is not there: ENOMEM. */
int context_fail_memory(struct context *ctx);

/* The same for a call of the library that returned 'status' and its message:
 * the status tells whether the data or the call is at fault. */
int context_fail_status(struct context *ctx, int status, const char *message);

/* The same for a call of the system that set errno, while 'doing' ("read",
 * "write") the file 'path'. */
int context_fail_errno(struct context *ctx, const char *doing,
                       const char *path);

/* Every process gets the worst outcome and its message. Collective. */
int context_agree(struct context *ctx, int outcome);

/* Print a note to standard error at once, on process 0: something that the user
 * may not expect, though the command goes on. With --json it is a line
 *     {"note": {"command": "import", "message": "..."}} */
__attribute__((format(printf, 2, 3))) void
context_note(const struct context *ctx, const char *format, ...);

/* Print the message kept, if any. With --json it is a line
 *     {"error": {"command": "read", "status": "ENOTFOUND", "exit": 2,
 *                "message": "..."}} */
void context_report(const struct context *ctx, int outcome);

/* Escape sequences, or "" where colors are not wanted. */
const char *context_bold(const struct context *ctx);
const char *context_red(const struct context *ctx);
const char *context_green(const struct context *ctx);
const char *context_plain(const struct context *ctx);

#endif
