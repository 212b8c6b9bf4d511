/* serve_log.c -- a line on standard error for each request. */
#include "serve_log.h"

#include <poll.h>
#include <stdarg.h>
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

/* "/t/TOKEN/..." and "...token=TOKEN&...". */
void serve_log_hide(char *out, size_t room, const char *target)
{
    size_t used = 0;
    int hide = 0; /* up to the next '/', '?' or '&' */

    for (size_t i = 0; target[i] && used + 4 < room; i++) {
        if (hide && !strchr("/?&", target[i]))
            continue;
        hide = 0;
        out[used++] = target[i];
        if ((i == 2 && strncmp(target, "/t/", 3) == 0) ||
            (i >= 6 && strncmp(target + i - 5, "token=", 6) == 0)) {
            hide = 1;
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
