/* http_inside.h -- what the files http_*.c share: the server, its connections
 * and its requests. Only these know of libmicrohttpd. */
#ifndef SERVE_HTTP_INSIDE_H
#define SERVE_HTTP_INSIDE_H

#include <microhttpd.h>
#include <pthread.h>

#include "events.h"
#include "fair_queue.h"
#include "http_server.h"

/* How long a connection may do nothing. */
#define IDLE_SECONDS 30

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
    struct job *job; /* its request that has not ended; NULL: none */
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
    char authority[260]; /* of "http://NAME:80/...", the target of a proxy's
                            request; "": none */
    struct url url;
    const char *origin; /* that may read the answer; NULL: none was given */
    char prefix[220];
    struct MHD_Response *response;
    int code;
    uint64_t bytes;
    double since;
    struct event_listener *listener;
    struct sent_file *file; /* that is sent: workers read the next block */
    bool head;              /* only headers are sent */
};

/* ---- requests and their queue (http_server.c) ------------------------------------------- */

/* Let the connection sleep until a worker has done the job's work. False if the
 * server is ending. */
bool http_enqueue(struct job *job);

/* The request comes to its end, and all that it has is given back. */
void http_end_job(struct job *job);

/* ---- connections (http_peers.c) ------------------------------------------ */

/* For libmicrohttpd, which tells when one begins and ends. */
void http_peer_changed(void *user, struct MHD_Connection *connection,
                       void **context,
                       enum MHD_ConnectionNotificationCode what);

/* A phase begins. 'peer' may be NULL. */
void http_set_phase(struct peer *peer, enum phase phase, uint64_t bytes);

/* Shut down those that are too slow; the library closes them when it sees that.
 */
void http_cut_off_slow(struct server *server);

/* Whose turn it is that a request waits for: its address. */
struct fair_client http_client_of(struct MHD_Connection *connection);

/* ---- requests (http_check.c) --------------------------------------------- */

/* "http://NAME:80/path" is "/path" at NAME:80. What has no such form, or a name
 * that is too long, stays as it is, and is refused then. */
void http_take_authority(struct job *job);

/* When the header is there, and then all of the request. The job has a response
 * if it is not to be worked on; after the first, the connection ends. */
void http_check_header(struct job *job);
void http_check_request(struct job *job, const char *method,
                        const char *version);

/* ---- responses (http_response.c) ----------------------------------------- */

/* A header of the request, or NULL. */
const char *http_header(const struct job *job, const char *name);

/* Make the response of a job; the answer is used up. */
void http_respond(struct job *job, struct answer *answer);

/* Make one that tells of an error. */
__attribute__((format(printf, 4, 5))) void
http_respond_error(struct job *job, int code, int status, const char *format,
                   ...);

/* Parts of responses that are made otherwise: one without a body, one of which
 * only headers are sent (MHD_SIZE_UNKNOWN: without a length), a header, and
 * what all answers say: who may read them, and that nothing is to be guessed
 * from them. */
struct MHD_Response *http_no_body(void);
struct MHD_Response *http_head_only(uint64_t bytes);
void http_add_header(struct MHD_Response *response, const char *name,
                     const char *value);
void http_add_policy(struct MHD_Response *response, const struct job *job,
                     const char *policy);

/* ---- files (http_file.c) ------------------------------------------------- */

/* A part of the answer's file, which is used up. NULL if it cannot be read: the
 * answer then tells. */
struct MHD_Response *http_file_response(struct job *job, struct answer *answer,
                                        uint64_t offset, uint64_t bytes);
/* For a worker: read what is sent next. */
void http_file_work(struct job *job);
/* It will not be read any more: the connection is closed. */
void http_file_fail(struct job *job);

#endif
