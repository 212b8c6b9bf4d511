/* steps.c -- which steps are committed. The directories have the last word;
 * the index spares opening the manifests that it knows. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "dataset/dataset.h"

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
                     "%s: is the manifest of step %" PRIu64, full, m->step);
    bm_buffer_release(&b);
    return rc;
}

struct found_steps {
    struct bm_step_list list; /* numbers only */
};

static int collect_step(void *context, const char *entry)
{
    struct found_steps *found = context;
    struct bm_step_entry e = {0, 0, {0, 0}};

    if (bm_name_parse_step(entry, &e.step) && bm_step_list_put(&found->list, e))
        return ENOMEM;
    return 0;
}

struct leftovers {
    uint64_t subfiles, manifests;
};

static int count_leftover(void *context, const char *entry)
{
    struct leftovers *l = context;
    struct bm_generation g;
    uint32_t subfile;

    l->subfiles += (uint64_t)bm_name_parse_subfile(entry, &subfile, &g);
    l->manifests += (uint64_t)bm_name_parse_manifest_new(entry, &g);
    return 0;
}

/* A remark about a directory without a manifest. */
static int note_incomplete(struct bm_store *s, uint64_t step,
                           int (*note)(void *, const char *), void *context)
{
    struct bm_error ignored = {0};
    struct leftovers l = {0, 0};
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
    else
        snprintf(text, sizeof(text),
                 "step %" PRIu64 " is incomplete (%" PRIu64
                 " files, no manifest), ignored",
                 step, l.subfiles);
    return note(context, text);
}

/* A step that the index does not know: look at its manifest. */
static int probe(struct bm_store *s, const uint8_t id[16], uint64_t step,
                 struct bm_step_list *out, int *stale,
                 int (*note)(void *, const char *), void *context,
                 struct bm_error *error)
{
    struct bm_error why = {0};
    struct bm_schema schema;
    struct bm_manifest m;
    int rc;

    bm_schema_init(&schema, s->a, &why);
    bm_manifest_init(&m, s->a, &schema, &why);
    rc = bm_manifest_load(&m, s, step, NULL, id, &why);
    if (!rc) {
        *stale = 1;
        rc = bm_step_list_put(
            out, (struct bm_step_entry){step, m.time, m.generation});
    } else if (rc == BOUMA_ENOTFOUND) {
        rc = note ? note_incomplete(s, step, note, context) : BOUMA_OK;
    } else if (rc == BOUMA_EFORMAT || rc == BOUMA_EVERSION ||
               rc == BOUMA_ELIMIT) {
        /* Not one to read, but one to know about: it is listed, and opening
         * it tells what is wrong. */
        rc = bm_step_list_put(out, (struct bm_step_entry){step, 0, {0, 0}});
        if (!rc && note)
            rc = note(context, why.text);
    }
    if (rc)
        bm_fail(error, rc, "%s", why.text[0] ? why.text : "no memory");
    bm_manifest_release(&m);
    bm_schema_release(&schema);
    return rc;
}

int bm_steps_find(struct bm_store *s, const uint8_t id[16],
                  struct bm_step_list *out, int *stale,
                  int (*note)(void *context, const char *text), void *context,
                  struct bm_error *error)
{
    struct bm_step_list cached;
    struct found_steps found;
    size_t bad = 0, known = 0;
    int rc;

    bm_step_list_init(&cached, s->a);
    bm_step_list_init(&found.list, s->a);
    rc = bm_index_load(s, id, &cached, &bad, error);
    if (!rc)
        rc = bm_store_list(s, BM_NAME_STEPS, collect_step, &found, error);
    for (size_t i = 0; i < found.list.count && !rc; i++) {
        uint64_t step = found.list.entries[i].step;
        const struct bm_step_entry *e = bm_step_list_find(&cached, step);

        if (e && e->generation.epoch) {
            known++;
            if (bm_step_list_put(out, *e))
                rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory", s->path);
        } else {
            rc = probe(s, id, step, out, stale, note, context, error);
        }
    }
    if (bad || known != cached.count)
        *stale = 1;
    bm_step_list_release(&cached);
    bm_step_list_release(&found.list);
    return rc;
}
