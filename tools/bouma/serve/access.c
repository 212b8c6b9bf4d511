/* access.c -- who may ask. */
#include "access.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

bool access_is_token(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789-._~");

    return text[length] == '\0' && length >= 8 && length <= 200;
}

bool access_same(const char *secret, const char *given)
{
    size_t length = strlen(given), own = strlen(secret);
    unsigned char differ = length != own;

    for (size_t i = 0; i < length; i++)
        differ |= (unsigned char)(given[i] ^ secret[own ? i % own : 0]);
    return !differ;
}

/* The name in "name:80", "[::1]:80" or "name". */
static bool name_of(char *out, size_t room, const char *host)
{
    size_t length;

    if (host[0] == '[') {
        const char *end = strchr(host, ']');

        if (!end || (end[1] && end[1] != ':'))
            return false;
        length = (size_t)(end - ++host);
    } else {
        length = strcspn(host, ":");
        if (host[length] && strchr(host + length + 1, ':'))
            return false;
    }
    if (!length || length >= room)
        return false;
    memcpy(out, host, length);
    out[length] = '\0';
    return true;
}

static bool is_address(const char *name)
{
    unsigned char bytes[16];

    return inet_pton(AF_INET, name, bytes) == 1 ||
           inet_pton(AF_INET6, name, bytes) == 1;
}

static bool is_loopback(const char *name)
{
    unsigned char bytes[16];
    static const unsigned char one[16] = {[15] = 1};
    size_t length = strlen(name);

    if (inet_pton(AF_INET, name, bytes) == 1)
        return bytes[0] == 127;
    if (inet_pton(AF_INET6, name, bytes) == 1)
        return memcmp(bytes, one, 16) == 0;
    return strcasecmp(name, "localhost") == 0 ||
           (length > 10 && strcasecmp(name + length - 10, ".localhost") == 0);
}

bool access_host(const struct access *access, const char *host)
{
    char name[256];

    if (!host)
        return true;
    if (!name_of(name, sizeof(name), host))
        return false;
    if (is_address(name) || is_loopback(name))
        return true;
    for (int i = 0; i < access->host_count; i++)
        if (strcasecmp(access->hosts[i], name) == 0)
            return true;
    return false;
}

bool access_origin(const struct access *access, const char *origin,
                   const char *host)
{
    char name[256];
    const char *at = strncmp(origin, "http://", 7) == 0    ? origin + 7
                     : strncmp(origin, "https://", 8) == 0 ? origin + 8
                                                           : NULL;

    for (int i = 0; i < access->origin_count; i++)
        if (strcmp(access->origins[i], "*") == 0 ||
            strcasecmp(access->origins[i], origin) == 0)
            return true;
    if (!at)
        return false;
    if (host && strcasecmp(at, host) == 0)
        return true;
    return name_of(name, sizeof(name), at) && is_loopback(name);
}

const char *access_bearer(const char *authorization)
{
    if (!authorization || strncasecmp(authorization, "Bearer", 6) != 0 ||
        authorization[6] != ' ')
        return NULL;
    authorization += 6;
    return authorization + strspn(authorization, " ");
}
