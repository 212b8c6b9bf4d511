/* http_server.c -- requests come in and answers go out.
 *
 * One thread, the caller's, does all that concerns sockets. A request that is
 * fine so far is suspended, and waits in a queue with a turn for each client;
 * a worker computes the answer and resumes it. Clients that are too slow are
 * cut off by the first thread. */
#include "http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "events.h"
#include "fair_queue.h"
#include "response.h"
#include "route.h"
#include "serve_log.h"

/* Seconds, and bytes a second that a client must take at least. */
#define HEADER_SECONDS 10
#define IDLE_SECONDS   30
#define LEAST_SPEED    16384
/* The same when memory is short: then others need what a slow client holds. */
#define SHORT_SECONDS 10
#define SHORT_SPEED   (1 << 20)
/* For each connection: the header of a request, and that of the answer. */
#define HEADER_BYTES 8192
#define POOL_BYTES   (24 * 1024)
/* Files that a step has open, at most. */
#define STEP_FILES 64

struct server {
    struct http_options options;
    struct MHD_Daemon *daemon;
    int wake; /* an eventfd: something was resumed */
    struct memory_budget memory;
    struct events *events;
    struct worker *workers; /* [worker_count] */
    int worker_count;
    struct peer *peers;   /* all connections */
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t waiting;
    struct fair_queue queue;
    bool ended;
};

struct worker {
    struct server *server;
    pthread_t thread;
    struct reader reader;
};

/* A connection, and how long it has been in a phase. */
enum phase { PHASE_FIRST, PHASE_NEXT, PHASE_WORKING, PHASE_SENDING };
struct peer {
    struct peer *next, **link;
    int socket;
    enum phase phase;
    double since;
    uint64_t bytes; /* that are sent in PHASE_SENDING */
};

/* A request, from its first line to the end of its answer. */
enum job_state { JOB_NEW, JOB_CHECKED, JOB_WAITING, JOB_DONE };
struct job {
    struct fair_item item; /* the first member */
    struct server *server;
    struct MHD_Connection *connection;
    struct peer *peer;
    enum job_state state;
    char *target;
    struct url url;
    const char *origin; /* that may read the answer; NULL: none was given */
    char prefix[220];
    struct MHD_Response *response;
    int code;
    uint64_t bytes;
    double since;
    struct event_listener *listener;
};

/* ---- connections --------------------------------------------------------- */

static void set_phase(struct peer *peer, enum phase phase, uint64_t bytes)
{
    if (!peer)
        return;
    peer->phase = phase;
    peer->since = served_clock();
    peer->bytes = bytes;
}

static void peer_changed(void *user, struct MHD_Connection *connection,
                         void **context,
                         enum MHD_ConnectionNotificationCode what)
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
        set_phase(peer, PHASE_FIRST, 0);
        peer->next = server->peers;
        peer->link = &server->peers;
        if (peer->next)
            peer->next->link = &peer->next;
        server->peers = peer;
    } else if (peer) {
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
static void cut_off_slow(struct server *server)
{
    double now = served_clock();
    bool is_short =
        atomic_load(&server->memory.used) > server->memory.limit / 4 * 3;

    for (struct peer *at = server->peers; at; at = at->next)
        if (now - at->since > patience(at, is_short) || has_hung_up(at))
            shutdown(at->socket, SHUT_RDWR);
}

static struct fair_client client_of(struct MHD_Connection *connection)
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

static const char *header(const struct job *job, const char *name)
{
    return MHD_lookup_connection_value(job->connection, MHD_HEADER_KIND, name);
}

/* From any thread. */
static void resume(struct server *server, struct MHD_Connection *connection)
{
    uint64_t one = 1;

    MHD_resume_connection(connection);
    if (write(server->wake, &one, sizeof(one)) < 0)
        return; /* it is full, so the loop is awake */
}

/* ---- the answer as a response -------------------------------------------- */

static void add_header(struct MHD_Response *response, const char *name,
                       const char *value)
{
    MHD_add_response_header(response, name, value);
}

/* Memory that is given back when the body is sent. */
struct sent_body {
    struct memory_budget *memory;
    void *body;
};

static void free_body(void *user)
{
    struct sent_body *sent = user;

    memory_budget_release(sent->memory, sent->body);
    free(sent);
}

static struct MHD_Response *from_memory(struct answer *answer,
                                        const struct response_plan *plan)
{
    struct sent_body *sent = malloc(sizeof(*sent));
    struct MHD_Response *response = NULL;

    if (!sent)
        return NULL;
    *sent = (struct sent_body){answer->memory, answer->body};
    response = MHD_create_response_from_buffer_with_free_callback_cls(
        (size_t)plan->bytes, (char *)answer->body + plan->offset, free_body,
        sent);
    if (response)
        answer->body = NULL;
    else
        free(sent);
    return response;
}

static struct MHD_Response *from_file(struct answer *answer,
                                      const struct response_plan *plan)
{
    struct MHD_Response *response = MHD_create_response_from_fd_at_offset64(
        plan->bytes, answer->file, plan->offset);

    if (response)
        answer->file = -1;
    return response;
}

/* Read the part of a file that is sent, if an answer may be so long: a worker
 * can wait for storage, the thread that sends cannot. */
static void load_file(struct answer *answer, struct response_plan *plan)
{
    char *part;
    uint64_t got = 0;

    if (answer->file < 0 || plan->bytes > answer->limit)
        return;
    part = memory_budget_resize(answer->memory, NULL, (size_t)plan->bytes + 1);
    while (part && got < plan->bytes) {
        ssize_t n = pread(answer->file, part + got, (size_t)(plan->bytes - got),
                          (off_t)(plan->offset + got));

        if (n <= 0)
            break;
        got += (uint64_t)n;
    }
    if (!part || got < plan->bytes) {
        memory_budget_release(answer->memory, part);
        return; /* it is sent from the file, as far as that goes */
    }
    close(answer->file);
    answer->file = -1;
    answer->body = part;
    answer->bytes = (size_t)plan->bytes;
    plan->offset = 0;
}

static struct MHD_Response *from_nothing(void)
{
    return MHD_create_response_from_buffer(0, (void *)(uintptr_t) "",
                                           MHD_RESPMEM_PERSISTENT);
}

static struct MHD_Response *make_body(struct answer *answer,
                                      const struct response_plan *plan)
{
    if (plan->bytes == 0 || plan->code == 304)
        return from_nothing();
    if (answer->fixed)
        return MHD_create_response_from_buffer(
            (size_t)plan->bytes,
            (char *)(uintptr_t)answer->fixed + plan->offset,
            MHD_RESPMEM_PERSISTENT);
    return answer->file >= 0 ? from_file(answer, plan)
                             : from_memory(answer, plan);
}

static uint64_t length_of(const struct answer *answer)
{
    return answer->file >= 0 ? answer->file_bytes : answer->bytes;
}

/* What all answers say: who may read them, and that nothing is to be guessed
 * from them. */
static void add_policy(struct MHD_Response *response, const struct job *job,
                       const char *policy)
{
    add_header(response, "X-Content-Type-Options", "nosniff");
    add_header(response, "Content-Security-Policy",
               policy ? policy : "default-src 'none'; frame-ancestors 'none'");
    add_header(response, "Referrer-Policy", "no-referrer");
    add_header(response, "Cross-Origin-Resource-Policy",
               job->origin ? "cross-origin" : "same-origin");
    add_header(response, "Vary", "Origin, Accept-Encoding");
    if (!job->origin)
        return;
    add_header(response, "Access-Control-Allow-Origin", job->origin);
    add_header(response, "Access-Control-Expose-Headers",
               "ETag, Content-Range, Retry-After, Bouma-Bytes-Read, "
               "Bouma-Columns, Bouma-Complete, Bouma-Count, Bouma-Error, "
               "Bouma-Error-Kind, Bouma-First, Bouma-High, Bouma-Level, "
               "Bouma-Limit, Bouma-Low, Bouma-Quality, Bouma-Shape, "
               "Bouma-Spacing, Bouma-Step, Bouma-Tag, Bouma-Type");
}

static void add_content(struct MHD_Response *response,
                        const struct answer *answer,
                        const struct response_plan *plan, uint64_t total)
{
    char text[100];

    if (answer->type && plan->code != 304)
        add_header(response, "Content-Type", answer->type);
    if (answer->encoding)
        add_header(response, "Content-Encoding", answer->encoding);
    if (answer->etag[0]) {
        snprintf(text, sizeof(text), "\"%s%s%s\"", answer->etag,
                 answer->encoding ? "-" : "",
                 answer->encoding ? answer->encoding : "");
        add_header(response, "ETag", text);
    }
    if (answer->binary && plan->code < 300)
        add_header(response, "Accept-Ranges", "bytes");
    if (plan->code == 206) {
        snprintf(text, sizeof(text), "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64,
                 plan->offset, plan->offset + plan->bytes - 1, total);
        add_header(response, "Content-Range", text);
    }
    for (size_t i = 0; i < answer->header_count; i++)
        add_header(response, answer->headers[i].name, answer->headers[i].value);
}

/* Make the response of a job; the answer is used up. */
static void respond(struct job *job, struct answer *answer)
{
    struct response_wishes wishes = {header(job, "Range"),
                                     header(job, "If-Range"),
                                     header(job, "Accept-Encoding")};
    uint64_t total = length_of(answer);
    struct response_plan plan, sent; /* 'sent': where it lies in memory */

    response_plan(&plan, answer, total, &wishes);
    if (plan.code == 416) {
        answer_fail(answer, 416, BOUMA_EINVAL,
                    "the range '%.100s' is not in the %" PRIu64 " bytes there "
                    "are",
                    wishes.range, total);
        answer_header(answer, "Content-Range", "bytes */%" PRIu64, total);
        plan.bytes = answer->bytes;
        plan.offset = 0;
    }
    sent = plan;
    if (answer->file >= 0)
        load_file(answer, &sent);
    else if (response_compress(answer, plan.encoding))
        sent.bytes = plan.bytes = answer->bytes;
    job->code = plan.code;
    job->bytes = plan.bytes;
    job->response = make_body(answer, &sent);
    if (job->response) {
        add_content(job->response, answer, &plan, total);
        add_header(job->response, "Cache-Control",
                   response_caching(answer,
                                    job->server->options.access.token != NULL));
        add_policy(job->response, job, answer->policy);
    }
    answer_release(answer);
}

__attribute__((format(printf, 4, 5))) static void
respond_error(struct job *job, int code, int status, const char *format, ...)
{
    struct answer answer;
    char message[400];
    va_list list;

    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    answer_init(&answer, &job->server->memory,
                job->server->options.limits.answer_bytes);
    answer_fail(&answer, code, status, "%s", message);
    if (code == 401)
        answer_header(&answer, "WWW-Authenticate", "Bearer");
    if (code == 405)
        answer_header(&answer, "Allow", "GET, HEAD, OPTIONS");
    respond(job, &answer);
}

/* ---- events -------------------------------------------------------------- */

static void sleep_connection(void *user)
{
    MHD_suspend_connection(((struct job *)user)->connection);
}

static void wake_connection(void *user)
{
    struct job *job = user;

    resume(job->server, job->connection);
}

static ssize_t send_events(void *user, uint64_t at, char *to, size_t room)
{
    struct job *job = user;
    long taken = events_take(job->listener, to, room);

    (void)at;
    if (taken)
        set_phase(job->peer, PHASE_SENDING, 0);
    if (taken == 0) /* it sleeps, for as long as nothing happens */
        set_phase(job->peer, PHASE_WORKING, 0);
    return taken < 0 ? MHD_CONTENT_READER_END_OF_STREAM : taken;
}

static void respond_events(struct job *job, const struct answer *answer)
{
    job->listener = events_listen(job->server->events, answer->events_of,
                                  sleep_connection, wake_connection, job);
    if (!job->listener) {
        respond_error(job, 503, BOUMA_ELIMIT, "too many listen to events");
        return;
    }
    job->code = 200;
    job->response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096,
                                                      send_events, job, NULL);
    if (!job->response)
        return;
    add_header(job->response, "Content-Type", "text/event-stream");
    add_header(job->response, "Cache-Control", "no-store");
    add_policy(job->response, job, NULL);
}

/* ---- workers ------------------------------------------------------------- */

static void work_on(struct worker *worker, struct job *job)
{
    struct server *server = job->server;
    struct request request = {.url = &job->url,
                              .if_none_match = header(job, "If-None-Match"),
                              .prefix = job->prefix,
                              .limits = server->options.limits,
                              .served = server->options.served,
                              .reader = &worker->reader};
    struct answer answer;

    answer_init(&answer, &server->memory, server->options.limits.answer_bytes);
    route_answer(&request, &answer);
    if (answer.events) {
        respond_events(job, &answer);
        answer_release(&answer);
    } else {
        respond(job, &answer);
    }
}

static struct job *next_job(struct server *server)
{
    struct fair_item *item = NULL;

    pthread_mutex_lock(&server->lock);
    while (!server->ended && !(item = fair_queue_take(&server->queue)))
        pthread_cond_wait(&server->waiting, &server->lock);
    pthread_mutex_unlock(&server->lock);
    return (struct job *)item;
}

static void *run_worker(void *user)
{
    struct worker *worker = user;
    struct job *job;

    while ((job = next_job(worker->server))) {
        struct MHD_Connection *connection = job->connection;

        work_on(worker, job);
        job->state = JOB_DONE;
        resume(worker->server, connection); /* the job is not ours any more */
    }
    return NULL;
}

/* ---- requests ------------------------------------------------------------ */

static void *begin_request(void *user, const char *target,
                           struct MHD_Connection *connection)
{
    struct job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    job->server = user;
    job->connection = connection;
    job->since = served_clock();
    job->target = strdup(target);
    if (job->target)
        return job;
    free(job);
    return NULL;
}

static void end_request(void *user, struct MHD_Connection *connection,
                        void **context, enum MHD_RequestTerminationCode how)
{
    struct job *job = *context;

    (void)user, (void)connection, (void)how;
    if (!job)
        return;
    if (job->listener)
        events_leave(job->listener);
    if (job->response)
        MHD_destroy_response(job->response);
    set_phase(job->peer, PHASE_NEXT, 0);
    url_release(&job->url);
    free(job->target);
    free(job);
    *context = NULL;
}

/* The token: in a header, a parameter, or the path, from which it is taken. */
static bool has_token(struct job *job)
{
    const char *secret = job->server->options.access.token;
    const char *given = access_bearer(header(job, "Authorization"));

    if (!secret)
        return true;
    if (!given && job->url.part_count >= 2 &&
        strcmp(job->url.parts[0], "t") == 0) {
        given = job->url.parts[1];
        snprintf(job->prefix, sizeof(job->prefix), "/t/%.200s", given);
        url_skip(&job->url, 2);
    }
    if (!given)
        given = url_parameter(&job->url, "token");
    return given && access_same(secret, given);
}

static void respond_options(struct job *job)
{
    job->code = 204;
    job->response = from_nothing();
    if (!job->response)
        return;
    add_header(job->response, "Allow", "GET, HEAD, OPTIONS");
    add_header(job->response, "Access-Control-Allow-Methods",
               "GET, HEAD, OPTIONS");
    add_header(job->response, "Access-Control-Allow-Headers",
               "Authorization, If-None-Match, If-Range, Range");
    add_header(job->response, "Access-Control-Max-Age", "86400");
    add_policy(job->response, job, NULL);
}

static bool has_body(const struct job *job)
{
    const char *length = header(job, "Content-Length");

    return header(job, "Transfer-Encoding") ||
           (length && strcmp(length, "0") != 0);
}

/* What can be told without a look at the data. The job has a response if it is
 * not to be worked on. */
static void check_request(struct job *job, const char *method,
                          const char *version)
{
    const struct access *access = &job->server->options.access;
    const char *host = header(job, "Host"), *origin = header(job, "Origin");
    char message[200];

    if (!host && strcmp(version, MHD_HTTP_VERSION_1_0) != 0) {
        respond_error(job, 400, BOUMA_EINVAL, "the header Host is missing");
        return;
    }
    if (!access_host(access, host)) {
        respond_error(job, 403, BOUMA_EINVAL,
                      "'%.100s' is no name of this server; --host tells it",
                      host);
        return;
    }
    if (origin && !access_origin(access, origin, host)) {
        respond_error(job, 403, BOUMA_EINVAL,
                      "pages of '%.100s' may not read this; --allow-origin "
                      "allows it",
                      origin);
        return;
    }
    job->origin = origin;
    if (strcmp(method, "OPTIONS") == 0)
        respond_options(job);
    else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        respond_error(job, 405, BOUMA_EINVAL,
                      "the methods are GET, HEAD and OPTIONS");
    else if (strlen(job->target) > URL_BYTES)
        respond_error(job, 414, BOUMA_ELIMIT, "the URL is longer than %d bytes",
                      URL_BYTES);
    else if (!url_parse(&job->url, job->target, message, sizeof(message)))
        respond_error(job, 400, BOUMA_EINVAL, "%s", message);
    else if (!has_token(job))
        respond_error(job, 401, BOUMA_EINVAL,
                      "this server wants its token: in the header "
                      "Authorization, the parameter token, or the path");
}

static void log_request(const struct job *job, const char *method)
{
    char hidden[900], target[900], name[INET6_ADDRSTRLEN] = "?", verb[24];

    serve_log_hide(hidden, sizeof(hidden), job->target);
    serve_log_escape(target, sizeof(target), hidden);
    serve_log_escape(verb, sizeof(verb), method);
    inet_ntop(AF_INET6, job->item.client.bytes, name, sizeof(name));
    serve_log("%s \"%s %s\" %d %" PRIu64 " %.3f",
              strncmp(name, "::ffff:", 7) == 0 ? name + 7 : name, verb, target,
              job->code, job->bytes, served_clock() - job->since);
}

/* Hand over the response of a job. */
static enum MHD_Result send_response(struct job *job, const char *method)
{
    enum MHD_Result result = MHD_NO;

    log_request(job, method);
    set_phase(job->peer, PHASE_SENDING, job->bytes);
    if (job->response)
        result = MHD_queue_response(job->connection, (unsigned)job->code,
                                    job->response);
    return result;
}

static void enqueue(struct job *job)
{
    struct server *server = job->server;

    job->state = JOB_WAITING;
    set_phase(job->peer, PHASE_WORKING, 0);
    MHD_suspend_connection(job->connection);
    pthread_mutex_lock(&server->lock);
    fair_queue_put(&server->queue, &job->item);
    pthread_cond_signal(&server->waiting);
    pthread_mutex_unlock(&server->lock);
}

/* The first call, when the header is there. A body is not read: the answer
 * then ends the connection. */
static enum MHD_Result begin_job(struct job *job, const char *method)
{
    const union MHD_ConnectionInfo *size = MHD_get_connection_info(
        job->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const union MHD_ConnectionInfo *context = MHD_get_connection_info(
        job->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    job->state = JOB_CHECKED;
    job->item.client = client_of(job->connection);
    job->peer = context ? context->socket_context : NULL;
    if (size && size->header_size > HEADER_BYTES + strlen(job->target))
        respond_error(job, 431, BOUMA_ELIMIT,
                      "the header is longer than %d bytes, without the URL",
                      HEADER_BYTES);
    else if (has_body(job))
        respond_error(job, 400, BOUMA_EINVAL, "a request has no body");
    return job->response ? send_response(job, method) : MHD_YES;
}

static enum MHD_Result handle(void *user, struct MHD_Connection *connection,
                              const char *url, const char *method,
                              const char *version, const char *upload,
                              size_t *upload_bytes, void **context)
{
    struct job *job = *context;

    (void)user, (void)connection, (void)url, (void)upload;
    if (!job)
        return MHD_NO;
    if (job->state == JOB_NEW)
        return begin_job(job, method);
    if (*upload_bytes) {
        *upload_bytes = 0;
        return MHD_YES;
    }
    if (job->state == JOB_CHECKED) {
        check_request(job, method, version);
        if (!job->response && !job->code) {
            enqueue(job);
            return MHD_YES;
        }
        job->state = JOB_DONE;
    }
    return job->state == JOB_DONE ? send_response(job, method) : MHD_YES;
}

/* ---- the server ---------------------------------------------------------- */

static void log_trouble(void *user, const char *format, va_list list)
{
    char text[300], escaped[600];

    (void)user;
    vsnprintf(text, sizeof(text), format, list);
    text[strcspn(text, "\n")] = '\0';
    serve_log_escape(escaped, sizeof(escaped), text);
    serve_log("%s", escaped);
}

/* Parts and parameters are decoded by us. */
static size_t decode_nothing(void *user, struct MHD_Connection *connection,
                             char *text)
{
    (void)user, (void)connection;
    return strlen(text);
}

static bool start_daemon(struct server *server)
{
    const struct http_options *options = &server->options;

    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL,
        NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER, log_trouble, server,
        MHD_OPTION_LISTEN_SOCKET, options->socket, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)options->connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)(options->connections + 3) / 4, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)POOL_BYTES, MHD_OPTION_URI_LOG_CALLBACK, begin_request, server,
        MHD_OPTION_UNESCAPE_CALLBACK, decode_nothing, server,
        MHD_OPTION_NOTIFY_COMPLETED, end_request, server,
        MHD_OPTION_NOTIFY_CONNECTION, peer_changed, server, MHD_OPTION_END);
    return server->daemon != NULL;
}

/* Files that may be open: of connections, steps, and a few others. */
static int step_room(const struct http_options *options)
{
    struct rlimit files;
    long left;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return 1;
    if (files.rlim_cur < 65536 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max < 65536 ? files.rlim_max : 65536;
        setrlimit(RLIMIT_NOFILE, &files);
        getrlimit(RLIMIT_NOFILE, &files);
    }
    left = (long)files.rlim_cur - options->connections - 64;
    left = left / (options->workers + 1) / STEP_FILES;
    return left < 1 ? 1 : left > READER_STEPS ? READER_STEPS : (int)left;
}

static bool start_workers(struct server *server)
{
    int room = step_room(&server->options);

    server->workers =
        calloc((size_t)server->options.workers, sizeof(*server->workers));
    if (!server->workers)
        return false;
    for (int i = 0; i < server->options.workers; i++) {
        struct worker *worker = &server->workers[i];

        worker->server = server;
        if (!reader_init(&worker->reader, server->options.served,
                         &server->memory, room) ||
            pthread_create(&worker->thread, NULL, run_worker, worker) != 0) {
            reader_release(&worker->reader);
            return false;
        }
        server->worker_count++;
    }
    return true;
}

/* Until a signal comes. */
static void loop(struct server *server, int signals)
{
    int epoll =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    struct pollfd ready[3] = {{.fd = epoll, .events = POLLIN},
                              {.fd = signals, .events = POLLIN},
                              {.fd = server->wake, .events = POLLIN}};
    uint64_t count;
    double looked = served_clock();

    while (!(ready[1].revents & POLLIN)) {
        MHD_UNSIGNED_LONG_LONG milliseconds = 1000;

        if (MHD_get_timeout(server->daemon, &milliseconds) != MHD_YES ||
            milliseconds > 1000)
            milliseconds = 1000;
        ready[1].revents = ready[2].revents = 0;
        poll(ready, 3, (int)milliseconds);
        if ((ready[2].revents & POLLIN) &&
            read(server->wake, &count, sizeof(count)) < 0)
            continue; /* another signal came between */
        MHD_run(server->daemon);
        if (served_clock() - looked >= 1) {
            cut_off_slow(server);
            looked = served_clock();
        }
    }
}

/* Nothing may be suspended when the daemon is stopped: workers finish what they
 * have, and what waits is told so. */
static void stop(struct server *server)
{
    struct fair_item *item;

    MHD_quiesce_daemon(server->daemon);
    events_end(server->events);
    pthread_mutex_lock(&server->lock);
    server->ended = true;
    pthread_cond_broadcast(&server->waiting);
    pthread_mutex_unlock(&server->lock);
    for (int i = 0; i < server->worker_count; i++)
        pthread_join(server->workers[i].thread, NULL);
    while ((item = fair_queue_take(&server->queue))) {
        struct job *job = (struct job *)item;

        respond_error(job, 503, BOUMA_ESTATE, "the server is ending");
        job->state = JOB_DONE;
        MHD_resume_connection(job->connection);
    }
    for (int i = 0; i < 3; i++)
        MHD_run(server->daemon);
}

static void release(struct server *server)
{
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    events_free(server->events);
    for (int i = 0; i < server->worker_count; i++)
        reader_release(&server->workers[i].reader);
    free(server->workers);
    pthread_cond_destroy(&server->waiting);
    pthread_mutex_destroy(&server->lock);
}

static bool run_with_signals(struct server *server, int signals,
                             void (*ready)(void *user), void *user)
{
    bool fine = start_daemon(server);

    if (fine)
        server->events = events_start(server->options.served, &server->memory,
                                      server->options.limits.answer_bytes,
                                      (size_t)server->options.connections / 2);
    fine = fine && server->events && start_workers(server);
    if (fine) {
        ready(user);
        loop(server, signals);
    }
    if (server->daemon && server->events)
        stop(server);
    return fine;
}

bool http_serve(const struct http_options *options, void (*ready)(void *user),
                void *user, char *message, size_t bytes)
{
    struct server server = {.options = *options};
    sigset_t set, before;
    int signals;
    bool fine;

    memory_budget_init(&server.memory, options->memory);
    pthread_mutex_init(&server.lock, NULL);
    pthread_cond_init(&server.waiting, NULL);
    /* All threads leave these signals to the first one, which polls. */
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    sigdelset(&set, SIGPIPE);
    signals = signalfd(-1, &set, SFD_CLOEXEC);
    server.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    errno = 0;
    fine = signals >= 0 && server.wake >= 0 &&
           run_with_signals(&server, signals, ready, user);
    if (!fine)
        snprintf(message, bytes, "the server cannot start%s%s",
                 errno ? ": " : "", errno ? strerror(errno) : "");
    release(&server);
    if (signals >= 0)
        close(signals);
    if (server.wake >= 0)
        close(server.wake);
    return fine;
}
