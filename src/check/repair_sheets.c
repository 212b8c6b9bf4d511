/* repair_sheets.c -- sheets of a manifest that are damaged, made again from the
 * heads of their files, and of files that have none from what is left of the
 * sheet, to the byte: the body of the manifest has their checksums. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/repair.h"
#include "layout/sheet.h"
#include "layout/writings.h"

/* ---- one after the other ---------------------------------------------------- */

/* A sheet, out of the file of the manifest. */
static int load_sheet(void *context, size_t w, struct bm_manifest *m, size_t k,
                      struct bm_error *error)
{
    struct bm_repair_files *files = context;

    (void)w;
    return bm_manifest_load_sheet(m, k, &files->r->ds.store, files->name,
                                  error);
}

void bm_repair_files_init(struct bm_repair_files *f, struct bm_repair *r,
                          struct bm_manifest *m, const char *name)
{
    *f = (struct bm_repair_files){
        .walk = {.m = m, .load = load_sheet, .context = f}, .r = r};
    snprintf(f->name, sizeof(f->name), "%s", name);
}

int bm_repair_files_check(struct bm_repair_files *f, struct bm_error *error)
{
    int rc = BOUMA_OK;

    for (size_t i = 0; i < bm_manifest_files(f->walk.m) && !rc; i++)
        rc = bm_sheet_walk_to(&f->walk, i, error);
    bm_sheet_walk_end(&f->walk);
    return rc;
}

int bm_repair_files_to(struct bm_repair_files *f, size_t i)
{
    struct bm_error why = {0};
    int rc = bm_sheet_walk_to(&f->walk, i, &why), claimed;

    if (!rc)
        return rc;
    claimed = bm_repair_check_claim(f->r);
    if (claimed)
        return claimed;
    return bm_fail(f->r->error, bm_is_damage(rc) ? BOUMA_EIO : rc, "%s",
                   why.text);
}

/* ---- made again -------------------------------------------------------------- */

/* The record of file i, from one of its heads. EFORMAT if both are damaged, or
 * not there. */
static int record_from_head(struct bm_repair *r, const struct bm_manifest *m,
                            size_t i, struct bm_subfile_info *record)
{
    char name[BM_NAME_BYTES];
    struct bm_head head;
    uint8_t hash[16];
    int rc;

    bm_name_subfile(name, m->step, (uint32_t)i, m->generation);
    rc = bm_repair_load_any_head(r, &head, hash, m->schema, name);
    if (!rc && bm_manifest_glance(m, i, &head))
        rc = BOUMA_EFORMAT;
    if (!rc)
        rc = bm_subfile_info_of(record, &head, hash, r->ds.a);
    bm_head_release(&head);
    return rc;
}

/* Go past a record in what is stored of a sheet. */
static int pass_record(struct bm_cursor *stored,
                       const struct bm_subfile_info *record,
                       const struct bm_schema *schema)
{
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, schema->a);
    bm_subfile_info_encode(&b, record, schema);
    bm_get_bytes(stored, b.size);
    rc = b.failed ? BOUMA_ENOMEM : BOUMA_OK;
    bm_buffer_release(&b);
    return rc;
}

/* The records of a sheet's files: from their heads; of a file without one, what
 * is stored where its record was. The checksum of the sheet then tells whether
 * that is damaged. EFORMAT if it is no record. */
static int find_records(struct bm_repair *r, const struct bm_manifest *m,
                        size_t k, struct bm_cursor *stored,
                        struct bm_subfile_info *records)
{
    size_t first = k * m->sheet_files;
    int rc = BOUMA_OK;

    for (size_t i = 0; i < bm_sheet_records(m, k) && !rc; i++) {
        rc = record_from_head(r, m, first + i, &records[i]);
        if (!rc) {
            rc = pass_record(stored, &records[i], m->schema);
        } else if (rc == BOUMA_EFORMAT) {
            bm_subfile_info_release(&records[i], r->ds.a);
            rc = bm_subfile_info_decode(&records[i], stored, m->schema);
        }
    }
    return rc;
}

/* What is there of the records of a sheet, in the bytes of the manifest. */
static struct bm_cursor stored_records(const struct bm_sheet *s,
                                       const struct bm_buffer *b)
{
    uint64_t from = s->offset < b->size ? s->offset : b->size;
    uint64_t left = b->size - from;
    struct bm_cursor c = bm_cursor_of(
        b->data + from, (size_t)(s->bytes < left ? s->bytes : left));

    bm_get_bytes(&c, BM_ENVELOPE_BYTES + BM_SHEET_ADDRESS_BYTES);
    return c;
}

/* Sheet k, made again. EFORMAT if it does not come out as it was. */
static int make_sheet(struct bm_repair *r, struct bm_manifest *m, size_t k,
                      const struct bm_buffer *stored, struct bm_error *why)
{
    struct bm_cursor c = stored_records(&m->sheets[k], stored);
    struct bm_sheet_address address = {r->ds.id, m->step, m->generation,
                                       (uint32_t)k};
    size_t count = bm_sheet_records(m, k);
    struct bm_subfile_info *records = bm_new(r->ds.a, count, sizeof(*records));
    struct bm_sheet again = {0};
    struct bm_buffer b;
    int rc = records ? find_records(r, m, k, &c, records) : BOUMA_ENOMEM;

    bm_buffer_init(&b, r->ds.a);
    if (!rc) {
        bm_sheet_encode(&b, &again, &address, records, count, m->schema);
        rc = b.failed ? BOUMA_ENOMEM
                      : bm_manifest_take_sheet(m, k, b.data, b.size, "", why);
    }
    for (size_t i = 0; i < count && records; i++)
        bm_subfile_info_release(&records[i], r->ds.a);
    bm_drop(r->ds.a, records);
    bm_buffer_release(&b);
    return rc;
}

/* What was found. */
struct sheets {
    uint64_t all, damaged, hopeless;
};

/* One whose bytes are there: if it is good, they are lent. */
static int look_at(struct bm_manifest *m, size_t k, const struct bm_buffer *b,
                   struct bm_error *why)
{
    struct bm_sheet *s = &m->sheets[k];
    int rc;

    if (s->offset > b->size || s->bytes > b->size - s->offset)
        return BOUMA_EFORMAT;
    rc = bm_manifest_take_sheet(m, k, b->data + s->offset, (size_t)s->bytes, "",
                                why);
    if (rc)
        return rc;
    bm_manifest_drop_sheet(m, k);
    s->stored = b->data + s->offset;
    return BOUMA_OK;
}

/* All sheets of a writing, out of the bytes of the manifest or anew. What is
 * returned is a failure to look. */
static int take_sheets(struct bm_repair *r, struct bm_manifest *m,
                       const struct bm_buffer *b, struct sheets *found,
                       struct bm_error *why)
{
    int rc = BOUMA_OK;

    for (size_t k = 0; k < m->sheet_count && !rc; k++) {
        found->all++;
        rc = look_at(m, k, b, why);
        if (rc == BOUMA_EFORMAT) {
            bm_error_clear(why);
            found->damaged++;
            rc = make_sheet(r, m, k, b, why);
            found->hopeless += rc == BOUMA_EFORMAT;
        }
        rc = rc == BOUMA_EFORMAT ? BOUMA_OK : rc;
    }
    return rc == BOUMA_ENOMEM ? bm_fail(why, rc, "no memory to repair") : rc;
}

/* What was lent is taken back. */
static void take_back(struct bm_manifest *m)
{
    for (size_t k = 0; k < m->sheet_count; k++)
        m->sheets[k].stored = NULL;
}

/* Write the manifest again, as it was once. */
static int replace(struct bm_repair *r, const struct bm_manifest *m,
                   const struct bm_buffer *b, const char *to)
{
    struct bm_store *s = &r->ds.store;
    char name[BM_NAME_BYTES], dir[BM_NAME_BYTES];
    int rc;

    bm_name_step(dir, m->step);
    /* Under the repairer's own epoch: the old name may be taken. */
    bm_name_manifest_new(name, m->step,
                         (struct bm_generation){r->ds.claim.epoch, 0});
    rc = bm_store_save(s, name, b->data, b->size, 1, r->error);
    if (!rc)
        rc = bm_store_sync_dir(s, dir, r->error);
    if (!rc)
        rc = bm_repair_check_claim(r);
    if (!rc)
        rc = bm_store_publish(s, name, to, 1, r->error);
    return rc ? rc : bm_store_sync_dir(s, dir, r->error);
}

/* With all sheets there. */
static int mend(struct bm_repair *r, const struct bm_manifest *m,
                const struct bm_buffer *stored, const struct sheets *found,
                const char *name)
{
    size_t front = (size_t)bm_manifest_sheets_begin(m, stored->size);
    struct bm_buffer b;
    int rc = BOUMA_OK;

    bm_buffer_init(&b, r->ds.a);
    bm_manifest_encode(&b, m, r->ds.id);
    if (b.failed)
        rc = bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    else if (b.size < front || memcmp(b.data, stored->data, front))
        bm_repair_hopeless(r, (int64_t)m->step, name,
                           "sheets of the manifest are damaged, and the rest "
                           "of it is that of a newer version");
    else if (bm_repair_act(r, (int64_t)m->step, name,
                           found->damaged
                               ? "its damaged sheets made again from the heads "
                                 "of their files, and all is as it was"
                               : "what was behind its last sheet removed"))
        rc = replace(r, m, &b, name);
    bm_buffer_release(&b);
    return rc;
}

int bm_repair_sheets(struct bm_repair *r, struct bm_manifest *m,
                     uint64_t number, int *is_whole, struct bm_error *why)
{
    struct sheets found = {0, 0, 0};
    char name[BM_NAME_BYTES];
    struct bm_buffer b;
    int rc;

    *is_whole = 0;
    bm_name_manifest(name, number);
    bm_buffer_init(&b, r->ds.a);
    rc = bm_store_load(&r->ds.store, name, &b, r->ds.store.memory_limit, why);
    if (!rc)
        rc = bm_manifest_decode_front(m, b.data, b.size, r->ds.id, name, why);
    for (size_t w = 0; !rc && w < m->earlier_count; w++)
        rc = take_sheets(r, &m->earlier[w]->manifest, &b, &found, why);
    if (!rc)
        rc = take_sheets(r, m, &b, &found, why);
    if (!rc && (m->step != number || !found.all))
        rc = BOUMA_EFORMAT;
    if (!rc && found.hopeless)
        bm_repair_hopeless(r, (int64_t)number, name,
                           "sheets of the manifest are damaged where they tell "
                           "of files that are missing or have no sound head: "
                           "the files of these sheets cannot be read, others "
                           "can; write the step again, or delete it");
    else if (!rc) {
        rc = mend(r, m, &b, &found, name);
        *is_whole = !rc;
        if (rc)
            bm_fail(why, rc, "%s", r->error->text);
    }
    for (size_t w = 0; w < m->earlier_count; w++)
        take_back(&m->earlier[w]->manifest);
    take_back(m);
    bm_buffer_release(&b);
    return rc;
}
