/* repair.c -- mends what can be mended; what is in the way is moved to lost/.
 * Every step that becomes visible by it has been checked to the last byte
 * before. Without 'apply' it only tells what it would do. Removed are only
 *   - the files of an earlier writing of a step that is whole, if they say
 *     that they are of this step,
 *   - the record of a loss that is over, and the old index, when written anew,
 *   - the empty directory of a step whose loss is on record,
 *   - its own temporary files. */
#include <string.h>

#include "check/repair.h"
#include "dataset/local_copy.h"
#include "layout/grid_idx.h"
#include "layout/writings.h"
#include "store/identity.h"

/* ---- a published step --------------------------------------------------- */

/* Attributes that are on record as lost stay so: nothing brings them back. */
static int keep_attributes(struct bm_repair *r, const struct bm_manifest *m,
                           struct bm_lost_step *now)
{
    const struct bm_lost_step *known = bm_losses_find(&r->losses, m->step);

    if (!bm_tell_attributes(known, m, &r->findings))
        return BOUMA_OK;
    r->report->hopeless += !known->accepted;
    return bm_lost_step_add_piece(now, BM_LOST_ATTRIBUTES, 0, r->ds.a)
               ? bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair")
               : BOUMA_OK;
}

/* A step with a manifest that can be read. */
static int repair_published(struct bm_repair *r, struct bouma_step *step,
                            struct bm_repair_files *files)
{
    uint64_t unchecked = r->report->unchecked, whole = 0;
    uint64_t hopeless = r->report->hopeless;
    struct bm_lost_step now = {.files = NULL};
    size_t back;
    int is_all, rc = bm_repair_mended(files, &back);

    r->elsewhere = 0;
    r->has_idx |= bm_schema_has_idx(step->manifest.schema);
    for (size_t i = 0; i < bm_manifest_files(&step->manifest) && !rc; i++) {
        if (i == back && !r->apply) /* it would be there */
            continue;
        rc = bm_repair_files_to(files, i);
        if (!rc)
            rc = bm_repair_subfile(r, step, i, &now, &whole);
    }
    is_all = r->report->unchecked == unchecked;
    bm_tell_elsewhere(r->elsewhere, &step->manifest, &r->findings);
    /* Only of a step that is known to be whole: else an earlier writing may be
     * the only one that is. */
    if (!rc && is_all && !r->elsewhere && r->report->hopeless == hopeless &&
        bm_lost_step_is_whole(&now))
        rc = bm_repair_older(r, &step->manifest);
    if (!rc)
        rc = keep_attributes(r, &step->manifest, &now);
    if (!rc)
        rc = bm_repair_lost_parts(r, &step->manifest, &now, is_all, whole > 0);
    bm_lost_step_release(&now, r->ds.a);
    return rc;
}

/* Steps stand alone, and so do the files of a step. */
static int repair_step(struct bm_repair *r, uint64_t number)
{
    struct bm_error why = {0};
    struct bm_repair_files files;
    struct bouma_step step;
    char name[BM_NAME_BYTES];
    int is_whole = 1, rc;

    rc = bm_repair_check_claim(r);
    if (rc)
        return rc;
    r->changing = 0;
    bm_name_manifest(name, number);
    bm_repair_step_init(r, &step);
    bm_repair_files_init(&files, r, &step.manifest, name);
    rc = bm_manifest_load_front(&step.manifest, &r->ds.store, number, NULL,
                                r->ds.id, &why);
    if (!rc)
        rc = bm_repair_files_check(&files, &why);
    if (rc == BOUMA_EFORMAT) {
        bm_repair_step_release(&step);
        bm_repair_step_init(r, &step);
        bm_error_clear(&why);
        rc = bm_repair_sheets(r, &step.manifest, number, &is_whole, &why);
    }
    if (!rc && is_whole) {
        rc = repair_published(r, &step, &files);
    } else if (rc == BOUMA_EFORMAT && bm_store_is_no_file(&r->ds.store, name)) {
        rc = bm_repair_no_file(r, (int64_t)number, name);
        if (!rc)
            rc = bm_repair_unpublished(r, number, 0);
    } else if (rc == BOUMA_ENOTFOUND || rc == BOUMA_EFORMAT)
        rc = bm_repair_unpublished(r, number, rc != BOUMA_ENOTFOUND);
    else if (rc)
        bm_fail(r->error, rc, "%s", why.text);
    if (rc)
        rc = bm_repair_leave(r, (int64_t)number, name, rc);
    bm_sheet_walk_end(&files.walk);
    bm_repair_step_release(&step);
    return rc;
}

/* ---- all ---------------------------------------------------------------- */

static int repair_index(struct bm_repair *r)
{
    struct bm_step_list found;
    struct bm_step_search search = {.store = &r->ds.store,
                                    .id = r->ds.id,
                                    .found = &found,
                                    .how = BM_FIND_EXACT +
                                           (r->apply ? BM_FIND_SYNC : 0)};
    int rc;

    bm_step_list_init(&found, r->ds.a);
    rc = bm_steps_find(&search, r->error);
    if (!rc && search.stale &&
        bm_repair_act(r, -1, BM_NAME_INDEX, "the index written anew"))
        rc = bm_index_rebuild(&r->ds.store, r->ds.id, &found, r->error);
    bm_step_list_release(&found);
    return rc;
}

/* Load the index, or leave it as it is if it cannot be read. */
static int load_index(struct bm_repair *r)
{
    size_t bad;
    int rc;

    if (bm_store_is_no_file(&r->ds.store, BM_NAME_INDEX)) {
        r->has_index = r->apply;
        return bm_repair_no_file(r, -1, BM_NAME_INDEX);
    }
    rc = bm_index_load(&r->ds.store, r->ds.id, &r->known, &bad, r->error);
    r->has_index = !rc;
    r->changing = 0;
    return rc ? bm_repair_leave(r, -1, BM_NAME_INDEX, rc) : BOUMA_OK;
}

/* All that are there, but for those that hold another one, or would get files
 * back. */
static int repair_steps(struct bm_repair *r)
{
    struct bm_step_list steps;
    int rc;

    bm_step_list_init(&steps, r->ds.a);
    rc = bm_steps_list(&r->ds.store, &steps, r->error);
    for (size_t i = 0; i < steps.count && !rc; i++) {
        if (!bm_step_list_find(&r->strays, steps.entries[i].step) &&
            (r->apply ||
             !bm_step_list_find(&r->returned, steps.entries[i].step)))
            rc = repair_step(r, steps.entries[i].step);
        if (r->ds.options.progress)
            r->ds.options.progress(r->ds.options.progress_user, "repairing",
                                   i + 1, steps.count);
    }
    bm_step_list_release(&steps);
    return rc;
}

/* Claim the dataset, with 'apply', and make room for what is to be written. */
static int claim(struct bm_repair *r)
{
    uint32_t epoch = 0;
    char note[512];
    int rc = bm_repair_epochs(r, &epoch);

    if (!rc && r->apply) {
        r->ds.claim.epoch = epoch;
        rc = bm_epoch_claim(&r->ds.store, &r->ds.claim.epoch,
                            r->ds.options.force, note, sizeof(note), r->error);
    }
    return rc ? rc : bm_repair_kinds(r);
}

static int repair_all(struct bm_repair *r)
{
    int has_steps = 0, anew = 0, rc = bm_repair_find_identity(r, &anew), closed;

    if (!rc)
        rc = claim(r);
    /* Not before the claim: another program may have dropped steps until then,
     * and what it has left of them is no loss. */
    if (!rc)
        rc = load_index(r);
    if (!rc)
        rc = bm_repair_identity(r, anew);
    r->has_identity = !anew;
    r->is_part =
        !rc && bm_local_copy_is_marked(&r->ds.store, BM_NAME_PART, r->ds.id);
    if (!rc)
        rc = bm_repair_steps_dir(r, &has_steps);
    if (!rc)
        rc = bm_repair_truncations(r);
    if (!rc && has_steps)
        rc = bm_repair_strays(r);
    if (!rc)
        rc = bm_repair_losses(r);
    if (!rc && has_steps)
        rc = repair_steps(r);
    if (!rc && r->has_index && has_steps)
        rc = repair_index(r);
    if (!rc && has_steps)
        rc = bm_repair_idx(r);
    if (!rc)
        rc = bm_repair_check_claim(r);
    if (r->ds.claim.epoch) {
        closed = bm_epoch_close(&r->ds.store, r->ds.claim.epoch, r->error);
        rc = rc ? rc : closed;
    }
    return rc;
}

int bm_repair_init(struct bm_repair *r, struct bm_request *q, int apply,
                   bouma_repair_report *report)
{
    const bouma_allocator *a = q->a;
    int rc;

    memset(r, 0, sizeof(*r));
    memset(report, 0, sizeof(*report));
    r->request = q;
    r->apply = apply;
    r->report = report;
    r->error = &q->error;
    r->ds.a = a;
    r->ds.options = q->options;
    bm_findings_init(&r->findings, a);
    bm_losses_init(&r->records, a);
    bm_losses_init(&r->losses, a);
    bm_step_list_init(&r->known, a);
    bm_step_list_init(&r->strays, a);
    bm_step_list_init(&r->returned, a);
    bm_truncations_init(&r->truncations, a);
    rc = bm_store_open(&r->ds.store, q->options.io, a, q->path, 0, r->error);
    if (!rc)
        r->ds.store.memory_limit = q->options.memory_limit;
    return rc;
}

int bm_repair_finish(struct bm_repair *r, int rc)
{
    if (!rc && r->findings.bytes.failed)
        rc = bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    bm_findings_each(&r->findings.bytes, r->ds.a, r->request->each,
                     r->request->user);
    bm_store_close(&r->ds.store);
    bm_losses_release(&r->records);
    bm_losses_release(&r->losses);
    bm_step_list_release(&r->known);
    bm_step_list_release(&r->strays);
    bm_step_list_release(&r->returned);
    bm_truncations_release(&r->truncations);
    bm_findings_release(&r->findings);
    return rc;
}

int bm_repair(struct bm_request *q, int apply, bouma_repair_report *report)
{
    struct bm_repair r;
    int rc = bm_repair_init(&r, q, apply, report);

    if (!rc)
        rc = repair_all(&r);
    return bm_repair_finish(&r, rc);
}
