/* content.c -- see content.h. */
#include "content.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"

enum { WORD = 8 };

static uint64_t key_of(struct content content)
{
    return bm_mix_next((uint64_t)content.rank << 24 ^
                       (uint64_t)content.variable);
}

/* The i-th eight bytes. */
static void word_of(uint8_t out[WORD], uint64_t key, size_t i)
{
    uint64_t word = bm_mix_next(key + i * BM_MIX_STEP);

    memcpy(out, &word, WORD);
}

uint8_t *content_new(size_t bytes)
{
    return malloc(bytes ? bytes : 1);
}

void content_free(uint8_t *data)
{
    free(data);
}

void content_fill(uint8_t *data, size_t bytes, struct content content)
{
    uint64_t key = key_of(content);
    uint8_t last[WORD];
    size_t i = 0;

    for (; WORD * (i + 1) <= bytes; i++)
        word_of(data + WORD * i, key, i);
    word_of(last, key, i);
    if (bytes % WORD)
        memcpy(data + WORD * i, last, bytes % WORD);
}

size_t content_check(const uint8_t *data, size_t bytes, struct content content)
{
    uint64_t key = key_of(content);
    uint8_t word[WORD];

    for (size_t at = 0; at < bytes; at += WORD) {
        size_t n = bytes - at < WORD ? bytes - at : WORD;

        word_of(word, key, at / WORD);
        for (size_t k = 0; memcmp(data + at, word, n) && k < n; k++)
            if (data[at + k] != word[k])
                return at + k;
    }
    return bytes;
}
