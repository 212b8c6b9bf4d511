/* losses_check.c -- what is lost and known to be: told, put on record,
 * forgotten. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plain_text.h"
#include "check/repair.h"
#include "store/identity.h"

#define AGAIN "the record of a loss removed, as what was lost is there again"

int bm_losses_each(const char *path, const struct bm_options *options,
                   const bouma_allocator *a,
                   void (*each)(void *user, const bouma_loss *loss), void *user,
                   struct bm_error *error)
{
    struct bm_loss_list list;
    struct bm_store s;
    uint8_t id[16];
    int major, minor, rc;

    memset(&s, 0, sizeof(s));
    bm_losses_init(&list, a);
    rc = bm_store_open(&s, options->io, a, path, 0, error);
    s.memory_limit = options->memory_limit;
    if (!rc)
        rc = bm_identity_load(&s, id, &major, &minor, error);
    if (!rc)
        rc = bm_losses_find_all(&s, id, &list, 1, error);
    for (size_t i = 0; i < list.count && rc != BOUMA_ENOMEM; i++) {
        const struct bm_lost_step *l = &list.steps[i];
        bouma_loss loss = {sizeof(loss),
                           (int64_t)l->entry.step,
                           l->entry.time,
                           l->recorded,
                           bm_lost_step_files(l),
                           l->accepted,
                           l->entry.generation.epoch != 0,
                           bm_lost_step_has_piece(l, BM_LOST_ATTRIBUTES, 0)};

        each(user, &loss);
    }
    bm_losses_release(&list);
    bm_store_close(&s);
    return rc;
}

/* ---- telling ------------------------------------------------------------ */

static void tell(const struct bm_lost_step *l, struct bm_findings *out)
{
    char dir[BM_NAME_BYTES], date[BM_LOSS_DATE], time[48] = "";
    uint32_t files = bm_lost_step_files(l);

    bm_name_loss(dir, l->entry.step);
    if (l->unreadable) {
        bm_findings_add(out, BOUMA_SEVERITY_UNCHECKED, (int64_t)l->entry.step,
                        dir, "the record of a loss could not be read");
        return;
    }
    bm_name_step(dir, l->entry.step);
    if (l->entry.generation.epoch)
        bm_format(time, sizeof(time), " (time %g)", l->entry.time);
    if (bm_lost_step_is_whole(l))
        bm_findings_add(out, BOUMA_SEVERITY_DAMAGE, (int64_t)l->entry.step, dir,
                        "step %" PRIu64 "%s was committed and is lost (%s)",
                        l->entry.step, time, bm_loss_date(date, l));
    else
        bm_findings_add(out, BOUMA_SEVERITY_DAMAGE, (int64_t)l->entry.step, dir,
                        "%" PRIu32 " file%s of step %" PRIu64
                        "%s, or parts of %s, %s lost (%s)",
                        files, files == 1 ? "" : "s", l->entry.step, time,
                        files == 1 ? "it" : "them", files == 1 ? "is" : "are",
                        bm_loss_date(date, l));
}

int bm_tell_attributes(const struct bm_lost_step *known,
                       const struct bm_manifest *m, struct bm_findings *out)
{
    char name[BM_NAME_BYTES], date[BM_LOSS_DATE];

    if (!bm_loss_is_of(known, m) ||
        !bm_lost_step_has_piece(known, BM_LOST_ATTRIBUTES, 0))
        return 0;
    bm_name_manifest(name, m->step);
    bm_findings_add(
        out, known->accepted ? BOUMA_SEVERITY_NOTE : BOUMA_SEVERITY_DAMAGE,
        (int64_t)m->step, name,
        "was made anew from the subfiles: attributes of the step "
        "and of the dataset, if it had any, are lost (%s)",
        bm_loss_date(date, known));
    return 1;
}

void bm_losses_tell(const struct bm_loss_list *list, struct bm_findings *out)
{
    /* Of the others the files are looked at, and told of then. */
    for (size_t i = 0; i < list->count; i++)
        if (bm_lost_step_is_whole(&list->steps[i]))
            tell(&list->steps[i], out);
}

void bm_losses_tell_vague(const struct bm_loss_list *records,
                          struct bm_store *s, const uint8_t id[16],
                          struct bm_findings *out)
{
    for (size_t i = 0; i < records->count; i++) {
        const struct bm_lost_step *l = &records->steps[i];
        char name[BM_NAME_BYTES];

        if (!bm_lost_step_is_vague(l) || !bm_loss_is_over(s, id, l))
            continue;
        bm_name_loss(name, l->entry.step);
        bm_findings_add(out, BOUMA_SEVERITY_DAMAGE, (int64_t)l->entry.step,
                        name,
                        "the record of a loss is damaged; the step is there: "
                        "`bouma repair --apply` looks at it, and removes the "
                        "record or rewrites it");
    }
}

/* ---- repair -------------------------------------------------------------- */

/* A step that would be back is no loss. */
static void drop_returned(struct bm_repair *r)
{
    struct bm_loss_list *list = &r->losses;
    size_t n = 0;

    for (size_t i = 0; i < list->count; i++)
        if (bm_lost_step_is_whole(&list->steps[i]) &&
            bm_step_list_find(&r->returned, list->steps[i].entry.step))
            bm_lost_step_release(&list->steps[i], list->a);
        else
            list->steps[n++] = list->steps[i];
    list->count = n;
}

int bm_repair_losses(struct bm_repair *r)
{
    struct bm_store *s = &r->ds.store;
    char name[BM_NAME_BYTES];
    int rc = bm_losses_load(s, r->ds.id, &r->records, r->error);

    for (size_t i = 0; i < r->records.count && !rc; i++) {
        bm_name_loss(name, r->records.steps[i].entry.step);
        if (bm_lost_step_is_vague(&r->records.steps[i]) &&
            bm_store_is_no_file(s, name))
            rc = bm_repair_no_file(r, (int64_t)r->records.steps[i].entry.step,
                                   name);
    }
    /* Records that mean nothing any more stay until the step was looked at. Of
     * a part of a local copy, the index tells of what is on other nodes. */
    if (!rc)
        rc = bm_losses_find_all(s, r->ds.id, &r->losses,
                                r->has_index && !r->is_part, r->error);
    drop_returned(r);
    for (size_t i = 0; i < r->losses.count && !rc; i++) {
        struct bm_lost_step *l = &r->losses.steps[i];

        if (!bm_lost_step_is_whole(l))
            continue;
        bm_name_loss(name, l->entry.step);
        r->report->unchecked += (uint64_t)l->unreadable;
        r->report->hopeless += !l->unreadable;
        if (!l->recorded && bm_repair_act(r, (int64_t)l->entry.step, name,
                                          "the loss of the step put on record"))
            rc = bm_losses_save(s, r->ds.id, l, r->error);
    }
    if (!rc)
        bm_losses_tell(&r->losses, &r->findings);
    return rc;
}

/* When a loss of this writing was put on record first; 0: it is not. */
static int64_t time_on_record(const struct bm_repair *r,
                              const struct bm_step_entry *entry)
{
    const struct bm_lost_step *l = bm_losses_find(&r->records, entry->step);

    return l && l->recorded > 0 && bm_step_entry_is_same(&l->entry, entry)
               ? l->recorded
               : 0;
}

int bm_repair_lost_step(struct bm_repair *r, const struct bm_step_entry *entry)
{
    struct bm_lost_step lost = {.entry = *entry,
                                .recorded = time_on_record(r, entry)};
    struct bm_store *s = &r->ds.store;
    char name[BM_NAME_BYTES], dir[BM_NAME_BYTES];
    int rc = BOUMA_OK;

    bm_name_loss(name, entry->step);
    bm_name_step(dir, entry->step);
    bm_repair_hopeless(r, (int64_t)entry->step, dir,
                       "the step was committed and is lost");
    if (bm_repair_act(r, (int64_t)entry->step, name,
                      "the loss of the step put on record")) {
        rc = bm_losses_save(s, r->ds.id, &lost, r->error);
        /* Now that it is on record, the index need not know it any more. */
        if (!rc)
            rc = bm_index_forget(s, r->ds.id, entry->step, r->error);
    }
    return rc;
}

int bm_repair_lost_manifest(struct bm_repair *r, uint64_t step)
{
    const struct bm_lost_step *known = bm_losses_find(&r->losses, step);
    const struct bm_step_entry *entry = bm_step_list_find(&r->known, step);
    struct bm_lost_step lost = {.entry = {step, 0, {0, 0}}};
    int is_told = known && bm_lost_step_is_whole(known);
    char name[BM_NAME_BYTES];

    if (is_told && !bm_lost_step_is_vague(known))
        return BOUMA_OK;
    if (entry)
        lost.entry = *entry;
    bm_name_manifest(name, step);
    if (!is_told)
        bm_repair_hopeless(
            r, (int64_t)step, name,
            "the manifest is damaged and the subfiles are not all whole");
    bm_name_loss(name, step);
    return bm_repair_act(r, (int64_t)step, name,
                         "the loss of the step put on record; its files are "
                         "kept until it is forgotten")
               ? bm_losses_save(&r->ds.store, r->ds.id, &lost, r->error)
               : BOUMA_OK;
}

int bm_repair_lost_attributes(struct bm_repair *r, const struct bm_manifest *m,
                              int committed)
{
    struct bm_lost_step lost = {.entry = {m->step, m->time, m->generation},
                                .accepted = !committed};
    int rc;

    lost.recorded = time_on_record(r, &lost.entry);
    rc = bm_lost_step_add_piece(&lost, BM_LOST_ATTRIBUTES, 0, r->ds.a)
             ? bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair")
             : bm_losses_save(&r->ds.store, r->ds.id, &lost, r->error);

    r->report->hopeless += !rc && committed;
    if (!rc)
        bm_tell_attributes(&lost, m, &r->findings);
    bm_lost_step_release(&lost, r->ds.a);
    return rc;
}

/* Nothing of a step is lost: what is on record is over. */
static int end_record(struct bm_repair *r, uint64_t step)
{
    const struct bm_lost_step *record = bm_losses_find(&r->records, step);
    char name[BM_NAME_BYTES];

    if (!record || record->unreadable)
        return BOUMA_OK;
    bm_name_loss(name, step);
    return bm_repair_act(r, (int64_t)step, name,
                         bm_lost_step_is_vague(record)
                             ? "the damaged record of a loss removed, as "
                               "nothing of the step is lost"
                             : AGAIN)
               ? bm_losses_remove(&r->ds.store, step, r->error)
               : BOUMA_OK;
}

int bm_repair_lost_parts(struct bm_repair *r, const struct bm_manifest *m,
                         struct bm_lost_step *now, int is_all, int is_left)
{
    const struct bm_lost_step *known = bm_losses_find(&r->losses, m->step);
    struct bm_store *s = &r->ds.store;
    char name[BM_NAME_BYTES];

    now->entry = (struct bm_step_entry){m->step, m->time, m->generation};
    bm_lost_step_sort(now);
    if (known && known->unreadable)
        return BOUMA_OK;
    /* A record of another writing says nothing of this one. */
    if (!bm_loss_is_of(known, m))
        known = NULL;
    /* What cannot be read today may be there tomorrow. */
    if (known && !is_all)
        return BOUMA_OK;
    bm_name_loss(name, m->step);
    if (bm_lost_step_is_whole(now))
        return is_all ? end_record(r, m->step) : BOUMA_OK;
    if (known && bm_lost_step_covers(known, now)) {
        if (bm_lost_step_covers(now, known))
            return BOUMA_OK;
        now->accepted = known->accepted; /* else there is more to forget */
    }
    now->recorded = time_on_record(r, &now->entry);
    return bm_repair_act(r, (int64_t)m->step, name,
                         is_left ? "what is lost of the step put on record; "
                                   "the rest can be read"
                                 : "what is lost of the step put on record; "
                                   "nothing of it can be read")
               ? bm_losses_save(s, r->ds.id, now, r->error)
               : BOUMA_OK;
}

/* ---- forgetting ---------------------------------------------------------- */

/* What is there of a step that is lost as a whole: *is_damaged if there is a
 * manifest, of which nothing can be made. Only then it may be moved away: one
 * that can be read, perhaps by others or tomorrow, stays. */
static int look_before_forgetting(struct bm_repair *r,
                                  const struct bm_lost_step *l, int *is_damaged)
{
    struct bm_store *s = &r->ds.store;
    struct bm_error why = {0};
    struct bm_manifest m;
    struct bm_schema schema;
    char name[BM_NAME_BYTES];
    int rc;

    bm_schema_init(&schema, s->a, &why);
    bm_manifest_init(&m, s->a, &schema, &why);
    rc = bm_manifest_load_front(&m, s, l->entry.step, NULL, r->ds.id, &why);
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    *is_damaged = rc == BOUMA_EFORMAT;
    bm_name_manifest(name, l->entry.step);
    if (rc && rc != BOUMA_ENOTFOUND && rc != BOUMA_EFORMAT)
        return bm_fail(r->error, rc, "%s; so the step is kept", why.text);
    if (!rc || (*is_damaged && bm_lost_step_is_vague(l)))
        return bm_fail(r->error, BOUMA_EFORMAT,
                       "%s/%s: is there, so the step is kept; `bouma repair "
                       "--apply` finds out first what is lost of it",
                       s->path, name);
    return BOUMA_OK;
}

static int forget_one(struct bm_repair *r, struct bm_lost_step *l)
{
    struct bm_store *s = &r->ds.store;
    char name[BM_NAME_BYTES];
    int is_damaged = 0, rc;

    bm_name_loss(name, l->entry.step);
    if (l->accepted)
        return BOUMA_OK;
    if (l->unreadable)
        return bm_fail(r->error, BOUMA_EIO,
                       "%s/%s: could not be read, so it is kept", s->path,
                       name);
    rc = bm_lost_step_is_whole(l) ? look_before_forgetting(r, l, &is_damaged)
                                  : BOUMA_OK;
    if (rc)
        return rc;
    if (!bm_repair_act(r, (int64_t)l->entry.step, name,
                       !bm_lost_step_is_whole(l)
                           ? "the loss of parts of the step forgotten: "
                             "from now on a note, and no damage"
                           : "the loss of the step forgotten"))
        return BOUMA_OK;
    if (!bm_lost_step_is_whole(l)) {
        l->accepted = 1;
        return bm_losses_save(s, r->ds.id, l, r->error);
    }
    /* One whose manifest is damaged is still there, and of no use. */
    if (is_damaged) {
        rc = bm_repair_move_step(r, l->entry.step);
        if (rc)
            return rc;
    }
    /* Both may know it, if a repair was killed. */
    rc = bm_index_forget(s, r->ds.id, l->entry.step, r->error);
    if (rc && !r->has_index) {
        bm_error_clear(r->error);
        rc = BOUMA_OK;
    }
    if (!rc && !bm_store_is_absent(s, name))
        rc = bm_losses_remove(s, l->entry.step, r->error);
    return rc;
}

/* A loss that is not to be forgotten. */
static void stay(struct bm_repair *r, const struct bm_lost_step *l)
{
    if (l->accepted)
        return;
    tell(l, &r->findings);
    r->report->unchecked += (uint64_t)l->unreadable;
    r->report->hopeless += !l->unreadable;
}

static int forget_all(struct bm_repair *r, int64_t step)
{
    struct bm_store *s = &r->ds.store;
    struct bm_error why = {0};
    char note[512];
    int rc, closed, found = 0, failure = BOUMA_OK;

    rc = bm_identity_load(s, r->ds.id, &r->ds.version.major,
                          &r->ds.version.minor, r->error);
    if (!rc && r->apply)
        rc = bm_epoch_claim(s, &r->ds.claim.epoch, r->ds.options.force, note,
                            sizeof(note), r->error);
    if (!rc) /* till now it may have made way for another */
        rc = bm_identity_load(s, r->ds.id, &r->ds.version.major,
                              &r->ds.version.minor, r->error);
    if (!rc)
        failure = bm_losses_find_all(s, r->ds.id, &r->losses, 1, &why);
    r->has_index = !failure;
    if (failure == BOUMA_ENOMEM)
        rc = bm_fail(r->error, failure, "%s", why.text);
    for (size_t i = 0; i < r->losses.count && !rc; i++)
        if (step < 0 || r->losses.steps[i].entry.step == (uint64_t)step) {
            rc = forget_one(r, &r->losses.steps[i]);
            found = 1;
        } else {
            stay(r, &r->losses.steps[i]);
        }
    if (!rc && failure && (step < 0 || !found))
        rc = bm_fail(r->error, failure,
                     "%s; losses that are not on record are not known",
                     why.text);
    if (!rc && step >= 0 && !found)
        rc = bm_fail(r->error, BOUMA_ENOTFOUND,
                     "%s: no loss of step %" PRId64 " is on record; `bouma "
                     "repair --apply` finds what is lost and puts it there",
                     s->path, step);
    if (!rc)
        rc = bm_repair_check_claim(r);
    if (r->ds.claim.epoch) {
        closed = bm_epoch_close(s, r->ds.claim.epoch, r->error);
        rc = rc ? rc : closed;
    }
    return rc;
}

int bm_forget(struct bm_request *q, int64_t step, int apply,
              bouma_repair_report *report)
{
    struct bm_repair r;
    int rc = bm_repair_init(&r, q, apply, report);

    if (!rc)
        rc = forget_all(&r, step);
    return bm_repair_finish(&r, rc);
}
