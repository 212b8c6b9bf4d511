/* memory.c -- checked allocation over the allocator table. */
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *default_resize(void *user, void *block, size_t bytes)
{
    (void)user;
    return realloc(block, bytes);
}

static void default_release(void *user, void *block)
{
    (void)user;
    free(block);
}

const bouma_allocator *bm_allocator_default(void)
{
    static const bouma_allocator table = {sizeof(table), NULL, default_resize,
                                          default_release};

    return &table;
}

void *bm_resize(const bouma_allocator *a, void *block, size_t count,
                size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
        return NULL;
    return a->resize(a->user, block, bytes ? bytes : 1);
}

void *bm_new_raw(const bouma_allocator *a, size_t count, size_t size)
{
    return bm_resize(a, NULL, count, size);
}

void *bm_new(const bouma_allocator *a, size_t count, size_t size)
{
    void *block = bm_new_raw(a, count, size);

    if (block)
        memset(block, 0, count * size);
    return block;
}

void *bm_more_room(const bouma_allocator *a, void *list, size_t count,
                   size_t *room, size_t size)
{
    void *grown = list;

    if (count < *room)
        return list;
    grown = bm_resize(a, list, *room * 2 + 8, size);
    if (grown)
        *room = *room * 2 + 8;
    return grown;
}

void *bm_grow(const bouma_allocator *a, void *block, size_t count, size_t size)
{
    if (block && (count & (count + 1)))
        return block;
    return bm_resize(a, block, count * 2 + 2, size);
}

char *bm_copy_text(const bouma_allocator *a, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    char *copy = bm_new(a, n + 1, 1);

    if (copy && n)
        memcpy(copy, text, n);
    return copy;
}

void bm_drop(const bouma_allocator *a, void *block)
{
    if (block)
        a->release(a->user, block);
}
