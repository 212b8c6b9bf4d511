/* http_server.h -- requests come in and answers go out. Only the files
 * http_*.c know of libmicrohttpd. */
#ifndef SERVE_HTTP_SERVER_H
#define SERVE_HTTP_SERVER_H

#include "access.h"
#include "request.h"
#include "served.h"

struct http_options {
    int socket; /* that listens; closed at the end */
    struct served *served;
    struct access access;
    struct serve_limits limits;
    size_t memory;   /* of answers and open datasets */
    int connections; /* at once, at most */
    int workers;     /* threads that answer */
};

/* Serve until SIGINT or SIGTERM. False if it cannot begin: 'message' (of
 * 'bytes' bytes) tells why. 'ready' is called when requests are answered. */
bool http_serve(const struct http_options *options, void (*ready)(void *user),
                void *user, char *message, size_t bytes);

#endif
