/* plan_local.c -- see plan_local.h. */
#include "write/plan_local.h"

#include <string.h>

#include "comm/sparse.h"

/* What goes between ranks. */
struct carrier {
    struct bm_mail in, out;
    struct bm_scan scan;
};

/* Bring mail and sums to where they are wanted. */
static int carry(struct carrier *c, struct bm_local *l, struct bm_comm *comm,
                 int rc, struct bm_error *error)
{
    uint64_t values[1 + BM_LOCAL_SUMS] = {l->my_most};
    struct bm_sparse_values said = {values, 1 + BM_LOCAL_SUMS, BM_LOCAL_SUMS};

    memcpy(values + 1, l->mine, sizeof(l->mine));
    rc = bm_comm_sparse(comm, &c->out, &c->in, &said, rc, error);
    bm_mail_clear(&c->out);
    l->most = values[0];
    memcpy(l->sums, values + 1, sizeof(l->sums));
    if (rc || !l->scans)
        return rc;
    memcpy(c->scan.mine, l->mine, sizeof(l->mine));
    rc = bm_comm_scan(comm, &c->scan, BM_LOCAL_SUMS, error);
    memcpy(l->before, c->scan.before, sizeof(l->before));
    return rc;
}

static int fail(struct bm_error *error, int rc)
{
    return rc == BOUMA_ENOMEM
               ? bm_fail(error, rc, "no memory to plan the step")
               : bm_fail(error, rc, "another rank told nonsense of its plan");
}

int bm_local_run(struct bm_local *l, struct bm_comm *comm, int rc,
                 struct bm_error *error)
{
    struct carrier *c = bm_new(comm->a, 1, sizeof(*c));

    if (!c && !rc)
        rc = fail(error, BOUMA_ENOMEM);
    rc = bm_comm_agree(comm, rc, error);
    if (rc) {
        bm_drop(comm->a, c);
        return rc;
    }
    bm_mail_init(&c->in, comm->a);
    bm_mail_init(&c->out, comm->a);
    while (!rc && !l->is_done) {
        rc = bm_local_next(l, &c->in, &c->out);
        if (rc == BOUMA_ECOVER || l->is_done) /* on all ranks */
            break;
        if (rc)
            fail(error, rc);
        rc = carry(c, l, comm, rc, error);
    }
    bm_mail_release(&c->in);
    bm_mail_release(&c->out);
    if (!comm->lost) /* else MPI may still use it */
        bm_drop(comm->a, c);
    return rc;
}
