/* repair_back.c -- the head that a file ends with, if nothing tells how long it
 * is: it begins as a head does, and ends where the file does. */
#include <inttypes.h>
#include <string.h>

#include "check/repair.h"

#define WINDOW ((size_t)1 << 16) /* bytes that are looked at at once */

/* Look for its first byte in the bytes from 'begin' on; 1 if it is there. Of
 * several, the last one counts: nobody can make us try many. */
static int look(struct bm_envelope *e, uint64_t *offset, const uint8_t *data,
                size_t count, uint64_t begin, uint64_t bytes)
{
    for (size_t i = count - BM_ENVELOPE_BYTES + 1; i-- > 0;) {
        struct bm_error ignored = {0};

        if (data[i] != 'B' || bm_envelope_peek(e, data + i, BM_ENVELOPE_BYTES,
                                               BM_KIND_HEAD, "", &ignored))
            continue;
        *offset = begin + i;
        if (e->body_bytes == bytes - *offset - BM_ENVELOPE_BYTES)
            return 1;
    }
    return 0;
}

/* From the end on backwards, as far as a head may reach. */
static int find(struct bm_file *f, struct bm_envelope *e, uint64_t *offset,
                uint64_t bytes, struct bm_error *why)
{
    uint64_t limit = f->store->memory_limit, end = bytes;
    uint64_t least = bytes > limit ? bytes - limit : 0;
    uint8_t data[WINDOW];

    while (end >= least + BM_ENVELOPE_BYTES) {
        uint64_t begin = end - least > WINDOW ? end - WINDOW : least;
        int rc = bm_file_read(f, data, (size_t)(end - begin), begin, why);

        if (rc)
            return rc;
        if (look(e, offset, data, (size_t)(end - begin), begin, bytes))
            return BOUMA_OK;
        if (begin == least)
            break;
        end = begin + BM_ENVELOPE_BYTES - 1;
    }
    return BOUMA_EFORMAT;
}

int bm_repair_load_back(struct bm_repair *r, struct bm_buffer *b,
                        struct bm_envelope *e, uint64_t *bytes,
                        const char *name, struct bm_error *why)
{
    struct bm_error ignored = {0};
    uint64_t offset = 0;
    struct bm_file f;
    int rc = bm_file_open(&f, &r->ds.store, name, BOUMA_OPEN_MODE_READ, why);

    if (rc)
        return rc;
    rc = bm_file_size(&f, bytes, why);
    if (!rc)
        rc = find(&f, e, &offset, *bytes, why);
    if (!rc)
        rc = bm_buffer_extend(b, (size_t)(*bytes - offset))
                 ? bm_file_read(&f, b->data, b->size, offset, why)
                 : BOUMA_ENOMEM;
    bm_file_close(&f, &ignored); /* only read from */
    return rc;
}
