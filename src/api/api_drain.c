/* api_drain.c -- bouma_drain(): what was left in local copies. */
#include <string.h>

#include "api/api.h"
#include "check/drain_all.h"

int bm_api_drain(struct bm_comm *comm, struct bm_request *q, const char *local,
                 int remove, bouma_drain_report *report)
{
    bouma_drain_report own;
    int rc = bm_api_accept(q, report);

    memset(&own, 0, sizeof(own));
    if (!rc && (!local || !*local))
        rc = bm_fail(&q->error, BOUMA_EINVAL,
                     "the path of the dataset to drain is empty");
    if (!rc && !strcmp(local, q->path))
        rc = bm_fail(&q->error, BOUMA_EINVAL, "%s: cannot be drained to itself",
                     q->path);
    rc = bm_comm_begin(comm, "draining", remove != 0, NULL, rc, &q->error);
    if (rc == BOUMA_EMISMATCH && !q->error.status)
        bm_fail(&q->error, rc,
                "%s: some ranks remove what is drained, others do not",
                q->path);
    if (rc)
        bm_comm_free(comm);
    else
        rc = bm_drain_all(comm, q, local, remove, &own);
    bm_api_answer(q);
    if (report)
        bm_reply(report, &own, sizeof(own));
    return rc;
}

int bouma_drain(bouma_drain_report *report, const char *local, const char *path,
                int remove, const bouma_options *opts, char *message,
                size_t bytes)
{
    BM_STRICT_MATH;
    struct bm_comm *comm;
    int rc = bm_api_alone(&comm, opts, message, bytes);
    struct bm_request q = bm_api_ask(path, opts, NULL, NULL, message, bytes);

    return rc ? rc : bm_api_drain(comm, &q, local, remove, report);
}
