/* commit.c -- how a step becomes visible, whole or not at all.
 *
 *   durable   subfiles synced (by their writers); directory synced; manifest
 *             written and synced under another name; renamed; directories
 *             synced
 *   fast      the same without any sync
 *   group     manifests stay under the other name until the group is full, then
 *             all is synced and renamed at once
 *
 * Rank 0 does all of it but the syncing of subfiles. */
#include <inttypes.h>
#include <string.h>

#include "dataset/dataset.h"
#include "dataset/idx.h"
#include "dataset/lost.h"
#include "dataset/sweep.h"
#include "layout/writings.h"
#include "store/identity.h"
#include "store/step_dir.h"

/* Rename the manifest; then readers of IDX get to see the step. *is_new is set
 * if the step had none before. On a network file system an answer may get lost,
 * and the repeated call then fails although the first one did its work: so look
 * who is there before believing it. */
static int publish(struct bouma_dataset *ds, const struct bm_step_entry *entry,
                   const char *from, int replaces, int *is_new)
{
    char to[BM_NAME_BYTES];
    struct bm_error why = {0}, ignored = {0};
    struct bm_schema schema;
    struct bm_manifest m;
    int rc, ours;

    bm_name_manifest(to, entry->step);
    /* Whatever the index says of this step is over now. (It can know a step
     * whose manifest a power loss took away.) */
    *is_new = !bm_step_list_find(&ds->found.steps, entry->step) &&
              (!replaces || bm_store_is_absent(&ds->store, to));
    if (!*is_new) {
        rc = bm_index_forget(&ds->store, ds->id, entry->step, &ds->error);
        if (rc)
            return rc;
    }
    rc = bm_store_publish(&ds->store, from, to, replaces, &why);
    if (!rc) {
        ds->commits.idx_behind = bm_idx_publish(ds, entry) != BOUMA_OK;
        return rc;
    }
    bm_schema_init(&schema, ds->a, &ignored);
    bm_manifest_init(&m, ds->a, &schema, &ignored);
    ours = !bm_manifest_load_front(&m, &ds->store, entry->step, NULL, ds->id,
                                   &ignored) &&
           m.generation.epoch == entry->generation.epoch &&
           m.generation.attempt == entry->generation.attempt;
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    if (ours) {
        ds->commits.idx_behind = bm_idx_publish(ds, entry) != BOUMA_OK;
        return BOUMA_OK;
    }
    if (rc == BOUMA_EEXISTS)
        return bm_fail(&ds->error, rc,
                       "%s: step %" PRIu64 " exists already; set the option "
                       "'replace' to write it again",
                       ds->store.path, entry->step);
    /* It may be visible or not: make durable what is there before going on. */
    bm_step_list_put(&ds->commits.unsynced,
                     (struct bm_step_entry){entry->step, 0, {0, 0}});
    return bm_fail(&ds->error, rc, "%s", why.text);
}

/* Make published steps durable, and known to the index. One of which that
 * failed is visible already: it stays on the list, and what is committed later
 * is committed only when it has become durable, too. One of generation 0 is
 * perhaps not even there, and not for the index. */
int bm_commit_sync_all(struct bouma_dataset *ds)
{
    struct bm_step_list *list = &ds->commits.unsynced;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < list->count && !rc; i++) {
        char dir[BM_NAME_BYTES];

        bm_name_step(dir, list->entries[i].step);
        rc = bm_store_sync_dir(&ds->store, dir, &ds->error);
    }
    if (!rc && list->count)
        rc = bm_store_sync_dir(&ds->store, BM_NAME_STEPS, &ds->error);
    for (size_t i = 0; i < list->count && !rc; i++)
        if (list->entries[i].generation.epoch)
            bm_index_append(&ds->store, ds->id, &list->entries[i]);
    if (!rc)
        list->count = 0;
    return rc;
}

int bm_commit_sync(struct bouma_dataset *ds, uint64_t step)
{
    struct bm_step_entry entry = {step, 0, {0, 0}};

    if (ds->options.durability == BOUMA_DURABILITY_FAST)
        return BOUMA_OK;
    if (!bm_step_list_find(&ds->commits.unsynced, step) &&
        bm_step_list_put(&ds->commits.unsynced, entry))
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to list a step");
    return bm_commit_sync_all(ds);
}

int bm_commit_load_losses(struct bouma_dataset *ds)
{
    struct bm_error why = {0};
    int rc;

    bm_losses_release(&ds->commits.losses);
    bm_losses_init(&ds->commits.losses, ds->a);
    rc = bm_losses_load(&ds->store, ds->id, &ds->commits.losses, &why);
    return rc == BOUMA_ENOMEM ? bm_fail(&ds->error, rc, "%s", why.text)
                              : BOUMA_OK;
}

/* A step that was lost is there again, durably. Its record means nothing as
 * long as that is so, but may outlive it. One that is not durable keeps it: a
 * power loss would take the step, and with the record all that is known of it.
 */
static void forget_loss(const struct bm_loss_list *losses, struct bm_store *s,
                        uint64_t step)
{
    struct bm_error ignored = {0};

    if (bm_losses_find(losses, step))
        bm_losses_remove(s, step, &ignored);
}

/* Without a sync the index may learn only of a new step: after a power loss the
 * record could be there, and behind it the manifest that was replaced. */
static int finish(struct bouma_dataset *ds, const struct bm_step_entry *entry,
                  const struct bm_commit_how *how, int is_new)
{
    int rc;

    if (!how->synced && ds->options.durability == BOUMA_DURABILITY_FAST) {
        if (is_new)
            bm_index_append(&ds->store, ds->id, entry);
        return BOUMA_OK;
    }
    bm_step_list_put(&ds->commits.unsynced, *entry); /* there is room */
    rc = bm_commit_sync_all(ds);
    if (!rc)
        forget_loss(&ds->commits.losses, &ds->store, entry->step);
    /* Only now, as no power loss brings the old version back. A handle that has
     * no ranks has no readers either; it copies steps, and of one that was
     * written again meanwhile some files may have been copied. */
    if (rc || ds->commits.idx_behind || how->base.epoch)
        return rc;
    if (!is_new && ds->comm && !how->oldest.epoch)
        bm_step_list_put(&ds->commits.replaced, *entry); /* there is room */
    else if (!ds->comm && ds->options.replace)
        bm_sweep_older(&ds->store, entry->step,
                       how->oldest.epoch ? how->oldest : entry->generation);
    return rc;
}

/* There is room for a whole group, and a full one is flushed. */
static void hold(struct bm_commits *c, const struct bm_step_entry *entry,
                 struct bm_file *manifest)
{
    c->held[c->held_count].entry = *entry;
    c->held[c->held_count].manifest = *manifest;
    c->held[c->held_count].published = 0;
    c->held_count++;
    manifest->handle = NULL; /* it is held now */
}

/* A manifest that is there as bytes, all of which are right; no record of a file
 * is looked at. */
static int decode(struct bouma_dataset *ds, const struct bm_buffer *bytes,
                  struct bm_writing **out)
{
    struct bm_writing *w = bm_writing_new(ds->a, &ds->error);
    int rc = w ? bm_manifest_decode_lent(&w->manifest, bytes->data, bytes->size,
                                         ds->id, ds->store.path, &ds->error)
               : bm_fail(&ds->error, BOUMA_ENOMEM, "no memory for a manifest");

    if (rc)
        bm_writing_free(w);
    *out = rc ? NULL : w;
    return rc;
}

/* Make the names of files in subdirectories of the step durable. The local copy
 * of one of several nodes has 'some' of them. */
static int sync_folders(struct bm_store *s, const struct bm_manifest *m,
                        size_t count, int some, struct bm_error *error)
{
    struct bm_error why = {0};
    int rc = BOUMA_OK;

    for (size_t i = 0; i < count && !rc; i++) {
        char name[BM_NAME_BYTES], next[BM_NAME_BYTES] = "";

        bm_manifest_file_name(name, m, i);
        if (i + 1 < count)
            bm_manifest_file_name(next, m, i + 1);
        if (!bm_name_same_folder(name, next))
            rc = bm_step_dir_sync_folder(s, name, &why);
        if (rc == BOUMA_ENOTFOUND && some) {
            bm_error_clear(&why);
            rc = BOUMA_OK;
        }
    }
    return rc ? bm_fail(error, rc, "%s", why.text) : BOUMA_OK;
}

int bm_commit_sync_files(struct bm_store *s, const struct bm_manifest *m,
                         size_t count, struct bm_error *error)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < count && !rc; i++) {
        char name[BM_NAME_BYTES];
        struct bm_file f;
        int closed;

        bm_manifest_file_name(name, m, i);
        rc = bm_file_open(&f, s, name, BOUMA_OPEN_MODE_READ, error);
        if (rc)
            break;
        rc = bm_file_sync(&f, error);
        closed = bm_file_close(&f, error);
        rc = rc ? rc : closed;
    }
    return rc ? rc : sync_folders(s, m, count, 0, error);
}

/* Whether the writing that was added to is still the step. */
static int check_base(struct bouma_dataset *ds, uint64_t step,
                      struct bm_generation base)
{
    struct bm_step_entry now;

    return bm_step_peek(&ds->store, step, ds->id, &now) && now.step == step &&
                   bm_generation_is_same(now.generation, base)
               ? BOUMA_OK
               : bm_fail(&ds->error, BOUMA_ESTATE,
                         "%s: step %" PRIu64 " was written again since its "
                         "extension began, or cannot be read; nothing was "
                         "added",
                         ds->store.path, step);
}

/* Write a manifest under the name that it has before it is published. The file
 * may stay open. */
static int write_manifest(struct bouma_dataset *ds, struct bm_file *f,
                          uint64_t step, const char *name,
                          const struct bm_buffer *bytes, int synced)
{
    char dir[BM_NAME_BYTES];
    int rc = bm_commit_sync_all(ds);

    bm_name_step(dir, step);
    if (!rc && synced)
        rc = bm_store_sync_dir(&ds->store, dir, &ds->error);
    if (!rc)
        rc = bm_file_open(f, &ds->store, name, BOUMA_OPEN_MODE_CREATE,
                          &ds->error);
    if (!rc)
        rc = bm_file_write(f, bytes->data, bytes->size, 0, &ds->error);
    if (!rc && synced)
        rc = bm_file_sync(f, &ds->error);
    return rc ? rc : bm_epoch_check(&ds->store, ds->claim.epoch, &ds->error);
}

/* An extension makes durable what it adds to, which may have been written with
 * 'fast': else a power loss could take files that its manifest names. */
static int begin_extension(struct bouma_dataset *ds,
                           const struct bm_manifest *m,
                           struct bm_generation base)
{
    int rc = bm_commit_sync_files(&ds->store, m, m->first, &ds->error);

    if (rc)
        bm_error_prefix(&ds->error, "step %" PRIu64 " cannot be extended",
                        m->step);
    return rc ? rc : check_base(ds, m->step, base);
}

/* Commit a manifest that is there as bytes, written at first to 'name'. */
static int commit_bytes(struct bouma_dataset *ds,
                        const struct bm_step_entry *entry, const char *name,
                        const struct bm_buffer *bytes,
                        const struct bm_commit_how *how, int *published)
{
    const struct bm_manifest *extended = how->extended;
    int holds = ds->options.durability == BOUMA_DURABILITY_GROUP && !extended;
    struct bm_file f;
    int rc, closed, is_new;

    memset(&f, 0, sizeof(f));
    rc = write_manifest(ds, &f, entry->step, name, bytes, how->synced);
    if (!rc && holds)
        hold(&ds->commits, entry, &f);
    closed = f.store ? bm_file_close(&f, &ds->error) : BOUMA_OK;
    if (!rc)
        rc = closed;
    if (!rc && extended)
        rc = begin_extension(ds, extended, how->base);
    if (!rc && !holds) {
        rc = publish(ds, entry, name, ds->options.replace || extended, &is_new);
        /* A name that is taken by another is the one failure after which it is
         * certain that nothing was renamed. */
        *published = rc != BOUMA_EEXISTS;
        if (!rc)
            rc = finish(ds, entry, how, is_new);
        if (!rc && extended)
            bm_sweep_between(&ds->store, extended);
    }
    if (rc && !*published && f.store)
        bm_store_remove(&ds->store, name);
    return rc;
}

int bm_commit(struct bouma_dataset *ds, const struct bm_step_entry *entry,
              const struct bm_buffer *bytes, const struct bm_commit_how *how,
              int *published)
{
    struct bm_commit_how all = *how;
    struct bm_writing *extended = NULL;
    char name[BM_NAME_BYTES];
    int rc = how->base.epoch ? decode(ds, bytes, &extended) : BOUMA_OK;

    all.extended = extended ? &extended->manifest : NULL;
    bm_name_manifest_new(name, entry->step, entry->generation);
    if (!rc)
        rc = commit_bytes(ds, entry, name, bytes, &all, published);
    bm_writing_free(extended);
    return rc;
}

/* The oldest writing of a step that was extended, into how->oldest; and the
 * copies of its files have got their names for good. */
static int begin_copy(struct bouma_dataset *ds,
                      const struct bm_buffer *manifest,
                      struct bm_commit_how *how)
{
    struct bm_writing *w;
    int rc = decode(ds, manifest, &w);

    if (!rc && w->manifest.earlier_count)
        how->oldest = bm_manifest_writing(&w->manifest, 0)->generation;
    if (!rc)
        rc = sync_folders(&ds->store, &w->manifest,
                          bm_manifest_files(&w->manifest), ds->comm != NULL,
                          &ds->error);
    bm_writing_free(w);
    return rc;
}

int bm_commit_copy(struct bouma_dataset *ds, const struct bm_step_entry *entry,
                   const struct bm_buffer *manifest)
{
    struct bm_commit_how how = {.synced = 1};
    char name[BM_NAME_BYTES];
    int rc = begin_copy(ds, manifest, &how), published = 0;

    if (rc)
        return rc;
    if (bm_step_list_reserve(&ds->found.steps, 1) ||
        bm_step_list_reserve(&ds->commits.unsynced, 2) ||
        (ds->comm && bm_step_list_reserve(&ds->commits.replaced, 1)))
        return bm_fail(&ds->error, BOUMA_ENOMEM, "no memory to list a step");
    bm_name_manifest_new(
        name, entry->step,
        (struct bm_generation){ds->claim.epoch, ++ds->claim.copies});
    rc = commit_bytes(ds, entry, name, manifest, &how, &published);
    if (!rc)
        bm_step_list_put(&ds->found.steps, *entry);
    return rc;
}

/* ---- groups ------------------------------------------------------------- */

/* Sync and close what this rank has written. After a failed sync the file is
 * not to be trusted any more, so all are given up. */
static int sync_subfiles(struct bm_commits *c, struct bm_error *error)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < c->held_file_count; i++) {
        struct bm_file *f = &c->held_files[i];
        int closed, is_last = i + 1 == c->held_file_count ||
                              !bm_name_same_folder(f->name, f[1].name);

        if (!rc)
            rc = bm_file_sync(f, error);
        closed = bm_file_close(f, error);
        if (!rc)
            rc = closed;
        if (!rc && is_last)
            rc = bm_step_dir_sync_folder(f->store, f->name, error);
    }
    c->held_file_count = 0;
    return rc;
}

/* Sync what is held, then publish it, oldest first. One whose number is taken
 * by another writer's does not keep the others from being published. */
static int publish_held(struct bouma_dataset *ds)
{
    struct bm_commits *c = &ds->commits;
    int rc = bm_epoch_check(&ds->store, ds->claim.epoch, &ds->error);
    int taken = BOUMA_OK;

    if (!rc)
        rc = bm_commit_sync_all(ds);
    for (int i = 0; i < c->held_count; i++) {
        char dir[BM_NAME_BYTES];
        int closed;

        bm_name_step(dir, c->held[i].entry.step);
        if (!rc)
            rc = bm_file_sync(&c->held[i].manifest, &ds->error);
        closed = bm_file_close(&c->held[i].manifest, &ds->error);
        if (!rc)
            rc = closed;
        if (!rc)
            rc = bm_store_sync_dir(&ds->store, dir, &ds->error);
    }
    for (int i = 0; i < c->held_count && !rc; i++) {
        const struct bm_step_entry *entry = &c->held[i].entry;
        char name[BM_NAME_BYTES];
        int is_new;

        bm_name_manifest_new(name, entry->step, entry->generation);
        rc = publish(ds, entry, name, ds->options.replace, &is_new);
        if (rc == BOUMA_EEXISTS) {
            taken = rc;
            rc = BOUMA_OK;
            continue;
        }
        c->held[i].published = !rc;
        if (!rc)
            rc =
                finish(ds, entry, &(struct bm_commit_how){.synced = 1}, is_new);
    }
    return rc ? rc : taken;
}

/* Which steps rank 0 has published, on all ranks. Collective. */
static int share_published(struct bm_commits *c, struct bm_comm *comm,
                           struct bm_error *error)
{
    enum { AT_ONCE = 8 };
    int rc = BOUMA_OK;

    for (int i = 0; i < c->held_count && !rc; i += AT_ONCE) {
        uint64_t flags[AT_ONCE] = {0};

        for (int k = 0; k < AT_ONCE && i + k < c->held_count; k++)
            flags[k] = (uint64_t)c->held[i + k].published;
        rc = bm_comm_max(comm, flags, AT_ONCE, error);
        for (int k = 0; k < AT_ONCE && i + k < c->held_count && !rc; k++)
            c->held[i + k].published = flags[k] != 0;
    }
    return rc;
}

static void name_unpublished(const struct bm_commits *c, struct bm_error *error)
{
    int first = -1, last = -1;

    for (int i = 0; i < c->held_count; i++)
        if (!c->held[i].published) {
            first = first < 0 ? i : first;
            last = i;
        }
    if (first == last && first >= 0)
        bm_error_prefix(error, "step %" PRIu64 " could not be committed",
                        c->held[first].entry.step);
    else if (first >= 0)
        bm_error_prefix(error,
                        "steps %" PRIu64 " to %" PRIu64
                        " could not all be committed",
                        c->held[first].entry.step, c->held[last].entry.step);
}

int bm_commit_flush(struct bouma_dataset *ds)
{
    struct bm_commits *c = &ds->commits;
    int rc = sync_subfiles(c, &ds->error), shared = BOUMA_OK;

    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (ds->comm->rank == 0) {
        if (!rc)
            rc = publish_held(ds);
        for (int i = 0; i < c->held_count; i++) {
            struct bm_error ignored = {0};

            if (c->held[i].manifest.store)
                bm_file_close(&c->held[i].manifest, &ignored);
        }
        if (rc)
            name_unpublished(c, &ds->error);
    }
    rc = bm_comm_agree(ds->comm, rc, &ds->error);
    if (rc)
        shared = share_published(c, ds->comm, &ds->error);
    for (int i = 0; i < c->held_count && !shared; i++)
        if (!rc || c->held[i].published) /* there is room for them */
            bm_step_list_put(&ds->found.steps, c->held[i].entry);
    c->held_count = 0;
    return rc ? rc : shared;
}
