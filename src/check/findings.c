/* findings.c -- a list of findings that can travel. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plain_text.h"
#include "check/check.h"

void bm_findings_init(struct bm_findings *f, const bouma_allocator *a)
{
    bm_buffer_init(&f->bytes, a);
    f->notes = f->damages = f->unchecked = 0;
    f->failure = BOUMA_OK;
}

int bm_is_damage(int status)
{
    return status == BOUMA_EFORMAT || status == BOUMA_ENOTFOUND;
}

bouma_severity bm_severity_of(int status)
{
    return bm_is_damage(status) ? BOUMA_SEVERITY_DAMAGE
                                : BOUMA_SEVERITY_UNCHECKED;
}

void bm_findings_release(struct bm_findings *f)
{
    bm_buffer_release(&f->bytes);
}

void bm_findings_return(struct bm_findings *f, const struct bm_findings *before)
{
    if (f->bytes.failed)
        return;
    f->bytes.size = before->bytes.size;
    f->notes = before->notes;
    f->damages = before->damages;
    f->unchecked = before->unchecked;
    f->failure = before->failure;
}

/* The text without "path/name: " in front: a finding has its name apart. */
static const char *without_name(const char *text, const char *name)
{
    const char *found = name[0] ? strstr(text, name) : NULL;

    return found && !strncmp(found + strlen(name), ": ", 2)
               ? found + strlen(name) + 2
               : text;
}

void bm_findings_add(struct bm_findings *f, bouma_severity severity,
                     int64_t step, const char *name, const char *format, ...)
{
    char text[BM_ERROR_BYTES];
    va_list args;

    va_start(args, format);
    bm_format_list(text, sizeof(text), format, args);
    va_end(args);
    bm_put_u8(&f->bytes, (uint8_t)severity);
    bm_put_i64(&f->bytes, step);
    bm_put_text(&f->bytes, name);
    bm_put_text(&f->bytes, without_name(text, name));
    if (severity == BOUMA_SEVERITY_DAMAGE)
        f->damages++;
    else if (severity == BOUMA_SEVERITY_UNCHECKED)
        f->unchecked++;
    else
        f->notes++;
}

void bm_findings_each(const struct bm_buffer *bytes, const bouma_allocator *a,
                      void (*each)(void *user, const bouma_finding *f),
                      void *user)
{
    struct bm_cursor c = bm_cursor_of(bytes->data, bytes->size);

    while (each && bm_cursor_left(&c)) {
        bouma_severity severity = (bouma_severity)bm_get_u8(&c);
        int64_t step = bm_get_i64(&c);
        int no_memory = 0;
        char *name = bm_get_text(&c, a, &no_memory);
        char *text = bm_get_text(&c, a, &no_memory);
        bouma_finding f = {sizeof(f), severity, step, name ? name : "",
                           text ? text : "(no memory for the text)"};

        each(user, &f);
        bm_drop(a, name);
        bm_drop(a, text);
    }
}
