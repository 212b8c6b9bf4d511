/* steps.c -- which steps are committed. The directories have the last word;
 * the index spares opening the manifests that it knows. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dataset/dataset.h"
#include "store/envelope.h"
#include "store/losses.h"

int bm_manifest_load(struct bm_manifest *m, struct bm_store *s, uint64_t step,
                     const char *name, const uint8_t *id,
                     struct bm_error *error)
{
    char usual[BM_NAME_BYTES], full[1200];
    struct bm_buffer b;
    int rc;

    if (!name) {
        bm_name_manifest(usual, step);
        name = usual;
    }
    snprintf(full, sizeof(full), "%s/%s", s->path, name);
    bm_buffer_init(&b, s->a);
    rc = bm_store_load(s, name, &b, s->memory_limit, error);
    if (!rc)
        rc = bm_manifest_decode(m, b.data, b.size, id, full, error);
    if (!rc && m->step != step)
        rc = bm_fail(error, BOUMA_EFORMAT,
                     "%s: holds the manifest of step %" PRIu64
                     ", not of step %" PRIu64 "; move it back or away",
                     full, m->step, step);
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

    return !rc && is_missing
               ? bm_fail(error, BOUMA_EFORMAT,
                         "%s/" BM_NAME_STEPS ": is missing, and with it all "
                         "steps; `bouma repair` makes it anew, without them, "
                         "for steps that are written from then on",
                         s->path)
               : rc;
}

struct leftovers {
    uint64_t subfiles, manifests, copies;
    struct bm_generation latest; /* of the subfiles */
    uint64_t of_latest;          /* how many are of that */
};

static int count_leftover(void *context, const char *entry)
{
    struct leftovers *l = context;
    struct bm_generation g;
    uint32_t subfile;

    l->manifests += (uint64_t)bm_name_parse_manifest_new(entry, &g);
    l->copies += (uint64_t)bm_name_is_copy(entry, &g);
    if (!bm_name_parse_subfile(entry, &subfile, &g))
        return 0;
    if (!l->subfiles++ || bm_generation_is_later(g, l->latest)) {
        l->latest = g;
        l->of_latest = 0;
    }
    l->of_latest +=
        g.epoch == l->latest.epoch && g.attempt == l->latest.attempt;
    return 0;
}

/* Whether all subfiles of a writing seem to be there: one of them has both
 * heads, and there are as many as it says. Cheap, as it is asked for whenever a
 * dataset is opened. */
static int looks_whole(struct bm_store *s, uint64_t step,
                       const struct leftovers *l)
{
    uint8_t front[BM_ENVELOPE_BYTES + 24], back[BM_ENVELOPE_BYTES];
    struct bm_error ignored = {0};
    char name[BM_NAME_BYTES];
    struct bm_envelope e;
    uint64_t bytes = 0;
    struct bm_file f;
    int whole;

    bm_name_subfile(name, step, 0, l->latest);
    if (!l->subfiles || bm_file_open(&f, s, name, BOUMA_OPEN_READ, &ignored))
        return 0;
    whole = !bm_file_size(&f, &bytes, &ignored) && bytes >= sizeof(front) &&
            !bm_file_read(&f, front, sizeof(front), 0, &ignored) &&
            !bm_envelope_peek(&e, front, BM_ENVELOPE_BYTES, BM_KIND_HEAD, name,
                              &ignored) &&
            e.body_bytes <= bytes - BM_ENVELOPE_BYTES &&
            !bm_file_read(&f, back, sizeof(back),
                          bytes - BM_ENVELOPE_BYTES - e.body_bytes, &ignored);
    bm_file_close(&f, &ignored);
    return whole && !memcmp(front, back, sizeof(back)) &&
           bm_load_u64(front + BM_ENVELOPE_BYTES) == step &&
           bm_load_u32(front + BM_ENVELOPE_BYTES + 20) == l->of_latest;
}

/* A remark about a directory without a manifest. */
static int note_incomplete(struct bm_store *s, uint64_t step,
                           int (*note)(void *, const char *), void *context)
{
    struct bm_error ignored = {0};
    struct leftovers l = {.subfiles = 0};
    char name[BM_NAME_BYTES], text[256];

    bm_name_step(name, step);
    if (bm_store_list(s, name, count_leftover, &l, &ignored))
        return BOUMA_OK;
    if (l.manifests)
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
    else if (looks_whole(s, step, &l))
        snprintf(text, sizeof(text),
                 "step %" PRIu64 " has no manifest, ignored; its files seem to "
                 "be all there (%" PRIu64 "): `bouma repair` checks them, and "
                 "makes the manifest anew",
                 step, l.subfiles);
    else
        snprintf(text, sizeof(text),
                 "step %" PRIu64 " is incomplete (%" PRIu64
                 " file%s, no manifest), ignored",
                 step, l.subfiles, l.subfiles == 1 ? "" : "s");
    return note(context, text);
}

/* How bm_steps_find() goes about it. */
struct search {
    struct bm_store *s;
    const uint8_t *id;
    struct bm_step_list *out;
    int stale, how;
    int (*note)(void *context, const char *text);
    void *context;
    struct bm_error *error;
};

/* Make a step durable that its writer may not have. */
static int settle_step(struct search *w, uint64_t step, struct bm_error *why)
{
    char dir[BM_NAME_BYTES];

    bm_name_step(dir, step);
    return bm_store_sync_dir(w->s, dir, why);
}

/* Look at the manifest of a step of which the index says 'cached', which may
 * be NULL. */
static int probe(struct search *w, uint64_t step,
                 const struct bm_step_entry *cached)
{
    struct bm_step_entry entry = {step, 0, {0, 0}};
    int is_known = cached && cached->generation.epoch;
    struct bm_error why = {0};
    struct bm_schema schema;
    struct bm_manifest m;
    int rc;

    bm_schema_init(&schema, w->s->a, &why);
    bm_manifest_init(&m, w->s->a, &schema, &why);
    rc = bm_manifest_load(&m, w->s, step, NULL, w->id, &why);
    if (!rc) {
        entry.time = m.time;
        entry.generation = m.generation;
        if (!cached || !bm_step_entry_is_same(cached, &entry)) {
            w->stale = 1;
            rc =
                w->how & BM_FIND_SETTLE ? settle_step(w, step, &why) : BOUMA_OK;
        }
        if (!rc)
            rc = bm_step_list_put(w->out, entry);
    } else if (rc == BOUMA_ENOTFOUND && !is_known) {
        bm_error_clear(&why);
        rc = w->note ? note_incomplete(w->s, step, w->note, w->context)
                     : BOUMA_OK;
    } else if (rc == BOUMA_ENOTFOUND || rc == BOUMA_EFORMAT ||
               rc == BOUMA_EVERSION || rc == BOUMA_ELIMIT || rc == BOUMA_EIO) {
        /* Not one to read, but one to know about: it is listed, and opening
         * it tells what is wrong. If the device has failed, it may be one that
         * can be read next time. */
        int settles = rc == BOUMA_EIO && !is_known && w->how & BM_FIND_SETTLE;
        struct bm_error failed = {0};

        w->stale |= rc == BOUMA_EIO && !is_known;
        rc = settles ? settle_step(w, step, &failed) : BOUMA_OK;
        if (!rc)
            rc = bm_step_list_put(w->out, is_known ? *cached : entry);
        if (!rc && w->note)
            rc = w->note(w->context, why.text);
        why = failed; /* and not what was noted */
    }
    if (rc)
        bm_fail(w->error, rc, "%s", why.text[0] ? why.text : "no memory");
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    return rc;
}

int bm_steps_find(struct bm_store *s, const uint8_t id[16],
                  struct bm_step_list *out, int *stale, int how,
                  int (*note)(void *context, const char *text), void *context,
                  struct bm_error *error)
{
    struct search w = {s, id, out, 0, how, note, context, error};
    struct bm_step_list cached, found;
    struct bm_error why = {0};
    size_t bad = 0, known = 0, listed = 0, at = 0;
    int rc, is_unreadable;

    bm_step_list_init(&cached, s->a);
    bm_step_list_init(&found, s->a);
    rc = bm_index_load(s, id, &cached, &bad, &why);
    is_unreadable = rc && rc != BOUMA_ENOMEM; /* the directories will tell */
    if (rc && !is_unreadable)
        bm_fail(error, rc, "%s", why.text);
    else if (is_unreadable && note && note(context, why.text))
        rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory", s->path);
    else
        rc = BOUMA_OK;
    if (!rc)
        rc = bm_steps_list(s, &found, error);
    for (size_t i = 0; i < found.count && !rc; i++) {
        uint64_t step = found.entries[i].step;
        const struct bm_step_entry *e = bm_step_list_next(&cached, &at, step);

        known += e && e->generation.epoch;
        if (!e || !e->generation.epoch || how & BM_FIND_EXACT)
            rc = probe(&w, step, e);
        else if (bm_step_list_put(out, *e))
            rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory", s->path);
    }
    if (!rc && how & BM_FIND_SETTLE && w.stale)
        rc = bm_store_sync_dir(s, BM_NAME_STEPS, error);
    /* That it has forgotten a step that is not there says nothing. */
    for (size_t i = 0; i < cached.count; i++)
        listed += cached.entries[i].generation.epoch != 0;
    *stale = !is_unreadable && (w.stale || bad || known != listed);
    bm_step_list_release(&cached);
    bm_step_list_release(&found);
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
