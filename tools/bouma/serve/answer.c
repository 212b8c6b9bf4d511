/* answer.c -- what a route gives back. */
#include "answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_BYTES 1400

void answer_init(struct answer *answer, struct memory_budget *memory,
                 size_t limit)
{
    *answer = (struct answer){
        .memory = memory, .limit = limit, .code = 200, .file = -1};
}

void answer_release(struct answer *answer)
{
    memory_budget_release(answer->memory, answer->body);
    if (answer->file >= 0)
        close(answer->file);
    answer->body = NULL;
    answer->fixed = NULL;
    answer->bytes = 0;
    answer->unmeasured = false;
    answer->file = -1;
    while (answer->header_count)
        free(answer->headers[--answer->header_count].value);
}

void answer_header(struct answer *answer, const char *name, const char *format,
                   ...)
{
    struct answer_header *header = &answer->headers[answer->header_count];
    va_list list;

    if (answer->header_count == ANSWER_HEADERS)
        return;
    header->name = name;
    va_start(list, format);
    if (vasprintf(&header->value, format, list) >= 0)
        answer->header_count++;
    va_end(list);
}

void *answer_body(struct answer *answer, const char *type, uint64_t bytes)
{
    if (bytes > answer->limit) {
        answer_fail(answer, 413, BOUMA_ELIMIT,
                    "the answer would have %" PRIu64
                    " bytes, and the limit is %zu; "
                    "ask for a smaller box, a coarser level, or within a "
                    "budget",
                    bytes, answer->limit);
        return NULL;
    }
    if (!answer->head) {
        answer->body =
            memory_budget_resize(answer->memory, NULL, (size_t)bytes + 8);
        if (!answer->body) {
            answer_fail_status(answer, BOUMA_ENOMEM, NULL);
            return NULL;
        }
    }
    answer->type = type;
    answer->bytes = (size_t)bytes;
    answer->binary = true;
    return answer->body;
}

bool answer_is_head(struct answer *answer, const char *type)
{
    if (!answer->head)
        return false;
    answer->type = type;
    answer->binary = strcmp(type, ANSWER_JSON) != 0;
    answer->unmeasured = true;
    return true;
}

void answer_put_json(struct answer *answer, struct json_out *out)
{
    if (out->failed) {
        bool too_long = out->too_long;

        memory_budget_release(out->memory, out->text);
        out->text = NULL;
        if (too_long)
            answer_fail(answer, 413, BOUMA_ELIMIT,
                        "the answer would have more than %zu bytes",
                        out->limit);
        else
            answer_fail_status(answer, BOUMA_ENOMEM, NULL);
        return;
    }
    answer->type = ANSWER_JSON;
    answer->body = out->text;
    answer->bytes = out->used;
    out->text = NULL;
}

/* What the library says has the path of the dataset, which is nobody's
 * concern. */
static void hide_path(char *message, size_t room, const struct answer *answer)
{
    size_t length = answer->path ? strlen(answer->path) : 0, used = 0;
    char text[MESSAGE_BYTES];
    const char *at = message, *found;

    if (!length)
        return;
    while ((found = strstr(at, answer->path)) && used < sizeof(text)) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%.*s%s",
                                 (int)(found - at), at, answer->name);
        at = found + length;
    }
    if (used < sizeof(text))
        snprintf(text + used, sizeof(text) - used, "%s", at);
    snprintf(message, room, "%s", text);
}

/* The error as JSON, in memory that does not count: it is short, and must be
 * there when there is no other. */
static void put_error(struct answer *answer, int status, const char *message)
{
    struct memory_budget none;
    struct json_out out;
    char name[32];

    memory_budget_init(&none, 1 << 16);
    json_out_init(&out, &none, 1 << 14);
    snprintf(name, sizeof(name), "BOUMA_%s", bouma_status_name(status));
    json_out_open(&out, '{');
    json_out_key(&out, "error");
    json_out_open(&out, '{');
    json_out_key(&out, "status");
    json_out_text(&out, name);
    json_out_key(&out, "code");
    json_out_integer(&out, answer->code);
    json_out_key(&out, "message");
    json_out_text(&out, message);
    json_out_close(&out, '}');
    json_out_close(&out, '}');
    json_out_raw(&out, "\n", 1);
    if (!out.failed) {
        atomic_fetch_add(&answer->memory->used, atomic_load(&none.used));
        answer->body = out.text;
        answer->bytes = out.used;
    } else {
        memory_budget_release(&none, out.text);
    }
    answer->type = ANSWER_JSON;
}

void answer_fail(struct answer *answer, int code, int status,
                 const char *format, ...)
{
    char message[MESSAGE_BYTES];
    va_list list;

    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    hide_path(message, sizeof(message), answer);
    answer_release(answer);
    answer->code = code;
    answer->etag[0] = '\0';
    answer->immutable = answer->binary = answer->events = false;
    answer->encoding = NULL;
    if (code == 503)
        answer_header(answer, "Retry-After", "1");
    put_error(answer, status, message);
}

static int code_of(int status)
{
    switch (status) {
    case BOUMA_EINVAL:
        return 400;
    case BOUMA_ENOTFOUND:
        return 404;
    case BOUMA_ELIMIT:
        return 413;
    case BOUMA_ENOMEM:
    case BOUMA_ESTATE:
        return 503;
    default:
        return 500;
    }
}

void answer_fail_status(struct answer *answer, int status, const char *message)
{
    if (status == BOUMA_ENOMEM)
        answer_fail(answer, 503, status,
                    "the memory that the server may use is taken; ask again, "
                    "or for less");
    else
        answer_fail(answer, code_of(status), status, "%s",
                    message ? message : bouma_status_text(status));
}
