/* url.h -- the target of a request, "/api/v1/run%201/3?level=2", as its parts
 * and parameters, decoded. No file, no socket: it can be tested with any text.
 */
#ifndef SERVE_URL_H
#define SERVE_URL_H

#include <stdbool.h>
#include <stddef.h>

#define URL_BYTES      8192
#define URL_PARTS      16
#define URL_PARAMETERS 24

struct url_parameter {
    const char *name, *value;
};

struct url {
    char *memory; /* of all texts below */
    const char *parts[URL_PARTS];
    size_t part_count;
    bool directory; /* it ends in a slash, or is "/" */
    struct url_parameter parameters[URL_PARAMETERS];
    size_t parameter_count;
};

/* Parse 'target'. False if it is not a path with a query: 'message' (of 'bytes'
 * bytes) then tells why. No part is empty, "." or "..", and none has a zero
 * byte; a slash can be in one, as %2F. In a query, '+' is a blank. The caller
 * ends *out with url_release(), after a failure too. */
bool url_parse(struct url *out, const char *target, char *message,
               size_t bytes);
void url_release(struct url *url);

/* The value of a parameter, or NULL. */
const char *url_parameter(const struct url *url, const char *name);

/* Leave the first 'count' parts out, of which there are at least so many. */
void url_skip(struct url *url, size_t count);

/* A name as a part of a URL: *out, of 'room' bytes; false if it is too small.
 */
bool url_encode(char *out, size_t room, const char *name);

#endif
