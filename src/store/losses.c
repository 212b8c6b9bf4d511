/* losses.c -- see losses.h; docs/format.md has the bytes of a record. */
#include "store/losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/search.h"
#include "store/envelope.h"

#define ENDING ".loss"

enum { ACCEPTED = 1, HAS_PIECES = 2 }; /* flags */

/* ---- the list ----------------------------------------------------------- */

void bm_losses_init(struct bm_loss_list *list, const bouma_allocator *a)
{
    memset(list, 0, sizeof(*list));
    list->a = a;
}

void bm_losses_release(struct bm_loss_list *list)
{
    if (!list->a)
        return;
    for (size_t i = 0; i < list->count; i++)
        bm_lost_step_release(&list->steps[i], list->a);
    bm_drop(list->a, list->steps);
    list->steps = NULL;
    list->count = list->capacity = 0;
}

struct bm_lost_step *bm_losses_find(const struct bm_loss_list *list,
                                    uint64_t step)
{
    size_t at = 0;

    BM_BISECT(at, list->count, i, list->steps[i].entry.step <= step);
    return at < list->count && list->steps[at].entry.step == step
               ? &list->steps[at]
               : NULL;
}

struct bm_lost_step *bm_losses_append(struct bm_loss_list *list,
                                      const struct bm_step_entry *entry)
{
    struct bm_lost_step *at;

    if (list->count == list->capacity) {
        size_t room = 2 * list->capacity + 16;

        at = bm_resize(list->a, list->steps, room, sizeof(*at));
        if (!at)
            return NULL;
        list->steps = at;
        list->capacity = room;
    }
    at = &list->steps[list->count++];
    memset(at, 0, sizeof(*at));
    at->entry = *entry;
    return at;
}

static int by_step(const void *left, const void *right)
{
    uint64_t a = ((const struct bm_lost_step *)left)->entry.step;
    uint64_t b = ((const struct bm_lost_step *)right)->entry.step;

    return a < b ? -1 : a > b;
}

void bm_losses_sort(struct bm_loss_list *list)
{
    if (list->count)
        qsort(list->steps, list->count, sizeof(*list->steps), by_step);
}

/* ---- one step ------------------------------------------------------------ */

void bm_lost_step_release(struct bm_lost_step *lost, const bouma_allocator *a)
{
    bm_drop(a, lost->files);
    bm_drop(a, lost->pieces);
    lost->files = NULL;
    lost->pieces = NULL;
    lost->count = lost->piece_count = 0;
}

int bm_lost_step_is_vague(const struct bm_lost_step *lost)
{
    return lost->recorded < 0 && !lost->unreadable;
}

int bm_lost_step_is_whole(const struct bm_lost_step *lost)
{
    return !lost->count && !lost->piece_count;
}

/* Room for one element more: there is room up to the next power of two. */
static void *grow(void *array, uint32_t count, size_t size,
                  const bouma_allocator *a)
{
    return count & (count - 1)
               ? array
               : bm_resize(a, array, 2 * (size_t)count + !count, size);
}

int bm_lost_step_add(struct bm_lost_step *lost, uint32_t subfile,
                     uint64_t bytes, const bouma_allocator *a)
{
    struct bm_lost_file *grown =
        grow(lost->files, lost->count, sizeof(*grown), a);

    if (!grown)
        return BOUMA_ENOMEM;
    lost->files = grown;
    grown[lost->count++] = (struct bm_lost_file){subfile, bytes};
    return BOUMA_OK;
}

const struct bm_lost_file *bm_lost_step_file(const struct bm_lost_step *lost,
                                             uint32_t subfile)
{
    size_t at = 0;

    BM_BISECT(at, lost->count, i, lost->files[i].subfile <= subfile);
    return at < lost->count && lost->files[at].subfile == subfile
               ? &lost->files[at]
               : NULL;
}

int bm_lost_step_add_piece(struct bm_lost_step *lost, uint32_t subfile,
                           uint64_t offset, const bouma_allocator *a)
{
    struct bm_lost_piece *grown =
        grow(lost->pieces, lost->piece_count, sizeof(*grown), a);

    if (!grown)
        return BOUMA_ENOMEM;
    lost->pieces = grown;
    grown[lost->piece_count++] = (struct bm_lost_piece){subfile, offset};
    return BOUMA_OK;
}

static int by_offset(const void *left, const void *right)
{
    const struct bm_lost_piece *a = left, *b = right;

    if (a->subfile != b->subfile)
        return a->subfile < b->subfile ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

void bm_lost_step_sort(struct bm_lost_step *lost)
{
    if (lost->piece_count)
        qsort(lost->pieces, lost->piece_count, sizeof(*lost->pieces),
              by_offset);
}

int bm_lost_step_has_piece(const struct bm_lost_step *lost, uint32_t subfile,
                           uint64_t offset)
{
    struct bm_lost_piece piece = {subfile, offset};
    size_t at = 0;

    BM_BISECT(at, lost->piece_count, i,
              by_offset(&lost->pieces[i], &piece) <= 0);
    return at < lost->piece_count && !by_offset(&lost->pieces[at], &piece);
}

uint32_t bm_lost_step_files(const struct bm_lost_step *lost)
{
    uint32_t n = lost->count;

    for (uint32_t i = 0; i < lost->piece_count; i++)
        n += (!i || lost->pieces[i].subfile != lost->pieces[i - 1].subfile) &&
             !bm_lost_step_file(lost, lost->pieces[i].subfile);
    return n;
}

int bm_lost_step_covers(const struct bm_lost_step *all,
                        const struct bm_lost_step *some)
{
    for (uint32_t i = 0; i < some->count; i++) {
        const struct bm_lost_file *file =
            bm_lost_step_file(all, some->files[i].subfile);

        if (!file || file->bytes != some->files[i].bytes)
            return 0;
    }
    for (uint32_t i = 0; i < some->piece_count; i++)
        if (!bm_lost_step_has_piece(all, some->pieces[i].subfile,
                                    some->pieces[i].offset))
            return 0;
    return 1;
}

const char *bm_loss_date(char text[BM_LOSS_DATE],
                         const struct bm_lost_step *lost)
{
    time_t when = (time_t)lost->recorded;
    struct tm parts;

    if (!lost->recorded)
        snprintf(text, BM_LOSS_DATE, "not on record");
    else if (lost->recorded < 0 || !gmtime_r(&when, &parts) ||
             !strftime(text, BM_LOSS_DATE, "recorded %Y-%m-%d", &parts))
        snprintf(text, BM_LOSS_DATE, "recorded");
    return text;
}

/* ---- bytes -------------------------------------------------------------- */

void bm_loss_encode(struct bm_buffer *b, const struct bm_lost_step *lost,
                    const uint8_t id[16])
{
    uint8_t hash[16];

    bm_envelope_reserve(b);
    bm_put_step_entry(b, &lost->entry);
    bm_put_i64(b, lost->recorded);
    bm_put_u32(b, (lost->accepted ? ACCEPTED : 0u) |
                      (lost->piece_count ? HAS_PIECES : 0u));
    bm_put_u32(b, lost->count);
    for (uint32_t i = 0; i < lost->count; i++) {
        bm_put_u32(b, lost->files[i].subfile);
        bm_put_u64(b, lost->files[i].bytes);
    }
    if (lost->piece_count)
        bm_put_u32(b, lost->piece_count);
    for (uint32_t i = 0; i < lost->piece_count; i++) {
        bm_put_u32(b, lost->pieces[i].subfile);
        bm_put_u64(b, lost->pieces[i].offset);
    }
    bm_envelope_seal(b, BM_KIND_LOSS, id, hash);
}

/* The files, and the pieces behind them: each a number and a u64, ascending.
 * EFORMAT if they are not, or not all there. */
static int decode_parts(struct bm_lost_step *lost, const bouma_allocator *a,
                        struct bm_cursor *c, uint32_t count, int pieces)
{
    int rc = BOUMA_OK;

    if ((uint64_t)count * 12 > bm_cursor_left(c))
        return BOUMA_EFORMAT;
    for (uint32_t i = 0; i < count && !rc; i++) {
        uint32_t subfile = bm_get_u32(c);
        uint64_t number = bm_get_u64(c);

        rc = pieces ? bm_lost_step_add_piece(lost, subfile, number, a)
                    : bm_lost_step_add(lost, subfile, number, a);
        if (!rc && i &&
            (pieces ? by_offset(&lost->pieces[i - 1], &lost->pieces[i]) >= 0
                    : lost->files[i - 1].subfile >= subfile))
            rc = BOUMA_EFORMAT;
    }
    return rc;
}

int bm_loss_decode_record(struct bm_lost_step *lost, const bouma_allocator *a,
                          const struct bm_metadata *in, struct bm_error *error)
{
    struct bm_envelope e;
    struct bm_cursor c;
    uint32_t flags, count;
    int rc = bm_envelope_open(&e, &c, in, BM_KIND_LOSS, error);

    if (rc)
        return rc;
    lost->entry = bm_get_step_entry(&c);
    lost->recorded = bm_get_i64(&c);
    flags = bm_get_u32(&c);
    lost->accepted = (flags & ACCEPTED) != 0;
    count = bm_get_u32(&c);
    rc = c.failed ? BOUMA_EFORMAT : decode_parts(lost, a, &c, count, 0);
    if (!rc && flags & HAS_PIECES) {
        count = bm_get_u32(&c);
        rc = count ? decode_parts(lost, a, &c, count, 1) : BOUMA_EFORMAT;
    }
    if (rc == BOUMA_ENOMEM)
        return bm_fail(error, rc, "%s: no memory", in->name);
    if (rc || c.failed || bm_cursor_left(&c) ||
        flags > (ACCEPTED | HAS_PIECES) || lost->entry.step > INT64_MAX)
        return bm_envelope_fail(&e, in->name, error, "contradicts itself");
    return BOUMA_OK;
}

/* ---- files -------------------------------------------------------------- */

void bm_name_loss(char name[BM_NAME_BYTES], uint64_t step)
{
    snprintf(name, BM_NAME_BYTES, BM_NAME_LOST "/%08" PRIu64 ENDING, step);
}

int bm_name_parse_loss(const char *entry, uint64_t *step)
{
    char name[BM_NAME_BYTES];
    size_t n = strlen(entry), ending = sizeof(ENDING) - 1;

    if (n <= ending || n >= sizeof(name) || strcmp(entry + n - ending, ENDING))
        return 0;
    memcpy(name, entry, n - ending);
    name[n - ending] = 0;
    return bm_name_parse_step(name, step);
}

struct loader {
    struct bm_store *s;
    const uint8_t *id;
    struct bm_loss_list *list;
    struct bm_error *error;
    int rc;
};

/* One record, whose name gives the step. */
static int load(struct loader *l, uint64_t step)
{
    struct bm_step_entry entry = {step, 0, {0, 0}};
    struct bm_lost_step lost, *at;
    struct bm_error why = {0};
    char name[BM_NAME_BYTES];
    struct bm_buffer b;
    int rc;

    bm_name_loss(name, step);
    memset(&lost, 0, sizeof(lost));
    bm_buffer_init(&b, l->s->a);
    rc = bm_store_load(l->s, name, &b, l->s->memory_limit, &why);
    if (!rc)
        rc = bm_loss_decode_record(
            &lost, l->s->a, &(struct bm_metadata){b.data, b.size, l->id, name},
            &why);
    bm_buffer_release(&b);
    if (!rc && lost.entry.step != step)
        rc = BOUMA_EFORMAT;
    if (rc == BOUMA_ENOTFOUND) /* removed since lost/ was listed */
        return BOUMA_OK;
    if (rc) { /* that something is lost is all that it tells */
        bm_lost_step_release(&lost, l->s->a);
        memset(&lost, 0, sizeof(lost));
        lost.entry = entry;
        lost.recorded = -1;
        lost.unreadable =
            rc == BOUMA_EIO || rc == BOUMA_EVERSION || rc == BOUMA_ELIMIT;
    }
    at = rc == BOUMA_ENOMEM ? NULL : bm_losses_append(l->list, &entry);
    if (!at) {
        bm_lost_step_release(&lost, l->s->a);
        return bm_fail(l->error, BOUMA_ENOMEM, "%s: no memory for its losses",
                       l->s->path);
    }
    *at = lost;
    return BOUMA_OK;
}

static int load_entry(void *context, const char *entry)
{
    struct loader *l = context;
    uint64_t step;

    if (bm_name_parse_loss(entry, &step))
        l->rc = load(l, step);
    return l->rc != BOUMA_OK; /* stops the listing */
}

/* Go through lost/. If it is missing, or a file, there is nothing in it. */
static int list_lost(struct bm_store *s,
                     int (*each)(void *context, const char *entry),
                     void *context, struct bm_error *error)
{
    struct bm_error why = {0};
    int rc = bm_store_list(s, BM_NAME_LOST, each, context, &why);

    if (!rc || rc == BOUMA_ENOTFOUND || bm_store_exists(s, BM_NAME_LOST))
        return BOUMA_OK;
    return bm_fail(error, rc, "%s", why.text);
}

int bm_losses_load(struct bm_store *s, const uint8_t id[16],
                   struct bm_loss_list *list, struct bm_error *error)
{
    struct loader l = {s, id, list, error, BOUMA_OK};
    int rc;

    rc = list_lost(s, load_entry, &l, error);
    bm_losses_sort(list);
    return l.rc ? l.rc : rc;
}

int bm_losses_save(struct bm_store *s, const uint8_t id[16],
                   struct bm_lost_step *lost, struct bm_error *error)
{
    char name[BM_NAME_BYTES], fresh[BM_NAME_BYTES + 8];
    struct bm_buffer b;
    int rc;

    if (lost->recorded <= 0)
        lost->recorded = bm_clock_date();
    bm_name_loss(name, lost->entry.step);
    snprintf(fresh, sizeof(fresh), "%s.tmp", name);
    bm_buffer_init(&b, s->a);
    bm_loss_encode(&b, lost, id);
    rc = b.failed ? bm_fail(error, BOUMA_ENOMEM, "%s: no memory", name)
                  : bm_store_make_dir(s, BM_NAME_LOST, 1, error);
    if (!rc) {
        bm_store_remove(s, fresh);
        rc = bm_store_save(s, fresh, b.data, b.size, 1, error);
    }
    if (!rc)
        rc = bm_store_publish(s, fresh, name, 1, error);
    if (!rc)
        rc = bm_store_sync_dir(s, BM_NAME_LOST, error);
    if (!rc)
        rc = bm_store_sync_dir(s, "", error);
    bm_buffer_release(&b);
    return rc;
}

int bm_losses_remove(struct bm_store *s, uint64_t step, struct bm_error *error)
{
    char name[BM_NAME_BYTES];

    bm_name_loss(name, step);
    bm_store_remove(s, name);
    if (!bm_store_is_absent(s, name))
        return bm_fail(error, BOUMA_EIO, "%s/%s: could not be removed", s->path,
                       name);
    return bm_store_sync_dir(s, BM_NAME_LOST, error);
}

struct truncation {
    struct bm_store *s;
    int64_t last;
    int removed;
    char left[BM_NAME_BYTES]; /* one that could not be removed */
};

static int remove_beyond(void *context, const char *entry)
{
    struct truncation *t = context;
    char name[BM_NAME_BYTES];
    uint64_t step;

    if (!bm_name_parse_loss(entry, &step) || (int64_t)step <= t->last)
        return 0;
    bm_name_loss(name, step);
    bm_store_remove(t->s, name);
    t->removed = 1;
    if (!bm_store_is_absent(t->s, name))
        memcpy(t->left, name, sizeof(name));
    return 0;
}

int bm_losses_truncate(struct bm_store *s, int64_t last, struct bm_error *error)
{
    struct truncation t = {.s = s, .last = last};
    int rc = list_lost(s, remove_beyond, &t, error);

    if (rc)
        return rc;
    if (t.left[0])
        return bm_fail(error, BOUMA_EIO, "%s/%s: could not be removed", s->path,
                       t.left);
    return t.removed ? bm_store_sync_dir(s, BM_NAME_LOST, error) : BOUMA_OK;
}
