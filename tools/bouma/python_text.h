/* python_text.h -- texts, whole numbers and signs of a Python literal, as the
 * headers of .npy files have them. */
#ifndef PYTHON_TEXT_H
#define PYTHON_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is left of it. */
struct python_text {
    const char *at, *end;
};

static inline void skip_blanks(struct python_text *text)
{
    while (text->at < text->end && isspace((unsigned char)*text->at))
        text->at++;
}

/* Step over 'c' and the blanks before it, if it comes next. */
static inline bool take(struct python_text *text, char c)
{
    skip_blanks(text);
    if (text->at == text->end || *text->at != c)
        return false;
    text->at++;
    return true;
}

/* A text in quotes. Longer ones than fit into 'out' are not ours, nor are those
 * with an escape, or a text within a text. */
static inline bool take_text(struct python_text *text, char *out, size_t bytes)
{
    size_t n = 0;
    char quote;

    skip_blanks(text);
    if (text->at == text->end || (*text->at != '\'' && *text->at != '"'))
        return false;
    quote = *text->at++;
    while (text->at < text->end && *text->at != quote) {
        if (n + 1 == bytes || *text->at == '\\')
            return false;
        out[n++] = *text->at++;
    }
    out[n] = '\0';
    return take(text, quote);
}

/* A whole number from 0 to 'most'. */
static inline bool take_whole(struct python_text *text, int64_t most,
                              int64_t *out)
{
    const char *start;

    skip_blanks(text);
    start = text->at;
    *out = 0;
    while (text->at < text->end && isdigit((unsigned char)*text->at)) {
        int digit = *text->at++ - '0';

        if (*out > (most - digit) / 10)
            return false;
        *out = 10 * *out + digit;
    }
    return text->at > start;
}

#endif
