/* serve_client.h -- a `bouma serve` of our own, and a plain HTTP client of it.
 * What goes wrong ends the program, and with it the server. */
#ifndef BENCH_SERVE_CLIENT_H
#define BENCH_SERVE_CLIENT_H

#include <stddef.h>
#include <sys/types.h>

_Noreturn void fail(const char *what);

struct server {
    pid_t process;
    int port;
};

/* Serve the dataset at 'path'; 'memory' is the value of --memory, or NULL. It
 * listens when this returns. */
void server_start(struct server *s, const char *program, const char *path,
                  const char *memory);
void server_stop(struct server *s);

/* MiB that are resident: "VmRSS:" now, "VmHWM:" at most. */
double server_memory(const struct server *s, const char *field);

/* Seconds of processor time that it has taken. */
double server_seconds(const struct server *s);

/* A connection from 127.0.0.'host'. */
int server_connect(const struct server *s, int host);

struct reply {
    int code;
    size_t header, body; /* bytes as they are sent */
};

/* Ask for 'target', with a body in one of 'encodings' (NULL: as it is), which
 * goes to 'to'; NULL: nowhere. -1 if there is no answer, or a longer one than
 * there is room for. */
int http_get(struct reply *out, int s, const char *target,
             const char *encodings, char *to, size_t room);

#endif
