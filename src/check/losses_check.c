/* losses_check.c -- what is lost and known to be: told, put on record,
 * forgotten. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/repair.h"
#include "store/identity.h"

int bm_losses_each(const char *path, const bouma_options *options,
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
        rc = bm_losses_find_all(&s, id, &list, error);
    for (size_t i = 0; i < list.count && !rc; i++) {
        const struct bm_lost_step *l = &list.steps[i];
        bouma_loss loss = {(int64_t)l->entry.step,
                           l->entry.time,
                           l->recorded,
                           l->count,
                           l->accepted,
                           l->entry.generation.epoch != 0};

        each(user, &loss);
    }
    bm_losses_release(&list);
    bm_store_close(&s);
    return rc;
}

/* ---- telling ------------------------------------------------------------ */

void bm_losses_tell(const struct bm_loss_list *list, struct bm_findings *out)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct bm_lost_step *l = &list->steps[i];
        char dir[BM_NAME_BYTES], date[BM_LOSS_DATE], time[48] = "";

        if (l->count) /* its files are looked at, and told of then */
            continue;
        bm_name_step(dir, l->entry.step);
        if (l->entry.generation.epoch)
            snprintf(time, sizeof(time), " (time %g)", l->entry.time);
        bm_findings_add(out, BOUMA_DAMAGE, (int64_t)l->entry.step, dir,
                        "step %" PRIu64 "%s was committed and is lost (%s)",
                        l->entry.step, time, bm_loss_date(date, l));
    }
}

/* ---- repair -------------------------------------------------------------- */

int bm_repair_losses(struct bm_repair *r)
{
    struct bm_store *s = &r->ds.store;
    char name[BM_NAME_BYTES];
    int rc = bm_losses_load(s, r->ds.id, &r->losses, r->error);

    /* Records that mean nothing any more. */
    for (size_t i = 0; i < r->losses.count && !rc; i++) {
        const struct bm_lost_step *l = &r->losses.steps[i];

        if (!bm_loss_is_over(s, l))
            continue;
        bm_name_loss(name, l->entry.step);
        if (bm_repair_act(r, (int64_t)l->entry.step, name,
                          "the record of a loss removed, as what was lost is "
                          "there again"))
            rc = bm_losses_remove(s, l->entry.step, r->error);
    }
    bm_losses_release(&r->losses);
    if (!rc)
        rc = bm_losses_find_all(s, r->ds.id, &r->losses, r->error);
    for (size_t i = 0; i < r->losses.count && !rc; i++) {
        struct bm_lost_step *l = &r->losses.steps[i];

        if (l->count)
            continue;
        bm_name_loss(name, l->entry.step);
        r->report->hopeless++;
        if (!l->recorded && bm_repair_act(r, (int64_t)l->entry.step, name,
                                          "the loss of the step put on record"))
            rc = bm_losses_save(s, r->ds.id, l, r->error);
    }
    if (!rc)
        bm_losses_tell(&r->losses, &r->findings);
    return rc;
}

int bm_repair_lost_step(struct bm_repair *r, const struct bm_step_entry *entry)
{
    struct bm_lost_step lost = {.entry = *entry};
    struct bm_store *s = &r->ds.store;
    char name[BM_NAME_BYTES], dir[BM_NAME_BYTES];
    int rc = BOUMA_OK;

    bm_name_loss(name, entry->step);
    bm_name_step(dir, entry->step);
    bm_repair_hopeless(r, (int64_t)entry->step, dir,
                       "the step was committed and is lost");
    if (bm_repair_act(r, (int64_t)entry->step, name,
                      "the loss of the step put on record"))
        rc = bm_losses_save(s, r->ds.id, &lost, r->error);
    /* Now that it is on record, the index need not know it any more. */
    if (!rc && r->apply)
        rc = bm_index_forget(s, r->ds.id, entry->step, r->error);
    return rc;
}

int bm_repair_lost_file(struct bm_repair *r, const struct bm_manifest *m,
                        size_t i, uint64_t bytes)
{
    struct bm_step_entry entry = {m->step, m->time, m->generation};
    struct bm_lost_step *l = bm_losses_find(&r->losses, m->step);
    const struct bm_lost_file *file;
    char name[BM_NAME_BYTES];

    /* A record of another writing says nothing of this one. */
    if (!bm_loss_is_of(l, m))
        l = bm_losses_add(&r->losses, &entry);
    if (!l)
        return bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    file = bm_lost_step_file(l, (uint32_t)i);
    if (file && file->bytes == bytes)
        return BOUMA_OK;
    if (bm_lost_step_add(l, (uint32_t)i, bytes, r->ds.a))
        return bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    l->accepted = 0; /* there is more to forget */
    bm_name_subfile(name, m->step, (uint32_t)i, m->generation);
    return bm_repair_act(r, (int64_t)m->step, name,
                         "what is lost of it put on record; the rest is kept, "
                         "and can be read")
               ? bm_losses_save(&r->ds.store, r->ds.id, l, r->error)
               : BOUMA_OK;
}

/* ---- forgetting ---------------------------------------------------------- */

static int forget_one(struct bm_repair *r, struct bm_lost_step *l)
{
    struct bm_store *s = &r->ds.store;
    char name[BM_NAME_BYTES];
    int rc;

    bm_name_loss(name, l->entry.step);
    if (l->accepted)
        return BOUMA_OK;
    if (!bm_repair_act(r, (int64_t)l->entry.step, name,
                       l->count ? "the loss of parts of the step forgotten: "
                                  "from now on a note, and no damage"
                                : "the loss of the step forgotten"))
        return BOUMA_OK;
    if (l->count) {
        l->accepted = 1;
        return bm_losses_save(s, r->ds.id, l, r->error);
    }
    /* Both may know it, if a repair was killed. */
    rc = bm_index_forget(s, r->ds.id, l->entry.step, r->error);
    if (!rc && !bm_store_is_absent(s, name))
        rc = bm_losses_remove(s, l->entry.step, r->error);
    return rc;
}

static int forget_all(struct bm_repair *r, int64_t step)
{
    struct bm_store *s = &r->ds.store;
    char note[512];
    int rc, closed, found = 0;

    rc = bm_identity_load(s, r->ds.id, &r->ds.major, &r->ds.minor, r->error);
    if (!rc && r->apply)
        rc = bm_epoch_claim(s, &r->ds.epoch, r->ds.options.force, note,
                            sizeof(note), r->error);
    if (!rc)
        rc = bm_losses_find_all(s, r->ds.id, &r->losses, r->error);
    for (size_t i = 0; i < r->losses.count && !rc; i++)
        if (step < 0 || r->losses.steps[i].entry.step == (uint64_t)step) {
            rc = forget_one(r, &r->losses.steps[i]);
            found = 1;
        }
    if (!rc && step >= 0 && !found)
        rc = bm_fail(r->error, BOUMA_ENOTFOUND,
                     "%s: knows of no loss of step %" PRId64, s->path, step);
    if (r->ds.epoch) {
        closed = bm_epoch_close(s, r->ds.epoch, r->error);
        rc = rc ? rc : closed;
    }
    return rc;
}

int bm_forget(const char *path, int64_t step, int apply,
              const bouma_options *options, const bouma_allocator *a,
              void (*each)(void *user, const bouma_finding *f), void *user,
              bouma_repair_report *report, struct bm_error *error)
{
    struct bm_repair r;
    int rc = bm_repair_init(&r, path, apply, options, a, report, error);

    if (!rc)
        rc = forget_all(&r, step);
    return bm_repair_finish(&r, rc, each, user);
}
