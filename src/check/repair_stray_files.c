/* repair_stray_files.c -- files of one step in the directory of another. Each
 * file says of which step it is, and goes there: subfiles first, so that a
 * manifest never tells of files that are still on their way. Who is killed
 * meanwhile leaves a state from which the next repair goes on. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/repair.h"

struct walk {
    struct bm_repair *r;
    uint64_t dir;
    const struct bm_step_entry *manifest; /* as it says; may be NULL */
    struct bm_stray_files *count;         /* NULL: the files are moved */
    int rc;
};

/* Move a file to its own place, durably there before it is gone here. */
static int move_file(struct bm_repair *r, const char *from, uint64_t dir,
                     const char *to, uint64_t step)
{
    struct bm_store *s = &r->ds.store;
    char here[BM_NAME_BYTES], there[BM_NAME_BYTES];
    int rc;

    bm_name_step(here, dir);
    bm_name_step(there, step);
    rc = bm_store_make_dir(s, there, 1, r->error);
    if (!rc)
        rc = bm_store_publish(s, from, to, 0, r->error);
    if (!rc)
        rc = bm_store_sync_dir(s, there, r->error);
    if (!rc)
        rc = bm_store_sync_dir(s, BM_NAME_STEPS, r->error);
    return rc ? rc : bm_store_sync_dir(s, here, r->error);
}

/* A step that gets back what is its own, or would. */
static int is_returned(struct bm_repair *r, uint64_t step)
{
    return bm_step_list_put(&r->returned,
                            (struct bm_step_entry){step, 0, {0, 0}})
               ? bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair")
               : BOUMA_OK;
}

/* Whether the file in its own place is not there, or less than the one that
 * strayed, as far as the head at the front and the length tell. What is
 * returned is a failure to look. */
static int compare(struct bm_repair *r, const char *own, const char *stray,
                   int *is_worse)
{
    struct bm_repair_front a, b;
    int rc = bm_repair_peek_head(r, own, &a);
    int is_whole = !bm_repair_peek_head(r, stray, &b);

    *is_worse = is_whole && (rc == BOUMA_EFORMAT || (!rc && a.bytes < b.bytes));
    return rc && rc != BOUMA_EFORMAT
               ? bm_fail(r->error, rc,
                         "%s: could not be looked at, and %s is "
                         "perhaps the same",
                         own, stray)
               : BOUMA_OK;
}

/* A subfile of 'step' in the directory of another. */
static int return_file(struct bm_repair *r, uint64_t dir, uint64_t step,
                       uint32_t subfile, struct bm_generation g)
{
    struct bm_store *s = &r->ds.store;
    char from[BM_NAME_BYTES], to[BM_NAME_BYTES], text[240];
    int dropped = bm_truncations_has(&r->truncations, step, g), worse = 0, rc;

    bm_name_subfile(from, dir, subfile, g);
    bm_name_subfile(to, step, subfile, g);
    r->changing = 0;
    rc = dropped ? BOUMA_OK : compare(r, to, from, &worse);
    if (rc)
        return rc;
    snprintf(text, sizeof(text),
             dropped ? "is a file of step %" PRIu64
                       ", which was dropped by a truncation; moved to lost/"
             : bm_store_is_absent(s, to) ? "is a file of step %" PRIu64
                                           "; moved back to that"
             : worse ? "is a file of step %" PRIu64
                       ", where it is damaged; put in its place, and the "
                       "damaged one moved to lost/"
                     : "is a copy of a file of step %" PRIu64
                       ", which is there; moved to lost/",
             step);
    rc = dropped ? BOUMA_OK : is_returned(r, step);
    if (rc || !bm_repair_act(r, (int64_t)dir, from, text))
        return rc;
    if (worse && !bm_store_is_absent(s, to))
        rc = bm_repair_move_away(r, to);
    if (rc)
        return rc;
    return !dropped && bm_store_is_absent(s, to)
               ? move_file(r, from, dir, to, step)
               : bm_repair_move_away(r, from);
}

/* Count a subfile of the step that the manifest tells of. */
static void count_along(struct walk *w, uint32_t subfile,
                        struct bm_generation g)
{
    char from[BM_NAME_BYTES], to[BM_NAME_BYTES];
    int is_worse;

    bm_name_subfile(from, w->dir, subfile, g);
    bm_name_subfile(to, w->manifest->step, subfile, g);
    w->rc = compare(w->r, to, from, &is_worse);
    w->count->better += (uint64_t)is_worse;
}

static int look_at_file(void *context, const char *entry)
{
    struct walk *w = context;
    struct bm_repair_front front = {.step = w->dir};
    char name[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t subfile;
    int is_along, is_told;

    if (!bm_name_parse_subfile(entry, &subfile, &g))
        return 0;
    is_along = w->manifest && bm_generation_is_same(g, w->manifest->generation);
    if (is_along && w->manifest->step == w->dir)
        return 0; /* the usual case */
    bm_name_subfile(name, w->dir, subfile, g);
    is_told = !bm_repair_peek_head(w->r, name, &front) &&
              !memcmp(front.id, w->r->ds.id, 16) &&
              bm_generation_is_same(front.generation, g);
    if (!is_told) /* a name tells something, too */
        front.step = is_along ? w->manifest->step : w->dir;
    if (!w->count) {
        if (front.step != w->dir)
            w->rc = return_file(w->r, w->dir, front.step, subfile, g);
    } else if (is_along && front.step == w->manifest->step) {
        count_along(w, subfile, g);
    } else if (front.step != w->dir) {
        w->count->strays++;
    } else {
        w->count->others++;
    }
    return w->rc ? ECANCELED : 0;
}

static int go_through(struct walk *w)
{
    struct bm_error why = {0};
    char dir[BM_NAME_BYTES];
    int rc;

    bm_name_step(dir, w->dir);
    rc = bm_store_list(&w->r->ds.store, dir, look_at_file, w, &why);
    /* That it cannot be listed is told when the step is looked at. */
    if (w->rc || !rc || rc == BOUMA_ENOTFOUND || w->count)
        return w->rc;
    return bm_fail(w->r->error, rc, "%s", why.text);
}

int bm_repair_count_strays(struct bm_repair *r, uint64_t dir,
                           const struct bm_step_entry *manifest,
                           struct bm_stray_files *out)
{
    struct walk w = {r, dir, manifest, out, BOUMA_OK};

    memset(out, 0, sizeof(*out));
    return go_through(&w);
}

int bm_repair_return_files(struct bm_repair *r, uint64_t dir,
                           const struct bm_step_entry *manifest)
{
    struct walk w = {r, dir, manifest, NULL, BOUMA_OK};

    return go_through(&w);
}

/* ---- manifests ----------------------------------------------------------- */

/* Whether what is there instead of a manifest is surely none. */
static int is_damaged(struct bm_repair *r, const char *name)
{
    struct bm_store *s = &r->ds.store;
    struct bm_error ignored = {0};
    struct bm_step_entry entry;
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, s->a);
    rc = bm_store_load(s, name, &b, s->memory_limit, &ignored);
    if (!rc)
        rc = bm_manifest_peek(&entry, &b, r->ds.id, name, &ignored);
    bm_buffer_release(&b);
    return rc == BOUMA_EFORMAT;
}

int bm_repair_return_manifest(struct bm_repair *r, uint64_t dir,
                              const struct bm_step_entry *manifest,
                              struct bm_step_list *waiting)
{
    struct bm_store *s = &r->ds.store;
    uint64_t step = manifest->step;
    struct bm_step_entry there = {0};
    int dropped =
        bm_truncations_has(&r->truncations, step, manifest->generation);
    int is_taken = bm_step_peek(s, step, r->ds.id, &there), is_copy, rc;
    char from[BM_NAME_BYTES], to[BM_NAME_BYTES], text[200];

    is_copy = is_taken && there.step == step;
    bm_name_manifest(from, dir);
    bm_name_manifest(to, step);
    snprintf(text, sizeof(text),
             dropped ? "is the manifest of step %" PRIu64
                       ", which was dropped by a truncation; moved to lost/"
             : is_copy ? "is a copy of the manifest of step %" PRIu64
                         ", which is there; moved to lost/"
                       : "is the manifest of step %" PRIu64
                         "; moved back to that",
             step);
    if (!dropped && !is_taken && !bm_store_is_absent(s, to) &&
        !is_damaged(r, to)) {
        bm_repair_hopeless(r, (int64_t)dir, from,
                           "is the manifest of another step, and what is in "
                           "its place cannot be read now; nothing is moved");
        return BOUMA_OK;
    }
    rc = dropped ? BOUMA_OK : is_returned(r, step);
    if (rc || !bm_repair_act(r, (int64_t)dir, from, text))
        return rc;
    if (dropped || is_copy)
        return bm_repair_move_away(r, from);
    if (is_taken) {
        bm_name_manifest_new(to, step, manifest->generation);
        if (bm_step_list_put(waiting, *manifest))
            return bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    }
    if (!bm_store_is_absent(s, to)) /* a damaged one */
        rc = bm_repair_move_away(r, to);
    return rc ? rc : move_file(r, from, dir, to, step);
}

int bm_repair_return_waiting(struct bm_repair *r,
                             const struct bm_step_list *waiting)
{
    char from[BM_NAME_BYTES], to[BM_NAME_BYTES];
    int rc = BOUMA_OK;

    for (size_t i = 0; i < waiting->count && !rc; i++) {
        const struct bm_step_entry *e = &waiting->entries[i];

        bm_name_manifest_new(from, e->step, e->generation);
        bm_name_manifest(to, e->step);
        if (bm_store_is_absent(&r->ds.store, to))
            rc = move_file(r, from, e->step, to, e->step);
    }
    return rc;
}

/* ---- another dataset ----------------------------------------------------- */

static int move_foreign(void *context, const char *entry)
{
    struct walk *w = context;
    struct bm_repair_front front;
    char name[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t subfile;

    if (!bm_name_parse_subfile(entry, &subfile, &g))
        return 0;
    bm_name_subfile(name, w->dir, subfile, g);
    if (!bm_repair_peek_head(w->r, name, &front) &&
        memcmp(front.id, w->r->ds.id, 16))
        w->rc = bm_repair_move_away(w->r, name);
    return w->rc ? ECANCELED : 0;
}

int bm_repair_foreign(struct bm_repair *r, uint64_t dir)
{
    struct walk w = {r, dir, NULL, NULL, BOUMA_OK};
    struct bm_error ignored = {0};
    char name[BM_NAME_BYTES];
    int rc;

    bm_name_manifest(name, dir);
    if (!bm_repair_act(r, (int64_t)dir, name,
                       "belongs to another dataset; moved to lost/, with its "
                       "subfiles"))
        return BOUMA_OK;
    rc = bm_repair_move_away(r, name);
    if (rc)
        return rc;
    bm_name_step(name, dir);
    bm_store_list(&r->ds.store, name, move_foreign, &w, &ignored);
    if (!w.rc) /* if nothing else is in it */
        bm_store_remove_dir(&r->ds.store, name);
    return w.rc;
}
