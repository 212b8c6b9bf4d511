/* response.c -- which part of an answer is sent, and how. */
#include "response.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

/* ---- ranges -------------------------------------------------------------- */

/* Digits, without a sign; NULL if there are none or too many. */
static const char *take_digits(const char *text, uint64_t *out)
{
    const char *begin = text;

    *out = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (*out > (UINT64_MAX - 9) / 10)
            return NULL;
        *out = *out * 10 + (uint64_t)(*text - '0');
    }
    return text > begin ? text : NULL;
}

static int suffix_range(uint64_t *offset, uint64_t *bytes, const char *text,
                        uint64_t total)
{
    uint64_t last;
    const char *end = take_digits(text, &last);

    if (!end || *end)
        return 0;
    if (last == 0 || total == 0)
        return -1;
    *bytes = last < total ? last : total;
    *offset = total - *bytes;
    return 1;
}

int response_range(uint64_t *offset, uint64_t *bytes, const char *header,
                   uint64_t total)
{
    uint64_t first, last = UINT64_MAX;
    const char *at = header;

    if (strncasecmp(at, "bytes=", 6) != 0)
        return 0;
    at += 6;
    if (*at == '-')
        return suffix_range(offset, bytes, at + 1, total);
    at = take_digits(at, &first);
    if (!at || *at++ != '-')
        return 0;
    if (*at) {
        at = take_digits(at, &last);
        if (!at || *at || last < first)
            return 0;
    }
    if (first >= total)
        return -1;
    *offset = first;
    *bytes = (last < total - 1 ? last : total - 1) - first + 1;
    return 1;
}

/* ---- tags ---------------------------------------------------------------- */

/* Whether "quoted" is the tag, or the tag and an encoding: "tag-zstd". */
static bool is_tag(const char *quoted, size_t length, const char *etag)
{
    size_t own = strlen(etag);

    if (length < own || memcmp(quoted, etag, own) != 0)
        return false;
    return length == own ||
           (length == own + 5 && (memcmp(quoted + own, "-gzip", 5) == 0 ||
                                  memcmp(quoted + own, "-zstd", 5) == 0));
}

bool response_matches(const char *list, const char *etag)
{
    while (*list) {
        const char *end;

        list += strspn(list, " \t,");
        if (*list == '*')
            return true;
        if (strncmp(list, "W/", 2) == 0)
            list += 2;
        if (*list != '"' || !(end = strchr(list + 1, '"')))
            return false;
        if (is_tag(list + 1, (size_t)(end - list) - 1, etag))
            return true;
        list = end + 1;
    }
    return false;
}

/* ---- encodings ----------------------------------------------------------- */

/* The weight of "gzip" in "gzip;q=0.5, *"; -1 if it is not there. */
static double weight_of(const char *header, const char *name)
{
    double found = -1;

    while (*header) {
        size_t length;

        header += strspn(header, " \t,");
        length = strcspn(header, " \t,;");
        if (length == strlen(name) && strncasecmp(header, name, length) == 0) {
            const char *q = header + length;

            found = 1;
            q += strspn(q, " \t");
            if (*q == ';') {
                q += 1 + strspn(q + 1, " \t");
                if ((q[0] == 'q' || q[0] == 'Q') && q[1] == '=')
                    found = strtod(q + 2, NULL);
            }
            return found > 0 && found <= 1 ? found : 0;
        }
        header += strcspn(header, ",");
    }
    return found;
}

enum response_encoding response_negotiate(const char *accept_encoding)
{
    double zstd, gzip, any;

    if (!accept_encoding)
        return ENCODING_NONE;
    any = weight_of(accept_encoding, "*");
    zstd = weight_of(accept_encoding, "zstd");
    gzip = weight_of(accept_encoding, "gzip");
    if (gzip < 0)
        gzip = any; /* zstd is for those who name it */
    if (zstd > 0 && zstd >= gzip)
        return ENCODING_ZSTD;
    return gzip > 0 ? ENCODING_GZIP : ENCODING_NONE;
}

const char *response_encoding_name(enum response_encoding encoding)
{
    return encoding == ENCODING_ZSTD   ? "zstd"
           : encoding == ENCODING_GZIP ? "gzip"
                                       : NULL;
}

static size_t compress_gzip(void *to, size_t room, const void *from,
                            size_t bytes)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)from,
                       .avail_in = (uInt)bytes,
                       .next_out = to,
                       .avail_out = (uInt)room};
    size_t used;

    if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return 0;
    used = deflate(&stream, Z_FINISH) == Z_STREAM_END ? stream.total_out : 0;
    deflateEnd(&stream);
    return used;
}

static size_t compress_zstd(void *to, size_t room, const void *from,
                            size_t bytes)
{
    size_t used = ZSTD_compress(to, room, from, bytes, 1);

    return ZSTD_isError(used) ? 0 : used;
}

/* Short bodies fit into a packet as they are. */
#define LEAST_COMPRESSED 512

bool response_may_compress(const struct answer *answer,
                           enum response_encoding encoding)
{
    return encoding != ENCODING_NONE && !answer->as_it_is && !answer->encoding;
}

bool response_compress(struct answer *answer, enum response_encoding encoding)
{
    size_t room = answer->bytes - answer->bytes / 10, used;
    void *packed;

    if (!response_may_compress(answer, encoding) || !answer->body ||
        answer->bytes < LEAST_COMPRESSED || answer->bytes > INT32_MAX)
        return true;
    packed = memory_budget_resize(answer->memory, NULL, room);
    if (!packed)
        return false;
    used = encoding == ENCODING_ZSTD
               ? compress_zstd(packed, room, answer->body, answer->bytes)
               : compress_gzip(packed, room, answer->body, answer->bytes);
    if (!used) { /* it does not fit */
        memory_budget_release(answer->memory, packed);
        return true;
    }
    memory_budget_release(answer->memory, answer->body);
    answer->body = packed;
    answer->bytes = used;
    answer->encoding = response_encoding_name(encoding);
    return true;
}

/* ---- all of it ----------------------------------------------------------- */

/* "If-Range" has a tag; dates are not given out, so none can match. */
static bool range_holds(const struct answer *answer, const char *if_range)
{
    return !if_range || (answer->etag[0] && if_range[0] == '"' &&
                         strlen(if_range) == strlen(answer->etag) + 2 &&
                         response_matches(if_range, answer->etag));
}

void response_plan(struct response_plan *out, const struct answer *answer,
                   uint64_t total, const struct response_wishes *wishes)
{
    int range = 0;

    *out = (struct response_plan){.code = answer->code, .bytes = total};
    if (answer->code != 200 && answer->code != 304)
        return;
    if (answer->code == 200 && answer->binary && wishes->range &&
        range_holds(answer, wishes->if_range))
        range = response_range(&out->offset, &out->bytes, wishes->range, total);
    if (range > 0)
        out->code = 206;
    else if (range < 0)
        out->code = 416;
    else
        out->encoding = response_negotiate(wishes->accept_encoding);
}

const char *response_caching(const struct answer *answer, bool is_private)
{
    if (answer->code != 200 && answer->code != 206 && answer->code != 304)
        return "no-store";
    if (!answer->etag[0])
        return "no-store";
    if (!answer->immutable)
        return is_private ? "private, no-cache" : "no-cache";
    return is_private ? "private, max-age=31536000, immutable"
                      : "max-age=31536000, immutable";
}
