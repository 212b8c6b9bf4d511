/* envelope.h -- the 64 bytes in front of all metadata: what it is, in which
 * version, of which dataset, how long, and a checksum over all of it. */
#ifndef BM_ENVELOPE_H
#define BM_ENVELOPE_H

#include "base/bytes.h"
#include "base/error.h"

#define BM_ENVELOPE_BYTES 64
#define BM_FORMAT_MAJOR   1
#define BM_FORMAT_MINOR   0

enum bm_kind {
    BM_KIND_DATASET = 1,
    BM_KIND_MANIFEST = 2,
    BM_KIND_HEAD = 3, /* of a subfile */
    BM_KIND_LOSS = 4,
    BM_KIND_TRUNCATIONS = 5,
    BM_KIND_SHEET = 6 /* of a manifest */
};

struct bm_envelope {
    uint16_t major, minor;
    uint8_t id[16];
    uint64_t body_bytes;
    uint8_t hash[16];
};

/* Room for the envelope at the start of an empty buffer, to be sealed when the
 * body has been put behind it. Sealing gives the hash, too. */
void bm_envelope_reserve(struct bm_buffer *b);
void bm_envelope_seal(struct bm_buffer *b, enum bm_kind kind,
                      const uint8_t id[16], uint8_t hash[16]);

/* Check the first 64 bytes as far as that goes without the body: magic, kind,
 * version. 'name' is for messages. */
int bm_envelope_peek(struct bm_envelope *out, const uint8_t *data, size_t bytes,
                     enum bm_kind kind, const char *name,
                     struct bm_error *error);

/* Metadata as they were read: the envelope and its body, and no more. */
struct bm_metadata {
    const uint8_t *data; /* [bytes] */
    size_t bytes;
    const uint8_t *id; /* of the dataset that they should be of; NULL: any */
    const char *name;  /* for messages */
};

/* Check all; *body is then set to the bytes behind the envelope. */
int bm_envelope_open(struct bm_envelope *out, struct bm_cursor *body,
                     const struct bm_metadata *in, enum bm_kind kind,
                     struct bm_error *error);

/* Whether the bytes have this checksum, and say so, whatever else they are. */
int bm_envelope_has_hash(const uint8_t *data, size_t bytes,
                         const uint8_t hash[16]);

/* Whether a minor version wrote it that came after this one: what cannot be
 * understood then is new, and not damaged. */
int bm_envelope_is_newer(const struct bm_envelope *e);
/* The body of an envelope that was opened is not what it should be: EFORMAT
 * with 'text'; or EVERSION, if a newer version wrote it. */
int bm_envelope_fail(const struct bm_envelope *e, const char *name,
                     struct bm_error *error, const char *text);

#endif
