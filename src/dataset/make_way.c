/* make_way.c -- see make_way.h. */
#include "dataset/make_way.h"

#include <string.h>

#include "dataset/clobber.h"
#include "dataset/local_copy.h"
#include "store/identity.h"

/* One store of this rank, to be claimed. */
struct claim {
    struct bm_store s;
    int there; /* something is in the way */
    struct bm_clobber clobber;
};

/* What this rank has to do with it. */
struct way {
    struct claim dataset;    /* rank 0 */
    struct claim local_copy; /* with 'persist'; of those that share it, the one
                             that claims it goes on */
    uint32_t epoch;          /* of the local copy's claim */
    int taken;               /* by this rank */
};

static void release(struct claim *p)
{
    bm_clobber_release(&p->clobber);
    bm_store_close(&p->s);
}

/* ---- looking ------------------------------------------------------------ */

/* What is in the way, and whether it is a dataset that may go. */
static int look(struct bouma_dataset *ds, struct claim *p, const char *path)
{
    struct bm_error why = {0};
    int rc = bm_store_open(&p->s, ds->options.io, ds->a, path, 0, &why);

    p->s.memory_limit = ds->options.memory_limit;
    if (rc == BOUMA_ENOTFOUND)
        return BOUMA_OK;
    if (rc == BOUMA_EINVAL) /* a file */
        return bm_fail(
            &ds->error, BOUMA_EEXISTS,
            "%s: exists and is not a bouma dataset; remove it yourself", path);
    if (rc)
        return bm_fail(&ds->error, rc, "%s", why.text);
    /* Without the mark, a creation is gone on with. */
    p->there = !bm_clobber_is_unfinished(&p->s) ||
               !bm_store_is_absent(&p->s, BM_NAME_CLOBBERED);
    return p->there ? bm_clobber_begin(&p->clobber, &p->s, ds->options.force,
                                       &ds->error)
                    : BOUMA_OK;
}

static int look_at_all(struct bouma_dataset *ds, struct way *w,
                       const char *path)
{
    char local_copy[1024];
    int rc = BOUMA_OK;

    if (ds->comm->rank == 0)
        rc = look(ds, &w->dataset, path);
    if (rc || !ds->options.persist)
        return rc;
    rc = bm_local_copy_path(local_copy, sizeof(local_copy), ds->options.local,
                            path, &ds->error);
    if (!rc)
        rc = look(ds, &w->local_copy, local_copy);
    if (!rc && w->dataset.there && w->local_copy.there &&
        bm_store_same(&w->dataset.s, &w->local_copy.s))
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "%s: is the dataset itself; choose another directory for "
                     "the option 'local'",
                     local_copy);
    return rc;
}

/* A local copy goes if it is one of this dataset; one with steps of another
 * stays, as what is not drained is nowhere else. Collective. */
static int check_belongs(struct bouma_dataset *ds, struct way *w)
{
    struct bm_store *s = &w->local_copy.s;
    uint64_t all[3] = {0};
    int rc;

    if (w->dataset.there) {
        all[0] = 1;
        all[1] = bm_load_u64(w->dataset.clobber.id);
        all[2] = bm_load_u64(w->dataset.clobber.id + 8);
    }
    rc = bm_comm_max(ds->comm, all, 3, &ds->error);
    if (rc || !w->local_copy.there || bm_clobber_is_vacant(s))
        return rc;
    if (!all[0])
        return bm_fail(&ds->error, BOUMA_EEXISTS,
                       "%s: has steps of a dataset that is not there; drain "
                       "them with `bouma drain`, or remove it yourself",
                       s->path);
    if (bm_load_u64(w->local_copy.clobber.id) != all[1] ||
        bm_load_u64(w->local_copy.clobber.id + 8) != all[2])
        return bm_fail(&ds->error, BOUMA_EEXISTS,
                       "%s: has steps of another dataset; remove it yourself, "
                       "or choose another directory for the option 'local'",
                       s->path);
    return BOUMA_OK;
}

/* The dataset gets a later epoch than the local copies, which are claimed again
 * for the new one. */
static int claim_all(struct bouma_dataset *ds, struct way *w)
{
    int rc = BOUMA_OK;

    if (w->local_copy.there)
        rc = bm_clobber_make_epochs(&w->local_copy.clobber, &ds->error);
    if (!rc && w->local_copy.there)
        rc = bm_epoch_take(&w->local_copy.s, w->epoch, ds->options.force,
                           &w->taken, &ds->error);
    w->local_copy.clobber.epoch = w->epoch;
    if (!rc && w->dataset.there) {
        char note[512];

        rc =
            bm_clobber_claim(&w->dataset.clobber, &ds->claim.epoch,
                             ds->options.force, note, sizeof(note), &ds->error);
        ds->claim.claims = ds->claim.epoch != 0;
    }
    return rc;
}

/* ---- in shifts ---------------------------------------------------------- */

static int check_all(void *context, double until, int *more,
                     struct bm_error *error)
{
    struct way *w = context;
    int rc = BOUMA_OK;

    if (w->taken)
        rc = bm_clobber_check(&w->local_copy.clobber, until, more, error);
    if (!rc && !*more && w->dataset.there)
        rc = bm_clobber_check(&w->dataset.clobber, until, more, error);
    return rc;
}

static int remove_one(void *context, double until, int *more,
                      struct bm_error *error)
{
    struct claim *p = context;

    return bm_clobber_remove(&p->clobber, until, more, error);
}

int bm_make_way(struct bouma_dataset *ds, const char *path)
{
    struct bm_error ignored = {0};
    struct bm_comm *comm = ds->comm;
    struct way w;
    int rc;

    memset(&w, 0, sizeof(w));
    rc = look_at_all(ds, &w, path);
    rc = bm_comm_agree(comm, rc, &ds->error);
    if (!rc && ds->options.persist) {
        rc = check_belongs(ds, &w);
        rc = bm_comm_agree(comm, rc, &ds->error);
    }
    w.epoch = ds->claim.epoch;
    if (ds->options.persist)
        ds->claim.epoch += ds->claim.epoch < UINT32_MAX;
    if (!rc) {
        rc = claim_all(ds, &w);
        rc = bm_comm_agree(comm, rc, &ds->error);
    }
    if (!rc)
        rc = bm_comm_do(comm, w.taken || w.dataset.there ? check_all : NULL, &w,
                        &ds->error);
    if (!rc && ds->options.persist)
        rc = bm_comm_do(comm, w.taken ? remove_one : NULL, &w.local_copy,
                        &ds->error);
    if (!rc)
        rc = bm_comm_do(comm, w.dataset.there ? remove_one : NULL, &w.dataset,
                        &ds->error);
    if (!rc && w.taken)
        rc = bm_sweep_tell(ds, &w.local_copy.clobber.sweep, &w.local_copy.s);
    if (!rc && w.dataset.there)
        rc = bm_sweep_tell(ds, &w.dataset.clobber.sweep, &w.dataset.s);
    /* Before any rank claims the local copy again. */
    if (w.taken)
        bm_epoch_close(&w.local_copy.s, w.epoch, &ignored);
    rc = bm_comm_agree(comm, rc, &ds->error);
    release(&w.local_copy);
    bm_clobber_release(&w.dataset.clobber);
    if (ds->claim.claims)
        ds->store = w.dataset.s;
    else
        bm_store_close(&w.dataset.s);
    return rc;
}
