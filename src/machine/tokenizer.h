/* tokenizer.h -- a text, line by line and word by word. */
#ifndef BM_TOKENIZER_H
#define BM_TOKENIZER_H

#include <stddef.h>

#include "base/error.h"

#define BM_LINE_WORDS 32

struct bm_word {
    const char *text;
    size_t bytes;
};

struct bm_tokenizer {
    const char *text;
    size_t bytes, at;
    int line; /* the number of the one that was read last, from 1 */
    struct bm_word words[BM_LINE_WORDS];
    int count;
};

/* The words of the next line that has any: what blanks separate, up to a '#'
 * that begins a word. A word in double quotes may have blanks. A line that ends
 * in a backslash goes on in the next one. 1, 0 at the end, or EINVAL. */
int bm_tokenizer_next(struct bm_tokenizer *l, struct bm_error *error);

int bm_word_is(struct bm_word word, const char *text);

/* EINVAL: "line 3: 'word': what". */
int bm_tokenizer_wrong(const struct bm_tokenizer *l, struct bm_word word,
                       const char *what, struct bm_error *error);

#endif
