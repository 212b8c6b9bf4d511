/* fuzz_help.h -- what the fuzz targets share. A target is one function that is
 * fed bytes; with clang it is linked with -fsanitize=fuzzer, else with
 * replay.c, which feeds it files. */
#ifndef FUZZ_HELP_H
#define FUZZ_HELP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "store/envelope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A claim that must hold whatever the input is. */
#define HOLDS(claim)                                                           \
    do {                                                                       \
        if (!(claim))                                                          \
            abort();                                                           \
    } while (0)

/* The id of all datasets here. */
static const uint8_t fuzz_id[16] = "fuzz fuzz fuzz.";

/* A copy of just 'size' bytes, so that a byte too far is noticed. The caller
 * frees it. */
static inline uint8_t *fuzz_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        exit(1);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

/* Make what stands in an envelope believable: its frame, its length and its
 * checksum; with fewer than 64 bytes nothing is done. */
static inline void fuzz_seal(uint8_t *p, size_t size, enum bm_kind kind)
{
    struct bm_buffer b = {.data = p, .size = size};
    uint8_t hash[16];

    if (size >= BM_ENVELOPE_BYTES)
        bm_envelope_seal(&b, kind, fuzz_id, hash);
}

#endif
