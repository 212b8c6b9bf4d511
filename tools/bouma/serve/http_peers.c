/* http_peers.c -- the connections, and how long each may take for what it does.
 * Clients that are too slow are cut off. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "http_inside.h"

/* Seconds, and bytes a second that a client must take at least. */
#define HEADER_SECONDS 10
#define LEAST_SPEED    16384
/* The same when memory is short: then others need what a slow client holds. */
#define SHORT_SECONDS 10
#define SHORT_SPEED   (1 << 20)

void http_set_phase(struct peer *peer, enum phase phase, uint64_t bytes)
{
    if (!peer)
        return;
    peer->phase = phase;
    peer->since = served_clock();
    peer->bytes = bytes;
}

void http_peer_changed(void *user, struct MHD_Connection *connection,
                       void **context, enum MHD_ConnectionNotificationCode what)
{
    struct server *server = user;
    struct peer *peer = *context;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        peer = calloc(1, sizeof(*peer));
        *context = peer;
        if (!peer)
            return;
        peer->socket = MHD_get_connection_info(
                           connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                           ->connect_fd;
        http_set_phase(peer, PHASE_FIRST, 0);
        peer->next = server->peers;
        peer->link = &server->peers;
        if (peer->next)
            peer->next->link = &peer->next;
        server->peers = peer;
    } else if (peer) {
        /* The library does not tell the end of all that it has refused. */
        if (peer->job)
            http_end_job(peer->job);
        *peer->link = peer->next;
        if (peer->next)
            peer->next->link = peer->link;
        free(peer);
        *context = NULL;
    }
}

/* How long a phase may take. */
static double patience(const struct peer *peer, bool memory_is_short)
{
    switch (peer->phase) {
    case PHASE_FIRST:
        return HEADER_SECONDS;
    case PHASE_NEXT:
        return IDLE_SECONDS + HEADER_SECONDS;
    case PHASE_SENDING:
        return memory_is_short
                   ? SHORT_SECONDS + (double)peer->bytes / SHORT_SPEED
                   : IDLE_SECONDS + (double)peer->bytes / LEAST_SPEED;
    default:
        return 1e9;
    }
}

/* Whether a client that is to send something has hung up. The library does not
 * see that if it came together with what was sent before. */
static bool has_hung_up(const struct peer *peer)
{
    char byte;

    return (peer->phase == PHASE_FIRST || peer->phase == PHASE_NEXT) &&
           recv(peer->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* The library closes them when it sees that. */
void http_cut_off_slow(struct server *server)
{
    double now = served_clock();
    bool is_short =
        atomic_load(&server->memory.used) - atomic_load(&server->memory.spare) >
        server->memory.limit / 4 * 3;

    for (struct peer *at = server->peers; at; at = at->next)
        if (now - at->since > patience(at, is_short) || has_hung_up(at))
            shutdown(at->socket, SHUT_RDWR);
}

struct fair_client http_client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct fair_client client = {.bytes = {[10] = 0xff, [11] = 0xff}};

    if (info && info->client_addr->sa_family == AF_INET6)
        memcpy(client.bytes,
               &((struct sockaddr_in6 *)info->client_addr)->sin6_addr, 16);
    else if (info && info->client_addr->sa_family == AF_INET)
        memcpy(client.bytes + 12,
               &((struct sockaddr_in *)info->client_addr)->sin_addr, 4);
    return client;
}
