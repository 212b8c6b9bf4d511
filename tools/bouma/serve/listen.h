/* listen.h -- the address that a server listens at. */
#ifndef SERVE_LISTEN_H
#define SERVE_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

struct listening {
    int socket; /* -1: none */
    int port;
    char host[300]; /* for URLs, such as "127.0.0.1" or "[::1]" */
};

/* Listen at an address or name; port 0 is a free one. False if that cannot be:
 * 'message' (of 'bytes' bytes) tells why. */
bool serve_listen(struct listening *out, const char *address, int port,
                  char *message, size_t bytes);

/* Whether an address or name is one of this machine alone. */
bool serve_is_loopback(const char *address);

#endif
