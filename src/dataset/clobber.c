/* clobber.c -- see clobber.h. */
#include "dataset/clobber.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/envelope.h"
#include "store/identity.h"
#include "store/index.h"
#include "store/losses.h"

/* ---- what it is --------------------------------------------------------- */

/* Whether a file tells which dataset this is. */
static int load_identity(struct bm_store *s, const char *name,
                         struct bm_error *error)
{
    struct bm_envelope e;
    struct bm_cursor body;
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, s->a);
    rc = bm_store_load(s, name, &b, 4096, error);
    if (!rc)
        rc = bm_envelope_open(&e, &body, b.data, b.size, BM_KIND_DATASET, NULL,
                              name, error);
    bm_buffer_release(&b);
    return rc;
}

/* The walk through all files of steps. */
struct walk {
    struct bm_store *s;
    char dir[BM_NAME_BYTES];
    int remove;
    char foreign[BM_NAME_BYTES * 2]; /* the first that is none of ours */
};

static int is_ours(const char *entry)
{
    char name[BM_NAME_BYTES];
    struct bm_generation g;

    return !strcmp(entry, "manifest") || !strcmp(entry, "mended.tmp") ||
           bm_name_written(name, 0, entry) || bm_name_is_copy(entry, &g);
}

static int visit_file(void *context, const char *entry)
{
    struct walk *w = context;
    char name[BM_NAME_BYTES * 2];

    snprintf(name, sizeof(name), "%s/%s", w->dir, entry);
    if (!is_ours(entry)) {
        memcpy(w->foreign, name, sizeof(name));
        return ECANCELED;
    }
    if (w->remove)
        bm_store_remove(w->s, name);
    return 0;
}

static int visit_step(void *context, const char *entry)
{
    struct walk *w = context;
    struct bm_error why = {0};
    uint64_t step;

    if (!bm_name_parse_step(entry, &step)) {
        snprintf(w->foreign, sizeof(w->foreign), BM_NAME_STEPS "/%.250s",
                 entry);
        return ECANCELED;
    }
    bm_name_step(w->dir, step);
    if (bm_store_list(w->s, w->dir, visit_file, w, &why))
        return ECANCELED;
    if (w->remove)
        bm_store_remove_dir(w->s, w->dir);
    return 0;
}

static int foreign(const struct bm_store *s, const char *name,
                   struct bm_error *error)
{
    return bm_fail(error, BOUMA_EEXISTS,
                   "%s: the option 'clobber' removes datasets only, and %s is "
                   "no part of one; move it away",
                   s->path, name);
}

int bm_clobber_check(struct bm_store *s, struct bm_error *error)
{
    struct walk w = {.s = s};
    struct bm_error why = {0}, ignored = {0};
    int rc = load_identity(s, BM_NAME_DATASET, &why);

    if (rc == BOUMA_ENOTFOUND)
        rc = load_identity(s, BM_NAME_CLOBBERED, &ignored);
    if (rc && rc != BOUMA_ENOTFOUND && rc != BOUMA_EFORMAT &&
        rc != BOUMA_EVERSION)
        return bm_fail(error, rc, "%s",
                       why.status == rc ? why.text : ignored.text);
    if (rc)
        return bm_fail(error, BOUMA_EEXISTS,
                       rc == BOUMA_EVERSION
                           ? "%s: was written by a newer version; remove it "
                             "yourself (the option 'clobber' removes only what "
                             "it knows)"
                           : "%s: exists and is no bouma dataset that could be "
                             "read; remove it yourself (the option 'clobber' "
                             "removes datasets only)",
                       s->path);
    /* All that is to be removed must be seen before anything is. */
    rc = bm_store_list(s, BM_NAME_STEPS, visit_step, &w, &ignored);
    if (w.foreign[0])
        return foreign(s, w.foreign, error);
    return rc && rc != BOUMA_ENOTFOUND ? bm_fail(error, rc, "%s", ignored.text)
                                       : BOUMA_OK;
}

int bm_clobber_check_idle(struct bm_store *s, int force, struct bm_error *error)
{
    int rc = bm_clobber_check(s, error);

    return rc ? rc : bm_epoch_check_idle(s, force, error);
}

/* ---- removing ----------------------------------------------------------- */

/* What repair has moved there: the name of a file, '.' for '/', and a number.
 */
static int is_moved(const char *entry)
{
    const char *dot = strrchr(entry, '.');

    return dot && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")] &&
           (!strncmp(entry, BM_NAME_STEPS ".", strlen(BM_NAME_STEPS ".")) ||
            !strncmp(entry, BM_NAME_DATASET ".", strlen(BM_NAME_DATASET ".")));
}

/* Of lost/, what repair put there; and records of losses, also unfinished. */
static int remove_lost(void *context, const char *entry)
{
    struct bm_store *s = context;
    char name[BM_NAME_BYTES * 2];
    size_t n = strlen(entry), ending = strlen(".tmp");
    uint64_t step;

    snprintf(name, sizeof(name), "%s", entry);
    if (n > ending && n < sizeof(name) && !strcmp(entry + n - ending, ".tmp"))
        name[n - ending] = 0;
    if (is_moved(entry) || bm_name_parse_loss(name, &step)) {
        snprintf(name, sizeof(name), BM_NAME_LOST "/%s", entry);
        bm_store_remove(s, name);
    }
    return 0;
}

/* Names that creations left; the mark is needed to the end. */
static int remove_unfinished(void *context, const char *entry)
{
    struct bm_store *s = context;

    if (!strncmp(entry, BM_NAME_DATASET_NEW, strlen(BM_NAME_DATASET_NEW)) &&
        strcmp(entry, BM_NAME_CLOBBERED))
        bm_store_remove(s, entry);
    return 0;
}

static int any_entry(void *context, const char *entry)
{
    snprintf(context, BM_NAME_BYTES, BM_NAME_STEPS "/%.250s", entry);
    return ECANCELED;
}

/* Whether all steps are gone, in whatever way the storage says so. */
static int check_gone(struct bm_store *s, struct bm_error *error)
{
    struct bm_error why = {0};
    char left[BM_NAME_BYTES] = "";
    int rc = bm_store_list(s, BM_NAME_STEPS, any_entry, left, &why);

    if (left[0])
        return bm_fail(error, BOUMA_EIO, "%s/%s: could not be removed", s->path,
                       left);
    return rc && rc != BOUMA_ENOTFOUND ? bm_fail(error, rc, "%s", why.text)
                                       : BOUMA_OK;
}

int bm_clobber(struct bm_store *s, struct bm_error *error)
{
    struct walk w = {.s = s, .remove = 1};
    struct bm_error ignored = {0};
    int rc = BOUMA_OK;

    if (!bm_store_is_absent(s, BM_NAME_DATASET))
        rc = bm_store_publish(s, BM_NAME_DATASET, BM_NAME_CLOBBERED, 1, error);
    /* From here on it is no dataset any more. */
    if (!rc)
        rc = bm_store_sync_dir(s, "", error);
    if (rc)
        return rc;
    bm_store_list(s, BM_NAME_STEPS, visit_step, &w, &ignored);
    rc = check_gone(s, error);
    bm_store_list(s, BM_NAME_LOST, remove_lost, s, &ignored);
    bm_store_remove_dir(s, BM_NAME_LOST);
    bm_index_remove(s);
    bm_store_list(s, "", remove_unfinished, s, &ignored);
    /* No old step or index may come back to the new dataset. */
    if (!rc)
        rc = bm_store_sync_dir(s, BM_NAME_STEPS, error);
    if (!rc)
        rc = bm_store_sync_dir(s, "", error);
    if (!rc && !bm_store_is_absent(s, BM_NAME_INDEX))
        rc = bm_fail(error, BOUMA_EIO,
                     "%s/" BM_NAME_INDEX ": could not be removed", s->path);
    if (!rc)
        bm_store_remove(s, BM_NAME_CLOBBERED);
    return rc;
}
