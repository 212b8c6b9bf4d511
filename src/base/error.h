/* error.h -- a status with its message, kept in the handle it concerns. */
#ifndef BM_ERROR_H
#define BM_ERROR_H

#include "bouma.h"

#define BM_ERROR_BYTES 640

struct bm_error {
    int status;
    char text[BM_ERROR_BYTES];
};

#if defined(__GNUC__)
#define BM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define BM_PRINTF(text, first)
#endif

/* Write a message and return 'status'. The first failure is kept: what fails
 * while cleaning up after it would hide the cause. */
int bm_fail(struct bm_error *error, int status, const char *format, ...)
    BM_PRINTF(3, 4);

/* The same for a failed call of the system: appends the text of 'code' (an
 * errno value), and chooses ENOSPC, ENOMEM or EIO from it. */
int bm_fail_io(struct bm_error *error, int code, const char *format, ...)
    BM_PRINTF(3, 4);

/* Put "prefix: " in front of the message. */
void bm_error_prefix(struct bm_error *error, const char *format, ...)
    BM_PRINTF(2, 3);

void bm_error_clear(struct bm_error *error);

#endif
