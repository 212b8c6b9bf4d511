/* name_table.c -- see name_table.h. */
#include "machine/name_table.h"

#include <limits.h>
#include <string.h>

#include "base/hash.h"

void bm_name_table_init(struct bm_name_table *r, const bouma_allocator *a)
{
    memset(r, 0, sizeof(*r));
    r->a = a;
    bm_buffer_init(&r->text, a);
}

void bm_name_table_release(struct bm_name_table *r)
{
    if (!r->a)
        return;
    bm_buffer_release(&r->text);
    bm_drop(r->a, r->start);
    bm_drop(r->a, r->slots);
    memset(r, 0, sizeof(*r));
}

const char *bm_name_table_name(const struct bm_name_table *r, int i)
{
    return (const char *)r->text.data + r->start[i];
}

/* The slot that has the name, or the free one where it would be. */
static size_t slot_of(const struct bm_name_table *r, const char *name,
                      size_t bytes)
{
    size_t mask = ((size_t)1 << r->bits) - 1;
    size_t i = (size_t)bm_hash64(name, bytes, 0) & mask;

    for (; r->slots[i] >= 0; i = (i + 1) & mask) {
        const char *other = bm_name_table_name(r, r->slots[i]);

        if (!strncmp(other, name, bytes) && !other[bytes])
            break;
    }
    return i;
}

int bm_name_table_find(const struct bm_name_table *r, const char *name,
                       size_t bytes)
{
    return r->slots && !memchr(name, 0, bytes)
               ? r->slots[slot_of(r, name, bytes)]
               : -1;
}

/* Twice the room, half of the slots free. */
static int grow(struct bm_name_table *r)
{
    int room = r->room ? 2 * r->room : 16, bits = r->bits ? r->bits + 1 : 5;
    size_t slots = (size_t)1 << bits;
    size_t *start;
    int *fresh;

    if (r->room > INT_MAX / 4)
        return 0;
    start = bm_resize(r->a, r->start, (size_t)room, sizeof(*start));
    if (!start)
        return 0;
    r->start = start;
    fresh = bm_new_raw(r->a, slots, sizeof(*fresh));
    if (!fresh)
        return 0;
    bm_drop(r->a, r->slots);
    r->slots = fresh;
    r->bits = bits;
    r->room = room;
    for (size_t i = 0; i < slots; i++)
        fresh[i] = -1;
    for (int i = 0; i < r->count; i++) {
        const char *name = bm_name_table_name(r, i);

        fresh[slot_of(r, name, strlen(name))] = i;
    }
    return 1;
}

int bm_name_table_add(struct bm_name_table *r, const char *name, size_t bytes)
{
    int found = bm_name_table_find(r, name, bytes);
    size_t start = r->text.size;

    if (found >= 0)
        return found;
    if (memchr(name, 0, bytes) || (r->count == r->room && !grow(r)))
        return -1;
    bm_put_bytes(&r->text, name, bytes);
    bm_put_u8(&r->text, 0);
    if (r->text.failed)
        return -1;
    r->start[r->count] = start;
    r->slots[slot_of(r, name, bytes)] = r->count;
    return r->count++;
}
