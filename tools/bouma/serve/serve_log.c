/* serve_log.c -- a line on standard error for each request. */
#include "serve_log.h"

#include <ctype.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void serve_log_escape(char *out, size_t room, const char *text)
{
    size_t used = 0;

    for (; *text && used + 5 < room; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            used += (size_t)snprintf(out + used, room - used, "\\x%02x", c);
        else
            out[used++] = *text;
    }
    out[used] = '\0';
}

/* The next character; a letter or digit may be written as %41. */
static char take(const char **at)
{
    unsigned code;
    char c = *(*at)++;

    if (c == '%' && isxdigit((unsigned char)(*at)[0]) &&
        isxdigit((unsigned char)(*at)[1]) && sscanf(*at, "%2x", &code) == 1 &&
        code < 128 && isalnum((int)code)) {
        *at += 2;
        c = (char)code;
    }
    return c;
}

/* "/t/TOKEN/..." and "...token=TOKEN&...". */
void serve_log_hide(char *out, size_t room, const char *target)
{
    size_t used = 0;
    bool hide = false; /* up to the next '/', '?' or '&' */

    while (*target && used + 4 < room) {
        char c = take(&target);

        if (hide && !strchr("/?&", c))
            continue;
        out[used++] = c;
        hide = (used == 3 && memcmp(out, "/t/", 3) == 0) ||
               (used > 6 && memcmp(out + used - 6, "token=", 6) == 0);
        if (hide) {
            memcpy(out + used, "***", 3);
            used += 3;
        }
    }
    out[used] = '\0';
}

void serve_log(const char *format, ...)
{
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    char line[1500]; /* less than a pipe takes at once */
    time_t now = time(NULL);
    struct tm parts;
    va_list list;
    size_t used;
    int length;

    gmtime_r(&now, &parts);
    used = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%SZ ", &parts);
    va_start(list, format);
    length = vsnprintf(line + used, sizeof(line) - used - 1, format, list);
    va_end(list);
    if (length < 0 || poll(&ready, 1, 0) != 1 || !(ready.revents & POLLOUT))
        return;
    used = strlen(line);
    line[used++] = '\n';
    if (write(STDERR_FILENO, line, used) < 0)
        return; /* there is nobody to tell */
}
