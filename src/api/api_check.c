/* api_check.c -- verify and repair. */
#include <string.h>

#include "api/api.h"
#include "check/check.h"

struct bm_request bm_api_ask(const char *path, const bouma_options *opts,
                             void (*each)(void *user, const bouma_finding *f),
                             void *user, char *message, size_t bytes)
{
    return (struct bm_request){.path = path,
                               .given = opts,
                               .each = each,
                               .user = user,
                               .message = message,
                               .message_bytes = bytes};
}

int bm_api_accept(struct bm_request *q, void *report)
{
    int rc;

    q->a = bm_api_allocator(q->given);
    rc = bm_api_check(&q->options, q->given, q->path, &q->error);
    return rc ? rc : bm_api_check_report(report, &q->error);
}

void bm_api_answer(const struct bm_request *q)
{
    bm_api_tell(q->message, q->message_bytes, q->error.text);
}

int bm_api_verify(struct bm_comm *comm, struct bm_request *q, bouma_depth depth,
                  bouma_verify_report *report)
{
    bouma_verify_report own;
    int rc = bm_api_accept(q, report);

    memset(&own, 0, sizeof(own));
    if (!rc && (depth < BOUMA_DEPTH_QUICK || depth > BOUMA_DEPTH_DEEP))
        rc = bm_fail(&q->error, BOUMA_EINVAL,
                     "there is no depth %d of checks; they are %d "
                     "(BOUMA_DEPTH_QUICK) to %d (BOUMA_DEPTH_DEEP)",
                     (int)depth, BOUMA_DEPTH_QUICK, BOUMA_DEPTH_DEEP);
    rc = bm_comm_begin(comm, "a check", (uint64_t)depth, NULL, rc, &q->error);
    if (rc == BOUMA_EMISMATCH && !q->error.status)
        bm_fail(&q->error, rc, "%s: the ranks check it at different depths",
                q->path);
    if (rc)
        bm_comm_free(comm);
    else
        rc = bm_verify(comm, q, depth, &own);
    bm_api_answer(q);
    if (report)
        bm_reply(report, &own, sizeof(own));
    return rc;
}

int bouma_verify(bouma_verify_report *report, const char *path,
                 bouma_depth depth, const bouma_options *opts,
                 void (*each)(void *user, const bouma_finding *f), void *user,
                 char *message, size_t bytes)
{
    BM_STRICT_MATH;
    struct bm_comm *comm;
    int rc = bm_api_alone(&comm, opts, message, bytes);
    struct bm_request q = bm_api_ask(path, opts, each, user, message, bytes);

    return rc ? rc : bm_api_verify(comm, &q, depth, report);
}

int bouma_repair(bouma_repair_report *report, const char *path, int apply,
                 const bouma_options *opts,
                 void (*each)(void *user, const bouma_finding *f), void *user,
                 char *message, size_t bytes)
{
    BM_STRICT_MATH;
    struct bm_request q = bm_api_ask(path, opts, each, user, message, bytes);
    bouma_repair_report own;
    int rc = bm_api_accept(&q, report);

    memset(&own, 0, sizeof(own));
    if (!rc)
        rc = bm_repair(&q, apply, &own);
    bm_api_answer(&q);
    if (report)
        bm_reply(report, &own, sizeof(own));
    return rc;
}

int bouma_losses(const char *path, const bouma_options *opts,
                 void (*each)(void *user, const bouma_loss *loss), void *user,
                 char *message, size_t bytes)
{
    BM_STRICT_MATH;
    struct bm_error error = {0};
    struct bm_options options;
    int rc = bm_api_check(&options, opts, path, &error);

    if (!rc && !each)
        rc = bm_fail(&error, BOUMA_EINVAL, "'each' is NULL");
    if (!rc)
        rc = bm_losses_each(path, &options, bm_api_allocator(opts), each, user,
                            &error);
    bm_api_tell(message, bytes, error.text);
    return rc;
}

int bouma_repair_forget(bouma_repair_report *report, const char *path,
                        int64_t step, int apply, const bouma_options *opts,
                        void (*each)(void *user, const bouma_finding *f),
                        void *user, char *message, size_t bytes)
{
    BM_STRICT_MATH;
    struct bm_request q = bm_api_ask(path, opts, each, user, message, bytes);
    bouma_repair_report own;
    int rc = bm_api_accept(&q, report);

    memset(&own, 0, sizeof(own));
    if (!rc && step < -1)
        rc = bm_fail(&q.error, BOUMA_EINVAL,
                     "step is %lld; it must be 0 or more, or -1 for all",
                     (long long)step);
    if (!rc)
        rc = bm_forget(&q, step, apply, &own);
    bm_api_answer(&q);
    if (report)
        bm_reply(report, &own, sizeof(own));
    return rc;
}
