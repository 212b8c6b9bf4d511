/* plain_text.c -- see plain_text.h. The locale is set for the calling thread,
 * and only while a text is written or read. */
#include "base/plain_text.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

struct visit {
    locale_t plain, before;
};

/* If there is no memory for it, the program's own locale has to do. */
static struct visit enter(void)
{
    struct visit v = {newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0};

    if (v.plain)
        v.before = uselocale(v.plain);
    return v;
}

static void leave(struct visit v)
{
    if (!v.plain)
        return;
    uselocale(v.before);
    freelocale(v.plain);
}

int bm_format_list(char *out, size_t bytes, const char *format, va_list args)
{
    struct visit v = enter();
    int n = vsnprintf(out, bytes, format, args);

    leave(v);
    return n;
}

int bm_format(char *out, size_t bytes, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = bm_format_list(out, bytes, format, args);
    va_end(args);
    return n;
}

double bm_parse_real(const char *text, char **end)
{
    struct visit v = enter();
    double value = strtod(text, end);

    leave(v);
    return value;
}
