/* steps.c -- which steps are committed. The directories have the last word;
 * the index spares opening the manifests that it knows. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dataset/dataset.h"
#include "layout/front.h"
#include "layout/sheet.h"
#include "store/envelope.h"
#include "store/losses.h"
#include "store/step_dir.h"
#include "store/truncations.h"

#define FIRST_READ ((uint64_t)64 << 10) /* of a manifest that may have sheets */

int bm_manifest_check_end(struct bm_manifest *m, size_t front, uint64_t bytes,
                          const char *name, struct bm_error *error)
{
    uint64_t whole = front + bm_manifest_place_sheets(m, front);

    return bytes <= whole
               ? BOUMA_OK
               : bm_fail(error, BOUMA_EFORMAT,
                         "%s: has %" PRIu64 " bytes where its own head tells "
                         "of %" PRIu64 "; the file is damaged",
                         name, bytes, whole);
}

int bm_manifest_read_front_of(struct bm_file *f, struct bm_buffer *out,
                              uint64_t *file_bytes, struct bm_error *error)
{
    struct bm_store *s = f->store;
    struct bm_error ignored = {0};
    struct bm_envelope e;
    uint64_t bytes = 0, first, front;
    int rc = bm_file_size(f, &bytes, error);

    bm_buffer_clear(out);
    *file_bytes = front = bytes;
    first = bytes < FIRST_READ ? bytes : FIRST_READ;
    if (!rc && !bm_buffer_extend(out, (size_t)first))
        rc = BOUMA_ENOMEM;
    if (!rc)
        rc = bm_file_read(f, out->data, (size_t)first, 0, error);
    if (!rc &&
        !bm_envelope_peek(&e, out->data, (size_t)first, BM_KIND_MANIFEST,
                          f->name, &ignored) &&
        e.body_bytes <= bytes - BM_ENVELOPE_BYTES)
        front = BM_ENVELOPE_BYTES + e.body_bytes;
    if (!rc && front > FIRST_READ && front > s->memory_limit)
        rc = bm_fail(error, BOUMA_ELIMIT,
                     "%s/%s: has %" PRIu64 " bytes, more than the option "
                     "'memory_limit' allows",
                     s->path, f->name, front);
    if (!rc && front > first && !bm_buffer_extend(out, (size_t)(front - first)))
        rc = BOUMA_ENOMEM;
    if (!rc && front > first)
        rc = bm_file_read(f, out->data + first, (size_t)(front - first), first,
                          error);
    if (rc == BOUMA_ENOMEM)
        bm_fail(error, rc, "%s/%s: no memory for %" PRIu64 " bytes", s->path,
                f->name, front);
    if (!rc)
        out->size = (size_t)front; /* sheets that were read with it */
    return rc;
}

int bm_manifest_read_front(struct bm_store *s, const char *name,
                           struct bm_buffer *out, uint64_t *file_bytes,
                           struct bm_error *error)
{
    struct bm_error ignored = {0};
    struct bm_file f;
    int rc = bm_file_open(&f, s, name, BOUMA_OPEN_MODE_READ, error);

    bm_buffer_clear(out);
    if (rc)
        return rc;
    rc = bm_manifest_read_front_of(&f, out, file_bytes, error);
    bm_file_close(&f, &ignored); /* only read from */
    return rc;
}

int bm_manifest_load_front(struct bm_manifest *m, struct bm_store *s,
                           uint64_t step, const char *name, const uint8_t *id,
                           struct bm_error *error)
{
    char usual[BM_NAME_BYTES], full[1200];
    struct bm_buffer b;
    uint64_t bytes = 0;
    int rc;

    if (!name) {
        bm_name_manifest(usual, step);
        name = usual;
    }
    snprintf(full, sizeof(full), "%s/%s", s->path, name);
    bm_buffer_init(&b, s->a);
    rc = bm_manifest_read_front(s, name, &b, &bytes, error);
    if (!rc)
        rc = bm_manifest_decode_front(m, b.data, b.size, id, full, error);
    if (!rc)
        rc = bm_manifest_check_end(m, b.size, bytes, full, error);
    if (!rc && m->step != step)
        rc = bm_fail(error, BOUMA_EFORMAT,
                     "%s: holds the manifest of step %" PRIu64
                     ", not of step %" PRIu64
                     "; `bouma repair --apply` fixes that",
                     full, m->step, step);
    bm_buffer_release(&b);
    return rc;
}

int bm_manifest_load_sheet(struct bm_manifest *m, size_t k, struct bm_store *s,
                           const char *name, struct bm_error *error)
{
    const struct bm_sheet *sheet = &m->sheets[k];
    struct bm_error ignored = {0};
    uint64_t bytes = 0;
    char which[1300], full[1200];
    struct bm_buffer b;
    struct bm_file f;
    int rc = bm_file_open(&f, s, name, BOUMA_OPEN_MODE_READ, error);

    if (rc)
        return rc;
    snprintf(full, sizeof(full), "%s/%s", s->path, name);
    bm_sheet_name(which, sizeof(which), m, k, full);
    bm_buffer_init(&b, s->a);
    rc = bm_file_size(&f, &bytes, error);
    if (!rc && (sheet->offset > bytes || sheet->bytes > bytes - sheet->offset))
        rc = bm_fail(error, BOUMA_EFORMAT, "%s: is cut off", which);
    if (!rc && sheet->bytes > s->memory_limit)
        rc = bm_fail(error, BOUMA_ELIMIT,
                     "%s: has %" PRIu64 " bytes, more than the option "
                     "'memory_limit' allows",
                     which, sheet->bytes);
    if (!rc && !bm_buffer_extend(&b, (size_t)sheet->bytes))
        rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory for it", which);
    if (!rc)
        rc = bm_file_read(&f, b.data, b.size, sheet->offset, error);
    if (!rc)
        rc = bm_manifest_take_sheet(m, k, b.data, b.size, full, error);
    bm_file_close(&f, &ignored); /* only read from */
    bm_buffer_release(&b);
    return rc;
}

static int collect_step(void *context, const char *entry)
{
    struct bm_step_entry e = {0, 0, {0, 0}}; /* the number only */

    return bm_name_parse_step(entry, &e.step) && bm_step_list_add(context, e)
               ? ENOMEM
               : 0;
}

/* The same as bm_steps_list(), but none if steps/ is missing. */
static int list_dirs(struct bm_store *s, struct bm_step_list *out,
                     int *is_missing, struct bm_error *error)
{
    struct bm_error why = {0};
    int rc = bm_store_list(s, BM_NAME_STEPS, collect_step, out, &why);

    *is_missing = rc == BOUMA_ENOTFOUND;
    if (rc && !*is_missing)
        return bm_fail(error, rc, "%s", why.text);
    return bm_step_list_sort(out)
               ? bm_fail(error, BOUMA_ENOMEM, "%s: no memory", s->path)
               : BOUMA_OK;
}

int bm_steps_list(struct bm_store *s, struct bm_step_list *out,
                  struct bm_error *error)
{
    int is_missing, rc = list_dirs(s, out, &is_missing, error);

    return !rc && is_missing ? bm_fail(error, BOUMA_EFORMAT,
                                       "%s/" BM_NAME_STEPS
                                       ": is missing, with all steps; `bouma "
                                       "repair` recreates it, without them",
                                       s->path)
                             : rc;
}

struct leftovers {
    uint64_t subfiles, manifests, copies;
    struct bm_generation latest;  /* of the subfiles */
    uint64_t of_latest;           /* how many are of that */
    uint32_t last;                /* the highest number of those */
    struct bm_generation written; /* of the latest manifest */
};

static int count_leftover(void *context, const char *entry)
{
    struct leftovers *l = context;
    struct bm_generation g;
    uint32_t subfile;

    if (bm_name_parse_manifest_new(entry, &g) &&
        (!l->manifests++ || bm_generation_is_later(g, l->written)))
        l->written = g;
    l->copies += (uint64_t)bm_name_is_copy(entry, &g);
    if (!bm_name_parse_subfile(entry, &subfile, &g))
        return 0;
    if (!l->subfiles++ || bm_generation_is_later(g, l->latest)) {
        l->latest = g;
        l->of_latest = l->last = 0;
    }
    if (g.epoch == l->latest.epoch && g.attempt == l->latest.attempt) {
        l->of_latest++;
        l->last = subfile > l->last ? subfile : l->last;
    }
    return 0;
}

/* Whether all subfiles of a writing seem to be there: none is missing among
 * their names, and the first one says that there are no more. Its head at the
 * front is written last. It is asked for whenever a dataset is opened to
 * append, of each step that has no manifest, so it reads a few bytes once, and
 * only if the names are right. */
static int looks_whole(struct bm_store *s, uint64_t step,
                       const struct leftovers *l)
{
    struct bm_first_head first;
    uint64_t bytes;
    struct bm_error ignored = {0};
    char name[BM_NAME_BYTES];
    struct bm_file f;
    int is_head;

    bm_name_subfile(name, step, 0, l->latest);
    if (!l->subfiles || l->of_latest != (uint64_t)l->last + 1 ||
        bm_file_open(&f, s, name, BOUMA_OPEN_MODE_READ, &ignored))
        return 0;
    is_head = !bm_file_size(&f, &bytes, &ignored) &&
              !bm_front_find_head(&first, &f, bytes, name, &ignored);
    bm_file_close(&f, &ignored);
    return is_head && bm_load_u64(first.begin + BM_ENVELOPE_BYTES) == step &&
           bm_load_u32(first.begin + BM_ENVELOPE_BYTES + 20) == l->of_latest;
}

/* Whether a writing was dropped: a truncation that was cut short has left it.
 */
static int is_dropped(const struct bm_step_search *w, uint64_t step,
                      struct bm_generation g)
{
    struct bm_error ignored = {0};
    struct bm_truncations t;
    int has;

    bm_truncations_init(&t, w->store->a);
    has = !bm_truncations_load(w->store, w->id, &t, &ignored) &&
          bm_truncations_has(&t, step, g);
    bm_truncations_release(&t);
    return has;
}

/* A remark about a directory without a manifest. */
static int note_incomplete(const struct bm_step_search *w, uint64_t step)
{
    struct bm_store *s = w->store;
    struct bm_error ignored = {0};
    struct leftovers l = {.subfiles = 0};
    char text[256];
    int is_whole;

    if (bm_step_dir_list(s, step, count_leftover, &l, &ignored))
        return BOUMA_OK;
    is_whole = !l.manifests && !l.copies && looks_whole(s, step, &l);
    if ((l.manifests && is_dropped(w, step, l.written)) ||
        (is_whole && is_dropped(w, step, l.latest)))
        snprintf(text, sizeof(text),
                 "step %" PRIu64 " was dropped on purpose, ignored; "
                 "%" PRIu64 " of its files are left: `bouma delete-step` "
                 "removes them",
                 step, l.subfiles);
    else if (l.manifests)
        snprintf(text, sizeof(text),
                 "step %" PRIu64 " was written (%" PRIu64
                 " files) but not published, ignored; `bouma repair` checks "
                 "and publishes such steps",
                 step, l.subfiles);
    else if (l.copies)
        snprintf(text, sizeof(text),
                 "step %" PRIu64 " is not complete yet (%" PRIu64
                 " files): others were not drained, ignored",
                 step, l.subfiles);
    else if (is_whole)
        snprintf(text, sizeof(text),
                 "step %" PRIu64 " has no manifest, ignored; its files seem to "
                 "be all there (%" PRIu64
                 "): `bouma repair` checks them, and rebuilds the manifest",
                 step, l.subfiles);
    else
        snprintf(text, sizeof(text),
                 "step %" PRIu64 " is incomplete (%" PRIu64
                 " file%s, no manifest), ignored",
                 step, l.subfiles, l.subfiles == 1 ? "" : "s");
    return w->note(w->context, text);
}

/* Make a step durable that its writer may not have. */
static int sync_step(const struct bm_step_search *w, uint64_t step,
                     struct bm_error *why)
{
    char dir[BM_NAME_BYTES];

    bm_name_step(dir, step);
    return bm_store_sync_dir(w->store, dir, why);
}

/* A step whose manifest can be read. The index says 'cached' of it, which may
 * be NULL. */
static int list_committed(struct bm_step_search *w, const struct bm_manifest *m,
                          const struct bm_step_entry *cached,
                          struct bm_error *why)
{
    struct bm_step_entry entry = {m->step, m->time, m->generation};
    int rc = BOUMA_OK;

    if (!cached || !bm_step_entry_is_same(cached, &entry)) {
        w->stale = 1;
        if (w->how & BM_FIND_SYNC)
            rc = sync_step(w, m->step, why);
    }
    return rc ? rc : bm_step_list_put(w->found, entry);
}

/* Whether a step that fails so when its manifest is loaded is listed. */
static int is_listed(int rc)
{
    return rc == BOUMA_ENOTFOUND || rc == BOUMA_EFORMAT ||
           rc == BOUMA_EVERSION || rc == BOUMA_ELIMIT || rc == BOUMA_EIO;
}

/* Not one to read, but one to know about: it is listed, and opening it tells
 * what is wrong. If the device 'has_failed', it may be one that can be read
 * next time. 'why' tells of the manifest; then of what failed here. */
static int list_unreadable(struct bm_step_search *w,
                           const struct bm_step_entry *entry, int has_failed,
                           struct bm_error *why)
{
    int is_new = has_failed && !entry->generation.epoch;
    struct bm_error failed = {0};
    int rc = BOUMA_OK;

    w->stale |= is_new;
    if (is_new && w->how & BM_FIND_SYNC)
        rc = sync_step(w, entry->step, &failed);
    if (!rc)
        rc = bm_step_list_put(w->found, *entry);
    if (!rc && w->note && !(w->how & BM_FIND_QUIET))
        rc = w->note(w->context, why->text);
    *why = failed; /* and not what the note tells */
    return rc;
}

/* Look at the manifest of a step of which the index says 'cached', which may
 * be NULL. */
static int probe(struct bm_step_search *w, uint64_t step,
                 const struct bm_step_entry *cached, struct bm_error *error)
{
    struct bm_step_entry number = {step, 0, {0, 0}};
    int is_known = cached && cached->generation.epoch;
    struct bm_error why = {0};
    struct bm_schema schema;
    struct bm_manifest m;
    int rc;

    bm_schema_init(&schema, w->store->a, &why);
    bm_manifest_init(&m, w->store->a, &schema, &why);
    rc = bm_manifest_load_front(&m, w->store, step, NULL, w->id, &why);
    if (!rc) {
        rc = list_committed(w, &m, cached, &why);
    } else if (rc == BOUMA_ENOTFOUND && !is_known) {
        bm_error_clear(&why);
        rc = w->note ? note_incomplete(w, step) : BOUMA_OK;
    } else if (is_listed(rc)) {
        rc = list_unreadable(w, is_known ? cached : &number, rc == BOUMA_EIO,
                             &why);
    }
    if (rc)
        bm_fail(error, rc, "%s", why.text[0] ? why.text : "no memory");
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    return rc;
}

/* What the index says. */
struct cache {
    struct bm_step_list steps;
    size_t bad;        /* entries */
    int is_unreadable; /* the directories will tell */
};

static int load_cache(struct bm_step_search *w, struct cache *c,
                      struct bm_error *error)
{
    struct bm_error why = {0};
    int rc = bm_index_load(w->store, w->id, &c->steps, &c->bad, &why);

    if (rc == BOUMA_ENOMEM)
        return bm_fail(error, rc, "%s", why.text);
    c->is_unreadable = rc != BOUMA_OK;
    return rc && w->note && w->note(w->context, why.text)
               ? bm_fail(error, BOUMA_ENOMEM, "%s: no memory", w->store->path)
               : BOUMA_OK;
}

/* List one step after the other. *known counts those that the index knows. */
static int go_through(struct bm_step_search *w, const struct bm_step_list *dirs,
                      const struct bm_step_list *cached, size_t *known,
                      struct bm_error *error)
{
    size_t at = 0;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < dirs->count && !rc; i++) {
        uint64_t step = dirs->entries[i].step;
        const struct bm_step_entry *e = bm_step_list_next(cached, &at, step);
        int is_known = e && e->generation.epoch;

        *known += (size_t)is_known;
        if (!is_known || w->how & BM_FIND_EXACT)
            rc = probe(w, step, e, error);
        else if (bm_step_list_put(w->found, *e))
            rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory", w->store->path);
    }
    return rc;
}

int bm_steps_find(struct bm_step_search *w, struct bm_error *error)
{
    struct cache c = {.bad = 0};
    size_t known = 0, listed = 0;
    struct bm_step_list dirs;
    int rc;

    w->stale = 0;
    bm_step_list_init(&c.steps, w->store->a);
    bm_step_list_init(&dirs, w->store->a);
    rc = load_cache(w, &c, error);
    if (!rc)
        rc = bm_steps_list(w->store, &dirs, error);
    if (!rc)
        rc = go_through(w, &dirs, &c.steps, &known, error);
    if (!rc && w->how & BM_FIND_SYNC && w->stale)
        rc = bm_store_sync_dir(w->store, BM_NAME_STEPS, error);
    /* That it has forgotten a step that is not there says nothing. */
    for (size_t i = 0; i < c.steps.count; i++)
        listed += c.steps.entries[i].generation.epoch != 0;
    w->stale = !c.is_unreadable && (w->stale || c.bad || known != listed);
    bm_step_list_release(&c.steps);
    bm_step_list_release(&dirs);
    return rc;
}

/* ---- what is not there any more ------------------------------------------ */

int bm_steps_gone(struct bm_store *s, const uint8_t id[16],
                  struct bm_step_list *gone, struct bm_error *error)
{
    struct bm_step_list cached, found;
    size_t bad;
    int rc, is_missing;

    bm_step_list_init(&cached, s->a);
    bm_step_list_init(&found, s->a);
    rc = bm_index_load(s, id, &cached, &bad, error);
    if (!rc)
        rc = list_dirs(s, &found, &is_missing, error);
    for (size_t i = 0; i < cached.count && !rc; i++)
        if (cached.entries[i].generation.epoch &&
            !bm_step_list_find(&found, cached.entries[i].step) &&
            bm_step_list_put(gone, cached.entries[i]))
            rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory", s->path);
    /* Who removes a step on purpose has the index forget it before: perhaps
     * just now. */
    cached.count = 0;
    if (!rc && gone->count)
        rc = bm_index_load(s, id, &cached, &bad, error);
    for (size_t i = gone->count; i-- > 0 && !rc;) {
        const struct bm_step_entry *e =
            bm_step_list_find(&cached, gone->entries[i].step);

        if (!e || !bm_step_entry_is_same(e, &gone->entries[i]))
            memmove(gone->entries + i, gone->entries + i + 1,
                    (--gone->count - i) * sizeof(*gone->entries));
    }
    bm_step_list_release(&cached);
    bm_step_list_release(&found);
    return rc;
}

int bm_steps_write_index(struct bm_store *s, const uint8_t id[16],
                         const struct bm_step_list *list,
                         int (*note)(void *context, const char *text),
                         void *context, struct bm_error *error)
{
    struct bm_step_list gone;
    int rc;

    bm_step_list_init(&gone, s->a);
    rc = bm_steps_gone(s, id, &gone, error);
    for (size_t i = 0; i < gone.count && !rc; i++) {
        struct bm_lost_step lost = {.entry = gone.entries[i]};
        char text[160];

        rc = bm_losses_save(s, id, &lost, error);
        snprintf(text, sizeof(text),
                 "step %" PRIu64 " was committed, but nothing is left of it; "
                 "the loss is on record (see `bouma verify`)",
                 lost.entry.step);
        if (!rc && note && note(context, text))
            rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory", s->path);
    }
    if (!rc)
        rc = bm_index_rebuild(s, id, list, error);
    bm_step_list_release(&gone);
    return rc;
}
