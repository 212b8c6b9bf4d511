/* tokenizer.c -- see tokenizer.h. */
#include "machine/tokenizer.h"

#include <string.h>

int bm_word_is(struct bm_word word, const char *text)
{
    return word.bytes == strlen(text) && !memcmp(word.text, text, word.bytes);
}

int bm_tokenizer_wrong(const struct bm_tokenizer *l, struct bm_word word,
                       const char *what, struct bm_error *error)
{
    int shown = word.bytes > 80 ? 80 : (int)word.bytes;

    return bm_fail(error, BOUMA_EINVAL, "line %d: '%.*s%s': %s", l->line, shown,
                   word.text, shown < (int)word.bytes ? "..." : "", what);
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A '\' and the end of the line: so many bytes, or 0. */
static size_t joint(const struct bm_tokenizer *l)
{
    size_t n = l->at + 1;

    if (l->text[l->at] != '\\')
        return 0;
    while (n < l->bytes && is_blank(l->text[n]))
        n++;
    return n < l->bytes && l->text[n] == '\n' ? n + 1 - l->at : 0;
}

static int add_word(struct bm_tokenizer *l, size_t start, size_t end,
                    struct bm_error *error)
{
    struct bm_word word = {l->text + start, end - start};

    for (size_t i = 0; i < word.bytes; i++)
        if ((unsigned char)word.text[i] < ' ' || word.text[i] == 127)
            return bm_fail(error, BOUMA_EINVAL,
                           "line %d: has bytes that are not text", l->line);
    if (l->count == BM_LINE_WORDS)
        return bm_tokenizer_wrong(l, word, "the line has too many words",
                                  error);
    l->words[l->count++] = word;
    return BOUMA_OK;
}

static int quoted_word(struct bm_tokenizer *l, struct bm_error *error)
{
    size_t start = ++l->at;

    while (l->at < l->bytes && l->text[l->at] != '"' && l->text[l->at] != '\n')
        l->at++;
    if (l->at == l->bytes || l->text[l->at] == '\n')
        return bm_tokenizer_wrong(
            l, (struct bm_word){l->text + start, l->at - start},
            "a \" has no partner on the line", error);
    l->at++;
    return add_word(l, start, l->at - 1, error);
}

static int plain_word(struct bm_tokenizer *l, struct bm_error *error)
{
    size_t start = l->at;

    while (l->at < l->bytes && !is_blank(l->text[l->at]) &&
           l->text[l->at] != '\n' && !joint(l))
        l->at++;
    return add_word(l, start, l->at, error);
}

/* Up to the end of the line, which stays. */
static int read_words(struct bm_tokenizer *l, struct bm_error *error)
{
    int rc = BOUMA_OK;

    while (!rc && l->at < l->bytes && l->text[l->at] != '\n') {
        size_t more = joint(l);

        if (more) {
            l->at += more;
            l->line++;
        } else if (is_blank(l->text[l->at])) {
            l->at++;
        } else if (l->text[l->at] == '#') {
            while (l->at < l->bytes && l->text[l->at] != '\n')
                l->at++;
        } else if (l->text[l->at] == '"') {
            rc = quoted_word(l, error);
        } else {
            rc = plain_word(l, error);
        }
    }
    return rc;
}

int bm_tokenizer_next(struct bm_tokenizer *l, struct bm_error *error)
{
    l->count = 0;
    while (!l->count && l->at < l->bytes) {
        int rc;

        l->line++;
        rc = read_words(l, error);
        if (rc)
            return rc;
        l->at += l->at < l->bytes; /* the end of the line */
    }
    return l->count > 0;
}
