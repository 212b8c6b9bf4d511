/* image.c -- see image.h. An array is preceded by its bytes; arrays begin at
 * multiples of ALIGNMENT. */
#include "base/image.h"

#include <assert.h>
#include <string.h>

#define ALIGNMENT 16
#define NONE      UINT64_MAX

static size_t align(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void pack(uint8_t *to, const void *array, size_t bytes)
{
    uint64_t told[ALIGNMENT / 8] = {array ? bytes : NONE};

    memcpy(to, told, sizeof(told));
    if (!array)
        return;
    if (bytes)
        memcpy(to + ALIGNMENT, array, bytes);
    memset(to + ALIGNMENT + bytes, 0, align(bytes) - bytes);
}

void *bm_image_array(struct bm_image *m, void *array, size_t count, size_t size)
{
    size_t bytes = count * size;
    uint64_t told;

    if (m->from) {
        memcpy(&told, m->from + m->at, sizeof(told));
        assert(told == NONE || told == bytes);
        array = told == NONE ? NULL : (void *)(m->from + m->at + ALIGNMENT);
    } else if (m->to) {
        pack(m->to + m->at, array, bytes);
    }
    m->at += ALIGNMENT + (array ? align(bytes) : 0);
    return array;
}
