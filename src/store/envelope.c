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
    return BOUMA_OK;
}

/* Whether the version is all that is damaged: with ours instead, the
 * checksum matches. Only the bytes of another major version may have another
 * checksum than ours. */
static int version_is_damaged(const uint8_t *data, size_t bytes)
{
    uint8_t front[AT_HASH], hash[16];

    memcpy(front, data, AT_HASH);
    bm_store_u16(front + AT_MAJOR, BM_FORMAT_MAJOR);
    bm_hash128(hash, front, AT_HASH, data + BM_ENVELOPE_BYTES,
               bytes - BM_ENVELOPE_BYTES);
    return !memcmp(hash, data + AT_HASH, 16);
}

int bm_envelope_has_hash(const uint8_t *data, size_t bytes,
                         const uint8_t hash[16])
{
    uint8_t own[16];

    if (bytes < BM_ENVELOPE_BYTES)
        return 0;
    bm_hash128(own, data, AT_HASH, data + BM_ENVELOPE_BYTES,
               bytes - BM_ENVELOPE_BYTES);
    return !memcmp(own, hash, 16) && !memcmp(own, data + AT_HASH, 16);
}

int bm_envelope_is_newer(const struct bm_envelope *e)
{
    return e->major == BM_FORMAT_MAJOR && e->minor > BM_FORMAT_MINOR;
}

int bm_envelope_fail(const struct bm_envelope *e, const char *name,
                     struct bm_error *error, const char *text)
{
    if (!bm_envelope_is_newer(e))
        return bm_fail(error, BOUMA_EFORMAT, "%s: %s", name, text);
    bm_error_clear(error); /* what a part of it was taken for */
    return bm_fail(error, BOUMA_EVERSION,
                   "%s: written by a newer version of bouma: has format "
                   "version %d.%d, this library knows %d.%d",
                   name, e->major, e->minor, BM_FORMAT_MAJOR, BM_FORMAT_MINOR);
}

int bm_envelope_open(struct bm_envelope *out, struct bm_cursor *body,
                     const struct bm_metadata *in, enum bm_kind kind,
                     struct bm_error *error)
{
    const uint8_t *data = in->data;
    const char *name = in->name;
    size_t bytes = in->bytes;
    struct bm_error why = {0};
    int rc = bm_envelope_peek(out, data, bytes, kind, name, &why);
    uint8_t hash[16];

    if (rc == BOUMA_EVERSION && version_is_damaged(data, bytes))
        return bm_fail(error, BOUMA_EFORMAT,
                       "%s: the version does not match the checksum; the file "
                       "is damaged",
                       name);
    if (rc)
        return bm_fail(error, rc, "%s", why.text);
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
    if (in->id && memcmp(in->id, out->id, 16))
        return bm_fail(error, BOUMA_EFORMAT, "%s: belongs to another dataset%s",
                       name,
                       kind == BM_KIND_MANIFEST
                           ? "; `bouma repair --apply` moves it to lost/"
                           : "");
    /* Zero in all versions up to this one. */
    if (bm_load_u64(data + AT_BODY + 8))
        return bm_fail(error, BOUMA_EVERSION,
                       "%s: written by a newer version of bouma: bytes are set "
                       "that this one does not know",
                       name);
    *body = bm_cursor_of(data + BM_ENVELOPE_BYTES, bytes - BM_ENVELOPE_BYTES);
    return BOUMA_OK;
}
