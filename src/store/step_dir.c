/* step_dir.c -- see step_dir.h. */
#include "store/step_dir.h"

#include <errno.h>
#include <stdio.h>

/* ---- listing ------------------------------------------------------------ */

struct listing {
    struct bm_store *s;
    char dir[BM_NAME_BYTES];
    const char *folder; /* NULL: the directory of the step itself */
    int (*each)(void *context, const char *entry);
    void *context;
    int ended; /* 'each' has ended it so */
    int rc;    /* a subdirectory could not be listed */
    struct bm_error *error;
};

static int list_entry(void *context, const char *entry);

/* What is in a subdirectory; 0 if it is none, but a file, a link or a pipe. */
static int list_folder(struct listing *l, const char *folder)
{
    struct listing below = *l;
    char name[2 * BM_NAME_BYTES];
    int code;

    snprintf(name, sizeof(name), "%s/%s", l->dir, folder);
    below.folder = folder;
    code = l->s->io->list(l->s->io->user, l->s->root, name, list_entry, &below);
    l->ended = below.ended;
    if (!code || code == ENOENT || below.ended)
        return 1;
    if (code == ENOTDIR || code == ELOOP)
        return 0;
    l->rc =
        bm_fail_io(l->error, code, "%s/%s: the directory could not be listed",
                   l->s->path, name);
    return 1;
}

/* What has the name of a subdirectory and is none is given as "./0001", which is
 * no name of ours. */
static int list_entry(void *context, const char *entry)
{
    struct listing *l = context;
    char name[2 * BM_NAME_BYTES];
    const char *in = l->folder;

    if (!in && bm_name_is_folder(entry) && !list_folder(l, entry))
        in = ".";
    if (in)
        snprintf(name, sizeof(name), "%s/%.255s", in, entry);
    if (!l->ended && !l->rc)
        l->ended = l->each(l->context, in ? name : entry);
    return l->rc ? EIO : l->ended;
}

int bm_step_dir_list(struct bm_store *s, uint64_t step,
                     int (*each)(void *context, const char *entry),
                     void *context, struct bm_error *error)
{
    struct listing l = {
        .s = s, .each = each, .context = context, .error = error};
    struct bm_error why = {0};
    int rc;

    bm_name_step(l.dir, step);
    rc = bm_store_list(s, l.dir, list_entry, &l, &why);
    if (l.rc)
        return l.rc;
    return rc ? bm_fail(error, rc, "%s", why.text) : BOUMA_OK;
}

/* ---- removing ----------------------------------------------------------- */

struct removal {
    struct bm_store *s;
    const char *dir;
};

static int remove_folder(void *context, const char *entry)
{
    const struct removal *r = context;
    char name[2 * BM_NAME_BYTES];

    if (!bm_name_is_folder(entry))
        return 0;
    snprintf(name, sizeof(name), "%s/%s", r->dir, entry);
    bm_store_remove_dir(r->s, name);
    return 0;
}

void bm_step_dir_remove(struct bm_store *s, uint64_t step)
{
    struct bm_error ignored = {0};
    char dir[BM_NAME_BYTES];
    struct removal r = {s, dir};

    bm_name_step(dir, step);
    bm_store_list(s, dir, remove_folder, &r, &ignored);
    bm_store_remove_dir(s, dir);
}

/* ---- one file ----------------------------------------------------------- */

int bm_step_dir_make_folder(struct bm_store *s, const char *name,
                            struct bm_error *error)
{
    char folder[BM_NAME_BYTES];

    return bm_name_folder(folder, name) ? bm_store_make_dir(s, folder, 1, error)
                                        : BOUMA_OK;
}

void bm_step_dir_remove_folder(struct bm_store *s, const char *name)
{
    char folder[BM_NAME_BYTES];

    if (bm_name_folder(folder, name))
        bm_store_remove_dir(s, folder);
}

int bm_step_dir_sync_folder(struct bm_store *s, const char *name,
                            struct bm_error *error)
{
    char folder[BM_NAME_BYTES];

    return bm_name_folder(folder, name) ? bm_store_sync_dir(s, folder, error)
                                        : BOUMA_OK;
}

int bm_step_dir_create(struct bm_file *f, struct bm_store *s, const char *name,
                       struct bm_error *error)
{
    struct bm_error why = {0};
    char folder[BM_NAME_BYTES];
    int rc = bm_file_open(f, s, name, BOUMA_OPEN_MODE_CREATE, &why);

    /* Mostly another file has been made there: one call is enough. */
    if (rc == BOUMA_ENOTFOUND && bm_name_folder(folder, name)) {
        bm_error_clear(&why);
        rc = bm_store_make_dir(s, folder, 1, &why);
        if (!rc)
            rc = bm_file_open(f, s, name, BOUMA_OPEN_MODE_CREATE, &why);
    }
    return rc ? bm_fail(error, rc, "%s", why.text) : BOUMA_OK;
}
