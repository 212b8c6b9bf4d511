/* sweep.c -- see sweep.h. */
#include "dataset/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "layout/writings.h"
#include "store/step_dir.h"

struct broom {
    struct bm_store *s;
    uint64_t step;
    struct bm_generation kept;   /* it is for what is older */
    struct bm_generation oldest; /* and not older than this */
    const struct bm_manifest *m; /* and that this does not name; NULL: all */
    int counts;                  /* instead of removing it */
    uint64_t found;
};

static int sweep_older(void *context, const char *entry)
{
    struct broom *b = context;
    char name[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t subfile;
    int is_subfile = bm_name_parse_subfile(entry, &subfile, &g);

    if (bm_name_is_folder(entry) && !b->counts) {
        bm_name_in_step(name, b->step, entry);
        bm_store_remove_dir(b->s, name); /* if nothing is in it now */
    }
    if ((!is_subfile && !bm_name_parse_manifest_new(entry, &g)) ||
        !bm_generation_is_later(b->kept, g) ||
        bm_generation_is_later(b->oldest, g) ||
        (b->m && is_subfile && bm_manifest_names(b->m, subfile, g)) ||
        !bm_name_written(name, b->step, entry))
        return 0;
    b->found++;
    if (!b->counts)
        bm_store_remove(b->s, name);
    return 0;
}

static void sweep(struct broom *b)
{
    struct bm_error ignored = {0};

    bm_step_dir_list(b->s, b->step, sweep_older, b, &ignored);
}

void bm_sweep_older(struct bm_store *s, uint64_t step,
                    struct bm_generation kept)
{
    struct broom b = {.s = s, .step = step, .kept = kept};

    sweep(&b);
}

void bm_sweep_between(struct bm_store *s, const struct bm_manifest *m)
{
    struct broom b = {.s = s,
                      .step = m->step,
                      .kept = m->generation,
                      .oldest = bm_manifest_writing(m, 0)->generation,
                      .m = m};

    sweep(&b);
}

uint64_t bm_sweep_count(struct bm_store *s, const struct bm_manifest *m)
{
    struct broom b = {
        .s = s, .step = m->step, .kept = m->generation, .m = m, .counts = 1};

    sweep(&b);
    return b.found;
}

/* ---- whole steps -------------------------------------------------------- */

int bm_sweep_is_ours(const char *entry)
{
    char name[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t epoch;

    return !strcmp(entry, "manifest") || bm_name_parse_mended(entry, &epoch) ||
           bm_name_written(name, 0, entry) || bm_name_is_copy(entry, &g) ||
           bm_name_is_folder(entry);
}

/* The walk through one directory. */
struct walk {
    struct bm_sweep *w;
    struct bm_store *s;
    char dir[BM_NAME_BYTES];
    int any; /* entries are left */
};

static int remove_ours(void *context, const char *entry)
{
    struct walk *walk = context;
    char name[BM_NAME_BYTES * 2];

    if (!bm_sweep_is_ours(entry))
        return 0;
    snprintf(name, sizeof(name), "%s/%s", walk->dir, entry);
    if (bm_name_is_folder(entry))
        bm_store_remove_dir(walk->s, name);
    else
        bm_store_remove(walk->s, name);
    /* The next shift begins at the front: if this one could not be removed, it
     * would be its first again, and nothing would ever be done. */
    walk->w->paused =
        bm_clock() > walk->w->until && bm_store_is_absent(walk->s, name);
    return walk->w->paused ? ECANCELED : 0;
}

static int look_at_left(void *context, const char *entry)
{
    struct walk *walk = context;
    char *kind = bm_sweep_is_ours(entry) ? walk->w->ours : walk->w->foreign;

    if (walk->any && bm_name_is_folder(entry))
        return 0; /* it stays since something is in it */
    walk->any = 1;
    if (!kind[0])
        snprintf(kind, BM_NAME_BYTES * 2, "%s/%.250s", walk->dir, entry);
    return 0;
}

int bm_sweep_dir(struct bm_sweep *w, struct bm_store *s, uint64_t step,
                 struct bm_error *error)
{
    struct walk walk = {.w = w, .s = s};
    struct bm_error why = {0};
    int rc;

    w->paused = 0;
    bm_name_step(walk.dir, step);
    rc = bm_step_dir_list(s, step, remove_ours, &walk, &why);
    if (w->paused)
        return BOUMA_OK;
    if (!rc) {
        bm_store_remove_dir(s, walk.dir);
        rc = bm_step_dir_list(s, step, look_at_left, &walk, &why);
    }
    if (!rc) { /* it is still there */
        w->left += walk.any != 0;
        rc = bm_store_sync_dir(s, walk.dir, &why);
    }
    return rc && rc != BOUMA_ENOTFOUND ? bm_fail(error, rc, "%s", why.text)
                                       : BOUMA_OK;
}

int bm_sweep_step(struct bm_sweep *w, struct bm_store *s, uint64_t step,
                  struct bm_error *error)
{
    struct bm_error why = {0};
    char name[BM_NAME_BYTES];
    int rc;

    w->paused = 0;
    bm_name_manifest(name, step);
    bm_store_remove(s, name);
    if (!bm_store_is_absent(s, name))
        return bm_fail(error, BOUMA_EIO, "%s/%s: could not be removed", s->path,
                       name);
    bm_name_step(name, step);
    rc = bm_store_sync_dir(s, name, &why);
    if (rc == BOUMA_ENOTFOUND) /* it was removed by one who did not end */
        return BOUMA_OK;
    if (rc)
        return bm_fail(error, rc, "%s", why.text);
    return bm_sweep_dir(w, s, step, error);
}

const char *bm_sweep_note(char text[BM_SWEEP_NOTE], const struct bm_sweep *w,
                          const struct bm_store *s)
{
    const char *name = w->ours[0] ? w->ours : w->foreign;
    const char *base = strrchr(name, '/');

    text[0] = 0;
    if (w->left)
        snprintf(text, BM_SWEEP_NOTE,
                 "%" PRIu64 " %s of removed steps had to stay: %s/%s %s",
                 w->left, w->left == 1 ? "directory" : "directories", s->path,
                 name,
                 base && bm_name_is_ghost(base + 1)
                     ? "is still open in a program on this machine"
                 : w->ours[0] ? "could not be removed"
                              : "is not part of a dataset");
    return text;
}

int bm_sweep_tell(struct bouma_dataset *ds, const struct bm_sweep *w,
                  const struct bm_store *s)
{
    char note[BM_SWEEP_NOTE];

    return bm_sweep_note(note, w, s)[0] && bm_dataset_add_note(ds, "%s", note)
               ? bm_fail(&ds->error, BOUMA_ENOMEM, "%s: no memory", s->path)
               : BOUMA_OK;
}

/* ---- versions that were replaced ---------------------------------------- */

void bm_sweep_all_replaced(struct bm_step_list *replaced, struct bm_store *s)
{
    for (size_t i = 0; i < replaced->count; i++)
        bm_sweep_older(s, replaced->entries[i].step,
                       replaced->entries[i].generation);
    replaced->count = 0;
}

/* Whether this rank has a step open that was written again since. */
static int reads_older(const struct bouma_dataset *ds)
{
    for (const struct bm_open_step *o = ds->open_steps; o; o = o->next) {
        const struct bm_step_entry *e =
            bm_step_list_find(&ds->found.steps, o->step);

        if (e && bm_generation_is_later(e->generation, o->generation))
            return 1;
    }
    return 0;
}

int bm_sweep_replaced(struct bouma_dataset *ds)
{
    uint64_t any = (uint64_t)reads_older(ds);
    int rc = bm_comm_max(ds->comm, &any, 1, &ds->error);

    if (!rc && !any)
        bm_sweep_all_replaced(&ds->commits.replaced, &ds->store);
    return rc;
}
