/* request.c -- the parameters of a request. */
#include "request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "numbers.h"
#include "response.h"

const char *request_text(const struct request *request, const char *name)
{
    return url_parameter(request->url, name);
}

static bool refuse(struct answer *answer, const char *name, const char *text,
                   const char *expected)
{
    answer_fail(answer, 400, BOUMA_EINVAL, "%s is '%.100s', and must be %s",
                name, text, expected);
    return false;
}

/* Not with the suffixes of the command line, and none beyond the range. */
static bool is_plain(const char *text)
{
    return text[strspn(text, "+-0123456789")] == '\0';
}

bool request_integer(const struct request *request, struct answer *answer,
                     const char *name, int64_t least, int64_t most,
                     int64_t *out)
{
    const char *text = request_text(request, name);
    char expected[80];
    int64_t number;

    if (!text)
        return true;
    if (is_plain(text) && parse_integer(text, &number) && number >= least &&
        number <= most) {
        *out = number;
        return true;
    }
    if (most == INT64_MAX)
        snprintf(expected, sizeof(expected), "an integer from %" PRId64 " on",
                 least);
    else
        snprintf(expected, sizeof(expected),
                 "an integer from %" PRId64 " to %" PRId64, least, most);
    return refuse(answer, name, text, expected);
}

bool request_number(const struct request *request, struct answer *answer,
                    const char *name, double *out)
{
    const char *text = request_text(request, name);

    return !text || parse_number(text, out) ||
           refuse(answer, name, text, "a number");
}

bool request_numbers(const struct request *request, struct answer *answer,
                     const char *name, double *out, int count)
{
    const char *text = request_text(request, name);
    char expected[60];
    int given;

    if (!text || (parse_numbers(text, out, count, &given) && given == count))
        return true;
    snprintf(expected, sizeof(expected), "%d numbers, with commas between",
             count);
    return refuse(answer, name, text, expected);
}

bool request_integers(const struct request *request, struct answer *answer,
                      const char *name, int64_t *out, int count)
{
    const char *text = request_text(request, name);
    char expected[60];
    int given;

    if (!text || (parse_integers(text, out, count, &given) && given == count))
        return true;
    snprintf(expected, sizeof(expected), "%d integers, with commas between",
             count);
    return refuse(answer, name, text, expected);
}

bool request_choice(const struct request *request, struct answer *answer,
                    const char *name, const char *words, int *out)
{
    const char *text = request_text(request, name), *word = words;
    char expected[80];

    *out = 0;
    for (int i = 0; text; i++) {
        size_t length = strcspn(word, "|");

        if (strlen(text) == length && memcmp(text, word, length) == 0) {
            *out = i;
            return true;
        }
        if (!word[length]) {
            snprintf(expected, sizeof(expected), "one of %s", words);
            return refuse(answer, name, text, expected);
        }
        word += length + 1;
    }
    return true;
}

bool request_has_tag(const struct request *request, struct answer *answer,
                     const char *etag)
{
    snprintf(answer->etag, sizeof(answer->etag), "%s", etag);
    if (!request->if_none_match ||
        !response_matches(request->if_none_match, etag))
        return false;
    answer->code = 304;
    return true;
}

/* FNV-1a, of 64 bits. */
static uint64_t hash_of(const unsigned char *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

void request_tag_body(const struct request *request, struct answer *answer)
{
    char etag[40];

    if (answer->code != 200 || !answer->body)
        return;
    snprintf(etag, sizeof(etag), "%zx-%016" PRIx64, answer->bytes,
             hash_of(answer->body, answer->bytes));
    if (request_has_tag(request, answer, etag))
        answer_release(answer);
}

bool request_is_answered(const struct request *request, struct answer *answer,
                         uint64_t tag)
{
    const char *wanted = request_text(request, "tag");
    char etag[20];

    snprintf(etag, sizeof(etag), "%016" PRIx64, tag);
    if (wanted && strcmp(wanted, etag) != 0) {
        answer_fail(answer, 409, BOUMA_ESTATE,
                    "the tag of the step is %s, not '%.40s'", etag, wanted);
        return true;
    }
    answer->immutable = wanted != NULL;
    answer_header(answer, "Bouma-Tag", "%s", etag);
    return request_has_tag(request, answer, etag);
}
