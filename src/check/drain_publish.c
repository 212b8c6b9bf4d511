/* drain_publish.c -- steps become visible in the target that a local copy is
 * drained to, and what a local copy has lost is put on record there. For rank
 * 0, but for the one function that tells the others. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check/drain_all.h"
#include "dataset/sweep.h"
#include "layout/sheet.h"
#include "layout/writings.h"
#include "store/identity.h"
#include "store/step_dir.h"

#define MOST_TRIES 20 /* to claim the target */

/* Whether two writings have the same files. Their generations do not tell: a
 * dataset and its copy count alike. Of sheets, checksums tell. */
static int is_same_writing(const struct bm_manifest *a,
                           const struct bm_manifest *b)
{
    int same = bm_generation_is_same(a->generation, b->generation) &&
               a->count == b->count && a->sheet_files == b->sheet_files;

    for (size_t k = 0; k < a->sheet_count && same; k++)
        same = a->sheets[k].bytes == b->sheets[k].bytes &&
               !memcmp(a->sheets[k].hash, b->sheets[k].hash, 16);
    for (size_t i = 0; i < a->count && same && !a->sheet_files; i++)
        same = bm_manifest_record(a, i)->file_bytes ==
                   bm_manifest_record(b, i)->file_bytes &&
               !memcmp(bm_manifest_record(a, i)->head_hash,
                       bm_manifest_record(b, i)->head_hash, 16);
    return same;
}

/* Whether a later version of a step lacks what an earlier one has, and is not
 * one that was written again since, which replaces all. */
static int is_apart(const struct bm_manifest *later,
                    const struct bm_manifest *earlier)
{
    int apart = bm_manifest_writings(earlier) > bm_manifest_writings(later);

    if (bm_generation_is_later(bm_manifest_writing(later, 0)->generation,
                               earlier->generation))
        return 0;
    for (size_t k = 0; k < bm_manifest_writings(earlier) && !apart; k++)
        apart = !is_same_writing(bm_manifest_writing(later, k),
                                 bm_manifest_writing(earlier, k));
    return apart;
}

/* What the front tells, whatever its sheets are. EFORMAT without a message; any
 * other failure has one. */
static int decode(struct bm_drain_all *r, const struct bm_buffer *bytes,
                  const char *path, struct bm_writing **out)
{
    struct bm_error why = {0};
    int rc;

    *out = bm_writing_new(r->a, &why);
    if (!*out)
        return bm_fail(r->error, BOUMA_ENOMEM, "%s: no memory", path);
    rc = bm_manifest_decode_front(&(*out)->manifest, bytes->data, bytes->size,
                                  r->id, path, &why);
    return rc && rc != BOUMA_EFORMAT ? bm_fail(r->error, rc, "%s", why.text)
                                     : rc;
}

/* Of two versions of a step, one of them extended, each may have what the other
 * has not: EEXISTS. One that is damaged has nothing. */
static int check_extended(struct bm_drain_all *r, const struct bm_buffer *near,
                          const struct bm_buffer *far, int is_far_later)
{
    struct bm_writing *here = NULL, *there = NULL;
    int rc = decode(r, near, r->near.path, &here);

    if (!rc)
        rc = decode(r, far, r->far.path, &there);
    if (!rc && (is_far_later ? is_apart(&there->manifest, &here->manifest)
                             : is_apart(&here->manifest, &there->manifest)))
        rc = bm_fail(r->error, BOUMA_EEXISTS,
                     "%s: step %" PRIu64 " was extended %s, and %s has a "
                     "writing that is not in it; delete the step where it is "
                     "wrong",
                     r->far.path, here->manifest.step,
                     is_far_later ? "there" : "elsewhere",
                     is_far_later ? r->near.path : r->far.path);
    bm_writing_free(here);
    bm_writing_free(there);
    return rc == BOUMA_EFORMAT ? BOUMA_OK : rc;
}

/* Whether a manifest is whole, with its sheets. */
static int check_sheets(struct bm_drain_all *r, const struct bm_buffer *bytes,
                        const char *path, const char *name,
                        struct bm_error *why)
{
    struct bm_writing *w = bm_writing_new(r->a, why);
    char full[1300];
    int rc = BOUMA_ENOMEM;

    snprintf(full, sizeof(full), "%s/%s", path, name);
    if (w)
        rc = bm_manifest_decode_lent(&w->manifest, bytes->data, bytes->size,
                                     r->id, full, why);
    bm_writing_free(w);
    return rc;
}

/* Two manifests of one generation that differ. If their fronts do not, they are
 * of the same writing, and sheets are damaged: those that are there are as good
 * as none, and ours are a failure. */
static int compare_sheets(struct bm_drain_all *r, const struct bm_buffer *near,
                          const struct bm_buffer *far, const char *name,
                          struct bm_generation g)
{
    struct bm_error why = {0};
    int rc = BOUMA_OK;

    if (near->size >= BM_ENVELOPE_BYTES && far->size >= BM_ENVELOPE_BYTES &&
        !memcmp(near->data, far->data, BM_ENVELOPE_BYTES)) {
        rc = check_sheets(r, far, r->far.path, name, &why);
        if (rc == BOUMA_EFORMAT)
            return BOUMA_OK;
        if (!rc)
            rc = check_sheets(r, near, r->near.path, name, &why);
        if (rc)
            return bm_fail(r->error, rc, "%s", why.text);
    }
    return bm_fail(r->error, BOUMA_EEXISTS,
                   "%s/%s: is another one than that of %s, though both are of "
                   "epoch %" PRIu32 ", attempt %" PRIu32
                   "; remove the step that is wrong from one of them",
                   r->far.path, name, r->near.path, g.epoch, g.attempt);
}

int bm_drain_compare(struct bm_drain_all *r, const struct bm_buffer *bytes,
                     const struct bm_step_entry *entry,
                     enum bm_drain_there *there)
{
    struct bm_error why = {0};
    struct bm_step_entry other;
    char name[BM_NAME_BYTES];
    struct bm_buffer b;
    int dropped = bm_truncations_has(&r->far.truncations, entry->step,
                                     entry->generation),
        rc;

    *there = dropped ? BM_THERE_DROPPED : BM_THERE_NONE;
    bm_buffer_init(&b, r->a);
    bm_name_manifest(name, entry->step);
    rc =
        bm_store_load(&r->far.store, name, &b, r->far.store.memory_limit, &why);
    if (!rc)
        rc = bm_manifest_peek(&other, &b, r->id, name, &why);
    if (rc == BOUMA_ENOTFOUND || rc == BOUMA_EFORMAT)
        rc = BOUMA_OK;
    else if (rc)
        bm_fail(r->error, rc, "%s", why.text);
    else if (b.size == bytes->size && !memcmp(b.data, bytes->data, b.size)) {
        /* Both may be damaged in the same bytes. */
        *there = BM_THERE_SAME;
        rc = check_sheets(r, &b, r->far.path, name, &why);
        if (rc)
            bm_fail(r->error, rc, "%s (and so in %s)", why.text, r->near.path);
    } else if (dropped)
        ;
    else if (bm_generation_is_later(other.generation, entry->generation)) {
        *there = BM_THERE_LATER;
        rc = check_extended(r, bytes, &b, 1);
    } else if (bm_generation_is_later(entry->generation, other.generation)) {
        *there = BM_THERE_EARLIER;
        rc = check_extended(r, bytes, &b, 0);
    } else
        rc = compare_sheets(r, bytes, &b, name, entry->generation);
    bm_buffer_release(&b);
    return rc;
}

void bm_drain_update_step(struct bm_drain_step *s, enum bm_drain_there there)
{
    s->is_there = there == BM_THERE_SAME;
    s->dropped = there == BM_THERE_DROPPED;
    s->is_older = !s->dropped && (s->is_older || there == BM_THERE_LATER);
}

int bm_drain_load_dropped(struct bm_drain_far *far, const uint8_t *id,
                          struct bm_error *error)
{
    struct bm_error why = {0};
    int rc = bm_truncations_load(&far->store, id, &far->truncations, &why);

    if (rc == BOUMA_EFORMAT)
        bm_fail(error, rc,
                "%s; so it is not known which steps were dropped on "
                "purpose, and nothing was copied (`bouma repair` moves "
                "this record to lost/; dropped steps are drained again then)",
                why.text);
    else if (rc)
        bm_fail(error, rc, "%s", why.text);
    return rc;
}

/* ---- the claim ---------------------------------------------------------- */

/* The target, as far as the commit needs a handle of it. */
static int make_target(struct bm_drain_all *r)
{
    struct bouma_dataset *t = bm_new(r->a, 1, sizeof(*t));

    if (!t)
        return bm_fail(r->error, BOUMA_ENOMEM, "%s: no memory", r->far.path);
    t->a = r->a;
    t->options = *r->options;
    t->options.durability = BOUMA_DURABILITY_DURABLE;
    t->options.replace = 1;
    memcpy(t->id, r->id, 16);
    bm_step_list_init(&t->found.steps, r->a);
    bm_step_list_init(&t->commits.unsynced, r->a);
    bm_losses_init(&t->commits.losses, r->a);
    r->claim.target = t;
    return BOUMA_OK;
}

void bm_drain_publish_end(struct bm_drain_claim *claim,
                          const bouma_allocator *a)
{
    struct bouma_dataset *t = claim->target;

    if (!t)
        return;
    bm_step_list_release(&t->found.steps);
    bm_step_list_release(&t->commits.unsynced);
    bm_losses_release(&t->commits.losses);
    bm_store_close(&t->store);
    bm_drop(a, t);
    claim->target = NULL;
}

/* Steps that the target has lost are put on record with the next index. */
static int record_gone(struct bm_drain_far *far, struct bouma_dataset *t)
{
    struct bm_step_list gone;
    int rc;

    bm_step_list_init(&gone, t->a);
    rc = bm_steps_gone(&t->store, t->id, &gone, &t->error);
    for (size_t i = 0; i < gone.count && !rc; i++)
        if (bm_step_list_put(&far->gone, gone.entries[i]))
            rc = bm_fail(&t->error, BOUMA_ENOMEM, "%s: no memory", far->path);
    bm_step_list_release(&gone);
    return rc;
}

/* As any writer begins: see what is there, and make it durable. Till the claim
 * it may have made way for another dataset. */
static int look(struct bm_drain_far *far, struct bouma_dataset *t)
{
    struct bm_step_search search = {.store = &t->store,
                                    .id = t->id,
                                    .found = &t->found.steps,
                                    .how = BM_FIND_SYNC};
    uint8_t id[16];
    int major, minor;
    int rc = bm_identity_load(&t->store, id, &major, &minor, &t->error);

    if (!rc && memcmp(id, t->id, 16))
        rc = bm_fail(&t->error, BOUMA_EEXISTS,
                     "%s: another dataset has taken its place just now",
                     t->store.path);
    if (rc)
        return rc;
    t->found.steps.count = t->commits.unsynced.count = 0;
    rc = bm_steps_find(&search, &t->error);
    if (!rc && search.stale)
        rc = record_gone(far, t);
    if (!rc)
        rc = search.stale
                 ? bm_steps_write_index(&t->store, t->id, &t->found.steps, NULL,
                                        NULL, &t->error)
                 : bm_store_sync_dir(&t->store, "", &t->error);
    return rc ? rc : bm_commit_load_losses(t);
}

/* What was seen under the last claim is still so if nobody has had one since:
 * so the steps there are listed once, and not for each batch. For the same
 * reason an epoch of ours goes as soon as there is a later one: each commit
 * looks at all of them. */
static int claim(struct bm_drain_all *r, struct bouma_dataset *t)
{
    char note[512];
    int rc, alone;

    t->claim.copies = 0;
    t->claim.epoch = r->claim.least;
    rc = bm_epoch_claim(&t->store, &t->claim.epoch, r->options->force, note,
                        sizeof(note), &t->error);
    t->claim.claims = t->claim.epoch != 0;
    if (rc)
        return rc;
    alone = r->claim.own && t->claim.epoch == r->claim.own + 1;
    if (r->claim.own)
        bm_epoch_remove(&t->store, r->claim.own);
    r->claim.own = t->claim.epoch;
    if (!alone || !t->found.listed) {
        rc = look(&r->far, t);
        if (!rc)
            rc = bm_drain_load_dropped(&r->far, r->id, &t->error);
    }
    t->found.listed = !rc;
    return rc;
}

/* The claim is held for this only, so that those who drain other nodes get
 * theirs soon; who has to wait for it does that for a second. */
static int under_claim(struct bm_drain_all *r,
                       int (*work)(struct bm_drain_all *r, void *what),
                       void *what)
{
    const struct timespec moment = {0, 50000000};
    struct bouma_dataset *t;
    int rc = r->claim.target ? BOUMA_OK : make_target(r), closed;

    if (rc)
        return rc;
    t = r->claim.target;
    rc = BOUMA_EBUSY;
    for (int tries = 0; rc == BOUMA_EBUSY && tries < MOST_TRIES; tries++) {
        if (tries)
            nanosleep(&moment, NULL);
        bm_error_clear(&t->error);
        rc = t->store.root ? BOUMA_OK
                           : bm_store_open(&t->store, r->options->io, r->a,
                                           r->far.path, 0, &t->error);
        t->store.memory_limit = r->options->memory_limit;
        if (!rc)
            rc = claim(r, t);
        if (!rc)
            rc = work(r, what);
        /* Then something may be visible that is not listed, or not durable. */
        t->found.listed &= !rc;
        closed = t->claim.claims
                     ? bm_epoch_close(&t->store, t->claim.epoch, &t->error)
                     : BOUMA_OK;
        t->claim.claims = 0;
        rc = rc ? rc : closed;
    }
    if (rc)
        bm_fail(r->error, rc, "%s", t->error.text);
    return rc;
}

/* ---- steps -------------------------------------------------------------- */

/* It was dropped while its files were copied. */
static void sweep_dropped(struct bm_store *far,
                          const struct bm_step_entry *entry)
{
    struct bm_generation next = entry->generation;

    next.attempt += next.attempt < UINT32_MAX;
    bm_sweep_older(far, entry->step, next);
    bm_copies_remove(far, entry->step, entry->generation);
    bm_step_dir_remove(far, entry->step);
}

/* Copies that did not arrive, of all writings of a step that is there now. */
static void remove_copies(struct bm_drain_all *r, uint64_t step,
                          const struct bm_buffer *manifest)
{
    struct bm_error ignored = {0};
    struct bm_writing *w = bm_writing_new(r->a, &ignored);

    if (w &&
        !bm_manifest_decode_front(&w->manifest, manifest->data, manifest->size,
                                  r->id, r->far.path, &ignored))
        for (size_t k = 0; k < bm_manifest_writings(&w->manifest); k++)
            bm_copies_remove(&r->far.store, step,
                             bm_manifest_writing(&w->manifest, k)->generation);
    bm_writing_free(w);
}

static int publish_step(struct bm_drain_all *r, struct bm_drain_step *s,
                        const struct bm_buffer *manifest)
{
    struct bouma_dataset *t = r->claim.target;
    enum bm_drain_there there;
    int rc = bm_drain_compare(r, manifest, &s->entry, &there);

    if (rc)
        return bm_fail(&t->error, rc, "%s", r->error->text);
    bm_drain_update_step(s, there);
    s->is_there = 0; /* till it is durable */
    if (s->dropped) {
        sweep_dropped(&r->far.store, &s->entry);
        return BOUMA_OK;
    }
    if (there == BM_THERE_LATER)
        return bm_commit_sync(t, s->entry.step);
    rc = there == BM_THERE_SAME ? bm_commit_sync(t, s->entry.step)
                                : bm_commit_copy(t, &s->entry, manifest);
    if (rc)
        return rc;
    s->is_there = 1;
    r->report->published++;
    r->report->replaced += there == BM_THERE_EARLIER;
    remove_copies(r, s->entry.step, manifest);
    return BOUMA_OK;
}

static int publish_batch(struct bm_drain_all *r, void *what)
{
    struct bm_drain_batch *batch = what;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < batch->count && !rc; i++)
        if (!batch->steps[i]->is_there)
            rc = publish_step(r, batch->steps[i], &batch->manifests[i]);
    return rc;
}

int bm_drain_publish(struct bm_drain_all *r, struct bm_drain_batch *batch)
{
    struct bm_buffer states;
    int rc = BOUMA_OK;

    bm_buffer_init(&states, r->a);
    if (r->comm->rank == 0 && batch->count) {
        rc = under_claim(r, publish_batch, batch);
        for (size_t i = 0; i < batch->count; i++) {
            bm_put_u8(&states, (uint8_t)batch->steps[i]->is_there);
            bm_put_u8(&states, (uint8_t)batch->steps[i]->is_older);
            bm_put_u8(&states, (uint8_t)batch->steps[i]->dropped);
        }
        if (!rc && states.failed)
            rc = bm_fail(r->error, BOUMA_ENOMEM, "%s: no memory", r->far.path);
    }
    rc = bm_comm_share(r->comm, &states, 0, rc, r->error);
    for (size_t i = 0; i < batch->count; i++) {
        if (!rc) {
            batch->steps[i]->is_there = states.data[3 * i];
            batch->steps[i]->is_older = states.data[3 * i + 1];
            batch->steps[i]->dropped = states.data[3 * i + 2];
        }
        bm_buffer_release(&batch->manifests[i]);
    }
    batch->count = 0;
    bm_buffer_release(&states);
    return bm_comm_agree(r->comm, rc, r->error);
}

/* ---- losses ------------------------------------------------------------- */

/* Whether the target neither has the step, nor knows that it is lost, nor has
 * dropped it. */
static int is_unknown(struct bm_drain_far *far,
                      const struct bm_loss_list *known,
                      const struct bm_lost_step *lost)
{
    const struct bm_lost_step *k = bm_losses_find(known, lost->entry.step);
    char name[BM_NAME_BYTES];

    bm_name_manifest(name, lost->entry.step);
    return !bm_truncations_has(&far->truncations, lost->entry.step,
                               lost->entry.generation) &&
           bm_store_is_absent(&far->store, name) &&
           (!k || !bm_lost_step_is_whole(k) ||
            !bm_step_entry_is_same(&k->entry, &lost->entry));
}

static int record_all(struct bm_drain_all *r, void *what)
{
    struct bouma_dataset *t = r->claim.target;
    int rc = BOUMA_OK;

    (void)what;
    for (size_t i = 0; i < r->steps.lost.count && !rc; i++)
        if (is_unknown(&r->far, &t->commits.losses, &r->steps.lost.steps[i])) {
            rc = bm_losses_save(&t->store, r->id, &r->steps.lost.steps[i],
                                &t->error);
            r->report->losses += !rc;
        }
    return rc;
}

/* Steps that were missed when the target was claimed, and have not come. */
static void count_gone(struct bm_drain_far *far, bouma_drain_report *report)
{
    char name[BM_NAME_BYTES];

    for (size_t i = 0; i < far->gone.count; i++) {
        bm_name_loss(name, far->gone.entries[i].step);
        report->losses += bm_store_exists(&far->store, name) != 0;
    }
}

int bm_drain_record(struct bm_drain_all *r)
{
    struct bm_loss_list known;
    int any = 0, rc;

    count_gone(&r->far, r->report);

    bm_losses_init(&known, r->a);
    rc = r->steps.lost.count
             ? bm_losses_load(&r->far.store, r->id, &known, r->error)
             : BOUMA_OK;
    for (size_t i = 0; i < r->steps.lost.count && !rc; i++)
        any |= is_unknown(&r->far, &known, &r->steps.lost.steps[i]);
    bm_losses_release(&known);
    return any ? under_claim(r, record_all, NULL) : rc;
}
