/* envelope.c -- see envelope.h; docs/format.md has the table of its bytes. */
#include "store/envelope.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"

/* As PNG's: a text transfer that changes line ends damages it visibly. */
static const uint8_t magic[8] = {'B', 'O', 'U', 'M', 'A', '\r', '\n', 0x1a};

enum {
    AT_KIND = 8,
    AT_MAJOR = 12,
    AT_MINOR = 14,
    AT_BODY = 16,
    AT_ID = 32,
    AT_HASH = 48
};

void bm_envelope_reserve(struct bm_buffer *b)
{
    void *room = bm_buffer_extend(b, BM_ENVELOPE_BYTES);

    if (room)
        memset(room, 0, BM_ENVELOPE_BYTES);
}

void bm_envelope_seal(struct bm_buffer *b, enum bm_kind kind,
                      const uint8_t id[16], uint8_t hash[16])
{
    uint8_t *p = b->data;

    if (b->failed)
        return;
    memcpy(p, magic, sizeof(magic));
    bm_store_u32(p + AT_KIND, (uint32_t)kind);
    bm_store_u16(p + AT_MAJOR, BM_FORMAT_MAJOR);
    bm_store_u16(p + AT_MINOR, BM_FORMAT_MINOR);
    bm_store_u64(p + AT_BODY, b->size - BM_ENVELOPE_BYTES);
    memcpy(p + AT_ID, id, 16);
    bm_hash128(hash, p, AT_HASH, p + BM_ENVELOPE_BYTES,
               b->size - BM_ENVELOPE_BYTES);
    memcpy(p + AT_HASH, hash, 16);
}

int bm_envelope_peek(struct bm_envelope *out, const uint8_t *data, size_t bytes,
                     enum bm_kind kind, const char *name,
                     struct bm_error *error)
{
    if (bytes < BM_ENVELOPE_BYTES)
        return bm_fail(error, BOUMA_EFORMAT,
                       "%s: has %zu bytes, too few for a bouma file", name,
                       bytes);
    if (memcmp(data, magic, sizeof(magic)))
        return bm_fail(error, BOUMA_EFORMAT,
                       "%s: does not begin as a bouma file does", name);
    out->major = bm_load_u16(data + AT_MAJOR);
    out->minor = bm_load_u16(data + AT_MINOR);
    out->body_bytes = bm_load_u64(data + AT_BODY);
    memcpy(out->id, data + AT_ID, 16);
    memcpy(out->hash, data + AT_HASH, 16);
    if (out->major != BM_FORMAT_MAJOR)
        return bm_fail(error, BOUMA_EVERSION,
                       "%s: has format version %d.%d, this library reads %d.x; "
                       "use a newer one",
                       name, out->major, out->minor, BM_FORMAT_MAJOR);
    if (bm_load_u32(data + AT_KIND) != (uint32_t)kind)
        return bm_fail(error, BOUMA_EFORMAT,
                       "%s: is metadata of another kind (%" PRIu32
                       " instead of %d)",
                       name, bm_load_u32(data + AT_KIND), (int)kind);
    if (bm_load_u64(data + AT_BODY + 8) != 0)
        return bm_fail(error, BOUMA_EFORMAT,
                       "%s: bytes that must be zero are not", name);
    return BOUMA_OK;
}

int bm_envelope_open(struct bm_envelope *out, struct bm_cursor *body,
                     const uint8_t *data, size_t bytes, enum bm_kind kind,
                     const uint8_t *id, const char *name,
                     struct bm_error *error)
{
    int rc = bm_envelope_peek(out, data, bytes, kind, name, error);
    uint8_t hash[16];

    if (rc)
        return rc;
    if (out->body_bytes != bytes - BM_ENVELOPE_BYTES)
        return bm_fail(error, BOUMA_EFORMAT,
                       "%s: has %zu bytes where its own head tells of %" PRIu64
                       "; the file is damaged or cut off",
                       name, bytes, out->body_bytes + BM_ENVELOPE_BYTES);
    bm_hash128(hash, data, AT_HASH, data + BM_ENVELOPE_BYTES,
               bytes - BM_ENVELOPE_BYTES);
    if (memcmp(hash, out->hash, 16))
        return bm_fail(error, BOUMA_EFORMAT,
                       "%s: the checksum does not match; the file is damaged",
                       name);
    if (id && memcmp(id, out->id, 16))
        return bm_fail(error, BOUMA_EFORMAT, "%s: belongs to another dataset",
                       name);
    *body = bm_cursor_of(data + BM_ENVELOPE_BYTES, bytes - BM_ENVELOPE_BYTES);
    return BOUMA_OK;
}
