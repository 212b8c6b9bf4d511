/* clobber.c -- see clobber.h. */
#include "dataset/clobber.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "dataset/idx.h"
#include "store/envelope.h"
#include "store/identity.h"
#include "store/index.h"
#include "store/losses.h"
#include "store/step_dir.h"
#include "store/truncations.h"

/* ---- what it is --------------------------------------------------------- */

/* Whether a file tells which dataset this is. */
static int load_identity(struct bm_store *s, const char *name, uint8_t id[16],
                         struct bm_error *error)
{
    struct bm_envelope e;
    struct bm_cursor body;
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, s->a);
    rc = bm_store_load(s, name, &b, 4096, error);
    if (!rc)
        rc = bm_envelope_open(&e, &body,
                              &(struct bm_metadata){b.data, b.size, NULL, name},
                              BM_KIND_DATASET, error);
    if (!rc)
        memcpy(id, e.id, 16);
    bm_buffer_release(&b);
    return rc;
}

/* Stop at the first entry that is none of a dataset. */
struct search {
    const char *dir;
    char foreign[BM_NAME_BYTES * 2];
};

static int find_foreign(void *context, const char *entry)
{
    struct search *search = context;

    if (bm_sweep_is_ours(entry) || bm_name_is_ghost(entry))
        return 0;
    snprintf(search->foreign, sizeof(search->foreign), "%s/%.250s", search->dir,
             entry);
    return ECANCELED;
}

static int find_foreign_step(void *context, const char *entry)
{
    struct search *search = context;
    uint64_t step;

    if (bm_name_parse_step(entry, &step) || bm_name_is_ghost(entry))
        return 0;
    snprintf(search->foreign, sizeof(search->foreign), BM_NAME_STEPS "/%.250s",
             entry);
    return ECANCELED;
}

/* The outcome of a search through a directory, which may be gone. */
static int judge(const struct bm_store *s, const struct search *search, int rc,
                 const struct bm_error *why, struct bm_error *error)
{
    if (search->foreign[0])
        return bm_fail(error, BOUMA_EEXISTS,
                       "%s: the option 'clobber' removes datasets only, and %s "
                       "is not part of one; move it away",
                       s->path, search->foreign);
    return rc && rc != BOUMA_ENOTFOUND ? bm_fail(error, rc, "%s", why->text)
                                       : BOUMA_OK;
}

static int is_dataset(struct bm_store *s, uint8_t id[16],
                      struct bm_error *error)
{
    struct bm_error why = {0}, mark = {0};
    int rc = load_identity(s, BM_NAME_DATASET, id, &why);

    if (rc == BOUMA_ENOTFOUND) {
        rc = load_identity(s, BM_NAME_CLOBBERED, id, &mark);
        why = mark;
    }
    if (!rc)
        return BOUMA_OK;
    if (rc != BOUMA_ENOTFOUND && rc != BOUMA_EFORMAT && rc != BOUMA_EVERSION &&
        rc != BOUMA_ELIMIT)
        return bm_fail(error, rc, "%s", why.text);
    return bm_fail(
        error, BOUMA_EEXISTS,
        rc == BOUMA_EVERSION
            ? "%s: was written by a newer version; remove it "
              "yourself (the option 'clobber' removes only what it "
              "knows)"
            : "%s: exists and is not a readable bouma dataset; remove it "
              "yourself (the option 'clobber' removes datasets only)",
        s->path);
}

static int ignore_entry(void *context, const char *entry)
{
    (void)context;
    (void)entry;
    return 0;
}

int bm_clobber_begin(struct bm_clobber *c, struct bm_store *s, int force,
                     struct bm_error *error)
{
    struct bm_error why = {0};
    int rc;

    memset(c, 0, sizeof(*c));
    c->s = s;
    bm_step_list_init(&c->there, s->a);
    rc = is_dataset(s, c->id, error);
    if (!rc) {
        rc = bm_store_list(s, BM_NAME_EPOCHS, ignore_entry, NULL, &why);
        c->has_epochs = rc != BOUMA_ENOTFOUND;
        rc = c->has_epochs ? bm_epoch_check_idle(s, force, error) : BOUMA_OK;
    }
    return rc;
}

/* ---- the claim ---------------------------------------------------------- */

int bm_clobber_make_epochs(struct bm_clobber *c, struct bm_error *error)
{
    return c->has_epochs ? BOUMA_OK
                         : bm_store_make_dir(c->s, BM_NAME_EPOCHS, 1, error);
}

int bm_clobber_claim(struct bm_clobber *c, uint32_t *epoch, int force,
                     char *note, size_t note_bytes, struct bm_error *error)
{
    struct bm_error ignored = {0};
    int rc = bm_clobber_make_epochs(c, error);
    uint32_t least = 0;

    if (rc) {
        *epoch = 0;
        return rc;
    }
    if (!c->has_epochs) /* what cannot be looked at goes all the same */
        bm_epoch_beyond_files(c->s, &least, &ignored);
    *epoch = *epoch > least ? *epoch : least;
    rc = bm_epoch_claim(c->s, epoch, force, note, note_bytes, error);
    c->epoch = *epoch;
    return rc;
}

/* ---- what is in it ------------------------------------------------------ */

/* Which steps there are. Only who has claimed it knows that no more will be
 * committed. */
static int list_steps(struct bm_clobber *c, struct bm_error *error)
{
    struct search search = {.dir = BM_NAME_STEPS};
    struct bm_error why = {0};
    int rc =
        bm_store_list(c->s, BM_NAME_STEPS, find_foreign_step, &search, &why);
    int is_missing = rc == BOUMA_ENOTFOUND;

    rc = judge(c->s, &search, rc, &why, error);
    if (!rc && !is_missing)
        rc = bm_steps_list(c->s, &c->there, error);
    c->listed = !rc;
    return rc;
}

void bm_clobber_release(struct bm_clobber *c)
{
    if (c->s)
        bm_step_list_release(&c->there);
    c->s = NULL;
}

int bm_clobber_check(struct bm_clobber *c, double until, int *more,
                     struct bm_error *error)
{
    int rc = c->listed ? BOUMA_OK : list_steps(c, error);

    while (c->at < c->there.count && !rc && !*more) {
        char dir[BM_NAME_BYTES];
        struct search search = {.dir = dir};
        struct bm_error why = {0};

        bm_name_step(dir, c->there.entries[c->at].step);
        rc = bm_step_dir_list(c->s, c->there.entries[c->at++].step,
                              find_foreign, &search, &why);
        rc = judge(c->s, &search, rc, &why, error);
        *more = bm_clock() > until && c->at < c->there.count;
    }
    if (!*more)
        c->at = 0;
    return rc;
}

/* ---- what a creation has left ------------------------------------------- */

static int is_of_creation(void *context, const char *entry)
{
    (void)context;
    return strcmp(entry, BM_NAME_EPOCHS) && strcmp(entry, BM_NAME_STEPS) &&
                   !bm_name_is_ghost(entry) &&
                   strncmp(entry, BM_NAME_DATASET_NEW,
                           strlen(BM_NAME_DATASET_NEW))
               ? EEXIST
               : 0;
}

static int is_ghost(void *context, const char *entry)
{
    (void)context;
    return bm_name_is_ghost(entry) ? 0 : EEXIST;
}

/* In the directory of a step: or a subdirectory that has no more in it. */
static int is_ghost_of_step(void *context, const char *entry)
{
    return bm_name_is_folder(entry) ? 0 : is_ghost(context, entry);
}

/* A directory that had to stay, since there are ghosts in it, is no step. */
static int is_empty_step(void *context, const char *entry)
{
    struct bm_error ignored = {0};
    uint64_t step;

    if (!bm_name_parse_step(entry, &step))
        return is_ghost(NULL, entry);
    return bm_step_dir_list(context, step, is_ghost_of_step, NULL, &ignored)
               ? EEXIST
               : 0;
}

int bm_clobber_is_unfinished(struct bm_store *s)
{
    struct bm_error ignored = {0};

    return !bm_store_list(s, "", is_of_creation, NULL, &ignored) &&
           bm_store_list(s, BM_NAME_STEPS, is_empty_step, s, &ignored) !=
               BOUMA_EEXISTS;
}

/* ---- what goes of lost/ -------------------------------------------------- */

/* What repair has moved there: the name of a file, '.' for '/', and a number.
 */
static int is_moved(const char *entry)
{
    const char *dot = strrchr(entry, '.');

    return dot && dot[1] && !dot[1 + strspn(dot + 1, "0123456789")] &&
           (!strncmp(entry, BM_NAME_STEPS ".", strlen(BM_NAME_STEPS ".")) ||
            !strncmp(entry, BM_NAME_DATASET ".", strlen(BM_NAME_DATASET ".")) ||
            !strncmp(entry, BM_NAME_TRUNCATIONS ".",
                     strlen(BM_NAME_TRUNCATIONS ".")));
}

/* What repair put there; and records of losses, also unfinished. */
static int is_lost(const char *entry)
{
    char name[BM_NAME_BYTES];
    size_t n = strlen(entry), ending = strlen(".tmp");
    uint64_t step;

    snprintf(name, sizeof(name), "%s", entry);
    if (n > ending && n < sizeof(name) && !strcmp(entry + n - ending, ".tmp"))
        name[n - ending] = 0;
    return is_moved(entry) || bm_name_parse_loss(name, &step);
}

static int find_lost(void *context, const char *entry)
{
    (void)context;
    return is_lost(entry) ? EEXIST : 0;
}

struct lost {
    struct bm_store *s;
    char left[BM_NAME_BYTES * 2]; /* one that could not be removed */
};

static int remove_one_lost(void *context, const char *entry)
{
    struct lost *l = context;
    char name[BM_NAME_BYTES * 2];

    if (!is_lost(entry))
        return 0;
    snprintf(name, sizeof(name), BM_NAME_LOST "/%s", entry);
    bm_store_remove(l->s, name);
    if (!bm_store_is_absent(l->s, name))
        memcpy(l->left, name, sizeof(name));
    return 0;
}

/* Durably: a record that came back would be one of the new dataset. */
static int remove_lost(struct bm_store *s, struct bm_error *error)
{
    struct lost l = {.s = s};
    struct bm_error why = {0};
    int rc = bm_store_list(s, BM_NAME_LOST, remove_one_lost, &l, &why);

    if (!rc && l.left[0])
        return bm_fail(error, BOUMA_EIO, "%s/%s: could not be removed", s->path,
                       l.left);
    if (!rc) {
        bm_store_remove_dir(s, BM_NAME_LOST);
        rc = bm_store_sync_dir(s, BM_NAME_LOST, &why); /* if it has to stay */
    }
    return rc && rc != BOUMA_ENOTFOUND ? bm_fail(error, rc, "%s", why.text)
                                       : BOUMA_OK;
}

/* ---- removing ----------------------------------------------------------- */

int bm_clobber_is_vacant(struct bm_store *s)
{
    struct bm_error ignored = {0};
    int steps, lost;

    if (bm_store_is_absent(s, BM_NAME_CLOBBERED))
        return bm_clobber_is_unfinished(s);
    steps = bm_store_list(s, BM_NAME_STEPS, is_empty_step, s, &ignored);
    lost = bm_store_list(s, BM_NAME_LOST, find_lost, NULL, &ignored);
    return bm_store_is_absent(s, BM_NAME_DATASET) &&
           bm_store_is_absent(s, BM_NAME_INDEX) &&
           bm_store_is_absent(s, BM_NAME_TRUNCATIONS) &&
           (!steps || steps == BOUMA_ENOTFOUND) &&
           (!lost || lost == BOUMA_ENOTFOUND);
}

/* Names that creations left; the mark is needed until there is a new dataset.
 */
static int remove_unfinished(void *context, const char *entry)
{
    struct bm_store *s = context;

    if (!strncmp(entry, BM_NAME_DATASET_NEW, strlen(BM_NAME_DATASET_NEW)) &&
        strcmp(entry, BM_NAME_CLOBBERED))
        bm_store_remove(s, entry);
    return 0;
}

/* From here on it is no dataset any more. */
static int mark(struct bm_clobber *c, struct bm_error *error)
{
    int rc = BOUMA_OK;

    if (!bm_store_is_absent(c->s, BM_NAME_DATASET))
        rc = bm_store_publish(c->s, BM_NAME_DATASET, BM_NAME_CLOBBERED, 1,
                              error);
    if (!rc)
        rc = bm_store_sync_dir(c->s, "", error);
    c->marked = !rc;
    return rc;
}

int bm_clobber_remove(struct bm_clobber *c, double until, int *more,
                      struct bm_error *error)
{
    struct bm_error ignored = {0};
    struct bm_store *s = c->s;
    int rc = bm_epoch_check(s, c->epoch, error);

    if (!rc && !c->marked)
        rc = mark(c, error);
    c->sweep.until = until;
    while (c->at < c->there.count && !rc) {
        rc = bm_epoch_check(s, c->epoch, error);
        if (rc)
            return rc;
        rc = bm_sweep_dir(&c->sweep, s, c->there.entries[c->at].step, error);
        c->at += !c->sweep.paused;
        *more =
            c->sweep.paused || (bm_clock() > until && c->at < c->there.count);
        if (*more)
            return rc;
    }
    if (!rc && c->sweep.ours[0])
        rc = bm_fail(error, BOUMA_EIO, "%s/%s: could not be removed", s->path,
                     c->sweep.ours);
    if (!rc)
        rc = bm_epoch_check(s, c->epoch, error);
    if (rc)
        return rc;
    rc = remove_lost(s, error);
    if (rc)
        return rc;
    bm_idx_clear(s);
    bm_index_remove(s);
    bm_store_list(s, "", remove_unfinished, s, &ignored);
    /* No old step or index may come back to the new dataset. */
    if (!bm_store_is_absent(s, BM_NAME_INDEX))
        rc = bm_fail(error, BOUMA_EIO,
                     "%s/" BM_NAME_INDEX ": could not be removed", s->path);
    if (!rc && !bm_truncations_remove(s))
        rc = bm_fail(error, BOUMA_EIO,
                     "%s/" BM_NAME_TRUNCATIONS ": could not be removed",
                     s->path);
    if (!rc)
        rc = bm_store_make_dir(s, BM_NAME_STEPS, 1, error);
    if (!rc)
        rc = bm_store_sync_dir(s, BM_NAME_STEPS, error);
    if (!rc)
        rc = bm_store_sync_dir(s, "", error);
    return rc;
}
