/* identity.c -- see identity.h. */
#include "store/identity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/hash.h"
#include "store/envelope.h"
#include "store/step_dir.h"

static int find_step(void *context, const char *entry)
{
    int *any = context;
    uint64_t step;

    *any |= bm_name_parse_step(entry, &step);
    return 0;
}

/* There is no file DATASET: what is it, and what can be done? */
static int tell_missing(struct bm_store *s, struct bm_error *error)
{
    struct bm_error why = {0};
    int steps = 0, rc;

    if (!bm_store_is_absent(s, BM_NAME_CLOBBERED))
        return bm_fail(error, BOUMA_ENOTFOUND,
                       "%s: was being removed, to make way for a new dataset, "
                       "and that was interrupted; create the new one again, "
                       "with the option 'clobber' (`bouma import --clobber`), "
                       "or rename " BM_NAME_CLOBBERED
                       " in it to " BM_NAME_DATASET
                       " to keep what is left of the old one",
                       s->path);
    rc = bm_store_list(s, BM_NAME_STEPS, find_step, &steps, &why);
    if (rc == BOUMA_ENOTFOUND)
        return bm_fail(error, rc, "%s: is not a bouma dataset", s->path);
    if (rc)
        return bm_fail(error, rc, "%s", why.text);
    /* One that has steps has lost it; else it never was a dataset. */
    return steps ? bm_fail(error, BOUMA_EFORMAT,
                           "%s: has steps, but its file DATASET is gone; "
                           "`bouma repair` recreates it",
                           s->path)
                 : bm_fail(error, BOUMA_ENOTFOUND,
                           "%s: holds no dataset yet, just what an interrupted "
                           "creation has left; create it again",
                           s->path);
}

void bm_identity_random(uint8_t id[16])
{
    struct timespec now;

    if (getrandom(id, 16, 0) == 16)
        return;
    /* No source of randomness: the time will differ. */
    clock_gettime(CLOCK_REALTIME, &now);
    bm_hash128(id, &now, sizeof(now), NULL, 0);
}

int bm_identity_create(struct bm_store *s, const uint8_t id[16],
                       struct bm_error *error)
{
    struct bm_error why = {0};
    char new_name[BM_NAME_BYTES];
    struct bm_buffer b;
    uint8_t hash[16], nonce[16];
    int rc;

    /* A name of its own: another program may be creating at the same time. */
    bm_identity_random(nonce);
    snprintf(new_name, sizeof(new_name), BM_NAME_DATASET_NEW "%08x",
             bm_load_u32(nonce));
    bm_buffer_init(&b, s->a);
    bm_envelope_reserve(&b);
    bm_envelope_seal(&b, BM_KIND_DATASET, id, hash);
    rc = b.failed ? bm_fail(error, BOUMA_ENOMEM, "%s: no memory", s->path)
                  : bm_store_make_dir(s, BM_NAME_EPOCHS, 1, error);
    if (!rc)
        rc = bm_store_make_dir(s, BM_NAME_STEPS, 1, error);
    if (!rc)
        rc = bm_store_save(s, new_name, b.data, b.size, 1, error);
    /* The directories before the file that says they are there. */
    if (!rc)
        rc = bm_store_sync_dir(s, "", error);
    if (!rc) {
        rc = bm_store_publish(s, new_name, BM_NAME_DATASET, 0, &why);
        if (rc)
            bm_store_remove(s, new_name);
        if (rc == BOUMA_EEXISTS)
            bm_fail(error, rc, "%s: was created by another program just now",
                    s->path);
        else if (rc)
            bm_fail(error, rc, "%s", why.text);
    }
    if (!rc)
        rc = bm_store_sync_dir(s, "", error);
    if (!rc)
        bm_identity_unmark(s);
    bm_buffer_release(&b);
    return rc;
}

void bm_identity_unmark(struct bm_store *s)
{
    struct bm_error ignored = {0};

    if (bm_store_is_absent(s, BM_NAME_CLOBBERED) ||
        !bm_store_exists(s, BM_NAME_DATASET))
        return;
    bm_store_remove(s, BM_NAME_CLOBBERED);
    bm_store_sync_dir(s, "", &ignored);
}

int bm_identity_load(struct bm_store *s, uint8_t id[16], int *major, int *minor,
                     struct bm_error *error)
{
    struct bm_envelope e;
    struct bm_cursor body;
    struct bm_buffer b;
    struct bm_error why = {0};
    char name[1024];
    int rc;

    snprintf(name, sizeof(name), "%s/%s", s->path, BM_NAME_DATASET);
    bm_buffer_init(&b, s->a);
    rc = bm_store_load(s, BM_NAME_DATASET, &b, 4096, &why);
    if (rc == BOUMA_ENOTFOUND)
        rc = tell_missing(s, error);
    else if (rc == BOUMA_ELIMIT) /* whatever it is, it is not ours */
        rc = bm_fail(error, BOUMA_EFORMAT, "%s", why.text);
    else if (rc)
        bm_fail(error, rc, "%s", why.text);
    if (!rc)
        rc = bm_envelope_open(&e, &body,
                              &(struct bm_metadata){b.data, b.size, NULL, name},
                              BM_KIND_DATASET, error);
    if (!rc && bm_cursor_left(&body))
        rc = bm_envelope_fail(&e, name, error, "is longer than it should be");
    if (!rc) {
        memcpy(id, e.id, 16);
        *major = e.major;
        *minor = e.minor;
    }
    bm_buffer_release(&b);
    return rc;
}

/* ---- epochs -------------------------------------------------------------
 * Who claims a dataset
 *   1. looks whether it is free, and makes the directory of its epoch;
 *   2. lists epochs/ and gives up if there is a later one;
 *   3. looks at the earlier ones, down to the first that is signed: gives up if
 *      the writer of that one lives, and denies those that are not signed;
 *   4. signs: gives its file 'owner' that name, unless there is one.
 * To deny is to make an empty 'owner'. Both fail if the name is taken, so of an
 * epoch that is signed and denied at once one of the two is true for ever.
 *
 * Of two that live, A with the earlier and B with the later epoch, one signs at
 * most. If A made its directory after the list of B, it finds that of B in its
 * own list, and gives up. Else B finds A: signed, then B gives up; or not, then
 * B denies it, and A cannot sign any more, or A signs first, and B gives up.
 * Between A and B there may be others: those that are not signed claim nothing,
 * so B looks on; one that is signed has looked at A before. And the last of all
 * fails only if another has signed, so one of them gets it.
 *
 * With 'force' B does not mind that A lives. From when B has signed, A finds
 * that in each check of its claim, of which it makes one before each change
 * that others could see. An epoch that is not signed stops nobody: its program
 * may yet give up. */

#define ALL ((uint64_t)UINT32_MAX + 1)

struct below {
    uint64_t bound;
    uint32_t last;
};

static int find_below(void *context, const char *entry)
{
    struct below *b = context;
    uint32_t epoch;

    if (bm_name_parse_epoch(entry, &epoch) && epoch < b->bound &&
        epoch > b->last)
        b->last = epoch;
    return 0;
}

/* The last epoch before 'bound'; 0 if there is none. */
static int last_below(struct bm_store *s, uint64_t bound, uint32_t *last,
                      struct bm_error *error)
{
    struct below b = {bound, 0};
    struct bm_error why = {0};
    int rc = bm_store_list(s, BM_NAME_EPOCHS, find_below, &b, &why);

    *last = b.last;
    if (rc == BOUMA_ENOTFOUND)
        return bm_fail(error, BOUMA_EFORMAT,
                       "%s/" BM_NAME_EPOCHS ": is missing, and without it "
                       "nothing can be written; `bouma repair` recreates it",
                       s->path);
    return rc ? bm_fail(error, rc, "%s", why.text) : BOUMA_OK;
}

/* Whether a file that failed so when it was loaded is not there. */
static int is_no_file(struct bm_store *s, const char *name, int rc)
{
    return rc == BOUMA_ENOTFOUND ||
           (rc == BOUMA_EFORMAT && bm_store_is_no_file(s, name));
}

/* What is known of the writer of an epoch, as text; "" if it has not signed.
 * One that closed the dataset on a full disk has it in the file 'closed'. What
 * is no file is no signature, and nobody can sign instead. */
static int owner_of(struct bm_store *s, uint32_t epoch, char *text,
                    size_t bytes, struct bm_error *error)
{
    struct bm_error why = {0};
    struct bm_buffer b;
    char name[BM_NAME_BYTES];
    int rc;

    text[0] = 0;
    bm_name_epoch_owner(name, epoch);
    bm_buffer_init(&b, s->a);
    rc = bm_store_load(s, name, &b, 4096, &why);
    if (is_no_file(s, name, rc)) {
        bm_error_clear(&why);
        bm_name_epoch_closed(name, epoch);
        rc = bm_store_load(s, name, &b, 4096, &why);
    }
    if (!rc) {
        size_t n = b.size < bytes - 1 ? b.size : bytes - 1;

        memcpy(text, b.data, n);
        text[n] = 0;
    } else if (is_no_file(s, name, rc)) {
        rc = BOUMA_OK;
    } else {
        bm_fail(error, rc, "%s", why.text);
    }
    bm_buffer_release(&b);
    return rc;
}

/* See that an epoch is not signed any more, if it is not yet; else 'owner' is
 * who has. */
static int deny(struct bm_store *s, uint32_t epoch, int force, char *owner,
                size_t bytes, struct bm_error *error)
{
    struct bm_error why = {0};
    char name[BM_NAME_BYTES];
    int rc;

    bm_name_epoch_owner(name, epoch);
    rc = bm_store_save(s, name, "", 0, 0, &why);
    if (rc == BOUMA_EEXISTS)
        return owner_of(s, epoch, owner, bytes, error);
    if (rc == BOUMA_ENOTFOUND || force) /* it was given up meanwhile */
        return BOUMA_OK;
    return rc ? bm_fail(error, rc, "%s", why.text) : BOUMA_OK;
}

/* Who has claimed an epoch, and signed it unless 'owner' is empty. */
struct writer {
    uint32_t epoch;
    char owner[512];
};

/* Whether it is this very process that has signed. */
static int is_mine(const struct bm_store *s, const char *owner)
{
    char me[512];

    return !s->io->identity(s->io->user, me, sizeof(me)) && !strcmp(me, owner);
}

/* One that has signed: may another take over from it? */
static int check_writer(struct bm_store *s, const struct writer *w, int force,
                        char *note, size_t note_bytes, struct bm_error *error)
{
    char name[BM_NAME_BYTES];
    int alive;

    bm_name_epoch_closed(name, w->epoch);
    if (bm_store_exists(s, name))
        return BOUMA_OK;
    alive = s->io->alive(s->io->user, w->owner);
    if (alive == 1 && !force)
        return bm_fail(error, BOUMA_EBUSY,
                       is_mine(s, w->owner)
                           ? "%s: is being written by this program already "
                             "(%s); close it there first"
                           : "%s: is being written by another program (%s); "
                             "wait for it, or take over with the option "
                             "'force'",
                       s->path, w->owner);
    snprintf(note, note_bytes,
             alive ? "writer number %u (%s) did not close the dataset; if it "
                     "still runs, its next step will fail"
                   : "writer number %u (%s) ended without closing the dataset",
             w->epoch, w->owner);
    return BOUMA_OK;
}

/* Which writers to look at, and what to do. */
struct look {
    uint64_t bound; /* those before this epoch; or ALL */
    int denies;     /* those that have not signed: who has claimed it does */
    int force;
};

static int check_before(struct bm_store *s, const struct look *look, char *note,
                        size_t note_bytes, struct bm_error *error)
{
    struct writer w = {.owner = ""};
    uint64_t bound = look->bound;
    int rc;

    note[0] = 0;
    for (;;) {
        rc = last_below(s, bound, &w.epoch, error);
        if (rc || !w.epoch)
            return rc;
        rc = owner_of(s, w.epoch, w.owner, sizeof(w.owner), error);
        if (!rc && !w.owner[0] && look->denies)
            rc = deny(s, w.epoch, look->force, w.owner, sizeof(w.owner), error);
        if (rc)
            return rc;
        if (w.owner[0])
            return check_writer(s, &w, look->force, note, note_bytes, error);
        bound = w.epoch;
    }
}

static int overtaken(const struct bm_store *s, struct bm_error *error)
{
    return bm_fail(
        error, BOUMA_EBUSY,
        "%s: another program has claimed it just now; try again when it is "
        "done",
        s->path);
}

/* Say who has claimed an epoch. EBUSY if that was denied. */
static int sign(struct bm_store *s, uint32_t epoch, struct bm_error *error)
{
    char name[BM_NAME_BYTES], unsigned_name[BM_NAME_BYTES], owner[512];
    struct bm_error why = {0};
    int rc, code = s->io->identity(s->io->user, owner, sizeof(owner));

    if (code)
        return bm_fail_io(error, code, "%s: this process cannot be named",
                          s->path);
    bm_name_epoch_owner(name, epoch);
    bm_name_epoch_owner_new(unsigned_name, epoch);
    rc = bm_store_save(s, unsigned_name, owner, strlen(owner), 0, error);
    if (rc)
        return rc;
    rc = bm_store_publish(s, unsigned_name, name, 0, &why);
    if (rc == BOUMA_EEXISTS) {
        /* Ours, if a server has done it and its answer was lost. */
        rc = owner_of(s, epoch, owner, sizeof(owner), error);
        return rc || owner[0] ? rc : overtaken(s, error);
    }
    return rc ? bm_fail(error, rc, "%s", why.text) : BOUMA_OK;
}

/* With the directory of an epoch made: get the claim. After a failure *epoch is
 * as bm_epoch_claim() tells. */
static int enter(struct bm_store *s, uint32_t *epoch, int force, char *note,
                 size_t note_bytes, struct bm_error *error)
{
    struct bm_error ignored = {0};
    uint32_t last = 0;
    int rc = bm_epoch_last(s, &last, error);

    if (!rc && last > *epoch)
        rc = overtaken(s, error);
    if (!rc)
        rc = check_before(s, &(struct look){*epoch, 1, force}, note, note_bytes,
                          error);
    if (!rc)
        rc = sign(s, *epoch, error);
    if (rc == BOUMA_EBUSY) {
        /* Not signed, so it keeps nobody out if it stays. */
        bm_epoch_remove(s, *epoch);
        *epoch = 0;
        return rc;
    }
    /* The claim must outlive what is written under it: else the next writer
     * would use the same names again. */
    if (!rc)
        rc = bm_store_sync_dir(s, BM_NAME_EPOCHS, error);
    /* Not to lock ourselves out. */
    if (rc && !bm_epoch_close(s, *epoch, &ignored))
        *epoch = 0;
    return rc;
}

int bm_epoch_last(struct bm_store *s, uint32_t *last, struct bm_error *error)
{
    return last_below(s, ALL, last, error);
}

int bm_epoch_after(const char *path, uint32_t epoch, uint32_t *next,
                   struct bm_error *error)
{
    *next = epoch;
    if (epoch == UINT32_MAX)
        return bm_fail(error, BOUMA_ELIMIT,
                       "%s: no epochs are left: a writer has claimed %" PRIu32
                       ", the last one, so nothing more can be written here; "
                       "if it was none, remove " BM_NAME_EPOCHS "/%" PRIu32
                       " in it",
                       path, epoch, epoch);
    ++*next;
    return BOUMA_OK;
}

/* Writers that have claimed an epoch and left no file cannot be known. With a
 * gap for them nobody gets the epoch of one that may still run, and its next
 * commit finds that it was taken over. */
#define GAP 1000

/* The latest epoch in the names of files. */
struct latest {
    struct bm_store *s;
    uint32_t epoch;
    struct bm_error *error;
    int rc;
};

static int look_at_file(void *context, const char *entry)
{
    struct latest *l = context;
    struct bm_generation g;
    uint32_t subfile;

    if ((bm_name_parse_subfile(entry, &subfile, &g) ||
         bm_name_parse_manifest_new(entry, &g) || bm_name_is_copy(entry, &g)) &&
        g.epoch > l->epoch)
        l->epoch = g.epoch;
    return 0;
}

static int look_at_step(void *context, const char *entry)
{
    struct latest *l = context;
    uint64_t step;
    int rc;

    if (!bm_name_parse_step(entry, &step))
        return 0;
    rc = bm_step_dir_list(l->s, step, look_at_file, l, l->error);
    l->rc = l->rc ? l->rc : rc;
    return 0;
}

int bm_epoch_beyond_files(struct bm_store *s, uint32_t *epoch,
                          struct bm_error *error)
{
    struct latest l = {s, *epoch, error, BOUMA_OK};
    struct bm_error why = {0};
    int rc = bm_store_list(s, BM_NAME_STEPS, look_at_step, &l, &why);

    *epoch = l.epoch < UINT32_MAX - GAP ? l.epoch + GAP : UINT32_MAX;
    if (l.rc)
        return l.rc;
    return rc && rc != BOUMA_ENOTFOUND ? bm_fail(error, rc, "%s", why.text)
                                       : BOUMA_OK;
}

int bm_epoch_is_over(struct bm_store *s, uint32_t epoch)
{
    struct bm_error ignored = {0};
    char name[BM_NAME_BYTES], owner[512];

    bm_name_epoch_closed(name, epoch);
    if (bm_store_exists(s, name))
        return 1;
    return !owner_of(s, epoch, owner, sizeof(owner), &ignored) &&
           (!owner[0] || s->io->alive(s->io->user, owner) == 0);
}

int bm_epoch_check_idle(struct bm_store *s, int force, struct bm_error *error)
{
    char note[512];

    return check_before(s, &(struct look){ALL, 0, force}, note, sizeof(note),
                        error);
}

int bm_epoch_claim(struct bm_store *s, uint32_t *epoch, int force, char *note,
                   size_t note_bytes, struct bm_error *error)
{
    char name[BM_NAME_BYTES];
    uint32_t next = 0, least = *epoch;
    int code = EEXIST, rc = BOUMA_OK;

    *epoch = 0;
    /* Where another writer is quicker, look again. */
    for (int tries = 0; code == EEXIST && tries < 1000; tries++) {
        uint32_t last = 0;

        rc = bm_epoch_last(s, &last, error);
        if (!rc)
            rc = check_before(s, &(struct look){ALL, 0, force}, note,
                              note_bytes, error);
        if (!rc)
            rc = bm_epoch_after(s->path, last, &next, error);
        if (rc)
            return rc;
        next = next > least ? next : least;
        bm_name_epoch(name, next);
        code = s->io->make_dir(s->io->user, s->root, name);
    }
    if (code)
        return bm_fail_io(error, code, "%s/%s: could not be claimed", s->path,
                          name);
    *epoch = next;
    return enter(s, epoch, force, note, note_bytes, error);
}

int bm_epoch_take(struct bm_store *s, uint32_t epoch, int force, int *taken,
                  struct bm_error *error)
{
    char name[BM_NAME_BYTES], note[512];
    uint32_t last = 0;
    int rc = bm_epoch_last(s, &last, error), code;

    *taken = 0;
    if (!rc && last > epoch)
        rc = overtaken(s, error);
    /* Not those from 'epoch' on: one who shares it may take it meanwhile. */
    if (!rc && last < epoch)
        rc = check_before(s, &(struct look){epoch, 0, force}, note,
                          sizeof(note), error);
    if (rc || last == epoch)
        return rc;
    bm_name_epoch(name, epoch);
    code = s->io->make_dir(s->io->user, s->root, name);
    if (code && code != EEXIST)
        return bm_fail_io(error, code, "%s/%s: could not be claimed", s->path,
                          name);
    if (code)
        return BOUMA_OK;
    rc = enter(s, &epoch, force, note, sizeof(note), error);
    *taken = epoch != 0;
    return rc;
}

int bm_epoch_check(struct bm_store *s, uint32_t epoch, struct bm_error *error)
{
    char owner[512] = "";
    uint64_t bound = ALL;
    uint32_t last = 0;
    int rc = BOUMA_OK;

    for (; !rc && !owner[0]; bound = last) {
        rc = last_below(s, bound, &last, error);
        if (rc || last <= epoch)
            return rc;
        rc = owner_of(s, last, owner, sizeof(owner), error);
    }
    return rc ? rc
              : bm_fail(error, BOUMA_EBUSY,
                        "%s: another program (%s) has taken over this dataset; "
                        "nothing more can be written through this handle",
                        s->path, owner);
}

int bm_epoch_close(struct bm_store *s, uint32_t epoch, struct bm_error *error)
{
    char closed[BM_NAME_BYTES], owner[BM_NAME_BYTES];
    struct bm_error why = {0}, ignored = {0};
    int rc;

    bm_name_epoch_closed(closed, epoch);
    bm_name_epoch_owner(owner, epoch);
    rc = bm_store_save(s, closed, "", 0, 0, &why);
    if (!rc || rc == BOUMA_EEXISTS)
        return BOUMA_OK;
    /* On a full disk a file can be renamed where none can be made. */
    return bm_store_publish(s, owner, closed, 0, &ignored)
               ? bm_fail(error, rc, "%s", why.text)
               : BOUMA_OK;
}

void bm_epoch_remove(struct bm_store *s, uint32_t epoch)
{
    char name[BM_NAME_BYTES];

    bm_name_epoch_owner_new(name, epoch);
    bm_store_remove(s, name);
    bm_name_epoch_owner(name, epoch);
    bm_store_remove(s, name);
    bm_name_epoch_closed(name, epoch);
    bm_store_remove(s, name);
    bm_name_epoch(name, epoch);
    bm_store_remove_dir(s, name);
}
