/* repair_manifest.c -- a manifest for a step that has none: the one that its
 * writer left unpublished, or one made anew from the heads of its subfiles. It
 * is published only if every byte of the step is there. */
#include <inttypes.h>
#include <string.h>

#include "check/repair.h"
#include "layout/front.h"
#include "layout/sheet.h"
#include "layout/writings.h"

void bm_repair_step_init(struct bm_repair *r, struct bouma_step *step)
{
    memset(step, 0, sizeof(*step));
    step->ds = &r->ds;
    bm_schema_init(&step->schema, r->ds.a, r->error);
    bm_manifest_init(&step->manifest, r->ds.a, &step->schema, r->error);
}

void bm_repair_step_release(struct bouma_step *step)
{
    bm_manifest_release(&step->manifest);
    bm_schema_release(&step->schema);
}

/* Whether every byte that the manifest promises is there: EFORMAT if not, or
 * what kept us from finding out, with a message. */
static int check_whole(struct bm_repair *r, struct bouma_step *step,
                       struct bm_repair_files *files)
{
    struct bm_check how = {.depth = BOUMA_DEPTH_DEEP};
    bouma_verify_report report;
    struct bm_findings found;
    int rc = BOUMA_OK;

    memset(&report, 0, sizeof(report));
    bm_findings_init(&found, step->ds->a);
    for (size_t i = 0; i < bm_manifest_files(&step->manifest) && !rc; i++) {
        rc = bm_repair_files_to(files, i);
        if (rc) /* which was told */
            break;
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
    bm_sheet_walk_end(&files->walk);
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
    /* Its writer may have been killed before that. */
    rc = bm_commit_sync_files(s, &step->manifest,
                              bm_manifest_files(&step->manifest), r->error);
    if (!rc)
        rc = bm_file_open(&f, s, from, BOUMA_OPEN_MODE_READ, r->error);
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

int bm_repair_publish_written(struct bm_repair *r, uint64_t number,
                              struct bm_generation g, int damaged)
{
    struct bm_error why = {0};
    struct bm_repair_files files;
    struct bouma_step step;
    char name[BM_NAME_BYTES], old[BM_NAME_BYTES];
    int rc;

    bm_name_manifest_new(name, number, g);
    bm_name_manifest(old, number);
    bm_repair_step_init(r, &step);
    bm_repair_files_init(&files, r, &step.manifest, name);
    rc = bm_manifest_load_front(&step.manifest, &r->ds.store, number, name,
                                r->ds.id, &why);
    if (!rc)
        rc = bm_repair_files_check(&files, &why);
    if (rc)
        rc = bm_is_damage(rc) ? BOUMA_EFORMAT
                              : bm_fail(r->error, rc, "%s", why.text);
    else
        rc = check_whole(r, &step, &files);
    if (!rc && bm_repair_act(r, (int64_t)number, name,
                             "the step is whole, its manifest published")) {
        rc = damaged ? bm_repair_move_away(r, old) : BOUMA_OK;
        if (!rc)
            rc = publish(r, &step, name);
    }
    bm_repair_step_release(&step);
    return rc;
}

int bm_repair_load_front(struct bm_repair *r, struct bm_buffer *b,
                         struct bm_envelope *e, uint64_t *bytes,
                         const char *name, struct bm_error *why)
{
    struct bm_error ignored = {0};
    struct bm_file f;
    struct bm_first_head first;
    int rc = bm_file_open(&f, &r->ds.store, name, BOUMA_OPEN_MODE_READ, why);

    if (rc)
        return rc;
    rc = bm_file_size(&f, bytes, why);
    if (!rc)
        rc = bm_front_find_head(&first, &f, *bytes, name, why);
    if (!rc || rc == BOUMA_EVERSION)
        *e = first.envelope;
    /* Perhaps it is just the version that is damaged: decoding tells. */
    if (!rc || rc == BOUMA_EVERSION) {
        bm_error_clear(why);
        rc = e->body_bytes > *bytes - BM_ENVELOPE_BYTES ? BOUMA_EFORMAT
             : e->body_bytes > r->ds.store.memory_limit
                 ? bm_fail(why, BOUMA_ELIMIT,
                           "%s: its head has %" PRIu64 " bytes, more than the "
                           "option 'memory_limit' allows",
                           name, e->body_bytes + BM_ENVELOPE_BYTES)
             : !bm_buffer_extend(b, BM_ENVELOPE_BYTES + (size_t)e->body_bytes)
                 ? BOUMA_ENOMEM
                 : bm_file_read(&f, b->data, b->size, first.offset, why);
    }
    bm_file_close(&f, &ignored); /* only read from */
    return rc;
}

int bm_repair_peek_head(struct bm_repair *r, const char *name,
                        struct bm_repair_front *out)
{
    struct bm_error ignored = {0};
    struct bm_envelope e;
    struct bm_cursor c;
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, r->ds.a);
    rc = bm_repair_load_front(r, &b, &e, &out->bytes, name, &ignored);
    if (!rc)
        rc = bm_envelope_open(&e, &c,
                              &(struct bm_metadata){b.data, b.size, NULL, name},
                              BM_KIND_HEAD, &ignored);
    if (!rc) {
        memcpy(out->id, e.id, 16);
        out->step = bm_get_u64(&c);
        bm_get_f64(&c); /* its time */
        bm_get_u64(&c); /* its number, and how many there are */
        out->generation.epoch = bm_get_u32(&c);
        out->generation.attempt = bm_get_u32(&c);
        rc = c.failed || out->step > INT64_MAX ? BOUMA_EFORMAT : BOUMA_OK;
    }
    bm_buffer_release(&b);
    return rc && bm_is_damage(rc) ? BOUMA_EFORMAT : rc;
}

/* Whose head it is: see bm_repair_load_head(). */
struct head_of {
    const struct bm_schema *schema;
    struct bm_schema *own;
    const char *name;
};

/* Decode a head that 'load' finds. */
static int load_head(struct bm_repair *r, struct bm_head *head,
                     uint8_t hash[16], const struct head_of *of,
                     bm_repair_load *load)
{
    struct bm_error why = {0};
    struct bm_envelope e;
    struct bm_buffer b;
    uint64_t bytes = 0;
    int rc;

    bm_buffer_init(&b, r->ds.a);
    bm_head_init(head, r->ds.a);
    rc = load(r, &b, &e, &bytes, of->name, &why);
    if (!rc) {
        struct bm_head_bytes from = {b.data,   b.size,   bytes,
                                     r->ds.id, of->name, NULL};

        rc = bm_head_decode(head, of->schema, of->own, &from, &why);
        memcpy(hash, e.hash, 16);
        /* A manifest that is made of it would lack what it has more. */
        if (!rc && bm_envelope_is_newer(&e))
            rc = bm_envelope_fail(&e, of->name, &why, "");
    }
    bm_buffer_release(&b);
    if (rc && !bm_is_damage(rc))
        return bm_fail(r->error, rc, "%s",
                       why.text[0] ? why.text : "no memory to repair");
    return rc ? BOUMA_EFORMAT : BOUMA_OK;
}

int bm_repair_load_head(struct bm_repair *r, struct bm_head *head,
                        uint8_t hash[16], const struct bm_schema *schema,
                        struct bm_schema *own, const char *name)
{
    struct head_of of = {schema, own, name};

    return load_head(r, head, hash, &of, bm_repair_load_front);
}

int bm_repair_load_any_head(struct bm_repair *r, struct bm_head *head,
                            uint8_t hash[16], const struct bm_schema *schema,
                            const char *name)
{
    struct head_of of = {schema, NULL, name};
    int rc = load_head(r, head, hash, &of, bm_repair_load_front);

    if (rc != BOUMA_EFORMAT)
        return rc;
    bm_head_release(head);
    return load_head(r, head, hash, &of, bm_repair_load_back);
}

/* Whether a head is that of subfile 'i' of the writing that 'm' tells of. */
static int is_head_of(const struct bm_head *head, const struct bm_manifest *m,
                      size_t i)
{
    return head->step == m->step && head->subfile == i &&
           head->subfiles == m->count &&
           bm_generation_is_same(head->generation, m->generation) &&
           bm_generation_is_same(head->base, m->base);
}

/* What one head tells of the whole step. */
static int begin_manifest(struct bm_manifest *m, const struct bm_head *first)
{
    m->time = first->time;
    m->order = first->order;
    m->base = first->base;
    return bm_manifest_set_subfiles(m, first->subfiles);
}

/* The record of a manifest, from all that it says of its files. */
static int sum_up(struct bm_manifest *m, const struct bm_schema *schema)
{
    int rc;

    bm_manifest_count(&m->record, m);
    rc = m->count > bm_name_folder_files()
             ? bm_manifest_cut(m, bm_name_folder_files())
             : bm_manifest_make_file_trees(m, NULL);
    if (!rc)
        rc = bm_manifest_total(m);
    for (uint32_t i = 0; i < schema->variables && !rc; i++)
        m->record.raw_bytes += schema->by_id[i]->in_step.raw_bytes;
    return rc;
}

/* A manifest made from the heads of all subfiles of one generation. */
static int writing_from_heads(struct bm_repair *r, struct bm_manifest *m,
                              uint64_t number, struct bm_generation g)
{
    size_t count = 1;
    int rc = BOUMA_OK;

    m->step = number;
    m->generation = g;
    for (size_t i = 0; i < count && !rc; i++) {
        char name[BM_NAME_BYTES];
        struct bm_head head;
        uint8_t hash[16];

        bm_name_subfile(name, number, (uint32_t)i, g);
        rc = bm_repair_load_head(r, &head, hash, i ? m->schema : NULL,
                                 i ? NULL : m->schema, name);
        if (!rc && i == 0) {
            rc = begin_manifest(m, &head);
            count = m->count;
        }
        if (!rc && !is_head_of(&head, m, i))
            rc = BOUMA_EFORMAT;
        if (!rc)
            rc = bm_subfile_info_of(&m->subfiles[i], &head, hash, r->ds.a);
        bm_head_release(&head);
    }
    return rc ? rc : sum_up(m, m->schema);
}

/* The same with the writings that it adds to: each says which is the one before
 * it. */
static int manifest_from_heads(struct bm_repair *r, struct bm_manifest *m,
                               uint64_t number, struct bm_generation g)
{
    struct bm_writing *found[BM_MAX_EARLIER];
    size_t count = 0;
    int rc = writing_from_heads(r, m, number, g);

    for (g = m->base; !rc && g.epoch; g = found[count - 1]->manifest.base) {
        if (count == BM_MAX_EARLIER) {
            rc = BOUMA_EFORMAT;
            break;
        }
        found[count] = bm_writing_new(r->ds.a, r->error);
        if (!found[count]) {
            rc = bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
            break;
        }
        rc = writing_from_heads(r, &found[count]->manifest, number, g);
        count++;
    }
    if (!rc && count)
        rc = bm_writings_reserve(m, count);
    if (!rc && count) {
        for (size_t i = 0; i < count; i++) /* the oldest was found last */
            m->earlier[i] = found[count - 1 - i];
        m->earlier_count = count;
        return bm_writings_join(m);
    }
    while (count)
        bm_writing_free(found[--count]);
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

int bm_repair_rebuild_manifest(struct bm_repair *r, uint64_t number,
                               struct bm_generation g, int damaged)
{
    const struct bm_step_entry *known = bm_step_list_find(&r->known, number);
    int committed = damaged || (known && known->generation.epoch);
    char name[BM_NAME_BYTES], old[BM_NAME_BYTES];
    struct bouma_step step;
    struct bm_repair_files files;
    int rc;

    bm_name_manifest(old, number);
    /* Under the repairer's own epoch: the old name may be taken. */
    bm_name_manifest_new(name, number,
                         (struct bm_generation){r->ds.claim.epoch, 0});
    bm_repair_step_init(r, &step);
    bm_repair_files_init(&files, r, &step.manifest, name); /* all are there */
    rc = manifest_from_heads(r, &step.manifest, number, g);
    if (!rc)
        rc = check_whole(r, &step, &files);
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
    bm_repair_step_release(&step);
    return rc;
}
