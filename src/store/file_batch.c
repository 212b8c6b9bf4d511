/* file_batch.c -- see file_batch.h. */
#include "store/file_batch.h"

#include <stdlib.h>
#include <string.h>

int bm_file_batch_init(struct bm_file_batch *b, const bouma_allocator *a,
                       size_t room, size_t joined_bytes)
{
    *b = (struct bm_file_batch){.a = a,
                                .writes =
                                    bm_new_raw(a, room, sizeof(*b->writes)),
                                .room = room,
                                .joined = bm_new_raw(a, joined_bytes, 1),
                                .joined_bytes = joined_bytes};
    return b->writes && b->joined ? BOUMA_OK : BOUMA_ENOMEM;
}

void bm_file_batch_release(struct bm_file_batch *b)
{
    if (!b->a)
        return;
    bm_drop(b->a, b->writes);
    bm_drop(b->a, b->joined);
    memset(b, 0, sizeof(*b));
}

static int by_offset(const void *x, const void *y)
{
    const struct bm_file_write *a = x, *b = y;

    return a->at < b->at ? -1 : a->at > b->at;
}

/* How many writes, from number 'i' on, go in one call without a copy: they lie
 * side by side in memory, too. And their bytes. */
static size_t find_side_by_side(const struct bm_file_batch *b, size_t i,
                                size_t *bytes)
{
    const struct bm_file_write *w = &b->writes[i];
    size_t n = 1;

    *bytes = w->bytes;
    while (i + n < b->count && w[n].at == w->at + *bytes &&
           w[n].data == w->data + *bytes)
        *bytes += w[n++].bytes;
    return n;
}

/* The same, of those that are copied to be in one place. */
static size_t find_run(const struct bm_file_batch *b, size_t i, size_t *bytes)
{
    size_t n = 1;

    *bytes = b->writes[i].bytes;
    while (i + n < b->count &&
           b->writes[i + n].at == b->writes[i].at + *bytes &&
           b->writes[i + n].bytes <= b->joined_bytes - *bytes)
        *bytes += b->writes[i + n++].bytes;
    return n;
}

/* Copy some writes behind each other. */
static const uint8_t *join(struct bm_file_batch *b, size_t i, size_t n)
{
    size_t at = 0;

    for (size_t k = i; k < i + n; k++) {
        memcpy(b->joined + at, b->writes[k].data, b->writes[k].bytes);
        at += b->writes[k].bytes;
    }
    return b->joined;
}

int bm_file_batch_flush(struct bm_file_batch *b, struct bm_error *error)
{
    int rc = BOUMA_OK;

    qsort(b->writes, b->count, sizeof(*b->writes), by_offset);
    for (size_t i = 0, n; i < b->count && !rc; i += n) {
        const uint8_t *data = b->writes[i].data;
        size_t bytes, joined, m = 0;

        n = find_side_by_side(b, i, &bytes);
        if (b->writes[i].bytes < b->joined_bytes)
            m = find_run(b, i, &joined);
        if (m > n) {
            n = m;
            bytes = joined;
            data = join(b, i, n);
        }
        rc = bm_file_write(b->file, data, bytes, b->writes[i].at, error);
    }
    b->count = 0;
    b->file = NULL;
    return rc;
}

int bm_file_batch_add(struct bm_file_batch *b, struct bm_file *file,
                      const uint8_t *data, size_t bytes, uint64_t at,
                      struct bm_error *error)
{
    int rc = BOUMA_OK;

    if (!bytes)
        return rc;
    if (b->count == b->room || (b->count && b->file != file))
        rc = bm_file_batch_flush(b, error);
    if (rc)
        return rc;
    b->file = file;
    b->writes[b->count++] = (struct bm_file_write){at, data, bytes};
    return rc;
}
