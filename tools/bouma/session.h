/* session.h -- the processes that run one command together.
 *
 * `bouma` has one process (session_serial.c), `bouma-mpi` as many as mpirun
 * starts (session_mpi.c); all other files are the same in both programs. Every
 * function but session_rank(), session_size() and session_program() is
 * collective. */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bouma.h"

struct session;

/* NULL if the processes cannot be set up. */
struct session *session_start(int *argc, char ***argv);
void session_finish(struct session *session);

int session_rank(const struct session *session);
int session_size(const struct session *session);
/* How many of the processes are on this node. */
int session_node_size(struct session *session);
/* The name of this program, for messages. */
const char *session_program(void);

/* Give every process the largest 'outcome', and the 'bytes' bytes at 'told' of
 * the first process that has it, unless it is 0. */
int session_agree(struct session *session, int outcome, void *told,
                  size_t bytes);
/* Copy 'data' of process 0 to all. */
void session_broadcast(struct session *session, void *data, size_t bytes);
uint64_t session_sum(struct session *session, uint64_t value);
/* Whether all processes give one value. */
bool session_equal(struct session *session, uint64_t value);
/* Combine the numbers of all processes, each with its namesakes; process 0 has
 * the result, the others are left with anything. */
enum session_operation { SESSION_SUM, SESSION_MIN, SESSION_MAX };
void session_combine(struct session *session, double *values, size_t count,
                     enum session_operation operation);

/* As their namesakes in bouma.h. */
int session_create(struct session *session, bouma_dataset **out,
                   const char *path, const bouma_options *opts);
int session_append(struct session *session, bouma_dataset **out,
                   const char *path, const bouma_options *opts);
int session_open(struct session *session, bouma_dataset **out, const char *path,
                 const bouma_options *opts);

/* What a check is told and tells; see bouma_verify(). */
struct session_check {
    const char *path;
    bouma_depth depth;
    const bouma_options *opts;
    void (*each)(void *user, const bouma_finding *finding);
    void *user;
    bouma_verify_report report;
    char message[1024];
};
int session_verify(struct session *session, struct session_check *check);

/* The same for a measurement; see bouma_probe(). */
struct session_probe {
    bouma_probe_spec spec;
    const bouma_options *opts;
    bouma_probe_report report;
    char message[1024];
};
int session_probe(struct session *session, struct session_probe *probe);

/* The same of bouma_drain(). */
struct session_drain {
    const char *local, *path;
    bool remove;
    const bouma_options *opts;
    bouma_drain_report report;
    char message[1024];
};
int session_drain(struct session *session, struct session_drain *drain);

/* The processes as the library's own parts see them; the caller ends it with
 * bm_comm_free(). */
struct bm_comm;
struct bm_error;
int session_comm(struct session *session, struct bm_comm **out,
                 const bouma_allocator *a, double timeout,
                 struct bm_error *error);

#endif
