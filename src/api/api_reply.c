/* api_reply.c -- structs that a caller gives, or that the library fills: their
 * size is the caller's, whose header may be older or newer than ours. */
#include <string.h>

#include "api/api.h"

enum { SMALLEST = 2 * sizeof(size_t), LARGEST = 1 << 16 };

/* Others would also cut a member in two. */
int bm_struct_is_size(size_t bytes)
{
    return bytes >= SMALLEST && bytes <= LARGEST &&
           bytes % _Alignof(size_t) == 0;
}

static size_t size_of(const void *given)
{
    size_t size;

    memcpy(&size, given, sizeof(size));
    return size;
}

int bm_struct_copy(void *out, size_t bytes, const void *given,
                   size_t given_bytes)
{
    const unsigned char *p = given;

    memset(out, 0, bytes);
    if (!bm_struct_is_size(given_bytes))
        return 0;
    memcpy(out, given, given_bytes < bytes ? given_bytes : bytes);
    for (size_t i = bytes; i < given_bytes; i++)
        if (p[i])
            return 0;
    return 1;
}

static size_t common(size_t size, size_t own)
{
    return (size < own ? size : own) - sizeof(size_t);
}

int bm_reply_begin(void *given, size_t own)
{
    size_t size = given ? size_of(given) : 0;

    if (!bm_struct_is_size(size))
        return 0;
    memset((char *)given + sizeof(size_t), 0, common(size, own));
    return 1;
}

int bm_reply(void *given, const void *ours, size_t own)
{
    size_t size = size_of(given);

    if (!bm_struct_is_size(size))
        return BOUMA_EINVAL;
    memcpy((char *)given + sizeof(size_t), (const char *)ours + sizeof(size_t),
           common(size, own));
    return BOUMA_OK;
}

int bm_api_check_report(const void *report, struct bm_error *error)
{
    return !report || bm_struct_is_size(size_of(report))
               ? BOUMA_OK
               : bm_fail(error, BOUMA_EINVAL,
                         "the member 'size' of the report is not set");
}
