/* drain_remove.c -- a local copy gives up what its target has. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "check/drain_all.h"
#include "dataset/dropped.h"
#include "dataset/idx.h"
#include "dataset/sweep.h"
#include "layout/sheet_walk.h"
#include "layout/writings.h"
#include "store/identity.h"

/* One epoch for all local copies: of the ranks that share one, one gets it, and
 * tidies up there. Collective. */
static int claim_near(struct bm_drain_all *r, uint32_t *epoch, int *claims)
{
    uint32_t last = 0;
    uint64_t largest;
    int rc = r->near.exists ? bm_epoch_last(&r->near.store, &last, r->error)
                            : BOUMA_OK;

    rc = bm_comm_agree(r->comm, rc, r->error);
    largest = last;
    if (!rc)
        rc = bm_comm_max(r->comm, &largest, 1, r->error);
    if (!rc && largest == UINT32_MAX)
        rc = bm_fail(r->error, BOUMA_ELIMIT,
                     "%s: no epochs are left, so nothing can be removed",
                     r->near.path);
    *epoch = (uint32_t)largest + 1;
    *claims = 0;
    if (!rc && r->near.exists)
        rc = bm_epoch_take(&r->near.store, *epoch, r->options->force, claims,
                           r->error);
    return bm_comm_agree(r->comm, rc, r->error);
}

/* A sheet of the step's manifest, for a walk. */
static int load_sheet(void *context, size_t w, struct bm_manifest *m, size_t k,
                      struct bm_error *error)
{
    (void)m; /* that of the writing */
    return bm_step_load_sheet(bm_step_writing(context, w), k, error);
}

/* Whether the local copy has no other file under the name of one of the step's.
 */
static int has_files_of(struct bm_store *near, struct bouma_step *step,
                        int *has, struct bm_error *error)
{
    const struct bm_manifest *m = &step->manifest;
    struct bm_sheet_walk walk = {&step->manifest, load_sheet, step, NULL, 0};
    int rc = BOUMA_OK;

    *has = 1;
    for (uint32_t i = 0; i < bm_manifest_files(m) && *has && !rc; i++) {
        char name[BM_NAME_BYTES];

        bm_manifest_file_name(name, m, i);
        if (bm_store_is_absent(near, name))
            continue;
        rc = bm_sheet_walk_to(&walk, i, error);
        *has = !rc && bm_subfile_is_there(near, m, i);
    }
    bm_sheet_walk_end(&walk);
    return rc;
}

/* Whether the target has what this rank's local copy has, to the byte of the
 * manifest, in which the hashes of all files are. A local copy may have files
 * of a step, but no manifest: then their heads tell. Two manifests of one
 * writing are an error. */
static int compare(struct bm_drain_all *r, struct bouma_step *step,
                   const struct bm_drain_step *s, int *same)
{
    enum bm_drain_there there = BM_THERE_NONE;
    struct bm_step_entry entry;
    struct bm_error why = {0};
    char name[BM_NAME_BYTES];
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, r->a);
    bm_name_manifest(name, s->entry.step);
    rc = bm_store_load(&r->near.store, name, &b, r->near.store.memory_limit,
                       &why);
    *same = 0;
    if (rc == BOUMA_ENOTFOUND) {
        rc = has_files_of(&r->near.store, step, same, r->error);
    } else if (rc) {
        bm_fail(r->error, rc, "%s", why.text);
    } else {
        rc = bm_manifest_peek(&entry, &b, r->id, name, &why);
        if (rc)
            bm_fail(r->error, rc, "%s/%s", r->near.path, why.text);
        else
            rc = bm_drain_compare(r, &b, &entry, &there);
        *same = !rc && there == BM_THERE_SAME;
    }
    *same &=
        !bm_generation_is_later(step->manifest.generation,
                                s->entry.generation) &&
        !bm_generation_is_later(s->entry.generation, step->manifest.generation);
    bm_buffer_release(&b);
    return rc;
}

/* The first finding that is no mere note. */
struct first_finding {
    struct bm_drain_all *r;
    int status;
};

static void tell_first(void *user, const bouma_finding *f)
{
    struct first_finding *first = user;
    struct bm_drain_all *r = first->r;

    if (f->severity != BOUMA_SEVERITY_NOTE && !r->error->status)
        bm_fail(r->error, first->status, "%s/%s: %s", r->far.path, f->name,
                f->text);
}

/* Every byte of those files of a step that fall to this rank, in the target
 * where they are to stay. Damage that was forgotten there counts, too: the copy
 * in the local copy may be the only one that is whole. */
static int check_files(struct bm_drain_all *r, struct bouma_step *step,
                       const int *rank_of)
{
    bouma_verify_report counts = {0};
    struct bm_check how = {.depth = BOUMA_DEPTH_FULL};
    struct bm_sheet_walk walk = {&step->manifest, load_sheet, step, NULL, 0};
    struct first_finding first = {.r = r};
    struct bm_findings findings;
    int rc = BOUMA_OK, loaded = BOUMA_OK;

    bm_findings_init(&findings, r->a);
    for (size_t i = 0; i < bm_manifest_files(&step->manifest) && !rc; i++) {
        if (rank_of[i] != r->comm->rank)
            continue;
        rc = loaded = bm_sheet_walk_to(&walk, i, r->error);
        if (!rc)
            rc = bm_check_subfile(step, i, &how, &findings, &counts);
    }
    bm_sheet_walk_end(&walk);
    if (loaded) {
        rc = loaded; /* which was told */
    } else if (rc) {
        bm_fail(r->error, rc, "no memory to check step %" PRIu64,
                step->manifest.step);
    } else if (findings.failure || findings.damages) {
        rc = first.status = findings.failure ? findings.failure : BOUMA_EFORMAT;
        bm_findings_each(&findings.bytes, r->a, tell_first, &first);
        if (!r->error->status)
            bm_fail(r->error, rc, "%s: is damaged there", r->far.path);
    }
    bm_findings_release(&findings);
    return rc;
}

/* Whether the step can be removed from this rank's local copy. Each file is
 * read once, however many ranks share the local copy. Collective. */
static int check_step(struct bm_drain_all *r, struct bouma_dataset *far,
                      const struct bm_drain_step *s, int *safe)
{
    struct bouma_step *step = NULL;
    int *rank_of = NULL, rc = BOUMA_OK;

    *safe = 0;
    if (r->near.exists) {
        bm_error_clear(&far->error);
        rc = bm_step_open(&step, far, s->entry.step);
        if (rc)
            bm_fail(r->error, rc, "%s", far->error.text);
        else
            rc = compare(r, step, s, safe);
    }
    if (!rc && *safe) {
        rank_of =
            bm_new(r->a, bm_manifest_files(&step->manifest), sizeof(*rank_of));
        if (!rank_of)
            rc = bm_fail(r->error, BOUMA_ENOMEM, "%s: no memory", r->near.path);
    }
    rc = bm_comm_agree(r->comm, rc, r->error);
    if (!rc)
        rc = bm_drain_share_out(r, *safe ? &step->manifest : NULL, rank_of);
    if (!rc && *safe)
        rc = check_files(r, step, rank_of);
    bm_drop(r->a, rank_of);
    bm_step_free(step);
    return bm_comm_agree(r->comm, rc, r->error);
}

/* ---- one who tidies up -------------------------------------------------- */

/* The index forgets it, then the manifest goes, then the rest: so nothing is
 * ever listed that is not there. */
static int remove_step(struct bm_store *near, const uint8_t *id, uint64_t step,
                       struct bm_error *error)
{
    struct bm_sweep sweep = {.until = INFINITY};
    int rc = bm_index_forget(near, id, step, error);

    if (!rc)
        bm_idx_drop(near, step);
    return rc ? rc : bm_sweep_step(&sweep, near, step, error);
}

/* One that was dropped: nobody wants it any more. Collective. */
static int remove_dropped(struct bm_drain_all *r, uint64_t step, int claims)
{
    struct bm_dropped d = {&r->near.store, &r->far.store, r->id,
                           &r->far.truncations};
    int removed = 0, rc = BOUMA_OK;

    if (claims)
        rc = bm_dropped_remove(&d, step, &removed, r->error);
    r->report->removed += (uint64_t)removed;
    return bm_comm_agree(r->comm, rc, r->error);
}

/* What readers of IDX find there, without what was removed. */
static int mend_idx(struct bm_store *near, const uint8_t *id,
                    const struct bm_step_list *left, struct bm_error *error)
{
    struct bm_idx_mend all = {
        .store = near, .id = id, .steps = left, .deep = 1};
    struct bm_buffer names;
    int rc;

    bm_buffer_init(&names, near->a);
    rc = bm_idx_list(near, &names, error);
    if (!rc && names.size)
        rc = bm_idx_mend(&all, error);
    bm_buffer_release(&names);
    return rc;
}

/* The index without what was removed. */
static int mend_index(struct bm_store *near, const uint8_t *id,
                      struct bm_error *error)
{
    struct bm_step_list left;
    struct bm_step_search search = {
        .store = near, .id = id, .found = &left, .how = BM_FIND_SYNC};
    int rc;

    bm_step_list_init(&left, near->a);
    rc = bm_steps_find(&search, error);
    if (!rc)
        rc = bm_steps_write_index(near, id, &left, NULL, NULL, error);
    if (!rc)
        rc = mend_idx(near, id, &left, error);
    bm_step_list_release(&left);
    return rc;
}

/* ---- the whole ---------------------------------------------------------- */

/* This rank's own handle of the target. */
static int open_far(struct bm_drain_all *r, struct bouma_dataset **out)
{
    struct bm_options plain = *r->options;
    struct bm_comm *self;
    int rc = bm_comm_self_new(&self, r->a);

    *out = NULL;
    plain.local[0] = 0;
    plain.trace[0] = 0; /* one path, and many ranks */
    if (!rc)
        rc =
            bm_dataset_open(out, self, BM_MODE_READ, r->far.path, &plain, r->a);
    return rc ? bm_fail(r->error, rc, "%s",
                        *out ? (*out)->error.text : "no memory")
              : BOUMA_OK;
}

int bm_drain_remove(struct bm_drain_all *r)
{
    struct bouma_dataset *far = NULL;
    uint32_t epoch;
    int claims, rc = claim_near(r, &epoch, &claims);

    if (!rc) {
        rc = r->near.exists ? open_far(r, &far) : BOUMA_OK;
        rc = bm_comm_agree(r->comm, rc, r->error);
    }
    for (size_t i = 0; i < r->steps.count && !rc; i++) {
        uint64_t step = r->steps.each[i].entry.step;
        int safe, found;

        if (r->steps.each[i].dropped)
            rc = remove_dropped(r, step, claims);
        if (!r->steps.each[i].is_there)
            continue;
        found = check_step(r, far, &r->steps.each[i], &safe);
        rc = bm_drain_go_on(r, step, "removed", found);
        if (!found && claims && safe)
            rc = remove_step(&r->near.store, r->id, step, r->error);
        r->report->removed += !found && !rc && claims && safe;
        rc = bm_comm_agree(r->comm, rc, r->error);
    }
    bm_dataset_free(far);
    if (claims) {
        int mended = mend_index(&r->near.store, r->id, r->error);
        int closed = bm_epoch_close(&r->near.store, epoch, r->error);

        rc = rc ? rc : mended ? mended : closed;
    }
    return bm_comm_agree(r->comm, rc, r->error);
}
