/* repair_subfile.c -- actions of repair, and the mending of one subfile. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "check/repair.h"
#include "layout/front.h"
#include "layout/writings.h"
#include "store/identity.h"
#include "store/step_dir.h"

#define PIECE ((size_t)1 << 20) /* bytes that are copied at once */

int bm_repair_act(struct bm_repair *r, int64_t step, const char *name,
                  const char *text)
{
    if (bm_repair_check_claim(r))
        return 0;
    bm_findings_add(&r->findings, BOUMA_SEVERITY_NOTE, step, name, "%s%s",
                    r->apply ? "" : "would be done: ", text);
    r->report->actions++;
    r->changing |= r->apply;
    return r->apply;
}

int bm_repair_check_claim(struct bm_repair *r)
{
    if (r->apply && r->ds.claim.epoch && !r->unclaimed)
        r->unclaimed =
            bm_epoch_check(&r->ds.store, r->ds.claim.epoch, r->error);
    return r->unclaimed;
}

void bm_repair_hopeless(struct bm_repair *r, int64_t step, const char *name,
                        const char *text)
{
    bm_findings_add(&r->findings, BOUMA_SEVERITY_DAMAGE, step, name, "%s",
                    text);
    r->report->hopeless++;
}

int bm_repair_leave(struct bm_repair *r, int64_t step, const char *name, int rc)
{
    if (r->changing || r->unclaimed ||
        (rc != BOUMA_EIO && rc != BOUMA_EVERSION && rc != BOUMA_ELIMIT))
        return rc;
    bm_findings_add(&r->findings, BOUMA_SEVERITY_UNCHECKED, step, name,
                    "%s; nothing is done to it", r->error->text);
    r->report->unchecked++;
    bm_error_clear(r->error);
    return BOUMA_OK;
}

int bm_repair_move_away(struct bm_repair *r, const char *name)
{
    struct bm_store *s = &r->ds.store;
    char flat[BM_NAME_BYTES], to[BM_NAME_BYTES * 2];
    int is_no_file = bm_store_is_no_file(s, name), replaces;
    int rc = bm_repair_check_claim(r);

    if (!rc)
        rc = bm_store_make_dir(s, BM_NAME_LOST, 1, r->error);
    snprintf(flat, sizeof(flat), "%s", name);
    for (char *p = flat; *p; p++)
        if (*p == '/')
            *p = '.';
    for (int i = 0; i < 1000 && !rc; i++) {
        struct bm_error why = {0};

        /* What is no file has a name that nobody removes later. */
        snprintf(to, sizeof(to), BM_NAME_LOST "/%s.%d%s", flat, i,
                 is_no_file ? ".other" : "");
        /* Not all file systems rename a directory if they must not replace. */
        replaces = is_no_file && bm_store_is_absent(s, to);
        rc = bm_store_publish(s, name, to, replaces, &why);
        if (rc != BOUMA_EEXISTS)
            return rc ? bm_fail(r->error, rc, "%s", why.text) : BOUMA_OK;
        rc = BOUMA_OK;
    }
    return rc ? rc
              : bm_fail(r->error, BOUMA_EEXISTS,
                        "%s: no free name in lost/ for it", name);
}

int bm_repair_no_file(struct bm_repair *r, int64_t step, const char *name)
{
    return bm_repair_act(r, step, name,
                         "is a directory, a pipe or a device, and no file; "
                         "moved to lost/")
               ? bm_repair_move_away(r, name)
               : BOUMA_OK;
}

/* What a mended file is to have: the bytes before its first head (see front.h),
 * its head, and so many bytes. */
struct mended {
    const struct bm_buffer *front, *head;
    uint64_t bytes;
};

/* Copy a file in pieces, with new bytes at both ends. It may end in the second
 * head: then there is less to copy. */
static int copy_pieces(struct bm_repair *r, struct bm_file *out,
                       struct bm_file *in, const struct mended *as)
{
    const struct bm_buffer *front = as->front, *head = as->head;
    uint64_t limit = r->ds.store.memory_limit, bytes = as->bytes;
    uint64_t at = front->size + head->size, end = bytes - head->size;
    struct bm_buffer b;
    int rc = bm_file_reserve(out, bytes, r->error);

    bm_buffer_init(&b, r->ds.a);
    if (!rc && !bm_buffer_extend(&b, limit < PIECE ? (size_t)limit : PIECE))
        rc = bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    if (!rc && front->size)
        rc = bm_file_write(out, front->data, front->size, 0, r->error);
    if (!rc)
        rc = bm_file_write(out, head->data, head->size, front->size, r->error);
    while (!rc && at < end) {
        size_t n = end - at < b.size ? (size_t)(end - at) : b.size;

        rc = bm_file_read(in, b.data, n, at, r->error);
        if (!rc)
            rc = bm_file_write(out, b.data, n, at, r->error);
        at += n;
    }
    if (!rc)
        rc = bm_file_write(out, head->data, head->size, end, r->error);
    bm_buffer_release(&b);
    return rc;
}

static int copy_file(struct bm_repair *r, const char *from, const char *to,
                     const struct mended *as)
{
    struct bm_error ignored = {0};
    struct bm_file in, out;
    int closed, rc = bm_file_open(&in, &r->ds.store, from, BOUMA_OPEN_MODE_READ,
                                  r->error);

    if (rc)
        return rc;
    rc = bm_file_open(&out, &r->ds.store, to, BOUMA_OPEN_MODE_CREATE, r->error);
    if (!rc) {
        rc = copy_pieces(r, &out, &in, as);
        if (!rc)
            rc = bm_file_sync(&out, r->error);
        closed = bm_file_close(&out, r->error);
        rc = rc ? rc : closed;
    }
    bm_file_close(&in, &ignored); /* only read from */
    return rc;
}

/* Load one copy of a head; EFORMAT if it is not the one that the manifest
 * names, whatever version it claims to have. */
static int good_head(struct bm_repair *r, struct bm_buffer *out,
                     struct bm_file *f, const struct bm_subfile_info *info,
                     uint64_t offset)
{
    struct bm_error why = {0};
    struct bm_envelope e;
    struct bm_cursor body;
    int rc;

    bm_buffer_clear(out);
    if (info->head_bytes > r->ds.store.memory_limit)
        return bm_fail(r->error, BOUMA_ELIMIT,
                       "%s: its head has %" PRIu64
                       " bytes, more than the option 'memory_limit' allows",
                       f->name, info->head_bytes);
    if (!bm_buffer_extend(out, (size_t)info->head_bytes))
        return bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    rc = bm_file_read(f, out->data, out->size, offset, &why);
    if (rc && !bm_is_damage(rc))
        return bm_fail(r->error, rc, "%s", why.text);
    if (rc || !bm_envelope_has_hash(out->data, out->size, info->head_hash))
        return BOUMA_EFORMAT;
    rc = bm_envelope_open(
        &e, &body,
        &(struct bm_metadata){out->data, out->size, r->ds.id, f->name},
        BM_KIND_HEAD, &why);
    return rc == BOUMA_EVERSION ? bm_fail(r->error, rc, "%s", why.text) : rc;
}

/* Make what was done in the directory of a subfile durable. */
static int sync_beside(struct bm_repair *r, uint64_t step, const char *name)
{
    char dir[BM_NAME_BYTES];

    if (!bm_name_folder(dir, name))
        bm_name_step(dir, step);
    return bm_store_sync_dir(&r->ds.store, dir, r->error);
}

/* Put a mended copy where a file was that is out of the way. */
static int put_back(struct bm_repair *r, uint64_t step, const char *mended,
                    const char *name)
{
    int rc = bm_store_publish(&r->ds.store, mended, name, 0, r->error);

    return rc ? rc : sync_beside(r, step, name);
}

/* Put a mended copy of a subfile where it was. Who is killed in between leaves
 * the copy: see bm_repair_mended(). */
static int replace_ends(struct bm_repair *r, uint64_t step, const char *name,
                        const struct mended *as)
{
    char mended[BM_NAME_BYTES];
    int rc;

    bm_name_mended(mended, name, r->ds.claim.epoch);
    bm_store_remove(&r->ds.store, mended);
    r->changing = 0; /* nothing is, until the copy is whole */
    rc = copy_file(r, name, mended, as);
    if (rc)
        bm_store_remove(&r->ds.store, mended);
    r->changing |= !rc;
    if (!rc) /* from here on it may be the only one */
        rc = sync_beside(r, step, name);
    if (!rc)
        rc = bm_repair_move_away(r, name);
    return rc ? rc : put_back(r, step, mended, name);
}

/* Look at the data of a file. Of one that is too short, or missing, tell with
 * 'cut' what is lost. */
static int look_at_data(struct bm_repair *r, struct bouma_step *step, size_t i,
                        int cut, struct bm_lost_step *now, uint64_t *whole)
{
    struct bm_check how = {.depth = BOUMA_DEPTH_FULL,
                           .known =
                               bm_losses_find(&r->losses, step->manifest.step),
                           .data_only = !cut,
                           .lost = now};
    bouma_verify_report counts = {0};
    uint64_t damages = r->findings.damages, unchecked = r->findings.unchecked;
    int rc = bm_check_subfile(step, i, &how, &r->findings, &counts);

    r->report->hopeless += r->findings.damages - damages;
    r->report->unchecked += r->findings.unchecked - unchecked;
    *whole += how.whole;
    return rc ? bm_fail(r->error, rc, "no memory to repair") : BOUMA_OK;
}

/* The heads of a file, and how much of it there is. */
struct ends {
    struct bm_buffer front, back;
    int front_rc, back_rc; /* EFORMAT: damaged, or not there */
    /* What must stand before the first head, and does not if it is 'foreign':
     * see front.h. Only of files with a good head. */
    struct bm_buffer before;
    int foreign;
    uint64_t bytes;
    int cut;
};

static void ends_init(struct ends *e, const bouma_allocator *a)
{
    memset(e, 0, sizeof(*e));
    bm_buffer_init(&e->front, a);
    bm_buffer_init(&e->back, a);
    bm_buffer_init(&e->before, a);
}

static void ends_release(struct ends *e)
{
    bm_buffer_release(&e->front);
    bm_buffer_release(&e->back);
    bm_buffer_release(&e->before);
}

/* Load both heads; what is returned is a failure to look. */
static int load_ends(struct bm_repair *r, struct ends *e,
                     const struct bm_subfile_info *info, struct bm_file *f)
{
    uint64_t back = info->file_bytes - info->head_bytes;
    int rc = bm_file_size(f, &e->bytes, r->error);

    e->front_rc = e->back_rc = BOUMA_EFORMAT;
    e->cut = e->bytes < info->file_bytes;
    /* One that was cut in the second head has all of its data. */
    if (rc || e->bytes < back)
        return rc;
    e->front_rc = good_head(r, &e->front, f, info, info->head_offset);
    if (!e->cut)
        e->back_rc = good_head(r, &e->back, f, info, back);
    return e->front_rc && e->front_rc != BOUMA_EFORMAT ? e->front_rc
           : e->back_rc && e->back_rc != BOUMA_EFORMAT ? e->back_rc
                                                       : BOUMA_OK;
}

/* Compare what stands before the first head with what follows from it. */
static int compare_front(struct bm_repair *r, struct ends *e,
                         const struct bm_manifest *step, size_t i,
                         struct bm_file *f)
{
    size_t number;
    const struct bm_manifest *m = bm_manifest_with_file(step, i, &number);
    const struct bm_subfile_info *info = bm_manifest_record(m, number);
    const struct bm_buffer *good = e->front_rc ? &e->back : &e->front;
    struct bm_head_bytes from = {good->data, good->size, info->file_bytes,
                                 r->ds.id,   f->name,    NULL};
    struct bm_error why = {0};
    struct bm_buffer found;
    struct bm_head head;
    int rc = BOUMA_OK;

    if (!info->head_offset || (e->front_rc && e->back_rc))
        return rc;
    if (info->head_offset > r->ds.store.memory_limit)
        return bm_fail(r->error, BOUMA_ELIMIT,
                       "%s: has %" PRIu64 " bytes in front of its head, more "
                       "than the option 'memory_limit' allows",
                       f->name, info->head_offset);
    bm_head_init(&head, r->ds.a);
    bm_buffer_init(&found, r->ds.a);
    rc = bm_head_decode(&head, m->schema, NULL, &from, &why);
    if (!rc)
        bm_front_make(&e->before, &head);
    if (rc && bm_is_damage(rc)) /* in spite of its checksum: it is no head */
        e->front_rc = e->back_rc = BOUMA_EFORMAT;
    else if (rc)
        bm_fail(r->error, rc, "%s", why.text);
    else if (e->before.failed ||
             !bm_buffer_extend(&found, (size_t)info->head_offset))
        rc = bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    if (!rc) {
        rc = bm_file_read(f, found.data, found.size, 0, &why);
        e->foreign = rc || e->before.size != found.size ||
                     memcmp(e->before.data, found.data, found.size) != 0;
        rc = rc && !bm_is_damage(rc) ? bm_fail(r->error, rc, "%s", why.text)
                                     : BOUMA_OK;
    }
    bm_buffer_release(&found);
    bm_head_release(&head);
    return e->front_rc && e->back_rc ? BOUMA_OK : rc;
}

/* Which file of the step an open file is a whole copy of, as far as its heads and
 * its length tell; bm_manifest_files(): none. */
static int copy_of(struct bm_repair_files *files, struct bm_file *f,
                   size_t *out)
{
    const struct bm_manifest *m = files->walk.m;
    struct bm_repair *r = files->r;
    int rc = BOUMA_OK;

    for (*out = 0; *out < bm_manifest_files(m) && !rc; ++*out) {
        const struct bm_subfile_info *info;
        struct ends e;
        int is_it;

        rc = bm_repair_files_to(files, *out);
        if (rc)
            break;
        info = bm_manifest_file(m, *out);
        ends_init(&e, r->ds.a);
        rc = load_ends(r, &e, info, f);
        is_it = !e.front_rc && !e.back_rc && e.bytes == info->file_bytes;
        ends_release(&e);
        if (is_it)
            break;
    }
    return rc;
}

/* One copy that a killed repair has left. */
static int finish_mended(struct bm_repair_files *files, const char *mended,
                         uint32_t epoch, size_t *back)
{
    const struct bm_manifest *m = files->walk.m;
    struct bm_repair *r = files->r;
    struct bm_store *s = &r->ds.store;
    char name[BM_NAME_BYTES];
    struct bm_error why = {0}, ignored = {0};
    struct bm_file f;
    size_t i;
    int is_back = 0, rc;

    if (bm_store_is_no_file(s, mended))
        return bm_repair_no_file(r, (int64_t)m->step, mended);
    rc = bm_file_open(&f, s, mended, BOUMA_OPEN_MODE_READ, &why);
    if (rc == BOUMA_ENOTFOUND)
        return BOUMA_OK;
    if (rc)
        return bm_fail(r->error, rc, "%s", why.text);
    rc = copy_of(files, &f, &i);
    bm_file_close(&f, &ignored);
    if (rc)
        return rc;
    if (i < bm_manifest_files(m)) {
        bm_manifest_file_name(name, m, i);
        rc = bm_file_open(&f, s, name, BOUMA_OPEN_MODE_READ, &why);
        if (rc && !bm_is_damage(rc))
            return bm_fail(r->error, rc, "%s", why.text);
        if (!rc)
            bm_file_close(&f, &ignored);
        else if (rc == BOUMA_EFORMAT) /* no file: it makes way first */
            return BOUMA_OK;
        else
            is_back = 1;
    }
    if (is_back) {
        *back = i;
        return bm_repair_act(r, (int64_t)m->step, name,
                             "the mended copy that a killed repair has left "
                             "put in its place")
                   ? put_back(r, m->step, mended, name)
                   : BOUMA_OK;
    }
    /* Who lives, and has lost its claim to us, may be about to need it. */
    if (bm_epoch_is_over(s, epoch) &&
        bm_repair_act(r, (int64_t)m->step, mended,
                      "what a killed repair has left removed"))
        bm_store_remove(s, mended);
    return BOUMA_OK;
}

struct mended_search {
    struct bm_repair_files *files;
    size_t *back;
    int rc;
};

static int find_mended(void *context, const char *entry)
{
    struct mended_search *search = context;
    char mended[BM_NAME_BYTES];
    uint32_t epoch;

    bm_name_in_step(mended, search->files->walk.m->step, entry);
    if (bm_name_parse_mended(entry, &epoch))
        search->rc = finish_mended(search->files, mended, epoch, search->back);
    return search->rc ? ECANCELED : 0;
}

int bm_repair_mended(struct bm_repair_files *files, size_t *back)
{
    const struct bm_manifest *m = files->walk.m;
    struct mended_search search = {files, back, BOUMA_OK};
    struct bm_repair *r = files->r;
    struct bm_error why = {0};
    int rc;

    *back = bm_manifest_files(m);
    rc = bm_step_dir_list(&r->ds.store, m->step, find_mended, &search, &why);
    if (search.rc)
        return search.rc;
    return rc ? bm_fail(r->error, rc, "%s", why.text) : BOUMA_OK;
}

/* Mend the ends of a file, of which one head is good. */
static int mend_ends(struct bm_repair *r, const struct ends *e,
                     const struct bm_manifest *m, size_t i, const char *name)
{
    uint64_t bytes = bm_manifest_file(m, i)->file_bytes;
    struct mended as = {&e->before, e->front_rc ? &e->back : &e->front, bytes};
    int heads = !e->front_rc && !e->back_rc, rc = BOUMA_OK;

    if (heads && !e->foreign && e->bytes == bytes)
        return rc;
    if (r->apply)
        rc = replace_ends(r, m->step, name, &as);
    if (!rc) /* what cannot be done is not told */
        bm_repair_act(r, (int64_t)m->step, name,
                      e->cut ? "its end, which was cut off, made anew from the "
                               "head at its front"
                      : e->bytes > bytes ? "what was behind its end cut off"
                      : heads ? "the bytes in front of its head made anew"
                              : "a damaged head replaced by its copy");
    return rc;
}

static int mend_subfile(struct bm_repair *r, struct bouma_step *step, size_t i,
                        const char *name, struct bm_lost_step *now,
                        uint64_t *whole)
{
    const struct bm_manifest *m = &step->manifest;
    struct bm_error why = {0}, ignored = {0};
    uint64_t unchecked = r->report->unchecked;
    struct ends e;
    struct bm_file f;
    int rc, is_lost;

    rc = bm_file_open(&f, &r->ds.store, name, BOUMA_OPEN_MODE_READ, &why);
    if (rc && rc != BOUMA_ENOTFOUND && rc != BOUMA_EFORMAT)
        return bm_fail(r->error, rc, "%s", why.text);
    if (rc == BOUMA_ENOTFOUND && r->is_part) {
        r->elsewhere++;
        return BOUMA_OK;
    }
    is_lost = rc != BOUMA_OK;
    rc = rc == BOUMA_EFORMAT ? bm_repair_no_file(r, (int64_t)m->step, name)
                             : BOUMA_OK;
    if (rc)
        return rc;
    ends_init(&e, r->ds.a);
    if (!is_lost) {
        rc = load_ends(r, &e, bm_manifest_file(m, i), &f);
        if (!rc)
            rc = compare_front(r, &e, m, i, &f);
        bm_file_close(&f, &ignored);
        is_lost = e.cut && e.front_rc;
    }
    if (!rc && !is_lost && (!e.front_rc || !e.back_rc))
        rc = mend_ends(r, &e, m, i, name);
    if (!rc)
        rc = look_at_data(r, step, i, is_lost, now, whole);
    /* What cannot be read today may be there tomorrow. */
    if (!rc && is_lost && r->report->unchecked == unchecked &&
        bm_lost_step_add(now, (uint32_t)i, e.bytes, r->ds.a))
        rc = bm_fail(r->error, BOUMA_ENOMEM, "no memory to repair");
    ends_release(&e);
    return rc;
}

int bm_repair_subfile(struct bm_repair *r, struct bouma_step *step, size_t i,
                      struct bm_lost_step *now, uint64_t *whole)
{
    const struct bm_manifest *m = &step->manifest;
    char name[BM_NAME_BYTES];
    int rc;

    r->changing = 0;
    bm_manifest_file_name(name, m, i);
    rc = mend_subfile(r, step, i, name, now, whole);
    return rc ? bm_repair_leave(r, (int64_t)m->step, name, rc) : BOUMA_OK;
}
