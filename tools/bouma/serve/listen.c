/* listen.c -- the address that a server listens at. */
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 128

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)address;

        return ntohl(in->sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)address;

        return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
    }
    return false;
}

static bool is_any(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const void *)address;

        return IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr);
    }
    return ((const struct sockaddr_in *)(const void *)address)
               ->sin_addr.s_addr == INADDR_ANY;
}

static struct addrinfo *resolve(const char *address, int port, char *message,
                                size_t bytes)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char service[16];
    int rc;

    snprintf(service, sizeof(service), "%d", port);
    rc = getaddrinfo(address, service, &hints, &found);
    if (rc)
        snprintf(message, bytes, "%s: %s", address, gai_strerror(rc));
    return rc ? NULL : found;
}

bool serve_is_loopback(const char *address)
{
    char ignored[8];
    struct addrinfo *found = resolve(address, 0, ignored, sizeof(ignored));
    bool all = found != NULL;

    for (struct addrinfo *at = found; at; at = at->ai_next)
        all = all && is_loopback(at->ai_addr);
    if (found)
        freeaddrinfo(found);
    return all;
}

static bool fill_in(struct listening *out, const char *address)
{
    struct sockaddr_storage own;
    socklen_t length = sizeof(own);

    if (getsockname(out->socket, (struct sockaddr *)&own, &length) != 0)
        return false;
    out->port = ntohs(own.ss_family == AF_INET6
                          ? ((struct sockaddr_in6 *)&own)->sin6_port
                          : ((struct sockaddr_in *)&own)->sin_port);
    if (is_any((struct sockaddr *)&own)) {
        if (gethostname(out->host, sizeof(out->host)) != 0)
            return false;
        out->host[sizeof(out->host) - 1] = '\0';
    } else if (strchr(address, ':')) {
        snprintf(out->host, sizeof(out->host), "[%.200s]", address);
    } else {
        snprintf(out->host, sizeof(out->host), "%.200s", address);
    }
    return true;
}

bool serve_listen(struct listening *out, const char *address, int port,
                  char *message, size_t bytes)
{
    struct addrinfo *found = resolve(address, port, message, bytes);
    int on = 1;

    *out = (struct listening){.socket = -1};
    if (!found)
        return false;
    out->socket =
        socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out->socket >= 0)
        setsockopt(out->socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (out->socket < 0 ||
        bind(out->socket, found->ai_addr, found->ai_addrlen) != 0 ||
        listen(out->socket, BACKLOG) != 0 || !fill_in(out, address)) {
        snprintf(
            message, bytes, "%s, port %d: %s%s", address, port, strerror(errno),
            errno == EADDRINUSE ? "; --port 0 takes any that is free" : "");
        if (out->socket >= 0)
            close(out->socket);
        out->socket = -1;
    }
    freeaddrinfo(found);
    return out->socket >= 0;
}
