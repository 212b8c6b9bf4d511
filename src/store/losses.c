/* losses.c -- see losses.h; docs/format.md has the bytes of a record. */
#include "store/losses.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/search.h"
#include "store/envelope.h"

#define ENDING ".loss"

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
        bm_drop(list->a, list->steps[i].files);
    bm_drop(list->a, list->steps);
    list->steps = NULL;
    list->count = 0;
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

struct bm_lost_step *bm_losses_add(struct bm_loss_list *list,
                                   const struct bm_step_entry *entry)
{
    struct bm_lost_step *at = bm_losses_find(list, entry->step), *grown;
    size_t i;

    if (at) {
        bm_drop(list->a, at->files);
    } else {
        grown =
            bm_resize(list->a, list->steps, list->count + 1, sizeof(*grown));
        if (!grown)
            return NULL;
        list->steps = grown;
        /* Mostly they come in order. */
        for (i = list->count; i && grown[i - 1].entry.step > entry->step;)
            i--;
        memmove(grown + i + 1, grown + i, (list->count - i) * sizeof(*grown));
        list->count++;
        at = &grown[i];
    }
    memset(at, 0, sizeof(*at));
    at->entry = *entry;
    return at;
}

const struct bm_lost_file *bm_lost_step_file(const struct bm_lost_step *lost,
                                             uint32_t subfile)
{
    for (uint32_t i = 0; i < lost->count; i++)
        if (lost->files[i].subfile == subfile)
            return &lost->files[i];
    return NULL;
}

int bm_lost_step_add(struct bm_lost_step *lost, uint32_t subfile,
                     uint64_t bytes, const bouma_allocator *a)
{
    struct bm_lost_file *grown;
    uint32_t i = 0;

    while (i < lost->count && lost->files[i].subfile < subfile)
        i++;
    if (i == lost->count || lost->files[i].subfile != subfile) {
        grown =
            bm_resize(a, lost->files, (size_t)lost->count + 1, sizeof(*grown));
        if (!grown)
            return BOUMA_ENOMEM;
        lost->files = grown;
        memmove(grown + i + 1, grown + i, (lost->count - i) * sizeof(*grown));
        lost->count++;
    }
    lost->files[i] = (struct bm_lost_file){subfile, bytes};
    return BOUMA_OK;
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
    bm_put_u32(b, lost->accepted ? 1 : 0);
    bm_put_u32(b, lost->count);
    for (uint32_t i = 0; i < lost->count; i++) {
        bm_put_u32(b, lost->files[i].subfile);
        bm_put_u64(b, lost->files[i].bytes);
    }
    bm_envelope_seal(b, BM_KIND_LOSS, id, hash);
}

int bm_loss_decode_record(struct bm_lost_step *lost, const bouma_allocator *a,
                          const uint8_t *data, size_t bytes, const uint8_t *id,
                          const char *name, struct bm_error *error)
{
    struct bm_envelope e;
    struct bm_cursor c;
    uint32_t flags, count;
    int rc =
        bm_envelope_open(&e, &c, data, bytes, BM_KIND_LOSS, id, name, error);

    if (rc)
        return rc;
    lost->entry = bm_get_step_entry(&c);
    lost->recorded = bm_get_i64(&c);
    flags = bm_get_u32(&c);
    count = bm_get_u32(&c);
    if (c.failed || flags > 1 || lost->entry.step > INT64_MAX ||
        bm_cursor_left(&c) != (uint64_t)count * 12)
        return bm_envelope_fail(&e, name, error, "contradicts itself");
    lost->accepted = (int)flags;
    lost->files = bm_new(a, count, sizeof(*lost->files));
    if (!lost->files)
        return bm_fail(error, BOUMA_ENOMEM, "%s: no memory", name);
    lost->count = count;
    for (uint32_t i = 0; i < count; i++) {
        lost->files[i].subfile = bm_get_u32(&c);
        lost->files[i].bytes = bm_get_u64(&c);
        if (i && lost->files[i].subfile <= lost->files[i - 1].subfile)
            return bm_envelope_fail(&e, name, error, "contradicts itself");
    }
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
        rc = bm_loss_decode_record(&lost, l->s->a, b.data, b.size, l->id, name,
                                   &why);
    bm_buffer_release(&b);
    if (!rc && lost.entry.step != step)
        rc = BOUMA_EFORMAT;
    if (rc) { /* that something is lost is all that it tells */
        bm_drop(l->s->a, lost.files);
        memset(&lost, 0, sizeof(lost));
        lost.entry = entry;
        lost.recorded = -1;
    }
    at = rc == BOUMA_ENOMEM ? NULL : bm_losses_add(l->list, &entry);
    if (!at) {
        bm_drop(l->s->a, lost.files);
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

int bm_losses_load(struct bm_store *s, const uint8_t id[16],
                   struct bm_loss_list *list, struct bm_error *error)
{
    struct loader l = {s, id, list, error, BOUMA_OK};
    struct bm_error why = {0};
    int rc = bm_store_list(s, BM_NAME_LOST, load_entry, &l, &why);

    if (l.rc)
        return l.rc;
    return rc && rc != BOUMA_ENOTFOUND ? bm_fail(error, rc, "%s", why.text)
                                       : BOUMA_OK;
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
    struct bm_error why = {0};
    int rc = bm_store_list(s, BM_NAME_LOST, remove_beyond, &t, &why);

    if (rc)
        return rc == BOUMA_ENOTFOUND ? BOUMA_OK
                                     : bm_fail(error, rc, "%s", why.text);
    if (t.left[0])
        return bm_fail(error, BOUMA_EIO, "%s/%s: could not be removed", s->path,
                       t.left);
    return t.removed ? bm_store_sync_dir(s, BM_NAME_LOST, error) : BOUMA_OK;
}
