/* serve_client.c -- see serve_client.h. */
#include "serve_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_serve: %s\n", what);
    exit(EXIT_FAILURE);
}

/* ---- the server ---------------------------------------------------------- */

static _Noreturn void run_server(const char *program, const char *path,
                                 const char *memory, int out)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive us */
    dup2(out, STDOUT_FILENO);
    if (!freopen("/dev/null", "w", stderr))
        _exit(127);
    execl(program, program, "serve", path, "--port", "0",
          memory ? "--memory" : (char *)NULL, memory, (char *)NULL);
    _exit(127);
}

void server_start(struct server *s, const char *program, const char *path,
                  const char *memory)
{
    char url[200] = "";
    int out[2];
    FILE *lines;

    if (pipe(out) != 0 || (s->process = fork()) < 0)
        fail("no process for the server");
    if (s->process == 0)
        run_server(program, path, memory, out[1]);
    close(out[1]);
    lines = fdopen(out[0], "r");
    if (!lines || !fgets(url, sizeof(url), lines) ||
        sscanf(url, "http://127.0.0.1:%d/", &s->port) != 1)
        fail("the server has not started");
    fclose(lines);
}

void server_stop(struct server *s)
{
    kill(s->process, SIGINT);
    waitpid(s->process, NULL, 0);
}

double server_memory(const struct server *s, const char *field)
{
    char path[64], line[200];
    double found = 0;
    FILE *status;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)s->process);
    status = fopen(path, "r");
    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, field, strlen(field)) == 0)
            found = atof(line + strlen(field)) / 1024;
    if (status)
        fclose(status);
    return found;
}

double server_seconds(const struct server *s)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid(s->process, &clock) != 0 ||
        clock_gettime(clock, &t) != 0)
        fail("the server has no clock");
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- requests ------------------------------------------------------------ */

int server_connect(const struct server *s, int host)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)s->port)};
    struct sockaddr_in from = {.sin_family = AF_INET};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    from.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffu) | (uint32_t)host);
    if (fd < 0 || bind(fd, (struct sockaddr *)&from, sizeof(from)) != 0 ||
        connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        fail("the server does not take a connection");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

/* The header, and what came with it, in 'text'. */
static int get_header(struct reply *out, int s, char *text, size_t room,
                      size_t *used)
{
    char *end = NULL, *length;

    *used = 0;
    while (!end) {
        ssize_t n = recv(s, text + *used, room - 1 - *used, 0);

        if (n <= 0)
            return -1;
        *used += (size_t)n;
        text[*used] = '\0';
        end = strstr(text, "\r\n\r\n");
    }
    length = strstr(text, "Content-Length: ");
    if (!length || length > end || sscanf(text, "HTTP/1.1 %d", &out->code) != 1)
        return -1;
    out->header = (size_t)(end + 4 - text);
    out->body = strtoul(length + 16, NULL, 10);
    return 0;
}

int http_get(struct reply *out, int s, const char *target,
             const char *encodings, char *to, size_t room)
{
    char text[8192];
    size_t used, got;
    int sent = snprintf(text, sizeof(text),
                        "GET %s HTTP/1.1\r\nHost: localhost\r\n%s%s%s\r\n",
                        target, encodings ? "Accept-Encoding: " : "",
                        encodings ? encodings : "", encodings ? "\r\n" : "");

    if (sent >= (int)sizeof(text) ||
        send(s, text, (size_t)sent, MSG_NOSIGNAL) != sent ||
        get_header(out, s, text, sizeof(text), &used) != 0 ||
        (to && out->body > room))
        return -1;
    got = used - out->header;
    if (to)
        memcpy(to, text + out->header, got);
    while (got < out->body) {
        char waste[65536];
        size_t left = out->body - got;
        ssize_t n = recv(s, to ? to + got : waste,
                         to || left < sizeof(waste) ? left : sizeof(waste), 0);

        if (n <= 0)
            return -1;
        got += (size_t)n;
    }
    return 0;
}
