/* repair_stray_files.c -- files of one step in the directory of another. Each
 * file says of which step it is, and goes there: subfiles first, so that a
 * manifest never tells of files that are still on their way. Who is killed
 * meanwhile leaves a state from which the next repair goes on. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/repair.h"
#include "layout/writings.h"
#include "store/step_dir.h"

struct walk {
    struct bm_repair *r;
    uint64_t dir;
    const struct bm_step_entry *manifest; /* as it says; may be NULL */
    struct bm_stray_files *count;         /* NULL: the files are moved */
    int rc;
    struct bouma_step step; /* with the manifest in the directory of 'number' */
    struct bm_repair_files files;
    uint64_t number;
    int is_open, is_whole; /* it was looked for; and it could be read */
};

static void close_step(struct walk *w)
{
    if (w->is_open) {
        bm_sheet_walk_end(&w->files.walk);
        bm_repair_step_release(&w->step);
    }
    w->is_open = 0;
}

/* The manifest of a step in its own directory: the same for many files. *out is
 * NULL if there is none that can be read. What is returned is a failure to
 * look. */
static int open_step(struct walk *w, uint64_t number, struct bouma_step **out)
{
    struct bm_repair *r = w->r;
    struct bm_error why = {0};
    char name[BM_NAME_BYTES];
    int rc = BOUMA_OK;

    if (!w->is_open || w->number != number) {
        close_step(w);
        bm_name_manifest(name, number);
        bm_repair_step_init(r, &w->step);
        bm_repair_files_init(&w->files, r, &w->step.manifest, name);
        rc = bm_manifest_load_front(&w->step.manifest, &r->ds.store, number,
                                    NULL, r->ds.id, &why);
        if (!rc)
            rc = bm_repair_files_check(&w->files, &why);
        w->is_open = 1;
        w->is_whole = !rc;
        w->number = number;
    }
    *out = w->is_whole ? &w->step : NULL;
    return rc && !bm_is_damage(rc) ? bm_fail(r->error, rc, "%s", why.text)
                                   : BOUMA_OK;
}

/* Move a file to its own directory, durably there before it is gone here. */
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
        rc = bm_step_dir_make_folder(s, to, r->error);
    if (!rc)
        rc = bm_store_publish(s, from, to, 0, r->error);
    if (!rc)
        rc = bm_step_dir_sync_folder(s, to, r->error);
    if (!rc)
        rc = bm_store_sync_dir(s, there, r->error);
    if (!rc)
        rc = bm_store_sync_dir(s, BM_NAME_STEPS, r->error);
    if (!rc)
        rc = bm_step_dir_sync_folder(s, from, r->error);
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

/* A subfile in the directory of another step. */
struct stray {
    uint64_t step; /* its own */
    uint32_t subfile;
    struct bm_generation g;
    char name[BM_NAME_BYTES],
        own[BM_NAME_BYTES]; /* where it is; where it belongs */
};

static void name_stray(struct stray *f, uint64_t dir)
{
    bm_name_subfile(f->name, dir, f->subfile, f->g);
    bm_name_subfile(f->own, f->step, f->subfile, f->g);
}

/* How much of a file is what was written. */
struct worth {
    uint64_t whole, damages;
};

static int weigh(struct bouma_step *step, size_t file, const char *name,
                 struct worth *out)
{
    struct bm_check how = {.depth = BOUMA_DEPTH_FULL, .name = name};
    bouma_verify_report report = {.size = sizeof(report)};
    struct bm_findings found;
    int rc;

    bm_findings_init(&found, step->ds->a);
    rc = bm_check_subfile(step, file, &how, &found, &report);
    if (!rc)
        rc = found.failure;
    *out = (struct worth){how.whole, found.damages};
    bm_findings_release(&found);
    return rc;
}

/* Whether the file in its own directory is worse than the stray: the checksums
 * in its head tell, which the manifest names. */
static int compare_data(struct walk *w, const struct stray *f, int *is_worse)
{
    struct worth own = {0, 0}, stray = {0, 0};
    struct bouma_step *step = &w->step;
    size_t file = bm_manifest_number(&step->manifest, f->subfile, f->g);
    int rc = bm_repair_files_to(&w->files, file);

    if (!rc)
        rc = weigh(step, file, f->own, &own);
    *is_worse = 0;
    if (rc || !own.damages)
        return rc;
    rc = weigh(step, file, f->name, &stray);
    *is_worse = !rc && (stray.whole != own.whole ? stray.whole > own.whole
                                                 : stray.damages < own.damages);
    return rc;
}

/* Whether the file in its own directory is not there, or less than the one that
 * strayed. Without a manifest the head at the front and the length tell. What
 * is returned is a failure to look. */
static int compare(struct walk *w, const struct stray *f, int *is_worse)
{
    struct bm_repair *r = w->r;
    struct bm_repair_front a, b;
    struct bouma_step *step;
    int rc = bm_repair_peek_head(r, f->own, &a), opened;
    int is_whole = !bm_repair_peek_head(r, f->name, &b);

    *is_worse = is_whole && (rc == BOUMA_EFORMAT || (!rc && a.bytes < b.bytes));
    opened = open_step(w, f->step, &step);
    if (opened)
        return opened;
    if (step && bm_manifest_names(&step->manifest, f->subfile, f->g) &&
        bm_store_exists(&r->ds.store, f->own))
        rc = compare_data(w, f, is_worse);
    return rc && rc != BOUMA_EFORMAT
               ? bm_fail(r->error, rc,
                         "%s: could not be looked at, and %s is "
                         "perhaps the same",
                         f->own, f->name)
               : BOUMA_OK;
}

/* Move it to its own directory, or to lost/. */
static int return_file(struct walk *w, const struct stray *f)
{
    struct bm_repair *r = w->r;
    struct bm_store *s = &r->ds.store;
    int dropped = bm_truncations_has(&r->truncations, f->step, f->g), worse = 0;
    char text[240];
    int rc;

    r->changing = 0;
    rc = dropped ? BOUMA_OK : compare(w, f, &worse);
    if (rc)
        return rc;
    snprintf(text, sizeof(text),
             dropped ? "is a file of step %" PRIu64
                       ", which was dropped on purpose; moved to lost/"
             : bm_store_is_absent(s, f->own) ? "is a file of step %" PRIu64
                                               "; moved back to that"
             : worse ? "is a file of step %" PRIu64
                       ", where it is damaged; put in its place, and the "
                       "damaged one moved to lost/"
                     : "is a copy of a file of step %" PRIu64
                       ", which is there; moved to lost/",
             f->step);
    rc = dropped ? BOUMA_OK : is_returned(r, f->step);
    if (rc || !bm_repair_act(r, (int64_t)w->dir, f->name, text))
        return rc;
    if (worse && !bm_store_is_absent(s, f->own))
        rc = bm_repair_move_away(r, f->own);
    if (rc)
        return rc;
    return !dropped && bm_store_is_absent(s, f->own)
               ? move_file(r, f->name, w->dir, f->own, f->step)
               : bm_repair_move_away(r, f->name);
}

/* Count a subfile of the step that the manifest tells of. */
static void count_along(struct walk *w, const struct stray *f)
{
    int is_worse;

    w->rc = compare(w, f, &is_worse);
    w->count->better += (uint64_t)is_worse;
}

static int look_at_file(void *context, const char *entry)
{
    struct walk *w = context;
    struct bm_repair_front front;
    struct stray f = {.step = w->dir};
    int is_along, is_told;

    if (!bm_name_parse_subfile(entry, &f.subfile, &f.g))
        return 0;
    is_along =
        w->manifest && bm_generation_is_same(f.g, w->manifest->generation);
    if (is_along && w->manifest->step == w->dir)
        return 0; /* the usual case */
    name_stray(&f, w->dir);
    is_told = !bm_repair_peek_head(w->r, f.name, &front) &&
              !memcmp(front.id, w->r->ds.id, 16) &&
              bm_generation_is_same(front.generation, f.g);
    /* A name tells something, too. */
    f.step = is_told ? front.step : is_along ? w->manifest->step : w->dir;
    name_stray(&f, w->dir);
    if (!w->count) {
        if (f.step != w->dir)
            w->rc = return_file(w, &f);
    } else if (is_along && f.step == w->manifest->step) {
        count_along(w, &f);
    } else if (f.step != w->dir) {
        w->count->strays++;
    } else {
        w->count->others++;
    }
    return w->rc ? ECANCELED : 0;
}

static int go_through(struct walk *w)
{
    struct bm_error why = {0};
    int rc = bm_step_dir_list(&w->r->ds.store, w->dir, look_at_file, w, &why);

    close_step(w);
    /* That it cannot be listed is told when the step is looked at. */
    if (w->rc || !rc || rc == BOUMA_ENOTFOUND || w->count)
        return w->rc;
    return bm_fail(w->r->error, rc, "%s", why.text);
}

int bm_repair_count_strays(struct bm_repair *r, uint64_t dir,
                           const struct bm_step_entry *manifest,
                           struct bm_stray_files *out)
{
    struct walk w = {.r = r, .dir = dir, .manifest = manifest, .count = out};

    memset(out, 0, sizeof(*out));
    return go_through(&w);
}

int bm_repair_return_files(struct bm_repair *r, uint64_t dir,
                           const struct bm_step_entry *manifest)
{
    struct walk w = {.r = r, .dir = dir, .manifest = manifest};

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
    uint64_t bytes;
    int rc;

    bm_buffer_init(&b, s->a);
    rc = bm_manifest_read_front(s, name, &b, &bytes, &ignored);
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
                       ", which was dropped on purpose; moved to lost/"
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
    struct walk w = {.r = r, .dir = dir};
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
    bm_step_dir_list(&r->ds.store, dir, move_foreign, &w, &ignored);
    if (!w.rc) /* if nothing else is in it */
        bm_step_dir_remove(&r->ds.store, dir);
    return w.rc;
}
