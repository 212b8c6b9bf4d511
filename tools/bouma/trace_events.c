/* trace_events.c -- the library writes an event a line, rank after rank: so a
 * large trace needs no memory. */
#include "trace_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 4096 };

static const char head[] = "{\"otherData\":{\"writer\":\"bouma\"";

/* The next line, without its end; of a longer one the first bytes, and 'cut' is
 * set. Returns whether there is one that ends. */
static bool next_line(FILE *file, char line[LINE], bool *cut)
{
    size_t n = 0;
    int c;

    *cut = false;
    while ((c = getc(file)) != EOF && c != '\n')
        if (n < LINE - 1)
            line[n++] = (char)c;
        else
            *cut = true;
    line[n] = 0;
    return c == '\n';
}

int trace_events_read(struct context *ctx, const char *path,
                      int (*each)(void *user, const struct trace_event *event),
                      void *user)
{
    struct trace_event event = {0};
    char line[LINE];
    FILE *file = fopen(path, "r");
    int rc = DONE, last = 0;
    bool cut, ended = false;
    uint64_t number = 1;

    if (!file)
        return context_fail_errno(ctx, "read", path);
    if (!next_line(file, line, &cut) || strncmp(line, head, strlen(head)) != 0)
        rc = context_fail(ctx, DATA_AT_FAULT,
                          "%s: is not a trace written by bouma", path);
    while (!rc && next_line(file, line, &cut)) {
        number++;
        ended = !strcmp(line, "]}");
        if (trace_line_is_event(line)) {
            bool sound =
                !cut && trace_line_parse(&event, line) && event.rank >= last;

            last = event.rank;
            rc = sound ? each(user, &event)
                       : context_fail(ctx, DATA_AT_FAULT,
                                      "%s: is damaged in line %" PRIu64, path,
                                      number);
        }
    }
    if (!rc && ferror(file))
        rc = context_fail_errno(ctx, "read", path);
    else if (!rc && (!ended || line[0]))
        rc = context_fail(ctx, DATA_AT_FAULT,
                          "%s: is damaged: its end is missing", path);
    fclose(file);
    return rc;
}
