/* http_server.c -- requests come in and answers go out.
 *
 * One thread, the caller's, does all that concerns sockets. A request that is
 * fine so far is suspended, and waits in a queue with a turn for each client;
 * a worker computes the answer and resumes it. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
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

#include "http_inside.h"
#include "route.h"
#include "serve_log.h"

/* For each connection: the header of a request, and that of the answer. */
#define POOL_BYTES (24 * 1024)
/* Files that a step has open, at most. */
#define STEP_FILES 64

/* From any thread. */
static void resume(struct server *server, struct MHD_Connection *connection)
{
    uint64_t one = 1;

    MHD_resume_connection(connection);
    if (write(server->wake, &one, sizeof(one)) < 0)
        return; /* it is full, so the loop is awake */
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
        http_set_phase(job->peer, PHASE_SENDING, 0);
    if (taken == 0) /* it sleeps, for as long as nothing happens */
        http_set_phase(job->peer, PHASE_WORKING, 0);
    return taken < 0 ? MHD_CONTENT_READER_END_OF_STREAM : taken;
}

static void add_event_headers(struct job *job)
{
    if (!job->response)
        return;
    http_add_header(job->response, "Content-Type", "text/event-stream");
    http_add_header(job->response, "Cache-Control", "no-store");
    http_add_policy(job->response, job, NULL);
}

static void respond_events(struct job *job, const struct answer *answer)
{
    if (job->head) {
        job->code = 200;
        job->response = http_head_only(MHD_SIZE_UNKNOWN);
        add_event_headers(job);
        return;
    }
    job->listener = events_listen(job->server->events, answer->events_of,
                                  sleep_connection, wake_connection, job);
    if (!job->listener) {
        http_respond_error(job, 503, BOUMA_ELIMIT, "too many listen to events");
        return;
    }
    job->code = 200;
    job->response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096,
                                                      send_events, job, NULL);
    add_event_headers(job);
}

/* ---- workers ------------------------------------------------------------- */

static void work_on(struct worker *worker, struct job *job)
{
    struct server *server = job->server;
    struct request request = {.url = &job->url,
                              .if_none_match =
                                  http_header(job, "If-None-Match"),
                              .prefix = job->prefix,
                              .limits = server->options.limits,
                              .served = server->options.served,
                              .reader = &worker->reader};
    struct answer answer;

    answer_init(&answer, &server->memory, server->options.limits.answer_bytes);
    answer.head = job->head;
    route_answer(&request, &answer);
    if (answer.events) {
        respond_events(job, &answer);
        answer_release(&answer);
    } else {
        http_respond(job, &answer);
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

        if (job->file)
            http_file_work(job);
        else
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
    const union MHD_ConnectionInfo *context =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    job->server = user;
    job->connection = connection;
    job->since = served_clock();
    job->target = strdup(target);
    if (!job->target) {
        free(job);
        return NULL;
    }
    http_take_authority(job);
    job->peer = context ? context->socket_context : NULL;
    if (job->peer && job->peer->job)
        http_end_job(job->peer->job);
    if (job->peer)
        job->peer->job = job;
    return job;
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

void http_end_job(struct job *job)
{
    if (job->state == JOB_NEW) { /* the library has refused it, and said why */
        job->item.client = http_client_of(job->connection);
        log_request(job, "?");
    }
    if (job->listener)
        events_leave(job->listener);
    if (job->response)
        MHD_destroy_response(job->response);
    http_set_phase(job->peer, PHASE_NEXT, 0);
    if (job->peer)
        job->peer->job = NULL;
    url_release(&job->url);
    free(job->target);
    free(job);
}

static void end_request(void *user, struct MHD_Connection *connection,
                        void **context, enum MHD_RequestTerminationCode how)
{
    (void)user, (void)connection, (void)how;
    if (*context)
        http_end_job(*context);
    *context = NULL;
}

/* Hand over the response of a job. */
static enum MHD_Result send_response(struct job *job, const char *method)
{
    enum MHD_Result result = MHD_NO;

    log_request(job, method);
    http_set_phase(job->peer, PHASE_SENDING, job->bytes);
    if (job->response)
        result = MHD_queue_response(job->connection, (unsigned)job->code,
                                    job->response);
    return result;
}

bool http_enqueue(struct job *job)
{
    struct server *server = job->server;
    bool fine;

    pthread_mutex_lock(&server->lock);
    fine = !server->ended;
    if (fine) {
        job->state = JOB_WAITING;
        MHD_suspend_connection(job->connection);
        fair_queue_put(&server->queue, &job->item);
    }
    pthread_mutex_unlock(&server->lock);
    /* Not before: a worker would wake up to wait for the lock. From here on, the
     * job may be in its hands. */
    if (fine)
        pthread_cond_signal(&server->waiting);
    return fine;
}

/* The first call, when the header is there. A body is not read: the answer
 * then ends the connection. */
static enum MHD_Result begin_job(struct job *job, const char *method)
{
    job->state = JOB_CHECKED;
    job->head = strcmp(method, "HEAD") == 0;
    job->item.client = http_client_of(job->connection);
    http_check_header(job);
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
        http_check_request(job, method, version);
        if (!job->response && !job->code) {
            http_set_phase(job->peer, PHASE_WORKING, 0);
            if (http_enqueue(job))
                return MHD_YES;
            http_respond_error(job, 503, BOUMA_ESTATE, "the server is ending");
        }
        job->state = JOB_DONE;
    }
    return job->state == JOB_DONE ? send_response(job, method) : MHD_YES;
}

/* ---- the server ---------------------------------------------------------- */

static void log_trouble(void *user, const char *format, va_list list)
{
    char text[300], escaped[600], *page;

    (void)user;
    vsnprintf(text, sizeof(text), format, list);
    text[strcspn(text, "\n")] = '\0';
    page = strstr(text, " ('<html>"); /* what it has answered */
    if (page)
        snprintf(page, sizeof(text) - (size_t)(page - text), ")");
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
        MHD_OPTION_NOTIFY_CONNECTION, http_peer_changed, server,
        MHD_OPTION_END);
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
            http_cut_off_slow(server);
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

        if (job->file)
            http_file_fail(job);
        else
            http_respond_error(job, 503, BOUMA_ESTATE, "the server is ending");
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
    memory_budget_drop(&server->memory);
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
    sigset_t set;
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
    pthread_sigmask(SIG_BLOCK, &set, NULL);
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
