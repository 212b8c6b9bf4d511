/* copy.c -- see copy.h. A file is read front to back in pieces that end between
 * chunk levels, so each level is in memory as a whole when it is checked. */
#include "dataset/copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "layout/front.h"
#include "layout/writings.h"
#include "store/identity.h"
#include "store/step_dir.h"

#define PIECE_BYTES ((size_t)4 << 20)
#define MOST_TRIES  20 /* to make a file in a directory that others remove */

void bm_copier_init(struct bm_copier *c, struct bm_store *from,
                    struct bm_store *to, const uint8_t id[16],
                    const bouma_allocator *a)
{
    memset(c, 0, sizeof(*c));
    c->from = from;
    c->to = to;
    memcpy(c->id, id, 16);
    bm_buffer_init(&c->piece, a);
}

void bm_copier_release(struct bm_copier *c)
{
    if (c->piece.a)
        bm_buffer_release(&c->piece);
}

/* ---- what is in the file ------------------------------------------------ */

/* Bytes that have a checksum of their own. */
struct span {
    uint64_t offset, bytes;
    uint32_t section, chunk; /* of a level */
    int level;               /* -1: the tree of summary number 'chunk' */
};

/* One file on its way. */
struct trip {
    struct bm_copier *c;
    struct bm_file in, out;
    uint64_t file_bytes;
    struct bm_schema schema;
    struct bm_head head;
    struct bm_buffer head_raw, front; /* what is before the first head */
    struct span *spans;
    size_t span_count, next;
    struct bm_error *error;
};

static int by_offset(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int list_spans(struct trip *t)
{
    const struct bm_head *h = &t->head;
    size_t count = h->summaries.count;
    uint64_t end = 0;

    for (size_t i = 0; i < h->count; i++)
        count += h->sections[i].count * (size_t)h->sections[i].levels;
    t->spans = bm_new_raw(h->a, count, sizeof(*t->spans));
    if (!t->spans)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < h->summaries.count; i++) {
        const struct bm_summary *s = h->summaries.entries[i];
        uint64_t bytes = s->object->layout->summary->index(s).bytes;

        if (bytes)
            t->spans[t->span_count++] =
                (struct span){s->index_offset, bytes, 0, (uint32_t)i, -1};
    }
    for (size_t i = 0; i < h->count; i++) {
        const struct bm_section *s = &h->sections[i];

        for (size_t n = 0; n < s->count * (size_t)s->levels; n++)
            if (s->sizes[n])
                t->spans[t->span_count++] =
                    (struct span){s->offsets[n], s->sizes[n], (uint32_t)i,
                                  (uint32_t)(n / (size_t)s->levels),
                                  (int)(n % (size_t)s->levels)};
    }
    if (t->span_count)
        qsort(t->spans, t->span_count, sizeof(*t->spans), by_offset);
    for (size_t i = 0; i < t->span_count; i++) {
        if (t->spans[i].offset < end || t->spans[i].offset > t->file_bytes ||
            t->spans[i].bytes > t->file_bytes - t->spans[i].offset)
            return BOUMA_EFORMAT;
        end = t->spans[i].offset + t->spans[i].bytes;
    }
    return BOUMA_OK;
}

/* Whether the bytes of a span are those that were written. */
static int is_good(const struct trip *t, const struct span *s,
                   const uint8_t *data)
{
    const struct bm_head *h = &t->head;

    if (s->level < 0) {
        const struct bm_summary *summary = h->summaries.entries[s->chunk];
        struct bm_step_address step = {t->c->id, h->step, h->generation};

        return bm_summary_hash_index(summary, &step, data, (size_t)s->bytes) ==
               summary->object->layout->summary->index(summary).hash;
    } else {
        const struct bm_section *section = &h->sections[s->section];
        struct bm_address address = {
            t->c->id,
            h->step,
            h->generation.epoch,
            h->generation.attempt,
            section->variable->id,
            section->keys[s->chunk],
            (uint32_t)s->level,
        };

        return bm_hash_chunk(&address, data, (size_t)s->bytes) ==
               section->hashes[s->chunk * (size_t)section->levels +
                               (size_t)s->level];
    }
}

/* The first head of the open file, as bytes and decoded; and what stands before
 * it. */
static int load_head(struct trip *t)
{
    uint64_t file_bytes = t->file_bytes;
    struct bm_error *error = t->error;
    struct bm_buffer *raw = &t->head_raw;
    struct bm_first_head first;
    struct bm_head_bytes from;
    uint64_t body;
    struct bm_file *f = &t->in;
    char full[1200];
    int rc;

    snprintf(full, sizeof(full), "%s/%s", f->store->path, f->name);
    if (file_bytes < 2 * BM_ENVELOPE_BYTES)
        return bm_fail(error, BOUMA_EFORMAT, "%s: is too short", full);
    rc = bm_front_find_head(&first, f, file_bytes, full, error);
    body = first.envelope.body_bytes;
    if (!rc && body > (file_bytes - 2 * BM_ENVELOPE_BYTES) / 2)
        rc = bm_fail(error, BOUMA_EFORMAT, "%s: is truncated", full);
    if (!rc && body + first.offset > f->store->memory_limit)
        rc = bm_fail(error, BOUMA_ELIMIT,
                     "%s: its head has %" PRIu64 " bytes, beyond the limit",
                     full, body + first.offset);
    if (!rc && !bm_buffer_extend(raw, BM_ENVELOPE_BYTES + (size_t)body))
        rc = bm_fail(error, BOUMA_ENOMEM, "%s: no memory for its head", full);
    if (!rc)
        rc = bm_file_read(f, raw->data, raw->size, first.offset, error);
    from = (struct bm_head_bytes){raw->data, raw->size, file_bytes,
                                  t->c->id,  full,      NULL};
    if (!rc)
        rc = bm_head_decode(&t->head, NULL, &t->schema, &from, error);
    if (!rc)
        bm_front_make(&t->front, &t->head);
    return t->front.failed ? bm_fail(error, BOUMA_ENOMEM,
                                     "%s: no memory for its head", full)
                           : rc;
}

/* ---- on the way --------------------------------------------------------- */

static int damaged(struct trip *t, uint64_t offset)
{
    return bm_fail(t->error, BOUMA_EFORMAT,
                   "%s/%s: is damaged at byte %" PRIu64
                   ": the checksum does not match",
                   t->in.store->path, t->in.name, offset);
}

/* How many bytes from 'at' on to take at once: no level is cut. */
static uint64_t piece_bytes(const struct trip *t, uint64_t at)
{
    uint64_t end = at + PIECE_BYTES;
    size_t i = t->next;

    if (end >= t->file_bytes)
        end = t->file_bytes;
    while (i < t->span_count && t->spans[i].offset + t->spans[i].bytes <= end)
        i++;
    if (i < t->span_count && t->spans[i].offset < end)
        end = t->spans[i].offset > at ? t->spans[i].offset
                                      : at + t->spans[i].bytes;
    return end - at;
}

/* The zero bytes between head and data, as far as they are in the piece. */
static int check_padding(struct trip *t, uint64_t at)
{
    const struct bm_buffer *piece = &t->c->piece;
    uint64_t begin = t->head.head_offset + t->head_raw.size;
    uint64_t i = begin > at ? begin : at;

    for (; i < t->head.data_offset && i < at + piece->size; i++)
        if (piece->data[i - at])
            return bm_fail(t->error, BOUMA_EFORMAT,
                           "%s/%s: is damaged at byte %" PRIu64
                           ", between head and data",
                           t->in.store->path, t->in.name, i);
    return BOUMA_OK;
}

/* Whether the file has these bytes from 'begin' on, as far as they are in the
 * piece. */
static int has_bytes(const struct trip *t, uint64_t at,
                     const struct bm_buffer *bytes, uint64_t begin)
{
    const struct bm_buffer *piece = &t->c->piece;
    uint64_t end = at + piece->size, from = begin > at ? begin : at;

    if (end > begin + bytes->size)
        end = begin + bytes->size;
    return from >= end ||
           !memcmp(piece->data + (from - at), bytes->data + (from - begin),
                   (size_t)(end - from));
}

/* Check all levels of the piece, which begins at byte 'at' of the file. */
static int check_piece(struct trip *t, uint64_t at)
{
    const struct bm_buffer *piece = &t->c->piece;
    uint64_t end = at + piece->size;

    for (; t->next < t->span_count && t->spans[t->next].offset < end; t->next++)
        if (!is_good(t, &t->spans[t->next],
                     piece->data + (t->spans[t->next].offset - at)))
            return damaged(t, t->spans[t->next].offset);
    /* Both heads are the one that was looked at. */
    if (!has_bytes(t, at, &t->front, 0))
        return bm_fail(t->error, BOUMA_EFORMAT,
                       "%s/%s: the bytes before its head are damaged",
                       t->in.store->path, t->in.name);
    if (!has_bytes(t, at, &t->head_raw, t->head.head_offset))
        return damaged(t, t->head.head_offset);
    if (!has_bytes(t, at, &t->head_raw, t->file_bytes - t->head_raw.size))
        return damaged(t, t->file_bytes - t->head_raw.size);
    return check_padding(t, at);
}

/* All bytes of t->in, checked, to t->out; without one they are only checked. */
static int pass_bytes(struct trip *t)
{
    struct bm_copier *c = t->c;
    uint64_t at = 0;
    int rc = BOUMA_OK;

    t->next = 0;
    while (at < t->file_bytes && !rc) {
        uint64_t n = piece_bytes(t, at);

        if (c->stop && atomic_load(c->stop))
            return bm_fail(t->error, BOUMA_EABORTED, "the copying was stopped");
        bm_buffer_clear(&c->piece);
        if (n > c->from->memory_limit ||
            !bm_buffer_extend(&c->piece, (size_t)n))
            return bm_fail(t->error, BOUMA_ENOMEM,
                           "%s/%s: no memory to copy it", t->in.store->path,
                           t->in.name);
        rc = bm_file_read(&t->in, c->piece.data, c->piece.size, at, t->error);
        if (!rc)
            rc = check_piece(t, at);
        if (!rc && t->out.store)
            rc = bm_file_write(&t->out, c->piece.data, c->piece.size, at,
                               t->error);
        at += n;
        if (!rc && t->out.store && c->told)
            c->told(c->user, n);
    }
    return rc;
}

/* Open the file and know all of its spans. */
static int set_out(struct trip *t, const char *name, uint64_t step,
                   struct bm_generation g, uint32_t subfile,
                   const struct bm_subfile_info *info)
{
    int rc =
        bm_file_open(&t->in, t->c->from, name, BOUMA_OPEN_MODE_READ, t->error);

    if (!rc)
        rc = bm_file_size(&t->in, &t->file_bytes, t->error);
    if (!rc)
        rc = load_head(t);
    if (!rc && (t->head.step != step || t->head.subfile != subfile ||
                t->head.generation.epoch != g.epoch ||
                t->head.generation.attempt != g.attempt ||
                (info && (info->file_bytes != t->file_bytes ||
                          memcmp(t->head_raw.data + 48, info->head_hash, 16)))))
        rc = bm_fail(t->error, BOUMA_EFORMAT,
                     "%s/%s: is not the file that the manifest names",
                     t->c->from->path, name);
    if (rc)
        return rc;
    rc = list_spans(t);
    if (rc)
        bm_fail(t->error, rc,
                rc == BOUMA_ENOMEM ? "%s/%s: no memory to copy it"
                                   : "%s/%s: its chunks overlap",
                t->c->from->path, name);
    return rc;
}

static void come_home(struct trip *t)
{
    struct bm_error ignored = {0};

    if (t->in.store)
        bm_file_close(&t->in, &ignored); /* only read from */
    bm_drop(t->c->from->a, t->spans);
    bm_head_release(&t->head);
    bm_schema_release(&t->schema);
    bm_buffer_release(&t->head_raw);
    bm_buffer_release(&t->front);
}

/* Which heads a file should have. */
struct heads {
    uint64_t offset, bytes, file_bytes;
    const uint8_t *hash;
    const uint8_t *id; /* NULL: any */
};

/* Whether the file 'name' has its bytes and these heads. */
static int has_heads(struct bm_store *s, const char *name,
                     const struct heads *h)
{
    uint64_t at[2] = {h->offset, h->file_bytes - h->bytes}, bytes = 0;
    struct bm_error ignored = {0};
    struct bm_envelope e;
    struct bm_cursor body;
    struct bm_buffer b;
    struct bm_file f;
    int good;

    if (bm_file_open(&f, s, name, BOUMA_OPEN_MODE_READ, &ignored))
        return 0;
    bm_buffer_init(&b, s->a);
    good = !bm_file_size(&f, &bytes, &ignored) && bytes == h->file_bytes &&
           h->bytes <= bytes && h->bytes <= s->memory_limit &&
           bm_buffer_extend(&b, (size_t)h->bytes);
    for (int i = 0; i < 2 && good; i++)
        good =
            !bm_file_read(&f, b.data, b.size, at[i], &ignored) &&
            !bm_envelope_open(
                &e, &body, &(struct bm_metadata){b.data, b.size, h->id, name},
                BM_KIND_HEAD, &ignored) &&
            !memcmp(e.hash, h->hash, 16);
    bm_buffer_release(&b);
    bm_file_close(&f, &ignored);
    return good;
}

int bm_subfile_is_there(struct bm_store *s, const struct bm_manifest *m,
                        uint32_t file)
{
    const struct bm_subfile_info *info = bm_manifest_file(m, file);
    char name[BM_NAME_BYTES];

    bm_manifest_file_name(name, m, file);
    return has_heads(s, name,
                     &(struct heads){info->head_offset, info->head_bytes,
                                     info->file_bytes, info->head_hash, NULL});
}

/* Whether what is to be copied is there, by its heads. */
static int has_arrived(const struct trip *t, const char *name)
{
    return has_heads(t->c->to, name,
                     &(struct heads){t->head.head_offset, t->head_raw.size,
                                     t->file_bytes, t->head_raw.data + 48,
                                     t->c->id});
}

/* Whether all bytes of what has arrived are those that were written; its heads
 * are. BOUMA_OK, EFORMAT, or a failure to look, with a message. */
static int check_arrived(const struct trip *t, const char *name)
{
    struct bm_error ignored = {0}, why = {0};
    struct trip there = *t;
    int rc;

    there.error = &why;
    memset(&there.out, 0, sizeof(there.out));
    rc = bm_file_open(&there.in, t->c->to, name, BOUMA_OPEN_MODE_READ, &why);
    if (!rc) {
        rc = pass_bytes(&there);
        bm_file_close(&there.in, &ignored);
    }
    return rc && rc != BOUMA_EFORMAT ? bm_fail(t->error, rc, "%s", why.text)
                                     : rc;
}

/* The file to copy to, in the directory of the step. Another copier that has
 * put nothing there may remove that just now. */
static int create_copy(struct trip *t, const char *copy)
{
    struct bm_store *to = t->c->to;
    struct bm_error why = {0};
    char dir[BM_NAME_BYTES];
    int rc = BOUMA_ENOTFOUND;

    bm_name_step(dir, t->head.step);
    for (int tries = 0; rc == BOUMA_ENOTFOUND && tries < MOST_TRIES; tries++) {
        bm_error_clear(&why);
        rc = bm_store_make_dir(to, dir, 1, &why);
        if (!rc)
            rc = bm_step_dir_create(&t->out, to, copy, &why);
    }
    return rc ? bm_fail(t->error, rc, "%s", why.text) : BOUMA_OK;
}

/* What did not arrive leaves nothing, not even a directory: that would look
 * like a step of which all is lost. */
static void leave_nothing(struct bm_store *to, const char *copy, uint64_t step)
{
    bm_store_remove(to, copy);
    bm_step_dir_remove(to, step);
}

/* Write the copy under its own name, then give it the right one. Whoever has
 * that name was whole and durable once, so another copier may be quicker;
 * 'replace' one that is damaged by now. */
static int arrive(struct trip *t, const char *copy, const char *name,
                  int replace)
{
    struct bm_store *to = t->c->to;
    struct bm_error why = {0};
    int rc = create_copy(t, copy), closed = BOUMA_OK;

    if (!rc) {
        rc = pass_bytes(t);
        if (!rc)
            t->c->bytes += t->file_bytes;
        if (!rc)
            rc = bm_file_sync(&t->out, t->error);
        closed = bm_file_close(&t->out, t->error);
        rc = rc ? rc : closed;
    }
    if (!rc) {
        rc = bm_store_publish(to, copy, name, replace, &why);
        /* The answer may be lost; or someone has tidied up. */
        if (rc && has_arrived(t, name)) {
            bm_store_remove(to, copy);
            return BOUMA_OK;
        }
        if (rc == BOUMA_EEXISTS)
            bm_fail(t->error, rc,
                    "%s/%s: there is another file of this name; move it away",
                    to->path, name);
        else if (rc)
            bm_fail(t->error, rc, "%s", why.text);
    }
    if (rc)
        leave_nothing(to, copy, t->head.step);
    return rc;
}

int bm_copy_subfile(struct bm_copier *c, uint64_t step,
                    struct bm_generation generation, uint32_t subfile,
                    const struct bm_subfile_info *info, struct bm_error *error)
{
    char name[BM_NAME_BYTES], copy[BM_NAME_BYTES];
    struct trip t = {.c = c, .error = error};
    uint8_t nonce[16];
    int rc, there, found;

    bm_identity_random(nonce);
    bm_name_subfile(name, step, subfile, generation);
    bm_name_copy(copy, step, subfile, generation, bm_load_u32(nonce));
    bm_schema_init(&t.schema, c->from->a, error);
    bm_head_init(&t.head, c->from->a);
    bm_buffer_init(&t.head_raw, c->from->a);
    bm_buffer_init(&t.front, c->from->a);
    rc = set_out(&t, name, step, generation, subfile, info);
    there = !rc && has_arrived(&t, name);
    found = there ? check_arrived(&t, name) : rc;
    if (found && found != BOUMA_EFORMAT)
        rc = found;
    if (!rc && (!there || found))
        rc = arrive(&t, copy, name, there);
    come_home(&t);
    return rc;
}

/* ---- tidying up --------------------------------------------------------- */

struct tidy {
    struct bm_store *s;
    uint64_t step;
    struct bm_generation generation;
};

static int remove_copy(void *context, const char *entry)
{
    const struct tidy *t = context;
    char name[BM_NAME_BYTES];
    struct bm_generation g;

    if (!bm_name_is_copy(entry, &g) || g.epoch != t->generation.epoch ||
        g.attempt != t->generation.attempt || strlen(entry) > 100)
        return 0;
    bm_name_in_step(name, t->step, entry);
    bm_store_remove(t->s, name);
    return 0;
}

void bm_copies_remove(struct bm_store *s, uint64_t step,
                      struct bm_generation generation)
{
    struct tidy t = {s, step, generation};
    struct bm_error ignored = {0};

    bm_step_dir_list(s, step, remove_copy, &t, &ignored);
}
