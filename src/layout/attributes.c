/* attributes.c -- named values, in memory and as bytes. */
#include <stdio.h>
#include <string.h>

#include "layout/schema.h"

/* The bytes of the UTF-8 character at 'p', as the Unicode Standard has them
 * (table 3-7); 0: it is none. The text ends with a zero byte, which no
 * character goes beyond. */
static int character_bytes(const unsigned char *p)
{
    int bytes = *p < 0x80   ? 1
                : *p < 0xc2 ? 0
                : *p < 0xe0 ? 2
                : *p < 0xf0 ? 3
                : *p < 0xf5 ? 4
                            : 0;
    unsigned char low = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80;
    unsigned char high = *p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf;

    if (bytes > 1 && (p[1] < low || p[1] > high))
        return 0;
    for (int i = 2; i < bytes; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return bytes;
}

const char *bm_name_check(const char *name)
{
    const unsigned char *p = (const unsigned char *)name;
    size_t n = name ? strlen(name) : 0;

    if (!n)
        return "is empty";
    if (n > BM_MAX_NAME)
        return "is longer than 255 bytes";
    while (*p) {
        int bytes = character_bytes(p);

        if (*p < 0x20 || *p == 0x7f)
            return "has a control character";
        if (*p == '/')
            return "has a '/', which separates the names of objects and "
                   "variables";
        if (!bytes)
            return "is not UTF-8";
        p += bytes;
    }
    return NULL;
}

void bm_attributes_init(struct bouma_attributes *attributes,
                        const bouma_allocator *a, struct bm_error *error)
{
    memset(attributes, 0, sizeof(*attributes));
    attributes->a = a;
    attributes->error = error;
}

void bm_attributes_clear(struct bouma_attributes *attributes)
{
    for (int i = 0; i < attributes->count; i++) {
        bm_drop(attributes->a, attributes->entries[i].name);
        bm_drop(attributes->a, attributes->entries[i].values);
    }
    attributes->count = 0;
    attributes->names.count = 0;
}

void bm_attributes_release(struct bouma_attributes *attributes)
{
    if (!attributes->a)
        return;
    bm_attributes_clear(attributes);
    bm_drop(attributes->a, attributes->entries);
    attributes->entries = NULL;
    bm_catalogue_release(&attributes->names, attributes->a);
}

static const char *name_at(const void *list, size_t index)
{
    return ((const struct bm_attribute *)list)[index].name;
}

struct bm_attribute *
bm_attributes_find(const struct bouma_attributes *attributes, const char *name)
{
    int i = bm_catalogue_find(&attributes->names, attributes->entries, name_at,
                              name, NULL);

    return i < 0 ? NULL : &attributes->entries[i];
}

/* A copy of the values with a NUL behind; NULL without memory. */
static void *copy_values(const bouma_allocator *a, const void *values,
                         size_t bytes)
{
    char *copy = bm_new_raw(a, bytes + 1, 1);

    if (copy) {
        if (bytes)
            memcpy(copy, values, bytes);
        copy[bytes] = 0;
    }
    return copy;
}

int bm_attributes_set(struct bouma_attributes *attributes, const char *name,
                      bouma_type type, size_t count, const void *values)
{
    struct bm_attribute *grown;
    size_t rank;
    int old = bm_catalogue_find(&attributes->names, attributes->entries,
                                name_at, name, &rank);
    void *copy =
        copy_values(attributes->a, values, count * bouma_type_size(type));
    char *own;

    if (!copy)
        return BOUMA_ENOMEM;
    if (old >= 0) {
        struct bm_attribute *e = &attributes->entries[old];

        bm_drop(attributes->a, e->values);
        e->type = type;
        e->count = count;
        e->values = copy;
        return BOUMA_OK;
    }
    own = bm_copy_text(attributes->a, name);
    grown = own ? bm_grow(attributes->a, attributes->entries,
                          (size_t)attributes->count, sizeof(*grown))
                : NULL;
    if (grown)
        attributes->entries = grown;
    if (!grown || bm_catalogue_add(&attributes->names, attributes->a, rank)) {
        bm_drop(attributes->a, own);
        bm_drop(attributes->a, copy);
        return BOUMA_ENOMEM;
    }
    grown[attributes->count++] = (struct bm_attribute){own, type, count, copy};
    return BOUMA_OK;
}

void bm_attributes_encode(struct bm_buffer *b,
                          const struct bouma_attributes *attributes)
{
    bm_put_u64(b, (uint64_t)attributes->count);
    for (int i = 0; i < attributes->count; i++) {
        const struct bm_attribute *e = &attributes->entries[i];
        size_t size = bouma_type_size(e->type), at;

        bm_put_text(b, e->name);
        bm_put_u8(b, (uint8_t)e->type);
        bm_put_u64(b, e->count);
        at = b->size;
        bm_put_bytes(b, e->values, e->count * size);
        if (!b->failed)
            bm_swap_to_little(b->data + at, e->count, size);
    }
}

static int decode_one(struct bouma_attributes *attributes, struct bm_cursor *c)
{
    int no_memory = 0, rc = BOUMA_EFORMAT;
    char *name = bm_get_text(c, attributes->a, &no_memory);
    bouma_type type = (bouma_type)bm_get_u8(c);
    size_t size = bouma_type_size(type), count = bm_get_count(c, size);
    const uint8_t *raw = bm_get_bytes(c, count * size);

    if (no_memory) {
        rc = BOUMA_ENOMEM;
    } else if (!c->failed && type > BOUMA_TYPE_STRING) {
        rc = BOUMA_EVERSION;
    } else if (!c->failed && size && name && !bm_name_check(name) &&
               count * size <= BM_MAX_ATTRIBUTE &&
               !bm_attributes_find(attributes, name)) {
        rc = bm_attributes_set(attributes, name, type, count, raw);
        if (!rc)
            bm_swap_to_little(attributes->entries[attributes->count - 1].values,
                              count, size);
    }
    bm_drop(attributes->a, name);
    return rc;
}

int bm_attributes_decode(struct bouma_attributes *attributes,
                         struct bm_cursor *c)
{
    size_t count = bm_get_count(c, 11);
    int rc = count > BM_MAX_ATTRIBUTES ? BOUMA_EFORMAT : BOUMA_OK;

    for (size_t i = 0; i < count && !rc; i++)
        rc = decode_one(attributes, c);
    attributes->fixed = 1;
    return rc ? rc : c->failed ? BOUMA_EFORMAT : BOUMA_OK;
}
