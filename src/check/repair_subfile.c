/* repair_subfile.c -- actions of repair, and the mending of one subfile. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/repair.h"
#include "store/envelope.h"

#define MENDED "mended.tmp"

int bm_repair_act(struct bm_repair *r, int64_t step, const char *name,
                  const char *text)
{
    bm_findings_add(&r->findings, BOUMA_NOTE, step, name, "%s%s",
                    r->apply ? "" : "would be done: ", text);
    r->report->actions++;
    r->changing |= r->apply;
    return r->apply;
}

void bm_repair_hopeless(struct bm_repair *r, int64_t step, const char *name,
                        const char *text)
{
    bm_findings_add(&r->findings, BOUMA_DAMAGE, step, name, "%s", text);
    r->report->hopeless++;
}

int bm_repair_leave(struct bm_repair *r, int64_t step, const char *name, int rc)
{
    if (r->changing || (rc != BOUMA_EIO && rc != BOUMA_EVERSION))
        return rc;
    bm_findings_add(&r->findings, BOUMA_UNCHECKED, step, name,
                    "%s; nothing is done to it", r->error->text);
    r->report->unchecked++;
    bm_error_clear(r->error);
    return BOUMA_OK;
}

int bm_repair_move_away(struct bm_repair *r, const char *name)
{
    struct bm_store *s = &r->ds.store;
    char flat[BM_NAME_BYTES], to[BM_NAME_BYTES * 2];
    int rc = bm_store_make_dir(s, BM_NAME_LOST, 1, r->error);

    snprintf(flat, sizeof(flat), "%s", name);
    for (char *p = flat; *p; p++)
        if (*p == '/')
            *p = '.';
    for (int i = 0; i < 1000 && !rc; i++) {
        struct bm_error why = {0};

        snprintf(to, sizeof(to), BM_NAME_LOST "/%s.%d", flat, i);
        rc = bm_store_publish(s, name, to, 0, &why);
        if (rc != BOUMA_EEXISTS)
            return rc ? bm_fail(r->error, rc, "%s", why.text) : BOUMA_OK;
        rc = BOUMA_OK;
    }
    return rc ? rc
              : bm_fail(r->error, BOUMA_EEXISTS,
                        "%s: no free name in lost/ for it", name);
}

/* Copy a file, with 'head' at both ends of its 'bytes'. */
static int copy_file(struct bm_repair *r, const char *from, const char *to,
                     const struct bm_buffer *head, uint64_t bytes)
{
    struct bm_buffer b;
    int rc;

    bm_buffer_init(&b, r->ds.a);
    rc = bm_store_load(&r->ds.store, from, &b, r->ds.store.memory_limit,
                       r->error);
    if (!rc && b.size < bytes && !bm_buffer_extend(&b, (size_t)bytes - b.size))
        rc = bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    if (!rc) {
        memcpy(b.data, head->data, head->size);
        memcpy(b.data + b.size - head->size, head->data, head->size);
        rc = bm_store_save(&r->ds.store, to, b.data, b.size, 1, r->error);
    }
    bm_buffer_release(&b);
    return rc;
}

/* Load one copy of a head; EFORMAT if it is not the one that the manifest
 * names. */
static int good_head(struct bm_repair *r, struct bm_buffer *out,
                     struct bm_file *f, const struct bm_subfile_info *info,
                     uint64_t offset)
{
    struct bm_error why = {0};
    struct bm_envelope e;
    struct bm_cursor body;
    int rc;

    bm_buffer_clear(out);
    if (!bm_buffer_extend(out, (size_t)info->head_bytes))
        return bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    rc = bm_file_read(f, out->data, out->size, offset, &why);
    if (rc && !bm_is_damage(rc))
        return bm_fail(r->error, rc, "%s", why.text);
    if (!rc)
        rc = bm_envelope_open(&e, &body, out->data, out->size, BM_KIND_HEAD,
                              r->ds.id, f->name, &why);
    if (rc == BOUMA_EVERSION)
        return bm_fail(r->error, rc, "%s", why.text);
    return rc || memcmp(e.hash, info->head_hash, 16) ? BOUMA_EFORMAT : BOUMA_OK;
}

/* Put a mended copy of a subfile, of so many bytes, in its place. */
static int replace_heads(struct bm_repair *r, uint64_t step, const char *name,
                         const struct bm_buffer *head, uint64_t bytes)
{
    char mended[BM_NAME_BYTES], dir[BM_NAME_BYTES];
    int rc;

    bm_name_step(dir, step);
    snprintf(mended, sizeof(mended), "%.60s/" MENDED, dir);
    bm_store_remove(&r->ds.store, mended);
    r->changing = 0; /* nothing is, until the copy is whole */
    rc = copy_file(r, name, mended, head, bytes);
    if (rc)
        bm_store_remove(&r->ds.store, mended);
    r->changing |= !rc;
    if (!rc)
        rc = bm_repair_move_away(r, name);
    if (!rc)
        rc = bm_store_publish(&r->ds.store, mended, name, 0, r->error);
    if (!rc)
        rc = bm_store_sync_dir(&r->ds.store, dir, r->error);
    return rc;
}

/* A file that is too short, or missing (0 bytes): tell what is lost, and put it
 * on record. */
static int keep_the_rest(struct bm_repair *r, struct bouma_step *step, size_t i,
                         uint64_t bytes)
{
    const struct bm_manifest *m = &step->manifest;
    struct bm_lost_step *known = bm_losses_find(&r->losses, m->step);
    bouma_verify_report counts = {0};
    uint64_t before = r->findings.damages, unchecked = r->findings.unchecked;
    int rc = bm_check_subfile(step, i, BOUMA_VERIFY_FULL, &r->findings, &counts,
                              known);

    r->report->hopeless += r->findings.damages > before;
    r->report->unchecked += r->findings.unchecked - unchecked;
    if (rc)
        return bm_fail(r->error, rc, "no memory to repair");
    /* What cannot be read today may be there tomorrow. */
    return r->findings.unchecked > unchecked
               ? BOUMA_OK
               : bm_repair_lost_file(r, m, i, bytes);
}

static int mend_subfile(struct bm_repair *r, struct bouma_step *step, size_t i,
                        const char *name)
{
    const struct bm_manifest *m = &step->manifest;
    const struct bm_subfile_info *info = &m->subfiles[i];
    struct bm_error why = {0}, ignored = {0};
    struct bm_buffer front, back;
    struct bm_file f;
    uint64_t bytes = 0;
    int rc, cut, front_rc = BOUMA_EFORMAT, back_rc = BOUMA_EFORMAT;

    rc = bm_file_open(&f, &r->ds.store, name, BOUMA_OPEN_READ, &why);
    if (rc == BOUMA_ENOTFOUND)
        return keep_the_rest(r, step, i, 0);
    if (rc)
        return bm_fail(r->error, rc, "%s", why.text);
    bm_buffer_init(&front, r->ds.a);
    bm_buffer_init(&back, r->ds.a);
    rc = bm_file_size(&f, &bytes, r->error);
    cut = bytes < info->file_bytes;
    /* One that was cut in the second head has all of its data. */
    if (!rc && (bytes == info->file_bytes ||
                (cut && bytes >= info->file_bytes - info->head_bytes))) {
        front_rc = good_head(r, &front, &f, info, 0);
        if (!cut)
            back_rc = good_head(r, &back, &f, info, bytes - info->head_bytes);
        rc = front_rc && front_rc != BOUMA_EFORMAT ? front_rc
             : back_rc && back_rc != BOUMA_EFORMAT ? back_rc
                                                   : BOUMA_OK;
    }
    bm_file_close(&f, &ignored);
    if (!rc && cut && front_rc)
        rc = keep_the_rest(r, step, i, bytes);
    else if (!rc && front_rc && back_rc)
        bm_repair_hopeless(r, (int64_t)m->step, name,
                           bytes != info->file_bytes
                               ? "the file has not its size"
                               : "both heads are damaged");
    else if (!rc && (front_rc || back_rc) &&
             bm_repair_act(r, (int64_t)m->step, name,
                           "a damaged head replaced by its copy"))
        rc = replace_heads(r, m->step, name, front_rc ? &back : &front,
                           info->file_bytes);
    bm_buffer_release(&front);
    bm_buffer_release(&back);
    return rc;
}

int bm_repair_subfile(struct bm_repair *r, struct bouma_step *step, size_t i)
{
    const struct bm_manifest *m = &step->manifest;
    char name[BM_NAME_BYTES];
    int rc;

    r->changing = 0;
    bm_name_subfile(name, m->step, (uint32_t)i, m->generation);
    rc = mend_subfile(r, step, i, name);
    return rc ? bm_repair_leave(r, (int64_t)m->step, name, rc) : BOUMA_OK;
}
