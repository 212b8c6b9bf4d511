/* memory.h -- all memory of the library comes through an allocator table. */
#ifndef BM_MEMORY_H
#define BM_MEMORY_H

#include "bouma_store.h"

/* malloc, realloc and free. */
const bouma_allocator *bm_allocator_default(void);

/* 'count' zeroed elements of 'size' bytes; NULL if there is no memory or the
 * product overflows. A count of 0 gives a block, too. */
void *bm_new(const bouma_allocator *a, size_t count, size_t size);

/* The same, but not zeroed: for large buffers that are filled anyway. */
void *bm_new_raw(const bouma_allocator *a, size_t count, size_t size);

/* Change the number of elements of a block (may be NULL); what is new is not
 * zeroed. On failure NULL, and the old block stands. */
void *bm_resize(const bouma_allocator *a, void *block, size_t count,
                size_t size);

/* A list with room for one entry more than 'count', which may have moved; *room
 * is how many it has room for. NULL if there is no memory: the old one stays. */
void *bm_more_room(const bouma_allocator *a, void *list, size_t count,
                   size_t *room, size_t size);
/* A block of 'count' elements with room for one more: the same, or a larger
 * one, of steps that double. On failure NULL, and the old block stands. */
void *bm_grow(const bouma_allocator *a, void *block, size_t count, size_t size);

/* A copy of a NUL-terminated text (of NULL: of ""). */
char *bm_copy_text(const bouma_allocator *a, const char *text);

void bm_drop(const bouma_allocator *a, void *block);

#endif
