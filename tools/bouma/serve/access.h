/* access.h -- who may ask: tokens, names of the server, origins of pages. Pure
 * functions of headers. */
#ifndef SERVE_ACCESS_H
#define SERVE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

struct access {
    const char *token;        /* NULL: none is needed */
    const char *const *hosts; /* names of the server, besides addresses */
    int host_count;
    const char *const *origins; /* "http://host:port", or "*" */
    int origin_count;
};

/* Whether a text can be a token: 8 to 200 letters, digits, '-', '.', '_', '~',
 * so that it stands in a URL as it is. */
bool access_is_token(const char *text);

/* Takes the same time for all texts of one length. */
bool access_same(const char *secret, const char *given);

/* Whether the header Host is one of the server: an address, a loopback name, or
 * one that it was told; so that no page can have its own name point here. NULL,
 * from programs that send none, is fine. */
bool access_host(const struct access *access, const char *host);

/* Whether a page of this origin may read answers: one from a loopback address,
 * from this server, or one that was told. */
bool access_origin(const struct access *access, const char *origin,
                   const char *host);

/* The token in "Bearer TOKEN", or NULL. */
const char *access_bearer(const char *authorization);

#endif
