/* repair.c -- mends what can be mended; what is in the way is moved to lost/.
 * Every step that becomes visible by it has been checked to the last byte
 * before. Without 'apply' it only tells what it would do. Removed are only
 *   - the files of an earlier writing of a step that is whole,
 *   - the record of a loss that is over, and the old index, when written anew,
 *   - the empty directory of a step whose loss is on record,
 *   - its own temporary files. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/repair.h"
#include "dataset/local_copy.h"
#include "dataset/sweep.h"
#include "store/envelope.h"
#include "store/identity.h"

/* ---- the dataset's own file --------------------------------------------- */

struct id_search {
    struct bm_repair *r;
    int found;
};

static int load_front(struct bm_repair *r, struct bm_buffer *b,
                      struct bm_envelope *e, uint64_t *bytes, const char *name,
                      struct bm_error *why);

/* The step whose files are looked at. */
struct head_search {
    struct id_search *ids;
    uint64_t step;
};

/* Take the id from a subfile whose head at the front is whole. */
static int search_head(void *context, const char *entry)
{
    struct head_search *search = context;
    struct bm_repair *r = search->ids->r;
    struct bm_error ignored = {0};
    struct bm_generation g;
    struct bm_envelope e;
    struct bm_cursor body;
    struct bm_buffer b;
    char name[BM_NAME_BYTES];
    uint32_t subfile;
    uint64_t bytes;

    if (!bm_name_parse_subfile(entry, &subfile, &g))
        return 0;
    bm_name_subfile(name, search->step, subfile, g);
    bm_buffer_init(&b, r->ds.a);
    if (!load_front(r, &b, &e, &bytes, name, &ignored) &&
        !bm_envelope_open(&e, &body, b.data, b.size, BM_KIND_HEAD, NULL, name,
                          &ignored)) {
        memcpy(r->ds.id, e.id, 16);
        search->ids->found = 1;
    }
    bm_buffer_release(&b);
    return search->ids->found ? ECANCELED : 0;
}

/* If there is no manifest that could tell. */
static int search_heads(void *context, const char *entry)
{
    struct head_search search = {context, 0};
    struct bm_error ignored = {0};
    char dir[BM_NAME_BYTES];

    if (search.ids->found || !bm_name_parse_step(entry, &search.step))
        return 0;
    bm_name_step(dir, search.step);
    bm_store_list(&search.ids->r->ds.store, dir, search_head, &search,
                  &ignored);
    return 0;
}

/* Take the id from the first manifest that is whole. */
static int search_id(void *context, const char *entry)
{
    struct id_search *search = context;
    struct bm_store *s = &search->r->ds.store;
    struct bm_error ignored = {0};
    struct bm_envelope e;
    struct bm_cursor body;
    struct bm_buffer b;
    char name[BM_NAME_BYTES];
    uint64_t step;

    if (search->found || !bm_name_parse_step(entry, &step))
        return 0;
    bm_name_manifest(name, step);
    bm_buffer_init(&b, s->a);
    if (!bm_store_load(s, name, &b, s->memory_limit, &ignored) &&
        !bm_envelope_open(&e, &body, b.data, b.size, BM_KIND_MANIFEST, NULL,
                          name, &ignored)) {
        memcpy(search->r->ds.id, e.id, 16);
        search->found = 1;
    }
    bm_buffer_release(&b);
    return 0;
}

/* Find the identity; 'anew' if its file is to be written. */
static int find_identity(struct bm_repair *r, int *anew)
{
    struct bm_store *s = &r->ds.store;
    struct id_search search = {r, 0};
    struct bm_error why = {0}, ignored = {0};
    int rc = bm_identity_load(s, r->ds.id, &r->ds.major, &r->ds.minor, &why);

    if (rc != BOUMA_EFORMAT)
        return rc ? bm_fail(r->error, rc, "%s", why.text) : BOUMA_OK;
    rc = bm_store_list(s, BM_NAME_STEPS, search_id, &search, &ignored);
    if (!rc && !search.found)
        rc = bm_store_list(s, BM_NAME_STEPS, search_heads, &search, &ignored);
    if (rc && rc != BOUMA_ENOTFOUND)
        return bm_fail(r->error, rc, "%s", ignored.text);
    rc = BOUMA_OK;
    if (!search.found)
        return bm_fail(
            r->error, BOUMA_EFORMAT,
            "%s: its file DATASET is %s, and no manifest or subfile is left "
            "that tells which dataset it was; nothing of it can be "
            "repaired",
            s->path,
            bm_store_is_absent(s, BM_NAME_DATASET) ? "gone" : "damaged");
    *anew = 1;
    return BOUMA_OK;
}

/* Once the dataset is claimed: it may have been written anew till then, or have
 * made way for another. */
static int repair_identity(struct bm_repair *r, int anew)
{
    struct bm_store *s = &r->ds.store;
    struct bm_error why = {0};
    int rc;

    if (!r->apply && !anew)
        return BOUMA_OK;
    rc = bm_identity_load(s, r->ds.id, &r->ds.major, &r->ds.minor, &why);
    if (rc != BOUMA_EFORMAT || !anew)
        return rc ? bm_fail(r->error, rc, "%s", why.text) : BOUMA_OK;
    rc = BOUMA_OK;
    if (!bm_repair_act(r, -1, BM_NAME_DATASET,
                       "written anew, with the identity found in the steps"))
        return BOUMA_OK;
    if (!bm_store_is_absent(s, BM_NAME_DATASET))
        rc = bm_repair_move_away(r, BM_NAME_DATASET);
    return rc ? rc : bm_identity_create(s, r->ds.id, r->error);
}

/* ---- a step that is not published --------------------------------------- */

/* A step in memory, for the checks; its manifest is filled by the caller. */
static void step_init(struct bm_repair *r, struct bouma_step *step)
{
    memset(step, 0, sizeof(*step));
    step->ds = &r->ds;
    bm_schema_init(&step->schema, r->ds.a, r->error);
    bm_manifest_init(&step->manifest, r->ds.a, &step->schema, r->error);
}

static void step_release(struct bouma_step *step)
{
    bm_manifest_release(&step->manifest);
    bm_schema_release(&step->schema);
}

/* Whether every byte that the manifest promises is there: EFORMAT if not, or
 * what kept us from finding out, with a message. */
static int check_whole(struct bm_repair *r, struct bouma_step *step)
{
    struct bm_check how = {.depth = BOUMA_VERIFY_DEEP};
    bouma_verify_report report;
    struct bm_findings found;
    int rc = BOUMA_OK;

    memset(&report, 0, sizeof(report));
    bm_findings_init(&found, step->ds->a);
    for (size_t i = 0; i < step->manifest.count && !rc; i++) {
        rc = bm_check_subfile(step, i, &how, &found, &report);
        if (!rc)
            rc = found.failure;
        if (rc)
            bm_fail(r->error, rc,
                    "step %" PRIu64 " could not be checked, so nothing is done "
                    "to it: %s",
                    step->manifest.step, bouma_status_text(rc));
        else if (found.damages)
            rc = BOUMA_EFORMAT;
    }
    bm_findings_release(&found);
    return rc;
}

/* Make the files of a step durable: its writer may have been killed before. */
static int sync_files(struct bm_repair *r, const struct bouma_step *step)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < step->manifest.count && !rc; i++) {
        char name[BM_NAME_BYTES];
        struct bm_file f;
        int closed;

        bm_name_subfile(name, step->manifest.step, (uint32_t)i,
                        step->manifest.generation);
        rc = bm_file_open(&f, &r->ds.store, name, BOUMA_OPEN_READ, r->error);
        if (rc)
            break;
        rc = bm_file_sync(&f, r->error);
        closed = bm_file_close(&f, r->error);
        rc = rc ? rc : closed;
    }
    return rc;
}

/* Publish the manifest under 'from' for a step that is whole. */
static int publish(struct bm_repair *r, const struct bouma_step *step,
                   const char *from)
{
    struct bm_step_entry entry = {step->manifest.step, step->manifest.time,
                                  step->manifest.generation};
    char dir[BM_NAME_BYTES], to[BM_NAME_BYTES];
    struct bm_store *s = &r->ds.store;
    struct bm_file f;
    int rc, closed;

    bm_name_step(dir, entry.step);
    bm_name_manifest(to, entry.step);
    rc = sync_files(r, step);
    if (!rc)
        rc = bm_file_open(&f, s, from, BOUMA_OPEN_READ, r->error);
    if (rc)
        return rc;
    rc = bm_file_sync(&f, r->error);
    closed = bm_file_close(&f, r->error);
    rc = rc ? rc : closed;
    if (!rc)
        rc = bm_store_sync_dir(s, dir, r->error);
    if (!rc)
        rc = bm_repair_check_claim(r);
    if (!rc)
        rc = bm_index_forget(s, r->ds.id, entry.step, r->error);
    if (!rc)
        rc = bm_store_publish(s, from, to, 0, r->error);
    if (!rc)
        rc = bm_store_sync_dir(s, dir, r->error);
    if (!rc)
        rc = bm_store_sync_dir(s, BM_NAME_STEPS, r->error);
    if (!rc)
        bm_index_append(s, r->ds.id, &entry);
    return rc;
}

/* What is in the directory of a step. */
struct contents {
    struct bm_generation manifest, subfiles; /* the latest ones */
    int manifests;
    uint64_t subfile_count;
    int any, movable; /* entries; and some that are moved to lost/ */
    int arrives;      /* a drain has not brought all of its files yet */
};

static int look(void *context, const char *entry)
{
    struct contents *c = context;
    char name[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t subfile, epoch;

    c->any = 1;
    c->arrives |= bm_name_is_copy(entry, &g);
    c->movable |=
        bm_name_written(name, 0, entry) || bm_name_parse_mended(entry, &epoch);
    if (bm_name_parse_manifest_new(entry, &g)) {
        if (!c->manifests++ || bm_generation_is_later(g, c->manifest))
            c->manifest = g;
    } else if (bm_name_parse_subfile(entry, &subfile, &g)) {
        if (!c->subfile_count++ || bm_generation_is_later(g, c->subfiles))
            c->subfiles = g;
    }
    return 0;
}

/* The manifest that its writer left unpublished: published if the step is
 * whole; EFORMAT if it is of no use. */
static int use_written_manifest(struct bm_repair *r, uint64_t number,
                                struct bm_generation g, int damaged)
{
    struct bm_error why = {0};
    struct bouma_step step;
    char name[BM_NAME_BYTES], old[BM_NAME_BYTES];
    int rc;

    bm_name_manifest_new(name, number, g);
    bm_name_manifest(old, number);
    step_init(r, &step);
    rc = bm_manifest_load(&step.manifest, &r->ds.store, number, name, r->ds.id,
                          &why);
    if (rc)
        rc = bm_is_damage(rc) ? BOUMA_EFORMAT
                              : bm_fail(r->error, rc, "%s", why.text);
    else
        rc = check_whole(r, &step);
    if (!rc && bm_repair_act(r, (int64_t)number, name,
                             "the step is whole, its manifest published")) {
        rc = damaged ? bm_repair_move_away(r, old) : BOUMA_OK;
        if (!rc)
            rc = publish(r, &step, name);
    }
    step_release(&step);
    return rc;
}

/* The bytes of the head at the front of a file of *bytes, and no more. EFORMAT
 * if there is none. */
static int load_front(struct bm_repair *r, struct bm_buffer *b,
                      struct bm_envelope *e, uint64_t *bytes, const char *name,
                      struct bm_error *why)
{
    struct bm_error ignored = {0};
    struct bm_file f;
    int rc = bm_file_open(&f, &r->ds.store, name, BOUMA_OPEN_READ, why);

    if (rc)
        return rc;
    rc = bm_file_size(&f, bytes, why);
    if (!rc && !bm_buffer_extend(b, BM_ENVELOPE_BYTES))
        rc = BOUMA_ENOMEM;
    if (!rc)
        rc = bm_file_read(&f, b->data, b->size, 0, why);
    if (!rc)
        rc = bm_envelope_peek(e, b->data, b->size, BM_KIND_HEAD, name, why);
    /* Perhaps it is just the version that is damaged: decoding tells. */
    if (!rc || rc == BOUMA_EVERSION) {
        bm_error_clear(why);
        rc = e->body_bytes > *bytes - BM_ENVELOPE_BYTES ? BOUMA_EFORMAT
             : e->body_bytes > r->ds.store.memory_limit
                 ? bm_fail(why, BOUMA_ELIMIT,
                           "%s: its head has %" PRIu64 " bytes, more than the "
                           "option 'memory_limit' allows",
                           name, e->body_bytes + BM_ENVELOPE_BYTES)
             : !bm_buffer_extend(b, (size_t)e->body_bytes)
                 ? BOUMA_ENOMEM
                 : bm_file_read(&f, b->data + BM_ENVELOPE_BYTES,
                                (size_t)e->body_bytes, BM_ENVELOPE_BYTES, why);
    }
    bm_file_close(&f, &ignored); /* only read from */
    return rc;
}

/* Load the head of a subfile. With 'schema' it must describe that; else it
 * fills 'own'. Any damage is EFORMAT. */
static int load_head(struct bm_repair *r, struct bm_head *head,
                     uint8_t hash[16], const struct bm_schema *schema,
                     struct bm_schema *own, const char *name)
{
    struct bm_error why = {0};
    struct bm_envelope e;
    struct bm_buffer b;
    uint64_t bytes = 0;
    int rc;

    bm_buffer_init(&b, r->ds.a);
    bm_head_init(head, r->ds.a);
    rc = load_front(r, &b, &e, &bytes, name, &why);
    if (!rc) {
        struct bm_head_bytes from = {b.data, b.size, bytes, r->ds.id, name};

        rc = bm_head_decode(head, schema, own, &from, &why);
        memcpy(hash, e.hash, 16);
        /* A manifest that is made of it would lack what it has more. */
        if (!rc && bm_envelope_is_newer(&e))
            rc = bm_envelope_fail(&e, name, &why, "");
    }
    bm_buffer_release(&b);
    if (rc && !bm_is_damage(rc))
        return bm_fail(r->error, rc, "%s",
                       why.text[0] ? why.text : "no memory to repair");
    return rc ? BOUMA_EFORMAT : BOUMA_OK;
}

/* A manifest made from the heads of all subfiles of one generation. */
static int manifest_from_heads(struct bm_repair *r, struct bouma_step *step,
                               uint64_t number, struct bm_generation g)
{
    struct bm_manifest *m = &step->manifest;
    size_t count = 1;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < count && !rc; i++) {
        char name[BM_NAME_BYTES];
        struct bm_head head;
        uint8_t hash[16];

        bm_name_subfile(name, number, (uint32_t)i, g);
        rc = load_head(r, &head, hash, i ? &step->schema : NULL,
                       i ? NULL : &step->schema, name);
        if (!rc && i == 0) {
            count = head.subfiles;
            m->step = number;
            m->time = head.time;
            m->generation = g;
            m->order = head.order;
            rc = bm_manifest_set_subfiles(m, count);
        }
        if (!rc &&
            (head.step != number || head.subfile != i ||
             head.subfiles != count || head.generation.epoch != g.epoch ||
             head.generation.attempt != g.attempt))
            rc = BOUMA_EFORMAT;
        if (!rc)
            rc = bm_subfile_info_of(&m->subfiles[i], &head, hash, r->ds.a);
        bm_head_release(&head);
    }
    if (rc)
        return rc;
    for (size_t i = 0; i < m->count; i++) {
        uint64_t bytes = m->subfiles[i].file_bytes;

        m->record.stored_bytes += bytes;
        if (bytes > m->record.largest_file)
            m->record.largest_file = bytes;
        for (size_t k = 0; k < m->subfiles[i].count; k++)
            m->record.chunks += (int64_t)m->subfiles[i].parts[k].chunks;
    }
    m->record.files = (int64_t)m->count;
    m->record.mean_file = m->record.stored_bytes / m->count;
    rc = bm_manifest_make_file_trees(m, NULL);
    if (!rc)
        rc = bm_manifest_total(m);
    for (uint32_t i = 0; i < step->schema.variables && !rc; i++)
        m->record.raw_bytes += step->schema.by_id[i]->raw_bytes;
    return rc;
}

static int save_manifest(struct bm_repair *r, const struct bm_manifest *m,
                         const char *name)
{
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, r->ds.a);
    bm_manifest_encode(&b, m, r->ds.id);
    rc = b.failed
             ? bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair")
             : bm_store_save(&r->ds.store, name, b.data, b.size, 1, r->error);
    bm_buffer_release(&b);
    return rc;
}

/* Make a manifest anew, if the subfiles of the step are whole; else EFORMAT. */
static int rebuild_manifest(struct bm_repair *r, uint64_t number,
                            struct bm_generation g, int damaged)
{
    const struct bm_step_entry *known = bm_step_list_find(&r->known, number);
    int committed = damaged || (known && known->generation.epoch);
    char name[BM_NAME_BYTES], old[BM_NAME_BYTES];
    struct bouma_step step;
    int rc;

    bm_name_manifest(old, number);
    /* Under the repairer's own epoch: the old name may be taken. */
    bm_name_manifest_new(name, number, (struct bm_generation){r->ds.epoch, 0});
    step_init(r, &step);
    rc = manifest_from_heads(r, &step, number, g);
    if (!rc)
        rc = check_whole(r, &step);
    if (!rc && committed && !r->apply)
        bm_repair_hopeless(r, (int64_t)number, old,
                           "attributes of the step and of the dataset, if it "
                           "had any, are lost");
    if (!rc && bm_repair_act(
                   r, (int64_t)number, old,
                   "made anew from the subfiles, which are whole (attributes "
                   "of the step and of the dataset are lost)")) {
        rc = damaged ? bm_repair_move_away(r, old) : BOUMA_OK;
        if (!rc)
            rc = save_manifest(r, &step.manifest, name);
        if (!rc) /* before anybody can see it */
            rc = bm_repair_lost_attributes(r, &step.manifest, committed);
        if (!rc)
            rc = publish(r, &step, name);
    }
    step_release(&step);
    return rc;
}

/* What killed writers left of a step. */
struct leftovers {
    struct bm_repair *r;
    uint64_t step;
    int rc;
    int manifests; /* only these */
};

static int move_leftover(void *context, const char *entry)
{
    struct leftovers *m = context;
    char dir[BM_NAME_BYTES], name[BM_NAME_BYTES];
    struct bm_generation g;
    uint32_t epoch;
    int is_mended = bm_name_parse_mended(entry, &epoch);

    if (is_mended) {
        bm_name_step(dir, m->step);
        snprintf(name, sizeof(name), "%.40s/%.80s", dir, entry);
    }
    if (m->manifests ? bm_name_parse_manifest_new(entry, &g) &&
                           bm_name_written(name, m->step, entry)
                     : is_mended || bm_name_written(name, m->step, entry))
        m->rc = bm_repair_move_away(m->r, name);
    return m->rc ? ECANCELED : 0;
}

/* A writer from which the dataset was taken by force may be about to publish
 * its manifest, and has written it by then. Once that is moved it cannot; and
 * if it was quicker, the step is whole, and all of it stays. */
static void move_leftovers(struct leftovers *m, const char *dir)
{
    struct bm_store *s = &m->r->ds.store;
    struct bm_error ignored = {0};
    char manifest[BM_NAME_BYTES];

    m->manifests = 1;
    bm_store_list(s, dir, move_leftover, m, &ignored);
    m->manifests = 0;
    bm_name_manifest(manifest, m->step);
    if (!m->rc && !bm_store_is_absent(s, manifest))
        m->rc = bm_fail(m->r->error, BOUMA_EBUSY,
                        "%s/%s: was published by another program just now; "
                        "repair the dataset again",
                        s->path, manifest);
    if (!m->rc)
        bm_store_list(s, dir, move_leftover, m, &ignored);
}

int bm_repair_move_step(struct bm_repair *r, uint64_t step)
{
    struct leftovers mover = {r, step, BOUMA_OK, 0};
    struct bm_error ignored = {0};
    char dir[BM_NAME_BYTES], manifest[BM_NAME_BYTES];

    bm_name_step(dir, step);
    bm_name_manifest(manifest, step);
    if (!bm_store_is_absent(&r->ds.store, manifest))
        mover.rc = bm_repair_move_away(r, manifest);
    if (!mover.rc)
        bm_store_list(&r->ds.store, dir, move_leftover, &mover, &ignored);
    if (!mover.rc)
        bm_store_remove_dir(&r->ds.store, dir);
    return mover.rc;
}

/* Whether a leftover is of a newer version, which may have a use for it. */
static int look_for_newer(void *context, const char *entry)
{
    struct leftovers *n = context;
    char name[BM_NAME_BYTES];
    struct bm_generation g;
    struct bm_schema own;
    struct bm_head head;
    uint32_t subfile;
    uint8_t hash[16];

    if (!bm_name_parse_subfile(entry, &subfile, &g))
        return 0;
    bm_name_subfile(name, n->step, subfile, g);
    bm_schema_init(&own, n->r->ds.a, n->r->error);
    n->rc = load_head(n->r, &head, hash, NULL, &own, name);
    bm_head_release(&head);
    bm_schema_release(&own);
    if (n->rc == BOUMA_EFORMAT)
        n->rc = BOUMA_OK;
    return n->rc ? ECANCELED : 0;
}

/* What is in the directory of a step of which nothing can be made goes to
 * lost/; of one that 'was_there' the directory goes as well. */
static int clear_away(struct bm_repair *r, uint64_t step,
                      const struct contents *c, int was_there)
{
    struct leftovers mover = {r, step, BOUMA_OK, 0};
    char dir[BM_NAME_BYTES];

    bm_name_step(dir, step);
    if (c->any && !c->movable) /* files of others */
        return BOUMA_OK;
    if (!bm_repair_act(r, (int64_t)step, dir,
                       !c->any     ? "the empty directory of the step removed"
                       : was_there ? "what is left of the step moved to lost/"
                                   : "the leftovers of a step that was never "
                                     "complete moved to lost/"))
        return BOUMA_OK;
    move_leftovers(&mover, dir);
    if (!mover.rc && was_there)
        bm_store_remove_dir(&r->ds.store, dir);
    return mover.rc;
}

/* A manifest for a step that has none that can be read; EFORMAT if there is no
 * way to one. */
static int find_manifest(struct bm_repair *r, uint64_t number,
                         const struct contents *c,
                         const struct bm_step_entry *known, int damaged)
{
    int rc = c->manifests
                 ? use_written_manifest(r, number, c->manifest, damaged)
                 : BOUMA_EFORMAT;

    if (rc == BOUMA_EFORMAT && c->subfile_count)
        rc = rebuild_manifest(r, number, c->subfiles, damaged);
    /* The latest may be what a killed writer has left, and an earlier one the
     * one that was committed. Without the index nobody can tell. */
    if (rc == BOUMA_EFORMAT && c->subfile_count && known &&
        bm_generation_is_later(c->subfiles, known->generation))
        rc = rebuild_manifest(r, number, known->generation, damaged);
    return rc;
}

/* A step without a manifest that can be read. */
static int repair_unpublished(struct bm_repair *r, uint64_t number, int damaged)
{
    struct contents c = {.any = 0};
    struct leftovers newer = {r, number, BOUMA_OK, 0};
    const struct bm_step_entry *known = bm_step_list_find(&r->known, number);
    struct bm_error ignored = {0};
    char dir[BM_NAME_BYTES];
    int rc;

    if (known && !known->generation.epoch)
        known = NULL;
    bm_name_step(dir, number);
    rc = bm_store_list(&r->ds.store, dir, look, &c, r->error);
    if (rc || (!c.manifests && !c.subfile_count && !damaged && !known))
        return rc;
    rc = find_manifest(r, number, &c, known, damaged);
    if (rc != BOUMA_EFORMAT)
        return rc;
    rc = BOUMA_OK;
    if (damaged)
        return bm_repair_lost_manifest(r, number);
    bm_store_list(&r->ds.store, dir, look_for_newer, &newer, &ignored);
    if (newer.rc)
        return newer.rc;
    if (c.subfile_count && (c.arrives || r->is_part)) {
        bm_findings_add(&r->findings, BOUMA_NOTE, (int64_t)number, dir,
                        c.arrives ? "waits for files that were not drained "
                                    "yet; left as it is"
                                  : "its manifest is missing here, and may be "
                                    "on other nodes; left as it is");
        return BOUMA_OK;
    }
    if (known)
        rc = bm_repair_lost_step(r, known);
    return rc ? rc : clear_away(r, number, &c, known != NULL);
}

/* ---- a published step --------------------------------------------------- */

/* A step that is whole needs no files of an earlier writing: a replacement that
 * was killed after its commit has left them. They are not moved to lost/: they
 * were to go. */
static void remove_older(struct bm_repair *r, const struct bm_manifest *m)
{
    struct bm_store *s = &r->ds.store;
    char dir[BM_NAME_BYTES];

    bm_name_step(dir, m->step);
    if (bm_sweep_older(s, m->step, m->generation, 0) &&
        bm_repair_act(r, (int64_t)m->step, dir,
                      "the files of an earlier writing of the step removed"))
        bm_sweep_older(s, m->step, m->generation, 1);
}

/* Attributes that are on record as lost stay so: nothing brings them back. */
static int keep_attributes(struct bm_repair *r, const struct bm_manifest *m,
                           struct bm_lost_step *now)
{
    const struct bm_lost_step *known = bm_losses_find(&r->losses, m->step);

    if (!bm_tell_attributes(known, m, &r->findings))
        return BOUMA_OK;
    r->report->hopeless += !known->accepted;
    return bm_lost_step_add_piece(now, BM_LOST_ATTRIBUTES, 0, r->ds.a)
               ? bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair")
               : BOUMA_OK;
}

/* A step with a manifest that can be read. */
static int repair_published(struct bm_repair *r, struct bouma_step *step)
{
    uint64_t unchecked = r->report->unchecked, whole = 0;
    uint64_t hopeless = r->report->hopeless;
    struct bm_lost_step now = {.files = NULL};
    size_t back;
    int is_all, rc = bm_repair_mended(r, &step->manifest, &back);

    r->elsewhere = 0;
    for (size_t i = 0; i < step->manifest.count && !rc; i++)
        if (i != back || r->apply) /* else it would be there */
            rc = bm_repair_subfile(r, step, i, &now, &whole);
    is_all = r->report->unchecked == unchecked;
    bm_tell_elsewhere(r->elsewhere, &step->manifest, &r->findings);
    /* Only of a step that is known to be whole: else an earlier writing may be
     * the only one that is. */
    if (!rc && is_all && !r->elsewhere && r->report->hopeless == hopeless &&
        bm_lost_step_is_whole(&now))
        remove_older(r, &step->manifest);
    if (!rc)
        rc = keep_attributes(r, &step->manifest, &now);
    if (!rc)
        rc = bm_repair_lost_parts(r, &step->manifest, &now, is_all, whole > 0);
    bm_lost_step_release(&now, r->ds.a);
    return rc;
}

/* Steps stand alone, and so do the files of a step. */
static int repair_step(struct bm_repair *r, uint64_t number)
{
    struct bm_error why = {0};
    struct bouma_step step;
    char name[BM_NAME_BYTES];
    int rc;

    rc = bm_repair_check_claim(r);
    if (rc)
        return rc;
    r->changing = 0;
    bm_name_manifest(name, number);
    step_init(r, &step);
    rc = bm_manifest_load(&step.manifest, &r->ds.store, number, NULL, r->ds.id,
                          &why);
    if (!rc) {
        rc = repair_published(r, &step);
    } else if (rc == BOUMA_EFORMAT && bm_store_is_no_file(&r->ds.store, name)) {
        rc = bm_repair_no_file(r, (int64_t)number, name);
        if (!rc)
            rc = repair_unpublished(r, number, 0);
    } else if (rc == BOUMA_ENOTFOUND || rc == BOUMA_EFORMAT)
        rc = repair_unpublished(r, number, rc != BOUMA_ENOTFOUND);
    else
        bm_fail(r->error, rc, "%s", why.text);
    if (rc)
        rc = bm_repair_leave(r, (int64_t)number, name, rc);
    step_release(&step);
    return rc;
}

/* ---- all ---------------------------------------------------------------- */

static int repair_index(struct bm_repair *r)
{
    struct bm_step_list found;
    int stale = 0, rc;

    bm_step_list_init(&found, r->ds.a);
    rc = bm_steps_find(&r->ds.store, r->ds.id, &found, &stale,
                       BM_FIND_EXACT + (r->apply ? BM_FIND_SETTLE : 0), NULL,
                       NULL, r->error);
    if (!rc && stale &&
        bm_repair_act(r, -1, BM_NAME_INDEX, "the index written anew"))
        rc = bm_index_rebuild(&r->ds.store, r->ds.id, &found, r->error);
    bm_step_list_release(&found);
    return rc;
}

/* Load the index, or leave it as it is if it cannot be read. */
static int load_index(struct bm_repair *r)
{
    size_t bad;
    int rc;

    if (bm_store_is_no_file(&r->ds.store, BM_NAME_INDEX)) {
        r->has_index = r->apply;
        return bm_repair_no_file(r, -1, BM_NAME_INDEX);
    }
    rc = bm_index_load(&r->ds.store, r->ds.id, &r->known, &bad, r->error);
    r->has_index = !rc;
    r->changing = 0;
    return rc ? bm_repair_leave(r, -1, BM_NAME_INDEX, rc) : BOUMA_OK;
}

/* All that are there, but for those that hold another one. */
static int repair_steps(struct bm_repair *r)
{
    struct bm_step_list steps;
    int rc;

    bm_step_list_init(&steps, r->ds.a);
    rc = bm_steps_list(&r->ds.store, &steps, r->error);
    for (size_t i = 0; i < steps.count && !rc; i++) {
        if (!bm_step_list_find(&r->strays, steps.entries[i].step))
            rc = repair_step(r, steps.entries[i].step);
        if (r->ds.options.progress)
            r->ds.options.progress(r->ds.options.progress_user, "repairing",
                                   i + 1, steps.count);
    }
    bm_step_list_release(&steps);
    return rc;
}

static int repair_all(struct bm_repair *r)
{
    uint32_t epoch = 0;
    char note[512];
    int has_steps = 0, anew = 0, rc = find_identity(r, &anew), closed;

    if (!rc)
        rc = bm_repair_epochs(r, &epoch);
    if (!rc && r->apply) {
        r->ds.epoch = epoch;
        rc = bm_epoch_claim(&r->ds.store, &r->ds.epoch, r->ds.options.force,
                            note, sizeof(note), r->error);
    }
    /* Not before the claim: another program may have dropped steps until then,
     * and what it has left of them is no loss. */
    if (!rc)
        rc = load_index(r);
    if (!rc)
        rc = repair_identity(r, anew);
    r->is_part = !rc && bm_local_copy_is_part(&r->ds.store, r->ds.id);
    if (!rc)
        rc = bm_repair_steps_dir(r, &has_steps);
    if (!rc && has_steps)
        rc = bm_repair_strays(r);
    if (!rc)
        rc = bm_repair_truncations(r);
    if (!rc)
        rc = bm_repair_losses(r);
    if (!rc && has_steps)
        rc = repair_steps(r);
    if (!rc && r->has_index && has_steps)
        rc = repair_index(r);
    if (!rc)
        rc = bm_repair_check_claim(r);
    if (r->ds.epoch) {
        closed = bm_epoch_close(&r->ds.store, r->ds.epoch, r->error);
        rc = rc ? rc : closed;
    }
    return rc;
}

int bm_repair_init(struct bm_repair *r, const char *path, int apply,
                   const bouma_options *options, const bouma_allocator *a,
                   bouma_repair_report *report, struct bm_error *error)
{
    int rc;

    memset(r, 0, sizeof(*r));
    memset(report, 0, sizeof(*report));
    r->apply = apply;
    r->report = report;
    r->error = error;
    r->ds.a = a;
    r->ds.options = *options;
    bm_findings_init(&r->findings, a);
    bm_losses_init(&r->records, a);
    bm_losses_init(&r->losses, a);
    bm_step_list_init(&r->known, a);
    bm_step_list_init(&r->strays, a);
    bm_step_list_init(&r->returned, a);
    rc = bm_store_open(&r->ds.store, options->io, a, path, 0, error);
    if (!rc)
        r->ds.store.memory_limit = options->memory_limit;
    return rc;
}

int bm_repair_finish(struct bm_repair *r, int rc,
                     void (*each)(void *user, const bouma_finding *f),
                     void *user)
{
    if (!rc && r->findings.bytes.failed)
        rc = bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    bm_findings_each(&r->findings.bytes, r->ds.a, each, user);
    bm_store_close(&r->ds.store);
    bm_losses_release(&r->records);
    bm_losses_release(&r->losses);
    bm_step_list_release(&r->known);
    bm_step_list_release(&r->strays);
    bm_step_list_release(&r->returned);
    bm_findings_release(&r->findings);
    return rc;
}

int bm_repair(const char *path, int apply, const bouma_options *options,
              const bouma_allocator *a,
              void (*each)(void *user, const bouma_finding *f), void *user,
              bouma_repair_report *report, struct bm_error *error)
{
    struct bm_repair r;
    int rc = bm_repair_init(&r, path, apply, options, a, report, error);

    if (!rc)
        rc = repair_all(&r);
    return bm_repair_finish(&r, rc, each, user);
}
