/* truncations.c -- see truncations.h; docs/format.md has the bytes. */
#include "store/truncations.h"

#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "store/envelope.h"
#include "store/identity.h"

#define ITEM_BYTES 16

void bm_truncations_init(struct bm_truncations *t, const bouma_allocator *a)
{
    memset(t, 0, sizeof(*t));
    t->a = a;
}

void bm_truncations_release(struct bm_truncations *t)
{
    if (t->a) {
        bm_drop(t->a, t->items);
        bm_drop(t->a, t->deletions);
    }
    t->items = NULL;
    t->deletions = NULL;
    t->count = t->deletion_count = 0;
}

/* Whether all that 'b' drops is dropped by 'a'. */
static int includes(const struct bm_truncation *a,
                    const struct bm_truncation *b)
{
    return a->last <= b->last &&
           !bm_generation_is_later(b->generation, a->generation);
}

/* The last generation of a step that a truncation has dropped. */
static struct bm_generation truncated(const struct bm_truncations *t,
                                      uint64_t step)
{
    size_t at = 0;

    if (!t->count || t->items[0].last >= (int64_t)step)
        return (struct bm_generation){0, 0};
    BM_BISECT(at, t->count, i, t->items[i].last < (int64_t)step)
    return t->items[at].generation;
}

/* Deletions of what truncations have dropped as well. */
static void drop_included(struct bm_truncations *t)
{
    size_t kept = 0;

    for (size_t i = 0; i < t->deletion_count; i++)
        if (bm_generation_is_later(t->deletions[i].generation,
                                   truncated(t, t->deletions[i].step)))
            t->deletions[kept++] = t->deletions[i];
    t->deletion_count = kept;
}

int bm_truncations_add(struct bm_truncations *t, struct bm_truncation item)
{
    struct bm_truncation *grown;
    size_t kept = 0, at;

    for (size_t i = 0; i < t->count; i++)
        if (includes(&t->items[i], &item))
            return BOUMA_OK;
    grown = bm_resize(t->a, t->items, t->count + 1, sizeof(*grown));
    if (!grown)
        return BOUMA_ENOMEM;
    t->items = grown;
    for (size_t i = 0; i < t->count; i++)
        if (!includes(&item, &grown[i]))
            grown[kept++] = grown[i];
    for (at = kept; at && grown[at - 1].last > item.last; at--)
        grown[at] = grown[at - 1];
    grown[at] = item;
    t->count = kept + 1;
    drop_included(t);
    return BOUMA_OK;
}

/* Both lists ascend, and of two that have the same step the first one is not
 * later: it is replaced. */
int bm_truncations_delete(struct bm_truncations *t,
                          const struct bm_step_list *steps,
                          struct bm_generation generation)
{
    size_t old = 0, count = 0;
    struct bm_deletion *all =
        bm_new(t->a, t->deletion_count + steps->count, sizeof(*all));

    if (!all)
        return BOUMA_ENOMEM;
    for (size_t i = 0; i < steps->count; i++) {
        uint64_t step = steps->entries[i].step;

        while (old < t->deletion_count && t->deletions[old].step < step)
            all[count++] = t->deletions[old++];
        all[count] = (struct bm_deletion){step, generation};
        if (old < t->deletion_count && t->deletions[old].step == step &&
            bm_generation_is_later(t->deletions[old].generation, generation))
            all[count] = t->deletions[old];
        old += old < t->deletion_count && t->deletions[old].step == step;
        count++;
    }
    while (old < t->deletion_count)
        all[count++] = t->deletions[old++];
    bm_drop(t->a, t->deletions);
    t->deletions = all;
    t->deletion_count = count;
    drop_included(t);
    return BOUMA_OK;
}

/* NULL: it was not deleted. */
static const struct bm_deletion *find_deletion(const struct bm_truncations *t,
                                               uint64_t step)
{
    size_t at = 0;

    BM_BISECT(at, t->deletion_count, i, t->deletions[i].step <= step)
    return at < t->deletion_count && t->deletions[at].step == step
               ? &t->deletions[at]
               : NULL;
}

int bm_truncations_is_deleted(const struct bm_truncations *t, uint64_t step)
{
    return find_deletion(t, step) != NULL;
}

struct bm_generation bm_truncations_limit(const struct bm_truncations *t,
                                          uint64_t step)
{
    const struct bm_deletion *deleted = find_deletion(t, step);
    struct bm_generation limit = truncated(t, step);

    return deleted && bm_generation_is_later(deleted->generation, limit)
               ? deleted->generation
               : limit;
}

int bm_truncations_has(const struct bm_truncations *t, uint64_t step,
                       struct bm_generation generation)
{
    return generation.epoch &&
           !bm_generation_is_later(generation, bm_truncations_limit(t, step));
}

uint32_t bm_truncations_epoch(const struct bm_truncations *t)
{
    uint32_t epoch = t->count ? t->items[t->count - 1].generation.epoch : 0;

    for (size_t i = 0; i < t->deletion_count; i++)
        if (t->deletions[i].generation.epoch > epoch)
            epoch = t->deletions[i].generation.epoch;
    return epoch;
}

/* ---- bytes -------------------------------------------------------------- */

void bm_truncations_encode(struct bm_buffer *b, const struct bm_truncations *t,
                           const uint8_t id[16])
{
    uint8_t hash[16];

    bm_envelope_reserve(b);
    bm_put_u64(b, t->count);
    for (size_t i = 0; i < t->count; i++) {
        bm_put_i64(b, t->items[i].last);
        bm_put_u32(b, t->items[i].generation.epoch);
        bm_put_u32(b, t->items[i].generation.attempt);
    }
    if (t->deletion_count)
        bm_put_u64(b, t->deletion_count);
    for (size_t i = 0; i < t->deletion_count; i++) {
        bm_put_u64(b, t->deletions[i].step);
        bm_put_u32(b, t->deletions[i].generation.epoch);
        bm_put_u32(b, t->deletions[i].generation.attempt);
    }
    bm_envelope_seal(b, BM_KIND_TRUNCATIONS, id, hash);
}

/* Whether it is one that can be, and comes after 'before' (NULL: it is the
 * first). */
static int is_sound(const struct bm_truncation *item,
                    const struct bm_truncation *before)
{
    return item->last >= -1 && item->generation.epoch &&
           (!before ||
            (item->last > before->last &&
             bm_generation_is_later(item->generation, before->generation)));
}

/* The same for a deletion, which no truncation may include. */
static int is_sound_deletion(const struct bm_truncations *t,
                             const struct bm_deletion *item,
                             const struct bm_deletion *before)
{
    return item->step <= INT64_MAX && item->generation.epoch &&
           (!before || item->step > before->step) &&
           bm_generation_is_later(item->generation, truncated(t, item->step));
}

/* Records of a list, at least 'least' of them, whose bytes are all there. *rc is
 * ENOMEM, or EFORMAT, or stays. */
static void *new_list(const struct bm_truncations *t, struct bm_cursor *c,
                      size_t least, size_t bytes, size_t *count, int *rc)
{
    uint64_t n = bm_get_u64(c);
    void *list = NULL;

    if (c->failed || n < least || n > bm_cursor_left(c) / ITEM_BYTES) {
        *rc = BOUMA_EFORMAT;
        return NULL;
    }
    list = bm_new(t->a, (size_t)n, bytes);
    *rc = list || !n ? *rc : BOUMA_ENOMEM;
    *count = list ? (size_t)n : 0;
    return list;
}

static int decode_items(struct bm_truncations *t, struct bm_cursor *c)
{
    int rc = BOUMA_OK;

    t->items = new_list(t, c, 0, sizeof(*t->items), &t->count, &rc);
    for (size_t i = 0; i < t->count && !rc; i++) {
        struct bm_truncation *item = &t->items[i];

        item->last = bm_get_i64(c);
        item->generation.epoch = bm_get_u32(c);
        item->generation.attempt = bm_get_u32(c);
        if (!is_sound(item, i ? item - 1 : NULL))
            rc = BOUMA_EFORMAT;
    }
    /* Deletions follow if there are any: and one of both there must be. */
    return !rc && !t->count && !bm_cursor_left(c) ? BOUMA_EFORMAT : rc;
}

static int decode_deletions(struct bm_truncations *t, struct bm_cursor *c)
{
    int rc = BOUMA_OK;

    t->deletions =
        new_list(t, c, 1, sizeof(*t->deletions), &t->deletion_count, &rc);
    for (size_t i = 0; i < t->deletion_count && !rc; i++) {
        struct bm_deletion *item = &t->deletions[i];

        item->step = bm_get_u64(c);
        item->generation.epoch = bm_get_u32(c);
        item->generation.attempt = bm_get_u32(c);
        if (!is_sound_deletion(t, item, i ? item - 1 : NULL))
            rc = BOUMA_EFORMAT;
    }
    return !rc && bm_cursor_left(c) ? BOUMA_EFORMAT : rc;
}

int bm_truncations_decode(struct bm_truncations *t, const uint8_t *data,
                          size_t bytes, const uint8_t *id, const char *name,
                          struct bm_error *error)
{
    struct bm_metadata in = {data, bytes, id, name};
    struct bm_envelope e;
    struct bm_cursor c;
    int rc = bm_envelope_open(&e, &c, &in, BM_KIND_TRUNCATIONS, error);

    if (rc)
        return rc;
    rc = decode_items(t, &c);
    if (!rc && bm_cursor_left(&c))
        rc = decode_deletions(t, &c);
    if (!rc)
        return BOUMA_OK;
    bm_truncations_release(t);
    return rc == BOUMA_ENOMEM
               ? bm_fail(error, rc, "%s: no memory", name)
               : bm_envelope_fail(&e, name, error, "contradicts itself");
}

/* ---- the file ----------------------------------------------------------- */

int bm_truncations_load(struct bm_store *s, const uint8_t id[16],
                        struct bm_truncations *t, struct bm_error *error)
{
    struct bm_error why = {0};
    char name[1200];
    struct bm_buffer b;
    int rc;

    snprintf(name, sizeof(name), "%s/" BM_NAME_TRUNCATIONS, s->path);
    bm_truncations_release(t);
    bm_buffer_init(&b, s->a);
    rc = bm_store_load(s, BM_NAME_TRUNCATIONS, &b, s->memory_limit, &why);
    if (!rc)
        rc = bm_truncations_decode(t, b.data, b.size, id, name, &why);
    bm_buffer_release(&b);
    if (rc == BOUMA_ENOTFOUND)
        return BOUMA_OK;
    return rc ? bm_fail(error, rc, "%s", why.text) : BOUMA_OK;
}

static int save(struct bm_store *s, const uint8_t id[16],
                const struct bm_truncations *t, uint32_t epoch,
                struct bm_error *error)
{
    struct bm_buffer b;
    int rc = BOUMA_OK;

    bm_buffer_init(&b, s->a);
    bm_truncations_encode(&b, t, id);
    if (b.failed)
        rc =
            bm_fail(error, BOUMA_ENOMEM, BM_NAME_TRUNCATIONS_NEW ": no memory");
    if (!rc) {
        bm_store_remove(s, BM_NAME_TRUNCATIONS_NEW); /* of one who was killed */
        rc =
            bm_store_save(s, BM_NAME_TRUNCATIONS_NEW, b.data, b.size, 1, error);
    }
    if (!rc)
        rc = bm_epoch_check(s, epoch, error);
    if (!rc)
        rc = bm_store_publish(s, BM_NAME_TRUNCATIONS_NEW, BM_NAME_TRUNCATIONS,
                              1, error);
    bm_buffer_release(&b);
    return rc;
}

/* Of a truncation, or of the deletion of 'steps'. */
static int record(struct bm_store *s, const uint8_t id[16],
                  struct bm_truncation item, const struct bm_step_list *steps,
                  struct bm_error *error)
{
    struct bm_truncations t;
    int rc;

    bm_truncations_init(&t, s->a);
    rc = bm_truncations_load(s, id, &t, error);
    if (rc == BOUMA_EFORMAT)
        bm_error_prefix(error,
                        "no step was dropped, as the record of those that were "
                        "before cannot be read (`bouma repair` moves it to "
                        "lost/)");
    if (!rc && (steps ? bm_truncations_delete(&t, steps, item.generation)
                      : bm_truncations_add(&t, item)))
        rc = bm_fail(error, BOUMA_ENOMEM, BM_NAME_TRUNCATIONS ": no memory");
    if (!rc)
        rc = save(s, id, &t, item.generation.epoch, error);
    /* Also if it was there before: its name may not be durable yet. */
    if (!rc)
        rc = bm_store_sync_dir(s, "", error);
    bm_truncations_release(&t);
    return rc;
}

int bm_truncations_record(struct bm_store *s, const uint8_t id[16],
                          struct bm_truncation item, struct bm_error *error)
{
    return record(s, id, item, NULL, error);
}

int bm_truncations_record_deleted(struct bm_store *s, const uint8_t id[16],
                                  const struct bm_step_list *steps,
                                  struct bm_generation generation,
                                  struct bm_error *error)
{
    return record(s, id, (struct bm_truncation){0, generation}, steps, error);
}

int bm_truncations_remove(struct bm_store *s)
{
    bm_store_remove(s, BM_NAME_TRUNCATIONS_NEW);
    bm_store_remove(s, BM_NAME_TRUNCATIONS);
    return bm_store_is_absent(s, BM_NAME_TRUNCATIONS_NEW) &&
           bm_store_is_absent(s, BM_NAME_TRUNCATIONS);
}
