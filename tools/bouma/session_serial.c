/* session_serial.c -- a session of this process alone: `bouma`. */
#include "comm/comm.h"
#include "session.h"
#include "sized.h"

/* A const object is all there is to point to: one process needs no state. */
struct session {
    int size;
};

static const struct session the_only = {1};

struct session *session_start(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return (struct session *)&the_only;
}

void session_finish(struct session *session)
{
    (void)session;
}

int session_rank(const struct session *session)
{
    (void)session;
    return 0;
}

int session_size(const struct session *session)
{
    return session->size;
}

int session_node_size(struct session *session)
{
    return session->size;
}

const char *session_program(void)
{
    return "bouma";
}

int session_agree(struct session *session, int outcome, void *told,
                  size_t bytes)
{
    (void)session;
    (void)told;
    (void)bytes;
    return outcome;
}

void session_broadcast(struct session *session, void *data, size_t bytes)
{
    (void)session;
    (void)data;
    (void)bytes;
}

uint64_t session_sum(struct session *session, uint64_t value)
{
    (void)session;
    return value;
}

bool session_equal(struct session *session, uint64_t value)
{
    (void)session;
    (void)value;
    return true;
}

void session_combine(struct session *session, double *values, size_t count,
                     enum session_operation operation)
{
    (void)session;
    (void)values;
    (void)count;
    (void)operation;
}

int session_create(struct session *session, bouma_dataset **out,
                   const char *path, const bouma_options *opts)
{
    (void)session;
    return bouma_dataset_create(out, path, opts);
}

int session_append(struct session *session, bouma_dataset **out,
                   const char *path, const bouma_options *opts)
{
    (void)session;
    return bouma_dataset_append(out, path, opts);
}

int session_open(struct session *session, bouma_dataset **out, const char *path,
                 const bouma_options *opts)
{
    (void)session;
    return bouma_dataset_open(out, path, opts);
}

int session_verify(struct session *session, struct session_check *check)
{
    (void)session;
    return bouma_verify(SIZED(&check->report), check->path, check->depth,
                        check->opts, check->each, check->user, check->message,
                        sizeof(check->message));
}

int session_probe(struct session *session, struct session_probe *probe)
{
    (void)session;
    return bouma_probe(SIZED(&probe->report), &probe->spec, probe->opts,
                       probe->message, sizeof(probe->message));
}

int session_drain(struct session *session, struct session_drain *drain)
{
    (void)session;
    return bouma_drain(SIZED(&drain->report), drain->local, drain->path,
                       drain->remove, drain->opts, drain->message,
                       sizeof(drain->message));
}

int session_comm(struct session *session, struct bm_comm **out,
                 const bouma_allocator *a, double timeout,
                 struct bm_error *error)
{
    (void)session;
    (void)timeout; /* there is nobody to wait for */
    return bm_comm_self_new(out, a) ? bm_fail(error, BOUMA_ENOMEM, "no memory")
                                    : BOUMA_OK;
}
