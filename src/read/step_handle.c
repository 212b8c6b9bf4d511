/* step_handle.c -- a step opened for reading. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "dataset/lost.h"
#include "layout/sheet.h"
#include "layout/writings.h"
#include "read/fetcher.h"

/* Rank 0: why a step is not among those that are there. One that was committed
 * and is lost must not pass for one that never was. */
static int tell_missing(struct bouma_dataset *ds, uint64_t step)
{
    const struct bm_step_list *have = &ds->found.steps;
    const char *path = ds->store.path;
    const struct bm_lost_step *lost = NULL;
    struct bm_error why = {0};
    struct bm_loss_list all;
    char date[BM_LOSS_DATE], doubt[BM_ERROR_BYTES + 64] = "";
    int rc;

    bm_losses_init(&all, ds->a);
    rc = bm_losses_find_all(&ds->store, ds->id, &all, 1, &why);
    if (rc != BOUMA_ENOMEM)
        lost = bm_losses_find(&all, step);
    if (rc)
        snprintf(doubt, sizeof(doubt), "; whether it was lost is not known: %s",
                 why.text);
    if (rc == BOUMA_ENOMEM)
        bm_fail(&ds->error, rc, "%s", why.text);
    else if (lost)
        rc = bm_fail(&ds->error, BOUMA_EFORMAT,
                     "%s: step %" PRIu64 " was committed and is lost (%s); "
                     "`bouma repair --forget %" PRIu64 " --apply` forgets it",
                     path, step, bm_loss_date(date, lost), step);
    else if (!have->count && all.count)
        rc = bm_fail(&ds->error, BOUMA_EFORMAT,
                     "%s: all its steps are lost; `bouma verify` names them",
                     path);
    else if (!have->count) /* as the caller gave it: perhaps negative */
        rc = bm_fail(&ds->error, BOUMA_ENOTFOUND,
                     "%s: has no step %" PRId64 ", and no other%s", path,
                     (int64_t)step, doubt);
    else
        rc = bm_fail(&ds->error, BOUMA_ENOTFOUND,
                     "%s: has no step %" PRId64 "; it has %zu, from %" PRIu64
                     " to %" PRIu64 "%s",
                     path, (int64_t)step, have->count, have->entries[0].step,
                     have->entries[have->count - 1].step, doubt);
    bm_losses_release(&all);
    return rc;
}

/* Rank 0. */
static int load_manifest(struct bouma_dataset *ds, uint64_t step,
                         const char *name, struct bm_buffer *out,
                         uint64_t *bytes)
{
    struct bm_store *store;
    struct bm_error why = {0};
    int rc;

    /* A step is there if it has a manifest: the list of all is for those that
     * have none, to tell what is wrong. */
    if (!ds->found.listed) {
        rc = bm_dataset_manifest(ds, step, out, bytes, &store, &why);
        if (rc != BOUMA_ENOTFOUND)
            return rc ? bm_fail(&ds->error, rc, "%s", why.text) : BOUMA_OK;
        bm_error_clear(&why);
        rc = bm_dataset_list(ds);
        if (rc)
            return rc;
    }
    if (!bm_step_list_find(&ds->found.steps, step))
        return tell_missing(ds, step);
    rc = bm_dataset_manifest(ds, step, out, bytes, &store, &why);
    if (rc == BOUMA_ENOTFOUND)
        return bm_fail(&ds->error, BOUMA_EFORMAT,
                       "%s/%s: is gone, though the step was committed; `bouma "
                       "repair` may help",
                       store->path, name);
    return rc ? bm_fail(&ds->error, rc, "%s", why.text) : BOUMA_OK;
}

/* The file has so many 'bytes', if that is known. */
static int fill_step(struct bouma_step *s, struct bouma_dataset *ds,
                     uint64_t step, const struct bm_buffer *manifest,
                     uint64_t bytes, const char *full)
{
    int rc;

    s->ds = ds;
    s->opened = step;
    s->manifest_hash = bm_hash64(manifest->data, manifest->size, 0);
    bm_schema_init(&s->schema, ds->a, &ds->error);
    bm_buffer_init(&s->schema_bytes, ds->a);
    s->schema.dataset = ds;
    s->schema.step = s;
    bm_manifest_init(&s->manifest, ds->a, &s->schema, &ds->error);
    rc = bm_manifest_decode_front(&s->manifest, manifest->data, manifest->size,
                                  ds->id, full, &ds->error);
    if (!rc) {
        s->manifest_bytes = manifest->size + bm_manifest_place_sheets(
                                                 &s->manifest, manifest->size);
        memcpy(s->front_hash, manifest->data + 48, sizeof(s->front_hash));
        rc = bm_manifest_check_end(&s->manifest, manifest->size, bytes, full,
                                   &ds->error);
    }
    if (!rc && s->manifest.step != step)
        rc = bm_fail(&ds->error, BOUMA_EFORMAT,
                     "%s: holds the manifest of step %" PRIu64
                     ", not of step %" PRIu64
                     "; `bouma repair --apply` fixes that",
                     full, s->manifest.step, step);
    if (rc)
        return rc;
    /* What the list says came from the index, and may be of another time. */
    if (bm_step_list_find(&ds->found.steps, step))
        bm_step_list_put(&ds->found.steps,
                         (struct bm_step_entry){step, s->manifest.time,
                                                s->manifest.generation});
    s->sources = bm_new(ds->a, s->manifest.count, sizeof(*s->sources));
    return s->sources && !bm_workers_init(s) && !bm_step_open_writings(s)
               ? BOUMA_OK
               : bm_fail(&ds->error, BOUMA_ENOMEM, "%s: no memory", full);
}

int bm_step_open(struct bouma_step **out, struct bouma_dataset *ds,
                 uint64_t step)
{
    struct bouma_step *s = bm_new(ds->a, 1, sizeof(*s));
    char name[BM_NAME_BYTES], full[1200];
    struct bm_buffer b;
    uint64_t bytes = 0; /* of the manifest, on rank 0 */
    int rc = BOUMA_OK;

    if (out)
        *out = NULL;
    bm_name_manifest(name, step);
    snprintf(full, sizeof(full), "%s/%s", ds->store.path, name);
    bm_buffer_init(&b, ds->a);
    if (!s)
        rc = bm_fail(&ds->error, BOUMA_ENOMEM, "%s: no memory", full);
    else if (!out)
        rc = bm_fail(&ds->error, BOUMA_EINVAL,
                     "on some rank the pointer for the handle of step %" PRIu64
                     " is NULL",
                     step);
    rc = bm_comm_begin(ds->comm, "opening a step", step, NULL, rc, &ds->error);
    if (rc == BOUMA_EMISMATCH && !ds->error.status)
        bm_fail(&ds->error, rc, "the ranks open different steps");
    if (!rc) {
        if (ds->comm->rank == 0)
            rc = load_manifest(ds, step, name, &b, &bytes);
        rc = bm_comm_share(ds->comm, &b, 0, rc, &ds->error);
    }
    if (!rc) {
        rc = fill_step(s, ds, step, &b, bytes, full);
        rc = bm_comm_agree(ds->comm, rc, &ds->error);
    }
    bm_buffer_release(&b);
    if (rc) {
        if (s && !s->ds)
            bm_drop(ds->a, s);
        else
            bm_step_free(s);
        return rc;
    }
    s->open =
        (struct bm_open_step){step, s->manifest.generation, ds->open_steps, 0};
    ds->open_steps = &s->open;
    s->holds = 1;
    *out = s;
    return BOUMA_OK;
}

void bm_step_close(struct bouma_step *step)
{
    bm_step_close_sources(step);
    for (size_t i = 0; step->sources && i < step->manifest.count; i++) {
        if (step->sources[i])
            bm_drop(step->ds->a, step->sources[i]->front.data);
        bm_drop(step->ds->a, step->sources[i]);
    }
    bm_drop(step->ds->a, step->sources);
    bm_workers_release(step);
}

void bm_step_aim(struct bouma_step *step, const struct bm_step_entry *entry)
{
    bm_step_close_sources(step);
    if (!step->aimed)
        bm_schema_encode(&step->schema_bytes, step->manifest.schema);
    step->aimed = 1;
    step->manifest.step = step->open.step = entry->step;
    step->manifest.generation = step->open.generation = entry->generation;
    step->manifest.time = entry->time;
}

void bm_step_free(struct bouma_step *step)
{
    struct bm_open_step **link;
    const bouma_allocator *a;

    if (!step)
        return;
    a = step->ds->a;
    link = &step->ds->open_steps;
    while (*link && *link != &step->open)
        link = &(*link)->next;
    if (*link)
        *link = step->open.next;
    bm_step_close(step);
    bm_step_free_writings(step);
    bm_buffer_release(&step->schema_bytes);
    bm_manifest_release(&step->manifest);
    bm_schema_release(&step->schema);
    bm_drop(a, step);
}

void bm_step_hold(struct bouma_step *step)
{
    bm_step_whole(step)->holds++;
}

void bm_step_drop(struct bouma_step *step)
{
    struct bouma_dataset *ds = step ? step->ds : NULL;

    step = step ? bm_step_whole(step) : NULL;
    if (!step || --step->holds)
        return;
    bm_step_free(step);
    if (ds->life.ended && !ds->open_steps)
        bm_dataset_free(ds);
}

void bm_step_tell_progress(struct bouma_step *step, uint64_t done,
                           uint64_t total)
{
    const struct bm_lifetime *life = &step->ds->life;
    const struct bm_options *o = &step->ds->options;
    struct bm_error before;

    if (!o->progress || (life->ended ? life->rank : step->ds->comm->rank) != 0)
        return;
    before = step->ds->error;
    o->progress(o->progress_user, "reading", done, total);
    step->ds->error = before;
}
