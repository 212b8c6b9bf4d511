/* truncations.c -- see truncations.h; docs/format.md has the bytes. */
#include "store/truncations.h"

#include <stdio.h>
#include <string.h>

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
    if (t->a)
        bm_drop(t->a, t->items);
    t->items = NULL;
    t->count = 0;
}

/* Whether all that 'b' drops is dropped by 'a'. */
static int includes(const struct bm_truncation *a,
                    const struct bm_truncation *b)
{
    return a->last <= b->last &&
           !bm_generation_is_later(b->generation, a->generation);
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
    return BOUMA_OK;
}

struct bm_generation bm_truncations_limit(const struct bm_truncations *t,
                                          uint64_t step)
{
    struct bm_generation limit = {0, 0};

    for (size_t i = 0; i < t->count && (int64_t)step > t->items[i].last; i++)
        limit = t->items[i].generation;
    return limit;
}

int bm_truncations_has(const struct bm_truncations *t, uint64_t step,
                       struct bm_generation generation)
{
    return generation.epoch &&
           !bm_generation_is_later(generation, bm_truncations_limit(t, step));
}

uint32_t bm_truncations_epoch(const struct bm_truncations *t)
{
    return t->count ? t->items[t->count - 1].generation.epoch : 0;
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

int bm_truncations_decode(struct bm_truncations *t, const uint8_t *data,
                          size_t bytes, const uint8_t *id, const char *name,
                          struct bm_error *error)
{
    struct bm_metadata in = {data, bytes, id, name};
    struct bm_envelope e;
    struct bm_cursor c;
    uint64_t count;
    int rc = bm_envelope_open(&e, &c, &in, BM_KIND_TRUNCATIONS, error), sound;

    if (rc)
        return rc;
    count = bm_get_u64(&c);
    sound = !c.failed && count && bm_cursor_left(&c) % ITEM_BYTES == 0 &&
            count == bm_cursor_left(&c) / ITEM_BYTES;
    if (sound) {
        t->items = bm_new(t->a, (size_t)count, sizeof(*t->items));
        if (!t->items)
            return bm_fail(error, BOUMA_ENOMEM, "%s: no memory", name);
    }
    for (size_t i = 0; sound && i < count; i++) {
        struct bm_truncation *item = &t->items[i];

        item->last = bm_get_i64(&c);
        item->generation.epoch = bm_get_u32(&c);
        item->generation.attempt = bm_get_u32(&c);
        sound = is_sound(item, i ? item - 1 : NULL);
    }
    if (!sound) {
        bm_truncations_release(t);
        return bm_envelope_fail(&e, name, error, "contradicts itself");
    }
    t->count = (size_t)count;
    return BOUMA_OK;
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

int bm_truncations_record(struct bm_store *s, const uint8_t id[16],
                          struct bm_truncation item, struct bm_error *error)
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
    if (!rc && bm_truncations_add(&t, item))
        rc = bm_fail(error, BOUMA_ENOMEM, BM_NAME_TRUNCATIONS ": no memory");
    if (!rc)
        rc = save(s, id, &t, item.generation.epoch, error);
    /* Also if it was there before: its name may not be durable yet. */
    if (!rc)
        rc = bm_store_sync_dir(s, "", error);
    bm_truncations_release(&t);
    return rc;
}

int bm_truncations_remove(struct bm_store *s)
{
    bm_store_remove(s, BM_NAME_TRUNCATIONS_NEW);
    bm_store_remove(s, BM_NAME_TRUNCATIONS);
    return bm_store_is_absent(s, BM_NAME_TRUNCATIONS_NEW) &&
           bm_store_is_absent(s, BM_NAME_TRUNCATIONS);
}
