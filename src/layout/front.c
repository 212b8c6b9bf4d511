/* front.c -- see front.h; docs/format.md has the bytes. */
#include "layout/front.h"

#include <string.h>

int bm_front_join(struct bm_front *f, const struct bm_object *o)
{
    uint64_t bytes;

    if (o == f->object)
        return BOUMA_OK;
    bytes = bm_front_bytes(o);
    if (bytes > BM_MAX_FRONT_BYTES || (f->object && (bytes || f->bytes)))
        return BOUMA_EFORMAT;
    f->object = o;
    f->bytes = bytes;
    return BOUMA_OK;
}

void bm_front_make(struct bm_buffer *out, const struct bm_head *h)
{
    const struct bm_object *o;
    uint8_t *to;

    if (!h->head_offset)
        return;
    to = bm_buffer_extend(out, (size_t)h->head_offset);
    if (!to)
        return;
    memset(to, 0, (size_t)h->head_offset);
    o = h->sections[0].variable->object;
    o->layout->front->fill(to, h, o);
}

/* By the last bytes of the file: where its first head should be, and how long
 * it is. */
static int read_record(uint64_t *offset, uint64_t *head_bytes,
                       struct bm_file *f, uint64_t bytes,
                       struct bm_error *error)
{
    uint8_t raw[BM_FRONT_RECORD];
    uint64_t front;
    int rc = bm_file_read(f, raw, sizeof(raw), bytes - sizeof(raw), error);

    if (rc)
        return rc;
    front = bm_load_u64(raw);
    *head_bytes = bm_load_u64(raw + 8);
    *offset = front <= BM_MAX_FRONT_BYTES ? bm_front_end(front) : bytes;
    return front && *head_bytes >= BM_ENVELOPE_BYTES &&
                   *head_bytes <= bytes / 2 &&
                   *offset <= bytes - 2 * *head_bytes
               ? BOUMA_OK
               : BOUMA_EFORMAT;
}

/* Look for a head at out->offset. */
static int peek(struct bm_first_head *out, struct bm_file *f, const char *name,
                struct bm_error *error)
{
    int rc =
        bm_file_read(f, out->begin, sizeof(out->begin), out->offset, error);

    return rc ? rc
              : bm_envelope_peek(&out->envelope, out->begin, BM_ENVELOPE_BYTES,
                                 BM_KIND_HEAD, name, error);
}

int bm_front_find_head(struct bm_first_head *out, struct bm_file *f,
                       uint64_t bytes, const char *name, struct bm_error *error)
{
    struct bm_error again = {0}, ignored = {0};
    uint64_t head_bytes = 0;
    int rc, behind;

    memset(out, 0, sizeof(*out));
    rc = peek(out, f, name, error);
    if (rc != BOUMA_EFORMAT || bytes < sizeof(out->begin) ||
        read_record(&out->offset, &head_bytes, f, bytes, &ignored))
        return rc;
    behind = peek(out, f, name, &again);
    if ((behind && behind != BOUMA_EVERSION) ||
        out->envelope.body_bytes != head_bytes - BM_ENVELOPE_BYTES)
        return rc;
    *error = again;
    return behind;
}
