/* repair_strays.c -- the directory of one step under the number of another, as
 * somebody has copied or renamed it. */
#include "check/repair.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/step_dir.h"

static int any_entry(void *context, const char *entry)
{
    (void)entry;
    *(int *)context = 1;
    return 0;
}

/* Whether the directory of a step is free: nothing is in it. */
static int is_free(struct bm_repair *r, uint64_t step)
{
    struct bm_error ignored = {0};
    int any = 0, rc;

    rc = bm_step_dir_list(&r->ds.store, step, any_entry, &any, &ignored);
    return (rc == BOUMA_ENOTFOUND || (!rc && !any)) &&
           !bm_step_list_find(&r->returned, step);
}

/* Give the directory its own number again: at once, so that the step is always
 * whole. */
static int move_back(struct bm_repair *r, uint64_t from, uint64_t to)
{
    struct bm_step_entry back = {to, 0, {0, 0}};
    struct bm_store *s = &r->ds.store;
    char here[BM_NAME_BYTES], there[BM_NAME_BYTES], text[160];
    int rc;

    bm_name_step(here, from);
    bm_name_step(there, to);
    snprintf(text, sizeof(text),
             "holds step %" PRIu64 ", which is missing; renamed back to %.40s",
             to, there);
    if (bm_step_list_put(&r->returned, back))
        return bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    if (!bm_repair_act(r, (int64_t)from, here, text))
        return BOUMA_OK;
    rc = bm_store_publish(s, here, there, 1, r->error);
    return rc ? rc : bm_store_sync_dir(s, BM_NAME_STEPS, r->error);
}

/* A step that stands elsewhere, too, or is not to come back. */
static int move_away(struct bm_repair *r, uint64_t from, uint64_t of,
                     int dropped)
{
    char dir[BM_NAME_BYTES], text[160];

    bm_name_step(dir, from);
    snprintf(text, sizeof(text),
             dropped ? "holds step %" PRIu64
                       ", which was dropped on purpose; moved to lost/"
                     : "holds a copy of step %" PRIu64
                       ", which is there; moved to lost/",
             of);
    return bm_repair_act(r, (int64_t)from, dir, text)
               ? bm_repair_move_step(r, from)
               : BOUMA_OK;
}

/* A directory that is not looked at any more. */
static int skip(struct bm_repair *r, uint64_t step)
{
    struct bm_step_entry stray = {step, 0, {0, 0}};

    return bm_step_list_put(&r->strays, stray)
               ? bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair")
               : BOUMA_OK;
}

/* What comes after the look at all directories. */
struct later {
    struct bm_step_list waiting; /* manifests */
    struct bm_step_list emptied; /* directories */
};

static int is_emptied(struct bm_repair *r, struct later *l, uint64_t step)
{
    struct bm_step_entry number = {step, 0, {0, 0}};

    return bm_step_list_put(&l->emptied, number)
               ? bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair")
               : BOUMA_OK;
}

/* Without 'apply': a step in whose directory there are strays is lost, unless
 * it strayed, too. With it, that is seen when they are gone. */
static int tell_losses(struct bm_repair *r, const struct bm_step_list *emptied)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < emptied->count && !rc && !r->apply; i++) {
        const struct bm_step_entry *known =
            bm_step_list_find(&r->known, emptied->entries[i].step);

        if (known && known->generation.epoch &&
            !bm_step_list_find(&r->returned, known->step))
            rc = bm_repair_lost_step(r, known);
    }
    return rc;
}

/* A directory of which files are to go to several directories: one by one. */
static int sort_out(struct bm_repair *r, uint64_t step,
                    const struct bm_step_entry *found, struct later *later)
{
    int rc = bm_repair_return_files(r, step, found);

    if (!rc && found && found->step != step)
        rc = bm_repair_return_manifest(r, step, found, &later->waiting);
    if (!rc && r->apply)
        bm_step_dir_remove(&r->ds.store, step); /* if nothing else is in it */
    if (rc || r->apply)
        return rc;
    /* What will be there cannot be looked at yet. */
    return skip(r, step);
}

/* A directory whose manifest says that it is 'found'. */
static int look_at_stray(struct bm_repair *r, uint64_t step,
                         const struct bm_step_entry *found, struct later *later)
{
    int dropped =
        bm_truncations_has(&r->truncations, found->step, found->generation);
    struct bm_stray_files files;
    struct bm_step_entry own;
    int rc = bm_repair_count_strays(r, step, found, &files), is_mixed, is_there;

    if (rc)
        return rc;
    is_mixed = files.strays || files.others;
    is_there = bm_step_peek(&r->ds.store, found->step, r->ds.id, &own) &&
               own.step == found->step;
    if (!is_mixed && !dropped && is_free(r, found->step)) {
        rc = skip(r, step);
        if (!rc)
            rc = move_back(r, step, found->step);
    } else if (!is_mixed &&
               (dropped || (is_there && !files.better) ||
                (!r->apply && bm_step_list_find(&r->returned, found->step)))) {
        rc = skip(r, step);
        if (!rc)
            rc = move_away(r, step, found->step, dropped);
    } else {
        rc = sort_out(r, step, found, later);
    }
    return rc || files.others ? rc : is_emptied(r, later, step);
}

/* Whether the manifest is surely that of another dataset: by its id, and not as
 * it could not be read a moment ago. */
static int is_foreign(struct bm_repair *r, uint64_t step)
{
    struct bm_store *s = &r->ds.store;
    struct bm_error ignored = {0};
    char name[BM_NAME_BYTES];
    struct bm_envelope e;
    struct bm_cursor body;
    struct bm_buffer b;
    int is;

    bm_name_manifest(name, step);
    bm_buffer_init(&b, s->a);
    is = !bm_store_load(s, name, &b, s->memory_limit, &ignored) &&
         !bm_envelope_open(&e, &body,
                           &(struct bm_metadata){b.data, b.size, NULL, name},
                           BM_KIND_MANIFEST, &ignored) &&
         memcmp(e.id, r->ds.id, 16);
    bm_buffer_release(&b);
    return is;
}

/* One directory of a step. */
static int look_at(struct bm_repair *r, uint64_t step, struct later *later)
{
    struct bm_store *s = &r->ds.store;
    struct bm_stray_files files;
    struct bm_step_entry found;
    int is_ours = bm_step_peek(s, step, r->ds.id, &found), rc = BOUMA_OK;

    if (is_ours && found.step != step)
        return look_at_stray(r, step, &found, later);
    /* An id that was found in a step says nothing of the others. */
    if (!is_ours && r->has_identity && is_foreign(r, step)) {
        rc = bm_repair_foreign(r, step);
        if (!rc && !r->apply)
            rc = skip(r, step);
        if (!rc)
            rc = is_emptied(r, later, step);
    }
    if (!rc)
        rc = bm_repair_count_strays(r, step, is_ours ? &found : NULL, &files);
    return rc || !files.strays
               ? rc
               : sort_out(r, step, is_ours ? &found : NULL, later);
}

int bm_repair_strays(struct bm_repair *r)
{
    struct bm_step_list steps;
    struct later later;
    char dir[BM_NAME_BYTES];
    int rc;

    bm_step_list_init(&steps, r->ds.a);
    bm_step_list_init(&later.waiting, r->ds.a);
    bm_step_list_init(&later.emptied, r->ds.a);
    rc = bm_steps_list(&r->ds.store, &steps, r->error);
    for (size_t i = 0; i < steps.count && !rc; i++) {
        r->changing = 0;
        rc = look_at(r, steps.entries[i].step, &later);
        bm_name_step(dir, steps.entries[i].step);
        if (rc)
            rc = bm_repair_leave(r, (int64_t)steps.entries[i].step, dir, rc);
    }
    if (!rc)
        rc = bm_repair_return_waiting(r, &later.waiting);
    if (!rc)
        rc = tell_losses(r, &later.emptied);
    bm_step_list_release(&later.waiting);
    bm_step_list_release(&later.emptied);
    bm_step_list_release(&steps);
    return rc;
}
