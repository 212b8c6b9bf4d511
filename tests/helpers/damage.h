/* damage.h -- hurt encoded metadata in every way that is cheap to list: each
 * byte in turn, each length in turn; with the checksum as it was, or made to
 * fit again, as someone with bad intentions would. */
#ifndef DAMAGE_H
#define DAMAGE_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "check.h"

/* Where things are in an envelope; see src/store/envelope.c. */
enum { ENVELOPE_BODY = 16, ENVELOPE_HASH = 48, ENVELOPE_BYTES = 64 };

/* Make length and checksum fit the bytes again. */
static inline void mend_envelope(uint8_t *data, size_t bytes)
{
    if (bytes < ENVELOPE_BYTES)
        return;
    bm_store_u64(data + ENVELOPE_BODY, bytes - ENVELOPE_BYTES);
    bm_hash128(data + ENVELOPE_HASH, data, ENVELOPE_HASH, data + ENVELOPE_BYTES,
               bytes - ENVELOPE_BYTES);
}

/* Tries to decode bytes that lie in a block of just that size; the status. With
 * BOUMA_OK it has seen that what came out is consistent. */
typedef int decode_try(void *context, const uint8_t *data, size_t bytes);

static inline int try_copy(decode_try *decode, void *context,
                           const uint8_t *data, size_t bytes, int mend)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);
    int rc;

    REQUIRE(copy);
    memcpy(copy, data, bytes);
    if (mend)
        mend_envelope(copy, bytes);
    rc = decode(context, copy, bytes);
    free(copy);
    return rc;
}

/* For such a function: a refusal is told, with the name of the file. */
static inline void check_refusal(int rc, const struct bm_error *error,
                                 const char *name)
{
    CHECK(rc == BOUMA_EFORMAT || rc == BOUMA_EVERSION);
    CHECK_EQ(error->status, rc);
    CHECK_TEXT(error->text, name);
}

/* And what was accepted has been encoded to the very same body. */
static inline void check_body(const struct bm_buffer *b, const uint8_t *data,
                              size_t bytes)
{
    CHECK_EQ(b->size, bytes);
    CHECK(b->size == bytes &&
          !memcmp(b->data + ENVELOPE_BYTES, data + ENVELOPE_BYTES,
                  bytes - ENVELOPE_BYTES));
}

struct damage_counts {
    size_t tried, accepted;
};

/* Each byte changed in several ways. */
static inline struct damage_counts hurt_bytes(decode_try *decode, void *context,
                                              uint8_t *data, size_t bytes,
                                              int mend)
{
    static const uint8_t masks[] = {0xff, 0x01, 0x02, 0x04, 0x08,
                                    0x10, 0x20, 0x40, 0x80};
    struct damage_counts n = {0, 0};

    for (size_t i = 0; i < bytes; i++)
        for (size_t k = 0; k < sizeof(masks); k++) {
            data[i] ^= masks[k];
            n.tried++;
            n.accepted += !try_copy(decode, context, data, bytes, mend);
            data[i] ^= masks[k];
        }
    return n;
}

static inline struct damage_counts cut_bytes(decode_try *decode, void *context,
                                             const uint8_t *data, size_t bytes,
                                             int mend)
{
    struct damage_counts n = {0, 0};

    for (size_t i = 0; i < bytes; i++) {
        n.tried++;
        n.accepted += !try_copy(decode, context, data, i, mend);
    }
    return n;
}

/* Random bytes over random stretches, and pieces moved about. */
static inline struct damage_counts
scramble_bytes(decode_try *decode, void *context, const uint8_t *data,
               size_t bytes, int mend, uint64_t seed, int tries)
{
    struct damage_counts n = {0, 0};
    uint8_t *hurt = malloc(bytes);

    REQUIRE(hurt);
    for (int t = 0; t < tries; t++) {
        memcpy(hurt, data, bytes);
        for (int64_t k = 1 + check_below(&seed, 3); k > 0; k--) {
            size_t at = (size_t)check_below(&seed, (int64_t)bytes);
            size_t from = (size_t)check_below(&seed, (int64_t)bytes);
            size_t most = bytes - (at > from ? at : from);
            size_t length =
                1 + (size_t)check_below(&seed, most < 16 ? (int64_t)most : 16);

            if (check_below(&seed, 2))
                memmove(hurt + at, hurt + from, length);
            else
                for (size_t i = 0; i < length; i++)
                    hurt[at + i] = (uint8_t)check_random(&seed);
        }
        if (!memcmp(hurt, data, bytes))
            continue;
        n.tried++;
        n.accepted += !try_copy(decode, context, hurt, bytes, mend);
    }
    free(hurt);
    return n;
}

/* Of bytes whose checksum fits, or that have none: some changes make other
 * valid bytes, no cut does. 'seed' and 'tries' are for scrambling. */
static inline void check_damage(decode_try *decode, void *context,
                                const struct bm_buffer *b, int mend,
                                uint64_t seed, int tries)
{
    struct damage_counts n =
        hurt_bytes(decode, context, b->data, b->size, mend);

    CHECK(n.accepted > 0 && n.accepted < n.tried);
    n = cut_bytes(decode, context, b->data, b->size, mend);
    CHECK_EQ(n.accepted, 0);
    n = scramble_bytes(decode, context, b->data, b->size, mend, seed, tries);
    CHECK(n.accepted < n.tried);
}

#endif
