/* Checksums: XXH3's own values, and an address of which every bit counts. */
#include "base/hash.h"

#include "base/bytes.h"
#include "check.h"

static void hashes_are_those_of_xxh3(void)
{
    /* As `xxhsum -H3` and `xxhsum -H2` print them. */
    static const uint8_t none[16] = {0x99, 0xaa, 0x06, 0xd3, 0x01, 0x47,
                                     0x98, 0xd8, 0x60, 0x01, 0xc3, 0x24,
                                     0x46, 0x8d, 0x49, 0x7f};
    static const uint8_t abc[16] = {0x06, 0xb0, 0x5a, 0xb6, 0x73, 0x3a,
                                    0x61, 0x85, 0x78, 0xaf, 0x5f, 0x94,
                                    0x89, 0x2f, 0x39, 0x50};
    uint8_t out[16];

    CHECK(bm_hash64("", 0, 0) == 0x2d06800538d394c2u);
    CHECK(bm_hash64("abc", 3, 0) == 0x78af5f94892f3950u);
    bm_hash128(out, "", 0, NULL, 0);
    CHECK(!memcmp(out, none, 16));
    bm_hash128(out, "abc", 3, "", 0);
    CHECK(!memcmp(out, abc, 16));
}

static void two_pieces_hash_as_one(void)
{
    uint8_t data[600], whole[16], parts[16];
    uint64_t state = 2;

    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)check_random(&state);
    bm_hash128(whole, data, sizeof(data), NULL, 0);
    for (size_t cut = 0; cut <= sizeof(data); cut++) {
        bm_hash128(parts, data, cut, data + cut, sizeof(data) - cut);
        CHECK(!memcmp(whole, parts, 16));
    }
}

static void a_seed_changes_the_hash(void)
{
    uint64_t none = bm_hash64("abc", 3, 0);

    for (int bit = 0; bit < 64; bit++)
        CHECK(bm_hash64("abc", 3, (uint64_t)1 << bit) != none);
}

/* The seed is the hash of 48 bytes: id, step, epoch, attempt, variable, level,
 * key, as docs/format.md has them. */
static void a_chunk_is_seeded_by_its_address(void)
{
    uint8_t id[16], raw[48];
    struct bm_address at = {id, 0x1122334455667788u, 7, 9,
                            3,  0x8877665544332211u, 2};

    for (int i = 0; i < 16; i++)
        id[i] = raw[i] = (uint8_t)(i * 11 + 1);
    bm_store_u64(raw + 16, at.step);
    bm_store_u32(raw + 24, 7);
    bm_store_u32(raw + 28, 9);
    bm_store_u32(raw + 32, 3);
    bm_store_u32(raw + 36, 2);
    bm_store_u64(raw + 40, at.key);
    CHECK(bm_hash_chunk(&at, "data", 4) ==
          (uint32_t)bm_hash64("data", 4, bm_hash64(raw, sizeof(raw), 0)));
}

static int by_value(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* All hashes of a chunk whose address or data differ in one bit. */
static void every_bit_of_the_address_and_data_changes_the_hash(void)
{
    enum { BITS = 128 + 64 + 32 + 32 + 32 + 64 + 32 + 8 * 33 };
    uint8_t id[16], data[33];
    struct bm_address at = {id, 5, 6, 7, 8, 9, 10};
    uint64_t seen[BITS + 1];
    size_t n = 0;

    for (int i = 0; i < 16; i++)
        id[i] = (uint8_t)i;
    memset(data, 'd', sizeof(data));
    seen[n++] = bm_hash_chunk(&at, data, sizeof(data));
#define FLIP(field, bits)                                                      \
    for (int bit = 0; bit < bits; bit++) {                                     \
        at.field ^= (uint64_t)1 << bit;                                        \
        seen[n++] = bm_hash_chunk(&at, data, sizeof(data));                    \
        at.field ^= (uint64_t)1 << bit;                                        \
    }
    FLIP(step, 64)
    FLIP(epoch, 32)
    FLIP(attempt, 32)
    FLIP(variable, 32)
    FLIP(key, 64)
    FLIP(level, 32)
#undef FLIP
    for (int bit = 0; bit < 128; bit++) {
        id[bit / 8] ^= (uint8_t)(1 << bit % 8);
        seen[n++] = bm_hash_chunk(&at, data, sizeof(data));
        id[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (int bit = 0; bit < 8 * (int)sizeof(data); bit++) {
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        seen[n++] = bm_hash_chunk(&at, data, sizeof(data));
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    CHECK_EQ(n, BITS + 1);
    CHECK(seen[0] == bm_hash_chunk(&at, data, sizeof(data)));
    qsort(seen, n, sizeof(seen[0]), by_value);
    for (size_t i = 1; i < n; i++)
        CHECK(seen[i] != seen[i - 1]);
}

static void the_length_counts(void)
{
    static const uint8_t zeros[64];
    uint8_t id[16] = {1};
    struct bm_address at = {id, 0, 1, 1, 0, 0, 0};

    for (size_t n = 0; n < sizeof(zeros); n++)
        CHECK(bm_hash_chunk(&at, zeros, n) != bm_hash_chunk(&at, zeros, n + 1));
}

int main(void)
{
    hashes_are_those_of_xxh3();
    two_pieces_hash_as_one();
    a_seed_changes_the_hash();
    a_chunk_is_seeded_by_its_address();
    every_bit_of_the_address_and_data_changes_the_hash();
    the_length_counts();
    return check_result();
}
