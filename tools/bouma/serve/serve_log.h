/* serve_log.h -- a line on standard error for each request. */
#ifndef SERVE_LOG_H
#define SERVE_LOG_H

#include <stddef.h>

/* Bytes that are not printable ASCII, quotes and backslashes become \xNN; what
 * may be a token is hidden. */
void serve_log_escape(char *out, size_t room, const char *text);
void serve_log_hide(char *out, size_t room, const char *target);

/* A line with the time before it. It is left out if standard error cannot take
 * it at once: nobody waits for who reads the log. */
__attribute__((format(printf, 1, 2))) void serve_log(const char *format, ...);

#endif
